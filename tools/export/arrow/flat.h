/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds a buffer in the FlatBuffers format (google/flatbuffers, "FlatBuffers internals"): tables,
 * vectors and strings, as far as Arrow's messages need them. Positions are offsets from the start
 * of the buffer. A parent is written before its children, because references point forward.
 *
 * The first error stays in `error`, and later calls do nothing. Not thread-safe.
 */
#pragma once

#include <stdint.h>

#include "sbt/buffer.h"

struct ts_flat {
	struct ts_buffer buffer;
	int error; /* 0 or -ENOMEM */
};

/* A field of a table, in the order of the schema. */
struct ts_flat_field {
	uint32_t width; /* bytes: 1, 2, 4, 8; 0: the field is absent */
	uint64_t value; /* 0 for a reference, which ts_flat_refer() sets later */
	uint32_t at;	/* output: the position of the field */
};

#define TS_FLAT_ABSENT \
	{              \
		0      \
	}
#define TS_FLAT_REFERENCE  \
	{                  \
		.width = 4 \
	}
#define TS_FLAT_I8(number)                              \
	{                                               \
		.width = 1, .value = (uint64_t)(number) \
	}
#define TS_FLAT_I16(number)                             \
	{                                               \
		.width = 2, .value = (uint64_t)(number) \
	}
#define TS_FLAT_I32(number)                             \
	{                                               \
		.width = 4, .value = (uint64_t)(number) \
	}
#define TS_FLAT_I64(number)                             \
	{                                               \
		.width = 8, .value = (uint64_t)(number) \
	}
#define TS_FLAT_MAX_FIELDS    8u
#define TS_FLAT_STRUCT_ALIGN  8u
#define TS_FLAT_VECTOR_HEADER 4u

/* Starts a buffer, whose first word refers to the root table: ts_flat_refer(flat, 0, root). */
void ts_flat_begin(struct ts_flat *flat);
void ts_flat_deinit(struct ts_flat *flat);

/* Appends a table with at most TS_FLAT_MAX_FIELDS fields, and returns its position. */
uint32_t ts_flat_table(struct ts_flat *flat, struct ts_flat_field *fields, unsigned int n_fields);

/* Makes the reference at position `at` refer to `target`, which is behind it. */
void ts_flat_refer(struct ts_flat *flat, uint32_t at, uint32_t target);

/* Appends a string and returns its position. */
uint32_t ts_flat_string(struct ts_flat *flat, const char *text);

/*
 * Appends a vector of `n` elements, which are zero, and returns its position. The elements begin
 * TS_FLAT_VECTOR_HEADER bytes later. Elements of 8 bytes or more are structs, aligned to 8 bytes.
 */
uint32_t ts_flat_vector(struct ts_flat *flat, uint32_t n, uint32_t element_bytes);

/* Stores a number of `width` bytes at a position. */
void ts_flat_put(struct ts_flat *flat, uint32_t at, uint32_t width, uint64_t value);

/* Appends zeros. */
void ts_flat_pad(struct ts_flat *flat, uint32_t n_bytes);
