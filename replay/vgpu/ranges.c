/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The table of all allocations, in ascending order: finds the range at an address. The memory
 * files, vgpu-stream.c and release.c call this file under the lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/grow.h"
#include "replay/vgpu/vgpu-internal.h"

/* Returns the index of the first range that starts after the address. */
size_t ts_vgpu_range_above(const struct ts_vgpu *vgpu, uint64_t address)
{
	size_t low = 0, high = vgpu->n_ranges;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (vgpu->ranges[mid]->start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct ts_vgpu_range *ts_vgpu_range_find(struct ts_vgpu *vgpu, uint64_t address)
{
	size_t i = ts_vgpu_range_above(vgpu, address);

	if (!i || address - vgpu->ranges[i - 1]->start >= vgpu->ranges[i - 1]->bytes)
		return NULL;
	return vgpu->ranges[i - 1];
}

int ts_vgpu_range_insert(struct ts_vgpu *vgpu, const struct ts_vgpu_range *model)
{
	struct ts_vgpu_range *range;
	size_t i;

	if (TS_GROW(vgpu->ranges, vgpu->ranges_capacity, vgpu->n_ranges + 1))
		return -ENOMEM;
	range = malloc(sizeof(*range));
	if (!range)
		return -ENOMEM;
	*range = *model;
	range->id = ++vgpu->next_range_id;
	if (!range->physical)
		range->access = TS_VGPU_ACCESS_READ | TS_VGPU_ACCESS_WRITE;
	i = ts_vgpu_range_above(vgpu, range->start);
	memmove(vgpu->ranges + i + 1, vgpu->ranges + i,
		(vgpu->n_ranges - i) * sizeof(*vgpu->ranges));
	vgpu->ranges[i] = range;
	vgpu->n_ranges++;
	return 0;
}

void ts_vgpu_range_remove(struct ts_vgpu *vgpu, const struct ts_vgpu_range *range)
{
	size_t i = ts_vgpu_range_above(vgpu, range->start) - 1;

	memmove(vgpu->ranges + i, vgpu->ranges + i + 1,
		(vgpu->n_ranges - i - 1) * sizeof(*vgpu->ranges));
	vgpu->n_ranges--;
}

void ts_vgpu_range_forget(struct ts_vgpu *vgpu, struct ts_vgpu_range *range)
{
	ts_vgpu_range_remove(vgpu, range);
	free(range);
}

/* True if the address range overlaps a range of the table. */
bool ts_vgpu_is_mapped(const struct ts_vgpu *vgpu, uint64_t address, uint64_t bytes)
{
	size_t i = ts_vgpu_range_above(vgpu, address + bytes - 1);

	return i && vgpu->ranges[i - 1]->start + vgpu->ranges[i - 1]->bytes > address;
}

uint64_t ts_vgpu_range_reach(const struct ts_vgpu *vgpu, const struct ts_vgpu_range *range,
			     uint64_t address, uint32_t access)
{
	uint64_t end = range->start + range->bytes;

	if ((range->access & access) != access)
		return 0;
	if (!range->physical)
		return end - address;
	for (size_t i = ts_vgpu_range_above(vgpu, address); i < vgpu->n_ranges; i++) {
		const struct ts_vgpu_range *next = vgpu->ranges[i];
		const struct ts_vgpu_range *before = vgpu->ranges[i - 1];

		/* Neighbours from two reservations have backing bytes that are not adjacent. */
		if (!next->physical || next->start != end ||
		    next->backing != before->backing + before->bytes ||
		    (next->access & access) != access)
			break;
		end += next->bytes;
	}
	return end - address;
}
