/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gaps of a trace that is read in segments, for tests. Private to replay/state.
 */
#pragma once

#include "replay/state/gaps/gaps.h"
#include "replay/state/segments/segments.h"

/*
 * As ts_gaps_read(), but only in segments, of these sizes (NULL: the default ones). Returns
 * TS_SEGMENTS_NONE if there is no such result.
 */
int ts_gaps_read_segments(struct ts_sbt_reader *reader, const struct ts_gaps_options *options,
			  const struct ts_segments_options *sizes, struct ts_gaps **ret_gaps);
