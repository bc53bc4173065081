/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the state at an instant. Compares thousands of programs with a reference that knows only
 * the rules, and reads traces with missing or false rows.
 */
#include "test/unit/harness.h"
#include "test/unit/state/scenario.h"

#define N_PROGRAMS 10000
#define N_INSTANTS 4

static uint64_t seed;

static unsigned int below(unsigned int n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned int)(seed >> 33) % n;
}

static void generate(struct program *program)
{
	uint64_t now = 1;
	bool live[PROGRAM_BLOCKS] = {false};
	/* Streams of one context, or of two contexts that wait for each other. */
	unsigned int n_streams = below(2) ? PROGRAM_ALL : PROGRAM_STREAMS;

	program->n_items = 2 + below(PROGRAM_MAX_ITEMS - 1);
	for (unsigned int i = 0; i < program->n_items; i++) {
		static const enum item_kind kinds[] = {
			ITEM_OP,    ITEM_OP,	      ITEM_OP,		ITEM_OP,	 ITEM_OP,
			ITEM_OP,    ITEM_OP,	      ITEM_RECORD,	ITEM_RECORD,	 ITEM_WAIT,
			ITEM_WAIT,  ITEM_WAIT,	      ITEM_ALLOC,	ITEM_ALLOC,	 ITEM_COPY,
			ITEM_GRAPH, ITEM_SYNC_STREAM, ITEM_SYNC_DEVICE, ITEM_SYNC_EVENT, ITEM_HOST};
		struct item *item = &program->items[i];

		*item = (struct item){.kind = kinds[below(TS_ARRAY_LEN(kinds))],
				      .stream = below(n_streams),
				      .object = below(PROGRAM_EVENTS),
				      .call_ns = now + 1 + below(6),
				      .latency_ns = 1 + below(8),
				      .duration_ns = 1 + below(30)};
		item->call_end_ns = item->call_ns + 1 + below(5);
		now = item->call_end_ns;
		if (item->kind != ITEM_ALLOC)
			continue;
		item->kind = live[item->object] ? ITEM_FREE : ITEM_ALLOC;
		live[item->object] = !live[item->object];
	}
}

/* Returns the last operation before item i in its stream that has not ended at t. */
static unsigned int behind(const struct program *program, unsigned int i, uint64_t t)
{
	for (unsigned int j = i; j-- > 0;)
		if (program_works(&program->items[j]) &&
		    program->items[j].stream == program->items[i].stream)
			return program->items[j].done_ns > t ? j + 1 : 0;
	return 0;
}

/* Bit masks: before[i] has all items before item i, directly or through other items. */
static uint32_t before[PROGRAM_MAX_ITEMS];

static void find_before(const struct program *program)
{
	for (unsigned int i = 0; i < program->n_items; i++) {
		const struct item *item = &program->items[i];
		const struct item *record =
			item->kind == ITEM_WAIT ? program_record(program, i) : NULL;

		before[i] = 0;
		for (unsigned int j = 0; j < i; j++)
			if (&program->items[j] == record ||
			    (program_is_queued(&program->items[j]) &&
			     program_follows(item->stream, program->items[j].stream)))
				before[i] |= 1u << j | before[j];
	}
}

/* Returns the latest end of the known work among these items; 0: all had ended at t. */
static uint64_t known_ns(const struct program *program, uint32_t items, uint64_t t)
{
	uint64_t last_ns = 0;

	for (unsigned int j = 0; j < program->n_items; j++)
		if (items & 1u << j && program_works(&program->items[j]) &&
		    program->items[j].done_ns > t && program->items[j].done_ns > last_ns)
			last_ns = program->items[j].done_ns;
	return last_ns;
}

/*
 * Returns the host functions that may still run at t, as far as the trace shows: no operation that
 * waits for them had begun.
 */
static uint32_t pending_hosts(const struct program *program, uint32_t items, uint64_t t)
{
	for (unsigned int k = 0; k < program->n_items; k++)
		if (program_works(&program->items[k]) && program->items[k].start_ns <= t)
			items &= ~before[k];
	for (unsigned int j = 0; j < program->n_items; j++)
		if (program->items[j].kind != ITEM_HOST)
			items &= ~(1u << j);
	return items;
}

static void check_op(const struct program *program, unsigned int i,
		     const struct ts_state_current *current, uint64_t t)
{
	const struct item *item = &program->items[i];
	uint32_t unsure = item->kind == ITEM_GRAPH ? TS_STATE_UNSURE_GRAPH : 0;
	uint32_t items = before[i], hosts = pending_hosts(program, items, t);
	uint64_t last_ns = known_ns(program, items, t);

	ts_check_int(current->op.call_ns, item->call_ns);
	ts_check_int(current->op.start_ns, item->start_ns);
	/* A wait for an event that was never recorded looks like a wait whose record is missing. */
	ts_check_int(current->op.unsure & ~(uint32_t)TS_STATE_UNSURE_DEPENDENCY, unsure);
	if (item->start_ns <= t) {
		ts_check_str(ts_state_phase_name(current->phase), "running");
		ts_check_int(current->since_ns, item->start_ns);
	} else if (behind(program, i, t)) {
		ts_check_str(ts_state_phase_name(current->phase), "queued");
		ts_check_int(current->by_op_id, behind(program, i, t));
	} else if (last_ns) {
		ts_check_str(ts_state_phase_name(current->phase), "waiting");
		ts_check(current->by_op_id && current->by_op_id <= program->n_items);
		ts_check_int(program->items[current->by_op_id - 1].done_ns, last_ns);
	} else if (hosts) {
		ts_check_str(ts_state_phase_name(current->phase), "waiting");
		ts_check_str(ts_state_cause_name(current->cause), "host");
		ts_check(current->by_op_id && hosts & 1u << (current->by_op_id - 1));
		ts_check(current->op.unsure & TS_STATE_UNSURE_DEPENDENCY);
	} else {
		ts_check(!program_is_held(program, i, t));
		ts_check_str(ts_state_phase_name(current->phase), "dispatch_pending");
	}
}

static void check_events(const struct program *program, const struct ts_state *state, uint64_t t)
{
	size_t n = 0;

	for (unsigned int event = 0; event < PROGRAM_EVENTS; event++) {
		uint64_t due_ns = 0;
		uint32_t hosts = 0;
		bool is_told = false;

		for (unsigned int i = 0; i < program->n_items; i++)
			if (program->items[i].kind == ITEM_RECORD &&
			    program->items[i].object == event &&
			    program->items[i].call_end_ns <= t) {
				due_ns = known_ns(program, before[i], t);
				hosts = pending_hosts(program, before[i], t);
			}
		for (size_t i = 0; i < state->n_events; i++)
			if (state->events[i].event == PROGRAM_HANDLE(event)) {
				uint64_t host = state->events[i].host_op_id;

				ts_check_int(state->events[i].due_ns, due_ns);
				/*
				 * If only host functions hold an event, the state must report the
				 * event as uncertain.
				 */
				ts_check(host || !hosts || due_ns);
				ts_check(!host || hosts & 1u << (host - 1));
				is_told = true;
			}
		ts_check_int(is_told, due_ns || hosts);
		n += is_told;
	}
	ts_check_int(state->n_events, n);
}

static void check_memory(const struct program *program, const struct ts_state *state, uint64_t t)
{
	uint64_t live = 0, told = 0;

	for (unsigned int i = 0; i < program->n_items; i++)
		if ((program->items[i].kind == ITEM_ALLOC || program->items[i].kind == ITEM_FREE) &&
		    program->items[i].call_end_ns <= t)
			live ^= UINT64_C(1) << program->items[i].object;
	for (size_t i = 0; i < state->n_allocations; i++)
		told |= UINT64_C(1) << (state->allocations[i].row.address / PROGRAM_ADDRESS(0) - 1);
	ts_check_int(told, live);
	ts_check_int(state->n_bad_frees, 0);
}

/*
 * Checks the threads: for a waiting thread, the state reports the last-ending work among all work
 * that the thread waits for.
 */
static void check_threads(const struct program *program, const struct ts_state *state, uint64_t t)
{
	size_t n_threads = 0;

	for (unsigned int i = 0; i < program->n_items; i++) {
		const struct item *item = &program->items[i];
		const struct ts_state_thread *thread = &state->threads[0];
		uint64_t last_ns = 0;

		if (item->call_ns > t || t >= item->call_end_ns)
			continue;
		n_threads++;
		ts_check_int(thread->call.op_id, i + 1);
		if (item->kind == ITEM_COPY && item->done_ns > t)
			last_ns = item->done_ns;
		for (unsigned int j = 0; j < i && item->kind >= ITEM_SYNC_STREAM; j++) {
			const struct item *other = &program->items[j];

			if (program_works(other) && item->kind != ITEM_SYNC_EVENT &&
			    program_context(other->stream) == program_context(item->stream) &&
			    (item->kind == ITEM_SYNC_DEVICE || other->stream == item->stream) &&
			    other->done_ns > t && other->done_ns > last_ns)
				last_ns = other->done_ns;
		}
		ts_check_int(thread->by_op_id != 0, last_ns != 0);
		if (last_ns)
			ts_check_int(program->items[thread->by_op_id - 1].done_ns, last_ns);
	}
	ts_check_int(state->n_threads, n_threads);
}

static void check_program(const struct program *program, uint64_t t)
{
	ts_cleanup(ts_state_freep) struct ts_state *state = program_state(program, t);
	size_t n_ops = 0;

	ts_check(state);
	for (unsigned int i = 0; i < program->n_items; i++) {
		const struct item *item = &program->items[i];

		for (unsigned int n = 0; n < program_n_nodes(item); n++)
			n_ops += item->call_ns <= t && program_node_end_ns(item, n) > t;
	}
	ts_check_int(state->n_ops, n_ops);
	for (size_t i = 0; i < state->n_ops; i++)
		check_op(program, (unsigned int)state->ops[i].op.op_id - 1, &state->ops[i], t);
	ts_check(!state->is_cut);
	check_threads(program, state, t);
	check_events(program, state, t);
	check_memory(program, state, t);
}

static void print_program(const struct program *program, unsigned int n, uint64_t t)
{
	fprintf(stderr, "program %u at %" PRIu64 "\n", n, t);
	for (unsigned int i = 0; i < program->n_items; i++) {
		const struct item *item = &program->items[i];

		fprintf(stderr,
			"%2u kind %u stream %u object %u called %" PRIu64 " to %" PRIu64
			", ran %" PRIu64 " to %" PRIu64 "\n",
			i + 1, item->kind, item->stream, item->object, item->call_ns,
			item->call_end_ns, item->start_ns, item->done_ns);
	}
}

TS_TEST(is_what_a_reference_says_of_any_program)
{
	static struct program program;

	for (unsigned int i = 0; i < ts_cases(N_PROGRAMS); i++) {
		uint64_t end_ns = 0;

		seed = i;
		generate(&program);
		program_run(&program);
		program_trace(&program);
		find_before(&program);
		for (unsigned int j = 0; j < program.n_items; j++)
			if (program.items[j].done_ns > end_ns)
				end_ns = program.items[j].done_ns;
		for (unsigned int j = 0; j < N_INSTANTS; j++) {
			uint64_t t = below((unsigned int)end_ns + 2);

			/* Output for debugging. */
			if (getenv("TS_TEST_VERBOSE"))
				print_program(&program, i, t);
			check_program(&program, t);
		}
	}
}

/* ---- devices that are full ------------------------------------------------------------------- */

/* Unit of all times: longer than the gap that the inference of engines ignores. */
#define UNIT_NS 10000u

static void generate_full(struct program *program)
{
	static const enum item_kind kinds[] = {ITEM_OP,	    ITEM_OP,   ITEM_OP,	  ITEM_OP,
					       ITEM_OP,	    ITEM_OP,   ITEM_OP,	  ITEM_OP,
					       ITEM_RECORD, ITEM_WAIT, ITEM_HOST, ITEM_SYNC_STREAM};

	generate(program);
	for (unsigned int i = 0; i < program->n_items; i++)
		program->items[i].kind = kinds[below(TS_ARRAY_LEN(kinds))];
	/* A device with two places must report its limits. */
	program->n_at_once = 1 + below(2);
	program->has_limits = program->n_at_once > 1 || below(2);
	for (unsigned int i = 0; i < PROGRAM_ALL; i++)
		program->priorities[i] = -(int)below(3);
}

/* Multiplies all times by UNIT_NS. */
static void stretch(struct program *program)
{
	for (unsigned int i = 0; i < program->n_items; i++) {
		struct item *item = &program->items[i];

		item->call_ns *= UNIT_NS;
		item->call_end_ns *= UNIT_NS;
		item->start_ns *= UNIT_NS;
		item->done_ns *= UNIT_NS;
		item->ready_ns *= program_is_queued(item) ? UNIT_NS : 0;
	}
}

/*
 * True if the device had no room for another operation at any time from t until the operation
 * began.
 */
static bool is_kept_out(const struct program *program, const struct item *item, uint64_t t)
{
	for (; t < item->start_ns; t += UNIT_NS)
		if (program_n_running(program, program_context(item->stream), t) <
		    program->n_at_once)
			return false;
	return true;
}

/*
 * Checks the live operations at t on full devices. If an operation's dependencies have ended and
 * its device has no room until it begins, the state must report that it waits for a running
 * operation. Otherwise check_op() checks it. Returns the number of operations that were ready and
 * waited for room.
 */
static unsigned int check_engines(const struct program *program, const struct ts_state *state,
				  uint64_t t)
{
	unsigned int n = 0;

	for (size_t i = 0; i < state->n_ops; i++) {
		const struct ts_state_current *current = &state->ops[i];
		unsigned int at = (unsigned int)current->op.op_id - 1;
		const struct item *item = &program->items[at], *runs;

		if (item->start_ns <= t || behind(program, at, t) ||
		    known_ns(program, before[at], t) || pending_hosts(program, before[at], t) ||
		    !is_kept_out(program, item, t)) {
			ts_check(item->start_ns <= t || item->ready_ns > t ||
				 is_kept_out(program, item, t));
			check_op(program, at, current, t);
			continue;
		}
		ts_check_str(ts_state_phase_name(current->phase), "waiting");
		ts_check_str(ts_state_cause_name(current->cause), "engine");
		ts_check(current->op.unsure & TS_STATE_UNSURE_ENGINE);
		ts_check(current->by_op_id && current->by_op_id <= program->n_items);
		runs = &program->items[current->by_op_id - 1];
		ts_check(runs->kind == ITEM_OP && runs->start_ns <= t && runs->done_ns > t);
		ts_check_int(program_context(runs->stream), program_context(item->stream));
		n += item->ready_ns <= t;
	}
	return n;
}

TS_TEST(is_what_a_reference_says_of_any_program_on_full_devices)
{
	static struct program program;
	unsigned int n = 0;

	for (unsigned int i = 0; i < ts_cases(N_PROGRAMS); i++) {
		uint64_t end_ns = 0;

		seed = i;
		generate_full(&program);
		program_run(&program);
		for (unsigned int j = 0; j < program.n_items; j++)
			if (program.items[j].done_ns > end_ns)
				end_ns = program.items[j].done_ns;
		stretch(&program);
		program_trace(&program);
		find_before(&program);
		for (unsigned int j = 0; j < N_INSTANTS; j++) {
			uint64_t t = below((unsigned int)end_ns + 2) * (uint64_t)UNIT_NS;
			ts_cleanup(ts_state_freep) struct ts_state *state =
				program_state(&program, t);

			if (getenv("TS_TEST_VERBOSE"))
				print_program(&program, i, t);
			ts_check(state);
			n += check_engines(&program, state, t);
		}
	}
	ts_check(n > ts_cases(N_PROGRAMS) / 4);
}

/* ---- rules, one by one ----------------------------------------------------------------------- */

/*
 *	legacy 0    ....aaaa
 *	stream 1            bbbb	waits for a by the rule
 *	stream 3        cccc		takes no part
 */
TS_TEST(a_blocking_stream_waits_for_the_legacy_stream)
{
	const struct ts_state_current *current;

	add(ITEM_OP, 0, 0, 100, 200);
	add(ITEM_OP, 1, 0, 200, 300);
	add(ITEM_OP, 3, 0, 100, 300);
	current = look(150, 2);
	ts_check_str(ts_state_phase_name(current->phase), "waiting");
	ts_check_str(ts_state_cause_name(current->cause), "legacy_stream");
	ts_check_int(current->by_op_id, 1);
	current = look(90, 3);
	ts_check_str(ts_state_phase_name(current->phase), "dispatch_pending");
	ts_check_int(current->op.n_dependencies, 0);
}

/*
 *	stream 1    aaaa|e|		e is recorded behind a,
 *	stream 2        w bbbb		waited for,
 *	stream 1          cccccccc|e|	and recorded again: b does not wait for c
 */
TS_TEST(a_wait_is_for_the_version_that_was_recorded_before_it)
{
	const struct ts_state_current *current;

	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_RECORD, 1, 0, 0, 0);
	add(ITEM_WAIT, 2, 0, 0, 0);
	add(ITEM_OP, 2, 0, 200, 300);
	add(ITEM_OP, 1, 0, 200, 900);
	add(ITEM_RECORD, 1, 0, 0, 0);
	current = look(150, 4);
	ts_check_str(ts_state_phase_name(current->phase), "waiting");
	ts_check_str(ts_state_cause_name(current->cause), "event");
	ts_check_int(current->by_op_id, 1);
	ts_check_int(current->by_event, PROGRAM_HANDLE(0));
	ts_check_int(current->op.n_dependencies, 1);
	ts_check_int(current->op.unsure, 0);
	/* At that time the event has its new version. */
	ts_check_str(ts_state_phase_name(look(250, 5)->phase), "running");
}

/*
 *	stream 1    aaaa|e|
 *	stream 2        w|f|		no operation in between: f follows a through e
 *	stream 3            w bbbb
 */
TS_TEST(an_event_stands_behind_what_its_stream_waits_for)
{
	const struct ts_state_current *current;

	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_RECORD, 1, 0, 0, 0);
	add(ITEM_WAIT, 2, 0, 0, 0);
	add(ITEM_RECORD, 2, 1, 0, 0);
	add(ITEM_WAIT, 3, 1, 0, 0);
	add(ITEM_OP, 3, 0, 200, 300);
	current = look(150, 6);
	ts_check_str(ts_state_phase_name(current->phase), "waiting");
	ts_check_int(current->by_op_id, 1);
	ts_check_int(current->by_event, PROGRAM_HANDLE(1));
}

/*
 *	stream 1    aaaaaaaa
 *	stream 1        bbbb		impossible, and marked as unsure
 */
TS_TEST(operations_of_a_stream_that_overlap_are_unsure)
{
	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_OP, 1, 0, 150, 250);
	ts_check_int(look(160, 2)->op.unsure, TS_STATE_UNSURE_OVERLAP);
	ts_check_int(look(160, 1)->op.unsure, 0);
}

/*
 * As in the test above, but the launch lets its kernel begin early: programmatic stream
 * serialization.
 */
TS_TEST(a_kernel_that_may_begin_early_overlaps_with_the_one_before_it)
{
	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_OP, 1, 0, 150, 250);
	scenario.items[1].may_begin_early = true;
	ts_check_int(look(160, 2)->op.unsure, 0);
	ts_check_int(look(160, 2)->op.n_dependencies, 1);
}

/*
 * If the call of a device row is missing, the state machine assumes that the kernel must not begin
 * early.
 */
TS_TEST(an_early_launch_says_nothing_of_rows_without_a_call)
{
	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_OP, 1, 0, 150, 250);
	add(ITEM_OP, 1, 0, 240, 300);
	scenario.items[1].may_begin_early = true;
	program_trace(&scenario);
	drop_nth_row(TS_ROW_API, 2);
	ts_state_free(seen);
	seen = program_state(&scenario, 260);
	ts_check(find(seen, 3)->op.unsure & TS_STATE_UNSURE_OVERLAP);
}

/*
 *	stream 1    aaaaaaaa|e|
 *	stream 2        bbbb w cccc	c may begin before b is over, but not before a is
 */
TS_TEST(a_kernel_that_may_begin_early_waits_for_events_as_others_do)
{
	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_RECORD, 1, 0, 0, 0);
	add(ITEM_OP, 2, 0, 100, 180);
	add(ITEM_WAIT, 2, 0, 0, 0);
	add(ITEM_OP, 2, 0, 190, 250);
	scenario.items[4].may_begin_early = true;
	ts_check_int(look(195, 5)->op.unsure, TS_STATE_UNSURE_OVERLAP);
}

TS_TEST(a_missing_half_is_said)
{
	struct ts_state *state;

	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_OP, 1, 0, 200, 300);
	program_trace(&scenario);
	drop_row(TS_ROW_API);
	state = program_state(&scenario, 150);
	ts_check_int(state->n_ops, 2);
	ts_check_int(find(state, 1)->op.unsure, TS_STATE_UNSURE_CALL);
	ts_check_str(ts_state_phase_name(find(state, 2)->phase), "queued");
	ts_state_free(state);

	program_trace(&scenario);
	drop_row(TS_ROW_KERNEL);
	state = program_state(&scenario, 250);
	ts_check_int(state->n_ops, 2);
	ts_check_int(find(state, 1)->op.unsure, TS_STATE_UNSURE_DEVICE);
	ts_check_str(ts_state_phase_name(find(state, 1)->phase), "unknown");
	ts_check(state->is_cut);
	ts_state_free(state);

	/* The rows with the kinds of streams are missing. */
	program_trace(&scenario);
	for (unsigned int i = 0; i < PROGRAM_ALL; i++)
		drop_row(TS_ROW_STREAM);
	state = program_state(&scenario, 150);
	ts_check_int(find(state, 2)->op.unsure, TS_STATE_UNSURE_STREAM);
	ts_state_free(state);
}

TS_TEST(a_device_that_answers_before_the_call_does_not_keep_it_waiting)
{
	struct ts_state *state;

	add(ITEM_OP, 1, 0, 5, 30); /* called at 10, by a clock that stepped back */
	add(ITEM_OP, 2, 0, 100, 200);
	program_trace(&scenario);
	state = program_state(&scenario, 25);
	ts_check_int(state->n_ops, 2);
	ts_check_int(find(state, 1)->op.unsure, TS_STATE_UNSURE_CALL);
	ts_check(!state->is_cut);
	ts_state_free(state);
}

static void add_node(uint64_t op_id, unsigned int stream, uint64_t start_ns, uint64_t end_ns)
{
	scenario.storage[scenario.n_rows].kernel =
		(struct ts_row_kernel){.start_ns = start_ns,
				       .end_ns = end_ns,
				       .op_id = op_id,
				       .device = stream,
				       .context = PROGRAM_CONTEXT,
				       .stream = stream,
				       .graph = 2};
	program_add_row(&scenario, TS_ROW_KERNEL);
}

/*
 *	stream 1    aaaa [launch      ] dddd	a node runs in its own stream; d waits for it
 *	  nodes          bbbb
 *	  stream 2            cccccccc		c waits for a, like the whole launch
 */
TS_TEST(a_graph_stands_in_the_stream_that_it_was_launched_in)
{
	for (int late = 0; late < 2; late++) {
		struct ts_state *state;

		scenario.n_items = 0;
		add(ITEM_OP, 1, 0, 100, 200);
		add(ITEM_ALLOC, 0, 0, 0, 0); /* the call of the launch */
		add(ITEM_OP, 1, 0, 500, 600);
		program_trace(&scenario);
		/* The row is at the call's return, which may be after the first node began. */
		scenario.storage[scenario.n_rows].graph_launch =
			(struct ts_row_graph_launch){.start_ns = late ? 250 : AT(1) + 1,
						     .op_id = 2,
						     .context = PROGRAM_CONTEXT,
						     .stream = 1,
						     .graph = 2};
		program_add_row(&scenario, TS_ROW_GRAPH_LAUNCH);
		add_node(2, 1, 200, 300);
		add_node(2, 2, 300, 500);
		qsort(scenario.rows, scenario.n_rows, sizeof(scenario.rows[0]),
		      program_compare_rows);
		for (unsigned int i = 0; late && i < scenario.n_rows; i++)
			if (scenario.rows[i].type == TS_ROW_API && scenario.rows[i].api->op_id == 2)
				((struct ts_row_api *)scenario.rows[i].any)->end_ns = 250;
		state = program_state(&scenario, 150);
		ts_check_int(state->n_ops, 4);
		for (size_t i = 1; i < 4; i++)
			ts_check_str(ts_state_phase_name(state->ops[i].phase), "queued");
		ts_check_int(find(state, 2)->by_op_id, 1);
		ts_check_int(find(state, 2)->op.unsure, TS_STATE_UNSURE_GRAPH);
		ts_check_int(find(state, 3)->op.unsure, 0);
		ts_state_free(state);
		state = program_state(&scenario, 400);
		ts_check_int(state->n_ops, 2);
		ts_check_str(ts_state_phase_name(find(state, 2)->phase), "running");
		ts_check_str(ts_state_phase_name(find(state, 3)->phase), "queued");
		ts_check_int(find(state, 3)->by_op_id, 2);
		ts_state_free(state);
	}
}
