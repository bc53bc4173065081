/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges the blocks of a unit: see tile-merge.h. tiles.c, tile-index.c and tile-rows.c call this
 * module. Each block is in order of start. Blocks of one unit overlap little, so few are open at a
 * time, and long runs of rows come from the same block.
 */
#include "replay/report/tiles/tile-merge.h"

/* Memory of the blocks that are open at a time. */
#define MAX_OPEN_BYTES (UINT64_C(96) << 20)
#define MAX_OPEN       1024u

struct open_block {
	struct ts_tile_block *block;
	uint32_t at;
};

struct merge {
	struct ts_tiles *tiles;
	struct ts_sbt_reader *reader;
	const struct ts_tile_merge_options *options;
	struct open_block open[MAX_OPEN];
	size_t n_open;
	uint64_t open_bytes;
	size_t next;	/* in the unit's list of blocks */
	bool is_wanted; /* find_next() has found the next block; each run asks for it again */
	bool is_damaged;
};

static uint64_t since(const struct ts_tiles *tiles, uint64_t ns)
{
	return ns > tiles->origin_ns ? ns - tiles->origin_ns : 0;
}

/* Returns the first part of a block, or the place where it would be. */
static size_t find_part(const struct ts_tile_unit *unit, uint32_t block)
{
	size_t low = 0, high = unit->n_parts;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (unit->parts[middle].block < block)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool is_lane_wanted(const struct merge *merge, uint32_t lane)
{
	return lane != TS_TILE_NO_LANE && merge->options->lanes[lane];
}

static bool is_part_wanted(const struct merge *merge, const struct ts_tile_part *part,
			   uint32_t type)
{
	const struct ts_tile_lane *of = &merge->tiles->lanes[part->lane];

	if (is_lane_wanted(merge, part->lane))
		return true;
	if (of->lane.kind != TS_LANE_STREAM)
		return false;
	if (is_lane_wanted(merge, of->device_lane) ||
	    (type == TS_ROW_KERNEL && is_lane_wanted(merge, of->compute_lane)))
		return true;
	for (unsigned i = 0; type == TS_ROW_MEMCPY && i < TS_LANE_DIRECTIONS; i++)
		if (is_lane_wanted(merge, of->copy_lanes[i]))
			return true;
	return false;
}

/* Returns false if the block has no rows of wanted lanes. */
static bool is_wanted(const struct merge *merge, uint32_t number, uint32_t type)
{
	const struct ts_tile_unit *unit = merge->options->unit;
	size_t first, i;

	if (!merge->options->lanes)
		return true;
	first = find_part(unit, number);
	for (i = first; i < unit->n_parts && unit->parts[i].block == number; i++)
		if (is_part_wanted(merge, &unit->parts[i], type))
			return true;
	/* The lanes of some blocks are unknown: those of counters, and damaged ones. */
	return i == first;
}

/* Moves `next` to a block of the window. Returns false if there is none. */
static bool find_next(struct merge *merge)
{
	const struct ts_tile_unit *unit = merge->options->unit;

	if (merge->is_wanted)
		return true;
	for (; merge->next < unit->n_blocks; merge->next++) {
		const struct ts_sbt_block *block =
			ts_sbt_reader_block(merge->reader, unit->blocks[merge->next]);

		if (since(merge->tiles, block->earliest_ns) >= merge->options->to_ns)
			return false;
		if (since(merge->tiles, block->latest_ns) >= merge->options->from_ns &&
		    is_wanted(merge, unit->blocks[merge->next], block->type)) {
			merge->is_wanted = true;
			return true;
		}
	}
	return false;
}

static uint64_t next_earliest(const struct merge *merge)
{
	return since(merge->tiles,
		     ts_sbt_reader_block(merge->reader, merge->options->unit->blocks[merge->next])
			     ->earliest_ns);
}

static void close_block(struct merge *merge, size_t i)
{
	merge->open_bytes -= merge->open[i].block->n_bytes;
	ts_tile_block_release(merge->tiles, merge->open[i].block);
	merge->open[i] = merge->open[--merge->n_open];
}

static int open_next(struct merge *merge)
{
	const struct ts_tile_merge_options *options = merge->options;
	struct ts_tile_block *block;
	int r;

	if (options->is_cancelled && options->is_cancelled(options->cancel_data))
		return -ECANCELED;
	if (merge->n_open == MAX_OPEN || merge->open_bytes > MAX_OPEN_BYTES)
		return TS_TILES_E_OVERLAP;
	merge->is_wanted = false;
	r = ts_tile_block_get(merge->tiles, merge->reader, options->unit->blocks[merge->next++],
			      options->keep, &block);
	if (r == TS_SBT_E_CORRUPT) {
		merge->is_damaged = true;
		return 0;
	}
	if (r)
		return r;
	merge->open[merge->n_open++] = (struct open_block){.block = block};
	merge->open_bytes += block->n_bytes;
	if (!block->n)
		close_block(merge, merge->n_open - 1);
	return 0;
}

static uint64_t start_of(const struct open_block *open)
{
	return open->block->items[open->at].start_ns;
}

/* Returns the open block whose next row starts first, and the start of any other block's row. */
static size_t find_first(const struct merge *merge, uint64_t *ret_other_ns)
{
	size_t first = 0;
	uint64_t other_ns = UINT64_MAX;

	for (size_t i = 1; i < merge->n_open; i++) {
		uint64_t start_ns = start_of(&merge->open[i]);

		if (start_ns < start_of(&merge->open[first])) {
			other_ns = start_of(&merge->open[first]);
			first = i;
		} else if (start_ns < other_ns) {
			other_ns = start_ns;
		}
	}
	*ret_other_ns = other_ns;
	return first;
}

/* Passes a run of rows of one block. */
static int take_run(struct merge *merge, bool has_next)
{
	uint64_t limit_ns, next_ns;
	size_t first = find_first(merge, &limit_ns);
	struct open_block *open = &merge->open[first];
	const struct ts_tile_block *block = open->block;
	uint32_t from = open->at, to = from + 1;
	int r;

	next_ns = has_next ? next_earliest(merge) : UINT64_MAX;
	limit_ns = next_ns < limit_ns ? next_ns : limit_ns;
	limit_ns = merge->options->to_ns < limit_ns ? merge->options->to_ns : limit_ns;
	while (to < block->n && block->items[to].start_ns < limit_ns)
		to++;
	if (block->items[from].start_ns >= merge->options->to_ns) {
		close_block(merge, first);
		return 0;
	}
	r = merge->options->take(merge->options->data, block, from, to - from);
	open->at = to;
	if (to == block->n)
		close_block(merge, first);
	return r;
}

static int run(struct merge *merge)
{
	for (;;) {
		bool has_next = find_next(merge);
		uint64_t other_ns;
		int r;

		if (!merge->n_open && !has_next)
			return 0;
		if (has_next &&
		    (!merge->n_open ||
		     next_earliest(merge) <= start_of(&merge->open[find_first(merge, &other_ns)])))
			r = open_next(merge);
		else
			r = take_run(merge, has_next);
		if (r)
			return r;
	}
}

int ts_tile_merge(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		  const struct ts_tile_merge_options *options, bool *is_damaged)
{
	struct merge *merge = calloc(1, sizeof(*merge));
	int r;

	if (!merge)
		return -ENOMEM;
	merge->tiles = tiles;
	merge->reader = reader;
	merge->options = options;
	r = run(merge);
	while (merge->n_open)
		close_block(merge, merge->n_open - 1);
	*is_damaged |= merge->is_damaged;
	free(merge);
	return r;
}
