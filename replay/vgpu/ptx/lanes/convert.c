// SPDX-License-Identifier: Apache-2.0
/*
 * Converts one value between all scalar types of PTX. Floats pass through double, which represents
 * every narrower float exactly. Each float is rounded once, by integer arithmetic on the
 * significand, so the host's rounding mode does not matter. exec-cvt.c and mma.c call this file.
 */
#include <math.h>

#include "replay/vgpu/ptx/lanes/convert.h"
#include "replay/vgpu/ptx/lanes/half.h"

/* True if dropping `rest` (half of the last place: `half`) rounds the magnitude up. */
static bool round_up(uint64_t rest, uint64_t half, bool odd, bool negative,
		     enum ts_ptx_rounding rounding)
{
	switch (rounding) {
	case ROUND_RZ:
		return false;
	case ROUND_RM:
		return negative && rest;
	case ROUND_RP:
		return !negative && rest;
	case ROUND_RNA:
		return rest >= half;
	default:
		return rest > half || (rest == half && odd);
	}
}

uint64_t ts_ptx_round_float(double x, unsigned exponent_bits, unsigned mantissa_bits,
			    enum ts_ptx_rounding rounding)
{
	uint64_t bits = ts_ptx_bits64(x), sign = bits >> 63,
		 fraction = bits & ((UINT64_C(1) << 52) - 1);
	uint64_t out_sign = sign << (exponent_bits + mantissa_bits);
	uint64_t infinity = ((UINT64_C(1) << exponent_bits) - 1) << mantissa_bits;
	int exponent = (int)(bits >> 52 & 0x7ff) - 1023, bias = (1 << (exponent_bits - 1)) - 1;
	unsigned drop = 52 - mantissa_bits;
	uint64_t kept, rest, half, result;
	int64_t biased;

	if (exponent == 1024)
		return fraction ? infinity | ((UINT64_C(1) << mantissa_bits) - 1)
				: out_sign | infinity;
	if (exponent == -1023 && !fraction)
		return out_sign;
	if (exponent == -1023) /* a denormal double: below the range of every other format */
		exponent = -1022;
	else
		fraction |= UINT64_C(1) << 52;
	biased = exponent + bias;
	if (biased < 1) { /* the result is denormal: drop more bits */
		int64_t more = 1 - biased;

		drop = more > 60 ? 63 : drop + (unsigned)more > 63 ? 63 : drop + (unsigned)more;
		biased = 1;
	}
	kept = fraction >> drop;
	half = drop ? UINT64_C(1) << (drop - 1) : 0;
	rest = drop ? fraction & ((UINT64_C(1) << drop) - 1) : 0;
	if (drop && round_up(rest, half, kept & 1, sign, rounding))
		kept++;
	/* The implicit bit and a carry out of the mantissa increment the exponent. */
	result = ((uint64_t)(biased - 1) << mantissa_bits) + kept;
	if (result >= infinity) {
		bool stays = rounding == ROUND_RZ || (rounding == ROUND_RM && !sign) ||
			     (rounding == ROUND_RP && sign);

		result = stays ? infinity - 1 : infinity;
	}
	return out_sign | result;
}

/*
 * Rounds to an 8-bit float. e4m3 has no infinity and one NaN (0x7f); e5m2 is a short f16. A value
 * beyond the range becomes the largest one with satfinite, else NaN or infinity.
 */
uint8_t ts_ptx_to_fp8(double x, bool e5m2, bool satfinite)
{
	uint8_t sign = signbit(x) ? 0x80 : 0;
	double limit = e5m2 ? 57344 : 448;
	uint64_t r;

	if (x != x)
		return 0x7f;
	if (e5m2) {
		r = ts_ptx_round_float(x, 5, 2, ROUND_RN);
		if ((r & 0x7f) >= 0x7c && satfinite)
			r = sign | 0x7b;
		return (uint8_t)r;
	}
	/*
	 * The top exponent also contains numbers: round with more exponent bits, then move the
	 * bias.
	 */
	if (fabs(x) >= 464) /* halfway to the next value */
		return satfinite ? sign | 0x7e : sign | 0x7f;
	if (fabs(x) > limit)
		return sign | 0x7e;
	if (fabs(x) < 0x1p-6) {
		double q = nearbyint(fabs(x) * 0x1p9);

		return sign | (uint8_t)q;
	}
	r = ts_ptx_round_float(fabs(x), 8, 3, ROUND_RN);
	return sign | (uint8_t)(r - ((127 - 7) << 3));
}

float ts_ptx_from_fp8(uint8_t v, bool e5m2)
{
	float f;

	if (e5m2)
		return ts_ptx_from_f16((uint16_t)(v << 8));
	if ((v & 0x7f) == 0x7f)
		return ts_ptx_float(TS_PTX_NAN_F32);
	if (v & 0x78)
		f = ts_ptx_float(((uint32_t)(v >> 3 & 15) + 120) << 23 | (uint32_t)(v & 7) << 20);
	else
		f = (float)(v & 7) * 0x1p-9f;
	return v & 0x80 ? -f : f;
}

static double to_double(uint64_t bits, enum ts_ptx_type type)
{
	switch (type) {
	case TY_F64:
		return ts_ptx_double(bits);
	case TY_F16:
		return (double)ts_ptx_from_f16((uint16_t)bits);
	case TY_BF16:
		return (double)ts_ptx_from_bf16((uint16_t)bits);
	default:
		return (double)ts_ptx_float((uint32_t)bits);
	}
}

static uint64_t from_double(double x, enum ts_ptx_type type, enum ts_ptx_rounding rounding)
{
	uint64_t r;

	switch (type) {
	case TY_F64:
		return ts_ptx_bits64(x);
	case TY_F16:
		return ts_ptx_round_float(x, 5, 10, rounding);
	case TY_BF16:
		return ts_ptx_round_float(x, 8, 7, rounding);
	case TY_TF32:
		r = ts_ptx_round_float(x, 8, 10, rounding) << 13;
		return x != x ? TS_PTX_NAN_F32 & ~UINT64_C(0x1fff) : r;
	default:
		return ts_ptx_round_float(x, 8, 23, rounding);
	}
}

/*
 * Converts an integer of up to 64 bits, and rounds only once. For double, rounds the integer's own
 * significand. For other types, first makes a double whose last bit records lost bits.
 */
static uint64_t from_integer(uint64_t magnitude, bool negative, enum ts_ptx_type type,
			     enum ts_ptx_rounding rounding)
{
	unsigned length, drop;
	uint64_t rest, half, kept;
	double x;

	if (!magnitude)
		return 0;
	length = 64 - (unsigned)__builtin_clzll(magnitude);
	if (length > 53 && type == TY_F64) {
		drop = length - 53;
		rest = magnitude & ((UINT64_C(1) << drop) - 1);
		half = UINT64_C(1) << (drop - 1);
		kept = magnitude >> drop;
		if (round_up(rest, half, kept & 1, negative, rounding))
			kept++;
		x = ldexp((double)kept, (int)drop);
		return ts_ptx_bits64(negative ? -x : x);
	}
	if (length > 53) { /* sticky bit: the last bit records lost bits */
		drop = length - 53;
		rest = magnitude & ((UINT64_C(1) << drop) - 1);
		x = ldexp((double)(magnitude >> drop | (rest != 0)), (int)drop);
	} else {
		x = (double)magnitude;
	}
	return from_double(negative ? -x : x, type, rounding);
}

static uint64_t to_integer(double x, uint32_t aux)
{
	enum ts_ptx_type to = TS_PTX_CVT_TO(aux), from = TS_PTX_CVT_FROM(aux);
	unsigned width = ts_ptx_types[to].bytes * 8;
	bool is_signed = ts_ptx_types[to].klass == 's';
	double low = is_signed ? -ldexp(1, (int)width - 1) : 0;
	double high = ldexp(1, (int)(is_signed ? width - 1 : width));

	/*
	 * The ISA: "Zero if source is not f64 and destination is not 64 bits wide, otherwise the
	 * top bit."
	 */
	if (x != x)
		return from == TY_F64 || width == 64
			       ? ts_ptx_convert(UINT64_C(1) << (width - 1),
						(uint32_t)to | (uint32_t)to << 5)
			       : 0;
	switch (TS_PTX_CVT_ROUND(aux)) {
	case ROUND_RM:
		x = floor(x);
		break;
	case ROUND_RP:
		x = ceil(x);
		break;
	case ROUND_RZ:
		x = trunc(x);
		break;
	default:
		x = nearbyint(x);
		break;
	}
	if (x < low)
		return is_signed ? (uint64_t)(int64_t)low : 0;
	if (x >= high)
		return is_signed     ? (UINT64_C(1) << (width - 1)) - 1
		       : width == 64 ? UINT64_MAX
				     : (UINT64_C(1) << width) - 1;
	return is_signed ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static uint64_t extend(uint64_t bits, enum ts_ptx_type type)
{
	bool is_signed = ts_ptx_types[type].klass == 's';

	switch (ts_ptx_types[type].bytes) {
	case 1:
		return is_signed ? (uint64_t)(int8_t)bits : (uint8_t)bits;
	case 2:
		return is_signed ? (uint64_t)(int16_t)bits : (uint16_t)bits;
	case 4:
		return is_signed ? (uint64_t)(int32_t)bits : (uint32_t)bits;
	default:
		return bits;
	}
}

static uint64_t saturate_integer(uint64_t v, enum ts_ptx_type from, enum ts_ptx_type to)
{
	unsigned width = ts_ptx_types[to].bytes * 8;
	bool negative = ts_ptx_types[from].klass == 's' && (int64_t)v < 0;
	uint64_t most = ts_ptx_types[to].klass == 's' ? (UINT64_C(1) << (width - 1)) - 1
			: width == 64		      ? UINT64_MAX
						      : (UINT64_C(1) << width) - 1;

	if (negative && ts_ptx_types[to].klass != 's')
		return 0;
	if (negative)
		return (int64_t)v < -(int64_t)most - 1 ? 0 - most - 1 : v;
	return v > most ? most : v;
}

static double flush_denormal(double x, enum ts_ptx_type type)
{
	double least = type == TY_F16 ? 0x1p-14 : 0x1p-126;

	return type != TY_F64 && fabs(x) < least ? copysign(0, x) : x;
}

/* Converts a double's NaN as hardware does: keeps its sign and upper bits, and makes it quiet. */
static uint64_t narrow_nan(uint64_t bits, enum ts_ptx_type to)
{
	unsigned mantissa_bits = to == TY_F16 ? 10 : to == TY_BF16 ? 7 : 23;
	unsigned width = ts_ptx_types[to].bytes * 8;
	uint64_t magnitude = UINT64_MAX >> (65 - width);
	uint64_t infinity = magnitude & ~((UINT64_C(1) << mantissa_bits) - 1);

	return (bits >> 63) << (width - 1) | infinity | UINT64_C(1) << (mantissa_bits - 1) |
	       (bits >> (52 - mantissa_bits) & (magnitude ^ infinity));
}

/* True if no modifier changes a NaN. Then hardware copies the NaN's bits. */
static bool keeps_nan(uint32_t aux)
{
	return !(aux & (TS_PTX_CVT_SAT | TS_PTX_CVT_RELU | TS_PTX_CVT_INTEGER));
}

static uint64_t convert_float(uint64_t bits, uint32_t aux)
{
	enum ts_ptx_type to = TS_PTX_CVT_TO(aux), from = TS_PTX_CVT_FROM(aux);
	enum ts_ptx_rounding rounding = TS_PTX_CVT_ROUND(aux);
	double x = to_double(bits, from);
	uint64_t r;

	if (aux & TS_PTX_CVT_FTZ)
		x = flush_denormal(x, from);
	if (ts_ptx_types[to].klass != 'f')
		return to_integer(x, aux);
	if (x != x && keeps_nan(aux)) {
		if (from == TY_BF16 && to == TY_F32 && !(aux & TS_PTX_CVT_FTZ))
			return (bits & 0xffff) << 16;
		if (to == TY_TF32 && rounding == ROUND_RNA)
			return bits & ~UINT64_C(0x1fff);
		if (from == TY_F64 && (to == TY_F16 || to == TY_BF16 || to == TY_F32))
			return narrow_nan(bits, to);
	}
	if (aux & TS_PTX_CVT_INTEGER) {
		x = rounding == ROUND_RM   ? floor(x)
		    : rounding == ROUND_RP ? ceil(x)
		    : rounding == ROUND_RZ ? trunc(x)
					   : nearbyint(x);
	}
	if (aux & TS_PTX_CVT_SAT)
		x = x > 0 ? (x < 1 ? x : 1) : 0;
	if ((aux & TS_PTX_CVT_RELU) && x < 0)
		x = 0;
	r = from_double(x, to, rounding == ROUND_NONE ? ROUND_RN : rounding);
	if ((aux & TS_PTX_CVT_RELU) && x == 0)
		r = 0;
	if ((aux & TS_PTX_CVT_FTZ) && to == TY_F32 && !(r & 0x7f800000))
		r &= 0x80000000;
	return r;
}

uint64_t ts_ptx_convert(uint64_t bits, uint32_t aux)
{
	enum ts_ptx_type to = TS_PTX_CVT_TO(aux), from = TS_PTX_CVT_FROM(aux);
	uint64_t v, r;

	if (ts_ptx_types[from].klass == 'f')
		return convert_float(bits, aux);
	v = extend(bits, from);
	if (ts_ptx_types[to].klass == 'f') {
		bool negative = ts_ptx_types[from].klass == 's' && (int64_t)v < 0;

		r = from_integer(negative ? 0 - v : v, negative, to, TS_PTX_CVT_ROUND(aux));
		if ((aux & TS_PTX_CVT_SAT) && v)
			r = from_double(negative ? 0 : 1, to, ROUND_RN);
		return r;
	}
	if (aux & TS_PTX_CVT_SAT)
		v = saturate_integer(v, from, to);
	return extend(v, to);
}
