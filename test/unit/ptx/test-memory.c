// SPDX-License-Identifier: Apache-2.0
/*
 * Tests address spaces, vectors, atomics, initial values, linking, device-side calls of host
 * functions, and containment of invalid accesses.
 */
#include "test/unit/ptx/device.h"

#define ENTRY(name)                                                                                                   \
	".visible .entry " name "(.param .u64 po, .param .u64 px) {\n"                                                \
	".reg .b32 %r<40>; .reg .b64 %d<20>; .reg .b16 %h<9>; .reg .pred %p<20>; .reg .f32 %f<9>; .reg .f64 %e<9>;\n" \
	"mov.u32 %r4, %tid.x; ld.param.u64 %d0, [po]; ld.param.u64 %d2, [px];\n"                                      \
	"mul.wide.u32 %d1, %r4, 16; add.u64 %d1, %d0, %d1;\n"

#ifndef TS_TEST_DEVICE
static const char spaces[] = PTX_HEAD
	".const .align 4 .u32 table[4] = {11, 22, 33, 44};\n"
	".global .align 8 .b8 bytes[16] = {1, 2, 3, 4, 255};\n"
	".global .f32 floats[3] = {1.5, 0f40200000, 3};\n"
	".global .u64 where[3] = {bytes, generic(floats)+4, 0};\n"
	".global .align 1 .b8 packed[9] = {7, 0xFF(bytes), 0xFF00(bytes), 0xFF0000(bytes), 0xFF000000(bytes)};\n"
	".extern .shared .align 16 .b8 dynamic[];\n" ENTRY(
		"mixed") ".local .align 8 .b8 stack[64]; .shared .align 8 .b8 own[1024];\n"
			 "and.b32 %r5, %r4, 3; mul.wide.u32 %d3, %r5, 4; mov.u64 %d4, table; add.u64 %d4, %d4, %d3;\n"
			 "ld.const.u32 %r6, [%d4]; ld.const.u32 %r7, [table+8]; add.u32 %r6, %r6, %r7;\n"
			 "cvta.const.u64 %d4, %d4; ld.u32 %r8, [%d4]; add.u32 %r6, %r6, %r8;\n"
			 "st.local.v2.u32 [stack+8], {%r6, %r4}; mov.u64 %d5, stack; cvta.local.u64 %d6, %d5;\n"
			 "ld.v2.u32 {%r9, %r10}, [%d6+8]; add.u32 %r9, %r9, %r10;\n"
			 "mov.u32 %r11, own; mad.lo.u32 %r12, %r4, 4, %r11; st.shared.u32 [%r12], %r9; bar.sync 0;\n"
			 "xor.b32 %r13, %r4, 1; mad.lo.u32 %r13, %r13, 4, %r11; cvt.u64.u32 %d7, %r13; cvta.shared.u64 %d7, %d7;\n"
			 "ld.u32 %r14, [%d7]; mad.lo.u32 %r15, %r4, 8, 0; mov.u32 %r16, dynamic; add.u32 %r15, %r15, %r16;\n"
			 "st.shared.u32 [%r15+4], %r14; ld.shared.u32 %r14, [%r15+4]; isspacep.shared %p1, %d7; isspacep.global %p2, %d1;\n"
			 "selp.u32 %r17, 1, 0, %p1; selp.u32 %r18, 2, 0, %p2; or.b32 %r17, %r17, %r18; mov.u32 %r19, %dynamic_smem_size;\n"
			 "st.global.v4.u32 [%d1], {%r14, %r17, %r19, %r4}; ret; }\n" ENTRY(
				 "narrow") "ld.global.s8 %r5, [bytes+4]; ld.global.u8 %r6, [bytes+4]; ld.global.s8 %d5, [bytes+4]; ld.global.u16 %h1, [bytes+2];\n"
					   "cvt.u32.u16 %r7, %h1; st.global.u32 [%d0], %r5; st.global.u32 [%d0+4], %r6; st.global.u64 [%d0+8], %d5;\n"
					   "st.global.u32 [%d0+16], %r7; st.global.u8 [%d0+20], %r5; ld.global.f32 %f1, [floats+8]; st.global.f32 [%d0+24], %f1;\n"
					   "ld.global.u64 %d6, [where+8]; ld.f32 %f2, [%d6]; st.global.f32 [%d0+28], %f2; ret; }\n";

TS_TEST(spaces)
{
	static const uint32_t table[] = {11, 22, 33, 44};
	struct ts_ptx_variable v;
	struct device d;
	uint64_t o, address = 0;
	uint32_t *r;
	size_t i;

	device_open(&d, spaces);
	o = device_alloc(&d, 4096);
	r = device_host(&d, o);
	d.launch.dynamic_shared_bytes = 1024;
	DEVICE_RUN(&d, "mixed", 1, 128, o, 0);
	for (uint32_t t = 0; t < 128; t++) {
		uint32_t other = t ^ 1;

		ts_check_int(r[4 * t], 2 * table[other & 3] + 33 + other);
		ts_check_int(r[4 * t + 1], 3);
		ts_check_int(r[4 * t + 2], 1024);
		ts_check_int(r[4 * t + 3], t);
	}
	DEVICE_RUN(&d, "narrow", 1, 1, o, 0);
	ts_check_int(r[0], 0xffffffff);
	ts_check_int(r[1], 255);
	ts_check_int(((int64_t *)r)[1], -1);
	ts_check_int(r[4], 0x0403);
	ts_check_int(r[6], 0x40400000);
	ts_check_int(r[7], 0x40200000);
	ts_check_int(ts_ptx_image_find_variable(d.image, "packed", &i), 0);
	ts_ptx_image_variable(d.image, i, &v);
	memcpy(&address, (uint8_t *)device_host(&d, v.address) + 1, 4);
	ts_check_int(ts_ptx_image_find_variable(d.image, "bytes", &i), 0);
	ts_ptx_image_variable(d.image, i, &v);
	ts_check_int(address, v.address & UINT32_MAX);
	ts_check_int(ts_ptx_image_find_variable(d.image, "nothing", &i), -ENOENT);
	device_close(&d);
}

static const char
	faults
		[] =
			PTX_HEAD ".file 1 \"dir/kernel.cu\"\n" ENTRY(
				"outside") ".loc 1 42 7\n"
					   "setp.eq.u32 %p1, %r4, 37; @%p1 add.u64 %d1, %d1, 0x10000000;\n"
					   "st.global.u32 [%d1], %r4; ret; }\n" ENTRY(
						   "misaligned") "ld.global.u32 %r5, [%d1+2]; ret; }\n" ENTRY("host") "ld.u64 %d5, [%d2]; st.global.u64 [%d0], %d5; ret; }\n" ENTRY("shared") ".shared .b8 s[64]; mov.u32 %r5, s; mad.lo.u32 %r5, %r4, 4, %r5; st.shared.u32 [%r5], %r4; ret; }\n" ENTRY("local") ".local .b8 l[16]; mov.u64 %d5, l; add.u64 %d5, %d5, 65536; st.local.u32 [%d5], %r4; ret; }\n" ENTRY("param") "mov.b64 %d5, po; cvta.param.u64 %d6, %d5; ld.u64 %d7, [%d6]; st.global.u64 [%d7], %d7; st.u64 [%d6], %d7; ret; }\n" ENTRY("trap") "trap; }\n" ENTRY("far") "mov.u64 %d5, 0x1000500000000; ld.u32 %r5, [%d5]; ret; }\n" ENTRY("wrap") "ld.global.v4.u32 {%r5, %r6, %r7, %r8}, [%d2]; ret; }\n";

TS_TEST(faults)
{
	struct device d;
	uint64_t o, secret = 1234, params[2];
	static const struct {
		const char *kernel;
		enum ts_ptx_fault_kind kind;
	} cases[] = {
		{"misaligned", TS_PTX_FAULT_MISALIGNED}, {"host", TS_PTX_FAULT_OUT_OF_BOUNDS},
		{"shared", TS_PTX_FAULT_OUT_OF_BOUNDS},	 {"local", TS_PTX_FAULT_OUT_OF_BOUNDS},
		{"param", TS_PTX_FAULT_READ_ONLY},	 {"trap", TS_PTX_FAULT_TRAP},
		{"far", TS_PTX_FAULT_OUT_OF_BOUNDS},	 {"wrap", TS_PTX_FAULT_MISALIGNED},
	};

	device_open(&d, faults);
	o = device_alloc(&d, 4096);
	params[0] = o;
	params[1] = (uint64_t)(uintptr_t)&secret & ~UINT64_C(7);
	ts_check_int(device_try(&d, "outside", 1, 64, params, 2), TS_PTX_E_FAULT);
	ts_check_int(d.fault.kind, TS_PTX_FAULT_OUT_OF_BOUNDS);
	ts_check_int(d.fault.address, o + 37 * 16 + 0x10000000);
	ts_check_int(d.fault.bytes, 4);
	ts_check_int(d.fault.thread[0], 37);
	ts_check_int(d.fault.source_line, 42);
	ts_check_str(d.fault.source_file, "dir/kernel.cu");
	ts_check_str(d.fault.kernel, "outside");
	ts_check(strstr(d.fault.message, "write of 4 bytes at 0x21"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (!strcmp(cases[i].kernel, "wrap"))
			params[1] = DEVICE_BASE + DEVICE_BYTES - 8;
		ts_check_int(device_try(&d, cases[i].kernel, 1, 64, params, 2), TS_PTX_E_FAULT);
		if (d.fault.kind != cases[i].kind)
			fprintf(stderr, "%s: %s\n", cases[i].kernel, d.fault.message);
		ts_check_int(d.fault.kind, cases[i].kind);
	}
	/* After a fault the engine works as before. */
	params[1] = o;
	DEVICE_RUN(&d, "host", 1, 1, o, o + 64);
	device_close(&d);
}

#endif

/*
 * Block 0 writes vectors of equal elements. Block 1 reads them at the same time and counts vectors
 * with different elements. px: number of rounds.
 */
#define TEAR(name, store, load, compare)                                                                  \
	ENTRY(name)                                                                                       \
	"mov.u32 %r5, %ctaid.x; cvt.u32.u64 %r6, %d2; mov.u32 %r7, 0; mov.u32 %r12, 0; mov.u64 %d4, 0;\n" \
	"setp.ne.u32 %p1, %r5, 0; @%p1 bra READ;\n"                                                       \
	"WRITE: " store " add.u32 %r7, %r7, 1; add.u64 %d4, %d4, 0x100000001;\n"                          \
	"setp.lt.u32 %p2, %r7, %r6; @%p2 bra WRITE; ret;\n"                                               \
	"READ: " load compare " add.u32 %r7, %r7, 1; setp.lt.u32 %p2, %r7, %r6; @%p2 bra READ;\n"         \
	"red.global.add.u32 [%d0+4096], %r12; ret; }\n"

static const char tears[] = PTX_HEAD TEAR(
	"v4", "st.global.v4.u32 [%d1], {%r7, %r7, %r7, %r7};",
	"ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%d1];",
	"setp.ne.u32 %p3, %r8, %r11; @%p3 add.u32 %r12, %r12, 1;\n"
	"setp.ne.u32 %p3, %r8, %r9; @%p3 add.u32 %r12, %r12, 1;")
	TEAR("v2", "st.v2.u32 [%d1], {%r7, %r7};", "ld.v2.u32 {%r8, %r9}, [%d1];",
	     "setp.ne.u32 %p3, %r8, %r9; @%p3 add.u32 %r12, %r12, 1;")
		TEAR("wide", "st.volatile.global.v2.u64 [%d1], {%d4, %d4};",
		     "ld.volatile.global.v2.u64 {%d5, %d6}, [%d1];",
		     "setp.ne.u64 %p3, %d5, %d6; @%p3 add.u32 %r12, %r12, 1;")
			TEAR("narrow",
			     "cvt.u16.u32 %h1, %r7; st.global.v4.u16 [%d1], {%h1, %h1, %h1, %h1};",
			     "ld.global.v4.u16 {%h2, %h3, %h4, %h5}, [%d1];",
			     "setp.ne.u16 %p3, %h2, %h5; @%p3 add.u32 %r12, %r12, 1;")
				TEAR("nc",
				     "st.global.v4.f32 [%d1], {%f1, %f1, %f1, %f1}; cvt.rn.f32.u32 %f1, %r7;",
				     "ld.global.nc.v4.f32 {%f2, %f3, %f4, %f5}, [%d1];",
				     "setp.ne.f32 %p3, %f2, %f5; @%p3 add.u32 %r12, %r12, 1;");

/*
 * An aligned vector access of up to 16 bytes is one access of its lane: hardware guarantees this,
 * and CUB relies on it.
 */
TS_TEST(vectors_do_not_tear)
{
	static const char *const kernels[] = {"v4", "v2", "wide", "narrow", "nc"};
	/*
	 * Two blocks of 128 lanes each: the engine uses several threads for launches of 256 lanes
	 * or more.
	 */
	const uint32_t n = ts_soak() ? 4000000 : 50000;

	ts_skip_emulated("16-byte access in one");
	for (uint32_t n_threads = 2; n_threads <= 8; n_threads += 6) {
		for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
			struct device d;
			uint64_t o;

			device_load(&d, (const char *const[]){tears}, 1, n_threads);
			o = device_alloc(&d, 8192);
			memset(device_host(&d, o), 0, 8192);
			DEVICE_RUN(&d, kernels[i], 2, 128, o, n);
			ts_check_int(*(uint32_t *)device_host(&d, o + 4096), 0);
			device_close(&d);
		}
	}
}

static const char atomics[] = PTX_HEAD ENTRY(
	"k") "atom.global.add.u32 %r5, [%d2], 1; red.global.add.u64 [%d2+8], 3; red.global.max.s32 [%d2+16], %r4;\n"
	     "neg.s32 %r6, %r4; red.global.min.s32 [%d2+20], %r6; mov.f32 %f1, 0f3F000000; red.global.add.f32 [%d2+24], %f1;\n"
	     "mov.f64 %e1, 0d3FE0000000000000; atom.global.add.f64 %e2, [%d2+32], %e1; shl.b32 %r7, 1, %r4;\n"
	     "red.global.or.b32 [%d2+40], %r7; red.global.xor.b32 [%d2+44], %r4; atom.global.inc.u32 %r8, [%d2+48], 9;\n"
	     "atom.global.dec.u32 %r9, [%d2+52], 9; red.global.and.b32 [%d2+56], 0xfffffff0;\n"
	     "mov.b32 %r10, 0x3c003800; red.global.add.noftz.f16x2 [%d2+64], %r10;\n"
	     "L: ld.volatile.global.u32 %r11, [%d2+60]; add.u32 %r12, %r11, 2; atom.global.cas.b32 %r13, [%d2+60], %r11, %r12;\n"
	     "setp.ne.u32 %p1, %r13, %r11; @%p1 bra L;\n"
	     "M: ld.volatile.global.u16 %h1, [%d2+72]; add.u16 %h2, %h1, 1; atom.global.cas.b16 %h3, [%d2+72], %h1, %h2;\n"
	     "setp.ne.u16 %p1, %h3, %h1; @%p1 bra M; atom.global.exch.b64 %d5, [%d2+80], %d0; ret; }\n";

TS_TEST(atomics)
{
	for (uint32_t n_threads = 1; n_threads <= 4; n_threads += 3) {
		struct device d;
		uint64_t o;
		uint32_t *r;
		float f;
		double e;

		device_load(&d, (const char *const[]){atomics}, 1, n_threads);
		o = device_alloc(&d, 256);
		r = device_host(&d, o);
		memset(r, 0, 256);
		r[14] = UINT32_MAX;
		DEVICE_RUN(&d, "k", 16, 64, 77, o);
		memcpy(&f, &r[6], 4);
		memcpy(&e, &r[8], 8);
		ts_check_int(r[0], 1024);
		ts_check_int(r[2], 3072);
		ts_check_int(r[4], 63);
		ts_check_int((int32_t)r[5], -63);
		ts_check(f == 512.0f && e == 512.0);
		ts_check_int(r[10], UINT32_MAX);
		ts_check_int(r[11], 0);
		ts_check_int(r[12], 1024 % 10);
		ts_check_int(r[13], 6); /* 0, 9, 8, ... 0: ten steps per round */
		ts_check_int(r[14], 0xfffffff0);
		ts_check_int(r[15], 2048);
		ts_check_int(r[16], 0x64006000);
		ts_check_int(r[18], 1024);
		ts_check_int(r[20], 77);
		device_close(&d);
	}
}

#ifndef TS_TEST_DEVICE
static const char host_calls[] = PTX_HEAD
	".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
	".extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 c);\n"
	".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
	".extern .func (.param .b32 r) elsewhere(.param .b32 n);\n"
	".global .align 1 .b8 format[32] = {91, 37, 53, 100, 124, 37, 45, 54, 46, 50, 102, 124, 37, 115, 124, 37, 108, 108, "
	"120, 124, 37, 37, 124, 37, 99, 93, 10, 0};\n"
	".global .align 1 .b8 word[4] = {97, 98, 99, 0};\n" ENTRY(
		"print") ".local .align 8 .b8 args[48];\n"
			 "st.local.u32 [args], %r4; mov.f64 %e1, 0d400921FB54442D18; st.local.f64 [args+8], %e1; mov.u64 %d5, word;\n"
			 "cvta.global.u64 %d5, %d5; st.local.u64 [args+16], %d5; mov.u64 %d6, 0x123456789ab; st.local.u64 [args+24], %d6;\n"
			 "mov.u32 %r5, 33; st.local.u32 [args+32], %r5; mov.u64 %d7, format; cvta.global.u64 %d7, %d7; mov.u64 %d8, args;\n"
			 "cvta.local.u64 %d8, %d8; { .param .b64 p0; .param .b64 p1; .param .b32 v; st.param.b64 [p0], %d7; st.param.b64 [p1], %d8;\n"
			 "call.uni (v), vprintf, (p0, p1); ld.param.b32 %r6, [v]; } st.global.u32 [%d1], %r6; ret; }\n" ENTRY(
				 "check") "mov.u64 %d5, word; cvta.global.u64 %d5, %d5; setp.ne.u32 %p1, %r4, 3; @%p1 ret;\n"
					  "{ .param .b64 a; .param .b64 b; .param .b32 c; .param .b64 e; .param .b64 g; st.param.b64 [a], %d5; st.param.b64 [b], %d5;\n"
					  "st.param.b32 [c], 99; st.param.b64 [e], %d5; st.param.b64 [g], 1; call.uni __assertfail, (a, b, c, e, g); } ret; }\n" ENTRY(
						  "heap") "{ .param .b64 n; .param .b64 v; st.param.b64 [n], 64; call (v), malloc, (n); ld.param.b64 %d5, [v]; }\n"
							  "st.u32 [%d5], %r4; ld.u32 %r5, [%d5]; st.global.u32 [%d1], %r5;\n"
							  "{ .param .b64 n; st.param.b64 [n], %d5; call free, (n); } ret; }\n" ENTRY(
								  "missing") "{ .param .b32 n; .param .b32 v; st.param.b32 [n], 64; call (v), elsewhere, (n); } ret; }\n";

TS_TEST(host_calls)
{
	struct device d;
	uint64_t o;
	uint32_t *r;

	device_open(&d, host_calls);
	o = device_alloc(&d, 1024);
	r = device_host(&d, o);
	DEVICE_RUN(&d, "print", 1, 2, o, 0);
	ts_check_str(d.output,
		     "[    0|3.14  |abc|123456789ab|%|!]\n[    1|3.14  |abc|123456789ab|%|!]\n");
	ts_check_int(r[0], 5);
	ts_check_int(device_try(&d, "check", 1, 32, (const uint64_t[]){o, 0}, 2), TS_PTX_E_FAULT);
	ts_check_int(d.fault.kind, TS_PTX_FAULT_ASSERT);
	ts_check(strstr(d.fault.message, "abc:99: abc: Assertion `abc' failed"));
	DEVICE_RUN(&d, "heap", 1, 8, o, 0);
	for (uint32_t t = 0; t < 8; t++)
		ts_check_int(r[4 * t], t);
	ts_check_int(device_try(&d, "missing", 1, 1, (const uint64_t[]){o, 0}, 2), TS_PTX_E_FAULT);
	ts_check(strstr(d.fault.message, "elsewhere"));
	device_close(&d);
}

TS_TEST(linking)
{
	static const char first[] = PTX_HEAD
		".extern .func (.param .b32 r) helper(.param .b32 n);\n.extern .global .u32 counter;\n"
		".weak .func (.param .b32 r) shared_name(.param .b32 n) { .reg .b32 %r<3>; mov.u32 %r1, 1; st.param.b32 [r], %r1; ret; }\n"
		".func (.param .b32 r) private_name(.param .b32 n) { .reg .b32 %r<3>; mov.u32 %r1, 10; st.param.b32 [r], %r1; ret; }\n" ENTRY(
			"k") "{ .param .b32 n; .param .b32 v; st.param.b32 [n], %r4; call (v), helper, (n); ld.param.b32 %r5, [v]; }\n"
			     "{ .param .b32 n; .param .b32 v; st.param.b32 [n], %r4; call (v), shared_name, (n); ld.param.b32 %r6, [v]; }\n"
			     "{ .param .b32 n; .param .b32 v; st.param.b32 [n], %r4; call (v), private_name, (n); ld.param.b32 %r7, [v]; }\n"
			     "ld.global.u32 %r8, [counter]; st.global.v4.u32 [%d1], {%r5, %r6, %r7, %r8}; ret; }\n";
	static const char second[] = PTX_HEAD
		".visible .global .u32 counter = 4711;\n"
		".func (.param .b32 r) private_name(.param .b32 n) { .reg .b32 %r<3>; mov.u32 %r1, 20; st.param.b32 [r], %r1; ret; }\n"
		".visible .func (.param .b32 r) shared_name(.param .b32 n) { .reg .b32 %r<3>; mov.u32 %r1, 2; st.param.b32 [r], %r1; ret; }\n"
		".visible .func (.param .b32 r) helper(.param .b32 n) { .reg .b32 %r<5>; ld.param.b32 %r2, [n];\n"
		"{ .param .b32 n; .param .b32 v; st.param.b32 [n], %r2; call (v), private_name, (n); ld.param.b32 %r1, [v]; }\n"
		"add.u32 %r3, %r1, %r2; st.param.b32 [r], %r3; ret; }\n";
	struct ts_ptx_module *modules[2];
	struct ts_ptx_image *image;
	struct ts_ptx_error error;
	struct device d;
	uint64_t o;
	uint32_t *r;

	device_load(&d, (const char *const[]){first, second}, 2, 1);
	o = device_alloc(&d, 1024);
	r = device_host(&d, o);
	DEVICE_RUN(&d, "k", 1, 4, o, 0);
	for (uint32_t t = 0; t < 4; t++) {
		ts_check_int(r[4 * t], 20 + t);
		ts_check_int(r[4 * t + 1], 2);
		ts_check_int(r[4 * t + 2], 10);
		ts_check_int(r[4 * t + 3], 4711);
	}
	device_close(&d);
	ts_check_int(ts_ptx_module_parse(second, strlen(second), &modules[0], &error), 0);
	ts_check_int(ts_ptx_module_parse(second, strlen(second), &modules[1], &error), 0);
	ts_check_int(ts_ptx_link(modules, 2, &image, &error), TS_PTX_E_LINK);
	ts_check(strstr(error.message, "more than one module"));
	ts_ptx_module_free(modules[1]);
	ts_ptx_module_free(modules[0]);
	ts_check_int(ts_ptx_module_parse(first, strlen(first), &modules[0], &error), 0);
	ts_check_int(ts_ptx_link(modules, 1, &image, &error), TS_PTX_E_LINK);
	ts_check(strstr(error.message, "counter"));
	ts_ptx_module_free(modules[0]);
}
#endif
