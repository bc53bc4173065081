/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens a trace and lists its blocks. The list comes from the index. If there is no valid index,
 * the module walks from header to header until a block is not whole. All other modules refer to a
 * block by its number in the list; reader-block.c reads a block. `tsctl`, libtracesmith, replay and
 * the daemon open readers; verify.c checks file header, end marker and lock with functions of this
 * file.
 *
 *     file header -> end marker -> index blocks        -> FINISHED
 *                    | not valid
 *                    v
 *                    scan -> end marker is next        -> FINISHED
 *                         -> a writer holds the file   -> GROWING, torn blocks are dropped
 *                         -> otherwise                 -> TRUNCATED, torn blocks are dropped
 */

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <zstd.h>

#include "proto/abi/grow.h"
#include "sbt/crc32c.h"
#include "sbt/read/reader-internal.h"
#include "sbt/reader-threads.h"

bool ts_sbt_is_locked(int fd)
{
	struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

static int header_error(struct ts_sbt_error *error, int code, uint64_t off, const char *text)
{
	*error = (struct ts_sbt_error){.code = code, .off = off};
	snprintf(error->text, sizeof(error->text), "%s", text);
	return code;
}

int ts_sbt_check_file_header(int fd, uint64_t file_bytes, struct ts_sbt_file_header *ret_header,
			     struct ts_sbt_error *ret_error)
{
	struct ts_sbt_file_header header;
	int r;

	if (file_bytes < sizeof(header))
		return header_error(ret_error, TS_SBT_E_NOT_SBT, 0,
				    file_bytes ? "too short to be a trace" : "the file is empty");
	r = ts_sbt_pread(fd, &header, sizeof(header), 0);
	if (r)
		return header_error(ret_error, r, 0,
				    r < 0 ? strerror(-r) : "the file became shorter");
	if (memcmp(header.magic, TS_SBT_FILE_MAGIC, 4))
		return header_error(ret_error, TS_SBT_E_NOT_SBT, 0, "not a trace file");
	if (memcmp(header.magic, TS_SBT_FILE_MAGIC, sizeof(header.magic)))
		return header_error(ret_error, TS_SBT_E_NOT_SBT, 4,
				    "a transfer in text mode damaged the trace file");
	if (header.checksum != ts_crc32c(&header, offsetof(struct ts_sbt_file_header, checksum)))
		return header_error(ret_error, TS_SBT_E_NOT_SBT, 0,
				    "the file header's checksum is wrong");
	if (header.major != TS_SBT_MAJOR || header.n_bytes != sizeof(header)) {
		header_error(ret_error, TS_SBT_E_VERSION, 8, "");
		snprintf(ret_error->text, sizeof(ret_error->text),
			 "written as SBT %u.%u; this version reads SBT %u", header.major,
			 header.minor, TS_SBT_MAJOR);
		return TS_SBT_E_VERSION;
	}
	if (header.incompatible_flags & ~TS_SBT_INCOMPATIBLE_KNOWN) {
		header_error(ret_error, TS_SBT_E_VERSION, 24, "");
		snprintf(ret_error->text, sizeof(ret_error->text),
			 "uses features (0x%llx) that this version does not know",
			 (unsigned long long)header.incompatible_flags);
		return TS_SBT_E_VERSION;
	}
	*ret_header = header;
	return 0;
}

bool ts_sbt_check_end_marker(const struct ts_sbt_end_marker *marker, uint64_t file_bytes)
{
	return !memcmp(marker->magic, TS_SBT_END_MAGIC, sizeof(marker->magic)) &&
	       marker->checksum ==
		       ts_crc32c(marker, offsetof(struct ts_sbt_end_marker, checksum)) &&
	       marker->file_bytes == file_bytes && marker->index_off >= TS_SBT_HEADER_BYTES &&
	       marker->index_off <= file_bytes - sizeof(*marker) &&
	       marker->index_bytes == file_bytes - sizeof(*marker) - marker->index_off;
}

static int too_many_blocks(struct ts_sbt_reader *reader, uint64_t off)
{
	return ts_sbt_reader_fail(reader, TS_SBT_E_LIMIT, off, "more than %u blocks",
				  TS_SBT_MAX_BLOCKS);
}

static int add_block(struct ts_sbt_reader *reader, const struct ts_sbt_block *block)
{
	/* The list also holds the index blocks. */
	if (reader->n_blocks == TS_SBT_MAX_BLOCKS + TS_SBT_MAX_BLOCKS / TS_SBT_MAX_ROWS)
		return too_many_blocks(reader, block->off);
	if (TS_GROW(reader->blocks, reader->capacity, reader->n_blocks + 1))
		return -ENOMEM;
	reader->blocks[reader->n_blocks++] = *block;
	return 0;
}

static int read_marker(struct ts_sbt_reader *reader, struct ts_sbt_end_marker *ret_marker)
{
	int r;

	if (reader->file_bytes < TS_SBT_HEADER_BYTES + sizeof(*ret_marker))
		return TS_SBT_E_NOT_FOUND;
	r = ts_sbt_pread(reader->fd, ret_marker, sizeof(*ret_marker),
			 reader->file_bytes - sizeof(*ret_marker));
	if (r)
		return r;
	return ts_sbt_check_end_marker(ret_marker, reader->file_bytes) ? 0 : TS_SBT_E_NOT_FOUND;
}

/*
 * Reads and checks the header of block number n_blocks at `off`. TS_SBT_E_END: no whole block lies
 * there.
 */
static int next_header(struct ts_sbt_reader *reader, uint64_t off,
		       struct ts_sbt_block_header *ret_header)
{
	const char *why = NULL;
	int r = ts_sbt_read_header(reader->fd, off, reader->file_bytes, ret_header, &why);

	if (r && !why)
		return r;
	if (!why && ret_header->sequence != reader->first_sequence + reader->n_blocks)
		why = "a block is out of sequence";
	if (!why && ts_block_bytes(ret_header) > reader->file_bytes - off)
		return TS_SBT_E_END;
	if (why) {
		ts_sbt_reader_fail(reader, TS_SBT_E_CORRUPT, off, "%s", why);
		return TS_SBT_E_END;
	}
	if ((ret_header->flags & TS_SBT_BLOCK_REQUIRED) &&
	    (ret_header->type >= TS_ROW_COUNT || ret_header->version != TS_SBT_BLOCK_VERSION))
		return ts_sbt_reader_fail(
			reader, TS_SBT_E_VERSION, off,
			"needs blocks of type %u version %u, which this version does not know",
			ret_header->type, ret_header->version);
	return 0;
}

static int scan(struct ts_sbt_reader *reader)
{
	struct ts_sbt_block_header header;
	struct ts_sbt_block block;
	int r;

	while (!(r = next_header(reader, reader->whole_bytes, &header))) {
		ts_block_describe(&header, reader->whole_bytes, &block);
		r = add_block(reader, &block);
		if (r)
			return r;
		reader->whole_bytes += block.bytes;
	}
	return r == TS_SBT_E_END ? 0 : r;
}

/*
 * Removes the last blocks of an unfinished file from the list while their checksums are wrong,
 * because after a power failure a header may be on disk without its payload.
 */
static int drop_torn_blocks(struct ts_sbt_reader *reader)
{
	while (reader->n_blocks > reader->n_loaded) {
		struct ts_sbt_block_header header;
		uint8_t *raw;
		int r = ts_sbt_reader_load(reader, reader->n_blocks - 1, &header, &raw);

		if (!r)
			free(raw);
		if (r != TS_SBT_E_CORRUPT)
			return r < 0 ? r : 0;
		reader->whole_bytes = reader->blocks[--reader->n_blocks].off;
	}
	return 0;
}

/*
 * Completes a row of a short index, which has only the block's bytes, from the block's header. If
 * the header is damaged, the entry is one of an unknown type, which all users skip.
 */
static int complete_entry(struct ts_sbt_reader *reader, uint64_t off, struct ts_sbt_block *entry)
{
	struct ts_sbt_block damaged = {.off = off, .bytes = entry->bytes};
	struct ts_sbt_block_header header;
	const char *why = NULL;
	int r = ts_sbt_read_header(reader->fd, off, reader->file_bytes, &header, &why);

	if (r < 0)
		return r;
	if (!r)
		ts_block_describe(&header, off, entry);
	if (!r && entry->bytes == damaged.bytes && header.sequence == reader->n_blocks)
		return 0;
	*entry = damaged;
	if (!reader->lost_block.code) {
		ts_sbt_reader_fail(reader, TS_SBT_E_CORRUPT, off, "%s",
				   why ? why : "a block differs from its entry in the index");
		reader->lost_block = reader->error;
	}
	return 0;
}

/*
 * Appends entries of the index. Entries must follow each other without a gap, from the file header
 * to the index.
 */
static int take_entries(struct ts_sbt_reader *reader, struct ts_sbt_block *entries, uint32_t n,
			uint64_t *off, uint64_t index_off)
{
	int r;

	for (uint32_t i = 0; i < n; i++) {
		struct ts_sbt_block *entry = &entries[i];

		if (reader->is_short && !entry->off) {
			r = complete_entry(reader, *off, entry);
			if (r)
				return r;
		}
		if (entry->off != *off || entry->bytes < TS_SBT_MIN_BLOCK ||
		    (!reader->is_short && entry->bytes % 8) || entry->bytes > index_off - *off ||
		    entry->n_rows > TS_SBT_MAX_ROWS || entry->raw_bytes > TS_SBT_MAX_RAW_BYTES ||
		    entry->flags & TS_SBT_BLOCK_REQUIRED || entry->type == TS_ROW_INDEX)
			return TS_SBT_E_CORRUPT;
		r = add_block(reader, entry);
		if (r)
			return r;
		*off += entry->bytes;
	}
	return 0;
}

/*
 * Finds the index blocks by their headers and appends their entries, then the index blocks
 * themselves.
 */
static int walk_index(struct ts_sbt_reader *reader, struct ts_sbt_reader *index,
		      const struct ts_sbt_end_marker *marker)
{
	uint64_t off = TS_SBT_HEADER_BYTES;
	int r = 0;

	/* The marker's count of blocks is checked before any memory is allocated for it. */
	if (marker->n_blocks > (marker->index_off - off) / TS_SBT_MIN_BLOCK)
		return TS_SBT_E_CORRUPT;
	if (marker->n_blocks > TS_SBT_MAX_BLOCKS)
		return too_many_blocks(reader, marker->index_off);
	/* `index` has a separate list of blocks, which starts at the index. */
	index->fd = reader->fd;
	index->zstd = reader->zstd;
	index->is_newer = reader->is_newer;
	index->is_short = reader->is_short;
	index->file_bytes = marker->index_off + marker->index_bytes;
	index->whole_bytes = marker->index_off;
	index->first_sequence = marker->n_blocks;
	while (!r && index->whole_bytes < index->file_bytes) {
		struct ts_sbt_block_header header;
		struct ts_sbt_block block;

		r = next_header(index, index->whole_bytes, &header);
		if (!r && (header.type != TS_ROW_INDEX ||
			   ts_block_bytes(&header) > index->file_bytes - index->whole_bytes))
			r = TS_SBT_E_CORRUPT;
		if (r)
			break;
		ts_block_describe(&header, index->whole_bytes, &block);
		r = add_block(index, &block);
		index->whole_bytes += block.bytes;
	}
	for (size_t i = 0; !r && i < index->n_blocks; i++) {
		ts_cleanup(ts_freep) void *rows = NULL;
		uint32_t n_rows;

		r = ts_sbt_reader_decode_as(index, i, &ts_sbt_index_schema, &rows, &n_rows);
		if (!r && n_rows > marker->n_blocks - reader->n_blocks)
			r = TS_SBT_E_CORRUPT;
		if (!r)
			r = take_entries(reader, rows, n_rows, &off, marker->index_off);
	}
	if (!r && (off != marker->index_off || reader->n_blocks != marker->n_blocks))
		r = TS_SBT_E_CORRUPT;
	for (size_t i = 0; !r && i < index->n_blocks; i++)
		r = add_block(reader, &index->blocks[i]);
	return r;
}

/*
 * Reads the index. TS_SBT_E_NOT_FOUND: the index is missing or invalid, so the caller scans the
 * file. TS_SBT_E_LIMIT: there are too many blocks; a scan would find as many.
 */
static int read_index(struct ts_sbt_reader *reader)
{
	struct ts_sbt_reader index = {0};
	struct ts_sbt_end_marker marker;
	int r = read_marker(reader, &marker);

	if (r)
		return r < 0 ? r : TS_SBT_E_NOT_FOUND;
	r = walk_index(reader, &index, &marker);
	free(index.blocks);
	ts_spares_deinit(&index.spares);
	if (r == TS_SBT_E_LIMIT && index.error.code == r)
		reader->error = index.error;
	if (!r) {
		reader->state = TS_SBT_FINISHED;
		reader->has_index = true;
		reader->whole_bytes = reader->file_bytes;
		return 0;
	}
	reader->n_blocks = 0;
	reader->lost_block = (struct ts_sbt_error){0};
	return r < 0 || r == TS_SBT_E_LIMIT ? r : TS_SBT_E_NOT_FOUND;
}

/* After a scan: sets the state. The file is finished if the end marker follows the last block. */
static void settle_state(struct ts_sbt_reader *reader, bool locked)
{
	struct ts_sbt_end_marker marker;

	if (reader->file_bytes - reader->whole_bytes == sizeof(marker) &&
	    !read_marker(reader, &marker)) {
		reader->state = TS_SBT_FINISHED;
		reader->whole_bytes = reader->file_bytes;
		return;
	}
	reader->state = locked ? TS_SBT_GROWING : TS_SBT_TRUNCATED;
}

static int list_blocks(struct ts_sbt_reader *reader)
{
	/*
	 * The lock is tested before the size is read. If the writer finishes in between, the reader
	 * then finds the end marker.
	 */
	bool locked = ts_sbt_is_locked(reader->fd);
	struct stat st;
	int r;

	if (fstat(reader->fd, &st) < 0)
		return ts_sbt_reader_fail(reader, -errno, 0, "%s", strerror(errno));
	if ((uint64_t)st.st_size < reader->whole_bytes)
		return ts_sbt_reader_fail(reader, TS_SBT_E_CORRUPT, (uint64_t)st.st_size,
					  "the file became shorter while it was open");
	/* In an offset, the bits above TS_SBT_OFF_BITS are the number of the block's file. */
	if ((uint64_t)st.st_size >> TS_SBT_OFF_BITS)
		return ts_sbt_reader_fail(reader, TS_SBT_E_LIMIT, 0, "larger than 256 TiB");
	reader->file_bytes = (uint64_t)st.st_size;
	r = reader->n_blocks ? TS_SBT_E_NOT_FOUND : read_index(reader);
	if (r == TS_SBT_E_NOT_FOUND) {
		r = scan(reader);
		if (!r)
			settle_state(reader, locked);
		if (!r && reader->state != TS_SBT_FINISHED)
			r = drop_torn_blocks(reader);
	}
	return r ? r : ts_sbt_reader_load_definitions(reader);
}

int ts_sbt_reader_open(int fd, struct ts_sbt_reader **ret_reader, struct ts_sbt_error *ret_error)
{
	ts_cleanup(ts_sbt_reader_freep) struct ts_sbt_reader *reader = NULL;
	struct ts_sbt_file_header header;
	struct stat st;
	int r = 0;

	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	ts_sbt_reader_init_definitions(reader);
	reader->zstd = ZSTD_createDCtx();
	reader->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (reader->fd < 0 || fstat(fd, &st) < 0)
		r = ts_sbt_reader_fail(reader, -errno, 0, "%s", strerror(errno));
	else if (S_ISDIR(st.st_mode))
		r = ts_sbt_reader_fail(reader, -EISDIR, 0, "a directory");
	else if (lseek(fd, 0, SEEK_CUR) < 0)
		r = ts_sbt_reader_fail(reader, -errno, 0,
				       "the file does not support reads at any offset");
	else if (!reader->zstd)
		r = ts_sbt_reader_fail(reader, -ENOMEM, 0, "no memory");
	if (!r)
		r = ts_sbt_check_file_header(fd, (uint64_t)st.st_size, &header, &reader->error);
	if (!r) {
		snprintf(reader->format, sizeof(reader->format), "SBT %u.%u", header.major,
			 header.minor);
		reader->is_newer = header.minor > TS_SBT_MINOR;
		reader->is_short = header.incompatible_flags & TS_SBT_INCOMPATIBLE_SHORT;
		reader->has_tables = header.incompatible_flags & TS_SBT_INCOMPATIBLE_TABLES;
		memcpy(reader->uuid, header.uuid, sizeof(reader->uuid));
		reader->whole_bytes = sizeof(header);
		r = list_blocks(reader);
	}
	if (r) {
		if (reader->error.code != r)
			ts_sbt_reader_fail(reader, r, 0, "%s",
					   r < 0 ? strerror(-r) : "not readable");
		if (ret_error)
			*ret_error = reader->error;
		return r;
	}
	*ret_reader = ts_take_ptr(reader);
	return 0;
}

void ts_sbt_reader_free(struct ts_sbt_reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	for (size_t i = 0; i < reader->n_before; i++)
		close(reader->before[i]);
	for (size_t i = 0; reader->numbers && i <= reader->n_before; i++)
		free(reader->numbers[i]);
	free(reader->numbers);
	free(reader->before);
	ZSTD_freeDCtx(reader->zstd);
	ts_spares_deinit(&reader->spares);
	ts_sbt_reader_free_definitions(reader);
	free(reader->by_session);
	free(reader->blocks);
	free(reader);
}

int ts_sbt_reader_refresh(struct ts_sbt_reader *reader)
{
	/* After files were joined, the list of blocks stays as it is. */
	return reader->state == TS_SBT_FINISHED || reader->n_before ? 0 : list_blocks(reader);
}

const struct ts_sbt_error *ts_sbt_reader_error(const struct ts_sbt_reader *reader)
{
	return &reader->error;
}

enum ts_sbt_file_state ts_sbt_reader_state(const struct ts_sbt_reader *reader)
{
	return reader->state;
}

uint64_t ts_sbt_reader_file_bytes(const struct ts_sbt_reader *reader)
{
	return reader->file_bytes;
}

uint64_t ts_sbt_reader_tail_bytes(const struct ts_sbt_reader *reader)
{
	return reader->file_bytes - reader->whole_bytes;
}

const char *ts_sbt_reader_format(const struct ts_sbt_reader *reader)
{
	return reader->format;
}

size_t ts_sbt_reader_n_blocks(const struct ts_sbt_reader *reader)
{
	return reader->n_blocks;
}

const struct ts_sbt_block *ts_sbt_reader_block(const struct ts_sbt_reader *reader, size_t i)
{
	return i < reader->n_blocks ? &reader->blocks[i] : NULL;
}

void ts_sbt_reader_watch(struct ts_sbt_reader *reader, ts_sbt_rows_fn on_rows, void *data)
{
	reader->on_rows = on_rows;
	reader->on_rows_data = data;
}

unsigned ts_sbt_reader_max_threads(const struct ts_sbt_reader *reader)
{
	return reader->max_threads ? reader->max_threads : ts_sbt_max_threads();
}

void ts_sbt_reader_limit_threads(struct ts_sbt_reader *reader, unsigned n_threads)
{
	reader->max_threads = n_threads;
}

static void count_lent(uint32_t n_rows, void *data)
{
	struct ts_sbt_reader *reader = data;

	reader->n_lent_rows += n_rows;
}

void ts_sbt_reader_lend(struct ts_sbt_reader *reader, unsigned n_threads)
{
	/* A caller may list one reader twice. */
	if (reader->on_rows == count_lent)
		return;
	reader->max_threads = n_threads;
	reader->lent_on_rows = reader->on_rows;
	reader->lent_data = reader->on_rows_data;
	reader->n_lent_rows = 0;
	ts_sbt_reader_watch(reader, count_lent, reader);
}

void ts_sbt_reader_lend_end(struct ts_sbt_reader *reader)
{
	uint64_t n_left = reader->n_lent_rows;

	if (reader->on_rows != count_lent)
		return;
	reader->max_threads = 0;
	ts_sbt_reader_watch(reader, reader->lent_on_rows, reader->lent_data);
	while (reader->on_rows && n_left) {
		uint32_t n = n_left < UINT32_MAX ? (uint32_t)n_left : UINT32_MAX;

		reader->on_rows(n, reader->on_rows_data);
		n_left -= n;
	}
}

void ts_sbt_reader_rest(struct ts_sbt_reader *reader, void (*rest)(void *data), void *data)
{
	reader->rest = rest;
	reader->rest_data = data;
}

const volatile int *ts_sbt_reader_cancel(struct ts_sbt_reader *reader, const volatile int *flag)
{
	const volatile int *before = reader->cancel;

	reader->cancel = flag;
	return before;
}
