/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a lane in a window: see tiles.h. tools/studio calls this module.
 */
#include "proto/abi/grow.h"
#include "replay/report/tiles/tile-fill.h"
#include "replay/report/tiles/tile-merge.h"
#include "replay/report/tiles/tile-spread.h"
#include "sbt/arrays.h"

/* Ends a merge that has enough rows. */
#define FULL 1

struct listing {
	const struct ts_tiles *tiles;
	uint32_t lane;
	uint64_t from_ns, to_ns;
	size_t limit, capacity;
	struct ts_tile_rows *rows;
	struct ts_tile_nest nest;
};

/* Returns the depth of the next row, or -ENOMEM. Rows of lanes without nesting have depth 0. */
static int depth_of(struct listing *listing, const struct ts_tile_item *item)
{
	return ts_tile_is_nested(listing->tiles->lanes[listing->lane].lane.kind)
		       ? ts_tile_nest_add(&listing->nest, item->start_ns, item->end_ns)
		       : 0;
}

static int take(void *data, const struct ts_tile_block *block, uint32_t first, uint32_t n)
{
	struct listing *listing = data;
	struct ts_tile_rows *rows = listing->rows;

	for (uint32_t i = first; i < first + n; i++) {
		const struct ts_tile_item *item = &block->items[i];
		struct ts_tile_row *row;
		int depth;

		if (!ts_tile_spread_has(listing->tiles, listing->lane, item) ||
		    (item->end_ns <= listing->from_ns && item->start_ns < listing->from_ns) ||
		    item->start_ns >= listing->to_ns)
			continue;
		depth = depth_of(listing, item);
		if (depth < 0)
			return depth;
		if (rows->n == listing->limit) {
			rows->more = true;
			return FULL;
		}
		if (TS_GROW(rows->at, listing->capacity, rows->n + 1))
			return -ENOMEM;
		row = &rows->at[rows->n++];
		*row = (struct ts_tile_row){.start_ns = item->start_ns,
					    .end_ns = item->end_ns,
					    .key = item->key,
					    .depth = (uint32_t)depth,
					    .type = ts_tile_key_type(item->key),
					    .index = i,
					    .block = block->block};
	}
	return 0;
}

/* ---- columns that only lists of rows have ---------------------------------------------------- */

/* Sets the operation or the value of all listed rows of block rows[i].block. */
static int read_block(struct ts_sbt_reader *reader, struct ts_tile_rows *rows, size_t i,
		      uint8_t *done)
{
	uint64_t block = rows->at[i].block;
	const struct ts_row_schema *schema =
		ts_row_schema(ts_sbt_reader_block(reader, block)->type);
	ts_cleanup(ts_sbt_arrays_freep) struct ts_sbt_arrays *arrays = NULL;
	int op = ts_row_column(schema, "op_id"), value = ts_row_column(schema, "value");
	const uint64_t *ops;
	const double *values;
	int r;

	if (schema->type != TS_ROW_COUNTER)
		value = -1;
	r = op < 0 && value < 0
		    ? 0
		    : ts_sbt_arrays_new(reader, block,
					op >= 0 ? TS_SBT_COLUMN(op) : TS_SBT_COLUMN(value),
					&arrays);
	if (r)
		return r;
	ops = arrays ? ts_sbt_arrays_column(arrays, op) : NULL;
	values = arrays && value >= 0 ? ts_sbt_arrays_column(arrays, value) : NULL;
	for (size_t k = i; k < rows->n; k++) {
		struct ts_tile_row *row = &rows->at[k];

		if (row->block != block)
			continue;
		done[k] = 1;
		row->op_id = ops ? ops[row->index] : 0;
		row->value = values ? values[row->index] : 0;
	}
	return 0;
}

static int read_more(struct ts_sbt_reader *reader, struct ts_tile_rows *rows)
{
	ts_cleanup(ts_freep) uint8_t *done = calloc(rows->n + 1, 1);
	int r = done ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < rows->n; i++)
		if (!done[i])
			r = read_block(reader, rows, i, done);
	return r;
}

int ts_tile_row_complete(struct ts_sbt_reader *reader, struct ts_tile_row *row)
{
	struct ts_tile_rows rows = {.at = row, .n = 1};

	return read_more(reader, &rows);
}

int ts_tiles_rows(struct ts_tiles *tiles, struct ts_sbt_reader *reader, uint32_t lane,
		  uint64_t from_ns, uint64_t to_ns, size_t limit, bool (*is_cancelled)(void *data),
		  void *data, struct ts_tile_rows *ret_rows)
{
	ts_cleanup(ts_freep) uint8_t *lanes = NULL;
	struct ts_tile_rows rows = {0};
	struct listing listing = {.tiles = tiles,
				  .lane = lane - 1,
				  .from_ns = from_ns,
				  .to_ns = to_ns,
				  .limit = limit,
				  .rows = &rows};
	struct ts_tile_merge_options options = {.from_ns = from_ns,
						.to_ns = to_ns,
						.keep = true,
						.is_cancelled = is_cancelled,
						.cancel_data = data,
						.take = take,
						.data = &listing};
	int r = 0;

	if (!lane || lane > tiles->n_lanes)
		return TS_TILES_E_LANE;
	lanes = calloc(tiles->n_lanes, 1);
	if (!lanes)
		return -ENOMEM;
	lanes[lane - 1] = 1;
	options.lanes = lanes;
	if (tiles->lanes[lane - 1].unit != TS_TILE_NO_LANE) {
		options.unit = &tiles->units[tiles->lanes[lane - 1].unit];
		r = ts_tile_merge(tiles, reader, &options, &rows.is_damaged);
	}
	free(listing.nest.ends);
	if (!r || r == FULL)
		r = read_more(reader, &rows);
	if (r) {
		free(rows.at);
		return r;
	}
	*ret_rows = rows;
	return 0;
}
