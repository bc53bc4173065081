/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A lock between threads of one process, for short sections on hot paths: one atomic instruction to
 * take it and one to release it, inline. pthread_mutex_t takes twice the time. A thread that must
 * wait sleeps in the kernel. Not recursive, not for signal handlers; errno is preserved.
 *
 * A lock that is all zero is free. Header-only.
 */
#pragma once

#include "inject/ring/futex.h"
#include "proto/abi/clock.h"

enum ts_lock_state {
	TS_LOCK_FREE = 0,
	TS_LOCK_HELD = 1,
	TS_LOCK_AWAITED = 2, /* held, and a thread may sleep */
};

struct ts_lock {
	uint32_t state; /* enum ts_lock_state */
};

/* Takes the lock if it is free. Returns whether the caller has it. */
static inline bool ts_lock_try(struct ts_lock *lock)
{
	uint32_t expected = TS_LOCK_FREE;

	/* Acquire pairs with ts_lock_release(). */
	return __atomic_compare_exchange_n(&lock->state, &expected, TS_LOCK_HELD, false,
					   __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* Takes the lock, and waits for it at most timeout_ns. Returns whether the caller has it. */
static inline bool ts_lock_take_within(struct ts_lock *lock, uint64_t timeout_ns)
{
	uint64_t end_ns, now_ns;

	if (ts_likely(ts_lock_try(lock)))
		return true;
	now_ns = ts_clock_monotonic_ns();
	end_ns = now_ns + timeout_ns;
	for (;; now_ns = ts_clock_monotonic_ns()) {
		/* The thread does not know whether others sleep, so its release wakes them. */
		if (__atomic_exchange_n(&lock->state, TS_LOCK_AWAITED, __ATOMIC_ACQUIRE) ==
		    TS_LOCK_FREE)
			return true;
		if (now_ns >= end_ns)
			return false;
		ts_futex_wait(&lock->state, TS_LOCK_AWAITED, end_ns - now_ns, false);
	}
}

static inline void ts_lock_take(struct ts_lock *lock)
{
	while (!ts_lock_take_within(lock, UINT64_C(3600000000000)))
		;
}

static inline void ts_lock_release(struct ts_lock *lock)
{
	/* Release pairs with ts_lock_try() and ts_lock_take_within(). */
	if (ts_unlikely(__atomic_exchange_n(&lock->state, TS_LOCK_FREE, __ATOMIC_RELEASE) ==
			TS_LOCK_AWAITED))
		ts_futex_wake(&lock->state, false);
}
