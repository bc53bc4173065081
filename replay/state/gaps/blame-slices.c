/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feeds slices of a trace in threads: see blame-slices.h. blame.c calls this file; blamer.c sums
 * the time of each slice.
 *
 * A thread of the program has one activity at a time if the trace has calls only. So its first call
 * in a slice depends on the slices before in one way: the time up to this call belongs to the
 * activity before it. The slice notes the call (struct ts_blamer_first). This time is added when
 * the slices are joined. With kernel events, threads wake each other, and several activities last
 * over a border: such a trace has no slices.
 *
 * The order in which parts are found decides the order of parts of equal length. So parts are added
 * in the order of one thread, between the first calls of a slice, too. Parts beyond the limits
 * depend on each single row; then there is no result.
 */
#include "replay/state/gaps/blame-slices.h"

#include <errno.h>
#include <stdlib.h>

#include "sbt/slices.h"

/* Each slice has memory for these. */
#define MAX_STREAMS 4096u
#define MAX_LISTED  2048u
#define MAX_THREADS 2048u

struct slice {
	struct ts_blame blame;
	struct ts_blamer blamer;
};

struct run {
	struct ts_blamer *blamer;
	const struct ts_sbt_cursor_options *options;
};

/* ---- a slice, in a thread -------------------------------------------------------------------- */

static void slice_deinit(void *part)
{
	struct slice *slice = part;

	for (size_t i = 0; slice->blame.parts && i < slice->blame.n_listed; i++)
		ts_parts_deinit(&slice->blame.parts[i]);
	for (size_t i = 0; slice->blamer.threads && i < slice->blamer.n_threads; i++)
		free(slice->blamer.threads[i].opened);
	ts_parts_deinit(&slice->blame.total);
	free(slice->blame.parts);
	free(slice->blame.streams);
	free(slice->blamer.threads);
	free(slice->blamer.firsts);
	free(slice->blamer.losses);
}

/* Shares what is the same for all rows. The sums and the state of threads are the slice's own. */
static int slice_init(struct slice *slice, const struct ts_blamer *all)
{
	struct ts_blame *blame = &slice->blame;
	struct ts_blamer *blamer = &slice->blamer;

	*blame = (struct ts_blame){
		.gaps = all->blame->gaps,
		.n_gaps = all->blame->n_gaps,
		.streams = calloc(all->blame->n_streams + 1, sizeof(*blame->streams)),
		.n_streams = all->blame->n_streams,
		.parts = calloc(all->blame->n_listed + 1, sizeof(*blame->parts)),
		.n_listed = all->blame->n_listed,
		.total.max = all->blame->total.max,
	};
	*blamer = (struct ts_blamer){
		.blame = blame,
		.threads = calloc(all->n_threads + 1, sizeof(*blamer->threads)),
		.n_threads = all->n_threads,
		.thread_by_id = all->thread_by_id,
		.sched_by_session = all->sched_by_session,
		.sched_ns = all->sched_ns,
		.windows = all->windows,
		.n_windows = all->n_windows,
		.is_slice = true,
	};
	if (!blame->streams || !blame->parts || !blamer->threads)
		return -ENOMEM;
	for (size_t i = 0; i < blame->n_listed; i++)
		blame->parts[i].max = all->blame->parts[i].max;
	/* Joining changes the other fields meanwhile. */
	for (size_t i = 0; i < all->n_threads; i++) {
		blamer->threads[i].session = all->threads[i].session;
		blamer->threads[i].tid = all->threads[i].tid;
		blamer->threads[i].first = all->threads[i].first;
		blamer->threads[i].end = all->threads[i].end;
		blamer->threads[i].longest_ns = all->threads[i].longest_ns;
	}
	return 0;
}

static int feed_slice(void *part, const struct ts_slice *at, void *data)
{
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	const struct run *run = data;
	struct slice *slice = part;
	struct ts_sbt_row row;
	int r = slice_init(slice, run->blamer);

	r = r ? r : ts_slice_cursor(at, run->options, &cursor);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		r = r ? r : ts_blamer_feed(&slice->blamer, &row);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

/* ---- joining --------------------------------------------------------------------------------- */

/* Adds parts [from, to). The numbers of rows count on from `base`. */
static int join_parts(struct ts_parts *all, const struct ts_parts *parts, size_t from, size_t to,
		      uint64_t base)
{
	for (size_t i = from; i < to; i++) {
		const struct ts_parts_entry *entry = &parts->entries[i];
		struct ts_parts_entry *sum;
		uint32_t index;
		int r = ts_parts_find(all, &entry->part.key, &index);

		if (r)
			return r;
		sum = &all->entries[index];
		sum->part.ns += entry->part.ns;
		sum->part.count += entry->part.count;
		if (entry->last_row)
			sum->last_row = entry->last_row + base;
	}
	return all->is_cut || parts->is_cut ? TS_BLAME_SLICES_FAILED : 0;
}

/* Continues a thread after the slice. */
static void join_thread(struct ts_blamer_thread *to, struct ts_blamer_thread *from, uint64_t base)
{
	free(to->opened);
	to->opened = ts_take_ptr(from->opened);
	to->n_opened = from->n_opened;
	to->n_allocated = from->n_allocated;
	to->next = from->next;
	to->now_ns = from->now_ns;
	to->in[TS_BLAMER_IN_CALL] = from->in[TS_BLAMER_IN_CALL];
	to->in[TS_BLAMER_IN_CALL].row += base;
}

/* Adds the sums over all gaps, and the time of threads before their first rows of the slice. */
static int join_total(struct ts_blamer *all, const struct ts_blamer *blamer, uint64_t base)
{
	const struct ts_parts *parts = &blamer->blame->total;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; !r && i < blamer->n_firsts; i++) {
		const struct ts_blamer_first *first = &blamer->firsts[i];

		r = join_parts(&all->blame->total, parts, n, first->n_parts, base);
		n = first->n_parts;
		r = r ? r : ts_blamer_advance(all, &all->threads[first->thread], first->start_ns);
	}
	return r ? r : join_parts(&all->blame->total, parts, n, parts->n, base);
}

static int join_slice(void *part, void *data)
{
	struct ts_blamer *all = ((const struct run *)data)->blamer;
	struct slice *slice = part;
	struct ts_blamer *blamer = &slice->blamer;
	const uint64_t base = all->n_rows;
	int r = join_total(all, blamer, base);

	/* All windows of a gap are on one thread, whose time before the slice is added now. */
	for (size_t i = 0; !r && i < slice->blame.n_listed; i++)
		r = join_parts(&all->blame->parts[i], &slice->blame.parts[i], 0,
			       slice->blame.parts[i].n, base);
	for (size_t i = 0; i < slice->blame.n_streams; i++)
		for (unsigned cause = 0; cause < TS_GAP_CAUSES; cause++)
			all->blame->streams[i].causes_ns[cause] +=
				slice->blame.streams[i].causes_ns[cause];
	for (size_t i = 0; !r && i < blamer->n_losses; i++)
		r = ts_blamer_add_loss(all, &blamer->losses[i]);
	for (size_t i = 0; i < blamer->n_firsts; i++)
		join_thread(&all->threads[blamer->firsts[i].thread],
			    &blamer->threads[blamer->firsts[i].thread], base);
	all->n_rows += blamer->n_rows;
	return r;
}

/* ---- all slices ------------------------------------------------------------------------------ */

static bool may_divide(const struct ts_blamer *blamer, const struct ts_sbt_cursor_options *options)
{
	const uint64_t apart = options->types & ~(TS_ROW_BIT(TS_ROW_API) | TS_ROW_BIT(TS_ROW_LOSS));

	if (blamer->blame->n_streams > MAX_STREAMS || blamer->blame->n_listed > MAX_LISTED ||
	    blamer->n_threads > MAX_THREADS)
		return false;
	for (size_t i = 0; i < ts_sbt_reader_n_blocks(blamer->reader); i++) {
		const struct ts_sbt_block *block = ts_sbt_reader_block(blamer->reader, i);

		if (ts_row_is_event(block->type) && TS_ROW_BIT(block->type) & apart &&
		    block->n_rows && (!options->session || options->session == block->session))
			return false;
	}
	return true;
}

int ts_blame_slices(struct ts_blamer *blamer, const struct ts_sbt_cursor_options *options,
		    bool *ret_is_done)
{
	struct run run = {.blamer = blamer, .options = options};
	const struct ts_slices_work work = {.part_bytes = sizeof(struct slice),
					    .run = feed_slice,
					    .merge = join_slice,
					    .part_deinit = slice_deinit,
					    .data = &run};
	ts_cleanup(ts_slices_freep) struct ts_slices *slices = NULL;
	int r;

	*ret_is_done = false;
	if (!may_divide(blamer, options))
		return 0;
	r = ts_slices_new(blamer->reader, options, &slices);
	if (r || !slices)
		return r;
	*ret_is_done = true;
	return ts_slices_run(slices, &work) ? TS_BLAME_SLICES_FAILED : 0;
}
