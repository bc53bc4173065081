/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stress [LAUNCHES [THREADS [BURST]]]: launches empty kernels (default: 1,000,000 launches, 4
 * threads). Each thread has a stream. The load is only on the launch path, its ring and the daemon.
 * test/integration/test-death.py runs it.
 *
 * With BURST a thread waits for its stream after BURST launches, before the device's queue makes it
 * wait. With TS_APP_TIME prints on stderr the mean number of seconds that a thread spent in
 * launches, without the waits.
 */
#include <pthread.h>
#include <time.h>

#include "test/apps/gpu.h"

#define MAX_THREADS 32

struct job {
	pthread_t thread;
	long launches;
	long burst;
	double launching_s;
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
	for (long left = job->launches; left; gpu_stream_sync(stream)) {
		long n = job->burst && job->burst < left ? job->burst : left;
		double start_s = now_s();

		for (long i = 0; i < n; i++)
			gpu_nothing(stream);
		job->launching_s += now_s() - start_s;
		left -= n;
	}
	gpu_stream_destroy(stream);
	return NULL;
}

int main(int argc, char **argv)
{
	long launches = argc > 1 ? atol(argv[1]) : 1000000;
	int n = argc > 2 ? atoi(argv[2]) : 4;
	struct job jobs[MAX_THREADS];
	long burst = argc > 3 ? atol(argv[3]) : 0;
	double launching_s = 0;

	if (n < 1 || n > MAX_THREADS || launches < n) {
		fprintf(stderr, "stress: 1 to %d threads, a launch for each\n", MAX_THREADS);
		return 2;
	}
	gpu_open(NULL);
	gpu_nothing(gpu_default_stream(0));
	gpu_device_sync();
	for (int i = 0; i < n; i++) {
		jobs[i] = (struct job){.burst = burst};
		/* The sum includes the launch above and equals the number requested. */
		jobs[i].launches = (launches - 1) / n + (i < (launches - 1) % n);
		if (pthread_create(&jobs[i].thread, NULL, job_run, &jobs[i])) {
			fprintf(stderr, "stress: no thread\n");
			return 1;
		}
	}
	for (int i = 0; i < n; i++)
		launching_s += pthread_join(jobs[i].thread, NULL) ? 0 : jobs[i].launching_s;
	if (getenv("TS_APP_TIME"))
		fprintf(stderr, "%.9f\n", launching_s / n);
	printf("stress: %ld launches from %d threads\n", launches, n);
	return gpu_close();
}
