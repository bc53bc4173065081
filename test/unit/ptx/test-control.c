// SPDX-License-Identifier: Apache-2.0
/*
 * Tests divergence and reconvergence, calls, barriers, progress between threads, warps and blocks,
 * and faults that stop a kernel.
 */
#include <time.h>

#include "test/unit/ptx/device.h"

/* %r1 is the global thread number, %d1 the address of its word in the first parameter. */
#define ENTRY(name)                                                           \
	".visible .entry " name "(.param .u64 po, .param .u64 px) {\n"        \
	".reg .b32 %r<40>; .reg .b64 %d<20>; .reg .pred %p<20>;\n"            \
	"mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n" \
	"mad.lo.u32 %r1, %r2, %r3, %r4; ld.param.u64 %d0, [po];\n"            \
	"mul.wide.u32 %d1, %r1, 4; add.u64 %d1, %d0, %d1; ld.param.u64 %d2, [px];\n"

TS_TEST(nested_divergence)
{
	static const char text[] = PTX_HEAD ENTRY(
		"k") "mov.u32 %r10, 0; mov.u32 %r11, 0;\n"
		     "LOOP: setp.ge.u32 %p1, %r11, %r1; @%p1 bra DONE;\n"
		     "and.b32 %r12, %r11, 3; setp.eq.u32 %p2, %r12, 1; @%p2 bra ONE; setp.eq.u32 %p3, %r12, 2;\n"
		     "@%p3 bra TWO; add.u32 %r10, %r10, 1; bra NEXT;\n"
		     "ONE: add.u32 %r10, %r10, 10; setp.gt.u32 %p4, %r10, 200; @%p4 bra OUT; bra NEXT;\n"
		     "TWO: add.u32 %r10, %r10, 100;\n"
		     "NEXT: add.u32 %r11, %r11, 1; bra LOOP;\n"
		     "OUT: add.u32 %r10, %r10, 5000;\n"
		     /* All lanes have reconverged: the vote sees the whole warp. */
		     "DONE: vote.sync.ballot.b32 %r13, 1, 0xffffffff; setp.ne.u32 %p5, %r13, 0xffffffff;\n"
		     "@%p5 mov.u32 %r10, 0; st.global.u32 [%d1], %r10; ret; }\n";
	struct device d;
	uint64_t o;
	uint32_t *r;

	device_open(&d, text);
	o = device_alloc(&d, 4 * 256);
	DEVICE_RUN(&d, "k", 2, 128, o, 0);
	r = device_host(&d, o);
	for (uint32_t t = 0; t < 256; t++) {
		uint32_t x = 0;

		for (uint32_t i = 0; i < t; i++) {
			x += (i & 3) == 1 ? 10 : (i & 3) == 2 ? 100 : 1;
			if ((i & 3) == 1 && x > 200) {
				x += 5000;
				break;
			}
		}
		ts_check_int(r[t], x);
	}
	ts_check(d.stats.divergent_branches > 0);
	device_close(&d);
}

TS_TEST(early_return_reconverges)
{
	/*
	 * Some lanes return early. The other lanes must reconverge before activemask, although
	 * activemask does not wait for lanes.
	 */
	static const char text[] = PTX_HEAD ENTRY(
		"k") "and.b32 %r5, %r1, 1; setp.eq.u32 %p1, %r5, 0; @%p1 bra EVEN;\n"
		     "and.b32 %r6, %r1, 2; setp.eq.u32 %p2, %r6, 0; @%p2 bra END;\n"
		     "mov.u32 %r7, 7; bra REST;\n"
		     "EVEN: mov.u32 %r7, 9;\n"
		     "REST: activemask.b32 %r8; add.u32 %r8, %r8, %r7; st.global.u32 [%d1], %r8;\n"
		     "END: ret; }\n";
	struct device d;
	uint64_t o;
	uint32_t *r;

	device_open(&d, text);
	o = device_alloc(&d, 128);
	r = device_host(&d, o);
	memset(r, 0, 128);
	DEVICE_RUN(&d, "k", 1, 32, o, 0);
	for (uint32_t t = 0; t < 32; t++)
		ts_check_int(r[t], (t & 3) == 1 ? 0 : 0xddddddddu + (t & 1 ? 7 : 9));
	device_close(&d);
}

TS_TEST(loops_reconverge)
{
	/* Lanes leave the loop one by one, at a place without a label, and reconverge behind it. */
	static const char text[] = PTX_HEAD ENTRY(
		"k") "mov.u32 %r5, 0; L: add.u32 %r5, %r5, 1; setp.le.u32 %p1, %r5, %r1; @%p1 bra L;\n"
		     "activemask.b32 %r8; st.global.u32 [%d1], %r8; ret; }\n";
	struct device d;
	uint64_t o;

	device_open(&d, text);
	o = device_alloc(&d, 128);
	DEVICE_RUN(&d, "k", 1, 32, o, 0);
	for (uint32_t t = 0; t < 32; t++)
		ts_check_int(((uint32_t *)device_host(&d, o))[t], UINT32_MAX);
	device_close(&d);
}

TS_TEST(branch_table)
{
	static const char text[] = PTX_HEAD ENTRY(
		"k") "and.b32 %r5, %r1, 3;\n"
		     "table: .branchtargets L0, L1, L2, L1;\n"
		     "brx.idx %r5, table;\n"
		     "L0: mov.u32 %r6, 100; bra E; L1: mov.u32 %r6, 200; bra E; L2: mov.u32 %r6, 300;\n"
		     "E: st.global.u32 [%d1], %r6; ret; }\n" ENTRY(
			     "bad") "t2: .branchtargets M; brx.idx %r1, t2; M: ret; }\n";
	static const uint32_t want[] = {100, 200, 300, 200};
	struct device d;
	uint64_t o;
	uint32_t *r;

	device_open(&d, text);
	o = device_alloc(&d, 256);
	DEVICE_RUN(&d, "k", 1, 64, o, 0);
	r = device_host(&d, o);
	for (uint32_t t = 0; t < 64; t++)
		ts_check_int(r[t], want[t & 3]);
	ts_check_int(device_try(&d, "bad", 1, 32, (const uint64_t[]){o, 0}, 2), TS_PTX_E_FAULT);
	ts_check_int(d.fault.kind, TS_PTX_FAULT_PC);
	device_close(&d);
}

static const char calls[] = PTX_HEAD
	".func (.param .b32 ret) fib(.param .b32 n) {\n"
	".reg .b32 %r<9>; .reg .pred %p<2>;\n"
	"ld.param.u32 %r1, [n]; setp.lt.u32 %p1, %r1, 2; @%p1 bra BASE;\n"
	"sub.u32 %r2, %r1, 1; { .param .b32 a; .param .b32 v; st.param.b32 [a], %r2;\n"
	"call.uni (v), fib, (a); ld.param.b32 %r3, [v]; }\n"
	"sub.u32 %r2, %r1, 2; { .param .b32 a; .param .b32 v; st.param.b32 [a+0], %r2;\n"
	"call.uni (v), fib, (a); ld.param.b32 %r4, [v+0]; }\n"
	"add.u32 %r5, %r3, %r4; st.param.b32 [ret], %r5; ret;\n"
	"BASE: st.param.b32 [ret], %r1; ret; }\n"
	".func (.reg .b32 out) twice(.reg .b32 in) { add.u32 out, in, in; ret; }\n"
	".func (.param .b32 ret) plus1(.param .b32 n) { .reg .b32 %r<3>; ld.param.u32 %r1, [n];\n"
	"add.u32 %r2, %r1, 1; st.param.b32 [ret], %r2; ret; }\n"
	".func (.param .b32 ret) minus1(.param .b32 n) { .reg .b32 %r<3>; .reg .pred %p1; ld.param.u32 %r1, [n];\n"
	"setp.eq.u32 %p1, %r1, 13; @%p1 exit;\n"
	"sub.u32 %r2, %r1, 1; st.param.b32 [ret], %r2; ret; }\n"
	".global .u64 table[2] = {plus1, minus1};\n"
	".func forever(.param .b32 n) { .reg .b32 %r<3>; { .param .b32 a; ld.param.b32 %r1, [n]; st.param.b32 [a], %r1;\n"
	"call forever, (a); } ret; }\n" ENTRY(
		"recursive") "and.b32 %r5, %r1, 15; { .param .b32 a; .param .b32 v; st.param.b32 [a], %r5; call.uni (v), fib, (a);\n"
			     "ld.param.b32 %r6, [v]; } call (%r7), twice, (%r6); st.global.u32 [%d1], %r7; ret; }\n" ENTRY(
				     "indirect") "and.b32 %r5, %r1, 1; mul.wide.u32 %d5, %r5, 8; mov.u64 %d6, table; add.u64 %d6, %d6, %d5;\n"
						 "ld.global.u64 %d7, [%d6]; setp.lt.u32 %p1, %r1, 30; mov.u32 %r6, 77;\n"
						 "{ .param .b32 a; .param .b32 v; st.param.b32 [a], %r1;\n"
						 "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
						 "@%p1 call (v), %d7, (a), proto; @%p1 ld.param.b32 %r6, [v]; }\n"
						 "activemask.b32 %r8; st.global.u32 [%d1], %r6; st.global.u32 [%d1+128], %r8; ret; }\n" ENTRY(
							 "nowhere") "mov.u64 %d5, 12345; call %d5; ret; }\n" ENTRY("deep") "{ .param .b32 a; st.param.b32 [a], %r1; call forever, (a); } ret; }\n";

TS_TEST(calls)
{
	struct device d;
	uint64_t o;
	uint32_t *r, fib[16] = {0, 1};

	device_open(&d, calls);
	o = device_alloc(&d, 512);
	r = device_host(&d, o);
	DEVICE_RUN(&d, "recursive", 1, 64, o, 0);
	for (int i = 2; i < 16; i++)
		fib[i] = fib[i - 1] + fib[i - 2];
	for (uint32_t t = 0; t < 64; t++)
		ts_check_int(r[t], 2 * fib[t & 15]);
	memset(r, 0, 512);
	DEVICE_RUN(&d, "indirect", 1, 32, o, 0);
	for (uint32_t t = 0; t < 32; t++) {
		/* Lane 13 exits in the callee; the others reconverge after it. */
		ts_check_int(r[t], t == 13 ? 0 : t >= 30 ? 77 : t & 1 ? t - 1 : t + 1);
		ts_check_int(r[32 + t], t == 13 ? 0 : ~(1u << 13));
	}
	ts_check_int(device_try(&d, "nowhere", 1, 32, (const uint64_t[]){o, 0}, 2), TS_PTX_E_FAULT);
	ts_check_int(d.fault.kind, TS_PTX_FAULT_PC);
	ts_check_int(device_try(&d, "deep", 1, 32, (const uint64_t[]){o, 0}, 2), TS_PTX_E_FAULT);
	ts_check_int(d.fault.kind, TS_PTX_FAULT_STACK);
	ts_check_str(d.fault.function, "forever");
	device_close(&d);
}

static const char barriers[] = PTX_HEAD ".shared .align 4 .b8 buffer[4096];\n" ENTRY(
	"reverse") "mov.u32 %r5, buffer; shl.b32 %r6, %r4, 2; add.u32 %r7, %r5, %r6; mul.lo.u32 %r8, %r4, 3;\n"
		   "st.shared.u32 [%r7], %r8; bar.sync 0; sub.u32 %r9, %r3, %r4; sub.u32 %r9, %r9, 1;\n"
		   "shl.b32 %r9, %r9, 2; add.u32 %r9, %r5, %r9; ld.shared.u32 %r10, [%r9]; st.global.u32 [%d1], %r10; ret; }\n"
	/* Half of the threads exit before the barrier, which must not wait for them. */
	ENTRY("leavers") "and.b32 %r5, %r4, 1; setp.eq.u32 %p1, %r5, 0; @%p1 ret; barrier.sync 3; mov.u32 %r6, 5;\n"
			 "st.global.u32 [%d1], %r6; ret; }\n" ENTRY(
				 "reduce") "and.b32 %r5, %r4, 3; setp.eq.u32 %p1, %r5, 0; bar.red.popc.u32 %r6, 0, %p1;\n"
					   "bar.red.and.pred %p2, 1, %p1; bar.red.or.pred %p3, 2, !%p1; selp.u32 %r7, 1000, 0, %p2;\n"
					   "selp.u32 %r8, 10000, 0, %p3; add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r8; st.global.u32 [%d1], %r6; ret; }\n"
	/* Warp 0 produces, warp 1 consumes, through barriers of 64 threads each. */
	ENTRY("pipeline") "mov.u32 %r5, buffer; and.b32 %r6, %r4, 31; shl.b32 %r7, %r6, 2; add.u32 %r7, %r5, %r7;\n"
			  "setp.ge.u32 %p1, %r4, 32; mov.u32 %r8, 0; mov.u32 %r12, 0; @%p1 bra CONSUMER;\n"
			  "P: add.u32 %r9, %r8, %r6; st.shared.u32 [%r7], %r9; bar.arrive 1, 64; bar.sync 2, 64;\n"
			  "add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 10; @%p2 bra P; ret;\n"
			  "CONSUMER: bar.sync 1, 64; ld.shared.u32 %r9, [%r7]; add.u32 %r12, %r12, %r9; bar.arrive 2, 64;\n"
			  "add.u32 %r8, %r8, 1; setp.lt.u32 %p2, %r8, 10; @%p2 bra CONSUMER; st.global.u32 [%d1], %r12; ret; }\n" ENTRY(
				  "stuck") "bar.sync 1, 64; ret; }\n" ENTRY("apart") "setp.lt.u32 %p1, %r4, 16; @%p1 bra A; bar.sync 5, 64; bra B; A: bar.warp.sync 0xffffffff; B: ret; }\n";

TS_TEST(barriers)
{
	struct device d;
	uint64_t o;
	uint32_t *r;

	device_open(&d, barriers);
	o = device_alloc(&d, 8192);
	r = device_host(&d, o);
	DEVICE_RUN(&d, "reverse", 2, 1000, o, 0);
	for (uint32_t t = 0; t < 1000; t++) {
		ts_check_int(r[t], 3 * (999 - t));
		ts_check_int(r[1000 + t], 3 * (999 - t));
	}
	DEVICE_RUN(&d, "leavers", 1, 128, o, 0);
	ts_check_int(r[127], 5);
	DEVICE_RUN(&d, "reduce", 1, 96, o, 0);
	for (uint32_t t = 0; t < 96; t++)
		ts_check_int(r[t], 10024);
	DEVICE_RUN(&d, "pipeline", 1, 64, o, 0);
	for (uint32_t t = 0; t < 32; t++)
		ts_check_int(r[32 + t], 45 + 10 * t);
	ts_check_int(device_try(&d, "stuck", 1, 32, (const uint64_t[]){o, 0}, 2), TS_PTX_E_FAULT);
	ts_check_int(d.fault.kind, TS_PTX_FAULT_DEADLOCK);
	ts_check_int(device_try(&d, "apart", 1, 32, (const uint64_t[]){o, 0}, 2), TS_PTX_E_FAULT);
	ts_check_int(d.fault.kind, TS_PTX_FAULT_DEADLOCK);
	device_close(&d);
}

static const char progress[] = PTX_HEAD
	/* A lock that every thread takes, also lanes of one warp. */
	ENTRY("lock") "SPIN: atom.global.cas.b32 %r5, [%d2], 0, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra SPIN;\n"
		      "ld.volatile.global.u32 %r6, [%d0]; add.u32 %r6, %r6, 1; st.volatile.global.u32 [%d0], %r6; membar.gl;\n"
		      "atom.global.exch.b32 %r7, [%d2], 0; ret; }\n"
		      /*
		       * The same with the lock in a function: the caller's lanes wait for each
		       * other to return.
		       */
		      ".func acquire(.param .b64 l) { .reg .b32 %r<3>; .reg .b64 %d<2>; .reg .pred %p<2>; ld.param.u64 %d1, [l];\n"
		      "S: atom.global.cas.b32 %r1, [%d1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra S; ret; }\n" ENTRY(
			      "lock_call") "{ .param .b64 l; st.param.b64 [l], %d2; call acquire, (l); }\n"
					   "ld.volatile.global.u32 %r6, [%d0]; add.u32 %r6, %r6, 1; st.volatile.global.u32 [%d0], %r6; membar.gl;\n"
					   "atom.global.exch.b32 %r7, [%d2], 0; ret; }\n"
	/* Look-back: each block waits for the block before. */
	ENTRY("chain") "setp.ne.u32 %p1, %r4, 0; @%p1 ret; setp.eq.u32 %p2, %r2, 0; mov.u32 %r5, 0; @%p2 bra GO;\n"
		       "mul.wide.u32 %d5, %r2, 4; add.u64 %d5, %d2, %d5;\n"
		       "W: ld.acquire.gpu.global.u32 %r5, [%d5+-4]; setp.eq.u32 %p3, %r5, 0; @%p3 bra W;\n"
		       "GO: add.u32 %r5, %r5, 1; mul.wide.u32 %d5, %r2, 4; add.u64 %d5, %d2, %d5;\n"
		       "st.release.gpu.global.u32 [%d5], %r5; ret; }\n"
	/* Every block waits for all others, so all must become resident. */
	ENTRY("grid") "setp.ne.u32 %p1, %r4, 0; @%p1 ret; mov.u32 %r6, %nctaid.x; red.global.add.u32 [%d2], 1;\n"
		      "G: nanosleep.u32 100; ld.relaxed.gpu.global.u32 %r5, [%d2]; setp.lt.u32 %p3, %r5, %r6; @%p3 bra G;\n"
		      "red.global.add.u32 [%d0], 1; ret; }\n" ENTRY("forever") "L: bra L; }\n" ENTRY(
			      "watches") "L: ld.volatile.global.u32 %r0, [%d0]; setp.eq.u32 %p0, %r0, 77; @!%p0 bra L; ret; }\n";

/*
 * The engine does not stop a block that waits for another block, or that writes. It stops a block
 * that waits for a value that no block writes.
 */
static void check_watching(struct device *d, uint32_t n_threads, uint64_t o, uint64_t x)
{
	uint32_t *r = device_host(d, o);

	if (n_threads > 1)
		return;
	memset(r, 0, 4096);
	memset(device_host(d, x), 0, 4096);
	d->launch = (struct ts_ptx_launch){.max_watching_insns = 100000};
	DEVICE_RUN(d, "lock", 4, 96, o, x);
	DEVICE_RUN(d, "chain", 200, 32, o, x);
	r[0] = 77;
	DEVICE_RUN(d, "watches", 4, 64, o, x);
	r[0] = 0;
	ts_check_int(device_try(d, "watches", 4, 64, (const uint64_t[]){o, x}, 2), TS_PTX_E_FAULT);
	ts_check_int(d->fault.kind, TS_PTX_FAULT_WAITS);
}

TS_TEST(progress)
{
	struct timespec t;
	struct device d;
	uint64_t o, x;
	uint32_t *r;

	for (uint32_t n_threads = 1; n_threads <= 3; n_threads++) {
		device_load(&d, (const char *const[]){progress}, 1, n_threads);
		o = device_alloc(&d, 4096);
		x = device_alloc(&d, 4096);
		r = device_host(&d, o);
		memset(r, 0, 4096);
		memset(device_host(&d, x), 0, 4096);
		DEVICE_RUN(&d, "lock", 4, 96, o, x);
		ts_check_int(r[0], 4 * 96);
		DEVICE_RUN(&d, "lock_call", 4, 96, o, x);
		ts_check_int(r[0], 2 * 4 * 96);
		DEVICE_RUN(&d, "chain", 200, 32, o, x);
		ts_check_int(((uint32_t *)device_host(&d, x))[199], 200);
		memset(r, 0, 4096);
		memset(device_host(&d, x), 0, 4096);
		d.launch.cooperative = true;
		DEVICE_RUN(&d, "grid", 64, 64, o, x);
		ts_check_int(r[0], 64);
		d.launch.max_resident = 63;
		ts_check_int(device_try(&d, "grid", 64, 64, (const uint64_t[]){o, x}, 2),
			     TS_PTX_E_LAUNCH);
		d.launch = (struct ts_ptx_launch){.max_warp_insns = 100000};
		ts_check_int(device_try(&d, "forever", 4, 64, (const uint64_t[]){o, x}, 2),
			     TS_PTX_E_FAULT);
		ts_check_int(d.fault.kind, TS_PTX_FAULT_BUDGET);
		(void)clock_gettime(CLOCK_MONOTONIC, &t);
		d.launch = (struct ts_ptx_launch){.deadline_ns = (uint64_t)t.tv_sec * 1000000000u +
								 (uint64_t)t.tv_nsec + 50000000u};
		ts_check_int(device_try(&d, "forever", 4, 64, (const uint64_t[]){o, x}, 2),
			     TS_PTX_E_FAULT);
		ts_check_int(d.fault.kind, TS_PTX_FAULT_BUDGET);
		check_watching(&d, n_threads, o, x);
		device_close(&d);
	}
}
