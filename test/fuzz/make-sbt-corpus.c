/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make-sbt-corpus DIRECTORY: generates the corpus of fuzz-sbt-reader; run it when the format
 * changes. The corpus holds small traces with all kinds of rows: finished, unfinished and cut. A
 * change in a compressed payload rarely passes zstd, so some traces have uncompressed payloads.
 */

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zstd.h>

#include "sbt/crc32c.h"
#include "sbt/read/reader-internal.h"
#include "sbt/write/writer-internal.h"

/* With more rows, the times are multiples of a quantum and have noise. */
#define MANY_ROWS 1000u

static void fill(const struct ts_row_schema *schema, uint64_t seed, bool has_noise, void *row)
{
	uint64_t noise = has_noise ? (seed * 0x9e3779b97f4a7c15u >> 59) * 100 : 0;

	memset(row, 0, schema->row_bytes);
	for (unsigned c = 0; c < schema->n_columns; c++) {
		const struct ts_column *column = &schema->columns[c];
		uint64_t value = (seed * 0x9e3779b97f4a7c15u) >> (c * 7 % 64) & 3;

		if (column->role == TS_ROLE_TIME_START)
			value = 1000 + seed * (has_noise ? 5000 : 700);
		if (column->role == TS_ROLE_TIME_END)
			value = 1000 + seed * (has_noise ? 5000 : 900) + noise;
		if (column->role == TS_ROLE_OP)
			value = seed + 1;
		if (column->role == TS_ROLE_BYTES)
			value = seed * seed * 4096;
		if (column->role == TS_ROLE_ADDRESS)
			value = 0x7f0000000000 + seed * 512;
		for (unsigned i = 0; i < column->width; i++)
			((uint8_t *)row)[column->offset + i] = (uint8_t)(value >> i % 8 * 8);
	}
}

static int write_session(struct ts_sbt_writer *writer, uint64_t types, unsigned n_rows)
{
	ts_cleanup(ts_sbt_session_writer_freep) struct ts_sbt_session_writer *session = NULL;
	uint64_t frames[] = {0x7f0000001234, 0x7f0000005678, 0x401000, 0x401200};
	struct ts_row_session row = {.pid = 100, .start_ns = 900, .host_clock = 1};
	struct ts_row_device device = {.memory_bytes = 1u << 30, .name = 2};
	struct ts_row_module module = {.address = 0x400000, .address_end = 0x500000, .path = 3};
	struct ts_row_thread thread = {.tid = 101, .start_ns = 950, .name = 1};
	uint32_t id;
	int r = ts_sbt_session_writer_new(writer, &row, &session);

	for (uint32_t i = 0; !r && i < 4; i++) {
		r = ts_sbt_session_writer_add_stack(session, frames, i + 1, 0, &id);
		if (!r)
			r = ts_sbt_session_writer_add_thread(session, &thread, &id);
	}
	if (!r)
		r = ts_sbt_session_writer_add_row(session, TS_ROW_DEVICE, &device);
	if (!r)
		r = ts_sbt_session_writer_add_row(session, TS_ROW_MODULE, &module);
	for (unsigned type = TS_ROW_API; !r && type; type = ts_row_next_event(type))
		for (uint64_t i = 0; !r && types & TS_ROW_BIT(type) && i < n_rows; i++) {
			uint8_t bytes[TS_ROW_MAX_BYTES];

			fill(ts_row_schema(type), i, n_rows > MANY_ROWS, bytes);
			r = ts_sbt_session_writer_add_row(session, type, bytes);
		}
	return r ? r : ts_sbt_session_writer_seal(session, "positions", 9);
}

static int make(const char *directory, const char *name, uint64_t types, unsigned n_rows,
		bool finish, long cut)
{
	ts_cleanup(ts_sbt_writer_freep) struct ts_sbt_writer *writer = NULL;
	char path[4096];
	uint32_t id;
	int fd, r;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	/* The names of the other files are older than short blocks. */
	r = strncmp(name, "short", 5) ? ts_sbt_writer_new_plain(fd, &writer)
				      : ts_sbt_writer_new(fd, &writer);
	if (r) {
		close(fd);
		return r;
	}
	if (!r)
		r = ts_sbt_writer_metadata(writer, TS_METADATA_HOSTNAME, "node");
	for (int i = 0; !r && i < 4; i++)
		r = ts_sbt_writer_string(writer, "kernel_name", (size_t)(5 + i), &id);
	if (!r)
		r = write_session(writer, types, n_rows);
	if (!r && n_rows > 1)
		r = write_session(writer, types & 0xff, 2);
	if (!r && finish)
		r = ts_sbt_writer_finish(writer);
	if (!r && cut && ftruncate(fd, (off_t)ts_sbt_writer_bytes(writer) - cut) < 0)
		r = -errno;
	return r;
}

/*
 * Appends the block to `out` with an uncompressed payload, as a writer stores a payload that does
 * not compress.
 */
static int open_block(struct ts_sbt_reader *reader, size_t i, uint64_t *sequence,
		      struct ts_buffer *out, struct ts_buffer *index)
{
	static const uint8_t zeros[8];
	struct ts_sbt_block_header header;
	struct ts_sbt_block block;
	size_t at = out->n;
	uint8_t *raw;
	int r = ts_sbt_reader_load(reader, i, &header, &raw);

	if (r)
		return -EBADMSG;
	header.flags &= TS_SBT_BLOCK_REQUIRED;
	header.stored_bytes = header.raw_bytes;
	header.short_bytes = header.calls = 0;
	header.payload_checksum = ts_crc32c(raw, header.raw_bytes);
	r = ts_buffer_append(out, &header, sizeof(header));
	r = r ?: ts_buffer_append(out, raw, header.raw_bytes);
	r = r ?: ts_buffer_append(out, zeros, ts_align_up(header.raw_bytes, 8) - header.raw_bytes);
	free(raw);
	if (r)
		return r;
	ts_block_number(out->bytes + at, out->n - at, sequence);
	ts_block_describe(&header, at, &block);
	return ts_buffer_append(index, &block, sizeof(block));
}

/* Writes a finished file of the corpus again, with all payloads uncompressed. */
static int make_open(const char *directory, const char *from, const char *name)
{
	ts_cleanup(ts_sbt_reader_freep) struct ts_sbt_reader *reader = NULL;
	ts_cleanup(ts_buffer_deinit) struct ts_buffer out = {0};
	ts_cleanup(ts_buffer_deinit) struct ts_buffer index = {0};
	struct ts_sbt_file_header header;
	uint64_t sequence = 0;
	char path[4096];
	size_t n_blocks = 0;
	int fd, r;

	snprintf(path, sizeof(path), "%s/%s", directory, from);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = pread(fd, &header, sizeof(header), 0) == sizeof(header) ? 0 : -EIO;
	if (!r && ts_sbt_reader_open(fd, &reader, NULL))
		r = -EBADMSG;
	r = r ?: ts_buffer_append(&out, &header, sizeof(header));
	for (; !r && n_blocks < reader->n_blocks && reader->blocks[n_blocks].type != TS_ROW_INDEX;
	     n_blocks++)
		r = open_block(reader, n_blocks, &sequence, &out, &index);
	r = r ?: ts_index_encode((void *)index.bytes, n_blocks, out.n, false, &out);
	close(fd);
	if (r)
		return r;
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	r = write(fd, out.bytes, out.n) == (ssize_t)out.n ? 0 : -EIO;
	close(fd);
	return r;
}

int main(int argc, char **argv)
{
	int r;

	if (argc != 2) {
		fprintf(stderr, "usage: make-sbt-corpus DIRECTORY\n");
		return 2;
	}
	r = make(argv[1], "empty", 0, 0, true, 0);
	if (!r)
		r = make(argv[1], "launches", TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_KERNEL), 8,
			 true, 0);
	if (!r)
		r = make_open(argv[1], "launches", "launches-open");
	/* Enough rows for byte planes. */
	if (!r)
		r = make(argv[1], "planes", TS_ROW_BIT(TS_ROW_KERNEL), 260, true, 0);
	if (!r)
		r = make_open(argv[1], "planes", "planes-open");
	/* Enough rows for scaled columns. */
	if (!r)
		r = make(argv[1], "short-scaled", TS_ROW_BIT(TS_ROW_SYNC), MANY_ROWS + 24, true, 0);
	if (!r)
		r = make_open(argv[1], "short-scaled", "short-scaled-open");
	/* Times relative to calls. */
	if (!r)
		r = make(argv[1], "short-calls",
			 TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_KERNEL) |
				 TS_ROW_BIT(TS_ROW_SYNC) | TS_ROW_BIT(TS_ROW_ACCESS),
			 40, true, 0);
	/* Enough rows for summaries. */
	if (!r)
		r = make(argv[1], "summaries",
			 TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_MEMCPY) |
				 TS_ROW_BIT(TS_ROW_LOSS),
			 64, true, 0);
	if (!r)
		r = make_open(argv[1], "summaries", "summaries-open");
	if (!r)
		r = make(argv[1], "everything", TS_ROW_EVENTS, 2, true, 0);
	if (!r)
		r = make(argv[1], "unfinished", TS_ROW_BIT(TS_ROW_LOSS) | TS_ROW_BIT(TS_ROW_MEMCPY),
			 4, false, 0);
	if (!r)
		r = make(argv[1], "cut", TS_ROW_BIT(TS_ROW_COUNTER) | TS_ROW_BIT(TS_ROW_RANGE), 4,
			 true, 150);
	if (!r)
		r = make(argv[1], "short", TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_KERNEL), 8,
			 true, 0);
	if (!r)
		r = make(argv[1], "short-everything", TS_ROW_EVENTS, 2, true, 0);
	if (!r)
		r = make(argv[1], "short-planes", TS_ROW_BIT(TS_ROW_KERNEL), 260, true, 0);
	if (!r)
		r = make(argv[1], "short-cut",
			 TS_ROW_BIT(TS_ROW_COUNTER) | TS_ROW_BIT(TS_ROW_RANGE), 4, true, 60);
	if (r)
		fprintf(stderr, "make-sbt-corpus: %s\n", strerror(-r));
	return r ? 1 : 0;
}
