/* SPDX-License-Identifier: Apache-2.0 */
/* What kernel events this machine can give: tracesmithd is asked, which would load them. */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"

/* Fills `kernel_events`, with nothing where there is no daemon to ask. */
void ts_kernel_fill(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info);
