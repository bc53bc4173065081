/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timeline as the message of proto/rpc/tracesmith.proto.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"
#include "replay/state/occupancy.h"
#include "replay/state/overview/timeline.h"

/*
 * Fill the message from the pool. `in` is the device's index in the timeline; if `streams` is true,
 * the message includes the device's streams.
 */
void ts_timelinejson_make(struct ts_resolver *resolver, struct ts_pool *pool,
			  const struct ts_timeline *timeline, Ts__Rpc__TimelineReport *report);
void ts_timelinejson_device(struct ts_resolver *resolver, struct ts_pool *pool,
			    const struct ts_timeline *timeline, uint32_t in, bool streams,
			    Ts__Rpc__TimelineDevice *message);

/* Makes the message of a sum. Returns NULL if no launch has a known occupancy. */
Ts__Rpc__Occupancy *ts_timelinejson_occupancy(struct ts_pool *pool,
					      const struct ts_occupancy_sum *sum);
/*
 * Adds occupancies to the devices of a timeline's messages. A device that several processes use
 * gets the occupancy of the first one.
 */
void ts_timelinejson_occupancies(struct ts_pool *pool, const struct ts_occupancies *occupancies,
				 Ts__Rpc__TimelineDevice *const *devices, size_t n_devices);
