/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queues operations in streams and picks the next one to run. run.c calls this file if a schedule
 * is given; this file calls exec-schedule.c for decisions and replay/streams for the order of
 * streams.
 *
 * The host's operations arrive in the order of the capture. Work for a stream enters the queue.
 * `behind` has a bit for each queued operation that must complete first. A decision of the schedule
 * may also hold an operation:
 *
 *	host operation --> queue() --> hold(): `held` = 0, or n
 *	                      |
 *	              do_waiting(): run operations with `behind` == 0,
 *	                            the smallest `held` first, until only held ones remain
 *	                      |
 *	host waits for some --> needed_for() --> do_waiting() runs these and their predecessors
 *
 * Each completed operation clears its bit in `behind` of all queued operations. If it is no event
 * record or stream wait, it also decrements their `held`. If no slot is free, the operation with
 * the smallest `held` runs.
 */
#include "replay/exec/exec-order.h"

enum {
	STREAM_CONTEXT,
	STREAM_NON_BLOCKING,
	LAST_RECORD, /* key: event; value: low bits of the record's number */
};

#define NUMBER_BITS UINT32_C(0x7fffffff)

static uint64_t bit(uint32_t i)
{
	return UINT64_C(1) << i;
}

static bool is_queued(const struct ts_row_operation *operation)
{
	switch (operation->kind) {
	case TS_OPERATION_LAUNCH:
	case TS_OPERATION_COPY:
	case TS_OPERATION_FILL:
	case TS_OPERATION_EVENT_RECORD:
	case TS_OPERATION_STREAM_WAIT:
		return true;
	default:
		return false;
	}
}

static bool is_point(const struct ts_row_operation *operation)
{
	return operation->kind == TS_OPERATION_EVENT_RECORD ||
	       operation->kind == TS_OPERATION_STREAM_WAIT;
}

static bool is_before(const struct ts_exec_waiting *one, const struct ts_exec_waiting *other)
{
	return ts_stream_is_same(&one->name, &other->name) ||
	       (one->name.context == other->name.context &&
		ts_streams_are_tied(&one->kind, &other->kind));
}

/* Returns the bit of the event's last record if the record has not run yet, else 0. */
static uint64_t record_of(const struct ts_exec_order *order, uint64_t event)
{
	uint32_t number = ts_state_map_find(&order->streams, LAST_RECORD, event);

	for (uint64_t left = order->is_waiting; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);
		const struct ts_exec_waiting *one = &order->waiting[i];

		if (one->operation->kind == TS_OPERATION_EVENT_RECORD &&
		    one->operation->object == event && (one->number & NUMBER_BITS) == number)
			return bit(i);
	}
	return 0;
}

static uint64_t of_object(const struct ts_exec_order *order, uint64_t object)
{
	uint64_t found = 0;

	for (uint64_t left = order->is_waiting; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);

		if (is_point(order->waiting[i].operation) &&
		    order->waiting[i].operation->object == object)
			found |= bit(i);
	}
	return found;
}

/*
 * Returns the bits of the queued operations that must complete before the stream can continue. For
 * the legacy default stream, these include the operations of the context's blocking streams.
 */
static uint64_t of_stream(const struct ts_exec_order *order,
			  const struct ts_row_operation *operation, uint64_t handle)
{
	const struct ts_stream_name name = {handle, operation->context, operation->thread};
	const struct ts_stream_kind kind = ts_stream_kind_of(handle);
	uint64_t found = 0;

	for (uint64_t left = order->is_waiting; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);
		const struct ts_exec_waiting *one = &order->waiting[i];

		if (ts_stream_is_same(&one->name, &name) ||
		    (one->name.context == name.context && ts_stream_wait_covers(&kind, &one->kind)))
			found |= bit(i);
	}
	return found;
}

bool ts_exec_order_drains(const struct ts_row_operation *operation)
{
	return operation->kind == TS_OPERATION_SYNC &&
	       !(operation->flags & (TS_OPERATION_SYNC_EVENT | TS_OPERATION_SYNC_STREAM));
}

/* Returns the bits of the operations that must complete before the host does this operation. */
static uint64_t needed_for(const struct ts_exec_order *order,
			   const struct ts_row_operation *operation)
{
	switch (operation->kind) {
	case TS_OPERATION_CONTEXT_CREATE:
	case TS_OPERATION_MODULE_LOAD:
	case TS_OPERATION_FUNCTION:
	case TS_OPERATION_VARIABLE:
	case TS_OPERATION_ALLOC:
	case TS_OPERATION_STREAM_CREATE:
	case TS_OPERATION_EVENT_CREATE:
	case TS_OPERATION_GRAPH_LAUNCH:
		return 0;
	case TS_OPERATION_EVENT_DESTROY:
		return of_object(order, operation->object);
	case TS_OPERATION_STREAM_DESTROY:
		return of_stream(order, operation, operation->object);
	case TS_OPERATION_SYNC:
		if (operation->flags & TS_OPERATION_SYNC_EVENT)
			return record_of(order, operation->object);
		if (!ts_exec_order_drains(operation))
			return of_stream(order, operation, operation->stream_handle);
		return order->is_waiting;
	default:
		return order->is_waiting;
	}
}

/*
 * Returns the bits of the needed operations and of all operations that must complete before them.
 */
static uint64_t with_those_before(const struct ts_exec_order *order, uint64_t needed)
{
	uint64_t all = needed & order->is_waiting, more = all;

	while (more) {
		uint64_t next = 0;

		for (; more; more &= more - 1)
			next |= order->waiting[__builtin_ctzll(more)].behind;
		more = next & ~all;
		all |= next;
	}
	return all;
}

/*
 * Picks the runnable operation with the smallest hold count; ties in call order. Returns
 * TS_EXEC_MAX_WAITING if none can run.
 */
static uint32_t least_held(const struct ts_exec_order *order, uint64_t among)
{
	uint32_t found = TS_EXEC_MAX_WAITING;

	for (uint64_t left = among & order->is_waiting; left; left &= left - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(left);
		const struct ts_exec_waiting *one = &order->waiting[i];
		const struct ts_exec_waiting *best = &order->waiting[found % TS_EXEC_MAX_WAITING];

		if (one->behind)
			continue;
		if (found == TS_EXEC_MAX_WAITING || one->held < best->held ||
		    (one->held == best->held && one->number < best->number))
			found = i;
	}
	return found;
}

static void note_held(struct ts_exec_waiting *one, const struct ts_row_operation *done)
{
	if (!one->decision || done->sequence < one->operation->sequence || is_point(done))
		return;
	if (!one->decision->first_before)
		one->decision->first_before = done->sequence;
	one->decision->last_before = done->sequence;
}

static int do_one(struct ts_exec_order *order, uint32_t i)
{
	const struct ts_row_operation *operation = order->waiting[i].operation;

	order->is_waiting &= ~bit(i);
	for (uint64_t left = order->is_waiting; left; left &= left - 1) {
		struct ts_exec_waiting *one = &order->waiting[__builtin_ctzll(left)];

		one->behind &= ~bit(i);
		one->held -= one->held && !is_point(operation);
		note_held(one, operation);
	}
	order->schedule->sequence = operation->sequence;
	return order->each(order->userdata, operation);
}

static int do_waiting(struct ts_exec_order *order, uint64_t needed)
{
	int r = 0;

	while (!r && order->is_waiting) {
		uint32_t i = least_held(order, order->is_waiting);

		/*
		 * At least one operation can always run, because an operation waits only for
		 * operations issued earlier.
		 */
		if (order->waiting[i].held) {
			uint64_t among = with_those_before(order, needed);

			if (among)
				i = least_held(order, among);
			else if (~order->is_waiting)
				return 0;
		}
		r = do_one(order, i);
	}
	return r;
}

/*
 * Makes the next decision of the schedule: holds the operation until `held` others have completed,
 * or until the host waits for it.
 */
static void hold(struct ts_exec_order *order, struct ts_exec_waiting *one)
{
	static const uint32_t counts[] = {1, 1, 2, 3, 4, 8, 16, UINT32_MAX};
	uint64_t value;

	order->schedule->sequence = one->operation->sequence;
	value = ts_exec_schedule_choose(order->schedule);
	if (!value)
		return;
	one->held = counts[value % (sizeof(counts) / sizeof(*counts))];
	one->decision = ts_exec_schedule_describe(order->schedule);
	if (one->decision)
		one->decision->is_held = true;
}

static uint32_t find_shared(const struct ts_exec_order *order, uint64_t address)
{
	uint32_t i = 0;

	while (i < order->n_shared && address - order->shared[i].start >= order->shared[i].bytes)
		i++;
	return i;
}

static void note_shared(struct ts_exec_order *order, const struct ts_row_operation *operation)
{
	uint32_t i;

	if (operation->kind == TS_OPERATION_FREE) {
		i = find_shared(order, operation->dst);
		if (i < order->n_shared)
			order->shared[i] = order->shared[--order->n_shared];
	} else if (operation->kind == TS_OPERATION_ALLOC &&
		   operation->flags & (TS_OPERATION_MEMORY_PINNED | TS_OPERATION_MEMORY_MANAGED) &&
		   order->n_shared < TS_EXEC_MAX_SHARED) {
		i = order->n_shared++;
		order->shared[i].start = operation->dst;
		order->shared[i].bytes = operation->bytes;
		order->shared[i].is_managed = operation->flags & TS_OPERATION_MEMORY_MANAGED;
	}
}

/*
 * True if the call returns only after its operation completes (CUDA: API synchronization behavior):
 * a synchronous copy, any copy to pageable or managed memory of the host, and a synchronous fill of
 * pinned or managed memory. Operations of graphs do not count.
 */
static bool is_waited_for(const struct ts_exec_order *order,
			  const struct ts_row_operation *operation)
{
	const uint32_t i = find_shared(order, operation->dst);

	if (operation->kind == TS_OPERATION_FILL)
		return !(operation->flags & (TS_OPERATION_ASYNC | TS_OPERATION_OF_GRAPH)) &&
		       i < order->n_shared;
	if (operation->kind != TS_OPERATION_COPY)
		return false;
	if (!(operation->flags & TS_OPERATION_ASYNC))
		return true;
	return operation->flags & TS_OPERATION_DST_HOST &&
	       !(operation->flags & TS_OPERATION_OF_GRAPH) &&
	       (i == order->n_shared || order->shared[i].is_managed);
}

static int queue(struct ts_exec_order *order, const struct ts_row_operation *operation)
{
	uint32_t i = (uint32_t)__builtin_ctzll(~order->is_waiting);
	struct ts_exec_waiting *one = &order->waiting[i];
	uint32_t context = TS_STATE_MAP_NONE;
	int r = 0;

	if (!ts_stream_is_implicit(operation->stream_handle))
		context = ts_state_map_find(&order->streams, STREAM_CONTEXT,
					    operation->stream_handle);
	*one = (struct ts_exec_waiting){
		.operation = operation,
		.number = order->n++,
		.name = {.handle = operation->stream_handle,
			 .context = context == TS_STATE_MAP_NONE ? operation->context : context,
			 .thread = operation->thread},
		.kind = ts_stream_kind_of(operation->stream_handle),
	};
	one->kind.is_non_blocking =
		ts_state_map_find(&order->streams, STREAM_NON_BLOCKING, operation->stream_handle) !=
		TS_STATE_MAP_NONE;
	for (uint64_t left = order->is_waiting; left; left &= left - 1) {
		uint32_t k = (uint32_t)__builtin_ctzll(left);

		if (is_before(&order->waiting[k], one))
			one->behind |= bit(k);
	}
	if (operation->kind == TS_OPERATION_STREAM_WAIT)
		one->behind |= record_of(order, operation->object);
	if (operation->kind == TS_OPERATION_EVENT_RECORD)
		r = ts_state_map_set(&order->streams, LAST_RECORD, operation->object,
				     (uint32_t)one->number & NUMBER_BITS);
	if (r)
		return r;
	order->is_waiting |= bit(i);
	if (is_waited_for(order, operation))
		return do_waiting(order, bit(i));
	if (!is_point(operation))
		hold(order, one);
	return do_waiting(order, 0);
}

static int note_stream(struct ts_exec_order *order, const struct ts_row_operation *operation)
{
	int r = 0;

	if (operation->context != TS_STATE_MAP_NONE)
		r = ts_state_map_set(&order->streams, STREAM_CONTEXT, operation->object,
				     operation->context);
	if (ts_stream_created(operation->value).is_non_blocking)
		return r
			       ?: ts_state_map_set(&order->streams, STREAM_NON_BLOCKING,
						   operation->object, 0);
	ts_state_map_remove(&order->streams, STREAM_NON_BLOCKING, operation->object);
	return r;
}

int ts_exec_order_next(struct ts_exec_order *order, const struct ts_row_operation *operation)
{
	int r;

	if (is_queued(operation))
		return queue(order, operation);
	r = do_waiting(order, needed_for(order, operation));
	if (!r && operation->kind == TS_OPERATION_STREAM_CREATE)
		r = note_stream(order, operation);
	note_shared(order, operation);
	order->schedule->sequence = operation->sequence;
	return r ?: order->each(order->userdata, operation);
}

int ts_exec_order_finish(struct ts_exec_order *order)
{
	return do_waiting(order, order->is_waiting);
}

void ts_exec_order_deinit(struct ts_exec_order *order)
{
	ts_state_map_deinit(&order->streams);
}
