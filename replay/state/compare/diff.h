/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares traces of two builds of one program, with one or more runs of each. The runs of the
 * first build are the first side, the runs of the second build the second side. By name, it finds
 * changed durations with a significance test, changed counts and changed launch configurations. For
 * the first run of each side, it also aligns the operations one by one.
 *
 * Names: a kernel's name, the kind and size class of a copy or set, the function of a call. The
 * durations of a name are compared by the Mann-Whitney test (two-sided, normal approximation with
 * ties), which assumes no distribution. Holm's correction adjusts p for the number of tested names.
 * A name is slower or faster if p is below `alpha` and the median moved by at least `least`. In
 * addition, the medians of the two sides' runs must be separated (spread.h). A name has more or
 * fewer launches if its count in each run of one side is above its count in every run of the other
 * side. If a trace has more than TS_DIFF_MAX_SAMPLES durations of a name, a random sample is
 * tested, the same one each time. Counts and sums cover all durations.
 *
 * Limits of the test: it treats the durations of one run as independent, and they are not. A GPU
 * with a lower clock in one run makes that run significantly slower. Host times (calls, and all
 * times with clock=host) depend strongly on the machine. With fewer than TS_SPREAD_MIN_RUNS runs
 * per side, a host time must change by TS_SPREAD_HOST_FACTOR.
 *
 * Alignment: the n-th session with GPU work corresponds to the n-th of the other trace. Its streams
 * correspond by similarity (counterparts.h), and operations of one name by order. If two streams
 * differ, align.h finds the next place where they agree. The operations before that place count as
 * operations of one trace only.
 *
 * The module reads each trace once. Memory is bounded by the number of names and by TS_DIFF_MAX_OPS
 * operations per trace; later operations are not aligned. Not thread-safe; prints nothing.
 */
#pragma once

#include "replay/state/compare/spread.h"
#include "replay/state/doubts.h"
#include "replay/state/limit.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_DIFF_MAX_SAMPLES 65536u
#define TS_DIFF_MIN_SAMPLES 5u /* durations per side; with fewer, a name is not tested */
#define TS_DIFF_MAX_NAMES   TS_MAX_DIFF_NAMES
#define TS_DIFF_MAX_OPS	    (1u << 22)
#define TS_DIFF_MAX_RUNS    64u
/* Minimum change of the overlapped share of work that counts as a change. */
#define TS_DIFF_OVERLAP 0.05

enum ts_diff_verdict {
	TS_DIFF_SAME = 0, /* no significant difference */
	TS_DIFF_SLOWER = 1,
	TS_DIFF_FASTER = 2,
	TS_DIFF_GONE = 3, /* only in the first side */
	TS_DIFF_NEW = 4,  /* only in the second side */
	TS_DIFF_FEW = 5,
	TS_DIFF_MORE = 6, /* more launches */
	TS_DIFF_FEWER = 7,
	TS_DIFF_CONFIG = 8, /* a different launch configuration */
	TS_DIFF_VERDICTS
};

/* Returns the verdict's name, such as "slower"; NULL for other numbers. */
const char *ts_diff_verdict_name(unsigned verdict);

/* Durations over all runs of a side. */
struct ts_diff_side {
	uint64_t count;
	uint64_t total_ns;
	uint64_t min_ns, median_ns, max_ns; /* 0 if count is 0 */
};

struct ts_diff_config {
	uint32_t grid[3], block[3], cluster[3];
	uint32_t dynamic_shared_bytes;
};

struct ts_diff_name {
	uint32_t type; /* TS_ROW_KERNEL, _MEMCPY, _MEMSET or _API */
	uint32_t kind; /* copy_kind; for a call: domain << 16 | cbid */
	/* Copies and sets: 1 + log2 of the bytes, rounded down. 0: none. */
	uint32_t size_class;
	uint32_t verdict; /* enum ts_diff_verdict */
	const char *name; /* kernels: mangled name; else NULL */
	struct ts_diff_side sides[2];
	/*
	 * Kernels: for each side, the most frequent launch configuration that the other side never
	 * has.
	 */
	struct ts_diff_config configs[2];
	bool has_config[2];
	double p; /* corrected; 1 if not tested */
	/*
	 * Share of all pairs (a duration of the first side, a duration of the second side) in which
	 * the second side's duration is longer. A pair of equal durations counts half.
	 */
	double slower_share;
};

/* A pair of aligned operations. */
struct ts_diff_op {
	/* index in `names`; if the two operations differ in name, that of the first side */
	uint32_t name;
	uint32_t stream;
	uint32_t session;
	uint64_t op_id[2];	 /* 0: no counterpart */
	uint64_t duration_ns[2]; /* of the operation */
	uint64_t wait_ns[2];	 /* time since the previous operation of the stream ended */
};

struct ts_diff_total {
	size_t n_runs;
	/* Device operations, over all runs. */
	uint64_t n_ops, ops_ns;
	uint64_t n_of[3], ns_of[3]; /* kernels, copies, sets */
	/* Time with at least one operation on a device: ops_ns without overlap. */
	uint64_t busy_ns;
	uint64_t span_ns;	  /* from first start to last end */
	struct ts_spread overlap; /* share of a run's device time in which operations overlap */
	/* First run only. */
	uint64_t n_alone; /* operations without a counterpart */
	/* Operations beyond TS_DIFF_MAX_OPS, or after the alignment budget was spent. */
	uint64_t n_not_aligned;
	bool is_damaged; /* damaged blocks were left out */
	/*
	 * doubts about the side's operations; the comparison uses only the order within each stream
	 */
	struct ts_doubts doubts;
};

struct ts_diff {
	/*
	 * Changed device work first, then changed calls, then unchanged names. Within each group,
	 * the largest change of the total duration comes first.
	 */
	struct ts_diff_name *names;
	size_t n_names;
	struct ts_diff_total totals[2];
	uint64_t n_aligned; /* pairs */
	/*
	 * Aligned pairs whose second operation took longer than the first, waiting included;
	 * largest difference first.
	 */
	struct ts_diff_op *slower;
	size_t n_slower;
	/* the first difference; op_id[i] is 0 if side i has no operation left */
	struct ts_diff_op first;
	bool has_first;
	/*
	 * The second side has less or more overlap, by at least TS_DIFF_OVERLAP. Compared like a
	 * host time: ts_spread_host_moved().
	 */
	bool lost_overlap, gained_overlap;
	bool has_host_clock; /* device times come from the host (virtual GPU, clock=host) */
};

struct ts_diff_options {
	double alpha;	   /* usually 0.01 */
	double least;	   /* usually 0.01, which is 1 % */
	size_t max_slower; /* maximum length of `slower` */
};

/* The runs of one side: 1 to TS_DIFF_MAX_RUNS. */
struct ts_diff_runs {
	struct ts_sbt_reader *const *readers;
	size_t n;
};

/* Returns the average per run, rounded. */
static inline uint64_t ts_diff_of_run(uint64_t of_all, size_t n_runs)
{
	return n_runs ? (of_all + n_runs / 2) / n_runs : 0;
}

/*
 * Compares the two sides. Returns 0, -ENOMEM, TS_E_DIFF_NAMES, TS_E_STREAMS, or the errors of
 * sbt/reader.h. If a run cannot be read, *ret_side and *ret_run name this run. The caller frees
 * *ret_diff.
 */
int ts_diff_read(const struct ts_diff_runs runs[2], const struct ts_diff_options *options,
		 struct ts_diff **ret_diff, unsigned *ret_side, size_t *ret_run);
void ts_diff_free(struct ts_diff *diff); /* NULL is fine */
TS_DEFINE_CLEANUP(struct ts_diff *, ts_diff_freep, ts_diff_free)

#ifdef __cplusplus
}
#endif
