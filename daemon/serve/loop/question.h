/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A client's question about a trace (Request.query), being worked out by a process of its own without privileges, whose answers
 * are handed on as they come: no faster than the client takes them, for no longer and no more than the limits allow. Belongs to the
 * main thread, where nothing here blocks.
 */
#pragma once

#include "daemon/serve/loop/server.h"
#include "proto/rpc/tracesmith.pb-c.h"

/* At most TS_FRAME_MAX_FDS files: the newest of a recording first, then those before it. */
struct ts_question_files {
	const int *fds; /* NULL: the first ones that the porter holds for the client */
	unsigned n;
};

/*
 * Begins it. `query` is as its answerer is to see it, but for its limits; `files` stay the caller's; `wait_ms` is how long the
 * client waits, 0: as long as it may take. Returns 0, or -errno and a line for the client.
 */
int ts_question_new(struct ts_client_connection *client, uint32_t request_id, Ts__Rpc__Query *query,
		    const struct ts_question_files *files, uint32_t wait_ms, const char **ret_why);

/* The client has room again. */
void ts_question_resume(struct ts_client_connection *client);
/* False: there is none of that number. Else it is over, and the client is told. */
bool ts_question_cancel(struct ts_client_connection *client, uint32_t request_id);
/* Whether one of the client's is not over. */
bool ts_question_is_asked(const struct ts_client_connection *client);
/* The client goes. */
void ts_question_leave(struct ts_client_connection *client);

/* Looks at deadlines, and at processes that were killed. */
void ts_questions_check(struct ts_server *server, uint64_t now_ns);
/* Whether one of them is about this file. */
bool ts_questions_hold(const struct ts_server *server, dev_t device, ino_t inode);
/* At the end of the daemon: waits for none of them. */
void ts_questions_end(struct ts_server *server);
