/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Continues a recording in another file; the daemon calls ts_sbt_writer_continue(). The blocks of
 * definitions are copied as they are stored. So ids stay the same in all files of a recording, and
 * the writer keeps no definitions in memory.
 *
 * Order: commit pending data; write the new file's header, the definitions and the `part` row; take
 * the space; finish the old file; switch to the new one.
 */
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

static int list_block(void *data, const struct ts_sbt_block *block)
{
	struct next *next = data;

	return ts_index_add(&next->index, block);
}

static int put_blocks(struct next *next)
{
	struct ts_layout *layout = &next->writer->layout;
	int r = ts_layout_add(layout, next->block.bytes, next->block.n, &next->bytes,
			      &next->n_blocks, list_block, next);

	r = r ?: ts_layout_write(layout, next->fd);
	ts_layout_clear(layout);
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
	ts_cleanup(ts_freep) uint8_t *stored = NULL;
	struct ts_sbt_block_header header;
	struct next *next = data;
	const char *why;
	uint64_t n_held;
	uint8_t *at;
	int r;

	if (!is_carried(block->type))
		return 0;
	r = ts_sbt_read_header(next->writer->fd, block->off, block->off + block->bytes, &header,
			       &why);
	r = r ?: ts_sbt_read_stored(next->writer->fd, &header, block->off, &stored);
	n_held = ts_block_held_bytes(&header);
	r = r ?: ts_buffer_reserve(&next->block, n_held, &at);
	if (r)
		return r < 0 ? r : -EIO;
	memset(at, 0, n_held);
	memcpy(at, &header, sizeof(header));
	memcpy(at + sizeof(header), stored, header.stored_bytes);
	next->block.n += n_held;
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
	r = r ?: ts_sbt_write_file_header(next->fd, writer->is_short, uuid);
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
