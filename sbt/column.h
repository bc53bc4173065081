/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns of values to bytes and back: what is stored of each value is its residual, the difference from a prediction.
 * predict.h makes predictions, this module stores numbers. Private to sbt/.
 */
#pragma once

#include "sbt/buffer.h"
#include "sbt/format.h"

#define TS_VARINT_MAX_BYTES 10
#define TS_PLANES_MAX	    8u

static inline uint64_t ts_zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)((int64_t)difference >> 63);
}

static inline uint64_t ts_unzigzag(uint64_t value)
{
	return value >> 1 ^ -(value & 1);
}

/* Bytes that a varint takes. */
static inline unsigned ts_varint_bytes(uint64_t value)
{
	return (unsigned)(63 - __builtin_clzll(value | 1)) / 7 + 1;
}

/* Values of `width` bytes to 64 bits, extended by sign where signed. Widths 1, 2, 4 and 8. */
void ts_column_load(uint64_t *to, const void *values, uint32_t n, uint16_t width, bool is_signed);

/* And back, any widths but those above excluded. False: one does not fit. */
bool ts_column_store(void *to, const uint64_t *from, uint32_t n, uint16_t width, bool is_signed);

/* Where every value equals the next. */
bool ts_column_is_constant(const void *values, uint32_t n, uint16_t width);

/*
 * Appends residuals to `out`, as VARINTS or PLANES: the former where there are few, or where the caller says that they
 * resemble words more than noise. Tells which, and how many bytes they took. `max_bytes` a value are worth it: when they
 * would take more, *ret_encoding is RAW and nothing is appended. 0 or -ENOMEM.
 */
int ts_residuals_encode(struct ts_buffer *out, const uint64_t *residuals, uint32_t n,
			uint16_t max_bytes, bool prefer_varints, uint8_t *ret_encoding,
			uint32_t *ret_n_bytes);

/* Where reading residuals stands. */
struct ts_residuals {
	const uint8_t *p;
	const uint8_t *end;
	uint32_t n_planes; /* 0: varints */
	uint32_t n_values; /* of a plane */
};

/* Checks a column's header against what its encoding allows. NULL: fine, else what is wrong. */
const char *ts_column_header_check(const struct ts_sbt_column_header *header);

/* `bytes` are the column's n_bytes, its header is checked, its encoding VARINTS or PLANES. */
void ts_residuals_init(struct ts_residuals *residuals, const struct ts_sbt_column_header *header,
		       const uint8_t *bytes);

/* The next n, which the caller knows to be there by the column's n_values. NULL: fine, else what is wrong. */
const char *ts_residuals_next(struct ts_residuals *residuals, uint64_t *to, uint32_t n);

/* After the last: nothing may be left over. */
const char *ts_residuals_finish(const struct ts_residuals *residuals);
