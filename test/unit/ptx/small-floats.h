/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expected results of floating-point instructions: bits and values, and the exact rounding of wide
 * values to small formats. Rounding is a search, so it does not share code with the engine.
 */
#pragma once

#include <fenv.h>
#include <math.h>

#include "test/unit/ptx/conformance.h"

/* A type of 128 bits. */
#if defined(__aarch64__)
typedef long double float128;
#else
typedef __float128 float128;
#endif

typedef uint64_t u64;
typedef uint32_t u32;

static inline float f32(u64 v)
{
	u32 u = (u32)v;
	float f;

	memcpy(&f, &u, 4);
	return f;
}

static inline double f64(u64 v)
{
	double f;

	memcpy(&f, &v, 8);
	return f;
}

/* Results, with PTX's canonical NaN for singles. */
static inline u64 w32(float f)
{
	u32 u;

	memcpy(&u, &f, 4);
	return f != f ? 0x7fffffff : u;
}

static inline u64 w64(double f)
{
	u64 u;

	memcpy(&u, &f, 8);
	return u;
}

/*
 * For a value that lies exactly between two codes in 128-bit precision: 1, -1 or 0 if the magnitude
 * of the exact value is larger, smaller or equal.
 */
static int tie_side;

/*
 * Returns the exact value of a code of a small format without its sign; infinity counts as the next
 * power of two.
 */
static inline float128 code_value(u64 code, int exponent_bits, int mantissa_bits)
{
	u64 hidden = UINT64_C(1) << mantissa_bits;
	int e = (int)(code >> mantissa_bits), bias = (1 << (exponent_bits - 1)) - 1;
	unsigned __int128 bits = (unsigned __int128)((e ? e : 1) - bias - mantissa_bits + 0x3fff)
				 << 112;
	float128 power;

	memcpy(&power, &bits, sizeof(power));
	return (float128)((code & (hidden - 1)) | (e ? hidden : 0)) * power;
}

/*
 * Rounds a wide value exactly to a small format. Uses a search, so it is independent of the engine.
 */
static inline u64 round_to(float128 x, int exponent_bits, int mantissa_bits, int mode)
{
	u64 top = ((UINT64_C(1) << exponent_bits) - 1) << mantissa_bits, lo = 0, hi = top;
	bool negative = x < 0;
	float128 below, above, magnitude = negative ? -x : x;

	if (x != x)
		return top | ((UINT64_C(1) << mantissa_bits) - 1);
	/* Finds the largest code whose value does not exceed the magnitude. */
	while (lo < hi) {
		u64 mid = lo + (hi - lo + 1) / 2;

		if (code_value(mid, exponent_bits, mantissa_bits) <= magnitude)
			lo = mid;
		else
			hi = mid - 1;
	}
	below = code_value(lo, exponent_bits, mantissa_bits);
	above = code_value(lo + 1, exponent_bits, mantissa_bits);
	if (lo < top && magnitude != below) {
		float128 down = magnitude - below, up = above - magnitude;
		bool away = mode == FE_TONEAREST  ? up < down || (up == down &&
								  (tie_side ? tie_side > 0 : lo & 1))
			    : mode == FE_UPWARD	  ? !negative
			    : mode == FE_DOWNWARD ? negative
						  : false;

		lo += away;
	} else if (lo == top && magnitude - magnitude == 0) {
		bool stays = mode == FE_TOWARDZERO || (mode == FE_UPWARD && negative) ||
			     (mode == FE_DOWNWARD && !negative);

		lo -= stays;
	}
	return lo | (u64)negative << (exponent_bits + mantissa_bits);
}

static inline u64 sign_zero(u64 r, bool negative, int bits)
{
	return r ? r : (u64)negative << (bits - 1);
}

static inline u64 to_half(float128 x, bool negative, int mode)
{
	return sign_zero(round_to(x, 5, 10, mode), negative, 16);
}

static inline u64 to_bf(float128 x, bool negative, int mode)
{
	return sign_zero(round_to(x, 8, 7, mode), negative, 16);
}

static inline double half(u64 h)
{
	int e = (int)(h >> 10 & 31), m = (int)(h & 1023);
	double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);

	return h & 0x8000 ? -v : v;
}

static inline double bf(u64 h)
{
	return (double)f32(h << 16);
}

static inline bool sign_of(double x)
{
	return signbit(x);
}

/* Returns the half unchanged, but the canonical NaN for any NaN. */
static inline u64 quiet(u64 h, double (*value)(u64))
{
	return value(h) != value(h) ? 0x7fff : h;
}

static inline u64 add16(double x, double y, u64 (*to)(float128, bool, int))
{
	volatile double s = x + y;

	return to((float128)x + y, sign_of(s), FE_TONEAREST);
}

static inline u64 mul16(double x, double y, u64 (*to)(float128, bool, int))
{
	return to((float128)x * y, sign_of(x) != sign_of(y), FE_TONEAREST);
}

static inline u64 fma16(double x, double y, double z, u64 (*to)(float128, bool, int))
{
	float128 p = (float128)x * y, s = p + z, t = s - p, lost = (p - (s - t)) + (z - t);

	u64 r;

	/* The part that 113 bits lose only matters for the side of a tie. */
	tie_side = lost != lost || lost == 0 ? 0 : (lost > 0) == (s > 0) ? 1 : -1;
	r = to(s, sign_of(x * y + z), FE_TONEAREST);
	tie_side = 0;
	return r;
}

static inline u64 pair(u64 lo, u64 hi)
{
	return (lo & 0xffff) | (hi & 0xffff) << 16;
}
