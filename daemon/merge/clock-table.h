/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From ticks of any clock to nanoseconds of CLOCK_MONOTONIC. A table holds pairs of one clock (an
 * instant in ticks and in ns); between two pairs time is interpolated, beyond the last it goes on
 * at the last rate. Integer arithmetic throughout: no rounding that grows with uptime.
 *
 * Pairs may be a stranger's (CLOCK records): any values are safe. A clock that goes backward starts
 * a new epoch: its table is emptied and the rate kept. A table belongs to one thread.
 */
#pragma once

#include "proto/abi/base.h"
#include "proto/abi/clock.h"

#define TS_CLOCK_TABLE_PAIRS 1024u /* from the first on, older ones thinned out */

struct ts_clock_table {
	struct ts_clock_pair *pairs; /* in order of both; room for TS_CLOCK_TABLE_PAIRS */
	uint32_t n;
	uint64_t n_backward; /* epochs begun because the clock went back */
	uint64_t max_error_ns;
	/*
	 * The segment that was used last: most conversions need no search. Without a pair:
	 * identity.
	 */
	uint64_t segment_from;
	uint64_t segment_to;
	uint64_t segment_ns;
	uint64_t rate; /* ns per tick, 16.48 fixed point */
};

int ts_clock_table_init(struct ts_clock_table *table); /* 0 or -ENOMEM */
void ts_clock_table_deinit(struct ts_clock_table *table);

/*
 * Adds a pair. One that is not after the last is either a new epoch (ticks went back) or ignored.
 */
void ts_clock_table_add(struct ts_clock_table *table, const struct ts_clock_pair *pair);

/*
 * The same, but takes the place of the last pair where that is less than `spacing_ns` after the one
 * before.
 */
void ts_clock_table_extend(struct ts_clock_table *table, const struct ts_clock_pair *pair,
			   uint64_t spacing_ns);

uint64_t ts_clock_table_search(struct ts_clock_table *table, uint64_t ticks);

static inline uint64_t ts_clock_table_segment(const struct ts_clock_table *table, uint64_t ticks)
{
	unsigned __int128 ns = (unsigned __int128)(ticks - table->segment_from) * table->rate;

	/* To the nearest: the rate itself was rounded down. */
	return table->segment_ns + (uint64_t)((ns + (UINT64_C(1) << 47)) >> 48);
}

/* Nanoseconds of CLOCK_MONOTONIC. */
static inline uint64_t ts_clock_table_convert(struct ts_clock_table *table, uint64_t ticks)
{
	if (ts_likely(ticks >= table->segment_from && ticks < table->segment_to))
		return ts_clock_table_segment(table, ticks);
	return ts_clock_table_search(table, ticks);
}

/* The latest pair; false where there is none. */
bool ts_clock_table_last(const struct ts_clock_table *table, struct ts_clock_pair *ret_pair);
