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

/* Adds n rows of a block. Returns 0 or -ENOMEM. */
int ts_tile_spread_add(const struct ts_tile_spread *spread, const struct ts_tile_block *block,
		       uint32_t first, uint32_t n);
