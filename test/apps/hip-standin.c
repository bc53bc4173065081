/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for libamdhip64 for tests that observe its calls from outside, by probes. Each
 * function has the name and the parameters of HIP's function, and does nothing.
 */
#include "test/apps/hip-standin.h"

/* Keeps the optimiser from removing an unused argument. */
#define USE(value) __asm__ volatile("" ::"r"(value))

int hipMalloc(void **memory, size_t n_bytes)
{
	static char somewhere[16];

	USE(n_bytes);
	*memory = somewhere;
	return 0;
}

int hipMemcpy(void *to, const void *from, size_t n_bytes, int kind)
{
	USE(to);
	USE(from);
	USE(n_bytes);
	return 0;
}

int hipLaunchKernel(const void *function, struct hip_dim3 grid, struct hip_dim3 block,
		    void **arguments, size_t n_shared, void *stream)
{
	USE(function);
	return 0;
}

int hipDeviceSynchronize(void)
{
	USE(0L);
	return 0;
}

int hipFree(void *memory)
{
	USE(memory);
	return 0;
}

void __hipRegisterFunction(void **module, const void *function, char *device_name, const char *name,
			   unsigned limit, void *tid, void *bid, void *block, void *grid, int *warp)
{
	USE(name);
}
