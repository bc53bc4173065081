/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the lanes of all CPUs. hub.c maps them at its start and calls ts_bpf_lanes_read() whenever
 * it reads the kernel's ring. programs/sched.bpf.c writes them.
 *
 * The kernel's ring costs a lock and a cache line that all CPUs share for each event. A lane has
 * one writer and one reader, so it needs neither.
 */
#include "daemon/bpf/ring/cpu-lanes.h"

#include <sys/mman.h>

#include "daemon/util/daemon-error.h"
#include "proto/abi/base.h"

/* Enough for 3 ms of nothing but context switches. */
#define MAX_EVENTS    4096u
#define MIN_EVENTS    128u
#define MAX_ALL_BYTES (32u << 20)

size_t ts_bpf_lane_events(size_t n_cpus)
{
	size_t n = MAX_EVENTS;

	while (n > MIN_EVENTS && n * n_cpus * sizeof(struct ts_bpf_off_cpu) > MAX_ALL_BYTES)
		n /= 2;
	return n;
}

static size_t events_bytes(const struct ts_bpf_lanes *lanes)
{
	return lanes->n_lanes * lanes->n_events * sizeof(*lanes->events);
}

/* Returns NULL if the memory cannot be mapped. */
static void *map(int fd, size_t n_bytes)
{
	void *at = mmap(NULL, n_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return at == MAP_FAILED ? NULL : at;
}

int ts_bpf_lanes_init(struct ts_bpf_lanes *lanes, int fd, int events_fd, size_t n_cpus)
{
	*lanes = (struct ts_bpf_lanes){0};
	if (fd < 0 || events_fd < 0)
		return 0;
	lanes->n_lanes = n_cpus;
	lanes->n_events = ts_bpf_lane_events(n_cpus);
	lanes->lanes = map(fd, n_cpus * sizeof(*lanes->lanes));
	lanes->events = lanes->lanes ? map(events_fd, events_bytes(lanes)) : NULL;
	if (!lanes->events) {
		int error = errno;

		ts_bpf_lanes_deinit(lanes);
		return ts_error_origin(-error);
	}
	/* Pairs with the load in the program, which uses no lane of 0 events. */
	for (size_t i = 0; i < n_cpus; i++)
		__atomic_store_n(&lanes->lanes[i].n_events, lanes->n_events, __ATOMIC_RELEASE);
	return 0;
}

void ts_bpf_lanes_deinit(struct ts_bpf_lanes *lanes)
{
	if (lanes->lanes)
		munmap(lanes->lanes, lanes->n_lanes * sizeof(*lanes->lanes));
	if (lanes->events)
		munmap(lanes->events, events_bytes(lanes));
	*lanes = (struct ts_bpf_lanes){0};
}

static bool read_lane(struct ts_bpf_lanes *lanes, size_t cpu, ts_bpf_lanes_fn *take, void *data)
{
	const struct ts_bpf_off_cpu *events = lanes->events + cpu * lanes->n_events;
	struct ts_bpf_lane *lane = &lanes->lanes[cpu];
	/* Pairs with the store in the program: the events in front of it are complete. */
	uint64_t n_written = __atomic_load_n(&lane->n_written, __ATOMIC_ACQUIRE);
	uint64_t n_read = lane->n_read;
	bool is_left = false;

	while (n_read != n_written && !is_left) {
		size_t first = n_read & (lanes->n_events - 1), n = lanes->n_events - first, n_taken;

		if (n > n_written - n_read)
			n = n_written - n_read;
		n_taken = take(data, events + first, n);
		is_left = n_taken < n;
		n_read += n_taken;
		/* Pairs with the load in the program: the places may be written again. */
		__atomic_store_n(&lane->n_read, n_read, __ATOMIC_RELEASE);
	}
	return !is_left;
}

bool ts_bpf_lanes_read(struct ts_bpf_lanes *lanes, ts_bpf_lanes_fn *take, void *data)
{
	for (size_t i = 0; i < lanes->n_lanes; i++)
		if (!read_lane(lanes, i, take, data))
			return false;
	return true;
}

uint64_t ts_bpf_lanes_most(const struct ts_bpf_lanes *lanes)
{
	uint64_t most = 0;

	for (size_t i = 0; i < lanes->n_lanes; i++) {
		const struct ts_bpf_lane *lane = &lanes->lanes[i];
		/* The events are not read here, so the load needs no order. */
		uint64_t n = __atomic_load_n(&lane->n_written, __ATOMIC_RELAXED) - lane->n_read;

		most = n > most ? n : most;
	}
	return most;
}
