// SPDX-License-Identifier: Apache-2.0
/*
 * libmcruntime.so: the calls of MetaX's runtime that the test programs make, over the driver and
 * the runtime that are linked in. Programs call it. A call is carried out by the like call of CUDA,
 * which reports it; libmcpti gives the report MetaX's name and id (mcpti-face.c).
 */
#include "tools/vgpu/cuda/driver.h"
#include "tools/vgpu/generated-cuda-functions.h"
#include "tools/vgpu/generated-cudart-functions.h"
#include "tools/vgpu/hooks.h"
#include "tools/vgpu/maca/maca.h"

/* The driver's own start loads no tool: no variable is known to make MetaX's driver load one. */
__attribute__((constructor)) static void on_load(void)
{
	driver.is_contained = true;
}

const void *ts_maca_hooks(void)
{
	const void *table = NULL;

	return cuGetExportTable(&table, &ts_vgpu_hooks_uuid) ? NULL : table;
}

int mcInit(uint32_t flags)
{
	return cuInit(flags);
}

int mcDriverGetVersion(int32_t *version)
{
	return cudaDriverGetVersion(version);
}

int mcGetDeviceCount(int32_t *count)
{
	return cudaGetDeviceCount(count);
}

int mcSetDevice(int32_t device)
{
	return cudaSetDevice(device);
}

int mcGetDevice(int32_t *device)
{
	return cudaGetDevice(device);
}

int mcDeviceSynchronize(void)
{
	return cudaDeviceSynchronize();
}

int mcMalloc(void **memory, size_t n_bytes)
{
	return cudaMalloc(memory, n_bytes);
}

int mcFree(void *memory)
{
	return cudaFree(memory);
}

int mcMallocHost(void **memory, size_t n_bytes)
{
	return cudaMallocHost(memory, n_bytes);
}

int mcFreeHost(void *memory)
{
	return cudaFreeHost(memory);
}

int mcMemcpy(void *dst, const void *src, size_t n_bytes, int32_t kind)
{
	return cudaMemcpy(dst, src, n_bytes, kind);
}

int mcMemcpyAsync(void *dst, const void *src, size_t n_bytes, int32_t kind, void *stream)
{
	return cudaMemcpyAsync(dst, src, n_bytes, kind, stream);
}

int mcMemcpyPeerAsync(void *dst, int32_t dst_device, const void *src, int32_t src_device,
		      size_t n_bytes, void *stream)
{
	return cudaMemcpyPeerAsync(dst, dst_device, src, src_device, n_bytes, stream);
}

int mcMemset(void *dst, int32_t value, size_t n_bytes)
{
	return cudaMemset(dst, value, n_bytes);
}

int mcMemsetAsync(void *dst, int32_t value, size_t n_bytes, void *stream)
{
	return cudaMemsetAsync(dst, value, n_bytes, stream);
}

int mcStreamCreateWithFlags(void **stream, uint32_t flags)
{
	return cudaStreamCreateWithFlags(stream, flags);
}

int mcStreamDestroy(void *stream)
{
	return cudaStreamDestroy(stream);
}

int mcStreamSynchronize(void *stream)
{
	return cudaStreamSynchronize(stream);
}

int mcStreamWaitEvent(void *stream, void *event, uint32_t flags)
{
	return cudaStreamWaitEvent(stream, event, flags);
}

int mcEventCreate(void **event)
{
	return cudaEventCreate(event);
}

int mcEventDestroy(void *event)
{
	return cudaEventDestroy(event);
}

int mcEventRecord(void *event, void *stream)
{
	return cudaEventRecord(event, stream);
}

int mcEventSynchronize(void *event)
{
	return cudaEventSynchronize(event);
}

int mcEventElapsedTime(float *ms, void *start, void *end)
{
	return cudaEventElapsedTime(ms, start, end);
}

int mcStreamBeginCapture(void *stream, int32_t mode)
{
	return cudaStreamBeginCapture(stream, mode);
}

int mcStreamEndCapture(void *stream, void **graph)
{
	return cudaStreamEndCapture(stream, graph);
}

int mcGraphInstantiate(void **graph_exec, void *graph, uint64_t flags)
{
	return cudaGraphInstantiate(graph_exec, graph, flags);
}

int mcGraphDestroy(void *graph)
{
	return cudaGraphDestroy(graph);
}

int mcGraphLaunch(void *graph_exec, void *stream)
{
	return cudaGraphLaunch(graph_exec, stream);
}

int mcGraphExecDestroy(void *graph_exec)
{
	return cudaGraphExecDestroy(graph_exec);
}

int mcModuleLoadData(void **module, const void *image)
{
	return cuModuleLoadData(module, image);
}

int mcModuleGetFunction(void **function, void *module, const char *name)
{
	return cuModuleGetFunction(function, module, name);
}

int mcModuleLaunchKernel(void *function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z,
			 uint32_t block_x, uint32_t block_y, uint32_t block_z,
			 uint32_t n_shared_bytes, void *stream, void **arguments, void **extra)
{
	return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
			      n_shared_bytes, stream, arguments, extra);
}
