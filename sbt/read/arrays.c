/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The columns of a block as arrays; libtracesmith's bindings and `tsctl` call this module. A column
 * with one value per row is returned as it was decoded. A column with one value for all rows, or
 * one per dictionary item, is expanded when it is requested.
 */

#include "sbt/arrays.h"

#include "sbt/format/block-columns.h"
#include "sbt/read/reader-internal.h"

struct ts_sbt_arrays {
	const struct ts_row_schema *schema;
	uint32_t n_rows;
	struct ts_block_columns *columns;
	const void *values[TS_ROW_MAX_COLUMNS]; /* NULL: not requested */
	void *own[TS_ROW_MAX_COLUMNS];		/* arrays that are not part of `columns` */
};

int ts_row_column(const struct ts_row_schema *schema, const char *name)
{
	for (unsigned c = 0; c < schema->n_columns; c++)
		if (!strcmp(schema->columns[c].name, name))
			return (int)c;
	return -1;
}

#define SPREAD(width_)                                                                             \
	case width_:                                                                               \
		for (uint32_t i = 0; i < n; i++)                                                   \
			memcpy(to + (size_t)i * width_, from + (size_t)index[i] * stride, width_); \
		break;

/* Copies for each row the value of its item. */
static void spread(uint8_t *to, const uint8_t *from, size_t stride, const uint16_t *index,
		   uint16_t width, uint32_t n)
{
	switch (width) {
		SPREAD(1)
		SPREAD(2)
		SPREAD(4)
		SPREAD(8)
	default:
		for (uint32_t i = 0; i < n; i++)
			memcpy(to + (size_t)i * width, from + (size_t)index[i] * stride, width);
	}
}

/* Returns the values of a column that was decoded with one value per row, else NULL. */
static const void *varying(const struct ts_block_columns *columns, const struct ts_column *column)
{
	for (uint32_t v = 0; v < columns->n_varying; v++)
		if (columns->varying[v].offset == column->offset)
			return columns->varying[v].values;
	return NULL;
}

void ts_block_columns_put(const struct ts_block_columns *columns, const struct ts_column *column,
			  uint8_t *to)
{
	const uint8_t *values = varying(columns, column);
	const size_t width = column->width;

	if (values) {
		memcpy(to, values, columns->n_rows * width);
		return;
	}
	for (int run = 0; run < TS_PLAN_RUNS; run++) {
		uint16_t offset = columns->runs[run].offset;

		if (!columns->runs[run].items || column->offset < offset ||
		    column->offset >= offset + columns->runs[run].n_bytes)
			continue;
		spread(to, columns->runs[run].items + column->offset - offset,
		       columns->runs[run].n_bytes, columns->runs[run].index, column->width,
		       columns->n_rows);
		return;
	}
	for (uint32_t i = 0; i < columns->n_rows; i++)
		memcpy(to + i * width, columns->constants + column->offset, width);
}

static int make_array(struct ts_sbt_arrays *arrays, unsigned c)
{
	const struct ts_column *column = &arrays->schema->columns[c];
	uint8_t *to;

	arrays->values[c] = varying(arrays->columns, column);
	if (arrays->values[c])
		return 0;
	to = malloc((size_t)arrays->n_rows * column->width + 1);
	if (!to)
		return -ENOMEM;
	ts_block_columns_put(arrays->columns, column, to);
	arrays->values[c] = arrays->own[c] = to;
	return 0;
}

/*
 * Makes the checks of ts_block_decoder_next(): starts are in order, and no row ends after its
 * block's latest end.
 */
static const char *check_times(const struct ts_row_schema *schema,
			       const struct ts_block_columns *columns,
			       const struct ts_sbt_block_header *header)
{
	const uint64_t *starts = varying(columns, &schema->columns[0]);
	const uint64_t *ends = schema->has_end ? varying(columns, &schema->columns[1]) : NULL;
	uint64_t last_ns = header->earliest_ns, start_ns, end_ns;
	bool ordered = true, inside = true;

	if (!schema->is_event || !columns->n_rows)
		return NULL;
	memcpy(&start_ns, columns->constants, sizeof(start_ns));
	memcpy(&end_ns, columns->constants + sizeof(start_ns), sizeof(end_ns));
	end_ns = schema->has_end ? end_ns : 0;
	for (uint32_t i = 0; i < columns->n_rows; i++) {
		start_ns = starts ? starts[i] : start_ns;
		end_ns = ends ? ends[i] : end_ns;
		ordered &= start_ns >= last_ns;
		inside &= start_ns <= header->latest_ns && end_ns <= header->latest_ns;
		last_ns = start_ns;
	}
	if (!ordered)
		return "rows are not in order of time";
	return inside ? NULL : "a row ends after its block's latest end";
}

int ts_sbt_reader_load_columns(struct ts_sbt_reader *reader, size_t i,
			       const struct ts_row_schema *schema,
			       struct ts_block_columns **ret_columns)
{
	ts_cleanup(ts_freep) struct ts_block_columns *columns = NULL;
	ts_cleanup(ts_freep) uint8_t *raw = NULL;
	struct ts_sbt_block_header header;
	const char *why;
	int r = ts_sbt_reader_load(reader, i, &header, &raw);

	r = r ?: ts_sbt_reader_columns(reader, i, schema, &header, raw, &columns);
	if (r)
		return r;
	why = check_times(schema, columns, &header);
	if (why)
		return ts_sbt_reader_fail(reader, TS_SBT_E_CORRUPT, reader->blocks[i].off, "%s",
					  why);
	*ret_columns = ts_take_ptr(columns);
	return 0;
}

int ts_sbt_arrays_new(struct ts_sbt_reader *reader, size_t i, uint64_t columns,
		      struct ts_sbt_arrays **ret_arrays)
{
	ts_cleanup(ts_sbt_arrays_freep) struct ts_sbt_arrays *arrays = NULL;
	const struct ts_row_schema *schema;
	int r;

	if (i >= reader->n_blocks)
		return ts_sbt_reader_fail(reader, TS_SBT_E_NOT_FOUND, 0,
					  "the trace has no block of this number");
	schema = ts_row_schema(reader->blocks[i].type);
	if (!schema)
		return ts_sbt_reader_fail(reader, TS_SBT_E_NOT_FOUND, reader->blocks[i].off,
					  "a block of type %u has no columns of numbers",
					  reader->blocks[i].type);
	arrays = calloc(1, sizeof(*arrays));
	if (!arrays)
		return ts_sbt_reader_fail(reader, -ENOMEM, 0, "no memory for arrays");
	arrays->schema = schema;
	r = ts_sbt_reader_load_columns(reader, i, schema, &arrays->columns);
	if (r)
		return r;
	arrays->n_rows = arrays->columns->n_rows;
	for (unsigned c = 0; !r && c < schema->n_columns; c++)
		if (!columns || columns & TS_SBT_COLUMN(c))
			r = make_array(arrays, c);
	if (r)
		return ts_sbt_reader_fail(reader, r, 0, "no memory for arrays");
	*ret_arrays = ts_take_ptr(arrays);
	return 0;
}

void ts_sbt_arrays_free(struct ts_sbt_arrays *arrays)
{
	if (!arrays)
		return;
	for (unsigned c = 0; c < TS_ROW_MAX_COLUMNS; c++)
		free(arrays->own[c]);
	free(arrays->columns);
	free(arrays);
}

uint32_t ts_sbt_arrays_rows(const struct ts_sbt_arrays *arrays)
{
	return arrays->n_rows;
}

const struct ts_row_schema *ts_sbt_arrays_schema(const struct ts_sbt_arrays *arrays)
{
	return arrays->schema;
}

const void *ts_sbt_arrays_column(const struct ts_sbt_arrays *arrays, int column)
{
	return column < 0 || column >= arrays->schema->n_columns ? NULL : arrays->values[column];
}
