/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the sampler's rate: see rate.h. sampling.c calls this module once a second. Each change
 * loses up to one period of each thread's time, so changes are rare: a period that is nearly right
 * stays.
 */
#include "daemon/sample/rate.h"

#define SHARE 0.003

void ts_sample_rate_init(struct ts_sample_rate *rate, uint64_t period_ns)
{
	*rate = (struct ts_sample_rate){.first_ns = period_ns, .period_ns = period_ns};
}

/* Returns the period with which the window would have cost just the permitted share. */
static uint64_t permitted_period(const struct ts_sample_rate *rate, uint64_t window_ns,
				 uint64_t n_samples)
{
	double sampled_ns = (double)n_samples * (double)rate->period_ns;
	double of_ns = sampled_ns > (double)window_ns ? sampled_ns : (double)window_ns;
	double share = (double)n_samples * (double)rate->cost_ns / of_ns;
	double wanted_ns = (double)rate->period_ns * share / SHARE;

	if (wanted_ns <= (double)rate->first_ns)
		return rate->first_ns;
	return wanted_ns < (double)(TS_RATE_LONGEST * rate->first_ns)
		       ? (uint64_t)wanted_ns
		       : TS_RATE_LONGEST * rate->first_ns;
}

uint64_t ts_sample_rate_add(struct ts_sample_rate *rate, uint64_t window_ns, uint64_t n_samples,
			    uint64_t cost_ns)
{
	uint64_t shortest_ns = UINT64_MAX, longest_ns = 0, next_ns = rate->period_ns;

	rate->cost_ns = cost_ns / n_samples;
	rate->wanted_ns[rate->n_windows++ % TS_RATE_WINDOWS] =
		permitted_period(rate, window_ns, n_samples);
	if (rate->n_windows < TS_RATE_WINDOWS)
		return rate->period_ns;
	for (unsigned i = 0; i < TS_RATE_WINDOWS; i++) {
		uint64_t wanted_ns = rate->wanted_ns[i];

		shortest_ns = wanted_ns < shortest_ns ? wanted_ns : shortest_ns;
		longest_ns = wanted_ns > longest_ns ? wanted_ns : longest_ns;
	}
	if (shortest_ns > rate->period_ns / 8 * 9)
		next_ns = shortest_ns;
	else if (longest_ns < rate->period_ns / 4 * 3)
		next_ns = longest_ns;
	if (next_ns != rate->period_ns)
		rate->n_windows = 0;
	rate->period_ns = next_ns;
	return next_ns;
}
