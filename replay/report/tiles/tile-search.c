/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searches for the next row with a wanted key: see tiles.h. tools/studio calls this module. The
 * sums of blocks rule out most blocks without such a row.
 */
#include "replay/report/tiles/tiles-internal.h"
#include "sbt/block-places.h"

struct search {
	struct ts_tiles *tiles;
	struct ts_sbt_reader *reader;
	const struct ts_tiles_search *wanted;
	const uint8_t *chosen; /* one byte per block */
	bool is_found, is_damaged;
	struct ts_tile_place from; /* the next row is behind this place, or before it */
	struct ts_tile_place best; /* of the row found so far */
	struct ts_tile_item item;
};

static uint64_t since(const struct ts_tiles *tiles, uint64_t ns)
{
	return ns > tiles->origin_ns ? ns - tiles->origin_ns : 0;
}

/* Compares places in the order of tiles.h. */
static int compare(const struct ts_tile_place *a, const struct ts_tile_place *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->lane != b->lane)
		return a->lane < b->lane ? -1 : 1;
	if (a->block != b->block)
		return a->block < b->block ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

/* Returns true if a row at this place is nearer than the one found so far. */
static bool is_better(const struct search *search, const struct ts_tile_place *place)
{
	const int way = search->wanted->is_backward ? -1 : 1;

	return compare(place, &search->from) * way > 0 &&
	       (!search->is_found || compare(place, &search->best) * way < 0);
}

/* Returns true if no later row of a block, whose rows are in order of start, is nearer. */
static bool is_past(const struct search *search, uint64_t start_ns)
{
	return search->wanted->is_backward ? start_ns > search->from.start_ns
					   : search->is_found && start_ns > search->best.start_ns;
}

static int search_block(struct search *search, uint64_t number)
{
	const struct ts_tiles_search *wanted = search->wanted;
	struct ts_tile_block *block;
	int r;

	if (wanted->is_cancelled && wanted->is_cancelled(wanted->data))
		return -ECANCELED;
	r = ts_tile_block_get(search->tiles, search->reader, number, false, &block);
	if (r == TS_SBT_E_CORRUPT) {
		search->is_damaged = true;
		return 0;
	}
	if (r)
		return r;
	for (uint32_t i = 0; i < block->n && !is_past(search, block->items[i].start_ns); i++) {
		const struct ts_tile_item *item = &block->items[i];
		const struct ts_tile_place place = {item->start_ns, number, item->lane + 1, i};

		if (item->lane == TS_TILE_NO_LANE || !is_better(search, &place) ||
		    !wanted->is_wanted(wanted->data, item->key))
			continue;
		search->is_found = true;
		search->best = place;
		search->item = *item;
	}
	ts_tile_block_release(search->tiles, block);
	return 0;
}

/* Returns true if a block may have a nearer row. */
static bool may_have(const struct search *search, const struct ts_sbt_block *block)
{
	uint64_t earliest_ns = since(search->tiles, block->earliest_ns);
	uint64_t latest_ns = since(search->tiles, block->latest_ns);

	if (search->wanted->is_backward)
		return earliest_ns <= search->from.start_ns &&
		       (!search->is_found || latest_ns >= search->best.start_ns);
	return latest_ns >= search->from.start_ns &&
	       (!search->is_found || earliest_ns <= search->best.start_ns);
}

static int search_unit(struct search *search, const struct ts_tile_unit *unit)
{
	int r = 0;

	for (size_t i = 0; !r && i < unit->n_blocks; i++) {
		size_t k = search->wanted->is_backward ? unit->n_blocks - 1 - i : i;
		uint32_t number = unit->blocks[k];

		if (search->chosen[number] &&
		    may_have(search, ts_sbt_reader_block(search->reader, number)))
			r = search_block(search, number);
	}
	return r;
}

static bool is_wanted_sum(void *data, const struct ts_sbt_total *total)
{
	const struct search *search = data;
	union {
		struct ts_row_api api;
		struct ts_row_kernel kernel;
		struct ts_row_memcpy copy;
		struct ts_row_range range;
		uint8_t any[TS_ROW_MAX_BYTES];
	} row;
	uint32_t key;

	ts_sbt_total_row(total, &row);
	switch (total->type) {
	case TS_ROW_API:
		key = ts_tile_key(total->type, (uint64_t)row.api.domain << 16 | row.api.cbid);
		break;
	case TS_ROW_KERNEL:
		key = ts_tile_key(total->type, row.kernel.name);
		break;
	case TS_ROW_MEMCPY:
		key = ts_tile_key(total->type, row.copy.copy_kind);
		break;
	case TS_ROW_RANGE:
		key = ts_tile_key(total->type, row.range.name);
		break;
	default:
		key = ts_tile_key(total->type, 0);
	}
	return search->wanted->is_wanted(search->wanted->data, key);
}

/* Counts the rows of the wanted names that have sums. */
static int count_matches(struct search *search, uint64_t *ret_n)
{
	ts_cleanup(ts_sbt_totals_freep) struct ts_sbt_totals *totals = NULL;
	const struct ts_sbt_cursor_options options = {.types = TS_SBT_TOTAL_TYPES &
							       ~TS_ROW_BIT(TS_ROW_SYNC)};
	int r = ts_sbt_totals_new(search->reader, &options, &totals);

	if (r)
		return r;
	*ret_n = 0;
	for (size_t i = 0; i < ts_sbt_totals_count(totals); i++)
		if (is_wanted_sum(search, ts_sbt_totals_at(totals, i)))
			*ret_n += ts_sbt_totals_at(totals, i)->count;
	return 0;
}

int ts_tiles_search(struct ts_tiles *tiles, struct ts_sbt_reader *reader,
		    const struct ts_tiles_search *wanted, struct ts_tile_match *ret_match)
{
	ts_cleanup(ts_freep) uint8_t *chosen = NULL;
	struct search search = {.tiles = tiles,
				.reader = reader,
				.wanted = wanted,
				.from = wanted->from};
	uint64_t n_matches;
	int r = count_matches(&search, &n_matches);

	r = r ? r : ts_sbt_reader_with_sums(reader, is_wanted_sum, &search, &chosen);
	if (r)
		return r;
	search.chosen = chosen;
	for (size_t i = 0; !r && i < tiles->n_units; i++)
		r = search_unit(&search, &tiles->units[i]);
	if (r)
		return r;
	if (!search.is_found)
		return TS_SBT_E_NOT_FOUND;
	*ret_match = (struct ts_tile_match){
		.lane = search.best.lane,
		.row = {.start_ns = search.best.start_ns,
			.end_ns = search.item.end_ns,
			.key = search.item.key,
			.type = ts_tile_key_type(search.item.key),
			.index = search.best.index,
			.block = search.best.block},
		.n_matches = n_matches,
	};
	return ts_tile_row_complete(reader, &ret_match->row);
}
