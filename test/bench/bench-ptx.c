/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-ptx [N]: executed PTX instructions per second on one core, counted per thread, in
 * replay/vgpu/ptx. Runs a kernel for each cost of real programs (arithmetic, divergence, vector
 * accesses, flushing, shuffles, barriers, calls, atomics) with each version of the lane functions
 * that the CPU supports ("base" is the baseline). Also measures launches per second of an empty
 * kernel. Each line is one JSON object.
 */
#include <string.h>

#include "replay/vgpu/ptx/lanes/ops.h"
#include "test/bench/bench.h"

#define BYTES (1u << 20)
#define BASE  UINT64_C(0x10000000)

static const char text[] =
	".version 8.0\n.target sm_80\n.address_size 64\n"
	".visible .entry arithmetic(.param .u64 p, .param .u64 n) {\n"
	".reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %d<5>; .reg .pred %p;\n"
	"ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, 7; cvt.rn.f32.u32 %f1, %r2;\n"
	"mov.f32 %f2, 0f3F8003E8; mov.f32 %f3, 0f3F000000; mov.f32 %f4, 0f40000000;\n"
	"L: fma.rn.f32 %f1, %f1, %f2, %f3; fma.rn.f32 %f4, %f4, %f2, %f1; mad.lo.u32 %r2, %r2, 1664525, 1013904223;\n"
	"shr.u32 %r4, %r2, 3; xor.b32 %r3, %r3, %r4; mul.f32 %f3, %f3, 0f3F7FBE77; add.f32 %f3, %f3, %f2;\n"
	"and.b32 %r5, %r2, 255; add.u32 %r3, %r3, %r5; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra L;\n"
	"cvt.rzi.s32.f32 %r6, %f4; add.u32 %r3, %r3, %r6; mul.wide.u32 %d2, %r2, 0; add.u64 %d1, %d1, %d2;\n"
	"st.global.u32 [%d1], %r3; ret; }\n"
	/* Each lane has its own number of steps, with branches in each step. */
	".visible .entry divergent(.param .u64 p, .param .u64 n) {\n"
	".reg .b32 %r<20>; .reg .b64 %d<5>; .reg .pred %p<5>;\n"
	"ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r8, 0;\n"
	"N: mad.lo.u32 %r3, %r2, 0x9e3779b1, %r1; or.b32 %r3, %r3, 1;\n"
	"L: and.b32 %r4, %r3, 1; setp.eq.u32 %p1, %r4, 0; @%p1 bra E; shr.u32 %r3, %r3, 1; add.u32 %r8, %r8, 3; bra J;\n"
	"E: shr.u32 %r3, %r3, 2; xor.b32 %r8, %r8, %r3;\n"
	"J: and.b32 %r5, %r3, 7; setp.ne.u32 %p2, %r5, 5; @%p2 bra K; mad.lo.u32 %r8, %r3, 3, %r8;\n"
	"K: setp.gt.u32 %p3, %r3, 1; @%p3 bra L; sub.u32 %r1, %r1, 1; setp.ne.u32 %p4, %r1, 0; @%p4 bra N;\n"
	"st.global.u32 [%d1], %r8; ret; }\n"
	/* Vector loads and stores of 16 and 8 bytes by neighbouring lanes. */
	".visible .entry vectors(.param .u64 p, .param .u64 n) {\n"
	".reg .b32 %r<20>; .reg .f32 %f<20>; .reg .b64 %d<8>; .reg .pred %p;\n"
	"ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x;\n"
	"mul.wide.u32 %d2, %r2, 16; add.u64 %d2, %d2, %d1; mul.wide.u32 %d3, %r2, 8; add.u64 %d3, %d3, %d1;\n"
	"L: ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d2]; ld.global.v2.f32 {%f5, %f6}, [%d3+8192];\n"
	"fma.rn.f32 %f1, %f1, %f5, %f2; st.global.v4.f32 [%d2+16384], {%f1, %f2, %f3, %f4};\n"
	"st.global.v2.f32 [%d3+32768], {%f5, %f6}; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra L; ret; }\n"
	/* Arithmetic of nvcc's -use_fast_math. */
	".visible .entry flushing(.param .u64 p, .param .u64 n) {\n"
	".reg .b32 %r<4>; .reg .f32 %f<8>; .reg .b64 %d<4>; .reg .pred %p;\n"
	"ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; cvt.rn.f32.u32 %f1, %r2;\n"
	"mov.f32 %f2, 0f3F8003E8; mov.f32 %f3, 0f3F000000;\n"
	"L: fma.rn.ftz.f32 %f1, %f1, %f2, %f3; mul.ftz.f32 %f4, %f1, %f3; add.ftz.f32 %f5, %f4, %f2;\n"
	"sub.ftz.f32 %f6, %f5, %f1; fma.rn.ftz.f32 %f3, %f6, %f2, %f3; sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra L;\n"
	"mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2; st.global.f32 [%d1], %f3; ret; }\n"
	/* A reduction over the lanes of a warp. */
	".visible .entry lanes(.param .u64 p, .param .u64 n) {\n"
	".reg .b32 %r<12>; .reg .b64 %d<4>; .reg .pred %p<4>;\n"
	"ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, %r2;\n"
	"L: shfl.sync.down.b32 %r4, %r3, 16, 31, -1; add.u32 %r3, %r3, %r4; shfl.sync.bfly.b32 %r5|%p1, %r3, 8, 31, -1;\n"
	"add.u32 %r3, %r3, %r5; shfl.sync.idx.b32 %r6, %r3, 0, 31, -1; xor.b32 %r3, %r6, %r2; setp.gt.u32 %p2, %r3, 99;\n"
	"vote.sync.ballot.b32 %r7, %p2, -1; redux.sync.max.u32 %r8, %r3, -1; add.u32 %r3, %r7, %r8;\n"
	"sub.u32 %r1, %r1, 1; setp.ne.u32 %p3, %r1, 0; @%p3 bra L;\n"
	"mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r3; ret; }\n"
	/* Shared memory between two barriers; neighbours at a distance of 33 words. */
	".visible .entry barriers(.param .u64 p, .param .u64 n) {\n"
	".shared .align 4 .b8 tile[8192]; .reg .b32 %r<12>; .reg .b64 %d<4>; .reg .pred %p;\n"
	"ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, tile; shl.b32 %r4, %r2, 2; add.u32 %r4, %r4, %r3;\n"
	"mad.lo.u32 %r5, %r2, 33, 7; and.b32 %r5, %r5, 255; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r3; mov.u32 %r6, %r2;\n"
	"L: st.shared.u32 [%r4], %r6; bar.sync 0; ld.shared.u32 %r7, [%r5]; bar.sync 0; add.u32 %r6, %r6, %r7;\n"
	"sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra L;\n"
	"mul.wide.u32 %d2, %r2, 4; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r6; ret; }\n"
	/* Calls as nvcc makes them for functions that it does not inline. */
	".func (.param .b32 r) step(.param .b32 x, .param .b64 y) { .reg .b32 %r<4>; .reg .b64 %d<3>;\n"
	"ld.param.u32 %r1, [x]; ld.param.u64 %d1, [y]; cvt.u32.u64 %r2, %d1; xor.b32 %r3, %r1, %r2; st.param.b32 [r], %r3; ret; }\n"
	".visible .entry calls(.param .u64 p, .param .u64 n) {\n"
	".reg .b32 %r<6>; .reg .b64 %d<4>; .reg .pred %p;\n"
	"ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, %r2; cvt.u64.u32 %d2, %r2;\n"
	"L: { .param .b32 a; .param .b64 b; .param .b32 c; st.param.b32 [a], %r3; st.param.b64 [b], %d2;\n"
	"call.uni (c), step, (a, b); ld.param.b32 %r3, [c]; }\n"
	"sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra L;\n"
	"shl.b64 %d2, %d2, 2; add.u64 %d1, %d1, %d2; st.global.u32 [%d1], %r3; ret; }\n"
	/* Atomics at one address, also of shared memory, and at the thread's own address. */
	".visible .entry atomics(.param .u64 p, .param .u64 n) {\n"
	".shared .align 4 .b32 count; .reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %p;\n"
	"ld.param.u64 %d1, [p]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mul.wide.u32 %d2, %r2, 4; add.u64 %d2, %d1, %d2;\n"
	"L: atom.global.add.u32 %r3, [%d1], 1; red.global.add.u32 [%d2+4096], %r3; red.shared.add.u32 [count], 1;\n"
	"sub.u32 %r1, %r1, 1; setp.ne.u32 %p, %r1, 0; @%p bra L; ret; }\n"
	".visible .entry empty() { ret; }\n";

static uint8_t memory[BYTES];

static int resolve(void *userdata, uint64_t address, uint64_t *ret_base, uint64_t *ret_bytes,
		   uint8_t **ret_host, uint32_t *ret_flags)
{
	if (address - BASE >= BYTES)
		return -1;
	*ret_base = BASE;
	*ret_bytes = BYTES;
	*ret_host = memory;
	*ret_flags = 0;
	return 0;
}

static void fail(const char *what, const struct ts_ptx_error *error)
{
	fprintf(stderr, "bench-ptx: %s: %s\n", what, error->message);
	exit(1);
}

static void run(struct ts_ptx_engine *engine, const struct ts_ptx_launch *launch,
		struct ts_ptx_stats *ret_stats)
{
	struct ts_ptx_error error;
	struct ts_ptx_fault fault;

	if (ts_ptx_run(engine, launch, ret_stats, &fault, &error))
		fail("run", &error);
}

static void measure(struct ts_ptx_engine *engine, const struct ts_ptx_image *image, const char *isa,
		    const char *name, uint64_t n)
{
	const uint64_t params[] = {BASE, n};
	struct ts_ptx_launch launch = {.kernel = ts_ptx_image_find_kernel(image, name),
				       .grid = {4, 1, 1},
				       .block = {256, 1, 1},
				       .params = params,
				       .params_bytes = sizeof(params)};
	struct ts_ptx_stats stats = {0};
	double best = 1e9;

	for (int pass = 0; pass < 5; pass++) {
		double start = ts_bench_cpu_s(), seconds;

		run(engine, &launch, &stats);
		seconds = ts_bench_cpu_s() - start;
		best = seconds < best ? seconds : best;
	}
	printf("{\"isa\": \"%s\", \"kernel\": \"%s\", \"thread_instructions_per_s\": %.0f, "
	       "\"lanes_active\": %.1f}\n",
	       isa, name, (double)stats.thread_insns / best,
	       (double)stats.thread_insns / (double)stats.warp_insns);
}

static void measure_launches(struct ts_ptx_engine *engine, const struct ts_ptx_image *image,
			     uint64_t n)
{
	struct ts_ptx_launch launch = {.kernel = ts_ptx_image_find_kernel(image, "empty"),
				       .grid = {1, 1, 1},
				       .block = {1, 1, 1}};
	double start = ts_bench_cpu_s();
	struct ts_ptx_stats stats;

	for (uint64_t i = 0; i < n; i++)
		run(engine, &launch, &stats);
	printf("{\"kernel\": \"empty\", \"launches_per_s\": %.0f}\n",
	       (double)n / (ts_bench_cpu_s() - start));
}

int main(int argc, char **argv)
{
	static const char *const isas[] = {"base", "v3", "v4"};
	/* The loop of a kernel runs for 1 / steps of N. */
	static const struct {
		const char *name;
		unsigned steps;
	} kernels[] = {{"arithmetic", 1}, {"divergent", 10}, {"vectors", 1}, {"flushing", 1},
		       {"lanes", 4},	  {"barriers", 2},   {"calls", 10},  {"atomics", 10}};
	const struct ts_ptx_host host = {.resolve = resolve};
	uint64_t n = ts_bench_count(argc, argv, 4000);
	struct ts_ptx_engine *engine;
	struct ts_ptx_module *module;
	struct ts_ptx_image *image;
	struct ts_ptx_error error;

	ts_bench_pin(0);
	if (ts_ptx_engine_new(&host, 1, &engine))
		return 1;
	if (ts_ptx_module_parse(text, strlen(text), &module, &error))
		fail("parse", &error);
	for (size_t i = 0; i < sizeof(isas) / sizeof(isas[0]); i++) {
		if (!ts_ptx_ops(isas[i]))
			continue;
		if (ts_ptx_link_isa(&module, 1, isas[i], &image, &error))
			fail("link", &error);
		for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
			measure(engine, image, isas[i], kernels[k].name, n / kernels[k].steps + 1);
		if (i == 0)
			measure_launches(engine, image, n * 10);
		ts_ptx_image_free(image);
	}
	ts_ptx_module_free(module);
	ts_ptx_engine_free(engine);
	return 0;
}
