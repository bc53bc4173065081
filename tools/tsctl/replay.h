/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `tsctl replay` was asked: cmd-replay.c reads the options. What comes of it are messages (replay/report/replay.h), worked out here
 * or by the daemon, and printed by these.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/exec/schedule.h"
#include "replay/report/pool.h"
#include "tools/tsctl/ask.h"

struct ts_replay_asked {
	struct ts_asking asking;
	bool json;
	bool debug; /* kernels are stopped, for commands from stdin */
	Ts__Rpc__Query__Replay query;
	Ts__Rpc__Moment from, to;
	Ts__Rpc__Query__Decisions decisions[TS_EXEC_MAX_DECISIONS];
	Ts__Rpc__Query__Decisions *decision_list[TS_EXEC_MAX_DECISIONS];
	struct ts_pool pool; /* of what the query points to */
	int status;	     /* what was found, so far */
};

/* One edit, or @ and the file that has them. A complaint and -EINVAL. */
int ts_replayemulate_add(struct ts_replay_asked *asked, const char *text);
void ts_replayemulate_print(const Ts__Rpc__ReplayReport *report);
void ts_replayplan_print(const Ts__Rpc__ReplayPlan *plan);
void ts_replaydry_print(const Ts__Rpc__CapturePlan *plan);
void ts_replayexec_print(const Ts__Rpc__ReplayResult *result);
void ts_replayexec_print_missing(size_t n_unsupported, char *const *unsupported, const char *ended,
				 bool cut);

/* Whether it is such a list as follows, and so no file. */
bool ts_replaycheck_is_list(const char *text);
/* "races,init,bounds,order", or "all". A complaint and -EINVAL where it is none of these. */
int ts_replaycheck_parse(struct ts_replay_asked *asked, const char *text);
void ts_replaycheck_print(const Ts__Rpc__ReplayResult *result);

/* "7", or "7:17,40-45": a seed, and which of its decisions alone count. A complaint and -EINVAL where it is neither. */
int ts_replayschedule_parse(struct ts_replay_asked *asked, const char *text);
void ts_replayschedule_print(const Ts__Rpc__ReplayResult *result);

/* Whether the daemon's answer has all that its kind of answer has: what is printed looks no further, and prints no control character. */
bool ts_replaywhole(const Ts__Rpc__ReplayAnswer *answer);
