/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads did while streams stood still: the second half of gaps.h, which goes through what was recorded of threads.
 * Within replay/state; one thread.
 */
#pragma once

#include "replay/state/gaps/parts.h"

/* A gap as the first pass leaves it. Of the times each is at least the one before. */
struct ts_blame_gap {
	uint64_t id;
	uint64_t start_ns;
	uint64_t call_ns;     /* up to then: what the thread did */
	uint64_t depends_ns;  /* then: what it depended on */
	uint64_t device_ns;   /* then: the engine was taken */
	uint64_t call_end_ns; /* then: the call */
	uint64_t end_ns;      /* then: dispatch */
	uint64_t depends_op_id, depends_event, device_op_id;
	uint32_t depends_stream, device_stream;
	uint32_t session, thread; /* thread 0: nothing is known of the call */
	uint32_t stream;	  /* index of its sums */
	uint32_t listed;	  /* index of its own parts; TS_PARTS_NONE: it has none */
	bool is_graph;		  /* what comes last is the graph's */
};

struct ts_blame {
	struct ts_blame_gap *gaps; /* in any order */
	size_t n_gaps;
	struct ts_gap_stream *streams;
	struct ts_gap *listed;
	struct ts_parts *parts; /* of each of `listed` */
	struct ts_parts total;
	bool is_damaged;
};

/*
 * Fills the streams' causes, `parts` and `total`, and marks gaps in which kernel events were lost. `code` as in the options of
 * ts_gaps_read(), and its errors.
 */
int ts_blame_run(struct ts_blame *blame, struct ts_sbt_reader *reader, uint32_t session,
		 const struct ts_gaps_code *code);
