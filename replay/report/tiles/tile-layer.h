/* SPDX-License-Identifier: Apache-2.0 */
/* A layer in memory: see tiles.h. Private to replay/report/tiles. */
#pragma once

#include "replay/report/tiles/tile-fill.h"

/* Rows that share an entry of `latest_ns`. */
#define TS_TILE_LATEST 64u

struct ts_tiles_layer {
	const struct ts_tiles *tiles;
	size_t n, capacity;
	struct ts_tile_item *items; /* by start */
	uint64_t *ops;
	/* Entry i: the latest end of the first (i + 1) * TS_TILE_LATEST items. */
	uint64_t *latest_ns;
	/* A long layer has all rows that touch this span, and cells of all rows. */
	uint64_t rows_from_ns, rows_to_ns;
	struct ts_tile_fill **fills; /* by lane; NULL: the layer has all rows */
	size_t n_fills;
	/* While a long layer is made. */
	struct ts_tiles_layer_row *pending;
	size_t n_pending, pending_capacity, max_rows;
	uint64_t last_ns; /* the start of the last row in the cells */
	uint64_t n_bytes; /* of the cells */
};

/* Orders rows by start, then by operation. The caller frees *ret_order. Returns 0 or -ENOMEM. */
int ts_tile_layer_order(const struct ts_tiles_layer_row *rows, size_t n, uint32_t **ret_order);
/* Makes room for n rows. Returns 0 or -ENOMEM. */
int ts_tile_layer_reserve(struct ts_tiles_layer *layer, size_t n);
/* Appends a row that starts at or after the last one. There must be room. */
void ts_tile_layer_append(struct ts_tiles_layer *layer, const struct ts_tiles_layer_row *row);
bool ts_tile_layer_has(const struct ts_tiles_layer *layer, const struct ts_tiles_layer_row *row);

/* tile-layer-long.c */
/* Copies the cells of a long layer. */
void ts_tile_layer_copy(const struct ts_tiles_layer *layer, const struct ts_tiles_view *view,
			struct ts_tile_cell *ret_cells);
