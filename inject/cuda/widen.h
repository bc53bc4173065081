/* SPDX-License-Identifier: Apache-2.0 */
/*
 * 64-bit operation ids out of CUPTI's 32-bit correlation ids.
 *
 * CUPTI counts its API calls in 32 bits and wraps; at a million launches a second that is every 72
 * minutes. All threads share one reference, a 64-bit id seen lately; an id stands for the value nearest
 * to it. The reference moves on only when an id is TS_WIDEN_STEP ahead, so that it is read often and written
 * seldom. Right as long as what is seen lies within 2^31 calls of the newest: device rows come late by
 * far less. Thread- and signal-safe, no locks.
 */
#pragma once

#include "proto/abi/base.h"

#define TS_WIDEN_STEP (1 << 24)

struct ts_widen {
	uint64_t reference; /* 0: nothing seen yet */
};

/* The id 0 is CUPTI's "unknown" and stays that. */
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
	 * A lost race leaves the reference where another thread put it, which is as good: relaxed, for
	 * nothing else is published by it.
	 */
	if (ts_unlikely(distance > TS_WIDEN_STEP))
		__atomic_compare_exchange_n(&widen->reference, &reference, wide, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
	return wide;
}
