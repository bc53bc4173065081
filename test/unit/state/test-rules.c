/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the rules of streams, one by one: small scenarios with known answers, each with its
 * drawing. A letter is an operation, `.` is idle, |e| a record of event e, w a wait for it. Streams
 * 0 and 4 are legacy default streams of two contexts; 1, 2 and 5 are blocking, 3 and 6
 * non-blocking. Time runs from left to right; calls come in the order of the letters.
 */
#include "test/unit/state/scenario.h"

#include "proto/abi/vendor/cupti_activity.h"

static void check_waits(uint64_t t, uint64_t op_id, const char *cause, uint64_t by_op_id)
{
	const struct ts_state_current *current = look(t, op_id);

	ts_check(current);
	ts_check_str(ts_state_cause_name(current->cause), cause);
	ts_check_int(current->by_op_id, by_op_id);
	ts_check_str(ts_state_phase_name(current->phase), !*cause ? "dispatch_pending"
							  : !strcmp(cause, "stream") ? "queued"
										     : "waiting");
}

/* The call of the last item waits until end_ns. */
static void until(uint64_t end_ns)
{
	scenario.items[scenario.n_items - 1].call_end_ns = end_ns;
}

/*
 *	stream 1    aaaa
 *	stream 2    bbbbbbbb
 *	stream 3    cccccccccccc	takes no part
 *	legacy 0            dddd	waits for a and b, b last
 */
TS_TEST(the_legacy_stream_waits_for_all_blocking_streams)
{
	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_OP, 2, 0, 100, 300);
	add(ITEM_OP, 3, 0, 100, 400);
	add(ITEM_OP, 0, 0, 300, 400);
	check_waits(250, 4, "legacy_stream", 2);
	ts_check_int(find(seen, 4)->op.n_dependencies, 2);
	ts_check_int(find(seen, 4)->op.unsure, 0);
	check_waits(150, 4, "legacy_stream", 2);
}

/*
 *	stream 1    aaaa
 *	legacy 0        bbbb
 *	stream 2            cccc	waits for b, which waited for a
 */
TS_TEST(the_legacy_stream_stands_between_blocking_streams)
{
	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_OP, 0, 0, 200, 300);
	add(ITEM_OP, 2, 0, 300, 400);
	check_waits(150, 2, "legacy_stream", 1);
	check_waits(150, 3, "legacy_stream", 2);
	check_waits(250, 3, "legacy_stream", 2);
	ts_check_int(find(seen, 3)->op.unsure, 0);
}

/*
 *	legacy 0    aaaaaaaa		of one context
 *	legacy 4    bbbb		of another context
 *	stream 5        cccc		waits only for b
 */
TS_TEST(the_legacy_stream_of_a_context_is_its_own)
{
	add(ITEM_OP, 0, 0, 100, 300);
	add(ITEM_OP, 4, 0, 100, 200);
	add(ITEM_OP, 5, 0, 200, 300);
	check_waits(150, 3, "legacy_stream", 2);
	ts_check_int(find(seen, 3)->op.n_dependencies, 1);
	ts_check_int(find(seen, 2)->op.n_dependencies, 0);
}

/*
 * Per-thread default streams are blocking streams.
 *
 *	own of thread 1 (1)  aaaaaaaa
 *	own of thread 2 (2)  bbbb	does not wait for a
 *	legacy 0                     cccc	waits for both
 */
TS_TEST(default_streams_of_threads_do_not_wait_for_each_other)
{
	add(ITEM_OP, 1, 0, 100, 300);
	add(ITEM_OP, 2, 0, 100, 200);
	add(ITEM_OP, 0, 0, 300, 400);
	check_waits(90, 2, "", 0);
	ts_check_int(find(seen, 2)->op.n_dependencies, 0);
	check_waits(250, 3, "legacy_stream", 1);
}

/* Looks at an operation at t. All streams are on one device, so all use one engine. */
static const struct ts_state_current *look_at_one_device(uint64_t t, uint64_t op_id)
{
	program_trace(&scenario);
	for (unsigned int i = 0; i < scenario.n_rows; i++)
		if (scenario.rows[i].type == TS_ROW_KERNEL)
			((struct ts_row_kernel *)scenario.rows[i].any)->device = 0;
	ts_state_free(seen);
	seen = program_state(&scenario, t);
	ts_check(seen);
	return find(seen, op_id);
}

static void check_engine(uint64_t t, uint64_t op_id, uint64_t by_op_id, uint64_t since_ns)
{
	const struct ts_state_current *current = look_at_one_device(t, op_id);

	ts_check(current);
	ts_check_str(ts_state_phase_name(current->phase), "waiting");
	ts_check_str(ts_state_cause_name(current->cause), "engine");
	ts_check_int(current->by_op_id, by_op_id);
	ts_check_int(current->since_ns, since_ns);
	ts_check_int(current->op.unsure, TS_STATE_UNSURE_ENGINE);
}

/*
 * The engine is the cause of the wait, and the trace is not unsure.
 *
 *	stream 1 (low)          aaaa	called first
 *	stream 3 (high)     bbbb	overtakes a
 */
TS_TEST(a_stream_of_higher_priority_overtakes)
{
	add(ITEM_OP, 1, 0, 200, 300);
	add(ITEM_OP, 3, 0, 100, 200);
	check_engine(150, 1, 2, 100);
	ts_check_str(ts_state_phase_name(find(seen, 2)->phase), "running");
	ts_check_int(find(seen, 2)->op.unsure, 0);
}

/*
 * The device is full. b overtakes a, and so does c, which is called while b runs. a waits for the
 * operation that runs: x, then b, then c.
 *
 *	stream 2        xxxx
 *	stream 1 (low)              aaaa
 *	stream 3 (high)     bbbbcccc
 */
TS_TEST(who_is_overtaken_waits_for_what_runs)
{
	add(ITEM_OP, 2, 0, 12, 10100);
	add(ITEM_OP, 1, 0, 30100, 40100);
	add(ITEM_OP, 3, 0, 10100, 20100);
	add(ITEM_OP, 3, 0, 20100, 30100);
	scenario.items[3].call_ns = 15000;
	scenario.items[3].call_end_ns = 15001;
	check_engine(5000, 2, 1, 20);
	check_engine(5000, 3, 1, 30);
	check_engine(12000, 2, 3, 10100);
	check_engine(18000, 2, 3, 10100);
	check_engine(25000, 2, 4, 20100);
	ts_check_str(ts_state_phase_name(look_at_one_device(18000, 4)->phase), "queued");
	ts_check_str(ts_state_phase_name(look_at_one_device(35000, 2)->phase), "running");
}

/*
 * x was over long before a began. The engine was free in between, so the launch of a was pending.
 *
 *	stream 2    xxxx
 *	stream 1                      aaaa
 */
TS_TEST(who_begins_long_after_waits_for_no_engine)
{
	add(ITEM_OP, 2, 0, 12, 10100);
	add(ITEM_OP, 1, 0, 30100, 40100);
	ts_check_str(ts_state_phase_name(look_at_one_device(5000, 2)->phase), "dispatch_pending");
}

/*
 * Short kernels of one block run one after the other on a device with room for four blocks. a had
 * room, so its launch was pending. If a has six blocks, only some of them had room: the engine is
 * uncertain.
 *
 *	stream 2    xyzxyz
 *	stream 1              aaaa
 */
TS_TEST(who_had_room_waits_for_no_engine)
{
	static const struct {
		uint32_t n_blocks, n_others; /* blocks of a, and of x */
		const char *phase;
		uint32_t unsure;
	} cases[] = {
		{1, 1, "dispatch_pending", 0},
		{3, 1, "dispatch_pending", 0},
		{6, 1, "dispatch_pending", TS_STATE_UNSURE_ENGINE},
		{1, 4, "waiting", TS_STATE_UNSURE_ENGINE},
		{6, 7, "waiting", TS_STATE_UNSURE_ENGINE},
	};

	for (unsigned int i = 0; i < 6; i++)
		add(ITEM_OP, 2, 0, 1000 + 2500 * i, 3500 + 2500 * i);
	add(ITEM_OP, 1, 0, 16000, 17000);
	scenario.n_at_once = 4;
	scenario.has_limits = true;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		const struct ts_state_current *current;
		struct ts_state *state;

		program_trace(&scenario);
		for (unsigned int i = 0; i < scenario.n_rows; i++) {
			struct ts_row_kernel *row = (struct ts_row_kernel *)scenario.rows[i].any;

			if (scenario.rows[i].type == TS_ROW_KERNEL)
				row->grid_x =
					row->op_id == 7 ? cases[k].n_blocks : cases[k].n_others;
		}
		state = program_state(&scenario, 2000);
		ts_check(state);
		current = find(state, 7);
		ts_check_str(ts_state_phase_name(current->phase), cases[k].phase);
		ts_check_int(current->op.unsure, cases[k].unsure);
		ts_state_free(state);
	}
}

/*
 *	stream 2    w bbbb		e was never recorded, so b waits for nothing known
 */
TS_TEST(a_wait_for_what_was_not_recorded_waits_for_nothing)
{
	add(ITEM_WAIT, 2, 0, 0, 0);
	add(ITEM_OP, 2, 0, 100, 200);
	check_waits(50, 2, "", 0);
	ts_check_int(find(seen, 2)->op.unsure, TS_STATE_UNSURE_DEPENDENCY);
}

/*
 *	stream 1    aaaaaaaa
 *	stream 2    w bbbb		the wait came first,
 *	stream 1            |e|	the record after it: b waits for nothing
 */
TS_TEST(a_record_is_not_waited_for_by_who_waited_before)
{
	add(ITEM_OP, 1, 0, 100, 300);
	add(ITEM_WAIT, 2, 0, 0, 0);
	add(ITEM_OP, 2, 0, 120, 200);
	add(ITEM_RECORD, 1, 0, 0, 0);
	check_waits(115, 3, "", 0);
	ts_check_int(find(seen, 3)->op.n_dependencies, 0);
}

/*
 *	stream 1    aaaa|e|bbbbbbbb|e|	recorded twice: this wait is for the second version,
 *	stream 2              w cccc	and b is before that version
 */
TS_TEST(a_wait_is_for_the_last_version)
{
	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_RECORD, 1, 0, 0, 0);
	add(ITEM_OP, 1, 0, 200, 300);
	add(ITEM_RECORD, 1, 0, 0, 0);
	add(ITEM_WAIT, 2, 0, 0, 0);
	add(ITEM_OP, 2, 0, 300, 400);
	check_waits(150, 6, "event", 3);
	ts_check_int(find(seen, 6)->op.unsure, 0);
}

/*
 *	stream 1, device 0    aaaa|e|
 *	stream 5, device 1          w bbbb	an event orders across devices,
 *	stream 6, device 1      cccc		and holds no other stream there
 */
TS_TEST(a_stream_waits_for_another_device)
{
	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_RECORD, 1, 0, 0, 0);
	add(ITEM_WAIT, 5, 0, 0, 0);
	add(ITEM_OP, 5, 0, 200, 300);
	add(ITEM_OP, 6, 0, 100, 300);
	check_waits(150, 4, "event", 1);
	ts_check_int(find(seen, 4)->by_event, PROGRAM_HANDLE(0));
	ts_check_int(find(seen, 4)->op.unsure, 0);
	check_waits(90, 5, "", 0);
}

/*
 *	stream 1    aaaa
 *	legacy 0        |e|		the record waits for a by the rule,
 *	stream 3          w bbbb	and so does b, though its stream is non-blocking
 */
TS_TEST(a_record_in_the_legacy_stream_stands_behind_all)
{
	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_RECORD, 0, 0, 0, 0);
	add(ITEM_WAIT, 3, 0, 0, 0);
	add(ITEM_OP, 3, 0, 200, 300);
	check_waits(150, 4, "event", 1);
}

/*
 *	stream 3    aaaa|e|
 *	legacy 0          w		no operation follows in its stream,
 *	stream 1            bbbb	but a later one in a blocking stream waits for w
 */
TS_TEST(a_wait_in_the_legacy_stream_holds_blocking_streams)
{
	add(ITEM_OP, 3, 0, 100, 200);
	add(ITEM_RECORD, 3, 0, 0, 0);
	add(ITEM_WAIT, 0, 0, 0, 0);
	add(ITEM_OP, 1, 0, 200, 300);
	check_waits(150, 4, "legacy_stream", 1);
}

/*
 *	host        [copy     ]		the host waits for the copy: pageable memory, or to the host
 *	stream 1      aaaa
 */
TS_TEST(a_blocking_copy_holds_its_thread)
{
	add(ITEM_COPY, 1, 0, 100, 200);
	until(210);
	ts_check_str(ts_state_phase_name(look(150, 1)->phase), "running");
	ts_check_int(seen->n_threads, 1);
	ts_check_int(seen->threads[0].by_op_id, 1);
	ts_check_str(ts_state_phase_name(look(50, 1)->phase), "dispatch_pending");
	ts_check_int(seen->threads[0].by_op_id, 1);
	/* The copy is over, but the call has not returned. */
	ts_check(!look(205, 1));
	ts_check_int(seen->threads[0].by_op_id, 0);
}

/*
 *	host        [c]			pinned: the call returns,
 *	stream 1      aaaaaaaa		the copy goes on; pageable to device: after staging
 */
TS_TEST(an_asynchronous_copy_holds_nobody)
{
	add(ITEM_COPY, 1, 0, 11, 200);
	until(50);
	ts_check_str(ts_state_phase_name(look(30, 1)->phase), "running");
	ts_check_int(seen->n_threads, 1);
	ts_check_int(seen->threads[0].by_op_id, 0);
	look(60, 1);
	ts_check_int(seen->n_threads, 0);
}

/*
 *	host        [l        ]		the call returns after its kernel is over,
 *	stream 1      aaaa		but does not wait for it
 */
TS_TEST(a_launch_holds_nobody)
{
	add(ITEM_OP, 1, 0, 100, 200);
	until(210);
	ts_check_str(ts_state_phase_name(look(150, 1)->phase), "running");
	ts_check_int(seen->n_threads, 1);
	ts_check_int(seen->threads[0].by_op_id, 0);
}

/*
 *	stream 1    aaaa
 *	stream 3    bbbbbbbb
 *	stream 5    cccccccccccc	of another context
 *	host        [device  ]		waits for b, the last of its context
 */
TS_TEST(the_host_waits_for_a_device)
{
	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_OP, 3, 0, 100, 300);
	add(ITEM_OP, 5, 0, 100, 400);
	add(ITEM_SYNC_DEVICE, 0, 0, 0, 0);
	until(301);
	look(150, 1);
	ts_check_int(seen->n_threads, 1);
	ts_check_int(seen->threads[0].by_op_id, 2);
	look(250, 2);
	ts_check_int(seen->threads[0].by_op_id, 2);
}

/*
 *	stream 1    aaaabbbb
 *	stream 2    cccccccccccc
 *	host        [stream 1]		waits for b, not for d, which another thread adds
 *	stream 1            dddd
 */
TS_TEST(the_host_waits_for_a_stream)
{
	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_OP, 1, 0, 200, 300);
	add(ITEM_OP, 2, 0, 100, 400);
	add(ITEM_SYNC_STREAM, 1, 0, 0, 0);
	until(301);
	add(ITEM_OP, 1, 0, 300, 400);
	look(150, 1);
	ts_check_int(seen->n_threads, 1);
	ts_check_int(seen->threads[0].by_op_id, 2);
	ts_check_int(seen->threads[0].sync.stream, 1);
}

/*
 *	stream 1    aaaa|e|
 *	host        [event ]		the host's row has the wait, but does not name the event
 */
TS_TEST(the_host_waits_for_an_event)
{
	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_RECORD, 1, 0, 0, 0);
	add(ITEM_SYNC_EVENT, 1, 0, 0, 0);
	until(201);
	look(150, 1);
	ts_check_int(seen->n_threads, 1);
	ts_check_int(seen->threads[0].sync.sync_type, 1);
	ts_check_int(seen->threads[0].by_op_id, 0);
	ts_check_int(seen->n_events, 1);
	ts_check_int(seen->events[0].by_op_id, 1);
	ts_check_int(seen->events[0].due_ns, 200);
}

/*
 *	stream 1    aaaa h....  bbbb	waits for a, then for h, whose end is unknown
 *	stream 3             cccc	takes no part
 */
TS_TEST(a_stream_waits_for_a_function_of_the_host)
{
	struct ts_state *state;

	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_HOST, 1, 0, 0, 0);
	add(ITEM_OP, 1, 0, 300, 400);
	add(ITEM_OP, 3, 0, 290, 400);
	program_trace(&scenario);
	state = program_state(&scenario, 150);
	ts_check_str(ts_state_phase_name(find(state, 3)->phase), "queued");
	ts_check_int(find(state, 3)->op.unsure, TS_STATE_UNSURE_DEPENDENCY);
	ts_state_free(state);
	state = program_state(&scenario, 250);
	ts_check_str(ts_state_phase_name(find(state, 3)->phase), "waiting");
	ts_check_str(ts_state_cause_name(find(state, 3)->cause), "host");
	ts_check_int(find(state, 3)->by_op_id, 2);
	ts_check_int(find(state, 3)->since_ns, 200);
	ts_check_int(find(state, 4)->op.unsure, 0);
	ts_check_str(ts_state_phase_name(find(state, 4)->phase), "dispatch_pending");
	ts_state_free(state);
}

/*
 *	stream 1    h.....|e|
 *	stream 2            w bbbb	waits for an event that waits for the host function
 */
TS_TEST(an_event_stands_behind_a_function_of_the_host)
{
	struct ts_state *state;

	add(ITEM_HOST, 1, 0, 0, 0);
	add(ITEM_RECORD, 1, 0, 0, 0);
	add(ITEM_WAIT, 2, 0, 0, 0);
	add(ITEM_OP, 2, 0, 200, 300);
	program_trace(&scenario);
	state = program_state(&scenario, 150);
	ts_check_str(ts_state_cause_name(find(state, 4)->cause), "host");
	ts_check_int(find(state, 4)->by_op_id, 1);
	ts_check_int(find(state, 4)->op.unsure, TS_STATE_UNSURE_DEPENDENCY);
	ts_state_free(state);
}

/*
 * While e waits for a, the trace shows until when. The trace does not show when the host function
 * ends: e may be outstanding until b begins, which is uncertain.
 *
 *	stream 1    aaaa h.....|e|
 *	stream 1                  bbbb
 */
TS_TEST(when_an_event_behind_a_function_of_the_host_is_reached_is_uncertain)
{
	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_HOST, 1, 0, 0, 0);
	add(ITEM_RECORD, 1, 0, 0, 0);
	add(ITEM_OP, 1, 0, 300, 400);
	look(150, 1);
	ts_check_int(seen->n_events, 1);
	ts_check_int(seen->events[0].by_op_id, 1);
	ts_check_int(seen->events[0].due_ns, 200);
	ts_check_int(seen->events[0].host_op_id, 2);
	look(250, 1);
	ts_check_int(seen->n_events, 1);
	ts_check_int(seen->events[0].by_op_id, 2);
	ts_check_int(seen->events[0].due_ns, 0);
	ts_check_int(seen->events[0].host_op_id, 2);
	look(350, 1);
	ts_check_int(seen->n_events, 0);
}

/*
 *	stream 1    h.....[launch: xxxx]	both nodes wait for the host function,
 *	                  [        yyyy]
 *	stream 1                         bbbb	and b waits for both nodes
 */
TS_TEST(a_launch_of_a_graph_waits_for_a_function_of_the_host)
{
	const struct ts_state_current *next;

	add(ITEM_HOST, 1, 0, 0, 0);
	add(ITEM_GRAPH, 1, 0, 200, 300);
	add(ITEM_OP, 1, 0, 300, 400);
	next = look(150, 3);
	ts_check_str(ts_state_phase_name(next->phase), "queued");
	ts_check_int(next->by_op_id, 2);
	for (size_t i = 0; i < seen->n_ops; i++) {
		if (seen->ops[i].op.op_id != 2)
			continue;
		ts_check_str(ts_state_phase_name(seen->ops[i].phase), "waiting");
		ts_check_str(ts_state_cause_name(seen->ops[i].cause), "host");
		ts_check_int(seen->ops[i].by_op_id, 1);
		ts_check(seen->ops[i].op.unsure & TS_STATE_UNSURE_DEPENDENCY);
	}
	ts_check_int(seen->n_ops, 3);
}

static const struct ts_state_current *second_node(const struct ts_state *state)
{
	for (size_t i = 0; i < state->n_ops; i++)
		if (state->ops[i].op.stream == 21)
			return &state->ops[i];
	ts_check(!"the second node is there");
	return NULL;
}

/*
 * When the first node begins, the host function is over: from then on the second node does not wait
 * for it, even if the launch's row comes after the first node began.
 *
 *	stream 1    h.....[launch: xxxxxxxxxx]
 *	                  [           yy     ]
 */
TS_TEST(a_function_of_the_host_was_over_when_a_node_behind_it_began)
{
	for (unsigned int told = 0; told < 2; told++) {
		const struct ts_state_current *node;

		scenario.n_items = 0;
		add(ITEM_HOST, 1, 0, 0, 0);
		add(ITEM_GRAPH, 1, 0, 200, 400);
		scenario.items[1].later_ns = 80;
		scenario.items[1].told_ns = told ? 230 : 0;
		if (!told) {
			look(150, 2);
			node = second_node(seen);
			ts_check_str(ts_state_cause_name(node->cause), "host");
			ts_check_int(node->by_op_id, 1);
		}
		look(250, 2);
		node = second_node(seen);
		ts_check_str(ts_state_phase_name(node->phase), "dispatch_pending");
		ts_check_int(node->by_op_id, 0);
	}
}

/*
 * When b begins, the host function is over: from then on the launch of c, behind e, is pending.
 *
 *	stream 1    h.....|e|bbbb
 *	stream 2            w     cccc
 */
TS_TEST(a_function_of_the_host_was_over_when_what_is_behind_it_began)
{
	const struct ts_state_current *current;

	add(ITEM_HOST, 1, 0, 0, 0);
	add(ITEM_RECORD, 1, 0, 0, 0);
	add(ITEM_OP, 1, 0, 200, 500);
	add(ITEM_WAIT, 2, 0, 0, 0);
	add(ITEM_OP, 2, 0, 300, 400);
	current = look(150, 5);
	ts_check_str(ts_state_cause_name(current->cause), "host");
	ts_check_int(current->by_op_id, 1);
	ts_check_str(ts_state_phase_name(look(250, 5)->phase), "dispatch_pending");
}

/*
 *	stream 1    +aaaa-		stream-ordered memory: alive from the call that allocates it
 *	host        + -			to the call that frees it, which is before a is over
 */
TS_TEST(memory_of_a_stream_is_alive_between_its_calls)
{
	add(ITEM_ALLOC, 1, 0, 0, 0);
	add(ITEM_OP, 1, 0, 100, 200);
	add(ITEM_FREE, 1, 0, 0, 0);
	look(25, 2);
	ts_check_int(seen->n_allocations, 1);
	look(35, 2);
	ts_check_int(seen->n_allocations, 0);
	ts_check_int(seen->n_bad_frees, 0);
}

/*
 *	stream 1    [launch: xxxx   ]	the host waits for both nodes,
 *	            [        yyyyyyy]
 *	host        [stream 1       ]	and not for stream 2
 *	stream 2    bbbbbbbbbbbbbbbbbb
 */
TS_TEST(the_host_waits_for_a_launch_of_a_graph)
{
	add(ITEM_GRAPH, 1, 0, 100, 300);
	add(ITEM_OP, 2, 0, 100, 400);
	add(ITEM_SYNC_STREAM, 1, 0, 0, 0);
	until(301);
	ts_check_str(ts_state_phase_name(look(150, 1)->phase), "running");
	ts_check_int(seen->n_ops, 3);
	ts_check_int(seen->n_threads, 1);
	ts_check_int(seen->threads[0].by_op_id, 1);
	look(250, 1);
	ts_check_int(seen->n_ops, 2);
	ts_check_int(seen->threads[0].by_op_id, 1);
}

/*
 *	stream 1    [launch: xxxx]
 *	legacy 0                  bbbb	the rule also holds for graph launches
 *	stream 2                      [launch: yyyy]
 */
TS_TEST(launches_of_graphs_obey_the_legacy_stream)
{
	add(ITEM_GRAPH, 1, 0, 100, 200);
	add(ITEM_OP, 0, 0, 200, 300);
	add(ITEM_GRAPH, 2, 0, 300, 400);
	check_waits(120, 2, "legacy_stream", 1);
	check_waits(250, 3, "legacy_stream", 2);
	ts_check_int(find(seen, 2)->op.unsure, 0);
}

static void feed(struct ts_state_machine *machine, struct ts_sbt_row *row, enum ts_row_type type,
		 const void *any, struct ts_state_op *op, int expected)
{
	row->type = type;
	row->schema = ts_row_schema(type);
	row->any = any;
	ts_check_int(ts_state_machine_feed(machine, row, op), expected);
}

/*
 * An operation of the legacy stream follows many waits whose events are unknown. Each may depend on
 * the host, and only some of them are examined.
 */
TS_TEST(waits_for_the_host_are_bounded)
{
	const uint64_t n_waits = 16 * 4096;
	const struct ts_row_stream legacy = {.context = PROGRAM_CONTEXT,
					     .stream = 7,
					     .stream_flags =
						     TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL};
	const struct ts_row_kernel kernel = {.op_id = n_waits + 1,
					     .context = PROGRAM_CONTEXT,
					     .stream = 7,
					     .start_ns = 10,
					     .end_ns = 20};
	struct ts_row_stream_wait wait = {.context = PROGRAM_CONTEXT};
	struct ts_sbt_row row = {.session = PROGRAM_SESSION};
	struct ts_state_machine *machine;
	struct ts_state_op op;

	ts_check_int(ts_state_machine_new(&machine), 0);
	feed(machine, &row, TS_ROW_STREAM, &legacy, &op, 0);
	for (uint64_t i = 0; i < n_waits; i++) {
		wait.op_id = 1 + i;
		wait.stream = (uint32_t)(100 + i / 4096);
		feed(machine, &row, TS_ROW_STREAM_WAIT, &wait, &op, 0);
	}
	feed(machine, &row, TS_ROW_KERNEL, &kernel, &op, 1);
	ts_check(op.unsure & TS_STATE_UNSURE_DEPENDENCY);
	ts_check(op.host_op_id);
	ts_check(op.host_op_id <= n_waits / 2);
	ts_state_machine_free(machine);
}

/*
 * The op_ids of the event records are higher than those of all kernels, so no kernel settles a
 * record. If the machine examined all these records at each kernel, this test would take minutes.
 */
TS_TEST(records_that_nothing_comes_behind_are_bounded)
{
	struct ts_row_event record = {.context = PROGRAM_CONTEXT, .stream = 1};
	struct ts_row_kernel kernel = {.context = PROGRAM_CONTEXT, .stream = 1};
	struct ts_row_stream_wait wait = {.context = PROGRAM_CONTEXT, .stream = 2};
	struct ts_sbt_row row = {.session = PROGRAM_SESSION};
	struct ts_state_machine *machine;
	struct ts_state_op op;

	ts_check_int(ts_state_machine_new(&machine), 0);
	row.type = TS_ROW_EVENT;
	row.schema = ts_row_schema(row.type);
	row.any = &record;
	for (uint64_t i = 0; i < ts_cases(300000); i++) {
		record.op_id = (UINT64_C(1) << 40) + i;
		record.event = PROGRAM_HANDLE(i);
		ts_check_int(ts_state_machine_feed(machine, &row, &op), 0);
	}
	row.type = TS_ROW_KERNEL;
	row.schema = ts_row_schema(row.type);
	row.any = &kernel;
	for (uint64_t i = 0; i < ts_cases(5000); i++) {
		kernel.op_id = 1 + i;
		kernel.start_ns = 10 * i;
		kernel.end_ns = 10 * i + 5;
		ts_check_int(ts_state_machine_feed(machine, &row, &op), 1);
	}
	/* A wait for the first record is unsure about its dependency. */
	wait.op_id = UINT64_C(1) << 41;
	wait.event = PROGRAM_HANDLE(0);
	row.type = TS_ROW_STREAM_WAIT;
	row.schema = ts_row_schema(row.type);
	row.any = &wait;
	ts_check_int(ts_state_machine_feed(machine, &row, &op), 0);
	row.type = TS_ROW_KERNEL;
	row.schema = ts_row_schema(row.type);
	row.any = &kernel;
	kernel.op_id = (UINT64_C(1) << 41) + 1;
	kernel.stream = 2;
	kernel.start_ns = kernel.end_ns = 1000000;
	ts_check_int(ts_state_machine_feed(machine, &row, &op), 1);
	ts_check(op.unsure & TS_STATE_UNSURE_DEPENDENCY);
	ts_state_machine_free(machine);
}
