/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the walk of the thread's own stack against backtrace(), which uses the compiler's unwinder.
 * No libunwind is needed. On aarch64 the functions here sign their return addresses, if the
 * processor can (meson.build).
 */
#include <execinfo.h>
#include <pthread.h>

#include "inject/stacks/stack-cache.h"
#include "test/unit/harness.h"

#if defined(__clang__)
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif
/* Used after a call: the call is no tail call, and the compiler does not know its result. */
#define KEEP(r)	  __asm__ volatile("" : "+r"(r))
#define DEPTH_MAX 20u
/* Frames of the harness, of main() and of the C library. */
#define OUTER_MAX 20u

static struct ts_stack_cache *cache;
static unsigned n_in_deep;

static NOINLINE int check_here(void)
{
	void *known[DEPTH_MAX + OUTER_MAX + 1];
	const struct ts_stack_walk *walk;
	struct ts_stack_start start;
	uintptr_t first, end;
	int n;

	TS_STACK_HERE(&start);
	__asm__ volatile("" : : "r"(&start) : "memory");
	walk = ts_stack_cache_walk(cache, &start);
	n = backtrace(known, DEPTH_MAX + OUTER_MAX + 1);
	ts_check(walk->complete && !walk->truncated);
	/* The first address of backtrace() is in this function. */
	ts_check_int(walk->n_frames, n - 1);
	for (int i = 1; i < n; i++)
		ts_check(walk->frames[i - 1] == (uintptr_t)known[i]);
	/* Each word lies above the one before it: callers have the upper part of the stack. */
	for (uint32_t i = 1; i < walk->n_frames; i++)
		ts_check(walk->at[i] > walk->at[i - 1]);
	ts_check(ts_cfi_function((uintptr_t)walk->frames[0], &first, &end));
	n_in_deep = 0;
	for (uint32_t i = 0; i < walk->n_frames; i++)
		n_in_deep += walk->frames[i] >= first && walk->frames[i] < end;
	return n;
}

static NOINLINE int deep(unsigned n)
{
	int r = n ? deep(n - 1) : check_here();

	KEEP(r);
	return r;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Walloca"
/* A frame whose size is known only at run time. */
static NOINLINE int sized(unsigned n)
{
	volatile char *room = __builtin_alloca(16 * (n + 1));
	int r;

	room[0] = 1;
	r = deep(n);
	KEEP(r);
	return r + room[0] - 1;
}

#pragma GCC diagnostic pop

/* A large array between the saved registers and the caller's frame, or below both. */
static NOINLINE int large(unsigned n)
{
	volatile char room[8192];
	int r;

	room[0] = room[sizeof(room) - 1] = 1;
	r = sized(n);
	KEEP(r);
	return r + room[0] - 1;
}

static int compare(const void *a, const void *b)
{
	int r = *(const int *)a - *(const int *)b;

	check_here();
	KEEP(r);
	return r;
}

static void set_up(void)
{
	if (!TS_STACK_WALKS)
		ts_skip("stacks are recognised on x86-64 and aarch64 alone");
	if (TS_TEST_SANITIZED)
		ts_skip("a sanitizer has a backtrace() of its own");
	cache = ts_stack_cache_new();
	ts_check(cache);
	(void)ts_stack_cache_renew(cache, 1);
}

TS_TEST(frames_of_known_depth)
{
	set_up();
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned n = 0; n < DEPTH_MAX; n++) {
			deep(n);
			ts_check_int(n_in_deep, n + 1);
			large(n % 4);
			ts_check_int(n_in_deep, n % 4 + 1);
		}
	}
}

TS_TEST(frames_of_the_c_library)
{
	int numbers[8] = {5, 2, 7, 1, 8, 3, 6, 4};

	set_up();
	qsort(numbers, 8, sizeof(numbers[0]), compare);
	ts_check_int(numbers[7], 8);
}

static void *thread_main(void *data)
{
	deep(3);
	return data;
}

TS_TEST(frames_of_a_thread)
{
	pthread_t thread;

	set_up();
	ts_check_int(pthread_create(&thread, NULL, thread_main, NULL), 0);
	pthread_join(thread, NULL);
	ts_check_int(n_in_deep, 4);
}
