/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices' memory. A device address is an address of this process without access. Each device
 * reserves as much address space as it has memory, so a program that dereferences a device pointer
 * on the host faults as with hardware. The bytes lie in a second mapping of the same size, at a
 * fixed distance. The kernel populates this mapping at the first access.
 *
 * Pinned and managed memory is ordinary memory with equal host and device addresses. One ascending
 * table (ranges.c) holds every allocation and returns kind, bounds and device of an address. The
 * memory facades, executor.c and replay/exec/vgpu call this file.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "replay/vgpu/vgpu-internal.h"

/* `user` of ranges that kernels allocated. */
static const char heap;

/* Allocates memory of the context's device. The caller holds the lock. */
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
			ts_vgpu_memory_give(device, start, rounded);
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

/*
 * Places a range at the address that its caller chose. The caller holds the lock, and no range of
 * the table overlaps this one.
 */
static int place(struct ts_vgpu_device *device, struct ts_vgpu_range *range)
{
	uint64_t mapped = ts_vgpu_placed_bytes(range), end = range->start + range->bytes;
	uint8_t *backing;
	int r;

	if (device->used_bytes > device->space_bytes ||
	    mapped > device->space_bytes - device->used_bytes)
		return TS_VGPU_E_OUT_OF_MEMORY;
	/*
	 * The device allocates whole units, so the first and the last unit are removed as a whole.
	 */
	r = ts_vgpu_holes_trim(device, range->start / TS_VGPU_ALIGN_BYTES * TS_VGPU_ALIGN_BYTES,
			       (end + TS_VGPU_ALIGN_BYTES - 1) / TS_VGPU_ALIGN_BYTES *
				       TS_VGPU_ALIGN_BYTES);
	if (r)
		return r;
	backing = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (backing == MAP_FAILED)
		return TS_VGPU_E_OUT_OF_MEMORY;
	device->used_bytes += mapped;
	range->backing = backing + range->start % ts_vgpu_page_up(1);
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
		.user = &ts_vgpu_placed,
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
			ts_vgpu_unplace(device, &range);
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
		ts_vgpu_range_drop(vgpu, range);
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
	host = mmap(NULL, ts_vgpu_page_up(bytes), PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (host == MAP_FAILED)
		return TS_VGPU_E_OUT_OF_MEMORY;
	range.start = (uint64_t)(uintptr_t)host;
	range.host = host;
	range.backing = host;
	ts_vgpu_lock(vgpu);
	r = ts_vgpu_range_insert(vgpu, &range);
	if (!r) {
		struct ts_vgpu_range *kept = ts_vgpu_range_find(vgpu, range.start);

		/* The range owns its memory: range->user points to the range itself. */
		kept->user = kept;
	}
	ts_vgpu_unlock(vgpu);
	if (r) {
		munmap(host, ts_vgpu_page_up(bytes));
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

/*
 * Finds the range at an address and waits for work that may use it. On success the lock is held, on
 * failure it is not.
 */
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
	/* A kernel of any device may access memory that all devices reach. */
	one = range->kind == TS_VGPU_MEMORY_DEVICE;
	owner = range->block ? range->context->device : NULL;
	device = one ? range->device : 0;
	do
		ts_vgpu_device_drain(&vgpu->devices[device]);
	while (!one && ++device < vgpu->n_devices);
	/*
	 * The pool allocated the range in the order of a stream, which may belong to another
	 * device.
	 */
	if (owner && owner->index != device)
		ts_vgpu_device_drain(owner);
	/* The wait released the lock: look again. */
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
	ts_vgpu_range_drop(context->device->vgpu, range);
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
		ts_vgpu_range_drop(context->device->vgpu, range);
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
		ts_vgpu_range_drop(context->device->vgpu, range);
	else
		r = TS_VGPU_E_NOT_OWNER;
	ts_vgpu_unlock(context->device->vgpu);
	return r;
}

/*
 * Makes the workers retire the queued releases of the device's pools soon. Returns true if there
 * are any. The caller holds the lock.
 */
static bool await_releases(struct ts_vgpu_device *device)
{
	struct ts_vgpu *vgpu = device->vgpu;
	uint64_t n = ts_vgpu_pools_pending(device);

	/* A stream of any device may contain the release. */
	for (uint32_t i = 0; n && i < vgpu->n_devices; i++) {
		for (struct ts_vgpu_stream *s = vgpu->devices[i].flight; s; s = s->flight_next)
			s->polled = true;
		if (vgpu->without_workers)
			ts_vgpu_work(&vgpu->devices[i]);
		else
			ts_vgpu_worker_kick(&vgpu->devices[i]);
	}
	return n;
}

int ts_vgpu_pool_alloc_wait(struct ts_vgpu_pool *pool, struct ts_vgpu_stream *stream, size_t bytes,
			    uint64_t max_ns, uint64_t *ret_address)
{
	const struct timespec nap = {.tv_nsec = 200000};
	struct ts_vgpu_device *device = ts_vgpu_pool_device(pool);
	struct ts_vgpu *vgpu = device->vgpu;
	uint64_t until_ns = ts_vgpu_now_ns() + max_ns;
	bool awaited = true;
	int r;

	for (;;) {
		r = ts_vgpu_pool_alloc(pool, stream, bytes, ret_address);
		if (r != TS_VGPU_E_OUT_OF_MEMORY || !awaited)
			return r;
		if (ts_vgpu_now_ns() >= until_ns)
			return TS_VGPU_E_NOT_READY;
		ts_vgpu_flush(vgpu);
		nanosleep(&nap, NULL);
		ts_vgpu_lock(vgpu);
		awaited = await_releases(device);
		ts_vgpu_pools_settle(device);
		ts_vgpu_unlock(vgpu);
	}
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
 * Returns the bytes of a range with the padding behind it, which kernels may access. No other
 * memory of this process lies in the padding: device memory and pools allocate whole units, other
 * kinds allocate pages, and a page contains whole units.
 */
static uint64_t padded_bytes(const struct ts_vgpu *vgpu, const struct ts_vgpu_range *range)
{
	uint64_t unit = range->user == &heap ? TS_VGPU_HEAP_UNIT_BYTES : TS_VGPU_ALIGN_BYTES;
	uint64_t end = (range->start + range->bytes + unit - 1) / unit * unit;
	size_t above = ts_vgpu_range_above(vgpu, range->start);

	/*
	 * Placed and registered memory may start at any address, so the next range may begin in
	 * this range's padding.
	 */
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
		/*
		 * Allocated device memory is accessible to its device and to contexts with peer
		 * access.
		 */
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
