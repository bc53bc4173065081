/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the blocks of a file while it is written. writer.c adds an entry for each block and folds
 * the list after a commit; at the end it writes the folds, which are encoded index blocks.
 * writer-part.c reads the entries again when a recording continues in another file. repair.c and
 * append.c encode a whole index with ts_index_encode(). A file has up to 16 Mi blocks: their
 * entries take 1.2 GB unfolded, and a fifth or less folded.
 */

#include "sbt/write/index.h"

#include <zstd.h>

#include "sbt/crc32c.h"
#include "sbt/write/layout.h"

TS_STATIC_ASSERT(TS_INDEX_FOLD_BLOCKS <= TS_SBT_MAX_ROWS, "a fold is one block");

static const struct ts_index_fold *folds_of(const struct ts_index *index, size_t *ret_n)
{
	*ret_n = index->folds.n / sizeof(struct ts_index_fold);
	return (const void *)index->folds.bytes;
}

void ts_index_deinit(struct ts_index *index)
{
	size_t n;
	const struct ts_index_fold *folds = folds_of(index, &n);

	for (size_t i = 0; i < n; i++)
		free(folds[i].bytes);
	ts_buffer_deinit(&index->folds);
	ts_buffer_deinit(&index->open);
	*index = (struct ts_index){0};
}

int ts_index_add(struct ts_index *index, const struct ts_sbt_block *block)
{
	int r = ts_buffer_append(&index->open, block, sizeof(*block));

	index->n_blocks += !r;
	return r;
}

void ts_index_rewind(struct ts_index *index, uint64_t n_blocks)
{
	index->open.n -= (index->n_blocks - n_blocks) * sizeof(struct ts_sbt_block);
	index->n_blocks = n_blocks;
}

TS_DEFINE_CLEANUP(struct ts_builder *, builder_freep, ts_builder_free)

static int encode_entries(const struct ts_index *index, uint32_t n, struct ts_encoder *encoder,
			  struct ts_buffer *out)
{
	ts_cleanup(builder_freep) struct ts_builder *builder = NULL;
	uint32_t n_added;
	int r = ts_builder_new(&ts_sbt_index_schema, &builder);

	r = r ?: ts_builder_add_rows(builder, index->open.bytes, n, &n_added);
	return r ?: ts_builder_encode(builder, encoder, 0, out);
}

static int fold(struct ts_index *index, struct ts_encoder *encoder)
{
	const size_t n_taken = TS_INDEX_FOLD_BLOCKS * sizeof(struct ts_sbt_block);
	ts_cleanup(ts_buffer_deinit) struct ts_buffer block = {0};
	struct ts_index_fold fold = {0};
	bool is_short = encoder->is_short;
	int r;

	/* A fold is written as it is, so it is not short. */
	encoder->is_short = false;
	r = encode_entries(index, TS_INDEX_FOLD_BLOCKS, encoder, &block);
	encoder->is_short = is_short;
	if (r)
		return r;
	fold.n_bytes = block.n;
	fold.bytes = malloc(fold.n_bytes);
	if (!fold.bytes)
		return -ENOMEM;
	memcpy(fold.bytes, block.bytes, fold.n_bytes);
	r = ts_buffer_append(&index->folds, &fold, sizeof(fold));
	if (r) {
		free(fold.bytes);
		return r;
	}
	index->fold_bytes += fold.n_bytes;
	index->open.n -= n_taken;
	memmove(index->open.bytes, index->open.bytes + n_taken, index->open.n);
	return 0;
}

void ts_index_fold(struct ts_index *index, struct ts_encoder *encoder)
{
	int r = 0;

	while (!r && index->open.n >= TS_INDEX_FOLD_BLOCKS * sizeof(struct ts_sbt_block))
		r = fold(index, encoder);
}

/* Decodes a fold. This process encoded the fold, so decoding fails only without memory. */
static int unfold(const struct ts_index_fold *fold, ZSTD_DCtx *zstd, struct ts_sbt_block *entries)
{
	ts_cleanup(ts_freep) struct ts_block_columns *columns = NULL;
	ts_cleanup(ts_freep) uint8_t *raw = NULL;
	struct ts_sbt_block_header header;
	struct ts_block_decoder decoder;
	struct ts_block_why why;
	const char *text;
	int r;

	memcpy(&header, fold->bytes, sizeof(header));
	r = ts_block_payload(zstd, &header, false, fold->bytes + sizeof(header), &raw, &text);
	r = r ?: ts_block_columns_new(&ts_sbt_index_schema, &header, raw, &columns, &why);
	if (r)
		return r < 0 ? r : -EIO;
	ts_block_decoder_init(&decoder, &ts_sbt_index_schema, &header);
	return ts_block_decoder_next(&decoder, columns, entries, header.n_rows) ? -EIO : 0;
}

static int each_of(const struct ts_sbt_block *entries, size_t n,
		   int (*look)(void *data, const struct ts_sbt_block *block), void *data)
{
	int r = 0;

	for (size_t i = 0; !r && i < n; i++)
		r = look(data, &entries[i]);
	return r;
}

int ts_index_each(const struct ts_index *index,
		  int (*look)(void *data, const struct ts_sbt_block *block), void *data)
{
	ts_cleanup(ts_freep) struct ts_sbt_block *entries = NULL;
	size_t n;
	const struct ts_index_fold *folds = folds_of(index, &n);
	ZSTD_DCtx *zstd = n ? ZSTD_createDCtx() : NULL;
	int r = 0;

	if (n)
		entries = malloc(TS_INDEX_FOLD_BLOCKS * sizeof(*entries));
	if (n && !(zstd && entries))
		r = -ENOMEM;
	for (size_t i = 0; !r && i < n; i++) {
		r = unfold(&folds[i], zstd, entries);
		r = r ?: each_of(entries, TS_INDEX_FOLD_BLOCKS, look, data);
	}
	ZSTD_freeDCtx(zstd);
	return r
		       ?: each_of((const void *)index->open.bytes, index->open.n / sizeof(*entries),
				  look, data);
}

/*
 * Encodes the rows of `n` entries, which are all of a file. The reader of a short index finds all
 * facts but the bytes in the blocks' headers.
 */
static int encode_short(const struct ts_sbt_block *entries, size_t n, struct ts_encoder *encoder,
			struct ts_buffer *out)
{
	ts_cleanup(builder_freep) struct ts_builder *builder = NULL;
	int r = ts_builder_new(&ts_sbt_index_schema, &builder);

	for (size_t i = 0; !r && i < n; i++) {
		const struct ts_sbt_block entry = {.bytes = entries[i].bytes};

		r = ts_builder_add(builder, &entry);
	}
	return r ?: ts_builder_encode(builder, encoder, 0, out);
}

/* Numbers encoded index blocks and appends them to `out` as they lie in the file. */
static int lay_out(struct ts_buffer *blocks, uint64_t *sequence, struct ts_buffer *out)
{
	struct ts_layout layout = {0};
	uint64_t off = 0;
	int r = ts_layout_add(&layout, blocks->bytes, blocks->n, &off, sequence, NULL, NULL);

	r = r ?: ts_layout_append(&layout, out);
	ts_layout_deinit(&layout);
	return r;
}

int ts_index_end(struct ts_index *index, struct ts_encoder *encoder, uint64_t index_off,
		 struct ts_buffer *out)
{
	ts_cleanup(ts_buffer_deinit) struct ts_buffer blocks = {0};
	uint64_t sequence = index->n_blocks, n_bytes;
	struct ts_sbt_end_marker marker;
	size_t before = out->n, n;
	const struct ts_index_fold *folds;
	int r;

	ts_index_fold(index, encoder);
	folds = folds_of(index, &n);
	if (index->open.n >= TS_INDEX_FOLD_BLOCKS * sizeof(struct ts_sbt_block))
		return -ENOMEM;
	if (encoder->is_short && index->n_blocks <= TS_INDEX_MAX_SHORT)
		r = encode_short((const void *)index->open.bytes, index->n_blocks, encoder,
				 &blocks);
	else
		r = encode_entries(index, (uint32_t)(index->open.n / sizeof(struct ts_sbt_block)),
				   encoder, &blocks);
	if (r)
		return r;
	for (size_t i = 0; i < n; i++)
		ts_block_number(folds[i].bytes, folds[i].n_bytes, &sequence);
	r = lay_out(&blocks, &sequence, out);
	if (r) {
		out->n = before;
		return r;
	}
	n_bytes = index->fold_bytes + out->n - before;
	ts_end_marker_fill(&marker, index_off, n_bytes, index->n_blocks);
	r = ts_buffer_append(out, &marker, sizeof(marker));
	if (r)
		out->n = before;
	return r;
}

uint64_t ts_index_memory(const struct ts_index *index)
{
	return index->open.capacity + index->folds.capacity + index->fold_bytes;
}

void ts_end_marker_fill(struct ts_sbt_end_marker *marker, uint64_t index_off, uint64_t index_bytes,
			uint64_t n_blocks)
{
	*marker = (struct ts_sbt_end_marker){
		.index_off = index_off,
		.index_bytes = index_bytes,
		.file_bytes = index_off + index_bytes + sizeof(*marker),
		.n_blocks = n_blocks,
	};
	memcpy(marker->magic, TS_SBT_END_MAGIC, sizeof(marker->magic));
	marker->checksum = ts_crc32c(marker, offsetof(struct ts_sbt_end_marker, checksum));
}

int ts_index_encode(const struct ts_sbt_block *blocks, size_t n_blocks, uint64_t index_off,
		    bool is_short, struct ts_buffer *out)
{
	ts_cleanup(builder_freep) struct ts_builder *builder = NULL;
	ts_cleanup(ts_encoder_deinit) struct ts_encoder encoder = {.is_short = is_short};
	ts_cleanup(ts_buffer_deinit) struct ts_buffer encoded = {0};
	struct ts_sbt_end_marker marker;
	uint64_t sequence = n_blocks;
	size_t before = out->n;
	int r;

	r = ts_builder_new(&ts_sbt_index_schema, &builder);
	if (!r && is_short && n_blocks <= TS_INDEX_MAX_SHORT) {
		r = encode_short(blocks, n_blocks, &encoder, &encoded);
		n_blocks = 0;
	}
	for (size_t i = 0; !r && i < n_blocks; i++) {
		r = ts_builder_add(builder, &blocks[i]);
		if (!r && ts_builder_rows(builder) == TS_SBT_MAX_ROWS)
			r = ts_builder_encode(builder, &encoder, 0, &encoded);
	}
	r = r ?: ts_builder_encode(builder, &encoder, 0, &encoded);
	n_blocks = sequence;
	r = r ?: lay_out(&encoded, &sequence, out);
	if (r)
		return r;
	ts_end_marker_fill(&marker, index_off, out->n - before, n_blocks);
	return ts_buffer_append(out, &marker, sizeof(marker));
}
