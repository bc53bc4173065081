/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the metadata of AMD's code objects: MessagePack in an ELF note (LLVM's "User Guide for
 * AMDGPU Backend", Code Object V3 to V6 Metadata), as a map:
 *
 * 	amdhsa.kernels: [{.name: "_Z3addPf", .vgpr_count: 6, .args: [{.offset: 0, ...}, ...], ...}]
 *
 * The shim reads it when it captures for a replay; the daemon's worker and the virtual GPU read it
 * by replay/vgpu/amd. Input is untrusted. Thread-safe; allocates nothing. Unknown keys are skipped
 * without recursion: the reader counts the values that are still to come.
 */
#pragma once

#include "proto/abi/amdcode.h"

/* More arguments are counted, and not stored. */
#define TS_AMD_MAX_ARGUMENTS 128u

struct ts_amd_argument {
	uint32_t offset; /* in the segment of arguments */
	uint32_t bytes;
	bool is_hidden; /* the compiler's own, not the program's */
};

struct ts_amd_kernel {
	const char *name; /* mangled, not terminated; lies in the input */
	uint32_t n_name_bytes;
	uint32_t n_vgprs;	/* of a lane, AGPRs included from gfx90a on */
	uint32_t n_agprs;	/* part of n_vgprs */
	uint32_t n_sgprs;	/* of a wavefront */
	uint32_t lds_bytes;	/* static, of a workgroup */
	uint32_t private_bytes; /* of a work-item */
	uint32_t wavefront_size;
	uint32_t max_workgroup_size;
	uint32_t argument_bytes;
	uint32_t n_arguments; /* in the metadata */
	struct ts_amd_argument arguments[TS_AMD_MAX_ARGUMENTS];
};

/* Receives one kernel; valid during the call. A result other than 0 ends the reading. */
typedef int ts_amd_kernel_fn(void *userdata, const struct ts_amd_kernel *kernel);

/* ---- MessagePack ---- */

struct ts_amd_pack {
	const uint8_t *bytes;
	size_t n;
};

enum ts_amd_kind {
	TS_AMD_KIND_UINT,
	TS_AMD_KIND_TEXT,
	TS_AMD_KIND_ARRAY,
	TS_AMD_KIND_MAP,
	TS_AMD_KIND_OTHER
};

struct ts_amd_value {
	enum ts_amd_kind kind;
	uint64_t n;	   /* UINT: the number; TEXT: bytes; ARRAY: values; MAP: pairs */
	const uint8_t *at; /* TEXT */
};

static inline bool ts_amd_pack_take(struct ts_amd_pack *pack, size_t n, const uint8_t **ret)
{
	if (pack->n < n)
		return false;
	*ret = pack->bytes;
	pack->bytes += n;
	pack->n -= n;
	return true;
}

/* Takes a big-endian number of 1, 2, 4 or 8 bytes. */
static inline bool ts_amd_pack_take_number(struct ts_amd_pack *pack, size_t n_bytes, uint64_t *ret)
{
	const uint8_t *bytes;
	uint64_t number = 0;

	if (!ts_amd_pack_take(pack, n_bytes, &bytes))
		return false;
	for (size_t i = 0; i < n_bytes; i++)
		number = number << 8 | bytes[i];
	*ret = number;
	return true;
}

/* The byte of a format, as MessagePack's specification numbers them. */
#define TS_AMD_PACK_NIL	    0xc0u
#define TS_AMD_PACK_NEVER   0xc1u
#define TS_AMD_PACK_FALSE_  0xc2u
#define TS_AMD_PACK_TRUE_   0xc3u
#define TS_AMD_PACK_BIN8    0xc4u
#define TS_AMD_PACK_EXT8    0xc7u
#define TS_AMD_PACK_FLOAT32 0xcau
#define TS_AMD_PACK_FLOAT64 0xcbu
#define TS_AMD_PACK_UINT8   0xccu
#define TS_AMD_PACK_INT8    0xd0u
#define TS_AMD_PACK_FIXEXT1 0xd4u
#define TS_AMD_PACK_STR8    0xd9u
#define TS_AMD_PACK_ARRAY16 0xdcu
#define TS_AMD_PACK_MAP16   0xdeu

static inline bool ts_amd_pack_take_text(struct ts_amd_pack *pack, uint64_t n,
					 struct ts_amd_value *ret)
{
	ret->kind = TS_AMD_KIND_TEXT;
	ret->n = n;
	return n <= pack->n && ts_amd_pack_take(pack, n, &ret->at);
}

/* Takes n bytes whose content does not matter. */
static inline bool ts_amd_pack_take_other(struct ts_amd_pack *pack, uint64_t n)
{
	const uint8_t *ignored;

	return n <= pack->n && ts_amd_pack_take(pack, n, &ignored);
}

/* Takes the value that `format`, a byte from 0xc0 to 0xdf, begins. */
static inline bool ts_amd_pack_take_long(struct ts_amd_pack *pack, unsigned format,
					 struct ts_amd_value *ret)
{
	uint64_t n;

	switch (format) {
	case TS_AMD_PACK_NIL:
	case TS_AMD_PACK_FALSE_:
	case TS_AMD_PACK_TRUE_:
		return true;
	case TS_AMD_PACK_BIN8:
	case TS_AMD_PACK_BIN8 + 1:
	case TS_AMD_PACK_BIN8 + 2:
		return ts_amd_pack_take_number(pack, (size_t)1 << (format - TS_AMD_PACK_BIN8),
					       &n) &&
		       ts_amd_pack_take_other(pack, n);
	case TS_AMD_PACK_EXT8:
	case TS_AMD_PACK_EXT8 + 1:
	case TS_AMD_PACK_EXT8 + 2:
		/* An extension has a byte of type. */
		return ts_amd_pack_take_number(pack, (size_t)1 << (format - TS_AMD_PACK_EXT8),
					       &n) &&
		       ts_amd_pack_take_other(pack, n + 1);
	case TS_AMD_PACK_FLOAT32:
	case TS_AMD_PACK_FLOAT64:
		return ts_amd_pack_take_other(pack, format == TS_AMD_PACK_FLOAT32 ? 4 : 8);
	case TS_AMD_PACK_UINT8:
	case TS_AMD_PACK_UINT8 + 1:
	case TS_AMD_PACK_UINT8 + 2:
	case TS_AMD_PACK_UINT8 + 3:
		ret->kind = TS_AMD_KIND_UINT;
		return ts_amd_pack_take_number(pack, (size_t)1 << (format - TS_AMD_PACK_UINT8),
					       &ret->n);
	case TS_AMD_PACK_INT8:
	case TS_AMD_PACK_INT8 + 1:
	case TS_AMD_PACK_INT8 + 2:
	case TS_AMD_PACK_INT8 + 3:
		return ts_amd_pack_take_other(pack, (uint64_t)1 << (format - TS_AMD_PACK_INT8));
	case TS_AMD_PACK_FIXEXT1:
	case TS_AMD_PACK_FIXEXT1 + 1:
	case TS_AMD_PACK_FIXEXT1 + 2:
	case TS_AMD_PACK_FIXEXT1 + 3:
	case TS_AMD_PACK_FIXEXT1 + 4:
		return ts_amd_pack_take_other(pack,
					      1 + ((uint64_t)1 << (format - TS_AMD_PACK_FIXEXT1)));
	case TS_AMD_PACK_STR8:
	case TS_AMD_PACK_STR8 + 1:
	case TS_AMD_PACK_STR8 + 2:
		return ts_amd_pack_take_number(pack, (size_t)1 << (format - TS_AMD_PACK_STR8),
					       &n) &&
		       ts_amd_pack_take_text(pack, n, ret);
	case TS_AMD_PACK_ARRAY16:
	case TS_AMD_PACK_ARRAY16 + 1:
		ret->kind = TS_AMD_KIND_ARRAY;
		return ts_amd_pack_take_number(pack, (size_t)2 << (format - TS_AMD_PACK_ARRAY16),
					       &ret->n);
	case TS_AMD_PACK_MAP16:
	case TS_AMD_PACK_MAP16 + 1:
		ret->kind = TS_AMD_KIND_MAP;
		return ts_amd_pack_take_number(pack, (size_t)2 << (format - TS_AMD_PACK_MAP16),
					       &ret->n);
	default: /* TS_AMD_PACK_NEVER */
		return false;
	}
}

/* Takes a value; of an array or a map the head alone. */
static inline bool ts_amd_pack_take_value(struct ts_amd_pack *pack, struct ts_amd_value *ret)
{
	const uint8_t *format;

	*ret = (struct ts_amd_value){.kind = TS_AMD_KIND_OTHER};
	if (!ts_amd_pack_take(pack, 1, &format))
		return false;
	if (*format < 0x80) {
		ret->kind = TS_AMD_KIND_UINT;
		ret->n = *format;
		return true;
	}
	if (*format < 0xa0) {
		ret->kind = *format < 0x90 ? TS_AMD_KIND_MAP : TS_AMD_KIND_ARRAY;
		ret->n = *format & 0xf;
		return true;
	}
	if (*format < 0xc0)
		return ts_amd_pack_take_text(pack, *format & 0x1f, ret);
	return *format >= 0xe0 || ts_amd_pack_take_long(pack, *format, ret);
}

/* Returns the number of values inside a value. Each one is at least one byte long. */
static inline bool ts_amd_pack_count_inner(const struct ts_amd_pack *pack,
					   const struct ts_amd_value *value, uint64_t *ret)
{
	*ret = value->kind == TS_AMD_KIND_ARRAY ? value->n
	       : value->kind == TS_AMD_KIND_MAP ? 2 * value->n
						: 0;
	return *ret <= pack->n;
}

/* Skips the rest of a value whose head was taken. */
static inline bool ts_amd_pack_skip(struct ts_amd_pack *pack, const struct ts_amd_value *value)
{
	struct ts_amd_value next;
	uint64_t left, inner;

	if (!ts_amd_pack_count_inner(pack, value, &left))
		return false;
	while (left) {
		if (!ts_amd_pack_take_value(pack, &next) ||
		    !ts_amd_pack_count_inner(pack, &next, &inner))
			return false;
		left += inner - 1;
		/* The sum cannot overflow: it is bounded here. */
		if (left > pack->n)
			return false;
	}
	return true;
}

static inline bool ts_amd_pack_is_text(const struct ts_amd_value *value, const char *text)
{
	return value->kind == TS_AMD_KIND_TEXT && value->n == strlen(text) &&
	       !memcmp(value->at, text, value->n);
}

static inline bool ts_amd_pack_take_argument(struct ts_amd_pack *pack, struct ts_amd_argument *ret)
{
	struct ts_amd_value map, key, value;

	if (!ts_amd_pack_take_value(pack, &map) || map.kind != TS_AMD_KIND_MAP)
		return false;
	for (uint64_t i = 0; i < map.n; i++) {
		if (!ts_amd_pack_take_value(pack, &key) || key.kind != TS_AMD_KIND_TEXT ||
		    !ts_amd_pack_take_value(pack, &value))
			return false;
		if (value.kind == TS_AMD_KIND_UINT && value.n <= UINT32_MAX) {
			if (ts_amd_pack_is_text(&key, ".offset"))
				ret->offset = (uint32_t)value.n;
			else if (ts_amd_pack_is_text(&key, ".size"))
				ret->bytes = (uint32_t)value.n;
		} else if (value.kind == TS_AMD_KIND_TEXT &&
			   ts_amd_pack_is_text(&key, ".value_kind")) {
			ret->is_hidden = value.n >= 7 && !memcmp(value.at, "hidden_", 7);
		}
		if (!ts_amd_pack_skip(pack, &value))
			return false;
	}
	return true;
}

static inline bool ts_amd_pack_take_arguments(struct ts_amd_pack *pack,
					      const struct ts_amd_value *array,
					      struct ts_amd_kernel *kernel)
{
	struct ts_amd_argument argument;

	if (array->kind != TS_AMD_KIND_ARRAY || array->n > pack->n)
		return false;
	kernel->n_arguments = (uint32_t)array->n;
	for (uint32_t i = 0; i < kernel->n_arguments; i++) {
		argument = (struct ts_amd_argument){0};
		if (!ts_amd_pack_take_argument(pack, &argument))
			return false;
		if (i < TS_AMD_MAX_ARGUMENTS)
			kernel->arguments[i] = argument;
	}
	return true;
}

/* Returns the place of a number in the struct; NULL: the key is none of them. */
static inline uint32_t *ts_amd_pack_number_of(struct ts_amd_kernel *kernel,
					      const struct ts_amd_value *key)
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
		if (ts_amd_pack_is_text(key, numbers[i].key))
			return numbers[i].number;
	return NULL;
}

static inline bool ts_amd_pack_take_kernel(struct ts_amd_pack *pack, struct ts_amd_kernel *kernel)
{
	struct ts_amd_value map, key, value;
	uint32_t *number;

	if (!ts_amd_pack_take_value(pack, &map) || map.kind != TS_AMD_KIND_MAP)
		return false;
	for (uint64_t i = 0; i < map.n; i++) {
		if (!ts_amd_pack_take_value(pack, &key) || key.kind != TS_AMD_KIND_TEXT ||
		    !ts_amd_pack_take_value(pack, &value))
			return false;
		number =
			value.kind == TS_AMD_KIND_UINT ? ts_amd_pack_number_of(kernel, &key) : NULL;
		if (number && value.n > UINT32_MAX)
			return false;
		if (number)
			*number = (uint32_t)value.n;
		if (ts_amd_pack_is_text(&key, ".args")) {
			if (!ts_amd_pack_take_arguments(pack, &value, kernel))
				return false;
			continue;
		}
		if (ts_amd_pack_is_text(&key, ".name") && value.kind == TS_AMD_KIND_TEXT &&
		    value.n <= UINT32_MAX) {
			kernel->name = (const char *)value.at;
			kernel->n_name_bytes = (uint32_t)value.n;
		}
		if (!ts_amd_pack_skip(pack, &value))
			return false;
	}
	return kernel->name;
}

static inline int ts_amd_pack_take_kernels(struct ts_amd_pack *pack,
					   const struct ts_amd_value *array,
					   ts_amd_kernel_fn *receive, void *userdata)
{
	struct ts_amd_kernel kernel;
	int r;

	if (array->kind != TS_AMD_KIND_ARRAY || array->n > pack->n)
		return TS_AMD_CODE_E_METADATA;
	for (uint64_t i = 0; i < array->n; i++) {
		memset(&kernel, 0, offsetof(struct ts_amd_kernel, arguments));
		if (!ts_amd_pack_take_kernel(pack, &kernel))
			return TS_AMD_CODE_E_METADATA;
		r = receive(userdata, &kernel);
		if (r)
			return r;
	}
	return 0;
}

/*
 * Reads the kernels of metadata, in order. Returns 0, a TS_AMD_CODE_E_*, or the result of
 * `receive`.
 */
static inline int ts_amd_read_metadata(const uint8_t *metadata, size_t n_bytes,
				       ts_amd_kernel_fn *receive, void *userdata)
{
	struct ts_amd_pack pack = {metadata, n_bytes};
	struct ts_amd_value map, key, value;

	if (!ts_amd_pack_take_value(&pack, &map) || map.kind != TS_AMD_KIND_MAP)
		return TS_AMD_CODE_E_METADATA;
	for (uint64_t i = 0; i < map.n; i++) {
		if (!ts_amd_pack_take_value(&pack, &key) || key.kind != TS_AMD_KIND_TEXT ||
		    !ts_amd_pack_take_value(&pack, &value))
			return TS_AMD_CODE_E_METADATA;
		if (ts_amd_pack_is_text(&key, "amdhsa.kernels"))
			return ts_amd_pack_take_kernels(&pack, &value, receive, userdata);
		if (!ts_amd_pack_skip(&pack, &value))
			return TS_AMD_CODE_E_METADATA;
	}
	/* A code object may have variables alone. */
	return 0;
}
