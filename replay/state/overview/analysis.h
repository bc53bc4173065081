/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the parts of a program that are worth changing: the kernels with the most time, and
 * findings with count, time and stacks.
 *
 *   TINY_COPY       a copy between host and device of less than TS_ANALYSIS_TINY_BYTES: the call
 *                   costs more than the copy
 *   PAGEABLE_COPY   a copy from or to pageable memory: it uses a driver buffer, and its call waits
 *   REDUNDANT_SYNC  a call that waits for a device although all requested work was over; it returns
 *                   within TS_ANALYSIS_REDUNDANT_NS; a longer wait had a reason. If any work of the
 *                   session was still to run, there is no finding, even if the call waits for
 *                   other work
 *   LEGACY_STREAM   an operation that waited by the rule of the legacy default stream
 *   SERIALISED      an operation that was ready while its device worked in another stream, and that
 *                   began only after that. The reason may be a rule, an event or the engine. The
 *                   finding matters if a device never works in two streams at once
 *
 * The module reads the rows once. Memory is bounded by names and stacks; beyond
 * TS_ANALYSIS_MAX_GROUPS of them only the sums count. Not thread-safe; prints nothing.
 */
#pragma once

#include "replay/state/state-machine.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_ANALYSIS_TINY_BYTES	 UINT64_C(4096)
#define TS_ANALYSIS_REDUNDANT_NS UINT64_C(20000)
#define TS_ANALYSIS_MAX_GROUPS	 (1u << 20)

enum ts_analysis_finding {
	TS_ANALYSIS_TINY_COPY,
	TS_ANALYSIS_PAGEABLE_COPY,
	TS_ANALYSIS_REDUNDANT_SYNC,
	TS_ANALYSIS_LEGACY_STREAM,
	TS_ANALYSIS_SERIALISED,
	TS_ANALYSIS_FINDINGS
};

/* Returns the finding's name, such as "tiny_copy"; NULL for other numbers. */
const char *ts_analysis_finding_name(uint32_t finding);

struct ts_analysis_sum {
	uint64_t count, bytes;
	/* sum of the operations' durations; for REDUNDANT_SYNC and SERIALISED, of the waits */
	uint64_t ns;
};

struct ts_analysis_group {
	uint32_t finding; /* TS_ANALYSIS_FINDINGS: a kernel */
	uint32_t session;
	uint32_t stack;	  /* stack of the calls, 0: unknown; for a kernel: string id of its name */
	uint32_t device;  /* SERIALISED only; else 0 */
	uint64_t time_ns; /* of the first one */
	struct ts_analysis_sum sum;
};

struct ts_analysis {
	struct ts_analysis_sum findings[TS_ANALYSIS_FINDINGS];
	struct ts_analysis_sum kernels, copies, syncs;
	struct ts_analysis_group *groups; /* by finding, longest first; kernels last */
	size_t n_groups;
	bool is_damaged; /* damaged blocks were left out */
};

/*
 * Sums the kernels and collects the findings of a trace. Returns 0, -ENOMEM, or the errors of
 * sbt/reader.h. The caller frees *ret_analysis.
 */
int ts_analysis_read(struct ts_sbt_reader *reader, uint32_t session,
		     struct ts_analysis **ret_analysis);
void ts_analysis_free(struct ts_analysis *analysis); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_analysis *, ts_analysis_freep, ts_analysis_free)

#ifdef __cplusplus
}
#endif
