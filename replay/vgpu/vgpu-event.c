/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events. An event refers to its latest record. A wait, query or time concerns the record that is
 * the latest at the time of the call. Therefore each record creates a mark, which outlives a newer
 * record. The event facade, graph launches and replay/exec/vgpu call this file; this file queues
 * operations through vgpu-stream.c.
 */
#include <errno.h>
#include <stdlib.h>

#include "replay/vgpu/vgpu-internal.h"

int ts_vgpu_event_new(struct ts_vgpu *vgpu, struct ts_vgpu_event **ret_event)
{
	struct ts_vgpu_event *event = calloc(1, sizeof(*event));

	if (!event)
		return -ENOMEM;
	event->vgpu = vgpu;
	*ret_event = event;
	return 0;
}

void ts_vgpu_event_free(struct ts_vgpu_event *event)
{
	struct ts_vgpu *vgpu;

	if (!event)
		return;
	vgpu = event->vgpu;
	ts_vgpu_lock(vgpu);
	ts_vgpu_mark_unref(vgpu, event->mark);
	ts_vgpu_unlock(vgpu);
	free(event);
}

int ts_vgpu_event_record(struct ts_vgpu_event *event, struct ts_vgpu_stream *stream, uint64_t tag)
{
	struct ts_vgpu *vgpu = event->vgpu;
	struct ts_vgpu_mark *mark;
	struct ts_vgpu_op *op;
	int r;

	ts_vgpu_lock(vgpu);
	mark = ts_vgpu_mark_get(vgpu);
	r = mark ? ts_vgpu_stream_begin(stream, &op) : -ENOMEM;
	if (r) {
		ts_vgpu_mark_unref(vgpu, mark);
		ts_vgpu_unlock(vgpu);
		return r;
	}
	ts_vgpu_mark_unref(vgpu, event->mark);
	event->mark = mark;
	event->version++;
	mark->refs++;
	mark->stream = stream;
	mark->stream_id = stream->id;
	mark->device = stream->device;
	mark->seq = stream->n_queued + 1;
	op->done.kind = TS_VGPU_OP_RECORD;
	op->done.user = event;
	op->done.tag = tag;
	op->u.mark = mark;
	ts_vgpu_stream_push(stream, op);
	ts_vgpu_unlock(vgpu);
	return 0;
}

int ts_vgpu_event_query(struct ts_vgpu_event *event)
{
	struct ts_vgpu *vgpu = event->vgpu;
	int r = 0;

	ts_vgpu_lock(vgpu);
	if (vgpu->without_workers && event->mark && !event->mark->done)
		ts_vgpu_work(event->mark->stream->device);
	if (event->mark && !event->mark->done) {
		event->mark->stream->polled = true;
		ts_vgpu_worker_kick(event->mark->stream->device);
		r = TS_VGPU_E_NOT_READY;
	}
	ts_vgpu_unlock(vgpu);
	return r;
}

/*
 * Waits for a record of an event. If work before the record faulted, returns this fault to the
 * waiting thread.
 */
static int wait_mark(const struct ts_vgpu_mark *mark)
{
	struct ts_vgpu_context *context = mark->stream->context;
	int r;

	/* The wait releases the lock; the pin keeps the context. */
	context->pins++;
	r = ts_vgpu_stream_wait_seq(mark->stream, mark->seq);
	if (!r)
		r = ts_vgpu_context_fault(context);
	if (!--context->pins)
		pthread_cond_broadcast(&context->device->vgpu->report_cond);
	return r;
}

int ts_vgpu_event_synchronize(struct ts_vgpu_event *event)
{
	struct ts_vgpu *vgpu = event->vgpu;
	int r = 0;

	ts_vgpu_lock(vgpu);
	if (event->mark) {
		struct ts_vgpu_device *device = event->mark->device;

		if (!event->mark->done)
			r = wait_mark(event->mark);
		ts_vgpu_pools_settle(device);
	}
	ts_vgpu_unlock(vgpu);
	ts_vgpu_flush(vgpu);
	return r;
}

int ts_vgpu_event_time(struct ts_vgpu_event *event, uint64_t *ret_ns)
{
	struct ts_vgpu *vgpu = event->vgpu;
	int r = 0;

	ts_vgpu_lock(vgpu);
	if (!event->mark)
		r = TS_VGPU_E_NOT_RECORDED;
	else if (!event->mark->done)
		r = TS_VGPU_E_NOT_READY;
	else
		*ret_ns = event->mark->time_ns;
	ts_vgpu_unlock(vgpu);
	return r;
}

uint64_t ts_vgpu_event_version(const struct ts_vgpu_event *event)
{
	return event->version;
}

/*
 * Notes that the stream waits for another stream's record. Each other stream has at most one entry;
 * if all entries are used, the oldest one is replaced.
 */
static void note_behind(struct ts_vgpu_stream *stream, const struct ts_vgpu_mark *mark)
{
	unsigned at = 0;

	while (at < TS_VGPU_MAX_BEHIND && stream->behind[at].stream_id != mark->stream_id)
		at++;
	if (at == TS_VGPU_MAX_BEHIND) {
		at = stream->next_behind++ % TS_VGPU_MAX_BEHIND;
		stream->behind[at].stream_id = mark->stream_id;
		stream->behind[at].seq = 0;
	}
	stream->behind[at].seq = ts_vgpu_max(stream->behind[at].seq, mark->seq);
}

int ts_vgpu_stream_wait(struct ts_vgpu_stream *stream, struct ts_vgpu_event *event, uint64_t tag)
{
	struct ts_vgpu *vgpu = event->vgpu;
	struct ts_vgpu_op *op;
	int r = 0;

	ts_vgpu_lock(vgpu);
	if (event->mark)
		note_behind(stream, event->mark);
	if (event->mark && !event->mark->done) {
		/* begin() may release the lock: keep the current record. */
		struct ts_vgpu_mark *mark = event->mark;

		mark->refs++;
		r = ts_vgpu_stream_begin(stream, &op);
		if (r) {
			ts_vgpu_mark_unref(vgpu, mark);
		} else {
			op->done.kind = TS_VGPU_OP_WAIT;
			op->done.user = event;
			op->done.tag = tag;
			op->u.mark = mark;
			ts_vgpu_stream_push(stream, op);
		}
	}
	ts_vgpu_unlock(vgpu);
	return r;
}
