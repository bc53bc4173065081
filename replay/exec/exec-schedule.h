/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program in other orders that a GPU may choose, to find out if the results depend on the
 * order. The order varies for unordered operations, resident blocks, warps, and lanes with
 * conflicting atomics (vgpu/ptx/schedule.h). Each choice is a decision. Decisions are numbered in
 * the order of their occurrence. A decision's value is either the default or a function of seed and
 * number. So any run can be repeated. A run that keeps only some of the decisions of a seed is
 * closer to the default order.
 *
 * Operations run one after the other, host operations in captured order. A kernel that only waits
 * for another operation would never end, so the replay refuses it.
 */
#pragma once

#include "replay/exec/exec.h"
#include "replay/vgpu/ptx/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_EXEC_MAX_DECISIONS 64u /* limit of described decisions */
#define TS_EXEC_MAX_TAKEN     4096u

struct ts_exec_decisions {
	uint64_t first, last; /* numbers, inclusive */
};

struct ts_exec_decision {
	uint64_t number;
	uint64_t sequence; /* the operation that ran or was held */
	bool is_held;	   /* true: an operation was held; false: a choice inside a kernel */
	/*
	 * If an operation was held: the first and the last operation that ran before the held
	 * operation, but come after the held operation in the capture. 0: none.
	 */
	uint64_t first_before, last_before;
	struct ts_ptx_choice choice; /* without the kernel's name */
};

struct ts_exec_schedule {
	uint64_t seed;
	bool unordered_blocks;
	/*
	 * Decisions that are made by the seed, in ascending order; all other decisions have the
	 * default value.
	 */
	const struct ts_exec_decisions *kept;
	size_t n_kept;
	/* Results of a run. A decision is taken if its value is not the default. */
	uint64_t n_decisions, n_taken;
	uint64_t last_taken;
	uint64_t taken[TS_EXEC_MAX_TAKEN]; /* the first ones */
	struct ts_exec_decision decisions[TS_EXEC_MAX_DECISIONS];
	uint32_t n_described;
	/* Internal. */
	uint64_t sequence; /* sequence number of the current operation */
	size_t next_kept;
	struct ts_ptx_scheduler scheduler;
};

/* Resets the schedule. Called before each run. */
void ts_exec_schedule_begin(struct ts_exec_schedule *schedule);
/*
 * Makes the next decision. Returns 0 for the default, else a value that depends only on seed and
 * number.
 */
uint64_t ts_exec_schedule_choose(struct ts_exec_schedule *schedule);
/*
 * Returns an entry in which the caller describes the last decision. NULL: there are already
 * TS_EXEC_MAX_DECISIONS.
 */
struct ts_exec_decision *ts_exec_schedule_describe(struct ts_exec_schedule *schedule);

struct ts_exec_exploration {
	uint32_t n_schedules; /* number of seeds, from `seed` on */
	uint64_t seed;
	bool unordered_blocks;
	/*
	 * Not NULL: each schedule keeps only these decisions, and no search for fewer follows.
	 * NULL: keep all decisions; if the results differ, search for fewer.
	 */
	const struct ts_exec_decisions *kept;
	size_t n_kept;
	uint64_t until_ns; /* CLOCK_MONOTONIC time at which the exploration ends; 0: no limit */
};

struct ts_exec_explored {
	uint32_t n_schedules; /* schedules that ran */
	/* schedules that began and did not end: the time was up, or a kernel only waited */
	uint32_t n_unfinished;
	bool is_time_up;    /* some schedules did not run */
	uint32_t n_replays; /* total number of replays */
	bool found;	    /* a result depends on the order */
	uint64_t seed;
	/*
	 * The smallest set of decisions found. Without its last decision, the results equal those
	 * of the default order. If `is_smallest` is false, the search stopped early, and fewer
	 * decisions may be enough.
	 */
	struct ts_exec_decisions *kept;
	size_t n_kept;
	bool is_smallest;
	struct ts_exec_decision decisions[TS_EXEC_MAX_DECISIONS];
	uint32_t n_decisions;
	/* the first difference from the results of the default order */
	struct ts_exec_difference difference;
	/*
	 * Report of the differing schedule. The schedule may be refused although the
	 * default order was not.
	 */
	struct ts_exec_report report;
};

/*
 * Runs at most n_schedules schedules, until the results differ from `before` or the time is up. If
 * they differ, searches for the decisions that matter. `before` has the results of a schedule
 * without decisions. The caller frees *ret_explored with ts_exec_explored_deinit(). Returns 0,
 * -errno, or an error of the reader.
 */
int ts_exec_explore(const struct ts_exec_program *program, const struct ts_executor *executor,
		    const struct ts_exec_options *options,
		    const struct ts_exec_exploration *exploration,
		    const struct ts_exec_results *before, const volatile int *cancel,
		    struct ts_exec_explored *ret_explored);
void ts_exec_explored_deinit(struct ts_exec_explored *explored);

#ifdef __cplusplus
}
#endif
