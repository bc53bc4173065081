/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compresses the payload of a block with zstd. encode.c compresses each payload with this module,
 * encode-column.c measures encodings of a column with it.
 *
 * A payload is split into parts, and each part is one zstd frame. A plane of bytes is compressed as
 * repeats, with a short or a longer search, as noise or not at all, whichever was best when it was
 * last tried.
 */

#include "sbt/write/compress.h"

#include <zstd.h>

#include "sbt/format/short-dictionary.h"

/*
 * Measured on launches: higher levels take several times the time for a few percent, because
 * residuals have little regularity left.
 */
#define ZSTD_LEVEL 1

/*
 * Level of small planes in which a longer search finds more: the remainders of a device's times,
 * four to a byte, are a tenth smaller. A larger plane would take too long, and the choice for a
 * smaller one is not kept.
 */
#define ZSTD_CLOSE_LEVEL 3
#define MAX_CLOSE_BYTES	 (16u * 1024)

/*
 * Level of short blocks at the begin of a small file: up to 0.2 ms for 8 KiB, and 5 % fewer bytes.
 */
#define ZSTD_THOROUGH_LEVEL 13

/* The header of a block: its bytes << 3 | its type << 1 | 1 if it is the last one of its frame. */
#define BLOCK_HEADER_BYTES 3u
#define ONLY_COMPRESSED	   5u
#define BLOCK_BITS	   7u

/*
 * A stored frame: bytes of its header and of its block header, the most bytes of its only block,
 * and the sample that is_even() counts.
 */
#define EVEN_HEADER_BYTES 12u
#define MAX_EVEN_BYTES	  (128u * 1024)
#define EVEN_SAMPLE	  512u

/* Bytes that are compressed to measure a part. */
#define MEASURE_SAMPLE (8u * 1024)

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
	if (kind == TS_PLANE_CLOSE) {
		/* A context whose level changes allocates its tables anew. */
		if (!encoder->zstd_close) {
			encoder->zstd_close = ZSTD_createCCtx();
			if (!encoder->zstd_close)
				return 0;
			ZSTD_CCtx_setParameter(encoder->zstd_close, ZSTD_c_compressionLevel,
					       ZSTD_CLOSE_LEVEL);
		}
		return compress_part(encoder->zstd_close, to, capacity, from, n);
	}
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
 * Replaces the `n_best` compressed bytes at `to` by those of this kind if they are not more.
 * Returns the bytes.
 */
static size_t try_kind(struct ts_encoder *encoder, unsigned kind, unsigned *best, uint8_t *to,
		       size_t n_best, size_t capacity, const uint8_t *from, size_t n)
{
	size_t n_tried = compress_kind(encoder, kind, to + n_best, capacity - n_best, from, n);

	if (!n_tried || n_tried > n_best)
		return n_best;
	memmove(to, to + n_best, n_tried);
	*best = kind;
	return n_tried;
}

/*
 * Compresses a plane in the way that was best at the last trial. A plane that none makes much
 * smaller is stored until the next trial. Returns 0 if there is no room.
 */
static size_t compress_plane(struct ts_encoder *encoder, const struct ts_part *part, uint8_t *to,
			     size_t capacity, const uint8_t *from, size_t n)
{
	struct ts_plane_choice *plane = part->choice;
	unsigned kind = TS_PLANE_REPEATS;
	size_t n_best;

	/* The low bits of a SCALED column may have become too many to be stored in one frame. */
	if (plane->n_left &&
	    (plane->kind != TS_PLANE_EVEN || (n <= MAX_EVEN_BYTES && is_even(from, n)))) {
		plane->n_left--;
		return compress_kind(encoder, plane->kind, to, capacity, from, n);
	}
	n_best = compress_kind(encoder, kind, to, capacity, from, n);
	if (!n_best)
		return 0;
	if (n >= TS_ENCODER_SAMPLE && n <= MAX_CLOSE_BYTES)
		n_best = try_kind(encoder, TS_PLANE_CLOSE, &kind, to, n_best, capacity, from, n);
	n_best = try_kind(encoder, TS_PLANE_NOISE, &kind, to, n_best, capacity, from, n);
	if (n_best >= n - n / 256 && n <= MAX_EVEN_BYTES)
		kind = TS_PLANE_EVEN;
	if (n >= TS_ENCODER_SAMPLE) {
		if (!plane->n_wait || kind != plane->kind)
			plane->n_wait = TS_ENCODER_CHOICE_BLOCKS / 2;
		if (plane->n_wait < TS_ENCODER_MOST_BLOCKS)
			plane->n_wait = (uint8_t)(plane->n_wait * 2);
		plane->n_left = (uint8_t)(plane->n_wait - 1);
		plane->kind = (uint8_t)kind;
	}
	return n_best;
}

size_t ts_compress_parts(struct ts_encoder *encoder, uint8_t *to, size_t capacity)
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

int ts_compress_begin(struct ts_encoder *encoder)
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

/* Returns the bytes of a frame's header: RFC 8878, 3.1.1.1. */
static size_t frame_header_bytes(const uint8_t *frame)
{
	static const uint8_t dictionary_bytes[] = {0, 1, 2, 4}, size_bytes[] = {0, 2, 4, 8};
	unsigned flags = frame[4], is_single = flags >> 5 & 1;

	/* The window's byte or, of a single segment, the first byte of the size. */
	return 5 + dictionary_bytes[flags & 3] + size_bytes[flags >> 6] +
	       (!is_single || flags >> 6 == 0);
}

size_t ts_compress_thoroughly(struct ts_encoder *encoder, uint8_t *to, size_t n, size_t capacity)
{
	size_t n_raw = encoder->raw.n, n_head, n_dictionary, r;
	const uint8_t *dictionary = ts_short_dictionary(&n_dictionary);
	uint8_t *frame = to + n;
	uint32_t block = 0;

	r = ZSTD_compress_usingDict(encoder->zstd, frame, capacity - n, encoder->raw.bytes, n_raw,
				    dictionary, n_dictionary, ZSTD_THOROUGH_LEVEL);
	if (ZSTD_isError(r))
		return 0;
	n_head = frame_header_bytes(frame) + BLOCK_HEADER_BYTES;
	memcpy(&block, frame + n_head - BLOCK_HEADER_BYTES, BLOCK_HEADER_BYTES);
	r -= n_head;
	/* A frame of several blocks, or of one that is stored, is not worth its headers. */
	if ((block & BLOCK_BITS) != ONLY_COMPRESSED || block >> 3 != r || r >= (n ? n : n_raw))
		return 0;
	memmove(to, frame + n_head, r);
	return r;
}

size_t ts_compress_measure(struct ts_encoder *encoder, const uint8_t *bytes, size_t n)
{
	size_t some = n < MEASURE_SAMPLE ? n : MEASURE_SAMPLE, least = some, r;
	size_t capacity = ZSTD_compressBound(some);
	uint8_t *at;

	encoder->scratch.n = 0;
	if (!n || ts_compress_begin(encoder) || ts_buffer_reserve(&encoder->scratch, capacity, &at))
		return n;
	r = compress_part(encoder->zstd, at, capacity, bytes, some);
	least = r && r < least ? r : least;
	r = compress_part(encoder->zstd_noise, at, capacity, bytes, some);
	least = r && r < least ? r : least;
	return (size_t)((uint64_t)least * n / some);
}
