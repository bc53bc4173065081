/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which stream of a trace is which of another trace of the same program. Within replay/state.
 *
 * Handles, the vendor's numbers and the times at which devices began differ from run to run. What a stream did does not: the
 * two that have the most operations of equal names in common belong together, then of those left the next two. Of equal
 * ones the n-th that was given work is the other's n-th: by operation ids, which count calls, not starts. Streams that share
 * nothing are put together likewise. In a session with so many streams and names that comparing all would take more than
 * TS_COUNTERPARTS_STEPS, the order alone decides.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TS_COUNTERPARTS_NONE  UINT32_MAX
#define TS_COUNTERPARTS_STEPS (UINT64_C(1) << 26)

struct ts_counterparts_stream {
	uint32_t session;     /* 0, 1, ...: counterparts are of the session of the same number */
	uint64_t first_op_id; /* the least of its operations' */
	const uint32_t *names;
	size_t n;
};

/* For each of `a` the index of its counterpart in `b`, or TS_COUNTERPARTS_NONE; no two have the same. -ENOMEM. */
int ts_counterparts(const struct ts_counterparts_stream *a, size_t n_a,
		    const struct ts_counterparts_stream *b, size_t n_b, uint32_t *ret_of_a);
