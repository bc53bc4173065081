/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two sequences of names laid beside each other: which agree, and what is in one alone. Within replay/state.
 *
 * Where they differ, the nearest place is taken at which TS_ALIGN_RUN in a row agree again, at most TS_ALIGN_REACH away in
 * both together; sooner than one that is further than 2 away, one name is taken to be in the place of another. Without
 * either, or once *budget comparisons are spent, the rest of both is not aligned.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TS_ALIGN_RUN   4u
#define TS_ALIGN_REACH 4096u

enum ts_align_step {
	TS_ALIGN_PAIR, /* a[i] and b[j] agree */
	TS_ALIGN_ALONE, /* a[i .. i + n_a) and b[j .. j + n_b) have no counterpart; one of them may be empty */
	TS_ALIGN_GIVEN_UP, /* likewise the rest: not looked at */
};

/* Called in order of both. */
typedef void ts_align_fn(void *data, enum ts_align_step step, size_t i, size_t n_a, size_t j,
			 size_t n_b);

void ts_align(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b, uint64_t *budget,
	      ts_align_fn *report, void *data);
