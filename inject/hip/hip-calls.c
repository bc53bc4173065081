/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records HIP's calls. The wrappers of hip-wrappers.c call this file at the entry and the return of
 * each watched call. This file calls calls/call-record.c, hip-work.c and hip-session.c.
 *
 * Entry and return are the hot path: no lock and no allocation, a system call only for a new stack
 * or thread, errno is kept. The facts of work are stored before the runtime gets the call, because
 * the work may be over before the call returns.
 *
 * Trap: a call's return may be missing (longjmp(), an exception through C). The next call of the
 * thread notices it: its stack frame lies where the lost call's frame was, or above.
 */
#include <sys/mman.h>

#include "inject/calls/access.h"
#include "inject/calls/call-record.h"
#include "inject/capture/capture-interface.h"
#include "inject/hip/hip-arguments.h"
#include "inject/hip/hip-recorder.h"
#include "inject/hip/hip-slots.h"
#include "inject/ring/ring-session.h"
#include "proto/abi/vendor/cupti_activity.h"
#include "proto/abi/vendor/cupti_cbid.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_calls.h"
#include "proto/abi/vendor/hip_params.h"

/* Handles up to this one are HIP's names of null streams: of the device, of the thread. */
#define LAST_SPECIAL_STREAM 2u

/*
 * True if the wrapper's frame of the thread's call is still in the stack. A call that longjmp()
 * left has no end; later calls overwrite its frame. Trap: its stack may be unmapped by then, as a
 * coroutine's; the page of `inner`, a frame in use, is not.
 */
static bool is_in_stack(const struct ts_call *call, const struct ts_hip_frame *inner)
{
	const struct ts_hip_frame *outer = call->frame;
	const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
	const uintptr_t page = (uintptr_t)&outer->op_id & -page_bytes;
	unsigned char resident;

	if (page != ((uintptr_t)inner & -page_bytes) && mincore((void *)page, 1, &resident))
		return false;
	return outer->op_id == call->op_id;
}

/* True if the thread is inside a call of the application's, of any vendor. */
static bool is_in_call(const struct ts_hip_frame *frame)
{
	const struct ts_call *call = &ts_tls.call;

	if (!call->depth)
		return false;
	/* Stacks grow down: a nested call's frame lies below. */
	if (call->domain == TS_API_HIP)
		return (uintptr_t)frame < (uintptr_t)call->frame && is_in_stack(call, frame);
	/* A call of CUDA whose end nobody reports is no more: CUPTI was given up meanwhile. */
	return ts_cupti_is_ours(&ts_shim.cupti) &&
	       call->generation == __atomic_load_n(&ts_shim.generation, __ATOMIC_RELAXED);
}

/*
 * Returns the current device of the thread, as its calls set it; 0 at first. Does not ask the
 * runtime. Trap: each function of the runtime sets the thread's last error, also on success, so the
 * application's hipGetLastError() would lose the error of the application's own call.
 */
static uint32_t current_device(void)
{
	return ts_tls.hip_device;
}

static uint32_t context_of(const struct ts_shim *shim, uint32_t device)
{
	return shim->hip.first_device + device + 1;
}

/*
 * Returns the id of a stream in the trace, and gives it one at its first use. Null streams have ids
 * of their own, one for each device; so have the null streams of threads. *device: the current
 * device; receives the stream's.
 */
static uint32_t stream_id(struct ts_shim *shim, uint32_t *device, const void *stream,
			  bool per_thread)
{
	struct ts_hip *hip = &shim->hip;
	const uint32_t context = context_of(shim, *device);
	uint64_t handle = ts_call_stream_key(stream, per_thread);
	uint32_t id, of, flags;

	if (ts_stream_table_find(&hip->streams, context, handle, &id))
		return id;
	/* A stream with a handle belongs to one device, whichever is current. */
	if ((uintptr_t)stream > LAST_SPECIAL_STREAM) {
		if (ts_stream_table_find_handle(&hip->streams, handle, &of, &id)) {
			*device = of - hip->first_device - 1;
			return id;
		}
		flags = TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN;
	} else if (handle == ts_call_stream_key(NULL, false)) {
		flags = TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL;
	} else {
		flags = TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
	}
	id = __atomic_add_fetch(&hip->n_streams, 1, __ATOMIC_RELAXED);
	ts_stream_table_add(&hip->streams, context, handle, id);
	/* Another thread may have added the same stream: the first entry is the stream's id. */
	if (ts_stream_table_find(&hip->streams, context, handle, &of) && of != id)
		return of;
	/* No call created it, so nothing else records its kind. */
	ts_call_record_object(shim, TS_RECORD_STREAM,
			      &(struct ts_record_object){
				      .handle = (uint64_t)(uintptr_t)stream,
				      .device = hip->first_device + *device,
				      .context = context,
				      .stream = id,
				      .object_flags = flags,
				      .action = TS_OBJECT_SEEN,
			      });
	return id;
}

/* Returns the id of an executable graph in the trace, and gives it one at its first launch. */
static uint32_t graph_id(struct ts_shim *shim, const void *graph)
{
	struct ts_stream_table *graphs = &shim->hip.graph_ids;
	const uint64_t handle = (uint64_t)(uintptr_t)graph;
	uint32_t id, first;

	if (!graph || ts_stream_table_find(graphs, 0, handle, &id))
		return graph ? id : 0;
	id = __atomic_add_fetch(&shim->hip.n_graph_ids, 1, __ATOMIC_RELAXED);
	ts_stream_table_add(graphs, 0, handle, id);
	/* As for streams: the first entry is the graph's id. */
	return ts_stream_table_find(graphs, 0, handle, &first) ? first : id;
}

/* Returns the name of a launch's kernel, for runtimes whose records have none; 0: no name. */
static uint32_t kernel_name(struct ts_shim *shim, uint32_t id, const void *params, void *stream)
{
	const char *name;
	struct ts_thread *thread;
	const void *kernel;

	if (!shim->hip.name_of_pointer || !shim->hip.name_of_function)
		return 0;
	kernel = ts_hip_function_of(id, params);
	thread = kernel ? ts_producer_thread(&shim->producer) : NULL;
	if (!thread)
		return 0;
	name = ts_hip_is_pointer(id) ? shim->hip.name_of_pointer(kernel, stream)
				     : shim->hip.name_of_function((void *)(uintptr_t)kernel);
	return name ? ts_definitions_string_cached(&shim->definitions, &thread->strings, name) : 0;
}

/* Stores the facts that the device rows of this call will need. */
static void keep_work(struct ts_shim *shim, uint32_t id, unsigned kind, const void *params)
{
	const struct ts_call *call = &ts_tls.call;
	struct ts_hip_work work = {.op_id = call->op_id, .kind = (uint8_t)kind};
	struct ts_hip_stream stream = ts_hip_stream_of(id, params);
	const uint32_t traced = __atomic_load_n(&shim->hip.traced, __ATOMIC_RELAXED);
	struct ts_access access;

	work.device = current_device();
	work.stream = stream_id(shim, &work.device, stream.handle, stream.per_thread);
	work.async = stream.is_async;
	/* rocprofiler-sdk reports no copies that the processor carries out. */
	work.is_awaited = (kind == TS_CUPTI_CLASS_LAUNCH ||
			   (traced != TS_INTERFACE_ROCPROFILER_SDK &&
			    ts_call_table_expect_device(TS_API_HIP, id, params))) &&
			  (traced || call->events) &&
			  !__atomic_load_n(&shim->n_stream_captures, __ATOMIC_RELAXED);
	if (kind == TS_CUPTI_CLASS_LAUNCH) {
		ts_hip_launch_of(id, params, &work);
		work.code = ts_hip_code_in(&ts_loaded.hip.codes, shim->pid,
					   ts_hip_function_of(id, params));
		work.name = kernel_name(shim, id, params, stream.handle);
	} else if (kind == TS_CUPTI_CLASS_GRAPH_LAUNCH) {
		const void *exec = ts_call_table_stream_op(TS_API_HIP, id, params).object;

		work.graph = ts_hip_graph_launched(&shim->hip.graphs, exec);
		work.graph_id = graph_id(shim, exec);
	} else {
		if (kind == TS_CUPTI_CLASS_MEMCPY)
			work.copy_kind = ts_hip_copy_kind_of(id, params);
		else
			work.value = ts_hip_set_value_of(id, params);
		if (ts_access_of(TS_API_HIP, id, params, &access))
			work.bytes = access.dst_bytes;
	}
	ts_hip_works_put(&shim->hip.works, &work);
}

/*
 * While a stream capture is active, an allocation or a free in a stream may make a graph node and
 * change no memory.
 */
static bool is_in_graph(const struct ts_shim *shim, uint32_t id, const void *params)
{
	return __atomic_load_n(&shim->n_stream_captures, __ATOMIC_RELAXED) &&
	       ts_hip_stream_of(id, params).is_async;
}

/*
 * Forgets the object that a call is about to destroy. It has to be before the call: as soon as the
 * runtime has destroyed the object, it may give the same handle or address to another thread, whose
 * object would be forgotten. `frame` keeps the facts for the call's rows, and for keep_object().
 */
static void forget_object(struct ts_shim *shim, struct ts_hip_frame *frame, uint32_t id,
			  unsigned kind, const void *params)
{
	struct ts_stream_table *streams = &shim->hip.streams;
	const uint32_t device = current_device();
	struct ts_access access;

	if (kind == TS_CUPTI_CLASS_FREE && !is_in_graph(shim, id, params) &&
	    ts_access_of(TS_API_HIP, id, params, &access)) {
		frame->is_known =
			ts_hip_memory_remove(&shim->hip.memory, access.dst, &frame->allocation);
		if (!frame->is_known)
			frame->allocation = (struct ts_hip_allocation){access.dst, 0, 0, device};
	} else if (kind == TS_CUPTI_CLASS_STREAM && ts_hip_is_stream_destroy(id)) {
		frame->handle = (uint64_t)(uintptr_t)ts_hip_stream_of(id, params).handle;
		frame->is_known = ts_stream_table_find_handle(streams, frame->handle,
							      &frame->context, &frame->stream);
		if (frame->is_known)
			ts_stream_table_remove(streams, frame->context, frame->handle);
	} else if (kind == TS_CUPTI_CLASS_MODULE && ts_hip_is_module_unload(id)) {
		ts_hip_follow_module(shim, id, params, device);
	} else if (kind == TS_CUPTI_CLASS_GRAPH && ts_hip_is_graph_destroy(id)) {
		ts_hip_graph_follow(shim, id, params);
		if (id == TS_HIP_CALL_hipGraphExecDestroy)
			ts_stream_table_remove(
				&shim->hip.graph_ids, 0,
				(uint64_t)(uintptr_t)((const struct hipGraphExecDestroy_params *)
							      params)
					->graph_exec);
	}
}

/*
 * The call failed, so its memory or stream still exists. A module or a graph whose destruction
 * failed stays forgotten: its later launches lack facts of their device code, or have a new id.
 */
static void keep_object(struct ts_shim *shim, const struct ts_hip_frame *frame)
{
	if (!frame->is_known)
		return;
	if (frame->handle)
		ts_stream_table_add(&shim->hip.streams, frame->context, frame->handle,
				    frame->stream);
	else
		ts_hip_memory_add(&shim->hip.memory, &frame->allocation);
}

static bool is_captured(const struct ts_shim *shim)
{
	/* Acquire: pairs with the release in ts_capture_link_start_hip(). */
	return __atomic_load_n(&shim->capture.hip.is_used, __ATOMIC_ACQUIRE);
}

/* Begins a call of the classes that make no records, such as a query. */
static bool enter_captured(struct ts_shim *shim, struct ts_hip_frame *frame, uint32_t id,
			   const void *params)
{
	int saved_errno = errno;

	if (!is_captured(shim))
		return false;
	frame->params = params;
	frame->captured = id;
	ts_tls.busy = TS_BUSY_IN_CALL;
	shim->capture.library->hip_enter(shim, id, params, current_device());
	ts_tls.busy = TS_BUSY_NOT;
	errno = saved_errno;
	return true;
}

static void leave_captured(struct ts_shim *shim, const struct ts_hip_frame *frame, int32_t result)
{
	int saved_errno = errno;

	ts_tls.busy = TS_BUSY_IN_CALL;
	shim->capture.library->hip_leave(shim, frame->captured, frame->params, current_device(),
					 result);
	ts_tls.busy = TS_BUSY_NOT;
	errno = saved_errno;
}

/* Gives up the events around the thread's call. */
static void cancel_events(struct ts_shim *shim)
{
	ts_hip_events_cancel(shim, ts_tls.call.events);
	ts_tls.call.events = 0;
}

/* True if calls of this class submit work. */
static bool is_work(unsigned kind)
{
	return kind == TS_CUPTI_CLASS_LAUNCH || kind == TS_CUPTI_CLASS_GRAPH_LAUNCH ||
	       kind == TS_CUPTI_CLASS_MEMCPY || kind == TS_CUPTI_CLASS_MEMSET;
}

/* Begins the thread's call, without its time. */
static inline void begin(struct ts_shim *shim, struct ts_hip_frame *frame, uint32_t id,
			 const void *params)
{
	const uint64_t op_id =
		shim->hip.first_op_id + __atomic_add_fetch(&shim->hip.n_calls, 1, __ATOMIC_RELAXED);
	struct ts_call *call = &ts_tls.call;

	call->depth = 1;
	call->generation = __atomic_load_n(&shim->generation, __ATOMIC_RELAXED);
	call->frame = frame;
	call->nested = 0;
	call->correlation = 0;
	call->domain = TS_API_HIP;
	call->cbid = id;
	call->op_id = op_id;
	call->events = 0;
	frame->params = params;
	frame->op_id = op_id;
	frame->captured = 0;
	frame->is_known = false;
	frame->has_events = false;
}

/* A call begins: all cases but the usual one. `gate` may be NULL. */
static __attribute__((noinline)) bool enter_otherwise(struct ts_shim *shim,
						      const struct ts_gate *gate,
						      struct ts_hip_frame *frame, uint32_t id,
						      const void *params)
{
	struct ts_call *call = &ts_tls.call;
	int saved_errno = errno;
	unsigned kind;

	if (!gate || __atomic_load_n(&gate->annotations, __ATOMIC_RELAXED) == TS_GATE_CLOSED ||
	    ts_tls.busy || is_in_call(frame) ||
	    !__atomic_load_n(&shim->hip.started, __ATOMIC_ACQUIRE))
		return false;
	kind = ts_call_table_class(TS_API_HIP, id);
	if (kind == TS_CUPTI_CLASS_QUERY || kind == TS_CUPTI_CLASS_OTHER)
		return enter_captured(shim, frame, id, params);
	ts_tls.busy = TS_BUSY_IN_CALL;
	/* Acquire: pairs with the release at the end of ts_hip_attach(). */
	if (ts_unlikely(__atomic_load_n(&shim->hip.attached, __ATOMIC_ACQUIRE) != TS_HIP_ATTACHED))
		ts_hip_attach(shim);
	if (ts_unlikely(call->depth && call->enter))
		ts_session_count(shim->control, TS_LOSS_UNFINISHED, 1);
	if (ts_unlikely(call->depth))
		cancel_events(shim);
	begin(shim, frame, id, params);
	frame->handle = 0;
	frame->allocation.address = 0;
	call->is_usual = false;
	forget_object(shim, frame, id, kind, params);
	/* Another thread may install the events before this call returns. */
	frame->has_events = shim->hip.events != NULL;
	if (ts_unlikely(frame->has_events))
		call->events = (uint16_t)ts_hip_events_enter(shim, id, params, current_device());
	call->enter = ts_producer_ticks(&shim->producer);
	/* After the time: pairs with ts_hip_follow(). */
	call->left_out = __atomic_load_n(&shim->hip.stopped, __ATOMIC_SEQ_CST) ||
			 !ts_shim_is_recording(shim);
	if (call->left_out)
		call->enter = 0;
	else if (is_work(kind) && (!shim->hip.events || call->events))
		keep_work(shim, id, kind, params);
	__atomic_store_n(&call->recorded, !call->left_out, __ATOMIC_RELAXED);
	if (ts_unlikely(is_captured(shim)))
		shim->capture.library->hip_enter(shim, id, params, current_device());
	if (ts_unlikely(call->events))
		ts_hip_events_entered(shim, call->events);
	ts_tls.busy = TS_BUSY_NOT;
	errno = saved_errno;
	return true;
}

/*
 * True if ts_hip_enter() and ts_hip_leave() record the call by themselves: a usual launch that is
 * outermost and not captured, of a runtime that reports its work with names, while recording goes
 * on.
 */
static inline bool is_usual(const struct ts_shim *shim, const struct ts_gate *gate, uint32_t id)
{
	const struct ts_hip *hip = &shim->hip;

	return ts_hip_is_usual_launch(id) && gate &&
	       __atomic_load_n(&gate->annotations, __ATOMIC_RELAXED) == TS_GATE_OPEN &&
	       !ts_tls.busy && !ts_tls.call.depth &&
	       /* Acquire: pairs with the release at the end of ts_hip_attach(). */
	       __atomic_load_n(&hip->attached, __ATOMIC_ACQUIRE) == TS_HIP_ATTACHED &&
	       __atomic_load_n(&hip->traced, __ATOMIC_RELAXED) == TS_INTERFACE_HIP_TRACER &&
	       !is_captured(shim) && ts_shim_is_recording(shim) &&
	       shim->producer.clock == TS_CLOCK_TSC;
}

/* Two neighbouring fields of 4 bytes as a word. Both processors put the first one low. */
static inline uint64_t word_of(uint32_t first, uint32_t second)
{
	return first | (uint64_t)second << 32;
}

TS_STATIC_ASSERT(offsetof(struct ts_hip_work, grid) == 8 &&
			 offsetof(struct ts_hip_work, block) == 20 &&
			 offsetof(struct ts_hip_work, dynamic_shared_bytes) == 32 &&
			 offsetof(struct ts_hip_work, code) == 36 &&
			 offsetof(struct ts_hip_work, name) == 40 &&
			 offsetof(struct ts_hip_work, device) == 44 &&
			 offsetof(struct ts_hip_work, stream) == 48 &&
			 offsetof(struct ts_hip_work, kind) == 52 &&
			 offsetof(struct ts_hip_work, async) == 54 &&
			 offsetof(struct ts_hip_work, is_awaited) == 55 && TS_HIP_WORK_WORDS == 7,
		 "keep_usual() makes the words");

/* Stores the facts of a usual launch, as keep_work() does. */
static inline void keep_usual(struct ts_shim *shim, uint32_t id, const void *params, uint64_t op_id,
			      uint32_t stream)
{
	const bool is_awaited = !__atomic_load_n(&shim->n_stream_captures, __ATOMIC_RELAXED);
	const uint32_t code =
		ts_hip_code_in(&ts_loaded.hip.codes, shim->pid, *(void *const *)params);
	uint64_t shape[3];

	memcpy(&shape[0], (const char *)params + TS_HIP_LAUNCH_SHAPE_AT, 8);
	memcpy(&shape[1], (const char *)params + TS_HIP_LAUNCH_SHAPE_AT + 8, 8);
	memcpy(&shape[2], (const char *)params + TS_HIP_LAUNCH_SHAPE_AT + 16, 8);
	ts_hip_works_put_words(&shim->hip.works,
			       (const uint64_t[TS_HIP_WORK_WORDS]){
				       op_id,
				       shape[0],
				       shape[1],
				       shape[2],
				       word_of(ts_hip_usual_launch_shared(id, params), code),
				       word_of(0, current_device()),
				       word_of(stream, TS_CUPTI_CLASS_LAUNCH | 1u << 16 |
							       (uint32_t)is_awaited << 24),
			       },
			       is_awaited);
}

/* A call begins. The usual one takes the short way, on which nothing sets errno. */
bool ts_hip_enter(struct ts_hip_frame *frame, uint32_t id, const void *params)
{
	struct ts_shim *shim = &ts_shim;
	/* Acquire: pairs with make_gate() in shim.c. A forked child finds a wiped page. */
	const struct ts_gate *gate = __atomic_load_n(&shim->gate, __ATOMIC_ACQUIRE);
	struct ts_call *call = &ts_tls.call;
	uint32_t stream;
	uint64_t time;

	/* A stream's first use is recorded, and a stream of another device is searched. */
	if (ts_unlikely(!is_usual(shim, gate, id)) ||
	    ts_unlikely(!ts_stream_table_find_near(
		    &shim->hip.streams, context_of(shim, current_device()),
		    ts_call_stream_key(ts_hip_usual_launch_stream(id, params), false), &stream)))
		return enter_otherwise(shim, gate, frame, id, params);
	time = ts_clock_ticks(TS_CLOCK_TSC);
	/* After the time: pairs with ts_hip_follow(). */
	if (ts_unlikely(__atomic_load_n(&shim->hip.stopped, __ATOMIC_SEQ_CST)))
		return enter_otherwise(shim, gate, frame, id, params);
	ts_tls.busy = TS_BUSY_IN_CALL;
	begin(shim, frame, id, params);
	call->is_usual = true;
	call->left_out = false;
	call->enter = time;
	keep_usual(shim, id, params, call->op_id, stream);
	__atomic_store_n(&call->recorded, 1, __ATOMIC_RELAXED);
	ts_tls.busy = TS_BUSY_NOT;
	return true;
}

/* Follows the creation and destruction of streams. HIP reuses handles. */
static void follow_stream(struct ts_shim *shim, const struct ts_hip_frame *frame, uint32_t id,
			  const void *params)
{
	struct ts_stream_table *streams = &shim->hip.streams;
	struct ts_record_object object = {.action = TS_OBJECT_CREATED};
	uint32_t device = current_device(), flags = 0;

	if (ts_call_table_stream_create(TS_API_HIP, id, params, &flags, &object.priority)) {
		object.handle = (uint64_t)(uintptr_t)ts_hip_created_stream(params);
		if (!object.handle)
			return;
		/* hipDeviceReset() destroys streams, and names none of them. */
		if (ts_stream_table_find_handle(streams, object.handle, &object.context,
						&object.stream))
			ts_stream_table_remove(streams, object.context, object.handle);
		object.device = shim->hip.first_device + device;
		object.context = context_of(shim, device);
		object.stream = __atomic_add_fetch(&shim->hip.n_streams, 1, __ATOMIC_RELAXED);
		object.object_flags = flags & TS_HIP_STREAM_NON_BLOCKING
					      ? TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
					      : TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
		ts_stream_table_add(streams, object.context, object.handle, object.stream);
		ts_call_record_object(shim, TS_RECORD_STREAM, &object);
	} else if (frame->is_known) {
		object.handle = frame->handle;
		object.context = frame->context;
		object.stream = frame->stream;
		object.device = object.context - 1;
		object.action = TS_OBJECT_DESTROYED;
		ts_call_record_object(shim, TS_RECORD_STREAM, &object);
	}
}

static uint32_t memory_kind(const struct ts_access *access)
{
	if (access->kind == TS_ACCESS_ALLOCATED_PINNED)
		return TS_CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
	if (access->kind == TS_ACCESS_ALLOCATED_MANAGED)
		return TS_CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
	return TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
}

/* Finds the memory that a call allocated, and follows it. Returns false if the call names none. */
static bool follow_allocation(struct ts_shim *shim, uint32_t id, const void *params,
			      struct ts_hip_allocation *ret)
{
	struct ts_access access;

	if (is_in_graph(shim, id, params) ||
	    !ts_access_of_alloc(TS_API_HIP, id, params, 0, &access))
		return false;
	*ret = (struct ts_hip_allocation){access.dst, access.dst_bytes, memory_kind(&access),
					  current_device()};
	ts_hip_memory_add(&shim->hip.memory, ret);
	return true;
}

/* HIP reports no rows for memory, so the call makes them. */
static void record_memory(struct ts_shim *shim, struct ts_thread *thread, uint32_t id,
			  const void *params, bool is_free,
			  const struct ts_hip_allocation *allocation, uint64_t time)
{
	const struct ts_hip_stream stream = ts_hip_stream_of(id, params);
	struct ts_record_memory *out;
	uint32_t device = allocation->device, numbered = TS_NO_DEVICE;

	/* Before the record is reserved: the stream's first use makes a record of its own. */
	if (stream.is_async)
		numbered = stream_id(shim, &device, stream.handle, stream.per_thread);
	out = ts_thread_reserve(thread, is_free ? TS_RECORD_FREE : TS_RECORD_ALLOC, sizeof(*out),
				shim->producer.clock, time);
	if (!out)
		return;
	memset((uint8_t *)out + sizeof(out->record), 0, sizeof(*out) - sizeof(out->record));
	out->op_id = ts_tls.call.op_id;
	out->address = allocation->address;
	out->bytes = allocation->bytes;
	out->device = shim->hip.first_device + device;
	out->context = context_of(shim, device);
	out->stream = numbered;
	out->async = stream.is_async;
	out->memory_kind = (uint8_t)allocation->kind;
	ts_thread_commit(thread, sizeof(*out));
}

/* The host waited in this call. */
static void record_sync(struct ts_shim *shim, struct ts_thread *thread, uint32_t id,
			const void *params, int32_t result, uint64_t time)
{
	const struct ts_hip_stream stream = ts_hip_stream_of(id, params);
	const uint32_t type = ts_hip_sync_type_of(id);
	uint32_t device = current_device(), numbered = TS_NO_DEVICE;
	struct ts_record_sync *out;

	if (type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN)
		return;
	/* Before the record is reserved, as in record_memory(). */
	if (type == TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE)
		numbered = stream_id(shim, &device, stream.handle, stream.per_thread);
	out = ts_thread_reserve(thread, TS_RECORD_SYNC, sizeof(*out), shim->producer.clock,
				ts_tls.call.enter);
	if (!out)
		return;
	memset((uint8_t *)out + sizeof(out->record), 0, sizeof(*out) - sizeof(out->record));
	out->end = time;
	out->op_id = ts_tls.call.op_id;
	out->sync_type = type;
	out->stream = numbered;
	out->context = context_of(shim, device);
	out->result = result;
	ts_thread_commit(thread, sizeof(*out));
}

static void record_stream_op(struct ts_shim *shim, struct ts_thread *thread, uint32_t id,
			     const void *params, uint64_t time)
{
	const struct ts_stream_op op = ts_call_table_stream_op(TS_API_HIP, id, params);
	struct ts_call_place place = {.graph = 0};
	uint32_t device = current_device();

	if (op.kind == TS_STREAM_OP_NONE || ts_call_is_stream_captured(shim, &op))
		return;
	place.stream = stream_id(shim, &device, op.stream, op.per_thread);
	place.context = context_of(shim, device);
	if (op.kind == TS_STREAM_OP_GRAPH)
		place.graph = graph_id(shim, op.object);
	ts_call_record_stream_op(shim, thread, &op, &place,
				 op.kind == TS_STREAM_OP_GRAPH ? ts_tls.call.enter : time);
}

/*
 * Records the host's wait in a call that synchronizes, or the operation that a successful call put
 * into a stream: event record, wait, graph launch or host function.
 */
static void record_effects(struct ts_shim *shim, struct ts_thread *thread, uint32_t id,
			   const void *params, int32_t result, uint64_t time)
{
	switch (ts_call_table_class(TS_API_HIP, id)) {
	case TS_CUPTI_CLASS_SYNC:
		record_sync(shim, thread, id, params, result, time);
		break;
	case TS_CUPTI_CLASS_EVENT:
	case TS_CUPTI_CLASS_GRAPH_LAUNCH:
	case TS_CUPTI_CLASS_STREAM:
		if (!result)
			record_stream_op(shim, thread, id, params, time);
		break;
	default:
		break;
	}
}

/* Stores the device of a context; such calls give contexts to the application. */
static void learn_context(struct ts_shim *shim, void *const *context, int32_t device)
{
	struct ts_stream_table *contexts = &shim->hip.contexts;
	uint32_t known;

	if (context && *context &&
	    !ts_stream_table_find(contexts, 0, (uint64_t)(uintptr_t)*context, &known))
		ts_stream_table_add(contexts, 0, (uint64_t)(uintptr_t)*context, (uint32_t)device);
}

/* Makes the device of a context the current one. */
static void enter_context(struct ts_shim *shim, const void *context)
{
	uint32_t device;

	if (context &&
	    ts_stream_table_find(&shim->hip.contexts, 0, (uint64_t)(uintptr_t)context, &device))
		ts_tls.hip_device = device;
}

/*
 * Follows the current device and the handles of contexts and graphs. A context of HIP stands for
 * its device. As in the runtime, a context that is created or popped does not change the device.
 */
static void follow_handles(struct ts_shim *shim, uint32_t id, const void *params)
{
	switch (id) {
	case TS_HIP_CALL_hipSetDevice:
		ts_tls.hip_device = (uint32_t)((const struct hipSetDevice_params *)params)->device;
		break;
	case TS_HIP_CALL_hipCtxCreate: {
		const struct hipCtxCreate_params *p = params;

		learn_context(shim, p->ctx, p->device);
		break;
	}
	case TS_HIP_CALL_hipDevicePrimaryCtxRetain: {
		const struct hipDevicePrimaryCtxRetain_params *p = params;

		learn_context(shim, p->ctx, p->device);
		break;
	}
	case TS_HIP_CALL_hipCtxGetCurrent:
		learn_context(shim, ((const struct hipCtxGetCurrent_params *)params)->ctx,
			      (int32_t)current_device());
		break;
	case TS_HIP_CALL_hipCtxSetCurrent:
		enter_context(shim, ((const struct hipCtxSetCurrent_params *)params)->ctx);
		break;
	case TS_HIP_CALL_hipCtxPushCurrent:
		enter_context(shim, ((const struct hipCtxPushCurrent_params *)params)->ctx);
		break;
	default:
		break;
	}
}

/*
 * Follows the memory, the streams, the modules and the graphs of a successful call, also while
 * recording is stopped, because later records refer to them.
 */
static void follow(struct ts_shim *shim, struct ts_thread *thread, const struct ts_hip_frame *frame,
		   uint64_t time)
{
	const struct ts_call *call = &ts_tls.call;
	const unsigned kind = ts_call_table_class(TS_API_HIP, call->cbid);
	const void *params = frame->params;
	struct ts_hip_allocation allocation;
	bool is_free;

	follow_handles(shim, call->cbid, params);
	if (ts_hip_is_module_unload(call->cbid) || ts_hip_is_graph_destroy(call->cbid))
		return;
	if (kind == TS_CUPTI_CLASS_MODULE) {
		ts_hip_follow_module(shim, call->cbid, params, current_device());
		return;
	}
	if (kind == TS_CUPTI_CLASS_GRAPH || kind == TS_CUPTI_CLASS_EVENT ||
	    kind == TS_CUPTI_CLASS_LAUNCH || kind == TS_CUPTI_CLASS_GRAPH_LAUNCH) {
		ts_hip_graph_follow(shim, call->cbid, params);
		return;
	}
	if (kind == TS_CUPTI_CLASS_STREAM) {
		follow_stream(shim, frame, call->cbid, params);
		return;
	}
	allocation = frame->allocation;
	is_free = allocation.address;
	if (!is_free && (kind != TS_CUPTI_CLASS_ALLOC ||
			 !follow_allocation(shim, call->cbid, params, &allocation)))
		return;
	if (!call->left_out)
		record_memory(shim, thread, call->cbid, params, is_free, &allocation, time);
}

/*
 * Ends the pair of events around a call. Pairs of calls that make no row are given up. Returns the
 * time of the call's return, before the event.
 */
static uint64_t end_events(struct ts_shim *shim, uint32_t id, const void *params, int32_t result)
{
	const uint64_t time = ts_producer_ticks(&shim->producer);
	struct ts_call *call = &ts_tls.call;

	if (call->left_out)
		cancel_events(shim);
	if (ts_hip_events_leave(shim, call->events, id, params, result))
		return time;
	if (call->events)
		ts_hip_works_done(&shim->hip.works, call->op_id);
	call->events = 0;
	return time;
}

/* Counts work that is not in the sample; a copy that the host may make counts, too. */
static void count_untimed(struct ts_shim *shim, struct ts_thread *thread, uint32_t id)
{
	if (is_work(ts_call_table_class(TS_API_HIP, id)) &&
	    !__atomic_load_n(&shim->n_stream_captures, __ATOMIC_RELAXED))
		ts_thread_count(thread, TS_LOSS_UNTIMED, 1);
}

static void record(struct ts_shim *shim, struct ts_thread *thread, const struct ts_hip_frame *frame,
		   int32_t result, uint64_t returned)
{
	const void *params = frame->params;
	const struct ts_call *call = &ts_tls.call;
	const struct ts_call_end end = {
		.domain = TS_API_HIP,
		.as_domain = TS_API_HIP,
		.cbid = call->cbid,
		.kind = ts_call_table_class(TS_API_HIP, call->cbid),
		.params = params,
		.result = result,
		.context = context_of(shim, current_device()),
		.time = returned,
		.is_untimed =
			!call->events && !__atomic_load_n(&shim->hip.traced, __ATOMIC_RELAXED),
	};
	uint64_t time = 0;

	if (!call->left_out) {
		time = ts_call_record(shim, thread, &end);
		record_effects(shim, thread, call->cbid, params, result, time);
		if (end.is_untimed && !result)
			count_untimed(shim, thread, call->cbid);
	}
	if (!result)
		follow(shim, thread, frame, time);
}

static __attribute__((noinline)) void leave_otherwise(struct ts_shim *shim,
						      const struct ts_gate *gate,
						      const struct ts_hip_frame *frame,
						      int32_t result)
{
	const void *params = frame->params;
	struct ts_call *call = &ts_tls.call;
	int saved_errno = errno, change;
	struct ts_thread *thread;
	uint32_t mode;
	uint64_t returned = 0;
	bool per_thread;
	void *stream;

	if (ts_unlikely(frame->captured)) {
		/* The page is wiped in a forked child, which has no memory of the capture. */
		if (gate && __atomic_load_n(&gate->annotations, __ATOMIC_RELAXED) != TS_GATE_CLOSED)
			leave_captured(shim, frame, result);
		return;
	}
	/* Another call began and ended since this call began, so the data of this call is lost. */
	if (!call->depth || call->domain != TS_API_HIP || call->frame != frame || !gate)
		return;
	mode = __atomic_load_n(&gate->annotations, __ATOMIC_RELAXED);
	/* The page is also wiped in a forked child, which has no memory of the session. */
	if (mode == TS_GATE_CLOSED) {
		call->depth = 0;
		__atomic_store_n(&call->recorded, 0, __ATOMIC_RELAXED);
		cancel_events(shim);
		return;
	}
	ts_tls.busy = TS_BUSY_IN_CALL;
	/* Before the capture, which may take longer than the work. */
	if (ts_unlikely(shim->hip.events != NULL))
		returned = end_events(shim, call->cbid, params, result);
	if (ts_unlikely(is_captured(shim)))
		shim->capture.library->hip_leave(shim, call->cbid, params, current_device(),
						 result);
	call->depth = 0;
	__atomic_store_n(&call->recorded, 0, __ATOMIC_RELAXED);
	change = ts_call_table_stream_capture(TS_API_HIP, call->cbid);
	if (ts_unlikely(change)) {
		stream = ts_call_table_captured_stream(TS_API_HIP, call->cbid, params, &per_thread);
		ts_call_count_stream_capture(shim, change, result,
					     ts_call_stream_key(stream, per_thread));
		if (change < 0 && result)
			ts_hip_graph_abandon(shim, ts_call_stream_key(stream, per_thread));
		if (change > 0 && frame->has_events)
			ts_hip_events_captured(shim);
	}
	thread = ts_producer_thread(&shim->producer);
	if (thread && mode == TS_GATE_COUNT)
		/* No daemon has served the ring for long: the ring would be full. */
		ts_thread_count(thread, TS_LOSS_RING_FULL, 1);
	else if (thread)
		record(shim, thread, frame, result, returned);
	if (result) {
		keep_object(shim, frame);
		ts_hip_works_done(&shim->hip.works, call->op_id);
	}
	if (ts_unlikely(shim->hip.traced == TS_INTERFACE_ROCPROFILER_SDK && !call->left_out))
		ts_rocprofiler_returned(shim, result);
	call->events = 0;
	if (ts_unlikely(shim->hip.events != NULL) &&
	    ts_call_table_class(TS_API_HIP, call->cbid) == TS_CUPTI_CLASS_SYNC)
		ts_hip_events_read(shim, false);
	ts_tls.busy = TS_BUSY_NOT;
	errno = saved_errno;
}

/* True if ts_hip_enter() recorded the call by itself, and the row is certain to come. */
static inline bool is_usual_end(const struct ts_shim *shim, const struct ts_gate *gate,
				const struct ts_call *call, const struct ts_hip_frame *frame,
				int32_t result)
{
	return call->is_usual && call->depth == 1 && call->frame == frame &&
	       call->domain == TS_API_HIP && !frame->captured && !result && gate &&
	       __atomic_load_n(&gate->annotations, __ATOMIC_RELAXED) == TS_GATE_OPEN &&
	       ts_tls.thread && ts_tls.epoch == shim->producer.epoch &&
	       call->op_id < TS_OP_ID_SHARED && !is_captured(shim) &&
	       !__atomic_load_n(&shim->n_stream_captures, __ATOMIC_RELAXED);
}

/* A call returns. The usual one takes the short way; what sets errno there restores it. */
void ts_hip_leave(const struct ts_hip_frame *frame, int32_t result)
{
	struct ts_shim *shim = &ts_shim;
	const struct ts_gate *gate = __atomic_load_n(&shim->gate, __ATOMIC_ACQUIRE);
	struct ts_call *call = &ts_tls.call;
	struct ts_call_end end;

	if (ts_unlikely(!is_usual_end(shim, gate, call, frame, result))) {
		leave_otherwise(shim, gate, frame, result);
		return;
	}
	ts_tls.busy = TS_BUSY_IN_CALL;
	call->depth = 0;
	__atomic_store_n(&call->recorded, 0, __ATOMIC_RELAXED);
	end = (struct ts_call_end){
		.kind = TS_CUPTI_CLASS_LAUNCH,
		.as_domain = TS_API_HIP,
		.cbid = call->cbid,
		.context = context_of(shim, current_device()),
	};
	ts_call_write_row(shim, ts_tls.thread, &end, TS_API_EXPECTS_DEVICE, TS_CLOCK_TSC,
			  ts_clock_ticks(TS_CLOCK_TSC));
	ts_tls.busy = TS_BUSY_NOT;
}
