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

static inline bool ts_all_zero(const uint8_t *bytes, size_t n)
{
	return !n || (!bytes[0] && !memcmp(bytes, bytes + 1, n - 1));
}

/* Where every value equals the next. */
bool ts_column_is_constant(const void *values, uint32_t n, uint16_t width);

/*
 * Numbers to planes of bytes, some at a time: the lowest bytes of all, then the second ones of all, up to `n_planes`. Numbers
 * may be below zero: half of what the planes can say is added to them where `centred`. What a number has above its planes
 * goes to a list of exceptions behind them.
 */
struct ts_planes {
	unsigned n_planes;
	bool is_centred;
	uint32_t n_values;
	uint32_t n_done;
	uint32_t next_exception; /* the row behind the last one */
	uint32_t n_exceptions;
	uint8_t *bytes; /* of the first plane */
	struct ts_buffer *exceptions;
};

/*
 * How many planes are worth it, by a sample: few numbers shall be exceptions. *ret_is_centred: enough are below zero.
 */
unsigned ts_planes_choose(const uint64_t *numbers, uint32_t n, bool *ret_is_centred);

/*
 * The next n numbers. 0 or -ENOMEM. Exceptions beyond ts_planes_max_exceptions() are not listed, only counted: the
 * caller begins anew with a plane more.
 */
int ts_planes_put(struct ts_planes *planes, const uint64_t *numbers, uint32_t n);

/* Of so many values. */
static inline uint32_t ts_planes_max_exceptions(uint32_t n_values)
{
	return n_values / 16;
}

/* Numbers as varints, zigzag. 0 or -ENOMEM. */
int ts_varints_put(struct ts_buffer *out, const uint64_t *numbers, uint32_t n);

/* Where reading a column's numbers stands. */
struct ts_residuals {
	const uint8_t *p; /* varints, or the exceptions; NULL: they were wrong */
	const uint8_t *end;
	const uint8_t *planes;
	unsigned n_planes;
	bool are_planes;
	uint32_t n_values;
	uint32_t n_done;
	uint64_t bias;
	uint64_t exception; /* the row of the next one; n_values: none is left */
	uint64_t high;	    /* what it adds */
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

/* Indices below 256 as one plane. */
void ts_index_to_plane(const uint16_t *from, uint32_t n, uint8_t *plane);

/* One plane of small numbers that need nothing more, and the highest of them. */
void ts_plane_to_index(const uint8_t *plane, uint32_t n, uint16_t *to, uint16_t *ret_highest);
