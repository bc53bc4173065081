/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of HIP's runtime that hip-calls.c calls, with HIP's layout of arguments. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

struct hip_dim3 {
	uint32_t x, y, z;
};

int hipMalloc(void **memory, size_t n_bytes);
int hipMemcpy(void *to, const void *from, size_t n_bytes, int kind);
int hipLaunchKernel(const void *function, struct hip_dim3 grid, struct hip_dim3 block,
		    void **arguments, size_t n_shared, void *stream);
int hipDeviceSynchronize(void);
int hipFree(void *memory);
void __hipRegisterFunction(void **module, const void *function, char *device_name, const char *name,
			   unsigned limit, void *tid, void *bid, void *block, void *grid,
			   int *warp);

#pragma GCC visibility pop
