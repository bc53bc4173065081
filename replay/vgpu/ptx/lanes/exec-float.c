// SPDX-License-Identifier: Apache-2.0
/*
 * Arithmetic on f32 and f64, rounded to nearest. Other rounding directions and flushing of
 * denormals use the host's modes, which round_mode() sets around the same functions. NaN results in
 * single precision are PTX's canonical NaN. The file is built without contraction: only fma fuses.
 * The interpreter's loop calls these functions through the optable.
 */
#include <assert.h>
#include <math.h>

#include "replay/vgpu/ptx/lanes/half.h"
#include "replay/vgpu/ptx/lanes/lanes.h"

#define CANON(x) ts_ptx_canonical(x)

TS_PTX_BINARY(add_f32, float, float, CANON(a + b))
TS_PTX_BINARY(sub_f32, float, float, CANON(a - b))
TS_PTX_BINARY(mul_f32, float, float, CANON(a *b))
TS_PTX_BINARY(div_f32, float, float, CANON(a / b))
TS_PTX_TERNARY(fma_f32, float, float, CANON(__builtin_fmaf(a, b, c)))
TS_PTX_UNARY(sqrt_f32, float, float, CANON(__builtin_sqrtf(a)))
TS_PTX_UNARY(rcp_f32, float, float, CANON(1.0f / a))
TS_PTX_BINARY(add_f64, double, double, a + b)
TS_PTX_BINARY(sub_f64, double, double, a - b)
TS_PTX_BINARY(mul_f64, double, double, a *b)
TS_PTX_BINARY(div_f64, double, double, a / b)
TS_PTX_TERNARY(fma_f64, double, double, __builtin_fma(a, b, c))
TS_PTX_UNARY(sqrt_f64, double, double, __builtin_sqrt(a))
TS_PTX_UNARY(rcp_f64, double, double, 1.0 / a)

TS_PTX_UNARY(neg_f32, float, float, CANON(-a))
TS_PTX_UNARY(abs_f32, float, float, CANON(fabsf(a)))
TS_PTX_UNARY(neg_f64, uint64_t, uint64_t, a ^ UINT64_C(1) << 63)
TS_PTX_UNARY(abs_f64, uint64_t, uint64_t, a & ~(UINT64_C(1) << 63))
TS_PTX_BINARY(copysign_f32, uint32_t, uint32_t, (a & 0x80000000u) | (b & 0x7fffffffu))
TS_PTX_BINARY(copysign_f64, uint64_t, uint64_t,
	      (a & UINT64_C(1) << 63) | (b & ~(UINT64_C(1) << 63)))

/*
 * A negative zero is smaller than a positive one. If one operand is NaN, the result is the other
 * one, unless nan is set.
 */
#define MINMAX(T, U, from, bits, canon)                                            \
	static inline T min_##T(T a, T b, bool nan)                                \
	{                                                                          \
		T r = a < b ? a : b < a ? b : from(bits(a) | bits(b));             \
		T n = nan ? from(canon) : a != a ? (b != b ? from(canon) : b) : a; \
                                                                                   \
		return ((a != a) | (b != b)) ? n : r;                              \
	}                                                                          \
	static inline T max_##T(T a, T b, bool nan)                                \
	{                                                                          \
		T r = a > b ? a : b > a ? b : from(bits(a) & bits(b));             \
		T n = nan ? from(canon) : a != a ? (b != b ? from(canon) : b) : a; \
                                                                                   \
		return ((a != a) | (b != b)) ? n : r;                              \
	}
MINMAX(float, uint32_t, ts_ptx_float, ts_ptx_bits, TS_PTX_NAN_F32)
MINMAX(double, uint64_t, ts_ptx_double, ts_ptx_bits64, UINT64_C(0x7fffffffffffffff))

/* Flushes a denormal explicitly, because the host's mode does not affect a selection. */
static inline float flush(float f, uint32_t mode)
{
	uint32_t u = ts_ptx_bits(f);

	return mode && !(u & 0x7f800000) ? ts_ptx_float(u & 0x80000000) : f;
}

#define FTZ (in->space & TS_PTX_MODE_FTZ)
/* Returns r with the exclusive or of the signs of a and b. A NaN gets no sign. */
static inline float signed_by(float a, float b, float r)
{
	uint32_t sign = (ts_ptx_bits(a) ^ ts_ptx_bits(b)) & 0x80000000;

	return r != r ? r : ts_ptx_float((ts_ptx_bits(r) & 0x7fffffff) | sign);
}

TS_PTX_BINARY(min_f32, float, float, min_float(flush(a, FTZ), flush(b, FTZ), false))
TS_PTX_BINARY(max_f32, float, float, max_float(flush(a, FTZ), flush(b, FTZ), false))
TS_PTX_BINARY(min_nan_f32, float, float, min_float(flush(a, FTZ), flush(b, FTZ), true))
TS_PTX_BINARY(max_nan_f32, float, float, max_float(flush(a, FTZ), flush(b, FTZ), true))
TS_PTX_BINARY(min_xorsign_f32, float, float,
	      signed_by(a, b, min_float(fabsf(flush(a, FTZ)), fabsf(flush(b, FTZ)), in->aux)))
TS_PTX_BINARY(max_xorsign_f32, float, float,
	      signed_by(a, b, max_float(fabsf(flush(a, FTZ)), fabsf(flush(b, FTZ)), in->aux)))
TS_PTX_BINARY(min_f64, double, double, min_double(a, b, false))
TS_PTX_BINARY(max_f64, double, double, max_double(a, b, false))
TS_PTX_UNARY(neg_ftz_f32, float, float, CANON(flush(-a, 1)))
TS_PTX_UNARY(abs_ftz_f32, float, float, CANON(flush(fabsf(a), 1)))

/* Clamps to [0, 1]; NaN becomes +0. */
static int saturate_f32(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	float *d_ = ts_ptx_lanes(ts_ptx_result(w, in), sizeof(*d_));

	TS_PTX_LOOP(m, float, float, float a = d_[i], (a > 0 ? (a < 1 ? a : 1.0f) : 0.0f))
	return 0;
}

#if defined(__aarch64__)
/*
 * The processor flushes if the exact result is below the smallest normal number, PTX if the rounded
 * result is. They differ for products and sums that round up to this number; other operations have
 * no such results. Replaces the zeros of such lanes.
 */
static void unflush(const struct ts_ptx_insn *in, uint32_t m, const float operands[3][TS_PTX_LANES],
		    float *d)
{
	enum ts_ptx_rounding mode = in->space & 15;

	for (int i = 0; i < TS_PTX_LANES; i++) {
		float a = flush(operands[0][i], 1), b = flush(operands[1][i], 1);
		float c = in->inner == fma_f32 ? flush(operands[2][i], 1) : 0;
		double exact = ts_ptx_fma_odd(a, b, c), size = fabs(exact);
		bool away = mode == (exact < 0 ? ROUND_RM : ROUND_RP);

		if ((m >> i & 1) && d[i] == 0 && size < 0x1p-126 &&
		    (away ? size > 0x1.fffffep-127 : mode == ROUND_RN && size >= 0x1.ffffffp-127))
			d[i] = copysignf(0x1p-126f, (float)exact);
	}
}
#endif

static int round_mode(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t mode = in->space & 15;
	int r;

#if defined(__SSE2__)
	static const uint32_t rc[] = {[ROUND_RN] = 0,
				      [ROUND_RM] = 1u << 13,
				      [ROUND_RP] = 2u << 13,
				      [ROUND_RZ] = 3u << 13};
	uint32_t old = __builtin_ia32_stmxcsr();

	assert(mode < sizeof(rc) / sizeof(rc[0]));
	__builtin_ia32_ldmxcsr((old & ~0xe040u) | rc[mode] |
			       (in->space & TS_PTX_MODE_FTZ ? 0x8040u : 0));
	r = in->inner(w, in, m);
	__builtin_ia32_ldmxcsr(old);
#else
	static const uint64_t rc[] = {[ROUND_RN] = 0,
				      [ROUND_RM] = 2u << 22,
				      [ROUND_RP] = 1u << 22,
				      [ROUND_RZ] = 3u << 22};
	bool flushes =
		(in->space & TS_PTX_MODE_FTZ) && (in->inner == mul_f32 || in->inner == fma_f32);
	float operands[3][TS_PTX_LANES];
	uint64_t old = ts_ptx_fpcr();

	assert(mode < sizeof(rc) / sizeof(rc[0]));
	/* The result may have the slot of an operand. */
	if (flushes) {
		memcpy(operands[0], ts_ptx_slot(w, in->a), sizeof(operands[0]));
		memcpy(operands[1], ts_ptx_slot(w, in->b), sizeof(operands[1]));
		if (in->inner == fma_f32)
			memcpy(operands[2], ts_ptx_slot(w, in->c), sizeof(operands[2]));
	}
	ts_ptx_set_fpcr(rc[mode] | (in->space & TS_PTX_MODE_FTZ ? 1u << 24 : 0));
	r = in->inner(w, in, m);
	ts_ptx_set_fpcr(old);
	if (flushes)
		unflush(in, m, operands, ts_ptx_result(w, in));
#endif
	return r;
}

/*
 * Tests a property of testp. `what` is 0 finite, 1 infinite, 2 number, 3 notanumber, 4 normal, 5
 * subnormal.
 */
static inline bool test_property(uint64_t magnitude, uint64_t infinity, uint64_t least,
				 uint32_t what)
{
	switch (what) {
	case 0:
		return magnitude < infinity;
	case 1:
		return magnitude == infinity;
	case 2:
		return magnitude <= infinity;
	case 3:
		return magnitude > infinity;
	case 4:
		/* The ISA counts zero as normal. */
		return !magnitude || (magnitude >= least && magnitude < infinity);
	default:
		return magnitude && magnitude < least;
	}
}

#define TESTP(name, S, infinity, least)                                                           \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)          \
	{                                                                                         \
		const S *a = ts_ptx_lanes(ts_ptx_slot(w, in->a), sizeof(*a));                     \
		uint32_t *d = ts_ptx_result(w, in), r = 0;                                        \
                                                                                                  \
		for (int i = 0; i < TS_PTX_LANES; i++)                                            \
			r |= (uint32_t)test_property(a[i] & ~(S)0 >> 1, infinity, least, in->aux) \
			     << i;                                                                \
		*d = (*d & ~m) | (r & m);                                                         \
		return 0;                                                                         \
	}
TESTP(testp_f32, uint32_t, 0x7f800000, 0x00800000)
TESTP(testp_f64, uint64_t, UINT64_C(0x7ff) << 52, UINT64_C(1) << 52)

/*
 * Divides nearly exactly, which is within the ISA's error bounds. A huge divisor gives zero, as the
 * ISA requires.
 */
static inline float divide_approx(float a, float b)
{
	float q = a / b;

	if (fabsf(b) > 0x1p126f && fabsf(b) <= 0x1.fffffep127f)
		q = a * 0.0f;
	return ts_ptx_canonical(q);
}

TS_PTX_BINARY(div_approx_f32, float, float, divide_approx(a, b))
TS_PTX_UNARY(rsqrt_f32, float, float, CANON((float)(1.0 / __builtin_sqrt((double)a))))
TS_PTX_UNARY(rsqrt_f64, double, double, 1.0 / __builtin_sqrt(a))

/* Computes a polynomial by Horner's scheme. The coefficients go from the highest power down. */
static inline double polynomial(const double *c, size_t n, double x)
{
	double p = c[0];

	for (size_t i = 1; i < n; i++)
		p = p * x + c[i];
	return p;
}
#define POLYNOMIAL(coefficients, x) \
	polynomial(coefficients, sizeof(coefficients) / sizeof((coefficients)[0]), x)

/*
 * Computes 2^a in double: 2^n times the Taylor series of 2^f, with f in [-1/2, 1/2], to a relative
 * error of 2^-37, rounded once. Adding 1.5 * 2^52 leaves n in the lowest bits. Beyond the limits
 * the result is 0 or infinity.
 */
static inline float exp2_approx(float a)
{
	static const double taylor[] = {0x1.b5253d395e7c4p-24, 0x1.62c0223a5c824p-20,
					0x1.ffcbfc588b0c7p-17, 0x1.430912f86c787p-13,
					0x1.5d87fe78a6731p-10, 0x1.3b2ab6fba4e77p-7,
					0x1.c6b08d704a0c0p-5,  0x1.ebfbdff82c58fp-3,
					0x1.62e42fefa39efp-1,  1};
	double x = (double)a, p, t, f;

	x = x < -160 ? -160 : x;
	x = x > 130 ? 130 : x;
	t = x + 0x1.8p52;
	f = x - (t - 0x1.8p52);
	p = POLYNOMIAL(taylor, f);
	return CANON((float)(p * ts_ptx_double((ts_ptx_bits64(t) + 1023) << 52)));
}

/*
 * Computes the binary logarithm in double: a is 2^k z, with z in [sqrt(1/2), sqrt(2)). log2(z) is
 * the series of 2 / ln(2) * atanh(s) with s = (z - 1) / (z + 1). The relative error is 2^-39; the
 * result is rounded once.
 */
static inline float log2_approx(float a)
{
	static const double series[] = {0x1.c68f568d31760p-3, 0x1.0c9a84994022dp-2,
					0x1.484b13d7c02a9p-2, 0x1.a61762a7aded9p-2,
					0x1.2776c50ef9bfep-1, 0x1.ec709dc3a03fdp-1,
					0x1.71547652b82fep+1};
	const uint64_t half = UINT64_C(0x3fe6a09e667f3bcd), bias = UINT64_C(1024) << 52;
	uint64_t bits = ts_ptx_bits64((double)a), k = (bits - half + bias) >> 52;
	double exponent = ts_ptx_double(UINT64_C(0x4330000000000000) | k) - (0x1p52 + 1024);
	double z = ts_ptx_double(bits - (k << 52) + bias);
	double s = (z - 1) / (z + 1), p;
	float r;

	p = POLYNOMIAL(series, s * s);
	r = (float)(exponent + s * p);
	r = a > 0 ? r : ts_ptx_float(TS_PTX_NAN_F32);
	r = a > 0x1.fffffep127f ? a : r;
	return a == 0 ? -__builtin_inff() : r;
}

/*
 * Computes sin(a + quarter * pi / 2) in double: a is n pi / 2 + r, with r in [-pi / 4, pi / 4]. n
 * selects the Taylor series of sin(r) or cos(r), to a relative error of 2^-36, rounded once. n
 * times the first 33 bits of pi / 2 is exact up to TRIG_LIMIT.
 */
#define TRIG_LIMIT 0x1p19f
static inline float sin_approx(float a, uint64_t quarter)
{
	static const double sine[] = {-0x1.ae64567f544e4p-26, 0x1.71de3a556c734p-19,
				      -0x1.a01a01a01a01ap-13, 0x1.1111111111111p-7,
				      -0x1.5555555555555p-3,  1};
	static const double cosine[] = {0x1.1eed8eff8d898p-29,
					-0x1.27e4fb7789f5cp-22,
					0x1.a01a01a01a01ap-16,
					-0x1.6c16c16c16c17p-10,
					0x1.5555555555555p-5,
					-0.5,
					1};
	double x = (double)a, t = x * 0x1.45f306dc9c883p-1 + 0x1.8p52, n = t - 0x1.8p52;
	double r = x - n * 0x1.921fb544p+0 - n * 0x1.0b4611a626331p-34, r2 = r * r, y;
	uint64_t q = ts_ptx_bits64(t) + quarter;

	y = q & 1 ? POLYNOMIAL(cosine, r2) : r * POLYNOMIAL(sine, r2);
	return CANON((float)(q & 2 ? -y : y));
}

/*
 * libm computes values beyond TRIG_LIMIT and values that are not finite. A denormal is flushed with
 * or without .ftz: hardware has no other sine.
 */
#define TRIG(name, quarter, libm)                                                                  \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)           \
	{                                                                                          \
		float *d_ = ts_ptx_lanes(ts_ptx_result(w, in), sizeof(*d_)), beyond[TS_PTX_LANES]; \
		uint32_t large[TS_PTX_LANES], left;                                                \
		const float *a_ = ts_ptx_lanes(ts_ptx_slot(w, in->a), sizeof(*a_));                \
                                                                                                   \
		memcpy(beyond, a_, sizeof(beyond));                                                \
		TS_PTX_FOR_LANES                                                                   \
		large[i] = fabsf(beyond[i]) <= TRIG_LIMIT ? 0 : UINT32_MAX;                        \
		TS_PTX_LOOP(m, float, float, float a = a_[i],                                      \
			    flush(sin_approx(flush(a, 1), quarter), 1))                            \
		for (left = ts_ptx_pack(large) & m; left; left &= left - 1) {                      \
			int i = __builtin_ctz(left);                                               \
                                                                                                   \
			d_[i] = ts_ptx_canonical(libm(beyond[i]));                                 \
		}                                                                                  \
		return 0;                                                                          \
	}

TRIG(sin_f32, 0, sinf)
TRIG(cos_f32, 1, cosf)
TS_PTX_UNARY(ex2_f32, float, float, flush(exp2_approx(flush(a, FTZ)), FTZ))
TS_PTX_UNARY(lg2_f32, float, float, flush(log2_approx(flush(a, FTZ)), FTZ))

void TS_PTX_FILL(float)(struct ts_ptx_optable *t)
{
	t->fn[F_ADD][TY_F32] = add_f32;
	t->fn[F_SUB][TY_F32] = sub_f32;
	t->fn[F_MUL][TY_F32] = mul_f32;
	t->fn[F_DIV][TY_F32] = div_f32;
	t->fn[F_FMA][TY_F32] = fma_f32;
	t->fn[F_SQRT][TY_F32] = sqrt_f32;
	t->fn[F_RCP][TY_F32] = rcp_f32;
	t->fn[F_ADD][TY_F64] = add_f64;
	t->fn[F_SUB][TY_F64] = sub_f64;
	t->fn[F_MUL][TY_F64] = mul_f64;
	t->fn[F_DIV][TY_F64] = div_f64;
	t->fn[F_FMA][TY_F64] = fma_f64;
	t->fn[F_SQRT][TY_F64] = sqrt_f64;
	t->fn[F_RCP][TY_F64] = rcp_f64;
	t->fn[F_NEG][TY_F32] = neg_f32;
	t->fn[F_ABS][TY_F32] = abs_f32;
	t->fn[F_NEG][TY_F64] = neg_f64;
	t->fn[F_ABS][TY_F64] = abs_f64;
	/* The untyped column contains the flushing form. */
	t->fn[F_NEG][TY_NONE] = neg_ftz_f32;
	t->fn[F_ABS][TY_NONE] = abs_ftz_f32;
	t->fn[F_COPYSIGN][TY_F32] = copysign_f32;
	t->fn[F_COPYSIGN][TY_F64] = copysign_f64;
	t->fn[F_MIN][TY_F32] = min_f32;
	t->fn[F_MAX][TY_F32] = max_f32;
	t->fn[F_MIN][TY_F64] = min_f64;
	t->fn[F_MAX][TY_F64] = max_f64;
	t->fn[F_MIN_NAN][TY_F32] = min_nan_f32;
	t->fn[F_MAX_NAN][TY_F32] = max_nan_f32;
	t->fn[F_MIN_XORSIGN][TY_F32] = min_xorsign_f32;
	t->fn[F_MAX_XORSIGN][TY_F32] = max_xorsign_f32;
	t->fn[F_SATURATE][TY_F32] = saturate_f32;
	t->fn[F_TESTP][TY_F32] = testp_f32;
	t->fn[F_TESTP][TY_F64] = testp_f64;
	t->fn[F_DIV_APPROX][TY_F32] = div_approx_f32;
	t->fn[F_RSQRT_APPROX][TY_F32] = rsqrt_f32;
	t->fn[F_SIN][TY_F32] = sin_f32;
	t->fn[F_COS][TY_F32] = cos_f32;
	t->fn[F_EX2][TY_F32] = ex2_f32;
	t->fn[F_LG2][TY_F32] = lg2_f32;
	t->fn[F_RSQRT_APPROX][TY_F64] = rsqrt_f64;
	t->fn[F_ROUND][TY_NONE] = round_mode;
}
