/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MetaX's part of gpu.h, beside gpu-like-hip.c, as the virtual libmcruntime.so has the runtime.
 * Linked against that library. Kernels are PTX, loaded as modules.
 */
#include "test/apps/gpu-like-hip.h"
#include "test/apps/gpu-ptx.h"
#include "tools/vgpu/maca/maca.h"

static const struct gpu_code *code;
static void *functions[GPU_OWN_DEVICES][TS_TRUTH_KERNELS];

void gpu_own_check(int result, const char *call)
{
	if (!result)
		return;
	fprintf(stderr, "%s: error %d\n", call, result);
	exit(GPU_FAILED);
}

const char *gpu_own_launch_name(const struct gpu_code *own)
{
	return "mcModuleLaunchKernel";
}

void gpu_own_begin(const struct gpu_code *own)
{
	code = own;
}

static void load(int device, const char *ptx, uint32_t first, uint32_t n)
{
	void *module;

	gpu_own_check(mcModuleLoadData(&module, ptx), "mcModuleLoadData");
	for (uint32_t i = first; i < n; i++)
		gpu_own_check(mcModuleGetFunction(&functions[device][i], module,
						  gpu_truth()->kernel_names[i]),
			      "mcModuleGetFunction");
}

void gpu_own_load(int device)
{
	load(device, gpu_ptx, 0, GPU_KERNELS);
	if (code)
		load(device, code->ptx, GPU_KERNELS, gpu_kernels());
}

void gpu_own_launch(uint32_t kernel, struct gpu_shape shape, struct gpu_stream stream,
		    void **arguments)
{
	gpu_own_check(mcModuleLaunchKernel(functions[gpu_own_device][kernel], shape.grid[0],
					   shape.grid[1], shape.grid[2], shape.block[0],
					   shape.block[1], shape.block[2], shape.shared_bytes,
					   stream.handle, arguments, NULL),
		      "mcModuleLaunchKernel");
	gpu_count_launch(kernel, gpu_own_device, stream);
}
