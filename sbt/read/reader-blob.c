/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blobs: the payloads of a capture. A trace may hold gigabytes of them, so a block is decoded when
 * one of its blobs is requested. Before that, the least recently used blocks are freed while more
 * than HELD_BYTES are held. replay/exec and the reports request blobs.
 */

#include "sbt/read/reader-internal.h"

#define HELD_BYTES (64u * 1024 * 1024)

static uint64_t blob_key(const void *item)
{
	const struct ts_blob_block *blobs = item;

	return (uint64_t)blobs->session << 32 | blobs->first_id;
}

void ts_sbt_reader_init_blobs(struct ts_sbt_reader *reader)
{
	reader->blobs = (struct ts_table){.item_bytes = sizeof(struct ts_blob_block),
					  .keep_all = true,
					  .key = blob_key};
}

void ts_sbt_blobs_deinit(struct ts_blob_block *blobs)
{
	blobs->n_bytes = 0;
	free(ts_take_ptr(blobs->bytes));
	free(ts_take_ptr(blobs->hashes));
	free(ts_take_ptr(blobs->offsets));
	free(ts_take_ptr(blobs->flags));
}

static void give_up(struct ts_sbt_reader *reader, struct ts_blob_block *blobs)
{
	reader->blob_bytes -= blobs->n_bytes;
	ts_sbt_blobs_deinit(blobs);
}

void ts_sbt_reader_free_blobs(struct ts_sbt_reader *reader)
{
	struct ts_blob_block *blobs = (void *)reader->blobs.items;

	for (size_t i = 0; i < reader->blobs.n; i++)
		give_up(reader, &blobs[i]);
	free(ts_take_ptr(reader->blobs.items));
}

/* Frees blocks until at most HELD_BYTES are held. */
static void evict(struct ts_sbt_reader *reader)
{
	struct ts_blob_block *blobs = (void *)reader->blobs.items;

	while (reader->blob_bytes > HELD_BYTES) {
		struct ts_blob_block *oldest = NULL;

		for (size_t i = 0; i < reader->blobs.n; i++)
			if (blobs[i].offsets && (!oldest || blobs[i].used < oldest->used))
				oldest = &blobs[i];
		if (!oldest)
			return;
		give_up(reader, oldest);
	}
}

int ts_sbt_blobs_decode(struct ts_blob_block *blobs, const struct ts_sbt_block_header *header,
			const uint8_t *raw, const char **ret_why)
{
	ts_cleanup(ts_freep) uint32_t *lengths = NULL;
	ts_cleanup(ts_freep) uint32_t *flags = NULL;
	ts_cleanup(ts_freep) uint32_t *offsets = NULL;
	ts_cleanup(ts_freep) uint64_t *hashes = NULL;
	ts_cleanup(ts_freep) uint8_t *bytes = NULL;
	uint32_t n_lengths = 0, n_flags = 0, n_hashes = 0, n_bytes = 0;
	int r;

	r = ts_block_list(header, raw, TS_SBT_BLOB_LENGTH, 4, (void **)(void *)&lengths, &n_lengths,
			  ret_why);
	r = r
		    ?: ts_block_list(header, raw, TS_SBT_BLOB_FLAGS, 4, (void **)(void *)&flags,
				     &n_flags, ret_why);
	r = r
		    ?: ts_block_list(header, raw, TS_SBT_BLOB_HASH, 8, (void **)(void *)&hashes,
				     &n_hashes, ret_why);
	r = r
		    ?: ts_block_list(header, raw, TS_SBT_BLOB_BYTES, 1, (void **)(void *)&bytes,
				     &n_bytes, ret_why);
	if (r)
		return r;
	if (n_lengths != header->n_rows || n_flags != header->n_rows ||
	    n_hashes != 2 * (uint64_t)header->n_rows) {
		*ret_why = "a list has the wrong number of lengths";
		return TS_SBT_E_CORRUPT;
	}
	offsets = malloc(((size_t)header->n_rows + 1) * sizeof(*offsets));
	if (!offsets)
		return -ENOMEM;
	*ret_why = ts_sbt_list_offsets(lengths, header->n_rows, n_bytes, 0, offsets);
	if (*ret_why)
		return TS_SBT_E_CORRUPT;
	blobs->n_bytes = n_bytes + UINT64_C(28) * header->n_rows;
	blobs->bytes = ts_take_ptr(bytes);
	blobs->hashes = ts_take_ptr(hashes);
	blobs->flags = ts_take_ptr(flags);
	blobs->offsets = ts_take_ptr(offsets);
	return 0;
}

static int load(struct ts_sbt_reader *reader, struct ts_blob_block *blobs)
{
	uint64_t off = reader->blocks[blobs->block].off;
	ts_cleanup(ts_freep) uint8_t *raw = NULL;
	struct ts_sbt_block_header header;
	const char *why = NULL;
	int r;

	blobs->used = ++reader->blob_uses;
	if (blobs->offsets)
		return 0;
	if (blobs->failed)
		return ts_sbt_reader_fail(reader, TS_SBT_E_CORRUPT, off,
					  "a block of blobs is damaged");
	evict(reader);
	r = ts_sbt_reader_load(reader, blobs->block, &header, &raw);
	if (!r) {
		r = ts_sbt_blobs_decode(blobs, &header, raw, &why);
		if (r)
			ts_sbt_reader_fail(reader, r, off, "%s", r < 0 ? strerror(-r) : why);
	}
	blobs->failed = r > 0;
	reader->blob_bytes += blobs->n_bytes;
	return r;
}

int ts_sbt_reader_blob(struct ts_sbt_reader *reader, uint32_t session, uint32_t blob,
		       struct ts_sbt_blob *ret_blob)
{
	struct ts_blob_block *blobs = NULL;
	uint32_t i;
	int r;

	if (blob)
		blobs = ts_sbt_table_floor(&reader->blobs, (uint64_t)session << 32 | blob);
	if (!blobs || blobs->session != session || blob - blobs->first_id >= blobs->n_rows)
		return ts_sbt_reader_fail(reader, TS_SBT_E_NOT_FOUND, 0, "the trace has no blob %u",
					  blob);
	r = load(reader, blobs);
	if (r)
		return r;
	i = blob - blobs->first_id;
	*ret_blob = (struct ts_sbt_blob){
		.bytes = blobs->bytes + blobs->offsets[i],
		.n_bytes = blobs->offsets[i + 1] - blobs->offsets[i],
		.flags = blobs->flags[i],
		.hash = {blobs->hashes[2 * (size_t)i], blobs->hashes[2 * (size_t)i + 1]},
	};
	return 0;
}

uint32_t ts_sbt_reader_n_blobs(const struct ts_sbt_reader *reader, uint32_t session)
{
	const struct ts_blob_block *blobs =
		ts_sbt_table_floor(&reader->blobs, (uint64_t)session << 32 | UINT32_MAX);

	return blobs && blobs->session == session ? blobs->first_id + (blobs->n_rows - 1) : 0;
}
