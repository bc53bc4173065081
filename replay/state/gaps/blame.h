/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second pass of gaps.h: the activity of threads during gaps. gaps.c calls it. Private to
 * replay/state; one thread.
 */
#pragma once

#include "replay/state/gaps/parts.h"

/* A gap after the first pass. Each time is at least the one before it. */
struct ts_blame_gap {
	uint64_t id;
	uint64_t start_ns;
	uint64_t call_ns;     /* up to here: activity of the thread */
	uint64_t depends_ns;  /* up to here: the dependency */
	uint64_t device_ns;   /* up to here: the busy engine */
	uint64_t call_end_ns; /* up to here: the call */
	uint64_t end_ns;      /* up to here: dispatch */
	uint64_t depends_op_id, depends_event, device_op_id;
	uint32_t depends_stream, device_stream;
	uint32_t session, thread; /* thread 0: the call is unknown */
	uint32_t stream;	  /* index of its sums */
	uint32_t listed;	  /* index of its own parts; TS_PARTS_NONE: none */
	bool is_graph;		  /* the last part is GRAPH, not DISPATCH */
};

struct ts_blame {
	struct ts_blame_gap *gaps; /* in any order */
	size_t n_gaps;
	struct ts_gap_stream *streams;
	struct ts_gap *listed;
	struct ts_parts *parts; /* one per entry of `listed` */
	struct ts_parts total;
	bool is_damaged;
};

/*
 * Fills `parts`, `total` and the causes of the streams, and marks gaps in which kernel events were
 * lost. `code` and errors are those of ts_gaps_read().
 */
int ts_blame_run(struct ts_blame *blame, struct ts_sbt_reader *reader, uint32_t session,
		 const struct ts_gaps_code *code);
