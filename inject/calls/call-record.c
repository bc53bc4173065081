/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the records of a returning outermost call. cuda/callbacks.c and hip/hip-calls.c call this
 * file; this file calls the producer, the stack walker and the tables of calls. Only the stream's
 * id, the flush and the device rows differ between vendors, and stay with the callers.
 */
#include "inject/calls/call-record.h"

#include "inject/calls/access.h"

bool ts_call_is_stream_captured(struct ts_shim *shim, const struct ts_stream_op *op)
{
	uint64_t key = ts_call_stream_key(op->stream, op->per_thread);
	uint64_t event = (uint64_t)(uintptr_t)op->object;

	if (ts_likely(!__atomic_load_n(&shim->n_stream_captures, __ATOMIC_RELAXED)))
		return false;
	if (op->kind == TS_STREAM_OP_WAIT)
		return ts_stream_captures_wait(&shim->stream_captures, key, event);
	return ts_stream_captures_record(&shim->stream_captures, key,
					 op->kind == TS_STREAM_OP_EVENT ? event : 0);
}

/*
 * If the call that ends a capture fails, it ended an invalidated capture, or there was none; so the
 * count never goes below 0.
 */
void ts_call_count_stream_capture(struct ts_shim *shim, int change, bool failed, uint64_t stream)
{
	int32_t n = __atomic_load_n(&shim->n_stream_captures, __ATOMIC_RELAXED);

	if (change > 0 && failed)
		return;
	while (n + change >= 0 &&
	       !__atomic_compare_exchange_n(&shim->n_stream_captures, &n, n + change, false,
					    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	if (change > 0)
		ts_stream_captures_begin(&shim->stream_captures, stream);
	else
		ts_stream_captures_end(&shim->stream_captures, stream);
}

void ts_call_record_object(struct ts_shim *shim, enum ts_record_type type,
			   const struct ts_record_object *object)
{
	struct ts_thread *thread = ts_producer_thread(&shim->producer);
	struct ts_record_object *out;

	if (!thread)
		return;
	out = ts_thread_reserve(thread, type, sizeof(*out), shim->producer.clock,
				ts_producer_ticks(&shim->producer));
	if (!out)
		return;
	memcpy((uint8_t *)out + sizeof(out->record), (const uint8_t *)object + sizeof(out->record),
	       sizeof(*out) - sizeof(out->record));
	ts_thread_commit(thread, sizeof(*out));
}

void ts_call_record_stream_op(struct ts_shim *shim, struct ts_thread *thread,
			      const struct ts_stream_op *op, const struct ts_call_place *place,
			      uint64_t time)
{
	const uint64_t op_id = ts_tls.call.op_id;

	if (op->kind == TS_STREAM_OP_GRAPH) {
		struct ts_record_graph_launch *out;

		out = ts_thread_reserve(thread, TS_RECORD_GRAPH_LAUNCH, sizeof(*out),
					shim->producer.clock, time);
		if (!out)
			return;
		out->op_id = op_id;
		out->graph_exec = (uint64_t)(uintptr_t)op->object;
		out->stream_handle = (uint64_t)(uintptr_t)op->stream;
		out->context = place->context;
		out->stream = place->stream;
		out->graph = place->graph;
		out->reserved = 0;
		ts_thread_commit(thread, sizeof(*out));
	} else {
		struct ts_record_event *out;

		out = ts_thread_reserve(thread,
					op->kind == TS_STREAM_OP_EVENT ? TS_RECORD_EVENT
								       : TS_RECORD_STREAM_WAIT,
					sizeof(*out), shim->producer.clock, time);
		if (!out)
			return;
		out->op_id = op_id;
		out->event = (uint64_t)(uintptr_t)op->object;
		out->stream_handle = (uint64_t)(uintptr_t)op->stream;
		out->context = place->context;
		out->stream = place->stream;
		out->event_flags = op->flags;
		out->reserved = 0;
		ts_thread_commit(thread, sizeof(*out));
	}
}

/*
 * True if a successful call of a kind that allocates or frees may have made only a graph node. This
 * is possible while a stream capture is active.
 */
static bool is_of_graph(const struct ts_shim *shim, int32_t result, unsigned kind)
{
	return !result && (kind == TS_CUPTI_CLASS_ALLOC || kind == TS_CUPTI_CLASS_FREE) &&
	       __atomic_load_n(&shim->n_stream_captures, __ATOMIC_RELAXED);
}

static void record_access(struct ts_shim *shim, struct ts_thread *thread,
			  const struct ts_call_end *end, uint64_t time)
{
	struct ts_record_access *out;
	struct ts_access access;

	if (!ts_access_of(end->domain, end->cbid, end->params, &access) &&
	    !ts_access_of_box(end->domain, end->cbid, end->params, end->result, &access) &&
	    !ts_access_of_alloc(end->domain, end->cbid, end->params, end->result, &access))
		return;
	if (access.kind == TS_ACCESS_FREE && !end->result)
		access.kind = TS_ACCESS_FREED;
	out = ts_thread_reserve(thread, TS_RECORD_ACCESS, sizeof(*out), shim->producer.clock, time);
	if (!out)
		return;
	out->op_id = ts_tls.call.op_id;
	out->dst = access.dst;
	out->src = access.src;
	out->dst_bytes = access.dst_bytes;
	out->src_bytes = access.src_bytes;
	out->access = access.kind;
	out->reserved = 0;
	ts_thread_commit(thread, sizeof(*out));
}

void ts_call_count_stack(struct ts_thread *thread, uint32_t flags)
{
	if (flags & TS_STACK_NONE)
		ts_thread_count(thread, TS_LOSS_NO_STACK, 1);
	if (flags & TS_STACK_CUT)
		ts_thread_count(thread, TS_LOSS_STACK_TRUNCATED, 1);
	if (flags & TS_STACK_NO_PYTHON)
		ts_thread_count(thread, TS_LOSS_NO_PYTHON, 1);
}

/* Returns the flags of the API row of a returning call. */
static uint16_t flags_of(const struct ts_shim *shim, const struct ts_call_end *end)
{
	uint16_t flags = 0;

	if (end->result)
		return 0;
	if (!end->is_untimed && ts_tls.call.op_id < TS_OP_ID_SHARED &&
	    !__atomic_load_n(&shim->n_stream_captures, __ATOMIC_RELAXED) &&
	    (end->kind == TS_CUPTI_CLASS_LAUNCH ||
	     ts_call_table_expect_device(end->domain, end->cbid, end->params)))
		flags |= TS_API_EXPECTS_DEVICE;
	if (end->kind == TS_CUPTI_CLASS_LAUNCH &&
	    ts_call_table_may_begin_early(end->domain, end->cbid, end->params))
		flags |= TS_API_MAY_BEGIN_EARLY;
	return flags;
}

uint64_t ts_call_record(struct ts_shim *shim, struct ts_thread *thread,
			const struct ts_call_end *end)
{
	const uint64_t time = end->time ? end->time : ts_producer_ticks(&shim->producer);

	ts_call_write_row(shim, thread, end, flags_of(shim, end), shim->producer.clock, time);
	if ((end->kind == TS_CUPTI_CLASS_MEMCPY || end->kind == TS_CUPTI_CLASS_MEMSET ||
	     end->kind == TS_CUPTI_CLASS_FREE || end->kind == TS_CUPTI_CLASS_ALLOC) &&
	    !is_of_graph(shim, end->result, end->kind))
		record_access(shim, thread, end, time);
	return time;
}
