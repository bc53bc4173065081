/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins calls and device rows: calls.c keeps those that rows are still to come for, order.c says what an operation waited for.
 */
#include "replay/state/calls.h"
#include "replay/state/order.h"

#include <errno.h>
#include <stdlib.h>

/* Device rows that came before their call: at most so many are remembered. */
#define MAX_EARLY 65536u

struct ts_state_machine {
	struct ts_order order;
	struct ts_calls calls;
	uint64_t n_ops;		   /* numbers that were given */
	struct ts_state_map early; /* device rows whose call had not come */
};

int ts_state_machine_new(struct ts_state_machine **ret_machine)
{
	struct ts_state_machine *machine = calloc(1, sizeof(*machine));

	if (!machine)
		return -ENOMEM;
	if (ts_calls_init(&machine->calls)) {
		free(machine);
		return -ENOMEM;
	}
	*ret_machine = machine;
	return 0;
}

void ts_state_machine_free(struct ts_state_machine *machine)
{
	if (!machine)
		return;
	ts_order_deinit(&machine->order);
	ts_calls_deinit(&machine->calls);
	ts_state_map_deinit(&machine->early);
	free(machine);
}

uint64_t ts_state_machine_n_awaited(const struct ts_state_machine *machine)
{
	return machine->calls.n_awaited;
}

uint64_t ts_state_machine_n_given_up(const struct ts_state_machine *machine)
{
	return machine->calls.n_given_up;
}

int ts_state_machine_event(struct ts_state_machine *machine, uint32_t session, uint64_t event,
			   struct ts_state_dependency ret[TS_STATE_MAX_DEPENDENCIES])
{
	return ts_order_event(&machine->order, session, event, ret);
}

int ts_state_machine_prepare(struct ts_state_machine *machine, struct ts_sbt_reader *reader,
			     uint32_t session)
{
	const struct ts_sbt_cursor_options options = {.types = TS_ROW_BIT(TS_ROW_STREAM),
						      .session = session};
	ts_cleanup(ts_sbt_cursor_freep) struct ts_sbt_cursor *cursor = NULL;
	struct ts_state_op op;
	struct ts_sbt_row row;
	int r = ts_sbt_cursor_new(reader, &options, &cursor);

	while (!r) {
		r = ts_sbt_cursor_next(cursor, &row);
		if (!r)
			r = ts_state_machine_feed(machine, &row, &op);
		else if (r == TS_SBT_E_CORRUPT)
			r = 0;
	}
	return r == TS_SBT_E_END ? 0 : r;
}

/* ---- calls -------------------------------------------------------------------------------------- */

static int feed_call(struct ts_state_machine *machine, uint32_t session,
		     const struct ts_row_api *row)
{
	struct ts_call call = {
		.op_id = row->op_id,
		.nested_op_id = row->nested_op_id ? row->nested_op_id : row->op_id,
		.start_ns = row->start_ns,
		.end_ns = row->end_ns < row->start_ns ? row->start_ns : row->end_ns,
		.session = session,
		.thread = row->thread,
		.stack = row->stack,
		.context = row->context,
		.domain = row->domain,
		.cbid = row->cbid,
		.is_awaited = row->flags & TS_API_EXPECTS_DEVICE,
	};

	/* A clock that stepped back: the answer came first. */
	if (call.is_awaited &&
	    ts_state_map_find(&machine->early, session, row->op_id) != TS_STATE_MAP_NONE) {
		ts_state_map_remove(&machine->early, session, row->op_id);
		call.is_awaited = false;
	}
	return ts_calls_add(&machine->calls, &call);
}

static void tell_call(const struct ts_call *call, struct ts_state_op *op)
{
	op->op_id = call->op_id;
	op->call_ns = call->start_ns;
	op->call_end_ns = call->end_ns;
	op->thread = call->thread;
	op->stack = call->stack;
	op->domain = call->domain;
	op->cbid = call->cbid;
}

int ts_state_machine_unanswered(struct ts_state_machine *machine, struct ts_state_op *ret_op)
{
	while (machine->calls.first < machine->calls.next) {
		struct ts_call call = *ts_calls_at(&machine->calls, machine->calls.first);

		ts_calls_drop_first(&machine->calls);
		if (!call.is_awaited)
			continue;
		*ret_op = (struct ts_state_op){.session = call.session,
					       .type = TS_ROW_API,
					       .device = TS_NO_DEVICE,
					       .context = call.context,
					       .stream = TS_NO_DEVICE,
					       .unsure = TS_STATE_UNSURE_DEVICE};
		tell_call(&call, ret_op);
		return 1;
	}
	return 0;
}

/* ---- device rows -------------------------------------------------------------------------------- */

static void place(struct ts_state_op *op, const struct ts_sbt_row *row)
{
	uint64_t graph_node = 0;
	uint32_t graph = 0;

	/* Copied whole: an operation outlives its row. */
	if (row->type == TS_ROW_KERNEL) {
		op->row.kernel = *row->kernel;
		op->device = row->kernel->device;
		op->context = row->kernel->context;
		op->stream = row->kernel->stream;
		graph = row->kernel->graph;
		graph_node = row->kernel->graph_node;
	} else if (row->type == TS_ROW_MEMCPY) {
		op->row.memcpy_ = *row->memcpy_;
		op->device = row->memcpy_->device;
		op->context = row->memcpy_->context;
		op->stream = row->memcpy_->stream;
		graph = row->memcpy_->graph;
		graph_node = row->memcpy_->graph_node;
	} else {
		op->row.memset_ = *row->memset_;
		op->device = row->memset_->device;
		op->context = row->memset_->context;
		op->stream = row->memset_->stream;
		graph = row->memset_->graph;
		graph_node = row->memset_->graph_node;
	}
	if (graph || graph_node)
		op->unsure |= TS_STATE_UNSURE_GRAPH;
}

static int feed_device(struct ts_state_machine *machine, const struct ts_sbt_row *row,
		       uint64_t op_id, struct ts_state_op *op)
{
	uint64_t number = ts_calls_find(&machine->calls, row->session, op_id);
	int r = 0;

	op->op_id = op_id;
	op->number = ++machine->n_ops;
	op->session = row->session;
	op->type = row->type;
	op->start_ns = ts_row_start_ns(row->any);
	op->end_ns = ts_row_end_ns(row->schema, row->any);
	op->call_ns = op->call_end_ns = 0;
	op->thread = op->stack = 0;
	op->domain = op->cbid = 0;
	op->unsure = 0;
	place(op, row);
	op->call_number = number;
	if (!number) {
		op->unsure |= TS_STATE_UNSURE_CALL;
		if (machine->early.n < MAX_EARLY)
			r = ts_state_map_set(&machine->early, row->session, op_id, 0);
	} else {
		struct ts_call *call = ts_calls_at(&machine->calls, number);

		machine->calls.n_awaited -= call->is_awaited;
		call->is_awaited = false;
		tell_call(call, op);
	}
	if (!r)
		r = ts_order_op(&machine->order, op);
	return r ? r : 1;
}

int ts_state_machine_feed(struct ts_state_machine *machine, const struct ts_sbt_row *row,
			  struct ts_state_op *ret_op)
{
	switch (row->type) {
	case TS_ROW_API:
		return feed_call(machine, row->session, row->api);
	case TS_ROW_KERNEL:
		return feed_device(machine, row, row->kernel->op_id, ret_op);
	case TS_ROW_MEMCPY:
		return feed_device(machine, row, row->memcpy_->op_id, ret_op);
	case TS_ROW_MEMSET:
		return feed_device(machine, row, row->memset_->op_id, ret_op);
	case TS_ROW_EVENT:
		return ts_order_record(&machine->order, row->session, row->event);
	case TS_ROW_STREAM_WAIT:
		return ts_order_wait(&machine->order, row->session, row->stream_wait);
	case TS_ROW_GRAPH_LAUNCH:
		return ts_order_launch(&machine->order, row->session, row->graph_launch);
	case TS_ROW_STREAM:
		return ts_order_stream(&machine->order, row->session, row->stream->context,
				       row->stream->stream, row->stream->stream_flags);
	default:
		return 0;
	}
}
