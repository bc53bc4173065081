// SPDX-License-Identifier: Apache-2.0
/*
 * Runs kernels. executor.c creates an engine and calls ts_ptx_run(); the engine calls blocks.c for
 * blocks and the lane loop for warps. The engine's workers take blocks in ascending order, keep a
 * few of them resident, and give each warp of each resident block a turn.
 *
 * A worker takes another block only when its blocks did not end within their turns. So ordinary
 * kernels run block after block in warm caches. If blocks wait for other blocks, further blocks
 * become resident.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "replay/vgpu/ptx/run/engine.h"

#define MAX_ENGINE_THREADS 256

/* Runs one turn of each warp. 0: continue; 1: the block is done; -1: it faulted. */
static int block_pass(struct ts_ptx_block *b)
{
	int (*loop)(struct ts_ptx_warp *) = b->worker->image->ops->loop;
	bool ran = false, left = false, spins = true;

	for (uint32_t k = 0; k < b->n_warps; k++) {
		struct ts_ptx_warp *w = &b->warps[k];
		int stop;

		if (!w->n_splits)
			continue;
		if (!ts_ptx_warp_choose(w, true)) {
			left = true;
			continue;
		}
		ran = true;
		w->slice = TS_PTX_SLICE;
		w->n_watched = 0;
		stop = b->worker->debugger ? ts_ptx_debug_turn(w, loop) : loop(w);
		if (stop == STOP_FAULT)
			return -1;
		if (stop == STOP_SLICE) {
			ts_ptx_split_store(w);
			spins &= w->n_watched >= TS_PTX_SPINNING;
			if (w->n_watched >= TS_PTX_SPINNING)
				(void)ts_ptx_warp_break(w);
		} else {
			spins = false;
		}
		left |= w->n_splits != 0;
	}
	if (left && !ran) {
		/* Lanes that run may wait for lanes at joins: release the lanes at joins. */
		for (uint32_t k = 0; k < b->n_warps; k++)
			ran |= ts_ptx_warp_break(&b->warps[k]);
	}
	if (left && !ran) {
		ts_ptx_deadlock(b);
		return -1;
	}
	b->spins = spins && ran;
	return !left;
}

static void work_in_order(struct ts_ptx_worker *worker)
{
	struct ts_ptx_engine *e = worker->engine;
	struct ts_ptx_block **end = &worker->blocks;
	uint32_t turns = 0;

	while (!atomic_load_explicit(&e->stop, memory_order_relaxed)) {
		struct ts_ptx_block *b = worker->blocks;
		int r = 0;

		/* Each block had a turn and none ended: add a block. */
		if (!b || turns >= worker->n_blocks) {
			turns = 0;
			if (!ts_ptx_take_block(worker, &end) && !b)
				break;
			b = worker->blocks;
		}
		for (int pass = 0; pass < TS_PTX_BLOCK_PASSES && !r && !(pass && b->spins); pass++)
			r = block_pass(b);
		ts_ptx_collect(worker, b->warps, b->n_warps);
		if (r < 0)
			atomic_store(&e->stop, true);
		else
			ts_ptx_charge(worker, !r && b->spins);
		if (r < 0)
			break;
		worker->blocks = b->next;
		if (!worker->blocks)
			end = &worker->blocks;
		if (r) {
			worker->stats.blocks++;
			ts_ptx_block_end(worker, b);
			turns = 0;
			/* Replace the block that ended. */
			if (!worker->blocks || worker->n_blocks < 2)
				(void)ts_ptx_take_block(worker, &end);
		} else {
			b->next = NULL;
			*end = b;
			end = &b->next;
			turns++;
		}
	}
}

static void work(struct ts_ptx_worker *worker)
{
	if (worker->scheduler)
		ts_ptx_work_scheduled(worker);
	else
		work_in_order(worker);
	if (worker->debugger)
		worker->debugger->end(worker->debugger->userdata,
				      worker->fault.kind ? &worker->fault : NULL);
	while (worker->blocks) {
		struct ts_ptx_block *b = worker->blocks;

		worker->blocks = b->next;
		ts_ptx_block_end(worker, b);
	}
}

static void worker_run(struct ts_ptx_worker *worker)
{
	struct ts_ptx_engine *e = worker->engine;

	worker->launch = e->launch;
	worker->kernel = e->launch->kernel;
	worker->image = worker->kernel->image;
	worker->params = e->launch->params;
	worker->params_bytes = worker->kernel->info.params_bytes;
	worker->dynamic_offset = e->dynamic_offset;
	memset(worker->ranges, 0, sizeof(worker->ranges));
	memset(&worker->stats, 0, sizeof(worker->stats));
	worker->fault.kind = TS_PTX_FAULT_NONE;
	worker->unreported = worker->watching = worker->done = 0;
	worker->observer = e->observer;
	worker->scheduler = e->scheduler;
	worker->debugger = e->debugger;
	worker->observing = 0;
	worker->only_watches = true;
	ts_ptx_set_only_watches(worker, false);
	/*
	 * Set round-to-nearest, kept denormals and masked exceptions, whatever the application's
	 * mode is.
	 */
#if defined(__SSE2__)
	uint32_t mode = __builtin_ia32_stmxcsr();

	__builtin_ia32_ldmxcsr(0x1f80);
	work(worker);
	__builtin_ia32_ldmxcsr(mode);
#else
	uint64_t mode = ts_ptx_fpcr();

	ts_ptx_set_fpcr(0);
	work(worker);
	ts_ptx_set_fpcr(mode);
#endif
	ts_ptx_set_only_watches(worker, true);
}

static void *thread(void *arg)
{
	struct ts_ptx_worker *worker = arg;
	struct ts_ptx_engine *e = worker->engine;
	uint64_t seen = 0;

	pthread_mutex_lock(&e->lock);
	while (!e->quitting) {
		if (!e->open || seen == e->generation) {
			pthread_cond_wait(&e->work, &e->lock);
			continue;
		}
		seen = e->generation;
		e->n_inside++;
		pthread_mutex_unlock(&e->lock);
		worker_run(worker);
		pthread_mutex_lock(&e->lock);
		if (!--e->n_inside)
			pthread_cond_signal(&e->idle);
	}
	pthread_mutex_unlock(&e->lock);
	return NULL;
}

int ts_ptx_engine_new(const struct ts_ptx_host *host, uint32_t n_threads,
		      struct ts_ptx_engine **ret_engine)
{
	struct ts_ptx_engine *e;
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	if (!host || !host->resolve)
		return -EINVAL;
	if (!n_threads)
		n_threads = n_cpus > 0 ? (uint32_t)n_cpus : 1;
	if (n_threads > MAX_ENGINE_THREADS)
		n_threads = MAX_ENGINE_THREADS;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->host = *host;
	e->n_threads = n_threads;
	e->workers = calloc(n_threads, sizeof(*e->workers));
	e->threads = calloc(n_threads, sizeof(*e->threads));
	if (!e->workers || !e->threads) {
		free(e->workers);
		free(e->threads);
		free(e);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n_threads; i++) {
		e->workers[i].engine = e;
		e->workers[i].index = i;
	}
	e->n_started = 1;
	(void)pthread_mutex_init(&e->lock, NULL);
	(void)pthread_mutex_init(&e->print_lock, NULL);
	(void)pthread_cond_init(&e->work, NULL);
	(void)pthread_cond_init(&e->idle, NULL);
	*ret_engine = e;
	return 0;
}

static void worker_deinit(struct ts_ptx_worker *worker)
{
	while (worker->spare) {
		struct ts_ptx_block *b = worker->spare;

		worker->spare = b->next;
		ts_ptx_block_free(b);
	}
	for (int i = 0; i < TS_PTX_SIZE_CLASSES; i++) {
		while (worker->free_frames[i]) {
			struct ts_ptx_frame *f = worker->free_frames[i];

			worker->free_frames[i] = f->next_free;
			free(f);
		}
	}
	while (worker->free_joins) {
		struct ts_ptx_join *j = worker->free_joins;

		worker->free_joins = j->parent;
		free(j);
	}
}

void ts_ptx_engine_free(struct ts_ptx_engine *e)
{
	if (!e)
		return;
	pthread_mutex_lock(&e->lock);
	e->quitting = true;
	pthread_cond_broadcast(&e->work);
	pthread_mutex_unlock(&e->lock);
	for (uint32_t i = 1; i < e->n_started; i++)
		(void)pthread_join(e->threads[i], NULL);
	for (uint32_t i = 0; i < e->n_threads; i++)
		worker_deinit(&e->workers[i]);
	(void)pthread_mutex_destroy(&e->lock);
	(void)pthread_mutex_destroy(&e->print_lock);
	(void)pthread_cond_destroy(&e->work);
	(void)pthread_cond_destroy(&e->idle);
	free(e->workers);
	free(e->threads);
	free(e);
}

int ts_ptx_engine_observe(struct ts_ptx_engine *e, const struct ts_ptx_observer *observer)
{
	if (e->n_threads > 1)
		return -EINVAL;
	e->observer = observer;
	return 0;
}

int ts_ptx_engine_schedule(struct ts_ptx_engine *e, const struct ts_ptx_scheduler *scheduler)
{
	if (scheduler && e->n_threads > 1)
		return -EINVAL;
	e->scheduler = scheduler;
	return 0;
}

int ts_ptx_engine_debug(struct ts_ptx_engine *e, const struct ts_ptx_debugger *debugger)
{
	if (e->n_threads > 1)
		return -EINVAL;
	e->debugger = debugger;
	return 0;
}

static int check_launch(const struct ts_ptx_launch *l, uint64_t *ret_n_blocks,
			struct ts_ptx_error *error)
{
	const struct ts_ptx_kernel_info *k = &l->kernel->info;
	uint64_t n_threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
	uint64_t n_blocks = (uint64_t)l->grid[0] * l->grid[1];
	uint64_t shared = (uint64_t)k->static_shared_bytes + l->dynamic_shared_bytes;

	if (!l->grid[0] || !l->grid[1] || !l->grid[2] || l->grid[0] > INT32_MAX ||
	    l->grid[1] > 65535 || l->grid[2] > 65535)
		return ts_ptx_fail(error, TS_PTX_E_LAUNCH, 0,
				   "kernel %s: a grid of %u x %u x %u blocks is not "
				   "possible",
				   k->name, l->grid[0], l->grid[1], l->grid[2]);
	n_blocks *= l->grid[2];
	if (!n_threads || l->block[0] > TS_PTX_MAX_THREADS || l->block[1] > TS_PTX_MAX_THREADS ||
	    l->block[2] > 64 || n_threads > TS_PTX_MAX_THREADS ||
	    (k->max_threads && n_threads > k->max_threads))
		return ts_ptx_fail(
			error, TS_PTX_E_LAUNCH, 0,
			"kernel %s: a block of %u x %u x %u threads is not possible; the limit is "
			"%u threads",
			k->name, l->block[0], l->block[1], l->block[2],
			k->max_threads ? k->max_threads : TS_PTX_MAX_THREADS);
	if (k->required_block[0] && memcmp(k->required_block, l->block, sizeof(l->block)))
		return ts_ptx_fail(error, TS_PTX_E_LAUNCH, 0,
				   "kernel %s requires blocks of %u x %u x %u", k->name,
				   k->required_block[0], k->required_block[1],
				   k->required_block[2]);
	if ((uint64_t)k->required_cluster[0] * k->required_cluster[1] * k->required_cluster[2] > 1)
		return ts_ptx_fail(error, TS_PTX_E_UNSUPPORTED, k->line,
				   "kernel %s requires clusters of %u x %u x %u blocks: the "
				   "virtual GPU has only clusters of one block",
				   k->name, k->required_cluster[0], k->required_cluster[1],
				   k->required_cluster[2]);
	if (shared > TS_PTX_MAX_SHARED_BYTES)
		return ts_ptx_fail(error, TS_PTX_E_LAUNCH, 0,
				   "kernel %s: %llu bytes of shared memory are more than the "
				   "limit",
				   k->name, (unsigned long long)shared);
	if (l->params_bytes < k->params_bytes)
		return ts_ptx_fail(error, TS_PTX_E_LAUNCH, 0,
				   "kernel %s takes %u bytes of parameters, not %zu", k->name,
				   k->params_bytes, l->params_bytes);
	if (l->cooperative && l->max_resident && n_blocks > l->max_resident)
		return ts_ptx_fail(
			error, TS_PTX_E_LAUNCH, 0,
			"kernel %s: a cooperative launch of %llu blocks, but only %u fit on the "
			"device",
			k->name, (unsigned long long)n_blocks, l->max_resident);
	*ret_n_blocks = n_blocks;
	return 0;
}

static void prepare(struct ts_ptx_engine *e, const struct ts_ptx_launch *l, uint64_t n_blocks)
{
	const struct ts_ptx_kernel *k = l->kernel;
	uint32_t stack = k->info.recursive || k->code->open_stack
				 ? (l->stack_bytes ? l->stack_bytes : 4096)
				 : 0;
	uint64_t local = (uint64_t)k->info.local_bytes + stack;

	e->launch = l;
	e->n_blocks = n_blocks;
	e->block_step = 0;
	e->max_resident = l->max_resident ? l->max_resident : TS_PTX_MAX_RESIDENT;
	e->local_stride =
		(uint32_t)((local > TS_PTX_MAX_LOCAL_BYTES ? TS_PTX_MAX_LOCAL_BYTES : local) + 15) &
		~15u;
	e->dynamic_offset = (k->info.static_shared_bytes + 15u) & ~15u;
	e->shared_bytes = k->info.static_shared_bytes;
	if (l->dynamic_shared_bytes)
		e->shared_bytes = e->dynamic_offset + l->dynamic_shared_bytes;
	if (k->code->uses_reserved_shared)
		e->shared_bytes = ((e->shared_bytes + 15u) & ~15u) + TS_PTX_RESERVED_SHARED;
	atomic_store(&e->next_block, 0);
	atomic_store(&e->n_resident, 0);
	atomic_store(&e->n_insns, 0);
	atomic_store(&e->stop, false);
}

static void start_helpers(struct ts_ptx_engine *e)
{
	while (e->n_started < e->n_threads) {
		uint32_t i = e->n_started;

		/* Fewer helpers only make the run slower. */
		if (pthread_create(&e->threads[i], NULL, thread, &e->workers[i]))
			break;
		e->n_started++;
	}
}

static void add_stats(struct ts_ptx_stats *to, const struct ts_ptx_stats *from)
{
	uint64_t *a = (uint64_t *)to;
	const uint64_t *b = (const uint64_t *)from;

	_Static_assert(sizeof(*to) % sizeof(uint64_t) == 0, "only counters");
	for (size_t i = 0; i < sizeof(*to) / sizeof(uint64_t); i++)
		a[i] += b[i];
}

int ts_ptx_run(struct ts_ptx_engine *e, const struct ts_ptx_launch *l,
	       struct ts_ptx_stats *ret_stats, struct ts_ptx_fault *ret_fault,
	       struct ts_ptx_error *error)
{
	uint64_t n_blocks = 0;
	bool parallel;
	int r;

	if (error)
		*error = (struct ts_ptx_error){0};
	if (!l->kernel)
		return -EINVAL;
	r = check_launch(l, &n_blocks, error);
	if (r)
		return r;
	prepare(e, l, n_blocks);
	parallel = e->n_threads > 1 && n_blocks > 1 &&
		   n_blocks * l->block[0] * l->block[1] * l->block[2] >= 256;
	for (uint32_t i = 0; i < e->n_threads; i++) {
		e->workers[i].fault.kind = TS_PTX_FAULT_NONE;
		memset(&e->workers[i].stats, 0, sizeof(e->workers[i].stats));
	}
	if (parallel) {
		start_helpers(e);
		pthread_mutex_lock(&e->lock);
		e->open = true;
		e->generation++;
		pthread_cond_broadcast(&e->work);
		pthread_mutex_unlock(&e->lock);
	}
	if (e->observer)
		e->observer->begin(e->observer->userdata, l);
	if (e->debugger)
		e->debugger->begin(e->debugger->userdata, l);
	worker_run(&e->workers[0]);
	if (e->observer)
		e->observer->end(e->observer->userdata,
				 e->workers[0].fault.kind ? &e->workers[0].fault : NULL);
	if (parallel) {
		pthread_mutex_lock(&e->lock);
		e->open = false;
		while (e->n_inside)
			pthread_cond_wait(&e->idle, &e->lock);
		pthread_mutex_unlock(&e->lock);
	}
	if (ret_stats) {
		*ret_stats = (struct ts_ptx_stats){0};
		for (uint32_t i = 0; i < e->n_threads; i++)
			add_stats(ret_stats, &e->workers[i].stats);
	}
	for (uint32_t i = 0; i < e->n_threads; i++) {
		if (!e->workers[i].fault.kind)
			continue;
		if (ret_fault)
			*ret_fault = e->workers[i].fault;
		return ts_ptx_fail(error, TS_PTX_E_FAULT, e->workers[i].fault.line, "%.255s",
				   e->workers[i].fault.message);
	}
	if (ret_fault)
		*ret_fault = (struct ts_ptx_fault){0};
	return 0;
}
