/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole trace as one message: what `info` prints, for people and for programs.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"

/*
 * Reads what is needed and fills `ret_info` from the pool. `session` limits it to one session of the file; 0: all.
 * `max_kernels` of the lists that are sorted by time; 0: all. *ret_damaged: blocks that could not be read are left
 * out of what is told. Returns 0, a negative errno or TS_SBT_E_*.
 */
int ts_traceinfo_make(struct ts_resolver *resolver, const char *path, uint32_t session,
		      size_t max_kernels, struct ts_pool *pool, Ts__Rpc__TraceInfo *ret_info,
		      bool *ret_damaged);

/*
 * Adds what each column takes to a message of the same trace: all blocks are read for it. *ret_damaged: some could not be looked
 * into.
 */
int ts_traceinfo_columns(struct ts_sbt_reader *reader, uint32_t session, struct ts_pool *pool,
			 Ts__Rpc__TraceInfo *info, bool *ret_damaged);
