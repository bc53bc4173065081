/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums of rows by name; `tsctl` calls this module. A block that lies within the window has its sums
 * in a summary. A block is decoded if it is partly outside the window, or if a filter applies. A
 * block is also decoded if the summary is missing, or if its sums differ from the block's header.
 */

#include "proto/abi/grow.h"
#include "proto/abi/map.h"
#include "sbt/format/summary.h"
#include "sbt/read/filter.h"

#define MAX_TOTALS (1024u * 1024) /* an untrusted file may have any number of names */

/* Remaining work for a block. */
enum {
	DONE = 0,
	SUM_UP = 1, /* sum the block by its summary, if it has one */
	DECODE = 2,
};

struct ts_sbt_totals {
	struct ts_sbt_total *all;
	size_t n, capacity;
	struct ts_hashindex index; /* by name */
	size_t last;
	uint64_t n_decoded;
	uint64_t n_damaged;
};

/* Finds or adds the total of a name. */
static int find(struct ts_sbt_totals *totals, unsigned type, uint64_t key,
		struct ts_sbt_total **ret_total)
{
	uint64_t hash = key ^ (uint64_t)type << 58;

	if (totals->last < totals->n && totals->all[totals->last].key == key &&
	    totals->all[totals->last].type == type) {
		*ret_total = &totals->all[totals->last];
		return 0;
	}
	TS_HASHINDEX_EACH (&totals->index, hash, at)
		if (totals->all[at.number].key == key && totals->all[at.number].type == type) {
			totals->last = at.number;
			*ret_total = &totals->all[at.number];
			return 0;
		}
	if (totals->n >= MAX_TOTALS)
		return TS_SBT_E_LIMIT;
	if (TS_GROW(totals->all, totals->capacity, totals->n + 1) ||
	    ts_hashindex_add(&totals->index, hash, (uint32_t)totals->n))
		return -ENOMEM;
	totals->last = totals->n++;
	totals->all[totals->last] =
		(struct ts_sbt_total){.type = type, .key = key, .min_ns = UINT64_MAX};
	*ret_total = &totals->all[totals->last];
	return 0;
}

static int add(struct ts_sbt_totals *totals, unsigned type, const struct ts_block_sum *sum)
{
	struct ts_sbt_total *total;
	int r = find(totals, type, sum->key, &total);

	if (r)
		return r;
	total->count += sum->count;
	total->duration_ns = ts_add_saturated(total->duration_ns, sum->duration_ns);
	total->min_ns = sum->min_ns < total->min_ns ? sum->min_ns : total->min_ns;
	total->max_ns = sum->max_ns > total->max_ns ? sum->max_ns : total->max_ns;
	total->bytes = ts_add_saturated(total->bytes, sum->bytes);
	return 0;
}

/* Returns true if the sums of a block equal the sums in its header. */
static bool adds_up(const struct ts_sbt_block *block, const struct ts_block_sum *sums, uint32_t n)
{
	uint64_t count = 0, duration_ns = 0, bytes = 0;

	for (uint32_t i = 0; i < n; i++) {
		count = ts_add_saturated(count, sums[i].count);
		duration_ns = ts_add_saturated(duration_ns, sums[i].duration_ns);
		bytes = ts_add_saturated(bytes, sums[i].bytes);
	}
	return count == block->n_rows && duration_ns == block->duration_ns &&
	       bytes == block->amount_bytes;
}

struct summing {
	struct ts_sbt_reader *reader;
	struct ts_sbt_totals *totals;
	uint8_t *to_do;
};

/* Adds the sums of a block in state SUM_UP. */
static int add_sums(void *data, uint64_t block, const uint8_t *rows, uint32_t n)
{
	const struct summing *summing = data;
	const struct ts_block_sum *sums = (const void *)rows;
	const struct ts_sbt_block *described = &summing->reader->blocks[block];
	int r = 0;

	if (summing->to_do[block] != SUM_UP || !adds_up(described, sums, n))
		return 0;
	for (uint32_t k = 0; !r && k < n; k++)
		r = add(summing->totals, described->type, &sums[k]);
	summing->to_do[block] = DONE;
	return r;
}

static int add_row(struct ts_sbt_totals *totals, const struct ts_row_schema *schema,
		   const uint8_t *row)
{
	uint64_t ns = ts_row_end_ns(schema, row) - ts_row_start_ns(row);
	struct ts_block_sum sum = {.count = 1, .duration_ns = ns, .min_ns = ns, .max_ns = ns};

	if (schema->bytes_column >= 0)
		sum.bytes = ts_column_get(&schema->columns[schema->bytes_column], row);
	ts_summary_key(schema, row, &sum.key);
	return add(totals, schema->type, &sum);
}

static int add_block(struct ts_sbt_reader *reader, struct ts_sbt_totals *totals,
		     const struct ts_sbt_cursor_options *options, size_t i)
{
	const struct ts_row_schema *schema = ts_row_schema(reader->blocks[i].type);
	ts_cleanup(ts_freep) uint8_t *rows = NULL;
	struct ts_row_filter filter;
	const uint8_t *row;
	uint32_t n_rows;
	int r = ts_sbt_reader_decode(reader, i, (void **)(void *)&rows, &n_rows);

	if (r == TS_SBT_E_CORRUPT) {
		totals->n_damaged++;
		return 0;
	}
	if (r)
		return r;
	totals->n_decoded++;
	ts_row_filter_init(&filter, schema, options);
	row = rows;
	for (uint32_t k = 0; !r && k < n_rows; k++, row += schema->row_bytes)
		if (ts_row_start_ns(row) <= options->to_ns &&
		    ts_row_end_ns(schema, row) >= options->from_ns && ts_row_passes(&filter, row))
			r = add_row(totals, schema, row);
	return r;
}

static int compare(const void *a, const void *b)
{
	const struct ts_sbt_total *x = a, *y = b;

	if (x->type != y->type)
		return x->type < y->type ? -1 : 1;
	return x->key < y->key ? -1 : x->key > y->key;
}

static int add_all(struct ts_sbt_reader *reader, struct ts_sbt_totals *totals,
		   const struct ts_sbt_cursor_options *options, uint8_t *to_do)
{
	struct summing summing = {reader, totals, to_do};
	int r = 0;

	for (size_t i = 0; i < reader->n_blocks; i++)
		if (to_do[i] &&
		    (options->filter || reader->blocks[i].earliest_ns < options->from_ns ||
		     reader->blocks[i].latest_ns > options->to_ns))
			to_do[i] = DECODE;
	for (size_t i = 0; !r && i < reader->n_blocks; i++)
		if (reader->blocks[i].type == TS_ROW_BLOCK_SUM)
			r = ts_sbt_reader_groups(reader, i, TS_SUMMARY_SUMS, add_sums, &summing);
	for (size_t i = 0; !r && i < reader->n_blocks; i++)
		if (to_do[i])
			r = add_block(reader, totals, options, i);
	return r;
}

int ts_sbt_totals_new(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
		      struct ts_sbt_totals **ret_totals)
{
	ts_cleanup(ts_sbt_totals_freep) struct ts_sbt_totals *totals = calloc(1, sizeof(*totals));
	struct ts_sbt_cursor_options asked = {0};
	ts_cleanup(ts_freep) uint8_t *to_do = NULL;
	int r;

	if (!totals)
		return ts_sbt_reader_fail(reader, -ENOMEM, 0, "no memory for totals");
	totals->n_damaged = ts_sbt_reader_note_lost_block(reader);
	if (options)
		asked = *options;
	asked.types = (asked.types ? asked.types : TS_ROW_EVENTS) & TS_SBT_TOTAL_TYPES;
	asked.to_ns = asked.to_ns ? asked.to_ns : UINT64_MAX;
	for (unsigned type = TS_ROW_API; type; type = ts_row_next_event(type)) {
		struct ts_row_filter filter;

		if (asked.types & TS_ROW_BIT(type) &&
		    !ts_row_filter_init(&filter, ts_row_schema(type), &asked))
			asked.types &= ~TS_ROW_BIT(type);
	}
	r = ts_sbt_reader_choose(reader, &asked, &to_do);
	r = r ?: add_all(reader, totals, &asked, to_do);
	if (r == TS_SBT_E_LIMIT)
		return ts_sbt_reader_fail(reader, r, 0, "more than %u names", MAX_TOTALS);
	if (r == -ENOMEM)
		return ts_sbt_reader_fail(reader, r, 0, "no memory for totals");
	if (r)
		return r;
	if (totals->n)
		qsort(totals->all, totals->n, sizeof(*totals->all), compare);
	*ret_totals = ts_take_ptr(totals);
	return 0;
}

void ts_sbt_totals_free(struct ts_sbt_totals *totals)
{
	if (!totals)
		return;
	free(totals->all);
	ts_hashindex_deinit(&totals->index);
	free(totals);
}

size_t ts_sbt_totals_count(const struct ts_sbt_totals *totals)
{
	return totals->n;
}

const struct ts_sbt_total *ts_sbt_totals_at(const struct ts_sbt_totals *totals, size_t i)
{
	return i < totals->n ? &totals->all[i] : NULL;
}

uint64_t ts_sbt_totals_decoded(const struct ts_sbt_totals *totals)
{
	return totals->n_decoded;
}

uint64_t ts_sbt_totals_damaged(const struct ts_sbt_totals *totals)
{
	return totals->n_damaged;
}
