/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a run for a comparison in segments of time, in threads. Private to compare/.
 */
#pragma once

#include "replay/state/compare/diff-collection.h"
#include "replay/state/segments/segments.h"

/*
 * Adds a run to the collection, with the results of one thread. `sizes` is as
 * in ts_diff_collect(). Returns 0 or TS_SEGMENTS_NONE; then *ret_is_changed is true if the
 * collection is not valid any more.
 */
int ts_diff_collect_segments(struct ts_diff_collection *collection, struct ts_sbt_reader *reader,
			     const struct ts_segments_options *sizes, bool *ret_is_changed);
