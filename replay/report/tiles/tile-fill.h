/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adds the rows of a lane, in order of start, to cells of one or several levels: the rules are in
 * tiles.h. Private to replay/report/tiles. A fill belongs to one thread.
 */
#pragma once

#include "replay/report/tiles/tiles-internal.h"

/*
 * Sums by key in one cell: a hash table with linear probing, which is cleared for each cell in the
 * time of its keys. Zero is empty.
 */
struct ts_tile_sums {
	uint64_t seed;	/* odd and random: a file cannot make its keys collide */
	uint32_t *keys; /* 0: free */
	uint64_t *sums;
	uint32_t *used; /* indices of taken slots */
	uint32_t n, n_slots;
};

/*
 * The cells of a tile, or the tile in packed form (tile-pack.c). A packed one has an odd address.
 * NULL: the tile has no rows.
 */
union ts_tile_slot {
	struct ts_tile_cell *cells;
	uintptr_t address;
};

/* Cells of a level, in tiles. */
struct ts_tile_level {
	uint32_t level;
	uint64_t first; /* number of the first tile */
	uint64_t n_tiles;
	union ts_tile_slot *tiles;
	uint64_t n_packed; /* tiles that are complete, and packed if they fit */
	/* The cell whose shares are being summed; later cells are empty. */
	uint64_t cell;
	uint64_t sum_ns;
	struct ts_tile_sums sums;
};

/*
 * The rows that cover the present start, and the largest number of them at a time. Nested rows are
 * inside all open ones; rows that merely overlap count, too.
 */
struct ts_tile_nest {
	uint64_t *ends;
	size_t n, capacity;
	uint64_t instant_ns; /* the last row without a length, if there is one */
	bool has_instant;
	uint32_t most;
};

#define TS_TILE_MAX_DEPTH 64u

/*
 * Adds a row that starts at or after the last one, and returns the number of rows that it is nested
 * in; at most TS_TILE_MAX_DEPTH - 1. A negative value: -ENOMEM.
 */
int ts_tile_nest_add(struct ts_tile_nest *nest, uint64_t start_ns, uint64_t end_ns);

struct ts_tile_fill {
	bool has_instants; /* a lane of instants */
	bool has_values;   /* a lane of a counter */
	unsigned n_levels;
	struct ts_tile_level *levels; /* the finest first; each next one is twice as wide */
	/* The row whose time is not added yet. */
	bool has_row;
	uint64_t start_ns, end_ns;
	uint32_t key;
	uint64_t covered_ns; /* end of the time that belongs to earlier rows */
	/* Rows that start in the present cell of the finest level. */
	uint64_t count_cell;
	uint32_t n_count;
	double least, largest; /* value of these rows; NaN: none */
	uint64_t n_rows;
	/* The lane has nested rows. */
	bool is_nested;
	struct ts_tile_nest nest;
	/* After the end: the sum of the whole lane, and of the key with the largest one. */
	uint64_t total_ns, total_key_ns;
	bool packs; /* complete tiles are packed */
	/* Memory of the tiles of several fills, and its limit; NULL: none. Atomic. */
	uint64_t *n_bytes;
	uint64_t max_bytes;
};

/*
 * Makes n_levels of tiles, for a lane of this kind. They cover [first, first + n_tiles) of the
 * finest level. The caller frees them with ts_tile_fill_deinit(), also after -ENOMEM.
 */
int ts_tile_fill_init(struct ts_tile_fill *fill, uint32_t kind, uint32_t level, unsigned n_levels,
		      uint64_t first, uint64_t n_tiles);
void ts_tile_fill_deinit(struct ts_tile_fill *fill);

/* Adds a row that starts at or after the last one. Returns 0 or -ENOMEM. */
int ts_tile_fill_add(struct ts_tile_fill *fill, uint64_t start_ns, uint64_t end_ns, uint32_t key);
/* Adds a row of a counter, as ts_tile_fill_add(). */
int ts_tile_fill_add_value(struct ts_tile_fill *fill, uint64_t start_ns, uint32_t key,
			   double value);
/* Adds the pending row and count. Afterwards all cells are final. Returns 0 or -ENOMEM. */
int ts_tile_fill_finish(struct ts_tile_fill *fill);

/* Gives up the finest level, unless it is the only one. Rows may follow. Returns 0 or -ENOMEM. */
int ts_tile_fill_coarsen(struct ts_tile_fill *fill);

/* Copies a tile of the level to TS_TILE_CELLS cells. Returns false if it has no rows. */
bool ts_tile_level_copy(const struct ts_tile_level *level, uint64_t tile,
			struct ts_tile_cell *ret_cells);
/* Copies the tiles of a view, whose level is that of the finest cells or coarser. */
void ts_tile_fill_copy(const struct ts_tile_fill *fill, const struct ts_tiles_view *view,
		       struct ts_tile_cell *cells);

/* tile-pack.c */
struct ts_tile_packed;
/* Returns a copy that takes half of the memory, for free(). NULL: it does not fit, or no memory. */
struct ts_tile_packed *ts_tile_pack(const struct ts_tile_cell *cells);
void ts_tile_unpack(const struct ts_tile_packed *packed, struct ts_tile_cell *ret_cells);
uint64_t ts_tile_packed_bytes(const struct ts_tile_packed *packed);

/* Returns a part of a cell in millionths, rounded down. */
uint32_t ts_tile_millionths(uint64_t ns, uint32_t level);

/* Returns true if rows of lanes of this kind are inside each other. */
static inline bool ts_tile_is_nested(uint32_t kind)
{
	return kind == TS_LANE_RANGES || kind == TS_LANE_KERNEL_EVENTS;
}

/* Returns true if cells of lanes of this kind have no shares. */
static inline bool ts_tile_has_instants(uint32_t kind)
{
	return kind == TS_LANE_HOST_SAMPLES || kind == TS_LANE_COUNTER;
}
