/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of numbers in a column. Residuals of many rows are noise in their low bytes and nearly
 * constant in their high bytes, so they are stored in planes: the low bytes of all numbers, then
 * the next bytes. Each plane is compressed with its own statistics, and reading a plane needs no
 * branch. The few numbers with more bytes are completed from a list of exceptions. For few rows,
 * varints (LEB128: 7 bits a byte, low ones first) are smaller.
 *
 * encode-column.c writes columns with this module; decode-columns.c and decode-block.c read and
 * check them.
 */

#include "sbt/format/column.h"
#include "sbt/format/varint.h"
#include "sbt/format/wide.h"

/* Number of values that are split into planes at a time. */
#define SOME_ROWS 256u

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

/* Returns the bias of centred planes: the middle of their range. */
static uint64_t bias_of(unsigned n_planes, bool is_centred)
{
	return is_centred && n_planes ? UINT64_C(1) << (n_planes * 8 - 1) : 0;
}

/* Returns the bytes that a number takes, 0 to 8. */
static inline unsigned bytes_of(uint64_t number)
{
	return number ? (unsigned)(63 - __builtin_clzll(number)) / 8 + 1 : 0;
}

unsigned ts_planes_choose(const uint64_t *numbers, uint32_t n, bool *ret_is_centred)
{
	uint32_t n_negative = 0, n_of[TS_PLANES_MAX + 1] = {0}, n_above = 0;
	unsigned planes = TS_PLANES_MAX;

	for (uint32_t i = 0; i < n; i++)
		n_negative += (uint32_t)(numbers[i] >> 63);
	*ret_is_centred = n_negative > n / 64;
	for (uint32_t i = 0; i < n; i++)
		n_of[bytes_of(*ret_is_centred ? ts_zigzag(numbers[i]) : numbers[i])]++;
	while (planes && n_above + n_of[planes] <= n / 32)
		n_above += n_of[planes--];
	return planes;
}

/* Marks the numbers that do not fit the planes. n <= SOME_ROWS. */
static TS_ALWAYS_INLINE void find_above(unsigned shift, uint64_t bias,
					const uint64_t *restrict numbers, uint32_t n,
					uint8_t *restrict ret_are_above)
{
	if (shift == 64) {
		memset(ret_are_above, 0, n);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		ret_are_above[i] = (numbers[i] + bias) >> shift != 0;
}

/*
 * Splits n <= SOME_ROWS numbers into planes, `stride` bytes apart. Most columns have two planes:
 * the numbers are narrowed to 16 bits once, and bytes are cheap to extract from there.
 */
static TS_ALWAYS_INLINE void take_planes(uint8_t *restrict to, size_t stride, unsigned n_planes,
					 uint64_t bias, const uint64_t *restrict numbers,
					 uint32_t n, uint8_t *restrict ret_are_above)
{
	unsigned plane = n_planes < 2 ? n_planes : 2;
	uint16_t low[SOME_ROWS];

	find_above(n_planes * 8, bias, numbers, n, ret_are_above);
	if (!plane)
		return;
	for (uint32_t i = 0; i < n; i++)
		low[i] = (uint16_t)(numbers[i] + bias);
	for (uint32_t i = 0; i < n; i++)
		to[i] = (uint8_t)low[i];
	if (plane > 1)
		for (uint32_t i = 0; i < n; i++)
			to[stride + i] = (uint8_t)(low[i] >> 8);
	for (; plane < n_planes; plane++)
		for (uint32_t i = 0; i < n; i++)
			to[plane * stride + i] = (uint8_t)((numbers[i] + bias) >> plane * 8);
}

TS_WIDE_OR_NOT(take_planes,
	       (uint8_t * to, size_t stride, unsigned n_planes, uint64_t bias,
		const uint64_t *numbers, uint32_t n, uint8_t *ret_are_above),
	       (to, stride, n_planes, bias, numbers, n, ret_are_above))

/*
 * Appends the exception of a number that does not fit the planes, as two varints: the number of
 * rows since the previous exception, and the number's high part.
 */
static int put_exception(struct ts_planes *planes, uint64_t number, uint32_t row)
{
	int64_t high = (int64_t)number >> planes->n_planes * 8;
	uint8_t *at, *p;
	int r = ts_buffer_reserve(planes->exceptions, 2ul * TS_VARINT_MAX_BYTES, &at);

	if (r)
		return r;
	p = ts_varint_put(at, row - planes->next_exception);
	p = ts_varint_put(p, ts_zigzag((uint64_t)high));
	planes->next_exception = row + 1;
	planes->n_exceptions++;
	planes->exceptions->n += (size_t)(p - at);
	return 0;
}

/*
 * Appends the exceptions of n <= SOME_ROWS numbers. `are_above` is padded with zeros to a multiple
 * of 8.
 */
static int put_exceptions(struct ts_planes *planes, const uint64_t *numbers, uint32_t n,
			  const uint8_t *are_above, uint64_t bias)
{
	uint32_t first = planes->n_done, max = ts_planes_max_exceptions(planes->n_values);
	int r = 0;

	for (uint32_t from = 0; from < n && planes->n_exceptions <= max; from += 8) {
		uint64_t above;

		memcpy(&above, are_above + from, sizeof(above));
		for (; !r && above; above &= above - 1) {
			uint32_t i = from + (uint32_t)__builtin_ctzll(above) / 8;

			r = put_exception(planes, numbers[i] + bias, first + i);
		}
	}
	return r;
}

int ts_planes_put(struct ts_planes *planes, const uint64_t *numbers, uint32_t n)
{
	uint64_t bias = bias_of(planes->n_planes, planes->is_centred);
	uint8_t are_above[SOME_ROWS + 8];
	int r = 0;

	for (uint32_t m; !r && n; n -= m, numbers += m) {
		m = n < SOME_ROWS ? n : SOME_ROWS;
		take_planes_fast(planes->bytes + planes->n_done, planes->n_values, planes->n_planes,
				 bias, numbers, m, are_above);
		memset(are_above + m, 0, 8);
		r = put_exceptions(planes, numbers, m, are_above, bias);
		planes->n_done += m;
	}
	return r;
}

int ts_varints_put(struct ts_buffer *out, const uint64_t *numbers, uint32_t n)
{
	uint8_t *at, *p;
	int r = ts_buffer_reserve(out, (size_t)n * TS_VARINT_MAX_BYTES, &at);

	p = at;
	for (uint32_t i = 0; !r && i < n; i++)
		p = ts_varint_put(p, ts_zigzag(numbers[i]));
	out->n += (size_t)(p - at);
	return r;
}

const char *ts_column_header_check(const struct ts_sbt_column_header *header)
{
	uint64_t n_values = header->n_values, n_bytes = header->n_bytes;

	if (!header->width || header->width > TS_SBT_MAX_WIDTH)
		return "a width outside its bounds";
	switch (header->encoding) {
	case TS_SBT_RAW:
		return n_bytes == n_values * header->width ? NULL : "plain values of a wrong size";
	case TS_SBT_CONSTANT:
		return n_bytes == header->width ? NULL : "a constant of a wrong size";
	case TS_SBT_VARINTS:
	case TS_SBT_PLANES:
		break;
	case TS_SBT_SCALED:
		if (header->width != 8 || header->trend ||
		    header->flags & (TS_SBT_COLUMN_INDEXED | TS_SBT_COLUMN_CENTRED))
			return "a width, a trend or a flag that scaled values cannot have";
		break;
	default:
		return "an unknown encoding";
	}
	if (header->width != 1 && header->width != 2 && header->width != 4 && header->width != 8)
		return "residuals whose width is not 1, 2, 4 or 8";
	if (header->predictor >= TS_SBT_PREDICTOR_COUNT)
		return "an unknown predictor";
	if (header->trend > TS_SBT_MAX_TREND)
		return "an unknown trend";
	if (header->encoding == TS_SBT_PLANES)
		return header->n_planes <= TS_PLANES_MAX && n_bytes >= header->n_planes * n_values
			       ? NULL
			       : "planes of a wrong size";
	if (n_bytes < n_values || n_bytes > n_values * TS_VARINT_MAX_BYTES)
		return "residuals of a wrong size";
	return NULL;
}

/*
 * Reads the next exception, if there is one: a residual that needs more bytes than the column has
 * planes.
 */
static void next_exception(struct ts_residuals *residuals, uint64_t first_row)
{
	uint64_t gap, high;

	residuals->exception = residuals->n_values;
	if (!residuals->p || residuals->p == residuals->end)
		return;
	residuals->p = ts_varint_get(residuals->p, residuals->end, &gap);
	if (residuals->p)
		residuals->p = ts_varint_get(residuals->p, residuals->end, &high);
	if (!residuals->p || residuals->n_planes == TS_PLANES_MAX ||
	    gap >= residuals->n_values - first_row) {
		residuals->p = NULL;
		return;
	}
	residuals->exception = first_row + gap;
	residuals->high = ts_unzigzag(high) << residuals->n_planes * 8;
}

void ts_residuals_init(struct ts_residuals *residuals, const struct ts_sbt_column_header *header,
		       const uint8_t *bytes)
{
	*residuals = (struct ts_residuals){
		.p = bytes,
		.end = bytes + header->n_bytes,
		.planes = bytes,
		.are_planes = header->encoding == TS_SBT_PLANES,
		.n_values = header->n_values,
	};
	if (!residuals->are_planes)
		return;
	residuals->n_planes = header->n_planes;
	residuals->bias = bias_of(header->n_planes, header->flags & TS_SBT_COLUMN_CENTRED);
	residuals->p += (size_t)header->n_planes * header->n_values;
	next_exception(residuals, 0);
}

static TS_ALWAYS_INLINE void next_planes(const uint8_t *restrict p, size_t stride,
					 unsigned n_planes, uint64_t bias, uint64_t *restrict to,
					 uint32_t n)
{
	const uint8_t *second = p + stride, *third = second + stride;
	uint32_t i;

	switch (n_planes) {
	case 0:
		memset(to, 0, n * sizeof(*to));
		return;
	case 1:
		for (i = 0; i < n; i++)
			to[i] = p[i] - bias;
		return;
	case 2:
		for (i = 0; i < n; i++)
			to[i] = (uint32_t)(p[i] | second[i] << 8) - bias;
		return;
	case 3:
		for (i = 0; i < n; i++)
			to[i] = (uint32_t)(p[i] | second[i] << 8 | third[i] << 16) - bias;
		return;
	default:
		break;
	}
	for (i = 0; i < n; i++)
		to[i] = (uint32_t)(p[i] | second[i] << 8 | third[i] << 16) - bias;
	for (unsigned plane = 3; plane < n_planes; plane++)
		for (i = 0; i < n; i++)
			to[i] += (uint64_t)p[plane * stride + i] << plane * 8;
}

TS_WIDE_OR_NOT(next_planes,
	       (const uint8_t *p, size_t stride, unsigned n_planes, uint64_t bias, uint64_t *to,
		uint32_t n),
	       (p, stride, n_planes, bias, to, n))

const char *ts_residuals_next(struct ts_residuals *residuals, uint64_t *to, uint32_t n)
{
	uint32_t from = residuals->n_done;
	uint64_t number;

	residuals->n_done += n;
	if (residuals->are_planes) {
		next_planes_fast(residuals->planes + from, residuals->n_values, residuals->n_planes,
				 residuals->bias, to, n);
		while (residuals->exception < residuals->n_done) {
			to[residuals->exception - from] += residuals->high;
			next_exception(residuals, residuals->exception + 1);
		}
		return residuals->p ? NULL : "invalid exceptions";
	}
	for (uint32_t i = 0; i < n; i++) {
		residuals->p = ts_varint_get(residuals->p, residuals->end, &number);
		if (ts_unlikely(!residuals->p))
			return "a number without an end";
		to[i] = ts_unzigzag(number);
	}
	return NULL;
}

static TS_ALWAYS_INLINE void narrow(const uint16_t *restrict from, uint32_t n, uint8_t *restrict to)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = (uint8_t)from[i];
}

TS_WIDE_OR_NOT(narrow, (const uint16_t *from, uint32_t n, uint8_t *to), (from, n, to))

void ts_index_to_plane(const uint16_t *from, uint32_t n, uint8_t *plane)
{
	narrow_fast(from, n, plane);
}

static TS_ALWAYS_INLINE void widen(const uint8_t *restrict from, uint16_t *restrict to, uint32_t n,
				   uint16_t *restrict ret_highest)
{
	uint8_t highest = 0;

	for (uint32_t i = 0; i < n; i++)
		to[i] = from[i];
	for (uint32_t i = 0; i < n; i++)
		highest = from[i] > highest ? from[i] : highest;
	*ret_highest = highest;
}

TS_WIDE_OR_NOT(widen, (const uint8_t *from, uint16_t *to, uint32_t n, uint16_t *ret_highest),
	       (from, to, n, ret_highest))

void ts_plane_to_index(const uint8_t *plane, uint32_t n, uint16_t *to, uint16_t *ret_highest)
{
	widen_fast(plane, to, n, ret_highest);
}

const char *ts_residuals_finish(const struct ts_residuals *residuals)
{
	return residuals->p == residuals->end ? NULL : "bytes after its last value";
}
