/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of a trace's rows by kernel, call, copy and so on: the message of `tsctl view --stats`.
 */
#pragma once

#include "replay/report/rows/aggregate.h"
#include "replay/report/rows/rowfilter.h"
#include "sbt/reader.h"

#include <stdbool.h>

enum ts_sum {
	TS_SUM_KERNELS,
	TS_SUM_API,
	TS_SUM_COPIES,
	TS_SUM_MEMSETS,
	TS_SUM_SYNCS,
	TS_SUM_ON_CPU,
	TS_SUM_OFF_CPU,
	TS_SUM_FAULTS,
	TS_SUM_SYSCALLS,
	TS_SUM_BLOCK_IO,
	TS_SUM_PRESSURE,
	TS_SUM_DRIVERS,
	TS_SUM_RANGES,
	TS_SUM_COUNT
};

struct ts_row_sums {
	struct ts_aggregates *of[TS_SUM_COUNT];
	bool is_damaged; /* unreadable rows are not in the sums */
	struct ts_sbt_error damage;
};

/*
 * Sums the rows. The caller embeds `sums`, zeroed. `options` are cursor options; types 0 means all
 * types. The filter may be NULL. Sums have launch sites only if the resolver has `launchers`.
 * `step` receives the number of rows every few thousand rows, or is NULL. `no_memory` as in
 * report-pool.h. Errors are those of sbt/reader.h.
 */
int ts_row_sums_read(struct ts_row_sums *sums, struct ts_resolver *resolver,
		     const struct ts_sbt_cursor_options *options, const Ts__Rpc__RowFilter *filter,
		     void (*no_memory)(void), void (*step)(void *data, uint64_t n_rows),
		     void *data);
void ts_row_sums_deinit(struct ts_row_sums *sums);

/* Makes the message from the pool, with at most `limit` names in each list; 0: all. */
void ts_row_sums_message(const struct ts_row_sums *sums, struct ts_pool *pool, size_t limit,
			 Ts__Rpc__TraceStats *ret_stats);
