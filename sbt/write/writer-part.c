/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continues a recording in another file; the daemon calls ts_sbt_writer_continue(). The blocks of
 * definitions are copied as they are stored. So ids stay the same in all files of a recording, and
 * the writer keeps no definitions in memory.
 *
 * Order: commit pending data; write the new file's header, the definitions and the `part` row; take
 * the space; finish the old file; switch to the new one.
 */
#include <sys/uio.h>

#include "sbt/read/reader-internal.h"
#include "sbt/write/writer-internal.h"

/* The file that is being started. */
struct next {
	struct ts_sbt_writer *writer;
	int fd;
	uint64_t bytes;
	uint64_t n_blocks;
	struct ts_index index;
	struct ts_buffer block; /* encoded blocks, to be written next */
};

static int put_blocks(struct next *next)
{
	struct iovec iov = {.iov_base = next->block.bytes, .iov_len = next->block.n};
	struct ts_sbt_block_header header;
	struct ts_sbt_block block;
	int r = 0;

	ts_block_number(next->block.bytes, next->block.n, &next->n_blocks);
	for (size_t off = 0; !r && off < next->block.n; off += block.bytes) {
		memcpy(&header, next->block.bytes + off, sizeof(header));
		ts_block_describe(&header, next->bytes + off, &block);
		r = ts_index_add(&next->index, &block);
	}
	if (!r && next->block.n)
		r = ts_sbt_write_all(next->fd, &iov, 1);
	next->bytes += next->block.n;
	next->block.n = 0;
	return r;
}

static bool is_carried(unsigned type)
{
	return type >= TS_ROW_SESSION && type <= TS_ROW_STACK && type != TS_ROW_PART &&
	       !ts_row_is_event(type);
}

static int carry(void *data, const struct ts_sbt_block *block)
{
	struct next *next = data;
	uint8_t *at;
	int r;

	if (!is_carried(block->type))
		return 0;
	r = ts_buffer_reserve(&next->block, block->bytes, &at);
	r = r ?: ts_sbt_pread(next->writer->fd, at, block->bytes, block->off);
	if (r)
		return r < 0 ? r : -EIO;
	next->block.n += block->bytes;
	r = put_blocks(next);
	ts_index_fold(&next->index, &next->writer->encoder);
	return r;
}

static int put_part(struct ts_sbt_writer *writer, struct next *next, uint32_t number)
{
	struct ts_row_part row = {.part = writer->part + 1,
				  .before = number,
				  .carried = next->n_blocks};
	struct ts_builder *builder = NULL;
	int r = ts_builder_new(ts_row_schema(TS_ROW_PART), &builder);

	memcpy(row.recording, writer->recording, sizeof(row.recording));
	r = r ?: ts_builder_add(builder, &row);
	r = r ?: ts_builder_encode(builder, &writer->encoder, 0, &next->block);
	ts_builder_free(builder);
	return r ?: put_blocks(next);
}

static int begin(struct ts_sbt_writer *writer, struct next *next, uint32_t number)
{
	bool is_file;
	uint8_t uuid[16];
	int r = ts_sbt_check_new_file(next->fd, &is_file);

	if (!r && !(is_file && writer->is_file))
		r = -EINVAL;
	/* Definitions that are pending must be copied, too. */
	r = r ?: ts_sbt_writer_commit(writer, TS_COMMIT_ROWS, NULL, 0, NULL);
	r = r ?: ts_sbt_write_file_header(next->fd, uuid);
	next->bytes = TS_SBT_HEADER_BYTES;
	r = r ?: ts_index_each(&writer->index, carry, next);
	return r ?: put_part(writer, next, number);
}

/* Switches the writer to the new file. The old file is finished already. */
static void change_over(struct ts_sbt_writer *writer, struct next *next)
{
	close(writer->fd);
	writer->fd = next->fd;
	ts_index_deinit(&writer->index);
	writer->index = next->index;
	next->index = (struct ts_index){0};
	writer->n_blocks = next->n_blocks;
	writer->reserved_bytes = writer->end_metadata_bytes = 0;
	writer->taken = writer->settled = next->bytes;
	writer->no_reserve = writer->finished = false;
	writer->part++;
	__atomic_store_n(&writer->bytes, next->bytes, __ATOMIC_RELAXED);
}

int ts_sbt_writer_continue(struct ts_sbt_writer *writer, int fd, uint32_t number)
{
	struct next next = {.writer = writer, .fd = fd};
	int r;

	pthread_mutex_lock(&writer->mutex);
	r = begin(writer, &next, number);
	r = r ?: ts_sbt_writer_take_space(writer, next.bytes);
	if (!r) {
		r = ts_sbt_writer_end(writer);
		if (r)
			ts_sbt_writer_give_space(writer, next.bytes);
		else
			change_over(writer, &next);
	}
	pthread_mutex_unlock(&writer->mutex);
	ts_index_deinit(&next.index);
	ts_buffer_deinit(&next.block);
	return r;
}
