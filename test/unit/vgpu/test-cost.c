// SPDX-License-Identifier: Apache-2.0
/*
 * Tests the cost model's formulas, number by number, on the small shape; and times by the host's
 * clock.
 */
#include <time.h>

#include "replay/vgpu/vgpu-internal.h"
#include "test/unit/harness.h"

static struct ts_vgpu *vgpu;
static struct ts_vgpu_device *device;
static const struct ts_vgpu_shape *shape;

static void begin(const char *text)
{
	struct ts_vgpu_spec spec;
	char message[160];

	ts_check_int(ts_vgpu_spec_parse(text, &spec, message, sizeof(message)), 0);
	ts_check_int(ts_vgpu_new(&spec, &vgpu), 0);
	device = ts_vgpu_device_at(vgpu, 0);
	shape = device->shape;
}

static struct ts_vgpu_done kernel(uint32_t blocks, uint32_t threads)
{
	return (struct ts_vgpu_done){
		.kind = TS_VGPU_OP_KERNEL,
		.u.kernel = {.grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .regs = 16},
	};
}

/* Starts a kernel; returns false if it has no room at that time. */
static bool start(const struct ts_vgpu_done *done, uint32_t n_concurrent, uint64_t at_ns)
{
	uint32_t n_sm = ts_vgpu_cost_multiprocessors(device, done);

	if (!ts_vgpu_cost_has_capacity(device, n_sm, n_concurrent, at_ns))
		return false;
	ts_vgpu_cost_kernel_start(device, n_sm, at_ns);
	return true;
}

/* Returns the end of a kernel that is alone on the device and ready at 0. */
static uint64_t duration(const struct ts_vgpu_done *done, const struct ts_vgpu_kernel_work *work)
{
	uint64_t end;

	memset(&device->engines, 0, sizeof(device->engines));
	ts_check(start(done, 8, 0));
	ts_vgpu_cost_kernel_end(device, done, work, 0, &end);
	return end;
}

TS_TEST(waves_of_blocks)
{
	const struct ts_vgpu_kernel_work nothing = {0};
	struct ts_vgpu_done d = kernel(1, 1024);
	uint32_t at_once;
	uint64_t one, per_sm;

	begin("small");
	per_sm = ts_vgpu_blocks_per_sm(shape, 1024, 0, 16);
	at_once = (uint32_t)per_sm * shape->n_sm;
	/*
	 * One block: the launch, a block's cycles, and the cycles of its 32 warps; the clock is 1
	 * GHz.
	 */
	ts_check_int(shape->clock_khz, 1000000);
	one = shape->launch_ns + shape->block_cycles + shape->warp_cycles * 32;
	ts_check_int(duration(&d, &nothing), one);
	/* As many blocks as fit: the warps of one multiprocessor share it. */
	d = kernel(at_once, 1024);
	ts_check_int(duration(&d, &nothing),
		     shape->launch_ns + shape->block_cycles + shape->warp_cycles * 32 * per_sm);
	/* One more block needs one more wave. */
	d = kernel(at_once + 1, 1024);
	ts_check_int(duration(&d, &nothing),
		     shape->launch_ns +
			     2 * (shape->block_cycles + shape->warp_cycles * 32 * per_sm));
	ts_vgpu_free(vgpu);
}

TS_TEST(what_bounds_a_computed_kernel)
{
	struct ts_vgpu_kernel_work work = {.computed = true, .warp_insns = 1000};
	struct ts_vgpu_done d = kernel(1, 32);

	begin("small");
	/* The chain of one warp's instructions. */
	ts_check_int(duration(&d, &work),
		     shape->launch_ns + shape->block_cycles + 1000 * shape->insn_cycles);
	/* Issue: 32 warps on one multiprocessor. */
	d = kernel(1, 1024);
	work.warp_insns = 32 * 1000;
	ts_check_int(duration(&d, &work), shape->launch_ns + shape->block_cycles +
						  ts_vgpu_max(32000 / shape->issue_per_cycle,
							      1000 * shape->insn_cycles));
	/* Tensor cores. */
	work.tensor_flops = (uint64_t)shape->tensor_flops_per_cycle * 1000000;
	ts_check_int(duration(&d, &work), shape->launch_ns + shape->block_cycles + 1000000);
	/* Memory: 64 bytes per nanosecond. */
	ts_check_int(shape->memory_bytes_per_s, 64000000000);
	work.memory_bytes = 64ull * 5000000;
	ts_check_int(duration(&d, &work), shape->launch_ns + 5000000);
	ts_vgpu_free(vgpu);
}

TS_TEST(kernels_beside_one_another)
{
	const struct ts_vgpu_kernel_work nothing = {0};
	struct ts_vgpu_done half, whole;
	uint64_t end, second_end;
	uint32_t per_sm;

	begin("small");
	per_sm = ts_vgpu_blocks_per_sm(shape, 1024, 0, 16);
	half = kernel(per_sm * shape->n_sm / 2, 1024);
	whole = kernel(per_sm * shape->n_sm, 1024);
	/*
	 * Two kernels of half the device overlap, though the second kernel's end is not known when
	 * it starts.
	 */
	ts_check(start(&half, 8, 1000));
	ts_check(start(&half, 8, 1500));
	/*
	 * While both kernels run, a third kernel has no room. With one kernel at a time, a second
	 * kernel has no room.
	 */
	ts_check(!start(&half, 8, 1500));
	ts_check_int(ts_vgpu_cost_next_end(device, 1500), UINT64_MAX);
	ts_vgpu_cost_kernel_end(device, &half, &nothing, 1000, &end);
	ts_check(!start(&half, 1, 1500));
	ts_vgpu_cost_kernel_end(device, &half, &nothing, 1500, &second_end);
	ts_check_int(second_end - 1500, end - 1000);
	/* A kernel that needs the whole device, and was queued while both ran, waits for both. */
	ts_check(!start(&whole, 8, 1600));
	ts_check_int(ts_vgpu_cost_next_end(device, 1600), end);
	ts_check(!start(&whole, 8, end));
	ts_check_int(ts_vgpu_cost_next_end(device, end), second_end);
	ts_check(start(&whole, 8, second_end));
	ts_vgpu_cost_kernel_end(device, &whole, &nothing, second_end, &end);
	ts_check(!start(&half, 8, end - 1));
	ts_check(start(&half, 8, end));
	ts_vgpu_free(vgpu);
}

static struct ts_vgpu_done copy(int kind, uint64_t bytes, int src, int dst)
{
	return (struct ts_vgpu_done){
		.kind = TS_VGPU_OP_COPY,
		.u.copy = {.kind = kind, .bytes = bytes, .src_kind = src, .dst_kind = dst},
	};
}

TS_TEST(copies_queue_for_their_engines)
{
	struct ts_vgpu_done up = copy(TS_VGPU_COPY_H2D, 12000, TS_VGPU_MEMORY_PINNED,
				      TS_VGPU_MEMORY_DEVICE),
			    down = copy(TS_VGPU_COPY_D2H, 12000, TS_VGPU_MEMORY_DEVICE,
					TS_VGPU_MEMORY_PINNED),
			    slow = copy(TS_VGPU_COPY_H2D, 12000, TS_VGPU_MEMORY_PAGEABLE,
					TS_VGPU_MEMORY_DEVICE),
			    within = copy(TS_VGPU_COPY_D2D, 32000, TS_VGPU_MEMORY_DEVICE,
					  TS_VGPU_MEMORY_DEVICE),
			    set = {.kind = TS_VGPU_OP_FILL, .u.fill = {.bytes = 64000}};
	uint64_t start, end, before;

	begin("small");
	ts_check_int(shape->link_bytes_per_s, 12000000000);
	ts_vgpu_cost_copy(device, &up, 1, 0, 100, &start, &end);
	ts_check(start == 100 && end == 100 + shape->copy_ns + 1000);
	before = end;
	/* One engine for each direction. */
	ts_vgpu_cost_copy(device, &up, 1, 0, 100, &start, &end);
	ts_check(start == before && end == before + shape->copy_ns + 1000);
	ts_vgpu_cost_copy(device, &down, 1, 0, 100, &start, &end);
	ts_check_int(start, 100);
	/* Pageable memory has half the rate; every further row costs a few nanoseconds. */
	ts_vgpu_cost_copy(device, &slow, 11, 0, 1000000, &start, &end);
	ts_check_int(end - start, shape->copy_ns + 40 + 2000);
	/*
	 * Within the device each byte is read and written. Memory sets only write, on the engine of
	 * these copies.
	 */
	ts_vgpu_cost_copy(device, &within, 1, 0, 100, &start, &end);
	ts_check(start == 100 && end == 100 + shape->copy_ns + 1000);
	before = end;
	ts_vgpu_cost_fill(device, &set, 0, 100, &start, &end);
	ts_check(start == before && end == before + shape->copy_ns + 1000);
	ts_vgpu_free(vgpu);
}

TS_TEST(the_hosts_clock)
{
	const struct ts_vgpu_kernel_work work = {.computed = true, .warp_insns = 1ull << 40};
	struct ts_vgpu_done d = kernel(1, 32), up = copy(TS_VGPU_COPY_H2D, 1ull << 40, 0, 0);
	struct timespec nap = {.tv_nsec = 2000000};
	uint64_t before = ts_vgpu_now_ns(), end, copy_start, copy_end;

	begin("small,clock=host");
	ts_check(start(&d, 8, before));
	nanosleep(&nap, NULL);
	ts_vgpu_cost_kernel_end(device, &d, &work, before, &end);
	ts_check(end >= before + 2000000 && end <= ts_vgpu_now_ns());
	ts_vgpu_cost_copy(device, &up, 1, end, before, &copy_start, &copy_end);
	ts_check(copy_start == end && copy_end >= copy_start && copy_end <= ts_vgpu_now_ns());
	ts_vgpu_cost_fill(device, &up, before, before, &copy_start, &copy_end);
	ts_check(copy_start == before && copy_end >= end);
	ts_vgpu_free(vgpu);
}
