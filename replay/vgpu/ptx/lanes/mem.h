/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Translates addresses of a whole warp to host pointers. A few vector loops check the common cases:
 * all lanes in one allocation, in shared memory or in local memory. If a check fails, ptx-memory.c
 * handles the lanes one by one and reports the fault. The exec-*.c files, matrix.c and run/ include
 * it.
 */
#pragma once

#include "replay/vgpu/ptx/lanes/lanes.h"

/*
 * One access of the host if the address is aligned to its size. The type requires only 8 bytes,
 * because parameters, which are never written, may have this alignment. On an address aligned to
 * 16, the same instruction makes one access.
 */
typedef long long ts_ptx_v16 __attribute__((vector_size(16), may_alias, aligned(8)));
#define TS_PTX_MOVE(T, to, from) \
	(*(volatile T *)(void *)(to) = *(const volatile T *)(const void *)(from))

#ifdef __aarch64__
/* With LSE2, a pair of registers is one access. A vector register may be two. */
static inline void ts_ptx_move_16(void *to, const void *from)
{
	uint64_t low, high;

	__asm__ __volatile__("ldp %0, %1, [%2]\n\tstp %0, %1, [%3]"
			     : "=&r"(low), "=&r"(high)
			     : "r"(from), "r"(to)
			     : "memory");
}
#define TS_PTX_MOVE_16(to, from) ts_ptx_move_16(to, from)
#else
#define TS_PTX_MOVE_16(to, from) TS_PTX_MOVE(ts_ptx_v16, to, from)
#endif

/* ptx-memory.c */
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

/*
 * With at most this many active lanes, a loop over the active lanes is faster than vector code for
 * all 32 lanes with a mask.
 */
#define TS_PTX_FEW_LANES 12

/*
 * Replaces addresses by offsets from base in one stretch of `size` bytes. False: a lane's access is
 * outside or not aligned.
 */
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
	} else if (__builtin_popcount(m) <= TS_PTX_FEW_LANES) {
		for (uint32_t left = m; left; left &= left - 1) {
			int i = __builtin_ctz(left);
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

/*
 * Memory that is consecutive on the host. If stride is not 0, each lane's memory starts `stride`
 * bytes after the previous lane's.
 */
struct ts_ptx_stretch {
	uint8_t *start;
	uint64_t base, size, stride; /* size 0: there is none */
	uint64_t *counted;	     /* counter of the accesses; NULL: they are not counted */
};

/* Returns the stretch of an access at `first`. */
static inline struct ts_ptx_stretch ts_ptx_stretch_of(struct ts_ptx_warp *w,
						      const struct ts_ptx_insn *in, uint64_t first,
						      bool write)
{
	struct ts_ptx_stretch at = {NULL, 0, 0, 0, NULL};
	struct ts_ptx_block *block = w->block;
	struct ts_ptx_worker *worker = w->worker;
	struct ts_ptx_stats *stats = &worker->stats;
	unsigned space = in->space;

	if (space == SP_GENERIC) {
		space = first < TS_PTX_WINDOW(0)		    ? SP_GLOBAL
			: first >> 32 == TS_PTX_WINDOW_SHARED >> 32 ? SP_SHARED
								    : SP_GENERIC;
		at.base = space == SP_SHARED ? TS_PTX_WINDOW_SHARED : 0;
	}
	if (space == SP_SHARED) {
		at.start = block->shared;
		at.size = TS_PTX_SHARED_REACH(block->shared_bytes);
		at.counted = write ? &stats->shared_bytes_written : &stats->shared_bytes_read;
	} else if (space == SP_GLOBAL || space == SP_CONST) {
		const struct ts_ptx_range *range = ts_ptx_range_of(worker, first);

		if (range && !(write && range->read_only)) {
			at.base = range->base;
			at.size = range->bytes;
			at.start = range->host;
		}
		at.counted = write ? &stats->global_bytes_written : &stats->global_bytes_read;
	} else if (space == SP_LOCAL) {
		at.start = block->local + (size_t)w->index * TS_PTX_LANES * block->local_stride;
		at.size = at.stride = block->local_stride;
		at.counted = write ? &stats->local_bytes_written : &stats->local_bytes_read;
	} else if (space == SP_PARAM && !write) {
		at.start = (uint8_t *)worker->params; /* only read */
		at.size = worker->params_bytes;
	}
	return at;
}

static inline void ts_ptx_count(const struct ts_ptx_stretch *at, uint32_t bytes)
{
	if (at->counted)
		*at->counted += bytes;
}

/* Pattern of a warp's addresses. */
enum ts_ptx_shape {
	TS_PTX_APART,
	TS_PTX_FLAT, /* 32 consecutive lanes */
	TS_PTX_SAME, /* 32 lanes at one address */
	TS_PTX_OWN,  /* 32 lanes at one offset of their local memory */
};

static inline enum ts_ptx_shape ts_ptx_shape_of(const struct ts_ptx_warp *w,
						const struct ts_ptx_insn *in, uint32_t m,
						uint32_t bytes, uint64_t *ret_first)
{
	const enum ts_ptx_shape same_place = in->space == SP_LOCAL ? TS_PTX_OWN : TS_PTX_SAME;

	if (m != UINT32_MAX)
		return TS_PTX_APART;
	if (in->flags & INSN_FRAME_LOCAL) {
		*ret_first = ts_ptx_frame_of(w)->local_base + in->imm;
		return same_place;
	}
	if (in->flags & INSN_A64) {
		const uint64_t *a = ts_ptx_slot(w, in->a);
		uint64_t first = a[0], same = 0, flat = 0;

		for (int i = 0; i < TS_PTX_LANES; i++) {
			same |= a[i] - first;
			flat |= (a[i] - first) ^ ((unsigned)i * bytes);
		}
		*ret_first = first + in->imm;
		return !same			       ? same_place
		       : flat || in->space == SP_LOCAL ? TS_PTX_APART
						       : TS_PTX_FLAT;
	} else {
		const uint32_t *a = ts_ptx_slot(w, in->a);
		uint32_t first = a[0], same = 0, flat = 0;

		for (int i = 0; i < TS_PTX_LANES; i++) {
			same |= a[i] - first;
			flat |= (a[i] - first) ^ ((unsigned)i * bytes);
		}
		*ret_first = (uint32_t)(first + (uint32_t)in->imm);
		return !same			       ? same_place
		       : flat || in->space == SP_LOCAL ? TS_PTX_APART
						       : TS_PTX_FLAT;
	}
}

/*
 * Returns `span` bytes at `first`; the lanes access `total` of them. NULL: not in one stretch, or
 * not aligned; nothing is counted.
 */
static inline uint8_t *ts_ptx_span(struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
				   uint64_t first, uint32_t span, uint32_t align, uint32_t total,
				   bool write)
{
	struct ts_ptx_stretch at = ts_ptx_stretch_of(w, in, first, write);

	if (at.stride || (first & (align - 1)) || at.size < span ||
	    first - at.base > at.size - span)
		return NULL;
	ts_ptx_count(&at, total);
	return at.start + (first - at.base);
}

/*
 * Returns the first lane's place for TS_PTX_OWN; the next lane's is ret_stride bytes later. NULL as
 * for ts_ptx_span().
 */
static inline uint8_t *ts_ptx_own(struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
				  uint64_t first, uint32_t bytes, bool write, uint64_t *ret_stride)
{
	struct ts_ptx_stretch at = ts_ptx_stretch_of(w, in, first, write);

	if (!at.stride || (first & (bytes - 1)) || at.size < bytes ||
	    first - at.base > at.size - bytes)
		return NULL;
	ts_ptx_count(&at, bytes * TS_PTX_LANES);
	*ret_stride = at.stride;
	return at.start + (first - at.base);
}

/* bytes: a lane's complete access. Overwrites address. */
static inline int ts_ptx_resolve_at(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m,
				    uint64_t address[TS_PTX_LANES], uint32_t bytes, uint32_t align,
				    bool write, uint8_t *host[TS_PTX_LANES])
{
	struct ts_ptx_stretch at = ts_ptx_stretch_of(w, in, address[__builtin_ctz(m)], write);
	uint64_t original[TS_PTX_LANES];

	memcpy(original, address, sizeof(original));
	ts_ptx_count(&at, bytes * (uint32_t)__builtin_popcount(m));
	if (!ts_ptx_within(m, address, at.base, at.size, bytes, align))
		return ts_ptx_addresses_slow(w, in, m, original, bytes, align, write, host);
	for (int i = 0; i < TS_PTX_LANES; i++)
		host[i] = at.start + address[i] + at.stride * (unsigned)i;
	return 0;
}

static inline int ts_ptx_resolve_lanes(struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
				       uint32_t m, uint32_t bytes, uint32_t align, bool write,
				       uint8_t *host[TS_PTX_LANES])
{
	uint64_t address[TS_PTX_LANES];

	ts_ptx_lane_addresses(w, in, address);
	return ts_ptx_resolve_at(w, in, m, address, bytes, align, write, host);
}
