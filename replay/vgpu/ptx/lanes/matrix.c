// SPDX-License-Identifier: Apache-2.0
/*
 * Moves matrices between memory and registers: ldmatrix, stmatrix, movmatrix, wmma.load and
 * wmma.store. PTX leaves wmma fragments to the implementation. Here they have the layout of
 * mma.sync (mma.c), which hardware also uses for the common ones. The interpreter's loop calls
 * these functions through the optable.
 */
#include "replay/vgpu/ptx/lanes/mem.h"

/*
 * Computes the pointers to the rows. Lanes 0 to 7 hold the addresses of matrix 0's rows, lanes 8 to
 * 15 those of matrix 1's, and so on.
 */
static int matrix_rows(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask,
		       bool write, uint8_t *rows[TS_PTX_LANES])
{
	uint32_t named = in->n == 4 ? UINT32_MAX : (1u << 8 * in->n) - 1;

	if (mask != UINT32_MAX)
		return ts_ptx_fault(w, in, (uint32_t)__builtin_ctz(mask), TS_PTX_FAULT_ILLEGAL,
				    "a matrix access with lanes 0x%08x only: the instruction needs "
				    "a whole warp",
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

		/* A row of 16 bytes is four lanes. */
		for (uint32_t row = 0; !trans && row < 8; row++)
			memcpy(d + 4 * row, rows[8 * k + row], 16);
		for (uint32_t lane = 0; trans && lane < TS_PTX_LANES; lane++) {
			uint32_t row = lane >> 2, column = (lane & 3) * 2;
			uint16_t lo, hi;

			memcpy(&lo, rows[8 * k + column] + 2 * row, 2);
			memcpy(&hi, rows[8 * k + column + 1] + 2 * row, 2);
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

		for (uint32_t row = 0; !trans && row < 8; row++)
			memcpy(rows[8 * k + row], s + 4 * row, 16);
		for (uint32_t lane = 0; trans && lane < TS_PTX_LANES; lane++) {
			uint32_t row = lane >> 2, column = (lane & 3) * 2;
			uint16_t lo = (uint16_t)s[lane], hi = (uint16_t)(s[lane] >> 16);

			memcpy(rows[8 * k + column] + 2 * row, &lo, 2);
			memcpy(rows[8 * k + column + 1] + 2 * row, &hi, 2);
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

/* Position of a lane's word or element of a fragment in its matrix; mma.c explains the layout. */
struct place {
	uint32_t row, column;
};

static struct place place_of(uint32_t what, uint32_t r, uint32_t e, uint32_t lane)
{
	uint32_t per = ts_ptx_per_register(TS_PTX_WMMA_TYPE(what)), g = lane >> 2, t = lane & 3;
	uint32_t rows = TS_PTX_WMMA_ROWS(what), blocks;

	switch ((enum ts_ptx_matrix)TS_PTX_WMMA_WHICH(what)) {
	case TS_PTX_MATRIX_A:
		blocks = rows / 8;
		return (struct place){g + 8 * (r % blocks), t * per + e + r / blocks * 4 * per};
	case TS_PTX_MATRIX_B:
		blocks = rows / (4 * per);
		return (struct place){t * per + e + r % blocks * 4 * per, g + 8 * (r / blocks)};
	default:
		/* A register of C contains one element, or two halves. */
		e += r * per;
		blocks = rows / 8;
		return (struct place){g + 8 * (e / 2 % blocks),
				      t * 2 + (e & 1) + 8 * (e / 2 / blocks)};
	}
}

/* Computes the pointers of all lanes to element e of register r. An access has `bytes` bytes. */
static int wmma_addresses(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t what,
			  uint32_t r, uint32_t e, uint32_t bits, uint32_t bytes, bool write,
			  uint8_t *host[TS_PTX_LANES])
{
	bool by_column = TS_PTX_WMMA_BY_COLUMN(what);
	uint32_t whole = by_column ? TS_PTX_WMMA_ROWS(what) : TS_PTX_WMMA_COLUMNS(what);
	uint64_t address[TS_PTX_LANES], named[TS_PTX_LANES];

	ts_ptx_lane_addresses(w, in, address);
	for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++) {
		struct place at = place_of(what, r, e, lane);
		uint64_t line = by_column ? at.column : at.row;
		uint64_t stride = in->b == TS_PTX_NONE
					  ? whole
					  : ((const uint32_t *)ts_ptx_slot(w, in->b))[lane];

		address[lane] += (line * stride + (by_column ? at.row : at.column)) * bits / 8;
	}
	memcpy(named, address, sizeof(named));
	if (ts_ptx_resolve_at(w, in, UINT32_MAX, address, bytes, bytes, write, host))
		return STOP_FAULT;
	if (w->worker->observing)
		ts_ptx_observed(w, in, UINT32_MAX, named, bytes, write, host);
	return 0;
}

/*
 * Returns the number of registers with different elements. Registers beyond the matrix repeat the
 * first ones, as for f16.
 */
static uint32_t distinct_registers(uint32_t what)
{
	return TS_PTX_WMMA_ROWS(what) * TS_PTX_WMMA_COLUMNS(what) / TS_PTX_LANES /
	       ts_ptx_per_register(TS_PTX_WMMA_TYPE(what));
}

/* A matrix in one stretch, with one address and one stride in all lanes, as PTX requires. */
struct whole_matrix {
	uint8_t *host;
	uint64_t stride;	       /* elements from line to line */
	uint64_t offset[TS_PTX_LANES]; /* bytes from `host` to each lane's first element */
};

/*
 * Returns the distance from the start of the matrix to the lane's element e of register r, in
 * elements. The distance from a lane's first element to its element e of register r is the same in
 * every lane.
 */
static uint64_t element_offset(uint32_t what, uint32_t r, uint32_t e, uint32_t lane,
			       uint64_t stride)
{
	struct place at = place_of(what, r, e, lane);

	return TS_PTX_WMMA_BY_COLUMN(what) ? at.column * stride + at.row
					   : at.row * stride + at.column;
}

/*
 * Finds a matrix that lies in one stretch of memory. False: it does not, or an address is invalid.
 * Then the caller checks each access separately, which also reports faults.
 */
static bool find_whole_matrix(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t what,
			      uint32_t bits, bool write, struct whole_matrix *ret)
{
	bool by_column = TS_PTX_WMMA_BY_COLUMN(what);
	uint32_t rows = TS_PTX_WMMA_ROWS(what), columns = TS_PTX_WMMA_COLUMNS(what);
	uint64_t lines = by_column ? columns : rows, whole = by_column ? rows : columns, first, n;

	if (bits < 8 || w->worker->observing ||
	    ts_ptx_shape_of(w, in, UINT32_MAX, 1, &first) != TS_PTX_SAME)
		return false;
	ret->stride = whole;
	if (in->b != TS_PTX_NONE) {
		const uint32_t *strides = ts_ptx_slot(w, in->b);

		ret->stride = strides[0];
		for (uint32_t lane = 1; lane < TS_PTX_LANES; lane++)
			if (strides[lane] != strides[0])
				return false;
	}
	n = ((lines - 1) * ret->stride + whole) * (bits / 8);
	if (n > UINT32_MAX)
		return false;
	ret->host =
		ts_ptx_span(w, in, first, (uint32_t)n, bits / 8, rows * columns * bits / 8, write);
	for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++)
		ret->offset[lane] = element_offset(what, 0, 0, lane, ret->stride) * (bits / 8);
	return ret->host;
}

#define EACH_ELEMENT(T, statement)                        \
	for (int lane = 0; lane < TS_PTX_LANES; lane++) { \
		T v;                                      \
                                                          \
		statement;                                \
	}                                                 \
	break
#define LOAD_ELEMENT(T)                                              \
	EACH_ELEMENT(T, memcpy(&v, at + x->offset[lane], sizeof(v)); \
		     words[lane] |= (uint64_t)v << shift)
#define STORE_ELEMENT(T) \
	EACH_ELEMENT(T, v = (T)(words[lane] >> shift); memcpy(at + x->offset[lane], &v, sizeof(v)))

static void load_elements(const struct whole_matrix *x, uint64_t offset, uint32_t bytes,
			  uint32_t shift, uint64_t words[TS_PTX_LANES])
{
	const uint8_t *at = x->host + offset;

	switch (bytes) {
	case 1:
		LOAD_ELEMENT(uint8_t);
	case 2:
		LOAD_ELEMENT(uint16_t);
	case 4:
		LOAD_ELEMENT(uint32_t);
	default:
		LOAD_ELEMENT(uint64_t);
	}
}

static void store_elements(const struct whole_matrix *x, uint64_t offset, uint32_t bytes,
			   uint32_t shift, const uint64_t words[TS_PTX_LANES])
{
	uint8_t *at = x->host + offset;

	switch (bytes) {
	case 1:
		STORE_ELEMENT(uint8_t);
	case 2:
		STORE_ELEMENT(uint16_t);
	case 4:
		STORE_ELEMENT(uint32_t);
	default:
		STORE_ELEMENT(uint64_t);
	}
}

/* True if the elements of a register are consecutive in memory. */
static bool is_contiguous(uint32_t what)
{
	return TS_PTX_WMMA_BY_COLUMN(what) == (TS_PTX_WMMA_WHICH(what) == TS_PTX_MATRIX_B);
}

/* Moves register r, all elements of a lane at once if they are consecutive. */
#define MOVE_REGISTER(move, x, what, r, per, bits, words)                                  \
	if (is_contiguous(what)) {                                                         \
		move(x, element_offset(what, r, 0, 0, (x)->stride) * ((bits) / 8),         \
		     (per) * (bits) / 8, 0, words);                                        \
	} else {                                                                           \
		for (uint32_t e = 0; e < (per); e++)                                       \
			move(x, element_offset(what, r, e, 0, (x)->stride) * ((bits) / 8), \
			     (bits) / 8, e * (bits), words);                               \
	}

static int wmma_load(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	uint32_t what = list[in->n], n = distinct_registers(what);
	enum ts_ptx_type type = TS_PTX_WMMA_TYPE(what);
	uint32_t per = ts_ptx_per_register(type), bits = type == TY_F64 ? 64 : 32 / per;
	/* Elements smaller than a byte are consecutive along k. */
	uint32_t steps = bits < 8 ? 1 : per, bytes = bits < 8 ? 4 : bits / 8;
	uint64_t words[8][TS_PTX_LANES] = {{0}};
	struct whole_matrix matrix;
	uint8_t *host[TS_PTX_LANES];
	bool whole;

	if (mask != UINT32_MAX)
		return ts_ptx_fault(w, in, (uint32_t)__builtin_ctz(mask), TS_PTX_FAULT_ILLEGAL,
				    "wmma with lanes 0x%08x only: the instruction needs a whole "
				    "warp",
				    mask);
	whole = find_whole_matrix(w, in, what, bits, false, &matrix);
	for (uint32_t r = 0; whole && r < n; r++)
		MOVE_REGISTER(load_elements, &matrix, what, r, per, bits, words[r])
	for (uint32_t r = 0; !whole && r < n; r++) {
		for (uint32_t e = 0; e < steps; e++) {
			if (wmma_addresses(w, in, what, r, e, bits, bytes, false, host))
				return STOP_FAULT;
			for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++) {
				uint64_t v = 0;

				memcpy(&v, host[lane], bytes);
				words[r][lane] |= v << e * bits;
			}
		}
	}
	/* Write last: a written register may contain the address. */
	for (uint32_t r = 0; r < in->n; r++) {
		void *d = ts_ptx_slot(w, list[r]);

		for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++) {
			if (type == TY_F64)
				((uint64_t *)d)[lane] = words[r % n][lane];
			else
				((uint32_t *)d)[lane] = (uint32_t)words[r % n][lane];
		}
	}
	return 0;
}

static int wmma_store(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t mask)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	uint32_t what = list[in->n];
	enum ts_ptx_type type = TS_PTX_WMMA_TYPE(what);
	uint32_t per = ts_ptx_per_register(type), bits = type == TY_F64 ? 64 : 32 / per;
	struct whole_matrix matrix;
	uint8_t *host[TS_PTX_LANES];
	bool whole;

	if (mask != UINT32_MAX)
		return ts_ptx_fault(w, in, (uint32_t)__builtin_ctz(mask), TS_PTX_FAULT_ILLEGAL,
				    "wmma with lanes 0x%08x only: the instruction needs a whole "
				    "warp",
				    mask);
	whole = find_whole_matrix(w, in, what, bits, true, &matrix);
	for (uint32_t r = 0; r < in->n; r++) {
		const void *s = ts_ptx_slot(w, list[r]);

		if (whole) {
			uint64_t words[TS_PTX_LANES];

			for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++)
				words[lane] = type == TY_F64 ? ((const uint64_t *)s)[lane]
							     : ((const uint32_t *)s)[lane];
			MOVE_REGISTER(store_elements, &matrix, what, r, per, bits, words)
			continue;
		}
		for (uint32_t e = 0; e < per; e++) {
			if (wmma_addresses(w, in, what, r, e, bits, bits / 8, true, host))
				return STOP_FAULT;
			for (uint32_t lane = 0; lane < TS_PTX_LANES; lane++) {
				uint64_t v = type == TY_F64
						     ? ((const uint64_t *)s)[lane]
						     : ((const uint32_t *)s)[lane] >> e * bits;

				memcpy(host[lane], &v, bits / 8);
			}
		}
	}
	return 0;
}

void TS_PTX_FILL(matrix)(struct ts_ptx_optable *t)
{
	t->fn[F_WMMA_LOAD][TY_NONE] = wmma_load;
	t->fn[F_WMMA_STORE][TY_NONE] = wmma_store;
	t->fn[F_LDMATRIX][TY_NONE] = ldmatrix;
	t->fn[F_STMATRIX][TY_NONE] = stmatrix;
	t->fn[F_MOVMATRIX][TY_NONE] = movmatrix;
}
