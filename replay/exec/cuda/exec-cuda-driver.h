/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vendor's driver, loaded at run time. exec-hip-driver.c fills the same table with HIP's
 * functions. A build needs no CUDA toolkit, and a driver is needed
 * only for a replay on a device. Names and meanings are those of libcuda.so.1; types are those of
 * proto/abi/vendor.
 */
#pragma once

#include "proto/abi/vendor/cuda_driver.h"

#include "replay/exec/exec-program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TS_EXEC_CUDA_LIBRARY "libcuda.so.1"

#define TS_EXEC_CUDA_FUNCTIONS(X)                                                                  \
	X(init, cuInit, (uint32_t flags))                                                          \
	X(driver_version, cuDriverGetVersion, (int32_t * version))                                 \
	X(error_string, cuGetErrorString, (int32_t error, const char **text))                      \
	X(device_count, cuDeviceGetCount, (int32_t * n))                                           \
	X(device_get, cuDeviceGet, (int32_t * device, int32_t ordinal))                            \
	X(device_name, cuDeviceGetName, (char *name, int32_t n, int32_t device))                   \
	X(device_memory, cuDeviceTotalMem_v2, (size_t * bytes, int32_t device))                    \
	X(context_new, cuCtxCreate_v2, (void **context, uint32_t flags, int32_t device))           \
	X(context_free, cuCtxDestroy_v2, (void *context))                                          \
	X(context_current, cuCtxSetCurrent, (void *context))                                       \
	X(context_synchronize, cuCtxSynchronize, (void))                                           \
	X(context_limit, cuCtxSetLimit, (int32_t limit, size_t value))                             \
	X(context_peer, cuCtxEnablePeerAccess, (void *peer, uint32_t flags))                       \
	X(context_no_peer, cuCtxDisablePeerAccess, (void *peer))                                   \
	X(stream_new, cuStreamCreateWithPriority,                                                  \
	  (void **stream, uint32_t flags, int32_t priority))                                       \
	X(stream_free, cuStreamDestroy_v2, (void *stream))                                         \
	X(stream_query, cuStreamQuery, (void *stream))                                             \
	X(stream_wait, cuStreamWaitEvent, (void *stream, void *event, uint32_t flags))             \
	X(event_new, cuEventCreate, (void **event, uint32_t flags))                                \
	X(event_free, cuEventDestroy_v2, (void *event))                                            \
	X(event_record, cuEventRecord, (void *event, void *stream))                                \
	X(event_query, cuEventQuery, (void *event))                                                \
	X(module_load, cuModuleLoadData, (void **module, const void *image))                       \
	X(module_unload, cuModuleUnload, (void *module))                                           \
	X(module_function, cuModuleGetFunction, (void **function, void *module, const char *name)) \
	X(module_variable, cuModuleGetGlobal_v2,                                                   \
	  (uint64_t * address, size_t * bytes, void *module, const char *name))                    \
	X(function_attribute, cuFuncGetAttribute,                                                  \
	  (int32_t * value, int32_t attribute, void *function))                                    \
	X(function_set, cuFuncSetAttribute, (void *function, int32_t attribute, int32_t value))    \
	X(launch, cuLaunchKernel,                                                                  \
	  (void *function, uint32_t grid_x, uint32_t grid_y, uint32_t grid_z, uint32_t block_x,    \
	   uint32_t block_y, uint32_t block_z, uint32_t shared_bytes, void *stream,                \
	   void **kernel_params, void **extra))                                                    \
	X(reserve, cuMemAddressReserve,                                                            \
	  (uint64_t * address, size_t bytes, size_t align, uint64_t wanted, uint64_t flags))       \
	X(unreserve, cuMemAddressFree, (uint64_t address, size_t bytes))                           \
	X(memory_new, cuMemCreate,                                                                 \
	  (uint64_t * handle, size_t bytes, const struct ts_cu_mem_allocation_prop *what,          \
	   uint64_t flags))                                                                        \
	X(memory_release, cuMemRelease, (uint64_t handle))                                         \
	X(map, cuMemMap,                                                                           \
	  (uint64_t address, size_t bytes, size_t offset, uint64_t handle, uint64_t flags))        \
	X(unmap, cuMemUnmap, (uint64_t address, size_t bytes))                                     \
	X(set_access, cuMemSetAccess,                                                              \
	  (uint64_t address, size_t bytes, const struct ts_cu_mem_access_desc *who, size_t n))     \
	X(granularity, cuMemGetAllocationGranularity,                                              \
	  (size_t * bytes, const struct ts_cu_mem_allocation_prop *what, int32_t option))          \
	X(alloc, cuMemAlloc_v2, (uint64_t * address, size_t bytes))                                \
	X(free, cuMemFree_v2, (uint64_t address))                                                  \
	X(host_alloc, cuMemHostAlloc, (void **at, size_t bytes, uint32_t flags))                   \
	X(host_free, cuMemFreeHost, (void *at))                                                    \
	X(copy, cuMemcpyAsync, (uint64_t dst, uint64_t src, size_t bytes, void *stream))           \
	X(copy_2d, cuMemcpy2DAsync_v2, (const struct ts_cu_memcpy_2d *copy, void *stream))         \
	X(copy_3d, cuMemcpy3DAsync_v2, (const struct ts_cu_memcpy_3d *copy, void *stream))         \
	X(fill_8, cuMemsetD2D8Async,                                                               \
	  (uint64_t dst, size_t pitch, uint8_t value, size_t width, size_t height, void *stream))  \
	X(fill_16, cuMemsetD2D16Async,                                                             \
	  (uint64_t dst, size_t pitch, uint16_t value, size_t width, size_t height, void *stream)) \
	X(fill_32, cuMemsetD2D32Async,                                                             \
	  (uint64_t dst, size_t pitch, uint32_t value, size_t width, size_t height, void *stream))

/*
 * Functions that some drivers lack. The pointer to such a function is NULL if the driver lacks it.
 */
#define TS_EXEC_CUDA_OPTIONAL(X)                                                           \
	X(parameter, cuFuncGetParamInfo,                                                   \
	  (void *function, size_t index, size_t *offset, size_t *bytes)) /* since 12.4 */  \
	X(launch_ex, cuLaunchKernelEx,                                                     \
	  (const struct ts_cu_launch_config *config, void *function, void **kernel_params, \
	   void **extra)) /* since 11.8 */

/* A vendor's words in reports. */
struct ts_exec_cuda_vendor {
	const char *library;
	const char *interface; /* "CUDA" */
	const char *launch_ex; /* the first release with launch_ex */
	/*
	 * Gets the part of a module's image that the driver loads. Returns NULL, or the reason why
	 * there is none.
	 */
	const char *(*image)(const struct ts_exec_content *image, struct ts_exec_content *ret_part);
};

struct ts_exec_cuda_driver {
	const struct ts_exec_cuda_vendor *vendor;
#define TS_EXEC_CUDA_MEMBER_(field, symbol, arguments) int(*field) arguments;
	TS_EXEC_CUDA_FUNCTIONS(TS_EXEC_CUDA_MEMBER_)
	TS_EXEC_CUDA_OPTIONAL(TS_EXEC_CUDA_MEMBER_)
#undef TS_EXEC_CUDA_MEMBER_
};

/*
 * Returns false if the driver or a function of TS_EXEC_CUDA_FUNCTIONS is missing; the text names
 * the missing one. Functions of TS_EXEC_CUDA_OPTIONAL may be missing. The driver stays loaded,
 * because unloading libcuda is unreliable.
 */
bool ts_exec_cuda_driver_open(struct ts_exec_cuda_driver *driver, char *text, size_t text_bytes);
