/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of the interval between flushes. It is a millisecond at first; later it is chosen so that
 * flushes use 0.5 % of the time. Also tests how the cost of a flush is measured.
 */
#include <pthread.h>
#include <sched.h>

#include "inject/budget.h"
#include "test/unit/harness.h"

#define MS UINT64_C(1000000)

struct fixture {
	struct ts_budget budget;
	struct ts_budget_mark now;
};

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){.now = {.now_ns = 77 * MS, .delay_ns = 5 * MS}};
	ts_budget_init(&f->budget, f->now.now_ns);
}

/* Returns the wait until the next flush. */
static uint64_t flush(struct fixture *f, uint64_t took_ns, uint64_t delay_ns)
{
	const struct ts_budget_mark from = f->now;

	f->now.now_ns += took_ns;
	f->now.delay_ns += delay_ns;
	ts_budget_charge(&f->budget, &from, &f->now);
	return ts_budget_pause_ns(&f->budget);
}

TS_TEST(at_first_every_millisecond)
{
	struct fixture f;

	fixture_init(&f);
	ts_check_int(ts_budget_pause_ns(&f.budget), MS);
	for (unsigned i = 0; i < 99; i++) {
		ts_check_int(flush(&f, MS / 5, 0), MS);
		f.now.now_ns += MS;
	}
}

TS_TEST(then_a_share_of_the_time)
{
	uint64_t begin, pause_ns, n = 0;
	struct fixture f;

	fixture_init(&f);
	while (flush(&f, MS / 5, 0) == MS)
		;
	begin = f.now.now_ns;
	while (f.now.now_ns < begin + 10000 * MS) {
		pause_ns = flush(&f, MS / 5, 0);
		ts_check(pause_ns <= TS_BUDGET_EARLY_NS + TS_BUDGET_PERIOD_NS);
		f.now.now_ns += pause_ns;
		n++;
	}
	/* 0.5 % of 10 s allows 250 flushes of 0.2 ms. */
	ts_check(n > 230 && n < 260);
}

TS_TEST(a_flush_that_waits_is_charged_its_time)
{
	struct fixture f;

	fixture_init(&f);
	ts_check_int(flush(&f, 8 * MS, 0), MS);
	ts_check_int(flush(&f, 8 * MS, 0), MS);
	ts_check(flush(&f, 8 * MS, 0) > 100 * MS);
	/*
	 * However long a flush takes, the next one comes after at most TS_BUDGET_EARLY_NS +
	 * TS_BUDGET_PERIOD_NS.
	 */
	ts_check_int(flush(&f, 5000 * MS, 0), TS_BUDGET_EARLY_NS + TS_BUDGET_PERIOD_NS);
}

/* The cost of a flush excludes the time in which other programs used the CPU. */
TS_TEST(a_flush_is_not_charged_time_without_a_cpu)
{
	struct fixture f;

	fixture_init(&f);
	for (unsigned i = 0; i < 50; i++)
		ts_check_int(flush(&f, 8 * MS, 8 * MS - MS / 5), MS);
	ts_check(flush(&f, 30 * MS, 0) > MS);
}

TS_TEST(a_pause_earns_the_credit_again)
{
	struct fixture f;

	fixture_init(&f);
	ts_check(flush(&f, 30 * MS, 0) > MS);
	f.now.now_ns += 60000 * MS;
	ts_check_int(flush(&f, 19 * MS, 0), MS);
	ts_check(flush(&f, 2 * MS, 0) > MS);
}

/* Two threads run this function on one CPU, so each is without a CPU for about half of the time. */
static void *spin(void *until_ns)
{
	while (ts_budget_mark().now_ns < *(const uint64_t *)until_ns)
		;
	return NULL;
}

TS_TEST(marks_are_of_the_calling_thread)
{
	const struct ts_budget_mark from = ts_budget_mark();
	uint64_t until_ns = from.now_ns + 200 * MS;
	struct ts_budget_mark to;
	pthread_t other;
	cpu_set_t one;

	/* Later threads inherit this CPU set. */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	ts_check_int(pthread_create(&other, NULL, spin, &until_ns), 0);
	spin(&until_ns);
	pthread_join(other, NULL);
	to = ts_budget_mark();
	/* A kernel without scheduler statistics reports no delay. */
	if (!to.delay_ns)
		return;
	ts_check(to.delay_ns - from.delay_ns > 20 * MS);
	ts_check(to.delay_ns - from.delay_ns < to.now_ns - from.now_ns);
}
