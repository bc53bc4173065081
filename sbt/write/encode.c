/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes columns into blocks: the payload and the block header. encode-column.c encodes the
 * columns, compress.c compresses the payload, block-builder.c makes columns from rows.
 * encode-rows.c, the writers, append and repair call this module.
 */

#include <zstd.h>

#include "sbt/crc32c.h"
#include "sbt/format/block.h"
#include "sbt/format/short.h"
#include "sbt/write/compress.h"

/* Larger short blocks are not compressed thoroughly. */
#define MAX_THOROUGH_BYTES (16u * 1024)

/* A smaller payload stays uncompressed: it could gain less than a frame header takes. */
#define MIN_COMPRESS_BYTES 256u
#define MIN_SHORT_BYTES	   64u /* the same, of a short block */
#define MIN_THOROUGH_BYTES 16u /* the same, with the dictionary */

/*
 * Maximum number of bytes that one more frame adds to the bound of the compressed size, because
 * ZSTD_compressBound() is not proportional.
 */
#define MAX_FRAME_OVERHEAD 128u

void ts_encoder_deinit(struct ts_encoder *encoder)
{
	ZSTD_freeCCtx(encoder->zstd);
	ZSTD_freeCCtx(encoder->zstd_noise);
	ZSTD_freeCCtx(encoder->zstd_close);
	ts_buffer_deinit(&encoder->raw);
	ts_buffer_deinit(&encoder->scratch);
	ts_buffer_deinit(&encoder->order);
	ts_buffer_deinit(&encoder->values);
	ts_buffer_deinit(&encoder->residuals);
	ts_buffer_deinit(&encoder->state);
	ts_buffer_deinit(&encoder->scales);
	encoder->zstd = encoder->zstd_noise = encoder->zstd_close = NULL;
}

uint64_t ts_encoder_memory(const struct ts_encoder *encoder)
{
	return ZSTD_sizeof_CCtx(encoder->zstd) + ZSTD_sizeof_CCtx(encoder->zstd_noise) +
	       ZSTD_sizeof_CCtx(encoder->zstd_close) + encoder->raw.capacity +
	       encoder->scratch.capacity + encoder->order.capacity + encoder->values.capacity +
	       encoder->residuals.capacity + encoder->state.capacity + encoder->scales.capacity;
}

int ts_encoder_begin(struct ts_encoder *encoder, uint16_t n_columns)
{
	size_t n = n_columns * sizeof(struct ts_sbt_column_header);
	uint8_t *at;
	int r;

	encoder->raw.n = 0;
	encoder->n_parts = 0;
	r = ts_buffer_reserve(&encoder->raw, n, &at);
	if (r)
		return r;
	if (n)
		memset(at, 0, n);
	encoder->raw.n = n;
	return 0;
}

/* Makes the payload short, if the block may be short and is small. */
static void shorten(struct ts_encoder *encoder, struct ts_sbt_block_header *header)
{
	size_t saved;

	if (!encoder->is_short || encoder->raw.n > TS_SHORT_MAX_RAW_BYTES ||
	    !ts_short_payload_put(&encoder->raw, header->n_columns, header->n_rows, &saved))
		return;
	for (uint32_t i = 0; i < encoder->n_parts; i++)
		encoder->parts[i].end -= saved;
	header->short_bytes = 1; /* ts_short_header_put() sets the number */
}

int ts_encoder_end(struct ts_encoder *encoder, struct ts_sbt_block_header *header,
		   struct ts_buffer *out)
{
	size_t n_raw = encoder->raw.n, n = 0, n_thorough = 0;
	size_t capacity = ZSTD_compressBound(n_raw) + (encoder->n_parts + 1) * MAX_FRAME_OVERHEAD +
			  ZSTD_compressBound(TS_SBT_MAX_ROWS); /* a plane is compressed twice */
	uint8_t *at;
	int r = ts_compress_begin(encoder);

	r = r ?: ts_buffer_reserve(out, sizeof(*header) + capacity + 8, &at);
	if (r)
		return r;
	header->raw_bytes = n_raw;
	shorten(encoder, header);
	n_raw = encoder->raw.n;
	if (n_raw >= (header->short_bytes ? MIN_SHORT_BYTES : MIN_COMPRESS_BYTES))
		n = ts_compress_parts(encoder, at + sizeof(*header), capacity);
	if (header->short_bytes && encoder->is_thorough && n_raw >= MIN_THOROUGH_BYTES &&
	    n_raw <= MAX_THOROUGH_BYTES)
		n_thorough = ts_compress_thoroughly(encoder, at + sizeof(*header), n, capacity);
	if (n_thorough) {
		n = n_thorough;
		header->flags |= TS_SBT_BLOCK_ZSTD | TS_SBT_BLOCK_TABLES;
	} else if (n) {
		header->flags |= TS_SBT_BLOCK_ZSTD;
	} else {
		n = n_raw;
		if (n)
			memcpy(at + sizeof(*header), encoder->raw.bytes, n);
	}
	header->magic = TS_SBT_BLOCK_MAGIC;
	header->version = TS_SBT_BLOCK_VERSION;
	header->stored_bytes = n;
	header->payload_checksum = ts_crc32c(at + sizeof(*header), n);
	memcpy(at, header, sizeof(*header));
	memset(at + sizeof(*header) + n, 0, ts_align_up(n, 8) - n);
	out->n += ts_block_held_bytes(header);
	return 0;
}

TS_STATIC_ASSERT(TS_SBT_STRING_LENGTH == (int)TS_SBT_ITEM_LENGTH &&
			 TS_SBT_STRING_BYTES == (int)TS_SBT_ITEM_BYTES,
		 "lists are alike");

int ts_encoder_list(struct ts_encoder *encoder, struct ts_sbt_block_header *header,
		    struct ts_buffer *lengths, struct ts_buffer *bytes, struct ts_buffer *out)
{
	uint32_t n = (uint32_t)(lengths->n / sizeof(uint32_t));
	int r;

	if (!n)
		return 0;
	header->n_rows = n;
	header->n_columns = bytes->n ? 2 : 1;
	r = ts_encoder_begin(encoder, header->n_columns);
	r = r ?: ts_encoder_column(encoder, 0, TS_SBT_STRING_LENGTH, lengths->bytes, n, 4, false);
	if (!r && bytes->n)
		r = ts_encoder_column(encoder, 1, TS_SBT_STRING_BYTES, bytes->bytes,
				      (uint32_t)bytes->n, 1, false);
	r = r ?: ts_encoder_end(encoder, header, out);
	if (!r)
		lengths->n = bytes->n = 0;
	return r;
}

void ts_block_number(uint8_t *blocks, size_t n_bytes, uint64_t *sequence)
{
	struct ts_sbt_block_header header;

	for (size_t off = 0; off < n_bytes; off += ts_block_held_bytes(&header)) {
		memcpy(&header, blocks + off, sizeof(header));
		header.sequence = (*sequence)++;
		header.checksum =
			ts_crc32c(&header, offsetof(struct ts_sbt_block_header, checksum));
		memcpy(blocks + off, &header, sizeof(header));
	}
}

void ts_block_describe(const struct ts_sbt_block_header *header, uint64_t off,
		       struct ts_sbt_block *ret_block)
{
	*ret_block = (struct ts_sbt_block){
		.off = off,
		.bytes = ts_block_bytes(header),
		.raw_bytes = header->raw_bytes,
		.earliest_ns = header->earliest_ns,
		.latest_ns = header->latest_ns,
		.duration_ns = header->duration_ns,
		.amount_bytes = header->amount_bytes,
		.n_rows = header->n_rows,
		.session = header->session,
		.first_id = header->first_id,
		.type = header->type,
		.flags = header->flags,
	};
}
