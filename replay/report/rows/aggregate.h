/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of rows by name: how often, how long, how much. For `info`'s lists and `view --stats`.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"
#include "replay/report/stacks/launchsite.h"

#include <stdbool.h>
#include <stdint.h>

struct ts_aggregates;

/* `durations`: with medians and percentiles, of rows that are added one by one. -ENOMEM. */
int ts_aggregates_new(bool durations, struct ts_aggregates **ret_aggregates);
void ts_aggregates_free(struct ts_aggregates *aggregates);
void ts_aggregates_freep(struct ts_aggregates **aggregates);

/* `name` is copied. -ENOMEM. */
int ts_aggregates_add(struct ts_aggregates *aggregates, const char *name, uint64_t duration_ns,
		      uint64_t bytes);
/* The same, with who launched it; `site` is copied, NULL: not known. */
int ts_aggregates_add_launched(struct ts_aggregates *aggregates, const char *name,
			       const struct ts_launch_site *site, uint64_t duration_ns,
			       uint64_t bytes);
/*
 * The same of a range: names that differ in numbers alone become one, "step N". To a set of sums either all are added so or none.
 */
int ts_aggregates_add_numbered(struct ts_aggregates *aggregates, const char *name,
			       uint64_t duration_ns);
/* The rows of a total; `name` NULL: what the resolver calls them. */
int ts_aggregates_add_total(struct ts_aggregates *aggregates, struct ts_resolver *resolver,
			    const struct ts_sbt_total *total, const char *name);
/* Of all names together. */
uint64_t ts_aggregates_total_ns(const struct ts_aggregates *aggregates);
/*
 * As messages from the pool, those that took the longest first; at most `max` of them, 0: all. `bytes` is
 * left out where it is zero.
 */
void ts_aggregates_messages(const struct ts_aggregates *aggregates, struct ts_pool *pool,
			    size_t max, size_t *ret_n, Ts__Rpc__Aggregate ***ret_messages);
