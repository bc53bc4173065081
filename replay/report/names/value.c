/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parses CUDA's scalar and vector types and prints values as text. signature.c and element.c call
 * this file. Types are looked up by the demangler's spelling, which is unique for each type.
 */
#include "replay/report/names/value.h"

#include "proto/abi/base.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	enum ts_value_kind kind;
	uint32_t bytes;
	const char *vector; /* "float" for float2, float3, float4; NULL: no vectors */
} scalars[] = {
	{"float", TS_VALUE_FLOAT, 4, "float"},
	{"double", TS_VALUE_FLOAT, 8, "double"},
	{"__half", TS_VALUE_FLOAT, 2, NULL},
	{"c10::Half", TS_VALUE_FLOAT, 2, NULL},
	{"__nv_bfloat16", TS_VALUE_BFLOAT, 2, NULL},
	{"c10::BFloat16", TS_VALUE_BFLOAT, 2, NULL},
	{"bool", TS_VALUE_BOOL, 1, NULL},
	{"char", TS_VALUE_SIGNED, 1, "char"},
	{"signed char", TS_VALUE_SIGNED, 1, NULL},
	{"unsigned char", TS_VALUE_UNSIGNED, 1, "uchar"},
	{"short", TS_VALUE_SIGNED, 2, "short"},
	{"unsigned short", TS_VALUE_UNSIGNED, 2, "ushort"},
	{"int", TS_VALUE_SIGNED, 4, "int"},
	{"unsigned int", TS_VALUE_UNSIGNED, 4, "uint"},
	{"long", TS_VALUE_SIGNED, 8, "long"},
	{"unsigned long", TS_VALUE_UNSIGNED, 8, "ulong"},
	{"long long", TS_VALUE_SIGNED, 8, "longlong"},
	{"unsigned long long", TS_VALUE_UNSIGNED, 8, "ulonglong"},
};

static bool is_word(const char *text, size_t n, const char *word)
{
	return word && strlen(word) == n && !strncmp(text, word, n);
}

static size_t without_end(const char *text, size_t n, const char *end)
{
	size_t n_end = strlen(end);

	return n >= n_end && !strncmp(text + n - n_end, end, n_end) ? n - n_end : n;
}

/* Removes qualifiers: "float const", "const float". */
static void strip(const char **text, size_t *n)
{
	static const char *const behind[] = {" ", " const", " volatile", " __restrict__", "*const"};
	static const char *const before[] = {" ", "const ", "volatile "};
	size_t was;

	do {
		was = *n;
		for (size_t i = 0; i < TS_ARRAY_LEN(behind); i++) {
			size_t left = without_end(*text, *n, behind[i]);

			/* Keeps the asterisk. */
			*n = left < *n && *behind[i] == '*' ? left + 1 : left;
		}
		for (size_t i = 0; i < TS_ARRAY_LEN(before); i++) {
			size_t k = strlen(before[i]);

			if (*n >= k && !strncmp(*text, before[i], k)) {
				*text += k;
				*n -= k;
			}
		}
	} while (*n != was);
}

static void set(struct ts_value_type *type, size_t scalar, uint32_t n_parts)
{
	uint32_t bytes = scalars[scalar].bytes;

	*type = (struct ts_value_type){
		.kind = scalars[scalar].kind,
		.bytes = bytes,
		.n_parts = n_parts,
		.align = n_parts == 3		? bytes
			 : n_parts * bytes > 16 ? 16
						: n_parts * bytes,
	};
	snprintf(type->name, sizeof(type->name), "%s", scalars[scalar].name);
}

static bool find_scalar(const char *name, size_t n, uint32_t n_parts,
			struct ts_value_type *ret_type)
{
	for (size_t i = 0; i < TS_ARRAY_LEN(scalars); i++)
		if (is_word(name, n, n_parts > 1 ? scalars[i].vector : scalars[i].name)) {
			set(ret_type, i, n_parts);
			return true;
		}
	return false;
}

bool ts_value_type_parse(const char *name, size_t n, struct ts_value_type *ret_type)
{
	strip(&name, &n);
	if (!n)
		return false;
	if (name[n - 1] == '*') {
		*ret_type = (struct ts_value_type){TS_VALUE_POINTER, 8, 1, 8, "pointer"};
		return true;
	}
	if (find_scalar(name, n, 1, ret_type))
		return true;
	if (is_word(name, n, "__half2"))
		return find_scalar("__half", 6, 1, ret_type) &&
		       (ret_type->n_parts = 2, ret_type->align = 4, true);
	if (is_word(name, n, "__nv_bfloat162"))
		return find_scalar("__nv_bfloat16", 13, 1, ret_type) &&
		       (ret_type->n_parts = 2, ret_type->align = 4, true);
	return name[n - 1] >= '2' && name[n - 1] <= '4' &&
	       find_scalar(name, n - 1, (uint32_t)(name[n - 1] - '0'), ret_type);
}

/* ---- floats ---------------------------------------------------------------------------------- */

static double half_of(uint64_t bits)
{
	uint32_t exponent = (uint32_t)bits >> 10 & 31, fraction = (uint32_t)bits & 1023;
	double value = exponent == 31 ? (fraction ? NAN : INFINITY)
		       : exponent     ? ldexp((double)(1024 + fraction), (int)exponent - 25)
				      : ldexp((double)fraction, -24);

	return bits >> 15 & 1 ? -value : value;
}

static double single_of(uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float value;

	memcpy(&value, &low, sizeof(value));
	return (double)value;
}

static double value_of(const struct ts_value_type *type, uint64_t bits)
{
	double value;

	if (type->kind == TS_VALUE_BFLOAT)
		return single_of(bits << 16);
	if (type->bytes == 2)
		return half_of(bits);
	if (type->bytes == 4)
		return single_of(bits);
	memcpy(&value, &bits, sizeof(value));
	return value;
}

/*
 * True if `number` is nearer to the value of `bits` than to the next smaller and the next larger
 * float.
 */
static bool is_nearest(const struct ts_value_type *type, uint64_t bits, double number)
{
	double value = value_of(type, bits), off = fabs(number - value);
	double above = value_of(type, bits + 1);
	double below = value_of(type, bits - 1);

	/*
	 * Both neighbours of zero are the smallest values of either sign, so only an exact zero
	 * matches.
	 */
	if (value == 0)
		return number == 0;
	if (type->bytes == 8)
		return number == value;
	/* The greatest value has no larger neighbour: use the distance to the smaller one. */
	if (!isfinite(above))
		above = value + (value - below);
	return off < fabs(number - above) && off < fabs(number - below);
}

static void print_float(const struct ts_value_type *type, uint64_t bits,
			char ret_text[TS_VALUE_TEXT_BYTES])
{
	double value = value_of(type, bits);
	int digits = 1;

	if (isnan(value)) {
		snprintf(ret_text, TS_VALUE_TEXT_BYTES, "nan (0x%0*" PRIx64 ")",
			 (int)(2 * type->bytes), bits);
		return;
	}
	if (isinf(value)) {
		snprintf(ret_text, TS_VALUE_TEXT_BYTES, "%s", value < 0 ? "-inf" : "inf");
		return;
	}
	/* 90.0 is easier to read than 9e+01. */
	if (fabs(value) < 1e6 && value == (double)(int64_t)value) {
		snprintf(ret_text, TS_VALUE_TEXT_BYTES, "%.1f", value);
		return;
	}
	do
		snprintf(ret_text, TS_VALUE_TEXT_BYTES, "%.*g", digits, value);
	while (digits++ < 17 && !is_nearest(type, bits, strtod(ret_text, NULL)));
	if (!strpbrk(ret_text, ".e"))
		strcat(ret_text, ".0");
}

/* ---- all ------------------------------------------------------------------------------------- */

void ts_value_print(const struct ts_value_type *type, const uint8_t *bytes,
		    char ret_text[TS_VALUE_TEXT_BYTES])
{
	uint64_t bits = 0;
	uint32_t unused = 64 - 8 * type->bytes;

	for (uint32_t i = type->bytes; i-- > 0;)
		bits = bits << 8 | bytes[i];
	switch (type->kind) {
	case TS_VALUE_SIGNED:
		snprintf(ret_text, TS_VALUE_TEXT_BYTES, "%" PRId64,
			 (int64_t)(bits << unused) >> unused);
		return;
	case TS_VALUE_FLOAT:
	case TS_VALUE_BFLOAT:
		print_float(type, bits, ret_text);
		return;
	case TS_VALUE_BOOL:
		if (bits < 2) {
			snprintf(ret_text, TS_VALUE_TEXT_BYTES, "%s", bits ? "true" : "false");
			return;
		}
		snprintf(ret_text, TS_VALUE_TEXT_BYTES, "0x%02" PRIx64, bits);
		return;
	case TS_VALUE_POINTER:
		snprintf(ret_text, TS_VALUE_TEXT_BYTES, "0x%" PRIx64, bits);
		return;
	case TS_VALUE_UNSIGNED:
		break;
	}
	snprintf(ret_text, TS_VALUE_TEXT_BYTES, "%" PRIu64, bits);
}
