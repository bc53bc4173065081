/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests medians of durations, frames that text output omits, queries without a callback, and the
 * reader's flag of cancellation during a query.
 */
#include "replay/report/query-diff.h"
#include "replay/report/query.h"
#include "replay/report/rows/durations.h"
#include "replay/report/stacks/frames.h"
#include "test/unit/harness.h"

#include "test/unit/sbt/sbt-test.h"

TS_TEST(percentiles_are_exact_for_short_durations)
{
	struct ts_durations durations = {0};

	ts_check_int(ts_durations_at(&durations, 50), 0);
	for (uint64_t ns = 1; ns <= 100; ns++)
		ts_check_int(ts_durations_add(&durations, ns), 0);
	ts_check_int(ts_durations_at(&durations, 0), 1);
	ts_check_int(ts_durations_at(&durations, 50), 50);
	ts_check_int(ts_durations_at(&durations, 99), 99);
	ts_check_int(ts_durations_at(&durations, 100), 100);
	ts_durations_deinit(&durations);
}

TS_TEST(percentiles_are_true_to_a_fifth_of_a_percent)
{
	struct ts_durations durations = {0};
	uint64_t ns[] = {255, 256, 511, 512, 513, 100000, 123456789, UINT64_MAX / 2, UINT64_MAX};

	for (size_t i = 0; i < sizeof(ns) / sizeof(*ns); i++) {
		uint64_t found, off;

		ts_check_int(ts_durations_add(&durations, ns[i]), 0);
		found = ts_durations_at(&durations, 100);
		off = found > ns[i] ? found - ns[i] : ns[i] - found;
		ts_check(off <= ns[i] / 500);
		ts_check(ns[i] >= 512 || !off);
	}
	ts_durations_deinit(&durations);
}

static int take(void *data, unsigned number, const ProtobufCMessage *body)
{
	return 0;
}

TS_TEST(a_query_needs_its_callbacks)
{
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	struct ts_query_options options = {.give = take};
	struct ts_query_end end;

	ts_check_int(ts_query_run(NULL, 0, &query, &options, &end), -EINVAL);
	options = (struct ts_query_options){.no_memory = abort};
	ts_check_int(ts_query_run(NULL, 0, &query, &options, &end), -EINVAL);
	options.give = take;
	ts_check_int(ts_query_run(NULL, 0, &query, &options, &end), TS_QUERY_E_UNKNOWN);
	/* A question without its fields. */
	query.body_case = TS__RPC__QUERY__BODY_TIMELINE;
	ts_check_int(ts_query_run(NULL, 0, &query, &options, &end), TS_QUERY_E_UNKNOWN);
}

static struct ts_sbt_reader *open_trace(void)
{
	const struct ts_row_kernel kernel = {.start_ns = 1000, .end_ns = 2000};
	const struct ts_row_session row = {.pid = 7, .start_ns = 1000};
	struct test_trace trace;

	test_trace_begin(&trace, &row);
	ts_check_int(ts_sbt_session_writer_add_row(trace.session, TS_ROW_KERNEL, &kernel), 0);
	return test_trace_read(&trace);
}

/* A query without a flag of its own heeds the reader's flag; the flag is the same afterwards. */
TS_TEST(a_query_keeps_the_readers_flag)
{
	struct ts_query_options options = {.give = take, .no_memory = abort};
	Ts__Rpc__Query__Timeline timeline = TS__RPC__QUERY__TIMELINE__INIT;
	Ts__Rpc__Query__Replay replay = TS__RPC__QUERY__REPLAY__INIT;
	Ts__Rpc__DiffQuery diff = TS__RPC__DIFF_QUERY__INIT;
	Ts__Rpc__Query query = TS__RPC__QUERY__INIT;
	struct ts_sbt_reader *reader = open_trace();
	const struct ts_query_side side = {&reader, 1, NULL}, sides[2] = {side, side};
	volatile int outer = 0, own = 0;
	struct ts_query_end end;
	unsigned at;
	size_t run;

	query.body_case = TS__RPC__QUERY__BODY_TIMELINE;
	query.timeline = &timeline;
	ts_check(!ts_sbt_reader_cancel(reader, &outer));
	ts_check_int(ts_query_run(reader, 0, &query, &options, &end), 0);
	ts_check_int(ts_query_diff(sides, &diff, &options, &end, &at, &run), 0);
	outer = 1;
	ts_check_int(ts_query_run(reader, 0, &query, &options, &end), -ECANCELED);
	ts_check_int(ts_query_diff(sides, &diff, &options, &end, &at, &run), -ECANCELED);
	ts_check(ts_sbt_reader_cancel(reader, &outer) == &outer);
	/* The query's own flag, and the flag that a replay does without. */
	options.cancel = &own;
	ts_check_int(ts_query_run(reader, 0, &query, &options, &end), 0);
	ts_check_int(ts_query_diff(sides, &diff, &options, &end, &at, &run), 0);
	query.body_case = TS__RPC__QUERY__BODY_REPLAY;
	query.replay = &replay;
	ts_check_int(ts_query_run(reader, 0, &query, &options, &end), 0);
	ts_check(ts_sbt_reader_cancel(reader, NULL) == &outer);
	ts_sbt_reader_free(reader);
}

TS_TEST(frames_that_are_nobodys)
{
	static const struct {
		const char *path, *function;
		bool python, hidden;
	} frames[] = {
		{"/usr/lib/libtsinject.so", NULL, false, true},
		{"/usr/local/cuda/lib64/libcudart.so.13", "cudaLaunchKernel", false, true},
		{"/usr/lib/x86_64-linux-gnu/libcuda.so.1", NULL, false, true},
		{"/home/me/app", "__device_stub__Z5scalePf", false, true},
		{"/home/me/app", "void __wrapper__device_stub_scale<float>(float*&)", false, true},
		{"/home/me/app", "device_stubs", false, false},
		{"/home/me/app", "cudaLaunchKernel", false, true},
		{"/home/me/app", "cuda_init", false, false},
		{"/home/me/app", "cudamain", false, false},
		{"/home/me/app", "_start", false, true},
		{"/home/me/app", "_start_up", false, false},
		{"/lib/x86_64-linux-gnu/libc.so.6", "__libc_start_call_main", false, true},
		{"/lib/x86_64-linux-gnu/libc.so.6", "qsort", false, false},
		{"/usr/bin/python3.11", "_PyEval_EvalFrameDefault", true, true},
		{"/usr/bin/python3.11", "_PyEval_EvalFrameDefault", false, false},
		{NULL, NULL, true, false},
	};

	for (size_t i = 0; i < sizeof(frames) / sizeof(*frames); i++)
		ts_check_int(ts_frame_is_hidden(frames[i].path, frames[i].function,
						frames[i].python),
			     frames[i].hidden);
}
