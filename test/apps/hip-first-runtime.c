/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runtime of HIP without a device and without dispatch tables, for hip-first.c. Its first call of
 * hipGetErrorName(), at which a real one initialises itself, calls hip_first_initialise() of the
 * program.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "test/apps/hip-first.h"

const char *hipGetErrorName(int32_t error)
{
	static char is_initialised;

	(void)error;
	if (!__atomic_exchange_n(&is_initialised, 1, __ATOMIC_SEQ_CST))
		hip_first_initialise();
	return "hipSuccess";
}

int32_t hipRuntimeGetVersion(int32_t *ret)
{
	*ret = 50700000;
	return 0;
}

int32_t hipGetDeviceCount(int32_t *ret)
{
	*ret = 0;
	return 0;
}

int32_t hipGetLastError(void)
{
	return 0;
}

int32_t hipPeekAtLastError(void)
{
	return 0;
}

int32_t hipMalloc(void **ret, size_t n_bytes)
{
	*ret = malloc(n_bytes);
	return *ret ? 0 : 2;
}

int32_t hipFree(void *memory)
{
	free(memory);
	return 0;
}

int32_t hipDeviceSynchronize(void)
{
	return 0;
}
