/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the processor time of each thread of a program; threads.py preloads this library. It
 * replaces pthread_create(), so that each thread adds its own time when its function returns. At
 * the program's end the library writes the sum, the time of the busiest thread, the number of
 * threads and the peak memory to the file that TS_BENCH_THREADS names.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define EXPORT __attribute__((visibility("default")))

struct start {
	void *(*run)(void *data);
	void *data;
};

typedef int create_fn(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		      void *data);

static uint64_t busiest_ns, n_threads = 1;

static uint64_t time_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static void note(uint64_t ns)
{
	uint64_t most = __atomic_load_n(&busiest_ns, __ATOMIC_RELAXED);

	while (ns > most && !__atomic_compare_exchange_n(&busiest_ns, &most, ns, 0,
							 __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void *run(void *data)
{
	struct start start = *(struct start *)data;
	void *result;

	free(data);
	result = start.run(start.data);
	note(time_ns(CLOCK_THREAD_CPUTIME_ID));
	return result;
}

EXPORT int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
			  void *(*function)(void *), void *data)
{
	create_fn *create = (create_fn *)dlsym(RTLD_NEXT, "pthread_create");
	struct start *start = malloc(sizeof(*start));

	*start = (struct start){function, data};
	__atomic_fetch_add(&n_threads, 1, __ATOMIC_RELAXED);
	return create(thread, attributes, run, start);
}

static __attribute__((destructor)) void print(void)
{
	const char *path = getenv("TS_BENCH_THREADS");
	FILE *file = path ? fopen(path, "we") : NULL;
	struct rusage usage;

	if (!file)
		return;
	note(time_ns(CLOCK_THREAD_CPUTIME_ID));
	getrusage(RUSAGE_SELF, &usage);
	fprintf(file,
		"{\"sum_s\": %.4f, \"busiest_s\": %.4f, \"threads\": %u, \"peak_kib\": %ld}\n",
		(double)time_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e9, (double)busiest_ns / 1e9,
		(unsigned)n_threads, usage.ru_maxrss);
	fclose(file);
}
