/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP's part of gpu.h, beside gpu-like-hip.c. Linked against libamdhip64, as hipcc links a program.
 * Registers its kernels in a constructor, as code of hipcc does, in a bundle with PTX: only the
 * virtual GPU runs it. A program's own kernels are loaded as a module.
 */
#include "proto/abi/vendor/hip.h"
#include "test/apps/gpu-like-hip.h"
#include "test/apps/gpu-ptx.h"
#include "test/apps/hip-bundle.h"
#include "tools/vgpu/generated-hip-functions.h"

static const struct gpu_code *code;
static void *functions[GPU_OWN_DEVICES][TS_TRUTH_KERNELS];

/* Keys of the registered kernels: the addresses of host functions in hipcc's code. */
static const char stubs[GPU_KERNELS];

void gpu_own_check(int result, const char *call)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %s (%d)\n", call, hipGetErrorName(result), result);
	exit(GPU_FAILED);
}

static void **registered;

__attribute__((constructor)) static void register_code(void)
{
	static char names[GPU_KERNELS][8] = {"saxpy", "scale", "nothing"};
	static struct ts_hip_fat_binary_wrapper wrapper = {
		.magic = TS_HIP_FAT_BINARY_MAGIC,
		.version = TS_HIP_FAT_BINARY_VERSION,
	};

	wrapper.binary = hip_bundle_new(HIP_BUNDLE_PTX, gpu_ptx);
	registered = __hipRegisterFatBinary(&wrapper);
	for (uint32_t i = 0; i < GPU_KERNELS; i++)
		__hipRegisterFunction(registered, &stubs[i], names[i], names[i], -1u, NULL, NULL,
				      NULL, NULL, NULL);
}

__attribute__((destructor)) static void unregister_code(void)
{
	__hipUnregisterFatBinary(registered);
}

/* A program with kernels of its own launches no others. */
const char *gpu_own_launch_name(const struct gpu_code *own)
{
	return own ? "hipModuleLaunchKernel" : "hipLaunchKernel";
}

void gpu_own_begin(const struct gpu_code *own)
{
	code = own;
}

/* The kernels of enum gpu_kernel are registered for all devices. */
void gpu_own_load(int device)
{
	void *bundle;
	void *module;

	if (!code)
		return;
	bundle = hip_bundle_new(HIP_BUNDLE_PTX, code->ptx);
	gpu_own_check(hipModuleLoadData(&module, bundle), "hipModuleLoadData");
	free(bundle);
	for (uint32_t i = GPU_KERNELS; i < gpu_kernels(); i++)
		gpu_own_check(hipModuleGetFunction(&functions[device][i], module,
						   gpu_truth()->kernel_names[i]),
			      "hipModuleGetFunction");
}

void gpu_own_launch(uint32_t kernel, struct gpu_shape shape, struct gpu_stream stream,
		    void **arguments)
{
	const struct ts_hip_dim3 grid = {shape.grid[0], shape.grid[1], shape.grid[2]};
	const struct ts_hip_dim3 block = {shape.block[0], shape.block[1], shape.block[2]};

	if (kernel < GPU_KERNELS)
		gpu_own_check(hipLaunchKernel(&stubs[kernel], grid, block, arguments,
					      shape.shared_bytes, stream.handle),
			      "hipLaunchKernel");
	else
		gpu_own_check(hipModuleLaunchKernel(functions[gpu_own_device][kernel], grid.x,
						    grid.y, grid.z, block.x, block.y, block.z,
						    shape.shared_bytes, stream.handle, arguments,
						    NULL),
			      "hipModuleLaunchKernel");
	gpu_count_launch(kernel, gpu_own_device, stream);
}
