/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a replay would run: `tsctl replay --mode dry-run`.
 */
#pragma once

#include "tools/tsctl/replay.h"

/* Tells it; returns the exit status. */
int ts_replay_plan(const struct ts_replay_asked *asked, struct ts_source *source);

/* Whether the selection has an operation. `time_ns`: when it was called for. */
bool ts_replay_selects(const struct ts_replay_asked *asked, uint64_t origin_ns, uint64_t op_id,
		       uint32_t stream, uint64_t time_ns);
