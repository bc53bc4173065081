/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls N [A_SECOND [THREADS]]: N system calls of each thread that cost next to nothing (mremap of nothing, which is refused and which `--kernel-events`
 * tells of), at most so many a second of each thread, between two launches. For each thread a line of JSON: how many, and when, in
 * nanoseconds of CLOCK_MONOTONIC. With TS_APP_WAIT it waits for a line of input before.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "test/apps/gpu.h"

#define PIECE	    64 /* calls between looks at the clock */
#define MAX_THREADS 16

static uint64_t n_calls, per_second;

struct caller {
	pthread_t thread;
	int tid;
	uint64_t start_ns, end_ns;
	uint64_t processor_ns; /* its own */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Begins no piece before it is due; one that is late is not made up for, so that no second has more than it may. */
static void *call(void *data)
{
	struct caller *caller = data;
	uint64_t piece_ns = per_second ? PIECE * UINT64_C(1000000000) / per_second : 0;
	uint64_t processor_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID), due_ns, now;

	caller->tid = (int)syscall(SYS_gettid);
	caller->start_ns = due_ns = clock_ns(CLOCK_MONOTONIC);
	for (uint64_t i = 0; i < n_calls; i++) {
		if (i % PIECE == 0) {
			while ((now = clock_ns(CLOCK_MONOTONIC)) < due_ns)
				;
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
	/* Until whoever asks for that says so. */
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
