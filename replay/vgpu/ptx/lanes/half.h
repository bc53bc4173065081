/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Small float formats, in forms that vectorise: f16 and bf16 to float (exact) and from float (to
 * nearest, ties to even), with PTX's canonical NaNs. convert.c has other rounding directions and
 * formats.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#define TS_PTX_NAN_F32	0x7fffffffu
#define TS_PTX_NAN_F16	0x7fffu
#define TS_PTX_NAN_BF16 0x7fffu

static inline float ts_ptx_float(uint32_t bits)
{
	union {
		uint32_t u;
		float f;
	} x = {bits};

	return x.f;
}

static inline uint32_t ts_ptx_bits(float f)
{
	union {
		float f;
		uint32_t u;
	} x = {f};

	return x.u;
}

static inline double ts_ptx_double(uint64_t bits)
{
	union {
		uint64_t u;
		double f;
	} x = {bits};

	return x.f;
}

static inline uint64_t ts_ptx_bits64(double f)
{
	union {
		double f;
		uint64_t u;
	} x = {f};

	return x.u;
}

static inline float ts_ptx_canonical(float f)
{
	return f != f ? ts_ptx_float(TS_PTX_NAN_F32) : f;
}

static inline float ts_ptx_from_f16(uint16_t h)
{
	uint32_t magnitude = (uint32_t)(h & 0x7fff) << 13;
	/* Move the exponent's bias, also for denormals; infinity and NaN keep their exponent. */
	float scaled = ts_ptx_float(magnitude) * 0x1p112f;
	uint32_t bits = (h & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000 : ts_ptx_bits(scaled);

	return ts_ptx_float(bits | (uint32_t)(h & 0x8000) << 16);
}

static inline uint16_t ts_ptx_to_f16(float f)
{
	uint32_t u = ts_ptx_bits(f), magnitude = u & 0x7fffffff, sign = u >> 16 & 0x8000;
	/* Adding 0.5 aligns the last place of a denormal result with the float's and rounds it. */
	uint32_t small = ts_ptx_bits(ts_ptx_float(magnitude) + 0.5f) - 0x3f000000;
	uint32_t normal = (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13;
	uint32_t r = magnitude < 0x38800000 ? small : normal;

	r = magnitude >= 0x47800000 ? 0x7c00 : r;
	r |= sign;
	return (uint16_t)(magnitude > 0x7f800000 ? TS_PTX_NAN_F16 : r);
}

static inline float ts_ptx_from_bf16(uint16_t h)
{
	return ts_ptx_float((uint32_t)h << 16);
}

static inline uint16_t ts_ptx_to_bf16(float f)
{
	uint32_t u = ts_ptx_bits(f);
	uint32_t r = (u + 0x7fff + (u >> 16 & 1)) >> 16;

	return (uint16_t)((u & 0x7fffffff) > 0x7f800000 ? TS_PTX_NAN_BF16 : r);
}

/*
 * Returns a * b + c of narrow formats, rounded to odd in double. So the following rounding to the
 * narrow format gives the same result as one rounding. The product is exact. The error of the sum
 * decides whether its last bit must be set.
 */
static inline double ts_ptx_fma_odd(float a, float b, float c)
{
	double p = (double)a * (double)b, x = (double)c;
	double s = p + x, t = s - p, lost = (p - (s - t)) + (x - t);
	uint64_t bits = ts_ptx_bits64(s);
	/*
	 * If the sum was rounded away from zero, step back: setting the last bit is then rounding
	 * to odd.
	 */
	uint64_t away = (lost < 0) == (s > 0);
	uint64_t odd = (bits & 1) ? bits : away ? (bits - 1) | 1 : bits | 1;

	return lost == 0 || s - s != 0 || lost != lost ? s : ts_ptx_double(odd);
}

/* Converts a double to a float, also rounded to odd. */
static inline float ts_ptx_float_odd(double x)
{
	float f = (float)x;
	uint32_t bits = ts_ptx_bits(f);
	double back = (double)f;
	uint32_t away = (back > x) == (x > 0);
	uint32_t odd = (bits & 1) ? bits : away ? (bits - 1) | 1 : bits | 1;

	return back == x || x != x || f - f != 0 ? f : ts_ptx_float(odd);
}

static inline uint16_t ts_ptx_fma_f16(uint16_t a, uint16_t b, uint16_t c)
{
	return ts_ptx_to_f16(ts_ptx_float_odd(
		ts_ptx_fma_odd(ts_ptx_from_f16(a), ts_ptx_from_f16(b), ts_ptx_from_f16(c))));
}

static inline uint16_t ts_ptx_fma_bf16(uint16_t a, uint16_t b, uint16_t c)
{
	return ts_ptx_to_bf16(ts_ptx_float_odd(
		ts_ptx_fma_odd(ts_ptx_from_bf16(a), ts_ptx_from_bf16(b), ts_ptx_from_bf16(c))));
}
