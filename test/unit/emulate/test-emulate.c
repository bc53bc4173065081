/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the emulation with a reference that runs small programs nanosecond by nanosecond with
 * the rules alone. The kernels run as recorded, or with other durations. All calls and latencies
 * have the same length: for an operation that the trace does not show fully, the emulation uses
 * those of other operations.
 */
#include "test/unit/harness.h"
#include "test/unit/state/program.h"

#include "replay/emulate/simulate.h"

#define N_PROGRAMS 10000
#define N_NAMES	   3u
#define CALL_NS	   3u
#define LATENCY_NS 5u

static uint64_t seed;

static unsigned int below(unsigned int n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(seed >> 33) % n;
}

static void generate(struct program *program)
{
	static const enum item_kind kinds[] = {ITEM_OP,	    ITEM_OP,   ITEM_OP,
					       ITEM_RECORD, ITEM_WAIT, ITEM_WAIT};
	uint64_t now = 1;

	program->n_items = 2 + below(PROGRAM_MAX_ITEMS - 1);
	for (unsigned int i = 0; i < program->n_items; i++) {
		struct item *item = &program->items[i];

		*item = (struct item){.kind = kinds[below(TS_ARRAY_LEN(kinds))],
				      .stream = below(PROGRAM_STREAMS),
				      .object = below(PROGRAM_EVENTS),
				      .call_ns = now + 1 + below(6),
				      .latency_ns = LATENCY_NS,
				      .duration_ns = 1 + below(30)};
		item->call_end_ns = item->call_ns + CALL_NS;
		now = item->call_end_ns;
	}
}

static const char *name_of(void *user, uint32_t name)
{
	static const char *const names[] = {"alpha(int)", "beta", "gamma<float>(int)"};

	(void)user;
	return name && name <= N_NAMES ? names[name - 1] : NULL;
}

static const struct ts_emulate_names names = {.kernel = name_of};

/* Reads the program. Its kernels get N_NAMES names in turn. */
static struct ts_emulate_program *read_program(struct program *program)
{
	ts_cleanup(ts_emulate_builder_freep) struct ts_emulate_builder *builder = NULL;
	const struct ts_emulate_options options = {0};
	struct ts_emulate_program *result = NULL;

	program_trace(program);
	for (unsigned int i = 0; i < program->n_rows; i++)
		if (program->rows[i].type == TS_ROW_KERNEL) {
			struct ts_row_kernel *row = (void *)(uintptr_t)program->rows[i].any;

			row->name = 1 + (uint32_t)row->op_id % N_NAMES;
		}
	ts_check_int(ts_emulate_builder_new(NULL, &options, &builder), 0);
	for (unsigned int i = 0; i < program->n_rows; i++)
		ts_check_int(ts_emulate_builder_feed(builder, &program->rows[i]), 0);
	ts_check_int(ts_emulate_builder_finish(builder, &result), 0);
	return result;
}

static uint64_t latest_ns(const struct program *program)
{
	uint64_t to_ns = 0;

	for (unsigned int i = 0; i < program->n_items; i++) {
		const struct item *item = &program->items[i];
		uint64_t end_ns = item->kind == ITEM_OP ? item->done_ns : item->call_end_ns;

		to_ns = end_ns > to_ns ? end_ns : to_ns;
	}
	return to_ns - program->items[0].call_ns;
}

static void check_starts(const struct program *program, const struct ts_emulate_program *emulated)
{
	ts_cleanup(ts_emulate_run_deinit) struct ts_emulate_run run;

	ts_check_int(ts_emulate_run_init(&run, emulated), 0);
	ts_check_int(ts_emulate_simulate(emulated, &run), 0);
	for (size_t i = 0; i < emulated->n_items; i++) {
		uint64_t op_id = emulated->recorded_items[i].op_id;

		if (emulated->items[i].kind == TS_EMULATE_OP)
			ts_check_int(run.items[i].start_ns + emulated->base_ns,
				     program->items[op_id - 1].start_ns);
	}
	ts_check_int(run.n_broken, 0);
}

static void check_result(const struct program *program, const struct ts_emulate_result *result)
{
	uint64_t time_ns = 0, parts_ns = 0;

	ts_check_int(result->makespan_ns, latest_ns(program));
	/* The path covers all time. */
	for (size_t i = 0; i < result->n_longest; i++) {
		ts_check_int(result->longest[i].from_ns, time_ns);
		ts_check(result->longest[i].to_ns > time_ns);
		time_ns = result->longest[i].to_ns;
	}
	ts_check_int(time_ns, result->makespan_ns);
	for (unsigned int i = 0; i < TS_GRAPH_PARTS; i++)
		parts_ns += result->parts_ns[i];
	ts_check_int(parts_ns, result->makespan_ns);
}

/* The order of the steps that a result keeps: longest first, then earliest. */
static int compare_longest(const void *a, const void *b)
{
	const struct ts_emulate_step *x = a, *y = b;
	uint64_t x_ns = x->to_ns - x->from_ns, y_ns = y->to_ns - y->from_ns;

	if (x_ns != y_ns)
		return x_ns > y_ns ? -1 : 1;
	return x->from_ns < y->from_ns ? -1 : 1;
}

/* A result with few steps has the longest ones of the whole path, and the sums of all. */
static void check_longest(const struct ts_emulate_program *program,
			  const struct ts_emulate_result *whole)
{
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *result = NULL;
	size_t max_steps = below(8), n = max_steps < whole->n_path ? max_steps : whole->n_path;
	struct ts_emulate_step *steps = calloc(whole->n_path + 1, sizeof(*steps));
	uint64_t n_steps = 0;

	ts_check_int(whole->n_longest, whole->n_path);
	ts_check_int(ts_emulate_run(program, NULL, 0, NULL, max_steps, &result, NULL), 0);
	ts_check_int(result->n_path, whole->n_path);
	ts_check_int(result->n_longest, n);
	for (unsigned int i = 0; i < TS_GRAPH_PARTS; i++) {
		ts_check_int(result->parts_ns[i], whole->parts_ns[i]);
		ts_check_int(result->n_steps[i], whole->n_steps[i]);
		n_steps += whole->n_steps[i];
	}
	ts_check_int(n_steps, whole->n_path);
	ts_check(steps);
	for (size_t i = 0; i < whole->n_path; i++)
		steps[i] = whole->longest[i];
	qsort(steps, whole->n_path, sizeof(*steps), compare_longest);
	if (n)
		qsort(result->longest, n, sizeof(*result->longest), compare_longest);
	ts_check(!n || !memcmp(steps, result->longest, n * sizeof(*steps)));
	free(steps);
}

TS_TEST(as_it_was)
{
	struct program program;

	seed = 1;
	for (unsigned int i = 0; i < ts_cases(N_PROGRAMS); i++) {
		ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *emulated = NULL;
		ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *result = NULL;
		ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *recorded = NULL;

		generate(&program);
		/* Without edits the result is the recorded one, even if latencies differ. */
		for (unsigned int k = 0; k < program.n_items; k++)
			program.items[k].latency_ns = 1 + below(8);
		program_run(&program);
		emulated = read_program(&program);
		check_starts(&program, emulated);
		ts_check_int(ts_emulate_run(emulated, NULL, 0, NULL, SIZE_MAX, &result, NULL), 0);
		check_result(&program, result);
		check_longest(emulated, result);
		ts_check_int(ts_emulate_recorded(emulated, &recorded), 0);
		ts_check_int(recorded->makespan_ns, result->makespan_ns);
		ts_check_int(recorded->n_streams, result->n_streams);
		for (size_t k = 0; k < result->n_streams; k++)
			ts_check_int(recorded->streams[k].busy_ns, result->streams[k].busy_ns);
	}
}

/*
 * Compares the reference's run of the edited program with the emulation of the recorded program
 * with the edit.
 */
TS_TEST(kernels_of_other_durations)
{
	static const struct {
		const char *text;
		uint32_t name; /* 0: all */
		uint64_t times, by, ns;
	} edits[] = {
		{"kernel alpha=0.5x", 1, 2, 1, 0},    {"kernel beta=0.25x", 2, 4, 1, 0},
		{"kernel gamma=1ns", 3, 0, 1, 1},     {"kernel *=0.2x", 0, 5, 1, 0},
		{"kernel gam?a<*=40ns", 3, 0, 1, 40},
	};
	struct program program;
	unsigned int n_off = 0;

	seed = 2;
	for (unsigned int i = 0; i < ts_cases(N_PROGRAMS); i++) {
		ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *emulated = NULL;
		ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *result = NULL;
		unsigned int which = below(TS_ARRAY_LEN(edits));
		char message[TS_EMULATE_TEXT_BYTES];
		struct ts_emulate_edit edit;
		bool is_any = false;
		int r;

		generate(&program);
		program_run(&program);
		emulated = read_program(&program);
		for (unsigned int k = 0; k < program.n_items; k++) {
			struct item *item = &program.items[k];

			if (item->kind != ITEM_OP ||
			    (edits[which].name && 1 + (k + 1) % N_NAMES != edits[which].name))
				continue;
			is_any = true;
			item->duration_ns = edits[which].ns
						    ? edits[which].ns
						    : item->duration_ns * edits[which].times;
		}
		program_run(&program);
		ts_check_int(ts_emulate_edit_parse(edits[which].text, &edit, message), 0);
		r = ts_emulate_run(emulated, &edit, 1, &names, SIZE_MAX, &result, message);
		ts_check_int(r, is_any ? 0 : -EINVAL);
		if (!is_any)
			continue;
		/*
		 * If every operation waited for another one, no row shows how long a launch takes,
		 * so the result may differ by the times of one call.
		 */
		if (result->makespan_ns != latest_ns(&program)) {
			uint64_t a = result->makespan_ns, b = latest_ns(&program);

			ts_check((a > b ? a - b : b - a) <= CALL_NS + LATENCY_NS);
			n_off++;
			continue;
		}
		check_result(&program, result);
	}
	ts_check(n_off < ts_cases(N_PROGRAMS) / 100);
}

/*
 * Checks the order in which a device that runs one kernel at a time starts four kernels. They are
 * called in the order x, a, b, c; the priorities are in the same order.
 */
static void run_in_turn(const int32_t priorities[4], const char *order)
{
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *emulated = NULL;
	ts_cleanup(ts_emulate_run_deinit) struct ts_emulate_run run;
	struct program program = {.n_items = 4};
	uint64_t last_ns = 0;

	for (unsigned int i = 0; i < 4; i++)
		program.items[i] = (struct item){.kind = ITEM_OP,
						 .stream = 1 + i % 3,
						 .call_ns = 10 + 10 * i,
						 .call_end_ns = 11 + 10 * i,
						 .latency_ns = LATENCY_NS,
						 .duration_ns = 1000};
	/* The fourth kernel gets its own stream, so it does not queue behind the first. */
	program.items[3].stream = 6;
	program_run(&program);
	emulated = read_program(&program);
	ts_check_int(emulated->n_items, 4);
	for (size_t i = 0; i < 4; i++) {
		emulated->items[i].engine = 0;
		emulated->queues[emulated->items[i].stream].priority = priorities[i];
	}
	emulated->engines[0].capacity = 1;
	ts_check_int(ts_emulate_run_init(&run, emulated), 0);
	ts_check_int(ts_emulate_simulate(emulated, &run), 0);
	for (; *order; order++) {
		const struct ts_emulate_run_item *item =
			&run.items[*order == 'x' ? 0 : *order - 'a' + 1];

		ts_check(item->start_ns >= last_ns);
		last_ns = item->end_ns;
	}
}

/*
 *	1   xxxx
 *	2   ....            aaaa	a: the lowest priority
 *	3   ....    bbbb		b: between
 *	6   ....cccc			c: the highest priority; x runs to its end
 */
TS_TEST(a_higher_priority_goes_first_where_the_device_is_full)
{
	run_in_turn((const int32_t[]){0, 0, -1, -2}, "xcba");
	run_in_turn((const int32_t[]){0, -2, -1, 0}, "xabc");
	run_in_turn((const int32_t[]){0, 0, -1, -1}, "xbca");
	run_in_turn((const int32_t[]){0, -1, 0, -1}, "xacb");
	run_in_turn((const int32_t[]){-5, -5, -5, -5}, "xabc");
}

/* The stream's row has the priority. */
TS_TEST(priorities_are_those_of_the_trace)
{
	ts_cleanup(ts_emulate_builder_freep) struct ts_emulate_builder *builder = NULL;
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *emulated = NULL;
	const struct ts_row_stream stream = {.context = 1, .stream = 9, .priority = -3};
	const struct ts_sbt_row row = {.type = TS_ROW_STREAM,
				       .session = 1,
				       .schema = ts_row_schema(TS_ROW_STREAM),
				       .stream = &stream};
	const struct ts_emulate_options options = {0};

	ts_check_int(ts_emulate_builder_new(NULL, &options, &builder), 0);
	ts_check_int(ts_emulate_builder_feed(builder, &row), 0);
	ts_check_int(ts_emulate_builder_finish(builder, &emulated), 0);
	ts_check_int(emulated->n_queues, 1);
	ts_check_int(emulated->queues[0].priority, -3);
}
