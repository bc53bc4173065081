/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Widens CUPTI's 32-bit correlation ids to 64-bit operation ids.
 *
 * CUPTI counts API calls in 32 bits, and the count wraps; at a million launches per second it wraps
 * every 72 minutes. All threads share one reference: a recent 64-bit id. Widening chooses the
 * 64-bit value that has the same low 32 bits and is nearest to the reference. The reference moves
 * only if an id is more than TS_WIDEN_STEP ahead, so that it is read often and written rarely. The
 * result is right if an id lies within 2^31 calls of the newest one; device rows are late by far
 * less. Thread- and signal-safe, no locks.
 */
#pragma once

#include "proto/abi/base.h"

#define TS_WIDEN_STEP (1 << 24)

struct ts_widen {
	uint64_t reference; /* 0: no id yet */
};

/* Returns the 64-bit id. CUPTI's id 0 means unknown and stays 0. */
static inline uint64_t ts_widen(struct ts_widen *widen, uint32_t id)
{
	uint64_t reference = __atomic_load_n(&widen->reference, __ATOMIC_RELAXED);
	int32_t distance;
	uint64_t wide;

	if (ts_unlikely(!id))
		return 0;
	if (ts_unlikely(!reference)) {
		__atomic_compare_exchange_n(&widen->reference, &reference, id, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
		if (!reference)
			return id;
	}
	distance = (int32_t)(id - (uint32_t)reference);
	wide = reference + (uint64_t)(int64_t)distance;
	/*
	 * If another thread wins the race, its reference is as good. Relaxed: no other data is
	 * published by it.
	 */
	if (ts_unlikely(distance > TS_WIDEN_STEP))
		__atomic_compare_exchange_n(&widen->reference, &reference, wide, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return wide;
}

/* Like ts_widen(), for an id that needs no change of the reference. False: use ts_widen(). */
static inline bool ts_widen_near(const struct ts_widen *widen, uint32_t id, uint64_t *ret_id)
{
	const uint64_t reference = __atomic_load_n(&widen->reference, __ATOMIC_RELAXED);
	const int32_t distance = (int32_t)(id - (uint32_t)reference);

	*ret_id = reference + (uint64_t)(int64_t)distance;
	if (ts_unlikely(!id))
		return false;
	if (ts_unlikely(!reference))
		return false;
	return distance <= TS_WIDEN_STEP;
}
