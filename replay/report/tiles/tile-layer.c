/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers: other times for the rows of a trace, in memory, see tiles.h. tools/studio makes layers of
 * emulations. A layer is small, so its views read its rows.
 */
#include "proto/abi/grow.h"
#include "replay/report/tiles/tile-spread.h"

struct ts_tiles_layer {
	const struct ts_tiles *tiles;
	size_t n;
	struct ts_tile_item *items; /* by start */
	uint64_t *ops;
	uint64_t *latest_ns; /* the latest end of each item and all before it */
};

static int by_start(const void *left, const void *right)
{
	const struct ts_tiles_layer_row *a = left, *b = right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->op_id > b->op_id) - (a->op_id < b->op_id);
}

int ts_tiles_layer_new(const struct ts_tiles *tiles, struct ts_tiles_layer_row *rows, size_t n_rows,
		       struct ts_tiles_layer **ret_layer)
{
	struct ts_tiles_layer *layer = calloc(1, sizeof(*layer));
	uint64_t latest_ns = 0;

	if (!layer)
		return -ENOMEM;
	layer->tiles = tiles;
	layer->items = malloc((n_rows + 1) * sizeof(*layer->items));
	layer->ops = malloc((n_rows + 1) * sizeof(*layer->ops));
	layer->latest_ns = malloc((n_rows + 1) * sizeof(*layer->latest_ns));
	if (!layer->items || !layer->ops || !layer->latest_ns) {
		ts_tiles_layer_free(layer);
		return -ENOMEM;
	}
	qsort(rows, n_rows, sizeof(*rows), by_start);
	for (size_t i = 0; i < n_rows; i++) {
		const struct ts_tiles_layer_row *row = &rows[i];

		if (!row->lane || row->lane > tiles->n_lanes)
			continue;
		latest_ns = row->end_ns > latest_ns ? row->end_ns : latest_ns;
		layer->items[layer->n] =
			(struct ts_tile_item){.start_ns = row->start_ns,
					      .end_ns = row->end_ns > row->start_ns ? row->end_ns
										    : row->start_ns,
					      .key = row->key,
					      .lane = row->lane - 1};
		layer->ops[layer->n] = row->op_id;
		layer->latest_ns[layer->n++] = latest_ns;
	}
	*ret_layer = layer;
	return 0;
}

void ts_tiles_layer_free(struct ts_tiles_layer *layer)
{
	if (!layer)
		return;
	free(layer->items);
	free(layer->ops);
	free(layer->latest_ns);
	free(layer);
}

/* Returns the first item of which one at or before it ends after the time, or is at it. */
static size_t first_at(const struct ts_tiles_layer *layer, uint64_t from_ns)
{
	size_t low = 0, high = layer->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (layer->latest_ns[middle] < from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
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
	r = ts_tile_fills_init(&fills, tiles);
	for (size_t i = 0; !r && i < view->n_lanes; i++)
		r = ts_tile_fills_add(&fills, tiles, view, view->lanes[i] - 1);
	width_ns = (uint64_t)TS_TILE_CELLS << view->level;
	to_ns = (view->first + view->n_tiles) * width_ns;
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
	for (size_t i = first_at(layer, from_ns); i < layer->n && layer->items[i].start_ns < to_ns;
	     i++) {
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
