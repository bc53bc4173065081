/* SPDX-License-Identifier: Apache-2.0 */
/* The recent activity of a session's GPUs, from the trace that its daemon is writing. */
#pragma once

#include "proto/client/client.h"
#include "replay/report/report-pool.h"

/* Maximum delay of device rows, except for operations that still run. */
#define TS_WATCHGPU_LATE_NS UINT64_C(400000000)

/*
 * Makes the session flush, and fills the fields of --gpu from the pool. Lists at most max_kernels
 * kernels. If the trace is unavailable (such as for an ending session), the fields stay empty.
 * Returns 0 or -ENOMEM.
 */
int ts_watchgpu_fill(struct ts_client *client, uint32_t session, uint64_t window_ns,
		     size_t max_kernels, struct ts_pool *pool, Ts__Rpc__WatchLine *line);
