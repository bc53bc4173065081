/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions that wait for a time. They use CLOCK_MONOTONIC, so a new date does not delay them. */
#pragma once

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* As pthread_cond_init(). */
static inline int ts_studio_wait_init(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;
	int r = pthread_condattr_init(&attributes);

	if (r)
		return r;
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	r = pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
	return r;
}

/* Waits for the condition, at most for `ns`, which is less than a second. */
static inline void ts_studio_wait(pthread_cond_t *condition, pthread_mutex_t *lock, long ns)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += ns;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_cond_timedwait(condition, lock, &until);
}
