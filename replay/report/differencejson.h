/* SPDX-License-Identifier: Apache-2.0 */
/* Where a replay differs (replay/exec), as a message: the place, and the values there in their type. */
#pragma once

#include "replay/report/replay.h"

/* `from`: what it differs from, as ReplayDifference.from has it. Goes with the replay's pool. */
Ts__Rpc__ReplayDifference *ts_differencejson_make(struct ts_replay *replay,
						  const struct ts_exec_difference *difference,
						  const char *from);
