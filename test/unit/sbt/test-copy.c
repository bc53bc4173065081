/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests copies of traces. A window keeps all required rows, windows joined again are the original
 * trace, and traces of several machines get one time.
 */
#include "test/unit/harness.h"

#include "proto/abi/clock.h"
#include "sbt/copy.h"
#include "sbt/symbols.h"
#include "sbt/verify.h"
#include "test/unit/sbt/sbt-test.h"

/* A trace that is being written. */
struct made {
	int fd;
	struct ts_sbt_writer *writer;
	struct ts_sbt_session_writer *session;
};

static struct made begin(const char *host, uint64_t start_ns, uint8_t uuid)
{
	struct ts_row_session row = {.pid = 7, .start_ns = start_ns, .uuid = {uuid}};
	struct made made = {.fd = test_file()};

	ts_check_int(ts_sbt_writer_new(fcntl(made.fd, F_DUPFD_CLOEXEC, 3), &made.writer), 0);
	ts_check_int(ts_sbt_writer_metadata(made.writer, TS_METADATA_HOSTNAME, host), 0);
	ts_check_int(ts_sbt_session_writer_new(made.writer, &row, &made.session), 0);
	return made;
}

static void add(struct made *made, unsigned type, const void *row)
{
	ts_check_int(ts_sbt_session_writer_add_row(made->session, type, row), 0);
}

static void end_session(struct made *made)
{
	ts_check_int(ts_sbt_session_writer_seal(made->session, NULL, 0), 0);
	ts_sbt_session_writer_free(made->session);
}

static int end(struct made *made)
{
	end_session(made);
	ts_check_int(ts_sbt_writer_finish(made->writer), 0);
	ts_sbt_writer_free(made->writer);
	return made->fd;
}

static uint32_t string_of(struct made *made, const char *text)
{
	uint32_t id;

	ts_check_int(ts_sbt_writer_string(made->writer, text, strlen(text), &id), 0);
	return id;
}

static struct ts_sbt_reader *open_reader(int fd)
{
	struct ts_sbt_reader *reader;

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	return reader;
}

static void verify(int fd)
{
	struct ts_sbt_verify_report report;

	ts_check_int(ts_sbt_verify(fd, &(struct ts_sbt_verify_options){0}, &report), 0);
	if (report.n_findings)
		fprintf(stderr, "byte %llu: %s\n", (unsigned long long)report.first.off,
			report.first.text);
	ts_check_int(report.n_findings, 0);
	ts_check_int(report.state, TS_SBT_FINISHED);
}

static int copy_of(const int *fds, size_t n, const struct ts_sbt_copy_options *options,
		   struct ts_sbt_copy_source *ret_sources, struct ts_sbt_copy_report *ret_report)
{
	int fd = test_file();
	struct ts_sbt_writer *writer;

	ts_check_int(ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &writer), 0);
	for (size_t i = 0; i < n; i++)
		ret_sources[i] = (struct ts_sbt_copy_source){.reader = open_reader(fds[i]),
							     .name = i ? "second" : "first"};
	ts_check_int(ts_sbt_copy(ret_sources, n, options, writer, ret_report), 0);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	for (size_t i = 0; i < n; i++)
		ts_sbt_reader_free(ret_sources[i].reader);
	verify(fd);
	return fd;
}

static int cut(int fd, uint64_t from_ns, uint64_t to_ns)
{
	struct ts_sbt_copy_options options = {.from_ns = from_ns,
					      .to_ns = to_ns,
					      .has_window = true};
	struct ts_sbt_copy_report report;
	struct ts_sbt_copy_source source;

	return copy_of(&fd, 1, &options, &source, &report);
}

/* ---- contents of a row, independent of the ids in it ---------------------------------------- */

struct text {
	char *bytes;
	size_t n, room;
};

static void put(struct text *text, const void *bytes, size_t n)
{
	if (text->n + n + 1 > text->room) {
		text->room = 2 * (text->n + n + 1);
		text->bytes = realloc(text->bytes, text->room);
		ts_check(text->bytes);
	}
	memcpy(text->bytes + text->n, bytes, n);
	text->n += n;
}

static void put_number(struct text *text, uint64_t number)
{
	char figures[32];

	put(text, figures, (size_t)snprintf(figures, sizeof(figures), "%llu,", (long long)number));
}

static void put_string(struct text *text, struct ts_sbt_reader *reader, uint32_t id)
{
	size_t n = 0;
	const char *bytes = ts_sbt_reader_string(reader, id, &n);

	put_number(text, n);
	if (bytes)
		put(text, bytes, n);
}

static void put_stack(struct text *text, struct ts_sbt_reader *reader, uint32_t session,
		      uint32_t id)
{
	struct ts_sbt_stack stack;

	if (ts_sbt_reader_stack(reader, session, id, &stack))
		return put_number(text, 0);
	put_number(text, stack.flags + 1);
	for (uint32_t i = 0; i < stack.n_frames; i++)
		if (TS_FRAME_KIND(stack.frames[i]) == TS_FRAME_PYTHON) {
			put_string(text, reader, TS_FRAME_STRING(stack.frames[i]));
			put_number(text, TS_FRAME_LINE(stack.frames[i]));
		} else {
			put_number(text, stack.frames[i]);
		}
}

static void put_column(struct text *text, struct ts_sbt_reader *reader, uint32_t session,
		       const struct ts_column *column, const void *row)
{
	uint64_t value = ts_column_get(column, row);
	const struct ts_row_thread *thread;

	switch (column->role) {
	case TS_ROLE_STRING:
		put_string(text, reader, (uint32_t)value);
		break;
	case TS_ROLE_STACK:
		put_stack(text, reader, session, (uint32_t)value);
		break;
	case TS_ROLE_THREAD:
		thread = ts_sbt_reader_thread(reader, session, (uint32_t)value);
		put_number(text, thread ? thread->tid + UINT64_C(1) : 0);
		break;
	default:
		put_number(text, value);
	}
}

static char *describe(struct ts_sbt_reader *reader, const struct ts_sbt_row *row)
{
	struct text text = {0};

	put(&text, row->schema->name, strlen(row->schema->name));
	put_number(&text, ts_sbt_reader_session(reader, row->session)->uuid[0]);
	for (unsigned i = 0; i < row->schema->n_columns; i++)
		put_column(&text, reader, row->session, &row->schema->columns[i], row->any);
	text.bytes[text.n] = 0;
	return text.bytes;
}

struct described {
	char **rows;
	size_t n, room;
};

static int compare_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * Returns text for all rows of a trace that copies keep, or for the rows of the given types. The
 * order does not depend on the file's.
 */
static struct described rows_of(int fd, uint64_t types)
{
	struct ts_sbt_cursor_options options = {
		.types = types ? types : TS_ROW_EVENTS & ~TS_ROW_BIT(TS_ROW_OPERATION)};
	struct ts_sbt_reader *reader = open_reader(fd);
	struct described all = {0};
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;
	int r;

	ts_check_int(ts_sbt_cursor_new(reader, &options, &cursor), 0);
	while (!(r = ts_sbt_cursor_next(cursor, &row))) {
		if (all.n == all.room) {
			all.room = all.room ? 2 * all.room : 64;
			all.rows = realloc(all.rows, all.room * sizeof(*all.rows));
			ts_check(all.rows);
		}
		all.rows[all.n++] = describe(reader, &row);
	}
	ts_check_int(r, TS_SBT_E_END);
	if (all.n)
		qsort(all.rows, all.n, sizeof(*all.rows), compare_text);
	ts_sbt_cursor_free(cursor);
	ts_sbt_reader_free(reader);
	return all;
}

static void free_rows(struct described *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->rows[i]);
	free(all->rows);
}

static void check_same_rows(int fd, int other)
{
	struct described a = rows_of(fd, 0), b = rows_of(other, 0);

	for (size_t i = 0; i < a.n && i < b.n; i++)
		ts_check_str(b.rows[i], a.rows[i]);
	ts_check_int(b.n, a.n);
	free_rows(&a);
	free_rows(&b);
}

static size_t count(int fd, unsigned type)
{
	struct described rows = rows_of(fd, TS_ROW_BIT(type));
	size_t n = rows.n;

	free_rows(&rows);
	return n;
}

/* ---- tests ----------------------------------------------------------------------------------- */

/* Makes a trace of sessions with rows of every type, with random values. */
static int random_trace(uint64_t seed, unsigned mode)
{
	struct made made = begin("one", 500, 1);
	uint64_t state = seed, now = 1000, frames[3];
	struct ts_row_thread thread = {.start_ns = 700};

	for (uint8_t session = 1; session <= 3; session++) {
		struct ts_row_session row = {.pid = session, .start_ns = 500, .uuid = {session}};
		uint32_t id;

		if (session > 1) {
			end_session(&made);
			ts_check_int(ts_sbt_session_writer_new(made.writer, &row, &made.session),
				     0);
		}
		for (uint32_t i = 0; i < 6; i++) {
			thread.tid = 100u * session + i;
			thread.name = string_of(&made, i % 2 ? "worker" : "");
			ts_check_int(ts_sbt_session_writer_add_thread(made.session, &thread, &id),
				     0);
			frames[0] = test_random(&state) >> 4;
			frames[1] = TS_FRAME_PYTHON_AT(string_of(&made, "f\nx.py"), i);
			frames[2] = 0x400000;
			ts_check_int(ts_sbt_session_writer_add_stack(made.session, frames, i % 4,
								     i % 2, &id),
				     0);
		}
		for (unsigned i = 0; i < 300; i++) {
			unsigned type = test_event(test_random(&state) % TS_ROW_N_EVENTS);
			uint8_t bytes[TS_ROW_MAX_BYTES];

			test_row(ts_row_schema(type), &state, mode, &now, bytes);
			add(&made, type, bytes);
		}
	}
	return end(&made);
}

TS_TEST(windows_make_the_whole)
{
	for (uint64_t seed = 1; seed <= 12; seed++) {
		int whole = random_trace(seed, seed % 3), fds[4], merged;
		uint64_t at[] = {seed % 3 == 2 ? 200000 : UINT64_C(1) << 40,
				 seed % 3 == 2 ? 900000 : UINT64_C(1) << 63};
		struct ts_sbt_copy_source sources[4];
		struct ts_sbt_copy_report report;

		fds[0] = cut(whole, 0, at[0]);
		fds[1] = cut(whole, at[0] + 1, at[1]);
		fds[2] = cut(whole, at[1] + 1, 0);
		fds[3] = cut(whole, at[0] - 1, at[1] + 1);
		ts_check(count(fds[0], TS_ROW_API) < count(whole, TS_ROW_API));
		merged = copy_of(fds, 4, &(struct ts_sbt_copy_options){0}, sources, &report);
		check_same_rows(whole, merged);
		ts_check_int(report.n_sessions, 3);
		ts_check(report.n_repeated);
		for (unsigned i = 0; i < 4; i++)
			close(fds[i]);
		close(whole);
		close(merged);
	}
}

/* A window keeps whole operations, and the objects that exist when the window begins. */
TS_TEST(window_keeps)
{
	struct made made = begin("one", 10, 1);
	struct ts_row_api api = {.op_id = 1, .start_ns = 100, .end_ns = 110};
	struct ts_row_kernel kernel = {.op_id = 1, .start_ns = 1000, .end_ns = 1100};
	struct ts_row_memory memory = {.start_ns = 90, .address = 0x1000, .bytes = 5};
	struct ts_row_range range = {.start_ns = 50, .end_ns = 150, .range_id = 1};
	struct ts_row_range_begin opened = {.start_ns = 50, .range_id = 1};
	struct ts_row_stream stream = {.start_ns = 20, .stream = 7};
	struct ts_row_clock clock = {.clock = TS_CLOCK_REALTIME};
	struct ts_row_mark mark = {.start_ns = 99};
	struct described rows;
	int whole, part;

	add(&made, TS_ROW_API, &api);
	add(&made, TS_ROW_KERNEL, &kernel);
	api = (struct ts_row_api){.op_id = 2, .nested_op_id = 3, .start_ns = 1050, .end_ns = 1060};
	kernel = (struct ts_row_kernel){.op_id = 3, .start_ns = 5000, .end_ns = 5001};
	add(&made, TS_ROW_API, &api);
	add(&made, TS_ROW_KERNEL, &kernel);
	api = (struct ts_row_api){.op_id = 4, .start_ns = 200, .end_ns = 210};
	kernel = (struct ts_row_kernel){.op_id = 4, .start_ns = 250, .end_ns = 999};
	add(&made, TS_ROW_API, &api);
	add(&made, TS_ROW_KERNEL, &kernel);
	/* Live at 1000: only the second allocation of 0x2000. */
	add(&made, TS_ROW_ALLOC, &memory);
	memory.start_ns = 95;
	add(&made, TS_ROW_FREE, &memory);
	memory.address = 0x2000;
	add(&made, TS_ROW_ALLOC, &memory);
	memory.start_ns = 96;
	add(&made, TS_ROW_FREE, &memory);
	memory.start_ns = 97;
	add(&made, TS_ROW_ALLOC, &memory);
	/* One range ends before the window, one ends after it, and one never ends. */
	add(&made, TS_ROW_RANGE, &range);
	add(&made, TS_ROW_RANGE_BEGIN, &opened);
	range = (struct ts_row_range){.start_ns = 60, .end_ns = 9000, .range_id = 2};
	opened = (struct ts_row_range_begin){.start_ns = 60, .range_id = 2};
	add(&made, TS_ROW_RANGE, &range);
	add(&made, TS_ROW_RANGE_BEGIN, &opened);
	opened = (struct ts_row_range_begin){.start_ns = 70, .range_id = 3};
	add(&made, TS_ROW_RANGE_BEGIN, &opened);
	add(&made, TS_ROW_STREAM, &stream);
	add(&made, TS_ROW_MARK, &mark);
	for (unsigned i = 0; i < 8; i++) {
		clock.start_ns = 400 * i;
		add(&made, TS_ROW_CLOCK, &clock);
	}
	whole = end(&made);
	part = cut(whole, 1000, 2000);
	ts_check_int(count(part, TS_ROW_API), 2);
	ts_check_int(count(part, TS_ROW_KERNEL), 2);
	ts_check_int(count(part, TS_ROW_ALLOC), 1);
	ts_check_int(count(part, TS_ROW_FREE), 0);
	ts_check_int(count(part, TS_ROW_RANGE), 1);
	ts_check_int(count(part, TS_ROW_RANGE_BEGIN), 2);
	ts_check_int(count(part, TS_ROW_STREAM), 1);
	ts_check_int(count(part, TS_ROW_MARK), 0);
	/*
	 * 800 comes before the window; 1200, 1600 and 2000 are in it. 2000 is also the first clock
	 * row at or after the window's end.
	 */
	rows = rows_of(part, TS_ROW_BIT(TS_ROW_CLOCK));
	ts_check_int(rows.n, 4);
	free_rows(&rows);
	close(part);
	close(whole);
}

/* Only definitions that rows refer to are kept. */
TS_TEST(window_keeps_names)
{
	struct made made = begin("one", 10, 1);
	struct ts_row_module module = {.address = 0x10000, .address_end = 0x20000, .bias = 0x10000};
	struct ts_row_image image = {.image = 1};
	struct ts_row_symbol symbol = {.image = 1};
	struct ts_row_mark mark = {.start_ns = 100};
	uint64_t frames[] = {0x10100, 0x10201};
	struct ts_symbols *symbols;
	struct ts_sbt_reader *reader;
	int whole, part;
	uint32_t id;

	module.path = image.path = string_of(&made, "/lib/one.so");
	add(&made, TS_ROW_MODULE, &module);
	module = (struct ts_row_module){.address = 0x30000, .address_end = 0x40000};
	module.path = string_of(&made, "/lib/other.so");
	add(&made, TS_ROW_MODULE, &module);
	string_of(&made, "in no row at all");
	for (uint32_t i = 0; i < 3; i++) {
		struct ts_row_thread thread = {.tid = 100 + i};

		ts_check_int(ts_sbt_session_writer_add_thread(made.session, &thread, &id), 0);
	}
	ts_check_int(ts_sbt_session_writer_add_stack(made.session, frames, 0, 0, &id), 0);
	ts_check_int(ts_sbt_session_writer_add_stack(made.session, frames, 2, 0, &mark.stack), 0);
	mark.thread = 2;
	mark.name = string_of(&made, "mark");
	add(&made, TS_ROW_MARK, &mark);
	ts_check_int(ts_sbt_writer_row(made.writer, TS_ROW_IMAGE, &image), 0);
	for (uint64_t address = 0x100; address <= 0x400; address += 0x100) {
		symbol.address = address;
		symbol.function = string_of(&made, "function");
		ts_check_int(ts_sbt_writer_row(made.writer, TS_ROW_SYMBOL, &symbol), 0);
	}
	whole = end(&made);
	part = cut(whole, 100, 100);
	check_same_rows(whole, part);
	reader = open_reader(part);
	ts_check_int(ts_sbt_reader_n_threads(reader), 1);
	ts_check_int(ts_sbt_reader_thread_at(reader, 0)->row.tid, 101);
	ts_check_int(ts_sbt_reader_n_modules(reader), 1);
	for (id = 1; ts_sbt_reader_string(reader, id, NULL); id++)
		ts_check(strcmp(ts_sbt_reader_string(reader, id, NULL), "in no row at all") != 0);
	ts_check_int(ts_symbols_new(reader, &symbols), 0);
	ts_check_int(ts_symbols_n_images(symbols), 1);
	for (uint64_t address = 0x100; address <= 0x400; address += 0x100) {
		size_t n;

		ts_symbols_find(symbols, 1, &ts_sbt_reader_module_at(reader, 0)->row,
				0x10000 + address, &n, NULL);
		/* The innermost frame's address is looked up as it is, a return address less 1. */
		ts_check_int(n, address <= 0x200);
	}
	ts_check_str(ts_sbt_reader_metadata(reader, TS_METADATA_CUT_FROM), "first");
	ts_check_str(ts_sbt_reader_metadata(reader, TS_METADATA_CUT_WINDOW), "100..100");
	ts_symbols_free(symbols);
	ts_sbt_reader_free(reader);
	close(part);
	close(whole);
}

static int machine(const char *host, const char *boot, uint8_t uuid, uint64_t ahead_ns, uint64_t at)
{
	struct made made = begin(host, at, uuid);
	struct ts_row_clock clock = {.clock = TS_CLOCK_REALTIME, .error_ns = 50};
	struct ts_row_mark mark = {.start_ns = at + 5};

	ts_check_int(ts_sbt_writer_metadata(made.writer, TS_METADATA_BOOT_ID, boot), 0);
	mark.name = string_of(&made, host);
	add(&made, TS_ROW_MARK, &mark);
	/* Since the first clock row, the distance of the clocks has changed by 100. */
	clock.start_ns = at;
	clock.ticks = at + ahead_ns - 50;
	add(&made, TS_ROW_CLOCK, &clock);
	clock.start_ns = at + 1000;
	clock.ticks = at + 1000 + ahead_ns + 50;
	add(&made, TS_ROW_CLOCK, &clock);
	return end(&made);
}

/*
 * The same instant, 1 s of CLOCK_REALTIME, is 40 on one machine's clock and 700,000,000 on the
 * other's.
 */
TS_TEST(machines_share_a_time)
{
	int fds[] = {machine("a", "boot-a", 1, 999999960, 40),
		     machine("b", "boot-b", 2, 300000000, 700000000)},
	    merged;
	struct ts_sbt_copy_source sources[2];
	struct ts_sbt_copy_report report;
	struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_MARK)};
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_reader *reader;
	struct ts_sbt_row row;

	merged = copy_of(fds, 2, &(struct ts_sbt_copy_options){0}, sources, &report);
	ts_check_int(sources[1].shift_error_ns, 0);
	ts_check_int(sources[0].shift_ns, 699999960);
	/*
	 * The error is half of the change of the clocks' distance, plus the error of the snapshots.
	 * It is the same for both machines.
	 */
	ts_check_int(sources[0].shift_error_ns, 201);
	reader = open_reader(merged);
	ts_check_int(ts_sbt_reader_n_sessions(reader), 2);
	ts_check_int(ts_sbt_cursor_new(reader, &options, &cursor), 0);
	for (unsigned i = 0; i < 2; i++) {
		ts_check_int(ts_sbt_cursor_next(cursor, &row), 0);
		ts_check_int(row.mark->start_ns, 700000005);
	}
	ts_check_str(ts_sbt_reader_metadata(reader, "1.shift_ns"), "699999960");
	ts_check_str(ts_sbt_reader_metadata(reader, "1.shift_error_ns"), "201");
	ts_check_str(ts_sbt_reader_metadata(reader, "1.hostname"), "a");
	ts_check_str(ts_sbt_reader_metadata(reader, "hostname"), "b");
	ts_check(ts_sbt_reader_metadata(reader, "2.shift_ns") == NULL);
	ts_sbt_cursor_free(cursor);
	ts_sbt_reader_free(reader);
	close(merged);
	close(fds[1]);
	/* With the same boot, nothing is shifted, whatever CLOCK_REALTIME did. */
	fds[1] = machine("a", "boot-a", 2, UINT64_C(999999960) << 4, 100);
	merged = copy_of(fds, 2, &(struct ts_sbt_copy_options){0}, sources, &report);
	ts_check_int(sources[0].shift_error_ns + sources[1].shift_error_ns, 0);
	ts_check_int(report.n_sessions, 2);
	reader = open_reader(merged);
	ts_check_str(ts_sbt_reader_metadata(reader, "hostname"), "a");
	ts_check_int(ts_sbt_reader_session_at(reader, 1)->start_ns, 100);
	ts_sbt_reader_free(reader);
	close(merged);
	close(fds[0]);
	close(fds[1]);
}

/*
 * If one daemon died and another continued the session, the copy has one session, with the end that
 * the second daemon recorded.
 */
TS_TEST(parts_become_one)
{
	struct made made = begin("one", 100, 9);
	struct ts_row_session row = {
		.pid = 7, .start_ns = 100, .end_ns = 900, .uuid = {9}, .ended = TS_SESSION_END_BYE};
	struct ts_row_mark mark = {.start_ns = 150};
	struct ts_sbt_copy_source sources[2];
	struct ts_sbt_copy_report report;
	struct ts_sbt_reader *reader;
	int fds[2], merged;

	add(&made, TS_ROW_MARK, &mark);
	/* Two equal rows of one file stay two rows. */
	add(&made, TS_ROW_MARK, &mark);
	fds[1] = end(&made);
	made = begin("one", 400, 9);
	add(&made, TS_ROW_MARK, &mark);
	ts_check_int(ts_sbt_session_writer_update(made.session, &row), 0);
	fds[0] = end(&made);
	merged = copy_of(fds, 2, &(struct ts_sbt_copy_options){0}, sources, &report);
	ts_check_int(count(merged, TS_ROW_MARK), 2);
	ts_check_int(report.n_repeated, 1);
	reader = open_reader(merged);
	ts_check_int(ts_sbt_reader_n_sessions(reader), 1);
	ts_check_int(ts_sbt_reader_session_at(reader, 0)->ended, TS_SESSION_END_BYE);
	ts_check_int(ts_sbt_reader_session_at(reader, 0)->start_ns, 100);
	ts_check_int(ts_sbt_reader_session_at(reader, 0)->end_ns, 900);
	ts_sbt_reader_free(reader);
	close(merged);
	close(fds[0]);
	close(fds[1]);
}

/*
 * Each type has many blocks. A window touches few of them. A few other blocks have rows of the
 * window's operations.
 */
#define N_SEALS	  16u
#define SEAL_NS	  1000000u
#define SEAL_OPS  100u
#define SEAL_ROWS 80u

static int long_trace(void)
{
	struct made made = begin("one", 500, 1);
	uint64_t state = 1, now = 1000;

	for (unsigned i = 0; i < N_SEALS * TS_ROW_N_EVENTS * SEAL_ROWS; i++) {
		unsigned nth = i / SEAL_ROWS;
		uint64_t seal = nth / TS_ROW_N_EVENTS;
		const struct ts_row_schema *schema =
			ts_row_schema(test_event(nth % TS_ROW_N_EVENTS));
		uint64_t start_ns = (seal + 1) * SEAL_NS + test_random(&state) % SEAL_NS;
		uint8_t row[TS_ROW_MAX_BYTES];

		test_row(schema, &state, 0, &now, row);
		for (unsigned c = 0; c < schema->n_columns; c++) {
			const struct ts_column *column = &schema->columns[c];
			uint64_t op = seal * SEAL_OPS + test_random(&state) % (3 * SEAL_OPS);
			uint64_t v = column->role == TS_ROLE_TIME_START ? start_ns
				     : column->role == TS_ROLE_TIME_END
					     ? start_ns + test_random(&state) % 1000
					     : op;

			if (column->role == TS_ROLE_TIME_START ||
			    column->role == TS_ROLE_TIME_END || column->role == TS_ROLE_OP)
				memcpy(row + column->offset, &v, sizeof(v));
			else if (column->role == TS_ROLE_STACK || column->role == TS_ROLE_THREAD ||
				 column->role == TS_ROLE_STRING || column->role == TS_ROLE_SESSION)
				memset(row + column->offset, 0, column->width);
		}
		add(&made, schema->type, row);
		if (nth % TS_ROW_N_EVENTS == TS_ROW_N_EVENTS - 1 && (i + 1) % SEAL_ROWS == 0)
			ts_check_int(ts_sbt_session_writer_seal(made.session, NULL, 0), 0);
	}
	return end(&made);
}

static void damage(int fd, const struct ts_sbt_block *block)
{
	uint8_t byte;

	ts_check(pread(fd, &byte, 1, (off_t)block->off + 100) == 1);
	byte ^= 4;
	ts_check(pwrite(fd, &byte, 1, (off_t)block->off + 100) == 1);
}

/* Blocks whose operations are far from the window's are not read; the result is the same. */
TS_TEST(window_reads_what_it_needs)
{
	const uint64_t far = 5 * SEAL_NS;
	struct ts_sbt_copy_options options = {.from_ns = 9 * SEAL_NS,
					      .to_ns = 9 * SEAL_NS + 5000,
					      .has_window = true};
	int whole = long_trace(), plain = long_trace(), of_plain, of_whole;
	struct ts_sbt_reader *reader = open_reader(whole);
	struct ts_sbt_copy_report report;
	struct ts_sbt_copy_source source;
	size_t n_damaged = 0;

	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);

		/* Without summaries of operations, all blocks must be read. */
		if (block->type == TS_ROW_BLOCK_OPERATION)
			damage(plain, block);
		if ((block->type != TS_ROW_API && block->type != TS_ROW_KERNEL) ||
		    (block->latest_ns > options.from_ns - far &&
		     block->earliest_ns < options.to_ns + far))
			continue;
		damage(whole, block);
		n_damaged++;
	}
	ts_check(n_damaged > 8);
	of_plain = copy_of(&plain, 1, &options, &source, &report);
	ts_check_int(report.n_damaged, 0);
	of_whole = copy_of(&whole, 1, &options, &source, &report);
	ts_check_int(report.n_damaged, 0);
	ts_check(count(of_whole, TS_ROW_KERNEL) && count(of_whole, TS_ROW_API));
	check_same_rows(of_plain, of_whole);
	ts_sbt_reader_free(reader);
	close(of_plain);
	close(of_whole);
	close(plain);
	close(whole);
}

/* Unreadable blocks are left out and reported; the copy is a complete file. */
TS_TEST(damaged_source)
{
	int whole = test_small_trace(2, 40, true), part;
	struct ts_sbt_copy_options options = {.has_window = true};
	struct ts_sbt_reader *reader = open_reader(whole);
	struct ts_sbt_copy_report report;
	struct ts_sbt_copy_source source;
	size_t n_damaged = 0;

	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);

		if (block->type != TS_ROW_KERNEL && block->type != TS_ROW_STRING)
			continue;
		damage(whole, block);
		n_damaged += block->type == TS_ROW_KERNEL;
	}
	ts_sbt_reader_free(reader);
	part = copy_of(&whole, 1, &options, &source, &report);
	ts_check(n_damaged && report.n_damaged >= n_damaged);
	ts_check_str(report.damaged, "first");
	ts_check(report.damage.off && report.damage.text[0]);
	ts_check_int(count(part, TS_ROW_KERNEL), 0);
	ts_check(count(part, TS_ROW_API));
	close(part);
	close(whole);
}
