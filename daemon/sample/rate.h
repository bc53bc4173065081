/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the sampler's rate by the measured cost of a sample: all samples together may cost 0.3 %
 * of a core, or of the processor time that they stand for, if that is more than one core's. The
 * rate falls only if each of the last three windows of time needs that. Pure; not thread-safe.
 */
#pragma once

#include <stdint.h>

#define TS_RATE_WINDOWS 3u
/* The longest period, as a multiple of the first one. */
#define TS_RATE_LONGEST 8u

struct ts_sample_rate {
	uint64_t first_ns;  /* the period that was requested */
	uint64_t period_ns; /* the present one */
	uint64_t cost_ns;   /* of a sample, in the last window */
	unsigned n_windows; /* since the last change */
	uint64_t wanted_ns[TS_RATE_WINDOWS];
};

void ts_sample_rate_init(struct ts_sample_rate *rate, uint64_t period_ns);

/*
 * Adds a window of `window_ns` in which `n_samples` samples (not 0) of the present period cost
 * `cost_ns` of processor time. Returns the period from now on.
 */
uint64_t ts_sample_rate_add(struct ts_sample_rate *rate, uint64_t window_ns, uint64_t n_samples,
			    uint64_t cost_ns);
