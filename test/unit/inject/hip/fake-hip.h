/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of fake-hip.c that hip-app.c calls. */
#pragma once

#include "proto/abi/vendor/hip.h"

/* A kernel as the device ran it, in ns of CLOCK_MONOTONIC: FAKE_HIP_TRUTH names the file. */
struct fake_hip_kernel {
	uint64_t start, end;
	uint64_t is_behind; /* 1: the device was busy until its start */
};
#define FAKE_HIP_KERNEL_NS 3000000u

/* The record of a kernel with this name has an end so far in the future. */
#define FAKE_HIP_AHEAD	  "_Z5aheadv"
#define FAKE_HIP_AHEAD_NS UINT64_C(3000000000)

/* hipSetDevice() of this number raises SIGUSR1 inside the call. */
#define FAKE_HIP_SIGNAL (-77)

/*
 * If set: hipStreamDestroy() and hipFree() call it when the object is destroyed, before they
 * return. The next object that is created, in any thread, has the handle of the destroyed one.
 */
extern void (*fake_hip_destroyed)(void);

int32_t hipGetDeviceCount(int32_t *ret);
int32_t hipGetLastError(void);
int32_t hipSetDevice(int32_t to);
int32_t hipMalloc(void **ret, size_t n_bytes);
int32_t hipFree(void *at);
int32_t hipMemcpy(void *to, const void *from, size_t n_bytes, int32_t kind);
int32_t hipMemsetAsync(void *to, int32_t value, size_t n_bytes, void *stream);
int32_t hipLaunchKernel(const void *function, struct ts_hip_dim3 grid, struct ts_hip_dim3 block,
			void **args, size_t shared, void *stream);
int32_t hipStreamCreateWithFlags(void **ret, uint32_t flags);
int32_t hipStreamDestroy(void *stream);
int32_t hipDeviceSynchronize(void);
int32_t hipStreamSynchronize(void *stream);
int32_t hipDeviceReset(void);
int32_t hipStreamBeginCapture(void *stream, int32_t mode);
int32_t hipStreamEndCapture(void *stream, void **ret);
int32_t hipDevicePrimaryCtxRetain(void **ret, int32_t of);
int32_t hipCtxSetCurrent(void *context);
int32_t hipCtxPushCurrent(void *context);
