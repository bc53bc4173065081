/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What in a trace is worth changing: the names that took the most of the GPU's time, and findings, each with how often, how long and
 * from which stacks.
 *
 *   TINY_COPY       a copy between host and device of less than TS_ANALYSIS_TINY_BYTES: what it costs is the call
 *   PAGEABLE_COPY   a copy from or to pageable memory: through a buffer of the driver's, and its call waits
 *   REDUNDANT_SYNC  a call that waits for a device when all that had been asked for was over, and so returned within
 *                   TS_ANALYSIS_REDUNDANT_NS: what took longer did wait for something. Where something else of the session was
 *                   still to run nothing is said, though the call may not have waited for that
 *   LEGACY_STREAM   an operation in the legacy default stream that waited for, or held up, another stream by its rule
 *   SERIALISED      an operation that could have begun while its device was at work in another stream, and began only when that was
 *                   over: what made it wait, a rule, an event or the engine, is not asked. Worth a word where a device is never
 *                   at work in two streams at once
 *
 * One pass; memory follows from names and stacks, of which at most TS_ANALYSIS_MAX_GROUPS are told apart: the rest counts in sums.
 * One thread; nothing is printed.
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

/* "tiny_copy"; NULL for other numbers. */
const char *ts_analysis_finding_name(uint32_t finding);

struct ts_analysis_sum {
	uint64_t count, bytes;
	uint64_t ns; /* of the operations; of REDUNDANT_SYNC and SERIALISED of the waits */
};

struct ts_analysis_group {
	uint32_t finding; /* TS_ANALYSIS_FINDINGS: a kernel */
	uint32_t session;
	uint32_t stack;	  /* of the calls, 0: not known; of a kernel its name, a string */
	uint32_t device;  /* SERIALISED alone; else 0 */
	uint64_t time_ns; /* of the first */
	struct ts_analysis_sum sum;
};

struct ts_analysis {
	struct ts_analysis_sum findings[TS_ANALYSIS_FINDINGS];
	struct ts_analysis_sum kernels, copies, syncs;
	struct ts_analysis_group *groups; /* by finding, the longest first; kernels come last */
	size_t n_groups;
	bool is_damaged; /* blocks were left out: what they held is missing here */
};

/* Errors: -ENOMEM and those of sbt/reader.h. */
int ts_analysis_read(struct ts_sbt_reader *reader, uint32_t session,
		     struct ts_analysis **ret_analysis);
void ts_analysis_free(struct ts_analysis *analysis); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_analysis *, ts_analysis_freep, ts_analysis_free)

#ifdef __cplusplus
}
#endif
