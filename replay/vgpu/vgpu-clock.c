/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's monotonic clock, and condition variables that use it. All files of the device and the
 * facades call this file.
 */
#include <pthread.h>
#include <time.h>

#include "replay/vgpu/vgpu-internal.h"

uint64_t ts_vgpu_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int ts_vgpu_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;
	int r = pthread_condattr_init(&attr);

	if (r)
		return -r;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	r = pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
	return -r;
}
