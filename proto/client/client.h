/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Talks to a daemon's control socket: sends a request, waits for its answers until a deadline,
 * takes the file descriptors that come with them. One request at a time; one thread at a time.
 *
 * Functions return 0 or a negative errno:
 *	-ENOENT, -ECONNREFUSED	no daemon listens there
 *	-EACCES			the socket is not ours to use
 *	-ETIMEDOUT		the deadline passed; the connection is closed from then on (-ENOTCONN)
 *	-ECONNRESET		the daemon went away
 *	-EPROTO, -EMSGSIZE	what came back is not an answer
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

/* $TRACESMITH_CONTROL, else TS_CONTROL_SOCKET. Points into the environment. */
const char *ts_client_default_path(void);

/* `path` NULL: the default one. */
int ts_client_connect(const char *path, struct ts_client **ret_client);
/* Takes over a connected stream socket: the other end of `tracesmithd --control-fd`. */
int ts_client_new_from_fd(int fd, struct ts_client **ret_client);
void ts_client_free(struct ts_client *client);
TS_DEFINE_CLEANUP(struct ts_client *, ts_client_freep, ts_client_free)

/* For a poll loop: becomes readable when the daemon says something or goes away. -1 once closed. */
int ts_client_fd(const struct ts_client *client);

/*
 * One request, one answer. `timeout_ms` 0: without bound. The answer is freed with
 * ts__rpc__answer__free_unpacked(answer, NULL). An answer of kind `error` is returned as -code
 * (never 0), its text is in ts_client_error() until the next call, and *ret_answer stays untouched.
 * ret_fd may be NULL; *ret_fd is -1 where no descriptor came, else the caller's.
 */
int ts_client_call(struct ts_client *client, const Ts__Rpc__Request *request, uint32_t timeout_ms,
		   Ts__Rpc__Answer **ret_answer, int *ret_fd);

/* A question about a trace: what a session has so far, or a file. */
struct ts_client_question {
	const Ts__Rpc__Query *query;
	/* Of the file, at most TS_CLIENT_MAX_FILES: the newest of a recording first, then those before it. None: the query names a session. */
	const int *fds;
	unsigned n_fds;
	uint32_t timeout_ms; /* 0: the daemon's bound alone */
	bool join;	     /* parts are joined to one message before they are taken */
	/*
	 * Takes an answer of the kind that was asked for (another is -EPROTO), which goes when it returns. `end` is NULL where more
	 * may come, as it does unless answers are joined. What it returns, where that is not 0, ends the query, and the connection.
	 */
	int (*take)(void *data, const Ts__Rpc__Answer *answer, const Ts__Rpc__QueryEnd *end);
	void *data;
	/*
	 * Not 0, from a signal handler or another thread: the query is cancelled, and answered to its end, which a replay's may be with
	 * what was found so far; where no end comes within thirty seconds it is -ECANCELED. NULL: never.
	 */
	const volatile int *cancel;
};

/*
 * Asks it. *ret_end is the last answer, of kind query_end; freed as those of ts_client_call(). Returns what that does, and what `take`
 * returned.
 */
int ts_client_query(struct ts_client *client, const struct ts_client_question *question,
		    Ts__Rpc__Answer **ret_end);

/* What the daemon said about the last failed call, or what failed, in one line. Never NULL. */
const char *ts_client_error(const struct ts_client *client);

/* Ready-made requests. */
int ts_client_status(struct ts_client *client, Ts__Rpc__Answer **ret_answer);
int ts_client_list_sessions(struct ts_client *client, Ts__Rpc__Answer **ret_answer);
/* session 0: by pid; both 0: the only recording. */
int ts_client_open_trace(struct ts_client *client, uint32_t session, uint32_t pid,
			 Ts__Rpc__Answer **ret_answer, int *ret_fd);
int ts_client_flush(struct ts_client *client, uint32_t session, uint32_t timeout_ms,
		    Ts__Rpc__Answer **ret_answer);
int ts_client_finish(struct ts_client *client, uint32_t timeout_ms, Ts__Rpc__Answer **ret_answer);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
