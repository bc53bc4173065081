/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Joins calls and device rows into operations: see state-machine.h. state.c, overview/, gaps/,
 * graph/ and compare/ feed it rows. state-calls.c keeps the calls that may still get rows.
 * state-order.c finds the dependencies of an operation. The pack functions are for checkpoint/.
 */
#include "proto/abi/grow.h"
#include "replay/state/state-calls.h"
#include "replay/state/state-order.h"
#include "replay/state/state-stages.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* Limit on remembered device rows that came before their call. */
#define MAX_EARLY 65536u

struct ts_state_machine {
	struct ts_state_order order;  /* of the second stage (state-stages.h) */
	uint8_t apart[TS_CACHE_LINE]; /* the stages share no line of a cache */
	struct ts_state_calls calls;
	uint64_t n_ops;		   /* device rows so far */
	struct ts_state_map early; /* device rows that came before their call */
	uint64_t last_early;	   /* the highest id that was in `early`; most calls are later */
	/*
	 * For checkpoints: numbers of the calls before the window whose device row has not come
	 * yet, and the number of the first call that find_overdue() has not examined.
	 */
	uint64_t *overdue, looked_to;
	size_t n_overdue, n_overdue_allocated;
};

int ts_state_machine_new(struct ts_state_machine **ret_machine)
{
	struct ts_state_machine *machine = calloc(1, sizeof(*machine));

	if (!machine)
		return -ENOMEM;
	if (ts_state_calls_init(&machine->calls)) {
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
	ts_state_order_deinit(&machine->order);
	ts_state_calls_deinit(&machine->calls);
	ts_state_map_deinit(&machine->early);
	free(machine->overdue);
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

uint64_t ts_state_machine_n_twice(const struct ts_state_machine *machine)
{
	return machine->calls.n_twice;
}

struct ts_state_order *ts_state_machine_order_of(struct ts_state_machine *machine)
{
	return &machine->order;
}

int ts_state_machine_event(struct ts_state_machine *machine, uint32_t session, uint64_t event,
			   struct ts_state_dependency ret[TS_STATE_MAX_DEPENDENCIES],
			   uint64_t *ret_host_op_id, uint64_t *ret_host_over_ns)
{
	struct ts_state_order_found found = {.at = ret};
	int n = ts_state_order_event(&machine->order, session, event, &found);

	*ret_host_op_id = found.host_op_id;
	*ret_host_over_ns = found.host_over_ns;
	return n;
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

/* ---- calls ----------------------------------------------------------------------------------- */

static int feed_call(struct ts_state_machine *machine, uint32_t session,
		     const struct ts_row_api *row)
{
	struct ts_call *call = ts_state_calls_new(&machine->calls);

	if (!call)
		return -ENOMEM;
	*call = (struct ts_call){
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
		.answered_at = (uint32_t)machine->calls.next,
		.is_awaited = row->flags & TS_API_EXPECTS_DEVICE,
		.may_begin_early = row->flags & TS_API_MAY_BEGIN_EARLY,
	};
	/* A clock stepped back: the device row came before the call. */
	if (call->is_awaited && row->op_id <= machine->last_early &&
	    ts_state_map_find(&machine->early, session, row->op_id) != TS_STATE_MAP_NONE) {
		ts_state_map_remove(&machine->early, session, row->op_id);
		call->is_awaited = false;
	}
	return ts_state_calls_add(&machine->calls);
}

static int add_early(struct ts_state_machine *machine, uint32_t session, uint64_t op_id)
{
	if (op_id > machine->last_early)
		machine->last_early = op_id;
	return ts_state_map_set(&machine->early, session, op_id, 0);
}

static void copy_call(const struct ts_call *call, struct ts_state_op *op)
{
	op->op_id = call->op_id;
	op->call_ns = call->start_ns;
	op->call_end_ns = call->end_ns;
	op->thread = call->thread;
	op->stack = call->stack;
	op->domain = call->domain;
	op->cbid = call->cbid;
	op->may_begin_early = call->may_begin_early;
}

int ts_state_machine_unanswered(struct ts_state_machine *machine, struct ts_state_op *ret_op)
{
	while (machine->calls.first < machine->calls.next) {
		struct ts_call call = *ts_state_calls_at(&machine->calls, machine->calls.first);

		ts_state_calls_drop_first(&machine->calls);
		if (!call.is_awaited)
			continue;
		*ret_op = (struct ts_state_op){.session = call.session,
					       .type = TS_ROW_API,
					       .device = TS_NO_DEVICE,
					       .context = call.context,
					       .stream = TS_NO_DEVICE,
					       .unsure = TS_STATE_UNSURE_DEVICE};
		copy_call(&call, ret_op);
		return 1;
	}
	return 0;
}

/* ---- device rows ----------------------------------------------------------------------------- */

/* The first fields that the rows of all device operations share. */
struct placed {
	uint64_t start_ns, end_ns, op_id;
	uint32_t device, context, stream, graph;
	uint64_t graph_node;
};

#define CHECK_PLACED(row)                                                                          \
	static_assert(offsetof(struct row, device) == offsetof(struct placed, device) &&           \
			      offsetof(struct row, context) == offsetof(struct placed, context) && \
			      offsetof(struct row, stream) == offsetof(struct placed, stream) &&   \
			      offsetof(struct row, graph) == offsetof(struct placed, graph) &&     \
			      offsetof(struct row, graph_node) ==                                  \
				      offsetof(struct placed, graph_node),                         \
		      #row)
CHECK_PLACED(ts_row_kernel);
CHECK_PLACED(ts_row_memcpy);
CHECK_PLACED(ts_row_memset);

static void place(struct ts_state_op *op, const struct placed *at)
{
	op->device = at->device;
	op->context = at->context;
	op->stream = at->stream;
	if (at->graph || at->graph_node)
		op->unsure |= TS_STATE_UNSURE_GRAPH;
}

void ts_state_place(struct ts_state_op *op)
{
	place(op, (const void *)&op->row);
}

/*
 * Copies the whole row, because an operation outlives its row. `place` gets the source row: reading
 * the copy would wait for the stores.
 */
static void copy_row(struct ts_state_op *op, const struct ts_sbt_row *row)
{
	if (row->type == TS_ROW_KERNEL)
		op->row.kernel = *row->kernel;
	else if (row->type == TS_ROW_MEMCPY)
		op->row.memcpy_ = *row->memcpy_;
	else
		op->row.memset_ = *row->memset_;
	place(op, row->any);
}

/* Finds the call of a device row, and all of the operation but its dependencies. */
static int join_device(struct ts_state_machine *machine, const struct ts_sbt_row *row,
		       uint64_t op_id, struct ts_state_op *op)
{
	uint64_t number = ts_state_calls_find(&machine->calls, row->session, op_id);
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
	op->may_begin_early = false;
	op->unsure = 0;
	op->host_op_id = op->host_over_ns = 0;
	copy_row(op, row);
	op->call_number = number;
	if (!number) {
		op->unsure |= TS_STATE_UNSURE_CALL;
		if (ts_state_map_count(&machine->early) < MAX_EARLY)
			r = add_early(machine, row->session, op_id);
	} else {
		struct ts_call *call = ts_state_calls_at(&machine->calls, number);

		if (call->is_awaited)
			ts_state_calls_answer(&machine->calls, call);
		copy_call(call, op);
	}
	return r ? r : 1;
}

static int feed_device(struct ts_state_machine *machine, const struct ts_sbt_row *row,
		       uint64_t op_id, struct ts_state_op *op)
{
	int r = join_device(machine, row, op_id, op);

	if (r == 1)
		r = ts_state_order_op(&machine->order, op);
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
		return ts_state_order_record(&machine->order, row->session, row->event);
	case TS_ROW_STREAM_WAIT:
		return ts_state_order_wait(&machine->order, row->session, row->stream_wait);
	case TS_ROW_GRAPH_LAUNCH:
		return ts_state_order_launch(&machine->order, row->session, row->graph_launch);
	case TS_ROW_STREAM:
		return ts_state_order_stream(&machine->order, row->session, row->stream->context,
					     row->stream->stream, row->stream->stream_flags);
	default:
		return 0;
	}
}

int ts_state_machine_join(struct ts_state_machine *machine, const struct ts_sbt_row *row,
			  struct ts_state_item *ret_item)
{
	ret_item->start_ns = ts_row_start_ns(row->any);
	ret_item->type = row->type;
	ret_item->session = row->session;
	ret_item->has_op = false;
	switch (row->type) {
	case TS_ROW_API:
		ret_item->api = *row->api;
		return feed_call(machine, row->session, row->api);
	case TS_ROW_SYNC:
		ret_item->sync = *row->sync;
		return 0;
	case TS_ROW_KERNEL:
		ret_item->has_op = true;
		return join_device(machine, row, row->kernel->op_id, &ret_item->op);
	case TS_ROW_MEMCPY:
		ret_item->has_op = true;
		return join_device(machine, row, row->memcpy_->op_id, &ret_item->op);
	case TS_ROW_MEMSET:
		ret_item->has_op = true;
		return join_device(machine, row, row->memset_->op_id, &ret_item->op);
	case TS_ROW_EVENT:
		ret_item->event = *row->event;
		return 1;
	case TS_ROW_STREAM_WAIT:
		ret_item->stream_wait = *row->stream_wait;
		return 1;
	case TS_ROW_GRAPH_LAUNCH:
		ret_item->graph_launch = *row->graph_launch;
		return 1;
	case TS_ROW_STREAM:
		ret_item->stream = *row->stream;
		return 1;
	default:
		return 0;
	}
}

int ts_state_machine_order(void *data, void *at)
{
	struct ts_state_machine *machine = data;
	struct ts_state_item *item = at;

	if (item->has_op)
		return ts_state_order_op(&machine->order, &item->op);
	switch (item->type) {
	case TS_ROW_EVENT:
		return ts_state_order_record(&machine->order, item->session, &item->event);
	case TS_ROW_STREAM_WAIT:
		return ts_state_order_wait(&machine->order, item->session, &item->stream_wait);
	case TS_ROW_GRAPH_LAUNCH:
		return ts_state_order_launch(&machine->order, item->session, &item->graph_launch);
	case TS_ROW_STREAM:
		return ts_state_order_stream(&machine->order, item->session, item->stream.context,
					     item->stream.stream, item->stream.stream_flags);
	default:
		return 0;
	}
}

bool ts_state_machine_awaits(const struct ts_state_machine *machine, const struct ts_sbt_row *row)
{
	uint64_t op_id = row->type == TS_ROW_KERNEL   ? row->kernel->op_id
			 : row->type == TS_ROW_MEMCPY ? row->memcpy_->op_id
			 : row->type == TS_ROW_MEMSET ? row->memset_->op_id
						      : 0;
	uint64_t number = op_id ? ts_state_calls_find(&machine->calls, row->session, op_id) : 0;

	return number && ts_state_calls_at(&machine->calls, number)->is_awaited;
}

/* ---- checkpoints ----------------------------------------------------------------------------- */

/*
 * Returns the number of the first call of the window: the calls that a checkpoint does not store,
 * because a restore reads them again from the trace. The checkpoint stores the window's start time,
 * and which of its calls still wait for a device row. So the window begins with a call whose
 * predecessor began at a different time.
 */
static uint64_t find_window(const struct ts_state_calls *calls)
{
	uint64_t n = calls->next - calls->first > TS_STATE_CALLS_LINGER
			     ? calls->next - TS_STATE_CALLS_LINGER
			     : calls->first;

	if (calls->first == 1 && n == 1)
		return n;
	if (n == calls->first && n < calls->next)
		n++;
	while (n < calls->next &&
	       ts_state_calls_at(calls, n)->start_ns == ts_state_calls_at(calls, n - 1)->start_ns)
		n++;
	return n;
}

uint64_t ts_state_machine_window_ns(const struct ts_state_machine *machine)
{
	const struct ts_state_calls *calls = &machine->calls;
	uint64_t n = find_window(calls);

	return n < calls->next ? ts_state_calls_at(calls, n)->start_ns : UINT64_MAX;
}

/* Flag may_begin_early of a packed call, above the 16 bits of its domain. */
#define PACKED_EARLY (1u << 16)

static void pack_call(struct ts_pack *pack, const struct ts_call *call)
{
	ts_pack_u(pack, call->session);
	ts_pack_u(pack, call->op_id);
	ts_pack_u(pack, call->nested_op_id);
	ts_pack_ns(pack, call->start_ns);
	ts_pack_ns(pack, call->end_ns);
	ts_pack_u(pack, call->thread);
	ts_pack_u(pack, call->stack);
	ts_pack_u(pack, call->context);
	ts_pack_u(pack, call->domain | (call->may_begin_early ? PACKED_EARLY : 0));
	ts_pack_u(pack, call->cbid);
}

/*
 * Finds the calls before the window whose device row has not come yet. If the device row of one
 * call never comes, up to TS_STATE_MAX_CALLS later calls are kept. So each search examines only the
 * calls since the last search.
 */
static int find_overdue(struct ts_state_machine *machine, uint64_t window)
{
	const struct ts_state_calls *calls = &machine->calls;
	uint64_t number = machine->looked_to > calls->first ? machine->looked_to : calls->first;
	size_t n = 0;

	for (size_t i = 0; i < machine->n_overdue; i++)
		if (machine->overdue[i] >= calls->first &&
		    ts_state_calls_at(calls, machine->overdue[i])->is_awaited)
			machine->overdue[n++] = machine->overdue[i];
	for (; number < window; number++) {
		if (!ts_state_calls_at(calls, number)->is_awaited)
			continue;
		if (TS_GROW(machine->overdue, machine->n_overdue_allocated, n + 1))
			return -ENOMEM;
		machine->overdue[n++] = number;
	}
	machine->n_overdue = n;
	machine->looked_to = window;
	return 0;
}

void ts_state_machine_pack(struct ts_state_machine *machine, struct ts_pack *pack)
{
	const struct ts_state_calls *calls = &machine->calls;
	uint64_t window = find_window(calls), n_run = 0;
	bool is_awaited = false;

	if (find_overdue(machine, window))
		pack->failed = true;
	ts_pack_u(pack, calls->n_given_up);
	ts_pack_u(pack, machine->n_ops);
	ts_pack_u(pack, window);
	ts_pack_u(pack, machine->n_overdue);
	for (size_t i = 0; i < machine->n_overdue; i++)
		pack_call(pack, ts_state_calls_at(calls, machine->overdue[i]));
	ts_state_order_pack(&machine->order, pack);
	/*
	 * ts_state_machine_resume() reads the following bytes after the calls were fed again. The
	 * bytes hold the lengths of runs of calls, alternately not awaited and awaited.
	 */
	ts_pack_u(pack, calls->next - window);
	for (uint64_t n = window; n < calls->next; n++) {
		if (ts_state_calls_at(calls, n)->is_awaited != is_awaited) {
			ts_pack_u(pack, n_run);
			is_awaited = !is_awaited;
			n_run = 0;
		}
		n_run++;
	}
	ts_pack_u(pack, n_run);
	ts_pack_map(pack, &machine->early, NULL);
}

int ts_state_machine_unpack(struct ts_state_machine *machine, struct ts_unpack *unpack)
{
	struct ts_state_calls *calls = &machine->calls;
	uint64_t window;
	size_t n;
	int r = 0;

	calls->n_given_up = ts_unpack_u(unpack);
	machine->n_ops = ts_unpack_u(unpack);
	window = ts_unpack_u(unpack);
	n = ts_unpack_count(unpack);
	/*
	 * Lingering calls keep their numbers. Overdue calls get the numbers directly before the
	 * window.
	 */
	if (window <= n || window > UINT64_MAX / 2)
		return TS_SBT_E_CORRUPT;
	calls->first = calls->next = window - n;
	for (size_t i = 0; !r && !unpack->bad && i < n; i++) {
		struct ts_row_api row = {.flags = TS_API_EXPECTS_DEVICE};
		uint64_t domain;
		uint32_t session = ts_unpack_u32(unpack);

		row.op_id = ts_unpack_u(unpack);
		row.nested_op_id = ts_unpack_u(unpack);
		row.start_ns = ts_unpack_ns(unpack);
		row.end_ns = ts_unpack_ns(unpack);
		row.thread = ts_unpack_u32(unpack);
		row.stack = ts_unpack_u32(unpack);
		row.context = ts_unpack_u32(unpack);
		domain = ts_unpack_u(unpack);
		row.domain = (uint16_t)domain;
		if (domain & PACKED_EARLY)
			row.flags |= TS_API_MAY_BEGIN_EARLY;
		row.cbid = (uint16_t)ts_unpack_u(unpack);
		if (!unpack->bad)
			r = feed_call(machine, session, &row);
	}
	return r ? r : ts_state_order_unpack(&machine->order, unpack);
}

int ts_state_machine_resume(struct ts_state_machine *machine, uint64_t n_fed,
			    struct ts_unpack *unpack)
{
	struct ts_state_calls *calls = &machine->calls;
	uint64_t n_window = ts_unpack_u(unpack), at = calls->next - n_window, key = 0;
	bool is_awaited = false;
	size_t n;

	if (unpack->bad || n_window != n_fed || n_window > calls->next - calls->first)
		return TS_SBT_E_CORRUPT;
	do {
		uint64_t n_run = ts_unpack_u(unpack);

		if (unpack->bad || n_run > calls->next - at || (!n_run && is_awaited))
			return TS_SBT_E_CORRUPT;
		for (; n_run; n_run--, at++) {
			struct ts_call *call = ts_state_calls_at(calls, at);

			calls->n_awaited += is_awaited;
			calls->n_awaited -= call->is_awaited;
			call->is_awaited = is_awaited;
		}
		is_awaited = !is_awaited;
	} while (at < calls->next);
	n = ts_unpack_count(unpack);
	if (n > MAX_EARLY)
		return TS_SBT_E_CORRUPT;
	for (size_t i = 0; i < n; i++) {
		uint32_t session = ts_unpack_u32(unpack);

		key = ts_unpack_from(unpack, key);
		ts_unpack_u(unpack);
		if (unpack->bad)
			return TS_SBT_E_CORRUPT;
		if (add_early(machine, session, key))
			return -ENOMEM;
	}
	return unpack->bad || unpack->at < unpack->end ? TS_SBT_E_CORRUPT : 0;
}

void ts_state_machine_given_up(const struct ts_state_machine *machine, uint32_t *ret_session,
			       uint64_t *ret_op_id)
{
	*ret_session = machine->calls.given_up.session;
	*ret_op_id = machine->calls.given_up.op_id;
}

uint64_t ts_state_machine_n_awaited_of(const struct ts_state_machine *machine,
				       const struct ts_state_map *ids)
{
	const struct ts_state_calls *calls = &machine->calls;
	uint64_t n_awaited = 0;

	for (uint64_t n = calls->first; n < calls->next; n++) {
		const struct ts_call *call = ts_state_calls_at(calls, n);

		n_awaited +=
			call->is_awaited &&
			ts_state_map_find(ids, call->session, call->op_id) != TS_STATE_MAP_NONE;
	}
	return n_awaited;
}

bool ts_state_machine_is_settled(const struct ts_state_machine *machine, uint32_t session,
				 uint64_t event)
{
	uint32_t marker = ts_state_map_find(&machine->order.marker_by_event, session, event);

	return marker == TS_STATE_MAP_NONE || machine->order.markers[marker].is_settled;
}

uint32_t ts_state_machine_home(const struct ts_state_machine *machine, const struct ts_state_op *op)
{
	return ts_state_order_home(&machine->order, op);
}
