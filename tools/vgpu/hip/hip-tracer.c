// SPDX-License-Identifier: Apache-2.0
/*
 * The tracer of libamdhip64: one callback of the process, hipRegisterTracerCallback(). The callback
 * is called at the entry of every HIP function, where it may store a correlation id, and for every
 * finished operation of the device with that id. The operations come from the driver's reports
 * (tools/vgpu/hooks.h), for which this file is the sink. All files call call_enter() and
 * call_leave() by the macro HIP.
 *
 * AMD's records have times of CLOCK_BOOTTIME, the virtual GPU's have times of CLOCK_MONOTONIC.
 */
#include <time.h>

#include "tools/vgpu/hip/hip-face.h"

_Atomic(ts_hip_tracer_callback) tracer_callback;

/* The id that the callback stored for the thread's current call; 0: none. */
static __thread uint64_t correlation_id;

/* Marks an operation that the callback asked for; the address is its only use. */
static char wanted;

static ts_hip_tracer_callback callback(void)
{
	/* Relaxed, without a pair: AMD's library promises no more. */
	return atomic_load_explicit(&tracer_callback, memory_order_relaxed);
}

static struct ts_hip_api_phases *phases_of(struct hip_call *call)
{
	return (struct ts_hip_api_phases *)(call->bytes + release.phases_off);
}

void call_enter(struct hip_call *call, uint32_t id)
{
	ts_hip_tracer_callback fn = callback();

	call->old_data = release.has_old_tracer ? activity_enter(id) : NULL;
	call->reported = fn && id && fn(TS_HIP_ACTIVITY_DOMAIN_API, id, &call->data) == 0;
	if (!call->reported)
		return;
	correlation_id = call->data.correlation_id;
	if (phases_of(call)->phase_enter)
		phases_of(call)->phase_enter(id, &call->data);
}

void call_leave(struct hip_call *call, uint32_t id)
{
	if (call->old_data)
		activity_leave(id, call->old_data);
	if (!call->reported)
		return;
	if (phases_of(call)->phase_exit)
		phases_of(call)->phase_exit(id, &call->data);
	correlation_id = 0;
}

static uint32_t op_of(const struct ts_vgpu_operation *op)
{
	switch (op->kind) {
	case TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return TS_HIP_ACTIVITY_OP_DISPATCH;
	case TS_CUPTI_ACTIVITY_KIND_CUDA_EVENT:
		return TS_HIP_ACTIVITY_OP_BARRIER;
	default:
		return TS_HIP_ACTIVITY_OP_COPY;
	}
}

static uint32_t copy_command(uint8_t copy_kind)
{
	switch (copy_kind) {
	case TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
		return TS_HIP_COMMAND_WRITE_BUFFER;
	case TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
		return TS_HIP_COMMAND_READ_BUFFER;
	default:
		return TS_HIP_COMMAND_COPY_BUFFER;
	}
}

static uint32_t command_of(const struct ts_vgpu_operation *op)
{
	switch (op->kind) {
	case TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		/* Before 5.3.1 each kernel of a graph was a command of its own. */
		return op->graph_id && !release.has_old_tracer ? TS_HIP_COMMAND_TASK
							       : TS_HIP_COMMAND_NDRANGE_KERNEL;
	case TS_CUPTI_ACTIVITY_KIND_MEMSET:
		return TS_HIP_COMMAND_FILL_BUFFER;
	case TS_CUPTI_ACTIVITY_KIND_CUDA_EVENT:
		return TS_HIP_COMMAND_MARKER;
	default:
		return copy_command(op->memcpy.copy_kind);
	}
}

static void on_submitted(struct ts_vgpu_operation *op)
{
	bool is_marker = op->kind == TS_CUPTI_ACTIVITY_KIND_CUDA_EVENT;
	ts_hip_tracer_callback fn = callback();

	if (release.has_old_tracer) {
		if (activity_submitted(command_of(op), &op->sink_word))
			op->sink_buffer = &wanted;
		return;
	}
	/* AMD's runtime times the markers of events in any case, and keeps no id in them. */
	if (!fn || (!is_marker && fn(TS_HIP_ACTIVITY_DOMAIN_OPS, op_of(op), NULL)))
		return;
	op->sink_word = is_marker ? 0 : correlation_id;
	op->sink_buffer = &wanted;
}

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * Both clocks run at one rate, except while the machine sleeps. So one difference serves until it
 * is wrong by more than reading both clocks takes.
 */
static uint64_t boottime_of(uint64_t monotonic_ns)
{
	static _Atomic uint64_t difference_ns;
	uint64_t known = atomic_load_explicit(&difference_ns, memory_order_relaxed);
	uint64_t before = now_ns(CLOCK_MONOTONIC), boot = now_ns(CLOCK_BOOTTIME);

	if (boot - before > known + 100000 || boot - before + 100000 < known || !known) {
		known = boot - before;
		atomic_store_explicit(&difference_ns, known, memory_order_relaxed);
	}
	return monotonic_ns + known;
}

static void on_completed(struct ts_vgpu_operation *op)
{
	ts_hip_tracer_callback fn = callback();
	struct ts_hip_activity_record record = {
		.domain = TS_HIP_ACTIVITY_DOMAIN_OPS,
		.kind = command_of(op),
		.op = op_of(op),
		.correlation_id = op->sink_word,
		/* The node of the kernel's KFD: node 0 is the processor. */
		.device_id = (int32_t)op->device_id + 1,
		.queue_id = op->stream_id,
	};

	/*
	 * An operation that never ran has no record. Since 6.2 the runtime asks once more before
	 * each record, in the thread that found the end, and always for dispatches.
	 */
	if ((!fn && !release.has_old_tracer) || !op->end_ns ||
	    (release.asks_at_end &&
	     fn(TS_HIP_ACTIVITY_DOMAIN_OPS, TS_HIP_ACTIVITY_OP_DISPATCH, NULL)))
		return;
	record.begin_ns = boottime_of(op->start_ns);
	record.end_ns = record.begin_ns + (op->end_ns - op->start_ns);
	switch (op->kind) {
	case TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		record.kernel_name = op->kernel.name;
		break;
	case TS_CUPTI_ACTIVITY_KIND_MEMSET:
		record.bytes = op->memset.bytes;
		break;
	case TS_CUPTI_ACTIVITY_KIND_CUDA_EVENT:
		break;
	default:
		record.bytes = op->memcpy.bytes;
	}
	if (release.has_old_tracer)
		activity_completed(&record);
	else
		fn(TS_HIP_ACTIVITY_DOMAIN_OPS, record.op, &record);
}

/* The driver reports more than the tracer has. */
static void ignore_api(uint32_t site, struct ts_vgpu_api *call)
{
}

static void ignore_resource(const struct ts_vgpu_resource_event *event)
{
}

static void ignore_memory(const struct ts_vgpu_memory_event *event, uint32_t id)
{
}

static void ignore_wait(const struct ts_vgpu_wait_event *event, uint32_t id)
{
}

static void ignore_started(struct ts_vgpu_operation *op)
{
}

static const struct ts_vgpu_sink sink = {
	.size = sizeof(sink),
	.version = TS_VGPU_HOOKS_VERSION,
	.api = ignore_api,
	.resource = ignore_resource,
	.memory = ignore_memory,
	.wait = ignore_wait,
	.operation_submitted = on_submitted,
	.operation_started = ignore_started,
	.operation_completed = on_completed,
};

/*
 * The sink stays once it is attached: detaching would wait for callbacks, and the caller may hold a
 * lock that they need.
 */
static void attach_sink(void)
{
	const void *table;

	if (!cuGetExportTable(&table, &ts_vgpu_hooks_uuid))
		(void)((const struct ts_vgpu_hooks *)table)->set_sink(&sink);
}

/*
 * For the stand-in of rocprofiler-sdk (test/apps/rocprofiler-standin.c). Only hip-sdk's library
 * exports it.
 */
__attribute__((visibility("default"))) void ts_vgpu_trace_hip(void *fn);

static bool enable_activity(uint32_t op, bool enable)
{
	if (enable)
		attach_sink();
	return activity_enable(op, enable);
}

static void register_callback(void *fn)
{
	atomic_store_explicit(&tracer_callback, (ts_hip_tracer_callback)(uintptr_t)fn,
			      memory_order_relaxed);
	if (fn)
		attach_sink();
}

void ts_vgpu_trace_hip(void *fn)
{
	register_callback(fn);
}

static const char *api_name(uint32_t id)
{
	switch (id) {
#define NAME(name, number) \
	case number:       \
		return #name;
		TS_HIP_API_IDS(NAME)
#undef NAME
	}
	return "unknown";
}

static const char *kernel_name(const void *host_function, void *stream)
{
	void *kernel;

	return kernel_of(host_function, &kernel) ? NULL : function_name(kernel);
}

#include "tools/vgpu/generated-hip-tool.h"
