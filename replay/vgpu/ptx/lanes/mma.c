// SPDX-License-Identifier: Apache-2.0
/*
 * mma.sync, and wmma.mma, whose fragments have the layout of mma.sync. The interpreter's loop calls
 * this file through the optable. One rule gives the layout of all shapes. A register contains E
 * elements (32 bits together). g is the lane's group of four, t its position in the group:
 *
 *     A, register r:    row g + 8 * (r mod M/8), columns t * E.. + (r div M/8) * 4 * E
 *     B, register r:    column g + 8 * (r div K/4E), rows t * E.. + (r mod K/4E) * 4 * E
 *     C, D, element i:  row g + 8 * (i/2 mod M/8), column 2 * t + i mod 2 + 8 * (i/2 div M/8)
 *
 * Products are exact. The sum of a row and its addend is computed in double precision and rounded
 * once. So results are at least as close as hardware's; NVIDIA does not document its order of
 * summation and its truncation.
 */
#include "replay/vgpu/ptx/lanes/convert.h"
#include "replay/vgpu/ptx/lanes/half.h"
#include "replay/vgpu/ptx/lanes/lanes.h"

enum {
	MAX_MK = 16 * 256,
	MAX_KN = 256 * 8,
	MAX_MN = 256,
	COLUMNS = 8,			 /* of a block of B, C and D */
	MAX_ELEMENTS = TS_PTX_LANES * 32 /* of a register in all lanes */
};

typedef double v4 __attribute__((vector_size(32)));

/*
 * `a` is stored row by row. `b`, `c` and `d` are stored in blocks of 8 columns; within a block, row
 * by row.
 */
struct matrices {
	uint32_t m, n, k;
	double a[MAX_MK] __attribute__((aligned(64)));
	double b[MAX_KN] __attribute__((aligned(64)));
	double c[MAX_MN] __attribute__((aligned(64)));
};

static double element(uint32_t word, uint32_t e, enum ts_ptx_type type)
{
	switch (type) {
	case TY_E4M3:
	case TY_E5M2:
		return (double)ts_ptx_from_fp8((uint8_t)(word >> 8 * e), type == TY_E5M2);
	case TY_S4:
		return (int32_t)(word << (28 - 4 * e)) >> 28;
	case TY_U4:
		return word >> 4 * e & 15;
	default:
		return word >> e & 1;
	}
}

#define UNPACK(T, n, expr)                       \
	{                                        \
		const T *s = (const T *)slot;    \
                                                 \
		TS_PTX_IVDEP                     \
		for (int i = 0; i < (n); i++)    \
			out[i] = (double)(expr); \
	}                                        \
	break

/*
 * Writes the elements of a register to `out`: all elements of lane 0, then those of lane 1, and so
 * on. The elements of a lane begin at its lowest bit.
 */
static void unpack(const void *slot, enum ts_ptx_type type, double *out)
{
	uint32_t per = ts_ptx_per_register(type);

	switch (type) {
	case TY_F64:
		UNPACK(double, 32, s[i]);
	case TY_TF32:
		UNPACK(uint32_t, 32, ts_ptx_float(s[i] & ~0x1fffu));
	case TY_F16:
		UNPACK(uint16_t, 64, ts_ptx_from_f16(s[i]));
	case TY_BF16:
		UNPACK(uint16_t, 64, ts_ptx_from_bf16(s[i]));
	case TY_S8:
		UNPACK(int8_t, 128, s[i]);
	case TY_U8:
	case TY_B8:
		UNPACK(uint8_t, 128, s[i]);
	default:
		for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++)
			for (uint32_t e = 0; e < per; e++)
				out[lane * per + e] =
					element(((const uint32_t *)slot)[lane], e, type);
	}
}

static void load_a(struct ts_ptx_warp *w, const uint32_t *list, enum ts_ptx_type type,
		   struct matrices *x)
{
	uint32_t chunk = 4 * ts_ptx_per_register(type), blocks = x->m / 8;
	uint32_t n = blocks * (x->k / chunk);
	double elements[MAX_ELEMENTS];

	for (uint32_t r = 0; r < n; r++) {
		double *a = x->a + r % blocks * 8 * x->k + r / blocks * chunk;

		unpack(ts_ptx_slot(w, list[r]), type, elements);
		for (uint32_t g = 0; g < 8; g++)
			memcpy(a + g * x->k, elements + g * chunk, chunk * sizeof(*a));
	}
}

static void load_b(struct ts_ptx_warp *w, const uint32_t *list, enum ts_ptx_type type,
		   struct matrices *x)
{
	uint32_t chunk = 4 * ts_ptx_per_register(type), blocks = x->k / chunk;
	uint32_t n = blocks * (x->n / COLUMNS);
	double elements[MAX_ELEMENTS], *b = x->b;

	for (uint32_t r = 0; r < n; r++) {
		unpack(ts_ptx_slot(w, list[r]), type, elements);
		for (uint32_t row = 0; row < chunk; row++, b += COLUMNS)
			for (uint32_t g = 0; g < COLUMNS; g++)
				b[g] = elements[g * chunk + row];
	}
}

/* Returns a pointer to element i of lane 0. The element of each next lane is 2 elements later. */
static double *elements_of_c(struct matrices *x, uint32_t i)
{
	uint32_t blocks = x->m / 8;

	return x->c + i / 2 / blocks * x->m * COLUMNS + i / 2 % blocks * 8 * COLUMNS + (i & 1);
}

#define EACH_OF_C(T, statement)                                     \
	for (uint32_t i = 0; i < x->m * x->n / TS_PTX_LANES; i++) { \
		T *s = ts_ptx_slot(w, list[i]);                     \
		double *c = elements_of_c(x, i);                    \
                                                                    \
		TS_PTX_IVDEP                                        \
		for (int lane = 0; lane < TS_PTX_LANES; lane++)     \
			statement;                                  \
	}

/* Two halves per register: elements i and i + 1, for even i. */
#define EACH_HALF_OF_C(statement)                                      \
	for (uint32_t i = 0; i < x->m * x->n / TS_PTX_LANES; i += 2) { \
		uint16_t *s = ts_ptx_slot(w, list[i / 2]);             \
		double *c = elements_of_c(x, i);                       \
                                                                       \
		TS_PTX_IVDEP                                           \
		for (int e = 0; e < 2 * TS_PTX_LANES; e++)             \
			statement;                                     \
	}

static void load_c(struct ts_ptx_warp *w, const uint32_t *list, enum ts_ptx_type type,
		   struct matrices *x)
{
	if (type == TY_F64)
		EACH_OF_C(double, c[2 * lane] = s[lane])
	else if (type == TY_F32)
		EACH_OF_C(float, c[2 * lane] = (double)s[lane])
	else if (type == TY_S32)
		EACH_OF_C(int32_t, c[2 * lane] = (double)s[lane])
	else
		EACH_HALF_OF_C(c[e] = (double)ts_ptx_from_f16(s[e]))
}

static int32_t saturated(double c)
{
	return c > INT32_MAX ? INT32_MAX : c < INT32_MIN ? INT32_MIN : (int32_t)c;
}

static void store_d(struct ts_ptx_warp *w, const uint32_t *list, enum ts_ptx_type type,
		    bool satfinite, struct matrices *x)
{
	if (type == TY_F64)
		EACH_OF_C(double, s[lane] = c[2 * lane])
	else if (type == TY_F32)
		EACH_OF_C(uint32_t, s[lane] = ts_ptx_bits(ts_ptx_canonical((float)c[2 * lane])))
	else if (type == TY_S32 && satfinite)
		EACH_OF_C(int32_t, s[lane] = saturated(c[2 * lane]))
	else if (type == TY_S32) /* such sums are exact in double */
		EACH_OF_C(uint32_t, s[lane] = (uint32_t)(int64_t)c[2 * lane])
	else
		EACH_HALF_OF_C(s[e] = ts_ptx_to_f16(ts_ptx_float_odd(c[e])))
}

/*
 * Multiplies four rows of a block. Their sums stay in CPU registers. Products are added in order of
 * k.
 */
static void multiply_rows(const double *a, uint32_t k, const double *b, double *c)
{
	v4 sum[4][2];

	memcpy(sum, c, sizeof(sum));
	for (uint32_t l = 0; l < k; l++) {
		v4 lo, hi;

		memcpy(&lo, b + l * COLUMNS, sizeof(lo));
		memcpy(&hi, b + l * COLUMNS + 4, sizeof(hi));
		for (int i = 0; i < 4; i++) {
			sum[i][0] += a[(uint32_t)i * k + l] * lo;
			sum[i][1] += a[(uint32_t)i * k + l] * hi;
		}
	}
	memcpy(c, sum, sizeof(sum));
}

static void multiply(struct matrices *x, bool fused, bool exclusive)
{
	for (uint32_t block = 0; block < x->n / COLUMNS; block++) {
		double *c = x->c + block * x->m * COLUMNS;
		const double *b = x->b + block * x->k * COLUMNS;

		if (!fused && !exclusive) {
			for (uint32_t i = 0; i < x->m; i += 4)
				multiply_rows(x->a + i * x->k, x->k, b, c + i * COLUMNS);
			continue;
		}
		for (uint32_t i = 0; i < x->m; i++, c += COLUMNS) {
			for (uint32_t l = 0; l < x->k; l++) {
				double a = x->a[i * x->k + l];

				for (int j = 0; j < COLUMNS; j++)
					c[j] = fused ? __builtin_fma(a, b[l * COLUMNS + j], c[j])
						     : c[j] + (a != b[l * COLUMNS + j]);
			}
		}
	}
}

/* Runs mma. imm: TS_PTX_MMA; the operand list: D, A, B, C. */
static int mma(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	enum ts_ptx_type ta = TS_PTX_MMA_A(in->imm), tb = TS_PTX_MMA_B(in->imm),
			 tc = TS_PTX_MMA_C(in->imm), td = TS_PTX_MMA_D(in->imm);
	struct matrices x;
	uint32_t n_c, per = 4 * ts_ptx_per_register(ta);

	if (mask != UINT32_MAX)
		return ts_ptx_fault(w, in, (uint32_t)__builtin_ctz(mask), TS_PTX_FAULT_ILLEGAL,
				    "mma with lanes 0x%08x only: the instruction needs a whole "
				    "warp",
				    mask);
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
