/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates of cells from the list of blocks: each block's rows and time at work are spread evenly
 * over its window and its lanes. tile-index.c calls this module for the part of a trace that it has
 * not read.
 */
#include "replay/report/tiles/tile-index.h"

struct estimate {
	const struct ts_tiles_view *view;
	uint64_t from_ns, to_ns; /* of the cells that are estimated */
	uint64_t n_cells;
	double *counts, *busy_ns;
};

static uint64_t since(const struct ts_tiles *tiles, uint64_t ns)
{
	return ns > tiles->origin_ns ? ns - tiles->origin_ns : 0;
}

/* Spreads rows and time of a block over its window [from_ns, to_ns]. */
static void spread(const struct estimate *estimate, uint64_t from_ns, uint64_t to_ns, double n_rows,
		   double busy_ns)
{
	uint32_t level = estimate->view->level;
	uint64_t first_ns = from_ns > estimate->from_ns ? from_ns : estimate->from_ns;
	uint64_t last_ns = to_ns < estimate->to_ns - 1 ? to_ns : estimate->to_ns - 1;
	uint64_t first_cell = estimate->view->first * TS_TILE_CELLS;
	double whole_ns = (double)(to_ns - from_ns) + 1;

	if (last_ns < first_ns)
		return;
	for (uint64_t cell = first_ns >> level; cell <= last_ns >> level; cell++) {
		uint64_t begin_ns = cell << level, end_ns = (cell + 1) << level;
		double part;

		begin_ns = begin_ns > first_ns ? begin_ns : first_ns;
		end_ns = end_ns < last_ns + 1 ? end_ns : last_ns + 1;
		part = (double)(end_ns - begin_ns) / whole_ns;
		estimate->counts[cell - first_cell] += part * n_rows;
		estimate->busy_ns[cell - first_cell] += part * busy_ns;
	}
}

/* Returns the share of a part's rows that the lane has. */
static double share_of(const struct ts_tiles *tiles, const struct ts_tile_part *part, uint32_t lane,
		       uint32_t type)
{
	const struct ts_tile_lane *of = &tiles->lanes[part->lane];

	if (part->lane == lane)
		return 1;
	if (of->lane.kind != TS_LANE_STREAM)
		return 0;
	if (of->device_lane == lane)
		return 1;
	if (of->compute_lane == lane)
		return type == TS_ROW_KERNEL;
	for (unsigned i = 0; i < TS_LANE_DIRECTIONS; i++)
		if (of->copy_lanes[i] == lane)
			return type == TS_ROW_MEMCPY ? 1.0 / TS_LANE_DIRECTIONS : 0;
	return 0;
}

static void add_parts(struct ts_tiles *tiles, struct ts_sbt_reader *reader, uint32_t lane,
		      const struct estimate *estimate)
{
	const struct ts_tile_unit *unit = &tiles->units[tiles->lanes[lane].unit];

	for (size_t i = 0; i < unit->n_parts; i++) {
		const struct ts_tile_part *part = &unit->parts[i];
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, part->block);
		double share = share_of(tiles, part, lane, block->type);

		if (share > 0)
			spread(estimate, since(tiles, block->earliest_ns),
			       since(tiles, block->latest_ns), share * part->n_rows,
			       share * (double)block->duration_ns * part->n_rows / block->n_rows);
	}
}

static uint32_t limited(double value, uint32_t most)
{
	return value < most ? (uint32_t)value : most;
}

int ts_tile_estimate(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		     const struct ts_tiles_view *view, uint32_t lane, uint64_t from_ns,
		     struct ts_tile_cell *cells)
{
	uint64_t width_ns = (uint64_t)TS_TILE_CELLS << view->level;
	struct estimate estimate = {.view = view,
				    .from_ns = view->first * width_ns,
				    .to_ns = (view->first + view->n_tiles) * width_ns,
				    .n_cells = (uint64_t)view->n_tiles * TS_TILE_CELLS};
	double cell_ns = (double)(UINT64_C(1) << view->level);

	from_ns = from_ns >> view->level << view->level;
	estimate.from_ns = from_ns > estimate.from_ns ? from_ns : estimate.from_ns;
	if (estimate.from_ns >= estimate.to_ns)
		return 0;
	estimate.counts = calloc(2 * estimate.n_cells, sizeof(*estimate.counts));
	if (!estimate.counts)
		return -ENOMEM;
	estimate.busy_ns = estimate.counts + estimate.n_cells;
	add_parts(tiles, reader, lane, &estimate);
	for (uint64_t i = 0; i < estimate.n_cells; i++) {
		uint32_t count = limited(estimate.counts[i] + 0.5, UINT32_MAX);
		uint32_t share =
			limited(estimate.busy_ns[i] / cell_ns * TS_TILE_MILLION, TS_TILE_MILLION);

		/* The values of rows that were not read are unknown. */
		if (tiles->lanes[lane].lane.kind == TS_LANE_COUNTER && !cells[i].count && count)
			share = cells[i].key_share = TS_TILE_NO_VALUE;
		/* Cells that were read in part have more than the estimate's zeros. */
		cells[i].count = count > cells[i].count ? count : cells[i].count;
		cells[i].share = share > cells[i].share ? share : cells[i].share;
	}
	free(estimate.counts);
	return 0;
}
