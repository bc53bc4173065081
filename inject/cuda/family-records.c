/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of libraries like CUPTI. activity.c calls it for each record of such a library. It trusts
 * no place, no layout that is inferred, and no pointer in such a layout: a library that differs
 * from the table must not end the application.
 */
#include "inject/cuda/family-records.h"

#include "proto/abi/base.h"

#include <sys/uio.h>
#include <unistd.h>

/* CUPTI's version whose layouts have all fields that a list of fields fills. */
#define FILLED_VERSION 15u

static uint64_t mapped(uint64_t value, uint32_t map)
{
	static const uint8_t copy_kinds[] = {
		[1] = TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOH,
		[2] = TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
		[3] = TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH,
		[4] = TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOD,
	};

	switch (map) {
	case TS_PTI_MAP_COPY_KIND:
		return value < TS_ARRAY_LEN(copy_kinds) ? copy_kinds[value]
							: TS_CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN;
	case TS_PTI_MAP_MEMORY_KIND:
		return value == 1 ? TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE
				  : TS_CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN;
	case TS_PTI_MAP_PLUS_ONE:
		return value + 1;
	default:
		return value;
	}
}

static void fill(const struct ts_pti_record *layout, const uint8_t *from, uint8_t *to)
{
	uint32_t i;

	for (i = 0; i < layout->n_fields; i++) {
		const struct ts_pti_field *field = &layout->fields[i];
		uint64_t value = 0;

		memcpy(&value, from + field->from, field->n_from);
		value = mapped(value, field->map);
		memcpy(to + field->to, &value, field->n_to);
	}
}

bool ts_family_is_readable(const char *name)
{
	char first;
	struct iovec to = {&first, 1}, from = {(void *)(uintptr_t)name, 1};

	return !name || process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1;
}

static bool has_good_name(uint32_t kind, const void *record)
{
	switch (kind) {
	case TS_CUPTI_ACTIVITY_KIND_KERNEL:
	case TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return ts_family_is_readable(
			((const struct ts_cupti_activity_kernel *)record)->name);
	case TS_CUPTI_ACTIVITY_KIND_DEVICE:
		return ts_family_is_readable(
			((const struct ts_cupti_activity_device *)record)->name);
	default:
		return true;
	}
}

const void *ts_family_plain(const struct ts_pti_vendor *vendor, const void *record, void *space,
			    size_t n_space, uint32_t *ret_kind, size_t *ret_n_bytes)
{
	const struct ts_pti_record *layout;
	uint32_t kind;

	memcpy(&kind, record, sizeof(kind));
	layout = ts_pti_find(vendor, kind);
	*ret_kind = layout ? layout->kind : TS_CUPTI_ACTIVITY_KIND_INVALID;
	if (!layout)
		return NULL;
	*ret_n_bytes = layout->n_bytes;
	if (layout->fields) {
		memset(space, 0, n_space);
		fill(layout, record, space);
		*ret_n_bytes = ts_cupti_record_bytes(layout->kind, FILLED_VERSION);
		record = space;
	}
	if (layout->is_inferred && !has_good_name(layout->kind, record))
		return NULL;
	return record;
}

bool ts_family_is_next(const struct ts_pti_vendor *vendor, const uint8_t *buffer,
		       size_t valid_bytes, const void *previous, const void *record)
{
	const uintptr_t begin = (uintptr_t)buffer, at = (uintptr_t)record;
	const struct ts_pti_record *layout;
	size_t n_bytes = sizeof(uint32_t);
	uint32_t kind;

	if (at < begin || (previous && at <= (uintptr_t)previous) || at - begin > valid_bytes ||
	    valid_bytes - (at - begin) < n_bytes)
		return false;
	memcpy(&kind, record, sizeof(kind));
	layout = ts_pti_find(vendor, kind);
	/* The library knows the length of a kind that the table lacks; the shim skips it. */
	if (layout)
		n_bytes = layout->n_bytes;
	return valid_bytes - (at - begin) >= n_bytes;
}
