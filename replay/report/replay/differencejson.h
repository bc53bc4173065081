/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A difference found by a replay (replay/exec) as a message: its place, and the expected and the
 * found value in their type.
 */
#pragma once

#include "replay/report/replay/replay.h"

/*
 * Makes the message of a difference. `from` is the reference of the comparison, as in
 * ReplayDifference.from. The replay's pool owns the result.
 */
Ts__Rpc__ReplayDifference *ts_differencejson_make(struct ts_replay *replay,
						  const struct ts_exec_difference *difference,
						  const char *from);
