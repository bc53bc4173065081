/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table from operation ids to numbers, as in state-map.h, for all ids of a window. Ids come
 * almost in order. Pages of 16 ids are found by a map, and the last page without it. Entries are
 * never removed. An id out of order costs 64 bytes and a place in the map. Not thread-safe.
 */
#pragma once

#include "replay/state/state-map.h"

#define TS_STATE_IDS_PAGE 16u

/* Start with all fields zero. */
struct ts_state_ids {
	uint32_t (*pages)[TS_STATE_IDS_PAGE];
	size_t n_pages, n_pages_allocated;
	struct ts_state_map page_by_id; /* by id / 16 */
	uint64_t last_key;		/* the last page; valid if n_pages is not 0 */
	uint32_t last_session, last;
};

void ts_state_ids_deinit(struct ts_state_ids *ids);
/* Returns TS_STATE_MAP_NONE if the id is absent. */
uint32_t ts_state_ids_find(const struct ts_state_ids *ids, uint32_t session, uint64_t id);
/* For ts_state_ids_set(): makes the id's page the last page. Returns 0 or -ENOMEM. */
int ts_state_ids_select(struct ts_state_ids *ids, uint32_t session, uint64_t id);

/* Adds the id or replaces its value, which is less than TS_STATE_MAP_NONE. Returns 0 or -ENOMEM. */
static inline int ts_state_ids_set(struct ts_state_ids *ids, uint32_t session, uint64_t id,
				   uint32_t value)
{
	int r = 0;

	if (ids->last_key != id / TS_STATE_IDS_PAGE || ids->last_session != session ||
	    !ids->n_pages)
		r = ts_state_ids_select(ids, session, id);
	if (!r)
		ids->pages[ids->last][id % TS_STATE_IDS_PAGE] = value;
	return r;
}
