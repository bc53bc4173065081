/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records to rows, one function per type. They run some millions of times a second: each reads the
 * record where it lies in the drain's buffer and writes the row once.
 */
#include "daemon/merge/rows.h"

/* False where the clock is unknown, or nothing says yet what its ticks mean. */
static bool rows_clock_usable(const struct ts_rows *rows, unsigned clock)
{
	return clock == TS_CLOCK_MONOTONIC ||
	       (clock < TS_CLOCK_COUNT && rows->clocks[clock] && rows->clocks[clock]->n);
}

static inline uint64_t rows_time(struct ts_rows *rows, unsigned clock, uint64_t ticks)
{
	if (clock == TS_CLOCK_MONOTONIC)
		return ticks;
	return ts_clock_table_convert(rows->clocks[clock], ticks);
}

/* For times of which 0 says that there is none. */
static inline uint64_t rows_time_or_0(struct ts_rows *rows, unsigned clock, uint64_t ticks)
{
	return ticks ? rows_time(rows, clock, ticks) : 0;
}

/* What is only told beside a row is left out where it cannot be. */
static inline uint64_t rows_plausible(const struct ts_rows *rows, uint64_t ns)
{
	return ns >= rows->earliest_ns && ns <= rows->latest_ns ? ns : 0;
}

/* 0, where there is no such time, is no lie. */
static int rows_check_times(const struct ts_rows *rows, uint64_t start_ns, uint64_t end_ns)
{
	if (ts_unlikely(start_ns && (start_ns < rows->earliest_ns || start_ns > rows->latest_ns)))
		return TS_ROWS_E_TIME;
	if (ts_unlikely(end_ns && (end_ns < start_ns || end_ns > rows->latest_ns)))
		return TS_ROWS_E_TIME;
	return 0;
}

static inline uint32_t rows_string(const struct ts_rows *rows, uint32_t id)
{
	return ts_id_map_get(&rows->ids->strings, id);
}

static inline uint32_t rows_stack(const struct ts_rows *rows, uint32_t id)
{
	return ts_id_map_get(&rows->ids->stacks, id);
}

static void rows_api(struct ts_rows *rows, const struct ts_record_api *from, struct ts_row_api *to)
{
	unsigned clock = from->record.clock;

	*to = (struct ts_row_api){
		.start_ns = rows_time(rows, clock, from->record.time),
		.end_ns = rows_time_or_0(rows, clock, from->end),
		.op_id = from->op_id,
		.nested_op_id = from->nested_op_id,
		.thread = rows->thread,
		.stack = rows_stack(rows, from->stack),
		.context = from->context,
		.result = from->result,
		.domain = from->domain,
		.cbid = from->cbid,
		.flags = from->record.flags,
	};
}

static void rows_kernel(struct ts_rows *rows, const struct ts_record_kernel *from,
			struct ts_row_kernel *to)
{
	unsigned clock = from->record.clock;

	*to = (struct ts_row_kernel){
		.start_ns = rows_time_or_0(rows, clock, from->record.time),
		.end_ns = rows_time_or_0(rows, clock, from->end),
		.op_id = from->op_id,
		.device = from->place.device,
		.context = from->place.context,
		.stream = from->place.stream,
		.graph = from->place.graph,
		.graph_node = from->place.graph_node,
		.queued_ns = rows_plausible(rows, rows_time_or_0(rows, clock, from->queued)),
		.submitted_ns = rows_plausible(rows, rows_time_or_0(rows, clock, from->submitted)),
		.name = rows_string(rows, from->name),
		.grid_x = from->grid[0],
		.grid_y = from->grid[1],
		.grid_z = from->grid[2],
		.block_x = from->block[0],
		.block_y = from->block[1],
		.block_z = from->block[2],
		.cluster_x = from->cluster[0],
		.cluster_y = from->cluster[1],
		.cluster_z = from->cluster[2],
		.static_shared_bytes = from->static_shared_bytes,
		.dynamic_shared_bytes = from->dynamic_shared_bytes,
		.local_bytes_per_thread = from->local_bytes_per_thread,
		.channel = from->channel,
		.registers_per_thread = from->registers_per_thread,
		.launch_type = from->launch_type,
		.channel_type = from->channel_type,
	};
}

static void rows_memcpy(struct ts_rows *rows, const struct ts_record_memcpy *from,
			struct ts_row_memcpy *to)
{
	unsigned clock = from->record.clock;

	*to = (struct ts_row_memcpy){
		.start_ns = rows_time_or_0(rows, clock, from->record.time),
		.end_ns = rows_time_or_0(rows, clock, from->end),
		.op_id = from->op_id,
		.device = from->place.device,
		.context = from->place.context,
		.stream = from->place.stream,
		.graph = from->place.graph,
		.graph_node = from->place.graph_node,
		.bytes = from->bytes,
		.copy_count = from->copy_count,
		.src_device = from->src_device,
		.dst_device = from->dst_device,
		.copy_kind = from->copy_kind,
		.src_kind = from->src_kind,
		.dst_kind = from->dst_kind,
		.async = from->async,
		.channel = from->channel,
	};
}

static void rows_memset(struct ts_rows *rows, const struct ts_record_memset *from,
			struct ts_row_memset *to)
{
	unsigned clock = from->record.clock;

	*to = (struct ts_row_memset){
		.start_ns = rows_time_or_0(rows, clock, from->record.time),
		.end_ns = rows_time_or_0(rows, clock, from->end),
		.op_id = from->op_id,
		.device = from->place.device,
		.context = from->place.context,
		.stream = from->place.stream,
		.graph = from->place.graph,
		.graph_node = from->place.graph_node,
		.bytes = from->bytes,
		.value = from->value,
		.memory_kind = from->memory_kind,
		.async = from->async,
		.channel = from->channel,
	};
}

static void rows_sync(struct ts_rows *rows, const struct ts_record_sync *from,
		      struct ts_row_sync *to)
{
	*to = (struct ts_row_sync){
		.start_ns = rows_time_or_0(rows, from->record.clock, from->record.time),
		.end_ns = rows_time_or_0(rows, from->record.clock, from->end),
		.op_id = from->op_id,
		.sync_type = from->sync_type,
		.context = from->context,
		.stream = from->stream,
		.event = from->event,
		.result = from->result,
	};
}

static void rows_memory(struct ts_rows *rows, const struct ts_record_memory *from,
			struct ts_row_memory *to)
{
	*to = (struct ts_row_memory){
		.start_ns = rows_time_or_0(rows, from->record.clock, from->record.time),
		.op_id = from->op_id,
		.address = from->address,
		.bytes = from->bytes,
		.pool = from->pool,
		.device = from->device,
		.context = from->context,
		.stream = from->stream,
		.memory_kind = from->memory_kind,
		.async = from->async,
		.pool_bytes = from->pool_bytes,
		.pool_used_bytes = from->pool_used_bytes,
	};
}

static void rows_access(struct ts_rows *rows, const struct ts_record_access *from,
			struct ts_row_access *to)
{
	*to = (struct ts_row_access){
		.start_ns = rows_time(rows, from->record.clock, from->record.time),
		.op_id = from->op_id,
		.dst = from->dst,
		.src = from->src,
		.dst_bytes = from->dst_bytes,
		.src_bytes = from->src_bytes,
		.thread = rows->thread,
		.access = from->access,
	};
}

static void rows_event(struct ts_rows *rows, const struct ts_record_event *from,
		       struct ts_row_event *to)
{
	*to = (struct ts_row_event){
		.start_ns = rows_time(rows, from->record.clock, from->record.time),
		.op_id = from->op_id,
		.event = from->event,
		.stream_handle = from->stream_handle,
		.context = from->context,
		.stream = from->stream,
		.event_flags = from->event_flags,
		.thread = rows->thread,
	};
}

static void rows_stream_wait(struct ts_rows *rows, const struct ts_record_event *from,
			     struct ts_row_stream_wait *to)
{
	*to = (struct ts_row_stream_wait){
		.start_ns = rows_time(rows, from->record.clock, from->record.time),
		.op_id = from->op_id,
		.event = from->event,
		.stream_handle = from->stream_handle,
		.context = from->context,
		.stream = from->stream,
		.event_flags = from->event_flags,
		.thread = rows->thread,
	};
}

static void rows_stream(struct ts_rows *rows, const struct ts_record_object *from,
			struct ts_row_stream *to)
{
	*to = (struct ts_row_stream){
		.start_ns = rows_time(rows, from->record.clock, from->record.time),
		.handle = from->handle,
		.device = from->device,
		.context = from->context,
		.stream = from->stream,
		.priority = from->priority,
		.stream_flags = from->object_flags,
		.thread = rows->thread,
		.action = from->action,
	};
}

static void rows_context(struct ts_rows *rows, const struct ts_record_object *from,
			 struct ts_row_context *to)
{
	*to = (struct ts_row_context){
		.start_ns = rows_time(rows, from->record.clock, from->record.time),
		.handle = from->handle,
		.device = from->device,
		.context = from->context,
		.thread = rows->thread,
		.action = from->action,
	};
}

static void rows_graph_launch(struct ts_rows *rows, const struct ts_record_graph_launch *from,
			      struct ts_row_graph_launch *to)
{
	*to = (struct ts_row_graph_launch){
		.start_ns = rows_time(rows, from->record.clock, from->record.time),
		.op_id = from->op_id,
		.graph_exec = from->graph_exec,
		.stream_handle = from->stream_handle,
		.context = from->context,
		.stream = from->stream,
		.graph = from->graph,
		.thread = rows->thread,
	};
}

static void rows_mark(struct ts_rows *rows, const struct ts_record_annotation *from,
		      struct ts_row_mark *to)
{
	*to = (struct ts_row_mark){
		.start_ns = rows_time(rows, from->record.clock, from->record.time),
		.payload = from->payload,
		.name = rows_string(rows, from->name),
		.domain = rows_string(rows, from->domain),
		.category = from->category,
		.color = from->color,
		.stack = rows_stack(rows, from->stack),
		.thread = rows->thread,
		.payload_type = from->payload_type,
	};
}

static void rows_range(struct ts_rows *rows, const struct ts_record_range *from,
		       struct ts_row_range *to)
{
	const struct ts_record_annotation *begun = &from->as_begun;
	unsigned clock = begun->record.clock;

	*to = (struct ts_row_range){
		.start_ns = rows_time(rows, clock, begun->record.time),
		.end_ns = rows_time_or_0(rows, clock, from->end),
		.range_id = begun->range_id,
		.payload = begun->payload,
		.name = rows_string(rows, begun->name),
		.domain = rows_string(rows, begun->domain),
		.category = begun->category,
		.color = begun->color,
		.stack = rows_stack(rows, begun->stack),
		.thread = from->begin_thread
				  ? ts_id_map_get(&rows->ids->threads, from->begin_thread)
				  : rows->thread,
		.payload_type = begun->payload_type,
		.action = begun->action,
		.level = begun->level,
		.end_thread = rows->thread,
	};
}

static void rows_range_begin(struct ts_rows *rows, const struct ts_record_annotation *from,
			     struct ts_row_range_begin *to)
{
	*to = (struct ts_row_range_begin){
		.start_ns = rows_time(rows, from->record.clock, from->record.time),
		.range_id = from->range_id,
		.payload = from->payload,
		.name = rows_string(rows, from->name),
		.domain = rows_string(rows, from->domain),
		.category = from->category,
		.color = from->color,
		.stack = rows_stack(rows, from->stack),
		.thread = rows->thread,
		.payload_type = from->payload_type,
		.action = from->action,
		.level = from->level,
	};
}

static void rows_counter(struct ts_rows *rows, const struct ts_record_counter *from,
			 struct ts_row_counter *to)
{
	*to = (struct ts_row_counter){
		.start_ns = rows_time(rows, from->record.clock, from->record.time),
		.value = from->value,
		.integer = from->integer,
		.name = rows_string(rows, from->name),
		.domain = rows_string(rows, from->domain),
		.thread = rows->thread,
		.value_type = from->value_type,
	};
}

/*
 * One instant on two clocks, of which one can be converted already; CUPTI's clock is learnt from
 * here. The host's own clock is not: its pairs are the daemon's.
 */
static int rows_clock(struct ts_rows *rows, const struct ts_record_clock *from,
		      struct ts_row_clock *to)
{
	unsigned known = from->record.clock, other = from->other_clock;
	uint64_t known_ticks = from->record.time, other_ticks = from->other_time;

	if (known == TS_CLOCK_CUPTI || !rows_clock_usable(rows, known)) {
		known = from->other_clock;
		known_ticks = from->other_time;
		other = from->record.clock;
		other_ticks = from->record.time;
	}
	if (known == TS_CLOCK_CUPTI || !rows_clock_usable(rows, known) || !other ||
	    other >= TS_CLOCK_COUNT)
		return TS_ROWS_E_BAD;
	*to = (struct ts_row_clock){
		.start_ns = rows_time(rows, known, known_ticks),
		.ticks = other_ticks,
		.error_ns = from->error_ns,
		.clock = other,
	};
	if (other == TS_CLOCK_CUPTI && rows->clocks[TS_CLOCK_CUPTI]) {
		struct ts_clock_pair pair = {other_ticks, to->start_ns, from->error_ns};

		ts_clock_table_add(rows->clocks[TS_CLOCK_CUPTI], &pair);
	}
	return 0;
}

static int rows_loss(struct ts_rows *rows, const struct ts_record_loss *from,
		     struct ts_row_loss *to)
{
	if (!from->reason || from->reason >= TS_LOSS_COUNT)
		return TS_ROWS_E_BAD;
	*to = (struct ts_row_loss){
		.start_ns = rows_time_or_0(rows, from->record.clock, from->record.time),
		.end_ns = rows_time_or_0(rows, from->record.clock, from->end),
		.count = from->count,
		.reason = from->reason,
		.context = from->context,
		.thread = rows->thread,
	};
	return 0;
}

static void rows_overhead(struct ts_rows *rows, const struct ts_record_overhead *from,
			  struct ts_row_overhead *to)
{
	*to = (struct ts_row_overhead){
		.start_ns = rows_time_or_0(rows, from->record.clock, from->record.time),
		.end_ns = rows_time_or_0(rows, from->record.clock, from->end),
		.overhead_kind = from->overhead_kind,
		.object_kind = from->object_kind,
		.object = from->object,
	};
}

static void rows_gpu_module(struct ts_rows *rows, const struct ts_record_gpu_module *from,
			    struct ts_row_gpu_module *to)
{
	*to = (struct ts_row_gpu_module){
		.start_ns = rows_time(rows, from->record.clock, from->record.time),
		.bytes = from->bytes,
		.module = from->module,
		.context = from->context,
		.action = from->action,
		.thread = rows->thread,
	};
}

static void rows_yield(struct ts_rows *rows, const struct ts_record_yield *from,
		       struct ts_row_yield *to)
{
	*to = (struct ts_row_yield){
		.start_ns = rows_time(rows, from->record.clock, from->record.time),
		.to = rows_string(rows, from->to),
		.yielded = from->yielded,
		.thread = rows->thread,
	};
}

static void rows_pause(struct ts_rows *rows, const struct ts_record_pause *from,
		       struct ts_row_pause *to)
{
	*to = (struct ts_row_pause){
		.start_ns = rows_time(rows, from->record.clock, from->record.time),
		.paused = from->paused,
		.cause = from->cause,
		.thread = rows->thread,
	};
}

static const uint8_t rows_record_bytes[TS_RECORD_COUNT] = {
	[TS_RECORD_API] = sizeof(struct ts_record_api),
	[TS_RECORD_KERNEL] = sizeof(struct ts_record_kernel),
	[TS_RECORD_MEMCPY] = sizeof(struct ts_record_memcpy),
	[TS_RECORD_MEMSET] = sizeof(struct ts_record_memset),
	[TS_RECORD_SYNC] = sizeof(struct ts_record_sync),
	[TS_RECORD_ALLOC] = sizeof(struct ts_record_memory),
	[TS_RECORD_FREE] = sizeof(struct ts_record_memory),
	[TS_RECORD_EVENT] = sizeof(struct ts_record_event),
	[TS_RECORD_STREAM_WAIT] = sizeof(struct ts_record_event),
	[TS_RECORD_STREAM] = sizeof(struct ts_record_object),
	[TS_RECORD_CONTEXT] = sizeof(struct ts_record_object),
	[TS_RECORD_GRAPH_LAUNCH] = sizeof(struct ts_record_graph_launch),
	[TS_RECORD_MARK] = sizeof(struct ts_record_annotation),
	[TS_RECORD_RANGE] = sizeof(struct ts_record_range),
	[TS_RECORD_COUNTER] = sizeof(struct ts_record_counter),
	[TS_RECORD_CLOCK] = sizeof(struct ts_record_clock),
	[TS_RECORD_LOSS] = sizeof(struct ts_record_loss),
	[TS_RECORD_OVERHEAD] = sizeof(struct ts_record_overhead),
	[TS_RECORD_GPU_MODULE] = sizeof(struct ts_record_gpu_module),
	[TS_RECORD_YIELD] = sizeof(struct ts_record_yield),
	[TS_RECORD_RANGE_BEGIN] = sizeof(struct ts_record_annotation),
	[TS_RECORD_PAUSE] = sizeof(struct ts_record_pause),
	[TS_RECORD_ACCESS] = sizeof(struct ts_record_access),
};

/* A row's number on disk is its record's in the ring. */
TS_STATIC_ASSERT((int)TS_RECORD_PAUSE == (int)TS_ROW_PAUSE, "in the same order");
TS_STATIC_ASSERT((int)TS_RECORD_ACCESS == (int)TS_ROW_ACCESS, "after those without a record");

static int rows_fill(struct ts_rows *rows, const struct ts_record *record,
		     union ts_row_any *ret_row)
{
	/* The largest record's room: for one that an older writer made shorter. */
	uint64_t padded[sizeof(struct ts_record_kernel) / 8];
	const void *from = record;
	size_t n_fixed = record->n_fixed_words * (size_t)8, n_known;

	if (ts_unlikely(record->type >= TS_RECORD_COUNT))
		return TS_ROWS_E_UNKNOWN;
	n_known = rows_record_bytes[record->type];
	if (ts_unlikely(n_fixed < n_known)) {
		memcpy(padded, record, n_fixed);
		memset((uint8_t *)padded + n_fixed, 0, n_known - n_fixed);
		from = padded;
	}
	if (record->type == TS_RECORD_CLOCK)
		return rows_clock(rows, from, &ret_row->clock);
	if (ts_unlikely(!rows_clock_usable(rows, record->clock)))
		return TS_ROWS_E_BAD;
	switch ((enum ts_record_type)record->type) {
	case TS_RECORD_API:
		rows_api(rows, from, &ret_row->api);
		return 0;
	case TS_RECORD_KERNEL:
		rows_kernel(rows, from, &ret_row->kernel);
		return 0;
	case TS_RECORD_MEMCPY:
		rows_memcpy(rows, from, &ret_row->memcpy_);
		return 0;
	case TS_RECORD_MEMSET:
		rows_memset(rows, from, &ret_row->memset_);
		return 0;
	case TS_RECORD_SYNC:
		rows_sync(rows, from, &ret_row->sync);
		return 0;
	case TS_RECORD_ALLOC:
	case TS_RECORD_FREE:
		rows_memory(rows, from, &ret_row->memory);
		return 0;
	case TS_RECORD_EVENT:
		rows_event(rows, from, &ret_row->event);
		return 0;
	case TS_RECORD_STREAM_WAIT:
		rows_stream_wait(rows, from, &ret_row->stream_wait);
		return 0;
	case TS_RECORD_STREAM:
		rows_stream(rows, from, &ret_row->stream);
		return 0;
	case TS_RECORD_CONTEXT:
		rows_context(rows, from, &ret_row->context);
		return 0;
	case TS_RECORD_GRAPH_LAUNCH:
		rows_graph_launch(rows, from, &ret_row->graph_launch);
		return 0;
	case TS_RECORD_MARK:
		rows_mark(rows, from, &ret_row->mark);
		return 0;
	case TS_RECORD_RANGE:
		rows_range(rows, from, &ret_row->range);
		return 0;
	case TS_RECORD_COUNTER:
		rows_counter(rows, from, &ret_row->counter);
		return 0;
	case TS_RECORD_LOSS:
		return rows_loss(rows, from, &ret_row->loss);
	case TS_RECORD_OVERHEAD:
		rows_overhead(rows, from, &ret_row->overhead);
		return 0;
	case TS_RECORD_GPU_MODULE:
		rows_gpu_module(rows, from, &ret_row->gpu_module);
		return 0;
	case TS_RECORD_YIELD:
		rows_yield(rows, from, &ret_row->yield);
		return 0;
	case TS_RECORD_RANGE_BEGIN:
		rows_range_begin(rows, from, &ret_row->range_begin);
		return 0;
	case TS_RECORD_PAUSE:
		rows_pause(rows, from, &ret_row->pause);
		return 0;
	case TS_RECORD_ACCESS:
		rows_access(rows, from, &ret_row->access);
		return 0;
	case TS_RECORD_PAD:
	case TS_RECORD_CLOCK:
	case TS_RECORD_COUNT:
		break;
	}
	return TS_ROWS_E_UNKNOWN;
}

/* As it was told: ts_row_end_ns() would set one right that lies before the start. */
static uint64_t rows_raw_end(const union ts_row_any *row)
{
	return row->api.end_ns;
}

TS_ASSERT_FIELD(struct ts_row_api, end_ns, 8);

/* Its two halves are joined only once the row is known to be good. */
static void rows_join(struct ts_rows *rows, unsigned type, union ts_row_any *row)
{
	switch (type) {
	case TS_RECORD_API:
		ts_join_api(rows->join, row->api.op_id, row->api.nested_op_id,
			    row->api.flags & TS_API_EXPECTS_DEVICE);
		break;
	case TS_RECORD_KERNEL:
		row->kernel.op_id = ts_join_device(rows->join, row->kernel.op_id);
		break;
	case TS_RECORD_MEMCPY:
		row->memcpy_.op_id = ts_join_device(rows->join, row->memcpy_.op_id);
		break;
	case TS_RECORD_MEMSET:
		row->memset_.op_id = ts_join_device(rows->join, row->memset_.op_id);
		break;
	default:
		break;
	}
}

int ts_rows_convert(struct ts_rows *rows, const struct ts_record *record, union ts_row_any *ret_row)
{
	const struct ts_row_schema *schema;
	int r = rows_fill(rows, record, ret_row);

	if (r)
		return r;
	schema = ts_row_schema(record->type);
	r = rows_check_times(rows, ts_row_start_ns(ret_row),
			     schema->has_end ? rows_raw_end(ret_row) : 0);
	if (!r)
		rows_join(rows, record->type, ret_row);
	return r;
}

int ts_rows_operation(struct ts_rows *rows, const struct ts_record_operation *from,
		      struct ts_row_operation *ret_row)
{
	uint64_t start_ns;

	if (!rows_clock_usable(rows, from->record.clock))
		return TS_ROWS_E_BAD;
	start_ns = rows_plausible(rows, rows_time(rows, from->record.clock, from->record.time));
	*ret_row = (struct ts_row_operation){
		.start_ns = start_ns ? start_ns : rows->latest_ns,
		.sequence = from->sequence,
		.op_id = from->op_id,
		.object = from->object,
		.parent = from->parent,
		.stream_handle = from->stream,
		.dst = from->dst,
		.src = from->src,
		.bytes = from->bytes,
		.height = from->height,
		.depth = from->depth,
		.dst_pitch = from->dst_pitch,
		.src_pitch = from->src_pitch,
		.dst_slice = from->dst_slice,
		.src_slice = from->src_slice,
		.value = from->value,
		.kind = from->kind,
		.flags = from->operation_flags,
		.thread = ts_id_map_get(&rows->ids->threads, from->thread),
		.context = from->context,
		.device = from->device,
		.name = rows_string(rows, from->name),
		.content = from->content,
		.shared_bytes = from->shared_bytes,
		.grid_x = from->grid[0],
		.grid_y = from->grid[1],
		.grid_z = from->grid[2],
		.block_x = from->block[0],
		.block_y = from->block[1],
		.block_z = from->block[2],
	};
	return 0;
}
