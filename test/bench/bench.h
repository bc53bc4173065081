/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the benchmark programs share: how long a loop took, and which core it ran on. Each prints one
 * line of JSON on stdout; run.py makes ratios of them.
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

/* Records between two looks at the clock: a pass is timed, the best pass counts. */
#define TS_BENCH_PASSES 16

/* Moves the calling thread to a core; where there is no such core it stays. */
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

/* Ends the program where `r`, which `what` returned, is not 0. */
static inline void ts_bench_check(int r, const char *what)
{
	if (!r)
		return;
	fprintf(stderr, "%s: %s: %d\n", program_invocation_short_name, what, r);
	exit(1);
}

/* Of the processor, all threads together: what else the machine does counts for nothing. */
static inline double ts_bench_cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The host's fast clock, as an API record takes it. */
static inline uint64_t ts_bench_ticks(void)
{
#if TS_CLOCK_HAVE_TSC
	return ts_clock_tsc();
#else
	return ts_clock_monotonic_ns();
#endif
}
