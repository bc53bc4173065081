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
