/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table from numbers to numbers, for what copying a trace has to remember of ids: linear probing, nothing is ever
 * taken out.
 */
#include "sbt/rewrite/idmap.h"

#include <sys/random.h>

static uint64_t mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static struct ts_idmap_slot *find(const struct ts_idmap *map, uint64_t key)
{
	size_t i = mix(key ^ map->seed) & (map->n_slots - 1);

	while (map->slots[i].value && map->slots[i].key != key)
		i = (i + 1) & (map->n_slots - 1);
	return &map->slots[i];
}

static int grow(struct ts_idmap *map)
{
	struct ts_idmap larger = {.n_slots = map->n_slots ? map->n_slots * 2 : 64,
				  .n_used = map->n_used,
				  .seed = map->seed};

	if (!larger.seed && getrandom(&larger.seed, sizeof(larger.seed), 0) < 0)
		larger.seed = (uintptr_t)map | 1;
	larger.slots = calloc(larger.n_slots, sizeof(*larger.slots));
	if (!larger.slots)
		return -ENOMEM;
	for (size_t i = 0; i < map->n_slots; i++)
		if (map->slots[i].value)
			*find(&larger, map->slots[i].key) = map->slots[i];
	free(map->slots);
	*map = larger;
	return 0;
}

void ts_idmap_deinit(struct ts_idmap *map)
{
	free(map->slots);
	*map = (struct ts_idmap){0};
}

int ts_idmap_put(struct ts_idmap *map, uint64_t key, uint64_t value)
{
	struct ts_idmap_slot *slot;

	if (map->n_used * 2 >= map->n_slots) {
		int r = grow(map);

		if (r)
			return r;
	}
	slot = find(map, key);
	map->n_used += !slot->value;
	*slot = (struct ts_idmap_slot){key, value};
	return 0;
}

uint64_t ts_idmap_get(const struct ts_idmap *map, uint64_t key)
{
	return map->n_slots ? find(map, key)->value : 0;
}
