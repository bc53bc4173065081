/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's question about a trace (Request.query). A separate process without privileges computes
 * the answer. The daemon forwards the process's answers as fast as the client reads, within the
 * limits of time and bytes. Only the main thread calls these functions. None of them blocks.
 */
#pragma once

#include "daemon/serve/loop/server.h"
#include "proto/rpc/tracesmith.pb-c.h"

/* At most TS_FRAME_MAX_FDS files: a recording's newest file first, then older ones. */
struct ts_question_files {
	/* The files' descriptors. NULL: the first n files that the porter holds for the client. */
	const int *fds;
	unsigned n;
};

/*
 * Starts a question. Sends `query` to the worker, with limits added. The caller keeps `files`.
 * `wait_ms` is the longest time that the client waits (0: the daemon's limit). Returns 0, or a
 * negative errno and a line for the client. -EBUSY: the user has too many questions.
 */
int ts_question_new(struct ts_client_connection *client, uint32_t request_id, Ts__Rpc__Query *query,
		    const struct ts_question_files *files, uint32_t wait_ms, const char **ret_why);

/* Continues after the client's send queue has room again. */
void ts_question_resume(struct ts_client_connection *client);
/*
 * Cancels a question and answers the client. Returns false if no question of the client has this
 * request id.
 */
bool ts_question_cancel(struct ts_client_connection *client, uint32_t request_id);
/* True if a question of the client is open. */
bool ts_question_is_asked(const struct ts_client_connection *client);
/* Drops the client's questions when the client disconnects. */
void ts_question_leave(struct ts_client_connection *client);

/* Checks deadlines and killed processes. */
void ts_questions_check(struct ts_server *server, uint64_t now_ns);
/* True if a question about this file is open. */
bool ts_questions_hold(const struct ts_server *server, dev_t device, ino_t inode);
/* Ends all questions without waiting. For the daemon's end. */
void ts_questions_end(struct ts_server *server);
