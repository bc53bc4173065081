/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives the rows of a merge to the fills of their lanes. Private to replay/report/tiles.
 */
#pragma once

#include "replay/report/tiles/tile-fill.h"

/* One fill per lane of the trace; NULL: the lane is not wanted. */
struct ts_tile_spread {
	const struct ts_tiles *tiles;
	struct ts_tile_fill **fills;
};

/* Returns true if the row belongs to the lane, a number. */
bool ts_tile_spread_has(const struct ts_tiles *tiles, uint32_t lane,
			const struct ts_tile_item *item);

/*
 * The fills of a view, by the number of the lane. Zero is empty; the caller frees them with
 * ts_tile_fills_deinit().
 */
struct ts_tile_fills {
	size_t n;
	struct ts_tile_fill **at;
};

int ts_tile_fills_init(struct ts_tile_fills *fills, const struct ts_tiles *tiles);
void ts_tile_fills_deinit(struct ts_tile_fills *fills);
/* Makes the fill of a lane, unless it is there. Returns 0 or -ENOMEM. */
int ts_tile_fills_add(struct ts_tile_fills *fills, const struct ts_tiles *tiles,
		      const struct ts_tiles_view *view, uint32_t lane);
/* Copies the cells of the lanes that have fills. */
void ts_tile_fills_copy(const struct ts_tile_fills *fills, const struct ts_tiles_view *view,
			struct ts_tile_cell *cells);
/* Returns false for cells behind the end of time, and for too many of them. */
bool ts_tiles_view_is_valid(const struct ts_tiles_view *view);

/* Adds n rows of a block. Returns 0 or -ENOMEM. */
int ts_tile_spread_add(const struct ts_tile_spread *spread, const struct ts_tile_block *block,
		       uint32_t first, uint32_t n);
