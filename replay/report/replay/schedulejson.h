/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explores schedules (replay/exec/exec-schedule.h) and reports the decisions that matter, as
 * messages.
 */
#pragma once

#include "replay/report/replay/replay.h"

#define TS_SCHEDULEJSON_MAX_DECISIONS TS_EXEC_MAX_DECISIONS

/*
 * Explores schedules. replay->first and replay->results are those of a run with a schedule without
 * decisions. `usual` has the options of each run except checks and schedule. Returns as
 * ts_exec_explore().
 */
int ts_schedulejson_run(struct ts_replay *replay, const struct ts_exec_options *usual);

/* Adds the results of the exploration to the answer. The replay's pool owns all of them. */
void ts_schedulejson_fill(struct ts_replay *replay, Ts__Rpc__ReplayResult *to);
