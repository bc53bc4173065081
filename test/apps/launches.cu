// SPDX-License-Identifier: Apache-2.0
/*
 * Launches kernels of every kind that nvcc makes a function of the host of: each line with `<<<` names its kernel at its end. Who launches
 * them is `launch_all`, never the function that nvcc made.
 */
#include <cstdio>
#include <cuda_runtime.h>

namespace {
__global__ void unnamed(int *to) { to[threadIdx.x] = 1; }
}

static __global__ void internal(int *to) { to[threadIdx.x] = 2; }

__global__ void plain(int *to, int n) { if (int(threadIdx.x) < n) to[threadIdx.x] = 3; }

template <typename T, int N> __global__ void instance(T *to) { to[threadIdx.x] = N; }

extern "C" __global__ void of_c(int *to) { to[threadIdx.x] = 4; }

static volatile int n_launched;

__attribute__((noinline)) static void launch_all(int *to)
{
	unnamed<<<1, 32>>>(to); // (anonymous namespace)::unnamed(int*)
	n_launched++;
	internal<<<1, 32>>>(to); // internal(int*)
	n_launched++;
	plain<<<1, 32>>>(to, 8); // plain(int*, int)
	n_launched++;
	instance<float, 3><<<1, 32>>>((float *)to); // void instance<float, 3>(float*)
	n_launched++;
	of_c<<<1, 32>>>(to); // of_c
	n_launched++;
}

int main()
{
	int *to;

	if (cudaMalloc(&to, 4096))
		return 77;
	launch_all(to);
	return cudaDeviceSynchronize() || n_launched != 5;
}
