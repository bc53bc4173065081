/* SPDX-License-Identifier: Apache-2.0 */
/* Uses of freed memory, and memory pools, as messages. */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"
#include "replay/state/memory/misuse.h"

/*
 * Fills the report's fields about misuses and the program's memory pools. `pool` owns the messages.
 */
void ts_misusejson_fill(struct ts_resolver *resolver, struct ts_pool *pool,
			const struct ts_misuses *misuses, bool stacks,
			Ts__Rpc__MemoryReport *report);
