/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of libamdhip64: its functions, a registered kernel, checks of results. */
#pragma once

#include "proto/abi/vendor/hip.h"
#include "test/apps/gpu-ptx.h"
#include "test/apps/hip-bundle.h"
#include "test/unit/harness.h"
#include "tools/vgpu/generated-hip-functions.h"

#define ok(call)	 ts_check_int(call, TS_HIP_SUCCESS)
#define want(name, call) ts_check_int(call, TS_HIP_ERROR_##name)

#define N		 1000u
#define GRID		 ((struct ts_hip_dim3){(N + 255) / 256, 1, 1})
#define BLOCK		 ((struct ts_hip_dim3){256, 1, 1})

/* Registers a kernel of a bundle, as a program's constructor does. Returns the handle. */
static inline void **register_kernel(const void *bundle, const void *host_function,
				     const char *name)
{
	static struct ts_hip_fat_binary_wrapper wrappers[4];
	static unsigned n;
	struct ts_hip_fat_binary_wrapper *wrapper = &wrappers[n++];
	void **handle;

	*wrapper = (struct ts_hip_fat_binary_wrapper){
		.magic = TS_HIP_FAT_BINARY_MAGIC,
		.version = TS_HIP_FAT_BINARY_VERSION,
		.binary = bundle,
	};
	handle = __hipRegisterFatBinary(wrapper);
	__hipRegisterFunction(handle, host_function, (char *)(uintptr_t)name, name, -1u, NULL, NULL,
			      NULL, NULL, NULL);
	return handle;
}

static inline void register_variable(void **handle, void *host_variable, const char *name,
				     size_t size)
{
	char *text = (char *)(uintptr_t)name;

	__hipRegisterVar(handle, host_variable, text, text, 0, size, 0, 0);
}
