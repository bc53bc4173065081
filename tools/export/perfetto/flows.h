/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers flows from a launch to its kernel, as small as possible. If a call makes exactly one
 * kernel, its number ends with the kernel, and the next launch reuses it. The number of any other
 * flow is never reused. Not thread-safe.
 */
#pragma once

#include "proto/abi/base.h"

struct ts_flows;

int ts_flows_new(struct ts_flows **ret_flows);
void ts_flows_free(struct ts_flows *flows);
TS_DEFINE_CLEANUP(struct ts_flows *, ts_flows_freep, ts_flows_free)

/*
 * Returns the flow number of a call. Calls and kernels come in the order of their start. `id` is
 * the operation's id: not 0, and unique in the trace. `is_launch`: the call makes exactly one
 * kernel and nothing else.
 */
uint64_t ts_flows_call(struct ts_flows *flows, uint64_t id, bool is_launch, uint64_t start_ns);
/* Returns the flow number of a kernel. *ret_ends is true if the flow ends at this kernel. */
uint64_t ts_flows_kernel(struct ts_flows *flows, uint64_t id, uint64_t start_ns, bool *ret_ends);
/* Returns the flow number of other GPU work, and of kernels of a graph. */
uint64_t ts_flows_other(uint64_t id);
