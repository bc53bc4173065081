// SPDX-License-Identifier: Apache-2.0
/*
 * Atomics, which the lane loop runs through the optable. Lanes run in ascending order, starting at
 * the lane that a scheduler chooses (schedule.c). A block runs on one host thread at a time, so
 * atomics on its shared memory need no host atomics. In device memory every atomic is a
 * sequentially consistent one of the host, which satisfies any .sem at any .scope. Atomics of
 * several lanes at one address are one atomic of the host.
 */
#include "replay/vgpu/ptx/lanes/half.h"
#include "replay/vgpu/ptx/run/ptx-exec.h"

static uint32_t add_pair(uint32_t a, uint32_t b, bool bf16)
{
	uint16_t lo, hi;

	if (bf16) {
		lo = ts_ptx_to_bf16(ts_ptx_from_bf16((uint16_t)a) + ts_ptx_from_bf16((uint16_t)b));
		hi = ts_ptx_to_bf16(ts_ptx_from_bf16((uint16_t)(a >> 16)) +
				    ts_ptx_from_bf16((uint16_t)(b >> 16)));
	} else {
		lo = ts_ptx_to_f16(ts_ptx_from_f16((uint16_t)a) + ts_ptx_from_f16((uint16_t)b));
		hi = ts_ptx_to_f16(ts_ptx_from_f16((uint16_t)(a >> 16)) +
				   ts_ptx_from_f16((uint16_t)(b >> 16)));
	}
	return lo | (uint32_t)hi << 16;
}

static uint64_t atom_add(uint64_t old, uint64_t v, enum ts_ptx_type type)
{
	switch (type) {
	case TY_F32: {
		/*
		 * Atomic f32 additions keep denormals: in shared memory, and since Volta in device
		 * memory.
		 */
		float sum = ts_ptx_float((uint32_t)old) + ts_ptx_float((uint32_t)v);

		return ts_ptx_bits(ts_ptx_canonical(sum));
	}
	case TY_F64:
		return ts_ptx_bits64(ts_ptx_double(old) + ts_ptx_double(v));
	case TY_F16X2:
	case TY_BF16X2:
		return add_pair((uint32_t)old, (uint32_t)v, type == TY_BF16X2);
	case TY_F16:
	case TY_BF16:
		return add_pair((uint16_t)old, (uint16_t)v, type == TY_BF16) & 0xffff;
	default:
		return old + v;
	}
}

static uint16_t extreme_half(uint16_t a, uint16_t b, bool bf16, bool max)
{
	float x = bf16 ? ts_ptx_from_bf16(a) : ts_ptx_from_f16(a);
	float y = bf16 ? ts_ptx_from_bf16(b) : ts_ptx_from_f16(b);

	if (__builtin_isnan(x) && __builtin_isnan(y))
		return 0x7fff;
	if (__builtin_isnan(x) || __builtin_isnan(y))
		return __builtin_isnan(x) ? b : a;
	if (x == y) /* zeros: the negative one is less */
		return max ? a & b : a | b;
	return (x < y) != max ? a : b;
}

static uint32_t extreme(uint32_t a, uint32_t b, enum ts_ptx_type type, bool max)
{
	bool bf16 = type == TY_BF16 || type == TY_BF16X2;

	return extreme_half((uint16_t)a, (uint16_t)b, bf16, max) |
	       (uint32_t)extreme_half((uint16_t)(a >> 16), (uint16_t)(b >> 16), bf16, max) << 16;
}

static bool less(uint64_t a, uint64_t b, enum ts_ptx_type type)
{
	switch (type) {
	case TY_S32:
		return (int32_t)a < (int32_t)b;
	case TY_S64:
		return (int64_t)a < (int64_t)b;
	case TY_U32:
		return (uint32_t)a < (uint32_t)b;
	default:
		return a < b;
	}
}

static uint64_t atom_apply(uint64_t old, uint64_t v, uint32_t aux)
{
	enum ts_ptx_type type = TS_PTX_ATOM_TYPE(aux);

	switch ((enum ts_ptx_atom)TS_PTX_ATOM_OP(aux)) {
	case ATOM_ADD:
		return atom_add(old, v, type);
	case ATOM_AND:
		return old & v;
	case ATOM_OR:
		return old | v;
	case ATOM_XOR:
		return old ^ v;
	case ATOM_EXCH:
		return v;
	case ATOM_MIN:
	case ATOM_MAX:
		if (ts_ptx_types[type].klass == 'f' || ts_ptx_types[type].klass == 'h')
			return extreme((uint32_t)old, (uint32_t)v, type,
				       TS_PTX_ATOM_OP(aux) == ATOM_MAX);
		if (TS_PTX_ATOM_OP(aux) == ATOM_MIN)
			return less(v, old, type) ? v : old;
		return less(old, v, type) ? v : old;
	case ATOM_INC:
		return (uint32_t)old >= (uint32_t)v ? 0 : (uint32_t)old + 1;
	default:
		return !(uint32_t)old || (uint32_t)old > (uint32_t)v ? (uint32_t)v
								     : (uint32_t)old - 1;
	}
}

/* True if the operation adds integers. */
static bool is_integer_add(uint32_t aux)
{
	char class = ts_ptx_types[TS_PTX_ATOM_TYPE(aux)].klass;

	return TS_PTX_ATOM_OP(aux) == ATOM_ADD && class != 'f' && class != 'h';
}

/*
 * swap_T: one lane's atomic. swap_all_T: atomics of n lanes at one address, in the order of `v`, by
 * one atomic of the host; old[k] receives the value before lane k's. cas_T: compare-and-swap.
 */
#define SWAP_LOOP(T)                                                                            \
	static uint64_t swap_##T(void *at, uint64_t v, uint32_t aux, bool shared)               \
	{                                                                                       \
		T *p = at, old;                                                                 \
                                                                                                \
		if (shared) {                                                                   \
			old = *p;                                                               \
			*p = (T)atom_apply(old, v, aux);                                        \
			return old;                                                             \
		}                                                                               \
		if (is_integer_add(aux))                                                        \
			return __atomic_fetch_add(p, (T)v, __ATOMIC_SEQ_CST);                   \
		old = __atomic_load_n(p, __ATOMIC_RELAXED);                                     \
		while (!__atomic_compare_exchange_n(p, &old, (T)atom_apply(old, v, aux), true,  \
						    __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))        \
			continue;                                                               \
		return old;                                                                     \
	}                                                                                       \
	static void swap_all_##T(void *at, const uint64_t *v, uint32_t n, uint32_t aux,         \
				 uint64_t *old)                                                 \
	{                                                                                       \
		T *p = at, before = __atomic_load_n(p, __ATOMIC_RELAXED), now;                  \
                                                                                                \
		do {                                                                            \
			now = before;                                                           \
			for (uint32_t k = 0; k < n; k++) {                                      \
				old[k] = now;                                                   \
				now = (T)atom_apply(now, v[k], aux);                            \
			}                                                                       \
		} while (!__atomic_compare_exchange_n(p, &before, now, true, __ATOMIC_SEQ_CST,  \
						      __ATOMIC_RELAXED));                       \
	}                                                                                       \
	static uint64_t cas_##T(void *at, uint64_t expected, uint64_t v)                        \
	{                                                                                       \
		T old = (T)expected;                                                            \
                                                                                                \
		(void)__atomic_compare_exchange_n((T *)at, &old, (T)v, false, __ATOMIC_SEQ_CST, \
						  __ATOMIC_SEQ_CST);                            \
		return old;                                                                     \
	}
SWAP_LOOP(uint16_t)
SWAP_LOOP(uint32_t)
SWAP_LOOP(uint64_t)

static bool is_shared(const struct ts_ptx_warp *w, const uint8_t *p)
{
	/* Compare integers: a block without shared memory has no valid pointer. */
	return (uintptr_t)p - (uintptr_t)w->block->shared < w->block->shared_bytes;
}

static uint64_t atom_value(const struct ts_ptx_warp *w, uint32_t ref, uint32_t bytes, uint32_t i)
{
	return bytes == 8 ? ((const uint64_t *)ts_ptx_slot(w, ref))[i]
			  : ((const uint32_t *)ts_ptx_slot(w, ref))[i];
}

static void atom_answer(const struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t bytes,
			uint32_t i, uint64_t old)
{
	if (in->dst == TS_PTX_NONE)
		return;
	if (bytes == 8)
		((uint64_t *)ts_ptx_result(w, in))[i] = old;
	else
		((uint32_t *)ts_ptx_result(w, in))[i] = (uint32_t)old;
}

/* True if all lanes of m have the host pointer of the first one. */
static bool is_one_place(uint8_t *const p[TS_PTX_LANES], uint32_t m)
{
	const uint8_t *first = p[__builtin_ctz(m)];

	for (m &= m - 1; m; m &= m - 1)
		if (p[__builtin_ctz(m)] != first)
			return false;
	return true;
}

/* Runs the atomics of the lanes at one address of device memory, in ascending order. */
static void atom_together(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m,
			  uint32_t bytes, uint8_t *p)
{
	uint64_t v[TS_PTX_LANES], old[TS_PTX_LANES];
	uint32_t n = 0;

	for (uint32_t left = m; left; left &= left - 1)
		v[n++] = atom_value(w, in->b, bytes, (uint32_t)__builtin_ctz(left));
	if (bytes == 8)
		swap_all_uint64_t(p, v, n, in->aux, old);
	else if (bytes == 4)
		swap_all_uint32_t(p, v, n, in->aux, old);
	else
		swap_all_uint16_t(p, v, n, in->aux, old);
	for (uint32_t left = m, k = 0; left; left &= left - 1, k++)
		atom_answer(w, in, bytes, (uint32_t)__builtin_ctz(left), old[k]);
}

static int atom_op(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t bytes = ts_ptx_types[TS_PTX_ATOM_TYPE(in->aux)].bytes;
	uint8_t *p[TS_PTX_LANES];
	uint32_t first;

	if (ts_ptx_addresses(w, in, m, bytes, true, p))
		return STOP_FAULT;
	first = ts_ptx_first_lane(w, in, m, p);
	w->worker->stats.atomics += (uint32_t)__builtin_popcount(m);
	w->slice -= TS_PTX_SYNC_COST / 4;
	w->n_watched++;
	if (!first && (m & (m - 1)) && is_one_place(p, m) && !is_shared(w, p[__builtin_ctz(m)])) {
		atom_together(w, in, m, bytes, p[__builtin_ctz(m)]);
		return 0;
	}
	for (uint32_t left = m; left; left &= ~(1u << ts_ptx_next_lane(left, first))) {
		uint32_t i = ts_ptx_next_lane(left, first);
		uint64_t v = atom_value(w, in->b, bytes, i);
		bool shared = is_shared(w, p[i]);
		uint64_t old = bytes == 8   ? swap_uint64_t(p[i], v, in->aux, shared)
			       : bytes == 4 ? swap_uint32_t(p[i], v, in->aux, shared)
					    : swap_uint16_t(p[i], v, in->aux, shared);

		atom_answer(w, in, bytes, i, old);
	}
	return 0;
}

/* Runs a compare-and-swap. b: expected value; c: new value. */
static int atom_cas(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t bytes = ts_ptx_types[TS_PTX_ATOM_TYPE(in->aux)].bytes;
	uint8_t *p[TS_PTX_LANES];
	uint32_t first;

	if (ts_ptx_addresses(w, in, m, bytes, true, p))
		return STOP_FAULT;
	first = ts_ptx_first_lane(w, in, m, p);
	w->worker->stats.atomics += (uint32_t)__builtin_popcount(m);
	ts_ptx_watch(w);
	for (uint32_t left = m; left; left &= ~(1u << ts_ptx_next_lane(left, first))) {
		uint32_t i = ts_ptx_next_lane(left, first);
		uint64_t expected = atom_value(w, in->b, bytes, i);
		uint64_t v = atom_value(w, in->c, bytes, i);
		uint64_t old = bytes == 8   ? cas_uint64_t(p[i], expected, v)
			       : bytes == 4 ? cas_uint32_t(p[i], expected, v)
					    : cas_uint16_t(p[i], expected, v);

		atom_answer(w, in, bytes, i, old);
	}
	return 0;
}

static int atom_vector(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	uint32_t aux = list[2 * in->n], bytes = ts_ptx_types[TS_PTX_ATOM_TYPE(aux)].bytes;
	uint32_t old[8][TS_PTX_LANES];
	uint8_t *p[TS_PTX_LANES];
	uint32_t first;

	if (ts_ptx_addresses(w, in, m, bytes * in->n, true, p))
		return STOP_FAULT;
	first = ts_ptx_first_lane(w, in, m, p);
	w->worker->stats.atomics += (uint32_t)__builtin_popcount(m);
	w->slice -= TS_PTX_SYNC_COST / 4;
	w->n_watched++;
	for (uint32_t left = m; left; left &= ~(1u << ts_ptx_next_lane(left, first))) {
		uint32_t i = ts_ptx_next_lane(left, first);
		bool shared = is_shared(w, p[i]);

		for (uint32_t k = 0; k < in->n; k++) {
			uint64_t v = atom_value(w, list[in->n + k], 4, i);
			uint8_t *at = p[i] + k * bytes;

			old[k][i] = (uint32_t)(bytes == 4 ? swap_uint32_t(at, v, aux, shared)
							  : swap_uint16_t(at, v, aux, shared));
		}
	}
	for (uint32_t k = 0; k < in->n; k++) {
		uint32_t *d = list[k] == TS_PTX_NONE ? NULL : ts_ptx_slot(w, list[k]);

		for (uint32_t left = d ? m : 0; left; left &= left - 1)
			d[__builtin_ctz(left)] = old[k][__builtin_ctz(left)];
	}
	return 0;
}

__extension__ typedef unsigned __int128 ts_ptx_u128;

/*
 * Compares and swaps 16 bytes. x86-64 uses inline assembly: compilers call a library unless they
 * build for CPUs with cmpxchg16b. All supported CPUs have cmpxchg16b.
 */
static ts_ptx_u128 cas_u128(ts_ptx_u128 *at, ts_ptx_u128 expected, ts_ptx_u128 v)
{
#ifdef __x86_64__
	uint64_t lo = (uint64_t)expected, hi = (uint64_t)(expected >> 64);

	__asm__ __volatile__("lock cmpxchg16b %0"
			     : "+m"(*at), "+a"(lo), "+d"(hi)
			     : "b"((uint64_t)v), "c"((uint64_t)(v >> 64))
			     : "memory", "cc");
	return (ts_ptx_u128)hi << 64 | lo;
#else
	return __sync_val_compare_and_swap(at, expected, v);
#endif
}

static ts_ptx_u128 swap_u128(ts_ptx_u128 *at, ts_ptx_u128 v)
{
	ts_ptx_u128 old = cas_u128(at, 0, 0), seen;

	while ((seen = cas_u128(at, old, v)) != old)
		old = seen;
	return old;
}

static ts_ptx_u128 u128_of(const struct ts_ptx_warp *w, const uint32_t *refs, uint32_t i)
{
	return (ts_ptx_u128)((const uint64_t *)ts_ptx_slot(w, refs[1]))[i] << 64 |
	       ((const uint64_t *)ts_ptx_slot(w, refs[0]))[i];
}

static int atom_128(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t *list = ts_ptx_operands(w, in);
	enum ts_ptx_atom128 op = list[in->n];
	ts_ptx_u128 old[TS_PTX_LANES];
	uint8_t *p[TS_PTX_LANES];
	uint32_t first;

	if (ts_ptx_addresses(w, in, m, 16, op != TS_PTX_ATOM128_LOAD, p))
		return STOP_FAULT;
	first = ts_ptx_first_lane(w, in, m, p);
	w->worker->stats.atomics += (uint32_t)__builtin_popcount(m);
	ts_ptx_watch(w);
	for (uint32_t left = m; left; left &= ~(1u << ts_ptx_next_lane(left, first))) {
		uint32_t i = ts_ptx_next_lane(left, first);
		ts_ptx_u128 *at = (ts_ptx_u128 *)(void *)p[i];

		old[i] = op == TS_PTX_ATOM128_LOAD    ? cas_u128(at, 0, 0)
			 : op == TS_PTX_ATOM128_STORE ? swap_u128(at, u128_of(w, list, i))
			 : op == TS_PTX_ATOM128_EXCH
				 ? swap_u128(at, u128_of(w, list + 2, i))
				 : cas_u128(at, u128_of(w, list + 2, i), u128_of(w, list + 4, i));
	}
	for (uint32_t left = op == TS_PTX_ATOM128_STORE ? 0 : m; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);

		((uint64_t *)ts_ptx_slot(w, list[0]))[i] = (uint64_t)old[i];
		((uint64_t *)ts_ptx_slot(w, list[1]))[i] = (uint64_t)(old[i] >> 64);
	}
	return 0;
}

void ts_ptx_fill_atom(struct ts_ptx_optable *t)
{
	t->fn[F_ATOM][TY_NONE] = atom_op;
	t->fn[F_ATOM_CAS][TY_NONE] = atom_cas;
	t->fn[F_ATOM_VECTOR][TY_NONE] = atom_vector;
	t->fn[F_ATOM128][TY_NONE] = atom_128;
}
