/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP's allocations by address. A free names an address alone; its row also has the kind and the
 * size. One lock; only calls that allocate or free take it. The table's memory comes from the
 * kernel, never from the application's malloc(). Thread-safe.
 */
#pragma once

#include <pthread.h>

#include "inject/ring/unlocked-table.h"

struct ts_hip_allocation {
	uint64_t address; /* 0: none */
	uint64_t bytes;
	uint32_t kind;	 /* CUPTI's memory kind */
	uint32_t device; /* HIP's ordinal */
};

struct ts_hip_memory {
	pthread_mutex_t lock;
	struct ts_unlocked_table table;
};

/* Stores an allocation. Without memory it is not stored, and its free lacks kind and size. */
void ts_hip_memory_add(struct ts_hip_memory *memory, const struct ts_hip_allocation *allocation);

/* Removes an allocation and returns it in ret. Returns false if the address is not known. */
bool ts_hip_memory_remove(struct ts_hip_memory *memory, uint64_t address,
			  struct ts_hip_allocation *ret);
