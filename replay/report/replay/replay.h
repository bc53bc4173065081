/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request to replay, answered (Query.Replay, ReplayAnswer): which executor runs what, how often, and what comes of it as messages.
 * asking.c has the parts in common; execjson.c runs what was captured, emulatejson.c any trace in virtual time; dryjson.c and planjson.c
 * tell what either would run.
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
#define TS_REPLAY_CHECKS_NS \
	UINT64_C(60000000000) /* of --check and --schedules, if the query has no limit */

/* A replay of one session, or of a trace. */
struct ts_replay {
	const Ts__Rpc__Query__Replay *asked;
	struct ts_sbt_reader *reader;
	const char *path; /* as the messages have it */
	uint32_t in_file; /* the session that was asked for; 0: all */
	uint32_t limit;
	const struct ts_query_options *options;
	struct ts_query_end *end;
	struct ts_replay_progress_now now;
	struct ts_pool pool;
	struct ts_resolver *resolver;
	/* Of what was captured, from here on. */
	const struct ts_executor *executor;
	struct ts_exec_program *program;
	uint32_t what;			/* TS_CHECK_*: what is looked for */
	struct ts_exec_report first;	/* of the first replay */
	struct ts_exec_report last;	/* of the last one, which alone may differ from the first */
	struct ts_exec_results results; /* of the first one */
	uint32_t n_replays;
	struct ts_exec_schedule
		usual; /* where other orders were asked for: as it is without decisions */
	struct ts_exec_explored explored;
	struct ts_check *check; /* NULL: nobody looks on */
	uint64_t
		until_ns; /* CLOCK_MONOTONIC: when all replays are over; 0: there is no such time */
	bool is_interrupted;
	bool faults_as_captured; /* the first replay ended by a fault, and so did the program's work */
	const Ts__Rpc__ReplaySide *sides[TS_REPLAY_SIDES]; /* made of late (sidejson.h); or NULL */
	bool has_functions; /* `functions` has all of the program's */
	bool is_said;	    /* that the trace's code runs on a device */
	struct ts_state_map
		functions; /* whose names are told meanwhile: the captured operation of each */
};

/* As ts_query_run() does, of a query about a replay. */
int ts_replay_query(struct ts_sbt_reader *reader, uint32_t session, const Ts__Rpc__Query *query,
		    const struct ts_query_options *options, struct ts_query_end *end);

/* The executor of captured operations with this name; NULL: there is none. */
const struct ts_executor *ts_replay_executor(const char *name);
/* Of what was captured the selected operations: 0, as ts_exec_program_select(). */
int ts_replay_select(const Ts__Rpc__Query__Replay *asked, struct ts_exec_program *program);
/* Why a program cannot be replayed, in words: what ts_exec_program_new(), _select() and ts_exec_run() return. */
char *ts_replay_why(struct ts_pool *pool, const char *path, uint32_t session, int r,
		    const char *refused);

/* ---- within ------------------------------------------------------------------------------------- */

int ts_replay_give(struct ts_replay *replay, Ts__Rpc__ReplayAnswer *answer);
/* That nothing came of it, and why; or, where not `failed`, what is to be said beside. */
int ts_replay_complain(struct ts_replay *replay, bool failed, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Of any trace: whether a selection was asked for, and there is nothing that it means. */
bool ts_replay_is_empty(const struct ts_replay *replay, uint64_t n_calls, uint64_t n_operations);
/* An int (*)(void *, uint64_t, uint64_t) of replay/emulate, of a struct ts_replay whose now.doing is set. */
int ts_replay_step(void *data, uint64_t done, uint64_t all);
bool ts_replay_is_interrupted(const struct ts_replay *replay);
uint64_t ts_replay_from_ns(const struct ts_replay *replay);
uint64_t ts_replay_to_ns(const struct ts_replay *replay);

int ts_replay_emulate(struct ts_replay *replay);
int ts_replay_plan(struct ts_replay *replay);
int ts_replay_exec(struct ts_replay *replay);
int ts_replay_exec_plan(struct ts_replay *replay);

/* What the trace names as such, each once. */
size_t ts_replay_unsupported(struct ts_replay *replay, char ***ret_names);
/* NULL: it did not. */
char *ts_replay_why_ended(struct ts_replay *replay);
