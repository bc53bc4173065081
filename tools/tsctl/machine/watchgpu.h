/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a session's GPUs were doing a moment ago, from the trace that its daemon is writing.
 */
#pragma once

#include "proto/client/client.h"
#include "replay/report/report-pool.h"

/* What the device did comes that much later at most, but for what is still running. */
#define TS_WATCHGPU_LATE_NS UINT64_C(400000000)

/*
 * Fills what --gpu adds to a line, from the pool; nothing of it where the trace cannot be had (the session is ending, say). Has the session
 * flushed. At most max_kernels kernels. -ENOMEM.
 */
int ts_watchgpu_fill(struct ts_client *client, uint32_t session, uint64_t window_ns,
		     size_t max_kernels, struct ts_pool *pool, Ts__Rpc__WatchLine *line);
