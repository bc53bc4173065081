/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the lanes of all CPUs. hub.c maps them at its start and calls ts_bpf_lanes_read() whenever
 * it reads the kernel's ring. programs/sched.bpf.c writes them.
 *
 * The kernel's ring costs a lock and a cache line that all CPUs share for each event. A lane has
 * one writer and one reader, so it needs neither.
 */
#include "daemon/bpf/cpu-lanes.h"

#include <sys/mman.h>

#include "daemon/util/daemon-error.h"
#include "proto/abi/base.h"

TS_STATIC_ASSERT((TS_BPF_LANE_EVENTS & (TS_BPF_LANE_EVENTS - 1)) == 0,
		 "a counter that wraps needs a power of two");

int ts_bpf_lanes_init(struct ts_bpf_lanes *lanes, int fd, size_t n_cpus)
{
	void *mapped;

	*lanes = (struct ts_bpf_lanes){0};
	if (fd < 0)
		return 0;
	mapped = mmap(NULL, n_cpus * sizeof(*lanes->lanes), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		      0);
	if (mapped == MAP_FAILED)
		return ts_error_origin(-errno);
	*lanes = (struct ts_bpf_lanes){.lanes = mapped, .n_lanes = n_cpus};
	return 0;
}

void ts_bpf_lanes_deinit(struct ts_bpf_lanes *lanes)
{
	if (lanes->lanes)
		munmap(lanes->lanes, lanes->n_lanes * sizeof(*lanes->lanes));
	*lanes = (struct ts_bpf_lanes){0};
}

static void read_lane(struct ts_bpf_lane *lane, ts_bpf_lanes_fn *take, void *data)
{
	/* Pairs with the store in the program: the events in front of it are complete. */
	uint64_t n_written = __atomic_load_n(&lane->n_written, __ATOMIC_ACQUIRE);
	uint64_t n_read = lane->n_read;

	while (n_read != n_written) {
		size_t first = n_read % TS_BPF_LANE_EVENTS, n = TS_BPF_LANE_EVENTS - first;

		if (n > n_written - n_read)
			n = n_written - n_read;
		take(data, lane->events + first, n);
		n_read += n;
		/* Pairs with the load in the program: the places may be written again. */
		__atomic_store_n(&lane->n_read, n_read, __ATOMIC_RELEASE);
	}
}

void ts_bpf_lanes_read(struct ts_bpf_lanes *lanes, ts_bpf_lanes_fn *take, void *data)
{
	for (size_t i = 0; i < lanes->n_lanes; i++)
		read_lane(&lanes->lanes[i], take, data);
}
