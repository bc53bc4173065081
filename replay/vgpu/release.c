/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Releases a range and its memory, for each kind of memory. worker.c calls this file when a stream
 * reaches a release. vgpu-memory.c and vgpu-map.c call this file after all work that may use the
 * memory has ended.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "replay/vgpu/vgpu-internal.h"

const char ts_vgpu_placed;

/*
 * Returns the bytes that a placed range needs. Its host memory has the same offset within a page as
 * its address, so both have the same alignment.
 */
uint64_t ts_vgpu_placed_bytes(const struct ts_vgpu_range *range)
{
	return ts_vgpu_page_up(range->bytes + range->start % ts_vgpu_page_up(1));
}

void ts_vgpu_unplace(struct ts_vgpu_device *device, const struct ts_vgpu_range *range)
{
	munmap(range->backing - range->start % ts_vgpu_page_up(1), ts_vgpu_placed_bytes(range));
	device->used_bytes -= ts_vgpu_placed_bytes(range);
}

void ts_vgpu_range_drop(struct ts_vgpu *vgpu, struct ts_vgpu_range *range)
{
	struct ts_vgpu_device *device = &vgpu->devices[range->device];

	ts_vgpu_range_remove(vgpu, range);
	if (range->physical) {
		ts_vgpu_range_unmap(vgpu, range);
	} else if (range->block) {
		ts_vgpu_pool_give(range->block);
	} else if (range->user == &ts_vgpu_placed) {
		ts_vgpu_unplace(device, range);
	} else if (range->kind == TS_VGPU_MEMORY_DEVICE) {
		ts_vgpu_memory_give(device, range->start,
				    (range->bytes + TS_VGPU_ALIGN_BYTES - 1) / TS_VGPU_ALIGN_BYTES *
					    TS_VGPU_ALIGN_BYTES);
	} else if (range->user == range) {
		/*
		 * Pinned or managed memory that the machine allocated; registered memory belongs to
		 * the program.
		 */
		munmap(range->host, ts_vgpu_page_up(range->bytes));
	}
	free(range);
}

int ts_vgpu_range_release(struct ts_vgpu *vgpu, uint64_t start)
{
	struct ts_vgpu_range *range = ts_vgpu_range_find(vgpu, start);

	if (!range || range->start != start)
		return TS_VGPU_E_NOT_OWNER;
	ts_vgpu_range_drop(vgpu, range);
	return 0;
}

void ts_vgpu_ranges_free_context(struct ts_vgpu_context *context)
{
	struct ts_vgpu *vgpu = context->device->vgpu;

	for (size_t i = vgpu->n_ranges; i-- > 0;)
		if (vgpu->ranges[i]->context == context)
			ts_vgpu_range_drop(vgpu, vgpu->ranges[i]);
}

void ts_vgpu_ranges_deinit(struct ts_vgpu *vgpu)
{
	while (vgpu->n_ranges)
		ts_vgpu_range_drop(vgpu, vgpu->ranges[vgpu->n_ranges - 1]);
	free(vgpu->ranges);
	vgpu->ranges = NULL;
}
