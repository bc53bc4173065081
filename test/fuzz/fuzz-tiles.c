/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes an untrusted trace with the tiles of Studio: lanes, views, the index, rows, searches. A
 * view of the whole trace must be the same before and after the index is read, unless blocks are
 * damaged.
 */
#include "proto/abi/base.h"
#include "replay/report/names/resolver.h"
#include "replay/report/tiles/tiles.h"
#include "test/fuzz/fuzz-sbt.h"

#define MAX_ROWS 20000u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_any(void *data, uint32_t key)
{
	return true;
}

static bool is_valid(const struct ts_lane *lane, const struct ts_tile_cell *cell)
{
	if (lane->kind != TS_LANE_COUNTER)
		return cell->share <= TS_TILE_MILLION && cell->key_share <= cell->share;
	return !cell->count || !(ts_tile_least(cell) > ts_tile_largest(cell));
}

static void look(struct ts_sbt_reader *reader, struct ts_tiles *tiles, const struct ts_lane *lane,
		 uint32_t level, struct ts_tile_cell cells[TS_TILE_CELLS], uint32_t *ret_flags)
{
	struct ts_tiles_view view = {.level = level,
				     .n_tiles = 1,
				     .lanes = &lane->id,
				     .n_lanes = 1};

	*ret_flags = TS_TILES_DAMAGED;
	memset(cells, 0, TS_TILE_CELLS * sizeof(*cells));
	(void)ts_tiles_view(tiles, reader, &view, cells, ret_flags);
	for (unsigned i = 0; i < TS_TILE_CELLS; i++)
		if (!is_valid(lane, &cells[i]))
			abort();
}

static void look_at_lane(struct ts_sbt_reader *reader, struct ts_tiles *tiles,
			 const struct ts_lane *lane)
{
	struct ts_tile_cell cells[TS_TILE_CELLS];
	struct ts_tile_rows rows;
	uint32_t flags;

	for (uint32_t level = 0; level <= TS_TILE_MAX_LEVEL; level += 9)
		look(reader, tiles, lane, level, cells, &flags);
	if (!ts_tiles_rows(tiles, reader, lane->id, 0, INT64_MAX, 100, NULL, NULL, &rows))
		free(rows.at);
}

static void search_all(struct ts_sbt_reader *reader, struct ts_tiles *tiles)
{
	struct ts_tiles_search search = {.is_wanted = is_any};
	struct ts_resolver_options options = {0};
	char buffer[TS_TILE_NAME_BYTES];
	struct ts_resolver *resolver;
	struct ts_tile_match match;

	if (ts_resolver_new(reader, &options, &resolver))
		return;
	for (int i = 0; i < 20 && !ts_tiles_search(tiles, reader, &search, &match); i++) {
		(void)ts_tile_key_name(resolver, match.row.key, buffer);
		search.from = (struct ts_tile_place){match.row.start_ns, match.row.block,
						     match.lane, match.row.index};
	}
	search.is_backward = true;
	(void)ts_tiles_search(tiles, reader, &search, &match);
	ts_resolver_free(resolver);
}

static void look_at_all(struct ts_sbt_reader *reader)
{
	struct ts_tiles *tiles, *later;
	struct ts_lane lane;

	if (ts_tiles_new(reader, NULL, &tiles))
		return;
	for (size_t i = 0; i < ts_tiles_n_lanes(tiles) && i < 40; i++) {
		struct ts_tile_cell before[TS_TILE_CELLS], after[TS_TILE_CELLS];
		uint32_t flags_before, flags_after;

		ts_tiles_lane(tiles, i, &lane);
		look_at_lane(reader, tiles, &lane);
		look(reader, tiles, &lane, 40, before, &flags_before);
		if (!i)
			(void)ts_tiles_build(tiles, reader, NULL, NULL);
		look(reader, tiles, &lane, 40, after, &flags_after);
		if (!flags_before && !flags_after && memcmp(before, after, sizeof(before)))
			abort();
	}
	search_all(reader, tiles);
	if (!ts_tiles_new(reader, tiles, &later)) {
		if (ts_tiles_n_lanes(later) != ts_tiles_n_lanes(tiles))
			abort();
		ts_tiles_free(later);
	}
	ts_tiles_free(tiles);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	ts_fuzz_sbt_look(data, size, MAX_ROWS, look_at_all);
	return 0;
}
