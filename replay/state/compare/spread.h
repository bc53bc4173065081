/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a figure that each run has one of is another in the runs of a second side. Within replay/state; pure functions.
 *
 * Values of one run are no independent ones: the whole run is slower if the machine is. So runs are compared with runs. For
 * example, 3, 4 and 5 against 8, 9 and 10 moved: 3 lie between the sides, and 2 within a side. 6, 7 and 8 would not have.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Runs a side from which on times of the host are compared: of fewer, too many sets of identical runs lie apart by chance. */
#define TS_SPREAD_MIN_RUNS 5u
/* With fewer runs a time of the host has to become that many times as long, or as short. */
#define TS_SPREAD_HOST_FACTOR 10

/* A side: what its runs have. */
struct ts_spread {
	uint64_t n_runs;
	double least, most;
};

void ts_spread_add(struct ts_spread *spread, double value);

/* 1: the second side's values are greater, -1: they are less, 0: the sides are not further apart than the runs of one of them. */
int ts_spread_moved(const struct ts_spread *before, const struct ts_spread *after);

/* As ts_spread_moved(), of a time of the host: with few runs it has to change by TS_SPREAD_HOST_FACTOR. */
int ts_spread_host_moved(const struct ts_spread *before, const struct ts_spread *after);
