/* SPDX-License-Identifier: Apache-2.0 */
/* Orders to try (replay/exec/exec-schedule.h), and which of them matters, as messages. */
#pragma once

#include "replay/report/replay/replay.h"

#define TS_SCHEDULEJSON_MAX_DECISIONS TS_EXEC_MAX_DECISIONS

/*
 * Tries them; replay->first and replay->results are of a run with a schedule without decisions. `usual` says how to run each, but
 * for what is looked for and the order. 0, or as ts_exec_explore().
 */
int ts_schedulejson_run(struct ts_replay *replay, const struct ts_exec_options *usual);

/* What was found, into the result; all of it goes with the pool. */
void ts_schedulejson_fill(struct ts_replay *replay, Ts__Rpc__ReplayResult *to);
