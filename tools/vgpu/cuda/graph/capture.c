/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams being captured: what is put into one becomes a node of a graph, which depends on what came before it in the stream.
 * Waiting for an event that was recorded in a capture brings the waiting stream into it; at the end all have to have
 * come back to the stream where it began. What a graph could not repeat is refused, and spoils the capture, so
 * that nobody launches a graph that lacks it.
 */
#include <stdlib.h>

#include "replay/streams/streams.h"
#include "tools/vgpu/cuda/graph/capture.h"

/* Under graph_lock; how many there are is read without it, so that nobody pays for what is not going on. */
static struct capture *captures;
static _Atomic uint32_t n_captures;
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

static bool any_capture(void)
{
	/* Relaxed: a call that races with the beginning of a capture in another thread may go either way. */
	return __builtin_expect(atomic_load_explicit(&n_captures, memory_order_relaxed) != 0, 0);
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

int capture_object_of(void *handle, struct context *context, struct stream **ret_stream)
{
	*ret_stream = NULL;
	if (handle_is(handle, HANDLE_STREAM))
		*ret_stream = handle;
	else if (handle == TS_CU_STREAM_PER_THREAD)
		return stream_own(context, ret_stream);
	return 0;
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

int stream_work(void *handle, struct context **ret_context, struct ts_vgpu_stream **ret_stream,
		struct stream **ret_capturing)
{
	struct stream *stream;
	int r = stream_get(handle, ret_context, ret_stream);

	*ret_capturing = NULL;
	if (r || !any_capture())
		return r;
	r = capture_object_of(handle, *ret_context, &stream);
	if (r)
		return r;
	pthread_mutex_lock(&graph_lock);
	if (!stream)
		r = capture_check_legacy_locked(*ret_context, true);
	else if (stream->capture && stream->capture->spoiled)
		r = TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (stream->capture)
		*ret_capturing = stream;
	pthread_mutex_unlock(&graph_lock);
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

int stream_uncaptured(void *handle, struct context **ret_context,
		      struct ts_vgpu_stream **ret_stream)
{
	struct stream *capturing;
	int r = stream_work(handle, ret_context, ret_stream, &capturing);

	return !r && capturing ? capture_refuse(capturing) : r;
}

/* Puts a node behind what the stream has in the graph. Takes the work. */
static int add(struct stream *stream, struct node_work *work)
{
	struct ts_cupti_graph_data told = {.node_type = work->type};
	struct graph_node *node = NULL;
	int r;

	pthread_mutex_lock(&graph_lock);
	if (!stream->capture) {
		work_deinit_locked(work);
		r = TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED;
	} else {
		told.graph = stream->capture->graph;
		r = graph_add_locked(stream->capture->graph, &stream->capture_deps, work, &node);
		if (!r) {
			stream->capture_deps.n = 0;
			r = list_add(&stream->capture_deps, node);
		}
		if (r)
			stream->capture->spoiled = true;
	}
	pthread_mutex_unlock(&graph_lock);
	if (node) {
		report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, &told);
		graph_tell_node(node);
	}
	return r;
}

int capture_launch(struct stream *stream, const struct function *f, const struct launch *l,
		   const uint8_t *params)
{
	struct node_work work;
	int r = work_launch(f, l, params, &work);

	if (r)
		return r;
	work.kernel.priority =
		l->has_priority ? l->priority : ts_vgpu_stream_priority(stream->vstream);
	return add(stream, &work);
}

static int32_t type_of(enum said said)
{
	return said == SAID_HOST     ? TS_CU_MEMORYTYPE_HOST
	       : said == SAID_DEVICE ? TS_CU_MEMORYTYPE_DEVICE
				     : TS_CU_MEMORYTYPE_UNIFIED;
}

int capture_copy(struct stream *stream, struct context *context, const struct said_copy *copy)
{
	const struct ts_vgpu_copy *c = &copy->copy;
	struct node_work work = {.type = TS_CU_GRAPH_NODE_TYPE_MEMCPY};

	/* Nothing to copy leaves no node. */
	if (!c->width || !c->height || !c->depth)
		return 0;
	work.copy.context = context;
	work.copy.copy = (struct ts_cu_memcpy_3d){
		.src_memory_type = type_of(copy->src),
		.src_host = (const void *)(uintptr_t)c->src,
		.src_device = c->src,
		.src_pitch = c->src_pitch,
		.src_height = c->src_pitch ? c->src_slice / c->src_pitch : 0,
		.dst_memory_type = type_of(copy->dst),
		.dst_host = (void *)(uintptr_t)c->dst,
		.dst_device = c->dst,
		.dst_pitch = c->dst_pitch,
		.dst_height = c->dst_pitch ? c->dst_slice / c->dst_pitch : 0,
		.width_in_bytes = c->width,
		.height = c->height,
		.depth = c->depth,
	};
	return add(stream, &work);
}

int capture_set(struct stream *stream, struct context *context, const struct ts_vgpu_fill *fill)
{
	struct node_work work = {
		.type = TS_CU_GRAPH_NODE_TYPE_MEMSET,
		.set.context = context,
		.set.set =
			{
				.dst = fill->dst,
				.pitch = fill->pitch,
				.value = fill->value,
				.element_size = fill->element_bytes,
				.width = fill->width,
				.height = fill->height,
			},
	};

	return add(stream, &work);
}

int capture_host(struct stream *stream, void *fn, void *user_data)
{
	struct node_work work = {
		.type = TS_CU_GRAPH_NODE_TYPE_HOST,
		.host = {.fn = fn, .user_data = user_data},
	};

	return add(stream, &work);
}

int capture_graph(struct stream *stream, const struct graph *graph)
{
	struct node_work work;
	int r;

	pthread_mutex_lock(&graph_lock);
	r = work_child_locked(graph, &work);
	pthread_mutex_unlock(&graph_lock);
	return r ? r : add(stream, &work);
}

static int add_event(struct stream *stream, int32_t type, struct event *event)
{
	struct node_work work = {.type = type, .event = event};

	return add(stream, &work);
}

int capture_record(struct stream *stream, struct event *event, bool external)
{
	int r;

	if (external)
		return add_event(stream, TS_CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
	pthread_mutex_lock(&graph_lock);
	if (!stream->capture) {
		r = TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED;
	} else {
		r = list_copy(&stream->capture_deps, &event->capture_deps);
		event->capture_id = r ? 0 : stream->capture->id;
	}
	pthread_mutex_unlock(&graph_lock);
	return r;
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

static int wait_locked(struct stream *stream, const struct event *event)
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

int capture_wait(void *handle, struct context *context, struct stream *capturing,
		 struct event *event, bool external, bool *ret_captured)
{
	struct stream *stream;
	int r;

	*ret_captured = false;
	if (capturing && external) {
		*ret_captured = true;
		return add_event(capturing, TS_CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
	}
	if (!capturing && !event->capture_id)
		return 0;
	r = capture_object_of(handle, context, &stream);
	if (r)
		return r;
	*ret_captured = true;
	pthread_mutex_lock(&graph_lock);
	if (event->capture_id) {
		r = wait_locked(stream, event);
	} else {
		/* The graph cannot wait for what is outside of it, unless it is told to. */
		if (capturing->capture)
			capturing->capture->spoiled = true;
		r = TS_CU_ERROR_STREAM_CAPTURE_ISOLATION;
	}
	pthread_mutex_unlock(&graph_lock);
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

	if (!any_capture())
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

	if (!any_capture() || thread_mode == TS_CU_STREAM_CAPTURE_MODE_RELAXED)
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

	if (!any_capture())
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
