/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open blocks: turns rows into columns. The writers, index.c, append and summary.c add rows;
 * encode-rows.c encodes them. Many rows at once become columns directly from the caller's array;
 * single rows are staged until there are enough. dictionary.c finds the items of runs, and
 * row-order.c sorts the rows.
 */

#include "sbt/format/block.h"
#include "sbt/format/wide.h"

/* Rows that become columns at a time. The rows stay in the cache while each field is read. */
#define STAGE_ROWS 128u
/* If a caller adds fewer rows at once, the rows are staged. */
#define MIN_DIRECT   32u
#define MIN_CAPACITY 128u

static uint32_t slot_bytes(const struct ts_builder *builder)
{
	uint32_t n = 0;

	for (unsigned c = 0; c < builder->schema->n_columns; c++)
		if (ts_plan_run_of(&builder->plan, c) < 0)
			n += builder->schema->columns[c].width;
	for (int run = 0; run < TS_PLAN_RUNS; run++)
		if (builder->plan.runs[run].n_bytes)
			n += sizeof(uint16_t);
	return n;
}

int ts_builder_new(const struct ts_row_schema *schema, struct ts_builder **ret_builder)
{
	struct ts_builder *builder = calloc(1, sizeof(*builder));

	if (!builder)
		return -ENOMEM;
	builder->schema = schema;
	ts_plan_of(schema, &builder->plan);
	for (int run = 0; run < TS_PLAN_RUNS; run++)
		builder->dictionaries[run].item_bytes = builder->plan.runs[run].n_bytes;
	builder->slot_bytes = slot_bytes(builder);
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

#define GATHER_LOOP(bytes_)                     \
	for (i = 0; i < n; i++, from += stride) \
	memcpy(to + i * (bytes_), from, bytes_)

/* Copies one field of each row to a column. */
static void gather(uint8_t *to, const uint8_t *from, size_t stride, uint16_t width, uint32_t n)
{
	size_t i;

	switch (width) {
	case 1:
		GATHER_LOOP(1u);
		break;
	case 2:
		GATHER_LOOP(2u);
		break;
	case 4:
		GATHER_LOOP(4u);
		break;
	case 8:
		GATHER_LOOP(8u);
		break;
	default:
		GATHER_LOOP((size_t)width);
	}
}

#define ANY_LOOP(type_)                              \
	for (i = 0; i < n; i++, from += stride) {    \
		type_ value;                         \
		memcpy(&value, from, sizeof(value)); \
		any |= value;                        \
	}

/* Returns true if any of these fields is not zero. */
static bool any_set(const uint8_t *from, size_t stride, uint16_t width, uint32_t n)
{
	uint64_t any = 0;
	size_t i;

	switch (width) {
	case 1:
		ANY_LOOP(uint8_t)
		break;
	case 2:
		ANY_LOOP(uint16_t)
		break;
	case 4:
		ANY_LOOP(uint32_t)
		break;
	case 8:
		ANY_LOOP(uint64_t)
		break;
	default:
		for (i = 0; i < n; i++, from += stride)
			any |= !ts_all_zero(from, width);
	}
	return any;
}

/* Appends some rows to a column. While all values are zero, nothing is written. */
static void take_column(struct ts_builder *builder, unsigned c, const uint8_t *rows, uint32_t n)
{
	const struct ts_column *column = &builder->schema->columns[c];
	size_t stride = builder->schema->row_bytes,
	       n_before = (size_t)builder->n_rows * column->width;

	if (!builder->seen[c] && any_set(rows + column->offset, stride, column->width, n)) {
		memset(builder->columns[c], 0, n_before);
		builder->seen[c] = true;
	}
	if (ts_builder_has_column(builder, c))
		gather(builder->columns[c] + n_before, rows + column->offset, stride, column->width,
		       n);
}

/* Times of up to STAGE_ROWS rows. The sum cannot overflow unless `odd` is set. */
struct times {
	uint64_t sum_ns;
	uint64_t earliest_ns;
	uint64_t latest_ns;
	uint64_t descents; /* top bit: a row starts before the row in front of it */
	/* Top bit: a time or a duration is out of range, and no other field is valid. */
	uint64_t odd;
};

static TS_ALWAYS_INLINE void look_at_times(const uint64_t *restrict starts,
					   const uint64_t *restrict ends, uint32_t n,
					   struct times *restrict ret_times)
{
	uint64_t sum_ns = 0, descents = 0, odd = 0, any = 0;
	int64_t earliest_ns = INT64_MAX, latest_ns = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t ns = ends[i] - starts[i];

		earliest_ns = (int64_t)starts[i] < earliest_ns ? (int64_t)starts[i] : earliest_ns;
		latest_ns = (int64_t)ends[i] > latest_ns ? (int64_t)ends[i] : latest_ns;
		sum_ns += ns;
		any |= ns;
		odd |= starts[i] | ends[i];
	}
	for (uint32_t i = 1; i < n; i++)
		descents |= starts[i] - starts[i - 1];
	odd |= any < UINT64_MAX / STAGE_ROWS / 2 ? 0 : UINT64_MAX;
	*ret_times = (struct times){
		.sum_ns = sum_ns,
		.earliest_ns = (uint64_t)earliest_ns,
		.latest_ns = (uint64_t)latest_ns,
		.descents = descents,
		.odd = odd,
	};
}

TS_WIDE_OR_NOT(look_at_times,
	       (const uint64_t *starts, const uint64_t *ends, uint32_t n, struct times *ret_times),
	       (starts, ends, n, ret_times))

/* Adds the times of rows one by one, also if a time or a duration is out of range. */
static void account_odd_times(struct ts_builder *builder, const uint64_t *starts,
			      const uint64_t *ends, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t end_ns = ends[i] > starts[i] ? ends[i] : starts[i];

		builder->unsorted |= starts[i] < builder->last_start_ns;
		builder->last_start_ns = starts[i];
		if (starts[i] < builder->earliest_ns)
			builder->earliest_ns = starts[i];
		if (end_ns > builder->latest_ns)
			builder->latest_ns = end_ns;
		builder->duration_ns = ts_add_saturated(builder->duration_ns, end_ns - starts[i]);
	}
}

/* Adds the times of rows that have just become columns to the block header's sums. */
static void account_times(struct ts_builder *builder, uint32_t n)
{
	const uint64_t *starts = (uint64_t *)(void *)builder->columns[0] + builder->n_rows;
	const uint64_t *ends = starts;
	struct times times;

	if (builder->schema->has_end)
		ends = (uint64_t *)(void *)builder->columns[1] + builder->n_rows;
	look_at_times_fast(starts, ends, n, &times);
	if (ts_unlikely(times.odd >> 63)) {
		account_odd_times(builder, starts, ends, n);
		return;
	}
	builder->unsorted |= times.descents >> 63 || starts[0] < builder->last_start_ns;
	builder->last_start_ns = starts[n - 1];
	if (times.earliest_ns < builder->earliest_ns)
		builder->earliest_ns = times.earliest_ns;
	if (times.latest_ns > builder->latest_ns)
		builder->latest_ns = times.latest_ns;
	builder->duration_ns = ts_add_saturated(builder->duration_ns, times.sum_ns);
}

static void account(struct ts_builder *builder, const uint8_t *rows, uint32_t n)
{
	const struct ts_row_schema *schema = builder->schema;

	account_times(builder, n);
	if (schema->bytes_column < 0)
		return;
	for (uint32_t i = 0; i < n; i++, rows += schema->row_bytes)
		builder->amount_bytes =
			ts_add_saturated(builder->amount_bytes,
					 ts_column_get(&schema->columns[schema->bytes_column],
						       rows));
}

/* Turns up to STAGE_ROWS rows into columns. */
static int take_rows(struct ts_builder *builder, const uint8_t *rows, uint32_t n)
{
	const struct ts_row_schema *schema = builder->schema;
	int r = 0;

	/* Without rows there may be no columns. */
	if (!n)
		return 0;
	while (!r && builder->n_rows + n > builder->capacity)
		r = grow(builder);
	for (int run = 0; !r && run < TS_PLAN_RUNS; run++)
		if (builder->plan.runs[run].n_bytes)
			r = ts_dictionary_look_up(&builder->dictionaries[run],
						  rows + builder->plan.runs[run].offset,
						  schema->row_bytes, n,
						  builder->indices[run] + builder->n_rows);
	if (r)
		return r;
	for (unsigned c = 0; c < schema->n_columns; c++)
		if (builder->columns[c])
			take_column(builder, c, rows, n);
	if (schema->is_event)
		account(builder, rows, n);
	builder->n_rows += n;
	return 0;
}

static int unstage(struct ts_builder *builder)
{
	int r = take_rows(builder, builder->staged, builder->n_staged);

	if (!r)
		builder->n_staged = 0;
	return r;
}

static void stage(struct ts_builder *builder, const void *rows, uint32_t n)
{
	memcpy(builder->staged + (size_t)builder->n_staged * builder->schema->row_bytes, rows,
	       (size_t)n * builder->schema->row_bytes);
	builder->n_staged += n;
}

int ts_builder_add(struct ts_builder *builder, const void *row)
{
	if (builder->n_staged == STAGE_ROWS) {
		int r = unstage(builder);

		if (r)
			return r;
	}
	stage(builder, row, 1);
	return 0;
}

int ts_builder_add_rows(struct ts_builder *builder, const void *rows, uint32_t n,
			uint32_t *ret_n_added)
{
	const uint8_t *row = rows;
	int r = 0;

	*ret_n_added = 0;
	for (uint32_t m; !r && n; n -= m, row += (size_t)m * builder->schema->row_bytes) {
		m = n < STAGE_ROWS ? n : STAGE_ROWS;
		if (m >= MIN_DIRECT || m > STAGE_ROWS - builder->n_staged) {
			r = unstage(builder);
			if (r)
				return r;
		}
		if (m >= MIN_DIRECT)
			r = take_rows(builder, row, m);
		if (m < MIN_DIRECT || r)
			stage(builder, row, m);
		*ret_n_added += m;
	}
	return r;
}

uint64_t ts_builder_bytes(const struct ts_builder *builder)
{
	return (uint64_t)ts_builder_rows(builder) * builder->schema->row_bytes;
}

uint64_t ts_builder_memory(const struct ts_builder *builder)
{
	uint64_t n = sizeof(*builder) + (uint64_t)STAGE_ROWS * builder->schema->row_bytes +
		     (uint64_t)builder->capacity * builder->slot_bytes;

	for (int run = 0; run < TS_PLAN_RUNS; run++)
		n += builder->dictionaries[run].items.capacity +
		     builder->dictionaries[run].n_slots * sizeof(uint32_t);
	return n;
}

int ts_builder_settle(struct ts_builder *builder, struct ts_encoder *encoder)
{
	int r = unstage(builder);

	return !r && builder->n_rows && builder->unsorted ? ts_builder_sort(builder, encoder) : r;
}

void ts_builder_clear(struct ts_builder *builder)
{
	for (int run = 0; run < TS_PLAN_RUNS; run++)
		ts_dictionary_clear(&builder->dictionaries[run]);
	memset(builder->seen, 0, sizeof(builder->seen));
	builder->n_rows = 0;
	builder->unsorted = false;
	builder->last_start_ns = 0;
	builder->earliest_ns = UINT64_MAX;
	builder->latest_ns = 0;
	builder->duration_ns = 0;
	builder->amount_bytes = 0;
}
