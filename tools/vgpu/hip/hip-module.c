// SPDX-License-Identifier: Apache-2.0
/*
 * Loads modules and a program's own code, which its constructors register, and returns attributes
 * of kernels. A program's code is read at its first use. Programs call this file through the
 * functions of generated-hip-module.h and generated-hip-register.h; this file calls hip-bundle.c.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vgpu/hip/hip-face.h"

/* Limit of a module's file. */
#define FILE_MAX (1l << 30)

/* Functions of libcudart without a prototype of their own, because nvcc's code calls them. */
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host_function, char *device_symbol,
			    const char *name, int thread_limit, void *tid, void *bid,
			    void *block_dim, void *grid_dim, int *warp_size);
void __cudaRegisterVar(void **handle, char *host_variable, char *device_symbol, const char *name,
		       int external, size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device_symbol,
			      const char *name, int external, size_t bytes, int constant,
			      int global);
unsigned __cudaPushCallConfiguration(struct ts_cuda_dim3 grid, struct ts_cuda_dim3 block,
				     size_t shared_bytes, void *stream);
int __cudaPopCallConfiguration(struct ts_cuda_dim3 *grid, struct ts_cuda_dim3 *block,
			       size_t *shared_bytes, void *stream);

static int read_wrapper(const void *data, void **ret_image)
{
	const struct ts_hip_fat_binary_wrapper *wrapper = data;
	int r;

	if (wrapper->magic != TS_HIP_FAT_BINARY_MAGIC ||
	    wrapper->version != TS_HIP_FAT_BINARY_VERSION || !wrapper->binary)
		return TS_HIP_ERROR_INVALID_IMAGE;
	/* The wrapper does not say how long the bundle is. */
	r = bundle_image(wrapper->binary, SIZE_MAX, driver.timed_kernels, ret_image);
	return r || *ret_image ? r : TS_HIP_ERROR_INVALID_IMAGE;
}

static void **register_fat_binary(const void *data)
{
	return data ? code_register(data, read_wrapper) : NULL;
}

/* Textures and surfaces: a use of them fails. */
static void register_nothing(void **modules, ...)
{
}

static int push_configuration(struct ts_hip_dim3 grid, struct ts_hip_dim3 block,
			      size_t shared_bytes, void *stream)
{
	return __cudaPushCallConfiguration(dim3(grid), dim3(block), shared_bytes, stream)
		       ? TS_HIP_ERROR_MISSING_CONFIGURATION
		       : 0;
}

static int pop_configuration(struct ts_hip_dim3 *grid, struct ts_hip_dim3 *block,
			     size_t *shared_bytes, void **stream)
{
	struct ts_cuda_dim3 g, b;
	int r = __cudaPopCallConfiguration(&g, &b, shared_bytes, stream);

	if (r)
		return r;
	*grid = (struct ts_hip_dim3){g.x, g.y, g.z};
	*block = (struct ts_hip_dim3){b.x, b.y, b.z};
	return 0;
}

/* Loads a bundle, or PTX text. n_bytes: SIZE_MAX if unknown. */
static int load(void **module, const void *image, size_t n_bytes)
{
	void *own;
	int r = ready();

	if (!r)
		r = bundle_image(image, n_bytes, driver.timed_kernels, &own);
	if (r)
		return r;
	r = cuModuleLoadData(module, own ? own : image);
	free(own);
	return r;
}

static int module_load_data(void **module, const void *image)
{
	return module && image ? load(module, image, SIZE_MAX) : TS_HIP_ERROR_INVALID_VALUE;
}

static int module_load(void **module, const char *path)
{
	char *bytes = NULL;
	int r = TS_HIP_ERROR_FILE_NOT_FOUND;
	long n = -1;
	FILE *file;

	if (!module || !path)
		return TS_HIP_ERROR_INVALID_VALUE;
	file = fopen(path, "re");
	if (!file)
		return r;
	if (!fseek(file, 0, SEEK_END))
		n = ftell(file);
	rewind(file);
	if (n >= 0 && n <= FILE_MAX)
		bytes = malloc((size_t)n + 1);
	if (bytes && fread(bytes, 1, (size_t)n, file) == (size_t)n) {
		bytes[n] = '\0';
		r = load(module, bytes, (size_t)n);
	}
	fclose(file);
	free(bytes);
	return r;
}

/* Both have the same fields, in another order. */
static int func_attributes(struct ts_hip_func_attributes *attr, const void *func)
{
	struct ts_cuda_func_attributes known;
	int r;

	if (!attr)
		return TS_HIP_ERROR_INVALID_VALUE;
	r = cudaFuncGetAttributes(&known, func);
	if (r)
		return r;
	*attr = (struct ts_hip_func_attributes){
		.binary_version = known.binary_version,
		.cache_mode_ca = known.cache_mode_ca,
		.const_size_bytes = known.const_size_bytes,
		.local_size_bytes = known.local_size_bytes,
		.max_dynamic_shared_size_bytes = known.max_dynamic_shared_size_bytes,
		.max_threads_per_block = known.max_threads_per_block,
		.num_regs = known.num_regs,
		.preferred_shmem_carveout = known.preferred_shmem_carveout,
		.ptx_version = known.ptx_version,
		.shared_size_bytes = known.shared_size_bytes,
	};
	return 0;
}

/* Finds an exported function; of this library only, although it has functions of other names. */
static int get_proc_address(const char *symbol, void **pfn, int32_t hip_version, uint64_t flags,
			    int32_t *symbol_status)
{
	void *library;
	Dl_info info;

	if (!symbol || !pfn)
		return TS_HIP_ERROR_INVALID_VALUE;
	*pfn = NULL;
	if (dladdr((void *)(uintptr_t)read_wrapper, &info) && info.dli_fname) {
		library = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
		if (library) {
			*pfn = dlsym(library, symbol);
			dlclose(library);
		}
	}
	/* 0: found, 1: no such function. */
	if (symbol_status)
		*symbol_status = *pfn ? 0 : 1;
	return *pfn ? 0 : TS_HIP_ERROR_INVALID_VALUE;
}

#include "tools/vgpu/generated-hip-module.h"
#include "tools/vgpu/generated-hip-register.h"
