// SPDX-License-Identifier: Apache-2.0
/* Tests the driver's functions for modules, libraries, kernels, occupancy and launches. */
#include "test/unit/vgpu/generated-driver.h"

static void begin(void)
{
	void *context;

	ok(cuInit(0));
	ok(cuDevicePrimaryCtxRetain(&context, 0));
	ok(cuCtxSetCurrent(context));
}

static void *function(const char *name)
{
	void *module, *f;

	ok(cuModuleLoadData(&module, conform_ptx));
	ok(cuModuleGetFunction(&f, module, name));
	return f;
}

/* Writes the PTX to a file, and returns its name. The caller unlinks the file. */
static const char *file_of_ptx(void)
{
	static char path[] = "/tmp/conform-ptx-XXXXXX";
	int fd = mkstemp(path);

	ts_check(fd >= 0);
	ts_check(write(fd, conform_ptx, strlen(conform_ptx)) == (ssize_t)strlen(conform_ptx));
	close(fd);
	return path;
}

CONFORM(modules)
{
	void *module, *other, *f, *all[2] = {NULL, NULL};
	const char *path = file_of_ptx();
	uint64_t address;
	uint32_t n;
	int32_t mode;
	size_t bytes;

	begin();
	ok(cuModuleLoad(&module, path));
	unlink(path);
	ok(cuModuleUnload(module));
	want(ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, path));
	want(ERROR_INVALID_VALUE, cuModuleLoad(&module, NULL));
	ok(cuModuleLoadData(&module, conform_ptx));
	want(ERROR_INVALID_VALUE, cuModuleLoadData(NULL, conform_ptx));
	want(ERROR_INVALID_VALUE, cuModuleLoadData(&other, NULL));
	want(ERROR_INVALID_PTX, cuModuleLoadData(&other, ".version 8.0\nrubbish"));
	ok(cuModuleLoadDataEx(&other, conform_ptx, 0, NULL, NULL));
	want(ERROR_INVALID_VALUE, cuModuleLoadDataEx(&f, NULL, 0, NULL, NULL));
	ok(cuModuleGetFunction(&f, module, "fill"));
	want(ERROR_NOT_FOUND, cuModuleGetFunction(&f, module, "absent"));
	want(ERROR_INVALID_VALUE, cuModuleGetFunction(&f, module, NULL));
	want(ERROR_INVALID_VALUE, cuModuleGetFunction(NULL, module, "fill"));
	ok(cuModuleGetFunctionCount(&n, module));
	ts_check_int(n, 2);
	want(ERROR_INVALID_VALUE, cuModuleGetFunctionCount(NULL, module));
	ok(cuModuleEnumerateFunctions(all, 2, module));
	ts_check(all[0] && all[1] && all[0] != all[1]);
	want(ERROR_INVALID_VALUE, cuModuleEnumerateFunctions(NULL, 2, module));
	ok(cuModuleGetGlobal_v2(&address, &bytes, module, "answer"));
	ts_check(address && bytes == 4);
	ok(cuModuleGetGlobal_v2(NULL, &bytes, module, "answer"));
	want(ERROR_NOT_FOUND, cuModuleGetGlobal_v2(&address, &bytes, module, "absent"));
	want(ERROR_INVALID_VALUE, cuModuleGetGlobal_v2(&address, &bytes, module, NULL));
	ok(cuModuleGetLoadingMode(&mode));
	ts_check(mode == TS_CU_MODULE_EAGER_LOADING || mode == TS_CU_MODULE_LAZY_LOADING);
	refuses(ERROR_INVALID_VALUE, cuModuleGetLoadingMode(NULL));
	ok(cuModuleUnload(module));
	ok(cuModuleUnload(other));
	want(ERROR_INVALID_HANDLE, cuModuleUnload(NULL));
}

/* Compares the suite's own fatbin with the one of the vendor's tool. */
TS_TEST(a_fatbin_as_fatbinary_writes_it)
{
	const char *tool = getenv("TS_FATBINARY"), *ptx = file_of_ptx();
	struct conform_fatbin ours;
	char command[512], path[64], theirs[sizeof(ours)];
	size_t n;
	FILE *file;

	if (!tool || !*tool) {
		unlink(ptx);
		ts_skip("no fatbinary here");
	}
	snprintf(path, sizeof(path), "%s.fatbin", ptx);
	snprintf(command, sizeof(command),
		 "'%s' --create=%s --64 --compress=false --image3=kind=ptx,sm=75,file=%s", tool,
		 path, ptx);
	ts_check_int(system(command), 0);
	file = fopen(path, "r");
	ts_check(file);
	n = fread(theirs, 1, sizeof(theirs), file);
	fclose(file);
	unlink(path);
	unlink(ptx);
	conform_fatbin(&ours, conform_ptx);
	ts_check_int(n, offsetof(struct conform_fatbin, kind) + ours.bytes);
	ts_check(!memcmp(&ours, theirs, n));
}

CONFORM(a_fatbin_of_ptx)
{
	struct conform_fatbin fatbin;
	void *module, *f;

	conform_fatbin(&fatbin, conform_ptx);
	begin();
	ok(cuModuleLoadFatBinary(&module, &fatbin));
	ok(cuModuleGetFunction(&f, module, "fill"));
	want(ERROR_INVALID_VALUE, cuModuleLoadFatBinary(&module, NULL));
	want(ERROR_INVALID_VALUE, cuModuleLoadFatBinary(NULL, &fatbin));
}

CONFORM(libraries)
{
	void *library, *module, *kernel, *all[2], *owner;
	const char *path = file_of_ptx(), *name;
	uint64_t address;
	size_t bytes;
	uint32_t n;

	begin();
	ok(cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
	unlink(path);
	ok(cuLibraryUnload(library));
	want(ERROR_FILE_NOT_FOUND,
	     cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0));
	ok(cuLibraryLoadData(&library, conform_ptx, NULL, NULL, 0, NULL, NULL, 0));
	want(ERROR_INVALID_VALUE,
	     cuLibraryLoadData(NULL, conform_ptx, NULL, NULL, 0, NULL, NULL, 0));
	want(ERROR_INVALID_VALUE, cuLibraryLoadData(&module, NULL, NULL, NULL, 0, NULL, NULL, 0));
	ok(cuLibraryGetKernelCount(&n, library));
	ts_check_int(n, 2);
	want(ERROR_INVALID_VALUE, cuLibraryGetKernelCount(NULL, library));
	ok(cuLibraryEnumerateKernels(all, 2, library));
	want(ERROR_INVALID_VALUE, cuLibraryEnumerateKernels(NULL, 2, library));
	ok(cuLibraryGetKernel(&kernel, library, "fill"));
	ts_check(kernel == all[0] || kernel == all[1]);
	want(ERROR_NOT_FOUND, cuLibraryGetKernel(&kernel, library, "absent"));
	want(ERROR_INVALID_HANDLE, cuLibraryGetKernel(&kernel, NULL, "fill"));
	ok(cuKernelGetLibrary(&owner, kernel));
	ts_check(owner == library);
	want(ERROR_INVALID_HANDLE, cuKernelGetLibrary(&owner, NULL));
	ok(cuKernelGetName(&name, kernel));
	ts_check_str(name, "fill");
	want(ERROR_INVALID_VALUE, cuKernelGetName(NULL, kernel));
	ok(cuLibraryGetModule(&module, library));
	want(ERROR_INVALID_HANDLE, cuLibraryGetModule(&module, NULL));
	ok(cuLibraryGetGlobal(&address, &bytes, library, "answer"));
	ts_check_int(bytes, 4);
	want(ERROR_NOT_FOUND, cuLibraryGetGlobal(&address, &bytes, library, "absent"));
	want(ERROR_NOT_FOUND, cuLibraryGetManaged(&address, &bytes, library, "absent"));
	ok(cuLibraryUnload(library));
	want(ERROR_INVALID_HANDLE, cuLibraryUnload(NULL));
}

CONFORM(managed_variables_of_libraries)
{
	static const char ptx[] =
		".version 8.0\n.target sm_75\n.address_size 64\n"
		".visible .global .attribute(.managed) .align 8 .u64 shared = 5;\n"
		".visible .entry empty() { ret; }\n";
	void *library;
	uint64_t address;
	size_t bytes;

	begin();
	ok(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	ok(cuLibraryGetManaged(&address, &bytes, library, "shared"));
	ts_check(bytes == 8 && *(uint64_t *)(uintptr_t)address == 5);
	want(ERROR_INVALID_HANDLE, cuLibraryGetManaged(&address, &bytes, NULL, "shared"));
	ok(cuLibraryUnload(library));
}

CONFORM(kernels_and_functions)
{
	void *library, *kernel, *f, *module;
	size_t off, bytes;
	const char *name;
	int32_t n;

	begin();
	ok(cuLibraryLoadData(&library, conform_ptx, NULL, NULL, 0, NULL, NULL, 0));
	ok(cuLibraryGetKernel(&kernel, library, "fill"));
	ok(cuKernelGetFunction(&f, kernel));
	want(ERROR_INVALID_HANDLE, cuKernelGetFunction(&f, NULL));
	want(ERROR_INVALID_VALUE, cuKernelGetFunction(NULL, kernel));
	ok(cuKernelGetParamInfo(kernel, 1, &off, &bytes));
	ts_check(off == 8 && bytes == 4);
	want(ERROR_INVALID_VALUE, cuKernelGetParamInfo(kernel, 2, &off, &bytes));
	ok(cuFuncGetParamInfo(f, 0, &off, &bytes));
	ts_check(off == 0 && bytes == 8);
	want(ERROR_INVALID_VALUE, cuFuncGetParamInfo(f, 2, &off, &bytes));
	ok(cuKernelGetAttribute(&n, TS_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0));
	ts_check_int(n, 256);
	want(ERROR_INVALID_VALUE, cuKernelGetAttribute(&n, 999, kernel, 0));
	want(ERROR_INVALID_DEVICE, cuKernelGetAttribute(&n, 0, kernel, 99));
	ok(cuKernelSetAttribute(TS_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, kernel,
				0));
	want(ERROR_INVALID_VALUE,
	     cuKernelSetAttribute(TS_CU_FUNC_ATTRIBUTE_NUM_REGS, 1, kernel, 0));
	want(ERROR_INVALID_DEVICE,
	     cuKernelSetAttribute(TS_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1, kernel,
				  99));
	ok(cuKernelSetCacheConfig(kernel, TS_CU_FUNC_CACHE_PREFER_L1, 0));
	want(ERROR_INVALID_DEVICE, cuKernelSetCacheConfig(kernel, 0, 99));
	want(ERROR_INVALID_VALUE, cuKernelSetCacheConfig(kernel, 99, 0));
	ok(cuFuncGetModule(&module, f));
	ts_check(module);
	want(ERROR_INVALID_VALUE, cuFuncGetModule(&module, NULL));
	ok(cuFuncGetName(&name, f));
	ts_check_str(name, "fill");
	want(ERROR_INVALID_VALUE, cuFuncGetName(NULL, f));
	ok(cuFuncLoad(f));
	want(ERROR_INVALID_HANDLE, cuFuncLoad(NULL));
	ok(cuFuncIsLoaded(&n, f));
	ts_check_int(n, 1);
	want(ERROR_INVALID_VALUE, cuFuncIsLoaded(NULL, f));
	ok(cuFuncGetAttribute(&n, TS_CU_FUNC_ATTRIBUTE_NUM_REGS, f));
	ts_check(n > 0);
	want(ERROR_INVALID_VALUE, cuFuncGetAttribute(&n, 999, f));
	want(ERROR_INVALID_VALUE, cuFuncGetAttribute(NULL, 0, f));
	want(ERROR_INVALID_HANDLE, cuFuncGetAttribute(&n, 0, NULL));
	ok(cuFuncSetAttribute(f, TS_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
	want(ERROR_INVALID_VALUE,
	     cuFuncSetAttribute(f, TS_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 28));
	want(ERROR_INVALID_VALUE, cuFuncSetAttribute(f, TS_CU_FUNC_ATTRIBUTE_NUM_REGS, 1));
	ok(cuFuncSetCacheConfig(f, TS_CU_FUNC_CACHE_PREFER_SHARED));
	want(ERROR_INVALID_VALUE, cuFuncSetCacheConfig(f, 99));
	want(ERROR_INVALID_HANDLE, cuFuncSetCacheConfig(NULL, 0));
	ok(cuLibraryUnload(library));
}

static size_t no_shared(int block_size)
{
	(void)block_size;
	return 0;
}

CONFORM(occupancy)
{
	int32_t n, grid, block;
	size_t bytes;
	void *f;

	begin();
	f = function("fill");
	ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 128, 0));
	ts_check(n >= 4);
	want(ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, f, 128, 0));
	want(ERROR_INVALID_VALUE, cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 0, 0));
	want(ERROR_INVALID_HANDLE, cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, NULL, 128, 0));
	ok(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, f, 128, 0, 1));
	want(ERROR_INVALID_VALUE,
	     cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, f, 128, 0, 1 << 9));
	ok(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, (void *)no_shared, 0, 0));
	ts_check(grid > 0 && block > 0 && block <= 256);
	ok(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 64));
	ts_check(block <= 64);
	want(ERROR_INVALID_VALUE, cuOccupancyMaxPotentialBlockSize(NULL, &block, f, NULL, 0, 0));
	ok(cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, f, NULL, 0, 0, 0));
	want(ERROR_INVALID_VALUE,
	     cuOccupancyMaxPotentialBlockSizeWithFlags(&grid, NULL, f, NULL, 0, 0, 0));
	ok(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 1, 128));
	ts_check(bytes >= 16384);
	refuses(ERROR_INVALID_VALUE, cuOccupancyAvailableDynamicSMemPerBlock(NULL, f, 1, 128));
}

static uint32_t value_at(uint64_t address)
{
	uint32_t value = 0;

	ok(cuMemcpyDtoH_v2(&value, address, sizeof(value)));
	return value;
}

CONFORM(launches)
{
	struct ts_cu_launch_config config = {1, 1, 1, 32, 1, 1, 0, NULL, NULL, 0};
	uint64_t out;
	uint32_t value = 7;
	void *f, *args[2] = {&out, &value}, *stream;

	begin();
	f = function("fill");
	ok(cuMemAlloc_v2(&out, 4096));
	ok(cuLaunchKernel(f, 1, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
	ts_check_int(value_at(out + 1020), 7);
	value = 8;
	ok(cuLaunchKernelEx(&config, f, args, NULL));
	ts_check_int(value_at(out + 124), 8);
	ts_check_int(value_at(out + 128), 7);
	value = 9;
	ok(cuLaunchCooperativeKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, args));
	ts_check_int(value_at(out + 124), 9);
	want(ERROR_INVALID_VALUE, cuLaunchKernel(f, 0, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
	want(ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 257, 1, 1, 0, NULL, args, NULL));
	want(ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 1 << 28, NULL, args, NULL));
	want(ERROR_INVALID_VALUE, cuLaunchKernel(f, 1, 1 << 16, 1, 32, 1, 1, 0, NULL, args, NULL));
	want(ERROR_INVALID_HANDLE, cuLaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
	want(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
	     cuLaunchCooperativeKernel(f, 1 << 20, 1, 1, 32, 1, 1, 0, NULL, args));
	want(ERROR_INVALID_HANDLE,
	     cuLaunchCooperativeKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, args));
	want(ERROR_INVALID_HANDLE, cuLaunchKernelEx(&config, NULL, args, NULL));
	config.grid_dim_x = 0;
	want(ERROR_INVALID_VALUE, cuLaunchKernelEx(&config, f, args, NULL));
	ok(cuStreamCreate(&stream, TS_CU_STREAM_NON_BLOCKING));
	ok(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL));
	ok(cuStreamSynchronize(stream));
	ok(cuMemFree_v2(out));
}

/* After a kernel's fault every later call returns the fault's error. */
static void fails_with(const char *body, int error)
{
	char ptx[512];
	void *module, *f, *other;
	int r;

	begin();
	snprintf(ptx, sizeof(ptx),
		 ".version 8.0\n.target sm_75\n.address_size 64\n"
		 ".visible .entry wrong() {\n.reg .b64 %%d<4>; .reg .b32 %%r<4>;\n%s\nret;\n}\n",
		 body);
	ok(cuModuleLoadData(&module, ptx));
	ok(cuModuleGetFunction(&f, module, "wrong"));
	ok(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
	r = cuCtxSynchronize();
	conform_check(__FILE__, __LINE__, body, r, error);
	conform_check(__FILE__, __LINE__, "a later call", cuStreamCreate(&other, 0), error);
}

CONFORM(an_address_that_is_nobodys)
{
	fails_with("mov.u64 %d1, 64; st.global.u32 [%d1], 1;", TS_CU_ERROR_ILLEGAL_ADDRESS);
}

CONFORM(a_call_to_no_function)
{
	only_virtual("the vendor's GPU hangs");
	fails_with("mov.u64 %d1, 0;\np: .callprototype _ ();\ncall %d1, (), p;",
		   TS_CU_ERROR_INVALID_PC);
}

CONFORM(a_trap)
{
	fails_with("trap;", TS_CU_ERROR_LAUNCH_FAILED);
}

CONFORM(a_misaligned_address)
{
	static const char ptx[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
				  ".visible .entry odd(.param .u64 p) {\n.reg .b64 %d<2>;\n"
				  "ld.param.u64 %d1, [p]; st.global.u32 [%d1+1], 1; ret; }\n";
	void *module, *f, *args[1];
	uint64_t address;

	begin();
	ok(cuMemAlloc_v2(&address, 64));
	args[0] = &address;
	ok(cuModuleLoadData(&module, ptx));
	ok(cuModuleGetFunction(&f, module, "odd"));
	ok(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	want(ERROR_MISALIGNED_ADDRESS, cuCtxSynchronize());
}

CONFORM(another_contexts_objects)
{
	struct ts_cu_launch_config config = {1, 1, 1, 32, 1, 1, 0, NULL, NULL, 0};
	void *other, *f, *stream, *event, *mine;

	begin();
	only_virtual("the vendor says which error this is for some functions only");
	f = function("empty");
	ok(cuStreamCreate(&mine, 0));
	ok(cuCtxCreate_v4(&other, NULL, 0, 0));
	ok(cuStreamCreate(&stream, 0));
	ok(cuEventCreate(&event, 0));
	/* The launch of a function in a stream of another context fails. */
	want(ERROR_INVALID_HANDLE, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
	config.stream = stream;
	want(ERROR_INVALID_HANDLE, cuLaunchKernelEx(&config, f, NULL, NULL));
	/* In a stream of its own context it runs, whichever context is current. */
	ok(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, mine, NULL, NULL));
	want(ERROR_INVALID_HANDLE, cuEventRecord(event, mine));
	ok(cuEventRecord(event, stream));
	ok(cuStreamWaitEvent(mine, event, 0));
	ok(cuStreamSynchronize(mine));
	ok(cuCtxDestroy_v2(other));
	want(ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
	want(ERROR_INVALID_HANDLE, cuEventQuery(event));
}
