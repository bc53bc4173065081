/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports and lists of a long trace have the same bytes with any number of threads, and lists have
 * the lines that their messages make. Files of Arrow are the same, too. The trace has two sessions,
 * calls, kernels, copies, sets, ranges, waits, samples, and names that are missing.
 */
#include "test/unit/harness.h"

#include <pthread.h>
#include <unistd.h>

#include "replay/report/pieces.h"
#include "replay/report/query-lines.h"
#include "replay/report/rows/rowjson.h"
#include "test/unit/sbt/sbt-test.h"
#include "tools/export/arrow/dataset.h"
#include "tools/export/export.h"
#include "tools/export/perfetto/tracks.h"

/* Threads are started after fewer texts in a sanitizer's build: see sbt/reader-threads.h. */
#define N_OPS	 (TS_TEST_SANITIZED ? 4000u : 16000u)
#define N_NAMES	 (N_OPS / 8)
#define SEAL_OPS (N_OPS / 13)

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
/* A sanitizer sees one thread, the caller's help, and many threads. */
#define IS_LEFT_OUT(i) (TS_TEST_SANITIZED && !ts_soak() && (i) == 2)

/* Calls make() with each number of threads, and compares the texts. */
static void check_same(struct ts_sbt_reader *reader, size_t least,
		       void (*make)(struct ts_sbt_reader *reader, struct ts_json *text))
{
	struct ts_json alone = {0}, text = {0};

	for (unsigned i = 0; i < TS_ARRAY_LEN(threads); i++) {
		struct ts_json *to = i ? &text : &alone;

		if (IS_LEFT_OUT(i))
			continue;
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

/* The names are new in the first pieces; all texts of later ones are known. */
TS_TEST(perfetto_is_the_same)
{
	struct ts_sbt_reader *reader = open_trace();

	check_same(reader, N_OPS * 40ul, make_perfetto);
	ts_sbt_reader_free(reader);
}

/* ---- new texts ------------------------------------------------------------------------------- */

#define N_SLICES  (TS_TEST_SANITIZED ? 15000u : 60000u)
#define N_RUN	  (N_SLICES / 15) /* slices with new texts, then as many without */
#define NEW_BYTES 4000u

static int new_text(void *user, const struct ts_track_text *what, uint64_t time_ns,
		    struct ts_buffer *text)
{
	char word[40];
	int r = 0;

	snprintf(word, sizeof(word), "%" PRIu64 " at %" PRIu64, what->value, time_ns);
	while (!r && text->n < NEW_BYTES)
		r = ts_buffer_append(text, word, strlen(word));
	return r;
}

static void add_slice(struct ts_tracks *tracks, uint32_t track, uint64_t i)
{
	const uint64_t run = i / N_RUN;
	struct ts_track_slice slice = {
		.track = track,
		.n_args = 1,
		.start_ns = 1 + i,
		.end_ns = 1 + i + i % 3,
		.name = {.kind = TS_TRACK_TEXT_FIRST, .value = run % 2 ? 0 : i / 10},
		.args[0] = {.kind = TS_TRACK_ARG_TEXT,
			    .text = {.kind = TS_TRACK_TEXT_FIRST, .of = 1, .value = run}}};

	ts_check_int(ts_tracks_slice(tracks, &slice), 0);
}

static void make_slices(struct ts_sbt_reader *reader, struct ts_json *text)
{
	static const char *const arg_names[] = {"argument"};
	struct ts_track_options options = {.arg_names = arg_names,
					   .n_arg_names = TS_ARRAY_LEN(arg_names),
					   .text = new_text,
					   .origin_ns = 1};
	const struct ts_track track = {.name = "track", .is_flat = true};
	struct ts_tracks *tracks;
	uint32_t numbers[3];
	char *bytes = NULL;
	size_t n = 0;

	options.file = open_memstream(&bytes, &n);
	ts_check(options.file);
	ts_check_int(ts_tracks_new(&options, &tracks), 0);
	for (size_t i = 0; i < TS_ARRAY_LEN(numbers); i++)
		ts_check_int(ts_tracks_add(tracks, &track, &numbers[i]), 0);
	for (uint64_t i = 0; i < N_SLICES; i++)
		add_slice(tracks, numbers[i % TS_ARRAY_LEN(numbers)], i);
	ts_check_int(ts_tracks_finish(tracks), 0);
	ts_tracks_free(tracks);
	ts_check_int(fclose(options.file), 0);
	ts_json_bytes(text, bytes, n);
	free(bytes);
}

/* Threads number no text: a piece with a new text waits for the pieces before it. */
TS_TEST(new_texts_have_the_same_numbers)
{
	check_same(NULL, N_SLICES / 20 * NEW_BYTES, make_slices);
}

/* ---- Arrow: files of a folder ---------------------------------------------------------------- */

#define N_RANGES    20000u
#define LONG_NAME   (N_RANGES * 3 / 4) /* a range whose name is too long for a part of a table */
#define LONG_BYTES  (1100u * 1024)
#define N_FILES	    8u
#define FIRST_NS    UINT64_C(1000000000)
#define RANGES_STEP (N_FILES * TS_ARROW_SLICE_UNIT_NS / N_RANGES)

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
	ts_check_int(folder.n_files, N_FILES);
}

/* The files before the one that fails are whole. */
static void make_few_files(struct ts_sbt_reader *reader, struct ts_json *text)
{
	struct folder folder = {.text = text, .fails_at = N_FILES - 1};

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

/* ---- long names ------------------------------------------------------------------------------ */

#define N_LONG	   40u
#define LONG_WORD  (1024ul * 1024)
#define MOST_BYTES (2ul * TS_PIECES_TEXT_BYTES) /* of one text */

struct long_texts {
	size_t n_written, most;
};

static struct ts_sbt_reader *make_long_trace(void)
{
	struct ts_row_session row = {.pid = 1};
	struct ts_row_kernel kernel = {.context = 1, .stream = 1};
	char *name = malloc(LONG_WORD);
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;
	struct ts_sbt_reader *reader;
	int fd = test_file();

	ts_check(name);
	memset(name, 'k', LONG_WORD);
	ts_check_int(ts_sbt_writer_new(dup(fd), &writer), 0);
	ts_check_int(ts_sbt_writer_string(writer, name, LONG_WORD, &kernel.name), 0);
	free(name);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	for (uint64_t i = 1; i <= N_LONG; i++) {
		kernel.op_id = i;
		kernel.start_ns = i * 1000;
		kernel.end_ns = i * 1000 + 500;
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &kernel), 0);
	}
	ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	close(fd);
	return reader;
}

/* The summary of a graph is not counted. */
static int ignore(void *data, unsigned number, const ProtobufCMessage *body)
{
	return 0;
}

static int count_lines(void *data, const char *lines, size_t n_bytes)
{
	struct long_texts *texts = data;

	texts->n_written += n_bytes;
	texts->most = n_bytes > texts->most ? n_bytes : texts->most;
	return 0;
}

static ssize_t count_bytes(void *data, const char *bytes, size_t n_bytes)
{
	count_lines(data, bytes, n_bytes);
	return (ssize_t)n_bytes;
}

static void check_long(const struct long_texts *texts)
{
	ts_check(texts->n_written > N_LONG * LONG_WORD);
	ts_check(texts->most <= MOST_BYTES);
}

/* Pieces have hundreds of rows, and each of them may have the longest name. */
TS_TEST(long_names_are_written_in_parts)
{
	struct ts_sbt_reader *reader = make_long_trace();
	const struct ts_query_options options = {.give = ignore, .no_memory = no_memory};
	struct long_texts of_json = {0};
	struct ts_export_report report;
	struct ts_query_end end;
	FILE *file = fopencookie(&of_json, "w", (cookie_io_functions_t){.write = count_bytes});

	for (int is_graph = 0; is_graph < 2; is_graph++) {
		struct long_texts texts = {0};
		struct ts_query_options own = options;

		own.data = &texts;
		ts_check_int(ts_query_lines(reader, 0, query_of(is_graph), &own, count_lines, &end),
			     0);
		check_long(&texts);
	}
	ts_check(file);
	ts_check_int(ts_export(reader, TS_EXPORT_FORMAT_JSON, NULL, file, &report), 0);
	ts_check_int(fclose(file), 0);
	check_long(&of_json);
	ts_sbt_reader_free(reader);
}
