/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two traces of one program: what takes longer, by name with a test of significance, and operation by operation.
 *
 * By name: kernels by their name, copies and sets by kind and size class, calls by function. The durations of one name in both
 * traces are compared by the Mann-Whitney test (two-sided, normal approximation with ties), which asks nothing of their
 * distribution; p is corrected for how many names are tested (Holm). A name is slower or faster where that p is below `alpha` and
 * its median has moved by `least` or more. Of a name with more than TS_DIFF_MAX_SAMPLES durations in a trace a random
 * sample is tested (the same one each time); counts and sums are of all.
 *
 * What the test cannot know: that durations of one run are independent of each other. A GPU whose clock was lower in one of
 * the runs is slower there, significantly.
 *
 * Operation by operation: the n-th session with GPU work of one trace against the n-th of the other, in it the streams that did
 * the most alike (counterparts.h), in them operations of one name in their order. Where the two differ, the next place is looked for at which some in a row agree again;
 * what lies between is in one trace alone.
 *
 * Reads each trace once. Memory is bounded by the names, and by TS_DIFF_MAX_OPS operations a trace: later ones are not aligned.
 * One thread at a time; nothing is printed.
 */
#pragma once

#include "replay/state/doubts.h"
#include "replay/state/limit.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_DIFF_MAX_SAMPLES 65536u
#define TS_DIFF_MIN_SAMPLES 5u /* of fewer in either trace nothing is said */
#define TS_DIFF_MAX_NAMES   TS_MAX_DIFF_NAMES
#define TS_DIFF_MAX_OPS	    (1u << 22)

enum ts_diff_verdict {
	TS_DIFF_SAME = 0, /* no difference can be proven */
	TS_DIFF_SLOWER = 1,
	TS_DIFF_FASTER = 2,
	TS_DIFF_GONE = 3, /* in the first trace alone */
	TS_DIFF_NEW = 4,  /* in the second */
	TS_DIFF_FEW = 5,
	TS_DIFF_VERDICTS
};

/* "slower"; NULL for another number. */
const char *ts_diff_verdict_name(unsigned verdict);

struct ts_diff_side {
	uint64_t count;
	uint64_t total_ns;
	uint64_t min_ns, median_ns, max_ns; /* 0 with a count of 0 */
};

struct ts_diff_name {
	uint32_t type;	     /* TS_ROW_KERNEL, _MEMCPY, _MEMSET or _API */
	uint32_t kind;	     /* copy_kind; of a call its domain << 16 | cbid */
	uint32_t size_class; /* copies and sets: 1 + log2 of their bytes, rounded down; 0: none */
	uint32_t verdict;    /* enum ts_diff_verdict */
	const char *name;    /* kernels, mangled; else NULL */
	struct ts_diff_side sides[2];
	double p; /* corrected; 1 where nothing was tested */
	double slower_share; /* of all pairs of one from each: those in which the second trace's is longer, ties by half */
};

/* An operation and its counterpart. */
struct ts_diff_op {
	uint32_t name; /* index in `names`; of the first trace where they differ */
	uint32_t stream;
	uint32_t session;
	uint64_t op_id[2];	 /* 0: has no counterpart */
	uint64_t duration_ns[2]; /* of the operation */
	uint64_t wait_ns[2];	 /* since the stream's operation before was over */
};

struct ts_diff_total {
	uint64_t n_ops, ops_ns; /* of devices */
	uint64_t span_ns;	/* from the first operation's start to the last one's end */
	uint64_t n_alone;	/* operations without a counterpart */
	uint64_t
		n_not_aligned; /* beyond TS_DIFF_MAX_OPS, or where looking for agreement took too long */
	bool is_damaged;       /* blocks were left out: what they held is missing here */
	struct ts_doubts doubts; /* of its operations, and of the order of each stream alone */
};

struct ts_diff {
	struct ts_diff_name *names; /* those whose total changed the most first */
	size_t n_names;
	struct ts_diff_total totals[2];
	uint64_t n_aligned; /* pairs */
	struct ts_diff_op *
		slower; /* pairs that took longer, waiting included, in the second trace; the most first */
	size_t n_slower;
	struct ts_diff_op first; /* where the two first differ; op_id 0 on a side that has ended */
	bool has_first;
};

struct ts_diff_options {
	uint32_t sessions[2]; /* 0: all */
	double alpha;	      /* 0.01 */
	double least;	      /* 0.01: 1 % */
	size_t max_slower;    /* that are told one by one */
};

/* Errors: -ENOMEM, those of sbt/reader.h; TS_E_DIFF_NAMES, TS_E_STREAMS. *ret_side: whose they are. */
int ts_diff_read(struct ts_sbt_reader *const readers[2], const struct ts_diff_options *options,
		 struct ts_diff **ret_diff, unsigned *ret_side);
void ts_diff_free(struct ts_diff *diff); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_diff *, ts_diff_freep, ts_diff_free)

#ifdef __cplusplus
}
#endif
