/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The captures under way and the streams in them. Waiting for an event that was recorded in a capture
 * brings the waiting stream into it; at the end all have to have come back to the stream where it began.
 * What a graph could not repeat is refused, and spoils the capture, so that nobody launches a graph that
 * lacks it. Calls that query, wait or delete call it, and so do the other files of captures.
 */
#include <stdlib.h>

#include "replay/streams/streams.h"
#include "tools/vgpu/cuda/graph/capture.h"

_Atomic uint32_t n_captures;

/* Under graph_lock. */
static struct capture *captures;
static uint64_t last_id;

uint64_t capture_this_thread(void)
{
	static _Atomic uint64_t last;
	static __thread uint64_t self;

	if (!self)
		self = 1 + atomic_fetch_add_explicit(&last, 1, memory_order_relaxed);
	return self;
}

static __thread int32_t thread_mode = TS_CU_STREAM_CAPTURE_MODE_GLOBAL;

int32_t capture_exchange_mode(int32_t mode)
{
	int32_t before = thread_mode;

	thread_mode = mode;
	return before;
}

static struct capture *capture_of_id_locked(uint64_t id)
{
	struct capture *capture = captures;

	while (capture && capture->id != id)
		capture = capture->next;
	return capture;
}

static void leave_locked(struct stream *stream)
{
	stream->capture = NULL;
	stream->capture_next = NULL;
	list_deinit(&stream->capture_deps);
}

static void join_locked(struct capture *capture, struct stream *stream)
{
	stream->capture = capture;
	stream->capture_next = capture->streams;
	capture->streams = stream;
}

void capture_add_locked(struct capture *capture, struct stream *origin)
{
	capture->id = ++last_id;
	capture->origin = origin;
	join_locked(capture, origin);
	capture->next = captures;
	captures = capture;
	atomic_fetch_add_explicit(&n_captures, 1, memory_order_relaxed);
	capture->graph->n_captures++;
}

void capture_free_locked(struct capture *capture, bool keep)
{
	struct stream *stream, *next;

	for (stream = capture->streams; stream; stream = next) {
		next = stream->capture_next;
		leave_locked(stream);
	}
	for (struct capture **at = &captures; *at; at = &(*at)->next)
		if (*at == capture) {
			*at = capture->next;
			break;
		}
	atomic_fetch_sub_explicit(&n_captures, 1, memory_order_relaxed);
	capture->graph->n_captures--;
	if (!keep && !capture->given)
		graph_free_locked(capture->graph);
	free(capture);
}

int capture_check_legacy_locked(const struct context *context, bool spoil)
{
	int r = 0;

	for (struct capture *c = captures; c; c = c->next)
		for (const struct stream *s = c->streams; s; s = s->capture_next) {
			const struct ts_stream_kind kind =
				ts_stream_created(ts_vgpu_stream_flags(s->vstream));

			if (s->context != context || !ts_stream_is_tied_to_legacy(&kind))
				continue;
			c->spoiled |= spoil;
			r = TS_CU_ERROR_STREAM_CAPTURE_IMPLICIT;
		}
	return r;
}

int capture_refuse(struct stream *stream)
{
	pthread_mutex_lock(&graph_lock);
	if (stream->capture)
		stream->capture->spoiled = true;
	pthread_mutex_unlock(&graph_lock);
	return TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED;
}

void capture_forget_event(struct event *event)
{
	if (!event->capture_id)
		return;
	pthread_mutex_lock(&graph_lock);
	event->capture_id = 0;
	list_deinit(&event->capture_deps);
	pthread_mutex_unlock(&graph_lock);
}

int capture_wait_locked(struct stream *stream, const struct event *event)
{
	struct capture *capture = capture_of_id_locked(event->capture_id);
	int r = 0;

	/* A capture that is over has no part in another. */
	if (!capture) {
		if (stream && stream->capture)
			stream->capture->spoiled = true;
		return stream && stream->capture ? TS_CU_ERROR_STREAM_CAPTURE_ISOLATION
						 : TS_CU_ERROR_CAPTURED_EVENT;
	}
	if (capture->spoiled)
		return TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (!stream) {
		capture->spoiled = true;
		return TS_CU_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	if (stream->capture && stream->capture != capture) {
		stream->capture->spoiled = true;
		capture->spoiled = true;
		return TS_CU_ERROR_STREAM_CAPTURE_MERGE;
	}
	if (!stream->capture)
		join_locked(capture, stream);
	for (size_t i = 0; !r && i < event->capture_deps.n; i++)
		if (!list_has(&stream->capture_deps, event->capture_deps.at[i]))
			r = list_add(&stream->capture_deps, event->capture_deps.at[i]);
	return r;
}

int capture_ask_event(struct event *event)
{
	struct capture *capture;

	if (!event->capture_id)
		return 0;
	pthread_mutex_lock(&graph_lock);
	capture = capture_of_id_locked(event->capture_id);
	if (capture)
		capture->spoiled = true;
	pthread_mutex_unlock(&graph_lock);
	return TS_CU_ERROR_CAPTURED_EVENT;
}

int capture_ask_context(const struct context *context)
{
	int r = 0;

	if (!capture_any())
		return 0;
	pthread_mutex_lock(&graph_lock);
	for (struct capture *c = captures; c; c = c->next)
		for (const struct stream *s = c->streams; s; s = s->capture_next)
			if (s->context == context) {
				c->spoiled = true;
				r = TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED;
			}
	pthread_mutex_unlock(&graph_lock);
	return r;
}

/* See cuThreadExchangeStreamCaptureMode: whose captures forbid what depends on the asking thread's mode, too. */
static bool forbids(const struct capture *capture)
{
	if (capture->thread == capture_this_thread())
		return capture->mode != TS_CU_STREAM_CAPTURE_MODE_RELAXED;
	return thread_mode == TS_CU_STREAM_CAPTURE_MODE_GLOBAL &&
	       capture->mode == TS_CU_STREAM_CAPTURE_MODE_GLOBAL;
}

int capture_unsafe(void)
{
	int r = 0;

	if (!capture_any() || thread_mode == TS_CU_STREAM_CAPTURE_MODE_RELAXED)
		return 0;
	pthread_mutex_lock(&graph_lock);
	for (struct capture *c = captures; c; c = c->next)
		if (forbids(c)) {
			c->spoiled = true;
			r = TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED;
		}
	pthread_mutex_unlock(&graph_lock);
	return r;
}

void capture_forget_stream(struct stream *stream)
{
	struct capture *capture;

	if (!capture_any())
		return;
	pthread_mutex_lock(&graph_lock);
	capture = stream->capture;
	if (capture && capture->origin == stream) {
		capture_free_locked(capture, false);
	} else if (capture) {
		for (struct stream **at = &capture->streams; *at; at = &(*at)->capture_next)
			if (*at == stream) {
				*at = stream->capture_next;
				break;
			}
		capture->spoiled = true;
		leave_locked(stream);
	}
	pthread_mutex_unlock(&graph_lock);
}
