/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A clock table is exact at its pairs, and monotonic between them. It is correct before the first
 * and after the last pair, and accepts any numbers.
 */
#include "test/unit/harness.h"

#include "daemon/merge/clock-table.h"

static void add(struct ts_clock_table *table, uint64_t ticks, uint64_t ns)
{
	ts_clock_table_add(table, &(struct ts_clock_pair){ticks, ns, 10});
}

TS_TEST(interpolates)
{
	struct ts_clock_table table;

	ts_check_int(ts_clock_table_init(&table), 0);
	ts_check_int(ts_clock_table_convert(&table, 42), 42);
	add(&table, 1000, 500);
	add(&table, 3000, 1500); /* 2 ticks a ns */
	add(&table, 4000, 2500); /* 1 tick a ns */
	ts_check_int(ts_clock_table_convert(&table, 1000), 500);
	ts_check_int(ts_clock_table_convert(&table, 2000), 1000);
	ts_check_int(ts_clock_table_convert(&table, 3000), 1500);
	ts_check_int(ts_clock_table_convert(&table, 3500), 2000);
	/* Pairs this close together give no rate for the times after the last pair. */
	ts_check_int(ts_clock_table_convert(&table, 5000), 3167);
	/* Times before the first pair use the rate over all pairs, 2 ns for 3 ticks. */
	ts_check(ts_clock_table_convert(&table, 850) - 400 <= 1);
	ts_check_int(ts_clock_table_convert(&table, 0), 0);
	ts_check_int(table.max_error_ns, 10);
	ts_clock_table_deinit(&table);
}

/* The rate after the last pair is the rate over 10 ms: errors of close pairs do not change it. */
TS_TEST(close_pairs_give_no_rate)
{
	const uint64_t ms = 1000000;
	struct ts_clock_table table;

	ts_check_int(ts_clock_table_init(&table), 0);
	add(&table, 0, 0);
	add(&table, 200 * ms, 100 * ms); /* 2 ticks a ns */
	add(&table, 400 * ms, 300 * ms); /* 1 tick a ns */
	ts_check_int(ts_clock_table_convert(&table, 500 * ms), 400 * ms);
	/*
	 * This pair is 20 us after the previous pair, and its second clock was read 100 ns late. A
	 * rate from these two pairs alone would be 5 us wrong at 1 ms after this pair.
	 */
	add(&table, 400 * ms + 20000, 300 * ms + 20100);
	ts_check(ts_clock_table_convert(&table, 401 * ms + 20000) - (301 * ms + 20100) <= 10);
	ts_clock_table_deinit(&table);
}

/*
 * After a year of uptime, with a TSC of 3 GHz and the daemon's usual snapshots, the error is less
 * than 1 ns.
 */
TS_TEST(is_exact_after_a_year)
{
	const uint64_t year = UINT64_C(365) * 86400 * 1000000000;
	struct ts_clock_table table;
	uint64_t last = 0;

	ts_check_int(ts_clock_table_init(&table), 0);
	for (uint64_t i = 0; i < 3000; i++)
		add(&table, (year + i * 100000000) * 3, year + i * 100000000);
	for (uint64_t i = 0; i < 1000000; i++) {
		uint64_t ns = year + UINT64_C(250) * 1000000000 + i * 49999;
		uint64_t got = ts_clock_table_convert(&table, ns * 3);

		ts_check_int(got, ns);
		ts_check(got >= last);
		last = got;
	}
	ts_clock_table_deinit(&table);
}

/*
 * If an hour of pairs has an error of 15 ns each, a converted time of any age has about the same
 * error.
 */
TS_TEST(old_times)
{
	struct ts_clock_table table;

	srand(1);
	ts_check_int(ts_clock_table_init(&table), 0);
	for (uint64_t ms = 5000; ms < 3600000; ms += 10) {
		struct ts_clock_pair pair = {ms * 2900000, ms * 1000000 + (uint64_t)rand() % 31,
					     15};

		ts_clock_table_extend(&table, &pair, 20000000);
	}
	for (uint64_t ms = 0; ms < 3600000; ms += 997) {
		int64_t off =
			(int64_t)(ts_clock_table_convert(&table, ms * 2900000) - ms * 1000000);

		ts_check(off > -40 && off < 80);
	}
	ts_clock_table_deinit(&table);
}

TS_TEST(goes_backward)
{
	struct ts_clock_table table;

	ts_check_int(ts_clock_table_init(&table), 0);
	add(&table, 1000000, 1000);
	add(&table, 2000000, 2000); /* 1,000 ticks a ns */
	ts_check_int(ts_clock_table_convert(&table, 1500000), 1500);
	add(&table, 5000, 9000); /* after a suspend the counter began at zero again */
	ts_check_int(table.n_backward, 1);
	ts_check_int(ts_clock_table_convert(&table, 5000), 9000);
	/* After a lone pair, the previous rate applies. */
	ts_check_int(ts_clock_table_convert(&table, 105000), 9100);
	add(&table, 105000, 9200);
	ts_check_int(ts_clock_table_convert(&table, 55000), 9100);
	/* Time cannot go back, so the table ignores this pair. */
	add(&table, 205000, 9100);
	ts_check_int(table.n, 2);
	ts_clock_table_deinit(&table);
}

TS_TEST(thins_out_the_oldest)
{
	struct ts_clock_table table;

	ts_check_int(ts_clock_table_init(&table), 0);
	for (uint64_t i = 1; i <= 3 * TS_CLOCK_TABLE_PAIRS; i++)
		add(&table, i * 1000, i * 2000);
	ts_check(table.n > TS_CLOCK_TABLE_PAIRS / 2 && table.n <= TS_CLOCK_TABLE_PAIRS);
	ts_check_int(table.pairs[0].ticks, 1000);
	for (uint64_t ticks = 1000; ticks < 4000 * TS_CLOCK_TABLE_PAIRS; ticks += 777)
		ts_check_int(ts_clock_table_convert(&table, ticks), ticks * 2);
	ts_clock_table_deinit(&table);
}

/* Pairs close together share a segment, and each converted time lies between its two pairs. */
TS_TEST(extends)
{
	struct ts_clock_table table;
	struct ts_clock_pair last;

	ts_check_int(ts_clock_table_init(&table), 0);
	for (uint64_t i = 1; i <= 1000; i++)
		ts_clock_table_extend(&table, &(struct ts_clock_pair){i * 100, i * 100, 1}, 10000);
	ts_check(table.n <= 12);
	ts_check(ts_clock_table_last(&table, &last));
	ts_check_int(last.ticks, 100000);
	ts_check_int(ts_clock_table_convert(&table, 77777), 77777);
	ts_clock_table_deinit(&table);
}

TS_TEST(any_numbers_are_safe)
{
	struct ts_clock_table table;
	uint64_t state = 1;

	ts_check_int(ts_clock_table_init(&table), 0);
	for (int i = 0; i < 200000; i++) {
		uint64_t a, b;

		state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		a = state >> (state >> 58);
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
		b = state >> (state >> 58);
		if (i % 3)
			ts_clock_table_convert(&table, a);
		else
			add(&table, a, b);
	}
	ts_clock_table_deinit(&table);
}
