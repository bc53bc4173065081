/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of durations, for medians and percentiles in bounded memory. Exact below 512 ns;
 * above, the error is at most 0.2 %. Not thread-safe.
 */
#pragma once

#include <stdint.h>

struct ts_durations {
	uint64_t *few; /* the first durations, one by one, until there are counts */
	uint32_t n_few, n_few_allocated;
	/*
	 * Counts; NULL: none. [0]: below 256 ns; [i]: from 256 << (i - 1) on. Each power of two has
	 * 256 counts for equal parts, allocated at the first use.
	 */
	uint64_t **of;
	uint64_t n;
	uint64_t n_bytes; /* memory of `few` and `of` */
};

/* Embed it, zeroed. Returns 0 or -ENOMEM. */
int ts_durations_add(struct ts_durations *durations, uint64_t ns);
/* Adds all durations of `more`. Returns 0 or -ENOMEM. */
int ts_durations_merge(struct ts_durations *durations, const struct ts_durations *more);
void ts_durations_deinit(struct ts_durations *durations);

/*
 * Returns the duration that `percent` percent of the rows do not exceed; 0 if there are no rows. 50
 * is the median. Reorders `few`.
 */
uint64_t ts_durations_at(const struct ts_durations *durations, double percent);
