/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps operation ids to calls: see emulate-builder.h. read.c calls this file. A hash table of all
 * ids would miss the cache on each row. Consecutive ids share a page, and recent pages are found
 * without the table.
 */
#include "replay/emulate/emulate-builder.h"

#include <stdlib.h>

#define NONE TS_EMULATE_NONE

void ts_emulate_ids_deinit(struct ts_emulate_ids *ids)
{
	ts_state_map_deinit(&ids->page_by_number);
	free(ids->pages);
}

void ts_emulate_ids_reserve(struct ts_emulate_ids *ids, size_t n)
{
	if (!ids->n_allocated)
		(void)ts_largearray_resize(&ids->pages, n / TS_EMULATE_PAGE_IDS + 2,
					   &ids->n_allocated, sizeof(*ids->pages));
}

static void keep(struct ts_emulate_ids *ids, uint32_t session, uint64_t number, uint32_t page)
{
	size_t slot = number % TS_EMULATE_PAGES_KEPT;

	ids->kept[slot].number = number;
	ids->kept[slot].session = session;
	ids->kept[slot].page = page + 1;
}

static bool is_in_a_row(const struct ts_emulate_ids *ids, uint32_t session, uint64_t number)
{
	return session == ids->row_session && number - ids->row_number < ids->n_row;
}

/* Returns the page of an id, or NONE. */
static uint32_t find_page(struct ts_emulate_ids *ids, uint32_t session, uint64_t number)
{
	uint32_t page = is_in_a_row(ids, session, number)
				? (uint32_t)(number - ids->row_number)
				: ts_state_map_find(&ids->page_by_number, session, number);

	if (page != NONE)
		keep(ids, session, number, page);
	return page;
}

/* Notes the page of a number. Returns 0 or -ENOMEM. */
static int set_page(struct ts_emulate_ids *ids, uint32_t session, uint64_t number, uint32_t page)
{
	if (!page) {
		ids->row_session = session;
		ids->row_number = number;
	}
	if (page != ids->n_row || session != ids->row_session || number - ids->row_number != page)
		return ts_state_map_set(&ids->page_by_number, session, number, page);
	ids->n_row++;
	return 0;
}

uint32_t *ts_emulate_ids_search(struct ts_emulate_ids *ids, uint32_t session, uint64_t id)
{
	uint32_t page = find_page(ids, session, id / TS_EMULATE_PAGE_IDS);

	return page == NONE ? NULL : &ids->pages[page].calls[id % TS_EMULATE_PAGE_IDS];
}

uint32_t *ts_emulate_ids_add(struct ts_emulate_ids *ids, uint32_t session, uint64_t id)
{
	uint64_t number = id / TS_EMULATE_PAGE_IDS;
	uint32_t page = find_page(ids, session, number);

	if (page == NONE) {
		page = (uint32_t)ids->n_pages;
		if (ts_largearray_grow(&ids->pages, page, &ids->n_allocated, sizeof(*ids->pages)) ||
		    set_page(ids, session, number, page))
			return NULL;
		ids->n_pages++;
		for (uint32_t i = 0; i < TS_EMULATE_PAGE_IDS; i++)
			ids->pages[page].calls[i] = NONE;
		keep(ids, session, number, page);
	}
	return &ids->pages[page].calls[id % TS_EMULATE_PAGE_IDS];
}
