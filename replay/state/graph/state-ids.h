/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table from operation ids to numbers, as state-map.h's, for those of a whole window: ids come nearly in order, so that they are
 * kept by sixteens, which a map finds, and the sixteen at hand is found at once. Nothing is ever removed. Ids that are not in
 * order cost 64 bytes each and a place in the map. One thread.
 */
#pragma once

#include "replay/state/state-map.h"

#define TS_STATE_IDS_PAGE 16u

/* All zero is an empty one. */
struct ts_state_ids {
	uint32_t (*pages)[TS_STATE_IDS_PAGE];
	size_t n_pages, n_pages_allocated;
	struct ts_state_map page_by_id; /* by the id's upper bits */
	uint64_t last_key;		/* the sixteen at hand, where there is any page */
	uint32_t last_session, last;
};

void ts_state_ids_deinit(struct ts_state_ids *ids);
/* TS_STATE_MAP_NONE: not there. */
uint32_t ts_state_ids_find(const struct ts_state_ids *ids, uint32_t session, uint64_t id);
/* Within ts_state_ids_set(): makes the id's sixteen the one at hand. -ENOMEM. */
int ts_state_ids_select(struct ts_state_ids *ids, uint32_t session, uint64_t id);

/* Adds or replaces. `value` is less than TS_STATE_MAP_NONE. -ENOMEM. */
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
