/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads traces with missing halves, operations that overlap in one stream, clocks that step back
 * and false ids: every answer marks them as unsure.
 */
#include "test/unit/harness.h"

#include <sys/mman.h>

#include "replay/state/compare/diff.h"
#include "replay/state/gaps/gaps.h"
#include "replay/state/graph/state-graph.h"
#include "replay/state/memory/state-memory.h"
#include "replay/state/overview/timeline.h"
#include "replay/state/state.h"
#include "sbt/writer.h"

#define N_OPS 40u
#define BAD   10u /* every tenth operation */
#define N_BAD (N_OPS / BAD)

enum lie {
	NONE,
	NO_CALL,
	NO_ANSWER,
	OVERLAPS,
	STEPS_BACK, /* the device's clock steps back: the operation begins before its call */
	ENDS_BEFORE,
	NEVER,	   /* no end time */
	OTHER_ID,  /* the device row has the id of another operation */
	SAME_CALL, /* the API row has this other id, too */
	NO_KINDS,  /* no stream has a kind */
};

static struct ts_sbt_session_writer *session;

static void add_memory(unsigned int type, uint64_t time_ns, uint64_t address)
{
	const struct ts_row_memory row = {.start_ns = time_ns,
					  .op_id = 1000,
					  .address = address,
					  .bytes = 64,
					  .stream = TS_NO_DEVICE,
					  .memory_kind = 3};

	ts_check_int(ts_sbt_session_writer_add_row(session, type, &row), 0);
}

static void add_op(enum lie lie, uint64_t i, uint32_t name)
{
	uint64_t at = 1000 + 1000 * i, id = lie == OTHER_ID || lie == SAME_CALL ? i - 1 : i;
	const struct ts_row_api call = {.start_ns = at,
					.end_ns = at + 50,
					.op_id = lie == SAME_CALL ? i - 1 : i,
					.thread = 1,
					.context = 1,
					.flags = TS_API_EXPECTS_DEVICE};
	struct ts_row_kernel kernel = {.start_ns = at + 200,
				       .end_ns = at + 800,
				       .op_id = id,
				       .context = 1,
				       .stream = 1,
				       .name = name};

	if (lie == OVERLAPS)
		kernel.start_ns = at - 300;
	if (lie == OVERLAPS || lie == STEPS_BACK)
		kernel.end_ns = at + 100;
	if (lie == STEPS_BACK)
		kernel.start_ns = at - 50;
	if (lie == ENDS_BEFORE)
		kernel.end_ns = kernel.start_ns - 100;
	/* Only the last operation has no end: a later one would begin before this one is over. */
	if (lie == NEVER && i == N_OPS)
		kernel.end_ns = UINT64_MAX;
	if (lie != NO_CALL)
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_API, &call), 0);
	if (lie != NO_ANSWER)
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &kernel), 0);
}

static struct ts_sbt_reader *read_trace(enum lie lie)
{
	const struct ts_row_session row = {.pid = 1, .start_ns = 1000};
	const struct ts_row_stream stream = {.start_ns = 1000,
					     .context = 1,
					     .stream = 1,
					     .stream_flags = 2};
	int fd = memfd_create("trace", MFD_CLOEXEC), copy = dup(fd);
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	uint32_t name;

	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	ts_check_int(ts_sbt_writer_string(writer, "kernel", 6, &name), 0);
	if (lie != NO_KINDS)
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_STREAM, &stream), 0);
	for (uint64_t i = 1; i <= N_OPS; i++)
		add_op(i % BAD ? NONE : lie, i, name);
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(copy, &reader, NULL), 0);
	close(copy);
	return reader;
}

static struct ts_doubts expected(enum lie lie)
{
	struct ts_doubts doubts = {.n_ops = N_OPS};

	switch (lie) {
	case NO_CALL:
		doubts.n_no_call = N_BAD;
		break;
	case NO_ANSWER:
		doubts.n_ops -= N_BAD;
		doubts.n_unanswered = N_BAD;
		break;
	case OVERLAPS:
		/* These operations also begin before their calls. */
		doubts.n_no_call = doubts.n_overlaps = N_BAD;
		break;
	case STEPS_BACK:
		doubts.n_no_call = N_BAD;
		break;
	case ENDS_BEFORE:
		doubts.n_backwards = N_BAD;
		break;
	case NEVER:
		doubts.n_never = 1;
		break;
	case OTHER_ID:
		doubts.n_unanswered = N_BAD;
		break;
	case SAME_CALL:
		doubts.n_twice = N_BAD;
		break;
	case NO_KINDS:
		doubts.n_unknown = N_OPS;
		break;
	default:
		break;
	}
	return doubts;
}

static void check(const struct ts_doubts *found, enum lie lie)
{
	struct ts_doubts doubts = expected(lie);

	ts_check_int(found->n_ops, doubts.n_ops);
	ts_check_int(found->n_no_call, doubts.n_no_call);
	ts_check_int(found->n_overlaps, doubts.n_overlaps);
	ts_check_int(found->n_backwards, doubts.n_backwards);
	ts_check_int(found->n_never, doubts.n_never);
	ts_check_int(found->n_unknown, doubts.n_unknown);
	ts_check_int(found->n_unanswered, doubts.n_unanswered);
	ts_check_int(found->n_twice, doubts.n_twice);
	ts_check_int(ts_doubts_any(found), lie != NONE);
}

TS_TEST(a_timeline_says_so)
{
	const struct ts_timeline_options options = {.n_parts = 10};

	for (enum lie lie = NONE; lie <= NO_KINDS; lie++) {
		struct ts_sbt_reader *reader = read_trace(lie);
		struct ts_timeline *timeline;

		ts_check_int(ts_timeline_read(reader, &options, &timeline), 0);
		check(&timeline->doubts, lie);
		ts_timeline_free(timeline);
		ts_sbt_reader_free(reader);
	}
}

TS_TEST(gaps_say_so)
{
	const struct ts_gaps_options options = {.least_ns = 1, .max_longest = 10};

	for (enum lie lie = NONE; lie <= NO_KINDS; lie++) {
		struct ts_sbt_reader *reader = read_trace(lie);
		struct ts_gaps *gaps;

		ts_check_int(ts_gaps_read(reader, &options, &gaps), 0);
		check(&gaps->doubts, lie);
		ts_gaps_free(gaps);
		ts_sbt_reader_free(reader);
	}
}

TS_TEST(a_graph_says_so)
{
	const struct ts_graph_options options = {0}, window = {.from_ns = 11500};

	for (enum lie lie = NONE; lie <= NO_KINDS; lie++) {
		struct ts_sbt_reader *reader = read_trace(lie);
		struct ts_graph *graph;

		ts_check_int(ts_graph_read(reader, &options, &graph), 0);
		check(&graph->doubts, lie);
		ts_graph_free(graph);
		/* A call before the window does not count as missing. */
		ts_check_int(ts_graph_read(reader, &window, &graph), 0);
		ts_check_int(graph->doubts.n_no_call, 0);
		ts_check_int(graph->doubts.n_unanswered, 0);
		ts_check_int(graph->doubts.n_backwards, lie == ENDS_BEFORE ? N_BAD - 1 : 0);
		ts_graph_free(graph);
		ts_sbt_reader_free(reader);
	}
}

TS_TEST(a_comparison_says_so)
{
	const struct ts_diff_options options = {.alpha = 0.01};

	for (enum lie lie = NONE; lie <= NO_KINDS; lie++) {
		struct ts_sbt_reader *readers[2] = {read_trace(NONE), read_trace(lie)};
		struct ts_diff *diff;
		const struct ts_diff_runs runs[2] = {{&readers[0], 1}, {&readers[1], 1}};
		unsigned side;
		size_t run;

		ts_check_int(ts_diff_read(runs, &options, &diff, &side, &run), 0);
		check(&diff->totals[0].doubts, NONE);
		check(&diff->totals[1].doubts, lie);
		ts_diff_free(diff);
		ts_sbt_reader_free(readers[0]);
		ts_sbt_reader_free(readers[1]);
	}
}

/* At an instant, the wrong operation or its successor is marked, and no other operation. */
TS_TEST(the_state_says_so)
{
	static const uint64_t marks[] = {[NO_CALL] = TS_STATE_UNSURE_CALL,
					 [NO_ANSWER] = TS_STATE_UNSURE_DEVICE,
					 [OVERLAPS] = TS_STATE_UNSURE_CALL,
					 [STEPS_BACK] = TS_STATE_UNSURE_CALL,
					 [OTHER_ID] = TS_STATE_UNSURE_DEVICE};

	for (enum lie lie = NONE; lie <= OTHER_ID; lie++) {
		struct ts_sbt_reader *reader = read_trace(lie);
		uint64_t at_ns = 11000 + (lie == OVERLAPS || lie == STEPS_BACK ? 90 : 500);
		struct ts_state *state;
		uint32_t found = 0;

		ts_check_int(ts_state_at(reader, 0, at_ns, &state), 0);
		for (size_t i = 0; i < state->n_ops; i++)
			found |= state->ops[i].op.unsure;
		if (marks[lie])
			ts_check(found & marks[lie]);
		else
			ts_check_int(found, 0);
		ts_state_free(state);
		ts_sbt_reader_free(reader);
	}
}

TS_TEST(memory_says_so)
{
	const struct ts_row_session row = {.pid = 1, .start_ns = 1000};
	int fd = memfd_create("trace", MFD_CLOEXEC), copy = dup(fd);
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	struct ts_memory *memory;

	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	add_memory(TS_ROW_ALLOC, 1000, 0x1000);
	add_memory(TS_ROW_ALLOC, 1100, 0x1000);
	add_memory(TS_ROW_ALLOC, 1200, 0x1000);
	add_memory(TS_ROW_FREE, 1300, 0x1000);
	add_memory(TS_ROW_FREE, 1400, 0x1000);
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(copy, &reader, NULL), 0);
	close(copy);
	ts_check_int(ts_memory_read(reader, 0, 10, &memory), 0);
	ts_check_int(memory->n_lost_frees, 2);
	ts_check_int(memory->n_unknown_frees, 1);
	ts_check_int(memory->peak_bytes, 64);
	ts_memory_free(memory);
	ts_sbt_reader_free(reader);
}
