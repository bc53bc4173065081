/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The map of allocations by address, and the table of handles. With the map, copies.c determines
 * whether each end of a copy is host or device memory. launches.c finds the pinned and managed
 * memory that a kernel gets, and captures it before the launch. The caller holds the lane's lock.
 */
#pragma once

#include "inject/capture/lane.h"
#include "inject/ring/unlocked-table.h"

struct ts_memory_range {
	uint64_t start;
	uint64_t bytes;
	uint32_t flags; /* TS_OPERATION_MEMORY_*; 0: device memory */
	/*
	 * For host memory: number of the blob with its content at the last capture; 0: not
	 * captured.
	 */
	uint32_t content;
	/* Sequence of the last launch whose kernel got this memory and may still run; 0: none. */
	uint64_t in_use;
	uint64_t stream;  /* stream of those launches; 0: several streams */
	uint32_t context; /* context of the allocation */
};

struct ts_memory_map {
	struct ts_pages pages; /* ranges in ascending order */
	size_t n;
	bool has_host; /* host memory was added so far */
	/* All host memory that was added so far lies between these addresses. */
	uint64_t host_start, host_end;
};

/*
 * Adds a range and removes all ranges that overlap it. Ignores an empty or wrapping range. Returns
 * false if there is no memory.
 */
bool ts_memory_map_add(struct ts_memory_map *map, uint64_t start, uint64_t bytes, uint32_t flags,
		       uint32_t context);
/* Removes the range that starts at `start`. Returns false if there is none. */
bool ts_memory_map_remove(struct ts_memory_map *map, uint64_t start);
/* Returns the range that holds the address, or NULL. Valid until the map changes. */
struct ts_memory_range *ts_memory_map_find(const struct ts_memory_map *map, uint64_t address);

/* The same for pinned and managed memory alone. Most addresses need no search. */
static inline struct ts_memory_range *ts_memory_map_find_host(const struct ts_memory_map *map,
							      uint64_t address)
{
	struct ts_memory_range *range;

	if (address - map->host_start >= map->host_end - map->host_start)
		return NULL;
	range = ts_memory_map_find(map, address);
	return range && range->flags ? range : NULL;
}

/*
 * Returns the first range that starts at or above the address, or NULL. Valid until the map
 * changes.
 */
struct ts_memory_range *ts_memory_map_next(const struct ts_memory_map *map, uint64_t address);
/* Removes all ranges of a context. */
void ts_memory_map_leave(struct ts_memory_map *map, uint32_t context);

/* Maps a handle to a number of the caller's choice, above 0. */
struct ts_handles {
	struct ts_unlocked_table table;
};

/*
 * Returns a pointer to the handle's number, which the caller may change. The number of a new handle
 * is 0. Returns NULL if there is no memory. Valid until the next call.
 */
uint32_t *ts_handles_get(struct ts_handles *handles, uint64_t handle);
void ts_handles_deinit(struct ts_handles *handles);
