// SPDX-License-Identifier: Apache-2.0
/* HIP's functions over the virtual GPU: errors, devices, memory, code, streams, graphs. */
#include <dlfcn.h>

#include "test/unit/vgpu/hip/hip-test.h"

static const char saxpy_stub, missing_stub, amd_stub;
static float x[N], y[N], back[N];

/* y = 2 x + y, in memory that the caller frees. */
static void make_vectors(float **dev_x, float **dev_y)
{
	for (uint32_t i = 0; i < N; i++) {
		x[i] = (float)i;
		y[i] = 1;
	}
	ok(hipMalloc((void **)dev_x, sizeof(x)));
	ok(hipMalloc((void **)dev_y, sizeof(y)));
	ok(hipMemcpy(*dev_x, x, sizeof(x), TS_HIP_MEMCPY_HOST_TO_DEVICE));
	ok(hipMemcpy(*dev_y, y, sizeof(y), TS_HIP_MEMCPY_DEFAULT));
}

static void check_saxpy(float *dev_y, int launches)
{
	ok(hipMemcpyDtoH(back, dev_y, sizeof(back)));
	for (uint32_t i = 0; i < N; i++)
		ts_check(back[i] == 1 + (float)launches * 2 * (float)i);
}

TS_TEST(each_call_replaces_the_last_error)
{
	const char *text;

	want(INVALID_DEVICE, hipSetDevice(99));
	want(INVALID_DEVICE, hipPeekAtLastError());
	want(INVALID_DEVICE, hipGetLastError());
	ok(hipGetLastError());
	want(INVALID_DEVICE, hipSetDevice(99));
	want(INVALID_DEVICE, hipExtGetLastError());
	want(INVALID_DEVICE, hipSetDevice(99));
	/* ROCm 6: a success, too. */
	ok(hipSetDevice(0));
	ok(hipGetLastError());
	want(INVALID_VALUE, hipMalloc(NULL, 1));
	want(INVALID_VALUE, hipGetLastError());
	ts_check_str(hipGetErrorName(209), "hipErrorNoBinaryForGpu");
	ts_check_str(hipGetErrorString(2), "out of memory");
	ts_check_str(hipGetErrorName(12345), "hipErrorUnknown");
	ok(hipDrvGetErrorName(1, &text));
	ts_check_str(text, "hipErrorInvalidValue");
	want(INVALID_VALUE, hipDrvGetErrorString(1, NULL));
}

TS_TEST(devices)
{
	struct ts_hip_device_prop_r0600 prop;
	struct ts_hip_device_prop_r0000 old;
	int32_t n, value, version;
	size_t free_bytes, total;
	char name[256];

	ok(hipInit(0));
	want(INVALID_VALUE, hipInit(1));
	ok(hipGetDeviceCount(&n));
	ts_check_int(n, 2);
	want(INVALID_VALUE, hipGetDeviceCount(NULL));
	ok(hipGetDevicePropertiesR0600(&prop, 1));
	ok(hipGetDevicePropertiesR0000(&old, 1));
	want(INVALID_DEVICE, hipGetDevicePropertiesR0600(&prop, 2));
	want(INVALID_VALUE, hipGetDevicePropertiesR0000(NULL, 0));
	ts_check_str(prop.gcn_arch_name, "gfx942:sramecc+:xnack-");
	ts_check_str(prop.name, "TraceSmith Virtual GPU (MI300X shape)");
	ts_check_str(old.name, prop.name);
	ts_check_str(old.gcn_arch_name, prop.gcn_arch_name);
	ts_check_int(prop.warp_size, 32);
	ts_check_int(prop.multi_processor_count, 304);
	ts_check_int(old.multi_processor_count, 304);
	ts_check_int(old.max_threads_dim[2], prop.max_threads_dim[2]);
	ts_check_int(prop.clock_rate, 2100000);
	ts_check(prop.total_global_mem == old.total_global_mem);
	ok(hipDeviceGetAttribute(&value, TS_HIP_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
	ts_check_int(value, 32);
	ok(hipDeviceGetAttribute(&value, TS_HIP_DEVICE_ATTRIBUTE_IS_LARGE_BAR, 0));
	ts_check_int(value, 0);
	want(INVALID_VALUE, hipDeviceGetAttribute(&value, 5000, 0));
	want(INVALID_DEVICE, hipDeviceGetAttribute(&value, 5000, 9));
	ok(hipDeviceGetName(name, sizeof(name), 0));
	ts_check_str(name, prop.name);
	ok(hipRuntimeGetVersion(&version));
	ts_check_int(version / 100000, 602);
	ok(hipMemGetInfo(&free_bytes, &total));
	ts_check(total == prop.total_global_mem);
	ok(hipSetDevice(1));
	ok(hipGetDevice(&n));
	ts_check_int(n, 1);
	want(NOT_SUPPORTED, hipProfilerStart());
}

TS_TEST(memory)
{
	struct ts_hip_pointer_attributes attributes;
	void *device, *host, *managed;
	uint8_t bytes[64];

	ok(hipMalloc(&device, 0));
	ts_check(!device);
	want(OUT_OF_MEMORY, hipMalloc(&device, (size_t)1 << 50));
	ok(hipMalloc(&device, 4096));
	/* Flags that CUDA lacks. */
	ok(hipHostMalloc(&host, 4096, TS_HIP_HOST_MALLOC_COHERENT | TS_HIP_HOST_MALLOC_NUMA_USER));
	want(INVALID_VALUE,
	     hipHostMalloc(&managed, 64,
			   TS_HIP_HOST_MALLOC_COHERENT | TS_HIP_HOST_MALLOC_NON_COHERENT));
	ok(hipMallocManaged(&managed, 4096, TS_HIP_MEM_ATTACH_GLOBAL));
	ok(hipPointerGetAttributes(&attributes, device));
	ts_check_int(attributes.type, TS_HIP_MEMORY_TYPE_DEVICE);
	ts_check(attributes.device_pointer == device && !attributes.host_pointer);
	ok(hipPointerGetAttributes(&attributes, (char *)host + 8));
	ts_check_int(attributes.type, TS_HIP_MEMORY_TYPE_HOST);
	ok(hipPointerGetAttributes(&attributes, managed));
	ts_check_int(attributes.type, TS_HIP_MEMORY_TYPE_MANAGED);
	ts_check_int(attributes.is_managed, 1);
	ok(hipPointerGetAttributes(&attributes, bytes));
	ts_check_int(attributes.type, TS_HIP_MEMORY_TYPE_UNREGISTERED);
	ts_check_int(attributes.device, -2);
	want(INVALID_VALUE, hipPointerGetAttributes(&attributes, NULL));
	ok(hipMemset(device, 7, 64));
	ok(hipMemsetD16(device, 0x0102, 4));
	ok(hipMemcpyAsync(bytes, device, 64, TS_HIP_MEMCPY_DEVICE_TO_HOST, NULL));
	ok(hipStreamSynchronize(NULL));
	ts_check(bytes[0] == 2 && bytes[1] == 1 && bytes[7] == 1 && bytes[8] == 7 &&
		 bytes[63] == 7);
	ok(hipMemcpyWithStream((char *)device + 64, device, 64,
			       TS_HIP_MEMCPY_DEVICE_TO_DEVICE_NO_CU, NULL));
	ok(hipMemcpy_spt(bytes, (char *)device + 64, 64, TS_HIP_MEMCPY_DEVICE_TO_HOST));
	ts_check(bytes[0] == 2 && bytes[63] == 7);
	want(INVALID_MEMCPY_DIRECTION, hipMemcpy(bytes, device, 1, 17));
	ok(hipFree(device));
	want(INVALID_VALUE, hipFree(device));
	ok(hipHostFree(host));
	ok(hipFree(managed));
	want(NOT_SUPPORTED, hipMallocArray(NULL, NULL, 1, 1, 0));
}

TS_TEST(parameters_of_copies_are_converted)
{
	struct ts_hip_memcpy2d copy = {0};
	struct ts_hip_drv_memcpy3d copy_3d = {0};
	uint8_t in[64], out[64] = {0};
	void *device;

	for (uint8_t i = 0; i < 64; i++)
		in[i] = i;
	ok(hipMalloc(&device, 64));
	copy = (struct ts_hip_memcpy2d){
		.src_memory_type = TS_HIP_MEMORY_TYPE_HOST,
		.src_host = in,
		.src_pitch = 8,
		.dst_memory_type = TS_HIP_MEMORY_TYPE_DEVICE,
		.dst_device = device,
		.dst_pitch = 8,
		.width_in_bytes = 8,
		.height = 8,
	};
	ok(hipMemcpyParam2D(&copy));
	copy_3d = (struct ts_hip_drv_memcpy3d){
		.src_memory_type = TS_HIP_MEMORY_TYPE_UNIFIED,
		.src_device = device,
		.src_pitch = 8,
		.src_height = 4,
		.dst_memory_type = TS_HIP_MEMORY_TYPE_HOST,
		.dst_host = out,
		.dst_pitch = 8,
		.dst_height = 4,
		.width_in_bytes = 8,
		.height = 4,
		.depth = 2,
	};
	ok(hipDrvMemcpy3D(&copy_3d));
	ts_check(!memcmp(in, out, 64));
	copy.src_memory_type = TS_HIP_MEMORY_TYPE_ARRAY;
	ts_check(hipMemcpyParam2D(&copy) != TS_HIP_SUCCESS);
	ok(hipFree(device));
}

TS_TEST(registered_kernels)
{
	void *bundle = hip_bundle_new(HIP_BUNDLE_PTX, gpu_ptx);
	void **handle = register_kernel(bundle, &saxpy_stub, "saxpy");
	struct ts_hip_func_attributes attributes;
	float *dev_x, *dev_y, a = 2;
	uint32_t n = N;
	void *arguments[] = {&n, &a, &dev_x, &dev_y}, *function;
	struct ts_hip_dim3 grid, block;
	int32_t blocks, threads;
	size_t shared;
	void *stream;

	make_vectors(&dev_x, &dev_y);
	ok(hipLaunchKernel(&saxpy_stub, GRID, BLOCK, arguments, 0, NULL));
	/* As the stubs of hipcc's <<<>>>. */
	ok(__hipPushCallConfiguration(GRID, BLOCK, 0, TS_HIP_STREAM_PER_THREAD));
	ok(__hipPopCallConfiguration(&grid, &block, &shared, &stream));
	ts_check(grid.x == GRID.x && block.x == 256 && stream == TS_HIP_STREAM_PER_THREAD);
	want(MISSING_CONFIGURATION, __hipPopCallConfiguration(&grid, &block, &shared, &stream));
	ok(hipLaunchKernel_spt(&saxpy_stub, grid, block, arguments, shared, NULL));
	ok(hipStreamSynchronize_spt(NULL));
	ok(hipLaunchCooperativeKernel(&saxpy_stub, GRID, BLOCK, arguments, 0, NULL));
	/* The form of HIP's first years. */
	ok(hipConfigureCall(GRID, BLOCK, 0, NULL));
	ok(hipSetupArgument(&n, 4, 0));
	ok(hipSetupArgument(&a, 4, 4));
	ok(hipSetupArgument(&dev_x, 8, 8));
	ok(hipSetupArgument(&dev_y, 8, 16));
	ok(hipLaunchByPtr(&saxpy_stub));
	want(MISSING_CONFIGURATION, hipLaunchByPtr(&saxpy_stub));
	check_saxpy(dev_y, 4);
	ts_check_str(hipKernelNameRefByPtr(&saxpy_stub, NULL), "saxpy");
	ok(hipGetFuncBySymbol(&function, &saxpy_stub));
	ts_check_str(hipKernelNameRef(function), "saxpy");
	ok(hipFuncGetAttributes(&attributes, &saxpy_stub));
	ts_check_int(attributes.max_threads_per_block, 1024);
	ok(hipOccupancyMaxPotentialBlockSize(&blocks, &threads, &saxpy_stub, 0, 0));
	ts_check(blocks > 0 && threads > 0);
	want(INVALID_CONFIGURATION,
	     hipLaunchKernel(&saxpy_stub, GRID, (struct ts_hip_dim3){2048, 1, 1}, arguments, 0,
			     NULL));
	want(INVALID_DEVICE_FUNCTION, hipLaunchKernel(NULL, GRID, BLOCK, arguments, 0, NULL));
	ok(hipFree(dev_x));
	ok(hipFree(dev_y));
	__hipUnregisterFatBinary(handle);
	free(bundle);
}

TS_TEST(code_for_amd_only_is_refused)
{
	void *amd = hip_bundle_new(HIP_BUNDLE_AMD, "\177ELF of an AMD GPU");
	void *ptx = hip_bundle_new(HIP_BUNDLE_PTX, gpu_ptx);
	void *module;

	register_kernel(amd, &amd_stub, "saxpy");
	register_kernel(ptx, &missing_stub, "no_such_kernel");
	want(NO_BINARY_FOR_GPU, hipLaunchKernel(&amd_stub, GRID, BLOCK, NULL, 0, NULL));
	want(NO_BINARY_FOR_GPU, hipGetLastError());
	want(INVALID_DEVICE_FUNCTION, hipLaunchKernel(&missing_stub, GRID, BLOCK, NULL, 0, NULL));
	want(NO_BINARY_FOR_GPU, hipModuleLoadData(&module, amd));
	want(NO_BINARY_FOR_GPU, hipModuleLoadData(&module, "\177ELF: a code object"));
	/* A compressed bundle of a version that does not exist. */
	want(INVALID_IMAGE, hipModuleLoadData(&module, "CCOB: a compressed bundle of code"));
	want(INVALID_VALUE, hipModuleLoadData(&module, NULL));
	want(FILE_NOT_FOUND, hipModuleLoad(&module, "/nonexistent/module.co"));
	free(amd);
	free(ptx);
}

/* Writes a bundle's first n_bytes into a file, and loads it as a module. */
static int load_file(const void *bundle, size_t n_bytes)
{
	char path[] = "/tmp/ts-hip-XXXXXX";
	int fd = mkstemp(path), r;
	void *module;

	ts_check(write(fd, bundle, n_bytes) == (ssize_t)n_bytes);
	close(fd);
	r = hipModuleLoad(&module, path);
	unlink(path);
	return r;
}

TS_TEST(modules)
{
	void *bundle = hip_bundle_new(HIP_BUNDLE_PTX, gpu_ptx);
	void *module, *function, *start, *stop, *nvptx;
	float *dev_x, *dev_y, a = 2, ms = -1;
	uint32_t n = N;
	void *arguments[] = {&n, &a, &dev_x, &dev_y};
	struct {
		uint32_t n;
		float a;
		float *x, *y;
	} packed;
	size_t n_packed = sizeof(packed);
	void *extra[] = {TS_HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed,
			 TS_HIP_LAUNCH_PARAM_BUFFER_SIZE, &n_packed, TS_HIP_LAUNCH_PARAM_END};
	size_t n_head = sizeof(struct ts_hip_bundle) + 2 * sizeof(struct ts_hip_bundle_entry) +
			strlen(HIP_BUNDLE_HOST) + strlen(HIP_BUNDLE_PTX);

	make_vectors(&dev_x, &dev_y);
	packed.n = N;
	packed.a = 2;
	packed.x = dev_x;
	packed.y = dev_y;
	ok(hipModuleLoadData(&module, gpu_ptx));
	ok(hipModuleUnload(module));
	nvptx = hip_bundle_new("hip-nvptx64-nvidia-cuda--sm_75", gpu_ptx);
	ok(hipModuleLoadData(&module, nvptx));
	ok(hipModuleUnload(module));
	free(nvptx);
	ok(hipModuleLoadData(&module, bundle));
	want(NOT_FOUND, hipModuleGetFunction(&function, module, "no_such_kernel"));
	ok(hipModuleGetFunction(&function, module, "saxpy"));
	ok(hipEventCreate(&start));
	ok(hipEventCreate(&stop));
	ok(hipModuleLaunchKernel(function, GRID.x, 1, 1, 256, 1, 1, 0, NULL, arguments, NULL));
	ok(hipModuleLaunchKernel(function, GRID.x, 1, 1, 256, 1, 1, 0, NULL, NULL, extra));
	ok(hipExtModuleLaunchKernel(function, GRID.x * 256, 1, 1, 256, 1, 1, 0, NULL, arguments,
				    NULL, start, stop, 0));
	want(NOT_SUPPORTED, hipHccModuleLaunchKernel(function, N, 1, 1, 256, 1, 1, 0, NULL,
						     arguments, NULL, NULL, NULL));
	check_saxpy(dev_y, 3);
	ok(hipEventElapsedTime(&ms, start, stop));
	ts_check(ms > 0);
	ok(load_file(bundle, n_head + strlen(gpu_ptx)));
	/* A file that ends early: inside the head, the entries, the code. */
	for (size_t end = 1; end < n_head + strlen(gpu_ptx); end += end < n_head ? 1 : 300)
		ts_check(load_file(bundle, end) != TS_HIP_SUCCESS);
	ok(hipModuleUnload(module));
	ok(hipFree(dev_x));
	ok(hipFree(dev_y));
	free(bundle);
}

static void *callback_stream;

static void on_callback(void *stream, int32_t status, void *data)
{
	callback_stream = stream;
	*(int32_t *)data = status;
}

TS_TEST(streams_and_events)
{
	void *stream, *event, *other;
	int32_t device = 99, status = 99, low, high;
	uint32_t flags;
	float ms;

	ok(hipDeviceGetStreamPriorityRange(&low, &high));
	ok(hipStreamCreateWithPriority(&stream, TS_HIP_STREAM_NON_BLOCKING, high));
	ok(hipStreamGetFlags(stream, &flags));
	ts_check_int(flags, TS_HIP_STREAM_NON_BLOCKING);
	ok(hipStreamGetDevice(stream, &device));
	ts_check_int(device, 0);
	ts_check_int(hipGetStreamDeviceId(stream), 0);
	/* Flags that CUDA lacks. */
	ok(hipEventCreateWithFlags(&event, TS_HIP_EVENT_DISABLE_SYSTEM_FENCE |
						   TS_HIP_EVENT_RELEASE_TO_SYSTEM));
	ok(hipEventCreate(&other));
	want(INVALID_HANDLE, hipEventElapsedTime(&ms, event, other));
	ok(hipEventRecord(event, stream));
	ok(hipStreamWaitEvent(NULL, event, 0));
	ok(hipStreamAddCallback(stream, (void *)(uintptr_t)on_callback, &status, 0));
	ok(hipStreamSynchronize(stream));
	ts_check(callback_stream == stream);
	ts_check_int(status, TS_HIP_SUCCESS);
	ok(hipStreamQuery(stream));
	ok(hipEventQuery(event));
	ok(hipEventDestroy(event));
	ok(hipEventDestroy(other));
	ok(hipStreamDestroy(stream));
	want(CONTEXT_IS_DESTROYED, hipStreamSynchronize(stream));
	want(CONTEXT_IS_DESTROYED, hipStreamDestroy(stream));
	want(INVALID_HANDLE, hipStreamDestroy(NULL));
	want(INVALID_HANDLE, hipMallocAsync(&other, 64, stream));
	want(INVALID_VALUE, hipEventElapsedTime(NULL, NULL, NULL));
	want(NOT_SUPPORTED, hipStreamWaitValue32(NULL, NULL, 0, 0, 0));
}

TS_TEST(graphs)
{
	void *bundle = hip_bundle_new(HIP_BUNDLE_PTX, gpu_ptx);
	void **handle = register_kernel(bundle, &saxpy_stub, "saxpy");
	float *dev_x, *dev_y, a = 2;
	uint32_t n = N;
	void *arguments[] = {&n, &a, &dev_x, &dev_y};
	struct ts_hip_kernel_node_params kernel = {
		.block_dim = BLOCK,
		.func = (void *)(uintptr_t)&saxpy_stub,
		.grid_dim = GRID,
		.kernel_params = arguments,
	};
	struct ts_hip_memset_params set = {.element_size = 4,
					   .height = 1,
					   .value = 0x3f800000,
					   .width = N};
	struct ts_hip_kernel_node_params got;
	struct ts_hip_memset_params got_set;
	void *graph, *exec, *first, *second, *stream;
	int32_t type, status;
	uint64_t id;
	size_t n_nodes;

	make_vectors(&dev_x, &dev_y);
	set.dst = dev_y;
	ok(hipGraphCreate(&graph, 0));
	ok(hipGraphAddMemsetNode(&first, graph, NULL, 0, &set));
	ok(hipGraphAddKernelNode(&second, graph, &first, 1, &kernel));
	ok(hipGraphNodeGetType(second, &type));
	ts_check_int(type, 0);
	ok(hipGraphKernelNodeGetParams(second, &got));
	ts_check(got.grid_dim.x == GRID.x && got.block_dim.x == 256);
	ts_check(got.func == kernel.func);
	ok(hipGraphMemsetNodeGetParams(first, &got_set));
	ts_check(got_set.dst == dev_y && got_set.width == N && got_set.value == 0x3f800000 &&
		 got_set.element_size == 4);
	ok(hipGraphGetNodes(graph, NULL, &n_nodes));
	ts_check_int(n_nodes, 2);
	ok(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	ok(hipGraphLaunch(exec, NULL));
	ok(hipGraphLaunch(exec, NULL));
	check_saxpy(dev_y, 1);
	ok(hipGraphExecDestroy(exec));
	ok(hipGraphDestroy(graph));

	ok(hipStreamCreate(&stream));
	ok(hipStreamBeginCapture(stream, TS_HIP_STREAM_CAPTURE_MODE_RELAXED));
	ok(hipStreamGetCaptureInfo(stream, &status, &id));
	ts_check_int(status, TS_HIP_STREAM_CAPTURE_STATUS_ACTIVE);
	ok(hipLaunchKernel(&saxpy_stub, GRID, BLOCK, arguments, 0, stream));
	ok(hipStreamEndCapture(stream, &graph));
	ok(hipGraphInstantiateWithFlags(&exec, graph, 0));
	ok(hipGraphLaunch(exec, stream));
	ok(hipStreamSynchronize(stream));
	check_saxpy(dev_y, 2);
	ok(hipGraphExecDestroy(exec));
	ok(hipGraphDestroy(graph));
	ok(hipStreamDestroy(stream));
	ok(hipFree(dev_x));
	ok(hipFree(dev_y));
	__hipUnregisterFatBinary(handle);
	free(bundle);
}

TS_TEST(virtual_memory)
{
	struct ts_hip_mem_allocation_prop prop = {.type = 1, .location = {1, 0}};
	struct ts_hip_mem_access_desc access = {.location = {1, 0}, .flags = 3};
	void *base, *memory;
	size_t granularity;
	uint8_t byte = 0;

	ok(hipMemGetAllocationGranularity(&granularity, &prop, 0));
	ok(hipMemAddressReserve(&base, granularity, 0, NULL, 0));
	ok(hipMemCreate(&memory, granularity, &prop, 0));
	ok(hipMemMap(base, granularity, 0, memory, 0));
	ok(hipMemSetAccess(base, granularity, &access, 1));
	ok(hipMemset(base, 5, granularity));
	ok(hipMemcpyDtoH(&byte, (char *)base + granularity - 1, 1));
	ts_check_int(byte, 5);
	ok(hipMemUnmap(base, granularity));
	ok(hipMemRelease(memory));
	ok(hipMemAddressFree(base, granularity));
}

/* Programs are linked against these versions of the symbols. */
TS_TEST(symbols_have_amds_versions)
{
	static const char *const symbols[][2] = {
		{"hipMalloc", "hip_4.2"},
		{"hipMallocAsync", "hip_5.1"},
		{"hipMemcpy_spt", "hip_5.2"},
		{"hipRegisterTracerCallback", "hip_5.3"},
		{"hipGetDevicePropertiesR0600", "hip_6.0"},
		{"hipGetProcAddress", "hip_6.1"},
		{"hipGetFuncBySymbol", "hip_6.2"},
	};
	void *library = dlopen("libamdhip64.so.6", RTLD_NOW), *found;
	int32_t status;

	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		ts_check(dlvsym(library, symbols[i][0], symbols[i][1]));
		ok(hipGetProcAddress(symbols[i][0], &found, 602, 0, &status));
		ts_check(found == dlsym(library, symbols[i][0]));
		ts_check_int(status, 0);
	}
	/* libamdhip64 exports no function of the driver and the runtime that it contains. */
	ts_check(!dlsym(library, "cuInit") && !dlsym(library, "cudaMalloc"));
	ts_check(!dlsym(library, "impl_hipMalloc"));
	want(INVALID_VALUE, hipGetProcAddress("hipNoSuchFunction", &found, 602, 0, &status));
	ts_check_int(status, 1);
}
