/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A histogram of durations by their highest nine bits. aggregate.c and sumpart.c call this file.
 * Most names have few rows, and a table of counts takes more memory than their durations.
 */
#include "replay/report/rows/durations.h"

#include "proto/abi/grow.h"

#include <math.h>

#define POWERS	57u
#define PARTS	256u
#define MAX_FEW 128u

static unsigned int power_of(uint64_t ns)
{
	return ns < PARTS ? 0 : 56u - (unsigned int)__builtin_clzll(ns);
}

static uint64_t part_of(uint64_t ns, unsigned int power)
{
	return power ? (ns >> (power - 1)) - PARTS : ns;
}

/* Returns the middle of a part's range. */
static uint64_t middle_of(unsigned int power, uint64_t part)
{
	return power ? ((PARTS + part) << (power - 1)) + (((UINT64_C(1) << (power - 1)) - 1) >> 1)
		     : part;
}

/* Allocates the counts of a power, which has none. */
static int allocate(struct ts_durations *durations, unsigned int power)
{
	if (!durations->of) {
		durations->of = calloc(POWERS, sizeof(*durations->of));
		if (!durations->of)
			return -ENOMEM;
		durations->n_bytes += POWERS * sizeof(*durations->of);
	}
	durations->of[power] = calloc(PARTS, sizeof(**durations->of));
	if (!durations->of[power])
		return -ENOMEM;
	durations->n_bytes += PARTS * sizeof(**durations->of);
	return 0;
}

/* Adds to the counts, `n` times. */
static int count(struct ts_durations *durations, unsigned int power, uint64_t part, uint64_t n)
{
	if ((!durations->of || !durations->of[power]) && allocate(durations, power))
		return -ENOMEM;
	durations->of[power][part] += n;
	return 0;
}

/* Moves the durations from `few` to the counts. */
static int begin_counts(struct ts_durations *durations)
{
	int r = 0;

	for (; !r && durations->n_few; durations->n_few -= !r) {
		uint64_t ns = durations->few[durations->n_few - 1];

		r = count(durations, power_of(ns), part_of(ns, power_of(ns)), 1);
	}
	if (r)
		return r;
	free(durations->few);
	durations->few = NULL;
	durations->n_bytes -= durations->n_few_allocated * sizeof(*durations->few);
	durations->n_few_allocated = 0;
	return 0;
}

/* Adds to the first durations. */
static int add_few(struct ts_durations *durations, uint64_t ns)
{
	const uint32_t n_before = durations->n_few_allocated;

	if (TS_GROW(durations->few, durations->n_few_allocated, durations->n_few + 1))
		return -ENOMEM;
	durations->n_bytes += (durations->n_few_allocated - n_before) * sizeof(*durations->few);
	durations->few[durations->n_few++] = ns;
	durations->n++;
	return 0;
}

int ts_durations_add(struct ts_durations *durations, uint64_t ns)
{
	unsigned int power = power_of(ns);
	int r = 0;

	if (!durations->of && durations->n_few < MAX_FEW)
		return add_few(durations, ns);
	if (durations->n_few)
		r = begin_counts(durations);
	r = r ? r : count(durations, power, part_of(ns, power), 1);
	durations->n += !r;
	return r;
}

int ts_durations_merge(struct ts_durations *durations, const struct ts_durations *more)
{
	int r = 0;

	for (uint32_t i = 0; !r && i < more->n_few; i++)
		r = ts_durations_add(durations, more->few[i]);
	if (!r && more->of && durations->n_few)
		r = begin_counts(durations);
	for (unsigned int power = 0; more->of && power < POWERS; power++) {
		for (uint64_t part = 0; !r && more->of[power] && part < PARTS; part++) {
			uint64_t n = more->of[power][part];

			r = n ? count(durations, power, part, n) : 0;
			durations->n += r ? 0 : n;
		}
	}
	return r;
}

void ts_durations_deinit(struct ts_durations *durations)
{
	for (size_t i = 0; durations->of && i < POWERS; i++)
		free(durations->of[i]);
	free(durations->of);
	free(durations->few);
	*durations = (struct ts_durations){0};
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

uint64_t ts_durations_at(const struct ts_durations *durations, double percent)
{
	uint64_t rank = (uint64_t)ceil(percent / 100 * (double)durations->n), ns;

	rank = rank ? rank : 1;
	if (durations->n_few) {
		qsort(durations->few, durations->n_few, sizeof(*durations->few), compare);
		ns = durations->few[(rank < durations->n_few ? rank : durations->n_few) - 1];
		return middle_of(power_of(ns), part_of(ns, power_of(ns)));
	}
	for (unsigned int power = 0; durations->of && power < POWERS; power++) {
		for (uint64_t part = 0; durations->of[power] && part < PARTS; part++) {
			if (rank <= durations->of[power][part])
				return middle_of(power, part);
			rank -= durations->of[power][part];
		}
	}
	return 0;
}
