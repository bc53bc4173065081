/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's packets of proto/abi/handshake.h, and the connection that carries them.
 */
#pragma once

#include "inject/process/process-output.h"
#include "proto/abi/handshake.h"

/* Connects to a daemon's socket, not blocking. *ret_fd is the caller's. Returns 0 or a negative errno. */
int ts_handover_connect(const char *path, int *ret_fd);

/* Sends HELLO, the memfd, and the descriptors of `output` if it has any. All stay the caller's. Returns 0 or a negative errno. */
int ts_handover_hello(int socket, int memfd, const struct ts_control *control, bool resumed,
		      const struct ts_output *output);

/* Sends a packet that is its header alone: BYE. */
int ts_handover_send(int socket, enum ts_handshake_type type);

/* Sends a NOTE: this process has no session, and why. */
int ts_handover_note(int socket, enum ts_empty_reason reason, const char *program,
		     const char *text);

/*
 * Reads one packet without waiting. Returns 0 with its type and WELCOME's flags (else 0), -EAGAIN where there is none, another negative errno
 * where the peer is gone or says what is no packet (-EPIPE, -EPROTO, ...).
 */
int ts_handover_receive(int socket, enum ts_handshake_type *ret_type, uint32_t *ret_flags);
