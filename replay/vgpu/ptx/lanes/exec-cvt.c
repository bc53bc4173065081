// SPDX-License-Identifier: Apache-2.0
/*
 * cvt, and mov between words and their parts. Frequent conversions are lane loops here and round to
 * nearest as the host does. All other conversions call convert.c for each value. The interpreter's
 * loop calls them through the optable.
 */
#include "replay/vgpu/ptx/lanes/convert.h"
#include "replay/vgpu/ptx/lanes/half.h"
#include "replay/vgpu/ptx/lanes/lanes.h"

TS_PTX_OP1(f32_s32, float, float, uint32_t, int32_t, a)
TS_PTX_OP1(f32_u32, float, float, uint32_t, uint32_t, a)
TS_PTX_OP1(f64_f32, double, double, float, float, a)
/* A NaN keeps the upper bits of its payload. */
TS_PTX_OP1(f32_f64, float, float, double, double, (float)a)
TS_PTX_OP1(f64_s32, double, double, uint32_t, int32_t, a)
TS_PTX_OP1(s64_s32, uint64_t, int64_t, uint32_t, int32_t, a)
TS_PTX_OP1(u64_u32, uint64_t, uint64_t, uint32_t, uint32_t, a)
TS_PTX_OP1(u32_u64, uint32_t, uint32_t, uint64_t, uint64_t, a)
TS_PTX_OP1(f32_f16, uint32_t, uint32_t, uint32_t, uint16_t,
	   ts_ptx_bits(ts_ptx_canonical(ts_ptx_from_f16(a))))
TS_PTX_OP1(f16_f32, uint32_t, uint32_t, float, float, ts_ptx_to_f16(a))
/* All bits are kept, also of a NaN. */
TS_PTX_OP1(f32_bf16, uint32_t, uint32_t, uint32_t, uint16_t, (uint32_t)a << 16)
TS_PTX_OP1(bf16_f32, uint32_t, uint32_t, float, float, ts_ptx_to_bf16(a))

static inline int32_t truncate_s32(float a)
{
	float clamped = a >= -0x1p31f ? (a < 0x1p31f ? a : 0) : 0;
	int32_t r = (int32_t)clamped;

	r = a < -0x1p31f ? INT32_MIN : r;
	return a >= 0x1p31f ? INT32_MAX : r;
}

TS_PTX_OP1(s32_f32, uint32_t, int32_t, float, float, truncate_s32(a))

/*
 * Converts a rounded float to an integer type, within its limits. A NaN is 0, or the top bit for
 * sources of 64 bits and results of 64 bits.
 */
#define TO_INTEGER(name, T, F, least, beyond, t_min, t_max, t_nan) \
	static inline T name(F x)                                  \
	{                                                          \
		F inside = x >= (least) && x < (beyond) ? x : 0;   \
		T r = (T)inside;                                   \
                                                                   \
		r = x < (least) ? (t_min) : r;                     \
		r = x >= (beyond) ? (t_max) : r;                   \
		return x != x ? (t_nan) : r;                       \
	}
TO_INTEGER(s32_of_f32, int32_t, float, -0x1p31f, 0x1p31f, INT32_MIN, INT32_MAX, 0)
TO_INTEGER(u32_of_f32, uint32_t, float, 0, 0x1p32f, 0, UINT32_MAX, 0)
TO_INTEGER(s64_of_f32, int64_t, float, -0x1p63f, 0x1p63f, INT64_MIN, INT64_MAX, INT64_MIN)
TO_INTEGER(u64_of_f32, uint64_t, float, 0, 0x1p64f, 0, UINT64_MAX, UINT64_C(1) << 63)
TO_INTEGER(s32_of_f64, int32_t, double, -0x1p31, 0x1p31, INT32_MIN, INT32_MAX, INT32_MIN)
TO_INTEGER(u32_of_f64, uint32_t, double, 0, 0x1p32, 0, UINT32_MAX, UINT32_C(1) << 31)
TO_INTEGER(s64_of_f64, int64_t, double, -0x1p63, 0x1p63, INT64_MIN, INT64_MAX, INT64_MIN)
TO_INTEGER(u64_of_f64, uint64_t, double, 0, 0x1p64, 0, UINT64_MAX, UINT64_C(1) << 63)

/* Defines a conversion of a float, rounded to an integer in the direction of the instruction. */
#define ROUNDED(name, SD, TD, F, suffix, convert)                                             \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)      \
	{                                                                                     \
		SD *d_ = ts_ptx_result(w, in);                                                \
		const F *a_ = ts_ptx_slot(w, in->a);                                          \
                                                                                              \
		switch (TS_PTX_CVT_ROUND(in->aux)) {                                          \
		case ROUND_RM:                                                                \
			TS_PTX_LOOP(m, SD, TD, , convert(__builtin_floor##suffix(a_[i])))     \
			break;                                                                \
		case ROUND_RP:                                                                \
			TS_PTX_LOOP(m, SD, TD, , convert(__builtin_ceil##suffix(a_[i])))      \
			break;                                                                \
		case ROUND_RZ:                                                                \
			TS_PTX_LOOP(m, SD, TD, , convert(__builtin_trunc##suffix(a_[i])))     \
			break;                                                                \
		default:                                                                      \
			TS_PTX_LOOP(m, SD, TD, , convert(__builtin_nearbyint##suffix(a_[i]))) \
		}                                                                             \
		return 0;                                                                     \
	}
ROUNDED(round_s32_f32, uint32_t, int32_t, float, f, s32_of_f32)
ROUNDED(round_u32_f32, uint32_t, uint32_t, float, f, u32_of_f32)
ROUNDED(round_s64_f32, uint64_t, int64_t, float, f, s64_of_f32)
ROUNDED(round_u64_f32, uint64_t, uint64_t, float, f, u64_of_f32)
ROUNDED(round_s32_f64, uint32_t, int32_t, double, , s32_of_f64)
ROUNDED(round_u32_f64, uint32_t, uint32_t, double, , u32_of_f64)
ROUNDED(round_s64_f64, uint64_t, int64_t, double, , s64_of_f64)
ROUNDED(round_u64_f64, uint64_t, uint64_t, double, , u64_of_f64)
ROUNDED(round_f32, float, float, float, f, ts_ptx_canonical)

TS_PTX_OP1(f32_s64, float, float, uint64_t, int64_t, a)
TS_PTX_OP1(f32_u64, float, float, uint64_t, uint64_t, a)
TS_PTX_OP1(f64_u32, double, double, uint32_t, uint32_t, a)
TS_PTX_OP1(f64_s64, double, double, uint64_t, int64_t, a)
TS_PTX_OP1(f64_u64, double, double, uint64_t, uint64_t, a)
TS_PTX_OP1(f32_sat, float, float, float, float, (a > 0 ? (a < 1 ? a : 1.0f) : 0.0f))

/*
 * Converts integers of any width: cuts the value to the source's width, then to the target's, with
 * zero or sign extension.
 */
static inline uint32_t cut32(uint32_t v, uint32_t mode)
{
	uint32_t shift = mode & 127, up = v << (shift & 31);

	return mode & 128 ? (uint32_t)((int32_t)up >> (shift & 31)) : up >> (shift & 31);
}

static inline uint64_t cut64(uint64_t v, uint32_t mode)
{
	uint32_t shift = mode & 127;
	uint64_t up = v << (shift & 63);

	return mode & 128 ? (uint64_t)((int64_t)up >> (shift & 63)) : up >> (shift & 63);
}

TS_PTX_OP1(int_32_32, uint32_t, uint32_t, uint32_t, uint32_t,
	   cut32(cut32(a, in->aux), in->aux >> 8))
TS_PTX_OP1(int_64_32, uint64_t, uint64_t, uint32_t, uint32_t,
	   cut64(cut64(a, in->aux), in->aux >> 8))
TS_PTX_OP1(int_32_64, uint32_t, uint32_t, uint64_t, uint64_t,
	   cut64(cut64(a, in->aux), in->aux >> 8))
TS_PTX_OP1(int_64_64, uint64_t, uint64_t, uint64_t, uint64_t,
	   cut64(cut64(a, in->aux), in->aux >> 8))

static inline uint64_t load(const struct ts_ptx_warp *w, uint32_t ref, bool is_64, int lane)
{
	return is_64 ? ((const uint64_t *)ts_ptx_slot(w, ref))[lane]
		     : ((const uint32_t *)ts_ptx_slot(w, ref))[lane];
}

static inline void store(const struct ts_ptx_warp *w, uint32_t ref, bool is_64, int lane,
			 uint64_t v)
{
	if (is_64)
		((uint64_t *)ts_ptx_slot(w, ref))[lane] = v;
	else
		((uint32_t *)ts_ptx_slot(w, ref))[lane] = (uint32_t)v;
}

static int cvt(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	for (uint32_t left = m; left; left &= left - 1) {
		int i = __builtin_ctz(left);
		uint64_t v = load(w, in->a, in->flags & INSN_SRC64, i);

		store(w, in->dst, in->flags & INSN_DST64, i, ts_ptx_convert(v, in->aux));
	}
	return 0;
}

TS_PTX_OP2(nearest_f16x2, uint32_t, uint32_t, float, float, float, float,
	   (uint32_t)ts_ptx_to_f16(a) << 16 | ts_ptx_to_f16(b))
TS_PTX_OP2(nearest_bf16x2, uint32_t, uint32_t, float, float, float, float,
	   (uint32_t)ts_ptx_to_bf16(a) << 16 | ts_ptx_to_bf16(b))

/* Runs cvt to f16x2, bf16x2 and the 8-bit pairs: d = {a in the upper half, b in the lower half}. */
static int cvt_pair(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	enum ts_ptx_type to = TS_PTX_CVT_TO(in->aux);
	const uint32_t *a = ts_ptx_slot(w, in->a), *b = ts_ptx_slot(w, in->b);
	uint32_t *d = ts_ptx_result(w, in);
	uint32_t aux = (in->aux & ~31u) | (uint32_t)(to == TY_F16X2 ? TY_F16 : TY_BF16);

	if (TS_PTX_CVT_ROUND(aux) == ROUND_RN && !(aux & TS_PTX_CVT_RELU) &&
	    (to == TY_F16X2 || to == TY_BF16X2))
		return to == TY_F16X2 ? nearest_f16x2(w, in, m) : nearest_bf16x2(w, in, m);
	for (uint32_t left = m; left; left &= left - 1) {
		int i = __builtin_ctz(left);

		if (to == TY_F16X2 || to == TY_BF16X2) {
			d[i] = (uint32_t)ts_ptx_convert(a[i], aux) << 16 |
			       (uint32_t)ts_ptx_convert(b[i], aux);
		} else {
			bool e5m2 = to == TY_E5M2X2, half = TS_PTX_CVT_FROM(in->aux) == TY_F16X2;
			float hi =
				half ? ts_ptx_from_f16((uint16_t)(a[i] >> 16)) : ts_ptx_float(a[i]);
			float lo = half ? ts_ptx_from_f16((uint16_t)a[i]) : ts_ptx_float(b[i]);

			if (in->aux & TS_PTX_CVT_RELU) {
				hi = hi < 0 ? 0 : hi;
				lo = lo < 0 ? 0 : lo;
			}
			d[i] = (uint32_t)ts_ptx_to_fp8(hi, e5m2, true) << 8 |
			       ts_ptx_to_fp8(lo, e5m2, true);
		}
	}
	return 0;
}

/* Converts a pair of 8-bit floats to f16x2. */
static int cvt_unpack(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	bool e5m2 = TS_PTX_CVT_FROM(in->aux) == TY_E5M2X2;
	const uint32_t *a = ts_ptx_slot(w, in->a);
	uint32_t *d = ts_ptx_result(w, in);

	for (uint32_t left = m; left; left &= left - 1) {
		int i = __builtin_ctz(left);
		float lo = ts_ptx_from_fp8((uint8_t)a[i], e5m2);
		float hi = ts_ptx_from_fp8((uint8_t)(a[i] >> 8), e5m2);

		if (in->aux & TS_PTX_CVT_RELU) {
			lo = lo < 0 ? 0 : lo;
			hi = hi < 0 ? 0 : hi;
		}
		d[i] = ts_ptx_to_f16(lo) | (uint32_t)ts_ptx_to_f16(hi) << 16;
	}
	return 0;
}

/*
 * Runs cvt.pack: d is c's low bits, then a and b, saturated, below them. aux: the target is signed.
 * imm: bits of the target type.
 */
static int cvt_pack_int(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t *a = ts_ptx_slot(w, in->a), *b = ts_ptx_slot(w, in->b);
	const uint32_t *c = in->c == TS_PTX_NONE ? NULL : ts_ptx_slot(w, in->c);
	uint32_t *d = ts_ptx_result(w, in);
	unsigned bits = (unsigned)in->imm;
	int64_t low = in->aux ? -((int64_t)1 << (bits - 1)) : 0;
	int64_t high = in->aux ? ((int64_t)1 << (bits - 1)) - 1 : ((int64_t)1 << bits) - 1;

	for (uint32_t left = m; left; left &= left - 1) {
		int i = __builtin_ctz(left);
		int64_t x = (int32_t)a[i], y = (int32_t)b[i];
		uint64_t field = (UINT64_C(1) << bits) - 1, r = c ? (uint64_t)c[i] << 2 * bits : 0;

		x = x < low ? low : x > high ? high : x;
		y = y < low ? low : y > high ? high : y;
		d[i] = (uint32_t)(r | ((uint64_t)x & field) << bits | ((uint64_t)y & field));
	}
	return 0;
}

/* Runs mov.bN d, {parts}. The operand list has n parts of imm bits. */
static int pack(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	unsigned bits = (unsigned)in->imm;

	for (uint32_t left = m; left; left &= left - 1) {
		int i = __builtin_ctz(left);
		uint64_t v = 0;

		for (uint32_t k = 0; k < in->n; k++) {
			uint64_t part = load(w, list[k], bits == 64, i);

			v |= (bits == 64 ? part : part & ((UINT64_C(1) << bits) - 1)) << bits * k;
		}
		store(w, in->dst, in->flags & INSN_DST64, i, v);
	}
	return 0;
}

/*
 * Runs mov.bN {parts}, a. An unused part has no slot. a is read completely before a part is
 * written.
 */
static int unpack(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	unsigned bits = (unsigned)in->imm;

	for (uint32_t left = m; left; left &= left - 1) {
		int i = __builtin_ctz(left);
		uint64_t v = load(w, in->a, in->flags & INSN_SRC64, i);

		for (uint32_t k = 0; k < in->n; k++)
			if (list[k] != TS_PTX_NONE)
				store(w, list[k], false, i,
				      v >> bits * k & ((UINT64_C(1) << bits) - 1));
	}
	return 0;
}

/* Run the common cases of pack() and unpack(): 64 bits and their halves. */
static int pack_2x32(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	const uint32_t *lo = ts_ptx_slot(w, list[0]), *hi = ts_ptx_slot(w, list[1]);
	uint64_t *d_ = ts_ptx_result(w, in);

	TS_PTX_LOOP(m, uint64_t, uint64_t, , (uint64_t)hi[i] << 32 | lo[i])
	return 0;
}

static int unpack_2x32(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	const uint64_t *a = ts_ptx_slot(w, in->a);

	for (uint32_t k = 0; k < 2; k++) {
		uint32_t *d_;

		if (list[k] == TS_PTX_NONE)
			continue;
		d_ = ts_ptx_slot(w, list[k]);
		TS_PTX_LOOP(m, uint32_t, uint32_t, , a[i] >> 32 * k)
	}
	return 0;
}

void TS_PTX_FILL(cvt)(struct ts_ptx_optable *t)
{
	t->fn[F_CVT][TY_NONE] = cvt;
	t->fn[F_CVT_FAST_F32_S32][TY_NONE] = f32_s32;
	t->fn[F_CVT_FAST_F32_U32][TY_NONE] = f32_u32;
	t->fn[F_CVT_FAST_S32_F32][TY_NONE] = s32_f32;
	t->fn[F_CVT_FAST_F64_F32][TY_NONE] = f64_f32;
	t->fn[F_CVT_FAST_F32_F64][TY_NONE] = f32_f64;
	t->fn[F_CVT_FAST_F64_S32][TY_NONE] = f64_s32;
	t->fn[F_CVT_FAST_S64_S32][TY_NONE] = s64_s32;
	t->fn[F_CVT_FAST_U64_U32][TY_NONE] = u64_u32;
	t->fn[F_CVT_FAST_U32_U64][TY_NONE] = u32_u64;
	t->fn[F_CVT_FAST_F32_F16][TY_NONE] = f32_f16;
	t->fn[F_CVT_FAST_F16_F32][TY_NONE] = f16_f32;
	t->fn[F_CVT_FAST_F32_BF16][TY_NONE] = f32_bf16;
	t->fn[F_CVT_FAST_BF16_F32][TY_NONE] = bf16_f32;
	t->fn[F_CVT_ROUND_F32][TY_S32] = round_s32_f32;
	t->fn[F_CVT_ROUND_F32][TY_U32] = round_u32_f32;
	t->fn[F_CVT_ROUND_F32][TY_S64] = round_s64_f32;
	t->fn[F_CVT_ROUND_F32][TY_U64] = round_u64_f32;
	t->fn[F_CVT_ROUND_F32][TY_F32] = round_f32;
	t->fn[F_CVT_ROUND_F64][TY_S32] = round_s32_f64;
	t->fn[F_CVT_ROUND_F64][TY_U32] = round_u32_f64;
	t->fn[F_CVT_ROUND_F64][TY_S64] = round_s64_f64;
	t->fn[F_CVT_ROUND_F64][TY_U64] = round_u64_f64;
	t->fn[F_CVT_TO_F32][TY_S64] = f32_s64;
	t->fn[F_CVT_TO_F32][TY_U64] = f32_u64;
	t->fn[F_CVT_TO_F64][TY_U32] = f64_u32;
	t->fn[F_CVT_TO_F64][TY_S64] = f64_s64;
	t->fn[F_CVT_TO_F64][TY_U64] = f64_u64;
	t->fn[F_CVT_SAT][TY_F32] = f32_sat;
	/* Index: width of the target's slot, then of the source's. */
	t->fn[F_CVT_INT][TY_B32] = int_32_32;
	t->fn[F_CVT_INT][TY_B64] = int_64_32;
	t->fn[F_CVT_INT][TY_U32] = int_32_64;
	t->fn[F_CVT_INT][TY_U64] = int_64_64;
	t->fn[F_CVT_PACK][TY_NONE] = cvt_pair;
	t->fn[F_CVT_UNPACK][TY_NONE] = cvt_unpack;
	t->fn[F_CVT_PACK_INT][TY_NONE] = cvt_pack_int;
	t->fn[F_PACK][TY_NONE] = pack;
	t->fn[F_UNPACK][TY_NONE] = unpack;
	t->fn[F_PACK][TY_B64] = pack_2x32;
	t->fn[F_UNPACK][TY_B64] = unpack_2x32;
}
