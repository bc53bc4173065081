// SPDX-License-Identifier: Apache-2.0
/*
 * Blocks of a kernel: makes a block resident, ends it, counts its work, and stops the run when a
 * limit is exceeded. engine.c calls this file for blocks in ascending order, schedule.c for blocks
 * in a chosen order.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "replay/vgpu/ptx/run/engine.h"

static uint64_t monotonic_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/*
 * Stops the run at one of its limits. Records a fault that names no instruction, unless there is a
 * fault already.
 */
static void stop_for(struct ts_ptx_worker *worker, enum ts_ptx_fault_kind kind, const char *why)
{
	struct ts_ptx_fault *f = &worker->fault;

	if (!f->kind) {
		*f = (struct ts_ptx_fault){.kind = kind};
		(void)snprintf(f->kernel, sizeof(f->kernel), "%s", worker->kernel->info.name);
		(void)snprintf(f->message, sizeof(f->message), "%s: %s, in kernel %s",
			       ts_ptx_fault_name(kind), why, f->kernel);
	}
	atomic_store(&worker->engine->stop, true);
}

void ts_ptx_block_free(struct ts_ptx_block *b)
{
	if (!b)
		return;
	free(b->warps);
	free(b->shared);
	free(b->local);
	free(b);
}

static int block_reserve(struct ts_ptx_engine *e, struct ts_ptx_block *b, uint32_t n_threads)
{
	uint32_t n_warps = (n_threads + TS_PTX_LANES - 1) / TS_PTX_LANES;
	size_t local = (size_t)n_warps * TS_PTX_LANES * e->local_stride;

	if (n_warps > b->warps_capacity) {
		free(b->warps);
		b->warps_capacity = 0;
		b->warps = calloc(n_warps, sizeof(*b->warps));
		if (!b->warps)
			return -ENOMEM;
		b->warps_capacity = n_warps;
		b->n_placed = 0;
	}
	if (e->shared_bytes > b->shared_capacity) {
		free(b->shared);
		b->shared_capacity = 0;
		b->shared = aligned_alloc(128, TS_PTX_SHARED_REACH(e->shared_bytes));
		if (!b->shared)
			return -ENOMEM;
		memset(b->shared, 0, TS_PTX_SHARED_REACH(e->shared_bytes));
		b->shared_capacity = e->shared_bytes;
	}
	if (local > b->local_capacity) {
		free(b->local);
		b->local_capacity = 0;
		/* calloc() maps untouched pages without cost, so deep stacks are cheap. */
		b->local = calloc(1, local);
		if (!b->local)
			return -ENOMEM;
		b->local_capacity = local;
	}
	b->shared_bytes = e->shared_bytes;
	b->local_stride = e->local_stride;
	b->n_threads = n_threads;
	b->n_warps = n_warps;
	return 0;
}

/*
 * Sets the tid of each thread. Blocks are reused, mostly with the same shape, so the values often
 * remain valid.
 */
static void block_place(struct ts_ptx_block *b, const uint32_t shape[3])
{
	uint32_t x = 0, y = 0, z = 0;

	if (b->n_placed >= b->n_warps && b->placed_x == shape[0] && b->placed_y == shape[1])
		return;
	for (uint32_t k = 0; k < b->n_warps; k++)
		for (uint32_t i = 0; i < TS_PTX_LANES; i++) {
			b->warps[k].tid[0][i] = x;
			b->warps[k].tid[1][i] = y;
			b->warps[k].tid[2][i] = z;
			if (++x < shape[0])
				continue;
			x = 0;
			if (++y < shape[1])
				continue;
			y = 0;
			z++;
		}
	b->placed_x = shape[0];
	b->placed_y = shape[1];
	b->n_placed = b->n_warps;
}

static int block_start(struct ts_ptx_worker *worker, struct ts_ptx_block *b, uint64_t index)
{
	struct ts_ptx_engine *e = worker->engine;
	const struct ts_ptx_launch *l = e->launch;
	uint32_t n_threads = l->block[0] * l->block[1] * l->block[2];
	int r = block_reserve(e, b, n_threads);

	if (r)
		return r;
	b->worker = worker;
	b->index = index;
	b->ctaid[0] = (uint32_t)(index % l->grid[0]);
	b->ctaid[1] = (uint32_t)(index / l->grid[0] % l->grid[1]);
	b->ctaid[2] = (uint32_t)(index / l->grid[0] / l->grid[1]);
	b->n_live = n_threads;
	for (; b->barriers_used; b->barriers_used &= b->barriers_used - 1)
		b->barriers[__builtin_ctz(b->barriers_used)] = (struct ts_ptx_barrier){0};
	/*
	 * Cooperative groups store barriers in the reserved shared memory, which must be zero at
	 * first.
	 */
	if (worker->kernel->code->uses_reserved_shared)
		memset(b->shared + b->shared_bytes - TS_PTX_RESERVED_SHARED, 0,
		       TS_PTX_RESERVED_SHARED);
	block_place(b, l->block);
	for (uint32_t k = 0; k < b->n_warps; k++) {
		struct ts_ptx_warp *w = &b->warps[k];
		uint32_t n = n_threads - k * TS_PTX_LANES;

		w->block = b;
		w->worker = worker;
		w->index = k;
		w->bank[1] = worker->image->pool;
		w->n_warp_insns = w->n_thread_insns = 0;
		r = ts_ptx_warp_start(w, worker->kernel->code, n < 32 ? (1u << n) - 1 : UINT32_MAX);
		if (r) {
			b->n_warps = k;
			return -ENOMEM;
		}
	}
	if (worker->observer)
		b->observed = worker->observer->block_begin(
			worker->observer->userdata, index, b->shared_bytes,
			worker->kernel->code->uses_reserved_shared ? TS_PTX_RESERVED_SHARED : 0);
	return worker->observer && !b->observed ? -ENOMEM : 0;
}

void ts_ptx_block_end(struct ts_ptx_worker *worker, struct ts_ptx_block *b)
{
	if (b->observed)
		worker->observer->block_end(worker->observer->userdata, b->observed);
	b->observed = NULL;
	for (uint32_t k = 0; k < b->n_warps; k++) {
		struct ts_ptx_warp *w = &b->warps[k];

		if (w->base)
			ts_ptx_warp_drop(w);
	}
	worker->n_blocks--;
	atomic_fetch_sub(&worker->engine->n_resident, 1);
	b->next = worker->spare;
	worker->spare = b;
}

void ts_ptx_deadlock(struct ts_ptx_block *b)
{
	for (uint32_t k = 0; k < b->n_warps; k++) {
		struct ts_ptx_warp *w = &b->warps[k];
		struct ts_ptx_split *s = &w->splits[0];
		uint32_t lane;

		if (!w->n_splits)
			continue;
		lane = (uint32_t)__builtin_ctz(s->mask);
		w->current = 0;
		if (s->state == SPLIT_BARRIER)
			(void)ts_ptx_fault(w, s->pc - 1, lane, TS_PTX_FAULT_DEADLOCK,
					   "barrier %u waits for threads that do not arrive: every "
					   "thread of the block waits",
					   s->barrier);
		else
			(void)ts_ptx_fault(
				w, s->pc, lane, TS_PTX_FAULT_DEADLOCK,
				"lanes 0x%08x wait for the other lanes of member mask 0x%08x, "
				"which do not arrive",
				s->mask, s->members);
		return;
	}
}

void ts_ptx_collect(struct ts_ptx_worker *worker, struct ts_ptx_warp *warps, uint32_t n)
{
	uint64_t n_insns = 0;

	for (struct ts_ptx_warp *w = warps; w != warps + n; w++) {
		n_insns += w->n_warp_insns;
		worker->stats.thread_insns += w->n_thread_insns;
		w->n_warp_insns = w->n_thread_insns = 0;
	}
	worker->stats.warp_insns += n_insns;
	worker->unreported += n_insns;
}

/*
 * Sets whether the PTX threads of the worker only poll memory. A worker whose threads do more
 * counts as active in launch->watch.
 */
void ts_ptx_set_only_watches(struct ts_ptx_worker *worker, bool only_watches)
{
	struct ts_ptx_watch *watch = worker->launch->watch;

	if (watch && only_watches != worker->only_watches)
		atomic_fetch_add(&watch->n_active, only_watches ? -1u : 1u);
	worker->only_watches = only_watches;
}

/*
 * Notes how long the worker's PTX threads have only polled. A PTX thread that polls and writes
 * nothing can only wait for writes of other threads.
 */
static void note_watching(struct ts_ptx_worker *worker, bool spins)
{
	const struct ts_ptx_launch *l = worker->launch;
	const struct ts_ptx_stats *stats = &worker->stats;
	uint64_t done = stats->atomics + stats->global_bytes_written + stats->shared_bytes_written +
			stats->barriers + stats->blocks;

	if (!spins || done != worker->done)
		worker->watching = 0;
	else
		worker->watching += worker->unreported > TS_PTX_SYNC_COST ? worker->unreported
									  : TS_PTX_SYNC_COST;
	worker->done = done;
	ts_ptx_set_only_watches(worker, worker->watching > l->max_watching_insns);
	if (worker->only_watches &&
	    (!l->watch || atomic_load_explicit(&l->watch->ends, memory_order_relaxed)))
		stop_for(worker, TS_PTX_FAULT_WAITS, "all threads only wait for memory to change");
}

void ts_ptx_charge(struct ts_ptx_worker *worker, bool spins)
{
	struct ts_ptx_engine *e = worker->engine;
	const struct ts_ptx_launch *l = e->launch;
	uint64_t total;

	if (l->max_warp_insns) {
		total = atomic_fetch_add(&e->n_insns, worker->unreported) + worker->unreported;
		if (total > l->max_warp_insns)
			stop_for(worker, TS_PTX_FAULT_BUDGET,
				 "the kernel used its budget of warp instructions");
	}
	if (l->max_watching_insns)
		note_watching(worker, spins);
	worker->unreported = 0;
	if (l->deadline_ns && monotonic_ns() > l->deadline_ns)
		stop_for(worker, TS_PTX_FAULT_BUDGET, "the deadline has passed");
	if (l->cancel && atomic_load_explicit(l->cancel, memory_order_relaxed))
		stop_for(worker, TS_PTX_FAULT_CANCELLED, "the caller cancelled the kernel");
}

uint64_t ts_ptx_block_at(struct ts_ptx_engine *e, uint64_t n)
{
	__extension__ typedef unsigned __int128 wide;

	if (!e->block_step)
		return n;
	return (uint64_t)(((wide)n * e->block_step + e->block_first) % e->n_blocks);
}

bool ts_ptx_take_block(struct ts_ptx_worker *worker, struct ts_ptx_block ***end)
{
	struct ts_ptx_engine *e = worker->engine;
	uint32_t n = atomic_load_explicit(&e->n_resident, memory_order_relaxed);
	struct ts_ptx_block *b;
	uint64_t index;

	do {
		if (n >= e->max_resident ||
		    atomic_load_explicit(&e->next_block, memory_order_relaxed) >= e->n_blocks)
			return false;
	} while (!atomic_compare_exchange_weak(&e->n_resident, &n, n + 1));
	index = atomic_fetch_add(&e->next_block, 1);
	if (index >= e->n_blocks) {
		atomic_fetch_sub(&e->n_resident, 1);
		return false;
	}
	b = worker->spare;
	if (b)
		worker->spare = b->next;
	else
		b = calloc(1, sizeof(*b));
	if (b)
		worker->n_blocks++;
	else
		atomic_fetch_sub(&e->n_resident, 1);
	if (!b || block_start(worker, b, ts_ptx_block_at(e, index))) {
		if (b)
			ts_ptx_block_end(worker, b);
		stop_for(worker, TS_PTX_FAULT_NO_MEMORY, "the host has no memory for a block");
		return false;
	}
	b->next = NULL;
	**end = b;
	*end = &b->next;
	return true;
}
