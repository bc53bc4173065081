// SPDX-License-Identifier: Apache-2.0
/*
 * Barriers of a block: bar and barrier with all numbers, thread counts, arrival without waiting,
 * and reductions. As on GPUs since Volta, each thread is counted separately. A barrier does not
 * wait for threads that have exited. control-flow.c calls this file for barrier instructions and
 * for exits.
 */
#include "replay/vgpu/ptx/run/ptx-exec.h"

static void barrier_complete(struct ts_ptx_block *block, uint32_t number)
{
	const struct ts_ptx_observer *observer = block->worker->observer;
	struct ts_ptx_barrier *b = &block->barriers[number];

	if (observer)
		observer->complete(observer->userdata, block->observed, number, !b->n_needed);

	for (uint32_t k = 0; k < block->n_warps; k++) {
		struct ts_ptx_warp *w = &block->warps[k];

		for (uint32_t i = 0; i < w->n_splits; i++) {
			struct ts_ptx_split *s = &w->splits[i];
			const struct ts_ptx_insn *in = s->pc - 1;
			uint32_t *d;

			if (s->state != SPLIT_BARRIER || s->barrier != number)
				continue;
			s->state = SPLIT_READY;
			if (in->aux < TS_PTX_BAR_POPC)
				continue;
			d = (uint32_t *)(void *)(s->frame->regs + in->dst);
			if (in->aux == TS_PTX_BAR_POPC) {
				for (uint32_t left = s->mask; left; left &= left - 1)
					d[__builtin_ctz(left)] = b->popc;
			} else {
				bool r = in->aux == TS_PTX_BAR_AND ? b->all : b->any;

				*d = (*d & ~s->mask) | (r ? s->mask : 0);
			}
		}
	}
	*b = (struct ts_ptx_barrier){0};
	block->barriers_used &= ~(1u << number);
	block->worker->stats.barriers++;
}

static void observe_arrival(const struct ts_ptx_warp *w, uint32_t number, uint32_t m, bool waits)
{
	const struct ts_ptx_observer *observer = w->worker->observer;

	if (observer)
		observer->arrive(observer->userdata, w->block->observed, number, w->index, m,
				 waits);
}

static bool barrier_full(const struct ts_ptx_block *block, const struct ts_ptx_barrier *b)
{
	if (b->n_needed)
		return b->n_arrived >= b->n_needed;
	/* Each lane that has arrived was counted, so fewer than the live ones are not all. */
	if (b->n_arrived < block->n_live)
		return false;
	for (uint32_t k = 0; k < block->n_warps; k++)
		if (block->warps[k].live & ~b->arrived[k])
			return false;
	return true;
}

void ts_ptx_barrier_exit(struct ts_ptx_block *block)
{
	for (uint32_t left = block->barriers_used; left; left &= left - 1) {
		uint32_t number = (uint32_t)__builtin_ctz(left);

		if (barrier_full(block, &block->barriers[number]))
			barrier_complete(block, number);
	}
}

/*
 * Runs an instruction of the barrier of a cluster, which has one block: threads arrive without
 * waiting, and wait later. When a phase completes, its arrivals are cleared. So a thread waits only
 * if its own arrival is still recorded.
 */
static int cluster_barrier(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	struct ts_ptx_split *s = &w->splits[w->current];
	struct ts_ptx_barrier *b = &w->block->barriers[TS_PTX_CLUSTER_BARRIER];

	s->pc = in + 1;
	w->pc = in + 1;
	if (in->aux == TS_PTX_BAR_CLUSTER_WAIT) {
		if (b->arrived[w->index] & m) {
			s->state = SPLIT_BARRIER;
			s->barrier = TS_PTX_CLUSTER_BARRIER;
		}
		return 0;
	}
	if (b->arrived[w->index] & m)
		return ts_ptx_fault(w, in, (uint32_t)__builtin_ctz(b->arrived[w->index] & m),
				    TS_PTX_FAULT_ILLEGAL,
				    "a second arrival at the cluster's barrier without a wait");
	w->block->barriers_used |= 1u << TS_PTX_CLUSTER_BARRIER;
	observe_arrival(w, TS_PTX_CLUSTER_BARRIER, m, true);
	b->arrived[w->index] |= m;
	b->n_arrived += (uint32_t)__builtin_popcount(m);
	if (barrier_full(w->block, b))
		barrier_complete(w->block, TS_PTX_CLUSTER_BARRIER);
	return 0;
}

int ts_ptx_barrier_insn(struct ts_ptx_warp *w, const struct ts_ptx_insn *in, uint32_t m)
{
	struct ts_ptx_split *s = &w->splits[w->current];
	uint32_t lane = (uint32_t)__builtin_ctz(m), lanes = (uint32_t)__builtin_popcount(m);
	uint32_t number, needed = 0;
	struct ts_ptx_barrier *b;

	if (in->aux == TS_PTX_BAR_CLUSTER_ARRIVE || in->aux == TS_PTX_BAR_CLUSTER_WAIT)
		return cluster_barrier(w, in, m);
	number = ((const uint32_t *)ts_ptx_slot(w, in->a))[lane];
	if (number >= TS_PTX_N_BARRIERS)
		return ts_ptx_fault(w, in, lane, TS_PTX_FAULT_ILLEGAL,
				    "barrier %u: a block has 16 "
				    "barriers",
				    number);
	b = &w->block->barriers[number];
	if (in->b != TS_PTX_NONE) {
		needed = ((const uint32_t *)ts_ptx_slot(w, in->b))[lane];
		if (!needed || needed % TS_PTX_LANES)
			return ts_ptx_fault(w, in, lane, TS_PTX_FAULT_ILLEGAL,
					    "barrier %u for %u threads: not a multiple of 32",
					    number, needed);
	}
	if (!(w->block->barriers_used >> number & 1)) {
		b->all = true;
		b->n_needed = needed;
		w->block->barriers_used |= 1u << number;
	}
	observe_arrival(w, number, m, in->aux != TS_PTX_BAR_ARRIVE);
	b->arrived[w->index] |= m;
	/*
	 * If all threads of a warp arrived, the warp counts as 32, even if the block's last warp
	 * has fewer threads.
	 */
	b->n_arrived += m == w->live ? TS_PTX_LANES : lanes;
	if (in->aux >= TS_PTX_BAR_POPC) {
		uint32_t p = (*ts_ptx_pred(w, in->c) ^ (in->imm ? UINT32_MAX : 0)) & m;

		b->popc += (uint32_t)__builtin_popcount(p);
		b->all = b->all && p == m;
		b->any = b->any || p;
	}
	s->pc = in + 1;
	w->pc = in + 1;
	if (in->aux != TS_PTX_BAR_ARRIVE) {
		s->state = SPLIT_BARRIER;
		s->barrier = number;
	}
	if (barrier_full(w->block, b))
		barrier_complete(w->block, number);
	return 0;
}
