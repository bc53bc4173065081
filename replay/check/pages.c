/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, at most half full. */
#include "replay/check/pages.h"

#include <stdlib.h>

#include "proto/abi/tablehash.h"

static size_t home(const struct ts_check_pages *pages, uint64_t key)
{
	uint64_t hash = ts_hash_key(key);

	return (size_t)(hash >> 32) & (pages->n_slots - 1);
}

static struct ts_check_page_slot *slot_of(const struct ts_check_pages *pages, uint64_t key)
{
	size_t i = home(pages, key);

	while (pages->slots[i].page && pages->slots[i].key != key)
		i = (i + 1) & (pages->n_slots - 1);
	return &pages->slots[i];
}

void *ts_check_pages_find(const struct ts_check_pages *pages, uint64_t key)
{
	return pages->n_slots ? slot_of(pages, key)->page : NULL;
}

static int grow(struct ts_check_pages *pages)
{
	struct ts_check_pages more = {.n_slots = pages->n_slots ? pages->n_slots * 2 : 64};

	more.slots = calloc(more.n_slots, sizeof(*more.slots));
	if (!more.slots)
		return -1;
	for (size_t i = 0; i < pages->n_slots; i++)
		if (pages->slots[i].page) {
			*slot_of(&more, pages->slots[i].key) = pages->slots[i];
			more.n++;
		}
	free(pages->slots);
	*pages = more;
	return 0;
}

void **ts_check_pages_get(struct ts_check_pages *pages, uint64_t key)
{
	struct ts_check_page_slot *slot;

	if (pages->n * 2 >= pages->n_slots && grow(pages))
		return NULL;
	slot = slot_of(pages, key);
	if (!slot->page) {
		slot->key = key;
		pages->n++;
	}
	return &slot->page;
}

void ts_check_pages_deinit(struct ts_check_pages *pages, void (*done)(void *page))
{
	for (size_t i = 0; i < pages->n_slots; i++)
		if (pages->slots[i].page)
			done(pages->slots[i].page);
	free(pages->slots);
	*pages = (struct ts_check_pages){0};
}
