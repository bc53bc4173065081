/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Mann-Whitney test by the normal approximation, for diff.c. If both samples have five or more
 * values, the error of p is a few percent. Equal values share their ranks, and the variance
 * accounts for them.
 */
#include "replay/state/compare/ranks.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Counts the values from i on that equal `value`. */
static size_t run(const uint64_t *values, size_t n, size_t i, uint64_t value)
{
	size_t from = i;

	while (i < n && values[i] == value)
		i++;
	return i - from;
}

double ts_ranks_test(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b,
		     double *ret_share)
{
	double pairs = (double)n_a * (double)n_b, n = (double)n_a + (double)n_b;
	double greater = 0, ties = 0, variance, distance;
	size_t i = 0, j = 0;

	/*
	 * For each distinct value: its b's are greater than all earlier a's, and equal to the a's
	 * of this value.
	 */
	while (i < n_a || j < n_b) {
		uint64_t value = i == n_a ? b[j] : j == n_b || a[i] < b[j] ? a[i] : b[j];
		size_t of_a = run(a, n_a, i, value), of_b = run(b, n_b, j, value);
		double together = (double)(of_a + of_b);

		greater += (double)of_b * ((double)i + (double)of_a / 2);
		ties += together * together * together - together;
		i += of_a;
		j += of_b;
	}
	*ret_share = greater / pairs;
	variance = pairs / 12 * (n + 1 - ties / (n * (n - 1)));
	distance = fabs(greater - pairs / 2) - 0.5;
	if (!(variance > 0) || distance <= 0)
		return 1;
	return erfc(distance / sqrt(2 * variance));
}

struct ranked {
	double p;
	size_t i;
};

static int compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return x->p < y->p ? -1 : x->p > y->p;
}

int ts_ranks_correct(double *p, size_t n)
{
	struct ranked *ranked = calloc(n + 1, sizeof(*ranked));
	double least = 0;

	if (!ranked)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		ranked[i] = (struct ranked){p[i], i};
	qsort(ranked, n, sizeof(*ranked), compare);
	for (size_t i = 0; i < n; i++) {
		double corrected = ranked[i].p * (double)(n - i);

		least = corrected > least ? corrected : least;
		p[ranked[i].i] = least < 1 ? least : 1;
	}
	free(ranked);
	return 0;
}
