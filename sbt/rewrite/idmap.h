/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From 64-bit keys to 64-bit values that are not 0: a hash table, seeded so that keys chosen by a stranger cannot be made to
 * collide. Zero-initialised is empty. Not thread-safe.
 */
#pragma once

#include "proto/abi/base.h"

struct ts_idmap_slot {
	uint64_t key;
	uint64_t value; /* 0: free */
};

struct ts_idmap {
	struct ts_idmap_slot *slots;
	size_t n_slots; /* a power of two, or 0 */
	size_t n_used;
	uint64_t seed;
};

void ts_idmap_deinit(struct ts_idmap *map);
/* `value` takes the place of an earlier one. 0 or -ENOMEM. */
int ts_idmap_put(struct ts_idmap *map, uint64_t key, uint64_t value);
/* 0: the key is not there. */
uint64_t ts_idmap_get(const struct ts_idmap *map, uint64_t key);
