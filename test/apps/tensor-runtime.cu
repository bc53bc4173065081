/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel of tensor.c as nvcc compiles it. tensor-driver.c holds the PTX of this file.
 *
 * Four warps, each a quarter of the tile, 32 by 32: two fragments of 16 rows of a, four of 8 columns of b. While a
 * step of 32 is multiplied, the next is on its way into the other half of shared memory. Rows are padded by 16 bytes, so that
 * ldmatrix's eight rows lie in different banks.
 */
#include "test/apps/tensor.h"

#define TILE   TENSOR_TILE
#define STEP   32
#define PAD    8
#define PITCHA (STEP + PAD)
#define PITCHB (TILE + PAD)

static __device__ uint32_t shared_address(const void *at)
{
	return (uint32_t)__cvta_generic_to_shared(at);
}

static __device__ void copy_ahead(void *dst, const void *src)
{
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(dst)),
		     "l"(src)
		     : "memory");
}

static __device__ void load_rows(uint32_t fragment[4], const void *at)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
		     : "r"(shared_address(at))
		     : "memory");
}

static __device__ void load_columns(uint32_t fragment[4], const void *at)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
		     : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3])
		     : "r"(shared_address(at))
		     : "memory");
}

static __device__ void multiply(float sum[4], const uint32_t a[4], const uint32_t b[2])
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
		     "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
		     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
		     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

extern "C" __global__ void __launch_bounds__(TENSOR_THREADS)
	tensor_multiply(uint32_t n, uint32_t k, const uint16_t *a, const uint16_t *b, float *c)
{
	__shared__ __align__(16) uint16_t tile_a[2][TILE][PITCHA];
	__shared__ __align__(16) uint16_t tile_b[2][STEP][PITCHB];
	uint32_t thread = threadIdx.x, lane = thread % 32;
	uint32_t row = thread / 64 * 32, column = thread / 32 % 2 * 32;
	float sum[2][4][4] = {};

	a += blockIdx.y * TILE * k;
	b += blockIdx.x * TILE;
	auto fetch = [&](uint32_t step) {
		/* Both tiles are 256 pieces of 8 halves: a has 4 a row, b has 8. */
		for (uint32_t piece = thread; piece < 256; piece += TENSOR_THREADS) {
			copy_ahead(&tile_a[step % 2][piece / 4][piece % 4 * 8],
				   a + piece / 4 * k + step * STEP + piece % 4 * 8);
			copy_ahead(&tile_b[step % 2][piece / 8][piece % 8 * 8],
				   b + (step * STEP + piece / 8) * n + piece % 8 * 8);
		}
		asm volatile("cp.async.commit_group;" ::: "memory");
	};

	fetch(0);
#pragma unroll 1
	for (uint32_t step = 0; step < k / STEP; step++) {
		if (step + 1 < k / STEP) {
			fetch(step + 1);
			asm volatile("cp.async.wait_group 1;" ::: "memory");
		} else {
			asm volatile("cp.async.wait_group 0;" ::: "memory");
		}
		__syncthreads();
#pragma unroll
		for (uint32_t inner = 0; inner < STEP; inner += 16) {
			uint32_t rows[2][4], columns[2][4];

			for (uint32_t i = 0; i < 2; i++) {
				load_rows(rows[i], &tile_a[step % 2][row + 16 * i + lane % 16]
							  [inner + lane / 16 * 8]);
				load_columns(columns[i], &tile_b[step % 2][inner + lane % 16]
								[column + 16 * i + lane / 16 * 8]);
			}
			for (uint32_t i = 0; i < 2; i++)
				for (uint32_t j = 0; j < 4; j++)
					multiply(sum[i][j], rows[i], &columns[j / 2][j % 2 * 2]);
		}
		__syncthreads();
	}
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t j = 0; j < 4; j++)
			for (uint32_t part = 0; part < 4; part++) {
				uint32_t y =
					blockIdx.y * TILE + row + 16 * i + lane / 4 + part / 2 * 8;
				uint32_t x = blockIdx.x * TILE + column + 8 * j + lane % 4 * 2 +
					     part % 2;

				c[y * n + x] += sum[i][j][part];
			}
}

static const char *const names[] = {"tensor_multiply", NULL};

static const void *const functions[] = {(const void *)tensor_multiply};

extern "C" const struct gpu_code tensor_code = {names, NULL, functions, 80};
