/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernels=timed: libamdhip64 loads AMD's code, its kernels have times and change no memory. The
 * code is the fuzz corpus's `variables` (test-amd-image.c).
 */
#include <time.h>

#include "test/unit/vgpu/hip/hip-test.h"

static const char scaled_stub, empty_stub;
static int counter, *managed;

static uint8_t code[1 << 16];
static size_t n_code;

static void read_code(void)
{
	FILE *stream = fopen(TEST_CORPUS "/variables", "rb");

	ts_check(stream);
	n_code = fread(code, 1, sizeof(code) - 1, stream);
	fclose(stream);
}

/* A bundle of the code; hip_bundle_new() is for texts. */
static char *bundle_new(const char *id)
{
	const size_t n_head =
		sizeof(struct ts_hip_bundle) + sizeof(struct ts_hip_bundle_entry) + strlen(id);
	struct ts_hip_bundle head = {.n_entries = 1};
	struct ts_hip_bundle_entry entry = {n_head, n_code, strlen(id)};
	char *bundle = malloc(n_head + n_code);

	ts_check(bundle);
	memcpy(head.magic, TS_HIP_BUNDLE_MAGIC, sizeof(head.magic));
	memcpy(bundle, &head, sizeof(head));
	memcpy(bundle + sizeof(head), &entry, sizeof(entry));
	memcpy(bundle + sizeof(head) + sizeof(entry), id, strlen(id));
	memcpy(bundle + n_head, code, n_code);
	return bundle;
}

static void register_code(void)
{
	void **handle = register_kernel(bundle_new("hipv4-amdgcn-amd-amdhsa--gfx90a"), &scaled_stub,
					"scaled");
	static char name[] = "managed";

	__hipRegisterFunction(handle, &empty_stub, (char *)(uintptr_t) "empty", "empty", -1u, NULL,
			      NULL, NULL, NULL, NULL);
	register_variable(handle, &counter, "counter", sizeof(counter));
	__hipRegisterManagedVar(handle, (void **)&managed, name, name, sizeof(*managed), 4);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

TS_TEST(kernels_are_timed_and_not_computed)
{
	float x[N], y[N], a = 2, *dev_x, *dev_y, ms = -1;
	int32_t n = N, value = 0;
	void *arguments[] = {&n, &a, &dev_x, &dev_y}, *start, *stop;
	struct ts_hip_func_attributes attributes;
	int64_t begin_ns = now_ns();

	read_code();
	register_code();
	for (unsigned i = 0; i < N; i++)
		x[i] = (float)i, y[i] = 1;
	ok(hipMalloc((void **)&dev_x, sizeof(x)));
	ok(hipMalloc((void **)&dev_y, sizeof(y)));
	ok(hipMemcpy(dev_x, x, sizeof(x), TS_HIP_MEMCPY_HOST_TO_DEVICE));
	ok(hipMemcpy(dev_y, y, sizeof(y), TS_HIP_MEMCPY_HOST_TO_DEVICE));
	ok(hipEventCreate(&start));
	ok(hipEventCreate(&stop));
	ok(hipEventRecord(start, NULL));
	ok(hipLaunchKernel(&scaled_stub, GRID, BLOCK, arguments, 0, NULL));
	ok(hipLaunchKernel(&empty_stub, GRID, BLOCK, NULL, 0, NULL));
	ok(hipEventRecord(stop, NULL));
	ok(hipDeviceSynchronize());
	ok(hipEventElapsedTime(&ms, start, stop));
	/* A launch takes 1.5 us and more. The program's own time counts, too. */
	ts_check(ms >= 0.003f && ms < 1 + (float)(now_ns() - begin_ns) / 1e6f);
	ok(hipMemcpy(y, dev_y, sizeof(y), TS_HIP_MEMCPY_DEVICE_TO_HOST));
	for (unsigned i = 0; i < N; i++)
		ts_check(y[i] == 1);
	/* The code has amdgpu_flat_work_group_size(1, 256), and 256 bytes of LDS. */
	ok(hipFuncGetAttributes(&attributes, &scaled_stub));
	ts_check_int(attributes.max_threads_per_block, 256);
	ts_check_int(attributes.shared_size_bytes, 256);
	ts_check(attributes.num_regs > 0);
	/* The kernel has its own limit of threads. */
	ts_check(hipLaunchKernel(&scaled_stub, GRID, (struct ts_hip_dim3){512, 1, 1}, arguments, 0,
				 NULL) != TS_HIP_SUCCESS);
	/* Variables are memory with the program's values. */
	ok(hipMemcpyFromSymbol(&value, &counter, sizeof(value), 0, TS_HIP_MEMCPY_DEVICE_TO_HOST));
	ts_check_int(value, 5);
	ts_check(managed && *managed == 7);
}

/* Each device has its own copy of the variables. */
TS_TEST(devices)
{
	int32_t n = N, value = 6;
	float a = 2, *memory;
	void *arguments[] = {&n, &a, &memory, &memory};
	struct ts_hip_device_prop_r0600 properties;

	read_code();
	register_code();
	for (int device = 0; device < 2; device++) {
		ok(hipSetDevice(device));
		ok(hipMalloc((void **)&memory, N * sizeof(float)));
		ok(hipLaunchKernel(&scaled_stub, GRID, BLOCK, arguments, 0, NULL));
		ok(hipDeviceSynchronize());
		ok(hipMemcpyFromSymbol(&value, &counter, sizeof(value), 0,
				       TS_HIP_MEMCPY_DEVICE_TO_HOST));
		ts_check_int(value, 5);
		value = 6;
		ok(hipMemcpyToSymbol(&counter, &value, sizeof(value), 0,
				     TS_HIP_MEMCPY_HOST_TO_DEVICE));
		ok(hipGetDevicePropertiesR0600(&properties, device));
		ts_check_int(properties.warp_size, 64);
	}
}

TS_TEST(modules)
{
	char *bundle, path[] = "/tmp/ts-hip-timed-XXXXXX";
	void *module, *function, *at;
	size_t n = 0;
	int fd;

	read_code();
	/* The code object itself. */
	ok(hipModuleLoadData(&module, code));
	ok(hipModuleGetFunction(&function, module, "scaled"));
	want(NOT_FOUND, hipModuleGetFunction(&function, module, "scaled.kd"));
	ok(hipModuleGetFunction(&function, module, "empty"));
	ok(hipModuleLaunchKernel(function, 3, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL));
	ok(hipDeviceSynchronize());
	/* 100 threads are a block of 64 and one of 36. */
	ok(hipExtModuleLaunchKernel(function, 100, 1, 1, 64, 1, 1, 0, NULL, NULL, NULL, NULL, NULL,
				    0));
	ok(hipDeviceSynchronize());
	ok(hipModuleGetGlobal(&at, &n, module, "big"));
	ts_check_int(n, 4000);
	ok(hipModuleUnload(module));
	/* A bundle, whole and cut, in memory and in a file. */
	bundle = bundle_new("hip-amdgcn-amd-amdhsa--gfx942");
	ok(hipModuleLoadData(&module, bundle));
	ok(hipModuleGetFunction(&function, module, "scaled"));
	ok(hipModuleUnload(module));
	free(bundle);
	fd = mkstemp(path);
	ts_check(write(fd, code, n_code - 1) == (ssize_t)n_code - 1);
	want(INVALID_IMAGE, hipModuleLoad(&module, path));
	ts_check(write(fd, code + n_code - 1, 1) == 1);
	ok(hipModuleLoad(&module, path));
	ok(hipModuleUnload(module));
	close(fd);
	unlink(path);
	/* A bundle without AMD's code or PTX. */
	bundle = bundle_new("hip-spirv64-amd-amdhsa--amdgcnspirv");
	want(NO_BINARY_FOR_GPU, hipModuleLoadData(&module, bundle));
	free(bundle);
}

TS_TEST(ptx_is_not_computed_either)
{
	void *bundle = hip_bundle_new(HIP_BUNDLE_PTX, gpu_ptx);
	struct ts_hip_device_prop_r0600 properties;
	float y[N], a = 2, *dev_y;
	uint32_t n = N;
	void *arguments[] = {&n, &a, &dev_y, &dev_y};

	register_kernel(bundle, &scaled_stub, "saxpy");
	for (unsigned i = 0; i < N; i++)
		y[i] = 1;
	ok(hipMalloc((void **)&dev_y, sizeof(y)));
	ok(hipMemcpy(dev_y, y, sizeof(y), TS_HIP_MEMCPY_HOST_TO_DEVICE));
	ok(hipLaunchKernel(&scaled_stub, GRID, BLOCK, arguments, 0, NULL));
	ok(hipMemcpy(y, dev_y, sizeof(y), TS_HIP_MEMCPY_DEVICE_TO_HOST));
	ts_check(y[0] == 1 && y[N - 1] == 1);
	ok(hipGetDevicePropertiesR0600(&properties, 0));
	ts_check_str(properties.name, "TraceSmith Virtual GPU (MI300X shape, timed kernels)");
	free(bundle);
}
