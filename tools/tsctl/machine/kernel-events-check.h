/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel events that this machine supports, as reported by tracesmithd, which would load them.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"

/* Fills `kernel_events`; leaves it empty if there is no daemon program. */
void ts_kernel_fill(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info);
