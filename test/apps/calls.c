/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls N [A_SECOND [THREADS]]: N cheap system calls in each thread, between two launches. The call
 * is an mremap() of nothing: the kernel refuses it, and `--kernel-events` records it. Each thread
 * makes at most A_SECOND calls a second (default: no limit). test/integration/test-kernel-events.py
 * runs it.
 *
 * Prints one line of JSON for each thread: number of calls, start and end in nanoseconds of
 * CLOCK_MONOTONIC, processor time. With TS_APP_WAIT, waits for a line of input before the calls.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "test/apps/gpu.h"

#define PIECE	    64 /* calls between two readings of the clock */
#define MAX_THREADS 16

static uint64_t n_calls, per_second;

struct caller {
	pthread_t thread;
	int tid;
	uint64_t start_ns, end_ns;
	uint64_t processor_ns; /* processor time of this thread */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/*
 * Makes the calls in pieces; no piece begins before it is due. A late piece delays all later ones,
 * so that no second exceeds the limit.
 */
static void *call(void *data)
{
	struct caller *caller = data;
	uint64_t piece_ns = per_second ? PIECE * UINT64_C(1000000000) / per_second : 0;
	uint64_t processor_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), due_ns, now;

	caller->tid = (int)syscall(SYS_gettid);
	caller->start_ns = due_ns = clock_ns(CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < n_calls; i++) {
		if (i % PIECE == 0) {
			/* Sleeps: other threads and tests need the processor. */
			while ((now = clock_ns(CLOCK_MONOTONIC)) < due_ns)
				usleep((useconds_t)((due_ns - now + 999) / 1000));
			due_ns = (now - due_ns > piece_ns ? now : due_ns) + piece_ns;
		}
		syscall(SYS_mremap, NULL, 0, 0, 0);
	}
	caller->end_ns = clock_ns(CLOCK_MONOTONIC);
	caller->processor_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - processor_ns;
	return NULL;
}

int main(int argc, char **argv)
{
	static struct caller callers[MAX_THREADS];
	int n_threads = argc > 3 ? atoi(argv[3]) : 1;
	char line[16];

	n_calls = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000;
	per_second = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	if (n_threads < 1 || n_threads > MAX_THREADS)
		return 2;
	gpu_open(NULL);
	gpu_nothing(gpu_default_stream(0));
	gpu_device_sync();
	/* The test writes the line when its recording is ready. */
	if (getenv("TS_APP_WAIT") && !fgets(line, sizeof(line), stdin))
		return 1;
	for (int i = 0; i < n_threads; i++)
		if (pthread_create(&callers[i].thread, NULL, call, &callers[i]))
			return 1;
	for (int i = 0; i < n_threads; i++)
		pthread_join(callers[i].thread, NULL);
	gpu_nothing(gpu_default_stream(0));
	gpu_device_sync();
	for (int i = 0; i < n_threads; i++)
		printf("{\"tid\": %d, \"calls\": %" PRIu64 ", \"start_ns\": %" PRIu64
		       ", \"end_ns\": %" PRIu64 ", \"processor_ns\": %" PRIu64 "}\n",
		       callers[i].tid, n_calls, callers[i].start_ns, callers[i].end_ns,
		       callers[i].processor_ns);
	return gpu_close();
}
