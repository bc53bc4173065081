/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Carries the state of an emulation from one window of a trace to the next one. emulate-windows.c
 * calls this file; it calls read.c, which makes programs.
 *
 * The state after a window is:
 *   threads   the end of each thread's last call, as recorded and as emulated. The time from it to
 *             the thread's next call is a task of the host, as between two calls of a window
 *   streams   the end of each stream's last item
 *   events    the end of each event's last record
 *   engines   the spans in which operations occupy an engine after the next window's first call
 * Streams, events and spans become items of kind SEED in the next window's program, which belong to
 * its first call, a pseudo call at the start of time.
 *
 * A window runs to its end before the next one begins. So an operation never delays operations of
 * earlier windows, although in one run it might have got an engine first.
 */
#include "replay/emulate/emulate-carry.h"

#include "proto/abi/grow.h"

#define NONE TS_EMULATE_NONE
/* The pseudo thread of the first call. Sessions count from 1. */
#define SEED_SESSION 0u
#define SEED_THREAD  UINT32_MAX

void ts_emulate_carry_deinit(struct ts_emulate_carry *carry)
{
	ts_state_map_deinit(&carry->thread_by_id);
	ts_state_map_deinit(&carry->queue_by_id);
	ts_state_map_deinit(&carry->event_by_handle);
	free(carry->threads);
	free(carry->queues);
	free(carry->events);
	free(carry->spans);
	free(carry->engines);
}

/* ---- the next builder ------------------------------------------------------------------------ */

static int follow_queues(struct ts_emulate_builder *builder,
			 const struct ts_emulate_builder *before)
{
	const struct ts_emulate_program *from = before->program;
	int r = 0;

	for (size_t i = 0; !r && i < from->n_queues; i++) {
		const struct ts_emulate_queue *queue = &from->queues[i];
		struct ts_emulate_queue *own;
		uint32_t at;

		r = ts_emulate_builder_queue(builder, queue->session, queue->context_id,
					     queue->stream, &at);
		if (r)
			return r;
		own = &builder->program->queues[at];
		own->device = queue->device;
		own->priority = queue->priority;
		own->kind = queue->kind;
		if (own->kind.is_legacy)
			builder->program->contexts[own->context].legacy = at;
		/* An operation without a call belongs to the first call, behind the stream. */
		if (before->last_calls[i] != NONE)
			builder->last_calls[at] = 0;
	}
	return r;
}

int ts_emulate_carry_follow(struct ts_emulate_builder *builder,
			    const struct ts_emulate_builder *before)
{
	const struct ts_emulate_program *from = before->program;
	const struct ts_emulate_recorded_call recorded = {.start_ns = before->base_ns,
							  .end_ns = before->base_ns};
	struct ts_emulate_call call = {.next = NONE,
				       .join = NONE,
				       .wait_of = NONE,
				       .flags = TS_EMULATE_CALL_PSEUDO};
	uint32_t at;
	int r = ts_emulate_builder_thread(builder, SEED_SESSION, SEED_THREAD, &call.thread);

	r = r ? r : ts_emulate_builder_add_call(builder, &call, &recorded);
	builder->n_seeds++;
	builder->program->n_pseudo++;
	for (size_t i = 0; !r && i < from->n_threads; i++)
		r = ts_emulate_builder_thread(builder, from->threads[i].session,
					      from->threads[i].thread, &at);
	r = r ? r : follow_queues(builder, before);
	for (size_t i = 0; !r && i < from->n_engines; i++)
		r = ts_emulate_builder_engine(builder, from->engines[i].session,
					      from->engines[i].device, from->engines[i].kind, &at);
	return r;
}

/* ---- after a run ----------------------------------------------------------------------------- */

static int take_thread(struct ts_emulate_carry *carry, const struct ts_emulate_program *program,
		       const struct ts_emulate_run *run, const struct ts_emulate_thread *thread)
{
	uint32_t at = ts_state_map_find(&carry->thread_by_id, thread->session, thread->thread);
	struct ts_emulate_carried_thread *its;

	if (thread->last_call == NONE ||
	    program->calls[thread->last_call].flags & TS_EMULATE_CALL_PSEUDO ||
	    !run->calls[thread->last_call].is_over)
		return 0;
	if (at == NONE) {
		at = (uint32_t)carry->n_threads;
		if (TS_GROW(carry->threads, carry->threads_allocated, at + 1) ||
		    ts_state_map_set(&carry->thread_by_id, thread->session, thread->thread, at))
			return -ENOMEM;
		carry->n_threads++;
	}
	its = &carry->threads[at];
	*its = (struct ts_emulate_carried_thread){
		.session = thread->session,
		.thread = thread->thread,
		.recorded_ns = program->recorded_calls[thread->last_call].end_ns,
		.end_ns = run->calls[thread->last_call].end_ns,
	};
	return 0;
}

/* Returns the state of a stream, which it makes; NULL: no memory. */
static struct ts_emulate_carried_item *get_queue(struct ts_emulate_carry *carry,
						 const struct ts_emulate_queue *queue)
{
	uint64_t key = (uint64_t)queue->context_id << 32 | queue->stream;
	uint32_t at = ts_state_map_find(&carry->queue_by_id, queue->session, key);

	if (at == NONE) {
		at = (uint32_t)carry->n_queues;
		if (TS_GROW(carry->queues, carry->queues_allocated, at + 1) ||
		    ts_state_map_set(&carry->queue_by_id, queue->session, key, at))
			return NULL;
		carry->n_queues++;
		carry->queues[at] = (struct ts_emulate_carried_item){.session = queue->session,
								     .context = queue->context_id,
								     .stream = queue->stream};
	}
	return &carry->queues[at];
}

/* Forgets the older half of the events. */
static int forget_events(struct ts_emulate_carry *carry)
{
	size_t n = carry->n_events / 2;

	memmove(carry->events, &carry->events[carry->n_events - n], n * sizeof(*carry->events));
	carry->n_events = n;
	ts_state_map_deinit(&carry->event_by_handle);
	carry->event_by_handle = (struct ts_state_map){0};
	for (uint32_t i = 0; i < n; i++)
		if (ts_state_map_set(&carry->event_by_handle, carry->events[i].session,
				     carry->events[i].event, i))
			return -ENOMEM;
	return 0;
}

static int take_record(struct ts_emulate_carry *carry, const struct ts_emulate_queue *queue,
		       const struct ts_emulate_recorded_item *recorded, uint64_t end_ns)
{
	uint32_t at = ts_state_map_find(&carry->event_by_handle, queue->session, recorded->bytes);

	if (at == NONE) {
		if (carry->n_events == TS_EMULATE_CARRY_EVENTS && forget_events(carry))
			return -ENOMEM;
		at = (uint32_t)carry->n_events;
		if (TS_GROW(carry->events, carry->events_allocated, at + 1) ||
		    ts_state_map_set(&carry->event_by_handle, queue->session, recorded->bytes, at))
			return -ENOMEM;
		carry->n_events++;
	}
	carry->events[at] = (struct ts_emulate_carried_item){.session = queue->session,
							     .context = queue->context_id,
							     .stream = queue->stream,
							     .event = recorded->bytes,
							     .recorded_ns = recorded->end_ns,
							     .end_ns = end_ns,
							     .has_item = true};
	return 0;
}

/* Takes the last item of each stream, and the last record of each event. */
static int take_items(struct ts_emulate_carry *carry, const struct ts_emulate_program *program,
		      const struct ts_emulate_run *run)
{
	ts_cleanup(ts_freep) uint64_t *ends = calloc(program->n_queues + 1, sizeof(*ends));
	ts_cleanup(ts_freep) uint32_t *last = calloc(program->n_queues + 1, sizeof(*last));
	int r = 0;

	if (!ends || !last)
		return -ENOMEM;
	for (uint32_t i = 0; !r && i < program->n_items; i++) {
		const struct ts_emulate_item *item = &program->items[i];

		if (item->kind == TS_EMULATE_SEED || item->flags & TS_EMULATE_ITEM_NODE ||
		    !run->items[i].is_over)
			continue;
		last[item->stream] = i + 1;
		ends[item->stream] = ts_emulate_more(ends[item->stream], run->items[i].end_ns);
		if (item->kind == TS_EMULATE_RECORD)
			r = take_record(carry, &program->queues[item->stream],
					&program->recorded_items[i], run->items[i].end_ns);
	}
	for (size_t i = 0; !r && i < program->n_queues; i++) {
		struct ts_emulate_carried_item *queue;

		if (!last[i])
			continue;
		queue = get_queue(carry, &program->queues[i]);
		if (!queue)
			return -ENOMEM;
		queue->has_item = true;
		queue->recorded_ns = program->recorded_items[last[i] - 1].end_ns;
		queue->end_ns = ends[i];
	}
	return r;
}

int ts_emulate_carry_take(struct ts_emulate_carry *carry, const struct ts_emulate_program *program,
			  const struct ts_emulate_run *run)
{
	int r = 0;

	for (size_t i = 0; !r && i < program->n_threads; i++)
		r = take_thread(carry, program, run, &program->threads[i]);
	carry->n_engines = 0;
	for (size_t i = 0; !r && i < program->n_engines; i++) {
		const struct ts_emulate_engine *engine = &program->engines[i];

		r = TS_GROW(carry->engines, carry->engines_allocated, carry->n_engines + 1);
		if (!r)
			carry->engines[carry->n_engines++] =
				(struct ts_emulate_carried_engine){engine->session, engine->device,
								   engine->kind, engine->capacity};
	}
	return r ? r : take_items(carry, program, run);
}

/* ---- engines --------------------------------------------------------------------------------- */

/* The spans before they are united; `engine` is an index of the run's program. */
struct busy {
	uint64_t start_ns, end_ns;
	uint32_t engine, demand, item, reserved;
};

static int compare_spans(const void *a, const void *b)
{
	const struct busy *x = a, *y = b;

	if (x->engine != y->engine)
		return x->engine < y->engine ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return x->item < y->item ? -1 : x->item > y->item;
}

/* Makes one span of n, with their mean demand. */
static int unite(struct ts_emulate_carry *carry, const struct ts_emulate_program *edited,
		 const struct busy *busy, size_t n)
{
	const struct ts_emulate_engine *engine = &edited->engines[busy->engine];
	const struct ts_emulate_queue *queue = &edited->queues[edited->items[busy->item].stream];
	uint64_t end_ns = 0;
	double used = 0;

	for (size_t i = 0; i < n; i++) {
		end_ns = ts_emulate_more(end_ns, busy[i].end_ns);
		used += (double)(busy[i].end_ns - busy[i].start_ns) * busy[i].demand;
	}
	if (end_ns == busy->start_ns)
		return 0;
	if (TS_GROW(carry->spans, carry->spans_allocated, carry->n_spans + 1))
		return -ENOMEM;
	used = used / (double)(end_ns - busy->start_ns) + 0.5;
	carry->spans[carry->n_spans++] = (struct ts_emulate_carried_span){
		.session = engine->session,
		.device = engine->device,
		.kind = engine->kind,
		.demand = n == 1     ? busy->demand
			  : used < 1 ? 1
				     : (uint32_t)(used < UINT32_MAX ? used : UINT32_MAX),
		.queue_session = queue->session,
		.context = queue->context_id,
		.stream = queue->stream,
		.start_ns = busy->start_ns,
		.end_ns = end_ns};
	return 0;
}

/* Takes the spans that end after from_ns. */
static int take_spans(struct ts_emulate_carry *carry, const struct ts_emulate_run *run,
		      uint64_t from_ns)
{
	const struct ts_emulate_program *edited = run->program;
	ts_cleanup(ts_freep) struct busy *busy = NULL;
	size_t n = 0, allocated = 0, n_its, step;
	int r = 0;

	for (uint32_t i = 0; i < edited->n_items; i++) {
		const struct ts_emulate_item *item = &edited->items[i];
		const struct ts_emulate_run_item *its = &run->items[i];

		if ((item->kind != TS_EMULATE_OP && item->kind != TS_EMULATE_SEED) ||
		    !item->demand || !its->is_over || its->end_ns <= from_ns)
			continue;
		if (TS_GROW(busy, allocated, n + 1))
			return -ENOMEM;
		busy[n++] =
			(struct busy){its->start_ns, its->end_ns, item->engine, item->demand, i, 0};
	}
	carry->n_spans = 0;
	if (n)
		qsort(busy, n, sizeof(*busy), compare_spans);
	for (size_t i = 0; !r && i < n; i += n_its) {
		for (n_its = 1; i + n_its < n && busy[i + n_its].engine == busy[i].engine;)
			n_its++;
		step = n_its / TS_EMULATE_CARRY_SPANS + 1;
		for (size_t k = 0; !r && k < n_its; k += step)
			r = unite(carry, edited, &busy[i + k], k + step > n_its ? n_its - k : step);
	}
	return r;
}

/* ---- seeds ----------------------------------------------------------------------------------- */

/* Returns the session's main thread, or NULL: the first one that made a call. */
static const struct ts_emulate_carried_thread *main_of(const struct ts_emulate_carry *carry,
						       uint32_t session)
{
	for (size_t i = 0; i < carry->n_threads; i++)
		if (carry->threads[i].session == session)
			return &carry->threads[i];
	return NULL;
}

static void seed_threads(const struct ts_emulate_carry *carry, struct ts_emulate_builder *builder)
{
	for (size_t i = 0; i < builder->program->n_threads; i++) {
		struct ts_emulate_thread *thread = &builder->program->threads[i];
		uint32_t at =
			ts_state_map_find(&carry->thread_by_id, thread->session, thread->thread);
		const struct ts_emulate_carried_thread *its =
			at != NONE ? &carry->threads[at] : main_of(carry, thread->session);

		if (!its)
			continue;
		thread->recorded_ns = its->recorded_ns;
		thread->start_ns = its->end_ns;
		thread->is_old = at != NONE;
	}
}

/* Returns the emulated start of the first call that the builder has. */
static uint64_t first_ns(const struct ts_emulate_builder *builder)
{
	const struct ts_emulate_program *program = builder->program;
	uint64_t from_ns = UINT64_MAX;

	for (size_t i = 0; i < program->n_calls; i++) {
		const struct ts_emulate_thread *thread =
			&program->threads[program->calls[i].thread];
		uint64_t start_ns = program->recorded_calls[i].start_ns - builder->base_ns;

		if (thread->session == SEED_SESSION)
			continue;
		if (start_ns > thread->recorded_ns)
			start_ns = start_ns - thread->recorded_ns + thread->start_ns;
		else
			start_ns =
				thread->start_ns -
				ts_emulate_less(thread->start_ns, thread->recorded_ns - start_ns);
		from_ns = ts_emulate_less(from_ns, start_ns);
	}
	return from_ns;
}

static int add_item(struct ts_emulate_builder *builder, const struct ts_emulate_carried_item *from)
{
	struct ts_emulate_row_item seed = {.its = {.kind = TS_EMULATE_SEED,
						   .type = from->event ? TS_ROW_EVENT : 0,
						   .launch_ns = from->end_ns,
						   .other = NONE,
						   .inner = NONE},
					   .recorded = {.start_ns = from->recorded_ns,
							.end_ns = from->recorded_ns,
							.bytes = from->event}};
	int r = ts_emulate_builder_queue(builder, from->session, from->context, from->stream,
					 &seed.its.stream);

	builder->n_seeds++;
	return r ? r : ts_emulate_builder_add_item(builder, &seed);
}

static int add_span(struct ts_emulate_builder *builder, const struct ts_emulate_carried_span *span)
{
	struct ts_emulate_row_item seed = {.its = {.kind = TS_EMULATE_SEED,
						   .launch_ns = span->start_ns,
						   .duration_ns = span->end_ns - span->start_ns,
						   .demand = span->demand,
						   .other = NONE,
						   .inner = NONE}};
	int r = ts_emulate_builder_queue(builder, span->queue_session, span->context, span->stream,
					 &seed.its.stream);

	r = r ? r
	      : ts_emulate_builder_engine(builder, span->session, span->device, span->kind,
					  &seed.its.engine);
	builder->n_seeds++;
	return r ? r : ts_emulate_builder_add_item(builder, &seed);
}

static int compare_ends(const void *a, const void *b)
{
	const struct ts_emulate_carried_item *const *x = a, *const *y = b;

	if ((*x)->end_ns != (*y)->end_ns)
		return (*x)->end_ns < (*y)->end_ns ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/* An edit may merge streams, so the stream whose last item ends last comes last. */
static int add_streams(const struct ts_emulate_carry *carry, struct ts_emulate_builder *builder)
{
	ts_cleanup(ts_freep) const struct ts_emulate_carried_item **order =
		calloc(carry->n_queues + 1, sizeof(*order));
	size_t n = 0;
	int r = order ? 0 : -ENOMEM;

	for (size_t i = 0; !r && i < carry->n_queues; i++)
		if (carry->queues[i].has_item)
			order[n++] = &carry->queues[i];
	if (n)
		qsort(order, n, sizeof(*order), compare_ends);
	for (size_t i = 0; !r && i < n; i++)
		r = add_item(builder, order[i]);
	return r;
}

static int seed_engines(const struct ts_emulate_carry *carry, struct ts_emulate_builder *builder)
{
	uint32_t at;
	int r = 0;

	for (size_t i = 0; !r && i < carry->n_engines; i++) {
		const struct ts_emulate_carried_engine *from = &carry->engines[i];

		r = ts_emulate_builder_engine(builder, from->session, from->device, from->kind,
					      &at);
		if (!r)
			builder->program->engines[at].capacity = from->capacity;
	}
	return r;
}

int ts_emulate_carry_seed(struct ts_emulate_carry *carry, const struct ts_emulate_run *run,
			  struct ts_emulate_builder *builder, uint64_t *ret_from_ns)
{
	uint64_t from_ns;
	int r;

	seed_threads(carry, builder);
	from_ns = first_ns(builder);
	r = take_spans(carry, run, from_ns);
	r = r ? r : seed_engines(carry, builder);
	/* The items of streams come last: they are the streams' last items. */
	for (size_t i = 0; !r && i < carry->n_spans; i++)
		r = add_span(builder, &carry->spans[i]);
	for (size_t i = 0; !r && i < carry->n_events; i++)
		r = add_item(builder, &carry->events[i]);
	r = r ? r : add_streams(carry, builder);
	if (!r)
		*ret_from_ns = from_ns;
	return r;
}
