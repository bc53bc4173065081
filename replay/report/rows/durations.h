/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often each duration came, for medians and percentiles in bounded memory: exact below 512 ns, to 0.2 % above. One thread.
 */
#pragma once

#include <stdint.h>

/* Of each power of two, counts of 256 equal parts; of those that came. */
struct ts_durations {
	uint64_t *of[57]; /* [0]: below 256 ns; [i]: from 256 << (i - 1) on */
	uint64_t n;
};

/* Embed it, zeroed. -ENOMEM. */
int ts_durations_add(struct ts_durations *durations, uint64_t ns);
void ts_durations_deinit(struct ts_durations *durations);

/* The duration that `percent` of them do not exceed; 0 where there are none. 50 is the median. */
uint64_t ts_durations_at(const struct ts_durations *durations, double percent);
