/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of rows by name: count, duration in nanoseconds, bytes. For the lists of `tsctl info` and
 * for `tsctl view --stats`. Not thread-safe.
 */
#pragma once

#include "proto/rpc/tracesmith.pb-c.h"
#include "replay/report/names/resolver.h"
#include "replay/report/report-pool.h"
#include "replay/report/rows/durations.h"
#include "replay/report/stacks/launchsite.h"

#include <stdbool.h>
#include <stdint.h>

struct ts_aggregates;

/* The sum of several rows of one name. */
struct ts_row_sum {
	uint64_t count, total_ns, min_ns, max_ns, bytes;
	struct ts_durations durations; /* empty: not known */
};

/*
 * Creates empty sums. `durations`: also compute medians and percentiles, of rows whose durations
 * are added. Returns 0 or -ENOMEM.
 */
int ts_aggregates_new(bool durations, struct ts_aggregates **ret_aggregates);
void ts_aggregates_free(struct ts_aggregates *aggregates);
void ts_aggregates_freep(struct ts_aggregates **aggregates);

/* Copies `name`. Returns 0 or -ENOMEM. */
int ts_aggregates_add(struct ts_aggregates *aggregates, const char *name, uint64_t duration_ns,
		      uint64_t bytes);
/* Adds the sum of rows of one name. Returns 0 or -ENOMEM. */
int ts_aggregates_add_sum(struct ts_aggregates *aggregates, const char *name,
			  const struct ts_row_sum *sum);
/* Counts `n` launches of a kernel, without their times. `site` as above. Returns 0 or -ENOMEM. */
int ts_aggregates_add_launches(struct ts_aggregates *aggregates, const char *name,
			       const struct ts_launch_site *site, uint64_t n);
/* Like ts_aggregates_add_launches(), for launches that have been summed already. */
int ts_aggregates_add_site(struct ts_aggregates *aggregates, const char *name,
			   const struct ts_launch_site *site, uint64_t n);
/*
 * Like ts_aggregates_add_sum(), for a range: names that differ only in numbers become one name,
 * "step N". A caller uses this function for all rows of a `struct ts_aggregates`, or for none.
 */
int ts_aggregates_add_numbered(struct ts_aggregates *aggregates, const char *name,
			       const struct ts_row_sum *sum);
/* Adds the rows of a total. If `name` is NULL, the resolver gives the name. */
int ts_aggregates_add_total(struct ts_aggregates *aggregates, struct ts_resolver *resolver,
			    const struct ts_sbt_total *total, const char *name);
/* Returns the sum of the times of all names, in nanoseconds. */
uint64_t ts_aggregates_total_ns(const struct ts_aggregates *aggregates);
/*
 * Makes messages from the pool, in descending order of total time; at most `max`, 0: all. Zero
 * `bytes` are omitted.
 */
void ts_aggregates_messages(const struct ts_aggregates *aggregates, struct ts_pool *pool,
			    size_t max, size_t *ret_n, Ts__Rpc__Aggregate ***ret_messages);
