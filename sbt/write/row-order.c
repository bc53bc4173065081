/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorts the rows of an event block by start, so that a reader can merge blocks as streams.
 * block-builder.c calls ts_builder_sort() if rows did not arrive in order.
 *
 * Rows mostly arrive in order, or as a few ordered runs (one per shard) that overlap a little. A
 * cut is a position where no row in front is later than any row behind. The rows between two cuts
 * are sorted by themselves; all other rows stay in place.
 *
 *     starts:  1 2 3 | 5 7 4 6 | 8 9     only 5 7 4 6 is sorted
 */

#include "sbt/format/block.h"
#include "sbt/format/wide.h"

struct sort_key {
	uint64_t start_ns;
	uint32_t row;
	uint32_t to; /* of a late row: its new place */
};

/* Counts the keys in [a, b) that do not start later than start_ns. */
static uint32_t not_later(const struct sort_key *keys, uint32_t a, uint32_t b, uint64_t start_ns)
{
	uint32_t first = a;

	while (a < b) {
		uint32_t middle = a + (b - a) / 2;

		if (keys[middle].start_ns <= start_ns)
			a = middle + 1;
		else
			b = middle;
	}
	return a - first;
}

/*
 * Merges [a, b) and [b, c) of `from` into `to`. On equal start, the first run's row comes first.
 * Most runs hardly overlap, so the rows outside the overlap are copied unchanged.
 */
static void merge_runs(struct sort_key *to, const struct sort_key *from, uint32_t a, uint32_t b,
		       uint32_t c)
{
	uint32_t i = a, j = b, k = a, n = b < c ? not_later(from, a, b, from[b].start_ns) : b - a;

	memcpy(to + k, from + i, n * sizeof(*to));
	i += n;
	k += n;
	while (i < b && j < c) {
		bool second = from[j].start_ns < from[i].start_ns;

		to[k++] = from[second ? j : i];
		j += second;
		i += !second;
	}
	memcpy(to + k, from + i, (b - i) * sizeof(*to));
	memcpy(to + k + (b - i), from + j, (c - j) * sizeof(*to));
}

static uint32_t run_end(const struct sort_key *keys, uint32_t from, uint32_t n)
{
	uint32_t i = from + 1;

	while (i < n && keys[i].start_ns >= keys[i - 1].start_ns)
		i++;
	return i < n ? i : n;
}

/*
 * Sorts by merging: begins with the runs that are already sorted, and merges adjacent runs in pairs
 * until one run is left. `keys` and `spare` swap roles; the function returns the sorted array.
 */
static struct sort_key *sort_runs(struct sort_key *keys, struct sort_key *spare, uint32_t n)
{
	while (run_end(keys, 0, n) < n) {
		struct sort_key *swap = keys;
		uint32_t a = 0;

		while (a < n) {
			uint32_t b = run_end(keys, a, n), c = b < n ? run_end(keys, b, n) : b;

			merge_runs(spare, keys, a, b, c);
			a = c;
		}
		keys = spare;
		spare = swap;
	}
	return keys;
}

static void reorder(uint8_t *to, const uint8_t *from, const struct sort_key *order, uint16_t width,
		    uint32_t n)
{
	uint32_t i;

	switch (width) {
	case 2:
		for (i = 0; i < n; i++)
			memcpy(to + i * 2u, from + order[i].row * 2u, 2);
		break;
	case 4:
		for (i = 0; i < n; i++)
			memcpy(to + i * 4u, from + order[i].row * 4u, 4);
		break;
	case 8:
		for (i = 0; i < n; i++)
			memcpy(to + i * 8u, from + order[i].row * 8u, 8);
		break;
	default:
		for (i = 0; i < n; i++)
			memcpy(to + (size_t)i * width, from + (size_t)order[i].row * width, width);
	}
}

static void reorder_in_place(uint8_t *column, uint8_t *scratch, const struct sort_key *order,
			     uint16_t width, uint32_t n)
{
	reorder(scratch, column, order, width, n);
	memcpy(column, scratch, (size_t)n * width);
}

/*
 * ---- a few late rows ----
 *
 * A row is late if a row in front of it starts later. Long calls are late, because a call becomes a
 * row when it ends. If few rows are late, the others move towards the end of the window in long
 * pieces.
 */

/* If more than one row in LATE_SHARE is late, the window is sorted as a whole. */
#define LATE_SHARE 32u

struct move {
	uint32_t to, from, n;
};

struct moves {
	struct sort_key *late; /* sorted by start */
	struct move *moves;    /* the last rows first, so that each one moves into free places */
	uint32_t *places;      /* of the late rows, ascending */
	uint8_t *spare;
	uint32_t n_late, n_moves;
};

/* Finds the late rows. Returns false if there are more than max. */
static bool find_late(const uint64_t *starts, uint32_t n, uint32_t max, struct moves *moves)
{
	uint64_t latest = 0;

	moves->n_late = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (ts_likely(starts[i] >= latest)) {
			latest = starts[i];
			continue;
		}
		if (moves->n_late == max)
			return false;
		moves->places[moves->n_late] = i;
		moves->late[moves->n_late++] = (struct sort_key){.start_ns = starts[i], .row = i};
	}
	return true;
}

/* Counts the rows in [a, b), which are sorted, that do not start later than start_ns. */
static uint32_t rows_not_later(const uint64_t *starts, uint32_t a, uint32_t b, uint64_t start_ns)
{
	uint32_t first = a;

	while (a < b) {
		uint32_t middle = a + (b - a) / 2;

		if (starts[middle] <= start_ns)
			a = middle + 1;
		else
			b = middle;
	}
	return a - first;
}

/*
 * Lists the moves of the other rows, and sets the places of the late rows. A late row moves behind
 * the last other row that does not start later.
 */
static void list_moves(const uint64_t *starts, uint32_t n, struct moves *moves)
{
	uint32_t end = n, to = n, n_places = moves->n_late, from, first;

	moves->n_moves = 0;
	for (uint32_t i = moves->n_late; i-- > 0; moves->late[i].to = --to) {
		/* [from, end): rows that are not late, up to the next place of a late row. */
		do {
			from = n_places ? moves->places[n_places - 1] + 1 : 0;
			first = from + rows_not_later(starts, from, end, moves->late[i].start_ns);
			to -= end - first;
			if (first < end)
				moves->moves[moves->n_moves++] =
					(struct move){.to = to, .from = first, .n = end - first};
			end = first == from && n_places ? moves->places[--n_places] : first;
		} while (first == from && from);
	}
}

static void move_rows(uint8_t *column, const struct moves *moves, uint16_t width)
{
	for (uint32_t i = 0; i < moves->n_late; i++)
		memcpy(moves->spare + (size_t)i * width,
		       column + (size_t)moves->late[i].row * width, width);
	for (uint32_t i = 0; i < moves->n_moves; i++)
		memmove(column + (size_t)moves->moves[i].to * width,
			column + (size_t)moves->moves[i].from * width,
			(size_t)moves->moves[i].n * width);
	for (uint32_t i = 0; i < moves->n_late; i++)
		memcpy(column + (size_t)moves->late[i].to * width, moves->spare + (size_t)i * width,
		       width);
}

/* Sorts rows [from, from + n) if few of them are late. Returns 0, -ENOMEM or 1: many are late. */
static int sort_late(struct ts_builder *builder, struct ts_encoder *encoder, uint32_t from,
		     uint32_t n)
{
	const uint64_t *starts = (uint64_t *)(void *)builder->columns[0] + from;
	uint32_t max = n / LATE_SHARE;
	struct sort_key *keys;
	struct moves moves;
	uint8_t *at;
	int r;

	if (!max)
		return 1;
	encoder->scratch.n = 0;
	r = ts_buffer_reserve(&encoder->scratch,
			      max * (2 * sizeof(*keys) + sizeof(uint64_t) + sizeof(uint32_t)) +
				      (2 * max + 1) * sizeof(struct move),
			      &at);
	if (r)
		return r;
	keys = (struct sort_key *)(void *)at;
	moves.late = keys;
	moves.spare = at + 2 * max * sizeof(*keys);
	moves.places = (uint32_t *)(void *)(moves.spare + max * sizeof(uint64_t));
	moves.moves = (struct move *)(void *)(moves.places + max);
	if (!find_late(starts, n, max, &moves))
		return 1;
	moves.late = sort_runs(keys, keys + max, moves.n_late);
	list_moves(starts, n, &moves);
	for (unsigned c = 0; c < builder->schema->n_columns; c++) {
		uint16_t width = builder->schema->columns[c].width;

		if (builder->seen[c])
			move_rows(builder->columns[c] + (size_t)from * width, &moves, width);
	}
	for (int run = 0; run < TS_PLAN_RUNS; run++)
		if (builder->indices[run])
			move_rows((uint8_t *)(builder->indices[run] + from), &moves,
				  sizeof(uint16_t));
	return 0;
}

/* Sorts rows [from, from + n). */
static int sort_window(struct ts_builder *builder, struct ts_encoder *encoder, uint32_t from,
		       uint32_t n)
{
	const uint64_t *starts = (uint64_t *)(void *)builder->columns[0] + from;
	struct sort_key *keys;
	uint8_t *at, *spare;
	int r = sort_late(builder, encoder, from, n);

	if (r <= 0)
		return r;
	encoder->scratch.n = 0;
	r = ts_buffer_reserve(&encoder->scratch, n * (2 * sizeof(*keys) + sizeof(uint64_t)), &at);
	if (r)
		return r;
	keys = (struct sort_key *)(void *)at;
	spare = at + 2 * n * sizeof(*keys);
	for (uint32_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){.start_ns = starts[i], .row = i};
	keys = sort_runs(keys, keys + n, n);
	for (unsigned c = 0; c < builder->schema->n_columns; c++) {
		uint16_t width = builder->schema->columns[c].width;

		if (builder->seen[c])
			reorder_in_place(builder->columns[c] + (size_t)from * width, spare, keys,
					 width, n);
	}
	for (int run = 0; run < TS_PLAN_RUNS; run++)
		if (builder->indices[run])
			reorder_in_place((uint8_t *)(builder->indices[run] + from), spare, keys,
					 sizeof(uint16_t), n);
	return 0;
}

/* Rows that are checked together. A sorted tile without overlap is skipped as a whole. */
#define TILE_ROWS 64u

/* A tile of rows. */
struct tile {
	uint64_t earliest_behind_ns; /* the least start of all rows behind the tile */
	bool is_sorted;
};

static TS_ALWAYS_INLINE void find_descents(const uint64_t *starts, uint32_t n, bool *ret_any)
{
	uint64_t any = 0;

	for (uint32_t i = 1; i < n; i++)
		any |= starts[i] < starts[i - 1];
	*ret_any = any;
}

TS_WIDE_OR_NOT(find_descents, (const uint64_t *starts, uint32_t n, bool *ret_any),
	       (starts, n, ret_any))

static uint32_t tile_rows(uint32_t n, uint32_t tile)
{
	return n - tile * TILE_ROWS < TILE_ROWS ? n - tile * TILE_ROWS : TILE_ROWS;
}

static void find_tiles(const uint64_t *starts, uint32_t n, struct tile *tiles)
{
	uint64_t earliest = UINT64_MAX;

	for (uint32_t tile = (n + TILE_ROWS - 1) / TILE_ROWS; tile-- > 0;) {
		const uint64_t *from = starts + tile * TILE_ROWS;
		uint32_t n_rows = tile_rows(n, tile);
		bool any;

		find_descents_fast(from, n_rows, &any);
		tiles[tile] = (struct tile){.earliest_behind_ns = earliest, .is_sorted = !any};
		for (uint32_t i = 0; i < (any ? n_rows : 1); i++)
			earliest = from[i] < earliest ? from[i] : earliest;
	}
}

/*
 * The position of the sort: all rows before `from` are in place, and no row in [from, here) starts
 * later than `latest`.
 */
struct sorting {
	struct ts_builder *builder;
	struct ts_encoder *encoder;
	uint32_t from;
	uint64_t latest;
};

/* Finds the cuts in a tile and sorts the rows between them. */
static int sort_tile(struct sorting *sorting, uint32_t first, uint32_t n, const struct tile *tile)
{
	const uint64_t *starts = (uint64_t *)(void *)sorting->builder->columns[0];
	uint64_t earliest[TILE_ROWS + 1];

	earliest[n] = tile->earliest_behind_ns;
	for (uint32_t i = n; i-- > 0;)
		earliest[i] =
			starts[first + i] < earliest[i + 1] ? starts[first + i] : earliest[i + 1];
	for (uint32_t i = 0; i < n; i++) {
		uint32_t row = first + i;

		sorting->latest = starts[row] > sorting->latest ? starts[row] : sorting->latest;
		if (sorting->latest > earliest[i + 1])
			continue;
		if (row > sorting->from) {
			int r = sort_window(sorting->builder, sorting->encoder, sorting->from,
					    row + 1 - sorting->from);

			if (r)
				return r;
			sorting->latest = starts[row];
		}
		sorting->from = row + 1;
	}
	return 0;
}

int ts_builder_sort(struct ts_builder *builder, struct ts_encoder *encoder)
{
	const uint64_t *starts = (uint64_t *)(void *)builder->columns[0];
	uint32_t n = builder->n_rows, n_tiles = (n + TILE_ROWS - 1) / TILE_ROWS;
	struct sorting sorting = {.builder = builder, .encoder = encoder};
	struct tile *tiles;
	uint8_t *at;
	int r;

	encoder->order.n = 0;
	r = ts_buffer_reserve(&encoder->order, n_tiles * sizeof(*tiles), &at);
	if (r)
		return r;
	tiles = (struct tile *)(void *)at;
	find_tiles(starts, n, tiles);
	for (uint32_t t = 0; !r && t < n_tiles; t++) {
		uint32_t first = t * TILE_ROWS, n_rows = tile_rows(n, t), last = first + n_rows - 1;

		if (sorting.from == first && tiles[t].is_sorted &&
		    sorting.latest <= starts[first] &&
		    starts[last] <= tiles[t].earliest_behind_ns) {
			sorting.latest = starts[last];
			sorting.from = last + 1;
		} else if (tiles[t].is_sorted && starts[first] > tiles[t].earliest_behind_ns) {
			/* No cut: a row behind the tile belongs in front of it. */
			if (starts[last] > sorting.latest)
				sorting.latest = starts[last];
		} else {
			r = sort_tile(&sorting, first, n_rows, &tiles[t]);
		}
	}
	if (!r)
		builder->unsorted = false;
	return r;
}
