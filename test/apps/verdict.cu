/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict WHAT: templates whose result depends on an order that nothing promises, for what `tsctl replay` says of them. WHAT: streams
 * (two kernels in two streams), ordered (the same, the second stream waits), default (a fill in the default stream and a kernel in one
 * that does not wait for it), sum (of floats, by atomics).
 */
#include <cstdio>
#include <cstring>

#include <cuda_runtime.h>

#define N 256

#define CHECK(call)                                                                         \
	do {                                                                                \
		cudaError_t error = call;                                                   \
		if (error != cudaSuccess) {                                                 \
			std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(error)); \
			return error == cudaErrorNoDevice ? 77 : 9;                         \
		}                                                                           \
	} while (0)

namespace test
{
template <typename T> __global__ void scale(T *x, T by)
{
	x[threadIdx.x] = x[threadIdx.x] * by;
}

template <typename T> __global__ void add(T *x, const T *y)
{
	x[threadIdx.x] = x[threadIdx.x] + y[threadIdx.x];
}

template <typename T> __global__ void sum(T *out)
{
	atomicAdd(out + 3, T(1) / T(blockIdx.x * N + threadIdx.x + 1));
}
} // namespace test

static int streams(bool is_ordered)
{
	float *x, *y, ones[N];
	cudaStream_t first, second;
	cudaEvent_t event;

	for (float &one : ones)
		one = 1;
	CHECK(cudaStreamCreate(&first));
	CHECK(cudaStreamCreate(&second));
	CHECK(cudaEventCreate(&event));
	CHECK(cudaMalloc(&x, sizeof(ones)));
	CHECK(cudaMalloc(&y, sizeof(ones)));
	CHECK(cudaMemcpy(x, ones, sizeof(ones), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(y, ones, sizeof(ones), cudaMemcpyHostToDevice));
	CHECK(cudaDeviceSynchronize());
	test::scale<float><<<1, N, 0, first>>>(x, 3);
	if (is_ordered) {
		CHECK(cudaEventRecord(event, first));
		CHECK(cudaStreamWaitEvent(second, event, 0));
	}
	test::add<float><<<1, N, 0, second>>>(x, y);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(ones, x, sizeof(ones), cudaMemcpyDeviceToHost));
	return 0;
}

static int against_default(void)
{
	cudaStream_t stream;
	float *x;

	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaMalloc(&x, N * sizeof(*x)));
	CHECK(cudaMemset(x, 0, N * sizeof(*x)));
	test::scale<float><<<1, N, 0, stream>>>(x, 3);
	CHECK(cudaDeviceSynchronize());
	return 0;
}

static int sum(void)
{
	float *x, host[N];

	CHECK(cudaMalloc(&x, sizeof(host)));
	CHECK(cudaMemset(x, 0, sizeof(host)));
	test::sum<float><<<4, N>>>(x);
	CHECK(cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost));
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!std::strcmp(what, "streams") || !std::strcmp(what, "ordered"))
		return streams(*what == 'o');
	if (!std::strcmp(what, "default"))
		return against_default();
	return std::strcmp(what, "sum") ? 2 : sum();
}
