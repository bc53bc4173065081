/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts ticks of any clock to nanoseconds of CLOCK_MONOTONIC. A table holds pairs of one clock:
 * an instant in ticks and in ns. Between two pairs the time is interpolated; after the last pair
 * the last rate continues. All arithmetic is on integers, so rounding errors do not grow with
 * uptime.
 *
 * Pairs may come from a peer (CLOCK records): any values are safe. If a clock goes backward, a new
 * epoch begins: the table is emptied and the rate kept. A table is not thread-safe.
 */
#pragma once

#include "proto/abi/base.h"
#include "proto/abi/clock.h"

/* limit of pairs in a table; if it is full, some of the older pairs are dropped */
#define TS_CLOCK_TABLE_PAIRS 1024u

struct ts_clock_table {
	struct ts_clock_pair *pairs; /* room for TS_CLOCK_TABLE_PAIRS; ascending in ticks and ns */
	uint32_t n;
	/* epochs that began because a new pair had lower ticks than the last pair */
	uint64_t n_backward;
	uint64_t max_error_ns;
	/*
	 * Cache of the segment that the last conversion used. Most conversions use the same segment
	 * and need no search. While the table has no pair, it converts ticks to the same number of
	 * ns.
	 */
	uint64_t segment_from;
	uint64_t segment_to;
	uint64_t segment_ns;
	uint64_t rate; /* ns per tick, 16.48 fixed point */
};

int ts_clock_table_init(struct ts_clock_table *table); /* 0 or -ENOMEM */
void ts_clock_table_deinit(struct ts_clock_table *table);

/*
 * Adds a pair. If its ticks went back, a new epoch begins. If its ticks are equal to those of the
 * last pair, or its time is not later, the pair is ignored.
 */
void ts_clock_table_add(struct ts_clock_table *table, const struct ts_clock_pair *pair);

/*
 * Adds a pair, and first removes the last pair if that is less than `spacing_ns` after the pair
 * before it.
 */
void ts_clock_table_extend(struct ts_clock_table *table, const struct ts_clock_pair *pair,
			   uint64_t spacing_ns);

/* Slow part of ts_clock_table_convert(): finds the segment of the ticks and caches it. */
uint64_t ts_clock_table_search(struct ts_clock_table *table, uint64_t ticks);

/* Converts ticks that lie in the cached segment. */
static inline uint64_t ts_clock_table_segment(const struct ts_clock_table *table, uint64_t ticks)
{
	unsigned __int128 ns = (unsigned __int128)(ticks - table->segment_from) * table->rate;

	/* Rounds to the nearest ns, because the rate was rounded down. */
	return table->segment_ns + (uint64_t)((ns + (UINT64_C(1) << 47)) >> 48);
}

/* Returns nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t ts_clock_table_convert(struct ts_clock_table *table, uint64_t ticks)
{
	if (ts_likely(ticks >= table->segment_from && ticks < table->segment_to))
		return ts_clock_table_segment(table, ticks);
	return ts_clock_table_search(table, ticks);
}

/* Returns the latest pair. False: the table is empty. */
bool ts_clock_table_last(const struct ts_clock_table *table, struct ts_clock_pair *ret_pair);
