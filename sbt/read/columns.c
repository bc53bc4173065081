/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of one type as columns over all blocks; libtracesmith's bindings call this file. A block
 * of which all rows are wanted is decoded right into the arrays. Of other blocks the columns of the
 * selection are decoded first; then each wanted column is decoded and its selected values copied.
 */

#include "sbt/columns.h"

#include <sys/mman.h>

#include "sbt/format/block-columns.h"
#include "sbt/read/filter.h"

#define HUGE_BYTES (2u * 1024 * 1024)

struct ts_sbt_columns {
	unsigned n_references; /* atomic */
	const struct ts_row_schema *schema;
	uint64_t n_rows;
	uint64_t n_damaged;
	uint32_t *sessions;
	uint8_t *values[TS_ROW_MAX_COLUMNS]; /* NULL: not requested */
	uint32_t *calls;		     /* TS_SBT_CALL_COLUMN; NULL: not requested */
};

TS_STATIC_ASSERT(TS_ROW_MAX_COLUMNS <= TS_SBT_CALL_COLUMN, "the column has a bit of its own");

struct gathering {
	struct ts_sbt_reader *reader;
	const struct ts_sbt_columns_options *options;
	struct ts_sbt_cursor_options window; /* the same selection, for filter.h */
	struct ts_row_filter filter;
	int name;	  /* index of the column that `names` selects by; -1: none, or calls */
	int domain, cbid; /* indexes of a call's columns; -1: rows are no calls */
	uint8_t *chosen;  /* one byte per block; not 0: the block may have rows */
	uint8_t *scratch; /* a column of a block */
	uint8_t *keep;	  /* one byte per row of a block */
	struct ts_sbt_columns *to;
};

static bool selects(const struct ts_sbt_columns_options *options)
{
	return options->from_ns || options->to_ns || options->filter || options->names;
}

/* `c`: index of a column, or TS_SBT_CALL_COLUMN. */
static bool is_wanted(const struct gathering *g, unsigned c)
{
	return !g->options->columns || g->options->columns & TS_SBT_COLUMN(c);
}

/* Chooses the blocks of a definition type, or of a type without selection. */
static int choose_all(struct gathering *g)
{
	g->chosen = malloc(g->reader->n_blocks + 1);
	if (!g->chosen)
		return ts_sbt_reader_fail(g->reader, -ENOMEM, 0, "no memory for a list of blocks");
	for (size_t i = 0; i < g->reader->n_blocks; i++) {
		const struct ts_sbt_block *block = &g->reader->blocks[i];

		g->chosen[i] = block->type == g->options->type &&
			       (!g->options->session || block->session == g->options->session);
	}
	return 0;
}

static int choose(struct gathering *g)
{
	const struct ts_sbt_columns_options *options = g->options;
	const struct ts_row_schema *schema = g->to->schema;

	g->name = -1;
	if (!selects(options))
		return choose_all(g);
	if (!schema->is_event)
		return ts_sbt_reader_fail(g->reader, -EINVAL, 0, "rows of type %s are no events",
					  schema->name);
	g->window = (struct ts_sbt_cursor_options){
		.types = TS_ROW_BIT(options->type),
		.session = options->session,
		.filter = options->filter,
		.from_ns = options->from_ns,
		.to_ns = options->to_ns ? options->to_ns : UINT64_MAX,
		.device = options->device,
		.context = options->context,
		.stream = options->stream,
		.thread = options->thread,
	};
	if (options->names)
		g->name = ts_row_column(schema, "name");
	if (!ts_row_filter_init(&g->filter, schema, &g->window) ||
	    (options->names && g->name < 0 && g->domain < 0))
		return ts_sbt_reader_fail(g->reader, TS_SBT_E_NOT_FOUND, 0,
					  "rows of type %s lack a column of the selection",
					  schema->name);
	return ts_sbt_reader_choose(g->reader, &g->window, &g->chosen);
}

/*
 * Allocates the memory of a column. Large columns get huge pages where the kernel allows it,
 * because page faults of small pages take as long as decoding.
 */
static void *allocate_column(uint64_t n_bytes)
{
	void *memory;

	if (n_bytes < 2 * HUGE_BYTES)
		return malloc(n_bytes);
	memory = aligned_alloc(HUGE_BYTES, ts_align_up(n_bytes, HUGE_BYTES));
	if (memory)
		(void)madvise(memory, ts_align_up(n_bytes, HUGE_BYTES), MADV_HUGEPAGE);
	return memory;
}

static int allocate(struct gathering *g)
{
	struct ts_sbt_columns *to = g->to;
	uint64_t n = 1, widest = sizeof(uint64_t);

	for (size_t i = 0; i < g->reader->n_blocks; i++)
		n += g->chosen[i] ? g->reader->blocks[i].n_rows : 0;
	for (unsigned c = 0; c < to->schema->n_columns; c++) {
		const uint16_t width = to->schema->columns[c].width;

		widest = width > widest ? width : widest;
		if (is_wanted(g, c) && !(to->values[c] = allocate_column(n * width)))
			return -ENOMEM;
	}
	if (g->domain >= 0 && is_wanted(g, TS_SBT_CALL_COLUMN) &&
	    !(to->calls = allocate_column(n * sizeof(*to->calls))))
		return -ENOMEM;
	to->sessions = allocate_column(n * sizeof(*to->sessions));
	g->scratch = malloc(TS_SBT_MAX_ROWS * widest);
	g->keep = malloc(TS_SBT_MAX_ROWS);
	return to->sessions && g->scratch && g->keep ? 0 : -ENOMEM;
}

static bool is_whole(const struct gathering *g, const struct ts_sbt_block *block)
{
	return !selects(g->options) ||
	       (!g->options->filter && !g->options->names &&
		block->earliest_ns >= g->window.from_ns && block->latest_ns <= g->window.to_ns);
}

/* Clears `keep` of the rows that do not touch the window. */
static void keep_window(struct gathering *g, const struct ts_block_columns *columns)
{
	const struct ts_column *column = g->to->schema->columns;
	uint64_t *times = (void *)g->scratch;

	ts_block_columns_put(columns, &column[0], g->scratch);
	for (uint32_t i = 0; i < columns->n_rows; i++) {
		g->keep[i] &= times[i] <= g->window.to_ns;
		/* An event without an end, or with an end before its start, ends at its start. */
		if (times[i] >= g->window.from_ns)
			g->keep[i] |= 2;
	}
	if (g->to->schema->has_end) {
		ts_block_columns_put(columns, &column[1], g->scratch);
		for (uint32_t i = 0; i < columns->n_rows; i++)
			g->keep[i] |= times[i] >= g->window.from_ns ? 2 : 0;
	}
	for (uint32_t i = 0; i < columns->n_rows; i++)
		g->keep[i] = g->keep[i] == 3;
}

static void keep_filter(struct gathering *g, const struct ts_block_columns *columns)
{
	const struct ts_row_schema *schema = g->to->schema;
	const uint32_t *ids = (const void *)g->scratch;

	for (unsigned f = 0; f < g->filter.n; f++) {
		unsigned c = 0;

		while (schema->columns[c].offset != g->filter.fields[f].offset)
			c++;
		ts_block_columns_put(columns, &schema->columns[c], g->scratch);
		for (uint32_t i = 0; i < columns->n_rows; i++)
			g->keep[i] &= ids[i] == g->filter.fields[f].value;
	}
}

static bool is_among(const uint32_t *names, uint32_t n_names, uint32_t name)
{
	uint32_t from = 0, to = n_names;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (names[middle] < name)
			from = middle + 1;
		else
			to = middle;
	}
	return from < n_names && names[from] == name;
}

/*
 * Decodes the calls of a block into the scratch memory, which has 8 bytes a row: 4 of the result,
 * 2 of each part.
 */
static const uint32_t *decode_calls(struct gathering *g, const struct ts_block_columns *columns)
{
	const struct ts_column *column = g->to->schema->columns;
	uint32_t *calls = (void *)g->scratch;
	uint16_t *domains = (void *)(calls + columns->n_rows), *cbids = domains + columns->n_rows;

	ts_block_columns_put(columns, &column[g->domain], (void *)domains);
	ts_block_columns_put(columns, &column[g->cbid], (void *)cbids);
	for (uint32_t i = 0; i < columns->n_rows; i++)
		calls[i] = ts_call_number(domains[i], cbids[i]);
	return calls;
}

static void keep_names(struct gathering *g, const struct ts_block_columns *columns)
{
	const uint32_t *ids = (const void *)g->scratch;

	if (!g->options->names)
		return;
	if (g->domain >= 0)
		ids = decode_calls(g, columns);
	else
		ts_block_columns_put(columns, &g->to->schema->columns[g->name], g->scratch);
	for (uint32_t i = 0; i < columns->n_rows; i++)
		g->keep[i] &= is_among(g->options->names, g->options->n_names, ids[i]);
}

/* Appends the calls of the kept rows; `keep` NULL: of all rows. */
static void take_calls(struct gathering *g, const struct ts_block_columns *columns,
		       const uint8_t *keep)
{
	uint32_t *to = g->to->calls ? g->to->calls + g->to->n_rows : NULL;
	const uint32_t *calls = to ? decode_calls(g, columns) : NULL;

	for (uint32_t i = 0; to && i < columns->n_rows; i++)
		if (!keep || keep[i])
			*to++ = calls[i];
}

static void take_whole(struct gathering *g, const struct ts_block_columns *columns)
{
	struct ts_sbt_columns *to = g->to;

	for (unsigned c = 0; c < to->schema->n_columns; c++) {
		const struct ts_column *column = &to->schema->columns[c];

		if (to->values[c])
			ts_block_columns_put(columns, column,
					     to->values[c] + to->n_rows * column->width);
	}
	take_calls(g, columns, NULL);
}

/* Copies the values of the kept rows. Returns the number of kept rows. */
static uint32_t take_kept(struct gathering *g, const struct ts_block_columns *columns)
{
	struct ts_sbt_columns *to = g->to;
	uint32_t n_kept = 0;

	memset(g->keep, 1, columns->n_rows);
	keep_window(g, columns);
	keep_filter(g, columns);
	keep_names(g, columns);
	for (uint32_t i = 0; i < columns->n_rows; i++)
		n_kept += g->keep[i];
	for (unsigned c = 0; n_kept && c < to->schema->n_columns; c++) {
		const struct ts_column *column = &to->schema->columns[c];
		uint8_t *at;

		if (!to->values[c])
			continue;
		at = to->values[c] + to->n_rows * column->width;
		ts_block_columns_put(columns, column, g->scratch);
		for (uint32_t i = 0; i < columns->n_rows; i++) {
			if (!g->keep[i])
				continue;
			memcpy(at, g->scratch + (size_t)i * column->width, column->width);
			at += column->width;
		}
	}
	take_calls(g, columns, g->keep);
	return n_kept;
}

static int gather(struct gathering *g, size_t i)
{
	ts_cleanup(ts_freep) struct ts_block_columns *columns = NULL;
	const struct ts_sbt_block *block = &g->reader->blocks[i];
	struct ts_sbt_columns *to = g->to;
	int r = ts_sbt_reader_load_columns(g->reader, i, to->schema, &columns);
	uint32_t n;

	if (r == TS_SBT_E_CORRUPT || r == TS_SBT_E_VERSION) {
		to->n_damaged++;
		return 0;
	}
	if (r)
		return r;
	n = columns->n_rows;
	if (is_whole(g, block))
		take_whole(g, columns);
	else
		n = take_kept(g, columns);
	for (uint32_t k = 0; k < n; k++)
		to->sessions[to->n_rows + k] = block->session;
	to->n_rows += n;
	return 0;
}

static int gather_all(struct gathering *g)
{
	int r = choose(g);

	if (r)
		return r;
	if (ts_sbt_reader_note_lost_block(g->reader))
		return TS_SBT_E_CORRUPT;
	if (allocate(g))
		return ts_sbt_reader_fail(g->reader, -ENOMEM, 0, "no memory for columns");
	for (size_t i = 0; !r && i < g->reader->n_blocks; i++)
		if (g->chosen[i])
			r = gather(g, i);
	return r;
}

int ts_sbt_columns_new(struct ts_sbt_reader *reader, const struct ts_sbt_columns_options *options,
		       struct ts_sbt_columns **ret_columns)
{
	ts_cleanup(ts_sbt_columns_freep) struct ts_sbt_columns *columns = NULL;
	struct gathering g = {.reader = reader, .options = options};
	const struct ts_row_schema *schema = ts_row_schema(options->type);
	int r;

	if (!schema)
		return ts_sbt_reader_fail(reader, TS_SBT_E_NOT_FOUND, 0,
					  "rows of type %u have no columns of numbers",
					  options->type);
	columns = calloc(1, sizeof(*columns));
	if (!columns)
		return ts_sbt_reader_fail(reader, -ENOMEM, 0, "no memory for columns");
	columns->n_references = 1;
	columns->schema = schema;
	g.to = columns;
	g.domain = g.cbid = -1;
	if (options->type == TS_ROW_API) {
		g.domain = ts_row_column(schema, "domain");
		g.cbid = ts_row_column(schema, "cbid");
	}
	r = gather_all(&g);
	free(g.chosen);
	free(g.scratch);
	free(g.keep);
	if (r)
		return r;
	*ret_columns = ts_take_ptr(columns);
	return 0;
}

struct ts_sbt_columns *ts_sbt_columns_ref(struct ts_sbt_columns *columns)
{
	__atomic_add_fetch(&columns->n_references, 1, __ATOMIC_RELAXED);
	return columns;
}

void ts_sbt_columns_free(struct ts_sbt_columns *columns)
{
	/* Release pairs with acquire: the last holder sees the others' last reads as done. */
	if (!columns || __atomic_sub_fetch(&columns->n_references, 1, __ATOMIC_ACQ_REL))
		return;
	for (unsigned c = 0; c < TS_ROW_MAX_COLUMNS; c++)
		free(columns->values[c]);
	free(columns->calls);
	free(columns->sessions);
	free(columns);
}

uint64_t ts_sbt_columns_rows(const struct ts_sbt_columns *columns)
{
	return columns->n_rows;
}

const void *ts_sbt_columns_values(const struct ts_sbt_columns *columns, int column)
{
	if (column == TS_SBT_CALL_COLUMN)
		return columns->calls;
	return column < 0 || column >= columns->schema->n_columns ? NULL : columns->values[column];
}

const struct ts_row_schema *ts_sbt_columns_schema(const struct ts_sbt_columns *columns)
{
	return columns->schema;
}

const uint32_t *ts_sbt_columns_sessions(const struct ts_sbt_columns *columns)
{
	return columns->sessions;
}

uint64_t ts_sbt_columns_damaged(const struct ts_sbt_columns *columns)
{
	return columns->n_damaged;
}
