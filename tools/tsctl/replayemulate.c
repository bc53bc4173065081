/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `tsctl replay --on emulate`: the trace in virtual time, as it was and edited, from replay/emulate.
 */
#include "replay/emulate/emulate.h"
#include "replay/report/names.h"
#include "replay/report/pool.h"
#include "replay/report/stackjson.h"
#include "replay/report/statejson.h"
#include "tools/tsctl/jsonout.h"
#include "tools/tsctl/out.h"
#include "tools/tsctl/replayplan.h"
#include "tools/tsctl/term.h"
#include "tools/tsctl/tsctl.h"

#include <errno.h>
#include <inttypes.h>

#define MAX_EDITS    256u
#define NAME_COLUMNS 60u

struct edits {
	struct ts_emulate_edit *at;
	char **texts;
	size_t n;
};

struct teller {
	const struct ts_replay_asked *asked;
	struct ts_source *source;
	struct ts_resolver *resolver;
	struct ts_pool pool;
	struct edits edits;
};

/* ---- edits -------------------------------------------------------------------------------------- */

static int add_edit(struct teller *teller, const char *text, const char *where)
{
	struct edits *edits = &teller->edits;
	char message[TS_EMULATE_TEXT_BYTES];

	if (edits->n == MAX_EDITS) {
		ts_complain("%s: more than %u edits", where, MAX_EDITS);
		return -EINVAL;
	}
	if (ts_emulate_edit_parse(text, &edits->at[edits->n], message)) {
		ts_complain("%s %s: %s; `tsctl replay --what-if help` lists what there is", where,
			    text, message);
		return -EINVAL;
	}
	edits->texts[edits->n++] = ts_pool_copy(&teller->pool, text);
	return 0;
}

static int read_edits(struct teller *teller, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[512];
	int r = 0;

	if (!file) {
		ts_complain("--what-if @%s: %s", path, strerror(errno));
		return -EINVAL;
	}
	while (!r && fgets(line, sizeof(line), file)) {
		size_t n = strcspn(line, "#\r\n");
		char *text = line;

		if (!strchr(line, '\n') && !feof(file)) {
			ts_complain("--what-if @%s: a line is too long to be an edit", path);
			r = -EINVAL;
			break;
		}
		while (n && (line[n - 1] == ' ' || line[n - 1] == '\t'))
			n--;
		line[n] = '\0';
		while (*text == ' ' || *text == '\t')
			text++;
		if (*text)
			r = add_edit(teller, text, path);
	}
	if (!r && ferror(file)) {
		ts_complain("--what-if @%s: it cannot be read", path);
		r = -EINVAL;
	}
	fclose(file);
	return r;
}

static int gather_edits(struct teller *teller)
{
	const struct ts_replay_asked *asked = teller->asked;
	int r = 0;

	teller->edits.at = ts_pool_alloc(&teller->pool, MAX_EDITS, sizeof(*teller->edits.at));
	teller->edits.texts = ts_pool_alloc(&teller->pool, MAX_EDITS, sizeof(char *));
	for (size_t i = 0; !r && i < asked->n_what_if; i++) {
		const char *text = asked->what_if[i];

		r = text[0] == '@' ? read_edits(teller, text + 1)
				   : add_edit(teller, text, "--what-if");
	}
	return r;
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

/* ---- the message -------------------------------------------------------------------------------- */

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

static Ts__Rpc__ReplayStep *make_step(struct teller *teller, const struct ts_emulate_step *step)
{
	struct ts_pool *pool = &teller->pool;
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
	its->name = ts_statejson_op_name(teller->resolver, pool, &op);
	TS_RPC_SET(its, session, step->session);
	TS_RPC_SET(its, op_id, step->op_id);
	ts_stackjson_thread(teller->resolver, pool, step->session, step->thread, &its->tid,
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

static void make_path(struct teller *teller, const struct ts_emulate_result *result,
		      Ts__Rpc__ReplayRun *message)
{
	struct ts_pool *pool = &teller->pool;
	const struct ts_emulate_step **steps =
		ts_pool_alloc(pool, result->n_path + 1, sizeof(*steps));
	uint64_t n_steps[TS_GRAPH_PARTS] = {0};

	for (size_t i = 0; i < result->n_path; i++) {
		steps[i] = &result->path[i];
		n_steps[steps[i]->part]++;
	}
	message->parts = ts_pool_alloc(pool, TS_GRAPH_PARTS, sizeof(*message->parts));
	for (uint32_t part = 0; part < TS_GRAPH_PARTS; part++) {
		Ts__Rpc__GraphPart *its;

		if (!n_steps[part])
			continue;
		its = ts_pool_alloc(pool, 1, sizeof(*its));
		ts__rpc__graph_part__init(its);
		its->part = ts_pool_copy(pool, ts_graph_part_name(part));
		TS_RPC_SET(its, ns, result->parts_ns[part]);
		TS_RPC_SET(its, steps, n_steps[part]);
		message->parts[message->n_parts++] = its;
	}
	qsort(steps, result->n_path, sizeof(*steps), compare_steps);
	message->longest = ts_pool_alloc(pool, result->n_path + 1, sizeof(*message->longest));
	while (message->n_longest < result->n_path && message->n_longest < teller->asked->limit) {
		message->longest[message->n_longest] = make_step(teller, steps[message->n_longest]);
		message->n_longest++;
	}
	TS_RPC_SET(message, steps, result->n_path);
}

static Ts__Rpc__ReplayRun *make_run(struct teller *teller, const struct ts_emulate_result *result)
{
	Ts__Rpc__ReplayRun *message = ts_pool_alloc(&teller->pool, 1, sizeof(*message));

	ts__rpc__replay_run__init(message);
	TS_RPC_SET(message, makespan_ns, result->makespan_ns);
	TS_RPC_SET(message, calls, result->n_calls);
	TS_RPC_SET(message, operations, result->n_ops);
	make_streams(&teller->pool, result, message);
	make_engines(&teller->pool, result, message);
	if (result->path) {
		make_path(teller, result, message);
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

/* ---- for people --------------------------------------------------------------------------------- */

static double percent(uint64_t part, uint64_t of)
{
	return of ? 100.0 * (double)part / (double)of : 0;
}

static void print_makespan(const char *what, uint64_t ns, uint64_t of_ns)
{
	char figure[TS_OUT_FIGURE_BYTES];

	printf("  %-10s %12s", what, ts_out_duration(figure, ns));
	if (of_ns)
		printf("  %+.2f %%", percent(ns, of_ns) - 100);
	putchar('\n');
}

/* Of the run that has the most to tell, each stream and engine beside what it was in the others. */
static void add_share(struct ts_table *table, uint64_t busy_ns, const Ts__Rpc__ReplayRun *run)
{
	if (!run)
		return;
	ts_table_addf(table, "%.1f %%", percent(busy_ns, run->makespan_ns));
}

static uint64_t engine_busy(const Ts__Rpc__ReplayRun *run, const Ts__Rpc__ReplayEngine *engine)
{
	for (size_t i = 0; run && i < run->n_engines; i++)
		if (run->engines[i]->session == engine->session &&
		    run->engines[i]->device == engine->device && engine->n_does &&
		    run->engines[i]->n_does && !strcmp(run->engines[i]->does[0], engine->does[0]))
			return run->engines[i]->busy_ns;
	return 0;
}

static uint64_t stream_busy(const Ts__Rpc__ReplayRun *run, const Ts__Rpc__ReplayStream *stream)
{
	uint64_t busy_ns = 0;

	/* Parts of a split stream have its number. */
	for (size_t i = 0; run && i < run->n_streams; i++)
		if (run->streams[i]->session == stream->session &&
		    run->streams[i]->context == stream->context &&
		    run->streams[i]->stream == stream->stream)
			busy_ns += run->streams[i]->busy_ns;
	return busy_ns;
}

static void print_busy(const Ts__Rpc__ReplayReport *report)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;

	if (ts_table_new(report->edited ? "lrrr" : "lrr", &table))
		return;
	ts_table_add(table, "BUSY");
	ts_table_add(table, "RECORDED");
	ts_table_add(table, "EMULATED");
	if (report->edited)
		ts_table_add(table, "EDITED");
	for (size_t i = 0; i < report->emulated->n_engines; i++) {
		const Ts__Rpc__ReplayEngine *engine = report->emulated->engines[i];
		char does[128] = "";

		for (size_t j = 0; j < engine->n_does; j++) {
			strcat(does, j ? "+" : "");
			strcat(does, engine->does[j]);
		}
		ts_table_addf(table, "device %u, %s", engine->device, does);
		add_share(table, engine_busy(report->recorded, engine), report->recorded);
		add_share(table, engine->busy_ns, report->emulated);
		add_share(table, engine_busy(report->edited, engine), report->edited);
	}
	for (size_t i = 0; i < report->emulated->n_streams; i++) {
		const Ts__Rpc__ReplayStream *stream = report->emulated->streams[i];

		ts_table_addf(table, "stream %u (%" PRIu64 " operations)", stream->stream,
			      stream->operations);
		add_share(table, stream_busy(report->recorded, stream), report->recorded);
		add_share(table, stream->busy_ns, report->emulated);
		add_share(table, stream_busy(report->edited, stream), report->edited);
	}
	putchar('\n');
	ts_table_print(table, stdout, 2, true);
}

static uint64_t part_ns(const Ts__Rpc__ReplayRun *run, const char *part)
{
	for (size_t i = 0; run && i < run->n_parts; i++)
		if (!strcmp(run->parts[i]->part, part))
			return run->parts[i]->ns;
	return 0;
}

static void print_parts(const Ts__Rpc__ReplayReport *report)
{
	ts_cleanup(ts_table_freep) struct ts_table *table = NULL;
	char figure[TS_OUT_FIGURE_BYTES];

	if (ts_table_new(report->edited ? "lrrrr" : "lrr", &table))
		return;
	ts_table_add(table, "CRITICAL PATH");
	for (const char *const *cell = (const char *const[]){"EMULATED", "", "EDITED", "", NULL};
	     *cell && (report->edited || strcmp(*cell, "EDITED")); cell++)
		ts_table_add(table, *cell);
	for (uint32_t part = TS_GRAPH_PARTS; part--;) {
		const char *name = ts_graph_part_name(part);
		uint64_t ns = part_ns(report->emulated, name);
		uint64_t edited_ns = part_ns(report->edited, name);

		if (!ns && !edited_ns)
			continue;
		ts_table_add(table, name);
		ts_table_add(table, ts_out_duration(figure, ns));
		add_share(table, ns, report->emulated);
		if (!report->edited)
			continue;
		ts_table_add(table, ts_out_duration(figure, edited_ns));
		add_share(table, edited_ns, report->edited);
	}
	putchar('\n');
	ts_table_print(table, stdout, 2, true);
}

static void print_steps(const Ts__Rpc__ReplayRun *run, const char *of)
{
	char start[TS_OUT_FIGURE_BYTES], took[TS_OUT_FIGURE_BYTES];

	if (run->n_longest)
		printf("\nLongest steps%s\n", of);
	for (size_t i = 0; i < run->n_longest; i++) {
		const Ts__Rpc__ReplayStep *step = run->longest[i];

		printf("  %14s s  %10s  %-14s  ", ts_out_seconds(start, step->start_ns),
		       ts_out_duration(took, step->end_ns - step->start_ns), step->part);
		if (!strcmp(step->part, "host_gap") || !strcmp(step->part, "wait"))
			fputs("before ", stdout);
		ts_out_text_cut(stdout, step->name ? step->name : "", NAME_COLUMNS);
		if (step->has_stream)
			printf(", stream %" PRIu32, step->stream);
		printf(", op %" PRIu64 "\n", step->op_id);
	}
}

static void print_doubts(const Ts__Rpc__ReplayReport *report)
{
	const Ts__Rpc__ReplayDoubts *doubts = report->doubts;
	const Ts__Rpc__ReplayRun *last = report->edited ? report->edited : report->emulated;
	const struct {
		uint64_t n;
		const char *text;
	} lines[] = {
		{doubts->without_call,
		 "operations without their calls: they run behind what was before them in their streams"},
		{doubts->without_device, "calls of which no operation is recorded: none runs"},
		{doubts->without_record,
		 "waits for events that nothing recorded: they wait for nothing"},
		{doubts->started_before,
		 "operations started before what they had to wait for was over"},
		{doubts->not_waited,
		 "calls returned before what they seem to have waited for was over"},
		{doubts->backwards, "times run backwards"},
		{doubts->unexplained,
		 "operations were held up by what is not recorded, over 1 ms each"},
		{doubts->threads_joined,
		 "begins and ends of threads were taken for dependencies of the first thread"},
		{last->let_go,
		 "things waited in a circle, or for what never came, and were let go"},
	};
	char figure[TS_OUT_FIGURE_BYTES];
	const char *before = "\nNot certain\n";

	for (size_t i = 0; i < TS_ARRAY_LEN(lines); i++) {
		if (!lines[i].n)
			continue;
		printf("%s  %10s %s\n", before, ts_out_count(figure, lines[i].n), lines[i].text);
		before = "";
	}
}

static void print_report(const Ts__Rpc__ReplayReport *report)
{
	char calls[TS_OUT_FIGURE_BYTES], operations[TS_OUT_FIGURE_BYTES];

	fputs(ts_term_style(stdout, TS_STYLE_BOLD), stdout);
	ts_out_text(stdout, report->path);
	printf("%s: %s calls, %s operations\n", ts_term_style(stdout, TS_STYLE_PLAIN),
	       ts_out_count(calls, report->emulated->calls),
	       ts_out_count(operations, report->emulated->operations));
	print_makespan("recorded", report->recorded->makespan_ns, 0);
	print_makespan("emulated", report->emulated->makespan_ns, report->recorded->makespan_ns);
	if (report->edited)
		print_makespan("edited", report->edited->makespan_ns,
			       report->emulated->makespan_ns);
	print_busy(report);
	print_parts(report);
	if (report->edited)
		print_steps(report->edited, ", edited");
	else
		print_steps(report->emulated, "");
	print_doubts(report);
}

/* ---- the whole ---------------------------------------------------------------------------------- */

static int run_edited(struct teller *teller, const struct ts_emulate_program *program,
		      Ts__Rpc__ReplayReport *report)
{
	const struct ts_emulate_names names = {kernel_name, function_name, teller->resolver};
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *result = NULL;
	char message[TS_EMULATE_TEXT_BYTES];
	int r = ts_emulate_run(program, teller->edits.at, teller->edits.n, &names, &result,
			       message);

	if (r == -EINVAL) {
		ts_complain("--what-if %s", message);
		return r;
	}
	if (r)
		return r;
	report->edited = make_run(teller, result);
	report->what_if = teller->edits.texts;
	report->n_what_if = teller->edits.n;
	TS_RPC_SET(report, edited_things, result->n_edited);
	return 0;
}

static int run_all(struct teller *teller, const struct ts_emulate_program *program,
		   Ts__Rpc__ReplayReport *report)
{
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *recorded = NULL;
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *emulated = NULL;
	int r = ts_emulate_recorded(program, &recorded);

	if (!r)
		r = ts_emulate_run(program, NULL, 0, NULL, &emulated, NULL);
	if (r)
		return r;
	report->recorded = make_run(teller, recorded);
	report->emulated = make_run(teller, emulated);
	return teller->edits.n ? run_edited(teller, program, report) : 0;
}

static int read_program(const struct teller *teller, struct ts_emulate_program **ret_program)
{
	const struct ts_replay_asked *asked = teller->asked;
	struct ts_sbt_reader *reader = teller->source->reader;
	uint64_t origin_ns = ts_sbt_reader_origin_ns(reader);
	struct ts_emulate_options options = {
		.session = teller->source->session,
		.has_stream = asked->has_stream,
		.has_ops = asked->has_ops,
		.stream = asked->stream,
		.first_op = asked->first_op,
		.last_op = asked->last_op,
	};

	if (asked->has_from)
		options.from_ns = ts_time_absolute(&asked->from, origin_ns);
	if (asked->has_to) {
		options.to_ns = ts_time_absolute(&asked->to, origin_ns);
		options.to_ns = options.to_ns ? options.to_ns : 1;
	}
	return ts_emulate_read(reader, &options, ret_program);
}

static int tell(struct teller *teller)
{
	struct ts_resolver_options names = {.session = teller->source->session};
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program = NULL;
	ts_cleanup(ts_resolver_freep) struct ts_resolver *resolver = NULL;
	struct ts_source *source = teller->source;
	struct ts_emulate_doubts doubts;
	Ts__Rpc__ReplayReport report;
	int status, r = ts_resolver_new(source->reader, &names, &resolver);

	teller->resolver = resolver;
	ts__rpc__replay_report__init(&report);
	if (!r)
		r = read_program(teller, &program);
	if (r == TS_SBT_E_LIMIT) {
		ts_complain("%s holds more than %zu calls and operations; take a part of it with "
			    "--from and --to",
			    source->path, TS_EMULATE_MAX_ITEMS);
		return TS_EXIT_BAD;
	}
	if (!r) {
		r = run_all(teller, program, &report);
		if (r == -EINVAL)
			return TS_EXIT_BAD;
	}
	if (r) {
		ts_source_complain(source->path, r, ts_sbt_reader_error(source->reader));
		return TS_EXIT_BAD;
	}
	ts_emulate_doubts(program, &doubts);
	report.path = source->path;
	report.executor = ts_pool_copy(&teller->pool, "emulate");
	report.doubts = make_doubts(&teller->pool, &doubts);
	if (teller->asked->json) {
		status = ts_json_print(&report.base);
	} else {
		print_report(&report);
		status = ts_finish_output(TS_EXIT_OK);
	}
	if (!report.emulated->calls && !report.emulated->operations)
		ts_complain(
			"%s: no call and no operation of a GPU there; `tsctl info` tells what is",
			source->path);
	if (status || !doubts.is_damaged)
		return status;
	ts_source_complain(source->path, TS_SBT_E_CORRUPT, ts_sbt_reader_error(source->reader));
	return TS_EXIT_BAD;
}

static int run_emulate(const struct ts_replay_asked *asked, struct ts_source *source)
{
	struct teller teller = {.asked = asked, .source = source, .pool = TS_TSCTL_POOL};
	int status = gather_edits(&teller) ? TS_EXIT_BAD : tell(&teller);

	ts_pool_deinit(&teller.pool);
	return status;
}

const struct ts_replay_executor ts_replay_emulate = {
	.name = "emulate",
	.has_what_if = true,
	.run = run_emulate,
	.plan = ts_replay_plan,
};
