/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host: the host computes between launches, 70 % of the time in preprocess() and 30 % in load(), by
 * the thread's CPU clock. The build compiles it with and without frame pointers, as C and as C++.
 * test/integration/test-host.py compares a profile with these shares.
 *
 *	host [ROUNDS [MS]]      rounds of MS milliseconds of processor time each (default: 20 of 50)
 *
 * Prints the processor time of each function in nanoseconds.
 */
#include <inttypes.h>
#include <time.h>

#include "test/apps/gpu.h"

static volatile uint64_t result;

static uint64_t thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/*
 * Computes for some hundred microseconds between two readings of the clock. A macro, so that the
 * samples fall into the function that uses it.
 */
#define WORK(ns)                                                                   \
	do {                                                                       \
		uint64_t begun = thread_ns(), x = begun | 1;                       \
                                                                                   \
		while (thread_ns() - begun < (ns)) {                               \
			for (unsigned i = 0; i < 200000; i++)                      \
				x = x * UINT64_C(6364136223846793005) + (x >> 29); \
		}                                                                  \
		result = x;                                                        \
	} while (0)

/* preprocess() and load() differ, because the compiler merges identical functions. */
static __attribute__((noinline)) void preprocess(uint64_t ns)
{
	WORK(ns);
	result |= 1;
}

static __attribute__((noinline)) void load(uint64_t ns)
{
	WORK(ns);
	result |= 2;
}

int main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 20;
	uint64_t ns = (argc > 2 ? strtoull(argv[2], NULL, 10) : 50) * 1000000;
	uint64_t preprocess_ns = 0, load_ns = 0;

	gpu_open(NULL);
	for (unsigned i = 0; i < rounds; i++) {
		preprocess_ns -= thread_ns();
		preprocess(ns * 7 / 10);
		preprocess_ns += thread_ns();
		load_ns -= thread_ns();
		load(ns * 3 / 10);
		load_ns += thread_ns();
		gpu_nothing(gpu_default_stream(0));
		gpu_device_sync();
	}
	printf("preprocess %" PRIu64 " load %" PRIu64 "\n", preprocess_ns, load_ns);
	return gpu_close();
}
