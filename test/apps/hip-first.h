/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that hip-first.c, its runtime and its library share. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* The program defines these. Weak, because the libraries are linked before the program. */
__attribute__((weak)) void hip_first_initialise(void);
__attribute__((weak)) void hip_first_constructor(void);

/* The runtime defines these. */
const char *hipGetErrorName(int32_t error);
int32_t hipRuntimeGetVersion(int32_t *ret);
int32_t hipGetDeviceCount(int32_t *ret);
int32_t hipGetLastError(void);
int32_t hipPeekAtLastError(void);
int32_t hipMalloc(void **ret, size_t n_bytes);
int32_t hipFree(void *memory);
int32_t hipDeviceSynchronize(void);

#pragma GCC visibility pop
