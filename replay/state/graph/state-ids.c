/* SPDX-License-Identifier: Apache-2.0 */
/* Maps operation ids to numbers in pages of 16: see state-ids.h. state-graph.c calls this file. */
#include "replay/state/graph/state-ids.h"

#include "proto/abi/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void ts_state_ids_deinit(struct ts_state_ids *ids)
{
	free(ids->pages);
	ts_state_map_deinit(&ids->page_by_id);
	*ids = (struct ts_state_ids){0};
}

uint32_t ts_state_ids_find(const struct ts_state_ids *ids, uint32_t session, uint64_t id)
{
	uint32_t page = ts_state_map_find(&ids->page_by_id, session, id / TS_STATE_IDS_PAGE);

	return page == TS_STATE_MAP_NONE ? TS_STATE_MAP_NONE
					 : ids->pages[page][id % TS_STATE_IDS_PAGE];
}

static int add_page(struct ts_state_ids *ids, uint32_t session, uint64_t key)
{
	int r;

	if (ids->n_pages + 1 >= TS_STATE_MAP_NONE ||
	    TS_GROW(ids->pages, ids->n_pages_allocated, ids->n_pages + 1))
		return -ENOMEM;
	r = ts_state_map_set(&ids->page_by_id, session, key, (uint32_t)ids->n_pages);
	if (r)
		return r;
	/* All bytes 0xff are TS_STATE_MAP_NONE. */
	memset(ids->pages[ids->n_pages++], 0xff, sizeof(*ids->pages));
	return 0;
}

int ts_state_ids_select(struct ts_state_ids *ids, uint32_t session, uint64_t id)
{
	uint64_t key = id / TS_STATE_IDS_PAGE;
	uint32_t page = ts_state_map_find(&ids->page_by_id, session, key);
	int r = 0;

	if (page == TS_STATE_MAP_NONE) {
		page = (uint32_t)ids->n_pages;
		r = add_page(ids, session, key);
	}
	if (r)
		return r;
	ids->last_key = key;
	ids->last_session = session;
	ids->last = page;
	return 0;
}
