/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how much of its memory a pool uses, from its allocations and frees in time order.
 * Private to replay/state/memory; misuse.c uses it.
 */
#pragma once

#include "replay/state/limit.h"
#include "replay/state/memory/misuse.h"
#include "replay/state/memory/spans.h"
#include "replay/state/state-map.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ts_pool_state {
	struct ts_pool_use use;
	uint64_t bytes, used_bytes; /* from the last row */
	/*
	 * time at which the pool last shrank; 0: never. The pool may have returned memory freed
	 * before that.
	 */
	uint64_t shrunk_ns;
	uint32_t n_looks; /* number of times that the pool's holes were counted */
};

/* Start with all fields zero. */
struct ts_pools {
	struct ts_pool_state *pools;
	size_t n, n_allocated;
	struct ts_state_map by_pool;
	uint64_t n_visits; /* number of spans visited so far to count holes */
};

void ts_pools_deinit(struct ts_pools *pools);
/* Feeds a row; call it before `spans` gets the row. Returns 0, -ENOMEM or TS_E_POOLS. */
int ts_pools_feed(struct ts_pools *pools, struct ts_spans *spans, uint32_t session,
		  const struct ts_row_memory *row);
/*
 * Returns the pools, sorted by session and pool. The caller frees *ret_uses. Returns 0 or -ENOMEM.
 */
int ts_pools_take(struct ts_pools *pools, struct ts_pool_use **ret_uses, size_t *ret_n);

#ifdef __cplusplus
}
#endif
