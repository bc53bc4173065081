/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports and lists of a long trace have the same bytes with any number of threads, and lists have
 * the lines that their messages make. Files of Arrow are the same, too. The trace has two sessions,
 * calls, kernels, copies, sets, ranges, waits, samples, and names that are missing.
 */
#include "test/unit/harness.h"

#include <pthread.h>
#include <unistd.h>

#include "replay/report/query-lines.h"
#include "replay/report/rows/rowjson.h"
#include "test/unit/sbt/sbt-test.h"
#include "tools/export/arrow/dataset.h"
#include "tools/export/export.h"

#define N_OPS	 16000u
#define N_NAMES	 2000u
#define SEAL_OPS 1200u

static uint32_t string(struct ts_sbt_writer *writer, const char *format, uint32_t number)
{
	char text[64];
	uint32_t id;

	snprintf(text, sizeof(text), format, number);
	ts_check_int(ts_sbt_writer_string(writer, text, strlen(text), &id), 0);
	return id;
}

static void add_device_row(struct ts_sbt_session_writer *session, uint64_t op_id, uint64_t now_ns,
			   uint32_t name)
{
	const struct ts_row_kernel kernel = {.start_ns = now_ns,
					     .end_ns = now_ns + 700 + op_id % 900,
					     .op_id = op_id,
					     .context = 1,
					     .stream = 1 + op_id % 5,
					     .name = name,
					     .grid_x = 64,
					     .block_x = 1 + op_id % 256};
	const struct ts_row_memcpy copy = {.start_ns = now_ns,
					   .end_ns = now_ns + op_id % 3,
					   .op_id = op_id,
					   .context = 1,
					   .stream = 1,
					   .copy_kind = (uint8_t)(op_id % 13),
					   .src_kind = 1,
					   .dst_kind = 3,
					   .bytes = op_id};
	const struct ts_row_memset set = {.start_ns = now_ns,
					  .end_ns = now_ns + 50,
					  .op_id = op_id,
					  .context = 1,
					  .stream = TS_NO_DEVICE,
					  .memory_kind = 3,
					  .bytes = 16};

	ts_check_int(op_id % 11 == 0 ? ts_sbt_session_writer_add_row(session, TS_ROW_MEMCPY, &copy)
		     : op_id % 13 == 0
			     ? ts_sbt_session_writer_add_row(session, TS_ROW_MEMSET, &set)
			     : ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &kernel),
		     0);
}

static void add_op(struct ts_sbt_session_writer *session, uint64_t op_id, uint64_t now_ns,
		   const uint32_t *names)
{
	const uint32_t name = op_id % 101 ? names[op_id % N_NAMES] : 1000000;
	const struct ts_row_api api = {.start_ns = now_ns,
				       .end_ns = now_ns + 400,
				       .op_id = op_id,
				       .thread = 1 + op_id % 2,
				       .domain = TS_API_CUDA_RUNTIME,
				       .cbid = 211 + op_id % 3,
				       .result = op_id % 97 == 0,
				       .flags = TS_API_EXPECTS_DEVICE};
	const struct ts_row_range range = {.start_ns = now_ns - 300,
					   .end_ns = now_ns + 900,
					   .thread = 1,
					   .name = name,
					   .action = TS_RANGE_PUSH};
	const struct ts_row_sync sync = {.start_ns = now_ns + 20,
					 .end_ns = now_ns + 5000,
					 .op_id = op_id,
					 .sync_type = 3,
					 .context = 1,
					 .stream = 1 + op_id % 5};
	const struct ts_row_sample sample = {.start_ns = now_ns + 30, .thread = 1};

	if (op_id % 7 == 0)
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_RANGE, &range), 0);
	ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_API, &api), 0);
	if (op_id % 31 == 0)
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_SYNC, &sync), 0);
	if (op_id % 37 == 0)
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_SAMPLE, &sample), 0);
	add_device_row(session, op_id, now_ns + 1000, name);
}

static int make_trace(void)
{
	const struct ts_row_session row = {.pid = 1};
	struct ts_sbt_session_writer *sessions[2];
	static uint32_t names[N_NAMES];
	struct ts_sbt_writer *writer;
	int fd = test_file();

	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	for (uint32_t i = 0; i < N_NAMES; i++)
		names[i] = string(writer, i % 3 ? "_Z6kernelIi%uEvv" : "say \"hello\"\n%u", i);
	for (unsigned s = 0; s < 2; s++) {
		struct ts_row_thread thread = {.tid = 70 + s};
		uint32_t number;

		ts_check_int(ts_sbt_session_writer_new(writer, &row, &sessions[s]), 0);
		for (uint32_t i = 1; i <= 2; i++) {
			thread.name = string(writer, "worker %u", i + 10 * s);
			ts_check_int(ts_sbt_session_writer_add_thread(sessions[s], &thread,
								      &number),
				     0);
			ts_check_int(number, i);
		}
	}
	for (uint64_t i = 1; i <= N_OPS; i++) {
		add_op(sessions[i % 2], i, 1000000 + i * 800, names);
		for (unsigned s = 0; s < 2 && i % SEAL_OPS == 0; s++)
			ts_check_int(ts_sbt_session_writer_seal(sessions[s], NULL, 0), 0);
	}
	for (unsigned s = 0; s < 2; s++) {
		ts_check_int(ts_sbt_session_writer_seal(sessions[s], NULL, 0), 0);
		ts_sbt_session_writer_free(sessions[s]);
	}
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

static int trace;

TS_SETUP
{
	trace = make_trace();
}

static struct ts_sbt_reader *open_trace(void)
{
	struct ts_sbt_reader *reader;

	ts_check_int(ts_sbt_reader_open(trace, &reader, NULL), 0);
	return reader;
}

static const char *const threads[] = {"1", "2", "3", "16"};

/* Calls make() with each number of threads, and compares the texts. */
static void check_same(struct ts_sbt_reader *reader, size_t least,
		       void (*make)(struct ts_sbt_reader *reader, struct ts_json *text))
{
	struct ts_json alone = {0}, text = {0};

	for (unsigned i = 0; i < TS_ARRAY_LEN(threads); i++) {
		struct ts_json *to = i ? &text : &alone;

		ts_check_int(setenv("TRACESMITH_THREADS", threads[i], 1), 0);
		ts_json_clear(to);
		make(reader, to);
		ts_check(to->n_bytes > least);
		ts_check_int(to->n_bytes, alone.n_bytes);
		ts_check(!memcmp(to->data, alone.data, alone.n_bytes));
	}
	ts_json_deinit(&alone);
	ts_json_deinit(&text);
}

/* ---- exports --------------------------------------------------------------------------------- */

static void export_as(struct ts_sbt_reader *reader, enum ts_export_format format,
		      struct ts_json *text)
{
	struct ts_export_report report;
	char *bytes = NULL;
	size_t n = 0;
	FILE *file = open_memstream(&bytes, &n);

	ts_check(file);
	ts_check_int(ts_export(reader, format, NULL, file, &report), 0);
	ts_check_int(fclose(file), 0);
	ts_check_int(report.n_rows, N_OPS);
	ts_json_bytes(text, bytes, n);
	free(bytes);
}

static void make_json(struct ts_sbt_reader *reader, struct ts_json *text)
{
	export_as(reader, TS_EXPORT_FORMAT_JSON, text);
}

static void make_perfetto(struct ts_sbt_reader *reader, struct ts_json *text)
{
	export_as(reader, TS_EXPORT_FORMAT_PERFETTO, text);
}

TS_TEST(json_is_the_same)
{
	struct ts_sbt_reader *reader = open_trace();

	check_same(reader, N_OPS * 400ul, make_json);
	ts_sbt_reader_free(reader);
}

/* The names are new in the first pieces. Threads number no text, and later texts are known. */
TS_TEST(perfetto_is_the_same)
{
	struct ts_sbt_reader *reader = open_trace();

	check_same(reader, N_OPS * 40ul, make_perfetto);
	ts_sbt_reader_free(reader);
}

/* ---- Arrow: files of a folder ---------------------------------------------------------------- */

#define N_RANGES    20000u
#define LONG_NAME   (N_RANGES * 3 / 4) /* a range whose name is too long for a part of a table */
#define LONG_BYTES  (1100u * 1024)
#define N_SLICES    8u
#define FIRST_NS    UINT64_C(1000000000)
#define RANGES_STEP (N_SLICES * TS_ARROW_SLICE_UNIT_NS / N_RANGES)

static int make_ranges(void)
{
	const struct ts_row_session row = {.pid = 1};
	char *text = calloc(1, LONG_BYTES + 1);
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;
	int fd = test_file();

	ts_check(text);
	memset(text, 'x', LONG_BYTES);
	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	for (uint32_t i = 0; i < N_RANGES; i++) {
		struct ts_row_range range = {.start_ns = FIRST_NS + i * RANGES_STEP,
					     .end_ns = FIRST_NS + i * RANGES_STEP + 500};

		if (i == LONG_NAME)
			ts_check_int(ts_sbt_writer_string(writer, text, LONG_BYTES, &range.name),
				     0);
		else
			range.name = string(writer, i % 2 ? "step %u" : "\xfe%u", i * 11 % 3001);
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_RANGE, &range), 0);
	}
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	free(text);
	return fd;
}

struct folder {
	struct ts_json *text; /* the paths and contents of all files */
	FILE *file;
	char *bytes;
	size_t n_bytes;
	unsigned n_files, fails_at; /* 0: none fails */
	pthread_t thread;
};

static int open_file(void *user, const char *path, FILE **ret_file)
{
	struct folder *folder = user;

	ts_check(!folder->file && pthread_equal(pthread_self(), folder->thread));
	if (++folder->n_files == folder->fails_at)
		return -EDQUOT;
	ts_json_raw(folder->text, path);
	folder->file = open_memstream(&folder->bytes, &folder->n_bytes);
	ts_check(folder->file);
	*ret_file = folder->file;
	return 0;
}

static int finish_file(void *user)
{
	struct folder *folder = user;

	ts_check(folder->file && pthread_equal(pthread_self(), folder->thread));
	ts_check_int(fclose(folder->file), 0);
	ts_json_bytes(folder->text, folder->bytes, folder->n_bytes);
	free(folder->bytes);
	folder->file = NULL;
	return 0;
}

static int export_folder(struct ts_sbt_reader *reader, struct folder *folder)
{
	const struct ts_export_arrow_options options = {.path = "ranges.sbt",
							.slice_ns = TS_ARROW_SLICE_UNIT_NS,
							.open = open_file,
							.finish = finish_file,
							.user = folder};
	struct ts_export_report report;
	int r;

	folder->thread = pthread_self();
	r = ts_export_arrow(reader, NULL, &options, false, &report);
	ts_check(!folder->file);
	if (!r)
		ts_check_int(report.n_rows, N_RANGES);
	return r;
}

static void make_arrow(struct ts_sbt_reader *reader, struct ts_json *text)
{
	struct folder folder = {.text = text};

	ts_check_int(export_folder(reader, &folder), 0);
	ts_check_int(folder.n_files, N_SLICES);
}

/* The files before the one that fails are whole. */
static void make_few_files(struct ts_sbt_reader *reader, struct ts_json *text)
{
	struct folder folder = {.text = text, .fails_at = N_SLICES - 1};

	ts_check_int(export_folder(reader, &folder), -EDQUOT);
}

TS_TEST(arrow_is_the_same)
{
	struct ts_sbt_reader *reader;
	int fd = make_ranges();

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	check_same(reader, N_RANGES * 40ul, make_arrow);
	check_same(reader, N_RANGES * 20ul, make_few_files);
	ts_sbt_reader_free(reader);
	close(fd);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static Ts__Rpc__Query *query_of(bool is_graph)
{
	static Ts__Rpc__Query query;
	static Ts__Rpc__Query__Rows rows;
	static Ts__Rpc__Query__Graph graph;

	ts__rpc__query__init(&query);
	ts__rpc__query__rows__init(&rows);
	ts__rpc__query__graph__init(&graph);
	query.body_case = is_graph ? TS__RPC__QUERY__BODY_GRAPH : TS__RPC__QUERY__BODY_ROWS;
	if (is_graph)
		query.graph = &graph;
	else
		query.rows = &rows;
	return &query;
}

static int put(struct ts_json *text, const ProtobufCMessage *message)
{
	int r = ts_json_message(text, message);

	ts_json_raw(text, "\n");
	return r;
}

/* Receives messages one at a time. */
static int give(void *data, unsigned number, const ProtobufCMessage *body)
{
	const Ts__Rpc__GraphList *list = (const void *)body;

	if (number == TS__RPC__ANSWER__BODY_ROWS)
		return put(data, ts_rowjson_message(((const Ts__Rpc__RowList *)body)->rows[0]));
	return put(data, list->n_nodes	 ? &list->nodes[0]->base
			 : list->n_edges ? &list->edges[0]->base
			 : list->n_steps ? &list->steps[0]->base
					 : &list->summary->base);
}

static int write_lines(void *data, const char *lines, size_t n_bytes)
{
	struct ts_json *text = data;

	ts_check(n_bytes && lines[n_bytes - 1] == '\n');
	ts_json_bytes(text, lines, n_bytes);
	return text->error;
}

static void no_memory(void)
{
	abort();
}

static void ask(struct ts_sbt_reader *reader, bool is_graph, ts_lines_fn *write,
		struct ts_json *text)
{
	const struct ts_query_options options = {.give = give,
						 .data = text,
						 .no_memory = no_memory};
	struct ts_query_end end;

	ts_check_int(ts_query_lines(reader, 0, query_of(is_graph), &options, write, &end), 0);
	ts_check(!end.is_damaged);
}

static void make_rows(struct ts_sbt_reader *reader, struct ts_json *text)
{
	ask(reader, false, write_lines, text);
}

static void make_graph(struct ts_sbt_reader *reader, struct ts_json *text)
{
	ask(reader, true, write_lines, text);
}

static void check_list(bool is_graph)
{
	struct ts_sbt_reader *reader = open_trace();
	struct ts_json messages = {0}, lines = {0};

	check_same(reader, N_OPS * 400ul, is_graph ? make_graph : make_rows);
	ask(reader, is_graph, NULL, &messages);
	ask(reader, is_graph, write_lines, &lines);
	ts_check_int(lines.n_bytes, messages.n_bytes);
	ts_check(!memcmp(lines.data, messages.data, lines.n_bytes));
	ts_json_deinit(&messages);
	ts_json_deinit(&lines);
	ts_sbt_reader_free(reader);
}

TS_TEST(rows_are_the_lines_of_their_messages)
{
	check_list(false);
}

TS_TEST(graphs_are_the_lines_of_their_messages)
{
	check_list(true);
}
