/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the corresponding streams in two traces of one program. Private to replay/state.
 *
 * Handles, the vendor's stream numbers and start times differ from run to run. The work of a stream
 * does not. The pair of streams with the most operations of equal names is chosen first, then the
 * best pair of the remaining streams. If pairs are equal, the n-th stream with work corresponds to
 * the n-th of the other trace. This order is the order of the streams' first operation ids, which
 * count calls and not starts. Streams without common names are paired by the same order. If
 * comparing all pairs of a session would take more than TS_COUNTERPARTS_STEPS, the order alone
 * decides.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TS_COUNTERPARTS_NONE  UINT32_MAX
#define TS_COUNTERPARTS_STEPS (UINT64_C(1) << 26)

struct ts_counterparts_stream {
	/*
	 * 0, 1, ...: a stream pairs only with streams of the other trace's session of the same
	 * number.
	 */
	uint32_t session;
	uint64_t first_op_id; /* smallest id of its operations */
	const uint32_t *names;
	size_t n;
};

/*
 * Writes, for each stream of `a`, the index of its counterpart in `b`, or TS_COUNTERPARTS_NONE. No
 * two streams share a counterpart. Returns 0 or -ENOMEM.
 */
int ts_counterparts(const struct ts_counterparts_stream *a, size_t n_a,
		    const struct ts_counterparts_stream *b, size_t n_b, uint32_t *ret_of_a);
