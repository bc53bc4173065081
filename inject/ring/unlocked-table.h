/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash table by 64-bit key in the shim's own memory. The tables of map.h take their memory from
 * malloc(), which the shim does not call inside a call of the application; this table takes it from
 * unlocked.c, and has the slots of map.h. The keys are addresses and handles of the application, so
 * the hash needs no random seed.
 *
 * A table that is all zero is empty. Not thread-safe: the caller has a lock.
 */
#pragma once

#include "proto/abi/map.h"

/* Each slot of a table begins with this. `slot_bytes` of the functions is the whole slot. */
struct ts_unlocked_slot {
	uint64_t key;
	uint32_t is_used;
	uint32_t number; /* the caller's */
};

struct ts_unlocked_table {
	struct ts_slots slots;
};

/* Returns the slot of a key, or NULL. Valid until a key is added or removed. */
static inline void *ts_unlocked_table_find(const struct ts_unlocked_table *table, size_t slot_bytes,
					   uint64_t key)
{
	const struct ts_slots *slots = &table->slots;
	const struct ts_unlocked_slot *slot;

	if (!slots->n)
		return NULL;
	for (size_t i = ts_slots_home(slots, ts_slots_hash(slots, key));;
	     i = ts_slots_next(slots, i)) {
		slot = ts_slots_at(slots, slot_bytes, i);
		if (!slot->is_used)
			return NULL;
		if (slot->key == key)
			return (void *)(uintptr_t)slot;
	}
}

/*
 * Adds a key that is absent. Returns its slot, which is zero but for `key` and `is_used`, or NULL
 * without memory. Valid until a key is added or removed.
 */
void *ts_unlocked_table_add(struct ts_unlocked_table *table, size_t slot_bytes, uint64_t key);

/* Removes the slot, a result of ts_unlocked_table_find(). */
void ts_unlocked_table_remove(struct ts_unlocked_table *table, size_t slot_bytes, void *slot);

/* Unmaps the memory. The table is empty afterwards. */
void ts_unlocked_table_deinit(struct ts_unlocked_table *table, size_t slot_bytes);
