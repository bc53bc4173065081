/* SPDX-License-Identifier: Apache-2.0 */
/* Sends and receives the shim's packets of proto/abi/handshake.h, and connects to a daemon. */
#pragma once

#include "inject/process/process-output.h"
#include "proto/abi/handshake.h"

/*
 * Connects to a daemon's socket without blocking. The caller owns *ret_fd. Returns 0 or a negative
 * errno.
 */
int ts_handover_connect(const char *path, int *ret_fd);

/*
 * Sends HELLO with the memfd. If `output` has a file, HELLO also has both descriptors of this file.
 * The caller still owns all descriptors. Returns 0 or a negative errno.
 */
int ts_handover_hello(int socket, int memfd, const struct ts_control *control, bool resumed,
		      const struct ts_output *output);

/* Sends a packet that consists of its header only: BYE. Returns 0 or a negative errno. */
int ts_handover_send(int socket, enum ts_handshake_type type);

/* Sends a NOTE: this process has no session, for this reason. Returns 0 or a negative errno. */
int ts_handover_note(int socket, enum ts_empty_reason reason, const char *program,
		     const char *text);

/*
 * Reads one packet without waiting. Returns 0 with the packet's type and the flags of WELCOME (0
 * for other types). Returns -EAGAIN if no packet is there, -EPIPE if the peer is gone, -EPROTO for
 * an invalid packet, or another negative errno.
 */
int ts_handover_receive(int socket, enum ts_handshake_type *ret_type, uint32_t *ret_flags);
