/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the vendor's driver with dlopen(), which searches like the loader of any other program.
 * exec-cuda.c calls this file.
 */
#include "replay/exec/cuda/exec-cuda-driver.h"
#include "replay/exec/exec-objects.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool find(void *library, const char *symbol, void *ret_function)
{
	void *function = dlsym(library, symbol);

	memcpy(ret_function, &function, sizeof(function));
	return function;
}

static const struct ts_exec_cuda_vendor cuda = {
	.library = TS_EXEC_CUDA_LIBRARY,
	.interface = "CUDA",
	.launch_ex = "a driver of CUDA 11.8",
	.image = ts_exec_image_ptx,
};

bool ts_exec_cuda_driver_open(struct ts_exec_cuda_driver *driver, char *text, size_t text_bytes)
{
	void *library = dlopen(TS_EXEC_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL);
	const char *lacks = NULL;

	driver->vendor = &cuda;
	if (!library) {
		snprintf(text, text_bytes,
			 "cannot load %s: `--on cuda` needs NVIDIA's driver; use `--on vgpu` "
			 "without one",
			 TS_EXEC_CUDA_LIBRARY);
		return false;
	}
#define FIND_(field, symbol)                                   \
	if (!find(library, #symbol, &driver->field) && !lacks) \
		lacks = #symbol;
	TS_EXEC_CUDA_FUNCTIONS(FIND_)
#undef FIND_
#define FIND_(field, symbol) (void)find(library, #symbol, &driver->field);
	TS_EXEC_CUDA_OPTIONAL(FIND_)
#undef FIND_
	if (lacks)
		snprintf(text, text_bytes,
			 "%s has no %s: `--on cuda` needs a driver of CUDA 11.2 "
			 "or later",
			 TS_EXEC_CUDA_LIBRARY, lacks);
	return !lacks;
}
