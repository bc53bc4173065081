// SPDX-License-Identifier: Apache-2.0
/*
 * Tests each instruction for all of its types: comparisons, minima, carries, halves and pairs of
 * halves, f64, widths of loads and stores. Errors are most likely where types differ. Built with
 * -frounding-math.
 */
#include "test/unit/ptx/small-floats.h"

typedef unsigned __int128 u128;
typedef __int128 s128;
typedef uint16_t u16;
typedef uint8_t u8;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef u16 b16;
typedef u32 b32;
typedef u64 b64;

/* Integers: T reads the operands as values of the type. */
#define COMPARE_INT(X, T, sizes)                   \
	X(lt_##T, "setp.lt." #T, sizes, T, a < b)  \
	X(le_##T, "setp.le." #T, sizes, T, a <= b) \
	X(gt_##T, "setp.gt." #T, sizes, T, a > b)  \
	X(ge_##T, "setp.ge." #T, sizes, T, a >= b) \
	X(eq_##T, "setp.eq." #T, sizes, T, a == b) \
	X(ne_##T, "setp.ne." #T, sizes, T, a != b)
#define MINMAX_INT(X, T, sizes)                        \
	X(min_##T, "min." #T, sizes, T, a < b ? a : b) \
	X(max_##T, "max." #T, sizes, T, a > b ? a : b)
#define BITS(X, T, sizes, two)                 \
	X(and_##T, "and." #T, sizes, T, a &b)  \
	X(or_##T, "or." #T, sizes, T, a | b)   \
	X(xor_##T, "xor." #T, sizes, T, a ^ b) \
	X(cnot_##T, "cnot." #T, two, T, !a)    \
	X(seteq_##T, "setp.eq." #T,            \
	  sizes[0] == 'h'   ? "phh"            \
	  : sizes[0] == 'r' ? "prr"            \
			    : "pdd",           \
	  T, a == b)                           \
	X(setne_##T, "setp.ne." #T,            \
	  sizes[0] == 'h'   ? "phh"            \
	  : sizes[0] == 'r' ? "prr"            \
			    : "pdd",           \
	  T, a != b)
#define SAD(x, y, z) ((x) < (y) ? (u64)(y) - (u64)(x) + (u64)(z) : (u64)(x) - (u64)(y) + (u64)(z))

#define INTEGERS(X)                                                                         \
	COMPARE_INT(X, u16, "phh")                                                          \
	COMPARE_INT(X, s16, "phh")                                                          \
	COMPARE_INT(X, u32, "prr")                                                          \
	COMPARE_INT(X, s32, "prr")                                                          \
	COMPARE_INT(X, u64, "pdd")                                                          \
	COMPARE_INT(X, s64, "pdd")                                                          \
	MINMAX_INT(X, u16, "hhh")                                                           \
	MINMAX_INT(X, s16, "hhh")                                                           \
	MINMAX_INT(X, u32, "rrr")                                                           \
	MINMAX_INT(X, s32, "rrr")                                                           \
	MINMAX_INT(X, u64, "ddd")                                                           \
	MINMAX_INT(X, s64, "ddd")                                                           \
	BITS(X, b16, "hhh", "hh")                                                           \
	BITS(X, b32, "rrr", "rr")                                                           \
	BITS(X, b64, "ddd", "dd")                                                           \
	X(min_relu, "min.relu.s32", "rrr", s32, (a < b ? a : b) > 0 ? (a < b ? a : b) : 0)  \
	X(max_relu, "max.s16x2.relu", "rrr", u64,                                           \
	  pair(relu16(max16(a, b)), relu16(max16(a >> 16, b >> 16))))                       \
	X(min_s16x2, "min.s16x2", "rrr", u64, pair(min16(a, b), min16(a >> 16, b >> 16)))   \
	X(max_s16x2, "max.s16x2", "rrr", u64, pair(max16(a, b), max16(a >> 16, b >> 16)))   \
	X(min_u16x2, "min.u16x2", "rrr", u64, pair(minu16(a, b), minu16(a >> 16, b >> 16))) \
	X(max_u16x2, "max.u16x2", "rrr", u64, pair(maxu16(a, b), maxu16(a >> 16, b >> 16))) \
	X(add_u16x2, "add.u16x2", "rrr", u64, pair(a + b, (a >> 16) + (b >> 16)))           \
	X(add_s16x2, "add.s16x2", "rrr", u64, pair(a + b, (a >> 16) + (b >> 16)))           \
	X(mad_hi_u16, "mad.hi.u16", "hhhh", u32, ((a * b) >> 16) + c)                       \
	X(mad_hi_s16, "mad.hi.s16", "hhhh", s16, (((s32)a * b) >> 16) + c)                  \
	X(mad_hi_s64, "mad.hi.s64", "dddd", s64, (u64)((s128)a * b >> 64) + (u64)c)         \
	X(mad_wide_u16, "mad.wide.u16", "rhhr", u64, a *b + c)                              \
	X(rem_u16, "rem.u16", "hhh", u16, b ? a % b : 0xffff)                               \
	X(rem_u64, "rem.u64", "ddd", u64, b ? a % b : UINT64_MAX)                           \
	X(rem_s16, "rem.s16", "hhh", s16, b ? a % b : -1)                                   \
	X(neg_s16, "neg.s16", "hh", u64, 0 - a)                                             \
	X(sad_u16, "sad.u16", "hhhh", u16, SAD(a, b, c))                                    \
	X(sad_s16, "sad.s16", "hhhh", s16, SAD(a, b, c))                                    \
	X(sad_u64, "sad.u64", "dddd", u64, SAD(a, b, c))                                    \
	X(sad_s64, "sad.s64", "dddd", s64, SAD(a, b, c))                                    \
	X(bfind_u64, "bfind.u64", "rd", u64, a ? 63 - (u64)__builtin_clzll(a) : UINT32_MAX) \
	X(mul24_hi_s32, "mul24.hi.s32", "rrr", u64, (u64)(low24(a) * low24(b) >> 16))       \
	X(slct_f32_64, "slct.b64.f32", "dddr", u64, f32(c) >= 0 ? a : b)                    \
	X(cvt_u32_u64, "cvt.u32.u64", "rd", u64, (u32)a)                                    \
	X(cvt_s16_s64, "cvt.s64.s16", "dh", s16, (s64)a)                                    \
	X(cvt_u64_s8, "cvt.u64.u16", "dh", u64, a)                                          \
	X(cvt_s8_s64, "cvt.s8.s64", "rd", u64, (s32)(s8)a)                                  \
	X(cvt_s16_u64, "cvt.s16.u64", "dd", u64, (s64)(s16)a)

static s64 low24(u64 v)
{
	return (s32)((u32)v << 8) >> 8;
}

static u64 min16(u64 a, u64 b)
{
	return (u16)((s16)a < (s16)b ? a : b);
}

static u64 max16(u64 a, u64 b)
{
	return (u16)((s16)a > (s16)b ? a : b);
}

static u64 minu16(u64 a, u64 b)
{
	return (u16)a < (u16)b ? (u16)a : (u16)b;
}

static u64 maxu16(u64 a, u64 b)
{
	return (u16)a > (u16)b ? (u16)a : (u16)b;
}

static u64 relu16(u64 a)
{
	return (s16)a < 0 ? 0 : (u16)a;
}

INTEGERS(CONFORMANCE_CASE)

TS_TEST(integers)
{
	static const struct conformance cases[] = {INTEGERS(CONFORMANCE_ROW)};

	conformance_all(cases, sizeof(cases) / sizeof(cases[0]));
}

/* Floats: V converts bits to their value. */
#define COMPARE_FLOAT(X, T, sizes, V)                                           \
	X(f_eq_##T, "setp.eq." #T, sizes, u64, V(a) == V(b))                    \
	X(f_ne_##T, "setp.ne." #T, sizes, u64, V(a) < V(b) || V(a) > V(b))      \
	X(f_lt_##T, "setp.lt." #T, sizes, u64, V(a) < V(b))                     \
	X(f_le_##T, "setp.le." #T, sizes, u64, V(a) <= V(b))                    \
	X(f_gt_##T, "setp.gt." #T, sizes, u64, V(a) > V(b))                     \
	X(f_ge_##T, "setp.ge." #T, sizes, u64, V(a) >= V(b))                    \
	X(f_equ_##T, "setp.equ." #T, sizes, u64, !(V(a) < V(b) || V(a) > V(b))) \
	X(f_neu_##T, "setp.neu." #T, sizes, u64, !(V(a) == V(b)))               \
	X(f_ltu_##T, "setp.ltu." #T, sizes, u64, !(V(a) >= V(b)))               \
	X(f_leu_##T, "setp.leu." #T, sizes, u64, !(V(a) > V(b)))                \
	X(f_gtu_##T, "setp.gtu." #T, sizes, u64, !(V(a) <= V(b)))               \
	X(f_geu_##T, "setp.geu." #T, sizes, u64, !(V(a) < V(b)))                \
	X(f_num_##T, "setp.num." #T, sizes, u64, V(a) == V(a) && V(b) == V(b))  \
	X(f_nan_##T, "setp.nan." #T, sizes, u64, V(a) != V(a) || V(b) != V(b))
#define LO(x)	     ((x)&0xffff)
#define HI(x)	     ((x) >> 16)
#define BOTH(f)	     pair(f(LO(a), LO(b)), f(HI(a), HI(b)))
#define TRUTH(V, op) ((V(LO(a)) op V(LO(b)) ? 0xffff : 0) | (V(HI(a)) op V(HI(b)) ? 0xffff0000 : 0))
#define ONES(V, op, one) \
	((V(LO(a)) op V(LO(b)) ? (one) : 0) | (V(HI(a)) op V(HI(b)) ? (u32)(one) << 16 : 0))
#define UNORDERED(V, op, one) \
	((!(V(LO(a)) op V(LO(b))) ? (one) : 0) | (!(V(HI(a)) op V(HI(b))) ? (u32)(one) << 16 : 0))
#define NANS(V, x, y) (V(x) != V(x) || V(y) != V(y))
#define COMPARE_PAIR(X, T, V, one)                                                                \
	X(p_eq_##T, "set.eq." #T "." #T, "rrr", u64, ONES(V, ==, one))                            \
	X(p_ne_##T, "set.ne." #T "." #T, "rrr", u64, ONES(V, <, one) | ONES(V, >, one))           \
	X(p_lt_##T, "set.lt." #T "." #T, "rrr", u64, ONES(V, <, one))                             \
	X(p_le_##T, "set.le." #T "." #T, "rrr", u64, ONES(V, <=, one))                            \
	X(p_gt_##T, "set.gt." #T "." #T, "rrr", u64, ONES(V, >, one))                             \
	X(p_ge_##T, "set.ge." #T "." #T, "rrr", u64, ONES(V, >=, one))                            \
	X(p_equ_##T, "set.equ." #T "." #T, "rrr", u64,                                            \
	  UNORDERED(V, <, one) & UNORDERED(V, >, one))                                            \
	X(p_neu_##T, "set.neu." #T "." #T, "rrr", u64, UNORDERED(V, ==, one))                     \
	X(p_ltu_##T, "set.ltu." #T "." #T, "rrr", u64, UNORDERED(V, >=, one))                     \
	X(p_leu_##T, "set.leu." #T "." #T, "rrr", u64, UNORDERED(V, >, one))                      \
	X(p_gtu_##T, "set.gtu." #T "." #T, "rrr", u64, UNORDERED(V, <=, one))                     \
	X(p_geu_##T, "set.geu." #T "." #T, "rrr", u64, UNORDERED(V, <, one))                      \
	X(p_num_##T, "set.num." #T "." #T, "rrr", u64,                                            \
	  (!NANS(V, LO(a), LO(b)) ? (one) : 0) | (!NANS(V, HI(a), HI(b)) ? (u32)(one) << 16 : 0)) \
	X(p_nan_##T, "set.nan." #T "." #T, "rrr", u64,                                            \
	  (NANS(V, LO(a), LO(b)) ? (one) : 0) | (NANS(V, HI(a), HI(b)) ? (u32)(one) << 16 : 0))

#define COMPARISONS(X)                       \
	COMPARE_FLOAT(X, f16, "phh", half)   \
	COMPARE_FLOAT(X, bf16, "phh", bf)    \
	COMPARE_FLOAT(X, f32, "prr", f32)    \
	COMPARE_FLOAT(X, f64, "pdd", f64)    \
	COMPARE_PAIR(X, f16x2, half, 0x3c00) \
	COMPARE_PAIR(X, bf16x2, bf, 0x3f80)
COMPARISONS(CONFORMANCE_CASE)

TS_TEST(comparisons)
{
	static const struct conformance cases[] = {COMPARISONS(CONFORMANCE_ROW)};

	conformance_all(cases, sizeof(cases) / sizeof(cases[0]));
}

/* Halves. */
static u64 extreme(u64 a, u64 b, double (*value)(u64), bool max)
{
	double x = value(a), y = value(b);

	if (x != x && y != y)
		return 0x7fff;
	if (x != x || y != y)
		return x != x ? b : a;
	if (x == y)
		return max ? a & b : a | b;
	return (x < y) != max ? a : b;
}

static u64 extreme_nan(u64 a, u64 b, double (*value)(u64), bool max)
{
	return value(a) != value(a) || value(b) != value(b) ? 0x7fff : extreme(a, b, value, max);
}

/*
 * Reference of min and max with .xorsign: the sign is the exclusive or of the operands' signs; the
 * other bits are those of the result for the magnitudes.
 */
static u64 extreme_xorsign(u64 a, u64 b, double (*value)(u64), bool max)
{
	u64 r = extreme(a & 0x7fff, b & 0x7fff, value, max);

	return value(r) != value(r) ? 0x7fff : r | ((a ^ b) & 0x8000);
}

static u64 relu(u64 r, double (*value)(u64))
{
	return value(r) != value(r) ? 0x7fff : r & 0x8000 ? 0 : r;
}

#define EXTREMES(X, T, V)                                                                         \
	X(min_##T, "min." #T, "hhh", u64, extreme(a, b, V, false))                                \
	X(max_##T, "max." #T, "hhh", u64, extreme(a, b, V, true))                                 \
	X(minn_##T, "min.NaN." #T, "hhh", u64, extreme_nan(a, b, V, false))                       \
	X(maxn_##T, "max.NaN." #T, "hhh", u64, extreme_nan(a, b, V, true))                        \
	X(minx_##T, "min.xorsign.abs." #T, "hhh", u64, extreme_xorsign(a, b, V, false))           \
	X(maxx_##T, "max.xorsign.abs." #T, "hhh", u64, extreme_xorsign(a, b, V, true))            \
	X(min2_##T, "min." #T "x2", "rrr", u64,                                                   \
	  pair(extreme(LO(a), LO(b), V, false), extreme(HI(a), HI(b), V, false)))                 \
	X(max2_##T, "max." #T "x2", "rrr", u64,                                                   \
	  pair(extreme(LO(a), LO(b), V, true), extreme(HI(a), HI(b), V, true)))                   \
	X(minn2_##T, "min.NaN." #T "x2", "rrr", u64,                                              \
	  pair(extreme_nan(LO(a), LO(b), V, false), extreme_nan(HI(a), HI(b), V, false)))         \
	X(maxn2_##T, "max.NaN." #T "x2", "rrr", u64,                                              \
	  pair(extreme_nan(LO(a), LO(b), V, true), extreme_nan(HI(a), HI(b), V, true)))           \
	X(minx2_##T, "min.xorsign.abs." #T "x2", "rrr", u64,                                      \
	  pair(extreme_xorsign(LO(a), LO(b), V, false), extreme_xorsign(HI(a), HI(b), V, false))) \
	X(maxx2_##T, "max.xorsign.abs." #T "x2", "rrr", u64,                                      \
	  pair(extreme_xorsign(LO(a), LO(b), V, true), extreme_xorsign(HI(a), HI(b), V, true)))
#define NEGATED(x) ((x) ^ 0x8000)
#define SMALL(X, T, V, R)                                                                       \
	X(sub_##T, "sub." #T, "hhh", u64, add16(V(a), V(NEGATED(b)), R))                        \
	X(mul_##T, "mul." #T, "hhh", u64, mul16(V(a), V(b), R))                                 \
	X(relu_##T, "fma.rn.relu." #T, "hhhh", u64, relu(fma16(V(a), V(b), V(c), R), V))        \
	X(abs_##T, "abs." #T, "hh", u64, quiet(a & 0x7fff, V))                                  \
	X(neg_##T, "neg." #T, "hh", u64, quiet(NEGATED(a), V))                                  \
	X(abs2_##T, "abs." #T "x2", "rr", u64,                                                  \
	  pair(quiet(LO(a) & 0x7fff, V), quiet(HI(a) & 0x7fff, V)))                             \
	X(neg2_##T, "neg." #T "x2", "rr", u64,                                                  \
	  pair(quiet(NEGATED(LO(a)), V), quiet(NEGATED(HI(a)), V)))                             \
	X(add2_##T, "add." #T "x2", "rrr", u64,                                                 \
	  pair(add16(V(LO(a)), V(LO(b)), R), add16(V(HI(a)), V(HI(b)), R)))                     \
	X(sub2_##T, "sub." #T "x2", "rrr", u64,                                                 \
	  pair(add16(V(LO(a)), V(NEGATED(LO(b))), R), add16(V(HI(a)), V(NEGATED(HI(b))), R)))   \
	X(mul2_##T, "mul." #T "x2", "rrr", u64,                                                 \
	  pair(mul16(V(LO(a)), V(LO(b)), R), mul16(V(HI(a)), V(HI(b)), R)))                     \
	X(fma2_##T, "fma.rn." #T "x2", "rrrr", u64,                                             \
	  pair(fma16(V(LO(a)), V(LO(b)), V(LO(c)), R), fma16(V(HI(a)), V(HI(b)), V(HI(c)), R))) \
	X(relu2_##T, "fma.rn.relu." #T "x2", "rrrr", u64,                                       \
	  pair(relu(fma16(V(LO(a)), V(LO(b)), V(LO(c)), R), V),                                 \
	       relu(fma16(V(HI(a)), V(HI(b)), V(HI(c)), R), V)))
#define HALVES(X)                    \
	EXTREMES(X, f16, half)       \
	EXTREMES(X, bf16, bf)        \
	SMALL(X, f16, half, to_half) \
	SMALL(X, bf16, bf, to_bf)
HALVES(CONFORMANCE_CASE)

TS_TEST(halves)
{
	static const struct conformance cases[] = {HALVES(CONFORMANCE_ROW)};

	conformance_all(cases, sizeof(cases) / sizeof(cases[0]));
}

/* Reference of min and max for f64: the other operand if one is NaN, and -0 is below +0. */
static u64 extreme64(u64 a, u64 b, bool max)
{
	double x = f64(a), y = f64(b);

	if (x != x || y != y)
		return x != x ? b : a;
	if (x == y)
		return max ? a & b : a | b;
	return (x < y) != max ? a : b;
}

static u64 xorsign32(u64 a, u64 b, bool max)
{
	float x = fabsf(f32(a)), y = fabsf(f32(b)),
	      r = x != x	   ? y
		  : y != y	   ? x
		  : (x < y) != max ? x
				   : y;

	return r != r ? 0x7fffffff : (w32(r) & 0x7fffffff) | ((a ^ b) & 0x80000000);
}

static bool any_nan(u64 v)
{
	return f64(v) != f64(v);
}

#define WIDE(X)                                                                              \
	X(min_f64, "min.f64", "ddd", u64, extreme64(a, b, false))                            \
	X(max_f64, "max.f64", "ddd", u64, extreme64(a, b, true))                             \
	X(abs_f64, "abs.f64", "dd", u64, a &INT64_MAX)                                       \
	X(rcp_f64, "rcp.rn.f64", "dd", u64, w64(1 / f64(a)))                                 \
	X(copysign_f64, "copysign.f64", "ddd", u64, (a & ~(u64)INT64_MAX) | (b & INT64_MAX)) \
	X(testp_f64, "testp.normal.f64", "pd", u64, !f64(a) || isnormal(f64(a)))             \
	X(minx_f32, "min.xorsign.abs.f32", "rrr", u64, xorsign32(a, b, false))               \
	X(maxx_f32, "max.xorsign.abs.f32", "rrr", u64, xorsign32(a, b, true))                \
	X(minn_f32, "min.NaN.f32", "rrr", u64,                                               \
	  f32(a) != f32(a) || f32(b) != f32(b) ? 0x7fffffff                                  \
	  : f32(a) == f32(b)		       ? a | b                                       \
	  : f32(a) < f32(b)		       ? a                                           \
					       : b)                                                             \
	X(abs_ftz, "abs.ftz.f32", "rr", u64, a & 0x7f800000 ? w32(fabsf(f32(a))) : 0)        \
	X(neg_ftz, "neg.ftz.f32", "rr", u64,                                                 \
	  a & 0x7f800000 ? w32(-f32(a)) : (a & 0x80000000) ^ 0x80000000)                     \
	X(f32_u32, "cvt.rn.f32.u32", "rr", u64, w32((float)(u32)a))                          \
	X(f64_s32, "cvt.rn.f64.s32", "dr", u64, w64((double)(s32)a))
WIDE(CONFORMANCE_CASE)

TS_TEST(wide_floats)
{
	static const struct conformance cases[] = {WIDE(CONFORMANCE_ROW)};

	conformance_nan64 = any_nan;
	conformance_all(cases, sizeof(cases) / sizeof(cases[0]));
}

/*
 * Checks that a load of `type` to a register of 32 bits or, with `wide`, 64 bits, and a store from
 * it are correct in all lanes. With `param`, loads from a parameter.
 */
static void check_width(const char *type, uint32_t bits, bool is_signed, bool wide, bool param)
{
	uint64_t in[32], at, v[2] = {0xfedcba9876543210, 0x89abcdef01234567};
	/* For st.f32 of a 64-bit register, the vendor's compiler converts from integer to float. */
	const char *store = wide && !strcmp(type, "f32") ? "b32" : type;
	char text[1024], form[32], reg = wide ? 'd' : 'r';
	struct conformance_wrong wrong = {form, 0};
	uint32_t bytes = bits / 8;
	struct device d;

	(void)snprintf(form, sizeof(form), "ld%s.%s to %c", param ? ".param" : "", type, reg);
	(void)snprintf(
		text, sizeof(text),
		PTX_HEAD
		".visible .entry k(.param .u64 p, .param .u64 q, .param .u64 v, .param .u64 w) {\n"
		".reg .b64 %%d<9>; .reg .b32 %%r<9>; ld.param.u64 %%d1, [p]; ld.param.u64 %%d2, [q]; mov.u32 %%r1, %%tid.x;\n"
		"mul.wide.u32 %%d3, %%r1, 8; add.u64 %%d1, %%d1, %%d3; add.u64 %%d2, %%d2, %%d3;\n"
		"ld.%s.%s %%%c5, [%s]; st.global.%s [%%d2], %%%c5; st.global.%s [%%d2+256], %%%c5; ret; }\n",
		param ? "param" : "global", type, reg, param ? "v" : "%d1", wide ? "b64" : "b32",
		reg, store, reg);
	device_open(&d, text);
	if (!device_loaded(&d))
		return;
	at = device_alloc(&d, 1024);
	for (uint32_t i = 0; i < 32; i++)
		in[i] = v[0] * (2 * i + 1) + v[1];
	memcpy(device_host(&d, at), in, sizeof(in));
	memset((uint8_t *)device_host(&d, at) + 256, 0, 768);
	DEVICE_RUN(&d, "k", 1, 32, at, at + 256, v[0], v[1]);
	for (uint32_t i = 0; i < 32; i++) {
		uint64_t x = param ? v[0] : in[i],
			 narrow = bits == 64 ? x : x & ((UINT64_C(1) << bits) - 1);
		uint64_t want = is_signed && narrow >> (bits - 1)
					? narrow | (bits == 64 ? 0 : UINT64_MAX << bits)
					: narrow;
		const uint64_t *out = (const uint64_t *)device_host(&d, at + 256);
		uint64_t stored = 0;

		want = wide ? want : (uint32_t)want;
		memcpy(&stored, &out[32 + i], bytes);
		if ((out[i] != want || stored != narrow) && conformance_print(&wrong))
			fprintf(stderr,
				"%s: 0x%" PRIx64 ", not 0x%" PRIx64 "; stored 0x%" PRIx64
				", not 0x%" PRIx64 "\n",
				form, out[i], want, stored, narrow);
	}
	conformance_end(&wrong);
	device_close(&d);
}

TS_TEST(widths)
{
	static const struct {
		const char *type;
		uint32_t bits;
		bool is_signed;
	} types[] = {{"b8", 8, false},	 {"u8", 8, false},   {"s8", 8, true},	 {"b16", 16, false},
		     {"u16", 16, false}, {"s16", 16, true},  {"b32", 32, false}, {"u32", 32, false},
		     {"s32", 32, true},	 {"b64", 64, false}, {"u64", 64, false}, {"s64", 64, true},
		     {"f64", 64, false}, {"f32", 32, false}};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		for (int way = 0; way < 4; way++)
			if (types[i].bits < 64 || way & 1)
				check_width(types[i].type, types[i].bits, types[i].is_signed,
					    way & 1, way & 2);
}

/*
 * Approximations of halves: the error is at most one unit in the last place; with a driver also
 * within the ISA's bound.
 */
struct halves {
	const char *op;
	double (*value)(u64);
	u64 (*to)(float128, bool, int);
	double (*f)(double);
	double relative, absolute; /* the ISA's bound: 2^-9.9, and 2^-10.987 for f16 */
	bool flushes;
};

static bool halves_match(const struct halves *h, u64 x, u64 got)
{
	double exact = h->f(h->value(x)), error = fabs(h->value(got) - exact);
	u64 want = h->to(exact, sign_of(exact), FE_TONEAREST);

	if (h->flushes && !(want & 0x7f80))
		want &= 0x8000;
	if (exact != exact || (h->flushes && !(want & 0x7fff)))
		return got == want;
#ifdef TS_TEST_DEVICE
	if (error <= h->absolute || error <= h->relative * fabs(exact))
		return true;
#else
	(void)error;
#endif
	return got == want || got + 1 == want || got == want + 1;
}

static void check_halves(const struct halves *h)
{
	const struct conformance c = {h->op, strstr(h->op, "16x2") ? "rr" : "hh", NULL};
	struct conformance_wrong wrong = {h->op, 0};
	char text[4096];
	struct device d;
	uint64_t from, into;
	uint64_t *in, *out;

	conformance_text(&c, text, sizeof(text));
	device_open(&d, text);
	if (getenv("TS_TEST_COVERAGE") || !device_loaded(&d)) {
		device_close(&d);
		return;
	}
	from = device_alloc(&d, 65536 * 8);
	into = device_alloc(&d, 65536 * 8);
	in = device_host(&d, from);
	out = device_host(&d, into);
	for (u64 i = 0; i < 65536; i++)
		in[i] = i | (i ^ 0x1234) << 16;
	DEVICE_RUN(&d, "k", 512, 128, into, from, 0, 0);
	for (u64 i = 0; i < 65536; i++) {
		for (int part = 0; part < (c.sizes[0] == 'r' ? 2 : 1); part++) {
			u64 x = in[i] >> 16 * part & 0xffff, got = out[i] >> 16 * part & 0xffff;
			double exact = h->f(h->value(x));

			if (!halves_match(h, x, got) && conformance_print(&wrong))
				fprintf(stderr,
					"%s of 0x%" PRIx64 ": 0x%" PRIx64 ", not 0x%" PRIx64 "\n",
					h->op, x, got, h->to(exact, sign_of(exact), FE_TONEAREST));
		}
	}
	conformance_end(&wrong);
	device_close(&d);
}

TS_TEST(approximations_of_halves)
{
	static const struct halves halves[] = {
		{"ex2.approx.f16", half, to_half, exp2, 0x1.125fbee250663p-10, 0, false},
		{"ex2.approx.f16x2", half, to_half, exp2, 0x1.125fbee250663p-10, 0, false},
		{"tanh.approx.f16", half, to_half, tanh, 0, 0x1.0251353756991p-11, false},
		{"tanh.approx.f16x2", half, to_half, tanh, 0, 0x1.0251353756991p-11, false},
		{"tanh.approx.bf16", bf, to_bf, tanh, 0, 0x1p-8, false},
		{"tanh.approx.bf16x2", bf, to_bf, tanh, 0, 0x1p-8, false},
		{"ex2.approx.ftz.bf16", bf, to_bf, exp2, 0x1p-7, 0, true},
		{"ex2.approx.ftz.bf16x2", bf, to_bf, exp2, 0x1p-7, 0, true},
	};

	for (size_t i = 0; i < sizeof(halves) / sizeof(halves[0]); i++)
		check_halves(&halves[i]);
}

static double e4m3(u64 v)
{
	int e = (int)(v >> 3 & 15), m = (int)(v & 7);
	double x = (v & 127) == 127 ? NAN : e ? ldexp(8 + m, e - 10) : ldexp(m, -9);

	return v & 128 ? -x : x;
}

#define PAIRS(X)                                                 \
	X(f16x2_f32, "cvt.rn.f16x2.f32", "rrr", u64,             \
	  pair(to_half(f32(b), sign_of(f32(b)), FE_TONEAREST),   \
	       to_half(f32(a), sign_of(f32(a)), FE_TONEAREST)))  \
	X(bf16x2_f32, "cvt.rz.bf16x2.f32", "rrr", u64,           \
	  pair(to_bf(f32(b), sign_of(f32(b)), FE_TOWARDZERO),    \
	       to_bf(f32(a), sign_of(f32(a)), FE_TOWARDZERO)))   \
	X(f16x2_e4m3x2, "cvt.rn.f16x2.e4m3x2", "rh", u64,        \
	  pair(to_half(e4m3(a & 255), a >> 7 & 1, FE_TONEAREST), \
	       to_half(e4m3(a >> 8), a >> 15 & 1, FE_TONEAREST)))
PAIRS(CONFORMANCE_CASE)

TS_TEST(conversions_of_pairs)
{
	static const struct conformance cases[] = {PAIRS(CONFORMANCE_ROW)};

	conformance_all(cases, sizeof(cases) / sizeof(cases[0]));
}

/*
 * 192 bits with carries from word to word, 128-bit products, and forms that need a second predicate
 * or no memory operand.
 */
TS_TEST(carries_and_the_rest)
{
	static const char text[] = PTX_HEAD
		".visible .entry k(.param .u64 p, .param .u64 q) {\n"
		".reg .b64 %d<40>; .reg .b32 %r<20>; .reg .pred %p<6>; .reg .f64 %f<9>; .reg .f32 %s<9>;\n"
		"ld.param.u64 %d0, [p]; ld.param.u64 %d30, [q]; mov.u32 %r0, %tid.x; mul.wide.u32 %d31, %r0, 48; add.u64 %d0, %d0, %d31;\n"
		"mul.wide.u32 %d31, %r0, 128; add.u64 %d30, %d30, %d31;\n"
		"ld.global.u64 %d1, [%d0]; ld.global.u64 %d2, [%d0+8]; ld.global.u64 %d3, [%d0+16];\n"
		"ld.global.u64 %d4, [%d0+24]; ld.global.u64 %d5, [%d0+32]; ld.global.u64 %d6, [%d0+40];\n"
		"add.cc.u64 %d7, %d1, %d4; addc.cc.s64 %d8, %d2, %d5; addc.u64 %d9, %d3, %d6;\n"
		"sub.cc.u64 %d10, %d1, %d4; subc.cc.u64 %d11, %d2, %d5; subc.u64 %d12, %d3, %d6;\n"
		"mad.lo.cc.u64 %d13, %d1, %d4, %d2; madc.hi.u64 %d14, %d1, %d4, %d5;\n"
		"mad.lo.cc.u64 %d15, %d1, %d4, %d2; madc.hi.s64 %d16, %d1, %d4, %d5;\n"
		"cvt.u32.u64 %r1, %d1; cvt.u32.u64 %r2, %d4; cvt.u32.u64 %r3, %d2; cvt.u32.u64 %r4, %d5;\n"
		"mad.lo.cc.s32 %r5, %r1, %r2, %r3; madc.hi.s32 %r6, %r1, %r2, %r4;\n"
		"setp.lt.u32 %p1, %r1, %r2; mov.pred %p2, %p1; selp.u32 %r7, 1, 0, %p2;\n"
		"st.global.v2.u64 [%d30], {%d7, %d8}; st.global.v2.u64 [%d30+16], {%d9, %d10}; st.global.v2.u64 [%d30+32], {%d11, %d12};\n"
		"st.global.v2.u64 [%d30+48], {%d13, %d14}; st.global.v2.u64 [%d30+64], {%d15, %d16}; st.global.v2.u32 [%d30+80], {%r5, %r6};\n"
		"and.b64 %d20, %d1, 0x000fffffffffffff; or.b64 %d20, %d20, 0x3ff0000000000000; mov.b64 %f1, %d20;\n"
		"rcp.approx.ftz.f64 %f2, %f1; rsqrt.approx.f64 %f3, %f1; rsqrt.approx.ftz.f64 %f4, %f1;\n"
		"cvt.rn.f32.f64 %s1, %f1; div.approx.f32 %s2, 0f40400000, %s1;\n"
		"st.global.u32 [%d30+88], %r7; st.global.f32 [%d30+92], %s2; st.global.v2.f64 [%d30+96], {%f2, %f3}; st.global.f64 [%d30+112], %f4;\n"
		"bfi.b64 %d21, %d1, %d2, 12, 20; st.global.u64 [%d30+120], %d21; ret; }\n";
	uint64_t in, out, state = 5;
	struct device d;

	device_open(&d, text);
	in = device_alloc(&d, 1024 * 48);
	out = device_alloc(&d, 1024 * 128);
	for (int i = 0; i < 1024 * 6; i++)
		((uint64_t *)device_host(&d, in))[i] =
			i % 5 ? conformance_random(&state) : 0 - (u64)(i & 1);
	DEVICE_RUN(&d, "k", 1, 1024, in, out);
	for (int i = 0; i < 1024; i++) {
		const u64 *a = (u64 *)device_host(&d, in) + 6 * i, *b = a + 3;
		const u64 *o = (u64 *)device_host(&d, out) + 16 * i;
		u64 carry = a[0] + b[0] < a[0], borrow = a[0] < b[0];
		u128 mid = (u128)a[1] + b[1] + carry, less = (u128)a[1] - b[1] - borrow;
		u128 product = (u128)a[0] * b[0] + a[1];
		u64 carried = (u64)((u128)a[0] * b[0]) + a[1] < a[1];
		u64 low32 = (u32)a[0] * (u64)(u32)b[0];
		double x;
		float s;

		ts_check(o[0] == a[0] + b[0] && o[1] == (u64)mid);
		ts_check(o[2] == a[2] + b[2] + (u64)(mid >> 64));
		ts_check(o[3] == a[0] - b[0] && o[4] == (u64)less);
		ts_check(o[5] == a[2] - b[2] - ((u64)(less >> 64) & 1));
		ts_check(o[6] == (u64)product && o[7] == (u64)(product >> 64) + b[1]);
		ts_check(o[8] == (u64)product);
		ts_check(o[9] == (u64)((s128)(s64)a[0] * (s64)b[0] >> 64) + b[1] + carried);
		ts_check((u32)o[10] == (u32)low32 + (u32)a[1]);
		ts_check(o[10] >> 32 == (u32)(((u64)((s64)(s32)a[0] * (s32)b[0]) >> 32) + b[1] +
					      ((u32)low32 + (u32)a[1] < (u32)a[1])));
		ts_check((u32)o[11] == ((u32)a[0] < (u32)b[0]));
		ts_check(o[15] == ((a[1] & ~(u64)0xfffff000) | (a[0] << 12 & 0xfffff000)));
		x = f64((a[0] & 0x000fffffffffffff) | 0x3ff0000000000000);
		s = f32(o[11] >> 32);
		ts_check(fabs(s * (float)x - 3) < 3e-6);
		ts_check(fabs(f64(o[12]) * x - 1) < 0x1p-19 && !(u32)o[12]);
		ts_check(fabs(f64(o[13]) * f64(o[13]) * x - 1) < 0x1p-50);
		ts_check(fabs(f64(o[14]) * f64(o[14]) * x - 1) < 0x1p-18 && !(u32)o[14]);
	}
	device_close(&d);
}
