/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds ranges that never ended. rowwalk.c and the exporters call this file.
 *
 * A second cursor reads the rows of ended ranges, slightly ahead of the caller's pass. A range that
 * ended has two rows with the same begin instant: its `range_begin` row, and the row of the ended
 * range. But the instant was converted from the host's clock once for each row, with more clock
 * snapshots for the second row. So the two start times may differ slightly.
 */
#include "replay/report/rows/openranges.h"

/*
 * Maximum difference of the two start times: far more than the error of any conversion, and short
 * enough that few ranges begin within it.
 */
#define APART_NS UINT64_C(200000)

struct over {
	uint64_t start_ns;
	uint64_t range_id;
	uint32_t session;
};

struct ts_open_ranges {
	struct ts_sbt_cursor *cursor; /* NULL: at the end */
	struct ts_sbt_row next;
	/* Ended ranges that began near the pass's time, in order: a ring buffer. */
	struct over *over;
	size_t first, n, n_allocated; /* n_allocated is a power of two */
};

static void step(struct ts_open_ranges *ranges)
{
	int r;

	/* The pass itself reports damage. */
	while ((r = ts_sbt_cursor_next(ranges->cursor, &ranges->next)) == TS_SBT_E_CORRUPT)
		;
	if (!r)
		return;
	ts_sbt_cursor_free(ranges->cursor);
	ranges->cursor = NULL;
}

int ts_open_ranges_new(struct ts_sbt_reader *reader, uint32_t session, uint64_t from_ns,
		       struct ts_open_ranges **ret_ranges)
{
	const struct ts_sbt_cursor_options options = {
		.types = TS_ROW_BIT(TS_ROW_RANGE),
		.session = session,
		.from_ns = from_ns > APART_NS ? from_ns - APART_NS : 0,
	};
	struct ts_open_ranges *ranges = calloc(1, sizeof(*ranges));
	int r = ranges ? ts_sbt_cursor_new(reader, &options, &ranges->cursor) : -ENOMEM;

	if (r) {
		free(ranges);
		return r;
	}
	step(ranges);
	*ret_ranges = ranges;
	return 0;
}

void ts_open_ranges_free(struct ts_open_ranges *ranges)
{
	if (!ranges)
		return;
	ts_sbt_cursor_free(ranges->cursor);
	free(ranges->over);
	free(ranges);
}

static struct over *over_at(struct ts_open_ranges *ranges, size_t i)
{
	return &ranges->over[(ranges->first + i) & (ranges->n_allocated - 1)];
}

/*
 * Adds an ended range. If memory is short, the range counts as one that never ended, because the
 * opposite error would hide a range.
 */
static void add(struct ts_open_ranges *ranges, const struct ts_sbt_row *row)
{
	if (ranges->n == ranges->n_allocated) {
		size_t n = ranges->n_allocated ? ranges->n_allocated * 2 : 64;
		struct over *grown = calloc(n, sizeof(*grown));

		if (!grown)
			return;
		for (size_t i = 0; i < ranges->n; i++)
			grown[i] = *over_at(ranges, i);
		free(ranges->over);
		ranges->over = grown;
		ranges->first = 0;
		ranges->n_allocated = n;
	}
	*over_at(ranges, ranges->n++) =
		(struct over){row->range->start_ns, row->range->range_id, row->session};
}

bool ts_open_ranges_is_open(struct ts_open_ranges *ranges, const struct ts_sbt_row *row)
{
	const struct ts_row_range_begin *begin = row->range_begin;

	if (!ranges)
		return true;
	while (ranges->cursor && (ranges->next.range->start_ns <= begin->start_ns ||
				  ranges->next.range->start_ns - begin->start_ns <= APART_NS)) {
		add(ranges, &ranges->next);
		step(ranges);
	}
	while (ranges->n && over_at(ranges, 0)->start_ns + APART_NS < begin->start_ns) {
		ranges->first++;
		ranges->n--;
	}
	for (size_t i = 0; i < ranges->n; i++) {
		const struct over *over = over_at(ranges, i);

		if (over->range_id == begin->range_id && over->session == row->session)
			return false;
	}
	return true;
}
