/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides how often CUPTI may be flushed. At first, flushes may take 20 ms; after that, 0.5 % of
 * the elapsed time. After a time without flushes, they may take 20 ms again. The time in which the
 * flush thread was runnable but had no CPU does not count. flush.c is the only caller, from this
 * thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Time from the end of one flush to the next: earliest, and latest if there is work. */
#define TS_BUDGET_EARLY_NS  UINT64_C(1000000)
#define TS_BUDGET_PERIOD_NS UINT64_C(200000000)

struct ts_budget {
	int64_t credit_ns; /* time that flushes may still take; negative: a debt */
	uint64_t credited_at_ns;
};

/*
 * Times of the calling thread. now_ns: CLOCK_MONOTONIC. delay_ns: the time that the thread has
 * waited for a CPU so far; 0: the kernel does not report it.
 */
struct ts_budget_mark {
	uint64_t now_ns;
	uint64_t delay_ns;
};

/* Starts with full credit at now_ns, CLOCK_MONOTONIC. */
void ts_budget_init(struct ts_budget *budget, uint64_t now_ns);
/* Reads both clocks of the calling thread. */
struct ts_budget_mark ts_budget_mark(void);
/* Charges a flush: the time between the two marks. */
void ts_budget_charge(struct ts_budget *budget, const struct ts_budget_mark *from,
		      const struct ts_budget_mark *to);
/* Returns the delay until the next flush. */
uint64_t ts_budget_pause_ns(const struct ts_budget *budget);
