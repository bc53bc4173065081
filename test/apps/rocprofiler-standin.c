/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for AMD's librocprofiler-sdk.so, over the virtual GPU's libamdhip64 without a tracer
 * (tools/vgpu/hip-sdk). librocprofiler-register, or the shim, passes HIP's table to
 * rocprofiler_set_api_table(). The stand-in then finds the tools, and delivers kernels and copies
 * to their buffers as AMD's library does. A set is a kernel of the runtime. Names of kernels come
 * with the code. A tool's own id is asked for when work is submitted.
 *
 *	TS_SDK_FAIL=FUNCTION  this function returns an error
 *	TS_SDK_EARLY=1        the SDK has started when it is loaded, for a tool that is not there
 *	TS_SDK_OLD=1          layouts of 0.4.0 instead of 1.0.0
 *	TS_SDK_ODD=1          a malformed record after each record
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_slots.h"
#include "proto/abi/vendor/rocprofiler.h"

#define EXPORT	     __attribute__((visibility("default")))
#define CONFIGURE    "rocprofiler_configure"
#define MAX_TOOLS    8u
#define MAX_CONTEXTS 8u
#define MAX_IDS	     65536u
#define MAX_KERNELS  1024u
#define FIRST_HANDLE 1000u
#define END_NS	     1000000000

enum status {
	SUCCESS = 0,
	NOT_FOUND = 2,
	FAILED = 17,
	LOCKED = 16,
	FINALIZED = 21,
};

struct tool {
	ts_rocprofiler_configure configure;
	struct ts_rocprofiler_tool_result *result;
};

/* Two halves: one is filled while the other one is delivered. */
struct buffer {
	size_t n_bytes, watermark;
	ts_rocprofiler_buffer_callback callback;
	void *data;
	uint64_t context, handle;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	char *filled, *delivered;
	size_t n_filled, n_delivered;
	bool delivers, has_thread;
};

struct context {
	struct buffer *kernels, *copies, *calls;
	ts_rocprofiler_callback callback;
	void *callback_data;
	ts_rocprofiler_external_callback request;
	void *request_data;
	bool started;
};

/* Kinds of work that calls submit, by the id of the call. */
struct submitted {
	uint64_t internal, thread_id;
	uint64_t external[MAX_CONTEXTS];
	uint32_t grid[3], block[3];
};

static struct tool tools[MAX_TOOLS];
static struct context contexts[MAX_CONTEXTS];
static struct buffer buffers[MAX_CONTEXTS];
static struct submitted calls[MAX_IDS];
static char *kernels[MAX_KERNELS];
static uint32_t n_tools, n_contexts, n_buffers, n_kernels;
static uint64_t n_internal, n_dispatches, n_submitted, n_finished;
static pthread_mutex_t kernels_lock = PTHREAD_MUTEX_INITIALIZER;
static int init_status, fini_status;
static void (*thread_hooks[2 * MAX_TOOLS])(int, void *);
static void *thread_data[MAX_TOOLS];
static uint32_t n_hooks;

/* The thread's call; 0: none. */
static __thread uint64_t current;
static __thread uint32_t current_grid[3], current_block[3];

static bool is_set(const char *name)
{
	return getenv(name) != NULL;
}

static bool fails(const char *name)
{
	const char *failing = getenv("TS_SDK_FAIL");

	return failing && !strcmp(failing, name);
}

/* ---- buffers --------------------------------------------------------------------------------- */

/* Each record lies behind its header. */
struct stored {
	struct ts_rocprofiler_record_header header;
	size_t n_bytes;
};

static void deliver(struct buffer *buffer)
{
	static const size_t max_headers = 65536;
	struct ts_rocprofiler_record_header **headers = calloc(max_headers, sizeof(*headers));
	size_t n = 0;

	for (size_t at = 0; at < buffer->n_delivered && n < max_headers; n++) {
		struct stored *stored = (struct stored *)(buffer->delivered + at);

		stored->header.payload = stored->n_bytes ? stored + 1 : NULL;
		headers[n] = &stored->header;
		at += sizeof(*stored) + stored->n_bytes;
	}
	buffer->callback(buffer->context, buffer->handle, headers, n, buffer->data, 0);
	free(headers);
}

static void *thread_main(void *data)
{
	struct buffer *buffer = data;

	pthread_mutex_lock(&buffer->lock);
	for (;;) {
		while (!buffer->delivers)
			pthread_cond_wait(&buffer->changed, &buffer->lock);
		pthread_mutex_unlock(&buffer->lock);
		deliver(buffer);
		pthread_mutex_lock(&buffer->lock);
		buffer->delivers = false;
		pthread_cond_broadcast(&buffer->changed);
	}
	return NULL;
}

/* With the lock: gives what is filled to the thread, after its last delivery. */
static void hand_over(struct buffer *buffer)
{
	char *filled;

	while (buffer->delivers)
		pthread_cond_wait(&buffer->changed, &buffer->lock);
	if (!buffer->n_filled)
		return;
	filled = buffer->filled;
	buffer->filled = buffer->delivered;
	buffer->delivered = filled;
	buffer->n_delivered = buffer->n_filled;
	buffer->n_filled = 0;
	buffer->delivers = true;
	pthread_cond_broadcast(&buffer->changed);
}

static void add(struct buffer *buffer, uint32_t category, uint32_t kind, const void *record,
		size_t n_bytes)
{
	const struct stored stored = {.header = {category, kind, NULL}, .n_bytes = n_bytes};

	pthread_mutex_lock(&buffer->lock);
	while (buffer->n_filled + sizeof(stored) + n_bytes > buffer->n_bytes)
		hand_over(buffer);
	memcpy(buffer->filled + buffer->n_filled, &stored, sizeof(stored));
	if (n_bytes)
		memcpy(buffer->filled + buffer->n_filled + sizeof(stored), record, n_bytes);
	buffer->n_filled += sizeof(stored) + n_bytes;
	if (buffer->n_filled >= buffer->watermark && !buffer->delivers)
		hand_over(buffer);
	pthread_mutex_unlock(&buffer->lock);
}

static void flush(struct buffer *buffer)
{
	pthread_mutex_lock(&buffer->lock);
	hand_over(buffer);
	while (buffer->delivers)
		pthread_cond_wait(&buffer->changed, &buffer->lock);
	pthread_mutex_unlock(&buffer->lock);
}

static void start_thread(struct buffer *buffer)
{
	pthread_t thread;

	for (uint32_t i = 0; i < n_hooks; i++)
		thread_hooks[2 * i](TS_ROCPROFILER_LIBRARY, thread_data[i]);
	if (pthread_create(&thread, NULL, thread_main, buffer))
		abort();
	pthread_detach(thread);
	for (uint32_t i = 0; i < n_hooks; i++)
		thread_hooks[2 * i + 1](TS_ROCPROFILER_LIBRARY, thread_data[i]);
	buffer->has_thread = true;
}

/* ---- work ------------------------------------------------------------------------------------ */

/* Reports a kernel's symbol to the tools, once, and returns its id. */
static uint64_t kernel_id(const char *name)
{
	struct ts_rocprofiler_kernel_symbol symbol = {.size = 88};
	char text[4096];
	uint64_t id;

	pthread_mutex_lock(&kernels_lock);
	for (id = 1; id <= n_kernels; id++)
		if (!strcmp(kernels[id - 1], name))
			break;
	if (id > n_kernels && n_kernels < MAX_KERNELS) {
		kernels[n_kernels++] = strdup(name);
		snprintf(text, sizeof(text), "%s.kd", name);
		symbol.kernel_id = id;
		symbol.kernel_name = text;
		for (uint32_t i = 0; i < n_contexts; i++) {
			struct ts_rocprofiler_callback_record_0_4 old = {
				.kind = TS_ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,
				.operation =
					TS_ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER,
				.phase = TS_ROCPROFILER_CALLBACK_PHASE_LOAD,
				.payload = &symbol,
			};
			const struct ts_rocprofiler_callback_record record = {
				.kind = old.kind,
				.operation = old.operation,
				.phase = old.phase,
				.payload = &symbol,
			};
			uint64_t user_data = 0;
			void (*callback)(struct ts_rocprofiler_callback_record_0_4, uint64_t *,
					 void *);

			if (!contexts[i].callback)
				continue;
			*(ts_rocprofiler_callback *)&callback = contexts[i].callback;
			if (is_set("TS_SDK_OLD"))
				callback(old, &user_data, contexts[i].callback_data);
			else
				contexts[i].callback(record, &user_data, contexts[i].callback_data);
		}
	}
	pthread_mutex_unlock(&kernels_lock);
	return id;
}

/* Adds one malformed record; each kind in its turn. */
static void add_odd(struct buffer *buffer, const struct ts_rocprofiler_dispatch_record *real)
{
	static uint32_t n;
	struct ts_rocprofiler_dispatch_record odd = *real;
	const uint32_t kind = TS_ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH;

	odd.record.kind = kind;
	odd.record.size = sizeof(odd);
	switch (__atomic_fetch_add(&n, 1, __ATOMIC_RELAXED) % 7) {
	case 0:
		odd.record.kind = 99;
		add(buffer, TS_ROCPROFILER_BUFFER_CATEGORY_TRACING, 99, &odd, sizeof(odd));
		break;
	case 1:
		odd.record.size = 8;
		add(buffer, TS_ROCPROFILER_BUFFER_CATEGORY_TRACING, kind, &odd, 8);
		break;
	case 2:
		odd.record.start_ns = odd.record.end_ns = 0;
		add(buffer, TS_ROCPROFILER_BUFFER_CATEGORY_TRACING, kind, &odd, sizeof(odd));
		break;
	case 3:
		odd.record.correlation.external = UINT64_MAX;
		add(buffer, TS_ROCPROFILER_BUFFER_CATEGORY_TRACING, kind, &odd, sizeof(odd));
		break;
	case 4:
		add(buffer, TS_ROCPROFILER_BUFFER_CATEGORY_COUNTERS, kind, &odd, sizeof(odd));
		break;
	case 5:
		add(buffer, TS_ROCPROFILER_BUFFER_CATEGORY_TRACING, kind, NULL, 0);
		break;
	default:
		odd.record.end_ns = odd.record.start_ns - 1;
		add(buffer, TS_ROCPROFILER_BUFFER_CATEGORY_TRACING, kind, &odd, sizeof(odd));
	}
}

static void add_kernel(struct buffer *buffer, const struct ts_rocprofiler_record *head,
		       const struct submitted *call, const char *name, uint64_t agent)
{
	struct ts_rocprofiler_dispatch_record record = {.record = *head};

	record.record.size = sizeof(record);
	record.record.kind = TS_ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH;
	record.record.operation = TS_ROCPROFILER_KERNEL_DISPATCH_COMPLETE;
	record.info.size = 72;
	record.info.agent = is_set("TS_SDK_ODD") ? UINT64_MAX : agent;
	record.info.kernel_id = kernel_id(name);
	record.info.dispatch_id = __atomic_add_fetch(&n_dispatches, 1, __ATOMIC_RELAXED);
	for (size_t i = 0; i < 3; i++) {
		record.info.workgroup[i] = call->block[i];
		record.info.grid[i] = call->grid[i] * call->block[i];
	}
	add(buffer, TS_ROCPROFILER_BUFFER_CATEGORY_TRACING, record.record.kind, &record,
	    sizeof(record));
	if (is_set("TS_SDK_ODD"))
		add_odd(buffer, &record);
}

static uint32_t direction(uint32_t command)
{
	switch (command) {
	case TS_HIP_COMMAND_WRITE_BUFFER:
		return TS_ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE;
	case TS_HIP_COMMAND_READ_BUFFER:
		return TS_ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST;
	default:
		return TS_ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE;
	}
}

static void add_copy(struct buffer *buffer, const struct ts_rocprofiler_record *head,
		     const struct ts_hip_activity_record *work)
{
	struct ts_rocprofiler_copy_record record = {.record = *head, .bytes = work->bytes};

	record.record.size =
		is_set("TS_SDK_OLD") ? TS_ROCPROFILER_COPY_RECORD_BYTES_0_4 : sizeof(record);
	record.record.kind = TS_ROCPROFILER_BUFFER_TRACING_MEMORY_COPY;
	record.record.operation = direction(work->kind);
	add(buffer, TS_ROCPROFILER_BUFFER_CATEGORY_TRACING, record.record.kind, &record,
	    record.record.size);
}

static void on_finished(const struct ts_hip_activity_record *work)
{
	static const struct submitted none;
	const struct submitted *call = &calls[work->correlation_id % MAX_IDS];
	const bool is_set = work->kind == TS_HIP_COMMAND_FILL_BUFFER;

	if (work->op == TS_HIP_ACTIVITY_OP_BARRIER)
		return;
	if (call->internal != work->correlation_id)
		call = &none;
	for (uint32_t i = 0; i < n_contexts; i++) {
		const struct ts_rocprofiler_record head = {
			.correlation = {call->internal, call->external[i]},
			.thread_id = call->thread_id,
			.start_ns = work->begin_ns,
			.end_ns = work->end_ns,
		};

		if (!contexts[i].started)
			continue;
		if (is_set && contexts[i].kernels)
			add_kernel(contexts[i].kernels, &head, &none,
				   "__amd_rocclr_fillBufferAligned", (uint64_t)work->device_id);
		else if (work->op == TS_HIP_ACTIVITY_OP_DISPATCH && contexts[i].kernels)
			add_kernel(contexts[i].kernels, &head, call, work->kernel_name,
				   (uint64_t)work->device_id);
		else if (!is_set && work->op == TS_HIP_ACTIVITY_OP_COPY && contexts[i].copies)
			add_copy(contexts[i].copies, &head, work);
	}
	__atomic_fetch_add(&n_finished, 1, __ATOMIC_RELEASE);
}

/* Asks the tools for their ids, on the thread that submits. */
static void on_submitted(uint32_t op)
{
	struct submitted *call = &calls[current % MAX_IDS];

	if (!current || op == TS_HIP_ACTIVITY_OP_BARRIER)
		return;
	__atomic_fetch_add(&n_submitted, 1, __ATOMIC_RELAXED);
	call->internal = current;
	call->thread_id = (uint64_t)syscall(SYS_gettid);
	memcpy(call->grid, current_grid, sizeof(call->grid));
	memcpy(call->block, current_block, sizeof(call->block));
	for (uint32_t i = 0; i < n_contexts; i++) {
		call->external[i] = 0;
		if (contexts[i].started && contexts[i].request)
			contexts[i].request(
				call->thread_id, FIRST_HANDLE + i,
				op == TS_HIP_ACTIVITY_OP_COPY
					? TS_ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_MEMORY_COPY
					: TS_ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_KERNEL_DISPATCH,
				1, current, &call->external[i], contexts[i].request_data);
	}
}

static void on_exit_of_call(uint32_t op, struct ts_hip_api_trace_data *data)
{
	(void)op;
	(void)data;
	current = 0;
}

/* The virtual GPU's tracer. It also asks at the end of work, on a thread without a call. */
static int on_tracer(uint32_t domain, uint32_t op, void *data)
{
	struct ts_hip_api_trace_data *call = data;

	if (__atomic_load_n(&fini_status, __ATOMIC_ACQUIRE))
		return 1;
	if (domain == TS_HIP_ACTIVITY_DOMAIN_API) {
		current = __atomic_add_fetch(&n_internal, 1, __ATOMIC_RELAXED);
		call->correlation_id = current;
		call->phases.phase_enter = NULL;
		call->phases.phase_exit = on_exit_of_call;
		return 0;
	}
	if (data)
		on_finished(data);
	else
		on_submitted(op);
	return 0;
}

/* ---- HIP's calls ----------------------------------------------------------------------------- */

enum place {
#define PLACE(slot, name, kind) PLACE_##name = (slot),
	TS_HIP_SLOTS(PLACE)
#undef PLACE
};

static int32_t (*next_launch)(const void *, struct ts_hip_dim3, struct ts_hip_dim3, void **, size_t,
			      void *);

/* A launch's size is in its packet; here the call has it. Tools may also receive the call. */
static int32_t launch(const void *function, struct ts_hip_dim3 grid, struct ts_hip_dim3 block,
		      void **arguments, size_t shared, void *stream)
{
	const struct ts_rocprofiler_record record = {
		.size = sizeof(record),
		.kind = TS_ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
		.operation = PLACE_hipLaunchKernel,
	};
	int32_t result;

	memcpy(current_grid, &grid, sizeof(current_grid));
	memcpy(current_block, &block, sizeof(current_block));
	result = next_launch(function, grid, block, arguments, shared, stream);
	memset(current_block, 0, sizeof(current_block));
	for (uint32_t i = 0; i < n_contexts; i++)
		if (contexts[i].started && contexts[i].calls && !fini_status)
			add(contexts[i].calls, TS_ROCPROFILER_BUFFER_CATEGORY_TRACING, record.kind,
			    &record, sizeof(record));
	return result;
}

static void take_table(void **table)
{
	void (*trace)(void *) = NULL;
	void *library;
	Dl_info info;

	if (dladdr(table[PLACE_hipRuntimeGetVersion], &info)) {
		library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
		*(void **)&trace = dlsym(library, "ts_vgpu_trace_hip");
	}
	if (!trace) {
		fputs("rocprofiler-standin: HIP is not tools/vgpu/hip-sdk's\n", stderr);
		abort();
	}
	*(void **)&next_launch = table[PLACE_hipLaunchKernel];
	table[PLACE_hipLaunchKernel] = (void *)launch;
	trace((void *)on_tracer);
}

/* ---- tools ----------------------------------------------------------------------------------- */

static void add_tool(void *configure)
{
	for (uint32_t i = 0; i < n_tools; i++)
		if (*(void **)&tools[i].configure == configure)
			return;
	if (configure && n_tools < MAX_TOOLS)
		*(void **)&tools[n_tools++].configure = configure;
}

static void find_tools(void)
{
	char *list = strdup(getenv("ROCP_TOOL_LIBRARIES") ?: ""), *rest = list, *path;
	struct link_map *map = NULL;

	while ((path = strsep(&rest, ":")))
		if (*path)
			add_tool(dlsym(dlopen(path, RTLD_LAZY | RTLD_LOCAL), CONFIGURE));
	free(list);
	if (!dlsym(RTLD_DEFAULT, CONFIGURE))
		return;
	add_tool(dlsym(RTLD_DEFAULT, CONFIGURE));
	dlinfo(dlopen(NULL, RTLD_LAZY), RTLD_DI_LINKMAP, &map);
	for (map = map ? map->l_next : NULL; map; map = map->l_next) {
		void *library = *map->l_name ? dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;

		/* dlsym() also searches the library's dependencies. */
		if (library)
			add_tool(dlsym(library, CONFIGURE));
	}
}

static void finalize(void)
{
	const struct timespec step = {.tv_nsec = 1000000};

	for (uint32_t i = 0; i < END_NS / 1000000; i++) {
		if (__atomic_load_n(&n_finished, __ATOMIC_ACQUIRE) >=
		    __atomic_load_n(&n_submitted, __ATOMIC_RELAXED))
			break;
		nanosleep(&step, NULL);
	}
	for (uint32_t i = 0; i < n_tools; i++)
		if (tools[i].result && tools[i].result->finalize)
			tools[i].result->finalize(tools[i].result->data);
	__atomic_store_n(&fini_status, 1, __ATOMIC_RELEASE);
}

__attribute__((constructor)) static void start_early(void)
{
	if (is_set("TS_SDK_EARLY"))
		init_status = 1;
}

static void end_client(struct ts_rocprofiler_client_id client)
{
	(void)client;
}

static void initialize(void)
{
	init_status = -1;
	atexit(finalize);
	find_tools();
	for (uint32_t i = 0; i < n_tools; i++) {
		struct ts_rocprofiler_client_id client = {.size = sizeof(client), .handle = i};
		const bool is_old = is_set("TS_SDK_OLD");

		tools[i].result = tools[i].configure(is_old ? 400 : 10000,
						     is_old ? "0.4.0" : "1.0.0", i, &client);
	}
	for (uint32_t i = 0; i < n_tools; i++)
		if (tools[i].result)
			(void)tools[i].result->initialize(end_client, tools[i].result->data);
	init_status = 1;
}

EXPORT int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
				     void **table, uint64_t n_tables);

int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **table,
			      uint64_t n_tables)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)version;
	pthread_once(&once, initialize);
	if (!strcmp(name, "hip") && !instance && n_tables)
		take_table(table[0]);
	return 0;
}

/* ---- what tools call ------------------------------------------------------------------------- */

#define PROTOTYPE(name, arguments) EXPORT int name arguments;
TS_ROCPROFILER_FUNCTIONS(PROTOTYPE)

/* `check` is false in functions that tools may call at any time. */
#define BEGIN(name, is_configuring)                \
	if (fails(name))                           \
		return FAILED;                     \
	if ((is_configuring) && init_status != -1) \
	return LOCKED

static struct context *context_of(uint64_t handle)
{
	return handle - FIRST_HANDLE < n_contexts ? &contexts[handle - FIRST_HANDLE] : NULL;
}

static struct buffer *buffer_of(uint64_t handle)
{
	return handle - FIRST_HANDLE < n_buffers ? &buffers[handle - FIRST_HANDLE] : NULL;
}

int rocprofiler_is_initialized(int *ret_status)
{
	*ret_status = init_status;
	return SUCCESS;
}

int rocprofiler_get_timestamp(uint64_t *ret_time)
{
	struct timespec t;

	BEGIN("rocprofiler_get_timestamp", false);
	clock_gettime(CLOCK_BOOTTIME, &t);
	*ret_time = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	return SUCCESS;
}

int rocprofiler_at_internal_thread_create(void (*before)(int library, void *data),
					  void (*after)(int library, void *data), int libraries,
					  void *data)
{
	BEGIN("rocprofiler_at_internal_thread_create", true);
	(void)libraries;
	thread_hooks[2 * n_hooks] = before;
	thread_hooks[2 * n_hooks + 1] = after;
	thread_data[n_hooks++] = data;
	return SUCCESS;
}

int rocprofiler_create_context(uint64_t *context)
{
	BEGIN("rocprofiler_create_context", true);
	if (*context || n_contexts == MAX_CONTEXTS)
		return FAILED;
	*context = FIRST_HANDLE + n_contexts++;
	return SUCCESS;
}

int rocprofiler_create_buffer(uint64_t context, size_t n_bytes, size_t watermark, uint32_t policy,
			      ts_rocprofiler_buffer_callback callback, void *data, uint64_t *buffer)
{
	struct buffer *made = &buffers[n_buffers];

	BEGIN("rocprofiler_create_buffer", true);
	if (*buffer || n_buffers == MAX_CONTEXTS || !callback ||
	    policy != TS_ROCPROFILER_BUFFER_POLICY_LOSSLESS)
		return FAILED;
	*made = (struct buffer){
		.n_bytes = n_bytes,
		.watermark = watermark,
		.callback = callback,
		.data = data,
		.context = context,
		.handle = FIRST_HANDLE + n_buffers++,
		.filled = malloc(n_bytes),
		.delivered = malloc(n_bytes),
	};
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->changed, NULL);
	*buffer = made->handle;
	return SUCCESS;
}

int rocprofiler_create_callback_thread(uint64_t *ret_thread)
{
	BEGIN("rocprofiler_create_callback_thread", true);
	*ret_thread = FIRST_HANDLE;
	return SUCCESS;
}

int rocprofiler_assign_callback_thread(uint64_t buffer, uint64_t thread)
{
	BEGIN("rocprofiler_assign_callback_thread", true);
	return buffer_of(buffer) && thread == FIRST_HANDLE ? SUCCESS : NOT_FOUND;
}

int rocprofiler_configure_buffer_tracing_service(uint64_t context, uint32_t kind,
						 const uint32_t *operations, size_t n_operations,
						 uint64_t buffer)
{
	struct context *of = context_of(context);

	BEGIN("rocprofiler_configure_buffer_tracing_service", true);
	(void)operations;
	(void)n_operations;
	if (!of || !buffer_of(buffer))
		return NOT_FOUND;
	if (kind == TS_ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH)
		of->kernels = buffer_of(buffer);
	else if (kind == TS_ROCPROFILER_BUFFER_TRACING_MEMORY_COPY)
		of->copies = buffer_of(buffer);
	else if (kind == TS_ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API)
		of->calls = buffer_of(buffer);
	else
		return NOT_FOUND;
	return SUCCESS;
}

int rocprofiler_configure_callback_tracing_service(uint64_t context, uint32_t kind,
						   const uint32_t *operations, size_t n_operations,
						   ts_rocprofiler_callback callback, void *data)
{
	struct context *of = context_of(context);

	BEGIN("rocprofiler_configure_callback_tracing_service", true);
	(void)operations;
	(void)n_operations;
	if (!of || kind != TS_ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT)
		return NOT_FOUND;
	of->callback = callback;
	of->callback_data = data;
	return SUCCESS;
}

int rocprofiler_configure_external_correlation_id_request_service(
	uint64_t context, const uint32_t *kinds, size_t n_kinds,
	ts_rocprofiler_external_callback callback, void *data)
{
	struct context *of = context_of(context);

	BEGIN("rocprofiler_configure_external_correlation_id_request_service", true);
	(void)kinds;
	if (!of || !n_kinds)
		return NOT_FOUND;
	of->request = callback;
	of->request_data = data;
	return SUCCESS;
}

int rocprofiler_start_context(uint64_t context)
{
	struct context *of = context_of(context);

	BEGIN("rocprofiler_start_context", false);
	if (!of)
		return NOT_FOUND;
	for (uint32_t i = 0; i < n_buffers; i++)
		if (buffers[i].context == context && !buffers[i].has_thread)
			start_thread(&buffers[i]);
	of->started = true;
	return SUCCESS;
}

int rocprofiler_flush_buffer(uint64_t buffer)
{
	BEGIN("rocprofiler_flush_buffer", false);
	if (fini_status)
		return FINALIZED;
	if (!buffer_of(buffer))
		return NOT_FOUND;
	flush(buffer_of(buffer));
	return SUCCESS;
}
