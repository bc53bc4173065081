/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address reservations without memory, and physical memory without addresses. A reservation has a
 * second address range of the same size for the bytes of its mappings, so neighbouring mappings are
 * also neighbours in the second range. Physical memory is a shared anonymous mapping. The kernel
 * duplicates this mapping at each place where the memory is mapped, so the program's descriptor
 * table gets no descriptor. vgpu-map.c maps memory to reservations; the map facade calls the
 * reservation functions.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "replay/vgpu/vgpu-internal.h"

struct ts_vgpu_reservation {
	struct ts_vgpu_reservation *next;
	uint64_t start, bytes;
	void *space;
	/* size of the second address range, including the extra bytes for alignment */
	size_t space_bytes;
	uint8_t *backing;
};

/*
 * Reserves the address that the program wants. NULL: the address is taken, not aligned, or
 * unavailable.
 */
static void *reserve_at(uint64_t wanted, size_t bytes, size_t align)
{
	void *space;

	if (!wanted || wanted % align)
		return NULL;
	space = mmap((void *)(uintptr_t)wanted, bytes, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	/* A kernel without MAP_FIXED_NOREPLACE treats the address as a hint. */
	if (space != MAP_FAILED && (uint64_t)(uintptr_t)space != wanted) {
		munmap(space, bytes);
		space = MAP_FAILED;
	}
	return space == MAP_FAILED ? NULL : space;
}

int ts_vgpu_reserve(struct ts_vgpu *vgpu, size_t bytes, size_t align, uint64_t wanted,
		    uint64_t *ret_address)
{
	struct ts_vgpu_reservation *r;
	uint64_t at;

	if (!ts_vgpu_is_whole(bytes) || (align & (align - 1)))
		return -EINVAL;
	if (align < TS_VGPU_GRANULE_BYTES)
		align = TS_VGPU_GRANULE_BYTES;
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	if (__builtin_add_overflow(bytes, align, &r->space_bytes)) {
		free(r);
		return TS_VGPU_E_OUT_OF_MEMORY;
	}
	r->space = reserve_at(wanted, bytes, align);
	if (r->space)
		r->space_bytes = bytes;
	else
		r->space = mmap(NULL, r->space_bytes, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r->space == MAP_FAILED) {
		free(r);
		return TS_VGPU_E_OUT_OF_MEMORY;
	}
	r->backing =
		mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (r->backing == MAP_FAILED) {
		munmap(r->space, r->space_bytes);
		free(r);
		return TS_VGPU_E_OUT_OF_MEMORY;
	}
	at = (uint64_t)(uintptr_t)r->space;
	r->start = (at + align - 1) / align * align;
	r->bytes = bytes;
	ts_vgpu_lock(vgpu);
	r->next = vgpu->reservations;
	vgpu->reservations = r;
	ts_vgpu_unlock(vgpu);
	*ret_address = r->start;
	return 0;
}

static void reservation_free(struct ts_vgpu_reservation *r)
{
	munmap(r->space, r->space_bytes);
	munmap(r->backing, r->bytes);
	free(r);
}

uint8_t *ts_vgpu_reserved_at(const struct ts_vgpu *vgpu, uint64_t address, uint64_t bytes)
{
	const struct ts_vgpu_reservation *r = vgpu->reservations;

	while (r && (address - r->start >= r->bytes || bytes > r->bytes - (address - r->start)))
		r = r->next;
	return r ? r->backing + (address - r->start) : NULL;
}

int ts_vgpu_unreserve(struct ts_vgpu *vgpu, uint64_t address, size_t bytes)
{
	struct ts_vgpu_reservation **at = &vgpu->reservations, *r;

	ts_vgpu_lock(vgpu);
	while (*at && ((*at)->start != address || (*at)->bytes != bytes))
		at = &(*at)->next;
	r = *at;
	if (r && ts_vgpu_is_mapped(vgpu, address, bytes))
		r = NULL;
	if (r)
		*at = r->next;
	ts_vgpu_unlock(vgpu);
	if (!r)
		return TS_VGPU_E_NOT_OWNER;
	reservation_free(r);
	return 0;
}

void ts_vgpu_reservations_deinit(struct ts_vgpu *vgpu)
{
	while (vgpu->reservations) {
		struct ts_vgpu_reservation *r = vgpu->reservations;

		vgpu->reservations = r->next;
		reservation_free(r);
	}
}

bool ts_vgpu_is_reserved(const struct ts_vgpu *vgpu, uint64_t address, uint64_t bytes)
{
	for (const struct ts_vgpu_reservation *r = vgpu->reservations; r; r = r->next)
		if (address - r->start < r->bytes || r->start - address < bytes)
			return true;
	return false;
}

int ts_vgpu_physical_new(struct ts_vgpu_device *device, size_t bytes,
			 struct ts_vgpu_physical **ret_physical)
{
	struct ts_vgpu_physical *physical;
	int r = 0;

	if (!ts_vgpu_is_whole(bytes))
		return -EINVAL;
	physical = calloc(1, sizeof(*physical));
	if (!physical)
		return -ENOMEM;
	ts_vgpu_lock(device->vgpu);
	if (bytes > device->space_bytes - device->used_bytes)
		r = TS_VGPU_E_OUT_OF_MEMORY;
	else
		device->used_bytes += bytes;
	ts_vgpu_unlock(device->vgpu);
	if (!r) {
		physical->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (physical->memory == MAP_FAILED) {
			ts_vgpu_lock(device->vgpu);
			device->used_bytes -= bytes;
			ts_vgpu_unlock(device->vgpu);
			r = TS_VGPU_E_OUT_OF_MEMORY;
		}
	}
	if (r) {
		free(physical);
		return r;
	}
	madvise(physical->memory, bytes, MADV_DONTFORK);
	madvise(physical->memory, bytes, MADV_DONTDUMP);
	physical->device = device;
	physical->bytes = bytes;
	physical->refs = 1;
	*ret_physical = physical;
	return 0;
}

static void physical_unref_locked(struct ts_vgpu_physical *physical)
{
	if (--physical->refs)
		return;
	physical->device->used_bytes -= physical->bytes;
	munmap(physical->memory, physical->bytes);
	free(physical);
}

void ts_vgpu_physical_unref(struct ts_vgpu_physical *physical)
{
	struct ts_vgpu *vgpu;

	if (!physical)
		return;
	vgpu = physical->device->vgpu;
	ts_vgpu_lock(vgpu);
	physical_unref_locked(physical);
	ts_vgpu_unlock(vgpu);
}

size_t ts_vgpu_physical_bytes(const struct ts_vgpu_physical *physical)
{
	return physical->bytes;
}

struct ts_vgpu_device *ts_vgpu_physical_device(const struct ts_vgpu_physical *physical)
{
	return physical->device;
}

void ts_vgpu_range_unmap(struct ts_vgpu *vgpu, struct ts_vgpu_range *range)
{
	/* Keep the address range reserved, so that no other mapping lands in it. */
	mmap(range->backing, range->bytes, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	physical_unref_locked(range->physical);
}
