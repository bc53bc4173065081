/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits on a word and wakes its waiters. Condition variables cannot do this across processes that
 * do not trust each other, nor in a signal handler. Header-only. Signal-safe; errno is preserved.
 */
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "proto/abi/base.h"

/*
 * Waits while *word == value, at most timeout_ns. The wait may return early: the caller checks the
 * word again.
 */
static inline void ts_futex_wait(uint32_t *word, uint32_t value, uint64_t timeout_ns, bool shared)
{
	struct timespec timeout = {(time_t)(timeout_ns / 1000000000u),
				   (long)(timeout_ns % 1000000000u)};
	int saved_errno = errno;

	syscall(SYS_futex, word, shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, value, &timeout, NULL,
		0);
	errno = saved_errno;
}

/* Returns whether a thread was waiting. */
static inline bool ts_futex_wake(uint32_t *word, bool shared)
{
	int saved_errno = errno;
	long n = syscall(SYS_futex, word, shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, INT32_MAX, NULL,
			 NULL, 0);

	errno = saved_errno;
	return n > 0;
}

/* Sets the word (release) and wakes its waiters within this process. */
static inline void ts_futex_set(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	ts_futex_wake(word, false);
}

/*
 * Waits at most timeout_ns until the word (acquire) is at least `value`. Returns whether the word
 * reached `value`.
 */
static inline bool ts_futex_wait_for(uint32_t *word, uint32_t value, uint64_t timeout_ns)
{
	struct timespec t;
	uint64_t deadline, now;

	clock_gettime(CLOCK_MONOTONIC, &t);
	deadline = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec + timeout_ns;
	for (;;) {
		uint32_t seen = __atomic_load_n(word, __ATOMIC_ACQUIRE);

		if (seen >= value)
			return true;
		clock_gettime(CLOCK_MONOTONIC, &t);
		now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
		if (now >= deadline)
			return false;
		ts_futex_wait(word, seen, deadline - now, false);
	}
}
