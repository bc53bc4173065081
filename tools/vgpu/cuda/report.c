/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What libcuda tells a profiler besides its calls, and what it answers one: see tools/vgpu/hooks.h. An operation's record
 * is made when it is submitted and travels through the device as its tag.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/vgpu/cuda/graph/graph.h"
#include "tools/vgpu/cuda/work.h"

#define POOL_BLOCK 64

/* Records not in use. Threads that submit take, devices' threads give back. */
static struct {
	pthread_mutex_t lock;
	union free_operation {
		union free_operation *next;
		struct ts_vgpu_operation op;
	} * free;
} operations = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const struct ts_vgpu_hooks *hooks;

struct ts_vgpu_operation *report_operation(const struct context *context, uint32_t stream_id)
{
	union free_operation *taken;

	if (!ts_vgpu_armed())
		return NULL;
	pthread_mutex_lock(&operations.lock);
	taken = operations.free;
	if (taken)
		operations.free = taken->next;
	pthread_mutex_unlock(&operations.lock);
	if (!taken) {
		taken = malloc(POOL_BLOCK * sizeof(*taken));
		if (!taken)
			return NULL;
		/* Kept for the life of the process; as many as were ever pending at once. */
		pthread_mutex_lock(&operations.lock);
		for (size_t i = 1; i < POOL_BLOCK; i++) {
			taken[i].next = operations.free;
			operations.free = &taken[i];
		}
		pthread_mutex_unlock(&operations.lock);
	}
	taken->op = (struct ts_vgpu_operation){
		.device_id = context->device,
		.context_id = context->uid,
		.stream_id = stream_id,
		.correlation_id = ts_vgpu_correlation_id(),
		.channel_id = 1,
	};
	return &taken->op;
}

static void operation_free(struct ts_vgpu_operation *op)
{
	union free_operation *given = (union free_operation *)op;

	pthread_mutex_lock(&operations.lock);
	given->next = operations.free;
	operations.free = given;
	pthread_mutex_unlock(&operations.lock);
}

void report_place(struct ts_vgpu_operation *op, const struct work_place *place)
{
	if (!op || !place)
		return;
	op->graph_id = place->graph_id;
	op->graph_node_id = place->node_id;
}

void report_submit(struct ts_vgpu_operation *op)
{
	if (!op)
		return;
	op->queued_ns = ts_vgpu_now_ns();
	ts_vgpu_report_submitted(op);
}

void report_cancel(struct ts_vgpu_operation *op)
{
	if (!op)
		return;
	op->end_ns = 0;
	ts_vgpu_report_completed(op);
	operation_free(op);
}

static struct ts_vgpu_operation *operation_of(const struct ts_vgpu_done *done)
{
	struct ts_vgpu_operation *op;

	if (!done->tag)
		return NULL;
	op = (struct ts_vgpu_operation *)(uintptr_t)done->tag;
	op->submitted_ns = done->submitted_ns;
	op->start_ns = done->start_ns;
	return op;
}

static void on_started(void *userdata, const struct ts_vgpu_done *done)
{
	struct ts_vgpu_operation *op = operation_of(done);

	if (op)
		ts_vgpu_report_started(op);
}

static void on_done(void *userdata, const struct ts_vgpu_done *done)
{
	struct ts_vgpu_operation *op = operation_of(done);

	if (!op)
		return;
	op->end_ns = done->end_ns;
	ts_vgpu_report_completed(op);
	operation_free(op);
}

static struct ts_vgpu_context_info context_info(const struct context *context)
{
	return (struct ts_vgpu_context_info){
		.context = (void *)(uintptr_t)context,
		.context_id = context->uid,
		.device_id = context->device,
		.null_stream_id = ts_vgpu_stream_id(ts_vgpu_context_legacy(context->vctx)),
	};
}

static struct ts_vgpu_stream_info stream_info(const struct context *context,
					      const struct stream *stream)
{
	struct ts_vgpu_stream *vstream =
		stream ? stream->vstream : ts_vgpu_context_legacy(context->vctx);
	struct ts_vgpu_stream_info info = {
		.context = (void *)(uintptr_t)context,
		.stream = (void *)(uintptr_t)stream,
		.context_id = context->uid,
		.stream_id = ts_vgpu_stream_id(vstream),
		.priority = ts_vgpu_stream_priority(vstream),
		.flag = TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT,
	};

	if (!stream)
		info.flag = TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL;
	else if (ts_vgpu_stream_flags(vstream) & TS_VGPU_STREAM_NON_BLOCKING)
		info.flag = TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING;
	return info;
}

void report_context(uint32_t cbid, const struct context *context)
{
	struct ts_vgpu_resource_event event = {.cbid = cbid};

	if (!ts_vgpu_armed())
		return;
	event.correlation_id = ts_vgpu_correlation_id();
	event.context = context_info(context);
	ts_vgpu_report_resource(&event);
}

void report_stream(uint32_t cbid, const struct context *context, const struct stream *stream)
{
	struct ts_vgpu_resource_event event = {.cbid = cbid};

	if (!ts_vgpu_armed())
		return;
	event.correlation_id = ts_vgpu_correlation_id();
	event.context = context_info(context);
	event.stream = stream_info(context, stream);
	ts_vgpu_report_resource(&event);
}

void report_module(uint32_t cbid, const struct context *context, uint32_t module_id,
		   const void *image, size_t image_bytes)
{
	struct ts_vgpu_resource_event event = {
		.cbid = cbid,
		.module = {.module_id = module_id, .cubin_size = image_bytes, .cubin = image},
	};

	if (!ts_vgpu_armed())
		return;
	event.correlation_id = ts_vgpu_correlation_id();
	event.context = context_info(context);
	ts_vgpu_report_resource(&event);
}

void report_memory(uint32_t operation, uint32_t kind, const struct context *context,
		   uint64_t address, uint64_t bytes)
{
	struct ts_vgpu_memory_event event;

	if (!ts_vgpu_armed())
		return;
	event = (struct ts_vgpu_memory_event){
		.operation = operation,
		.memory_kind = kind,
		.address = address,
		.bytes = bytes,
		.time_ns = ts_vgpu_now_ns(),
		.device_id = context->device,
		.context_id = context->uid,
		.stream_id = TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE,
	};
	ts_vgpu_report_memory(&event);
}

void report_pool_memory(uint32_t operation, const struct context *context, uint64_t address,
			uint64_t bytes, uint32_t stream_id, const struct report_pool *pool)
{
	struct ts_vgpu_memory_event event;

	if (!ts_vgpu_armed())
		return;
	event = (struct ts_vgpu_memory_event){
		.operation = operation,
		.memory_kind = TS_CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
		.address = address,
		.bytes = bytes,
		.time_ns = ts_vgpu_now_ns(),
		.device_id = context->device,
		.context_id = context->uid,
		.stream_id = stream_id,
		.async = true,
		.pool_type = TS_CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL,
		.pool_address = pool->address,
		.pool_release_threshold = pool->threshold,
		.pool_size = pool->size,
		.pool_utilized_bytes = pool->used,
	};
	ts_vgpu_report_memory(&event);
}

void report_wait(uint32_t type, const struct context *context, uint32_t stream_id, void *stream,
		 uint32_t event_id, uint64_t start_ns, int result)
{
	struct ts_vgpu_wait_event event;

	if (!ts_vgpu_armed())
		return;
	event = (struct ts_vgpu_wait_event){
		.type = type,
		.context_id = context->uid,
		.stream_id = stream_id,
		.event_id = event_id,
		.start_ns = start_ns,
		.end_ns = ts_vgpu_now_ns(),
		.return_value = (uint32_t)result,
		.context = (void *)(uintptr_t)context,
		.stream = stream,
	};
	ts_vgpu_report_wait(&event);
}

/* The current context while it lives. */
static struct context *current(void)
{
	struct context *context = context_current_or_null();

	return context && handle_is(context, HANDLE_CONTEXT) ? context : NULL;
}

static void query_current_context(void **ret_context, uint32_t *ret_context_id)
{
	struct context *context = current();

	*ret_context = context;
	*ret_context_id = context ? context->uid : 0;
}

static uint32_t query_n_devices(void)
{
	return check_ready() ? 0 : ts_vgpu_n_devices(driver.vgpu);
}

static int query_device(uint32_t device_id, struct ts_vgpu_device_info *ret_info)
{
	const struct ts_vgpu_shape *shape;
	struct ts_vgpu_device *device;

	device = check_ready() ? NULL : ts_vgpu_device_at(driver.vgpu, device_id);
	if (!device)
		return -ENOENT;
	shape = ts_vgpu_device_shape(device);
	*ret_info = (struct ts_vgpu_device_info){
		.id = device_id,
		.memory_bytes = shape->memory_bytes,
		.memory_bandwidth_kbps = shape->memory_bytes_per_s / 1000,
		.constant_memory_bytes = 65536,
		.l2_cache_bytes = shape->l2_bytes,
		.warp_threads = shape->warp_size,
		.core_clock_khz = shape->clock_khz,
		.n_copy_engines = shape->n_h2d_engines + shape->n_d2h_engines,
		.n_multiprocessors = shape->n_sm,
		.max_ipc = 4,
		.max_warps_per_multiprocessor = shape->max_threads_per_sm / shape->warp_size,
		.max_blocks_per_multiprocessor = shape->max_blocks_per_sm,
		.max_shared_bytes_per_multiprocessor = shape->shared_bytes_per_sm,
		.max_registers_per_multiprocessor = shape->regs_per_sm,
		.max_registers_per_block = shape->regs_per_sm,
		.max_shared_bytes_per_block = shape->shared_bytes_per_block,
		.max_threads_per_block = shape->max_threads_per_block,
		.max_block_dim = {shape->max_threads_per_block, shape->max_threads_per_block, 64},
		.max_grid_dim = {INT32_MAX, 65535, 65535},
		.compute_major = shape->cc_major,
		.compute_minor = shape->cc_minor,
	};
	strncpy(ret_info->name, shape->name, sizeof(ret_info->name) - 1);
	device_uuid((int32_t)device_id, &ret_info->uuid);
	return 0;
}

static int query_context(void *context, struct ts_vgpu_context_info *ret_info)
{
	struct context *c = context ? context : current();

	if (!c || !handle_is(c, HANDLE_CONTEXT))
		return -ENOENT;
	*ret_info = context_info(c);
	return 0;
}

static int query_stream(void *context, void *stream, bool own, struct ts_vgpu_stream_info *ret_info)
{
	struct context *c = context ? context : current();
	struct stream *s = NULL;

	if (own && !stream)
		stream = TS_CU_STREAM_PER_THREAD;
	if (handle_is(stream, HANDLE_STREAM)) {
		s = stream;
		c = s->context;
	} else if (!c || !handle_is(c, HANDLE_CONTEXT)) {
		return -ENOENT;
	} else if (stream == TS_CU_STREAM_PER_THREAD) {
		if (stream_own(c, &s))
			return -ENOENT;
	} else if (stream && stream != TS_CU_STREAM_LEGACY) {
		return -ENOENT;
	}
	*ret_info = stream_info(c, s);
	return 0;
}

void report_graph(uint32_t cbid, const struct ts_cupti_graph_data *graph)
{
	struct ts_vgpu_resource_event event = {.cbid = cbid, .graph = *graph};
	struct context *context;

	if (!ts_vgpu_armed())
		return;
	event.correlation_id = ts_vgpu_correlation_id();
	context = current();
	if (context)
		event.context = context_info(context);
	ts_vgpu_report_resource(&event);
}

static int query_graph_id(void *graph, uint32_t *ret_id)
{
	if (!handle_is(graph, HANDLE_GRAPH))
		return -ENOENT;
	*ret_id = ((const struct graph *)graph)->id;
	return 0;
}

static int query_graph_exec_id(void *graph_exec, uint32_t *ret_id)
{
	if (!handle_is(graph_exec, HANDLE_GRAPH_EXEC))
		return -ENOENT;
	*ret_id = ((const struct graph_exec *)graph_exec)->id;
	return 0;
}

static int query_graph_node_id(void *node, uint64_t *ret_id)
{
	if (!handle_is(node, HANDLE_GRAPH_NODE))
		return -ENOENT;
	*ret_id = ((const struct graph_node *)node)->id;
	return 0;
}

/* Enough for a process; what is past it is left out of a listing rather than allocated for in it. */
#define MAX_LISTED 1024

static int query_each_context(int (*fn)(const struct ts_vgpu_context_info *info, void *arg),
			      void *arg)
{
	struct ts_vgpu_context_info *infos = calloc(MAX_LISTED, sizeof(*infos));
	size_t n = 0;
	int r = 0;

	if (!infos)
		return -ENOMEM;
	pthread_mutex_lock(&driver.lock);
	for (struct context *c = driver.contexts; c && n < MAX_LISTED; c = c->next)
		infos[n++] = context_info(c);
	pthread_mutex_unlock(&driver.lock);
	for (size_t i = 0; !r && i < n; i++)
		r = fn(&infos[i], arg);
	free(infos);
	return r;
}

static int by_stream_id(const void *a, const void *b)
{
	const struct ts_vgpu_stream_info *x = a, *y = b;

	return x->stream_id < y->stream_id ? -1 : x->stream_id > y->stream_id;
}

static int query_each_stream(int (*fn)(const struct ts_vgpu_stream_info *info, void *arg),
			     void *arg)
{
	struct ts_vgpu_stream_info *infos = calloc(MAX_LISTED, sizeof(*infos));
	size_t n = 0;
	int r = 0;

	if (!infos)
		return -ENOMEM;
	pthread_mutex_lock(&driver.lock);
	for (struct context *c = driver.contexts; c; c = c->next) {
		if (n < MAX_LISTED)
			infos[n++] = stream_info(c, NULL);
		for (struct stream *s = c->streams; s && n < MAX_LISTED; s = s->next)
			infos[n++] = stream_info(c, s);
	}
	pthread_mutex_unlock(&driver.lock);
	qsort(infos, n, sizeof(*infos), by_stream_id);
	for (size_t i = 0; !r && i < n; i++)
		r = fn(&infos[i], arg);
	free(infos);
	return r;
}

static void query_drain(void)
{
	if (check_ready())
		return;
	for (uint32_t i = 0; i < ts_vgpu_n_devices(driver.vgpu); i++)
		ts_vgpu_device_synchronize(ts_vgpu_device_at(driver.vgpu, i));
}

static const struct ts_vgpu_queries queries = {
	.now_ns = ts_vgpu_now_ns,
	.current_context = query_current_context,
	.n_devices = query_n_devices,
	.device = query_device,
	.context = query_context,
	.stream = query_stream,
	.graph_id = query_graph_id,
	.graph_exec_id = query_graph_exec_id,
	.graph_node_id = query_graph_node_id,
	.each_context = query_each_context,
	.each_stream = query_each_stream,
	.drain = query_drain,
};

static void make_hooks(void)
{
	hooks = ts_vgpu_hooks_init(&queries);
}

/* A profiler may ask before cuInit, and the calls it watches may come before it asks. */
const struct ts_vgpu_hooks *report_hooks(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_hooks);
	return hooks;
}

void report_init(void)
{
	static const struct ts_vgpu_observer observer = {.started = on_started, .done = on_done};

	report_hooks();
	ts_vgpu_set_observer(driver.vgpu, &observer);
}
