// SPDX-License-Identifier: Apache-2.0
// Ordinary CUDA, compiled by nvcc at several levels and architectures; test-nvcc.c knows what it must compute.
#include <cstdio>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" {

__global__ void reduce(const float *in, float *out, int n)
{
	__shared__ float partial[32];
	float sum = 0;

	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		sum += in[i];
	for (int k = 16; k; k >>= 1)
		sum += __shfl_down_sync(0xffffffff, sum, k);
	if (threadIdx.x % 32 == 0)
		partial[threadIdx.x / 32] = sum;
	__syncthreads();
	if (threadIdx.x < 32) {
		sum = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
		for (int k = 16; k; k >>= 1)
			sum += __shfl_down_sync(0xffffffff, sum, k);
		if (!threadIdx.x)
			atomicAdd(out, sum);
	}
}

__global__ void matmul(const float *a, const float *b, float *c, int n)
{
	__shared__ float ta[16][16], tb[16][17];
	int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
	float sum = 0;

	for (int t = 0; t < n; t += 16) {
		ta[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
		tb[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column];
		__syncthreads();
		for (int k = 0; k < 16; k++)
			sum += ta[threadIdx.y][k] * tb[k][threadIdx.x];
		__syncthreads();
	}
	c[row * n + column] = sum;
}

__global__ void histogram(const unsigned char *in, unsigned *out, int n)
{
	__shared__ unsigned bins[256];

	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		bins[i] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&bins[in[i]], 1);
	__syncthreads();
	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		atomicAdd(&out[i], bins[i]);
}

// An inclusive scan in one pass: each block looks back at the one before it.
__global__ void scan(const int *in, int *out, volatile int *prefix, volatile int *ready)
{
	typedef cub::BlockScan<int, 128> Scan;
	__shared__ typename Scan::TempStorage storage;
	__shared__ int before;
	int i = blockIdx.x * 128 + threadIdx.x, sum, total;

	Scan(storage).InclusiveSum(in[i], sum, total);
	if (!threadIdx.x) {
		before = 0;
		if (blockIdx.x) {
			while (!ready[blockIdx.x - 1])
				;
			__threadfence();
			before = prefix[blockIdx.x - 1];
		}
		prefix[blockIdx.x] = before + total;
		__threadfence();
		ready[blockIdx.x] = 1;
	}
	__syncthreads();
	out[i] = before + sum;
}

__global__ void sort(unsigned *keys)
{
	typedef cub::BlockRadixSort<unsigned, 128, 4> Sort;
	__shared__ typename Sort::TempStorage storage;
	unsigned mine[4];

	for (int k = 0; k < 4; k++)
		mine[k] = keys[threadIdx.x * 4 + k];
	Sort(storage).Sort(mine);
	for (int k = 0; k < 4; k++)
		keys[threadIdx.x * 4 + k] = mine[k];
}

__global__ void doubles(double *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] = sqrt(x[i]) + sin(x[i]) * exp(-x[i]) + pow(x[i], 0.3) / (1 + log1p(x[i])) + fmod(x[i], 0.7) +
		       (double)__float2int_rz((float)x[i]) + erf(x[i]) + tgamma(1 + x[i] / 10);
}

__global__ void singles(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		x[i] = sqrtf(x[i]) + sinf(x[i] * 1000) * expf(-x[i]) + powf(x[i], 0.3f) / (1 + log1pf(x[i])) +
		       tanhf(x[i]) + rsqrtf(1 + x[i]) + __fdividef(x[i], 3.0f) + erff(x[i]) + atan2f(x[i], 2.0f);
}

__global__ void halves(const __half2 *a, const __nv_bfloat162 *b, float4 *out)
{
	int i = threadIdx.x;
	__half2 h = __hfma2(a[i], a[i], __float2half2_rn(0.5f));
#if __CUDA_ARCH__ >= 800
	__nv_bfloat162 f = __hfma2(b[i], b[i], __float2bfloat162_rn(0.25f));
#else
	float2 g = __bfloat1622float2(b[i]);
	__nv_bfloat162 f = __floats2bfloat162_rn(g.x * g.x + 0.25f, g.y * g.y + 0.25f);
#endif

	h = __hmax2(h, h2sqrt(a[i]));
	out[i] = make_float4(__low2float(h), __high2float(h), __low2float(f), __high2float(f));
}

__global__ void softmax(const float *in, float *out, int n)
{
	typedef cub::BlockReduce<float, 128> Reduce;
	__shared__ typename Reduce::TempStorage storage;
	__shared__ float largest, total;
	const float *row = in + blockIdx.x * n;
	float m = -INFINITY, sum = 0;

	for (int i = threadIdx.x; i < n; i += 128)
		m = fmaxf(m, row[i]);
	m = Reduce(storage).Reduce(m, [](float a, float b) { return a > b ? a : b; });
	if (!threadIdx.x)
		largest = m;
	__syncthreads();
	for (int i = threadIdx.x; i < n; i += 128)
		sum += __expf(row[i] - largest);
	sum = Reduce(storage).Sum(sum);
	if (!threadIdx.x)
		total = sum;
	__syncthreads();
	for (int i = threadIdx.x; i < n; i += 128)
		out[blockIdx.x * n + i] = __expf(row[i] - largest) / total;
}

struct shape {
	__device__ virtual float area() const = 0;
};
struct square : shape {
	float side;
	__device__ square(float s) : side(s) {}
	__device__ float area() const override { return side * side; }
};
struct circle : shape {
	float radius;
	__device__ circle(float r) : radius(r) {}
	__device__ float area() const override { return 3 * radius * radius; }
};

__global__ void objects(float *out)
{
	shape *s = threadIdx.x & 1 ? (shape *)new square(threadIdx.x) : (shape *)new circle(threadIdx.x);

	out[threadIdx.x] = s->area();
	delete (square *)s;
}

__global__ void hello(int n, const char *word)
{
	printf("thread %d of %d: %s %5.2f %llx\n", threadIdx.x, n, word, threadIdx.x * 0.5, 1ull << 40);
}

__global__ void wide(unsigned long long *x, __int128 *y)
{
	unsigned long long v = x[threadIdx.x];

	y[threadIdx.x] = (__int128)v * v / (threadIdx.x + 3);
	x[threadIdx.x] = __brevll(v) ^ __popcll(v) ^ __clzll(v) ^ (v << 13 | v >> 51) ^ __umul64hi(v, v) ^ v % 1000003;
}

__device__ int collatz(int n)
{
	int steps = 0;

	while (n != 1) {
		n = n & 1 ? 3 * n + 1 : n / 2;
		steps++;
	}
	return steps;
}

__global__ void diverge(int *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, r;

	switch (i % 7) {
	case 0:
		r = collatz(i + 1);
		break;
	case 1:
		r = i * 3;
		break;
	case 2:
		r = __clz(i);
		break;
	case 3:
		r = i / 5 + i % 11;
		break;
	case 4:
		r = -i;
		break;
	case 5:
		r = __popc(i);
		break;
	default:
		return;
	}
	out[i] = r;
}
}
