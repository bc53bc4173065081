/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-ptx [N]: executed PTX instructions per second on one core, counted per thread, in
 * replay/vgpu/ptx. Runs arithmetic, divergent and vector-access kernels with each version of the
 * lane functions that the CPU supports ("base" is the baseline). Also measures launches per second
 * of an empty kernel. Each line is one JSON object.
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

static double seconds_of(struct ts_ptx_engine *engine, const struct ts_ptx_launch *launch,
			 struct ts_ptx_stats *ret_stats)
{
	struct ts_ptx_error error;
	struct ts_ptx_fault fault;
	uint64_t start = ts_clock_monotonic_ns();

	if (ts_ptx_run(engine, launch, ret_stats, &fault, &error))
		fail("run", &error);
	return (double)(ts_clock_monotonic_ns() - start) * 1e-9;
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
		double seconds = seconds_of(engine, &launch, &stats);

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
	struct ts_ptx_stats stats;
	double seconds = 0;

	for (uint64_t i = 0; i < n; i++)
		seconds += seconds_of(engine, &launch, &stats);
	printf("{\"kernel\": \"empty\", \"launches_per_s\": %.0f}\n", (double)n / seconds);
}

int main(int argc, char **argv)
{
	static const char *const isas[] = {"base", "v3", "v4"};
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
		measure(engine, image, isas[i], "arithmetic", n);
		measure(engine, image, isas[i], "divergent", n / 10 + 1);
		measure(engine, image, isas[i], "vectors", n);
		if (i == 0)
			measure_launches(engine, image, n * 10);
		ts_ptx_image_free(image);
	}
	ts_ptx_module_free(module);
	ts_ptx_engine_free(engine);
	return 0;
}
