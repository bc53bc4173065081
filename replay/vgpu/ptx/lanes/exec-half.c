// SPDX-License-Identifier: Apache-2.0
/*
 * Arithmetic on f16 and bf16, single and packed. Sums and products are exact enough in float for
 * one rounding; fma rounds to odd first (half.h). Packed forms compute both halves of a word. The
 * interpreter's loop calls these functions through the optable.
 */
#include "replay/vgpu/ptx/lanes/half.h"
#include "replay/vgpu/ptx/lanes/lanes.h"

/* Flushes one f16 value to zero if it is denormal and `mode`, the instruction's modes, has FTZ. */
static inline uint16_t flush16(uint16_t h, uint32_t mode)
{
	return (mode & TS_PTX_MODE_FTZ) && !(h & 0x7c00) ? h & 0x8000 : h;
}

static inline uint16_t done16(uint16_t h, uint32_t mode)
{
	uint16_t clamped = h > 0x7c00 ? 0 : h > 0x3c00 ? 0x3c00 : h; /* negative values and NaN */

	h = flush16(h, mode);
	return mode & TS_PTX_MODE_SAT ? clamped : h;
}

static inline uint16_t done16b(uint16_t h, uint32_t mode)
{
	uint16_t clamped = h > 0x7f80 ? 0 : h > 0x3f80 ? 0x3f80 : h;

	return mode & TS_PTX_MODE_SAT ? clamped : h;
}

#define MODE in->space

#define FORMATS(X)                                                              \
	X(f16, ts_ptx_from_f16, ts_ptx_to_f16, flush16, done16, 0x7fff, 0x7c00) \
	X(bf16, ts_ptx_from_bf16, ts_ptx_to_bf16, keep16, done16b, 0x7fff, 0x7f80)

static inline uint16_t keep16(uint16_t h, uint32_t mode)
{
	(void)mode;
	return h;
}

#define ARITHMETIC(t, from, to, in_, out_, nan_, infinity)                                        \
	static inline uint16_t add1_##t(uint16_t a, uint16_t b, uint32_t mode)                    \
	{                                                                                         \
		return out_(to(from(in_(a, mode)) + from(in_(b, mode))), mode);                   \
	}                                                                                         \
	static inline uint16_t sub1_##t(uint16_t a, uint16_t b, uint32_t mode)                    \
	{                                                                                         \
		return out_(to(from(in_(a, mode)) - from(in_(b, mode))), mode);                   \
	}                                                                                         \
	static inline uint16_t mul1_##t(uint16_t a, uint16_t b, uint32_t mode)                    \
	{                                                                                         \
		return out_(to(from(in_(a, mode)) * from(in_(b, mode))), mode);                   \
	}                                                                                         \
	static inline uint16_t fma1_##t(uint16_t a, uint16_t b, uint16_t c, uint32_t mode)        \
	{                                                                                         \
		return out_(ts_ptx_fma_##t(in_(a, mode), in_(b, mode), in_(c, mode)), mode);      \
	}                                                                                         \
	static inline uint16_t relu1_##t(uint16_t a, uint16_t b, uint16_t c, uint32_t mode)       \
	{                                                                                         \
		uint16_t r = fma1_##t(a, b, c, mode);                                             \
                                                                                                  \
		/* A NaN stays NaN, a negative result becomes zero. */                            \
		return from(r) != from(r) ? nan_ : r & 0x8000 ? 0 : r;                            \
	}                                                                                         \
	static inline uint16_t min1_##t(uint16_t a, uint16_t b, uint32_t mode)                    \
	{                                                                                         \
		float x, y;                                                                       \
                                                                                                  \
		a = in_(a, mode);                                                                 \
		b = in_(b, mode);                                                                 \
		x = from(a);                                                                      \
		y = from(b);                                                                      \
		return x != x ? (y != y ? nan_ : b) : y != y ? a : x < y ? a : y < x ? b : a | b; \
	}                                                                                         \
	static inline uint16_t max1_##t(uint16_t a, uint16_t b, uint32_t mode)                    \
	{                                                                                         \
		float x, y;                                                                       \
                                                                                                  \
		a = in_(a, mode);                                                                 \
		b = in_(b, mode);                                                                 \
		x = from(a);                                                                      \
		y = from(b);                                                                      \
		return x != x ? (y != y ? nan_ : b) : y != y ? a : x > y ? a : y > x ? b : a & b; \
	}                                                                                         \
	static inline uint16_t min_nan1_##t(uint16_t a, uint16_t b, uint32_t mode)                \
	{                                                                                         \
		float x = from(a), y = from(b);                                                   \
                                                                                                  \
		return ((x != x) | (y != y)) ? nan_ : min1_##t(a, b, mode);                       \
	}                                                                                         \
	static inline uint16_t max_nan1_##t(uint16_t a, uint16_t b, uint32_t mode)                \
	{                                                                                         \
		float x = from(a), y = from(b);                                                   \
                                                                                                  \
		return ((x != x) | (y != y)) ? nan_ : max1_##t(a, b, mode);                       \
	}                                                                                         \
	static inline uint16_t min_xorsign1_##t(uint16_t a, uint16_t b, uint32_t mode)            \
	{                                                                                         \
		uint16_t r = min1_##t(a & 0x7fff, b & 0x7fff, mode);                              \
		uint16_t sign = (a ^ b) & 0x8000;                                                 \
                                                                                                  \
		return r == nan_ ? nan_ : (r & 0x7fff) | sign;                                    \
	}                                                                                         \
	static inline uint16_t max_xorsign1_##t(uint16_t a, uint16_t b, uint32_t mode)            \
	{                                                                                         \
		uint16_t r = max1_##t(a & 0x7fff, b & 0x7fff, mode);                              \
		uint16_t sign = (a ^ b) & 0x8000;                                                 \
                                                                                                  \
		return r == nan_ ? nan_ : (r & 0x7fff) | sign;                                    \
	}                                                                                         \
	/* The sign of a difference detects a NaN: comparing halves costs twice as much. */       \
	static inline uint16_t neg1_##t(uint16_t a, uint32_t mode)                                \
	{                                                                                         \
		uint32_t negative = in_(a ^ 0x8000, mode), nan = infinity - (a & 0x7fffu);        \
                                                                                                  \
		return (uint16_t)(nan >> 31 ? nan_ : negative);                                   \
	}                                                                                         \
	static inline uint16_t abs1_##t(uint16_t a, uint32_t mode)                                \
	{                                                                                         \
		uint32_t magnitude = in_(a & 0x7fff, mode), nan = infinity - (a & 0x7fffu);       \
                                                                                                  \
		return (uint16_t)(nan >> 31 ? nan_ : magnitude);                                  \
	}
FORMATS(ARITHMETIC)

#define LO(x)	     ((uint16_t)(x))
#define HI(x)	     ((uint16_t)((x) >> 16))
#define JOIN(lo, hi) ((uint32_t)(lo) | (uint32_t)(hi) << 16)
#define OPS1(f, t)                                                   \
	TS_PTX_UNARY(f##_##t, uint32_t, uint16_t, f##1_##t(a, MODE)) \
	TS_PTX_UNARY(f##_##t##x2, uint32_t, uint32_t,                \
		     JOIN(f##1_##t(LO(a), MODE), f##1_##t(HI(a), MODE)))
#define OPS2(f, t)                                                       \
	TS_PTX_BINARY(f##_##t, uint32_t, uint16_t, f##1_##t(a, b, MODE)) \
	TS_PTX_BINARY(f##_##t##x2, uint32_t, uint32_t,                   \
		      JOIN(f##1_##t(LO(a), LO(b), MODE), f##1_##t(HI(a), HI(b), MODE)))
#define OPS3(f, t)                                                           \
	TS_PTX_TERNARY(f##_##t, uint32_t, uint16_t, f##1_##t(a, b, c, MODE)) \
	TS_PTX_TERNARY(f##_##t##x2, uint32_t, uint32_t,                      \
		       JOIN(f##1_##t(LO(a), LO(b), LO(c), MODE),             \
			    f##1_##t(HI(a), HI(b), HI(c), MODE)))
#define ALL(t)               \
	OPS1(neg, t)         \
	OPS1(abs, t)         \
	OPS2(add, t)         \
	OPS2(sub, t)         \
	OPS2(mul, t)         \
	OPS2(min, t)         \
	OPS2(max, t)         \
	OPS2(min_nan, t)     \
	OPS2(max_nan, t)     \
	OPS2(min_xorsign, t) \
	OPS2(max_xorsign, t) \
	OPS3(fma, t)         \
	OPS3(relu, t)
ALL(f16)
ALL(bf16)

#define FILL(family, f)                      \
	t->fn[family][TY_F16] = f##_f16;     \
	t->fn[family][TY_F16X2] = f##_f16x2; \
	t->fn[family][TY_BF16] = f##_bf16;   \
	t->fn[family][TY_BF16X2] = f##_bf16x2

void TS_PTX_FILL(half)(struct ts_ptx_optable *t)
{
	FILL(F_NEG, neg);
	FILL(F_ABS, abs);
	FILL(F_ADD, add);
	FILL(F_SUB, sub);
	FILL(F_MUL, mul);
	FILL(F_MIN, min);
	FILL(F_MAX, max);
	FILL(F_MIN_NAN, min_nan);
	FILL(F_MAX_NAN, max_nan);
	FILL(F_MIN_XORSIGN, min_xorsign);
	FILL(F_MAX_XORSIGN, max_xorsign);
	FILL(F_FMA, fma);
	FILL(F_FMA_RELU, relu);
}
