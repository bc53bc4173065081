/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What memory the device knows: allocations by address, so that a copy's two ends are told apart, and pinned or managed memory
 * that a kernel was handed is captured as it is before each launch. Who uses it holds the lane's lock.
 */
#pragma once

#include "inject/capture/lane.h"

struct ts_memory_range {
	uint64_t start;
	uint64_t bytes;
	uint32_t flags;	  /* TS_OPERATION_MEMORY_*; 0: a device's own */
	uint32_t content; /* host memory: the last that was captured; 0: none */
	uint64_t
		in_use; /* and a kernel that was handed it may run: the sequence of its launch; 0: none does */
	uint64_t stream;  /* that it is in; of several streams, 0 */
	uint32_t context; /* that it was allocated in */
};

struct ts_memory_map {
	struct ts_pages pages; /* ranges in ascending order */
	size_t n;
};

/* Takes the place of whatever overlaps it. Returns false where there is no memory. */
bool ts_memory_map_add(struct ts_memory_map *map, uint64_t start, uint64_t bytes, uint32_t flags,
		       uint32_t context);
/* The one that starts there is gone. Returns whether there was one. */
bool ts_memory_map_remove(struct ts_memory_map *map, uint64_t start);
/* The one that holds the address, or NULL. Valid until the map changes. */
struct ts_memory_range *ts_memory_map_find(const struct ts_memory_map *map, uint64_t address);

/* The first that starts at the address or behind it, or NULL. Valid until the map changes. */
struct ts_memory_range *ts_memory_map_next(const struct ts_memory_map *map, uint64_t address);
/* What was allocated in a context goes with it. */
void ts_memory_map_leave(struct ts_memory_map *map, uint32_t context);

/* What handles stand for: a number of the caller's, above 0. */
struct ts_handles {
	struct ts_pages pages;
	size_t n_slots;
	size_t n;
};

/* The number of a handle, 0 where it has none yet. NULL: no memory. Valid until the next call. */
uint32_t *ts_handles_get(struct ts_handles *handles, uint64_t handle);
