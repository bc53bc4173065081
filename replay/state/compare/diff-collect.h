/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the runs of one side of a comparison (diff.h). Two sides can be read in two threads.
 * Private to compare/.
 */
#pragma once

#include "replay/state/compare/diff-collection.h"
#include "replay/state/segments/segments.h"

/*
 * Reads the runs of a side, long ones in segments. `sizes`: for tests, rows of a segment and of its
 * warm-up; NULL: the default ones. Returns the errors of ts_diff_read(); *ret_run is the run that
 * failed.
 */
int ts_diff_collect(const struct ts_diff_runs *runs, const struct ts_segments_options *sizes,
		    struct ts_diff_collection *collection, size_t *ret_run);
