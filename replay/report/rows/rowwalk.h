/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the rows of a trace in order of time, or the longest first. Omits `range_begin` rows of
 * ranges that ended, since these have a row of their own. Skips damaged blocks and records the
 * damage. Not thread-safe.
 */
#pragma once

#include "replay/report/rows/rowfilter.h"
#include "sbt/reader.h"

#include <stdbool.h>

/* Number of rows in a longest-first list: the default and the maximum. */
#define TS_ROW_LONGEST_DEFAULT 100u
#define TS_ROW_LONGEST_MAX     100000u

struct ts_row_walk {
	struct ts_sbt_reader *reader;
	struct ts_resolver *resolver;
	const Ts__Rpc__RowFilter *filter;
	struct ts_sbt_cursor *cursor;
	struct ts_open_ranges *open_ranges; /* NULL: all `range_begin` rows are shown */
	bool is_damaged;
	struct ts_sbt_error damage;	/* the first damage */
	struct ts_row_longest *longest; /* NULL: in order of time */
	size_t n_longest, n_reported;
};

/*
 * Starts a walk. The caller embeds `walk`, zeroed, and keeps `filter` (NULL: every row) and
 * `resolver`, which must outlive the walk. `all_begins`: show all `range_begin` rows, because the
 * request names that type. Errors are those of sbt/reader.h.
 */
int ts_row_walk_init(struct ts_row_walk *walk, struct ts_resolver *resolver,
		     const struct ts_sbt_cursor_options *options, const Ts__Rpc__RowFilter *filter,
		     bool all_begins);
/*
 * Makes the walk return the `max` longest rows, longest first. Reads all rows to find them. Call it
 * before the first ts_row_walk_next(). Errors as ts_row_walk_init(), and -ENOMEM.
 */
int ts_row_walk_longest(struct ts_row_walk *walk, size_t max,
			void (*step)(void *data, uint64_t n_rows), void *data);
void ts_row_walk_deinit(struct ts_row_walk *walk);

/* Returns 0, TS_SBT_E_END, or a fatal error. The row is valid until the next call. */
int ts_row_walk_next(struct ts_row_walk *walk, struct ts_sbt_row *ret_row);
