// SPDX-License-Identifier: Apache-2.0
/* Compares video instructions with the ISA's formulas, for bytes, half words and words. */
#include "test/unit/ptx/conformance.h"

typedef uint64_t u64;
typedef uint32_t u32;
typedef int64_t s64;

static s64 part(u64 v, int i, int bits, bool is_signed)
{
	u32 x = (u32)v << (32 - bits * (i + 1)) >> (32 - bits);

	if (bits == 32)
		return is_signed ? (int32_t)x : (s64)x;
	if (!is_signed)
		return x;
	return bits == 8 ? (int8_t)x : (int16_t)x;
}

static s64 clamped(s64 v, s64 low, s64 high)
{
	return v < low ? low : v > high ? high : v;
}

#define EACH(bits, sa, sb, expr)                                                       \
	({                                                                             \
		u32 d_ = 0;                                                            \
		for (int i = 0; i < 32 / (bits); i++) {                                \
			s64 x = part(a, i, bits, sa), y = part(b, i, bits, sb);        \
			d_ |= (u32)((u64)(expr) & ((1u << (bits)) - 1)) << i * (bits); \
		}                                                                      \
		d_;                                                                    \
	})
#define SUM(bits, sa, sb, expr)                                                 \
	({                                                                      \
		u32 d_ = (u32)c;                                                \
		for (int i = 0; i < 32 / (bits); i++) {                         \
			s64 x = part(a, i, bits, sa), y = part(b, i, bits, sb); \
			d_ += (u32)(expr);                                      \
		}                                                               \
		d_;                                                             \
	})
#define ONE(sa, sb, expr)                                           \
	({                                                          \
		s64 x = part(a, 0, 32, sa), y = part(b, 0, 32, sb); \
		(u32)(expr);                                        \
	})
/* GPUs clamp a word's unsigned sum or difference only at its lower bound. */
#define DIFF (x > y ? x - y : y - x)

#define CASES(X)                                                                                 \
	X(a4, "vabsdiff4.u32.u32.u32", "rrrr", u64, EACH(8, 0, 0, DIFF))                         \
	X(a4s, "vabsdiff4.s32.s32.s32", "rrrr", u64, EACH(8, 1, 1, DIFF))                        \
	X(a4sat, "vabsdiff4.s32.s32.s32.sat", "rrrr", u64,                                       \
	  EACH(8, 1, 1, clamped(DIFF, -128, 127)))                                               \
	X(a4add, "vabsdiff4.u32.u32.u32.add", "rrrr", u64, SUM(8, 0, 0, DIFF))                   \
	X(a4adds, "vabsdiff4.u32.s32.s32.add", "rrrr", u64, SUM(8, 1, 1, DIFF))                  \
	X(a2, "vabsdiff2.u32.u32.u32", "rrrr", u64, EACH(16, 0, 0, DIFF))                        \
	X(a2add, "vabsdiff2.u32.u32.u32.add", "rrrr", u64, SUM(16, 0, 0, DIFF))                  \
	X(add2, "vadd2.u32.u32.u32", "rrrr", u64, EACH(16, 0, 0, x + y))                         \
	X(add4, "vadd4.s32.s32.s32.sat", "rrrr", u64, EACH(8, 1, 1, clamped(x + y, -128, 127)))  \
	X(sub2, "vsub2.u32.u32.u32.sat", "rrrr", u64, EACH(16, 0, 0, clamped(x - y, 0, 65535)))  \
	X(sub4, "vsub4.s32.u32.u32", "rrrr", u64, EACH(8, 0, 0, x - y))                          \
	X(avrg2, "vavrg2.s32.s32.s32", "rrrr", u64, EACH(16, 1, 1, (x + y + (x + y >= 0)) >> 1)) \
	X(avrg4, "vavrg4.u32.u32.u32", "rrrr", u64, EACH(8, 0, 0, (x + y + 1) >> 1))             \
	X(min2, "vmin2.s32.s32.s32", "rrrr", u64, EACH(16, 1, 1, x < y ? x : y))                 \
	X(min4, "vmin4.u32.u32.u32", "rrrr", u64, EACH(8, 0, 0, x < y ? x : y))                  \
	X(max2, "vmax2.u32.u32.s32", "rrrr", u64, EACH(16, 0, 1, x > y ? x : y))                 \
	X(max4, "vmax4.s32.s32.s32.add", "rrrr", u64, SUM(8, 1, 1, x > y ? x : y))               \
	X(set2, "vset2.s32.s32.lt", "rrrr", u64, EACH(16, 1, 1, x < y))                          \
	X(set4, "vset4.u32.u32.ge.add", "rrrr", u64, SUM(8, 0, 0, x >= y))                       \
	X(vadd, "vadd.s32.s32.s32.sat", "rrr", u64,                                              \
	  ONE(1, 1, clamped(x + y, INT32_MIN, INT32_MAX)))                                       \
	X(vaddu, "vadd.u32.u32.s32.sat.add", "rrrr", u64,                                        \
	  ONE(0, 1, x + y < 0 ? 0 : x + y) + (u32)c)                                             \
	X(vsubu, "vsub.u32.s32.u32.sat", "rrr", u64, ONE(1, 0, x - y < 0 ? 0 : x - y))           \
	X(vabsdiffu, "vabsdiff.u32.u32.s32.sat", "rrr", u64, ONE(0, 1, DIFF))                    \
	X(vabsdiffs, "vabsdiff.s32.u32.u32.sat", "rrr", u64,                                     \
	  ONE(0, 0, clamped(DIFF, INT32_MIN, INT32_MAX)))                                        \
	X(vsub, "vsub.s32.u32.u32.max", "rrrr", u64,                                             \
	  ONE(0, 0, (int32_t)(u32)(x - y) > (int32_t)(u32)c ? x - y : (s64)c))                   \
	X(vabsdiff, "vabsdiff.u32.s32.s32.add", "rrrr", u64, ONE(1, 1, DIFF) + (u32)c)           \
	X(vmin, "vmin.s32.s32.s32", "rrr", u64, ONE(1, 1, x < y ? x : y))                        \
	X(vmax, "vmax.u32.u32.u32.min", "rrrr", u64,                                             \
	  ONE(0, 0, (x > y ? x : y) < (s64)(u32)c ? (x > y ? x : y) : (s64)c))                   \
	X(vshl, "vshl.u32.u32.u32.clamp.add", "rrrr", u64,                                       \
	  (u32)(b > 31 ? 0 : (u32)a << b) + (u32)c)                                              \
	X(vshlw, "vshl.u32.u32.u32.wrap", "rrr", u64, (u32)a << (b & 31))                        \
	X(vshr, "vshr.s32.s32.u32.clamp", "rrr", u64, ONE(1, 0, x >> (y > 32 ? 32 : y)))         \
	X(vset, "vset.s32.u32.ne", "rrr", u64, ONE(1, 0, x != y))                                \
	X(vmad, "vmad.u32.u32.u32", "rrrr", u64, (u32)((u32)a * b + c))                          \
	X(vmads, "vmad.s32.s32.s32.sat.shr7", "rrrr", u64,                                       \
	  ONE(1, 1, clamped((x * y + (int32_t)(u32)c) >> 7, INT32_MIN, INT32_MAX)))              \
	X(vmad15, "vmad.s32.s32.s32.shr15", "rrrr", u64, ONE(1, 1, (x * y + (int32_t)(u32)c) >> 15))
CASES(CONFORMANCE_CASE)

TS_TEST(video)
{
	static const struct conformance cases[] = {CASES(CONFORMANCE_ROW)};

	conformance_all(cases, sizeof(cases) / sizeof(cases[0]));
}
