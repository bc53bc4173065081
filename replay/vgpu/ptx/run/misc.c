// SPDX-License-Identifier: Apache-2.0
/*
 * Special registers, fences, hints without effect, and the selection of the optable. The lane loop
 * runs the instructions; the linker calls ts_ptx_ops().
 */
#include <pthread.h>
#include <time.h>

#include "replay/vgpu/ptx/run/ptx-exec.h"

static uint64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns a special register that has the same value in all lanes. */
static uint64_t sreg_uniform(const struct ts_ptx_warp *w, enum ts_ptx_sreg sreg)
{
	const struct ts_ptx_launch *l = w->worker->launch;
	const struct ts_ptx_block *b = w->block;
	uint32_t n_sm = l->n_sm ? l->n_sm : 1;

	switch (sreg) {
	case SREG_NTID_X:
	case SREG_NTID_Y:
	case SREG_NTID_Z:
		return l->block[sreg - SREG_NTID_X];
	case SREG_CTAID_X:
	case SREG_CTAID_Y:
	case SREG_CTAID_Z:
		return b->ctaid[sreg - SREG_CTAID_X];
	case SREG_NCTAID_X:
	case SREG_NCTAID_Y:
	case SREG_NCTAID_Z:
		return l->grid[sreg - SREG_NCTAID_X];
	case SREG_WARPID:
		return w->index;
	case SREG_NWARPID:
		return TS_PTX_MAX_WARPS * 2;
	case SREG_SMID:
		return b->index % n_sm;
	case SREG_NSMID:
		return n_sm;
	case SREG_GRIDID:
		return l->grid_id;
	case SREG_CLOCK:
	case SREG_CLOCK64:
	case SREG_GLOBALTIMER:
	case SREG_GLOBALTIMER_LO:
		return now_ns();
	case SREG_CLOCK_HI:
	case SREG_GLOBALTIMER_HI:
		return now_ns() >> 32;
	case SREG_DYNAMIC_SMEM_SIZE:
		return l->dynamic_shared_bytes;
	case SREG_TOTAL_SMEM_SIZE:
		return l->dynamic_shared_bytes ? w->worker->dynamic_offset + l->dynamic_shared_bytes
					       : w->worker->kernel->info.static_shared_bytes;
	case SREG_AGGR_SMEM_SIZE:
		return b->shared_bytes;
	case SREG_RESERVED_SMEM:
		return b->shared_bytes - TS_PTX_RESERVED_SHARED;
	case SREG_RESERVED_SMEM_END:
		return b->shared_bytes;
	case SREG_RESERVED_SMEM_SIZE:
		return TS_PTX_RESERVED_SHARED;
	case SREG_ENVREG1:
		return l->grid_workspace >> 32;
	case SREG_ENVREG2:
		return l->grid_workspace & UINT32_MAX;
	case SREG_ONE:
		return 1;
	case SREG_DYNAMIC_SMEM_OFFSET:
		return w->worker->dynamic_offset;
	default:
		return 0;
	}
}

static uint64_t sreg_lane(const struct ts_ptx_warp *w, enum ts_ptx_sreg sreg, uint32_t lane)
{
	switch (sreg) {
	case SREG_TID_X:
	case SREG_TID_Y:
	case SREG_TID_Z:
		return w->tid[sreg - SREG_TID_X][lane];
	case SREG_LANEID:
		return lane;
	case SREG_LANEMASK_EQ:
		return 1u << lane;
	case SREG_LANEMASK_LT:
		return (1u << lane) - 1;
	case SREG_LANEMASK_LE:
		return (2u << lane) - 1;
	case SREG_LANEMASK_GE:
		return ~((1u << lane) - 1);
	default:
		return ~((2u << lane) - 1);
	}
}

/* Reads the special register `aux` and adds imm, for extern shared arrays. */
static int sreg_read(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	enum ts_ptx_sreg sreg = in->aux;
	bool by_lane = sreg <= SREG_TID_Z || sreg == SREG_LANEID ||
		       (sreg >= SREG_LANEMASK_EQ && sreg <= SREG_LANEMASK_GT);
	uint64_t v = by_lane ? 0 : sreg_uniform(w, sreg) + in->imm;

	if (sreg >= SREG_CLOCK && sreg <= SREG_GLOBALTIMER_HI)
		ts_ptx_watch(w); /* a loop that reads a clock is waiting */
	if (m == UINT32_MAX && !(in->flags & INSN_DST64) && (!by_lane || sreg <= SREG_TID_Z)) {
		uint32_t *result = ts_ptx_result(w, in);

		if (by_lane)
			memcpy(result, w->tid[sreg - SREG_TID_X], sizeof(w->tid[0]));
		for (uint32_t i = 0; !by_lane && i < TS_PTX_LANES; i++)
			result[i] = (uint32_t)v;
		return 0;
	}
	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);

		if (by_lane)
			v = sreg_lane(w, sreg, i);
		if (in->flags & INSN_DST64)
			((uint64_t *)ts_ptx_result(w, in))[i] = v;
		else
			((uint32_t *)ts_ptx_result(w, in))[i] = (uint32_t)v;
	}
	return 0;
}

static int fence(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	atomic_thread_fence(memory_order_seq_cst);
	return 0;
}

static int nop(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	return 0;
}

static int alloca_op(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t *top = ts_ptx_slot(w, in->b);
	uint32_t *new_top = ts_ptx_slot(w, in->target);
	uint64_t limit = w->block->local_stride;
	bool wide = in->flags & INSN_DST64;

	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);
		uint64_t bytes = wide ? ((const uint64_t *)ts_ptx_slot(w, in->a))[i]
				      : ((const uint32_t *)ts_ptx_slot(w, in->a))[i];
		uint64_t at = ((uint64_t)top[i] + in->aux - 1) & ~(uint64_t)(in->aux - 1);

		if (at > limit || bytes > limit - at)
			return ts_ptx_fault(w, in, i, TS_PTX_FAULT_STACK,
					    "stack overflow: alloca of %llu bytes, with %llu bytes "
					    "of stack",
					    (unsigned long long)bytes, (unsigned long long)limit);
		new_top[i] = (uint32_t)(at + bytes);
		if (wide)
			((uint64_t *)ts_ptx_result(w, in))[i] = at;
		else
			((uint32_t *)ts_ptx_result(w, in))[i] = (uint32_t)at;
	}
	return 0;
}

static int mapa(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	const uint32_t *rank = ts_ptx_slot(w, in->b);

	for (uint32_t left = m; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(left);

		if (rank[i])
			return ts_ptx_fault(w, in, i, TS_PTX_FAULT_ILLEGAL,
					    "mapa of block %u in a cluster of one", rank[i]);
		if (in->flags & INSN_DST64)
			((uint64_t *)ts_ptx_result(w, in))[i] =
				((const uint64_t *)ts_ptx_slot(w, in->a))[i];
		else
			((uint32_t *)ts_ptx_result(w, in))[i] =
				((const uint32_t *)ts_ptx_slot(w, in->a))[i];
	}
	return 0;
}

void ts_ptx_fill_misc(struct ts_ptx_optable *t)
{
	t->fn[F_SREG][TY_NONE] = sreg_read;
	t->fn[F_FENCE][TY_NONE] = fence;
	t->fn[F_PREFETCH][TY_NONE] = nop;
	t->fn[F_NOP][TY_NONE] = nop;
	t->fn[F_ALLOCA][TY_NONE] = alloca_op;
	t->fn[F_MAPA][TY_NONE] = mapa;
}

/*
 * The optables, best first. Written once, then only read. These are the only mutable global data of
 * the engine, because all images share them.
 */
static struct ts_ptx_optable ts_ptx_tables[3];
static uint32_t ts_ptx_n_tables;
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

#define FILL(set)                                \
	do {                                     \
		t->isa = #set;                   \
		ts_ptx_fill_int_##set(t);        \
		ts_ptx_fill_set_##set(t);        \
		ts_ptx_fill_float_##set(t);      \
		ts_ptx_fill_half_##set(t);       \
		ts_ptx_fill_mma_##set(t);        \
		ts_ptx_fill_matrix_##set(t);     \
		ts_ptx_fill_cvt_##set(t);        \
		ts_ptx_fill_mem_##set(t);        \
		ts_ptx_fill_collective_##set(t); \
		ts_ptx_fill_loop_##set(t);       \
	} while (0)

static void fill_common(struct ts_ptx_optable *t)
{
	ts_ptx_fill_approx(t);
	ts_ptx_fill_atom(t);
	ts_ptx_fill_misc(t);
	ts_ptx_fill_async(t);
	ts_ptx_fill_video(t);
}

static void tables_fill(void)
{
	struct ts_ptx_optable *t = ts_ptx_tables;

#ifdef TS_PTX_HAVE_V4
	bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
		  __builtin_cpu_supports("bmi2");

	if (v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
		FILL(v4);
		fill_common(t++);
	}
	if (v3) {
		FILL(v3);
		fill_common(t++);
	}
#endif
	FILL(base);
	fill_common(t++);
	ts_ptx_n_tables = (uint32_t)(t - ts_ptx_tables);
}

const struct ts_ptx_optable *ts_ptx_ops(const char *isa)
{
	(void)pthread_once(&tables_once, tables_fill);
	for (uint32_t i = 0; i < ts_ptx_n_tables; i++)
		if (!isa || !strcmp(isa, ts_ptx_tables[i].isa))
			return &ts_ptx_tables[i];
	return NULL;
}
