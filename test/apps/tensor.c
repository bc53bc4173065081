/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tensor [ROUNDS]: a matrix multiply of halves by tensor cores, as libraries write it: cp.async
 * prefetches tiles, ldmatrix loads fragments, mma.sync accumulates in float. The values make every
 * sum exact: each result must equal the host's to the last bit. The kernel comes from
 * tensor-driver.c or tensor-runtime.cu. test/integration/test-cuda.py runs it.
 */
#include "test/apps/tensor.h"

#define M 192
#define N 128
#define K 160

/* Returns the half-precision bits of whole / 32, for |whole| < 64. */
static uint16_t half_of(int whole)
{
	uint32_t magnitude = (uint32_t)abs(whole), exponent = 31;

	if (!whole)
		return 0;
	while (!(magnitude >> 10)) {
		magnitude <<= 1;
		exponent--;
	}
	/*
	 * The loop leaves magnitude = 1.f * 2^10, shifted left by 31 - exponent. 1024 / 32 is 2^5;
	 * with the bias of 15 the exponent is 20.
	 */
	return (uint16_t)((whole < 0) << 15 | (exponent - 31 + 20) << 10 | (magnitude & 0x3ff));
}

static int next_whole(void)
{
	static uint64_t state = 7;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (int)(state >> 40) % 127 - 63;
}

static uint16_t *upload(uint32_t n, double *ret_values)
{
	uint16_t *halves = malloc(n * sizeof(*halves)), *memory = gpu_malloc(n * sizeof(*halves));

	for (uint32_t i = 0; i < n; i++) {
		int whole = next_whole();

		halves[i] = half_of(whole);
		ret_values[i] = whole / 32.0;
	}
	gpu_h2d(memory, halves, n * sizeof(*halves));
	free(halves);
	return memory;
}

static bool right(const float *got, const double *a, const double *b, int rounds)
{
	for (uint32_t y = 0; y < M; y++)
		for (uint32_t x = 0; x < N; x++) {
			double want = 0;

			for (uint32_t k = 0; k < K; k++)
				want += a[y * K + k] * b[k * N + x];
			want *= rounds;
			if ((double)got[y * N + x] == want)
				continue;
			printf("tensor: row %u, column %u is %.9g, not %.9g\n", y, x,
			       (double)got[y * N + x], want);
			return false;
		}
	return true;
}

int main(int argc, char **argv)
{
	static double a[M * K], b[K * N];
	static float got[M * N];
	int rounds = argc > 1 ? atoi(argv[1]) : 3;
	uint32_t n = N, k = K;
	uint16_t *device_a, *device_b;
	float *device_c;
	void *arguments[] = {&n, &k, &device_a, &device_b, &device_c};
	struct gpu_shape shape = {{N / TENSOR_TILE, M / TENSOR_TILE, 1}, {TENSOR_THREADS, 1, 1}, 0};

	gpu_open(&tensor_code);
	device_a = upload(M * K, a);
	device_b = upload(K * N, b);
	device_c = gpu_malloc(sizeof(got));
	gpu_set(device_c, 0, sizeof(got));
	for (int round = 0; round < rounds; round++)
		gpu_launch(0, shape, arguments, gpu_default_stream(0));
	gpu_d2h(got, device_c, sizeof(got));
	if (!right(got, a, b, rounds))
		return 1;
	gpu_free(device_a);
	gpu_free(device_b);
	gpu_free(device_c);
	printf("tensor: %d rounds\n", rounds);
	return gpu_close();
}
