/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the switches of recording (stop, start) and decides for an op_id whether its call is left
 * out. switch.c and recorder.c publish switches; callbacks.c and activity.c read them. It calls
 * only the clock.
 *
 * The ring of switches has one word for each entry, so a reader sees each entry whole while the
 * ring is written. Ids only grow, so the search is binary.
 */
#include "inject/cuda/pause.h"

#include "proto/abi/clock.h"

/*
 * The oldest MARGIN entries are not read, because the writer may overwrite them during the search.
 */
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
	/* Finds the first entry above op_id; the entry before it applies to op_id. */
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
	/* Before the first known entry, the state was the opposite. */
	return !(__atomic_load_n(&pause->switches[first % TS_PAUSE_SWITCHES], __ATOMIC_RELAXED) &
		 1);
}

void ts_pause_stray(struct ts_pause *pause, uint64_t op_id)
{
	uint32_t i = __atomic_fetch_add(&pause->n_strays, 1, __ATOMIC_RELAXED);

	/*
	 * The call has not begun its work yet. So the store precedes the delivery of its device
	 * rows.
	 */
	__atomic_store_n(&pause->strays[i % TS_PAUSE_STRAYS], op_id, __ATOMIC_RELEASE);
}

bool ts_pause_drops_stray(const struct ts_pause *pause, uint64_t op_id)
{
	const bool left_out = ts_pause_leaves_out(pause, op_id);
	uint64_t last = __atomic_load_n(&pause->last, __ATOMIC_RELAXED) >> 1;

	if (op_id >= last && op_id - last > TS_PAUSE_NEAR)
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
	/*
	 * `last` is stored after the entry: a reader with an id before `last` then finds the entry.
	 * The sequentially consistent store precedes the probes that read the next ids (switch.c).
	 */
	__atomic_store_n(&pause->last, one, __ATOMIC_SEQ_CST);
	pause->paused = paused;
	pause->since_ns = ts_clock_monotonic_ns();
}

void ts_pause_begin(struct ts_pause *pause)
{
	ts_pause_publish(pause, 0, true);
}
