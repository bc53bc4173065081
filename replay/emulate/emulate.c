/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a program: copies it, applies the edits (edit.c), simulates it (simulate.c) and computes the
 * result (result.c). It also computes the same figures from the recorded times. replay/report calls
 * this file.
 */
#include "replay/emulate/simulate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *from, size_t n, size_t bytes)
{
	void *copy = ts_largearray_alloc(n + 1, bytes);

	if (copy && n)
		memcpy(copy, from, n * bytes);
	return copy;
}

static int copy_contexts(const struct ts_emulate_program *program, struct ts_emulate_program *copy)
{
	copy->contexts = calloc(program->n_contexts + 1, sizeof(*copy->contexts));
	if (!copy->contexts)
		return -ENOMEM;
	for (; copy->n_contexts < program->n_contexts; copy->n_contexts++) {
		const struct ts_emulate_context *from = &program->contexts[copy->n_contexts];
		struct ts_emulate_context *to = &copy->contexts[copy->n_contexts];

		*to = *from;
		to->streams = copy_of(from->streams, from->n_streams, sizeof(*to->streams));
		to->n_allocated = from->n_streams;
		if (!to->streams)
			return -ENOMEM;
	}
	return 0;
}

int ts_emulate_copy(const struct ts_emulate_program *program, const struct ts_emulate_edit *edits,
		    size_t n_edits, struct ts_emulate_program **ret_copy)
{
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *copy =
		calloc(1, sizeof(*copy));
	int r = 0;

	if (!copy)
		return -ENOMEM;
	copy->base_ns = program->base_ns;
	copy->end_ns = program->end_ns;
	copy->n_calls = program->n_calls;
	copy->n_pseudo = program->n_pseudo;
	copy->n_items = program->n_items;
	copy->n_joins = program->n_joins;
	copy->is_copy = true;
	for (size_t i = 0; i < n_edits; i++)
		copy->changes |= ts_emulate_edit_changes(&edits[i]);
	copy->spare = program->spare;
	copy->recorded_calls = program->recorded_calls;
	copy->recorded_items = program->recorded_items;
	copy->n_queues = copy->n_queues_allocated = program->n_queues;
	copy->n_threads = program->n_threads;
	copy->n_engines = program->n_engines;
	copy->n_ops = program->n_ops;
	copy->n_engines_allocated = program->n_engines;
	copy->graph_cost_ns = program->graph_cost_ns;
	copy->launch_cost_ns = program->launch_cost_ns;
	copy->doubts = program->doubts;
	copy->step = program->step;
	copy->step_data = program->step_data;
	copy->calls = program->calls;
	copy->items = program->items;
	if (copy->changes & TS_EMULATE_CHANGES_CALLS) {
		copy->calls = copy_of(program->calls, program->n_calls, sizeof(*copy->calls));
		r = copy->calls ? 0 : -ENOMEM;
	}
	if (copy->changes & TS_EMULATE_CHANGES_ITEMS) {
		copy->items = copy_of(program->items, program->n_items, sizeof(*copy->items));
		r = copy->items ? r : -ENOMEM;
	}
	copy->joins = copy_of(program->joins, program->n_joins, sizeof(*copy->joins));
	copy->queues = copy_of(program->queues, program->n_queues, sizeof(*copy->queues));
	copy->threads = copy_of(program->threads, program->n_threads, sizeof(*copy->threads));
	copy->engines = copy_of(program->engines, program->n_engines, sizeof(*copy->engines));
	r = r ? r : copy_contexts(program, copy);
	if (r || !copy->joins || !copy->queues || !copy->threads || !copy->engines)
		return -ENOMEM;
	*ret_copy = copy;
	copy = NULL;
	return 0;
}

/* The receiver of a run's times; `take` NULL: there is none, and the path is computed instead. */
struct receiver {
	int (*take)(void *data, const struct ts_emulate_time *time);
	void *data;
	size_t max_steps;
};

static int give_op(const struct ts_emulate_run *run, size_t i, const struct receiver *receiver)
{
	const struct ts_emulate_program *program = run->program;
	const struct ts_emulate_item *item = &program->items[i];
	const struct ts_emulate_queue *queue = &program->queues[item->stream];
	struct ts_emulate_time time = {.start_ns = program->base_ns + run->items[i].start_ns,
				       .end_ns = program->base_ns + run->items[i].end_ns,
				       .op_id = program->recorded_items[i].op_id,
				       .session = queue->session,
				       .type = item->type,
				       .name = item->name,
				       .copy_kind = item->copy_kind,
				       .device = queue->device,
				       .context = queue->context_id,
				       .stream = queue->stream};

	return item->kind == TS_EMULATE_OP && run->items[i].is_over
		       ? receiver->take(receiver->data, &time)
		       : 0;
}

static int give_call(const struct ts_emulate_run *run, size_t i, const struct receiver *receiver)
{
	const struct ts_emulate_program *program = run->program;
	const struct ts_emulate_call *call = &program->calls[i];
	const struct ts_emulate_thread *thread = &program->threads[call->thread];
	struct ts_emulate_time time = {.start_ns = program->base_ns + run->calls[i].start_ns,
				       .end_ns = program->base_ns + run->calls[i].end_ns,
				       .op_id = program->recorded_calls[i].op_id,
				       .session = thread->session,
				       .type = TS_ROW_API,
				       .name = call->name,
				       .device = TS_NO_DEVICE,
				       .stream = TS_NO_DEVICE,
				       .thread = thread->thread};

	return !(call->flags & (TS_EMULATE_CALL_PSEUDO | TS_EMULATE_CALL_SKIPPED)) &&
			       run->calls[i].is_over
		       ? receiver->take(receiver->data, &time)
		       : 0;
}

int ts_emulate_give_times(const struct ts_emulate_run *run,
			  int (*take)(void *data, const struct ts_emulate_time *time), void *data)
{
	const struct receiver receiver = {take, data, 0};
	int r = 0;

	for (size_t i = 0; !r && i < run->program->n_items; i++)
		r = give_op(run, i, &receiver);
	for (size_t i = 0; !r && i < run->program->n_calls; i++)
		r = give_call(run, i, &receiver);
	return r;
}

static int run_program(const struct ts_emulate_program *program, const struct receiver *receiver,
		       struct ts_emulate_result *result)
{
	ts_cleanup(ts_emulate_run_deinit) struct ts_emulate_run run;
	int r = ts_emulate_run_init(&run, program);

	if (!r)
		r = ts_emulate_simulate(program, &run);
	if (!r)
		r = ts_emulate_finish(&run, result);
	if (r)
		return r;
	return receiver->take ? ts_emulate_give_times(&run, receiver->take, receiver->data)
			      : ts_emulate_find_path(&run, receiver->max_steps, result);
}

static int run_edited(const struct ts_emulate_program *program, const struct ts_emulate_edit *edits,
		      size_t n_edits, const struct ts_emulate_names *names,
		      const struct receiver *receiver, struct ts_emulate_result **ret_result,
		      char *ret_message)
{
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *result =
		calloc(1, sizeof(*result));
	ts_cleanup(ts_emulate_program_freep) struct ts_emulate_program *edited = NULL;
	int r = result ? 0 : -ENOMEM;

	if (!r && n_edits)
		r = ts_emulate_copy(program, edits, n_edits, &edited);
	for (size_t i = 0; !r && i < n_edits; i++)
		r = ts_emulate_edit(edited, &edits[i], names, &result->n_edited, ret_message);
	if (!r)
		r = run_program(edited ? edited : program, receiver, result);
	if (r)
		return r;
	*ret_result = result;
	result = NULL;
	return 0;
}

int ts_emulate_run_times(const struct ts_emulate_program *program,
			 const struct ts_emulate_edit *edits, size_t n_edits,
			 const struct ts_emulate_names *names,
			 int (*take)(void *data, const struct ts_emulate_time *time), void *data,
			 struct ts_emulate_result **ret_result, char *ret_message)
{
	const struct receiver receiver = {take, data, 0};

	return run_edited(program, edits, n_edits, names, &receiver, ret_result, ret_message);
}

int ts_emulate_run(const struct ts_emulate_program *program, const struct ts_emulate_edit *edits,
		   size_t n_edits, const struct ts_emulate_names *names, size_t max_steps,
		   struct ts_emulate_result **ret_result, char *ret_message)
{
	const struct receiver receiver = {NULL, NULL, max_steps};

	return run_edited(program, edits, n_edits, names, &receiver, ret_result, ret_message);
}

int ts_emulate_recorded(const struct ts_emulate_program *program,
			struct ts_emulate_result **ret_result)
{
	ts_cleanup(ts_emulate_result_freep) struct ts_emulate_result *result =
		calloc(1, sizeof(*result));
	ts_cleanup(ts_emulate_run_deinit) struct ts_emulate_run run;
	int r = ts_emulate_run_init_sums(&run, program);

	if (r || !result)
		return -ENOMEM;
	for (uint32_t i = 0; i < program->n_calls; i++) {
		const struct ts_emulate_recorded_call *its = &program->recorded_calls[i];

		if (!(program->calls[i].flags & (TS_EMULATE_CALL_PSEUDO | TS_EMULATE_CALL_SKIPPED)))
			ts_emulate_sum_call(&run, i, its->start_ns, its->end_ns);
	}
	for (size_t i = 0; i < program->n_ops; i++) {
		uint32_t at = program->by_start[i];
		const struct ts_emulate_recorded_item *its = &program->recorded_items[at];

		ts_emulate_sum_op(&run, at, its->start_ns, its->end_ns);
	}
	r = ts_emulate_finish(&run, result);
	if (r)
		return r;
	*ret_result = result;
	result = NULL;
	return 0;
}
