/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles entry and exit of driver calls at capture level `replay`. recorder.c registers
 * ts_capture_handle() with CUPTI. This module calls ts_callbacks_handle(), capture-calls.c,
 * window.c and lane.c.
 *
 * One lock (`order`) keeps the order of calls among threads. A thread holds it from before a call
 * until the call is captured. So launches lie in the lane in the same order as in the stream. Calls
 * that may wait do not hold the lock, because another thread's call may end their wait. A thread
 * waits at most 100 ms for the lock. After that its call proceeds and is marked as unordered, so
 * the application never hangs.
 *
 * Only this level queries the driver from callbacks, and only from API callbacks: sizes of
 * arguments, capture status of a stream. During a query the thread is TS_BUSY_ASKING: the query is
 * neither captured nor recorded.
 *
 * The usual launch takes a short way: enter_usual(), leave_usual(). It writes its operation into
 * the lane itself. All other calls, and a launch that would have to wait, take the long way:
 * ts_capture_enter(), ts_capture_leave().
 */
#include "inject/capture/capture.h"
#include "inject/context.h"
#include "inject/cuda/callbacks.h"
#include "inject/cuda/renumber.h"

#include <dlfcn.h>

#include "inject/calls/call-table.h"
#include "inject/ring/futex.h"
#include "inject/shim-debug.h"
#include "proto/abi/capture-config.h"
#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cupti_cbid.h"

#define ORDER_WAIT_NS	UINT64_C(100000000)
#define CONTEXT_WAIT_NS UINT64_C(2000000000)

/* Values of `prepared`, and the longest wait for another thread's preparation. */
#define PREPARING  1u
#define PREPARED   2u
#define PREPARE_NS UINT64_C(2000000000)

/*
 * A clock read takes a tenth of a usual launch's capture. So only one usual launch in TIMED is
 * timed, and counts for all of them, unless it took LONG_NS: then the thread was interrupted.
 */
#define TIMED	16u
#define LONG_NS 20000u

/* The outermost driver call of the thread. */
struct inside {
	uint32_t depth;
	uint32_t correlation;
	bool has_order;
	bool unordered;
	bool copies;	 /* counted in window.n_copying */
	bool is_usual;	 /* enter_usual() began it */
	uint32_t weight; /* of a usual launch: how often its time counts; 0: it is not timed */
	uint64_t enter;
	uint64_t spent; /* ticks that the entry of a usual launch took, not yet counted */
};
static __thread struct inside inside __attribute__((tls_model("initial-exec")));

/* Usual launches that the thread has begun. */
static __thread uint32_t n_usual __attribute__((tls_model("initial-exec")));

static void find_driver(struct ts_capture *capture, const struct ts_capture_config *config)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	struct ts_capture_driver *driver = &capture->drivers[TS_CAPTURE_CUDA];

	if (!library)
		return;
	*(void **)&driver->func_param = dlsym(library, "cuFuncGetParamInfo");
	*(void **)&driver->kernel_param = dlsym(library, "cuKernelGetParamInfo");
	*(void **)&driver->is_capturing = dlsym(library, "cuStreamIsCapturing");
	*(void **)&driver->module_variable = dlsym(library, "cuModuleGetGlobal_v2");
	*(void **)&driver->library_variable = dlsym(library, "cuLibraryGetGlobal");
	*(void **)&driver->library_managed = dlsym(library, "cuLibraryGetManaged");
	ts_capture_find_graph_driver(&driver->graphs, library);
	if (config->is_window)
		ts_window_find_driver(&capture->window.drivers[TS_CAPTURE_CUDA], library);
	dlclose(library);
}

static void prepare(struct ts_capture *capture, struct ts_shim *shim,
		    const struct ts_capture_config *config)
{
	int r = ts_lane_init(&capture->lane, &shim->producer, shim->link.memory.lane,
			     config->max_bytes);

	ts_debug(&shim->config, "capture: %s", strerror(-r));
	if (r)
		return;
	ts_capture_calibrate(capture, &shim->producer);
	ts_window_start(capture, config);
	ts_capture_set_state(shim->control, config);
	/* Release pairs with report() of flush.c. HIP may begin after the flush thread. */
	__atomic_store_n(&capture->shim, shim, __ATOMIC_RELEASE);
}

bool ts_capture_prepare(struct ts_capture *capture, struct ts_shim *shim,
			const struct ts_capture_config *config)
{
	uint32_t none = 0;

	/* The lane has ended already if the capture was refused. */
	if (!shim->control->lane_bytes ||
	    __atomic_load_n(&shim->control->lane_ended, __ATOMIC_RELAXED))
		return false;
	if (__atomic_compare_exchange_n(&capture->prepared, &none, PREPARING, false,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		prepare(capture, shim, config);
		ts_futex_set(&capture->prepared, PREPARED);
	} else if (!ts_futex_wait_for(&capture->prepared, PREPARED, PREPARE_NS)) {
		return false;
	}
	return capture->shim;
}

static struct ts_capture_facts gather_facts(uint32_t cbid)
{
	return (struct ts_capture_facts){
		.mode = (uint8_t)ts_capture_mode(cbid),
		.work = (uint8_t)ts_capture_work(cbid),
		.is_watched = ts_call_table_watched(TS_CUPTI_CB_DOMAIN_DRIVER_API, cbid),
		.stream_capture =
			(int8_t)ts_call_table_stream_capture(TS_CUPTI_CB_DOMAIN_DRIVER_API, cbid),
	};
}

/* Returns the facts of a driver call; of a newer driver's, if its id is above the table. */
static struct ts_capture_facts facts_of(const struct ts_capture *capture, uint32_t cbid)
{
	return ts_likely(cbid < TS_CAPTURE_MAX_IDS) ? capture->facts[cbid] : gather_facts(cbid);
}

void ts_capture_start(struct ts_capture *capture, struct ts_shim *shim,
		      const struct ts_capture_config *config)
{
	if (!ts_capture_prepare(capture, shim, config))
		return;
	for (uint32_t cbid = 0; cbid < TS_CAPTURE_MAX_IDS; cbid++)
		capture->facts[cbid] = gather_facts(cbid);
	find_driver(capture, config);
	capture->takes_cuda = true;
}

bool ts_capture_wants(uint32_t domain, uint32_t cbid)
{
	return domain == TS_CUPTI_CB_DOMAIN_DRIVER_API && ts_capture_mode(cbid) != TS_CAPTURE_NOT;
}

static void give_order(struct ts_capture *capture)
{
	if (inside.has_order) {
		inside.has_order = false;
		if (ts_unlikely(__atomic_load_n(&capture->disorder, __ATOMIC_RELAXED)))
			__atomic_store_n(&capture->disorder, 0, __ATOMIC_RELAXED);
		ts_lock_release(&capture->order);
	}
}

static void take_order(struct ts_capture *capture)
{
	if (ts_lock_try(&capture->order)) {
		inside.has_order = true;
		return;
	}
	/*
	 * A thread waited in vain since the lock was last released. The holder is stuck, so this
	 * thread does not wait again.
	 */
	if (__atomic_load_n(&capture->disorder, __ATOMIC_RELAXED)) {
		inside.unordered = true;
		return;
	}
	/* While a window opens or closes, the wait repeats. The window has bounds of its own. */
	do
		inside.has_order = ts_lock_take_within(&capture->order, ORDER_WAIT_NS);
	while (!inside.has_order && __atomic_load_n(&capture->window.opening, __ATOMIC_RELAXED));
	inside.unordered = !inside.has_order;
	if (inside.unordered)
		__atomic_store_n(&capture->disorder, 1, __ATOMIC_RELAXED);
}

/* Fills the fields that all operations of a call share. In place: an operation is large. */
static void begin_operation(struct ts_capture *capture, const struct ts_captured_call *captured,
			    struct ts_record_operation *ret_operation)
{
	struct ts_shim *shim = capture->shim;
	const struct ts_call *call = &ts_tls.call;
	struct ts_thread *thread = ts_producer_thread(&shim->producer);

	memset(ret_operation, 0, sizeof(*ret_operation));
	ret_operation->record.time = inside.enter;
	ret_operation->op_id = captured->op_id ? *captured->op_id
			       : call->depth || call->correlation == captured->correlation
				       ? call->op_id
				       : ts_widen(&shim->widen, captured->correlation);
	ret_operation->context = captured->context;
	ret_operation->thread = thread ? thread->id : TS_ID_UNKNOWN;
	ret_operation->operation_flags = inside.unordered ? TS_OPERATION_UNORDERED : 0;
}

static void capture_call(struct ts_capture *capture, const struct ts_captured_call *call,
			 ts_capture_put *put)
{
	struct ts_record_operation model;

	if (!ts_window_is_open(&capture->window) && call->work)
		put = put == call->put ? call->put_objects : NULL;
	if (!put)
		return;
	begin_operation(capture, call, &model);
	ts_lock_take(&capture->lane.lock);
	capture->driver = &capture->drivers[call->vendor];
	if (ts_lane_goes_on(&capture->lane))
		put(capture, call, &model);
	__atomic_store_n(&capture->shim->control->captured_bytes, capture->lane.n_bytes,
			 __ATOMIC_RELAXED);
	ts_lock_release(&capture->lane.lock);
}

static void record_unsupported(struct ts_capture *capture, const struct ts_captured_call *call)
{
	struct ts_record_operation model;
	uint64_t *named = capture->named[call->vendor] + call->id / 64 % (TS_CAPTURE_MAX_IDS / 64);
	uint64_t bit = UINT64_C(1) << call->id % 64;

	if (!ts_window_is_open(&capture->window) && call->work)
		return;
	begin_operation(capture, call, &model);
	ts_lock_take(&capture->lane.lock);
	if (!(*named & bit)) {
		*named |= bit;
		model.kind = TS_OPERATION_UNSUPPORTED;
		model.name = ts_definitions_string(&capture->shim->definitions, call->name,
						   strlen(call->name));
		(void)ts_lane_put(&capture->lane, &model);
	}
	ts_lock_release(&capture->lane.lock);
}

/*
 * Opens or closes a window before the call begins. Waits for the order lock, so no ordered call
 * runs meanwhile.
 */
static void look_at_window(struct ts_capture *capture, const struct ts_captured_call *call)
{
	if (!ts_window_is_due(capture, call->work == TS_CAPTURE_WORK_LAUNCH))
		return;
	take_order(capture);
	if (inside.has_order)
		ts_window_switch(capture);
	give_order(capture);
	/* take_order() may have set this. The call's own wait for the lock comes later. */
	inside.unordered = false;
}

static void end_copy(struct ts_capture *capture)
{
	if (inside.copies)
		ts_window_copy_ends(&capture->window);
	inside.copies = false;
}

void ts_capture_enter(struct ts_capture *capture, const struct ts_captured_call *call)
{
	/*
	 * A nested driver call has the correlation id of the outer one. Another id means that the
	 * exit of the previous call was not seen.
	 */
	if (inside.depth && inside.correlation == call->correlation) {
		inside.depth++;
		return;
	}
	give_order(capture);
	end_copy(capture);
	inside = (struct inside){.depth = 1, .correlation = call->correlation};
	if (ts_tls.call.depth && ts_tls.call.left_out) {
		ts_lane_end(&capture->lane, TS_LANE_STOPPED);
		return;
	}
	look_at_window(capture, call);
	inside.copies = capture->window.is_tracked && call->mode == TS_CAPTURE_AFTER &&
			call->work == TS_CAPTURE_WORK_COPY;
	if (inside.copies)
		ts_window_copy_begins(capture);
	if (call->path)
		ts_capture_file_read(call->path);
	inside.enter = ts_producer_ticks(&capture->shim->producer);
	if (call->mode == TS_CAPTURE_ORDERED || call->mode == TS_CAPTURE_BEFORE)
		take_order(capture);
	if (call->mode == TS_CAPTURE_BEFORE)
		capture_call(capture, call, call->put);
	else if (call->mode == TS_CAPTURE_ORDERED && call->work == TS_CAPTURE_WORK_LAUNCH)
		capture_call(capture, call, call->put_before);
	if (call->mode == TS_CAPTURE_OF_STREAM && call->stream_capture > 0)
		ts_window_capture_begins(&capture->window);
}

void ts_capture_leave(struct ts_capture *capture, const struct ts_captured_call *call,
		      int32_t result)
{
	if (!inside.depth || inside.correlation != call->correlation)
		return;
	if (--inside.depth)
		return;
	if (!result && (call->mode == TS_CAPTURE_ORDERED || call->mode == TS_CAPTURE_AFTER))
		capture_call(capture, call, call->put);
	else if (!result && call->mode == TS_CAPTURE_UNSUPPORTED)
		record_unsupported(capture, call);
	/*
	 * If cuStreamEndCapture() fails because the stream capture was invalidated, the stream
	 * capture still ends.
	 */
	else if (call->mode == TS_CAPTURE_OF_STREAM && (result || call->stream_capture <= 0))
		ts_window_capture_ends(&capture->window);
	if (call->path)
		ts_capture_file_drop();
	give_order(capture);
	end_copy(capture);
}

static void put_driver_call(struct ts_capture *capture, const struct ts_captured_call *call,
			    const struct ts_record_operation *model)
{
	ts_capture_call(capture, call->id, call->params, model);
}

static void put_before_driver_call(struct ts_capture *capture, const struct ts_captured_call *call,
				   const struct ts_record_operation *model)
{
	ts_capture_before_launch(capture, call->id, call->params, model);
}

/*
 * Returns the function that captures host memory before a launch; NULL: there is none to capture.
 * The nodes of a graph have host memory of their own.
 */
static ts_capture_put *put_before_of(const struct ts_capture *capture, uint32_t cbid)
{
	if (cbid == TS_CUPTI_DRIVER_CBID_cuGraphLaunch ||
	    cbid == TS_CUPTI_DRIVER_CBID_cuGraphLaunch_ptsz ||
	    __atomic_load_n(&capture->memory.has_host, __ATOMIC_RELAXED))
		return put_before_driver_call;
	return NULL;
}

static void on_call(struct ts_capture *capture, uint32_t cbid, const struct ts_capture_facts *facts,
		    const struct ts_cupti_callback_data *data, bool entering)
{
	const bool is_launch = facts->work == TS_CAPTURE_WORK_LAUNCH;
	const struct ts_captured_call call = {
		.vendor = TS_CAPTURE_CUDA,
		.id = cbid,
		.mode = facts->mode,
		.work = facts->work,
		.name = facts->mode == TS_CAPTURE_UNSUPPORTED ? ts_capture_name(cbid) : NULL,
		.path = facts->work ? NULL : ts_capture_loaded_file(cbid, data->function_params),
		.stream_capture = facts->stream_capture,
		.context =
			ts_renumbered_context(data->context_uid, capture->shim->first_cuda_device),
		.correlation = data->correlation_id,
		.op_id = NULL,
		.params = data->function_params,
		.put = put_driver_call,
		.put_before = is_launch && entering ? put_before_of(capture, cbid) : NULL,
		.put_objects = NULL,
	};

	if (entering)
		ts_capture_enter(capture, &call);
	else
		ts_capture_leave(capture, &call,
				 data->function_return_value
					 ? *(int32_t *)data->function_return_value
					 : 0);
}

static void on_module(struct ts_capture *capture, const struct ts_cupti_resource_data *data)
{
	const struct ts_cupti_module_data *module = data->resource_descriptor;

	if (module)
		ts_window_code(capture, module->cubin, module->cubin_size);
}

static void on_context(struct ts_capture *capture, uint32_t cbid,
		       const struct ts_cupti_resource_data *data)
{
	struct ts_shim *shim = capture->shim;
	struct ts_record_operation operation = {
		.kind = cbid == TS_CUPTI_CBID_RESOURCE_CONTEXT_CREATED
				? TS_OPERATION_CONTEXT_CREATE
				: TS_OPERATION_CONTEXT_DESTROY,
		.op_id = ts_tls.call.depth ? ts_widen(&shim->widen, ts_tls.call.correlation) : 0,
	};
	struct ts_thread *thread = ts_producer_thread(&shim->producer);

	if (!shim->cupti.cuptiGetContextId || !shim->cupti.cuptiGetDeviceId ||
	    shim->cupti.cuptiGetContextId(data->context, &operation.context) ||
	    shim->cupti.cuptiGetDeviceId(data->context, &operation.device))
		return;
	operation.context = ts_renumbered_context(operation.context, shim->first_cuda_device);
	operation.device = ts_renumbered_device(operation.device, shim->first_cuda_device);
	operation.thread = thread ? thread->id : TS_ID_UNKNOWN;
	operation.object = (uint64_t)(uintptr_t)data->context;
	/*
	 * The driver may hold internal locks during this callback. The holder of the lane's lock
	 * may be in a driver query that needs the same locks. So wait only a limited time, to avoid
	 * a deadlock.
	 */
	if (!ts_lock_take_within(&capture->lane.lock, CONTEXT_WAIT_NS)) {
		ts_lane_end(&capture->lane, TS_LANE_FULL);
		return;
	}
	(void)ts_lane_put(&capture->lane, &operation);
	ts_window_context(capture, TS_CAPTURE_CUDA, operation.object, operation.context,
			  operation.kind == TS_OPERATION_CONTEXT_CREATE);
	ts_lock_release(&capture->lane.lock);
}

static void on_resource(struct ts_capture *capture, uint32_t cbid, const void *data)
{
	if (cbid == TS_CUPTI_CBID_RESOURCE_CONTEXT_CREATED ||
	    cbid == TS_CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
		on_context(capture, cbid, data);
	else if (cbid == TS_CUPTI_CBID_RESOURCE_MODULE_LOADED)
		on_module(capture, data);
}

/* Counts time that the capture took, `weight` times if it is short. */
static void count_ticks(struct ts_capture *capture, uint64_t ticks, uint32_t weight)
{
	const uint64_t ns_per_tick = __atomic_load_n(&capture->ns_per_tick, __ATOMIC_RELAXED);
	const uint64_t ns = (uint64_t)((unsigned __int128)ticks * ns_per_tick >> 32);

	__atomic_fetch_add(&capture->shim->control->captured_ns, ns < LONG_NS ? ns * weight : ns,
			   __ATOMIC_RELAXED);
}

/* Counts the time that the capture took, and restores the thread's state. */
static void end_capture(struct ts_capture *capture, uint64_t begin_ticks, int saved_errno)
{
	count_ticks(capture, ts_producer_ticks(&capture->shim->producer) - begin_ticks, 1);
	ts_tls.busy = TS_BUSY_NOT;
	errno = saved_errno;
}

static void capture_resource(struct ts_capture *capture, uint32_t cbid, const void *data)
{
	const uint64_t begin_ticks = ts_producer_ticks(&capture->shim->producer);
	const int saved_errno = errno;

	ts_tls.busy = TS_BUSY_ASKING;
	on_resource(capture, cbid, data);
	end_capture(capture, begin_ticks, saved_errno);
}

static void capture_call_back(struct ts_capture *capture, uint32_t cbid,
			      const struct ts_capture_facts *facts,
			      const struct ts_cupti_callback_data *data, bool entering)
{
	/* The long way may end a call that enter_usual() began. */
	const uint64_t begin_ticks = ts_producer_ticks(&capture->shim->producer) - inside.spent;
	const int saved_errno = errno;

	inside.spent = 0;
	ts_tls.busy = TS_BUSY_ASKING;
	on_call(capture, cbid, facts, data, entering);
	end_capture(capture, begin_ticks, saved_errno);
}

static bool is_kernel_launch(uint32_t cbid)
{
	return cbid == TS_CUPTI_DRIVER_CBID_cuLaunchKernel ||
	       cbid == TS_CUPTI_DRIVER_CBID_cuLaunchKernel_ptsz;
}

/* True if the long way must capture host memory that the launch gets, before it begins. */
static bool gets_host_memory(struct ts_capture *capture, const void *params)
{
	bool gets = true;

	if (!__atomic_load_n(&capture->memory.has_host, __ATOMIC_RELAXED))
		return false;
	if (!ts_lock_try(&capture->lane.lock))
		return true;
	capture->driver = &capture->drivers[TS_CAPTURE_CUDA];
	if (ts_lane_goes_on(&capture->lane))
		gets = ts_capture_launch_gets_host(capture, params);
	ts_lock_release(&capture->lane.lock);
	return gets;
}

/* The first launches count once each: some of them take long, and there may be no others. */
static uint32_t next_weight(void)
{
	const uint32_t n = n_usual++;

	return n < TIMED ? 1 : n % TIMED ? 0 : TIMED;
}

/*
 * Returns the time of the call's begin: that of the API row if the call is the outermost one. Saves
 * a clock read.
 */
static uint64_t begin_of(const struct ts_producer *producer, const struct ts_call *call)
{
	return call->depth == 1 && call->domain == TS_CUPTI_CB_DOMAIN_DRIVER_API && call->enter
		       ? call->enter
		       : ts_producer_ticks(producer);
}

/*
 * The usual launch begins: a kernel's, in a capture of the whole process. It gets no host memory of
 * the driver's, and no other thread has a lock. Returns false for other calls.
 */
static bool enter_usual(struct ts_capture *capture, uint32_t cbid,
			const struct ts_cupti_callback_data *data)
{
	const struct ts_producer *producer = &capture->shim->producer;
	__typeof__(ts_tls) *tls = &ts_tls;
	uint64_t enter;
	int saved_errno;
	bool is_usual;

	if (!is_kernel_launch(cbid) || inside.depth || inside.has_order || inside.copies ||
	    !tls->call.depth || tls->call.left_out || !data->function_params ||
	    capture->window.is_tracked)
		return false;
	enter = begin_of(producer, &tls->call);
	saved_errno = errno;
	tls->busy = TS_BUSY_ASKING;
	inside.has_order = ts_lock_try(&capture->order);
	is_usual = inside.has_order && !gets_host_memory(capture, data->function_params);
	if (is_usual) {
		inside.depth = 1;
		inside.correlation = data->correlation_id;
		inside.unordered = false;
		inside.is_usual = true;
		inside.weight = next_weight();
		inside.enter = enter;
		if (inside.weight)
			inside.spent = ts_producer_ticks(producer) - enter;
	} else {
		give_order(capture);
	}
	tls->busy = TS_BUSY_NOT;
	errno = saved_errno;
	return is_usual;
}

/*
 * Puts the operation of a usual launch that returned. Returns false if the long way must do it. The
 * caller holds the lane's lock.
 */
static bool put_usual(struct ts_capture *capture, uint32_t cbid,
		      const struct ts_cupti_callback_data *data)
{
	const struct ts_shim *shim = capture->shim;
	const __typeof__(ts_tls) *tls = &ts_tls;
	struct ts_record_launch *out;

	if (!ts_lane_goes_on(&capture->lane))
		return false;
	capture->driver = &capture->drivers[TS_CAPTURE_CUDA];
	out = ts_capture_launch_place(capture, data->function_params,
				      cbid == TS_CUPTI_DRIVER_CBID_cuLaunchKernel_ptsz);
	if (!out)
		return false;
	out->record.time = inside.enter;
	out->op_id = tls->call.op_id;
	out->context = ts_renumbered_context(data->context_uid, shim->first_cuda_device);
	out->thread = tls->thread->id;
	ts_lane_commit(&capture->lane);
	__atomic_store_n(&shim->control->captured_bytes, capture->lane.n_bytes, __ATOMIC_RELAXED);
	return true;
}

/* The usual launch returned. Returns false if the long way must capture it. */
static bool leave_usual(struct ts_capture *capture, uint32_t cbid,
			const struct ts_cupti_callback_data *data)
{
	const struct ts_shim *shim = capture->shim;
	const int32_t *result = data->function_return_value;
	__typeof__(ts_tls) *tls = &ts_tls;
	uint64_t begin_ticks = 0;
	int saved_errno;
	bool is_put;

	if (!inside.is_usual || inside.depth != 1 || inside.correlation != data->correlation_id ||
	    (result && *result) || !is_kernel_launch(cbid) || !tls->call.depth || !tls->thread ||
	    tls->epoch != shim->producer.epoch ||
	    __atomic_load_n(&shim->n_stream_captures, __ATOMIC_RELAXED))
		return false;
	if (inside.weight)
		begin_ticks = ts_producer_ticks(&shim->producer) - inside.spent;
	inside.spent = 0;
	saved_errno = errno;
	tls->busy = TS_BUSY_ASKING;
	is_put = ts_lock_try(&capture->lane.lock);
	if (is_put) {
		is_put = put_usual(capture, cbid, data);
		ts_lock_release(&capture->lane.lock);
	}
	if (is_put) {
		inside.depth = 0;
		give_order(capture);
		if (inside.weight)
			count_ticks(capture, ts_producer_ticks(&shim->producer) - begin_ticks,
				    inside.weight);
	}
	tls->busy = TS_BUSY_NOT;
	errno = saved_errno;
	return is_put;
}

/*
 * Capture runs after ts_callbacks_handle() at entry and before it at exit. At entry, capture needs
 * ts_tls.call, which ts_callbacks_handle() fills. The API row includes the time that capture needs.
 */
static void handle_call(struct ts_shim *shim, uint32_t cbid, const struct ts_capture_facts *facts,
			const struct ts_cupti_callback_data *data)
{
	const bool entering = data->callback_site == TS_CUPTI_API_ENTER;

	if (!entering && !leave_usual(&shim->capture, cbid, data))
		capture_call_back(&shim->capture, cbid, facts, data, false);
	if (facts->is_watched)
		ts_callbacks_handle(shim, TS_CUPTI_CB_DOMAIN_DRIVER_API, cbid, data);
	if (entering && !enter_usual(&shim->capture, cbid, data))
		capture_call_back(&shim->capture, cbid, facts, data, true);
}

void ts_capture_handle(void *userdata, uint32_t domain, uint32_t cbid, const void *data)
{
	struct ts_shim *shim = userdata;
	const bool is_driver = domain == TS_CUPTI_CB_DOMAIN_DRIVER_API;
	struct ts_capture_facts facts = {.is_watched = true};
	bool captured = domain == TS_CUPTI_CB_DOMAIN_RESOURCE;

	if (is_driver) {
		facts = facts_of(&shim->capture, cbid);
		captured = facts.mode != TS_CAPTURE_NOT;
	}
	/* The shim's own queries are neither captured nor recorded. */
	if (ts_tls.busy == TS_BUSY_ASKING)
		return;
	if (!captured || !data || ts_tls.busy ||
	    (shim->capture.window.is_tracked && ts_window_calls_driver()) ||
	    __atomic_load_n(&shim->gate->mode, __ATOMIC_RELAXED) == TS_GATE_CLOSED ||
	    !ts_lane_goes_on(&shim->capture.lane)) {
		if (facts.is_watched || ts_tls.busy == TS_BUSY_PROBING)
			ts_callbacks_handle(userdata, domain, cbid, data);
		return;
	}
	if (is_driver) {
		handle_call(shim, cbid, &facts, data);
	} else {
		ts_callbacks_handle(userdata, domain, cbid, data);
		capture_resource(&shim->capture, cbid, data);
	}
}
