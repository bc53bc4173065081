// SPDX-License-Identifier: Apache-2.0
/*
 * Atomics. Lanes take their turns in ascending order. A block runs on one thread at a time, so atomics on its shared
 * memory need no host atomics; on device memory every one is a sequentially consistent compare-and-swap or better, which
 * is at least what any .sem asks for, at any .scope.
 */
#include "replay/vgpu/ptx/exec.h"
#include "replay/vgpu/ptx/half.h"

static uint32_t ts_ptx_add_pair(uint32_t a, uint32_t b, bool bf16)
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

static uint64_t ts_ptx_atom_add(uint64_t old, uint64_t v, enum ts_ptx_type type)
{
	switch (type) {
	case TY_F32: {
		/* Atomic single precision sums in device memory flush denormals neither here nor, since Volta, there. */
		float sum = ts_ptx_float((uint32_t)old) + ts_ptx_float((uint32_t)v);

		return ts_ptx_bits(ts_ptx_canonical(sum));
	}
	case TY_F64:
		return ts_ptx_bits64(ts_ptx_double(old) + ts_ptx_double(v));
	case TY_F16X2:
	case TY_BF16X2:
		return ts_ptx_add_pair((uint32_t)old, (uint32_t)v, type == TY_BF16X2);
	case TY_F16:
	case TY_BF16:
		return ts_ptx_add_pair((uint16_t)old, (uint16_t)v, type == TY_BF16) & 0xffff;
	default:
		return old + v;
	}
}

static bool ts_ptx_less(uint64_t a, uint64_t b, enum ts_ptx_type type)
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

static uint64_t ts_ptx_atom_apply(uint64_t old, uint64_t v, uint32_t aux)
{
	enum ts_ptx_type type = TS_PTX_ATOM_TYPE(aux);

	switch ((enum ts_ptx_atom)TS_PTX_ATOM_OP(aux)) {
	case ATOM_ADD:
		return ts_ptx_atom_add(old, v, type);
	case ATOM_AND:
		return old & v;
	case ATOM_OR:
		return old | v;
	case ATOM_XOR:
		return old ^ v;
	case ATOM_EXCH:
		return v;
	case ATOM_MIN:
		return ts_ptx_less(v, old, type) ? v : old;
	case ATOM_MAX:
		return ts_ptx_less(old, v, type) ? v : old;
	case ATOM_INC:
		return (uint32_t)old >= (uint32_t)v ? 0 : (uint32_t)old + 1;
	default:
		return !(uint32_t)old || (uint32_t)old > (uint32_t)v ? (uint32_t)v
								     : (uint32_t)old - 1;
	}
}

#define SWAP_LOOP(T)                                                                            \
	static uint64_t ts_ptx_swap_##T(void *at, uint64_t v, uint32_t aux, bool shared)        \
	{                                                                                       \
		T *p = at, old;                                                                 \
                                                                                                \
		if (shared) {                                                                   \
			old = *p;                                                               \
			*p = (T)ts_ptx_atom_apply(old, v, aux);                                 \
			return old;                                                             \
		}                                                                               \
		old = __atomic_load_n(p, __ATOMIC_RELAXED);                                     \
		while (!__atomic_compare_exchange_n(p, &old, (T)ts_ptx_atom_apply(old, v, aux), \
						    true, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))  \
			continue;                                                               \
		return old;                                                                     \
	}                                                                                       \
	static uint64_t ts_ptx_cas_##T(void *at, uint64_t expected, uint64_t v)                 \
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

static bool ts_ptx_is_shared(const struct ts_ptx_warp *w, const uint8_t *p)
{
	return p >= w->block->shared && p < w->block->shared + w->block->shared_bytes;
}

static uint64_t ts_ptx_atom_value(const struct ts_ptx_warp *w, uint32_t ref, uint32_t bytes,
				  uint32_t i)
{
	return bytes == 8 ? ((const uint64_t *)ts_ptx_slot(w, ref))[i]
			  : ((const uint32_t *)ts_ptx_slot(w, ref))[i];
}

static void ts_ptx_atom_answer(const struct ts_ptx_warp *w, const struct ts_ptx_insn *in,
			       uint32_t bytes, uint32_t i, uint64_t old)
{
	if (in->dst == TS_PTX_NONE)
		return;
	if (bytes == 8)
		((uint64_t *)ts_ptx_result(w, in))[i] = old;
	else
		((uint32_t *)ts_ptx_result(w, in))[i] = (uint32_t)old;
}

static int ts_ptx_atom_op(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t bytes = ts_ptx_types[TS_PTX_ATOM_TYPE(in->aux)].bytes;
	uint8_t *p[TS_PTX_LANES];

	if (ts_ptx_addresses(w, in, m, bytes, true, p))
		return STOP_FAULT;
	w->worker->stats.atomics += (uint32_t)__builtin_popcount(m);
	w->slice -= TS_PTX_SYNC_COST / 4;
	w->n_watched++;
	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		uint64_t v = ts_ptx_atom_value(w, in->b, bytes, i);
		bool shared = ts_ptx_is_shared(w, p[i]);
		uint64_t old = bytes == 8   ? ts_ptx_swap_uint64_t(p[i], v, in->aux, shared)
			       : bytes == 4 ? ts_ptx_swap_uint32_t(p[i], v, in->aux, shared)
					    : ts_ptx_swap_uint16_t(p[i], v, in->aux, shared);

		ts_ptx_atom_answer(w, in, bytes, i, old);
	}
	return 0;
}

/* b: what is expected, c: the new value. */
static int ts_ptx_atom_cas(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	uint32_t bytes = ts_ptx_types[TS_PTX_ATOM_TYPE(in->aux)].bytes;
	uint8_t *p[TS_PTX_LANES];

	if (ts_ptx_addresses(w, in, m, bytes, true, p))
		return STOP_FAULT;
	w->worker->stats.atomics += (uint32_t)__builtin_popcount(m);
	ts_ptx_watch(w);
	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		uint64_t expected = ts_ptx_atom_value(w, in->b, bytes, i);
		uint64_t v = ts_ptx_atom_value(w, in->c, bytes, i);
		uint64_t old = bytes == 8   ? ts_ptx_cas_uint64_t(p[i], expected, v)
			       : bytes == 4 ? ts_ptx_cas_uint32_t(p[i], expected, v)
					    : ts_ptx_cas_uint16_t(p[i], expected, v);

		ts_ptx_atom_answer(w, in, bytes, i, old);
	}
	return 0;
}

void ts_ptx_fill_atom(struct ts_ptx_optable *t)
{
	t->fn[F_ATOM][TY_NONE] = ts_ptx_atom_op;
	t->fn[F_ATOM_CAS][TY_NONE] = ts_ptx_atom_cas;
}
