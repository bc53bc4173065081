// SPDX-License-Identifier: Apache-2.0
/*
 * The sink: converts libcuda's reports to activity records and callbacks. hooks.c calls this file
 * through ts_cupti_sink. The reporting thread records calls, waits, allocations and resources. The
 * submitting thread creates an operation's record; the record gets its times when the device has
 * completed the operation. CUPTI fills its buffers in the same way, so a flush may have to wait for
 * some of them.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/vgpu/cupti/api.h"
#include "tools/vgpu/cupti/cupti-internal.h"

static void record_external_id(uint32_t kind, uint64_t id, uint32_t correlation_id)
{
	struct ts_cupti_activity_external_correlation *record;
	struct ts_cupti_slot slot;

	if (!ts_cupti_buffer_reserve(TS_CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, &slot))
		return;
	record = slot.record;
	record->kind = TS_CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
	record->external_kind = kind;
	record->external_id = id;
	record->correlation_id = correlation_id;
	ts_cupti_buffer_commit(&slot, false);
}

static void record_api(const struct ts_vgpu_api *call)
{
	const uint32_t kind = call->domain == TS_CUPTI_CB_DOMAIN_RUNTIME_API
				      ? TS_CUPTI_ACTIVITY_KIND_RUNTIME
				      : TS_CUPTI_ACTIVITY_KIND_DRIVER;
	struct ts_cupti_activity_api *record;
	uint64_t end = ts_cupti_clock_now();
	struct ts_cupti_slot slot;

	if (!ts_cupti_buffer_reserve(kind, &slot))
		return;
	record = slot.record;
	record->kind = kind;
	record->cbid = call->cbid;
	record->start = call->sink_word;
	record->end = end;
	record->process_id = ts_cupti_process_id();
	record->thread_id = ts_cupti_thread_id();
	record->correlation_id = call->correlation_id;
	record->return_value = call->return_value ? *(const uint32_t *)call->return_value : 0;
	ts_cupti_buffer_commit(&slot, false);
}

static void api(uint32_t site, struct ts_vgpu_api *call)
{
	if (site == TS_CUPTI_API_ENTER && ts_cupti_api_recorded(call->domain, call->cbid)) {
		/*
		 * External ids precede the call's record, and nested calls share the outer call's
		 * ids.
		 */
		if (ts_cupti_kind_enabled(TS_CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 0) &&
		    (!call->outer || !call->outer->sink_word))
			ts_cupti_each_external_id(record_external_id, call->correlation_id);
		call->sink_word = ts_cupti_clock_now();
	}
	ts_cupti_callback_api(site, call);
	if (site == TS_CUPTI_API_EXIT && call->sink_word)
		record_api(call);
}

#define N_DEVICES 64

/*
 * Returns a device's name. Records point to the name as long as a client keeps them, so it is never
 * freed.
 */
static const char *device_name(const struct ts_vgpu_device_info *info)
{
	static _Atomic(char *) names[N_DEVICES];
	char *none = NULL, *name;

	if (info->id >= N_DEVICES)
		return NULL;
	name = atomic_load(&names[info->id]);
	if (name)
		return name;
	name = strndup(info->name, sizeof(info->name));
	if (name && !atomic_compare_exchange_strong(&names[info->id], &none, name)) {
		free(name);
		name = none;
	}
	return name;
}

static int record_device(const struct ts_vgpu_device_info *info)
{
	struct ts_cupti_activity_device *record;
	const char *name = device_name(info);
	struct ts_cupti_slot slot;

	if (!ts_cupti_buffer_reserve(TS_CUPTI_ACTIVITY_KIND_DEVICE, &slot))
		return 0;
	record = slot.record;
	record->kind = TS_CUPTI_ACTIVITY_KIND_DEVICE;
	record->flags = TS_CUPTI_ACTIVITY_FLAG_DEVICE_CONCURRENT_KERNELS;
	record->global_memory_bandwidth = info->memory_bandwidth_kbps;
	record->global_memory_size = info->memory_bytes;
	record->constant_memory_size = info->constant_memory_bytes;
	record->l2_cache_size = info->l2_cache_bytes;
	record->num_threads_per_warp = info->warp_threads;
	record->core_clock_rate = info->core_clock_khz;
	record->num_memcpy_engines = info->n_copy_engines;
	record->num_multiprocessors = info->n_multiprocessors;
	record->max_ipc = info->max_ipc;
	record->max_warps_per_multiprocessor = info->max_warps_per_multiprocessor;
	record->max_blocks_per_multiprocessor = info->max_blocks_per_multiprocessor;
	record->max_shared_memory_per_multiprocessor = info->max_shared_bytes_per_multiprocessor;
	record->max_registers_per_multiprocessor = info->max_registers_per_multiprocessor;
	record->max_registers_per_block = info->max_registers_per_block;
	record->max_shared_memory_per_block = info->max_shared_bytes_per_block;
	record->max_threads_per_block = info->max_threads_per_block;
	record->max_block_dim_x = info->max_block_dim[0];
	record->max_block_dim_y = info->max_block_dim[1];
	record->max_block_dim_z = info->max_block_dim[2];
	record->max_grid_dim_x = info->max_grid_dim[0];
	record->max_grid_dim_y = info->max_grid_dim[1];
	record->max_grid_dim_z = info->max_grid_dim[2];
	record->compute_capability_major = info->compute_major;
	record->compute_capability_minor = info->compute_minor;
	record->id = info->id;
	record->uuid = info->uuid;
	record->is_cuda_visible = 1;
	record->name = name;
	ts_cupti_buffer_commit(&slot, false);
	return 0;
}

void ts_cupti_record_devices(void)
{
	const struct ts_vgpu_queries *queries = ts_cupti_hooks()->queries;
	struct ts_vgpu_device_info info;

	for (uint32_t i = 0; i < queries->n_devices(); i++)
		if (queries->device(i, &info) == 0)
			record_device(&info);
}

static int record_context(const struct ts_vgpu_context_info *info, void *unused)
{
	struct ts_cupti_activity_context *record;
	struct ts_vgpu_device_info device;
	struct ts_cupti_slot slot;
	uint16_t n_multiprocessors = 0;

	if (ts_cupti_hooks()->queries->device(info->device_id, &device) == 0)
		n_multiprocessors = (uint16_t)device.n_multiprocessors;
	if (!ts_cupti_buffer_reserve(TS_CUPTI_ACTIVITY_KIND_CONTEXT, &slot))
		return 0;
	record = slot.record;
	record->kind = TS_CUPTI_ACTIVITY_KIND_CONTEXT;
	record->context_id = info->context_id;
	record->device_id = info->device_id;
	record->compute_api_kind = TS_CUPTI_ACTIVITY_COMPUTE_API_CUDA;
	record->null_stream_id = (uint16_t)info->null_stream_id;
	record->num_multiprocessors = n_multiprocessors;
	ts_cupti_buffer_commit(&slot, false);
	return 0;
}

void ts_cupti_record_contexts(void)
{
	ts_cupti_hooks()->queries->each_context(record_context, NULL);
}

static void record_stream(const struct ts_vgpu_stream_info *info, uint32_t correlation_id)
{
	struct ts_cupti_activity_stream *record;
	struct ts_cupti_slot slot;

	if (!ts_cupti_buffer_reserve(TS_CUPTI_ACTIVITY_KIND_STREAM, &slot))
		return;
	record = slot.record;
	record->kind = TS_CUPTI_ACTIVITY_KIND_STREAM;
	record->context_id = info->context_id;
	record->stream_id = info->stream_id;
	record->priority = (uint32_t)info->priority;
	record->flag = info->flag;
	record->correlation_id = correlation_id;
	ts_cupti_buffer_commit(&slot, false);
}

#define FIRST_NULL_STREAM 7u

/*
 * A context has a default stream and further streams of the driver, as observed on an H200 with
 * driver 580. The default stream has the second of their ids. The application's first stream has
 * the next id after them.
 */
static void record_streams_of_context(const struct ts_vgpu_stream_info *null_stream,
				      uint32_t correlation_id)
{
	static const struct {
		int32_t from_null; /* id relative to the default stream's */
		uint32_t flag;
		int32_t priority;
	} own[] = {
		{-1, TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT, 0},
		{0, TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL, 0},
		{1, TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING, 0},
		{2, TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING, 0},
		{3, TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING, 0},
		{4, TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING, 0},
		{5, TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT, -5},
	};

	/*
	 * Streams of a second context were not observed: the ids around its default stream belong
	 * to other streams.
	 */
	if (null_stream->stream_id != FIRST_NULL_STREAM) {
		record_stream(null_stream, correlation_id);
		return;
	}
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
		struct ts_vgpu_stream_info stream = *null_stream;

		stream.stream_id += (uint32_t)own[i].from_null;
		stream.flag = own[i].flag;
		stream.priority = own[i].priority;
		record_stream(&stream, correlation_id);
	}
}

static int record_living_stream(const struct ts_vgpu_stream_info *info, void *unused)
{
	record_stream(info, 0);
	return 0;
}

void ts_cupti_record_streams(void)
{
	ts_cupti_hooks()->queries->each_stream(record_living_stream, NULL);
}

static void resource(const struct ts_vgpu_resource_event *event)
{
	struct ts_vgpu_stream_info null_stream;

	switch (event->cbid) {
	case TS_CUPTI_CBID_RESOURCE_CU_INIT_FINISHED:
		if (ts_cupti_kind_enabled(TS_CUPTI_ACTIVITY_KIND_DEVICE, 0))
			ts_cupti_record_devices();
		break;
	case TS_CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
		if (ts_cupti_kind_enabled(TS_CUPTI_ACTIVITY_KIND_CONTEXT,
					  event->context.context_id))
			record_context(&event->context, NULL);
		if (ts_cupti_kind_enabled(TS_CUPTI_ACTIVITY_KIND_STREAM,
					  event->context.context_id) &&
		    ts_cupti_hooks()->queries->stream(event->context.context, NULL, false,
						      &null_stream) == 0)
			record_streams_of_context(&null_stream, event->correlation_id);
		break;
	case TS_CUPTI_CBID_RESOURCE_STREAM_CREATED:
		if (ts_cupti_kind_enabled(TS_CUPTI_ACTIVITY_KIND_STREAM, event->stream.context_id))
			record_stream(&event->stream, event->correlation_id);
		break;
	default:
		break;
	}
	ts_cupti_callback_resource(event);
}

static void memory(const struct ts_vgpu_memory_event *event, uint32_t correlation_id)
{
	struct ts_cupti_activity_memory *record;
	uint64_t timestamp = event->time_ns;
	struct ts_cupti_slot slot;

	if (!ts_cupti_kind_enabled(TS_CUPTI_ACTIVITY_KIND_MEMORY2, event->context_id))
		return;
	ts_cupti_clock_convert(&timestamp, 1);
	if (!ts_cupti_buffer_reserve(TS_CUPTI_ACTIVITY_KIND_MEMORY2, &slot))
		return;
	record = slot.record;
	record->kind = TS_CUPTI_ACTIVITY_KIND_MEMORY2;
	record->memory_operation_type = event->operation;
	record->memory_kind = event->memory_kind;
	record->correlation_id = correlation_id;
	record->address = event->address;
	record->bytes = event->bytes;
	record->timestamp = timestamp;
	record->pc = event->pc;
	record->process_id = ts_cupti_process_id();
	record->device_id = event->device_id;
	record->context_id = event->context_id;
	record->stream_id = event->stream_id;
	record->name = event->name;
	record->is_async = event->async;
	record->memory_pool_config.memory_pool_type = event->pool_type;
	record->memory_pool_config.address = event->pool_address;
	record->memory_pool_config.release_threshold = event->pool_release_threshold;
	record->memory_pool_config.pool.size = event->pool_size;
	record->memory_pool_config.utilized_size = event->pool_utilized_bytes;
	ts_cupti_buffer_commit(&slot, false);
}

static void wait(const struct ts_vgpu_wait_event *event, uint32_t correlation_id)
{
	struct ts_cupti_activity_synchronization *record;
	uint64_t times[] = {event->start_ns, event->end_ns};
	struct ts_cupti_slot slot;

	if (ts_cupti_kind_enabled(TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, event->context_id)) {
		ts_cupti_clock_convert(times, 2);
		if (ts_cupti_buffer_reserve(TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, &slot)) {
			record = slot.record;
			record->kind = TS_CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
			record->type = event->type;
			record->start = times[0];
			record->end = times[1];
			record->correlation_id = correlation_id;
			record->context_id = event->context_id;
			record->stream_id = event->stream_id;
			record->cuda_event_id = event->event_id;
			record->return_value = event->return_value;
			ts_cupti_buffer_commit(&slot, false);
		}
	}
	ts_cupti_callback_wait(event);
}

static void fill_kernel(struct ts_cupti_activity_kernel *record, const struct ts_vgpu_operation *op)
{
	record->cache_config = op->kernel.cache_config;
	record->registers_per_thread = op->kernel.registers_per_thread;
	record->device_id = op->device_id;
	record->context_id = op->context_id;
	record->stream_id = op->stream_id;
	record->grid_x = (int32_t)op->kernel.grid[0];
	record->grid_y = (int32_t)op->kernel.grid[1];
	record->grid_z = (int32_t)op->kernel.grid[2];
	record->block_x = (int32_t)op->kernel.block[0];
	record->block_y = (int32_t)op->kernel.block[1];
	record->block_z = (int32_t)op->kernel.block[2];
	record->static_shared_memory = (int32_t)op->kernel.static_shared_bytes;
	record->dynamic_shared_memory = (int32_t)op->kernel.dynamic_shared_bytes;
	record->local_memory_per_thread = op->kernel.local_bytes_per_thread;
	record->local_memory_total = op->kernel.local_bytes;
	record->local_memory_total_v2 = op->kernel.local_bytes;
	record->correlation_id = op->correlation_id;
	record->grid_id = (int64_t)op->kernel.grid_id;
	record->name = op->kernel.name;
	record->launch_type = op->kernel.launch_type;
	record->shared_memory_executed = op->kernel.shared_executed_bytes;
	record->graph_node_id = op->graph_node_id;
	record->graph_id = op->graph_id;
	record->channel_id = op->channel_id;
	record->channel_type = op->channel_type;
	record->cluster_x = op->kernel.cluster[0];
	record->cluster_y = op->kernel.cluster[1];
	record->cluster_z = op->kernel.cluster[2];
}

static void fill_memcpy(struct ts_cupti_activity_memcpy *record, const struct ts_vgpu_operation *op)
{
	record->copy_kind = op->memcpy.copy_kind;
	record->src_kind = op->memcpy.src_kind;
	record->dst_kind = op->memcpy.dst_kind;
	record->flags = op->async ? TS_CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
	record->bytes = op->memcpy.bytes;
	record->device_id = op->device_id;
	record->context_id = op->context_id;
	record->stream_id = op->stream_id;
	record->correlation_id = op->correlation_id;
	record->runtime_correlation_id = op->correlation_id;
	record->graph_node_id = op->graph_node_id;
	record->graph_id = op->graph_id;
	record->channel_id = op->channel_id;
	record->channel_type = op->channel_type;
	record->copy_count = op->memcpy.n_copies;
}

static void fill_memcpy_ptop(struct ts_cupti_activity_memcpy_ptop *record,
			     const struct ts_vgpu_operation *op)
{
	record->copy_kind = op->memcpy.copy_kind;
	record->src_kind = op->memcpy.src_kind;
	record->dst_kind = op->memcpy.dst_kind;
	record->flags = op->async ? TS_CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
	record->bytes = op->memcpy.bytes;
	record->device_id = op->device_id;
	record->context_id = op->context_id;
	record->stream_id = op->stream_id;
	record->src_device_id = op->memcpy.src_device_id;
	record->src_context_id = op->memcpy.src_context_id;
	record->dst_device_id = op->memcpy.dst_device_id;
	record->dst_context_id = op->memcpy.dst_context_id;
	record->correlation_id = op->correlation_id;
	record->graph_node_id = op->graph_node_id;
	record->graph_id = op->graph_id;
	record->channel_id = op->channel_id;
	record->channel_type = op->channel_type;
}

static void fill_memset(struct ts_cupti_activity_memset *record, const struct ts_vgpu_operation *op)
{
	record->value = op->memset.value;
	record->bytes = op->memset.bytes;
	record->device_id = op->device_id;
	record->context_id = op->context_id;
	record->stream_id = op->stream_id;
	record->correlation_id = op->correlation_id;
	record->flags = op->async ? TS_CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0;
	record->memory_kind = (uint16_t)op->memset.memory_kind;
	record->graph_node_id = op->graph_node_id;
	record->graph_id = op->graph_id;
	record->channel_id = op->channel_id;
	record->channel_type = op->channel_type;
}

static void operation_submitted(struct ts_vgpu_operation *op)
{
	struct ts_cupti_slot slot;
	uint32_t kind = op->kind;

	if (!ts_cupti_kind_enabled(kind, op->context_id)) {
		/* A kernel is recorded under the one of its two kinds that is enabled. */
		if (kind != TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
		    !ts_cupti_kind_enabled(TS_CUPTI_ACTIVITY_KIND_KERNEL, op->context_id))
			return;
		kind = TS_CUPTI_ACTIVITY_KIND_KERNEL;
	}
	if (!ts_cupti_buffer_reserve(kind, &slot))
		return;
	((struct ts_cupti_activity *)slot.record)->kind = kind;
	if (op->kind == TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
		fill_kernel(slot.record, op);
	else if (op->kind == TS_CUPTI_ACTIVITY_KIND_MEMCPY)
		fill_memcpy(slot.record, op);
	else if (op->kind == TS_CUPTI_ACTIVITY_KIND_MEMCPY2)
		fill_memcpy_ptop(slot.record, op);
	else
		fill_memset(slot.record, op);
	op->sink_buffer = slot.buffer;
	op->sink_offset = slot.offset;
	ts_cupti_buffer_commit(&slot, true);
}

/* Returns start and end in a record of the operation's kind. */
static uint64_t *times_of(void *record, uint32_t kind, uint64_t **ret_end)
{
	if (kind == TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
		*ret_end = &((struct ts_cupti_activity_kernel *)record)->end;
		return &((struct ts_cupti_activity_kernel *)record)->start;
	}
	if (kind == TS_CUPTI_ACTIVITY_KIND_MEMCPY) {
		*ret_end = &((struct ts_cupti_activity_memcpy *)record)->end;
		return &((struct ts_cupti_activity_memcpy *)record)->start;
	}
	if (kind == TS_CUPTI_ACTIVITY_KIND_MEMCPY2) {
		*ret_end = &((struct ts_cupti_activity_memcpy_ptop *)record)->end;
		return &((struct ts_cupti_activity_memcpy_ptop *)record)->start;
	}
	*ret_end = &((struct ts_cupti_activity_memset *)record)->end;
	return &((struct ts_cupti_activity_memset *)record)->start;
}

/* Writes start and end into the record, for a kernel also queued and submitted; 0: unknown. */
static void fill_times(struct ts_vgpu_operation *op, uint64_t times[4])
{
	struct ts_cupti_activity_kernel *kernel;
	uint64_t *start, *end;
	void *record;

	ts_cupti_clock_convert(times, 4);
	record = ts_cupti_buffer_open(op->sink_buffer, op->sink_offset);
	if (record) {
		start = times_of(record, op->kind, &end);
		*start = times[0];
		*end = times[1];
		if (op->kind == TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
			kernel = record;
			kernel->completed = times[1];
			kernel->queued = times[2];
			kernel->submitted = times[3];
		}
	}
}

static void operation_started(struct ts_vgpu_operation *op)
{
	uint64_t times[4] = {op->start_ns};

	/* A forced flush may deliver the record before its end is known. */
	if (!op->sink_buffer)
		return;
	fill_times(op, times);
	ts_cupti_buffer_close(op->sink_buffer);
}

static void operation_completed(struct ts_vgpu_operation *op)
{
	uint64_t times[4] = {op->start_ns, op->end_ns};

	if (!op->sink_buffer)
		return;
	if (ts_cupti_latency_timestamps()) {
		times[2] = op->queued_ns;
		times[3] = op->submitted_ns;
	}
	fill_times(op, times);
	ts_cupti_buffer_finish(op->sink_buffer);
	op->sink_buffer = NULL;
}

const struct ts_vgpu_sink ts_cupti_sink = {
	.size = sizeof(ts_cupti_sink),
	.version = TS_VGPU_HOOKS_VERSION,
	.api = api,
	.resource = resource,
	.memory = memory,
	.wait = wait,
	.operation_submitted = operation_submitted,
	.operation_started = operation_started,
	.operation_completed = operation_completed,
};
