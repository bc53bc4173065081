/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values of arrays as text, in the types that kernels name in their signatures: "1.0", "-3", "true". Types are CUDA's on 64-bit
 * Linux (long has 8 bytes). No state; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ts_value_kind {
	TS_VALUE_SIGNED,
	TS_VALUE_UNSIGNED,
	TS_VALUE_FLOAT, /* IEEE 754: 2, 4 or 8 bytes */
	TS_VALUE_BFLOAT,
	TS_VALUE_BOOL,
	TS_VALUE_POINTER,
};

#define TS_VALUE_TYPE_BYTES 24u

struct ts_value_type {
	enum ts_value_kind kind;
	uint32_t bytes;			/* of a part */
	uint32_t n_parts;		/* 1; of a vector 2 to 4 */
	uint32_t align;			/* of an element, which has n_parts * bytes */
	char name[TS_VALUE_TYPE_BYTES]; /* of a part: "float" of float4 */
};

/*
 * Reads the first n bytes of `name`: "float", "unsigned int", "__half", "float4", "char const", "int*". False: the type is none of
 * those, or a struct of the program's own.
 */
bool ts_value_type_parse(const char *name, size_t n, struct ts_value_type *ret_type);

#define TS_VALUE_TEXT_BYTES 48u
/*
 * Writes one part, which has type->bytes bytes. A float has the fewest digits that tell it from its neighbours, and always a point
 * or an exponent. A NaN has its bits; a pointer is in hex.
 */
void ts_value_print(const struct ts_value_type *type, const uint8_t *bytes,
		    char ret_text[TS_VALUE_TEXT_BYTES]);
