/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash tables in unlocked memory: see unlocked-table.h. hip/hip-allocations.c and
 * capture/capture-memory.c call this file, which calls unlocked.c.
 */
#include "inject/ring/unlocked-table.h"

#include <sys/mman.h>

#include "inject/ring/unlocked.h"

static inline bool hash_of(const struct ts_slots *slots, const void *at, uint64_t *ret_hash)
{
	const struct ts_unlocked_slot *slot = at;

	if (ret_hash)
		*ret_hash = ts_slots_hash(slots, slot->key);
	return slot->is_used;
}

static bool grow(struct ts_slots *slots, size_t slot_bytes)
{
	const size_t n_before = slots->n_slots, n_slots = ts_slots_wanted(slots, slot_bytes, 1);
	void *all = n_slots ? ts_unlocked_map(n_slots * slot_bytes) : NULL;

	if (!all)
		return false;
	slots->seeds[0] = TS_HASH_GOLDEN;
	all = ts_slots_move(slots, slot_bytes, hash_of, all, n_slots);
	if (all)
		munmap(all, n_before * slot_bytes);
	return true;
}

void *ts_unlocked_table_add(struct ts_unlocked_table *table, size_t slot_bytes, uint64_t key)
{
	struct ts_slots *slots = &table->slots;
	struct ts_unlocked_slot *slot;
	size_t i;

	if (ts_slots_lack(slots, 1) && !grow(slots, slot_bytes))
		return NULL;
	i = ts_slots_home(slots, ts_slots_hash(slots, key));
	while ((slot = ts_slots_at(slots, slot_bytes, i))->is_used)
		i = ts_slots_next(slots, i);
	*slot = (struct ts_unlocked_slot){.key = key, .is_used = 1};
	slots->n++;
	return slot;
}

void ts_unlocked_table_remove(struct ts_unlocked_table *table, size_t slot_bytes, void *slot)
{
	struct ts_slots *slots = &table->slots;

	ts_slots_remove(slots, slot_bytes, hash_of,
			(size_t)((uint8_t *)slot - (uint8_t *)slots->all) / slot_bytes);
}

void ts_unlocked_table_deinit(struct ts_unlocked_table *table, size_t slot_bytes)
{
	if (table->slots.all)
		munmap(table->slots.all, table->slots.n_slots * slot_bytes);
	*table = (struct ts_unlocked_table){0};
}
