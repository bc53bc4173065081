/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service's file for one process: the file that the process opened and passed with its HELLO, else a file of the service's in
 * the directory of the process's user. peers.c calls it; the main thread.
 */
#pragma once

#include "daemon/serve/loop/server.h"

/* A HELLO's part in it. */
struct ts_peer_file {
	uint32_t resumed;
	uint32_t has_output;
	uint32_t output_number;
	const char *program;
	int *fds; /* TS_PORTER_SESSION_FDS of them; -1: none */
};

/* Makes peer->recording. Descriptors that it takes over become -1. 0 or a negative errno, which is logged. */
int ts_peer_file_new(struct ts_peer *peer, const struct ts_peer_file *file);

/* Removes a file that nobody needs, and its user's directory if it was the last one there. A stranger's file stays. */
void ts_peer_file_discard(struct ts_recording *recording);
