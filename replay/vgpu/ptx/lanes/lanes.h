/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lane loops of most instructions. Each loop exists twice, for all 32 lanes and with a mask, in
 * a form that compilers vectorise. With a mask every lane is computed, and lanes outside the mask
 * keep their old value. An operand may be the same slot as the result but must not overlap it
 * otherwise; IVDEP states this.
 */
#pragma once

#include "replay/vgpu/ptx/run/ptx-exec.h"

#ifndef TS_PTX_ISA
#define TS_PTX_ISA base
#endif
#define TS_PTX_PASTE_(a, b) a##b
#define TS_PTX_PASTE(a, b)  TS_PTX_PASTE_(a, b)
#define TS_PTX_FILL(name)   TS_PTX_PASTE(ts_ptx_fill_##name##_, TS_PTX_ISA)

#ifdef __clang__
#define TS_PTX_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define TS_PTX_IVDEP _Pragma("GCC ivdep")
#endif
/* A function whose constant arguments decide its code. */
#define TS_PTX_INLINE	 inline __attribute__((always_inline))
#define TS_PTX_FOR_LANES TS_PTX_IVDEP for (int i = 0; i < TS_PTX_LANES; i++)

/*
 * Returns an operand's lanes. Arithmetic is built without the sanitizers' checks of memory
 * accesses, because a check of each lane makes the engine many times slower. Instead the first and
 * the last lane are checked here, with their alignment: lanes are consecutive in memory.
 */
#ifdef TS_PTX_CHECK_LANES
#define ts_ptx_lanes(operand, lane_bytes) ts_ptx_checked_lanes(operand, lane_bytes)
#else
#define ts_ptx_lanes(operand, lane_bytes) (operand)
#endif

#define TS_PTX_BITS_(k) k << 0, k << 1, k << 2, k << 3, k << 4, k << 5, k << 6, k << 7
#define TS_PTX_BITS                                                                  \
	{                                                                            \
		TS_PTX_BITS_(1u), TS_PTX_BITS_((1u << 8)), TS_PTX_BITS_((1u << 16)), \
			TS_PTX_BITS_((1u << 24))                                     \
	}
static const uint32_t ts_ptx_bit32[32] __attribute__((unused, aligned(64))) = TS_PTX_BITS;
static const uint64_t ts_ptx_bit64[32] __attribute__((unused, aligned(64))) = TS_PTX_BITS;

#define TS_PTX_HAS(m, i, size) \
	((size) == 8 ? ((uint64_t)(m)&ts_ptx_bit64[i]) != 0 : ((m)&ts_ptx_bit32[i]) != 0)

/* Loops: load, then expr of a, b, c. S*: types in slots; T*: types that lanes are read as. */
#define TS_PTX_LOOP(m, SD, TD, load, expr)                                 \
	if ((m) == UINT32_MAX) {                                           \
		TS_PTX_FOR_LANES                                           \
		{                                                          \
			load;                                              \
			d_[i] = (SD)(TD)(expr);                            \
		}                                                          \
	} else {                                                           \
		TS_PTX_FOR_LANES                                           \
		{                                                          \
			load;                                              \
			SD r_ = (SD)(TD)(expr);                            \
			d_[i] = TS_PTX_HAS(m, i, sizeof(SD)) ? r_ : d_[i]; \
		}                                                          \
	}

#define TS_PTX_OP1(name, SD, TD, SA, TA, expr)                                           \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m) \
	{                                                                                \
		SD *d_ = ts_ptx_lanes(ts_ptx_result(w, in), sizeof(*d_));                \
		const SA *a_ = ts_ptx_lanes(ts_ptx_slot(w, in->a), sizeof(*a_));         \
		TS_PTX_LOOP(m, SD, TD, TA a = (TA)a_[i], expr)                           \
		return 0;                                                                \
	}

#define TS_PTX_OP2(name, SD, TD, SA, TA, SB, TB, expr)                                   \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m) \
	{                                                                                \
		SD *d_ = ts_ptx_lanes(ts_ptx_result(w, in), sizeof(*d_));                \
		const SA *a_ = ts_ptx_lanes(ts_ptx_slot(w, in->a), sizeof(*a_));         \
		const SB *b_ = ts_ptx_lanes(ts_ptx_slot(w, in->b), sizeof(*b_));         \
		TS_PTX_LOOP(m, SD, TD, TA a = (TA)a_[i]; TB b = (TB)b_[i], expr)         \
		return 0;                                                                \
	}

#define TS_PTX_OP3(name, SD, TD, SA, TA, SB, TB, SC, TC, expr)                                     \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)           \
	{                                                                                          \
		SD *d_ = ts_ptx_lanes(ts_ptx_result(w, in), sizeof(*d_));                          \
		const SA *a_ = ts_ptx_lanes(ts_ptx_slot(w, in->a), sizeof(*a_));                   \
		const SB *b_ = ts_ptx_lanes(ts_ptx_slot(w, in->b), sizeof(*b_));                   \
		const SC *c_ = ts_ptx_lanes(ts_ptx_slot(w, in->c), sizeof(*c_));                   \
		TS_PTX_LOOP(m, SD, TD, TA a = (TA)a_[i]; TB b = (TB)b_[i]; TC c = (TC)c_[i], expr) \
		return 0;                                                                          \
	}

/* All operands have the same type: S in slots, T as read. */
#define TS_PTX_UNARY(name, S, T, expr)	 TS_PTX_OP1(name, S, T, S, T, expr)
#define TS_PTX_BINARY(name, S, T, expr)	 TS_PTX_OP2(name, S, T, S, T, S, T, expr)
#define TS_PTX_TERNARY(name, S, T, expr) TS_PTX_OP3(name, S, T, S, T, S, T, S, T, expr)

/* One function for all types of a width. */
#define TS_PTX_SET16(t, family, f) \
	((t)->fn[family][TY_B16] = (t)->fn[family][TY_U16] = (t)->fn[family][TY_S16] = (f))
#define TS_PTX_SET32(t, family, f) \
	((t)->fn[family][TY_B32] = (t)->fn[family][TY_U32] = (t)->fn[family][TY_S32] = (f))
#define TS_PTX_SET64(t, family, f) \
	((t)->fn[family][TY_B64] = (t)->fn[family][TY_U64] = (t)->fn[family][TY_S64] = (f))

/* Packs lanes that are all ones or zero into bits. */
static inline uint32_t ts_ptx_pack(const uint32_t lanes[TS_PTX_LANES])
{
#ifdef __SSE2__
	typedef int v4 __attribute__((vector_size(16)));
	typedef short v8 __attribute__((vector_size(16)));
	typedef char v16 __attribute__((vector_size(16)));
	uint32_t mask = 0;

	for (int i = 0; i < 2; i++) {
		const v4 *p = (const v4 *)(const void *)(lanes + 16 * i);
		v8 lo = __builtin_ia32_packssdw128(p[0], p[1]);
		v8 hi = __builtin_ia32_packssdw128(p[2], p[3]);

		mask |= (uint32_t)__builtin_ia32_pmovmskb128(
				(v16)__builtin_ia32_packsswb128(lo, hi))
			<< 16 * i;
	}
	return mask;
#else
	uint32_t mask = 0;

	for (int i = 0; i < TS_PTX_LANES; i++)
		mask |= lanes[i] & ts_ptx_bit32[i];
	return mask;
#endif
}
