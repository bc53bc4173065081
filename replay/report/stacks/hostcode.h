/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which functions the host ran while streams stood still, all threads together, as samples say: for a report that finds the host late.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"

/*
 * Fills `host_code`, of which there are at most `limit`, and `host_ns` from the pool; neither where the trace has no samples or they name
 * nothing. Session 0 is all. Errors as ts_gaps_read().
 */
int ts_hostcode_make(struct ts_resolver *resolver, struct ts_pool *pool, uint32_t session,
		     size_t limit, Ts__Rpc__AnalysisReport *report);
