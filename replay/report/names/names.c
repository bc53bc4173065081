/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gives names to numbers: the vendor's kinds, errors and flags, and TraceSmith's own enums.
 * replay/report, tsctl, the daemon and the exporters call this file. The vendor tables come from
 * proto/abi/vendor at compile time, indexed by id. Numbers from a trace are untrusted, so each
 * look-up checks the table's bounds.
 */
#include "replay/report/names/names.h"

#include "proto/abi/clock.h"
#include "proto/abi/record.h"
#include "proto/abi/session.h"
#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cuda_runtime.h"
#include "proto/abi/vendor/cupti_activity.h"
#include "proto/abi/vendor/hip.h"
#include "sbt/schema.h"

/* The tables are sparse; numbers are below 1000. */
#define NAME(suffix, value, name, text) [value] = #name,
static const char *const runtime_errors[] = {TS_CUDA_ERRORS(NAME)};
static const char *const driver_errors[] = {TS_CU_RESULTS(NAME)};
static const char *const hip_errors[] = {TS_HIP_ERRORS(NAME)};
#undef NAME

#define LOOK_UP(table, number) ((number) < TS_ARRAY_LEN(table) ? (table)[number] : NULL)

const char *ts_name_api_error(uint32_t domain, uint32_t result)
{
	if (domain == TS_API_CUDA_RUNTIME)
		return LOOK_UP(runtime_errors, result);
	if (domain == TS_API_HIP)
		return LOOK_UP(hip_errors, result);
	return domain == TS_API_CUDA_DRIVER ? LOOK_UP(driver_errors, result) : NULL;
}

const char *ts_name_memcpy_kind(uint32_t kind)
{
	static const char *const names[] = {
		[TS_CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN] = "unknown",
		[TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOD] = "htod",
		[TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOH] = "dtoh",
		[TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOA] = "htoa",
		[TS_CUPTI_ACTIVITY_MEMCPY_KIND_ATOH] = "atoh",
		[TS_CUPTI_ACTIVITY_MEMCPY_KIND_ATOA] = "atoa",
		[TS_CUPTI_ACTIVITY_MEMCPY_KIND_ATOD] = "atod",
		[TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOA] = "dtoa",
		[TS_CUPTI_ACTIVITY_MEMCPY_KIND_DTOD] = "dtod",
		[TS_CUPTI_ACTIVITY_MEMCPY_KIND_HTOH] = "htoh",
		[TS_CUPTI_ACTIVITY_MEMCPY_KIND_PTOP] = "ptop",
	};

	return LOOK_UP(names, kind);
}

const char *ts_name_memory_kind(uint32_t kind)
{
	static const char *const names[] = {
		[TS_CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN] = "unknown",
		[TS_CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE] = "pageable",
		[TS_CUPTI_ACTIVITY_MEMORY_KIND_PINNED] = "pinned",
		[TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE] = "device",
		[TS_CUPTI_ACTIVITY_MEMORY_KIND_ARRAY] = "array",
		[TS_CUPTI_ACTIVITY_MEMORY_KIND_MANAGED] = "managed",
		[TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC] = "device_static",
		[TS_CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC] = "managed_static",
	};

	return LOOK_UP(names, kind);
}

const char *ts_name_sync_type(uint32_t type)
{
	static const char *const names[] = {
		[TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN] = "unknown",
		[TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE] = "event_synchronize",
		[TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT] = "stream_wait_event",
		[TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE] = "stream_synchronize",
		[TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE] =
			"context_synchronize",
	};

	return LOOK_UP(names, type);
}

const char *ts_name_overhead_kind(uint32_t kind)
{
	/* The kind of a CUPTI overhead record is in the upper 16 bits. */
	static const char *const names[] = {
		[TS_CUPTI_ACTIVITY_OVERHEAD_UNKNOWN >> 16] = "unknown",
		[TS_CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH >> 16] = "cupti_buffer_flush",
		[TS_CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION >> 16] = "cupti_instrumentation",
		[TS_CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE >> 16] = "cupti_resource",
		[TS_CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING >> 16] =
			"module_loading",
		[TS_CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING >> 16] = "lazy_function_loading",
		[TS_CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL >> 16] = "command_buffer_full",
		[TS_CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST >> 16] =
			"activity_buffer_request",
		[TS_CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT >> 16] = "uvm_activity_init",
	};

	if (kind == TS_OVERHEAD_WAITED)
		return "waited_for_room";
	if (kind == TS_CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER)
		return "driver_compiler";
	return kind & 0xffff ? NULL : LOOK_UP(names, kind >> 16);
}

const char *ts_name_object_action(uint32_t action)
{
	static const char *const names[] = {
		[TS_OBJECT_CREATED] = "created",
		[TS_OBJECT_DESTROYED] = "destroyed",
		[TS_OBJECT_SEEN] = "seen",
	};

	return LOOK_UP(names, action);
}

const char *ts_name_range_action(uint32_t action)
{
	static const char *const names[] = {
		[TS_RANGE_PUSH] = "push",
		[TS_RANGE_START] = "start",
	};

	return LOOK_UP(names, action);
}

const char *ts_name_operation_kind(uint32_t kind)
{
	static const char *const names[] = {
		[TS_OPERATION_CONTEXT_CREATE] = "context_create",
		[TS_OPERATION_CONTEXT_DESTROY] = "context_destroy",
		[TS_OPERATION_MODULE_LOAD] = "module_load",
		[TS_OPERATION_MODULE_UNLOAD] = "module_unload",
		[TS_OPERATION_FUNCTION] = "function",
		[TS_OPERATION_VARIABLE] = "variable",
		[TS_OPERATION_ALLOC] = "alloc",
		[TS_OPERATION_FREE] = "free",
		[TS_OPERATION_STREAM_CREATE] = "stream_create",
		[TS_OPERATION_STREAM_DESTROY] = "stream_destroy",
		[TS_OPERATION_EVENT_CREATE] = "event_create",
		[TS_OPERATION_EVENT_DESTROY] = "event_destroy",
		[TS_OPERATION_EVENT_RECORD] = "event_record",
		[TS_OPERATION_STREAM_WAIT] = "stream_wait",
		[TS_OPERATION_LAUNCH] = "launch",
		[TS_OPERATION_COPY] = "copy",
		[TS_OPERATION_FILL] = "fill",
		[TS_OPERATION_SYNC] = "sync",
		[TS_OPERATION_HOST_WRITE] = "host_write",
		[TS_OPERATION_LIMIT] = "limit",
		[TS_OPERATION_PEER] = "peer",
		[TS_OPERATION_UNSUPPORTED] = "unsupported",
		[TS_OPERATION_END] = "end",
		[TS_OPERATION_RESULT] = "result",
		[TS_OPERATION_GRAPH_LAUNCH] = "graph_launch",
		[TS_OPERATION_WINDOW] = "window",
	};

	return LOOK_UP(names, kind);
}

const char *ts_name_pause_cause(uint32_t cause)
{
	static const char *const names[] = {
		[TS_PAUSE_BY_REQUEST] = "request",
		[TS_PAUSE_BY_APPLICATION] = "application",
	};

	return LOOK_UP(names, cause);
}

const char *ts_name_access_kind(uint32_t access)
{
	static const char *const names[] = {
		[TS_ACCESS_COPY] = "copy",
		[TS_ACCESS_SET] = "set",
		[TS_ACCESS_FREE] = "failed_free",
		[TS_ACCESS_ALLOC] = "failed_alloc",
		[TS_ACCESS_ALLOCATED] = "alloc",
		[TS_ACCESS_ALLOCATED_PINNED] = "alloc_pinned",
		[TS_ACCESS_ALLOCATED_MANAGED] = "alloc_managed",
		[TS_ACCESS_FREED] = "free",
	};

	return LOOK_UP(names, access);
}

const char *ts_name_off_cpu_reason(uint32_t reason)
{
	static const char *const names[] = {
		[TS_OFF_CPU_UNKNOWN] = "unknown", [TS_OFF_CPU_PREEMPTED] = "preempted",
		[TS_OFF_CPU_YIELDED] = "yielded", [TS_OFF_CPU_PAGE_FAULT] = "page_fault",
		[TS_OFF_CPU_FUTEX] = "futex",	  [TS_OFF_CPU_IOCTL] = "ioctl",
		[TS_OFF_CPU_SLEEP] = "sleep",	  [TS_OFF_CPU_POLL] = "poll",
		[TS_OFF_CPU_WAIT] = "wait",	  [TS_OFF_CPU_IO] = "io",
		[TS_OFF_CPU_SYSCALL] = "syscall", [TS_OFF_CPU_STOPPED] = "stopped",
	};

	return LOOK_UP(names, reason);
}

const char *ts_name_waker_context(uint32_t context)
{
	static const char *const names[] = {
		[TS_WAKER_NONE] = "none",
		[TS_WAKER_THREAD] = "thread",
		[TS_WAKER_INTERRUPT] = "interrupt",
	};

	return LOOK_UP(names, context);
}

const char *ts_name_fault_kind(uint32_t kind)
{
	static const char *const names[] = {
		[TS_FAULT_UNKNOWN] = "unknown",
		[TS_FAULT_MINOR] = "minor",
		[TS_FAULT_MAJOR] = "major",
	};

	return LOOK_UP(names, kind);
}

const char *ts_name_fault_memory(uint32_t memory)
{
	static const char *const names[] = {
		[TS_FAULT_MEMORY_UNKNOWN] = "unknown",
		[TS_FAULT_ANONYMOUS] = "anonymous",
		[TS_FAULT_FILE] = "file",
		[TS_FAULT_SHARED] = "shared",
	};

	return LOOK_UP(names, memory);
}

const char *ts_name_pressure_kind(uint32_t kind)
{
	static const char *const names[] = {
		[TS_PRESSURE_OTHER] = "other",	     [TS_PRESSURE_DIRECT] = "direct",
		[TS_PRESSURE_LIMIT] = "limit",	     [TS_PRESSURE_NODE] = "node",
		[TS_PRESSURE_OOM_KILL] = "oom_kill",
	};

	return LOOK_UP(names, kind);
}

const char *ts_name_driver_kind(uint32_t kind)
{
	static const char *const names[] = {
		[TS_DRIVER_OTHER] = "other",
		[TS_DRIVER_FENCE_WAIT] = "fence_wait",
		[TS_DRIVER_FENCE] = "fence",
		[TS_DRIVER_JOB] = "job",
	};

	return LOOK_UP(names, kind);
}

const char *ts_name_block_operation(uint32_t operation)
{
	static const char *const names[] = {
		[TS_BLOCK_OTHER] = "other",	[TS_BLOCK_READ] = "read",
		[TS_BLOCK_WRITE] = "write",	[TS_BLOCK_FLUSH] = "flush",
		[TS_BLOCK_DISCARD] = "discard",
	};

	return LOOK_UP(names, operation);
}

const char *ts_name_loss_reason(uint32_t reason)
{
	static const char *const names[] = {
#define NAME(name, value, key) [value] = key,
		TS_LOSS_REASONS(NAME)
#undef NAME
	};

	return LOOK_UP(names, reason);
}

const char *ts_name_clock(uint32_t clock)
{
	static const char *const names[] = {
		[TS_CLOCK_MONOTONIC] = "monotonic",
		[TS_CLOCK_TSC] = "tsc",
		[TS_CLOCK_REALTIME] = "realtime",
		[TS_CLOCK_CUPTI] = "cupti",
	};

	return LOOK_UP(names, clock);
}

const char *ts_name_empty_reason(uint32_t reason)
{
	static const char *const names[] = {
		[TS_EMPTY_NO_CUPTI] = "no_cupti",
		[TS_EMPTY_CUPTI_HELD] = "cupti_held",
		[TS_EMPTY_INJECTION_HELD] = "injection_held",
		[TS_EMPTY_CUPTI_TOO_OLD] = "cupti_too_old",
		[TS_EMPTY_CUPTI_ERROR] = "cupti_error",
		[TS_EMPTY_NO_MEMORY] = "no_memory",
		[TS_EMPTY_REFUSED] = "refused",
	};

	return LOOK_UP(names, reason);
}

const char *ts_name_loss_text(const char *reason)
{
	static const struct {
		uint32_t reason;
		const char *text;
	} texts[] = {
		{TS_LOSS_RING_FULL,
		 "the daemon did not empty the ring in time; use a larger --ring-size, or "
		 "--lossless"},
		{TS_LOSS_NO_SHARD, "the session has fewer rings than recording threads"},
		{TS_LOSS_ARENA_FULL, "the session's memory for names and stacks is full: later "
				     "ones are unknown"},
		{TS_LOSS_CUPTI_DROPPED, "CUPTI dropped activity records without a reason"},
		{TS_LOSS_NO_BUFFER, "the program had no memory for CUPTI's activity buffers"},
		{TS_LOSS_ZERO_TIMESTAMP,
		 "operations without times: they never ended, or the GPU had "
		 "no room for their times"},
		{TS_LOSS_UNFINISHED, "calls and operations that still ran when the recording "
				     "ended"},
		{TS_LOSS_UNTIMED,
		 "HIP work without times: HIP's runtime reports none, and events time a sample "
		 "(TRACESMITH_TIMED_LAUNCHES)"},
		{TS_LOSS_UNJOINED_API,
		 "calls whose GPU work has no record; other reasons listed here may count it"},
		{TS_LOSS_UNJOINED_DEVICE,
		 "GPU work whose call has no record; other reasons listed here may count it"},
		{TS_LOSS_REENTERED, "calls made inside TraceSmith's own callback"},
		{TS_LOSS_BAD_RECORD, "malformed records: the program may have overwritten memory"},
		{TS_LOSS_UNKNOWN_RECORD, "records of a type that this version does not know"},
		{TS_LOSS_BAD_DEFINITION,
		 "malformed definitions: the program may have overwritten memory"},
		{TS_LOSS_STACK_TRUNCATED, "stacks too deep: their outermost frames are missing"},
		{TS_LOSS_YIELDED, "calls made while the application's own profiler used CUPTI"},
		{TS_LOSS_YIELDED_TO_END,
		 "the application's own profiler kept CUPTI to the end: later work is unknown"},
		{TS_LOSS_FORKED, "calls of a forked child that has no session"},
		{TS_LOSS_DISK, "rows that the daemon could not write to the trace file"},
		{TS_LOSS_UNDRAINED, "records left in the rings when the recording ended"},
		{TS_LOSS_NO_MEMORY, "the daemon had no memory to join calls with their GPU work"},
		{TS_LOSS_CLOCK_BACKWARD, "backward jumps of a clock: times near them are wrong"},
		{TS_LOSS_NO_STACK,
		 "calls without a stack: libunwind.so.8 is missing or unsuitable"},
		{TS_LOSS_NO_PYTHON,
		 "stacks without their Python functions: the position in the stack is unknown"},
		{TS_LOSS_TEXT_CUT, "names of the application that were too long and are cut"},
		{TS_LOSS_BAD_ANNOTATION,
		 "ranges, marks, counters or names of the application: malformed, or too many at "
		 "once"},
		{TS_LOSS_BAD_TIME, "records of CUPTI with impossible times"},
		{TS_LOSS_KERNEL_EVENTS,
		 "kernel events came faster than the daemon read them; set a threshold, like "
		 "--kernel-events=sched:10us"},
		{TS_LOSS_LATE, "records that came after the end of the recording"},
	};

	for (size_t i = 0; i < TS_ARRAY_LEN(texts); i++)
		if (!strcmp(ts_name_loss_reason(texts[i].reason), reason))
			return texts[i].text;
	return "this version does not know the reason";
}
