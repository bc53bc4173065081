/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu.h over HIP. Linked against libamdhip64, as hipcc links a program. Registers its kernels in a
 * constructor, as code of hipcc does, in a bundle with PTX: only the virtual GPU runs it. A
 * program's own kernels are loaded as a module. Counts through gpu-truth.c.
 */
#include "proto/abi/vendor/hip.h"
#include "test/apps/gpu-ptx.h"
#include "test/apps/gpu.h"
#include "test/apps/hip-bundle.h"
#include "tools/vgpu/generated-hip-functions.h"

#define MAX_DEVICES 16
#define BLOCK	    256u

static const struct gpu_code *code;
static int n_devices;
static struct {
	bool opened;
	void *functions[TS_TRUTH_KERNELS];
} devices[MAX_DEVICES];
static __thread int current;

/* Keys of the registered kernels: the addresses of host functions in hipcc's code. */
static const char stubs[GPU_KERNELS];

static void check(int result, const char *call)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %s (%d)\n", call, hipGetErrorName(result), result);
	exit(GPU_FAILED);
}

static void **registered;

__attribute__((constructor)) static void register_code(void)
{
	static char names[GPU_KERNELS][8] = {"saxpy", "scale", "nothing"};
	static struct ts_hip_fat_binary_wrapper wrapper = {
		.magic = TS_HIP_FAT_BINARY_MAGIC,
		.version = TS_HIP_FAT_BINARY_VERSION,
	};

	wrapper.binary = hip_bundle_new(HIP_BUNDLE_PTX, gpu_ptx);
	registered = __hipRegisterFatBinary(&wrapper);
	for (uint32_t i = 0; i < GPU_KERNELS; i++)
		__hipRegisterFunction(registered, &stubs[i], names[i], names[i], -1u, NULL, NULL,
				      NULL, NULL, NULL);
}

__attribute__((destructor)) static void unregister_code(void)
{
	__hipUnregisterFatBinary(registered);
}

void gpu_open(const struct gpu_code *own)
{
	const char *names[GPU_CALLS] = {
		/* A program with kernels of its own launches no others. */
		[GPU_CALL_LAUNCH] = own ? "hipModuleLaunchKernel" : "hipLaunchKernel",
		[GPU_CALL_MALLOC] = "hipMalloc",
		[GPU_CALL_FREE] = "hipFree",
		[GPU_CALL_HOST_MALLOC] = "hipHostMalloc",
		[GPU_CALL_HOST_FREE] = "hipHostFree",
		[GPU_CALL_H2D] = "hipMemcpy",
		[GPU_CALL_D2H] = "hipMemcpy",
		[GPU_CALL_D2D] = "hipMemcpy",
		[GPU_CALL_H2D_ASYNC] = "hipMemcpyAsync",
		[GPU_CALL_D2H_ASYNC] = "hipMemcpyAsync",
		[GPU_CALL_D2D_ASYNC] = "hipMemcpyAsync",
		[GPU_CALL_PEER_ASYNC] = "hipMemcpyPeerAsync",
		[GPU_CALL_SET] = "hipMemset",
		[GPU_CALL_SET_ASYNC] = "hipMemsetAsync",
		[GPU_CALL_STREAM_CREATE] = "hipStreamCreateWithFlags",
		[GPU_CALL_STREAM_DESTROY] = "hipStreamDestroy",
		[GPU_CALL_STREAM_SYNC] = "hipStreamSynchronize",
		[GPU_CALL_STREAM_WAIT] = "hipStreamWaitEvent",
		[GPU_CALL_EVENT_RECORD] = "hipEventRecord",
		[GPU_CALL_EVENT_SYNC] = "hipEventSynchronize",
		[GPU_CALL_DEVICE_SYNC] = "hipDeviceSynchronize",
		[GPU_CALL_CAPTURE_BEGIN] = "hipStreamBeginCapture",
		[GPU_CALL_CAPTURE_END] = "hipStreamEndCapture",
		[GPU_CALL_GRAPH_INSTANTIATE] = "hipGraphInstantiate",
		[GPU_CALL_GRAPH_LAUNCH] = "hipGraphLaunch",
	};

	code = own;
	gpu_truth_begin(names, code);
	if (hipGetDeviceCount(&n_devices) || n_devices < 1) {
		fprintf(stderr, "skipped: HIP has no device\n");
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

/*
 * Loads the program's own kernels on the device. The kernels of enum gpu_kernel are registered for
 * all devices.
 */
static void open_device(int device)
{
	void *bundle;
	void *module;

	devices[device].opened = true;
	if (!code)
		return;
	bundle = hip_bundle_new(HIP_BUNDLE_PTX, code->ptx);
	check(hipModuleLoadData(&module, bundle), "hipModuleLoadData");
	free(bundle);
	for (uint32_t i = GPU_KERNELS; i < gpu_kernels(); i++)
		check(hipModuleGetFunction(&devices[device].functions[i], module,
					   gpu_truth()->kernel_names[i]),
		      "hipModuleGetFunction");
}

/* The main thread makes the first use of a device, before it starts other threads. */
void gpu_set_device(int device)
{
	check(hipSetDevice(device), "hipSetDevice");
	if (!devices[device].opened)
		open_device(device);
	current = device;
}

void *gpu_malloc(size_t n_bytes)
{
	void *memory;

	check(hipMalloc(&memory, n_bytes), "hipMalloc");
	gpu_count_call(GPU_CALL_MALLOC, current);
	ts_truth_add(&gpu_truth()->allocs[TS_TRUTH_DEVICE], 1);
	ts_truth_add(&gpu_truth()->alloc_bytes[TS_TRUTH_DEVICE], n_bytes);
	return memory;
}

void gpu_free(void *memory)
{
	check(hipFree(memory), "hipFree");
	gpu_count_call(GPU_CALL_FREE, current);
	ts_truth_add(&gpu_truth()->frees[TS_TRUTH_DEVICE], 1);
}

void *gpu_host_malloc(size_t n_bytes)
{
	void *memory;

	check(hipHostMalloc(&memory, n_bytes, TS_HIP_HOST_MALLOC_DEFAULT), "hipHostMalloc");
	gpu_count_call(GPU_CALL_HOST_MALLOC, current);
	ts_truth_add(&gpu_truth()->allocs[TS_TRUTH_PINNED], 1);
	ts_truth_add(&gpu_truth()->alloc_bytes[TS_TRUTH_PINNED], n_bytes);
	return memory;
}

void gpu_host_free(void *memory)
{
	check(hipHostFree(memory), "hipHostFree");
	gpu_count_call(GPU_CALL_HOST_FREE, current);
	ts_truth_add(&gpu_truth()->frees[TS_TRUTH_PINNED], 1);
}

void gpu_h2d(void *dst, const void *src, size_t n_bytes)
{
	check(hipMemcpy(dst, src, n_bytes, TS_HIP_MEMCPY_HOST_TO_DEVICE), "hipMemcpy");
	gpu_count_copy(GPU_CALL_H2D, current, TS_TRUTH_H2D, n_bytes);
}

void gpu_d2h(void *dst, const void *src, size_t n_bytes)
{
	check(hipMemcpy(dst, src, n_bytes, TS_HIP_MEMCPY_DEVICE_TO_HOST), "hipMemcpy");
	gpu_count_copy(GPU_CALL_D2H, current, TS_TRUTH_D2H, n_bytes);
}

void gpu_d2d(void *dst, const void *src, size_t n_bytes)
{
	check(hipMemcpy(dst, src, n_bytes, TS_HIP_MEMCPY_DEVICE_TO_DEVICE), "hipMemcpy");
	gpu_count_copy(GPU_CALL_D2D, current, TS_TRUTH_D2D, n_bytes);
}

void gpu_h2d_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	check(hipMemcpyAsync(dst, src, n_bytes, TS_HIP_MEMCPY_HOST_TO_DEVICE, stream.handle),
	      "hipMemcpyAsync");
	gpu_count_copy(GPU_CALL_H2D_ASYNC, current, TS_TRUTH_H2D, n_bytes);
}

void gpu_d2h_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	check(hipMemcpyAsync(dst, src, n_bytes, TS_HIP_MEMCPY_DEVICE_TO_HOST, stream.handle),
	      "hipMemcpyAsync");
	gpu_count_copy(GPU_CALL_D2H_ASYNC, current, TS_TRUTH_D2H, n_bytes);
}

void gpu_d2d_async(void *dst, const void *src, size_t n_bytes, struct gpu_stream stream)
{
	check(hipMemcpyAsync(dst, src, n_bytes, TS_HIP_MEMCPY_DEVICE_TO_DEVICE, stream.handle),
	      "hipMemcpyAsync");
	gpu_count_copy(GPU_CALL_D2D_ASYNC, current, TS_TRUTH_D2D, n_bytes);
}

void gpu_peer_async(void *dst, int dst_device, const void *src, int src_device, size_t n_bytes,
		    struct gpu_stream stream)
{
	check(hipMemcpyPeerAsync(dst, dst_device, src, src_device, n_bytes, stream.handle),
	      "hipMemcpyPeerAsync");
	gpu_count_copy(GPU_CALL_PEER_ASYNC, current, TS_TRUTH_PEER, n_bytes);
}

void gpu_set(void *dst, uint8_t value, size_t n_bytes)
{
	check(hipMemset(dst, value, n_bytes), "hipMemset");
	gpu_count_set(GPU_CALL_SET, current, n_bytes);
}

void gpu_set_async(void *dst, uint8_t value, size_t n_bytes, struct gpu_stream stream)
{
	check(hipMemsetAsync(dst, value, n_bytes, stream.handle), "hipMemsetAsync");
	gpu_count_set(GPU_CALL_SET_ASYNC, current, n_bytes);
}

struct gpu_stream gpu_stream_create(bool blocking)
{
	struct gpu_stream stream;

	check(hipStreamCreateWithFlags(&stream.handle, blocking ? TS_HIP_STREAM_DEFAULT
								: TS_HIP_STREAM_NON_BLOCKING),
	      "hipStreamCreateWithFlags");
	stream.index = gpu_next_stream();
	gpu_count_call(GPU_CALL_STREAM_CREATE, current);
	return stream;
}

void gpu_stream_destroy(struct gpu_stream stream)
{
	check(hipStreamDestroy(stream.handle), "hipStreamDestroy");
	gpu_count_call(GPU_CALL_STREAM_DESTROY, current);
}

void gpu_stream_sync(struct gpu_stream stream)
{
	check(hipStreamSynchronize(stream.handle), "hipStreamSynchronize");
	gpu_count_call(GPU_CALL_STREAM_SYNC, current);
}

void gpu_stream_wait(struct gpu_stream stream, void *event)
{
	check(hipStreamWaitEvent(stream.handle, event, 0), "hipStreamWaitEvent");
	gpu_count_call(GPU_CALL_STREAM_WAIT, current);
}

void *gpu_event_create(void)
{
	void *event;

	check(hipEventCreate(&event), "hipEventCreate");
	return event;
}

void gpu_event_destroy(void *event)
{
	check(hipEventDestroy(event), "hipEventDestroy");
}

void gpu_event_record(void *event, struct gpu_stream stream)
{
	check(hipEventRecord(event, stream.handle), "hipEventRecord");
	gpu_count_call(GPU_CALL_EVENT_RECORD, current);
}

void gpu_event_sync(void *event)
{
	check(hipEventSynchronize(event), "hipEventSynchronize");
	gpu_count_call(GPU_CALL_EVENT_SYNC, current);
}

float gpu_event_elapsed_ms(void *start, void *end)
{
	float ms;

	check(hipEventElapsedTime(&ms, start, end), "hipEventElapsedTime");
	return ms;
}

void gpu_device_sync(void)
{
	check(hipDeviceSynchronize(), "hipDeviceSynchronize");
	gpu_count_call(GPU_CALL_DEVICE_SYNC, current);
}

static void launch(uint32_t kernel, struct gpu_shape shape, struct gpu_stream stream,
		   void **arguments)
{
	const struct ts_hip_dim3 grid = {shape.grid[0], shape.grid[1], shape.grid[2]};
	const struct ts_hip_dim3 block = {shape.block[0], shape.block[1], shape.block[2]};

	if (kernel < GPU_KERNELS)
		check(hipLaunchKernel(&stubs[kernel], grid, block, arguments, shape.shared_bytes,
				      stream.handle),
		      "hipLaunchKernel");
	else
		check(hipModuleLaunchKernel(devices[current].functions[kernel], grid.x, grid.y,
					    grid.z, block.x, block.y, block.z, shape.shared_bytes,
					    stream.handle, arguments, NULL),
		      "hipModuleLaunchKernel");
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
	check(hipStreamBeginCapture(stream.handle, TS_HIP_STREAM_CAPTURE_MODE_THREAD_LOCAL),
	      "hipStreamBeginCapture");
	gpu_count_call(GPU_CALL_CAPTURE_BEGIN, current);
	gpu_tally_begin();
}

struct gpu_graph gpu_capture_end(struct gpu_stream stream)
{
	struct gpu_graph graph = {.tally = gpu_tally_end()};
	void *captured;

	check(hipStreamEndCapture(stream.handle, &captured), "hipStreamEndCapture");
	gpu_count_call(GPU_CALL_CAPTURE_END, current);
	check(hipGraphInstantiate(&graph.handle, captured, NULL, NULL, 0), "hipGraphInstantiate");
	gpu_count_call(GPU_CALL_GRAPH_INSTANTIATE, current);
	check(hipGraphDestroy(captured), "hipGraphDestroy");
	return graph;
}

void gpu_graph_launch(struct gpu_graph graph, struct gpu_stream stream)
{
	check(hipGraphLaunch(graph.handle, stream.handle), "hipGraphLaunch");
	gpu_count_call(GPU_CALL_GRAPH_LAUNCH, current);
	gpu_tally_count(graph.tally, stream);
}

void gpu_graph_destroy(struct gpu_graph graph)
{
	check(hipGraphExecDestroy(graph.handle), "hipGraphExecDestroy");
	gpu_tally_free(graph.tally);
}
