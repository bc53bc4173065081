// SPDX-License-Identifier: Apache-2.0
/* Tests the driver's functions for streams, events, waits and stream capture. */
#include "test/unit/vgpu/generated-driver.h"

static void *begin(void)
{
	void *context;

	ok(cuInit(0));
	ok(cuDevicePrimaryCtxRetain(&context, 0));
	ok(cuCtxSetCurrent(context));
	return context;
}

static void *const bad = (void *)8;

CONFORM(streams_are_made)
{
	void *a, *b, *context = begin(), *owner, *green = bad;
	int32_t low, high, n = 99;
	uint64_t id, other;
	uint32_t flags = 99;

	ok(cuStreamCreate(&a, TS_CU_STREAM_NON_BLOCKING));
	want(ERROR_INVALID_VALUE, cuStreamCreate(&b, 1 << 9));
	want(ERROR_INVALID_VALUE, cuStreamCreate(NULL, 0));
	ok(cuCtxGetStreamPriorityRange(&low, &high));
	ok(cuStreamCreateWithPriority(&b, 0, high));
	want(ERROR_INVALID_VALUE, cuStreamCreateWithPriority(NULL, 0, 0));
	want(ERROR_INVALID_VALUE, cuStreamCreateWithPriority(&owner, 1 << 9, 0));
	ok(cuStreamGetPriority(b, &n));
	ts_check_int(n, high);
	want(ERROR_INVALID_VALUE, cuStreamGetPriority(b, NULL));
	refuses(ERROR_INVALID_HANDLE, cuStreamGetPriority(bad, &n));
	ok(cuStreamGetFlags(a, &flags));
	ts_check_int(flags, TS_CU_STREAM_NON_BLOCKING);
	want(ERROR_INVALID_VALUE, cuStreamGetFlags(a, NULL));
	ok(cuStreamGetId(a, &id));
	ok(cuStreamGetId(b, &other));
	ts_check(id != other);
	want(ERROR_INVALID_VALUE, cuStreamGetId(a, NULL));
	ok(cuStreamGetDevice(a, &n));
	ts_check_int(n, 0);
	want(ERROR_INVALID_VALUE, cuStreamGetDevice(a, NULL));
	ok(cuStreamGetCtx(a, &owner));
	ts_check(owner == context);
	want(ERROR_INVALID_VALUE, cuStreamGetCtx(a, NULL));
	ok(cuStreamGetCtx_v2(a, &owner, &green));
	ts_check(owner == context && !green);
	refuses(ERROR_INVALID_HANDLE, cuStreamGetCtx_v2(bad, &owner, &green));
	ok(cuStreamQuery(a));
	refuses(ERROR_INVALID_HANDLE, cuStreamQuery(bad));
	ok(cuStreamSynchronize(a));
	refuses(ERROR_INVALID_HANDLE, cuStreamSynchronize(bad));
	ok(cuStreamDestroy_v2(a));
	ok(cuStreamDestroy(b));
	refuses(ERROR_INVALID_HANDLE, cuStreamDestroy(bad));
	refuses(ERROR_INVALID_HANDLE, cuStreamDestroy_v2(bad));
}

static void gate(void *open)
{
	while (!__atomic_load_n((int *)open, __ATOMIC_ACQUIRE))
		usleep(100);
}

static void called(void *stream, int status, void *counter)
{
	if (stream && !status)
		++*(int *)counter;
}

CONFORM(host_functions_hold_a_stream)
{
	void *s, *event;
	int open = 0, n = 0;

	begin();
	ok(cuStreamCreate(&s, TS_CU_STREAM_NON_BLOCKING));
	ok(cuEventCreate(&event, TS_CU_EVENT_DISABLE_TIMING));
	ok(cuLaunchHostFunc(s, (void *)gate, &open));
	want(ERROR_INVALID_VALUE, cuLaunchHostFunc(s, NULL, &open));
	refuses(ERROR_INVALID_HANDLE, cuLaunchHostFunc(bad, (void *)gate, &open));
	ok(cuStreamAddCallback(s, (void *)called, &n, 0));
	want(ERROR_INVALID_VALUE, cuStreamAddCallback(s, NULL, &n, 0));
	want(ERROR_INVALID_VALUE, cuStreamAddCallback(s, (void *)called, &n, 1));
	ok(cuEventRecord(event, s));
	want(ERROR_NOT_READY, cuStreamQuery(s));
	want(ERROR_NOT_READY, cuEventQuery(event));
	__atomic_store_n(&open, 1, __ATOMIC_RELEASE);
	ok(cuEventSynchronize(event));
	ok(cuEventQuery(event));
	ok(cuStreamSynchronize(s));
	ts_check_int(n, 1);
	ok(cuStreamDestroy_v2(s));
}

CONFORM(events)
{
	void *a, *b, *untimed, *never;
	float ms = -1;

	begin();
	ok(cuEventCreate(&a, 0));
	ok(cuEventCreate(&b, TS_CU_EVENT_BLOCKING_SYNC));
	ok(cuEventCreate(&never, 0));
	ok(cuEventCreate(&untimed, TS_CU_EVENT_DISABLE_TIMING));
	want(ERROR_INVALID_VALUE, cuEventCreate(NULL, 0));
	want(ERROR_INVALID_VALUE, cuEventCreate(&never, 1 << 9));
	ok(cuEventQuery(a));
	ok(cuEventRecord(a, NULL));
	ok(cuEventRecordWithFlags(b, NULL, 0));
	ok(cuEventRecord(untimed, NULL));
	want(ERROR_INVALID_HANDLE, cuEventRecord(NULL, NULL));
	refuses(ERROR_INVALID_HANDLE, cuEventRecord(a, bad));
	want(ERROR_INVALID_VALUE, cuEventRecordWithFlags(a, NULL, 1 << 9));
	ok(cuStreamWaitEvent(NULL, b, 0));
	want(ERROR_INVALID_HANDLE, cuStreamWaitEvent(NULL, NULL, 0));
	want(ERROR_INVALID_VALUE, cuStreamWaitEvent(NULL, b, 1 << 9));
	ok(cuEventSynchronize(b));
	want(ERROR_INVALID_HANDLE, cuEventSynchronize(NULL));
	want(ERROR_INVALID_HANDLE, cuEventQuery(NULL));
	ok(cuEventElapsedTime(&ms, a, b));
	ts_check(ms >= 0);
	ok(cuEventElapsedTime_v2(&ms, a, b));
	want(ERROR_INVALID_HANDLE, cuEventElapsedTime(&ms, a, never));
	want(ERROR_INVALID_HANDLE, cuEventElapsedTime_v2(&ms, a, untimed));
	want(ERROR_INVALID_HANDLE, cuEventElapsedTime_v2(&ms, NULL, b));
	want(ERROR_INVALID_HANDLE, cuEventElapsedTime_v2(NULL, a, b));
	ok(cuEventDestroy(a));
	ok(cuEventDestroy_v2(b));
	want(ERROR_INVALID_HANDLE, cuEventDestroy(NULL));
	want(ERROR_INVALID_HANDLE, cuEventDestroy_v2(NULL));
}

CONFORM(managed_memory_is_attached)
{
	uint64_t a, device;

	begin();
	ok(cuMemAllocManaged(&a, 4096, TS_CU_MEM_ATTACH_HOST));
	ok(cuMemAlloc_v2(&device, 4096));
	ok(cuStreamAttachMemAsync(NULL, a, 0, TS_CU_MEM_ATTACH_GLOBAL));
	want(ERROR_INVALID_VALUE, cuStreamAttachMemAsync(NULL, a, 0, 99));
	want(ERROR_INVALID_VALUE, cuStreamAttachMemAsync(NULL, device, 0, TS_CU_MEM_ATTACH_GLOBAL));
	refuses(ERROR_INVALID_HANDLE, cuStreamAttachMemAsync(bad, a, 0, TS_CU_MEM_ATTACH_GLOBAL));
	ok(cuStreamSynchronize(NULL));
}

CONFORM(a_capture)
{
	void *s, *graph = NULL, *caught;
	const void **deps;
	const void *edges;
	int32_t status = 99;
	uint64_t id = 0, address;
	size_t n;

	begin();
	ok(cuMemAlloc_v2(&address, 64));
	ok(cuStreamCreate(&s, TS_CU_STREAM_NON_BLOCKING));
	ok(cuStreamIsCapturing(s, &status));
	ts_check_int(status, TS_CU_STREAM_CAPTURE_STATUS_NONE);
	want(ERROR_INVALID_VALUE, cuStreamIsCapturing(s, NULL));
	want(ERROR_ILLEGAL_STATE, cuStreamEndCapture(s, &graph));
	ok(cuStreamBeginCapture_v2(s, TS_CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	want(ERROR_ILLEGAL_STATE, cuStreamBeginCapture_v2(s, 0));
	ok(cuStreamIsCapturing(s, &status));
	ts_check_int(status, TS_CU_STREAM_CAPTURE_STATUS_ACTIVE);
	ok(cuMemsetD8Async(address, 1, 64, s));
	ok(cuStreamGetCaptureInfo(s, &status, &id));
	ts_check(status == TS_CU_STREAM_CAPTURE_STATUS_ACTIVE && id);
	want(ERROR_INVALID_VALUE, cuStreamGetCaptureInfo(s, NULL, &id));
	ok(cuStreamGetCaptureInfo_v2(s, &status, &id, &caught, &deps, &n));
	ts_check(caught && n == 1);
	want(ERROR_INVALID_VALUE, cuStreamGetCaptureInfo_v2(s, NULL, &id, &caught, &deps, &n));
	ok(cuStreamGetCaptureInfo_v3(s, &status, &id, &caught, &deps, &edges, &n));
	ts_check_int(n, 1);
	want(ERROR_INVALID_VALUE,
	     cuStreamGetCaptureInfo_v3(s, NULL, &id, &caught, &deps, &edges, &n));
	ok(cuStreamUpdateCaptureDependencies(s, deps, 1, 1));
	want(ERROR_INVALID_VALUE, cuStreamUpdateCaptureDependencies(s, deps, 1, 99));
	ok(cuStreamUpdateCaptureDependencies_v2(s, deps, NULL, 1, 0));
	want(ERROR_INVALID_VALUE, cuStreamUpdateCaptureDependencies_v2(s, deps, NULL, 1, 99));
	ok(cuStreamEndCapture(s, &graph));
	ts_check(graph);
	want(ERROR_ILLEGAL_STATE, cuStreamUpdateCaptureDependencies(s, deps, 0, 0));
	want(ERROR_ILLEGAL_STATE, cuStreamUpdateCaptureDependencies_v2(s, deps, NULL, 0, 0));
	ok(cuStreamBeginCapture(s));
	want(ERROR_ILLEGAL_STATE, cuStreamBeginCapture(s));
	ok(cuStreamEndCapture(s, &caught));
	ok(cuStreamBeginCaptureToGraph(s, graph, NULL, NULL, 0, 1));
	ok(cuMemsetD8Async(address, 2, 64, s));
	ok(cuStreamEndCapture(s, &caught));
	ts_check(caught == graph);
	want(ERROR_INVALID_VALUE, cuStreamBeginCaptureToGraph(s, NULL, NULL, NULL, 0, 1));
	want(ERROR_INVALID_VALUE, cuStreamBeginCapture_v2(s, 99));
	ok(cuGraphGetNodes(graph, NULL, &n));
	ts_check_int(n, 2);
	ok(cuGraphDestroy(graph));
}

CONFORM(what_spoils_a_capture)
{
	int32_t mode = TS_CU_STREAM_CAPTURE_MODE_RELAXED, status;
	void *s, *graph = bad;
	uint64_t address;

	begin();
	ok(cuStreamCreate(&s, TS_CU_STREAM_NON_BLOCKING));
	ok(cuStreamBeginCapture_v2(s, TS_CU_STREAM_CAPTURE_MODE_GLOBAL));
	want(ERROR_STREAM_CAPTURE_UNSUPPORTED, cuStreamSynchronize(s));
	ok(cuStreamIsCapturing(s, &status));
	ts_check_int(status, TS_CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	want(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s, &graph));
	ts_check(!graph);
	ok(cuStreamBeginCapture_v2(s, TS_CU_STREAM_CAPTURE_MODE_GLOBAL));
	want(ERROR_STREAM_CAPTURE_UNSUPPORTED, cuMemAlloc_v2(&address, 64));
	want(ERROR_STREAM_CAPTURE_INVALIDATED, cuStreamEndCapture(s, &graph));
	ok(cuStreamBeginCapture_v2(s, TS_CU_STREAM_CAPTURE_MODE_GLOBAL));
	ok(cuThreadExchangeStreamCaptureMode(&mode));
	ts_check_int(mode, TS_CU_STREAM_CAPTURE_MODE_GLOBAL);
	refuses(ERROR_INVALID_VALUE, cuThreadExchangeStreamCaptureMode(NULL));
	ok(cuMemAlloc_v2(&address, 64));
	ok(cuStreamEndCapture(s, &graph));
	ok(cuGraphDestroy(graph));
}
