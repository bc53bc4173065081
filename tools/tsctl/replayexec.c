/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tsctl replay --on vgpu`: does again what `tsctl record --capture replay` captured, and says whether it came out the same. A
 * difference from the capture alone may be the program's own: it is replayed once more, with kernels on all CPUs at once, and
 * where the replays differ too, the program is what differs from run to run.
 */
#include "tools/tsctl/replayexec.h"
#include "tools/tsctl/replaycheck.h"
#include "tools/tsctl/replaydebug.h"
#include "tools/tsctl/replayschedule.h"

#include "proto/abi/base.h"
#include "replay/report/names.h"
#include "tools/tsctl/jsonout.h"
#include "tools/tsctl/out.h"
#include "tools/tsctl/texts.h"
#include "tools/tsctl/tsctl.h"

#include <inttypes.h>
#include <signal.h>

#define MAX_UNSUPPORTED 64u

static volatile int cancelled;

static void on_signal(int signal)
{
	cancelled = signal;
}

static const char *operation_name(const struct replay *replay, const struct ts_row_operation *row)
{
	const char *name = ts_sbt_reader_string(replay->source->reader, row->name, NULL);

	return name ? name : "what has no name";
}

/* What the trace names as such, each once. */
size_t ts_replayexec_unsupported(struct replay *replay, char ***ret_names)
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

/* NULL: it did not. */
char *ts_replayexec_why_ended(struct replay *replay)
{
	const struct ts_exec_program *program = replay->program;

	for (size_t i = program->n; program->ended && i-- > 0;)
		if (program->operations[i].kind == TS_OPERATION_END)
			return ts_pool_copy(&replay->pool,
					    operation_name(replay, &program->operations[i]));
	return NULL;
}

/* Where a call was made; NULL where that was not recorded. */
static Ts__Rpc__Stack *stack_of(struct replay *replay, uint64_t op_id)
{
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_API),
						      .session = replay->program->session};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_resolver_options resolver = {0};
	struct ts_sbt_row row;
	int r;

	if (!replay->resolver &&
	    ts_resolver_new(replay->source->reader, &resolver, &replay->resolver))
		return NULL;
	r = ts_sbt_cursor_new(replay->source->reader, &options, &cursor);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT)
			r = 0;
		else if (!r && row.api->op_id == op_id)
			return ts_stackjson_make(replay->resolver, &replay->pool, row.session,
						 row.api->stack, row.api->start_ns);
	}
	return NULL;
}

static Ts__Rpc__Stack *stack_for_check(void *userdata, uint64_t op_id)
{
	return stack_of(userdata, op_id);
}

static size_t n_findings(const struct replay *replay)
{
	size_t n = 0;

	if (replay->check)
		(void)ts_check_findings(replay->check, &n);
	return n;
}

static char *hex(struct replay *replay, const uint8_t *bytes, uint32_t n)
{
	char text[2 * sizeof(((struct ts_exec_difference *)0)->expected) + 1] = "";

	for (uint32_t i = 0; i < n; i++)
		snprintf(text + 2 * (size_t)i, 3, "%02x", bytes[i]);
	return ts_pool_copy(&replay->pool, text);
}

static Ts__Rpc__ReplayDifference *difference(struct replay *replay,
					     const struct ts_exec_difference *from,
					     const char *what)
{
	Ts__Rpc__ReplayDifference *to = ts_pool_alloc(&replay->pool, 1, sizeof(*to));
	const struct ts_row_operation *buffer;

	ts__rpc__replay_difference__init(to);
	to->from = ts_pool_copy(&replay->pool, what);
	if (from->kind != TS_EXEC_RESULT_READ)
		TS_RPC_SET(to, in_memory, true);
	if (from->kind != TS_EXEC_RESULT_END) {
		TS_RPC_SET(to, sequence, from->sequence);
		TS_RPC_SET(to, op_id, from->op_id);
		to->stack = stack_of(replay, from->op_id);
	}
	TS_RPC_SET(to, address, from->address);
	TS_RPC_SET(to, bytes, from->bytes);
	if (from->n) {
		TS_RPC_SET(to, offset, from->offset);
		to->expected = hex(replay, from->expected, from->n);
		to->found = hex(replay, from->found_bytes, from->n);
	}
	buffer = ts_exec_program_allocation(replay->program,
					    from->sequence ? from->sequence : replay->program->end,
					    from->address);
	if (buffer) {
		TS_RPC_SET(to, buffer_address, buffer->dst);
		TS_RPC_SET(to, buffer_bytes, buffer->bytes);
		TS_RPC_SET(to, buffer_offset, from->address - buffer->dst);
		TS_RPC_SET(to, buffer_op_id, buffer->op_id);
	}
	return to;
}

/* As many check points as are asked for, those of the first replay. */
static void list_points(struct replay *replay, Ts__Rpc__ReplayResult *to)
{
	struct ts_exec_point point;
	char text[2 * sizeof(point.digest) + 1];
	size_t n = 0, at = 0;

	if (!replay->asked->json)
		return;
	while (n < replay->asked->limit && ts_exec_results_point(&replay->results, &at, &point))
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

static Ts__Rpc__ReplayRefusal *refusal(struct replay *replay, const struct ts_exec_report *report)
{
	Ts__Rpc__ReplayRefusal *to = ts_pool_alloc(&replay->pool, 1, sizeof(*to));
	const struct ts_row_operation *row = &replay->program->operations[report->refused - 1];

	ts__rpc__replay_refusal__init(to);
	TS_RPC_SET(to, sequence, report->refused);
	TS_RPC_SET(to, op_id, report->refused_op_id);
	to->kind = ts_pool_copy(&replay->pool, ts_name_operation_kind(row->kind));
	to->why = ts_pool_copy(&replay->pool, report->text);
	to->stack = stack_of(replay, report->refused_op_id);
	return to;
}

static bool is_nondeterministic(const struct replay *replay)
{
	return replay->last.first.found || replay->explored.found;
}

static void fill_result(struct replay *replay, Ts__Rpc__ReplayResult *to)
{
	const struct ts_exec_report *first = &replay->first;
	char **unsupported;

	ts__rpc__replay_result__init(to);
	to->path = replay->source->path;
	to->executor = ts_pool_copy(&replay->pool, replay->executor->name);
	TS_RPC_SET(to, session, replay->program->session);
	to->verdict =
		ts_pool_copy(&replay->pool, is_nondeterministic(replay) ? "nondeterministic"
					    : first->capture.found || first->refused ? "differs"
										     : "same");
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
	to->n_unsupported = ts_replayexec_unsupported(replay, &unsupported);
	to->unsupported = unsupported;
	to->ended = ts_replayexec_why_ended(replay);
	if (replay->program->cut)
		TS_RPC_SET(to, cut, true);
	if (replay->last.first.found)
		to->difference = difference(replay, &replay->last.first, "replay");
	else if (replay->explored.difference.found)
		to->difference = difference(replay, &replay->explored.difference, "schedule");
	else if (first->capture.found)
		to->difference = difference(replay, &first->capture, "capture");
	if (first->refused)
		to->refusal = refusal(replay, first);
	else if (replay->explored.report.refused)
		to->refusal = refusal(replay, &replay->explored.report);
	ts_replayschedule_fill(replay, to);
	if (replay->check) {
		const struct ts_replaycheck from = {replay->program, &replay->pool, replay,
						    stack_for_check};

		ts_replaycheck_fill(&from, replay->check, replay->asked->check, to);
	}
}

void ts_replayexec_print_missing(size_t n_unsupported, char *const *unsupported, const char *ended,
				 bool cut)
{
	for (size_t i = 0; i < n_unsupported; i++) {
		printf("Not in the capture, and not done again: ");
		ts_out_text(stdout, unsupported[i]);
		putchar('\n');
	}
	if (ended) {
		printf("The capture ended before the program: ");
		ts_out_text(stdout, ended);
		printf(".\n");
	}
	if (cut)
		printf("The capture lacks operations behind its last one.\n");
}

static void print_difference(const Ts__Rpc__ReplayDifference *found)
{
	if (!strcmp(found->from, "replay"))
		printf("Replays differ from each other first in ");
	else if (!strcmp(found->from, "schedule"))
		printf("In another order it differs first in ");
	else
		printf("It differs from the capture first in ");
	if (found->has_sequence && found->in_memory)
		printf("the memory at 0x%" PRIx64 " after operation %" PRIu64 " (call %" PRIu64 ")",
		       found->address, found->sequence, found->op_id);
	else if (found->has_sequence)
		printf("what operation %" PRIu64 " (call %" PRIu64 ") brought from 0x%" PRIx64,
		       found->sequence, found->op_id, found->address);
	else
		printf("the memory at 0x%" PRIx64 " at the end", found->address);
	if (found->expected)
		printf(", at offset %" PRIu64 " of %" PRIu64 " bytes: %s, and was %s",
		       found->offset, found->bytes, found->found, found->expected);
	printf(".\n");
	if (found->has_buffer_address)
		printf("  offset %" PRIu64 " of the %" PRIu64 " bytes at 0x%" PRIx64
		       ", which call %" PRIu64 " allocated\n",
		       found->buffer_offset, found->buffer_bytes, found->buffer_address,
		       found->buffer_op_id);
	if (found->stack)
		ts_text_stack(found->stack, 2);
}

static void print_result(const Ts__Rpc__ReplayResult *result)
{
	char figures[6][TS_OUT_FIGURE_BYTES];

	ts_out_text(stdout, result->path);
	printf(": session %u replayed on %s: %s\n", result->session, result->executor,
	       !strcmp(result->verdict, "same")	     ? "the same"
	       : !strcmp(result->verdict, "differs") ? "differs from the capture"
						     : "the program is nondeterministic");
	printf("  %s of %s operations done, %s launches and %s copies among them, in %s\n",
	       ts_out_count(figures[0], result->operations),
	       ts_out_count(figures[1], result->captured),
	       ts_out_count(figures[2], result->launches), ts_out_count(figures[3], result->copies),
	       ts_out_duration(figures[4], result->elapsed_ns));
	if (result->has_before)
		printf("  after %s others, so that all was as it was\n",
		       ts_out_count(figures[0], result->before));
	printf("  %s results compared with the capture's",
	       ts_out_count(figures[0], result->results));
	if (result->unchecked)
		printf(", %s that it does not have", ts_out_count(figures[1], result->unchecked));
	if (result->replays > 1)
		printf("; %u replays compared, and %s allocations at their ends", result->replays,
		       ts_out_count(figures[2], result->allocations));
	if (result->compared_points)
		printf(", and memory at %s points before",
		       ts_out_count(figures[3], result->compared_points));
	putchar('\n');
	ts_replaycheck_print(result);
	ts_replayschedule_print(result);
	if (result->difference)
		print_difference(result->difference);
	if (result->refusal) {
		printf("Operation %" PRIu64 " (%s) could not be done: ", result->refusal->sequence,
		       result->refusal->kind ? result->refusal->kind : "of an unknown kind");
		ts_out_text(stdout, result->refusal->why);
		printf(".\n");
		if (result->refusal->stack)
			ts_text_stack(result->refusal->stack, 2);
	}
	ts_replayexec_print_missing(result->n_unsupported, result->unsupported, result->ended,
				    result->cut);
}

/* TS_EXIT_OK, TS_EXIT_FINDING (nondeterminism), TS_EXIT_DIFFERS. */
static int tell(struct replay *replay)
{
	Ts__Rpc__ReplayResult result;
	int status = is_nondeterministic(replay) || n_findings(replay)	    ? TS_EXIT_FINDING
		     : replay->first.capture.found || replay->first.refused ? TS_EXIT_DIFFERS
									    : TS_EXIT_OK;

	fill_result(replay, &result);
	if (replay->asked->json)
		return ts_json_print(&result.base) ?: status;
	print_result(&result);
	return ts_finish_output(status);
}

static int complain(const struct replay *replay, int r)
{
	if (r == TS_EXEC_E_REFUSED)
		ts_complain("%s", replay->first.text);
	else if (r == TS_EXEC_E_NOTHING)
		ts_complain("%s: session %u: no captured operation is selected",
			    replay->source->path, replay->program->session);
	else if (r == TS_EXEC_E_TOO_MANY)
		ts_complain("%s: more than %u operations", replay->source->path,
			    TS_EXEC_MAX_OPERATIONS);
	else if (r == -ECANCELED)
		ts_complain("interrupted");
	else
		ts_source_complain(replay->source->path, r,
				   ts_sbt_reader_error(replay->source->reader));
	return TS_EXIT_BAD;
}

/* As often as it takes. The first one has kernels one after the other: what it computes is the same each time. */
static int run_all(struct replay *replay)
{
	const struct ts_replay_asked *asked = replay->asked;
	struct ts_exec_results now = {0};
	struct ts_exec_options options = {
		.n_threads = 1,
		.points_every = asked->points_every,
		.time_ns = asked->time_ns,
	};
	const struct ts_exec_options serial = options;
	uint32_t n = asked->n_repeat ? asked->n_repeat : asked->points_every ? 2 : 1;
	int r;

	options.check = replay->check;
	options.schedule = asked->n_schedules ? &replay->usual : NULL;
	r = ts_exec_run(replay->program, replay->executor, &options, NULL, &cancelled,
			&replay->results, &replay->first);
	options.check = NULL;
	options.schedule = NULL;
	replay->n_replays = !r;
	if (asked->n_schedules)
		return r ?: ts_replayschedule_run(replay, &cancelled);
	if (!r && replay->first.capture.found && !asked->n_repeat)
		n = 2;
	options.n_threads = 0;
	while (!r && replay->n_replays < n && !replay->last.first.found) {
		ts_exec_results_deinit(&now);
		r = ts_exec_run(replay->program, replay->executor, &options, &replay->results,
				&cancelled, &now, &replay->last);
		replay->n_replays += !r;
	}
	if (!r && replay->last.first.found)
		r = ts_exec_values(replay->program, replay->executor, &serial, &replay->results,
				   &now, &cancelled, &replay->last);
	ts_exec_results_deinit(&now);
	return r;
}

static int select_operations(struct replay *replay)
{
	const struct ts_replay_asked *asked = replay->asked;
	uint64_t origin_ns = ts_sbt_reader_origin_ns(replay->source->reader);
	const struct ts_exec_query query = {
		.has_ops = asked->has_ops,
		.has_stream = asked->has_stream,
		.has_from = asked->has_from,
		.has_to = asked->has_to,
		.first_op = asked->first_op,
		.last_op = asked->last_op,
		.stream = asked->stream,
		.from_ns = asked->has_from ? ts_time_absolute(&asked->from, origin_ns) : 0,
		.to_ns = asked->has_to ? ts_time_absolute(&asked->to, origin_ns) : 0,
	};

	if (!asked->has_ops && !asked->has_stream && !asked->has_from && !asked->has_to)
		return 0;
	return ts_exec_program_select(replay->program, &query);
}

/* Of one session. TS_EXIT_*, or -1: nothing of it was captured. */
static int replay_session(const struct ts_replay_asked *asked, struct ts_source *source,
			  uint32_t session)
{
	struct replay replay = {.asked = asked,
				.source = source,
				.executor = &ts_exec_vgpu,
				.pool = TS_TSCTL_POOL};
	int r = ts_exec_program_new(source->reader, session, &replay.program), status = TS_EXIT_OK;

	if (r == TS_EXEC_E_NOT_CAPTURED)
		return -1;
	if (!r)
		r = select_operations(&replay);
	if (!r && asked->check)
		r = ts_check_new(asked->check, &replay.check);
	if (!r && asked->debug)
		status = ts_replaydebug_run(&replay, &cancelled, &r);
	else if (!r && !asked->is_dry_run)
		r = run_all(&replay);
	if (r)
		status = complain(&replay, r);
	else if (!asked->debug)
		status = asked->is_dry_run ? ts_replayexec_plan(&replay) : tell(&replay);
	ts_check_free(replay.check);
	ts_exec_explored_deinit(&replay.explored);
	ts_exec_results_deinit(&replay.results);
	ts_exec_program_free(replay.program);
	ts_resolver_free(replay.resolver);
	ts_pool_deinit(&replay.pool);
	return status;
}

static int run(const struct ts_replay_asked *asked, struct ts_source *source)
{
	struct sigaction action = {.sa_handler = on_signal};
	int status = TS_EXIT_OK;
	bool any = false;

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	for (size_t i = 0; i < ts_sbt_reader_n_sessions(source->reader); i++) {
		const struct ts_row_session *session = ts_sbt_reader_session_at(source->reader, i);
		int one;

		if (source->session && session->session != source->session)
			continue;
		one = replay_session(asked, source, session->session);
		if (one < 0)
			continue;
		any = true;
		if (one == TS_EXIT_BAD)
			return one;
		if (one > status)
			status = one;
	}
	if (any)
		return status;
	ts_complain("%s: nothing was captured to be replayed; `tsctl record --capture replay` does",
		    source->path);
	return TS_EXIT_BAD;
}

const struct ts_replay_executor ts_replay_vgpu = {
	.name = "vgpu",
	.run = run,
	.plan = run,
};
