/* SPDX-License-Identifier: Apache-2.0 */
/* The table of HIP's work: pending calls, calls that take another's place, several threads. */
#include <pthread.h>

#include "inject/hip/hip-work.h"
#include "test/unit/harness.h"

#define N_THREADS 4

static struct ts_hip_works works;

static struct ts_hip_work call_of(uint64_t op_id)
{
	return (struct ts_hip_work){.op_id = op_id,
				    .grid = {(uint32_t)op_id, 2, 3},
				    .stream = (uint32_t)op_id + 1,
				    .is_awaited = 1};
}

static void put(uint64_t op_id)
{
	const struct ts_hip_work work = call_of(op_id);

	ts_hip_works_put(&works, &work);
}

TS_TEST(pending_until_the_first_row)
{
	struct ts_hip_work work = call_of(0);

	ts_check_int(ts_hip_works_init(&works), 0);
	ts_check(!ts_hip_works_get(&works, 1, &work));
	for (uint64_t id = 1; id <= 10; id++)
		put(id);
	ts_check_int(ts_hip_works_pending(&works, 10, 10, false), 10);
	/* Among the newest calls alone. */
	ts_check_int(ts_hip_works_pending(&works, 10, 4, false), 4);
	ts_hip_works_done(&works, 3);
	ts_hip_works_done(&works, 3);
	ts_hip_works_done(&works, 11);
	ts_check_int(ts_hip_works_pending(&works, 10, 10, false), 9);
	ts_check(ts_hip_works_get(&works, 3, &work));
	ts_check_int(work.grid[0], 3);
	ts_check_int(work.stream, 4);
	work = call_of(11);
	work.is_awaited = 0;
	ts_hip_works_put(&works, &work);
	ts_check_int(ts_hip_works_pending(&works, 11, 11, false), 9);
	ts_check_int(ts_hip_works_pending(&works, 11, 11, true), 9);
	ts_check_int(ts_hip_works_pending(&works, 11, 11, false), 0);
}

TS_TEST(a_later_call_takes_the_place)
{
	struct ts_hip_work work;

	ts_check_int(ts_hip_works_init(&works), 0);
	put(5);
	put(5 + TS_HIP_WORKS);
	ts_check(!ts_hip_works_get(&works, 5, &work));
	/* The row of the earlier call does not end the wait for the later one. */
	ts_hip_works_done(&works, 5);
	ts_check_int(ts_hip_works_pending(&works, 5 + TS_HIP_WORKS, UINT64_MAX, false), 1);
	ts_hip_works_done(&works, 5 + TS_HIP_WORKS);
	ts_check_int(ts_hip_works_pending(&works, 5 + TS_HIP_WORKS, UINT64_MAX, false), 0);
}

static void *run(void *argument)
{
	const uint64_t first = (uint64_t)(uintptr_t)argument;
	struct ts_hip_work work;

	for (uint64_t i = 0; i < 100000; i++) {
		const uint64_t id = first + i * N_THREADS;

		put(id);
		if (ts_hip_works_get(&works, id - N_THREADS + 1, &work))
			ts_check(work.grid[0] == (uint32_t)work.op_id &&
				 work.stream == (uint32_t)work.op_id + 1);
		ts_hip_works_done(&works, id);
	}
	return NULL;
}

/* A reader never gets half an entry, and no call stays pending. */
TS_TEST(threads)
{
	pthread_t ids[N_THREADS];

	ts_check_int(ts_hip_works_init(&works), 0);
	for (uintptr_t i = 0; i < N_THREADS; i++)
		ts_check_int(pthread_create(&ids[i], NULL, run, (void *)(i + N_THREADS)), 0);
	for (size_t i = 0; i < N_THREADS; i++)
		pthread_join(ids[i], NULL);
	ts_check_int(ts_hip_works_pending(&works, 100000 * N_THREADS, UINT64_MAX, false), 0);
}
