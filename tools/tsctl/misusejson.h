/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that was named after it had been freed, and pools, in messages and in words.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/state/misuse.h"
#include "tools/tsctl/pool.h"
#include "tools/tsctl/resolve.h"

/* Fills its fields of the report, from the pool. */
void ts_misusejson_fill(struct ts_resolver *resolver, struct ts_pool *pool,
			const struct ts_misuses *misuses, bool stacks,
			Ts__Rpc__MemoryReport *report);
/* For people; nothing where there is nothing to tell. */
void ts_misusejson_print(const Ts__Rpc__MemoryReport *report, uint64_t origin_ns, bool stacks,
			 bool wide);
