/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timeline as the message of proto/rpc/tracesmith.proto.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/state/timeline.h"
#include "tools/tsctl/pool.h"
#include "tools/tsctl/resolve.h"

/* Fill the message from the pool. `in`: which of the devices; `streams`: with theirs. */
void ts_timelinejson_make(struct ts_resolver *resolver, struct ts_pool *pool,
			  const struct ts_timeline *timeline, Ts__Rpc__TimelineReport *report);
void ts_timelinejson_device(struct ts_resolver *resolver, struct ts_pool *pool,
			    const struct ts_timeline *timeline, uint32_t in, bool streams,
			    Ts__Rpc__TimelineDevice *message);
