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
#define IS_TIED	   (1u << 31)
/* Number of a thread's calls that over_before() examines. */
#define MAX_LOOKS 256u

/* ---- layout ---------------------------------------------------------------------------------- */

static uint64_t since_base(const struct ts_emulate_program *program, uint64_t time_ns)
{
	return ts_emulate_less(time_ns - program->base_ns, TS_EMULATE_MAX_NS);
}

/*
 * Copies a raw item to its place. placed[raw] receives the place + 1, and IS_TIED if the operation
 * began together with the previous one.
 */
static struct ts_emulate_item *place(struct ts_emulate_builder *builder, uint32_t raw,
				     uint32_t *placed)
{
	struct ts_emulate_program *program = builder->program;
	struct ts_emulate_item *item = &program->items[program->n_items];

	*item = builder->raws[raw];
	item->other = NONE;
	if (item->kind == TS_EMULATE_OP) {
		item->start_ns = since_base(program, item->start_ns);
		item->end_ns = since_base(program, item->end_ns);
		item->duration_ns = item->end_ns - item->start_ns;
		placed[raw] = (uint32_t)program->n_items + 1;
		placed[raw] |= item->flags & TS_EMULATE_ITEM_TIED ? IS_TIED : 0;
		item->flags &= (uint8_t)~TS_EMULATE_ITEM_TIED;
		program->n_ops++;
	}
	program->n_items++;
	return item;
}

/*
 * Sets the predecessors of a graph node. A trace does not record the dependencies of graph nodes,
 * so a node gets two predecessors of the same launch: the previous node of its stream, and the node
 * that ended last before it began.
 */
static void place_node(struct ts_emulate_program *program, uint32_t open, uint32_t at)
{
	struct ts_emulate_item *items = program->items, *item = &items[at];
	uint64_t latest_ns = 0;

	item->other = open;
	item->inner = NONE;
	for (uint32_t i = at; i-- > open + 1 && at - i <= NODES_BACK;) {
		if (item->inner == NONE && items[i].stream == item->stream)
			item->inner = i;
		if (items[i].end_ns <= item->start_ns && items[i].end_ns > latest_ns) {
			latest_ns = items[i].end_ns;
			item->other = i;
		}
	}
}

static void put_graph(struct ts_emulate_builder *builder, uint32_t first, uint32_t n,
		      const struct ts_emulate_item *launch, uint32_t *placed)
{
	struct ts_emulate_program *program = builder->program;
	const struct ts_emulate_item *raws = builder->raws;
	uint32_t open = (uint32_t)program->n_items++;

	program->items[open] = *launch;
	program->items[open].other = NONE;
	for (uint32_t i = 0, raw = first; i < n; i++, raw = raws[raw].other) {
		if (!(raws[raw].flags & TS_EMULATE_ITEM_NODE))
			continue;
		place(builder, raw, placed);
		place_node(program, open, (uint32_t)program->n_items - 1);
	}
	program->items[program->n_items] = *launch;
	program->items[program->n_items].kind = TS_EMULATE_CLOSE;
	program->items[program->n_items++].other = open;
	for (uint32_t i = 0, raw = first; i < n; i++, raw = raws[raw].other)
		if (!(raws[raw].flags & TS_EMULATE_ITEM_NODE) && raws[raw].kind != TS_EMULATE_OPEN)
			place(builder, raw, placed);
}

static void put_items(struct ts_emulate_builder *builder, struct ts_emulate_call *call,
		      uint32_t *placed)
{
	struct ts_emulate_program *program = builder->program;
	const struct ts_emulate_item *launch = NULL;
	uint32_t n = call->n_items, n_nodes = 0, first = call->first_item, raw = first;

	call->after = NONE;
	call->first_item = (uint32_t)program->n_items;
	if (!n)
		return;
	for (uint32_t i = 0; i < n; i++, raw = builder->raws[raw].other) {
		n_nodes += (builder->raws[raw].flags & TS_EMULATE_ITEM_NODE) != 0;
		if (builder->raws[raw].kind == TS_EMULATE_OPEN && !launch)
			launch = &builder->raws[raw];
	}
	raw = first;
	if (n_nodes && launch)
		put_graph(builder, first, n, launch, placed);
	else
		for (uint32_t i = 0; i < n; i++, raw = builder->raws[raw].other)
			if (builder->raws[raw].kind != TS_EMULATE_OPEN)
				place(builder, raw, placed)->flags &=
					(uint8_t)~TS_EMULATE_ITEM_NODE;
	call->n_items = (uint32_t)program->n_items - call->first_item;
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
			starts[n][0] = program->items[i].start_ns;
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

/*
 * Lists the operations by start, and those with equal starts by call. The rows are mostly sorted by
 * start already; sort_ops() handles other traces.
 */
static int order_ops(struct ts_emulate_builder *builder, const uint32_t *placed)
{
	struct ts_emulate_program *program = builder->program;
	size_t n = 0, run = 0;

	program->by_start = calloc(program->n_ops + 1, sizeof(*program->by_start));
	if (!program->by_start)
		return -ENOMEM;
	if (builder->has_late_ops)
		return sort_ops(program);
	for (size_t i = 0; i < builder->n_raws; i++) {
		if (!placed[i])
			continue;
		if (!(placed[i] & IS_TIED)) {
			if (n > run + 1)
				qsort(&program->by_start[run], n - run, sizeof(*program->by_start),
				      compare_items);
			run = n;
		}
		program->by_start[n++] = (placed[i] & ~IS_TIED) - 1;
	}
	if (n > run + 1)
		qsort(&program->by_start[run], n - run, sizeof(*program->by_start), compare_items);
	return 0;
}

/* ---- host ------------------------------------------------------------------------------------ */

static int compare_calls(const void *a, const void *b)
{
	return ts_emulate_compare_calls(a, b);
}

static void chain_call(struct ts_emulate_program *program, uint32_t i)
{
	struct ts_emulate_call *call = &program->calls[i], *before;
	struct ts_emulate_thread *thread = &program->threads[call->thread];

	if (thread->last_call == NONE) {
		thread->first_call = i;
		call->gap_ns = call->start_ns;
	} else {
		before = &program->calls[thread->last_call];
		before->next = i;
		if (call->start_ns >= before->end_ns)
			call->gap_ns = call->start_ns - before->end_ns;
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

		if (program->calls[of->calls[middle]].start_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low && n_looked < MAX_LOOKS; low--, n_looked++)
		if (program->calls[of->calls[low - 1]].end_ns <= time_ns)
			return of->calls[low - 1];
	return NONE;
}

/*
 * Infers which call of the main thread started the thread, and which call of the main thread waited
 * for the thread's end: see emulate.h.
 */
static void join_thread(struct ts_emulate_program *program, const struct thread_calls *main,
			uint32_t thread)
{
	struct ts_emulate_call *first = &program->calls[program->threads[thread].first_call];
	uint32_t last = program->threads[thread].last_call;
	uint64_t end_ns = program->calls[last].end_ns;
	uint32_t at = over_before(program, main, first->start_ns);
	struct ts_emulate_call *next;

	if (at != NONE) {
		first->after = at;
		first->after_gap_ns = first->start_ns - program->calls[at].end_ns;
		first->gap_ns = 0;
		program->doubts.n_joins++;
	}
	at = over_before(program, main, end_ns);
	if (at == NONE || program->calls[at].next == NONE)
		return;
	next = &program->calls[program->calls[at].next];
	if (next->start_ns < end_ns ||
	    (next->after != NONE && program->calls[next->after].end_ns >= end_ns))
		return;
	next->after = last;
	next->after_gap_ns = next->start_ns - end_ns;
	next->gap_ns = 0;
	program->doubts.n_joins++;
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
	ts_cleanup(ts_freep) uint32_t *calls =
		ts_largearray_alloc(program->n_calls + 1, sizeof(*calls));
	ts_cleanup(ts_freep) struct thread_calls *of = calloc(program->n_threads + 1, sizeof(*of));
	int r = mains && calls && of ? find_mains(program, mains) : -ENOMEM;

	if (r)
		return r;
	list_calls(program, mains, of, calls);
	for (uint32_t i = 0; i < program->n_threads; i++)
		if (mains[i] != NONE && mains[i] != i && begins_with_call(program, i))
			join_thread(program, &of[mains[i]], i);
	return 0;
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
 * Lets the call wait for its own copy if the copy is synchronous, or if the driver staged it,
 * because such a call returns when the copy ends.
 */
static void set_own_wait(const struct ts_emulate_program *program, struct ts_emulate_call *call)
{
	for (uint32_t i = call->first_item; i < call->first_item + call->n_items && !call->wait;
	     i++) {
		const struct ts_emulate_item *item = &program->items[i];

		if (item->kind != TS_EMULATE_OP || item->type != TS_ROW_MEMCPY ||
		    item->flags & (TS_EMULATE_ITEM_ORPHAN | TS_EMULATE_ITEM_NODE) ||
		    item->end_ns > call->end_ns)
			continue;
		if (!(item->flags & TS_EMULATE_ITEM_ASYNC) ||
		    item->flags & TS_EMULATE_ITEM_PAGEABLE)
			call->wait = TS_EMULATE_WAIT_OWN;
	}
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

/*
 * Finds the record for each of the call's waits for an event: the event's last record before the
 * wait.
 */
static int find_records(struct ts_emulate_program *program, struct ts_state_map *record_by_event,
			const struct ts_emulate_call *call)
{
	uint32_t session = program->threads[call->thread].session;
	int r = 0;

	for (uint32_t i = call->first_item; !r && i < call->first_item + call->n_items; i++) {
		struct ts_emulate_item *item = &program->items[i];

		if (item->kind == TS_EMULATE_RECORD) {
			r = ts_state_map_set(record_by_event, session, item->bytes, i);
		} else if (item->kind == TS_EMULATE_WAIT) {
			item->other = ts_state_map_find(record_by_event, session, item->bytes);
			if (item->other == NONE)
				program->doubts.n_without_record++;
		}
	}
	return r;
}

/* Lays out the calls in order. All steps of a call run together, while its data is in the cache. */
static int lay_out(struct ts_emulate_builder *builder)
{
	struct ts_emulate_program *program = builder->program;
	ts_cleanup(ts_state_map_deinit) struct ts_state_map record_by_event = {0};
	ts_cleanup(ts_freep) uint32_t *placed =
		ts_largearray_alloc_zeroed(builder->n_raws + 1, sizeof(*placed));
	int r = 0;

	/* A graph launch is one row and becomes two items. */
	program->items = ts_largearray_alloc(builder->n_raws + builder->n_opens + 1,
					     sizeof(*program->items));
	if (!placed || !program->items)
		return -ENOMEM;
	program->base_ns = builder->base_ns == UINT64_MAX ? 0 : builder->base_ns;
	program->end_ns = builder->end_ns ? since_base(program, builder->end_ns) : 0;
	program->n_ops = 0;
	for (size_t i = 0; !r && i < program->n_calls; i++) {
		struct ts_emulate_call *call = &program->calls[i];

		call->start_ns = since_base(program, call->start_ns);
		call->end_ns = since_base(program, call->end_ns);
		put_items(builder, call, placed);
		r = find_records(program, &record_by_event, call);
		chain_call(program, (uint32_t)i);
		set_own_wait(program, call);
		count(program, call, builder->options.has_stream);
	}
	program->doubts.n_ops = program->n_ops;
	r = r ? r : order_ops(builder, placed);
	free(builder->raws);
	builder->raws = NULL;
	return r;
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
	ts_cleanup(ts_freep) uint32_t *now_at = calloc(program->n_calls, sizeof(*now_at));
	if (!now_at)
		return -ENOMEM;
	/* `next` is not in use yet and keeps the old index. */
	for (size_t i = 0; i < program->n_calls; i++)
		program->calls[i].next = (uint32_t)i;
	qsort(program->calls, program->n_calls, sizeof(*program->calls), compare_calls);
	for (size_t i = 0; i < program->n_calls; i++) {
		now_at[program->calls[i].next] = (uint32_t)i;
		program->calls[i].next = NONE;
	}
	for (size_t i = 0; i < builder->n_raws; i++)
		builder->raws[i].call = now_at[builder->raws[i].call];
	for (size_t i = 0; i < builder->n_waits; i++)
		builder->waits[i].call = now_at[builder->waits[i].call];
	return 0;
}

int ts_emulate_builder_finish(struct ts_emulate_builder *builder,
			      struct ts_emulate_program **ret_program)
{
	struct ts_emulate_program *program = builder->program;
	int r;

	r = sort_calls(builder);
	for (size_t i = 0; !r && i < builder->n_waits; i++)
		set_wait(builder, &builder->waits[i]);
	if (!r)
		r = lay_out(builder);
	if (!r)
		r = join_threads(program);
	if (!r)
		r = ts_emulate_calibrate(program);
	if (r)
		return r;
	*ret_program = program;
	builder->program = NULL;
	return 0;
}
