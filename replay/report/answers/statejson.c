/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Converts the state of replay/state to messages. query.c calls this file, and other answers call
 * ts_statejson_operation() for names of operations. This file calls names/ and stacks/.
 */
#include "replay/report/answers/statejson.h"

#include "proto/abi/vendor/cupti_activity.h"
#include "proto/rpc/json.h"
#include "replay/report/names/names.h"
#include "replay/report/stacks/stackjson.h"
#include "replay/state/gaps/gaps.h"

#include <inttypes.h>

static const struct {
	uint32_t flag;
	const char *name;
} unsure_names[] = {
	{TS_STATE_UNSURE_CALL, "call"},
	{TS_STATE_UNSURE_DEVICE, "device"},
	{TS_STATE_UNSURE_OVERLAP, "overlap"},
	{TS_STATE_UNSURE_STREAM, "stream"},
	{TS_STATE_UNSURE_DEPENDENCY, "dependency"},
	{TS_STATE_UNSURE_GRAPH, "graph"},
	{TS_STATE_UNSURE_ENGINE, "engine"},
	{TS_GAP_UNSURE_LOST, "lost"},
};

size_t ts_statejson_unsure(struct ts_pool *pool, uint32_t unsure, char ***ret_names)
{
	size_t n = 0;

	*ret_names = ts_pool_alloc(pool, TS_ARRAY_LEN(unsure_names), sizeof(char *));
	for (size_t i = 0; i < TS_ARRAY_LEN(unsure_names); i++)
		if (unsure & unsure_names[i].flag)
			(*ret_names)[n++] = ts_pool_copy(pool, unsure_names[i].name);
	return n;
}

static void set_row(const struct ts_state_op *op, Ts__Rpc__StateOperation *message)
{
	if (op->type == TS_ROW_KERNEL) {
		TS_RPC_SET(message, grid_x, op->row.kernel.grid_x);
		TS_RPC_SET(message, grid_y, op->row.kernel.grid_y);
		TS_RPC_SET(message, grid_z, op->row.kernel.grid_z);
		TS_RPC_SET(message, block_x, op->row.kernel.block_x);
		TS_RPC_SET(message, block_y, op->row.kernel.block_y);
		TS_RPC_SET(message, block_z, op->row.kernel.block_z);
	} else if (op->type == TS_ROW_MEMCPY) {
		TS_RPC_SET(message, bytes, op->row.memcpy_.bytes);
	} else if (op->type == TS_ROW_MEMSET) {
		TS_RPC_SET(message, bytes, op->row.memset_.bytes);
	}
}

char *ts_statejson_op_name(struct ts_resolver *resolver, struct ts_pool *pool,
			   const struct ts_state_op *op)
{
	struct ts_row_api call = {.domain = op->domain, .cbid = op->cbid};
	struct ts_sbt_row row = {.type = op->type, .session = op->session, .any = &op->row};
	char buffer[TS_RESOLVER_NAME_BYTES];

	if (op->type == TS_ROW_API)
		row.api = &call;
	return ts_pool_copy(pool, ts_resolver_name(resolver, &row, buffer));
}

static Ts__Rpc__StateOperation *make_op(struct ts_resolver *resolver, struct ts_pool *pool,
					const struct ts_state_current *current, bool stacks)
{
	Ts__Rpc__StateOperation *message = ts_pool_alloc(pool, 1, sizeof(*message));
	const struct ts_state_op *op = &current->op;
	const struct ts_row_schema *schema = ts_row_schema(op->type);

	ts__rpc__state_operation__init(message);
	message->state = ts_pool_copy(pool, ts_state_phase_name(current->phase));
	TS_RPC_SET(message, since_ns, current->since_ns);
	if (current->cause) {
		message->waits_for = ts_pool_copy(pool, ts_state_cause_name(current->cause));
		TS_RPC_SET(message, waits_for_op_id, current->by_op_id);
	}
	if (current->by_event)
		TS_RPC_SET(message, waits_for_event, current->by_event);
	message->type = ts_pool_copy(pool, schema ? schema->name : NULL);
	message->name = ts_statejson_op_name(resolver, pool, op);
	TS_RPC_SET(message, session, op->session);
	TS_RPC_SET(message, op_id, op->op_id);
	if (op->call_ns) {
		TS_RPC_SET(message, call_ns, op->call_ns);
		TS_RPC_SET(message, call_end_ns, op->call_end_ns);
	}
	if (op->type != TS_ROW_API) {
		TS_RPC_SET(message, start_ns, op->start_ns);
		TS_RPC_SET(message, end_ns, op->end_ns);
	}
	if (op->device != TS_NO_DEVICE)
		TS_RPC_SET(message, device, op->device);
	TS_RPC_SET(message, context, op->context);
	if (op->stream != TS_NO_DEVICE)
		TS_RPC_SET(message, stream, op->stream);
	ts_stackjson_thread(resolver, pool, op->session, op->thread, &message->tid,
			    &message->has_tid, &message->thread_name);
	set_row(op, message);
	message->n_unsure = ts_statejson_unsure(pool, op->unsure, &message->unsure);
	if (stacks)
		message->stack =
			ts_stackjson_make(resolver, pool, op->session, op->stack, op->call_ns);
	if (op->type == TS_ROW_KERNEL)
		ts_stackjson_hide_stub(message->stack, message->name);
	return message;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static int compare_streams(const void *a, const void *b)
{
	const struct ts_state_op *x = &(*(const struct ts_state_current *const *)a)->op;
	const struct ts_state_op *y = &(*(const struct ts_state_current *const *)b)->op;

	if (x->session != y->session)
		return x->session < y->session ? -1 : 1;
	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	if (x->context != y->context)
		return x->context < y->context ? -1 : 1;
	if (x->stream != y->stream)
		return x->stream < y->stream ? -1 : 1;
	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

static const struct ts_state_current **by_stream(struct ts_pool *pool, const struct ts_state *state)
{
	const struct ts_state_current **sorted =
		ts_pool_alloc(pool, state->n_ops + 1, sizeof(*sorted));

	for (size_t i = 0; i < state->n_ops; i++)
		sorted[i] = &state->ops[i];
	qsort(sorted, state->n_ops, sizeof(*sorted), compare_streams);
	return sorted;
}

static void make_streams(struct ts_pool *pool, const struct ts_state *state,
			 const struct ts_state_current *const *sorted, Ts__Rpc__StateReport *report)
{
	Ts__Rpc__StateStream *message = NULL;

	report->streams = ts_pool_alloc(pool, state->n_ops + 1, sizeof(*report->streams));
	for (size_t i = 0; i < state->n_ops; i++) {
		const struct ts_state_op *op = &sorted[i]->op;

		if (op->type == TS_ROW_API)
			continue;
		if (!message || message->session != op->session || message->device != op->device ||
		    message->context != op->context || message->stream != op->stream) {
			message = ts_pool_alloc(pool, 1, sizeof(*message));
			ts__rpc__state_stream__init(message);
			TS_RPC_SET(message, session, op->session);
			TS_RPC_SET(message, device, op->device);
			TS_RPC_SET(message, context, op->context);
			TS_RPC_SET(message, stream, op->stream);
			TS_RPC_SET(message, running, 0);
			TS_RPC_SET(message, pending, 0);
			message->state = ts_pool_copy(pool, ts_state_phase_name(sorted[i]->phase));
			report->streams[report->n_streams++] = message;
		}
		if (sorted[i]->phase == TS_STATE_RUNNING)
			message->running++;
		else
			message->pending++;
	}
}

/*
 * Returns the device's entry, or NULL. The reader, and so the report, sorts devices by session and
 * number, so a binary search finds it.
 */
static Ts__Rpc__StateDevice *find_device(Ts__Rpc__StateReport *report, uint32_t session,
					 uint32_t device)
{
	size_t low = 0, high = report->n_devices;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		Ts__Rpc__StateDevice *message = report->devices[middle];

		if (message->session == session && message->device == device)
			return message;
		if (message->session < session ||
		    (message->session == session && message->device < device))
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static void make_devices(struct ts_resolver *resolver, struct ts_pool *pool,
			 const struct ts_state *state, Ts__Rpc__StateReport *report)
{
	struct ts_sbt_reader *reader = ts_resolver_reader(resolver);
	size_t n = ts_sbt_reader_n_devices(reader);
	Ts__Rpc__StateDevice *message;

	report->devices = ts_pool_alloc(pool, n + 1, sizeof(*report->devices));
	for (size_t i = 0; i < n; i++) {
		const struct ts_sbt_device *device = ts_sbt_reader_device_at(reader, i);

		message = ts_pool_alloc(pool, 1, sizeof(*message));
		ts__rpc__state_device__init(message);
		TS_RPC_SET(message, session, device->session);
		TS_RPC_SET(message, device, device->row.device);
		TS_RPC_SET(message, kernels, 0);
		TS_RPC_SET(message, copies, 0);
		TS_RPC_SET(message, sets, 0);
		TS_RPC_SET(message, pending, 0);
		TS_RPC_SET(message, allocated_bytes, 0);
		report->devices[report->n_devices++] = message;
	}
	for (size_t i = 0; i < state->n_ops; i++) {
		message = find_device(report, state->ops[i].op.session, state->ops[i].op.device);
		if (!message)
			continue;
		if (state->ops[i].phase != TS_STATE_RUNNING)
			message->pending++;
		else if (state->ops[i].op.type == TS_ROW_KERNEL)
			message->kernels++;
		else if (state->ops[i].op.type == TS_ROW_MEMCPY)
			message->copies++;
		else
			message->sets++;
	}
	for (size_t i = 0; i < state->n_allocations; i++) {
		uint32_t kind = state->allocations[i].row.memory_kind;

		message = find_device(report, state->allocations[i].session,
				      state->allocations[i].row.device);
		if (message && kind != TS_CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE &&
		    kind != TS_CUPTI_ACTIVITY_MEMORY_KIND_PINNED)
			message->allocated_bytes += state->allocations[i].row.bytes;
	}
	for (size_t i = 0; i < report->n_devices; i++) {
		message = report->devices[i];
		message->state =
			ts_pool_copy(pool, message->kernels || message->copies || message->sets
						   ? "running"
					   : message->pending ? "waiting"
							      : "idle");
	}
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void make_threads(struct ts_resolver *resolver, struct ts_pool *pool,
			 const struct ts_state *state, Ts__Rpc__StateReport *report)
{
	report->threads = ts_pool_alloc(pool, state->n_threads + 1, sizeof(*report->threads));
	for (size_t i = 0; i < state->n_threads; i++) {
		Ts__Rpc__StateThread *message = ts_pool_alloc(pool, 1, sizeof(*message));
		const struct ts_state_thread *thread = &state->threads[i];
		struct ts_sbt_row row = {.type = TS_ROW_API, .api = &thread->call};
		char buffer[TS_RESOLVER_NAME_BYTES];

		ts__rpc__state_thread__init(message);
		TS_RPC_SET(message, session, thread->session);
		ts_stackjson_thread(resolver, pool, thread->session, thread->thread, &message->tid,
				    &message->has_tid, &message->thread_name);
		message->call = ts_pool_copy(pool, ts_resolver_name(resolver, &row, buffer));
		TS_RPC_SET(message, op_id, thread->call.op_id);
		TS_RPC_SET(message, since_ns, thread->call.start_ns);
		TS_RPC_SET(message, until_ns, thread->call.end_ns);
		if (thread->sync.start_ns) {
			const char *kind = ts_name_sync_type(thread->sync.sync_type);

			message->blocked = ts_pool_copy(pool, kind ? kind : "sync");
			if (thread->sync.stream != TS_NO_DEVICE)
				TS_RPC_SET(message, blocked_stream, thread->sync.stream);
		}
		if (thread->by_op_id)
			TS_RPC_SET(message, waits_for_op_id, thread->by_op_id);
		report->threads[report->n_threads++] = message;
	}
}

static void make_events(struct ts_pool *pool, const struct ts_state *state,
			Ts__Rpc__StateReport *report)
{
	report->events = ts_pool_alloc(pool, state->n_events + 1, sizeof(*report->events));
	for (size_t i = 0; i < state->n_events; i++) {
		Ts__Rpc__StateEvent *message = ts_pool_alloc(pool, 1, sizeof(*message));
		const struct ts_state_event *event = &state->events[i];

		ts__rpc__state_event__init(message);
		TS_RPC_SET(message, session, event->session);
		TS_RPC_SET(message, event, event->event);
		if (event->stream != TS_NO_DEVICE)
			TS_RPC_SET(message, stream, event->stream);
		TS_RPC_SET(message, recorded_ns, event->recorded_ns);
		TS_RPC_SET(message, waits_for_op_id, event->by_op_id);
		if (event->due_ns)
			TS_RPC_SET(message, due_ns, event->due_ns);
		message->n_unsure =
			ts_statejson_unsure(pool,
					    event->host_op_id ? TS_STATE_UNSURE_DEPENDENCY : 0,
					    &message->unsure);
		report->events[report->n_events++] = message;
	}
}

static void make_allocations(struct ts_pool *pool, const struct ts_state *state,
			     Ts__Rpc__StateReport *report)
{
	uint64_t bytes = 0;

	report->allocations =
		ts_pool_alloc(pool, state->n_allocations + 1, sizeof(*report->allocations));
	for (size_t i = 0; i < state->n_allocations; i++) {
		Ts__Rpc__StateAllocation *message = ts_pool_alloc(pool, 1, sizeof(*message));
		const struct ts_row_memory *row = &state->allocations[i].row;
		const char *kind = ts_name_memory_kind(row->memory_kind);

		ts__rpc__state_allocation__init(message);
		TS_RPC_SET(message, session, state->allocations[i].session);
		TS_RPC_SET(message, address, row->address);
		TS_RPC_SET(message, bytes, row->bytes);
		message->kind = ts_pool_copy(pool, kind ? kind : "unknown");
		if (row->device != TS_NO_DEVICE)
			TS_RPC_SET(message, device, row->device);
		if (row->stream != TS_NO_DEVICE)
			TS_RPC_SET(message, stream, row->stream);
		if (row->pool)
			TS_RPC_SET(message, pool, row->pool);
		TS_RPC_SET(message, op_id, row->op_id);
		TS_RPC_SET(message, since_ns, row->start_ns);
		report->allocations[report->n_allocations++] = message;
		bytes += row->bytes;
	}
	TS_RPC_SET(report, allocated_bytes, bytes);
}

void ts_statejson_make(struct ts_resolver *resolver, const struct ts_state *state, bool stacks,
		       struct ts_pool *pool, Ts__Rpc__StateReport *ret_report)
{
	ts__rpc__state_report__init(ret_report);
	TS_RPC_SET(ret_report, at_ns, state->at_ns);
	make_devices(resolver, pool, state, ret_report);
	make_streams(pool, state, by_stream(pool, state), ret_report);
	ret_report->operations =
		ts_pool_alloc(pool, state->n_ops + 1, sizeof(*ret_report->operations));
	for (size_t i = 0; i < state->n_ops; i++)
		ret_report->operations[ret_report->n_operations++] =
			make_op(resolver, pool, &state->ops[i], stacks);
	make_threads(resolver, pool, state, ret_report);
	make_events(pool, state, ret_report);
	make_allocations(pool, state, ret_report);
	TS_RPC_SET(ret_report, unknown_frees, state->n_bad_frees);
	TS_RPC_SET(ret_report, rows, state->n_rows);
	TS_RPC_SET(ret_report, damaged, state->is_damaged);
	TS_RPC_SET(ret_report, incomplete, state->is_cut);
}
