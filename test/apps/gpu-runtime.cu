/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h over CUDA's runtime API, as nvcc compiles it: <<<>>> launches, registered kernels, the primary
 * context by itself. Linked with -cudart shared, so that what loads it decides which GPU it is.
 */
#include <cuda_runtime.h>

#include "test/apps/gpu.h"

#define BLOCK 256u

extern "C" __global__ void saxpy(uint32_t n, float a, const float *x, float *y)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = fmaf(a, x[i], y[i]);
}

extern "C" __global__ void scale(uint32_t n, float a, float *x)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] *= a;
}

extern "C" __global__ void nothing(void)
{
}

static const struct gpu_code *code;
static int n_devices;
static __thread int current;

static void check(cudaError_t result, const char *call)
{
	if (result == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s (%d)\n", call, cudaGetErrorName(result), (int)result);
	exit(GPU_FAILED);
}

void gpu_open(const struct gpu_code *own)
{
	/* In the order of enum gpu_call. */
	static const char *const names[GPU_CALLS] = {
		"cudaLaunchKernel",
		"cudaMalloc",
		"cudaFree",
		"cudaMallocHost",
		"cudaFreeHost",
		"cudaMemcpy",
		"cudaMemcpy",
		"cudaMemcpy",
		"cudaMemcpyAsync",
		"cudaMemcpyAsync",
		"cudaMemcpyAsync",
		"cudaMemcpyPeerAsync",
		"cudaMemset",
		"cudaMemsetAsync",
		"cudaStreamCreateWithFlags",
		"cudaStreamDestroy",
		"cudaStreamSynchronize",
		"cudaStreamWaitEvent",
		"cudaEventRecord",
		"cudaEventSynchronize",
		"cudaDeviceSynchronize",
		"cudaStreamBeginCapture",
		"cudaStreamEndCapture",
		"cudaGraphInstantiate",
		"cudaGraphLaunch",
	};
	cudaError_t result;

	code = own;
	gpu_truth_begin(names, code);
	result = cudaGetDeviceCount(&n_devices);
	if (result == cudaErrorNoDevice || result == cudaErrorInsufficientDriver ||
	    result == cudaErrorStubLibrary) {
		fprintf(stderr, "skipped: %s\n", cudaGetErrorString(result));
		exit(GPU_SKIPPED);
	}
	check(result, "cudaGetDeviceCount");
	gpu_set_device(0);
}

int gpu_device_count(void)
{
	return n_devices;
}

void gpu_set_device(int device)
{
	int major, minor;

	check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
	      "cudaDeviceGetAttribute");
	check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
	      "cudaDeviceGetAttribute");
	gpu_need_capability(code, major, minor);
	check(cudaSetDevice(device), "cudaSetDevice");
	current = device;
}

static cudaStream_t handle_of(struct gpu_stream stream)
{
	return (cudaStream_t)stream.handle;
}

void *gpu_malloc(size_t n_bytes)
{
	void *memory;

	check(cudaMalloc(&memory, n_bytes), "cudaMalloc");
	gpu_count_call(GPU_CALL_MALLOC, current);
	ts_truth_add(&gpu_truth()->allocs[TS_TRUTH_DEVICE], 1);
	ts_truth_add(&gpu_truth()->alloc_bytes[TS_TRUTH_DEVICE], n_bytes);
	return memory;
}

void gpu_free(void *memory)
{
	check(cudaFree(memory), "cudaFree");
	gpu_count_call(GPU_CALL_FREE, current);
	ts_truth_add(&gpu_truth()->frees[TS_TRUTH_DEVICE], 1);
}

void *gpu_host_malloc(size_t n_bytes)
{
	void *memory;

	check(cudaMallocHost(&memory, n_bytes), "cudaMallocHost");
	gpu_count_call(GPU_CALL_HOST_MALLOC, current);
	ts_truth_add(&gpu_truth()->allocs[TS_TRUTH_PINNED], 1);
	ts_truth_add(&gpu_truth()->alloc_bytes[TS_TRUTH_PINNED], n_bytes);
	return memory;
}

void gpu_host_free(void *memory)
{
	check(cudaFreeHost(memory), "cudaFreeHost");
	gpu_count_call(GPU_CALL_HOST_FREE, current);
	ts_truth_add(&gpu_truth()->frees[TS_TRUTH_PINNED], 1);
}

void gpu_h2d(void *dst, const void *src, size_t n_bytes)
{
	check(cudaMemcpy(dst, src, n_bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
	gpu_count_copy(GPU_CALL_H2D, current, TS_TRUTH_H2D, n_bytes);
}

void gpu_d2h(void *dst, const void *src, size_t n_bytes)
{
	check(cudaMemcpy(dst, src, n_bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
	gpu_count_copy(GPU_CALL_D2H, current, TS_TRUTH_D2H, n_bytes);
}

void gpu_d2d(void *dst, const void *src, size_t n_bytes)
{
	check(cudaMemcpy(dst, src, n_bytes, cudaMemcpyDeviceToDevice), "cudaMemcpy");
	gpu_count_copy(GPU_CALL_D2D, current, TS_TRUTH_D2D, n_bytes);
}

void gpu_h2d_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	check(cudaMemcpyAsync(dst, src, n_bytes, cudaMemcpyHostToDevice, handle_of(stream)),
	      "cudaMemcpyAsync");
	gpu_count_copy(GPU_CALL_H2D_ASYNC, current, TS_TRUTH_H2D, n_bytes);
}

void gpu_d2h_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	check(cudaMemcpyAsync(dst, src, n_bytes, cudaMemcpyDeviceToHost, handle_of(stream)),
	      "cudaMemcpyAsync");
	gpu_count_copy(GPU_CALL_D2H_ASYNC, current, TS_TRUTH_D2H, n_bytes);
}

void gpu_d2d_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	check(cudaMemcpyAsync(dst, src, n_bytes, cudaMemcpyDeviceToDevice, handle_of(stream)),
	      "cudaMemcpyAsync");
	gpu_count_copy(GPU_CALL_D2D_ASYNC, current, TS_TRUTH_D2D, n_bytes);
}

void gpu_peer_async(void *dst, int dst_device, const void *src, int src_device, size_t n_bytes,
		    struct gpu_stream stream)
{
	check(cudaMemcpyPeerAsync(dst, dst_device, src, src_device, n_bytes, handle_of(stream)),
	      "cudaMemcpyPeerAsync");
	gpu_count_copy(GPU_CALL_PEER_ASYNC, current, TS_TRUTH_PEER, n_bytes);
}

void gpu_set(void *dst, uint8_t value, size_t n_bytes)
{
	check(cudaMemset(dst, value, n_bytes), "cudaMemset");
	gpu_count_set(GPU_CALL_SET, current, n_bytes);
}

void gpu_set_async(void *dst, uint8_t value, size_t n_bytes, struct gpu_stream stream)
{
	check(cudaMemsetAsync(dst, value, n_bytes, handle_of(stream)), "cudaMemsetAsync");
	gpu_count_set(GPU_CALL_SET_ASYNC, current, n_bytes);
}

struct gpu_stream gpu_stream_create(bool blocking)
{
	struct gpu_stream stream;
	cudaStream_t handle;

	check(cudaStreamCreateWithFlags(&handle,
					blocking ? cudaStreamDefault : cudaStreamNonBlocking),
	      "cudaStreamCreateWithFlags");
	stream.handle = handle;
	stream.index = gpu_next_stream();
	gpu_count_call(GPU_CALL_STREAM_CREATE, current);
	return stream;
}

void gpu_stream_destroy(struct gpu_stream stream)
{
	check(cudaStreamDestroy(handle_of(stream)), "cudaStreamDestroy");
	gpu_count_call(GPU_CALL_STREAM_DESTROY, current);
}

void gpu_stream_sync(struct gpu_stream stream)
{
	check(cudaStreamSynchronize(handle_of(stream)), "cudaStreamSynchronize");
	gpu_count_call(GPU_CALL_STREAM_SYNC, current);
}

void gpu_stream_wait(struct gpu_stream stream, void *event)
{
	check(cudaStreamWaitEvent(handle_of(stream), (cudaEvent_t)event, 0), "cudaStreamWaitEvent");
	gpu_count_call(GPU_CALL_STREAM_WAIT, current);
}

void *gpu_event_create(void)
{
	cudaEvent_t event;

	check(cudaEventCreate(&event), "cudaEventCreate");
	return event;
}

void gpu_event_destroy(void *event)
{
	check(cudaEventDestroy((cudaEvent_t)event), "cudaEventDestroy");
}

void gpu_event_record(void *event, struct gpu_stream stream)
{
	check(cudaEventRecord((cudaEvent_t)event, handle_of(stream)), "cudaEventRecord");
	gpu_count_call(GPU_CALL_EVENT_RECORD, current);
}

void gpu_event_sync(void *event)
{
	check(cudaEventSynchronize((cudaEvent_t)event), "cudaEventSynchronize");
	gpu_count_call(GPU_CALL_EVENT_SYNC, current);
}

float gpu_event_elapsed_ms(void *start, void *end)
{
	float ms;

	check(cudaEventElapsedTime(&ms, (cudaEvent_t)start, (cudaEvent_t)end),
	      "cudaEventElapsedTime");
	return ms;
}

void gpu_device_sync(void)
{
	check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
	gpu_count_call(GPU_CALL_DEVICE_SYNC, current);
}

void gpu_saxpy(uint32_t n, float a, const float *x, float *y, struct gpu_stream stream)
{
	saxpy<<<(n + BLOCK - 1) / BLOCK, BLOCK, 0, handle_of(stream)>>>(n, a, x, y);
	check(cudaGetLastError(), "saxpy<<<>>>");
	gpu_count_launch(GPU_SAXPY, current, stream);
}

void gpu_scale(uint32_t n, float a, float *x, struct gpu_stream stream)
{
	scale<<<(n + BLOCK - 1) / BLOCK, BLOCK, 0, handle_of(stream)>>>(n, a, x);
	check(cudaGetLastError(), "scale<<<>>>");
	gpu_count_launch(GPU_SCALE, current, stream);
}

void gpu_nothing(struct gpu_stream stream)
{
	nothing<<<1, 1, 0, handle_of(stream)>>>();
	check(cudaGetLastError(), "nothing<<<>>>");
	gpu_count_launch(GPU_NOTHING, current, stream);
}

void gpu_launch(uint32_t own, struct gpu_shape shape, void **arguments, struct gpu_stream stream)
{
	check(cudaLaunchKernel(code->functions[own],
			       dim3(shape.grid[0], shape.grid[1], shape.grid[2]),
			       dim3(shape.block[0], shape.block[1], shape.block[2]), arguments,
			       shape.shared_bytes, handle_of(stream)),
	      "cudaLaunchKernel");
	gpu_count_launch(GPU_KERNELS + own, current, stream);
}

void gpu_capture_begin(struct gpu_stream stream)
{
	check(cudaStreamBeginCapture(handle_of(stream), cudaStreamCaptureModeThreadLocal),
	      "cudaStreamBeginCapture");
	gpu_count_call(GPU_CALL_CAPTURE_BEGIN, current);
	gpu_tally_begin();
}

struct gpu_graph gpu_capture_end(struct gpu_stream stream)
{
	struct gpu_graph graph;
	cudaGraph_t captured;
	cudaGraphExec_t exec;

	graph.tally = gpu_tally_end();
	check(cudaStreamEndCapture(handle_of(stream), &captured), "cudaStreamEndCapture");
	gpu_count_call(GPU_CALL_CAPTURE_END, current);
#if CUDART_VERSION >= 12000
	check(cudaGraphInstantiate(&exec, captured, 0), "cudaGraphInstantiate");
#else
	check(cudaGraphInstantiate(&exec, captured, NULL, NULL, 0), "cudaGraphInstantiate");
#endif
	gpu_count_call(GPU_CALL_GRAPH_INSTANTIATE, current);
	check(cudaGraphDestroy(captured), "cudaGraphDestroy");
	graph.handle = exec;
	return graph;
}

void gpu_graph_launch(struct gpu_graph graph, struct gpu_stream stream)
{
	check(cudaGraphLaunch((cudaGraphExec_t)graph.handle, handle_of(stream)), "cudaGraphLaunch");
	gpu_count_call(GPU_CALL_GRAPH_LAUNCH, current);
	gpu_tally_count(graph.tally, stream);
}

void gpu_graph_destroy(struct gpu_graph graph)
{
	check(cudaGraphExecDestroy((cudaGraphExec_t)graph.handle), "cudaGraphExecDestroy");
	gpu_tally_free(graph.tally);
}
