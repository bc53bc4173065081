/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory management: addresses without memory, memory without an address, and mapping one to the other. As with all
 * device memory the addresses fault on the host; a reservation has a second stretch as long as itself where the bytes of
 * what is mapped lie, so that neighbouring mappings are neighbours there, too. Memory is a shared anonymous mapping, of
 * which the kernel makes another at each place where it is mapped: no descriptor of ours stands in the program's table.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "replay/vgpu/internal.h"

struct ts_vgpu_reservation {
	struct ts_vgpu_reservation *next;
	uint64_t start, bytes;
	void *space;
	size_t space_bytes; /* with what alignment took */
	uint8_t *backing;
};

struct ts_vgpu_physical {
	struct ts_vgpu_device *device;
	unsigned refs; /* under the lock */
	size_t bytes;
	uint8_t *memory;
};

static bool whole(uint64_t n)
{
	return n && n % TS_VGPU_GRANULE_BYTES == 0;
}

/* Where the program would like it, or NULL: something is there, or it is no address that can be had. */
static void *reserve_at(uint64_t wanted, size_t bytes, size_t align)
{
	void *space;

	if (!wanted || wanted % align)
		return NULL;
	space = mmap((void *)(uintptr_t)wanted, bytes, PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	/* A kernel that does not know the flag takes it for a hint. */
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

	if (!whole(bytes) || (align & (align - 1)))
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

/* The reservation that holds a whole stretch. */
static struct ts_vgpu_reservation *find_reservation(const struct ts_vgpu *vgpu, uint64_t address,
						    uint64_t bytes)
{
	struct ts_vgpu_reservation *r = vgpu->reservations;

	while (r && (address - r->start >= r->bytes || bytes > r->bytes - (address - r->start)))
		r = r->next;
	return r;
}

/* Whether anything is mapped in a stretch. */
static bool is_mapped(const struct ts_vgpu *vgpu, uint64_t address, uint64_t bytes)
{
	size_t i = ts_vgpu_range_above(vgpu, address + bytes - 1);

	return i && vgpu->ranges[i - 1]->start + vgpu->ranges[i - 1]->bytes > address;
}

int ts_vgpu_unreserve(struct ts_vgpu *vgpu, uint64_t address, size_t bytes)
{
	struct ts_vgpu_reservation **at = &vgpu->reservations, *r;

	ts_vgpu_lock(vgpu);
	while (*at && ((*at)->start != address || (*at)->bytes != bytes))
		at = &(*at)->next;
	r = *at;
	if (r && is_mapped(vgpu, address, bytes))
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

	if (!whole(bytes))
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
	struct ts_vgpu_reservation *r = find_reservation(vgpu, address, bytes);
	struct ts_vgpu_range range = {
		.start = address,
		.bytes = bytes,
		.kind = TS_VGPU_MEMORY_DEVICE,
		.device = physical->device->index,
		.physical = physical,
	};
	int result;

	if (!r || is_mapped(vgpu, address, bytes))
		return TS_VGPU_E_ADDRESS;
	range.backing = r->backing + (address - r->start);
	result = ts_vgpu_range_insert(vgpu, &range);
	if (result)
		return result;
	physical->refs++;
	/* An old size of none asks for a second mapping of what is shared. */
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

	if (!whole(bytes) || offset % TS_VGPU_GRANULE_BYTES || address % TS_VGPU_GRANULE_BYTES ||
	    offset > physical->bytes || bytes > physical->bytes - offset)
		return -EINVAL;
	ts_vgpu_lock(vgpu);
	r = map_locked(physical, offset, address, bytes);
	ts_vgpu_unlock(vgpu);
	return r;
}

void ts_vgpu_range_unmap(struct ts_vgpu *vgpu, struct ts_vgpu_range *range)
{
	/* Nothing may be mapped there by others meanwhile: the place stays taken. */
	mmap(range->backing, range->bytes, PROT_NONE,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
	physical_unref_locked(range->physical);
}

/* Whether a stretch is made of whole mappings that follow one another. */
static bool is_whole(const struct ts_vgpu *vgpu, uint64_t address, uint64_t bytes)
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

	if (!whole(bytes) || address + bytes < address)
		return -EINVAL;
	ts_vgpu_lock(vgpu);
	if (is_whole(vgpu, address, bytes)) {
		/* Any of them may be copying from it or to it. */
		for (uint32_t i = 0; i < vgpu->n_devices; i++)
			ts_vgpu_device_drain(&vgpu->devices[i]);
		/* The lock was let go while waiting. */
		if (is_whole(vgpu, address, bytes)) {
			for (uint64_t at = address; at < address + bytes;) {
				uint64_t next = at + ts_vgpu_range_find(vgpu, at)->bytes;

				ts_vgpu_range_release(vgpu, at);
				at = next;
			}
			r = 0;
		}
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

	if (!whole(bytes) || address + bytes < address)
		return -EINVAL;
	ts_vgpu_lock(vgpu);
	if (is_whole(vgpu, address, bytes)) {
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

		/* Neighbours in two reservations are none where their bytes are. */
		if (!next->physical || next->start != end ||
		    next->backing != before->backing + before->bytes ||
		    (next->access & access) != access)
			break;
		end += next->bytes;
	}
	return end - address;
}
