/* SPDX-License-Identifier: Apache-2.0 */
/* Stops and starts recording. */
#pragma once

#include "inject/context.h"

/*
 * Only the flush thread calls these functions. ts_switch_follow() applies the current request to
 * stop or start (TS_COMMAND_PAUSED, or the application's own switch). ts_switch_record() records
 * the current state in the trace; a session that begins stopped calls it once.
 */
void ts_switch_follow(struct ts_shim *shim);
void ts_switch_record(struct ts_shim *shim, uint64_t ticks);
