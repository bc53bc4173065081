/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How numbers lie in a column. Residuals of many rows are noise in their low bytes and nearly nothing in their high
 * ones, so they are laid out in planes: the low bytes of all, then the next ones. Each plane is compressed
 * with statistics of its own, reading it needs no branch, and a plane of zeros costs nothing. Of few rows, varints
 * (LEB128: 7 bits a byte, low ones first) are smaller.
 */

#include "sbt/column.h"

/* From here on a plane is long enough to be compressed by itself. */
#define MIN_PLANE_VALUES 256u

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

#define LOAD_LOOP(type_)                                                 \
	for (i = 0; i < n; i++) {                                        \
		type_ value;                                             \
		memcpy(&value, from + i * sizeof(value), sizeof(value)); \
		to[i] = (uint64_t)(int64_t)value;                        \
	}

void ts_column_load(uint64_t *to, const void *values, uint32_t n, uint16_t width, bool is_signed)
{
	const uint8_t *from = values;
	size_t i;

	switch (width * 2 + is_signed) {
	case 2:
		LOAD_LOOP(uint8_t)
		break;
	case 3:
		LOAD_LOOP(int8_t)
		break;
	case 4:
		LOAD_LOOP(uint16_t)
		break;
	case 5:
		LOAD_LOOP(int16_t)
		break;
	case 8:
		LOAD_LOOP(uint32_t)
		break;
	case 9:
		LOAD_LOOP(int32_t)
		break;
	default:
		if (n)
			memcpy(to, from, n * sizeof(*to));
	}
}

#define STORE_LOOP(type_)                                               \
	for (i = 0; i < n; i++) {                                       \
		type_ value = (type_)from[i];                           \
		memcpy(out + i * sizeof(value), &value, sizeof(value)); \
		wrong |= (uint64_t)(int64_t)value ^ from[i];            \
	}

bool ts_column_store(void *to, const uint64_t *from, uint32_t n, uint16_t width, bool is_signed)
{
	uint64_t wrong = 0;
	uint8_t *out = to;
	size_t i;

	switch (width * 2 + is_signed) {
	case 2:
		STORE_LOOP(uint8_t)
		break;
	case 3:
		STORE_LOOP(int8_t)
		break;
	case 4:
		STORE_LOOP(uint16_t)
		break;
	case 5:
		STORE_LOOP(int16_t)
		break;
	case 8:
		STORE_LOOP(uint32_t)
		break;
	case 9:
		STORE_LOOP(int32_t)
		break;
	default:
		if (n)
			memcpy(out, from, n * sizeof(*from));
	}
	return !wrong;
}

bool ts_column_is_constant(const void *values, uint32_t n, uint16_t width)
{
	size_t n_bytes = (size_t)n * width;

	return n && !memcmp(values, (const uint8_t *)values + width, n_bytes - width);
}

static void take_plane(uint8_t *restrict to, const uint64_t *restrict residuals, uint32_t n,
		       unsigned shift)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = (uint8_t)(residuals[i] >> shift);
}

static int encode_planes(struct ts_buffer *out, const uint64_t *residuals, uint32_t n,
			 unsigned n_planes)
{
	uint8_t *at;
	int r = ts_buffer_reserve(out, (size_t)n * n_planes, &at);

	if (r)
		return r;
	for (unsigned plane = 0; plane < n_planes; plane++, at += n)
		take_plane(at, residuals, n, plane * 8);
	return 0;
}

static int encode_varints(struct ts_buffer *out, const uint64_t *residuals, uint32_t n,
			  uint32_t n_bytes)
{
	uint8_t *at;
	int r = ts_buffer_reserve(out, (size_t)n_bytes, &at);

	for (uint32_t i = 0; !r && i < n; i++)
		at = varint_put(at, residuals[i]);
	return r;
}

int ts_residuals_encode(struct ts_buffer *out, const uint64_t *residuals, uint32_t n,
			uint16_t max_bytes, bool prefer_varints, uint8_t *ret_encoding,
			uint32_t *ret_n_bytes)
{
	uint64_t all = 0, n_bytes = 0;
	unsigned n_planes;
	int r;

	for (uint32_t i = 0; i < n; i++)
		all |= residuals[i];
	n_planes = (unsigned)(63 - __builtin_clzll(all | 1)) / 8 + 1;
	if (prefer_varints || n < MIN_PLANE_VALUES) {
		for (uint32_t i = 0; i < n; i++)
			n_bytes += ts_varint_bytes(residuals[i]);
		*ret_encoding = TS_SBT_VARINTS;
	} else {
		n_bytes = (uint64_t)n * n_planes;
		*ret_encoding = TS_SBT_PLANES;
	}
	*ret_n_bytes = (uint32_t)n_bytes;
	if (n_bytes > (uint64_t)n * max_bytes || n_bytes > UINT32_MAX) {
		*ret_encoding = TS_SBT_RAW;
		return 0;
	}
	r = *ret_encoding == TS_SBT_PLANES ? encode_planes(out, residuals, n, n_planes)
					   : encode_varints(out, residuals, n, *ret_n_bytes);
	if (!r)
		out->n += n_bytes;
	return r;
}

const char *ts_column_header_check(const struct ts_sbt_column_header *header)
{
	uint64_t n_values = header->n_values, n_bytes = header->n_bytes;

	if (!header->width || header->width > TS_SBT_MAX_WIDTH)
		return "a width that is out of bounds";
	switch (header->encoding) {
	case TS_SBT_RAW:
		return n_bytes == n_values * header->width ? NULL : "plain values of a wrong size";
	case TS_SBT_CONSTANT:
		return n_bytes == header->width ? NULL : "a constant of a wrong size";
	case TS_SBT_VARINTS:
	case TS_SBT_PLANES:
		break;
	default:
		return "an unknown encoding";
	}
	if (header->width != 1 && header->width != 2 && header->width != 4 && header->width != 8)
		return "residuals of a width that is no integer's";
	if (header->predictor >= TS_SBT_PREDICTOR_COUNT)
		return "an unknown predictor";
	if (header->trend > TS_SBT_MAX_TREND)
		return "an unknown trend";
	if (n_bytes < n_values || n_bytes > n_values * TS_VARINT_MAX_BYTES)
		return "residuals of a wrong size";
	if (header->encoding == TS_SBT_PLANES &&
	    (!n_values || n_bytes % n_values || n_bytes / n_values > TS_PLANES_MAX))
		return "planes of a wrong size";
	return NULL;
}

void ts_residuals_init(struct ts_residuals *residuals, const struct ts_sbt_column_header *header,
		       const uint8_t *bytes)
{
	*residuals = (struct ts_residuals){
		.p = bytes,
		.end = bytes + header->n_bytes,
		.n_values = header->n_values,
	};
	if (header->encoding == TS_SBT_PLANES)
		residuals->n_planes = header->n_bytes / header->n_values;
}

static void next_planes(const uint8_t *restrict p, size_t stride, unsigned n_planes,
			uint64_t *restrict to, uint32_t n)
{
	const uint8_t *second = p + stride, *third = second + stride;
	uint32_t i;

	switch (n_planes) {
	case 1:
		for (i = 0; i < n; i++)
			to[i] = p[i];
		return;
	case 2:
		for (i = 0; i < n; i++)
			to[i] = p[i] | (uint64_t)second[i] << 8;
		return;
	case 3:
		for (i = 0; i < n; i++)
			to[i] = p[i] | (uint64_t)second[i] << 8 | (uint64_t)third[i] << 16;
		return;
	default:
		break;
	}
	for (i = 0; i < n; i++)
		to[i] = p[i] | (uint64_t)second[i] << 8 | (uint64_t)third[i] << 16;
	for (unsigned plane = 3; plane < n_planes; plane++)
		for (i = 0; i < n; i++)
			to[i] |= (uint64_t)p[plane * stride + i] << plane * 8;
}

const char *ts_residuals_next(struct ts_residuals *residuals, uint64_t *to, uint32_t n)
{
	if (residuals->n_planes) {
		next_planes(residuals->p, residuals->n_values, residuals->n_planes, to, n);
		residuals->p += n;
		return NULL;
	}
	for (uint32_t i = 0; i < n; i++) {
		residuals->p = varint_get(residuals->p, residuals->end, &to[i]);
		if (ts_unlikely(!residuals->p))
			return "a number that does not end";
	}
	return NULL;
}

const char *ts_residuals_finish(const struct ts_residuals *residuals)
{
	return residuals->n_planes || residuals->p == residuals->end ? NULL : "bytes left over";
}
