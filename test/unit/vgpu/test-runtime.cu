// SPDX-License-Identifier: Apache-2.0
/*
 * libcudart as nvcc's programs use it: registration, launches through stubs, symbols, managed variables, sticky errors,
 * every kind of memory, both default streams. What kernels compute is not looked at.
 */
#include <cuda_runtime.h>
#include <thread>

#include "test/unit/harness.h"

__constant__ float constants[4] = {1, 2, 3, 4};
__device__ int variable = 42;
__managed__ int managed = 7;

struct big {
	char bytes[200];
};

__global__ void fill(int *out, int n, struct big b)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		out[i] = variable + (int)constants[i & 3] + b.bytes[0] + managed;
}

template <typename T> __global__ void twice(T *x)
{
	x[threadIdx.x] *= 2;
}

#define ok(call) ts_check_int(call, cudaSuccess)

TS_TEST(stubs_launch_and_symbols_are_found)
{
	struct big b = {{1}};
	float got[4];
	int value = 0, *device;
	void *where;
	size_t bytes;

	ok(cudaMalloc(&device, 4096));
	fill<<<4, 256>>>(device, 1024, b);
	twice<double><<<1, 32, 128>>>((double *)device);
	ok(cudaGetLastError());
	ok(cudaDeviceSynchronize());
	ok(cudaMemcpyFromSymbol(got, constants, sizeof(got)));
	ts_check(got[0] == 1 && got[3] == 4);
	ok(cudaMemcpyFromSymbol(&value, variable, sizeof(value)));
	ts_check_int(value, 42);
	value = 99;
	ok(cudaMemcpyToSymbol(variable, &value, sizeof(value)));
	value = 0;
	ok(cudaMemcpyFromSymbol(&value, variable, sizeof(value)));
	ts_check_int(value, 99);
	ts_check_int(cudaMemcpyFromSymbol(got, constants, 16, 4), cudaErrorInvalidValue);
	ts_check_int(cudaGetLastError(), cudaErrorInvalidValue);
	ok(cudaGetSymbolAddress(&where, variable));
	ok(cudaGetSymbolSize(&bytes, constants));
	ts_check_int(bytes, 16);
	ts_check_int(managed, 7);
	managed = 8;
	ts_check_int(managed, 8);
	ok(cudaFree(device));
}

TS_TEST(errors_stick_until_asked_for)
{
	twice<float><<<1, 2048>>>((float *)NULL);
	ts_check_int(cudaPeekAtLastError(), cudaErrorInvalidConfiguration);
	ok(cudaDeviceSynchronize());
	ts_check_int(cudaGetLastError(), cudaErrorInvalidConfiguration);
	ok(cudaGetLastError());
	ts_check_int(cudaMemcpy(NULL, NULL, 4, (cudaMemcpyKind)77), cudaErrorInvalidMemcpyDirection);
	ts_check_int(cudaGetLastError(), cudaErrorInvalidMemcpyDirection);
	ts_check_int(cudaSetDevice(99), cudaErrorInvalidDevice);
	ts_check_int(cudaFree((void *)0x1234), cudaErrorInvalidValue);
	ts_check_str(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
	ts_check_str(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
}

TS_TEST(memory_round_trips)
{
	enum { N = 100000 };
	char *host = (char *)malloc(N), *pinned, *device, *unified, *async;
	cudaPointerAttributes attributes;
	size_t pitch;
	char row[10];

	for (int i = 0; i < N; i++)
		host[i] = (char)(i * 13);
	ok(cudaMalloc(&device, N));
	ok(cudaMallocHost(&pinned, N));
	ok(cudaMallocManaged(&unified, N));
	ok(cudaMallocAsync(&async, N, 0));
	ok(cudaMemcpy(device, host, N, cudaMemcpyHostToDevice));
	ok(cudaMemcpyAsync(async, device, N, cudaMemcpyDeviceToDevice, 0));
	ok(cudaMemcpy(unified, async, N, cudaMemcpyDefault));
	ok(cudaMemcpy(pinned, unified, N, cudaMemcpyDefault));
	ts_check(!memcmp(host, pinned, N) && !memcmp(host, unified, N));
	ok(cudaMemset(device, 0x5a, N));
	ok(cudaMemcpy(pinned, device, N, cudaMemcpyDeviceToHost));
	ts_check(pinned[0] == 0x5a && pinned[N - 1] == 0x5a);
	ok(cudaPointerGetAttributes(&attributes, device + 5));
	ts_check_int(attributes.type, cudaMemoryTypeDevice);
	ok(cudaPointerGetAttributes(&attributes, unified));
	ts_check_int(attributes.type, cudaMemoryTypeManaged);
	ok(cudaPointerGetAttributes(&attributes, pinned));
	ts_check_int(attributes.type, cudaMemoryTypeHost);
	ok(cudaPointerGetAttributes(&attributes, host));
	ts_check_int(attributes.type, cudaMemoryTypeUnregistered);
	ok(cudaFreeAsync(async, 0));
	ok(cudaFree(device));
	ok(cudaFree(unified));
	ok(cudaFreeHost(pinned));

	ok(cudaMallocPitch(&device, &pitch, 10, 20));
	ok(cudaMemcpy2D(device, pitch, host, 10, 10, 20, cudaMemcpyHostToDevice));
	ok(cudaMemcpy2D(row, 10, device + 7 * pitch, pitch, 10, 1, cudaMemcpyDeviceToHost));
	ts_check(!memcmp(row, host + 70, 10));
	ts_check_int(cudaMemcpy2D(device, pitch, host, 5, 10, 20, cudaMemcpyHostToDevice),
		     cudaErrorInvalidPitchValue);
	ok(cudaFree(device));
	free(host);
}

TS_TEST(kernels_tell_their_attributes)
{
	cudaFuncAttributes attributes;
	cudaDeviceProp prop;
	int blocks, device;

	ok(cudaFuncGetAttributes(&attributes, fill));
	ts_check_int(attributes.maxThreadsPerBlock, 1024);
	ts_check_int(attributes.ptxVersion, 90);
	ok(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 0));
	ts_check_int(blocks, 8);
	ok(cudaGetDeviceProperties(&prop, 0));
	ts_check(prop.major == 9 && prop.multiProcessorCount == 132 && prop.warpSize == 32);
	ts_check(strstr(prop.name, "Virtual"));
	ok(cudaGetDevice(&device));
	ts_check_int(device, 0);
}

TS_TEST(devices_threads_and_streams)
{
	cudaStream_t stream;
	cudaEvent_t a, b;
	float ms;
	int n, *p, *q, value = 5, got = 0;

	ok(cudaGetDeviceCount(&n));
	ts_check_int(n, 2);
	ok(cudaMalloc(&p, 4));
	ok(cudaSetDevice(1));
	ok(cudaMalloc(&q, 4));
	ok(cudaMemcpy(p, &value, 4, cudaMemcpyHostToDevice));
	ok(cudaMemcpyPeer(q, 1, p, 0, 4));
	ok(cudaMemcpy(&got, q, 4, cudaMemcpyDeviceToHost));
	ts_check_int(got, 5);
	ok(cudaDeviceEnablePeerAccess(0, 0));
	ts_check_int(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessAlreadyEnabled);
	std::thread other([] {
		int device = -1;

		ok(cudaGetDevice(&device));
		ts_check_int(device, 0);
		twice<float><<<1, 1, 0, cudaStreamPerThread>>>((float *)NULL);
		ok(cudaStreamSynchronize(cudaStreamPerThread));
	});
	other.join();
	ok(cudaStreamCreate(&stream));
	ok(cudaEventCreate(&a));
	ok(cudaEventCreate(&b));
	ok(cudaEventRecord(a, stream));
	for (int i = 0; i < 50; i++)
		twice<float><<<100, 64, 0, stream>>>((float *)q);
	ok(cudaEventRecord(b, stream));
	ok(cudaEventSynchronize(b));
	ok(cudaEventQuery(b));
	ok(cudaEventElapsedTime(&ms, a, b));
	ts_check(ms > 0.05f);
	ok(cudaEventDestroy(a));
	ok(cudaEventDestroy(b));
	ok(cudaStreamDestroy(stream));
	ok(cudaDeviceReset());
	ok(cudaMalloc(&q, 4));
	twice<float><<<1, 1>>>((float *)q);
	ok(cudaDeviceSynchronize());
}

TS_TEST(capture_is_refused)
{
	cudaStream_t stream;

	ok(cudaStreamCreate(&stream));
	ts_check_int(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal),
		     cudaErrorNotSupported);
	ok(cudaStreamDestroy(stream));
}
