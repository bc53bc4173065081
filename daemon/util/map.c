/* SPDX-License-Identifier: Apache-2.0 */
/* A table of slots, at most half full, searched from where a key's hash points to. Nothing is ever taken out of it. */
#include "daemon/util/map.h"

#include "proto/abi/tablehash.h"

#define FIRST_SLOTS 64u

void ts_map_deinit(struct ts_map *map)
{
	free(map->slots);
	*map = (struct ts_map){0};
}

static struct ts_map_slot *find(struct ts_map_slot *slots, size_t n_slots, uint64_t key)
{
	uint64_t at = ts_hash_key(key) >> 32;

	while (slots[at & (n_slots - 1)].key && slots[at & (n_slots - 1)].key != key)
		at++;
	return &slots[at & (n_slots - 1)];
}

uint32_t ts_map_get(const struct ts_map *map, uint64_t key)
{
	return map->n_slots && key ? find(map->slots, map->n_slots, key)->value : 0;
}

static int grow(struct ts_map *map)
{
	size_t n_slots = map->n_slots ? 2 * map->n_slots : FIRST_SLOTS;
	struct ts_map_slot *slots = calloc(n_slots, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->n_slots; i++)
		if (map->slots[i].key)
			*find(slots, n_slots, map->slots[i].key) = map->slots[i];
	free(map->slots);
	map->slots = slots;
	map->n_slots = n_slots;
	return 0;
}

int ts_map_set(struct ts_map *map, uint64_t key, uint32_t value)
{
	struct ts_map_slot *slot;
	int r = 2 * (map->n + 1) > map->n_slots ? grow(map) : 0;

	if (r)
		return r;
	slot = find(map->slots, map->n_slots, key);
	map->n += !slot->key;
	*slot = (struct ts_map_slot){.key = key, .value = value};
	return 0;
}
