/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks rows for text and JSON output, in order of time or by duration. query.c and tsctl call this
 * file; this file calls openranges.c and rowfilter.c.
 */
#include "replay/report/rows/rowwalk.h"

#include "proto/abi/heap.h"
#include "replay/report/rows/openranges.h"

#define STEP_ROWS 4096u

/*
 * A kept row. `longest` is a heap with the shortest row on top until all rows are read, then a
 * sorted array.
 */
struct ts_row_longest {
	uint64_t duration_ns;
	struct ts_sbt_row row;
	struct ts_launcher launcher; /* op_id 0: none */
	_Alignas(uint64_t) uint8_t bytes[TS_ROW_MAX_BYTES];
};

int ts_row_walk_init(struct ts_row_walk *walk, struct ts_resolver *resolver,
		     const struct ts_sbt_cursor_options *options, const Ts__Rpc__RowFilter *filter,
		     bool all_begins)
{
	struct ts_sbt_cursor_options rows = *options;
	int r;

	walk->resolver = resolver;
	walk->reader = ts_resolver_reader(resolver);
	walk->filter = filter;
	if (rows.types & TS_ROW_BIT(TS_ROW_RANGE))
		rows.types |= TS_ROW_BIT(TS_ROW_RANGE_BEGIN);
	r = ts_sbt_cursor_new(walk->reader, &rows, &walk->cursor);
	if (!r && !all_begins)
		r = ts_open_ranges_new(walk->reader, rows.session, rows.from_ns,
				       &walk->open_ranges);
	return r;
}

void ts_row_walk_deinit(struct ts_row_walk *walk)
{
	ts_open_ranges_free(walk->open_ranges);
	ts_sbt_cursor_free(walk->cursor);
	free(walk->longest);
}

static int read_next(struct ts_row_walk *walk, struct ts_sbt_row *ret_row)
{
	int r;

	for (;;) {
		r = ts_sbt_cursor_next(walk->cursor, ret_row);
		if (!r && ret_row->type == TS_ROW_RANGE_BEGIN &&
		    !ts_open_ranges_is_open(walk->open_ranges, ret_row))
			continue;
		if (!r && !ts_row_filter_takes(walk->filter, walk->resolver, ret_row))
			continue;
		if (r != TS_SBT_E_CORRUPT)
			return r;
		if (!walk->is_damaged)
			walk->damage = *ts_sbt_reader_error(walk->reader);
		walk->is_damaged = true;
	}
}

/* Orders by descending duration; ties by start time. */
static int compare(const void *a, const void *b)
{
	const struct ts_row_longest *x = a, *y = b;
	uint64_t x_ns = ts_row_start_ns(x->bytes), y_ns = ts_row_start_ns(y->bytes);

	if (x->duration_ns != y->duration_ns)
		return x->duration_ns < y->duration_ns ? 1 : -1;
	return x_ns < y_ns ? -1 : x_ns > y_ns;
}

static inline bool is_shorter(const struct ts_row_longest *a, const struct ts_row_longest *b)
{
	return compare(a, b) > 0;
}

TS_HEAP_DEFINE(longest, struct ts_row_longest, is_shorter)

static void keep(struct ts_row_walk *walk, const struct ts_sbt_row *row, size_t max)
{
	struct ts_row_longest kept = {
		.duration_ns = ts_row_end_ns(row->schema, row->any) - ts_row_start_ns(row->any),
		.row = *row,
	};

	memcpy(kept.bytes, row->any, row->schema->row_bytes);
	ts_resolver_launcher(walk->resolver, row, &kept.launcher);
	if (walk->n_longest < max) {
		walk->longest[walk->n_longest++] = kept;
		for (size_t at = walk->n_longest == max ? max / 2 : 0; at--;)
			longest_sink(walk->longest, max, at);
	} else if (compare(&kept, &walk->longest[0]) < 0) {
		walk->longest[0] = kept;
		longest_sink(walk->longest, max, 0);
	}
}

int ts_row_walk_longest(struct ts_row_walk *walk, size_t max,
			void (*step)(void *data, uint64_t n_rows), void *data)
{
	struct ts_sbt_row row;
	uint64_t n = 0;
	int r = 0;

	walk->longest = calloc(max, sizeof(*walk->longest));
	if (!walk->longest)
		return -ENOMEM;
	while (!r) {
		r = read_next(walk, &row);
		if (!r && row.schema->has_end)
			keep(walk, &row, max);
		if (!r && ++n % STEP_ROWS == 0 && step)
			step(data, n);
	}
	qsort(walk->longest, walk->n_longest, sizeof(*walk->longest), compare);
	return r == TS_SBT_E_END ? 0 : r;
}

int ts_row_walk_next(struct ts_row_walk *walk, struct ts_sbt_row *ret_row)
{
	struct ts_row_longest *kept;

	if (!walk->longest)
		return read_next(walk, ret_row);
	if (walk->n_reported == walk->n_longest)
		return TS_SBT_E_END;
	kept = &walk->longest[walk->n_reported++];
	if (kept->launcher.op_id)
		ts_resolver_recall(walk->resolver, &kept->launcher);
	*ret_row = kept->row;
	ret_row->any = kept->bytes;
	return 0;
}
