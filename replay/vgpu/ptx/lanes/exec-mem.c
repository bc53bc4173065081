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
 * Form of an access. The functions that take a form are inlined with a constant one, so that each
 * form has its own loops.
 */
struct form {
	uint32_t bytes; /* of an element in memory */
	bool is_signed; /* A load extends the sign. */
	bool wide;	/* The lane of a slot has 64 bits. */
	bool is_store;
};

/* Moves a lane's vector, aligned to its size, between the array `lane` and memory. */
static TS_PTX_INLINE void move_vector(uint8_t *lane, uint8_t *at, uint32_t bytes, bool is_store)
{
	uint8_t *to = is_store ? at : lane, *from = is_store ? lane : at;

	switch (bytes) {
	case 2:
		TS_PTX_MOVE(uint16_t, to, from);
		break;
	case 4:
		TS_PTX_MOVE(uint32_t, to, from);
		break;
	case 8:
		TS_PTX_MOVE(uint64_t, to, from);
		break;
	case 16:
		TS_PTX_MOVE_16(to, from);
		break;
	default:
		TS_PTX_MOVE_16(to, from);
		TS_PTX_MOVE_16(to + 16, from + 16);
	}
}

/* Moves the vectors of lanes. flat: their consecutive memory; NULL: lane i's memory is at p[i]. */
static TS_PTX_INLINE void move_lanes(uint32_t m, uint8_t *lanes, uint8_t *flat, uint8_t *const *p,
				     uint32_t bytes, bool is_store)
{
	EACH_LANE(m, move_vector(lanes + (unsigned)i * bytes,
				 flat ? flat + (unsigned)i * bytes : p[i], bytes, is_store))
}

/* Chooses the loop of move_lanes() for a size. */
static TS_PTX_INLINE void move_vectors(uint32_t m, uint8_t *lanes, uint8_t *flat, uint8_t *const *p,
				       uint32_t bytes, bool is_store)
{
	switch (bytes) {
	case 2:
		move_lanes(m, lanes, flat, p, 2, is_store);
		break;
	case 4:
		move_lanes(m, lanes, flat, p, 4, is_store);
		break;
	case 8:
		move_lanes(m, lanes, flat, p, 8, is_store);
		break;
	case 16:
		move_lanes(m, lanes, flat, p, 16, is_store);
		break;
	default:
		move_lanes(m, lanes, flat, p, 32, is_store);
	}
}

/* Checks the addresses of a vector access, and moves the vectors. */
static TS_PTX_INLINE int access_vectors(struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
					uint32_t m, uint32_t bytes, uint8_t *lanes, bool is_store)
{
	const uint32_t total = TS_PTX_LANES * bytes;
	uint8_t *p[TS_PTX_LANES], *flat = NULL;
	uint64_t first;

	if (ts_ptx_shape_of(w, in, m, bytes, &first) == TS_PTX_FLAT)
		flat = ts_ptx_span(w, in, first, total, bytes, total, is_store);
	if (flat) {
		move_vectors(UINT32_MAX, lanes, flat, NULL, bytes, is_store);
		return 0;
	}
	if (ts_ptx_resolve_lanes(w, in, m, bytes, bytes, is_store, p))
		return STOP_FAULT;
	move_vectors(m, lanes, NULL, p, bytes, is_store);
	return 0;
}

static int gather(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m, uint32_t bytes,
		  uint8_t *lanes)
{
	return access_vectors(w, in, m, bytes, lanes, false);
}

static int scatter(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m, uint32_t bytes,
		   uint8_t *lanes)
{
	return access_vectors(w, in, m, bytes, lanes, true);
}

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

/* Reads an element. `once`: by one access, which keeps the compiler from vectorising a loop. */
static TS_PTX_INLINE uint64_t read_element(const void *at, struct form f, bool once)
{
#define READ(T) (once ? *(const volatile T *)at : *(const T *)at)
	switch (f.bytes) {
	case 1:
		return f.is_signed ? (uint64_t)(int8_t)READ(uint8_t) : READ(uint8_t);
	case 2:
		return f.is_signed ? (uint64_t)(int16_t)READ(uint16_t) : READ(uint16_t);
	case 4:
		return f.is_signed ? (uint64_t)(int32_t)READ(uint32_t) : READ(uint32_t);
	default:
		return READ(uint64_t);
	}
#undef READ
}

static TS_PTX_INLINE void write_element(void *at, struct form f, bool once, uint64_t v)
{
#define WRITE(T) ((void)(once ? (*(volatile T *)at = (T)v) : (*(T *)at = (T)v)))
	switch (f.bytes) {
	case 1:
		WRITE(uint8_t);
		break;
	case 2:
		WRITE(uint16_t);
		break;
	case 4:
		WRITE(uint32_t);
		break;
	default:
		WRITE(uint64_t);
	}
#undef WRITE
}

static TS_PTX_INLINE void set_lane(void *slot, int i, struct form f, uint64_t v)
{
	if (f.wide)
		((uint64_t *)slot)[i] = v;
	else
		((uint32_t *)slot)[i] = (uint32_t)v;
}

/* Moves lane i between its slot and memory. */
static TS_PTX_INLINE void move_element(void *slot, int i, void *at, struct form f, bool once)
{
	if (!f.is_store)
		set_lane(slot, i, f, read_element(at, f, once));
	else if (f.wide)
		write_element(at, f, once, ((const uint64_t *)slot)[i]);
	else
		write_element(at, f, once, ((const uint32_t *)slot)[i]);
}

/* Returns the slot of an access that is no vector. */
static TS_PTX_INLINE void *value_of(struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
				    struct form f)
{
	return f.is_store ? ts_ptx_slot(w, in->b) : ts_ptx_result(w, in);
}

/* Accesses vectors. The slots are a list of operands. */
static TS_PTX_INLINE int access_vector(struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
				       uint32_t m, struct form f)
{
	uint8_t lanes[TS_PTX_LANES * VECTOR_BYTES] __attribute__((aligned(64)));
	const uint32_t n = in->n;
	uint64_t unused[TS_PTX_LANES];
	void *slot[8];

	if (!f.is_store && gather(w, in, m, f.bytes * n, lanes))
		return STOP_FAULT;
	for (uint32_t k = 0; k < n; k++) {
		uint32_t ref = ts_ptx_operands(w, in)[k];

		slot[k] = ref == TS_PTX_NONE ? unused : ts_ptx_slot(w, ref);
	}
#define MOVE(k, n) move_element(slot[k], i, lanes + ((unsigned)i * (n) + (k)) * f.bytes, f, false)
	if (n == 2) {
		EACH_LANE(m, MOVE(0, 2); MOVE(1, 2))
	} else if (n == 4) {
		EACH_LANE(m, MOVE(0, 4); MOVE(1, 4); MOVE(2, 4); MOVE(3, 4))
	} else {
		for (uint32_t k = 0; k < n; k++)
			EACH_LANE(m, MOVE(k, n))
	}
#undef MOVE
	if (f.is_store)
		return scatter(w, in, m, f.bytes * n, lanes);
	order(w, in);
	return 0;
}

/* Accesses unordered addresses. */
static TS_PTX_INLINE int access_apart(struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
				      uint32_t m, struct form f)
{
	void *slot = value_of(w, in, f);
	uint64_t offset[TS_PTX_LANES];
	uint8_t *start, *p[TS_PTX_LANES];

	if (offsets_of(w, in, m, f.bytes, f.is_store, offset, &start)) {
		EACH_LANE(m, move_element(slot, i, start + offset[i], f, true))
	} else {
		if (ts_ptx_resolve_lanes(w, in, m, f.bytes, f.bytes, f.is_store, p))
			return STOP_FAULT;
		EACH_LANE(m, move_element(slot, i, p[i], f, true))
	}
	if (!f.is_store)
		order(w, in);
	return 0;
}

/* Accesses one offset in the local memory of all lanes. False: it is not in this memory. */
static TS_PTX_INLINE bool access_own(struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
				     uint64_t first, struct form f)
{
	void *slot = value_of(w, in, f);
	uint64_t stride;
	uint8_t *at = ts_ptx_own(w, in, first, f.bytes, f.is_store, &stride);

	for (int i = 0; at && i < TS_PTX_LANES; i++)
		move_element(slot, i, at + (unsigned)i * stride, f, false);
	return at;
}

/* Accesses consecutive addresses. False: they are not in one stretch. */
static TS_PTX_INLINE bool access_flat(struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
				      uint64_t first, struct form f)
{
	const uint32_t total = f.bytes * TS_PTX_LANES;
	void *slot = value_of(w, in, f);
	uint8_t *at = ts_ptx_span(w, in, first, total, f.bytes, total, f.is_store);

	if (!at)
		return false;
	TS_PTX_FOR_LANES
	move_element(slot, i, at + (unsigned)i * f.bytes, f, false);
	if (!f.is_store)
		order(w, in);
	return true;
}

/* Loads one address for all lanes. False: it is not in a stretch. */
static TS_PTX_INLINE bool load_same(struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
				    uint64_t first, struct form f)
{
	void *slot = value_of(w, in, f);
	const uint8_t *at =
		ts_ptx_span(w, in, first, f.bytes, f.bytes, f.bytes * TS_PTX_LANES, false);
	uint64_t v;

	if (!at)
		return false;
	v = read_element(at, f, true);
	TS_PTX_FOR_LANES
	set_lane(slot, i, f, v);
	order(w, in);
	return true;
}

/* Accesses one element of each lane in one of the patterns of addresses. False: in none of them. */
static TS_PTX_INLINE bool access_pattern(struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
					 uint32_t m, struct form f)
{
	uint64_t first;

	switch (ts_ptx_shape_of(w, in, m, f.bytes, &first)) {
	case TS_PTX_OWN:
		return access_own(w, in, first, f);
	case TS_PTX_FLAT:
		return access_flat(w, in, first, f);
	case TS_PTX_SAME:
		return !f.is_store && load_same(w, in, first, f);
	default:
		return false;
	}
}

/* Defines an access. Its rare parts are functions of their own, because they need much stack. */
#define ACCESS(name, ...)                                                                \
	static __attribute__((noinline)) int name##_vector(struct ts_ptx_warp *w,        \
							   const struct ts_ptx_insn *in, \
							   uint32_t m)                   \
	{                                                                                \
		return access_vector(w, in, m, (struct form){__VA_ARGS__});              \
	}                                                                                \
	static __attribute__((noinline)) int name##_apart(struct ts_ptx_warp *w,         \
							  const struct ts_ptx_insn *in,  \
							  uint32_t m)                    \
	{                                                                                \
		return access_apart(w, in, m, (struct form){__VA_ARGS__});               \
	}                                                                                \
	static int name(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m) \
	{                                                                                \
		const struct form f = {__VA_ARGS__};                                     \
                                                                                         \
		if (f.is_store)                                                          \
			order(w, in);                                                    \
		if (in->n > 1)                                                           \
			return name##_vector(w, in, m);                                  \
		return access_pattern(w, in, m, f) ? 0 : name##_apart(w, in, m);         \
	}

ACCESS(ld_u8, .bytes = 1)
ACCESS(ld_s8, .bytes = 1, .is_signed = true)
ACCESS(ld_u16, .bytes = 2)
ACCESS(ld_s16, .bytes = 2, .is_signed = true)
ACCESS(ld_u32, .bytes = 4)
ACCESS(ld_u8_64, .bytes = 1, .wide = true)
ACCESS(ld_s8_64, .bytes = 1, .wide = true, .is_signed = true)
ACCESS(ld_u16_64, .bytes = 2, .wide = true)
ACCESS(ld_s16_64, .bytes = 2, .wide = true, .is_signed = true)
ACCESS(ld_u32_64, .bytes = 4, .wide = true)
ACCESS(ld_s32_64, .bytes = 4, .wide = true, .is_signed = true)
ACCESS(ld_u64, .bytes = 8, .wide = true)
ACCESS(st_8, .bytes = 1, .is_store = true)
ACCESS(st_16, .bytes = 2, .is_store = true)
ACCESS(st_32, .bytes = 4, .is_store = true)
ACCESS(st_8_64, .bytes = 1, .wide = true, .is_store = true)
ACCESS(st_16_64, .bytes = 2, .wide = true, .is_store = true)
ACCESS(st_32_64, .bytes = 4, .wide = true, .is_store = true)
ACCESS(st_64, .bytes = 8, .wide = true, .is_store = true)

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
