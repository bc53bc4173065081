/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h over CUDA's driver API. Loads libcuda.so.1 at run time and the kernels as PTX text, so that
 * a machine without toolkit and driver can build it. The library found at run time decides whether
 * the GPU is real or virtual. Counts through gpu-truth.c.
 */
#include <dlfcn.h>

#include "proto/abi/vendor/cuda_driver.h"
#include "test/apps/gpu-ptx.h"
#include "test/apps/gpu.h"

#define MAX_DEVICES 16
#define BLOCK	    256u

/* X(field, exported name, parameters): every driver function used here. */
#define DRIVER(X)                                                                               \
	X(init, cuInit, (unsigned flags))                                                       \
	X(error_name, cuGetErrorName, (int error, const char **ret_name))                       \
	X(device_count, cuDeviceGetCount, (int *ret_count))                                     \
	X(device_get, cuDeviceGet, (int *ret_device, int ordinal))                              \
	X(device_attribute, cuDeviceGetAttribute, (int *ret_value, int attribute, int device))  \
	X(primary_retain, cuDevicePrimaryCtxRetain, (void **ret_context, int device))           \
	X(context_set, cuCtxSetCurrent, (void *context))                                        \
	X(context_sync, cuCtxSynchronize, (void))                                               \
	X(module_load, cuModuleLoadData, (void **ret_module, const void *image))                \
	X(module_function, cuModuleGetFunction,                                                 \
	  (void **ret_function, void *module, const char *name))                                \
	X(mem_alloc, cuMemAlloc_v2, (uint64_t * ret_address, size_t n_bytes))                   \
	X(mem_free, cuMemFree_v2, (uint64_t address))                                           \
	X(host_alloc, cuMemAllocHost_v2, (void **ret_memory, size_t n_bytes))                   \
	X(host_free, cuMemFreeHost, (void *memory))                                             \
	X(h2d, cuMemcpyHtoD_v2, (uint64_t dst, const void *src, size_t n))                      \
	X(d2h, cuMemcpyDtoH_v2, (void *dst, uint64_t src, size_t n))                            \
	X(d2d, cuMemcpyDtoD_v2, (uint64_t dst, uint64_t src, size_t n))                         \
	X(h2d_async, cuMemcpyHtoDAsync_v2, (uint64_t dst, const void *src, size_t n, void *))   \
	X(d2h_async, cuMemcpyDtoHAsync_v2, (void *dst, uint64_t src, size_t n, void *))         \
	X(d2d_async, cuMemcpyDtoDAsync_v2, (uint64_t dst, uint64_t src, size_t n, void *))      \
	X(peer_async, cuMemcpyPeerAsync,                                                        \
	  (uint64_t dst, void *dst_context, uint64_t src, void *src_context, size_t n, void *)) \
	X(set, cuMemsetD8_v2, (uint64_t dst, unsigned char value, size_t n))                    \
	X(set_async, cuMemsetD8Async, (uint64_t dst, unsigned char value, size_t n, void *))    \
	X(stream_create, cuStreamCreate, (void **ret_stream, unsigned flags))                   \
	X(stream_destroy, cuStreamDestroy_v2, (void *))                                         \
	X(stream_sync, cuStreamSynchronize, (void *))                                           \
	X(stream_wait, cuStreamWaitEvent, (void *, void *event, unsigned flags))                \
	X(event_create, cuEventCreate, (void **ret_event, unsigned flags))                      \
	X(event_destroy, cuEventDestroy_v2, (void *event))                                      \
	X(event_record, cuEventRecord, (void *event, void *))                                   \
	X(event_sync, cuEventSynchronize, (void *event))                                        \
	X(event_elapsed, cuEventElapsedTime, (float *ret_ms, void *start, void *end))           \
	X(capture_begin, cuStreamBeginCapture_v2, (void *, int mode))                           \
	X(capture_end, cuStreamEndCapture, (void *, void **ret_graph))                          \
	X(graph_instantiate, cuGraphInstantiateWithFlags,                                       \
	  (void **ret_exec, void *graph, unsigned long long flags))                             \
	X(graph_destroy, cuGraphDestroy, (void *graph))                                         \
	X(graph_launch, cuGraphLaunch, (void *exec, void *))                                    \
	X(exec_destroy, cuGraphExecDestroy, (void *exec))                                       \
	X(launch, cuLaunchKernel,                                                               \
	  (void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, \
	   unsigned block_y, unsigned block_z, unsigned shared, void *, void **arguments,       \
	   void **extra))

static struct {
#define FIELD(field, name, parameters) int(*field) parameters;
	DRIVER(FIELD)
#undef FIELD
} cu;

static const struct gpu_code *code;
static int n_devices;
static struct {
	void *context;
	void *functions[TS_TRUTH_KERNELS];
} devices[MAX_DEVICES];
static __thread int current;

static void check(int result, const char *call)
{
	const char *name = "?";

	if (!result)
		return;
	cu.error_name(result, &name);
	fprintf(stderr, "%s: %s (%d)\n", call, name, result);
	exit(GPU_FAILED);
}

static void load(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library) {
		fprintf(stderr, "skipped: no CUDA driver: %s\n", dlerror());
		exit(GPU_SKIPPED);
	}
#define LOAD(field, name, parameters)                                          \
	*(void **)&cu.field = dlsym(library, #name);                           \
	if (!cu.field) {                                                       \
		fprintf(stderr, "skipped: the CUDA driver lacks %s\n", #name); \
		exit(GPU_SKIPPED);                                             \
	}
	DRIVER(LOAD)
#undef LOAD
}

void gpu_open(const struct gpu_code *own)
{
	static const char *const names[GPU_CALLS] = {
		[GPU_CALL_LAUNCH] = "cuLaunchKernel",
		[GPU_CALL_MALLOC] = "cuMemAlloc_v2",
		[GPU_CALL_FREE] = "cuMemFree_v2",
		[GPU_CALL_HOST_MALLOC] = "cuMemAllocHost_v2",
		[GPU_CALL_HOST_FREE] = "cuMemFreeHost",
		[GPU_CALL_H2D] = "cuMemcpyHtoD_v2",
		[GPU_CALL_D2H] = "cuMemcpyDtoH_v2",
		[GPU_CALL_D2D] = "cuMemcpyDtoD_v2",
		[GPU_CALL_H2D_ASYNC] = "cuMemcpyHtoDAsync_v2",
		[GPU_CALL_D2H_ASYNC] = "cuMemcpyDtoHAsync_v2",
		[GPU_CALL_D2D_ASYNC] = "cuMemcpyDtoDAsync_v2",
		[GPU_CALL_PEER_ASYNC] = "cuMemcpyPeerAsync",
		[GPU_CALL_SET] = "cuMemsetD8_v2",
		[GPU_CALL_SET_ASYNC] = "cuMemsetD8Async",
		[GPU_CALL_STREAM_CREATE] = "cuStreamCreate",
		[GPU_CALL_STREAM_DESTROY] = "cuStreamDestroy_v2",
		[GPU_CALL_STREAM_SYNC] = "cuStreamSynchronize",
		[GPU_CALL_STREAM_WAIT] = "cuStreamWaitEvent",
		[GPU_CALL_EVENT_RECORD] = "cuEventRecord",
		[GPU_CALL_EVENT_SYNC] = "cuEventSynchronize",
		[GPU_CALL_DEVICE_SYNC] = "cuCtxSynchronize",
		[GPU_CALL_CAPTURE_BEGIN] = "cuStreamBeginCapture_v2",
		[GPU_CALL_CAPTURE_END] = "cuStreamEndCapture",
		[GPU_CALL_GRAPH_INSTANTIATE] = "cuGraphInstantiateWithFlags",
		[GPU_CALL_GRAPH_LAUNCH] = "cuGraphLaunch",
	};

	code = own;
	gpu_truth_begin(names, code);
	load();
	check(cu.init(0), "cuInit");
	check(cu.device_count(&n_devices), "cuDeviceGetCount");
	if (n_devices < 1) {
		fprintf(stderr, "skipped: the CUDA driver has no device\n");
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

static void load_functions(int device, const char *image, uint32_t first, uint32_t end)
{
	void *module;

	check(cu.module_load(&module, image), "cuModuleLoadData");
	for (uint32_t i = first; i < end; i++)
		check(cu.module_function(&devices[device].functions[i], module,
					 gpu_truth()->kernel_names[i]),
		      "cuModuleGetFunction");
}

static void open_device(int device)
{
	int handle, major, minor;

	check(cu.device_get(&handle, device), "cuDeviceGet");
	check(cu.device_attribute(&major, TS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle),
	      "cuDeviceGetAttribute");
	check(cu.device_attribute(&minor, TS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, handle),
	      "cuDeviceGetAttribute");
	gpu_need_capability(code, major, minor);
	check(cu.primary_retain(&devices[device].context, handle), "cuDevicePrimaryCtxRetain");
	check(cu.context_set(devices[device].context), "cuCtxSetCurrent");
	load_functions(device, gpu_ptx, 0, GPU_KERNELS);
	if (code)
		load_functions(device, code->ptx, GPU_KERNELS, gpu_kernels());
}

/* The main thread makes the first use of a device, before it starts other threads. */
void gpu_set_device(int device)
{
	if (!devices[device].context)
		open_device(device);
	check(cu.context_set(devices[device].context), "cuCtxSetCurrent");
	current = device;
}

static uint64_t address_of(const void *memory)
{
	return (uint64_t)(uintptr_t)memory;
}

void *gpu_malloc(size_t n_bytes)
{
	uint64_t address;

	check(cu.mem_alloc(&address, n_bytes), "cuMemAlloc_v2");
	gpu_count_call(GPU_CALL_MALLOC, current);
	ts_truth_add(&gpu_truth()->allocs[TS_TRUTH_DEVICE], 1);
	ts_truth_add(&gpu_truth()->alloc_bytes[TS_TRUTH_DEVICE], n_bytes);
	return (void *)(uintptr_t)address;
}

void gpu_free(void *memory)
{
	check(cu.mem_free(address_of(memory)), "cuMemFree_v2");
	gpu_count_call(GPU_CALL_FREE, current);
	ts_truth_add(&gpu_truth()->frees[TS_TRUTH_DEVICE], 1);
}

void *gpu_host_malloc(size_t n_bytes)
{
	void *memory;

	check(cu.host_alloc(&memory, n_bytes), "cuMemAllocHost_v2");
	gpu_count_call(GPU_CALL_HOST_MALLOC, current);
	ts_truth_add(&gpu_truth()->allocs[TS_TRUTH_PINNED], 1);
	ts_truth_add(&gpu_truth()->alloc_bytes[TS_TRUTH_PINNED], n_bytes);
	return memory;
}

void gpu_host_free(void *memory)
{
	check(cu.host_free(memory), "cuMemFreeHost");
	gpu_count_call(GPU_CALL_HOST_FREE, current);
	ts_truth_add(&gpu_truth()->frees[TS_TRUTH_PINNED], 1);
}

void gpu_h2d(void *dst, const void *src, size_t n_bytes)
{
	check(cu.h2d(address_of(dst), src, n_bytes), "cuMemcpyHtoD_v2");
	gpu_count_copy(GPU_CALL_H2D, current, TS_TRUTH_H2D, n_bytes);
}

void gpu_d2h(void *dst, const void *src, size_t n_bytes)
{
	check(cu.d2h(dst, address_of(src), n_bytes), "cuMemcpyDtoH_v2");
	gpu_count_copy(GPU_CALL_D2H, current, TS_TRUTH_D2H, n_bytes);
}

void gpu_d2d(void *dst, const void *src, size_t n_bytes)
{
	check(cu.d2d(address_of(dst), address_of(src), n_bytes), "cuMemcpyDtoD_v2");
	gpu_count_copy(GPU_CALL_D2D, current, TS_TRUTH_D2D, n_bytes);
}

void gpu_h2d_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	check(cu.h2d_async(address_of(dst), src, n_bytes, stream.handle), "cuMemcpyHtoDAsync_v2");
	gpu_count_copy(GPU_CALL_H2D_ASYNC, current, TS_TRUTH_H2D, n_bytes);
}

void gpu_d2h_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	check(cu.d2h_async(dst, address_of(src), n_bytes, stream.handle), "cuMemcpyDtoHAsync_v2");
	gpu_count_copy(GPU_CALL_D2H_ASYNC, current, TS_TRUTH_D2H, n_bytes);
}

void gpu_d2d_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	check(cu.d2d_async(address_of(dst), address_of(src), n_bytes, stream.handle),
	      "cuMemcpyDtoDAsync_v2");
	gpu_count_copy(GPU_CALL_D2D_ASYNC, current, TS_TRUTH_D2D, n_bytes);
}

void gpu_peer_async(void *dst, int dst_device, const void *src, int src_device, size_t n_bytes,
		    struct gpu_stream stream)
{
	check(cu.peer_async(address_of(dst), devices[dst_device].context, address_of(src),
			    devices[src_device].context, n_bytes, stream.handle),
	      "cuMemcpyPeerAsync");
	gpu_count_copy(GPU_CALL_PEER_ASYNC, current, TS_TRUTH_PEER, n_bytes);
}

void gpu_set(void *dst, uint8_t value, size_t n_bytes)
{
	check(cu.set(address_of(dst), value, n_bytes), "cuMemsetD8_v2");
	gpu_count_set(GPU_CALL_SET, current, n_bytes);
}

void gpu_set_async(void *dst, uint8_t value, size_t n_bytes, struct gpu_stream stream)
{
	check(cu.set_async(address_of(dst), value, n_bytes, stream.handle), "cuMemsetD8Async");
	gpu_count_set(GPU_CALL_SET_ASYNC, current, n_bytes);
}

struct gpu_stream gpu_stream_create(bool blocking)
{
	struct gpu_stream stream;

	check(cu.stream_create(&stream.handle, blocking ? 0 : TS_CU_STREAM_NON_BLOCKING),
	      "cuStreamCreate");
	stream.index = gpu_next_stream();
	gpu_count_call(GPU_CALL_STREAM_CREATE, current);
	return stream;
}

void gpu_stream_destroy(struct gpu_stream stream)
{
	check(cu.stream_destroy(stream.handle), "cuStreamDestroy_v2");
	gpu_count_call(GPU_CALL_STREAM_DESTROY, current);
}

void gpu_stream_sync(struct gpu_stream stream)
{
	check(cu.stream_sync(stream.handle), "cuStreamSynchronize");
	gpu_count_call(GPU_CALL_STREAM_SYNC, current);
}

void gpu_stream_wait(struct gpu_stream stream, void *event)
{
	check(cu.stream_wait(stream.handle, event, 0), "cuStreamWaitEvent");
	gpu_count_call(GPU_CALL_STREAM_WAIT, current);
}

void *gpu_event_create(void)
{
	void *event;

	check(cu.event_create(&event, 0), "cuEventCreate");
	return event;
}

void gpu_event_destroy(void *event)
{
	check(cu.event_destroy(event), "cuEventDestroy_v2");
}

void gpu_event_record(void *event, struct gpu_stream stream)
{
	check(cu.event_record(event, stream.handle), "cuEventRecord");
	gpu_count_call(GPU_CALL_EVENT_RECORD, current);
}

void gpu_event_sync(void *event)
{
	check(cu.event_sync(event), "cuEventSynchronize");
	gpu_count_call(GPU_CALL_EVENT_SYNC, current);
}

float gpu_event_elapsed_ms(void *start, void *end)
{
	float ms;

	check(cu.event_elapsed(&ms, start, end), "cuEventElapsedTime");
	return ms;
}

void gpu_device_sync(void)
{
	check(cu.context_sync(), "cuCtxSynchronize");
	gpu_count_call(GPU_CALL_DEVICE_SYNC, current);
}

static void launch(uint32_t kernel, struct gpu_shape shape, struct gpu_stream stream,
		   void **arguments)
{
	check(cu.launch(devices[current].functions[kernel], shape.grid[0], shape.grid[1],
			shape.grid[2], shape.block[0], shape.block[1], shape.block[2],
			shape.shared_bytes, stream.handle, arguments, NULL),
	      "cuLaunchKernel");
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
	check(cu.capture_begin(stream.handle, TS_CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
	      "cuStreamBeginCapture_v2");
	gpu_count_call(GPU_CALL_CAPTURE_BEGIN, current);
	gpu_tally_begin();
}

struct gpu_graph gpu_capture_end(struct gpu_stream stream)
{
	struct gpu_graph graph = {.tally = gpu_tally_end()};
	void *captured;

	check(cu.capture_end(stream.handle, &captured), "cuStreamEndCapture");
	gpu_count_call(GPU_CALL_CAPTURE_END, current);
	check(cu.graph_instantiate(&graph.handle, captured, 0), "cuGraphInstantiateWithFlags");
	gpu_count_call(GPU_CALL_GRAPH_INSTANTIATE, current);
	check(cu.graph_destroy(captured), "cuGraphDestroy");
	return graph;
}

void gpu_graph_launch(struct gpu_graph graph, struct gpu_stream stream)
{
	check(cu.graph_launch(graph.handle, stream.handle), "cuGraphLaunch");
	gpu_count_call(GPU_CALL_GRAPH_LAUNCH, current);
	gpu_tally_count(graph.tally, stream);
}

void gpu_graph_destroy(struct gpu_graph graph)
{
	check(cu.exec_destroy(graph.handle), "cuGraphExecDestroy");
	gpu_tally_free(graph.tally);
}
