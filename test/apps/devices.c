/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices [ROUNDS]: one thread uses two devices. Each device works on its own buffer. Then the
 * first device's buffer is copied to the second device, and from there to the host. The host
 * compares the result. test/integration/test-cuda.py runs it.
 */
#include "test/apps/gpu.h"

#define N (1u << 15)

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	size_t n_bytes = N * sizeof(float);
	float *values = malloc(n_bytes), *back = malloc(n_bytes);
	struct gpu_stream streams[2];
	float *buffers[2];

	gpu_open(NULL);
	if (gpu_device_count() < 2) {
		fprintf(stderr, "skipped: %d device, two are needed\n", gpu_device_count());
		return GPU_SKIPPED;
	}
	for (int device = 0; device < 2; device++) {
		gpu_set_device(device);
		streams[device] = gpu_stream_create(false);
		buffers[device] = gpu_malloc(n_bytes);
	}
	for (int round = 0; round < rounds; round++) {
		for (uint32_t i = 0; i < N; i++)
			values[i] = (float)(round + (int)(i % 13));
		for (int device = 0; device < 2; device++) {
			gpu_set_device(device);
			gpu_h2d_async(buffers[device], values, n_bytes, streams[device]);
			for (int i = 0; i <= device; i++)
				gpu_scale(N, 1, buffers[device], streams[device]);
			gpu_nothing(gpu_default_stream(device));
			gpu_stream_sync(streams[device]);
		}
		gpu_set_device(0);
		gpu_peer_async(buffers[1], 1, buffers[0], 0, n_bytes, streams[0]);
		gpu_stream_sync(streams[0]);
		gpu_set_device(1);
		gpu_d2h_async(back, buffers[1], n_bytes, streams[1]);
		gpu_stream_sync(streams[1]);
		if (memcmp(values, back, n_bytes)) {
			printf("devices: a buffer did not come back as it went\n");
			return 1;
		}
	}
	for (int device = 0; device < 2; device++) {
		gpu_set_device(device);
		gpu_device_sync();
		gpu_stream_destroy(streams[device]);
		gpu_free(buffers[device]);
	}
	free(values);
	free(back);
	printf("devices: %d rounds\n", rounds);
	return gpu_close();
}
