/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table from a session and a 64-bit key to a 32-bit number: operations by id, allocations by
 * address, events by handle. Below it is the table of proto/abi/map.h, with its seeds against keys
 * of a trace that was made so that they collide. No limit but memory: callers bound the keys. One
 * thread.
 */
#pragma once

#include "proto/abi/map.h"

#define TS_STATE_MAP_NONE UINT32_MAX

struct ts_state_map_slot {
	uint64_t key;
	uint32_t session;
	uint32_t place; /* the value + 1; 0: a free slot */
};

/* All zero is an empty one. */
struct ts_state_map {
	struct ts_slots slots;
};

/* Keys of one session that differ have sums that differ. */
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

/* The slot of a key, or the free one where the key would go. There are slots. */
TS_SLOTS_INLINE struct ts_state_map_slot *ts_state_map_search(const struct ts_state_map *map,
							      uint32_t session, uint64_t key)
{
	struct ts_state_map_slot *all = (struct ts_state_map_slot *)map->slots.all;
	size_t i = ts_slots_home(&map->slots, ts_state_map_hash(&map->slots, session, key));

	while (all[i].place && (all[i].key != key || all[i].session != session))
		i = ts_slots_next(&map->slots, i);
	return &all[i];
}

/* TS_STATE_MAP_NONE: not there. */
static inline uint32_t ts_state_map_find(const struct ts_state_map *map, uint32_t session,
					 uint64_t key)
{
	if (!map->slots.n)
		return TS_STATE_MAP_NONE;
	return ts_state_map_search(map, session, key)->place - 1;
}

/*
 * Adds a key or replaces its value. 0 or -ENOMEM, for value TS_STATE_MAP_NONE as well. Replacing does
 * not fail, and leaves all keys in their slots.
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

/* Nothing where it is not there. */
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

/* The first taken slot after `slot`, or the first one of all for NULL. NULL: there is none. */
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

/* Visits each key once, in an order that differs from run to run. Its value is slot->place - 1. */
#define TS_STATE_MAP_EACH(map, slot)                                                      \
	for (const struct ts_state_map_slot *slot = ts_state_map_next((map), NULL); slot; \
	     slot = ts_state_map_next((map), slot))
