/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers a replay request (Query.Replay, ReplayAnswer): which executor runs which operations, how
 * often, and the results as messages. asking.c has the shared parts. execjson.c runs captures;
 * emulatejson.c runs any trace in virtual time. dryjson.c and planjson.c describe the run without
 * running it.
 */
#pragma once

#include "proto/rpc/json.h"
#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/exec/exec-schedule.h"
#include "replay/report/names/resolver.h"
#include "replay/report/query.h"
#include "replay/report/replay/progress.h"
#include "replay/report/report-pool.h"
#include "replay/state/state-map.h"

#define TS_REPLAY_DEFAULT_LISTED 10u
#define TS_REPLAY_MAX_EDITS	 256u
#define TS_REPLAY_STEP_ROWS	 65536u
#define TS_REPLAY_SIDES		 64u
/* time limit of a replay with --check or --schedules, if the request has no limit */
#define TS_REPLAY_CHECKS_NS UINT64_C(60000000000)

/* A replay of one session, or of a whole trace. */
struct ts_replay {
	const Ts__Rpc__Query__Replay *asked;
	struct ts_sbt_reader *reader;
	const char *path; /* file name as in the messages */
	uint32_t in_file; /* the requested session; 0: all */
	uint32_t limit;
	const struct ts_query_options *options;
	struct ts_query_end *end;
	struct ts_replay_progress_now now;
	struct ts_pool pool;
	struct ts_resolver *resolver;
	/* The fields below are for captures. */
	const struct ts_executor *executor;
	struct ts_exec_program *program;
	uint32_t what;		     /* mask of TS_CHECK_*: kinds of findings to look for */
	struct ts_exec_report first; /* the first replay's report */
	/*
	 * The last replay's report. All replays between the first and the last had the same results
	 * as the first.
	 */
	struct ts_exec_report last;
	struct ts_exec_results results; /* the first replay's results */
	uint32_t n_replays;
	/* With --schedules: the schedule of the first replay, in which no operation is held. */
	struct ts_exec_schedule usual;
	struct ts_exec_explored explored;
	struct ts_check *check; /* NULL: no checks */
	/* CLOCK_MONOTONIC time at which all replays must have ended; 0: no limit */
	uint64_t until_ns;
	bool is_interrupted;
	/* The first replay ended by a fault, and the captured program by the same fault. */
	bool faults_as_captured;
	/* Cache of the descriptions of operations that sidejson.c has made; NULL: empty slot. */
	const Ts__Rpc__ReplaySide *sides[TS_REPLAY_SIDES];
	bool has_functions; /* `functions` holds all of the program's functions */
	bool is_said;	    /* the notice that a device runs the trace's code was given */
	/*
	 * For names in progress reports: maps a function's handle to the index of the captured
	 * operation that created it.
	 */
	struct ts_state_map functions;
};

/* Answers a replay query; parameters and errors are those of ts_query_run(). */
int ts_replay_query(struct ts_sbt_reader *reader, uint32_t session, const Ts__Rpc__Query *query,
		    const struct ts_query_options *options, struct ts_query_end *end);

/* Returns the executor with this name, or NULL. The executor is static. */
const struct ts_executor *ts_replay_executor(const char *name);
/* Applies the request's selection to a captured program. Returns as ts_exec_program_select(). */
int ts_replay_select(const Ts__Rpc__Query__Replay *asked, struct ts_exec_program *program);
/*
 * Explains in words why a program cannot be replayed. `r` is a result of ts_exec_program_new(),
 * ts_exec_program_select() or ts_exec_run(). Returns NULL for 0 and for other errors.
 */
char *ts_replay_why(struct ts_pool *pool, const char *path, uint32_t session, int r,
		    const char *refused);

/* ---- within ---------------------------------------------------------------------------------- */

/* Pauses progress reports and gives an answer. Returns the value of `give`. */
int ts_replay_give(struct ts_replay *replay, Ts__Rpc__ReplayAnswer *answer);
/* Gives an answer with a message: an error if `failed`, else a notice. */
int ts_replay_complain(struct ts_replay *replay, bool failed, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/*
 * True if the request selects operations and the trace has none that match. For emulations and
 * captures.
 */
bool ts_replay_is_empty(const struct ts_replay *replay, uint64_t n_calls, uint64_t n_operations);
/*
 * Notes the progress of an emulation: the callback `step` of replay/emulate. `data` is a struct
 * ts_replay with now.doing set.
 */
int ts_replay_step(void *data, uint64_t done, uint64_t all);
/* True if the program has set `cancel`. */
bool ts_replay_is_interrupted(const struct ts_replay *replay);
/*
 * Return the start and the end of the request's window in nanoseconds. The request must have the
 * field.
 */
uint64_t ts_replay_from_ns(const struct ts_replay *replay);
uint64_t ts_replay_to_ns(const struct ts_replay *replay);

/*
 * Answer one kind of request each: emulation, its dry run, replay of a capture, its dry run. Each
 * function passes its answers to options->give(). They return 0, or an error as ts_query_run()
 * does.
 */
int ts_replay_emulate(struct ts_replay *replay);
int ts_replay_plan(struct ts_replay *replay);
int ts_replay_exec(struct ts_replay *replay);
int ts_replay_exec_plan(struct ts_replay *replay);

/*
 * Lists the names of the operations that the capture marks as unsupported, each once, up to a
 * limit. Returns their number.
 */
size_t ts_replay_unsupported(struct ts_replay *replay, char ***ret_names);
/* Returns the reason in words if the capture ended before its program, else NULL. */
char *ts_replay_why_ended(struct ts_replay *replay);
