/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the blocks that may hold the rows of a query. Block headers decide for every query. For a
 * query about one stream, one thread or given operations, the summaries of the blocks decide too. A
 * block without a summary may hold any row. cursor.c, totals.c and copy-window.c call this module.
 */

#include "sbt/read/filter.h"

#include "sbt/format/summary.h"

static const struct {
	uint32_t bit;
	enum ts_role role;
	size_t offset; /* in struct ts_sbt_cursor_options */
} fields[TS_FILTER_MAX] = {
	{TS_SBT_BY_DEVICE, TS_ROLE_DEVICE, offsetof(struct ts_sbt_cursor_options, device)},
	{TS_SBT_BY_CONTEXT, TS_ROLE_CONTEXT, offsetof(struct ts_sbt_cursor_options, context)},
	{TS_SBT_BY_STREAM, TS_ROLE_STREAM, offsetof(struct ts_sbt_cursor_options, stream)},
	{TS_SBT_BY_THREAD, TS_ROLE_THREAD, offsetof(struct ts_sbt_cursor_options, thread)},
};

bool ts_row_filter_init(struct ts_row_filter *filter, const struct ts_row_schema *schema,
			const struct ts_sbt_cursor_options *options)
{
	filter->n = 0;
	for (size_t i = 0; i < TS_ARRAY_LEN(fields); i++) {
		unsigned c = 0;

		if (!(options->filter & fields[i].bit))
			continue;
		while (c < schema->n_columns && schema->columns[c].role != fields[i].role)
			c++;
		if (c == schema->n_columns)
			return false;
		filter->fields[filter->n].offset = schema->columns[c].offset;
		memcpy(&filter->fields[filter->n++].value,
		       (const uint8_t *)options + fields[i].offset, sizeof(uint32_t));
	}
	return true;
}

bool ts_sbt_may_have(const struct ts_sbt_cursor_options *options, const struct ts_sbt_block *block)
{
	return ts_row_is_event(block->type) && options->types & TS_ROW_BIT(block->type) &&
	       block->n_rows && (!options->session || options->session == block->session) &&
	       block->earliest_ns <= options->to_ns && block->latest_ns >= options->from_ns;
}

/* Returns true if a summary row matches the filter. */
static bool fits(const struct ts_sbt_cursor_options *options, int kind, const uint8_t *row)
{
	const struct ts_block_stream *stream = (const void *)row;

	if (kind == TS_SUMMARY_THREADS)
		return ((const struct ts_block_thread *)(const void *)row)->thread ==
		       options->thread;
	return (!(options->filter & TS_SBT_BY_DEVICE) || stream->device == options->device) &&
	       (!(options->filter & TS_SBT_BY_CONTEXT) || stream->context == options->context) &&
	       (!(options->filter & TS_SBT_BY_STREAM) || stream->stream == options->stream);
}

struct choice {
	const struct ts_sbt_cursor_options *options;
	int kind; /* of the summary */
	uint8_t *chosen;
};

/* Rules out a block that has no matching row. */
static int rule_out(void *data, uint64_t block, const uint8_t *rows, uint32_t n)
{
	const struct choice *choice = data;
	size_t row_bytes = ts_summary_schema(choice->kind)->row_bytes;
	bool any = false;

	for (uint32_t k = 0; !any && k < n; k++)
		any = fits(choice->options, choice->kind, rows + k * row_bytes);
	if (!any)
		choice->chosen[block] = 0;
	return 0;
}

int ts_sbt_reader_choose(struct ts_sbt_reader *reader, const struct ts_sbt_cursor_options *options,
			 uint8_t **ret_chosen)
{
	const uint32_t by_stream = TS_SBT_BY_DEVICE | TS_SBT_BY_CONTEXT | TS_SBT_BY_STREAM;
	ts_cleanup(ts_freep) uint8_t *chosen = malloc(reader->n_blocks + 1);
	struct choice choice = {.options = options, .chosen = chosen};
	int r = 0;

	if (!chosen)
		return ts_sbt_reader_fail(reader, -ENOMEM, 0, "no memory for a list of blocks");
	for (size_t i = 0; i < reader->n_blocks; i++)
		chosen[i] = ts_sbt_may_have(options, &reader->blocks[i]);
	for (size_t i = 0; !r && i < reader->n_blocks; i++) {
		choice.kind = ts_summary_kind_of(reader->blocks[i].type);
		if ((choice.kind == TS_SUMMARY_STREAMS && options->filter & by_stream) ||
		    (choice.kind == TS_SUMMARY_THREADS && options->filter & TS_SBT_BY_THREAD))
			r = ts_sbt_reader_groups(reader, i, choice.kind, rule_out, &choice);
	}
	if (r)
		return r;
	*ret_chosen = ts_take_ptr(chosen);
	return 0;
}

/* Stores the span of a block. An untrusted summary may have several: the last one counts. */
static int note_operations(void *data, uint64_t block, const uint8_t *rows, uint32_t n)
{
	struct ts_operation_span *spans = data;
	const struct ts_block_ops *last = (const struct ts_block_ops *)(const void *)rows + n - 1;

	spans[block] = (struct ts_operation_span){last->first, last->last};
	return 0;
}

int ts_sbt_reader_operations(struct ts_sbt_reader *reader, struct ts_operation_span **ret_spans)
{
	ts_cleanup(ts_freep) struct ts_operation_span *spans =
		calloc(reader->n_blocks + 1, sizeof(*spans));
	int r = 0;

	if (!spans)
		return ts_sbt_reader_fail(reader, -ENOMEM, 0, "no memory for a list of blocks");
	for (size_t i = 0; i < reader->n_blocks; i++)
		spans[i].last = UINT64_MAX;
	for (size_t i = 0; !r && i < reader->n_blocks; i++)
		if (reader->blocks[i].type == TS_ROW_BLOCK_OPERATION)
			r = ts_sbt_reader_groups(reader, i, TS_SUMMARY_OPERATIONS, note_operations,
						 spans);
	if (r)
		return r;
	*ret_spans = ts_take_ptr(spans);
	return 0;
}
