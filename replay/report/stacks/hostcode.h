/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the functions that the host ran while streams were idle, from samples of all threads.
 * `tsctl analyze` lists them if the host issues its calls too late.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"

/*
 * Fills `host_code`, with at most `limit` entries, and `host_ns`, from the pool. Fills neither if
 * the trace has no samples or the samples have no functions. Session 0 means all. Errors are those
 * of ts_gaps_read().
 */
int ts_hostcode_make(struct ts_resolver *resolver, struct ts_pool *pool, uint32_t session,
		     size_t limit, Ts__Rpc__AnalysisReport *report);
