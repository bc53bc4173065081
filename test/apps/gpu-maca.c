/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h over MetaX's runtime, as the virtual libmcruntime.so has it. Linked against that library.
 * Kernels are PTX, loaded as modules. Counts through gpu-truth.c.
 */
#include "test/apps/gpu-ptx.h"
#include "test/apps/gpu.h"
#include "tools/vgpu/maca/maca.h"

/* MetaX's numbers, which are not public: those of the virtual libmcruntime. */
#define FROM_HOST	     1
#define TO_HOST		     2
#define ON_DEVICE	     3
#define STREAM_DEFAULT	     0
#define STREAM_NON_BLOCKING  1
#define CAPTURE_THREAD_LOCAL 1

#define MAX_DEVICES	     16
#define BLOCK		     256u

static const struct gpu_code *code;
static int n_devices;
static struct {
	bool opened;
	void *functions[TS_TRUTH_KERNELS];
} devices[MAX_DEVICES];
static __thread int current;

static void check(int result, const char *call)
{
	if (!result)
		return;
	fprintf(stderr, "%s: error %d\n", call, result);
	exit(GPU_FAILED);
}

void gpu_open(const struct gpu_code *own)
{
	static const char *const names[GPU_CALLS] = {
		[GPU_CALL_LAUNCH] = "mcModuleLaunchKernel",
		[GPU_CALL_MALLOC] = "mcMalloc",
		[GPU_CALL_FREE] = "mcFree",
		[GPU_CALL_HOST_MALLOC] = "mcMallocHost",
		[GPU_CALL_HOST_FREE] = "mcFreeHost",
		[GPU_CALL_H2D] = "mcMemcpy",
		[GPU_CALL_D2H] = "mcMemcpy",
		[GPU_CALL_D2D] = "mcMemcpy",
		[GPU_CALL_H2D_ASYNC] = "mcMemcpyAsync",
		[GPU_CALL_D2H_ASYNC] = "mcMemcpyAsync",
		[GPU_CALL_D2D_ASYNC] = "mcMemcpyAsync",
		[GPU_CALL_PEER_ASYNC] = "mcMemcpyPeerAsync",
		[GPU_CALL_SET] = "mcMemset",
		[GPU_CALL_SET_ASYNC] = "mcMemsetAsync",
		[GPU_CALL_STREAM_CREATE] = "mcStreamCreateWithFlags",
		[GPU_CALL_STREAM_DESTROY] = "mcStreamDestroy",
		[GPU_CALL_STREAM_SYNC] = "mcStreamSynchronize",
		[GPU_CALL_STREAM_WAIT] = "mcStreamWaitEvent",
		[GPU_CALL_EVENT_RECORD] = "mcEventRecord",
		[GPU_CALL_EVENT_SYNC] = "mcEventSynchronize",
		[GPU_CALL_DEVICE_SYNC] = "mcDeviceSynchronize",
		[GPU_CALL_CAPTURE_BEGIN] = "mcStreamBeginCapture",
		[GPU_CALL_CAPTURE_END] = "mcStreamEndCapture",
		[GPU_CALL_GRAPH_INSTANTIATE] = "mcGraphInstantiate",
		[GPU_CALL_GRAPH_LAUNCH] = "mcGraphLaunch",
	};

	code = own;
	gpu_truth_begin(names, code);
	if (mcGetDeviceCount(&n_devices) || n_devices < 1) {
		fprintf(stderr, "skipped: MACA has no device\n");
		exit(GPU_SKIPPED);
	}
	if (n_devices > MAX_DEVICES)
		n_devices = MAX_DEVICES;
	gpu_set_device(0);
}

int gpu_device_count(void)
{
	return n_devices;
}

static void load(int device, const char *ptx, uint32_t first, uint32_t n)
{
	void *module;

	check(mcModuleLoadData(&module, ptx), "mcModuleLoadData");
	for (uint32_t i = first; i < n; i++)
		check(mcModuleGetFunction(&devices[device].functions[i], module,
					  gpu_truth()->kernel_names[i]),
		      "mcModuleGetFunction");
}

static void open_device(int device)
{
	devices[device].opened = true;
	load(device, gpu_ptx, 0, GPU_KERNELS);
	if (code)
		load(device, code->ptx, GPU_KERNELS, gpu_kernels());
}

/* The main thread makes the first use of a device, before it starts other threads. */
void gpu_set_device(int device)
{
	check(mcSetDevice(device), "mcSetDevice");
	if (!devices[device].opened)
		open_device(device);
	current = device;
}

void *gpu_malloc(size_t n_bytes)
{
	void *memory;

	check(mcMalloc(&memory, n_bytes), "mcMalloc");
	gpu_count_call(GPU_CALL_MALLOC, current);
	ts_truth_add(&gpu_truth()->allocs[TS_TRUTH_DEVICE], 1);
	ts_truth_add(&gpu_truth()->alloc_bytes[TS_TRUTH_DEVICE], n_bytes);
	return memory;
}

void gpu_free(void *memory)
{
	check(mcFree(memory), "mcFree");
	gpu_count_call(GPU_CALL_FREE, current);
	ts_truth_add(&gpu_truth()->frees[TS_TRUTH_DEVICE], 1);
}

void *gpu_host_malloc(size_t n_bytes)
{
	void *memory;

	check(mcMallocHost(&memory, n_bytes), "mcMallocHost");
	gpu_count_call(GPU_CALL_HOST_MALLOC, current);
	ts_truth_add(&gpu_truth()->allocs[TS_TRUTH_PINNED], 1);
	ts_truth_add(&gpu_truth()->alloc_bytes[TS_TRUTH_PINNED], n_bytes);
	return memory;
}

void gpu_host_free(void *memory)
{
	check(mcFreeHost(memory), "mcFreeHost");
	gpu_count_call(GPU_CALL_HOST_FREE, current);
	ts_truth_add(&gpu_truth()->frees[TS_TRUTH_PINNED], 1);
}

void gpu_h2d(void *dst, const void *src, size_t n_bytes)
{
	check(mcMemcpy(dst, src, n_bytes, FROM_HOST), "mcMemcpy");
	gpu_count_copy(GPU_CALL_H2D, current, TS_TRUTH_H2D, n_bytes);
}

void gpu_d2h(void *dst, const void *src, size_t n_bytes)
{
	check(mcMemcpy(dst, src, n_bytes, TO_HOST), "mcMemcpy");
	gpu_count_copy(GPU_CALL_D2H, current, TS_TRUTH_D2H, n_bytes);
}

void gpu_d2d(void *dst, const void *src, size_t n_bytes)
{
	check(mcMemcpy(dst, src, n_bytes, ON_DEVICE), "mcMemcpy");
	gpu_count_copy(GPU_CALL_D2D, current, TS_TRUTH_D2D, n_bytes);
}

void gpu_h2d_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	check(mcMemcpyAsync(dst, src, n_bytes, FROM_HOST, stream.handle), "mcMemcpyAsync");
	gpu_count_copy(GPU_CALL_H2D_ASYNC, current, TS_TRUTH_H2D, n_bytes);
}

void gpu_d2h_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	check(mcMemcpyAsync(dst, src, n_bytes, TO_HOST, stream.handle), "mcMemcpyAsync");
	gpu_count_copy(GPU_CALL_D2H_ASYNC, current, TS_TRUTH_D2H, n_bytes);
}

void gpu_d2d_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	check(mcMemcpyAsync(dst, src, n_bytes, ON_DEVICE, stream.handle), "mcMemcpyAsync");
	gpu_count_copy(GPU_CALL_D2D_ASYNC, current, TS_TRUTH_D2D, n_bytes);
}

void gpu_peer_async(void *dst, int dst_device, const void *src, int src_device, size_t n_bytes,
		    struct gpu_stream stream)
{
	check(mcMemcpyPeerAsync(dst, dst_device, src, src_device, n_bytes, stream.handle),
	      "mcMemcpyPeerAsync");
	gpu_count_copy(GPU_CALL_PEER_ASYNC, current, TS_TRUTH_PEER, n_bytes);
}

void gpu_set(void *dst, uint8_t value, size_t n_bytes)
{
	check(mcMemset(dst, value, n_bytes), "mcMemset");
	gpu_count_set(GPU_CALL_SET, current, n_bytes);
}

void gpu_set_async(void *dst, uint8_t value, size_t n_bytes, struct gpu_stream stream)
{
	check(mcMemsetAsync(dst, value, n_bytes, stream.handle), "mcMemsetAsync");
	gpu_count_set(GPU_CALL_SET_ASYNC, current, n_bytes);
}

struct gpu_stream gpu_stream_create(bool blocking)
{
	struct gpu_stream stream;

	check(mcStreamCreateWithFlags(&stream.handle,
				      blocking ? STREAM_DEFAULT : STREAM_NON_BLOCKING),
	      "mcStreamCreateWithFlags");
	stream.index = gpu_next_stream();
	gpu_count_call(GPU_CALL_STREAM_CREATE, current);
	return stream;
}

void gpu_stream_destroy(struct gpu_stream stream)
{
	check(mcStreamDestroy(stream.handle), "mcStreamDestroy");
	gpu_count_call(GPU_CALL_STREAM_DESTROY, current);
}

void gpu_stream_sync(struct gpu_stream stream)
{
	check(mcStreamSynchronize(stream.handle), "mcStreamSynchronize");
	gpu_count_call(GPU_CALL_STREAM_SYNC, current);
}

void gpu_stream_wait(struct gpu_stream stream, void *event)
{
	check(mcStreamWaitEvent(stream.handle, event, 0), "mcStreamWaitEvent");
	gpu_count_call(GPU_CALL_STREAM_WAIT, current);
}

void *gpu_event_create(void)
{
	void *event;

	check(mcEventCreate(&event), "mcEventCreate");
	return event;
}

void gpu_event_destroy(void *event)
{
	check(mcEventDestroy(event), "mcEventDestroy");
}

void gpu_event_record(void *event, struct gpu_stream stream)
{
	check(mcEventRecord(event, stream.handle), "mcEventRecord");
	gpu_count_call(GPU_CALL_EVENT_RECORD, current);
}

void gpu_event_sync(void *event)
{
	check(mcEventSynchronize(event), "mcEventSynchronize");
	gpu_count_call(GPU_CALL_EVENT_SYNC, current);
}

float gpu_event_elapsed_ms(void *start, void *end)
{
	float ms;

	check(mcEventElapsedTime(&ms, start, end), "mcEventElapsedTime");
	return ms;
}

void gpu_device_sync(void)
{
	check(mcDeviceSynchronize(), "mcDeviceSynchronize");
	gpu_count_call(GPU_CALL_DEVICE_SYNC, current);
}

static void launch(uint32_t kernel, struct gpu_shape shape, struct gpu_stream stream,
		   void **arguments)
{
	check(mcModuleLaunchKernel(devices[current].functions[kernel], shape.grid[0], shape.grid[1],
				   shape.grid[2], shape.block[0], shape.block[1], shape.block[2],
				   shape.shared_bytes, stream.handle, arguments, NULL),
	      "mcModuleLaunchKernel");
	gpu_count_launch(kernel, current, stream);
}

static struct gpu_shape shape_of(uint32_t n, uint32_t block)
{
	struct gpu_shape shape = {{(n + block - 1) / block, 1, 1}, {block, 1, 1}, 0};

	return shape;
}

void gpu_saxpy(uint32_t n, float a, const float *x, float *y, struct gpu_stream stream)
{
	void *arguments[] = {&n, &a, &x, &y};

	launch(GPU_SAXPY, shape_of(n, BLOCK), stream, arguments);
}

void gpu_scale(uint32_t n, float a, float *x, struct gpu_stream stream)
{
	void *arguments[] = {&n, &a, &x};

	launch(GPU_SCALE, shape_of(n, BLOCK), stream, arguments);
}

void gpu_nothing(struct gpu_stream stream)
{
	launch(GPU_NOTHING, shape_of(1, 1), stream, NULL);
}

void gpu_launch(uint32_t own, struct gpu_shape shape, void **arguments, struct gpu_stream stream)
{
	launch(GPU_KERNELS + own, shape, stream, arguments);
}

void gpu_capture_begin(struct gpu_stream stream)
{
	check(mcStreamBeginCapture(stream.handle, CAPTURE_THREAD_LOCAL), "mcStreamBeginCapture");
	gpu_count_call(GPU_CALL_CAPTURE_BEGIN, current);
	gpu_tally_begin();
}

struct gpu_graph gpu_capture_end(struct gpu_stream stream)
{
	struct gpu_graph graph = {.tally = gpu_tally_end()};
	void *captured;

	check(mcStreamEndCapture(stream.handle, &captured), "mcStreamEndCapture");
	gpu_count_call(GPU_CALL_CAPTURE_END, current);
	check(mcGraphInstantiate(&graph.handle, captured, 0), "mcGraphInstantiate");
	gpu_count_call(GPU_CALL_GRAPH_INSTANTIATE, current);
	check(mcGraphDestroy(captured), "mcGraphDestroy");
	return graph;
}

void gpu_graph_launch(struct gpu_graph graph, struct gpu_stream stream)
{
	check(mcGraphLaunch(graph.handle, stream.handle), "mcGraphLaunch");
	gpu_count_call(GPU_CALL_GRAPH_LAUNCH, current);
	gpu_tally_count(graph.tally, stream);
}

void gpu_graph_destroy(struct gpu_graph graph)
{
	check(mcGraphExecDestroy(graph.handle), "mcGraphExecDestroy");
	gpu_tally_free(graph.tally);
}
