// SPDX-License-Identifier: Apache-2.0
/*
 * mma.sync, and wmma.mma whose fragments are laid out as mma.sync's are. All shapes share one rule for which lane holds what. A
 * register holds E elements (of 32 bits together). With g the lane's group of four and t its place there, register r of
 * matrix A holds row g + 8 * (r mod M/8) and columns t * E.. + (r div M/8) * 4 * E; B's column g + 8 * (r div K/4E)
 * and rows t * E.. + (r mod K/4E) * 4 * E; elements i of C and D lie at row g + 8 * (i/2 mod M/8), column
 * 2 * t + i mod 2 + 8 * (i/2 div M/8). Products are exact, the sum of a row and its addend is formed in double precision and
 * rounded once, so results are at least as close as hardware's, whose order of summation and truncation NVIDIA does not state.
 */
#include "replay/vgpu/ptx/convert.h"
#include "replay/vgpu/ptx/half.h"
#include "replay/vgpu/ptx/lanes.h"

enum {
	MAX_MK = 16 * 256,
	MAX_KN = 256 * 8,
	MAX_MN = 256
};

struct matrices {
	uint32_t m, n, k;
	double a[MAX_MK], b[MAX_KN], c[MAX_MN]; /* row by row */
};

static double element(uint32_t word, uint32_t e, enum ts_ptx_type type)
{
	switch (type) {
	case TY_F16:
		return (double)ts_ptx_from_f16((uint16_t)(word >> 16 * e));
	case TY_BF16:
		return (double)ts_ptx_from_bf16((uint16_t)(word >> 16 * e));
	case TY_TF32:
		return (double)ts_ptx_float(word & ~0x1fffu);
	case TY_E4M3:
	case TY_E5M2:
		return (double)ts_ptx_from_fp8((uint8_t)(word >> 8 * e), type == TY_E5M2);
	case TY_S8:
		return (int8_t)(word >> 8 * e);
	case TY_S4:
		return (int32_t)(word << (28 - 4 * e)) >> 28;
	case TY_U4:
		return word >> 4 * e & 15;
	case TY_B1:
		return word >> e & 1;
	default:
		return (uint8_t)(word >> 8 * e);
	}
}

static double load_word(struct ts_ptx_warp *w, uint32_t ref, uint32_t lane, uint32_t e,
			enum ts_ptx_type type)
{
	if (type == TY_F64)
		return ((const double *)ts_ptx_slot(w, ref))[lane];
	return element(((const uint32_t *)ts_ptx_slot(w, ref))[lane], e, type);
}

static void load_a(struct ts_ptx_warp *w, const uint32_t *list, enum ts_ptx_type type,
		   struct matrices *x)
{
	uint32_t per = ts_ptx_per_register(type), blocks = x->m / 8;
	uint32_t n = blocks * (x->k / (4 * per));

	for (uint32_t r = 0; r < n; r++)
		for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++)
			for (uint32_t e = 0; e < per; e++)
				x->a[((lane >> 2) + 8 * (r % blocks)) * x->k + (lane & 3) * per +
				     e + r / blocks * 4 * per] =
					load_word(w, list[r], lane, e, type);
}

static void load_b(struct ts_ptx_warp *w, const uint32_t *list, enum ts_ptx_type type,
		   struct matrices *x)
{
	uint32_t per = ts_ptx_per_register(type), blocks = x->k / (4 * per);
	uint32_t n = blocks * (x->n / 8);

	for (uint32_t r = 0; r < n; r++)
		for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++)
			for (uint32_t e = 0; e < per; e++)
				x->b[((lane & 3) * per + e + r % blocks * 4 * per) * x->n +
				     (lane >> 2) + 8 * (r / blocks)] =
					load_word(w, list[r], lane, e, type);
}

static double *element_of_c(struct matrices *x, uint32_t i, uint32_t lane)
{
	uint32_t blocks = x->m / 8, row = (lane >> 2) + 8 * (i / 2 % blocks);

	return &x->c[row * x->n + (lane & 3) * 2 + (i & 1) + 8 * (i / 2 / blocks)];
}

static void load_c(struct ts_ptx_warp *w, const uint32_t *list, enum ts_ptx_type type,
		   struct matrices *x)
{
	for (uint32_t i = 0; i < x->m * x->n / TS_PTX_LANES; i++) {
		const void *slot = ts_ptx_slot(w, list[type == TY_F16 ? i / 2 : i]);

		for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++) {
			uint32_t word = type == TY_F64 ? 0 : ((const uint32_t *)slot)[lane];

			*element_of_c(x, i, lane) = type == TY_F64   ? ((const double *)slot)[lane]
						    : type == TY_F32 ? (double)ts_ptx_float(word)
						    : type == TY_S32 ? (double)(int32_t)word
								     : element(word, i & 1, TY_F16);
		}
	}
}

static void store_d(struct ts_ptx_warp *w, const uint32_t *list, enum ts_ptx_type type,
		    bool satfinite, struct matrices *x)
{
	for (uint32_t i = 0; i < x->m * x->n / TS_PTX_LANES; i++) {
		void *d = ts_ptx_slot(w, list[type == TY_F16 ? i / 2 : i]);

		for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++) {
			double c = *element_of_c(x, i, lane);
			uint32_t *word = (uint32_t *)d + lane;
			uint32_t half;

			if (type == TY_F64) {
				((double *)d)[lane] = c;
			} else if (type == TY_F32) {
				*word = ts_ptx_bits(ts_ptx_canonical((float)c));
			} else if (type == TY_S32) {
				/* Sums of so few small products and an addend are exact in double. */
				if (satfinite)
					c = c > INT32_MAX   ? INT32_MAX
					    : c < INT32_MIN ? INT32_MIN
							    : c;
				*word = (uint32_t)(int64_t)c;
			} else {
				half = ts_ptx_to_f16(ts_ptx_float_odd(c));
				*word = i & 1 ? (*word & 0xffff) | half << 16 : half;
			}
		}
	}
}

static void multiply(struct matrices *x, bool fused, bool exclusive)
{
	for (uint32_t i = 0; i < x->m; i++) {
		for (uint32_t l = 0; l < x->k; l++) {
			double a = x->a[i * x->k + l], *c = &x->c[i * x->n];
			const double *b = &x->b[l * x->n];

			if (fused) {
				for (uint32_t j = 0; j < x->n; j++)
					c[j] = __builtin_fma(a, b[j], c[j]);
			} else if (exclusive) {
				for (uint32_t j = 0; j < x->n; j++)
					c[j] += a != b[j];
			} else {
				TS_PTX_IVDEP
				for (uint32_t j = 0; j < x->n; j++)
					c[j] += a * b[j];
			}
		}
	}
}

/* imm: TS_PTX_MMA; the list: D, A, B, C. */
static int mma(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	enum ts_ptx_type ta = TS_PTX_MMA_A(in->imm), tb = TS_PTX_MMA_B(in->imm),
			 tc = TS_PTX_MMA_C(in->imm), td = TS_PTX_MMA_D(in->imm);
	struct matrices x;
	uint32_t n_c, per = 4 * ts_ptx_per_register(ta);

	if (mask != UINT32_MAX)
		return ts_ptx_fault(w, in, (uint32_t)__builtin_ctz(mask), TS_PTX_FAULT_ILLEGAL,
				    "mma with lanes 0x%08x only: it takes a whole warp", mask);
	x.m = TS_PTX_MMA_M(in->imm);
	x.n = in->n;
	x.k = TS_PTX_MMA_K(in->imm);
	n_c = x.m * x.n / TS_PTX_LANES;
	list += td == TY_F16 ? n_c / 2 : n_c;
	load_a(w, list, ta, &x);
	list += x.m / 8 * (x.k / per);
	load_b(w, list, tb, &x);
	list += x.n / 8 * (x.k / per);
	load_c(w, list, tc, &x);
	multiply(&x, td == TY_F64, in->imm & TS_PTX_MMA_XOR);
	store_d(w, ts_ptx_operands(w, in), td, in->imm & TS_PTX_MMA_SATFINITE, &x);
	w->worker->stats.tensor_flops += (uint64_t)2 * x.m * x.n * x.k;
	return 0;
}

void TS_PTX_FILL(mma)(struct ts_ptx_optable *t)
{
	t->fn[F_MMA][TY_NONE] = mma;
}
