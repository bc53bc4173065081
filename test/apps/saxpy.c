/* SPDX-License-Identifier: Apache-2.0 */
/*
 * saxpy [LAUNCHES]: the classic first program. One thread, the default stream, blocking copies of
 * pageable memory, two buffers, a pair of events around the kernels. test/integration/test-cuda.py
 * runs it.
 */
#include "test/apps/gpu.h"

#define N (1u << 16)

static void check_result(const float *x, const float *y, const float *back, int launches)
{
	for (uint32_t i = 0; i < N; i++) {
		/* Small whole numbers: exact in float, in any order of addition. */
		float want = y[i] + (float)launches * 2 * x[i];

		if (back[i] == want)
			continue;
		printf("saxpy: y[%u] is %g, not %g\n", i, (double)back[i], (double)want);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	int launches = argc > 1 ? atoi(argv[1]) : 10;
	size_t n_bytes = N * sizeof(float);
	float *x = malloc(n_bytes), *y = malloc(n_bytes), *back = malloc(n_bytes);
	float *device_x, *device_y;
	void *start, *end;

	for (uint32_t i = 0; i < N; i++) {
		x[i] = (float)(i % 7);
		y[i] = (float)(i % 11);
	}
	gpu_open(NULL);
	device_x = gpu_malloc(n_bytes);
	device_y = gpu_malloc(n_bytes);
	gpu_set(device_y, 0, n_bytes);
	gpu_h2d(device_x, x, n_bytes);
	gpu_h2d(device_y, y, n_bytes);
	start = gpu_event_create();
	end = gpu_event_create();
	gpu_event_record(start, gpu_default_stream(0));
	for (int i = 0; i < launches; i++)
		gpu_saxpy(N, 2, device_x, device_y, gpu_default_stream(0));
	gpu_event_record(end, gpu_default_stream(0));
	gpu_event_sync(end);
	if (gpu_event_elapsed_ms(start, end) < 0)
		return 1;
	gpu_d2h(back, device_y, n_bytes);
	check_result(x, y, back, launches);
	gpu_d2h(back, device_x, n_bytes);
	if (memcmp(back, x, n_bytes)) {
		printf("saxpy: x did not come back as it went\n");
		return 1;
	}
	gpu_device_sync();
	gpu_event_destroy(start);
	gpu_event_destroy(end);
	gpu_free(device_x);
	gpu_free(device_y);
	free(x);
	free(y);
	free(back);
	printf("saxpy: %d launches\n", launches);
	return gpu_close();
}
