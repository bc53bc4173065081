/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explores schedules: finds an order that changes a program's results, and then the fewest
 * decisions that do so. schedulejson.c calls this file; this file calls run.c.
 *
 *	1. search       run one schedule per seed until its results differ from the default
 *	2. bisect       find the last needed decision, then the first
 *	3. leave_out    drop decisions between these, in ever smaller parts
 *	4. describe     run once more and record the decisions and values
 *
 * The result is the smallest list of decisions found (`kept`). Without the last decision of this
 * list, the results equal those of the default order. With a time limit, step 1 ends after 6/8 of
 * the time, steps 2 and 3 after 7/8, and step 4 after 8/8.
 */
#include "replay/exec/exec-schedule.h"

#include "proto/abi/clock.h"
#include "replay/exec/compiled.h"
#include "replay/exec/results.h"

#include <string.h>

#define MAX_TRIES 400u /* limit of runs with fewer decisions */

struct exploration {
	const struct ts_exec_program *program;
	const struct ts_executor *executor;
	struct ts_exec_options options;
	const struct ts_exec_exploration *asked;
	const struct ts_exec_results *before;
	const volatile int *cancel;
	struct ts_exec_explored *explored;
	struct ts_exec_schedule schedule;
	struct ts_exec_compiled compiled;
	uint32_t n_tries;
	uint64_t begin_ns;
	/* number of eighths of the total time after which the current step must end */
	unsigned eighths;
};

/* Returns the remaining time; UINT64_MAX: there is no limit. */
static uint64_t left_ns(const struct exploration *all)
{
	uint64_t now = ts_clock_monotonic_ns(), until = all->asked->until_ns;

	if (!until)
		return UINT64_MAX;
	until = until > all->begin_ns ? until - (until - all->begin_ns) / 8 * (8 - all->eighths)
				      : until;
	return now < until ? until - now : 0;
}

/* Runs the program with the current seed, keeping only the given decisions. */
static int run(struct exploration *all, const struct ts_exec_decisions *kept, size_t n_kept,
	       struct ts_exec_results *results, struct ts_exec_report *report)
{
	struct ts_exec_options options = all->options;
	uint64_t left = left_ns(all);
	int r;

	all->schedule.kept = kept;
	all->schedule.n_kept = n_kept;
	if (left < options.time_ns || (left != UINT64_MAX && !options.time_ns))
		options.time_ns = left ? left : 1;
	r = ts_exec_run(all->program, all->executor, &options, NULL, all->cancel, results, report);
	all->explored->n_replays++;
	if (!r && !report->refused)
		ts_exec_results_compare(all->before, results, &report->first);
	return r;
}

/*
 * Tests whether the results differ from the default order's. A run that the executor refuses, for
 * example because a kernel faults, is a difference. The default order was not refused.
 */
static int differs(struct exploration *all, const struct ts_exec_decisions *kept, size_t n_kept,
		   bool *ret_differs)
{
	struct ts_exec_results results = {0};
	struct ts_exec_report report;
	int r = run(all, kept, n_kept, &results, &report);

	ts_exec_results_deinit(&results);
	*ret_differs = report.first.found || (report.refused && !ts_exec_is_unfinished(&report));
	if (!r && *ret_differs) {
		all->explored->report = report;
		all->explored->difference = report.first;
	}
	all->explored->n_unfinished +=
		!r && ts_exec_is_unfinished(&report) && !all->explored->found;
	return r;
}

static int tried(struct exploration *all, const struct ts_exec_decisions *kept, size_t n_kept,
		 bool *ret_differs)
{
	*ret_differs = false;
	if (all->n_tries >= MAX_TRIES || !left_ns(all)) {
		all->explored->is_smallest = false;
		return 0;
	}
	all->n_tries++;
	return differs(all, kept, n_kept, ret_differs);
}

/*
 * Finds by bisection the last decision that is needed, then the first. The results differ if all
 * decisions between the first and the last are kept.
 */
static int find_stretch(struct exploration *all, struct ts_exec_decisions *stretch)
{
	uint64_t least = 0, most;
	bool found;
	int r = 0;

	/* The last decision is needed: without it the results do not differ. */
	for (most = stretch->last; !r && least < most;) {
		stretch->last = least + (most - least) / 2;
		r = tried(all, stretch, 1, &found);
		if (found)
			most = stretch->last;
		else
			least = stretch->last + 1;
	}
	stretch->last = most;
	for (least = stretch->first, most = stretch->last; !r && least < most;) {
		stretch->first = least + (most - least + 1) / 2;
		r = tried(all, stretch, 1, &found);
		if (found)
			least = stretch->first;
		else
			most = stretch->first - 1;
	}
	stretch->first = least;
	return r;
}

/*
 * Drops parts of the list, first large ones and then smaller ones. A part stays dropped if the
 * results still differ without it.
 */
static int leave_out(struct exploration *all, struct ts_exec_decisions *list, size_t *n)
{
	struct ts_exec_decisions *fewer = calloc(*n, sizeof(*fewer));
	int r = fewer ? 0 : -ENOMEM;

	for (size_t part = *n / 2; !r && part; part /= 2)
		for (size_t at = 0; !r && *n > 1 && at < *n;) {
			size_t without = at + part < *n ? part : *n - at;
			bool found = false;

			memcpy(fewer, list, at * sizeof(*list));
			memcpy(fewer + at, list + at + without,
			       (*n - at - without) * sizeof(*list));
			if (*n > without)
				r = tried(all, fewer, *n - without, &found);
			if (found) {
				*n -= without;
				memcpy(list, fewer, *n * sizeof(*list));
			} else {
				at += without;
			}
		}
	free(fewer);
	return r;
}

/*
 * Lists the decisions with non-default values, one entry each, and drops those that are not needed.
 * If there are too many, keeps the whole stretch.
 */
static int list_taken(struct exploration *all, const struct ts_exec_decisions *stretch)
{
	struct ts_exec_explored *explored = all->explored;
	bool found;
	int r = differs(all, stretch, 1, &found);

	if (r)
		return r;
	explored->n_kept = all->schedule.n_taken;
	if (!found || !all->schedule.n_taken || all->schedule.n_taken > TS_EXEC_MAX_TAKEN)
		explored->n_kept = 1;
	explored->kept = calloc(explored->n_kept, sizeof(*explored->kept));
	if (!explored->kept)
		return -ENOMEM;
	explored->kept[0] = *stretch;
	explored->is_smallest = explored->n_kept == all->schedule.n_taken;
	for (size_t i = 0; explored->is_smallest && i < explored->n_kept; i++)
		explored->kept[i] =
			(struct ts_exec_decisions){all->schedule.taken[i], all->schedule.taken[i]};
	return explored->is_smallest ? leave_out(all, explored->kept, &explored->n_kept) : 0;
}

static int keep_asked(struct exploration *all)
{
	struct ts_exec_explored *explored = all->explored;

	explored->kept = calloc(all->asked->n_kept, sizeof(*explored->kept));
	if (!explored->kept)
		return -ENOMEM;
	explored->n_kept = all->asked->n_kept;
	memcpy(explored->kept, all->asked->kept, explored->n_kept * sizeof(*explored->kept));
	return 0;
}

/* Runs the schedule once more to record its description; if results differ, records both values. */
static int describe(struct exploration *all)
{
	struct ts_exec_schedule *schedule = &all->schedule;
	struct ts_exec_explored *explored = all->explored;
	struct ts_exec_results results = {0}, usual = {0};
	struct ts_exec_report report;
	int r = run(all, explored->kept, explored->n_kept, &results, &report);

	/* If this run did not finish, the report of the earlier run stays. */
	if (!r && !ts_exec_is_unfinished(&report)) {
		explored->report = report;
		explored->difference = report.first;
	}
	explored->n_decisions = schedule->n_described;
	memcpy(explored->decisions, schedule->decisions, sizeof(schedule->decisions));
	all->options.kept = &explored->difference;
	if (!r && explored->difference.found) {
		ts_exec_results_deinit(&results);
		r = run(all, explored->kept, explored->n_kept, &results, &report);
		r = r ?: run(all, NULL, 0, &usual, &report);
		if (!r)
			ts_exec_results_place(all->program, &usual, &results,
					      &explored->difference);
	}
	ts_exec_results_deinit(&results);
	ts_exec_results_deinit(&usual);
	return r;
}

static int explain(struct exploration *all)
{
	struct ts_exec_decisions stretch = {0, all->schedule.last_taken};
	int r;

	all->explored->found = true;
	all->explored->seed = all->schedule.seed;
	all->explored->is_smallest = true;
	all->eighths = 7;
	if (all->asked->kept) {
		all->explored->is_smallest = false;
		r = keep_asked(all);
	} else {
		r = find_stretch(all, &stretch);
		r = r ?: list_taken(all, &stretch);
	}
	all->eighths = 8;
	return r ?: describe(all);
}

int ts_exec_explore(const struct ts_exec_program *program, const struct ts_executor *executor,
		    const struct ts_exec_options *options,
		    const struct ts_exec_exploration *exploration,
		    const struct ts_exec_results *before, const volatile int *cancel,
		    struct ts_exec_explored *ret_explored)
{
	static const struct ts_exec_decisions any = {0, UINT64_MAX};
	const bool is_given = exploration->kept;
	struct exploration *all = calloc(1, sizeof(*all));
	bool found = false;
	int r = 0;

	*ret_explored = (struct ts_exec_explored){0};
	if (!all)
		return -ENOMEM;
	*all = (struct exploration){.program = program,
				    .executor = executor,
				    .options = *options,
				    .asked = exploration,
				    .before = before,
				    .cancel = cancel,
				    .explored = ret_explored,
				    .begin_ns = ts_clock_monotonic_ns(),
				    .eighths = 6};
	all->options.schedule = &all->schedule;
	all->options.n_threads = 1;
	all->options.compiled = &all->compiled;
	for (uint32_t i = 0; !r && !found && i < exploration->n_schedules; i++) {
		if (!left_ns(all)) {
			ret_explored->is_time_up = true;
			break;
		}
		all->schedule.seed = exploration->seed + i;
		all->schedule.unordered_blocks = exploration->unordered_blocks;
		r = differs(all, is_given ? exploration->kept : &any,
			    is_given ? exploration->n_kept : 1, &found);
		ret_explored->n_schedules += !r;
	}
	if (!r && found)
		r = explain(all);
	ts_exec_compiled_deinit(&all->compiled);
	free(all);
	if (r)
		ts_exec_explored_deinit(ret_explored);
	return r;
}

void ts_exec_explored_deinit(struct ts_exec_explored *explored)
{
	free(explored->kept);
	explored->kept = NULL;
	explored->n_kept = 0;
}
