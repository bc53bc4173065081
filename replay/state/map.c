/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Linear probing. What is removed leaves no gap behind: what follows in its run moves up, so that a table through
 * which a whole trace passes stays as small as what it holds at a time.
 */
#include "replay/state/map.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#define FIRST_SLOTS 64u

void ts_state_map_deinit(struct ts_state_map *map)
{
	free(map->slots);
	map->slots = NULL;
	map->n_slots = map->n = 0;
}

/* The key's slot, or the free one where it would go. */
static struct ts_state_map_slot *probe(const struct ts_state_map *map, uint32_t session,
				       uint64_t key)
{
	for (size_t i = ts_state_map_home(map, session, key);; i = (i + 1) & (map->n_slots - 1)) {
		struct ts_state_map_slot *slot = &map->slots[i];

		if (slot->value == TS_STATE_MAP_NONE ||
		    (slot->key == key && slot->session == session))
			return slot;
	}
}

static void draw(struct ts_state_map *map)
{
	uint64_t drawn[2];

	/* Early in a machine's life there may be none: then what the address is. */
	if (getrandom(drawn, sizeof(drawn), GRND_NONBLOCK) != sizeof(drawn)) {
		drawn[0] = (uintptr_t)map->slots * UINT64_C(0xd6e8feb86659fd93);
		drawn[1] = (uintptr_t)map * UINT64_C(0xd6e8feb86659fd93);
	}
	map->by_key = drawn[0] | 1;
	map->by_session = drawn[1] | 1;
}

static int grow(struct ts_state_map *map)
{
	struct ts_state_map old = *map;
	size_t n_slots = old.n_slots ? 2 * old.n_slots : FIRST_SLOTS;

	map->slots = malloc(n_slots * sizeof(*map->slots));
	if (!map->slots) {
		*map = old;
		return -ENOMEM;
	}
	map->n_slots = n_slots;
	if (!old.n_slots)
		draw(map);
	for (size_t i = 0; i < n_slots; i++)
		map->slots[i].value = TS_STATE_MAP_NONE;
	for (size_t i = 0; i < old.n_slots; i++)
		if (old.slots[i].value != TS_STATE_MAP_NONE)
			*probe(map, old.slots[i].session, old.slots[i].key) = old.slots[i];
	free(old.slots);
	return 0;
}

int ts_state_map_set(struct ts_state_map *map, uint32_t session, uint64_t key, uint32_t value)
{
	struct ts_state_map_slot *slot;

	if (2 * map->n >= map->n_slots && grow(map))
		return -ENOMEM;
	slot = probe(map, session, key);
	map->n += slot->value == TS_STATE_MAP_NONE;
	*slot = (struct ts_state_map_slot){key, session, value};
	return 0;
}

void ts_state_map_remove(struct ts_state_map *map, uint32_t session, uint64_t key)
{
	size_t mask = map->n_slots - 1, gap, i;

	if (!map->n)
		return;
	gap = (size_t)(probe(map, session, key) - map->slots);
	if (map->slots[gap].value == TS_STATE_MAP_NONE)
		return;
	for (i = (gap + 1) & mask; map->slots[i].value != TS_STATE_MAP_NONE; i = (i + 1) & mask) {
		size_t from = ts_state_map_home(map, map->slots[i].session, map->slots[i].key);

		/* Not past its own home. */
		if (((i - from) & mask) < ((i - gap) & mask))
			continue;
		map->slots[gap] = map->slots[i];
		gap = i;
	}
	map->slots[gap].value = TS_STATE_MAP_NONE;
	map->n--;
}
