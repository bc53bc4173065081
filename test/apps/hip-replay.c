/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP's calls that have no like-named call of CUDA's driver, or that a capture handles by itself:
 * variables, boxes, launches of every form, changed graphs, queries, pools, peers. For captures.
 * Checks its results, and ends with 1 if one is wrong.
 *
 * 	hip-replay [host]    host: also a function of the host in a stream
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/abi/vendor/hip.h"
#include "test/apps/hip-bundle.h"
#include "tools/vgpu/generated-hip-functions.h"

#define N	256u
#define N_BYTES (N * sizeof(uint32_t))
#define ROWS	4u
#define DEFAULT 4 /* hipMemcpyDefault */

/* data[i] += n + addend; each launch adds 1 to `counted`. */
static const char ptx[] = ".version 7.0\n"
			  ".target sm_75\n"
			  ".address_size 64\n"
			  ".visible .global .align 4 .u32 addend;\n"
			  ".visible .global .align 4 .u32 counted;\n"
			  ".visible .entry add( // n comes after data\n"
			  "	.param .u64 .ptr .global .align 4 data,\n"
			  "	.param .u32 n\n"
			  ")\n"
			  "{\n"
			  "	.reg .pred %p<2>;\n"
			  "	.reg .b32 %r<8>;\n"
			  "	.reg .b64 %rd<6>;\n"
			  "	ld.param.u64 %rd1, [data];\n"
			  "	ld.param.u32 %r1, [n];\n"
			  "	mov.u32 %r2, %ctaid.x;\n"
			  "	mov.u32 %r3, %ntid.x;\n"
			  "	mov.u32 %r4, %tid.x;\n"
			  "	mad.lo.s32 %r5, %r2, %r3, %r4;\n"
			  "	cvta.to.global.u64 %rd2, %rd1;\n"
			  "	mul.wide.u32 %rd3, %r5, 4;\n"
			  "	add.s64 %rd4, %rd2, %rd3;\n"
			  "	ld.global.u32 %r6, [%rd4];\n"
			  "	add.u32 %r6, %r6, %r1;\n"
			  "	ld.global.u32 %r7, [addend];\n"
			  "	add.u32 %r6, %r6, %r7;\n"
			  "	st.global.u32 [%rd4], %r6;\n"
			  "	setp.eq.u32 %p1, %r5, 0;\n"
			  "	@%p1 red.global.add.u32 [counted], 1;\n"
			  "	ret;\n"
			  "}\n";

/* Their addresses are keys, as those of hipcc's host functions and variables. */
static const char add_handle;
static uint32_t addend, counted;

static const struct ts_hip_dim3 grid = {4, 1, 1}, block = {64, 1, 1};
static uint32_t *data;
static uint32_t host[N];

__attribute__((constructor)) static void register_code(void)
{
	static struct ts_hip_fat_binary_wrapper wrapper = {
		.magic = TS_HIP_FAT_BINARY_MAGIC,
		.version = TS_HIP_FAT_BINARY_VERSION,
	};
	static char kernel[] = "add", names[2][8] = {"addend", "counted"};
	void **handle;

	wrapper.binary = hip_bundle_new(HIP_BUNDLE_PTX, ptx);
	handle = __hipRegisterFatBinary(&wrapper);
	__hipRegisterFunction(handle, &add_handle, kernel, kernel, -1u, NULL, NULL, NULL, NULL,
			      NULL);
	__hipRegisterVar(handle, &addend, names[0], names[0], 0, sizeof(addend), 0, 0);
	__hipRegisterVar(handle, &counted, names[1], names[1], 0, sizeof(counted), 0, 0);
}

static void check(int result, const char *call)
{
	if (!result)
		return;
	fprintf(stderr, "%s: %s\n", call, hipGetErrorName(result));
	exit(1);
}

#define CHECK(call) check(call, #call)

/* Reads `data` back; each element must be `wanted`. */
static void expect(uint32_t wanted, const char *what)
{
	CHECK(hipMemcpy(host, data, N_BYTES, DEFAULT));
	for (uint32_t i = 0; i < N; i++)
		if (host[i] != wanted) {
			fprintf(stderr, "%s: element %u is %u, not %u\n", what, i, host[i], wanted);
			exit(1);
		}
}

static void variables(void)
{
	const uint32_t two = 2, three = 3;
	uint32_t got = 0;
	void *at;

	CHECK(hipMemcpyToSymbol(&addend, &two, sizeof(two), 0, TS_HIP_MEMCPY_HOST_TO_DEVICE));
	CHECK(hipMemcpyFromSymbol(&got, &addend, sizeof(got), 0, TS_HIP_MEMCPY_DEVICE_TO_HOST));
	CHECK(hipGetSymbolAddress(&at, &addend));
	CHECK(hipMemcpy(at, &three, sizeof(three), TS_HIP_MEMCPY_HOST_TO_DEVICE));
	CHECK(hipMemcpy(&got, at, sizeof(got), TS_HIP_MEMCPY_DEVICE_TO_HOST));
	if (got != 3)
		exit(1);
}

/* The variable is 3: each launch adds 3 and its argument. */
static void launches(void *stream)
{
	struct {
		void *data;
		uint32_t n;
	} packed = {data, 40};
	size_t n_packed = sizeof(packed);
	void *extra[] = {TS_HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed,
			 TS_HIP_LAUNCH_PARAM_BUFFER_SIZE, &n_packed, TS_HIP_LAUNCH_PARAM_END};
	uint32_t n = 1;
	void *arguments[] = {&data, &n}, *function, *before, *after, *module, *bundle;

	CHECK(hipMemset(data, 0, N_BYTES));
	CHECK(hipEventCreate(&before));
	CHECK(hipEventCreate(&after));
	CHECK(hipLaunchKernel(&add_handle, grid, block, arguments, 0, stream));
	CHECK(hipExtLaunchKernel(&add_handle, grid, block, arguments, 0, stream, before, after, 0));
	CHECK(hipLaunchCooperativeKernel(&add_handle, grid, block, arguments, 0, stream));
	CHECK(hipEventSynchronize(after));
	bundle = hip_bundle_new(HIP_BUNDLE_PTX, ptx);
	CHECK(hipModuleLoadData(&module, bundle));
	free(bundle);
	CHECK(hipModuleGetFunction(&function, module, "add"));
	CHECK(hipExtModuleLaunchKernel(function, N, 1, 1, 64, 1, 1, 0, stream, NULL, extra, NULL,
				       NULL, 0));
	CHECK(hipModuleLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, stream, arguments, NULL));
	CHECK(hipStreamSynchronize(stream));
	/* The module has a variable of its own, which is 0. */
	expect(3 * (1 + 3) + 40 + 1, "launches");
	CHECK(hipModuleUnload(module));
	CHECK(hipEventDestroy(before));
	CHECK(hipEventDestroy(after));
}

/* Copies by the driver's structures: the second row to the host, and back as a box to the first. */
static void structures(void *rows, size_t pitch, void *stream)
{
	uint32_t row[4] = {0};
	struct ts_hip_memcpy2d two = {.src_memory_type = TS_HIP_MEMORY_TYPE_DEVICE,
				      .src_device = rows,
				      .src_pitch = pitch,
				      .src_y = 1,
				      .dst_memory_type = TS_HIP_MEMORY_TYPE_HOST,
				      .dst_host = row,
				      .dst_pitch = 16,
				      .width_in_bytes = 16,
				      .height = 1};
	struct ts_hip_drv_memcpy3d three = {.src_memory_type = TS_HIP_MEMORY_TYPE_HOST,
					    .src_host = row,
					    .src_pitch = 16,
					    .src_height = 1,
					    .dst_memory_type = TS_HIP_MEMORY_TYPE_DEVICE,
					    .dst_device = rows,
					    .dst_pitch = pitch,
					    .dst_height = 1,
					    .width_in_bytes = 16,
					    .height = 1,
					    .depth = 1};

	CHECK(hipMemcpyParam2D(&two));
	if (row[0] != 4)
		exit(1);
	CHECK(hipDrvMemcpy3DAsync(&three, stream));
	two.src_y = 0;
	CHECK(hipMemcpyParam2DAsync(&two, stream));
	CHECK(hipStreamSynchronize(stream));
	if (row[0] != 4)
		exit(1);
}

/* Rows and boxes: pitches, positions. */
static void boxes(void *stream)
{
	const struct ts_hip_extent extent = {16, ROWS, 2};
	uint32_t from[2 * ROWS * 4], to[2 * ROWS * 4] = {0};
	struct ts_hip_pitched_ptr box;
	struct ts_hip_memcpy3d_parms copy = {.extent = extent, .kind = DEFAULT};
	size_t pitch;
	void *rows;

	for (uint32_t i = 0; i < 2 * ROWS * 4; i++)
		from[i] = i;
	CHECK(hipMalloc3D(&box, extent));
	CHECK(hipMemset3D(box, 7, extent));
	CHECK(hipDeviceSynchronize());
	copy.src_ptr = (struct ts_hip_pitched_ptr){from, 16, 16, ROWS};
	copy.dst_ptr = box;
	CHECK(hipMemcpy3DAsync(&copy, stream));
	CHECK(hipStreamSynchronize(stream));
	CHECK(hipMallocPitch(&rows, &pitch, 16, 2 * ROWS));
	CHECK(hipMemcpy2D(rows, pitch, box.ptr, box.pitch, 16, 2 * ROWS, DEFAULT));
	CHECK(hipMemcpy2DAsync(to, 16, rows, pitch, 16, 2 * ROWS, DEFAULT, stream));
	/* The result is known once a query says so. */
	while (hipStreamQuery(stream))
		;
	if (memcmp(from, to, sizeof(from)) != 0)
		exit(1);
	structures(rows, pitch, stream);
	CHECK(hipMemsetD16(rows, 0x1234, 8));
	CHECK(hipMemcpyWithStream(to, rows, 16, DEFAULT, stream));
	CHECK(hipFree(rows));
	CHECK(hipFree(box.ptr));
}

/* Memory that the host and the device use. */
static void host_memory(void *stream)
{
	uint32_t n = 5;
	void *managed, *pinned, *device, *pool;
	void *arguments[] = {&managed, &n};

	CHECK(hipMallocManaged(&managed, N_BYTES, 1));
	memset(managed, 0, N_BYTES);
	CHECK(hipLaunchKernel(&add_handle, grid, block, arguments, 0, stream));
	CHECK(hipStreamSynchronize(stream));
	CHECK(hipMemcpy(data, managed, N_BYTES, DEFAULT));
	expect(8, "managed memory");
	CHECK(hipHostMalloc(&pinned, N_BYTES, TS_HIP_HOST_MALLOC_DEFAULT));
	memset(pinned, 0, N_BYTES);
	CHECK(hipHostGetDevicePointer(&device, pinned, 0));
	arguments[0] = &device;
	CHECK(hipLaunchKernel(&add_handle, grid, block, arguments, 0, stream));
	CHECK(hipStreamSynchronize(stream));
	CHECK(hipMemcpy(data, pinned, N_BYTES, DEFAULT));
	CHECK(hipMallocAsync(&pool, N_BYTES, stream));
	CHECK(hipMemcpyAsync(pool, data, N_BYTES, DEFAULT, stream));
	arguments[0] = &pool;
	CHECK(hipLaunchKernel(&add_handle, grid, block, arguments, 0, stream));
	CHECK(hipMemcpyAsync(data, pool, N_BYTES, DEFAULT, stream));
	CHECK(hipFreeAsync(pool, stream));
	CHECK(hipStreamSynchronize(stream));
	expect(16, "pinned memory and pools");
	CHECK(hipFree(managed));
	CHECK(hipHostFree(pinned));
}

/* A graph by hand, whose nodes are changed. */
static void graphs(void *stream)
{
	uint32_t n = 10;
	void *arguments[] = {&data, &n}, *graph, *exec, *set, *kernel;
	struct ts_hip_kernel_node_params launch = {.func = (void *)(uintptr_t)&add_handle,
						   .grid_dim = grid,
						   .block_dim = block,
						   .kernel_params = arguments};
	struct ts_hip_memset_params fill = {
		.dst = data, .element_size = 4, .value = 1, .width = N, .height = 1};

	CHECK(hipGraphCreate(&graph, 0));
	CHECK(hipGraphAddMemsetNode(&set, graph, NULL, 0, &fill));
	CHECK(hipGraphAddKernelNode(&kernel, graph, &set, 1, &launch));
	CHECK(hipGraphInstantiate(&exec, graph, NULL, NULL, 0));
	CHECK(hipGraphLaunch(exec, stream));
	CHECK(hipStreamSynchronize(stream));
	expect(1 + 10 + 3, "a graph");
	n = 20;
	fill.value = 2;
	CHECK(hipGraphExecKernelNodeSetParams(exec, kernel, &launch));
	CHECK(hipGraphExecMemsetNodeSetParams(exec, set, &fill));
	CHECK(hipGraphLaunch(exec, stream));
	CHECK(hipStreamSynchronize(stream));
	expect(2 + 20 + 3, "a changed graph");
	CHECK(hipGraphExecDestroy(exec));
	CHECK(hipGraphDestroy(graph));
}

/* The kernels alone have changed this variable. */
static void expect_counted(uint32_t wanted)
{
	uint32_t got = 0;

	CHECK(hipMemcpyFromSymbol(&got, &counted, sizeof(got), 0, TS_HIP_MEMCPY_DEVICE_TO_HOST));
	if (got != wanted) {
		fprintf(stderr, "counted: %u, not %u\n", got, wanted);
		exit(1);
	}
}

/* A kernel of one device adds to memory of the other; then both are reset. */
static void peers(void)
{
	uint32_t n = 4;
	void *arguments[] = {&data, &n};

	CHECK(hipSetDevice(1));
	CHECK(hipDeviceEnablePeerAccess(0, 0));
	CHECK(hipLaunchKernel(&add_handle, grid, block, arguments, 0, NULL));
	CHECK(hipDeviceSynchronize());
	CHECK(hipSetDevice(0));
	/* The variable of the other device is 0. */
	expect(25 + 4, "peers");
	CHECK(hipDeviceReset());
	CHECK(hipMalloc((void **)&data, N_BYTES));
	CHECK(hipMemset(data, 0, N_BYTES));
	CHECK(hipLaunchKernel(&add_handle, grid, block, arguments, 0, NULL));
	/* As after a program's start. */
	expect(4, "a device that was reset");
}

static void on_host(void *userdata)
{
	*(uint32_t *)userdata = 1;
}

int main(int argc, char **argv)
{
	int32_t n_devices;
	uint32_t called = 0;
	void *stream;

	CHECK(hipGetDeviceCount(&n_devices));
	CHECK(hipMalloc((void **)&data, N_BYTES));
	CHECK(hipStreamCreateWithPriority(&stream, TS_HIP_STREAM_DEFAULT, 0));
	variables();
	launches(stream);
	boxes(stream);
	host_memory(stream);
	graphs(stream);
	if (argc > 1)
		CHECK(hipLaunchHostFunc(stream, (void *)(uintptr_t)on_host, &called));
	CHECK(hipStreamSynchronize(stream));
	CHECK(hipStreamDestroy(stream));
	expect_counted(8);
	if (n_devices > 1)
		peers();
	printf("hip-replay: done\n");
	return argc > 1 && !called;
}
