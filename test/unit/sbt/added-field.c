/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts a record with an added field `probed_bytes` to a `kernel` row, writes the row and reads
 * it back. test-rows.py compiles this program with headers made from a table that has the field.
 */
#include "daemon/merge/convert-rows.h"
#include "sbt/reader.h"
#include "sbt/writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define VALUE UINT64_C(0x123456789abcdef)

static int fail(const char *what, int r)
{
	fprintf(stderr, "%s: %d\n", what, r);
	return 1;
}

static int convert(union ts_row_any *row)
{
	struct ts_arena_reader ids = {0};
	struct ts_rows rows = {.ids = &ids, .latest_ns = UINT64_MAX};
	struct ts_record_kernel record = {
		.record = {.n_words = sizeof(record) / 8,
			   .n_fixed_words = sizeof(record) / 8,
			   .clock = TS_CLOCK_MONOTONIC,
			   .type = TS_RECORD_KERNEL,
			   .time = 100},
		.end = 200,
		.op_id = 7,
		.probed_bytes = VALUE,
	};
	int r = ts_halves_new(&rows.halves);

	r = r ? r : ts_rows_convert(&rows, &record.record, row);
	ts_halves_free(rows.halves);
	return r;
}

static int write_file(int fd, const union ts_row_any *row)
{
	struct ts_row_session session = {.pid = 1};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_writer *writer;
	int r = ts_sbt_writer_new(fd, &writer);

	if (r)
		return r;
	r = ts_sbt_session_writer_new(writer, &session, &sw);
	r = r ? r : ts_sbt_session_writer_add_row(sw, TS_ROW_KERNEL, row);
	r = r ? r : ts_sbt_session_writer_seal(sw, NULL, 0);
	ts_sbt_session_writer_free(sw);
	r = r ? r : ts_sbt_writer_finish(writer);
	ts_sbt_writer_free(writer);
	return r;
}

static int read_file(int fd, uint64_t *ret_value)
{
	struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_KERNEL)};
	struct ts_sbt_reader *reader;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_error error;
	struct ts_sbt_row row;
	int r = ts_sbt_reader_open(fd, &reader, &error);

	if (r)
		return r;
	r = ts_sbt_cursor_new(reader, &options, &cursor);
	r = r ? r : ts_sbt_cursor_next(cursor, &row);
	if (!r)
		*ret_value = row.kernel->probed_bytes;
	ts_sbt_cursor_free(cursor);
	ts_sbt_reader_free(reader);
	return r;
}

int main(void)
{
	union ts_row_any row = {0};
	uint64_t value = 0;
	int fd = memfd_create("added-field", MFD_CLOEXEC), r;

	r = convert(&row);
	if (r || row.kernel.probed_bytes != VALUE)
		return fail("convert", r);
	r = write_file(fcntl(fd, F_DUPFD_CLOEXEC, 3), &row);
	if (r)
		return fail("write", r);
	r = read_file(fcntl(fd, F_DUPFD_CLOEXEC, 3), &value);
	if (r || value != VALUE)
		return fail("read", r);
	close(fd);
	return 0;
}
