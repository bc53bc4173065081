/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Within: how full pools are, from their allocations and frees in the order of time.
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
	uint64_t bytes, used_bytes; /* as last told */
	uint64_t shrunk_ns;	    /* what was freed before may be the device's again; 0: never */
	uint32_t n_looks;	    /* that were taken at its holes */
};

/* All zero is an empty one. */
struct ts_pools {
	struct ts_pool_state *pools;
	size_t n, n_allocated;
	struct ts_state_map by_pool;
	uint64_t n_visits; /* of spans, while looking at holes */
};

void ts_pools_deinit(struct ts_pools *pools);
/* Before `spans` are told of the row. -ENOMEM, TS_E_POOLS. */
int ts_pools_feed(struct ts_pools *pools, struct ts_spans *spans, uint32_t session,
		  const struct ts_row_memory *row);
/* By session and pool, the caller's to free. -ENOMEM. */
int ts_pools_take(struct ts_pools *pools, struct ts_pool_use **ret_uses, size_t *ret_n);

#ifdef __cplusplus
}
#endif
