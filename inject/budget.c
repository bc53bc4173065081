/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The budget of flushes: each flush costs credit, and elapsed time earns credit. flush.c marks the
 * beginning and the end of each flush, and asks how long it must wait before the next flush.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "inject/budget.h"
#include "proto/abi/clock.h"

/*
 * Flushes may use 1/CREDIT_PARTS of elapsed time. At first, and after a pause, they may use
 * CREDIT_NS more.
 */
#define CREDIT_PARTS 200
#define CREDIT_NS    INT64_C(20000000)
/* Largest debt: paid off within one period. */
#define DEBT_NS (-(int64_t)(TS_BUDGET_PERIOD_NS / CREDIT_PARTS))

void ts_budget_init(struct ts_budget *budget, uint64_t now_ns)
{
	*budget = (struct ts_budget){.credit_ns = CREDIT_NS, .credited_at_ns = now_ns};
}

/*
 * Reads the second number of /proc/thread-self/schedstat: time in ns that the thread waited for a
 * CPU.
 */
static uint64_t read_delay(void)
{
	char text[96] = "", *at;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	at = n > 0 ? strchr(text, ' ') : NULL;
	return at ? strtoull(at, NULL, 10) : 0;
}

struct ts_budget_mark ts_budget_mark(void)
{
	return (struct ts_budget_mark){.now_ns = ts_clock_monotonic_ns(), .delay_ns = read_delay()};
}

/*
 * Returns the cost of a flush: its elapsed time, less the time in which its thread waited for a
 * CPU. CPU time would be too little, because CUPTI may work in another thread meanwhile. Waits for
 * a CPU do not count: on a busy machine a flush of 0.2 ms may end after 8 ms, and later flushes
 * need not wait for that.
 */
static uint64_t cost_ns(const struct ts_budget_mark *from, const struct ts_budget_mark *to)
{
	uint64_t took_ns = to->now_ns - from->now_ns;
	uint64_t delay_ns = to->delay_ns > from->delay_ns ? to->delay_ns - from->delay_ns : 0;

	return delay_ns < took_ns ? took_ns - delay_ns : 0;
}

void ts_budget_charge(struct ts_budget *budget, const struct ts_budget_mark *from,
		      const struct ts_budget_mark *to)
{
	uint64_t earned_ns = (to->now_ns - budget->credited_at_ns) / CREDIT_PARTS;
	int64_t credit_ns = budget->credit_ns + (int64_t)earned_ns;

	if (credit_ns > CREDIT_NS)
		credit_ns = CREDIT_NS;
	credit_ns -= (int64_t)cost_ns(from, to);
	budget->credit_ns = credit_ns < DEBT_NS ? DEBT_NS : credit_ns;
	budget->credited_at_ns = to->now_ns;
}

uint64_t ts_budget_pause_ns(const struct ts_budget *budget)
{
	uint64_t debt_ns = budget->credit_ns > 0 ? 0 : (uint64_t)-budget->credit_ns;

	return TS_BUDGET_EARLY_NS + debt_ns * CREDIT_PARTS;
}
