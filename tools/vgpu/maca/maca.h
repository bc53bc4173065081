/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual libmcruntime.so and libmcpti.so: the calls of the runtime, with MetaX's names.
 *
 * MetaX publishes no header. The ids below 300 are those that public code names
 * (proto/abi/vendor/cupti_family.h); the ids from 300 on are the virtual library's own.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define TS_MACA_EXPORT __attribute__((visibility("default")))

/* X(name, callback id, domain and id of the call that carries it out). */
#define TS_MACA_CALLS(X)                                                          \
	X(mcDeviceSynchronize, 18, RUNTIME, cudaDeviceSynchronize_v3020)          \
	X(mcGetDevice, 19, RUNTIME, cudaGetDevice_v3020)                          \
	X(mcGetDeviceCount, 20, RUNTIME, cudaGetDeviceCount_v3020)                \
	X(mcSetDevice, 23, RUNTIME, cudaSetDevice_v3020)                          \
	X(mcStreamSynchronize, 46, RUNTIME, cudaStreamSynchronize_v3020)          \
	X(mcStreamWaitEvent, 47, RUNTIME, cudaStreamWaitEvent_v3020)              \
	X(mcModuleLaunchKernel, 60, DRIVER, cuLaunchKernel)                       \
	X(mcEventRecord, 74, RUNTIME, cudaEventRecord_v3020)                      \
	X(mcEventSynchronize, 76, RUNTIME, cudaEventSynchronize_v3020)            \
	X(mcMalloc, 107, RUNTIME, cudaMalloc_v3020)                               \
	X(mcFree, 108, RUNTIME, cudaFree_v3020)                                   \
	X(mcMemcpy, 118, RUNTIME, cudaMemcpy_v3020)                               \
	X(mcMemcpyAsync, 119, RUNTIME, cudaMemcpyAsync_v3020)                     \
	X(mcMemset, 146, RUNTIME, cudaMemset_v3020)                               \
	X(mcMemsetAsync, 147, RUNTIME, cudaMemsetAsync_v3020)                     \
	X(mcStreamCreateWithFlags, 300, RUNTIME, cudaStreamCreateWithFlags_v5000) \
	X(mcStreamDestroy, 301, RUNTIME, cudaStreamDestroy_v5050)                 \
	X(mcMallocHost, 302, RUNTIME, cudaMallocHost_v3020)                       \
	X(mcFreeHost, 303, RUNTIME, cudaFreeHost_v3020)                           \
	X(mcMemcpyPeerAsync, 304, RUNTIME, cudaMemcpyPeerAsync_v4000)             \
	X(mcEventCreate, 305, RUNTIME, cudaEventCreate_v3020)                     \
	X(mcEventDestroy, 306, RUNTIME, cudaEventDestroy_v3020)                   \
	X(mcStreamBeginCapture, 307, RUNTIME, cudaStreamBeginCapture_v10000)      \
	X(mcStreamEndCapture, 308, RUNTIME, cudaStreamEndCapture_v10000)          \
	X(mcGraphInstantiate, 309, RUNTIME, cudaGraphInstantiate_v12000)          \
	X(mcGraphDestroy, 310, RUNTIME, cudaGraphDestroy_v10000)                  \
	X(mcGraphLaunch, 311, RUNTIME, cudaGraphLaunch_v10000)                    \
	X(mcGraphExecDestroy, 312, RUNTIME, cudaGraphExecDestroy_v10000)          \
	X(mcModuleLoadData, 313, DRIVER, cuModuleLoadData)                        \
	X(mcModuleGetFunction, 314, DRIVER, cuModuleGetFunction)                  \
	X(mcDriverGetVersion, 315, RUNTIME, cudaDriverGetVersion_v3020)

#define TS_MACA_IDS 320u

TS_MACA_EXPORT int mcInit(uint32_t flags);
TS_MACA_EXPORT int mcDriverGetVersion(int32_t *version);
TS_MACA_EXPORT int mcGetDeviceCount(int32_t *count);
TS_MACA_EXPORT int mcSetDevice(int32_t device);
TS_MACA_EXPORT int mcGetDevice(int32_t *device);
TS_MACA_EXPORT int mcDeviceSynchronize(void);
TS_MACA_EXPORT int mcMalloc(void **memory, size_t n_bytes);
TS_MACA_EXPORT int mcFree(void *memory);
TS_MACA_EXPORT int mcMallocHost(void **memory, size_t n_bytes);
TS_MACA_EXPORT int mcFreeHost(void *memory);
/* kind: 1 from the host, 2 to the host, 3 on the device. */
TS_MACA_EXPORT int mcMemcpy(void *dst, const void *src, size_t n_bytes, int32_t kind);
TS_MACA_EXPORT int mcMemcpyAsync(void *dst, const void *src, size_t n_bytes, int32_t kind,
				 void *stream);
TS_MACA_EXPORT int mcMemcpyPeerAsync(void *dst, int32_t dst_device, const void *src,
				     int32_t src_device, size_t n_bytes, void *stream);
TS_MACA_EXPORT int mcMemset(void *dst, int32_t value, size_t n_bytes);
TS_MACA_EXPORT int mcMemsetAsync(void *dst, int32_t value, size_t n_bytes, void *stream);
TS_MACA_EXPORT int mcStreamCreateWithFlags(void **stream, uint32_t flags);
TS_MACA_EXPORT int mcStreamDestroy(void *stream);
TS_MACA_EXPORT int mcStreamSynchronize(void *stream);
TS_MACA_EXPORT int mcStreamWaitEvent(void *stream, void *event, uint32_t flags);
TS_MACA_EXPORT int mcEventCreate(void **event);
TS_MACA_EXPORT int mcEventDestroy(void *event);
TS_MACA_EXPORT int mcEventRecord(void *event, void *stream);
TS_MACA_EXPORT int mcEventSynchronize(void *event);
TS_MACA_EXPORT int mcEventElapsedTime(float *ms, void *start, void *end);
TS_MACA_EXPORT int mcStreamBeginCapture(void *stream, int32_t mode);
TS_MACA_EXPORT int mcStreamEndCapture(void *stream, void **graph);
TS_MACA_EXPORT int mcGraphInstantiate(void **graph_exec, void *graph, uint64_t flags);
TS_MACA_EXPORT int mcGraphDestroy(void *graph);
TS_MACA_EXPORT int mcGraphLaunch(void *graph_exec, void *stream);
TS_MACA_EXPORT int mcGraphExecDestroy(void *graph_exec);
TS_MACA_EXPORT int mcModuleLoadData(void **module, const void *image);
TS_MACA_EXPORT int mcModuleGetFunction(void **function, void *module, const char *name);
TS_MACA_EXPORT int mcModuleLaunchKernel(void *function, uint32_t grid_x, uint32_t grid_y,
					uint32_t grid_z, uint32_t block_x, uint32_t block_y,
					uint32_t block_z, uint32_t n_shared_bytes, void *stream,
					void **arguments, void **extra);

/* For libmcpti: the hooks of the driver inside, as cuGetExportTable() returns them. */
TS_MACA_EXPORT const void *ts_maca_hooks(void);
