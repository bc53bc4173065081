/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the tests of sbt: files in memory, rows made from the schema, a small trace. */
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "sbt/reader.h"
#include "sbt/writer.h"

static inline uint64_t test_random(uint64_t *state)
{
	/* xorshift64*: the same on every machine, so that a seed reproduces a failure. */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1du;
}

static inline int test_file(void)
{
	int fd = memfd_create("sbt-test", MFD_CLOEXEC);

	ts_check(fd >= 0);
	return fd;
}

/* Opens the file again, as a reader does. */
static inline int test_reopen(int fd, int flags)
{
	char path[64];
	int copy;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	copy = open(path, flags | O_CLOEXEC);
	ts_check(copy >= 0);
	return copy;
}

static inline uint8_t *test_contents(int fd, size_t *ret_n)
{
	struct stat st;
	uint8_t *bytes;

	ts_check_int(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size + 1);
	ts_check(bytes && pread(fd, bytes, (size_t)st.st_size, 0) == st.st_size);
	*ret_n = (size_t)st.st_size;
	return bytes;
}

static inline int test_file_of(const void *bytes, size_t n)
{
	int fd = test_file();

	ts_check(pwrite(fd, bytes, n, 0) == (ssize_t)n);
	return fd;
}

/* Copies a file in memory, for a test that damages it. */
static inline int test_copy_of(int fd)
{
	size_t n;
	uint8_t *bytes = test_contents(fd, &n);
	int copy = test_file_of(bytes, n);

	free(bytes);
	return copy;
}

/* A trace in memory with one session, which the test fills with rows. */
struct test_trace {
	struct ts_sbt_writer *writer;
	struct ts_sbt_session_writer *session;
	int fd;
};

static inline void test_trace_begin(struct test_trace *trace, const struct ts_row_session *row)
{
	trace->fd = test_file();
	ts_check_int(ts_sbt_writer_new(fcntl(trace->fd, F_DUPFD_CLOEXEC, 3), &trace->writer), 0);
	ts_check_int(ts_sbt_session_writer_new(trace->writer, row, &trace->session), 0);
}

/* Completes the trace and opens it. The caller frees the reader. */
static inline struct ts_sbt_reader *test_trace_read(struct test_trace *trace)
{
	struct ts_sbt_reader *reader;

	ts_check_int(ts_sbt_session_writer_seal(trace->session, NULL, 0), 0);
	ts_sbt_session_writer_free(trace->session);
	ts_check_int(ts_sbt_writer_finish(trace->writer), 0);
	ts_sbt_writer_free(trace->writer);
	ts_check_int(ts_sbt_reader_open(trace->fd, &reader, NULL), 0);
	close(trace->fd);
	return reader;
}

/* The nth type of event rows, from 0. */
static inline unsigned test_event(uint64_t nth)
{
	unsigned type = TS_ROW_API;

	while (nth--)
		type = ts_row_next_event(type);
	return type;
}

static inline uint64_t test_value(uint64_t *state, unsigned kind)
{
	switch (kind % 8) {
	case 0:
		return 0;
	case 1:
		return UINT64_MAX;
	case 2:
		return UINT64_C(1) << 63;
	case 3:
		return (UINT64_C(1) << 63) - 1;
	case 4:
		return test_random(state) % 3;
	case 5:
		return test_random(state) % 1000;
	default:
		return test_random(state);
	}
}

/*
 * Makes a row of a type. `mode` 0: every column has an extreme value of one kind; 1: each column
 * has a random kind; 2: plausible growing times, small numbers.
 */
static inline void test_row(const struct ts_row_schema *schema, uint64_t *state, unsigned mode,
			    uint64_t *now, void *row)
{
	unsigned kind = (unsigned)test_random(state);

	memset(row, 0, schema->row_bytes);
	for (unsigned c = 0; c < schema->n_columns; c++) {
		const struct ts_column *column = &schema->columns[c];
		uint8_t *to = (uint8_t *)row + column->offset;
		uint64_t value;

		if (mode == 1)
			kind = (unsigned)test_random(state);
		value = mode == 2 ? test_random(state) % 7 : test_value(state, kind);
		if (mode == 2 && column->role == TS_ROLE_TIME_START)
			value = *now += test_random(state) % 5000;
		if (mode == 2 && column->role == TS_ROLE_TIME_END)
			value = *now + test_random(state) % 20000;
		for (unsigned i = 0; i < column->width; i++)
			to[i] = (uint8_t)(value >> i % 8 * 8);
	}
}

/*
 * Makes a trace of n sessions with n seals each, and with rows and definitions of every kind.
 * Returns the file's descriptor.
 */
static inline int test_small_trace_by(int (*new_writer)(int fd, struct ts_sbt_writer **ret), int n,
				      unsigned n_rows, bool finished)
{
	int fd = test_file(), copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct ts_row_session session = {.pid = 42, .start_ns = 1000};
	uint64_t frames[] = {0x7f0000001000, 0x7f0000002000, 0x400000};
	struct ts_row_device device = {.device = 0, .memory_bytes = 1u << 30};
	struct ts_row_thread thread = {.tid = 43, .start_ns = 1001};
	struct ts_sbt_session_writer *sessions[4];
	uint64_t state = 7, now = 1000;
	struct ts_sbt_writer *writer;
	uint32_t id;

	ts_check_int(new_writer(copy, &writer), 0);
	ts_check_int(ts_sbt_writer_metadata(writer, TS_METADATA_HOSTNAME, "testhost"), 0);
	ts_check_int(ts_sbt_writer_string(writer, "program", 7, &session.program), 0);
	ts_check_int(ts_sbt_writer_string(writer, "Virtual", 7, &device.name), 0);
	for (int i = 1; i < 8; i++)
		ts_check_int(ts_sbt_writer_string(writer, "kernel-names", (size_t)i, &id), 0);
	for (int s = 0; s < n; s++) {
		ts_check_int(ts_sbt_session_writer_new(writer, &session, &sessions[s]), 0);
		for (int i = 0; i < 8; i++) {
			ts_check_int(ts_sbt_session_writer_add_thread(sessions[s], &thread, &id),
				     0);
			ts_check_int(ts_sbt_session_writer_add_stack(sessions[s], frames,
								     (uint32_t)i % 4, 0, &id),
				     0);
		}
		ts_check_int(ts_sbt_session_writer_add_row(sessions[s], TS_ROW_DEVICE, &device), 0);
	}
	for (int round = 0; round < n; round++)
		for (int s = 0; s < n; s++) {
			for (unsigned type = TS_ROW_API; type; type = ts_row_next_event(type))
				for (unsigned i = 0; i < n_rows; i++) {
					uint8_t row[TS_ROW_MAX_BYTES];

					test_row(ts_row_schema(type), &state, 2, &now, row);
					ts_check_int(ts_sbt_session_writer_add_row(sessions[s],
										   type, row),
						     0);
				}
			ts_check_int(ts_sbt_session_writer_seal(sessions[s], "shard positions", 15),
				     0);
		}
	for (int s = 0; s < n; s++)
		ts_sbt_session_writer_free(sessions[s]);
	if (finished)
		ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	return fd;
}

static inline int test_small_trace(int n, unsigned n_rows, bool finished)
{
	return test_small_trace_by(ts_sbt_writer_new, n, n_rows, finished);
}

/* Reads everything that can be read; returns the number of event rows. */
static inline uint64_t test_read_all(struct ts_sbt_reader *reader)
{
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_summary summary;
	struct ts_sbt_stack stack;
	struct ts_sbt_row row;
	const char *key, *value;
	uint64_t n = 0;
	int r;

	for (uint32_t id = 0; id < 30; id++) {
		ts_sbt_reader_string(reader, id, NULL);
		ts_sbt_reader_stack(reader, 1 + id % 3, id, &stack);
		ts_sbt_reader_metadata_at(reader, id, &key, &value);
	}
	ts_sbt_reader_summary(reader, 0, &summary);
	ts_sbt_reader_origin_ns(reader);
	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	while ((r = ts_sbt_cursor_next(cursor, &row)) != TS_SBT_E_END) {
		ts_check(r >= 0);
		n += !r;
	}
	ts_sbt_cursor_free(cursor);
	return n;
}
