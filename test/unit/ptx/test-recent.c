// SPDX-License-Identifier: Apache-2.0
/*
 * Tests features of newer devices and compilers: 128-bit values, atomics on vectors, bulk copies,
 * clusters, pairs of floats, alloca, the system's reserved shared memory. Hints must change
 * nothing.
 */
#include <math.h>

#include "replay/vgpu/ptx/lanes/half.h"
#include "test/unit/ptx/device.h"

#define HEAD90		    ".version 8.6\n.target sm_90\n.address_size 64\n"
#define ENTRY(name, params) ".visible .entry " name "(" params ") {\n"
#define P1		    ".param .u64 p"
#define P2		    ".param .u64 p, .param .u64 q"

static uint32_t *words(struct device *d, uint64_t at)
{
	return device_host(d, at);
}

TS_TEST(values_of_128_bits)
{
	struct device d;
	uint64_t at, *v;

	device_open(
		&d,
		HEAD90 ENTRY(
			"swap",
			P2) ".reg .b64 %d<9>; .reg .b128 %q<4>; .reg .pred %p;\n"
			    "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q];\n"
			    "ld.global.b128 %q1, [%d1]; mov.b128 {%d3, %d4}, %q1; mov.b128 %q2, {%d4, %d3};\n"
			    "mov.b128 %q3, %q2; st.global.b128 [%d2], %q3;\n"
			    "mov.b128 {%d3, %d4}, %q1; mov.b128 %q1, {%d4, %d3}; mov.b128 {%d4, %d3}, %q1;\n"
			    "st.global.v2.b64 [%d2+16], {%d3, %d4}; ret; }\n"
		/*
		 * Every thread increments the low half and decrements the high half in one access.
		 */
		ENTRY("count",
		      P1) ".reg .b64 %d<9>; .reg .b128 %q<4>; .reg .pred %p<3>;\n"
			  "ld.param.u64 %d1, [p]; ld.relaxed.gpu.global.b128 %q1, [%d1];\n"
			  "L: mov.b128 {%d2, %d3}, %q1; add.u64 %d4, %d2, 1; sub.u64 %d5, %d3, 1; mov.b128 %q2, {%d4, %d5};\n"
			  "atom.global.cas.b128 %q3, [%d1], %q1, %q2; mov.b128 {%d6, %d7}, %q3;\n"
			  "setp.ne.u64 %p1, %d6, %d2; setp.ne.u64 %p2, %d7, %d3; or.pred %p1, %p1, %p2;\n"
			  "mov.b128 %q1, %q3; @%p1 bra L; ret; }\n" ENTRY(
				  "exchange",
				  P2) ".reg .b64 %d<9>; .reg .b128 %q<4>;\n"
				      "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; mov.b128 %q1, {7, 8};\n"
				      "atom.global.exch.b128 %q2, [%d1], %q1; st.relaxed.gpu.global.b128 [%d2], %q2; ret; }\n");
	at = device_alloc(&d, 64);
	v = device_host(&d, at);
	v[0] = 0x1111222233334444;
	v[1] = 0x5555666677778888;
	DEVICE_RUN(&d, "swap", 1, 1, at, at + 16);
	ts_check(v[2] == v[1] && v[3] == v[0]);
	ts_check(v[4] == v[0] && v[5] == v[1]);
	v[0] = 0;
	v[1] = 0;
	DEVICE_RUN(&d, "count", 3, 100, at);
	ts_check_int(v[0], 300);
	ts_check_int(v[1], -300);
	DEVICE_RUN(&d, "exchange", 1, 1, at, at + 16);
	ts_check(v[0] == 7 && v[1] == 8);
	ts_check(v[2] == 300 && (int64_t)v[3] == -300);
	DEVICE_FAULTS(&d, "swap", 1, 1, TS_PTX_FAULT_MISALIGNED, at + 8, at);
	device_close(&d);
}

TS_TEST(atomics_on_vectors)
{
	static const float values[] = {1.5f, -2, 3, 0.25f};
	struct device d;
	uint64_t at;
	float *f;
	uint16_t *h;

	device_open(
		&d,
		HEAD90 ENTRY(
			"floats",
			P2) ".reg .b64 %d<9>; .reg .f32 %f<9>;\n"
			    "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d2];\n"
			    "red.global.add.v4.f32 [%d1], {%f1, %f2, %f3, %f4};\n"
			    "atom.global.v2.f32.add {%f5, %f6}, [%d1+16], {%f1, %f2}; ret; }\n" ENTRY(
				    "old",
				    P2) ".reg .b64 %d<9>; .reg .f32 %f<9>; .reg .b32 %r<3>; .reg .pred %p;\n"
					"ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; mov.u32 %r1, %tid.x; mov.f32 %f1, 0f3F800000;\n"
					"setp.eq.u32 %p, %r1, 5; @%p atom.relaxed.gpu.global.add.v2.f32 {%f3, %f4}, [%d1], {%f1, %f1};\n"
					"@%p st.global.v2.f32 [%d2], {%f3, %f4}; ret; }\n" ENTRY(
						"halves",
						P2) ".reg .b64 %d<9>; .reg .b16 %h<9>; .reg .b32 %r<5>;\n"
						    "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; ld.global.v4.b16 {%h1, %h2, %h3, %h4}, [%d2];\n"
						    "red.global.add.noftz.v4.f16 [%d1], {%h1, %h2, %h3, %h4};\n"
						    "red.global.min.noftz.v4.f16 [%d1+8], {%h1, %h2, %h3, %h4};\n"
						    "red.global.max.noftz.v2.f16 [%d1+16], {%h1, %h2};\n"
						    "mov.b32 %r1, {%h1, %h2}; mov.b32 %r2, {%h3, %h4};\n"
						    "red.global.max.noftz.v2.f16x2 [%d1+24], {%r1, %r2}; ret; }\n");
	at = device_alloc(&d, 128);
	f = device_host(&d, at);
	memset(f, 0, 128);
	memcpy(f + 16, values, sizeof(values));
	DEVICE_RUN(&d, "floats", 1, 64, at, at + 64);
	for (int i = 0; i < 4; i++)
		ts_check(f[i] == 64 * values[i]);
	ts_check(f[4] == 96 && f[5] == -128 && f[6] == 0);
	DEVICE_RUN(&d, "old", 1, 32, at, at + 32);
	ts_check(f[0] == 97 && f[1] == -127 && f[8] == 96 && f[9] == -128);
	h = device_host(&d, at);
	memset(h, 0, 64);
	for (int i = 0; i < 4; i++)
		h[32 + i] = ts_ptx_to_f16(values[i]);
	h[4] = 0x7e00; /* the other operand wins over a NaN */
	DEVICE_RUN(&d, "halves", 1, 1, at, at + 64);
	for (int i = 0; i < 4; i++) {
		ts_check_int(h[i], ts_ptx_to_f16(values[i]));
		ts_check_int(h[4 + i], i == 1 ? 0xc000 : i == 0 ? 0x3e00 : 0);
		ts_check_int(h[12 + i], ts_ptx_to_f16(values[i] > 0 ? values[i] : 0));
	}
	ts_check_int(h[8], 0x3e00);
	ts_check_int(h[9], 0);
	DEVICE_FAULTS(&d, "floats", 1, 1, TS_PTX_FAULT_MISALIGNED, at + 8, at);
	device_close(&d);
}

#ifndef TS_TEST_DEVICE
/* Instructions on pairs of floats, which need compute capability 10.0 or above. */
TS_TEST(pairs_of_floats)
{
	static const float a[] = {1.5f, 0x1p-120f}, b[] = {0x1.000002p0f, 0x1p-20f},
			   c[] = {-3, 0x1p-149f};
	struct device d;
	uint64_t at;
	float *f;

	device_open(
		&d,
		HEAD90 ENTRY(
			"k",
			P1) ".reg .b64 %d<12>;\n"
			    "ld.param.u64 %d1, [p]; ld.global.b64 %d2, [%d1]; ld.global.b64 %d3, [%d1+8]; ld.global.b64 %d4, [%d1+16];\n"
			    "add.rn.f32x2 %d5, %d2, %d3; mul.rn.f32x2 %d6, %d2, %d3; fma.rn.f32x2 %d7, %d2, %d3, %d4;\n"
			    "mul.rn.ftz.f32x2 %d8, %d2, %d3; add.rp.f32x2 %d9, %d2, %d3; sub.rn.f32x2 %d10, %d2, %d3;\n"
			    "st.global.v2.b64 [%d1+32], {%d5, %d6}; st.global.v2.b64 [%d1+48], {%d7, %d8};\n"
			    "st.global.v2.b64 [%d1+64], {%d9, %d10}; ret; }\n");
	at = device_alloc(&d, 128);
	f = device_host(&d, at);
	memcpy(f, a, 8);
	memcpy(f + 2, b, 8);
	memcpy(f + 4, c, 8);
	DEVICE_RUN(&d, "k", 1, 1, at);
	for (int i = 0; i < 2; i++) {
		volatile float sum = a[i] + b[i], product = a[i] * b[i], less = a[i] - b[i];

		ts_check(f[8 + i] == sum);
		ts_check(f[10 + i] == product);
		ts_check(f[12 + i] == fmaf(a[i], b[i], c[i]));
		ts_check(f[14 + i] == (i ? 0 : product));
		ts_check(f[16 + i] == nextafterf(sum, 10));
		ts_check(f[18 + i] == less);
	}
	device_close(&d);
}

#endif

/*
 * Each lane allocates a piece of its own size, fills it, calls a function, and reads the piece
 * again.
 */
TS_TEST(stack_memory)
{
	struct device d;
	uint64_t at;

	device_open(
		&d, PTX_HEAD
		".func (.param .b32 r) inner(.param .b32 n) { .reg .b32 %r<9>; .local .b8 mine[64]; .reg .b64 %d<3>;\n"
		"mov.u64 %d1, mine; ld.param.u32 %r1, [n]; st.local.u32 [%d1], 0xdeadbeef; st.local.u32 [%d1+60], 0xdeadbeef;\n"
		"add.u32 %r1, %r1, 1000; st.param.b32 [r], %r1; ret; }\n" ENTRY(
			"k",
			P1) ".reg .b64 %d<20>; .reg .b32 %r<20>; .reg .pred %p<3>; .local .b8 own[16];\n"
			    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 8; add.u64 %d1, %d1, %d2;\n"
			    "stacksave.u64 %d10; mov.u32 %r9, 0;\n"
			    "again: add.u32 %r2, %r1, 1; shl.b32 %r2, %r2, 2; cvt.u64.u32 %d3, %r2; alloca.u64 %d4, %d3, 32;\n"
			    "cvta.local.u64 %d5, %d4; mov.u32 %r3, 0;\n"
			    "fill: mul.wide.u32 %d6, %r3, 4; add.u64 %d7, %d5, %d6; st.u32 [%d7], %r3; add.u32 %r3, %r3, 1;\n"
			    "setp.le.u32 %p1, %r3, %r1; @%p1 bra fill;\n"
			    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), inner, (a); ld.param.b32 %r4, [b]; }\n"
			    "mov.u32 %r3, 0; mov.u32 %r5, 0;\n"
			    "read: mul.wide.u32 %d6, %r3, 4; add.u64 %d7, %d4, %d6; ld.local.u32 %r6, [%d7]; add.u32 %r5, %r5, %r6;\n"
			    "add.u32 %r3, %r3, 1; setp.le.u32 %p1, %r3, %r1; @%p1 bra read;\n"
			    "stackrestore.u64 %d10; add.u32 %r9, %r9, 1; setp.lt.u32 %p2, %r9, 100; @%p2 bra again;\n"
			    "and.b64 %d4, %d4, 31; cvt.u32.u64 %r7, %d4; add.u32 %r5, %r5, %r7;\n"
			    "st.global.v2.u32 [%d1], {%r4, %r5}; ret; }\n" ENTRY(
				    "much",
				    P1) ".reg .b64 %d<4>; ld.param.u64 %d1, [p]; alloca.u64 %d2, %d1; ret; }\n"
		/* A function without alloca has no stack to save, so stacksave gives 0. */
		ENTRY("none",
		      P1) ".reg .b64 %d<4>; .reg .b32 %r<3>; ld.param.u64 %d1, [p]; stacksave.u64 %d2; stackrestore.u64 %d2;\n"
			  "st.global.u64 [%d1], %d2; ret; }\n");
	at = device_alloc(&d, 256);
	DEVICE_RUN(&d, "k", 1, 32, at);
	for (uint32_t i = 0; i < 32; i++) {
		ts_check_int(words(&d, at)[2 * i], 1000 + i);
		ts_check_int(words(&d, at)[2 * i + 1], i * (i + 1) / 2);
	}
#ifndef TS_TEST_DEVICE
	DEVICE_RUN(&d, "much", 1, 1, 4096);
	DEVICE_FAULTS(&d, "much", 1, 1, TS_PTX_FAULT_STACK, 4097);
	DEVICE_FAULTS(&d, "much", 1, 1, TS_PTX_FAULT_STACK, UINT64_MAX - 7);
	DEVICE_RUN(&d, "none", 1, 1, at);
	ts_check_int(words(&d, at)[0], 0);
#endif
	device_close(&d);
}

TS_TEST(bulk_copies)
{
	struct device d;
	uint64_t at;

	device_open(
		&d,
		HEAD90 ".shared .align 16 .b8 buffer[256]; .shared .align 8 .b64 bar;\n" ENTRY(
			"k",
			P2) ".reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<3>;\n"
			    "ld.param.u64 %d1, [p]; ld.param.u64 %d2, [q]; mov.u32 %r1, %tid.x; mov.u32 %r2, bar; mov.u32 %r3, buffer;\n"
			    "setp.ne.u32 %p1, %r1, 0; @%p1 bra W; mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster;\n"
			    "W: bar.sync 0; @%p1 bra V;\n"
			    "mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%r2], 256;\n"
			    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 128, [%r2];\n"
			    "mbarrier.test_wait.parity.shared::cta.b64 %p2, [%r2], 0; @%p2 trap;\n"
			    "cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%r3+128], [%d1+128], 128, [%r2];\n"
			    "V: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0; @!%p2 bra V;\n"
			    "shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4; ld.shared.u32 %r6, [%r5]; add.u32 %r6, %r6, 1; st.shared.u32 [%r5], %r6;\n"
			    "bar.sync 0; @%p1 bra E; fence.proxy.async.shared::cta;\n"
			    "cp.async.bulk.prefetch.L2.global [%d1], 64;\n"
			    "cp.async.bulk.global.shared::cta.bulk_group [%d2+16], [%r3], 240; cp.async.bulk.commit_group;\n"
			    "cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 0;\n"
			    "E: ret; }\n" ENTRY(
				    "bad",
				    P2) ".reg .b64 %d<9>; .reg .b32 %r<9>; ld.param.u64 %d1, [p]; ld.param.u32 %r1, [q]; mov.u32 %r3, buffer;\n"
					"cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], %r1; ret; }\n");
	at = device_alloc(&d, 1024);
	for (uint32_t i = 0; i < 64; i++)
		words(&d, at)[i] = i * i;
	words(&d, at + 528)[60] = 77;
	DEVICE_RUN(&d, "k", 1, 64, at, at + 512);
	for (uint32_t i = 0; i < 60; i++)
		ts_check_int(words(&d, at + 528)[i], i * i + 1);
	ts_check_int(words(&d, at + 528)[60], 77);
	DEVICE_FAULTS(&d, "bad", 1, 1, TS_PTX_FAULT_ILLEGAL, at, 24);
	DEVICE_FAULTS(&d, "bad", 1, 1, TS_PTX_FAULT_OUT_OF_BOUNDS, at, 272);
	DEVICE_FAULTS(&d, "bad", 1, 1, TS_PTX_FAULT_OUT_OF_BOUNDS, DEVICE_BASE + DEVICE_BYTES - 16,
		      32);
	device_close(&d);
}

/*
 * In a cluster of one block, the cluster's barrier waits for all threads, and the cluster's memory
 * is that of the block.
 */
TS_TEST(clusters_of_one)
{
	struct device d;
	uint64_t at;

	device_open(
		&d,
		HEAD90 ".shared .align 4 .b8 box[8];\n" ENTRY(
			"k",
			P1) ".reg .b64 %d<9>; .reg .b32 %r<16>; .reg .pred %p<3>;\n"
			    "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 70; mov.u32 %r2, box;\n"
			    /* Thread 70 writes, and arrives only when the other threads wait. */
			    "@%p1 bra A; nanosleep.u32 20; st.shared.u32 [%r2], 4711;\n"
			    "A: barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n"
			    "mapa.shared::cluster.u32 %r3, %r2, 0; ld.shared::cluster.u32 %r4, [%r3]; mov.u32 %r5, %cluster_ctarank; mov.u32 %r6, %cluster_nctarank;\n"
			    "cvt.u64.u32 %d2, %r2; cvta.shared.u64 %d2, %d2; mapa.u64 %d3, %d2, %r5; ld.u32 %r7, [%d3]; getctarank.u64 %r8, %d3;\n"
			    "barrier.cluster.arrive.relaxed; add.u32 %r4, %r4, %r7; barrier.cluster.wait;\n"
			    "mad.lo.u32 %r4, %r6, 100000, %r4; add.u32 %r4, %r4, %r5; add.u32 %r4, %r4, %r8;\n"
			    "isspacep.shared::cluster %p2, %d3; @!%p2 mov.u32 %r4, 0;\n"
			    "mul.wide.u32 %d4, %r1, 4; add.u64 %d1, %d1, %d4; st.global.u32 [%d1], %r4; ret; }\n" ENTRY("other", P1) ".reg .b32 %r<3>; mapa.shared::cluster.u32 %r1, box, 1; ret; }\n" ENTRY(
				    "twice",
				    P1) "barrier.cluster.arrive; barrier.cluster.arrive; ret; }\n"
					".visible .entry two() .reqnctapercluster 2, 1, 1 { ret; }\n"
					".visible .entry one() .reqnctapercluster 1, 1, 1 { ret; }\n");
	at = device_alloc(&d, 512);
	DEVICE_RUN(&d, "k", 1, 100, at);
	for (uint32_t i = 0; i < 100; i++)
		ts_check_int(words(&d, at)[i], 109422);
	DEVICE_FAULTS(&d, "twice", 1, 64, TS_PTX_FAULT_ILLEGAL, at);
#ifndef TS_TEST_DEVICE
	ts_check_int(device_try(&d, "other", 1, 1, &at, 1), TS_PTX_E_FAULT);
	ts_check_int(device_try(&d, "two", 2, 32, NULL, 0), TS_PTX_E_UNSUPPORTED);
	ts_check(strstr(d.error.message, "cluster"));
#endif
	DEVICE_RUN(&d, "one", 2, 32, 0);
	device_close(&d);
}

#ifndef TS_TEST_DEVICE
/* The system's reserved memory lies behind the kernel's static and dynamic memory. */
TS_TEST(reserved_shared_memory)
{
	struct device d;
	uint64_t at;

	device_open(
		&d, PTX_HEAD
		".shared .b8 mine[20]; .extern .shared .b8 more[];\n"
		".func take(.param .b64 a) { .reg .b32 %r<3>; mov.u32 %r1, %reserved_smem_offset_1; st.shared.u32 [%r1], 77; ret; }\n" ENTRY(
			"k",
			P1) ".reg .b64 %d<3>; .reg .b32 %r<9>; ld.param.u64 %d1, [p]; mov.u32 %r1, mine; st.shared.u32 [%r1+16], 5; mov.u32 %r2, more;\n"
			    "st.shared.u32 [%r2+96], 6; { .param .b64 a; call take, (a); }\n"
			    "ld.shared.u32 %r3, [%r1+16]; ld.shared.u32 %r4, [%r2+96]; mov.u32 %r5, %reserved_smem_offset_begin; ld.shared.u32 %r6, [%r5];\n"
			    "mov.u32 %r7, %reserved_smem_offset_end; sub.u32 %r7, %r7, %r5; mov.u32 %r8, %total_smem_size;\n"
			    "st.global.v4.u32 [%d1], {%r3, %r4, %r6, %r7}; st.global.u32 [%d1+16], %r8; ret; }\n");
	at = device_alloc(&d, 64);
	d.launch.dynamic_shared_bytes = 100;
	DEVICE_RUN(&d, "k", 1, 1, at);
	ts_check_int(words(&d, at)[0], 5);
	ts_check_int(words(&d, at)[1], 6);
	ts_check_int(words(&d, at)[2], 77);
	ts_check_int(words(&d, at)[3], 1024);
	ts_check_int(words(&d, at)[4], 132);
	device_close(&d);
}

/* Each block's reserved memory begins as zero, whatever the block before wrote. */
TS_TEST(reserved_shared_memory_begins_as_zero)
{
	struct device d;
	uint64_t at;

	device_open(
		&d,
		PTX_HEAD ENTRY(
			"k",
			P1) ".reg .b64 %d<3>; .reg .b32 %r<9>; ld.param.u64 %d1, [p]; mov.u32 %r1, %reserved_smem_offset_1; ld.shared.u32 %r2, [%r1];\n"
			    "mov.u32 %r3, %ctaid.x; mul.wide.u32 %d2, %r3, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r2; st.shared.u32 [%r1], 77; ret; }\n");
	at = device_alloc(&d, 256);
	DEVICE_RUN(&d, "k", 64, 1, at);
	for (int i = 0; i < 64; i++)
		ts_check_int(words(&d, at)[i], 0);
	device_close(&d);
}

TS_TEST(hints_change_nothing)
{
	struct device d;
	uint64_t at;

	device_open(
		&d,
		HEAD90 ENTRY(
			"k",
			P1) ".reg .b64 %d<9>; .reg .b32 %r<9>; ld.param.u64 %d1, [p]; griddepcontrol.wait; setmaxnreg.inc.sync.aligned.u32 240;\n"
			    "createpolicy.fractional.L2::evict_last.b64 %d2, 1.0; createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d3, [%d1], 64, 128;\n"
			    "prefetch.global.L2 [%d1]; prefetch.global.L1 [%d1+16]; prefetchu.L1 [%d1]; applypriority.global.L2::evict_normal [%d1], 128;\n"
			    "discard.global.L2 [%d1+128], 128; pmevent 1; fence.acq_rel.gpu; membar.sys;\n"
			    "ld.global.L2::cache_hint.u32 %r1, [%d1], %d2; ldu.global.u32 %r2, [%d1+4]; add.u32 %r1, %r1, %r2;\n"
			    "st.global.L1::no_allocate.L2::cache_hint.u32 [%d1+8], %r1, %d3; griddepcontrol.launch_dependents;\n"
			    "setmaxnreg.dec.sync.aligned.u32 24; ret; }\n" ENTRY(
				    "stop", P1) "brkpt; ret; }\n");
	at = device_alloc(&d, 256);
	words(&d, at)[0] = 30;
	words(&d, at)[1] = 12;
	DEVICE_RUN(&d, "k", 1, 32, at);
	ts_check_int(words(&d, at)[2], 42);
	DEVICE_FAULTS(&d, "stop", 1, 1, TS_PTX_FAULT_TRAP, at);
	device_close(&d);
}
#endif
