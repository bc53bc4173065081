/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Divides a trace into segments of time with about equally many rows. Private to replay/state.
 */
#pragma once

#include "replay/state/segments/segments.h"

/* Absolute times, in this order; see segments.c. The first segment has 0 up to from_ns. */
struct ts_segment_plan {
	uint64_t warm_ns, floor_ns, from_ns;
	uint64_t next_warm_ns; /* warm_ns of the next segment; UINT64_MAX: there is none */
	uint64_t end_ns;       /* from_ns of the next segment; 0: there is none */
};

/*
 * Makes the plan for n_threads threads. The caller frees *ret_plans. Returns 0, -ENOMEM, or
 * TS_SEGMENTS_NONE: the trace is short, or has several sessions.
 */
int ts_segment_plans(struct ts_sbt_reader *reader, const struct ts_segments_options *options,
		     unsigned n_threads, struct ts_segment_plan **ret_plans, size_t *ret_n);
