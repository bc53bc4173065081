// SPDX-License-Identifier: Apache-2.0
/*
 * Tests libcuda as programs use it: contexts, modules, launches, memory, streams and events, stale
 * handles, errors.
 */
#include <pthread.h>
#include <time.h>

#include "proto/abi/vendor/cuda_driver.h"
#include "test/unit/harness.h"
#include "tools/vgpu/cudart/driver_api.h"

static const char ptx[] =
	".version 8.0\n.target sm_75\n.address_size 64\n"
	".visible .global .align 4 .u32 answer = 42;\n"
	".visible .entry scale(.param .u64 a, .param .f32 b, .param .u32 c)\n"
	".maxntid 256, 1, 1\n{ .shared .align 4 .b8 s[1024]; st.shared.u32 [s+1020], 0; ret; }\n"
	".visible .entry empty() { ret; }\n";

static uint64_t at_of(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

#define ok(call) ts_check_int(call, TS_CU_SUCCESS)

static void *begin(const char *spec)
{
	void *context;

	setenv("TRACESMITH_VGPU", spec, 1);
	ok(cuInit(0));
	ok(cuDevicePrimaryCtxRetain(&context, 0));
	ok(cuCtxSetCurrent(context));
	return context;
}

static void *function(const char *name)
{
	void *module, *f;

	ok(cuModuleLoadData(&module, ptx));
	ok(cuModuleGetFunction(&f, module, name));
	return f;
}

/* cuCtxCreate_v4() accepts empty CUctxCreateParams, which programs with CUDA 13's headers pass. */
TS_TEST(a_context_is_created_by_empty_parameters)
{
	struct {
		void *affinity;
		int32_t n;
		void *cig;
	} params = {NULL, 0, NULL};
	void *context, *current;

	setenv("TRACESMITH_VGPU", "small", 1);
	ok(cuInit(0));
	ok(cuCtxCreate_v4(&context, &params, 0, 0));
	ok(cuCtxGetCurrent(&current));
	ts_check(current == context);
	params.cig = &params;
	ts_check_int(cuCtxCreate_v4(&context, &params, 0, 0), TS_CU_ERROR_NOT_SUPPORTED);
	params.cig = NULL;
	params.n = 1;
	ts_check_int(cuCtxCreate_v4(&context, &params, 0, 0), TS_CU_ERROR_NOT_SUPPORTED);
	ok(cuCtxDestroy_v2(current));
}

TS_TEST(nothing_works_before_cuInit_and_without_a_context)
{
	uint64_t address;
	int32_t n;

	ts_check_int(cuDeviceGetCount(&n), TS_CU_ERROR_NOT_INITIALIZED);
	ts_check_int(cuMemAlloc_v2(&address, 16), TS_CU_ERROR_NOT_INITIALIZED);
	ts_check_int(cuInit(1), TS_CU_ERROR_INVALID_VALUE);
	setenv("TRACESMITH_VGPU", "small:3", 1);
	ok(cuInit(0));
	ok(cuDeviceGetCount(&n));
	ts_check_int(n, 3);
	ts_check_int(cuMemAlloc_v2(&address, 16), TS_CU_ERROR_INVALID_CONTEXT);
	ts_check_int(cuDeviceGet(&n, 3), TS_CU_ERROR_INVALID_DEVICE);
	ok(cuDriverGetVersion(&n));
	ts_check_int(n, 13000);
	ok(cuDeviceGetAttribute(&n, TS_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 2));
	ts_check_int(n, 4);
	ts_check_int(cuDeviceGetAttribute(&n, 9999, 0), TS_CU_ERROR_INVALID_VALUE);
}

TS_TEST(a_bad_spec_is_no_device)
{
	setenv("TRACESMITH_VGPU", "tiny", 1);
	ts_check_int(cuInit(0), TS_CU_ERROR_NO_DEVICE);
	ts_check_int(cuInit(0), TS_CU_ERROR_NO_DEVICE);
}

TS_TEST(contexts_stack)
{
	void *primary = begin("small:2"), *again, *other, *current;
	int32_t device, active;
	uint32_t flags;

	ok(cuDevicePrimaryCtxRetain(&again, 0));
	ts_check(again == primary);
	ok(cuCtxCreate_v4(&other, NULL, 0, 1));
	ok(cuCtxGetDevice_v2(&device, NULL));
	ts_check_int(device, 1);
	ok(cuCtxPopCurrent_v2(&current));
	ts_check(current == other);
	ok(cuCtxGetCurrent(&current));
	ts_check(current == primary);
	ok(cuCtxPushCurrent_v2(other));
	ok(cuCtxDestroy_v2(other));
	ts_check_int(cuCtxDestroy_v2(other), TS_CU_ERROR_INVALID_CONTEXT);
	ts_check_int(cuCtxDestroy_v2(primary), TS_CU_ERROR_INVALID_CONTEXT);
	ok(cuCtxGetCurrent(&current));
	ts_check(current == primary);
	ok(cuDevicePrimaryCtxRelease_v2(0));
	ok(cuCtxSynchronize());
	ok(cuDevicePrimaryCtxRelease_v2(0));
	ok(cuDevicePrimaryCtxGetState(0, &flags, &active));
	ts_check_int(active, 0);
	ts_check_int(cuCtxSynchronize(), TS_CU_ERROR_CONTEXT_IS_DESTROYED);
	ts_check_int(cuDevicePrimaryCtxRelease_v2(0), TS_CU_ERROR_INVALID_CONTEXT);
}

TS_TEST(modules_tell_what_they_hold)
{
	void *module, *f, *library, *kernel;
	size_t bytes, off;
	uint64_t address;
	uint32_t value = 0;
	int32_t n;
	const char *name;

	begin("small");
	ok(cuModuleLoadData(&module, ptx));
	ts_check_int(cuModuleGetFunction(&f, module, "absent"), TS_CU_ERROR_NOT_FOUND);
	ok(cuModuleGetFunction(&f, module, "scale"));
	ok(cuFuncGetParamInfo(f, 2, &off, &bytes));
	ts_check(off == 12 && bytes == 4);
	ts_check_int(cuFuncGetParamInfo(f, 3, &off, &bytes), TS_CU_ERROR_INVALID_VALUE);
	ok(cuFuncGetAttribute(&n, TS_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
	ts_check_int(n, 256);
	ok(cuFuncGetAttribute(&n, TS_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, f));
	ts_check_int(n, 1024);
	ok(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 256, 0));
	ts_check_int(n, 4);
	ok(cuModuleGetGlobal_v2(&address, &bytes, module, "answer"));
	ts_check_int(bytes, 4);
	ok(cuMemcpyDtoH_v2(&value, address, 4));
	ts_check_int(value, 42);
	ok(cuModuleUnload(module));
	ts_check_int(cuModuleUnload(module), TS_CU_ERROR_INVALID_HANDLE);
	ts_check_int(cuMemcpyDtoH_v2(&value, address, 4), TS_CU_ERROR_INVALID_VALUE);

	ok(cuLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	ok(cuLibraryGetKernel(&kernel, library, "scale"));
	ok(cuKernelGetName(&name, kernel));
	ts_check_str(name, "scale");
	ok(cuKernelGetFunction(&f, kernel));
	ok(cuFuncGetName(&name, f));
	ts_check_str(name, "scale");
	ok(cuLibraryGetGlobal(&address, &bytes, library, "answer"));
	ok(cuLibraryUnload(library));

	ts_check_int(cuModuleLoadData(&module, "\177ELFxxxx"), TS_CU_ERROR_NO_BINARY_FOR_GPU);
	ts_check_int(cuModuleLoadData(&module, ".version 8.0\nrubbish"), TS_CU_ERROR_INVALID_PTX);
}

TS_TEST(launches_are_checked_and_arguments_copied)
{
	void *f, *args[3], *extra[5];
	uint64_t a = 1;
	float b = 2;
	uint32_t c = 3;
	uint8_t packed[16] = {0};
	size_t packed_bytes = sizeof(packed);

	begin("small");
	f = function("scale");
	args[0] = &a;
	args[1] = &b;
	args[2] = &c;
	ok(cuLaunchKernel(f, 10, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
	extra[0] = TS_CU_LAUNCH_PARAM_BUFFER_POINTER;
	extra[1] = packed;
	extra[2] = TS_CU_LAUNCH_PARAM_BUFFER_SIZE;
	extra[3] = &packed_bytes;
	extra[4] = TS_CU_LAUNCH_PARAM_END;
	ok(cuLaunchKernel(f, 10, 1, 1, 256, 1, 1, 0, NULL, NULL, extra));
	packed_bytes = 15;
	ts_check_int(cuLaunchKernel(f, 10, 1, 1, 256, 1, 1, 0, NULL, NULL, extra),
		     TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuLaunchKernel(f, 10, 1, 1, 257, 1, 1, 0, NULL, args, NULL),
		     TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuLaunchKernel(f, 0, 1, 1, 1, 1, 1, 0, NULL, args, NULL),
		     TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuLaunchKernel(f, 1, 65536, 1, 1, 1, 1, 0, NULL, args, NULL),
		     TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 1 << 20, NULL, args, NULL),
		     TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
		     TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
		     TS_CU_ERROR_INVALID_HANDLE);
	ts_check_int(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, (void *)8, args, NULL),
		     TS_CU_ERROR_INVALID_HANDLE);
	ok(cuLaunchCooperativeKernel(f, 16, 1, 1, 256, 1, 1, 0, NULL, args));
	ts_check_int(cuLaunchCooperativeKernel(f, 17, 1, 1, 256, 1, 1, 0, NULL, args),
		     TS_CU_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
	ok(cuCtxSynchronize());
}

TS_TEST(memory_of_every_kind)
{
	uint64_t device, managed;
	void *pinned, *context = begin("small"), *pool;
	char text[16] = "hello", back[16] = "";
	uint32_t type;
	size_t free_bytes, total;

	ok(cuMemAlloc_v2(&device, 4096));
	ok(cuMemAllocManaged(&managed, 4096, TS_CU_MEM_ATTACH_GLOBAL));
	ok(cuMemHostAlloc(&pinned, 4096, 0));
	ok(cuMemcpyHtoD_v2(device, text, 16));
	ok(cuMemcpyDtoD_v2(managed, device, 16));
	ok(cuMemcpy(at_of(pinned), managed, 16));
	ts_check_str(pinned, "hello");
	ok(cuMemcpyDtoH_v2(back, at_of(pinned), 16));
	ts_check_str(back, "hello");
	/* A direction that contradicts the addresses. */
	ts_check_int(cuMemcpyHtoD_v2(at_of(back), text, 16), TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuMemcpyHtoD_v2(device, (void *)(uintptr_t)device, 16),
		     TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuMemcpyHtoD_v2(device + 4090, text, 16), TS_CU_ERROR_INVALID_VALUE);
	ok(cuMemsetD32_v2(device, 0x64636261, 2));
	ok(cuMemcpyDtoH_v2(back, device, 8));
	ts_check(!memcmp(back, "abcdabcd", 8));

	ok(cuPointerGetAttribute(&type, TS_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device + 5));
	ts_check_int(type, TS_CU_MEMORYTYPE_DEVICE);
	ok(cuPointerGetAttribute(&type, TS_CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at_of(pinned)));
	ts_check_int(type, TS_CU_MEMORYTYPE_HOST);
	ok(cuPointerGetAttribute(&type, TS_CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
	ts_check_int(type, 1);
	ts_check_int(cuPointerGetAttribute(&type, TS_CU_POINTER_ATTRIBUTE_IS_MANAGED, at_of(text)),
		     TS_CU_ERROR_INVALID_VALUE);
	ok(cuPointerGetAttribute(&pool, TS_CU_POINTER_ATTRIBUTE_CONTEXT, device));
	ts_check(pool == context);

	ok(cuMemFree_v2(device));
	ts_check_int(cuMemFree_v2(device), TS_CU_ERROR_INVALID_VALUE);
	ts_check_int(cuMemFree_v2(at_of(pinned)), TS_CU_ERROR_INVALID_VALUE);
	ok(cuMemFree_v2(managed));
	ok(cuMemFreeHost(pinned));
	ok(cuMemGetInfo_v2(&free_bytes, &total));
	ts_check_int(free_bytes, total);
	ts_check_int(cuMemAlloc_v2(&device, total + 1), TS_CU_ERROR_OUT_OF_MEMORY);

	ok(cuMemAllocAsync(&device, total / 2 + 1, NULL));
	ok(cuMemFreeAsync(device, NULL));
	/* The release is queued, and a later allocation may use that memory. */
	ok(cuMemAllocAsync(&device, total / 2 + 1, NULL));
	ok(cuDeviceGetDefaultMemPool(&pool, 0));
	ok(cuMemPoolGetAttribute(pool, TS_CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &free_bytes));
	ts_check_int(free_bytes, total / 2 + 1);
	ok(cuMemFreeAsync(device, NULL));
	ts_check_int(cuMemFreeAsync(device, NULL), TS_CU_ERROR_INVALID_VALUE);
}

TS_TEST(pitched_copies)
{
	struct ts_cu_memcpy_2d c = {0};
	uint8_t from[8][10], to[3][4];
	uint64_t device;
	size_t pitch;

	begin("small");
	for (int y = 0; y < 8; y++)
		for (int x = 0; x < 10; x++)
			from[y][x] = (uint8_t)(y * 10 + x);
	ok(cuMemAllocPitch_v2(&device, &pitch, 10, 8, 4));
	ts_check_int(pitch, 512);
	c.src_memory_type = TS_CU_MEMORYTYPE_HOST;
	c.src_host = from;
	c.src_pitch = 10;
	c.dst_memory_type = TS_CU_MEMORYTYPE_DEVICE;
	c.dst_device = device;
	c.dst_pitch = pitch;
	c.width_in_bytes = 10;
	c.height = 8;
	ok(cuMemcpy2DUnaligned_v2(&c));
	c = (struct ts_cu_memcpy_2d){
		.src_memory_type = TS_CU_MEMORYTYPE_DEVICE,
		.src_device = device,
		.src_pitch = pitch,
		.src_x_in_bytes = 2,
		.src_y = 3,
		.dst_memory_type = TS_CU_MEMORYTYPE_HOST,
		.dst_host = to,
		.dst_pitch = 4,
		.width_in_bytes = 4,
		.height = 3,
	};
	ok(cuMemcpy2DUnaligned_v2(&c));
	for (int y = 0; y < 3; y++)
		ts_check(!memcmp(to[y], &from[y + 3][2], 4));
	c.dst_pitch = 3;
	ts_check_int(cuMemcpy2DUnaligned_v2(&c), TS_CU_ERROR_INVALID_VALUE);
	c.dst_pitch = 4;
	c.src_memory_type = TS_CU_MEMORYTYPE_ARRAY;
	ts_check_int(cuMemcpy2DUnaligned_v2(&c), TS_CU_ERROR_NOT_SUPPORTED);
}

static void count(void *arg)
{
	__atomic_fetch_add((int *)arg, 1, __ATOMIC_RELAXED);
}

static void *own_stream_id(void *context)
{
	uint64_t first, again;

	ok(cuCtxSetCurrent(context));
	ok(cuStreamGetId_ptsz(NULL, &first));
	ok(cuStreamGetId(TS_CU_STREAM_PER_THREAD, &again));
	ts_check(first == again);
	return (void *)(uintptr_t)first;
}

TS_TEST(streams_and_events)
{
	void *context = begin("small"), *s, *e, *f, *other;
	uint64_t legacy_id, id;
	pthread_t thread;
	float ms;
	int n = 0;

	ok(cuStreamCreate(&s, TS_CU_STREAM_NON_BLOCKING));
	ok(cuStreamGetId(NULL, &legacy_id));
	ts_check_int(legacy_id, 7);
	ok(cuStreamGetId(s, &id));
	ts_check(id != legacy_id);
	ts_check_int(pthread_create(&thread, NULL, own_stream_id, context), 0);
	pthread_join(thread, &other);
	ts_check(other != own_stream_id(context) && (uintptr_t)other != legacy_id);

	f = function("empty");
	ok(cuEventCreate(&e, 0));
	ok(cuEventCreate(&other, 0));
	ts_check_int(cuEventElapsedTime_v2(&ms, e, other), TS_CU_ERROR_INVALID_HANDLE);
	ok(cuEventRecord(e, s));
	for (int i = 0; i < 100; i++)
		ok(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, s, NULL, NULL));
	ok(cuEventRecord(other, s));
	ok(cuStreamWaitEvent(NULL, other, 0));
	ok(cuLaunchHostFunc(s, count, &n));
	ok(cuEventSynchronize(other));
	ok(cuEventElapsedTime_v2(&ms, e, other));
	ts_check(ms > 0.1);
	ok(cuStreamSynchronize(s));
	ts_check_int(n, 1);
	ok(cuStreamQuery(s));
	ok(cuStreamDestroy_v2(s));
	ts_check_int(cuStreamDestroy_v2(s), TS_CU_ERROR_INVALID_HANDLE);
	ts_check_int(cuStreamSynchronize(s), TS_CU_ERROR_INVALID_HANDLE);
	ok(cuEventDestroy_v2(other));
	ok(cuEventDestroy_v2(e));
	ts_check_int(cuEventRecord(e, NULL), TS_CU_ERROR_INVALID_HANDLE);
}

TS_TEST(functions_by_name_and_version)
{
	static const struct ts_cu_uuid foreign = {"\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a"};
	const void *table;
	int32_t status;
	void *f, *g;

	ok(cuGetProcAddress_v2("cuMemAlloc", &f, 13000, 0, &status));
	ts_check(f == (void *)cuMemAlloc_v2 && status == TS_CU_GET_PROC_ADDRESS_SUCCESS);
	ok(cuGetProcAddress_v2("cuCtxCreate", &f, 13000, 0, NULL));
	ts_check(f == (void *)cuCtxCreate_v4);
	ok(cuGetProcAddress_v2("cuCtxCreate", &f, 11000, 0, NULL));
	ts_check(f && f != (void *)cuCtxCreate_v4);
	ok(cuGetProcAddress_v2("cuLaunchKernel", &f, 13000, 0, NULL));
	ok(cuGetProcAddress_v2("cuLaunchKernel", &g, 13000,
			       TS_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
	ts_check(f == (void *)cuLaunchKernel && g == (void *)cuLaunchKernel_ptsz);
	ok(cuGetProcAddress_v2("cuTexObjectCreate", &f, 13000, 0, &status));
	ts_check(!f && status == TS_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	ok(cuGetProcAddress_v2("malloc", &f, 13000, 0, NULL));
	ts_check(!f);
	ts_check_int(cuGetProcAddress("malloc", &f, 13000, 0), TS_CU_ERROR_NOT_FOUND);
	ts_check_int(cuGetProcAddress("cuCtxSynchronize", &f, 1000, 0), TS_CU_ERROR_NOT_FOUND);
	ts_check_int(cuGetExportTable(&table, &foreign), TS_CU_ERROR_NOT_SUPPORTED);
}

TS_TEST(a_forked_child_gets_errors)
{
	uint64_t address;
	int status, n;
	pid_t pid;

	begin("small");
	pid = fork();
	ts_check(pid >= 0);
	if (!pid) {
		if (cuInit(0) != TS_CU_ERROR_NOT_INITIALIZED ||
		    cuMemAlloc_v2(&address, 16) != TS_CU_ERROR_NOT_INITIALIZED ||
		    cuDeviceGetCount(&n) != TS_CU_ERROR_NOT_INITIALIZED ||
		    cuCtxSynchronize() != TS_CU_ERROR_NOT_INITIALIZED)
			_exit(1);
#ifdef __SANITIZE_ADDRESS__
		/* The leak checker does not work in a child of a process with threads. */
		_exit(0);
#endif
		/* The child exits normally. */
		exit(0);
	}
	ts_check(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
	ts_check_int(WEXITSTATUS(status), 0);
}

TS_TEST(an_injected_library_is_entered_once)
{
	const char *count_text;

	setenv("CUDA_INJECTION64_PATH", getenv("TS_TEST_INJECTED"), 1);
	begin("small");
	ok(cuInit(0));
	count_text = getenv("TS_TEST_INJECTED_COUNT");
	ts_check_str(count_text, "1 13000");
}

TS_TEST(injecting_what_is_not_there_is_nobodys_business)
{
	setenv("CUDA_INJECTION64_PATH", "/nonexistent.so", 1);
	begin("small");
	ok(cuCtxSynchronize());
}

struct launcher {
	void *context, *function;
	int result;
};

static void *launch(void *arg)
{
	struct launcher *l = arg;
	void *s, *event;
	int r = cuCtxSetCurrent(l->context);

	for (int round = 0; !r && round < 20; round++) {
		r = cuStreamCreate(&s, 0);
		for (int i = 0; !r && i < 200; i++)
			r = cuLaunchKernel(l->function, 1, 1, 1, 32, 1, 1, 0, i % 3 ? s : NULL,
					   NULL, NULL);
		if (!r)
			r = cuEventCreate(&event, 0);
		if (!r)
			r = cuEventRecord(event, s);
		if (!r)
			r = cuStreamDestroy_v2(s);
		if (!r)
			r = cuEventSynchronize(event);
		if (!r)
			r = cuEventDestroy_v2(event);
	}
	l->result = r;
	return NULL;
}

TS_TEST(threads_share_a_context)
{
	struct launcher l[4];
	pthread_t threads[4];
	void *context = begin("ideal");

	for (int i = 0; i < 4; i++) {
		l[i] = (struct launcher){context, function("empty"), -1};
		ts_check_int(pthread_create(&threads[i], NULL, launch, &l[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		ok(l[i].result);
	}
	ok(cuCtxSynchronize());
}

TS_TEST(what_is_not_there_is_refused)
{
	const char *name;
	int32_t status;
	void *f;

	begin("small");
	ok(cuStreamIsCapturing(NULL, &status));
	ts_check_int(status, TS_CU_STREAM_CAPTURE_STATUS_NONE);
	ok(cuGetProcAddress_v2("cuIpcCloseMemHandle", &f, 13000, 0, NULL));
	ts_check_int(((int (*)(uint64_t))f)(4096), TS_CU_ERROR_NOT_SUPPORTED);
	ok(cuGetErrorName(801, &name));
	ts_check_str(name, "CUDA_ERROR_NOT_SUPPORTED");
	ts_check_int(cuGetErrorName(12345, &name), TS_CU_ERROR_INVALID_VALUE);
}
