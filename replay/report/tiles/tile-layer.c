/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layers: other times for the rows of a trace, in memory, see tiles.h. tools/studio makes layers of
 * emulations. A layer of a short trace has all rows, and its views read them. tile-layer-long.c
 * makes layers of longer traces.
 */
#include "replay/report/tiles/tile-layer.h"

#include "proto/abi/grow.h"
#include "replay/report/tiles/tile-spread.h"

/* ---- order ----------------------------------------------------------------------------------- */

struct key {
	uint64_t start_ns;
	uint32_t at;
	uint32_t reserved;
};

static inline bool is_after(const struct ts_tiles_layer_row *rows, const struct key *a,
			    const struct key *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns > b->start_ns;
	return rows[a->at].op_id > rows[b->at].op_id;
}

/* Returns the end of the ordered keys from `first` on. */
static size_t run_end(const struct ts_tiles_layer_row *rows, const struct key *keys, size_t first,
		      size_t n)
{
	size_t end = first < n ? first + 1 : n;

	while (end < n && !is_after(rows, &keys[end - 1], &keys[end]))
		end++;
	return end;
}

/* Merges [first, middle) and [middle, end), which are ordered. */
static void merge(const struct ts_tiles_layer_row *rows, const struct key *from, struct key *to,
		  size_t first, size_t middle, size_t end)
{
	size_t a = first, b = middle, n = first;

	while (a < middle && b < end)
		to[n++] = is_after(rows, &from[a], &from[b]) ? from[b++] : from[a++];
	memcpy(&to[n], &from[a], (middle - a) * sizeof(*to));
	n += middle - a;
	memcpy(&to[n], &from[b], (end - b) * sizeof(*to));
}

/*
 * Merges ordered runs until there is one. An emulation's rows are few runs: operations in the order
 * of their calls, then calls.
 */
static struct key *sort(const struct ts_tiles_layer_row *rows, size_t n, struct key *keys,
			struct key *spare)
{
	while (run_end(rows, keys, 0, n) < n) {
		struct key *sorted = spare;

		for (size_t first = 0, end; first < n; first = end) {
			size_t middle = run_end(rows, keys, first, n);

			end = run_end(rows, keys, middle, n);
			merge(rows, keys, sorted, first, middle, end);
		}
		spare = keys;
		keys = sorted;
	}
	return keys;
}

int ts_tile_layer_order(const struct ts_tiles_layer_row *rows, size_t n, uint32_t **ret_order)
{
	ts_cleanup(ts_freep) struct key *keys = malloc((n + 1) * sizeof(*keys));
	ts_cleanup(ts_freep) struct key *spare = malloc((n + 1) * sizeof(*keys));
	uint32_t *order = malloc((n + 1) * sizeof(*order));
	const struct key *sorted;

	if (!keys || !spare || !order || n > UINT32_MAX) {
		free(order);
		return -ENOMEM;
	}
	for (size_t i = 0; i < n; i++)
		keys[i] = (struct key){rows[i].start_ns, (uint32_t)i, 0};
	sorted = sort(rows, n, keys, spare);
	for (size_t i = 0; i < n; i++)
		order[i] = sorted[i].at;
	*ret_order = order;
	return 0;
}

/* ---- rows ------------------------------------------------------------------------------------ */

int ts_tile_layer_reserve(struct ts_tiles_layer *layer, size_t n)
{
	struct ts_tile_item *items;
	uint64_t *ops, *latest_ns;

	if (n <= layer->capacity)
		return 0;
	items = realloc(layer->items, n * sizeof(*items));
	layer->items = items ? items : layer->items;
	ops = realloc(layer->ops, n * sizeof(*ops));
	layer->ops = ops ? ops : layer->ops;
	latest_ns = realloc(layer->latest_ns, (n / TS_TILE_LATEST + 1) * sizeof(*latest_ns));
	layer->latest_ns = latest_ns ? latest_ns : layer->latest_ns;
	if (!items || !ops || !latest_ns)
		return -ENOMEM;
	layer->capacity = n;
	return 0;
}

bool ts_tile_layer_has(const struct ts_tiles_layer *layer, const struct ts_tiles_layer_row *row)
{
	return row->lane && row->lane <= layer->tiles->n_lanes;
}

void ts_tile_layer_append(struct ts_tiles_layer *layer, const struct ts_tiles_layer_row *row)
{
	size_t i = layer->n++, at = i / TS_TILE_LATEST;
	uint64_t end_ns = row->end_ns > row->start_ns ? row->end_ns : row->start_ns;
	uint64_t latest_ns = !i ? 0 : layer->latest_ns[(i - 1) / TS_TILE_LATEST];

	layer->items[i] = (struct ts_tile_item){.start_ns = row->start_ns,
						.end_ns = end_ns,
						.key = row->key,
						.lane = row->lane - 1};
	layer->ops[i] = row->op_id;
	layer->latest_ns[at] = end_ns > latest_ns ? end_ns : latest_ns;
}

int ts_tiles_layer_new(const struct ts_tiles *tiles, const struct ts_tiles_layer_row *rows,
		       size_t n_rows, struct ts_tiles_layer **ret_layer)
{
	ts_cleanup(ts_tiles_layer_freep) struct ts_tiles_layer *layer = calloc(1, sizeof(*layer));
	ts_cleanup(ts_freep) uint32_t *order = NULL;

	if (!layer || ts_tile_layer_order(rows, n_rows, &order))
		return -ENOMEM;
	layer->tiles = tiles;
	layer->rows_to_ns = UINT64_MAX;
	if (ts_tile_layer_reserve(layer, n_rows))
		return -ENOMEM;
	for (size_t i = 0; i < n_rows; i++)
		if (ts_tile_layer_has(layer, &rows[order[i]]))
			ts_tile_layer_append(layer, &rows[order[i]]);
	*ret_layer = ts_take_ptr(layer);
	return 0;
}

void ts_tiles_layer_free(struct ts_tiles_layer *layer)
{
	if (!layer)
		return;
	for (size_t i = 0; layer->fills && i < layer->n_fills; i++)
		if (layer->fills[i]) {
			ts_tile_fill_deinit(layer->fills[i]);
			free(layer->fills[i]);
		}
	free(layer->fills);
	free(layer->pending);
	free(layer->items);
	free(layer->ops);
	free(layer->latest_ns);
	free(layer);
}

size_t ts_tiles_layer_bytes(const struct ts_tiles_layer *layer)
{
	return layer->capacity * (sizeof(*layer->items) + sizeof(*layer->ops)) + layer->n_bytes;
}

/* ---- views ----------------------------------------------------------------------------------- */

/* Returns an item at or before the first one that ends at or after the time. */
static size_t first_at(const struct ts_tiles_layer *layer, uint64_t from_ns)
{
	size_t low = 0, high = (layer->n + TS_TILE_LATEST - 1) / TS_TILE_LATEST;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (layer->latest_ns[middle] < from_ns)
			low = middle + 1;
		else
			high = middle;
	}
	low *= TS_TILE_LATEST;
	return low < layer->n ? low : layer->n;
}

/* True if the layer has all rows of the span. */
static bool has_rows(const struct ts_tiles_layer *layer, uint64_t from_ns, uint64_t to_ns)
{
	return !layer->fills || (from_ns >= layer->rows_from_ns && to_ns <= layer->rows_to_ns);
}

int ts_tiles_layer_view(const struct ts_tiles_layer *layer, const struct ts_tiles_view *view,
			struct ts_tile_cell *ret_cells)
{
	const struct ts_tiles *tiles = layer->tiles;
	uint64_t width_ns, to_ns;
	struct ts_tile_fills fills = {0};
	struct ts_tile_spread spread = {.tiles = tiles};
	struct ts_tile_block block = {.items = layer->items};
	size_t first, last;
	int r = 0;

	if (!ts_tiles_view_is_valid(view))
		return -EINVAL;
	for (size_t i = 0; i < view->n_lanes; i++)
		if (!view->lanes[i] || view->lanes[i] > tiles->n_lanes)
			return TS_TILES_E_LANE;
	width_ns = (uint64_t)TS_TILE_CELLS << view->level;
	to_ns = (view->first + view->n_tiles) * width_ns;
	if (!has_rows(layer, view->first * width_ns, to_ns)) {
		ts_tile_layer_copy(layer, view, ret_cells);
		return 0;
	}
	r = ts_tile_fills_init(&fills, tiles);
	for (size_t i = 0; !r && i < view->n_lanes; i++)
		r = ts_tile_fills_add(&fills, tiles, view, view->lanes[i] - 1);
	first = last = first_at(layer, view->first * width_ns);
	while (last < layer->n && layer->items[last].start_ns < to_ns)
		last++;
	spread.fills = fills.at;
	r = r ? r : ts_tile_spread_add(&spread, &block, (uint32_t)first, (uint32_t)(last - first));
	for (size_t i = 0; !r && i < fills.n; i++)
		if (fills.at[i])
			r = ts_tile_fill_finish(fills.at[i]);
	if (!r) {
		memset(ret_cells, 0,
		       view->n_lanes * view->n_tiles * TS_TILE_CELLS * sizeof(*ret_cells));
		ts_tile_fills_copy(&fills, view, ret_cells);
	}
	ts_tile_fills_deinit(&fills);
	return r;
}

int ts_tiles_layer_rows(const struct ts_tiles_layer *layer, uint32_t lane, uint64_t from_ns,
			uint64_t to_ns, size_t limit, struct ts_tile_rows *ret_rows)
{
	struct ts_tile_rows rows = {0};
	size_t capacity = 0;

	if (!lane || lane > layer->tiles->n_lanes)
		return TS_TILES_E_LANE;
	rows.more = !has_rows(layer, from_ns, to_ns);
	for (size_t i = first_at(layer, from_ns);
	     !rows.more && i < layer->n && layer->items[i].start_ns < to_ns; i++) {
		const struct ts_tile_item *item = &layer->items[i];

		if (!ts_tile_spread_has(layer->tiles, lane - 1, item) ||
		    (item->end_ns <= from_ns && item->start_ns < from_ns))
			continue;
		if (rows.n == limit) {
			rows.more = true;
			break;
		}
		if (TS_GROW(rows.at, capacity, rows.n + 1)) {
			free(rows.at);
			return -ENOMEM;
		}
		rows.at[rows.n++] = (struct ts_tile_row){.start_ns = item->start_ns,
							 .end_ns = item->end_ns,
							 .op_id = layer->ops[i],
							 .key = item->key,
							 .type = ts_tile_key_type(item->key)};
	}
	*ret_rows = rows;
	return 0;
}
