/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the rules of streams (replay/streams/streams.h), and the modules that obey them, with
 * random small programs. An operation comes after all operations that its stream, the rule of the
 * legacy default stream and events put before it. The array `behind` has these operations, computed
 * by the rules of test/unit/state/program.h. The same program then runs in the order of replays, in
 * the checks and on the virtual GPU. Each must keep every required order and no other. test-state.c
 * and test-emulate.c compare state and emulation with the same programs.
 */
#include "test/unit/harness.h"
#include "test/unit/state/program.h"

#include "replay/check/check.h"
#include "replay/exec/exec-order.h"
#include "replay/streams/stream-kind.h"
#include "replay/vgpu/vgpu.h"

#define N_PROGRAMS 1000
#define MAX_ITEMS  10u
#define ADDRESS	   UINT64_C(0x10000)
#define SEEDS	   2000u

static uint64_t seed = 1;

static unsigned int below(unsigned int n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(seed >> 33) % n;
}

static void generate(struct program *program)
{
	static const enum item_kind kinds[] = {ITEM_OP, ITEM_OP, ITEM_OP, ITEM_RECORD, ITEM_WAIT};

	memset(program, 0, sizeof(*program));
	program->n_items = 2 + below(MAX_ITEMS - 1);
	for (unsigned int i = 0; i < program->n_items; i++)
		program->items[i] = (struct item){.kind = kinds[below(TS_ARRAY_LEN(kinds))],
						  .stream = below(PROGRAM_ALL),
						  .object = below(PROGRAM_EVENTS)};
}

/* Computes for each item i a bit mask, behind[i], of the items that must come before it. */
static void work_out(const struct program *program, uint32_t *behind)
{
	for (unsigned int i = 0; i < program->n_items; i++) {
		const struct item *item = &program->items[i];
		const struct item *record =
			item->kind == ITEM_WAIT ? program_record(program, i) : NULL;

		behind[i] = 0;
		for (unsigned int j = 0; j < i; j++)
			if (program_follows(item->stream, program->items[j].stream) ||
			    record == &program->items[j])
				behind[i] |= 1u << j | behind[j];
	}
}

static bool is_legacy(unsigned int stream)
{
	return stream == 0 || stream == PROGRAM_STREAMS;
}

static bool is_non_blocking(unsigned int stream)
{
	return stream == 3 || stream == 6;
}

/* ---- the rules themselves -------------------------------------------------------------------- */

static struct ts_stream_kind kind_of(unsigned int stream)
{
	return is_legacy(stream) ? ts_stream_kind_of(TS_OPERATION_STREAM_LEGACY)
				 : ts_stream_created(is_non_blocking(stream));
}

TS_TEST(two_streams_are_tied_by_the_legacy_one)
{
	for (unsigned int a = 0; a < PROGRAM_ALL; a++)
		for (unsigned int b = 0; b < PROGRAM_ALL; b++) {
			const struct ts_stream_kind one = kind_of(a), other = kind_of(b);

			if (a == b || program_context(a) != program_context(b))
				continue;
			ts_check_int(ts_streams_are_tied(&one, &other), program_follows(a, b));
			ts_check_int(ts_stream_wait_covers(&one, &other),
				     is_legacy(a) && program_follows(a, b));
		}
}

TS_TEST(kinds_are_read_from_flags)
{
	struct ts_stream_kind kind = {0};

	ts_stream_set_kind(&kind, TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN);
	ts_check(!kind.is_known);
	ts_check(ts_stream_is_tied_to_legacy(&kind));
	ts_stream_set_kind(&kind, TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
	ts_check(kind.is_known && kind.is_non_blocking);
	ts_check(!ts_stream_is_tied_to_legacy(&kind));
	ts_stream_set_kind(&kind, TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL);
	ts_check(kind.is_legacy && !kind.is_non_blocking);
	ts_stream_set_kind(&kind, TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
	ts_check(kind.is_legacy && !kind.is_non_blocking);
}

TS_TEST(names_of_streams)
{
	const struct ts_stream_name legacy = {TS_OPERATION_STREAM_LEGACY, 1, 1};
	const struct ts_stream_name own = {TS_OPERATION_STREAM_PER_THREAD, 1, 1};
	const struct ts_stream_name made = {0x1000, 1, 1};
	struct ts_stream_name other = legacy;

	other.thread = 2;
	ts_check(ts_stream_is_same(&legacy, &other));
	other.context = 2;
	ts_check(!ts_stream_is_same(&legacy, &other));
	other = own;
	other.thread = 2;
	ts_check(ts_stream_is_same(&own, &own));
	ts_check(!ts_stream_is_same(&own, &other));
	other = (struct ts_stream_name){made.handle, 2, 2};
	ts_check(ts_stream_is_same(&made, &other));
	ts_check(!ts_stream_is_same(&made, &own));
}

/* ---- rows of operations ---------------------------------------------------------------------- */

static uint64_t handle_of(unsigned int stream)
{
	return is_legacy(stream) ? TS_OPERATION_STREAM_LEGACY : UINT64_C(0x1000) + stream;
}

static struct ts_row_operation creation(unsigned int stream)
{
	return (struct ts_row_operation){.kind = TS_OPERATION_STREAM_CREATE,
					 .object = handle_of(stream),
					 .context = program_context(stream),
					 .value = is_non_blocking(stream)};
}

static struct ts_row_operation row_of(const struct program *program, unsigned int i)
{
	static const uint32_t kinds[] = {[ITEM_OP] = TS_OPERATION_FILL,
					 [ITEM_RECORD] = TS_OPERATION_EVENT_RECORD,
					 [ITEM_WAIT] = TS_OPERATION_STREAM_WAIT};
	const struct item *item = &program->items[i];

	return (struct ts_row_operation){.kind = kinds[item->kind],
					 .sequence = i + 1,
					 .op_id = i + 1,
					 .flags = TS_OPERATION_ASYNC,
					 .object = item->kind == ITEM_OP
							   ? 0
							   : PROGRAM_HANDLE(item->object),
					 .stream_handle = handle_of(item->stream),
					 .context = program_context(item->stream)};
}

/* ---- the order of replays -------------------------------------------------------------------- */

struct done {
	unsigned int n, at[MAX_ITEMS]; /* at: when each item was done */
};

static int on_each(void *userdata, const struct ts_row_operation *operation)
{
	struct done *done = userdata;

	if (operation->sequence)
		done->at[operation->sequence - 1] = done->n++;
	return 0;
}

/*
 * Runs the program and holds back the number-th operation. Returns false if this seed does not hold
 * it.
 */
static bool run_in_order(const struct program *program, uint64_t number, uint64_t with,
			 struct done *ret_done)
{
	const struct ts_exec_decisions kept = {number, number};
	struct ts_exec_schedule schedule = {.seed = with, .kept = &kept, .n_kept = 1};
	struct ts_row_operation rows[PROGRAM_ALL + MAX_ITEMS];
	struct ts_exec_order order = {.schedule = &schedule, .each = on_each, .userdata = ret_done};
	unsigned int n = 0;

	*ret_done = (struct done){0};
	ts_exec_schedule_begin(&schedule);
	for (unsigned int s = 0; s < PROGRAM_ALL; s++)
		if (!is_legacy(s))
			rows[n++] = creation(s);
	for (unsigned int i = 0; i < program->n_items; i++)
		rows[n++] = row_of(program, i);
	for (unsigned int i = 0; i < n; i++)
		ts_check_int(ts_exec_order_next(&order, &rows[i]), 0);
	ts_check_int(ts_exec_order_finish(&order), 0);
	ts_exec_order_deinit(&order);
	ts_check_int(ret_done->n, program->n_items);
	return schedule.n_taken;
}

/*
 * Checks an order in which item `held` is held as long as possible: every later item that need not
 * come after `held` comes before `held`.
 */
static void check_held(const struct program *program, const uint32_t *behind, unsigned int held,
		       uint64_t number)
{
	uint32_t before = 0;
	struct done done;

	for (uint64_t with = 1; with < SEEDS; with++) {
		if (!run_in_order(program, number, with, &done))
			continue;
		for (unsigned int i = 0; i < program->n_items; i++)
			for (unsigned int j = 0; j < i; j++)
				ts_check(!(behind[i] >> j & 1) || done.at[j] < done.at[i]);
		for (unsigned int i = held + 1; i < program->n_items; i++)
			before |= (uint32_t)(done.at[i] < done.at[held]) << i;
		if (with > 200)
			break;
	}
	for (unsigned int i = held + 1; i < program->n_items; i++)
		ts_check_int(before >> i & 1, !(behind[i] >> held & 1));
}

TS_TEST(replays_keep_each_order_and_no_other)
{
	struct program program;
	uint32_t behind[MAX_ITEMS];

	for (unsigned int k = 0; k < N_PROGRAMS / 20; k++) {
		uint64_t number = 0;

		generate(&program);
		work_out(&program, behind);
		for (unsigned int i = 0; i < program.n_items; i++)
			if (program.items[i].kind == ITEM_OP)
				check_held(&program, behind, i, number++);
	}
}

/* ---- the checks ------------------------------------------------------------------------------ */

/* True if the checks report that items a and b, which write the same word, are unordered. */
static bool is_found(const struct program *program, unsigned int a, unsigned int b)
{
	struct ts_row_operation row;
	struct ts_check *check;
	size_t n;

	ts_check_int(ts_check_new(TS_CHECK_ORDER, &check), 0);
	ts_check_int(ts_check_alloc(check, ADDRESS, 4096, TS_CHECK_ALLOC_WRITTEN), 0);
	for (unsigned int s = 0; s < PROGRAM_ALL; s++) {
		if (is_legacy(s))
			continue;
		row = creation(s);
		ts_check_int(ts_check_begin(check, &row), 0);
		ts_check_int(ts_check_done(check), 0);
	}
	for (unsigned int i = 0; i < program->n_items; i++) {
		row = row_of(program, i);
		ts_check_int(ts_check_begin(check, &row), 0);
		if (i == a || i == b)
			ts_check_int(ts_check_writes(check, ADDRESS, 4, 0), 0);
		ts_check_int(ts_check_done(check), 0);
	}
	ts_check_findings(check, &n);
	ts_check_free(check);
	return n;
}

TS_TEST(checks_find_what_no_order_is_between)
{
	struct program program;
	uint32_t behind[MAX_ITEMS];

	for (unsigned int k = 0; k < N_PROGRAMS; k++) {
		generate(&program);
		work_out(&program, behind);
		for (unsigned int i = 0; i < program.n_items; i++)
			for (unsigned int j = 0; j < i; j++)
				if (program.items[i].kind == ITEM_OP &&
				    program.items[j].kind == ITEM_OP)
					ts_check_int(is_found(&program, j, i),
						     !(behind[i] >> j & 1));
	}
}

/* ---- the virtual GPU ------------------------------------------------------------------------- */

struct ran {
	uint64_t queued_ns, start_ns, end_ns;
};

static void on_done(void *userdata, const struct ts_vgpu_done *done)
{
	struct ran *ran = userdata;

	if (done->kind == TS_VGPU_OP_KERNEL)
		ran[done->tag - 1] = (struct ran){done->queued_ns, done->start_ns, done->end_ns};
}

static void put(struct ts_vgpu_stream *stream, struct ts_vgpu_event **events,
		const struct item *item, unsigned int i)
{
	const struct ts_vgpu_launch launch = {.grid = {16, 1, 1},
					      .block = {32, 1, 1},
					      .tag = i + 1};

	if (item->kind == ITEM_OP)
		ts_check_int(ts_vgpu_launch(stream, &launch), 0);
	else if (item->kind == ITEM_RECORD)
		ts_check_int(ts_vgpu_event_record(events[item->object], stream, 0), 0);
	else
		ts_check_int(ts_vgpu_stream_wait(stream, events[item->object], 0), 0);
}

static void run_on_device(const struct program *program, struct ran *ran)
{
	const struct ts_vgpu_observer observer = {.done = on_done, .userdata = ran};
	struct ts_vgpu_stream *streams[PROGRAM_ALL] = {NULL};
	struct ts_vgpu_event *events[PROGRAM_EVENTS];
	struct ts_vgpu_context *contexts[2];
	struct ts_vgpu_spec spec;
	struct ts_vgpu *vgpu;
	char message[160];

	ts_check_int(ts_vgpu_spec_parse("ideal", &spec, message, sizeof(message)), 0);
	spec.without_workers = true;
	ts_check_int(ts_vgpu_new(&spec, &vgpu), 0);
	ts_vgpu_set_observer(vgpu, &observer);
	for (unsigned int c = 0; c < 2; c++)
		ts_check_int(ts_vgpu_context_new(ts_vgpu_device_at(vgpu, 0), &contexts[c]), 0);
	for (unsigned int e = 0; e < PROGRAM_EVENTS; e++)
		ts_check_int(ts_vgpu_event_new(vgpu, &events[e]), 0);
	for (unsigned int s = 0; s < PROGRAM_ALL; s++) {
		struct ts_vgpu_context *context = contexts[s >= PROGRAM_STREAMS];

		streams[s] = ts_vgpu_context_legacy(context);
		if (!is_legacy(s))
			ts_check_int(ts_vgpu_stream_new(context,
							is_non_blocking(s)
								? TS_VGPU_STREAM_NON_BLOCKING
								: 0,
							0, &streams[s]),
				     0);
	}
	for (unsigned int i = 0; i < program->n_items; i++)
		put(streams[program->items[i].stream], events, &program->items[i], i);
	for (unsigned int c = 0; c < 2; c++)
		ts_check_int(ts_vgpu_context_synchronize(contexts[c]), 0);
	for (unsigned int e = 0; e < PROGRAM_EVENTS; e++)
		ts_vgpu_event_free(events[e]);
	ts_vgpu_free(vgpu);
}

/* Each kernel starts when it was queued, or when the last kernel that it must follow is over. */
TS_TEST(the_virtual_gpu_starts_kernels_when_they_may)
{
	struct program program;
	uint32_t behind[MAX_ITEMS];
	struct ran ran[MAX_ITEMS];

	for (unsigned int k = 0; k < N_PROGRAMS / 10; k++) {
		generate(&program);
		work_out(&program, behind);
		memset(ran, 0, sizeof(ran));
		run_on_device(&program, ran);
		for (unsigned int i = 0; i < program.n_items; i++) {
			uint64_t from_ns = ran[i].queued_ns;

			if (program.items[i].kind != ITEM_OP)
				continue;
			ts_check(ran[i].end_ns > ran[i].start_ns);
			for (unsigned int j = 0; j < i; j++)
				if (behind[i] >> j & 1 && ran[j].end_ns > from_ns)
					from_ns = ran[j].end_ns;
			ts_check_int(ran[i].start_ns, from_ns);
		}
	}
}
