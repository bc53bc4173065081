/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligns two sequences of names: pairs that agree, and names in one sequence only. Private to
 * replay/state.
 *
 * If the sequences differ, the search finds the nearest place where TS_ALIGN_RUN names in a row
 * agree again. It skips at most TS_ALIGN_REACH names in both sequences together.
 *
 * A replaced name is an exception. Example: a x b and a y b, and no run of TS_ALIGN_RUN equal names
 * begins within 2 names. Then x replaces y, because the one name after each of them (b) agrees.
 *
 * If no run is found and at most TS_ALIGN_REACH names remain, they are names in one sequence only.
 * If more remain, or after *budget comparisons, the remaining names are not aligned.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TS_ALIGN_RUN   4u
#define TS_ALIGN_REACH 4096u

enum ts_align_step {
	TS_ALIGN_PAIR, /* a[i] and b[j] agree */
	/* a[i .. i + n_a) and b[j .. j + n_b) have no counterpart. One of the two may be empty. */
	TS_ALIGN_ALONE,
	TS_ALIGN_GIVEN_UP, /* the remaining names of both sequences were not aligned */
};

/* Called for each step, in the order of both sequences. */
typedef void ts_align_fn(void *data, enum ts_align_step step, size_t i, size_t n_a, size_t j,
			 size_t n_b);

void ts_align(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b, uint64_t *budget,
	      ts_align_fn *report, void *data);
