/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views of layers: other times for the rows of a trace, in memory, see tiles.h. tools/studio makes
 * layers of emulations. Views of a layer read its rows. Where a long layer has no rows, they read
 * its cells: tile-layer-long.c.
 */
#include "replay/report/tiles/tile-layer.h"

#include "proto/abi/grow.h"
#include "replay/report/tiles/tile-spread.h"

/* ---- views ----------------------------------------------------------------------------------- */

/* Returns an item at or before the first one that ends at or after the time. */
static size_t first_at(const struct ts_tiles_layer *layer, uint64_t from_ns)
{
	size_t low = 0, high = (layer->n + TS_TILE_LATEST - 1) / TS_TILE_LATEST;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (layer->latest_ns[middle] < from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	low *= TS_TILE_LATEST;
	return low < layer->n ? low : layer->n;
}

/* True if the layer has all rows of the span. */
static bool has_rows(const struct ts_tiles_layer *layer, uint64_t from_ns, uint64_t to_ns)
{
	return !layer->fills || (from_ns >= layer->rows_from_ns && to_ns <= layer->rows_to_ns);
}

int ts_tiles_layer_view(const struct ts_tiles_layer *layer, const struct ts_tiles_view *view,
			struct ts_tile_cell *ret_cells)
{
	const struct ts_tiles *tiles = layer->tiles;
	uint64_t width_ns, to_ns;
	struct ts_tile_fills fills = {0};
	struct ts_tile_spread spread = {.tiles = tiles};
	struct ts_tile_block block = {.items = layer->items};
	size_t first, last;
	int r = 0;

	if (!ts_tiles_view_is_valid(view))
		return -EINVAL;
	for (size_t i = 0; i < view->n_lanes; i++)
		if (!view->lanes[i] || view->lanes[i] > tiles->n_lanes)
			return TS_TILES_E_LANE;
	width_ns = (uint64_t)TS_TILE_CELLS << view->level;
	to_ns = (view->first + view->n_tiles) * width_ns;
	if (!has_rows(layer, view->first * width_ns, to_ns)) {
		ts_tile_layer_copy(layer, view, ret_cells);
		return 0;
	}
	r = ts_tile_fills_init(&fills, tiles);
	for (size_t i = 0; !r && i < view->n_lanes; i++)
		r = ts_tile_fills_add(&fills, tiles, view, view->lanes[i] - 1);
	first = last = first_at(layer, view->first * width_ns);
	while (last < layer->n && layer->items[last].start_ns < to_ns)
		last++;
	spread.fills = fills.at;
	r = r ? r : ts_tile_spread_add(&spread, &block, (uint32_t)first, (uint32_t)(last - first));
	for (size_t i = 0; !r && i < fills.n; i++)
		if (fills.at[i])
			r = ts_tile_fill_finish(fills.at[i]);
	if (!r) {
		memset(ret_cells, 0,
		       view->n_lanes * view->n_tiles * TS_TILE_CELLS * sizeof(*ret_cells));
		ts_tile_fills_copy(&fills, view, ret_cells);
	}
	ts_tile_fills_deinit(&fills);
	return r;
}

int ts_tiles_layer_rows(const struct ts_tiles_layer *layer, uint32_t lane, uint64_t from_ns,
			uint64_t to_ns, size_t limit, struct ts_tile_rows *ret_rows)
{
	struct ts_tile_rows rows = {0};
	size_t capacity = 0;

	if (!lane || lane > layer->tiles->n_lanes)
		return TS_TILES_E_LANE;
	rows.more = !has_rows(layer, from_ns, to_ns);
	for (size_t i = first_at(layer, from_ns);
	     !rows.more && i < layer->n && layer->items[i].start_ns < to_ns; i++) {
		const struct ts_tile_item *item = &layer->items[i];

		if (!ts_tile_spread_has(layer->tiles, lane - 1, item) ||
		    (item->end_ns <= from_ns && item->start_ns < from_ns))
			continue;
		if (rows.n == limit) {
			rows.more = true;
			break;
		}
		if (TS_GROW(rows.at, capacity, rows.n + 1)) {
			free(rows.at);
			return -ENOMEM;
		}
		rows.at[rows.n++] = (struct ts_tile_row){.start_ns = item->start_ns,
							 .end_ns = item->end_ns,
							 .op_id = layer->ops[i],
							 .key = item->key,
							 .type = ts_tile_key_type(item->key)};
	}
	*ret_rows = rows;
	return 0;
}
