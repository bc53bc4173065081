/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reopens a finished file and adds definitions. Symbols (daemon/symbol/command.c) and state
 * checkpoints (`tsctl index`, replay/state/checkpoint) are added with it. Blocks are encoded as in
 * a writer, with two differences. The numbers of blocks and strings continue where the file ends,
 * and the new index lists the old blocks and the new ones.
 *
 * ts_sbt_append_new() locks and reads the file; the add functions gather encoded blocks in memory;
 * ts_sbt_append_commit() writes them over the old index.
 */
#include "sbt/append.h"

#include <fcntl.h>
#include <sys/random.h>

#include "sbt/intern.h"
#include "sbt/read/reader-internal.h"
#include "sbt/rewrite/in-place.h"
#include "sbt/write/writer-internal.h"

#define STRING_BLOCK_BYTES (1024u * 1024)
/*
 * A block of items ends before it exceeds this size, because reading one item decompresses the
 * whole block.
 */
#define ITEM_BLOCK_BYTES (64u * 1024)

/* Items of one type that are not encoded. */
struct items {
	struct ts_buffer lengths, bytes;
	uint64_t first_ns, last_ns;
};

enum {
	ITEMS_STATE,
	ITEMS_STATE_HEAD,
	N_ITEMS
};

struct ts_sbt_append {
	int fd; /* the caller's */
	bool locked, committed;
	struct ts_sbt_reader *reader;
	uint64_t file_bytes;
	/*
	 * Index entries (struct ts_sbt_block) of this file's blocks before the index. The
	 * reader may be joined with other files later, and then lists more blocks.
	 */
	struct ts_buffer kept;
	size_t n_kept;
	uint64_t end;	      /* of the last kept block */
	uint32_t last_string; /* highest string id in the file */
	struct ts_intern strings;
	struct ts_buffer lengths, bytes; /* of strings not encoded */
	uint32_t first_pending;
	struct ts_builder *images, *symbols;
	struct ts_encoder encoder;
	struct ts_buffer string_blocks, image_blocks, symbol_blocks, item_blocks;
	struct items items[N_ITEMS];
};

/* Finds the end of the blocks before the index, and the highest string id. */
static int look_at_blocks(struct ts_sbt_append *append)
{
	const struct ts_sbt_reader *reader = append->reader;

	append->file_bytes = reader->file_bytes;
	append->end = TS_SBT_HEADER_BYTES;
	for (size_t i = 0; i < reader->n_blocks && reader->blocks[i].type != TS_ROW_INDEX; i++) {
		const struct ts_sbt_block *block = &reader->blocks[i];

		append->n_kept = i + 1;
		append->end = block->off + block->bytes;
		if (block->type == TS_ROW_STRING &&
		    block->first_id + block->n_rows - 1 > append->last_string)
			append->last_string = block->first_id + block->n_rows - 1;
	}
	return ts_buffer_append(&append->kept, reader->blocks,
				append->n_kept * sizeof(*reader->blocks));
}

int ts_sbt_append_new(int fd, struct ts_sbt_append **ret_append, struct ts_sbt_error *ret_error)
{
	ts_cleanup(ts_sbt_append_freep) struct ts_sbt_append *append = NULL;
	uint64_t seed = 0;
	int r;

	append = calloc(1, sizeof(*append));
	if (!append)
		return ts_in_place_fail(ret_error, -ENOMEM, 0, strerror(ENOMEM));
	append->fd = fd;
	r = ts_in_place_lock(fd, ret_error);
	if (r)
		return r;
	append->locked = true;
	r = ts_sbt_reader_open(fd, &append->reader, ret_error);
	if (r)
		return r;
	if (append->reader->state != TS_SBT_FINISHED || !append->reader->has_index)
		return ts_in_place_fail(ret_error, TS_SBT_E_CORRUPT, append->reader->whole_bytes,
					"its end is missing; `tsctl repair` writes it");
	r = look_at_blocks(append);
	append->first_pending = append->last_string + 1;
	if (getrandom(&seed, sizeof(seed), 0) < 0)
		seed = (uintptr_t)append;
	ts_intern_init(&append->strings, seed);
	append->encoder.is_short = append->reader->is_short;
	/* The header of the file must name each feature of the new blocks. */
	append->encoder.is_thorough =
		append->reader->has_tables && append->file_bytes < TS_SBT_SMALL_FILE_BYTES;
	r = r ?: ts_builder_new(ts_row_schema(TS_ROW_IMAGE), &append->images);
	r = r ?: ts_builder_new(ts_row_schema(TS_ROW_SYMBOL), &append->symbols);
	if (r)
		return ts_in_place_fail(ret_error, r, 0, strerror(-r));
	*ret_append = ts_take_ptr(append);
	return 0;
}

void ts_sbt_append_free(struct ts_sbt_append *append)
{
	if (!append)
		return;
	if (append->locked)
		ts_in_place_unlock(append->fd);
	ts_sbt_reader_free(append->reader);
	ts_buffer_deinit(&append->kept);
	ts_intern_deinit(&append->strings);
	ts_buffer_deinit(&append->lengths);
	ts_buffer_deinit(&append->bytes);
	ts_builder_free(append->images);
	ts_builder_free(append->symbols);
	ts_encoder_deinit(&append->encoder);
	ts_buffer_deinit(&append->string_blocks);
	ts_buffer_deinit(&append->image_blocks);
	ts_buffer_deinit(&append->symbol_blocks);
	ts_buffer_deinit(&append->item_blocks);
	for (int i = 0; i < N_ITEMS; i++) {
		ts_buffer_deinit(&append->items[i].lengths);
		ts_buffer_deinit(&append->items[i].bytes);
	}
	free(append);
}

struct ts_sbt_reader *ts_sbt_append_reader(struct ts_sbt_append *append)
{
	return append->reader;
}

static int encode_strings(struct ts_sbt_append *append)
{
	struct ts_sbt_block_header header = {.type = TS_ROW_STRING,
					     .first_id = append->first_pending};
	uint32_t n = (uint32_t)(append->lengths.n / sizeof(uint32_t));
	int r = ts_encoder_list(&append->encoder, &header, &append->lengths, &append->bytes,
				&append->string_blocks);

	append->first_pending += r ? 0 : n;
	return r;
}

static bool is_full(const struct ts_sbt_append *append)
{
	return append->string_blocks.n + append->symbol_blocks.n + append->image_blocks.n +
		       append->item_blocks.n >
	       TS_SBT_APPEND_MAX_BYTES;
}

int ts_sbt_append_string(struct ts_sbt_append *append, const char *bytes, size_t n_bytes,
			 uint32_t *ret_id)
{
	uint32_t n = (uint32_t)n_bytes, id;
	bool is_new;
	int r = 0;

	if (n_bytes > STRING_BLOCK_BYTES)
		return -E2BIG;
	if (append->bytes.n >= STRING_BLOCK_BYTES ||
	    append->lengths.n == TS_SBT_MAX_ROWS * sizeof(uint32_t))
		r = encode_strings(append);
	if (!r && is_full(append))
		r = -EFBIG;
	r = r ?: ts_intern(&append->strings, bytes, n, &id, &is_new);
	if (r)
		return r;
	if (__builtin_add_overflow(append->last_string, id, ret_id))
		return -EOVERFLOW;
	if (!is_new)
		return 0;
	r = ts_buffer_append(&append->bytes, bytes, n);
	if (!r) {
		r = ts_buffer_append(&append->lengths, &n, sizeof(n));
		if (r)
			append->bytes.n -= n;
	}
	if (r)
		ts_intern_undo(&append->strings);
	return r;
}

int ts_sbt_append_row(struct ts_sbt_append *append, unsigned type, const void *row)
{
	struct ts_builder *builder = type == TS_ROW_IMAGE    ? append->images
				     : type == TS_ROW_SYMBOL ? append->symbols
							     : NULL;
	struct ts_buffer *blocks =
		type == TS_ROW_IMAGE ? &append->image_blocks : &append->symbol_blocks;
	int r = 0;

	if (!builder)
		return -EINVAL;
	if (is_full(append))
		return -EFBIG;
	if (ts_builder_rows(builder) == TS_SBT_MAX_ROWS)
		r = ts_builder_encode(builder, &append->encoder, 0, blocks);
	return r ?: ts_builder_add(builder, row);
}

static int encode_items(struct ts_sbt_append *append, unsigned kind)
{
	struct items *items = &append->items[kind];
	struct ts_sbt_block_header header = {.type = TS_ROW_STATE + kind,
					     .earliest_ns = items->first_ns,
					     .latest_ns = items->last_ns};

	return ts_encoder_list(&append->encoder, &header, &items->lengths, &items->bytes,
			       &append->item_blocks);
}

int ts_sbt_append_item(struct ts_sbt_append *append, unsigned type, uint64_t time_ns,
		       const void *bytes, size_t n_bytes)
{
	unsigned kind = type - TS_ROW_STATE;
	uint32_t n = (uint32_t)n_bytes;
	struct items *items;
	int r = 0;

	if (kind >= N_ITEMS)
		return -EINVAL;
	if (n_bytes > TS_SBT_APPEND_MAX_ITEM)
		return -E2BIG;
	if (is_full(append))
		return -EFBIG;
	items = &append->items[kind];
	if (items->bytes.n && items->bytes.n + n > ITEM_BLOCK_BYTES)
		r = encode_items(append, kind);
	if (!r && !items->lengths.n)
		items->first_ns = time_ns;
	items->last_ns = time_ns;
	r = r ?: ts_buffer_append(&items->lengths, &n, sizeof(n));
	return r ?: ts_buffer_append(&items->bytes, bytes, n);
}

static int list_block(void *data, const struct ts_sbt_block *block)
{
	return ts_buffer_append(data, block, sizeof(*block));
}

/*
 * Encodes everything that was added, in file order: strings first, because rows refer to them.
 * Numbers the blocks and appends the index.
 */
static int put_together(struct ts_sbt_append *append, struct ts_buffer *new)
{
	struct ts_buffer *parts[] = {&append->string_blocks, &append->image_blocks,
				     &append->symbol_blocks, &append->item_blocks};
	uint64_t sequence = append->n_kept, off = append->end;
	ts_cleanup(ts_buffer_deinit) struct ts_buffer index = {0};
	ts_cleanup(ts_layout_deinit) struct ts_layout layout = {0};
	size_t n_entries;
	int r = encode_strings(append);

	r = r ?: ts_builder_encode(append->images, &append->encoder, 0, &append->image_blocks);
	r = r ?: ts_builder_encode(append->symbols, &append->encoder, 0, &append->symbol_blocks);
	for (unsigned kind = 0; !r && kind < N_ITEMS; kind++)
		r = encode_items(append, kind);
	r = r ?: ts_buffer_append(&index, append->kept.bytes, append->kept.n);
	for (size_t i = 0; !r && i < TS_ARRAY_LEN(parts); i++)
		r = ts_layout_add(&layout, parts[i]->bytes, parts[i]->n, &off, &sequence,
				  list_block, &index);
	if (r || off == append->end)
		return r;
	r = ts_layout_append(&layout, new);
	n_entries = index.n / sizeof(*append->reader->blocks);
	if (!r && n_entries > TS_SBT_MAX_BLOCKS)
		r = -EFBIG;
	return r
		       ?: ts_index_encode((const void *)index.bytes, n_entries, off,
					  append->encoder.is_short, new);
}

int ts_sbt_append_commit(struct ts_sbt_append *append, struct ts_sbt_error *ret_error)
{
	struct ts_buffer new = {0};
	int r = append->committed ? -EINVAL : put_together(append, &new);

	append->committed = true;
	/*
	 * If the file system cannot preallocate (-EOPNOTSUPP, -EINVAL), the write may still
	 * succeed.
	 */
	if (!r && new.n) {
		r = -posix_fallocate(append->fd, (off_t)append->end, (off_t) new.n);
		r = r == -EOPNOTSUPP || r == -EINVAL ? 0 : r;
		/* Removes what posix_fallocate() added to the file's size. */
		if (r && ftruncate(append->fd, (off_t)append->file_bytes) < 0)
			r = -errno;
	}
	if (!r && new.n) {
		r = ts_sbt_write_at(append->fd, new.bytes, new.n, append->end);
		if (!r && ftruncate(append->fd, (off_t)(append->end + new.n)) < 0)
			r = -errno;
	}
	ts_buffer_deinit(&new);
	return r ? ts_in_place_fail(ret_error, r, append->end, strerror(-r)) : 0;
}
