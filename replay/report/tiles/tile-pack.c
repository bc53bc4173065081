/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packs complete tiles of the index: a tile has few different keys, and a cell few rows, so that a
 * cell fits eight bytes instead of sixteen. tile-fill.c calls this module. No information is lost:
 * a tile that does not fit stays as it is.
 */
#include "replay/report/tiles/tile-fill.h"

/* A cell, from the lowest bit: number of the key, count, share, share of the key. */
#define KEY_BITS   8u
#define COUNT_BITS 16u
#define SHARE_BITS 20u
_Static_assert(KEY_BITS + COUNT_BITS + 2 * SHARE_BITS == 64, "a cell fits 64 bits");
_Static_assert(TS_TILE_CELLS == 1u << KEY_BITS, "each cell may have its own key");
_Static_assert(TS_TILE_MILLION < 1u << SHARE_BITS, "a share fits");

struct ts_tile_packed {
	uint64_t cells[TS_TILE_CELLS];
	uint32_t n_keys;
	uint32_t keys[];
};

static bool fits(const struct ts_tile_cell *cell)
{
	return cell->count >> COUNT_BITS == 0 && cell->share <= TS_TILE_MILLION &&
	       cell->key_share <= TS_TILE_MILLION;
}

/* Returns the number of a key, which is new if there is none. Neighbours often have one key. */
static uint32_t number_of(uint32_t *keys, uint32_t *n_keys, uint32_t last, uint32_t key)
{
	if (last < *n_keys && keys[last] == key)
		return last;
	for (uint32_t i = 0; i < *n_keys; i++)
		if (keys[i] == key)
			return i;
	keys[*n_keys] = key;
	return (*n_keys)++;
}

struct ts_tile_packed *ts_tile_pack(const struct ts_tile_cell *cells)
{
	uint64_t packed_cells[TS_TILE_CELLS];
	uint32_t keys[TS_TILE_CELLS], n_keys = 0, number = 0;
	struct ts_tile_packed *packed;

	for (uint32_t i = 0; i < TS_TILE_CELLS; i++) {
		const struct ts_tile_cell *cell = &cells[i];

		if (!fits(cell))
			return NULL;
		number = number_of(keys, &n_keys, number, cell->key);
		packed_cells[i] = number | (uint64_t)cell->count << KEY_BITS |
				  (uint64_t)cell->share << (KEY_BITS + COUNT_BITS) |
				  (uint64_t)cell->key_share << (KEY_BITS + COUNT_BITS + SHARE_BITS);
	}
	packed = malloc(sizeof(*packed) + n_keys * sizeof(*keys));
	if (!packed)
		return NULL;
	memcpy(packed->cells, packed_cells, sizeof(packed_cells));
	packed->n_keys = n_keys;
	memcpy(packed->keys, keys, n_keys * sizeof(*keys));
	return packed;
}

void ts_tile_unpack(const struct ts_tile_packed *packed, struct ts_tile_cell *ret_cells)
{
	const uint64_t share_mask = (UINT64_C(1) << SHARE_BITS) - 1;

	for (uint32_t i = 0; i < TS_TILE_CELLS; i++) {
		uint64_t cell = packed->cells[i];

		ret_cells[i] = (struct ts_tile_cell){
			.key = packed->keys[cell & ((1u << KEY_BITS) - 1)],
			.count = (uint32_t)(cell >> KEY_BITS) & ((1u << COUNT_BITS) - 1),
			.share = (uint32_t)(cell >> (KEY_BITS + COUNT_BITS) & share_mask),
			.key_share = (uint32_t)(cell >> (KEY_BITS + COUNT_BITS + SHARE_BITS) &
						share_mask)};
	}
}

uint64_t ts_tile_packed_bytes(const struct ts_tile_packed *packed)
{
	return sizeof(*packed) + packed->n_keys * sizeof(packed->keys[0]);
}
