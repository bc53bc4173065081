// SPDX-License-Identifier: Apache-2.0
/*
 * Version, names, ids and the last error: queries that need no record. The version is CUDA 13.0's,
 * because the records have its layout. Clients call this file through api.h; the other files call
 * ts_cupti_result() and the id functions.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "tools/vgpu/cupti/api.h"
#include "tools/vgpu/cupti/cupti-internal.h"

static __thread uint32_t last_error;
/* Static TLS, for forked children: see cupti-hooks.c. */
static __thread uint32_t system_thread_id __attribute__((tls_model("initial-exec")));
static _Atomic uint32_t process_id; /* 0: not read yet */
static _Atomic uint32_t thread_id_type = TS_CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;

static const char *const runtime_names[TS_CUPTI_RUNTIME_CBID_SIZE] = {
	[TS_CUPTI_RUNTIME_CBID_INVALID] = "INVALID",
#define NAME(name, id, kind) [id] = #name,
	TS_CUPTI_RUNTIME_CBIDS(NAME)
#undef NAME
};

static const char *const driver_names[TS_CUPTI_DRIVER_CBID_SIZE] = {[TS_CUPTI_DRIVER_CBID_INVALID] =
									    "INVALID",
#define NAME(name, id, kind) [id] = #name,
								    TS_CUPTI_DRIVER_CBIDS(NAME)
#undef NAME
};

uint32_t ts_cupti_result(uint32_t result)
{
	if (result)
		last_error = result;
	return result;
}

uint32_t cuptiGetLastError(void)
{
	uint32_t result = last_error;

	last_error = TS_CUPTI_SUCCESS;
	return result;
}

/* Returns NULL for domains without names, and for calls that cupti_cbid.h does not list. */
const char *ts_cupti_callback_name(uint32_t domain, uint32_t cbid)
{
	if (domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API && cbid < TS_CUPTI_RUNTIME_CBID_SIZE)
		return runtime_names[cbid];
	if (domain == TS_CUPTI_CB_DOMAIN_DRIVER_API && cbid < TS_CUPTI_DRIVER_CBID_SIZE)
		return driver_names[cbid];
	return NULL;
}

uint32_t cuptiGetVersion(uint32_t *ret_version)
{
	if (!ret_version)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	*ret_version = ts_cupti_face_version();
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiGetResultString(uint32_t result, const char **ret_string)
{
	const char *string = NULL;

	if (!ret_string)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	switch (result) {
#define NAME(suffix, value)                \
	case value:                        \
		string = "CUPTI_" #suffix; \
		break;
		TS_CUPTI_RESULTS(NAME)
#undef NAME
	default:
		break;
	}
	*ret_string = string ? string : "<unknown>";
	return ts_cupti_result(string ? TS_CUPTI_SUCCESS : TS_CUPTI_ERROR_INVALID_PARAMETER);
}

uint32_t cuptiGetErrorMessage(uint32_t result, const char **ret_string)
{
	uint32_t r = cuptiGetResultString(result, ret_string);

	if (r)
		return r;
	/*
	 * As in CUPTI, most messages are the name. Errors that occur with this device have a longer
	 * message.
	 */
	if (result == TS_CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
		*ret_string = "another tool is subscribed to CUPTI in this process";
	else if (result == TS_CUPTI_ERROR_NOT_INITIALIZED)
		*ret_string = "the virtual GPU's libcuda.so.1 is not in this process";
	else if (result == TS_CUPTI_ERROR_NOT_COMPATIBLE)
		*ret_string = "the virtual GPU does not record this kind of activity";
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiGetTimestamp(uint64_t *ret_timestamp)
{
	if (!ret_timestamp)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	*ret_timestamp = ts_cupti_clock_now();
	return TS_CUPTI_SUCCESS;
}

static uint32_t find_context(void *context, struct ts_vgpu_context_info *ret_info)
{
	if (!ts_cupti_hooks())
		return TS_CUPTI_ERROR_NOT_INITIALIZED;
	return ts_cupti_hooks()->queries->context(context, ret_info)
		       ? TS_CUPTI_ERROR_INVALID_CONTEXT
		       : TS_CUPTI_SUCCESS;
}

uint32_t cuptiGetContextId(void *context, uint32_t *ret_id)
{
	struct ts_vgpu_context_info info;
	uint32_t result;

	if (!ret_id)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	result = find_context(context, &info);
	if (!result)
		*ret_id = info.context_id;
	return ts_cupti_result(result);
}

uint32_t cuptiGetDeviceId(void *context, uint32_t *ret_id)
{
	struct ts_vgpu_context_info info;
	uint32_t result;

	if (!ret_id)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	result = find_context(context, &info);
	if (!result)
		*ret_id = info.device_id;
	return ts_cupti_result(result);
}

uint32_t cuptiGetStreamIdEx(void *context, void *stream, uint8_t per_thread, uint32_t *ret_id)
{
	struct ts_vgpu_stream_info info;

	if (!ret_id)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	if (!ts_cupti_hooks())
		return ts_cupti_result(TS_CUPTI_ERROR_NOT_INITIALIZED);
	if (ts_cupti_hooks()->queries->stream(context, stream, per_thread, &info))
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_STREAM);
	*ret_id = info.stream_id;
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiGetStreamId(void *context, void *stream, uint32_t *ret_id)
{
	return cuptiGetStreamIdEx(context, stream, 0, ret_id);
}

static uint32_t graph_result(int r)
{
	return ts_cupti_result(r ? TS_CUPTI_ERROR_INVALID_PARAMETER : TS_CUPTI_SUCCESS);
}

uint32_t cuptiGetGraphId(void *graph, uint32_t *ret_id)
{
	if (!ret_id || !graph)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	if (!ts_cupti_hooks())
		return ts_cupti_result(TS_CUPTI_ERROR_NOT_INITIALIZED);
	return graph_result(ts_cupti_hooks()->queries->graph_id(graph, ret_id));
}

uint32_t cuptiGetGraphExecId(void *graph_exec, uint32_t *ret_id)
{
	if (!ret_id || !graph_exec)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	if (!ts_cupti_hooks())
		return ts_cupti_result(TS_CUPTI_ERROR_NOT_INITIALIZED);
	return graph_result(ts_cupti_hooks()->queries->graph_exec_id(graph_exec, ret_id));
}

uint32_t cuptiGetGraphNodeId(void *node, uint64_t *ret_id)
{
	if (!ret_id || !node)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	if (!ts_cupti_hooks())
		return ts_cupti_result(TS_CUPTI_ERROR_NOT_INITIALIZED);
	return graph_result(ts_cupti_hooks()->queries->graph_node_id(node, ret_id));
}

static void forget_process(void)
{
	atomic_store_explicit(&process_id, 0, memory_order_relaxed);
	system_thread_id = 0;
}

static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, forget_process);
}

uint32_t ts_cupti_process_id(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	uint32_t id = atomic_load_explicit(&process_id, memory_order_relaxed);

	/* A system call each time would be the most expensive part of a record. */
	if (!id) {
		pthread_once(&once, watch_forks);
		id = (uint32_t)getpid();
		atomic_store_explicit(&process_id, id, memory_order_relaxed);
	}
	return id;
}

uint32_t ts_cupti_thread_id(void)
{
	if (atomic_load_explicit(&thread_id_type, memory_order_relaxed) ==
	    TS_CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT)
		return (uint32_t)(uintptr_t)pthread_self();
	if (!system_thread_id)
		system_thread_id = (uint32_t)syscall(SYS_gettid);
	return system_thread_id;
}

void ts_cupti_thread_id_reset(void)
{
	atomic_store(&thread_id_type, TS_CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
}

uint32_t cuptiGetThreadIdType(uint32_t *ret_type)
{
	if (!ret_type)
		return ts_cupti_result(TS_CUPTI_ERROR_INVALID_PARAMETER);
	*ret_type = atomic_load(&thread_id_type);
	return TS_CUPTI_SUCCESS;
}

uint32_t cuptiSetThreadIdType(uint32_t type)
{
	if (type > TS_CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
		return ts_cupti_result(TS_CUPTI_ERROR_NOT_SUPPORTED);
	atomic_store(&thread_id_type, type);
	return TS_CUPTI_SUCCESS;
}
