/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes untrusted PTX (replay/vgpu/ptx): parses, links and places a module, then runs each kernel
 * with a small instruction budget. The device memory ends at the end of a heap block, so that a
 * sanitizer detects each access outside it.
 */
#include <stdlib.h>
#include <string.h>

#include "replay/vgpu/ptx/ptx.h"

#define MEMORY_BASE  UINT64_C(0x10000000)
#define MEMORY_BYTES 65536u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static int fuzz_resolve(void *userdata, uint64_t address, uint64_t *ret_base, uint64_t *ret_bytes,
			uint8_t **ret_host, uint32_t *ret_flags)
{
	if (address - MEMORY_BASE >= MEMORY_BYTES)
		return -1;
	*ret_base = MEMORY_BASE;
	*ret_bytes = MEMORY_BYTES;
	*ret_host = userdata;
	*ret_flags = 0;
	return 0;
}

/*
 * Places variables one after the other. Returns false if the module needs more memory than exists;
 * such a module does not run.
 */
static bool fuzz_place(struct ts_ptx_image *image, uint8_t *memory)
{
	struct ts_ptx_variable v;
	uint64_t used = 0;

	for (size_t i = 0; i < ts_ptx_image_n_variables(image); i++) {
		ts_ptx_image_variable(image, i, &v);
		used = (used + v.align - 1) / v.align * v.align;
		if (v.bytes > MEMORY_BYTES - used ||
		    ts_ptx_image_place(image, i, MEMORY_BASE + used))
			return false;
		used += v.bytes;
	}
	for (size_t i = 0; i < ts_ptx_image_n_variables(image); i++) {
		ts_ptx_image_variable(image, i, &v);
		ts_ptx_image_initial(image, i, memory + (v.address - MEMORY_BASE));
	}
	return true;
}

static void fuzz_run(struct ts_ptx_engine *engine, const struct ts_ptx_kernel *kernel)
{
	const struct ts_ptx_kernel_info *info = ts_ptx_kernel_info(kernel);
	uint64_t *params = malloc(info->params_bytes + 8u);
	struct ts_ptx_launch launch = {.kernel = kernel,
				       .grid = {2, 1, 1},
				       .block = {48, 1, 1},
				       .params = params,
				       .params_bytes = info->params_bytes,
				       .dynamic_shared_bytes = 64,
				       .max_warp_insns = 2000,
				       .stack_bytes = 1024};
	struct ts_ptx_fault fault;
	struct ts_ptx_error error;

	if (!params)
		return;
	for (uint32_t i = 0; i < info->params_bytes / 8; i++)
		params[i] = MEMORY_BASE + 4096 * (i % 15);
	memset((uint8_t *)params + info->params_bytes / 8 * 8, 0, info->params_bytes % 8);
	if (info->required_block[0])
		memcpy(launch.block, info->required_block, sizeof(launch.block));
	(void)ts_ptx_run(engine, &launch, NULL, &fault, &error);
	free(params);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
	uint8_t *memory = calloc(1, MEMORY_BYTES);
	struct ts_ptx_host host = {.userdata = memory, .resolve = fuzz_resolve};
	struct ts_ptx_module *module = NULL;
	struct ts_ptx_image *image = NULL;
	struct ts_ptx_engine *engine = NULL;
	struct ts_ptx_error error;

	if (memory && !ts_ptx_module_parse((const char *)data, n_bytes, &module, &error) &&
	    !ts_ptx_link(&module, 1, &image, &error) && fuzz_place(image, memory) &&
	    !ts_ptx_engine_new(&host, 1, &engine))
		for (size_t i = 0; i < ts_ptx_image_n_kernels(image) && i < 16; i++)
			fuzz_run(engine, ts_ptx_image_kernel(image, i));
	ts_ptx_engine_free(engine);
	ts_ptx_image_free(image);
	ts_ptx_module_free(module);
	free(memory);
	return 0;
}
