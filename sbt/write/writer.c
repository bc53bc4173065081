/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer of a file: header, strings, metadata, index and end marker. After the file header, all
 * writes to the file go through ts_sbt_writer_commit() and ts_sbt_writer_end(). Session writers
 * (writer-session.c), the daemon, rewrite/ and programs with libtracesmith call this module.
 *
 * Blocks arrive encoded, so the mutex is held for a write and little else. Strings are encoded
 * under the mutex, and always before the blocks that may refer to them.
 *
 * A commit: encode the pending data of the file, list the new blocks in the index, reserve space
 * (writer-reserve.c), write everything with one writev(). If a step fails, the list is rewound and
 * nothing counts as written.
 */

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "proto/abi/clock.h"
#include "sbt/crc32c.h"
#include "sbt/write/writer-internal.h"

/*
 * A block of strings ends at STRING_BLOCK_BYTES. Encoded blocks are written at the latest when they
 * have MAX_READY_BYTES.
 */
#define STRING_BLOCK_BYTES (1024u * 1024)
#define MAX_READY_BYTES	   (4u * 1024 * 1024)
/* After a write, a larger buffer of encoded blocks is freed. */
#define KEPT_READY_BYTES (1u * 1024 * 1024)
#define MAX_PARTS	 4
/*
 * Pending summaries are encoded at this size. So a growing file has the summaries of all but its
 * last blocks.
 */
#define SUMMARY_BYTES (128u * 1024)

static int become_full(struct ts_sbt_writer *writer, int error)
{
	__atomic_store_n(&writer->full, error, __ATOMIC_RELAXED);
	return error;
}

/*
 * Cuts a partly written block off, if possible, and stores the error for all later writes.
 * Exception: if rows do not fit a full disk, the writer becomes full instead, and the file's end
 * may still fit.
 */
static int fail(struct ts_sbt_writer *writer, int error, enum ts_commit_kind kind)
{
	if (writer->is_file && ftruncate(writer->fd, (off_t)writer->bytes) < 0) {
		/* The partly written block stays. Readers ignore such a torn tail. */
	}
	/* The truncation also released the reserved space. */
	writer->reserved_bytes = 0;
	if (writer->is_file && kind == TS_COMMIT_ROWS && ts_sbt_is_full(error))
		return become_full(writer, error);
	__atomic_store_n(&writer->error, error, __ATOMIC_RELAXED);
	return error;
}

/* Adds a block to the index. */
static int list_block(void *data, const struct ts_sbt_block *block)
{
	struct ts_sbt_writer *writer = data;

	if (writer->index.n_blocks == TS_SBT_MAX_BLOCKS)
		return fail(writer, -EFBIG, TS_COMMIT_FINISH);
	return ts_index_add(&writer->index, block);
}

static int encode_strings(struct ts_sbt_writer *writer)
{
	struct ts_sbt_block_header header = {.type = TS_ROW_STRING,
					     .first_id = writer->first_pending_string};
	uint32_t n = (uint32_t)(writer->string_lengths.n / sizeof(uint32_t));
	int r = ts_encoder_list(&writer->encoder, &header, &writer->string_lengths,
				&writer->string_bytes, &writer->ready);

	writer->first_pending_string += r ? 0 : n;
	return r;
}

/* Appends the summaries of a session; `first` is the number of their first block in the file. */
static int take_summaries(struct ts_sbt_writer *writer, const struct ts_summaries *summaries,
			  uint64_t first)
{
	int r = 0;

	for (int kind = 0; !r && kind < TS_SUMMARY_KINDS; kind++) {
		struct ts_buffer *to = &writer->summaries.rows[kind];
		size_t row_bytes = ts_summary_schema(kind)->row_bytes, at = to->n;

		r = ts_buffer_append(to, summaries->rows[kind].bytes, summaries->rows[kind].n);
		for (; at < to->n; at += row_bytes) {
			uint64_t block = first + ts_summary_block_of(to->bytes + at);

			memcpy(to->bytes + at, &block, sizeof(block));
		}
	}
	return r;
}

/* Encodes the pending data of the file itself. */
static int encode_pending(struct ts_sbt_writer *writer)
{
	int r;

	writer->encoder.is_thorough = writer->bytes < TS_SBT_SMALL_FILE_BYTES;
	r = encode_strings(writer);
	r = r ?: ts_builder_encode(writer->metadata, &writer->encoder, 0, &writer->ready);
	if (!r && writer->images)
		r = ts_builder_encode(writer->images, &writer->encoder, 0, &writer->ready);
	if (!r && writer->symbols)
		r = ts_builder_encode(writer->symbols, &writer->encoder, 0, &writer->ready);
	if (!r && ts_summaries_bytes(&writer->summaries) >= SUMMARY_BYTES)
		r = ts_summaries_encode(&writer->summaries, &writer->encoder, &writer->ready);
	return r;
}

/* The state that a failed commit restores. */
struct listed {
	uint64_t n_blocks;
	struct ts_summaries_mark summaries;
};

static void unlist(struct ts_sbt_writer *writer, const struct listed *listed)
{
	ts_index_rewind(&writer->index, listed->n_blocks);
	ts_summaries_rewind(&writer->summaries, &listed->summaries);
}

int ts_sbt_writer_commit(struct ts_sbt_writer *writer, enum ts_commit_kind kind,
			 struct ts_buffer *const *parts, size_t n_parts,
			 struct ts_summaries *summaries)
{
	uint64_t bytes = writer->bytes, n_blocks = writer->n_blocks;
	struct ts_buffer *all[MAX_PARTS] = {&writer->ready};
	struct listed listed;
	int r;

	if (writer->error)
		return writer->error;
	if (writer->finished)
		return -EINVAL;
	if (writer->full && kind == TS_COMMIT_ROWS)
		return writer->full;
	assert(n_parts < MAX_PARTS);
	r = encode_pending(writer);
	listed.n_blocks = writer->index.n_blocks;
	ts_summaries_mark(&writer->summaries, &listed.summaries);
	for (size_t i = 0; i < n_parts; i++)
		all[i + 1] = parts[i];
	for (size_t i = 0; !r && i <= n_parts; i++) {
		if (summaries && i == n_parts)
			r = take_summaries(writer, summaries, n_blocks);
		r = r
			    ?: ts_layout_add(&writer->layout, all[i]->bytes, all[i]->n, &bytes,
					     &n_blocks, list_block, writer);
	}
	if (r) {
		ts_layout_clear(&writer->layout);
		unlist(writer, &listed);
		return r;
	}
	r = ts_sbt_writer_reserve(writer, bytes - writer->bytes, kind);
	if (r) {
		ts_layout_clear(&writer->layout);
		unlist(writer, &listed);
		return become_full(writer, r);
	}
	r = ts_layout_write(&writer->layout, writer->fd);
	ts_layout_clear(&writer->layout);
	if (r) {
		unlist(writer, &listed);
		return fail(writer, r, kind);
	}
	__atomic_store_n(&writer->bytes, bytes, __ATOMIC_RELAXED);
	ts_sbt_writer_settle(writer);
	writer->n_blocks = n_blocks;
	for (size_t i = 0; i <= n_parts; i++)
		all[i]->n = 0;
	if (summaries)
		ts_summaries_rewind(summaries, NULL);
	ts_index_fold(&writer->index, &writer->encoder);
	if (writer->ready.capacity > KEPT_READY_BYTES)
		ts_buffer_deinit(&writer->ready);
	return 0;
}

int ts_sbt_write_file_header(int fd, bool is_short, uint8_t ret_uuid[16])
{
	struct ts_sbt_file_header header = {
		.major = TS_SBT_MAJOR,
		.minor = is_short ? TS_SBT_MINOR : 0,
		.incompatible_flags = is_short ? TS_SBT_INCOMPATIBLE_KNOWN : 0,
		.n_bytes = sizeof(header),
		.created_realtime_ns = ts_clock_realtime_ns(),
	};
	struct iovec iov = {.iov_base = &header, .iov_len = sizeof(header)};

	memcpy(header.magic, TS_SBT_FILE_MAGIC, sizeof(header.magic));
	if (getrandom(header.uuid, sizeof(header.uuid), 0) != sizeof(header.uuid))
		return -errno;
	memcpy(ret_uuid, header.uuid, sizeof(header.uuid));
	header.checksum = ts_crc32c(&header, offsetof(struct ts_sbt_file_header, checksum));
	return ts_sbt_write_all(fd, &iov, 1);
}

int ts_sbt_check_new_file(int fd, bool *ret_is_file)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EINVAL;
	*ret_is_file = S_ISREG(st.st_mode);
	if (!*ret_is_file)
		return 0;
	if (st.st_size)
		return -EINVAL;
	/*
	 * On a file system without locks, readers cannot recognise a growing file. All else works.
	 */
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0 && (errno == EAGAIN || errno == EACCES))
		return -EAGAIN;
	return 0;
}

static int new_writer(int fd, bool is_short, struct ts_sbt_writer **ret_writer)
{
	ts_cleanup(ts_sbt_writer_freep) struct ts_sbt_writer *writer = NULL;
	uint64_t seed;
	int r;

	writer = calloc(1, sizeof(*writer));
	if (!writer)
		return -ENOMEM;
	writer->fd = fd;
	writer->is_short = writer->encoder.is_short = is_short;
	writer->first_pending_string = 1;
	pthread_mutex_init(&writer->mutex, NULL);
	r = ts_builder_new(ts_row_schema(TS_ROW_METADATA), &writer->metadata);
	if (!r)
		r = ts_sbt_check_new_file(fd, &writer->is_file);
	if (!r && getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		r = -errno;
	if (!r)
		r = ts_sbt_write_file_header(fd, is_short, writer->recording);
	if (r) {
		writer->fd = -1; /* the caller's again */
		return r;
	}
	writer->bytes = TS_SBT_HEADER_BYTES;
	writer->part = 1;
	ts_intern_init(&writer->strings, seed);
	*ret_writer = ts_take_ptr(writer);
	return 0;
}

int ts_sbt_writer_new(int fd, struct ts_sbt_writer **ret_writer)
{
	return new_writer(fd, true, ret_writer);
}

int ts_sbt_writer_new_plain(int fd, struct ts_sbt_writer **ret_writer)
{
	return new_writer(fd, false, ret_writer);
}

void ts_sbt_writer_free(struct ts_sbt_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0) {
		ts_sbt_writer_unreserve(writer);
		close(writer->fd);
	}
	pthread_mutex_destroy(&writer->mutex);
	ts_builder_free(writer->metadata);
	ts_builder_free(writer->images);
	ts_builder_free(writer->symbols);
	ts_intern_deinit(&writer->strings);
	ts_buffer_deinit(&writer->string_lengths);
	ts_buffer_deinit(&writer->string_bytes);
	ts_index_deinit(&writer->index);
	ts_summaries_deinit(&writer->summaries);
	ts_buffer_deinit(&writer->ready);
	ts_layout_deinit(&writer->layout);
	ts_encoder_deinit(&writer->encoder);
	free(writer);
}

/* Reserves space for n_bytes more of the file's end. */
static int reserve_end(struct ts_sbt_writer *writer, uint64_t n_bytes)
{
	int r = ts_sbt_writer_reserve(writer, n_bytes,
				      writer->full ? TS_COMMIT_LAST : TS_COMMIT_ROWS);

	return r ? become_full(writer, r) : 0;
}

/*
 * Reserves space for n_bytes of metadata. The space of the file's end includes some metadata, so
 * that a full file can still state why it is cut short.
 */
static int reserve_metadata(struct ts_sbt_writer *writer, uint64_t n_bytes)
{
	int r = reserve_end(writer, n_bytes);

	if (!writer->full || !ts_sbt_is_full(r) ||
	    n_bytes > TS_SBT_END_METADATA_BYTES - writer->end_metadata_bytes)
		return r;
	writer->end_metadata_bytes += n_bytes;
	return 0;
}

typedef int (*reserve_fn)(struct ts_sbt_writer *writer, uint64_t n_bytes);

static int add_string(struct ts_sbt_writer *writer, reserve_fn reserve, const char *bytes,
		      uint32_t n_bytes, uint32_t *ret_id)
{
	bool is_new;
	int r;

	if (writer->string_bytes.n >= STRING_BLOCK_BYTES ||
	    writer->string_lengths.n == TS_SBT_MAX_ROWS * sizeof(uint32_t)) {
		r = encode_strings(writer);
		if (r)
			return r;
		if (writer->ready.n >= MAX_READY_BYTES) {
			r = ts_sbt_writer_commit(writer, TS_COMMIT_ROWS, NULL, 0, NULL);
			if (r)
				return r;
		}
	}
	r = ts_intern(&writer->strings, bytes, n_bytes, ret_id, &is_new);
	if (r || !is_new)
		return r;
	/* Rows may refer to the string, so its space is reserved now. */
	r = reserve(writer, 2 * (uint64_t)n_bytes + sizeof(uint64_t));
	r = r ? r : ts_buffer_append(&writer->string_bytes, bytes, n_bytes);
	if (!r) {
		r = ts_buffer_append(&writer->string_lengths, &n_bytes, sizeof(n_bytes));
		if (r)
			writer->string_bytes.n -= n_bytes;
	}
	if (r)
		ts_intern_undo(&writer->strings);
	return r;
}

int ts_sbt_writer_string(struct ts_sbt_writer *writer, const char *bytes, size_t n_bytes,
			 uint32_t *ret_id)
{
	int r;

	if (n_bytes > TS_SBT_MAX_STRING)
		return -E2BIG;
	pthread_mutex_lock(&writer->mutex);
	r = add_string(writer, reserve_end, bytes, (uint32_t)n_bytes, ret_id);
	pthread_mutex_unlock(&writer->mutex);
	return r;
}

int ts_sbt_writer_metadata(struct ts_sbt_writer *writer, const char *key, const char *value)
{
	size_t n_key = strlen(key), n_value = strlen(value);
	struct ts_row_metadata row;
	int r;

	if (n_key > TS_SBT_MAX_STRING || n_value > TS_SBT_MAX_STRING)
		return -E2BIG;
	pthread_mutex_lock(&writer->mutex);
	r = add_string(writer, reserve_metadata, key, (uint32_t)n_key, &row.key);
	if (!r)
		r = add_string(writer, reserve_metadata, value, (uint32_t)n_value, &row.value);
	if (!r && ts_builder_rows(writer->metadata) == TS_SBT_MAX_ROWS)
		r = ts_sbt_writer_commit(writer, TS_COMMIT_ROWS, NULL, 0, NULL);
	r = r ?: reserve_metadata(writer, 2 * (uint64_t)sizeof(row));
	r = r ?: ts_builder_add(writer->metadata, &row);
	pthread_mutex_unlock(&writer->mutex);
	return r;
}

int ts_sbt_writer_row(struct ts_sbt_writer *writer, unsigned type, const void *row)
{
	struct ts_builder **builder = type == TS_ROW_IMAGE    ? &writer->images
				      : type == TS_ROW_SYMBOL ? &writer->symbols
							      : NULL;
	int r = 0;

	if (!builder)
		return -EINVAL;
	pthread_mutex_lock(&writer->mutex);
	if (!*builder)
		r = ts_builder_new(ts_row_schema(type), builder);
	if (!r && ts_builder_rows(*builder) == TS_SBT_MAX_ROWS)
		r = ts_sbt_writer_commit(writer, TS_COMMIT_ROWS, NULL, 0, NULL);
	r = r ?: reserve_end(writer, 2 * (uint64_t)(*builder)->schema->row_bytes);
	r = r ?: ts_builder_add(*builder, row);
	pthread_mutex_unlock(&writer->mutex);
	return r;
}

int ts_sbt_writer_flush(struct ts_sbt_writer *writer)
{
	int r;

	pthread_mutex_lock(&writer->mutex);
	r = ts_sbt_writer_commit(writer, TS_COMMIT_ROWS, NULL, 0, NULL);
	pthread_mutex_unlock(&writer->mutex);
	return r;
}

/* Writes the folds, then the last index block and the end marker from `ready`. */
static int write_index(struct ts_sbt_writer *writer)
{
	const struct ts_index_fold *folds = (const void *)writer->index.folds.bytes;
	struct iovec last = {.iov_base = writer->ready.bytes, .iov_len = writer->ready.n};
	int r = 0;

	for (size_t i = 0; !r && i < writer->index.folds.n / sizeof(*folds); i++) {
		struct iovec iov = {.iov_base = folds[i].bytes, .iov_len = folds[i].n_bytes};

		r = ts_sbt_write_all(writer->fd, &iov, 1);
	}
	return r ?: ts_sbt_write_all(writer->fd, &last, 1);
}

/*
 * Returns true if a reader decodes the whole file in no time. Such a file gets no summaries, which
 * would be a tenth of it. In a larger file, some may be written already.
 */
static bool is_small(const struct ts_sbt_writer *writer)
{
	return writer->is_short && writer->bytes + writer->ready.n < TS_SBT_SMALL_FILE_BYTES;
}

int ts_sbt_writer_end(struct ts_sbt_writer *writer)
{
	uint64_t n_bytes;
	int r = 0;

	if (!writer->error && !writer->finished && !is_small(writer))
		r = ts_summaries_encode(&writer->summaries, &writer->encoder, &writer->ready);
	r = r ?: ts_sbt_writer_commit(writer, TS_COMMIT_LAST, NULL, 0, NULL);

	r = r ?: ts_index_end(&writer->index, &writer->encoder, writer->bytes, &writer->ready);
	if (r) {
		writer->ready.n = 0;
		return r;
	}
	n_bytes = writer->index.fold_bytes + writer->ready.n;
	r = ts_sbt_writer_reserve(writer, n_bytes, TS_COMMIT_FINISH);
	r = r ?: write_index(writer);
	if (r)
		return fail(writer, r, TS_COMMIT_FINISH);
	__atomic_store_n(&writer->bytes, writer->bytes + n_bytes, __ATOMIC_RELAXED);
	writer->ready.n = 0;
	writer->finished = true;
	ts_sbt_writer_unreserve(writer);
	return 0;
}

int ts_sbt_writer_finish(struct ts_sbt_writer *writer)
{
	int r;

	pthread_mutex_lock(&writer->mutex);
	r = ts_sbt_writer_end(writer);
	pthread_mutex_unlock(&writer->mutex);
	return r;
}

uint64_t ts_sbt_writer_bytes(const struct ts_sbt_writer *writer)
{
	return __atomic_load_n(&writer->bytes, __ATOMIC_RELAXED);
}

uint64_t ts_sbt_writer_memory(struct ts_sbt_writer *writer)
{
	uint64_t n;

	pthread_mutex_lock(&writer->mutex);
	n = sizeof(*writer) + ts_index_memory(&writer->index) +
	    ts_summaries_memory(&writer->summaries) + ts_encoder_memory(&writer->encoder) +
	    writer->string_lengths.capacity + writer->string_bytes.capacity +
	    writer->ready.capacity + ts_layout_memory(&writer->layout) +
	    ts_builder_memory(writer->metadata);
	if (writer->images)
		n += ts_builder_memory(writer->images);
	if (writer->symbols)
		n += ts_builder_memory(writer->symbols);
	pthread_mutex_unlock(&writer->mutex);
	return n;
}

void ts_sbt_writer_trim(struct ts_sbt_writer *writer)
{
	pthread_mutex_lock(&writer->mutex);
	ts_summaries_trim(&writer->summaries);
	ts_encoder_deinit(&writer->encoder);
	ts_buffer_trim(&writer->string_lengths);
	ts_buffer_trim(&writer->string_bytes);
	ts_buffer_trim(&writer->ready);
	pthread_mutex_unlock(&writer->mutex);
}

int ts_sbt_writer_error(const struct ts_sbt_writer *writer)
{
	return __atomic_load_n(&writer->error, __ATOMIC_RELAXED);
}

int ts_sbt_writer_full(const struct ts_sbt_writer *writer)
{
	return __atomic_load_n(&writer->full, __ATOMIC_RELAXED);
}

int ts_sbt_writer_quantum(struct ts_sbt_writer *writer, uint64_t ns)
{
	char text[24];
	int r = 0;

	if (ns > TS_SBT_MAX_QUANTUM_NS)
		return -EINVAL;
	pthread_mutex_lock(&writer->mutex);
	if (writer->n_sessions)
		r = -EINVAL;
	else
		writer->quantum_ns = ns > 1 ? ns : 0;
	pthread_mutex_unlock(&writer->mutex);
	if (r || ns <= 1)
		return r;
	snprintf(text, sizeof(text), "%" PRIu64, ns);
	return ts_sbt_writer_metadata(writer, TS_METADATA_QUANTUM, text);
}

void ts_sbt_writer_limit(struct ts_sbt_writer *writer, uint64_t max_bytes)
{
	pthread_mutex_lock(&writer->mutex);
	writer->max_bytes = max_bytes;
	/* The next write reserves its space again, under the new limit. */
	writer->reserved_bytes = 0;
	pthread_mutex_unlock(&writer->mutex);
}
