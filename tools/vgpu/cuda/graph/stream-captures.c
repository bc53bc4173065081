/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The active captures and their streams. A stream that waits for an event of a capture joins the
 * capture. At the end all streams must lead back to the origin stream:
 *
 *     begin(s1) -> s1: A -> record e1 -----------> wait e2 -> end(s1)
 *                               |                     ^
 *                  s2:          '-> wait e1 -> B -> record e2
 *
 * Work that a graph cannot repeat is rejected and invalidates the capture, so that no program
 * launches a graph without that work. Calls that query, wait or destroy call this file, and so do
 * the other capture files.
 */
#include <stdlib.h>

#include "replay/streams/streams.h"
#include "tools/vgpu/cuda/graph/stream-capture.h"

_Atomic uint32_t n_stream_captures;

/* Under graph_lock. */
static struct stream_capture *stream_captures;
static uint64_t last_id;

uint64_t stream_capture_this_thread(void)
{
	static _Atomic uint64_t last;
	static __thread uint64_t self;

	if (!self)
		self = 1 + atomic_fetch_add_explicit(&last, 1, memory_order_relaxed);
	return self;
}

static __thread int32_t thread_mode = TS_CU_STREAM_CAPTURE_MODE_GLOBAL;

int32_t stream_capture_exchange_mode(int32_t mode)
{
	int32_t before = thread_mode;

	thread_mode = mode;
	return before;
}

static struct stream_capture *stream_capture_of_id_locked(uint64_t id)
{
	struct stream_capture *stream_capture = stream_captures;

	while (stream_capture && stream_capture->id != id)
		stream_capture = stream_capture->next;
	return stream_capture;
}

static void leave_locked(struct stream *stream)
{
	stream->stream_capture = NULL;
	stream->stream_capture_next = NULL;
	list_deinit(&stream->stream_capture_deps);
}

static void join_locked(struct stream_capture *stream_capture, struct stream *stream)
{
	stream->stream_capture = stream_capture;
	stream->stream_capture_next = stream_capture->streams;
	stream_capture->streams = stream;
}

void stream_capture_add_locked(struct stream_capture *stream_capture, struct stream *origin)
{
	stream_capture->id = ++last_id;
	stream_capture->origin = origin;
	join_locked(stream_capture, origin);
	stream_capture->next = stream_captures;
	stream_captures = stream_capture;
	atomic_fetch_add_explicit(&n_stream_captures, 1, memory_order_relaxed);
	stream_capture->graph->n_stream_captures++;
}

void stream_capture_free_locked(struct stream_capture *stream_capture, bool keep)
{
	struct stream *stream, *next;

	for (stream = stream_capture->streams; stream; stream = next) {
		next = stream->stream_capture_next;
		leave_locked(stream);
	}
	for (struct stream_capture **at = &stream_captures; *at; at = &(*at)->next)
		if (*at == stream_capture) {
			*at = stream_capture->next;
			break;
		}
	atomic_fetch_sub_explicit(&n_stream_captures, 1, memory_order_relaxed);
	stream_capture->graph->n_stream_captures--;
	if (!keep && !stream_capture->given)
		graph_free_locked(stream_capture->graph);
	free(stream_capture);
}

int stream_capture_check_legacy_locked(const struct context *context, bool spoil)
{
	int r = 0;

	for (struct stream_capture *c = stream_captures; c; c = c->next)
		for (const struct stream *s = c->streams; s; s = s->stream_capture_next) {
			const struct ts_stream_kind kind =
				ts_stream_created(ts_vgpu_stream_flags(s->vstream));

			if (s->context != context || !ts_stream_is_tied_to_legacy(&kind))
				continue;
			c->spoiled |= spoil;
			r = TS_CU_ERROR_STREAM_CAPTURE_IMPLICIT;
		}
	return r;
}

int stream_capture_refuse(struct stream *stream)
{
	pthread_mutex_lock(&graph_lock);
	if (stream->stream_capture)
		stream->stream_capture->spoiled = true;
	pthread_mutex_unlock(&graph_lock);
	return TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

void stream_capture_forget_event(struct event *event)
{
	if (!event->stream_capture_id)
		return;
	pthread_mutex_lock(&graph_lock);
	event->stream_capture_id = 0;
	list_deinit(&event->stream_capture_deps);
	pthread_mutex_unlock(&graph_lock);
}

int stream_capture_wait_locked(struct stream *stream, const struct event *event)
{
	struct stream_capture *stream_capture =
		stream_capture_of_id_locked(event->stream_capture_id);
	int r = 0;

	/* An event of an ended capture cannot join another capture. */
	if (!stream_capture) {
		if (stream && stream->stream_capture)
			stream->stream_capture->spoiled = true;
		return stream && stream->stream_capture ? TS_CU_ERROR_STREAM_CAPTURE_ISOLATION
							: TS_CU_ERROR_CAPTURED_EVENT;
	}
	if (stream_capture->spoiled)
		return TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (!stream) {
		stream_capture->spoiled = true;
		return TS_CU_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	if (stream->stream_capture && stream->stream_capture != stream_capture) {
		stream->stream_capture->spoiled = true;
		stream_capture->spoiled = true;
		return TS_CU_ERROR_STREAM_CAPTURE_MERGE;
	}
	if (!stream->stream_capture)
		join_locked(stream_capture, stream);
	for (size_t i = 0; !r && i < event->stream_capture_deps.n; i++)
		if (!list_has(&stream->stream_capture_deps, event->stream_capture_deps.at[i]))
			r = list_add(&stream->stream_capture_deps,
				     event->stream_capture_deps.at[i]);
	return r;
}

int stream_capture_ask_event(struct event *event)
{
	struct stream_capture *stream_capture;

	if (!event->stream_capture_id)
		return 0;
	pthread_mutex_lock(&graph_lock);
	stream_capture = stream_capture_of_id_locked(event->stream_capture_id);
	if (stream_capture)
		stream_capture->spoiled = true;
	pthread_mutex_unlock(&graph_lock);
	return TS_CU_ERROR_CAPTURED_EVENT;
}

int stream_capture_ask_context(const struct context *context)
{
	int r = 0;

	if (!stream_capture_any())
		return 0;
	pthread_mutex_lock(&graph_lock);
	for (struct stream_capture *c = stream_captures; c; c = c->next)
		for (const struct stream *s = c->streams; s; s = s->stream_capture_next)
			if (s->context == context) {
				c->spoiled = true;
				r = TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED;
			}
	pthread_mutex_unlock(&graph_lock);
	return r;
}

/*
 * True if this capture forbids unsafe calls to the calling thread, see
 * cuThreadExchangeStreamCaptureMode.
 */
static bool forbids(const struct stream_capture *stream_capture)
{
	if (stream_capture->thread == stream_capture_this_thread())
		return stream_capture->mode != TS_CU_STREAM_CAPTURE_MODE_RELAXED;
	return thread_mode == TS_CU_STREAM_CAPTURE_MODE_GLOBAL &&
	       stream_capture->mode == TS_CU_STREAM_CAPTURE_MODE_GLOBAL;
}

int stream_capture_unsafe(void)
{
	int r = 0;

	if (!stream_capture_any() || thread_mode == TS_CU_STREAM_CAPTURE_MODE_RELAXED)
		return 0;
	pthread_mutex_lock(&graph_lock);
	for (struct stream_capture *c = stream_captures; c; c = c->next)
		if (forbids(c)) {
			c->spoiled = true;
			r = TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED;
		}
	pthread_mutex_unlock(&graph_lock);
	return r;
}

void stream_capture_forget_stream(struct stream *stream)
{
	struct stream_capture *stream_capture;

	if (!stream_capture_any())
		return;
	pthread_mutex_lock(&graph_lock);
	stream_capture = stream->stream_capture;
	if (stream_capture && stream_capture->origin == stream) {
		stream_capture_free_locked(stream_capture, false);
	} else if (stream_capture) {
		for (struct stream **at = &stream_capture->streams; *at;
		     at = &(*at)->stream_capture_next)
			if (*at == stream) {
				*at = stream->stream_capture_next;
				break;
			}
		stream_capture->spoiled = true;
		leave_locked(stream);
	}
	pthread_mutex_unlock(&graph_lock);
}
