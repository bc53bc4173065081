/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks a question with JSON and gets JSON, for bindings: Python, Rust. The answer is the output of
 * `tsctl COMMAND --json`.
 *
 *	ts_ask_json(reader, 0, "run.sbt", "gaps", "{\"limit\": 3}", &options, &answer, why);
 *
 * A question is the name of a member of Query's oneof in proto/rpc/tracesmith.proto: "info",
 * "analyze", "gaps", "state", "timeline", "rows", "stats", "memory", "graph", "replay". Its options
 * are the fields of that member's message; json-read.h has the rules. "state", "gaps" and "memory"
 * have stacks unless `stacks` is false. The answer is one object and a newline. "rows" and "graph"
 * have an object per line, as `tsctl view` and `tsctl graph`. "replay" has a ReplayAnswer per line.
 *
 * A reader serves one thread at a time; calls with different readers run in parallel. The library
 * prints nothing and never ends the process.
 *
 * A replay reports its progress by `options->progress`, and runs on the CPU: "emulate" or "vgpu".
 */
#pragma once

#include "proto/rpc/json.h"
#include "replay/report/query-diff.h"
#include "replay/report/query.h"
#include "replay/report/replay/progress.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returned in addition to the values of ts_query_run(). */
#define TS_ASK_E_OPTIONS 110 /* an unknown question, or bad options; `why` names the key */
#define TS_ASK_E_DAMAGED 111 /* the answer is there, but lacks rows that could not be read */
#define TS_ASK_E_LONG	 112 /* the answer is longer than max_bytes */

#define TS_ASK_WHY_BYTES TS_QUERY_WHY_BYTES

/* Zero is the default of each field, except no_memory. Owned by the caller. */
struct ts_ask_options {
	/* Required, as in ts_query_options: called if there is no memory; must not return. */
	void (*no_memory)(void);
	/* If any thread sets *cancel to 1, the call ends: see ts_query_options. May be NULL. */
	const volatile int *cancel;
	/*
	 * The number of rows that were read so far is added to *n_rows, atomically, while the call
	 * runs: other threads can show the progress. May be NULL; else the reader's watch
	 * (ts_sbt_reader_watch()) is used, and ended.
	 */
	uint64_t *n_rows;
	size_t max_bytes; /* limit of the answer's length; 0: 1 GiB */
	/* Replays only, as in ts_query_options. */
	uint32_t n_threads;
	uint64_t device_bytes;
	struct ts_replay_progress *progress;
};

/*
 * Asks a question. `session` is a session's number, or 0 for all sessions of the file. `path` is
 * the trace's name, for messages. `options_json` is an object; NULL or "" is an empty one. Appends
 * the answer to `answer`, which the caller has zeroed and frees with ts_json_deinit(), also after
 * an error. Returns 0, TS_ASK_E_*, -ECANCELED, or another value of ts_query_run(). If the result is
 * not 0, `ret_why` has one line for a person; otherwise it is empty, or has a warning.
 */
int ts_ask_json(struct ts_sbt_reader *reader, uint32_t session, const char *path,
		const char *question, const char *options_json,
		const struct ts_ask_options *options, struct ts_json *answer,
		char ret_why[TS_ASK_WHY_BYTES]);

/*
 * Draws the answer to "timeline" or "memory" as SVG, `width` pixels wide (0: the default), as
 * `tsctl timeline --format svg` does. Appends the picture to `answer`. `options_json` selects a
 * window; the picture determines the number of parts. TS_ASK_E_OPTIONS: also another question. The
 * rest is as in ts_ask_json().
 */
int ts_ask_picture(struct ts_sbt_reader *reader, uint32_t session, const char *path,
		   const char *question, const char *options_json, uint32_t width,
		   const struct ts_ask_options *options, struct ts_json *answer,
		   char ret_why[TS_ASK_WHY_BYTES]);

/*
 * Compares sides[0] with sides[1], as ts_query_diff() does. `options_json` has the fields of
 * DiffQuery. The rest is as in ts_ask_json().
 */
int ts_ask_json_diff(const struct ts_query_side sides[2], const char *options_json,
		     const struct ts_ask_options *options, struct ts_json *answer,
		     char ret_why[TS_ASK_WHY_BYTES]);

#ifdef __cplusplus
}
#endif
