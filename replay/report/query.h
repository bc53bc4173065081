/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers a question about an open trace. Question and answer are messages of
 * proto/rpc/tracesmith.proto: Query in, parts of Answer out. tsctl prints the parts; the daemon's
 * worker sends the parts to its clients. tsctl and the clients get the same parts in the same
 * order. tools/library/examples/state.c is an example.
 *
 * Times are nanoseconds. In answers they are of CLOCK_MONOTONIC; ts_sbt_reader_origin_ns() is the
 * trace's start. A reader serves one thread at a time; queries on different readers run in
 * parallel. A replay starts threads and joins all of them before ts_query_run() returns. The
 * library prints nothing and never ends the process.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/state/limit.h"
#include "sbt/reader.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Returned in addition to negative errnos, TS_SBT_E_* (sbt/error.h) and TS_E_*
 * (replay/state/limit.h).
 */
#define TS_QUERY_E_WINDOW  100 /* the window ends before it begins */
#define TS_QUERY_E_TYPE	   101 /* no type of row has that name */
#define TS_QUERY_E_UNKNOWN 102 /* this version does not know the question, or a field is missing */
#define TS_QUERY_E_MANY	   103 /* the question asks for more parts or lines than an answer holds */
#define TS_QUERY_E_OUTSIDE 104 /* the instant lies before the trace or after it */

struct ts_executor;
struct ts_replay_progress;

/* Owned by the caller; read until ts_query_run() returns. */
struct ts_query_options {
	/*
	 * Required. Receives a part of the answer: a message, and the number of its field in Answer
	 * (TS__RPC__ANSWER__BODY_*). Rows, nodes, edges and steps come one at a time, each in a
	 * list of one; other answers come whole. A replay gives several ReplayAnswers. The message
	 * is valid until `give` returns. A value other than 0 ends the query; ts_query_run()
	 * returns it.
	 */
	int (*give)(void *data, unsigned number, const ProtobufCMessage *body);
	/* Receives the number of rows read so far, every few thousand rows. May be NULL. */
	void (*step)(void *data, uint64_t n_rows);
	void *data; /* for `give` and `step` */
	/*
	 * Required. The query calls `no_memory` if there is no memory for a message. `no_memory`
	 * must not return: it ends the process. Any other lack of memory is -ENOMEM.
	 */
	void (*no_memory)(void);
	/*
	 * If any thread sets *cancel to 1, a replay ends and reports its findings so far. Any other
	 * query ends at the next block of the file, with -ECANCELED. May be NULL: then the flag of
	 * ts_sbt_reader_cancel() ends queries other than replays. That flag is the same after the
	 * query as before it.
	 */
	const volatile int *cancel;
	/* The fields below are for replays. Zero is the default of each field. */
	/* Reports the replay's progress: replay/report/replay/progress.h. May be NULL. */
	struct ts_replay_progress *progress;
	/* An additional executor; NULL except in TraceSmith's own programs. */
	const struct ts_executor *device;
	uint32_t n_threads; /* CPU threads for a virtual GPU's kernels; 0: the replay's default */
	uint64_t device_bytes; /* limit of a virtual GPU's memory; 0: the memory of its model */
};

/* Facts about the answer that are not in its messages. */
struct ts_query_end {
	bool is_damaged; /* the answer lacks rows that could not be read */
	struct ts_sbt_error damage;
	/* the checkpoints are damaged; the whole trace was read instead */
	bool has_bad_checkpoints;
};

/*
 * Runs one query. `session` is a session's number, or 0 for all sessions of the file. The caller
 * keeps reader and query. Returns 0; -EINVAL (`give` or `no_memory` is NULL); -ENOMEM; -ECANCELED;
 * another negative errno (the file cannot be read); TS_QUERY_E_*; TS_SBT_E_*, with
 * ts_sbt_reader_error(); TS_E_*; or the value of `give`. *ret_end is untouched unless 0 is
 * returned.
 */
int ts_query_run(struct ts_sbt_reader *reader, uint32_t session, const Ts__Rpc__Query *query,
		 const struct ts_query_options *options, struct ts_query_end *ret_end);

/* Returns the moment as nanoseconds of CLOCK_MONOTONIC, at most UINT64_MAX. Cannot fail. */
uint64_t ts_query_ns(struct ts_sbt_reader *reader, const Ts__Rpc__Moment *moment);

#define TS_QUERY_WHY_BYTES 400
/*
 * Writes a one-line message for a person about `r`, a result of ts_query_run(). `path` is the
 * file's name, `error` the reader's ts_sbt_reader_error(). Cannot fail; thread-safe.
 */
void ts_query_why(const char *path, int r, const struct ts_sbt_error *error,
		  char ret_why[TS_QUERY_WHY_BYTES]);

#ifdef __cplusplus
}
#endif
