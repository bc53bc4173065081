/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the counts of halves (API rows without device rows and the reverse) with a plain model,
 * and tests the limits of the counts.
 */
#include "test/unit/harness.h"

#include "daemon/merge/halves.h"
#include "proto/abi/record.h"

static void check_counts(const struct ts_halves *halves, uint64_t api, uint64_t device)
{
	uint64_t n_api, n_device;

	ts_halves_count(halves, true, &n_api, &n_device);
	ts_check_int(n_api, api);
	ts_check_int(n_device, device);
}

TS_TEST(halves)
{
	struct ts_halves *halves;

	ts_check_int(ts_halves_new(&halves), 0);
	ts_halves_api(halves, 1, 0, true);
	ts_halves_api(halves, 2, 0, false); /* expects nothing */
	ts_halves_api(halves, 3, 0, true);
	ts_check_int(ts_halves_device(halves, 3), 3);
	ts_check_int(ts_halves_device(halves, 3), 3); /* a graph launch: several rows */
	ts_check_int(ts_halves_device(halves, 4), 4); /* its API row comes later */
	check_counts(halves, 1, 1);
	ts_halves_api(halves, 4, 0, true);
	check_counts(halves, 1, 0);
	ts_halves_device(halves, 0); /* CUPTI reported no id */
	check_counts(halves, 1, 1);
	ts_halves_free(halves);
}

TS_TEST(nested_ids_become_the_outer_ones)
{
	struct ts_halves *halves;

	ts_check_int(ts_halves_new(&halves), 0);
	ts_halves_api(halves, 10, 11, true);
	ts_check_int(ts_halves_device(halves, 11), 10);
	check_counts(halves, 0, 0);
	/* If the device row comes first, it keeps its id and is not counted as missing. */
	ts_check_int(ts_halves_device(halves, 21), 21);
	ts_halves_api(halves, 20, 21, true);
	check_counts(halves, 0, 0);
	ts_halves_free(halves);
}

/*
 * If an operation leaves the window because memory is short, its missing halves are counted, as if
 * the window had been full.
 */
TS_TEST(trimmed)
{
	uint64_t n_bytes, n_api, n_device;
	struct ts_halves *halves;

	ts_check_int(ts_halves_new(&halves), 0);
	n_bytes = ts_halves_memory(halves);
	ts_halves_trim(halves);
	for (uint64_t i = 0; i < TS_HALVES_MAX_CHUNKS; i++)
		ts_halves_api(halves, i * TS_HALVES_CHUNK_IDS + 1, 0, true);
	ts_check(ts_halves_memory(halves) >
		 n_bytes + TS_HALVES_MAX_CHUNKS * TS_HALVES_CHUNK_IDS / 8);
	check_counts(halves, TS_HALVES_MAX_CHUNKS, 0);
	ts_halves_trim(halves);
	ts_check(ts_halves_memory(halves) < n_bytes + 8 * TS_HALVES_CHUNK_IDS);
	check_counts(halves, TS_HALVES_MAX_CHUNKS, 0);
	/* The newest operations can still be joined. The window no longer has the older ones. */
	ts_halves_device(halves, (TS_HALVES_MAX_CHUNKS - 1) * UINT64_C(65536) + 1);
	check_counts(halves, TS_HALVES_MAX_CHUNKS - 1, 0);
	ts_halves_device(halves, 1);
	ts_halves_count(halves, true, &n_api, &n_device);
	ts_check_int(n_api, TS_HALVES_MAX_CHUNKS - 1);
	ts_check_int(n_device, 1);
	ts_halves_free(halves);
}

TS_TEST(long_runs_stay_bounded)
{
	const uint64_t n = UINT64_C(3) * TS_HALVES_MAX_CHUNKS * TS_HALVES_CHUNK_IDS / 8;
	struct ts_halves *halves;
	uint64_t n_unjoined = 0;

	ts_check_int(ts_halves_new(&halves), 0);
	for (uint64_t i = 1; i < n; i++) {
		uint64_t id = i * 8;

		ts_halves_api(halves, id, 0, true);
		if (i % 100000)
			ts_halves_device(halves, id);
		else
			n_unjoined++;
	}
	check_counts(halves, n_unjoined, 0);
	ts_halves_free(halves);
}

TS_TEST(wild_ids_are_safe)
{
	struct ts_halves *halves;
	uint64_t state = 1;

	ts_check_int(ts_halves_new(&halves), 0);
	for (int i = 0; i < 20000; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		if (i % 2)
			ts_halves_api(halves, state >> (i % 50), state >> 7, i % 3);
		else
			ts_halves_device(halves, state >> (i % 64));
	}
	ts_halves_api(halves, UINT64_MAX, UINT64_MAX - 1, true);
	ts_halves_device(halves, UINT64_MAX);
	ts_halves_free(halves);
}

/* CUDA's ids and HIP's, which come in turns, are each followed in a window of their own. */
TS_TEST(two_vendors)
{
	const uint64_t second = TS_OP_ID_SECOND;
	uint64_t n_api = 0, n_device = 0;
	struct ts_halves *halves;

	ts_check_int(ts_halves_new(&halves), 0);
	for (uint64_t id = 1; id <= 1000; id++) {
		ts_halves_api(halves, id, 0, true);
		ts_halves_api(halves, second + id, 0, true);
		if (id % 10)
			ts_check_int(ts_halves_device(halves, id), id);
		if (id % 5)
			ts_check_int(ts_halves_device(halves, second + id), second + id);
	}
	ts_halves_count(halves, true, &n_api, &n_device);
	ts_check_int(n_api, 100 + 200);
	ts_check_int(n_device, 0);
	/* Device rows without a call, of each vendor. */
	ts_halves_device(halves, 2000);
	ts_halves_device(halves, second + 3000);
	/* A nested call's rows belong to the outer call. */
	ts_halves_api(halves, second + 4001, second + 4002, true);
	ts_check_int(ts_halves_device(halves, second + 4002), second + 4001);
	ts_halves_count(halves, true, &n_api, &n_device);
	ts_check_int(n_api, 300);
	ts_check_int(n_device, 2);
	ts_check(ts_halves_memory(halves) > 2 * sizeof(*halves));
	ts_halves_trim(halves);
	ts_halves_free(halves);
}

TS_TEST(ids_that_calls_share_leave_the_window_where_it_is)
{
	uint64_t n_api = 0, n_device = 0;
	struct ts_halves *halves;

	ts_check_int(ts_halves_new(&halves), 0);
	ts_halves_api(halves, 7, 0, true);
	ts_halves_api(halves, TS_OP_ID_SHARED, 0, false);
	ts_halves_api(halves, TS_OP_ID_SHARED + 1, 0, false);
	ts_check_int(ts_halves_device(halves, 7), 7);
	ts_halves_count(halves, true, &n_api, &n_device);
	ts_check_int(n_api, 0);
	ts_check_int(n_device, 0);
	ts_halves_free(halves);
}
