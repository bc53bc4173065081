/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Begins the capture of HIP's calls, and reports each call to capture.c. hip/hip-session.c and
 * hip/hip-calls.c call this file; capture.c calls back to hip-capture-calls.c for the operations.
 *
 * The runtime is asked for graphs' nodes and whether a stream is being captured, by its own
 * functions: no wrapper sees these calls. They set the thread's last error, as the call before them
 * did. So they follow a call that succeeded, or come before a call that will set the error itself.
 * If such a query fails, its error is taken away: since ROCm 7 a later success does not replace it.
 */
#include "inject/capture/hip/hip-capture.h"

#include <assert.h>

#include "inject/calls/call-table.h"
#include "inject/context.h"
#include "inject/hip/hip-slots.h"
#include "proto/abi/vendor/hip_calls.h"

static const char *const names[TS_HIP_CALL_SIZE] = {
#define TS_CALL_(name, id, kind) [id] = #name,
	TS_HIP_CALLS(TS_CALL_)
#undef TS_CALL_
};

static_assert(TS_HIP_CALL_SIZE <= TS_CAPTURE_MAX_IDS, "a bit for each call");

static int is_capturing(void *stream, int *ret_status)
{
	hipStreamIsCapturing_fn *ask = ts_hip_next(hipStreamIsCapturing);

	return ask ? ask(stream, ret_status) : 1;
}

void ts_hip_capture_start(struct ts_shim *shim)
{
	struct ts_capture *capture = &shim->capture;
	struct ts_capture_driver *driver;

	if (!ts_capture_prepare(capture, shim, &shim->config.capture))
		return;
	driver = &capture->drivers[TS_CAPTURE_HIP];
	*driver = (struct ts_capture_driver){
		.func_param = ts_hip_capture_argument,
		.is_capturing = is_capturing,
		.module_variable = ts_hip_capture_module_variable,
		.library_variable = ts_hip_capture_library_variable,
	};
	ts_hip_capture_graph_driver(&driver->graphs);
	if (capture->window.is_tracked)
		ts_hip_capture_window_driver(&capture->window.drivers[TS_CAPTURE_HIP]);
	/* Release: pairs with the acquire in hip-calls.c. */
	__atomic_store_n(&capture->hip.is_used, true, __ATOMIC_RELEASE);
}

static void put(struct ts_capture *capture, const struct ts_captured_call *call,
		const struct ts_record_operation *model)
{
	ts_hip_capture_put(capture, call->id, call->params, model);
}

static void put_before(struct ts_capture *capture, const struct ts_captured_call *call,
		       const struct ts_record_operation *model)
{
	ts_hip_capture_before_launch(capture, call->id, call->params, model);
}

static void put_objects(struct ts_capture *capture, const struct ts_captured_call *call,
			const struct ts_record_operation *model)
{
	ts_hip_capture_put_objects(capture, call->id, call->params, model);
}

/* Describes the call to capture.c. Returns false if nothing of it is captured. */
static bool describe(struct ts_shim *shim, uint32_t id, const void *params, uint32_t device,
		     struct ts_captured_call *ret_call)
{
	/* The op_id of a call that is captured, but has no row of its own in the trace. */
	static const uint64_t none;
	const enum ts_capture_mode mode = ts_hip_capture_mode(id);

	if (mode == TS_CAPTURE_NOT || !ts_lane_goes_on(&shim->capture.lane) ||
	    ts_window_calls_driver())
		return false;
	*ret_call = (struct ts_captured_call){
		.vendor = TS_CAPTURE_HIP,
		.id = id,
		.mode = mode,
		.work = ts_hip_capture_work(id),
		.name = names[id],
		.path = ts_hip_capture_path(id, params),
		.stream_capture = ts_call_table_stream_capture(TS_API_HIP, id),
		.context = shim->hip.first_device + device + 1,
		.correlation = (uint32_t)ts_tls.call.op_id,
		.op_id = ts_tls.call.depth ? &ts_tls.call.op_id : &none,
		.params = params,
		.put = put,
		.put_before = put_before,
		.put_objects = put_objects,
	};
	return true;
}

/* The thread's state around a capture. */
struct around {
	uint64_t begin_ns;
	uint32_t busy;
	bool has_error; /* an error that the application has not read */
};

static bool has_error(void)
{
	hipPeekAtLastError_fn *peek_error = ts_hip_next(hipPeekAtLastError);

	return peek_error && peek_error();
}

/* Counts the time that capture takes. ts_tls.busy keeps queries from being recorded. */
static struct around begin(void)
{
	const struct around around = {ts_clock_monotonic_ns(), ts_tls.busy, has_error()};

	ts_tls.busy = TS_BUSY_ASKING;
	return around;
}

static void end(struct ts_shim *shim, const struct around *around)
{
	hipGetLastError_fn *reset_error = ts_hip_next(hipGetLastError);

	if (!around->has_error && has_error() && reset_error)
		(void)reset_error();
	__atomic_fetch_add(&shim->control->captured_ns, ts_clock_monotonic_ns() - around->begin_ns,
			   __ATOMIC_RELAXED);
	ts_tls.busy = around->busy;
}

void ts_hip_capture_enter(struct ts_shim *shim, uint32_t id, const void *params, uint32_t device)
{
	struct ts_captured_call call;
	struct around around;

	if (!describe(shim, id, params, device, &call))
		return;
	around = begin();
	ts_capture_enter(&shim->capture, &call);
	end(shim, &around);
}

void ts_hip_capture_leave(struct ts_shim *shim, uint32_t id, const void *params, uint32_t device,
			  int32_t result)
{
	struct ts_captured_call call;
	struct around around;

	if (!describe(shim, id, params, device, &call))
		return;
	around = begin();
	ts_capture_leave(&shim->capture, &call, result);
	end(shim, &around);
}
