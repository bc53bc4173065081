/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reserves space behind the written blocks, so that a file on a full disk, or at its limit, still
 * gets its end. Before each write, the writer reserves as much space as the file's end may need
 * after this write. If the space is not available, nothing is written, and the end uses the space
 * that was reserved before. The space that the end does not need is given back when the file is
 * finished. writer.c and writer-part.c call this module.
 *
 * If the file system cannot reserve space, the write itself fails on a full disk. The writer then
 * cuts the partly written block off, and its space is enough for the end. Space that was not
 * reserved is settled when it is written. Until then the file system counts it as free, and another
 * file must not take it.
 */

#include <fcntl.h>
#include <sys/resource.h>

#include "sbt/write/writer-internal.h"

/*
 * Space is reserved in steps of an eighth of the file, within these limits, so that reserving is
 * rare.
 */
#define MIN_STEP_BYTES (256u * 1024)
#define MAX_STEP_BYTES (16u * 1024 * 1024)
/* File systems reserve whole blocks of this size, or of a fraction of it. */
#define BLOCK_BYTES 4096u
/*
 * Space that is reserved for an end. End of a session: its row, losses by thread and reason, a
 * checkpoint. End of the file: headers, metadata, the end marker.
 */
#define SESSION_END_BYTES (8u * 1024)
#define FILE_END_BYTES	  (4u * 1024)

static uint64_t builder_bytes(const struct ts_builder *builder)
{
	return builder ? ts_builder_bytes(builder) : 0;
}

/*
 * Returns an upper bound of the size of the file's end: the pending data of the file itself, its
 * index and its end marker. Uncompressed rows take up to 10 bytes a column, hence the factors.
 */
static uint64_t end_bytes(const struct ts_sbt_writer *writer)
{
	return FILE_END_BYTES - writer->end_metadata_bytes + ts_index_most_bytes(&writer->index) +
	       writer->ready.n + 3 * ts_summaries_bytes(&writer->summaries) +
	       2 * (writer->string_bytes.n + writer->string_lengths.n +
		    builder_bytes(writer->metadata) + builder_bytes(writer->images) +
		    builder_bytes(writer->symbols));
}

static uint64_t limit_bytes(const struct ts_sbt_writer *writer)
{
	uint64_t limit = writer->max_bytes ? writer->max_bytes : UINT64_MAX;
	struct rlimit of_process;

	if (!getrlimit(RLIMIT_FSIZE, &of_process) && of_process.rlim_cur != RLIM_INFINITY &&
	    of_process.rlim_cur < limit)
		limit = of_process.rlim_cur;
	return limit;
}

static int take(struct ts_sbt_writer *writer, uint64_t n_bytes)
{
	return n_bytes && writer->space.take ? writer->space.take(writer->space.data, n_bytes) : 0;
}

static void settle(struct ts_sbt_writer *writer, uint64_t n_bytes)
{
	if (n_bytes && writer->space.take)
		writer->space.settle(writer->space.data, n_bytes);
}

static void settle_to(struct ts_sbt_writer *writer, uint64_t to)
{
	if (to <= writer->settled)
		return;
	settle(writer, to - writer->settled);
	writer->settled = to;
}

void ts_sbt_writer_give_space(struct ts_sbt_writer *writer, uint64_t n_bytes)
{
	if (n_bytes && writer->space.take)
		writer->space.give(writer->space.data, n_bytes);
}

int ts_sbt_writer_take_space(struct ts_sbt_writer *writer, uint64_t n_bytes)
{
	int r = take(writer, n_bytes);

	if (!r)
		settle(writer, n_bytes);
	return r;
}

/*
 * Reserves space. If the file system cannot reserve space, it does not count as full, because later
 * writes show whether there is space. *ret_is_reserved is false then.
 */
static int allocate(struct ts_sbt_writer *writer, uint64_t to, bool *ret_is_reserved)
{
	int r;

	*ret_is_reserved = false;
	if (writer->no_reserve)
		return 0;
	do
		r = fallocate(writer->fd, FALLOC_FL_KEEP_SIZE, (off_t)writer->reserved_bytes,
			      (off_t)(to - writer->reserved_bytes));
	while (r < 0 && errno == EINTR);
	*ret_is_reserved = !r;
	if (!r)
		return 0;
	if (ts_sbt_is_full(-errno))
		return -errno;
	/* Without memory, tmpfs fails for a while. */
	writer->no_reserve = errno != ENOMEM;
	return 0;
}

static int set_aside(struct ts_sbt_writer *writer, uint64_t to)
{
	uint64_t n_bytes = to > writer->taken ? to - writer->taken : 0;
	bool is_reserved;
	int r = take(writer, n_bytes);

	if (r)
		return r;
	r = allocate(writer, to, &is_reserved);
	if (r) {
		settle(writer, n_bytes);
		ts_sbt_writer_give_space(writer, n_bytes);
		return r;
	}
	/* If an earlier part was not reserved, all of the space behind it waits to be written. */
	is_reserved = is_reserved && writer->settled == writer->taken;
	writer->taken += n_bytes;
	if (is_reserved)
		settle_to(writer, writer->taken);
	writer->reserved_bytes = to;
	return 0;
}

/*
 * Rounds n_bytes up to a whole block, so that the file system reserves no more than the writer
 * counts. Returns n_bytes if the limit is nearer.
 */
static uint64_t whole_blocks(uint64_t n_bytes, uint64_t limit)
{
	uint64_t part = n_bytes % BLOCK_BYTES, rest = part ? BLOCK_BYTES - part : 0;

	return limit - n_bytes < rest ? n_bytes : n_bytes + rest;
}

int ts_sbt_writer_reserve(struct ts_sbt_writer *writer, uint64_t n_bytes, enum ts_commit_kind kind)
{
	uint64_t need = writer->bytes + n_bytes, limit, step;

	if (!writer->is_file)
		return 0;
	if (kind != TS_COMMIT_FINISH)
		need += end_bytes(writer);
	if (kind == TS_COMMIT_ROWS)
		need += (uint64_t)writer->n_open * SESSION_END_BYTES;
	/* Reserved space is always within the limit. */
	if (need <= writer->reserved_bytes)
		return 0;
	limit = limit_bytes(writer);
	if (need > limit)
		return -EFBIG;
	if (writer->reserved_bytes < writer->bytes)
		writer->reserved_bytes = writer->bytes;
	step = writer->bytes / 8;
	step = step < MIN_STEP_BYTES   ? MIN_STEP_BYTES
	       : step > MAX_STEP_BYTES ? MAX_STEP_BYTES
				       : step;
	if (limit - need > step && !set_aside(writer, whole_blocks(need + step, limit)))
		return 0;
	return set_aside(writer, whole_blocks(need, limit));
}

void ts_sbt_writer_settle(struct ts_sbt_writer *writer)
{
	uint64_t to = whole_blocks(writer->bytes, UINT64_MAX);

	settle_to(writer, to < writer->taken ? to : writer->taken);
}

void ts_sbt_writer_unreserve(struct ts_sbt_writer *writer)
{
	if (!writer->is_file)
		return;
	if (writer->reserved_bytes > writer->bytes &&
	    ftruncate(writer->fd, (off_t)writer->bytes) < 0) {
		/* The space stays allocated beyond the file's end, where no reader sees it. */
		return;
	}
	writer->reserved_bytes = 0;
	settle_to(writer, writer->taken);
	if (writer->taken > writer->bytes) {
		ts_sbt_writer_give_space(writer, writer->taken - writer->bytes);
		writer->taken = writer->settled = writer->bytes;
	}
}

int ts_sbt_writer_space(struct ts_sbt_writer *writer, const struct ts_sbt_space *space)
{
	uint64_t need, limit;
	int r = 0;

	pthread_mutex_lock(&writer->mutex);
	writer->space = *space;
	writer->taken = writer->settled = 0;
	writer->reserved_bytes = 0;
	need = writer->bytes + end_bytes(writer) + SESSION_END_BYTES;
	limit = limit_bytes(writer);
	if (writer->is_file && need <= limit)
		r = set_aside(writer, whole_blocks(need, limit));
	if (r)
		writer->space = (struct ts_sbt_space){0};
	pthread_mutex_unlock(&writer->mutex);
	return r;
}
