/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running recordings: the daemons that the caller can ask, and their sessions. These are the
 * service, and the daemons of the caller's own recordings, made by `tsctl record` or by preloading.
 * If $TRACESMITH_CONTROL is set, only that daemon is asked.
 */
#pragma once

#include "proto/abi/base.h"
#include "proto/client/client.h"
#include "tools/tsctl/options/option-parse.h"

struct ts_live_daemon {
	char *path; /* its control socket */
	struct ts_client *client;
	/* a `tsctl record`: one file for all its processes, including those that start later */
	bool is_recording;
	Ts__Rpc__Answer *answer; /* its last list of sessions */
};

struct ts_live {
	struct ts_live_daemon *daemons;
	size_t n_daemons, n_daemons_allocated;
	/* Sessions of all daemons from the last list. The answers own them. */
	Ts__Rpc__LiveSession **sessions;
	size_t n_sessions;
};

/*
 * Connects to all daemons. It is not an error if there is none. If a daemon cannot be asked, prints
 * an error and skips it. Returns 0 or a negative errno.
 */
int ts_live_new(struct ts_live **ret_live);
void ts_live_free(struct ts_live *live);
TS_DEFINE_CLEANUP(struct ts_live *, ts_live_freep, ts_live_free)

/* Lists the sessions again. Drops daemons that ended, and their sessions. */
int ts_live_list(struct ts_live *live);

/* Prints a table with a heading and one line per session. */
void ts_live_print(size_t n_sessions, Ts__Rpc__LiveSession *const *sessions);

/* Returns the state of a session in words: "recording", "yielded, paused". */
const char *ts_live_state(const Ts__Rpc__LiveSession *session);

#define TS_LIVE_CAPTURE_BYTES 192u
/*
 * Writes what a session captures, the amount and the cost: "window open, 12 MiB captured, 0.31 % of
 * the session's length". Returns `text`.
 */
const char *ts_live_capture(const Ts__Rpc__LiveCapture *capture, uint64_t start_ns, char *text,
			    size_t n_text_bytes);

/*
 * Parses process ids from operands. Prints an error and returns -EINVAL if a word is no id. The
 * caller frees *ret_pids.
 */
int ts_live_parse_pids(const struct ts_operands *operands, uint32_t **ret_pids, size_t *ret_n);
