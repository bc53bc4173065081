/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes an untrusted trace file: the reader, its cursor, verify and repair must end with a result.
 * Checksums would stop a fuzzer early. So half of the runs (odd last byte) first correct the
 * checksums. Then the other checks must reject the errors.
 */

#include "sbt/arrays.h"
#include "sbt/repair.h"
#include "sbt/verify.h"
#include "test/fuzz/fuzz-sbt.h"

#define MAX_ROWS 200000 /* limit: a few bytes can decode to many rows */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_rows(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
		      uint64_t max_bytes)
{
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;

	if (ts_sbt_cursor_new(reader, options, &cursor))
		return;
	ts_sbt_cursor_limit(cursor, max_bytes);
	for (int i = 0; i < MAX_ROWS; i++)
		if (ts_sbt_cursor_next(cursor, &row) == TS_SBT_E_END)
			break;
	ts_sbt_cursor_free(cursor);
}

static void read_totals(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options)
{
	struct ts_sbt_totals *totals;
	uint8_t row[TS_ROW_MAX_BYTES];

	if (ts_sbt_totals_new(reader, options, &totals))
		return;
	for (size_t i = 0; i < ts_sbt_totals_count(totals); i++)
		ts_sbt_total_row(ts_sbt_totals_at(totals, i), row);
	ts_sbt_totals_free(totals);
}

static void read_definitions(struct ts_sbt_reader *reader)
{
	struct ts_sbt_summary summary;
	struct ts_sbt_stack stack;
	const char *key, *value;
	void *checkpoint;
	size_t n;

	for (uint32_t i = 0; i < 40; i++) {
		ts_sbt_reader_string(reader, i, NULL);
		ts_sbt_reader_stack(reader, 1 + i % 2, i / 2, &stack);
		ts_sbt_reader_metadata_at(reader, i, &key, &value);
		ts_sbt_reader_thread(reader, 1, i);
		ts_sbt_reader_device(reader, 1, i);
	}
	ts_sbt_reader_metadata(reader, TS_METADATA_HOSTNAME);
	ts_sbt_reader_summary(reader, 0, &summary);
	ts_sbt_reader_origin_ns(reader);
	if (!ts_sbt_reader_checkpoint(reader, 1, &checkpoint, &n))
		free(checkpoint);
}

static void read_file(int fd)
{
	struct ts_sbt_cursor_options window = {.from_ns = 3000, .to_ns = 90000};
	struct ts_sbt_cursor_options place = {.filter = TS_SBT_BY_STREAM | TS_SBT_BY_CONTEXT,
					      .context = 1,
					      .stream = 1};
	struct ts_sbt_cursor_options thread = {.filter = TS_SBT_BY_THREAD, .thread = 1};
	struct ts_sbt_verify_report verified;
	struct ts_sbt_repair_report repaired;
	struct ts_sbt_reader *reader;
	struct ts_sbt_sizes *sizes;
	struct ts_sbt_error error;

	ts_sbt_verify(fd, NULL, &verified);
	if (!ts_sbt_reader_open(fd, &reader, &error)) {
		read_definitions(reader);
		read_rows(reader, NULL, UINT64_MAX);
		read_rows(reader, &window, 10000);
		read_rows(reader, &place, UINT64_MAX);
		read_rows(reader, &thread, UINT64_MAX);
		read_totals(reader, NULL);
		read_totals(reader, &window);
		if (!ts_sbt_sizes_new(reader, 0, &sizes))
			ts_sbt_sizes_free(sizes);
		for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader) && i < 64; i++) {
			struct ts_sbt_arrays *arrays;
			uint32_t n_rows;
			void *rows;
			int r;

			/* Decoding to rows and decoding to arrays must reject the same blocks. */
			r = ts_sbt_reader_decode(reader, i, &rows, &n_rows);
			if (!r)
				free(rows);
			if (!ts_sbt_arrays_new(reader, i, 0, &arrays)) {
				if (r)
					abort();
				ts_sbt_arrays_free(arrays);
			} else if (!r) {
				abort();
			}
		}
		ts_sbt_reader_free(reader);
	}
	/* If repair succeeds, the file is finished. */
	if (!ts_sbt_repair(fd, &repaired, &error)) {
		if (ts_sbt_reader_open(fd, &reader, &error) ||
		    ts_sbt_reader_state(reader) != TS_SBT_FINISHED)
			abort();
		ts_sbt_reader_free(reader);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = ts_fuzz_sbt_file(data, size);

	if (fd >= 0)
		read_file(fd);
	if (fd >= 0)
		close(fd);
	return 0;
}
