/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A HIP runtime for the shim's tests, without a device. Like libamdhip64 of ROCm 6.2 it calls each
 * function by its dispatch table, registers the table at its first call, and reports finished work
 * to the tracer's callback from a thread of its own, some time later. Without a callback, the times
 * of work and events follow from their submission: a kernel runs for FAKE_HIP_KERNEL_NS, after the
 * work before it, or for an hour if FAKE_HIP_ENDLESS is set. hip-app.c calls this file.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_slots.h"
#include "test/unit/inject/hip/fake-hip.h"

enum slot {
#define SLOT_OF(slot, name, kind) SLOT_##name = (slot),
	TS_HIP_SLOTS(SLOT_OF)
#undef SLOT_OF
	N_SLOTS
};

struct work {
	struct work *next;
	struct ts_hip_activity_record record;
};

static struct {
	size_t size;
	void *slots[N_SLOTS];
} table;

static _Atomic(ts_hip_tracer_callback) tracer;
static __thread uint64_t correlation_id;
static __thread int32_t last_error;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct work *queue, **last = &queue;
static size_t n_submitted, n_done;
static unsigned n_devices = 2;
static char contexts[2];
static __thread int32_t current;

/* Without a callback. */
static uint64_t idle_at; /* time at which the submitted work is over */
static bool capturing;
static bool torn_down; /* exit() has run the runtime's handler */

static uint64_t now_of(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now(void)
{
	return now_of(CLOCK_BOOTTIME);
}

/* Submits work that takes n_ns. Returns the time of its end. */
static uint64_t submit_timed(uint64_t n_ns, bool is_kernel)
{
	const char *path = getenv("FAKE_HIP_TRUTH");
	struct fake_hip_kernel truth;
	uint64_t end;
	int fd;

	pthread_mutex_lock(&lock);
	truth.start = now_of(CLOCK_MONOTONIC);
	truth.is_behind = idle_at > truth.start;
	if (truth.is_behind)
		truth.start = idle_at;
	end = idle_at = truth.end = truth.start + n_ns;
	if (is_kernel && path) {
		fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		if (write(fd, &truth, sizeof(truth)) != sizeof(truth))
			abort();
		close(fd);
	}
	pthread_mutex_unlock(&lock);
	return end;
}

/* The entry of a call: the runtime's record lies on the stack, uninitialised but for garbage. */
static void enter(uint32_t call)
{
	ts_hip_tracer_callback report = atomic_load(&tracer);
	struct ts_hip_api_trace_data data;

	memset(&data, 0xa5, sizeof(data));
	if (!report || report(TS_HIP_ACTIVITY_DOMAIN_API, call, &data))
		return;
	correlation_id = data.correlation_id;
	if (data.phases.phase_enter)
		data.phases.phase_enter(call, &data);
	if (data.phases.phase_exit)
		data.phases.phase_exit(call, &data);
}

/* The end of a call. As in the runtime, each call sets the last error, also on success. */
static int32_t leave(int32_t result)
{
	correlation_id = 0;
	last_error = result;
	return result;
}

static uint64_t kernel_ns(void)
{
	return getenv("FAKE_HIP_ENDLESS") ? UINT64_C(3600000000000) : FAKE_HIP_KERNEL_NS;
}

static void submit(uint32_t op, uint32_t command, const char *name, size_t bytes)
{
	ts_hip_tracer_callback report = atomic_load(&tracer);
	struct work *work;

	if (!report && !capturing)
		(void)submit_timed(name ? kernel_ns() : 1000, name);
	if (!report || report(TS_HIP_ACTIVITY_DOMAIN_OPS, op, NULL))
		return;
	/* As ROCm 7 does: a record will come. */
	report(TS_HIP_ACTIVITY_DOMAIN_OPS, op, TS_HIP_ACTIVITY_COMMIT);
	work = calloc(1, sizeof(*work));
	work->record.domain = TS_HIP_ACTIVITY_DOMAIN_OPS;
	work->record.kind = command;
	work->record.op = op;
	work->record.correlation_id = correlation_id;
	work->record.begin_ns = now();
	if (name)
		work->record.kernel_name = name;
	else
		work->record.bytes = bytes;
	pthread_mutex_lock(&lock);
	*last = work;
	last = &work->next;
	n_submitted++;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

static void *device(void *data)
{
	const struct timespec pause = {.tv_nsec = 20000};
	ts_hip_tracer_callback report;
	struct work *work;

	(void)data;
	pthread_mutex_lock(&lock);
	for (;;) {
		while (!queue)
			pthread_cond_wait(&changed, &lock);
		work = queue;
		queue = work->next;
		if (!queue)
			last = &queue;
		pthread_mutex_unlock(&lock);
		nanosleep(&pause, NULL);
		work->record.end_ns = now();
		if (work->record.op == TS_HIP_ACTIVITY_OP_DISPATCH &&
		    !strcmp(work->record.kernel_name, FAKE_HIP_AHEAD))
			work->record.end_ns += FAKE_HIP_AHEAD_NS;
		report = atomic_load(&tracer);
		/* The runtime asks again before it reports, on its own thread. */
		if (!report(TS_HIP_ACTIVITY_DOMAIN_OPS, work->record.op, NULL))
			report(TS_HIP_ACTIVITY_DOMAIN_OPS, work->record.op, &work->record);
		free(work);
		pthread_mutex_lock(&lock);
		n_done++;
		pthread_cond_broadcast(&changed);
	}
	return NULL;
}

static int32_t get_device(int32_t *ret)
{
	*ret = current;
	return leave(0);
}

static int32_t get_last_error(void)
{
	int32_t error = last_error;

	last_error = 0;
	return error;
}

static int32_t get_count(int32_t *ret)
{
	*ret = (int32_t)n_devices;
	return leave(0);
}

static int32_t set_device(int32_t to)
{
	enter(1);
	/* Where a signal would come; its handler may leave the call by longjmp(). */
	if (to == FAKE_HIP_SIGNAL)
		raise(SIGUSR1);
	current = to;
	return leave(to >= 0 && to < (int32_t)n_devices ? 0 : 101);
}

/* A context is the device itself, as in the runtime. */
static int32_t retain_context(void **ret, int32_t of)
{
	enter(10);
	*ret = &contexts[of];
	return leave(0);
}

static int32_t set_context(void *context)
{
	enter(11);
	current = (int32_t)((char *)context - contexts);
	return leave(0);
}

static int32_t get_properties(struct ts_hip_device_prop_r0600 *prop, int32_t of)
{
	memset(prop, 0, sizeof(*prop));
	strcpy(prop->name, of ? "Fake Instinct 1" : "Fake Instinct 0");
	prop->total_global_mem = (size_t)192 << 30;
	prop->multi_processor_count = 304;
	prop->warp_size = 64;
	return leave(0);
}

static int32_t get_version(int32_t *ret)
{
	const char *version = getenv("FAKE_HIP_VERSION");

	*ret = version ? atoi(version) : 60241134;
	return leave(0);
}

__attribute__((visibility("default"))) void (*fake_hip_destroyed)(void);

/* With fake_hip_destroyed: the stream or memory that was destroyed last. */
static void *reusable;

static void *make(size_t n_bytes)
{
	void *made = __atomic_exchange_n(&reusable, NULL, __ATOMIC_ACQ_REL);

	return made ? made : malloc(n_bytes);
}

static void destroy(void *at)
{
	if (!fake_hip_destroyed) {
		free(at);
		return;
	}
	__atomic_store_n(&reusable, at, __ATOMIC_RELEASE);
	fake_hip_destroyed();
}

static int32_t allocate(void **ret, size_t n_bytes)
{
	enter(2);
	*ret = n_bytes < SIZE_MAX / 2 ? make(n_bytes) : NULL;
	return leave(*ret ? 0 : 2);
}

static int32_t release(void *at)
{
	enter(3);
	destroy(at);
	return leave(0);
}

static int32_t copy(void *to, const void *from, size_t n_bytes, int32_t kind)
{
	enter(4);
	memcpy(to, from, n_bytes);
	submit(TS_HIP_ACTIVITY_OP_COPY,
	       kind == TS_HIP_MEMCPY_HOST_TO_DEVICE ? TS_HIP_COMMAND_WRITE_BUFFER
						    : TS_HIP_COMMAND_READ_BUFFER,
	       NULL, n_bytes);
	return leave(0);
}

static int32_t set_async(void *to, int32_t value, size_t n_bytes, void *stream)
{
	enter(5);
	(void)stream;
	memset(to, value, n_bytes);
	submit(TS_HIP_ACTIVITY_OP_COPY, TS_HIP_COMMAND_FILL_BUFFER, NULL, n_bytes);
	return leave(0);
}

static int32_t launch(const void *function, struct ts_hip_dim3 grid, struct ts_hip_dim3 block,
		      void **args, size_t shared, void *stream)
{
	enter(6);
	(void)block, (void)args, (void)shared, (void)stream;
	if (!grid.x)
		return leave(1);
	submit(TS_HIP_ACTIVITY_OP_DISPATCH, TS_HIP_COMMAND_NDRANGE_KERNEL, function, 0);
	return leave(0);
}

static int32_t create_stream(void **ret, uint32_t flags)
{
	enter(7);
	(void)flags;
	*ret = make(16);
	return leave(0);
}

static int32_t destroy_stream(void *stream)
{
	enter(8);
	destroy(stream);
	return leave(0);
}

static int32_t synchronize(void)
{
	enter(9);
	pthread_mutex_lock(&lock);
	while (n_done < n_submitted)
		pthread_cond_wait(&changed, &lock);
	while (now_of(CLOCK_MONOTONIC) < idle_at)
		usleep(100);
	pthread_mutex_unlock(&lock);
	return leave(0);
}

static int32_t synchronize_stream(void *stream)
{
	(void)stream;
	return synchronize();
}

static int32_t reset_device(void)
{
	return leave(0);
}

static int32_t begin_capture(void *stream, int32_t mode)
{
	(void)stream, (void)mode;
	capturing = true;
	return leave(0);
}

static int32_t end_capture(void *stream, void **ret)
{
	(void)stream;
	capturing = false;
	*ret = &capturing;
	return leave(0);
}

/* ---- events, which the application does not use ---- */

struct event {
	uint64_t time; /* 0: not recorded */
};

static int32_t create_event(void **ret, uint32_t flags)
{
	if (flags)
		return leave(1);
	*ret = calloc(1, sizeof(struct event));
	return leave(0);
}

static int32_t destroy_event(void *event)
{
	free(event);
	return leave(0);
}

/* No event may become part of the application's graph. */
static int32_t record_event(void *event, void *stream)
{
	(void)stream;
	if (capturing)
		abort();
	((struct event *)event)->time = submit_timed(0, false);
	return leave(0);
}

static int32_t query_event(void *event)
{
	if (capturing || torn_down)
		abort();
	return leave(((struct event *)event)->time <= now_of(CLOCK_MONOTONIC)
			     ? 0
			     : TS_HIP_ERROR_NOT_READY);
}

static int32_t elapsed(float *ret, void *from, void *to)
{
	const struct event *first = from, *second = to;

	if (!first->time || !second->time)
		return leave(TS_HIP_ERROR_INVALID_HANDLE);
	*ret = (float)((double)(int64_t)(second->time - first->time) / 1e6);
	return leave(0);
}

static int32_t peek_error(void)
{
	return last_error;
}

static const char *kernel_name(const void *function, void *stream)
{
	(void)stream;
	return function;
}

static const char *function_name(const void *function)
{
	return function;
}

static void tear_down(void)
{
	torn_down = true;
}

static void start(void)
{
	int (*import)(const char *, void *, uint32_t, void **, uint64_t, void *) = NULL;
	void *tables[1] = {&table};
	uint64_t id = 0;
	pthread_attr_t attributes;
	pthread_t thread;

	atexit(tear_down);
	table.size = sizeof(table);
	table.slots[SLOT_hipGetDevice - 1] = (void *)get_device;
	table.slots[SLOT_hipGetLastError - 1] = (void *)get_last_error;
	table.slots[SLOT_hipGetDeviceCount - 1] = (void *)get_count;
	table.slots[SLOT_hipSetDevice - 1] = (void *)set_device;
	table.slots[SLOT_hipGetDevicePropertiesR0600 - 1] = (void *)get_properties;
	table.slots[SLOT_hipRuntimeGetVersion - 1] = (void *)get_version;
	table.slots[SLOT_hipDriverGetVersion - 1] = (void *)get_version;
	table.slots[SLOT_hipMalloc - 1] = (void *)allocate;
	table.slots[SLOT_hipFree - 1] = (void *)release;
	table.slots[SLOT_hipMemcpy - 1] = (void *)copy;
	table.slots[SLOT_hipMemsetAsync - 1] = (void *)set_async;
	table.slots[SLOT_hipLaunchKernel - 1] = (void *)launch;
	table.slots[SLOT_hipStreamCreateWithFlags - 1] = (void *)create_stream;
	table.slots[SLOT_hipStreamDestroy - 1] = (void *)destroy_stream;
	table.slots[SLOT_hipDeviceSynchronize - 1] = (void *)synchronize;
	table.slots[SLOT_hipDevicePrimaryCtxRetain - 1] = (void *)retain_context;
	table.slots[SLOT_hipCtxSetCurrent - 1] = (void *)set_context;
	table.slots[SLOT_hipCtxPushCurrent - 1] = (void *)set_context;
	table.slots[SLOT_hipStreamSynchronize - 1] = (void *)synchronize_stream;
	table.slots[SLOT_hipDeviceReset - 1] = (void *)reset_device;
	table.slots[SLOT_hipStreamBeginCapture - 1] = (void *)begin_capture;
	table.slots[SLOT_hipStreamEndCapture - 1] = (void *)end_capture;
	table.slots[SLOT_hipEventCreateWithFlags - 1] = (void *)create_event;
	table.slots[SLOT_hipEventDestroy - 1] = (void *)destroy_event;
	table.slots[SLOT_hipEventRecord - 1] = (void *)record_event;
	table.slots[SLOT_hipEventQuery - 1] = (void *)query_event;
	table.slots[SLOT_hipEventElapsedTime - 1] = (void *)elapsed;
	table.slots[SLOT_hipPeekAtLastError - 1] = (void *)peek_error;
	table.slots[SLOT_hipKernelNameRef - 1] = (void *)function_name;
	table.slots[SLOT_hipKernelNameRefByPtr - 1] = (void *)kernel_name;
	/* The application may have made the default size of stacks impossible. */
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, 1 << 20);
	pthread_create(&thread, &attributes, device, NULL);
	pthread_attr_destroy(&attributes);
	pthread_detach(thread);
	*(void **)&import = dlsym(RTLD_DEFAULT, "rocprofiler_register_library_api_table");
	if (import)
		import("hip", NULL, 60200, tables, 1, &id);
}

static void *in_place(unsigned slot)
{
	pthread_once(&once, start);
	return table.slots[slot - 1];
}

/* An exported function calls what the table has in its place. */
#define EXPORT(name, parameters, arguments)                             \
	__attribute__((visibility("default"))) int32_t name parameters; \
	int32_t name parameters                                         \
	{                                                               \
		int32_t(*in_table) parameters;                          \
                                                                        \
		*(void **)&in_table = in_place(SLOT_##name);            \
		return in_table arguments;                              \
	}

EXPORT(hipGetDeviceCount, (int32_t * ret), (ret))
EXPORT(hipGetLastError, (void), ())
EXPORT(hipSetDevice, (int32_t to), (to))
EXPORT(hipMalloc, (void **ret, size_t n_bytes), (ret, n_bytes))
EXPORT(hipFree, (void *at), (at))
EXPORT(hipMemcpy, (void *to, const void *from, size_t n_bytes, int32_t kind),
       (to, from, n_bytes, kind))
EXPORT(hipMemsetAsync, (void *to, int32_t value, size_t n_bytes, void *stream),
       (to, value, n_bytes, stream))
EXPORT(hipLaunchKernel,
       (const void *function, struct ts_hip_dim3 grid, struct ts_hip_dim3 block, void **args,
	size_t shared, void *stream),
       (function, grid, block, args, shared, stream))
EXPORT(hipStreamCreateWithFlags, (void **ret, uint32_t flags), (ret, flags))
EXPORT(hipStreamDestroy, (void *stream), (stream))
EXPORT(hipDeviceSynchronize, (void), ())
EXPORT(hipStreamSynchronize, (void *stream), (stream))
EXPORT(hipDeviceReset, (void), ())
EXPORT(hipStreamBeginCapture, (void *stream, int32_t mode), (stream, mode))
EXPORT(hipStreamEndCapture, (void *stream, void **ret), (stream, ret))
EXPORT(hipDevicePrimaryCtxRetain, (void **ret, int32_t of), (ret, of))
EXPORT(hipCtxSetCurrent, (void *context), (context))
EXPORT(hipCtxPushCurrent, (void *context), (context))

__attribute__((visibility("default"))) void hipRegisterTracerCallback(ts_hip_tracer_callback to);
void hipRegisterTracerCallback(ts_hip_tracer_callback to)
{
	atomic_store(&tracer, to);
}
