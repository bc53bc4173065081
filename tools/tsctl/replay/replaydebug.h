/* SPDX-License-Identifier: Apache-2.0 */
/* `tsctl replay --debug`: kernels of a replay stopped and looked at, by commands from stdin. */
#pragma once

#include "tools/tsctl/replay/replay-command.h"

/* Replays what is selected, and stops before the first instruction of each of its kernels. Returns the exit status. */
int ts_replaydebug_run(const struct ts_replay_asked *asked);
