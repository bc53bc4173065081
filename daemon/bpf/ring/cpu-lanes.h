/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the lanes of all CPUs (bpf-event.h): events of the program that runs at each context
 * switch. One thread at a time may read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/bpf/bpf-event.h"

struct ts_bpf_lanes {
	struct ts_bpf_lane *lanes; /* NULL: there are none */
	struct ts_bpf_off_cpu *events;
	size_t n_lanes;
	size_t n_events; /* of each lane */
};

/* Returns the number of events of each lane: fewer if there are many CPUs. A power of two. */
size_t ts_bpf_lane_events(size_t n_cpus);

/*
 * Maps the lanes, one for each possible CPU, and begins their use. `fd` and `events_fd` are the
 * descriptors of the maps `lanes` and `lane_events`. If they are -1, there are no lanes. Returns 0
 * or a negative errno.
 */
int ts_bpf_lanes_init(struct ts_bpf_lanes *lanes, int fd, int events_fd, size_t n_cpus);
/* Unmaps the lanes. Accepts lanes that were never mapped. */
void ts_bpf_lanes_deinit(struct ts_bpf_lanes *lanes);

/*
 * Takes the first of `n_events` events that lie one after the other, and returns the number of
 * events that it took. The events are valid during the call.
 */
typedef size_t ts_bpf_lanes_fn(void *data, const struct ts_bpf_off_cpu *events, size_t n_events);
/*
 * Calls `take` for all events in the lanes, and then frees the places of the events that it took.
 * Returns false if `take` left an event, which ends the read.
 */
bool ts_bpf_lanes_read(struct ts_bpf_lanes *lanes, ts_bpf_lanes_fn *take, void *data);
/* Returns the number of events in the lane that has most. */
uint64_t ts_bpf_lanes_most(const struct ts_bpf_lanes *lanes);
