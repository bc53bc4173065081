/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of libcudart share. The runtime is a thin layer over libcuda's public functions, as NVIDIA's is: a
 * profiler sees the runtime's call and the driver's call nested in it. The build makes the public functions from
 * proto/abi/vendor/cuda_runtime.calls, in one pattern:
 *
 *	API int cudaMalloc(void **dev_ptr, size_t size)
 *	{
 *		struct ts_cuda_malloc_params params = {dev_ptr, size};
 *
 *		return RT(cudaMalloc_v3020, "cudaMalloc", &params, malloc_device(dev_ptr, size));
 *	}
 *
 * RT tells a profiler before and after, and keeps an error for cudaGetLastError. The functions it wraps answer
 * with an enum ts_cuda_error, which has the driver's numbers wherever both have a word for something. Where a call has
 * a form for per-thread default streams (_ptsz, _ptds), both call one function that is told which (own).
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

/* cbid_: the vendor's callback name, version included. name: the exported symbol's without _ptsz. */
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

/* For cudaGetLastError. */
void error_keep(int error);

/* The driver started; and a context current: the thread's device's primary one where there is none. */
int start(void);
/* Whether the process ends, and the vendor's driver would be gone. */
bool exiting(void);
int ready(void);
/* The driver's answer, once there is a context. */
#define READY(call)                       \
	({                                \
		int ready_ = ready();     \
		ready_ ? ready_ : (call); \
	})
/* The device of the current context, or the one that would be. */
int device_current(int32_t *ret_device);

int primary_of(int32_t device, void **ret_context);

static inline uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* The kernel that a host function or a cudaKernel_t means; TS_CUDA_ERROR_INVALID_DEVICE_FUNCTION. */
int kernel_of(const void *func, void **ret_kernel);
/* Its name, or NULL. */
const char *symbol_name(const void *func);
/* Where a device variable lies in the current context; TS_CUDA_ERROR_INVALID_SYMBOL. */
int variable_of(const void *symbol, uint64_t *ret_address, size_t *ret_bytes);

/* Copies in the driver's words, for nodes of graphs. */
int copy_fill_1d(struct ts_cu_memcpy_3d *c, void *dst, const void *src, size_t count, int32_t kind);
int copy_fill_3d(struct ts_cu_memcpy_3d *c, const struct ts_cuda_memcpy_3d_parms *p);
/* Part of a device variable. */
int symbol_part(const void *symbol, size_t count, size_t offset, void **ret_address);
