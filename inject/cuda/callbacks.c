/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles CUPTI's callbacks for calls, resources and state. recorder.c registers
 * ts_callbacks_handle() with CUPTI; at capture level `replay`, capture.c calls this file. This file
 * calls the producer, the stack walker and the tables of this folder.
 *
 * Entry and exit of a call are the hot path: no lock and no allocation, a system call only for a
 * new stack or thread, errno is kept. The outermost call makes the API row. Driver calls nested in
 * it are only linked.
 *
 * Traps: a callback must not call CUDA, and a resource callback must not flush. A forked child is
 * detected before any access to the session.
 */
#include "inject/cuda/callbacks.h"
#include "inject/calls/call-facts.h"
#include "inject/calls/call-record.h"
#include "inject/calls/call-table.h"
#include "inject/context.h"
#include "inject/cuda/renumber.h"
#include "inject/ring/ring-session.h"
#include "inject/shim-debug.h"
#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cupti_activity.h"
#include "proto/abi/vendor/cupti_cbid.h"

/*
 * True if the call that begins is nested in the current one. Runtime calls of CUDA are never
 * nested. Driver calls are: in a
 * runtime call, with an id of their own or the same id; in a driver call, with the same id. Trap:
 * an exit may be missing (longjmp(), an exception through C, late enabling). If any other call
 * begins, the current call has ended.
 */
static bool is_nested(const struct ts_call *call, uint32_t domain,
		      const struct ts_cupti_callback_data *data)
{
	return call->depth && domain != TS_CUPTI_CB_DOMAIN_RUNTIME_API &&
	       ((call->domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API &&
		 domain == TS_CUPTI_CB_DOMAIN_DRIVER_API) ||
		call->correlation == data->correlation_id);
}

static bool is_outermost(const struct ts_call *call, uint32_t domain, uint32_t cbid,
			 const struct ts_cupti_callback_data *data)
{
	return call->domain == domain && call->cbid == cbid &&
	       ((call->correlation == data->correlation_id && data->correlation_id) ||
		call->depth == 1);
}

/* Returns the id of a call that comes: the library's, widened; or the shim's, if there is none. */
static uint64_t library_id(struct ts_shim *shim, const struct ts_cupti_callback_data *data)
{
	if (ts_unlikely(!data->correlation_id && shim->cupti.vendor->flags & TS_PTI_BARE_CALLBACK))
		return TS_OP_ID_SHARED +
		       __atomic_fetch_add(&shim->n_shared_ids, 1, __ATOMIC_RELAXED);
	return ts_widen(&shim->widen, data->correlation_id);
}

/* Links a nested call that has an id of its own. Its device rows may carry this id. */
static void nest(struct ts_shim *shim, struct ts_call *call, uint32_t correlation)
{
	uint64_t op_id = ts_widen(&shim->widen, correlation);

	call->nested = correlation;
	if (ts_unlikely(ts_pause_leaves_out(&shim->pause, op_id) != call->left_out))
		ts_pause_stray(&shim->pause, op_id);
}

/*
 * Returns the op_id of an outermost call: normally `op_id`, the widened correlation id. The shim
 * does not watch the runtime's queries (cudaFuncGetAttributes() and others), so the driver calls of
 * a query are outermost calls. The first query may load code or make a context by several driver
 * calls, all with the same correlation id. The first of these driver calls gets `op_id`; each later
 * one gets a new op_id.
 */
static uint64_t op_id_of(struct ts_shim *shim, struct ts_call *call, uint32_t domain, uint32_t cbid,
			 const struct ts_cupti_callback_data *data, uint64_t op_id)
{
	const bool is_shared = data->correlation_id == call->correlation && data->correlation_id;
	unsigned kind;

	if (ts_likely(!is_shared))
		return op_id;
	kind = ts_call_table_class(domain, cbid);
	if (kind != TS_CUPTI_CLASS_MODULE && kind != TS_CUPTI_CLASS_CONTEXT)
		return op_id;
	return TS_OP_ID_SHARED + __atomic_fetch_add(&shim->n_shared_ids, 1, __ATOMIC_RELAXED);
}

static void enter(struct ts_shim *shim, bool recorded, uint32_t domain, uint32_t cbid,
		  const struct ts_cupti_callback_data *data)
{
	/*
	 * A pause stops only records. During a pause the shim still widens ids, because it would
	 * miss their wraps otherwise. It still counts stream captures, too.
	 */
	const uint64_t op_id = library_id(shim, data);
	const uint32_t generation = __atomic_load_n(&shim->generation, __ATOMIC_RELAXED);
	struct ts_call *call = &ts_tls.call;

	/* A call that HIP's runtime makes within a call of the application's. */
	if (ts_unlikely(call->depth && call->domain == TS_API_HIP &&
			(uintptr_t)__builtin_frame_address(0) < (uintptr_t)call->frame))
		return;
	/*
	 * The current call counts only if it began in this generation. A call of an earlier
	 * generation has ended, or its exit cannot be distinguished from another call's.
	 */
	if (ts_likely(call->generation == generation) && is_nested(call, domain, data)) {
		call->depth++;
		if (data->correlation_id != call->correlation)
			nest(shim, call, data->correlation_id);
	} else {
		if (ts_unlikely(call->depth && call->enter))
			ts_session_count(shim->control, TS_LOSS_UNFINISHED, 1);
		call->depth = 1;
		call->generation = generation;
		call->nested = 0;
		call->op_id = op_id_of(shim, call, domain, cbid, data, op_id);
		call->correlation = data->correlation_id;
		call->domain = domain;
		call->cbid = cbid;
		call->stream_flags = 0;
		call->stream_priority = 0;
		call->is_usual = false;
		call->left_out = ts_pause_leaves_out(&shim->pause, op_id);
		recorded = recorded && !call->left_out;
		call->enter = recorded ? ts_producer_ticks(&shim->producer) : 0;
		__atomic_store_n(&call->recorded, recorded, __ATOMIC_RELAXED);
	}
	if (ts_unlikely(ts_call_facts(domain, cbid).has_effect))
		(void)ts_call_table_stream_create(domain, cbid, data->function_params,
						  &call->stream_flags, &call->stream_priority);
}

/* Returns CUPTI's id of the stream that an application's handle names. */
static uint32_t stream_id(struct ts_shim *shim, const struct ts_cupti_callback_data *data,
			  const struct ts_stream_op *op, uint32_t *context)
{
	uint64_t handle = (uint64_t)(uintptr_t)op->stream;
	bool per_thread = op->per_thread;
	uint32_t id;

	*context = data->context_uid;
	if (!data->context || !shim->cupti.cuptiGetStreamIdEx)
		return TS_NO_DEVICE;
	if (handle == TS_CALL_STREAM_LEGACY)
		per_thread = false;
	if (handle == TS_CALL_STREAM_PER_THREAD || (!handle && per_thread)) {
		/*
		 * Each thread has its own per-thread stream, so the table by handle cannot hold it.
		 */
		if (shim->cupti.cuptiGetStreamIdEx(data->context, NULL, 1, &id))
			return TS_NO_DEVICE;
		return id;
	}
	if (!handle)
		handle = TS_CALL_STREAM_LEGACY;
	if (ts_stream_table_find(&shim->streams, data->context_uid, handle, &id))
		return id;
	/*
	 * The stream may belong to another device than the current one: waits and event records
	 * allow that.
	 */
	if (handle != TS_CALL_STREAM_LEGACY &&
	    ts_stream_table_find_handle(&shim->streams, handle, context, &id))
		return id;
	if (shim->cupti.cuptiGetStreamIdEx(data->context,
					   handle == TS_CALL_STREAM_LEGACY ? NULL : op->stream, 0,
					   &id))
		return TS_NO_DEVICE;
	ts_stream_table_add(&shim->streams, data->context_uid, handle, id);
	return id;
}

static void record_stream_op(struct ts_shim *shim, struct ts_thread *thread,
			     const struct ts_cupti_callback_data *data,
			     const struct ts_stream_op *op, uint64_t time)
{
	struct ts_call_place place = {.graph = 0};

	if (ts_call_is_stream_captured(shim, op))
		return;
	place.stream = stream_id(shim, data, op, &place.context);
	place.context = ts_renumbered_context(place.context, shim->first_cuda_device);
	if (op->kind == TS_STREAM_OP_GRAPH && shim->cupti.cuptiGetGraphExecId &&
	    shim->cupti.cuptiGetGraphExecId(op->object, &place.graph))
		place.graph = 0;
	ts_call_record_stream_op(shim, thread, op, &place, time);
}

/* Records a returning outermost call, and its stream operation if there is one. */
static void record_call(struct ts_shim *shim, struct ts_thread *thread, uint32_t domain,
			uint32_t cbid, struct ts_call_facts facts,
			const struct ts_cupti_callback_data *data)
{
	const unsigned kind = ts_call_facts_class(facts);
	const struct ts_call_end end = {
		.kind = kind,
		.domain = domain, /* CUPTI's domain ids are those of enum ts_api_domain */
		.as_domain = shim->cupti.vendor->api_domain[domain],
		.cbid = cbid,
		.params = data->function_params,
		.result = data->function_return_value ? *(int32_t *)data->function_return_value : 0,
		.context = ts_renumbered_context(data->context_uid, shim->first_cuda_device),
	};
	const uint64_t time = ts_call_record(shim, thread, &end);
	struct ts_stream_op op;

	if (ts_unlikely(end.result)) {
		ts_flush_after_error(&shim->flush, end.result);
		return;
	}
	/*
	 * A failed call is no work to flush (after the driver's shutdown, all calls fail). A
	 * context call is no work either.
	 */
	if (ts_unlikely(__atomic_load_n(&shim->producer.dirty, __ATOMIC_RELAXED) != TS_DIRTY) &&
	    kind != TS_CUPTI_CLASS_CONTEXT)
		ts_flush_notify(&shim->flush, &shim->producer.dirty);
	if (ts_likely(!facts.has_effect) ||
	    (kind != TS_CUPTI_CLASS_EVENT && kind != TS_CUPTI_CLASS_GRAPH_LAUNCH &&
	     kind != TS_CUPTI_CLASS_STREAM))
		return;
	op = ts_call_table_stream_op(domain, cbid, data->function_params);
	/*
	 * The nodes of a graph may begin before the launch returns, and must not precede the launch
	 * record.
	 */
	if (op.kind != TS_STREAM_OP_NONE)
		record_stream_op(shim, thread, data, &op,
				 op.kind == TS_STREAM_OP_GRAPH ? ts_tls.call.enter : time);
}

static void leave(struct ts_shim *shim, uint32_t mode, uint32_t domain, uint32_t cbid,
		  const struct ts_cupti_callback_data *data)
{
	struct ts_call *call = &ts_tls.call;
	struct ts_call_facts facts;
	struct ts_thread *thread;
	bool per_thread;
	void *stream;
	int capture;

	/*
	 * The shim did not see the entry of this call: the entry came before recording began. Or
	 * the thread's current call is another call, whose exit the shim did not see.
	 */
	if (!call->depth ||
	    (call->correlation != data->correlation_id &&
	     call->generation != __atomic_load_n(&shim->generation, __ATOMIC_RELAXED)))
		return;
	/*
	 * A nested call returns. If the exit of a nested call was missed, the exit of the outermost
	 * call ends it too.
	 */
	if (!is_outermost(call, domain, cbid, data)) {
		if (call->depth > 1)
			call->depth--;
		return;
	}
	call->depth = 0;
	__atomic_store_n(&call->recorded, 0, __ATOMIC_RELAXED);
	facts = ts_call_facts(domain, cbid);
	capture = ts_unlikely(facts.has_effect) ? ts_call_table_stream_capture(domain, cbid) : 0;
	if (ts_unlikely(capture)) {
		stream = ts_call_table_captured_stream(domain, cbid, data->function_params,
						       &per_thread);
		ts_call_count_stream_capture(shim, capture,
					     data->function_return_value &&
						     *(int32_t *)data->function_return_value,
					     ts_call_stream_key(stream, per_thread));
	}
	if (ts_unlikely(!call->enter))
		return;
	/*
	 * The thread's ring is claimed at exit, when the launch is already under way. If NULL, the
	 * loss was counted.
	 */
	thread = ts_producer_thread(&shim->producer);
	if (ts_unlikely(!thread))
		return;
	if (ts_unlikely(mode == TS_GATE_COUNT)) {
		/* The ring has had no daemon for long, so the ring would be full. */
		ts_thread_count(thread, TS_LOSS_RING_FULL, 1);
		return;
	}
	record_call(shim, thread, domain, cbid, facts, data);
}

static void renumber(const struct ts_shim *shim, struct ts_record_object *object)
{
	object->device = ts_renumbered_device(object->device, shim->first_cuda_device);
	object->context = ts_renumbered_context(object->context, shim->first_cuda_device);
}

static void on_context(struct ts_shim *shim, const struct ts_cupti_resource_data *data,
		       enum ts_object_action action)
{
	struct ts_record_object object = {
		.handle = (uint64_t)(uintptr_t)data->context,
		.device = TS_NO_DEVICE,
		.stream = TS_NO_DEVICE,
		.action = (uint8_t)action,
	};

	if (!shim->cupti.cuptiGetContextId ||
	    shim->cupti.cuptiGetContextId(data->context, &object.context))
		return;
	if (shim->cupti.cuptiGetDeviceId &&
	    shim->cupti.cuptiGetDeviceId(data->context, &object.device))
		object.device = TS_NO_DEVICE;
	renumber(shim, &object);
	(void)ts_id_set_add(&shim->objects, ts_activity_object(object.context, TS_NO_DEVICE));
	ts_call_record_object(shim, TS_RECORD_CONTEXT, &object);
}

/*
 * Handles the creation or destruction of a stream. If `recorded` is false, only updates the table
 * of stream ids.
 */
static void on_stream(struct ts_shim *shim, bool recorded,
		      const struct ts_cupti_resource_data *data, enum ts_object_action action)
{
	const struct ts_call *call = &ts_tls.call;
	struct ts_record_object object = {
		.handle = (uint64_t)(uintptr_t)data->resource_handle.stream,
		.device = TS_NO_DEVICE,
		.action = (uint8_t)action,
	};

	if (!shim->cupti.cuptiGetContextId || !shim->cupti.cuptiGetStreamIdEx ||
	    shim->cupti.cuptiGetContextId(data->context, &object.context))
		return;
	/* The null streams belong to the context; the application did not create them. */
	if (object.handle <= TS_CALL_STREAM_PER_THREAD)
		return;
	if (shim->cupti.cuptiGetStreamIdEx(data->context, data->resource_handle.stream, 0,
					   &object.stream))
		return;
	if (action == TS_OBJECT_CREATED)
		ts_stream_table_add(&shim->streams, object.context, object.handle, object.stream);
	else
		ts_stream_table_remove(&shim->streams, object.context, object.handle);
	if (!recorded)
		return;
	if (shim->cupti.cuptiGetDeviceId &&
	    shim->cupti.cuptiGetDeviceId(data->context, &object.device))
		object.device = TS_NO_DEVICE;
	renumber(shim, &object);
	(void)ts_id_set_add(&shim->objects, ts_activity_object(object.context, object.stream));
	if (action == TS_OBJECT_CREATED) {
		object.object_flags = TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN;
		if (call->depth) {
			object.object_flags =
				call->stream_flags & TS_CU_STREAM_NON_BLOCKING
					? TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
					: TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
			object.priority = call->stream_priority;
		}
	}
	ts_call_record_object(shim, TS_RECORD_STREAM, &object);
}

static void on_module(struct ts_shim *shim, const struct ts_cupti_resource_data *data,
		      enum ts_object_action action)
{
	const struct ts_cupti_module_data *module = data->resource_descriptor;
	struct ts_thread *thread = ts_producer_thread(&shim->producer);
	struct ts_record_gpu_module *out;
	uint32_t context = 0;

	if (!module || !thread)
		return;
	if (shim->cupti.cuptiGetContextId && data->context &&
	    shim->cupti.cuptiGetContextId(data->context, &context))
		context = 0;
	out = ts_thread_reserve(thread, TS_RECORD_GPU_MODULE, sizeof(*out), shim->producer.clock,
				ts_producer_ticks(&shim->producer));
	if (!out)
		return;
	out->bytes = module->cubin_size;
	out->module = module->module_id;
	out->context = ts_renumbered_context(context, shim->first_cuda_device);
	out->action = (uint8_t)action;
	memset(out->reserved, 0, sizeof(out->reserved));
	ts_thread_commit(thread, sizeof(*out));
}

static void on_resource(struct ts_shim *shim, bool recorded, uint32_t cbid,
			const struct ts_cupti_resource_data *data)
{
	if (cbid == TS_CUPTI_CBID_RESOURCE_STREAM_CREATED)
		on_stream(shim, recorded, data, TS_OBJECT_CREATED);
	else if (cbid == TS_CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING)
		on_stream(shim, recorded, data, TS_OBJECT_DESTROYED);
	else if (!recorded)
		return;
	else if (cbid == TS_CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
		on_context(shim, data, TS_OBJECT_CREATED);
	else if (cbid == TS_CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
		on_context(shim, data, TS_OBJECT_DESTROYED);
	else if (cbid == TS_CUPTI_CBID_RESOURCE_MODULE_LOADED)
		on_module(shim, data, TS_OBJECT_CREATED);
	else if (cbid == TS_CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING)
		on_module(shim, data, TS_OBJECT_DESTROYED);
}

/* Trap: after a fatal error CUPTI finalises itself; this callback is the only sign. */
static void on_state(struct ts_shim *shim, uint32_t cbid, const struct ts_cupti_state_data *data)
{
	char text[256];

	if (cbid != TS_CUPTI_CBID_STATE_FATAL_ERROR)
		return;
	snprintf(text, sizeof(text), "CUPTI ended after a fatal error: %s",
		 data && data->message
			 ? data->message
			 : ts_cupti_result(&shim->cupti,
					   data ? data->result : TS_CUPTI_ERROR_UNKNOWN));
	/* The shim makes no further CUPTI call: CUPTI can neither flush nor unsubscribe now. */
	__atomic_store_n(&shim->cupti.held, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&shim->gate->recording, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&shim->gate->mode, TS_GATE_CLOSED, __ATOMIC_SEQ_CST);
	ts_session_refuse(shim->control, TS_EMPTY_CUPTI_ERROR, text);
}

static __attribute__((noinline)) void enter_otherwise(struct ts_shim *shim, uint32_t domain,
						      uint32_t cbid,
						      const struct ts_cupti_callback_data *data)
{
	/* Nothing here sets errno. */
	ts_tls.busy = TS_BUSY_IN_CALL;
	enter(shim, ts_shim_is_recording(shim), domain, cbid, data);
	ts_tls.busy = TS_BUSY_NOT;
}

/*
 * True if on_enter() and on_leave() record the call by themselves: a launch that is outermost, has
 * an id of its own and reads the processor's clock, while recording goes on.
 */
static inline bool is_usual(const struct ts_shim *shim, const struct ts_call *call, uint32_t domain,
			    uint32_t cbid, uint32_t correlation, uint64_t *ret_op_id)
{
	/* The thread's last call was often the same. Then its facts need no look-up. */
	const bool is_same = call->is_usual && call->cbid == cbid && call->domain == domain;

	return (ts_likely(is_same) || (ts_call_facts_is_launch(ts_call_facts(domain, cbid)) &&
				       !ts_call_has_attributes(domain, cbid))) &&
	       !call->depth && call->correlation != correlation &&
	       ts_widen_near(&shim->widen, correlation, ret_op_id) &&
	       *ret_op_id < TS_OP_ID_SHARED && ts_pause_records(&shim->pause, *ret_op_id) &&
	       ts_shim_is_recording(shim) && shim->producer.clock == TS_CLOCK_TSC;
}

/* A call begins. The usual one needs no function call; all others take the long way. */
static inline void on_enter(struct ts_shim *shim, uint32_t domain, uint32_t cbid,
			    const struct ts_cupti_callback_data *data)
{
	struct ts_call *call = &ts_tls.call;
	uint64_t op_id;

	if (ts_unlikely(!is_usual(shim, call, domain, cbid, data->correlation_id, &op_id))) {
		enter_otherwise(shim, domain, cbid, data);
		return;
	}
	ts_tls.busy = TS_BUSY_IN_CALL;
	call->depth = 1;
	call->generation = __atomic_load_n(&shim->generation, __ATOMIC_RELAXED);
	call->nested = 0;
	call->op_id = op_id;
	call->correlation = data->correlation_id;
	call->domain = domain;
	call->cbid = cbid;
	call->stream_flags = 0;
	call->stream_priority = 0;
	call->is_usual = true;
	call->left_out = false;
	call->enter = ts_clock_ticks(TS_CLOCK_TSC);
	__atomic_store_n(&call->recorded, 1, __ATOMIC_RELAXED);
	ts_tls.busy = TS_BUSY_NOT;
}

static __attribute__((noinline)) void leave_otherwise(struct ts_shim *shim, uint32_t mode,
						      uint32_t domain, uint32_t cbid,
						      const struct ts_cupti_callback_data *data)
{
	int saved_errno = errno;

	ts_tls.busy = TS_BUSY_IN_CALL;
	leave(shim, mode, domain, cbid, data);
	ts_tls.busy = TS_BUSY_NOT;
	errno = saved_errno;
}

/* True if the call is the one that on_enter() recorded, and its device row is certain to come. */
static inline bool is_usual_end(const struct ts_shim *shim, const struct ts_call *call,
				uint32_t domain, uint32_t cbid,
				const struct ts_cupti_callback_data *data)
{
	const int32_t *result = data->function_return_value;

	return call->is_usual && call->depth == 1 && call->correlation == data->correlation_id &&
	       call->cbid == cbid && call->domain == domain && (!result || !*result) &&
	       ts_tls.thread && ts_tls.epoch == shim->producer.epoch &&
	       !__atomic_load_n(&shim->n_stream_captures, __ATOMIC_RELAXED);
}

/* A call returns. The usual one takes the short way; what sets errno there restores it. */
static __attribute__((noinline)) void on_leave(struct ts_shim *shim, uint32_t domain, uint32_t cbid,
					       const struct ts_cupti_callback_data *data)
{
	struct ts_call *call = &ts_tls.call;
	struct ts_call_end end;

	if (ts_unlikely(!is_usual_end(shim, call, domain, cbid, data))) {
		leave_otherwise(shim, TS_GATE_OPEN, domain, cbid, data);
		return;
	}
	ts_tls.busy = TS_BUSY_IN_CALL;
	call->depth = 0;
	__atomic_store_n(&call->recorded, 0, __ATOMIC_RELAXED);
	end = (struct ts_call_end){
		.kind = TS_CUPTI_CLASS_LAUNCH,
		.as_domain = shim->cupti.vendor->api_domain[domain],
		.cbid = cbid,
		.context = ts_renumbered_context(data->context_uid, shim->first_cuda_device),
	};
	ts_call_write_row(shim, ts_tls.thread, &end, TS_API_EXPECTS_DEVICE, TS_CLOCK_TSC,
			  ts_clock_ticks(TS_CLOCK_TSC));
	if (ts_unlikely(__atomic_load_n(&shim->producer.dirty, __ATOMIC_RELAXED) != TS_DIRTY))
		ts_flush_notify(&shim->flush, &shim->producer.dirty);
	ts_tls.busy = TS_BUSY_NOT;
}

static void on_other(struct ts_shim *shim, uint32_t mode, uint32_t domain, uint32_t cbid,
		     const void *data)
{
	int saved_errno = errno;

	ts_tls.busy = TS_BUSY_IN_CALL;
	if (domain == TS_CUPTI_CB_DOMAIN_RESOURCE)
		on_resource(shim, mode == TS_GATE_OPEN && ts_shim_is_recording(shim), cbid, data);
	else if (domain == TS_CUPTI_CB_DOMAIN_STATE)
		on_state(shim, cbid, data);
	ts_tls.busy = TS_BUSY_NOT;
	errno = saved_errno;
}

static bool is_call(uint32_t domain)
{
	return domain == TS_CUPTI_CB_DOMAIN_DRIVER_API ||
	       domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API || domain == TS_CALLBACKS_LIKE_HIP;
}

/* A callback while the thread is in the shim. */
static void on_busy(struct ts_shim *shim, uint32_t domain,
		    const struct ts_cupti_callback_data *data)
{
	if (ts_tls.busy == TS_BUSY_PROBING)
		shim->yield.probed_id = data->correlation_id;
	/* A callback that a call of the shim causes is not a call of the application. */
	else if (__atomic_load_n(&shim->gate->mode, __ATOMIC_RELAXED) != TS_GATE_CLOSED &&
		 (domain <= TS_CUPTI_CB_DOMAIN_RUNTIME_API || domain == TS_CALLBACKS_LIKE_HIP) &&
		 data->callback_site == TS_CUPTI_API_ENTER)
		ts_session_count(shim->control, TS_LOSS_REENTERED, 1);
}

/* All callbacks but the usual ones. */
static __attribute__((noinline)) void handle_otherwise(struct ts_shim *shim, uint32_t domain,
						       uint32_t cbid, const void *data)
{
	const struct ts_cupti_callback_data *call = data;
	const uint32_t mode = __atomic_load_n(&shim->gate->mode, __ATOMIC_RELAXED);

	if (!data)
		return;
	if (ts_tls.busy) {
		on_busy(shim, domain, data);
		return;
	}
	if (mode == TS_GATE_CLOSED)
		return;
	if (!is_call(domain)) {
		on_other(shim, mode, domain, cbid, data);
		return;
	}
	domain = domain == TS_CALLBACKS_LIKE_HIP ? TS_API_HIP : domain;
	if (call->callback_site == TS_CUPTI_API_ENTER)
		enter_otherwise(shim, domain, cbid, call);
	else
		leave_otherwise(shim, mode, domain, cbid, call);
}

/* Needs no stack frame: it makes no call but to functions that end it. */
void ts_callbacks_handle(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	struct ts_shim *shim = userdata;
	const struct ts_cupti_callback_data *call = data;

	/*
	 * The kernel wipes the gate's page in a forked child, so `mode` is TS_GATE_CLOSED in the
	 * child. The rest of the session is the parent's.
	 */
	if (ts_unlikely(!data || ts_tls.busy ||
			__atomic_load_n(&shim->gate->mode, __ATOMIC_RELAXED) != TS_GATE_OPEN ||
			(domain != TS_CUPTI_CB_DOMAIN_DRIVER_API &&
			 domain != TS_CUPTI_CB_DOMAIN_RUNTIME_API)))
		handle_otherwise(shim, domain, cbid, data);
	else if (call->callback_site == TS_CUPTI_API_ENTER)
		on_enter(shim, domain, cbid, call);
	else
		on_leave(shim, domain, cbid, call);
}
