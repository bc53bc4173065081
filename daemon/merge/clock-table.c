/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts ticks of a clock to nanoseconds of CLOCK_MONOTONIC. serve/session (session-main.c,
 * session-round.c, session-definitions.c) and convert-rows.c call this module.
 *
 * The rate of a segment is a fixed-point number with 48 fractional bits. Over the 100 ms between
 * two snapshots, its rounding error is below a thousandth of a nanosecond. The product of 64-bit
 * ticks and a rate fits 128 bits.
 */
#include "daemon/merge/clock-table.h"

#define CLOCK_RATE_ONE (UINT64_C(1) << 48)

int ts_clock_table_init(struct ts_clock_table *table)
{
	*table = (struct ts_clock_table){.rate = CLOCK_RATE_ONE};
	table->pairs = calloc(TS_CLOCK_TABLE_PAIRS, sizeof(*table->pairs));
	return table->pairs ? 0 : -ENOMEM;
}

void ts_clock_table_deinit(struct ts_clock_table *table)
{
	free(ts_take_ptr(table->pairs));
	table->n = 0;
}

static const struct ts_clock_pair *pair_at(const struct ts_clock_table *table, uint32_t i)
{
	return &table->pairs[i];
}

bool ts_clock_table_last(const struct ts_clock_table *table, struct ts_clock_pair *ret_pair)
{
	if (!table->n)
		return false;
	*ret_pair = *pair_at(table, table->n - 1);
	return true;
}

/*
 * Returns the rate between two pairs. It saturates at 65,536 ns per tick, which no real clock
 * reaches.
 */
static uint64_t rate_between(const struct ts_clock_pair *a, const struct ts_clock_pair *b)
{
	unsigned __int128 rate = ((unsigned __int128)(b->monotonic_ns - a->monotonic_ns) << 48) /
				 (b->ticks - a->ticks);

	return rate > UINT64_MAX ? UINT64_MAX : (uint64_t)rate;
}

/*
 * Makes room: removes every second pair of the older three quarters, and keeps the first pair. Old
 * pairs become wider apart, which is accurate enough: the rate of an oscillator hardly changes
 * between them.
 */
static void thin(struct ts_clock_table *table)
{
	uint32_t n_old = table->n / 4 * 3, n = 0;

	for (uint32_t i = 0; i < table->n; i++)
		if (i >= n_old || i % 2 == 0)
			table->pairs[n++] = table->pairs[i];
	table->n = n;
}

void ts_clock_table_add(struct ts_clock_table *table, const struct ts_clock_pair *pair)
{
	struct ts_clock_pair last;

	if (ts_clock_table_last(table, &last)) {
		if (pair->ticks < last.ticks) {
			/*
			 * The machine was suspended, the clock was reset, or the pair is invalid.
			 * Later conversions use the new epoch.
			 */
			table->n = 0;
			table->n_backward++;
		} else if (pair->ticks == last.ticks || pair->monotonic_ns <= last.monotonic_ns) {
			return;
		}
	}
	if (table->n == TS_CLOCK_TABLE_PAIRS)
		thin(table);
	table->pairs[table->n++] = *pair;
	if (pair->error_ns > table->max_error_ns)
		table->max_error_ns = pair->error_ns;
	/* Drop the cached segment: if it was open-ended, the new pair ends it. */
	table->segment_from = table->segment_to = 0;
}

void ts_clock_table_extend(struct ts_clock_table *table, const struct ts_clock_pair *pair,
			   uint64_t spacing_ns)
{
	const struct ts_clock_pair *last, *before;

	if (table->n >= 2) {
		last = pair_at(table, table->n - 1);
		before = pair_at(table, table->n - 2);
		if (last->monotonic_ns - before->monotonic_ns < spacing_ns &&
		    pair->ticks > last->ticks && pair->monotonic_ns > last->monotonic_ns)
			table->n--;
	}
	ts_clock_table_add(table, pair);
}

/* Returns the last pair at or before ticks. The first pair must be at or before ticks. */
static uint32_t find(const struct ts_clock_table *table, uint64_t ticks)
{
	uint32_t low = 0, high = table->n;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (pair_at(table, middle)->ticks <= ticks)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/*
 * Span of the pairs that give the rate after the last pair. Two pairs around a flush lie
 * microseconds apart. The errors of their readings would change the rate, and would change times
 * long after them by microseconds.
 */
#define OPEN_SPAN_NS UINT64_C(10000000)

/* Returns the last pair that lies a span before the i-th pair, else the first one. */
static const struct ts_clock_pair *span_before(const struct ts_clock_table *table, uint32_t i)
{
	const uint64_t until = pair_at(table, i)->monotonic_ns;
	uint32_t k = i - 1;

	while (k && until - pair_at(table, k)->monotonic_ns < OPEN_SPAN_NS)
		k--;
	return pair_at(table, k);
}

uint64_t ts_clock_table_search(struct ts_clock_table *table, uint64_t ticks)
{
	const struct ts_clock_pair *from, *to;
	unsigned __int128 back;
	uint32_t i;

	if (!table->n)
		return ticks;
	from = pair_at(table, 0);
	if (ticks < from->ticks) {
		/*
		 * Use the rate over all pairs: the rate of a single segment has the errors of its
		 * two pairs.
		 */
		uint64_t rate = table->n > 1 ? rate_between(from, pair_at(table, table->n - 1))
					     : table->rate;

		back = ((unsigned __int128)(from->ticks - ticks) * rate) >> 48;
		return back < from->monotonic_ns ? from->monotonic_ns - (uint64_t)back : 0;
	}
	i = find(table, ticks);
	from = pair_at(table, i);
	if (i + 1 < table->n) {
		to = pair_at(table, i + 1);
		table->rate = rate_between(from, to);
		table->segment_to = to->ticks;
	} else {
		/*
		 * The segment is open-ended. If the epoch has only one pair, the previous rate
		 * stays.
		 */
		if (i)
			table->rate = rate_between(span_before(table, i), from);
		table->segment_to = UINT64_MAX;
	}
	table->segment_from = from->ticks;
	table->segment_ns = from->monotonic_ns;
	return ts_clock_table_segment(table, ticks);
}
