/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the ranges of a figure over runs, for diff.c: see spread.h. The thresholds come from a
 * measurement on a busy machine with identical runs. With three runs per side, the host times of
 * some name were separated by chance in 4 to 9 of 100 comparisons. With five runs per side this
 * happened in 2 of 1000 comparisons, with eight runs in none of 4000. Single runs differed by up to
 * a factor of 6.
 */
#include "replay/state/compare/spread.h"

void ts_spread_add(struct ts_spread *spread, double value)
{
	spread->least = !spread->n_runs || value < spread->least ? value : spread->least;
	spread->most = !spread->n_runs || value > spread->most ? value : spread->most;
	spread->n_runs++;
}

int ts_spread_moved(const struct ts_spread *before, const struct ts_spread *after)
{
	double within = before->most - before->least, other = after->most - after->least;

	if (!before->n_runs || !after->n_runs)
		return 0;
	within = other > within ? other : within;
	if (after->least > before->most && after->least - before->most >= within)
		return 1;
	return after->most < before->least && before->least - after->most >= within ? -1 : 0;
}

int ts_spread_host_moved(const struct ts_spread *before, const struct ts_spread *after)
{
	int moved = ts_spread_moved(before, after);

	if (before->n_runs >= TS_SPREAD_MIN_RUNS && after->n_runs >= TS_SPREAD_MIN_RUNS)
		return moved;
	if (moved > 0 && after->least < TS_SPREAD_HOST_FACTOR * before->most)
		return 0;
	if (moved < 0 && before->least < TS_SPREAD_HOST_FACTOR * after->most)
		return 0;
	return moved;
}
