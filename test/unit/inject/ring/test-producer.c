/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests shards and threads: every record is read or counted, in order, while threads start and end.
 * The shard of a dead thread is used again once it is drained, and not before.
 */
#include <sys/resource.h>

#include "test/unit/harness.h"
#include "test/unit/inject/session-fixture.h"

#define N_THREADS 4
#define N_RECORDS 20000u

static struct fixture f;
static uint32_t n_running;
static uint64_t n_seen[N_THREADS * 2 + 1];

static void *record_counters(void *data)
{
	uint64_t which = (uint64_t)(uintptr_t)data, i;

	for (i = 1; i <= N_RECORDS; i++) {
		struct ts_thread *thread = ts_producer_thread(&f.producer);
		struct ts_record_counter *out;

		if (!thread)
			continue;
		out = ts_thread_reserve(thread, TS_RECORD_COUNTER, sizeof(*out), TS_CLOCK_MONOTONIC,
					i);
		if (!out)
			continue;
		out->value = 0;
		out->name = (uint32_t)which;
		out->domain = (uint32_t)i;
		ts_thread_commit(thread, sizeof(*out));
	}
	__atomic_fetch_sub(&n_running, 1, __ATOMIC_RELEASE);
	return NULL;
}

/* Reads a shard's records like the daemon: copies them first, then checks them. */
static void drain(uint32_t i, uint64_t *position, uint64_t *last)
{
	struct ts_shard *shard = fixture_shard(&f, i);
	uint64_t head = ts_ring_consumer_head(shard), ring_bytes = f.control->ring_bytes;
	static uint8_t copy[TS_RING_MIN_BYTES];

	ts_check(ts_ring_consumer_check(head, *position, *position, ring_bytes));
	while (*position < head) {
		uint64_t n = ts_ring_consumer_copy(shard, ring_bytes, *position, head, copy,
						   sizeof(copy)),
			 off = 0;

		while (off < n) {
			const struct ts_record_counter *record =
				(const struct ts_record_counter *)(copy + off);

			ts_check(record->record.n_words > 0);
			off += record->record.n_words * 8u;
			if (record->record.type == TS_RECORD_PAD)
				continue;
			ts_check_int(record->record.type, TS_RECORD_COUNTER);
			ts_check(record->domain > last[record->name]);
			last[record->name] = record->domain;
			n_seen[record->name]++;
		}
		ts_check_int(off, n);
		*position += n;
	}
	ts_ring_consumer_release(shard, *position);
}

static uint64_t total_lost(enum ts_loss_reason reason)
{
	uint64_t n = f.control->lost[reason];

	for (uint32_t i = 0; i < f.control->n_claimed; i++)
		n += fixture_shard(&f, i)->lost[reason];
	return n;
}

TS_TEST(every_record_is_read_or_counted)
{
	uint64_t positions[N_THREADS * 2] = {0}, last[N_THREADS * 2 + 1] = {0}, n = 0;
	pthread_t threads[N_THREADS * 2];
	uint64_t i;

	/* There are fewer shards than threads, and the rings fill up. */
	fixture_init(&f, N_THREADS * 2 - 2, TS_RING_MIN_BYTES, 1024 * 1024);
	n_running = N_THREADS * 2;
	for (i = 0; i < N_THREADS * 2; i++)
		ts_check_int(pthread_create(&threads[i], NULL, record_counters,
					    (void *)(uintptr_t)(i + 1)),
			     0);
	while (__atomic_load_n(&n_running, __ATOMIC_ACQUIRE))
		for (i = 0; i < __atomic_load_n(&f.control->n_claimed, __ATOMIC_ACQUIRE); i++)
			drain((uint32_t)i, &positions[i], last);
	for (i = 0; i < N_THREADS * 2; i++)
		pthread_join(threads[i], NULL);
	for (i = 0; i < f.control->n_claimed; i++)
		drain((uint32_t)i, &positions[i], last);
	for (i = 1; i <= N_THREADS * 2; i++)
		n += n_seen[i];
	ts_check_int(n + total_lost(TS_LOSS_RING_FULL) + total_lost(TS_LOSS_NO_SHARD),
		     N_THREADS * 2 * N_RECORDS);
	fixture_deinit(&f);
}

static void *record_one(void *data)
{
	struct ts_thread *thread = ts_producer_thread(&f.producer);
	struct ts_record_counter *out;

	if (!thread)
		return NULL;
	out = ts_thread_reserve(thread, TS_RECORD_COUNTER, sizeof(*out), TS_CLOCK_MONOTONIC, 1);
	memset((uint8_t *)out + sizeof(out->record), 0, sizeof(*out) - sizeof(out->record));
	ts_thread_commit(thread, sizeof(*out));
	return (void *)(uintptr_t)thread->id;
}

static uintptr_t run_one(void)
{
	pthread_t thread;
	void *id;

	ts_check_int(pthread_create(&thread, NULL, record_one, NULL), 0);
	pthread_join(thread, &id);
	return (uintptr_t)id;
}

static unsigned count_lines(const char *path)
{
	FILE *file = fopen(path, "re");
	unsigned n = 0;
	int c;

	ts_check(file);
	while ((c = fgetc(file)) != EOF)
		n += c == '\n';
	fclose(file);
	return n;
}

/*
 * 10,000 threads record once and end. Afterwards the process uses no more memory than after the
 * first few threads. The harness checks that no descriptor is left open.
 */
TS_TEST(threads_that_come_and_go_leave_nothing)
{
	unsigned n_mappings = 0, i;

	fixture_init(&f, 2, TS_RING_MIN_BYTES, 64 * TS_ARENA_MIN_BYTES);
	for (i = 0; i < 10000; i++) {
		if (i == 100)
			n_mappings = count_lines("/proc/self/maps");
		ts_check(run_one());
		ts_ring_consumer_release(fixture_shard(&f, 0), fixture_shard(&f, 0)->head);
	}
	/* A sanitizer keeps memory of threads that ended. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	ts_check(count_lines("/proc/self/maps") <= n_mappings + 2);
#else
	(void)n_mappings;
#endif
	ts_check_int(f.control->n_claimed, 1);
	ts_check_int(f.control->lost[TS_LOSS_NO_SHARD], 0);
	fixture_deinit(&f);
}

TS_TEST(a_shard_is_used_again_once_drained)
{
	uint64_t position;
	uintptr_t first, second;

	fixture_init(&f, 2, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	first = run_one();
	ts_check_int(fixture_shard(&f, 0)->state, TS_SHARD_ABANDONED);
	/* The first shard is not free yet, because the daemon has not drained its record. */
	second = run_one();
	ts_check(first && second && first != second);
	ts_check_int(f.control->n_claimed, 2);
	/* Neither shard is free, so the third thread has none. */
	ts_check_int(run_one(), 0);
	ts_check_int(f.control->lost[TS_LOSS_NO_SHARD], 1);
	position = fixture_shard(&f, 0)->head;
	ts_ring_consumer_release(fixture_shard(&f, 0), position);
	ts_check_int(run_one(), 3);
	ts_check_int(fixture_shard(&f, 0)->thread, 3);
	ts_check(fixture_shard(&f, 0)->head > position);
	fixture_deinit(&f);
}

TS_TEST(a_full_ring_drops_and_counts)
{
	const uint64_t n_fit = TS_RING_MIN_BYTES / sizeof(struct ts_record_counter);
	struct ts_thread *thread;
	uint64_t i, n_dropped = 0;

	fixture_init(&f, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	thread = ts_producer_thread(&f.producer);
	for (i = 0; i < n_fit + 100; i++) {
		if (!ts_thread_reserve(thread, TS_RECORD_COUNTER, sizeof(struct ts_record_counter),
				       TS_CLOCK_MONOTONIC, 1))
			n_dropped++;
		else
			ts_thread_commit(thread, sizeof(struct ts_record_counter));
	}
	ts_check_int(n_dropped, 100);
	ts_check_int(thread->ring.shard->lost[TS_LOSS_RING_FULL], 100);
	fixture_deinit(&f);
}

TS_TEST(lossless_waits_with_a_bound)
{
	struct ts_thread *thread;
	uint64_t begun, first_ns, n = 0;

	fixture_init(&f, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	f.control->command |= TS_COMMAND_LOSSLESS;
	f.gate.served = 1;
	f.producer.lossless_ns = 500000000;
	thread = ts_producer_thread(&f.producer);
	while (n++ < TS_RING_MIN_BYTES / 32) {
		void *out = ts_thread_reserve(thread, TS_RECORD_COUNTER, 32, TS_CLOCK_MONOTONIC, 1);

		ts_check(out);
		ts_thread_commit(thread, 32);
	}
	begun = ts_clock_monotonic_ns();
	ts_check(!ts_thread_reserve(thread, TS_RECORD_COUNTER, 32, TS_CLOCK_MONOTONIC, 1));
	first_ns = ts_clock_monotonic_ns() - begun;
	ts_check(first_ns > 100000000 && first_ns < UINT64_C(60000000000));
	/*
	 * The shim does not wait for a stalled daemon a second time; that would take a hundred
	 * times as long.
	 */
	begun = ts_clock_monotonic_ns();
	for (n = 0; n < 100; n++)
		ts_check(!ts_thread_reserve(thread, TS_RECORD_COUNTER, 32, TS_CLOCK_MONOTONIC, 1));
	ts_check(ts_clock_monotonic_ns() - begun < 50 * UINT64_C(500000000));
	ts_check_int(thread->ring.shard->lost[TS_LOSS_RING_FULL], 101);
	/* The shim does not wait for a dead daemon either, however long its limit is. */
	thread->stalled = false;
	f.producer.lossless_ns = UINT64_MAX / 2;
	f.gate.served = 0;
	ts_check(!ts_thread_reserve(thread, TS_RECORD_COUNTER, 32, TS_CLOCK_MONOTONIC, 1));
	fixture_deinit(&f);
}

/*
 * Stands for the daemon. Waits until the producer finds the ring full and clears `sleeping`, then
 * drains the ring. Meanwhile the producer waits.
 */
static void *drain_later(void *shard)
{
	while (__atomic_load_n(&f.control->sleeping, __ATOMIC_ACQUIRE))
		usleep(1000);
	ts_ring_consumer_release(shard, ((struct ts_shard *)shard)->head);
	return NULL;
}

static void *leave_later(void *gate)
{
	usleep(50000);
	__atomic_store_n(&((struct ts_gate *)gate)->served, 0, __ATOMIC_RELAXED);
	return NULL;
}

/*
 * If the wait for room succeeds, the ring has a record of the wait before the record that waited.
 * If the daemon goes away, the wait ends.
 */
TS_TEST(lossless_says_how_long_it_waited)
{
	const struct ts_record_overhead *wait;
	struct ts_thread *thread;
	pthread_t other;
	uint64_t n = 0;

	fixture_init(&f, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	f.control->command |= TS_COMMAND_LOSSLESS;
	f.gate.served = 1;
	thread = ts_producer_thread(&f.producer);
	while (n++ < TS_RING_MIN_BYTES / 32) {
		ts_thread_reserve(thread, TS_RECORD_COUNTER, 32, TS_CLOCK_MONOTONIC, 1);
		ts_thread_commit(thread, 32);
	}
	wait = (const struct ts_record_overhead *)thread->ring.ring;
	f.control->sleeping = 1;
	pthread_create(&other, NULL, drain_later, thread->ring.shard);
	ts_check(ts_thread_reserve(thread, TS_RECORD_COUNTER, 32, TS_CLOCK_MONOTONIC, 1));
	ts_thread_commit(thread, 32);
	pthread_join(other, NULL);
	ts_check_int(wait->record.type, TS_RECORD_OVERHEAD);
	ts_check_int(wait->overhead_kind, TS_OVERHEAD_WAITED);
	ts_check(wait->end > wait->record.time);
	ts_check_int(thread->ring.shard->head, TS_RING_MIN_BYTES + sizeof(*wait) + 32);
	ts_check_int(thread->ring.shard->lost[TS_LOSS_RING_FULL], 0);
	while (thread->ring.head - thread->ring.shard->released < TS_RING_MIN_BYTES - 64) {
		ts_thread_reserve(thread, TS_RECORD_COUNTER, 32, TS_CLOCK_MONOTONIC, 1);
		ts_thread_commit(thread, 32);
	}
	pthread_create(&other, NULL, leave_later, &f.gate);
	while (ts_thread_reserve(thread, TS_RECORD_COUNTER, 32, TS_CLOCK_MONOTONIC, 1))
		ts_thread_commit(thread, 32);
	pthread_join(other, NULL);
	ts_check_int(thread->ring.shard->lost[TS_LOSS_RING_FULL], 1);
	fixture_deinit(&f);
}

TS_TEST(the_doorbell_rings_past_the_watermark)
{
	struct ts_thread *thread;
	uint64_t n = 0;

	fixture_init(&f, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	thread = ts_producer_thread(&f.producer);
	f.control->sleeping = 1;
	while (n++ < TS_RING_MIN_BYTES / 32 / 2) {
		ts_thread_reserve(thread, TS_RECORD_COUNTER, 32, TS_CLOCK_MONOTONIC, 1);
		ts_thread_commit(thread, 32);
	}
	ts_check_int(f.control->doorbell, 0);
	for (n = 0; n < 2; n++) {
		ts_thread_reserve(thread, TS_RECORD_COUNTER, 32, TS_CLOCK_MONOTONIC, 1);
		ts_thread_commit(thread, 32);
	}
	ts_check_int(f.control->doorbell, 1);
	ts_check_int(f.control->sleeping, 0);
	/* After draining, the producer does not ring until the ring is half full again. */
	ts_ring_consumer_release(thread->ring.shard, thread->ring.head);
	f.control->sleeping = 1;
	for (n = 0; n < 400; n++) {
		ts_thread_reserve(thread, TS_RECORD_COUNTER, 32, TS_CLOCK_MONOTONIC, 1);
		ts_thread_commit(thread, 32);
	}
	ts_check_int(f.control->doorbell, 1);
	fixture_deinit(&f);
}

static bool is_mapped(const void *page)
{
	return !mincore((void *)(uintptr_t)page, 4096, (unsigned char[1]){0}) || errno != ENOMEM;
}

/* The child has no mapping of the rings; the end of its threads must not touch them. */
TS_TEST(a_forked_child_has_no_rings)
{
	int status;
	pid_t pid;

	ts_skip_emulated("MADV_DONTFORK");
	fixture_init(&f, 1, TS_RING_MIN_BYTES, TS_ARENA_MIN_BYTES);
	record_one(NULL);
	pid = fork();
	if (!pid) {
		/* In a forked child, the kernel has zeroed the page of the gate. */
		f.gate.alive = 0;
		ts_check(!is_mapped(f.memory.control));
		ts_check(!is_mapped(f.memory.arena));
		ts_check(!is_mapped(f.producer.shards[0]));
		ts_check(!is_mapped(f.definitions.stretches[0]));
#ifndef __SANITIZE_THREAD__ /* ThreadSanitizer's own thread would keep the child alive for ever */
		pthread_exit(NULL);
#endif
		_exit(0);
	}
	ts_check_int(waitpid(pid, &status, 0), pid);
	ts_check_int(status, 0);
	fixture_deinit(&f);
}

TS_TEST(the_session_shrinks_to_fit_its_limits)
{
	struct ts_session_options options = {
		.n_shards = TS_SHARDS_DEFAULT,
		.ring_bytes = TS_RING_BYTES_DEFAULT,
		.arena_bytes = TS_ARENA_BYTES_DEFAULT,
		.program = "a/program/whose/name/is/far/longer/than/what/there/is/room/for/in/it",
	};
	struct ts_session_memory memory;
	struct ts_control *control;
	struct rlimit limit = {64 << 20, 64 << 20};
	int fd;

	ts_check_int(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ts_check_int(ts_session_new(&options, &fd, &memory), 0);
	control = memory.control;
	ts_check(control->total_bytes <= 64u << 20);
	ts_check(control->ring_bytes >= TS_RING_MIN_BYTES);
	ts_check_int(control->program[sizeof(control->program) - 1], '\0');
	close(fd);
	limit.rlim_cur = 4096;
	ts_check_int(setrlimit(RLIMIT_FSIZE, &limit), 0);
	/* The shim sees the limit and does not grow the file, so no SIGXFSZ comes. */
	ts_check_int(ts_session_new(&options, &fd, &memory), -ENOMEM);
}
