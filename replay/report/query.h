/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A question about a trace, answered: what `tsctl` asks of a file it has opened, and what the daemon's worker is asked for clients.
 * One thread. What is given out is in the order of the file, and the same for both.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "sbt/reader.h"

#include <stdbool.h>

/* Besides negative errnos, TS_SBT_E_* and replay/state/limit.h. */
#define TS_QUERY_E_WINDOW 100 /* it ends before it begins */
#define TS_QUERY_E_TYPE	  101 /* there is no type of row of that name */
#define TS_QUERY_E_UNKNOWN \
	102 /* a question that this version does not know, or one without what it is about */
#define TS_QUERY_E_MANY	   103 /* it asks for more parts or lines than an answer holds */
#define TS_QUERY_E_OUTSIDE 104 /* of a moment before the trace or after it */

struct ts_executor;
struct ts_replay_progress;

struct ts_query_options {
	/*
	 * Takes a part of the answer: a message, and the number of its field in Answer. Rows, nodes, edges and steps are given one
	 * at a time, all else at once; of a replay each is an answer of its own. The message is valid until it returns; what it returns, where that is not 0, ends the query.
	 */
	int (*give)(void *data, unsigned number, const ProtobufCMessage *body);
	/* Told of rows that were read, every few thousand; NULL is fine. */
	void (*step)(void *data, uint64_t n_rows);
	void *data;
	void (*no_memory)(void); /* replay/report/pool.h */
	/* Of replays alone. */
	const volatile int
		*cancel; /* set from anywhere: it ends with what was found so far; or NULL */
	struct ts_replay_progress
		*progress; /* is told how far it is (replay/progress.h); or NULL */
	const struct ts_executor
		*device;    /* may be asked for beside those that need no device; or NULL */
	uint32_t n_threads; /* CPU threads for a virtual GPU's kernels; 0: the replay's default */
	uint64_t device_bytes; /* what a virtual GPU has at most; 0: as much as its kind */
};

/* What is to be said beside the answer. */
struct ts_query_end {
	bool is_damaged; /* what could not be read is missing in the answer */
	struct ts_sbt_error damage;
	bool has_bad_checkpoints; /* all was read instead */
};

/* `session` 0: all of the file. Untouched *ret_end on failure. */
int ts_query_run(struct ts_sbt_reader *reader, uint32_t session, const Ts__Rpc__Query *query,
		 const struct ts_query_options *options, struct ts_query_end *ret_end);

/* A moment as absolute time. */
uint64_t ts_query_ns(struct ts_sbt_reader *reader, const Ts__Rpc__Moment *moment);

#define TS_QUERY_WHY_BYTES 400
/* In words what the file `path` has wrong with it, or the query: a line. */
void ts_query_why(const char *path, int r, const struct ts_sbt_error *error,
		  const Ts__Rpc__Query *query, char ret_why[TS_QUERY_WHY_BYTES]);
