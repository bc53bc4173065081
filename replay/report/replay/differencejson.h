/* SPDX-License-Identifier: Apache-2.0 */
/* A difference that a replay has (replay/exec), as a message: the place, and both values in their type. */
#pragma once

#include "replay/report/replay/replay.h"

/* `from`: what it differs from, as ReplayDifference.from has it. Goes with the replay's pool. */
Ts__Rpc__ReplayDifference *ts_differencejson_make(struct ts_replay *replay,
						  const struct ts_exec_difference *difference,
						  const char *from);
