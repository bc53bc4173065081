/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The join's counts against a plain model, and its bounds.
 */
#include "test/unit/harness.h"

#include "daemon/merge/join.h"
#include "proto/abi/record.h"

static void check_counts(const struct ts_join *join, uint64_t api, uint64_t device)
{
	uint64_t n_api, n_device;

	ts_join_count(join, true, &n_api, &n_device);
	ts_check_int(n_api, api);
	ts_check_int(n_device, device);
}

TS_TEST(halves)
{
	struct ts_join *join;

	ts_check_int(ts_join_new(&join), 0);
	ts_join_api(join, 1, 0, true);
	ts_join_api(join, 2, 0, false); /* expects nothing */
	ts_join_api(join, 3, 0, true);
	ts_check_int(ts_join_device(join, 3), 3);
	ts_check_int(ts_join_device(join, 3), 3); /* a graph: several rows */
	ts_check_int(ts_join_device(join, 4), 4); /* its call comes later */
	check_counts(join, 1, 1);
	ts_join_api(join, 4, 0, true);
	check_counts(join, 1, 0);
	ts_join_device(join, 0); /* CUPTI told no id */
	check_counts(join, 1, 1);
	ts_join_free(join);
}

TS_TEST(nested_ids_become_the_outer_ones)
{
	struct ts_join *join;

	ts_check_int(ts_join_new(&join), 0);
	ts_join_api(join, 10, 11, true);
	ts_check_int(ts_join_device(join, 11), 10);
	check_counts(join, 0, 0);
	/* The device row first: it keeps its id, and is not counted as missing. */
	ts_check_int(ts_join_device(join, 21), 21);
	ts_join_api(join, 20, 21, true);
	check_counts(join, 0, 0);
	ts_join_free(join);
}

/* An operation that leaves the window for want of memory is counted as one that leaves it for want of room. */
TS_TEST(trimmed)
{
	uint64_t n_bytes, n_api, n_device;
	struct ts_join *join;

	ts_check_int(ts_join_new(&join), 0);
	n_bytes = ts_join_memory(join);
	ts_join_trim(join);
	for (uint64_t i = 0; i < TS_JOIN_MAX_CHUNKS; i++)
		ts_join_api(join, i * TS_JOIN_CHUNK_IDS + 1, 0, true);
	ts_check(ts_join_memory(join) > n_bytes + TS_JOIN_MAX_CHUNKS * TS_JOIN_CHUNK_IDS / 8);
	check_counts(join, TS_JOIN_MAX_CHUNKS, 0);
	ts_join_trim(join);
	ts_check(ts_join_memory(join) < n_bytes + 8 * TS_JOIN_CHUNK_IDS);
	check_counts(join, TS_JOIN_MAX_CHUNKS, 0);
	/* The newest are there to be joined; for the others it is too late. */
	ts_join_device(join, (TS_JOIN_MAX_CHUNKS - 1) * UINT64_C(65536) + 1);
	check_counts(join, TS_JOIN_MAX_CHUNKS - 1, 0);
	ts_join_device(join, 1);
	ts_join_count(join, true, &n_api, &n_device);
	ts_check_int(n_api, TS_JOIN_MAX_CHUNKS - 1);
	ts_check_int(n_device, 1);
	ts_join_free(join);
}

TS_TEST(long_runs_stay_bounded)
{
	const uint64_t n = UINT64_C(3) * TS_JOIN_MAX_CHUNKS * TS_JOIN_CHUNK_IDS / 8;
	struct ts_join *join;
	uint64_t n_unjoined = 0;

	ts_check_int(ts_join_new(&join), 0);
	for (uint64_t i = 1; i < n; i++) {
		uint64_t id = i * 8;

		ts_join_api(join, id, 0, true);
		if (i % 100000)
			ts_join_device(join, id);
		else
			n_unjoined++;
	}
	check_counts(join, n_unjoined, 0);
	ts_join_free(join);
}

TS_TEST(wild_ids_are_safe)
{
	struct ts_join *join;
	uint64_t state = 1;

	ts_check_int(ts_join_new(&join), 0);
	for (int i = 0; i < 20000; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		if (i % 2)
			ts_join_api(join, state >> (i % 50), state >> 7, i % 3);
		else
			ts_join_device(join, state >> (i % 64));
	}
	ts_join_api(join, UINT64_MAX, UINT64_MAX - 1, true);
	ts_join_device(join, UINT64_MAX);
	ts_join_free(join);
}

TS_TEST(ids_that_calls_share_leave_the_window_where_it_is)
{
	uint64_t n_api = 0, n_device = 0;
	struct ts_join *join;

	ts_check_int(ts_join_new(&join), 0);
	ts_join_api(join, 7, 0, true);
	ts_join_api(join, TS_OP_ID_SHARED, 0, false);
	ts_join_api(join, TS_OP_ID_SHARED + 1, 0, false);
	ts_check_int(ts_join_device(join, 7), 7);
	ts_join_count(join, true, &n_api, &n_device);
	ts_check_int(n_api, 0);
	ts_check_int(n_device, 0);
	ts_join_free(join);
}
