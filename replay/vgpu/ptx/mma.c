// SPDX-License-Identifier: Apache-2.0
/*
 * Matrix instructions: mma.sync on the shapes of compute capability 8.0, ldmatrix, stmatrix, movmatrix. All shapes share one
 * rule for which lane holds what: a register of E elements (of 32 bits together) holds, of matrix A, row g + 8 * (r & 1) and
 * columns t * E.. + (r >> 1) * 4 * E, with g the lane's group of four and t its place there; B likewise by column.
 * Products are exact, the sum of a row and its addend is formed in double precision and rounded once, so results
 * are at least as close as hardware's, whose order of summation and truncation NVIDIA does not state.
 */
#include "replay/vgpu/ptx/half.h"
#include "replay/vgpu/ptx/mem.h"

struct matrices {
	double a[16][32], b[32][8], c[16][8];
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
	case TY_S8:
		return (int8_t)(word >> 8 * e);
	default:
		return (uint8_t)(word >> 8 * e);
	}
}

static uint32_t elements_of(enum ts_ptx_type type)
{
	return type == TY_TF32 || type == TY_F64 ? 1 : type == TY_F16 || type == TY_BF16 ? 2 : 4;
}

static double load_word(struct ts_ptx_warp *w, uint32_t ref, uint32_t lane, uint32_t e,
			enum ts_ptx_type type)
{
	if (type == TY_F64)
		return ((const double *)ts_ptx_slot(w, ref))[lane];
	return element(((const uint32_t *)ts_ptx_slot(w, ref))[lane], e, type);
}

static void load_a(struct ts_ptx_warp *w, const uint32_t *list, uint32_t n, enum ts_ptx_type type,
		   struct matrices *x)
{
	uint32_t per = elements_of(type);

	for (uint32_t r = 0; r < n; r++)
		for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++)
			for (uint32_t e = 0; e < per; e++)
				x->a[(lane >> 2) + 8 * (r & 1)]
				    [(lane & 3) * per + e + (r >> 1) * 4 * per] =
					load_word(w, list[r], lane, e, type);
}

static void load_b(struct ts_ptx_warp *w, const uint32_t *list, uint32_t n, enum ts_ptx_type type,
		   struct matrices *x)
{
	uint32_t per = elements_of(type);

	for (uint32_t r = 0; r < n; r++)
		for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++)
			for (uint32_t e = 0; e < per; e++)
				x->b[(lane & 3) * per + e + r * 4 * per][lane >> 2] =
					load_word(w, list[r], lane, e, type);
}

static void load_c(struct ts_ptx_warp *w, const uint32_t *list, uint32_t n, enum ts_ptx_type type,
		   struct matrices *x)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++) {
			double *c = &x->c[(lane >> 2) + 8 * (i >> 1)][(lane & 3) * 2 + (i & 1)];
			uint32_t word =
				type == TY_F64
					? 0
					: ((const uint32_t *)ts_ptx_slot(
						  w, list[type == TY_F16 ? i / 2 : i]))[lane];

			*c = type == TY_F64   ? ((const double *)ts_ptx_slot(w, list[i]))[lane]
			     : type == TY_F32 ? (double)ts_ptx_float(word)
			     : type == TY_S32 ? (double)(int32_t)word
					      : element(word, i & 1, TY_F16);
		}
	}
}

static void store_d(struct ts_ptx_warp *w, const uint32_t *list, uint32_t n, enum ts_ptx_type type,
		    bool satfinite, const struct matrices *x)
{
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++) {
			double c = x->c[(lane >> 2) + 8 * (i >> 1)][(lane & 3) * 2 + (i & 1)];
			void *d = ts_ptx_slot(w, list[type == TY_F16 ? i / 2 : i]);
			uint32_t *word = (uint32_t *)d + lane;
			uint32_t half;

			if (type == TY_F64) {
				((double *)d)[lane] = c;
			} else if (type == TY_F32) {
				*word = ts_ptx_bits(ts_ptx_canonical((float)c));
			} else if (type == TY_S32) {
				/* Sums of at most 32 products of bytes and an addend are exact in double. */
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

static void multiply(struct matrices *x, uint32_t m, uint32_t k, bool fused)
{
	for (uint32_t i = 0; i < m; i++) {
		for (uint32_t l = 0; l < k; l++) {
			double a = x->a[i][l];

			if (fused) {
				for (uint32_t j = 0; j < 8; j++)
					x->c[i][j] = __builtin_fma(a, x->b[l][j], x->c[i][j]);
			} else {
				TS_PTX_IVDEP
				for (uint32_t j = 0; j < 8; j++)
					x->c[i][j] += a * x->b[l][j];
			}
		}
	}
}

/* imm: TS_PTX_MMA; the list: D, A, B, C. */
static int mma(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	enum ts_ptx_type ta = TS_PTX_MMA_A(in->imm), tb = TS_PTX_MMA_B(in->imm),
			 tc = TS_PTX_MMA_C(in->imm);
	enum ts_ptx_type td = TS_PTX_MMA_D(in->imm);
	uint32_t m = TS_PTX_MMA_M(in->imm), k = TS_PTX_MMA_K(in->imm), n_c = m / 4;
	uint32_t n_b = k / (4 * elements_of(ta)), n_a = n_b * (m / 8);
	uint32_t n_dregs = td == TY_F16 ? n_c / 2 : n_c;
	struct matrices x;

	if (mask != UINT32_MAX)
		return ts_ptx_fault(w, in, (uint32_t)__builtin_ctz(mask), TS_PTX_FAULT_ILLEGAL,
				    "mma with lanes 0x%08x only: it takes a whole warp", mask);
	load_a(w, list + n_dregs, n_a, ta, &x);
	load_b(w, list + n_dregs + n_a, n_b, tb, &x);
	load_c(w, list + n_dregs + n_a + n_b, n_c, tc, &x);
	multiply(&x, m, k, td == TY_F64);
	store_d(w, list, n_c, td, in->imm & TS_PTX_MMA_SATFINITE, &x);
	w->worker->stats.tensor_flops += (uint64_t)2 * m * 8 * k;
	return 0;
}

/* The rows' pointers: lanes 0 to 7 name matrix 0's, 8 to 15 matrix 1's, and so on. */
static int matrix_rows(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask,
		       bool write, uint8_t *rows[TS_PTX_LANES])
{
	uint32_t named = in->n == 4 ? UINT32_MAX : (1u << 8 * in->n) - 1;

	if (mask != UINT32_MAX)
		return ts_ptx_fault(w, in, (uint32_t)__builtin_ctz(mask), TS_PTX_FAULT_ILLEGAL,
				    "a matrix access with lanes 0x%08x only: it takes a whole warp",
				    mask);
	return ts_ptx_addresses(w, in, named, 16, write, rows);
}

static int ldmatrix(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	bool trans = in->flags & TS_PTX_MATRIX_TRANS;
	uint8_t *rows[TS_PTX_LANES];

	if (matrix_rows(w, in, mask, false, rows))
		return STOP_FAULT;
	for (uint32_t k = 0; k < in->n; k++) {
		uint32_t *d = ts_ptx_slot(w, list[k]);

		for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++) {
			uint32_t row = lane >> 2, column = (lane & 3) * 2;
			uint16_t lo, hi;

			memcpy(&lo,
			       trans ? rows[8 * k + column] + 2 * row
				     : rows[8 * k + row] + 2 * column,
			       2);
			memcpy(&hi,
			       trans ? rows[8 * k + column + 1] + 2 * row
				     : rows[8 * k + row] + 2 * (column + 1),
			       2);
			d[lane] = lo | (uint32_t)hi << 16;
		}
	}
	return 0;
}

static int stmatrix(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	bool trans = in->flags & TS_PTX_MATRIX_TRANS;
	uint8_t *rows[TS_PTX_LANES];

	if (matrix_rows(w, in, mask, true, rows))
		return STOP_FAULT;
	for (uint32_t k = 0; k < in->n; k++) {
		const uint32_t *s = ts_ptx_slot(w, list[k]);

		for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++) {
			uint32_t row = lane >> 2, column = (lane & 3) * 2;
			uint16_t lo = (uint16_t)s[lane], hi = (uint16_t)(s[lane] >> 16);

			memcpy(trans ? rows[8 * k + column] + 2 * row
				     : rows[8 * k + row] + 2 * column,
			       &lo, 2);
			memcpy(trans ? rows[8 * k + column + 1] + 2 * row
				     : rows[8 * k + row] + 2 * (column + 1),
			       &hi, 2);
		}
	}
	return 0;
}

static int movmatrix(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask)
{
	uint32_t *d = ts_ptx_result(w, in);
	uint16_t matrix[8][8];
	const uint32_t *a = ts_ptx_slot(w, in->a);

	for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++)
		for (uint32_t e = 0; e < 2; e++)
			matrix[lane >> 2][(lane & 3) * 2 + e] = (uint16_t)(a[lane] >> 16 * e);
	for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++)
		d[lane] = matrix[(lane & 3) * 2][lane >> 2] |
			  (uint32_t)matrix[(lane & 3) * 2 + 1][lane >> 2] << 16;
	return 0;
}

void TS_PTX_FILL(mma)(struct ts_ptx_optable *t)
{
	t->fn[F_MMA][TY_NONE] = mma;
	t->fn[F_LDMATRIX][TY_NONE] = ldmatrix;
	t->fn[F_STMATRIX][TY_NONE] = stmatrix;
	t->fn[F_MOVMATRIX][TY_NONE] = movmatrix;
}
