/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of flows from a launch to its kernel, as small as they can be: where one kernel alone can come of a call its number ends
 * with the kernel, and the next launch takes it again. All others have a number of their own for good. One thread.
 */
#pragma once

#include "proto/abi/base.h"

struct ts_flows;

int ts_flows_new(struct ts_flows **ret_flows);
void ts_flows_free(struct ts_flows *flows);
TS_DEFINE_CLEANUP(struct ts_flows *, ts_flows_freep, ts_flows_free)

/*
 * Calls and kernels are told of in the order of their start. `id` is the operation's: not 0, and no other's in the trace.
 *
 * Of a call; `is_launch`: one kernel comes of it and nothing else.
 */
uint64_t ts_flows_call(struct ts_flows *flows, uint64_t id, bool is_launch, uint64_t start_ns);
/* Of a kernel. *ret_ends: nothing of that number follows. */
uint64_t ts_flows_kernel(struct ts_flows *flows, uint64_t id, uint64_t start_ns, bool *ret_ends);
/* Of what else a GPU does, and of kernels that came of a graph. */
uint64_t ts_flows_other(uint64_t id);
