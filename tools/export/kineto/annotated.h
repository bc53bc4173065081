/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the application's ranges what ran on a GPU was launched in: for each range and stream the time from the first of
 * its operations to the last. Rows are fed as they come, calls before what they caused. Ranges that nest in their thread
 * alone; an operation is its call's, and so in all ranges that were open in that thread.
 *
 * Memory follows from the number of ranges, of which at most TS_ANNOTATED_MAX are followed, with as many streams between them; for calls
 * from how many lie between a call and what it caused: more than TS_ANNOTATED_CALLS ago is forgotten. One thread.
 */
#pragma once

#include "replay/state/state-map.h"
#include "tools/export/hashtable.h"

#define TS_ANNOTATED_MAX   (1u << 20)
#define TS_ANNOTATED_CALLS (1u << 18)

struct ts_annotated_range {
	uint64_t end_ns;
	uint32_t name, domain; /* strings */
	uint32_t parent;       /* index + 1 of the one around it; 0: none */
};

struct ts_annotated_span {
	uint32_t session, device, stream, range; /* range: index */
	/* the key ends here */
	uint64_t start_ns, end_ns;
};

/* Zeroed, then initialised. */
struct ts_annotated {
	struct ts_annotated_range *ranges;
	size_t n_ranges, n_ranges_allocated;
	struct ts_hashtable spans;     /* of struct ts_annotated_span */
	struct ts_state_map innermost; /* by thread: index + 1 of the range that began last there */
	struct ts_state_map range_by_op; /* index + 1 */
	uint64_t *ops;			 /* a ring: session and operation of the last calls */
	uint32_t *sessions;
	uint64_t n_ops;
};

void ts_annotated_init(struct ts_annotated *annotated);
void ts_annotated_deinit(struct ts_annotated *annotated);
/* All: 0 or -ENOMEM. */
int ts_annotated_range(struct ts_annotated *annotated, uint32_t session, uint32_t thread,
		       uint64_t start_ns, uint64_t end_ns, uint32_t name, uint32_t domain);
int ts_annotated_call(struct ts_annotated *annotated, uint32_t session, uint32_t thread,
		      uint64_t start_ns, uint64_t op_id);
int ts_annotated_op(struct ts_annotated *annotated, uint32_t session, uint64_t op_id,
		    uint32_t device, uint32_t stream, uint64_t start_ns, uint64_t end_ns);
/* At the end: by session, device, stream, start, the longest first. */
struct ts_annotated_span *ts_annotated_sort(struct ts_annotated *annotated, size_t *ret_n);
