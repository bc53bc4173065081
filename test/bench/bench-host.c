/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-host [SLICES [ITERATIONS [DEPTH]]]: the host sampler's subject. A thread computes the same over and over, DEPTH functions below main().
 * run.py's Python program does the same.
 *
 * The first fifth warms up. Then it prints "ready" and reads a line, and prints the processor time of each slice that follows: a JSON
 * object. The sampler follows it as it follows any session: it has a context on the GPU.
 */
#include <dlfcn.h>
#include <time.h>

#include "test/bench/bench.h"

#define SLICES_MAX 100000u

static volatile uint64_t result;
static uint64_t ns[SLICES_MAX];

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void open_gpu(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), *context;
	int (*init)(unsigned) = library ? (int (*)(unsigned))dlsym(library, "cuInit") : NULL;
	int (*retain)(void **, int) =
		library ? (int (*)(void **, int))dlsym(library, "cuDevicePrimaryCtxRetain") : NULL;

	if (!init || !retain || init(0) || retain(&context, 0)) {
		fprintf(stderr, "bench-host: no GPU\n");
		exit(1);
	}
}

static __attribute__((noinline)) void work(uint64_t n_slices, uint64_t n)
{
	for (uint64_t slice = 0; slice < n_slices; slice++) {
		uint64_t begun = thread_ns(), x = 1;

		for (uint64_t i = 0; i < n; i++)
			x = x * UINT64_C(6364136223846793005) + (x >> 29);
		result = x;
		ns[slice] = thread_ns() - begun;
	}
}

static __attribute__((noinline)) void descend(uint64_t depth, uint64_t n_slices, uint64_t n)
{
	if (depth)
		descend(depth - 1, n_slices, n);
	else
		work(n_slices, n);
	result++; /* no tail call */
}

int main(int argc, char **argv)
{
	uint64_t n_slices = ts_bench_count(argc, argv, 100);
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 20000000;
	uint64_t depth = argc > 3 ? strtoull(argv[3], NULL, 10) : 10;
	uint64_t begun;
	char line[16];

	if (n_slices > SLICES_MAX)
		return 2;
	open_gpu();
	descend(depth, n_slices / 5, n);
	printf("ready\n");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	begun = ts_clock_monotonic_ns();
	descend(depth, n_slices, n);
	printf("{\"start_ns\": %" PRIu64 ", \"end_ns\": %" PRIu64 ", \"slices\": [", begun,
	       ts_clock_monotonic_ns());
	for (uint64_t i = 0; i < n_slices; i++)
		printf("%s%" PRIu64, i ? ", " : "", ns[i]);
	printf("]}\n");
	fflush(stdout);
	/* What the daemon does at the session's end is not of the work. */
	return fgets(line, sizeof(line), stdin) ? 0 : 1;
}
