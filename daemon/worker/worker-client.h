/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker, seen from the process that needs one: started when the first request comes, killed when it takes too
 * long, started again after it fell. What falls with it is the request at hand, with a reason.
 *
 * One thread at a time; and the worker ends with the thread that made the request which started it.
 */
#pragma once

#include <limits.h>

#include "proto/abi/base.h"
#include "proto/rpc/worker.pb-c.h"

struct ts_worker;

#define TS_WORKER_MEMORY_BYTES (UINT64_C(1) << 30)
#define TS_WORKER_CPU_SECONDS  300u
#define TS_WORKER_DEADLINE_MS  10000u

/* Requests and answers. The most addresses in a request keep both below their bounds. */
#define TS_WORKER_REQUEST_MAX_BYTES (1024u * 1024)
#define TS_WORKER_MAX_ADDRESSES	    16384u

struct ts_worker_options {
	const char *path;      /* of the worker; NULL: where ts_worker_find() finds it */
	uint64_t memory_bytes; /* 0: TS_WORKER_MEMORY_BYTES */
	uint32_t cpu_seconds;  /* of one worker's life; 0: TS_WORKER_CPU_SECONDS */
	const uint64_t *
		stop_ns; /* not 0: a request that waits ends as if it was late; read atomically. NULL: none */
	bool is_replay; /* of a query: it is about a replay, which takes threads. SIGTERM ends it with what it found */
};

/* The worker that belongs to the running program: in its build tree, or as installed. 0 or -ENOENT. */
int ts_worker_find(char ret_path[PATH_MAX]);

/* Starts nothing yet. Options are copied. */
int ts_worker_new(const struct ts_worker_options *options, struct ts_worker **ret_worker);
void ts_worker_free(struct ts_worker *worker); /* ends it; NULL is fine */
TS_DEFINE_CLEANUP(struct ts_worker *, ts_worker_freep, ts_worker_free)

/*
 * One request, one answer, which is freed with ts__rpc__worker_answer__free_unpacked(). Descriptors stay the
 * caller's. Returns 0 or, ts_worker_why() saying why in a few words:
 *	-ETIMEDOUT	it took longer than deadline_ms and was killed
 *	-ECONNRESET	it fell; the next request starts another
 *	-EPROTO		its answer was none; it was killed
 *	-EPERM		this system cannot confine it: no request will be taken
 *	others		it could not be started, or said so itself
 */
int ts_worker_call(struct ts_worker *worker, const Ts__Rpc__WorkerRequest *request, const int *fds,
		   unsigned n_fds, uint32_t deadline_ms, Ts__Rpc__WorkerAnswer **ret_answer);
const char *ts_worker_why(const struct ts_worker *worker);

/* What it said when it was started; NULL before. */
const Ts__Rpc__WorkerReady *ts_worker_ready(const struct ts_worker *worker);
/* The one that runs, or -1; how many were started so far. */
pid_t ts_worker_pid(const struct ts_worker *worker);
unsigned ts_worker_n_starts(const struct ts_worker *worker);
/* Ends it: the next request gets a new one, which has seen nothing. */
void ts_worker_end(struct ts_worker *worker);

/*
 * A process for one query about a trace, which ends with it (`worker-query.h` is its side). It takes a Request with a query, with
 * the file's descriptor, in the frames of proto/rpc/frame.h, and gives Answers as a client gets them. *ret_fd does not block. The
 * caller kills and reaps it. Returns 0 or -errno.
 */
int ts_worker_start_query(const struct ts_worker_options *options, int *ret_fd, pid_t *ret_pid);
/* Its third argument; its exit status where it had not enough memory. */
#define TS_WORKER_QUERY	      "query"
#define TS_WORKER_REPLAY      "replay"
#define TS_WORKER_EXIT_MEMORY 12

#define TS_WORKER_HOW_BYTES   96
/* In words, of waitpid()'s status. */
const char *ts_worker_how_ended(int status, char ret_how[TS_WORKER_HOW_BYTES]);
