/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stands in for libamdhip64 where it is only looked at from outside: functions of its names that take what HIP's take and do nothing.
 */
#include "test/apps/hip-standin.h"

/* What an optimiser may not see through: that an argument is not used. */
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
