/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is remembered of switches. An entry is one word, so that a reader who meets the ring of them while it is written
 * finds each whole; ids only grow, so that it is searched by halves.
 */
#include "inject/cuda/pause.h"

#include "proto/abi/clock.h"

/* Entries that may be overwritten while somebody looks are not looked at. */
#define MARGIN 16u

bool ts_pause_looks_back(const struct ts_pause *pause, uint64_t op_id)
{
	/* Pairs with the release in ts_pause_publish(). */
	const uint32_t n = __atomic_load_n(&pause->n_switches, __ATOMIC_ACQUIRE);
	uint32_t first = n > TS_PAUSE_SWITCHES - MARGIN ? n - (TS_PAUSE_SWITCHES - MARGIN) : 0;
	uint32_t low = first, high = n;
	uint64_t one;

	if (!n)
		return false;
	/* The first that is past the id: the one before it holds for it. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		one = __atomic_load_n(&pause->switches[middle % TS_PAUSE_SWITCHES],
				      __ATOMIC_RELAXED);
		if (one >> 1 <= op_id)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > first)
		return __atomic_load_n(&pause->switches[(low - 1) % TS_PAUSE_SWITCHES],
				       __ATOMIC_RELAXED) &
		       1;
	/* Before the first that is known it was the other way. */
	return !(__atomic_load_n(&pause->switches[first % TS_PAUSE_SWITCHES], __ATOMIC_RELAXED) &
		 1);
}

void ts_pause_stray(struct ts_pause *pause, uint64_t op_id)
{
	uint32_t i = __atomic_fetch_add(&pause->n_strays, 1, __ATOMIC_RELAXED);

	/* Before the call does anything, and so before what it makes the device do is told of. */
	__atomic_store_n(&pause->strays[i % TS_PAUSE_STRAYS], op_id, __ATOMIC_RELEASE);
}

bool ts_pause_drops(const struct ts_pause *pause, uint64_t op_id)
{
	const bool left_out = ts_pause_leaves_out(pause, op_id);
	uint64_t last = __atomic_load_n(&pause->last, __ATOMIC_RELAXED) >> 1;

	if (ts_likely(!__atomic_load_n(&pause->n_strays, __ATOMIC_RELAXED) ||
		      (op_id >= last && op_id - last > TS_PAUSE_NEAR)))
		return left_out;
	for (unsigned i = 0; i < TS_PAUSE_STRAYS; i++)
		if (__atomic_load_n(&pause->strays[i], __ATOMIC_ACQUIRE) == op_id)
			return !left_out;
	return left_out;
}

void ts_pause_publish(struct ts_pause *pause, uint64_t op_id, bool paused)
{
	const uint64_t one = op_id << 1 | paused;
	const uint32_t n = pause->n_switches;

	__atomic_store_n(&pause->switches[n % TS_PAUSE_SWITCHES], one, __ATOMIC_RELAXED);
	/* Pairs with the acquire in ts_pause_looks_back(). */
	__atomic_store_n(&pause->n_switches, n + 1, __ATOMIC_RELEASE);
	/* After it, for who finds his id before this one; and before the ids that are asked for next. */
	__atomic_store_n(&pause->last, one, __ATOMIC_SEQ_CST);
	pause->paused = paused;
	pause->since_ns = ts_clock_monotonic_ns();
}

void ts_pause_begin(struct ts_pause *pause)
{
	ts_pause_publish(pause, 0, true);
}
