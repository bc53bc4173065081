/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures how full pools are: see pools.h. misuse.c calls this file; this file reads the spans of
 * spans.c.
 *
 * If a pool grows although it has more unused memory than the request, its memory is fragmented, or
 * another stream has not released it yet. The module counts the holes at each new maximum of unused
 * memory, at most MAX_LOOKS times per pool. Each count visits the spans of all pools, at most
 * MAX_VISITS in total.
 */
#include "replay/state/memory/pools.h"

#include "proto/abi/grow.h"

#include <errno.h>
#include <stdlib.h>

#define MAX_LOOKS  256u
#define MAX_VISITS (UINT64_C(1) << 26) /* visits of spans, over all pools */

void ts_pools_deinit(struct ts_pools *pools)
{
	free(pools->pools);
	ts_state_map_deinit(&pools->by_pool);
	*pools = (struct ts_pools){0};
}

static int find(struct ts_pools *pools, uint32_t session, const struct ts_row_memory *row,
		struct ts_pool_state **ret_state)
{
	uint32_t found = ts_state_map_find(&pools->by_pool, session, row->pool);
	int r;

	if (found != TS_STATE_MAP_NONE) {
		*ret_state = &pools->pools[found];
		return 0;
	}
	if (pools->n == TS_MAX_POOLS)
		return TS_E_POOLS;
	if (TS_GROW(pools->pools, pools->n_allocated, pools->n + 1))
		return -ENOMEM;
	r = ts_state_map_set(&pools->by_pool, session, row->pool, (uint32_t)pools->n);
	if (r)
		return r;
	*ret_state = &pools->pools[pools->n++];
	**ret_state = (struct ts_pool_state){
		.use = {.session = session, .device = row->device, .pool = row->pool}};
	return 0;
}

static void count_hole(struct ts_pool_use *use, uint64_t bytes)
{
	if (!bytes)
		return;
	use->n_holes++;
	use->hole_bytes += bytes;
	if (bytes > use->largest_hole_bytes)
		use->largest_hole_bytes = bytes;
}

static void look(struct ts_pools *pools, struct ts_pool_state *state, struct ts_spans *spans)
{
	struct ts_pool_use *use = &state->use;
	uint64_t hole = 0, hole_end = 0;

	use->n_holes = use->hole_bytes = use->largest_hole_bytes = 0;
	for (struct ts_span *span = ts_spans_first(spans); span; span = ts_spans_next(span)) {
		pools->n_visits++;
		if (span->session != use->session || span->pool != use->pool || !span->freed.ns ||
		    span->freed.ns <= state->shrunk_ns)
			continue;
		if (hole && span->start == hole_end) {
			hole += span->end - span->start;
		} else {
			count_hole(use, hole);
			hole = span->end - span->start;
		}
		hole_end = span->end;
	}
	count_hole(use, hole);
}

static void grow(struct ts_pools *pools, struct ts_pool_state *state, struct ts_spans *spans,
		 const struct ts_row_memory *row)
{
	uint64_t unused_bytes =
		state->bytes > state->used_bytes ? state->bytes - state->used_bytes : 0;

	state->use.n_growths++;
	if (!row->bytes || unused_bytes < row->bytes)
		return;
	state->use.n_growths_with_room++;
	if (unused_bytes <= state->use.wasted_bytes || state->n_looks == MAX_LOOKS ||
	    pools->n_visits >= MAX_VISITS)
		return;
	state->n_looks++;
	state->use.wasted_ns = row->start_ns;
	state->use.wasted_bytes = unused_bytes;
	state->use.asked_bytes = row->bytes;
	look(pools, state, spans);
}

int ts_pools_feed(struct ts_pools *pools, struct ts_spans *spans, uint32_t session,
		  const struct ts_row_memory *row)
{
	struct ts_pool_state *state;
	int r;

	/* Files of older recorders lack the sizes of pools. */
	if (!row->pool || !row->pool_bytes)
		return 0;
	r = find(pools, session, row, &state);
	if (r)
		return r;
	if (row->pool_bytes > state->bytes)
		grow(pools, state, spans, row);
	else if (row->pool_bytes < state->bytes)
		state->shrunk_ns = row->start_ns;
	state->bytes = row->pool_bytes;
	state->used_bytes = row->pool_used_bytes;
	if (row->pool_bytes > state->use.peak_bytes) {
		state->use.peak_bytes = row->pool_bytes;
		state->use.peak_ns = row->start_ns;
	}
	if (row->pool_used_bytes > state->use.peak_used_bytes)
		state->use.peak_used_bytes = row->pool_used_bytes;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct ts_pool_use *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	return x->pool < y->pool ? -1 : x->pool > y->pool;
}

int ts_pools_take(struct ts_pools *pools, struct ts_pool_use **ret_uses, size_t *ret_n)
{
	struct ts_pool_use *uses = calloc(pools->n + 1, sizeof(*uses));

	if (!uses)
		return -ENOMEM;
	for (size_t i = 0; i < pools->n; i++)
		uses[i] = pools->pools[i].use;
	if (pools->n)
		qsort(uses, pools->n, sizeof(*uses), compare);
	*ret_uses = uses;
	*ret_n = pools->n;
	return 0;
}
