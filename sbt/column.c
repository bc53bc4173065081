/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encodings of a column. Most columns of a block are constant or move by little, so: one value for
 * all, or differences as zigzag varints (LEB128: 7 bits a byte, low ones first), or plain values where neither
 * helps. zstd takes what regularity is left. The loops are made once per width and sign, since a
 * switch per value would cost more than the value.
 */

#include "sbt/column.h"

static inline uint64_t zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ -(value & 1);
}

/* Two stores for what most differences need, then the general loop. */
static inline uint8_t *varint_put(uint8_t *p, uint64_t value)
{
	if (value < 0x80) {
		*p = (uint8_t)value;
		return p + 1;
	}
	if (value < 0x4000) {
		p[0] = (uint8_t)(value | 0x80);
		p[1] = (uint8_t)(value >> 7);
		return p + 2;
	}
	if (value < 0x200000) {
		p[0] = (uint8_t)(value | 0x80);
		p[1] = (uint8_t)(value >> 7 | 0x80);
		p[2] = (uint8_t)(value >> 14);
		return p + 3;
	}
	while (value >= 0x80) {
		*p++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*p++ = (uint8_t)value;
	return p;
}

/* NULL: it does not end within [p, end), or has more than 64 bits. */
static inline const uint8_t *varint_get(const uint8_t *p, const uint8_t *end, uint64_t *ret_value)
{
	uint64_t value = 0;

	if (ts_likely(p < end && *p < 0x80)) {
		*ret_value = *p;
		return p + 1;
	}
	for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
		uint64_t byte = *p++;

		if (shift == 63 && byte > 1)
			return NULL;
		value |= (byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret_value = value;
			return p;
		}
	}
	return NULL;
}

static inline __attribute__((always_inline)) uint64_t load(const uint8_t *p, uint16_t width,
							   bool is_signed)
{
	uint64_t v8;
	uint32_t v4;
	uint16_t v2;

	switch (width) {
	case 1:
		return is_signed ? (uint64_t)(int64_t)(int8_t)*p : *p;
	case 2:
		memcpy(&v2, p, 2);
		return is_signed ? (uint64_t)(int64_t)(int16_t)v2 : v2;
	case 4:
		memcpy(&v4, p, 4);
		return is_signed ? (uint64_t)(int64_t)(int32_t)v4 : v4;
	default:
		memcpy(&v8, p, 8);
		return v8;
	}
}

/* False: the value does not fit its width. */
static inline __attribute__((always_inline)) bool store(uint8_t *p, uint16_t width, bool is_signed,
							uint64_t value)
{
	memcpy(p, &value, width); /* little-endian */
	return width == 8 || load(p, width, is_signed) == value;
}

static inline __attribute__((always_inline)) uint8_t *encode_loop(uint8_t *out,
								  const uint8_t *values, uint32_t n,
								  uint16_t width, bool is_signed,
								  const uint64_t *base)
{
	uint64_t previous = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t value = load(values + (size_t)i * width, width, is_signed);

		out = varint_put(out, zigzag(value - (base ? base[i] : previous)));
		previous = value;
	}
	return out;
}

static uint8_t *encode_varints(uint8_t *out, const uint8_t *values, uint32_t n, uint16_t width,
			       bool is_signed, const uint64_t *base)
{
	switch (width * 2 + is_signed) {
	case 4:
		return encode_loop(out, values, n, 2, false, base);
	case 5:
		return encode_loop(out, values, n, 2, true, base);
	case 8:
		return encode_loop(out, values, n, 4, false, base);
	case 9:
		return encode_loop(out, values, n, 4, true, base);
	default:
		return base ? encode_loop(out, values, n, 8, false, base)
			    : encode_loop(out, values, n, 8, false, NULL);
	}
}

int ts_column_encode(struct ts_buffer *out, const void *values, uint32_t n_values, uint16_t width,
		     bool is_signed, const uint64_t *base, struct ts_sbt_column_header *ret_header)
{
	size_t raw = (size_t)n_values * width, n = raw;
	enum ts_sbt_encoding encoding = TS_SBT_RAW;
	uint8_t *at;
	int r;

	/* Every value equals the next: so do all. */
	if (n_values > 1 && !memcmp(values, (const uint8_t *)values + width, raw - width)) {
		encoding = TS_SBT_CONSTANT;
		n = width;
	}
	r = ts_buffer_reserve(out,
			      encoding == TS_SBT_CONSTANT
				      ? n
				      : (size_t)n_values * TS_VARINT_MAX_BYTES + raw,
			      &at);
	if (r)
		return r;
	if (encoding == TS_SBT_RAW && (width == 2 || width == 4 || width == 8)) {
		size_t n_varints =
			(size_t)(encode_varints(at, values, n_values, width, is_signed, base) - at);

		if (n_varints < raw) {
			encoding = base ? TS_SBT_DIFF : TS_SBT_DELTA;
			n = n_varints;
		}
	}
	if (encoding == TS_SBT_RAW || encoding == TS_SBT_CONSTANT)
		if (n)
			memcpy(at, values, n);
	out->n += n;
	*ret_header = (struct ts_sbt_column_header){
		.width = width,
		.encoding = encoding,
		.flags = is_signed ? TS_SBT_COLUMN_SIGNED : 0,
		.n_values = n_values,
		.n_bytes = (uint32_t)n,
	};
	return 0;
}

const char *ts_column_decoder_init(struct ts_column_decoder *decoder,
				   const struct ts_sbt_column_header *header, uint32_t pos)
{
	uint64_t n_values = header->n_values, n_bytes = header->n_bytes;

	if (!header->width || header->width > TS_SBT_MAX_WIDTH)
		return "a column's width is out of bounds";
	switch (header->encoding) {
	case TS_SBT_RAW:
		if (n_bytes != n_values * header->width)
			return "a plain column has the wrong size";
		break;
	case TS_SBT_CONSTANT:
		if (n_bytes != header->width)
			return "a constant column has the wrong size";
		break;
	case TS_SBT_DELTA:
	case TS_SBT_DIFF:
		if (header->width != 1 && header->width != 2 && header->width != 4 &&
		    header->width != 8)
			return "a column of differences has a width that is no integer's";
		if (n_bytes < n_values || n_bytes > n_values * TS_VARINT_MAX_BYTES)
			return "a column of differences has the wrong size";
		break;
	default:
		return "a column has an unknown encoding";
	}
	*decoder = (struct ts_column_decoder){
		.pos = pos,
		.end = pos + header->n_bytes,
		.n_left = header->n_values,
		.width = header->width,
		.encoding = header->encoding,
		.is_signed = header->flags & TS_SBT_COLUMN_SIGNED,
	};
	return NULL;
}

static inline __attribute__((always_inline)) const char *decode_loop(
	struct ts_column_decoder *decoder, const uint8_t *payload, uint8_t *to, size_t stride,
	const uint8_t *base, uint32_t n, uint16_t width, bool is_signed)
{
	const uint8_t *p = payload + decoder->pos, *end = payload + decoder->end;
	uint64_t previous = decoder->previous, value;
	bool fits = true;

	for (uint32_t i = 0; i < n; i++, to += stride) {
		p = varint_get(p, end, &value);
		if (ts_unlikely(!p))
			return "a column ends inside a number";
		if (base) {
			memcpy(&previous, base, sizeof(previous));
			base += stride;
		}
		previous += unzigzag(value);
		fits &= store(to, width, is_signed, previous);
	}
	decoder->pos = (uint32_t)(p - payload);
	decoder->previous = previous;
	return fits ? NULL : "a number does not fit its column";
}

static const char *decode_varints(struct ts_column_decoder *decoder, const uint8_t *payload,
				  uint8_t *to, size_t stride, const uint8_t *base, uint32_t n)
{
	switch (decoder->width * 2 + !!decoder->is_signed) {
	case 2:
		return decode_loop(decoder, payload, to, stride, base, n, 1, false);
	case 3:
		return decode_loop(decoder, payload, to, stride, base, n, 1, true);
	case 4:
		return decode_loop(decoder, payload, to, stride, base, n, 2, false);
	case 5:
		return decode_loop(decoder, payload, to, stride, base, n, 2, true);
	case 8:
		return decode_loop(decoder, payload, to, stride, base, n, 4, false);
	case 9:
		return decode_loop(decoder, payload, to, stride, base, n, 4, true);
	default:
		return base ? decode_loop(decoder, payload, to, stride, base, n, 8, false)
			    : decode_loop(decoder, payload, to, stride, NULL, n, 8, false);
	}
}

/* Copies n values of `width` bytes, `from_stride` (0 for a constant) to `stride` apart. */
static void spread(uint8_t *to, size_t stride, const uint8_t *from, size_t from_stride,
		   uint16_t width, uint32_t n)
{
	uint32_t i;

	switch (width) {
	case 4:
		for (i = 0; i < n; i++, to += stride, from += from_stride)
			memcpy(to, from, 4);
		break;
	case 8:
		for (i = 0; i < n; i++, to += stride, from += from_stride)
			memcpy(to, from, 8);
		break;
	default:
		for (i = 0; i < n; i++, to += stride, from += from_stride)
			memcpy(to, from, width);
	}
}

const char *ts_column_decode(struct ts_column_decoder *decoder, const uint8_t *payload, uint8_t *to,
			     size_t stride, const uint8_t *base, uint32_t n)
{
	if (n > decoder->n_left)
		return "a column has too few values";
	decoder->n_left -= n;
	switch (decoder->encoding) {
	case TS_SBT_RAW:
		if (stride == decoder->width && n)
			memcpy(to, payload + decoder->pos, (size_t)n * stride);
		else
			spread(to, stride, payload + decoder->pos, decoder->width, decoder->width,
			       n);
		decoder->pos += n * decoder->width;
		return NULL;
	case TS_SBT_CONSTANT:
		spread(to, stride, payload + decoder->pos, 0, decoder->width, n);
		return NULL;
	case TS_SBT_DELTA:
		return decode_varints(decoder, payload, to, stride, NULL, n);
	default:
		if (!base)
			return "a column of differences from the start has no start";
		return decode_varints(decoder, payload, to, stride, base, n);
	}
}

const char *ts_column_decoder_finish(const struct ts_column_decoder *decoder)
{
	if (decoder->encoding == TS_SBT_CONSTANT)
		return NULL;
	return decoder->pos == decoder->end ? NULL : "a column has bytes left over";
}
