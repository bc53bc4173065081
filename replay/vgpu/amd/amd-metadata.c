/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the metadata of AMD's code objects. amd-code.c calls it with an ELF file that it found in a
 * program's bundle. An ELF file keeps the metadata in a note, as a MessagePack map:
 *
 * 	amdhsa.kernels: [{.name: "_Z3addPf", .vgpr_count: 6, .args: [{.offset: 0, ...}, ...], ...}]
 *
 * Unknown keys are skipped without recursion: skip() counts the values that are still to come.
 */
#include "replay/vgpu/amd/amd-metadata.h"

/* ---- MessagePack ---- */

struct pack {
	const uint8_t *bytes;
	size_t n;
};

enum kind {
	KIND_UINT,
	KIND_TEXT,
	KIND_ARRAY,
	KIND_MAP,
	KIND_OTHER
};

struct value {
	enum kind kind;
	uint64_t n;	   /* UINT: the number; TEXT: bytes; ARRAY: values; MAP: pairs */
	const uint8_t *at; /* TEXT */
};

static bool take(struct pack *pack, size_t n, const uint8_t **ret)
{
	if (pack->n < n)
		return false;
	*ret = pack->bytes;
	pack->bytes += n;
	pack->n -= n;
	return true;
}

/* Takes a big-endian number of 1, 2, 4 or 8 bytes. */
static bool take_number(struct pack *pack, size_t n_bytes, uint64_t *ret)
{
	const uint8_t *bytes;
	uint64_t number = 0;

	if (!take(pack, n_bytes, &bytes))
		return false;
	for (size_t i = 0; i < n_bytes; i++)
		number = number << 8 | bytes[i];
	*ret = number;
	return true;
}

/* The byte of a format, as MessagePack's specification numbers them. */
#define NIL	0xc0u
#define NEVER	0xc1u
#define FALSE_	0xc2u
#define TRUE_	0xc3u
#define BIN8	0xc4u
#define EXT8	0xc7u
#define FLOAT32 0xcau
#define FLOAT64 0xcbu
#define UINT8	0xccu
#define INT8	0xd0u
#define FIXEXT1 0xd4u
#define STR8	0xd9u
#define ARRAY16 0xdcu
#define MAP16	0xdeu

static bool take_text(struct pack *pack, uint64_t n, struct value *ret)
{
	ret->kind = KIND_TEXT;
	ret->n = n;
	return n <= pack->n && take(pack, n, &ret->at);
}

/* Takes n bytes whose content does not matter. */
static bool take_other(struct pack *pack, uint64_t n)
{
	const uint8_t *ignored;

	return n <= pack->n && take(pack, n, &ignored);
}

/* Takes the value that `format`, a byte from 0xc0 to 0xdf, begins. */
static bool take_long(struct pack *pack, unsigned format, struct value *ret)
{
	uint64_t n;

	switch (format) {
	case NIL:
	case FALSE_:
	case TRUE_:
		return true;
	case BIN8:
	case BIN8 + 1:
	case BIN8 + 2:
		return take_number(pack, (size_t)1 << (format - BIN8), &n) && take_other(pack, n);
	case EXT8:
	case EXT8 + 1:
	case EXT8 + 2:
		/* An extension has a byte of type. */
		return take_number(pack, (size_t)1 << (format - EXT8), &n) &&
		       take_other(pack, n + 1);
	case FLOAT32:
	case FLOAT64:
		return take_other(pack, format == FLOAT32 ? 4 : 8);
	case UINT8:
	case UINT8 + 1:
	case UINT8 + 2:
	case UINT8 + 3:
		ret->kind = KIND_UINT;
		return take_number(pack, (size_t)1 << (format - UINT8), &ret->n);
	case INT8:
	case INT8 + 1:
	case INT8 + 2:
	case INT8 + 3:
		return take_other(pack, (uint64_t)1 << (format - INT8));
	case FIXEXT1:
	case FIXEXT1 + 1:
	case FIXEXT1 + 2:
	case FIXEXT1 + 3:
	case FIXEXT1 + 4:
		return take_other(pack, 1 + ((uint64_t)1 << (format - FIXEXT1)));
	case STR8:
	case STR8 + 1:
	case STR8 + 2:
		return take_number(pack, (size_t)1 << (format - STR8), &n) &&
		       take_text(pack, n, ret);
	case ARRAY16:
	case ARRAY16 + 1:
		ret->kind = KIND_ARRAY;
		return take_number(pack, (size_t)2 << (format - ARRAY16), &ret->n);
	case MAP16:
	case MAP16 + 1:
		ret->kind = KIND_MAP;
		return take_number(pack, (size_t)2 << (format - MAP16), &ret->n);
	default: /* NEVER */
		return false;
	}
}

/* Takes a value; of an array or a map the head alone. */
static bool take_value(struct pack *pack, struct value *ret)
{
	const uint8_t *format;

	*ret = (struct value){.kind = KIND_OTHER};
	if (!take(pack, 1, &format))
		return false;
	if (*format < 0x80) {
		ret->kind = KIND_UINT;
		ret->n = *format;
		return true;
	}
	if (*format < 0xa0) {
		ret->kind = *format < 0x90 ? KIND_MAP : KIND_ARRAY;
		ret->n = *format & 0xf;
		return true;
	}
	if (*format < 0xc0)
		return take_text(pack, *format & 0x1f, ret);
	return *format >= 0xe0 || take_long(pack, *format, ret);
}

/* Returns the number of values inside a value. Each one is at least one byte long. */
static bool count_inner(const struct pack *pack, const struct value *value, uint64_t *ret)
{
	*ret = value->kind == KIND_ARRAY ? value->n : value->kind == KIND_MAP ? 2 * value->n : 0;
	return *ret <= pack->n;
}

/* Skips the rest of a value whose head was taken. */
static bool skip(struct pack *pack, const struct value *value)
{
	struct value next;
	uint64_t left, inner;

	if (!count_inner(pack, value, &left))
		return false;
	while (left) {
		if (!take_value(pack, &next) || !count_inner(pack, &next, &inner))
			return false;
		left += inner - 1;
		/* The sum cannot overflow: it is bounded here. */
		if (left > pack->n)
			return false;
	}
	return true;
}

static bool is_text(const struct value *value, const char *text)
{
	return value->kind == KIND_TEXT && value->n == strlen(text) &&
	       !memcmp(value->at, text, value->n);
}

static bool take_argument(struct pack *pack, struct ts_amd_argument *ret)
{
	struct value map, key, value;

	if (!take_value(pack, &map) || map.kind != KIND_MAP)
		return false;
	for (uint64_t i = 0; i < map.n; i++) {
		if (!take_value(pack, &key) || key.kind != KIND_TEXT || !take_value(pack, &value))
			return false;
		if (value.kind == KIND_UINT && value.n <= UINT32_MAX) {
			if (is_text(&key, ".offset"))
				ret->offset = (uint32_t)value.n;
			else if (is_text(&key, ".size"))
				ret->bytes = (uint32_t)value.n;
		} else if (value.kind == KIND_TEXT && is_text(&key, ".value_kind")) {
			ret->is_hidden = value.n >= 7 && !memcmp(value.at, "hidden_", 7);
		}
		if (!skip(pack, &value))
			return false;
	}
	return true;
}

static bool take_arguments(struct pack *pack, const struct value *array,
			   struct ts_amd_kernel *kernel)
{
	struct ts_amd_argument argument;

	if (array->kind != KIND_ARRAY || array->n > pack->n)
		return false;
	kernel->n_arguments = (uint32_t)array->n;
	for (uint32_t i = 0; i < kernel->n_arguments; i++) {
		argument = (struct ts_amd_argument){0};
		if (!take_argument(pack, &argument))
			return false;
		if (i < TS_AMD_MAX_ARGUMENTS)
			kernel->arguments[i] = argument;
	}
	return true;
}

/* Returns the place of a number in the struct; NULL: the key is none of them. */
static uint32_t *number_of(struct ts_amd_kernel *kernel, const struct value *key)
{
	const struct {
		const char *key;
		uint32_t *number;
	} numbers[] = {
		{".vgpr_count", &kernel->n_vgprs},
		{".agpr_count", &kernel->n_agprs},
		{".sgpr_count", &kernel->n_sgprs},
		{".group_segment_fixed_size", &kernel->lds_bytes},
		{".private_segment_fixed_size", &kernel->private_bytes},
		{".wavefront_size", &kernel->wavefront_size},
		{".max_flat_workgroup_size", &kernel->max_workgroup_size},
		{".kernarg_segment_size", &kernel->argument_bytes},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(numbers); i++)
		if (is_text(key, numbers[i].key))
			return numbers[i].number;
	return NULL;
}

static bool take_kernel(struct pack *pack, struct ts_amd_kernel *kernel)
{
	struct value map, key, value;
	uint32_t *number;

	if (!take_value(pack, &map) || map.kind != KIND_MAP)
		return false;
	for (uint64_t i = 0; i < map.n; i++) {
		if (!take_value(pack, &key) || key.kind != KIND_TEXT || !take_value(pack, &value))
			return false;
		number = value.kind == KIND_UINT ? number_of(kernel, &key) : NULL;
		if (number && value.n > UINT32_MAX)
			return false;
		if (number)
			*number = (uint32_t)value.n;
		if (is_text(&key, ".args")) {
			if (!take_arguments(pack, &value, kernel))
				return false;
			continue;
		}
		if (is_text(&key, ".name") && value.kind == KIND_TEXT && value.n <= UINT32_MAX) {
			kernel->name = (const char *)value.at;
			kernel->n_name_bytes = (uint32_t)value.n;
		}
		if (!skip(pack, &value))
			return false;
	}
	return kernel->name;
}

static int take_kernels(struct pack *pack, const struct value *array, ts_amd_kernel_fn *receive,
			void *userdata)
{
	struct ts_amd_kernel kernel;
	int r;

	if (array->kind != KIND_ARRAY || array->n > pack->n)
		return TS_AMD_CODE_E_METADATA;
	for (uint64_t i = 0; i < array->n; i++) {
		memset(&kernel, 0, offsetof(struct ts_amd_kernel, arguments));
		if (!take_kernel(pack, &kernel))
			return TS_AMD_CODE_E_METADATA;
		r = receive(userdata, &kernel);
		if (r)
			return r;
	}
	return 0;
}

int ts_amd_metadata_read(const uint8_t *metadata, size_t n_bytes, ts_amd_kernel_fn *receive,
			 void *userdata)
{
	struct pack pack = {metadata, n_bytes};
	struct value map, key, value;

	if (!take_value(&pack, &map) || map.kind != KIND_MAP)
		return TS_AMD_CODE_E_METADATA;
	for (uint64_t i = 0; i < map.n; i++) {
		if (!take_value(&pack, &key) || key.kind != KIND_TEXT || !take_value(&pack, &value))
			return TS_AMD_CODE_E_METADATA;
		if (is_text(&key, "amdhsa.kernels"))
			return take_kernels(&pack, &value, receive, userdata);
		if (!skip(&pack, &value))
			return TS_AMD_CODE_E_METADATA;
	}
	/* A code object may have variables alone. */
	return 0;
}

const char *ts_amd_code_why(int error)
{
	static const char *const texts[TS_AMD_CODE_E_COUNT] = {
		[TS_AMD_CODE_E_FORMAT] = "neither an ELF file nor a bundle",
		[TS_AMD_CODE_E_CUT] = "a size or an offset lies beyond its end",
		[TS_AMD_CODE_E_TARGET] = "no code for this device",
		[TS_AMD_CODE_E_MACHINE] = "an ELF file for another machine",
		[TS_AMD_CODE_E_NOTE] = "no metadata of version 3 or later",
		[TS_AMD_CODE_E_METADATA] = "malformed metadata",
		[TS_AMD_CODE_E_COMPRESSION] = "unknown or corrupt compression",
		[TS_AMD_CODE_E_LARGE] = "too large",
	};

	return error > 0 && error < TS_AMD_CODE_E_COUNT ? texts[error] : "unknown error";
}
