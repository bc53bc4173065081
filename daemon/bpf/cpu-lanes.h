/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the lanes of all CPUs (bpf-event.h): events of the program that runs at each context
 * switch. One thread at a time may read.
 */
#pragma once

#include <stddef.h>

#include "daemon/bpf/bpf-event.h"

struct ts_bpf_lanes {
	struct ts_bpf_lane *lanes; /* NULL: there are none */
	size_t n_lanes;
};

/*
 * Maps the lanes of the map with the descriptor `fd`, one for each possible CPU. If `fd` is -1,
 * there are no lanes. Returns 0 or a negative errno.
 */
int ts_bpf_lanes_init(struct ts_bpf_lanes *lanes, int fd, size_t n_cpus);
/* Unmaps the lanes. Accepts lanes that were never mapped. */
void ts_bpf_lanes_deinit(struct ts_bpf_lanes *lanes);

/* Takes `n_events` events that lie one after the other. The events are valid during the call. */
typedef void ts_bpf_lanes_fn(void *data, const struct ts_bpf_off_cpu *events, size_t n_events);
/* Calls `take` for all events in the lanes, and then frees their places. */
void ts_bpf_lanes_read(struct ts_bpf_lanes *lanes, ts_bpf_lanes_fn *take, void *data);
