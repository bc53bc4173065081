/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a layer: see tile-layer.h. tools/studio calls this module to make a layer of a short
 * trace, and tile-layer-long.c to make one of a long trace.
 */
#include "replay/report/tiles/tile-layer.h"

#include "proto/abi/base.h"

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
