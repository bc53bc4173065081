// SPDX-License-Identifier: Apache-2.0
/*
 * Video instructions, one lane at a time: they are rare, so none needs a vectorised loop. The
 * interpreter's loop calls them through the optable.
 */
#include "replay/vgpu/ptx/run/ptx-exec.h"

static int64_t signed_part(uint32_t word, uint32_t i, uint32_t bits, bool is_signed)
{
	int64_t v = (int64_t)(word >> i * bits & (uint32_t)(UINT64_MAX >> (64 - bits)));

	return is_signed && v >> (bits - 1) & 1 ? v - (INT64_C(1) << bits) : v;
}

static int64_t clamp(int64_t v, uint32_t bits, bool is_signed)
{
	int64_t high = (INT64_C(1) << (is_signed ? bits - 1 : bits)) - 1;
	int64_t low = is_signed ? -high - 1 : 0;

	return v < low ? low : v > high ? high : v;
}

/*
 * Saturates a result as GPUs do: they emulate these instructions and clamp a 32-bit unsigned sum or
 * difference only from below.
 */
static int64_t saturate(int64_t v, uint32_t bits, uint32_t aux)
{
	uint32_t op = aux & TS_PTX_VIDEO_OP_MASK;

	if (bits == 32 && !(aux & TS_PTX_VIDEO_SIGNED_D) &&
	    (op == VIDEO_ADD || op == VIDEO_SUB || op == VIDEO_ABSDIFF))
		return v < 0 ? 0 : v;
	return clamp(v, bits, aux & TS_PTX_VIDEO_SIGNED_D);
}

static bool compare(int64_t a, int64_t b, uint32_t cmp)
{
	switch (cmp) {
	case CMP_EQ:
		return a == b;
	case CMP_NE:
		return a != b;
	case CMP_LT:
		return a < b;
	case CMP_LE:
		return a <= b;
	case CMP_GT:
		return a > b;
	default:
		return a >= b;
	}
}

static int64_t first_operation(int64_t a, int64_t b, int64_t c, uint32_t aux)
{
	uint64_t count = (uint64_t)b;

	switch ((enum ts_ptx_video)(aux & TS_PTX_VIDEO_OP_MASK)) {
	case VIDEO_ADD:
		return a + b;
	case VIDEO_SUB:
		return a - b;
	case VIDEO_AVRG:
		return (a + b + (a + b >= 0)) >> 1;
	case VIDEO_ABSDIFF:
		return a > b ? a - b : b - a;
	case VIDEO_MIN:
		return a < b ? a : b;
	case VIDEO_MAX:
		return a > b ? a : b;
	case VIDEO_SHL:
	case VIDEO_SHR:
		count = aux & TS_PTX_VIDEO_WRAP ? count & 31 : count > 32 ? 32 : count;
		return (aux & TS_PTX_VIDEO_OP_MASK) == VIDEO_SHL ? (int64_t)((uint64_t)a << count)
								 : a >> count;
	case VIDEO_SET:
		return compare(a, b, aux >> TS_PTX_VIDEO_CMP_SHIFT & 7);
	default:
		return (int64_t)((uint64_t)a * (uint64_t)b + (uint64_t)c) >>
		       (aux >> TS_PTX_VIDEO_SCALE_SHIFT & 15);
	}
}

static uint32_t second_operation(int64_t v, uint32_t c, uint32_t aux)
{
	bool is_signed = aux & TS_PTX_VIDEO_SIGNED_D;
	int64_t x = is_signed ? (int32_t)v : (int64_t)(uint32_t)v;
	int64_t y = is_signed ? (int32_t)c : (int64_t)c;

	switch (aux >> TS_PTX_VIDEO_SECOND_SHIFT) {
	case 0:
		return (uint32_t)v;
	case 1:
		return (uint32_t)v + c;
	case 2:
		return (uint32_t)(x < y ? x : y);
	default:
		return (uint32_t)(x > y ? x : y);
	}
}

static uint32_t compute_lane(uint32_t a, uint32_t b, uint32_t c, uint32_t aux)
{
	uint32_t parts = aux >> TS_PTX_VIDEO_PARTS_SHIFT & 7, bits = 32 / parts, d = 0;
	bool sum = aux >> TS_PTX_VIDEO_SECOND_SHIFT;
	int64_t addend = aux & TS_PTX_VIDEO_SIGNED_D ? (int32_t)c : (int64_t)c;

	for (uint32_t i = 0; i < parts; i++) {
		int64_t v = first_operation(signed_part(a, i, bits, aux & TS_PTX_VIDEO_SIGNED_A),
					    signed_part(b, i, bits, aux & TS_PTX_VIDEO_SIGNED_B),
					    addend, aux);

		if (aux & TS_PTX_VIDEO_SAT)
			v = saturate(v, bits, aux);
		if (parts == 1)
			return second_operation(v, c, aux);
		if (sum)
			d += (uint32_t)v;
		else
			d |= (uint32_t)(v & ((1 << bits) - 1)) << i * bits;
	}
	return sum ? d + c : d;
}

static int execute(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t *a = ts_ptx_slot(w, in->a), *b = ts_ptx_slot(w, in->b),
		       *c = ts_ptx_slot(w, in->c);
	uint32_t *d = ts_ptx_result(w, in);

	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);

		d[i] = compute_lane(a[i], b[i], c[i], in->aux);
	}
	return 0;
}

void ts_ptx_fill_video(struct ts_ptx_optable *t)
{
	t->fn[F_VIDEO][TY_NONE] = execute;
}
