/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows to cells: see tile-fill.h. tiles.c and tile-index.c call this module.
 *
 * Rows come in order of start, so the time that belongs to them comes in order, too: each row adds
 * the part behind the end of all earlier rows. The sums by key of a cell are complete when time
 * moves on to another cell. They are then added to the cell of the next level, so a level's sums by
 * key are exact, although only the largest one is kept.
 */
#include "replay/report/tiles/tile-fill.h"

#include <math.h>

#include "proto/abi/grow.h"
#include "proto/abi/map.h"

#define FIRST_SLOTS 32u

/* ---- sums by key ----------------------------------------------------------------------------- */

static uint32_t slot_of(const struct ts_tile_sums *sums, uint32_t key)
{
	uint32_t i = (uint32_t)(key * sums->seed >> 32) & (sums->n_slots - 1);

	while (sums->keys[i] && sums->keys[i] != key)
		i = (i + 1) & (sums->n_slots - 1);
	return i;
}

static int grow(struct ts_tile_sums *sums)
{
	struct ts_tile_sums grown = {.seed = sums->seed,
				     .n_slots = sums->n_slots ? 2 * sums->n_slots : FIRST_SLOTS};
	struct ts_slots seeds = {0};

	if (!grown.n_slots)
		return -ENOMEM;
	if (!grown.seed) {
		ts_slots_draw(&seeds);
		grown.seed = seeds.seeds[0];
	}
	grown.keys = calloc(grown.n_slots, sizeof(*grown.keys));
	grown.sums = malloc(grown.n_slots * sizeof(*grown.sums));
	grown.used = malloc(grown.n_slots * sizeof(*grown.used));
	if (!grown.keys || !grown.sums || !grown.used) {
		free(grown.keys);
		free(grown.sums);
		free(grown.used);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < sums->n; i++) {
		uint32_t from = sums->used[i], to = slot_of(&grown, sums->keys[from]);

		grown.keys[to] = sums->keys[from];
		grown.sums[to] = sums->sums[from];
		grown.used[grown.n++] = to;
	}
	free(sums->keys);
	free(sums->sums);
	free(sums->used);
	*sums = grown;
	return 0;
}

static int add_sum(struct ts_tile_sums *sums, uint32_t key, uint64_t amount)
{
	uint32_t i;

	if (ts_unlikely(sums->n >= sums->n_slots / 2) && grow(sums))
		return -ENOMEM;
	i = slot_of(sums, key);
	if (!sums->keys[i]) {
		sums->keys[i] = key;
		sums->sums[i] = 0;
		sums->used[sums->n++] = i;
	}
	sums->sums[i] += amount;
	return 0;
}

static void clear_sums(struct ts_tile_sums *sums)
{
	for (uint32_t i = 0; i < sums->n; i++)
		sums->keys[sums->used[i]] = 0;
	sums->n = 0;
}

/* Returns the slot of the largest sum. There is one. */
static uint32_t largest(const struct ts_tile_sums *sums)
{
	uint32_t best = sums->used[0];

	for (uint32_t k = 1; k < sums->n; k++) {
		uint32_t i = sums->used[k];

		if (sums->sums[i] > sums->sums[best] ||
		    (sums->sums[i] == sums->sums[best] && sums->keys[i] < sums->keys[best]))
			best = i;
	}
	return best;
}

/* ---- cells ----------------------------------------------------------------------------------- */

#define TILE_BYTES (TS_TILE_CELLS * sizeof(struct ts_tile_cell))

static void forget_bytes(struct ts_tile_fill *fill, uint64_t n_bytes)
{
	if (fill->n_bytes)
		__atomic_sub_fetch(fill->n_bytes, n_bytes, __ATOMIC_RELAXED);
}

static struct ts_tile_cell *new_tile(struct ts_tile_fill *fill)
{
	if (fill->n_bytes &&
	    __atomic_add_fetch(fill->n_bytes, TILE_BYTES, __ATOMIC_RELAXED) > fill->max_bytes)
		return NULL;
	return calloc(1, TILE_BYTES);
}

/* Returns the packed tile, or NULL. */
static struct ts_tile_packed *packed_of(union ts_tile_slot slot)
{
	return slot.address & 1 ? (struct ts_tile_packed *)(slot.address - 1) : NULL;
}

static uint64_t slot_bytes(union ts_tile_slot slot)
{
	const struct ts_tile_packed *packed = packed_of(slot);

	return packed ? ts_tile_packed_bytes(packed) : slot.cells ? TILE_BYTES : 0;
}

static void free_slot(union ts_tile_slot slot)
{
	free(packed_of(slot) ? (void *)packed_of(slot) : slot.cells);
}

/* Packs the tile, if it fits. */
static void pack(struct ts_tile_fill *fill, union ts_tile_slot *slot)
{
	struct ts_tile_packed *packed =
		slot->cells && !packed_of(*slot) ? ts_tile_pack(slot->cells) : NULL;

	if (!packed)
		return;
	forget_bytes(fill, TILE_BYTES - ts_tile_packed_bytes(packed));
	free(slot->cells);
	slot->address = (uintptr_t)packed | 1;
}

/* Makes the tile's cells writable. Returns 0 or -ENOMEM. */
static int open_tile(struct ts_tile_fill *fill, union ts_tile_slot *slot)
{
	struct ts_tile_packed *packed = packed_of(*slot);
	struct ts_tile_cell *cells;

	if (slot->cells && !packed)
		return 0;
	cells = new_tile(fill);
	if (!cells)
		return -ENOMEM;
	if (packed) {
		ts_tile_unpack(packed, cells);
		forget_bytes(fill, ts_tile_packed_bytes(packed));
		free(packed);
	}
	slot->cells = cells;
	return 0;
}

/*
 * Packs the tiles of each level that end before a cell of the finest one, and before all cells
 * whose shares are being summed: no later row adds to them.
 */
static void pack_before(struct ts_tile_fill *fill, uint64_t cell)
{
	for (unsigned i = 0; i < fill->n_levels; i++, cell /= 2) {
		struct ts_tile_level *level = &fill->levels[i];
		uint64_t until;

		if (level->sums.n && level->cell < cell)
			cell = level->cell;
		until = cell / TS_TILE_CELLS;
		until = until > level->first ? until - level->first : 0;
		until = until < level->n_tiles ? until : level->n_tiles;
		for (; level->n_packed < until; level->n_packed++)
			pack(fill, &level->tiles[level->n_packed]);
	}
}

/* Returns a cell, or NULL if it lies outside; -ENOMEM in *r. */
static struct ts_tile_cell *cell_at(struct ts_tile_fill *fill, struct ts_tile_level *level,
				    uint64_t cell, int *r)
{
	uint64_t tile = cell / TS_TILE_CELLS - level->first;

	if (cell / TS_TILE_CELLS < level->first || tile >= level->n_tiles)
		return NULL;
	*r = open_tile(fill, &level->tiles[tile]);
	return *r ? NULL : &level->tiles[tile].cells[cell % TS_TILE_CELLS];
}

uint32_t ts_tile_millionths(uint64_t ns, uint32_t level)
{
	__extension__ unsigned __int128 share = (unsigned __int128)ns * TS_TILE_MILLION >> level;

	return share > TS_TILE_MILLION ? TS_TILE_MILLION : (uint32_t)share;
}

static int add_to_level(struct ts_tile_fill *fill, unsigned i, uint64_t cell, uint32_t key,
			uint64_t amount);

/* Writes the shares of the present cell, and adds its sums to the next level. */
static int close_cell(struct ts_tile_fill *fill, unsigned i)
{
	struct ts_tile_level *level = &fill->levels[i];
	struct ts_tile_cell *cell;
	uint32_t best;
	int r = 0;

	if (!level->sums.n)
		return 0;
	cell = cell_at(fill, level, level->cell, &r);
	if (cell) {
		best = largest(&level->sums);
		cell->key = level->sums.keys[best];
		if (!fill->has_instants) {
			cell->share = ts_tile_millionths(level->sum_ns, level->level);
			/* The coarsest level comes last. */
			fill->total_ns = level->sum_ns;
			fill->total_key_ns = level->sums.sums[best];
			cell->key_share = ts_tile_millionths(level->sums.sums[best], level->level);
		}
	}
	for (uint32_t k = 0; !r && i + 1 < fill->n_levels && k < level->sums.n; k++) {
		uint32_t slot = level->sums.used[k];

		r = add_to_level(fill, i + 1, level->cell / 2, level->sums.keys[slot],
				 level->sums.sums[slot]);
	}
	clear_sums(&level->sums);
	level->sum_ns = 0;
	return r;
}

/* Adds to a cell at or behind the present one. The recursion ends at the last level. */
static int add_to_level(struct ts_tile_fill *fill, unsigned i, uint64_t cell, uint32_t key,
			uint64_t amount)
{
	struct ts_tile_level *level = &fill->levels[i];
	int r = cell != level->cell ? close_cell(fill, i) : 0;

	level->cell = cell;
	level->sum_ns += amount;
	return r ? r : add_sum(&level->sums, key, amount);
}

/* Adds a span of time that belongs to one key. */
static int add_span(struct ts_tile_fill *fill, uint64_t from_ns, uint64_t to_ns, uint32_t key)
{
	struct ts_tile_level *level = &fill->levels[0];
	uint64_t begin_ns = level->first * TS_TILE_CELLS << level->level;
	uint64_t end_ns = (level->first + level->n_tiles) * TS_TILE_CELLS << level->level;
	int r = 0;

	from_ns = from_ns < begin_ns ? begin_ns : from_ns;
	to_ns = to_ns > end_ns ? end_ns : to_ns;
	while (!r && from_ns < to_ns) {
		uint64_t cell = from_ns >> level->level;
		uint64_t cell_ns = (cell + 1) << level->level;
		uint64_t until_ns = to_ns < cell_ns ? to_ns : cell_ns;

		r = add_to_level(fill, 0, cell, key, until_ns - from_ns);
		from_ns = until_ns;
	}
	return r;
}

/* Adds the pending row's time behind that of earlier rows. */
static int flush_row(struct ts_tile_fill *fill)
{
	uint64_t from_ns = fill->start_ns > fill->covered_ns ? fill->start_ns : fill->covered_ns;
	int r = 0;

	if (fill->has_row && fill->end_ns > from_ns) {
		r = add_span(fill, from_ns, fill->end_ns, fill->key);
		fill->covered_ns = fill->end_ns;
	}
	fill->has_row = false;
	return r;
}

/* ---- values of counters ---------------------------------------------------------------------- */

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static float round_down(double value)
{
	float rounded = (float)value;

	return (double)rounded > value ? nextafterf(rounded, -INFINITY) : rounded;
}

static float round_up(double value)
{
	float rounded = (float)value;

	return (double)rounded < value ? nextafterf(rounded, INFINITY) : rounded;
}

/* Adds the values of the counted rows to a cell, before their number. */
static void add_values(const struct ts_tile_fill *fill, struct ts_tile_cell *cell)
{
	float least = round_down(fill->least), largest = round_up(fill->largest);

	/* fmin() and fmax() leave out what is no number. */
	if (cell->count) {
		least = fminf(least, ts_tile_least(cell));
		largest = fmaxf(largest, ts_tile_largest(cell));
	}
	cell->share = bits_of(least);
	cell->key_share = bits_of(largest);
}

/* Adds the counted rows to the cell of each level. */
static int flush_count(struct ts_tile_fill *fill)
{
	uint64_t number = fill->count_cell;
	int r = 0;

	for (unsigned i = 0; !r && fill->n_count && i < fill->n_levels; i++, number /= 2) {
		struct ts_tile_cell *cell = cell_at(fill, &fill->levels[i], number, &r);

		if (cell && fill->has_values)
			add_values(fill, cell);
		if (cell && __builtin_add_overflow(cell->count, fill->n_count, &cell->count))
			cell->count = UINT32_MAX;
	}
	fill->n_count = 0;
	fill->least = fill->largest = NAN;
	return r;
}

static int count_row(struct ts_tile_fill *fill, uint64_t start_ns)
{
	uint64_t cell = start_ns >> fill->levels[0].level;
	int r = 0;

	if (cell != fill->count_cell || fill->n_count == UINT32_MAX)
		r = flush_count(fill);
	/* The time of the row before is not added yet. */
	if (fill->packs && cell / TS_TILE_CELLS != fill->count_cell / TS_TILE_CELLS)
		pack_before(fill, fill->count_cell);
	fill->count_cell = cell;
	fill->n_count++;
	fill->n_rows++;
	return r;
}

int ts_tile_fill_add(struct ts_tile_fill *fill, uint64_t start_ns, uint64_t end_ns, uint32_t key)
{
	int r = count_row(fill, start_ns);

	if (!r && fill->is_nested)
		r = ts_tile_nest_add(&fill->nest, start_ns, end_ns);
	if (r < 0)
		return r;
	if (fill->has_instants)
		return add_to_level(fill, 0, start_ns >> fill->levels[0].level, key, 1);
	if (fill->has_row && fill->start_ns == start_ns) {
		/* The longest row contains the others. */
		if (end_ns > fill->end_ns || (end_ns == fill->end_ns && key < fill->key)) {
			fill->end_ns = end_ns;
			fill->key = key;
		}
		return 0;
	}
	r = flush_row(fill);
	fill->has_row = true;
	fill->start_ns = start_ns;
	fill->end_ns = end_ns;
	fill->key = key;
	return r;
}

int ts_tile_fill_add_value(struct ts_tile_fill *fill, uint64_t start_ns, uint32_t key, double value)
{
	int r = ts_tile_fill_add(fill, start_ns, start_ns, key);

	fill->least = fmin(fill->least, value);
	fill->largest = fmax(fill->largest, value);
	return r;
}

int ts_tile_nest_add(struct ts_tile_nest *nest, uint64_t start_ns, uint64_t end_ns)
{
	size_t n = 0;
	int depth;

	for (size_t i = 0; i < nest->n; i++)
		if (nest->ends[i] > start_ns)
			nest->ends[n++] = nest->ends[i];
	depth = (int)n;
	if (n < TS_TILE_MAX_DEPTH - 1 && end_ns > start_ns) {
		if (TS_GROW(nest->ends, nest->capacity, n + 1))
			return -ENOMEM;
		nest->ends[n++] = end_ns;
	}
	nest->n = n;
	if ((uint32_t)depth >= nest->most)
		nest->most = (uint32_t)depth + 1;
	/* An instant lies in all rows that start with it, also in those that come later. */
	if (end_ns > start_ns && nest->has_instant && nest->instant_ns == start_ns &&
	    n >= nest->most)
		nest->most = (uint32_t)n + 1;
	if (end_ns == start_ns) {
		nest->instant_ns = start_ns;
		nest->has_instant = true;
	}
	return depth;
}

int ts_tile_fill_finish(struct ts_tile_fill *fill)
{
	int r = flush_row(fill);

	r = r ? r : flush_count(fill);
	for (unsigned i = 0; !r && i < fill->n_levels; i++)
		r = close_cell(fill, i);
	if (!r && fill->packs)
		pack_before(fill, UINT64_MAX);
	return r;
}

int ts_tile_fill_init(struct ts_tile_fill *fill, uint32_t kind, uint32_t level, unsigned n_levels,
		      uint64_t first, uint64_t n_tiles)
{
	*fill = (struct ts_tile_fill){.has_instants = ts_tile_has_instants(kind),
				      .has_values = kind == TS_LANE_COUNTER,
				      .n_levels = n_levels,
				      .least = NAN,
				      .largest = NAN};
	fill->levels = calloc(n_levels, sizeof(*fill->levels));
	if (!fill->levels)
		return -ENOMEM;
	for (unsigned i = 0; i < n_levels; i++) {
		struct ts_tile_level *to = &fill->levels[i];

		to->level = level + i;
		to->first = first >> i;
		to->n_tiles = ((first + n_tiles - 1) >> i) - to->first + 1;
		to->tiles = calloc(to->n_tiles, sizeof(*to->tiles));
		if (!to->tiles)
			return -ENOMEM;
	}
	return 0;
}

static void free_level(struct ts_tile_level *level)
{
	for (uint64_t tile = 0; level->tiles && tile < level->n_tiles; tile++)
		free_slot(level->tiles[tile]);
	free(level->tiles);
	free(level->sums.keys);
	free(level->sums.sums);
	free(level->sums.used);
}

int ts_tile_fill_coarsen(struct ts_tile_fill *fill)
{
	struct ts_tile_level *finest = &fill->levels[0];
	uint64_t n_bytes = 0;
	int r = flush_count(fill);

	r = r ? r : close_cell(fill, 0);
	if (r || fill->n_levels == 1)
		return r;
	for (uint64_t tile = 0; tile < finest->n_tiles; tile++)
		n_bytes += slot_bytes(finest->tiles[tile]);
	free_level(finest);
	fill->n_levels--;
	memmove(&fill->levels[0], &fill->levels[1], fill->n_levels * sizeof(*fill->levels));
	fill->count_cell /= 2;
	forget_bytes(fill, n_bytes);
	return 0;
}

void ts_tile_fill_deinit(struct ts_tile_fill *fill)
{
	for (unsigned i = 0; fill->levels && i < fill->n_levels; i++)
		free_level(&fill->levels[i]);
	free(fill->levels);
	free(fill->nest.ends);
	*fill = (struct ts_tile_fill){0};
}

bool ts_tile_level_copy(const struct ts_tile_level *level, uint64_t tile,
			struct ts_tile_cell *ret_cells)
{
	union ts_tile_slot slot = level->tiles[tile];

	if (!slot.cells)
		return false;
	if (packed_of(slot))
		ts_tile_unpack(packed_of(slot), ret_cells);
	else
		memcpy(ret_cells, slot.cells, TILE_BYTES);
	return true;
}

/* Writes the only cell of a level above the coarsest one of the index. */
static void copy_top(const struct ts_tile_fill *fill, const struct ts_tiles_view *view,
		     struct ts_tile_cell *cells)
{
	const struct ts_tile_level *top = &fill->levels[fill->n_levels - 1];
	struct ts_tile_cell tile[TS_TILE_CELLS];

	if (view->first || !ts_tile_level_copy(top, 0, tile))
		return;
	cells[0] = tile[0];
	if (fill->has_values)
		return;
	cells[0].share = ts_tile_millionths(fill->total_ns, view->level);
	cells[0].key_share = ts_tile_millionths(fill->total_key_ns, view->level);
}

void ts_tile_fill_copy(const struct ts_tile_fill *fill, const struct ts_tiles_view *view,
		       struct ts_tile_cell *cells)
{
	const struct ts_tile_level *level;

	if (view->level >= fill->levels[0].level + fill->n_levels) {
		copy_top(fill, view, cells);
		return;
	}
	level = &fill->levels[view->level - fill->levels[0].level];
	for (uint64_t i = 0; i < view->n_tiles && view->first + i < level->n_tiles; i++)
		ts_tile_level_copy(level, view->first + i, &cells[i * TS_TILE_CELLS]);
}
