// SPDX-License-Identifier: Apache-2.0
/*
 * Integer and bit instructions. 16-bit values lie in 32-bit lanes with an undefined upper half. PTX
 * leaves division by zero open; quotient and remainder are all ones here, as on GPUs. The
 * interpreter's loop calls these functions through the optable.
 */
#include "replay/vgpu/ptx/lanes/lanes.h"

typedef unsigned __int128 u128;
typedef __int128 s128;

#define BOTH(name, expr)                                   \
	TS_PTX_BINARY(name##_16, uint32_t, uint16_t, expr) \
	TS_PTX_BINARY(name##_32, uint32_t, uint32_t, expr) \
	TS_PTX_BINARY(name##_64, uint64_t, uint64_t, expr)

#define SIGNED(name, expr)                                  \
	TS_PTX_BINARY(name##_u16, uint32_t, uint16_t, expr) \
	TS_PTX_BINARY(name##_s16, uint32_t, int16_t, expr)  \
	TS_PTX_BINARY(name##_u32, uint32_t, uint32_t, expr) \
	TS_PTX_BINARY(name##_s32, uint32_t, int32_t, expr)  \
	TS_PTX_BINARY(name##_u64, uint64_t, uint64_t, expr) \
	TS_PTX_BINARY(name##_s64, uint64_t, int64_t, expr)

#define FILL_BOTH(t, family, name)                                               \
	(TS_PTX_SET16(t, family, name##_16), TS_PTX_SET32(t, family, name##_32), \
	 TS_PTX_SET64(t, family, name##_64))

#define FILL_SIGNED(t, family, name)                                                 \
	((t)->fn[family][TY_U16] = name##_u16, (t)->fn[family][TY_S16] = name##_s16, \
	 (t)->fn[family][TY_U32] = name##_u32, (t)->fn[family][TY_S32] = name##_s32, \
	 (t)->fn[family][TY_U64] = name##_u64, (t)->fn[family][TY_S64] = name##_s64)

TS_PTX_UNARY(mov_32, uint32_t, uint32_t, a)
TS_PTX_UNARY(mov_64, uint64_t, uint64_t, a)
BOTH(add, (a + b))
BOTH(sub, (a - b))
TS_PTX_BINARY(mul_16, uint32_t, uint16_t, ((uint32_t)a * b))
TS_PTX_BINARY(mul_32, uint32_t, uint32_t, (a * b))
TS_PTX_BINARY(mul_64, uint64_t, uint64_t, (a * b))
BOTH(and, (a & b))
BOTH(or, (a | b))
BOTH(xor, (a ^ b))
TS_PTX_UNARY(not_32, uint32_t, uint32_t, ~a)
TS_PTX_UNARY(not_64, uint64_t, uint64_t, ~a)
TS_PTX_UNARY(cnot_16, uint32_t, uint16_t, (a == 0))
TS_PTX_UNARY(cnot_32, uint32_t, uint32_t, (a == 0))
TS_PTX_UNARY(cnot_64, uint64_t, uint64_t, (a == 0))
TS_PTX_UNARY(neg_16, uint32_t, uint16_t, (0 - a))
TS_PTX_UNARY(neg_32, uint32_t, uint32_t, (0 - a))
TS_PTX_UNARY(neg_64, uint64_t, uint64_t, (0 - a))
TS_PTX_UNARY(abs_16, uint32_t, int16_t, (a < 0 ? -a : a))
TS_PTX_UNARY(abs_32, uint32_t, int32_t, (a < 0 ? (int32_t)(0u - (uint32_t)a) : a))
TS_PTX_UNARY(abs_64, uint64_t, int64_t, (a < 0 ? (int64_t)(0u - (uint64_t)a) : a))
SIGNED(min, (a < b ? a : b))
SIGNED(max, (a > b ? a : b))

TS_PTX_BINARY(mul_hi_u16, uint32_t, uint16_t, ((uint32_t)a * b >> 16))
TS_PTX_BINARY(mul_hi_s16, uint32_t, int16_t, ((int32_t)a * b >> 16))
TS_PTX_BINARY(mul_hi_u32, uint32_t, uint32_t, ((uint64_t)a * b >> 32))
TS_PTX_BINARY(mul_hi_s32, uint32_t, int32_t, ((int64_t)a * b >> 32))
TS_PTX_BINARY(mul_hi_u64, uint64_t, uint64_t, ((u128)a * b >> 64))
TS_PTX_BINARY(mul_hi_s64, uint64_t, int64_t, ((s128)a * b >> 64))
TS_PTX_OP2(mul_wide_s16, uint32_t, int32_t, uint32_t, int16_t, uint32_t, int16_t, ((int32_t)a * b))
TS_PTX_OP2(mul_wide_u16, uint32_t, uint32_t, uint32_t, uint16_t, uint32_t, uint16_t,
	   ((uint32_t)a * b))
TS_PTX_OP2(mul_wide_u32, uint64_t, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t,
	   ((uint64_t)a * b))
TS_PTX_OP2(mul_wide_s32, uint64_t, int64_t, uint32_t, int32_t, uint32_t, int32_t, ((int64_t)a * b))

TS_PTX_TERNARY(mad_16, uint32_t, uint16_t, ((uint32_t)a * b + c))
TS_PTX_TERNARY(mad_32, uint32_t, uint32_t, (a * b + c))
TS_PTX_TERNARY(mad_64, uint64_t, uint64_t, (a * b + c))
TS_PTX_TERNARY(mad_hi_u16, uint32_t, uint16_t, (((uint32_t)a * b >> 16) + c))
TS_PTX_TERNARY(mad_hi_s16, uint32_t, int16_t, (((int32_t)a * b >> 16) + c))
TS_PTX_TERNARY(mad_hi_u32, uint32_t, uint32_t, (((uint64_t)a * b >> 32) + c))
TS_PTX_TERNARY(mad_hi_s32, uint32_t, int32_t, ((uint32_t)((int64_t)a * b >> 32) + (uint32_t)c))
TS_PTX_TERNARY(mad_hi_u64, uint64_t, uint64_t, ((uint64_t)((u128)a * b >> 64) + c))
TS_PTX_TERNARY(mad_hi_s64, uint64_t, int64_t, ((uint64_t)((s128)a * b >> 64) + (uint64_t)c))
TS_PTX_OP3(mad_wide_u16, uint32_t, uint32_t, uint32_t, uint16_t, uint32_t, uint16_t, uint32_t,
	   uint32_t, ((uint32_t)a * b + c))
TS_PTX_OP3(mad_wide_s16, uint32_t, uint32_t, uint32_t, int16_t, uint32_t, int16_t, uint32_t,
	   uint32_t, ((uint32_t)((int32_t)a * b) + c))
TS_PTX_OP3(mad_wide_u32, uint64_t, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t, uint64_t,
	   uint64_t, ((uint64_t)a * b + c))
TS_PTX_OP3(mad_wide_s32, uint64_t, uint64_t, uint32_t, int32_t, uint32_t, int32_t, uint64_t,
	   uint64_t, ((uint64_t)((int64_t)a * b) + c))

static inline int32_t clamp_s32(int64_t x)
{
	return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}

TS_PTX_BINARY(add_sat_s32, uint32_t, int32_t, clamp_s32((int64_t)a + b))
TS_PTX_BINARY(sub_sat_s32, uint32_t, int32_t, clamp_s32((int64_t)a - b))
TS_PTX_TERNARY(mad_hi_sat_s32, uint32_t, int32_t, clamp_s32(((int64_t)a * b >> 32) + c))

/*
 * A double gives every 32-bit quotient exactly: the gap to the next integer is wider than half a
 * last place.
 */
TS_PTX_BINARY(div_u16, uint32_t, uint16_t, (b ? a / (b ? b : 1) : 0xffff))
TS_PTX_BINARY(div_s16, uint32_t, int16_t, (b ? a / (b ? b : 1) : -1))
TS_PTX_BINARY(div_u32, uint32_t, uint32_t,
	      (b ? (uint32_t)(int64_t)((double)a / (double)(b ? b : 1)) : UINT32_MAX))
TS_PTX_BINARY(div_s32, uint32_t, int32_t,
	      (b ? (int32_t)(uint32_t)(int64_t)((double)a / (double)(b ? b : 1)) : -1))
TS_PTX_BINARY(div_u64, uint64_t, uint64_t, (b ? a / (b ? b : 1) : UINT64_MAX))
TS_PTX_BINARY(div_s64, uint64_t, int64_t,
	      (b == -1 ? (int64_t)(0 - (uint64_t)a)
	       : b     ? a / (b ? b : 1)
		       : -1))
TS_PTX_BINARY(rem_u16, uint32_t, uint16_t, (b ? a % (b ? b : 1) : 0xffff))
TS_PTX_BINARY(rem_s16, uint32_t, int16_t, (b ? a % (b ? b : 1) : -1))
TS_PTX_BINARY(rem_u32, uint32_t, uint32_t,
	      (b ? a - b * (uint32_t)(int64_t)((double)a / (double)(b ? b : 1)) : UINT32_MAX))
TS_PTX_BINARY(rem_s32, uint32_t, int32_t,
	      (b ? (uint32_t)a - (uint32_t)b * (uint32_t)(int64_t)((double)a / (double)(b ? b : 1))
		 : UINT32_MAX))
TS_PTX_BINARY(rem_u64, uint64_t, uint64_t, (b ? a % (b ? b : 1) : UINT64_MAX))
TS_PTX_BINARY(rem_s64, uint64_t, int64_t, (b == -1 ? 0 : b ? a % (b ? b : 1) : -1))

/* Shift counts have 32 bits and are clamped to the width. */
TS_PTX_BINARY(shl_16, uint32_t, uint32_t, (b > 15 ? 0 : a << (b & 15)))
TS_PTX_BINARY(shl_32, uint32_t, uint32_t, (b > 31 ? 0 : a << (b & 31)))
TS_PTX_OP2(shl_64, uint64_t, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t,
	   (b > 63 ? 0 : a << (b & 63)))
TS_PTX_OP2(shr_u16, uint32_t, uint16_t, uint32_t, uint16_t, uint32_t, uint32_t,
	   (b > 15 ? 0 : a >> (b & 15)))
TS_PTX_OP2(shr_s16, uint32_t, int16_t, uint32_t, int16_t, uint32_t, uint32_t,
	   (a >> (b > 15 ? 15 : b)))
TS_PTX_BINARY(shr_u32, uint32_t, uint32_t, (b > 31 ? 0 : a >> (b & 31)))
TS_PTX_OP2(shr_s32, uint32_t, int32_t, uint32_t, int32_t, uint32_t, uint32_t,
	   (a >> (b > 31 ? 31 : b)))
TS_PTX_OP2(shr_u64, uint64_t, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t,
	   (b > 63 ? 0 : a >> (b & 63)))
TS_PTX_OP2(shr_s64, uint64_t, int64_t, uint64_t, int64_t, uint32_t, uint32_t,
	   (a >> (b > 63 ? 63 : b)))

#define SAD (c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b))
TS_PTX_TERNARY(sad_u16, uint32_t, uint16_t, SAD)
TS_PTX_TERNARY(sad_s16, uint32_t, int16_t, (uint64_t)SAD)
TS_PTX_TERNARY(sad_u32, uint32_t, uint32_t, SAD)
TS_PTX_TERNARY(sad_s32, uint32_t, int32_t, (uint64_t)SAD)
TS_PTX_TERNARY(sad_u64, uint64_t, uint64_t, SAD)
TS_PTX_TERNARY(sad_s64, uint64_t, int64_t,
	       ((uint64_t)c + (a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b)))

#define LOW24U(x) ((x)&0xffffffu)
#define LOW24S(x) ((int32_t)((uint32_t)(x) << 8) >> 8)
TS_PTX_BINARY(mul24_u32, uint32_t, uint32_t, (LOW24U(a) * LOW24U(b)))
TS_PTX_BINARY(mul24_s32, uint32_t, int32_t, ((int64_t)LOW24S(a) * LOW24S(b)))
TS_PTX_BINARY(mul24_hi_u32, uint32_t, uint32_t, ((uint64_t)LOW24U(a) * LOW24U(b) >> 16))
TS_PTX_BINARY(mul24_hi_s32, uint32_t, int32_t, ((int64_t)LOW24S(a) * LOW24S(b) >> 16))

TS_PTX_TERNARY(shf_l, uint32_t, uint32_t,
	       (((uint64_t)b << 32 | a) << (in->aux ? (c > 31 ? 32 : c) : (c & 31)) >> 32))
TS_PTX_TERNARY(shf_r, uint32_t, uint32_t,
	       (((uint64_t)b << 32 | a) >> (in->aux ? (c > 31 ? 32 : c) : (c & 31))))

#define POPC32(x) __builtin_popcount(x)
TS_PTX_UNARY(popc_32, uint32_t, uint32_t, POPC32(a))
TS_PTX_OP1(popc_64, uint32_t, uint32_t, uint64_t, uint64_t, __builtin_popcountll(a))
TS_PTX_UNARY(clz_32, uint32_t, uint32_t, (a ? __builtin_clz(a) : 32))
TS_PTX_OP1(clz_64, uint32_t, uint32_t, uint64_t, uint64_t, (a ? __builtin_clzll(a) : 64))

static inline uint32_t reverse32(uint32_t x)
{
	x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
	x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
	x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
	return x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24;
}

TS_PTX_UNARY(brev_32, uint32_t, uint32_t, reverse32(a))
TS_PTX_UNARY(brev_64, uint64_t, uint64_t,
	     ((uint64_t)reverse32((uint32_t)a) << 32 | reverse32((uint32_t)(a >> 32))))

static inline uint32_t find_bit(uint64_t x, unsigned width, bool shift_amount)
{
	uint32_t bit;

	if (!x)
		return UINT32_MAX;
	bit = 63 - (uint32_t)__builtin_clzll(x);
	return shift_amount ? width - 1 - bit : bit;
}

TS_PTX_UNARY(bfind_u32, uint32_t, uint32_t, find_bit(a, 32, in->aux))
TS_PTX_UNARY(bfind_s32, uint32_t, int32_t, find_bit((uint32_t)(a < 0 ? ~a : a), 32, in->aux))
TS_PTX_OP1(bfind_u64, uint32_t, uint32_t, uint64_t, uint64_t, find_bit(a, 64, in->aux))
TS_PTX_OP1(bfind_s64, uint32_t, uint32_t, uint64_t, int64_t,
	   find_bit((uint64_t)(a < 0 ? ~a : a), 64, in->aux))

/*
 * Returns the position or length of a bit field as GPUs use it. The ISA allows 0 to 255. Beyond
 * that, GPUs use the low byte for 32-bit fields. For 64-bit fields they have no instruction and use
 * the complete count.
 */
static inline uint32_t field_count(uint32_t count, unsigned width)
{
	return width == 32 || count < 255 ? count & 255 : 255;
}

/* Extracts a bit field. Bits of the field past the top of `a` are the sign, or zero. */
static inline uint64_t extract(uint64_t a, uint32_t position, uint32_t length, unsigned width,
			       bool is_signed)
{
	uint32_t pos = field_count(position, width), len = field_count(length, width);
	bool sign;
	uint64_t field, result;

	if (!len)
		return 0;
	sign = is_signed && (a >> (pos + len - 1 > width - 1 ? width - 1 : pos + len - 1) & 1);
	field = pos > width - 1 ? 0 : a >> pos;
	if (pos + len > width)
		len = pos > width ? 0 : width - pos;
	result = len > 63 ? field : field & ((UINT64_C(1) << len) - 1);
	return sign && len < 64 ? result | ~UINT64_C(0) << len : result;
}

TS_PTX_TERNARY(bfe_u32, uint32_t, uint32_t, extract(a, b, c, 32, false))
TS_PTX_TERNARY(bfe_s32, uint32_t, uint32_t, extract(a, b, c, 32, true))
TS_PTX_OP3(bfe_u64, uint64_t, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t,
	   extract(a, b, c, 64, false))
TS_PTX_OP3(bfe_s64, uint64_t, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t,
	   extract(a, b, c, 64, true))

static inline uint64_t insert(uint64_t a, uint64_t b, uint32_t position, uint32_t length,
			      unsigned width)
{
	uint32_t pos = field_count(position, width), len = field_count(length, width);
	uint64_t mask;

	if (pos >= width || !len)
		return b;
	mask = len > 63 ? ~UINT64_C(0) : (UINT64_C(1) << len) - 1;
	mask <<= pos;
	return (b & ~mask) | (a << pos & mask);
}

/* Inserts a's low bits into b. The fourth operand is in aux. */
static int bfi_32(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t *d_ = ts_ptx_lanes(ts_ptx_result(w, in), sizeof(*d_));
	const uint32_t *a_ = ts_ptx_lanes(ts_ptx_slot(w, in->a), sizeof(*a_)),
		       *b_ = ts_ptx_lanes(ts_ptx_slot(w, in->b), sizeof(*b_));
	const uint32_t *c_ = ts_ptx_lanes(ts_ptx_slot(w, in->c), sizeof(*c_)),
		       *e_ = ts_ptx_lanes(ts_ptx_slot(w, in->aux), sizeof(*e_));

	TS_PTX_LOOP(m, uint32_t, uint32_t, , insert(a_[i], b_[i], c_[i], e_[i], 32))
	return 0;
}

static int bfi_64(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint64_t *d_ = ts_ptx_lanes(ts_ptx_result(w, in), sizeof(*d_));
	const uint64_t *a_ = ts_ptx_lanes(ts_ptx_slot(w, in->a), sizeof(*a_)),
		       *b_ = ts_ptx_lanes(ts_ptx_slot(w, in->b), sizeof(*b_));
	const uint32_t *c_ = ts_ptx_lanes(ts_ptx_slot(w, in->c), sizeof(*c_)),
		       *e_ = ts_ptx_lanes(ts_ptx_slot(w, in->aux), sizeof(*e_));

	TS_PTX_LOOP(m, uint64_t, uint64_t, , insert(a_[i], b_[i], c_[i], e_[i], 64))
	return 0;
}

static inline uint32_t bit_mask(uint32_t a, uint32_t b, bool wrap)
{
	uint32_t pos = wrap ? a & 31 : a, len = wrap ? b & 31 : b;

	if (!wrap && pos > 31)
		return 0;
	return (len > 31 ? UINT32_MAX : (1u << len) - 1) << (pos & 31);
}

static inline uint32_t size_extend(uint32_t a, uint32_t b, bool wrap, bool is_signed)
{
	uint32_t n = wrap ? b & 31 : b > 32 ? 32 : b;

	if (!n)
		return 0;
	if (n > 31)
		return a;
	return is_signed ? (uint32_t)((int32_t)(a << (32 - n)) >> (32 - n)) : a & ((1u << n) - 1);
}

TS_PTX_BINARY(bmsk, uint32_t, uint32_t, bit_mask(a, b, in->aux))
TS_PTX_BINARY(szext_u32, uint32_t, uint32_t, size_extend(a, b, in->aux, false))
TS_PTX_BINARY(szext_s32, uint32_t, uint32_t, size_extend(a, b, in->aux, true))

/*
 * Returns the position of the n-th set bit from base on, upwards for n > 0, downwards for n < 0.
 * For n = 0, tests only the bit at base.
 */
static inline uint32_t find_nth(uint32_t mask, uint32_t base, int32_t n)
{
	int step = n < 0 ? -1 : 1, left = n < 0 ? -n : n;

	if (!n)
		return base < 32 && (mask >> base & 1) ? base : UINT32_MAX;
	for (int at = (int)base; at >= 0 && at < 32; at += step)
		if ((mask >> at & 1) && !--left)
			return (uint32_t)at;
	return UINT32_MAX;
}

TS_PTX_TERNARY(fns, uint32_t, uint32_t, find_nth(a, b & 255, (int32_t)c))

static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t c, uint32_t mode)
{
	uint64_t bytes = (uint64_t)b << 32 | a;
	uint32_t result = 0, s = c & 3;

	for (uint32_t i = 0; i < 4; i++) {
		uint32_t sel;
		uint8_t byte;

		switch (mode) {
		case 1: /* f4e */
			sel = s + i;
			break;
		case 2: /* b4e */
			sel = (s - i) & 7;
			break;
		case 3: /* rc8 */
			sel = s;
			break;
		case 4: /* ecl */
			sel = i < s ? s : i;
			break;
		case 5: /* ecr */
			sel = i < s ? i : s;
			break;
		case 6: /* rc16 */
			sel = (s & 1) * 2 + (i & 1);
			break;
		default:
			sel = c >> 4 * i & 15;
			break;
		}
		byte = (uint8_t)(bytes >> 8 * (sel & 7));
		if (!mode && (sel & 8))
			byte = byte & 0x80 ? 0xff : 0;
		result |= (uint32_t)byte << 8 * i;
	}
	return result;
}

TS_PTX_TERNARY(prmt, uint32_t, uint32_t, permute(a, b, c, in->aux))

static inline int32_t byte_of(uint32_t x, int i, bool is_signed)
{
	return is_signed ? (int8_t)(x >> 8 * i) : (uint8_t)(x >> 8 * i);
}

static inline uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, uint32_t mode)
{
	for (int i = 0; i < 4; i++)
		c += (uint32_t)(byte_of(a, i, mode & 1) * byte_of(b, i, mode & 2));
	return c;
}

static inline uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, uint32_t mode)
{
	for (int i = 0; i < 2; i++) {
		int32_t half = mode & 1 ? (int16_t)(a >> 16 * i) : (uint16_t)(a >> 16 * i);

		c += (uint32_t)half * (uint32_t)byte_of(b, i + (mode & 4 ? 2 : 0), mode & 2);
	}
	return c;
}

TS_PTX_TERNARY(dp4a, uint32_t, uint32_t, dot4(a, b, c, in->aux))
TS_PTX_TERNARY(dp2a, uint32_t, uint32_t, dot2(a, b, c, in->aux))

/*
 * Runs lop3 by a truth table: bit i of aux is the result for a, b, c as the bits of i, with a as
 * the highest bit.
 */
static int lop3(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t *d_ = ts_ptx_lanes(ts_ptx_result(w, in), sizeof(*d_));
	const uint32_t *a_ = ts_ptx_lanes(ts_ptx_slot(w, in->a), sizeof(*a_)),
		       *b_ = ts_ptx_lanes(ts_ptx_slot(w, in->b), sizeof(*b_));
	const uint32_t *c_ = ts_ptx_lanes(ts_ptx_slot(w, in->c), sizeof(*c_));
	uint32_t t[8];

	for (int i = 0; i < 8; i++)
		t[i] = in->aux >> i & 1 ? UINT32_MAX : 0;
	TS_PTX_LOOP(m, uint32_t, uint32_t, uint32_t a = a_[i]; uint32_t b = b_[i];
		    uint32_t c = c_[i],
		    ((~a & ~b & ~c & t[0]) | (~a & ~b & c & t[1]) | (~a & b & ~c & t[2]) |
		     (~a & b & c & t[3]) | (a & ~b & ~c & t[4]) | (a & ~b & c & t[5]) |
		     (a & b & ~c & t[6]) | (a & b & c & t[7])))
	return 0;
}

/*
 * Carries: one bit per lane, in the frame's carry mask. aux bit 0: read a carry. A subtraction adds
 * the complement with an initial carry of one, as hardware does. If the subtraction does not
 * borrow, its carry is set; nvcc's 128-bit division reads this carry with addc.
 */
#define CARRY(name, S, W, first, sum)                                                    \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m) \
	{                                                                                \
		S *d = ts_ptx_lanes(ts_ptx_result(w, in), sizeof(*d));                   \
		const S *a_ = ts_ptx_lanes(ts_ptx_slot(w, in->a), sizeof(*a_)),          \
			*b_ = ts_ptx_lanes(ts_ptx_slot(w, in->b), sizeof(*b_));          \
		const S *c_ = ts_ptx_lanes(ts_ptx_slot(w, in->c), sizeof(*c_));          \
		uint32_t *cc = ts_ptx_pred(w, TS_PTX_FRAME_CC);                          \
		uint32_t carries = in->aux & 1 ? *cc : (first), out = 0;                 \
                                                                                         \
		for (int i = 0; i < TS_PTX_LANES; i++) {                                 \
			W a = a_[i], b = b_[i], c = c_[i], carry = carries >> i & 1;     \
			W r = (sum);                                                     \
                                                                                         \
			(void)c;                                                         \
			if (m >> i & 1)                                                  \
				d[i] = (S)r;                                             \
			out |= (uint32_t)(r >> sizeof(S) * 8 & 1) << i;                  \
		}                                                                        \
		if (in->flags & INSN_CC)                                                 \
			*cc = (*cc & ~m) | (out & m);                                    \
		return 0;                                                                \
	}

CARRY(add_carry_32, uint32_t, uint64_t, 0, (a + b + carry))
CARRY(add_carry_64, uint64_t, u128, 0, (a + b + carry))
CARRY(sub_carry_32, uint32_t, uint64_t, UINT32_MAX, (a + (uint32_t)~b + carry))
CARRY(sub_carry_64, uint64_t, u128, UINT32_MAX, (a + (uint64_t)~b + carry))
CARRY(mad_carry_32, uint32_t, uint64_t, 0, ((uint32_t)(a * b) + c + carry))
CARRY(mad_carry_64, uint64_t, u128, 0, ((u128)(uint64_t)(a * b) + c + carry))
CARRY(mad_hi_carry_u32, uint32_t, uint64_t, 0, ((a * b >> 32) + c + carry))
CARRY(mad_hi_carry_s32, uint32_t, uint64_t, 0,
      ((uint64_t)(uint32_t)((int64_t)(int32_t)a * (int32_t)b >> 32) + c + carry))
CARRY(mad_hi_carry_u64, uint64_t, u128, 0, ((a * b >> 64) + c + carry))
CARRY(mad_hi_carry_s64, uint64_t, u128, 0,
      ((u128)(uint64_t)((s128)(int64_t)a * (int64_t)b >> 64) + c + carry))

/* Packed 16-bit integers. */
#define PAIR(name, T, op)                                                                         \
	static inline uint32_t name##_pair(uint32_t a, uint32_t b)                                \
	{                                                                                         \
		T al = (T)a, bl = (T)b, ah = (T)(a >> 16), bh = (T)(b >> 16);                     \
		return (uint32_t)(uint16_t)(op(al, bl)) | (uint32_t)(uint16_t)(op(ah, bh)) << 16; \
	}                                                                                         \
	TS_PTX_BINARY(name, uint32_t, uint32_t, name##_pair(a, b))
#define PLUS(x, y)    ((x) + (y))
#define SMALLER(x, y) ((x) < (y) ? (x) : (y))
#define LARGER(x, y)  ((x) > (y) ? (x) : (y))
PAIR(add_u16x2, uint16_t, PLUS)
PAIR(min_u16x2, uint16_t, SMALLER)
PAIR(min_s16x2, int16_t, SMALLER)
PAIR(max_u16x2, uint16_t, LARGER)
PAIR(max_s16x2, int16_t, LARGER)

static void fill_arithmetic(struct ts_ptx_optable *t)
{
	FILL_BOTH(t, F_ADD, add);
	FILL_BOTH(t, F_SUB, sub);
	FILL_BOTH(t, F_MUL, mul);
	FILL_BOTH(t, F_MAD, mad);
	FILL_BOTH(t, F_NEG, neg);
	FILL_BOTH(t, F_ABS, abs);
	FILL_SIGNED(t, F_MIN, min);
	FILL_SIGNED(t, F_MAX, max);
	FILL_SIGNED(t, F_MUL_HI, mul_hi);
	FILL_SIGNED(t, F_MAD_HI, mad_hi);
	FILL_SIGNED(t, F_DIV, div);
	FILL_SIGNED(t, F_REM, rem);
	FILL_SIGNED(t, F_SAD, sad);
	t->fn[F_MUL_WIDE][TY_U16] = mul_wide_u16;
	t->fn[F_MUL_WIDE][TY_S16] = mul_wide_s16;
	t->fn[F_MUL_WIDE][TY_U32] = mul_wide_u32;
	t->fn[F_MUL_WIDE][TY_S32] = mul_wide_s32;
	t->fn[F_MAD_WIDE][TY_U16] = mad_wide_u16;
	t->fn[F_MAD_WIDE][TY_S16] = mad_wide_s16;
	t->fn[F_MAD_WIDE][TY_U32] = mad_wide_u32;
	t->fn[F_MAD_WIDE][TY_S32] = mad_wide_s32;
	t->fn[F_ADD_SAT][TY_S32] = add_sat_s32;
	t->fn[F_SUB_SAT][TY_S32] = sub_sat_s32;
	t->fn[F_MAD_HI_SAT][TY_S32] = mad_hi_sat_s32;
	t->fn[F_MUL24][TY_U32] = mul24_u32;
	t->fn[F_MUL24][TY_S32] = mul24_s32;
	t->fn[F_MUL24_HI][TY_U32] = mul24_hi_u32;
	t->fn[F_MUL24_HI][TY_S32] = mul24_hi_s32;
	TS_PTX_SET32(t, F_ADD_CARRY, add_carry_32);
	TS_PTX_SET64(t, F_ADD_CARRY, add_carry_64);
	TS_PTX_SET32(t, F_SUB_CARRY, sub_carry_32);
	TS_PTX_SET64(t, F_SUB_CARRY, sub_carry_64);
	TS_PTX_SET32(t, F_MAD_CARRY, mad_carry_32);
	TS_PTX_SET64(t, F_MAD_CARRY, mad_carry_64);
	t->fn[F_MAD_HI_CARRY][TY_U32] = mad_hi_carry_u32;
	t->fn[F_MAD_HI_CARRY][TY_S32] = mad_hi_carry_s32;
	t->fn[F_MAD_HI_CARRY][TY_U64] = mad_hi_carry_u64;
	t->fn[F_MAD_HI_CARRY][TY_S64] = mad_hi_carry_s64;
	t->fn[F_ADD][TY_U16X2] = t->fn[F_ADD][TY_S16X2] = add_u16x2;
	t->fn[F_MIN][TY_U16X2] = min_u16x2;
	t->fn[F_MIN][TY_S16X2] = min_s16x2;
	t->fn[F_MAX][TY_U16X2] = max_u16x2;
	t->fn[F_MAX][TY_S16X2] = max_s16x2;
}

static void fill_bits(struct ts_ptx_optable *t)
{
	TS_PTX_SET16(t, F_MOV, mov_32);
	TS_PTX_SET32(t, F_MOV, mov_32);
	TS_PTX_SET64(t, F_MOV, mov_64);
	FILL_BOTH(t, F_AND, and);
	FILL_BOTH(t, F_OR, or);
	FILL_BOTH(t, F_XOR, xor);
	TS_PTX_SET16(t, F_NOT, not_32);
	TS_PTX_SET32(t, F_NOT, not_32);
	TS_PTX_SET64(t, F_NOT, not_64);
	FILL_BOTH(t, F_CNOT, cnot);
	FILL_BOTH(t, F_SHL, shl);
	FILL_SIGNED(t, F_SHR, shr);
	t->fn[F_SHR][TY_B16] = shr_u16;
	t->fn[F_SHR][TY_B32] = shr_u32;
	t->fn[F_SHR][TY_B64] = shr_u64;
	t->fn[F_LOP3][TY_B32] = lop3;
	t->fn[F_SHF_L][TY_B32] = shf_l;
	t->fn[F_SHF_R][TY_B32] = shf_r;
	t->fn[F_PRMT][TY_B32] = prmt;
	t->fn[F_POPC][TY_B32] = popc_32;
	t->fn[F_POPC][TY_B64] = popc_64;
	t->fn[F_CLZ][TY_B32] = clz_32;
	t->fn[F_CLZ][TY_B64] = clz_64;
	t->fn[F_BREV][TY_B32] = brev_32;
	t->fn[F_BREV][TY_B64] = brev_64;
	t->fn[F_BFIND][TY_U32] = bfind_u32;
	t->fn[F_BFIND][TY_S32] = bfind_s32;
	t->fn[F_BFIND][TY_U64] = bfind_u64;
	t->fn[F_BFIND][TY_S64] = bfind_s64;
	t->fn[F_BFE][TY_U32] = bfe_u32;
	t->fn[F_BFE][TY_S32] = bfe_s32;
	t->fn[F_BFE][TY_U64] = bfe_u64;
	t->fn[F_BFE][TY_S64] = bfe_s64;
	t->fn[F_BFI][TY_B32] = bfi_32;
	t->fn[F_BFI][TY_B64] = bfi_64;
	t->fn[F_BMSK][TY_B32] = bmsk;
	t->fn[F_SZEXT][TY_U32] = szext_u32;
	t->fn[F_SZEXT][TY_S32] = szext_s32;
	t->fn[F_FNS][TY_B32] = fns;
	t->fn[F_DP4A][TY_B32] = dp4a;
	t->fn[F_DP2A][TY_B32] = dp2a;
}

void TS_PTX_FILL(int)(struct ts_ptx_optable *t)
{
	fill_arithmetic(t);
	fill_bits(t);
}
