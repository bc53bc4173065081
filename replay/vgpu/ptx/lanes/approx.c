// SPDX-License-Identifier: Apache-2.0
/*
 * Approximate functions that do not vectorise. exec-float.c has those that do. PTX limits their
 * errors. These functions compute in double, or with libm in single precision with an error below
 * one ulp. README.md has the table. With .ftz, inputs and results are flushed. The lane loop calls
 * them through the optable.
 */
#include <math.h>

#include "replay/vgpu/ptx/lanes/half.h"
#include "replay/vgpu/ptx/run/ptx-exec.h"

static float ftz(float f, const struct ts_ptx_insn *in)
{
	uint32_t u = ts_ptx_bits(f);

	return (in->space & TS_PTX_MODE_FTZ) && !(u & 0x7f800000) ? ts_ptx_float(u & 0x80000000)
								  : f;
}

static int tanh_f32(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const float *a = ts_ptx_slot(w, in->a);
	float *d = ts_ptx_result(w, in);

	for (uint32_t left = m; left; left &= left - 1) {
		int i = __builtin_ctz(left);
		float y = (float)tanh((double)ftz(a[i], in));

		d[i] = ftz(ts_ptx_canonical(y), in);
	}
	return 0;
}

/*
 * Compute the seeds of double precision division and square root: only the upper word of the
 * result.
 */
static int rcp_f64(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint64_t *a = ts_ptx_slot(w, in->a);
	uint64_t *d = ts_ptx_result(w, in);

	for (uint32_t left = m; left; left &= left - 1) {
		int i = __builtin_ctz(left);
		uint64_t x = a[i] & ~(uint64_t)UINT32_MAX, r;

		if (!(x >> 52 & 0x7ff))
			x &= UINT64_C(1) << 63;
		r = ts_ptx_bits64(1.0 / ts_ptx_double(x));
		if (!(r >> 52 & 0x7ff))
			r &= UINT64_C(1) << 63;
		d[i] = r & ~(uint64_t)UINT32_MAX;
	}
	return 0;
}

static int rsqrt_ftz_f64(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint64_t *a = ts_ptx_slot(w, in->a);
	uint64_t *d = ts_ptx_result(w, in);

	for (uint32_t left = m; left; left &= left - 1) {
		int i = __builtin_ctz(left);
		uint64_t x = a[i] & ~(uint64_t)UINT32_MAX;

		if (!(x >> 52 & 0x7ff))
			x &= UINT64_C(1) << 63;
		d[i] = ts_ptx_bits64(1.0 / sqrt(ts_ptx_double(x))) & ~(uint64_t)UINT32_MAX;
	}
	return 0;
}

#define HALF(name, from, to, f)                                                          \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m) \
	{                                                                                \
		const uint32_t *a = ts_ptx_slot(w, in->a);                               \
		uint32_t *d = ts_ptx_result(w, in);                                      \
                                                                                         \
		for (uint32_t left = m; left; left &= left - 1) {                        \
			int i = __builtin_ctz(left);                                     \
			uint32_t lo = to(f(from((uint16_t)a[i])));                       \
			uint32_t hi = to(f(from((uint16_t)(a[i] >> 16))));               \
                                                                                         \
			d[i] = lo | hi << 16;                                            \
		}                                                                        \
		return 0;                                                                \
	}
/* Rounds to bf16, and flushes a denormal result to zero: ex2.bf16 exists only with .ftz. */
static uint16_t to_bf16_ftz(float f)
{
	uint16_t h = ts_ptx_to_bf16(f);

	return h & 0x7f80 ? h : h & 0x8000;
}

HALF(ts_ptx_ex2_f16, ts_ptx_from_f16, ts_ptx_to_f16, exp2f)
HALF(ts_ptx_ex2_bf16, ts_ptx_from_bf16, to_bf16_ftz, exp2f)
HALF(ts_ptx_tanh_f16, ts_ptx_from_f16, ts_ptx_to_f16, tanhf)
HALF(ts_ptx_tanh_bf16, ts_ptx_from_bf16, ts_ptx_to_bf16, tanhf)

void ts_ptx_fill_approx(struct ts_ptx_optable *t)
{
	t->fn[F_TANH][TY_F32] = tanh_f32;
	t->fn[F_RCP_APPROX][TY_F64] = rcp_f64;
	t->fn[F_RSQRT_APPROX][TY_NONE] = rsqrt_ftz_f64;
	t->fn[F_EX2][TY_F16] = t->fn[F_EX2][TY_F16X2] = ts_ptx_ex2_f16;
	t->fn[F_EX2][TY_BF16] = t->fn[F_EX2][TY_BF16X2] = ts_ptx_ex2_bf16;
	t->fn[F_TANH][TY_F16] = t->fn[F_TANH][TY_F16X2] = ts_ptx_tanh_f16;
	t->fn[F_TANH][TY_BF16] = t->fn[F_TANH][TY_BF16X2] = ts_ptx_tanh_bf16;
}
