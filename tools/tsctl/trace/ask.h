/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a Query about a trace: of a file in this process, or of the daemon, whose worker without
 * privileges computes the answer (`--served`). Both give the same messages.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "sbt/reader.h"
#include "tools/tsctl/screen/times.h"

#include <stdbool.h>

/* The trace of an answer, for printers. */
struct ts_about {
	const char *path;
	uint64_t origin_ns; /* origin of its times */
	bool many_sessions; /* several sessions, and all are meant */
	uint32_t session;   /* the only session that is meant; 0: all */
	/* The open trace; NULL if the daemon has answered. */
	struct ts_sbt_reader *reader;
};

struct ts_asking {
	const char *file, *session; /* exactly one of the two is set, as in ts_source_open() */
	bool served;
	/*
	 * True: the answer is one message. False: the answer is a list in parts, for which `about`
	 * may be empty.
	 */
	bool is_one;
	/*
	 * Receives the answer, or a part of it. Returns TS_EXIT_OK, or another exit status, which
	 * ends the command.
	 */
	int (*take)(void *data, const struct ts_about *about, const ProtobufCMessage *body);
	/*
	 * Receives the lists of an answer that this process makes (ts_query_lines()), as lines of
	 * JSON, in any thread, one call at a time. Returns as `take`, which receives all other
	 * messages. NULL: `take` receives all.
	 */
	int (*take_lines)(void *data, const char *lines, size_t n_bytes);
	/*
	 * Used if `take` is NULL: prints the answer as text; with `json`, the message is printed as
	 * JSON instead. The answer is untrusted: each optional field may be missing, and numbers
	 * and text are arbitrary.
	 */
	void (*print)(const void *data, const struct ts_about *about, const ProtobufCMessage *body);
	bool json;
	void *data;
	/*
	 * Replays only; may be NULL. If *cancel is set, from any thread or signal handler, the
	 * replay ends with the results so far. `progress` draws the progress.
	 */
	const volatile int *cancel;
	struct ts_replay_progress *progress;
	uint32_t n_threads;		  /* of a local virtual GPU; 0: default */
	const struct ts_executor *device; /* executor for a local replay; or NULL */
	/* Set on return: the trace is damaged, and the answer lacks the damaged blocks. */
	bool is_damaged;
};

/*
 * Returns TS_EXIT_OK, the status of `take`, or TS_EXIT_BAD after an error message. Sets the fields
 * of `query` that select the trace.
 */
int ts_ask(struct ts_asking *asking, Ts__Rpc__Query *query);

/* Converts a time to a message; returns ret_moment. */
Ts__Rpc__Moment *ts_ask_moment(const struct ts_time *time, Ts__Rpc__Moment *ret_moment);
