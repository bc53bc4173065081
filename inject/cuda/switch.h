/* SPDX-License-Identifier: Apache-2.0 */
/* Recording is stopped and started. */
#pragma once

#include "inject/context.h"

/*
 * On the flush thread: does what the daemon asks for by TS_COMMAND_PAUSED; says in the trace what holds from
 * that time on, which a session that begins stopped does once.
 */
void ts_switch_follow(struct ts_shim *shim);
void ts_switch_record(struct ts_shim *shim, uint64_t ticks);
