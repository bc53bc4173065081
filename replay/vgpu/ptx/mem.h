/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses to pointers, for a whole warp. The common cases (all lanes in one allocation, in shared or in local memory) are
 * checked with a few vector loops; whatever fails them goes lane by lane through memory.c, which tells what is wrong.
 */
#pragma once

#include "replay/vgpu/ptx/lanes.h"

/*
 * One access of the host for what is aligned to its size. The type asks for 8 bytes alone: parameters, which nobody writes, may lie
 * so; an aligned place is one access by the same instruction.
 */
typedef long long ts_ptx_v16 __attribute__((vector_size(16), may_alias, aligned(8)));
#define TS_PTX_MOVE(T, to, from) \
	(*(volatile T *)(void *)(to) = *(const volatile T *)(const void *)(from))

/* memory.c */
int ts_ptx_addresses_slow(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask,
			  const uint64_t address[TS_PTX_LANES], uint32_t bytes, uint32_t align,
			  bool write, uint8_t *ret_host[TS_PTX_LANES]);
const struct ts_ptx_range *ts_ptx_range_resolve(struct ts_ptx_worker *worker, uint64_t address);

static inline const struct ts_ptx_range *ts_ptx_range_of(struct ts_ptx_worker *worker,
							 uint64_t address)
{
	for (int i = 0; i < TS_PTX_N_RANGES; i++) {
		const struct ts_ptx_range *r = &worker->ranges[i];

		if (address - r->base < r->bytes)
			return r;
	}
	return ts_ptx_range_resolve(worker, address);
}

static inline void ts_ptx_lane_addresses(const struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
					 uint64_t address[TS_PTX_LANES])
{
	uint64_t offset = in->imm;

	if (in->flags & INSN_A64) {
		const uint64_t *a = ts_ptx_slot(w, in->a);

		for (int i = 0; i < TS_PTX_LANES; i++)
			address[i] = a[i] + offset;
	} else if (in->flags & INSN_FRAME_LOCAL) {
		for (int i = 0; i < TS_PTX_LANES; i++)
			address[i] = ts_ptx_frame_of(w)->local_base + offset;
	} else {
		const uint32_t *a = ts_ptx_slot(w, in->a);

		for (int i = 0; i < TS_PTX_LANES; i++)
			address[i] = (uint32_t)(a[i] + (uint32_t)offset);
	}
}

/* Offsets from base into one stretch of `size` bytes: false where a lane's access leaves it or is not aligned. */
static inline bool ts_ptx_within(uint32_t m, uint64_t address[TS_PTX_LANES], uint64_t base,
				 uint64_t size, uint32_t bytes, uint32_t align)
{
	uint64_t limit = size - bytes, bad = 0, low = 0;

	if (size < bytes)
		return false;
	if (m == UINT32_MAX) {
		for (int i = 0; i < TS_PTX_LANES; i++) {
			uint64_t offset = address[i] - base;

			low |= address[i];
			bad |= offset | (limit - offset);
			address[i] = offset;
		}
	} else {
		for (int i = 0; i < TS_PTX_LANES; i++) {
			uint64_t at = TS_PTX_HAS(m, i, 8) ? address[i] : base;
			uint64_t offset = at - base;

			low |= TS_PTX_HAS(m, i, 8) ? at : 0;
			bad |= offset | (limit - offset);
			address[i] = offset;
		}
	}
	return !(bad >> 63) && !(low & (align - 1));
}

/* bytes is a lane's whole access, address is overwritten; ret_flat: the 32 lanes' accesses follow one another. */
static inline int ts_ptx_resolve_at(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m,
				    uint64_t address[TS_PTX_LANES], uint32_t bytes, uint32_t align,
				    bool write, uint8_t *host[TS_PTX_LANES], bool *ret_flat)
{
	uint64_t original[TS_PTX_LANES], base = 0, size = 0;
	struct ts_ptx_block *block = w->block;
	struct ts_ptx_worker *worker = w->worker;
	unsigned space = in->space;
	uint8_t *start = NULL;
	uint64_t stride = 0;

	memcpy(original, address, sizeof(original));
	if (space == SP_GENERIC) {
		uint64_t first = address[__builtin_ctz(m)];

		space = first < TS_PTX_WINDOW(0)		    ? SP_GLOBAL
			: first >> 32 == TS_PTX_WINDOW_SHARED >> 32 ? SP_SHARED
								    : SP_GENERIC;
		base = space == SP_SHARED ? TS_PTX_WINDOW_SHARED : 0;
	}
	if (space == SP_SHARED) {
		start = block->shared;
		size = TS_PTX_SHARED_REACH(block->shared_bytes);
		worker->stats.shared_bytes_read +=
			write ? 0 : bytes * (uint32_t)__builtin_popcount(m);
		worker->stats.shared_bytes_written +=
			write ? bytes * (uint32_t)__builtin_popcount(m) : 0;
	} else if (space == SP_GLOBAL || space == SP_CONST) {
		const struct ts_ptx_range *range =
			ts_ptx_range_of(worker, address[__builtin_ctz(m)]);

		if (range && !(write && range->read_only)) {
			base = range->base;
			size = range->bytes;
			start = range->host;
		}
		worker->stats.global_bytes_read +=
			write ? 0 : bytes * (uint32_t)__builtin_popcount(m);
		worker->stats.global_bytes_written +=
			write ? bytes * (uint32_t)__builtin_popcount(m) : 0;
	} else if (space == SP_LOCAL) {
		start = block->local + (size_t)w->index * TS_PTX_LANES * block->local_stride;
		size = stride = block->local_stride;
		worker->stats.local_bytes_read +=
			write ? 0 : bytes * (uint32_t)__builtin_popcount(m);
		worker->stats.local_bytes_written +=
			write ? bytes * (uint32_t)__builtin_popcount(m) : 0;
	} else if (space == SP_PARAM && !write) {
		start = (uint8_t *)worker->params; /* only read */
		size = worker->params_bytes;
	}
	if (!size || !ts_ptx_within(m, address, base, size, bytes, align)) {
		*ret_flat = false;
		return ts_ptx_addresses_slow(w, in, m, original, bytes, align, write, host);
	}
	for (int i = 0; i < TS_PTX_LANES; i++)
		host[i] = start + address[i] + stride * (unsigned)i;
	if (m == UINT32_MAX) {
		uintptr_t differs = 0;

		for (int i = 0; i < TS_PTX_LANES; i++)
			differs |= (uintptr_t)host[i] ^ ((uintptr_t)host[0] + (unsigned)i * bytes);
		*ret_flat = !differs;
	} else {
		*ret_flat = false;
	}
	return 0;
}

static inline int ts_ptx_resolve_lanes(struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
				       uint32_t m, uint32_t bytes, uint32_t align, bool write,
				       uint8_t *host[TS_PTX_LANES], bool *ret_flat)
{
	uint64_t address[TS_PTX_LANES];

	ts_ptx_lane_addresses(w, in, address);
	return ts_ptx_resolve_at(w, in, m, address, bytes, align, write, host, ret_flat);
}
