/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests replays in other orders of execution. The same seed gives the same order, and no order
 * breaks the rules. If a result depends on the order, the difference is found with the decisions
 * that cause it.
 */
#include "test/unit/exec/program.h"

#include "replay/exec/compiled.h"
#include "replay/exec/exec-schedule.h"
#include "replay/exec/results.h"

#define FIRST_STREAM	0x3000u
#define SECOND_STREAM	0x3001u
#define BLOCKING_STREAM 0x3002u
#define EVENT		0x4000u
#define SCALE		0x2010u
#define SUM		0x2011u
#define COUNT		0x2012u
#define EXCHANGE	0x2013u
#define CHAIN		0x2014u
#define NEXT		0x2015u
#define N_KERNELS	(sizeof(kernels) / sizeof(*kernels))
#define SCHEDULES	40u

/*
 * The kernels in the order of their handles. Each takes p and x; %r2 is the thread, %rd3 the
 * address of its word of p.
 */
static const struct {
	const char *name, *head, *body;
} kernels[] = {
	/* p[i] *= x */
	{"scale", KERNEL_HEAD("scale"),
	 "ld.global.u32 %r3, [%rd3];\nmul.lo.u32 %r3, %r3, %r1;\n"
	 "st.global.u32 [%rd3], %r3;\n"},
	/* p[0] += 1 / (1 + i), floats */
	{"sum", KERNEL_HEAD("sum"),
	 "cvt.rn.f32.u32 %r3, %r2;\nadd.f32 %r3, %r3, 0f3F800000;\n"
	 "rcp.rn.f32 %r3, %r3;\nred.global.add.f32 [%rd1], %r3;\n"},
	/* p[block % 256] += 1 */
	{"count", KERNEL_HEAD("count"),
	 "mov.u32 %r3, %ctaid.x;\nand.b32 %r3, %r3, 255;\nmul.wide.u32 %rd4, %r3, 4;\n"
	 "add.s64 %rd4, %rd1, %rd4;\nred.global.add.u32 [%rd4], 1;\n"},
	/* p[i] = i ^ 128, through shared memory, with a barrier in between if x */
	{"exchange", KERNEL_HEAD("exchange"),
	 ".shared .align 4 .b8 words[1024];\n.reg .pred %p<2>;\n"
	 "shl.b32 %r3, %r2, 2;\nmov.u32 %r4, words;\nadd.u32 %r5, %r4, %r3;\n"
	 "st.shared.u32 [%r5], %r2;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra over;\nbar.sync 0;\n"
	 "over:\nxor.b32 %r3, %r3, 512;\nadd.u32 %r5, %r4, %r3;\nld.shared.u32 %r3, [%r5];\n"
	 "st.global.u32 [%rd3], %r3;\n"},
	/* each block waits until the block before has counted p[0] */
	{"chain", KERNEL_HEAD("chain"),
	 ".reg .pred %p<2>;\nmov.u32 %r3, %ctaid.x;\nagain:\nld.volatile.global.u32 %r4, [%rd1];\n"
	 "setp.ne.u32 %p1, %r4, %r3;\n@%p1 bra again;\nbar.sync 0;\nadd.u32 %r3, %r3, 1;\n"
	 "setp.ne.u32 %p1, %r2, 0;\n@%p1 bra done;\nst.volatile.global.u32 [%rd1], %r3;\ndone:\n"},
	/* p[0] = ++last */
	{"next", ".global .align 4 .u32 last = 5;\n" KERNEL_HEAD("next"),
	 "ld.global.u32 %r3, [last];\nadd.u32 %r3, %r3, 1;\nst.global.u32 [last], %r3;\n"
	 "st.global.u32 [%rd1], %r3;\n"},
};

static void put_module(struct maker *maker)
{
	char ptx[8192] = ".version 7.0\n.target sm_70\n.address_size 64\n";
	size_t n = strlen(ptx);

	for (size_t i = 0; i < N_KERNELS; i++)
		n += (size_t)snprintf(ptx + n, sizeof(ptx) - n, "%s%sret;\n}\n", kernels[i].head,
				      kernels[i].body);
	ts_check(n < sizeof(ptx));
	PUT(maker, .kind = TS_OPERATION_MODULE_LOAD, .object = MODULE + 1,
	    .content = maker_blob(maker, ptx, n + 1));
	for (uint32_t i = 0; i < N_KERNELS; i++)
		PUT(maker, .kind = TS_OPERATION_FUNCTION, .object = SCALE + i, .parent = MODULE + 1,
		    .name = maker_string(maker, kernels[i].name));
}

static void begin(struct maker *maker)
{
	maker_init(maker);
	maker_begin(maker);
	put_module(maker);
	PUT(maker, .kind = TS_OPERATION_STREAM_CREATE, .object = FIRST_STREAM, .value = 1);
	PUT(maker, .kind = TS_OPERATION_STREAM_CREATE, .object = SECOND_STREAM, .value = 1);
	PUT(maker, .kind = TS_OPERATION_EVENT_CREATE, .object = EVENT);
	PUT(maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_CONTEXT);
}

static uint64_t launch(struct maker *maker, uint64_t function, uint32_t x, uint64_t stream,
		       uint32_t n_blocks, uint32_t n_threads)
{
	const uint64_t p = BUFFER;
	uint8_t arguments[12];

	memcpy(arguments, &p, 8);
	memcpy(arguments + 8, &x, 4);
	return PUT(maker, .kind = TS_OPERATION_LAUNCH, .object = function, .stream_handle = stream,
		   .content = maker_blob(maker, arguments, sizeof(arguments)), .grid_x = n_blocks,
		   .grid_y = 1, .grid_z = 1, .block_x = n_threads, .block_y = 1, .block_z = 1);
}

static struct ts_exec_explored explore_with(struct maker *maker,
					    const struct ts_exec_exploration *exploration,
					    uint64_t points_every)
{
	struct ts_sbt_reader *reader = maker_finish(maker);
	struct ts_exec_schedule usual = {0};
	struct ts_exec_options options = {.n_threads = 1,
					  .schedule = &usual,
					  .points_every = points_every};
	struct ts_exec_results results = {0};
	struct ts_exec_explored explored, again;
	struct ts_exec_exploration same = *exploration;
	struct ts_exec_program *program;
	struct ts_exec_report report;

	ts_check_int(ts_exec_program_new(reader, 1, &program), 0);
	ts_check_int(ts_exec_run(program, &ts_exec_vgpu, &options, NULL, NULL, &results, &report),
		     0);
	ts_check_int(report.refused, 0);
	ts_check_int(usual.n_taken, 0);
	ts_check_int(ts_exec_explore(program, &ts_exec_vgpu, &options, exploration, &results, NULL,
				     &explored),
		     0);
	ts_check_int(explored.n_unfinished, 0);
	if (explored.found) {
		/* The reported seed and decisions reproduce the difference exactly. */
		same.n_schedules = 1;
		same.seed = explored.seed;
		same.kept = explored.kept;
		same.n_kept = explored.n_kept;
		ts_check_int(ts_exec_explore(program, &ts_exec_vgpu, &options, &same, &results,
					     NULL, &again),
			     0);
		ts_check(again.found);
		ts_check(
			!memcmp(&again.difference, &explored.difference, sizeof(again.difference)));
		ts_check_int(again.n_decisions, explored.n_decisions);
		ts_check(!memcmp(again.decisions, explored.decisions,
				 again.n_decisions * sizeof(*again.decisions)));
		ts_exec_explored_deinit(&again);
		/* Without the last decision the result is the default one. */
		same.n_kept--;
		ts_check(explored.is_smallest);
		ts_check_int(ts_exec_explore(program, &ts_exec_vgpu, &options, &same, &results,
					     NULL, &again),
			     0);
		ts_check(!again.found);
		ts_exec_explored_deinit(&again);
	}
	ts_exec_results_deinit(&results);
	ts_exec_program_free(program);
	ts_sbt_reader_free(reader);
	return explored;
}

static struct ts_exec_explored explore(struct maker *maker)
{
	const struct ts_exec_exploration exploration = {.n_schedules = SCHEDULES, .seed = 1};

	return explore_with(maker, &exploration, 0);
}

TS_TEST(streams_that_nothing_orders)
{
	struct ts_exec_explored explored;
	struct maker maker;
	uint64_t first, second;

	begin(&maker);
	first = launch(&maker, ADD, 3, FIRST_STREAM, 1, N);
	second = launch(&maker, SCALE, 2, SECOND_STREAM, 1, N);
	explored = explore(&maker);
	ts_check(explored.found);
	ts_check(explored.n_schedules < SCHEDULES);
	ts_check_int(explored.n_decisions, 1);
	ts_check(explored.decisions[0].is_held);
	ts_check_int(explored.decisions[0].sequence, first);
	ts_check_int(explored.decisions[0].first_before, second);
	ts_check_int(explored.difference.address, BUFFER);
	/* (5 + 3) * 2 by default, 5 * 2 + 3 in the other order. */
	ts_check_int(explored.difference.expected[0], 16);
	ts_check_int(explored.difference.found_bytes[0], 13);
	ts_exec_explored_deinit(&explored);
}

/*
 * The final memory is overwritten. A checkpoint at which the host waited for everything still shows
 * the difference.
 */
TS_TEST(what_is_overwritten_later)
{
	const struct ts_exec_exploration exploration = {.n_schedules = SCHEDULES, .seed = 1};

	for (uint64_t points_every = 0; points_every <= 3; points_every++) {
		struct ts_exec_explored explored;
		struct maker maker;
		uint64_t seen;

		/* begin() waits once, so `seen` is the second operation at which the host waits. */
		begin(&maker);
		launch(&maker, ADD, 3, FIRST_STREAM, 1, N);
		launch(&maker, SCALE, 2, SECOND_STREAM, 1, N);
		seen = PUT(&maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_CONTEXT);
		PUT(&maker, .kind = TS_OPERATION_FILL, .dst = BUFFER, .value = 1, .bytes = N,
		    .height = 1, .src = 4, .stream_handle = FIRST_STREAM,
		    .flags = TS_OPERATION_ASYNC);
		PUT(&maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_CONTEXT);
		explored = explore_with(&maker, &exploration, points_every);
		ts_check_int(explored.found, points_every == 1 || points_every == 2);
		if (explored.found) {
			ts_check_int(explored.difference.kind, TS_EXEC_RESULT_POINT);
			ts_check_int(explored.difference.sequence, seen);
			ts_check_int(explored.difference.address, BUFFER);
			ts_check_int(explored.difference.expected[0], 16);
			ts_check_int(explored.difference.found_bytes[0], 13);
		}
		ts_exec_explored_deinit(&explored);
	}
}

/*
 * If the host waits for one stream or event, operations of another stream may be complete or not.
 * So such a wait is no checkpoint.
 */
TS_TEST(no_point_where_something_goes_on)
{
	const struct ts_exec_exploration exploration = {.n_schedules = SCHEDULES, .seed = 1};
	struct ts_exec_explored explored;
	struct maker maker;

	begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_FILL, .dst = BUFFER, .value = 1, .bytes = 1, .height = 1,
	    .src = 4, .stream_handle = FIRST_STREAM, .flags = TS_OPERATION_ASYNC);
	PUT(&maker, .kind = TS_OPERATION_FILL, .dst = BUFFER + 4, .value = 2, .bytes = 1,
	    .height = 1, .src = 4, .stream_handle = SECOND_STREAM, .flags = TS_OPERATION_ASYNC);
	PUT(&maker, .kind = TS_OPERATION_EVENT_RECORD, .object = EVENT,
	    .stream_handle = FIRST_STREAM);
	PUT(&maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_EVENT, .object = EVENT);
	for (uint32_t i = 0; i < 3; i++)
		PUT(&maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_STREAM,
		    .stream_handle = (uint64_t[]){FIRST_STREAM, TS_OPERATION_STREAM_LEGACY,
						  TS_OPERATION_STREAM_PER_THREAD}[i]);
	PUT(&maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_CONTEXT);
	explored = explore_with(&maker, &exploration, 1);
	ts_check(!explored.found);
	ts_check_int(explored.n_schedules, SCHEDULES);
	ts_exec_explored_deinit(&explored);
}

static void check_ordered(struct maker *maker)
{
	struct ts_exec_explored explored = explore(maker);

	ts_check(!explored.found);
	ts_check_int(explored.n_schedules, SCHEDULES);
	ts_exec_explored_deinit(&explored);
}

TS_TEST(an_event_orders)
{
	struct maker maker;

	begin(&maker);
	for (int i = 0; i < 4; i++) {
		launch(&maker, ADD, 3, FIRST_STREAM, 1, N);
		PUT(&maker, .kind = TS_OPERATION_EVENT_RECORD, .object = EVENT,
		    .stream_handle = FIRST_STREAM);
		PUT(&maker, .kind = TS_OPERATION_STREAM_WAIT, .object = EVENT,
		    .stream_handle = SECOND_STREAM);
		launch(&maker, SCALE, 2, SECOND_STREAM, 1, N);
		PUT(&maker, .kind = TS_OPERATION_EVENT_RECORD, .object = EVENT,
		    .stream_handle = SECOND_STREAM);
		PUT(&maker, .kind = TS_OPERATION_STREAM_WAIT, .object = EVENT,
		    .stream_handle = FIRST_STREAM);
	}
	check_ordered(&maker);
}

/* A wait for an event covers the event's last record before the wait, not a later record. */
TS_TEST(an_earlier_record_orders_less)
{
	struct ts_exec_explored explored;
	struct maker maker;

	begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_EVENT_RECORD, .object = EVENT,
	    .stream_handle = FIRST_STREAM);
	launch(&maker, ADD, 3, FIRST_STREAM, 1, N);
	PUT(&maker, .kind = TS_OPERATION_STREAM_WAIT, .object = EVENT,
	    .stream_handle = SECOND_STREAM);
	launch(&maker, SCALE, 2, SECOND_STREAM, 1, N);
	explored = explore(&maker);
	ts_check(explored.found);
	ts_exec_explored_deinit(&explored);
}

TS_TEST(the_host_orders)
{
	static const struct ts_row_operation waits[] = {
		{.kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_CONTEXT},
		{.kind = TS_OPERATION_SYNC,
		 .flags = TS_OPERATION_SYNC_STREAM,
		 .stream_handle = FIRST_STREAM},
		{.kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_EVENT, .object = EVENT},
		{.kind = TS_OPERATION_STREAM_DESTROY, .object = FIRST_STREAM},
	};

	for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) {
		struct maker maker;

		begin(&maker);
		launch(&maker, ADD, 3, FIRST_STREAM, 1, N);
		PUT(&maker, .kind = TS_OPERATION_EVENT_RECORD, .object = EVENT,
		    .stream_handle = FIRST_STREAM);
		maker_put(&maker, waits[i]);
		launch(&maker, SCALE, 2, SECOND_STREAM, 1, N);
		check_ordered(&maker);
	}
}

/*
 * A wait for the legacy stream covers its context except non-blocking streams. A wait for a
 * per-thread stream covers only that thread's stream.
 */
TS_TEST(default_streams_are_not_all_there_is)
{
	enum {
		LEGACY = TS_OPERATION_STREAM_LEGACY,
		OWN = TS_OPERATION_STREAM_PER_THREAD
	};
	static const struct {
		uint64_t stream, waited_for;
		uint32_t thread; /* the waiting thread; thread 0 launches */
		bool is_ordered;
	} cases[] = {
		{FIRST_STREAM, LEGACY, 0, false},
		{FIRST_STREAM, OWN, 0, false},
		{BLOCKING_STREAM, LEGACY, 0, true},
		{BLOCKING_STREAM, OWN, 0, false},
		{OWN, LEGACY, 0, true},
		{OWN, OWN, 0, true},
		{OWN, OWN, 7, false},
		{LEGACY, LEGACY, 7, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ts_exec_explored explored;
		struct maker maker;

		begin(&maker);
		PUT(&maker, .kind = TS_OPERATION_STREAM_CREATE, .object = BLOCKING_STREAM);
		launch(&maker, ADD, 3, cases[i].stream, 1, N);
		PUT(&maker, .kind = TS_OPERATION_SYNC, .flags = TS_OPERATION_SYNC_STREAM,
		    .stream_handle = cases[i].waited_for, .thread = cases[i].thread);
		launch(&maker, SCALE, 2, SECOND_STREAM, 1, N);
		explored = explore(&maker);
		ts_check_int(explored.found, !cases[i].is_ordered);
		ts_exec_explored_deinit(&explored);
	}
}

/*
 * A copy to pageable memory is complete when its call returns. A copy to pinned memory may complete
 * later.
 */
TS_TEST(copies_to_the_host)
{
	const uint64_t host = UINT64_C(0x7ffe00000000);
	uint8_t bytes[4 * N] = {0};

	for (uint32_t i = 0; i < N; i++)
		bytes[4 * i] = 8;
	for (int form = 0; form < 3; form++) {
		struct ts_exec_explored explored;
		struct ts_row_operation out;
		struct maker maker;

		begin(&maker);
		if (form)
			PUT(&maker, .kind = TS_OPERATION_ALLOC, .dst = host, .bytes = sizeof(bytes),
			    .flags = TS_OPERATION_MEMORY_PINNED);
		if (form == 2)
			PUT(&maker, .kind = TS_OPERATION_FREE, .dst = host);
		launch(&maker, ADD, 3, FIRST_STREAM, 1, N);
		out = maker_copy(sizeof(bytes), TS_OPERATION_DST_HOST | TS_OPERATION_ASYNC);
		out.dst = host;
		out.src = BUFFER;
		out.stream_handle = FIRST_STREAM;
		out.content = maker_blob(&maker, bytes, sizeof(bytes));
		maker_put(&maker, out);
		launch(&maker, SCALE, 2, SECOND_STREAM, 1, N);
		explored = explore(&maker);
		ts_check_int(explored.found, form == 1);
		ts_exec_explored_deinit(&explored);
	}
}

/* Blocking streams and the legacy default stream wait for each other; non-blocking ones do not. */
TS_TEST(the_legacy_stream_orders)
{
	struct ts_exec_explored explored;
	struct maker maker;

	begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_STREAM_CREATE, .object = BLOCKING_STREAM);
	launch(&maker, ADD, 3, BLOCKING_STREAM, 1, N);
	launch(&maker, SCALE, 2, STREAM, 1, N);
	launch(&maker, ADD, 3, BLOCKING_STREAM, 1, N);
	check_ordered(&maker);
	begin(&maker);
	launch(&maker, ADD, 3, FIRST_STREAM, 1, N);
	launch(&maker, SCALE, 2, STREAM, 1, N);
	explored = explore(&maker);
	ts_check(explored.found);
	ts_exec_explored_deinit(&explored);
}

TS_TEST(sums_of_floats)
{
	struct ts_exec_explored explored;
	struct maker maker;
	uint64_t sum;

	begin(&maker);
	PUT(&maker, .kind = TS_OPERATION_FILL, .dst = BUFFER, .bytes = N, .height = 1, .src = 4,
	    .stream_handle = STREAM);
	launch(&maker, ADD, 0, STREAM, 1, N);
	sum = launch(&maker, SUM, 0, STREAM, 1, N);
	launch(&maker, ADD, 0, STREAM, 1, N);
	explored = explore(&maker);
	ts_check(explored.found);
	for (uint32_t i = 0; i < explored.n_decisions; i++) {
		ts_check(!explored.decisions[i].is_held);
		ts_check_int(explored.decisions[i].sequence, sum);
	}
	ts_check_int(explored.difference.address, BUFFER);
	ts_exec_explored_deinit(&explored);
}

TS_TEST(barriers_order)
{
	struct ts_exec_explored explored;
	struct maker maker;

	begin(&maker);
	launch(&maker, EXCHANGE, 1, STREAM, 1, N);
	check_ordered(&maker);
	begin(&maker);
	launch(&maker, EXCHANGE, 0, STREAM, 1, N);
	explored = explore(&maker);
	ts_check(explored.found);
	ts_check_int(explored.decisions[0].choice.kind, TS_PTX_CHOICE_TURN);
	ts_exec_explored_deinit(&explored);
}

/*
 * More blocks than can be resident at once: each runs once, and blocks that wait for earlier ones
 * complete.
 */
TS_TEST(blocks)
{
	const struct ts_exec_exploration unordered = {.n_schedules = SCHEDULES,
						      .seed = 1,
						      .unordered_blocks = true};
	struct ts_exec_explored explored;
	struct maker maker;

	begin(&maker);
	launch(&maker, COUNT, 0, STREAM, 300, 33);
	PUT(&maker, .kind = TS_OPERATION_FILL, .dst = BUFFER, .bytes = 1, .height = 1, .src = 4,
	    .stream_handle = STREAM);
	launch(&maker, CHAIN, 0, STREAM, 100, 64);
	check_ordered(&maker);
	begin(&maker);
	launch(&maker, COUNT, 0, STREAM, 300, 33);
	launch(&maker, COUNT, 0, STREAM, 256, 1);
	explored = explore_with(&maker, &unordered, 0);
	ts_check(!explored.found);
	ts_exec_explored_deinit(&explored);
}

/* A schedule that runs out of time gives no result. */
TS_TEST(what_does_not_end)
{
	struct ts_exec_schedule usual = {0};
	struct ts_exec_options options = {.n_threads = 1, .schedule = &usual};
	const struct ts_exec_exploration exploration = {.n_schedules = 1};
	struct ts_exec_results results = {0};
	struct ts_exec_explored explored;
	struct ts_exec_program *program;
	struct ts_sbt_reader *reader;
	struct ts_exec_report report;
	struct maker maker;

	begin(&maker);
	launch(&maker, ADD, 3, STREAM, 1, N);
	reader = maker_finish(&maker);
	ts_check_int(ts_exec_program_new(reader, 1, &program), 0);
	ts_check_int(ts_exec_run(program, &ts_exec_vgpu, &options, NULL, NULL, &results, &report),
		     0);
	options.time_ns = 1;
	ts_check_int(ts_exec_explore(program, &ts_exec_vgpu, &options, &exploration, &results, NULL,
				     &explored),
		     0);
	ts_check_int(explored.n_schedules, 1);
	ts_check_int(explored.n_unfinished, 1);
	ts_check(!explored.found);
	ts_exec_explored_deinit(&explored);
	ts_exec_results_deinit(&results);
	ts_exec_program_free(program);
	ts_sbt_reader_free(reader);
}

/*
 * Code that is compiled once is used in several runs, and each run still begins with the variables'
 * initial values.
 */
TS_TEST(code_is_compiled_once)
{
	struct ts_exec_compiled compiled = {0};
	struct ts_exec_options options = {.n_threads = 1, .compiled = &compiled};
	struct ts_exec_results results[2] = {0};
	const struct ts_vgpu_module *code[2];
	struct ts_exec_difference difference = {0};
	struct ts_exec_program *program;
	struct ts_exec_report report;
	struct ts_sbt_reader *reader;
	struct maker maker;

	begin(&maker);
	launch(&maker, NEXT, 0, FIRST_STREAM, 1, 1);
	launch(&maker, NEXT, 0, FIRST_STREAM, 1, 1);
	reader = maker_finish(&maker);
	ts_check_int(ts_exec_program_new(reader, 1, &program), 0);
	for (int i = 0; i < 2; i++) {
		ts_check_int(ts_exec_run(program, &ts_exec_vgpu, &options, NULL, NULL, &results[i],
					 &report),
			     0);
		ts_check_int(report.refused, 0);
		ts_check_int(compiled.n, 1);
		code[i] = compiled.modules[0].code;
	}
	ts_check(code[0] == code[1]);
	ts_check(results[0].n);
	ts_exec_results_compare(&results[0], &results[1], &difference);
	ts_check(!difference.found);
	ts_exec_results_deinit(&results[0]);
	ts_exec_results_deinit(&results[1]);
	ts_exec_compiled_deinit(&compiled);
	ts_exec_program_free(program);
	ts_sbt_reader_free(reader);
}
