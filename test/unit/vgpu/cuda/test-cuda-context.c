// SPDX-License-Identifier: Apache-2.0
/*
 * Tests the driver's functions for initialisation, devices, contexts, peers, errors and functions
 * by name.
 */
#include "test/unit/vgpu/generated-driver.h"

static void *begin(void)
{
	void *context;

	ok(cuInit(0));
	ok(cuDevicePrimaryCtxRetain(&context, 0));
	ok(cuCtxSetCurrent(context));
	return context;
}

/* The second device, if there is one. */
static bool second(void)
{
	int32_t n;

	ok(cuDeviceGetCount(&n));
	return n > 1;
}

static bool needs_no_init(const char *name)
{
	static const char *const names[] = {"cuInit", "cuDriverGetVersion", "cuGetErrorName",
					    "cuGetErrorString", "cuGetExportTable"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i], name))
			return true;
	return !strncmp(name, "cuGetProcAddress", 16);
}

CONFORM(nothing_works_before_cuInit)
{
	int n = 0;

	only_virtual("the vendor says which error this is for some functions only");
#define BEFORE(name_)                                                              \
	if (!needs_no_init(#name_)) {                                              \
		conform_check(__FILE__, __LINE__, #name_, conform_zeros_##name_(), \
			      CONFORM_CODE(ERROR_NOT_INITIALIZED));                \
		n++;                                                               \
	}
	CONFORM_EACH(BEFORE)
	ts_check(n > 200);
}

CONFORM(zeros_crash_nothing)
{
	begin();
	only_virtual("the vendor says which error this is for some functions only");
#define ZEROS(name_)                                      \
	if (strcmp(#name_, "cuDevicePrimaryCtxReset") &&  \
	    strcmp(#name_, "cuDevicePrimaryCtxReset_v2")) \
		ts_check(conform_zeros_##name_() < 1000);
	CONFORM_EACH(ZEROS)
}

CONFORM(starting_up_and_versions)
{
	const char *text;
	int32_t n = 0;

	want(ERROR_INVALID_VALUE, cuInit(1));
	ok(cuInit(0));
	ok(cuInit(0));
	ok(cuDriverGetVersion(&n));
	ts_check(n >= 12000);
	want(ERROR_INVALID_VALUE, cuDriverGetVersion(NULL));
	ok(cuGetErrorName(719, &text));
	ts_check_str(text, "CUDA_ERROR_LAUNCH_FAILED");
	ok(cuGetErrorString(2, &text));
	ts_check_str(text, "out of memory");
	want(ERROR_INVALID_VALUE, cuGetErrorName(123456, &text));
	ts_check(!text);
	want(ERROR_INVALID_VALUE, cuGetErrorString(123456, &text));
	ts_check(!text);
}

CONFORM(devices_tell_what_they_are)
{
	char name[64] = "", bus[32] = "";
	struct ts_cu_uuid a = {""}, b = {""};
	int32_t device, n, major, minor;
	size_t bytes = 0;

	ok(cuInit(0));
	ok(cuDeviceGetCount(&n));
	ts_check(n >= 1);
	want(ERROR_INVALID_VALUE, cuDeviceGetCount(NULL));
	ok(cuDeviceGet(&device, n - 1));
	want(ERROR_INVALID_DEVICE, cuDeviceGet(&device, n));
	want(ERROR_INVALID_DEVICE, cuDeviceGet(&device, -1));
	ok(cuDeviceGetName(name, sizeof(name), device));
	ts_check(strlen(name) > 2);
	want(ERROR_INVALID_VALUE, cuDeviceGetName(NULL, 16, device));
	want(ERROR_INVALID_DEVICE, cuDeviceGetName(name, sizeof(name), 99));
	ok(cuDeviceGetUuid(&a, device));
	ok(cuDeviceGetUuid_v2(&b, device));
	ts_check(!memcmp(&a, &b, sizeof(a)));
	want(ERROR_INVALID_VALUE, cuDeviceGetUuid(NULL, device));
	want(ERROR_INVALID_DEVICE, cuDeviceGetUuid_v2(&b, 99));
	ok(cuDeviceTotalMem_v2(&bytes, device));
	ts_check(bytes > 1 << 20);
	want(ERROR_INVALID_VALUE, cuDeviceTotalMem_v2(NULL, device));
	want(ERROR_INVALID_DEVICE, cuDeviceTotalMem_v2(&bytes, 99));
	ok(cuDeviceComputeCapability(&major, &minor, device));
	ok(cuDeviceGetAttribute(&n, TS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
	ts_check_int(n, major);
	want(ERROR_INVALID_DEVICE, cuDeviceComputeCapability(&major, &minor, 99));
	want(ERROR_INVALID_VALUE, cuDeviceGetAttribute(&n, 9999, device));
	want(ERROR_INVALID_VALUE, cuDeviceGetAttribute(NULL, 1, device));
	want(ERROR_INVALID_DEVICE, cuDeviceGetAttribute(&n, 1, 99));
	ok(cuDeviceGetPCIBusId(bus, sizeof(bus), device));
	ts_check_int(strlen(bus), 12);
	ok(cuDeviceGetByPCIBusId(&n, bus));
	ts_check_int(n, device);
	want(ERROR_INVALID_VALUE, cuDeviceGetPCIBusId(NULL, 13, device));
	want(ERROR_INVALID_DEVICE, cuDeviceGetPCIBusId(bus, sizeof(bus), 99));
	want(ERROR_INVALID_VALUE, cuDeviceGetByPCIBusId(NULL, bus));
	want(ERROR_INVALID_DEVICE, cuDeviceGetByPCIBusId(&n, "ffff:ff:1f.0"));
}

CONFORM(primary_contexts)
{
	void *a, *b;
	uint32_t flags = 99;
	int32_t active = 99;

	ok(cuInit(0));
	ok(cuDevicePrimaryCtxGetState(0, &flags, &active));
	ts_check_int(active, 0);
	want(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxGetState(99, &flags, &active));
	ok(cuDevicePrimaryCtxSetFlags_v2(0, TS_CU_CTX_SCHED_BLOCKING_SYNC));
	ok(cuDevicePrimaryCtxSetFlags(0, TS_CU_CTX_SCHED_YIELD));
	want(ERROR_INVALID_VALUE, cuDevicePrimaryCtxSetFlags(0, 7));
	want(ERROR_INVALID_VALUE, cuDevicePrimaryCtxSetFlags_v2(0, 1 << 20));
	ok(cuDevicePrimaryCtxRetain(&a, 0));
	ok(cuDevicePrimaryCtxRetain(&b, 0));
	ts_check(a == b);
	want(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRetain(&a, 99));
	want(ERROR_INVALID_VALUE, cuDevicePrimaryCtxRetain(NULL, 0));
	ok(cuDevicePrimaryCtxGetState(0, &flags, &active));
	ts_check(active == 1 && (flags & TS_CU_CTX_SCHED_MASK) == TS_CU_CTX_SCHED_YIELD);
	ok(cuCtxSetCurrent(a));
	ok(cuDevicePrimaryCtxRelease(0));
	ok(cuCtxSynchronize());
	ok(cuDevicePrimaryCtxRelease_v2(0));
	want(ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease_v2(0));
	ok(cuDevicePrimaryCtxRelease(0));
	want(ERROR_CONTEXT_IS_DESTROYED, cuCtxSynchronize());
	ok(cuDevicePrimaryCtxReset(0));
	ok(cuDevicePrimaryCtxReset_v2(0));
	want(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxReset(99));
	want(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxReset_v2(99));
	want(ERROR_INVALID_DEVICE, cuDevicePrimaryCtxRelease(-1));
}

CONFORM(contexts_are_made_and_stacked)
{
	void *a, *b, *c, *current, *other;
	uint32_t version;
	uint64_t id_a, id_b;

	ok(cuInit(0));
	want(ERROR_INVALID_VALUE, cuCtxCreate_v2(NULL, 0, 0));
	want(ERROR_INVALID_DEVICE, cuCtxCreate_v2(&a, 0, 99));
	want(ERROR_INVALID_VALUE, cuCtxCreate_v2(&a, 1 << 20, 0));
	want(ERROR_INVALID_DEVICE, cuCtxCreate_v3(&a, NULL, 0, 0, 99));
	want(ERROR_INVALID_DEVICE, cuCtxCreate_v4(&a, NULL, 0, 99));
	ok(cuCtxCreate_v2(&a, 0, 0));
	ok(cuCtxCreate_v3(&b, NULL, 0, 0, 0));
	ok(cuCtxCreate_v4(&c, NULL, TS_CU_CTX_SCHED_SPIN, 0));
	ok(cuCtxGetCurrent(&current));
	ts_check(current == c);
	want(ERROR_INVALID_VALUE, cuCtxGetCurrent(NULL));
	ok(cuCtxGetId(a, &id_a));
	ok(cuCtxGetId(b, &id_b));
	ts_check(id_a != id_b);
	want(ERROR_INVALID_VALUE, cuCtxGetId(a, NULL));
	ok(cuCtxGetApiVersion(a, &version));
	ts_check(version >= 3010);
	want(ERROR_INVALID_VALUE, cuCtxGetApiVersion(a, NULL));
	ok(cuCtxPopCurrent(&other));
	ts_check(other == c);
	ok(cuCtxPopCurrent_v2(&other));
	ts_check(other == b);
	ok(cuCtxPushCurrent(c));
	ok(cuCtxPushCurrent_v2(b));
	ok(cuCtxSynchronize_v2(c));
	/* On the stack, but not current. */
	want(ERROR_INVALID_CONTEXT, cuCtxDestroy(c));
	ok(cuCtxDestroy_v2(b));
	ok(cuCtxPopCurrent_v2(NULL));
	ok(cuCtxDestroy(c));
	ok(cuCtxSetCurrent(NULL));
	want(ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&other));
	want(ERROR_INVALID_CONTEXT, cuCtxPopCurrent_v2(&other));
	ok(cuCtxGetCurrent(&current));
	ts_check(!current);
	ok(cuCtxDestroy_v2(a));
}

CONFORM(stale_contexts_are_found_out)
{
	void *a;
	uint64_t id;
	uint32_t version;

	ok(cuInit(0));
	only_virtual("the vendor's driver may crash on a context that was destroyed");
	ok(cuCtxCreate_v4(&a, NULL, 0, 0));
	ok(cuCtxDestroy_v2(a));
	want(ERROR_INVALID_CONTEXT, cuCtxDestroy(a));
	want(ERROR_INVALID_CONTEXT, cuCtxDestroy_v2(a));
	want(ERROR_INVALID_CONTEXT, cuCtxDestroy(NULL));
	want(ERROR_INVALID_CONTEXT, cuCtxPushCurrent(a));
	want(ERROR_INVALID_CONTEXT, cuCtxPushCurrent_v2(a));
	want(ERROR_INVALID_CONTEXT, cuCtxSetCurrent(a));
	want(ERROR_INVALID_CONTEXT, cuCtxSynchronize_v2(a));
	want(ERROR_INVALID_CONTEXT, cuCtxGetApiVersion(a, &version));
	want(ERROR_INVALID_CONTEXT, cuCtxGetId(a, &id));
}

CONFORM(without_a_context)
{
	struct ts_cu_memcpy_2d c2 = {
		.src_memory_type = TS_CU_MEMORYTYPE_HOST,
		.dst_memory_type = TS_CU_MEMORYTYPE_HOST,
	};
	uint64_t address;
	uint32_t flags;
	int32_t a, b;
	size_t bytes;
	void *p;

	ok(cuInit(0));
	want(ERROR_INVALID_CONTEXT, cuCtxGetDevice(&a));
	want(ERROR_INVALID_CONTEXT, cuCtxGetDevice_v2(&a, NULL));
	want(ERROR_INVALID_CONTEXT, cuCtxGetFlags(&flags));
	want(ERROR_INVALID_CONTEXT, cuCtxSetFlags(0));
	want(ERROR_INVALID_CONTEXT, cuCtxSynchronize());
	want(ERROR_INVALID_CONTEXT, cuCtxGetLimit(&bytes, 0));
	want(ERROR_INVALID_CONTEXT, cuCtxSetLimit(0, 2048));
	want(ERROR_INVALID_CONTEXT, cuCtxGetCacheConfig(&a));
	want(ERROR_INVALID_CONTEXT, cuCtxSetCacheConfig(0));
	want(ERROR_INVALID_CONTEXT, cuCtxGetStreamPriorityRange(&a, &b));
	want(ERROR_INVALID_CONTEXT, cuMemAlloc_v2(&address, 16));
	want(ERROR_INVALID_CONTEXT, cuMemAllocPitch_v2(&address, &bytes, 16, 16, 4));
	want(ERROR_INVALID_CONTEXT, cuMemAllocManaged(&address, 16, TS_CU_MEM_ATTACH_GLOBAL));
	want(ERROR_INVALID_CONTEXT, cuMemAllocHost_v2(&p, 16));
	want(ERROR_INVALID_CONTEXT, cuMemHostAlloc(&p, 16, 0));
	want(ERROR_INVALID_CONTEXT, cuMemGetInfo_v2(&bytes, &bytes));
	want(ERROR_INVALID_CONTEXT, cuMemcpy2D_v2(&c2));
	want(ERROR_INVALID_CONTEXT, cuMemsetD8_v2(4096, 0, 16));
	want(ERROR_INVALID_CONTEXT, cuStreamCreate(&p, 0));
	want(ERROR_INVALID_CONTEXT, cuStreamSynchronize(NULL));
	want(ERROR_INVALID_CONTEXT, cuEventCreate(&p, 0));
	want(ERROR_INVALID_CONTEXT, cuModuleLoadData(&p, conform_ptx));
	want(ERROR_INVALID_CONTEXT, cuProfilerStart());
	want(ERROR_INVALID_CONTEXT, cuProfilerStop());
}

CONFORM(settings_of_a_context)
{
	void *context = begin();
	int32_t device = 99, low, high, config;
	size_t bytes, before;
	uint32_t flags;

	ok(cuCtxGetDevice(&device));
	ts_check_int(device, 0);
	want(ERROR_INVALID_VALUE, cuCtxGetDevice(NULL));
	ok(cuCtxGetDevice_v2(&device, context));
	want(ERROR_INVALID_VALUE, cuCtxGetDevice_v2(NULL, context));
	ok(cuCtxGetFlags(&flags));
	want(ERROR_INVALID_VALUE, cuCtxGetFlags(NULL));
	ok(cuCtxSetFlags(TS_CU_CTX_SYNC_MEMOPS));
	want(ERROR_INVALID_VALUE, cuCtxSetFlags(1 << 20));
	ok(cuCtxGetLimit(&before, 0));
	ok(cuCtxSetLimit(0, before * 2));
	ok(cuCtxGetLimit(&bytes, 0));
	ts_check(bytes >= before * 2);
	want(ERROR_INVALID_VALUE, cuCtxGetLimit(NULL, 0));
	want(ERROR_INVALID_VALUE, cuCtxGetLimit(&bytes, 77));
	want(ERROR_INVALID_VALUE, cuCtxSetLimit(77, 1));
	ok(cuCtxGetStreamPriorityRange(&low, &high));
	ts_check(low == 0 && high < 0);
	ok(cuCtxGetStreamPriorityRange(NULL, NULL));
	ok(cuCtxSetCacheConfig(TS_CU_FUNC_CACHE_PREFER_L1));
	ok(cuCtxGetCacheConfig(&config));
	want(ERROR_INVALID_VALUE, cuCtxGetCacheConfig(NULL));
	want(ERROR_INVALID_VALUE, cuCtxSetCacheConfig(77));
	ok(cuProfilerStart());
	ok(cuProfilerStop());
	ok(cuCtxSynchronize());
	ok(cuCtxSynchronize_v2(NULL));
}

CONFORM(peers)
{
	void *first = begin(), *other;
	int32_t n = 99;

	ok(cuDeviceCanAccessPeer(&n, 0, 0));
	ts_check_int(n, 0);
	want(ERROR_INVALID_DEVICE, cuDeviceCanAccessPeer(&n, 0, 99));
	want(ERROR_INVALID_VALUE, cuDeviceCanAccessPeer(NULL, 0, 0));
	want(ERROR_INVALID_DEVICE, cuDeviceGetP2PAttribute(&n, 1, 0, 99));
	want(ERROR_INVALID_CONTEXT, cuCtxEnablePeerAccess(NULL, 0));
	want(ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(first, 0));
	want(ERROR_INVALID_CONTEXT, cuCtxDisablePeerAccess(NULL));
	if (!second())
		ts_skip("one device: no peer to enable");
	ok(cuDeviceGetP2PAttribute(&n, TS_CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
	want(ERROR_INVALID_VALUE, cuDeviceGetP2PAttribute(&n, 77, 0, 1));
	want(ERROR_INVALID_VALUE, cuDeviceGetP2PAttribute(NULL, 1, 0, 1));
	ok(cuDevicePrimaryCtxRetain(&other, 1));
	want(ERROR_PEER_ACCESS_NOT_ENABLED, cuCtxDisablePeerAccess(other));
	if (!n)
		ts_skip("the devices cannot be peers");
	want(ERROR_INVALID_VALUE, cuCtxEnablePeerAccess(other, 1));
	ok(cuCtxEnablePeerAccess(other, 0));
	want(ERROR_PEER_ACCESS_ALREADY_ENABLED, cuCtxEnablePeerAccess(other, 0));
	ok(cuCtxDisablePeerAccess(other));
}

/*
 * Names that other runtimes and frameworks request: the function exists, or the documented answer
 * is given.
 */
CONFORM(functions_by_name)
{
	static const char *const may_lack[] = {
		"cuTexObjectCreate",
		"cuSurfObjectCreate",
		"cuArrayCreate",
		"cuArray3DCreate",
		"cuMipmappedArrayCreate",
		"cuGraphicsMapResources",
		"cuGLGetDevices",
		"cuImportExternalMemory",
		"cuStreamWriteValue32",
		"cuStreamBatchMemOp",
		"cuMulticastCreate",
		"cuGreenCtxCreate",
		"cuTensorMapEncodeTiled",
		"cuCoredumpGetAttribute",
		"cuMemcpyBatchAsync",
		"cuLaunchGrid",
		"cuUserObjectCreate",
		"cuGraphDebugDotPrint",
		"cuLinkCreate",
		"cuDevResourceGenerateDesc",
		"cuFlushGPUDirectRDMAWrites",
		"cuCheckpointProcessLock",
		"cuLogsRegisterCallback",
		"cuEGLStreamConsumerConnect",
	};
	int32_t status = 99;
	void *f, *g;

	ok(cuInit(0));
	for (volatile size_t i = 0; i < sizeof(may_lack) / sizeof(may_lack[0]); i++) {
		f = &status;
		ok(cuGetProcAddress_v2(may_lack[i], &f, 13000, 0, &status));
		ts_check(status == (f ? TS_CU_GET_PROC_ADDRESS_SUCCESS
				      : TS_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND));
		ts_check(f != &status);
	}
	ok(cuGetProcAddress_v2("cuMemAlloc", &f, 13000, 0, &status));
	ok(cuGetProcAddress("cuMemAlloc", &g, 13000, 0));
	ts_check(f && f == g && status == TS_CU_GET_PROC_ADDRESS_SUCCESS);
	ok(cuGetProcAddress_v2("cuStreamSynchronize", &g, 13000,
			       TS_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, NULL));
	ok(cuGetProcAddress_v2("cuStreamSynchronize", &f, 13000,
			       TS_CU_GET_PROC_ADDRESS_LEGACY_STREAM, NULL));
	ts_check(f && g && f != g);
	want(ERROR_NOT_FOUND, cuGetProcAddress("cuNoSuchFunction", &f, 13000, 0));
	/*
	 * The newer form reports an unknown name by its status, and succeeds, also if the caller
	 * requests no status.
	 */
	ok(cuGetProcAddress_v2("malloc", &f, 13000, 0, NULL));
	ts_check(!f);
	refuses(ERROR_INVALID_VALUE, cuGetProcAddress_v2(NULL, &f, 13000, 0, NULL));
	refuses(ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", NULL, 13000, 0));
	want(ERROR_INVALID_VALUE, cuGetProcAddress_v2("cuInit", &f, 13000, 1 << 10, NULL));
}

CONFORM(tables_of_other_libraries)
{
	static const struct ts_cu_uuid foreign = {"\x6b\xd5\xfb\x6c\x5b\xf4\xe7\x4a"};
	const void *table = NULL;

	only_virtual("the vendor's tables are for the vendor's libraries");
	ok(cuGetExportTable(&table, &conform_ours));
	ts_check(table);
	want(ERROR_NOT_SUPPORTED, cuGetExportTable(&table, &foreign));
	want(ERROR_INVALID_VALUE, cuGetExportTable(NULL, &foreign));
	want(ERROR_INVALID_VALUE, cuGetExportTable(&table, NULL));
}

/*
 * Names that programs link with. Each call fails with the vendor's error, and prints one line on
 * stderr the first time.
 */
CONFORM(what_is_not_there_is_refused)
{
	begin();
	only_virtual("the vendor has these");
#define REFUSED(name_)                                                                      \
	conform_check(__FILE__, __LINE__, #name_, conform_call_zeros(conform_find(#name_)), \
		      CONFORM_CODE(ERROR_NOT_SUPPORTED));
	CONFORM_REFUSED(REFUSED)
}
