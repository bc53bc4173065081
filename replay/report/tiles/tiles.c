/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tiles of a trace: see tiles.h. tools/studio calls this module. It reads the blocks that
 * overlap a view (tile-merge.c) and adds their rows to the cells (tile-fill.c).
 */
#include "replay/report/tiles/tiles.h"

#include "replay/report/tiles/tile-index.h"
#include "replay/report/tiles/tile-merge.h"
#include "replay/report/tiles/tile-spread.h"

int ts_tiles_new(struct ts_sbt_reader *reader, const struct ts_tiles *before,
		 struct ts_tiles **ret_tiles)
{
	ts_cleanup(ts_tiles_freep) struct ts_tiles *tiles = calloc(1, sizeof(*tiles));
	struct ts_sbt_summary summary;
	int r;

	if (!tiles)
		return -ENOMEM;
	r = ts_tile_cache_init(&tiles->cache);
	if (r) {
		free(ts_take_ptr(tiles));
		return r;
	}
	r = ts_sbt_reader_summary(reader, 0, &summary);
	if (r)
		return r;
	tiles->origin_ns = ts_sbt_reader_origin_ns(reader);
	tiles->duration_ns =
		summary.latest_ns > tiles->origin_ns ? summary.latest_ns - tiles->origin_ns : 0;
	r = ts_tile_lanes_read(tiles, reader, before);
	r = r ? r : ts_tile_index_plan(tiles, reader);
	if (r)
		return r;
	*ret_tiles = ts_take_ptr(tiles);
	return 0;
}

void ts_tiles_free(struct ts_tiles *tiles)
{
	if (!tiles)
		return;
	ts_tile_index_deinit(tiles);
	for (size_t i = 0; i < tiles->n_units; i++) {
		free(tiles->units[i].blocks);
		free(tiles->units[i].parts);
		if (tiles->units[i].lock)
			pthread_mutex_destroy(tiles->units[i].lock);
		free(tiles->units[i].lock);
	}
	free(tiles->units);
	free(tiles->lanes);
	ts_hashindex_deinit(&tiles->by_place);
	ts_map_deinit(&tiles->first_of_thread);
	ts_map_deinit(&tiles->last_of_thread);
	ts_tile_cache_deinit(&tiles->cache);
	free(tiles);
}

uint64_t ts_tiles_duration_ns(const struct ts_tiles *tiles)
{
	return tiles->duration_ns;
}

uint64_t ts_tiles_origin_ns(const struct ts_tiles *tiles)
{
	return tiles->origin_ns;
}

size_t ts_tiles_n_lanes(const struct ts_tiles *tiles)
{
	return tiles->n_lanes;
}

void ts_tiles_lane(struct ts_tiles *tiles, size_t i, struct ts_lane *ret_lane)
{
	pthread_mutex_t *lock = tiles->lanes[i].unit == TS_TILE_NO_LANE
					? NULL
					: tiles->units[tiles->lanes[i].unit].lock;

	if (lock)
		pthread_mutex_lock(lock);
	*ret_lane = tiles->lanes[i].lane;
	if (lock)
		pthread_mutex_unlock(lock);
}

uint32_t ts_tiles_find_lane(const struct ts_tiles *tiles, const struct ts_lane *place)
{
	struct ts_lane asked = *place;
	uint32_t found;

	asked.id = asked.parent = asked.depth = 0;
	found = ts_tile_lane_find(tiles, &asked);
	return found == TS_TILE_NO_LANE ? 0 : found + 1;
}

/* ---- views ----------------------------------------------------------------------------------- */

static int take(void *data, const struct ts_tile_block *block, uint32_t first, uint32_t n)
{
	return ts_tile_spread_add(data, block, first, n);
}

/* Fills the lanes of one unit. */
static int fill_unit(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		     const struct ts_tiles_view *view, uint32_t unit, struct ts_tile_fills *fills,
		     bool *is_damaged)
{
	ts_cleanup(ts_freep) uint8_t *lanes = calloc(tiles->n_lanes + 1, 1);
	struct ts_tile_spread spread = {.tiles = tiles, .fills = fills->at};
	uint64_t width_ns = (uint64_t)TS_TILE_CELLS << view->level;
	struct ts_tile_merge_options options = {
		.unit = &tiles->units[unit],
		.from_ns = view->first * width_ns,
		.to_ns = (view->first + view->n_tiles) * width_ns,
		.lanes = lanes,
		.keep = true,
		.is_cancelled = view->is_cancelled,
		.cancel_data = view->data,
		.take = take,
		.data = &spread,
	};
	int r;

	if (!lanes)
		return -ENOMEM;
	for (size_t i = 0; i < tiles->n_lanes; i++)
		lanes[i] = fills->at[i] != NULL;
	r = ts_tile_merge(tiles, reader, &options, is_damaged);
	for (size_t i = 0; !r && i < tiles->n_lanes; i++)
		if (fills->at[i] && tiles->lanes[i].unit == unit)
			r = ts_tile_fill_finish(fills->at[i]);
	return r;
}

/* Flags of a view. */
struct found {
	bool is_exact, is_damaged;
};

/*
 * Decides for each unit of the view: 1: from the blocks, 2: from the index. Makes the fills of the
 * units from blocks.
 */
static int plan(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		const struct ts_tiles_view *view, struct ts_tile_fills *fills, uint8_t *ways)
{
	int r = 0;

	for (size_t i = 0; !r && i < view->n_lanes; i++) {
		uint32_t lane = view->lanes[i] - 1, unit;

		if (lane >= tiles->n_lanes)
			return TS_TILES_E_LANE;
		unit = tiles->lanes[lane].unit;
		if (unit == TS_TILE_NO_LANE)
			continue;
		if (!ways[unit])
			ways[unit] = ts_tile_index_answers(tiles, reader, unit, view) ? 2 : 1;
		if (ways[unit] == 1 && !fills->at[lane])
			r = ts_tile_fills_add(fills, tiles, view, lane);
	}
	return r;
}

static int fill_all(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		    const struct ts_tiles_view *view, struct ts_tile_fills *fills, uint8_t *ways,
		    struct ts_tile_cell *cells, struct found *found)
{
	size_t n_cells = (size_t)view->n_tiles * TS_TILE_CELLS;
	int r = 0;

	for (size_t i = 0; !r && i < view->n_lanes; i++) {
		uint32_t lane = view->lanes[i] - 1, unit = tiles->lanes[lane].unit;

		if (unit == TS_TILE_NO_LANE)
			continue;
		if (ways[unit] == 2)
			r = ts_tile_index_copy(tiles, reader, view, lane, &cells[i * n_cells],
					       &found->is_exact, &found->is_damaged);
		else if (ways[unit] == 1)
			r = fill_unit(tiles, reader, view, unit, fills, &found->is_damaged);
		if (ways[unit] == 1)
			ways[unit] = 3; /* done */
	}
	return r;
}

int ts_tiles_view(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		  const struct ts_tiles_view *view, struct ts_tile_cell *ret_cells,
		  uint32_t *ret_flags)
{
	ts_cleanup(ts_freep) uint8_t *ways = calloc(tiles->n_units + 1, 1);
	struct ts_tile_fills fills = {0};
	struct found found = {.is_exact = true};
	int r = ways ? ts_tile_fills_init(&fills, tiles) : -ENOMEM;

	if (!r && !ts_tiles_view_is_valid(view))
		r = -EINVAL;
	r = r ? r : plan(tiles, reader, view, &fills, ways);
	if (!r) {
		memset(ret_cells, 0,
		       view->n_lanes * view->n_tiles * TS_TILE_CELLS * sizeof(*ret_cells));
		r = fill_all(tiles, reader, view, &fills, ways, ret_cells, &found);
	}
	if (!r) {
		ts_tile_fills_copy(&fills, view, ret_cells);
		*ret_flags = (found.is_exact ? 0 : TS_TILES_INEXACT) |
			     (found.is_damaged ? TS_TILES_DAMAGED : 0);
	}
	ts_tile_fills_deinit(&fills);
	return r;
}
