// SPDX-License-Identifier: Apache-2.0
/* Compares integer and bit instructions with C, on special and random values. */
#include "test/unit/ptx/conformance.h"

typedef unsigned __int128 u128;
typedef __int128 s128;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

#define ARITHMETIC(X)                                                                       \
	X(add_u16, "add.u16", "hhh", u16, a + b)                                            \
	X(add_s32, "add.s32", "rrr", u32, a + b)                                            \
	X(add_u64, "add.u64", "ddd", u64, a + b)                                            \
	X(add_sat, "add.sat.s32", "rrr", s32, clamp((s64)a + b))                            \
	X(sub_s16, "sub.s16", "hhh", u16, a - b)                                            \
	X(sub_u32, "sub.u32", "rrr", u32, a - b)                                            \
	X(sub_s64, "sub.s64", "ddd", u64, a - b)                                            \
	X(sub_sat, "sub.sat.s32", "rrr", s32, clamp((s64)a - b))                            \
	X(mul_lo_u16, "mul.lo.u16", "hhh", u32, a *b)                                       \
	X(mul_lo_s32, "mul.lo.s32", "rrr", u32, a *b)                                       \
	X(mul_lo_u64, "mul.lo.u64", "ddd", u64, a *b)                                       \
	X(mul_hi_u16, "mul.hi.u16", "hhh", u32, a *b >> 16)                                 \
	X(mul_hi_s16, "mul.hi.s16", "hhh", s16, (s32)a *b >> 16)                            \
	X(mul_hi_u32, "mul.hi.u32", "rrr", u64, a *b >> 32)                                 \
	X(mul_hi_s32, "mul.hi.s32", "rrr", s32, (s64)a *b >> 32)                            \
	X(mul_hi_u64, "mul.hi.u64", "ddd", u64, (u128)a *b >> 64)                           \
	X(mul_hi_s64, "mul.hi.s64", "ddd", s64, (s128)a *b >> 64)                           \
	X(mul_wide_u16, "mul.wide.u16", "rhh", u32, a *b)                                   \
	X(mul_wide_s16, "mul.wide.s16", "rhh", s16, (s32)a *b)                              \
	X(mul_wide_u32, "mul.wide.u32", "drr", u64, a *b)                                   \
	X(mul_wide_s32, "mul.wide.s32", "drr", s32, (s64)a *b)                              \
	X(mad_lo_s16, "mad.lo.s16", "hhhh", u32, a *b + c)                                  \
	X(mad_lo_u32, "mad.lo.u32", "rrrr", u32, a *b + c)                                  \
	X(mad_lo_s64, "mad.lo.s64", "dddd", u64, a *b + c)                                  \
	X(mad_hi_u32, "mad.hi.u32", "rrrr", u64, (a * b >> 32) + c)                         \
	X(mad_hi_s32, "mad.hi.s32", "rrrr", s32, (u64)((s64)a * b >> 32) + (u64)c)          \
	X(mad_hi_u64, "mad.hi.u64", "dddd", u64, (u64)((u128)a * b >> 64) + c)              \
	X(mad_hi_sat, "mad.hi.sat.s32", "rrrr", s32, clamp(((s64)a * b >> 32) + c))         \
	X(mad_wide_u32, "mad.wide.u32", "drrd", u64, a *b + c)                              \
	X(mad_wide_s32, "mad.wide.s32", "drrd", u64, (u64)((s64)(s32)a * (s32)b) + c)       \
	X(mad_wide_s16, "mad.wide.s16", "rhhr", u32, (u32)((s16)a * (s16)b) + c)            \
	X(mul24_lo, "mul24.lo.u32", "rrr", u32, (a & 0xffffff) * (b & 0xffffff))            \
	X(mul24_hi, "mul24.hi.u32", "rrr", u64, (a & 0xffffff) * (b & 0xffffff) >> 16)      \
	X(mul24_s, "mul24.lo.s32", "rrr", s32, (s64)sign24(a) * sign24(b))                  \
	X(mad24_lo, "mad24.lo.u32", "rrrr", u32, (a & 0xffffff) * (b & 0xffffff) + c)       \
	X(sad_u32, "sad.u32", "rrrr", u32, c + (a < b ? b - a : a - b))                     \
	X(sad_s32, "sad.s32", "rrrr", s32, (u64)c + (u64)(a < b ? (s64)b - a : (s64)a - b)) \
	X(div_u16, "div.u16", "hhh", u16, b ? a / b : 0xffff)                               \
	X(div_s16, "div.s16", "hhh", s16, b ? a / b : -1)                                   \
	X(div_u32, "div.u32", "rrr", u32, b ? a / b : UINT32_MAX)                           \
	X(div_s32, "div.s32", "rrr", s32, b ? (s64)a / b : -1)                              \
	X(div_u64, "div.u64", "ddd", u64, b ? a / b : UINT64_MAX)                           \
	X(div_s64, "div.s64", "ddd", s64, b ? (s128)a / b : -1)                             \
	X(rem_u32, "rem.u32", "rrr", u32, b ? a % b : UINT32_MAX)                           \
	X(rem_s32, "rem.s32", "rrr", s32, b ? (s64)a % b : -1)                              \
	X(rem_s64, "rem.s64", "ddd", s64, b ? (s128)a % b : -1)                             \
	X(abs_s16, "abs.s16", "hh", s16, a < 0 ? -a : a)                                    \
	X(abs_s32, "abs.s32", "rr", s32, a < 0 ? -(s64)a : a)                               \
	X(abs_s64, "abs.s64", "dd", s64, a < 0 ? 0 - (u64)a : (u64)a)                       \
	X(neg_s32, "neg.s32", "rr", u32, 0 - a)                                             \
	X(neg_s64, "neg.s64", "dd", u64, 0 - a)                                             \
	X(min_u16, "min.u16", "hhh", u16, a < b ? a : b)                                    \
	X(min_s32, "min.s32", "rrr", s32, a < b ? a : b)                                    \
	X(min_u64, "min.u64", "ddd", u64, a < b ? a : b)                                    \
	X(max_s16, "max.s16", "hhh", s16, a > b ? a : b)                                    \
	X(max_u32, "max.u32", "rrr", u32, a > b ? a : b)                                    \
	X(max_s64, "max.s64", "ddd", s64, a > b ? a : b)                                    \
	X(dp4a_uu, "dp4a.u32.u32", "rrrr", u32, dot4(a, b, c, false, false))                \
	X(dp4a_ss, "dp4a.s32.s32", "rrrr", u32, dot4(a, b, c, true, true))                  \
	X(dp4a_us, "dp4a.u32.s32", "rrrr", u32, dot4(a, b, c, false, true))                 \
	X(dp2a_lo, "dp2a.lo.s32.u32", "rrrr", u32,                                          \
	  c + (u32)((s16)a * (u8)b) + (u32)((s16)(a >> 16) * (u8)(b >> 8)))                 \
	X(dp2a_hi, "dp2a.hi.u32.s32", "rrrr", u32,                                          \
	  c + (u32)((u16)a * (s32)(int8_t)(b >> 16)) +                                      \
		  (u32)((u16)(a >> 16) * (s32)(int8_t)(b >> 24)))

#define BITS(X)                                                                                    \
	X(and32, "and.b32", "rrr", u32, a &b)                                                      \
	X(or64, "or.b64", "ddd", u64, a | b)                                                       \
	X(xor16, "xor.b16", "hhh", u16, a ^ b)                                                     \
	X(not32, "not.b32", "rr", u32, ~a)                                                         \
	X(not64, "not.b64", "dd", u64, ~a)                                                         \
	X(cnot32, "cnot.b32", "rr", u32, !a)                                                       \
	X(and_pred, "and.pred", "ppp", u32, a &b)                                                  \
	X(xor_pred, "xor.pred", "ppp", u32, a ^ b)                                                 \
	X(not_pred, "not.pred", "pp", u32, !a)                                                     \
	X(shl16, "shl.b16", "hhr", u64, b > 15 ? 0 : a << b)                                       \
	X(shl32, "shl.b32", "rrr", u64, b > 31 ? 0 : a << b)                                       \
	X(shl64, "shl.b64", "ddr", u64, b > 63 ? 0 : a << b)                                       \
	X(shr_u16, "shr.u16", "hhr", u64, b > 15 ? 0 : a >> b)                                     \
	X(shr_s16, "shr.s16", "hhr", u64, (s16)a >> (b > 15 ? 15 : b))                             \
	X(shr_u32, "shr.u32", "rrr", u64, b > 31 ? 0 : a >> b)                                     \
	X(shr_s32, "shr.s32", "rrr", u64, (s32)a >> (b > 31 ? 31 : b))                             \
	X(shr_u64, "shr.u64", "ddr", u64, b > 63 ? 0 : a >> b)                                     \
	X(shr_s64, "shr.s64", "ddr", u64, (s64)a >> (b > 63 ? 63 : b))                             \
	X(shf_l_wrap, "shf.l.wrap.b32", "rrrr", u64, ((b << 32 | a) << (c & 31)) >> 32)            \
	X(shf_l_clamp, "shf.l.clamp.b32", "rrrr", u64, ((b << 32 | a) << (c > 32 ? 32 : c)) >> 32) \
	X(shf_r_wrap, "shf.r.wrap.b32", "rrrr", u64, (b << 32 | a) >> (c & 31))                    \
	X(shf_r_clamp, "shf.r.clamp.b32", "rrrr", u64, (b << 32 | a) >> (c > 32 ? 32 : c))         \
	X(prmt, "prmt.b32", "rrrr", u64, permute(b << 32 | a, (u32)c))                             \
	X(popc32, "popc.b32", "rr", u32, count(a))                                                 \
	X(popc64, "popc.b64", "rd", u64, count(a))                                                 \
	X(clz32, "clz.b32", "rr", u32, 32 - length(a))                                             \
	X(clz64, "clz.b64", "rd", u64, 64 - length(a))                                             \
	X(brev32, "brev.b32", "rr", u32, reverse(a, 32))                                           \
	X(brev64, "brev.b64", "dd", u64, reverse(a, 64))                                           \
	X(bfind_u32, "bfind.u32", "rr", u32, length(a) - 1)                                        \
	X(bfind_s32, "bfind.s32", "rr", s32, length((u32)(a < 0 ? ~a : a)) - 1)                    \
	X(bfind_amt, "bfind.shiftamt.u32", "rr", u32, a ? 32 - length(a) : UINT32_MAX)             \
	X(bfind_s64, "bfind.s64", "rd", s64, length((u64)(a < 0 ? ~a : a)) - 1)                    \
	X(bfe_u32, "bfe.u32", "rrrr", u32, extract(a, b, c, 32, false))                            \
	X(bfe_s32, "bfe.s32", "rrrr", u32, extract(a, b, c, 32, true))                             \
	X(bfe_u64, "bfe.u64", "ddrr", u64, extract(a, (u32)b, (u32)c, 64, false))                  \
	X(bfe_s64_1, "bfe.s64", "ddr1", u64, extract(a, (u32)b, 1, 64, true))                      \
	X(bfe_s64_9, "bfe.s64", "ddr9", u64, extract(a, (u32)b, 9, 64, true))                      \
	X(bfi_32, "bfi.b32", "rrrr9", u32, insert(a, b, c, 9, 32))                                 \
	X(bfi_64, "bfi.b64", "dddr9", u64, insert(a, b, (u32)c, 9, 64))                            \
	BITS_VIRTUAL(X)                                                                            \
	X(bmsk_clamp, "bmsk.clamp.b32", "rrr", u64,                                                \
	  a > 31 ? 0 : (((u128)1 << (b > 32 ? 32 : b)) - 1) << a)                                  \
	X(bmsk_wrap, "bmsk.wrap.b32", "rrr", u64, ((UINT64_C(1) << (b & 31)) - 1) << (a & 31))     \
	X(szext_u, "szext.clamp.u32", "rrr", u64, b > 31 ? a : a & ((UINT64_C(1) << b) - 1))       \
	X(szext_s, "szext.wrap.s32", "rrr", u32,                                                   \
	  (b & 31) ? (u32)((s32)(a << (32 - (b & 31))) >> (32 - (b & 31))) : 0)                    \
	X(selp32, "selp.b32", "rrrp", u32, c ? a : b)                                              \
	X(selp64, "selp.f64", "dddp", u64, c ? a : b)                                              \
	X(slct32, "slct.u32.s32", "rrrr", u32, (s32)c >= 0 ? a : b)                                \
	X(slct64, "slct.s64.s32", "dddr", u64, (s32)(u32)c >= 0 ? a : b)

/*
 * For a field whose length is in a register, the vendor's compiler (ptxas 13.0) ignores the sign:
 * it shifts the field by the length. If the length is a constant, it shifts by one bit less. The
 * virtual GPU follows the ISA.
 */
#ifdef TS_TEST_DEVICE
#define BITS_VIRTUAL(X)
#else
#define BITS_VIRTUAL(X) X(bfe_s64, "bfe.s64", "ddrr", u64, extract(a, (u32)b, (u32)c, 64, true))
#endif

#define COMPARE(X)                                                                   \
	X(eq_u16, "setp.eq.u16", "phh", u16, a == b)                                 \
	X(lt_s16, "setp.lt.s16", "phh", s16, a < b)                                  \
	X(ne_b32, "setp.ne.b32", "prr", u32, a != b)                                 \
	X(lt_u32, "setp.lt.u32", "prr", u32, a < b)                                  \
	X(le_s32, "setp.le.s32", "prr", s32, a <= b)                                 \
	X(gt_s32, "setp.gt.s32", "prr", s32, a > b)                                  \
	X(hs_u32, "setp.hs.u32", "prr", u32, a >= b)                                 \
	X(lo_u64, "setp.lo.u64", "pdd", u64, a < b)                                  \
	X(ge_s64, "setp.ge.s64", "pdd", s64, a >= b)                                 \
	X(and_s32, "setp.lt.and.s32", "prrp", u32, (s32)a < (s32)b && c)             \
	X(xor_u32, "setp.gt.xor.u32", "prrp", u32, (a > b) ^ c)                      \
	X(set_u32, "set.lt.u32.s32", "rrr", s32, a < b ? UINT32_MAX : 0)             \
	X(set_f32, "set.ge.f32.u32", "rrr", u32, a >= b ? 0x3f800000 : 0)            \
	X(cvt_u8, "cvt.u32.u8", "rr", u32, (uint8_t)a)                               \
	X(cvt_s8, "cvt.s32.s8", "rr", u32, (int8_t)a)                                \
	X(cvt_s16, "cvt.s64.s16", "dh", u16, (s16)a)                                 \
	X(cvt_down, "cvt.u16.u64", "hd", u64, a)                                     \
	X(cvt_narrow, "cvt.s8.s32", "rr", u32, (int8_t)a)                            \
	X(cvt_up, "cvt.s64.s32", "dr", u32, (s32)a)                                  \
	X(cvt_up_u, "cvt.u64.u32", "dr", u32, a)                                     \
	X(cvt_mixed, "cvt.u64.s32", "dr", u32, (u64)(s64)(s32)a)                     \
	X(cvt_sat, "cvt.sat.s8.s32", "rr", s32, a > 127 ? 127 : a < -128 ? -128 : a) \
	X(cvt_sat_u, "cvt.sat.u16.s32", "hr", s32, a<0 ? 0 : a> 65535 ? 65535 : a)   \
	X(cvt_sat_64, "cvt.sat.s32.u64", "rd", u64, a > INT32_MAX ? INT32_MAX : a)

typedef uint8_t u8;

static s32 clamp(s64 x)
{
	return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (s32)x;
}

static s32 sign24(s32 x)
{
	x &= 0xffffff;
	return x & 0x800000 ? x - 0x1000000 : x;
}

static u32 dot4(u32 a, u32 b, u32 c, bool sa, bool sb)
{
	for (int i = 0; i < 4; i++) {
		s32 x = (s32)(a >> 8 * i & 255), y = (s32)(b >> 8 * i & 255);

		x = sa && x > 127 ? x - 256 : x;
		y = sb && y > 127 ? y - 256 : y;
		c += (u32)(x * y);
	}
	return c;
}

static u32 count(u64 x)
{
	u32 n = 0;

	for (; x; x &= x - 1)
		n++;
	return n;
}

static u32 length(u64 x)
{
	u32 n = 0;

	for (; x; x >>= 1)
		n++;
	return n;
}

static u64 reverse(u64 x, int width)
{
	u64 r = 0;

	for (int i = 0; i < width; i++)
		r |= (x >> i & 1) << (width - 1 - i);
	return r;
}

static u32 permute(u64 bytes, u32 c)
{
	u32 r = 0;

	for (int i = 0; i < 4; i++) {
		u32 sel = c >> 4 * i & 15;
		u8 byte = (u8)(bytes >> 8 * (sel & 7));

		if (sel & 8)
			byte = byte & 0x80 ? 255 : 0;
		r |= (u32)byte << 8 * i;
	}
	return r;
}

/*
 * Extracts a field by the ISA's own loop, bit by bit. Beyond the ISA's range of 0 to 255, GPUs use
 * the whole count if a has 64 bits.
 */
static u64 extract(u64 a, u32 b, u32 c, u32 width, bool is_signed)
{
	u32 pos = width == 32 ? b & 255 : b < 255 ? b : 255;
	u32 len = width == 32 ? c & 255 : c < 255 ? c : 255;
	u32 top = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
	u64 sign = !is_signed || !len ? 0 : a >> top & 1, r = 0;

	for (u32 i = 0; i < width; i++)
		r |= (i < len && pos + i < width ? a >> (pos + i) & 1 : sign) << i;
	return r;
}

static u64 insert(u64 a, u64 b, u32 c, u32 len, u32 width)
{
	u32 pos = width == 32 ? c & 255 : c < 255 ? c : 255;

	for (u32 i = 0; i < len && pos + i < width; i++)
		b = (b & ~(UINT64_C(1) << (pos + i))) | (a >> i & 1) << (pos + i);
	return b;
}

ARITHMETIC(CONFORMANCE_CASE)
BITS(CONFORMANCE_CASE)
COMPARE(CONFORMANCE_CASE)

TS_TEST(arithmetic)
{
	static const struct conformance cases[] = {ARITHMETIC(CONFORMANCE_ROW)};

	conformance_all(cases, sizeof(cases) / sizeof(cases[0]));
}

TS_TEST(bits)
{
	static const struct conformance cases[] = {BITS(CONFORMANCE_ROW)};

	conformance_all(cases, sizeof(cases) / sizeof(cases[0]));
}

TS_TEST(compare_and_convert)
{
	static const struct conformance cases[] = {COMPARE(CONFORMANCE_ROW)};

	conformance_all(cases, sizeof(cases) / sizeof(cases[0]));
}

/*
 * Instructions that the tables above cannot describe: four operands, lookup tables, chains of
 * carries.
 */
TS_TEST(odd_forms)
{
	static const char text[] = PTX_HEAD
		".visible .entry k(.param .u64 po) {\n"
		".reg .b32 %r<40>; .reg .b64 %d<20>;\n"
		"ld.param.u64 %d0, [po];\n"
		"mov.u32 %r0, 0x12345678; mov.u32 %r1, 0xf0f0f0f0; mov.u32 %r2, 0xff00ff00;\n"
		"lop3.b32 %r3, %r0, %r1, %r2, 0xca; st.global.u32 [%d0], %r3;\n"
		"bfi.b32 %r4, %r0, %r1, 4, 12; st.global.u32 [%d0+4], %r4;\n"
		"mov.u32 %r5, 0xffffffff; mov.u32 %r6, 1; mov.u32 %r7, 0;\n"
		"add.cc.u32 %r8, %r5, %r6; addc.cc.u32 %r9, %r5, %r7; addc.u32 %r10, %r7, %r7;\n"
		"st.global.u32 [%d0+8], %r8; st.global.u32 [%d0+12], %r9; st.global.u32 [%d0+16], %r10;\n"
		"sub.cc.u32 %r11, %r7, %r6; subc.u32 %r12, %r6, %r7;\n"
		"st.global.u32 [%d0+20], %r11; st.global.u32 [%d0+24], %r12;\n"
		"mad.lo.cc.u32 %r13, %r5, %r5, %r5; madc.hi.u32 %r14, %r5, %r5, %r6;\n"
		"st.global.u32 [%d0+28], %r13; st.global.u32 [%d0+32], %r14;\n"
		"fns.b32 %r15, %r1, 0, 3; fns.b32 %r16, %r1, 31, -2;\n"
		"st.global.u32 [%d0+36], %r15; st.global.u32 [%d0+40], %r16;\n"
		"mov.b64 %d1, {%r0, %r1}; mov.b64 {%r17, %r18}, %d1;\n"
		"st.global.v2.u32 [%d0+48], {%r18, %r17};\n"
		"prmt.b32.b4e %r19, %r0, %r1, 1; st.global.u32 [%d0+56], %r19;\n"
		"cvt.pack.sat.s8.s32.b32 %r20, %r0, %r5, %r7; st.global.u32 [%d0+60], %r20;\n"
		/* A subtraction sets the carry for addc if it does not borrow. */
		"sub.cc.u32 %r21, %r6, %r7; addc.u32 %r22, %r7, %r7; sub.cc.u32 %r21, %r7, %r6; addc.u32 %r23, %r7, %r7;\n"
		"st.global.v2.u32 [%d0+64], {%r22, %r23};\n"
		"ret; }\n";
	struct device d;
	uint64_t o;
	uint32_t *r;

	device_open(&d, text);
	o = device_alloc(&d, 256);
	DEVICE_RUN(&d, "k", 1, 1, o);
	r = device_host(&d, o);
	ts_check_int(r[0], (0x12345678 & 0xf0f0f0f0) | (~0x12345678u & 0xff00ff00));
	ts_check_int(r[1], (0xf0f0f0f0 & ~0xfff0u) | 0x6780);
	ts_check_int(r[2], 0);
	ts_check_int(r[3], 0);
	ts_check_int(r[4], 1);
	ts_check_int(r[5], 0xffffffff);
	ts_check_int(r[6], 0);
	ts_check_int(r[7], 0); /* 0xfffffffe00000001's low half + 0xffffffff carries */
	ts_check_int(r[8], 0); /* 0xfffffffe + 1 and the carry */
	ts_check_int(r[9], 6);
	ts_check_int(r[10], 30);
	ts_check_int(r[12], 0xf0f0f0f0);
	ts_check_int(r[13], 0x12345678);
	ts_check_int(r[14], 0xf0f07856);
	ts_check_int(r[15], 0x7fff);
	ts_check_int(r[16], 1);
	ts_check_int(r[17], 0);
	device_close(&d);
}
