// SPDX-License-Identifier: Apache-2.0
/*
 * Tests the runtime's functions for nvcc's registrations, kernels, symbols, libraries, occupancy
 * and launches.
 */
#include "test/unit/vgpu/conform-program.h"

static const struct ts_cuda_dim3 one = {1, 1, 1}, warp = {32, 1, 1}, none = {0, 1, 1},
				 too_many = {257, 1, 1}, huge = {1 << 20, 1, 1};
static void *out;
static uint32_t value = 7;
static void *args[2] = {&out, &value};

static uint32_t first(void)
{
	uint32_t got = 0;

	ok(cudaMemcpy(&got, out, 4, TS_CUDA_MEMCPY_DEVICE_TO_HOST));
	return got;
}

CONFORM(programs_as_nvcc_makes_them)
{
	struct ts_cuda_dim3 grid, block;
	void **handle = program_begin(), *kernel = NULL, *stream = args;
	size_t shared = 99;

	ok(cudaMalloc(&out, 4096));
	done(__cudaInitModule(handle));
	ts_check(!done(__cudaPushCallConfiguration(one, warp, 16, NULL)));
	ok(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
	ts_check(grid.x == 1 && block.x == 32 && shared == 16 && !stream);
	want(ERROR_MISSING_CONFIGURATION,
	     __cudaPopCallConfiguration(&grid, &block, &shared, &stream));
	ok(__cudaGetKernel(&kernel, FILL));
	ok(__cudaLaunchKernel(kernel, one, warp, args, 0, NULL));
	ts_check_int(first(), 7);
	want(ERROR_INVALID_VALUE, __cudaLaunchKernel(kernel, none, warp, args, 0, NULL));
	done(__cudaUnregisterFatBinary(handle));
}

CONFORM(variables_of_other_kinds)
{
	static struct conform_fatbin fatbin;
	static struct conform_wrapper wrapper = CONFORM_WRAPPER(&fatbin);
	static const char ptx[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
				  ".visible .global .attribute(.managed) .align 4 .u32 both = 6;\n";
	static int *managed, host;
	void **handle;

	conform_fatbin(&fatbin, ptx);
	handle = __cudaRegisterFatBinary(&wrapper);
	done(__cudaRegisterManagedVar(handle, (void **)&managed, (char *)"both", "both", 0, 4, 0,
				      0));
	/* The vendor's runtime may require this variable in the module. */
	if (conform_virtual())
		done(__cudaRegisterHostVar(handle, "host", (char *)&host, sizeof(host)));
	__cudaRegisterFatBinaryEnd(handle);
	__cudaInitModule(handle);
	ts_check(managed && *managed == 6);
}

CONFORM(launches)
{
	struct ts_cuda_launch_config config = {one, warp, 0, NULL, NULL, 0};

	program_begin();
	ok(cudaMalloc(&out, 4096));
	ok(cudaLaunchKernel(FILL, one, warp, args, 0, NULL));
	ts_check_int(first(), 7);
	value = 8;
	ok(cudaLaunchKernelExC(&config, FILL, args));
	ts_check_int(first(), 8);
	value = 9;
	ok(cudaLaunchCooperativeKernel(FILL, one, warp, args, 0, NULL));
	ts_check_int(first(), 9);
	want(ERROR_INVALID_RESOURCE_HANDLE, cudaLaunchKernel(NOBODY, one, warp, args, 0, NULL));
	want(ERROR_INVALID_VALUE, cudaLaunchKernel(FILL, none, warp, args, 0, NULL));
	want(ERROR_INVALID_RESOURCE_HANDLE, cudaLaunchKernelExC(&config, NOBODY, args));
	want(ERROR_INVALID_VALUE, cudaLaunchKernel(FILL, one, too_many, args, 0, NULL));
	want(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
	     cudaLaunchCooperativeKernel(FILL, huge, warp, args, 0, NULL));
	ok(cudaDeviceSynchronize());
}

CONFORM(functions)
{
	struct ts_cuda_func_attributes attributes;
	size_t off, bytes;
	const char *name;
	void *f, *kernel;
	int32_t n;

	program_begin();
	ok(cudaFuncGetAttributes(&attributes, FILL));
	ts_check_int(attributes.max_threads_per_block, 256);
	want(ERROR_INVALID_RESOURCE_HANDLE, cudaFuncGetAttributes(&attributes, NOBODY));
	want(ERROR_INVALID_VALUE, cudaFuncGetAttributes(NULL, FILL));
	ok(cudaFuncSetAttribute(FILL, TS_CUDA_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_MEMORY_SIZE, 2048));
	want(ERROR_INVALID_VALUE, cudaFuncSetAttribute(FILL, 999, 1));
	want(ERROR_INVALID_RESOURCE_HANDLE, cudaFuncSetAttribute(NOBODY, 8, 1));
	ok(cudaFuncSetCacheConfig(FILL, TS_CUDA_FUNC_CACHE_PREFER_L1));
	want(ERROR_INVALID_RESOURCE_HANDLE, cudaFuncSetCacheConfig(NOBODY, 0));
	ok(cudaFuncGetName(&name, FILL));
	ts_check_str(name, "fill");
	want(ERROR_INVALID_VALUE, cudaFuncGetName(NULL, FILL));
	ok(cudaFuncGetParamInfo(FILL, 1, &off, &bytes));
	ts_check(off == 8 && bytes == 4);
	want(ERROR_INVALID_VALUE, cudaFuncGetParamInfo(FILL, 2, &off, &bytes));
	ok(cudaGetFuncBySymbol(&f, FILL));
	ts_check(f);
	want(ERROR_INVALID_DEVICE_FUNCTION, cudaGetFuncBySymbol(&f, NOBODY));
	ok(cudaGetKernel(&kernel, FILL));
	ts_check(kernel);
	want(ERROR_INVALID_DEVICE_FUNCTION, cudaGetKernel(&kernel, NOBODY));
	ok(cudaKernelSetAttributeForDevice(kernel,
					   TS_CUDA_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_MEMORY_SIZE,
					   1024, 0));
	want(ERROR_INVALID_DEVICE, cudaKernelSetAttributeForDevice(kernel, 8, 1024, 99));
	ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, FILL, 128, 0));
	ts_check(n >= 4);
	want(ERROR_INVALID_RESOURCE_HANDLE,
	     cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, NOBODY, 128, 0));
	ok(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, FILL, 128, 0, 0));
	want(ERROR_INVALID_VALUE,
	     cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, FILL, 128, 0, 1 << 9));
	ok(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, FILL, 1, 128));
	ts_check(bytes >= 1024);
	want(ERROR_INVALID_RESOURCE_HANDLE,
	     cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, NOBODY, 1, 128));
}

CONFORM(symbols)
{
	uint32_t got = 0, set = 43;
	size_t bytes = 0;
	void *address;

	program_begin();
	ok(cudaGetSymbolAddress(&address, ANSWER));
	want(ERROR_INVALID_SYMBOL, cudaGetSymbolAddress(&address, NOBODY));
	ok(cudaGetSymbolSize(&bytes, ANSWER));
	ts_check_int(bytes, 4);
	want(ERROR_INVALID_SYMBOL, cudaGetSymbolSize(&bytes, NOBODY));
	ok(cudaMemcpyFromSymbol(&got, ANSWER, 4, 0, TS_CUDA_MEMCPY_DEVICE_TO_HOST));
	ts_check_int(got, 42);
	want(ERROR_INVALID_SYMBOL,
	     cudaMemcpyFromSymbol(&got, NOBODY, 4, 0, TS_CUDA_MEMCPY_DEVICE_TO_HOST));
	ok(cudaMemcpyToSymbol(ANSWER, &set, 4, 0, TS_CUDA_MEMCPY_HOST_TO_DEVICE));
	want(ERROR_INVALID_VALUE,
	     cudaMemcpyToSymbol(ANSWER, &set, 4, 4, TS_CUDA_MEMCPY_HOST_TO_DEVICE));
	ok(cudaMemcpyFromSymbolAsync(&got, ANSWER, 4, 0, TS_CUDA_MEMCPY_DEVICE_TO_HOST, NULL));
	want(ERROR_INVALID_SYMBOL,
	     cudaMemcpyFromSymbolAsync(&got, NOBODY, 4, 0, TS_CUDA_MEMCPY_DEVICE_TO_HOST, NULL));
	ok(cudaStreamSynchronize(NULL));
	ts_check_int(got, 43);
	set = 44;
	ok(cudaMemcpyToSymbolAsync(ANSWER, &set, 4, 0, TS_CUDA_MEMCPY_HOST_TO_DEVICE, NULL));
	want(ERROR_INVALID_MEMCPY_DIRECTION,
	     cudaMemcpyToSymbolAsync(ANSWER, &set, 4, 0, TS_CUDA_MEMCPY_DEVICE_TO_HOST, NULL));
	ok(cudaMemcpy(&got, address, 4, TS_CUDA_MEMCPY_DEFAULT));
	ts_check_int(got, 44);
}

CONFORM(libraries)
{
	char path[] = "/tmp/conform-ptx-XXXXXX";
	int fd = mkstemp(path);
	void *library, *kernel, *all[2], *address;
	size_t bytes;
	uint32_t n;

	ts_check(write(fd, conform_ptx, sizeof(conform_ptx)) > 0);
	close(fd);
	ok(cudaLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
	unlink(path);
	want(ERROR_FILE_NOT_FOUND,
	     cudaLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
	ok(cudaLibraryUnload(library));
	want(ERROR_INVALID_RESOURCE_HANDLE, cudaLibraryUnload(NULL));
	ok(cudaLibraryLoadData(&library, conform_ptx, NULL, NULL, 0, NULL, NULL, 0));
	want(ERROR_INVALID_VALUE,
	     cudaLibraryLoadData(&library, NULL, NULL, NULL, 0, NULL, NULL, 0));
	ok(cudaLibraryGetKernel(&kernel, library, "fill"));
	want(ERROR_SYMBOL_NOT_FOUND, cudaLibraryGetKernel(&kernel, library, "absent"));
	ok(cudaLibraryGetKernelCount(&n, library));
	ts_check_int(n, 2);
	want(ERROR_INVALID_VALUE, cudaLibraryGetKernelCount(NULL, library));
	ok(cudaLibraryEnumerateKernels(all, 2, library));
	want(ERROR_INVALID_VALUE, cudaLibraryEnumerateKernels(NULL, 2, library));
	ok(cudaLibraryGetGlobal(&address, &bytes, library, "answer"));
	ts_check_int(bytes, 4);
	want(ERROR_SYMBOL_NOT_FOUND, cudaLibraryGetGlobal(&address, &bytes, library, "absent"));
	want(ERROR_SYMBOL_NOT_FOUND, cudaLibraryGetManaged(&address, &bytes, library, "absent"));
	ok(cudaMalloc(&out, 4096));
	ok(cudaLaunchKernel(kernel, one, warp, args, 0, NULL));
	ts_check_int(first(), 7);
	ok(cudaLibraryUnload(library));
}

CONFORM(managed_variables_of_libraries)
{
	static const char ptx[] =
		".version 8.0\n.target sm_75\n.address_size 64\n"
		".visible .global .attribute(.managed) .align 8 .u64 shared = 5;\n";
	void *library, *address;
	size_t bytes;

	ok(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	ok(cudaLibraryGetManaged(&address, &bytes, library, "shared"));
	ts_check(bytes == 8 && *(uint64_t *)address == 5);
}
