/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcuda's reports to a profiler besides its calls: see tools/vgpu/hooks.h. All files of libcuda
 * that create objects or queue work call this file. An operation's record is created at submission;
 * its address is the tag of the device's operation.
 */
#include <stdlib.h>

#include "tools/vgpu/cuda/work.h"

#define POOL_BLOCK 64

/* Free records. Submitting threads allocate them, the device's threads free them. */
static struct {
	pthread_mutex_t lock;
	union free_operation {
		union free_operation *next;
		struct ts_vgpu_operation op;
	} * free;
} operations = {.lock = PTHREAD_MUTEX_INITIALIZER};

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
		/*
		 * Records are never returned to the system. There are as many as were ever pending
		 * at once.
		 */
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

struct ts_vgpu_context_info report_context_info(const struct context *context)
{
	return (struct ts_vgpu_context_info){
		.context = (void *)(uintptr_t)context,
		.context_id = context->uid,
		.device_id = context->device,
		.null_stream_id = ts_vgpu_stream_id(ts_vgpu_context_legacy(context->vctx)),
	};
}

struct ts_vgpu_stream_info report_stream_info(const struct context *context,
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
	event.context = report_context_info(context);
	ts_vgpu_report_resource(&event);
}

void report_stream(uint32_t cbid, const struct context *context, const struct stream *stream)
{
	struct ts_vgpu_resource_event event = {.cbid = cbid};

	if (!ts_vgpu_armed())
		return;
	event.correlation_id = ts_vgpu_correlation_id();
	event.context = report_context_info(context);
	event.stream = report_stream_info(context, stream);
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
	event.context = report_context_info(context);
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

void report_graph(uint32_t cbid, const struct ts_cupti_graph_data *graph)
{
	struct ts_vgpu_resource_event event = {.cbid = cbid, .graph = *graph};
	struct context *context;

	if (!ts_vgpu_armed())
		return;
	event.correlation_id = ts_vgpu_correlation_id();
	/* Graphs and their nodes belong to no context. */
	context = cbid == TS_CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATE_STARTING ||
				  cbid == TS_CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED
			  ? context_current_alive()
			  : NULL;
	if (context)
		event.context = report_context_info(context);
	ts_vgpu_report_resource(&event);
}

void report_init(void)
{
	static const struct ts_vgpu_observer observer = {.started = on_started, .done = on_done};

	ts_vgpu_set_observer(driver.vgpu, &observer);
}
