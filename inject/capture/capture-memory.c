/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the application's allocations in one array, sorted by address. Also keeps hash tables of
 * the driver's handles (functions, graphs, events, memory). The other files of inject/capture call
 * this file. Allocations are far rarer than launches, so inserting by memmove() is cheap enough.
 */
#include "inject/capture/capture-memory.h"

static struct ts_memory_range *ranges_of(const struct ts_memory_map *map)
{
	return (struct ts_memory_range *)(void *)map->pages.at;
}

/* Returns the number of ranges that start at or below the address. */
static size_t count_to(const struct ts_memory_map *map, uint64_t address)
{
	const struct ts_memory_range *ranges = ranges_of(map);
	size_t low = 0, high = map->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void drop(struct ts_memory_map *map, size_t i)
{
	struct ts_memory_range *ranges = ranges_of(map);

	memmove(&ranges[i], &ranges[i + 1], (map->n - i - 1) * sizeof(*ranges));
	map->n--;
}

struct ts_memory_range *ts_memory_map_find(const struct ts_memory_map *map, uint64_t address)
{
	size_t i = count_to(map, address);
	struct ts_memory_range *range = i ? &ranges_of(map)[i - 1] : NULL;

	return range && address - range->start < range->bytes ? range : NULL;
}

struct ts_memory_range *ts_memory_map_next(const struct ts_memory_map *map, uint64_t address)
{
	size_t i = address ? count_to(map, address - 1) : 0;

	return i < map->n ? &ranges_of(map)[i] : NULL;
}

void ts_memory_map_leave(struct ts_memory_map *map, uint32_t context)
{
	for (size_t i = map->n; i-- > 0;)
		if (ranges_of(map)[i].context == context)
			drop(map, i);
}

static void note_host(struct ts_memory_map *map, uint64_t start, uint64_t end)
{
	if (!map->has_host || start < map->host_start)
		map->host_start = start;
	if (end > map->host_end)
		map->host_end = end;
	__atomic_store_n(&map->has_host, true, __ATOMIC_RELAXED);
}

bool ts_memory_map_add(struct ts_memory_map *map, uint64_t start, uint64_t bytes, uint32_t flags,
		       uint32_t context)
{
	struct ts_memory_range *ranges;
	size_t i;

	if (!bytes || start + bytes < start)
		return true;
	/*
	 * The application has released the old ranges at these addresses; the shim did not see the
	 * release.
	 */
	for (i = count_to(map, start + bytes - 1); i-- > 0;) {
		if (ranges_of(map)[i].start + ranges_of(map)[i].bytes <= start)
			break;
		drop(map, i);
	}
	if (!ts_pages_grow(&map->pages, (map->n + 1) * sizeof(*ranges)))
		return false;
	ranges = ranges_of(map);
	i = count_to(map, start);
	memmove(&ranges[i + 1], &ranges[i], (map->n - i) * sizeof(*ranges));
	ranges[i] = (struct ts_memory_range){.start = start,
					     .bytes = bytes,
					     .flags = flags,
					     .context = context};
	map->n++;
	if (flags)
		note_host(map, start, start + bytes);
	return true;
}

bool ts_memory_map_remove(struct ts_memory_map *map, uint64_t start)
{
	size_t i = count_to(map, start);

	if (!i || ranges_of(map)[i - 1].start != start)
		return false;
	drop(map, i - 1);
	return true;
}

uint32_t *ts_handles_get(struct ts_handles *handles, uint64_t handle)
{
	struct ts_unlocked_slot *slot =
		ts_unlocked_table_find(&handles->table, sizeof(*slot), handle);

	if (ts_unlikely(!slot))
		slot = ts_unlocked_table_add(&handles->table, sizeof(*slot), handle);
	return slot ? &slot->number : NULL;
}

void ts_handles_deinit(struct ts_handles *handles)
{
	ts_unlocked_table_deinit(&handles->table, sizeof(struct ts_unlocked_slot));
}
