/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tsctl replay --debug`: stops in kernels of a replay and inspects them, by commands from stdin.
 */
#pragma once

#include "tools/tsctl/replay/replay-command.h"

/*
 * Replays the selected operations and stops before the first instruction of each kernel. Returns
 * the exit status.
 */
int ts_replaydebug_run(const struct ts_replay_asked *asked);
