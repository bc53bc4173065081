/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table from a session and a 64-bit key to a 32-bit number: operations by id, allocations by address, events by
 * handle. Keys come from a trace, which may have been made so that they collide: each table hashes by numbers of its own, drawn
 * when it gets its first slots. No limit but memory: callers bound what they put in. One thread.
 */
#pragma once

#include "proto/abi/base.h"
#include "proto/abi/tablehash.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TS_STATE_MAP_NONE UINT32_MAX

struct ts_state_map_slot {
	uint64_t key;
	uint32_t session;
	uint32_t value; /* TS_STATE_MAP_NONE: a free slot */
};

/* All zero is an empty one. */
struct ts_state_map {
	struct ts_state_map_slot *slots;
	size_t n_slots, n;	     /* a power of two; at most half of them taken */
	uint64_t by_key, by_session; /* odd */
};

void ts_state_map_deinit(struct ts_state_map *map);

/*
 * Where a key's run of slots begins. Keys of one session that differ have sums that differ; the second product spreads those that
 * lie close together, or far apart in even steps.
 */
static inline size_t ts_state_map_home(const struct ts_state_map *map, uint32_t session,
				       uint64_t key)
{
	uint64_t hash = key * map->by_key + session * map->by_session;

	hash = ts_hash_add(hash, hash >> 32);
	return (size_t)(hash >> (__builtin_clzll(map->n_slots) + 1));
}

/* TS_STATE_MAP_NONE: not there. */
static inline uint32_t ts_state_map_find(const struct ts_state_map *map, uint32_t session,
					 uint64_t key)
{
	size_t i;

	if (!map->n)
		return TS_STATE_MAP_NONE;
	i = ts_state_map_home(map, session, key);
	while (map->slots[i].value != TS_STATE_MAP_NONE &&
	       (map->slots[i].key != key || map->slots[i].session != session))
		i = (i + 1) & (map->n_slots - 1);
	return map->slots[i].value;
}

/* Adds or replaces. `value` is less than TS_STATE_MAP_NONE. -ENOMEM. */
int ts_state_map_set(struct ts_state_map *map, uint32_t session, uint64_t key, uint32_t value);
/* Nothing where it is not there. */
void ts_state_map_remove(struct ts_state_map *map, uint32_t session, uint64_t key);

#ifdef __cplusplus
}
#endif
