/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libtsinject-rocprofiler.so: TraceSmith as a tool of AMD's rocprofiler-sdk. The shim loads it into
 * processes whose HIP reports no times of the GPU's work (rocprofiler-link.c). It calls
 * rocprofiler-records.c, the SDK, and the shim by the interface in rocprofiler-interface.h.
 *
 *	the SDK looks for tools  -> rocprofiler_configure(): this tool, once, if the shim opened it
 *	                         -> initialize(): context, buffer, thread, services
 *	work is submitted        -> on_request(): the op_id of the application's call
 *	a kernel is loaded       -> on_callback(): its name
 *	a buffer is full, flush  -> on_buffer(): the rows of finished work
 *	exit(), before the shim  -> finalize(): the last buffer
 *
 * Each step's error ends the tool, and never the application. The tool traces no calls, and changes
 * nothing that other tools of the SDK see.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "inject/rocprofiler/rocprofiler-interface.h"
#include "proto/abi/record.h"

/* Some 5700 kernels. The SDK has two of this size, and waits if both are full. */
#define BUFFER_BYTES	((size_t)1 << 20)
#define WATERMARK_BYTES (BUFFER_BYTES - BUFFER_BYTES / 8)

struct functions {
#define MEMBER(name, arguments) int(*name) arguments;
	TS_ROCPROFILER_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* The tool of this process. A forked child has no thread of the SDK, so `pid` stops it there. */
static struct {
	const struct ts_rocprofiler_shim *shim;
	struct functions sdk;
	pthread_mutex_t flushing; /* finalize() waits for a flush */
	uint32_t state;		  /* enum ts_rocprofiler_state */
	pid_t pid;
	uint64_t context;
	uint64_t buffer;
	uint64_t n_dropped; /* as the SDK counted at the last buffer */
	char problem[128];
} tool = {.flushing = PTHREAD_MUTEX_INITIALIZER};

static void set_state(enum ts_rocprofiler_state state)
{
	/* Release: pairs with the acquire in get_state(). */
	__atomic_store_n(&tool.state, (uint32_t)state, __ATOMIC_RELEASE);
}

static enum ts_rocprofiler_state get_state(void)
{
	return (enum ts_rocprofiler_state)__atomic_load_n(&tool.state, __ATOMIC_ACQUIRE);
}

/* True if a step succeeded. Otherwise stores the problem. */
static bool succeeds(const char *function, int status)
{
	if (status == TS_ROCPROFILER_SUCCESS)
		return true;
	snprintf(tool.problem, sizeof(tool.problem), "%s() returned %d", function, status);
	set_state(TS_ROCPROFILER_FAILED);
	return false;
}

#define CALL(name, ...) succeeds(#name, tool.sdk.name(__VA_ARGS__))

/* ---- what the SDK calls ---------------------------------------------------------------------- */

static int on_request(uint64_t thread_id, uint64_t context, uint32_t kind, uint32_t operation,
		      uint64_t internal, uint64_t *ret_external, void *data)
{
	(void)thread_id;
	(void)context;
	(void)kind;
	(void)operation;
	(void)internal;
	(void)data;
	*ret_external = tool.shim->current_op();
	return 0;
}

static void on_callback(struct ts_rocprofiler_callback_record record, uint64_t *user_data,
			void *data)
{
	const struct ts_rocprofiler_kernel_symbol *symbol = ts_rocprofiler_symbol(&record);

	(void)user_data;
	(void)data;
	if (symbol)
		(void)ts_rocprofiler_name_put(symbol->kernel_id, symbol->kernel_name);
}

static void deliver(const struct ts_rocprofiler_record_header *header)
{
	struct ts_rocprofiler_work work;

	switch (ts_rocprofiler_read(header, &work)) {
	case TS_ROCPROFILER_WORK:
		tool.shim->deliver(&work, work.kind == TS_ROCPROFILER_KERNEL
						  ? ts_rocprofiler_name(work.kernel_id)
						  : NULL);
		break;
	case TS_ROCPROFILER_UNKNOWN:
		tool.shim->count(TS_LOSS_UNKNOWN_RECORD, 1);
		break;
	case TS_ROCPROFILER_BAD:
		tool.shim->count(TS_LOSS_BAD_RECORD, 1);
		break;
	}
}

static void on_buffer(uint64_t context, uint64_t buffer,
		      struct ts_rocprofiler_record_header **headers, size_t n_headers, void *data,
		      uint64_t n_dropped)
{
	(void)context;
	(void)buffer;
	(void)data;
	for (size_t i = 0; headers && i < n_headers; i++)
		deliver(headers[i]);
	/* The SDK's sum since the start. */
	if (n_dropped > tool.n_dropped) {
		tool.shim->count(TS_LOSS_NO_BUFFER, n_dropped - tool.n_dropped);
		tool.n_dropped = n_dropped;
	}
}

/* Threads of the SDK take none of the application's signals. */
static __thread sigset_t old_signals;

static void before_thread(int library, void *data)
{
	sigset_t all;

	(void)library;
	(void)data;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old_signals);
}

static void after_thread(int library, void *data)
{
	(void)library;
	(void)data;
	pthread_sigmask(SIG_SETMASK, &old_signals, NULL);
}

static int initialize(void (*end)(struct ts_rocprofiler_client_id client), void *data)
{
	const uint32_t symbols = TS_ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER;
	const uint32_t requests[] = {TS_ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH,
				     TS_ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY};
	uint64_t thread = 0;

	(void)end;
	(void)data;
	if (!CALL(rocprofiler_create_context, &tool.context) ||
	    !CALL(rocprofiler_create_buffer, tool.context, BUFFER_BYTES, WATERMARK_BYTES,
		  TS_ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer, NULL, &tool.buffer) ||
	    !CALL(rocprofiler_create_callback_thread, &thread) ||
	    !CALL(rocprofiler_assign_callback_thread, tool.buffer, thread) ||
	    !CALL(rocprofiler_configure_buffer_tracing_service, tool.context,
		  TS_ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, tool.buffer) ||
	    !CALL(rocprofiler_configure_buffer_tracing_service, tool.context,
		  TS_ROCPROFILER_BUFFER_TRACING_MEMORY_COPY, NULL, 0, tool.buffer) ||
	    !CALL(rocprofiler_configure_callback_tracing_service, tool.context,
		  TS_ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, &symbols, 1, on_callback, NULL) ||
	    !CALL(rocprofiler_configure_external_correlation_id_request_service, tool.context,
		  requests, sizeof(requests) / sizeof(requests[0]), on_request, NULL) ||
	    !CALL(rocprofiler_start_context, tool.context))
		return -1;
	set_state(TS_ROCPROFILER_RUNNING);
	return 0;
}

static void finalize(void *data)
{
	(void)data;
	/* In a forked child another thread may have held the lock. */
	if (tool.pid != getpid())
		return;
	pthread_mutex_lock(&tool.flushing);
	if (get_state() == TS_ROCPROFILER_RUNNING) {
		(void)tool.sdk.rocprofiler_flush_buffer(tool.buffer);
		set_state(TS_ROCPROFILER_ENDED);
	}
	pthread_mutex_unlock(&tool.flushing);
}

#define EXPORTED __attribute__((visibility("default")))

EXPORTED struct ts_rocprofiler_tool_result *rocprofiler_configure(
	uint32_t version, const char *version_text, uint32_t priority,
	struct ts_rocprofiler_client_id *client);

struct ts_rocprofiler_tool_result *rocprofiler_configure(uint32_t version, const char *version_text,
							 uint32_t priority,
							 struct ts_rocprofiler_client_id *client)
{
	static struct ts_rocprofiler_tool_result result = {
		.size = sizeof(result),
		.initialize = initialize,
		.finalize = finalize,
	};

	(void)version;
	(void)version_text;
	(void)priority;
	/* Not opened by the shim, or a second SDK in the process. */
	if (!tool.shim || tool.pid)
		return NULL;
	tool.pid = getpid();
	client->name = "TraceSmith";
	return CALL(rocprofiler_at_internal_thread_create, before_thread, after_thread,
		    TS_ROCPROFILER_LIBRARY, NULL)
		       ? &result
		       : NULL;
}

/* ---- what the shim calls --------------------------------------------------------------------- */

static const char *get_problem(void)
{
	return tool.problem;
}

static void flush(void)
{
	if (get_state() != TS_ROCPROFILER_RUNNING || tool.pid != getpid())
		return;
	pthread_mutex_lock(&tool.flushing);
	/* The SDK's memory is gone after finalize(). */
	if (get_state() == TS_ROCPROFILER_RUNNING)
		(void)tool.sdk.rocprofiler_flush_buffer(tool.buffer);
	pthread_mutex_unlock(&tool.flushing);
}

static uint64_t now(void)
{
	uint64_t time = 0;

	return tool.sdk.rocprofiler_get_timestamp(&time) == TS_ROCPROFILER_SUCCESS ? time : 0;
}

EXPORTED const struct ts_rocprofiler_library *ts_rocprofiler_open(
	const struct ts_rocprofiler_shim *shim, void *sdk, const char **ret_missing);

const struct ts_rocprofiler_library *ts_rocprofiler_open(const struct ts_rocprofiler_shim *shim,
							 void *sdk, const char **ret_missing)
{
	static const struct ts_rocprofiler_library library = {
		.interface = TS_ROCPROFILER_INTERFACE,
		.state = get_state,
		.problem = get_problem,
		.flush = flush,
		.now = now,
	};

#define FIND(name, arguments)                         \
	*(void **)&tool.sdk.name = dlsym(sdk, #name); \
	if (!tool.sdk.name) {                         \
		*ret_missing = #name;                 \
		return NULL;                          \
	}
	TS_ROCPROFILER_FUNCTIONS(FIND)
#undef FIND
	tool.shim = shim;
	return &library;
}
