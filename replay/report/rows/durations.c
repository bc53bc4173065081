/* SPDX-License-Identifier: Apache-2.0 */
/* A histogram of durations by their highest nine bits. aggregate.c calls this file. */
#include "replay/report/rows/durations.h"

#include "proto/abi/base.h"

#include <math.h>

#define PARTS 256u

int ts_durations_add(struct ts_durations *durations, uint64_t ns)
{
	unsigned int power = ns < PARTS ? 0 : 56u - (unsigned int)__builtin_clzll(ns);
	uint64_t part = power ? (ns >> (power - 1)) - PARTS : ns;
	uint64_t **counts = &durations->of[power];

	if (!*counts)
		*counts = calloc(PARTS, sizeof(**counts));
	if (!*counts)
		return -ENOMEM;
	(*counts)[part]++;
	durations->n++;
	return 0;
}

void ts_durations_deinit(struct ts_durations *durations)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(durations->of); i++)
		free(durations->of[i]);
	*durations = (struct ts_durations){0};
}

uint64_t ts_durations_at(const struct ts_durations *durations, double percent)
{
	uint64_t rank = (uint64_t)ceil(percent / 100 * (double)durations->n);

	rank = rank ? rank : 1;
	for (unsigned int power = 0; power < TS_ARRAY_LEN(durations->of); power++) {
		for (uint64_t part = 0; durations->of[power] && part < PARTS; part++) {
			uint64_t count = durations->of[power][part];

			if (rank > count) {
				rank -= count;
				continue;
			}
			/* The middle of the part's range. */
			return power ? ((PARTS + part) << (power - 1)) +
					       (((UINT64_C(1) << (power - 1)) - 1) >> 1)
				     : part;
		}
	}
	return 0;
}
