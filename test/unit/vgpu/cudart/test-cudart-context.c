// SPDX-License-Identifier: Apache-2.0
/*
 * Tests the runtime's functions for devices, errors, limits, peers, the driver's functions by name.
 */
#include "test/unit/vgpu/generated-runtime.h"

CONFORM(zeros_crash_nothing)
{
	ok(cudaFree(NULL));
	only_virtual("the vendor says which error this is for some functions only");
	/* Leaves out the functions that only nvcc's code calls, with arguments from the runtime. */
#define ZEROS(name_)                                                                         \
	if (strncmp(#name_, "__", 2) && strcmp(#name_, "cudaGetErrorName") &&                \
	    strcmp(#name_, "cudaGetErrorString") && strcmp(#name_, "cudaCreateChannelDesc")) \
		ts_check(conform_zeros_##name_() < 1000);
	CONFORM_EACH(ZEROS)
}

CONFORM(errors_stick_until_they_are_asked_for)
{
	int32_t n;

	ok(cudaGetDeviceCount(&n));
	want(ERROR_INVALID_DEVICE, cudaSetDevice(n + 5));
	want(ERROR_INVALID_DEVICE, cudaPeekAtLastError());
	ok(cudaDeviceSynchronize());
	want(ERROR_INVALID_DEVICE, cudaGetLastError());
	ok(cudaGetLastError());
	ok(cudaPeekAtLastError());
	ts_check_str(done(cudaGetErrorName(1)), "cudaErrorInvalidValue");
	ts_check_str(done(cudaGetErrorString(2)), "out of memory");
	ts_check_str(done(cudaGetErrorName(123456)), "unrecognized error code");
	ts_check_str(done(cudaGetErrorString(123456)), "unrecognized error code");
}

CONFORM(devices)
{
	struct ts_cuda_device_prop prop;
	char bus[32] = "";
	int32_t n, device = 99, major, low, high;
	uint32_t flags;

	ok(cudaDriverGetVersion(&n));
	ts_check(n >= 12000);
	want(ERROR_INVALID_VALUE, cudaDriverGetVersion(NULL));
	ok(cudaRuntimeGetVersion(&n));
	ts_check_int(n / 1000, 13);
	want(ERROR_INVALID_VALUE, cudaRuntimeGetVersion(NULL));
	ok(cudaGetDeviceCount(&n));
	want(ERROR_INVALID_VALUE, cudaGetDeviceCount(NULL));
	ok(cudaSetDevice(n - 1));
	ok(cudaGetDevice(&device));
	ts_check_int(device, n - 1);
	want(ERROR_INVALID_VALUE, cudaGetDevice(NULL));
	want(ERROR_INVALID_DEVICE, cudaSetDevice(-1));
	ok(cudaInitDevice(0, 0, 0));
	want(ERROR_INVALID_DEVICE, cudaInitDevice(99, 0, 0));
	ok(cudaSetDeviceFlags(TS_CUDA_DEVICE_SCHEDULE_YIELD));
	want(ERROR_INVALID_VALUE, cudaSetDeviceFlags(1 << 20));
	ok(cudaGetDeviceFlags(&flags));
	ts_check_int(flags & TS_CUDA_DEVICE_SCHEDULE_MASK, TS_CUDA_DEVICE_SCHEDULE_YIELD);
	want(ERROR_INVALID_VALUE, cudaGetDeviceFlags(NULL));
	ok(cudaGetDeviceProperties(&prop, 0));
	ok(cudaDeviceGetAttribute(&major, TS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
	ts_check(prop.major == major && prop.warp_size == 32 && prop.name[0]);
	want(ERROR_INVALID_DEVICE, cudaGetDeviceProperties(&prop, 99));
	want(ERROR_INVALID_VALUE, cudaGetDeviceProperties(NULL, 0));
	want(ERROR_INVALID_VALUE, cudaDeviceGetAttribute(&n, 9999, 0));
	want(ERROR_INVALID_DEVICE, cudaDeviceGetAttribute(&n, 1, 99));
	ok(cudaDeviceGetPCIBusId(bus, sizeof(bus), 0));
	ok(cudaDeviceGetByPCIBusId(&device, bus));
	ts_check_int(device, 0);
	want(ERROR_INVALID_DEVICE, cudaDeviceGetPCIBusId(bus, sizeof(bus), 99));
	want(ERROR_INVALID_DEVICE, cudaDeviceGetByPCIBusId(&device, "ffff:ff:1f.0"));
	ok(cudaDeviceGetStreamPriorityRange(&low, &high));
	ts_check(low == 0 && high < 0);
	ok(cudaDeviceSynchronize());
	ok(cudaProfilerStart());
	ok(cudaProfilerStop());
	ok(cudaDeviceReset());
}

CONFORM(limits)
{
	size_t before, after;
	int32_t n, high;

	ok(cudaDeviceGetLimit(&before, TS_CUDA_LIMIT_STACK_SIZE));
	ok(cudaDeviceSetLimit(TS_CUDA_LIMIT_STACK_SIZE, before * 2));
	ok(cudaDeviceGetLimit(&after, TS_CUDA_LIMIT_STACK_SIZE));
	ts_check(after >= before * 2);
	want(ERROR_INVALID_VALUE, cudaDeviceGetLimit(NULL, TS_CUDA_LIMIT_STACK_SIZE));
	want(ERROR_INVALID_VALUE, cudaDeviceSetLimit(77, 1));
	ok(cudaDeviceSetCacheConfig(TS_CUDA_FUNC_CACHE_PREFER_L1));
	want(ERROR_INVALID_VALUE, cudaDeviceSetCacheConfig(77));
	ok(cudaDeviceGetCacheConfig(&n));
	want(ERROR_INVALID_VALUE, cudaDeviceGetCacheConfig(NULL));
	ok(cudaDeviceGetStreamPriorityRange(NULL, &high));
	ts_check(high < 0);
}

CONFORM(peers)
{
	int32_t n, can = 99;

	ok(cudaGetDeviceCount(&n));
	ok(cudaDeviceCanAccessPeer(&can, 0, 0));
	ts_check_int(can, 0);
	want(ERROR_INVALID_DEVICE, cudaDeviceCanAccessPeer(&can, 0, 99));
	want(ERROR_INVALID_DEVICE, cudaDeviceGetP2PAttribute(&can, 1, 0, 99));
	want(ERROR_INVALID_DEVICE, cudaDeviceEnablePeerAccess(99, 0));
	want(ERROR_INVALID_DEVICE, cudaDeviceDisablePeerAccess(99));
	if (n < 2)
		ts_skip("one device: no peer to enable");
	ok(cudaDeviceGetP2PAttribute(&can, TS_CUDA_DEV_P2_P_ATTR_ACCESS_SUPPORTED, 0, 1));
	if (!can)
		ts_skip("the devices cannot be peers");
	want(ERROR_PEER_ACCESS_NOT_ENABLED, cudaDeviceDisablePeerAccess(1));
	ok(cudaDeviceEnablePeerAccess(1, 0));
	want(ERROR_PEER_ACCESS_ALREADY_ENABLED, cudaDeviceEnablePeerAccess(1, 0));
	ok(cudaDeviceDisablePeerAccess(1));
}

CONFORM(the_drivers_functions)
{
	int32_t status = 99;
	void *f = NULL, *g;

	ok(cudaGetDriverEntryPoint("cuMemAlloc", &f, 0, &status));
	ts_check(f && status == TS_CUDA_DRIVER_ENTRY_POINT_SUCCESS);
	ok(cudaGetDriverEntryPointByVersion("cuMemAlloc", &g, 12000, 0, &status));
	ts_check(f == g);
	ok(cudaGetDriverEntryPoint("cuNoSuchFunction", &f, 0, &status));
	ts_check(!f && status == TS_CUDA_DRIVER_ENTRY_POINT_SYMBOL_NOT_FOUND);
	refuses(ERROR_INVALID_VALUE, cudaGetDriverEntryPoint(NULL, &f, 0, &status));
	refuses(ERROR_INVALID_VALUE,
		cudaGetDriverEntryPointByVersion("cuInit", NULL, 12000, 0, &status));
}

CONFORM(what_is_shared_with_processes_is_refused)
{
	struct ipc_handle handle = {""};
	const void *table;
	void *event, *p;

	only_virtual("the vendor's driver shares memory with other processes");
	ok(cudaMalloc(&p, 64));
	ok(cudaEventCreate(&event));
	want(ERROR_NOT_SUPPORTED, cudaIpcGetMemHandle(&handle, p));
	want(ERROR_NOT_SUPPORTED, cudaIpcOpenMemHandle(&p, handle, 1));
	want(ERROR_NOT_SUPPORTED, cudaIpcCloseMemHandle(p));
	want(ERROR_NOT_SUPPORTED, cudaIpcGetEventHandle(&handle, event));
	want(ERROR_NOT_SUPPORTED, cudaIpcOpenEventHandle(&event, handle));
	want(ERROR_NOT_SUPPORTED, cudaGetExportTable(&table, &(struct ts_cu_uuid){"?"}));
}

/*
 * Names that programs link with. Each call fails with the vendor's error, and prints one line on
 * stderr the first time.
 */
CONFORM(what_is_not_there_is_refused)
{
	only_virtual("the vendor has these");
#define REFUSED(name_)                                                                      \
	conform_check(__FILE__, __LINE__, #name_, conform_call_zeros(conform_find(#name_)), \
		      CONFORM_CODE(ERROR_NOT_SUPPORTED));
	CONFORM_REFUSED(REFUSED)
	want(ERROR_NOT_SUPPORTED, cudaGetLastError());
}

CONFORM(a_channels_description)
{
	struct ts_cuda_channel_format_desc d;

	d = done(cudaCreateChannelDesc(32, 0, 0, 0, TS_CUDA_CHANNEL_FORMAT_KIND_FLOAT));
	ts_check(d.x == 32 && d.f == TS_CUDA_CHANNEL_FORMAT_KIND_FLOAT);
}
