/* SPDX-License-Identifier: Apache-2.0 */
/* The analysis of a trace as the message of `tsctl analyze`. */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"

/*
 * Fills `ret_report` from the pool. `resolver` has been made with launchers. `session` selects one
 * session of the file; 0: all. Lists at most `limit` kernels, and `limit` stacks per finding.
 * Returns 0, -ENOMEM, TS_E_* (replay/state/limit.h) or the errors of sbt/reader.h.
 */
int ts_analysisjson_make(struct ts_resolver *resolver, uint32_t session, size_t limit,
			 struct ts_pool *pool, Ts__Rpc__AnalysisReport *ret_report);
