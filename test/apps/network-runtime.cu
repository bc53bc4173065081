/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernels of network.c as nvcc compiles them. network-driver.c holds the PTX of this file.
 */
#include "test/apps/network.h"

extern "C" __global__ void network_forward(uint32_t batch, uint32_t n_in, uint32_t n_out,
					   const float *x, const float *w, float *y,
					   uint32_t squash)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= batch * n_out)
		return;
	x += i / n_out * n_in;
	w += i % n_out * (n_in + 1);
	float sum = w[n_in];
#pragma unroll 1
	for (uint32_t k = 0; k < n_in; k++)
		sum = fmaf(w[k], x[k], sum);
	y[i] = squash ? 1 - 2 / (__expf(2 * sum) + 1) : sum;
}

extern "C" __global__ void network_loss(uint32_t batch, uint32_t n_classes, const float *out,
					const uint32_t *label, float *d_out, float *losses)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	float most, sum = 0;

	if (i >= batch)
		return;
	out += i * n_classes;
	d_out += i * n_classes;
	most = out[0];
#pragma unroll 1
	for (uint32_t c = 1; c < n_classes; c++)
		most = fmaxf(most, out[c]);
#pragma unroll 1
	for (uint32_t c = 0; c < n_classes; c++)
		sum += __expf(out[c] - most);
#pragma unroll 1
	for (uint32_t c = 0; c < n_classes; c++)
		d_out[c] = (__expf(out[c] - most) / sum - (c == label[i])) / batch;
	losses[i] = __logf(sum) + most - out[label[i]];
}

extern "C" __global__ void network_mean(uint32_t n, const float *x, float *mean)
{
	__shared__ float warps[NETWORK_BLOCK / 32];
	float sum = 0;

#pragma unroll 1
	for (uint32_t i = threadIdx.x; i < n; i += NETWORK_BLOCK)
		sum += x[i];
	for (int d = 16; d; d /= 2)
		sum += __shfl_xor_sync(0xffffffffu, sum, d);
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = sum;
	__syncthreads();
	if (threadIdx.x)
		return;
	for (uint32_t i = 1; i < NETWORK_BLOCK / 32; i++)
		sum += warps[i];
	*mean = sum / n;
}

extern "C" __global__ void network_weights(uint32_t batch, uint32_t n_in, uint32_t n_out,
					   const float *x, const float *dy, float *dw)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, out = i / (n_in + 1),
		 in = i % (n_in + 1);
	float sum = 0;

	if (out >= n_out)
		return;
#pragma unroll 1
	for (uint32_t b = 0; b < batch; b++)
		sum = fmaf(dy[b * n_out + out], in < n_in ? x[b * n_in + in] : 1, sum);
	dw[i] = sum;
}

extern "C" __global__ void network_back(uint32_t batch, uint32_t n_in, uint32_t n_out,
					const float *w, const float *dy, const float *x, float *dx)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (i >= batch * n_in)
		return;
#pragma unroll 1
	for (uint32_t out = 0; out < n_out; out++)
		sum = fmaf(w[out * (n_in + 1) + i % n_in], dy[i / n_in * n_out + out], sum);
	dx[i] = sum * (1 - x[i] * x[i]);
}

extern "C" __global__ void network_descend(uint32_t n, float rate, const float *dw, float *w)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		w[i] = fmaf(-rate, dw[i], w[i]);
}

static const char *const names[] = {
	"network_forward", "network_loss",    "network_mean", "network_weights",
	"network_back",	   "network_descend", NULL,
};

static const void *const functions[] = {
	(const void *)network_forward, (const void *)network_loss, (const void *)network_mean,
	(const void *)network_weights, (const void *)network_back, (const void *)network_descend,
};

extern "C" const struct gpu_code network_code = {names, NULL, functions, 0};
