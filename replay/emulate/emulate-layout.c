/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts the collected rows in order. read.c calls this file through ts_emulate_builder_finish().
 * This file arranges items by call, graph launches between OPEN and CLOSE, waits with their
 * targets, and threads with inferred starts and joins. Finally it calls calibrate.c.
 */
#include "replay/emulate/emulate-builder.h"

#include "proto/abi/vendor/cupti_activity.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE TS_EMULATE_NONE
/* Number of earlier nodes of the same graph launch that may be a node's predecessor. */
#define NODES_BACK 64u
/* Number of a thread's calls that over_before() examines. */
#define MAX_LOOKS 256u

/* ---- layout ---------------------------------------------------------------------------------- */

/* placed[i]: the final place + 1 of the item at place i. 0: the program does not need the item. */
#define IS_MOVED (1u << 30)
#define PLACE	 (IS_MOVED - 1)
_Static_assert(3 * TS_EMULATE_MAX_ITEMS < PLACE, "a place and its flag are one number");
_Static_assert(!(PLACE & (TS_EMULATE_START_TIED | TS_EMULATE_START_COPY)), "flags of by_start");

/* The order of the items, before they are moved. */
struct layout {
	struct ts_emulate_program *program;
	uint32_t *placed; /* NULL: the items have their final places */
	uint32_t *closes; /* the places of CLOSE, in the order of the graph launches */
	uint32_t n_closes, n_items;
	struct ts_state_map record_by_event; /* the last record of each event */
};

static void layout_deinit(struct layout *layout)
{
	free(layout->placed);
	free(layout->closes);
	ts_state_map_deinit(&layout->record_by_event);
}

static uint64_t since_base(const struct ts_emulate_program *program, uint64_t time_ns)
{
	return ts_emulate_less(time_ns - program->base_ns, TS_EMULATE_MAX_NS);
}

static void place(struct layout *layout, uint32_t row)
{
	layout->placed[row] = ++layout->n_items;
}

/*
 * Sets the predecessors of a graph node. A trace does not record the dependencies of graph nodes,
 * so a node gets two predecessors of the same launch: the previous node of its stream, and the node
 * that ended last before it began.
 */
static void place_node(struct ts_emulate_program *program, uint32_t open, uint32_t at)
{
	const struct ts_emulate_recorded_item *recorded = program->recorded_items;
	struct ts_emulate_item *items = program->items, *item = &items[at];
	uint64_t latest_ns = 0;

	item->other = open;
	item->inner = NONE;
	for (uint32_t i = at; i-- > open + 1 && at - i <= NODES_BACK;) {
		if (item->inner == NONE && items[i].stream == item->stream)
			item->inner = i;
		if (recorded[i].end_ns <= recorded[at].start_ns && recorded[i].end_ns > latest_ns) {
			latest_ns = recorded[i].end_ns;
			item->other = i;
		}
	}
}

/* Places OPEN, the nodes, CLOSE, and then the other items of the call. */
static void place_graph(struct layout *layout, uint32_t first, uint32_t n, uint32_t launch)
{
	const struct ts_emulate_item *items = layout->program->items;

	place(layout, launch);
	for (uint32_t i = 0, row = first; i < n; i++, row = items[row].other)
		if (items[row].flags & TS_EMULATE_ITEM_NODE)
			place(layout, row);
	layout->closes[layout->n_closes++] = layout->n_items++;
	for (uint32_t i = 0, row = first; i < n; i++, row = items[row].other)
		if (!(items[row].flags & TS_EMULATE_ITEM_NODE) &&
		    items[row].kind != TS_EMULATE_OPEN)
			place(layout, row);
}

/* Places the items of a call. Without a launch or without nodes, there is no graph. */
static void place_items(struct layout *layout, struct ts_emulate_call *call)
{
	struct ts_emulate_item *items = layout->program->items;
	uint32_t n = call->n_items, n_nodes = 0, launch = NONE, first = call->first_item;

	call->join = NONE;
	call->first_item = layout->n_items;
	for (uint32_t i = 0, row = first; i < n; i++, row = items[row].other) {
		n_nodes += (items[row].flags & TS_EMULATE_ITEM_NODE) != 0;
		if (items[row].kind == TS_EMULATE_OPEN && launch == NONE)
			launch = row;
	}
	if (n_nodes && launch != NONE) {
		place_graph(layout, first, n, launch);
	} else {
		for (uint32_t i = 0, row = first; i < n; i++, row = items[row].other) {
			items[row].flags &= (uint8_t)~TS_EMULATE_ITEM_NODE;
			if (items[row].kind != TS_EMULATE_OPEN)
				place(layout, row);
		}
	}
	call->n_items = layout->n_items - call->first_item;
}

/*
 * Moves an item to its place, then the item that was there, and so on, until a place is free. Rows
 * are nearly in the order of calls, so most moves are short.
 */
static void move_from(const struct layout *layout, uint32_t row, size_t n_rows)
{
	struct ts_emulate_item *items = layout->program->items, item = items[row];
	struct ts_emulate_recorded_item *recorded = layout->program->recorded_items;
	struct ts_emulate_recorded_item its = recorded[row];
	uint32_t to = layout->placed[row] & PLACE;

	layout->placed[row] |= IS_MOVED;
	while (to) {
		uint32_t at = to - 1;
		struct ts_emulate_item other = items[at];
		struct ts_emulate_recorded_item others = recorded[at];

		items[at] = item;
		recorded[at] = its;
		if (at >= n_rows || layout->placed[at] & IS_MOVED)
			return;
		layout->placed[at] |= IS_MOVED;
		to = layout->placed[at] & PLACE;
		item = other;
		its = others;
	}
}

static void move_items(const struct layout *layout, size_t n_rows)
{
	for (uint32_t row = 0; row < n_rows; row++)
		if (!(layout->placed[row] & IS_MOVED) && (layout->placed[row] & PLACE) != row + 1)
			move_from(layout, row, n_rows);
}

static int compare_starts(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	if (x[0] != y[0])
		return x[0] < y[0] ? -1 : 1;
	return x[1] < y[1] ? -1 : x[1] > y[1];
}

/* Sorts operations by start. Needed only if the trace has them in another order. */
static int sort_ops(struct ts_emulate_program *program)
{
	uint64_t(*starts)[2] = calloc(program->n_ops + 1, sizeof(*starts));
	size_t n = 0;

	if (!starts)
		return -ENOMEM;
	for (size_t i = 0; i < program->n_items; i++)
		if (program->items[i].kind == TS_EMULATE_OP) {
			starts[n][0] = program->recorded_items[i].start_ns;
			starts[n++][1] = i;
		}
	qsort(starts, n, sizeof(*starts), compare_starts);
	for (size_t i = 0; i < n; i++)
		program->by_start[i] = (uint32_t)starts[i][1];
	free(starts);
	return 0;
}

static int compare_items(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The places in `by_start` that copies and sets may have. */
struct copies {
	uint32_t *at;
	size_t n, n_allocated;
};

static void copies_deinit(struct copies *copies)
{
	free(copies->at);
}

static int add_copy(struct copies *copies, size_t at)
{
	int r = ts_largearray_grow(&copies->at, copies->n, &copies->n_allocated,
				   sizeof(*copies->at));

	if (!r)
		copies->at[copies->n++] = (uint32_t)at;
	return r;
}

/* Sorts operations with equal starts, which are at [from, to) in `by_start`, by call. */
static int sort_ties(struct ts_emulate_program *program, size_t from, size_t to,
		     struct copies *copies)
{
	bool has_copies = false;
	int r = 0;

	if (to < from + 2)
		return 0;
	qsort(&program->by_start[from], to - from, sizeof(*program->by_start), compare_items);
	/* A copy may now be anywhere among them. */
	for (; copies->n && copies->at[copies->n - 1] >= from; copies->n--)
		has_copies = true;
	for (size_t i = from; !r && has_copies && i < to; i++)
		r = add_copy(copies, i);
	return r;
}

/*
 * Completes the list of operations by start: final places, and operations with equal starts by
 * call. The rows are mostly sorted by start already; sort_ops() handles other traces.
 */
static int order_ops(const struct ts_emulate_builder *builder, const struct layout *layout,
		     struct copies *copies)
{
	struct ts_emulate_program *program = builder->program;
	const uint32_t *placed = layout->placed;
	size_t run = 0;
	int r = 0;

	if (builder->has_late_ops)
		return sort_ops(program);
	for (size_t i = 0; !r && i < program->n_ops; i++) {
		uint32_t entry = program->by_start[i], at = entry & PLACE;

		if (!(entry & TS_EMULATE_START_TIED)) {
			r = sort_ties(program, run, i, copies);
			run = i;
		}
		program->by_start[i] = placed ? (placed[at] & PLACE) - 1 : at;
		if (!r && entry & TS_EMULATE_START_COPY)
			r = add_copy(copies, i);
	}
	return r ? r : sort_ties(program, run, program->n_ops, copies);
}

/* ---- host ------------------------------------------------------------------------------------ */

static void chain_call(struct ts_emulate_program *program, uint32_t i)
{
	const struct ts_emulate_recorded_call *recorded = program->recorded_calls;
	struct ts_emulate_call *call = &program->calls[i];
	struct ts_emulate_thread *thread = &program->threads[call->thread];
	uint32_t before = thread->last_call;

	if (before == NONE) {
		thread->first_call = i;
		if (recorded[i].start_ns >= thread->recorded_ns)
			call->gap_ns = recorded[i].start_ns - thread->recorded_ns;
		else if (!thread->is_old)
			/* The thread began before the last call of the main thread had ended. */
			thread->start_ns -=
				ts_emulate_less(thread->start_ns,
						thread->recorded_ns - recorded[i].start_ns);
	} else {
		program->calls[before].next = i;
		if (recorded[i].start_ns >= recorded[before].end_ns)
			call->gap_ns = recorded[i].start_ns - recorded[before].end_ns;
		else
			program->doubts.n_backwards++;
	}
	thread->last_call = i;
}

/* The calls of one thread, ordered by start. */
struct thread_calls {
	uint32_t *calls;
	size_t n;
};

/*
 * Returns the thread's call with the latest end at or before `time_ns`, or NONE. Calls of a thread
 * do not overlap, unless the trace is malformed.
 */
static uint32_t over_before(const struct ts_emulate_program *program, const struct thread_calls *of,
			    uint64_t time_ns)
{
	size_t low = 0, high = of->n, n_looked = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (program->recorded_calls[of->calls[middle]].start_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low && n_looked < MAX_LOOKS; low--, n_looked++)
		if (program->recorded_calls[of->calls[low - 1]].end_ns <= time_ns)
			return of->calls[low - 1];
	return NONE;
}

/* Lets `call` start after `after`, and no longer after the previous call of its thread. */
static int join(struct ts_emulate_program *program, uint32_t call, uint32_t after)
{
	struct ts_emulate_call *its = &program->calls[call];
	int r;

	if (its->join == NONE) {
		r = ts_largearray_grow(&program->joins, program->n_joins,
				       &program->n_joins_allocated, sizeof(*program->joins));
		if (r)
			return r;
		its->join = (uint32_t)program->n_joins++;
	}
	program->joins[its->join] = (struct ts_emulate_join){
		.gap_ns = program->recorded_calls[call].start_ns -
			  program->recorded_calls[after].end_ns,
		.after = after,
	};
	its->gap_ns = 0;
	program->doubts.n_joins++;
	return 0;
}

/*
 * Infers which call of the main thread started the thread, and which call of the main thread waited
 * for the thread's end: see emulate.h.
 */
static int join_thread(struct ts_emulate_program *program, const struct thread_calls *main,
		       uint32_t thread)
{
	const struct ts_emulate_recorded_call *recorded = program->recorded_calls;
	uint32_t first = program->threads[thread].first_call;
	uint32_t last = program->threads[thread].last_call;
	uint64_t end_ns = recorded[last].end_ns;
	uint32_t at = program->threads[thread].is_old
			      ? NONE
			      : over_before(program, main, recorded[first].start_ns);
	uint32_t next;
	int r = at != NONE ? join(program, first, at) : 0;

	if (r || program->threads[thread].goes_on)
		return r;
	at = over_before(program, main, end_ns);
	next = at != NONE ? program->calls[at].next : NONE;
	if (next == NONE || recorded[next].start_ns < end_ns ||
	    (program->calls[next].join != NONE &&
	     recorded[program->joins[program->calls[next].join].after].end_ns >= end_ns))
		return 0;
	return join(program, next, last);
}

static bool begins_with_call(const struct ts_emulate_program *program, uint32_t thread)
{
	uint32_t first = program->threads[thread].first_call;

	return first != NONE && !(program->calls[first].flags & TS_EMULATE_CALL_PSEUDO);
}

/*
 * Finds the main thread of each thread's session: the first thread of the session that begins with
 * a real call, not a pseudo call. The array has the threads in the order in which their first rows
 * were read. A thread before the main thread in the array gets NONE.
 */
static int find_mains(const struct ts_emulate_program *program, uint32_t *ret_mains)
{
	ts_cleanup(ts_state_map_deinit) struct ts_state_map main_by_session = {0};
	int r = 0;

	for (uint32_t i = 0; !r && i < program->n_threads; i++) {
		uint32_t session = program->threads[i].session;

		ret_mains[i] = ts_state_map_find(&main_by_session, session, 0);
		if (ret_mains[i] != NONE || !begins_with_call(program, i))
			continue;
		ret_mains[i] = i;
		r = ts_state_map_set(&main_by_session, session, 0, i);
	}
	return r;
}

/* Lists the calls of each session's main thread in one array. */
static void list_calls(const struct ts_emulate_program *program, const uint32_t *mains,
		       struct thread_calls *of, uint32_t *calls)
{
	size_t n = 0;

	for (size_t i = 0; i < program->n_calls; i++)
		of[program->calls[i].thread].n++;
	for (uint32_t i = 0; i < program->n_threads; i++) {
		size_t n_its = mains[i] == i ? of[i].n : 0;

		of[i] = (struct thread_calls){&calls[n], 0};
		n += n_its;
	}
	for (uint32_t i = 0; i < program->n_calls; i++) {
		uint32_t thread = program->calls[i].thread;

		if (mains[thread] == thread)
			of[thread].calls[of[thread].n++] = i;
	}
}

static int join_threads(struct ts_emulate_program *program)
{
	ts_cleanup(ts_freep) uint32_t *mains = calloc(program->n_threads + 1, sizeof(*mains));
	ts_cleanup(ts_freep) struct thread_calls *of = calloc(program->n_threads + 1, sizeof(*of));
	ts_cleanup(ts_freep) uint32_t *calls = NULL;
	int r = mains && of ? find_mains(program, mains) : -ENOMEM;

	for (uint32_t i = 0; !r && i < program->n_threads; i++) {
		if (mains[i] == NONE || mains[i] == i || !begins_with_call(program, i))
			continue;
		if (!calls) {
			calls = ts_largearray_alloc(program->n_calls + 1, sizeof(*calls));
			if (!calls)
				return -ENOMEM;
			list_calls(program, mains, of, calls);
		}
		r = join_thread(program, &of[mains[i]], i);
	}
	return r;
}

static void set_wait(struct ts_emulate_builder *builder, const struct ts_emulate_waited *waited)
{
	struct ts_emulate_call *call = &builder->program->calls[waited->call];
	uint64_t key = (uint64_t)waited->context << 32 | waited->stream;
	uint32_t queue = ts_state_map_find(&builder->queue_by_id, waited->session, key);
	uint32_t context =
		ts_state_map_find(&builder->context_by_id, waited->session, waited->context);

	call->flags |= TS_EMULATE_CALL_SYNC;
	if (waited->type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE) {
		/*
		 * ts_emulate_find_events() finds the item later, when the ends of all records are
		 * known.
		 */
		call->wait = TS_EMULATE_WAIT_ITEM;
		call->wait_of = waited->event;
	} else if (waited->type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE) {
		if (queue == NONE)
			return;
		call->wait = TS_EMULATE_WAIT_STREAM;
		call->wait_of = queue;
	} else if (context != NONE) {
		call->wait = TS_EMULATE_WAIT_CONTEXT;
		call->wait_of = context;
	}
}

/*
 * True if the call waits for this operation of its own: a copy that is synchronous, or that the
 * driver staged, because such a call returns when the copy ends.
 */
static bool is_own_wait(const struct ts_emulate_item *item,
			const struct ts_emulate_recorded_item *its, uint64_t end_ns)
{
	return item->type == TS_ROW_MEMCPY &&
	       !(item->flags & (TS_EMULATE_ITEM_ORPHAN | TS_EMULATE_ITEM_NODE)) &&
	       its->end_ns <= end_ns &&
	       (!(item->flags & TS_EMULATE_ITEM_ASYNC) || item->flags & TS_EMULATE_ITEM_PAGEABLE);
}

static void count(struct ts_emulate_program *program, struct ts_emulate_call *call, bool has_stream)
{
	if (call->flags & TS_EMULATE_CALL_PSEUDO)
		return;
	if (call->flags & TS_EMULATE_CALL_AWAITED && !call->n_items) {
		if (has_stream) {
			call->flags |= TS_EMULATE_CALL_SKIPPED;
			return;
		}
		program->doubts.n_without_device++;
	}
	program->doubts.n_calls++;
}

/* Notes an event record; finds the record of a wait: the event's last record before the wait. */
static int find_record(struct layout *layout, uint32_t at)
{
	struct ts_emulate_program *program = layout->program;
	struct ts_emulate_item *item = &program->items[at];
	uint32_t session = program->queues[item->stream].session;
	uint64_t event = program->recorded_items[at].bytes;

	if (ts_emulate_is_record(item))
		return ts_state_map_set(&layout->record_by_event, session, event, at);
	if (item->kind != TS_EMULATE_WAIT)
		return 0;
	item->other = ts_state_map_find(&layout->record_by_event, session, event);
	program->doubts.n_without_record += item->other == NONE;
	return 0;
}

/* Makes the CLOSE of a graph launch, at its place behind the nodes. Returns the place. */
static uint32_t close_graph(struct layout *layout, uint32_t open)
{
	struct ts_emulate_program *program = layout->program;
	uint32_t close = layout->closes[layout->n_closes++];

	program->items[close] = program->items[open];
	program->items[close].kind = TS_EMULATE_CLOSE;
	program->recorded_items[close] = program->recorded_items[open];
	return close;
}

/*
 * Completes the items of a call at their places: times from the program's start, no links, CLOSE
 * after the nodes.
 */
static int put_items(struct layout *layout, struct ts_emulate_call *call, uint64_t call_end_ns)
{
	struct ts_emulate_program *program = layout->program;
	struct ts_emulate_item *items = program->items;
	struct ts_emulate_recorded_item *recorded = program->recorded_items;
	uint32_t first = call->first_item, end = first + call->n_items, close = NONE;
	/* Items that keep their places belong to no graph. */
	uint8_t kept = (uint8_t) ~(layout->placed ? 0 : TS_EMULATE_ITEM_NODE);
	int r = 0;

	if (first < end && items[first].kind == TS_EMULATE_OPEN)
		close = close_graph(layout, first);
	for (uint32_t i = first; !r && i < end; i++) {
		items[i].other = i == close ? first : NONE;
		items[i].flags &= kept;
		if (items[i].kind != TS_EMULATE_OP) {
			r = find_record(layout, i);
			continue;
		}
		recorded[i].start_ns = since_base(program, recorded[i].start_ns);
		recorded[i].end_ns = since_base(program, recorded[i].end_ns);
		items[i].duration_ns = recorded[i].end_ns - recorded[i].start_ns;
		if (items[i].flags & TS_EMULATE_ITEM_NODE)
			place_node(program, first, i);
		if (!call->wait && is_own_wait(&items[i], &recorded[i], call_end_ns))
			call->wait = TS_EMULATE_WAIT_OWN;
	}
	return r;
}

/* Makes room for one more item for each graph launch: a launch is one row and becomes two items. */
static int make_space(struct ts_emulate_builder *builder)
{
	struct ts_emulate_program *program = builder->program;
	size_t n = builder->n_places + builder->n_opens;
	int r = 0;

	if (n > builder->n_items_allocated)
		r = ts_largearray_resize(&program->items, n, &builder->n_items_allocated,
					 sizeof(*program->items));
	if (!r && n > builder->n_recorded_items_allocated)
		r = ts_largearray_resize(&program->recorded_items, n,
					 &builder->n_recorded_items_allocated,
					 sizeof(*program->recorded_items));
	return r;
}

static int order_items(struct ts_emulate_builder *builder, struct layout *layout)
{
	struct ts_emulate_program *program = builder->program;
	int r = make_space(builder);

	if (r)
		return r;
	layout->placed = ts_largearray_alloc_zeroed(builder->n_places + 1, sizeof(*layout->placed));
	layout->closes = calloc(builder->n_opens + 1, sizeof(*layout->closes));
	if (!layout->placed || !layout->closes)
		return -ENOMEM;
	for (size_t i = 0; i < program->n_calls; i++)
		place_items(layout, &program->calls[i]);
	move_items(layout, builder->n_places);
	layout->n_closes = 0;
	return 0;
}

/* True if the items already have the order of their calls, and no graph launch adds a CLOSE. */
static bool is_in_order(const struct ts_emulate_builder *builder)
{
	return !builder->is_scattered && !builder->has_late_calls && !builder->n_opens &&
	       builder->n_items == builder->n_places;
}

/* Completes a call whose items are in order already. */
static void keep_items(struct layout *layout, struct ts_emulate_call *call)
{
	call->join = NONE;
	call->first_item = layout->n_items;
	layout->n_items += call->n_items;
}

/*
 * Lays out the calls in order, and begins the calibration. All steps of a call run together, while
 * its data is in the cache.
 */
static int lay_out(struct ts_emulate_builder *builder, struct ts_emulate_calibration *calibration,
		   struct copies *copies)
{
	struct ts_emulate_program *program = builder->program;
	ts_cleanup(layout_deinit) struct layout layout = {.program = program};
	bool in_order = is_in_order(builder);
	int r = in_order ? 0 : order_items(builder, &layout);

	program->n_items = in_order ? builder->n_places : layout.n_items;
	program->base_ns = builder->base_ns == UINT64_MAX ? 0 : builder->base_ns;
	program->end_ns = builder->end_ns ? since_base(program, builder->end_ns) : 0;
	for (uint32_t i = 0; !r && i < program->n_calls; i++) {
		struct ts_emulate_call *call = &program->calls[i];
		struct ts_emulate_recorded_call *recorded = &program->recorded_calls[i];

		recorded->start_ns = since_base(program, recorded->start_ns);
		recorded->end_ns = since_base(program, recorded->end_ns);
		if (in_order)
			keep_items(&layout, call);
		r = put_items(&layout, call, recorded->end_ns);
		chain_call(program, i);
		count(program, call, builder->options.has_stream);
		r = r ? r : ts_emulate_calibrate_call(calibration, i);
	}
	program->doubts.n_ops = program->n_ops;
	return r ? r : order_ops(builder, &layout, copies);
}

/* A call before calls are sorted. */
struct call_order {
	struct ts_emulate_recorded_call recorded;
	struct ts_emulate_call its;
	uint32_t at;
};

static int compare_calls(const void *a, const void *b)
{
	const struct call_order *x = a, *y = b;
	int order = ts_emulate_compare_calls(&x->recorded, &y->recorded);

	return order ? order : x->at < y->at ? -1 : x->at > y->at;
}

/*
 * Sorts calls by start and updates the items, which refer to calls. Calls may be out of order,
 * because a pseudo call is added late.
 */
static int sort_calls(struct ts_emulate_builder *builder)
{
	struct ts_emulate_program *program = builder->program;

	if (!builder->has_late_calls)
		return 0;
	ts_cleanup(ts_freep) uint32_t *now_at =
		ts_largearray_alloc(program->n_calls, sizeof(*now_at));
	ts_cleanup(ts_freep) struct call_order *order =
		ts_largearray_alloc(program->n_calls, sizeof(*order));
	if (!now_at || !order)
		return -ENOMEM;
	for (uint32_t i = 0; i < program->n_calls; i++)
		order[i] = (struct call_order){program->recorded_calls[i], program->calls[i], i};
	qsort(order, program->n_calls, sizeof(*order), compare_calls);
	for (uint32_t i = 0; i < program->n_calls; i++) {
		now_at[order[i].at] = i;
		program->recorded_calls[i] = order[i].recorded;
		program->calls[i] = order[i].its;
	}
	for (size_t i = 0; i < builder->n_places; i++)
		if (program->items[i].kind)
			program->items[i].call = now_at[program->items[i].call];
	for (size_t i = 0; i < builder->n_waits; i++)
		builder->waits[i].call = now_at[builder->waits[i].call];
	return 0;
}

int ts_emulate_builder_finish(struct ts_emulate_builder *builder,
			      struct ts_emulate_program **ret_program)
{
	struct ts_emulate_program *program = builder->program;
	ts_cleanup(ts_emulate_calibration_freep) struct ts_emulate_calibration *calibration =
		ts_emulate_calibration_new(program);
	ts_cleanup(copies_deinit) struct copies copies = {0};
	int r = calibration ? sort_calls(builder) : -ENOMEM;

	for (size_t i = 0; !r && i < builder->n_waits; i++)
		set_wait(builder, &builder->waits[i]);
	r = r ? r : lay_out(builder, calibration, &copies);
	r = r ? r : join_threads(program);
	r = r ? r : ts_emulate_find_engines(builder, copies.at, copies.n);
	r = r ? r : ts_emulate_calibrate_finish(calibration);
	if (r)
		return r;
	*ret_program = program;
	builder->program = NULL;
	return 0;
}
