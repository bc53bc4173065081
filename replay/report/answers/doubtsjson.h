/* SPDX-License-Identifier: Apache-2.0 */
/* Doubts about a trace's consistency (replay/state/doubts.h), as messages. */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"
#include "replay/state/doubts.h"

/* Returns the doubts as a message that the pool owns, or NULL if there are no doubts. */
Ts__Rpc__Doubts *ts_doubtsjson_make(struct ts_pool *pool, const struct ts_doubts *doubts);
