// SPDX-License-Identifier: Apache-2.0
/*
 * Loads and stores of every width, space and vector length, and address instructions. The decoder
 * stores these functions in instructions; they call mem.h for host pointers.
 *
 * One lane's access is one access of the host, also for a vector. So volatile and relaxed accesses
 * are plain accesses, plus a fence if the instruction has a memory order. PTX allows several
 * accesses for a vector (ISA 8.2.4). Hardware makes naturally aligned accesses of up to 16 bytes in
 * one, and CUB's look-back relies on that. x86-64 CPUs with AVX and aarch64 CPUs with LSE2 also
 * make aligned 16-byte accesses in one. Vectors of 32 bytes are two accesses.
 */
#include "replay/vgpu/ptx/lanes/mem.h"

/*
 * Called at accesses that synchronize threads. Orders earlier accesses before later ones, and
 * shortens the time slice of a polling loop.
 */
static inline void order(struct ts_ptx_warp *w, const struct ts_ptx_insn *in)
{
	if (!(in->flags & INSN_SYNC))
		return;
	ts_ptx_watch(w);
	atomic_thread_fence(memory_order_acq_rel);
}

/* Size of a lane's vector in the buffer between memory and registers. */
#define VECTOR_BYTES 32

/* Runs a statement for all lanes, or for the lanes of a mask. */
#define EACH_LANE(m, statement)                                     \
	if ((m) == UINT32_MAX) {                                    \
		TS_PTX_FOR_LANES                                    \
		{                                                   \
			statement;                                  \
		}                                                   \
	} else {                                                    \
		for (uint32_t left = (m); left; left &= left - 1) { \
			int i = __builtin_ctz(left);                \
                                                                    \
			statement;                                  \
		}                                                   \
	}

/*
 * Moves `bytes` of each lane, aligned to their size, between the array `lanes` and AT, lane i's
 * place in memory.
 */
#define MOVE_TO(T, lanes, at)	TS_PTX_MOVE(T, lanes, at)
#define MOVE_FROM(T, lanes, at) TS_PTX_MOVE(T, at, lanes)
#define MOVE_TO_16(lanes, at)	TS_PTX_MOVE_16(lanes, at)
#define MOVE_FROM_16(lanes, at) TS_PTX_MOVE_16(at, lanes)
#define MOVE_LANES(MOVE, m, AT, lanes, bytes)                          \
	switch (bytes) {                                               \
	case 2:                                                        \
		EACH_LANE(m, MOVE(uint16_t, (lanes) + 2 * i, AT))      \
		break;                                                 \
	case 4:                                                        \
		EACH_LANE(m, MOVE(uint32_t, (lanes) + 4 * i, AT))      \
		break;                                                 \
	case 8:                                                        \
		EACH_LANE(m, MOVE(uint64_t, (lanes) + 8 * i, AT))      \
		break;                                                 \
	case 16:                                                       \
		EACH_LANE(m, MOVE##_16((lanes) + 16 * i, AT))          \
		break;                                                 \
	default:                                                       \
		EACH_LANE(m, MOVE##_16((lanes) + 32 * i, AT);          \
			  MOVE##_16((lanes) + 32 * i + 16, (AT) + 16)) \
	}

/* Defines a function that moves the vectors of an access between memory and `lanes`. */
#define MOVE_VECTORS(name, MOVE, write)                                                      \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m,     \
			uint32_t bytes, uint8_t *lanes)                                      \
	{                                                                                    \
		const uint32_t total = TS_PTX_LANES * bytes;                                 \
		uint8_t *p[TS_PTX_LANES], *at = NULL;                                        \
		uint64_t first;                                                              \
                                                                                             \
		if (ts_ptx_shape_of(w, in, m, bytes, &first) == TS_PTX_FLAT)                 \
			at = ts_ptx_span(w, in, first, total, bytes, total, write);          \
		if (at) {                                                                    \
			MOVE_LANES(MOVE, UINT32_MAX, at + (unsigned)i * bytes, lanes, bytes) \
			return 0;                                                            \
		}                                                                            \
		if (ts_ptx_resolve_lanes(w, in, m, bytes, bytes, write, p))                  \
			return STOP_FAULT;                                                   \
		MOVE_LANES(MOVE, m, p[i], lanes, bytes)                                      \
		return 0;                                                                    \
	}

MOVE_VECTORS(gather, MOVE_TO, false)
MOVE_VECTORS(scatter, MOVE_FROM, true)

/*
 * Computes the offsets of the lanes in one stretch, with the stride. Returns false if an address is
 * outside or not aligned.
 */
static inline bool offsets_of(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m,
			      uint32_t bytes, bool write, uint64_t offset[TS_PTX_LANES],
			      uint8_t **ret_start)
{
	struct ts_ptx_stretch at;

	ts_ptx_lane_addresses(w, in, offset);
	at = ts_ptx_stretch_of(w, in, offset[__builtin_ctz(m)], write);
	if (!ts_ptx_within(m, offset, at.base, at.size, bytes, bytes))
		return false;
	if (at.stride) {
		for (int i = 0; i < TS_PTX_LANES; i++)
			offset[i] += at.stride * (unsigned)i;
	}
	ts_ptx_count(&at, bytes * (uint32_t)__builtin_popcount(m));
	*ret_start = at.start;
	return true;
}

/* A load of vectors. */
#define LOAD_VECTOR(name, D, T)                                                          \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m) \
	{                                                                                \
		uint8_t lanes[TS_PTX_LANES * VECTOR_BYTES] __attribute__((aligned(64))); \
		const T *e = (const T *)(const void *)lanes;                             \
		const uint32_t n = in->n;                                                \
		D unused[TS_PTX_LANES], *d[8];                                           \
                                                                                         \
		if (gather(w, in, m, (uint32_t)sizeof(T) * n, lanes))                    \
			return STOP_FAULT;                                               \
		for (uint32_t k = 0; k < n; k++) {                                       \
			uint32_t slot = ts_ptx_operands(w, in)[k];                       \
                                                                                         \
			d[k] = slot == TS_PTX_NONE ? unused : ts_ptx_slot(w, slot);      \
		}                                                                        \
		if (n == 2) {                                                            \
			EACH_LANE(m, d[0][i] = (D)e[2 * i]; d[1][i] = (D)e[2 * i + 1])   \
		} else if (n == 4) {                                                     \
			EACH_LANE(m, d[0][i] = (D)e[4 * i]; d[1][i] = (D)e[4 * i + 1];   \
				  d[2][i] = (D)e[4 * i + 2]; d[3][i] = (D)e[4 * i + 3])  \
		} else {                                                                 \
			for (uint32_t k = 0; k < n; k++)                                 \
				EACH_LANE(m, d[k][i] = (D)e[(uint32_t)i * n + k])        \
		}                                                                        \
		order(w, in);                                                            \
		return 0;                                                                \
	}

/* A load with unordered addresses. */
#define LOAD_APART(name, D, T)                                                                     \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)           \
	{                                                                                          \
		uint64_t offset[TS_PTX_LANES];                                                     \
		uint8_t *start, *p[TS_PTX_LANES];                                                  \
		D *d = ts_ptx_result(w, in);                                                       \
                                                                                                   \
		if (offsets_of(w, in, m, sizeof(T), false, offset, &start)) {                      \
			EACH_LANE(m, d[i] = (D) *                                                  \
					    (const volatile T *)(const void *)(start + offset[i])) \
		} else {                                                                           \
			if (ts_ptx_resolve_lanes(w, in, m, sizeof(T), sizeof(T), false, p))        \
				return STOP_FAULT;                                                 \
			EACH_LANE(m, d[i] = (D) * (const volatile T *)(const void *)p[i])          \
		}                                                                                  \
		order(w, in);                                                                      \
		return 0;                                                                          \
	}

/* Defines a function that loads all lanes at one offset in their local memory. */
#define LOAD_OWN(name, apart, D, T)                                                      \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m, \
			uint64_t first)                                                  \
	{                                                                                \
		D *d = ts_ptx_result(w, in);                                             \
		uint64_t stride;                                                         \
		const uint8_t *s = ts_ptx_own(w, in, first, sizeof(T), false, &stride);  \
                                                                                         \
		if (!s)                                                                  \
			return apart(w, in, m);                                          \
		for (uint64_t i = 0; i < TS_PTX_LANES; i++)                              \
			d[i] = (D) * (const T *)(const void *)(s + i * stride);          \
		return 0;                                                                \
	}

/*
 * Defines the functions of a load: of vectors, consecutive lanes, one address, local memory, or
 * unordered addresses.
 */
#define LOAD(name, D, T)                                                                       \
	LOAD_VECTOR(name##_vector, D, T)                                                       \
	LOAD_APART(name##_apart, D, T)                                                         \
	LOAD_OWN(name##_own, name##_apart, D, T)                                               \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)       \
	{                                                                                      \
		const uint32_t bytes = sizeof(T), total = bytes * TS_PTX_LANES;                \
		D *d = ts_ptx_result(w, in);                                                   \
		enum ts_ptx_shape shape;                                                       \
		uint64_t first;                                                                \
		const T *s;                                                                    \
                                                                                               \
		if (in->n > 1)                                                                 \
			return name##_vector(w, in, m);                                        \
		shape = ts_ptx_shape_of(w, in, m, bytes, &first);                              \
		if (shape == TS_PTX_APART)                                                     \
			return name##_apart(w, in, m);                                         \
		if (shape == TS_PTX_OWN)                                                       \
			return name##_own(w, in, m, first);                                    \
		s = (const T *)(const void *)ts_ptx_span(w, in, first,                         \
							 shape == TS_PTX_FLAT ? total : bytes, \
							 bytes, total, false);                 \
		if (!s)                                                                        \
			return name##_apart(w, in, m);                                         \
		if (shape == TS_PTX_FLAT) {                                                    \
			TS_PTX_FOR_LANES                                                       \
			d[i] = (D)s[i];                                                        \
		} else {                                                                       \
			const D v = (D) * (const volatile T *)s;                               \
                                                                                               \
			TS_PTX_FOR_LANES                                                       \
			d[i] = v;                                                              \
		}                                                                              \
		order(w, in);                                                                  \
		return 0;                                                                      \
	}

LOAD(ld_u8, uint32_t, uint8_t)
LOAD(ld_s8, uint32_t, int8_t)
LOAD(ld_u16, uint32_t, uint16_t)
LOAD(ld_s16, uint32_t, int16_t)
LOAD(ld_u32, uint32_t, uint32_t)
LOAD(ld_u8_64, uint64_t, uint8_t)
LOAD(ld_s8_64, uint64_t, int8_t)
LOAD(ld_u16_64, uint64_t, uint16_t)
LOAD(ld_s16_64, uint64_t, int16_t)
LOAD(ld_u32_64, uint64_t, uint32_t)
LOAD(ld_s32_64, uint64_t, int32_t)
LOAD(ld_u64, uint64_t, uint64_t)

/* The value of a store is operand b, or a list for vectors. */
#define STORE_VECTOR(name, S, T)                                                         \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m) \
	{                                                                                \
		uint8_t lanes[TS_PTX_LANES * VECTOR_BYTES] __attribute__((aligned(64))); \
		T *e = (T *)(void *)lanes;                                               \
		const uint32_t n = in->n;                                                \
		const S *s[8];                                                           \
                                                                                         \
		for (uint32_t k = 0; k < n; k++)                                         \
			s[k] = ts_ptx_slot(w, ts_ptx_operands(w, in)[k]);                \
		if (n == 2) {                                                            \
			EACH_LANE(m, e[2 * i] = (T)s[0][i]; e[2 * i + 1] = (T)s[1][i])   \
		} else if (n == 4) {                                                     \
			EACH_LANE(m, e[4 * i] = (T)s[0][i]; e[4 * i + 1] = (T)s[1][i];   \
				  e[4 * i + 2] = (T)s[2][i]; e[4 * i + 3] = (T)s[3][i])  \
		} else {                                                                 \
			for (uint32_t k = 0; k < n; k++)                                 \
				EACH_LANE(m, e[(uint32_t)i * n + k] = (T)s[k][i])        \
		}                                                                        \
		return scatter(w, in, m, (uint32_t)sizeof(T) * n, lanes);                \
	}

/* A store with unordered addresses. */
#define STORE_APART(name, S, T)                                                            \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)   \
	{                                                                                  \
		const S *s = ts_ptx_slot(w, in->b);                                        \
		uint64_t offset[TS_PTX_LANES];                                             \
		uint8_t *start, *p[TS_PTX_LANES];                                          \
                                                                                           \
		if (offsets_of(w, in, m, sizeof(T), true, offset, &start)) {               \
			EACH_LANE(m, *(volatile T *)(void *)(start + offset[i]) = (T)s[i]) \
			return 0;                                                          \
		}                                                                          \
		if (ts_ptx_resolve_lanes(w, in, m, sizeof(T), sizeof(T), true, p))         \
			return STOP_FAULT;                                                 \
		EACH_LANE(m, *(volatile T *)(void *)p[i] = (T)s[i])                        \
		return 0;                                                                  \
	}

/* Defines a function that stores all lanes at one offset in their local memory. */
#define STORE_OWN(name, apart, S, T)                                                     \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m, \
			uint64_t first)                                                  \
	{                                                                                \
		const S *s = ts_ptx_slot(w, in->b);                                      \
		uint64_t stride;                                                         \
		uint8_t *d = ts_ptx_own(w, in, first, sizeof(T), true, &stride);         \
                                                                                         \
		if (!d)                                                                  \
			return apart(w, in, m);                                          \
		for (uint64_t i = 0; i < TS_PTX_LANES; i++)                              \
			*(T *)(void *)(d + i * stride) = (T)s[i];                        \
		return 0;                                                                \
	}

/*
 * Defines the functions of a store of type T: NAME_vector stores vectors, NAME_own stores to local
 * memory, and NAME_apart stores to unordered addresses. NAME calls one of these, or stores to
 * consecutive addresses itself.
 */
#define STORE(name, S, T)                                                                \
	STORE_VECTOR(name##_vector, S, T)                                                \
	STORE_APART(name##_apart, S, T)                                                  \
	STORE_OWN(name##_own, name##_apart, S, T)                                        \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m) \
	{                                                                                \
		const uint32_t bytes = sizeof(T), total = bytes * TS_PTX_LANES;          \
		enum ts_ptx_shape shape;                                                 \
		const S *s;                                                              \
		uint64_t first;                                                          \
		T *d;                                                                    \
                                                                                         \
		order(w, in);                                                            \
		if (in->n > 1)                                                           \
			return name##_vector(w, in, m);                                  \
		shape = ts_ptx_shape_of(w, in, m, bytes, &first);                        \
		if (shape == TS_PTX_OWN)                                                 \
			return name##_own(w, in, m, first);                              \
		if (shape != TS_PTX_FLAT)                                                \
			return name##_apart(w, in, m);                                   \
		d = (T *)(void *)ts_ptx_span(w, in, first, total, bytes, total, true);   \
		if (!d)                                                                  \
			return name##_apart(w, in, m);                                   \
		s = ts_ptx_slot(w, in->b);                                               \
		TS_PTX_FOR_LANES                                                         \
		d[i] = (T)s[i];                                                          \
		return 0;                                                                \
	}

STORE(st_8, uint32_t, uint8_t)
STORE(st_16, uint32_t, uint16_t)
STORE(st_32, uint32_t, uint32_t)
STORE(st_8_64, uint64_t, uint8_t)
STORE(st_16_64, uint64_t, uint16_t)
STORE(st_32_64, uint64_t, uint32_t)
STORE(st_64, uint64_t, uint64_t)

/*
 * Defines a function that loads a kernel parameter at a fixed offset, equal in all lanes. The
 * decoder has checked the bounds.
 */
#define PARAM(name, D, T)                                                                   \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)    \
	{                                                                                   \
		for (uint32_t k = 0; k < in->n; k++) {                                      \
			uint32_t ref = in->n == 1 ? in->dst : ts_ptx_operands(w, in)[k];    \
			D *d_;                                                              \
			T v;                                                                \
                                                                                            \
			if (ref == TS_PTX_NONE)                                             \
				continue;                                                   \
			d_ = ts_ptx_slot(w, ref);                                           \
			memcpy(&v, w->worker->params + in->imm + k * sizeof(T), sizeof(T)); \
			TS_PTX_LOOP(m, D, D, , (D)v)                                        \
		}                                                                           \
		return 0;                                                                   \
	}

PARAM(param_u8, uint32_t, uint8_t)
PARAM(param_s8, uint32_t, int8_t)
PARAM(param_u16, uint32_t, uint16_t)
PARAM(param_s16, uint32_t, int16_t)
PARAM(param_u32, uint32_t, uint32_t)
PARAM(param_u8_64, uint64_t, uint8_t)
PARAM(param_s8_64, uint64_t, int8_t)
PARAM(param_u16_64, uint64_t, uint16_t)
PARAM(param_s16_64, uint64_t, int16_t)
PARAM(param_u32_64, uint64_t, uint32_t)
PARAM(param_s32_64, uint64_t, int32_t)
PARAM(param_u64, uint64_t, uint64_t)

static int local_address(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint64_t address = ts_ptx_frame_of(w)->local_base + in->imm;

	if (in->flags & INSN_DST64) {
		uint64_t *d_ = ts_ptx_result(w, in);

		TS_PTX_LOOP(m, uint64_t, uint64_t, , address)
	} else {
		uint32_t *d_ = ts_ptx_result(w, in);

		TS_PTX_LOOP(m, uint32_t, uint32_t, , address)
	}
	return 0;
}

/* imm: start of the window to add, or its negative for the way back. */
TS_PTX_OP1(cvta, uint64_t, uint64_t, uint64_t, uint64_t, a + in->imm)

/*
 * True if the address lies in a constant variable. Such variables lie in device memory that kernels
 * must not write, so the range is read-only.
 */
static bool is_constant(struct ts_ptx_worker *worker, uint64_t address)
{
	const struct ts_ptx_range *r = ts_ptx_range_of(worker, address);

	return r && r->read_only;
}

static int isspacep(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	static const uint64_t windows[] = {[SP_SHARED] = TS_PTX_WINDOW_SHARED,
					   [SP_LOCAL] = TS_PTX_WINDOW_LOCAL,
					   [SP_PARAM] = TS_PTX_WINDOW_PARAM};
	const uint64_t *a = ts_ptx_slot(w, in->a);
	uint32_t *d = ts_ptx_result(w, in), r = 0;

	for (uint32_t left = m; left; left &= left - 1) {
		int i = __builtin_ctz(left);
		bool is = in->space == SP_GLOBAL  ? a[i] < TS_PTX_WINDOW(0)
			  : in->space == SP_CONST ? is_constant(w->worker, a[i])
						  : a[i] >> 32 == windows[in->space] >> 32;

		r |= (uint32_t)is << i;
	}
	*d = (*d & ~m) | (r & m);
	return 0;
}

static void fill_loads(struct ts_ptx_optable *t)
{
	static const struct {
		enum ts_ptx_type types[4];
		ts_ptx_fn ld, ld64, param, param64, st, st64;
	} kinds[] = {
		{{TY_B8, TY_U8}, ld_u8, ld_u8_64, param_u8, param_u8_64, st_8, st_8_64},
		{{TY_S8}, ld_s8, ld_s8_64, param_s8, param_s8_64, st_8, st_8_64},
		{{TY_B16, TY_U16}, ld_u16, ld_u16_64, param_u16, param_u16_64, st_16, st_16_64},
		{{TY_S16}, ld_s16, ld_s16_64, param_s16, param_s16_64, st_16, st_16_64},
		{{TY_B32, TY_U32, TY_F32},
		 ld_u32,
		 ld_u32_64,
		 param_u32,
		 param_u32_64,
		 st_32,
		 st_32_64},
		{{TY_S32}, ld_u32, ld_s32_64, param_u32, param_s32_64, st_32, st_32_64},
		{{TY_B64, TY_U64, TY_S64, TY_F64}, NULL, ld_u64, NULL, param_u64, NULL, st_64},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (int k = 0; k < 4 && kinds[i].types[k]; k++) {
			enum ts_ptx_type type = kinds[i].types[k];

			t->fn[F_LD][type] = kinds[i].ld;
			t->fn[F_LD64][type] = kinds[i].ld64;
			t->fn[F_LD_PARAM][type] = kinds[i].param;
			t->fn[F_LD_PARAM64][type] = kinds[i].param64;
			t->fn[F_ST][type] = kinds[i].st;
			t->fn[F_ST64][type] = kinds[i].st64;
		}
	}
}

void TS_PTX_FILL(mem)(struct ts_ptx_optable *t)
{
	fill_loads(t);
	t->fn[F_LOCAL_ADDRESS][TY_NONE] = local_address;
	t->fn[F_CVTA][TY_NONE] = cvta;
	t->fn[F_ISSPACEP][TY_NONE] = isspacep;
}
