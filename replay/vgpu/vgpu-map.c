/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory management: maps physical memory to reserved addresses (physical.c) and sets which
 * devices may access it. The addresses fault on the host, as with all device memory. The map and
 * pool facades and replay/exec/vgpu call this file.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "replay/vgpu/vgpu-internal.h"

int ts_vgpu_physical_of(struct ts_vgpu *vgpu, uint64_t address,
			struct ts_vgpu_physical **ret_physical)
{
	struct ts_vgpu_range *range;
	int r = TS_VGPU_E_ADDRESS;

	ts_vgpu_lock(vgpu);
	range = ts_vgpu_range_find(vgpu, address);
	if (range && range->physical) {
		range->physical->refs++;
		*ret_physical = range->physical;
		r = 0;
	}
	ts_vgpu_unlock(vgpu);
	return r;
}

static int map_locked(struct ts_vgpu_physical *physical, size_t offset, uint64_t address,
		      size_t bytes)
{
	struct ts_vgpu *vgpu = physical->device->vgpu;
	uint8_t *backing = ts_vgpu_reserved_at(vgpu, address, bytes);
	struct ts_vgpu_range range = {
		.start = address,
		.bytes = bytes,
		.kind = TS_VGPU_MEMORY_DEVICE,
		.device = physical->device->index,
		.physical = physical,
	};
	int result;

	if (!backing || ts_vgpu_is_mapped(vgpu, address, bytes))
		return TS_VGPU_E_ADDRESS;
	range.backing = backing;
	result = ts_vgpu_range_insert(vgpu, &range);
	if (result)
		return result;
	physical->refs++;
	/* mremap() with an old size of 0 creates a second mapping of shared memory. */
	if (mremap(physical->memory + offset, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
		   range.backing) == MAP_FAILED) {
		ts_vgpu_range_release(vgpu, address);
		return -ENOMEM;
	}
	madvise(range.backing, bytes, MADV_DONTFORK);
	madvise(range.backing, bytes, MADV_DONTDUMP);
	return 0;
}

int ts_vgpu_map(struct ts_vgpu_physical *physical, size_t offset, uint64_t address, size_t bytes)
{
	struct ts_vgpu *vgpu = physical->device->vgpu;
	int r;

	if (!ts_vgpu_is_whole(bytes) || offset % TS_VGPU_GRANULE_BYTES ||
	    address % TS_VGPU_GRANULE_BYTES || offset > physical->bytes ||
	    bytes > physical->bytes - offset)
		return -EINVAL;
	ts_vgpu_lock(vgpu);
	r = map_locked(physical, offset, address, bytes);
	ts_vgpu_unlock(vgpu);
	return r;
}

/* True if the address range consists of whole neighbouring mappings. */
static bool is_mapped_whole(const struct ts_vgpu *vgpu, uint64_t address, uint64_t bytes)
{
	uint64_t end = address + bytes;
	size_t i = ts_vgpu_range_above(vgpu, address);

	for (; i && i <= vgpu->n_ranges && address < end; i++) {
		const struct ts_vgpu_range *range = vgpu->ranges[i - 1];

		if (!range->physical || range->start != address || range->bytes > end - address)
			return false;
		address += range->bytes;
	}
	return address == end;
}

int ts_vgpu_unmap(struct ts_vgpu *vgpu, uint64_t address, size_t bytes)
{
	int r = TS_VGPU_E_ADDRESS;

	if (!ts_vgpu_is_whole(bytes) || address + bytes < address)
		return -EINVAL;
	ts_vgpu_lock(vgpu);
	if (is_mapped_whole(vgpu, address, bytes)) {
		/* Work of any device may use the mappings. */
		for (uint32_t i = 0; i < vgpu->n_devices; i++)
			ts_vgpu_device_drain(&vgpu->devices[i]);
		/* The wait released the lock: check again. */
		if (is_mapped_whole(vgpu, address, bytes)) {
			for (uint64_t at = address; at < address + bytes;) {
				uint64_t next = at + ts_vgpu_range_find(vgpu, at)->bytes;

				ts_vgpu_range_release(vgpu, at);
				at = next;
			}
			r = 0;
		}
	} else if (ts_vgpu_reserved_at(vgpu, address, bytes) &&
		   !ts_vgpu_is_mapped(vgpu, address, bytes)) {
		r = 0; /* reserved without a mapping: NVIDIA's driver returns success */
	}
	ts_vgpu_unlock(vgpu);
	return r;
}

static void share(struct ts_vgpu_range *range, uint32_t readers, uint32_t writers)
{
	range->listed = true;
	range->readers = readers | writers;
	range->writers = writers;
	range->access =
		(range->readers ? TS_VGPU_ACCESS_READ : 0) | (writers ? TS_VGPU_ACCESS_WRITE : 0);
}

void ts_vgpu_share(struct ts_vgpu *vgpu, uint64_t address, uint32_t readers, uint32_t writers)
{
	struct ts_vgpu_range *range;

	ts_vgpu_lock(vgpu);
	range = ts_vgpu_range_find(vgpu, address);
	if (range)
		share(range, readers, writers);
	ts_vgpu_unlock(vgpu);
}

void ts_vgpu_share_all(struct ts_vgpu *vgpu, const void *user, uint32_t readers, uint32_t writers)
{
	ts_vgpu_lock(vgpu);
	for (size_t i = 0; i < vgpu->n_ranges; i++)
		if (vgpu->ranges[i]->user == user)
			share(vgpu->ranges[i], readers, writers);
	ts_vgpu_unlock(vgpu);
}

int ts_vgpu_set_access(struct ts_vgpu *vgpu, uint64_t address, size_t bytes, uint32_t readers,
		       uint32_t writers)
{
	int r = TS_VGPU_E_ADDRESS;

	if (!ts_vgpu_is_whole(bytes) || address + bytes < address)
		return -EINVAL;
	ts_vgpu_lock(vgpu);
	if (is_mapped_whole(vgpu, address, bytes)) {
		for (uint64_t at = address; at < address + bytes;) {
			struct ts_vgpu_range *range = ts_vgpu_range_find(vgpu, at);

			share(range, readers, writers);
			at += range->bytes;
		}
		r = 0;
	}
	ts_vgpu_unlock(vgpu);
	return r;
}
