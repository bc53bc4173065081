/* SPDX-License-Identifier: Apache-2.0 */
/* `tsctl replay --on vgpu --schedules`: orders to try, and telling which of them matters. */
#pragma once

#include "tools/tsctl/replayexec.h"

/* "7", or "7:17,40-45": a seed, and which of its decisions alone count. A complaint and -EINVAL where it is neither. */
int ts_replayschedule_parse(const char *text, struct ts_replay_asked *asked);

/* Tries them; replay->first and replay->results are of a run with a schedule without decisions. */
int ts_replayschedule_run(struct replay *replay, const volatile int *cancel);

/* What was found, into the result; all of it goes with the pool. */
void ts_replayschedule_fill(struct replay *replay, Ts__Rpc__ReplayResult *to);
void ts_replayschedule_print(const Ts__Rpc__ReplayResult *result);
