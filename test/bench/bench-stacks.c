/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench-stacks [N]: captures a stack of 35 frames without frame pointers, N times by each way. The
 * ways take turns; the best pass of each way counts. The ways are:
 *
 * - cached: a stack that the cache recognises, with the lookup of its id, as in the shim;
 * - missed: a stack that differs only in its outermost frame, so that inject/stacks unwinds it by
 *   remembered rules, with the lookup of its id;
 * - libunwind's unw_backtrace(), without lookup;
 * - glibc's backtrace(), without lookup.
 *
 * The program compares the frames of all ways.
 */
#include <execinfo.h>
#include <math.h>

#include "inject/ring/ring-session.h"
#include "inject/stacks/stack.h"
#include "test/bench/bench.h"

#define DEPTH 29 /* without the frames above and below */

enum way {
	WAY_CACHED,
	WAY_MISSED,
	WAY_UNWIND,
	WAY_GLIBC,
	WAY_COUNT
};

static struct ts_stack_walker walker;
static struct ts_definitions definitions;
static struct ts_stack_cache *cache;
static double best_ns[WAY_COUNT];
static uint64_t n_different, n_frames;
static uint32_t id;
static uint32_t flags;

/*
 * Handles an unknown stack as the shim does. With `remember`, adds a different stack from the same
 * place to the cache.
 */
static __attribute__((noinline)) uint32_t miss(bool remember)
{
	struct ts_stack_start start;
	const struct ts_stack_walk *walk;

	TS_STACK_HERE(&start);
	__asm__ volatile("" : : "r"(&start) : "memory");
	n_different += !remember &&
		       ts_stack_cache_find(cache, ts_loader_generation(&walker.watch), start.sp);
	walk = ts_stack_cache_walk(cache, &start);
	if (remember)
		ts_stack_cache_add(cache, &start, 1);
	return ts_definitions_stack(&definitions, walk->frames, walk->n_frames, walk->truncated);
}

static __attribute__((noinline)) void time_way(enum way way, uint64_t n, bool other)
{
	static void *frames[TS_STACK_DEPTH_MAX];
	uint64_t start = ts_clock_monotonic_ns(), i;
	double ns;

	for (i = 0; i < n; i++) {
		if (way == WAY_MISSED)
			id = miss(other);
		else if (way == WAY_CACHED)
			id = ts_stack_capture(&walker, &definitions, &cache, &flags);
		else if (way == WAY_UNWIND)
			walker.unwind.backtrace(frames, TS_STACK_DEPTH_MAX);
		else
			backtrace(frames, TS_STACK_DEPTH_MAX);
		__asm__ volatile("" : : "r"(id) : "memory");
	}
	ns = (double)(ts_clock_monotonic_ns() - start) / (double)n;
	if (!other)
		best_ns[way] = ns < best_ns[way] ? ns : best_ns[way];
}

/* Compares the frames of all ways, without the frames inside the ways themselves. */
static void compare(void)
{
	void *unwound[TS_STACK_DEPTH_MAX], *glibc[TS_STACK_DEPTH_MAX];
	const struct ts_stack_walk *walk;
	struct ts_stack_start start;
	int n, n_glibc, i;

	n = walker.unwind.backtrace(unwound, TS_STACK_DEPTH_MAX);
	n_glibc = backtrace(glibc, TS_STACK_DEPTH_MAX);
	TS_STACK_HERE(&start);
	__asm__ volatile("" : : "r"(&start) : "memory");
	walk = ts_stack_cache_walk(cache, &start);
	while (n > 0 && !unwound[n - 1])
		n--;
	while (n_glibc > 0 && !glibc[n_glibc - 1])
		n_glibc--;
	n_frames = walk->n_frames;
	n_different += n - 1 != (int)walk->n_frames || n_glibc != n;
	for (i = 0; i < (int)walk->n_frames && i + 1 < n && i + 1 < n_glibc; i++)
		n_different += walk->frames[i] != (uintptr_t)unwound[i + 1] ||
			       walk->frames[i] != (uintptr_t)glibc[i + 1];
}

static __attribute__((noinline)) void bottom(uint64_t n, bool other)
{
	unsigned pass, way;

	if (other) {
		time_way(WAY_MISSED, 2, true);
		return;
	}
	compare();
	for (pass = 0; pass < TS_BENCH_PASSES; pass++)
		for (way = 0; way < WAY_COUNT; way++)
			time_way(way, way == WAY_GLIBC ? n / 16 + 1 : n, false);
}

static __attribute__((noinline)) unsigned deeper(unsigned depth, uint64_t n, bool other)
{
	unsigned below = 0;

	if (depth)
		below = deeper(depth - 1, n, other);
	else
		bottom(n, other);
	/* Prevents a tail call and a loop. */
	__asm__ volatile("" : "+r"(below));
	return below + depth;
}

int main(int argc, char **argv)
{
	uint64_t n = ts_bench_count(argc, argv, 1000000) / TS_BENCH_PASSES + 1;
	struct ts_session_options options = {
		.n_shards = 1,
		.ring_bytes = TS_RING_MIN_BYTES,
		.arena_bytes = TS_ARENA_MIN_BYTES,
		.command = TS_COMMAND_RECORD,
		.program = "bench-stacks",
	};
	struct ts_session_memory memory;
	struct ts_stack_counts counts;
	unsigned way, sum;
	int fd;

	ts_bench_pin(1);
	ts_stack_init(&walker, false, false);
	memset(walker.skip, 0, sizeof(walker.skip));
	if (!ts_stack_works(&walker) || !walker.watch.works) {
		fprintf(stderr, "skipped: %s\n",
			ts_stack_works(&walker) ? "libraries cannot be watched" : "no libunwind");
		return 77;
	}
	if (ts_session_new(&options, &fd, &memory) || ts_definitions_init(&definitions, &memory))
		return 1;
	for (way = 0; way < WAY_COUNT; way++)
		best_ns[way] = INFINITY;
	(void)ts_stack_capture(&walker, &definitions, &cache, &flags);
	sum = deeper(DEPTH, n, true);
	sum += deeper(DEPTH, n, false);
	counts = ts_stack_counts(&walker);
	printf("{\"frames\": %" PRIu64
	       ", \"cached_ns\": %.1f, \"missed_ns\": %.1f, \"unwind_ns\": %.1f, "
	       "\"glibc_ns\": %.1f, \"different\": %" PRIu64 ", \"n_cached\": %" PRIu64
	       ", \"sum\": %u}\n",
	       n_frames, best_ns[WAY_CACHED], best_ns[WAY_MISSED], best_ns[WAY_UNWIND],
	       best_ns[WAY_GLIBC], n_different, counts.n_cached, sum);
	return 0;
}
