// SPDX-License-Identifier: Apache-2.0
/*
 * Tests operations of several lanes: shuffles, votes, matches, reductions, and the matrix
 * instructions with their loads and copies.
 */
#include <math.h>

#include "test/unit/ptx/device.h"

#define ENTRY(name)                                                                                  \
	".visible .entry " name "(.param .u64 po, .param .u64 px) {\n"                               \
	".reg .b32 %r<60>; .reg .b64 %d<20>; .reg .pred %p<20>; .reg .f32 %f<9>; .reg .f64 %e<9>;\n" \
	"mov.u32 %r1, %tid.x; ld.param.u64 %d0, [po]; ld.param.u64 %d2, [px];\n"                     \
	"mul.wide.u32 %d1, %r1, 32; add.u64 %d1, %d0, %d1;\n"

static const char text[] = PTX_HEAD ENTRY(
	"shuffle") "mul.lo.u32 %r2, %r1, 100; and.b32 %r3, %r1, 7;\n"
		   "shfl.sync.up.b32 %r10|%p1, %r2, 3, 0, 0xffffffff; shfl.sync.down.b32 %r11|%p2, %r2, 5, 31, 0xffffffff;\n"
		   "shfl.sync.bfly.b32 %r12|%p3, %r2, 9, 0x1f, -1; shfl.sync.idx.b32 %r13|%p4, %r2, %r3, 0x181f, -1;\n"
		   "selp.u32 %r14, 1, 0, %p1; selp.u32 %r15, 2, 0, %p2; selp.u32 %r16, 4, 0, %p3; selp.u32 %r17, 8, 0, %p4;\n"
		   "or.b32 %r14, %r14, %r15; or.b32 %r14, %r14, %r16; or.b32 %r14, %r14, %r17;\n"
		   "shfl.sync.down.b32 %r18, %r2, 2, 0x1807, -1;\n"
		   "st.global.v4.u32 [%d1], {%r10, %r11, %r12, %r13}; st.global.v2.u32 [%d1+16], {%r14, %r18}; ret; }\n" ENTRY(
			   "votes") "rem.u32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 0; vote.sync.ballot.b32 %r10, %p1, 0xffffffff;\n"
				    "vote.sync.any.pred %p2, %p1, -1; vote.sync.all.pred %p3, %p1, -1; vote.sync.uni.pred %p4, %p1, -1;\n"
				    "selp.u32 %r11, 1, 0, %p2; @%p3 add.u32 %r11, %r11, 2; @%p4 add.u32 %r11, %r11, 4;\n"
				    "match.any.sync.b32 %r12, %r2, -1; match.all.sync.b32 %r13|%p5, 7, -1; selp.u32 %r14, 1, 0, %p5;\n"
				    "redux.sync.add.u32 %r15, %r1, -1; neg.s32 %r3, %r1; redux.sync.min.s32 %r16, %r3, -1; redux.sync.max.u32 %r17, %r1, -1;\n"
				    "st.global.v4.u32 [%d1], {%r10, %r11, %r12, %r13}; st.global.v4.u32 [%d1+16], {%r14, %r15, %r16, %r17}; ret; }\n"
	/* Two halves of a warp, each with its own member mask, in diverged code. */
	ENTRY("groups") "setp.lt.u32 %p1, %r1, 16; @%p1 bra A;\n"
			"mov.u32 %r3, 0xffff0000; redux.sync.add.u32 %r2, %r1, 0xffff0000; elect.sync %r4|%p2, 0xffff0000; bra B;\n"
			"A: mov.u32 %r3, 0xffff; redux.sync.add.u32 %r2, %r1, 0xffff; elect.sync %r4|%p2, 0xffff;\n"
			"B: selp.u32 %r5, 1, 0, %p2; shfl.sync.bfly.b32 %r6, %r1, 1, 0x1f, %r3; bar.warp.sync %r3; activemask.b32 %r7;\n"
			"vote.sync.ballot.b32 %r8, 1, %r3; @%p1 shfl.sync.idx.b32 %r9, %r1, 3, 0x1f, 0xffff;\n"
			"st.global.v4.u32 [%d1], {%r2, %r4, %r5, %r6}; st.global.v4.u32 [%d1+16], {%r7, %r8, %r9, %r3}; ret; }\n" ENTRY(
				"mma16")
	/* A is 16 by 16, B 16 by 8, through shared memory, cp.async and ldmatrix, as in CUTLASS. */
	".shared .align 16 .b8 sa[512]; .shared .align 16 .b8 sb[256];\n"
	"mov.u32 %r2, sa; mad.lo.u32 %r3, %r1, 16, %r2; mul.wide.u32 %d3, %r1, 16; add.u64 %d4, %d2, %d3;\n"
	"cp.async.cg.shared.global [%r3], [%d4], 16; mov.u32 %r4, sb; mad.lo.u32 %r5, %r1, 8, %r4;\n"
	"mul.wide.u32 %d5, %r1, 8; add.u64 %d5, %d2, %d5; cp.async.ca.shared.global [%r5], [%d5+512], 8;\n"
	"cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;\n"
	"and.b32 %r6, %r1, 15; shr.u32 %r7, %r1, 4; shl.b32 %r6, %r6, 5; shl.b32 %r7, %r7, 4; add.u32 %r6, %r6, %r7;\n"
	"add.u32 %r6, %r2, %r6; ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r10, %r11, %r12, %r13}, [%r6];\n"
	"and.b32 %r8, %r1, 15; mad.lo.u32 %r8, %r8, 16, %r4; ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r14, %r15}, [%r8];\n"
	"mov.f32 %f1, 0f3F800000; mov.f32 %f2, 0f3F800000; mov.f32 %f3, 0f3F800000; mov.f32 %f4, 0f3F800000;\n"
	"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%f1, %f2, %f3, %f4};\n"
	"st.global.v4.f32 [%d1], {%f1, %f2, %f3, %f4};\n"
	"mov.u32 %r20, 0; mov.u32 %r21, 0;\n"
	"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r22, %r23}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%r20, %r21};\n"
	"st.global.v2.u32 [%d1+16], {%r22, %r23}; ret; }\n" ENTRY(
		"mma8") "mul.wide.u32 %d3, %r1, 16; add.u64 %d4, %d2, %d3; ld.global.v4.u32 {%r10, %r11, %r12, %r13}, [%d4];\n"
			"mul.wide.u32 %d5, %r1, 8; add.u64 %d5, %d2, %d5; ld.global.v2.u32 {%r14, %r15}, [%d5+512]; mov.u32 %r20, 5;\n"
			"mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%r21, %r22, %r23, %r24}, {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%r20, %r20, %r20, %r20};\n"
			"st.global.v4.u32 [%d1], {%r21, %r22, %r23, %r24};\n"
			"ld.global.u64 %d6, [%d5+1024]; mov.b64 %e1, %d6; ld.global.f64 %e2, [%d5+1280]; mov.f64 %e3, 0d3FF0000000000000;\n"
			"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%e4, %e5}, {%e1}, {%e2}, {%e3, %e3}; st.global.v2.f64 [%d1+16], {%e4, %e5}; ret; }\n" ENTRY(
				"mbarrier") ".shared .align 8 .b8 b[8]; .shared .align 4 .b8 s[4]; mov.u32 %r2, b; setp.eq.u32 %p1, %r1, 0;\n"
					    "@%p1 mbarrier.init.shared.b64 [%r2], 64; @%p1 st.shared.u32 [s], 0; bar.sync 0; red.shared.add.u32 [s], 1;\n"
					    "mbarrier.arrive.shared.b64 %d5, [%r2];\n"
					    "W: mbarrier.test_wait.shared.b64 %p2, [%r2], %d5; @!%p2 bra W; ld.shared.u32 %r3, [s]; st.global.u32 [%d1], %r3;\n"
					    "mbarrier.arrive.shared.b64 _, [%r2]; V: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 1; @!%p2 bra V; ret; }\n";

TS_TEST(shuffle)
{
	struct device d;
	uint64_t o;
	uint32_t *r;

	device_open(&d, text);
	o = device_alloc(&d, 1024);
	r = device_host(&d, o);
	DEVICE_RUN(&d, "shuffle", 1, 32, o, 0);
	for (uint32_t t = 0; t < 32; t++) {
		uint32_t *x = r + 8 * t, group = t & ~7u;

		ts_check_int(x[0], 100 * (t >= 3 ? t - 3 : t));
		ts_check_int(x[1], 100 * (t + 5 < 32 ? t + 5 : t));
		ts_check_int(x[2], 100 * (t ^ 9));
		ts_check_int(x[3], 100 * (group | (t & 7)));
		ts_check_int(x[4], (t >= 3 ? 1 : 0) | (t + 5 < 32 ? 2 : 0) | 4 | 8);
		ts_check_int(x[5], 100 * ((t & 7) + 2 < 8 ? t + 2 : t));
	}
	device_close(&d);
}

TS_TEST(votes)
{
	struct device d;
	uint64_t o;
	uint32_t *r, third[3] = {0};

	device_open(&d, text);
	o = device_alloc(&d, 1024);
	r = device_host(&d, o);
	for (uint32_t t = 0; t < 32; t++)
		third[t % 3] |= 1u << t;
	DEVICE_RUN(&d, "votes", 1, 32, o, 0);
	for (uint32_t t = 0; t < 32; t++) {
		uint32_t *x = r + 8 * t;

		ts_check_int(x[0], third[0]);
		ts_check_int(x[1], 1);
		ts_check_int(x[2], third[t % 3]);
		ts_check_int(x[3], UINT32_MAX);
		ts_check_int(x[4], 1);
		ts_check_int(x[5], 496);
		ts_check_int((int32_t)x[6], -31);
		ts_check_int(x[7], 31);
	}
	DEVICE_RUN(&d, "groups", 1, 32, o, 0);
	for (uint32_t t = 0; t < 32; t++) {
		uint32_t *x = r + 8 * t, high = t >= 16;

		ts_check_int(x[0], high ? 376 : 120);
		ts_check_int(x[1], high ? 16 : 0);
		ts_check_int(x[2], t == 0 || t == 16);
		ts_check_int(x[3], t ^ 1);
		ts_check_int(x[5], high ? 0xffff0000 : 0xffff);
		if (!high)
			ts_check_int(x[6], 3);
	}
	device_close(&d);
}

static uint16_t small_half(int v)
{
	/* v / 8 for small v, exactly. */
	float f = (float)v / 8;
	uint32_t u;

	memcpy(&u, &f, 4);
	return (uint16_t)(!v ? 0 : (u >> 16 & 0x8000) | ((u >> 13 & 0x3ffff) - (112 << 10)));
}

TS_TEST(matrices)
{
	struct device d;
	uint64_t o, in;
	uint32_t *r;
	float *f;
	int a[16][32], b[32][8];
	uint16_t *h;

	device_open(&d, text);
	o = device_alloc(&d, 4096);
	in = device_alloc(&d, 4096);
	r = device_host(&d, o);
	h = device_host(&d, in);
	for (int i = 0; i < 16; i++)
		for (int k = 0; k < 16; k++)
			h[16 * i + k] = small_half(a[i][k] = (i * 7 + k * 3) % 19 - 9);
	for (int k = 0; k < 16; k++)
		for (int j = 0; j < 8; j++)
			h[256 + 8 * k + j] = small_half(b[k][j] = (k * 5 + j * 11) % 17 - 8);
	DEVICE_RUN(&d, "mma16", 1, 32, o, in);
	f = (float *)r;
	for (int lane = 0; lane < 32; lane++) {
		for (int c = 0; c < 4; c++) {
			int row = lane / 4 + 8 * (c / 2), column = lane % 4 * 2 + c % 2, sum = 0;
			uint16_t half = (uint16_t)(r[8 * lane + 4 + c / 2] >> 16 * (c & 1));

			for (int k = 0; k < 16; k++)
				sum += a[row][k] * b[k][column];
			ts_check(f[8 * lane + c] == (float)sum / 64 + 1);
			ts_check(fabs((half & 0x8000 ? -1 : 1) *
					      ldexp(1024 + (half & 1023), (half >> 10 & 31) - 25) -
				      (double)sum / 64) <= fabs((double)sum) / 64 / 2048 ||
				 (!sum && !(half & 0x7fff)));
		}
	}
	{
		int8_t *bytes = device_host(&d, in);
		double *x = (double *)(void *)(bytes + 1024), *y = (double *)(void *)(bytes + 1280);

		for (int i = 0; i < 768; i++)
			bytes[i] = (int8_t)(i * 37 + i / 5);
		for (int lane = 0; lane < 32; lane++)
			for (int e = 0; e < 16; e++)
				a[lane / 4 + 8 * (e / 4 & 1)][lane % 4 * 4 + e % 4 + 16 * (e / 8)] =
					bytes[16 * lane + e];
		for (int lane = 0; lane < 32; lane++)
			for (int e = 0; e < 8; e++)
				b[lane % 4 * 4 + e % 4 + 16 * (e / 4)][lane / 4] =
					(uint8_t)bytes[512 + 8 * lane + e];
		for (int lane = 0; lane < 32; lane++) {
			x[lane] = lane * 0.25;
			y[lane] = 3 - lane;
		}
		DEVICE_RUN(&d, "mma8", 1, 32, o, in);
		for (int lane = 0; lane < 32; lane++) {
			double *e = (double *)(void *)(r + 8 * lane + 4);

			for (int c = 0; c < 4; c++) {
				int row = lane / 4 + 8 * (c / 2), column = lane % 4 * 2 + c % 2,
				    sum = 5;

				for (int k = 0; k < 32; k++)
					sum += a[row][k] * b[k][column];
				ts_check_int((int32_t)r[8 * lane + c], sum);
			}
			for (int c = 0; c < 2; c++) {
				double sum = 1;

				for (int k = 0; k < 4; k++)
					sum += x[lane / 4 * 4 + k] * y[(lane % 4 * 2 + c) * 4 + k];
				ts_check(e[c] == sum);
			}
		}
	}
#ifndef TS_TEST_DEVICE
	ts_check_int(d.stats.tensor_flops, 2 * (16 * 8 * 32 + 8 * 8 * 4));
	/* Half a warp cannot execute a matrix multiplication. */
	ts_check_int(device_try(&d, "mma16", 1, 16, (const uint64_t[]){o, in}, 2), TS_PTX_E_FAULT);
	ts_check_int(d.fault.kind, TS_PTX_FAULT_ILLEGAL);
#endif
	device_close(&d);
}

TS_TEST(mbarrier)
{
	struct device d;
	uint64_t o;

	device_open(&d, text);
	o = device_alloc(&d, 4096);
	DEVICE_RUN(&d, "mbarrier", 1, 64, o, 0);
	for (uint32_t t = 0; t < 64; t++)
		ts_check_int(((uint32_t *)device_host(&d, o))[8 * t], 64);
	device_close(&d);
}
