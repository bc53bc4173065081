/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short blocks: headers and directories return as they were, wrong ones are refused, a damaged
 * header costs its own block, and files of SBT 1.0 stay what they are.
 */

#include "test/unit/harness.h"

#include <zstd.h>

#include "sbt/append.h"
#include "sbt/crc32c.h"
#include "sbt/format/block.h"
#include "sbt/format/short-dictionary.h"
#include "sbt/format/short.h"
#include "sbt/repair.h"
#include "sbt/verify.h"
#include "sbt/write/writer-internal.h"
#include "test/unit/sbt/sbt-test.h"

static void check_header(const struct ts_sbt_block_header *header)
{
	struct ts_sbt_block_header put = *header, got;
	uint8_t bytes[TS_SHORT_MAX_HEADER + 1];
	unsigned n = ts_short_header_put(&put, bytes);
	const char *why;

	ts_check(n <= TS_SHORT_MAX_HEADER && n >= TS_SBT_MIN_BLOCK);
	ts_check_int(put.short_bytes, n);
	for (unsigned less = 3; less < n; less++)
		ts_check_int(ts_block_header_parse(bytes, less, &got, &why), TS_SBT_E_END);
	ts_check_int(ts_block_header_parse(bytes, n, &got, &why), 0);
	put.magic = got.magic;
	put.version = got.version;
	ts_check(!memcmp(&put, &got, sizeof(got)));
	for (unsigned bit = 16; bit < 8 * n; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ts_check(ts_block_header_parse(bytes, n, &got, &why));
		bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
}

TS_TEST(headers)
{
	uint64_t state = 3;

	for (int i = 0; i < 300; i++) {
		struct ts_sbt_block_header header = {
			.type = (uint16_t)test_random(&state),
			.flags = (uint16_t)(test_random(&state) & TS_SBT_SHORT_BLOCK_FLAGS),
			.n_columns = (uint16_t)(test_random(&state) % 20),
			.session = (uint32_t)test_value(&state, (unsigned)i),
			.n_rows = (uint32_t)(test_random(&state) % (TS_SBT_MAX_ROWS + 1)),
			.first_id = (uint32_t)test_value(&state, (unsigned)i + 1),
			.sequence = test_random(&state) >> i % 64,
			.earliest_ns = test_value(&state, (unsigned)i + 2),
			.latest_ns = test_value(&state, (unsigned)i + 3),
			.duration_ns = test_value(&state, (unsigned)i + 4),
			.amount_bytes = test_value(&state, (unsigned)i + 5),
			.raw_bytes = 480 + test_random(&state) % 100000,
			.stored_bytes = test_random(&state) % 480,
			.payload_checksum = (uint32_t)test_random(&state),
			.calls = (uint32_t)test_value(&state, (unsigned)i + 6),
		};

		check_header(&header);
	}
}

/* The flag CALLS without calls is no valid header. */
TS_TEST(a_header_without_its_calls)
{
	struct ts_sbt_block_header header = {.type = TS_ROW_KERNEL, .calls = 4}, got;
	uint8_t bytes[TS_SHORT_MAX_HEADER];
	unsigned n = ts_short_header_put(&header, bytes);
	const char *why = NULL;
	uint32_t checksum;

	ts_check_int(ts_block_header_parse(bytes, n, &got, &why), 0);
	ts_check_int(got.calls, 4);
	ts_check_int(bytes[n - 9], 4);
	bytes[n - 9] = 0;
	checksum = ts_crc32c(bytes, n - 4);
	memcpy(bytes + n - 4, &checksum, sizeof(checksum));
	ts_check_int(ts_block_header_parse(bytes, n, &got, &why), TS_SBT_E_CORRUPT);
	ts_check_str(why, "a block header does not say where its calls are");
}

/* A directory of random columns, each of which has bytes of its encoding. */
TS_TEST(directories)
{
	uint64_t state = 9;

	for (int i = 0; i < 300; i++) {
		struct ts_sbt_block_header header = {.n_columns = (uint16_t)(i % 30), .n_rows = 7};
		struct ts_buffer raw = {0}, whole = {0};
		uint16_t id = 0;
		size_t saved = 0;
		uint8_t *got;

		for (unsigned c = 0; c < header.n_columns; c++) {
			uint16_t step = (uint16_t)(1 + test_random(&state) % (i % 3 ? 3 : 2000));
			struct ts_sbt_column_header column = {
				.id = id = (uint16_t)(id + step),
				.width = (uint16_t)(1u << test_random(&state) % 7),
				.encoding = test_random(&state) % TS_SBT_ENCODING_COUNT,
				.flags = test_random(&state) % 8,
				.predictor = test_random(&state) % TS_SBT_PREDICTOR_COUNT,
				.trend = (uint8_t)(test_random(&state) % 3),
				.base = (uint16_t)(test_random(&state) % 3),
				.key = test_random(&state) % 2 ? TS_SBT_COLUMN_SITE : 0,
				.context = test_random(&state) % 2 ? TS_SBT_COLUMN_PLACE : 0,
				.n_values = test_random(&state) % 2 ? 7 : 70000,
				.n_bytes = 5,
			};

			if (column.encoding == TS_SBT_SCALED)
				column.width = 8;
			if (column.encoding == TS_SBT_PLANES)
				column.n_planes = (uint8_t)(test_random(&state) % 9);
			if (column.encoding == TS_SBT_RAW)
				column.n_bytes = column.n_values * column.width;
			if (column.encoding == TS_SBT_CONSTANT)
				column.n_bytes = column.width;
			ts_check_int(ts_buffer_append(&raw, &column, sizeof(column)), 0);
		}
		ts_check_int(ts_buffer_append(&raw, "the columns", 11), 0);
		ts_check_int(ts_buffer_append(&whole, raw.bytes, raw.n), 0);
		header.raw_bytes = raw.n;
		ts_check_int(ts_short_payload_put(&raw, header.n_columns, header.n_rows, &saved),
			     header.n_columns > 0);
		ts_check_int(raw.n + saved, whole.n);
		got = calloc(1, whole.n + 1);
		ts_check(got && !ts_short_payload_expand(&header, raw.bytes, raw.n, got));
		ts_check(!memcmp(got, whole.bytes, whole.n));
		/* Without its last byte, it is refused. */
		ts_check(ts_short_payload_expand(&header, raw.bytes, raw.n - 1, got) != NULL);
		free(got);
		ts_buffer_deinit(&raw);
		ts_buffer_deinit(&whole);
	}
}

/* Files that were written with another dictionary would be unreadable. FORMAT.md has the sums. */
TS_TEST(the_dictionary_stays)
{
	size_t n;
	const uint8_t *content = ts_short_dictionary_content(&n), *dictionary;

	ts_check_int(n, 2916);
	ts_check_int(ts_crc32c(content, n), 0xe9bd13d2);
	dictionary = ts_short_dictionary(&n);
	ts_check_int(n, 3064);
	ts_check_int(ts_crc32c(dictionary, n), 0x4cb46145);
}

static int decompress(const struct ts_sbt_block_header *header, const uint8_t *stored)
{
	struct ts_sbt_block_header right = *header;
	ZSTD_DCtx *zstd = ZSTD_createDCtx();
	uint8_t *raw = NULL;
	const char *why;
	int r;

	right.payload_checksum = ts_crc32c(stored, header->stored_bytes);
	r = ts_block_payload(zstd, &right, false, stored, &raw, &why);
	free(raw);
	ZSTD_freeDCtx(zstd);
	return r;
}

/* A payload that is no block of zstd, or is cut, or is longer than one can be, is refused. */
TS_TEST(wrong_payloads)
{
	enum {
		MAX_ZSTD = 128 * 1024,
		ROOM = 3 * 1024 * 1024
	};
	struct ts_encoder encoder = {.is_short = true, .is_thorough = true};
	struct ts_sbt_block_header header = {.type = TS_ROW_STRING, .first_id = 1}, wrong;
	struct ts_buffer lengths = {0}, text = {0}, out = {0};
	uint8_t *stored = calloc(1, ROOM);
	uint32_t length = 4000;

	ts_check(stored);
	for (uint32_t i = 0; i < length; i++)
		stored[i] = (uint8_t)('a' + i * i % 17);
	ts_check_int(ts_buffer_append(&lengths, &length, sizeof(length)), 0);
	ts_check_int(ts_buffer_append(&text, stored, length), 0);
	ts_check_int(ts_encoder_list(&encoder, &header, &lengths, &text, &out), 0);
	memcpy(&header, out.bytes, sizeof(header));
	memset(stored, 0, length);
	memcpy(stored, out.bytes + sizeof(header), header.stored_bytes);
	ts_check_int(header.flags, TS_SBT_BLOCK_ZSTD | TS_SBT_BLOCK_TABLES);
	ts_check(header.short_bytes && header.stored_bytes < length / 2);
	ts_check_int(decompress(&header, stored), 0);
	for (uint64_t n = 0; n < header.stored_bytes; n++) {
		wrong = header;
		wrong.stored_bytes = n;
		ts_check_int(decompress(&wrong, stored), TS_SBT_E_CORRUPT);
	}
	/* The block's header has no room for the last sizes. */
	for (uint64_t n = MAX_ZSTD; n < ROOM; n += MAX_ZSTD) {
		wrong = header;
		wrong.raw_bytes = ROOM;
		wrong.stored_bytes = n + header.stored_bytes;
		ts_check_int(decompress(&wrong, stored), TS_SBT_E_CORRUPT);
	}
	/* With the other flag, the same bytes lack the frame's header. */
	wrong = header;
	wrong.flags = TS_SBT_BLOCK_ZSTD | TS_SBT_BLOCK_DICTIONARY;
	ts_check_int(decompress(&wrong, stored), TS_SBT_E_CORRUPT);
	ts_encoder_deinit(&encoder);
	ts_buffer_deinit(&lengths);
	ts_buffer_deinit(&text);
	ts_buffer_deinit(&out);
	free(stored);
}

/* The file says whether it may be short, has a short index and no summaries, and is smaller. */
TS_TEST(files)
{
	int fd = test_small_trace(1, 80, true);
	int plain = test_small_trace_by(ts_sbt_writer_new_plain, 1, 80, true);
	struct ts_sbt_file_header header;
	struct ts_sbt_reader *reader, *other;
	bool has_summaries = false, has_dictionary = false;

	ts_check(pread(fd, &header, sizeof(header), 0) == sizeof(header));
	ts_check_int(header.incompatible_flags,
		     TS_SBT_INCOMPATIBLE_SHORT | TS_SBT_INCOMPATIBLE_CALLS |
			     TS_SBT_INCOMPATIBLE_DICTIONARY | TS_SBT_INCOMPATIBLE_TABLES);
	ts_check_int(header.minor, 1);
	ts_check(pread(plain, &header, sizeof(header), 0) == sizeof(header));
	ts_check_int(header.incompatible_flags, 0);
	ts_check_int(header.minor, 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_open(plain, &other, NULL), 0);
	ts_check_str(ts_sbt_reader_format(reader), "SBT 1.1");
	ts_check_str(ts_sbt_reader_format(other), "SBT 1.0");
	ts_check(ts_sbt_reader_file_bytes(reader) + 3000 < ts_sbt_reader_file_bytes(other));
	ts_check_int(test_read_all(reader), test_read_all(other));
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++)
		ts_check(ts_sbt_reader_block(reader, i)->type < TS_ROW_BLOCK_STREAM ||
			 ts_sbt_reader_block(reader, i)->type > TS_ROW_BLOCK_SUM);
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++)
		has_dictionary |= ts_sbt_reader_block(reader, i)->flags & TS_SBT_BLOCK_TABLES;
	ts_check(has_dictionary);
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(other); i++)
		ts_check(!(ts_sbt_reader_block(other, i)->flags & TS_SBT_BLOCK_TABLES));
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(other); i++)
		has_summaries |= ts_sbt_reader_block(other, i)->type == TS_ROW_BLOCK_SUM;
	ts_check(has_summaries);
	ts_sbt_reader_free(reader);
	ts_sbt_reader_free(other);
	close(fd);
	close(plain);
}

/*
 * Reads all rows of a file with a block of unknown type. The cursor says first that rows may be
 * missing, and so do the sums.
 */
static uint64_t read_after_loss(struct ts_sbt_reader *reader, uint64_t off)
{
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	ts_cleanup(ts_sbt_totals_freep) struct ts_sbt_totals *totals = NULL;
	ts_cleanup(ts_sbt_sizes_freep) struct ts_sbt_sizes *sizes = NULL;
	const struct ts_sbt_error *lost = ts_sbt_reader_lost_definitions(reader);
	struct ts_sbt_row row;
	uint64_t n = 0;

	ts_check(lost && lost->code == TS_SBT_E_CORRUPT && lost->off == off);
	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	ts_check_int(ts_sbt_cursor_next(cursor, &row), TS_SBT_E_CORRUPT);
	ts_check_int(ts_sbt_reader_error(reader)->off, off);
	while (!ts_sbt_cursor_next(cursor, &row))
		n++;
	ts_check_int(ts_sbt_cursor_next(cursor, &row), TS_SBT_E_END);
	ts_check_int(ts_sbt_totals_new(reader, NULL, &totals), 0);
	ts_check_int(ts_sbt_totals_damaged(totals), 1);
	ts_check_int(ts_sbt_sizes_new(reader, 0, &sizes), 0);
	ts_check_int(ts_sbt_sizes_damaged(sizes), 1);
	return n;
}

/* With a valid index, a damaged header costs its own block, and a reader says so. */
TS_TEST(a_damaged_header)
{
	int fd = test_small_trace(1, 5, true);
	struct ts_sbt_verify_report report;
	struct ts_sbt_reader *reader;
	uint64_t n_rows = 0;
	size_t n, n_blocks;
	uint8_t *bytes = test_contents(fd, &n);

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	n_rows = test_read_all(reader);
	n_blocks = ts_sbt_reader_n_blocks(reader);
	for (size_t i = 0; i + 1 < n_blocks; i++) {
		struct ts_sbt_block block = *ts_sbt_reader_block(reader, i);
		uint64_t lost = ts_row_is_event(block.type) ? block.n_rows : 0;
		struct ts_sbt_reader *other;
		int hurt;

		bytes[block.off + 6] ^= 4;
		hurt = test_file_of(bytes, n);
		bytes[block.off + 6] ^= 4;
		ts_check_int(ts_sbt_reader_open(hurt, &other, NULL), 0);
		ts_check_int(ts_sbt_reader_state(other), TS_SBT_FINISHED);
		ts_check_int(ts_sbt_reader_n_blocks(other), n_blocks);
		ts_check_int(read_after_loss(other, block.off), n_rows - lost);
		ts_check_int(ts_sbt_verify(hurt, NULL, &report), 0);
		ts_check(report.n_findings);
		ts_check_int(report.first.off, block.off);
		ts_sbt_reader_free(other);
		close(hurt);
	}
	ts_sbt_reader_free(reader);
	free(bytes);
	close(fd);
}

static bool has_short_blocks(int fd)
{
	struct ts_sbt_reader *reader;
	bool found = false;

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		char magic[2];

		ts_check(pread(fd, magic, 2, (off_t)ts_sbt_reader_block(reader, i)->off) == 2);
		found |= !memcmp(magic, "Tb", 2);
	}
	ts_sbt_reader_free(reader);
	return found;
}

/* Additions to a file of SBT 1.0, and repairs of it, can be read as SBT 1.0. */
TS_TEST(plain_files_stay_plain)
{
	for (int is_short = 0; is_short < 2; is_short++) {
		int made =
			test_small_trace_by(is_short ? ts_sbt_writer_new : ts_sbt_writer_new_plain,
					    1, 5, true);
		int fd = test_reopen(made, O_RDWR);
		struct ts_row_image image = {.image = 1};
		struct ts_sbt_repair_report repaired;
		struct ts_sbt_verify_report report;
		struct ts_sbt_append *append;
		struct stat st;

		close(made); /* and with it the writer's lock */
		ts_check_int(has_short_blocks(fd), is_short);
		ts_check_int(ts_sbt_append_new(fd, &append, NULL), 0);
		ts_check_int(ts_sbt_append_string(append, "path", 4, &image.path), 0);
		ts_check_int(ts_sbt_append_row(append, TS_ROW_IMAGE, &image), 0);
		ts_check_int(ts_sbt_append_commit(append, NULL), 0);
		ts_sbt_append_free(append);
		ts_check_int(has_short_blocks(fd), is_short);
		ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
		ts_check_int(report.n_findings, 0);
		ts_check_int(fstat(fd, &st), 0);
		ts_check_int(ftruncate(fd, st.st_size - 60), 0);
		ts_check_int(ts_sbt_repair(fd, &repaired, NULL), 0);
		ts_check_int(has_short_blocks(fd), is_short);
		ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
		ts_check_int(report.n_findings, 0);
		close(fd);
	}
}
