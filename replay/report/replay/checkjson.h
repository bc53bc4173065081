/* SPDX-License-Identifier: Apache-2.0 */
/* What checks of a replay found (replay/check), as messages. */
#pragma once

#include "replay/report/replay/replay.h"

/* Of "races", "init", "bounds", "order", "all" the TS_CHECK_*. -EINVAL where one is none of these. */
int ts_checkjson_what(char *const *names, size_t n, uint32_t *ret_what);

/* Fills the result with the findings of replay->check and with remedies; all of it goes with the replay's pool. */
void ts_checkjson_fill(struct ts_replay *replay, Ts__Rpc__ReplayResult *to);
