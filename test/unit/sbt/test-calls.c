/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times relative to calls: rows come back as they were written, whatever their times and ids; a
 * writer stores times so where it saves bytes and only at the begin of a file; a block of calls
 * that is damaged, or that a damaged header names, is an error of the blocks that refer to it.
 */

#include "test/unit/harness.h"

#include "sbt/crc32c.h"
#include "sbt/format/calls.h"
#include "sbt/format/short.h"
#include "sbt/read/reader-internal.h"
#include "sbt/verify.h"
#include "sbt/write/writer-internal.h"
#include "test/unit/sbt/sbt-test.h"

#define CALLS 200u

/* Adds rows of each type that refer to calls, and some that have none. */
static void add_rows(struct ts_sbt_session_writer *session, uint64_t *state)
{
	uint64_t now = 1000000000;

	for (uint32_t i = 1; i <= CALLS; i++) {
		uint64_t op_id = test_random(state) % 16 ? i : 0;
		struct ts_row_api api = {.op_id = i, .cbid = (uint16_t)(i % 5), .domain = 1};
		struct ts_row_access access = {.op_id = op_id, .access = 1, .dst = 4096};
		struct ts_row_sync sync = {.op_id = op_id, .sync_type = 1};
		struct ts_row_kernel kernel = {.op_id = op_id, .stream = i % 3};
		struct ts_row_memory alloc = {.op_id = op_id, .bytes = 64};

		api.start_ns = now + test_random(state) % 4096;
		api.end_ns = now = api.start_ns + test_random(state) % 16384;
		if (i % 7 == 0) {
			api.op_id = 0;
			api.nested_op_id = i;
		}
		access.start_ns = op_id ? api.end_ns : api.end_ns + 77;
		sync.start_ns = api.start_ns + test_random(state) % 32;
		sync.end_ns = api.end_ns - test_random(state) % 32;
		kernel.start_ns = api.start_ns + test_random(state) % 256;
		kernel.end_ns = kernel.start_ns + 1000 + i % 2;
		alloc.start_ns = api.end_ns - test_random(state) % 64;
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_API, &api), 0);
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_ACCESS, &access), 0);
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_SYNC, &sync), 0);
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_KERNEL, &kernel), 0);
		ts_check_int(ts_sbt_session_writer_add_row(session, TS_ROW_ALLOC, &alloc), 0);
	}
}

static int make(int (*new_writer)(int fd, struct ts_sbt_writer **ret), uint64_t seed,
		void (*add)(struct ts_sbt_session_writer *session, uint64_t *state))
{
	int fd = test_file(), copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct ts_row_session row = {.pid = 42, .start_ns = 1000};
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;

	ts_check_int(new_writer(copy, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	for (unsigned i = 0; i < 3; i++) {
		add(session, &seed);
		ts_check_int(ts_sbt_session_writer_seal(session, "positions", 9), 0);
	}
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

static struct ts_sbt_reader *open_reader(int fd)
{
	struct ts_sbt_reader *reader;

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	return reader;
}

static struct ts_sbt_block_header header_of(int fd, const struct ts_sbt_block *block)
{
	struct ts_sbt_block_header header;
	const char *why;

	ts_check_int(ts_sbt_read_header(fd, block->off, block->off + block->bytes, &header, &why),
		     0);
	return header;
}

/* All event rows of a type, one after the other. */
static uint8_t *rows_of(struct ts_sbt_reader *reader, unsigned type, size_t *ret_n)
{
	struct ts_buffer all = {0};

	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		void *rows;
		uint32_t n;

		if (ts_sbt_reader_block(reader, i)->type != type)
			continue;
		ts_check_int(ts_sbt_reader_decode(reader, i, &rows, &n), 0);
		ts_check_int(ts_buffer_append(&all, rows, n * ts_row_schema(type)->row_bytes), 0);
		free(rows);
	}
	*ret_n = all.n;
	return all.bytes;
}

/* Both files have the same rows, and verify finds in both only ids that are not defined. */
static void compare(int fd, int plain)
{
	struct ts_sbt_reader *reader = open_reader(fd), *other = open_reader(plain);
	struct ts_sbt_verify_report report, plain_report;

	for (unsigned type = TS_ROW_API; type; type = ts_row_next_event(type)) {
		size_t n, n_other;
		uint8_t *rows = rows_of(reader, type, &n), *others = rows_of(other, type, &n_other);

		ts_check(n == n_other && (!n || !memcmp(rows, others, n)));
		free(rows);
		free(others);
	}
	ts_check_int(test_read_all(reader), test_read_all(other));
	ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
	ts_check_int(ts_sbt_verify(plain, NULL, &plain_report), 0);
	ts_check_int(report.n_findings, plain_report.n_findings);
	ts_sbt_reader_free(reader);
	ts_sbt_reader_free(other);
}

TS_TEST(rows)
{
	static const enum ts_calls_kind want[] = {[TS_ROW_ACCESS] = TS_CALLS_END,
						  [TS_ROW_ALLOC] = TS_CALLS_END,
						  [TS_ROW_KERNEL] = TS_CALLS_START,
						  [TS_ROW_SYNC] = TS_CALLS_BOTH};
	int fd = make(ts_sbt_writer_new, 3, add_rows);
	int plain = make(ts_sbt_writer_new_plain, 3, add_rows);
	struct ts_sbt_reader *reader = open_reader(fd);
	struct ts_sbt_verify_report report;
	unsigned n_relative = 0;

	compare(fd, plain);
	ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
	ts_check_int(report.n_findings, 0);
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		struct ts_sbt_block_header header = header_of(fd, ts_sbt_reader_block(reader, i));

		if (header.type == TS_ROW_API || !ts_row_is_event(header.type)) {
			ts_check_int(header.calls, 0);
			continue;
		}
		ts_check_int(TS_CALLS_KIND(header.calls), want[header.type]);
		ts_check_int(ts_sbt_reader_block(reader, i - TS_CALLS_DISTANCE(header.calls))->type,
			     TS_ROW_API);
		n_relative++;
	}
	ts_check_int(n_relative, 12);
	ts_sbt_reader_free(reader);
	close(fd);
	close(plain);
}

static unsigned mode;

static void add_any(struct ts_sbt_session_writer *session, uint64_t *state)
{
	uint64_t now = 1000;

	for (unsigned type = TS_ROW_API; type; type = ts_row_next_event(type))
		for (uint64_t n = test_random(state) % 200; n; n--) {
			uint8_t row[TS_ROW_MAX_BYTES];

			test_row(ts_row_schema(type), state, mode, &now, row);
			ts_check_int(ts_sbt_session_writer_add_row(session, type, row), 0);
		}
}

TS_TEST(any_rows)
{
	for (uint64_t seed = 1; seed < 30; seed++) {
		int fd, plain;

		mode = (unsigned)(seed % 3);
		fd = make(ts_sbt_writer_new, seed, add_any);
		plain = make(ts_sbt_writer_new_plain, seed, add_any);
		compare(fd, plain);
		close(fd);
		close(plain);
	}
}

/* Later seals of a file have absolute times. */
TS_TEST(only_small_files)
{
	int fd = test_file(), copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct ts_row_session row = {.pid = 42, .start_ns = 1000};
	struct ts_sbt_session_writer *session;
	struct ts_sbt_writer *writer;
	struct ts_sbt_reader *reader;
	uint64_t state = 5, n_first = 0;

	ts_check_int(ts_sbt_writer_new(copy, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &row, &session), 0);
	for (unsigned i = 0; i < 60; i++) {
		add_rows(session, &state);
		ts_check_int(ts_sbt_session_writer_seal(session, NULL, 0), 0);
	}
	ts_sbt_session_writer_free(session);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	reader = open_reader(fd);
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);

		if (!header_of(fd, block).calls)
			continue;
		ts_check(block->off < 2ul * TS_SBT_SMALL_FILE_BYTES);
		n_first++;
	}
	ts_check(n_first > 8);
	ts_sbt_reader_free(reader);
	close(fd);
}

/* Opens a changed file; block `i` is unreadable for this reason, and verify finds it. */
static void check_refused(const uint8_t *bytes, size_t n, size_t i, const char *why)
{
	int fd = test_file_of(bytes, n);
	struct ts_sbt_reader *reader = open_reader(fd);
	struct ts_sbt_verify_report report;
	uint32_t n_rows;
	void *rows;

	ts_check_int(ts_sbt_reader_decode(reader, i, &rows, &n_rows), TS_SBT_E_CORRUPT);
	ts_check_str(ts_sbt_reader_error(reader)->text, why);
	ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
	ts_check(report.n_findings > 0);
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(damage)
{
	static const char *const missing = "the block of a block's calls is missing";
	static const char *const wrong = "a block cannot have times relative to calls in this way";
	int fd = make(ts_sbt_writer_new, 3, add_rows);
	struct ts_sbt_reader *reader = open_reader(fd);
	size_t n, n_relative = 0;
	uint8_t *bytes = test_contents(fd, &n);

	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i), *its;
		struct ts_sbt_block_header header = header_of(fd, block), other;
		const uint32_t distance = TS_CALLS_DISTANCE(header.calls);
		const uint32_t calls[] = {TS_CALLS_PACK(0u, 1), TS_CALLS_PACK(distance + 1, 1),
					  TS_CALLS_PACK(30u, 1), TS_CALLS_PACK(distance, 3)};

		if (!header.calls)
			continue;
		n_relative++;
		for (unsigned k = 0; k < TS_ARRAY_LEN(calls); k++) {
			other = header;
			other.calls = calls[k];
			ts_check_int(ts_short_header_put(&other, bytes + block->off),
				     header.short_bytes);
			check_refused(bytes, n, i, k == 3 ? wrong : missing);
			ts_short_header_put(&header, bytes + block->off);
		}
		/* The calls themselves. */
		its = block - distance;
		bytes[its->off + its->bytes - 1] ^= 1;
		check_refused(bytes, n, i, "a block's checksum is wrong");
		bytes[its->off + its->bytes - 1] ^= 1;
	}
	ts_check_int(n_relative, 12);
	ts_sbt_reader_free(reader);
	free(bytes);
	close(fd);
}

/* A block of calls with the flag is refused, also if another block refers to it. */
TS_TEST(calls_of_calls)
{
	struct ts_sbt_block_header header = {.type = TS_ROW_API, .n_rows = 1};
	struct ts_block_columns *columns;
	struct ts_block_why why;

	header.calls = TS_CALLS_PACK(1u, 0);
	ts_check_int(ts_block_columns_new(ts_row_schema(TS_ROW_API), &header, NULL, &columns, &why),
		     TS_SBT_E_CORRUPT);
	ts_check_str(why.text, "a block cannot have times relative to calls in this way");
	header.type = TS_ROW_STREAM; /* without ids of operations */
	ts_check_int(ts_block_columns_new(ts_row_schema(TS_ROW_STREAM), &header, NULL, &columns,
					  &why),
		     TS_SBT_E_CORRUPT);
	ts_check_str(why.text, "a block cannot have times relative to calls in this way");
}

TS_TEST(the_first_call_of_an_id)
{
	struct ts_row_api rows[] = {{.op_id = 9, .nested_op_id = 5, .start_ns = 10, .end_ns = 11},
				    {.op_id = 5, .start_ns = 20, .end_ns = 22},
				    {.op_id = 5, .start_ns = 30, .end_ns = 33},
				    {.nested_op_id = 7, .start_ns = 40, .end_ns = 44}};
	uint64_t ids[] = {1, 5, 0, 9, 7, 8}, starts[6] = {0}, ends[6] = {0};
	static const uint64_t want[][6] = {{0, 22, 22, 11, 44, 44}, {0, 20, 20, 10, 40, 40}};
	struct ts_calls *calls;

	ts_check_int(ts_calls_of_rows(rows, TS_ARRAY_LEN(rows), &calls), 0);
	for (enum ts_calls_kind kind = 0; kind < TS_CALLS_KINDS; kind++) {
		const uint64_t *want_starts = want[kind != TS_CALLS_END];
		const uint64_t *want_ends = want[kind == TS_CALLS_START];

		ts_calls_move(calls, kind, true, ids, 6, starts, ends);
		ts_check(!memcmp(starts, want_starts, sizeof(starts)));
		ts_check(!memcmp(ends, want_ends, sizeof(ends)));
		ts_calls_move(calls, kind, false, ids, 6, starts, ends);
		for (unsigned i = 0; i < 6; i++)
			ts_check(!starts[i] && !ends[i]);
	}
	free(calls);
}

/* Appends a block of one row whose columns are all missing. */
static void append_block(struct ts_buffer *file, struct ts_sbt_block_header *header)
{
	uint8_t bytes[TS_SHORT_MAX_HEADER];

	header->n_rows = 1;
	header->payload_checksum = ts_crc32c(NULL, 0);
	ts_check_int(ts_buffer_append(file, bytes, ts_short_header_put(header, bytes)), 0);
}

/*
 * After a gap in the numbers, blocks refer to calls that are missing. A search of all blocks for
 * each of them would take hours.
 */
TS_TEST(many_blocks_without_their_calls)
{
	enum {
		N = 30000,
		GAP = 1 << 20
	};
	struct ts_buffer file = {0};
	struct ts_sbt_verify_report report;
	uint8_t header[TS_SBT_HEADER_BYTES], uuid[16];
	int fd = test_file();

	ts_check_int(ts_sbt_write_file_header(fd, true, uuid), 0);
	ts_check(pread(fd, header, sizeof(header), 0) == sizeof(header));
	ts_check_int(ts_buffer_append(&file, header, sizeof(header)), 0);
	for (uint32_t i = 0; i < 2 * N; i++) {
		struct ts_sbt_block_header block = {.sequence = i ? GAP + i : 0};

		block.type = i < N ? TS_ROW_API : TS_ROW_KERNEL;
		block.calls = i < N ? 0 : TS_CALLS_PACK(i + 5, TS_CALLS_END);
		append_block(&file, &block);
	}
	ts_check(pwrite(fd, file.bytes, file.n, 0) == (ssize_t)file.n);
	ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
	ts_check(report.n_findings >= N);
	ts_check_int(report.n_blocks, 2 * N);
	ts_buffer_deinit(&file);
	close(fd);
}
