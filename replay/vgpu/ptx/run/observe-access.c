// SPDX-License-Identifier: Apache-2.0
/*
 * Reports a checked memory access to the observer. ptx-memory.c, matrix.c and the observed
 * instructions (observe.c) call this file.
 */
#include "replay/vgpu/ptx/lanes/mem.h"

static void observe_lanes(struct ts_ptx_warp *w, struct ts_ptx_access *access,
			  const uint64_t generic[TS_PTX_LANES], uint32_t shared, uint32_t lanes)
{
	const struct ts_ptx_observer *observer = w->worker->observer;

	if (!lanes)
		return;
	access->lanes = lanes;
	access->flags = (access->flags & ~TS_PTX_ACCESS_SHARED) | shared;
	for (uint32_t i = 0; i < TS_PTX_LANES; i++)
		access->address[i] = shared ? generic[i] & UINT32_MAX : generic[i];
	observer->access(observer->userdata, w->block->observed, access);
}

void ts_ptx_observed(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m,
		     const uint64_t address[TS_PTX_LANES], uint32_t bytes, bool write,
		     uint8_t *const host[TS_PTX_LANES])
{
	uint32_t flags = w->worker->observing & ~TS_PTX_OBSERVING, global = 0, shared = 0;
	struct ts_ptx_access access = {
		.place = ts_ptx_frame_of(w)->code->first_place + in->index,
		.warp = w->index,
		.bytes = bytes,
		.values = w->worker->observed_values,
	};
	uint64_t generic[TS_PTX_LANES];

	/* An atomic access that writes also reads. */
	access.flags = flags | (write ? TS_PTX_ACCESS_WRITE : TS_PTX_ACCESS_READ);
	if (w->worker->observed_atomic)
		access.flags |= TS_PTX_ACCESS_READ;
	for (uint32_t i = 0; i < TS_PTX_LANES; i++) {
		generic[i] = in->space == SP_SHARED ? TS_PTX_WINDOW_SHARED | (uint32_t)address[i]
						    : address[i];
		access.host[i] = host[i];
		if (!(m >> i & 1) || in->space == SP_LOCAL || in->space == SP_PARAM ||
		    in->space == SP_CONST)
			continue;
		if (generic[i] < TS_PTX_WINDOW(0))
			global |= 1u << i;
		else if (generic[i] >> 32 == TS_PTX_WINDOW_SHARED >> 32)
			shared |= 1u << i;
	}
	observe_lanes(w, &access, generic, 0, global);
	observe_lanes(w, &access, generic, TS_PTX_ACCESS_SHARED, shared);
}
