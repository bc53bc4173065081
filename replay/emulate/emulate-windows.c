/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Emulates a long trace in windows: see emulate-windows.h. tools/studio calls this file. One cursor
 * reads the trace once. Two builders collect rows: those of the current window, and of the next
 * one. An operation belongs to the window of its call, so the current window is complete when the
 * next one has some rows. emulate-carry.c hands over the state.
 */
#include "replay/emulate/emulate-windows.h"

#include "replay/emulate/emulate-carry.h"

#define NONE TS_EMULATE_NONE
/* A window whose calls have this many times its operations ends, although more may come. */
#define MAX_WINDOWS 4u
#define TIMED_ROWS                                                                        \
	(TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_KERNEL) | TS_ROW_BIT(TS_ROW_MEMCPY) | \
	 TS_ROW_BIT(TS_ROW_MEMSET))

struct ts_emulate_windows {
	struct ts_emulate_windows_options options;
	const struct ts_emulate_edit *edits;
	size_t n_edits;
	const struct ts_emulate_names *names;
	struct ts_sbt_cursor *cursor;
	struct ts_emulate_builder *current, *next;
	struct ts_emulate_carry carry;
	uint64_t base_ns; /* absolute: the start of the first row */
	uint64_t n_done, n_all;
	bool is_at_end;
	/* For each edit: it changed something; else the message of its last failure. */
	bool *has_matched;
	char (*messages)[TS_EMULATE_TEXT_BYTES];
	struct ts_emulate_sums sums;
};

void ts_emulate_windows_free(struct ts_emulate_windows *windows)
{
	if (!windows)
		return;
	ts_sbt_cursor_free(windows->cursor);
	ts_emulate_builder_free(windows->current);
	ts_emulate_builder_free(windows->next);
	ts_emulate_carry_deinit(&windows->carry);
	free(windows->has_matched);
	free(windows->messages);
	free(windows);
}

const struct ts_emulate_sums *ts_emulate_windows_sums(const struct ts_emulate_windows *windows)
{
	return &windows->sums;
}

/* Finds the first start and the number of rows. */
static void look_at_blocks(struct ts_emulate_windows *windows, uint64_t types)
{
	struct ts_sbt_reader *reader = windows->options.reader;

	windows->base_ns = UINT64_MAX;
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);

		if (!block->n_rows || block->type >= TS_ROW_COUNT ||
		    (windows->options.session && block->session != windows->options.session))
			continue;
		if (TS_ROW_BIT(block->type) & TIMED_ROWS)
			windows->base_ns = ts_emulate_less(windows->base_ns, block->earliest_ns);
		if (TS_ROW_BIT(block->type) & types)
			windows->n_all += block->n_rows;
	}
}

static int new_builder(const struct ts_emulate_windows *windows,
		       struct ts_emulate_builder **ret_builder)
{
	const struct ts_emulate_options options = {.session = windows->options.session};
	int r = ts_emulate_builder_new(windows->options.reader, &options, ret_builder);

	if (!r)
		(*ret_builder)->base_ns = windows->base_ns;
	return r;
}

int ts_emulate_windows_new(const struct ts_emulate_windows_options *options,
			   const struct ts_emulate_edit *edits, size_t n_edits,
			   const struct ts_emulate_names *names,
			   struct ts_emulate_windows **ret_windows)
{
	ts_cleanup(ts_emulate_windows_freep) struct ts_emulate_windows *windows =
		calloc(1, sizeof(*windows));
	const struct ts_sbt_cursor_options rows = {.types = TS_STATE_MACHINE_ROWS |
							    TS_ROW_BIT(TS_ROW_SYNC),
						   .session = options->session};
	int r;

	if (!windows)
		return -ENOMEM;
	windows->options = *options;
	windows->options.n_items = options->n_items ? options->n_items : TS_EMULATE_WINDOW_ITEMS;
	windows->options.n_ahead = options->n_ahead ? options->n_ahead : TS_EMULATE_WINDOW_AHEAD;
	windows->edits = edits;
	windows->n_edits = n_edits;
	windows->names = names;
	windows->sums.from_ns = windows->sums.recorded_from_ns = UINT64_MAX;
	windows->has_matched = calloc(n_edits + 1, sizeof(*windows->has_matched));
	windows->messages = calloc(n_edits + 1, sizeof(*windows->messages));
	if (!windows->has_matched || !windows->messages)
		return -ENOMEM;
	look_at_blocks(windows, rows.types);
	r = new_builder(windows, &windows->current);
	r = r ? r : ts_sbt_cursor_new(options->reader, &rows, &windows->cursor);
	if (!r)
		*ret_windows = ts_take_ptr(windows);
	return r;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Counts the calls and items of a window, without those of earlier windows. */
static size_t count(const struct ts_emulate_builder *builder)
{
	return builder ? builder->program->n_calls + builder->n_items - builder->n_seeds : 0;
}

/* Returns the operation of a row that has a call; 0: none. */
static uint64_t op_of(const struct ts_sbt_row *row)
{
	switch (row->type) {
	case TS_ROW_KERNEL:
		return row->kernel->op_id;
	case TS_ROW_MEMCPY:
		return row->memcpy_->op_id;
	case TS_ROW_MEMSET:
		return row->memset_->op_id;
	case TS_ROW_EVENT:
		return row->event->op_id;
	case TS_ROW_STREAM_WAIT:
		return row->stream_wait->op_id;
	case TS_ROW_GRAPH_LAUNCH:
		return row->graph_launch->op_id;
	case TS_ROW_SYNC:
		return row->sync->op_id;
	default:
		return 0;
	}
}

static int feed(struct ts_emulate_windows *windows, const struct ts_sbt_row *row)
{
	struct ts_emulate_builder *current = windows->current, *next = windows->next;
	int r;

	/* The block's header denied this row. */
	if (TS_ROW_BIT(row->type) & TIMED_ROWS && ts_row_start_ns(row->any) < windows->base_ns) {
		windows->sums.is_damaged = true;
		return 0;
	}
	if (!next || row->type == TS_ROW_STREAM) {
		r = ts_emulate_builder_feed(current, row);
		return r || !next ? r : ts_emulate_builder_feed(next, row);
	}
	if (row->type != TS_ROW_API &&
	    ts_emulate_ids_find(&current->call_by_op, row->session, op_of(row)) != NONE)
		return ts_emulate_builder_feed(current, row);
	return ts_emulate_builder_feed(next, row);
}

/* Begins the next window if the current one has all its calls. */
static int begin_next(struct ts_emulate_windows *windows)
{
	ts_cleanup(ts_emulate_builder_freep) struct ts_emulate_builder *builder = NULL;
	int r;

	if (windows->next || count(windows->current) < windows->options.n_items)
		return 0;
	r = new_builder(windows, &builder);
	r = r ? r : ts_emulate_carry_follow(builder, windows->current);
	if (!r)
		windows->next = ts_take_ptr(builder);
	return r;
}

static bool is_complete(const struct ts_emulate_windows *windows)
{
	if (windows->is_at_end || !windows->next)
		return windows->is_at_end;
	return count(windows->next) >= windows->options.n_ahead ||
	       count(windows->current) >= MAX_WINDOWS * windows->options.n_items;
}

/* Reads until the current window is complete. */
static int fill(struct ts_emulate_windows *windows)
{
	const struct ts_emulate_windows_options *options = &windows->options;
	struct ts_sbt_row row;
	int r = 0;

	while (!r && !is_complete(windows)) {
		r = begin_next(windows);
		r = r ? r : ts_sbt_cursor_next(windows->cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			windows->sums.is_damaged = true;
			r = 0;
			continue;
		}
		if (r == TS_SBT_E_END) {
			windows->is_at_end = true;
			return 0;
		}
		r = r ? r : feed(windows, &row);
		if (!r && ++windows->n_done % TS_EMULATE_STEP == 0 && options->step)
			r = options->step(options->step_data, windows->n_done, windows->n_all);
	}
	return r;
}

/* ---- running --------------------------------------------------------------------------------- */

/* Marks the threads of the current window that have calls in the next one. */
static int mark_threads(struct ts_emulate_windows *windows)
{
	const struct ts_emulate_program *next = windows->next ? windows->next->program : NULL;
	struct ts_emulate_program *program = windows->current->program;
	ts_cleanup(ts_freep) bool *has_calls = NULL;

	if (!next)
		return 0;
	has_calls = calloc(next->n_threads + 1, sizeof(*has_calls));
	if (!has_calls)
		return -ENOMEM;
	for (size_t i = 0; i < next->n_calls; i++)
		has_calls[next->calls[i].thread] = true;
	for (size_t i = 0; i < program->n_threads; i++) {
		uint32_t at =
			ts_state_map_find(&windows->next->thread_by_id, program->threads[i].session,
					  program->threads[i].thread);

		program->threads[i].goes_on = at != NONE && has_calls[at];
	}
	return 0;
}

/* Applies those edits that match in this window. */
static int edit(struct ts_emulate_windows *windows, struct ts_emulate_program *program)
{
	int r = 0;

	for (size_t i = 0; !r && i < windows->n_edits; i++) {
		r = ts_emulate_edit(program, &windows->edits[i], windows->names,
				    &windows->sums.n_edited, windows->messages[i]);
		windows->has_matched[i] |= !r;
		r = r == -EINVAL ? 0 : r;
	}
	return r;
}

static void add_recorded(struct ts_emulate_sums *sums, const struct ts_emulate_program *program)
{
	uint64_t from_ns = UINT64_MAX, to_ns = 0;

	for (size_t i = 0; i < program->n_calls; i++) {
		if (program->calls[i].flags & (TS_EMULATE_CALL_PSEUDO | TS_EMULATE_CALL_SKIPPED))
			continue;
		from_ns = ts_emulate_less(from_ns, program->recorded_calls[i].start_ns);
		to_ns = ts_emulate_more(to_ns, program->recorded_calls[i].end_ns);
	}
	for (size_t i = 0; i < program->n_ops; i++) {
		const struct ts_emulate_recorded_item *its =
			&program->recorded_items[program->by_start[i]];

		from_ns = ts_emulate_less(from_ns, its->start_ns);
		to_ns = ts_emulate_more(to_ns, its->end_ns);
	}
	if (from_ns == UINT64_MAX)
		return;
	sums->recorded_from_ns =
		ts_emulate_less(sums->recorded_from_ns, program->base_ns + from_ns);
	sums->recorded_to_ns = ts_emulate_more(sums->recorded_to_ns, program->base_ns + to_ns);
}

static void add_run(struct ts_emulate_sums *sums, const struct ts_emulate_run *run)
{
	uint64_t base_ns = run->program->base_ns;

	sums->n_ops += run->n_ops;
	sums->n_calls += run->n_calls;
	sums->n_broken += run->n_broken;
	sums->n_windows++;
	if (run->from_ns == UINT64_MAX)
		return;
	sums->from_ns = ts_emulate_less(sums->from_ns, base_ns + run->from_ns);
	sums->to_ns = ts_emulate_more(sums->to_ns, base_ns + run->last.end_ns);
}

/* Hands the state of the run over to the next window. */
static int hand_over(struct ts_emulate_windows *windows, const struct ts_emulate_program *program,
		     const struct ts_emulate_run *run)
{
	uint64_t from_ns = UINT64_MAX;
	int r;

	if (!windows->next) {
		windows->sums.settled_ns = UINT64_MAX;
		return 0;
	}
	r = ts_emulate_carry_take(&windows->carry, program, run);
	r = r ? r : ts_emulate_carry_seed(&windows->carry, run, windows->next, &from_ns);
	windows->sums.settled_ns = from_ns == UINT64_MAX ? 0 : windows->base_ns + from_ns;
	return r;
}

/* Makes the program of the current window; the builder is gone afterwards. */
static int finish(struct ts_emulate_windows *windows, struct ts_emulate_program **ret_program)
{
	int r = mark_threads(windows);

	r = r ? r : ts_emulate_builder_finish(windows->current, ret_program);
	ts_emulate_builder_free(windows->current);
	windows->current = NULL;
	return r;
}

static int run_window(struct ts_emulate_windows *windows,
		      int (*take)(void *data, const struct ts_emulate_time *time), void *data)
{
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *program = NULL;
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *edited = NULL;
	ts_cleanup(ts_emulate_run_deinit) struct ts_emulate_run run = {0};
	int r = finish(windows, &program);

	if (!r && windows->n_edits) {
		r = ts_emulate_copy(program, windows->edits, windows->n_edits, &edited);
		r = r ? r : edit(windows, edited);
	}
	r = r ? r : ts_emulate_run_init(&run, edited ? edited : program);
	r = r ? r : ts_emulate_simulate(run.program, &run);
	if (r)
		return r;
	add_recorded(&windows->sums, program);
	add_run(&windows->sums, &run);
	if (take)
		r = ts_emulate_give_times(&run, take, data);
	r = r ? r : hand_over(windows, program, &run);
	if (!r) {
		windows->current = windows->next;
		windows->next = NULL;
	}
	return r;
}

/* After the last window: each edit must have matched. */
static int check_edits(const struct ts_emulate_windows *windows, char *ret_message)
{
	for (size_t i = 0; i < windows->n_edits; i++)
		if (!windows->has_matched[i]) {
			memcpy(ret_message, windows->messages[i], sizeof(windows->messages[i]));
			return -EINVAL;
		}
	return TS_SBT_E_END;
}

int ts_emulate_windows_next(struct ts_emulate_windows *windows,
			    int (*take)(void *data, const struct ts_emulate_time *time), void *data,
			    char *ret_message)
{
	int r;

	if (!windows->current)
		return check_edits(windows, ret_message);
	r = fill(windows);
	return r ? r : run_window(windows, take, data);
}
