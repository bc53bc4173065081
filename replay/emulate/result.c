/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the result of a run: makespan, busy times of streams and engines, and the critical path.
 * emulate.c calls this file. The path follows the causes back from the latest end.
 */
#include "replay/emulate/simulate.h"

#include "proto/abi/heap.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE TS_EMULATE_NONE

const char *ts_emulate_engine_name(uint32_t kind)
{
	static const char *const names[TS_EMULATE_ENGINE_KINDS] = {
		[TS_EMULATE_COMPUTE] = "compute", [TS_EMULATE_H2D] = "htod",
		[TS_EMULATE_D2H] = "dtoh",	  [TS_EMULATE_D2D] = "dtod",
		[TS_EMULATE_PEER] = "ptop",	  [TS_EMULATE_MEMSET] = "memset",
	};

	return kind < TS_EMULATE_ENGINE_KINDS ? names[kind] : NULL;
}

int ts_emulate_run_init_sums(struct ts_emulate_run *run, const struct ts_emulate_program *program)
{
	*run = (struct ts_emulate_run){.program = program};
	run->queues = calloc(program->n_queues + 1, sizeof(*run->queues));
	run->engines = calloc(program->n_engines + 1, sizeof(*run->engines));
	if (!run->queues || !run->engines)
		return -ENOMEM;
	run->from_ns = UINT64_MAX;
	run->last.item = run->last.call = NONE;
	return 0;
}

/* Takes the spare memory, which an earlier run of the same program used, or new memory. */
static void *take_zeroed(void **spare, size_t n, size_t bytes)
{
	return *spare ? memset(ts_take_ptr(*spare), 0, n * bytes)
		      : ts_largearray_alloc_zeroed(n, bytes);
}

int ts_emulate_run_init(struct ts_emulate_run *run, const struct ts_emulate_program *program)
{
	int r = ts_emulate_run_init_sums(run, program);

	if (r)
		return r;
	run->items = take_zeroed(&program->spare->items, program->n_items + 1, sizeof(*run->items));
	run->calls = take_zeroed(&program->spare->calls, program->n_calls + 1, sizeof(*run->calls));
	return run->items && run->calls ? 0 : -ENOMEM;
}

/* Gives memory back to the program, unless another run gave it some. */
static void give_back(void **spare, void *memory)
{
	if (!*spare)
		*spare = memory;
	else
		free(memory);
}

void ts_emulate_run_deinit(struct ts_emulate_run *run)
{
	if (run->program) {
		give_back(&run->program->spare->items, run->items);
		give_back(&run->program->spare->calls, run->calls);
	}
	free(run->queues);
	free(run->engines);
}

void ts_emulate_result_free(struct ts_emulate_result *result)
{
	if (!result)
		return;
	free(result->streams);
	free(result->engines);
	free(result->longest);
	free(result);
}

/* ---- figures --------------------------------------------------------------------------------- */

static int finish_streams(const struct ts_emulate_run *run, struct ts_emulate_result *result)
{
	const struct ts_emulate_program *program = run->program;

	result->streams = calloc(program->n_queues + 1, sizeof(*result->streams));
	if (!result->streams)
		return -ENOMEM;
	for (size_t i = 0; i < program->n_queues; i++) {
		const struct ts_emulate_queue *queue = &program->queues[i];

		if (!run->queues[i].n_ops)
			continue;
		result->streams[result->n_streams++] = (struct ts_emulate_stream){
			.session = queue->session,
			.device = queue->device,
			.context = queue->context_id,
			.stream = queue->stream,
			.n_ops = run->queues[i].n_ops,
			.busy_ns = run->queues[i].busy_ns,
		};
	}
	return 0;
}

int ts_emulate_finish(const struct ts_emulate_run *run, struct ts_emulate_result *result)
{
	const struct ts_emulate_program *program = run->program;

	result->makespan_ns = run->last.end_ns - ts_emulate_less(run->from_ns, run->last.end_ns);
	result->n_ops = run->n_ops;
	result->n_calls = run->n_calls;
	result->n_broken = run->n_broken;
	result->engines = calloc(program->n_engines + 1, sizeof(*result->engines));
	if (!result->engines)
		return -ENOMEM;
	for (size_t i = 0; i < program->n_engines; i++) {
		if (!run->engines[i].n_ops)
			continue;
		result->engines[result->n_engines] = program->engines[i];
		result->engines[result->n_engines].n_ops = run->engines[i].n_ops;
		result->engines[result->n_engines].busy_ns = run->engines[i].busy_ns;
		result->engines[result->n_engines++].used_ns = run->engines[i].used_ns;
	}
	return finish_streams(run, result);
}

/* ---- the path -------------------------------------------------------------------------------- */

static inline uint64_t length_ns(const struct ts_emulate_step *step)
{
	return step->to_ns - step->from_ns;
}

/* The order in which steps give way to longer ones: the shortest first, and the latest of those. */
static inline bool gives_way(const struct ts_emulate_step *a, const struct ts_emulate_step *b)
{
	return length_ns(a) != length_ns(b) ? length_ns(a) < length_ns(b) : a->from_ns > b->from_ns;
}

TS_HEAP_DEFINE(steps, struct ts_emulate_step, gives_way)

struct walk {
	const struct ts_emulate_run *run;
	struct ts_emulate_result *result; /* `longest` is a heap until the walk is over */
	size_t n_longest_allocated, max_steps;
	uint64_t time_ns;    /* the path from this time to the end is complete */
	uint32_t item, call; /* current position: one of them, or none */
	bool at_start;	     /* true: at the call's start; false: at its end */
	int r;
};

/* Describes the step from `from_ns` to the walk's time. */
static void describe(const struct walk *walk, uint32_t item, uint32_t call, enum ts_graph_part part,
		     uint64_t from_ns, struct ts_emulate_step *step)
{
	const struct ts_emulate_program *program = walk->run->program;

	*step = (struct ts_emulate_step){.from_ns = from_ns,
					 .to_ns = walk->time_ns,
					 .part = part,
					 .type = TS_ROW_API,
					 .stream = TS_NO_DEVICE};
	if (item != NONE) {
		const struct ts_emulate_item *its = &program->items[item];

		call = its->call;
		step->op_id = program->recorded_items[item].op_id;
		step->type = its->type;
		step->name = its->name;
		step->stream = program->queues[its->stream].stream;
	} else if (call != NONE) {
		step->op_id = program->recorded_calls[call].op_id;
		step->name = program->calls[call].name;
	}
	if (call != NONE) {
		const struct ts_emulate_call *its = &program->calls[call];

		step->session = program->threads[its->thread].session;
		if (!(its->flags & TS_EMULATE_CALL_PSEUDO))
			step->thread = program->threads[its->thread].thread;
	}
}

/* Keeps the step, which is not shorter than all kept ones, in place of the shortest one. */
static void keep(struct walk *walk, uint32_t item, uint32_t call, enum ts_graph_part part,
		 uint64_t from_ns)
{
	struct ts_emulate_result *result = walk->result;
	struct ts_emulate_step step;

	if (result->n_longest < walk->max_steps) {
		int r = ts_largearray_grow(&result->longest, result->n_longest,
					   &walk->n_longest_allocated, sizeof(*result->longest));

		if (r) {
			walk->r = r;
			return;
		}
	} else {
		(void)steps_pop(result->longest, &result->n_longest);
	}
	describe(walk, item, call, part, from_ns, &step);
	steps_push(result->longest, &result->n_longest, step);
}

static inline void step(struct walk *walk, uint32_t item, uint32_t call, enum ts_graph_part part,
			uint64_t from_ns)
{
	struct ts_emulate_result *result = walk->result;
	uint64_t ns = walk->time_ns - from_ns;

	if (from_ns >= walk->time_ns)
		return;
	result->n_path++;
	result->n_steps[part]++;
	result->parts_ns[part] += ns;
	/* This step is earlier than all kept ones. */
	if (ts_unlikely(result->n_longest < walk->max_steps ||
			(walk->max_steps && ns >= length_ns(&result->longest[0]))))
		keep(walk, item, call, part, from_ns);
	walk->time_ns = from_ns;
}

static void go_to_call(struct walk *walk, uint32_t call, bool at_start)
{
	walk->item = NONE;
	walk->call = call;
	walk->at_start = at_start;
}

static void go_to_item(struct walk *walk, uint32_t item)
{
	walk->item = item;
	walk->call = NONE;
}

/*
 * Goes from an item's end to the item, call or engine that delayed it. A point takes no time, so it
 * has no step.
 */
static inline void leave_item(struct walk *walk)
{
	const struct ts_emulate_item *item = &walk->run->program->items[walk->item];
	const struct ts_emulate_run_item *its = &walk->run->items[walk->item];
	uint32_t at = walk->item;
	bool is_op = item->kind == TS_EMULATE_OP;

	if (is_op)
		step(walk, at, NONE, item->type == TS_ROW_MEMCPY ? TS_GRAPH_COPY : TS_GRAPH_COMPUTE,
		     its->start_ns);
	if (its->by_kind == TS_EMULATE_BY_CALL || its->by == NONE) {
		go_to_call(walk, item->call, true);
		step(walk, is_op ? at : NONE, item->call, TS_GRAPH_LATENCY,
		     walk->run->calls[item->call].start_ns);
		return;
	}
	go_to_item(walk, its->by);
	step(walk, is_op ? at : its->by, NONE, TS_GRAPH_WAIT, walk->run->items[its->by].end_ns);
}

/* Goes from a call's end to its start, or to the item that it waited for. */
static inline void leave_call(struct walk *walk)
{
	const struct ts_emulate_run_call *its = &walk->run->calls[walk->call];
	uint32_t at = walk->call;

	if (its->waited_for != NONE) {
		go_to_item(walk, its->waited_for);
		step(walk, NONE, at, TS_GRAPH_IN_CALL, walk->run->items[its->waited_for].end_ns);
		return;
	}
	go_to_call(walk, at, true);
	step(walk, NONE, at, TS_GRAPH_IN_CALL, its->start_ns);
}

/*
 * Goes from a call's start to the end of the call that delayed it: the previous call of its thread,
 * or a call of another thread.
 */
static inline void leave_start(struct walk *walk)
{
	const struct ts_emulate_call *call = &walk->run->program->calls[walk->call];
	uint32_t at = walk->call;
	const struct ts_emulate_run_call *its = &walk->run->calls[at];
	uint32_t by = its->by_after ? walk->run->program->joins[call->join].after : its->before;

	go_to_call(walk, by, false);
	if (by != NONE)
		step(walk, NONE, at, TS_GRAPH_HOST_GAP, walk->run->calls[by].end_ns);
	else
		step(walk, NONE, at,
		     call->flags & TS_EMULATE_CALL_PSEUDO ? TS_GRAPH_UNKNOWN : TS_GRAPH_HOST_GAP,
		     0);
}

/* Steps of one path do not begin together. */
static int compare_steps(const void *a, const void *b)
{
	const struct ts_emulate_step *x = a, *y = b;

	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

int ts_emulate_find_path(const struct ts_emulate_run *run, size_t max_steps,
			 struct ts_emulate_result *result)
{
	const struct ts_emulate_program *program = run->program;
	struct walk walk = {.run = run,
			    .result = result,
			    .max_steps = max_steps,
			    .time_ns = run->last.end_ns,
			    .item = run->last.item,
			    .call = run->last.call};
	/* Each position is left once, because its cause happened earlier. */
	uint64_t n_left = 2 * (program->n_calls + program->n_items) + 2;

	/* Items of earlier windows are no points, but have no step: see leave_item(). */
	assert(!program->n_items || program->items[0].kind != TS_EMULATE_SEED);
	while (!walk.r && n_left-- && (walk.item != NONE || walk.call != NONE)) {
		if (walk.item != NONE)
			leave_item(&walk);
		else if (!walk.at_start)
			leave_call(&walk);
		else
			leave_start(&walk);
	}
	if (result->n_longest)
		qsort(result->longest, result->n_longest, sizeof(*result->longest), compare_steps);
	return walk.r;
}
