/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes columns of values to bytes and decodes them. The stored number of a value is its
 * residual, the difference from a prediction. predict.h makes predictions; this module stores
 * numbers. Private to sbt/.
 *
 * A check or a decoding function returns NULL on success, else a literal with the reason. Nothing
 * here is thread-safe.
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

/* Returns the bytes of the value as a varint. */
static inline unsigned ts_varint_bytes(uint64_t value)
{
	return (unsigned)(63 - __builtin_clzll(value | 1)) / 7 + 1;
}

/*
 * Widens values of `width` bytes to 64 bits, with sign extension if is_signed. The width is 1, 2, 4
 * or 8.
 */
void ts_column_load(uint64_t *to, const void *values, uint32_t n, uint16_t width, bool is_signed);

/*
 * Narrows 64-bit numbers to values of 1, 2, 4 or 8 bytes. Returns false if a number does not fit.
 */
bool ts_column_store(void *to, const uint64_t *from, uint32_t n, uint16_t width, bool is_signed);

static inline bool ts_all_zero(const uint8_t *bytes, size_t n)
{
	return !n || (!bytes[0] && !memcmp(bytes, bytes + 1, n - 1));
}

/* Returns true if all values are equal and there is at least one. */
bool ts_column_is_constant(const void *values, uint32_t n, uint16_t width);

/*
 * Writes numbers as planes of bytes: the lowest bytes of all numbers, then the second bytes, up to
 * n_planes. If is_centred, half the range of the planes is added to each number, so that numbers
 * below zero fit. A number with more bytes than planes is completed by an entry in the list of
 * exceptions, which follows the planes.
 */
struct ts_planes {
	unsigned n_planes;
	bool is_centred;
	uint32_t n_values;
	uint32_t n_done;
	uint32_t next_exception; /* the row after the last exception */
	uint32_t n_exceptions;
	uint8_t *bytes; /* of the first plane */
	struct ts_buffer *exceptions;
};

/*
 * Chooses the number of planes from a sample, so that at most 1 number in 32 becomes an exception.
 * *ret_is_centred is true if more than 1 number in 64 is negative.
 */
unsigned ts_planes_choose(const uint64_t *numbers, uint32_t n, bool *ret_is_centred);

/*
 * Writes the next `n` numbers. Returns 0 or -ENOMEM. After ts_planes_max_exceptions() exceptions,
 * no more exceptions are written; n_exceptions is above the limit then. The caller starts again
 * with one more plane.
 */
int ts_planes_put(struct ts_planes *planes, const uint64_t *numbers, uint32_t n);

/* Returns the maximum number of exceptions that a column of n_values may have. */
static inline uint32_t ts_planes_max_exceptions(uint32_t n_values)
{
	return n_values / 16;
}

/* Appends numbers as zigzag varints. Returns 0 or -ENOMEM. */
int ts_varints_put(struct ts_buffer *out, const uint64_t *numbers, uint32_t n);

/* The reading position in a column's numbers. */
struct ts_residuals {
	const uint8_t *p; /* varints, or the exceptions; NULL: invalid */
	const uint8_t *end;
	const uint8_t *planes;
	unsigned n_planes;
	bool are_planes;
	uint32_t n_values;
	uint32_t n_done;
	uint64_t bias;
	uint64_t exception; /* row of the next exception; n_values: no more */
	uint64_t high;	    /* the exception's high part, to be added */
};

/*
 * Checks a column's header against its encoding. Returns NULL, or the reason why the header is
 * invalid.
 */
const char *ts_column_header_check(const struct ts_sbt_column_header *header);

/*
 * Starts reading. `bytes` are the column's n_bytes, and must outlive *residuals. The header is
 * checked, and its encoding is VARINTS or PLANES.
 */
void ts_residuals_init(struct ts_residuals *residuals, const struct ts_sbt_column_header *header,
		       const uint8_t *bytes);

/*
 * Reads the next `n` residuals. The caller ensures that n_values has that many left. Returns NULL,
 * or the reason why the bytes are invalid.
 */
const char *ts_residuals_next(struct ts_residuals *residuals, uint64_t *to, uint32_t n);

/* Checks, after the last residual, that no bytes are left. Returns NULL, or the reason. */
const char *ts_residuals_finish(const struct ts_residuals *residuals);

/* Narrows indices below 256 to one plane. */
void ts_index_to_plane(const uint16_t *from, uint32_t n, uint8_t *plane);

/* Widens one plane without exceptions to indices. *ret_highest is the highest index. */
void ts_plane_to_index(const uint8_t *plane, uint32_t n, uint16_t *to, uint16_t *ret_highest);
