/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the application's ranges that launched GPU work. For each range and stream it computes the
 * time from the first operation to the last one. The caller adds rows in order, calls before their
 * operations. Ranges that cross other ranges of their thread are ignored. An operation belongs to
 * its call, and thus to all ranges that were open in that thread.
 *
 * Memory depends on the number of ranges, at most TS_ANNOTATED_MAX, with at most as many pairs of
 * range and stream. For calls it depends on the distance between a call and its operations: only
 * the last TS_ANNOTATED_CALLS calls are kept. Not thread-safe.
 */
#pragma once

#include "replay/state/state-map.h"
#include "tools/export/hashtable.h"

#define TS_ANNOTATED_MAX   (1u << 20)
#define TS_ANNOTATED_CALLS (1u << 18)

struct ts_annotated_range {
	uint64_t end_ns;
	uint32_t name, domain; /* strings */
	uint32_t parent;       /* index + 1 of the enclosing range; 0: none */
};

struct ts_annotated_span {
	uint32_t session, device, stream, range; /* range: index */
	/* end of key */
	uint64_t start_ns, end_ns;
};

/* The caller zeroes the struct, then calls ts_annotated_init(). */
struct ts_annotated {
	struct ts_annotated_range *ranges;
	size_t n_ranges, n_ranges_allocated;
	struct ts_hashtable spans;	 /* of struct ts_annotated_span */
	struct ts_state_map innermost;	 /* by thread: index + 1 of the range that began last */
	struct ts_state_map range_by_op; /* index + 1 */
	uint64_t *ops;			 /* a ring: session and operation of the last calls */
	uint32_t *sessions;
	uint64_t n_ops;
};

void ts_annotated_init(struct ts_annotated *annotated);
void ts_annotated_deinit(struct ts_annotated *annotated);
/* Each returns 0 or -ENOMEM. */
int ts_annotated_range(struct ts_annotated *annotated, uint32_t session, uint32_t thread,
		       uint64_t start_ns, uint64_t end_ns, uint32_t name, uint32_t domain);
int ts_annotated_call(struct ts_annotated *annotated, uint32_t session, uint32_t thread,
		      uint64_t start_ns, uint64_t op_id);
int ts_annotated_op(struct ts_annotated *annotated, uint32_t session, uint64_t op_id,
		    uint32_t device, uint32_t stream, uint64_t start_ns, uint64_t end_ns);
/*
 * Returns all spans at the end, sorted by session, device, stream and start, the longest first. The
 * caller frees the array. NULL: no memory.
 */
struct ts_annotated_span *ts_annotated_sort(struct ts_annotated *annotated, size_t *ret_n);
