/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open blocks: rows to columns. Rows of events leave in order of their start, whatever order they came
 * in, so that a reader can merge blocks as streams; mostly they come in order, or as a few ordered runs (one
 * per shard), and a merge of natural runs costs little.
 */

#include "sbt/block.h"

#define STAGE_ROWS   256u
#define MIN_CAPACITY 1024u

int ts_builder_new(const struct ts_row_schema *schema, struct ts_builder **ret_builder)
{
	struct ts_builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return -ENOMEM;
	builder->schema = schema;
	ts_plan_of(schema, &builder->plan);
	for (int run = 0; run < TS_PLAN_RUNS; run++)
		builder->dictionaries[run].item_bytes = builder->plan.runs[run].n_bytes;
	builder->earliest_ns = UINT64_MAX;
	builder->staged = malloc((size_t)STAGE_ROWS * schema->row_bytes);
	if (!builder->staged) {
		free(builder);
		return -ENOMEM;
	}
	*ret_builder = builder;
	return 0;
}

void ts_builder_free(struct ts_builder *builder)
{
	if (!builder)
		return;
	for (unsigned c = 0; c < TS_ROW_MAX_COLUMNS; c++)
		free(builder->columns[c]);
	for (int run = 0; run < TS_PLAN_RUNS; run++) {
		ts_dictionary_deinit(&builder->dictionaries[run]);
		free(builder->indices[run]);
	}
	free(builder->staged);
	free(builder);
}

static int grow_array(uint8_t **array, size_t n_bytes)
{
	uint8_t *grown = realloc(*array, n_bytes);

	if (!grown)
		return -ENOMEM;
	*array = grown;
	return 0;
}

static int grow(struct ts_builder *builder)
{
	uint32_t capacity = builder->capacity ? builder->capacity * 2 : MIN_CAPACITY;
	int r = 0;

	for (unsigned c = 0; !r && c < builder->schema->n_columns; c++)
		if (ts_plan_run_of(&builder->plan, c) < 0)
			r = grow_array(&builder->columns[c],
				       (size_t)capacity * builder->schema->columns[c].width);
	for (int run = 0; !r && run < TS_PLAN_RUNS; run++)
		if (builder->plan.runs[run].n_bytes)
			r = grow_array((uint8_t **)(void *)&builder->indices[run],
				       capacity * sizeof(uint16_t));
	if (!r)
		builder->capacity = capacity;
	return r;
}

/* One field of each staged row, one after the other. */
static void gather(uint8_t *to, const uint8_t *from, size_t stride, uint16_t width, uint32_t n)
{
	uint32_t i;

	switch (width) {
	case 1:
		for (i = 0; i < n; i++, from += stride)
			to[i] = *from;
		break;
	case 2:
		for (i = 0; i < n; i++, from += stride)
			memcpy(to + i * 2u, from, 2);
		break;
	case 4:
		for (i = 0; i < n; i++, from += stride)
			memcpy(to + i * 4u, from, 4);
		break;
	case 8:
		for (i = 0; i < n; i++, from += stride)
			memcpy(to + i * 8u, from, 8);
		break;
	default:
		for (i = 0; i < n; i++, from += stride)
			memcpy(to + (size_t)i * width, from, width);
	}
}

/* What the header says of the rows. */
static void account(struct ts_builder *builder)
{
	const struct ts_row_schema *schema = builder->schema;
	const uint8_t *row = builder->staged;

	for (uint32_t i = 0; i < builder->n_staged; i++, row += schema->row_bytes) {
		uint64_t start_ns = ts_row_start_ns(row), end_ns = ts_row_end_ns(schema, row);

		builder->unsorted |= start_ns < builder->last_start_ns;
		builder->last_start_ns = start_ns;
		if (start_ns < builder->earliest_ns)
			builder->earliest_ns = start_ns;
		if (end_ns > builder->latest_ns)
			builder->latest_ns = end_ns;
		builder->duration_ns = ts_add_saturated(builder->duration_ns, end_ns - start_ns);
		if (schema->bytes_column >= 0)
			builder->amount_bytes = ts_add_saturated(
				builder->amount_bytes,
				ts_column_get(&schema->columns[schema->bytes_column], row));
	}
}

/* The number of each staged row's item in the dictionary of a run. */
static int index_run(struct ts_builder *builder, int run)
{
	const uint8_t *row = builder->staged + builder->plan.runs[run].offset;
	uint16_t *to = builder->indices[run] + builder->n_rows;
	uint32_t number;

	for (uint32_t i = 0; i < builder->n_staged; i++, row += builder->schema->row_bytes) {
		int r = ts_dictionary_look_up(&builder->dictionaries[run], row, &number);

		if (r)
			return r;
		to[i] = (uint16_t)number;
	}
	return 0;
}

static int unstage(struct ts_builder *builder)
{
	const struct ts_row_schema *schema = builder->schema;
	int r = 0;

	/* Nor are there columns yet, where no row ever came. */
	if (!builder->n_staged)
		return 0;
	while (!r && builder->n_rows + builder->n_staged > builder->capacity)
		r = grow(builder);
	for (int run = 0; !r && run < TS_PLAN_RUNS; run++)
		if (builder->plan.runs[run].n_bytes)
			r = index_run(builder, run);
	if (r)
		return r;
	for (unsigned c = 0; c < schema->n_columns; c++) {
		const struct ts_column *column = &schema->columns[c];

		if (ts_plan_run_of(&builder->plan, c) >= 0)
			continue;
		gather(builder->columns[c] + (size_t)builder->n_rows * column->width,
		       builder->staged + column->offset, schema->row_bytes, column->width,
		       builder->n_staged);
	}
	if (schema->is_event)
		account(builder);
	builder->n_rows += builder->n_staged;
	builder->n_staged = 0;
	return 0;
}

int ts_builder_add(struct ts_builder *builder, const void *row)
{
	if (builder->n_staged == STAGE_ROWS) {
		int r = unstage(builder);

		if (r)
			return r;
	}
	memcpy(builder->staged + (size_t)builder->n_staged * builder->schema->row_bytes, row,
	       builder->schema->row_bytes);
	builder->n_staged++;
	return 0;
}

uint64_t ts_builder_bytes(const struct ts_builder *builder)
{
	return (uint64_t)ts_builder_rows(builder) * builder->schema->row_bytes;
}

struct sort_key {
	uint64_t start_ns;
	uint32_t row;
	uint32_t reserved;
};

/* How many of [a, b) come before a row of this start: not later. */
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
 * Merges [a, b) and [b, c) of `from` into `to`; of equal ones the first comes first. Runs mostly follow on each other, so
 * what lies before or behind the other run is copied as it is.
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
 * A merge sort that starts from the runs that are there: pairs of neighbouring runs are merged until one is left.
 * `keys` and `spare` change roles; the sorted one is returned.
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

static int sort_rows(struct ts_builder *builder, struct ts_encoder *encoder)
{
	uint32_t n = builder->n_rows;
	struct sort_key *keys;
	uint64_t start_ns;
	uint8_t *at, *scratch;
	int r;

	encoder->order.n = encoder->scratch.n = 0;
	r = ts_buffer_reserve(&encoder->order, 2u * n * sizeof(*keys), &at);
	if (!r)
		r = ts_buffer_reserve(&encoder->scratch, (size_t)n * 8, &scratch);
	if (r)
		return r;
	keys = (struct sort_key *)(void *)at;
	for (uint32_t i = 0; i < n; i++) {
		memcpy(&start_ns, builder->columns[0] + i * 8u, 8);
		keys[i] = (struct sort_key){.start_ns = start_ns, .row = i};
	}
	keys = sort_runs(keys, keys + n, n);
	for (unsigned c = 0; c < builder->schema->n_columns; c++)
		if (builder->columns[c])
			reorder_in_place(builder->columns[c], scratch, keys,
					 builder->schema->columns[c].width, n);
	for (int run = 0; run < TS_PLAN_RUNS; run++)
		if (builder->indices[run])
			reorder_in_place((uint8_t *)builder->indices[run], scratch, keys,
					 sizeof(uint16_t), n);
	builder->unsorted = false;
	return 0;
}

int ts_builder_settle(struct ts_builder *builder, struct ts_encoder *encoder)
{
	int r = unstage(builder);

	return !r && builder->n_rows && builder->unsorted ? sort_rows(builder, encoder) : r;
}

void ts_builder_clear(struct ts_builder *builder)
{
	for (int run = 0; run < TS_PLAN_RUNS; run++)
		ts_dictionary_clear(&builder->dictionaries[run]);
	builder->n_rows = 0;
	builder->unsorted = false;
	builder->last_start_ns = 0;
	builder->earliest_ns = UINT64_MAX;
	builder->latest_ns = 0;
	builder->duration_ns = 0;
	builder->amount_bytes = 0;
}
