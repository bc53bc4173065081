/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compute [NAME ...]: the kernels that everyone writes sooner or later, each checked against the same sum done on the host: tiled
 * matrix multiply, reductions, scan, histogram, softmax, layer norm, n-body, a stencil in double, a bitonic sort, a grid-wide
 * barrier. One line per kernel; exit status 1 when a result is wrong.
 */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define check(call)                                                                              \
	do {                                                                                     \
		cudaError_t error_ = (call);                                                     \
		if (error_ == cudaErrorNoDevice || error_ == cudaErrorInsufficientDriver) {      \
			fprintf(stderr, "skipped: %s\n", cudaGetErrorString(error_));            \
			exit(77);                                                                \
		}                                                                                \
		if (error_) {                                                                    \
			fprintf(stderr, "%s: %s\n", #call, cudaGetErrorName(error_));            \
			exit(9);                                                                 \
		}                                                                                \
	} while (0)

/* Device memory of as many elements as a vector has, which go there and back. */
template <typename T> struct Buffer {
	T *at;
	size_t n;
	explicit Buffer(const std::vector<T> &from) : at(nullptr), n(from.size())
	{
		check(cudaMalloc(&at, n * sizeof(T)));
		check(cudaMemcpy(at, from.data(), n * sizeof(T), cudaMemcpyHostToDevice));
	}
	~Buffer()
	{
		cudaFree(at);
	}
	std::vector<T> get() const
	{
		std::vector<T> to(n);

		check(cudaMemcpy(to.data(), at, n * sizeof(T), cudaMemcpyDeviceToHost));
		return to;
	}
};

static unsigned next_random(void)
{
	static unsigned long long state = 42;

	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(state >> 33);
}

static std::vector<float> floats(size_t n)
{
	std::vector<float> v(n);

	for (float &x : v)
		x = (float)(next_random() % 2001) / 1000.0f - 1.0f;
	return v;
}

static bool near(double got, double want, double relative)
{
	return fabs(got - want) <= relative * (1 + fabs(want));
}

enum { TILE = 16 };

__global__ void matmul_kernel(int n, const float *a, const float *b, float *c)
{
	__shared__ float sa[TILE][TILE], sb[TILE][TILE];
	int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
	float sum = 0;

	for (int k = 0; k < n; k += TILE) {
		sa[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
		sb[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
		__syncthreads();
		for (int i = 0; i < TILE; i++)
			sum += sa[threadIdx.y][i] * sb[i][threadIdx.x];
		__syncthreads();
	}
	c[y * n + x] = sum;
}

static bool matmul(void)
{
	const int n = 96;
	std::vector<float> a = floats(n * n), b = floats(n * n);
	Buffer<float> da(a), db(b), dc(std::vector<float>(n * n));

	matmul_kernel<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(n, da.at, db.at, dc.at);
	std::vector<float> c = dc.get();
	for (int y = 0; y < n; y++)
		for (int x = 0; x < n; x++) {
			double sum = 0;

			for (int k = 0; k < n; k++)
				sum += (double)a[y * n + k] * b[k * n + x];
			if (!near(c[y * n + x], sum, 1e-5))
				return false;
		}
	return true;
}

__global__ void reduce_shared(int n, const int *x, int *sum)
{
	extern __shared__ int part[];
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	part[threadIdx.x] = i < n ? x[i] : 0;
	__syncthreads();
	for (unsigned s = blockDim.x / 2; s; s /= 2) {
		if (threadIdx.x < s)
			part[threadIdx.x] += part[threadIdx.x + s];
		__syncthreads();
	}
	if (!threadIdx.x)
		atomicAdd(sum, part[0]);
}

__global__ void reduce_shuffle(int n, const int *x, int *sum)
{
	int v = 0;

	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		v += x[i];
	for (int s = 16; s; s /= 2)
		v += __shfl_down_sync(0xffffffffu, v, s);
	if (!(threadIdx.x % 32))
		atomicAdd(sum, v);
}

static bool reduce(void)
{
	std::vector<int> x(50001);
	int want = 0;

	for (int &v : x)
		want += v = (int)(next_random() % 1000) - 500;
	Buffer<int> dx(x), sums(std::vector<int>(2));
	reduce_shared<<<(50001 + 255) / 256, 256, 256 * sizeof(int)>>>(50001, dx.at, sums.at);
	reduce_shuffle<<<20, 128>>>(50001, dx.at, sums.at + 1);
	std::vector<int> got = sums.get();
	return got[0] == want && got[1] == want;
}

/* One block, Hillis and Steele's. */
__global__ void scan_kernel(const int *x, int *y)
{
	__shared__ int s[2][1024];
	int in = 0, i = threadIdx.x;

	s[0][i] = x[i];
	__syncthreads();
	for (int d = 1; d < 1024; d *= 2, in = !in) {
		s[!in][i] = s[in][i] + (i >= d ? s[in][i - d] : 0);
		__syncthreads();
	}
	y[i] = s[in][i];
}

static bool scan(void)
{
	std::vector<int> x(1024);

	for (int &v : x)
		v = (int)(next_random() % 100);
	Buffer<int> dx(x), dy(x);
	scan_kernel<<<1, 1024>>>(dx.at, dy.at);
	std::vector<int> got = dy.get();
	for (int i = 0, sum = 0; i < 1024; i++)
		if (got[i] != (sum += x[i]))
			return false;
	return true;
}

__global__ void histogram_kernel(int n, const unsigned char *x, unsigned *bins)
{
	__shared__ unsigned own[256];

	own[threadIdx.x] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		atomicAdd(&own[x[i]], 1u);
	__syncthreads();
	atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

static bool histogram(void)
{
	std::vector<unsigned char> x(100003);
	std::vector<unsigned> want(256);

	for (unsigned char &v : x)
		want[v = (unsigned char)(next_random() % 7 * next_random())]++;
	Buffer<unsigned char> dx(x);
	Buffer<unsigned> bins(std::vector<unsigned>(256));
	histogram_kernel<<<8, 256>>>(100003, dx.at, bins.at);
	return bins.get() == want;
}

template <typename F> __device__ float block_reduce(float v, F combine)
{
	__shared__ float s[256];

	s[threadIdx.x] = v;
	__syncthreads();
	for (int d = 128; d; d /= 2) {
		if (threadIdx.x < d)
			s[threadIdx.x] = combine(s[threadIdx.x], s[threadIdx.x + d]);
		__syncthreads();
	}
	v = s[0];
	__syncthreads();
	return v;
}

struct Sum {
	__device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
	__device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

__global__ void softmax_kernel(const float *x, float *y)
{
	int i = blockIdx.x * 256 + threadIdx.x;
	float e = expf(x[i] - block_reduce(x[i], Max()));

	y[i] = e / block_reduce(e, Sum());
}

__global__ void layernorm_kernel(const float *x, float *y)
{
	int i = blockIdx.x * 256 + threadIdx.x;
	float mean = block_reduce(x[i], Sum()) / 256, d = x[i] - mean;

	y[i] = d * rsqrtf(block_reduce(d * d, Sum()) / 256 + 1e-5f);
}

static bool rows(bool softmax)
{
	const int n = 40;
	std::vector<float> x = floats(n * 256);
	Buffer<float> dx(x), dy(x);

	if (softmax)
		softmax_kernel<<<n, 256>>>(dx.at, dy.at);
	else
		layernorm_kernel<<<n, 256>>>(dx.at, dy.at);
	std::vector<float> y = dy.get();
	for (int r = 0; r < n; r++) {
		const float *row = &x[r * 256];
		double sum = 0, mean = 0, variance = 0;

		for (int i = 0; i < 256; i++) {
			sum += exp((double)row[i]);
			mean += row[i] / 256.0;
		}
		for (int i = 0; i < 256; i++)
			variance += (row[i] - mean) * (row[i] - mean) / 256;
		for (int i = 0; i < 256; i++)
			if (!near(y[r * 256 + i],
				  softmax ? exp((double)row[i]) / sum
					  : (row[i] - mean) / sqrt(variance + 1e-5),
				  1e-5))
				return false;
	}
	return true;
}

static bool softmax(void)
{
	return rows(true);
}

static bool layernorm(void)
{
	return rows(false);
}

__global__ void nbody_kernel(int n, const float4 *body, float3 *force)
{
	__shared__ float4 tile[64];
	int i = blockIdx.x * 64 + threadIdx.x;
	float4 me = body[i];
	float3 f = {0, 0, 0};

	for (int t = 0; t < n; t += 64) {
		tile[threadIdx.x] = body[t + threadIdx.x];
		__syncthreads();
		for (int j = 0; j < 64; j++) {
			float x = tile[j].x - me.x, y = tile[j].y - me.y, z = tile[j].z - me.z;
			float r = rsqrtf(x * x + y * y + z * z + 0.01f);
			float s = tile[j].w * r * r * r;

			f.x += s * x;
			f.y += s * y;
			f.z += s * z;
		}
		__syncthreads();
	}
	force[i] = f;
}

static bool nbody(void)
{
	const int n = 256;
	std::vector<float> x = floats(4 * n);
	std::vector<float4> body(n);

	memcpy(body.data(), x.data(), n * sizeof(float4));
	Buffer<float4> db(body);
	Buffer<float3> df{std::vector<float3>(n)};
	nbody_kernel<<<n / 64, 64>>>(n, db.at, df.at);
	std::vector<float3> force = df.get();
	for (int i = 0; i < n; i++) {
		double f[3] = {0, 0, 0};

		for (int j = 0; j < n; j++) {
			double d[3] = {(double)body[j].x - body[i].x, (double)body[j].y - body[i].y,
				       (double)body[j].z - body[i].z};
			double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + (double)0.01f;

			for (int k = 0; k < 3; k++)
				f[k] += body[j].w * d[k] / (r2 * sqrt(r2));
		}
		if (!near(force[i].x, f[0], 1e-3) || !near(force[i].y, f[1], 1e-3) ||
		    !near(force[i].z, f[2], 1e-3))
			return false;
	}
	return true;
}

__global__ void stencil_kernel(int n, const double *x, double *y)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y;

	if (i > 0 && i < n - 1 && j > 0 && j < n - 1)
		y[j * n + i] = fma(0.25, x[j * n + i - 1] + x[j * n + i + 1],
				   0.25 * (x[(j - 1) * n + i] + x[(j + 1) * n + i]));
}

static bool stencil(void)
{
	const int n = 100;
	std::vector<double> x(n * n), y;

	for (double &v : x)
		v = next_random() / 1e6;
	y = x;
	Buffer<double> dx(x), dy(x);
	for (int step = 0; step < 10; step++) {
		stencil_kernel<<<dim3(2, n), 64>>>(n, dx.at, dy.at);
		std::swap(dx.at, dy.at);
		for (int j = 1; j < n - 1; j++)
			for (int i = 1; i < n - 1; i++)
				y[j * n + i] =
					fma(0.25, x[j * n + i - 1] + x[j * n + i + 1],
					    0.25 * (x[(j - 1) * n + i] + x[(j + 1) * n + i]));
		std::swap(x, y);
	}
	/* To the last bit: fma and sums of doubles are exact in the same way on both sides. */
	return dx.get() == x;
}

__global__ void sort_step(unsigned *x, unsigned j, unsigned k)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;

	if (other > i && (x[i] > x[other]) == !(i & k)) {
		unsigned t = x[i];

		x[i] = x[other];
		x[other] = t;
	}
}

static bool sort(void)
{
	const unsigned n = 4096;
	std::vector<unsigned> x(n);

	for (unsigned &v : x)
		v = next_random();
	Buffer<unsigned> dx(x);
	for (unsigned k = 2; k <= n; k *= 2)
		for (unsigned j = k / 2; j; j /= 2)
			sort_step<<<n / 256, 256>>>(dx.at, j, k);
	std::sort(x.begin(), x.end());
	return dx.get() == x;
}

__global__ void grid_kernel(int *x)
{
	cooperative_groups::grid_group grid = cooperative_groups::this_grid();
	int i = (int)grid.thread_rank(), n = (int)grid.size(), v;

	for (int round = 0; round < 5; round++) {
		x[i] = i + round;
		grid.sync();
		v = x[(i * 7 + 3) % n];
		grid.sync();
	}
	x[i] = v;
}

static bool grid(void)
{
	Buffer<int> dx(std::vector<int>(2048));
	void *args[] = {&dx.at};

	check(cudaLaunchCooperativeKernel((void *)grid_kernel, dim3(16), dim3(128), args));
	std::vector<int> x = dx.get();
	for (int i = 0; i < 2048; i++)
		if (x[i] != (i * 7 + 3) % 2048 + 4)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		bool (*run)(void);
	} all[] = {
		{"matmul", matmul},	  {"reduce", reduce}, {"scan", scan},
		{"histogram", histogram}, {"softmax", softmax},	{"layernorm", layernorm},
		{"nbody", nbody},	  {"stencil", stencil}, {"sort", sort},
		{"grid", grid},
	};
	int status = 0;

	for (const auto &one : all) {
		bool wanted = argc < 2, right;

		for (int i = 1; i < argc; i++)
			wanted |= !strcmp(argv[i], one.name);
		if (!wanted)
			continue;
		right = one.run();
		check(cudaGetLastError());
		printf("%s: %s\n", one.name, right ? "right" : "wrong");
		status |= !right;
	}
	return status;
}
