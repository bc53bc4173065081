/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h over HIP, and over runtimes that have HIP's calls under another prefix. gpu-hip.c and
 * gpu-maca.c (with GPU_MACA) provide the parts that differ: kernels and launches. Counts through
 * gpu-truth.c.
 */
#include "test/apps/gpu-like-hip.h"

#ifdef GPU_MACA
#include "tools/vgpu/maca/maca.h"
#define PREFIXED(name) mc##name
#define PREFIX	       "mc"
#define MAKER	       "MACA"
#define HOST_MALLOC    MallocHost
#define HOST_FREE      FreeHost
#define HOST_FLAGS
#define INSTANTIATE_REST 0
#else
#include "tools/vgpu/generated-hip-functions.h"
#define PREFIXED(name)	 hip##name
#define PREFIX		 "hip"
#define MAKER		 "HIP"
#define HOST_MALLOC	 HostMalloc
#define HOST_FREE	 HostFree
#define HOST_FLAGS	 , 0
#define INSTANTIATE_REST NULL, NULL, 0
#endif

#define FUNCTION(name)	PREFIXED(name)
#define TEXT(name)	#name
#define NAME(name)	PREFIX TEXT(name)
#define CALL(name, ...) gpu_own_check(FUNCTION(name)(__VA_ARGS__), NAME(name))

/* HIP's numbers. MetaX's are not public: the virtual libmcruntime has the same. */
#define FROM_HOST	     1
#define TO_HOST		     2
#define ON_DEVICE	     3
#define STREAM_DEFAULT	     0
#define STREAM_NON_BLOCKING  1
#define CAPTURE_THREAD_LOCAL 1

#define BLOCK		     256u

static int n_devices;
static bool opened[GPU_OWN_DEVICES];
__thread int gpu_own_device;

void gpu_open(const struct gpu_code *code)
{
	const char *names[GPU_CALLS] = {
		[GPU_CALL_LAUNCH] = gpu_own_launch_name(code),
		[GPU_CALL_MALLOC] = NAME(Malloc),
		[GPU_CALL_FREE] = NAME(Free),
		[GPU_CALL_HOST_MALLOC] = NAME(HOST_MALLOC),
		[GPU_CALL_HOST_FREE] = NAME(HOST_FREE),
		[GPU_CALL_H2D] = NAME(Memcpy),
		[GPU_CALL_D2H] = NAME(Memcpy),
		[GPU_CALL_D2D] = NAME(Memcpy),
		[GPU_CALL_H2D_ASYNC] = NAME(MemcpyAsync),
		[GPU_CALL_D2H_ASYNC] = NAME(MemcpyAsync),
		[GPU_CALL_D2D_ASYNC] = NAME(MemcpyAsync),
		[GPU_CALL_PEER_ASYNC] = NAME(MemcpyPeerAsync),
		[GPU_CALL_SET] = NAME(Memset),
		[GPU_CALL_SET_ASYNC] = NAME(MemsetAsync),
		[GPU_CALL_STREAM_CREATE] = NAME(StreamCreateWithFlags),
		[GPU_CALL_STREAM_DESTROY] = NAME(StreamDestroy),
		[GPU_CALL_STREAM_SYNC] = NAME(StreamSynchronize),
		[GPU_CALL_STREAM_WAIT] = NAME(StreamWaitEvent),
		[GPU_CALL_EVENT_RECORD] = NAME(EventRecord),
		[GPU_CALL_EVENT_SYNC] = NAME(EventSynchronize),
		[GPU_CALL_DEVICE_SYNC] = NAME(DeviceSynchronize),
		[GPU_CALL_CAPTURE_BEGIN] = NAME(StreamBeginCapture),
		[GPU_CALL_CAPTURE_END] = NAME(StreamEndCapture),
		[GPU_CALL_GRAPH_INSTANTIATE] = NAME(GraphInstantiate),
		[GPU_CALL_GRAPH_LAUNCH] = NAME(GraphLaunch),
	};

	gpu_truth_begin(names, code);
	gpu_own_begin(code);
	if (FUNCTION(GetDeviceCount)(&n_devices) || n_devices < 1) {
		fprintf(stderr, "skipped: " MAKER " has no device\n");
		exit(GPU_SKIPPED);
	}
	if (n_devices > GPU_OWN_DEVICES)
		n_devices = GPU_OWN_DEVICES;
	gpu_set_device(0);
}

int gpu_device_count(void)
{
	return n_devices;
}

/* The main thread makes the first use of a device, before it starts other threads. */
void gpu_set_device(int device)
{
	CALL(SetDevice, device);
	if (!opened[device]) {
		opened[device] = true;
		gpu_own_load(device);
	}
	gpu_own_device = device;
}

void *gpu_malloc(size_t n_bytes)
{
	void *memory;

	CALL(Malloc, &memory, n_bytes);
	gpu_count_call(GPU_CALL_MALLOC, gpu_own_device);
	ts_truth_add(&gpu_truth()->allocs[TS_TRUTH_DEVICE], 1);
	ts_truth_add(&gpu_truth()->alloc_bytes[TS_TRUTH_DEVICE], n_bytes);
	return memory;
}

void gpu_free(void *memory)
{
	CALL(Free, memory);
	gpu_count_call(GPU_CALL_FREE, gpu_own_device);
	ts_truth_add(&gpu_truth()->frees[TS_TRUTH_DEVICE], 1);
}

void *gpu_host_malloc(size_t n_bytes)
{
	void *memory;

	CALL(HOST_MALLOC, &memory, n_bytes HOST_FLAGS);
	gpu_count_call(GPU_CALL_HOST_MALLOC, gpu_own_device);
	ts_truth_add(&gpu_truth()->allocs[TS_TRUTH_PINNED], 1);
	ts_truth_add(&gpu_truth()->alloc_bytes[TS_TRUTH_PINNED], n_bytes);
	return memory;
}

void gpu_host_free(void *memory)
{
	CALL(HOST_FREE, memory);
	gpu_count_call(GPU_CALL_HOST_FREE, gpu_own_device);
	ts_truth_add(&gpu_truth()->frees[TS_TRUTH_PINNED], 1);
}

void gpu_h2d(void *dst, const void *src, size_t n_bytes)
{
	CALL(Memcpy, dst, src, n_bytes, FROM_HOST);
	gpu_count_copy(GPU_CALL_H2D, gpu_own_device, TS_TRUTH_H2D, n_bytes);
}

void gpu_d2h(void *dst, const void *src, size_t n_bytes)
{
	CALL(Memcpy, dst, src, n_bytes, TO_HOST);
	gpu_count_copy(GPU_CALL_D2H, gpu_own_device, TS_TRUTH_D2H, n_bytes);
}

void gpu_d2d(void *dst, const void *src, size_t n_bytes)
{
	CALL(Memcpy, dst, src, n_bytes, ON_DEVICE);
	gpu_count_copy(GPU_CALL_D2D, gpu_own_device, TS_TRUTH_D2D, n_bytes);
}

void gpu_h2d_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	CALL(MemcpyAsync, dst, src, n_bytes, FROM_HOST, stream.handle);
	gpu_count_copy(GPU_CALL_H2D_ASYNC, gpu_own_device, TS_TRUTH_H2D, n_bytes);
}

void gpu_d2h_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	CALL(MemcpyAsync, dst, src, n_bytes, TO_HOST, stream.handle);
	gpu_count_copy(GPU_CALL_D2H_ASYNC, gpu_own_device, TS_TRUTH_D2H, n_bytes);
}

void gpu_d2d_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	CALL(MemcpyAsync, dst, src, n_bytes, ON_DEVICE, stream.handle);
	gpu_count_copy(GPU_CALL_D2D_ASYNC, gpu_own_device, TS_TRUTH_D2D, n_bytes);
}

void gpu_peer_async(void *dst, int dst_device, const void *src, int src_device, size_t n_bytes,
		    struct gpu_stream stream)
{
	CALL(MemcpyPeerAsync, dst, dst_device, src, src_device, n_bytes, stream.handle);
	gpu_count_copy(GPU_CALL_PEER_ASYNC, gpu_own_device, TS_TRUTH_PEER, n_bytes);
}

void gpu_set(void *dst, uint8_t value, size_t n_bytes)
{
	CALL(Memset, dst, value, n_bytes);
	gpu_count_set(GPU_CALL_SET, gpu_own_device, n_bytes);
}

void gpu_set_async(void *dst, uint8_t value, size_t n_bytes, struct gpu_stream stream)
{
	CALL(MemsetAsync, dst, value, n_bytes, stream.handle);
	gpu_count_set(GPU_CALL_SET_ASYNC, gpu_own_device, n_bytes);
}

struct gpu_stream gpu_stream_create(bool blocking)
{
	struct gpu_stream stream;

	CALL(StreamCreateWithFlags, &stream.handle,
	     blocking ? STREAM_DEFAULT : STREAM_NON_BLOCKING);
	stream.index = gpu_next_stream();
	gpu_count_call(GPU_CALL_STREAM_CREATE, gpu_own_device);
	return stream;
}

void gpu_stream_destroy(struct gpu_stream stream)
{
	CALL(StreamDestroy, stream.handle);
	gpu_count_call(GPU_CALL_STREAM_DESTROY, gpu_own_device);
}

void gpu_stream_sync(struct gpu_stream stream)
{
	CALL(StreamSynchronize, stream.handle);
	gpu_count_call(GPU_CALL_STREAM_SYNC, gpu_own_device);
}

void gpu_stream_wait(struct gpu_stream stream, void *event)
{
	CALL(StreamWaitEvent, stream.handle, event, 0);
	gpu_count_call(GPU_CALL_STREAM_WAIT, gpu_own_device);
}

void *gpu_event_create(void)
{
	void *event;

	CALL(EventCreate, &event);
	return event;
}

void gpu_event_destroy(void *event)
{
	CALL(EventDestroy, event);
}

void gpu_event_record(void *event, struct gpu_stream stream)
{
	CALL(EventRecord, event, stream.handle);
	gpu_count_call(GPU_CALL_EVENT_RECORD, gpu_own_device);
}

void gpu_event_sync(void *event)
{
	CALL(EventSynchronize, event);
	gpu_count_call(GPU_CALL_EVENT_SYNC, gpu_own_device);
}

float gpu_event_elapsed_ms(void *start, void *end)
{
	float ms;

	CALL(EventElapsedTime, &ms, start, end);
	return ms;
}

void gpu_device_sync(void)
{
	CALL(DeviceSynchronize);
	gpu_count_call(GPU_CALL_DEVICE_SYNC, gpu_own_device);
}

static struct gpu_shape shape_of(uint32_t n, uint32_t block)
{
	struct gpu_shape shape = {{(n + block - 1) / block, 1, 1}, {block, 1, 1}, 0};

	return shape;
}

void gpu_saxpy(uint32_t n, float a, const float *x, float *y, struct gpu_stream stream)
{
	void *arguments[] = {&n, &a, &x, &y};

	gpu_own_launch(GPU_SAXPY, shape_of(n, BLOCK), stream, arguments);
}

void gpu_scale(uint32_t n, float a, float *x, struct gpu_stream stream)
{
	void *arguments[] = {&n, &a, &x};

	gpu_own_launch(GPU_SCALE, shape_of(n, BLOCK), stream, arguments);
}

void gpu_nothing(struct gpu_stream stream)
{
	gpu_own_launch(GPU_NOTHING, shape_of(1, 1), stream, NULL);
}

void gpu_launch(uint32_t own, struct gpu_shape shape, void **arguments, struct gpu_stream stream)
{
	gpu_own_launch(GPU_KERNELS + own, shape, stream, arguments);
}

void gpu_capture_begin(struct gpu_stream stream)
{
	CALL(StreamBeginCapture, stream.handle, CAPTURE_THREAD_LOCAL);
	gpu_count_call(GPU_CALL_CAPTURE_BEGIN, gpu_own_device);
	gpu_tally_begin();
}

struct gpu_graph gpu_capture_end(struct gpu_stream stream)
{
	struct gpu_graph graph = {.tally = gpu_tally_end()};
	void *captured;

	CALL(StreamEndCapture, stream.handle, &captured);
	gpu_count_call(GPU_CALL_CAPTURE_END, gpu_own_device);
	CALL(GraphInstantiate, &graph.handle, captured, INSTANTIATE_REST);
	gpu_count_call(GPU_CALL_GRAPH_INSTANTIATE, gpu_own_device);
	CALL(GraphDestroy, captured);
	return graph;
}

void gpu_graph_launch(struct gpu_graph graph, struct gpu_stream stream)
{
	CALL(GraphLaunch, graph.handle, stream.handle);
	gpu_count_call(GPU_CALL_GRAPH_LAUNCH, gpu_own_device);
	gpu_tally_count(graph.tally, stream);
}

void gpu_graph_destroy(struct gpu_graph graph)
{
	CALL(GraphExecDestroy, graph.handle);
	gpu_tally_free(graph.tally);
}
