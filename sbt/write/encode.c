/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes columns into blocks: compression and the block header. encode-column.c encodes the
 * columns, block-builder.c makes columns from rows. encode-rows.c, the writers, append and repair
 * call this module.
 *
 * A payload is split into parts, and each part is one zstd frame. A plane of bytes is compressed as
 * repeats, as noise or not at all, whichever was best when it was last tried.
 */

#include <zstd.h>

#include "sbt/crc32c.h"
#include "sbt/format/block.h"
#include "sbt/format/short.h"

/*
 * Measured on launches: higher levels take several times the time for a few percent, because
 * residuals have little regularity left.
 */
#define ZSTD_LEVEL 1

/*
 * Level of short blocks at the begin of a file: up to half a millisecond for 8 KiB, and 5 % fewer
 * bytes.
 */
#define ZSTD_THOROUGH_LEVEL 15
#define MAX_THOROUGH_BYTES  (16u * 1024)

/* A smaller payload stays uncompressed: it could gain less than a frame header takes. */
#define MIN_COMPRESS_BYTES 256u
#define MIN_SHORT_BYTES	   64u /* the same, of a short block */

/*
 * A stored frame: bytes of its header and of its block header, the most bytes of its only block,
 * and the sample that is_even() counts.
 */
#define EVEN_HEADER_BYTES 12u
#define MAX_EVEN_BYTES	  (128u * 1024)
#define EVEN_SAMPLE	  512u

/*
 * Maximum number of bytes that one more frame adds to the bound of the compressed size, because
 * ZSTD_compressBound() is not proportional.
 */
#define MAX_FRAME_OVERHEAD 128u

void ts_encoder_deinit(struct ts_encoder *encoder)
{
	ZSTD_freeCCtx(encoder->zstd);
	ZSTD_freeCCtx(encoder->zstd_noise);
	ts_buffer_deinit(&encoder->raw);
	ts_buffer_deinit(&encoder->scratch);
	ts_buffer_deinit(&encoder->order);
	ts_buffer_deinit(&encoder->values);
	ts_buffer_deinit(&encoder->residuals);
	ts_buffer_deinit(&encoder->state);
	encoder->zstd = encoder->zstd_noise = NULL;
}

uint64_t ts_encoder_memory(const struct ts_encoder *encoder)
{
	return ZSTD_sizeof_CCtx(encoder->zstd) + ZSTD_sizeof_CCtx(encoder->zstd_noise) +
	       encoder->raw.capacity + encoder->scratch.capacity + encoder->order.capacity +
	       encoder->values.capacity + encoder->residuals.capacity + encoder->state.capacity;
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

static size_t compress_part(struct ZSTD_CCtx_s *zstd, uint8_t *to, size_t capacity,
			    const uint8_t *from, size_t n)
{
	size_t r = ZSTD_compress2(zstd, to, capacity, from, n);

	return ZSTD_isError(r) ? 0 : r;
}

/* Writes a frame of stored bytes: RFC 8878, 3.1.1. Returns 0 if there is no room. */
static size_t put_even(uint8_t *to, size_t capacity, const uint8_t *from, size_t n)
{
	uint32_t frame[] = {ZSTD_MAGICNUMBER, (uint32_t)n}, block;
	uint8_t *p = to;

	if (n > MAX_EVEN_BYTES || capacity < n + EVEN_HEADER_BYTES)
		return 0;
	memcpy(p, &frame[0], 4);
	p[4] = 0xa0; /* a single segment, its size in 4 bytes */
	memcpy(p + 5, &frame[1], 4);
	block = (uint32_t)n << 3 | 1; /* the last block, raw */
	memcpy(p + 9, &block, 3);
	memcpy(p + EVEN_HEADER_BYTES, from, n);
	return EVEN_HEADER_BYTES + n;
}

static size_t compress_kind(struct ts_encoder *encoder, unsigned kind, uint8_t *to, size_t capacity,
			    const uint8_t *from, size_t n)
{
	if (kind == TS_PLANE_EVEN)
		return put_even(to, capacity, from, n);
	return compress_part(kind == TS_PLANE_NOISE ? encoder->zstd_noise : encoder->zstd, to,
			     capacity, from, n);
}

/*
 * Estimates from a sample whether all byte values are equally likely. Each value then occurs twice
 * on average (Poisson). The sum of the squared counts is 1,536, with a standard deviation of 122.
 * For bytes that compress by a tenth, the sum is above 2,500.
 */
static bool is_even(const uint8_t *bytes, size_t n)
{
	uint32_t counts[256] = {0}, squares = 0;
	size_t step = n / EVEN_SAMPLE;

	for (size_t i = 0; step && i < EVEN_SAMPLE; i++)
		counts[bytes[i * step]]++;
	for (unsigned i = 0; i < 256; i++)
		squares += counts[i] * counts[i];
	return step && squares < 2150;
}

/*
 * Compresses a plane as repeats or as noise, whichever was smaller at the last trial. A plane that
 * neither makes much smaller is stored until the next trial. Returns 0 if there is no room.
 */
static size_t compress_plane(struct ts_encoder *encoder, const struct ts_part *part, uint8_t *to,
			     size_t capacity, const uint8_t *from, size_t n)
{
	struct ts_plane_choice *plane = &part->choice->planes[part->plane];
	unsigned kind = TS_PLANE_REPEATS;
	size_t n_noise, n_other;

	if (plane->n_left && (plane->kind != TS_PLANE_EVEN || is_even(from, n))) {
		plane->n_left--;
		return compress_kind(encoder, plane->kind, to, capacity, from, n);
	}
	n_other = compress_part(encoder->zstd, to, capacity, from, n);
	if (!n_other)
		return 0;
	n_noise = compress_part(encoder->zstd_noise, to + n_other, capacity - n_other, from, n);
	if (n_noise && n_noise <= n_other) {
		memmove(to, to + n_other, n_noise);
		n_other = n_noise;
		kind = TS_PLANE_NOISE;
	}
	if (n_other >= n - n / 256 && n <= MAX_EVEN_BYTES)
		kind = TS_PLANE_EVEN;
	if (n >= TS_ENCODER_SAMPLE) {
		if (!plane->n_wait || kind != plane->kind)
			plane->n_wait = TS_ENCODER_CHOICE_BLOCKS / 2;
		if (plane->n_wait < TS_ENCODER_MOST_BLOCKS)
			plane->n_wait = (uint8_t)(plane->n_wait * 2);
		plane->n_left = (uint8_t)(plane->n_wait - 1);
		plane->kind = (uint8_t)kind;
	}
	return n_other;
}

/*
 * Compresses each part into a frame of its own; any zstd decoder reads the frames as one stream.
 * Returns 0 if the frames are not smaller than the payload.
 */
static size_t compress(struct ts_encoder *encoder, uint8_t *to, size_t capacity)
{
	const struct ts_part rest = {.end = encoder->raw.n};
	size_t n = 0, from = 0, r;

	for (uint32_t i = 0; i <= encoder->n_parts; i++) {
		const struct ts_part *part = i < encoder->n_parts ? &encoder->parts[i] : &rest;
		const uint8_t *bytes = encoder->raw.bytes + from;

		if (part->end == from)
			continue;
		r = part->choice ? compress_plane(encoder, part, to + n, capacity - n, bytes,
						  part->end - from)
				 : compress_part(encoder->zstd, to + n, capacity - n, bytes,
						 part->end - from);
		if (!r)
			return 0;
		n += r;
		from = part->end;
	}
	return n < encoder->raw.n ? n : 0;
}

/*
 * Sets up compression of noise. Residuals of times do not repeat, and the search for repeats would
 * take most of the time. Only the entropy coder remains: the steps are so long that hardly any
 * match is looked for, and literals are still compressed. libzstd's stable interface has no other
 * name for ZSTD_c_experimentalParam5 (compression of literals). If a version does not know the
 * parameter, the other compression is smaller and is chosen.
 */
static void set_noise(struct ZSTD_CCtx_s *zstd)
{
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_strategy, ZSTD_fast);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_targetLength, 128 * 1024);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, 7);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, 6);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_experimentalParam5, 1);
}

static int begin_zstd(struct ts_encoder *encoder)
{
	if (encoder->zstd_noise)
		return 0;
	if (!encoder->zstd)
		encoder->zstd = ZSTD_createCCtx();
	encoder->zstd_noise = ZSTD_createCCtx();
	if (!encoder->zstd || !encoder->zstd_noise)
		return -ENOMEM;
	ZSTD_CCtx_setParameter(encoder->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	ZSTD_CCtx_setParameter(encoder->zstd_noise, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	set_noise(encoder->zstd_noise);
	return 0;
}

/*
 * Compresses the whole payload as one frame into the room behind the `n` bytes of frames at `to`,
 * and replaces these frames if the one is smaller. `n` is 0 if there are none. Returns the bytes.
 */
static size_t compress_thoroughly(struct ts_encoder *encoder, uint8_t *to, size_t n,
				  size_t capacity)
{
	size_t n_raw = encoder->raw.n, n_whole;

	ZSTD_CCtx_setParameter(encoder->zstd, ZSTD_c_compressionLevel, ZSTD_THOROUGH_LEVEL);
	n_whole = compress_part(encoder->zstd, to + n, capacity - n, encoder->raw.bytes, n_raw);
	ZSTD_CCtx_setParameter(encoder->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	if (!n_whole || n_whole >= (n ? n : n_raw))
		return n;
	memmove(to, to + n, n_whole);
	return n_whole;
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
	size_t n_raw = encoder->raw.n, n = 0;
	size_t capacity = ZSTD_compressBound(n_raw) + (encoder->n_parts + 1) * MAX_FRAME_OVERHEAD +
			  ZSTD_compressBound(TS_SBT_MAX_ROWS); /* a plane is compressed twice */
	uint8_t *at;
	int r = begin_zstd(encoder);

	r = r ?: ts_buffer_reserve(out, sizeof(*header) + capacity + 8, &at);
	if (r)
		return r;
	header->raw_bytes = n_raw;
	shorten(encoder, header);
	n_raw = encoder->raw.n;
	if (n_raw >= (header->short_bytes ? MIN_SHORT_BYTES : MIN_COMPRESS_BYTES))
		n = compress(encoder, at + sizeof(*header), capacity);
	if (header->short_bytes && encoder->is_thorough && n_raw >= MIN_SHORT_BYTES &&
	    n_raw <= MAX_THOROUGH_BYTES)
		n = compress_thoroughly(encoder, at + sizeof(*header), n, capacity);
	if (n) {
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
