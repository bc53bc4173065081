/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events: records in streams, waits of streams and threads, and the time between two events.
 * Programs call this file through the functions of generated-cuda-event.h; this file calls
 * vgpu-event.c.
 */
#include "tools/vgpu/cuda/graph/graph.h"
#include "tools/vgpu/cuda/work.h"

static int event_create(void **event, uint32_t flags)
{
	struct context *context;
	struct event *made;
	int r = context_current(&context);

	if (r)
		return r;
	if (!event || flags & ~(uint32_t)(TS_CU_EVENT_BLOCKING_SYNC | TS_CU_EVENT_DISABLE_TIMING |
					  TS_CU_EVENT_INTERPROCESS))
		return TS_CU_ERROR_INVALID_VALUE;
	if (flags & TS_CU_EVENT_INTERPROCESS)
		return NOT_SERVED("events of several processes (IPC)", ON_A_REAL_GPU);
	made = handle_new(HANDLE_EVENT, sizeof(*made));
	if (!made)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	r = ts_vgpu_event_new(driver.vgpu, &made->vevent);
	if (r) {
		handle_free(made, sizeof(*made));
		return result_of(r);
	}
	made->context = context;
	made->flags = flags;
	pthread_mutex_lock(&driver.lock);
	made->id = ++driver.next_event_id;
	made->next = context->events;
	made->prev = &context->events;
	if (made->next)
		made->next->prev = &made->next;
	context->events = made;
	pthread_mutex_unlock(&driver.lock);
	*event = made;
	return 0;
}

static int record(void *event, void *stream, bool external)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct ts_vgpu_operation *op = NULL;
	struct stream *capturing;
	struct event *e;
	int r = event_get(event, &e);

	if (!r)
		r = stream_work(stream, &context, &vstream, &capturing);
	if (r)
		return r;
	if (e->context != context)
		return TS_CU_ERROR_INVALID_HANDLE;
	if (capturing)
		return stream_capture_record(capturing, e, external);
	stream_capture_forget_event(e);
	/* An operation for HIP's tracer only: CUPTI reports no work of the device for it. */
	if (driver.is_contained)
		op = report_operation(context, ts_vgpu_stream_id(vstream));
	if (op)
		op->kind = TS_CUPTI_ACTIVITY_KIND_CUDA_EVENT;
	report_submit(op);
	r = result_of(ts_vgpu_event_record(e->vevent, vstream, (uint64_t)(uintptr_t)op));
	if (r)
		report_cancel(op);
	return r;
}

static int event_record(void *event, void *stream)
{
	return record(event, stream, false);
}

static int event_record_with_flags(void *event, void *stream, uint32_t flags)
{
	if (flags & ~(uint32_t)TS_CU_EVENT_RECORD_EXTERNAL)
		return TS_CU_ERROR_INVALID_VALUE;
	return record(event, stream, flags & TS_CU_EVENT_RECORD_EXTERNAL);
}

static int event_query(void *event)
{
	struct event *e;
	int r = event_get(event, &e);

	if (!r)
		r = stream_capture_ask_event(e);
	if (!r)
		r = stream_capture_unsafe();
	return r ? r : result_of(ts_vgpu_event_query(e->vevent));
}

static int event_synchronize(void *event)
{
	struct event *e;
	uint64_t start;
	int r = event_get(event, &e);

	if (!r)
		r = stream_capture_ask_event(e);
	if (!r)
		r = stream_capture_unsafe();
	if (r)
		return r;
	start = ts_vgpu_now_ns();
	r = result_of(ts_vgpu_event_synchronize(e->vevent));
	report_wait(TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, e->context,
		    TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE, NULL, e->id, start, r);
	return r;
}

static void event_delete(struct event *e)
{
	stream_capture_forget_event(e);
	pthread_mutex_lock(&driver.lock);
	*e->prev = e->next;
	if (e->next)
		e->next->prev = e->prev;
	pthread_mutex_unlock(&driver.lock);
	ts_vgpu_event_free(e->vevent);
	handle_free(e, sizeof(*e));
}

void events_destroy(struct context *context)
{
	while (context->events)
		event_delete(context->events);
}

static int event_destroy(void *event)
{
	struct event *e;
	int r = event_get(event, &e);

	if (!r)
		event_delete(e);
	return r;
}

static int event_elapsed_time(float *milliseconds, void *start, void *end)
{
	struct event *from, *to;
	uint64_t from_ns, to_ns;
	int r = event_get(start, &from);

	if (!r)
		r = event_get(end, &to);
	if (r)
		return r;
	if (!milliseconds)
		return TS_CU_ERROR_INVALID_HANDLE; /* as NVIDIA's driver */
	if ((from->flags | to->flags) & TS_CU_EVENT_DISABLE_TIMING || from->context != to->context)
		return TS_CU_ERROR_INVALID_HANDLE;
	r = stream_capture_ask_event(from);
	if (!r)
		r = stream_capture_ask_event(to);
	if (r)
		return r;
	r = ts_vgpu_event_time(from->vevent, &from_ns);
	if (!r)
		r = ts_vgpu_event_time(to->vevent, &to_ns);
	if (r)
		return result_of(r);
	*milliseconds = (float)((double)((int64_t)(to_ns - from_ns)) / 1e6);
	return 0;
}

static int stream_wait_event(void *stream, void *event, uint32_t flags)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct stream *capturing;
	struct event *e;
	uint64_t start;
	bool captured;
	int r = event_get(event, &e);

	if (!r)
		r = stream_work(stream, &context, &vstream, &capturing);
	if (r)
		return r;
	if (flags & ~(uint32_t)TS_CU_EVENT_WAIT_EXTERNAL)
		return TS_CU_ERROR_INVALID_VALUE;
	start = ts_vgpu_now_ns();
	r = stream_capture_wait(stream, context, capturing, e, flags, &captured);
	if (r)
		return r;
	/* A wait that goes into a graph is also reported. */
	if (!captured)
		r = result_of(ts_vgpu_stream_wait(vstream, e->vevent, 0));
	report_wait(TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, context,
		    ts_vgpu_stream_id(vstream), stream, e->id, start, r);
	return r;
}

#include "tools/vgpu/generated-cuda-event.h"
