/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The index: see tile-index.h. tiles.c calls this module, and programs call ts_tiles_build() in
 * threads of their own.
 */
#include "replay/report/tiles/tile-index.h"

#include "replay/report/tiles/tile-merge.h"
#include "replay/report/tiles/tile-spread.h"

/* Rows in a cell of the finest level, where the trace is dense. */
#define ROWS_OF_CELL 256.0
/* Cells of the finest level; the coarser ones are as many again. Packed, some 8.3 bytes each. */
#define MAX_CELLS (UINT64_C(5) << 20)
/* Cells of all lanes with those between rows, whose tiles cost a pointer each. */
#define MAX_SPAN (TS_TILE_CELLS * 2097152.0)
/* Until the index is there, views of fewer rows are read from the blocks. */
#define MAX_DIRECT_ROWS (UINT64_C(1) << 19)
/* Rows that are added at a time: views wait for the lock meanwhile. */
#define LOCKED_ROWS 4096u
/* Limit of the memory of all cells, if the estimate of their number was wrong. */
#define MAX_BYTES (UINT64_C(176) << 20)

/* ---- the level ------------------------------------------------------------------------------- */

struct density {
	double rows_of_ns;
	uint64_t n_rows;
};

static int by_density(const void *left, const void *right)
{
	const struct density *a = left, *b = right;

	return (a->rows_of_ns > b->rows_of_ns) - (a->rows_of_ns < b->rows_of_ns);
}

/* Returns the density of blocks that half of a unit's rows do not exceed; -1: no memory. */
static double unit_density(struct ts_sbt_reader *reader, const struct ts_tile_unit *unit,
			   uint64_t *ret_covered_ns)
{
	ts_cleanup(ts_freep) struct density *all = malloc((unit->n_blocks + 1) * sizeof(*all));
	uint64_t covered_ns = 0, n_rows = 0;

	if (!all)
		return -1;
	for (size_t i = 0; i < unit->n_blocks; i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, unit->blocks[i]);
		uint64_t ns = block->latest_ns - block->earliest_ns + 1;

		all[i] = (struct density){(double)block->n_rows / (double)ns, block->n_rows};
		if (__builtin_add_overflow(covered_ns, ns, &covered_ns))
			covered_ns = UINT64_MAX;
	}
	qsort(all, unit->n_blocks, sizeof(*all), by_density);
	*ret_covered_ns = covered_ns;
	for (size_t i = 0; i < unit->n_blocks; i++) {
		n_rows += all[i].n_rows;
		if (n_rows >= unit->n_rows / 2)
			return all[i].rows_of_ns;
	}
	return 0;
}

/* Returns the number of lanes that share a unit's rows. */
static uint64_t count_lanes(const struct ts_tiles *tiles, uint32_t unit)
{
	uint64_t n = 0;

	for (size_t i = 0; i < tiles->n_lanes; i++)
		n += tiles->lanes[i].unit == unit;
	return n;
}

/* Counts levels so that the coarsest one has a single cell. */
static void set_levels(struct ts_tiles *tiles, uint32_t level)
{
	tiles->index_level = level;
	tiles->index_n_levels = 1;
	while (level < TS_TILE_MAX_LEVEL && tiles->duration_ns >> level) {
		tiles->index_n_levels++;
		level++;
	}
}

int ts_tile_index_plan(struct ts_tiles *tiles, struct ts_sbt_reader *reader)
{
	double density = 0, cells_ns = 0;
	uint32_t level = 0;

	for (uint32_t i = 0; i < tiles->n_units; i++) {
		uint64_t covered_ns;
		double found = unit_density(reader, &tiles->units[i], &covered_ns);

		if (found < 0)
			return -ENOMEM;
		density += found;
		covered_ns = covered_ns < tiles->duration_ns ? covered_ns : tiles->duration_ns;
		cells_ns += (double)covered_ns * (double)count_lanes(tiles, i);
	}
	while (level < TS_TILE_MAX_LEVEL - 1 &&
	       ((double)(UINT64_C(2) << level) * density <= ROWS_OF_CELL ||
		cells_ns / (double)(UINT64_C(1) << level) > (double)MAX_CELLS ||
		(double)(tiles->duration_ns >> level) * (double)tiles->n_lanes > MAX_SPAN))
		level++;
	set_levels(tiles, level);
	return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct build {
	struct ts_tiles *tiles;
	struct ts_tile_unit *unit;
	struct ts_tile_spread spread;
};

static int take(void *data, const struct ts_tile_block *block, uint32_t first, uint32_t n)
{
	struct build *build = data;
	int r = 0;

	while (!r && n) {
		uint32_t n_now = n < LOCKED_ROWS ? n : LOCKED_ROWS;

		pthread_mutex_lock(build->unit->lock);
		r = ts_tile_spread_add(&build->spread, block, first, n_now);
		build->unit->read_ns = block->items[first + n_now - 1].start_ns;
		pthread_mutex_unlock(build->unit->lock);
		first += n_now;
		n -= n_now;
	}
	return r;
}

static int add_fill(struct ts_tiles *tiles, struct ts_tile_lane *lane, struct ts_tile_fill **ret)
{
	uint64_t n_tiles = (tiles->duration_ns >> tiles->index_level) / TS_TILE_CELLS + 1;
	struct ts_tile_fill *fill = calloc(1, sizeof(*fill));
	int r;

	if (!fill)
		return -ENOMEM;
	r = ts_tile_fill_init(fill, lane->lane.kind, tiles->index_level, tiles->index_n_levels, 0,
			      n_tiles);
	fill->is_nested = ts_tile_is_nested(lane->lane.kind);
	fill->packs = true;
	fill->n_bytes = &tiles->n_index_bytes;
	fill->max_bytes = MAX_BYTES;
	*ret = fill;
	return r;
}

/* Gives the unit's lanes their fills. */
static int begin_unit(struct build *build, uint32_t number)
{
	struct ts_tiles *tiles = build->tiles;
	int r = 0;

	pthread_mutex_lock(build->unit->lock);
	for (size_t i = 0; !r && i < tiles->n_lanes; i++)
		if (tiles->lanes[i].unit == number) {
			r = add_fill(tiles, &tiles->lanes[i], &build->spread.fills[i]);
			tiles->lanes[i].index = build->spread.fills[i];
		}
	build->unit->state = TS_TILE_READING;
	pthread_mutex_unlock(build->unit->lock);
	return r;
}

static void end_unit(struct build *build, uint32_t number, int r, bool is_damaged)
{
	struct ts_tiles *tiles = build->tiles;

	pthread_mutex_lock(build->unit->lock);
	for (size_t i = 0; i < tiles->n_lanes; i++) {
		struct ts_tile_fill *fill;

		/* Only this unit's lanes: other threads write those of their units. */
		if (tiles->lanes[i].unit != number)
			continue;
		fill = tiles->lanes[i].index;
		if (!fill)
			continue;
		r = r ? r : ts_tile_fill_finish(fill);
		if (r) {
			ts_tile_fill_deinit(fill);
			free(fill);
			tiles->lanes[i].index = NULL;
			continue;
		}
		tiles->lanes[i].lane.n_rows = fill->n_rows;
		tiles->lanes[i].lane.depth = fill->nest.most ? fill->nest.most : 1;
	}
	build->unit->is_damaged = is_damaged;
	/* A unit whose reading was cancelled is never asked for again. */
	build->unit->state = r ? TS_TILE_FAILED : TS_TILE_READ;
	pthread_mutex_unlock(build->unit->lock);
}

static int read_unit(struct ts_tiles *tiles, struct ts_sbt_reader *reader, uint32_t number,
		     bool (*is_cancelled)(void *data), void *data)
{
	ts_cleanup(ts_freep) struct ts_tile_fill **fills =
		calloc(tiles->n_lanes + 1, sizeof(struct ts_tile_fill *));
	struct build build = {.tiles = tiles,
			      .unit = &tiles->units[number],
			      .spread = {.tiles = tiles, .fills = fills}};
	struct ts_tile_merge_options options = {.unit = build.unit,
						.to_ns = UINT64_MAX,
						.is_cancelled = is_cancelled,
						.cancel_data = data,
						.take = take,
						.data = &build};
	bool is_damaged = false;
	int r;

	if (!fills)
		return -ENOMEM;
	r = begin_unit(&build, number);
	r = r ? r : ts_tile_merge(tiles, reader, &options, &is_damaged);
	end_unit(&build, number, r, is_damaged);
	return r;
}

/* Takes the largest unit that no thread has taken. Returns false if there is none. */
static bool take_unit(struct ts_tiles *tiles, uint32_t *ret_number)
{
	for (;;) {
		struct ts_tile_unit *best = NULL;
		bool is_taken = false;

		for (size_t i = 0; i < tiles->n_units; i++)
			if (!__atomic_load_n(&tiles->units[i].is_taken, __ATOMIC_RELAXED) &&
			    (!best || tiles->units[i].n_rows > best->n_rows))
				best = &tiles->units[i];
		if (!best)
			return false;
		if (__atomic_compare_exchange_n(&best->is_taken, &is_taken, true, false,
						__ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
			*ret_number = (uint32_t)(best - tiles->units);
			return true;
		}
	}
}

int ts_tiles_build(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		   bool (*is_cancelled)(void *data), void *data)
{
	uint32_t number;
	int result = 0;

	while (take_unit(tiles, &number)) {
		int r = read_unit(tiles, reader, number, is_cancelled, data);

		if (r == -ECANCELED)
			return r;
		result = result ? result : r;
	}
	return result;
}

void ts_tile_index_deinit(struct ts_tiles *tiles)
{
	for (size_t i = 0; i < tiles->n_lanes; i++)
		if (tiles->lanes[i].index) {
			ts_tile_fill_deinit(tiles->lanes[i].index);
			free(tiles->lanes[i].index);
		}
}

/* ---- views ----------------------------------------------------------------------------------- */

/* Returns the number of rows in the unit's blocks that overlap the view. */
static uint64_t count_rows(const struct ts_tiles *tiles, struct ts_sbt_reader *reader,
			   const struct ts_tile_unit *unit, const struct ts_tiles_view *view)
{
	uint64_t width_ns = (uint64_t)TS_TILE_CELLS << view->level;
	uint64_t from_ns = tiles->origin_ns + view->first * width_ns;
	uint64_t to_ns = tiles->origin_ns + (view->first + view->n_tiles) * width_ns;
	uint64_t n = 0;

	for (size_t i = 0; i < unit->n_blocks; i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, unit->blocks[i]);

		if (block->earliest_ns < to_ns && block->latest_ns >= from_ns)
			n += block->n_rows;
	}
	return n;
}

bool ts_tile_index_answers(struct ts_tiles *tiles, struct ts_sbt_reader *reader, uint32_t number,
			   const struct ts_tiles_view *view)
{
	struct ts_tile_unit *unit = &tiles->units[number];
	enum ts_tile_unit_state state;

	if (view->level < tiles->index_level)
		return false;
	pthread_mutex_lock(unit->lock);
	state = unit->state;
	pthread_mutex_unlock(unit->lock);
	return state == TS_TILE_READ || count_rows(tiles, reader, unit, view) > MAX_DIRECT_ROWS;
}

int ts_tile_index_copy(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		       const struct ts_tiles_view *view, uint32_t lane, struct ts_tile_cell *cells,
		       bool *is_exact, bool *is_damaged)
{
	struct ts_tile_unit *unit = &tiles->units[tiles->lanes[lane].unit];
	enum ts_tile_unit_state state;
	uint64_t read_ns = 0;

	pthread_mutex_lock(unit->lock);
	state = unit->state;
	if (state == TS_TILE_READING || state == TS_TILE_READ) {
		ts_tile_fill_copy(tiles->lanes[lane].index, view, cells);
		read_ns = unit->read_ns;
	}
	*is_damaged |= unit->is_damaged;
	pthread_mutex_unlock(unit->lock);
	if (state == TS_TILE_READ)
		return 0;
	*is_exact = false;
	return ts_tile_estimate(tiles, reader, view, lane, read_ns, cells);
}
