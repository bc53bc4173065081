/* SPDX-License-Identifier: Apache-2.0 */
/* Findings of replay/check as messages. */
#pragma once

#include "replay/report/replay/replay.h"

/*
 * Converts the names "races", "init", "bounds", "order" and "all" to a mask of TS_CHECK_*. Returns
 * 0, or -EINVAL for any other name.
 */
int ts_checkjson_what(char *const *names, size_t n, uint32_t *ret_what);

/*
 * Adds the findings of replay->check and their remedies to the result. The replay's pool owns all
 * of them.
 */
void ts_checkjson_fill(struct ts_replay *replay, Ts__Rpc__ReplayResult *to);
