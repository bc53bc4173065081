// SPDX-License-Identifier: Apache-2.0
/*
 * Comparison and selection: setp with all comparisons, set, selp, slct, and logic of predicates.
 * The interpreter's loop calls these functions through the optable.
 */
#include "replay/vgpu/ptx/lanes/half.h"
#include "replay/vgpu/ptx/lanes/lanes.h"

static inline uint32_t combine(uint32_t r, uint32_t c, uint32_t boolop)
{
	switch (boolop) {
	case BOOL_AND:
		return r & c;
	case BOOL_OR:
		return r | c;
	case BOOL_XOR:
		return r ^ c;
	default:
		return r;
	}
}

/*
 * Writes the results. `target` is the slot of the second result, which gets the opposite of the
 * comparison.
 */
static inline int finish(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m,
			 uint32_t r, uint32_t opposite)
{
	uint32_t *p = ts_ptx_result(w, in);
	uint32_t boolop = in->aux & 15, c = 0;

	if (boolop)
		c = *ts_ptx_pred(w, in->c) ^ (in->aux >> 4 ? UINT32_MAX : 0);
	if (in->target != TS_PTX_NONE) {
		uint32_t *q = ts_ptx_pred(w, in->target);

		*q = (*q & ~m) | (combine(opposite, c, boolop) & m);
	}
	*p = (*p & ~m) | (combine(r, c, boolop) & m);
	return 0;
}

#define CMP(name, S, T, expr)                                                            \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m) \
	{                                                                                \
		uint32_t lanes[TS_PTX_LANES] __attribute__((aligned(64)));               \
		const S *a_ = ts_ptx_lanes(ts_ptx_slot(w, in->a), sizeof(*a_)),          \
			*b_ = ts_ptx_lanes(ts_ptx_slot(w, in->b), sizeof(*b_));          \
		uint32_t r;                                                              \
                                                                                         \
		TS_PTX_FOR_LANES                                                         \
		{                                                                        \
			T a = (T)a_[i], b = (T)b_[i];                                    \
			lanes[i] = (expr) ? UINT32_MAX : 0;                              \
		}                                                                        \
		r = ts_ptx_pack(lanes);                                                  \
		return finish(w, in, m, r, ~r);                                          \
	}

#define CMP_INT(t, S, T)          \
	CMP(eq_##t, S, T, a == b) \
	CMP(ne_##t, S, T, a != b) \
	CMP(lt_##t, S, T, a < b)  \
	CMP(le_##t, S, T, a <= b) \
	CMP(gt_##t, S, T, a > b)  \
	CMP(ge_##t, S, T, a >= b)

#define CMP_FLOAT(t, S, T)                       \
	CMP_INT_BUT_NE(t, S, T)                  \
	CMP(ne_##t, S, T, (a < b) | (a > b))     \
	CMP(equ_##t, S, T, !((a < b) | (a > b))) \
	CMP(neu_##t, S, T, a != b)               \
	CMP(ltu_##t, S, T, !(a >= b))            \
	CMP(leu_##t, S, T, !(a > b))             \
	CMP(gtu_##t, S, T, !(a <= b))            \
	CMP(geu_##t, S, T, !(a < b))             \
	CMP(num_##t, S, T, (a == a) & (b == b))  \
	CMP(nan_##t, S, T, (a != a) | (b != b))

#define CMP_INT_BUT_NE(t, S, T)   \
	CMP(eq_##t, S, T, a == b) \
	CMP(lt_##t, S, T, a < b)  \
	CMP(le_##t, S, T, a <= b) \
	CMP(gt_##t, S, T, a > b)  \
	CMP(ge_##t, S, T, a >= b)

CMP_INT(u16, uint32_t, uint16_t)
CMP_INT(s16, uint32_t, int16_t)
CMP_INT(u32, uint32_t, uint32_t)
CMP_INT(s32, uint32_t, int32_t)
CMP_INT(u64, uint64_t, uint64_t)
CMP_INT(s64, uint64_t, int64_t)
CMP_FLOAT(f32, float, float)
CMP_FLOAT(f64, double, double)

/*
 * Halves compare as floats. Pairs compare both parts: the first result is for the low part, the
 * second for the high part.
 */
static inline bool holds(enum ts_ptx_cmp cmp, float a, float b)
{
	switch (cmp) {
	case CMP_EQ:
		return a == b;
	case CMP_NE:
		return (a < b) | (a > b);
	case CMP_LT:
		return a < b;
	case CMP_LE:
		return a <= b;
	case CMP_GT:
		return a > b;
	case CMP_GE:
		return a >= b;
	case CMP_EQU:
		return !((a < b) | (a > b));
	case CMP_NEU:
		return a != b;
	case CMP_LTU:
		return !(a >= b);
	case CMP_LEU:
		return !(a > b);
	case CMP_GTU:
		return !(a <= b);
	case CMP_GEU:
		return !(a < b);
	case CMP_NUM:
		return (a == a) & (b == b);
	default:
		return (a != a) | (b != b);
	}
}

#define CMP_HALF(t, convert)                                                               \
	static inline int compare_##t(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, \
				      uint32_t m, enum ts_ptx_cmp cmp, bool pair)          \
	{                                                                                  \
		const uint32_t *a = ts_ptx_lanes(ts_ptx_slot(w, in->a), sizeof(*a)),       \
			       *b = ts_ptx_lanes(ts_ptx_slot(w, in->b), sizeof(*b));       \
		uint32_t lo = 0, hi = 0;                                                   \
                                                                                           \
		for (int i = 0; i < TS_PTX_LANES; i++) {                                   \
			lo |= (uint32_t)holds(cmp, convert((uint16_t)a[i]),                \
					      convert((uint16_t)b[i]))                     \
			      << i;                                                        \
			hi |= (uint32_t)holds(cmp, convert((uint16_t)(a[i] >> 16)),        \
					      convert((uint16_t)(b[i] >> 16)))             \
			      << i;                                                        \
		}                                                                          \
		return finish(w, in, m, lo, pair ? hi : ~lo);                              \
	}
CMP_HALF(f16, ts_ptx_from_f16)
CMP_HALF(bf16, ts_ptx_from_bf16)

#define HALVES(op, cmp)                                                                         \
	static int op##_f16(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)    \
	{                                                                                       \
		return compare_f16(w, in, m, cmp, false);                                       \
	}                                                                                       \
	static int op##_f16x2(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)  \
	{                                                                                       \
		return compare_f16(w, in, m, cmp, true);                                        \
	}                                                                                       \
	static int op##_bf16(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)   \
	{                                                                                       \
		return compare_bf16(w, in, m, cmp, false);                                      \
	}                                                                                       \
	static int op##_bf16x2(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m) \
	{                                                                                       \
		return compare_bf16(w, in, m, cmp, true);                                       \
	}

HALVES(eq, CMP_EQ)
HALVES(ne, CMP_NE)
HALVES(lt, CMP_LT)
HALVES(le, CMP_LE)
HALVES(gt, CMP_GT)
HALVES(ge, CMP_GE)
HALVES(equ, CMP_EQU)
HALVES(neu, CMP_NEU)
HALVES(ltu, CMP_LTU)
HALVES(leu, CMP_LEU)
HALVES(gtu, CMP_GTU)
HALVES(geu, CMP_GEU)
HALVES(num, CMP_NUM)
HALVES(nan, CMP_NAN)

/* Selection by a predicate operand. */
#define SELECT(name, S)                                                                  \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m) \
	{                                                                                \
		S *d_ = ts_ptx_lanes(ts_ptx_result(w, in), sizeof(*d_));                 \
		const S *a_ = ts_ptx_lanes(ts_ptx_slot(w, in->a), sizeof(*a_)),          \
			*b_ = ts_ptx_lanes(ts_ptx_slot(w, in->b), sizeof(*b_));          \
		uint32_t p = *ts_ptx_pred(w, in->c) ^ in->aux;                           \
                                                                                         \
		TS_PTX_LOOP(m, S, S, , TS_PTX_HAS(p, i, sizeof(S)) ? a_[i] : b_[i])      \
		return 0;                                                                \
	}
SELECT(selp_32, uint32_t)
SELECT(selp_64, uint64_t)

TS_PTX_OP3(slct_32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, int32_t,
	   c >= 0 ? a : b)
TS_PTX_OP3(slct_64, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint32_t, int32_t,
	   c >= 0 ? a : b)
TS_PTX_OP3(slct_f32_32, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t, float, float,
	   c >= 0 ? a : b)
TS_PTX_OP3(slct_f32_64, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, float, float,
	   c >= 0 ? a : b)

/* Runs set: writes `aux` for true, else 0. */
static int set_value(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t *d_ = ts_ptx_lanes(ts_ptx_result(w, in), sizeof(*d_));
	uint32_t p = *ts_ptx_pred(w, in->a);

	TS_PTX_LOOP(m, uint32_t, uint32_t, , TS_PTX_HAS(p, i, 4) ? in->aux : 0)
	return 0;
}

/* Runs set on pairs: d's low part comes from a, its high part from b. */
static int set_pair(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t *d_ = ts_ptx_lanes(ts_ptx_result(w, in), sizeof(*d_));
	uint32_t p = *ts_ptx_pred(w, in->a), q = *ts_ptx_pred(w, in->b);

	TS_PTX_LOOP(m, uint32_t, uint32_t, ,
		    (TS_PTX_HAS(p, i, 4) ? in->aux & 0xffff : 0) |
			    (TS_PTX_HAS(q, i, 4) ? in->aux & 0xffff0000 : 0))
	return 0;
}

/* aux: bit 0 negates a, bit 1 negates b. */
#define PREDICATE(name, expr)                                                            \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m) \
	{                                                                                \
		uint32_t *d = ts_ptx_result(w, in);                                      \
		uint32_t a = *ts_ptx_pred(w, in->a) ^ (in->aux & 1 ? UINT32_MAX : 0);    \
		uint32_t b = *ts_ptx_pred(w, in->b) ^ (in->aux & 2 ? UINT32_MAX : 0);    \
                                                                                         \
		(void)b;                                                                 \
		*d = (*d & ~m) | ((expr)&m);                                             \
		return 0;                                                                \
	}
PREDICATE(mov_pred, a)
PREDICATE(not_pred, ~a)
PREDICATE(and_pred, a &b)
PREDICATE(or_pred, a | b)
PREDICATE(xor_pred, a ^ b)

static void fill_compare(struct ts_ptx_optable *t)
{
#define INTS(cmp, op)                             \
	t->fn[F_SETP + (cmp)][TY_U16] = op##_u16; \
	t->fn[F_SETP + (cmp)][TY_S16] = op##_s16; \
	t->fn[F_SETP + (cmp)][TY_U32] = op##_u32; \
	t->fn[F_SETP + (cmp)][TY_S32] = op##_s32; \
	t->fn[F_SETP + (cmp)][TY_U64] = op##_u64; \
	t->fn[F_SETP + (cmp)][TY_S64] = op##_s64
#define FLOATS(cmp, op)                               \
	t->fn[F_SETP + (cmp)][TY_F32] = op##_f32;     \
	t->fn[F_SETP + (cmp)][TY_F64] = op##_f64;     \
	t->fn[F_SETP + (cmp)][TY_F16] = op##_f16;     \
	t->fn[F_SETP + (cmp)][TY_F16X2] = op##_f16x2; \
	t->fn[F_SETP + (cmp)][TY_BF16] = op##_bf16;   \
	t->fn[F_SETP + (cmp)][TY_BF16X2] = op##_bf16x2
	INTS(CMP_EQ, eq);
	INTS(CMP_NE, ne);
	INTS(CMP_LT, lt);
	INTS(CMP_LE, le);
	INTS(CMP_GT, gt);
	INTS(CMP_GE, ge);
	FLOATS(CMP_EQ, eq);
	FLOATS(CMP_NE, ne);
	FLOATS(CMP_LT, lt);
	FLOATS(CMP_LE, le);
	FLOATS(CMP_GT, gt);
	FLOATS(CMP_GE, ge);
	FLOATS(CMP_EQU, equ);
	FLOATS(CMP_NEU, neu);
	FLOATS(CMP_LTU, ltu);
	FLOATS(CMP_LEU, leu);
	FLOATS(CMP_GTU, gtu);
	FLOATS(CMP_GEU, geu);
	FLOATS(CMP_NUM, num);
	FLOATS(CMP_NAN, nan);
	for (int cmp = CMP_EQ; cmp <= CMP_NE; cmp++) {
		t->fn[F_SETP + cmp][TY_B16] = t->fn[F_SETP + cmp][TY_U16];
		t->fn[F_SETP + cmp][TY_B32] = t->fn[F_SETP + cmp][TY_U32];
		t->fn[F_SETP + cmp][TY_B64] = t->fn[F_SETP + cmp][TY_U64];
	}
}

void TS_PTX_FILL(set)(struct ts_ptx_optable *t)
{
	fill_compare(t);
	TS_PTX_SET16(t, F_SELP, selp_32);
	TS_PTX_SET32(t, F_SELP, selp_32);
	TS_PTX_SET64(t, F_SELP, selp_64);
	TS_PTX_SET16(t, F_SLCT, slct_32);
	TS_PTX_SET32(t, F_SLCT, slct_32);
	TS_PTX_SET64(t, F_SLCT, slct_64);
	TS_PTX_SET16(t, F_SLCT_F32, slct_f32_32);
	TS_PTX_SET32(t, F_SLCT_F32, slct_f32_32);
	TS_PTX_SET64(t, F_SLCT_F32, slct_f32_64);
	t->fn[F_SET][TY_B32] = set_value;
	t->fn[F_SET][TY_F16X2] = set_pair;
	t->fn[F_MOV][TY_PRED] = mov_pred;
	t->fn[F_NOT][TY_PRED] = not_pred;
	t->fn[F_AND][TY_PRED] = and_pred;
	t->fn[F_OR][TY_PRED] = or_pred;
	t->fn[F_XOR][TY_PRED] = xor_pred;
}
