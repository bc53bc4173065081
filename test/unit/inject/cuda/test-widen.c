/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests operation ids: 32-bit ids that wrap become 64-bit ids that do not. The result does not
 * depend on the thread that sees an id first, and late ids become the right 64-bit ids.
 */
#include <pthread.h>

#include "inject/cuda/widen.h"
#include "test/unit/harness.h"

TS_TEST(first_ids_are_themselves)
{
	struct ts_widen widen = {0};

	ts_check_int(ts_widen(&widen, 0), 0);
	ts_check_int(ts_widen(&widen, 10), 10);
	ts_check_int(ts_widen(&widen, 11), 11);
	ts_check_int(ts_widen(&widen, 3), 3);
}

TS_TEST(follows_wraps)
{
	struct ts_widen widen = {0};
	uint64_t id;

	/* Steps as large as a pause can cause, through three wraps. */
	for (id = 1; id < (UINT64_C(3) << 32) + 1000; id += 123456789) {
		if (!(uint32_t)id)
			continue;
		ts_check(ts_widen(&widen, (uint32_t)id) == id);
		/* A late id becomes the right 64-bit id, on both sides of a wrap. */
		if (id > 2000000 && (uint32_t)(id - 1000000))
			ts_check(ts_widen(&widen, (uint32_t)(id - 1000000)) == id - 1000000);
	}
}

TS_TEST(small_steps_across_a_wrap)
{
	struct ts_widen widen = {.reference = UINT32_MAX - 1000};
	uint64_t id;

	for (id = UINT32_MAX - 1000; id < UINT64_C(0x100000000) + 50000000; id += 7)
		if ((uint32_t)id)
			ts_check(ts_widen(&widen, (uint32_t)id) == id);
	ts_check(widen.reference > UINT32_MAX);
}

/* All ids lie within the distance that ids may have, however long a thread is preempted. */
static struct ts_widen shared = {.reference = UINT32_MAX - 50000000};
static uint64_t next_id = UINT32_MAX - 50000000;

static void *count(void *failed)
{
	uint64_t i, id;

	for (i = 0; i < 300000; i++) {
		id = __atomic_fetch_add(&next_id, 97, __ATOMIC_RELAXED);
		if ((uint32_t)id && ts_widen(&shared, (uint32_t)id) != id)
			__atomic_store_n((int *)failed, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

TS_TEST(threads_agree_across_wraps)
{
	pthread_t threads[4];
	int failed = 0, i;

	for (i = 0; i < 4; i++)
		ts_check_int(pthread_create(&threads[i], NULL, count, &failed), 0);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ts_check(!failed);
	ts_check(shared.reference > UINT32_MAX);
}
