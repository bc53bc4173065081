/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows to the fills of lanes: see tile-spread.h. A kernel is a row of its stream, its device, and
 * its device's lane of kernels. tiles.c and tile-index.c call this module.
 */
#include "replay/report/tiles/tile-spread.h"

/* Cells that a view may have; 64 MiB. */
#define MAX_CELLS (UINT64_C(4) << 20)

#define LOW_BITS  ((1u << TS_TILE_KEY_BITS) - 1)

bool ts_tile_spread_has(const struct ts_tiles *tiles, uint32_t lane,
			const struct ts_tile_item *item)
{
	uint32_t type = ts_tile_key_type(item->key);
	const struct ts_tile_lane *stream;

	if (item->lane == lane)
		return true;
	if (item->lane == TS_TILE_NO_LANE)
		return false;
	stream = &tiles->lanes[item->lane];
	if (stream->lane.kind != TS_LANE_STREAM)
		return false;
	return stream->device_lane == lane ||
	       (type == TS_ROW_KERNEL && stream->compute_lane == lane) ||
	       (type == TS_ROW_MEMCPY &&
		stream->copy_lanes[ts_tile_direction(item->key & LOW_BITS)] == lane);
}

static int add_to(const struct ts_tile_spread *spread, uint32_t lane,
		  const struct ts_tile_item *item)
{
	struct ts_tile_fill *fill = lane == TS_TILE_NO_LANE ? NULL : spread->fills[lane];

	return fill ? ts_tile_fill_add(fill, item->start_ns, item->end_ns, item->key) : 0;
}

static int add_operation(const struct ts_tile_spread *spread, const struct ts_tile_item *item)
{
	const struct ts_tile_lane *lane = &spread->tiles->lanes[item->lane];
	int r = add_to(spread, item->lane, item);

	r = r ? r : add_to(spread, lane->device_lane, item);
	if (r)
		return r;
	switch (ts_tile_key_type(item->key)) {
	case TS_ROW_KERNEL:
		return add_to(spread, lane->compute_lane, item);
	case TS_ROW_MEMCPY:
		return add_to(spread, lane->copy_lanes[ts_tile_direction(item->key & LOW_BITS)],
			      item);
	default:
		return 0;
	}
}

static int add_value(const struct ts_tile_spread *spread, const struct ts_tile_item *item,
		     double value)
{
	struct ts_tile_fill *fill = spread->fills[item->lane];

	return fill ? ts_tile_fill_add_value(fill, item->start_ns, item->key, value) : 0;
}

int ts_tile_spread_add(const struct ts_tile_spread *spread, const struct ts_tile_block *block,
		       uint32_t first, uint32_t n)
{
	int r = 0;

	for (uint32_t i = first; !r && i < first + n; i++) {
		const struct ts_tile_item *item = &block->items[i];

		if (item->lane == TS_TILE_NO_LANE)
			continue;
		if (block->values)
			r = add_value(spread, item, block->values[i]);
		else if (spread->tiles->lanes[item->lane].lane.kind == TS_LANE_STREAM)
			r = add_operation(spread, item);
		else
			r = add_to(spread, item->lane, item);
	}
	return r;
}

int ts_tile_fills_init(struct ts_tile_fills *fills, const struct ts_tiles *tiles)
{
	fills->n = tiles->n_lanes;
	fills->at = calloc(tiles->n_lanes + 1, sizeof(struct ts_tile_fill *));
	return fills->at ? 0 : -ENOMEM;
}

void ts_tile_fills_deinit(struct ts_tile_fills *fills)
{
	for (size_t i = 0; fills->at && i < fills->n; i++)
		if (fills->at[i]) {
			ts_tile_fill_deinit(fills->at[i]);
			free(fills->at[i]);
		}
	free(fills->at);
}

int ts_tile_fills_add(struct ts_tile_fills *fills, const struct ts_tiles *tiles,
		      const struct ts_tiles_view *view, uint32_t lane)
{
	if (fills->at[lane])
		return 0;
	fills->at[lane] = calloc(1, sizeof(struct ts_tile_fill));
	if (!fills->at[lane])
		return -ENOMEM;
	return ts_tile_fill_init(fills->at[lane], tiles->lanes[lane].lane.kind, view->level, 1,
				 view->first, view->n_tiles);
}

void ts_tile_fills_copy(const struct ts_tile_fills *fills, const struct ts_tiles_view *view,
			struct ts_tile_cell *cells)
{
	for (size_t i = 0; i < view->n_lanes; i++, cells += view->n_tiles * TS_TILE_CELLS) {
		const struct ts_tile_fill *fill = fills->at[view->lanes[i] - 1];

		for (uint32_t tile = 0; fill && tile < view->n_tiles; tile++)
			ts_tile_level_copy(&fill->levels[0], tile, &cells[tile * TS_TILE_CELLS]);
	}
}

bool ts_tiles_view_is_valid(const struct ts_tiles_view *view)
{
	uint64_t most;

	if (view->level > TS_TILE_MAX_LEVEL || !view->n_tiles)
		return false;
	most = (UINT64_C(1) << 63 >> view->level) / TS_TILE_CELLS;
	return view->first < most && view->n_tiles <= most - view->first &&
	       view->n_lanes <= MAX_CELLS / TS_TILE_CELLS / view->n_tiles;
}
