/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a lane in a window: see tiles.h. tools/studio calls this module.
 *
 * Rows come in order of start. Rows that start together come as the blocks do: an inner range ends
 * first, so the file has it before the outer one. They are sorted here, and then get their depths.
 * So the order is the same in each window. So are the depths, but of rows that started before the
 * window and overlap others without being nested.
 */
#include "proto/abi/grow.h"
#include "replay/report/tiles/tile-fill.h"
#include "replay/report/tiles/tile-merge.h"
#include "replay/report/tiles/tile-spread.h"
#include "sbt/arrays.h"

/* Ends a merge that has enough rows. */
#define FULL 1
/* Rows of one start beyond the limit that are kept before they are sorted. */
#define SPARE_ROWS 4096u

struct listing {
	const struct ts_tiles *tiles;
	uint32_t lane;
	uint64_t from_ns, to_ns;
	size_t limit, capacity;
	struct ts_tile_rows *rows;
};

/* Orders rows that start together: the longest first, then by their place in the file. */
static int compare_rows(const void *left, const void *right)
{
	const struct ts_tile_row *a = left, *b = right;

	if (a->end_ns != b->end_ns)
		return a->end_ns > b->end_ns ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* Sorts the rows that start together, from `first` on, and leaves out those beyond the limit. */
static void sort_rows(struct listing *listing, size_t first)
{
	struct ts_tile_rows *rows = listing->rows;

	for (size_t i = first, n; i < rows->n; i += n) {
		n = 1;
		while (i + n < rows->n && rows->at[i + n].start_ns == rows->at[i].start_ns)
			n++;
		if (n > 1)
			qsort(&rows->at[i], n, sizeof(*rows->at), compare_rows);
	}
	if (rows->n > listing->limit) {
		rows->n = listing->limit;
		rows->more = true;
	}
}

/* Returns the first of the last rows that start together. */
static size_t find_last_start(const struct ts_tile_rows *rows)
{
	size_t first = rows->n;

	while (first && rows->at[first - 1].start_ns == rows->at[rows->n - 1].start_ns)
		first--;
	return first;
}

/* Sets the depths of nested rows. Returns 0 or -ENOMEM. */
static int set_depths(struct listing *listing)
{
	struct ts_tile_rows *rows = listing->rows;
	struct ts_tile_nest nest = {0};
	int depth = 0;

	if (!ts_tile_is_nested(listing->tiles->lanes[listing->lane].lane.kind))
		return 0;
	for (size_t i = 0; depth >= 0 && i < rows->n; i++) {
		depth = ts_tile_nest_add(&nest, rows->at[i].start_ns, rows->at[i].end_ns);
		rows->at[i].depth = (uint32_t)depth;
	}
	free(nest.ends);
	return depth < 0 ? depth : 0;
}

static int take(void *data, const struct ts_tile_block *block, uint32_t first, uint32_t n)
{
	struct listing *listing = data;
	struct ts_tile_rows *rows = listing->rows;

	for (uint32_t i = first; i < first + n; i++) {
		const struct ts_tile_item *item = &block->items[i];
		struct ts_tile_row *row;

		if (!ts_tile_spread_has(listing->tiles, listing->lane, item) ||
		    (item->end_ns <= listing->from_ns && item->start_ns < listing->from_ns) ||
		    item->start_ns >= listing->to_ns)
			continue;
		if (rows->n >= listing->limit &&
		    (!rows->n || item->start_ns != rows->at[rows->n - 1].start_ns)) {
			rows->more = true;
			return FULL;
		}
		if (rows->n >= listing->limit + SPARE_ROWS)
			sort_rows(listing, find_last_start(rows));
		if (TS_GROW(rows->at, listing->capacity, rows->n + 1))
			return -ENOMEM;
		row = &rows->at[rows->n++];
		*row = (struct ts_tile_row){.start_ns = item->start_ns,
					    .end_ns = item->end_ns,
					    .key = item->key,
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
	if (!r || r == FULL) {
		sort_rows(&listing, 0);
		r = set_depths(&listing);
	}
	r = r ? r : read_more(reader, &rows);
	if (r) {
		free(rows.at);
		return r;
	}
	*ret_rows = rows;
	return 0;
}
