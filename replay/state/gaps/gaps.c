/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the gaps between operations of a stream: see gaps.h. `tsctl gaps` and replay/report call
 * this file. The state machine reports operations; for each gap this module finds the time up to
 * which each cause of gaps.h applies. blame.c then explains the remaining time by the activity of
 * threads.
 */
#include "replay/state/gaps/gaps.h"

#include <errno.h>
#include <stdlib.h>

#include "proto/abi/grow.h"
#include "replay/state/gaps/blame.h"
#include "replay/state/gaps/in-segments.h"
#include "replay/state/relay.h"
#include "replay/state/state-map.h"
#include "replay/state/state-stages.h"

/* An operation that begins at most this long after another one ends counts as its successor. */
#define ENGINE_SLACK_NS 5000u
/*
 * Number of recent operations of an engine among which this module looks for the predecessor on the
 * engine.
 */
#define RECENT 64u

static const char *const cause_names[TS_GAP_CAUSES] = {
	"unknown",    "running", "host",  "off_cpu",  "page_fault", "syscall", "call",
	"dependency", "device",	 "graph", "dispatch", "block_io",   "reclaim",
};

const char *ts_gap_cause_name(unsigned cause)
{
	return cause < TS_GAP_CAUSES ? cause_names[cause] : NULL;
}

struct recent {
	uint64_t end_ns, op_id;
	uint32_t session, device, context, stream, type, copy_kind;
};

/* The last operation of a stream. */
struct last {
	uint64_t op_id, end_ns;
	/* In a segment: no known operation ends after old_ns, so the last one may be older. */
	bool is_open;
	bool is_awaited; /* the gap behind it overlaps the window's end, and was not seen yet */
	bool is_counted; /* an operation of the stream touches the window */
};

/*
 * The first operation of a segment in an open stream. The gap before it is computed when the
 * segments are joined.
 */
struct deferred {
	size_t at; /* its place in finder->found */
	uint32_t stream;
	struct ts_state_op op;
	struct recent recent[RECENT];
};

struct finder {
	const struct ts_gaps_options *options;
	struct ts_gaps *gaps;
	struct ts_state_map stream_by_id;
	struct last *lasts; /* parallel to gaps->streams */
	size_t n_streams_allocated, n_lasts_allocated;
	struct recent recent[RECENT];
	uint64_t n_recent;
	struct ts_blame_gap *found;
	size_t n_found, n_found_allocated;
	uint64_t n_items;   /* of the relay, up to the one that ended the window */
	bool stops;	    /* with the last gap of the window */
	bool is_behind;	    /* an operation began at or after the window's end */
	uint64_t n_awaited; /* streams whose `last` is awaited; valid if is_behind */
	uint64_t n_ids;
	/* Ids of the gaps in gaps->longest; a heap, shortest gap first, then the last one. */
	uint64_t *ids;
	/* In a segment that is not the first one. */
	bool is_segment, has_started;
	uint64_t old_ns;
	struct deferred *deferred;
	size_t n_deferred, n_deferred_allocated;
};

/* ---- the longest ----------------------------------------------------------------------------- */

static uint64_t length_of(const struct ts_gap *gap)
{
	return gap->op.start_ns - gap->start_ns;
}

static void swap_longest(struct finder *finder, size_t i, size_t j)
{
	struct ts_gap gap = finder->gaps->longest[i];
	uint64_t id = finder->ids[i];

	finder->gaps->longest[i] = finder->gaps->longest[j];
	finder->ids[i] = finder->ids[j];
	finder->gaps->longest[j] = gap;
	finder->ids[j] = id;
}

/* True if the gap at i leaves the list before the one at j. Of equal gaps the first stays. */
static bool is_less(const struct finder *finder, size_t i, size_t j)
{
	uint64_t a = length_of(&finder->gaps->longest[i]);
	uint64_t b = length_of(&finder->gaps->longest[j]);

	return a != b ? a < b : finder->ids[i] > finder->ids[j];
}

static void sink(struct finder *finder, size_t i)
{
	size_t n = finder->gaps->n_longest;

	while (2 * i + 1 < n) {
		size_t child = 2 * i + 1;

		if (child + 1 < n && is_less(finder, child + 1, child))
			child++;
		if (!is_less(finder, child, i))
			return;
		swap_longest(finder, i, child);
		i = child;
	}
}

static void keep_longest(struct finder *finder, const struct ts_gap *gap, uint64_t id)
{
	struct ts_gaps *gaps = finder->gaps;
	size_t i = gaps->n_longest;

	if (i < finder->options->max_longest) {
		gaps->longest[i] = *gap;
		finder->ids[i] = id;
		gaps->n_longest++;
		for (; i && is_less(finder, i, (i - 1) / 2); i = (i - 1) / 2)
			swap_longest(finder, i, (i - 1) / 2);
	} else if (i && (length_of(gap) > length_of(&gaps->longest[0]) ||
			 (length_of(gap) == length_of(&gaps->longest[0]) && id < finder->ids[0]))) {
		gaps->longest[0] = *gap;
		finder->ids[0] = id;
		sink(finder, 0);
	}
}

/* ---- gaps ------------------------------------------------------------------------------------ */

static int compare_lengths(const void *a, const void *b)
{
	const struct ts_blame_gap *x = a, *y = b;
	uint64_t s = x->end_ns - x->start_ns, t = y->end_ns - y->start_ns;

	return s != t ? (s > t ? -1 : 1) : x->id < y->id ? -1 : x->id > y->id;
}

/* Makes room for one more gap. If there are TS_GAPS_MAX, the shorter half is dropped. */
static int reserve_gap(struct finder *finder)
{
	if (finder->n_found == TS_GAPS_MAX) {
		qsort(finder->found, finder->n_found, sizeof(*finder->found), compare_lengths);
		for (size_t i = TS_GAPS_MAX / 2; i < TS_GAPS_MAX; i++)
			finder->gaps->left_ns +=
				finder->found[i].end_ns - finder->found[i].start_ns;
		finder->gaps->n_left += TS_GAPS_MAX / 2;
		finder->n_found = TS_GAPS_MAX / 2;
		return 0;
	}
	return TS_GROW(finder->found, finder->n_found_allocated, finder->n_found + 1);
}

static uint64_t clip(uint64_t ns, uint64_t from_ns, uint64_t to_ns)
{
	return ns < from_ns ? from_ns : ns > to_ns ? to_ns : ns;
}

static void find_dependency(const struct ts_state_op *op, struct ts_blame_gap *gap)
{
	for (uint32_t i = 0; i < op->n_dependencies; i++) {
		const struct ts_state_dependency *dependency = &op->dependencies[i];

		if (dependency->kind == TS_STATE_BY_STREAM || dependency->end_ns <= gap->depends_ns)
			continue;
		gap->depends_ns = clip(dependency->end_ns, gap->call_ns, gap->end_ns);
		gap->depends_op_id = dependency->op_id;
		gap->depends_event = dependency->event;
		gap->depends_stream = dependency->stream;
	}
}

/*
 * Finds the operation that occupied the engine. The engine counts as busy only if this operation
 * ended after the call and after the dependencies. Of several that end together, the first counts.
 * recents[next % RECENT] is the oldest one.
 */
static void find_engine(const struct recent *recents, uint64_t next, const struct ts_state_op *op,
			struct ts_blame_gap *gap)
{
	uint32_t copy_kind = op->type == TS_ROW_MEMCPY ? op->row.memcpy_.copy_kind : 0;

	for (uint64_t i = next < RECENT ? 0 : next - RECENT; i < next; i++) {
		const struct recent *recent = &recents[i % RECENT];

		if (recent->session != op->session || recent->device != op->device ||
		    recent->type != op->type || recent->copy_kind != copy_kind ||
		    (recent->context == op->context && recent->stream == op->stream) ||
		    recent->end_ns > op->start_ns ||
		    op->start_ns - recent->end_ns > ENGINE_SLACK_NS ||
		    recent->end_ns <= gap->device_ns || recent->end_ns <= op->call_end_ns)
			continue;
		gap->device_ns = recent->end_ns;
		gap->device_op_id = recent->op_id;
		gap->device_stream = recent->stream;
	}
}

/* Finds the causes of the gap before the operation. */
static struct ts_blame_gap make_gap(const struct recent *recents, uint64_t n_recent,
				    const struct ts_state_op *op, const struct last *last)
{
	struct ts_blame_gap gap = {.start_ns = last->end_ns,
				   .end_ns = op->start_ns,
				   .session = op->session,
				   .thread = op->thread,
				   .listed = TS_PARTS_NONE};

	if (op->unsure & TS_STATE_UNSURE_CALL) {
		/* The time of the call is unknown, so its causes are unknown too. */
		gap.thread = 0;
		gap.call_ns = gap.depends_ns = gap.device_ns = gap.call_end_ns = gap.end_ns;
		return gap;
	}
	gap.call_ns = gap.depends_ns = clip(op->call_ns, gap.start_ns, gap.end_ns);
	find_dependency(op, &gap);
	gap.device_ns = gap.depends_ns;
	find_engine(recents, n_recent, op, &gap);
	gap.call_end_ns = clip(op->call_end_ns, gap.device_ns, gap.end_ns);
	gap.is_graph = op->unsure & TS_STATE_UNSURE_GRAPH && last->op_id == op->op_id;
	return gap;
}

/* Adds a gap of a stream. It gets the next id. */
static int push_gap(struct finder *finder, struct ts_blame_gap *gap, uint32_t stream)
{
	int r = reserve_gap(finder);

	if (r)
		return r;
	gap->id = finder->n_ids++;
	gap->stream = stream;
	finder->found[finder->n_found++] = *gap;
	finder->gaps->n++;
	finder->gaps->ns += gap->end_ns - gap->start_ns;
	finder->gaps->streams[stream].n_gaps++;
	finder->gaps->streams[stream].gaps_ns += gap->end_ns - gap->start_ns;
	return 0;
}

static int add_gap(struct finder *finder, const struct ts_state_op *op, uint32_t stream,
		   const struct last *last)
{
	struct ts_gap listed = {.op = *op, .start_ns = last->end_ns, .before_op_id = last->op_id};
	struct ts_blame_gap gap = make_gap(finder->recent, finder->n_recent, op, last);
	int r = push_gap(finder, &gap, stream);

	if (!r)
		keep_longest(finder, &listed, gap.id);
	return r;
}

/* Adds a stream with the ids of `op`, if there is none. */
static int find_stream(struct finder *finder, const struct ts_state_op *op, uint32_t *ret_stream,
		       bool *ret_new)
{
	struct ts_gaps *gaps = finder->gaps;
	uint64_t key = (uint64_t)op->context << 32 | op->stream;
	uint32_t i = ts_state_map_find(&finder->stream_by_id, op->session, key);
	int r;

	*ret_new = i == TS_STATE_MAP_NONE;
	if (*ret_new) {
		i = (uint32_t)gaps->n_streams;
		r = TS_GROW(gaps->streams, finder->n_streams_allocated, gaps->n_streams + 1);
		r = r ?: TS_GROW(finder->lasts, finder->n_lasts_allocated, gaps->n_streams + 1);
		r = r ?: ts_state_map_set(&finder->stream_by_id, op->session, key, i);
		if (r)
			return r;
		gaps->streams[gaps->n_streams++] = (struct ts_gap_stream){.session = op->session,
									  .device = op->device,
									  .context = op->context,
									  .stream = op->stream,
									  .from_ns = op->start_ns,
									  .to_ns = op->start_ns};
		finder->lasts[i] = (struct last){op->op_id, op->start_ns, finder->is_segment};
	}
	*ret_stream = i;
	return 0;
}

/* Returns true if the gap between the two operations counts. */
static bool is_wanted(const struct ts_gaps_options *options, const struct last *last,
		      const struct ts_state_op *op)
{
	if (op->start_ns <= last->end_ns || op->start_ns <= options->from_ns ||
	    (options->to_ns && last->end_ns >= options->to_ns))
		return false;
	return options->op_id ? op->op_id == options->op_id
			      : op->start_ns - last->end_ns >= options->least_ns;
}

static bool touches_window(const struct ts_gaps_options *options, const struct ts_state_op *op)
{
	return (op->end_ns > options->from_ns || op->start_ns >= options->from_ns) &&
	       (!options->to_ns || op->start_ns < options->to_ns);
}

static void count_op(const struct ts_gaps_options *options, struct ts_gap_stream *stream,
		     struct last *last, const struct ts_state_op *op)
{
	/* In a window, the stream's first operation may precede the first one that counts. */
	if (!last->is_counted && options->from_ns)
		stream->from_ns = stream->to_ns = op->start_ns;
	last->is_counted = true;
	stream->n_ops++;
	if (op->end_ns <= stream->to_ns)
		return;
	stream->busy_ns +=
		op->end_ns - (op->start_ns > stream->to_ns ? op->start_ns : stream->to_ns);
	stream->to_ns = op->end_ns;
}

/*
 * Notes that operations begin behind the window. A stream that is idle at the window's end awaits
 * its next operation, which ends its gap; a stream that was not seen yet has no gap.
 */
static void pass_window(struct finder *finder)
{
	finder->is_behind = true;
	for (size_t i = 0; i < finder->gaps->n_streams; i++) {
		finder->lasts[i].is_awaited = finder->lasts[i].end_ns < finder->options->to_ns;
		finder->n_awaited += finder->lasts[i].is_awaited;
	}
}

/* Keeps the first operation of a segment in an open stream. */
static int defer(struct finder *finder, const struct ts_state_op *op, uint32_t stream)
{
	struct deferred *deferred;
	int r;

	/* The operation would not be the last one of its stream, or not know the recent ones. */
	if (op->end_ns <= finder->old_ns || finder->n_recent < RECENT)
		return TS_SEGMENTS_NONE;
	r = reserve_gap(finder);
	r = r ?: TS_GROW(finder->deferred, finder->n_deferred_allocated, finder->n_deferred + 1);
	if (r)
		return r;
	deferred = &finder->deferred[finder->n_deferred++];
	deferred->at = finder->n_found;
	deferred->stream = stream;
	deferred->op = *op;
	for (uint64_t i = 0; i < RECENT; i++)
		deferred->recent[i] = finder->recent[(finder->n_recent + i) % RECENT];
	finder->found[finder->n_found++] = (struct ts_blame_gap){.id = finder->n_ids++};
	finder->lasts[stream].is_open = false;
	return 0;
}

static int take_op(struct finder *finder, const struct ts_state_op *op)
{
	const struct ts_gaps_options *options = finder->options;
	bool is_gap = false, is_counted = touches_window(options, op);
	struct last *last;
	bool is_new;
	uint32_t i;
	int r;

	if (finder->stops && options->to_ns && op->start_ns >= options->to_ns && !finder->is_behind)
		pass_window(finder);
	r = find_stream(finder, op, &i, &is_new);
	if (r)
		return r;
	last = &finder->lasts[i];
	if (last->is_open && finder->has_started) {
		r = defer(finder, op, i);
	} else {
		is_gap = is_wanted(options, last, op);
		if (is_gap)
			r = add_gap(finder, op, i, last);
	}
	if (is_counted)
		count_op(options, &finder->gaps->streams[i], last, op);
	if (is_gap || is_counted)
		ts_doubts_add(&finder->gaps->doubts, op);
	finder->n_awaited -= last->is_awaited;
	last->is_awaited = false;
	if (op->end_ns > last->end_ns) {
		last->op_id = op->op_id;
		last->end_ns = op->end_ns;
		last->is_open = false;
	}
	finder->recent[finder->n_recent++ % RECENT] = (struct recent){
		.end_ns = op->end_ns,
		.op_id = op->op_id,
		.session = op->session,
		.device = op->device,
		.context = op->context,
		.stream = op->stream,
		.type = op->type,
		.copy_kind = op->type == TS_ROW_MEMCPY ? op->row.memcpy_.copy_kind : 0,
	};
	/* No later row has a gap of the window. */
	return !r && finder->is_behind && !finder->n_awaited ? TS_SBT_E_END : r;
}

/* ---- the passes ------------------------------------------------------------------------------ */

static int take_item(void *data, void *at)
{
	const struct ts_state_item *item = at;
	struct finder *finder = data;

	finder->n_items++;
	return item->has_op ? take_op(finder, &item->op) : 0;
}

static int find_gaps(struct finder *finder, struct ts_sbt_reader *reader)
{
	const struct ts_sbt_cursor_options options = {.types = TS_STATE_MACHINE_ROWS,
						      .session = finder->options->session};
	ts_cleanup(ts_state_machine_freep) struct ts_state_machine *machine = NULL;
	struct ts_relay_pass passes[] = {{ts_state_machine_order, NULL, true},
					 {take_item, finder, false}};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	ts_cleanup(ts_relay_freep) struct ts_relay *relay = NULL;
	/*
	 * Items before the first damaged block. With threads, this loop also reads some rows behind
	 * the window, where damage does not count.
	 */
	uint64_t n_put = 0, n_whole = UINT64_MAX;
	struct ts_sbt_row row;
	int r = ts_state_machine_new(&machine), error;

	r = r ? r : ts_state_machine_prepare(machine, reader, finder->options->session);
	r = r ? r : ts_sbt_cursor_new(reader, &options, &cursor);
	passes[0].pass = machine;
	r = r ? r : ts_relay_new(sizeof(struct ts_state_item), passes, 2, &relay);
	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (r == TS_SBT_E_CORRUPT) {
			n_whole = n_put < n_whole ? n_put : n_whole;
			r = 0;
			continue;
		}
		r = r ? r : ts_state_machine_join(machine, &row, ts_relay_item(relay));
		if (r == 1) {
			n_put++;
			r = ts_relay_put(relay);
		}
	}
	error = relay ? ts_relay_end(relay) : 0;
	if ((error && error != TS_SBT_E_END) || r != TS_SBT_E_END)
		return error && error != TS_SBT_E_END ? error : r;
	finder->gaps->is_damaged = n_whole < (error ? finder->n_items : UINT64_MAX);
	/* Calls without device rows have no time at which they would touch a window. */
	if (!finder->options->from_ns && !finder->options->to_ns)
		ts_doubts_finish(&finder->gaps->doubts, machine);
	return 0;
}

/* ---- segments -------------------------------------------------------------------------------- */

/* More gaps of one segment, or a longer list, take too much memory for many segments. */
#define MAX_SEGMENT_GAPS (TS_GAPS_MAX / 8)
#define MAX_LONGEST	 2048u
/*
 * Rows behind a window that are read with it. Nearly always, they have the next operation of each
 * stream.
 */
#define TAIL_ROWS (128u * 1024)

static int finder_init(struct finder *finder, const struct ts_gaps_options *options)
{
	struct ts_gaps *gaps = calloc(1, sizeof(*gaps));

	*finder = (struct finder){.options = options, .gaps = gaps};
	if (!gaps)
		return -ENOMEM;
	gaps->longest = calloc(options->max_longest + 1, sizeof(*gaps->longest));
	finder->ids = calloc(options->max_longest + 1, sizeof(*finder->ids));
	return gaps->longest && finder->ids ? 0 : -ENOMEM;
}

static void finder_deinit(struct finder *finder)
{
	ts_gaps_free(finder->gaps);
	ts_state_map_deinit(&finder->stream_by_id);
	free(finder->lasts);
	free(finder->found);
	free(finder->ids);
	free(finder->deferred);
}

static void free_segment(void *data)
{
	finder_deinit(data);
	free(data);
}

static int create_segment(void *data, bool is_first, const struct ts_state_machine *machine,
			  void **ret_finder)
{
	const struct finder *all = data;
	struct finder *finder = malloc(sizeof(*finder));

	if (!finder)
		return -ENOMEM;
	if (finder_init(finder, all->options)) {
		free_segment(finder);
		return -ENOMEM;
	}
	finder->is_segment = !is_first;
	*ret_finder = finder;
	return 0;
}

static int take_of_segment(void *data, const struct ts_state_op *op)
{
	struct finder *finder = data;

	if (finder->n_found == MAX_SEGMENT_GAPS)
		return TS_SEGMENTS_NONE;
	return take_op(finder, op);
}

static void start_segment(void *data, const struct ts_segments_counts *counts)
{
	struct finder *finder = data;
	struct ts_gaps *gaps = finder->gaps;

	finder->has_started = true;
	finder->old_ns = counts->old_ns;
	finder->n_found = gaps->n_longest = 0;
	finder->n_ids = gaps->n = gaps->ns = 0;
	gaps->doubts = (struct ts_doubts){0};
	for (size_t i = 0; i < gaps->n_streams; i++) {
		struct ts_gap_stream *stream = &gaps->streams[i];

		stream->n_ops = stream->busy_ns = stream->n_gaps = stream->gaps_ns = 0;
		finder->lasts[i].is_open = finder->lasts[i].end_ns <= counts->old_ns;
	}
}

/* Computes the gap before the segment's first operation of a stream. */
static int join_deferred(struct finder *all, const struct deferred *deferred, uint32_t stream,
			 uint64_t old_ns)
{
	const struct last *last = &all->lasts[stream];
	const struct ts_state_op *op = &deferred->op;
	struct ts_gap listed = {.op = *op, .start_ns = last->end_ns, .before_op_id = last->op_id};
	struct ts_blame_gap gap;
	int r;

	if (!is_wanted(all->options, last, op))
		return 0;
	/* A dependency that ended by old_ns may be missing, and may explain a part of the gap. */
	if (last->end_ns < old_ns && op->call_ns < old_ns && !(op->unsure & TS_STATE_UNSURE_CALL))
		return TS_SEGMENTS_NONE;
	if (!touches_window(all->options, op))
		ts_doubts_add(&all->gaps->doubts, op);
	gap = make_gap(deferred->recent, RECENT, op, last);
	r = push_gap(all, &gap, stream);
	if (!r)
		keep_longest(all, &listed, gap.id);
	return r;
}

/* The stream of a segment among all streams. */
struct joined {
	uint32_t stream;
	bool is_new;
};

static int join_gaps(struct finder *all, struct finder *finder, const struct joined *streams,
		     uint64_t old_ns)
{
	const struct deferred *deferred = finder->deferred;
	const struct ts_gaps *gaps = finder->gaps;
	int r = 0;

	if (all->n_found + finder->n_found >= TS_GAPS_MAX)
		return TS_SEGMENTS_NONE;
	for (size_t i = 0; !r && i < finder->n_found; i++) {
		struct ts_blame_gap *gap = &finder->found[i];
		const struct joined *joined;

		if (deferred < finder->deferred + finder->n_deferred && deferred->at == i) {
			joined = &streams[deferred->stream];
			if (!joined->is_new)
				r = join_deferred(all, deferred, joined->stream, old_ns);
			deferred++;
		} else {
			r = push_gap(all, gap, streams[gap->stream].stream);
		}
	}
	for (size_t i = 0; !r && i < gaps->n_longest; i++)
		keep_longest(all, &gaps->longest[i], finder->found[finder->ids[i]].id);
	return r;
}

/* Adds the operations of a segment that count. */
static void join_counts(struct ts_gap_stream *to, const struct ts_gap_stream *stream,
			bool has_window)
{
	if (!stream->n_ops)
		return;
	if (!to->n_ops && has_window) {
		to->from_ns = stream->from_ns;
		to->to_ns = stream->to_ns;
	}
	to->n_ops += stream->n_ops;
	to->busy_ns += stream->busy_ns;
	if (stream->to_ns > to->to_ns)
		to->to_ns = stream->to_ns;
}

static void join_streams(struct finder *all, const struct finder *finder,
			 const struct joined *streams)
{
	for (size_t i = 0; i < finder->gaps->n_streams; i++) {
		struct last *last = &all->lasts[streams[i].stream];

		join_counts(&all->gaps->streams[streams[i].stream], &finder->gaps->streams[i],
			    all->options->from_ns);
		if (streams[i].is_new || finder->lasts[i].end_ns > last->end_ns)
			*last = finder->lasts[i];
		last->is_open = false;
	}
}

static int join_segment(void *data, void *consumer, const struct ts_segments_counts *counts)
{
	struct finder *all = data, *finder = consumer;
	size_t n = finder->gaps->n_streams;
	struct joined *streams = calloc(n + 1, sizeof(*streams));
	int r = streams ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < n; i++) {
		const struct ts_gap_stream *stream = &finder->gaps->streams[i];
		const struct ts_state_op as = {.session = stream->session,
					       .device = stream->device,
					       .context = stream->context,
					       .stream = stream->stream,
					       .start_ns = stream->from_ns};

		r = find_stream(all, &as, &streams[i].stream, &streams[i].is_new);
	}
	r = r ? r : join_gaps(all, finder, streams, counts->old_ns);
	if (!r)
		join_streams(all, finder, streams);
	free(streams);
	ts_doubts_join(&all->gaps->doubts, &finder->gaps->doubts);
	/* As in find_gaps(). */
	if (all->options->from_ns || all->options->to_ns)
		return r;
	all->gaps->doubts.n_unanswered += (uint64_t)counts->n_unanswered;
	all->gaps->doubts.n_twice += counts->n_twice;
	return r;
}

/* Returns a time by which n_rows begin after the window; 0: the trace's end. */
static uint64_t find_tail(const struct ts_sbt_reader *reader, const struct ts_gaps_options *options,
			  uint64_t n_rows)
{
	const uint64_t from_ns = options->to_ns;

	for (uint64_t span_ns = 1024; from_ns && span_ns < UINT64_MAX / 4; span_ns *= 2) {
		uint64_t n = 0, latest_ns = 0;

		for (size_t i = 0; i < ts_sbt_reader_n_blocks(reader); i++) {
			const struct ts_sbt_block *block = ts_sbt_reader_block(reader, i);

			if (!ts_row_is_event(block->type) ||
			    !(TS_STATE_MACHINE_ROWS & TS_ROW_BIT(block->type)))
				continue;
			if (block->earliest_ns > from_ns && block->earliest_ns - from_ns <= span_ns)
				n += block->n_rows;
			if (block->latest_ns > latest_ns)
				latest_ns = block->latest_ns;
		}
		if (latest_ns <= from_ns || latest_ns - from_ns <= span_ns)
			return 0;
		if (n >= n_rows)
			return from_ns + span_ns;
	}
	return 0;
}

/* True if a stream is idle from the window's end on. */
static bool is_awaiting(const struct finder *finder)
{
	for (size_t i = 0; i < finder->gaps->n_streams; i++)
		if (finder->lasts[i].end_ns < finder->options->to_ns)
			return true;
	return false;
}

/*
 * As find_gaps(), in segments of the rows that start up to to_ns (0: all rows). TS_SEGMENTS_NONE:
 * no result, and the finder is used up. So it is if *ret_is_cut is set: rows after to_ns may have
 * gaps of the window.
 */
static int find_in_segments(struct finder *finder, struct ts_sbt_reader *reader,
			    const struct ts_segments_options *sizes, uint64_t to_ns,
			    bool *ret_is_cut)
{
	static const struct ts_segments_consumer consumer = {
		.create = create_segment,
		.take = take_of_segment,
		.start = start_segment,
		.join = join_segment,
		.free = free_segment,
	};
	const struct ts_segments_options how = {.session = finder->options->session,
						.to_ns = to_ns,
						.n_rows = sizes ? sizes->n_rows : 0,
						.n_warm_rows = sizes ? sizes->n_warm_rows : 0};
	int r;

	if (finder->options->max_longest > MAX_LONGEST)
		return TS_SEGMENTS_NONE;
	r = ts_segments_read(reader, &how, &consumer, finder);
	*ret_is_cut = !r && to_ns && is_awaiting(finder);
	return *ret_is_cut ? TS_SEGMENTS_NONE : r;
}

/* ---- explaining ------------------------------------------------------------------------------ */

/* Links a gap to its entry in `longest`, by id. */
struct listed {
	uint64_t id;
	uint32_t index;
};

static int compare_listed(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

static int compare_longest(const void *a, const void *b)
{
	const struct ts_gap *x = a, *y = b;
	uint64_t s = length_of(x), t = length_of(y);

	if (s != t)
		return s > t ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->op.op_id != y->op.op_id)
		return x->op.op_id < y->op.op_id ? -1 : 1;
	return x->op.stream < y->op.stream ? -1 : x->op.stream > y->op.stream;
}

static void note_listed(struct finder *finder, struct listed *listed)
{
	size_t n = finder->gaps->n_longest;

	for (size_t i = 0; i < n; i++)
		listed[i] = (struct listed){finder->ids[i], (uint32_t)i};
	qsort(listed, n, sizeof(*listed), compare_listed);
	for (size_t i = 0; i < finder->n_found; i++) {
		const struct listed wanted = {.id = finder->found[i].id};
		const struct listed *found =
			bsearch(&wanted, listed, n, sizeof(*listed), compare_listed);

		if (found)
			finder->found[i].listed = found->index;
	}
}

static int blame(struct finder *finder, struct ts_sbt_reader *reader)
{
	struct ts_gaps *gaps = finder->gaps;
	size_t n = gaps->n_longest;
	struct listed *listed = malloc((n + 1) * sizeof(*listed));
	struct ts_blame blame = {
		.gaps = finder->found,
		.n_gaps = finder->n_found,
		.streams = gaps->streams,
		.n_streams = gaps->n_streams,
		.listed = gaps->longest,
		.n_listed = n,
		.parts = calloc(n + 1, sizeof(*blame.parts)),
		.total.max = TS_GAPS_MAX_PARTS,
	};
	int r = listed && blame.parts ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && !r; i++)
		blame.parts[i].max = TS_GAP_MAX_PARTS;
	if (!r) {
		note_listed(finder, listed);
		r = ts_blame_run(&blame, reader, finder->options->session, finder->options->code);
	}
	gaps->is_damaged = gaps->is_damaged || blame.is_damaged;
	for (size_t i = 0; i < n && !r; i++)
		r = ts_parts_take(&blame.parts[i], &gaps->longest[i].parts);
	r = r ? r : ts_parts_take(&blame.total, &gaps->parts);
	for (size_t i = 0; i < n && blame.parts; i++)
		ts_parts_deinit(&blame.parts[i]);
	ts_parts_deinit(&blame.total);
	free(blame.parts);
	free(listed);
	return r;
}

static int compare_streams(const void *a, const void *b)
{
	const struct ts_gap_stream *x = a, *y = b;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

/* Drops streams without an operation and without a gap in the window. */
static void drop_streams(struct ts_gaps *gaps)
{
	size_t n = 0;

	for (size_t i = 0; i < gaps->n_streams; i++)
		if (gaps->streams[i].n_ops || gaps->streams[i].n_gaps)
			gaps->streams[n++] = gaps->streams[i];
	gaps->n_streams = n;
}

/* Explains the gaps that were found, and takes the result out of the finder. */
static int finish(struct finder *finder, struct ts_sbt_reader *reader, struct ts_gaps **ret_gaps)
{
	struct ts_gaps *gaps = finder->gaps;
	int r = blame(finder, reader);

	if (r)
		return r;
	drop_streams(gaps);
	if (gaps->n_streams)
		qsort(gaps->streams, gaps->n_streams, sizeof(*gaps->streams), compare_streams);
	if (gaps->n_longest)
		qsort(gaps->longest, gaps->n_longest, sizeof(*gaps->longest), compare_longest);
	*ret_gaps = ts_take_ptr(finder->gaps);
	return 0;
}

static int read_segments(struct ts_sbt_reader *reader, const struct ts_gaps_options *options,
			 const struct ts_segments_options *sizes, uint64_t to_ns, bool *ret_is_cut,
			 struct ts_gaps **ret_gaps)
{
	struct finder finder;
	int r = finder_init(&finder, options);

	r = r ? r : find_in_segments(&finder, reader, sizes, to_ns, ret_is_cut);
	r = r ? r : finish(&finder, reader, ret_gaps);
	finder_deinit(&finder);
	return r;
}

int ts_gaps_read_segments(struct ts_sbt_reader *reader, const struct ts_gaps_options *options,
			  const struct ts_segments_options *sizes, struct ts_gaps **ret_gaps)
{
	uint64_t n_rows = sizes && sizes->n_warm_rows ? sizes->n_warm_rows : TAIL_ROWS;
	bool is_cut = false;
	int r = read_segments(reader, options, sizes, find_tail(reader, options, n_rows), &is_cut,
			      ret_gaps);

	return is_cut ? read_segments(reader, options, sizes, 0, &is_cut, ret_gaps) : r;
}

int ts_gaps_read(struct ts_sbt_reader *reader, const struct ts_gaps_options *options,
		 struct ts_gaps **ret_gaps)
{
	struct finder finder;
	int r = ts_gaps_read_segments(reader, options, NULL, ret_gaps);

	if (r != TS_SEGMENTS_NONE)
		return r;
	r = finder_init(&finder, options);
	finder.stops = true;
	r = r ? r : find_gaps(&finder, reader);
	r = r ? r : finish(&finder, reader, ret_gaps);
	finder_deinit(&finder);
	return r;
}

void ts_gaps_free(struct ts_gaps *gaps)
{
	if (!gaps)
		return;
	for (size_t i = 0; i < gaps->n_longest; i++)
		free(gaps->longest[i].parts.at);
	free(gaps->longest);
	free(gaps->parts.at);
	free(gaps->streams);
	free(gaps);
}
