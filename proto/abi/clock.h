/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks. A time in a ring is a clock id and raw ticks. The daemon converts ticks to nanoseconds of
 * CLOCK_MONOTONIC, the one clock of a trace, between snapshots of both clocks. Reading the
 * processor's counter costs half of clock_gettime(), and the launch path reads a clock twice.
 *
 * Thread- and signal-safe; nothing here allocates or blocks.
 */
#pragma once

#include <stdint.h>
#include <time.h>

enum ts_clock {
	TS_CLOCK_NONE = 0,
	TS_CLOCK_MONOTONIC = 1, /* ns */
	/*
	 * Ticks of the processor's counter: the TSC on x86, CNTVCT_EL0 on aarch64. Only if it is
	 * the kernel's clocksource.
	 */
	TS_CLOCK_TSC = 2,
	TS_CLOCK_REALTIME = 3, /* ns */
	TS_CLOCK_CUPTI = 4,    /* cuptiGetTimestamp(), if it could not be replaced (CUPTI < 11.6) */
	TS_CLOCK_COUNT
};

/*
 * POSIX's clocks. With -std=c11 and no feature macro, <time.h> does not declare them, and the
 * functions below do not exist.
 */
#ifdef CLOCK_MONOTONIC

static inline uint64_t ts_clock_gettime_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t ts_clock_monotonic_ns(void)
{
	return ts_clock_gettime_ns(CLOCK_MONOTONIC);
}

static inline uint64_t ts_clock_realtime_ns(void)
{
	return ts_clock_gettime_ns(CLOCK_REALTIME);
}

#if defined(__x86_64__)
/*
 * Reads the time-stamp counter. The instruction does not serialize: the CPU may execute
 * neighbouring instructions before or after it, within some tens of cycles. A trace's times are
 * coarser than that.
 */
static inline uint64_t ts_clock_tsc(void)
{
	return __builtin_ia32_rdtsc();
}
#define TS_CLOCK_HAVE_TSC 1
#define TS_CLOCK_SOURCE	  "tsc" /* the counter's name in the kernel's list of clocksources */
#elif defined(__aarch64__)
/* Reads the counter of the architecture's timer. The same holds for its order as for the TSC's. */
static inline uint64_t ts_clock_tsc(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}
#define TS_CLOCK_HAVE_TSC 1
#define TS_CLOCK_SOURCE	  "arch_sys_counter"
#else
#define TS_CLOCK_HAVE_TSC 0
#endif

/* Returns ticks of a session's host clock: TS_CLOCK_TSC or TS_CLOCK_MONOTONIC only. */
static inline uint64_t ts_clock_ticks(enum ts_clock clock)
{
#if TS_CLOCK_HAVE_TSC
	if (clock == TS_CLOCK_TSC)
		return ts_clock_tsc();
#endif
	(void)clock;
	return ts_clock_monotonic_ns();
}

/*
 * One instant on two clocks. `ticks` was read between two readings of CLOCK_MONOTONIC that lie `2 *
 * error_ns` apart; `monotonic_ns` is the middle of the two readings. The reader tries five times
 * and keeps the pair with the smallest error.
 */
struct ts_clock_pair {
	uint64_t ticks;
	uint64_t monotonic_ns;
	uint64_t error_ns;
};

static inline struct ts_clock_pair ts_clock_pair_take(enum ts_clock clock)
{
	struct ts_clock_pair best = {0, 0, UINT64_MAX};
	int i;

	for (i = 0; i < 5; i++) {
		uint64_t before = ts_clock_monotonic_ns();
		uint64_t ticks =
			clock == TS_CLOCK_REALTIME ? ts_clock_realtime_ns() : ts_clock_ticks(clock);
		uint64_t after = ts_clock_monotonic_ns();

		if ((after - before) / 2 < best.error_ns) {
			best.ticks = ticks;
			best.monotonic_ns = before + (after - before) / 2;
			best.error_ns = (after - before) / 2;
		}
	}
	return best;
}

#endif /* CLOCK_MONOTONIC */
