/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cost model: computes when an operation starts and how long it runs. All times of the virtual
 * GPU are decided in this file; README.md explains them in words. Durations follow from the
 * device's shape and the work done, so equal work gives an equal timeline except for submission
 * times. worker.c and vgpu-kernels.c call this file; the launch facade calls
 * ts_vgpu_blocks_per_sm() for occupancy queries.
 */
#include <string.h>

#include "replay/vgpu/vgpu-internal.h"

static uint64_t scale(uint64_t bytes, uint64_t per_s)
{
	return (uint64_t)(((unsigned __int128)bytes * 1000000000u + per_s - 1) / per_s);
}

static uint64_t ceil_div(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

uint32_t ts_vgpu_blocks_per_sm(const struct ts_vgpu_shape *shape, uint32_t threads_per_block,
			       uint32_t shared_bytes, uint32_t regs_per_thread)
{
	uint32_t warps, blocks;

	if (!threads_per_block || threads_per_block > shape->max_threads_per_block)
		return 0;
	warps = (threads_per_block + shape->warp_size - 1) / shape->warp_size;
	blocks = shape->max_threads_per_sm / (warps * shape->warp_size);
	if (blocks > shape->max_blocks_per_sm)
		blocks = shape->max_blocks_per_sm;
	if (shared_bytes) {
		/*
		 * Hardware allocates shared memory in units of 128 bytes. From 8.0 on it reserves 1
		 * KiB per block.
		 */
		uint64_t need = ((uint64_t)shared_bytes + 127) / 128 * 128;

		if (shape->cc_major >= 8)
			need += 1024;
		if (blocks > shape->shared_bytes_per_sm / need)
			blocks = (uint32_t)(shape->shared_bytes_per_sm / need);
	}
	if (regs_per_thread) {
		/* Registers are allocated per warp in units of 256. */
		uint32_t per_warp = (regs_per_thread * shape->warp_size + 255) / 256 * 256;

		if (blocks > shape->regs_per_sm / (per_warp * warps))
			blocks = shape->regs_per_sm / (per_warp * warps);
	}
	return blocks;
}

static void resident_add(struct ts_vgpu_engines *e, uint64_t end_ns, uint32_t n_sm)
{
	uint32_t i = e->n_resident++;

	for (; i > 0 && e->resident[i - 1].end_ns > end_ns; i--)
		e->resident[i] = e->resident[i - 1];
	e->resident[i] = (struct ts_vgpu_resident){.end_ns = end_ns, .n_sm = n_sm};
	e->sm_used += n_sm;
}

static void resident_drop(struct ts_vgpu_engines *e, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		e->sm_used -= e->resident[i].n_sm;
	e->n_resident -= n;
	memmove(e->resident, e->resident + n, e->n_resident * sizeof(e->resident[0]));
}

/* Distribution of a kernel's blocks over the device. */
struct layout {
	uint64_t blocks;
	uint32_t warps;	 /* per block */
	uint32_t per_sm; /* blocks that a multiprocessor holds */
	uint32_t n_sm;	 /* multiprocessors that the kernel needs */
};

static struct layout layout_of(const struct ts_vgpu_shape *shape, const struct ts_vgpu_done *done)
{
	const struct ts_vgpu_dim3 *g = &done->u.kernel.grid, *b = &done->u.kernel.block;
	uint32_t threads = b->x * b->y * b->z;
	uint32_t per_sm = ts_vgpu_blocks_per_sm(shape, threads,
						done->u.kernel.dynamic_shared_bytes +
							done->u.kernel.static_shared_bytes,
						done->u.kernel.regs);
	struct layout l = {
		.blocks = (uint64_t)g->x * g->y * g->z,
		.warps = (threads + shape->warp_size - 1) / shape->warp_size,
		.per_sm = per_sm ? per_sm : 1,
	};
	uint64_t n_sm = ceil_div(l.blocks, l.per_sm);

	l.n_sm = n_sm < shape->n_sm ? (uint32_t)n_sm : shape->n_sm;
	return l;
}

uint32_t ts_vgpu_cost_resident(const struct ts_vgpu_device *device, const struct ts_vgpu_done *done)
{
	return layout_of(device->shape, done).per_sm * device->shape->n_sm;
}

/* Returns the cycles of a kernel that was not computed, from its grid and block sizes. */
static uint64_t shape_cycles(const struct ts_vgpu_shape *shape, const struct layout *l,
			     uint64_t waves)
{
	uint32_t resident = l->per_sm;

	/* The warps of all resident blocks of a multiprocessor share its issue slots. */
	if (l->blocks < (uint64_t)l->per_sm * l->n_sm)
		resident = (uint32_t)ceil_div(l->blocks, l->n_sm);
	return waves * (shape->block_cycles + shape->warp_cycles * l->warps * resident);
}

/*
 * Returns the cycles of a computed kernel, limited by issue rate, by each warp's instruction chain,
 * or by tensor cores.
 */
static uint64_t work_cycles(const struct ts_vgpu_shape *shape, const struct layout *l,
			    uint64_t waves, const struct ts_vgpu_kernel_work *work)
{
	uint64_t per_warp = work->warp_insns / (l->blocks * l->warps);
	uint64_t cycles = work->warp_insns / ((uint64_t)shape->issue_per_cycle * l->n_sm);

	cycles = ts_vgpu_max(cycles, waves * per_warp * shape->insn_cycles);
	cycles = ts_vgpu_max(cycles, work->tensor_flops /
					     ((uint64_t)shape->tensor_flops_per_cycle * l->n_sm));
	return waves * shape->block_cycles + cycles;
}

static uint64_t kernel_duration(const struct ts_vgpu_shape *shape, const struct layout *l,
				const struct ts_vgpu_kernel_work *work)
{
	uint64_t waves = ceil_div(l->blocks, (uint64_t)shape->n_sm * l->per_sm);
	uint64_t cycles =
		work->computed ? work_cycles(shape, l, waves, work) : shape_cycles(shape, l, waves);
	uint64_t ns = (uint64_t)((unsigned __int128)cycles * 1000000u / shape->clock_khz);

	ns = ts_vgpu_max(ns, scale(work->memory_bytes, shape->memory_bytes_per_s));
	return ts_vgpu_max(shape->launch_ns + ns, work->least_ns);
}

uint32_t ts_vgpu_cost_multiprocessors(const struct ts_vgpu_device *device,
				      const struct ts_vgpu_done *done)
{
	return layout_of(device->shape, done).n_sm;
}

bool ts_vgpu_cost_has_capacity(const struct ts_vgpu_device *device, uint32_t n_sm,
			       uint32_t n_concurrent, uint64_t at_ns)
{
	const struct ts_vgpu_engines *e = &device->engines;
	uint32_t used = e->sm_used + e->sm_running, n = e->n_resident + e->n_running;

	if (e->n_running >= n_concurrent)
		return false;
	for (uint32_t i = 0; i < e->n_resident && e->resident[i].end_ns <= at_ns; i++) {
		used -= e->resident[i].n_sm;
		n--;
	}
	return used + n_sm <= device->shape->n_sm && n < device->shape->max_concurrent_kernels;
}

uint64_t ts_vgpu_cost_next_end(const struct ts_vgpu_device *device, uint64_t after_ns)
{
	const struct ts_vgpu_engines *e = &device->engines;

	for (uint32_t i = 0; i < e->n_resident; i++)
		if (e->resident[i].end_ns > after_ns)
			return e->resident[i].end_ns;
	return UINT64_MAX;
}

void ts_vgpu_cost_kernel_start(struct ts_vgpu_device *device, uint32_t n_sm, uint64_t start_ns)
{
	struct ts_vgpu_engines *e = &device->engines;
	uint32_t n = 0;

	while (n < e->n_resident && e->resident[n].end_ns <= start_ns)
		n++;
	resident_drop(e, n);
	e->last_kernel_start_ns = start_ns;
	e->n_running++;
	e->sm_running += n_sm;
}

void ts_vgpu_cost_kernel_end(struct ts_vgpu_device *device, const struct ts_vgpu_done *done,
			     const struct ts_vgpu_kernel_work *work, uint64_t start_ns,
			     uint64_t *ret_end_ns)
{
	struct layout l = layout_of(device->shape, done);
	struct ts_vgpu_engines *e = &device->engines;

	*ret_end_ns = device->vgpu->host_clock
			      ? ts_vgpu_max(start_ns, ts_vgpu_now_ns())
			      : start_ns + kernel_duration(device->shape, &l, work);
	e->n_running--;
	e->sm_running -= l.n_sm;
	resident_add(e, *ret_end_ns, l.n_sm);
	device->kernels.is_found = false;
}

static uint64_t *engine_free(uint64_t *engines, uint32_t n)
{
	uint64_t *best = engines;

	for (uint32_t i = 1; i < n; i++)
		if (engines[i] < *best)
			best = &engines[i];
	return best;
}

static void reserve(const struct ts_vgpu_device *device, uint64_t *engine, uint64_t began_ns,
		    uint64_t ready_ns, uint64_t duration, uint64_t *ret_start_ns,
		    uint64_t *ret_end_ns)
{
	uint64_t start = ts_vgpu_max(ready_ns, *engine);

	if (device->vgpu->host_clock) {
		start = ts_vgpu_max(ready_ns, began_ns);
		duration = ts_vgpu_max(ts_vgpu_now_ns(), start) - start;
	}
	*engine = start + duration;
	*ret_start_ns = start;
	*ret_end_ns = start + duration;
}

void ts_vgpu_cost_copy(struct ts_vgpu_device *device, const struct ts_vgpu_done *done,
		       uint64_t n_rows, uint64_t began_ns, uint64_t ready_ns,
		       uint64_t *ret_start_ns, uint64_t *ret_end_ns)
{
	const struct ts_vgpu_shape *shape = device->shape;
	struct ts_vgpu_engines *e = &device->engines;
	uint64_t bytes = done->u.copy.bytes;
	uint64_t link = shape->link_bytes_per_s;
	uint64_t duration = shape->copy_ns, *engine = &e->d2d_free_ns;

	/* Pageable memory is copied through a staging buffer at half the rate. */
	if (done->u.copy.src_kind == TS_VGPU_MEMORY_PAGEABLE ||
	    done->u.copy.dst_kind == TS_VGPU_MEMORY_PAGEABLE)
		link /= 2;
	/* Each further row of a pitched copy is a separate transfer of the engine. */
	if (shape->copy_ns > 1 && n_rows > 1)
		duration += (n_rows - 1) * 4;
	switch (done->u.copy.kind) {
	case TS_VGPU_COPY_H2D:
		engine = engine_free(e->h2d_free_ns, shape->n_h2d_engines);
		duration += scale(bytes, link);
		break;
	case TS_VGPU_COPY_D2H:
		engine = engine_free(e->d2h_free_ns, shape->n_d2h_engines);
		duration += scale(bytes, link);
		break;
	case TS_VGPU_COPY_H2H:
		engine = engine_free(e->h2d_free_ns, shape->n_h2d_engines);
		duration += scale(bytes, link);
		break;
	case TS_VGPU_COPY_D2D:
		/* Each byte is read and written. */
		duration += scale(bytes, shape->memory_bytes_per_s / 2);
		break;
	case TS_VGPU_COPY_PEER:
		engine = &e->peer_free_ns;
		duration += scale(bytes, shape->peer_bytes_per_s);
		break;
	}
	reserve(device, engine, began_ns, ready_ns, duration, ret_start_ns, ret_end_ns);
}

void ts_vgpu_cost_fill(struct ts_vgpu_device *device, const struct ts_vgpu_done *done,
		       uint64_t began_ns, uint64_t ready_ns, uint64_t *ret_start_ns,
		       uint64_t *ret_end_ns)
{
	const struct ts_vgpu_shape *shape = device->shape;

	reserve(device, &device->engines.d2d_free_ns, began_ns, ready_ns,
		shape->copy_ns + scale(done->u.fill.bytes, shape->memory_bytes_per_s), ret_start_ns,
		ret_end_ns);
}
