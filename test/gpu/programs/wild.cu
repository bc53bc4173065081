// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
__global__ void fine(int *p) { p[threadIdx.x] = 1; }
__global__ void wild(int *p) { p[(1ll << 36) + threadIdx.x] = 1; }
int main() { int *p; cudaMalloc(&p, 4096); for (int i = 0; i < 100; i++) fine<<<1, 32>>>(p); cudaDeviceSynchronize(); wild<<<1, 32>>>(p);
  cudaError_t e = cudaDeviceSynchronize(); printf("%s\n", cudaGetErrorName(e)); cudaFree(p); return e == cudaErrorIllegalAddress ? 3 : 0; }
