/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces of two builds of one program, one run or several of each: what takes longer, by name with a test of significance, what is
 * done more or less often or launched otherwise, and, for the first runs, operation by operation.
 *
 * By name: kernels by their name, copies and sets by kind and size class, calls by function. The durations of one name in both
 * traces are compared by the Mann-Whitney test (two-sided, normal approximation with ties), which asks nothing of their
 * distribution; p is corrected for how many names are tested (Holm). A name is slower or faster if that p is below `alpha`, its
 * median has moved by `least` or more, and the medians of the two sides' runs lie apart (spread.h). It is launched more or fewer times if
 * all counts of one side are above all of the other. A name with more than TS_DIFF_MAX_SAMPLES durations in a trace is tested by a random
 * sample (the same one each time); counts and sums are of all.
 *
 * The test takes the durations of a run for independent of each other. They are not: a GPU whose clock was lower in one of the runs is
 * slower there, significantly. Times of the host (calls; all times with clock=host) depend on the machine so much that fewer than
 * TS_SPREAD_MIN_RUNS runs a side prove changes by TS_SPREAD_HOST_FACTOR alone.
 *
 * Operation by operation: the n-th session with GPU work of one trace against the n-th of the other, in it the streams that did
 * the most alike (counterparts.h), in them operations of one name in their order. Where the two differ, the next place is looked for at which some in a row agree again;
 * what lies between is in one trace alone.
 *
 * Reads each trace once. Memory is bounded by the names, and by TS_DIFF_MAX_OPS operations a trace: later ones are not aligned.
 * One thread at a time; nothing is printed.
 */
#pragma once

#include "replay/state/compare/spread.h"
#include "replay/state/doubts.h"
#include "replay/state/limit.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_DIFF_MAX_SAMPLES 65536u
#define TS_DIFF_MIN_SAMPLES 5u /* of fewer in either trace nothing is said */
#define TS_DIFF_MAX_NAMES   TS_MAX_DIFF_NAMES
#define TS_DIFF_MAX_OPS	    (1u << 22)
#define TS_DIFF_MAX_RUNS    64u
/* By how much of the work the overlap of operations has to change, to be told. */
#define TS_DIFF_OVERLAP 0.05

enum ts_diff_verdict {
	TS_DIFF_SAME = 0, /* no difference can be proven */
	TS_DIFF_SLOWER = 1,
	TS_DIFF_FASTER = 2,
	TS_DIFF_GONE = 3, /* in the first trace alone */
	TS_DIFF_NEW = 4,  /* in the second */
	TS_DIFF_FEW = 5,
	TS_DIFF_MORE = 6, /* times */
	TS_DIFF_FEWER = 7,
	TS_DIFF_CONFIG = 8, /* launched with another configuration */
	TS_DIFF_VERDICTS
};

/* "slower"; NULL for another number. */
const char *ts_diff_verdict_name(unsigned verdict);

/* Of all runs of a side. */
struct ts_diff_side {
	uint64_t count;
	uint64_t total_ns;
	uint64_t min_ns, median_ns, max_ns; /* 0 with a count of 0 */
};

struct ts_diff_config {
	uint32_t grid[3], block[3], cluster[3];
	uint32_t dynamic_shared_bytes;
};

struct ts_diff_name {
	uint32_t type;	     /* TS_ROW_KERNEL, _MEMCPY, _MEMSET or _API */
	uint32_t kind;	     /* copy_kind; of a call its domain << 16 | cbid */
	uint32_t size_class; /* copies and sets: 1 + log2 of their bytes, rounded down; 0: none */
	uint32_t verdict;    /* enum ts_diff_verdict */
	const char *name;    /* kernels, mangled; else NULL */
	struct ts_diff_side sides[2];
	/* Kernels: the most frequent configuration that the other side does not have. */
	struct ts_diff_config configs[2];
	bool has_config[2];
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
	size_t n_runs;
	/* Of devices, of all runs. */
	uint64_t n_ops, ops_ns;
	uint64_t n_of[3], ns_of[3]; /* kernels, copies, sets */
	uint64_t busy_ns;	  /* while a device did something: ops_ns without what overlapped */
	uint64_t span_ns;	  /* from the first operation's start to the last one's end */
	struct ts_spread overlap; /* which share of a run's work overlapped */
	/* Of the first run. */
	uint64_t n_alone; /* operations without a counterpart */
	uint64_t
		n_not_aligned; /* beyond TS_DIFF_MAX_OPS, or where looking for agreement took too long */
	bool is_damaged;       /* blocks were left out: what they held is missing here */
	struct ts_doubts doubts; /* of its operations, and of the order of each stream alone */
};

struct ts_diff {
	/* Work of devices that changed, then calls that did, then the rest; in each those whose total changed the most first. */
	struct ts_diff_name *names;
	size_t n_names;
	struct ts_diff_total totals[2];
	uint64_t n_aligned; /* pairs */
	struct ts_diff_op *
		slower; /* pairs that took longer, waiting included, in the second trace; the most first */
	size_t n_slower;
	struct ts_diff_op first; /* where the two first differ; op_id 0 on a side that has ended */
	bool has_first;
	/* By TS_DIFF_OVERLAP of the work, or more, and as times of the host move: ts_spread_host_moved(). */
	bool lost_overlap, gained_overlap;
	bool has_host_clock; /* operations of devices have the host's times (the virtual GPU with clock=host) */
};

struct ts_diff_options {
	double alpha;	   /* 0.01 */
	double least;	   /* 0.01: 1 % */
	size_t max_slower; /* that are told one by one */
};

/* The runs of one side: at least one, at most TS_DIFF_MAX_RUNS. */
struct ts_diff_runs {
	struct ts_sbt_reader *const *readers;
	size_t n;
};

/* How many there are of it in a run, on the average, rounded. */
static inline uint64_t ts_diff_of_run(uint64_t of_all, size_t n_runs)
{
	return n_runs ? (of_all + n_runs / 2) / n_runs : 0;
}

/* Errors: -ENOMEM, those of sbt/reader.h; TS_E_DIFF_NAMES, TS_E_STREAMS. *ret_side, *ret_run: whose they are. */
int ts_diff_read(const struct ts_diff_runs runs[2], const struct ts_diff_options *options,
		 struct ts_diff **ret_diff, unsigned *ret_side, size_t *ret_run);
void ts_diff_free(struct ts_diff *diff); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_diff *, ts_diff_freep, ts_diff_free)

#ifdef __cplusplus
}
#endif
