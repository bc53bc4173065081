/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trace in segments: see segments.h. overview/ calls this file; this file feeds state
 * machines, and borders.c makes the plan.
 *
 * A segment's machine begins with rows that lie some ten thousand rows before the segment, the
 * warm-up. It lacks the facts of earlier rows. Their operation ids are lower than those of the
 * segment, and nearly all of them have no influence any more. This module proves that none has:
 *
 *   warm_ns      floor_ns       from_ns                                             end_ns
 *      | all ids here <= floor_id  | ids > floor_id: the operations of the segment     |
 *      |      |                    |                     next_warm_ns: facts for the next segment
 *
 *   calls       No row of the segment has an id up to floor_id, and no row before the warm-up has
 *               a higher one. So each call and each device row of the segment finds the same
 *               partner as in one machine.
 *   operations  All operations issued before the segment ended before it (old_ns). So a missing
 *               dependency has ended, too. The machine counts them, because the number of
 *               dependencies is limited.
 *   streams     A wait or a record before the warm-up counts until a later operation begins in its
 *               stream. The machine marks the streams where this matters (is_asked). The segment
 *               before notes the streams that have such waits or records (struct fact).
 *   events      A wait for an event that was recorded before the warm-up makes the operations
 *               behind it doubtful (state-order.h).
 *
 * If a proof fails, for example because an operation runs for a long time, the caller reads the
 * trace with one machine. So it does with damaged blocks, waits for the host and several sessions.
 */
#include "replay/state/segments/segments.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "proto/abi/grow.h"
#include "replay/state/segments/borders.h"
#include "replay/state/state-order.h"
#include "sbt/reader-threads.h"

/* Memory of a cursor's open blocks: too little for the cursor to start a thread of its own. */
#define CURSOR_BYTES (15ull * 1024 * 1024)
/* Segments for each thread that may be finished or in work, but not joined. */
#define SHARE	   2u
#define CHECK_ROWS 1024u /* after so many rows a thread looks whether it has to end */
#define POLL_NS	   20000000
/* Far below the limits of the machine (state-order.c, state-machine.c) for one segment. */
#define MAX_WAITS   1024u
#define MAX_MARKERS (1u << 19)
#define MAX_STREAMS (TS_MAX_STREAMS / 2)
#define MAX_ORPHANS 32768u

/* Facts about a stream that the check of the next segment needs. */
struct fact {
	uint32_t context, stream;
	bool is_fresh;	 /* the facts of the segments before still count */
	bool has_groups; /* an operation has begun */
	bool is_missed;	 /* as in struct ts_state_order_stream */
	bool has_point;	 /* a record or wait of the legacy stream without an operation after it */
	size_t n_waits, n_markers;
};

struct segment {
	struct ts_segment_plan plan;
	bool is_done;
	int r;
	void *consumer;
	struct ts_segments_counts counts;
	uint64_t floor_id;
	uint64_t max_id; /* of the rows before plan.next_warm_ns */
	struct fact *facts;
	size_t n_facts, n_facts_allocated;
	struct fact *asked;
	size_t n_asked, n_asked_allocated;
	uint64_t n_orphans; /* device rows without a call */
	uint64_t n_calls;
	uint64_t n_awaited; /* at the segment's start, by its own machine */
	size_t n_streams, n_markers;
	bool has_given_up;
	bool has_unknown_kind, has_asked_all;
};

struct run {
	struct ts_sbt_reader *reader;
	const struct ts_segments_options *options;
	const struct ts_segments_consumer *consumer;
	void *data;
	struct segment *segments;
	size_t n_segments;
	volatile int stop;
	uint64_t n_rows; /* read, and not reported yet */

	pthread_mutex_t lock; /* guards the following, and is_done */
	pthread_cond_t changed;
	size_t n_joined;
	unsigned n_threads;

	/* The caller's thread sums up the segments joined so far. */
	struct ts_state_map fact_by_stream;
	struct fact *facts;
	size_t n_facts, n_facts_allocated;
	uint64_t max_id, n_orphans, n_calls;
	int64_t n_unanswered;
	size_t n_streams, n_markers;
	bool has_given_up;
	bool has_unknown_kind, has_asked_all;
};

struct worker {
	struct run *run;
	unsigned number;
	pthread_t thread;
};

/* ---- a segment ------------------------------------------------------------------------------- */

enum phase {
	WARM, /* before floor_ns */
	HIGH, /* before from_ns */
	EXACT,
	NOTED, /* after next_warm_ns */
};

struct walk {
	struct run *run;
	struct segment *segment;
	struct ts_state_machine *machine;
	struct ts_state_order *order;
	enum phase phase;
	uint64_t next_ns; /* the next border */
	uint64_t old_ns, max_id;
	int64_t n_unanswered; /* at the segment's start */
	uint64_t n_twice;
	bool has_high; /* an operation with an id above floor_id has begun */
};

static int64_t n_unanswered(const struct walk *walk)
{
	return (int64_t)(ts_state_machine_n_awaited(walk->machine) +
			 ts_state_machine_n_given_up(walk->machine));
}

static void set_fact(const struct walk *walk, const struct ts_state_order_stream *stream,
		     struct fact *fact)
{
	*fact = (struct fact){
		.context = stream->context,
		.stream = stream->stream,
		.is_fresh = ts_state_order_is_fresh(walk->order, stream),
		.has_point = stream->kind.is_legacy && ts_state_order_has_point(stream),
		.has_groups = stream->n_groups,
		.is_missed = stream->is_missed,
		.n_waits = stream->n_waits,
		.n_markers = stream->n_markers,
	};
}

static int note_facts(struct walk *walk)
{
	struct segment *segment = walk->segment;

	for (size_t i = 0; i < walk->order->n_streams; i++) {
		if (TS_GROW(segment->facts, segment->n_facts_allocated, segment->n_facts + 1))
			return -ENOMEM;
		set_fact(walk, &walk->order->streams[i], &segment->facts[segment->n_facts++]);
	}
	segment->max_id = walk->max_id;
	return 0;
}

static void set_border(struct walk *walk)
{
	const struct ts_segment_plan *plan = &walk->segment->plan;

	walk->next_ns = walk->phase == WARM    ? plan->floor_ns
			: walk->phase == HIGH  ? plan->from_ns
			: walk->phase == EXACT ? plan->next_warm_ns
					       : UINT64_MAX;
}

static void start_exact(struct walk *walk)
{
	struct segment *segment = walk->segment;

	walk->phase = EXACT;
	walk->order->is_exact = true;
	walk->n_unanswered = n_unanswered(walk);
	walk->n_twice = ts_state_machine_n_twice(walk->machine);
	if (walk->old_ns < segment->plan.warm_ns)
		walk->old_ns = segment->plan.warm_ns;
	segment->counts.old_ns = walk->old_ns;
	segment->n_awaited = ts_state_machine_n_awaited(walk->machine);
	walk->run->consumer->start(segment->consumer, &segment->counts);
}

/* Passes the borders up to a row's start. */
static int pass_borders(struct walk *walk, uint64_t start_ns)
{
	int r = 0;

	while (!r && walk->next_ns <= start_ns && walk->phase < NOTED) {
		switch (walk->phase) {
		case WARM:
			walk->segment->floor_id = walk->order->floor_id = walk->max_id;
			walk->phase = HIGH;
			break;
		case HIGH:
			/* An operation from before the segment still runs. */
			if (walk->old_ns > walk->segment->plan.from_ns)
				return TS_SEGMENTS_NONE;
			start_exact(walk);
			break;
		default:
			r = note_facts(walk);
			walk->phase = NOTED;
			break;
		}
		set_border(walk);
	}
	return r;
}

/* Returns the lowest and the highest operation id of a row; false: it has none. */
static bool find_ids(const struct ts_sbt_row *row, uint64_t *ret_low, uint64_t *ret_high)
{
	uint64_t nested;

	switch (row->type) {
	case TS_ROW_API:
		*ret_low = *ret_high = row->api->op_id;
		nested = row->api->nested_op_id;
		if (nested && nested < *ret_low)
			*ret_low = nested;
		if (nested > *ret_high)
			*ret_high = nested;
		return true;
	case TS_ROW_KERNEL:
		*ret_low = *ret_high = row->kernel->op_id;
		return true;
	case TS_ROW_MEMCPY:
		*ret_low = *ret_high = row->memcpy_->op_id;
		return true;
	case TS_ROW_MEMSET:
		*ret_low = *ret_high = row->memset_->op_id;
		return true;
	case TS_ROW_EVENT:
		*ret_low = *ret_high = row->event->op_id;
		return true;
	case TS_ROW_STREAM_WAIT:
		*ret_low = *ret_high = row->stream_wait->op_id;
		return true;
	case TS_ROW_GRAPH_LAUNCH:
		*ret_low = *ret_high = row->graph_launch->op_id;
		return true;
	case TS_ROW_SYNC:
		*ret_low = *ret_high = row->sync->op_id;
		return true;
	default:
		return false;
	}
}

static bool is_device(const struct ts_sbt_row *row)
{
	return row->type == TS_ROW_KERNEL || row->type == TS_ROW_MEMCPY ||
	       row->type == TS_ROW_MEMSET;
}

/* Notes an operation that begins before the segment. */
static int take_warm(struct walk *walk, const struct ts_state_op *op)
{
	bool is_old = walk->phase == WARM || op->op_id <= walk->segment->floor_id;

	if (is_old && op->end_ns > walk->old_ns)
		walk->old_ns = op->end_ns;
	walk->has_high |= !is_old;
	if (!is_old || !(op->unsure & TS_STATE_UNSURE_GRAPH))
		return 0;
	/*
	 * The launch of a node may lie before the warm-up. Then the stream of the launch lacks this
	 * operation. If all later operations of the stream are known, it is as any old operation.
	 */
	walk->order->has_lost_node = true;
	return walk->has_high ? TS_SEGMENTS_NONE : 0;
}

static int take_row(struct walk *walk, const struct ts_sbt_row *row)
{
	const struct ts_segments_consumer *consumer = walk->run->consumer;
	const bool is_cut = walk->order->is_cut;
	uint64_t low, high;
	struct ts_state_op op;
	int r;

	if (find_ids(row, &low, &high)) {
		if (is_cut && walk->phase >= EXACT && low <= walk->segment->floor_id)
			return TS_SEGMENTS_NONE;
		/* Nodes of this launch may have begun before the warm-up. */
		if (row->type == TS_ROW_GRAPH_LAUNCH && walk->has_high &&
		    low <= walk->segment->floor_id)
			return TS_SEGMENTS_NONE;
		if (high > walk->max_id)
			walk->max_id = high;
	}
	/* A wait for the host, or a wait of an unknown stream, counts for ever. */
	if (row->type == TS_ROW_STREAM_WAIT &&
	    (!row->stream_wait->event || row->stream_wait->stream == TS_NO_DEVICE))
		return TS_SEGMENTS_NONE;
	walk->segment->n_calls += row->type == TS_ROW_API;
	r = consumer->row ? consumer->row(walk->segment->consumer, row) : 0;
	r = r ? r : ts_state_machine_feed(walk->machine, row, &op);
	if (r != 1)
		return r;
	r = 0;
	if (walk->phase < EXACT)
		r = take_warm(walk, &op);
	else
		walk->segment->n_orphans += !!(op.unsure & TS_STATE_UNSURE_CALL);
	if (!r && walk->order->is_doubtful)
		r = TS_SEGMENTS_NONE;
	return r ? r : consumer->take(walk->segment->consumer, &op);
}

static int read_rows(struct walk *walk, struct ts_sbt_cursor *cursor)
{
	const uint64_t warm_ns = walk->segment->plan.warm_ns;
	struct ts_sbt_row row;
	uint32_t n = 0;
	int r = 0;

	while (!r) {
		uint64_t start_ns;

		r = ts_sbt_cursor_next(cursor, &row);
		if (r)
			break;
		if (!(++n % CHECK_ROWS) && __atomic_load_n(&walk->run->stop, __ATOMIC_RELAXED))
			return TS_SEGMENTS_NONE;
		start_ns = ts_row_start_ns(row.any);
		if (start_ns < warm_ns) {
			uint64_t end_ns = ts_row_end_ns(row.schema, row.any);

			if (is_device(&row) && end_ns > walk->old_ns)
				walk->old_ns = walk->segment->counts.begun_ns = end_ns;
			continue;
		}
		if (start_ns >= walk->next_ns)
			r = pass_borders(walk, start_ns);
		r = r ? r : take_row(walk, &row);
	}
	return r == TS_SBT_E_END ? 0 : r;
}

static int finish(struct walk *walk)
{
	struct segment *segment = walk->segment;
	struct ts_state_order *order = walk->order;
	int r = pass_borders(walk, UINT64_MAX - 1);

	if (!r && walk->phase < NOTED)
		r = note_facts(walk);
	segment->counts.n_unanswered = n_unanswered(walk) - walk->n_unanswered;
	segment->counts.n_twice = ts_state_machine_n_twice(walk->machine) - walk->n_twice;
	segment->has_given_up = ts_state_machine_n_given_up(walk->machine);
	segment->n_streams = order->n_streams;
	segment->n_markers = order->n_markers;
	segment->has_asked_all = order->is_cut && order->has_asked_all;
	for (size_t i = 0; !r && i < order->n_streams; i++) {
		const struct ts_state_order_stream *stream = &order->streams[i];

		segment->has_unknown_kind |= !stream->kind.is_known;
		if (!stream->is_asked && !(walk->run->options->needs_legacy && stream->is_missed))
			continue;
		if (TS_GROW(segment->asked, segment->n_asked_allocated, segment->n_asked + 1))
			return -ENOMEM;
		set_fact(walk, stream, &segment->asked[segment->n_asked++]);
	}
	return r;
}

/* With two legacy streams in one context, the last row of such a stream counts. */
static bool has_two_legacies(const struct ts_state_order *order)
{
	for (size_t i = 0; i < order->n_streams; i++)
		if (order->streams[i].kind.is_legacy &&
		    order->contexts[order->streams[i].of].legacy != i)
			return true;
	return false;
}

static int read_segment(struct run *run, struct ts_sbt_reader *reader, struct segment *segment)
{
	const bool is_first = segment == run->segments;
	const struct ts_sbt_cursor_options options = {
		.types = ts_segments_rows(run->options) | run->options->types,
		.session = run->options->session,
		.from_ns = segment->plan.warm_ns,
		.to_ns = segment->plan.end_ns ? segment->plan.end_ns - 1 : run->options->to_ns};
	ts_cleanup(ts_state_machine_freep) struct ts_state_machine *machine = NULL;
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct walk walk = {.run = run, .segment = segment};
	int r = ts_state_machine_new(&machine);

	r = r ? r : ts_state_machine_prepare(machine, reader, run->options->session);
	r = r ? r : run->consumer->create(run->data, is_first, machine, &segment->consumer);
	r = r ? r : ts_sbt_cursor_new(reader, &options, &cursor);
	if (r)
		return r;
	ts_sbt_cursor_limit(cursor, CURSOR_BYTES);
	walk.machine = machine;
	walk.order = ts_state_machine_order_of(machine);
	if (has_two_legacies(walk.order))
		return TS_SEGMENTS_NONE;
	walk.order->is_cut = !is_first;
	walk.order->floor_id = is_first ? 0 : UINT64_MAX;
	walk.phase = is_first ? EXACT : WARM;
	set_border(&walk);
	r = read_rows(&walk, cursor);
	return r ? r : finish(&walk);
}

/* ---- the threads ----------------------------------------------------------------------------- */

static void on_rows(uint32_t n_rows, void *data)
{
	__atomic_fetch_add(&((struct run *)data)->n_rows, n_rows, __ATOMIC_RELAXED);
}

/*
 * Waits until the segment may be read, because segments that are not joined need memory. Returns
 * false if the threads have to end. Holds the lock.
 */
static bool wait_for_turn(struct run *run, size_t i)
{
	while (!run->stop && i >= run->n_joined + (size_t)SHARE * run->n_threads)
		pthread_cond_wait(&run->changed, &run->lock);
	return !run->stop;
}

/* Segments have about equally many rows, so each thread has each n-th segment. */
static void *work(void *data)
{
	struct worker *worker = data;
	struct ts_sbt_reader *reader = NULL;
	struct run *run = worker->run;
	int r = ts_sbt_reader_twin(run->reader, &reader);

	if (!r) {
		ts_sbt_reader_watch(reader, on_rows, run);
		ts_sbt_reader_cancel(reader, &run->stop);
	}
	pthread_mutex_lock(&run->lock);
	for (size_t i = worker->number; i < run->n_segments && wait_for_turn(run, i);
	     i += run->n_threads) {
		struct segment *segment = &run->segments[i];

		pthread_mutex_unlock(&run->lock);
		r = r ? r : read_segment(run, reader, segment);
		pthread_mutex_lock(&run->lock);
		segment->r = r;
		segment->is_done = true;
		if (r)
			__atomic_store_n(&run->stop, 1, __ATOMIC_RELAXED);
		pthread_cond_broadcast(&run->changed);
	}
	pthread_mutex_unlock(&run->lock);
	ts_sbt_reader_twin_free(reader);
	return NULL;
}

/* ---- joining --------------------------------------------------------------------------------- */

static int get_fact(struct run *run, const struct fact *as, struct fact **ret_fact)
{
	uint64_t key = (uint64_t)as->context << 32 | as->stream;
	uint32_t at = ts_state_map_find(&run->fact_by_stream, 0, key);

	if (at == TS_STATE_MAP_NONE) {
		at = (uint32_t)run->n_facts;
		if (TS_GROW(run->facts, run->n_facts_allocated, run->n_facts + 1) ||
		    ts_state_map_set(&run->fact_by_stream, 0, key, at))
			return -ENOMEM;
		run->facts[run->n_facts++] = (struct fact){0};
	}
	*ret_fact = &run->facts[at];
	return 0;
}

/* Checks that the facts before the segment's warm-up have no influence on the segment. */
static int check(struct run *run, const struct segment *segment)
{
	struct fact *fact;

	if (segment == run->segments)
		return 0;
	if (run->max_id > segment->floor_id)
		return TS_SEGMENTS_NONE;
	for (size_t i = 0; i < segment->n_asked; i++) {
		if (get_fact(run, &segment->asked[i], &fact))
			return -ENOMEM;
		if (fact->n_waits || fact->has_point)
			return TS_SEGMENTS_NONE;
		if (run->options->needs_legacy && segment->asked[i].is_missed && fact->has_groups)
			return TS_SEGMENTS_NONE;
	}
	return 0;
}

/*
 * Counts the unanswered calls of the segments before. They stay so, because the segment has no row
 * with their ids. But calls may be given up, and a row without a call may answer a later call.
 */
static void count_carried(struct run *run, struct segment *segment)
{
	const uint64_t n_awaited = segment == run->segments ? 0 : segment->n_awaited;

	run->has_given_up |= segment->has_given_up;
	segment->counts.n_carried = run->n_unanswered - (int64_t)n_awaited;
	run->n_calls += segment->n_calls;
	if (run->n_orphans || run->has_given_up ||
	    (segment->counts.n_carried && run->n_calls >= TS_STATE_MAX_CALLS))
		segment->counts.n_carried = -1;
	run->n_unanswered += segment->counts.n_unanswered;
}

/* Computes the facts before the next segment's warm-up. */
static int add_facts(struct run *run, const struct segment *segment)
{
	for (size_t i = 0; i < segment->n_facts; i++) {
		const struct fact *it = &segment->facts[i];
		struct fact *fact;

		if (get_fact(run, it, &fact))
			return -ENOMEM;
		if (!it->is_fresh)
			*fact = (struct fact){.has_groups = true};
		fact->has_groups |= it->has_groups;
		fact->has_point |= it->has_point;
		fact->n_waits += it->n_waits;
		fact->n_markers += it->n_markers;
		if (fact->n_waits > MAX_WAITS || fact->n_markers > MAX_WAITS)
			return TS_SEGMENTS_NONE;
	}
	if (segment->max_id > run->max_id)
		run->max_id = segment->max_id;
	run->n_orphans += segment->n_orphans;
	run->n_streams += segment->n_streams;
	run->n_markers += segment->n_markers;
	run->has_asked_all |= segment->has_asked_all;
	run->has_unknown_kind |= segment->has_unknown_kind;
	return run->n_orphans > MAX_ORPHANS || run->n_streams > MAX_STREAMS ||
			       run->n_markers > MAX_MARKERS ||
			       (run->has_asked_all && run->has_unknown_kind)
		       ? TS_SEGMENTS_NONE
		       : 0;
}

static void free_segment(struct run *run, struct segment *segment)
{
	if (segment->consumer)
		run->consumer->free(segment->consumer);
	segment->consumer = NULL;
	free(ts_take_ptr(segment->facts));
	free(ts_take_ptr(segment->asked));
}

/* Waits for a segment, and reports progress. */
static int wait_for(struct run *run, const struct segment *segment)
{
	bool is_done, is_stopped;

	do {
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += POLL_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_mutex_lock(&run->lock);
		if (!segment->is_done && !run->stop)
			pthread_cond_timedwait(&run->changed, &run->lock, &until);
		is_done = segment->is_done;
		is_stopped = run->stop;
		pthread_mutex_unlock(&run->lock);
		ts_sbt_reader_report(run->reader,
				     __atomic_exchange_n(&run->n_rows, 0, __ATOMIC_RELAXED));
		if (is_stopped || ts_sbt_reader_is_cancelled(run->reader))
			return TS_SEGMENTS_NONE;
	} while (!is_done);
	return segment->r;
}

static int join_all(struct run *run)
{
	int r = 0;

	for (size_t i = 0; !r && i < run->n_segments; i++) {
		struct segment *segment = &run->segments[i];

		r = wait_for(run, segment);
		r = r ? r : check(run, segment);
		if (!r)
			count_carried(run, segment);
		r = r ? r : add_facts(run, segment);
		r = r ? r : run->consumer->join(run->data, segment->consumer, &segment->counts);
		if (r)
			break;
		free_segment(run, segment);
		pthread_mutex_lock(&run->lock);
		run->n_joined++;
		pthread_cond_broadcast(&run->changed);
		pthread_mutex_unlock(&run->lock);
	}
	return r;
}

static int run_threads(struct run *run, unsigned n_threads)
{
	struct worker workers[TS_SBT_MAX_THREADS];
	int r;

	/* A thread waits for the lock, and then finds the number of threads. */
	pthread_mutex_lock(&run->lock);
	while (run->n_threads < n_threads && run->n_threads < run->n_segments) {
		struct worker *worker = &workers[run->n_threads];

		*worker = (struct worker){.run = run, .number = run->n_threads};
		if (ts_sbt_thread_start(&worker->thread, work, worker))
			break;
		run->n_threads++;
	}
	pthread_mutex_unlock(&run->lock);
	r = run->n_threads ? join_all(run) : TS_SEGMENTS_NONE;
	pthread_mutex_lock(&run->lock);
	__atomic_store_n(&run->stop, 1, __ATOMIC_RELAXED);
	pthread_cond_broadcast(&run->changed);
	pthread_mutex_unlock(&run->lock);
	for (unsigned i = 0; i < run->n_threads; i++)
		pthread_join(workers[i].thread, NULL);
	return r;
}

int ts_segments_read(struct ts_sbt_reader *reader, const struct ts_segments_options *options,
		     const struct ts_segments_consumer *consumer, void *data)
{
	struct run run = {.reader = reader, .options = options, .consumer = consumer, .data = data};
	const unsigned n_threads = ts_sbt_reader_max_threads(reader);
	struct ts_segment_plan *plans = NULL;
	pthread_condattr_t attributes;
	int r;

	if (n_threads == 1)
		return TS_SEGMENTS_NONE;
	r = ts_segment_plans(reader, options, n_threads, &plans, &run.n_segments);
	if (!r)
		run.segments = calloc(run.n_segments, sizeof(*run.segments));
	for (size_t i = 0; run.segments && i < run.n_segments; i++)
		run.segments[i].plan = plans[i];
	free(plans);
	if (!run.segments)
		return TS_SEGMENTS_NONE;
	/* These functions of glibc do not fail with these attributes. */
	pthread_mutex_init(&run.lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&run.changed, &attributes);
	pthread_condattr_destroy(&attributes);
	r = run_threads(&run, n_threads);
	for (size_t i = 0; i < run.n_segments; i++)
		free_segment(&run, &run.segments[i]);
	pthread_cond_destroy(&run.changed);
	pthread_mutex_destroy(&run.lock);
	ts_state_map_deinit(&run.fact_by_stream);
	free(run.facts);
	free(run.segments);
	return r ? TS_SEGMENTS_NONE : 0;
}
