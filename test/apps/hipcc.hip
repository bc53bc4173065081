/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program as users of HIP write it, with AMD's headers and device library, built by hipcc. The
 * virtual GPU runs it with kernels=timed. test/integration/test-hip-timed.py runs it. Prints a line
 * for each launch, as timed.hip.
 */
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <hip/hip_runtime.h>

#define N 4096

__constant__ float scale[4] = {1, 2, 3, 4};
__managed__ int managed = 7;

template <typename T> __global__ void __launch_bounds__(256) saxpy(int n, T a, const T *x, T *y)
{
	extern __shared__ T staged[];
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	staged[threadIdx.x] = a;
	__syncthreads();
	if (i < n)
		y[i] = staged[threadIdx.x] * x[i] + sinf(y[i]) + scale[i & 3] + managed;
	atomicAdd(&y[0], T(1));
}

static void check(hipError_t result, const char *call)
{
	if (result == hipSuccess)
		return;
	printf("%s: %s (%d)\n", call, hipGetErrorName(result), result);
	exit(1);
}

#define CHECK(call) check(call, #call)

int main()
{
	std::vector<float> host(N, 1.0f);
	float *x, *y, value = 0;
	hipDeviceProp_t properties;
	hipStream_t stream;

	CHECK(hipMalloc(&x, N * sizeof(float)));
	CHECK(hipMalloc(&y, N * sizeof(float)));
	CHECK(hipMemcpy(x, host.data(), N * sizeof(float), hipMemcpyHostToDevice));
	CHECK(hipStreamCreate(&stream));
	for (unsigned i = 1; i <= 5; i++) {
		saxpy<float><<<dim3(i, 2), dim3(256), 1024, stream>>>(N, 2.0f, x, y);
		CHECK(hipGetLastError());
		printf("void saxpy<float>(int, float, float const*, float*) %u 2 1 256 1 1 1024\n", i);
	}
	CHECK(hipStreamSynchronize(stream));
	CHECK(hipGetDeviceProperties(&properties, 0));
	/* Variables have the values of the source. */
	CHECK(hipMemcpyFromSymbol(&value, HIP_SYMBOL(scale), sizeof(value), 2 * sizeof(value)));
	CHECK(hipFree(x));
	CHECK(hipFree(y));
	return properties.warpSize != 64 || value != 3 || managed != 7;
}
