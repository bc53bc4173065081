/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests the daemon's half of the lanes of kernel events. A thread writes events as the program in
 * the kernel does.
 */
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

#include "test/unit/harness.h"

#include "daemon/bpf/ring/cpu-lanes.h"
#include "proto/abi/base.h"

#define N_LANES 3u

/* The next expected event of each lane. */
struct expected {
	uint64_t next[N_LANES];
	uint64_t n_calls;
	size_t n_most; /* events that a call takes */
};

static void make_lanes(struct ts_bpf_lanes *lanes)
{
	size_t n = N_LANES * ts_bpf_lane_events(N_LANES);
	int fd = memfd_create("lanes", MFD_CLOEXEC),
	    events_fd = memfd_create("events", MFD_CLOEXEC);

	ts_check(fd >= 0 && events_fd >= 0);
	ts_check_int(ftruncate(fd, N_LANES * sizeof(struct ts_bpf_lane)), 0);
	ts_check_int(ftruncate(events_fd, (off_t)(n * sizeof(struct ts_bpf_off_cpu))), 0);
	ts_check_int(ts_bpf_lanes_init(lanes, fd, events_fd, N_LANES), 0);
	ts_check_int(lanes->n_lanes, N_LANES);
	ts_check_int(lanes->lanes[1].n_events, ts_bpf_lane_events(N_LANES));
	close(fd);
	close(events_fd);
}

/* Adds an event as the program does. Returns false if the lane is full. */
static bool put(struct ts_bpf_lanes *lanes, uint32_t cpu, uint64_t number)
{
	struct ts_bpf_lane *lane = &lanes->lanes[cpu];
	uint64_t n = lane->n_written;
	struct ts_bpf_off_cpu *event;

	if (n - __atomic_load_n(&lane->n_read, __ATOMIC_ACQUIRE) >= lane->n_events)
		return false;
	event = &lanes->events[cpu * lane->n_events + n % lane->n_events];
	event->event.start_ns = number;
	event->event.end_ns = ~number;
	event->end_cpu = cpu;
	__atomic_store_n(&lane->n_written, n + 1, __ATOMIC_RELEASE);
	return true;
}

static size_t take(void *data, const struct ts_bpf_off_cpu *events, size_t n_events)
{
	struct expected *expected = data;

	expected->n_calls++;
	if (n_events > expected->n_most)
		n_events = expected->n_most;
	for (size_t i = 0; i < n_events; i++) {
		uint64_t *next = &expected->next[events[i].end_cpu];

		ts_check_int(events[i].event.start_ns, *next);
		ts_check_int(events[i].event.end_ns, ~*next);
		++*next;
	}
	return n_events;
}

TS_TEST(all_events_in_order_over_the_edge)
{
	struct expected expected = {.n_most = SIZE_MAX};
	struct ts_bpf_lanes lanes;
	uint64_t n[N_LANES] = {0};

	make_lanes(&lanes);
	for (uint32_t round = 0; round < 50; round++) {
		for (uint32_t cpu = 0; cpu < N_LANES; cpu++)
			for (uint32_t i = 0; i < round * 137 * cpu % lanes.n_events; i++)
				ts_check(put(&lanes, cpu, n[cpu]++));
		ts_bpf_lanes_read(&lanes, take, &expected);
		for (uint32_t cpu = 0; cpu < N_LANES; cpu++)
			ts_check_int(expected.next[cpu], n[cpu]);
	}
	ts_check_int(n[0], 0);
	ts_check(n[2] > 4 * lanes.n_events);
	ts_bpf_lanes_deinit(&lanes);
}

TS_TEST(a_full_lane_is_read_whole)
{
	struct expected expected = {.n_most = SIZE_MAX};
	struct ts_bpf_lanes lanes;
	uint64_t n = 0;

	make_lanes(&lanes);
	/* The counters go on after 2^64 events. */
	lanes.lanes[1].n_written = lanes.lanes[1].n_read = UINT64_MAX - 100;
	while (put(&lanes, 1, n))
		n++;
	ts_check_int(n, lanes.n_events);
	ts_bpf_lanes_read(&lanes, take, &expected);
	ts_check_int(expected.next[1], n);
	ts_check_int(expected.n_calls, 2);
	ts_check(put(&lanes, 1, n));
	ts_bpf_lanes_deinit(&lanes);
}

/* Events that are not taken end the read, and come again at the next one. */
TS_TEST(events_that_are_left_stay)
{
	struct expected expected = {.n_most = 10};
	struct ts_bpf_lanes lanes;

	make_lanes(&lanes);
	for (uint64_t i = 0; i < 25; i++)
		ts_check(put(&lanes, 0, i) && put(&lanes, 1, i));
	ts_check(!ts_bpf_lanes_read(&lanes, take, &expected));
	ts_check_int(expected.next[0], 10);
	ts_check(!ts_bpf_lanes_read(&lanes, take, &expected));
	ts_check_int(expected.next[0], 20);
	ts_check_int(expected.next[1], 0);
	ts_check(!ts_bpf_lanes_read(&lanes, take, &expected));
	ts_check_int(expected.next[0], 25);
	ts_check_int(expected.next[1], 10);
	expected.n_most = SIZE_MAX;
	ts_check(ts_bpf_lanes_read(&lanes, take, &expected));
	ts_check_int(expected.next[1], 25);
	ts_bpf_lanes_deinit(&lanes);
}

TS_TEST(the_fullest_lane)
{
	struct expected expected = {.n_most = SIZE_MAX};
	struct ts_bpf_lanes lanes;

	make_lanes(&lanes);
	ts_check_int(ts_bpf_lanes_most(&lanes), 0);
	for (uint64_t i = 0; i < 9; i++)
		ts_check(put(&lanes, 1, i) && (i > 3 || put(&lanes, 2, i)));
	ts_check_int(ts_bpf_lanes_most(&lanes), 9);
	ts_check(ts_bpf_lanes_read(&lanes, take, &expected));
	ts_check_int(ts_bpf_lanes_most(&lanes), 0);
	ts_bpf_lanes_deinit(&lanes);
}

TS_TEST(many_cpus_have_shorter_lanes)
{
	ts_check_int(ts_bpf_lane_events(1), 4096);
	ts_check_int(ts_bpf_lane_events(16), 4096);
	ts_check_int(ts_bpf_lane_events(64), 2048);
	ts_check_int(ts_bpf_lane_events(256), 512);
	ts_check_int(ts_bpf_lane_events(8192), 128);
	/* README.md names these numbers. */
	ts_check_int(sizeof(struct ts_bpf_off_cpu), 144);
	ts_check_int(ts_bpf_lane_events(56), 4096);
	ts_check_int(ts_bpf_lane_events(57), 2048);
	ts_check(1820 * ts_bpf_lane_events(1820) * sizeof(struct ts_bpf_off_cpu) <= 32u << 20);
	ts_check(1821 * ts_bpf_lane_events(1821) * sizeof(struct ts_bpf_off_cpu) > 32u << 20);
}

TS_TEST(no_lanes)
{
	struct expected expected = {.n_most = SIZE_MAX};
	struct ts_bpf_lanes lanes;

	ts_check_int(ts_bpf_lanes_init(&lanes, -1, -1, 4), 0);
	ts_check(ts_bpf_lanes_read(&lanes, take, &expected));
	ts_check_int(ts_bpf_lanes_most(&lanes), 0);
	ts_check_int(expected.n_calls, 0);
	ts_bpf_lanes_deinit(&lanes);
}

#define N_EVENTS 50000u

static void *write_events(void *data)
{
	for (uint64_t i = 0; i < N_EVENTS;)
		if (put(data, 2, i))
			i++;
		else
			sched_yield();
	return NULL;
}

TS_TEST(a_reader_beside_a_writer)
{
	struct expected expected = {.n_most = SIZE_MAX};
	struct ts_bpf_lanes lanes;
	pthread_t thread;

	make_lanes(&lanes);
	ts_check_int(pthread_create(&thread, NULL, write_events, &lanes), 0);
	while (expected.next[2] < N_EVENTS)
		ts_bpf_lanes_read(&lanes, take, &expected);
	ts_check_int(pthread_join(thread, NULL), 0);
	ts_bpf_lanes_read(&lanes, take, &expected);
	ts_check_int(expected.next[2], N_EVENTS);
	ts_bpf_lanes_deinit(&lanes);
}
