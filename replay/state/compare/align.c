/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aligns two sequences: see align.h. diff.c calls this file. Runs of one program differ little and
 * rarely, so the search starts at the point of difference and tries the nearest pairs first. The
 * cost is quadratic in the distance between this point and the pair found, so align.h limits the
 * distance.
 */
#include "replay/state/compare/align.h"

#include <stdbool.h>

struct sides {
	const uint32_t *a, *b;
	size_t n_a, n_b;
	uint64_t *budget;
};

/*
 * True if the next n_wanted names agree. If both sequences end before that, true if all remaining
 * names agree.
 */
static bool agree(const struct sides *sides, size_t i, size_t j, unsigned n_wanted)
{
	for (unsigned n = 0; n < n_wanted; n++, i++, j++) {
		if (i == sides->n_a || j == sides->n_b)
			return i == sides->n_a && j == sides->n_b;
		if (sides->a[i] != sides->b[j])
			return false;
	}
	return true;
}

/*
 * Finds the nearest place where the sequences agree again. The place is *ret_i names ahead in the
 * first sequence and *ret_j names ahead in the second. Returns false if there is no such place
 * within reach.
 */
static bool find(const struct sides *sides, size_t i, size_t j, size_t *ret_i, size_t *ret_j)
{
	size_t left_a = sides->n_a - i, left_b = sides->n_b - j;

	for (size_t distance = 1; distance <= TS_ALIGN_REACH && distance <= left_a + left_b;
	     distance++) {
		size_t first = distance > left_b ? distance - left_b : 0;
		size_t last = distance < left_a ? distance : left_a;

		if (*sides->budget < last - first + 1) {
			*sides->budget = 0;
			return false;
		}
		*sides->budget -= last - first + 1;
		for (size_t x = first; x <= last; x++)
			if (agree(sides, i + x, j + distance - x, TS_ALIGN_RUN)) {
				*ret_i = x;
				*ret_j = distance - x;
				return true;
			}
		if (distance == 2 && left_a && left_b && agree(sides, i + 1, j + 1, 1)) {
			*ret_i = *ret_j = 1;
			return true;
		}
	}
	/* Few names are left in both sequences, and none of them agree. */
	*ret_i = left_a;
	*ret_j = left_b;
	return left_a + left_b <= TS_ALIGN_REACH;
}

void ts_align(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b, uint64_t *budget,
	      ts_align_fn *report, void *data)
{
	const struct sides sides = {a, b, n_a, n_b, budget};
	size_t i = 0, j = 0;

	while (i < n_a || j < n_b) {
		size_t more_a, more_b;

		if (i < n_a && j < n_b && a[i] == b[j]) {
			report(data, TS_ALIGN_PAIR, i++, 1, j++, 1);
			continue;
		}
		if (!find(&sides, i, j, &more_a, &more_b)) {
			report(data, TS_ALIGN_GIVEN_UP, i, n_a - i, j, n_b - j);
			return;
		}
		report(data, TS_ALIGN_ALONE, i, more_a, j, more_b);
		i += more_a;
		j += more_b;
	}
}
