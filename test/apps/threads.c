/* SPDX-License-Identifier: Apache-2.0 */
/*
 * threads [THREADS [LAUNCHES]]: launches from many threads at once. Half of the threads have their
 * own stream, half share the default stream. Each thread copies a buffer to the device and back,
 * and ends before the program ends, so that the records outlive their thread. A second wave follows
 * the first. test/integration/test-cuda.py runs it.
 */
#include <pthread.h>

#include "test/apps/gpu.h"

#define N	    4096u
#define MAX_THREADS 32
#define WAVES	    2

struct job {
	pthread_t thread;
	int number;
	int launches;
	bool failed;
};

static void *job_run(void *argument)
{
	struct job *job = argument;
	bool own = job->number % 2 == 0;
	struct gpu_stream stream;
	float *device, values[64];

	gpu_set_device(0);
	stream = own ? gpu_stream_create(true) : gpu_default_stream(0);
	device = gpu_malloc(N * sizeof(float));
	for (int i = 0; i < 64; i++)
		values[i] = (float)(job->number + i);
	gpu_set_async(device, 0, N * sizeof(float), stream);
	gpu_h2d_async(device, values, sizeof(values), stream);
	for (int i = 0; i < job->launches; i++)
		gpu_scale(N, 1, device, stream);
	gpu_stream_sync(stream);
	gpu_d2h(values, device, sizeof(values));
	for (int i = 0; i < 64; i++)
		job->failed |= values[i] != (float)(job->number + i);
	gpu_free(device);
	if (own)
		gpu_stream_destroy(stream);
	return NULL;
}

static bool wave_run(struct job *jobs, int n, int launches)
{
	bool failed = false;

	for (int i = 0; i < n; i++) {
		jobs[i] = (struct job){.number = i, .launches = launches + i};
		if (pthread_create(&jobs[i].thread, NULL, job_run, &jobs[i]))
			return false;
	}
	for (int i = 0; i < n; i++) {
		pthread_join(jobs[i].thread, NULL);
		failed |= jobs[i].failed;
	}
	return !failed;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 8;
	int launches = argc > 2 ? atoi(argv[2]) : 200;
	struct job jobs[MAX_THREADS];

	if (n < 1 || n > MAX_THREADS) {
		fprintf(stderr, "threads: 1 to %d threads\n", MAX_THREADS);
		return 2;
	}
	gpu_open(NULL);
	for (int wave = 0; wave < WAVES; wave++) {
		if (!wave_run(jobs, n, launches)) {
			printf("threads: a buffer did not come back as it went\n");
			return 1;
		}
	}
	gpu_device_sync();
	printf("threads: %d waves of %d threads\n", WAVES, n);
	return gpu_close();
}
