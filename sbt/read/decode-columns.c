/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decodes the payload of a block into columns in memory (struct ts_block_columns). Index columns
 * come first, because they predict other columns; then the indexed columns; then all others in the
 * order of their ids. Some rows are decoded at a time, so that residuals stay in the cache.
 *
 * The bytes are untrusted. References, counts and sizes of a column are checked before use, and an
 * index is checked when it is decoded. reader-block.c, verify.c and index.c call this module;
 * column.c and predict.c decode the numbers.
 *
 *     read_directory -> check_index, check_column -> allocate -> decode_all:
 *     constants -> indices -> items of the runs -> start and end -> the other columns
 */

#include <stdio.h>

#include "sbt/format/block-columns.h"
#include "sbt/format/calls.h"
#include "sbt/format/scaled.h"

#define CHUNK_ROWS 1024u
#define NO_COLUMN  (-1)

/* A column's directory entry. */
struct entry {
	struct ts_sbt_column_header header;
	const uint8_t *bytes;
	uint64_t *values; /* decoded values of an 8-byte column */
	bool present;
	/*
	 * the column is the base of another column: it is decoded to an array, whatever its
	 * encoding
	 */
	bool is_base;
};

struct decoding {
	const struct ts_row_schema *schema;
	struct ts_plan plan;
	struct ts_block_why *why;
	struct entry entries[TS_ROW_MAX_COLUMNS]; /* in the order of the schema */
	struct entry indices[TS_PLAN_RUNS];
	uint32_t n_items[TS_PLAN_RUNS]; /* 1 if there is no index */
	uint32_t n_rows;
	struct ts_block_columns *columns;
	uint8_t *arena;		    /* the free rest of the arena */
	uint64_t *state;	    /* working memory of two predictions */
	struct ts_scale *scales[2]; /* working memory of two SCALED columns */
	uint16_t *grouped;	    /* working memory of an index */
	/* The calls that times are relative to; NULL: times are absolute. */
	const struct ts_calls *calls;
	enum ts_calls_kind calls_kind;
	int op_column; /* of the ids of the calls */
};

static int bad(struct decoding *d, const struct entry *entry, const char *what)
{
	const struct ts_sbt_column_header *header = &entry->header;
	const char *name = "?";

	for (unsigned c = 0; c < d->schema->n_columns; c++)
		if (d->schema->columns[c].id == header->id)
			name = d->schema->columns[c].name;
	if (header->id == TS_SBT_COLUMN_PLACE || header->id == TS_SBT_COLUMN_SITE)
		name = header->id == TS_SBT_COLUMN_PLACE ? "place" : "site";
	snprintf(d->why->text, sizeof(d->why->text),
		 "column %u (%s) has %s (encoding %u, predictor %u)", header->id, name, what,
		 header->encoding, header->predictor);
	return TS_SBT_E_CORRUPT;
}

static int bad_block(struct decoding *d, const char *what)
{
	snprintf(d->why->text, sizeof(d->why->text), "%s", what);
	return TS_SBT_E_CORRUPT;
}

static bool is_stored_as_residuals(const struct entry *entry)
{
	return entry->header.encoding >= TS_SBT_VARINTS;
}

/* Returns the run whose index column has this id, or -1. */
static int run_of_id(uint16_t id)
{
	return id == TS_SBT_COLUMN_PLACE  ? TS_PLAN_PLACE
	       : id == TS_SBT_COLUMN_SITE ? TS_PLAN_SITE
					  : -1;
}

/* Returns the position of the column in the schema, or NO_COLUMN. */
static int column_of_id(const struct ts_row_schema *schema, uint16_t id)
{
	for (unsigned c = 0; c < schema->n_columns; c++)
		if (schema->columns[c].id == id)
			return (int)c;
	return NO_COLUMN;
}

/* Reads the directory and stores the known columns; counts the unknown ones. */
static int read_directory(struct decoding *d, const struct ts_sbt_block_header *header,
			  const uint8_t *raw)
{
	uint64_t pos = header->n_columns * sizeof(struct ts_sbt_column_header);

	for (unsigned i = 0; i < header->n_columns; i++) {
		const uint8_t *bytes = raw + pos;
		struct ts_sbt_column_header column;
		const char *why = ts_block_next_column(header, raw, i, &column, &pos);
		int c, run;
		struct entry *entry;

		if (why)
			return bad_block(d, why);
		c = column_of_id(d->schema, column.id);
		run = d->schema->is_event ? run_of_id(column.id) : -1;
		if (c < 0 && run < 0) {
			d->columns->n_unknown++;
			continue;
		}
		entry = run >= 0 ? &d->indices[run] : &d->entries[c];
		*entry = (struct entry){.header = column, .bytes = bytes, .present = true};
		why = ts_column_header_check(&column);
		if (why)
			return bad(d, entry, why);
	}
	return pos == header->raw_bytes ? 0
					: bad_block(d, "a block has bytes after its last column");
}

/* Checks whether the block may have times that are relative to calls. */
static int check_calls(struct decoding *d, const struct ts_sbt_block_header *header)
{
	if (!header->calls)
		return 0;
	d->calls_kind = TS_CALLS_KIND(header->calls);
	d->op_column = ts_calls_column(d->schema);
	if (d->op_column < 0 || d->schema->type == TS_ROW_API || d->calls_kind >= TS_CALLS_KINDS)
		return bad_block(d, "a block cannot have times relative to calls in this way");
	return d->calls ? 0 : bad_block(d, "the block of a block's calls is missing");
}

/*
 * Requests arrays of the columns that make_absolute() needs, whatever their encoding. A missing
 * column becomes a column of zeros.
 */
static void request_times(struct decoding *d)
{
	static const uint64_t zero;

	for (unsigned c = 0; c < d->schema->n_columns; c++) {
		struct entry *entry = &d->entries[c];

		if (c > (unsigned)d->schema->has_end && (int)c != d->op_column)
			continue;
		if (!entry->present)
			*entry = (struct entry){.header = {.id = d->schema->columns[c].id,
							   .width = sizeof(zero),
							   .encoding = TS_SBT_CONSTANT,
							   .n_values = d->n_rows},
						.bytes = (const uint8_t *)&zero,
						.present = true};
		entry->is_base = true;
	}
}

static void make_absolute(struct decoding *d)
{
	ts_calls_move(d->calls, d->calls_kind, true, d->entries[d->op_column].values, d->n_rows,
		      d->entries[0].values, d->schema->has_end ? d->entries[1].values : NULL);
}

static int check_index(struct decoding *d, int run)
{
	const struct entry *entry = &d->indices[run];
	const struct ts_sbt_column_header *header = &entry->header;

	if (!entry->present)
		return 0;
	if (header->width != sizeof(uint16_t) ||
	    header->flags & (TS_SBT_COLUMN_SIGNED | TS_SBT_COLUMN_INDEXED))
		return bad(d, entry, "a wrong width or sign");
	if (header->n_values != d->n_rows)
		return bad(d, entry, "a wrong number of values");
	if (header->base >= d->n_rows)
		return bad(d, entry, "more items than rows");
	if ((header->predictor != TS_SBT_NONE && header->predictor != TS_SBT_GROUPED) ||
	    header->trend)
		return bad(d, entry, "a predictor or a trend that an index column cannot have");
	if (header->predictor == TS_SBT_GROUPED &&
	    (header->key != TS_SBT_COLUMN_PLACE || run != TS_PLAN_SITE ||
	     !d->indices[TS_PLAN_PLACE].present))
		return bad(d, entry, "a key column that the block lacks");
	d->n_items[run] = header->base + 1u;
	return 0;
}

static bool is_index_there(const struct decoding *d, uint16_t id)
{
	int run = run_of_id(id);

	return !id || (run >= 0 && d->indices[run].present);
}

/* Returns true if the column is predicted from the last values of another column. */
static bool is_last_of(const struct entry *entry, const struct entry *base)
{
	return is_stored_as_residuals(entry) && entry->header.predictor == TS_SBT_LAST &&
	       entry->header.base == base->header.id;
}

/*
 * Checks that the base of a prediction is decoded before the column. The base is the column itself
 * or an earlier one; a start may also be predicted from the ends of earlier rows, if these are not
 * predicted from the starts of earlier rows.
 */
static int check_prediction(struct decoding *d, unsigned c)
{
	struct entry *entry = &d->entries[c];
	const struct ts_sbt_column_header *header = &entry->header;
	bool indexed = header->flags & TS_SBT_COLUMN_INDEXED;
	int base;

	if (!is_stored_as_residuals(entry))
		return 0;
	if (header->encoding == TS_SBT_SCALED && !d->schema->is_event)
		return bad(d, entry, "an encoding that only events can have");
	if (header->predictor == TS_SBT_GROUPED)
		return bad(d, entry, "a predictor that only the index column `site` can have");
	if ((!indexed && !is_index_there(d, header->key)) || !is_index_there(d, header->context))
		return bad(d, entry, "a key column that the block lacks");
	if (indexed && (header->trend || header->predictor == TS_SBT_COLUMN))
		return bad(d, entry, "a predictor or a trend that indexed values cannot have");
	if (header->predictor == TS_SBT_NONE ||
	    (header->predictor == TS_SBT_LAST && header->base == header->id))
		return 0;
	base = column_of_id(d->schema, header->base);
	if (indexed || base < 0 || !d->entries[base].present ||
	    d->entries[base].header.width != 8 ||
	    d->entries[base].header.flags & TS_SBT_COLUMN_INDEXED ||
	    ((unsigned)base >= c && !(is_last_of(entry, &d->entries[1]) && c == 0 &&
				      d->schema->has_end && !is_last_of(&d->entries[1], entry))))
		return bad(d, entry, "an invalid base of its prediction");
	d->entries[base].is_base = true;
	return 0;
}

static int check_column(struct decoding *d, unsigned c)
{
	const struct ts_column *column = &d->schema->columns[c];
	struct entry *entry = &d->entries[c];
	const struct ts_sbt_column_header *header = &entry->header;
	uint32_t want = d->n_rows;

	if (!entry->present)
		return 0;
	if (header->width != column->width ||
	    !!(header->flags & TS_SBT_COLUMN_SIGNED) != column->is_signed)
		return bad(d, entry, "a wrong width or sign");
	if (header->flags & TS_SBT_COLUMN_INDEXED) {
		int run = run_of_id(header->key);

		if (run < 0 || !d->indices[run].present || ts_plan_run_of(&d->plan, c) != run)
			return bad(d, entry, "an invalid index");
		want = d->n_items[run];
	}
	if (header->n_values != want)
		return bad(d, entry, "a wrong number of values");
	return check_prediction(d, c);
}

/* Returns the bytes of the arena. */
static size_t arena_bytes(const struct decoding *d)
{
	size_t n = 0;

	for (int run = 0; run < TS_PLAN_RUNS; run++)
		if (d->indices[run].present)
			n += ts_align_up(d->n_rows * sizeof(uint16_t), 8) +
			     ts_align_up((size_t)d->n_items[run] * d->plan.runs[run].n_bytes, 8);
	for (unsigned c = 0; c < d->schema->n_columns; c++) {
		const struct entry *entry = &d->entries[c];

		if (entry->present && !(entry->header.flags & TS_SBT_COLUMN_INDEXED) &&
		    (entry->header.encoding != TS_SBT_CONSTANT || entry->is_base))
			n += ts_align_up((size_t)d->n_rows * entry->header.width, 8);
	}
	return n;
}

static void *take(struct decoding *d, size_t n_bytes)
{
	void *at = d->arena;

	d->arena += ts_align_up(n_bytes, 8);
	return at;
}

static uint16_t highest_of(const uint16_t *values, uint32_t n)
{
	uint16_t highest = 0;

	for (uint32_t i = 0; i < n; i++)
		highest = values[i] > highest ? values[i] : highest;
	return highest;
}

/*
 * Reads the values of an index in stored order. Returns NULL, or the reason why the index is
 * invalid.
 */
static const char *read_index(const struct entry *entry, uint32_t n, uint16_t *to)
{
	const struct ts_sbt_column_header *header = &entry->header;
	uint64_t chunk[CHUNK_ROWS], all = 0;
	struct ts_residuals residuals;
	uint16_t highest;
	const char *why = NULL;

	/* The usual encoding. */
	if (header->encoding == TS_SBT_PLANES && header->n_planes == 1 && header->n_bytes == n &&
	    !(header->flags & TS_SBT_COLUMN_CENTRED)) {
		ts_plane_to_index(entry->bytes, n, to, &highest);
		return highest > header->base ? "an index above its highest value" : NULL;
	}
	if (header->encoding == TS_SBT_RAW && n)
		memcpy(to, entry->bytes, n * sizeof(*to));
	if (header->encoding == TS_SBT_CONSTANT)
		for (uint32_t i = 0; i < n; i++)
			memcpy(&to[i], entry->bytes, sizeof(*to));
	if (is_stored_as_residuals(entry))
		ts_residuals_init(&residuals, header, entry->bytes);
	for (uint32_t i = 0, m; is_stored_as_residuals(entry) && !why && i < n; i += m) {
		m = n - i < CHUNK_ROWS ? n - i : CHUNK_ROWS;
		why = ts_residuals_next(&residuals, chunk, m);
		for (uint32_t j = 0; !why && j < m; j++) {
			to[i + j] = (uint16_t)chunk[j];
			all |= chunk[j];
		}
	}
	if (!why && is_stored_as_residuals(entry))
		why = ts_residuals_finish(&residuals);
	if (!why && (all > UINT16_MAX || highest_of(to, n) > header->base))
		why = "an index above its highest value";
	return why;
}

/* Reorders an index from stored order (by place) to row order. */
static void ungroup(struct decoding *d, const uint16_t *grouped, uint16_t *index)
{
	const uint16_t *place = d->columns->runs[TS_PLAN_PLACE].index;
	uint32_t *at = (uint32_t *)(void *)d->state;

	ts_group_starts(place, d->n_rows, d->n_items[TS_PLAN_PLACE], at);
	for (uint32_t i = 0, from; i < d->n_rows;) {
		uint32_t next = at[place[i]];

		from = i;
		do
			index[i++] = grouped[next++];
		while (i < d->n_rows && place[i] == place[from]);
		at[place[from]] = next;
	}
}

static int decode_index(struct decoding *d, int run)
{
	const struct entry *entry = &d->indices[run];
	bool is_grouped = entry->header.predictor == TS_SBT_GROUPED;
	uint16_t *index, *values;
	const char *why;

	if (!entry->present)
		return 0;
	index = take(d, d->n_rows * sizeof(*index));
	d->columns->runs[run].index = index;
	values = is_grouped ? d->grouped : index;
	why = read_index(entry, d->n_rows, values);
	if (why)
		return bad(d, entry, why);
	if (is_grouped)
		ungroup(d, values, index);
	return 0;
}

static void prediction_of(const struct decoding *d, const struct entry *entry,
			  struct ts_prediction *ret)
{
	const struct ts_sbt_column_header *header = &entry->header;
	int key = header->flags & TS_SBT_COLUMN_INDEXED ? -1 : run_of_id(header->key);
	int context = run_of_id(header->context);

	*ret = (struct ts_prediction){
		.predictor = header->predictor,
		.trend = header->trend,
		.key = key < 0 ? NULL : d->columns->runs[key].index,
		.context = context < 0 ? NULL : d->columns->runs[context].index,
		.n_keys = key < 0 ? 1 : d->n_items[key],
		.n_contexts = context < 0 ? 1 : d->n_items[context],
	};
	if (header->predictor != TS_SBT_NONE && header->base != header->id)
		ret->base = d->entries[column_of_id(d->schema, header->base)].values;
}

/* Returns zeroed state for a prediction at *at, and advances *at. */
static struct ts_prediction_state fresh_state(const struct ts_prediction *prediction, uint64_t **at)
{
	struct ts_prediction_state state = {.last = *at, .trend = *at + prediction->n_keys};
	size_t n = (size_t)prediction->n_keys + prediction->n_contexts;

	memset(*at, 0, n * sizeof(uint64_t));
	*at += n;
	return state;
}

/* The residuals of a column, whatever their encoding. */
struct source {
	bool is_scaled;
	struct ts_residuals residuals;
	struct ts_scaled_numbers scaled;
};

/* Starts reading with the working memory `scales`. Returns NULL, or the reason why it cannot. */
static const char *source_init(struct source *source, const struct entry *entry,
			       const struct ts_prediction *prediction, struct ts_scale *scales)
{
	struct ts_scaled scaled = {.context = prediction->context,
				   .n_contexts = prediction->n_contexts,
				   .scales = scales};

	source->is_scaled = entry->header.encoding == TS_SBT_SCALED;
	if (source->is_scaled)
		return ts_scaled_init(&source->scaled, &scaled, &entry->header, entry->bytes);
	ts_residuals_init(&source->residuals, &entry->header, entry->bytes);
	return NULL;
}

static const char *source_next(struct source *source, uint64_t *to, uint32_t n)
{
	return source->is_scaled ? ts_scaled_next(&source->scaled, to, n)
				 : ts_residuals_next(&source->residuals, to, n);
}

static const char *source_finish(const struct source *source)
{
	return source->is_scaled ? ts_scaled_finish(&source->scaled)
				 : ts_residuals_finish(&source->residuals);
}

/* Decodes a column of residuals to `to`: n_values values of its width. */
static int decode_residuals(struct decoding *d, const struct entry *entry, uint8_t *to)
{
	const struct ts_sbt_column_header *header = &entry->header;
	bool is_signed = header->flags & TS_SBT_COLUMN_SIGNED;
	uint64_t chunk[CHUNK_ROWS], *at = d->state;
	struct ts_prediction_state state;
	struct ts_prediction prediction;
	struct source source;
	const char *why;
	bool fits = true;

	prediction_of(d, entry, &prediction);
	state = fresh_state(&prediction, &at);
	why = source_init(&source, entry, &prediction, d->scales[0]);
	for (uint32_t i = 0; !why && i < header->n_values; i += CHUNK_ROWS) {
		uint32_t n = header->n_values - i < CHUNK_ROWS ? header->n_values - i : CHUNK_ROWS;
		uint64_t *values = header->width == 8 ? (uint64_t *)(void *)to + i : chunk;

		why = source_next(&source, values, n);
		if (why)
			break;
		ts_predict_untrend(&prediction, &state, i, n, values);
		ts_predict_decode(&prediction, &state, i, n, values);
		if (values == chunk)
			fits &= ts_column_store(to + (size_t)i * header->width, values, n,
						header->width, is_signed);
	}
	if (!why)
		why = fits ? source_finish(&source) : "a number that is too large for its width";
	return why ? bad(d, entry, why) : 0;
}

/*
 * Decodes start and end together if the start is predicted from the last end, and the end from the
 * start.
 */
static int decode_spans(struct decoding *d)
{
	struct entry *start = &d->entries[0], *end = &d->entries[1];
	struct ts_prediction predictions[2];
	struct ts_prediction_state states[2];
	struct source sources[2];
	const char *why = NULL;
	uint64_t *at = d->state;

	for (int i = 0; i < 2; i++) {
		struct entry *entry = &d->entries[i];

		entry->values = take(d, d->n_rows * sizeof(uint64_t));
		prediction_of(d, entry, &predictions[i]);
		states[i] = fresh_state(&predictions[i], &at);
		why = source_init(&sources[i], entry, &predictions[i], d->scales[i]);
		if (why)
			return bad(d, entry, why);
	}
	for (uint32_t i = 0; i < d->n_rows; i += CHUNK_ROWS) {
		uint32_t n = d->n_rows - i < CHUNK_ROWS ? d->n_rows - i : CHUNK_ROWS;

		why = source_next(&sources[0], start->values + i, n);
		if (why)
			return bad(d, start, why);
		why = source_next(&sources[1], end->values + i, n);
		if (why)
			return bad(d, end, why);
		ts_predict_untrend(&predictions[0], &states[0], i, n, start->values + i);
		ts_predict_untrend(&predictions[1], &states[1], i, n, end->values + i);
		ts_predict_decode_spans(predictions[0].key, states[0].last, i, n, start->values + i,
					end->values + i);
	}
	why = source_finish(&sources[0]);
	if (why)
		return bad(d, start, why);
	why = source_finish(&sources[1]);
	return why ? bad(d, end, why) : 0;
}

/* Repeats one value `n` times. */
static void fill(uint8_t *to, const uint8_t *value, uint16_t width, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		memcpy(to + (size_t)i * width, value, width);
}

/* Decodes an indexed column into the items of its run. */
static int decode_items(struct decoding *d, unsigned c)
{
	const struct ts_column *column = &d->schema->columns[c];
	const struct entry *entry = &d->entries[c];
	int run = run_of_id(entry->header.key), r = 0;
	uint32_t n = d->n_items[run], n_bytes = d->plan.runs[run].n_bytes;
	uint8_t *to = (uint8_t *)(uintptr_t)d->columns->runs[run].items;
	size_t width = entry->header.width;
	ts_cleanup(ts_freep) uint8_t *values = malloc(n * width);

	if (!values)
		return -ENOMEM;
	if (is_stored_as_residuals(entry))
		r = decode_residuals(d, entry, values);
	else if (entry->header.encoding == TS_SBT_CONSTANT)
		fill(values, entry->bytes, (uint16_t)width, n);
	else
		memcpy(values, entry->bytes, n * width);
	to += column->offset - d->plan.runs[run].offset;
	for (uint32_t i = 0; !r && i < n; i++)
		memcpy(to + (size_t)i * n_bytes, values + i * width, width);
	return r;
}

/* Decodes a column with one value per row. */
static int decode_column(struct decoding *d, unsigned c)
{
	struct entry *entry = &d->entries[c];
	uint16_t width = entry->header.width;
	size_t n_bytes = (size_t)d->n_rows * width;
	uint8_t *to;

	if (entry->header.encoding == TS_SBT_CONSTANT && !entry->is_base)
		return 0;
	to = take(d, n_bytes);
	if (width == 8)
		entry->values = (uint64_t *)(void *)to;
	d->columns->varying[d->columns->n_varying].values = to;
	d->columns->varying[d->columns->n_varying].offset = d->schema->columns[c].offset;
	d->columns->varying[d->columns->n_varying++].width = width;
	if (is_stored_as_residuals(entry))
		return decode_residuals(d, entry, to);
	if (entry->header.encoding == TS_SBT_CONSTANT)
		fill(to, entry->bytes, width, d->n_rows);
	else if (n_bytes)
		memcpy(to, entry->bytes, n_bytes);
	return 0;
}

static void add_spans(struct decoding *d)
{
	for (unsigned c = 0; c < 2; c++) {
		d->columns->varying[c].values = (const uint8_t *)d->entries[c].values;
		d->columns->varying[c].offset = d->schema->columns[c].offset;
		d->columns->varying[c].width = sizeof(uint64_t);
	}
	d->columns->n_varying = 2;
}

/*
 * Decodes start and end of events in the order that their predictions require. *ret_done is the
 * number of decoded columns, 0 or 2.
 */
static int decode_times(struct decoding *d, unsigned *ret_done)
{
	const struct entry *start = &d->entries[0], *end = &d->entries[1];
	int r;

	*ret_done = 0;
	if (!d->schema->is_event || !d->schema->has_end || !start->present || !end->present ||
	    !is_stored_as_residuals(start) || start->header.predictor != TS_SBT_LAST ||
	    start->header.base != end->header.id)
		return 0;
	*ret_done = 2;
	if (is_stored_as_residuals(end) && end->header.predictor == TS_SBT_COLUMN) {
		r = decode_spans(d);
		if (!r)
			add_spans(d);
		return r;
	}
	r = decode_column(d, 1);
	return r ? r : decode_column(d, 0);
}

/* Copies constant columns to the row of constants. */
static void put_constants(struct decoding *d)
{
	for (unsigned c = 0; c < d->schema->n_columns; c++) {
		const struct entry *entry = &d->entries[c];

		if (entry->present && entry->header.encoding == TS_SBT_CONSTANT &&
		    !(entry->header.flags & TS_SBT_COLUMN_INDEXED))
			memcpy(d->columns->constants + d->schema->columns[c].offset, entry->bytes,
			       entry->header.width);
	}
}

static void begin_items(struct decoding *d, int run)
{
	const struct ts_plan_run *plan = &d->plan.runs[run];
	uint8_t *items;

	if (!d->indices[run].present || !plan->n_bytes)
		return;
	items = take(d, (size_t)d->n_items[run] * plan->n_bytes);
	fill(items, d->columns->constants + plan->offset, plan->n_bytes, d->n_items[run]);
	d->columns->runs[run].items = items;
	d->columns->runs[run].offset = plan->offset;
	d->columns->runs[run].n_bytes = plan->n_bytes;
}

static int decode_all(struct decoding *d)
{
	unsigned done;
	int r = 0;

	put_constants(d);
	for (int run = 0; !r && run < TS_PLAN_RUNS; run++) {
		r = decode_index(d, run);
		begin_items(d, run);
	}
	for (unsigned c = 0; !r && c < d->schema->n_columns; c++)
		if (d->entries[c].present && d->entries[c].header.flags & TS_SBT_COLUMN_INDEXED)
			r = decode_items(d, c);
	if (!r)
		r = decode_times(d, &done);
	for (unsigned c = r ? 0 : done; !r && c < d->schema->n_columns; c++)
		if (d->entries[c].present && !(d->entries[c].header.flags & TS_SBT_COLUMN_INDEXED))
			r = decode_column(d, c);
	return r;
}

/*
 * Allocates the columns and the working memory, and copies the counts of `counted` to the columns.
 */
static int allocate(struct decoding *d, const struct ts_block_columns *counted,
		    struct ts_spares *spares, void **ret_scratch)
{
	size_t n_state = 2ul * (d->n_items[TS_PLAN_PLACE] + d->n_items[TS_PLAN_SITE] + 2);
	size_t n_scales = d->n_items[TS_PLAN_PLACE] > d->n_items[TS_PLAN_SITE]
				  ? d->n_items[TS_PLAN_PLACE]
				  : d->n_items[TS_PLAN_SITE];
	size_t n_bytes = sizeof(*d->columns) + arena_bytes(d);

	d->columns = ts_spares_take(spares, n_bytes);
	*ret_scratch = malloc(n_state * sizeof(uint64_t) + 2 * n_scales * sizeof(*d->scales[0]) +
			      d->n_rows * sizeof(uint16_t));
	if (!d->columns || !*ret_scratch)
		return -ENOMEM;
	*d->columns = *counted;
	d->columns->n_bytes = n_bytes;
	d->columns->n_rows = d->n_rows;
	d->arena = (uint8_t *)d->columns->arena;
	d->state = *ret_scratch;
	d->scales[0] = (struct ts_scale *)(void *)(d->state + n_state);
	d->scales[1] = d->scales[0] + n_scales;
	d->grouped = (uint16_t *)(void *)(d->scales[1] + n_scales);
	return 0;
}

int ts_block_columns_new_in(struct ts_spares *spares, const struct ts_calls *calls,
			    const struct ts_row_schema *schema,
			    const struct ts_sbt_block_header *header, const uint8_t *raw,
			    struct ts_block_columns **ret_columns, struct ts_block_why *ret_why)
{
	struct ts_block_columns counted = {0};
	ts_cleanup(ts_freep) void *scratch = NULL;
	struct decoding d = {
		.schema = schema,
		.why = ret_why,
		.n_rows = header->n_rows,
		.n_items = {1, 1},
		.columns = &counted,
		.calls = header->calls ? calls : NULL,
	};
	int r = check_calls(&d, header);

	ts_plan_of(schema, &d.plan);
	r = r ?: read_directory(&d, header, raw);
	for (int run = 0; !r && run < TS_PLAN_RUNS; run++)
		r = check_index(&d, run);
	for (unsigned c = 0; !r && c < schema->n_columns; c++)
		r = check_column(&d, c);
	if (r)
		return r;
	if (d.calls)
		request_times(&d);
	d.columns = NULL;
	r = allocate(&d, &counted, spares, &scratch);
	r = r ?: decode_all(&d);
	if (r) {
		free(d.columns);
		return r;
	}
	if (d.calls)
		make_absolute(&d);
	*ret_columns = d.columns;
	return 0;
}

uint64_t ts_block_columns_bytes(const struct ts_block_columns *columns)
{
	return columns->n_bytes;
}

unsigned ts_block_columns_unknown(const struct ts_block_columns *columns)
{
	return columns->n_unknown;
}
