/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the streams and threads of each block from the summaries: see block-places.h.
 * replay/report/tiles calls this module. It decodes the blocks of summaries only.
 */
#include "sbt/block-places.h"

#include "proto/abi/grow.h"
#include "sbt/format/summary.h"
#include "sbt/read/reader-internal.h"

static int add(struct ts_sbt_places *places, size_t *capacity, const struct ts_sbt_place *place)
{
	if (TS_GROW(places->at, *capacity, places->n + 1))
		return -ENOMEM;
	places->at[places->n++] = *place;
	return 0;
}

/* Adds the rows of summary block `i`. */
static int add_summary(struct ts_sbt_reader *reader, size_t i, int kind,
		       struct ts_sbt_places *places, size_t *capacity)
{
	const struct ts_row_schema *schema = ts_summary_schema(kind);
	ts_cleanup(ts_freep) uint8_t *rows = NULL;
	uint32_t n_rows;
	int r = ts_sbt_reader_decode_as(reader, i, schema, (void **)(void *)&rows, &n_rows);

	if (r)
		return r < 0 ? r : 0;
	for (uint32_t at = 0; !r && at < n_rows; at++) {
		const uint8_t *row = rows + (size_t)at * schema->row_bytes;
		const struct ts_block_stream *stream = (const void *)row;
		struct ts_sbt_place place = {
			.block = ts_sbt_reader_numbered(reader, i, ts_summary_block_of(row))};

		if (place.block == UINT64_MAX)
			continue;
		if (kind == TS_SUMMARY_THREADS) {
			place.is_thread = 1;
			place.thread = ((const struct ts_block_thread *)(const void *)row)->thread;
		} else {
			place.device = stream->device;
			place.context = stream->context;
			place.stream = stream->stream;
		}
		places->known[place.block] |=
			kind == TS_SUMMARY_THREADS ? TS_SBT_PLACES_THREADS : TS_SBT_PLACES_STREAMS;
		r = add(places, capacity, &place);
	}
	return r;
}

int ts_sbt_reader_places(struct ts_sbt_reader *reader, struct ts_sbt_places *ret_places)
{
	struct ts_sbt_places places = {.known = calloc(reader->n_blocks + 1, 1)};
	size_t capacity = 0;
	int r = places.known ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < reader->n_blocks; i++) {
		int kind = ts_summary_kind_of(reader->blocks[i].type);

		if (kind == TS_SUMMARY_STREAMS || kind == TS_SUMMARY_THREADS)
			r = add_summary(reader, i, kind, &places, &capacity);
	}
	if (r) {
		ts_sbt_places_deinit(&places);
		return r;
	}
	*ret_places = places;
	return 0;
}

void ts_sbt_places_deinit(struct ts_sbt_places *places)
{
	free(places->at);
	free(places->known);
	*places = (struct ts_sbt_places){0};
}

/* Rules out the blocks that summary block `i` describes. A damaged summary rules out nothing. */
static int rule_out(struct ts_sbt_reader *reader, size_t i,
		    bool (*is_wanted)(void *data, const struct ts_sbt_total *total), void *data,
		    uint8_t *chosen)
{
	ts_cleanup(ts_freep) struct ts_block_sum *sums = NULL;
	uint32_t n_rows;
	int r = ts_sbt_reader_decode_as(reader, i, ts_summary_schema(TS_SUMMARY_SUMS),
					(void **)(void *)&sums, &n_rows);

	if (r)
		return r < 0 ? r : 0;
	for (uint32_t at = 0, n; at < n_rows; at += n) {
		uint64_t block = ts_sbt_reader_numbered(reader, i, sums[at].block);
		bool any = false;

		n = ts_summary_group(TS_SUMMARY_SUMS, (const uint8_t *)sums, n_rows, at);
		if (block == UINT64_MAX)
			continue;
		for (uint32_t k = 0; !any && k < n; k++) {
			struct ts_sbt_total total = {.type = reader->blocks[block].type,
						     .key = sums[at + k].key};

			any = is_wanted(data, &total);
		}
		if (!any)
			chosen[block] = 0;
	}
	return 0;
}

int ts_sbt_reader_with_sums(struct ts_sbt_reader *reader,
			    bool (*is_wanted)(void *data, const struct ts_sbt_total *total),
			    void *data, uint8_t **ret_chosen)
{
	ts_cleanup(ts_freep) uint8_t *chosen = malloc(reader->n_blocks + 1);
	int r = chosen ? 0 : -ENOMEM;

	if (!r)
		memset(chosen, 1, reader->n_blocks + 1);
	for (size_t i = 0; !r && i < reader->n_blocks; i++)
		if (ts_summary_kind_of(reader->blocks[i].type) == TS_SUMMARY_SUMS)
			r = rule_out(reader, i, is_wanted, data, chosen);
	if (r)
		return r;
	*ret_chosen = ts_take_ptr(chosen);
	return 0;
}
