/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices' memory. A device address is an address of this process that nobody may touch: each device reserves
 * as much address space as it has memory, without access, so that a program which dereferences a device pointer
 * on the host faults as it does with hardware. The bytes lie in a second mapping of the same size, populated by
 * the kernel as they are touched, at a fixed distance. Pinned and managed memory is ordinary memory whose host
 * and device addresses are the same. One ascending table knows every allocation, so that an address leads
 * to its kind, bounds and device whoever asks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay/vgpu/internal.h"

/* Freed stretches smaller than this are not worth a system call to give back. */
#define GIVE_BACK_BYTES (256u << 10)

/* The user of what kernels allocated. */
static const char heap;
/* And of what has an address of its caller's: its bytes are a mapping of their own. */
static const char placed;

static uint64_t page_up(uint64_t n)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (n + page - 1) / page * page;
}

/*
 * Address space that costs nothing before it is used, also in a program that locks its memory: under mlockall(MCL_FUTURE) mmap()
 * would populate and lock all of it. What grows from an unlocked page is not locked.
 */
static void *map_unlocked(uint64_t bytes, int protection)
{
	uint64_t page = page_up(1);
	void *first =
		mmap(NULL, page, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	void *space;

	if (first == MAP_FAILED)
		return MAP_FAILED;
	(void)munlock(first, page);
	space = mremap(first, page, bytes, MREMAP_MAYMOVE);
	if (space == MAP_FAILED)
		munmap(first, page);
	return space;
}

int ts_vgpu_memory_init(struct ts_vgpu_device *device)
{
	uint64_t bytes = device->shape->memory_bytes;
	struct ts_vgpu_hole *hole = malloc(sizeof(*hole));
	void *space, *backing;

	if (!hole)
		return -ENOMEM;
	space = map_unlocked(bytes, PROT_NONE);
	backing = map_unlocked(bytes, PROT_READ | PROT_WRITE);
	if (space == MAP_FAILED || backing == MAP_FAILED) {
		if (space != MAP_FAILED)
			munmap(space, bytes);
		if (backing != MAP_FAILED)
			munmap(backing, bytes);
		free(hole);
		return -ENOMEM;
	}
	/* A child has no device, and a core dump needs none of 141 GiB. */
	madvise(backing, bytes, MADV_DONTFORK);
	madvise(backing, bytes, MADV_DONTDUMP);
	device->space = space;
	device->backing = backing;
	device->space_bytes = bytes;
	*hole = (struct ts_vgpu_hole){.start = (uint64_t)(uintptr_t)space, .bytes = bytes};
	device->holes = hole;
	return 0;
}

void ts_vgpu_memory_deinit(struct ts_vgpu_device *device)
{
	struct ts_vgpu_hole *hole, *next;

	if (!device->space)
		return;
	munmap(device->space, device->space_bytes);
	munmap(device->backing, device->space_bytes);
	for (hole = device->holes; hole; hole = next) {
		next = hole->next;
		free(hole);
	}
	device->space = NULL;
	device->holes = NULL;
}

/* The first range that starts past the address. */
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

	if (vgpu->n_ranges == vgpu->ranges_capacity) {
		size_t capacity = vgpu->ranges_capacity ? 2 * vgpu->ranges_capacity : 64;
		void *grown = realloc(vgpu->ranges, capacity * sizeof(*vgpu->ranges));

		if (!grown)
			return -ENOMEM;
		vgpu->ranges = grown;
		vgpu->ranges_capacity = capacity;
	}
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

static int hole_take(struct ts_vgpu_device *device, uint64_t bytes, uint64_t *ret_start)
{
	for (struct ts_vgpu_hole **at = &device->holes; *at; at = &(*at)->next) {
		struct ts_vgpu_hole *hole = *at;

		if (hole->bytes < bytes)
			continue;
		*ret_start = hole->start;
		hole->start += bytes;
		hole->bytes -= bytes;
		if (!hole->bytes) {
			*at = hole->next;
			free(hole);
		}
		device->used_bytes += bytes;
		return 0;
	}
	return TS_VGPU_E_OUT_OF_MEMORY;
}

/* Nothing of [start, end) is given out any more by the device itself. */
static int holes_trim(struct ts_vgpu_device *device, uint64_t start, uint64_t end)
{
	struct ts_vgpu_hole **at = &device->holes;

	while (*at) {
		struct ts_vgpu_hole *hole = *at;
		uint64_t hole_end = hole->start + hole->bytes;

		if (hole_end <= start || hole->start >= end) {
			at = &hole->next;
		} else if (hole->start >= start && hole_end <= end) {
			*at = hole->next;
			free(hole);
		} else if (hole->start < start && hole_end > end) {
			struct ts_vgpu_hole *rest = malloc(sizeof(*rest));

			if (!rest)
				return -ENOMEM;
			*rest = (struct ts_vgpu_hole){.start = end,
						      .bytes = hole_end - end,
						      .next = hole->next};
			hole->bytes = start - hole->start;
			hole->next = rest;
			at = &rest->next;
		} else if (hole->start < start) {
			hole->bytes = start - hole->start;
			at = &hole->next;
		} else {
			hole->bytes = hole_end - end;
			hole->start = end;
			at = &hole->next;
		}
	}
	return 0;
}

static void hole_give(struct ts_vgpu_device *device, uint64_t start, uint64_t bytes)
{
	struct ts_vgpu_hole **at = &device->holes, *hole, *before = NULL;

	device->used_bytes -= bytes;
	while (*at && (*at)->start < start) {
		before = *at;
		at = &(*at)->next;
	}
	if (before && before->start + before->bytes == start) {
		before->bytes += bytes;
		hole = before;
	} else if (*at && start + bytes == (*at)->start) {
		(*at)->start = start;
		(*at)->bytes += bytes;
		hole = NULL;
	} else {
		hole = malloc(sizeof(*hole));
		/* Without memory to note it the stretch is lost to the device, not to safety. */
		if (!hole)
			return;
		*hole = (struct ts_vgpu_hole){.start = start, .bytes = bytes, .next = *at};
		*at = hole;
	}
	if (hole && hole->next && hole->start + hole->bytes == hole->next->start) {
		struct ts_vgpu_hole *next = hole->next;

		hole->bytes += next->bytes;
		hole->next = next->next;
		free(next);
	}
	if (bytes >= GIVE_BACK_BYTES) {
		uint64_t from = page_up(start - (uint64_t)(uintptr_t)device->space);
		uint64_t to = start - (uint64_t)(uintptr_t)device->space + bytes;

		to -= to % (uint64_t)sysconf(_SC_PAGESIZE);
		if (to > from)
			madvise(device->backing + from, to - from, MADV_DONTNEED);
	}
}

/* What is placed lies in its mapping as its address does in a page: aligned alike. */
static uint64_t placed_bytes(const struct ts_vgpu_range *range)
{
	return page_up(range->bytes + range->start % page_up(1));
}

static void unplace(struct ts_vgpu_device *device, const struct ts_vgpu_range *range)
{
	munmap(range->backing - range->start % page_up(1), placed_bytes(range));
	device->used_bytes -= placed_bytes(range);
}

static void range_remove(struct ts_vgpu *vgpu, const struct ts_vgpu_range *range)
{
	size_t i = ts_vgpu_range_above(vgpu, range->start) - 1;

	memmove(vgpu->ranges + i, vgpu->ranges + i + 1,
		(vgpu->n_ranges - i - 1) * sizeof(*vgpu->ranges));
	vgpu->n_ranges--;
}

void ts_vgpu_range_forget(struct ts_vgpu *vgpu, struct ts_vgpu_range *range)
{
	range_remove(vgpu, range);
	free(range);
}

static void range_drop(struct ts_vgpu *vgpu, struct ts_vgpu_range *range)
{
	struct ts_vgpu_device *device = &vgpu->devices[range->device];

	range_remove(vgpu, range);
	if (range->physical) {
		ts_vgpu_range_unmap(vgpu, range);
	} else if (range->block) {
		ts_vgpu_pool_give(range->block);
	} else if (range->user == &placed) {
		unplace(device, range);
	} else if (range->kind == TS_VGPU_MEMORY_DEVICE) {
		hole_give(device, range->start,
			  (range->bytes + TS_VGPU_ALIGN_BYTES - 1) / TS_VGPU_ALIGN_BYTES *
				  TS_VGPU_ALIGN_BYTES);
	} else if (range->user == range) {
		/* Pinned or managed memory that is ours, rather than registered. */
		munmap(range->host, page_up(range->bytes));
	}
	free(range);
}

int ts_vgpu_range_release(struct ts_vgpu *vgpu, uint64_t start)
{
	struct ts_vgpu_range *range = ts_vgpu_range_find(vgpu, start);

	if (!range || range->start != start)
		return TS_VGPU_E_NOT_OWNER;
	range_drop(vgpu, range);
	return 0;
}

void ts_vgpu_ranges_free_context(struct ts_vgpu_context *context)
{
	struct ts_vgpu *vgpu = context->device->vgpu;

	for (size_t i = vgpu->n_ranges; i-- > 0;)
		if (vgpu->ranges[i]->context == context)
			range_drop(vgpu, vgpu->ranges[i]);
}

void ts_vgpu_ranges_deinit(struct ts_vgpu *vgpu)
{
	while (vgpu->n_ranges)
		range_drop(vgpu, vgpu->ranges[vgpu->n_ranges - 1]);
	free(vgpu->ranges);
	vgpu->ranges = NULL;
}

int ts_vgpu_memory_take(struct ts_vgpu_device *device, uint64_t bytes, uint64_t *ret_start)
{
	int r = TS_VGPU_E_OUT_OF_MEMORY;

	for (unsigned i = 0; i < 2 && r; i++) {
		/* What pools hold and do not use is not missing elsewhere. */
		if (i)
			ts_vgpu_pools_trim(device);
		/* Memory that has no address takes its part, too. */
		if (bytes <= device->space_bytes - device->used_bytes)
			r = hole_take(device, bytes, ret_start);
	}
	return r;
}

void ts_vgpu_memory_give(struct ts_vgpu_device *device, uint64_t start, uint64_t bytes)
{
	hole_give(device, start, bytes);
}

/* The lock is held. */
static int alloc_device(struct ts_vgpu_context *context, size_t bytes, uint32_t flags,
			const void *user, uint64_t *ret_address)
{
	struct ts_vgpu_device *device = context->device;
	struct ts_vgpu *vgpu = device->vgpu;
	uint64_t rounded, start;
	int r;

	if (bytes > device->space_bytes)
		return TS_VGPU_E_OUT_OF_MEMORY;
	rounded = (bytes + TS_VGPU_ALIGN_BYTES - 1) / TS_VGPU_ALIGN_BYTES * TS_VGPU_ALIGN_BYTES;
	r = ts_vgpu_memory_take(device, rounded, &start);
	if (!r) {
		struct ts_vgpu_range range = {
			.start = start,
			.bytes = bytes,
			.kind = TS_VGPU_MEMORY_DEVICE,
			.device = device->index,
			.context = context,
			.flags = flags,
			.user = user,
			.backing = device->backing + (start - (uint64_t)(uintptr_t)device->space),
		};

		r = ts_vgpu_range_insert(vgpu, &range);
		if (r)
			hole_give(device, start, rounded);
	}
	if (!r)
		*ret_address = start;
	return r;
}

int ts_vgpu_alloc(struct ts_vgpu_context *context, size_t bytes, uint32_t flags, const void *user,
		  uint64_t *ret_address)
{
	int r;

	if (!bytes)
		return -EINVAL;
	ts_vgpu_lock(context->device->vgpu);
	r = alloc_device(context, bytes, flags, user, ret_address);
	ts_vgpu_unlock(context->device->vgpu);
	return r;
}

/* The lock is held, and nothing lies there. */
static int place(struct ts_vgpu_device *device, struct ts_vgpu_range *range)
{
	uint64_t mapped = placed_bytes(range), end = range->start + range->bytes;
	uint8_t *backing;
	int r;

	if (device->used_bytes > device->space_bytes ||
	    mapped > device->space_bytes - device->used_bytes)
		return TS_VGPU_E_OUT_OF_MEMORY;
	/* Its neighbours within a stretch that is given out as one are not, either. */
	r = holes_trim(device, range->start / TS_VGPU_ALIGN_BYTES * TS_VGPU_ALIGN_BYTES,
		       (end + TS_VGPU_ALIGN_BYTES - 1) / TS_VGPU_ALIGN_BYTES * TS_VGPU_ALIGN_BYTES);
	if (r)
		return r;
	backing = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (backing == MAP_FAILED)
		return TS_VGPU_E_OUT_OF_MEMORY;
	device->used_bytes += mapped;
	range->backing = backing + range->start % page_up(1);
	return 0;
}

int ts_vgpu_alloc_at(struct ts_vgpu_context *context, uint64_t address, size_t bytes)
{
	struct ts_vgpu_device *device = context->device;
	struct ts_vgpu *vgpu = device->vgpu;
	struct ts_vgpu_range range = {
		.start = address,
		.bytes = bytes,
		.kind = TS_VGPU_MEMORY_DEVICE,
		.device = device->index,
		.context = context,
		.user = &placed,
	};
	size_t above;
	int r = TS_VGPU_E_ADDRESS;

	if (!bytes || bytes > device->space_bytes)
		return !bytes ? -EINVAL : TS_VGPU_E_OUT_OF_MEMORY;
	if (!address || address > TS_VGPU_ADDRESS_END - bytes)
		return TS_VGPU_E_ADDRESS;
	ts_vgpu_lock(vgpu);
	above = ts_vgpu_range_above(vgpu, address);
	if (!ts_vgpu_range_find(vgpu, address) &&
	    (above == vgpu->n_ranges || vgpu->ranges[above]->start >= address + bytes))
		r = place(device, &range);
	if (!r) {
		r = ts_vgpu_range_insert(vgpu, &range);
		if (r)
			unplace(device, &range);
	}
	ts_vgpu_unlock(vgpu);
	return r;
}

int ts_vgpu_heap_alloc(struct ts_vgpu_context *context, size_t bytes, uint64_t *ret_address)
{
	uint64_t limit = atomic_load_explicit(&context->heap_limit, memory_order_relaxed);
	int r = TS_VGPU_E_OUT_OF_MEMORY;

	if (!bytes)
		return -EINVAL;
	ts_vgpu_lock(context->device->vgpu);
	if (context->heap_used <= limit && bytes <= limit - context->heap_used)
		r = alloc_device(context, bytes, 0, &heap, ret_address);
	if (!r)
		context->heap_used += bytes;
	ts_vgpu_unlock(context->device->vgpu);
	return r;
}

int ts_vgpu_heap_free(struct ts_vgpu_context *context, uint64_t address)
{
	struct ts_vgpu *vgpu = context->device->vgpu;
	struct ts_vgpu_range *range;
	int r = 0;

	ts_vgpu_lock(vgpu);
	range = ts_vgpu_range_find(vgpu, address);
	if (!range || range->start != address || range->user != &heap ||
	    range->context != context) {
		r = TS_VGPU_E_NOT_OWNER;
	} else {
		context->heap_used -= range->bytes;
		range_drop(vgpu, range);
	}
	ts_vgpu_unlock(vgpu);
	return r;
}

static int alloc_host(struct ts_vgpu_context *context, size_t bytes, uint32_t flags,
		      enum ts_vgpu_memory_kind kind, void **ret_host)
{
	struct ts_vgpu *vgpu = context->device->vgpu;
	struct ts_vgpu_range range = {
		.bytes = bytes,
		.kind = kind,
		.device = context->device->index,
		.context = context,
		.flags = flags,
	};
	void *host;
	int r;

	if (!bytes)
		return -EINVAL;
	if (bytes > SIZE_MAX / 2)
		return TS_VGPU_E_OUT_OF_MEMORY;
	host = mmap(NULL, page_up(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	if (host == MAP_FAILED)
		return TS_VGPU_E_OUT_OF_MEMORY;
	range.start = (uint64_t)(uintptr_t)host;
	range.host = host;
	range.backing = host;
	ts_vgpu_lock(vgpu);
	r = ts_vgpu_range_insert(vgpu, &range);
	if (!r) {
		struct ts_vgpu_range *kept = ts_vgpu_range_find(vgpu, range.start);

		/* The mark of memory that goes when its range goes. */
		kept->user = kept;
	}
	ts_vgpu_unlock(vgpu);
	if (r) {
		munmap(host, page_up(bytes));
		return r;
	}
	*ret_host = host;
	return 0;
}

int ts_vgpu_alloc_managed(struct ts_vgpu_context *context, size_t bytes, uint32_t flags,
			  uint64_t *ret_address)
{
	void *host;
	int r = alloc_host(context, bytes, flags, TS_VGPU_MEMORY_MANAGED, &host);

	if (!r)
		*ret_address = (uint64_t)(uintptr_t)host;
	return r;
}

int ts_vgpu_alloc_pinned(struct ts_vgpu_context *context, size_t bytes, uint32_t flags,
			 void **ret_host)
{
	return alloc_host(context, bytes, flags, TS_VGPU_MEMORY_PINNED, ret_host);
}

/* What stands at the address and is of a kind, waited for; the lock is held on success only. */
static int find_idle(struct ts_vgpu_context *context, uint64_t address, bool host,
		     struct ts_vgpu_range **ret_range)
{
	struct ts_vgpu *vgpu = context->device->vgpu;
	struct ts_vgpu_device *owner;
	struct ts_vgpu_range *range;
	uint32_t device;
	bool one;

	ts_vgpu_lock(vgpu);
	range = ts_vgpu_range_find(vgpu, address);
	if (!range || range->start != address || range->physical || range->user == &heap ||
	    (host ? range->kind != TS_VGPU_MEMORY_PINNED : range->kind == TS_VGPU_MEMORY_PINNED)) {
		ts_vgpu_unlock(vgpu);
		return TS_VGPU_E_NOT_OWNER;
	}
	/* A kernel of any device may be at work on memory that all reach. */
	one = range->kind == TS_VGPU_MEMORY_DEVICE;
	owner = range->block ? range->context->device : NULL;
	device = one ? range->device : 0;
	do
		ts_vgpu_device_drain(&vgpu->devices[device]);
	while (!one && ++device < vgpu->n_devices);
	/* Of a pool, it is given out in order of a stream, which may be another device's. */
	if (owner && owner->index != device)
		ts_vgpu_device_drain(owner);
	/* The lock was let go while waiting. */
	range = ts_vgpu_range_find(vgpu, address);
	if (!range || range->start != address) {
		ts_vgpu_unlock(vgpu);
		return TS_VGPU_E_NOT_OWNER;
	}
	*ret_range = range;
	return 0;
}

int ts_vgpu_free_memory(struct ts_vgpu_context *context, uint64_t address)
{
	struct ts_vgpu_range *range;
	int r = find_idle(context, address, false, &range);

	if (r)
		return r;
	range_drop(context->device->vgpu, range);
	ts_vgpu_unlock(context->device->vgpu);
	return 0;
}

int ts_vgpu_release(struct ts_vgpu_context *context, uint64_t address)
{
	int r;

	ts_vgpu_lock(context->device->vgpu);
	r = ts_vgpu_range_release(context->device->vgpu, address);
	ts_vgpu_unlock(context->device->vgpu);
	return r;
}

int ts_vgpu_free_pinned(struct ts_vgpu_context *context, void *host)
{
	struct ts_vgpu_range *range;
	int r = find_idle(context, (uint64_t)(uintptr_t)host, true, &range);

	if (r)
		return r;
	if (range->user == range)
		range_drop(context->device->vgpu, range);
	else
		r = TS_VGPU_E_NOT_OWNER;
	ts_vgpu_unlock(context->device->vgpu);
	return r;
}

int ts_vgpu_register_host(struct ts_vgpu_context *context, void *host, size_t bytes, uint32_t flags)
{
	struct ts_vgpu *vgpu = context->device->vgpu;
	uint64_t start = (uint64_t)(uintptr_t)host;
	size_t above;
	int r;

	if (!host || !bytes || start + bytes < start)
		return -EINVAL;
	ts_vgpu_lock(vgpu);
	above = ts_vgpu_range_above(vgpu, start);
	if (ts_vgpu_range_find(vgpu, start) ||
	    (above < vgpu->n_ranges && vgpu->ranges[above]->start < start + bytes)) {
		r = TS_VGPU_E_REGISTERED;
	} else {
		struct ts_vgpu_range range = {
			.start = start,
			.bytes = bytes,
			.kind = TS_VGPU_MEMORY_PINNED,
			.device = context->device->index,
			.context = context,
			.flags = flags,
			.host = host,
			.backing = host,
		};

		r = ts_vgpu_range_insert(vgpu, &range);
	}
	ts_vgpu_unlock(vgpu);
	return r;
}

int ts_vgpu_unregister_host(struct ts_vgpu_context *context, void *host)
{
	struct ts_vgpu_range *range;
	int r = find_idle(context, (uint64_t)(uintptr_t)host, true, &range);

	if (r)
		return r;
	if (range->user != range)
		range_drop(context->device->vgpu, range);
	else
		r = TS_VGPU_E_NOT_OWNER;
	ts_vgpu_unlock(context->device->vgpu);
	return r;
}

static int range_at(struct ts_vgpu *vgpu, uint64_t address, struct ts_vgpu_range *ret_range)
{
	struct ts_vgpu_range *range;
	int r = TS_VGPU_E_ADDRESS;

	ts_vgpu_lock(vgpu);
	range = ts_vgpu_range_find(vgpu, address);
	if (range) {
		*ret_range = *range;
		r = 0;
	}
	ts_vgpu_unlock(vgpu);
	return r;
}

int ts_vgpu_range_of(struct ts_vgpu *vgpu, uint64_t address, struct ts_vgpu_range *ret_range)
{
	struct ts_vgpu_range range;
	int r = range_at(vgpu, address, &range);

	if (r)
		return r;
	if (range.asked_bytes)
		range.bytes = range.asked_bytes;
	if (address - range.start >= range.bytes)
		return TS_VGPU_E_ADDRESS;
	*ret_range = range;
	return 0;
}

/*
 * The bytes of a range and of the padding behind it, which kernels may access. Other memory of this process never lies there: device
 * memory and pools are given out by whole units, and the other kinds by pages, of which a unit is a part.
 */
static uint64_t padded_bytes(const struct ts_vgpu *vgpu, const struct ts_vgpu_range *range)
{
	uint64_t unit = range->user == &heap ? TS_VGPU_HEAP_UNIT_BYTES : TS_VGPU_ALIGN_BYTES;
	uint64_t end = (range->start + range->bytes + unit - 1) / unit * unit;
	size_t above = ts_vgpu_range_above(vgpu, range->start);

	/* Placed and registered memory can begin anywhere. */
	if (above < vgpu->n_ranges && vgpu->ranges[above]->start < end)
		end = vgpu->ranges[above]->start;
	return end - range->start;
}

static int reach_at(struct ts_vgpu *vgpu, uint64_t address, struct ts_vgpu_range *ret_range)
{
	size_t above;
	int r = TS_VGPU_E_ADDRESS;

	ts_vgpu_lock(vgpu);
	above = ts_vgpu_range_above(vgpu, address);
	if (above) {
		*ret_range = *vgpu->ranges[above - 1];
		ret_range->bytes = padded_bytes(vgpu, ret_range);
		r = address - ret_range->start < ret_range->bytes ? 0 : TS_VGPU_E_ADDRESS;
	}
	ts_vgpu_unlock(vgpu);
	return r;
}

int ts_vgpu_reach(struct ts_vgpu_context *context, uint64_t address,
		  struct ts_vgpu_range *ret_range)
{
	uint32_t peers = atomic_load_explicit(&context->peers, memory_order_relaxed);
	uint32_t own = 1u << context->device->index;
	struct ts_vgpu_range range;
	int r = reach_at(context->device->vgpu, address, &range);

	if (r)
		return r;
	if (range.listed || range.physical) {
		if (!(range.readers & own))
			return TS_VGPU_E_ADDRESS;
		range.access =
			TS_VGPU_ACCESS_READ | (range.writers & own ? TS_VGPU_ACCESS_WRITE : 0);
	} else if (range.kind == TS_VGPU_MEMORY_DEVICE && range.device != context->device->index &&
		   !(peers & 1u << range.device)) {
		/* What was allocated is its device's, and that of whom its peers let in. */
		return TS_VGPU_E_ADDRESS;
	}
	*ret_range = range;
	return 0;
}

int ts_vgpu_resolve(struct ts_vgpu *vgpu, uint64_t address, size_t bytes, void **ret_backing)
{
	const struct ts_vgpu_range *range;
	int r = TS_VGPU_E_ADDRESS;

	ts_vgpu_lock(vgpu);
	range = ts_vgpu_range_find(vgpu, address);
	if (range && bytes <= ts_vgpu_range_reach(vgpu, range, address, TS_VGPU_ACCESS_READ)) {
		*ret_backing = range->backing + (address - range->start);
		r = 0;
	}
	ts_vgpu_unlock(vgpu);
	return r;
}
