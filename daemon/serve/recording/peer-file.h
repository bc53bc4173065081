/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A service's file for one process: the file that the process passed with its HELLO, otherwise a
 * file of the service in the user's directory. peers.c calls this module, in the main thread.
 */
#pragma once

#include "daemon/serve/loop/server.h"

/* The part of HELLO that concerns the file. */
struct ts_peer_file {
	uint32_t resumed;
	uint32_t has_output;
	uint32_t output_number;
	const char *program;
	int *fds; /* TS_PORTER_SESSION_FDS descriptors; -1: none */
};

/*
 * Creates peer->recording. Sets each descriptor whose ownership it takes to -1. Returns 0 or a
 * negative errno, which is logged. *ret_why, NULL before: the reason, if the user's share or the
 * disk has no room for the file.
 */
int ts_peer_file_new(struct ts_peer *peer, const struct ts_peer_file *file, const char **ret_why);

/*
 * Removes the file of a recording that is not needed, and its directory if that is empty. Does not
 * remove a file that the traced process created.
 */
void ts_peer_file_discard(struct ts_recording *recording);
