/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table by address or number, without locks. Entries are never removed: an entry of value 0
 * stands for none, and its key may get another value. Three quarters of the slots are used at
 * most. Thread-safe.
 */
#pragma once

#include "proto/abi/base.h"
#include "proto/abi/tablehash.h"

struct ts_hip_object {
	uint64_t key; /* 0: free */
	uint64_t value;
};

/* Zeroed: no memory, empty. */
struct ts_hip_objects {
	struct ts_hip_object *slots;
	uint32_t n_slots; /* a power of two */
	uint32_t n_used;
};

/* Maps the slots. Returns false without memory. Not thread-safe. */
bool ts_hip_objects_init(struct ts_hip_objects *objects, uint32_t n_slots);

/* Stores a value. Returns false if the table has no room for the key. */
bool ts_hip_objects_put(struct ts_hip_objects *objects, uint64_t key, uint64_t value);

/* Returns the first slot in which the search for a key may end. */
static inline uint32_t ts_hip_objects_first(const struct ts_hip_objects *objects, uint64_t key)
{
	return (uint32_t)(ts_hash_add(key, 0) >> 20) & (objects->n_slots - 1);
}

/* Returns the value; 0: none. */
static inline uint64_t ts_hip_objects_get(const struct ts_hip_objects *objects, uint64_t key)
{
	uint64_t found;

	if (!key || !objects->slots)
		return 0;
	for (uint32_t i = ts_hip_objects_first(objects, key);;
	     i = (i + 1) & (objects->n_slots - 1)) {
		found = __atomic_load_n(&objects->slots[i].key, __ATOMIC_RELAXED);
		if (ts_likely(found == key))
			return __atomic_load_n(&objects->slots[i].value, __ATOMIC_RELAXED);
		if (!found)
			return 0;
	}
}

static inline uint64_t ts_hip_key(const void *address)
{
	return (uint64_t)(uintptr_t)address;
}
