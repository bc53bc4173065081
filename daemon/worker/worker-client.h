/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a worker process, which reads untrusted files, for the calling process. The worker starts at
 * the first request. If the worker takes too long, it is killed. If the worker ends, the current
 * request fails with a reason, and the next request starts another worker.
 *
 * Not thread-safe. The worker ends with the thread whose request started it.
 */
#pragma once

#include <limits.h>

#include "proto/abi/base.h"
#include "proto/rpc/worker.pb-c.h"

struct ts_worker;

#define TS_WORKER_MEMORY_BYTES (UINT64_C(1) << 30)
#define TS_WORKER_CPU_SECONDS  300u
#define TS_WORKER_DEADLINE_MS  10000u

/*
 * Limits of a request. With at most this number of addresses, a request and its answer stay below
 * their limits of bytes.
 */
#define TS_WORKER_REQUEST_MAX_BYTES (1024u * 1024)
#define TS_WORKER_MAX_ADDRESSES	    16384u

struct ts_worker_options {
	/* path of the worker's program; NULL: the result of ts_worker_find() */
	const char *path;
	uint64_t memory_bytes; /* 0: TS_WORKER_MEMORY_BYTES */
	/* limit of CPU time for one worker process; 0: TS_WORKER_CPU_SECONDS */
	uint32_t cpu_seconds;
	/*
	 * If *stop_ns is not 0, the current request ends as if it had timed out; read atomically.
	 * May be NULL. *stop_ns must outlive the worker.
	 */
	const uint64_t *stop_ns;
	/*
	 * The worker answers a query about a replay: it may start threads, and on SIGTERM it
	 * reports its results so far and ends.
	 */
	bool is_replay;
};

/*
 * Finds the worker of the running program: in its build tree, or as installed. Returns 0 or
 * -ENOENT.
 */
int ts_worker_find(char ret_path[PATH_MAX]);

/*
 * Creates a worker object and starts no process. Copies the options. Returns 0, -ENOMEM, or -ENOENT
 * if ts_worker_find() finds no worker.
 */
int ts_worker_new(const struct ts_worker_options *options, struct ts_worker **ret_worker);
void ts_worker_free(struct ts_worker *worker); /* ends its process, if one runs; NULL is accepted */
TS_DEFINE_CLEANUP(struct ts_worker *, ts_worker_freep, ts_worker_free)

/*
 * Sends one request and returns its answer, which ts__rpc__worker_answer__free_unpacked() frees.
 * Descriptors stay the caller's. Returns 0 or an error, with ts_worker_why() in a few words:
 * 	-ETIMEDOUT	the worker took longer than deadline_ms and was killed
 * 	-ECONNRESET	the worker ended; the next request starts another worker
 * 	-EPROTO		the worker's answer is invalid; the worker was killed
 * 	-E2BIG		the request is larger than TS_WORKER_REQUEST_MAX_BYTES and was not sent
 * 	-EPERM		this system cannot confine a worker: every later request fails too
 * 	others		the worker could not be started, or answered with this error
 */
int ts_worker_call(struct ts_worker *worker, const Ts__Rpc__WorkerRequest *request, const int *fds,
		   unsigned n_fds, uint32_t deadline_ms, Ts__Rpc__WorkerAnswer **ret_answer);
/* Returns the reason of the last error in a few words; valid until the next call. */
const char *ts_worker_why(const struct ts_worker *worker);

/* Returns the worker's first message; NULL: no worker was started yet. */
const Ts__Rpc__WorkerReady *ts_worker_ready(const struct ts_worker *worker);
/*
 * Return the process number of the running worker (-1: none runs), and the number of workers
 * started so far.
 */
pid_t ts_worker_pid(const struct ts_worker *worker);
unsigned ts_worker_n_starts(const struct ts_worker *worker);
/* Ends the worker. The next request starts a new one, which has read nothing. */
void ts_worker_end(struct ts_worker *worker);

/*
 * Starts a process for one query about a trace. The process ends after the query; its code is in
 * worker-query.c. The process receives a Request with a query and the file's descriptor, in the
 * frames of proto/rpc/frame.h. The process sends Answers in the form that clients receive. *ret_fd
 * does not block. The caller kills and reaps the process. Returns 0 or a negative errno.
 */
int ts_worker_start_query(const struct ts_worker_options *options, int *ret_fd, pid_t *ret_pid);
/*
 * QUERY or REPLAY is the third argument of such a process. EXIT_MEMORY is its exit status if it ran
 * out of memory.
 */
#define TS_WORKER_QUERY	      "query"
#define TS_WORKER_REPLAY      "replay"
#define TS_WORKER_EXIT_MEMORY 12

#define TS_WORKER_HOW_BYTES   96
/* Describes a status of waitpid() in words. Returns a constant text or ret_how. */
const char *ts_worker_how_ended(int status, char ret_how[TS_WORKER_HOW_BYTES]);
