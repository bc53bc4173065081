/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures copies, their contents, and host memory that kernels can access. The other files of this
 * folder that capture calls, and window.c, call this file. This file calls lane.c and
 * capture-memory.c.
 *
 * A copy from the host carries the source bytes. A copy to the host carries its result, which
 * exists only after the copy ends:
 * - A synchronous copy has ended when the call returns, so its operation holds the result.
 * - An asynchronous copy waits in the `pending` array until the application waits for it (stream,
 *   event or context). At the exit of that wait, before the application continues, the RESULT
 *   operation is put.
 * - A pending copy has no result if the application never waits for it, or overwrites or frees its
 *   target first. A replay repeats such a copy and compares nothing.
 */
#include "inject/capture/capture.h"
#include "inject/context.h"

struct pending {
	uint64_t sequence;
	uint64_t stream;
	uint64_t start; /* first byte of the target */
	uint64_t bytes; /* size of the target, gaps included */
	size_t width, height, depth, pitch, slice;
	uint32_t context;
	uint32_t thread; /* owner of a per-thread stream; else 0 */
};

struct event {
	/* sequence number of the event's last TS_OPERATION_EVENT_RECORD; 0: none */
	uint64_t sequence;
	uint64_t stream;
	uint32_t context;
	uint32_t thread;
};

static uint32_t thread_of(const struct ts_record_operation *operation)
{
	return operation->stream == TS_OPERATION_STREAM_PER_THREAD ? operation->thread : 0;
}

static struct pending *pending_of(struct ts_capture *capture)
{
	return (struct pending *)(void *)capture->pending.at;
}

static void drop(struct ts_capture *capture, size_t i)
{
	struct pending *all = pending_of(capture);

	memmove(&all[i], &all[i + 1], (capture->n_pending - i - 1) * sizeof(*all));
	capture->n_pending--;
}

void ts_capture_forget(struct ts_capture *capture, uint64_t start, uint64_t bytes)
{
	for (size_t i = capture->n_pending; i-- > 0;) {
		const struct pending *one = &pending_of(capture)[i];

		if (one->start < start + bytes && start < one->start + one->bytes)
			drop(capture, i);
	}
}

static void add_pending(struct ts_capture *capture, const struct ts_record_operation *operation,
			uint64_t sequence)
{
	struct pending one = {
		.sequence = sequence,
		.stream = operation->stream,
		.start = operation->dst,
		.bytes = operation->depth * operation->dst_slice,
		.width = operation->bytes,
		.height = operation->height,
		.depth = operation->depth,
		.pitch = operation->dst_pitch,
		.slice = operation->dst_slice,
		.context = operation->context,
		.thread = thread_of(operation),
	};

	/* An older pending copy to the same memory is overwritten and loses its result. */
	ts_capture_forget(capture, one.start, one.bytes);
	if (!ts_pages_grow(&capture->pending, (capture->n_pending + 1) * sizeof(one))) {
		ts_lane_end(&capture->lane, TS_LANE_NO_MEMORY);
		return;
	}
	pending_of(capture)[capture->n_pending++] = one;
}

/*
 * Puts the contents of host memory, from the first byte to the last. A known allocation is readable
 * until the shim sees its release. Other memory is read through process_vm_readv(). Its address may
 * be device memory that the shim did not see allocated. The target of a copy to pageable memory may
 * be unmapped before the application waits.
 */
static uint32_t content_of(struct ts_capture *capture, uint64_t start, size_t width, size_t height,
			   size_t depth, size_t pitch, size_t slice)
{
	uint64_t bytes = (depth - 1) * slice + (height - 1) * pitch + width;
	const struct ts_memory_range *range = ts_memory_map_find(&capture->memory, start);
	bool is_sure = range && range->flags && bytes <= range->bytes - (start - range->start);

	return ts_lane_content_rows(&capture->lane, (const uint8_t *)(uintptr_t)start, width,
				    height, depth, pitch, slice, is_sure);
}

static void put_result(struct ts_capture *capture, const struct ts_record_operation *waited,
		       const struct pending *one)
{
	struct ts_record_operation result = {
		.kind = TS_OPERATION_RESULT,
		.op_id = waited->op_id,
		.thread = waited->thread,
		.context = one->context,
		.parent = one->sequence,
	};

	result.content = content_of(capture, one->start, one->width, one->height, one->depth,
				    one->pitch, one->slice);
	if (result.content)
		(void)ts_lane_put(&capture->lane, &result);
}

/* True if the SYNC operation `waited` covers the work at `sequence` in a stream. */
static bool covers(const struct ts_record_operation *waited, const struct event *event,
		   uint64_t sequence, uint64_t stream, uint32_t context, uint32_t thread)
{
	/*
	 * Handles of created streams are unique across contexts; the two default streams are not.
	 */
	bool same_context = stream > TS_OPERATION_STREAM_PER_THREAD || waited->context == context;

	if (waited->operation_flags & TS_OPERATION_SYNC_CONTEXT)
		return waited->context == context;
	if (waited->operation_flags & TS_OPERATION_SYNC_STREAM)
		return waited->stream == stream && same_context && thread_of(waited) == thread;
	return event && event->sequence > sequence && event->stream == stream &&
	       (stream > TS_OPERATION_STREAM_PER_THREAD || event->context == context) &&
	       event->thread == thread;
}

static struct event *event_of(struct ts_capture *capture, uint64_t handle)
{
	uint32_t *number = ts_handles_get(&capture->event_numbers, handle);
	struct event *events;

	if (!number)
		return NULL;
	if (!*number) {
		if (!ts_pages_grow(&capture->events, (capture->n_events + 1) * sizeof(*events)))
			return NULL;
		*number = (uint32_t)++capture->n_events;
	}
	events = (struct event *)(void *)capture->events.at;
	return &events[*number - 1];
}

void ts_capture_event(struct ts_capture *capture, const struct ts_record_operation *recorded)
{
	struct event *event = event_of(capture, recorded->object);

	if (event)
		*event = (struct event){.sequence = recorded->sequence,
					.stream = recorded->stream,
					.context = recorded->context,
					.thread = thread_of(recorded)};
}

void ts_capture_results(struct ts_capture *capture, const struct ts_record_operation *waited)
{
	const struct event *event = waited->operation_flags & TS_OPERATION_SYNC_EVENT
					    ? event_of(capture, waited->object)
					    : NULL;
	struct ts_memory_range *ranges = (void *)capture->memory.pages.at;
	size_t i = 0;

	while (i < capture->n_pending) {
		struct pending one = pending_of(capture)[i];

		if (!covers(waited, event, one.sequence, one.stream, one.context, one.thread)) {
			i++;
			continue;
		}
		drop(capture, i);
		put_result(capture, waited, &one);
	}
	for (i = 0; i < capture->memory.n; i++)
		if (ranges[i].in_use &&
		    (waited->operation_flags & TS_OPERATION_SYNC_CONTEXT ||
		     (ranges[i].stream && covers(waited, event, ranges[i].in_use, ranges[i].stream,
						 waited->context, thread_of(waited)))))
			ranges[i].in_use = 0;
}

void ts_capture_host_memory(struct ts_capture *capture, const struct ts_record_operation *model,
			    struct ts_memory_range *range)
{
	struct ts_record_operation write = {
		.kind = TS_OPERATION_HOST_WRITE,
		.op_id = model->op_id,
		.thread = model->thread,
		.context = model->context,
		.dst = range->start,
		.bytes = range->bytes,
	};

	if (!range->flags || range->in_use)
		return;
	write.content = ts_lane_content(&capture->lane, (const void *)(uintptr_t)range->start,
					range->bytes);
	if (write.content && write.content != range->content)
		(void)ts_lane_put(&capture->lane, &write);
	range->content = write.content;
}

/*
 * True if `address`, the source or the target of the copy, is host memory in the view of the
 * device.
 */
static bool is_host(struct ts_capture *capture, const struct ts_record_operation *model,
		    const struct ts_capture_copy *copy, uint64_t address)
{
	struct ts_memory_range *range = ts_memory_map_find(&capture->memory, address);

	if (!range)
		return copy->unified;
	/* Managed memory counts as device memory; its current bytes are captured here. */
	if (range->flags & TS_OPERATION_MEMORY_MANAGED)
		ts_capture_host_memory(capture, model, range);
	return range->flags & TS_OPERATION_MEMORY_PINNED;
}

/*
 * Puts an operation that names a copy as unsupported, because the source cannot be read: memory
 * that was mapped, or that belongs to another process.
 */
static void unreadable(struct ts_capture *capture, const struct ts_record_operation *model)
{
	static const char what[] =
		"a copy from memory whose allocation was not recorded and that cannot be read";
	struct ts_record_operation operation = *model;

	operation.kind = TS_OPERATION_UNSUPPORTED;
	operation.name = ts_definitions_string(&capture->shim->definitions, what, sizeof(what) - 1);
	(void)ts_lane_put(&capture->lane, &operation);
}

bool ts_capture_copy_3d(const struct ts_cu_memcpy_3d *from, struct ts_capture_copy *ret_copy)
{
	bool src_host = from->src_memory_type == TS_CU_MEMORYTYPE_HOST;
	bool dst_host = from->dst_memory_type == TS_CU_MEMORYTYPE_HOST;
	struct ts_capture_copy copy = {
		.width = from->width_in_bytes,
		.height = from->height,
		.depth = from->depth,
		.src_pitch = from->src_pitch ?: from->width_in_bytes,
		.dst_pitch = from->dst_pitch ?: from->width_in_bytes,
		.src_host = src_host,
		.dst_host = dst_host,
		.unified = from->src_memory_type == TS_CU_MEMORYTYPE_UNIFIED ||
			   from->dst_memory_type == TS_CU_MEMORYTYPE_UNIFIED,
	};

	if (from->src_memory_type == TS_CU_MEMORYTYPE_ARRAY ||
	    from->dst_memory_type == TS_CU_MEMORYTYPE_ARRAY)
		return false;
	copy.src_slice = copy.src_pitch * (from->src_height ?: from->height);
	copy.dst_slice = copy.dst_pitch * (from->dst_height ?: from->height);
	copy.src = (src_host ? (uint64_t)(uintptr_t)from->src_host : from->src_device) +
		   from->src_z * copy.src_slice + from->src_y * copy.src_pitch +
		   from->src_x_in_bytes;
	copy.dst = (dst_host ? (uint64_t)(uintptr_t)from->dst_host : from->dst_device) +
		   from->dst_z * copy.dst_slice + from->dst_y * copy.dst_pitch +
		   from->dst_x_in_bytes;
	*ret_copy = copy;
	return true;
}

uint32_t ts_capture_copy_begins(struct ts_capture *capture, const struct ts_record_operation *model,
				const struct ts_capture_copy *copy, bool *ret_dst_host)
{
	const bool src_host = copy->src_host || is_host(capture, model, copy, copy->src);

	*ret_dst_host = copy->dst_host || is_host(capture, model, copy, copy->dst);
	if (!copy->width || !copy->height || !copy->depth || !src_host || *ret_dst_host)
		return 0;
	return content_of(capture, copy->src, copy->width, copy->height, copy->depth,
			  copy->src_pitch, copy->src_slice);
}

void ts_capture_copies(struct ts_capture *capture, const struct ts_record_operation *model,
		       const struct ts_capture_copy *copy)
{
	struct ts_record_operation operation = *model;
	uint64_t sequence;
	bool src_host, dst_host;

	if (ts_capture_is_captured(capture, model->stream))
		return;
	src_host = copy->src_host || is_host(capture, model, copy, copy->src);
	dst_host = copy->dst_host || is_host(capture, model, copy, copy->dst);

	/* A copy within host memory changes no device state. */
	if (!copy->width || !copy->height || !copy->depth || (src_host && dst_host))
		return;
	operation.kind = TS_OPERATION_COPY;
	operation.dst = copy->dst;
	operation.src = copy->src;
	operation.bytes = copy->width;
	operation.height = copy->height;
	operation.depth = copy->depth;
	operation.dst_pitch = copy->dst_pitch;
	operation.src_pitch = copy->src_pitch;
	operation.dst_slice = copy->dst_slice;
	operation.src_slice = copy->src_slice;
	operation.operation_flags |= (src_host ? TS_OPERATION_SRC_HOST : 0) |
				     (dst_host ? TS_OPERATION_DST_HOST : 0) |
				     (copy->async ? TS_OPERATION_ASYNC : 0);
	if (src_host)
		operation.content =
			copy->content
				?: content_of(capture, copy->src, copy->width, copy->height,
					      copy->depth, copy->src_pitch, copy->src_slice);
	else if (dst_host && !copy->async)
		operation.content = content_of(capture, copy->dst, copy->width, copy->height,
					       copy->depth, copy->dst_pitch, copy->dst_slice);
	if (src_host && !operation.content && ts_lane_goes_on(&capture->lane)) {
		unreadable(capture, model);
		return;
	}
	sequence = ts_lane_put(&capture->lane, &operation);
	if (sequence && dst_host && copy->async)
		add_pending(capture, &operation, sequence);
}
