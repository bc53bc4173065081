/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a trace as they are told: in the order of time, without the beginnings of ranges that have a row of their own,
 * and without what lies in a damaged block, which is remembered. Or the longest first.
 */
#pragma once

#include "replay/report/rows/rowfilter.h"
#include "sbt/reader.h"

#include <stdbool.h>

/* How many rows are told the longest first, where nothing else is said, and at most. */
#define TS_ROW_LONGEST_DEFAULT 100u
#define TS_ROW_LONGEST_MAX     100000u

struct ts_row_walk {
	struct ts_sbt_reader *reader;
	struct ts_resolver *resolver;
	const Ts__Rpc__RowFilter *filter;
	struct ts_sbt_cursor *cursor;
	struct ts_open_ranges *open_ranges; /* NULL: every row of a range that began is asked for */
	bool is_damaged;
	struct ts_sbt_error damage;	/* the first */
	struct ts_row_longest *longest; /* NULL: in the order of time */
	size_t n_longest, n_reported;
};

/*
 * Embed it, zeroed. The filter (NULL: every row) and the resolver stay the caller's and outlive it. `all_begins`: who asks for them
 * by name wants them all. Errors of sbt/reader.h.
 */
int ts_row_walk_init(struct ts_row_walk *walk, struct ts_resolver *resolver,
		     const struct ts_sbt_cursor_options *options, const Ts__Rpc__RowFilter *filter,
		     bool all_begins);
/* Before the first row: reads them all, and keeps the `max` longest, to be told from the longest on. -ENOMEM too. */
int ts_row_walk_longest(struct ts_row_walk *walk, size_t max,
			void (*step)(void *data, uint64_t n_rows), void *data);
void ts_row_walk_deinit(struct ts_row_walk *walk);

/* 0, TS_SBT_E_END, or what cannot be gone on from. The row is valid until the next call. */
int ts_row_walk_next(struct ts_row_walk *walk, struct ts_sbt_row *ret_row);
