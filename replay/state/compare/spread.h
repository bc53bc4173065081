/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares one figure of each run (for example its median) between the runs of two builds, called
 * sides. Private to replay/state; pure functions.
 *
 * Values of one run are not independent: a slow machine makes the whole run slower. So runs are
 * compared with runs. For example, 3, 4, 5 against 8, 9, 10 moved: the distance between the sides
 * is 3, and the range within a side is 2. 3, 4, 5 against 6, 7, 8 did not move.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Minimum number of runs per side for comparing host times. With fewer runs, the figures of
 * identical builds are too often separated by chance.
 */
#define TS_SPREAD_MIN_RUNS 5u
/* With fewer runs, a host time must change by this factor. */
#define TS_SPREAD_HOST_FACTOR 10

/* The range of a figure over the runs of a side. */
struct ts_spread {
	uint64_t n_runs;
	double least, most;
};

void ts_spread_add(struct ts_spread *spread, double value);

/*
 * Returns 1 if the second side is greater, -1 if it is less. Returns 0 if the distance between the
 * sides is less than the range of one side, or if a side has no runs.
 */
int ts_spread_moved(const struct ts_spread *before, const struct ts_spread *after);

/* As ts_spread_moved(), for a host time: with few runs it must change by TS_SPREAD_HOST_FACTOR. */
int ts_spread_host_moved(const struct ts_spread *before, const struct ts_spread *after);
