/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entry points of the vendors' interfaces, from the tables of calls (proto/abi/vendor): which
 * ones the shim records, which ones pass through, and which ones it has no name for.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/report-pool.h"

/* Fills info->coverage from the pool. */
void ts_coverage_fill(struct ts_pool *pool, Ts__Rpc__DevicesInfo *info);

/* Prints the counts of each interface and release, then the entry points. */
void ts_coverage_print(const Ts__Rpc__DevicesInfo *info);
