/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared parts of the benchmark programs: counts, timing, pinning to a core. Each program prints
 * JSON on stdout; run.py computes ratios from it.
 */
#pragma once

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "proto/abi/clock.h"

/* Passes of a benchmark; each pass is timed, the best one counts. */
#define TS_BENCH_PASSES 16

/*
 * Moves the calling thread to a core, modulo the number of cores. If that fails, the thread stays.
 */
static inline void ts_bench_pin(unsigned core)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(core % (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static inline uint64_t ts_bench_count(int argc, char **argv, uint64_t otherwise)
{
	return argc > 1 ? strtoull(argv[1], NULL, 10) : otherwise;
}

/* If `r`, the result of `what`, is not 0, prints `what` and `r`, and ends the program. */
static inline void ts_bench_check(int r, const char *what)
{
	if (!r)
		return;
	fprintf(stderr, "%s: %s: %d\n", program_invocation_short_name, what, r);
	exit(1);
}

/*
 * Returns the processor time of all threads of the process, so that other processes do not count.
 */
static inline double ts_bench_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/*
 * Lets the analyses of this process use one thread, so that processor time is the cost of the work:
 * further threads change less of the wait than they add to the sum.
 */
static inline void ts_bench_one_thread(void)
{
	setenv("TRACESMITH_THREADS", "1", 1);
}

/* Reads the host's fast clock, as an API record does. */
static inline uint64_t ts_bench_ticks(void)
{
#if TS_CLOCK_HAVE_TSC
	return ts_clock_tsc();
#else
	return ts_clock_monotonic_ns();
#endif
}
