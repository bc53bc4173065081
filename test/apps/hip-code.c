/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels of HIP from each form of device code: bundles in the program's file, plain and
 * compressed, as hipcc's programs have them; a compressed bundle in a file, and a plain one in
 * memory, loaded as modules. The bundles have PTX for the virtual GPU, and AMD's code with metadata
 * (hipcode.py). test-hip-code.py knows the metadata's numbers.
 *
 * 	hip-code FILE    FILE is the compressed bundle
 *
 * Prints the result of the kernels, the sum of what each one adds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/vendor/hip.h"
#include "test/apps/hip-code-packed.h"
#include "test/apps/hip-code-plain.h"
#include "tools/vgpu/generated-hip-functions.h"

static struct ts_hip_fat_binary_wrapper wrappers[2] = {
	{TS_HIP_FAT_BINARY_MAGIC, TS_HIP_FAT_BINARY_VERSION, plain_bundle, NULL},
	{TS_HIP_FAT_BINARY_MAGIC, TS_HIP_FAT_BINARY_VERSION, packed_bundle, NULL},
};
static void **handles[2];
/* Their addresses are keys, as those of hipcc's host functions. */
static const char plain_stub, packed_stub;

static void register_kernel(int i, const void *stub, char *name)
{
	handles[i] = __hipRegisterFatBinary(&wrappers[i]);
	__hipRegisterFunction(handles[i], stub, name, name, -1u, NULL, NULL, NULL, NULL, NULL);
}

__attribute__((constructor)) static void register_code(void)
{
	static char plain[] = "plain", packed[] = "packed";

	register_kernel(0, &plain_stub, plain);
	register_kernel(1, &packed_stub, packed);
}

__attribute__((destructor)) static void unregister_code(void)
{
	__hipUnregisterFatBinary(handles[0]);
	__hipUnregisterFatBinary(handles[1]);
}

static void check(int result, const char *call)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %s\n", call, hipGetErrorName(result));
	exit(1);
}

#define CHECK(call) check(call, #call)

static const struct ts_hip_dim3 block = {1, 1, 1}, one = {1, 1, 1};

/* Launches a kernel of a module, and unloads the module. */
static void run_module(void *module, const char *name, void **arguments)
{
	void *function;

	CHECK(hipModuleGetFunction(&function, module, name));
	CHECK(hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, arguments, NULL));
	CHECK(hipDeviceSynchronize());
	CHECK(hipModuleUnload(module));
}

/*
 * The two kernels in a graph: the first by its own call, the second by a stream capture. Both have
 * more blocks than they need; the first block adds.
 */
static void run_graph(void **arguments)
{
	struct ts_hip_kernel_node_params params = {
		.block_dim = {9, 9, 9},
		.func = (void *)(uintptr_t)&plain_stub,
		.grid_dim = {3, 2, 1},
		.kernel_params = arguments,
	};
	void *graph, *captured, *exec, *node, *child, *stream;

	CHECK(hipStreamCreate(&stream));
	CHECK(hipGraphCreate(&graph, 0));
	CHECK(hipGraphAddKernelNode(&node, graph, NULL, 0, &params));
	params.block_dim = (struct ts_hip_dim3){32, 1, 1};
	params.shared_mem_bytes = 64;
	CHECK(hipGraphKernelNodeSetParams(node, &params));
	CHECK(hipStreamBeginCapture(stream, TS_HIP_STREAM_CAPTURE_MODE_GLOBAL));
	CHECK(hipLaunchKernel(&packed_stub, (struct ts_hip_dim3){5, 1, 1},
			      (struct ts_hip_dim3){64, 1, 1}, arguments, 0, stream));
	CHECK(hipStreamEndCapture(stream, &captured));
	CHECK(hipGraphAddChildGraphNode(&child, graph, &node, 1, captured));
	CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	CHECK(hipGraphLaunch(exec, stream));
	/* The executable graph's own numbers. */
	params.grid_dim.x = 4;
	CHECK(hipGraphExecKernelNodeSetParams(exec, node, &params));
	CHECK(hipGraphLaunch(exec, stream));
	CHECK(hipStreamSynchronize(stream));
	CHECK(hipGraphExecDestroy(exec));
	CHECK(hipGraphDestroy(captured));
	CHECK(hipGraphDestroy(graph));
	CHECK(hipStreamDestroy(stream));
}

/* Two nodes of one kernel with different grids: the runtime's record does not tell them apart. */
static void run_different(void **arguments)
{
	struct ts_hip_kernel_node_params params = {
		.block_dim = block,
		.func = (void *)(uintptr_t)&plain_stub,
		.grid_dim = one,
		.kernel_params = arguments,
	};
	void *graph, *exec, *first, *second;

	CHECK(hipGraphCreate(&graph, 0));
	CHECK(hipGraphAddKernelNode(&first, graph, NULL, 0, &params));
	params.grid_dim.x = 2;
	CHECK(hipGraphAddKernelNode(&second, graph, &first, 1, &params));
	CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	CHECK(hipGraphLaunch(exec, NULL));
	CHECK(hipDeviceSynchronize());
	CHECK(hipGraphExecDestroy(exec));
	CHECK(hipGraphDestroy(graph));
}

int main(int argc, char **argv)
{
	const size_t n = sizeof(plain_bundle);
	void *at, *module, *copy = malloc(n), *arguments[] = {&at};
	uint32_t value = 0;

	if (argc != 2 || !copy)
		return 2;
	CHECK(hipMalloc(&at, sizeof(value)));
	CHECK(hipMemset(at, 0, sizeof(value)));
	CHECK(hipLaunchKernel(&plain_stub, one, block, arguments, 0, NULL));
	CHECK(hipDeviceSynchronize());
	CHECK(hipLaunchKernel(&packed_stub, one, block, arguments, 0, NULL));
	CHECK(hipDeviceSynchronize());
	CHECK(hipModuleLoad(&module, argv[1]));
	run_module(module, "packed", arguments);
	memcpy(copy, plain_bundle, n);
	CHECK(hipModuleLoadData(&module, copy));
	free(copy);
	run_module(module, "plain", arguments);
	run_graph(arguments);
	run_different(arguments);
	CHECK(hipMemcpy(&value, at, sizeof(value), TS_HIP_MEMCPY_DEVICE_TO_HOST));
	CHECK(hipFree(at));
	printf("%u\n", value);
	return 0;
}
