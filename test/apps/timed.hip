/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that a real HIP compiler makes: its kernels are AMD's code, and their host stubs,
 * registrations and launches are the compiler's. The virtual GPU runs it with kernels=timed.
 * test/integration/test-hip-timed.py runs it. The program needs no header of AMD's.
 *
 * Prints a line for each launch: kernel, grid, block, dynamic shared memory.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/abi/vendor/hip.h"
extern "C" {
#include "tools/vgpu/generated-hip-functions.h"
}

#define DEVICE __attribute__((device))
#define KERNEL __attribute__((global))
#define SHARED __attribute__((shared))
#define N      (1 << 16)

DEVICE int counter = 5;
__attribute__((managed)) int limit = N;

DEVICE static unsigned index()
{
	return __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
}

KERNEL void saxpy(int n, float a, const float *x, float *y)
{
	const unsigned i = index();

	if (i < (unsigned)n)
		y[i] = a * x[i] + y[i] + counter;
}

/* The name needs demangling. */
template <typename T> KERNEL __attribute__((amdgpu_flat_work_group_size(1, 256))) void tile(T *data)
{
	SHARED T staged[256];
	const unsigned i = index();

	staged[i % 256] = data[i % N];
	__builtin_amdgcn_s_barrier();
	if (i < (unsigned)limit)
		data[i % N] = staged[(i + 1) % 256];
}

static void check(int32_t result, const char *call)
{
	if (!result)
		return;
	printf("%s: %s (%d)\n", call, hipGetErrorName(result), result);
	exit(1);
}

#define CHECK(call) check(call, #call)

/* The launch of a kernel, and its line. */
#define LAUNCH(name, kernel, grid, block, shared, stream, ...)                                     \
	do {                                                                                       \
		const ts_hip_dim3 g = grid, b = block;                                             \
		kernel<<<g, b, shared, stream>>>(__VA_ARGS__);                                     \
		CHECK(hipGetLastError());                                                          \
		printf("%s %u %u %u %u %u %u %u\n", name, g.x, g.y, g.z, b.x, b.y, b.z, shared);   \
	} while (0)

#define DIM(...) (ts_hip_dim3{__VA_ARGS__})

int main()
{
	float *x, *y, *host = (float *)calloc(N, sizeof(float)), value = 0;
	void *stream, *graph, *exec;

	CHECK(hipMalloc((void **)&x, N * sizeof(float)));
	CHECK(hipMalloc((void **)&y, N * sizeof(float)));
	CHECK(hipStreamCreate(&stream));
	CHECK(hipMemcpy(x, host, N * sizeof(float), TS_HIP_MEMCPY_HOST_TO_DEVICE));
	LAUNCH("saxpy(int, float, float const*, float*)", saxpy, DIM(N / 256, 1, 1), DIM(256, 1, 1), 0u,
	       nullptr, N, 2.0f, x, y);
	for (unsigned i = 1; i <= 3; i++) {
		LAUNCH("void tile<float>(float*)", tile<float>, DIM(i, 2, 3), DIM(8, 4, i), 1024u * i, stream,
		       y);
		LAUNCH("void tile<int>(int*)", tile<int>, DIM(7 * i, 1, 1), DIM(64, 1, 1), 0u, nullptr,
		       (int *)y);
	}
	CHECK(hipStreamBeginCapture(stream, TS_HIP_STREAM_CAPTURE_MODE_GLOBAL));
	saxpy<<<DIM(4, 1, 1), DIM(128, 1, 1), 0, stream>>>(512, 2.0f, x, y);
	CHECK(hipStreamEndCapture(stream, &graph));
	CHECK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
	CHECK(hipGraphLaunch(exec, stream));
	printf("graph saxpy(int, float, float const*, float*)\n");
	CHECK(hipStreamSynchronize(stream));
	CHECK(hipDeviceSynchronize());
	CHECK(hipMemcpy(&value, x, sizeof(value), TS_HIP_MEMCPY_DEVICE_TO_HOST));
	CHECK(hipFree(x));
	CHECK(hipFree(y));
	free(host);
	return value != 0 || limit != N;
}
