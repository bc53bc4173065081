/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Client of a daemon's control socket. It sends a request, waits for the answers until a deadline,
 * and receives their file descriptors. Send one request at a time. Not thread-safe.
 *
 * Functions return 0 or a negative errno:
 *
 * 	-ENOENT, -ECONNREFUSED	no daemon listens there
 * 	-EACCES			the caller may not use the socket
 * 	-ETIMEDOUT		the deadline passed; the connection is then closed (-ENOTCONN)
 * 	-ECONNRESET		the daemon closed the connection
 * 	-EPROTO, -EMSGSIZE	the received bytes are not a valid answer
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/abi/base.h"
#include "proto/rpc/tracesmith.pb-c.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define TS_CONTROL_SOCKET	     "/run/tracesmith/control.sock"
#define TS_CONTROL_ENVIRONMENT	     "TRACESMITH_CONTROL"
#define TS_CLIENT_TIMEOUT_DEFAULT_MS 5000u
#define TS_CLIENT_MAX_FILES	     64u

struct ts_client;

/*
 * Returns $TRACESMITH_CONTROL, else TS_CONTROL_SOCKET. The result may point into the environment.
 */
const char *ts_client_default_path(void);

/* Connects to `path`; NULL: the default path. The caller frees *ret_client. */
int ts_client_connect(const char *path, struct ts_client **ret_client);
/* Takes ownership of a connected stream socket: the other end of `tracesmithd --control-fd`. */
int ts_client_new_from_fd(int fd, struct ts_client **ret_client);
void ts_client_free(struct ts_client *client);
TS_DEFINE_CLEANUP(struct ts_client *, ts_client_freep, ts_client_free)

/*
 * Returns the descriptor for a poll loop. It becomes readable when the daemon sends data or closes
 * the connection. -1: closed.
 */
int ts_client_fd(const struct ts_client *client);

/*
 * Sends one request and returns one answer. `timeout_ms` 0: no limit. The caller frees the answer
 * with ts__rpc__answer__free_unpacked(answer, NULL). An answer of kind `error` is returned as -code
 * (never 0); ts_client_error() has its text until the next call, and *ret_answer is unchanged.
 * ret_fd may be NULL. The caller owns *ret_fd; -1: the answer has no descriptor.
 */
int ts_client_call(struct ts_client *client, const Ts__Rpc__Request *request, uint32_t timeout_ms,
		   Ts__Rpc__Answer **ret_answer, int *ret_fd);

/* A query about a trace: a live session or a file. */
struct ts_client_question {
	const Ts__Rpc__Query *query;
	/*
	 * Descriptors of the file, at most TS_CLIENT_MAX_FILES: the newest part of a recording
	 * first, then older parts. None: the query names a session.
	 */
	const int *fds;
	unsigned n_fds;
	uint32_t timeout_ms; /* 0: only the daemon's own limit */
	bool join;	     /* join all parts into one message before `take` */
	/*
	 * Receives an answer of the requested kind (another kind is -EPROTO). The answer is valid
	 * until `take` returns. `end` is NULL if further answers may follow. Without `join`, `end`
	 * is always NULL. If `take` returns a value other than 0, that value ends the query and the
	 * connection.
	 */
	int (*take)(void *data, const Ts__Rpc__Answer *answer, const Ts__Rpc__QueryEnd *end);
	void *data;
	/*
	 * Set to nonzero by a signal handler or another thread to cancel the query. The client then
	 * reads the answers to their end; a replay may answer with its findings so far. If the last
	 * answer does not come within thirty seconds, the result is -ECANCELED. NULL: never
	 * cancelled.
	 */
	const volatile int *cancel;
};

/*
 * Sends the query. *ret_end is the last answer, of kind query_end; the caller frees it as for
 * ts_client_call(). Returns the errors of ts_client_call() and the result of `take`.
 */
int ts_client_query(struct ts_client *client, const struct ts_client_question *question,
		    Ts__Rpc__Answer **ret_end);

/*
 * Returns one line about the last failed call: the daemon's text, or the client's own error. Never
 * NULL.
 */
const char *ts_client_error(const struct ts_client *client);

/* The following functions send one kind of request each. */
int ts_client_status(struct ts_client *client, Ts__Rpc__Answer **ret_answer);
int ts_client_list_sessions(struct ts_client *client, Ts__Rpc__Answer **ret_answer);
/*
 * Opens the trace of a session. If `session` is 0, `pid` selects the session. If session and pid
 * are 0, opens the trace of the only recording.
 */
int ts_client_open_trace(struct ts_client *client, uint32_t session, uint32_t pid,
			 Ts__Rpc__Answer **ret_answer, int *ret_fd);
int ts_client_flush(struct ts_client *client, uint32_t session, uint32_t timeout_ms,
		    Ts__Rpc__Answer **ret_answer);
int ts_client_finish(struct ts_client *client, uint32_t timeout_ms, Ts__Rpc__Answer **ret_answer);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
