/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encodes the rows of a builder as a block: decides which columns the block has, and what each
 * column may be predicted from. The writers, index.c, append and summary.c call
 * ts_builder_encode(); encode-column.c tries the predictions and encodes. Columns that are zero in
 * all rows are left out. The columns of a run (plan.h) are stored once per item of the run's
 * dictionary, with one index column for all of them. Times may be relative to calls, see
 * encode-calls.c.
 */

#include "sbt/write/encode-calls.h"

#define MAX_PREDICTIONS 6u

/* The predictions that are tried for a column. */
struct choices {
	struct ts_prediction predictions[MAX_PREDICTIONS];
	uint16_t bases[MAX_PREDICTIONS];
	unsigned n;
};

/* The block that is being encoded. */
struct block {
	struct ts_builder *builder;
	struct ts_encoder *encoder;
	const uint16_t *indices[TS_PLAN_RUNS]; /* NULL: no such run, or a single item */
	uint32_t n_items[TS_PLAN_RUNS];
	bool present[TS_ROW_MAX_COLUMNS];
	uint16_t n_written;
	bool is_relative; /* start and end are relative to calls */
	enum ts_calls_kind calls_kind;
};

/* Copies one column of a dictionary's items to an array. */
static int gather_items(struct block *block, int run, const struct ts_column *column,
			const uint8_t **ret_values)
{
	const struct ts_dictionary *dictionary = &block->builder->dictionaries[run];
	struct ts_buffer *scratch = &block->encoder->scratch;
	const uint8_t *from =
		dictionary->items.bytes + column->offset - block->builder->plan.runs[run].offset;
	uint8_t *to;
	int r;

	scratch->n = 0;
	r = ts_buffer_reserve(scratch, (size_t)dictionary->n_items * column->width, &to);
	if (r)
		return r;
	*ret_values = to;
	for (uint32_t i = 0; i < dictionary->n_items;
	     i++, to += column->width, from += dictionary->item_bytes)
		memcpy(to, from, column->width);
	return 0;
}

static int find_present(struct block *block)
{
	const struct ts_builder *builder = block->builder;
	uint16_t n = 0;

	for (unsigned c = 0; c < builder->schema->n_columns; c++) {
		const struct ts_column *column = &builder->schema->columns[c];
		int run = ts_plan_run_of(&builder->plan, c), r;
		const uint8_t *values;

		block->present[c] = builder->seen[c];
		if (run >= 0) {
			r = gather_items(block, run, column, &values);
			if (r)
				return r;
			block->present[c] =
				!ts_all_zero(values, (size_t)block->n_items[run] * column->width);
		}
		n += block->present[c];
	}
	for (int run = 0; run < TS_PLAN_RUNS; run++)
		n += !!block->indices[run];
	return ts_encoder_begin(block->encoder, n);
}

static void add_choice(const struct block *block, struct choices *choices,
		       enum ts_sbt_predictor predictor, const struct ts_column *base, bool by_place,
		       unsigned trend)
{
	unsigned c = base ? (unsigned)(base - block->builder->schema->columns) : 0;
	struct ts_prediction *prediction = &choices->predictions[choices->n];

	*prediction = (struct ts_prediction){
		.predictor = predictor,
		.trend = trend,
		.n_keys = 1,
		.n_contexts = 1,
		.context = trend ? block->indices[TS_PLAN_SITE] : NULL,
	};
	if (prediction->context)
		prediction->n_contexts = block->n_items[TS_PLAN_SITE];
	if (by_place && block->indices[TS_PLAN_PLACE]) {
		prediction->key = block->indices[TS_PLAN_PLACE];
		prediction->n_keys = block->n_items[TS_PLAN_PLACE];
	}
	/* A column narrower than 8 bytes is only its own base; ts_encoder_predicted() widens it. */
	if (base && base->width == 8)
		prediction->base = (const uint64_t *)(void *)block->builder->columns[c];
	choices->bases[choices->n++] = base ? base->id : 0;
}

/* Returns the first column of the same role that is present and precedes this one, or NULL. */
static const struct ts_column *first_of_role(const struct block *block,
					     const struct ts_column *column)
{
	for (const struct ts_column *other = block->builder->schema->columns; other < column;
	     other++)
		if (other->role == column->role &&
		    block->present[other - block->builder->schema->columns])
			return other;
	return NULL;
}

/* As choose_time(), of a block whose times are relative to calls. */
static void choose_relative(const struct block *block, const struct ts_column *column,
			    struct choices *choices)
{
	const struct ts_column *base = NULL;
	enum ts_sbt_predictor predictor = TS_SBT_NONE;

	if (column->role == TS_ROLE_TIME) {
		predictor = TS_SBT_LAST;
		base = column;
	} else if (column->role == TS_ROLE_TIME_END && block->present[0] &&
		   block->calls_kind != TS_CALLS_BOTH) {
		predictor = TS_SBT_COLUMN;
		base = &block->builder->schema->columns[0];
	}
	add_choice(block, choices, predictor, base, true, 0);
	add_choice(block, choices, predictor, base, true, 1);
	add_choice(block, choices, predictor, base, true, 3);
}

static void choose_time(const struct block *block, const struct ts_column *column,
			struct choices *choices)
{
	const struct ts_row_schema *schema = block->builder->schema;
	const struct ts_column *base = NULL;
	enum ts_sbt_predictor predictor = TS_SBT_NONE;

	if (column->role == TS_ROLE_TIME_START) {
		predictor = TS_SBT_LAST;
		base = schema->has_end && block->present[1] ? &schema->columns[1] : column;
	} else if (block->present[0]) {
		predictor = TS_SBT_COLUMN;
		base = &schema->columns[0];
	}
	add_choice(block, choices, predictor, base, true, 0);
	add_choice(block, choices, predictor, base, true, 1);
	add_choice(block, choices, predictor, base, true, 3);
	add_choice(block, choices, predictor, base, true, 5);
	/* If ranges are nested, the end of the last row predicts a start badly. */
	if (column->role == TS_ROLE_TIME_START && base != column)
		add_choice(block, choices, predictor, column, true, 0);
}

static void choose_operation(const struct block *block, const struct ts_column *column,
			     struct choices *choices)
{
	const struct ts_column *other = first_of_role(block, column);
	bool by_place = !block->builder->plan.places_share_ops;

	add_choice(block, choices, TS_SBT_LAST, column, by_place, 0);
	add_choice(block, choices, TS_SBT_LAST, column, by_place, 1);
	if (other) {
		add_choice(block, choices, TS_SBT_COLUMN, other, false, 0);
		add_choice(block, choices, TS_SBT_COLUMN, other, false, 1);
	}
}

static bool is_time(const struct block *block, const struct ts_column *column)
{
	return block->builder->schema->is_event &&
	       (column->role == TS_ROLE_TIME_START || column->role == TS_ROLE_TIME_END ||
		column->role == TS_ROLE_TIME);
}

static void choose_predictions(const struct block *block, const struct ts_column *column,
			       struct choices *choices)
{
	choices->n = 0;
	if (is_time(block, column)) {
		if (block->is_relative)
			choose_relative(block, column, choices);
		else
			choose_time(block, column, choices);
		return;
	}
	if (column->role == TS_ROLE_OP) {
		choose_operation(block, column, choices);
		return;
	}
	add_choice(block, choices, TS_SBT_NONE, NULL, false, 0);
	add_choice(block, choices, TS_SBT_LAST, column, false, 0);
	if (block->indices[TS_PLAN_PLACE])
		add_choice(block, choices, TS_SBT_LAST, column, true, 0);
	if (block->indices[TS_PLAN_SITE])
		add_choice(block, choices, TS_SBT_NONE, NULL, false, 1);
	/* The end of a module is near its begin, and its bias mostly equals its begin. */
	if (column->role == TS_ROLE_ADDRESS && column->width == 8 && first_of_role(block, column))
		add_choice(block, choices, TS_SBT_COLUMN, first_of_role(block, column), false, 0);
}

/* Adds a column of a run: one value per item, or a constant if there is one item. */
static int put_item_column(struct block *block, int run, const struct ts_column *column,
			   struct ts_sbt_column_header *header)
{
	struct choices choices = {0};
	const uint8_t *values;
	int r = gather_items(block, run, column, &values);

	if (r)
		return r;
	if (!block->indices[run])
		return ts_encoder_constant(block->encoder, block->n_written++, header, values);
	header->flags |= TS_SBT_COLUMN_INDEXED;
	header->key = ts_plan_index_id(run);
	header->n_values = block->n_items[run];
	for (unsigned i = 0; i < 2; i++) {
		choices.predictions[i].predictor = i ? TS_SBT_LAST : TS_SBT_NONE;
		choices.predictions[i].n_keys = 1;
	}
	choices.bases[1] = header->id;
	return ts_encoder_predicted(block->encoder, block->n_written++, header, values,
				    choices.predictions, choices.bases, 2, NULL);
}

static int put_column(struct block *block, unsigned c)
{
	const struct ts_column *column = &block->builder->schema->columns[c];
	int run = ts_plan_run_of(&block->builder->plan, c);
	struct ts_sbt_column_header header = {
		.id = column->id,
		.width = column->width,
		.flags = column->is_signed ? TS_SBT_COLUMN_SIGNED : 0,
		.n_values = block->builder->n_rows,
	};
	struct choices choices;

	if (run >= 0)
		return put_item_column(block, run, column, &header);
	choose_predictions(block, column, &choices);
	block->builder->choices[c].may_scale = is_time(block, column);
	return ts_encoder_predicted(block->encoder, block->n_written++, &header,
				    block->builder->columns[c], choices.predictions, choices.bases,
				    choices.n, &block->builder->choices[c]);
}

static int put_index(struct block *block, int run)
{
	struct ts_sbt_column_header header = {
		.id = ts_plan_index_id(run),
		.width = sizeof(uint16_t),
		.n_values = block->builder->n_rows,
		.base = (uint16_t)(block->n_items[run] - 1),
	};
	bool by_place = run == TS_PLAN_SITE && block->indices[TS_PLAN_PLACE];

	return ts_encoder_index(block->encoder, block->n_written++, &header, block->indices[run],
				by_place ? block->indices[TS_PLAN_PLACE] : NULL,
				by_place ? block->n_items[TS_PLAN_PLACE] : 1);
}

/* Encodes the rows of a settled builder. */
static int encode(struct ts_builder *builder, struct ts_encoder *encoder,
		  struct ts_sbt_block_header *header, struct ts_buffer *out)
{
	const struct ts_row_schema *schema = builder->schema;
	struct block block = {.builder = builder, .encoder = encoder};
	int r;

	block.is_relative = header->calls;
	block.calls_kind = TS_CALLS_KIND(header->calls);
	for (int run = 0; run < TS_PLAN_RUNS; run++) {
		block.n_items[run] = builder->dictionaries[run].n_items;
		if (block.n_items[run] > 1)
			block.indices[run] = builder->indices[run];
	}
	r = find_present(&block);
	for (unsigned c = 0; !r && c < schema->n_columns; c++)
		if (block.present[c])
			r = put_column(&block, c);
	for (int run = 0; !r && run < TS_PLAN_RUNS; run++)
		if (block.indices[run])
			r = put_index(&block, run);
	header->n_columns = block.n_written;
	header->n_rows = builder->n_rows;
	if (schema->is_event) {
		header->earliest_ns = builder->earliest_ns;
		header->latest_ns = builder->latest_ns;
		header->duration_ns = builder->duration_ns;
		header->amount_bytes = builder->amount_bytes;
	}
	return r ?: ts_encoder_end(encoder, header, out);
}

int ts_builder_encode(struct ts_builder *builder, struct ts_encoder *encoder, uint32_t session,
		      struct ts_buffer *out)
{
	const struct ts_sbt_block_header empty = {.type = builder->schema->type,
						  .session = session};
	struct ts_sbt_block_header header = empty;
	enum ts_calls_kind kind;
	size_t before = out->n;
	int r = ts_builder_settle(builder, encoder);

	if (r || !builder->n_rows)
		return r;
	if (ts_builder_make_relative(builder, encoder, &kind)) {
		header.calls = TS_CALLS_PACK(encoder->calls_distance, kind);
		r = encode(builder, encoder, &header, out);
		/* Only a short header has a place for the calls. */
		if (!r && header.short_bytes) {
			ts_builder_clear(builder);
			return 0;
		}
		ts_builder_make_absolute(builder, encoder, kind);
		out->n = before;
		header = empty;
	}
	r = r ?: encode(builder, encoder, &header, out);
	if (!r)
		ts_builder_clear(builder);
	return r;
}
