/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hip-calls N: the calls of a HIP program with N launches. Links against libamdhip64-standin
 * (hip-standin.c). test/integration/test-system.py runs it.
 */
#include <stdlib.h>

#include "test/apps/hip-standin.h"

int main(int argc, char **argv)
{
	static char kernel, host[4096];
	int n = argc > 1 ? atoi(argv[1]) : 1;
	void *memory;

	__hipRegisterFunction(NULL, &kernel, NULL, "axpy", 0, NULL, NULL, NULL, NULL, NULL);
	if (hipMalloc(&memory, 65536) || hipMemcpy(memory, host, sizeof(host), 1))
		return 1;
	for (int i = 0; i < n; i++)
		if (hipLaunchKernel(&kernel, (struct hip_dim3){1, 1, 1},
				    (struct hip_dim3){32, 1, 1}, NULL, 0, NULL))
			return 1;
	return hipDeviceSynchronize() || hipFree(memory);
}
