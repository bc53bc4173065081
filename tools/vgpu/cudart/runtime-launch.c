/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches, by stubs and by programs; attributes of kernels; occupancy. Programs call this file
 * through the functions of generated-cudart-launch.h; this file calls register.c to find kernels.
 */
#include "tools/vgpu/cudart/runtime.h"

/*
 * Maximum nesting of <<<>>> in arguments of <<<>>>. Small: libamdhip64 has this file too, and its
 * thread-local storage must fit into the loader's reserve for dlopen().
 */
#define CONFIGURATIONS_MAX 8

static __thread struct {
	struct configuration {
		struct ts_cuda_dim3 grid, block;
		size_t shared_bytes;
		void *stream;
	} entries[CONFIGURATIONS_MAX];
	unsigned n;
} configurations;

API unsigned __cudaPushCallConfiguration(struct ts_cuda_dim3 grid, struct ts_cuda_dim3 block,
					 size_t shared_bytes, void *stream)
{
	if (configurations.n == CONFIGURATIONS_MAX) {
		error_keep(TS_CUDA_ERROR_MISSING_CONFIGURATION);
		return 1;
	}
	configurations.entries[configurations.n++] =
		(struct configuration){grid, block, shared_bytes, stream};
	return 0;
}

API int __cudaPopCallConfiguration(struct ts_cuda_dim3 *grid, struct ts_cuda_dim3 *block,
				   size_t *shared_bytes, void *stream)
{
	const struct configuration *c;

	if (!configurations.n) {
		error_keep(TS_CUDA_ERROR_MISSING_CONFIGURATION);
		return TS_CUDA_ERROR_MISSING_CONFIGURATION;
	}
	c = &configurations.entries[--configurations.n];
	*grid = c->grid;
	*block = c->block;
	*shared_bytes = c->shared_bytes;
	*(void **)stream = c->stream;
	return 0;
}

/*
 * Converts the driver's result of a launch. For a wrong shape the driver returns "invalid value",
 * but the runtime must return "invalid configuration".
 */
static int launch_result(int r, struct ts_cuda_dim3 grid, struct ts_cuda_dim3 block)
{
	/* A grid without blocks is an invalid value. */
	if (r == TS_CU_ERROR_INVALID_VALUE &&
	    (!block.x || !block.y || !block.z || block.z > 64 || grid.x > INT32_MAX ||
	     grid.y > 65535 || grid.z > 65535 || block.x > 1024 || block.y > 1024 ||
	     (uint64_t)block.x * block.y * block.z > 1024))
		return TS_CUDA_ERROR_INVALID_CONFIGURATION;
	return r;
}

static int launch(void *kernel, struct ts_cuda_dim3 grid, struct ts_cuda_dim3 block, void **args,
		  size_t shared_mem, void *stream, bool own)
{
	int r;

	if (shared_mem > UINT32_MAX)
		return TS_CUDA_ERROR_INVALID_VALUE;
	r = (own ? cuLaunchKernel_ptsz : cuLaunchKernel)(kernel, grid.x, grid.y, grid.z, block.x,
							 block.y, block.z, (uint32_t)shared_mem,
							 stream, args, NULL);
	return r ? launch_result(r, grid, block) : 0;
}

static int launch_kernel(const void *func, struct ts_cuda_dim3 grid, struct ts_cuda_dim3 block,
			 void **args, size_t shared_mem, void *stream, bool own)
{
	void *kernel;
	int r = ready();

	if (!r)
		r = kernel_of(func, &kernel);
	return r ? r : launch(kernel, grid, block, args, shared_mem, stream, own);
}

/*
 * Launches the kernel that a stub passes. It needs no lookup, unless it is a host function (see
 * __cudaGetKernel()).
 */
static int launch_handle(void *kernel, struct ts_cuda_dim3 grid, struct ts_cuda_dim3 block,
			 void **args, size_t shared_mem, void *stream, bool own)
{
	void *found;
	int r = ready();

	if (!r)
		r = launch(kernel, grid, block, args, shared_mem, stream, own);
	if (r != TS_CUDA_ERROR_INVALID_RESOURCE_HANDLE)
		return r;
	r = kernel_of(kernel, &found);
	if (r || found == kernel)
		return r ? r : TS_CUDA_ERROR_INVALID_RESOURCE_HANDLE;
	return launch(found, grid, block, args, shared_mem, stream, own);
}

API int __cudaLaunchKernel(void *func, struct ts_cuda_dim3 grid_dim, struct ts_cuda_dim3 block_dim,
			   void **args, size_t shared_mem, void *stream)
{
	struct ts_cuda_launch_kernel_params params = {func, grid_dim,	block_dim,
						      args, shared_mem, stream};

	return RT_NAMED(cudaLaunchKernel_v7000, "cudaLaunchKernel", &params, symbol_name(func),
			launch_handle(func, grid_dim, block_dim, args, shared_mem, stream, false));
}

API int __cudaLaunchKernel_ptsz(void *func, struct ts_cuda_dim3 grid_dim,
				struct ts_cuda_dim3 block_dim, void **args, size_t shared_mem,
				void *stream)
{
	struct ts_cuda_launch_kernel_params params = {func, grid_dim,	block_dim,
						      args, shared_mem, stream};

	return RT_NAMED(cudaLaunchKernel_ptsz_v7000, "cudaLaunchKernel_ptsz", &params,
			symbol_name(func),
			launch_handle(func, grid_dim, block_dim, args, shared_mem, stream, true));
}

static int launch_cooperative(const void *func, struct ts_cuda_dim3 grid, struct ts_cuda_dim3 block,
			      void **args, size_t shared_mem, void *stream, bool own)
{
	void *kernel;
	int r = ready();

	if (!r)
		r = kernel_of(func, &kernel);
	if (r)
		return r;
	if (shared_mem > UINT32_MAX)
		return TS_CUDA_ERROR_INVALID_VALUE;
	r = (own ? cuLaunchCooperativeKernel_ptsz
		 : cuLaunchCooperativeKernel)(kernel, grid.x, grid.y, grid.z, block.x, block.y,
					      block.z, (uint32_t)shared_mem, stream, args);
	return r ? launch_result(r, grid, block) : 0;
}

static int launch_ex(const struct ts_cuda_launch_config *config, const void *func, void **args,
		     bool own)
{
	struct ts_cu_launch_config c;
	void *kernel;
	int r = ready();

	if (r)
		return r;
	if (!config || config->dynamic_smem_bytes > UINT32_MAX)
		return TS_CUDA_ERROR_INVALID_VALUE;
	r = kernel_of(func, &kernel);
	if (r)
		return r;
	c = (struct ts_cu_launch_config){
		.grid_dim_x = config->grid_dim.x,
		.grid_dim_y = config->grid_dim.y,
		.grid_dim_z = config->grid_dim.z,
		.block_dim_x = config->block_dim.x,
		.block_dim_y = config->block_dim.y,
		.block_dim_z = config->block_dim.z,
		.shared_mem_bytes = (uint32_t)config->dynamic_smem_bytes,
		.stream = config->stream,
		.attrs = config->attrs,
		.num_attrs = config->num_attrs,
	};
	r = (own ? cuLaunchKernelEx_ptsz : cuLaunchKernelEx)(&c, kernel, args, NULL);
	return r ? launch_result(r, config->grid_dim, config->block_dim) : 0;
}

static int launch_host_func(void *stream, void *fn, void *user_data, bool own)
{
	int r = ready();

	return r ? r : (own ? cuLaunchHostFunc_ptsz : cuLaunchHostFunc)(stream, fn, user_data);
}

/*
 * Returns a kernel in the current context. An unregistered function goes to the driver as a kernel
 * handle, as in NVIDIA's runtime. The driver returns TS_CUDA_ERROR_INVALID_RESOURCE_HANDLE.
 */
static int subject(const void *func, void **ret_kernel)
{
	int r = ready();

	return r ? r : kernel_of(func, ret_kernel);
}

static int func_get_attributes(struct ts_cuda_func_attributes *attr, const void *func)
{
	static const struct {
		int32_t attribute;
		uint8_t offset, bytes;
	} fields[] = {
#define F(name, field)                                                                 \
	{TS_CU_FUNC_ATTRIBUTE_##name, offsetof(struct ts_cuda_func_attributes, field), \
	 sizeof(((struct ts_cuda_func_attributes *)NULL)->field)}
		F(SHARED_SIZE_BYTES, shared_size_bytes),
		F(CONST_SIZE_BYTES, const_size_bytes),
		F(LOCAL_SIZE_BYTES, local_size_bytes),
		F(MAX_THREADS_PER_BLOCK, max_threads_per_block),
		F(NUM_REGS, num_regs),
		F(PTX_VERSION, ptx_version),
		F(BINARY_VERSION, binary_version),
		F(CACHE_MODE_CA, cache_mode_ca),
		F(MAX_DYNAMIC_SHARED_SIZE_BYTES, max_dynamic_shared_size_bytes),
		F(PREFERRED_SHARED_MEMORY_CARVEOUT, preferred_shmem_carveout),
#undef F
	};
	struct ts_cuda_func_attributes out = {0};
	void *kernel;
	int32_t value;
	int r = subject(func, &kernel);

	if (r)
		return r;
	if (!attr)
		return TS_CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		uint8_t *field = (uint8_t *)&out + fields[i].offset;

		r = cuFuncGetAttribute(&value, fields[i].attribute, kernel);
		if (r)
			return r;
		if (fields[i].bytes == sizeof(size_t))
			*(size_t *)field = (size_t)value;
		else
			*(int32_t *)field = value;
	}
	*attr = out;
	return 0;
}

static int func_set_attribute(const void *func, int32_t attr, int32_t value)
{
	void *kernel;
	int r = subject(func, &kernel);

	return r ? r : cuFuncSetAttribute(kernel, attr, value);
}

static int func_set_cache_config(const void *func, int32_t cache_config)
{
	void *kernel;
	int r = subject(func, &kernel);

	return r ? r : cuFuncSetCacheConfig(kernel, cache_config);
}

static int func_get_name(const char **name, const void *func)
{
	void *kernel;
	int r = subject(func, &kernel);

	return r ? r : cuKernelGetName(name, kernel);
}

static int func_get_param_info(const void *func, size_t index, size_t *offset, size_t *bytes)
{
	void *kernel;
	int r = subject(func, &kernel);

	return r ? r : cuFuncGetParamInfo(kernel, index, offset, bytes);
}

static int max_active_blocks(int32_t *num_blocks, const void *func, int32_t block_size,
			     size_t dynamic_s_mem_size)
{
	void *kernel;
	int r = subject(func, &kernel);

	return r ? r
		 : cuOccupancyMaxActiveBlocksPerMultiprocessor(num_blocks, kernel, block_size,
							       dynamic_s_mem_size);
}

static int max_active_blocks_with_flags(int32_t *num_blocks, const void *func, int32_t block_size,
					size_t dynamic_s_mem_size, uint32_t flags)
{
	void *kernel;
	int r = subject(func, &kernel);

	return r ? r
		 : cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(num_blocks, kernel,
									block_size,
									dynamic_s_mem_size, flags);
}

static int available_dynamic_smem(size_t *dynamic_smem_size, const void *func, int32_t num_blocks,
				  int32_t block_size)
{
	void *kernel;
	int r = subject(func, &kernel);

	return r ? r
		 : cuOccupancyAvailableDynamicSMemPerBlock(dynamic_smem_size, kernel, num_blocks,
							   block_size);
}

#include "tools/vgpu/generated-cudart-launch.h"
