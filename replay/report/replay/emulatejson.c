/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts emulations of a trace, as recorded and edited, to messages. replay.c calls this file;
 * this file calls replay/emulate.
 */
#include "proto/abi/base.h"
#include "replay/emulate/emulate.h"
#include "replay/report/answers/statejson.h"
#include "replay/report/names/names.h"
#include "replay/report/replay/replay.h"
#include "replay/report/stacks/stackjson.h"

#include <inttypes.h>

struct edits {
	struct ts_emulate_edit at[TS_REPLAY_MAX_EDITS];
	size_t n;
};

/*
 * Parses the request's edits. Returns 0, a negative errno, or 1 after it reported an error in an
 * answer.
 */
static int gather_edits(struct ts_replay *replay, struct edits *edits)
{
	const Ts__Rpc__Query__Replay *asked = replay->asked;
	char message[TS_EMULATE_TEXT_BYTES];

	if (asked->n_what_if > TS_REPLAY_MAX_EDITS)
		return ts_replay_complain(replay, true,
					  "--what-if: more than %u edits, which is "
					  "the limit",
					  TS_REPLAY_MAX_EDITS)
			       ?: 1;
	for (size_t i = 0; i < asked->n_what_if; i++)
		if (ts_emulate_edit_parse(asked->what_if[i], &edits->at[edits->n++], message))
			return ts_replay_complain(
				       replay, true,
				       "--what-if %s: %s; `tsctl replay --what-if help` lists the "
				       "edits",
				       asked->what_if[i], message)
				       ?: 1;
	return 0;
}

static const char *kernel_name(void *user, uint32_t name)
{
	return ts_resolver_kernel_name(user, name);
}

static const char *function_name(void *user, uint32_t name)
{
	(void)user;
	return ts_name_api(name >> 16, name & 0xffff);
}

static void make_streams(struct ts_pool *pool, const struct ts_emulate_result *result,
			 Ts__Rpc__ReplayRun *message)
{
	message->streams = ts_pool_alloc(pool, result->n_streams + 1, sizeof(*message->streams));
	for (size_t i = 0; i < result->n_streams; i++) {
		const struct ts_emulate_stream *stream = &result->streams[i];
		Ts__Rpc__ReplayStream *its = ts_pool_alloc(pool, 1, sizeof(*its));

		ts__rpc__replay_stream__init(its);
		TS_RPC_SET(its, session, stream->session);
		if (stream->device != TS_NO_DEVICE)
			TS_RPC_SET(its, device, stream->device);
		TS_RPC_SET(its, context, stream->context);
		TS_RPC_SET(its, stream, stream->stream);
		TS_RPC_SET(its, operations, stream->n_ops);
		TS_RPC_SET(its, busy_ns, stream->busy_ns);
		message->streams[message->n_streams++] = its;
	}
}

static void make_engines(struct ts_pool *pool, const struct ts_emulate_result *result,
			 Ts__Rpc__ReplayRun *message)
{
	message->engines = ts_pool_alloc(pool, result->n_engines + 1, sizeof(*message->engines));
	for (size_t i = 0; i < result->n_engines; i++) {
		const struct ts_emulate_engine *engine = &result->engines[i];
		Ts__Rpc__ReplayEngine *its = ts_pool_alloc(pool, 1, sizeof(*its));

		ts__rpc__replay_engine__init(its);
		TS_RPC_SET(its, session, engine->session);
		if (engine->device != TS_NO_DEVICE)
			TS_RPC_SET(its, device, engine->device);
		its->does = ts_pool_alloc(pool, TS_EMULATE_ENGINE_KINDS, sizeof(*its->does));
		for (uint32_t kind = 0; kind < TS_EMULATE_ENGINE_KINDS; kind++)
			if (engine->kinds & 1u << kind)
				its->does[its->n_does++] =
					ts_pool_copy(pool, ts_emulate_engine_name(kind));
		if (engine->capacity)
			TS_RPC_SET(its, capacity, engine->capacity);
		TS_RPC_SET(its, operations, engine->n_ops);
		TS_RPC_SET(its, busy_ns, engine->busy_ns);
		TS_RPC_SET(its, used_ns, engine->used_ns);
		message->engines[message->n_engines++] = its;
	}
}

static Ts__Rpc__ReplayStep *make_step(struct ts_replay *replay, const struct ts_emulate_step *step)
{
	struct ts_pool *pool = &replay->pool;
	Ts__Rpc__ReplayStep *its = ts_pool_alloc(pool, 1, sizeof(*its));
	struct ts_state_op op = {.type = step->type, .session = step->session};

	if (step->type == TS_ROW_KERNEL) {
		op.row.kernel.name = step->name;
	} else if (step->type == TS_ROW_MEMCPY) {
		op.row.memcpy_.copy_kind = (uint8_t)step->name;
	} else if (step->type == TS_ROW_API) {
		op.domain = (uint16_t)(step->name >> 16);
		op.cbid = (uint16_t)step->name;
	}
	ts__rpc__replay_step__init(its);
	its->part = ts_pool_copy(pool, ts_graph_part_name(step->part));
	TS_RPC_SET(its, start_ns, step->from_ns);
	TS_RPC_SET(its, end_ns, step->to_ns);
	its->name = ts_statejson_op_name(replay->resolver, pool, &op);
	TS_RPC_SET(its, session, step->session);
	TS_RPC_SET(its, op_id, step->op_id);
	ts_stackjson_thread(replay->resolver, pool, step->session, step->thread, &its->tid,
			    &its->has_tid, &its->thread_name);
	if (step->stream != TS_NO_DEVICE)
		TS_RPC_SET(its, stream, step->stream);
	return its;
}

static int compare_steps(const void *a, const void *b)
{
	const struct ts_emulate_step *x = *(struct ts_emulate_step *const *)a;
	const struct ts_emulate_step *y = *(struct ts_emulate_step *const *)b;
	uint64_t x_ns = x->to_ns - x->from_ns, y_ns = y->to_ns - y->from_ns;

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void make_path(struct ts_replay *replay, const struct ts_emulate_result *result,
		      Ts__Rpc__ReplayRun *message)
{
	struct ts_pool *pool = &replay->pool;
	const struct ts_emulate_step **steps =
		ts_pool_alloc(pool, result->n_longest + 1, sizeof(*steps));

	message->parts = ts_pool_alloc(pool, TS_GRAPH_PARTS, sizeof(*message->parts));
	for (uint32_t part = 0; part < TS_GRAPH_PARTS; part++) {
		Ts__Rpc__GraphPart *its;

		if (!result->n_steps[part])
			continue;
		its = ts_pool_alloc(pool, 1, sizeof(*its));
		ts__rpc__graph_part__init(its);
		its->part = ts_pool_copy(pool, ts_graph_part_name(part));
		TS_RPC_SET(its, ns, result->parts_ns[part]);
		TS_RPC_SET(its, steps, result->n_steps[part]);
		message->parts[message->n_parts++] = its;
	}
	for (size_t i = 0; i < result->n_longest; i++)
		steps[i] = &result->longest[i];
	qsort(steps, result->n_longest, sizeof(*steps), compare_steps);
	message->longest = ts_pool_alloc(pool, result->n_longest + 1, sizeof(*message->longest));
	for (size_t i = 0; i < result->n_longest; i++)
		message->longest[message->n_longest++] = make_step(replay, steps[i]);
	TS_RPC_SET(message, steps, result->n_path);
}

static Ts__Rpc__ReplayRun *make_run(struct ts_replay *replay,
				    const struct ts_emulate_result *result)
{
	Ts__Rpc__ReplayRun *message = ts_pool_alloc(&replay->pool, 1, sizeof(*message));

	ts__rpc__replay_run__init(message);
	TS_RPC_SET(message, makespan_ns, result->makespan_ns);
	TS_RPC_SET(message, calls, result->n_calls);
	TS_RPC_SET(message, operations, result->n_ops);
	make_streams(&replay->pool, result, message);
	make_engines(&replay->pool, result, message);
	if (result->n_path) {
		make_path(replay, result, message);
		TS_RPC_SET(message, let_go, result->n_broken);
	}
	return message;
}

static Ts__Rpc__ReplayDoubts *make_doubts(struct ts_pool *pool,
					  const struct ts_emulate_doubts *doubts)
{
	Ts__Rpc__ReplayDoubts *message = ts_pool_alloc(pool, 1, sizeof(*message));

	ts__rpc__replay_doubts__init(message);
	TS_RPC_SET(message, without_call, doubts->n_without_call);
	TS_RPC_SET(message, without_device, doubts->n_without_device);
	TS_RPC_SET(message, without_record, doubts->n_without_record);
	TS_RPC_SET(message, started_before, doubts->n_before);
	TS_RPC_SET(message, not_waited, doubts->n_not_waited);
	TS_RPC_SET(message, backwards, doubts->n_backwards);
	TS_RPC_SET(message, unexplained, doubts->n_unexplained);
	TS_RPC_SET(message, threads_joined, doubts->n_joins);
	TS_RPC_SET(message, damaged, doubts->is_damaged);
	return message;
}

/* Returns the same values as gather_edits(). */
static int run_edited(struct ts_replay *replay, const struct ts_emulate_program *program,
		      const struct edits *edits, Ts__Rpc__ReplayReport *report)
{
	const struct ts_emulate_names names = {kernel_name, function_name, replay->resolver};
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *result = NULL;
	char message[TS_EMULATE_TEXT_BYTES];
	int r = ts_emulate_run(program, edits->at, edits->n, &names, replay->limit, &result,
			       message);

	if (r == -EINVAL)
		return ts_replay_complain(replay, true, "--what-if %s", message) ?: 1;
	if (r)
		return r;
	report->edited = make_run(replay, result);
	report->what_if = replay->asked->what_if;
	report->n_what_if = edits->n;
	TS_RPC_SET(report, edited_things, result->n_edited);
	return 0;
}

/* Returns the same values as gather_edits(). */
static int run_all(struct ts_replay *replay, const struct ts_emulate_program *program,
		   const struct edits *edits, Ts__Rpc__ReplayReport *report)
{
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *recorded = NULL;
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *emulated = NULL;
	int r = ts_emulate_recorded(program, &recorded);

	replay->now.doing = "emulating";
	replay->now.replay = 1;
	if (!r)
		r = ts_emulate_run(program, NULL, 0, NULL, replay->limit, &emulated, NULL);
	if (r)
		return r;
	report->recorded = make_run(replay, recorded);
	report->emulated = make_run(replay, emulated);
	replay->now.replay = 2;
	return edits->n ? run_edited(replay, program, edits, report) : 0;
}

static int read_program(struct ts_replay *replay, struct ts_emulate_program **ret_program)
{
	const Ts__Rpc__Query__Replay *asked = replay->asked;
	struct ts_emulate_options options = {
		.session = replay->in_file,
		.has_stream = asked->has_stream,
		.has_ops = asked->has_first_op || asked->has_last_op,
		.stream = asked->stream,
		.first_op = asked->first_op,
		.last_op = asked->has_last_op ? asked->last_op : UINT64_MAX,
		.step = ts_replay_step,
		.step_data = replay,
	};

	if (asked->from)
		options.from_ns = ts_replay_from_ns(replay);
	if (asked->to) {
		options.to_ns = ts_replay_to_ns(replay);
		options.to_ns = options.to_ns ? options.to_ns : 1;
	}
	replay->now.doing = "reading";
	return ts_emulate_read(replay->reader, &options, ret_program);
}

static int give_report(struct ts_replay *replay, const struct ts_emulate_program *program,
		       Ts__Rpc__ReplayReport *report)
{
	Ts__Rpc__ReplayAnswer answer = TS__RPC__REPLAY_ANSWER__INIT;
	struct ts_emulate_doubts doubts;
	int r;

	ts_emulate_doubts(program, &doubts);
	report->path = (char *)(uintptr_t)replay->path;
	report->executor = ts_pool_copy(&replay->pool, "emulate");
	report->doubts = make_doubts(&replay->pool, &doubts);
	if (doubts.is_damaged) {
		replay->end->is_damaged = true;
		replay->end->damage = *ts_sbt_reader_error(replay->reader);
	}
	answer.emulated = report;
	r = ts_replay_give(replay, &answer);
	if (!r && !report->emulated->calls && !report->emulated->operations)
		r = ts_replay_complain(
			replay, false,
			"%s: no call and no GPU operation; `tsctl info` lists the rows of the "
			"trace",
			replay->path);
	return r;
}

int ts_replay_emulate(struct ts_replay *replay)
{
	struct ts_resolver_options names = {.session = replay->in_file};
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program = NULL;
	struct edits *edits = ts_pool_alloc(&replay->pool, 1, sizeof(*edits));
	Ts__Rpc__ReplayReport report = TS__RPC__REPLAY_REPORT__INIT;
	int r = gather_edits(replay, edits);

	r = r ?: ts_resolver_new(replay->reader, &names, &replay->resolver);
	if (!r)
		r = read_program(replay, &program);
	if (r == TS_E_EMULATED)
		r = ts_replay_complain(replay, true,
				       "%s has more than %zu calls and operations; select a window "
				       "with --from and --to",
				       replay->path, TS_EMULATE_MAX_ITEMS)
			    ?: 1;
	r = r ?: run_all(replay, program, edits, &report);
	if (!r && ts_replay_is_empty(replay, report.emulated->calls, report.emulated->operations))
		r = ts_replay_complain(replay, true, "%s: no operation is selected", replay->path)
			    ?: 1;
	/* 1: an answer already reports the error. */
	return r == 1 ? 0 : r ?: give_report(replay, program, &report);
}
