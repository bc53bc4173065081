/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps a number for each address: open addressing, no removal. hip-code.c and hip-graphs.c call
 * it, also in launches. It calls only unlocked.c, for its memory.
 */
#include "inject/hip/hip-objects.h"

#include "inject/ring/unlocked.h"

bool ts_hip_objects_init(struct ts_hip_objects *objects, uint32_t n_slots)
{
	if (objects->slots)
		return true;
	objects->slots = ts_unlocked_map(n_slots * sizeof(*objects->slots));
	if (!objects->slots)
		return false;
	objects->n_slots = n_slots;
	return true;
}

bool ts_hip_objects_put(struct ts_hip_objects *objects, uint64_t key, uint64_t value)
{
	uint64_t found;

	if (!key || !objects->slots)
		return false;
	for (uint32_t i = ts_hip_objects_first(objects, key);;
	     i = (i + 1) & (objects->n_slots - 1)) {
		struct ts_hip_object *slot = &objects->slots[i];

		found = __atomic_load_n(&slot->key, __ATOMIC_RELAXED);
		if (!found) {
			if (__atomic_load_n(&objects->n_used, __ATOMIC_RELAXED) >=
			    objects->n_slots / 4 * 3)
				return false;
			/* A failed exchange writes the other thread's key to `found`. */
			if (__atomic_compare_exchange_n(&slot->key, &found, key, false,
							__ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
				__atomic_fetch_add(&objects->n_used, 1, __ATOMIC_RELAXED);
				found = key;
			}
		}
		if (found == key) {
			__atomic_store_n(&slot->value, value, __ATOMIC_RELAXED);
			return true;
		}
	}
}
