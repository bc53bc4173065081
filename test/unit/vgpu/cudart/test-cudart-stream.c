// SPDX-License-Identifier: Apache-2.0
/* Tests the runtime's functions for streams, events, waits and stream capture. */
#include "test/unit/vgpu/generated-runtime.h"

static void *const bad = (void *)8;

CONFORM(streams)
{
	int32_t low, high, n = 99;
	uint64_t id, other;
	uint32_t flags = 99;
	void *a, *b, *c;

	ok(cudaStreamCreate(&a));
	want(ERROR_INVALID_VALUE, cudaStreamCreate(NULL));
	ok(cudaStreamCreateWithFlags(&b, TS_CUDA_STREAM_NON_BLOCKING));
	want(ERROR_INVALID_VALUE, cudaStreamCreateWithFlags(&c, 1 << 9));
	ok(cudaDeviceGetStreamPriorityRange(&low, &high));
	ok(cudaStreamCreateWithPriority(&c, TS_CUDA_STREAM_NON_BLOCKING, high));
	want(ERROR_INVALID_VALUE, cudaStreamCreateWithPriority(NULL, 0, 0));
	ok(cudaStreamGetPriority(c, &n));
	ts_check_int(n, high);
	want(ERROR_INVALID_VALUE, cudaStreamGetPriority(c, NULL));
	ok(cudaStreamGetFlags(b, &flags));
	ts_check_int(flags, TS_CUDA_STREAM_NON_BLOCKING);
	want(ERROR_INVALID_VALUE, cudaStreamGetFlags(b, NULL));
	ok(cudaStreamGetId(a, &id));
	ok(cudaStreamGetId(b, &other));
	ts_check(id != other);
	want(ERROR_INVALID_VALUE, cudaStreamGetId(a, NULL));
	ok(cudaStreamGetDevice(a, &n));
	ts_check_int(n, 0);
	refuses(ERROR_INVALID_VALUE, cudaStreamGetDevice(a, NULL));
	ok(cudaStreamQuery(a));
	refuses(ERROR_INVALID_RESOURCE_HANDLE, cudaStreamQuery(bad));
	ok(cudaStreamSynchronize(a));
	refuses(ERROR_INVALID_RESOURCE_HANDLE, cudaStreamSynchronize(bad));
	ok(cudaStreamDestroy(a));
	refuses(ERROR_INVALID_RESOURCE_HANDLE, cudaStreamDestroy(bad));
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

CONFORM(events_and_what_holds_a_stream)
{
	void *s, *a, *b, *untimed;
	int open = 0, n = 0;
	float ms = -1;

	ok(cudaStreamCreateWithFlags(&s, TS_CUDA_STREAM_NON_BLOCKING));
	ok(cudaEventCreate(&a));
	want(ERROR_INVALID_VALUE, cudaEventCreate(NULL));
	ok(cudaEventCreateWithFlags(&b, TS_CUDA_EVENT_BLOCKING_SYNC));
	ok(cudaEventCreateWithFlags(&untimed, TS_CUDA_EVENT_DISABLE_TIMING));
	want(ERROR_INVALID_VALUE, cudaEventCreateWithFlags(&b, 1 << 9));
	ok(cudaEventRecord(a, s));
	want(ERROR_INVALID_RESOURCE_HANDLE, cudaEventRecord(NULL, s));
	ok(cudaLaunchHostFunc(s, (void *)gate, &open));
	want(ERROR_INVALID_VALUE, cudaLaunchHostFunc(s, NULL, &open));
	ok(cudaStreamAddCallback(s, (void *)called, &n, 0));
	want(ERROR_INVALID_VALUE, cudaStreamAddCallback(s, NULL, &n, 0));
	ok(cudaEventRecordWithFlags(b, s, 0));
	want(ERROR_INVALID_VALUE, cudaEventRecordWithFlags(b, s, 1 << 9));
	ok(cudaStreamWaitEvent(NULL, b, 0));
	want(ERROR_INVALID_RESOURCE_HANDLE, cudaStreamWaitEvent(NULL, NULL, 0));
	want(ERROR_NOT_READY, cudaEventQuery(b));
	want(ERROR_NOT_READY, cudaStreamQuery(s));
	/* "Not ready" is no error: the last error is still that of an earlier call. */
	want(ERROR_INVALID_RESOURCE_HANDLE, cudaGetLastError());
	__atomic_store_n(&open, 1, __ATOMIC_RELEASE);
	ok(cudaEventSynchronize(b));
	want(ERROR_INVALID_RESOURCE_HANDLE, cudaEventSynchronize(NULL));
	ok(cudaEventQuery(b));
	want(ERROR_INVALID_RESOURCE_HANDLE, cudaEventQuery(NULL));
	ok(cudaEventElapsedTime(&ms, a, b));
	ts_check(ms >= 0 && n == 1);
	want(ERROR_INVALID_RESOURCE_HANDLE, cudaEventElapsedTime(&ms, a, untimed));
	want(ERROR_INVALID_VALUE, cudaEventElapsedTime(NULL, a, b));
	ok(cudaEventDestroy(a));
	want(ERROR_INVALID_RESOURCE_HANDLE, cudaEventDestroy(NULL));
}

CONFORM(a_capture)
{
	void *s, *graph = NULL, *caught, *p;
	const void **deps, *edges;
	int32_t status = 99, mode = TS_CUDA_STREAM_CAPTURE_MODE_RELAXED;
	uint64_t id = 0;
	size_t n;

	ok(cudaMalloc(&p, 64));
	ok(cudaStreamCreateWithFlags(&s, TS_CUDA_STREAM_NON_BLOCKING));
	ok(cudaStreamBeginCapture(s, TS_CUDA_STREAM_CAPTURE_MODE_GLOBAL));
	want(ERROR_ILLEGAL_STATE, cudaStreamBeginCapture(s, TS_CUDA_STREAM_CAPTURE_MODE_GLOBAL));
	ok(cudaThreadExchangeStreamCaptureMode(&mode));
	refuses(ERROR_INVALID_VALUE, cudaThreadExchangeStreamCaptureMode(NULL));
	ok(cudaStreamIsCapturing(s, &status));
	ts_check_int(status, TS_CUDA_STREAM_CAPTURE_STATUS_ACTIVE);
	want(ERROR_INVALID_VALUE, cudaStreamIsCapturing(s, NULL));
	ok(cudaMemsetAsync(p, 1, 64, s));
	ok(cudaStreamGetCaptureInfo(s, &status, &id, &caught, &deps, &edges, &n));
	ts_check(id && n == 1);
	want(ERROR_INVALID_VALUE,
	     cudaStreamGetCaptureInfo(s, NULL, &id, &caught, &deps, &edges, &n));
	ok(cudaStreamUpdateCaptureDependencies(s, deps, NULL, 1, 1));
	want(ERROR_INVALID_VALUE, cudaStreamUpdateCaptureDependencies(s, deps, NULL, 1, 99));
	ok(cudaStreamEndCapture(s, &graph));
	caught = graph;
	want(ERROR_ILLEGAL_STATE, cudaStreamEndCapture(s, &caught));
	ts_check(!caught);
	ok(cudaStreamBeginCaptureToGraph(s, caught = graph, NULL, NULL, 0, 1));
	ok(cudaStreamEndCapture(s, &graph));
	ts_check(caught == graph);
	want(ERROR_INVALID_VALUE, cudaStreamBeginCaptureToGraph(s, NULL, NULL, NULL, 0, 1));
	ok(cudaGraphDestroy(graph));
}
