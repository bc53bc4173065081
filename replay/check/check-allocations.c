/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations sorted by address, with a bit per byte for written bytes. exec/vgpu reports
 * allocations through check.h; the other files of this folder look them up.
 */
#include "proto/abi/grow.h"
#include "replay/check/check-internal.h"

/* Returns the number of allocations that start at or before the address. */
static size_t count_to(const struct ts_check_allocations *allocations, uint64_t address)
{
	size_t low = 0, high = allocations->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (allocations->all[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct ts_check_allocation *ts_check_allocation_at(const struct ts_check_allocations *allocations,
						   uint64_t address)
{
	size_t i = count_to(allocations, address);
	struct ts_check_allocation *one = i ? &allocations->all[i - 1] : NULL;

	return one && address - one->address < one->bytes ? one : NULL;
}

const struct ts_check_allocation *ts_check_allocation_before(
	const struct ts_check_allocations *allocations, uint64_t address)
{
	size_t i = count_to(allocations, address);

	return i ? &allocations->all[i - 1] : NULL;
}

struct ts_check_allocation *ts_check_allocation_near(const struct ts_check_allocations *allocations,
						     uint64_t address)
{
	size_t i = count_to(allocations, address);
	struct ts_check_allocation *before = i ? &allocations->all[i - 1] : NULL;
	struct ts_check_allocation *behind = i < allocations->n ? &allocations->all[i] : NULL;

	if (!before || !behind)
		return before ? before : behind;
	if (address - before->address < before->bytes)
		return before;
	return address - (before->address + before->bytes) <= behind->address - address ? before
											: behind;
}

struct ts_check_allocation *ts_check_allocation_behind(
	const struct ts_check_allocations *allocations, uint64_t address)
{
	size_t i = count_to(allocations, address);

	return i < allocations->n ? &allocations->all[i] : NULL;
}

int ts_check_alloc(struct ts_check *check, uint64_t address, uint64_t bytes, uint32_t flags)
{
	struct ts_check_allocations *allocations = &check->allocations;
	struct ts_check_allocation one = {.address = address,
					  .bytes = bytes,
					  .is_pinned = flags & TS_CHECK_ALLOC_PINNED,
					  .is_managed = flags & TS_CHECK_ALLOC_MANAGED,
					  .is_mapped = flags & TS_CHECK_ALLOC_MAPPED};
	size_t i = count_to(allocations, address);

	if (TS_GROW(allocations->all, allocations->capacity, allocations->n + 1))
		return -ENOMEM;
	if (!(flags & TS_CHECK_ALLOC_WRITTEN) && (check->what & TS_CHECK_INIT)) {
		one.written = calloc(bytes / 8 + 1, 1);
		if (!one.written)
			return -ENOMEM;
	}
	memmove(&allocations->all[i + 1], &allocations->all[i], (allocations->n - i) * sizeof(one));
	allocations->all[i] = one;
	allocations->n++;
	/* Forget the recorded accesses of these addresses: they belong to an earlier allocation. */
	return ts_check_cells_forget(&check->operations.cells, address, bytes);
}

void ts_check_release(struct ts_check *check, uint64_t address)
{
	struct ts_check_allocations *allocations = &check->allocations;
	size_t i = count_to(allocations, address);

	if (!i || allocations->all[i - 1].address != address)
		return;
	free(allocations->all[i - 1].written);
	memmove(&allocations->all[i - 1], &allocations->all[i],
		(allocations->n - i) * sizeof(*allocations->all));
	allocations->n--;
}

/* Computes the offsets of the part of the range that lies in the allocation. */
static void clip(const struct ts_check_allocation *allocation, uint64_t address, uint64_t bytes,
		 uint64_t *ret_from, uint64_t *ret_to)
{
	*ret_from = address - allocation->address;
	*ret_to = bytes < allocation->bytes - *ret_from ? *ret_from + bytes : allocation->bytes;
}

void ts_check_mark_written(struct ts_check_allocation *allocation, uint64_t address, uint64_t bytes)
{
	uint64_t from, to;

	if (!allocation->written)
		return;
	clip(allocation, address, bytes, &from, &to);
	for (; from < to && from % 8; from++)
		allocation->written[from / 8] |= (uint8_t)(1u << from % 8);
	for (; to > from && to % 8; to--)
		allocation->written[(to - 1) / 8] |= (uint8_t)(1u << (to - 1) % 8);
	if (to > from)
		memset(allocation->written + from / 8, 0xff, (to - from) / 8);
}

bool ts_check_is_written(const struct ts_check_allocation *allocation, uint64_t address,
			 uint64_t bytes, uint64_t *ret_first)
{
	uint64_t from, to;

	if (!allocation->written)
		return true;
	clip(allocation, address, bytes, &from, &to);
	for (; from < to; from++) {
		if (allocation->written[from / 8] >> from % 8 & 1)
			continue;
		*ret_first = allocation->address + from;
		return false;
	}
	return true;
}
