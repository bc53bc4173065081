/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the parameters of the simulation from recorded times: see struct ts_emulate_calibration.
 * emulate-layout.c calls this file. For each operation, this file finds its cause (the operation,
 * call or engine that delayed it) and the time from the cause to the operation's start. For each
 * call, this file finds the cost without waiting, and the wake-up time. The caller passes calls in
 * the order of their start, so that, at each call, the streams hold the same items as in the trace.
 */
#include "replay/emulate/emulate-program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE TS_EMULATE_NONE
/* A longer delay without a known cause is counted as unexplained. */
#define UNEXPLAINED_NS UINT64_C(1000000)
/* Number of recent operations that each engine remembers. */
#define ENGINE_RING 16u
#define N_TYPES	    3u

/* Limits on samples per median, and on operations that are examined for samples. */
#define MAX_SAMPLES   65536u
#define MAX_LOOKED_AT (UINT64_C(1) << 20)

struct samples {
	uint64_t *at;
	size_t n, n_allocated;
	uint64_t median_ns;
};

enum wait_samples {
	WAIT_STREAM,
	WAIT_CONTEXT,
	WAIT_ITEM,
	WAIT_OWN,
	WAIT_KINDS
};

/* The recent operations of an engine. */
struct ring {
	uint64_t ends_ns[ENGINE_RING];
	uint32_t at[ENGINE_RING];
	uint64_t n;
};

struct ts_emulate_calibration {
	struct ts_emulate_program *program;
	uint32_t *tails;
	struct samples launch[N_TYPES], lag[N_TYPES], cost[WAIT_KINDS], wake[WAIT_KINDS];
	struct samples graph, kernel;
	uint32_t *eventful; /* calls that record an event or wait for one */
	size_t n_eventful, n_eventful_allocated;
	int error; /* set while sampling */
	struct ring *rings;
};

void ts_emulate_calibration_free(struct ts_emulate_calibration *calibration)
{
	if (!calibration)
		return;
	free(calibration->tails);
	free(calibration->rings);
	free(calibration->eventful);
	for (size_t i = 0; i < N_TYPES; i++) {
		free(calibration->launch[i].at);
		free(calibration->lag[i].at);
	}
	for (size_t i = 0; i < WAIT_KINDS; i++) {
		free(calibration->cost[i].at);
		free(calibration->wake[i].at);
	}
	free(calibration->graph.at);
	free(calibration->kernel.at);
	free(calibration);
}

/* ---- medians --------------------------------------------------------------------------------- */

static void sample(struct ts_emulate_calibration *calibration, struct samples *samples, uint64_t ns)
{
	int r;

	if (samples->n == MAX_SAMPLES)
		return;
	r = ts_largearray_grow(&samples->at, samples->n, &samples->n_allocated,
			       sizeof(*samples->at));
	if (r)
		calibration->error = r;
	else
		samples->at[samples->n++] = ns;
}

/*
 * Finds the median one byte at a time, highest byte first. Each round counts the values whose
 * higher bytes equal those of the median.
 */
static void find_median(struct samples *samples)
{
	size_t wanted = samples->n / 2;
	uint64_t found = 0;

	if (!samples->n)
		return;
	for (unsigned int shift = 56;; shift -= 8) {
		size_t counts[256] = {0};
		unsigned int byte = 0;

		for (size_t i = 0; i < samples->n; i++)
			if (shift == 56 || samples->at[i] >> (shift + 8) == found)
				counts[samples->at[i] >> shift & 255]++;
		while (wanted >= counts[byte])
			wanted -= counts[byte++];
		found = found << 8 | byte;
		if (!shift)
			break;
	}
	samples->median_ns = found;
}

static unsigned int type_of(const struct ts_emulate_item *item)
{
	return item->type == TS_ROW_KERNEL ? 0 : item->type == TS_ROW_MEMCPY ? 1 : 2;
}

static unsigned int wait_of(const struct ts_emulate_call *call)
{
	switch (call->wait) {
	case TS_EMULATE_WAIT_STREAM:
		return WAIT_STREAM;
	case TS_EMULATE_WAIT_CONTEXT:
		return WAIT_CONTEXT;
	case TS_EMULATE_WAIT_ITEM:
		return WAIT_ITEM;
	default:
		return WAIT_OWN;
	}
}

/* ---- what stood behind what ------------------------------------------------------------------ */

/* A visit of the predecessors of an item or a call. */
struct visit {
	const struct ts_emulate_program *program;
	uint32_t item, call; /* one of them; the other one is NONE */
	uint64_t over_ns;    /* latest end of the visited predecessors */
	bool is_found;	     /* an item was visited */
	bool is_loose;	     /* in the trace, a predecessor ended after the item started */
};

static inline void take_end(void *user, uint32_t before)
{
	struct visit *visit = user;
	const struct ts_emulate_program *program = visit->program;
	uint64_t end_ns = program->recorded_items[before].end_ns;

	if (visit->call != NONE ? end_ns > program->recorded_calls[visit->call].end_ns
				: !ts_emulate_is_behind(program, visit->item, before)) {
		visit->is_loose = true;
		return;
	}
	visit->is_found = true;
	visit->over_ns = ts_emulate_more(visit->over_ns, end_ns);
}

/* Samples the cost of a launch or of a graph launch. */
static void sample_launch(struct ts_emulate_calibration *calibration,
			  const struct ts_emulate_call *call, const struct ts_emulate_item *item,
			  uint64_t took_ns)
{
	if (item->kind == TS_EMULATE_OPEN)
		sample(calibration, &calibration->graph, took_ns);
	else if (item->kind == TS_EMULATE_OP && !call->wait &&
		 !(item->flags & (TS_EMULATE_ITEM_NODE | TS_EMULATE_ITEM_ORPHAN)))
		sample(calibration, &calibration->kernel, took_ns);
}

/*
 * Puts the call's items into their streams, and finds the end of each item's predecessors. Returns
 * true if the call records an event.
 */
static inline bool follow_items(struct ts_emulate_calibration *calibration,
				const struct ts_emulate_call *call,
				const struct ts_emulate_recorded_call *times)
{
	struct ts_emulate_program *program = calibration->program;
	uint32_t *tails = calibration->tails;
	struct ts_emulate_item *items = program->items;
	uint32_t end = call->first_item + call->n_items;
	bool has_record = false;

	for (uint32_t i = call->first_item; i < end; i++) {
		struct ts_emulate_item *item = &items[i];
		struct visit visit = {.program = program, .item = i, .call = NONE};

		ts_emulate_visit(program, tails, i, take_end, &visit);
		if (item->kind == TS_EMULATE_OP)
			item->lag_ns = visit.over_ns;
		else if (item->kind != TS_EMULATE_SEED)
			program->recorded_items[i].end_ns =
				ts_emulate_more(visit.over_ns, times->start_ns);
		if (visit.is_found)
			item->flags |= TS_EMULATE_ITEM_BOUND;
		if (ts_unlikely(visit.is_loose)) {
			item->flags |= TS_EMULATE_ITEM_LOOSE;
			program->doubts.n_before++;
		}
		if (!(item->flags & TS_EMULATE_ITEM_NODE))
			tails[item->stream] = i;
		sample_launch(calibration, call, item, times->end_ns - times->start_ns);
		has_record |= ts_emulate_is_record(item);
	}
	return has_record;
}

static void sample_wait(struct ts_emulate_calibration *calibration,
			const struct ts_emulate_call *call,
			const struct ts_emulate_recorded_call *recorded, uint64_t over_ns)
{
	if (over_ns > recorded->end_ns || call->flags & TS_EMULATE_CALL_GUESSED)
		return;
	if (over_ns > recorded->start_ns)
		sample(calibration, &calibration->wake[wait_of(call)], recorded->end_ns - over_ns);
	else if (call->wait != TS_EMULATE_WAIT_OWN)
		sample(calibration, &calibration->cost[wait_of(call)],
		       recorded->end_ns - recorded->start_ns);
}

/* The call waits for something. */
static void follow_wait(struct ts_emulate_calibration *calibration, uint32_t i)
{
	struct ts_emulate_program *program = calibration->program;
	struct ts_emulate_call *call = &program->calls[i];
	struct visit visit = {.program = program, .item = NONE, .call = i};

	if (call->wait_of != NONE || call->wait == TS_EMULATE_WAIT_OWN)
		ts_emulate_visit_waited(program, calibration->tails, call, take_end, &visit);
	/* Until set_call(), this field holds the end of the item that the call waited for. */
	call->wake_ns = visit.over_ns;
	sample_wait(calibration, call, &program->recorded_calls[i], visit.over_ns);
	if (!visit.is_loose)
		return;
	call->flags |= TS_EMULATE_CALL_LOOSE;
	if (!(call->flags & TS_EMULATE_CALL_GUESSED))
		program->doubts.n_not_waited++;
}

int ts_emulate_calibrate_call(struct ts_emulate_calibration *calibration, uint32_t at)
{
	const struct ts_emulate_call *call = &calibration->program->calls[at];
	bool is_eventful =
		follow_items(calibration, call, &calibration->program->recorded_calls[at]);
	int r;

	if (call->wait == TS_EMULATE_WAIT_ITEM)
		is_eventful = true;
	else if (call->wait)
		follow_wait(calibration, at);
	if (ts_likely(!is_eventful))
		return 0;
	r = ts_largearray_grow(&calibration->eventful, calibration->n_eventful,
			       &calibration->n_eventful_allocated, sizeof(*calibration->eventful));
	if (!r)
		calibration->eventful[calibration->n_eventful++] = at;
	return r;
}

/*
 * Finds the event that each call waited for, and samples the waits. The ends of all event records
 * are known.
 */
static int follow_events(struct ts_emulate_calibration *calibration)
{
	struct ts_emulate_program *program = calibration->program;
	int r = ts_emulate_find_events(program, calibration->eventful, calibration->n_eventful);

	for (size_t i = 0; !r && i < calibration->n_eventful; i++)
		if (program->calls[calibration->eventful[i]].wait == TS_EMULATE_WAIT_ITEM)
			follow_wait(calibration, calibration->eventful[i]);
	return r;
}

/* ---- operations ------------------------------------------------------------------------------ */

/*
 * Returns the time when the busy engine got room for the operation; 0: the engine had room at once.
 * *ret_full_ns: the time since which the engine had no room.
 */
static uint64_t engine_free_ns(const struct ts_emulate_program *program, const struct ring *ring,
			       const struct ts_emulate_item *item, uint64_t start_ns,
			       uint64_t *ret_full_ns)
{
	const struct ts_emulate_recorded_item *recorded = program->recorded_items;
	uint64_t n = ts_emulate_less(ring->n, ENGINE_RING);
	uint64_t free_ns = 0, demand = item->demand;

	for (uint64_t i = 0; i < n; i++)
		if (ring->ends_ns[i] <= start_ns)
			free_ns = ts_emulate_more(free_ns, ring->ends_ns[i]);
	if (!free_ns)
		return 0;
	for (uint64_t i = 0; i < n; i++) {
		const struct ts_emulate_recorded_item *other = &recorded[ring->at[i]];

		if (ring->ends_ns[i] < free_ns || other->start_ns >= free_ns)
			continue;
		demand += program->items[ring->at[i]].demand;
		*ret_full_ns = ts_emulate_more(*ret_full_ns, other->start_ns);
	}
	return demand > program->engines[item->engine].capacity ? free_ns : 0;
}

/* Finds whether the operation waited for its engine, and adds it to the engine's ring. */
static void ask_ring(struct ts_emulate_calibration *calibration, struct ts_emulate_item *item,
		     uint32_t at)
{
	const struct ts_emulate_recorded_item *its = &calibration->program->recorded_items[at];
	struct ring *ring = &calibration->rings[item->engine];
	uint64_t full_ns = 0, slot;

	item->engine_ns = engine_free_ns(calibration->program, ring, item, its->start_ns, &full_ns);
	item->launch_ns = full_ns;
	slot = ring->n++ % ENGINE_RING;
	ring->ends_ns[slot] = its->end_ns;
	ring->at[slot] = at;
}

/*
 * True if the operation started after its call began and after its predecessors ended, and no
 * engine delayed it longer than these two.
 */
static bool is_plain(const struct ts_emulate_item *item, uint64_t start_ns, uint64_t call_ns)
{
	return !(item->flags & (TS_EMULATE_ITEM_ORPHAN | TS_EMULATE_ITEM_NODE)) &&
	       start_ns >= call_ns && start_ns >= item->lag_ns &&
	       item->engine_ns <= ts_emulate_more(item->lag_ns, call_ns);
}

/*
 * Finds the operations that waited for an engine. Samples the launch latency of operations that
 * waited neither for an engine nor for a predecessor.
 */
static void follow_engines(struct ts_emulate_calibration *calibration)
{
	struct ts_emulate_program *program = calibration->program;
	const struct ts_emulate_recorded_item *recorded_items = program->recorded_items;
	const struct ts_emulate_recorded_call *recorded_calls = program->recorded_calls;
	const uint32_t *by_start = program->by_start;
	struct ts_emulate_item *items = program->items;

	for (size_t i = 0; i < program->n_ops; i++) {
		uint32_t at = by_start[i];
		struct ts_emulate_item *item = &items[at];
		uint64_t start_ns = recorded_items[at].start_ns;
		uint64_t call_ns = recorded_calls[item->call].start_ns;

		/*
		 * Until the cause is known, these fields hold times and not delays. If the engine
		 * has no limit, they keep the 0 of a new item.
		 */
		if (program->engines[item->engine].capacity)
			ask_ring(calibration, item, at);
		if (is_plain(item, start_ns, call_ns) && item->lag_ns <= call_ns)
			sample(calibration, &calibration->launch[type_of(item)],
			       start_ns - call_ns);
	}
	for (unsigned int i = 0; i < N_TYPES; i++)
		find_median(&calibration->launch[i]);
}

/*
 * Samples the lag (from the predecessors' end to the start) of operations that only predecessors
 * can have delayed.
 */
static void sample_lags(struct ts_emulate_calibration *calibration)
{
	struct ts_emulate_program *program = calibration->program;
	size_t n = ts_emulate_less(program->n_ops, MAX_LOOKED_AT);

	for (size_t i = 0; i < n; i++) {
		uint32_t at = program->by_start[i];
		const struct ts_emulate_item *item = &program->items[at];
		const struct ts_emulate_recorded_call *call = &program->recorded_calls[item->call];
		uint64_t start_ns = program->recorded_items[at].start_ns;
		uint64_t launched_ns = ts_emulate_add(call->start_ns,
						      calibration->launch[type_of(item)].median_ns);

		if (is_plain(item, start_ns, call->start_ns) && item->lag_ns >= launched_ns &&
		    item->lag_ns >= call->end_ns)
			sample(calibration, &calibration->lag[type_of(item)],
			       start_ns - item->lag_ns);
	}
	for (unsigned int i = 0; i < N_TYPES; i++)
		find_median(&calibration->lag[i]);
}

/*
 * Sets the operation's delays. The cause that delayed the operation in the trace gets the delay
 * that the trace shows. Every other cause gets the trace's median delay, or less if the operation
 * would otherwise start later than in the trace.
 */
static void set_op(struct ts_emulate_calibration *calibration, struct ts_emulate_item *item,
		   uint64_t start_ns, uint64_t call_ns)
{
	struct ts_emulate_program *program = calibration->program;
	unsigned int type = type_of(item);
	uint64_t launch_ns = calibration->launch[type].median_ns;
	uint64_t lag_ns = calibration->lag[type].median_ns;
	bool is_bound = item->flags & TS_EMULATE_ITEM_BOUND;
	uint64_t over_ns = item->lag_ns, free_ns = item->engine_ns;
	uint64_t full_ns = item->launch_ns;
	uint64_t by_launch_ns, by_other_ns, by_engine_ns;

	item->flags &= (uint8_t)~TS_EMULATE_ITEM_BOUND;
	if (start_ns < call_ns || (is_bound && start_ns < over_ns)) {
		program->doubts.n_before += start_ns < call_ns;
		start_ns = ts_emulate_more(start_ns, call_ns);
		if (is_bound)
			start_ns = ts_emulate_more(start_ns, over_ns);
	}
	if (item->flags & (TS_EMULATE_ITEM_NODE | TS_EMULATE_ITEM_ORPHAN) && is_bound) {
		/*
		 * For a graph node, and for an operation without a call, all of the delay counts as
		 * lag after the predecessors.
		 */
		item->lag_ns = start_ns - over_ns;
		item->launch_ns = 0;
		item->engine_ns = 0;
		return;
	}
	by_launch_ns = ts_emulate_add(call_ns, launch_ns);
	by_other_ns = is_bound ? ts_emulate_add(over_ns, lag_ns) : 0;
	by_engine_ns = free_ns;
	item->launch_ns = ts_emulate_less(launch_ns, start_ns - call_ns);
	item->lag_ns = is_bound ? ts_emulate_less(lag_ns, start_ns - over_ns) : lag_ns;
	item->engine_ns = 0;
	if (by_engine_ns > by_launch_ns && by_engine_ns > by_other_ns) {
		item->engine_ns = start_ns - free_ns;
		item->flags |= TS_EMULATE_ITEM_BOUND;
		/* The operation waited for the operation that occupied the engine. */
		full_ns = ts_emulate_less(full_ns + 1, free_ns);
		if (by_other_ns > by_launch_ns && by_other_ns < full_ns)
			item->lag_ns = full_ns - over_ns;
		else if (by_launch_ns >= by_other_ns && by_launch_ns < full_ns)
			item->launch_ns = full_ns - call_ns;
	} else if (by_other_ns > by_launch_ns) {
		item->lag_ns = start_ns - over_ns;
		item->flags |= TS_EMULATE_ITEM_BOUND;
	} else {
		item->launch_ns = start_ns - call_ns;
	}
	if (start_ns >
	    ts_emulate_add(ts_emulate_more(by_launch_ns, ts_emulate_more(by_other_ns, free_ns)),
			   UNEXPLAINED_NS))
		program->doubts.n_unexplained++;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void set_call(const struct ts_emulate_calibration *calibration, struct ts_emulate_call *call,
		     const struct ts_emulate_recorded_call *recorded)
{
	uint64_t took_ns = recorded->end_ns - recorded->start_ns, over_ns = call->wake_ns;
	uint64_t cost_ns, wake_ns;

	call->cost_ns = took_ns;
	call->wake_ns = 0;
	if (ts_likely(!call->wait))
		return;
	cost_ns = calibration->cost[wait_of(call)].median_ns;
	wake_ns = calibration->wake[wait_of(call)].median_ns;
	if (call->wait_of == NONE && call->wait != TS_EMULATE_WAIT_OWN) {
		call->wait = TS_EMULATE_WAIT_NONE;
		return;
	}
	if (call->flags & TS_EMULATE_CALL_GUESSED && call->flags & TS_EMULATE_CALL_LOOSE) {
		call->wait = TS_EMULATE_WAIT_NONE;
	} else if (over_ns > recorded->start_ns) {
		call->cost_ns = ts_emulate_less(cost_ns, took_ns);
		call->wake_ns = recorded->end_ns - over_ns;
		call->flags |= TS_EMULATE_CALL_WAITED;
	} else {
		call->wake_ns = ts_emulate_less(wake_ns, recorded->end_ns - over_ns);
	}
}

static void find_medians(struct ts_emulate_calibration *calibration)
{
	struct ts_emulate_program *program = calibration->program;

	for (unsigned int i = 0; i < WAIT_KINDS; i++) {
		find_median(&calibration->wake[i]);
		find_median(&calibration->cost[i]);
	}
	find_median(&calibration->graph);
	find_median(&calibration->kernel);
	/* If the trace has no graph launches, a graph launch costs as much as another launch. */
	program->launch_cost_ns = calibration->kernel.median_ns;
	program->graph_cost_ns =
		calibration->graph.n ? calibration->graph.median_ns : calibration->kernel.median_ns;
}

static void set(struct ts_emulate_calibration *calibration)
{
	struct ts_emulate_program *program = calibration->program;
	const struct ts_emulate_recorded_item *recorded_items = program->recorded_items;
	const struct ts_emulate_recorded_call *recorded_calls = program->recorded_calls;
	struct ts_emulate_item *items = program->items;
	struct ts_emulate_call *calls = program->calls;

	for (size_t i = 0; i < program->n_calls; i++) {
		uint32_t end = calls[i].first_item + calls[i].n_items;

		for (uint32_t k = calls[i].first_item; k < end; k++)
			if (items[k].kind == TS_EMULATE_OP)
				set_op(calibration, &items[k], recorded_items[k].start_ns,
				       recorded_calls[i].start_ns);
		set_call(calibration, &calls[i], &recorded_calls[i]);
	}
}

struct ts_emulate_calibration *ts_emulate_calibration_new(struct ts_emulate_program *program)
{
	ts_cleanup(ts_emulate_calibration_freep) struct ts_emulate_calibration *calibration =
		calloc(1, sizeof(*calibration));

	if (!calibration)
		return NULL;
	calibration->program = program;
	calibration->tails = malloc((program->n_queues + 1) * sizeof(*calibration->tails));
	calibration->rings = calloc(program->n_engines + 1, sizeof(*calibration->rings));
	if (!calibration->tails || !calibration->rings)
		return NULL;
	for (size_t i = 0; i < program->n_queues; i++)
		calibration->tails[i] = NONE;
	return ts_take_ptr(calibration);
}

int ts_emulate_calibrate_finish(struct ts_emulate_calibration *calibration)
{
	int r = follow_events(calibration);

	if (r)
		return r;
	follow_engines(calibration);
	sample_lags(calibration);
	find_medians(calibration);
	set(calibration);
	return calibration->error;
}
