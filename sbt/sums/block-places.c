/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the streams and threads of each block from the summaries: see block-places.h.
 * replay/report/tiles calls this module. It decodes the blocks of summaries only.
 */
#include "sbt/block-places.h"

#include "proto/abi/grow.h"
#include "sbt/format/summary.h"
#include "sbt/read/reader-internal.h"

struct listing {
	struct ts_sbt_places places;
	size_t capacity;
	int kind; /* of the summary */
};

static int add(struct listing *listing, const struct ts_sbt_place *place)
{
	struct ts_sbt_places *places = &listing->places;

	if (TS_GROW(places->at, listing->capacity, places->n + 1))
		return -ENOMEM;
	places->at[places->n++] = *place;
	return 0;
}

/*
 * Adds the places of a block. A block of a valid file is described once, by few rows: otherwise it
 * stays unknown, so the memory is bounded by the number of blocks.
 */
static int add_places(void *data, uint64_t block, const uint8_t *rows, uint32_t n)
{
	struct listing *listing = data;
	bool is_thread = listing->kind == TS_SUMMARY_THREADS;
	uint8_t bit = is_thread ? TS_SBT_PLACES_THREADS : TS_SBT_PLACES_STREAMS;
	size_t row_bytes = ts_summary_schema(listing->kind)->row_bytes;
	int r = 0;

	if (n > TS_SUMMARY_MAX_PLACES || listing->places.known[block] & bit)
		return 0;
	listing->places.known[block] |= bit;
	for (uint32_t k = 0; !r && k < n; k++) {
		const uint8_t *row = rows + k * row_bytes;
		const struct ts_block_stream *stream = (const void *)row;
		struct ts_sbt_place place = {.block = block, .is_thread = is_thread};

		if (is_thread) {
			place.thread = ((const struct ts_block_thread *)(const void *)row)->thread;
		} else {
			place.device = stream->device;
			place.context = stream->context;
			place.stream = stream->stream;
		}
		r = add(listing, &place);
	}
	return r;
}

int ts_sbt_reader_places(struct ts_sbt_reader *reader, struct ts_sbt_places *ret_places)
{
	struct listing listing = {.places.known = calloc(reader->n_blocks + 1, 1)};
	int r = listing.places.known ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < reader->n_blocks; i++) {
		listing.kind = ts_summary_kind_of(reader->blocks[i].type);
		if (listing.kind == TS_SUMMARY_STREAMS || listing.kind == TS_SUMMARY_THREADS)
			r = ts_sbt_reader_groups(reader, i, listing.kind, add_places, &listing);
	}
	if (r) {
		ts_sbt_places_deinit(&listing.places);
		return r;
	}
	*ret_places = listing.places;
	return 0;
}

void ts_sbt_places_deinit(struct ts_sbt_places *places)
{
	free(places->at);
	free(places->known);
	*places = (struct ts_sbt_places){0};
}

struct choice {
	struct ts_sbt_reader *reader;
	bool (*is_wanted)(void *data, const struct ts_sbt_total *total);
	void *data;
	uint8_t *chosen;
};

/* Rules out a block without a wanted name. */
static int rule_out(void *data, uint64_t block, const uint8_t *rows, uint32_t n)
{
	const struct choice *choice = data;
	const struct ts_block_sum *sums = (const void *)rows;
	bool any = false;

	for (uint32_t k = 0; !any && k < n; k++) {
		struct ts_sbt_total total = {.type = choice->reader->blocks[block].type,
					     .key = sums[k].key};

		any = choice->is_wanted(choice->data, &total);
	}
	if (!any)
		choice->chosen[block] = 0;
	return 0;
}

int ts_sbt_reader_with_sums(struct ts_sbt_reader *reader,
			    bool (*is_wanted)(void *data, const struct ts_sbt_total *total),
			    void *data, uint8_t **ret_chosen)
{
	ts_cleanup(ts_freep) uint8_t *chosen = malloc(reader->n_blocks + 1);
	struct choice choice = {.reader = reader,
				.is_wanted = is_wanted,
				.data = data,
				.chosen = chosen};
	int r = chosen ? 0 : -ENOMEM;

	if (!r)
		memset(chosen, 1, reader->n_blocks + 1);
	for (size_t i = 0; !r && i < reader->n_blocks; i++)
		if (ts_summary_kind_of(reader->blocks[i].type) == TS_SUMMARY_SUMS)
			r = ts_sbt_reader_groups(reader, i, TS_SUMMARY_SUMS, rule_out, &choice);
	if (r)
		return r;
	*ret_chosen = ts_take_ptr(chosen);
	return 0;
}
