/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gaps of streams as the message of proto/rpc/tracesmith.proto. Names replace the ids, and each
 * part contains the parts that explain it.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"
#include "replay/report/stacks/codes.h"
#include "replay/state/gaps/gaps.h"

/*
 * Fills `ret_report` from the pool. `codes` is the object that numbered the functions. `stacks`:
 * add the stacks of the calls.
 */
void ts_gapsjson_make(struct ts_resolver *resolver, const struct ts_codes *codes,
		      const struct ts_gaps *gaps, uint64_t least_ns, bool stacks,
		      struct ts_pool *pool, Ts__Rpc__GapsReport *ret_report);
