/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often flushes come: every millisecond at first, then as often as 0.5 % of the time allows,
 * and what a flush costs.
 */
#include "inject/budget.h"
#include "test/unit/harness.h"

#define MS UINT64_C(1000000)

struct fixture {
	struct ts_budget budget;
	struct ts_budget_mark now;
};

static void fixture_init(struct fixture *f)
{
	*f = (struct fixture){.now = {.now_ns = 77 * MS, .cpu_ns = 5 * MS, .n_preempted = 3}};
	ts_budget_init(&f->budget, f->now.now_ns);
}

/* Returns how long the next one waits. */
static uint64_t flush(struct fixture *f, uint64_t took_ns, uint64_t cpu_ns, bool preempted)
{
	const struct ts_budget_mark from = f->now;

	f->now.now_ns += took_ns;
	f->now.cpu_ns += cpu_ns;
	f->now.n_preempted += preempted;
	ts_budget_charge(&f->budget, &from, &f->now);
	return ts_budget_pause_ns(&f->budget);
}

TS_TEST(at_first_every_millisecond)
{
	struct fixture f;

	fixture_init(&f);
	ts_check_int(ts_budget_pause_ns(&f.budget), MS);
	for (unsigned i = 0; i < 99; i++) {
		ts_check_int(flush(&f, MS / 5, MS / 5, false), MS);
		f.now.now_ns += MS;
	}
}

TS_TEST(then_a_share_of_the_time)
{
	uint64_t begin, pause_ns, n = 0;
	struct fixture f;

	fixture_init(&f);
	while (flush(&f, MS / 5, MS / 5, false) == MS)
		;
	begin = f.now.now_ns;
	while (f.now.now_ns < begin + 10000 * MS) {
		pause_ns = flush(&f, MS / 5, MS / 5, false);
		ts_check(pause_ns <= TS_BUDGET_EARLY_NS + TS_BUDGET_PERIOD_NS);
		f.now.now_ns += pause_ns;
		n++;
	}
	/* 0.5 % of 10 s is 250 times 0.2 ms. */
	ts_check(n > 230 && n < 260);
}

TS_TEST(a_flush_that_waits_is_charged_its_time)
{
	struct fixture f;

	fixture_init(&f);
	ts_check_int(flush(&f, 8 * MS, MS / 5, false), MS);
	ts_check_int(flush(&f, 8 * MS, MS / 5, false), MS);
	ts_check(flush(&f, 8 * MS, MS / 5, false) > 100 * MS);
	/* However long it took, the next one comes within a period. */
	ts_check_int(flush(&f, 5000 * MS, MS / 5, false), TS_BUDGET_EARLY_NS + TS_BUDGET_PERIOD_NS);
}

/* The machine's other programs are not charged to flushes. */
TS_TEST(a_flush_that_lost_its_cpu_is_charged_its_processor_time)
{
	struct fixture f;

	fixture_init(&f);
	for (unsigned i = 0; i < 50; i++)
		ts_check_int(flush(&f, 8 * MS, MS / 5, true), MS);
	ts_check(flush(&f, 30 * MS, 30 * MS, true) > MS);
}

TS_TEST(a_pause_earns_the_credit_again)
{
	struct fixture f;

	fixture_init(&f);
	ts_check(flush(&f, 30 * MS, 30 * MS, false) > MS);
	f.now.now_ns += 60000 * MS;
	ts_check_int(flush(&f, 19 * MS, 19 * MS, false), MS);
	ts_check(flush(&f, 2 * MS, 2 * MS, false) > MS);
}

TS_TEST(marks_are_of_the_calling_thread)
{
	const struct ts_budget_mark from = ts_budget_mark();
	struct ts_budget_mark to;

	do
		to = ts_budget_mark();
	while (to.now_ns - from.now_ns < 20 * MS);
	ts_check(to.cpu_ns > from.cpu_ns);
	ts_check(to.cpu_ns - from.cpu_ns <= to.now_ns - from.now_ns + 5 * MS);
	ts_check(to.n_preempted >= from.n_preempted);
}
