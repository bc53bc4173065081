// SPDX-License-Identifier: Apache-2.0
/*
 * Translates device addresses to host pointers: ranges of the embedder, cached per worker for one
 * run, and the windows of shared, local and parameter memory. Every access goes through this file
 * or the fast path in mem.h, which calls this file. No other code turns an address into a pointer.
 */
#include <assert.h>

#include "replay/vgpu/ptx/lanes/mem.h"

const struct ts_ptx_range *ts_ptx_range_resolve(struct ts_ptx_worker *worker, uint64_t address)
{
	const struct ts_ptx_host *host;
	struct ts_ptx_range *r;
	uint64_t base, bytes;
	uint32_t flags = 0;
	uint8_t *bytes_at;

	host = ts_ptx_engine_host(worker->engine);
	if (address >= TS_PTX_WINDOW(0) ||
	    host->resolve(host->userdata, address, &base, &bytes, &bytes_at, &flags))
		return NULL;
	/* Check the embedder's result, so that its errors do not allow invalid accesses. */
	if (address < base || address - base >= bytes || bytes > TS_PTX_WINDOW(0))
		return NULL;
	r = &worker->ranges[worker->next_range];
	worker->next_range = (worker->next_range + 1) % TS_PTX_N_RANGES;
	*r = (struct ts_ptx_range){base, bytes, bytes_at, flags & TS_PTX_READ_ONLY};
	return r;
}

uint8_t *ts_ptx_locate(struct ts_ptx_warp *w, uint32_t lane, uint64_t address,
		       uint64_t *ret_bytes_left, bool *ret_read_only)
{
	struct ts_ptx_block *block = w->block;
	uint64_t offset = address & UINT32_MAX, bytes;
	uint8_t *start;
	bool read_only = false;

	switch (address >> 32 << 32) {
	case TS_PTX_WINDOW_SHARED:
		start = block->shared;
		bytes = TS_PTX_SHARED_REACH(block->shared_bytes);
		break;
	case TS_PTX_WINDOW_LOCAL:
		start = block->local +
			(size_t)(w->index * TS_PTX_LANES + lane) * block->local_stride;
		bytes = block->local_stride;
		break;
	case TS_PTX_WINDOW_PARAM:
		start = (uint8_t *)w->worker->params;
		bytes = w->worker->params_bytes;
		read_only = true;
		break;
	default: {
		const struct ts_ptx_range *r = ts_ptx_range_of(w->worker, address);

		if (!r)
			return NULL;
		start = r->host;
		bytes = r->bytes;
		offset = address - r->base;
		read_only = r->read_only;
		break;
	}
	}
	if (offset >= bytes)
		return NULL;
	*ret_bytes_left = bytes - offset;
	*ret_read_only = read_only;
	return start + offset;
}

/* Converts an address of a state space to a generic address. */
static uint64_t generic(unsigned space, uint64_t address)
{
	uint64_t window = space == SP_SHARED  ? TS_PTX_WINDOW_SHARED
			  : space == SP_LOCAL ? TS_PTX_WINDOW_LOCAL
			  : space == SP_PARAM ? TS_PTX_WINDOW_PARAM
					      : 0;

	if (!window || address >> 32 == window >> 32)
		return address;
	return address >> 32 ? UINT64_MAX : window | address;
}

int ts_ptx_addresses_slow(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask,
			  const uint64_t address[TS_PTX_LANES], uint32_t bytes, uint32_t align,
			  bool write, uint8_t *ret_host[TS_PTX_LANES])
{
	for (uint32_t left = mask; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		uint64_t at = generic(in->space, address[lane]), bytes_left = 0;
		bool read_only = false;
		uint8_t *p = ts_ptx_locate(w, lane, at, &bytes_left, &read_only);

		if (address[lane] & (align - 1))
			return ts_ptx_fault_access(w, in, lane, TS_PTX_FAULT_MISALIGNED,
						   address[lane], bytes, write);
		if (!p || bytes_left < bytes)
			return ts_ptx_fault_access(w, in, lane, TS_PTX_FAULT_OUT_OF_BOUNDS,
						   address[lane], bytes, write);
		if (write && read_only)
			return ts_ptx_fault_access(w, in, lane, TS_PTX_FAULT_READ_ONLY,
						   address[lane], bytes, write);
		ret_host[lane] = p;
	}
	return 0;
}

int ts_ptx_addresses(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask,
		     uint32_t bytes, bool write, uint8_t *ret_host[TS_PTX_LANES])
{
	uint32_t align = bytes > 16 ? 16 : bytes;
	uint64_t address[TS_PTX_LANES];
	int r = ts_ptx_resolve_lanes(w, in, mask, bytes, align, write, ret_host);

	if (w->worker->observing && !r) {
		ts_ptx_lane_addresses(w, in, address);
		ts_ptx_observed(w, in, mask, address, bytes, write, ret_host);
	}
	return r;
}

#ifdef TS_PTX_CHECK_LANES
void *ts_ptx_checked_lanes(void *operand, size_t lane_bytes)
{
	const volatile uint32_t *words = operand;
	const volatile uint64_t *pairs = operand;

	if (lane_bytes == sizeof(*pairs)) {
		(void)pairs[0];
		(void)pairs[TS_PTX_LANES - 1];
	} else {
		assert(lane_bytes == sizeof(*words));
		(void)words[0];
		(void)words[TS_PTX_LANES - 1];
	}
	return operand;
}
#endif
