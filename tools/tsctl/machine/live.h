/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is being recorded now: the daemons that the caller can ask, and their sessions. Asked are the service, and
 * the daemons of the caller's own recordings, `tsctl record`'s and the preload's; with $TRACESMITH_CONTROL set the daemon there
 * alone.
 */
#pragma once

#include "proto/abi/base.h"
#include "proto/client/client.h"
#include "tools/tsctl/options/option-parse.h"

struct ts_live_daemon {
	char *path; /* of its control socket */
	struct ts_client *client;
	bool is_recording;	 /* one file for all its processes, those to come too */
	Ts__Rpc__Answer *answer; /* its sessions, as last listed */
};

struct ts_live {
	struct ts_live_daemon *daemons;
	size_t n_daemons;
	/* Of all daemons, as last listed; they belong to the answers. */
	Ts__Rpc__LiveSession **sessions;
	size_t n_sessions;
};

/* Connects. That nobody is there is no error; one that is there and cannot be asked is complained of, and left out. */
int ts_live_new(struct ts_live **ret_live);
void ts_live_free(struct ts_live *live);
TS_DEFINE_CLEANUP(struct ts_live *, ts_live_freep, ts_live_free)

/* Lists anew. A daemon that went away meanwhile is forgotten, and so are its sessions. */
int ts_live_list(struct ts_live *live);

/* A table, a line each, under its heading. */
void ts_live_print(size_t n_sessions, Ts__Rpc__LiveSession *const *sessions);

/* What it does, in a word or two: "recording", "yielded, paused". */
const char *ts_live_state(const Ts__Rpc__LiveSession *session);

#define TS_LIVE_CAPTURE_BYTES 192u
/* What it captures, how much that is, and what it costs: "window open, 12 MiB captured, 0.31 % of its time". Returns `text`. */
const char *ts_live_capture(const Ts__Rpc__LiveCapture *capture, uint64_t start_ns, char *text,
			    size_t n_text_bytes);

/* Process ids from a command line's operands. Complains and returns -EINVAL where one is none; *ret_pids is the caller's. */
int ts_live_parse_pids(const struct ts_operands *operands, uint32_t **ret_pids, size_t *ret_n);
