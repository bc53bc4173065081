/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory over time as the message of proto/rpc/tracesmith.proto.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"
#include "replay/report/stacks/launchsite.h"
#include "replay/state/memory/lifetimes.h"
#include "replay/state/memory/state-memory.h"

/*
 * Fills `report` from the pool, except the fields of misusejson.h. `stacks`: add the stacks of the
 * calls.
 */
void ts_memoryjson_make(struct ts_resolver *resolver, struct ts_pool *pool,
			const struct ts_memory *memory, size_t max, bool stacks,
			Ts__Rpc__MemoryReport *report);
/* Adds the call sites of all holders in `memory`. Returns 0 or -ENOMEM. */
int ts_memoryjson_sites(struct ts_resolver *resolver, struct ts_pool *pool,
			const struct ts_memory *memory, Ts__Rpc__MemoryReport *report);
/* Like ts_memoryjson_sites(), for the given holders. */
void ts_memoryjson_make_sites(struct ts_launch_sites *frames, struct ts_pool *pool,
			      const struct ts_memory_holders *holders, size_t *ret_n,
			      Ts__Rpc__MemorySite ***ret_messages);
/* Adds the lifetimes to the report, with at most max_kernels kernels for each allocation. */
void ts_memoryjson_alive(struct ts_resolver *resolver, struct ts_pool *pool,
			 const struct ts_lifetimes *lifetimes, size_t max_kernels,
			 Ts__Rpc__MemoryReport *report);
