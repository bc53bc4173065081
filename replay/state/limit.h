/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits on the contents of a trace, for functions that keep an entry in memory for each stream,
 * thread or allocation. If a function meets a limit, it returns the limit's code; ts_limit_text()
 * writes the limit in words. The codes differ from those of sbt/error.h and of
 * replay/report/query.h. Thread-safe.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sbt/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_MAX_STREAMS	       (1u << 18)
#define TS_MAX_THREADS	       (1u << 18)
#define TS_MAX_LIVE	       (1u << 24)
#define TS_MAX_POOLS	       (1u << 18)
#define TS_MAX_MEMORY_GROUPS   (1u << 18)
#define TS_MAX_TIMELINE_PARTS  (1u << 24)
#define TS_MAX_EMULATED	       (1u << 25)
#define TS_MAX_GRAPH_NODES     (1u << 23)
#define TS_MAX_GRAPH_EDGES     (1u << 27)
#define TS_MAX_DIFF_NAMES      (1u << 16)
#define TS_MAX_CHECKPOINT_ROWS (1u << 20)

enum ts_limit {
	TS_E_STREAMS = 200, /* TS_MAX_STREAMS, the limit on streams of all read sessions together */
	TS_E_THREADS,	    /* TS_MAX_THREADS */
	/*
	 * TS_MAX_LIVE, the limit on each of: live allocations, pending events, pending calls,
	 * pending operations
	 */
	TS_E_LIVE,
	TS_E_POOLS,  /* TS_MAX_POOLS */
	TS_E_GROUPS, /* TS_MAX_MEMORY_GROUPS */
	/* TS_MAX_TIMELINE_PARTS: number of streams times number of parts of a timeline */
	TS_E_PARTS,
	TS_E_EMULATED,	   /* TS_MAX_EMULATED */
	TS_E_GRAPH_NODES,  /* TS_MAX_GRAPH_NODES */
	TS_E_GRAPH_EDGES,  /* TS_MAX_GRAPH_EDGES */
	TS_E_DIFF_NAMES,   /* TS_MAX_DIFF_NAMES */
	TS_E_LIMIT_UNKNOWN /* first number that is no limit */
};

#define TS_LIMIT_TEXT_BYTES 320u

/*
 * Writes the part of a message that follows the trace's name: "holds more than 262,144 streams ...;
 * `tsctl cut` ...". `r` is a code from above, or TS_SBT_E_LIMIT with its details in `error` (NULL:
 * none). Returns false and writes nothing for any other `r`.
 */
bool ts_limit_text(int r, const struct ts_sbt_error *error, char ret_text[TS_LIMIT_TEXT_BYTES]);

#ifdef __cplusplus
}
#endif
