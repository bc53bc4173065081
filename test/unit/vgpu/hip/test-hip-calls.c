// SPDX-License-Identifier: Apache-2.0
/*
 * Each call of HIP that test-hip.c does not need: it does what it is for, with its arguments in
 * HIP's order. The behaviour behind it is the CUDA runtime's, which has tests of its own.
 */
#include "test/unit/vgpu/hip/hip-test.h"

/* A variable and a kernel. */
static const char table_ptx[] = ".version 7.0\n"
				".target sm_75\n"
				".address_size 64\n"
				".visible .global .align 4 .b8 table[64];\n"
				".visible .entry nothing()\n"
				"{\n"
				"	ret;\n"
				"}\n";

static char table_stub;
static const char nothing_stub;
static uint8_t in[256], out[256];

#define ONE ((struct ts_hip_dim3){1, 1, 1})

static void fill(void)
{
	for (unsigned i = 0; i < sizeof(in); i++)
		in[i] = (uint8_t)(i * 3 + 1);
	memset(out, 0, sizeof(out));
}

static void register_table(void)
{
	void **handle = register_kernel(hip_bundle_new(HIP_BUNDLE_PTX, table_ptx), &nothing_stub,
					"nothing");

	register_variable(handle, &table_stub, "table", 64);
}

TS_TEST(contexts)
{
	void *context, *current, *primary;
	uint32_t flags;
	int32_t value, active;

	ok(hipCtxCreate(&context, 0, 1));
	ok(hipCtxGetCurrent(&current));
	ts_check(current == context);
	ok(hipCtxGetDevice(&value));
	ts_check_int(value, 1);
	ok(hipCtxGetFlags(&flags));
	ok(hipCtxGetApiVersion(context, &value));
	ok(hipCtxSetCacheConfig(1));
	ok(hipCtxGetCacheConfig(&value));
	ts_check_int(value, 1);
	ok(hipCtxSetSharedMemConfig(1));
	ok(hipCtxGetSharedMemConfig(&value));
	ts_check_int(value, 1);
	ok(hipCtxSynchronize());
	ok(hipCtxPopCurrent(&current));
	ok(hipCtxPushCurrent(context));
	ok(hipDevicePrimaryCtxRetain(&primary, 0));
	ok(hipDevicePrimaryCtxGetState(0, &flags, &active));
	ts_check_int(active, 1);
	ok(hipCtxEnablePeerAccess(primary, 0));
	ok(hipCtxDisablePeerAccess(primary));
	ok(hipCtxSetCurrent(primary));
	ok(hipCtxDestroy(context));
	ok(hipDevicePrimaryCtxSetFlags(0, TS_HIP_DEVICE_SCHEDULE_YIELD));
	ok(hipDevicePrimaryCtxRelease(0));
	ok(hipDevicePrimaryCtxReset(0));
}

TS_TEST(devices)
{
	struct ts_hip_device_prop_r0000 old;
	struct ts_hip_uuid uuid;
	int32_t value, minor, device;
	size_t bytes, limit;
	uint32_t flags;
	const char *text;
	char bus[32];

	ok(hipDeviceGet(&device, 1));
	ts_check_int(device, 1);
	ok(hipDeviceComputeCapability(&value, &minor, 0));
	ts_check(value == 9 && minor == 4);
	ok(hipDeviceGetUuid(&uuid, 1));
	ts_check(!memcmp(uuid.bytes, "TraceSmith vhip\1", 16));
	ok(hipDeviceTotalMem(&bytes, 0));
	ts_check(bytes == (size_t)192 << 30);
	ok(hipDriverGetVersion(&value));
	ts_check_int(value, TS_HIP_VERSION);
	ok(hipGetDeviceProperties(&old, 0));
	ts_check_int(old.warp_size, 32);
	ok(hipDeviceGetPCIBusId(bus, sizeof(bus), 1));
	ok(hipDeviceGetByPCIBusId(&device, bus));
	ts_check_int(device, 1);
	ok(hipSetDeviceFlags(TS_HIP_DEVICE_SCHEDULE_SPIN));
	ok(hipGetDeviceFlags(&flags));
	ts_check_int(flags & TS_HIP_DEVICE_SCHEDULE_MASK, TS_HIP_DEVICE_SCHEDULE_SPIN);
	ok(hipDeviceSetLimit(TS_HIP_LIMIT_STACK_SIZE, 4096));
	ok(hipDeviceGetLimit(&limit, TS_HIP_LIMIT_STACK_SIZE));
	ts_check(limit >= 4096);
	ok(hipDeviceSetCacheConfig(2));
	ok(hipDeviceGetCacheConfig(&value));
	ts_check_int(value, 2);
	ok(hipDeviceSetSharedMemConfig(1));
	ok(hipDeviceGetSharedMemConfig(&value));
	ts_check_int(value, 1);
	ok(hipDeviceCanAccessPeer(&value, 0, 1));
	ts_check_int(value, 1);
	ok(hipDeviceGetP2PAttribute(&value, 2, 0, 1));
	ok(hipDeviceEnablePeerAccess(1, 0));
	want(PEER_ACCESS_ALREADY_ENABLED, hipDeviceEnablePeerAccess(1, 0));
	ok(hipDeviceDisablePeerAccess(1));
	ok(hipDrvGetErrorString(1, &text));
	ts_check_str(text, "invalid argument");
	ok(hipExtGetLastError());
	ok(hipPeekAtLastError());
	ok(hipDeviceReset());
}

TS_TEST(memory)
{
	int32_t asked[] = {TS_HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
			   TS_HIP_POINTER_ATTRIBUTE_RANGE_SIZE};
	struct ts_hip_pitched_ptr pitched;
	void *memory, *host, *base, *alias;
	uint32_t flags;
	int32_t device = 99;
	size_t size = 0, pitch;
	void *answers[] = {&device, &size};

	ok(hipExtMallocWithFlags(&memory, 1024, TS_HIP_DEVICE_MALLOC_FINEGRAINED));
	ok(hipMemGetAddressRange(&base, &size, (char *)memory + 100));
	ts_check(base == memory && size == 1024);
	size = 0;
	ok(hipMemPtrGetInfo(memory, &size));
	ts_check_int(size, 1024);
	ok(hipPointerGetAttribute(&device, TS_HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, memory));
	ts_check_int(device, 0);
	device = 99;
	ok(hipDrvPointerGetAttributes(2, asked, answers, memory));
	ts_check(device == 0 && size == 1024);
	ok(hipFree(memory));
	ok(hipHostAlloc(&host, 64, TS_HIP_HOST_MALLOC_MAPPED));
	ok(hipHostGetDevicePointer(&alias, host, 0));
	ts_check(alias == host);
	ok(hipHostGetFlags(&flags, host));
	ts_check(flags & TS_HIP_HOST_MALLOC_MAPPED);
	ok(hipFreeHost(host));
	ok(hipMallocHost(&host, 64));
	ok(hipHostFree(host));
	ok(hipMemAllocHost(&host, 64));
	ok(hipHostFree(host));
	host = aligned_alloc(4096, 4096);
	ok(hipHostRegister(host, 4096, TS_HIP_HOST_REGISTER_PORTABLE));
	ok(hipHostUnregister(host));
	free(host);
	ok(hipMallocPitch(&memory, &pitch, 100, 4));
	ts_check(pitch >= 100);
	ok(hipFree(memory));
	ok(hipMemAllocPitch(&memory, &pitch, 100, 4, 4));
	ts_check(pitch >= 100);
	ok(hipFree(memory));
	ok(hipMalloc3D(&pitched, (struct ts_hip_extent){64, 4, 2}));
	ts_check(pitched.pitch >= 64 && pitched.xsize == 64 && pitched.ysize == 4);
	ok(hipFree(pitched.ptr));
	ok(hipMallocManaged(&memory, 4096, TS_HIP_MEM_ATTACH_GLOBAL));
	ok(hipMemAdvise(memory, 4096, 3, 0));
	ok(hipMemPrefetchAsync(memory, 4096, 0, NULL));
	ok(hipMemPrefetchAsync(memory, 4096, -1, NULL));
	ok(hipStreamAttachMemAsync(NULL, memory, 0, TS_HIP_MEM_ATTACH_GLOBAL));
	ok(hipDeviceSynchronize());
	ok(hipFree(memory));
}

TS_TEST(pools)
{
	struct ts_hip_mem_pool_props props = {.alloc_type = 1, .location = {1, 0}};
	struct ts_hip_mem_access_desc access = {.location = {1, 0}, .flags = 3};
	void *first, *pool, *got, *memory;
	uint64_t threshold = 1 << 20, value = 0;
	int32_t flags;

	ok(hipDeviceGetDefaultMemPool(&first, 0));
	ok(hipMemPoolCreate(&pool, &props));
	ok(hipDeviceSetMemPool(0, pool));
	ok(hipDeviceGetMemPool(&got, 0));
	ts_check(got == pool);
	ok(hipMemPoolSetAttribute(pool, TS_HIP_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold));
	ok(hipMemPoolGetAttribute(pool, TS_HIP_MEM_POOL_ATTR_RELEASE_THRESHOLD, &value));
	ts_check(value == threshold);
	ok(hipMemPoolSetAccess(pool, &access, 1));
	ok(hipMemPoolGetAccess(&flags, pool, &access.location));
	ts_check_int(flags, 3);
	ok(hipMallocAsync(&memory, 64, NULL));
	ok(hipFreeAsync(memory, NULL));
	ok(hipMallocFromPoolAsync(&memory, 64, first, NULL));
	ok(hipFreeAsync(memory, NULL));
	ok(hipDeviceSynchronize());
	ok(hipMemPoolTrimTo(pool, 0));
	ok(hipDeviceSetMemPool(0, first));
	ok(hipMemPoolDestroy(pool));
}

TS_TEST(mapped_memory)
{
	struct ts_hip_mem_allocation_prop prop = {.type = 1, .location = {1, 0}}, got;
	struct ts_hip_mem_access_desc access = {.location = {1, 0}, .flags = 3};
	size_t granularity;
	void *base, *memory, *again;
	uint64_t flags;

	ok(hipMemGetAllocationGranularity(&granularity, &prop, 0));
	ok(hipMemAddressReserve(&base, granularity, 0, NULL, 0));
	ok(hipMemCreate(&memory, granularity, &prop, 0));
	ok(hipMemMap(base, granularity, 0, memory, 0));
	ok(hipMemSetAccess(base, granularity, &access, 1));
	ok(hipMemGetAccess(&flags, &access.location, base));
	ts_check_int(flags, 3);
	ok(hipMemGetAllocationPropertiesFromHandle(&got, memory));
	ts_check(got.type == 1 && got.location.type == 1 && got.location.id == 0);
	ok(hipMemRetainAllocationHandle(&again, base));
	ok(hipMemGetAllocationPropertiesFromHandle(&got, again));
	ok(hipMemRelease(again));
	ok(hipMemUnmap(base, granularity));
	ok(hipMemRelease(memory));
	ok(hipMemAddressFree(base, granularity));
}

/* Copies in to the first half, that to the second half, and that out. */
TS_TEST(copies_by_bytes)
{
	char *memory, *other;

	fill();
	ok(hipMalloc((void **)&memory, 512));
	ok(hipMemcpyHtoD(memory, in, 256));
	ok(hipMemcpyDtoD(memory + 256, memory, 256));
	ok(hipMemcpyDtoHAsync(out, memory + 256, 256, NULL));
	ok(hipDeviceSynchronize());
	ts_check(!memcmp(in, out, 256));
	memset(out, 0, 256);
	ok(hipMemset(memory, 0, 512));
	ok(hipMemcpyHtoDAsync(memory, in, 256, NULL));
	ok(hipMemcpyDtoDAsync(memory + 256, memory, 256, NULL));
	ok(hipMemcpyDtoH(out, memory + 256, 256));
	ts_check(!memcmp(in, out, 256));
	ok(hipSetDevice(1));
	ok(hipMalloc((void **)&other, 256));
	ok(hipMemcpyPeer(other, 1, memory, 0, 128));
	ok(hipMemcpyPeerAsync(other + 128, 1, memory + 128, 0, 128, NULL));
	ok(hipDeviceSynchronize());
	memset(out, 0, 256);
	ok(hipMemcpy(out, other, 256, TS_HIP_MEMCPY_DEVICE_TO_HOST));
	ts_check(!memcmp(in, out, 256));
	ok(hipFree(other));
	ok(hipFree(memory));
}

/* Rows of 8 bytes with 16 between their starts on the device. */
TS_TEST(copies_of_rectangles)
{
	struct ts_hip_memcpy2d copy;
	struct ts_hip_drv_memcpy3d drv;
	struct ts_hip_memcpy3d_parms p = {0};
	char *memory;

	fill();
	ok(hipMalloc((void **)&memory, 512));
	ok(hipMemcpy2D(memory, 16, in, 8, 8, 8, TS_HIP_MEMCPY_HOST_TO_DEVICE));
	ok(hipMemcpy2DAsync(out, 8, memory, 16, 8, 8, TS_HIP_MEMCPY_DEVICE_TO_HOST, NULL));
	ok(hipDeviceSynchronize());
	ts_check(!memcmp(in, out, 64) && !out[64]);
	copy = (struct ts_hip_memcpy2d){
		.src_memory_type = TS_HIP_MEMORY_TYPE_DEVICE,
		.src_device = memory,
		.src_pitch = 16,
		.dst_memory_type = TS_HIP_MEMORY_TYPE_HOST,
		.dst_host = out,
		.dst_pitch = 8,
		.width_in_bytes = 8,
		.height = 8,
	};
	memset(out, 0, 256);
	ok(hipMemcpyParam2DAsync(&copy, NULL));
	ok(hipDeviceSynchronize());
	ts_check(!memcmp(in, out, 64));
	memset(out, 0, 256);
	ok(hipDrvMemcpy2DUnaligned(&copy));
	ts_check(!memcmp(in, out, 64));
	p.src_ptr = (struct ts_hip_pitched_ptr){in, 8, 8, 4};
	p.dst_ptr = (struct ts_hip_pitched_ptr){memory, 16, 8, 4};
	p.extent = (struct ts_hip_extent){8, 4, 2};
	p.kind = TS_HIP_MEMCPY_HOST_TO_DEVICE;
	ok(hipMemset(memory, 0, 512));
	ok(hipMemcpy3D(&p));
	p.src_ptr = p.dst_ptr;
	p.dst_ptr = (struct ts_hip_pitched_ptr){out, 8, 8, 4};
	p.kind = TS_HIP_MEMCPY_DEVICE_TO_HOST;
	memset(out, 0, 256);
	ok(hipMemcpy3DAsync(&p, NULL));
	ok(hipDeviceSynchronize());
	ts_check(!memcmp(in, out, 64));
	drv = (struct ts_hip_drv_memcpy3d){
		.src_memory_type = TS_HIP_MEMORY_TYPE_DEVICE,
		.src_device = memory,
		.src_pitch = 16,
		.src_height = 4,
		.dst_memory_type = TS_HIP_MEMORY_TYPE_HOST,
		.dst_host = out,
		.dst_pitch = 8,
		.dst_height = 4,
		.width_in_bytes = 8,
		.height = 4,
		.depth = 2,
	};
	memset(out, 0, 256);
	ok(hipDrvMemcpy3DAsync(&drv, NULL));
	ok(hipDeviceSynchronize());
	ts_check(!memcmp(in, out, 64));
	ok(hipFree(memory));
}

TS_TEST(sets)
{
	struct ts_hip_pitched_ptr pitched;
	char *memory;

	ok(hipMalloc((void **)&memory, 256));
	ok(hipMemset(memory, 0, 256));
	ok(hipMemsetAsync(memory, 1, 8, NULL));
	ok(hipMemsetD8(memory + 8, 2, 8));
	ok(hipMemsetD8Async(memory + 16, 3, 8, NULL));
	ok(hipMemsetD16Async(memory + 24, 0x0404, 4, NULL));
	ok(hipMemsetD32(memory + 32, 0x05050505, 2));
	ok(hipMemsetD32Async(memory + 40, 0x06060606, 2, NULL));
	ok(hipMemset2D(memory + 48, 8, 7, 4, 2));
	ok(hipMemset2DAsync(memory + 64, 8, 8, 4, 2, NULL));
	pitched = (struct ts_hip_pitched_ptr){memory + 80, 8, 4, 2};
	ok(hipMemset3D(pitched, 9, (struct ts_hip_extent){4, 2, 1}));
	pitched.ptr = memory + 96;
	ok(hipMemset3DAsync(pitched, 10, (struct ts_hip_extent){4, 2, 1}, NULL));
	ok(hipDeviceSynchronize());
	ok(hipMemcpyDtoH(out, memory, 256));
	for (unsigned i = 0; i < 48; i++)
		ts_check_int(out[i], i / 8 + 1);
	for (unsigned i = 0; i < 64; i++)
		ts_check_int(out[48 + i], i % 8 < 4 ? i / 16 + 7 : 0);
	ok(hipFree(memory));
}

TS_TEST(variables)
{
	void *address, *module, *of_module;
	size_t size;

	fill();
	register_table();
	ok(hipGetSymbolAddress(&address, &table_stub));
	ok(hipGetSymbolSize(&size, &table_stub));
	ts_check_int(size, 64);
	ok(hipMemcpyToSymbol(&table_stub, in, 32, 0, TS_HIP_MEMCPY_HOST_TO_DEVICE));
	ok(hipMemcpyToSymbolAsync(&table_stub, in + 32, 32, 32, TS_HIP_MEMCPY_HOST_TO_DEVICE,
				  NULL));
	ok(hipMemcpyFromSymbol(out, &table_stub, 32, 16, TS_HIP_MEMCPY_DEVICE_TO_HOST));
	ts_check(!memcmp(out, in + 16, 32));
	ok(hipMemcpyFromSymbolAsync(out, &table_stub, 64, 0, TS_HIP_MEMCPY_DEVICE_TO_HOST, NULL));
	ok(hipDeviceSynchronize());
	ts_check(!memcmp(out, in, 64));
	ok(hipModuleLoadDataEx(&module, table_ptx, 0, NULL, NULL));
	ok(hipModuleGetGlobal(&of_module, &size, module, "table"));
	ts_check(of_module != address && size == 64);
	want(INVALID_SYMBOL, hipGetSymbolSize(&size, &nothing_stub + 1));
}

TS_TEST(functions)
{
	void *module, *function, *start, *stop;
	int32_t value, blocks, threads;

	register_table();
	ok(hipModuleLoadData(&module, table_ptx));
	ok(hipModuleGetFunction(&function, module, "nothing"));
	ok(hipFuncGetAttribute(&value, TS_HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
	ts_check_int(value, 1024);
	ok(hipFuncSetAttribute(&nothing_stub, TS_HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
			       1024));
	ok(hipFuncSetCacheConfig(&nothing_stub, 1));
	ok(hipFuncSetSharedMemConfig(&nothing_stub, 1));
	ok(hipEventCreate(&start));
	ok(hipEventCreate(&stop));
	ok(hipExtLaunchKernel(&nothing_stub, ONE, ONE, NULL, 0, NULL, start, stop, 0));
	ok(hipEventSynchronize(stop));
	ok(hipEventQuery(start));
	ok(hipHccModuleLaunchKernel(function, 64, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL, NULL, NULL));
	ok(hipModuleLaunchCooperativeKernel(function, 2, 1, 1, 32, 1, 1, 0, NULL, NULL));
	ok(hipOccupancyMaxActiveBlocksPerMultiprocessor(&value, &nothing_stub, 1024, 0));
	ts_check_int(value, 2);
	ok(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&value, &nothing_stub, 1024, 0,
								 0));
	ts_check_int(value, 2);
	ok(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 1024, 0));
	ts_check_int(value, 2);
	ok(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&value, function, 512, 0,
								       0));
	ts_check_int(value, 4);
	ok(hipModuleOccupancyMaxPotentialBlockSize(&blocks, &threads, function, 0, 256));
	ts_check(blocks > 0 && threads > 0 && threads <= 256);
	ok(hipModuleOccupancyMaxPotentialBlockSizeWithFlags(&blocks, &threads, function, 0, 0, 0));
	ts_check(blocks > 0 && threads > 256);
	ok(hipDeviceSynchronize());
}

static void on_host(void *data)
{
	++*(int *)data;
}

TS_TEST(streams)
{
	int32_t status, priority = 99, mode = TS_HIP_STREAM_CAPTURE_MODE_RELAXED;
	void *stream, *graph, *const *dependencies;
	size_t n_dependencies;
	uint64_t id;
	int n = 0;

	register_table();
	ok(hipStreamCreateWithFlags(&stream, TS_HIP_STREAM_NON_BLOCKING));
	ok(hipStreamGetPriority(stream, &priority));
	ts_check_int(priority, 0);
	ok(hipLaunchHostFunc(stream, (void *)(uintptr_t)on_host, &n));
	ok(hipStreamSynchronize(stream));
	ts_check_int(n, 1);
	ok(hipThreadExchangeStreamCaptureMode(&mode));
	ts_check_int(mode, TS_HIP_STREAM_CAPTURE_MODE_GLOBAL);
	ok(hipGraphCreate(&graph, 0));
	ok(hipStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0,
					TS_HIP_STREAM_CAPTURE_MODE_RELAXED));
	ok(hipStreamIsCapturing(stream, &status));
	ts_check_int(status, TS_HIP_STREAM_CAPTURE_STATUS_ACTIVE);
	ok(hipLaunchKernel(&nothing_stub, ONE, ONE, NULL, 0, stream));
	ok(hipStreamGetCaptureInfo_v2(stream, &status, &id, NULL, &dependencies, &n_dependencies));
	ts_check(n_dependencies == 1 && dependencies[0]);
	ok(hipStreamUpdateCaptureDependencies(stream, NULL, 0, 1));
	ok(hipStreamGetCaptureInfo_v2(stream, &status, &id, NULL, &dependencies, &n_dependencies));
	ts_check_int(n_dependencies, 0);
	ok(hipStreamEndCapture(stream, &graph));
	ok(hipGraphDestroy(graph));
	ok(hipStreamDestroy(stream));
}
