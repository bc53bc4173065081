/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints array values as text, in the types that kernel signatures name: "1.0", "-3", "true". Types
 * are CUDA's on 64-bit Linux (long has 8 bytes). Stateless and thread-safe.
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
	uint32_t bytes;	  /* size of a part */
	uint32_t n_parts; /* 1; for a vector 2 to 4 */
	/* alignment of an element, which has n_parts * bytes bytes */
	uint32_t align;
	char name[TS_VALUE_TYPE_BYTES]; /* name of a part: "float" for float4 */
};

/*
 * Parses the first n bytes of `name`: "float", "unsigned int", "__half", "float4", "char const",
 * "int*". Returns false for any other type, for example a struct of the program.
 */
bool ts_value_type_parse(const char *name, size_t n, struct ts_value_type *ret_type);

#define TS_VALUE_TEXT_BYTES 48u
/*
 * Prints one part of type->bytes bytes. A float has the fewest digits that identify it, and always
 * a point or an exponent. A NaN is printed with its bits, a pointer in hex.
 */
void ts_value_print(const struct ts_value_type *type, const uint8_t *bytes,
		    char ret_text[TS_VALUE_TEXT_BYTES]);
