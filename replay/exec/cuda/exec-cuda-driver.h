/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vendor's driver, loaded at run time. exec-hip-driver.c fills the same table with HIP's
 * functions. A build needs no CUDA toolkit, and a driver is needed
 * only for a replay on a device. Names and meanings are those of libcuda.so.1; types are those of
 * proto/abi/vendor.
 */
#pragma once

#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cuda_driver_types.h"

#include "replay/exec/exec-program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TS_EXEC_CUDA_LIBRARY "libcuda.so.1"

#define TS_EXEC_CUDA_FUNCTIONS(X)                     \
	X(init, cuInit)                               \
	X(driver_version, cuDriverGetVersion)         \
	X(error_string, cuGetErrorString)             \
	X(device_count, cuDeviceGetCount)             \
	X(device_get, cuDeviceGet)                    \
	X(device_name, cuDeviceGetName)               \
	X(device_memory, cuDeviceTotalMem_v2)         \
	X(context_new, cuCtxCreate_v2)                \
	X(context_free, cuCtxDestroy_v2)              \
	X(context_current, cuCtxSetCurrent)           \
	X(context_synchronize, cuCtxSynchronize)      \
	X(context_limit, cuCtxSetLimit)               \
	X(context_peer, cuCtxEnablePeerAccess)        \
	X(context_no_peer, cuCtxDisablePeerAccess)    \
	X(stream_new, cuStreamCreateWithPriority)     \
	X(stream_free, cuStreamDestroy_v2)            \
	X(stream_query, cuStreamQuery)                \
	X(stream_wait, cuStreamWaitEvent)             \
	X(event_new, cuEventCreate)                   \
	X(event_free, cuEventDestroy_v2)              \
	X(event_record, cuEventRecord)                \
	X(event_query, cuEventQuery)                  \
	X(module_load, cuModuleLoadData)              \
	X(module_unload, cuModuleUnload)              \
	X(module_function, cuModuleGetFunction)       \
	X(module_variable, cuModuleGetGlobal_v2)      \
	X(function_attribute, cuFuncGetAttribute)     \
	X(function_set, cuFuncSetAttribute)           \
	X(launch, cuLaunchKernel)                     \
	X(reserve, cuMemAddressReserve)               \
	X(unreserve, cuMemAddressFree)                \
	X(memory_new, cuMemCreate)                    \
	X(memory_release, cuMemRelease)               \
	X(map, cuMemMap)                              \
	X(unmap, cuMemUnmap)                          \
	X(set_access, cuMemSetAccess)                 \
	X(granularity, cuMemGetAllocationGranularity) \
	X(alloc, cuMemAlloc_v2)                       \
	X(free, cuMemFree_v2)                         \
	X(host_alloc, cuMemHostAlloc)                 \
	X(host_free, cuMemFreeHost)                   \
	X(copy, cuMemcpyAsync)                        \
	X(copy_2d, cuMemcpy2DAsync_v2)                \
	X(copy_3d, cuMemcpy3DAsync_v2)                \
	X(fill_8, cuMemsetD2D8Async)                  \
	X(fill_16, cuMemsetD2D16Async)                \
	X(fill_32, cuMemsetD2D32Async)

/*
 * Functions that some drivers lack. The pointer to such a function is NULL if the driver lacks it.
 */
#define TS_EXEC_CUDA_OPTIONAL(X)                          \
	X(parameter, cuFuncGetParamInfo) /* since 12.4 */ \
	X(launch_ex, cuLaunchKernelEx)	 /* since 11.8 */

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
#define TS_EXEC_CUDA_MEMBER_(field, symbol) symbol##_fn *field;
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
