// SPDX-License-Identifier: Apache-2.0
/*
 * libcudart as nvcc's programs use it: registration, launches through stubs, symbols, managed variables, sticky errors,
 * every kind of memory, both default streams; and that kernels compute.
 */
#include <cuda_runtime.h>
#include <thread>

#include "test/unit/harness.h"

__constant__ float constants[4] = {1, 2, 3, 4};
__device__ int variable = 42;
__managed__ int managed = 7;

struct big {
	char bytes[200];
};

__global__ void fill(int *out, int n, struct big b)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = variable + (int)constants[i & 3] + b.bytes[0] + managed;
}

template <typename T> __global__ void twice(T *x)
{
	x[threadIdx.x] *= 2;
}

#define ok(call) ts_check_int(call, cudaSuccess)

TS_TEST(stubs_launch_and_symbols_are_found)
{
	struct big b = {{1}};
	float got[4];
	int value = 0, *device, results[1024];
	void *where;
	size_t bytes;

	ok(cudaMalloc(&device, 4096));
	fill<<<4, 256>>>(device, 1024, b);
	twice<int><<<1, 32, 128>>>(device);
	ok(cudaGetLastError());
	ok(cudaDeviceSynchronize());
	ok(cudaMemcpy(results, device, sizeof(results), cudaMemcpyDeviceToHost));
	for (int i = 0; i < 1024; i++)
		ts_check_int(results[i], (42 + 1 + i % 4 + 1 + 7) * (i < 32 ? 2 : 1));
	ok(cudaMemcpyFromSymbol(got, constants, sizeof(got)));
	ts_check(got[0] == 1 && got[3] == 4);
	ok(cudaMemcpyFromSymbol(&value, variable, sizeof(value)));
	ts_check_int(value, 42);
	value = 99;
	ok(cudaMemcpyToSymbol(variable, &value, sizeof(value)));
	value = 0;
	ok(cudaMemcpyFromSymbol(&value, variable, sizeof(value)));
	ts_check_int(value, 99);
	ts_check_int(cudaMemcpyFromSymbol(got, constants, 16, 4), cudaErrorInvalidValue);
	ts_check_int(cudaGetLastError(), cudaErrorInvalidValue);
	ok(cudaGetSymbolAddress(&where, variable));
	ok(cudaGetSymbolSize(&bytes, constants));
	ts_check_int(bytes, 16);
	ts_check_int(managed, 7);
	managed = 8;
	ts_check_int(managed, 8);
	ok(cudaFree(device));
}

TS_TEST(errors_stick_until_asked_for)
{
	twice<float><<<1, 2048>>>((float *)NULL);
	ts_check_int(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
	ok(cudaDeviceSynchronize());
	ts_check_int(cudaGetLastError(), cudaErrorInvalidConfiguration);
	ok(cudaGetLastError());
	ts_check_int(cudaMemcpy(NULL, NULL, 4, (cudaMemcpyKind)77), cudaErrorInvalidMemcpyDirection);
	ts_check_int(cudaGetLastError(), cudaErrorInvalidMemcpyDirection);
	ts_check_int(cudaSetDevice(99), cudaErrorInvalidDevice);
	ts_check_int(cudaFree((void *)0x1234), cudaErrorInvalidValue);
	ts_check_str(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
	ts_check_str(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
}

TS_TEST(memory_round_trips)
{
	enum { N = 100000 };
	char *host = (char *)malloc(N), *pinned, *device, *unified, *async;
	cudaPointerAttributes attributes;
	size_t pitch;
	char row[10];

	for (int i = 0; i < N; i++)
		host[i] = (char)(i * 13);
	ok(cudaMalloc(&device, N));
	ok(cudaMallocHost(&pinned, N));
	ok(cudaMallocManaged(&unified, N));
	ok(cudaMallocAsync(&async, N, 0));
	ok(cudaMemcpy(device, host, N, cudaMemcpyHostToDevice));
	ok(cudaMemcpyAsync(async, device, N, cudaMemcpyDeviceToDevice, 0));
	ok(cudaMemcpy(unified, async, N, cudaMemcpyDefault));
	ok(cudaMemcpy(pinned, unified, N, cudaMemcpyDefault));
	ts_check(!memcmp(host, pinned, N) && !memcmp(host, unified, N));
	ok(cudaMemset(device, 0x5a, N));
	ok(cudaMemcpy(pinned, device, N, cudaMemcpyDeviceToHost));
	ts_check(pinned[0] == 0x5a && pinned[N - 1] == 0x5a);
	ok(cudaPointerGetAttributes(&attributes, device + 5));
	ts_check_int(attributes.type, cudaMemoryTypeDevice);
	ok(cudaPointerGetAttributes(&attributes, unified));
	ts_check_int(attributes.type, cudaMemoryTypeManaged);
	ok(cudaPointerGetAttributes(&attributes, pinned));
	ts_check_int(attributes.type, cudaMemoryTypeHost);
	ok(cudaPointerGetAttributes(&attributes, host));
	ts_check_int(attributes.type, cudaMemoryTypeUnregistered);
	ok(cudaFreeAsync(async, 0));
	ok(cudaFree(device));
	ok(cudaFree(unified));
	ok(cudaFreeHost(pinned));

	ok(cudaMallocPitch(&device, &pitch, 10, 20));
	ok(cudaMemcpy2D(device, pitch, host, 10, 10, 20, cudaMemcpyHostToDevice));
	ok(cudaMemcpy2D(row, 10, device + 7 * pitch, pitch, 10, 1, cudaMemcpyDeviceToHost));
	ts_check(!memcmp(row, host + 70, 10));
	ts_check_int(cudaMemcpy2D(device, pitch, host, 5, 10, 20, cudaMemcpyHostToDevice),
		     cudaErrorInvalidPitchValue);
	ok(cudaFree(device));
	free(host);
}

TS_TEST(kernels_tell_their_attributes)
{
	static const int built_for[] = {__CUDA_ARCH_LIST__};
	cudaFuncAttributes attributes;
	cudaDeviceProp prop;
	int blocks, device;

	ok(cudaFuncGetAttributes(&attributes, fill));
	ts_check_int(attributes.maxThreadsPerBlock, 1024);
	/* What it was compiled for, and what it was made into. */
	ts_check_int(attributes.ptxVersion, built_for[0] / 10);
	ts_check_int(attributes.binaryVersion, 90);
	ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0));
	ts_check_int(blocks, 8);
	ok(cudaGetDeviceProperties(&prop, 0));
	ts_check(prop.major == 9 && prop.multiProcessorCount == 132 && prop.warpSize == 32);
	ts_check(strstr(prop.name, "Virtual"));
	ok(cudaGetDevice(&device));
	ts_check_int(device, 0);
}

TS_TEST(devices_threads_and_streams)
{
	cudaStream_t stream;
	cudaEvent_t a, b;
	float ms;
	int n, *p, *q, value = 5, got = 0;
	enum { BYTES = 64 * 4 };

	ok(cudaGetDeviceCount(&n));
	ts_check_int(n, 2);
	ok(cudaMalloc(&p, 4));
	/* Nothing orders another device's copies after this one's set but waiting for it. */
	ok(cudaMemset(p, 0, 4));
	ok(cudaDeviceSynchronize());
	ok(cudaSetDevice(1));
	ok(cudaMalloc(&q, BYTES));
	ok(cudaMemcpy(p, &value, 4, cudaMemcpyHostToDevice));
	ok(cudaMemcpyPeer(q, 1, p, 0, 4));
	ok(cudaMemcpy(&got, q, 4, cudaMemcpyDeviceToHost));
	ts_check_int(got, 5);
	ok(cudaDeviceEnablePeerAccess(0, 0));
	ts_check_int(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
	std::thread other([p] {
		int device = -1;

		ok(cudaGetDevice(&device));
		ts_check_int(device, 0);
		twice<float><<<1, 1, 0, cudaStreamPerThread>>>((float *)p);
		ok(cudaStreamSynchronize(cudaStreamPerThread));
	});
	other.join();
	ok(cudaStreamCreate(&stream));
	ok(cudaEventCreate(&a));
	ok(cudaEventCreate(&b));
	ok(cudaEventRecord(a, stream));
	for (int i = 0; i < 50; i++)
		twice<float><<<100, 64, 0, stream>>>((float *)q);
	ok(cudaEventRecord(b, stream));
	ok(cudaEventSynchronize(b));
	ok(cudaEventQuery(b));
	ok(cudaEventElapsedTime(&ms, a, b));
	ts_check(ms > 0.05f);
	ok(cudaEventDestroy(a));
	ok(cudaEventDestroy(b));
	ok(cudaStreamDestroy(stream));
	ok(cudaDeviceReset());
	ok(cudaMalloc(&q, 4));
	twice<float><<<1, 1>>>((float *)q);
	ok(cudaDeviceSynchronize());
}

static void count(void *arg)
{
	++*(int *)arg;
}

TS_TEST(streams_are_captured)
{
	cudaStreamCaptureStatus status;
	cudaGraphExec_t exec;
	cudaStream_t stream;
	cudaGraph_t graph;
	size_t n = 0;
	int *device, in = 3, out = 0, calls = 0;

	ok(cudaMalloc(&device, 64));
	ok(cudaStreamCreate(&stream));
	ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	ok(cudaMemcpyAsync(device, &in, 4, cudaMemcpyHostToDevice, stream));
	twice<int><<<1, 1, 0, stream>>>(device + 8);
	ok(cudaGetLastError());
	ok(cudaLaunchHostFunc(stream, count, &calls));
	ok(cudaMemcpyAsync(&out, device, 4, cudaMemcpyDeviceToHost, stream));
	ok(cudaStreamGetCaptureInfo(stream, &status));
	ts_check_int(status, cudaStreamCaptureStatusActive);
	ts_check_int(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
	ts_check_int(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
	ts_check_int(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
	ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	ok(cudaMemcpyAsync(device, &in, 4, cudaMemcpyHostToDevice, stream));
	ok(cudaLaunchHostFunc(stream, count, &calls));
	ok(cudaMemcpyAsync(&out, device, 4, cudaMemcpyDeviceToHost, stream));
	ok(cudaStreamEndCapture(stream, &graph));
	ok(cudaGraphGetNodes(graph, NULL, &n));
	ts_check_int(n, 3);
	ok(cudaGraphInstantiate(&exec, graph, 0));
	ok(cudaGraphLaunch(exec, stream));
	ok(cudaGraphLaunch(exec, stream));
	ok(cudaStreamSynchronize(stream));
	ts_check(out == 3 && calls == 2);
	ok(cudaGraphExecDestroy(exec));
	ok(cudaGraphDestroy(graph));
	ok(cudaStreamDestroy(stream));
}

/* Every kind of node in the runtime's words; what comes back is what was put in. */
TS_TEST(nodes_are_made_by_hand)
{
	int *device, in[4] = {1, 2, 3, 4}, out[4] = {0}, calls = 0, symbol = 0;
	cudaGraphNode_t copy, set, back, host, kernel, from, any, child_node, empty;
	cudaMemcpy3DParms copied, parms = {};
	cudaKernelNodeParams launch = {}, launched;
	cudaHostNodeParams call = {count, &calls};
	cudaMemsetParams fill_with = {};
	cudaGraphNodeParams more = {};
	cudaGraphExecUpdateResultInfo info;
	cudaGraphExec_t exec;
	cudaGraph_t graph, child;

	ok(cudaMalloc(&device, 512));
	int *other = device + 64;
	void *args[] = {&other};
	ok(cudaGraphCreate(&graph, 0));
	ok(cudaGraphAddMemcpyNode1D(&copy, graph, NULL, 0, device, in, sizeof(in),
				    cudaMemcpyHostToDevice));
	fill_with.dst = device;
	fill_with.elementSize = 4;
	fill_with.value = 9;
	fill_with.width = 2;
	fill_with.height = 1;
	ok(cudaGraphAddMemsetNode(&set, graph, &copy, 1, &fill_with));
	launch.func = (void *)twice<int>;
	launch.gridDim = dim3(2);
	launch.blockDim = dim3(32);
	launch.kernelParams = args;
	ok(cudaGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
	ok(cudaGraphKernelNodeGetParams(kernel, &launched));
	ts_check(launched.gridDim.x == 2 && launched.blockDim.x == 32 &&
		 *(int **)launched.kernelParams[0] == other);
	ok(cudaGraphKernelNodeSetParams(kernel, &launched));
	parms.srcPtr = make_cudaPitchedPtr(device, 16, 16, 1);
	parms.dstPtr = make_cudaPitchedPtr(out, 16, 16, 1);
	parms.extent = make_cudaExtent(16, 1, 1);
	parms.kind = cudaMemcpyDeviceToHost;
	ok(cudaGraphAddMemcpyNode(&back, graph, &set, 1, &parms));
	ok(cudaGraphMemcpyNodeGetParams(back, &copied));
	ts_check(copied.dstPtr.ptr == out && copied.srcPtr.ptr == device &&
		 copied.extent.width == 16 && copied.kind == cudaMemcpyDeviceToHost);
	ok(cudaGraphAddHostNode(&host, graph, &back, 1, &call));
	ok(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, NULL, 0, &symbol, variable, 4, 0,
					    cudaMemcpyDeviceToHost));
	more.type = cudaGraphNodeTypeHost;
	more.host.fn = count;
	more.host.userData = &calls;
#if CUDART_VERSION >= 13000
	ok(cudaGraphAddNode(&any, graph, &host, NULL, 1, &more));
#else
	ok(cudaGraphAddNode(&any, graph, &host, 1, &more));
#endif
	ok(cudaGraphCreate(&child, 0));
	ok(cudaGraphAddHostNode(&host, child, NULL, 0, &call));
	ok(cudaGraphAddEmptyNode(&empty, graph, &any, 1));
	ok(cudaGraphAddChildGraphNode(&child_node, graph, &empty, 1, child));
	ok(cudaGraphInstantiate(&exec, graph, 0));
	ok(cudaGraphLaunch(exec, 0));
	ok(cudaDeviceSynchronize());
	ts_check(out[0] == 9 && out[1] == 9 && out[3] == 4);
	ts_check(calls == 3 && symbol == 42);
	fill_with.value = 5;
	ok(cudaGraphExecMemsetNodeSetParams(exec, set, &fill_with));
	ok(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, device, in + 1, 12,
					      cudaMemcpyHostToDevice));
	ok(cudaGraphLaunch(exec, 0));
	ok(cudaDeviceSynchronize());
	ts_check(out[0] == 5 && out[2] == 4 && out[3] == 4);
	ok(cudaGraphExecUpdate(exec, graph, &info));
	ts_check_int(info.result, cudaGraphExecUpdateSuccess);
	ok(cudaGraphLaunch(exec, 0));
	ok(cudaDeviceSynchronize());
	ts_check(out[0] == 9 && out[2] == 3);
	launch.func = (void *)count;
	ts_check_int(cudaGraphAddKernelNode(&any, graph, NULL, 0, &launch),
		     cudaErrorInvalidDeviceFunction);
	ok(cudaGraphExecDestroy(exec));
	ok(cudaGraphDestroy(child));
	ok(cudaGraphDestroy(graph));
}

TS_TEST(captured_kernels_compute)
{
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	int *p, got[32];

	ok(cudaStreamCreate(&stream));
	ok(cudaMalloc(&p, sizeof(got)));
	ok(cudaMemset(p, 0, sizeof(got)));
	ok(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	fill<<<1, 32, 0, stream>>>(p, 32, big{{1}});
	twice<int><<<1, 32, 0, stream>>>(p);
	ok(cudaStreamEndCapture(stream, &graph));
	ok(cudaGraphInstantiate(&exec, graph, 0));
	ok(cudaMemcpy(got, p, sizeof(got), cudaMemcpyDeviceToHost));
	ts_check_int(got[0], 0);
	ok(cudaGraphLaunch(exec, stream));
	ok(cudaStreamSynchronize(stream));
	ok(cudaMemcpy(got, p, sizeof(got), cudaMemcpyDeviceToHost));
	ts_check_int(got[1], 2 * (42 + 2 + 1 + 7));
	ok(cudaGraphExecDestroy(exec));
	ok(cudaGraphDestroy(graph));
	ok(cudaFree(p));
	ok(cudaStreamDestroy(stream));
}

__global__ void spin(volatile int *flag, int *out)
{
	while (!*flag)
		;
	*out = 42;
}

TS_TEST(a_kernel_may_wait_for_a_copy)
{
	cudaStream_t waiting, copying;
	int *flag, *out, one = 1, got = 0;

	ok(cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking));
	ok(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking));
	ok(cudaMalloc(&flag, 4));
	ok(cudaMalloc(&out, 4));
	ok(cudaMemset(flag, 0, 4));
	spin<<<1, 1, 0, waiting>>>(flag, out);
	ok(cudaMemcpyAsync(flag, &one, 4, cudaMemcpyHostToDevice, copying));
	ok(cudaStreamSynchronize(copying));
	ok(cudaStreamSynchronize(waiting));
	ok(cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost));
	ts_check_int(got, 42);
}

TS_TEST(kernels_may_wait_for_each_other)
{
	cudaStream_t first, second;
	int *flags, got[3];

	ok(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
	ok(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
	ok(cudaMalloc(&flags, sizeof(got)));
	ok(cudaMemset(flags, 0, sizeof(got)));
	/* The first waits for what the second writes. */
	spin<<<1, 1, 0, first>>>(flags + 1, flags + 2);
	fill<<<1, 32, 0, second>>>(flags, 2, big{{1}});
	ok(cudaDeviceSynchronize());
	ok(cudaMemcpy(got, flags, sizeof(got), cudaMemcpyDeviceToHost));
	ts_check_int(got[2], 42);
}

/* What a kernel did wrong, and what every later call then answers. */
enum wrong { FAR_AWAY, NOTHING_THERE, MISALIGNED, TRAP, ASSERT };

__global__ void err(int *p, wrong what)
{
	if (what == FAR_AWAY)
		p[1 << 28] = 1;
	if (what == NOTHING_THERE)
		*(int *)8 = 1;
	if (what == MISALIGNED)
		*(int *)((char *)p + 1) = 1;
	if (what == TRAP)
		__trap();
	assert(what != ASSERT);
}

static void check_fault(wrong what, cudaError_t want)
{
	int *p;

	ok(cudaMalloc(&p, 4096));
	err<<<1, 1>>>(p, what);
	ts_check_int(cudaDeviceSynchronize(), want);
	ts_check_int(cudaMalloc(&p, 4), want);
	ts_check_int(cudaGetLastError(), want);
	ts_check_int(cudaStreamSynchronize(0), want);
	/* Until the context goes. */
	ok(cudaDeviceReset());
	ok(cudaMalloc(&p, 4096));
	twice<int><<<1, 32>>>(p);
	ok(cudaDeviceSynchronize());
}

TS_TEST(an_access_far_away_is_illegal)
{
	check_fault(FAR_AWAY, cudaErrorIllegalAddress);
}

TS_TEST(an_access_to_nothing_is_illegal)
{
	check_fault(NOTHING_THERE, cudaErrorIllegalAddress);
}

TS_TEST(a_misaligned_access_is_told)
{
	check_fault(MISALIGNED, cudaErrorMisalignedAddress);
}

TS_TEST(a_trap_is_a_launch_failure)
{
	check_fault(TRAP, cudaErrorLaunchFailure);
}

TS_TEST(an_assertion_is_told)
{
	check_fault(ASSERT, cudaErrorAssert);
}
