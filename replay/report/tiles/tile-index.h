/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index: the cells of the whole trace at one level and all coarser ones, in memory. Private to
 * replay/report/tiles.
 *
 * ts_tiles_build() reads each unit once, in order of time. Until then, ts_tile_index_copy() fills
 * in estimates. The level is chosen so that a cell has some hundred rows where the trace is dense:
 * views of finer cells then have few rows, and are read from the blocks.
 */
#pragma once

#include "replay/report/tiles/tile-fill.h"

/* Chooses the level. Returns 0 or -ENOMEM. */
int ts_tile_index_plan(struct ts_tiles *tiles, struct ts_sbt_reader *reader);
void ts_tile_index_deinit(struct ts_tiles *tiles);

/* True if a view of this unit is answered from the index, and not from the blocks. */
bool ts_tile_index_answers(struct ts_tiles *tiles, struct ts_sbt_reader *reader, uint32_t number,
			   const struct ts_tiles_view *view);

/*
 * Writes the cells of a lane. Returns 0 or -ENOMEM, and sets *is_exact to false if estimates are
 * among them.
 */
int ts_tile_index_copy(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		       const struct ts_tiles_view *view, uint32_t lane, struct ts_tile_cell *cells,
		       bool *is_exact, bool *is_damaged);

/* tile-estimate.c */
/* Adds estimates for the blocks of a lane from `from_ns` on. Returns 0 or -ENOMEM. */
int ts_tile_estimate(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		     const struct ts_tiles_view *view, uint32_t lane, uint64_t from_ns,
		     struct ts_tile_cell *cells);
