/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A packed tile has the cells that were packed. A fill that packs has the cells of one that does
 * not.
 */
#include "test/unit/harness.h"

#include "replay/report/tiles/tile-fill.h"

#define LEVEL	 4u
#define N_LEVELS 8u
#define N_TILES	 40u

static uint64_t random_number(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void check_packed(const struct ts_tile_cell *cells, bool fits)
{
	struct ts_tile_packed *packed = ts_tile_pack(cells);
	struct ts_tile_cell unpacked[TS_TILE_CELLS];

	ts_check_int(packed != NULL, fits);
	if (!packed)
		return;
	memset(unpacked, 0xff, sizeof(unpacked));
	ts_tile_unpack(packed, unpacked);
	ts_check(!memcmp(unpacked, cells, sizeof(unpacked)));
	ts_check(ts_tile_packed_bytes(packed) < sizeof(unpacked));
	free(packed);
}

TS_TEST(a_packed_tile_has_its_cells)
{
	struct ts_tile_cell cells[TS_TILE_CELLS] = {0};
	uint64_t state = 1;

	check_packed(cells, true);
	for (unsigned n_keys = 1; n_keys <= 2 * TS_TILE_CELLS; n_keys *= 2) {
		for (size_t i = 0; i < TS_TILE_CELLS; i++)
			cells[i] = (struct ts_tile_cell){
				.key = (uint32_t)(random_number(&state) % n_keys * 0x1234567u),
				.count = (uint32_t)(random_number(&state) % 65536),
				.share = (uint32_t)(random_number(&state) % (TS_TILE_MILLION + 1)),
				.key_share =
					(uint32_t)(random_number(&state) % (TS_TILE_MILLION + 1))};
		check_packed(cells, true);
	}
	/* Each cell has its own key; the largest numbers. */
	for (uint32_t i = 0; i < TS_TILE_CELLS; i++)
		cells[i] = (struct ts_tile_cell){UINT32_MAX - i, 65535, TS_TILE_MILLION,
						 TS_TILE_MILLION};
	check_packed(cells, true);
	/* More rows than a packed cell can have, and floats instead of shares. */
	cells[200].count = 65536;
	check_packed(cells, false);
	cells[200].count = 1;
	cells[255].key_share = 0xbf800000u;
	check_packed(cells, false);
}

static void init(struct ts_tile_fill *fill, uint32_t kind, bool packs, uint64_t *n_bytes)
{
	ts_check_int(ts_tile_fill_init(fill, kind, LEVEL, N_LEVELS, 0, N_TILES), 0);
	fill->packs = packs;
	fill->n_bytes = n_bytes;
	fill->max_bytes = UINT64_MAX;
}

/* Compares the cells of all levels. */
static void compare(const struct ts_tile_fill *a, const struct ts_tile_fill *b)
{
	static struct ts_tile_cell of_a[N_TILES * TS_TILE_CELLS], of_b[N_TILES * TS_TILE_CELLS];

	for (uint32_t level = LEVEL; level < LEVEL + N_LEVELS + 2; level++) {
		const struct ts_tiles_view view = {.level = level, .n_tiles = N_TILES};

		memset(of_a, 0, sizeof(of_a));
		memset(of_b, 0, sizeof(of_b));
		ts_tile_fill_copy(a, &view, of_a);
		ts_tile_fill_copy(b, &view, of_b);
		ts_check(!memcmp(of_a, of_b, sizeof(of_a)));
	}
}

/* Adds rows, some of which reach over many tiles, and some of which start together. */
static void fill_both(uint64_t seed, uint32_t kind)
{
	const uint64_t end_ns = (uint64_t)N_TILES * TS_TILE_CELLS << LEVEL;
	struct ts_tile_fill plain, packs;
	uint64_t plain_bytes = 0, packed_bytes = 0, state = seed, start_ns = 0;

	init(&plain, kind, false, &plain_bytes);
	init(&packs, kind, true, &packed_bytes);
	for (unsigned i = 0; start_ns < end_ns; i++) {
		uint64_t ns = random_number(&state) % (random_number(&state) % 300 ? 60 : 40000);
		uint32_t key = 1 + (uint32_t)(random_number(&state) % 30);

		ts_check_int(ts_tile_fill_add(&plain, start_ns, start_ns + ns, key), 0);
		ts_check_int(ts_tile_fill_add(&packs, start_ns, start_ns + ns, key), 0);
		start_ns += random_number(&state) % 3 ? random_number(&state) % 50 : 0;
		start_ns += random_number(&state) % 500 ? 0 : 9000;
		if (i % 1000 == 0)
			compare(&plain, &packs);
	}
	ts_check_int(ts_tile_fill_finish(&plain), 0);
	ts_check_int(ts_tile_fill_finish(&packs), 0);
	compare(&plain, &packs);
	ts_check(packed_bytes < plain_bytes * 6 / 10);
	/* A coarser fill has counted all of its memory. */
	for (unsigned i = 1; i < N_LEVELS; i++) {
		ts_check_int(ts_tile_fill_coarsen(&plain), 0);
		ts_check_int(ts_tile_fill_coarsen(&packs), 0);
	}
	ts_check_int(plain_bytes, TS_TILE_CELLS * sizeof(struct ts_tile_cell));
	ts_check(packed_bytes && packed_bytes < plain_bytes * 6 / 10);
	ts_tile_fill_deinit(&plain);
	ts_tile_fill_deinit(&packs);
}

TS_TEST(a_fill_that_packs_has_the_same_cells)
{
	for (uint64_t seed = 1; seed <= ts_cases(8); seed++) {
		fill_both(seed, TS_LANE_STREAM);
		fill_both(seed, TS_LANE_RANGES);
		fill_both(seed, TS_LANE_HOST_SAMPLES);
	}
}
