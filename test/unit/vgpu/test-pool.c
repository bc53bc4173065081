/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests memory pools: reserved and released memory, the streams that may reuse freed memory, and
 * the time of reuse. Also any number of blocks that are allocated and freed: no two blocks in use
 * overlap.
 */
#include "test/unit/harness.h"

#include "replay/vgpu/vgpu.h"

#include <time.h>

#define MIB   (UINT64_C(1) << 20)
#define CHUNK TS_VGPU_GRANULE_BYTES

static struct ts_vgpu *vgpu;
static struct ts_vgpu_context *context;
static struct ts_vgpu_pool *pool;
static int is_open;

static void wait_for_gate(void *arg)
{
	struct timespec ts = {.tv_nsec = 100000};

	(void)arg;
	while (!__atomic_load_n(&is_open, __ATOMIC_ACQUIRE))
		nanosleep(&ts, NULL);
}

static struct ts_vgpu_stream *stream(void)
{
	struct ts_vgpu_stream *s;

	ts_check_int(ts_vgpu_stream_new(context, TS_VGPU_STREAM_NON_BLOCKING, 0, &s), 0);
	return s;
}

static void begin(void)
{
	struct ts_vgpu_spec spec;
	char message[160];

	ts_check_int(ts_vgpu_spec_parse("small", &spec, message, sizeof(message)), 0);
	ts_check_int(ts_vgpu_new(&spec, &vgpu), 0);
	ts_check_int(ts_vgpu_context_new(ts_vgpu_device_at(vgpu, 0), &context), 0);
	ts_check_int(ts_vgpu_pool_new(ts_vgpu_device_at(vgpu, 0), &pool, &pool), 0);
}

static void end(void)
{
	__atomic_store_n(&is_open, 1, __ATOMIC_RELEASE);
	ts_vgpu_free(vgpu);
}

/* Makes later operations of the stream wait for open_gate(). */
static void close_gate(struct ts_vgpu_stream *s)
{
	ts_check_int(ts_vgpu_host_function(s, wait_for_gate, NULL, 0), 0);
}

static void open_gate(struct ts_vgpu_stream *s)
{
	__atomic_store_n(&is_open, 1, __ATOMIC_RELEASE);
	ts_check_int(ts_vgpu_stream_synchronize(s), 0);
}

static uint64_t take(struct ts_vgpu_stream *s, uint64_t bytes)
{
	uint64_t address;

	ts_check_int(ts_vgpu_pool_alloc(pool, s, bytes, &address), 0);
	return address;
}

static void give(struct ts_vgpu_stream *s, uint64_t address)
{
	ts_check_int(ts_vgpu_free_async(s, address, 0), 0);
}

static void rule(uint64_t threshold_bytes, uint64_t max_bytes, bool follow, bool opportunistic)
{
	const struct ts_vgpu_pool_rules rules = {threshold_bytes, max_bytes, follow, opportunistic};

	ts_vgpu_pool_rule(pool, &rules);
}

static void check_use(uint64_t reserved_bytes, uint64_t used_bytes)
{
	struct ts_vgpu_pool_use use;

	ts_vgpu_pool_ask(pool, NULL, &use);
	ts_check_int(use.reserved_bytes, reserved_bytes);
	ts_check_int(use.used_bytes, used_bytes);
}

static uint64_t free_bytes(void)
{
	uint64_t left, total;

	ts_vgpu_device_memory(ts_vgpu_device_at(vgpu, 0), &left, &total);
	return left;
}

TS_TEST(what_is_not_used_goes_when_somebody_waits)
{
	struct ts_vgpu_pool_rules rules;
	struct ts_vgpu_pool_use use;
	struct ts_vgpu_stream *s;
	uint64_t a, b, before;

	begin();
	s = stream();
	before = free_bytes();
	ts_vgpu_pool_ask(pool, &rules, NULL);
	ts_check_int(rules.threshold_bytes, 0);
	ts_check(rules.follow_events && rules.opportunistic);
	a = take(s, 1000);
	b = take(s, 3 * CHUNK);
	check_use(4 * CHUNK, 1000 + 3 * CHUNK);
	ts_check_int(free_bytes(), before - 4 * CHUNK);
	give(s, b);
	check_use(4 * CHUNK, 1000);
	ts_check_int(ts_vgpu_stream_synchronize(s), 0);
	check_use(CHUNK, 1000);
	/* A chunk is released whole or not at all. */
	b = take(s, 1000);
	give(s, a);
	ts_check_int(ts_vgpu_context_synchronize(context), 0);
	check_use(CHUNK, 1000);
	give(s, b);
	ts_check_int(ts_vgpu_device_synchronize(ts_vgpu_device_at(vgpu, 0)), 0);
	check_use(0, 0);
	ts_check_int(free_bytes(), before);
	ts_vgpu_pool_ask(pool, NULL, &use);
	ts_check_int(use.reserved_high_bytes, 4 * CHUNK);
	ts_check_int(use.used_high_bytes, 1000 + 3 * CHUNK);
	ts_vgpu_pool_forget_high(pool, true);
	ts_vgpu_pool_forget_high(pool, false);
	ts_vgpu_pool_ask(pool, NULL, &use);
	ts_check_int(use.reserved_high_bytes | use.used_high_bytes, 0);
	end();
}

TS_TEST(a_threshold_is_held_and_can_be_trimmed)
{
	struct ts_vgpu_event *event;
	struct ts_vgpu_stream *s;
	uint64_t a[4];

	begin();
	s = stream();
	rule(2 * CHUNK, 0, true, true);
	for (int i = 0; i < 4; i++)
		a[i] = take(s, CHUNK);
	for (int i = 0; i < 4; i++)
		give(s, a[i]);
	ts_check_int(ts_vgpu_event_new(vgpu, &event), 0);
	ts_check_int(ts_vgpu_event_record(event, s, 0), 0);
	check_use(4 * CHUNK, 0);
	ts_check_int(ts_vgpu_event_synchronize(event), 0);
	check_use(2 * CHUNK, 0);
	ts_vgpu_pool_trim(pool, CHUNK + 1);
	check_use(2 * CHUNK, 0);
	ts_vgpu_pool_trim(pool, CHUNK);
	check_use(CHUNK, 0);
	a[0] = take(s, 512);
	ts_vgpu_pool_trim(pool, 0);
	check_use(CHUNK, 512);
	/* Unused memory of a pool is available to other allocations. */
	give(s, a[0]);
	ts_check_int(ts_vgpu_stream_synchronize(s), 0);
	check_use(CHUNK, 0);
	ts_check_int(ts_vgpu_alloc(context, free_bytes() + CHUNK, 0, NULL, &a[0]), 0);
	check_use(0, 0);
	ts_check_int(ts_vgpu_pool_alloc(pool, s, 512, &a[1]), TS_VGPU_E_OUT_OF_MEMORY);
	ts_vgpu_event_free(event);
	end();
}

TS_TEST(it_holds_no_more_than_it_may)
{
	struct ts_vgpu_stream *s;
	uint64_t a, b;

	begin();
	s = stream();
	rule(0, 2 * CHUNK, true, true);
	a = take(s, CHUNK + 1);
	ts_check_int(ts_vgpu_pool_alloc(pool, s, CHUNK, &b), TS_VGPU_E_OUT_OF_MEMORY);
	ts_check_int(ts_vgpu_pool_alloc(pool, s, UINT64_MAX, &b), TS_VGPU_E_OUT_OF_MEMORY);
	ts_check_int(ts_vgpu_pool_alloc(pool, s, 0, &b), -EINVAL);
	b = take(s, CHUNK / 2);
	check_use(2 * CHUNK, CHUNK + 1 + CHUNK / 2);
	ts_check(b >= a + CHUNK + 1);
	end();
}

/* Enough memory is unused, but in pieces: the pool grows. */
TS_TEST(fragments_are_not_joined)
{
	struct ts_vgpu_stream *s;
	uint64_t a[4], wide;

	begin();
	s = stream();
	rule(UINT64_MAX, 0, true, true);
	for (int i = 0; i < 4; i++)
		a[i] = take(s, CHUNK / 4);
	give(s, a[0]);
	give(s, a[2]);
	ts_check_int(ts_vgpu_stream_synchronize(s), 0);
	check_use(CHUNK, CHUNK / 2);
	wide = take(s, CHUNK / 2);
	check_use(2 * CHUNK, CHUNK);
	give(s, wide);
	/* The block between the pieces is freed, so the pieces are joined. */
	give(s, a[1]);
	ts_check_int(ts_vgpu_stream_synchronize(s), 0);
	ts_check_int(take(s, 3 * CHUNK / 4), a[0]);
	check_use(2 * CHUNK, CHUNK);
	end();
}

/*
 * A stream can reuse its own freed memory at once, in parts or joined. Operations that were queued
 * before may still access all of it. Another stream cannot reuse the memory until it is known that
 * the release comes before its own operations.
 *
 *	s   gate.... -a +b
 *	t            +c
 */
TS_TEST(its_own_stream_has_what_it_freed_at_once)
{
	struct ts_vgpu_stream *s, *t;
	struct ts_vgpu_range range;
	uint64_t a, b, c;

	begin();
	s = stream();
	t = stream();
	rule(UINT64_MAX, 0, true, true);
	a = take(s, 10000);
	close_gate(s);
	give(s, a);
	c = take(t, 1000);
	ts_check(c >= a + 10000);
	b = take(s, 1000);
	ts_check_int(b, a);
	check_use(CHUNK, 2000);
	/*
	 * A query by the host returns the new allocation's size. Kernels may still access the old
	 * allocation.
	 */
	ts_check_int(ts_vgpu_range_of(vgpu, b, &range), 0);
	ts_check_int(range.bytes, 1000);
	ts_check(ts_vgpu_range_of(vgpu, b + 1000, &range) != 0);
	ts_check_int(ts_vgpu_reach(context, b + 1010, &range), 0);
	ts_check_int(ts_vgpu_reach(context, a + 9999, &range), 0);
	/* A kernel's access reaches up to the end of the last unit of 512 bytes. */
	ts_check_int(ts_vgpu_reach(context, a + 10239, &range), 0);
	ts_check(range.start < c && range.start + range.bytes <= c);
	open_gate(s);
	ts_check_int(ts_vgpu_reach(context, b + 1023, &range), 0);
	ts_check(ts_vgpu_reach(context, b + 1024, &range) != 0);
	ts_check(ts_vgpu_reach(context, a + 9999, &range) != 0);
	/* Stream s has passed the release of a, so any stream can get the rest of a's memory. */
	ts_check_int(take(t, 8000), a + 1024);
	end();
}

/*
 *	s   gate.... -a |e|
 *	t                w +b	waits for the event's record after the release
 *	u                  +c	waits only for a record before the release
 */
TS_TEST(who_waits_for_an_event_behind_it_has_it)
{
	struct ts_vgpu_stream *s, *t, *u;
	struct ts_vgpu_event *event;
	uint64_t a, b;

	for (unsigned int follows = 0; follows < 2; follows++) {
		is_open = 0;
		begin();
		s = stream();
		t = stream();
		u = stream();
		rule(UINT64_MAX, 0, follows, true);
		a = take(s, 4096);
		ts_check_int(ts_vgpu_event_new(vgpu, &event), 0);
		close_gate(s);
		ts_check_int(ts_vgpu_event_record(event, s, 0), 0);
		ts_check_int(ts_vgpu_stream_wait(u, event, 0), 0);
		give(s, a);
		ts_check_int(ts_vgpu_event_record(event, s, 0), 0);
		ts_check_int(ts_vgpu_stream_wait(t, event, 0), 0);
		ts_check(take(u, 4096) != a);
		b = take(t, 4096);
		ts_check_int(b == a, follows);
		open_gate(s);
		ts_vgpu_event_free(event);
		end();
	}
}

/* Without the opportunistic policy, other streams get freed memory only after a wait. */
TS_TEST(not_opportunistic)
{
	struct ts_vgpu_stream *s, *t;
	struct timespec nap = {.tv_nsec = 1000000};
	uint64_t a;

	begin();
	s = stream();
	t = stream();
	rule(UINT64_MAX, 0, true, false);
	a = take(s, 4096);
	give(s, a);
	while (ts_vgpu_stream_query(s))
		nanosleep(&nap, NULL);
	ts_check(take(t, 4096) != a);
	ts_check_int(take(s, 4096), a);
	give(s, a);
	ts_check_int(ts_vgpu_stream_synchronize(s), 0);
	ts_check_int(take(t, 4096), a);
	end();
}

TS_TEST(a_pool_goes_with_the_last_of_its_blocks)
{
	struct ts_vgpu_range range;
	struct ts_vgpu_stream *s;
	uint64_t a, b, before;

	begin();
	s = stream();
	before = free_bytes();
	a = take(s, 100);
	b = take(s, 100);
	ts_check_int(ts_vgpu_range_of(vgpu, b, &range), 0);
	ts_check(range.user == &pool);
	ts_vgpu_pool_free(pool);
	ts_check_int(ts_vgpu_range_of(vgpu, b, &range), 0);
	ts_check(range.user == &pool);
	give(s, a);
	ts_check_int(ts_vgpu_stream_synchronize(s), 0);
	ts_check_int(free_bytes(), before - CHUNK);
	ts_check_int(ts_vgpu_free_memory(context, b), 0);
	ts_check_int(free_bytes(), before);
	end();
}

/*
 * The release of a is still queued when b, which reuses its memory, is freed, so the chunk must
 * wait for that release.
 *
 *	s   gate.... -a +b
 */
TS_TEST(a_chunk_stays_until_its_last_release_has_come)
{
	struct ts_vgpu_stream *s;
	uint64_t a, b;

	for (unsigned int closing = 0; closing < 2; closing++) {
		is_open = 0;
		begin();
		s = stream();
		a = take(s, 4096);
		close_gate(s);
		give(s, a);
		b = take(s, 4096);
		ts_check_int(b, a);
		ts_check_int(ts_vgpu_release(context, b), 0);
		if (closing)
			ts_vgpu_pool_free(pool);
		else
			ts_vgpu_pool_trim(pool, 0);
		check_use(CHUNK, 0);
		open_gate(s);
		if (!closing)
			check_use(0, 0);
		end();
	}
}

/*
 * An allocation does not wait for memory that only this thread could free. It waits for memory
 * whose release is queued.
 */
TS_TEST(it_waits_for_what_comes_back_and_no_longer)
{
	struct ts_vgpu_stream *s, *t;
	uint64_t a, b;

	begin();
	s = stream();
	t = stream();
	rule(UINT64_MAX, CHUNK, true, true);
	a = take(s, CHUNK);
	/* No release is queued. */
	ts_check_int(ts_vgpu_pool_alloc_wait(pool, t, CHUNK, UINT64_MAX / 2, &b),
		     TS_VGPU_E_OUT_OF_MEMORY);
	close_gate(s);
	give(s, a);
	ts_check_int(ts_vgpu_pool_alloc_wait(pool, t, CHUNK, 1000000, &b), TS_VGPU_E_NOT_READY);
	__atomic_store_n(&is_open, 1, __ATOMIC_RELEASE);
	ts_check_int(ts_vgpu_pool_alloc_wait(pool, t, CHUNK, UINT64_MAX / 2, &b), 0);
	ts_check_int(b, a);
	end();
}

/*
 * Blocks of two streams are allocated and freed, mostly without waits. No two blocks overlap, and
 * all freed memory can be allocated again.
 */
static void come_and_go(bool follow, bool opportunistic)
{
	struct {
		uint64_t start, bytes;
		unsigned int of;
	} live[64];
	struct ts_vgpu_stream *s[2];
	unsigned int seed = 99, n = 0, n_steps = 0;
	struct ts_vgpu_range range;
	uint64_t used = 0;

	begin();
	s[0] = stream();
	s[1] = stream();
	rule(0, 0, follow, opportunistic);
	for (; n_steps < 20000; n_steps++) {
		unsigned int what = (seed = seed * 1103515245 + 12345) >> 16 & 7;
		unsigned int more = (seed = seed * 1103515245 + 12345) >> 16;

		if (what < 4 && n < 64) {
			live[n].bytes = 1 + more * (more & 1 ? 1 : 16) % (1 << 19);
			live[n].of = more >> 1 & 1;
			live[n].start = take(s[live[n].of], live[n].bytes);
			ts_check_int(ts_vgpu_range_of(vgpu, live[n].start, &range), 0);
			ts_check_int(range.bytes, live[n].bytes);
			for (unsigned int i = 0; i < n; i++)
				ts_check(live[n].start >= live[i].start + live[i].bytes ||
					 live[i].start >= live[n].start + live[n].bytes);
			used += live[n++].bytes;
		} else if (n) {
			unsigned int at = more % n;

			used -= live[at].bytes;
			if (more >> 9 & 7)
				give(s[live[at].of], live[at].start);
			else
				ts_check_int(ts_vgpu_release(context, live[at].start), 0);
			live[at] = live[--n];
		}
		if (more % 256 == 0)
			ts_check_int(ts_vgpu_stream_synchronize(s[more >> 8 & 1]), 0);
	}
	while (n--) {
		used -= live[n].bytes;
		give(s[live[n].of], live[n].start);
	}
	ts_check_int(used, 0);
	ts_check_int(ts_vgpu_context_synchronize(context), 0);
	check_use(0, 0);
	end();
}

TS_TEST(no_block_lies_on_another)
{
	come_and_go(true, true);
	come_and_go(true, false);
	come_and_go(false, true);
}

/*
 * The pool has so many blocks that the test would exceed its time limit if each allocation or free
 * searched all of them.
 */
TS_TEST(many_blocks_are_no_work)
{
	enum {
		N = 24000
	};
	static uint64_t a[N];
	struct ts_vgpu_stream *s, *t;

	begin();
	s = stream();
	t = stream();
	rule(UINT64_MAX, 0, true, true);
	give(s, take(s, (uint64_t)N * 512));
	ts_check_int(ts_vgpu_stream_synchronize(s), 0);
	for (int i = 0; i < N; i++)
		a[i] = take(i & 1 ? s : t, 512);
	check_use(((uint64_t)N * 512 + CHUNK - 1) / CHUNK * CHUNK, (uint64_t)N * 512);
	/* Free every second block first, so that no two free blocks are neighbours. */
	for (int i = 0; i < N; i += 2)
		give(t, a[i]);
	for (int i = 0; i < N; i += 2)
		a[i] = take(t, 512);
	for (int i = 0; i < N; i++)
		give(i & 2 ? s : t, a[i]);
	ts_check_int(ts_vgpu_context_synchronize(context), 0);
	check_use(((uint64_t)N * 512 + CHUNK - 1) / CHUNK * CHUNK, 0);
	/* All blocks are joined again. */
	ts_check(take(s, (uint64_t)N * 512));
	check_use(((uint64_t)N * 512 + CHUNK - 1) / CHUNK * CHUNK, (uint64_t)N * 512);
	end();
}
