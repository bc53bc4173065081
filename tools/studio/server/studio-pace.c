/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lets the timeline's requests work first: see studio-pace.h. http.c reports requests, and the
 * threads of studio-trace.c rest between two blocks. Their low priority alone does not suffice:
 * Linux shares the processors between sessions of processes first (sched_autogroup_enabled), and
 * niceness counts within a session only. The browser is in another one.
 */
#include "tools/studio/server/studio-pace.h"

#include "proto/abi/clock.h"

#include <stdint.h>
#include <time.h>

/* The browser starts. */
#define START_NS UINT64_C(2000000000)
/* After a file, the browser parses it and makes the page. */
#define LOAD_NS UINT64_C(300000000)
/* After an answer the page draws. A view that moves needs no answer for many of its frames. */
#define DRAW_NS UINT64_C(200000000)
#define STEP_NS 2000000L
#define MOST_NS UINT64_C(50000000)

static void busy_for(struct ts_studio_pace *pace, uint64_t ns)
{
	unsigned long until_ns = ts_clock_monotonic_ns() + ns;
	unsigned long before_ns = atomic_load_explicit(&pace->busy_until_ns, memory_order_relaxed);

	while (before_ns < until_ns &&
	       !atomic_compare_exchange_weak_explicit(&pace->busy_until_ns, &before_ns, until_ns,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

void ts_studio_pace_start(struct ts_studio_pace *pace)
{
	busy_for(pace, START_NS);
}

void ts_studio_pace_load(struct ts_studio_pace *pace)
{
	busy_for(pace, LOAD_NS);
}

void ts_studio_pace_begin(struct ts_studio_pace *pace)
{
	atomic_fetch_add_explicit(&pace->n_requests, 1, memory_order_relaxed);
}

void ts_studio_pace_end(struct ts_studio_pace *pace)
{
	busy_for(pace, DRAW_NS);
	atomic_fetch_sub_explicit(&pace->n_requests, 1, memory_order_relaxed);
}

void ts_studio_pace_rest(struct ts_studio_pace *pace, bool (*is_over)(void *data), void *data)
{
	const struct timespec step = {.tv_nsec = STEP_NS};
	uint64_t begin_ns = ts_clock_monotonic_ns(), now_ns = begin_ns;

	while (now_ns - begin_ns < MOST_NS && !is_over(data) &&
	       (atomic_load_explicit(&pace->n_requests, memory_order_relaxed) ||
		now_ns < atomic_load_explicit(&pace->busy_until_ns, memory_order_relaxed))) {
		nanosleep(&step, NULL);
		now_ns = ts_clock_monotonic_ns();
	}
}
