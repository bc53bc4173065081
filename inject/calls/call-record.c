/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the records of a returning outermost call. cuda/callbacks.c and hip/hip-calls.c call this
 * file; this file calls the producer, the stack walker and the tables of calls. Only the stream's
 * id, the flush and the device rows differ between vendors, and stay with the callers.
 */
#include "inject/calls/call-record.h"

#include "inject/calls/access.h"
#include "proto/abi/vendor/cupti_cbid.h"

#define STREAM_LEGACY	  1u
#define STREAM_PER_THREAD 2u

uint64_t ts_call_stream_key(const void *stream, bool per_thread)
{
	uint64_t handle = (uint64_t)(uintptr_t)stream;

	if (handle == STREAM_PER_THREAD || (!handle && per_thread))
		return (uint64_t)(uintptr_t)&ts_tls;
	return handle ? handle : STREAM_LEGACY;
}

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

static uint32_t capture_stack(struct ts_shim *shim, struct ts_thread *thread)
{
	uint32_t flags = 0;
	uint32_t stack;

	/* The settings of the process and the daemon's command can each disable stacks. */
	if (!shim->config.stacks ||
	    !(__atomic_load_n(&shim->control->command, __ATOMIC_RELAXED) & TS_COMMAND_STACKS))
		return TS_ID_UNKNOWN;
	if (ts_unlikely(!ts_stack_works(&shim->stacks))) {
		ts_thread_count(thread, TS_LOSS_NO_STACK, 1);
		return TS_ID_UNKNOWN;
	}
	stack = ts_stack_capture(&shim->stacks, &shim->definitions, &thread->stacks, &flags);
	if (ts_unlikely(flags & TS_STACK_CUT))
		ts_thread_count(thread, TS_LOSS_STACK_TRUNCATED, 1);
	if (ts_unlikely(flags & TS_STACK_NO_PYTHON))
		ts_thread_count(thread, TS_LOSS_NO_PYTHON, 1);
	return stack;
}

uint64_t ts_call_record(struct ts_shim *shim, struct ts_thread *thread,
			const struct ts_call_end *end)
{
	const struct ts_call *call = &ts_tls.call;
	const uint64_t time = end->time ? end->time : ts_producer_ticks(&shim->producer);
	const unsigned kind = end->kind;
	const bool expects_device =
		!end->result && !end->is_untimed && call->op_id < TS_OP_ID_SHARED &&
		!__atomic_load_n(&shim->n_stream_captures, __ATOMIC_RELAXED) &&
		(kind == TS_CUPTI_CLASS_LAUNCH ||
		 ts_call_table_expect_device(end->domain, end->cbid, end->params));
	/*
	 * The stack is captured at exit, so that unwinding does not delay the launch. Frameworks
	 * set the current device before nearly every call, so calls of class CONTEXT get no stack.
	 */
	const uint32_t stack =
		kind == TS_CUPTI_CLASS_CONTEXT ? TS_ID_UNKNOWN : capture_stack(shim, thread);
	struct ts_record_api *out;

	out = ts_thread_reserve(thread, TS_RECORD_API, sizeof(*out), shim->producer.clock,
				call->enter);
	if (ts_likely(out != NULL)) {
		if (expects_device)
			out->record.flags = TS_API_EXPECTS_DEVICE;
		if (!end->result && kind == TS_CUPTI_CLASS_LAUNCH &&
		    ts_call_table_may_begin_early(end->domain, end->cbid, end->params))
			out->record.flags |= TS_API_MAY_BEGIN_EARLY;
		out->end = time;
		out->op_id = call->op_id;
		out->nested_op_id = call->nested ? ts_widen(&shim->widen, call->nested) : 0;
		out->stack = stack;
		out->domain = (uint16_t)end->as_domain;
		out->cbid = (uint16_t)end->cbid;
		out->result = end->result;
		out->context = end->context;
		ts_thread_commit(thread, sizeof(*out));
	}
	if ((kind == TS_CUPTI_CLASS_MEMCPY || kind == TS_CUPTI_CLASS_MEMSET ||
	     kind == TS_CUPTI_CLASS_FREE || kind == TS_CUPTI_CLASS_ALLOC) &&
	    !is_of_graph(shim, end->result, kind))
		record_access(shim, thread, end, time);
	return time;
}
