/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests invalid files: damaged, crafted, from a newer version, on a full disk. The files open up to
 * their last complete block, verify finds the defect, repair corrects the end, and nothing crashes.
 * For cuts and flipped bits see test-cuts.c and test-flips.c.
 */

#include "test/unit/harness.h"

#include <sys/resource.h>
#include <sys/stat.h>

#include "proto/abi/hash.h"
#include "sbt/crc32c.h"
#include "sbt/format/block.h"
#include "sbt/format/short.h"
#include "sbt/repair.h"
#include "sbt/verify.h"
#include "test/unit/sbt/sbt-test.h"

#define FULL_BYTES 40000

/* If complete blocks follow the damage, repair does nothing. */
TS_TEST(repair_keeps_what_follows_damage)
{
	int fd = test_small_trace(2, 5, false);
	struct ts_sbt_repair_report repaired;
	struct ts_sbt_error error;
	size_t n, after;
	uint8_t *bytes = test_contents(fd, &n);

	bytes[TS_SBT_HEADER_BYTES + 200] ^= 1;
	ts_check(pwrite(fd, bytes, n, 0) == (ssize_t)n);
	bytes[TS_SBT_HEADER_BYTES + 12] ^= 1;
	ts_check(pwrite(fd, bytes, n, 0) == (ssize_t)n);
	ts_check_int(ts_sbt_repair(fd, &repaired, &error), TS_SBT_E_CORRUPT);
	ts_check_int(error.off, TS_SBT_HEADER_BYTES);
	free(bytes);
	bytes = test_contents(fd, &after);
	ts_check_int(after, n);
	free(bytes);
	close(fd);
}

/*
 * Damage is followed by many block headers, each of which claims all bytes up to the file's end. If
 * the search read each claimed block to its end, a large file would take hours.
 */
TS_TEST(search_has_a_budget)
{
	enum {
		N_HEADERS = 20000
	};
	size_t n = TS_SBT_HEADER_BYTES + 64, size = N_HEADERS * sizeof(struct ts_sbt_block_header);
	struct ts_sbt_repair_report repaired;
	struct ts_sbt_verify_report report;
	struct ts_sbt_error error;
	int fd = test_small_trace(1, 1, false), crafted;
	size_t n_trace;
	uint8_t *trace = test_contents(fd, &n_trace), *bytes = calloc(1, n + size);

	close(fd);
	ts_check(bytes && n_trace > n);
	memcpy(bytes, trace, TS_SBT_HEADER_BYTES);
	free(trace);
	for (uint64_t i = 0; i < N_HEADERS; i++) {
		struct ts_sbt_block_header header = {.magic = TS_SBT_BLOCK_MAGIC,
						     .type = TS_ROW_STRING,
						     .version = TS_SBT_BLOCK_VERSION,
						     .sequence = i};

		header.raw_bytes = header.stored_bytes = size - (i + 1) * sizeof(header);
		header.checksum =
			ts_crc32c(&header, offsetof(struct ts_sbt_block_header, checksum));
		memcpy(bytes + n + i * sizeof(header), &header, sizeof(header));
	}
	crafted = test_file_of(bytes, n + size);
	free(bytes);
	ts_check_int(ts_sbt_repair(crafted, &repaired, &error), TS_SBT_E_LIMIT);
	ts_check_int(error.off, TS_SBT_HEADER_BYTES);
	ts_check_int(ts_sbt_verify(crafted, NULL, &report), 0);
	ts_check_int(report.n_findings, 2);
	ts_check_int(lseek(crafted, 0, SEEK_END), (off_t)(n + size)); /* repair did not cut it */
	close(crafted);
}

/*
 * An end marker with more blocks than a reader accepts: rejected with a reason before memory is
 * allocated.
 */
TS_TEST(too_many_blocks)
{
	struct ts_sbt_end_marker marker = {.n_blocks = TS_SBT_MAX_BLOCKS + 1ull};
	int fd = test_small_trace(1, 1, false);
	struct ts_sbt_reader *reader;
	struct ts_sbt_error error;

	marker.index_off = TS_SBT_HEADER_BYTES + marker.n_blocks * TS_SBT_MIN_BLOCK;
	marker.file_bytes = marker.index_off + sizeof(marker);
	memcpy(marker.magic, TS_SBT_END_MAGIC, sizeof(marker.magic));
	marker.checksum = ts_crc32c(&marker, offsetof(struct ts_sbt_end_marker, checksum));
	ts_check(pwrite(fd, &marker, sizeof(marker), (off_t)marker.index_off) == sizeof(marker));
	ts_check_int(ts_sbt_reader_open(fd, &reader, &error), TS_SBT_E_LIMIT);
	ts_check_str(error.text, "more than 16777216 blocks");
	close(fd);
}

/* A block with few rows that claims many bytes is rejected before decompression. */
TS_TEST(rows_bound_their_bytes)
{
	uint8_t stored[8] = "no zstd", *raw;
	struct ts_sbt_block_header header = {.type = TS_ROW_MARK,
					     .flags = TS_SBT_BLOCK_ZSTD,
					     .n_columns = 2,
					     .n_rows = 3,
					     .stored_bytes = sizeof(stored),
					     .raw_bytes = TS_SBT_MAX_RAW_BYTES};
	const struct ts_row_schema *schema = ts_row_schema(TS_ROW_MARK);
	/* An index column for each of two runs. */
	uint64_t most =
		2 * sizeof(struct ts_sbt_column_header) + 3ull * (schema->n_columns + 2) * 10;
	static const char *const too_large = "a block is larger than the largest size of its rows";
	const char *why;

	header.payload_checksum = ts_crc32c(stored, sizeof(stored));
	ts_check_int(ts_block_payload(NULL, &header, false, stored, &raw, &why), TS_SBT_E_CORRUPT);
	ts_check_str(why, too_large);
	header.flags = 0;
	header.raw_bytes = most + 1;
	ts_check_int(ts_block_payload(NULL, &header, false, stored, &raw, &why), TS_SBT_E_CORRUPT);
	ts_check_str(why, too_large);
	/* The maximum size is accepted, and so are columns of a later version. */
	header.stored_bytes = header.raw_bytes = sizeof(stored);
	ts_check_int(ts_block_payload(NULL, &header, false, stored, &raw, &why), 0);
	free(raw);
	header.n_rows = 0;
	header.n_columns = 0;
	ts_check_int(ts_block_payload(NULL, &header, false, stored, &raw, &why), TS_SBT_E_CORRUPT);
	header.n_rows = 1;
	header.n_columns = 1;
	ts_check_int(ts_block_payload(NULL, &header, true, stored, &raw, &why), 0);
	free(raw);
}

/*
 * A block with a sequence number that already occurred is a copy inside other data: the search does
 * not take it for the next block.
 */
TS_TEST(search_wants_a_successor)
{
	int fd = test_small_trace(1, 5, false);
	struct ts_sbt_repair_report repaired;
	struct ts_sbt_verify_report report;
	struct ts_sbt_block_header first;
	struct ts_sbt_error error;
	const char *why;
	uint64_t zero = 0;
	size_t n;
	uint8_t *bytes = test_contents(fd, &n);

	ts_check_int(ts_block_header_parse(bytes + TS_SBT_HEADER_BYTES, sizeof(first), &first,
					   &why),
		     0);
	ts_check(pwrite(fd, &zero, sizeof(zero), (off_t)n) == sizeof(zero));
	ts_check(pwrite(fd, bytes + TS_SBT_HEADER_BYTES, ts_block_bytes(&first),
			(off_t)(n + sizeof(zero))) == (ssize_t)ts_block_bytes(&first));
	free(bytes);
	ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
	ts_check_int(report.n_findings, 1);
	ts_check_int(report.first.off, n);
	ts_check_int(ts_sbt_repair(fd, &repaired, &error), 0);
	ts_check_int(repaired.cut_bytes, sizeof(zero) + ts_block_bytes(&first));
	close(fd);
}

/* A finished file with a damaged index is read block by block, and gets a new index. */
TS_TEST(repair_of_an_index)
{
	int fd = test_small_trace(2, 5, true);
	struct ts_sbt_repair_report repaired;
	struct ts_sbt_verify_report report;
	const struct ts_sbt_block *index;
	struct ts_sbt_reader *reader;
	struct ts_sbt_error error;
	uint64_t rows;
	size_t n;
	uint8_t *bytes = test_contents(fd, &n);

	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	rows = test_read_all(reader);
	index = ts_sbt_reader_block(reader, ts_sbt_reader_n_blocks(reader) - 1);
	ts_check_int(index->type, TS_ROW_INDEX);
	bytes[index->off + 150] ^= 4;
	ts_sbt_reader_free(reader);
	ts_check(pwrite(fd, bytes, n, 0) == (ssize_t)n);

	ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
	ts_check(report.n_findings > 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(test_read_all(reader), rows);
	ts_sbt_reader_free(reader);
	ts_check_int(ts_sbt_repair(fd, &repaired, &error), 0);
	ts_check(!repaired.was_finished);
	ts_check_int(repaired.n_rows, rows);
	ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
	ts_check_int(report.n_findings, 0);
	free(bytes);
	close(fd);
}

TS_TEST(repair_refuses)
{
	int fd = test_file(), rw = test_reopen(fd, O_RDWR), ro = test_reopen(fd, O_RDONLY), fds[2];
	struct ts_sbt_repair_report repaired;
	struct ts_sbt_writer *writer;

	ts_check_int(ts_sbt_repair(rw, &repaired, NULL), TS_SBT_E_NOT_SBT);
	ts_check_int(ts_sbt_writer_new(fd, &writer), 0);
	ts_check_int(ts_sbt_repair(rw, &repaired, NULL), -EBUSY);
	ts_check_int(ts_sbt_repair(ro, &repaired, NULL), -EBADF);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_repair(rw, &repaired, NULL), 0);
	ts_check_int(repaired.n_blocks, 0);
	ts_check_int(ts_sbt_repair(rw, &repaired, NULL), 0);
	ts_check_int(repaired.was_finished, true);
	close(rw);
	close(ro);
	ts_check_int(pipe2(fds, O_CLOEXEC), 0);
	ts_check_int(ts_sbt_repair(fds[0], &repaired, NULL), -EINVAL);
	close(fds[0]);
	close(fds[1]);
}

/* A file that is made block by block. */
struct crafted {
	struct ts_buffer file, blocks, index;
	struct ts_encoder encoder;
	uint64_t sequence;
};

static void begin_file(struct crafted *crafted, struct ts_sbt_file_header header)
{
	header.n_bytes = sizeof(header);
	memcpy(header.magic, TS_SBT_FILE_MAGIC, 8);
	header.checksum = ts_crc32c(&header, 60);
	ts_check_int(ts_buffer_append(&crafted->file, &header, sizeof(header)), 0);
}

/* Ends the block in the encoder, and adds it to the file. */
static void end_block(struct crafted *crafted, struct ts_sbt_block_header *header)
{
	struct ts_buffer *blocks = &crafted->blocks;
	struct ts_sbt_block block;

	ts_check_int(ts_encoder_end(&crafted->encoder, header, blocks), 0);
	ts_block_number(blocks->bytes, blocks->n, &crafted->sequence);
	memcpy(header, blocks->bytes, sizeof(*header));
	ts_block_describe(header, crafted->file.n, &block);
	ts_check_int(ts_buffer_append(&crafted->index, &block, sizeof(block)), 0);
	ts_check_int(ts_buffer_append(&crafted->file, blocks->bytes, blocks->n), 0);
	blocks->n = 0;
}

/* Adds the index. Returns the open file, and frees the rest. */
static int end_file(struct crafted *crafted)
{
	int fd;

	ts_check_int(ts_index_encode((void *)crafted->index.bytes,
				     crafted->index.n / sizeof(struct ts_sbt_block),
				     crafted->file.n, false, &crafted->file),
		     0);
	fd = test_file_of(crafted->file.bytes, crafted->file.n);
	ts_encoder_deinit(&crafted->encoder);
	ts_buffer_deinit(&crafted->file);
	ts_buffer_deinit(&crafted->blocks);
	ts_buffer_deinit(&crafted->index);
	return fd;
}

/* Makes a file of a newer version, with an unknown type and an unknown column. */
static int newer_file(uint16_t flags, uint16_t major, uint64_t incompatible)
{
	const struct ts_sbt_file_header header = {.major = major,
						  .minor = TS_SBT_MINOR + 1,
						  .compatible_flags = UINT64_MAX,
						  .incompatible_flags = incompatible};
	uint64_t starts[] = {10, 20, 30}, future[] = {7, UINT64_MAX, 8};
	struct ts_sbt_block_header block;
	struct crafted crafted = {0};

	begin_file(&crafted, header);
	block = (struct ts_sbt_block_header){.type = 999,
					     .flags = flags,
					     .n_rows = 3,
					     .n_columns = 1};
	ts_check_int(ts_encoder_begin(&crafted.encoder, 1), 0);
	ts_check_int(ts_encoder_column(&crafted.encoder, 0, 1, future, 3, 8, false), 0);
	end_block(&crafted, &block);

	block = (struct ts_sbt_block_header){.type = TS_ROW_MARK,
					     .n_rows = 3,
					     .n_columns = 2,
					     .earliest_ns = 10,
					     .latest_ns = 30};
	ts_check_int(ts_encoder_begin(&crafted.encoder, 2), 0);
	ts_check_int(ts_encoder_column(&crafted.encoder, 0, 1, starts, 3, 8, false), 0);
	ts_check_int(ts_encoder_column(&crafted.encoder, 1, 5000, future, 3, 8, true), 0);
	end_block(&crafted, &block);
	return end_file(&crafted);
}

TS_TEST(newer_files)
{
	int fd = newer_file(0, TS_SBT_MAJOR, 0);
	struct ts_sbt_verify_report report;
	struct ts_sbt_reader *reader;
	struct ts_sbt_error error;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;

	ts_check_int(ts_sbt_reader_open(fd, &reader, &error), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	for (uint64_t i = 1; i <= 3; i++) {
		ts_check_int(ts_sbt_cursor_next(cursor, &row), 0);
		ts_check_int(row.mark->start_ns, i * 10);
		ts_check_int(row.mark->color, 0); /* a column that the file does not have */
	}
	ts_check_int(ts_sbt_cursor_next(cursor, &row), TS_SBT_E_END);
	ts_sbt_cursor_free(cursor);
	ts_sbt_reader_free(reader);
	ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
	ts_check_int(report.n_findings, 0);
	ts_check_int(report.n_unknown_blocks, 1);
	ts_check_int(report.n_unknown_columns, 1);
	close(fd);

	fd = newer_file(TS_SBT_BLOCK_REQUIRED, TS_SBT_MAJOR, 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, &error), TS_SBT_E_VERSION);
	ts_check_int(error.off, TS_SBT_HEADER_BYTES);
	close(fd);
	fd = newer_file(0, TS_SBT_MAJOR + 1, 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, &error), TS_SBT_E_VERSION);
	close(fd);
	fd = newer_file(0, TS_SBT_MAJOR, 1u << 20);
	ts_check_int(ts_sbt_reader_open(fd, &reader, &error), TS_SBT_E_VERSION);
	close(fd);
}

/* Makes a file with one blob. */
static int blob_file(bool has_flags)
{
	const struct ts_sbt_file_header header = {.major = TS_SBT_MAJOR, .minor = TS_SBT_MINOR};
	const uint8_t bytes[] = "content";
	const struct ts_hash128 hash = ts_hash128(bytes, sizeof(bytes));
	const uint64_t hashes[] = {hash.a, hash.b};
	const uint32_t length = sizeof(bytes), flags = 0;
	struct ts_sbt_block_header block = {.type = TS_ROW_BLOB,
					    .first_id = 1,
					    .n_rows = 1,
					    .n_columns = has_flags ? 4 : 3};
	struct crafted crafted = {0};
	struct ts_encoder *encoder = &crafted.encoder;
	unsigned column = 0;

	begin_file(&crafted, header);
	ts_check_int(ts_encoder_begin(encoder, block.n_columns), 0);
	ts_check_int(ts_encoder_column(encoder, column++, TS_SBT_BLOB_LENGTH, &length, 1, 4, false),
		     0);
	if (has_flags)
		ts_check_int(ts_encoder_column(encoder, column++, TS_SBT_BLOB_FLAGS, &flags, 1, 4,
					       false),
			     0);
	ts_check_int(ts_encoder_column(encoder, column++, TS_SBT_BLOB_HASH, hashes, 2, 8, false),
		     0);
	ts_check_int(ts_encoder_column(encoder, column++, TS_SBT_BLOB_BYTES, bytes, sizeof(bytes),
				       1, false),
		     0);
	end_block(&crafted, &block);
	return end_file(&crafted);
}

/* Verify finds a block of blobs that the reader cannot decode. */
TS_TEST(blobs_without_flags)
{
	for (int has_flags = 0; has_flags < 2; has_flags++) {
		int fd = blob_file(has_flags);
		struct ts_sbt_verify_report report;
		struct ts_sbt_reader *reader;
		struct ts_sbt_blob blob;

		ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
		ts_check_int(report.n_findings, !has_flags);
		ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
		ts_check_int(ts_sbt_reader_blob(reader, 0, 1, &blob),
			     has_flags ? 0 : TS_SBT_E_CORRUPT);
		ts_sbt_reader_free(reader);
		close(fd);
	}
}

TS_TEST(no_traces)
{
	static const char *const paths[] = {"/dev/null", "/dev/zero", "/proc/self/exe", "/"};
	struct ts_sbt_verify_report report;
	struct ts_sbt_reader *reader;
	struct ts_sbt_error error;
	int fds[2];

	for (size_t i = 0; i < TS_ARRAY_LEN(paths); i++) {
		int fd = open(paths[i], O_RDONLY | O_CLOEXEC), r;

		r = ts_sbt_reader_open(fd, &reader, &error);
		ts_check_int(r, i == 3 ? -EISDIR : TS_SBT_E_NOT_SBT);
		ts_check_int(error.code, r);
		ts_check(error.text[0]);
		ts_check_int(ts_sbt_verify(fd, NULL, &report), r);
		close(fd);
	}
	ts_check_int(pipe2(fds, O_CLOEXEC), 0);
	ts_check_int(ts_sbt_reader_open(fds[0], &reader, &error), -ESPIPE);
	ts_check_int(ts_sbt_verify(fds[0], NULL, &report), -ESPIPE);
	close(fds[0]);
	close(fds[1]);
	ts_check_int(ts_sbt_reader_open(-1, &reader, &error), -EBADF);
}

/*
 * Lets a file reach a limit: RLIMIT_FSIZE, or the file's own limit. Checks that a seal that does
 * not fit writes nothing, and that the file gets its end within the limit.
 */
static void check_full(uint64_t own_limit)
{
	uint64_t state = 1, n_written = 0, counts[TS_ROW_EVENT_END];
	struct ts_row_session session = {0};
	struct ts_row_mark mark = {0};
	struct ts_sbt_session_writer *sw, *other;
	struct ts_sbt_verify_report report;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	struct stat status;
	int fd = test_file(), r = 0;
	char why[200] = "";
	uint32_t id;

	ts_check_int(ts_sbt_writer_new(fcntl(fd, F_DUPFD_CLOEXEC, 3), &writer), 0);
	ts_sbt_writer_limit(writer, own_limit);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &other), 0);
	for (int i = 0; !r; i++) {
		ts_check(i < 100);
		for (int j = 0; j < 100; j++) {
			mark.payload = test_random(&state);
			ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_MARK, &mark), 0);
		}
		r = ts_sbt_session_writer_seal(sw, "checkpoint", 10);
		n_written += r ? 0 : 100;
	}
	ts_check_int(r, -EFBIG);
	ts_check(n_written);
	ts_check_int(ts_sbt_writer_full(writer), -EFBIG);
	ts_check_int(ts_sbt_writer_error(writer), 0);
	/* Rows of other sessions are not written either. */
	ts_check_int(ts_sbt_session_writer_add_row(other, TS_ROW_MARK, &mark), 0);
	ts_check_int(ts_sbt_session_writer_seal(other, NULL, 0), -EFBIG);
	ts_sbt_session_writer_drop(other, counts);
	ts_check_int(counts[TS_ROW_MARK], 1);
	ts_check_int(ts_sbt_session_writer_seal(other, NULL, 0), 0);
	ts_sbt_session_writer_drop(sw, counts);
	ts_check_int(counts[TS_ROW_MARK], 100);
	ts_check_int(ts_sbt_session_writer_pending_rows(sw), 0);
	ts_check_int(ts_sbt_session_writer_add_stack(sw, NULL, 0, 0, &id), -EINVAL);
	mark.payload = 7;
	ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_MARK, &mark), 0);
	/* Strings use up the end's space. The metadata with the reason of the cut still fits. */
	r = 0;
	for (int i = 0; !r; i++) {
		char text[64];

		ts_check(i < 1000);
		snprintf(text, sizeof(text), "a string that takes space of the end, number %d", i);
		r = ts_sbt_writer_string(writer, text, strlen(text), &id);
	}
	ts_check_int(r, -EFBIG);
	memset(why, 'y', sizeof(why) - 1);
	ts_check_int(ts_sbt_writer_metadata(writer, "why", why), 0);
	ts_check_int(ts_sbt_session_writer_seal(sw, "checkpoint", 10), 0);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_session_writer_free(sw);
	ts_sbt_session_writer_free(other);
	ts_sbt_writer_free(writer);
	ts_check_int(fstat(fd, &status), 0);
	ts_check(status.st_size <= FULL_BYTES);
	/* Space reserved for the end is released. */
	ts_check((uint64_t)status.st_blocks * 512 < FULL_BYTES + 16384);
	ts_check_int(ts_sbt_verify(fd, NULL, &report), 0);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_reader_state(reader), TS_SBT_FINISHED);
	ts_check_str(ts_sbt_reader_metadata(reader, "why"), why);
	ts_check_int(ts_sbt_reader_n_sessions(reader), 2);
	ts_check_int(test_read_all(reader), n_written + 1);
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(file_full)
{
	struct rlimit limit = {.rlim_cur = FULL_BYTES, .rlim_max = RLIM_INFINITY};

	check_full(FULL_BYTES);
	signal(SIGXFSZ, SIG_IGN);
	ts_check_int(setrlimit(RLIMIT_FSIZE, &limit), 0);
	check_full(0);
}

TS_TEST(disk_full)
{
	struct ts_sbt_writer *writer;
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);

	ts_check(fd >= 0);
	ts_check_int(ts_sbt_writer_new(fd, &writer), -ENOSPC);
	close(fd);
}

/*
 * Reads more overlapping blocks than a cursor may hold at once. Checks that the cursor, although
 * slower, yields the same rows.
 */
static void overlap(int n_blocks, uint64_t n_rows, uint64_t max_bytes)
{
	int fd = test_file(), copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	struct ts_row_session session = {0};
	struct ts_row_mark mark = {0};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;
	uint64_t state = 9, last = 0, n = 0, sum = 0, want = 0;

	ts_check_int(ts_sbt_writer_new(copy, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	for (int block = 0; block < n_blocks; block++) {
		for (uint64_t i = 0; i < n_rows; i++) {
			mark.start_ns = i * 1000;
			mark.payload = test_random(&state);
			want += mark.payload;
			ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_MARK, &mark), 0);
		}
		ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
	}
	ts_sbt_session_writer_free(sw);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	ts_sbt_cursor_limit(cursor, max_bytes);
	while (!ts_sbt_cursor_next(cursor, &row)) {
		ts_check(row.mark->start_ns >= last);
		last = row.mark->start_ns;
		sum += row.mark->payload;
		n++;
	}
	ts_check_int(n, (uint64_t)n_blocks * n_rows);
	ts_check_int(sum, want);
	ts_sbt_cursor_free(cursor);
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(overlapping_blocks)
{
	overlap(100, 1000, 2 * 1024 * 1024);
	overlap(20, 300, 100 * 1000);
	overlap(5, 300, 1);
}

/*
 * A file has thousands of overlapping blocks. The reader uses little memory, and the cost of a row
 * does not grow with the number of blocks.
 */
TS_TEST(thousands_of_overlapping_blocks)
{
	overlap(2500, 100, 5 * 1024 * 1024);
}

/* If even the blocks' structs exceed the memory, the cursor is refused with a reason, each time. */
TS_TEST(too_many_overlapping_blocks)
{
	int fd = test_file(), copy = fcntl(fd, F_DUPFD_CLOEXEC, 3), r = 0;
	struct ts_row_session session = {0};
	struct ts_row_yield row_in = {.start_ns = 5};
	struct ts_sbt_session_writer *sw;
	struct ts_sbt_reader *reader;
	struct ts_sbt_writer *writer;
	struct ts_sbt_cursor *cursor;
	struct ts_sbt_row row;

	ts_check_int(ts_sbt_writer_new(copy, &writer), 0);
	ts_check_int(ts_sbt_session_writer_new(writer, &session, &sw), 0);
	for (int block = 0; block <= 16384; block++) {
		ts_check_int(ts_sbt_session_writer_add_row(sw, TS_ROW_YIELD, &row_in), 0);
		ts_check_int(ts_sbt_session_writer_seal(sw, NULL, 0), 0);
	}
	ts_sbt_session_writer_free(sw);
	ts_check_int(ts_sbt_writer_finish(writer), 0);
	ts_sbt_writer_free(writer);
	ts_check_int(ts_sbt_reader_open(fd, &reader, NULL), 0);
	ts_check_int(ts_sbt_cursor_new(reader, NULL, &cursor), 0);
	for (int i = 0; i < 3; i++) {
		r = ts_sbt_cursor_next(cursor, &row);
		ts_check_int(r, TS_SBT_E_LIMIT);
		ts_check_str(ts_sbt_reader_error(reader)->text,
			     "more than 16384 blocks overlap in time");
	}
	ts_sbt_cursor_free(cursor);
	ts_sbt_reader_free(reader);
	close(fd);
}

TS_TEST(crc32c)
{
	/* The check value of CRC-32C, and RFC 3720's value for 32 zero bytes. */
	uint8_t zeros[32] = {0};

	ts_check_int(ts_crc32c("123456789", 9), 0xe3069283);
	ts_check_int(ts_crc32c(zeros, sizeof(zeros)), 0x8a9136aa);
}
