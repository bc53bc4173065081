/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers for numbers: 64-bit keys that are not 0, 32-bit values. One thread. */
#pragma once

#include "proto/abi/base.h"

struct ts_map_slot {
	uint64_t key; /* 0: free */
	uint32_t value;
	uint32_t reserved;
};

/* All zero is an empty one. */
struct ts_map {
	struct ts_map_slot *slots;
	size_t n, n_slots;
};

void ts_map_deinit(struct ts_map *map);
/* 0: the key is not there. */
uint32_t ts_map_get(const struct ts_map *map, uint64_t key);
/* In place of what it had. -ENOMEM. */
int ts_map_set(struct ts_map *map, uint64_t key, uint32_t value);
