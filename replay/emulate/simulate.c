/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The discrete-event simulation. emulate.c calls this file.
 *
 * A heap holds the events at later times: a thread makes its next call, an operation becomes ready
 * for its engine or starts, an operation ends. The heap has at most one event for each thread and
 * each operation in progress. All other effects follow at once: a call puts its items into streams,
 * and an item's end releases the items that wait for it.
 *
 * The life of an operation:
 *   issued     its call has started; n_pending counts its predecessors that have not ended
 *   let go     all predecessors ended: let_go()
 *   ready      its launch latency and its lag passed: EVENT_READY, ask_engine()
 *   queued     its engine has no room; wait_for_engine() orders by priority, then by arrival
 *   running    start(); an operation from the queue first waits for its engine delay: EVENT_START
 *   over       EVENT_END: leave_engine() starts queued operations, complete_item() releases items
 * An event record or wait takes no time: it goes from let go to over at once (settle()). An item of
 * an earlier window runs at its own time, without regard to the engine's room: EVENT_START.
 */
#include "replay/emulate/simulate.h"

#include "proto/abi/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE TS_EMULATE_NONE
/* Flag in an edge's `who`: it is a call, not an item. Indices of items and calls are smaller. */
#define IS_CALL	  (UINT32_C(1) << 31)

#define MAX_STUCK 64u

/* Order of events at one instant. */
enum event_kind {
	EVENT_END = 0,
	EVENT_START = 1, /* the operation occupies its engine already */
	EVENT_READY = 2,
	EVENT_CALL = 3,
};

struct event {
	uint64_t key; /* time << 2 | kind */
	uint32_t of;  /* item or thread */
	uint32_t reserved;
};

struct edge {
	uint32_t next, who;
};

enum thread_state {
	THREAD_OVER = 0,
	THREAD_ON_ITS_WAY, /* the start of its next call is an event in the heap */
	THREAD_IN_CALL,	   /* its current call waits for items */
	THREAD_HELD,	   /* its next call waits for another thread's call */
};

struct thread {
	uint32_t state; /* enum thread_state */
	uint32_t next_call;
	uint32_t n_waits;   /* unfinished items that its current call waits for */
	uint32_t waited_by; /* the last of these items to end; NONE: no item delayed the call */
	uint64_t waited_ns; /* the end of `waited_by` */
	/* earliest start of its next call, if only the thread's previous call delays it */
	uint64_t own_ns;
};

struct engine {
	uint64_t used;
	uint32_t head, tail; /* queue of ready items */
};

struct simulation {
	const struct ts_emulate_program *program;
	struct ts_emulate_run *run;
	struct event *heap;
	size_t n_heap, n_heap_allocated;
	/* The first event is happening. Mostly it causes another one, which takes its place. */
	bool is_first_over;
	struct edge *edges;
	uint32_t n_edges, free_edge;
	size_t n_edges_allocated;
	uint32_t *tails; /* last item of each stream */
	struct thread *threads;
	struct engine *engines;
	uint32_t *points; /* points without unfinished predecessors */
	size_t n_points, n_points_allocated;
	uint64_t now_ns;
	uint32_t waiting; /* the item or call being issued */
	uint32_t n_waiting;
	unsigned int n_stuck;
	bool is_loose; /* stuck too often: items no longer wait for their predecessors */
	int r;
};

/* ---- the heap -------------------------------------------------------------------------------- */

static inline bool is_before(const struct event *a, const struct event *b)
{
	return a->key != b->key ? a->key < b->key : a->of < b->of;
}

TS_HEAP_DEFINE(events, struct event, is_before)

static void push(struct simulation *s, uint64_t time_ns, enum event_kind kind, uint32_t of)
{
	struct event event = {ts_emulate_less(time_ns, TS_EMULATE_MAX_NS) << 2 | kind, of, 0};

	if (s->is_first_over) {
		s->is_first_over = false;
		events_fill(s->heap, s->n_heap, 0, event);
		return;
	}
	if (ts_unlikely(s->n_heap == s->n_heap_allocated)) {
		int r = ts_largearray_grow(&s->heap, s->n_heap, &s->n_heap_allocated,
					   sizeof(*s->heap));

		if (r) {
			s->r = r;
			return;
		}
	}
	events_push(s->heap, &s->n_heap, event);
}

/* ---- predecessors ---------------------------------------------------------------------------- */

static void stand_behind(struct simulation *s, uint32_t *list, uint32_t who)
{
	uint32_t at = s->free_edge;

	if (at) {
		s->free_edge = s->edges[at].next;
	} else {
		/* Index 0 means none. */
		int r = ts_largearray_grow(&s->edges, s->n_edges + 1, &s->n_edges_allocated,
					   sizeof(*s->edges));

		if (r) {
			s->r = r;
			return;
		}
		at = ++s->n_edges;
	}
	s->edges[at] = (struct edge){*list, who};
	*list = at;
}

/* True if the current item or call did not wait for `before` in the trace. */
static inline bool was_otherwise(const struct simulation *s, uint32_t before)
{
	const struct ts_emulate_program *program = s->program;
	uint32_t call = s->waiting & ~IS_CALL;

	if (s->waiting & IS_CALL)
		return ts_unlikely(program->calls[call].flags & TS_EMULATE_CALL_LOOSE) &&
		       program->recorded_items[before].end_ns >
			       program->recorded_calls[call].end_ns;
	return ts_unlikely(program->items[s->waiting].flags & TS_EMULATE_ITEM_LOOSE) &&
	       !ts_emulate_is_behind(program, s->waiting, before);
}

/* Makes the current item or call wait for the end of `before`. */
static inline void wait_for(void *user, uint32_t before)
{
	struct simulation *s = user;
	struct ts_emulate_run_item *other = &s->run->items[before];

	if (before == s->waiting || was_otherwise(s, before))
		return;
	if (!other->is_over) {
		if (s->is_loose)
			return;
		stand_behind(s, &other->behind, s->waiting);
		s->n_waiting++;
	} else if (s->waiting & IS_CALL) {
		struct thread *thread =
			&s->threads[s->program->calls[s->waiting & ~IS_CALL].thread];

		if (thread->waited_by == NONE || other->end_ns >= thread->waited_ns) {
			thread->waited_by = before;
			thread->waited_ns = other->end_ns;
		}
	} else {
		struct ts_emulate_run_item *item = &s->run->items[s->waiting];

		if (item->by == NONE || other->end_ns >= item->over_ns) {
			item->by = before;
			item->over_ns = other->end_ns;
		}
	}
}

/* ---- operations ------------------------------------------------------------------------------ */

static void start(struct simulation *s, uint32_t at)
{
	const struct ts_emulate_item *item = &s->program->items[at];
	struct ts_emulate_run_item *its = &s->run->items[at];

	its->start_ns = s->now_ns;
	its->end_ns = ts_emulate_add(s->now_ns, ts_emulate_duration_ns(s->program, at));
	if (item->kind == TS_EMULATE_SEED)
		s->engines[item->engine].used += item->demand;
	else
		ts_emulate_sum_op(s->run, at, its->start_ns, its->end_ns);
	push(s, its->end_ns, EVENT_END, at);
}

static bool has_capacity(const struct simulation *s, const struct ts_emulate_item *item)
{
	const struct engine *engine = &s->engines[item->engine];
	uint32_t capacity = s->program->engines[item->engine].capacity;

	return !capacity || !engine->used || engine->used + item->demand <= capacity;
}

/*
 * Returns the priority of a kernel: that of its stream, or for a graph's node that of the launch's
 * stream. The OPEN of a launch is its call's first item. Returns 0 for other items.
 */
static int32_t priority_of(const struct simulation *s, const struct ts_emulate_item *item)
{
	const struct ts_emulate_program *program = s->program;
	const struct ts_emulate_item *open;
	uint32_t stream = item->stream;

	if (item->kind != TS_EMULATE_OP || item->type != TS_ROW_KERNEL)
		return 0;
	if (item->flags & TS_EMULATE_ITEM_NODE) {
		open = &program->items[program->calls[item->call].first_item];
		stream = open->kind == TS_EMULATE_OPEN ? open->stream : stream;
	}
	return program->queues[stream].priority;
}

/* Queues the item behind those of equal or higher priority. */
static void wait_for_engine(struct simulation *s, struct engine *engine, uint32_t at,
			    int32_t priority)
{
	uint32_t next = engine->head, before = NONE;

	s->run->items[at].priority = priority;
	if (next != NONE &&
	    !ts_stream_is_more_urgent(priority, s->run->items[engine->tail].priority)) {
		before = engine->tail;
		next = NONE;
	}
	for (; next != NONE && !ts_stream_is_more_urgent(priority, s->run->items[next].priority);
	     next = s->run->items[next].next_ready)
		before = next;
	s->run->items[at].next_ready = next;
	if (before == NONE)
		engine->head = at;
	else
		s->run->items[before].next_ready = at;
	if (next == NONE)
		engine->tail = at;
}

static void ask_engine(struct simulation *s, uint32_t at)
{
	const struct ts_emulate_item *item = &s->program->items[at];
	struct engine *engine = &s->engines[item->engine];
	bool has_room = has_capacity(s, item);
	int32_t priority = 0;

	if (engine->head != NONE || !has_room)
		priority = priority_of(s, item);
	if (has_room &&
	    (engine->head == NONE ||
	     ts_stream_is_more_urgent(priority, s->run->items[engine->head].priority))) {
		engine->used += item->demand;
		start(s, at);
		return;
	}
	wait_for_engine(s, engine, at, priority);
}

static void leave_engine(struct simulation *s, uint32_t over)
{
	const struct ts_emulate_item *item = &s->program->items[over];
	struct engine *engine = &s->engines[item->engine];

	engine->used -= item->demand;
	while (engine->head != NONE) {
		uint32_t at = engine->head;
		const struct ts_emulate_item *next = &s->program->items[at];

		if (!has_capacity(s, next))
			return;
		engine->head = s->run->items[at].next_ready;
		engine->used += next->demand;
		s->run->items[at].by = over;
		s->run->items[at].by_kind = TS_EMULATE_BY_ENGINE;
		push(s, ts_emulate_add(s->now_ns, next->engine_ns), EVENT_START, at);
	}
}

/*
 * Computes when the item is ready, and asks for its engine then. A point ends at once. All
 * predecessors of the item must have ended.
 */
static void let_go(struct simulation *s, uint32_t at)
{
	const struct ts_emulate_item *item = &s->program->items[at];
	struct ts_emulate_run_item *its = &s->run->items[at];
	uint64_t call_ns = s->run->calls[item->call].start_ns, launched_ns, ready_ns = 0;

	its->is_let_go = true;
	if (item->kind == TS_EMULATE_SEED) {
		push(s, item->launch_ns, EVENT_START, at);
		return;
	}
	if (item->kind != TS_EMULATE_OP) {
		its->by_kind = its->by == NONE || its->over_ns < call_ns ? TS_EMULATE_BY_CALL
									 : TS_EMULATE_BY_ITEM;
		its->start_ns = its->end_ns = ts_emulate_more(call_ns, its->over_ns);
		s->r = s->r ? s->r
			    : ts_largearray_grow(&s->points, s->n_points, &s->n_points_allocated,
						 sizeof(*s->points));
		if (!s->r)
			s->points[s->n_points++] = at;
		return;
	}
	launched_ns = ts_emulate_add(call_ns, item->launch_ns);
	if (its->by != NONE)
		ready_ns = ts_emulate_add(its->over_ns, item->lag_ns);
	its->by_kind = ready_ns > launched_ns ? TS_EMULATE_BY_ITEM : TS_EMULATE_BY_CALL;
	ready_ns = ts_emulate_more(ready_ns, launched_ns);
	if (ready_ns > s->now_ns)
		push(s, ready_ns, EVENT_READY, at);
	else
		ask_engine(s, at);
}

static void return_call(struct simulation *s, uint32_t call);

static void complete_item(struct simulation *s, uint32_t at)
{
	struct ts_emulate_run_item *its = &s->run->items[at];
	uint32_t edge = its->behind, next;

	its->is_over = true;
	its->behind = 0;
	for (; edge; edge = next) {
		uint32_t who = s->edges[edge].who;

		next = s->edges[edge].next;
		s->edges[edge].next = s->free_edge;
		s->free_edge = edge;
		if (who & IS_CALL) {
			uint32_t call = who & ~IS_CALL;
			struct thread *thread = &s->threads[s->program->calls[call].thread];

			if (s->run->calls[call].is_over)
				continue;
			thread->waited_by = at;
			thread->waited_ns = ts_emulate_more(thread->waited_ns, its->end_ns);
			if (!--thread->n_waits)
				return_call(s, call);
		} else {
			struct ts_emulate_run_item *other = &s->run->items[who];

			if (other->is_let_go)
				continue;
			if (other->by == NONE || its->end_ns >= other->over_ns) {
				other->by = at;
				other->over_ns = its->end_ns;
			}
			if (!--other->n_pending)
				let_go(s, who);
		}
	}
}

/*
 * Completes the points that were let go. Points take no time but may form long chains, so this is a
 * loop and not a recursion.
 */
static void settle(struct simulation *s)
{
	while (s->n_points && !s->r)
		complete_item(s, s->points[--s->n_points]);
}

/* ---- the host -------------------------------------------------------------------------------- */

static void set_off(struct simulation *s, uint32_t thread_at, uint32_t call)
{
	struct thread *thread = &s->threads[thread_at];
	const struct ts_emulate_call *its = &s->program->calls[call];
	uint64_t at_ns = thread->own_ns;

	if (its->join != NONE) {
		const struct ts_emulate_join *join = &s->program->joins[its->join];
		struct ts_emulate_run_call *after = &s->run->calls[join->after];

		if (!after->is_over) {
			stand_behind(s, &after->behind, call);
			thread->state = THREAD_HELD;
			return;
		}
		if (ts_emulate_add(after->end_ns, join->gap_ns) > at_ns) {
			at_ns = ts_emulate_add(after->end_ns, join->gap_ns);
			s->run->calls[call].by_after = true;
		}
	}
	thread->state = THREAD_ON_ITS_WAY;
	push(s, at_ns, EVENT_CALL, thread_at);
}

static void return_call(struct simulation *s, uint32_t at)
{
	const struct ts_emulate_call *call = &s->program->calls[at];
	struct ts_emulate_run_call *its = &s->run->calls[at];
	struct thread *thread = &s->threads[call->thread];
	uint64_t cost_ns = call->flags & TS_EMULATE_CALL_SKIPPED ? 0 : call->cost_ns;
	uint32_t edge, next, other;

	its->end_ns = ts_emulate_add(its->start_ns, cost_ns);
	if (thread->waited_by != NONE) {
		uint64_t woken_ns = ts_emulate_add(thread->waited_ns, call->wake_ns);

		if (woken_ns > its->end_ns) {
			its->end_ns = woken_ns;
			its->waited_for = thread->waited_by;
		}
	}
	its->is_over = true;
	if (!(call->flags & (TS_EMULATE_CALL_PSEUDO | TS_EMULATE_CALL_SKIPPED)))
		ts_emulate_sum_call(s->run, at, its->start_ns, its->end_ns);
	for (edge = its->behind; edge; edge = next) {
		uint32_t who = s->edges[edge].who;

		next = s->edges[edge].next;
		s->edges[edge].next = s->free_edge;
		s->free_edge = edge;
		other = s->program->calls[who].thread;
		if (s->threads[other].state == THREAD_HELD && s->threads[other].next_call == who)
			set_off(s, other, who);
	}
	its->behind = 0;
	thread->next_call = call->next;
	thread->state = THREAD_OVER;
	if (call->next == NONE)
		return;
	s->run->calls[call->next].before = at;
	thread->own_ns =
		ts_emulate_add(its->end_ns,
			       ts_emulate_gap_ns(s->program, &s->program->calls[call->next]));
	set_off(s, call->thread, call->next);
}

static void make_call(struct simulation *s, uint32_t thread_at)
{
	struct thread *thread = &s->threads[thread_at];
	uint32_t at = thread->next_call;
	const struct ts_emulate_call *call = &s->program->calls[at];

	s->run->calls[at].start_ns = s->now_ns;
	s->run->calls[at].waited_for = NONE;
	for (uint32_t i = call->first_item; i < call->first_item + call->n_items; i++) {
		const struct ts_emulate_item *item = &s->program->items[i];

		s->waiting = i;
		s->n_waiting = 0;
		s->run->items[i].by = NONE;
		ts_emulate_visit(s->program, s->tails, i, wait_for, s);
		s->run->items[i].n_pending = s->n_waiting;
		s->run->items[i].is_issued = true;
		if (!(item->flags & TS_EMULATE_ITEM_NODE))
			s->tails[item->stream] = i;
		if (!s->n_waiting) {
			let_go(s, i);
			settle(s);
		}
	}
	thread->waited_by = NONE;
	thread->waited_ns = 0;
	s->waiting = at | IS_CALL;
	s->n_waiting = 0;
	if (!(call->flags & TS_EMULATE_CALL_SKIPPED))
		ts_emulate_visit_waited(s->program, s->tails, call, wait_for, s);
	thread->n_waits = s->n_waiting;
	thread->state = THREAD_IN_CALL;
	if (!s->n_waiting)
		return_call(s, at);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void happen(struct simulation *s, const struct event *event)
{
	s->now_ns = event->key >> 2;
	switch (event->key & 3) {
	case EVENT_END:
		leave_engine(s, event->of);
		complete_item(s, event->of);
		break;
	case EVENT_START:
		start(s, event->of);
		break;
	case EVENT_READY:
		ask_engine(s, event->of);
		break;
	default:
		make_call(s, event->of);
		break;
	}
	settle(s);
}

/*
 * Releases all waiting items. Called if the heap is empty: each waiting item waits for an item that
 * is never issued, or in a cycle. Returns true if an item was waiting.
 */
static bool let_go_of_items(struct simulation *s)
{
	bool any = false;

	for (uint32_t i = 0; i < s->program->n_items && !s->r; i++) {
		struct ts_emulate_run_item *its = &s->run->items[i];

		if (!its->is_issued || its->is_let_go)
			continue;
		any = true;
		s->run->n_broken++;
		its->n_pending = 0;
		let_go(s, i);
		settle(s);
	}
	return any;
}

static bool let_go_of_threads(struct simulation *s)
{
	bool any = false;

	for (uint32_t i = 0; i < s->program->n_threads && !s->r; i++) {
		struct thread *thread = &s->threads[i];

		if (thread->state != THREAD_IN_CALL && thread->state != THREAD_HELD)
			continue;
		any = true;
		s->run->n_broken++;
		if (thread->state == THREAD_IN_CALL) {
			return_call(s, thread->next_call);
		} else {
			thread->state = THREAD_ON_ITS_WAY;
			push(s, ts_emulate_more(thread->own_ns, s->now_ns), EVENT_CALL, i);
		}
	}
	return any;
}

/*
 * Continues a stuck simulation. Returns false if nothing was waiting. After MAX_STUCK calls, items
 * no longer wait for predecessors, so that this search does not dominate the cost.
 */
static bool unstick(struct simulation *s)
{
	if (++s->n_stuck >= MAX_STUCK)
		s->is_loose = true;
	return let_go_of_items(s) || let_go_of_threads(s);
}

static void simulation_deinit(struct simulation *s)
{
	free(s->heap);
	free(s->edges);
	free(s->tails);
	free(s->threads);
	free(s->engines);
	free(s->points);
}

static int prepare(struct simulation *s)
{
	const struct ts_emulate_program *program = s->program;

	s->tails = malloc((program->n_queues + 1) * sizeof(*s->tails));
	s->threads = calloc(program->n_threads + 1, sizeof(*s->threads));
	s->engines = calloc(program->n_engines + 1, sizeof(*s->engines));
	if (!s->tails || !s->threads || !s->engines)
		return -ENOMEM;
	for (size_t i = 0; i < program->n_queues; i++)
		s->tails[i] = NONE;
	/* Items of earlier windows name engine 0 even if the program has no engine. */
	for (size_t i = 0; i <= program->n_engines; i++)
		s->engines[i].head = NONE;
	for (uint32_t i = 0; i < program->n_threads; i++) {
		uint32_t first = program->threads[i].first_call;

		s->threads[i].next_call = first;
		if (first == NONE)
			continue;
		s->run->calls[first].before = NONE;
		s->threads[i].own_ns =
			ts_emulate_add(program->threads[i].start_ns,
				       ts_emulate_gap_ns(program, &program->calls[first]));
		set_off(s, i, first);
	}
	return s->r;
}

int ts_emulate_simulate(const struct ts_emulate_program *program, struct ts_emulate_run *run)
{
	ts_cleanup(simulation_deinit) struct simulation s = {.program = program, .run = run};
	int r = prepare(&s);
	uint64_t n = 0;

	if (r)
		return r;
	do {
		while (s.n_heap && !s.r) {
			struct event event = s.heap[0];

			s.is_first_over = true;
			happen(&s, &event);
			if (s.is_first_over)
				(void)events_pop(s.heap, &s.n_heap);
			s.is_first_over = false;
			if (++n % TS_EMULATE_STEP == 0 && program->step && !s.r)
				s.r = program->step(program->step_data, s.now_ns, program->end_ns);
		}
	} while (!s.r && unstick(&s));
	return s.r;
}
