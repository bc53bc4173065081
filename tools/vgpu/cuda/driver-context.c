/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the driver, creates primary and other contexts, and changes the stack of current contexts,
 * which is in driver.c. Programs call this file through the functions of generated-cuda-context.h;
 * no other file calls this file. This file creates the machine and the executor of replay/vgpu.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vgpu/cuda/graph/graph.h"
#include "tools/vgpu/cuda/work.h"

/*
 * Loads the library of CUDA_INJECTION64_PATH once and calls its entry, as NVIDIA's driver does.
 * Errors are ignored.
 */
static void inject(void)
{
	const char *path = secure_getenv("CUDA_INJECTION64_PATH");
	void *library = path && *path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialize)(void);

	if (!library)
		return;
	*(void **)&initialize = dlsym(library, "InitializeInjection");
	if (initialize)
		initialize();
}

/* Uses the program's stdout, so that kernel output keeps its order with the program's lines. */
static void print_output(void *userdata, const char *text, size_t n_bytes)
{
	fwrite(text, 1, n_bytes, stdout);
}

static void print_fault(void *userdata, const char *line)
{
	fprintf(stderr, "tracesmith: virtual GPU: %s\n", line);
}

static int start_executor(void)
{
	const char *threads = secure_getenv("TRACESMITH_VGPU_THREADS");
	struct ts_vgpu_executor_options options = {
		.output = print_output,
		.fault = print_fault,
	};

	if (ts_vgpu_threads_parse(threads, &options.n_threads)) {
		fprintf(stderr,
			"tracesmith: TRACESMITH_VGPU_THREADS: '%s' is not a number from 1 to %d\n",
			threads, TS_VGPU_MAX_THREADS);
		return TS_CU_ERROR_NO_DEVICE;
	}
	return result_of(ts_vgpu_executor_new(driver.vgpu, &options, &driver.executor));
}

static int start(void)
{
	const char *text = secure_getenv("TRACESMITH_VGPU");
	struct ts_vgpu_spec spec;
	char message[160];
	int r = ts_vgpu_spec_parse(text ? text : driver.default_spec, &spec, message,
				   sizeof(message));

	if (r) {
		fprintf(stderr, "tracesmith: TRACESMITH_VGPU: %s\n", message);
		return TS_CU_ERROR_NO_DEVICE;
	}
	r = ts_vgpu_new(&spec, &driver.vgpu);
	if (r) {
		fprintf(stderr,
			"tracesmith: virtual GPU: cannot reserve addresses for device "
			"memory: %s\n",
			strerror(-r));
		return TS_CU_ERROR_OUT_OF_MEMORY;
	}
	driver.timed_kernels = spec.timed_kernels;
	r = driver.timed_kernels ? 0 : start_executor();
	if (r)
		return r;
	/* A setting applies to all devices. */
	calls_take_time = spec.shapes[0].call_ns;
	report_hooks();
	report_init();
	atomic_store_explicit(&driver.ready, true, memory_order_release);
	return 0;
}

static int init(uint32_t flags)
{
	struct ts_vgpu_resource_event finished = {.cbid = TS_CUPTI_CBID_RESOURCE_CU_INIT_FINISHED};
	int r;

	if (flags)
		return TS_CU_ERROR_INVALID_VALUE;
	if (ts_vgpu_forked())
		return TS_CU_ERROR_NOT_INITIALIZED;
	pthread_mutex_lock(&driver.lock);
	/*
	 * Another thread starts the driver: wait. The injected library calls this function from the
	 * starting thread, which must not wait for itself.
	 */
	while (driver.starting && !pthread_equal(driver.starter, pthread_self()))
		pthread_cond_wait(&driver.initialised, &driver.lock);
	/* Try only once, also if it fails, so the reason is printed only once. */
	if (!driver.tried) {
		driver.tried = true;
		driver.starting = true;
		driver.starter = pthread_self();
		driver.result = start();
		pthread_mutex_unlock(&driver.lock);
		if (!driver.result) {
			if (!driver.is_contained)
				inject();
			/*
			 * This event reports the devices to a profiler that attached before or
			 * during the injection.
			 */
			ts_vgpu_report_resource(&finished);
		}
		pthread_mutex_lock(&driver.lock);
		driver.starting = false;
		pthread_cond_broadcast(&driver.initialised);
	}
	r = driver.result;
	pthread_mutex_unlock(&driver.lock);
	return r;
}

/*
 * At the program's end the workers finish or abandon their work, so that nothing runs in unloaded
 * code.
 */
__attribute__((destructor)) static void shut_down(void)
{
	if (atomic_exchange(&driver.ready, false) && !ts_vgpu_forked()) {
		ts_vgpu_stop(driver.vgpu);
		ts_vgpu_executor_free(driver.executor);
	}
}

static bool flags_valid(uint32_t flags)
{
	uint32_t schedule = flags & TS_CU_CTX_SCHED_MASK;

	/* At most one way of waiting. */
	return !(flags & ~(uint32_t)TS_CU_CTX_FLAGS_MASK) && !(schedule & (schedule - 1));
}

static int context_new(uint32_t flags, int32_t device, bool primary, struct context **ret_context)
{
	struct ts_vgpu_device *vdevice = device_get(device);
	struct context *context;
	int r;

	if (!vdevice)
		return TS_CU_ERROR_INVALID_DEVICE;
	context = handle_new(HANDLE_CONTEXT, sizeof(*context));
	if (!context)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	r = ts_vgpu_context_new(vdevice, &context->vctx);
	if (r) {
		handle_free(context, sizeof(*context));
		return result_of(r);
	}
	context->device = (uint32_t)device;
	context->uid = ts_vgpu_context_uid(context->vctx);
	context->flags = flags;
	context->primary = primary;
	context->refs = 1;
	*ret_context = context;
	return 0;
}

static void context_link(struct context *context)
{
	struct context **end = &driver.contexts;

	while (*end)
		end = &(*end)->next;
	*end = context;
}

static void context_destroy(struct context *context)
{
	report_context(TS_CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, context);
	pthread_mutex_lock(&driver.lock);
	for (struct context **at = &driver.contexts; *at; at = &(*at)->next)
		if (*at == context) {
			*at = context->next;
			break;
		}
	pthread_mutex_unlock(&driver.lock);
	ts_vgpu_context_synchronize(context->vctx);
	modules_destroy(context);
	streams_destroy(context);
	graphs_forget_context(context);
	events_destroy(context);
	ts_vgpu_context_free(context->vctx);
	handle_free(context, sizeof(*context));
}

static int primary_retain(void **pctx, int32_t dev)
{
	struct context *context, *made = NULL;
	int r = check_ready();

	if (r)
		return r;
	if (!pctx)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!device_get(dev))
		return TS_CU_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&driver.lock);
	context = driver.primary[dev];
	if (context) {
		context->refs++;
	} else {
		r = context_new(driver.primary_flags[dev], dev, true, &context);
		if (!r) {
			driver.primary[dev] = made = context;
			context_link(context);
		}
	}
	pthread_mutex_unlock(&driver.lock);
	if (made)
		report_context(TS_CUPTI_CBID_RESOURCE_CONTEXT_CREATED, made);
	if (!r)
		*pctx = context;
	return r;
}

/* Drops one retain, or all of them with reset. */
static int primary_drop(int32_t dev, bool reset)
{
	struct context *context;
	int r = check_ready();

	if (r)
		return r;
	if (!device_get(dev))
		return TS_CU_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&driver.lock);
	context = driver.primary[dev];
	if (!context)
		r = reset ? 0 : TS_CU_ERROR_INVALID_CONTEXT;
	else if (!reset && --context->refs)
		context = NULL;
	else
		driver.primary[dev] = NULL;
	pthread_mutex_unlock(&driver.lock);
	if (context)
		context_destroy(context);
	return r;
}

static int primary_release(int32_t dev)
{
	return primary_drop(dev, false);
}

/* As cuDevicePrimaryCtxRelease() of version 1: it returns success for one release too many. */
static int primary_release_v1(int32_t dev)
{
	int r = primary_release(dev);

	return r == TS_CU_ERROR_INVALID_CONTEXT ? 0 : r;
}

static int primary_reset(int32_t dev)
{
	return primary_drop(dev, true);
}

static int primary_set_flags(int32_t dev, uint32_t flags)
{
	int r = check_ready();

	if (r)
		return r;
	if (!device_get(dev))
		return TS_CU_ERROR_INVALID_DEVICE;
	if (!flags_valid(flags))
		return TS_CU_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&driver.lock);
	driver.primary_flags[dev] = flags;
	if (driver.primary[dev])
		driver.primary[dev]->flags = flags;
	pthread_mutex_unlock(&driver.lock);
	return 0;
}

static int primary_get_state(int32_t dev, uint32_t *flags, int32_t *active)
{
	int r = check_ready();

	if (r)
		return r;
	if (!device_get(dev))
		return TS_CU_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&driver.lock);
	if (flags)
		*flags = driver.primary_flags[dev];
	if (active)
		*active = driver.primary[dev] != NULL;
	pthread_mutex_unlock(&driver.lock);
	return 0;
}

static int ctx_push_current(void *ctx)
{
	int r = check_ready();

	if (r)
		return r;
	if (!handle_is(ctx, HANDLE_CONTEXT))
		return TS_CU_ERROR_INVALID_CONTEXT;
	if (!context_may_push())
		return TS_CU_ERROR_OUT_OF_MEMORY;
	context_push(ctx);
	return 0;
}

static int ctx_pop_current(void **pctx)
{
	struct context *context;
	int r = check_ready();

	if (r)
		return r;
	context = context_pop();
	if (!context)
		return TS_CU_ERROR_INVALID_CONTEXT;
	if (pctx)
		*pctx = context;
	return 0;
}

static int ctx_set_current(void *ctx)
{
	int r = check_ready();

	if (r)
		return r;
	if (ctx && !handle_is(ctx, HANDLE_CONTEXT))
		return TS_CU_ERROR_INVALID_CONTEXT;
	(void)context_pop();
	if (ctx)
		context_push(ctx);
	return 0;
}

static int ctx_get_current(void **pctx)
{
	int r = check_ready();

	if (r)
		return r;
	if (!pctx)
		return TS_CU_ERROR_INVALID_VALUE;
	*pctx = context_current_or_null();
	return 0;
}

static int ctx_create(void **pctx, uint32_t flags, int32_t dev)
{
	struct context *context = NULL;
	int r = check_ready();

	if (r)
		return r;
	if (!pctx || !flags_valid(flags))
		return TS_CU_ERROR_INVALID_VALUE;
	if (!context_may_push())
		return TS_CU_ERROR_OUT_OF_MEMORY;
	r = context_new(flags, dev, false, &context);
	if (r)
		return r;
	pthread_mutex_lock(&driver.lock);
	context_link(context);
	pthread_mutex_unlock(&driver.lock);
	context_push(context);
	report_context(TS_CUPTI_CBID_RESOURCE_CONTEXT_CREATED, context);
	*pctx = context;
	return 0;
}

/*
 * Layout of CUctxCreateParams, which request a context for a part of a device, or for graphics.
 * cuCtxCreate with CUDA 13's headers passes them, mostly empty.
 */
struct ctx_create_params {
	void *exec_affinity_params;
	int32_t n_exec_affinity_params;
	void *cig_params;
};

static int ctx_create_with(void **pctx, const struct ctx_create_params *params, uint32_t flags,
			   int32_t dev)
{
	if (params &&
	    (params->exec_affinity_params || params->n_exec_affinity_params || params->cig_params))
		return NOT_SERVED("contexts with execution affinity",
				  "create it without parameters");
	return ctx_create(pctx, flags, dev);
}

static int ctx_destroy(void *ctx)
{
	struct context *context = ctx;
	int r = check_ready();

	if (r)
		return r;
	if (!handle_is(ctx, HANDLE_CONTEXT) || context->primary)
		return TS_CU_ERROR_INVALID_CONTEXT;
	if (context_current_or_null() == context)
		(void)context_pop();
	context_destroy(context);
	return 0;
}

/* The v1 function rejects a context that is on the stack below another one. */
static int ctx_destroy_v1(void *ctx)
{
	int r = check_ready();

	if (r)
		return r;
	return context_is_hidden(ctx) ? TS_CU_ERROR_INVALID_CONTEXT : ctx_destroy(ctx);
}

static int ctx_get_device(int32_t *device, void *ctx)
{
	struct context *context;
	int r = context_get(ctx, &context);

	if (r)
		return r;
	if (!device)
		return TS_CU_ERROR_INVALID_VALUE;
	*device = (int32_t)context->device;
	return 0;
}

static int ctx_get_flags(uint32_t *flags)
{
	struct context *context;
	int r = context_current(&context);

	if (r)
		return r;
	if (!flags)
		return TS_CU_ERROR_INVALID_VALUE;
	*flags = context->flags;
	return 0;
}

static int ctx_set_flags(uint32_t flags)
{
	struct context *context;
	int r = context_current(&context);

	if (r)
		return r;
	if (!flags_valid(flags))
		return TS_CU_ERROR_INVALID_VALUE;
	context->flags = flags;
	return 0;
}

static int ctx_get_id(void *ctx, uint64_t *ctx_id)
{
	struct context *context;
	int r = context_get(ctx, &context);

	if (r)
		return r;
	if (!ctx_id)
		return TS_CU_ERROR_INVALID_VALUE;
	*ctx_id = context->uid;
	return 0;
}

static int ctx_synchronize(void *ctx)
{
	struct context *context;
	uint64_t start;
	int r = context_get(ctx, &context);

	if (!r)
		r = stream_capture_ask_context(context);
	if (r)
		return r;
	start = ts_vgpu_now_ns();
	r = result_of(ts_vgpu_context_synchronize(context->vctx));
	report_wait(TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE, context,
		    TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE, NULL,
		    TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE, start, r);
	return r;
}

#include "tools/vgpu/generated-cuda-context.h"
