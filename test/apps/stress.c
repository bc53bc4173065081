/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stress [LAUNCHES [THREADS]]: as many empty kernels as asked for (1,000,000 unless told), shared among
 * threads that each have a stream. Nothing else happens: the launch path, its ring and the daemon behind
 * it are all that is under load. Prints launches a second on stderr, for those who ask with TS_APP_TIME.
 */
#include <pthread.h>
#include <time.h>

#include "test/apps/gpu.h"

#define MAX_THREADS 32

struct job {
	pthread_t thread;
	long launches;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *job_run(void *argument)
{
	struct job *job = argument;
	struct gpu_stream stream;

	gpu_set_device(0);
	stream = gpu_stream_create(false);
	for (long i = 0; i < job->launches; i++)
		gpu_nothing(stream);
	gpu_stream_sync(stream);
	gpu_stream_destroy(stream);
	return NULL;
}

int main(int argc, char **argv)
{
	long launches = argc > 1 ? atol(argv[1]) : 1000000;
	int n = argc > 2 ? atoi(argv[2]) : 4;
	struct job jobs[MAX_THREADS];
	double start_s;

	if (n < 1 || n > MAX_THREADS || launches < n) {
		fprintf(stderr, "stress: 1 to %d threads, a launch for each\n", MAX_THREADS);
		return 2;
	}
	gpu_open();
	gpu_nothing(gpu_default_stream(0));
	gpu_device_sync();
	start_s = now_s();
	for (int i = 0; i < n; i++) {
		/* With the one above, the sum is what was asked for. */
		jobs[i].launches = (launches - 1) / n + (i < (launches - 1) % n);
		if (pthread_create(&jobs[i].thread, NULL, job_run, &jobs[i])) {
			fprintf(stderr, "stress: no thread\n");
			return 1;
		}
	}
	for (int i = 0; i < n; i++)
		pthread_join(jobs[i].thread, NULL);
	if (getenv("TS_APP_TIME"))
		fprintf(stderr, "%.9f\n", now_s() - start_s);
	printf("stress: %ld launches from %d threads\n", launches, n);
	return gpu_close();
}
