/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Doing a program in other orders that a GPU may take, to see whether its results depend on the order: operations that nothing
 * orders, resident blocks, warps, lanes whose atomics meet (vgpu/ptx/schedule.h). Each place where there is a choice is a decision.
 * Decisions are numbered as they come; what is decided is a function of the seed and the number, or as it is by default. So any
 * run can be had again, and one with fewer decisions kept is one that differs less from the default.
 *
 * A program's operations are done one after the other, the host's in the order of the capture: kernels that wait for other
 * operations while they run do not end, and the time that a replay may take is over.
 */
#pragma once

#include "replay/exec/exec.h"
#include "replay/vgpu/ptx/schedule.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TS_EXEC_MAX_DECISIONS 64u /* that are described */
#define TS_EXEC_MAX_TAKEN     4096u

struct ts_exec_decisions {
	uint64_t first, last; /* numbers, both included */
};

struct ts_exec_decision {
	uint64_t number;
	uint64_t sequence; /* of the operation that was done, or held back */
	bool is_held;	   /* an operation came later than it could; else a kernel's threads */
	/* Held: the first and the last of the later ones that were done before it. 0: none was. */
	uint64_t first_before, last_before;
	struct ts_ptx_choice choice; /* without a kernel's name */
};

struct ts_exec_schedule {
	uint64_t seed;
	bool unordered_blocks;
	/* Those of its decisions that count, in ascending order; the others are as by default. */
	const struct ts_exec_decisions *kept;
	size_t n_kept;
	/* What came of it. Taken are those that are not as by default. */
	uint64_t n_decisions, n_taken;
	uint64_t last_taken;
	uint64_t taken[TS_EXEC_MAX_TAKEN]; /* the first ones */
	struct ts_exec_decision decisions[TS_EXEC_MAX_DECISIONS];
	uint32_t n_described;
	/* Within. */
	uint64_t sequence; /* of the operation that is being done */
	size_t next_kept;
	struct ts_ptx_scheduler scheduler;
};

/* Before each run of it. */
void ts_exec_schedule_begin(struct ts_exec_schedule *schedule);
/* The next decision: 0, as by default, or what it is a function of. */
uint64_t ts_exec_schedule_choose(struct ts_exec_schedule *schedule);
/* Describes the decision that was chosen last. NULL: there are too many. */
struct ts_exec_decision *ts_exec_schedule_describe(struct ts_exec_schedule *schedule);

struct ts_exec_exploration {
	uint32_t n_schedules; /* seeds from the first on */
	uint64_t seed;
	bool unordered_blocks;
	const struct ts_exec_decisions
		*kept; /* of the only one; NULL: all, and fewer are tried where it differs */
	size_t n_kept;
	uint64_t until_ns; /* CLOCK_MONOTONIC: it returns at this time; 0: when all is done */
};

struct ts_exec_explored {
	uint32_t n_schedules;  /* that were run */
	uint32_t n_unfinished; /* of them: their time was over */
	bool is_time_up;       /* further ones were not run */
	uint32_t n_replays;    /* in all */
	bool found;	       /* a result depends on the order */
	uint64_t seed;
	/*
	 * Without the last of them the results are as by default; or, where not `is_smallest`, there was too much to try, and
	 * fewer may do.
	 */
	struct ts_exec_decisions *kept;
	size_t n_kept;
	bool is_smallest;
	struct ts_exec_decision decisions[TS_EXEC_MAX_DECISIONS];
	uint32_t n_decisions;
	struct ts_exec_difference difference; /* from the order by default */
	struct ts_exec_report
		report; /* of the schedule that differs: it may have been refused where the default was not */
};

/*
 * Runs schedules until one's results are not `before`'s, which come from a run with a schedule without decisions; then finds out which decisions it
 * takes. 0, -errno, an error of the reader's.
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
