/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table from a session and a 64-bit key to a 32-bit number: operations by id, allocations by
 * address, events by handle. It uses the table of proto/abi/map.h, whose random seeds defeat a
 * trace made of colliding keys. Callers bound the number of keys; the table has no limit but
 * memory. Not thread-safe.
 */
#pragma once

#include "proto/abi/map.h"

#define TS_STATE_MAP_NONE UINT32_MAX

struct ts_state_map_slot {
	uint64_t key;
	uint32_t session;
	uint32_t place; /* the value + 1; 0: a free slot */
};

/* Start with all bytes zero. */
struct ts_state_map {
	struct ts_slots slots;
};

/* Different keys of one session have different hashes. */
TS_SLOTS_INLINE uint64_t ts_state_map_hash(const struct ts_slots *slots, uint32_t session,
					   uint64_t key)
{
	uint64_t hash = key * slots->seeds[0] + session * slots->seeds[1];

	return ts_hash_add(hash, hash >> 32);
}

TS_SLOTS_INLINE bool ts_state_map_hash_of(const struct ts_slots *slots, const void *slot,
					  uint64_t *ret_hash)
{
	const struct ts_state_map_slot *held = (const struct ts_state_map_slot *)slot;

	if (ret_hash)
		*ret_hash = ts_state_map_hash(slots, held->session, held->key);
	return held->place;
}

TS_SLOTS_OUTLINE int ts_state_map_grow(struct ts_state_map *map)
{
	return ts_slots_grow(&map->slots, sizeof(struct ts_state_map_slot), ts_state_map_hash_of,
			     1);
}

/* Returns the slot of the key, or the free slot for it. The table must have slots. */
TS_SLOTS_INLINE struct ts_state_map_slot *ts_state_map_search(const struct ts_state_map *map,
							      uint32_t session, uint64_t key)
{
	struct ts_state_map_slot *all = (struct ts_state_map_slot *)map->slots.all;
	size_t i = ts_slots_home(&map->slots, ts_state_map_hash(&map->slots, session, key));

	while (all[i].place && (all[i].key != key || all[i].session != session))
		i = ts_slots_next(&map->slots, i);
	return &all[i];
}

/* Returns the key's value, or TS_STATE_MAP_NONE if the key is absent. */
static inline uint32_t ts_state_map_find(const struct ts_state_map *map, uint32_t session,
					 uint64_t key)
{
	if (!map->slots.n)
		return TS_STATE_MAP_NONE;
	return ts_state_map_search(map, session, key)->place - 1;
}

/*
 * Adds a key or replaces its value. Returns 0 or -ENOMEM, and -ENOMEM for the value
 * TS_STATE_MAP_NONE. Replacing a value does not fail and moves no key.
 */
TS_SLOTS_OUTLINE int ts_state_map_set(struct ts_state_map *map, uint32_t session, uint64_t key,
				      uint32_t value)
{
	struct ts_state_map_slot *slot;

	if (ts_unlikely(value == TS_STATE_MAP_NONE))
		return -ENOMEM;
	slot = map->slots.n_slots ? ts_state_map_search(map, session, key) : NULL;
	if (!slot || !slot->place) {
		if (ts_slots_lack(&map->slots, 1)) {
			if (ts_state_map_grow(map))
				return -ENOMEM;
			slot = ts_state_map_search(map, session, key);
		}
		map->slots.n++;
		slot->key = key;
		slot->session = session;
	}
	slot->place = value + 1;
	return 0;
}

/* Does nothing if the key is absent. */
TS_SLOTS_OUTLINE void ts_state_map_remove(struct ts_state_map *map, uint32_t session, uint64_t key)
{
	struct ts_state_map_slot *slot;

	if (!map->slots.n)
		return;
	slot = ts_state_map_search(map, session, key);
	if (slot->place)
		ts_slots_remove(&map->slots, sizeof(*slot), ts_state_map_hash_of,
				(size_t)(slot - (struct ts_state_map_slot *)map->slots.all));
}

static inline size_t ts_state_map_count(const struct ts_state_map *map)
{
	return map->slots.n;
}

static inline void ts_state_map_deinit(struct ts_state_map *map)
{
	ts_slots_deinit(&map->slots);
}

/*
 * Returns the next occupied slot after `slot`, or the first one if `slot` is NULL. NULL: the end.
 */
static inline const struct ts_state_map_slot *ts_state_map_next(
	const struct ts_state_map *map, const struct ts_state_map_slot *slot)
{
	const struct ts_state_map_slot *all = (const struct ts_state_map_slot *)map->slots.all;
	size_t i = slot ? (size_t)(slot - all) + 1 : 0;

	for (; i < map->slots.n_slots; i++)
		if (all[i].place)
			return &all[i];
	return NULL;
}

/* Visits each key once, in an order that differs from run to run. The value is slot->place - 1. */
#define TS_STATE_MAP_EACH(map, slot)                                                      \
	for (const struct ts_state_map_slot *slot = ts_state_map_next((map), NULL); slot; \
	     slot = ts_state_map_next((map), slot))
