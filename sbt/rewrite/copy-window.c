/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which rows of a session a window keeps beside the rows that touch it. Three passes over
 * few row types learn the operations, the state before the window and the clock snapshots. copy.c
 * calls this module before it copies the rows; the passes use the reader's cursor.
 */
#include "sbt/read/filter.h"
#include "sbt/rewrite/copy-internal.h"

#define LASTING \
	(TS_ROW_BIT(TS_ROW_CONTEXT) | TS_ROW_BIT(TS_ROW_STREAM) | TS_ROW_BIT(TS_ROW_GPU_MODULE))

static uint64_t types_of_operations(void)
{
	uint64_t types = 0;

	for (unsigned type = TS_ROW_API; type; type = ts_row_next_event(type)) {
		const struct ts_row_schema *schema = ts_row_schema(type);

		for (unsigned i = 0; i < schema->n_columns; i++)
			if (schema->columns[i].role == TS_ROLE_OP && type != TS_ROW_OPERATION)
				types |= TS_ROW_BIT(type);
	}
	return types;
}

static int learn_operations(struct ts_copy_window *window, const struct ts_sbt_row *row)
{
	int r = 0;

	for (unsigned i = 0; !r && i < row->schema->n_columns; i++) {
		const struct ts_column *column = &row->schema->columns[i];
		uint64_t op = column->role == TS_ROLE_OP ? ts_column_get(column, row->any) : 0;

		if (!op || ts_map_get(&window->ops, op))
			continue;
		r = ts_map_set(&window->ops, op, 1);
		r = r ?: ts_buffer_append(&window->list, &op, sizeof(op));
	}
	return r;
}

static bool has_operation(const struct ts_copy_window *window, const struct ts_sbt_row *row)
{
	for (unsigned i = 0; i < row->schema->n_columns; i++) {
		const struct ts_column *column = &row->schema->columns[i];

		if (column->role == TS_ROLE_OP &&
		    ts_map_get(&window->ops, ts_column_get(column, row->any)))
			return true;
	}
	return false;
}

/*
 * Updates the live allocations and the ended ranges with a row that starts before the window. Rows
 * come in order of time.
 */
static int learn_before(struct ts_copy_window *window, const struct ts_sbt_row *row)
{
	if (row->type == TS_ROW_ALLOC)
		return ts_map_set(&window->live, row->memory->address, row->memory->start_ns + 1);
	if (row->type == TS_ROW_FREE)
		return ts_map_get(&window->live, row->memory->address)
			       ? ts_map_set(&window->live, row->memory->address, UINT64_MAX)
			       : 0;
	return ts_row_end_ns(row->schema, row->any) < window->from_ns
		       ? ts_map_set(&window->ranges, row->range->range_id, 1)
		       : 0;
}

static void learn_clock(struct ts_copy_window *window, const struct ts_row_clock *row)
{
	unsigned clock = row->clock < TS_CLOCK_COUNT ? row->clock : 0;

	if (row->start_ns <= window->from_ns)
		window->clock_from_ns[clock] = row->start_ns;
	if (row->start_ns >= window->to_ns && window->clock_to_ns[clock] == UINT64_MAX)
		window->clock_to_ns[clock] = row->start_ns;
}

enum pass {
	PASS_OPERATIONS,
	PASS_BEFORE,
	PASS_CLOCKS,
};

static int learn(struct ts_copy *copy, struct ts_copy_part *part, enum pass pass)
{
	struct ts_copy_window *window = &part->window;
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_cursor_options options = {.session = part->row->session};
	struct ts_sbt_row row;
	int r;

	if (pass == PASS_OPERATIONS) {
		options.types = types_of_operations();
		options.from_ns = window->from_ns;
		options.to_ns = window->to_ns == UINT64_MAX ? 0 : window->to_ns;
	} else if (pass == PASS_BEFORE) {
		options.types = TS_ROW_BIT(TS_ROW_ALLOC) | TS_ROW_BIT(TS_ROW_FREE) |
				TS_ROW_BIT(TS_ROW_RANGE);
		options.to_ns = window->from_ns - 1;
	} else {
		options.types = TS_ROW_BIT(TS_ROW_CLOCK);
	}
	r = ts_sbt_cursor_new(part->source->reader, &options, &cursor);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		/* The copy of the rows reports damage, so it is ignored here. */
		if (r == TS_SBT_E_CORRUPT || r == TS_SBT_E_VERSION) {
			r = 0;
			continue;
		}
		if (r)
			break;
		if (pass == PASS_OPERATIONS)
			r = learn_operations(window, &row);
		else if (pass == PASS_BEFORE)
			r = learn_before(window, &row);
		else
			learn_clock(window, row.clock);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static int compare_operations(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

int ts_copy_window_learn(struct ts_copy *copy, struct ts_copy_part *part)
{
	int r;

	for (unsigned clock = 0; clock < TS_CLOCK_COUNT; clock++)
		part->window.clock_to_ns[clock] = UINT64_MAX;
	r = learn(copy, part, PASS_OPERATIONS);
	if (part->window.list.n)
		qsort(part->window.list.bytes, part->window.list.n / sizeof(uint64_t),
		      sizeof(uint64_t), compare_operations);
	/*
	 * A window that starts at 0 or 1 has no rows before it. The cursor also takes to_ns = 0 as
	 * "no limit".
	 */
	if (part->window.from_ns > 1)
		r = r ?: learn(copy, part, PASS_BEFORE);
	return r ?: learn(copy, part, PASS_CLOCKS);
}

/* Returns true if an operation of the window lies in the span. */
static bool touches(const struct ts_copy_window *window, const struct ts_operation_span *span)
{
	const uint64_t *ops = (const uint64_t *)(const void *)window->list.bytes;
	size_t low = 0, high = window->list.n / sizeof(*ops), n = high;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ops[middle] < span->first)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && ops[low] <= span->last;
}

/* Returns false if ts_copy_window_keeps() would be false for each row of the block. */
static bool may_keep(const struct ts_copy_window *window, const struct ts_sbt_block *block,
		     const struct ts_operation_span *span)
{
	bool before = block->earliest_ns < window->from_ns;

	switch (block->type) {
	case TS_ROW_CLOCK:
		return true;
	case TS_ROW_RANGE_BEGIN:
		return before;
	case TS_ROW_ALLOC:
		return before || touches(window, span);
	default:
		return (before && TS_ROW_BIT(block->type) & LASTING) ||
		       (TS_ROW_BIT(block->type) & types_of_operations() && touches(window, span));
	}
}

int ts_copy_window_choose(struct ts_copy_part *part, uint8_t **ret_chosen)
{
	const struct ts_sbt_reader *reader = part->source->reader;
	ts_cleanup(ts_freep) uint8_t *chosen = calloc(reader->n_blocks + 1, 1);
	ts_cleanup(ts_freep) struct ts_operation_span *spans = NULL;
	int r = chosen ? 0 : -ENOMEM;

	r = r ?: ts_sbt_reader_operations(part->source->reader, &spans);
	if (r)
		return r;
	for (size_t i = 0; i < reader->n_blocks; i++) {
		const struct ts_sbt_block *block = &reader->blocks[i];

		chosen[i] =
			ts_row_is_event(block->type) && may_keep(&part->window, block, &spans[i]);
	}
	*ret_chosen = ts_take_ptr(chosen);
	return 0;
}

bool ts_copy_window_keeps(const struct ts_copy_window *window, const struct ts_sbt_row *row)
{
	uint64_t start_ns = ts_row_start_ns(row->any);
	bool before = start_ns < window->from_ns;
	unsigned clock;

	if (has_operation(window, row))
		return true;
	switch (row->type) {
	case TS_ROW_CLOCK:
		clock = row->clock->clock < TS_CLOCK_COUNT ? row->clock->clock : 0;
		return start_ns == window->clock_from_ns[clock] ||
		       start_ns == window->clock_to_ns[clock];
	case TS_ROW_RANGE_BEGIN:
		return before && !ts_map_get(&window->ranges, row->range_begin->range_id);
	case TS_ROW_ALLOC:
		return before && ts_map_get(&window->live, row->memory->address) == start_ns + 1;
	default:
		return before && (TS_ROW_BIT(row->type) & LASTING);
	}
}

void ts_copy_window_deinit(struct ts_copy_window *window)
{
	ts_map_deinit(&window->ops);
	ts_buffer_deinit(&window->list);
	ts_map_deinit(&window->ranges);
	ts_map_deinit(&window->live);
}
