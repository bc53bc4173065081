/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the lock of hot paths: one holder at a time, bounded waits, no lost wake-up. */
#include "test/unit/harness.h"

#include <pthread.h>

#include "inject/ring/lock.h"

#define N_THREADS 4u
#define N_TIMES	  20000u

struct counted {
	struct ts_lock lock;
	uint64_t n;
};

TS_TEST(one_holder)
{
	struct ts_lock lock = {0};
	uint64_t begin_ns;

	ts_check(ts_lock_try(&lock));
	ts_check(!ts_lock_try(&lock));
	begin_ns = ts_clock_monotonic_ns();
	ts_check(!ts_lock_take_within(&lock, 3000000));
	ts_check(ts_clock_monotonic_ns() - begin_ns >= 3000000);
	ts_lock_release(&lock);
	ts_check(ts_lock_take_within(&lock, 0));
	ts_lock_release(&lock);
	ts_check_int(lock.state, TS_LOCK_FREE);
}

static void *count(void *data)
{
	struct counted *counted = data;

	for (uint32_t i = 0; i < N_TIMES; i++) {
		if (i % 3 || !ts_lock_try(&counted->lock))
			ts_lock_take(&counted->lock);
		/* Not atomic: another holder would lose a count. */
		counted->n++;
		ts_lock_release(&counted->lock);
	}
	return NULL;
}

TS_TEST(threads_count_without_loss)
{
	struct counted counted = {0};
	pthread_t threads[N_THREADS];

	for (uint32_t i = 0; i < N_THREADS; i++)
		ts_check_int(pthread_create(&threads[i], NULL, count, &counted), 0);
	for (uint32_t i = 0; i < N_THREADS; i++)
		ts_check_int(pthread_join(threads[i], NULL), 0);
	ts_check_int(counted.n, N_THREADS * N_TIMES);
	ts_check_int(counted.lock.state, TS_LOCK_FREE);
}

static void *wait_and_release(void *data)
{
	struct ts_lock *lock = data;

	ts_lock_take(lock);
	ts_lock_release(lock);
	return NULL;
}

/* A thread that sleeps gets the lock at its release, long before its limit. */
TS_TEST(a_release_wakes_sleepers)
{
	struct ts_lock lock = {0};
	pthread_t threads[N_THREADS];

	for (uint32_t round = 0; round < 20; round++) {
		ts_check(ts_lock_try(&lock));
		for (uint32_t i = 0; i < N_THREADS; i++)
			ts_check_int(pthread_create(&threads[i], NULL, wait_and_release, &lock), 0);
		while (__atomic_load_n(&lock.state, __ATOMIC_RELAXED) != TS_LOCK_AWAITED)
			nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
		ts_lock_release(&lock);
		for (uint32_t i = 0; i < N_THREADS; i++)
			ts_check_int(pthread_join(threads[i], NULL), 0);
	}
}
