/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second pass of gaps.h: the activity of threads during gaps. gaps.c calls it. Private to
 * replay/state. Not thread-safe.
 */
#pragma once

#include "replay/state/gaps/parts.h"

/* A gap after the first pass of gaps.c. The times below do not decrease from field to field. */
struct ts_blame_gap {
	uint64_t id;
	uint64_t start_ns;
	uint64_t call_ns;     /* [start_ns, call_ns): activity of the thread */
	uint64_t depends_ns;  /* [call_ns, depends_ns): the dependency */
	uint64_t device_ns;   /* [depends_ns, device_ns): the busy engine */
	uint64_t call_end_ns; /* [device_ns, call_end_ns): the call */
	uint64_t end_ns;      /* [call_end_ns, end_ns): dispatch */
	uint64_t depends_op_id, depends_event, device_op_id;
	uint32_t depends_stream, device_stream;
	uint32_t session, thread; /* thread 0: the call is unknown */
	uint32_t stream;	  /* index of its sums */
	/* index of the gap's own sums in `parts`; TS_PARTS_NONE: the gap is not listed */
	uint32_t listed;
	bool is_graph; /* the time after call_end_ns counts as GRAPH, not as DISPATCH */
};

struct ts_blame {
	struct ts_blame_gap *gaps; /* in any order */
	size_t n_gaps;
	struct ts_gap_stream *streams;
	size_t n_streams;
	struct ts_gap *listed;
	struct ts_parts *parts; /* one per entry of `listed` */
	size_t n_listed;
	struct ts_parts total;
	bool is_damaged;
};

/*
 * Fills `parts`, `total` and the causes of the streams, and marks gaps in which kernel events were
 * lost. `code` and errors are those of ts_gaps_read().
 */
int ts_blame_run(struct ts_blame *blame, struct ts_sbt_reader *reader, uint32_t session,
		 const struct ts_gaps_code *code);
