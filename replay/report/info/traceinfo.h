/* SPDX-License-Identifier: Apache-2.0 */
/* A whole trace as one message, for `tsctl info` as text and as JSON. */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"

/*
 * Fills `ret_info` from the pool. `session` selects one session of the file; 0: all. Lists sorted
 * by time have at most `max_kernels` entries; 0: all. Failed calls are found in a pass over all
 * calls, unless `no_errors`. *ret_damaged: unreadable blocks are left out. Returns 0, a negative
 * errno or TS_SBT_E_*.
 */
int ts_traceinfo_make(struct ts_resolver *resolver, const char *path, uint32_t session,
		      size_t max_kernels, bool no_errors, struct ts_pool *pool,
		      Ts__Rpc__TraceInfo *ret_info, bool *ret_damaged);

/*
 * Adds the size of each column to a message of the same trace; reads all blocks. *ret_damaged: some
 * blocks are unreadable. Returns 0, a negative errno or TS_SBT_E_*.
 */
int ts_traceinfo_columns(struct ts_sbt_reader *reader, uint32_t session, struct ts_pool *pool,
			 Ts__Rpc__TraceInfo *info, bool *ret_damaged);
