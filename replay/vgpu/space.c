/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A device's address space and its bytes: two mappings and a list of holes, which are the free
 * address ranges. vgpu-memory.c explains how addresses and bytes correspond. The memory files,
 * vgpu-machine.c and release.c call this file under the lock.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "replay/vgpu/vgpu-internal.h"

/* Smaller freed ranges do not justify the system call that returns their pages. */
#define GIVE_BACK_BYTES (256u << 10)

uint64_t ts_vgpu_page_up(uint64_t n)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	return (n + page - 1) / page * page;
}

/*
 * Maps address space without cost before its use, also in a program that locks its memory. Under
 * mlockall(MCL_FUTURE) mmap() would populate and lock all of it. mremap() of an unlocked page grows
 * an unlocked mapping.
 */
static void *map_unlocked(uint64_t bytes, int protection)
{
	uint64_t page = ts_vgpu_page_up(1);
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
	/*
	 * A forked child has no device, and a core dump must not contain the device's memory, up to
	 * 141 GiB.
	 */
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

int ts_vgpu_hole_take(struct ts_vgpu_device *device, uint64_t bytes, uint64_t *ret_start)
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

/* Removes [start, end) from the holes, so that the device does not allocate there. */
int ts_vgpu_holes_trim(struct ts_vgpu_device *device, uint64_t start, uint64_t end)
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

void ts_vgpu_memory_give(struct ts_vgpu_device *device, uint64_t start, uint64_t bytes)
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
		/* If malloc() fails, the device loses this range; no memory is corrupted. */
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
		uint64_t from = ts_vgpu_page_up(start - (uint64_t)(uintptr_t)device->space);
		uint64_t to = start - (uint64_t)(uintptr_t)device->space + bytes;

		to -= to % (uint64_t)sysconf(_SC_PAGESIZE);
		if (to > from)
			madvise(device->backing + from, to - from, MADV_DONTNEED);
	}
}
