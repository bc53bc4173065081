/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summaries of event blocks. A writer calls this module when it encodes a block, with the columns
 * and dictionaries that are still in memory. Repair and verify call this module with a decoded
 * block. Both sources give the same rows. filter.c and totals.c read the rows. The module encodes
 * them through block-builder.c and encode-rows.c.
 */

#include "sbt/format/summary.h"

#include "proto/abi/tablehash.h"
#include "sbt/crc32c.h"
#include "sbt/format/block-columns.h"
#include "sbt/format/wide.h"

#define SLOTS 8192u /* at least 2 * TS_SUMMARY_MOST_SUMS; a power of two */

TS_STATIC_ASSERT(SLOTS >= 2 * TS_SUMMARY_MOST_SUMS, "a table that is half empty");

#define U(row_, id_, field_, role_)                                                               \
	{                                                                                         \
		.name = #field_, .id = id_, .width = sizeof(((struct row_ *)0)->field_),          \
		.offset = offsetof(struct row_, field_), .role = TS_ROLE_##role_, .is_signed = 0, \
	}

static const struct ts_column stream_columns[] = {
	U(ts_block_stream, 1, block, NUMBER),
	U(ts_block_stream, 2, device, DEVICE),
	U(ts_block_stream, 3, context, CONTEXT),
	U(ts_block_stream, 4, stream, STREAM),
};

static const struct ts_column thread_columns[] = {
	U(ts_block_thread, 1, block, NUMBER),
	U(ts_block_thread, 2, thread, THREAD),
};

static const struct ts_column sum_columns[] = {
	U(ts_block_sum, 1, block, NUMBER),    U(ts_block_sum, 2, key, NUMBER),
	U(ts_block_sum, 3, count, COUNT),     U(ts_block_sum, 4, duration_ns, DURATION),
	U(ts_block_sum, 5, min_ns, DURATION), U(ts_block_sum, 6, max_ns, DURATION),
	U(ts_block_sum, 7, bytes, SIZE),
};

static const struct ts_column operation_columns[] = {
	U(ts_block_ops, 1, block, NUMBER),
	U(ts_block_ops, 2, first, NUMBER),
	U(ts_block_ops, 3, last, NUMBER),
};

#define SCHEMA(type_, name_, row_, columns_)                                               \
	{                                                                                  \
		.name = name_, .type = type_, .n_columns = TS_ARRAY_LEN(columns_),         \
		.row_bytes = sizeof(struct row_), .columns = columns_, .bytes_column = -1, \
	}

static const struct ts_row_schema schemas[TS_SUMMARY_KINDS] = {
	SCHEMA(TS_ROW_BLOCK_STREAM, "block_stream", ts_block_stream, stream_columns),
	SCHEMA(TS_ROW_BLOCK_THREAD, "block_thread", ts_block_thread, thread_columns),
	SCHEMA(TS_ROW_BLOCK_SUM, "block_sum", ts_block_sum, sum_columns),
	SCHEMA(TS_ROW_BLOCK_OPERATION, "block_operation", ts_block_ops, operation_columns),
};

/* Ids of the columns that make a key: high << 32 | low. Id 0: that half of the key is 0. */
static const struct {
	uint16_t high, low;
	bool has_sums;
} keys[TS_ROW_EVENT_END] = {
	[TS_ROW_API] = {9, 10, true},	 [TS_ROW_KERNEL] = {0, 11, true},
	[TS_ROW_MEMCPY] = {0, 13, true}, [TS_ROW_MEMSET] = {0, 0, true},
	[TS_ROW_SYNC] = {0, 4, true},	 [TS_ROW_RANGE] = {6, 5, true},
};

const struct ts_row_schema *ts_summary_schema(int kind)
{
	return &schemas[kind];
}

int ts_summary_kind_of(unsigned type)
{
	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++)
		if (schemas[kind].type == type)
			return kind;
	return -1;
}

void ts_summaries_deinit(struct ts_summaries *summaries)
{
	for (int kind = 0; kind < TS_SUMMARY_KINDS; kind++)
		ts_buffer_deinit(&summaries->rows[kind]);
}

static int column_of_id(const struct ts_row_schema *schema, uint16_t id)
{
	for (unsigned c = 0; id && c < schema->n_columns; c++)
		if (schema->columns[c].id == id)
			return (int)c;
	return -1;
}

static int first_of_role(const struct ts_row_schema *schema, enum ts_role role)
{
	for (unsigned c = 0; c < schema->n_columns; c++)
		if (schema->columns[c].role == role)
			return (int)c;
	return -1;
}

void ts_summary_places_of(const struct ts_row_schema *schema, struct ts_summary_places *ret_places)
{
	*ret_places = (struct ts_summary_places){
		.device = -1,
		.context = -1,
		.stream = first_of_role(schema, TS_ROLE_STREAM),
		.thread = first_of_role(schema, TS_ROLE_THREAD),
	};
	if (ret_places->stream < 0)
		return;
	ret_places->device = first_of_role(schema, TS_ROLE_DEVICE);
	ret_places->context = first_of_role(schema, TS_ROLE_CONTEXT);
}

/*
 * Returns true if a block has summaries. Samples have none: an older reader does not know samples
 * as events, and reports a summary of a non-event as damage.
 */
static bool is_summed_up(const struct ts_row_schema *schema, uint32_t n_rows)
{
	return schema->is_event && schema->type != TS_ROW_SAMPLE && n_rows >= TS_SUMMARY_MIN_ROWS;
}

unsigned ts_summary_kinds(const struct ts_row_schema *schema, uint32_t n_rows)
{
	struct ts_summary_places places;

	if (!schema || !is_summed_up(schema, n_rows))
		return 0;
	ts_summary_places_of(schema, &places);
	return (places.stream >= 0 ? 1u << TS_SUMMARY_STREAMS : 0) |
	       (places.thread >= 0 ? 1u << TS_SUMMARY_THREADS : 0) |
	       (keys[schema->type].has_sums ? 1u << TS_SUMMARY_SUMS : 0) |
	       (first_of_role(schema, TS_ROLE_OP) >= 0 ? 1u << TS_SUMMARY_OPERATIONS : 0);
}

bool ts_summary_key(const struct ts_row_schema *schema, const void *row, uint64_t *ret_key)
{
	int high, low;

	if (!ts_row_is_event(schema->type) || !keys[schema->type].has_sums)
		return false;
	high = column_of_id(schema, keys[schema->type].high);
	low = column_of_id(schema, keys[schema->type].low);
	*ret_key = (high < 0 ? 0 : ts_column_get(&schema->columns[high], row) << 32) |
		   (low < 0 ? 0 : ts_column_get(&schema->columns[low], row));
	return true;
}

void ts_sbt_total_row(const struct ts_sbt_total *total, void *row)
{
	const struct ts_row_schema *schema = ts_row_schema(total->type);
	int c;

	if (!schema || !ts_row_is_event(total->type))
		return;
	memset(row, 0, schema->row_bytes);
	for (unsigned part = 0; part < 2; part++) {
		uint32_t value = (uint32_t)(total->key >> part * 32);

		c = column_of_id(schema, part ? keys[total->type].high : keys[total->type].low);
		if (c >= 0)
			memcpy((uint8_t *)row + schema->columns[c].offset, &value,
			       schema->columns[c].width);
	}
}

void ts_summary_of_builder(const struct ts_builder *builder, struct ts_summary_source *ret_source)
{
	const struct ts_row_schema *schema = builder->schema;
	static const uint64_t zero;

	*ret_source = (struct ts_summary_source){.schema = schema, .n_rows = builder->n_rows};
	for (unsigned c = 0; c < schema->n_columns; c++) {
		int run = ts_plan_run_of(&builder->plan, c);

		ret_source->columns[c].run = run;
		ret_source->columns[c].values = (const uint8_t *)&zero;
		if (run < 0 && ts_builder_has_column(builder, c)) {
			ret_source->columns[c].values = builder->columns[c];
			ret_source->columns[c].stride = schema->columns[c].width;
		}
		if (run < 0)
			continue;
		ret_source->columns[c].values = builder->dictionaries[run].items.bytes +
						schema->columns[c].offset -
						builder->plan.runs[run].offset;
		ret_source->columns[c].stride = builder->dictionaries[run].item_bytes;
	}
	for (int run = 0; run < TS_PLAN_RUNS; run++) {
		ret_source->index[run] = builder->indices[run];
		ret_source->n_items[run] = builder->dictionaries[run].n_items;
	}
}

void ts_summary_of_columns(const struct ts_row_schema *schema,
			   const struct ts_block_columns *columns,
			   struct ts_summary_source *ret_source)
{
	struct ts_plan plan;

	ts_plan_of(schema, &plan);
	*ret_source = (struct ts_summary_source){.schema = schema, .n_rows = columns->n_rows};
	for (unsigned c = 0; c < schema->n_columns; c++) {
		uint16_t offset = schema->columns[c].offset;
		int run = ts_plan_run_of(&plan, c);

		ret_source->columns[c].run = -1;
		ret_source->columns[c].values = columns->constants + offset;
		ret_source->columns[c].stride = 0;
		if (run < 0 || !columns->runs[run].items)
			continue;
		ret_source->columns[c].run = run;
		ret_source->columns[c].values =
			columns->runs[run].items + offset - columns->runs[run].offset;
		ret_source->columns[c].stride = columns->runs[run].n_bytes;
	}
	for (uint32_t v = 0; v < columns->n_varying; v++)
		for (unsigned c = 0; c < schema->n_columns; c++) {
			if (schema->columns[c].offset != columns->varying[v].offset)
				continue;
			ret_source->columns[c].run = -1;
			ret_source->columns[c].values = columns->varying[v].values;
			ret_source->columns[c].stride = columns->varying[v].width;
		}
	for (int run = 0; run < TS_PLAN_RUNS; run++)
		ret_source->index[run] = columns->runs[run].index;
}

/* Returns a column's value of item or row `i`, zero-extended from the column's width. */
static inline uint64_t value_at(const struct ts_summary_source *source, int c, uint32_t i)
{
	const uint8_t *at;
	uint64_t v = 0;

	if (c < 0)
		return 0;
	at = source->columns[c].values + (size_t)source->columns[c].stride * i;
	switch (source->schema->columns[c].width) {
	case 1:
		return *at;
	case 2:
		memcpy(&v, at, 2);
		return v;
	case 4:
		memcpy(&v, at, 4);
		return v;
	default:
		memcpy(&v, at, 8);
		return v;
	}
}

static inline uint32_t item_of(const struct ts_summary_source *source, int run, uint32_t row)
{
	return run < 0 ? row : source->index[run] ? source->index[run][row] : 0;
}

/* Returns a column's value in a row. */
static inline uint64_t value_of_row(const struct ts_summary_source *source, int c, uint32_t row)
{
	return c < 0 ? 0 : value_at(source, c, item_of(source, source->columns[c].run, row));
}

/*
 * Returns the run whose items hold the values of all these columns, or -1 if the columns must be
 * read row by row.
 */
static int common_run(const struct ts_summary_source *source, const int *columns, unsigned n)
{
	int run = -1;

	for (unsigned i = 0; i < n; i++) {
		int c = columns[i];

		if (c < 0 || !source->columns[c].stride)
			continue;
		if (source->columns[c].run < 0 || (run >= 0 && run != source->columns[c].run))
			return -1;
		run = source->columns[c].run;
	}
	return run;
}

static bool all_same(const struct ts_summary_source *source, const int *columns, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (columns[i] >= 0 && source->columns[columns[i]].stride)
			return false;
	return true;
}

/* Set of the items that rows use. Unused items of a dictionary do not count. */
struct items {
	uint64_t used[TS_SBT_MAX_ROWS / 64];
	uint32_t n;
};

static void find_items(const struct ts_summary_source *source, int run, struct items *items)
{
	const uint16_t *index = source->index[run];
	uint32_t highest = 0;

	if (!index) {
		items->used[0] = 1;
		items->n = 1;
		return;
	}
	if (source->n_items[run]) {
		items->n = source->n_items[run];
		memset(items->used, 0xff, (items->n + 63) / 64 * sizeof(uint64_t));
		return;
	}
	for (uint32_t i = 0; i < source->n_rows; i++)
		highest = index[i] > highest ? index[i] : highest;
	items->n = highest + 1;
	memset(items->used, 0, (items->n + 63) / 64 * sizeof(uint64_t));
	for (uint32_t i = 0; i < source->n_rows; i++)
		items->used[index[i] / 64] |= UINT64_C(1) << index[i] % 64;
}

static inline bool is_used(const struct items *items, uint32_t item)
{
	return items->used[item / 64] >> item % 64 & 1;
}

/* The distinct values of three columns, in ascending order. */
struct places {
	uint32_t n;
	uint32_t values[TS_SUMMARY_MAX_PLACES][3];
};

static int compare_places(const uint32_t *a, const uint32_t *b)
{
	for (unsigned i = 0; i < 3; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

/* Returns false if the list is full. */
static bool add_place(struct places *places, const uint32_t *place)
{
	uint32_t at = 0;
	int order = 1;

	while (at < places->n && (order = compare_places(places->values[at], place)) < 0)
		at++;
	if (at < places->n && !order)
		return true;
	if (places->n == TS_SUMMARY_MAX_PLACES)
		return false;
	memmove(places->values[at + 1], places->values[at],
		(places->n - at) * sizeof(places->values[0]));
	memcpy(places->values[at], place, sizeof(places->values[0]));
	places->n++;
	return true;
}

/*
 * Returns the next row whose value of a column may differ from that of `row`, or n_rows. Most rows
 * have the thread of the row before them.
 */
static uint32_t next_change(const struct ts_summary_source *source, int c, uint32_t row)
{
	const uint8_t *values = source->columns[c].values;
	uint32_t n = source->n_rows, first;
	uint64_t pair, same;

	if (source->columns[c].run >= 0 || source->columns[c].stride != sizeof(first) ||
	    source->schema->columns[c].width != sizeof(first))
		return row + 1;
	memcpy(&first, values + (size_t)row * sizeof(first), sizeof(first));
	same = (uint64_t)first << 32 | first;
	for (row++; row + 2 <= n; row += 2) {
		memcpy(&pair, values + (size_t)row * sizeof(first), sizeof(pair));
		if (pair != same)
			break;
	}
	return row;
}

/*
 * Returns false if there are too many values for the list. A column that the row type lacks has the
 * value TS_NO_DEVICE.
 */
static bool find_places(const struct ts_summary_source *source, const int columns[3],
			struct places *places)
{
	int run = common_run(source, columns, 3);
	bool same = all_same(source, columns, 3);
	/* Rows are skipped if only the last column decides. */
	bool skips = run < 0 && columns[0] < 0 && columns[1] < 0 && columns[2] >= 0;
	uint32_t n = same ? 1 : source->n_rows, last[3] = {0};
	struct items items;

	places->n = 0;
	if (run >= 0) {
		find_items(source, run, &items);
		n = items.n;
	}
	for (uint32_t i = 0; i < n; i = skips ? next_change(source, columns[2], i) : i + 1) {
		uint32_t place[3];

		if (run >= 0 && !is_used(&items, i))
			continue;
		for (unsigned k = 0; k < 3; k++)
			place[k] = columns[k] < 0 ? TS_NO_DEVICE
				   : run >= 0	  ? (uint32_t)value_at(source, columns[k], i)
						  : (uint32_t)value_of_row(source, columns[k], i);
		if (places->n && !compare_places(place, last))
			continue;
		memcpy(last, place, sizeof(last));
		if (!add_place(places, place))
			return false;
	}
	return true;
}

static int summarise_streams(const struct ts_summary_source *source,
			     const struct ts_summary_places *is, uint64_t block,
			     struct ts_buffer *to)
{
	const int columns[3] = {is->device, is->context, is->stream};
	struct places places;
	int r = 0;

	if (is->stream < 0 || !find_places(source, columns, &places))
		return 0;
	for (uint32_t i = 0; !r && i < places.n; i++) {
		struct ts_block_stream row = {
			.block = block,
			.device = places.values[i][0],
			.context = places.values[i][1],
			.stream = places.values[i][2],
		};

		r = ts_buffer_append(to, &row, sizeof(row));
	}
	return r;
}

static int summarise_threads(const struct ts_summary_source *source,
			     const struct ts_summary_places *is, uint64_t block,
			     struct ts_buffer *to)
{
	const int columns[3] = {-1, -1, is->thread};
	struct places places;
	int r = 0;

	if (is->thread < 0 || !find_places(source, columns, &places))
		return 0;
	for (uint32_t i = 0; !r && i < places.n; i++) {
		struct ts_block_thread row = {.block = block, .thread = places.values[i][2]};

		r = ts_buffer_append(to, &row, sizeof(row));
	}
	return r;
}

/*
 * Sums of a block by key. The sums are the rows of the summary, in the order in which they are
 * found.
 */
struct adding {
	const struct ts_summary_source *source;
	int high, low; /* columns of the key */
	struct ts_block_sum *sums;
	uint16_t *sum_of; /* sum of each item */
	uint32_t n, max;
	/*
	 * Index + 1 of a sum; 0: empty. map.h is not used: a block has a limit of sums, and a table
	 * of fixed size needs no allocation.
	 */
	uint16_t slots[SLOTS];
};

/* Finds or adds the sum of a key. Returns adding->max if there is no room for one more sum. */
static inline uint32_t find_sum(struct adding *adding, uint64_t key)
{
	uint32_t at = (uint32_t)(ts_hash_key(key) >> 51);

	for (;; at++) {
		uint16_t *slot = &adding->slots[at & (SLOTS - 1)];

		if (*slot && adding->sums[*slot - 1u].key == key)
			return *slot - 1u;
		if (*slot)
			continue;
		if (adding->n == adding->max)
			return adding->max;
		adding->sums[adding->n] = (struct ts_block_sum){.key = key, .min_ns = UINT64_MAX};
		*slot = (uint16_t)++adding->n;
		return adding->n - 1;
	}
}

static inline void add_span(struct ts_block_sum *sum, uint64_t ns)
{
	sum->count++;
	sum->duration_ns = ts_add_saturated(sum->duration_ns, ns);
	sum->min_ns = ns < sum->min_ns ? ns : sum->min_ns;
	sum->max_ns = ns > sum->max_ns ? ns : sum->max_ns;
}

static inline void add_row(const struct ts_summary_source *source, struct ts_block_sum *sum,
			   uint32_t row)
{
	uint64_t start_ns = value_at(source, 0, row), end_ns = value_at(source, 1, row);

	add_span(sum, end_ns > start_ns ? end_ns - start_ns : 0);
}

/* Sum over the rows of one item. */
struct item_span {
	uint64_t count;
	uint64_t ns;
	uint64_t min_ns;
	uint64_t max_ns;
};

/*
 * If a block has at most this many items, each item first gets a sum of its own. With a single sum
 * per key, the addition for each row would wait for that of the row before.
 */
#define FEW_ITEMS 256u

/*
 * Sums the durations of the rows of each item. Returns false if the 64-bit sums could overflow; the
 * caller ignores `items` then.
 */
static bool span_items(const uint64_t *starts, const uint64_t *ends, const uint16_t *index,
		       uint32_t n, struct item_span *items)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t ns = ends[i] > starts[i] ? ends[i] - starts[i] : 0;
		struct item_span *item = &items[index[i]];

		any |= ns;
		item->count++;
		item->ns += ns;
		/* Each new minimum or maximum is less likely than the one before. */
		if (ts_unlikely(ns < item->min_ns))
			item->min_ns = ns;
		if (ts_unlikely(ns > item->max_ns))
			item->max_ns = ns;
	}
	return any < UINT64_MAX / TS_SBT_MAX_ROWS;
}

/* Sums all rows of a block whose start and end are arrays of 64-bit values. */
static void add_rows(const struct ts_summary_source *source, struct ts_block_sum *sums,
		     const uint16_t *sum_of, const uint16_t *index, uint32_t n_items)
{
	const uint64_t *starts = (const uint64_t *)(const void *)source->columns[0].values;
	const uint64_t *ends = (const uint64_t *)(const void *)source->columns[1].values;
	struct item_span items[FEW_ITEMS];

	for (uint32_t i = 0; i < n_items && i < FEW_ITEMS; i++)
		items[i] = (struct item_span){.min_ns = UINT64_MAX};
	if (n_items > FEW_ITEMS || !span_items(starts, ends, index, source->n_rows, items)) {
		for (uint32_t i = 0; i < source->n_rows; i++)
			add_span(&sums[sum_of[index[i]]],
				 ends[i] > starts[i] ? ends[i] - starts[i] : 0);
		return;
	}
	for (uint32_t i = 0; i < n_items; i++) {
		struct ts_block_sum *sum = &sums[sum_of[i]];

		if (!items[i].count)
			continue;
		sum->count += items[i].count;
		sum->duration_ns = ts_add_saturated(sum->duration_ns, items[i].ns);
		sum->min_ns = items[i].min_ns < sum->min_ns ? items[i].min_ns : sum->min_ns;
		sum->max_ns = items[i].max_ns > sum->max_ns ? items[i].max_ns : sum->max_ns;
	}
}

/*
 * Sums a column whose keys are stored per dictionary item: searches the sum of each item only once.
 * Returns false if there are too many keys.
 */
static bool add_by_item(struct adding *adding, int run)
{
	const struct ts_summary_source *source = adding->source;
	const uint16_t *index = source->index[run];
	uint16_t *sum_of = adding->sum_of;
	struct items items;

	find_items(source, run, &items);
	for (uint32_t i = 0; i < items.n; i++) {
		uint32_t sum;

		if (!is_used(&items, i))
			continue;
		sum = find_sum(adding, value_at(source, adding->high, i) << 32 |
					       value_at(source, adding->low, i));
		if (sum == adding->max)
			return false;
		sum_of[i] = (uint16_t)sum;
	}
	if (index && source->columns[0].stride == sizeof(uint64_t) &&
	    source->columns[1].stride == sizeof(uint64_t)) {
		add_rows(source, adding->sums, sum_of, index, items.n);
		return true;
	}
	for (uint32_t i = 0; i < source->n_rows; i++)
		add_row(source, &adding->sums[sum_of[index ? index[i] : 0]], i);
	return true;
}

static bool add_by_row(struct adding *adding)
{
	const struct ts_summary_source *source = adding->source;

	for (uint32_t i = 0; i < source->n_rows; i++) {
		uint32_t sum = find_sum(adding, value_of_row(source, adding->high, i) << 32 |
							value_of_row(source, adding->low, i));

		if (sum == adding->max)
			return false;
		add_row(source, &adding->sums[sum], i);
	}
	return true;
}

static void add_bytes(struct adding *adding)
{
	const struct ts_summary_source *source = adding->source;
	int c = source->schema->bytes_column;

	for (uint32_t i = 0; c >= 0 && i < source->n_rows; i++) {
		uint32_t at = find_sum(adding, value_of_row(source, adding->high, i) << 32 |
						       value_of_row(source, adding->low, i));
		struct ts_block_sum *sum = &adding->sums[at];

		sum->bytes = ts_add_saturated(sum->bytes, value_of_row(source, c, i));
	}
}

static int compare_sums(const void *a, const void *b)
{
	const struct ts_block_sum *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

static int summarise_sums(const struct ts_summary_source *source, uint64_t block,
			  struct ts_buffer *to)
{
	unsigned type = source->schema->type;
	struct adding adding = {.source = source, .max = ts_summary_max_sums(source->n_rows)};
	int columns[2], run;
	uint8_t *at;
	bool fits;
	int r;

	if (!keys[type].has_sums)
		return 0;
	columns[0] = adding.high = column_of_id(source->schema, keys[type].high);
	columns[1] = adding.low = column_of_id(source->schema, keys[type].low);
	/* Item numbers are below TS_SBT_MAX_ROWS, so sum_of needs no more entries. */
	r = ts_buffer_reserve(to,
			      adding.max * sizeof(struct ts_block_sum) +
				      TS_SBT_MAX_ROWS * sizeof(uint16_t),
			      &at);
	if (r)
		return r;
	adding.sums = (struct ts_block_sum *)(void *)at;
	adding.sum_of = (uint16_t *)(void *)(at + adding.max * sizeof(struct ts_block_sum));
	run = common_run(source, columns, 2);
	fits = run >= 0 ? add_by_item(&adding, run) : add_by_row(&adding);
	if (!fits)
		return 0;
	add_bytes(&adding);
	for (uint32_t i = 0; i < adding.n; i++)
		adding.sums[i].block = block;
	qsort(adding.sums, adding.n, sizeof(*adding.sums), compare_sums);
	to->n += adding.n * sizeof(*adding.sums);
	return 0;
}

/*
 * Computes the minimum of id - 1 and the maximum of id. The processor's vector instructions compare
 * signed 64-bit numbers only; with the top bit inverted, the signed order equals the unsigned one.
 * An id of 0 (none) changes neither result: 0 - 1 is the largest number.
 */
static TS_ALWAYS_INLINE void span_ids(const uint64_t *ids, uint32_t n, uint64_t *below_first,
				      uint64_t *last)
{
	const uint64_t top = UINT64_C(1) << 63;
	int64_t low = (int64_t)(*below_first ^ top), high = (int64_t)(*last ^ top);

	for (uint32_t i = 0; i < n; i++) {
		int64_t below = (int64_t)((ids[i] - 1) ^ top), id = (int64_t)(ids[i] ^ top);

		low = below < low ? below : low;
		high = id > high ? id : high;
	}
	*below_first = (uint64_t)low ^ top;
	*last = (uint64_t)high ^ top;
}

TS_WIDE_OR_NOT(span_ids, (const uint64_t *ids, uint32_t n, uint64_t *below_first, uint64_t *last),
	       (ids, n, below_first, last))

/* Extends both results by the ids of one column. A column without ids leaves them unchanged. */
static void span_operations(const struct ts_summary_source *source, int c, uint64_t *below_first,
			    uint64_t *last)
{
	uint32_t n = source->columns[c].stride ? source->n_rows : 1;
	const uint8_t *values = source->columns[c].values;

	if (source->columns[c].run < 0 && source->columns[c].stride == sizeof(uint64_t)) {
		span_ids_fast((const uint64_t *)(const void *)values, n, below_first, last);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t id = value_of_row(source, c, i);

		span_ids(&id, 1, below_first, last);
	}
}

static int summarise_operations(const struct ts_summary_source *source, uint64_t block,
				struct ts_buffer *to)
{
	const struct ts_row_schema *schema = source->schema;
	struct ts_block_ops row = {.block = block};
	uint64_t below_first = UINT64_MAX;
	bool has_some = false;

	for (unsigned c = 0; c < schema->n_columns; c++)
		if (schema->columns[c].role == TS_ROLE_OP) {
			has_some = true;
			span_operations(source, (int)c, &below_first, &row.last);
		}
	row.first = row.last ? below_first + 1 : 0;
	return has_some ? ts_buffer_append(to, &row, sizeof(row)) : 0;
}

int ts_summarise(const struct ts_summary_source *source, uint64_t block, struct ts_summaries *to)
{
	struct ts_summaries_mark before;
	struct ts_summary_places places;
	int r;

	if (!is_summed_up(source->schema, source->n_rows))
		return 0;
	ts_summaries_mark(to, &before);
	ts_summary_places_of(source->schema, &places);
	r = summarise_streams(source, &places, block, &to->rows[TS_SUMMARY_STREAMS]);
	r = r ?: summarise_threads(source, &places, block, &to->rows[TS_SUMMARY_THREADS]);
	r = r ?: summarise_sums(source, block, &to->rows[TS_SUMMARY_SUMS]);
	r = r ?: summarise_operations(source, block, &to->rows[TS_SUMMARY_OPERATIONS]);
	if (r)
		ts_summaries_rewind(to, &before);
	return r;
}

uint32_t ts_summary_group(int kind, const uint8_t *rows, uint32_t n_rows, uint32_t at)
{
	size_t row_bytes = schemas[kind].row_bytes;
	uint64_t block = ts_summary_block_of(rows + at * row_bytes);
	uint32_t end = at + 1;

	while (end < n_rows && ts_summary_block_of(rows + end * row_bytes) == block)
		end++;
	return end - at;
}

uint32_t ts_summary_checksum(int kind, const uint8_t *rows, uint32_t n_rows)
{
	size_t row_bytes = schemas[kind].row_bytes;
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n_rows; i++, rows += row_bytes)
		sum = sum * 31 + ts_crc32c(rows + 8, row_bytes - 8);
	return sum;
}

TS_DEFINE_CLEANUP(struct ts_builder *, builder_freep, ts_builder_free)

static int encode_kind(int kind, const struct ts_buffer *buffer, struct ts_encoder *encoder,
		       struct ts_buffer *out)
{
	ts_cleanup(builder_freep) struct ts_builder *builder = NULL;
	size_t row_bytes = schemas[kind].row_bytes;
	uint32_t n = (uint32_t)(buffer->n / row_bytes), at = 0;
	int r = n ? ts_builder_new(&schemas[kind], &builder) : 0;

	while (!r && at < n) {
		uint32_t end = at + ts_summary_group(kind, buffer->bytes, n, at);

		if (ts_builder_rows(builder) + (end - at) > TS_SBT_MAX_ROWS)
			r = ts_builder_encode(builder, encoder, 0, out);
		for (; !r && at < end; at++)
			r = ts_builder_add(builder, buffer->bytes + at * row_bytes);
	}
	return r || !n ? r : ts_builder_encode(builder, encoder, 0, out);
}

int ts_summaries_encode(struct ts_summaries *summaries, struct ts_encoder *encoder,
			struct ts_buffer *out)
{
	size_t before = out->n;
	int r = 0;

	for (int kind = 0; !r && kind < TS_SUMMARY_KINDS; kind++)
		r = encode_kind(kind, &summaries->rows[kind], encoder, out);
	if (r) {
		out->n = before;
		return r;
	}
	ts_summaries_rewind(summaries, NULL);
	return 0;
}
