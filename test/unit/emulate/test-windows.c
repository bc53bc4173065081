/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An emulation in windows equals an emulation of the whole trace: exactly without edits, and nearly
 * with edits. The traces are a generated training job and those of test/integration/golden.
 */
#include "test/unit/emulate/lies.h"

#include <math.h>

#include "proto/abi/grow.h"
#include "replay/emulate/emulate-windows.h"
#include "test/bench/trainfile.h"
#include "test/unit/sbt/sbt-test.h"

#define OPERATIONS 20000u

struct times {
	struct ts_emulate_time *at;
	size_t n, capacity;
};

static int take(void *data, const struct ts_emulate_time *time)
{
	struct times *times = data;

	ts_check_int(TS_GROW(times->at, times->capacity, times->n + 1), 0);
	times->at[times->n++] = *time;
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	const struct ts_emulate_time *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	if (x->op_id != y->op_id)
		return x->op_id < y->op_id ? -1 : 1;
	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns < y->end_ns ? -1 : 1;
	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

static void sort(struct times *times)
{
	if (times->n)
		qsort(times->at, times->n, sizeof(*times->at), compare_times);
}

static const char *kernel_name(void *user, uint32_t name)
{
	static char text[64];

	(void)user;
	snprintf(text, sizeof(text), "kernel%u", name);
	return text;
}

static const char *function_name(void *user, uint32_t name)
{
	static char text[64];

	(void)user;
	snprintf(text, sizeof(text), "call%u", name);
	return text;
}

static const struct ts_emulate_names names = {kernel_name, function_name, NULL};

/* Emulates in windows. Returns 0, or -EINVAL with a message. */
static int run_windows(struct ts_sbt_reader *reader, size_t n_items,
		       const struct ts_emulate_edit *edits, size_t n_edits, struct times *times,
		       struct ts_emulate_sums *ret_sums, char *message)
{
	const struct ts_emulate_windows_options options = {.reader = reader,
							   .n_items = n_items,
							   .n_ahead = n_items / 3};
	ts_cleanup(ts_emulate_windows_freep) struct ts_emulate_windows *windows = NULL;
	int r;

	ts_check_int(ts_emulate_windows_new(&options, edits, n_edits, &names, &windows), 0);
	do
		r = ts_emulate_windows_next(windows, times ? take : NULL, times, message);
	while (!r);
	*ret_sums = *ts_emulate_windows_sums(windows);
	return r == TS_SBT_E_END ? 0 : r;
}

static struct ts_emulate_program *read_whole(struct ts_sbt_reader *reader)
{
	const struct ts_emulate_options options = {0};
	struct ts_emulate_program *program;

	ts_check_int(ts_emulate_read(reader, &options, &program), 0);
	return program;
}

static struct ts_sbt_reader *open_training(void)
{
	struct ts_sbt_reader *reader;
	uint64_t n, n_bytes;
	int fd = memfd_create("training", MFD_CLOEXEC);

	ts_check_int(ts_training_file(dup(fd), OPERATIONS, &n, &n_bytes), 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	close(fd);
	return reader;
}

/* Without edits, each call and operation has the time that it has in one run. */
static void check_unedited(struct ts_sbt_reader *reader, size_t n_items)
{
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program =
		read_whole(reader);
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *result = NULL;
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *recorded = NULL;
	struct times whole = {0}, parts = {0};
	struct ts_emulate_sums sums;
	char message[TS_EMULATE_TEXT_BYTES] = "";

	ts_check_int(ts_emulate_run_times(program, NULL, 0, NULL, take, &whole, &result, message),
		     0);
	ts_check_int(ts_emulate_recorded(program, &recorded), 0);
	ts_check_int(run_windows(reader, n_items, NULL, 0, &parts, &sums, message), 0);
	sort(&whole);
	sort(&parts);
	ts_check_int(parts.n, whole.n);
	for (size_t i = 0; i < whole.n; i++) {
		ts_check_int(parts.at[i].op_id, whole.at[i].op_id);
		ts_check_int(parts.at[i].start_ns, whole.at[i].start_ns);
		ts_check_int(parts.at[i].end_ns, whole.at[i].end_ns);
		ts_check_int(parts.at[i].stream, whole.at[i].stream);
		ts_check_int(parts.at[i].thread, whole.at[i].thread);
	}
	ts_check_int(sums.n_ops, result->n_ops);
	ts_check_int(sums.n_calls, result->n_calls);
	ts_check_int(sums.n_broken, 0);
	ts_check_int(sums.to_ns - sums.from_ns, result->makespan_ns);
	ts_check_int(sums.recorded_to_ns - sums.recorded_from_ns, recorded->makespan_ns);
	ts_check_int(sums.settled_ns, UINT64_MAX);
	if (n_items * 2 < whole.n)
		ts_check(sums.n_windows > 1);
	free(whole.at);
	free(parts.at);
}

TS_TEST(unedited_is_exact)
{
	static const char *const golden[] = {TEST_GOLDEN "/train.sbt", TEST_GOLDEN "/pipeline.sbt",
					     TEST_GOLDEN "/delays.sbt"};
	struct ts_sbt_reader *reader = open_training();

	check_unedited(reader, 2000);
	check_unedited(reader, 9000);
	ts_sbt_reader_free(reader);
	for (unsigned i = 0; i < TS_ARRAY_LEN(golden); i++) {
		int fd = open(golden[i], O_RDONLY | O_CLOEXEC);

		ts_check(fd >= 0);
		ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
		check_unedited(reader, 9);
		check_unedited(reader, 30);
		ts_sbt_reader_free(reader);
		close(fd);
	}
}

/* A program that records events and whose device rows were lost. */
static struct ts_sbt_reader *open_events(void)
{
	const struct ts_row_session row = {.pid = 1, .start_ns = 900};
	const struct ts_row_thread thread = {.tid = 5};
	struct ts_row_event event = {.context = 1, .stream = 7};
	struct ts_row_api call = {0};
	struct test_trace trace;

	test_trace_begin(&trace, &row);
	ts_check_int(ts_sbt_session_writer_add_thread(trace.session, &thread, &call.thread), 0);
	for (uint64_t i = 1; i <= 200; i++) {
		call.op_id = event.op_id = i;
		call.start_ns = 1000 + 100 * i;
		call.end_ns = call.start_ns + 50;
		event.start_ns = call.start_ns + 20;
		event.event = 0x100 + i % 3;
		event.thread = call.thread;
		ts_check_int(ts_sbt_session_writer_add_row(trace.session, TS_ROW_API, &call), 0);
		ts_check_int(ts_sbt_session_writer_add_row(trace.session, TS_ROW_EVENT, &event), 0);
	}
	return test_trace_read(&trace);
}

TS_TEST(windows_without_engines)
{
	struct ts_sbt_reader *reader = open_events();

	check_unedited(reader, 20);
	ts_sbt_reader_free(reader);
}

/* With edits, the length of the emulation differs by at most `most` of the recorded length. */
static void check_edited(struct ts_sbt_reader *reader, size_t n_items, const char *texts,
			 double most)
{
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program =
		read_whole(reader);
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *result = NULL;
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *recorded = NULL;
	struct ts_emulate_edit edits[8];
	struct ts_emulate_sums sums;
	char message[TS_EMULATE_TEXT_BYTES] = "", copied[256], *text, *rest = copied;
	size_t n = 0;
	double is, was, before;

	snprintf(copied, sizeof(copied), "%s", texts);
	while ((text = strsep(&rest, ";")))
		ts_check_int(ts_emulate_edit_parse(text, &edits[n++], message), 0);
	ts_check_int(ts_emulate_recorded(program, &recorded), 0);
	ts_check_int(ts_emulate_run(program, edits, n, &names, SIZE_MAX, &result, message), 0);
	ts_check_int(run_windows(reader, n_items, edits, n, NULL, &sums, message), 0);
	is = (double)(sums.to_ns - sums.from_ns);
	was = (double)result->makespan_ns;
	before = (double)recorded->makespan_ns;
	ts_check(fabs(is - was) <= most * before);
	ts_check_int(sums.n_ops, result->n_ops);
	ts_check_int(sums.n_calls, result->n_calls);
}

TS_TEST(edited_is_near)
{
	struct ts_sbt_reader *reader = open_training();

	check_edited(reader, 4000, "kernel *=2x", 0.01);
	check_edited(reader, 4000, "kernel *=0.5x", 0.01);
	check_edited(reader, 4000, "kernel *=0.02x", 0.01);
	check_edited(reader, 4000, "host=2x", 0.01);
	check_edited(reader, 4000, "host=2x;kernel *=3x", 0.01);
	check_edited(reader, 4000, "copy *=0.1x", 0.01);
	check_edited(reader, 4000, "launch-latency=0us", 0.01);
	check_edited(reader, 4000, "call *=4x", 0.01);
	check_edited(reader, 4000, "graph", 0.01);
	check_edited(reader, 4000, "merge 7,13", 0.02);
	ts_sbt_reader_free(reader);
}

/* Windows of some tens of calls and operations, with events, graphs and several threads. */
TS_TEST(small_windows_are_near)
{
	static const char *const golden[] = {"train", "delays", "race"};
	static const char *const edits[] = {"kernel *=0.1x", "host=3x", "call *=0.2x",
					    "launch-latency=0us"};

	for (size_t i = 0; i < TS_ARRAY_LEN(golden); i++) {
		struct ts_sbt_reader *reader;
		char path[512];
		int fd;

		snprintf(path, sizeof(path), "%s/%s.sbt", TEST_GOLDEN, golden[i]);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		ts_check(fd >= 0);
		ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
		for (size_t k = 0; k < TS_ARRAY_LEN(edits); k++)
			check_edited(reader, 40, edits[k], 0.01);
		ts_sbt_reader_free(reader);
		close(fd);
	}
}

/* Returns the first operation whose call waits, by the edit that removes its wait. */
static uint64_t find_wait(struct ts_sbt_reader *reader, struct ts_emulate_edit *ret_edit)
{
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program =
		read_whole(reader);
	char message[TS_EMULATE_TEXT_BYTES] = "", text[64];

	for (uint64_t op = 1; op < 1000; op++) {
		ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *result = NULL;

		snprintf(text, sizeof(text), "no-sync op=%llu", (unsigned long long)op);
		ts_check_int(ts_emulate_edit_parse(text, ret_edit, message), 0);
		if (!ts_emulate_run(program, ret_edit, 1, &names, SIZE_MAX, &result, message))
			return op;
	}
	return 0;
}

/* An edit has to match in some window, not in each. */
TS_TEST(an_edit_matches_somewhere)
{
	struct ts_sbt_reader *reader;
	struct ts_emulate_edit edits[2];
	struct ts_emulate_sums sums;
	char message[TS_EMULATE_TEXT_BYTES] = "";
	int fd = open(TEST_GOLDEN "/pipeline.sbt", O_RDONLY | O_CLOEXEC);

	ts_check(fd >= 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check(find_wait(reader, &edits[0]));
	ts_check_int(run_windows(reader, 9, edits, 1, NULL, &sums, message), 0);
	ts_check_int(sums.n_edited, 1);
	ts_check(sums.n_windows > 3);
	ts_check_int(ts_emulate_edit_parse("kernel nothing=2x", &edits[1], message), 0);
	ts_check_int(run_windows(reader, 9, edits, 2, NULL, &sums, message), -EINVAL);
	ts_check(strstr(message, "nothing"));
	ts_sbt_reader_free(reader);
	close(fd);
}

/* Writes up to 400 rows that lie, in blocks of some tens. */
static struct ts_sbt_reader *open_lies(void)
{
	const struct ts_row_session row = {.pid = 1, .start_ns = 900};
	const struct ts_row_thread thread = {.tid = 5};
	unsigned int n_rows = lie_below(400), how = lie_below(2), which;
	struct test_trace trace;
	uint64_t now_ns = 1000;
	union lie lie;
	uint32_t id;

	test_trace_begin(&trace, &row);
	for (int i = 0; i < 3; i++)
		ts_check_int(ts_sbt_session_writer_add_thread(trace.session, &thread, &id), 0);
	for (unsigned int i = 0; i < n_rows; i++) {
		which = lie_types[lie_below(TS_ARRAY_LEN(lie_types))];
		now_ns += lie_below(20);
		lie_fill(ts_row_schema(which), &lie, how, now_ns);
		/* The writer refuses some lies. */
		(void)ts_sbt_session_writer_add_row(trace.session, which, &lie);
		if (i % 40 == 39)
			(void)ts_sbt_session_writer_seal(trace.session, NULL, 0);
	}
	return test_trace_read(&trace);
}

/* Each operation runs once in some window, whatever the rows are. */
TS_TEST(rows_that_lie)
{
	static const char *const texts[] = {"kernel *=2x", "merge 1,2", "graph",
					    "no-sync *",   "split 1=3", "h2d-engines=2",
					    "host=100000x"};

	lie_seed = 5;
	for (unsigned int i = 0; i < 400; i++) {
		struct ts_sbt_reader *reader = open_lies();
		ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program =
			read_whole(reader);
		size_t n_items = 1 + lie_below(60), n_edits = lie_below(3);
		struct ts_emulate_edit edits[2];
		struct ts_emulate_doubts doubts;
		struct ts_emulate_sums sums;
		char message[TS_EMULATE_TEXT_BYTES] = "";
		int r;

		for (size_t k = 0; k < n_edits; k++)
			ts_check_int(ts_emulate_edit_parse(texts[lie_below(TS_ARRAY_LEN(texts))],
							   &edits[k], message),
				     0);
		r = run_windows(reader, n_items, edits, n_edits, NULL, &sums, message);
		ts_check(!r || (r == -EINVAL && n_edits && message[0]));
		ts_emulate_doubts(program, &doubts);
		ts_check_int(sums.n_ops, doubts.n_ops);
		ts_sbt_reader_free(reader);
	}
}
