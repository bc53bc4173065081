/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long layers: see tiles.h. tools/studio makes them of emulations in windows. The rows come window
 * by window. They wait until no later window has earlier rows, and then go to the cells of their
 * lanes, as the rows of a trace go to its index.
 */
#include "replay/report/tiles/tile-layer.h"

#include "proto/abi/grow.h"
#include "replay/report/tiles/tile-spread.h"

/* Cells of the finest level of all lanes; the coarser ones are as many again. 16 bytes each. */
#define MAX_CELLS (UINT64_C(1) << 19)
/* The finest level is given up if the cells have more memory, as those of a slower program may. */
#define MAX_BYTES (UINT64_C(20) << 20)
/* Rows that wait; if there are more, the earlier half goes to the cells at once. */
#define MAX_PENDING ((size_t)1 << 18)
/* Rows that go to the cells together. */
#define BATCH 1024u

static bool has_cells(uint32_t kind)
{
	return kind == TS_LANE_THREAD || kind == TS_LANE_STREAM || kind == TS_LANE_DEVICE ||
	       kind == TS_LANE_COMPUTE || kind == TS_LANE_COPY;
}

static int add_fill(struct ts_tiles_layer *layer, size_t lane, uint32_t level, uint64_t most_ns)
{
	struct ts_tile_fill *fill = calloc(1, sizeof(*fill));
	unsigned n_levels = 1;
	int r;

	if (!fill)
		return -ENOMEM;
	layer->fills[lane] = fill;
	while (level + n_levels <= TS_TILE_MAX_LEVEL && most_ns >> (level + n_levels - 1))
		n_levels++;
	r = ts_tile_fill_init(fill, layer->tiles->lanes[lane].lane.kind, level, n_levels, 0,
			      (most_ns >> level) / TS_TILE_CELLS + 1);
	fill->n_bytes = &layer->n_bytes;
	fill->max_bytes = UINT64_MAX;
	return r;
}

int ts_tiles_layer_begin(const struct ts_tiles *tiles, const struct ts_tiles_layer_plan *plan,
			 struct ts_tiles_layer **ret_layer)
{
	ts_cleanup(ts_tiles_layer_freep) struct ts_tiles_layer *layer = calloc(1, sizeof(*layer));
	uint64_t n_lanes = 0;
	uint32_t level = 0;
	int r = 0;

	if (!layer)
		return -ENOMEM;
	layer->tiles = tiles;
	layer->rows_from_ns = plan->rows_from_ns;
	layer->rows_to_ns = UINT64_MAX;
	layer->max_rows = plan->max_rows;
	layer->fills = calloc(tiles->n_lanes + 1, sizeof(struct ts_tile_fill *));
	if (!layer->fills)
		return -ENOMEM;
	layer->n_fills = tiles->n_lanes;
	for (size_t i = 0; i < tiles->n_lanes; i++)
		n_lanes += has_cells(tiles->lanes[i].lane.kind);
	/* A lane's last tile is there even if it has one cell. */
	while (level < TS_TILE_MAX_LEVEL &&
	       ((tiles->duration_ns >> level) + TS_TILE_CELLS) * n_lanes > MAX_CELLS)
		level++;
	for (size_t i = 0; !r && i < tiles->n_lanes; i++)
		if (has_cells(tiles->lanes[i].lane.kind))
			r = add_fill(layer, i, level, plan->most_ns);
	if (!r)
		*ret_layer = ts_take_ptr(layer);
	return r;
}

int ts_tiles_layer_add(struct ts_tiles_layer *layer, const struct ts_tiles_layer_row *row)
{
	if (!ts_tile_layer_has(layer, row))
		return 0;
	if (TS_GROW(layer->pending, layer->pending_capacity, layer->n_pending + 1))
		return -ENOMEM;
	layer->pending[layer->n_pending++] = *row;
	return 0;
}

/* Keeps a row of the span, until there are max_rows. */
static int keep(struct ts_tiles_layer *layer, const struct ts_tiles_layer_row *row)
{
	size_t n;

	if (row->start_ns >= layer->rows_to_ns ||
	    (row->end_ns <= layer->rows_from_ns && row->start_ns < layer->rows_from_ns))
		return 0;
	if (layer->n == layer->max_rows) {
		layer->rows_to_ns = row->start_ns;
		return 0;
	}
	if (layer->n == layer->capacity) {
		n = layer->capacity ? 2 * layer->capacity : BATCH;
		if (ts_tile_layer_reserve(layer, n < layer->max_rows ? n : layer->max_rows))
			return -ENOMEM;
	}
	ts_tile_layer_append(layer, row);
	return 0;
}

static int coarsen(struct ts_tiles_layer *layer)
{
	uint64_t n_bytes;
	int r = 0;

	do {
		n_bytes = layer->n_bytes;
		for (size_t i = 0; !r && n_bytes > MAX_BYTES && i < layer->n_fills; i++)
			if (layer->fills[i])
				r = ts_tile_fill_coarsen(layer->fills[i]);
	} while (!r && layer->n_bytes < n_bytes);
	return r;
}

/* Puts the first n rows of the order into the cells. */
static int put(struct ts_tiles_layer *layer, const uint32_t *order, size_t n)
{
	struct ts_tile_item items[BATCH];
	const struct ts_tile_spread spread = {.tiles = layer->tiles, .fills = layer->fills};
	const struct ts_tile_block block = {.items = items};
	uint32_t n_items = 0;
	int r = 0;

	for (size_t i = 0; !r && i < n; i++) {
		struct ts_tiles_layer_row row = layer->pending[order[i]];

		row.start_ns = row.start_ns > layer->last_ns ? row.start_ns : layer->last_ns;
		row.end_ns = row.end_ns > row.start_ns ? row.end_ns : row.start_ns;
		layer->last_ns = row.start_ns;
		r = keep(layer, &row);
		items[n_items++] = (struct ts_tile_item){.start_ns = row.start_ns,
							 .end_ns = row.end_ns,
							 .key = row.key,
							 .lane = row.lane - 1};
		if (!r && (n_items == BATCH || i + 1 == n)) {
			r = ts_tile_spread_add(&spread, &block, 0, n_items);
			r = r ? r : coarsen(layer);
			n_items = 0;
		}
	}
	return r;
}

/* Keeps the rows that are not among the first n of the order. */
static int drop(struct ts_tiles_layer *layer, const uint32_t *order, size_t n)
{
	size_t n_left = layer->n_pending - n;
	struct ts_tiles_layer_row *left = malloc((n_left + 1) * sizeof(*left));

	if (!left)
		return -ENOMEM;
	for (size_t i = 0; i < n_left; i++)
		left[i] = layer->pending[order[n + i]];
	free(layer->pending);
	layer->pending = left;
	layer->pending_capacity = n_left + 1;
	layer->n_pending = n_left;
	return 0;
}

static int finish(struct ts_tiles_layer *layer)
{
	int r = 0;

	free(layer->pending);
	layer->pending = NULL;
	layer->pending_capacity = layer->n_pending = 0;
	for (size_t i = 0; !r && i < layer->n_fills; i++)
		if (layer->fills[i])
			r = ts_tile_fill_finish(layer->fills[i]);
	return r;
}

int ts_tiles_layer_settle(struct ts_tiles_layer *layer, uint64_t until_ns)
{
	ts_cleanup(ts_freep) uint32_t *order = NULL;
	size_t n = 0;
	int r = ts_tile_layer_order(layer->pending, layer->n_pending, &order);

	if (r)
		return r;
	while (n < layer->n_pending && layer->pending[order[n]].start_ns < until_ns)
		n++;
	if (layer->n_pending - n > MAX_PENDING)
		n = layer->n_pending - MAX_PENDING / 2;
	r = put(layer, order, n);
	if (r)
		return r;
	return until_ns == UINT64_MAX ? finish(layer) : drop(layer, order, n);
}

void ts_tiles_layer_span(const struct ts_tiles_layer *layer, uint64_t *ret_from_ns,
			 uint64_t *ret_to_ns)
{
	*ret_from_ns = layer->rows_from_ns;
	*ret_to_ns = layer->rows_to_ns;
}

/* ---- views ----------------------------------------------------------------------------------- */

/* Writes cells that are finer than those of the fill: each is a part of a coarser one. */
static void copy_parts(const struct ts_tile_fill *fill, const struct ts_tiles_view *view,
		       struct ts_tile_cell *cells)
{
	const struct ts_tile_level *level = &fill->levels[0];
	unsigned apart = level->level - view->level;
	uint64_t first = view->first * TS_TILE_CELLS, n = (uint64_t)view->n_tiles * TS_TILE_CELLS;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t cell = (first + i) >> apart, tile = cell / TS_TILE_CELLS;
		uint64_t part = (first + i) & ((UINT64_C(1) << apart) - 1);
		const struct ts_tile_cell *from;

		/* The tiles of layers are not packed. */
		if (tile >= level->n_tiles || !level->tiles[tile].cells)
			continue;
		from = &level->tiles[tile].cells[cell % TS_TILE_CELLS];
		cells[i] = *from;
		/* The parts add up to the rows of the whole. */
		cells[i].count = apart < 32 ? (uint32_t)(((part + 1) * from->count >> apart) -
							 (part * from->count >> apart))
					    : 0;
	}
}

void ts_tile_layer_copy(const struct ts_tiles_layer *layer, const struct ts_tiles_view *view,
			struct ts_tile_cell *ret_cells)
{
	size_t n = (size_t)view->n_tiles * TS_TILE_CELLS;

	memset(ret_cells, 0, view->n_lanes * n * sizeof(*ret_cells));
	for (size_t i = 0; i < view->n_lanes; i++) {
		const struct ts_tile_fill *fill = layer->fills[view->lanes[i] - 1];

		if (!fill)
			continue;
		if (view->level < fill->levels[0].level)
			copy_parts(fill, view, &ret_cells[i * n]);
		else
			ts_tile_fill_copy(fill, view, &ret_cells[i * n]);
	}
}
