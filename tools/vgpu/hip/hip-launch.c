// SPDX-License-Identifier: Apache-2.0
/*
 * Launches and occupancy. Programs call this file through the functions of generated-hip-launch.h
 * and generated-hip-occupancy.h.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/vgpu/hip/hip-face.h"

/* Arguments that hipSetupArgument() collects for one launch. */
#define ARGUMENTS_MAX 4096

/*
 * The launch that hipConfigureCall() describes. The arguments are on the heap: the loader's reserve
 * of static thread-local storage, which hooks.c requires, is too small for them.
 */
static __thread struct {
	struct ts_hip_dim3 grid, block;
	size_t shared_bytes;
	void *stream;
	bool configured;
	size_t n_bytes;
	uint8_t *arguments; /* until the launch */
} call;

void **extra_convert(void **extra, struct launch_extra *ret_extra)
{
	size_t n = 0;

	if (!extra)
		return NULL;
	/* Both vendors have the same words but for the end, which is NULL in CUDA. */
	while (n < 4 && extra[n] != TS_HIP_LAUNCH_PARAM_END) {
		ret_extra->words[n] = extra[n];
		ret_extra->words[n + 1] = extra[n + 1];
		n += 2;
	}
	ret_extra->words[n] = NULL;
	return ret_extra->words;
}

static int configure_call(struct ts_hip_dim3 grid, struct ts_hip_dim3 block, size_t shared_bytes,
			  void *stream)
{
	if (!call.arguments)
		call.arguments = malloc(ARGUMENTS_MAX);
	if (!call.arguments)
		return TS_HIP_ERROR_OUT_OF_MEMORY;
	call.grid = grid;
	call.block = block;
	call.shared_bytes = shared_bytes;
	call.stream = stream;
	call.n_bytes = 0;
	call.configured = true;
	return 0;
}

static int setup_argument(const void *arg, size_t size, size_t offset)
{
	if (!call.configured)
		return TS_HIP_ERROR_MISSING_CONFIGURATION;
	if (!arg || offset > ARGUMENTS_MAX || size > ARGUMENTS_MAX - offset)
		return TS_HIP_ERROR_INVALID_VALUE;
	memcpy(call.arguments + offset, arg, size);
	if (offset + size > call.n_bytes)
		call.n_bytes = offset + size;
	return 0;
}

static int launch_by_ptr(const void *func)
{
	void *extra[] = {TS_HIP_LAUNCH_PARAM_BUFFER_POINTER, call.arguments,
			 TS_HIP_LAUNCH_PARAM_BUFFER_SIZE, &call.n_bytes, NULL};
	void *kernel;
	int r = ready();

	if (!r && !call.configured)
		r = TS_HIP_ERROR_MISSING_CONFIGURATION;
	if (!r && call.shared_bytes > UINT32_MAX)
		r = TS_HIP_ERROR_INVALID_VALUE;
	if (!r)
		r = kernel_of(func, &kernel);
	if (r)
		return r;
	call.configured = false;
	r = cuLaunchKernel(kernel, call.grid.x, call.grid.y, call.grid.z, call.block.x,
			   call.block.y, call.block.z, (uint32_t)call.shared_bytes, call.stream,
			   NULL, extra);
	free(call.arguments);
	call.arguments = NULL;
	return r;
}

/* Runs a launch between two events; each may be NULL. */
#define BETWEEN(start_event, stop_event, stream, launch)                           \
	({                                                                         \
		int r_ = (start_event) ? cudaEventRecord(start_event, stream) : 0; \
		if (!r_)                                                           \
			r_ = (launch);                                             \
		if (!r_ && (stop_event))                                           \
			r_ = cudaEventRecord(stop_event, stream);                  \
		r_;                                                                \
	})

static int ext_launch(const void *func, struct ts_hip_dim3 grid, struct ts_hip_dim3 block,
		      void **args, size_t shared_bytes, void *stream, void *start_event,
		      void *stop_event, int32_t flags)
{
	return BETWEEN(start_event, stop_event, stream,
		       cudaLaunchKernel(func, dim3(grid), dim3(block), args, shared_bytes, stream));
}

static uint32_t blocks(uint32_t threads, uint32_t block)
{
	return threads / block + (threads % block != 0);
}

/* Sizes are in threads. The engine has no partial blocks; a block that is only timed may be one. */
static int ext_module_launch(void *func, uint32_t x, uint32_t y, uint32_t z, uint32_t block_x,
			     uint32_t block_y, uint32_t block_z, size_t shared_bytes, void *stream,
			     void **params, void **extra, void *start_event, void *stop_event,
			     uint32_t flags)
{
	struct launch_extra words;
	int r = ready();

	if (r)
		return r;
	if (!block_x || !block_y || !block_z || shared_bytes > UINT32_MAX)
		return TS_HIP_ERROR_INVALID_VALUE;
	if (!driver.timed_kernels && (x % block_x || y % block_y || z % block_z))
		return REFUSED("blocks with fewer threads at the edge of a grid");
	return BETWEEN(start_event, stop_event, stream,
		       cuLaunchKernel(func, blocks(x, block_x), blocks(y, block_y),
				      blocks(z, block_z), block_x, block_y, block_z,
				      (uint32_t)shared_bytes, stream, params,
				      extra_convert(extra, &words)));
}

static int module_launch(void *func, uint32_t x, uint32_t y, uint32_t z, uint32_t block_x,
			 uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, void *stream,
			 void **params, void **extra)
{
	struct launch_extra words;
	int r = ready();

	return r ? r
		 : cuLaunchKernel(func, x, y, z, block_x, block_y, block_z, shared_bytes, stream,
				  params, extra_convert(extra, &words));
}

static_assert(sizeof(struct ts_hip_launch_config) == sizeof(struct ts_cuda_launch_config) &&
		      offsetof(struct ts_hip_launch_config, attrs) ==
			      offsetof(struct ts_cuda_launch_config, attrs),
	      "one layout");
static_assert(sizeof(struct ts_hip_drv_launch_config) == sizeof(struct ts_cu_launch_config) &&
		      offsetof(struct ts_hip_drv_launch_config, attrs) ==
			      offsetof(struct ts_cu_launch_config, attrs),
	      "one layout");

/* HIP's attributes of a launch have CUDA's numbers and layout. */
static int launch_config(const struct ts_hip_launch_config *config, const void *func, void **args)
{
	return cudaLaunchKernelExC((const struct ts_cuda_launch_config *)config, func, args);
}

static int drv_launch_config(const struct ts_hip_drv_launch_config *config, void *func,
			     void **params, void **extra)
{
	struct launch_extra words;

	return READY(cuLaunchKernelEx((const struct ts_cu_launch_config *)config, func, params,
				      extra_convert(extra, &words)));
}

static int potential_block_size(int32_t *grid_size, int32_t *block_size, const void *func,
				size_t shared_bytes, int32_t limit)
{
	void *kernel;
	int r = ready();

	if (!r)
		r = kernel_of(func, &kernel);
	return r ? r
		 : cuOccupancyMaxPotentialBlockSize(grid_size, block_size, kernel, NULL,
						    shared_bytes, limit);
}

#include "tools/vgpu/generated-hip-launch.h"
#include "tools/vgpu/generated-hip-occupancy.h"
