/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replays a program captured by `tsctl record --capture replay`, and reports whether the results
 * are the same. replay.c calls this file; this file calls replay/exec, replay/check and the other
 * modules of this folder.
 *
 * A difference from the capture may come from the program itself. Then the program is replayed once
 * more, with kernels on all CPUs at once. If the replays also differ from each other, the program
 * is nondeterministic.
 */
#include "proto/abi/base.h"
#include "proto/abi/clock.h"
#include "replay/exec/exec-fault.h"
#include "replay/report/names/names.h"
#include "replay/report/replay/checkjson.h"
#include "replay/report/replay/differencejson.h"
#include "replay/report/replay/ended.h"
#include "replay/report/replay/replay.h"
#include "replay/report/replay/schedulejson.h"
#include "replay/report/replay/sidejson.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_UNSUPPORTED 64u

static const char *operation_name(const struct ts_replay *replay,
				  const struct ts_row_operation *row)
{
	const char *name = ts_sbt_reader_string(replay->reader, row->name, NULL);

	return name ? name : "an operation without a name";
}

size_t ts_replay_unsupported(struct ts_replay *replay, char ***ret_names)
{
	const struct ts_exec_program *program = replay->program;
	char **names = ts_pool_alloc(&replay->pool, MAX_UNSUPPORTED, sizeof(*names));
	size_t n = 0;

	for (size_t i = 0; program->n_unsupported && i < program->n && n < MAX_UNSUPPORTED; i++) {
		const char *name;
		bool known = false;

		if (program->operations[i].kind != TS_OPERATION_UNSUPPORTED)
			continue;
		name = operation_name(replay, &program->operations[i]);
		for (size_t j = 0; j < n; j++)
			known |= !strcmp(names[j], name);
		if (!known)
			names[n++] = ts_pool_copy(&replay->pool, name);
	}
	*ret_names = names;
	return n;
}

char *ts_replay_why_ended(struct ts_replay *replay)
{
	const struct ts_exec_program *program = replay->program;
	bool is_closed = false;

	for (size_t i = program->n; program->ended && i-- > 0;)
		if (program->operations[i].kind == TS_OPERATION_END)
			return ts_pool_copy(&replay->pool,
					    operation_name(replay, &program->operations[i]));
	for (size_t i = program->n; i-- > 0;)
		if (program->operations[i].kind == TS_OPERATION_WINDOW) {
			is_closed = !program->operations[i].value;
			break;
		}
	return ts_ended_early(replay->reader, program->session, is_closed, &replay->pool);
}

/* Adds the check points of the first replay to the result, up to `limit`. */
static void list_points(struct ts_replay *replay, Ts__Rpc__ReplayResult *to)
{
	struct ts_exec_point point;
	char text[2 * sizeof(point.digest) + 1];
	size_t n = 0, at = 0;

	if (!replay->asked->points)
		return;
	while (n < replay->limit && ts_exec_results_point(&replay->results, &at, &point))
		n++;
	to->points = ts_pool_alloc(&replay->pool, n + 1, sizeof(*to->points));
	for (at = 0; to->n_points < n && ts_exec_results_point(&replay->results, &at, &point);) {
		Ts__Rpc__ReplayPoint *one = ts_pool_alloc(&replay->pool, 1, sizeof(*one));

		ts__rpc__replay_point__init(one);
		TS_RPC_SET(one, sequence, point.sequence);
		TS_RPC_SET(one, op_id, point.op_id);
		TS_RPC_SET(one, bytes, point.n_bytes);
		snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, point.digest[0],
			 point.digest[1]);
		one->digest = ts_pool_copy(&replay->pool, text);
		to->points[to->n_points++] = one;
	}
}

/* Moves the stack out of the operation: the verdict has the stack in a field of its own. */
static Ts__Rpc__Stack *take_stack(Ts__Rpc__ReplaySide *side)
{
	Ts__Rpc__Stack *stack = side ? side->stack : NULL;

	if (side)
		side->stack = NULL;
	return stack;
}

static Ts__Rpc__ReplayRefusal *refusal(struct ts_replay *replay,
				       const struct ts_exec_report *report)
{
	Ts__Rpc__ReplayRefusal *to = ts_pool_alloc(&replay->pool, 1, sizeof(*to));
	const struct ts_row_operation *row = &replay->program->operations[report->refused - 1];

	ts__rpc__replay_refusal__init(to);
	TS_RPC_SET(to, sequence, report->refused);
	TS_RPC_SET(to, op_id, report->refused_op_id);
	to->kind = ts_pool_copy(&replay->pool, ts_name_operation_kind(row->kind));
	to->why = ts_sidejson_text(replay, report->text);
	to->operation = ts_sidejson_make(replay, report->refused, true);
	to->stack = take_stack(to->operation);
	return to;
}

static bool is_noted(const struct ts_exec_notes *notes, const char *text)
{
	for (uint32_t i = 0; i < notes->n; i++)
		if (!strcmp(notes->texts[i], text))
			return true;
	return false;
}

/*
 * Lists the notes of the first replay. If the last replay differs, also lists its additional notes,
 * which may explain the difference.
 */
static void fill_notes(struct ts_replay *replay, Ts__Rpc__ReplayResult *to)
{
	const struct ts_exec_notes *notes = &replay->first.notes;
	const struct ts_exec_notes *last = &replay->last.notes;

	if (*notes->device)
		to->device = ts_pool_copy(&replay->pool, notes->device);
	to->notes =
		ts_pool_alloc(&replay->pool, (size_t)notes->n + last->n + 1, sizeof(*to->notes));
	for (uint32_t i = 0; i < notes->n; i++)
		to->notes[to->n_notes++] = ts_pool_copy(&replay->pool, notes->texts[i]);
	for (uint32_t i = 0; replay->last.first.found && i < last->n; i++)
		if (!is_noted(notes, last->texts[i]))
			to->notes[to->n_notes++] =
				ts_pool_printf(&replay->pool, "in the last replay, %s",
					       last->texts[i]);
	if (notes->n_more)
		TS_RPC_SET(to, more_notes, notes->n_more);
}

static bool is_nondeterministic(const struct ts_replay *replay)
{
	return replay->last.first.found || replay->explored.found;
}

static void fill_result(struct ts_replay *replay, Ts__Rpc__ReplayResult *to)
{
	const struct ts_exec_report *first = &replay->first;
	char **unsupported;

	ts__rpc__replay_result__init(to);
	to->path = (char *)(uintptr_t)replay->path;
	to->executor = ts_pool_copy(&replay->pool, replay->executor->name);
	TS_RPC_SET(to, session, replay->program->session);
	to->verdict = ts_pool_copy(&replay->pool, is_nondeterministic(replay) ? "nondeterministic"
						  : first->capture.found      ? "differs"
						  : ts_exec_is_unfinished(first) ? "unfinished"
						  : replay->faults_as_captured	 ? "same"
						  : first->refused		 ? "differs"
						  : replay->is_interrupted	 ? "interrupted"
										 : "same");
	if (replay->is_interrupted)
		TS_RPC_SET(to, interrupted, true);
	if (replay->faults_as_captured)
		TS_RPC_SET(to, faulted_as_captured, true);
	TS_RPC_SET(to, operations, first->n_operations);
	TS_RPC_SET(to, captured, replay->program->n_selected);
	if (replay->program->selected)
		TS_RPC_SET(to, before, first->n_before);
	if (first->n_points)
		TS_RPC_SET(to, compared_points, first->n_points);
	list_points(replay, to);
	TS_RPC_SET(to, launches, first->n_launches);
	TS_RPC_SET(to, copies, first->n_copies);
	TS_RPC_SET(to, fills, first->n_fills);
	TS_RPC_SET(to, results, first->n_checks);
	TS_RPC_SET(to, unchecked, first->n_unchecked);
	TS_RPC_SET(to, allocations, first->n_memory);
	TS_RPC_SET(to, replays, replay->n_replays);
	TS_RPC_SET(to, elapsed_ns, first->elapsed_ns);
	to->n_unsupported = ts_replay_unsupported(replay, &unsupported);
	to->unsupported = unsupported;
	to->ended = ts_replay_why_ended(replay);
	if (replay->program->cut)
		TS_RPC_SET(to, cut, true);
	if (replay->last.first.found)
		to->difference = ts_differencejson_make(replay, &replay->last.first, "replay");
	else if (replay->explored.difference.found)
		to->difference =
			ts_differencejson_make(replay, &replay->explored.difference, "schedule");
	else if (first->capture.found)
		to->difference = ts_differencejson_make(replay, &first->capture, "capture");
	if (first->refused)
		to->refusal = refusal(replay, first);
	else if (replay->explored.report.refused)
		to->refusal = refusal(replay, &replay->explored.report);
	ts_schedulejson_fill(replay, to);
	fill_notes(replay, to);
	if (replay->check)
		ts_checkjson_fill(replay, to);
}

static int give_result(struct ts_replay *replay)
{
	Ts__Rpc__ReplayAnswer answer = TS__RPC__REPLAY_ANSWER__INIT;
	Ts__Rpc__ReplayResult result;

	fill_result(replay, &result);
	answer.result = &result;
	return ts_replay_give(replay, &answer);
}

/* ---- running --------------------------------------------------------------------------------- */

/*
 * Returns the kernel's name in the capture, or NULL if it has none. If the handle is derived from
 * another function, the other function has the name.
 */
static const char *kernel_under_way(struct ts_replay *replay, const struct ts_row_operation *row)
{
	const struct ts_row_operation *function = row;

	for (unsigned depth = 0; depth < 4; depth++) {
		uint32_t at = ts_state_map_find(&replay->functions, 0,
						depth ? function->parent : function->object);

		if (at == TS_STATE_MAP_NONE)
			return NULL;
		function = &replay->program->operations[at];
		if (function->name)
			return ts_sidejson_string(replay, function->name);
	}
	return NULL;
}

static bool is_on_device(const struct ts_replay *replay)
{
	return replay->executor == replay->options->device;
}

/*
 * Gives a notice that a real device runs the trace's code. Given once, before the first operation
 * of the first replay.
 */
static void say_what_runs(struct ts_replay *replay)
{
	if (replay->is_said)
		return;
	replay->is_said = true;
	(void)ts_replay_complain(replay, false,
				 "%s: a device of this machine now runs the code of the trace",
				 replay->path);
}

static void note_next(void *data, const struct ts_row_operation *operation, bool counts)
{
	struct ts_replay *replay = data;
	struct ts_replay_progress_now *now = &replay->now;
	const char *name = NULL;

	(void)counts;
	if (operation && is_on_device(replay))
		say_what_runs(replay);
	if (!operation) {
		now->replay++;
		now->done = 0;
		return;
	}
	if (operation->kind == TS_OPERATION_FUNCTION)
		(void)ts_state_map_set(&replay->functions, 0, operation->object,
				       (uint32_t)(operation - replay->program->operations));
	else if (operation->kind == TS_OPERATION_LAUNCH)
		name = kernel_under_way(replay, operation);
	name = name ? name : ts_name_operation_kind(operation->kind);
	snprintf(now->operation, sizeof(now->operation), "%s", name ? name : "");
	now->op_id = operation->op_id;
	ts_replay_progress_note(replay->options->progress, now);
	now->done++;
}

static bool looks_inside(const struct ts_replay *replay)
{
	return replay->asked->n_check || replay->asked->schedules;
}

/*
 * Sets the time at which all replays must have ended: with --check or --schedules, one time limit
 * covers all replays together.
 */
static void begin_time(struct ts_replay *replay)
{
	uint64_t limit = replay->asked->time_limit_ns;

	if (!looks_inside(replay))
		return;
	replay->until_ns = ts_clock_monotonic_ns() + (limit ? limit : TS_REPLAY_CHECKS_NS);
}

/* Returns the time limit of the next replay in nanoseconds; 0: there is none. */
static uint64_t time_of_run(const struct ts_replay *replay)
{
	uint64_t now = ts_clock_monotonic_ns();

	if (!replay->until_ns)
		return replay->asked->time_limit_ns;
	return now < replay->until_ns ? replay->until_ns - now : 1;
}

static struct ts_exec_options exec_options(struct ts_replay *replay)
{
	return (struct ts_exec_options){
		.n_threads = looks_inside(replay) || !replay->options->n_threads
				     ? 1
				     : replay->options->n_threads,
		.points_every = replay->asked->compare_every,
		.time_ns = time_of_run(replay),
		.device_bytes = replay->options->device_bytes,
		.next = replay->options->progress || is_on_device(replay) ? note_next : NULL,
		.next_userdata = replay,
	};
}

/*
 * Replays again, until there were `n` replays in total or a replay differs. Kernels run on all CPUs
 * at once.
 */
static int run_more(struct ts_replay *replay, uint32_t n)
{
	struct ts_exec_options options = exec_options(replay);
	const struct ts_exec_options serial = options;
	struct ts_exec_results now = {0};
	bool is_refused = replay->first.refused;
	int r = 0;

	options.n_threads = replay->options->n_threads;
	while (!r && replay->n_replays < n && !replay->last.first.found) {
		ts_exec_results_deinit(&now);
		options.time_ns = time_of_run(replay);
		r = ts_exec_run(replay->program, replay->executor, &options, &replay->results,
				replay->options->cancel, &now, &replay->last);
		/*
		 * No further replay is possible, because a kernel of the earlier replay still
		 * occupies the device. The result has the findings of that replay.
		 */
		if (r == TS_EXEC_E_REFUSED && is_refused) {
			r = 0;
			break;
		}
		replay->n_replays += !r;
		is_refused |= replay->last.refused;
	}
	if (!r && replay->last.first.found)
		r = ts_exec_values(replay->program, replay->executor, &serial, &replay->results,
				   &now, replay->options->cancel, &replay->last);
	ts_exec_results_deinit(&now);
	return r;
}

/*
 * Runs all replays of the request. The first replay runs kernels serially, so its results are the
 * same each time.
 */
static int run_all(struct ts_replay *replay)
{
	const Ts__Rpc__Query__Replay *asked = replay->asked;
	struct ts_exec_options options;
	uint32_t n = asked->repeat ? asked->repeat : asked->compare_every ? 2 : 1;
	int r;

	begin_time(replay);
	options = exec_options(replay);
	options.check = replay->check;
	options.schedule = asked->schedules ? &replay->usual : NULL;
	replay->now.doing = "replaying";
	replay->now.all = replay->program->end;
	r = ts_exec_run(replay->program, replay->executor, &options, NULL, replay->options->cancel,
			&replay->results, &replay->first);
	replay->n_replays = !r;
	if (r)
		return r;
	if (asked->schedules) {
		replay->now.doing = "comparing";
		r = asked->repeat ? run_more(replay, asked->repeat) : 0;
		if (r || replay->last.first.found)
			return r;
		replay->now.doing = "ordering";
		return ts_schedulejson_run(replay, &options);
	}
	if (replay->first.capture.found && !asked->repeat)
		n = 2;
	replay->now.doing = "comparing";
	return run_more(replay, n);
}

/*
 * Finds the first call of the captured program, in program order, that returned a kernel's fault.
 * If there is no such call, *ret_error is 0.
 */
static int find_captured_fault(struct ts_replay *replay, uint64_t *ret_op_id, int *ret_error)
{
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_API),
						      .session = replay->program->session};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(replay->reader, &options, &cursor);

	*ret_op_id = UINT64_MAX;
	*ret_error = 0;
	while (!r && !(r = ts_sbt_cursor_next(cursor, &row)))
		if (ts_exec_is_fault(row.api->result) && row.api->op_id < *ret_op_id) {
			*ret_op_id = row.api->op_id;
			*ret_error = row.api->result;
		}
	return r == TS_SBT_E_END ? 0 : r;
}

/*
 * Sets faults_as_captured if the replay of a faulting program matches the program. It matches if it
 * ends with the same fault and begins no launch after the call that returned the fault. The replay
 * may refuse a later operation: launches are asynchronous, and a call that only waits is no
 * operation.
 */
static int compare_faults(struct ts_replay *replay)
{
	const struct ts_exec_report *first = &replay->first;
	uint64_t op_id;
	int error, r;

	if (!first->refused || !first->fault || first->capture.found)
		return 0;
	r = find_captured_fault(replay, &op_id, &error);
	replay->faults_as_captured = !r && error == first->fault && op_id >= first->launch_op_id;
	/* Ignores damaged blocks: they do not show how the program ended. */
	return r < 0 ? r : 0;
}

int ts_replay_exec(struct ts_replay *replay)
{
	int r = ts_checkjson_what(replay->asked->check, replay->asked->n_check, &replay->what);

	if (r)
		return ts_replay_complain(replay, true,
					  "--check: expected `all`, or some of races, init, "
					  "bounds, order, separated by commas");
	if (replay->what)
		r = ts_check_new(replay->what, &replay->check);
	r = r ?: run_all(replay);
	/* The result reports the findings up to the interruption. */
	if (r == -ECANCELED) {
		replay->is_interrupted = true;
		r = 0;
	}
	r = r ?: compare_faults(replay);
	return r ?: give_result(replay);
}
