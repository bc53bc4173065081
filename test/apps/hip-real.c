/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linked with the system's libamdhip64, if there is one: some calls, with or without a device.
 * Prints their results and the version.
 */
#include <stdio.h>

#include "proto/abi/vendor/hip.h"
#include "tools/vgpu/generated-hip-functions.h"

int main(void)
{
	int32_t n = -1, version = 0, results[6];
	void *memory = NULL;

	results[0] = hipInit(0);
	results[1] = hipRuntimeGetVersion(&version);
	results[2] = hipGetDeviceCount(&n);
	(void)hipGetLastError();
	results[3] = hipMalloc(&memory, 4096);
	results[4] = hipFree(memory);
	results[5] = hipGetLastError();
	for (int i = 0; i < 6; i++)
		printf("%d ", results[i]);
	printf("version %d devices %d\n", version, n);
	return 0;
}
