/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The second pass of gaps.h: prepares the gaps, and feeds blamer.c with the rows of threads.
 * blame-slices.c feeds a long trace of calls in threads. gaps.c calls this file.
 */
#include "replay/state/gaps/blame.h"

#include <errno.h>
#include <stdlib.h>

#include "replay/state/gaps/blame-slices.h"

/* ---- windows of a gap, before the rows are read ---------------------------------------------- */

static int compare_windows(const void *a, const void *b)
{
	const struct ts_blamer_window *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x->gap < y->gap ? -1 : x->gap > y->gap;
}

static int add_fixed(struct ts_blamer *blamer, uint32_t gap_index, uint32_t cause, uint64_t from_ns,
		     uint64_t to_ns)
{
	const struct ts_blame_gap *gap = &blamer->blame->gaps[gap_index];
	const struct ts_blamer_window window = {.gap = gap_index,
						.listed_parent = TS_PARTS_NONE,
						.total_parent = TS_PARTS_NONE};
	struct ts_gap_key key = {.session = gap->session, .cause = cause, .syscall = TS_NO_SYSCALL};

	if (from_ns >= to_ns)
		return 0;
	if (cause == TS_GAP_DEPENDENCY) {
		key.op_id = gap->depends_op_id;
		key.event = gap->depends_event;
		key.stream = gap->depends_stream;
	} else if (cause == TS_GAP_DEVICE) {
		key.op_id = gap->device_op_id;
		key.stream = gap->device_stream;
	}
	return ts_blamer_add(blamer, &window, &key, gap->id + 1, to_ns - from_ns, 0);
}

static void add_window(struct ts_blamer *blamer, uint32_t thread, uint32_t gap, uint64_t from_ns,
		       uint64_t to_ns)
{
	if (from_ns < to_ns)
		blamer->windows[blamer->n_windows++] =
			(struct ts_blamer_window){.from_ns = from_ns,
						  .to_ns = to_ns,
						  .gap = gap,
						  .thread = thread,
						  .listed_parent = TS_PARTS_NONE,
						  .total_parent = TS_PARTS_NONE};
}

/*
 * Adds the parts of a gap that need no activity of threads, and the two windows of the gap on the
 * calling thread.
 */
static int begin_gap(struct ts_blamer *blamer, uint32_t i)
{
	const struct ts_blame_gap *gap = &blamer->blame->gaps[i];
	uint32_t thread =
		gap->thread ? ts_state_map_find(&blamer->thread_by_id, gap->session, gap->thread)
			    : TS_STATE_MAP_NONE;
	uint32_t last = gap->is_graph ? TS_GAP_GRAPH : TS_GAP_DISPATCH;
	int r = add_fixed(blamer, i, TS_GAP_DEPENDENCY, gap->call_ns, gap->depends_ns);

	r = r ? r : add_fixed(blamer, i, TS_GAP_DEVICE, gap->depends_ns, gap->device_ns);
	r = r ? r : add_fixed(blamer, i, last, gap->call_end_ns, gap->end_ns);
	if (thread == TS_STATE_MAP_NONE) {
		r = r ? r : add_fixed(blamer, i, TS_GAP_UNKNOWN, gap->start_ns, gap->call_ns);
		return r ? r
			 : add_fixed(blamer, i, TS_GAP_UNKNOWN, gap->device_ns, gap->call_end_ns);
	}
	add_window(blamer, thread, i, gap->start_ns, gap->call_ns);
	add_window(blamer, thread, i, gap->device_ns, gap->call_end_ns);
	return r;
}

static int begin_gaps(struct ts_blamer *blamer)
{
	size_t n = blamer->blame->n_gaps;
	int r = 0;

	blamer->windows = malloc((2 * n + 1) * sizeof(*blamer->windows));
	if (!blamer->windows)
		return -ENOMEM;
	for (uint32_t i = 0; i < n && !r; i++)
		r = begin_gap(blamer, i);
	qsort(blamer->windows, blamer->n_windows, sizeof(*blamer->windows), compare_windows);
	for (size_t i = 0; i < blamer->n_windows; i++) {
		struct ts_blamer_thread *thread = &blamer->threads[blamer->windows[i].thread];

		if (!thread->end)
			thread->first = thread->next = i;
		thread->end = i + 1;
		if (blamer->windows[i].to_ns - blamer->windows[i].from_ns > thread->longest_ns)
			thread->longest_ns = blamer->windows[i].to_ns - blamer->windows[i].from_ns;
	}
	return r;
}

/*
 * Registers a thread of the trace. If the system reuses a thread id, this module treats both
 * threads as one; their rows do not overlap in time.
 */
static int know_thread(struct ts_blamer *blamer, const struct ts_sbt_thread *known)
{
	uint32_t i = known->row.tid ? ts_state_map_find(&blamer->thread_by_tid, known->session,
							known->row.tid)
				    : TS_STATE_MAP_NONE;
	int r = 0;

	if (i == TS_STATE_MAP_NONE) {
		i = (uint32_t)blamer->n_threads++;
		blamer->threads[i] =
			(struct ts_blamer_thread){.session = known->session, .tid = known->row.tid};
		r = ts_state_map_set(&blamer->thread_by_tid, known->session, known->row.tid, i);
	}
	return r ? r
		 : ts_state_map_set(&blamer->thread_by_id, known->session, known->row.thread, i);
}

/*
 * Finds the time of each session's first off-CPU interval. From then on, the trace shows when a
 * thread was off its CPU.
 */
static int know_sched(struct ts_blamer *blamer)
{
	const char *recorded = ts_sbt_reader_metadata(blamer->reader, TS_METADATA_KERNEL_EVENTS);
	size_t n = ts_sbt_reader_n_sessions(blamer->reader);
	int r = 0;

	if (!recorded || !strstr(recorded, "sched"))
		return 0;
	blamer->sched_ns = malloc((n + 1) * sizeof(*blamer->sched_ns));
	if (!blamer->sched_ns)
		return -ENOMEM;
	for (size_t i = 0; i < n && !r; i++) {
		blamer->sched_ns[i] = TS_BLAMER_ALWAYS;
		r = ts_state_map_set(&blamer->sched_by_session,
				     ts_sbt_reader_session_at(blamer->reader, i)->session, 0,
				     (uint32_t)i);
	}
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(blamer->reader) && !r; i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(blamer->reader, i);
		uint32_t session = ts_state_map_find(&blamer->sched_by_session, block->session, 0);

		if (block->type == TS_ROW_OFF_CPU && session != TS_STATE_MAP_NONE &&
		    block->earliest_ns < blamer->sched_ns[session])
			blamer->sched_ns[session] = block->earliest_ns;
	}
	return r;
}

static int begin(struct ts_blamer *blamer)
{
	size_t n = ts_sbt_reader_n_threads(blamer->reader);
	int r = know_sched(blamer);

	blamer->threads = malloc((n + 1) * sizeof(*blamer->threads));
	if (!blamer->threads)
		return -ENOMEM;
	for (size_t i = 0; i < n && !r; i++)
		r = know_thread(blamer, ts_sbt_reader_thread_at(blamer->reader, i));
	for (size_t i = 0; i < ts_sbt_reader_n_sessions(blamer->reader) && !r; i++) {
		const struct ts_row_session *session = ts_sbt_reader_session_at(blamer->reader, i);

		if (session->session != TS_STATE_MAP_NONE)
			r = ts_state_map_set(&blamer->session_by_pid, 0, session->pid,
					     session->session);
	}
	return r ? r : begin_gaps(blamer);
}

/* ---- the pass -------------------------------------------------------------------------------- */

/* Feeds the rows in this thread. */
static int feed_rows(struct ts_blamer *blamer, const struct ts_sbt_cursor_options *options)
{
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(blamer->reader, options, &cursor);

	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (!r)
			r = ts_blamer_feed(blamer, &row);
		else if (r == TS_SBT_E_CORRUPT) {
			blamer->blame->is_damaged = true;
			r = 0;
		}
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static int read_rows(struct ts_blamer *blamer, uint32_t session, bool in_slices)
{
	struct ts_sbt_cursor_options options = {
		.types = TS_ROW_BIT(TS_ROW_API) |
			 (TS_ROW_KERNELS & ~(TS_ROW_BIT(TS_ROW_DRIVER) |
					     (blamer->code ? 0 : TS_ROW_BIT(TS_ROW_SAMPLE)))) |
			 TS_ROW_BIT(TS_ROW_LOSS),
		.session = session,
		.from_ns = TS_BLAMER_ALWAYS,
	};
	bool is_done = false;
	int r;

	for (size_t i = 0; i < blamer->blame->n_gaps; i++) {
		const struct ts_blame_gap *gap = &blamer->blame->gaps[i];

		if (gap->start_ns < options.from_ns)
			options.from_ns = gap->start_ns;
		if (gap->end_ns > options.to_ns)
			options.to_ns = gap->end_ns;
	}
	/* In cursor options, to_ns 0 means no end. */
	if (!options.to_ns)
		return 0;
	r = in_slices ? ts_blame_slices(blamer, &options, &is_done) : 0;
	if (!r && !is_done)
		r = feed_rows(blamer, &options);
	/* Accounts for the time from each thread's last row to the end of the last gap. */
	for (size_t i = 0; i < blamer->n_threads && !r; i++)
		r = ts_blamer_advance(blamer, &blamer->threads[i], options.to_ns);
	return r;
}

static void mark_losses(const struct ts_blamer *blamer)
{
	for (size_t i = 0; i < blamer->blame->n_gaps; i++) {
		const struct ts_blame_gap *gap = &blamer->blame->gaps[i];

		for (size_t j = 0; j < blamer->n_losses && gap->listed != TS_PARTS_NONE; j++)
			if (blamer->losses[j].session == gap->session &&
			    blamer->losses[j].start_ns <= gap->end_ns &&
			    blamer->losses[j].end_ns >= gap->start_ns)
				blamer->blame->listed[gap->listed].op.unsure |= TS_GAP_UNSURE_LOST;
	}
}

static int split_parts(struct ts_blame *blame)
{
	int r = ts_parts_split(&blame->total);

	for (size_t i = 0; i < blame->n_gaps && !r; i++)
		if (blame->gaps[i].listed != TS_PARTS_NONE)
			r = ts_parts_split(&blame->parts[blame->gaps[i].listed]);
	return r;
}

static void blamer_deinit(struct ts_blamer *blamer)
{
	for (size_t i = 0; i < blamer->n_threads; i++) {
		free(blamer->threads[i].opened);
		free(blamer->threads[i].requests);
	}
	free(blamer->threads);
	ts_state_map_deinit(&blamer->thread_by_id);
	ts_state_map_deinit(&blamer->thread_by_tid);
	ts_state_map_deinit(&blamer->session_by_pid);
	ts_state_map_deinit(&blamer->sched_by_session);
	free(blamer->sched_ns);
	free(blamer->windows);
	free(blamer->losses);
}

static int run(struct ts_blame *blame, struct ts_sbt_reader *reader, uint32_t session,
	       const struct ts_gaps_code *code, bool in_slices)
{
	ts_cleanup(blamer_deinit) struct ts_blamer blamer = {.blame = blame,
							     .reader = reader,
							     .code = code};
	int r = begin(&blamer);

	r = r ? r : read_rows(&blamer, session, in_slices);
	r = r ? r : split_parts(blame);
	if (!r)
		mark_losses(&blamer);
	return r;
}

/* Removes all sums. */
static void clear(struct ts_blame *blame)
{
	ts_parts_deinit(&blame->total);
	for (size_t i = 0; i < blame->n_listed; i++)
		ts_parts_deinit(&blame->parts[i]);
	for (size_t i = 0; i < blame->n_streams; i++)
		memset(blame->streams[i].causes_ns, 0, sizeof(blame->streams[i].causes_ns));
}

int ts_blame_run(struct ts_blame *blame, struct ts_sbt_reader *reader, uint32_t session,
		 const struct ts_gaps_code *code)
{
	int r = run(blame, reader, session, code, true);

	if (r != TS_BLAME_SLICES_FAILED)
		return r;
	clear(blame);
	return run(blame, reader, session, code, false);
}
