/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes blocks in threads ahead of the thread that merges their rows: see prefetch.h. cursor.c
 * calls this module; this module uses jobs.c and reader-block.c.
 *
 *     ts_prefetch_add() --> item with memory --> decoded in a thread --> ts_prefetch_take()
 *          ^                                                                   |
 *          +---- spare memory <---- ts_prefetch_give() <---- rows were read ---+
 *
 * The threads have no state in common: each has a copy of the reader, with its own decompressor.
 */

#include "sbt/read/threads/prefetch.h"

#include "sbt/read/threads/jobs.h"
#include "sbt/read/threads/twin.h"

#define ITEMS_SHARE 2u /* items of each thread: one that it decodes, one that waits */
#define MAX_ITEMS   (ITEMS_SHARE * TS_SBT_MAX_THREADS)
#define MAX_SPARES  8u
/* Spare memory that is more times larger than needed is not used. */
#define SPARE_FACTOR 4u
/* Rows that are assembled at a time: they stay in the cache while each column is copied. */
#define DECODE_ROWS 512u

/* A block on its way. The item belongs to a thread from ts_jobs_add() to ts_jobs_take(). */
struct item {
	const struct ts_sbt_reader *reader;
	uint64_t block;
	struct ts_row_batch *batch;
	struct ts_sbt_block_header header;
	bool is_decoded;
};

struct ts_prefetch {
	struct ts_sbt_reader reader; /* threads copy it */
	struct ts_jobs *jobs;
	unsigned n_items;
	uint64_t n_added, n_taken; /* item `i` is items[i % n_items] */
	uint64_t max_bytes, n_bytes;
	struct item items[MAX_ITEMS];
	struct ts_row_batch *spares[MAX_SPARES]; /* NULL: none */
};

/* ---- a thread -------------------------------------------------------------------------------- */

static int decode(struct ts_sbt_reader *reader, struct item *item)
{
	const struct ts_row_schema *schema = ts_row_schema(reader->blocks[item->block].type);
	struct ts_block_columns *columns = NULL;
	struct ts_block_decoder decoder;
	uint8_t *raw = NULL, *row = item->batch->rows;
	const char *why = NULL;
	int r = ts_sbt_reader_load(reader, item->block, &item->header, &raw);

	r = r ?: ts_sbt_reader_columns(reader, item->block, schema, &item->header, raw, &columns);
	ts_spares_put(&reader->spares, raw);
	if (r)
		return r;
	ts_block_decoder_init(&decoder, schema, &item->header);
	while (!why && decoder.n_left) {
		uint32_t n = decoder.n_left < DECODE_ROWS ? decoder.n_left : DECODE_ROWS;

		why = ts_block_decoder_next(&decoder, columns, row, n);
		row += (size_t)n * schema->row_bytes;
	}
	ts_spares_put(&reader->spares, columns);
	return why ? TS_SBT_E_CORRUPT : 0;
}

static void run_job(void *state, void *data)
{
	struct item *item = *(struct item **)data;
	struct ts_sbt_reader *own = state;

	item->is_decoded =
		(own->zstd || !ts_reader_twin_init(own, item->reader)) && !decode(own, item);
}

static void deinit_state(void *state)
{
	ts_reader_twin_deinit(state);
}

/* ---- the thread that merges ------------------------------------------------------------------ */

int ts_prefetch_new(const struct ts_sbt_reader *reader, unsigned n_threads, uint64_t max_bytes,
		    struct ts_prefetch **ret_prefetch)
{
	static const struct ts_jobs_kind kind = {.job_bytes = sizeof(struct item *),
						 .state_bytes = sizeof(struct ts_sbt_reader),
						 .run = run_job,
						 .state_deinit = deinit_state};
	struct ts_prefetch *prefetch = calloc(1, sizeof(*prefetch));
	int r;

	if (!prefetch)
		return -ENOMEM;
	n_threads = n_threads < TS_SBT_MAX_THREADS ? n_threads : TS_SBT_MAX_THREADS;
	prefetch->reader = *reader;
	prefetch->max_bytes = max_bytes;
	prefetch->n_items = ITEMS_SHARE * n_threads;
	r = ts_jobs_new(n_threads, prefetch->n_items, &kind, &prefetch->jobs);
	if (r) {
		free(prefetch);
		return r;
	}
	*ret_prefetch = prefetch;
	return 0;
}

void ts_prefetch_free(struct ts_prefetch *prefetch)
{
	if (!prefetch)
		return;
	ts_jobs_free(prefetch->jobs);
	for (unsigned i = 0; i < MAX_ITEMS; i++)
		free(prefetch->items[i].batch);
	for (unsigned i = 0; i < MAX_SPARES; i++)
		free(prefetch->spares[i]);
	free(prefetch);
}

static bool fits(const struct ts_row_batch *batch, size_t n_bytes)
{
	return batch && batch->n_bytes >= n_bytes && batch->n_bytes / SPARE_FACTOR <= n_bytes;
}

static struct ts_row_batch *take_spare(struct ts_prefetch *prefetch, size_t n_bytes)
{
	for (unsigned i = 0; i < MAX_SPARES; i++)
		if (fits(prefetch->spares[i], n_bytes))
			return ts_take_ptr(prefetch->spares[i]);
	return NULL;
}

/* Frees spare memory until `n_bytes` more fit the limit. */
static bool make_room(struct ts_prefetch *prefetch, size_t n_bytes)
{
	for (unsigned i = 0; i < MAX_SPARES && prefetch->n_bytes + n_bytes > prefetch->max_bytes;
	     i++) {
		if (!prefetch->spares[i])
			continue;
		prefetch->n_bytes -= prefetch->spares[i]->n_bytes;
		free(ts_take_ptr(prefetch->spares[i]));
	}
	return prefetch->n_bytes + n_bytes <= prefetch->max_bytes;
}

static struct ts_row_batch *new_batch(struct ts_prefetch *prefetch, size_t n_bytes)
{
	struct ts_row_batch *batch = take_spare(prefetch, n_bytes);

	if (batch || !make_room(prefetch, n_bytes))
		return batch;
	batch = malloc(sizeof(*batch) + n_bytes);
	if (!batch)
		return NULL;
	batch->n_bytes = n_bytes;
	prefetch->n_bytes += n_bytes;
	return batch;
}

bool ts_prefetch_add(struct ts_prefetch *prefetch, uint64_t block)
{
	const struct ts_sbt_block *its = &prefetch->reader.blocks[block];
	size_t n_bytes = (size_t)its->n_rows * ts_row_schema(its->type)->row_bytes;
	struct item *item = &prefetch->items[prefetch->n_added % prefetch->n_items];
	struct ts_row_batch *batch;

	if (prefetch->n_added - prefetch->n_taken == prefetch->n_items)
		return false;
	batch = new_batch(prefetch, n_bytes);
	if (!batch)
		return false;
	*item = (struct item){.reader = &prefetch->reader, .block = block, .batch = batch};
	*(struct item **)ts_jobs_slot(prefetch->jobs) = item;
	ts_jobs_add(prefetch->jobs);
	prefetch->n_added++;
	return true;
}

struct ts_row_batch *ts_prefetch_take(struct ts_prefetch *prefetch, uint64_t block,
				      struct ts_sbt_block_header *ret_header)
{
	struct item *item = &prefetch->items[prefetch->n_taken % prefetch->n_items];

	if (prefetch->n_taken == prefetch->n_added || item->block != block)
		return NULL;
	(void)ts_jobs_take(prefetch->jobs);
	prefetch->n_taken++;
	prefetch->n_bytes -= item->batch->n_bytes;
	if (!item->is_decoded) {
		ts_prefetch_give(prefetch, ts_take_ptr(item->batch));
		return NULL;
	}
	*ret_header = item->header;
	return ts_take_ptr(item->batch);
}

void ts_prefetch_give(struct ts_prefetch *prefetch, struct ts_row_batch *batch)
{
	unsigned i = 0;

	while (i < MAX_SPARES && prefetch->spares[i])
		i++;
	if (i == MAX_SPARES || prefetch->n_bytes + batch->n_bytes > prefetch->max_bytes) {
		free(batch);
		return;
	}
	prefetch->n_bytes += batch->n_bytes;
	prefetch->spares[i] = batch;
}
