// SPDX-License-Identifier: Apache-2.0
/*
 * f32 and f64 are compared with the host's arithmetic in the same rounding mode. Conversions and
 * small formats are compared with exact rounding of 128-bit floats, and approximations with their
 * bounds. Built with -frounding-math.
 */
#include "test/unit/ptx/small-floats.h"

static u64 flush(u64 v)
{
	return v & 0x7f800000 ? v : v & 0x80000000;
}

/*
 * Flushing is decided as if exponents were unbounded: 0x1.fffffep-127 is flushed, though it rounds
 * up to 0x1p-126.
 */
static u64 mul_ftz(u64 a, u64 b)
{
	double exact = (double)f32(a) * (double)f32(b);
	volatile float scaled = (float)(exact * 0x1p64), r = f32(a) * f32(b);

	return fabsf(scaled) < 0x1p-62f ? w32(r) & 0x80000000 : w32(r);
}

#define ROUNDED(mode, expr)               \
	({                                \
		volatile u64 r_;          \
		fesetround(mode);         \
		r_ = (expr);              \
		fesetround(FE_TONEAREST); \
		r_;                       \
	})
#define VF(x) (*(volatile float[]){f32(x)})
#define VD(x) (*(volatile double[]){f64(x)})

static u64 fma32(u64 a, u64 b, u64 c, int mode)
{
	volatile float x = f32(a), y = f32(b), z = f32(c), r;

	fesetround(mode);
	r = fmaf(x, y, z);
	fesetround(FE_TONEAREST);
	return w32(r);
}

static u64 fma64(u64 a, u64 b, u64 c, int mode)
{
	volatile double x = f64(a), y = f64(b), z = f64(c), r;

	fesetround(mode);
	r = fma(x, y, z);
	fesetround(FE_TONEAREST);
	/*
	 * With several NaN operands the host chooses the payload, so doubles are compared by value.
	 */
	return r != r ? 0x7ff8000000000000 : w64(r);
}

static u64 sat32(u64 v)
{
	float f = f32(v);

	return w32(f > 0 ? f < 1 ? f : 1 : 0);
}

static u64 min32(u64 a, u64 b, bool max)
{
	float x = f32(a), y = f32(b);

	if (x != x || y != y)
		return x != x ? w32(y) : w32(x);
	if (x == y)
		return max ? a & b : a | b;
	return (x < y) != max ? a : b;
}

#define SINGLE(X)                                                                         \
	X(add_rn, "add.rn.f32", "rrr", u64, w32(VF(a) + VF(b)))                           \
	X(add_rz, "add.rz.f32", "rrr", u64, ROUNDED(FE_TOWARDZERO, w32(VF(a) + VF(b))))   \
	X(add_rm, "add.rm.f32", "rrr", u64, ROUNDED(FE_DOWNWARD, w32(VF(a) + VF(b))))     \
	X(add_rp, "add.rp.f32", "rrr", u64, ROUNDED(FE_UPWARD, w32(VF(a) + VF(b))))       \
	X(add_ftz, "add.ftz.f32", "rrr", u64, flush(w32(VF(flush(a)) + VF(flush(b)))))    \
	X(add_sat, "add.sat.f32", "rrr", u64, sat32(w32(VF(a) + VF(b))))                  \
	X(sub, "sub.f32", "rrr", u64, w32(VF(a) - VF(b)))                                 \
	X(mul_rn, "mul.rn.f32", "rrr", u64, w32(VF(a) * VF(b)))                           \
	X(mul_rz, "mul.rz.f32", "rrr", u64, ROUNDED(FE_TOWARDZERO, w32(VF(a) * VF(b))))   \
	X(mul_sat_ftz, "mul.ftz.sat.f32", "rrr", u64, sat32(mul_ftz(flush(a), flush(b)))) \
	X(div_rn, "div.rn.f32", "rrr", u64, w32(VF(a) / VF(b)))                           \
	X(div_rp, "div.rp.f32", "rrr", u64, ROUNDED(FE_UPWARD, w32(VF(a) / VF(b))))       \
	X(rcp, "rcp.rn.f32", "rr", u64, w32(1.0f / VF(a)))                                \
	X(sqrt_rn, "sqrt.rn.f32", "rr", u64, w32(sqrtf(f32(a))))                          \
	X(fma_rn, "fma.rn.f32", "rrrr", u64, fma32(a, b, c, FE_TONEAREST))                \
	X(fma_rz, "fma.rz.f32", "rrrr", u64, fma32(a, b, c, FE_TOWARDZERO))               \
	X(fma_rm, "fma.rm.f32", "rrrr", u64, fma32(a, b, c, FE_DOWNWARD))                 \
	X(fma_rp, "fma.rp.f32", "rrrr", u64, fma32(a, b, c, FE_UPWARD))                   \
	X(mad, "mad.rn.f32", "rrrr", u64, fma32(a, b, c, FE_TONEAREST))                   \
	X(abs32, "abs.f32", "rr", u64, w32(fabsf(f32(a))))                                \
	X(neg32, "neg.f32", "rr", u64, w32(-f32(a)))                                      \
	X(min, "min.f32", "rrr", u64, min32(a, b, false))                                 \
	X(max, "max.f32", "rrr", u64, min32(a, b, true))                                  \
	X(max_nan, "max.NaN.f32", "rrr", u64,                                             \
	  f32(a) != f32(a) || f32(b) != f32(b) ? 0x7fffffff : min32(a, b, true))          \
	X(min_ftz, "min.ftz.f32", "rrr", u64, min32(flush(a), flush(b), false))           \
	X(copysign, "copysign.f32", "rrr", u64, (a & 0x80000000) | (b & 0x7fffffff))      \
	X(testp, "testp.subnormal.f32", "pr", u64, (a & 0x7fffff) && !(a & 0x7f800000))   \
	X(testp_normal, "testp.normal.f32", "pr", u64, !f32(a) || isnormal(f32(a)))       \
	X(testp_inf, "testp.infinite.f32", "pr", u64, (a & 0x7fffffff) == 0x7f800000)     \
	X(setp_lt, "setp.lt.f32", "prr", u64, f32(a) < f32(b))                            \
	X(setp_ne, "setp.ne.f32", "prr", u64, f32(a) < f32(b) || f32(a) > f32(b))         \
	X(setp_neu, "setp.neu.f32", "prr", u64, !(f32(a) == f32(b)))                      \
	X(setp_geu, "setp.geu.f32", "prr", u64, !(f32(a) < f32(b)))                       \
	X(setp_num, "setp.num.f32", "prr", u64, f32(a) == f32(a) && f32(b) == f32(b))     \
	X(setp_nan, "setp.nan.f32", "prr", u64, f32(a) != f32(a) || f32(b) != f32(b))     \
	X(setp_ftz, "setp.eq.ftz.f32", "prr", u64, f32(flush(a)) == f32(flush(b)))        \
	X(slct, "slct.b32.f32", "rrrr", u64, f32(c) >= 0 ? a : b)

#define N64(x) ((x) != (x) ? 0x7ff8000000000000 : w64(x))
#define DOUBLE(X)                                                                        \
	X(dadd_rz, "add.rz.f64", "ddd", u64, ROUNDED(FE_TOWARDZERO, N64(VD(a) + VD(b)))) \
	X(dadd_rn, "add.f64", "ddd", u64, N64(VD(a) + VD(b)))                            \
	X(dsub_rp, "sub.rp.f64", "ddd", u64, ROUNDED(FE_UPWARD, N64(VD(a) - VD(b))))     \
	X(dmul_rm, "mul.rm.f64", "ddd", u64, ROUNDED(FE_DOWNWARD, N64(VD(a) * VD(b))))   \
	X(ddiv_rn, "div.rn.f64", "ddd", u64, N64(VD(a) / VD(b)))                         \
	X(dfma_rn, "fma.rn.f64", "dddd", u64, fma64(a, b, c, FE_TONEAREST))              \
	X(dfma_rz, "fma.rz.f64", "dddd", u64, fma64(a, b, c, FE_TOWARDZERO))             \
	X(dsqrt, "sqrt.rn.f64", "dd", u64, N64(sqrt(f64(a))))                            \
	X(dneg, "neg.f64", "dd", u64, a ^ UINT64_C(1) << 63)                             \
	X(dsetp, "setp.gtu.f64", "pdd", u64, !(f64(a) <= f64(b)))

static u64 to_int(double x, int width, bool is_signed, int mode, bool wide_nan)
{
	double r = mode == FE_TONEAREST	 ? nearbyint(x)
		   : mode == FE_DOWNWARD ? floor(x)
		   : mode == FE_UPWARD	 ? ceil(x)
					 : trunc(x);
	double high = ldexp(1, is_signed ? width - 1 : width), low = is_signed ? -high : 0;
	u64 most = width == 64 ? (is_signed ? INT64_MAX : UINT64_MAX)
			       : (UINT64_C(1) << (is_signed ? width - 1 : width)) - 1;

	if (x != x)
		return wide_nan ? UINT64_C(1) << (width - 1) : 0;
	if (r >= high)
		return most;
	if (r < low)
		return is_signed ? 0 - most - 1 : 0;
	return is_signed ? (u64)(int64_t)r : (u64)r;
}

/* A NaN double becomes quiet, and keeps its sign and the upper bits of its payload. */
static u64 narrow(u64 v, int width, int mantissa_bits, u64 number)
{
	u64 infinity = (UINT64_C(1) << (width - 1)) - (UINT64_C(1) << mantissa_bits);

	if (f64(v) == f64(v))
		return number;
	return v >> 63 << (width - 1) | infinity | UINT64_C(1) << (mantissa_bits - 1) |
	       (v << 12 >> (64 - mantissa_bits));
}

#define HALVES(X)                                                                      \
	X(h_add, "add.f16", "hhh", u64, add16(half(a), half(b), to_half))              \
	X(h_mul, "mul.rn.f16", "hhh", u64, mul16(half(a), half(b), to_half))           \
	X(h_fma, "fma.rn.f16", "hhhh", u64, fma16(half(a), half(b), half(c), to_half)) \
	X(h_fma2, "fma.rn.f16x2", "rrrr", u64,                                         \
	  pair(fma16(half(a & 0xffff), half(b & 0xffff), half(c & 0xffff), to_half),   \
	       fma16(half(a >> 16), half(b >> 16), half(c >> 16), to_half)))           \
	X(h_lt, "setp.lt.f16", "phh", u64, half(a) < half(b))                          \
	X(b_fma, "fma.rn.bf16", "hhhh", u64, fma16(bf(a), bf(b), bf(c), to_bf))        \
	X(b_add, "add.rn.bf16", "hhh", u64, add16(bf(a), bf(b), to_bf))                \
	X(h_neg, "neg.f16", "hh", u64, quiet(a ^ 0x8000, half))                        \
	X(h_abs2, "abs.f16x2", "rr", u64,                                              \
	  pair(quiet(a & 0x7fff, half), quiet(a >> 16 & 0x7fff, half)))

#define CONVERT(X)                                                                                 \
	X(f16_f32, "cvt.rn.f16.f32", "hr", u64, to_half(f32(a), sign_of(f32(a)), FE_TONEAREST))    \
	X(f16_f32_z, "cvt.rz.f16.f32", "hr", u64, to_half(f32(a), sign_of(f32(a)), FE_TOWARDZERO)) \
	X(bf16_f32, "cvt.rn.bf16.f32", "hr", u64, to_bf(f32(a), sign_of(f32(a)), FE_TONEAREST))    \
	X(f16_f64, "cvt.rn.f16.f64", "hd", u64,                                                    \
	  narrow(a, 16, 10, to_half(f64(a), sign_of(f64(a)), FE_TONEAREST)))                       \
	X(f16_f64_z, "cvt.rz.f16.f64", "hd", u64,                                                  \
	  narrow(a, 16, 10, to_half(f64(a), sign_of(f64(a)), FE_TOWARDZERO)))                      \
	X(bf16_f64, "cvt.rn.bf16.f64", "hd", u64,                                                  \
	  narrow(a, 16, 7, to_bf(f64(a), sign_of(f64(a)), FE_TONEAREST)))                          \
	X(f32_f16, "cvt.f32.f16", "rh", u64, w32((float)half(a)))                                  \
	X(f32_bf16, "cvt.f32.bf16", "rh", u64, a << 16)                                            \
	X(f64_f32, "cvt.f64.f32", "dr", u64, N64((double)f32(a)))                                  \
	X(f32_f64, "cvt.rn.f32.f64", "rd", u64, narrow(a, 32, 23, w32((float)f64(a))))             \
	X(f32_f64_p, "cvt.rp.f32.f64", "rd", u64,                                                  \
	  narrow(a, 32, 23, ROUNDED(FE_UPWARD, w32((float)VD(a)))))                                \
	X(f32_f64_z, "cvt.rz.f32.f64", "rd", u64,                                                  \
	  narrow(a, 32, 23, ROUNDED(FE_TOWARDZERO, w32((float)VD(a)))))                            \
	X(f32_s32, "cvt.rn.f32.s32", "rr", u64, w32((float)(int32_t)(u32)a))                       \
	X(f32_u32_z, "cvt.rz.f32.u32", "rr", u64,                                                  \
	  ROUNDED(FE_TOWARDZERO, w32((float)*(volatile u32[]){(u32)a})))                           \
	X(f32_u64, "cvt.rn.f32.u64", "rd", u64, w32((float)a))                                     \
	X(f64_s64, "cvt.rn.f64.s64", "dd", u64, w64((double)(int64_t)a))                           \
	X(f64_u64_p, "cvt.rp.f64.u64", "dd", u64,                                                  \
	  ROUNDED(FE_UPWARD, w64((double)*(volatile u64[]){a})))                                   \
	X(f64_u32, "cvt.rn.f64.u32", "dr", u64, w64((double)(u32)a))                               \
	X(s32_f32, "cvt.rzi.s32.f32", "rr", u64, to_int(f32(a), 32, true, FE_TOWARDZERO, false))   \
	X(s32_f32_n, "cvt.rni.s32.f32", "rr", u64, to_int(f32(a), 32, true, FE_TONEAREST, false))  \
	X(u32_f32, "cvt.rzi.u32.f32", "rr", u64, to_int(f32(a), 32, false, FE_TOWARDZERO, false))  \
	X(s64_f32, "cvt.rmi.s64.f32", "dr", u64, to_int(f32(a), 64, true, FE_DOWNWARD, true))      \
	X(s32_f64, "cvt.rpi.s32.f64", "rd", u64, to_int(f64(a), 32, true, FE_UPWARD, true))        \
	X(u64_f64, "cvt.rzi.u64.f64", "dd", u64, to_int(f64(a), 64, false, FE_TOWARDZERO, true))   \
	X(s32_f32_d, "cvt.rmi.s32.f32", "rr", u64, to_int(f32(a), 32, true, FE_DOWNWARD, false))   \
	X(u32_f32_p, "cvt.rpi.u32.f32", "rr", u64, to_int(f32(a), 32, false, FE_UPWARD, false))    \
	X(s64_f32_z, "cvt.rzi.s64.f32", "dr", u64, to_int(f32(a), 64, true, FE_TOWARDZERO, true))  \
	X(u64_f32_n, "cvt.rni.u64.f32", "dr", u64, to_int(f32(a), 64, false, FE_TONEAREST, true))  \
	X(s32_f64_z, "cvt.rzi.s32.f64", "rd", u64, to_int(f64(a), 32, true, FE_TOWARDZERO, true))  \
	X(u32_f64_n, "cvt.rni.u32.f64", "rd", u64, to_int(f64(a), 32, false, FE_TONEAREST, true))  \
	X(s64_f64_d, "cvt.rmi.s64.f64", "dd", u64, to_int(f64(a), 64, true, FE_DOWNWARD, true))    \
	X(f32_s64, "cvt.rn.f32.s64", "rd", u64, w32((float)(int64_t)a))                            \
	X(f64_u64, "cvt.rn.f64.u64", "dd", u64, w64((double)a))                                    \
	X(ceil32, "cvt.rpi.f32.f32", "rr", u64, w32(ceilf(f32(a))))                                \
	X(trunc32, "cvt.rzi.f32.f32", "rr", u64, w32(truncf(f32(a))))                              \
	X(rint32, "cvt.rni.f32.f32", "rr", u64, w32(nearbyintf(f32(a))))                           \
	X(s16_f32, "cvt.rzi.s16.f32", "hr", u64, to_int(f32(a), 16, true, FE_TOWARDZERO, false))   \
	X(floor32, "cvt.rmi.f32.f32", "rr", u64, w32(floorf(f32(a))))                              \
	X(rint64, "cvt.rni.f64.f64", "dd", u64, N64(nearbyint(f64(a))))                            \
	X(sat32, "cvt.sat.f32.f32", "rr", u64, sat32(a))                                           \
	X(tf32, "cvt.rna.tf32.f32", "rr", u64,                                                     \
	  (a & 0x7fffffff) < 0x7f800000 ? (a + 0x1000) & ~0x1fffull : a & ~0x1fffull)              \
	X(tf32_rn, "cvt.rn.tf32.f32", "rr", u64,                                                   \
	  f32(a) != f32(a) ? 0x7fffe000                                                            \
			   : round_to(f32(a), 8, 10, FE_TONEAREST) << 13 | (a & 0x80000000))

static bool same_nan(u64 v)
{
	return (v & UINT64_C(0x7ff0000000000000)) == UINT64_C(0x7ff0000000000000) && v << 12;
}

SINGLE(CONFORMANCE_CASE)
DOUBLE(CONFORMANCE_CASE)
HALVES(CONFORMANCE_CASE)
CONVERT(CONFORMANCE_CASE)

TS_TEST(single)
{
	static const struct conformance cases[] = {SINGLE(CONFORMANCE_ROW)};

	conformance_all(cases, sizeof(cases) / sizeof(cases[0]));
}

TS_TEST(doubles)
{
	static const struct conformance cases[] = {DOUBLE(CONFORMANCE_ROW)};

	conformance_nan64 = same_nan;
	conformance_all(cases, sizeof(cases) / sizeof(cases[0]));
}

TS_TEST(halves)
{
	static const struct conformance cases[] = {HALVES(CONFORMANCE_ROW)};

	conformance_all(cases, sizeof(cases) / sizeof(cases[0]));
}

TS_TEST(convert)
{
	static const struct conformance cases[] = {CONVERT(CONFORMANCE_ROW)};

	conformance_nan64 = same_nan;
	conformance_all(cases, sizeof(cases) / sizeof(cases[0]));
}

/*
 * The engine must meet the bounds of its README.md; a driver, which may use hardware, those of the
 * ISA.
 */
struct bounds {
	double relative, absolute;
};
#ifdef TS_TEST_DEVICE
#define OVER_DRIVER true
#else
#define OVER_DRIVER false
#endif
#define WITHIN(engine_relative, engine_absolute, isa_relative, isa_absolute) \
	(OVER_DRIVER ? (struct bounds){isa_relative, isa_absolute}           \
		     : (struct bounds){engine_relative, engine_absolute})
#define NO_BOUND 2 /* the ISA gives no bound for this angle; the result lies in [-1, 1] */

static void approximate(const char *op, double (*exact)(double), double low, double high,
			struct bounds bounds)
{
	enum {
		N = 4096
	};
	struct conformance c = {op, "rr", NULL};
	struct conformance_wrong wrong = {op, 0};
	struct device d;
	char text[4096];
	u64 o, in;
	float *x, *y;

	conformance_text(&c, text, sizeof(text));
	device_open(&d, text);
	if (!device_loaded(&d))
		return;
	o = device_alloc(&d, N * 8);
	in = device_alloc(&d, N * 8);
	for (int i = 0; i < N; i++)
		*(float *)((u64 *)device_host(&d, in) + i) =
			(float)(low + (high - low) * i / (N - 1));
	DEVICE_RUN(&d, "k", N / 128, 128, o, in, in, in);
	for (int i = 0; i < N; i++) {
		x = (float *)((u64 *)device_host(&d, in) + i);
		y = (float *)((u64 *)device_host(&d, o) + i);
		double want = exact((double)*x), error = fabs((double)*y - want);

		if (!(error <= bounds.absolute || error <= bounds.relative * fabs(want)) &&
		    conformance_print(&wrong))
			fprintf(stderr, "%s of %a: %a, not %a\n", op, (double)*x, (double)*y, want);
	}
	conformance_end(&wrong);
	device_close(&d);
}

static double exact_rsqrt(double x)
{
	return 1 / sqrt(x);
}

static double exact_rcp(double x)
{
	return 1 / x;
}

#define LG2(low, high, relative, absolute) \
	approximate("lg2.approx.f32", log2, low, high, WITHIN(relative, absolute, 0x1p-22, 0x1p-22))

TS_TEST(approximations)
{
	const double near = exp2(-20.5), far = exp2(-14.7);

	approximate("sin.approx.f32", sin, -3.2, 3.2, WITHIN(0x1p-23, 0x1p-26, 0, near));
	approximate("cos.approx.f32", cos, -3.2, 3.2, WITHIN(0x1p-23, 0x1p-26, 0, near));
	approximate("sin.approx.f32", sin, -314, 314, WITHIN(0x1.001p-24, 0x1p-40, 0, far));
	approximate("cos.approx.f32", cos, -314, 314, WITHIN(0x1.001p-24, 0x1p-40, 0, far));
	approximate("sin.approx.f32", sin, -0x1p19, 0x1p19,
		    WITHIN(0x1.001p-24, 0x1p-40, 0, NO_BOUND));
	approximate("cos.approx.f32", cos, -0x1p19, 0x1p19,
		    WITHIN(0x1.001p-24, 0x1p-40, 0, NO_BOUND));
	approximate("sin.approx.f32", sin, 0x1p18, 0x1p30, WITHIN(0x1p-23, 0, 0, NO_BOUND));
	approximate("cos.approx.f32", cos, 0x1p18, 0x1p30, WITHIN(0x1p-23, 0, 0, NO_BOUND));
	approximate("sin.approx.f32", sin, -0x1p-100, 0x1p-120, WITHIN(0x1.001p-24, 0, 0, near));
	/* The ISA permits 2 ulp from the correctly rounded value. */
	approximate("ex2.approx.f32", exp2, -100, 100, WITHIN(0x1p-23, 0, 0x1.4p-22, 0));
	approximate("ex2.approx.f32", exp2, -126, 127.99, WITHIN(0x1.001p-24, 0, 0x1.4p-22, 0));
	LG2(0.01, 0.5, 0x1p-23, 0x1p-26);
	LG2(2, 100, 0x1p-23, 0x1p-26);
	LG2(0.99, 1.01, 0x1.001p-24, 0);
	LG2(0x1p-149, 0x1p-120, 0x1.001p-24, 0);
	LG2(1, 0x1.fffffep127, 0x1.001p-24, 0);
	approximate("tanh.approx.f32", tanh, -5, 5, WITHIN(0x1p-23, 0, 0x1p-11, 0));
	approximate("rsqrt.approx.f32", exact_rsqrt, 0.001, 1000,
		    WITHIN(0x1p-23, 0, exp2(-22.9), 0));
	approximate("rcp.approx.ftz.f32", exact_rcp, 0.001, 1000, WITHIN(0x1p-23, 0, 0x1p-23, 0));
	approximate("sqrt.approx.f32", sqrt, 0, 1000, WITHIN(0x1p-23, 0, 0x1p-23, 0));
}

/*
 * Approximate functions return the special values in the ISA's tables, and are exact for inputs
 * whose result is exact.
 */
TS_TEST(special_values_of_approximations)
{
	static const struct {
		const char *op;
		float in, out;
	} cases[] = {
		{"sin.approx.f32", INFINITY, NAN},
		{"sin.approx.f32", NAN, NAN},
		{"sin.approx.f32", -0x1p-149f, -0.0f},
		{"sin.approx.f32", -0.0f, -0.0f},
		{"cos.approx.f32", -0x1p-149f, 1},
		{"sin.approx.ftz.f32", -0x1p-149f, -0.0f},
		{"cos.approx.f32", -INFINITY, NAN},
		{"cos.approx.f32", 0, 1},
		{"ex2.approx.f32", -INFINITY, 0},
		{"ex2.approx.f32", -0x1p-149f, 1},
		{"ex2.approx.f32", -0.0f, 1},
		{"ex2.approx.f32", 0, 1},
		{"ex2.approx.f32", INFINITY, INFINITY},
		{"ex2.approx.f32", -0x1.fffffep127f, 0},
		{"ex2.approx.f32", 0x1.fffffep127f, INFINITY},
		{"ex2.approx.f32", 128, INFINITY},
		{"ex2.approx.f32", 127, 0x1p127f},
		{"ex2.approx.f32", -149, 0x1p-149f},
		{"ex2.approx.f32", -140.5f, 0x1.6ap-141f}, /* a denormal has fewer bits */
		{"ex2.approx.f32", -151, 0},
		{"ex2.approx.ftz.f32", -127, 0},
		{"ex2.approx.ftz.f32", -126, 0x1p-126f},
		{"ex2.approx.f32", NAN, NAN},
		{"lg2.approx.f32", -INFINITY, NAN},
		{"lg2.approx.f32", -0x1p-149f, NAN},
		{"lg2.approx.f32", -0.0f, -INFINITY},
		{"lg2.approx.f32", 0, -INFINITY},
		{"lg2.approx.f32", INFINITY, INFINITY},
		{"lg2.approx.f32", 1, 0},
		{"lg2.approx.f32", 0x1p-149f, -149},
		{"lg2.approx.f32", 0x1p127f, 127},
		{"lg2.approx.ftz.f32", 0x1p-149f, -INFINITY},
		{"lg2.approx.ftz.f32", -0x1p-149f, -INFINITY},
		{"lg2.approx.f32", NAN, NAN},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct conformance c = {cases[i].op, "rr", NULL};
		struct device d;
		char text[4096];
		float *y;
		u64 o, in;

		conformance_text(&c, text, sizeof(text));
		device_open(&d, text);
		if (!device_loaded(&d))
			continue;
		o = device_alloc(&d, 32 * 8);
		in = device_alloc(&d, 32 * 8);
		for (int lane = 0; lane < 32; lane++)
			*(float *)((u64 *)device_host(&d, in) + lane) = cases[i].in;
		DEVICE_RUN(&d, "k", 1, 32, o, in, in, in);
		y = (float *)((u64 *)device_host(&d, o) + 31);
		if (w32(*y) != w32(cases[i].out)) {
			fprintf(stderr, "%s of %a: %a, not %a\n", cases[i].op, (double)cases[i].in,
				(double)*y, (double)cases[i].out);
			ts_test_failed();
		}
		device_close(&d);
	}
}
