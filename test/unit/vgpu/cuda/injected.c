// SPDX-License-Identifier: Apache-2.0
/*
 * The library that CUDA_INJECTION64_PATH names in test-driver.c: it counts the calls of its entry
 * point, which itself calls the driver.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tools/vgpu/cudart/driver_api.h"

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	static int n;
	char text[32];
	int32_t version = 0, n_devices;

	if (!cuInit(0) && !cuDeviceGetCount(&n_devices))
		cuDriverGetVersion(&version);
	snprintf(text, sizeof(text), "%d %d", ++n, version);
	return !setenv("TS_TEST_INJECTED_COUNT", text, 1);
}
