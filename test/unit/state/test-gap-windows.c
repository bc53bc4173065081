/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the gaps of windows: they are the gaps of the whole trace that overlap the window, with the
 * same numbers. test-gaps.c tests the numbers themselves.
 */
#include "test/unit/harness.h"

#include "replay/state/gaps/gaps.h"
#include "test/unit/sbt/sbt-test.h"

#define MAIN	  1 /* id of the thread */
#define N_OPS	  60u
#define N_STREAMS 4u
#define STREAM	  7u

static uint32_t seed;

static uint32_t below(uint32_t n)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

/* Each stack is its own code: the code's number is the stack's id. */
static int find_code(void *data, uint32_t session, uint32_t stack, uint64_t time_ns,
		     uint32_t *ret_number)
{
	ts_check(!data && session == 1 && time_ns);
	*ret_number = stack;
	return 0;
}

static const struct ts_gaps_code code = {.find = find_code};

struct ran {
	uint64_t start_ns, end_ns;
	uint32_t stream;
};

static void add_launch(struct ts_sbt_session_writer *session, uint32_t i, uint64_t call_ns,
		       uint64_t call_end_ns, const struct ran *ran)
{
	const struct ts_row_api call = {.start_ns = call_ns,
					.end_ns = call_end_ns,
					.op_id = i + 1,
					.thread = MAIN,
					.context = 1,
					.domain = TS_API_CUDA_DRIVER,
					.cbid = 307,
					.flags = TS_API_EXPECTS_DEVICE};
	const struct ts_row_kernel kernel = {.start_ns = ran->start_ns,
					     .end_ns = ran->end_ns,
					     .op_id = i + 1,
					     .context = 1,
					     .stream = STREAM + ran->stream};

	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_API, &call), 0);
	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &kernel), 0);
}

/* Adds what the thread does until `to_ns`: it may be off its CPU, and a sample finds it. */
static void add_host(struct ts_sbt_session_writer *session, uint64_t from_ns, uint64_t to_ns)
{
	const struct ts_row_off_cpu off_cpu = {.start_ns = from_ns,
					       .end_ns = to_ns,
					       .woken_ns = to_ns,
					       .thread = MAIN,
					       .reason = TS_OFF_CPU_POLL};
	const struct ts_row_sample sample = {.start_ns = to_ns,
					     .period_ns = 7,
					     .thread = MAIN,
					     .stack = 1 + below(3)};

	if (below(2))
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_OFF_CPU, &off_cpu), 0);
	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_SAMPLE, &sample), 0);
}

/* Launches in some streams. The last stream has one operation, at the trace's start. */
static void add_rows(struct ts_sbt_session_writer *session, struct ran ran[N_OPS])
{
	uint64_t free_ns[N_STREAMS] = {0}, host_ns = 1;

	for (uint32_t i = 0; i < N_OPS; i++) {
		uint32_t stream = i ? below(N_STREAMS - 1) : N_STREAMS - 1;
		uint64_t call_ns = host_ns + below(40), call_end_ns = call_ns + 1 + below(10);
		uint64_t start_ns = call_ns + below(30);

		start_ns = start_ns > free_ns[stream] ? start_ns : free_ns[stream];
		free_ns[stream] = start_ns + below(30);
		ran[i] = (struct ran){start_ns, free_ns[stream], stream};
		add_launch(session, i, call_ns, call_end_ns, &ran[i]);
		host_ns = call_end_ns + 1 + below(20);
		add_host(session, call_end_ns, host_ns);
	}
}

static struct ts_sbt_reader *make_trace(struct ran ran[N_OPS])
{
	const struct ts_row_session row = {.pid = 500, .start_ns = 1};
	const struct ts_row_thread thread = {.start_ns = 1, .tid = 500};
	struct test_trace trace;
	uint32_t id;

	test_trace_begin(&trace, &row);
	ts_check_int(ts_sbt_writer_metadata(trace.writer, TS_METADATA_KERNEL_EVENTS, "sched"), 0);
	ts_check_int(ts_sbt_session_writer_add_thread(trace.session, &thread, &id), 0);
	ts_check_int(id, MAIN);
	add_rows(trace.session, ran);
	return test_trace_read(&trace);
}

static bool overlaps(uint64_t start_ns, uint64_t end_ns, uint64_t from_ns, uint64_t to_ns)
{
	return start_ns < to_ns && (end_ns > from_ns || start_ns >= from_ns);
}

static void check_same_gap(const struct ts_gap *gap, const struct ts_gap *whole)
{
	ts_check_int(gap->start_ns, whole->start_ns);
	ts_check_int(gap->op.number, whole->op.number);
	ts_check_int(gap->op.unsure, whole->op.unsure);
	ts_check_int(gap->before_op_id, whole->before_op_id);
	ts_check_int(gap->parts.n, whole->parts.n);
	for (size_t i = 0; i < gap->parts.n; i++) {
		const struct ts_gap_part *part = &gap->parts.at[i], *of = &whole->parts.at[i];

		ts_check(!memcmp(&part->key, &of->key, sizeof(of->key)));
		ts_check_int(part->ns, of->ns);
		ts_check_int(part->count, of->count);
		ts_check_int(part->samples, of->samples);
	}
}

/* Compares the streams of a window with the operations that touch it. */
static void check_streams(const struct ts_gaps *gaps, const struct ran ran[N_OPS], uint64_t from_ns,
			  uint64_t to_ns)
{
	uint64_t n_gaps = 0, ns = 0;

	for (size_t i = 0; i < gaps->n_streams; i++) {
		const struct ts_gap_stream *stream = &gaps->streams[i];
		uint64_t n = 0, busy_ns = 0;

		for (uint32_t k = 0; k < N_OPS; k++) {
			if (STREAM + ran[k].stream != stream->stream ||
			    !overlaps(ran[k].start_ns, ran[k].end_ns, from_ns, to_ns))
				continue;
			ts_check(n || stream->from_ns == ran[k].start_ns);
			busy_ns += ran[k].end_ns - ran[k].start_ns;
			n++;
		}
		ts_check_int(stream->n_ops, n);
		ts_check_int(stream->busy_ns, busy_ns);
		ts_check(n || stream->n_gaps);
		n_gaps += stream->n_gaps;
		for (unsigned cause = 0; cause < TS_GAP_CAUSES; cause++)
			ns += stream->causes_ns[cause];
	}
	ts_check_int(n_gaps, gaps->n);
	ts_check_int(ns, gaps->ns);
}

static void check_window(struct ts_sbt_reader *reader, const struct ts_gaps *whole,
			 const struct ran ran[N_OPS], const struct ts_gaps_options *options)
{
	struct ts_gaps *gaps;
	uint64_t ns = 0;
	size_t n = 0;

	ts_check_int(ts_gaps_read(reader, options, &gaps), 0);
	for (size_t i = 0; i < whole->n_longest; i++) {
		const struct ts_gap *gap = &whole->longest[i];

		if (gap->start_ns >= options->to_ns || gap->op.start_ns <= options->from_ns)
			continue;
		if (n < options->max_longest)
			check_same_gap(&gaps->longest[n], gap);
		ns += gap->op.start_ns - gap->start_ns;
		n++;
	}
	ts_check_int(gaps->n, n);
	ts_check_int(gaps->ns, ns);
	ts_check_int(gaps->n_longest, n < options->max_longest ? n : options->max_longest);
	check_streams(gaps, ran, options->from_ns, options->to_ns);
	ts_gaps_free(gaps);
}

/* Windows in random traces: some have one gap, some all; some end before the last stream's end. */
TS_TEST(windows_have_the_gaps_of_the_whole)
{
	const struct ts_gaps_options all = {.least_ns = 3, .max_longest = 1000, .code = &code};

	for (uint32_t i = 0; i < 20; i++) {
		ts_cleanup(ts_sbt_reader_freep) struct ts_sbt_reader *reader = NULL;
		ts_cleanup(ts_gaps_freep) struct ts_gaps *whole = NULL;
		struct ran ran[N_OPS];

		seed = i;
		reader = make_trace(ran);
		ts_check_int(ts_gaps_read(reader, &all, &whole), 0);
		ts_check(whole->n > 10 && whole->n == whole->n_longest);
		for (uint32_t k = 0; k < 100; k++) {
			struct ts_gaps_options window = all;

			window.max_longest = below(2) ? 1 + below(5) : 1000;
			window.from_ns = below(2500);
			window.to_ns = window.from_ns + 1 + below(below(3) ? 100 : 2500);
			check_window(reader, whole, ran, &window);
		}
	}
}
