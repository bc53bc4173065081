/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernel launches: checks the launch against the device and the kernel's declaration, copies the
 * arguments at the call (they lie on the caller's stack), and queues the launch. Also occupancy
 * queries. Programs call this file through the functions of generated-cuda-launch.h, graphs call
 * launch_run(); this file calls ts_vgpu_launch().
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vgpu/cuda/work.h"

/* Larger arguments are copied to the heap. */
#define PARAMS_ON_STACK 4096

int launch_check(const struct function *f, const struct launch *l)
{
	const struct ts_vgpu_shape *shape =
		ts_vgpu_device_shape(device_get((int32_t)f->module->context->device));
	uint64_t threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];

	if (!l->grid[0] || !l->grid[1] || !l->grid[2] || !threads)
		return TS_CU_ERROR_INVALID_VALUE;
	if (l->grid[0] > INT32_MAX || l->grid[1] > 65535 || l->grid[2] > 65535 ||
	    l->block[0] > shape->max_threads_per_block ||
	    l->block[1] > shape->max_threads_per_block || l->block[2] > 64 ||
	    threads > shape->max_threads_per_block)
		return TS_CU_ERROR_INVALID_VALUE;
	if (f->decl->max_threads && threads > f->decl->max_threads)
		return TS_CU_ERROR_INVALID_VALUE;
	if (l->shared_bytes > f->max_dynamic_shared_bytes)
		return TS_CU_ERROR_INVALID_VALUE;
	if (l->cooperative) {
		uint32_t per_sm =
			ts_vgpu_blocks_per_sm(shape, (uint32_t)threads,
					      l->shared_bytes + f->decl->static_shared_bytes,
					      function_regs(f));

		if ((uint64_t)l->grid[0] * l->grid[1] * l->grid[2] > (uint64_t)per_sm * shape->n_sm)
			return TS_CU_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
	}
	return 0;
}

/* Reads the packed arguments of cuLaunchKernel's "extra" list. */
static int from_extra(void **extra, const struct ts_vgpu_kernel *decl, void *buffer)
{
	const void *packed = NULL;
	size_t bytes = 0;

	for (; *extra != TS_CU_LAUNCH_PARAM_END; extra += 2) {
		if (extra[0] == TS_CU_LAUNCH_PARAM_BUFFER_POINTER)
			packed = extra[1];
		else if (extra[0] == TS_CU_LAUNCH_PARAM_BUFFER_SIZE && extra[1])
			bytes = *(const size_t *)extra[1];
		else
			return TS_CU_ERROR_INVALID_VALUE;
	}
	if (!packed || bytes < decl->params_bytes)
		return TS_CU_ERROR_INVALID_VALUE;
	memcpy(buffer, packed, decl->params_bytes);
	return 0;
}

int launch_gather(const struct ts_vgpu_kernel *decl, void **kernel_params, void **extra,
		  uint8_t *buffer)
{
	if (kernel_params && extra)
		return TS_CU_ERROR_INVALID_VALUE;
	if (extra)
		return from_extra(extra, decl, buffer);
	if (!decl->n_params)
		return 0;
	if (!kernel_params)
		return TS_CU_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < decl->n_params; i++) {
		const struct ts_vgpu_param *p = &decl->params[i];

		if (!kernel_params[i])
			return TS_CU_ERROR_INVALID_VALUE;
		memcpy(buffer + p->offset, kernel_params[i], p->bytes);
	}
	return 0;
}

static struct ts_vgpu_operation *describe(const struct function *f, const struct launch *l,
					  uint32_t stream_id)
{
	static _Atomic uint64_t next_grid_id;
	struct ts_vgpu_operation *op = report_operation(f->module->context, stream_id);

	if (!op)
		return NULL;
	op->kind = TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	op->channel_type = TS_CUPTI_CHANNEL_TYPE_COMPUTE;
	op->async = true;
	op->kernel.name = f->name;
	memcpy(op->kernel.grid, l->grid, sizeof(l->grid));
	memcpy(op->kernel.block, l->block, sizeof(l->block));
	op->kernel.static_shared_bytes = f->decl->static_shared_bytes;
	op->kernel.dynamic_shared_bytes = l->shared_bytes;
	op->kernel.shared_executed_bytes = f->decl->static_shared_bytes + l->shared_bytes;
	op->kernel.local_bytes_per_thread = f->decl->local_bytes;
	op->kernel.registers_per_thread = (uint16_t)function_regs(f);
	op->kernel.cache_config = (uint8_t)(f->cache_config << 4 | f->cache_config);
	op->kernel.launch_type = l->cooperative
					 ? TS_CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE
					 : TS_CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR;
	op->kernel.grid_id = 1 + atomic_fetch_add_explicit(&next_grid_id, 1, memory_order_relaxed);
	return op;
}

/* The results of the program are not those of a GPU: its user must know. */
static void say_timed(void)
{
	static atomic_bool said;

	if (!atomic_exchange(&said, true))
		fprintf(stderr, "tracesmith: virtual GPU: kernels=timed: kernels are timed, not "
				"computed: this program's results are not a GPU's\n");
}

int launch_run(const struct function *f, const struct launch *l, const uint8_t *params,
	       struct ts_vgpu_stream *vstream, const struct work_place *place)
{
	struct ts_vgpu_operation *op =
		ts_vgpu_armed() ? describe(f, l, ts_vgpu_stream_id(vstream)) : NULL;
	const struct ts_vgpu_launch launch = {
		.kernel = f->decl,
		.grid = {l->grid[0], l->grid[1], l->grid[2]},
		.block = {l->block[0], l->block[1], l->block[2]},
		.dynamic_shared_bytes = l->shared_bytes,
		.static_shared_bytes = f->decl->static_shared_bytes,
		.regs = function_regs(f),
		.local_bytes = f->decl->local_bytes,
		.params = params,
		.params_bytes = f->decl->params_bytes,
		.cooperative = l->cooperative,
		.has_priority = place || l->has_priority,
		.priority = place ? place->priority : l->priority,
		.tag = (uint64_t)(uintptr_t)op,
	};
	int r;

	if (__builtin_expect(driver.timed_kernels, 0))
		say_timed();
	report_place(op, place);
	report_submit(op);
	r = result_of(ts_vgpu_launch(vstream, &launch));
	if (r)
		report_cancel(op);
	return r;
}

static int submit(void *func, const struct launch *l, void *stream, void **kernel_params,
		  void **extra)
{
	uint8_t small[PARAMS_ON_STACK];
	uint8_t *params = small;
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct stream *capturing;
	struct function *f;
	int r = stream_work(stream, &context, &vstream, &capturing);

	if (!r)
		r = function_get(context, func, &f);
	if (r)
		return r;
	if (f->module->context != context)
		return TS_CU_ERROR_INVALID_HANDLE;
	r = launch_check(f, l);
	if (r)
		return r;
	if (f->decl->params_bytes > sizeof(small)) {
		params = malloc(f->decl->params_bytes);
		if (!params)
			return TS_CU_ERROR_OUT_OF_MEMORY;
	}
	r = launch_gather(f->decl, kernel_params, extra, params);
	if (!r)
		r = capturing ? stream_capture_launch(capturing, f, l, params)
			      : launch_run(f, l, params, vstream, NULL);
	if (params != small)
		free(params);
	return r;
}

static int launch_kernel(void *func, uint32_t grid_dim_x, uint32_t grid_dim_y, uint32_t grid_dim_z,
			 uint32_t block_dim_x, uint32_t block_dim_y, uint32_t block_dim_z,
			 uint32_t shared_mem_bytes, void *stream, void **kernel_params,
			 void **extra)
{
	const struct launch l = {
		.grid = {grid_dim_x, grid_dim_y, grid_dim_z},
		.block = {block_dim_x, block_dim_y, block_dim_z},
		.shared_bytes = shared_mem_bytes,
	};

	return submit(func, &l, stream, kernel_params, extra);
}

static int launch_cooperative_kernel(void *func, uint32_t grid_dim_x, uint32_t grid_dim_y,
				     uint32_t grid_dim_z, uint32_t block_dim_x,
				     uint32_t block_dim_y, uint32_t block_dim_z,
				     uint32_t shared_mem_bytes, void *stream, void **kernel_params)
{
	const struct launch l = {
		.grid = {grid_dim_x, grid_dim_y, grid_dim_z},
		.block = {block_dim_x, block_dim_y, block_dim_z},
		.shared_bytes = shared_mem_bytes,
		.cooperative = true,
	};

	return submit(func, &l, stream, kernel_params, NULL);
}

/* Rejects attributes that require an unsupported feature; ignores hints. */
static int read_attributes(const struct ts_cu_launch_config *config, struct launch *l)
{
	for (uint32_t i = 0; i < config->num_attrs; i++) {
		const struct ts_cu_launch_attribute *a = &config->attrs[i];

		switch (a->id) {
		case TS_CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
			l->cooperative = a->value.cooperative;
			break;
		case TS_CU_LAUNCH_ATTRIBUTE_PRIORITY:
			l->has_priority = true;
			l->priority = a->value.priority;
			break;
		case TS_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
			if ((uint64_t)a->value.cluster_dim.x * a->value.cluster_dim.y *
				    a->value.cluster_dim.z >
			    1)
				return NOT_SERVED("thread block clusters",
						  "launch without clusters, or " ON_A_REAL_GPU);
			break;
		case TS_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
		case TS_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
		case TS_CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
			return NOT_SERVED(
				"launches with launch events, or with nodes that kernels update",
				ON_A_REAL_GPU);
		case TS_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
			/*
			 * The kernel may start early, but it may also start after its predecessor.
			 */
		case TS_CU_LAUNCH_ATTRIBUTE_IGNORE:
		case TS_CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
		case TS_CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
		case TS_CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		case TS_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
		case TS_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
		case TS_CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
		case TS_CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		case TS_CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
			break;
		default:
			return TS_CU_ERROR_INVALID_VALUE;
		}
	}
	return 0;
}

static int launch_kernel_ex(const struct ts_cu_launch_config *config, void *func,
			    void **kernel_params, void **extra, bool own)
{
	struct launch l;
	int r;

	if (!config || (config->num_attrs && !config->attrs))
		return TS_CU_ERROR_INVALID_VALUE;
	l = (struct launch){
		.grid = {config->grid_dim_x, config->grid_dim_y, config->grid_dim_z},
		.block = {config->block_dim_x, config->block_dim_y, config->block_dim_z},
		.shared_bytes = config->shared_mem_bytes,
	};
	r = read_attributes(config, &l);
	if (r)
		return r;
	return submit(func, &l, own ? per_thread(config->stream) : config->stream, kernel_params,
		      extra);
}

/* Returns the function of an occupancy query: a function, or a kernel in the current context. */
static int subject(void *func, struct function **ret_function,
		   const struct ts_vgpu_shape **ret_shape)
{
	struct context *context;
	int r = context_current(&context);

	if (!r)
		r = function_get(context, func, ret_function);
	if (!r)
		*ret_shape = ts_vgpu_device_shape(
			device_get((int32_t)(*ret_function)->module->context->device));
	return r;
}

static int max_active_blocks(int32_t *num_blocks, void *func, int32_t block_size,
			     size_t dynamic_s_mem_size)
{
	const struct ts_vgpu_shape *shape;
	struct function *f;
	int r = subject(func, &f, &shape);

	if (r)
		return r;
	if (!num_blocks || block_size <= 0 || dynamic_s_mem_size > UINT32_MAX / 2)
		return TS_CU_ERROR_INVALID_VALUE;
	*num_blocks = 0;
	if (!f->decl->max_threads || (uint32_t)block_size <= f->decl->max_threads)
		*num_blocks = (int32_t)ts_vgpu_blocks_per_sm(shape, (uint32_t)block_size,
							     (uint32_t)dynamic_s_mem_size +
								     f->decl->static_shared_bytes,
							     function_regs(f));
	return 0;
}

static int max_active_blocks_with_flags(int32_t *num_blocks, void *func, int32_t block_size,
					size_t dynamic_s_mem_size, uint32_t flags)
{
	if (flags > 1)
		return TS_CU_ERROR_INVALID_VALUE;
	return max_active_blocks(num_blocks, func, block_size, dynamic_s_mem_size);
}

static int max_potential_block_size(int32_t *min_grid_size, int32_t *block_size, void *func,
				    void *block_size_to_dynamic_s_mem_size,
				    size_t dynamic_s_mem_size, int32_t block_size_limit)
{
	size_t (*shared_of)(int) = NULL;
	const struct ts_vgpu_shape *shape;
	struct function *f;
	int32_t limit, best = 0, best_threads = -1, best_blocks = 0;
	int r = subject(func, &f, &shape);

	if (r)
		return r;
	if (!min_grid_size || !block_size || block_size_limit < 0)
		return TS_CU_ERROR_INVALID_VALUE;
	*(void **)&shared_of = block_size_to_dynamic_s_mem_size;
	limit = (int32_t)(f->decl->max_threads ? f->decl->max_threads
					       : shape->max_threads_per_block);
	if (block_size_limit && block_size_limit < limit)
		limit = block_size_limit;
	/* The largest block with the most resident threads, in whole warps. */
	for (int32_t size = limit; size > 0; size = size % 32 ? size / 32 * 32 : size - 32) {
		int32_t blocks;

		r = max_active_blocks(&blocks, func, size,
				      shared_of ? shared_of(size) : dynamic_s_mem_size);
		if (r)
			return r;
		if (blocks * size > best_threads) {
			best = size;
			best_blocks = blocks;
			best_threads = blocks * size;
		}
	}
	*block_size = best;
	*min_grid_size = best_blocks * (int32_t)shape->n_sm;
	return 0;
}

static int max_potential_block_size_with_flags(int32_t *min_grid_size, int32_t *block_size,
					       void *func, void *block_size_to_dynamic_s_mem_size,
					       size_t dynamic_s_mem_size, int32_t block_size_limit,
					       uint32_t flags)
{
	if (flags > 1)
		return TS_CU_ERROR_INVALID_VALUE;
	return max_potential_block_size(min_grid_size, block_size, func,
					block_size_to_dynamic_s_mem_size, dynamic_s_mem_size,
					block_size_limit);
}

static int available_dynamic_smem(size_t *dynamic_smem_size, void *func, int32_t num_blocks,
				  int32_t block_size)
{
	const struct ts_vgpu_shape *shape;
	struct function *f;
	uint32_t each, kept;
	int r = subject(func, &f, &shape);

	if (r)
		return r;
	if (!dynamic_smem_size || num_blocks <= 0 || block_size <= 0)
		return TS_CU_ERROR_INVALID_VALUE;
	kept = (shape->cc_major >= 8 ? 1024 : 0) + f->decl->static_shared_bytes;
	each = shape->shared_bytes_per_sm / (uint32_t)num_blocks / 128 * 128;
	each = each > kept ? each - kept : 0;
	*dynamic_smem_size =
		each < f->max_dynamic_shared_bytes ? each : f->max_dynamic_shared_bytes;
	return 0;
}

#include "tools/vgpu/generated-cuda-launch.h"
