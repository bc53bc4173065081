/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers return exactly the written data: every type of row, extremes and random rows in any order
 * of time, strings, stacks and definitions. Files are finished and unfinished; writers use files
 * and pipes.
 */

#include "test/unit/harness.h"

#include "sbt/arrays.h"
#include "test/unit/sbt/sbt-test.h"

struct rows {
	uint8_t *bytes;
	size_t n;
};

static int compare_start(const void *a, const void *b)
{
	const uint8_t *const *x = a, *const *y = b;
	uint64_t s = ts_row_start_ns(*x), t = ts_row_start_ns(*y);

	if (s != t)
		return s < t ? -1 : 1;
	return *x < *y ? -1 : *x > *y; /* in the order of their addition */
}

/* Checks that a cursor over one type returns the added rows in order of time. */
static void check_rows(struct ts_sbt_reader *reader, unsigned type, const struct rows *rows)
{
	const struct ts_row_schema *schema = ts_row_schema(type);
	const uint8_t **sorted = malloc((rows->n + 1) * sizeof(*sorted));
	struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(type)};
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;

	ts_check(sorted);
	for (size_t i = 0; i < rows->n; i++)
		sorted[i] = rows->bytes + i * schema->row_bytes;
	qsort(sorted, rows->n, sizeof(*sorted), compare_start);
	ts_check_int(ts_sbt_cursor_new(reader, &options, &cursor), 0);
	for (size_t i = 0; i < rows->n; i++) {
		ts_check_int(ts_sbt_cursor_next(cursor, &row), 0);
		ts_check_int(row.type, type);
		if (memcmp(row.any, sorted[i], schema->row_bytes)) {
			fprintf(stderr, "%s row %zu differs\n", schema->name, i);
			exit(1);
		}
	}
	ts_check_int(ts_sbt_cursor_next(cursor, &row), TS_SBT_E_END);
	ts_sbt_cursor_free(cursor);
	free(sorted);
}

/* Columns as arrays equal the fields of the rows; a column that was not requested is absent. */
static void check_arrays(struct ts_sbt_reader *reader)
{
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_row_schema *schema =
			ts_row_schema(ts_sbt_reader_block(reader, i)->type);
		struct ts_sbt_arrays *arrays, *one;
		uint32_t n_rows;
		uint8_t *rows;

		if (!schema) {
			ts_check_int(ts_sbt_arrays_new(reader, i, 0, &arrays), TS_SBT_E_NOT_FOUND);
			continue;
		}
		ts_check_int(ts_sbt_reader_decode(reader, i, (void **)(void *)&rows, &n_rows), 0);
		ts_check_int(ts_sbt_arrays_new(reader, i, 0, &arrays), 0);
		ts_check_int(ts_sbt_arrays_new(reader, i, TS_SBT_COLUMN(1), &one), 0);
		ts_check_int(ts_sbt_arrays_rows(arrays), n_rows);
		ts_check(ts_sbt_arrays_schema(arrays) == schema);
		for (int c = 0; c < schema->n_columns; c++) {
			const struct ts_column *column = &schema->columns[c];
			const uint8_t *values = ts_sbt_arrays_column(arrays, c);

			ts_check_int(ts_row_column(schema, column->name), c);
			ts_check(values && (uintptr_t)values % (column->width % 8 ? 1 : 8) == 0);
			for (uint32_t row = 0; row < n_rows; row++)
				ts_check(!memcmp(values + (size_t)row * column->width,
						 rows + (size_t)row * schema->row_bytes +
							 column->offset,
						 column->width));
			ts_check(c == 1 || !ts_sbt_arrays_column(one, c));
			ts_check(c != 1 || !memcmp(ts_sbt_arrays_column(one, c), values,
						   (size_t)n_rows * column->width));
		}
		ts_check(!ts_sbt_arrays_column(arrays, -1));
		ts_check(!ts_sbt_arrays_column(arrays, schema->n_columns));
		ts_sbt_arrays_free(arrays);
		ts_sbt_arrays_free(one);
		free(rows);
	}
	ts_check_int(ts_row_column(ts_row_schema(TS_ROW_API), "nonsense"), -1);
}

static void round_trip(uint64_t seed, unsigned mode, size_t n_rows, size_t seal_every, bool finish)
{
	int fd = test_file(), copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct rows rows[TS_ROW_EVENT_END] = {0};
	struct ts_row_session session = {0};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	uint64_t state = seed, now = 1;

	ts_check_int(ts_sbt_writer_new(copy, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	for (unsigned type = TS_ROW_API; type; type = ts_row_next_event(type)) {
		const struct ts_row_schema *schema = ts_row_schema(type);

		rows[type].n = n_rows;
		rows[type].bytes = malloc(n_rows * schema->row_bytes + 1);
		ts_check(rows[type].bytes);
		for (size_t i = 0; i < n_rows; i++) {
			uint8_t *row = rows[type].bytes + i * schema->row_bytes;

			test_row(schema, &state, mode, &now, row);
			ts_check_int(ts_sbt_session_writer_add_row(sw, type, row), 0);
			if (i % seal_every == seal_every - 1)
				ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
		}
	}
	ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
	ts_check_int(ts_sbt_session_writer_pending_rows(sw), 0);
	ts_check_int(ts_sbt_session_writer_pending_bytes(sw), 0);
	ts_sbt_session_writer_free(sw);
	if (finish)
		ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_state(reader), finish ? TS_SBT_FINISHED : TS_SBT_TRUNCATED);
	ts_check_int(ts_sbt_reader_tail_bytes(reader), 0);
	for (unsigned type = TS_ROW_API; type; type = ts_row_next_event(type)) {
		check_rows(reader, type, &rows[type]);
		free(rows[type].bytes);
	}
	check_arrays(reader);
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(extremes)
{
	for (uint64_t seed = 1; seed <= ts_cases(40); seed++)
		round_trip(seed, 0, 20, 1000, seed % 2);
}

TS_TEST(random_kinds)
{
	for (uint64_t seed = 1; seed <= ts_cases(9); seed++)
		round_trip(seed, 1, 1500, 700, seed % 2);
}

TS_TEST(plausible)
{
	round_trip(1, 2, 5000, 5000, true);
	round_trip(2, 2, 3000, 17 * 100, false);
}

TS_TEST(single_rows)
{
	round_trip(3, 1, 3, 1, true);
	round_trip(4, 2, 1, 1, false);
	round_trip(5, 1, 0, 1, true);
}

/*
 * Host times are rounded down, singly or many at once. Device times and clock measurements are not.
 */
TS_TEST(quantum)
{
	const uint64_t rounded =
		TS_ROW_EVENTS &
		~(TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) |
		  TS_ROW_BIT(TS_ROW_MEMSET) | TS_ROW_BIT(TS_ROW_CLOCK) | TS_ROW_BIT(TS_ROW_LOSS));
	struct ts_row_session session = {.start_ns = 1234};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_writer *writer;
	struct ts_sbt_reader *reader;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;
	uint64_t event[TS_ROW_MAX_BYTES / 8 * 2];
	int fd = test_file();
	size_t n = 0;

	ts_check_int(ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &writer), 0);
	ts_check_int(ts_sbt_writer_quantum(writer, TS_SBT_MAX_QUANTUM_NS + 1), -EINVAL);
	ts_check_int(ts_sbt_writer_quantum(writer, 1000), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	ts_check_int(ts_sbt_writer_quantum(writer, 10), -EINVAL);
	for (unsigned type = TS_ROW_API; type; type = ts_row_next_event(type)) {
		const struct ts_row_schema *schema = ts_row_schema(type);
		uint8_t *second = (uint8_t *)event + schema->row_bytes;

		memset(event, 0, sizeof(event));
		event[0] = 123456;
		event[1] = schema->has_end ? 124999 : 0;
		memcpy(second, event, schema->row_bytes);
		ts_check_int(ts_sbt_session_writer_add_row(sw, type, event), 0);
		ts_check_int(ts_sbt_session_writer_add_rows(sw, type, event, 2, &n), 0);
		ts_check_int(n, 2);
	}
	ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
	ts_sbt_session_writer_free(sw);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_str(ts_sbt_reader_metadata(reader, TS_METADATA_QUANTUM), "1000");
	ts_check_int(ts_sbt_reader_session_at(reader, 0)->start_ns, 1234);
	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	for (n = 0; !ts_sbt_cursor_next(cursor, &row); n++) {
		bool is_rounded = rounded & TS_ROW_BIT(row.type);

		ts_check_int(ts_row_start_ns(row.any), is_rounded ? 123000 : 123456);
		if (row.schema->has_end)
			ts_check_int(ts_row_end_ns(row.schema, row.any),
				     is_rounded ? 124000 : 124999);
	}
	ts_check_int(n, 3 * TS_ROW_N_EVENTS);
	ts_sbt_cursor_free(cursor);
	ts_sbt_reader_free(reader);
	close(fd);
}

#define NOISE_BLOCKS 24u
#define NOISE_ROWS   4096u

/*
 * Makes row i: with uniformly random low bytes in the first half of the blocks, and a regular row
 * in the second half.
 */
static void noise_row(uint64_t i, uint64_t *state, uint64_t *now, struct ts_row_api *ret_row)
{
	bool is_noise = i < NOISE_BLOCKS / 2 * NOISE_ROWS;

	*now += is_noise ? test_random(state) % 65536 : 1000;
	*ret_row = (struct ts_row_api){
		.start_ns = *now,
		.end_ns = *now + (is_noise ? test_random(state) % 65536 : 500),
		.op_id = i + 1,
	};
}

TS_TEST(noise)
{
	uint64_t state = 7, now = 0, n = 0;
	int fd = test_file(), copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct ts_row_session session = {0};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;
	struct ts_row_api api;

	ts_check_int(ts_sbt_writer_new(copy, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	for (uint64_t i = 0; i < NOISE_BLOCKS * NOISE_ROWS; i++) {
		noise_row(i, &state, &now, &api);
		ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_API, &api), 0);
		if (i % NOISE_ROWS == NOISE_ROWS - 1)
			ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
	}
	ts_sbt_session_writer_free(sw);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);

	state = 7;
	now = 0;
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	for (; !ts_sbt_cursor_next(cursor, &row); n++) {
		noise_row(n, &state, &now, &api);
		ts_check(!memcmp(row.api, &api, sizeof(api)));
	}
	ts_check_int(n, NOISE_BLOCKS * NOISE_ROWS);
	/*
	 * Random rows need two bytes for each of their two times, and few bytes for the other
	 * columns.
	 */
	ts_check_int((uint64_t)lseek(fd, 0, SEEK_END) > NOISE_BLOCKS / 2 * NOISE_ROWS * 45ul / 10,
		     0);
	ts_sbt_cursor_free(cursor);
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(full_blocks)
{
	uint64_t state = 1, now = 0, n = 2 * TS_SBT_BLOCK_ROWS + 5, last = 0, seen = 0;
	int fd = test_file(), copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct ts_row_session session = {0};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;

	ts_check_int(ts_sbt_writer_new(copy, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	for (uint64_t i = 0; i < n; i++) {
		struct ts_row_api api;

		test_row(ts_row_schema(TS_ROW_API), &state, 2, &now, &api);
		api.op_id = i;
		if (i % 3 == 0)
			api.start_ns += 20000; /* out of order */
		ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_API, &api), 0);
	}
	ts_check_int(ts_sbt_session_writer_pending_rows(sw), n);
	ts_check_int(ts_sbt_session_writer_seal(sw, "x", 1), 0);
	ts_sbt_session_writer_free(sw);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	/*
	 * A session, three blocks of calls, a checkpoint, summaries (threads, sums, operations),
	 * the index.
	 */
	ts_check_int(ts_sbt_reader_n_blocks(reader), 9);
	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	while (!ts_sbt_cursor_next(cursor, &row)) {
		ts_check(row.api->start_ns >= last);
		last = row.api->start_ns;
		seen++;
	}
	ts_check_int(seen, n);
	ts_sbt_cursor_free(cursor);
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(definitions)
{
	int fd = test_file(), copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct ts_row_session session = {.session = 99, .pid = 7, .start_ns = 5};
	struct ts_row_module module = {.address = 0x1000, .n_build_id_bytes = 32};
	struct ts_row_device device = {.device = 3, .memory_bytes = 1};
	uint32_t id, same, empty, long_id, stack_id, thread_id;
	struct ts_row_thread thread = {.tid = 8};
	size_t n_long = 10u * 1024 * 1024, n;
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	char *long_name = malloc(n_long);
	struct ts_sbt_stack stack;
	uint64_t frames[TS_STACK_MAX_FRAMES];
	void *checkpoint;

	ts_check(long_name);
	for (size_t i = 0; i < n_long; i++)
		long_name[i] = (char)('a' + i % 26);
	for (size_t i = 0; i < TS_STACK_MAX_FRAMES; i++)
		frames[i] = i % 2 ? UINT64_MAX - i : i;
	memset(module.build_id, 0xab, sizeof(module.build_id));
	memset(device.uuid, 0xcd, sizeof(device.uuid));
	ts_check_int(ts_sbt_writer_new(copy, &writer), 0);
	ts_check_int(ts_sbt_writer_metadata(writer, "key", "old"), 0);
	ts_check_int(ts_sbt_writer_metadata(writer, "other", ""), 0);
	ts_check_int(ts_sbt_writer_string(writer, "a\0b", 3, &id), 0);
	ts_check_int(ts_sbt_writer_string(writer, "a\0b", 3, &same), 0);
	ts_check_int(same, id);
	ts_check_int(ts_sbt_writer_string(writer, NULL, 0, &empty), 0);
	ts_check_int(ts_sbt_writer_string(writer, long_name, n_long, &long_id), 0);
	ts_check_int(ts_sbt_writer_string(writer, long_name, TS_SBT_MAX_STRING + 1ul, &same),
		     -E2BIG);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	ts_check_int(ts_sbt_session_writer_number(sw), 1);
	ts_check_int(ts_sbt_session_writer_add_thread(sw, &thread, &thread_id), 0);
	ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_DEVICE, &device), 0);
	ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_MODULE, &module), 0);
	ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_SESSION, &session), -EINVAL);
	ts_check_int(ts_sbt_session_writer_add_row(sw, 0, &session), -EINVAL);
	ts_check_int(ts_sbt_session_writer_add_row(sw, 12345, &session), -EINVAL);
	ts_check_int(ts_sbt_session_writer_add_stack(sw, frames, 0, 0, &stack_id), 0);
	ts_check_int(ts_sbt_session_writer_add_stack(sw, frames, TS_STACK_MAX_FRAMES,
						     TS_STACK_TRUNCATED, &stack_id),
		     0);
	ts_check_int(ts_sbt_session_writer_add_stack(sw, frames, TS_STACK_MAX_FRAMES + 1, 0, &same),
		     -E2BIG);
	ts_check_int(ts_sbt_session_writer_seal(sw, "first", 5), 0);
	/* Later rows replace earlier ones. */
	ts_check_int(ts_sbt_writer_metadata(writer, "key", "new"), 0);
	device.memory_bytes = 2;
	session.end_ns = 77;
	ts_check_int(ts_sbt_session_writer_update(sw, &session), 0);
	ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_DEVICE, &device), 0);
	ts_check_int(ts_sbt_session_writer_seal(sw, "second", 6), 0);
	ts_sbt_session_writer_free(sw);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_check_int(ts_sbt_writer_finish(writer), -EINVAL);
	ts_sbt_writer_free(writer);

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_str(ts_sbt_reader_metadata(reader, "key"), "new");
	ts_check_str(ts_sbt_reader_metadata(reader, "other"), "");
	ts_check(!ts_sbt_reader_metadata(reader, "none"));
	ts_check_int(ts_sbt_reader_n_metadata(reader), 2);
	ts_check(!memcmp(ts_sbt_reader_string(reader, id, &n), "a\0b", 4) && n == 3);
	ts_check_str(ts_sbt_reader_string(reader, empty, &n), "");
	ts_check(ts_sbt_reader_string(reader, long_id, &n) && n == n_long);
	ts_check(!memcmp(ts_sbt_reader_string(reader, long_id, &n), long_name, n_long));
	ts_check(!ts_sbt_reader_string(reader, 0, NULL));
	ts_check(!ts_sbt_reader_string(reader, 1000, NULL));
	ts_check_int(ts_sbt_reader_n_sessions(reader), 1);
	ts_check_int(ts_sbt_reader_session(reader, 1)->end_ns, 77);
	ts_check(!ts_sbt_reader_session(reader, 99));
	ts_check_int(ts_sbt_reader_thread(reader, 1, thread_id)->tid, 8);
	ts_check(!ts_sbt_reader_thread(reader, 2, thread_id));
	ts_check_int(ts_sbt_reader_n_devices(reader), 1);
	ts_check_int(ts_sbt_reader_device(reader, 1, 3)->memory_bytes, 2);
	ts_check_int(ts_sbt_reader_device(reader, 1, 3)->uuid[15], 0xcd);
	ts_check_int(ts_sbt_reader_n_modules(reader), 1);
	ts_check(!memcmp(&ts_sbt_reader_module_at(reader, 0)->row, &module, sizeof(module)));
	ts_check_int(ts_sbt_reader_stack(reader, 1, 1, &stack), 0);
	ts_check_int(stack.n_frames, 0);
	ts_check_int(ts_sbt_reader_stack(reader, 1, stack_id, &stack), 0);
	ts_check_int(stack.n_frames, TS_STACK_MAX_FRAMES);
	ts_check_int(stack.flags, TS_STACK_TRUNCATED);
	ts_check(!memcmp(stack.frames, frames, sizeof(frames)));
	ts_check_int(ts_sbt_reader_stack(reader, 1, 3, &stack), TS_SBT_E_NOT_FOUND);
	ts_check_int(ts_sbt_reader_stack(reader, 2, 1, &stack), TS_SBT_E_NOT_FOUND);
	ts_check_int(ts_sbt_reader_checkpoint(reader, 1, &checkpoint, &n), 0);
	ts_check(n == 6 && !memcmp(checkpoint, "second", 6));
	free(checkpoint);
	ts_check_int(ts_sbt_reader_checkpoint(reader, 2, &checkpoint, &n), TS_SBT_E_NOT_FOUND);
	ts_check_int(ts_sbt_reader_origin_ns(reader), 5);
	ts_sbt_reader_free(reader);
	close(fd);
	free(long_name);
}

TS_TEST(many_strings_and_stacks)
{
	int fd = test_file(), copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct ts_row_session session = {0};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	struct ts_sbt_stack stack;
	uint32_t n = 70000, id;
	char name[32];

	ts_check_int(ts_sbt_writer_new(copy, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	for (uint64_t i = 1; i <= n; i++) {
		uint64_t frames[] = {i, i * 2, 3};

		snprintf(name, sizeof(name), "name-%" PRIu64, i);
		ts_check_int(ts_sbt_writer_string(writer, name, strlen(name), &id), 0);
		ts_check_int(id, i);
		ts_check_int(ts_sbt_session_writer_add_stack(sw, frames, 3, 0, &id), 0);
		ts_check_int(id, i);
	}
	ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
	ts_sbt_session_writer_free(sw);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	for (uint32_t i = n; i > 0; i -= i > 100 ? 97 : 1) {
		snprintf(name, sizeof(name), "name-%u", i);
		ts_check_str(ts_sbt_reader_string(reader, i, NULL), name);
		ts_check_int(ts_sbt_reader_stack(reader, 1, i, &stack), 0);
		ts_check(stack.n_frames == 3 && stack.frames[1] == i * 2ul);
	}
	ts_sbt_reader_free(reader);
	close(fd);
}

/* A cursor with a window returns the rows that touch it, and no others. */
TS_TEST(windows)
{
	int fd = test_small_trace(2, 200, true);
	struct ts_sbt_reader *reader;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_summary all;
	struct ts_sbt_row row;
	uint64_t state = 3;

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_summary(reader, 0, &all), 0);
	for (int i = 0; i < 20; i++) {
		uint64_t span = all.latest_ns - all.earliest_ns, n = 0, want = 0, last = 0;
		uint64_t from = all.earliest_ns + test_random(&state) % span;
		struct ts_sbt_cursor_options window = {.from_ns = from,
						       .to_ns = from +
								test_random(&state) % (span / 4),
						       .session = (uint32_t)i % 3,
						       .types = TS_ROW_BIT(TS_ROW_KERNEL) |
								TS_ROW_BIT(TS_ROW_API) |
								TS_ROW_BIT(TS_ROW_ALLOC)};
		struct ts_sbt_cursor_options open = {.types = window.types,
						     .session = window.session};

		ts_check_int(ts_sbt_cursor_new(reader, &open, &cursor), 0);
		while (!ts_sbt_cursor_next(cursor, &row))
			want += ts_row_start_ns(row.any) <= window.to_ns &&
				ts_row_end_ns(row.schema, row.any) >= window.from_ns;
		ts_sbt_cursor_free(cursor);
		ts_check_int(ts_sbt_cursor_new(reader, &window, &cursor), 0);
		while (!ts_sbt_cursor_next(cursor, &row)) {
			ts_check(ts_row_start_ns(row.any) >= last);
			last = ts_row_start_ns(row.any);
			n++;
		}
		ts_sbt_cursor_free(cursor);
		ts_check_int(n, want);
	}
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(summary)
{
	int fd = test_file(), copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct ts_row_memcpy copies[] = {{.start_ns = 100, .end_ns = 150, .bytes = 5},
					 {.start_ns = 90, .end_ns = 95, .bytes = 7}};
	struct ts_row_loss losses[] = {{.start_ns = 1, .reason = TS_LOSS_RING_FULL, .count = 3},
				       {.start_ns = 2, .reason = TS_LOSS_RING_FULL, .count = 4},
				       {.start_ns = 3, .reason = TS_LOSS_DISK, .count = 1}};
	struct ts_row_session session = {.start_ns = 50};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_summary summary;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	size_t n;

	ts_check_int(ts_sbt_writer_new(copy, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	ts_check_int(ts_sbt_session_writer_add_rows(sw, TS_ROW_MEMCPY, copies, 2, &n), 0);
	ts_check_int(n, 2);
	ts_check_int(ts_sbt_session_writer_add_rows(sw, TS_ROW_LOSS, losses, 3, &n), 0);
	ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
	ts_sbt_session_writer_free(sw);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
	ts_check_int(summary.counts[TS_ROW_MEMCPY], 2);
	ts_check_int(summary.durations_ns[TS_ROW_MEMCPY], 55);
	ts_check_int(summary.bytes[TS_ROW_MEMCPY], 12);
	ts_check_int(summary.lost[TS_LOSS_RING_FULL], 7);
	ts_check_int(summary.lost[TS_LOSS_DISK], 1);
	ts_check_int(summary.earliest_ns, 90);
	ts_check_int(summary.latest_ns, 150);
	ts_check_int(ts_sbt_reader_origin_ns(reader), 50);
	ts_check_int(ts_sbt_reader_summary(reader, 2, &summary), 0);
	ts_check_int(summary.counts[TS_ROW_MEMCPY], 0);
	ts_sbt_reader_free(reader);
	close(fd);
}

/* With many sessions, the totals of one session need only the blocks of this session. */
TS_TEST(summaries_of_many_sessions)
{
	enum {
		N_SESSIONS = 40000
	};
	int fd = test_file(), copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct ts_row_session session = {.start_ns = 50};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_summary summary;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;

	ts_check_int(ts_sbt_writer_new(copy, &writer), 0);
	for (uint32_t i = 1; i <= N_SESSIONS; i++) {
		struct ts_row_mark mark = {.start_ns = 100 + i};
		struct ts_row_thread thread = {.tid = i};
		uint32_t id;

		ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
		for (uint32_t j = 0; j < i % 3; j++) {
			ts_check_int(ts_sbt_session_writer_add_thread(sw, &thread, &id), 0);
			ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_MARK, &mark), 0);
		}
		ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
		ts_sbt_session_writer_free(sw);
	}
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	for (uint32_t i = 1; i <= N_SESSIONS; i++) {
		ts_check_int(ts_sbt_reader_summary(reader, i, &summary), 0);
		ts_check_int(summary.counts[TS_ROW_SESSION], 1);
		ts_check_int(summary.counts[TS_ROW_MARK], i % 3);
		ts_check_int(summary.earliest_ns, i % 3 ? 100 + i : 0);
		ts_check_int(ts_sbt_reader_n_threads_of(reader, i), i % 3);
	}
	ts_check_int(ts_sbt_reader_summary(reader, N_SESSIONS + 1, &summary), 0);
	ts_check_int(summary.counts[TS_ROW_SESSION], 0);
	ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
	ts_check_int(summary.counts[TS_ROW_SESSION], N_SESSIONS);
	ts_check_int(summary.counts[TS_ROW_MARK], N_SESSIONS);
	ts_check_int(ts_sbt_reader_n_threads_of(reader, 0), 0);
	ts_check_int(ts_sbt_reader_n_threads_of(reader, N_SESSIONS + 1), 0);
	ts_check_int(ts_sbt_reader_n_threads_of(reader, UINT32_MAX), 0);
	ts_sbt_reader_free(reader);
	close(fd);
}

/* A writer to a pipe never seeks, and its output equals that of a writer to a file. */
TS_TEST(pipe_to_file)
{
	struct ts_row_session session = {.pid = 1};
	struct ts_row_kernel kernel = {.end_ns = 10};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	struct ts_sbt_summary summary;
	int fds[2], fd, status;
	char bytes[4096];
	ssize_t n;
	pid_t pid;

	ts_check_int(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	ts_check(pid >= 0);
	if (!pid) {
		close(fds[0]);
		fcntl(fds[1], F_SETFL, O_NONBLOCK);
		if (ts_sbt_writer_new(fds[1], &writer) ||
		    ts_sbt_session_writer_new(writer, &session, &sw))
			_exit(1);
		for (uint64_t i = 0; i < 100000; i++) {
			kernel.start_ns = i * i;
			kernel.op_id = i * 0x9e3779b97f4a7c15u;
			if (ts_sbt_session_writer_add_row(sw, TS_ROW_KERNEL, &kernel))
				_exit(2);
		}
		if (ts_sbt_session_writer_seal(sw, "c", 1) || ts_sbt_writer_finish(writer))
			_exit(3);
		_exit(0);
	}
	close(fds[1]);
	fd = test_file();
	while ((n = read(fds[0], bytes, sizeof(bytes))) > 0)
		ts_check(write(fd, bytes, (size_t)n) == n);
	close(fds[0]);
	ts_check(waitpid(pid, &status, 0) == pid && status == 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
	ts_check_int(ts_sbt_reader_summary(reader, 0, &summary), 0);
	ts_check_int(summary.counts[TS_ROW_KERNEL], 100000);
	ts_sbt_reader_free(reader);
	close(fd);
}

/*
 * A reader of a file that is being written returns the state GROWING, and sees new blocks after
 * each refresh.
 */
TS_TEST(growing)
{
	int fd = test_file(), reader_fd = test_reopen(fd, O_RDONLY);
	struct ts_row_session session = {.pid = 5};
	struct ts_row_mark mark = {.start_ns = 9};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer, *second;
	int second_fd = test_reopen(fd, O_RDWR);
	uint32_t id;

	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	ts_check_int(ts_sbt_writer_new(second_fd, &second), -EINVAL);
	close(second_fd);
	ts_check_int(ts_sbt_reader_open(reader_fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_GROWING);
	ts_check_int(ts_sbt_reader_n_blocks(reader), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_MARK, &mark), 0);
	ts_check_int(ts_sbt_session_writer_seal(sw, "1", 1), 0);
	ts_check_int(ts_sbt_reader_refresh(reader), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_GROWING);
	ts_check_int(ts_sbt_reader_n_blocks(reader), 3);
	ts_check_int(ts_sbt_reader_session(reader, 1)->pid, 5);
	ts_check_int(ts_sbt_writer_string(writer, "later", 5, &id), 0);
	ts_check_int(ts_sbt_writer_flush(writer), 0);
	ts_check_int(ts_sbt_reader_refresh(reader), 0);
	ts_check_str(ts_sbt_reader_string(reader, id, NULL), "later");
	session.pid = 6;
	ts_check_int(ts_sbt_session_writer_update(sw, &session), 0);
	ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_session_writer_free(sw);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_refresh(reader), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
	ts_check_int(ts_sbt_reader_session(reader, 1)->pid, 6);
	ts_sbt_reader_free(reader);
	close(reader_fd);
}
