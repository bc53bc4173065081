/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of libcudart. Like NVIDIA's, the runtime is a thin layer over libcuda's
 * public functions: a profiler sees the runtime's call and the nested driver's call. The build
 * generates the public functions from proto/abi/vendor/cuda_runtime.calls:
 *
 *     API int cudaMalloc(void **dev_ptr, size_t size)
 *     {
 *             struct ts_cuda_malloc_params params = {dev_ptr, size};
 *
 *             return RT(cudaMalloc_v3020, "cudaMalloc", &params, malloc_device(dev_ptr, size));
 *     }
 *
 * RT reports the call to a profiler before and after, and stores an error for cudaGetLastError. The
 * wrapped functions return an enum ts_cuda_error, which has the driver's number wherever both
 * define the error. If a call has a form for per-thread default streams (_ptsz, _ptds), both forms
 * call one function with a parameter `own`.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/abi/vendor/cuda_runtime.h"
#include "proto/abi/vendor/cuda_runtime_params.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "tools/vgpu/cudart/driver_api.h"
#include "tools/vgpu/hooks.h"

#define API __attribute__((visibility("default")))

extern const struct ts_vgpu_hooks *hooks;

static inline bool armed(void)
{
	return __builtin_expect(hooks && atomic_load_explicit(hooks->armed, memory_order_relaxed),
				0);
}

/*
 * `cbid_` is the vendor's callback name with version. `name` is the exported symbol without _ptsz.
 */
#define RT(cbid_, name, params_, work) RT_NAMED(cbid_, name, params_, NULL, work)

#define RT_NAMED(cbid_, name, params_, symbol, work)                                   \
	({                                                                             \
		int rt_result_ = RT_REPORTED(int, cbid_, name, params_, symbol, work); \
		if (__builtin_expect(rt_result_ != 0, 0))                              \
			error_keep(rt_result_);                                        \
		rt_result_;                                                            \
	})

#define RT_REPORTED(type, cbid_, name, params_, symbol, work)                                      \
	TS_VGPU_CALL(type, armed(), hooks->api_enter, hooks->api_exit, hooks->section_leave, work, \
		     .domain = TS_CUPTI_CB_DOMAIN_RUNTIME_API,                                     \
		     .cbid = TS_CUPTI_RUNTIME_CBID_##cbid_, .function_name = name,                 \
		     .params = (params_), .symbol_name = (symbol))

/* Stores an error for cudaGetLastError. */
void error_keep(int error);

/* Starts the driver. */
int start(void);
/* True if the process ends, when the vendor's driver would be unloaded. */
bool exiting(void);
/*
 * Starts the driver. If the thread has no current context, makes the primary context of the
 * thread's device current.
 */
int ready(void);
/* The result of a driver call, after ready(). */
#define READY(call)                       \
	({                                \
		int ready_ = ready();     \
		ready_ ? ready_ : (call); \
	})
/* Returns the device of the current context, or the device that ready() would use. */
int device_current(int32_t *ret_device);

int primary_of(int32_t device, void **ret_context);

static inline uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/*
 * Returns the kernel of a host function or a cudaKernel_t. TS_CUDA_ERROR_INVALID_DEVICE_FUNCTION:
 * there is none.
 */
int kernel_of(const void *func, void **ret_kernel);
/* Returns the host function that a program registered for a kernel, and has used; NULL: none. */
const void *host_function_of(const void *kernel);
/* Returns the kernel's name, or NULL. */
const char *symbol_name(const void *func);
/*
 * Returns the address of a device variable in the current context. TS_CUDA_ERROR_INVALID_SYMBOL:
 * there is none.
 */
int variable_of(const void *symbol, uint64_t *ret_address, size_t *ret_bytes);

/*
 * Registers code like __cudaRegisterFatBinary(), for another vendor's format. At the first use
 * `read` returns the image in memory that free() frees, or an error number.
 */
void **code_register(const void *wrapper, int (*read)(const void *wrapper, void **ret_image));

/* Convert a copy to the driver's struct, for graph nodes. */
int copy_fill_1d(struct ts_cu_memcpy_3d *c, void *dst, const void *src, size_t count, int32_t kind);
int copy_fill_3d(struct ts_cu_memcpy_3d *c, const struct ts_cuda_memcpy_3d_parms *p);
/* Returns the address of a part of a device variable. */
int symbol_part(const void *symbol, size_t count, size_t offset, void **ret_address);
