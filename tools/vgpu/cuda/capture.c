/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams being captured: what is put into one becomes a node of a graph, which depends on what came before it in the stream.
 * Waiting for an event that was recorded in a capture brings the waiting stream into it; at the end all have to have
 * come back to the stream where it began. What a graph could not repeat is refused, and spoils the capture, so
 * that nobody launches a graph that lacks it.
 */
#include <stdlib.h>

#include "tools/vgpu/cuda/graph.h"

struct capture {
	uint64_t id;
	struct graph *graph;
	bool given; /* the graph was there before */
	bool spoiled;
	int32_t mode;
	uint64_t thread;
	struct stream *origin;
	struct stream *streams; /* by capture_next; the origin among them */
	struct capture *next;
};

/* Under graph_lock; how many there are is read without it, so that nobody pays for what is not going on. */
static struct capture *captures;
static _Atomic uint32_t n_captures;
static uint64_t last_id;

/* Threads in the order in which they first asked: handles of dead ones may come again. */
static uint64_t this_thread(void)
{
	static _Atomic uint64_t last;
	static __thread uint64_t self;

	if (!self)
		self = 1 + atomic_fetch_add_explicit(&last, 1, memory_order_relaxed);
	return self;
}

static __thread int32_t thread_mode = TS_CU_STREAM_CAPTURE_MODE_GLOBAL;

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

/* The capture is over; the graph is kept where it is the program's now. */
static void capture_free_locked(struct capture *capture, bool keep)
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

/* The stream object behind a handle; NULL: the legacy default stream. */
static int object_of(void *handle, struct context *context, struct stream **ret_stream)
{
	*ret_stream = NULL;
	if (handle_is(handle, HANDLE_STREAM))
		*ret_stream = handle;
	else if (handle == TS_CU_STREAM_PER_THREAD)
		return stream_own(context, ret_stream);
	return 0;
}

/* The legacy default stream encompasses the blocking ones, which must not be waited for while they are captured. */
static int check_legacy_locked(const struct context *context, bool spoil)
{
	int r = 0;

	for (struct capture *c = captures; c; c = c->next)
		for (const struct stream *s = c->streams; s; s = s->capture_next) {
			if (s->context != context ||
			    ts_vgpu_stream_flags(s->vstream) & TS_VGPU_STREAM_NON_BLOCKING)
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
	r = object_of(handle, *ret_context, &stream);
	if (r)
		return r;
	pthread_mutex_lock(&graph_lock);
	if (!stream)
		r = check_legacy_locked(*ret_context, true);
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

	return r ? r : add(stream, &work);
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
	r = object_of(handle, context, &stream);
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
	if (capture->thread == this_thread())
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

/* Nodes given as what a capture goes on from. */
static int deps_read_locked(const struct graph *graph, const void **dependencies, size_t n,
			    struct node_list *deps)
{
	if (n && !dependencies)
		return TS_CU_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n; i++) {
		struct graph_node *node = (struct graph_node *)(uintptr_t)dependencies[i];
		int r;

		if (!handle_is(node, HANDLE_GRAPH_NODE) || node->graph != graph)
			return TS_CU_ERROR_INVALID_VALUE;
		r = list_has(deps, node) ? 0 : list_add(deps, node);
		if (r)
			return r;
	}
	return 0;
}

static int begin_locked(struct stream *stream, struct capture *capture, const void **dependencies,
			size_t n)
{
	int r;

	if (stream->capture)
		return TS_CU_ERROR_ILLEGAL_STATE;
	r = deps_read_locked(capture->graph, dependencies, n, &stream->capture_deps);
	if (r) {
		list_deinit(&stream->capture_deps);
		return r;
	}
	capture->id = ++last_id;
	capture->origin = stream;
	join_locked(capture, stream);
	capture->next = captures;
	captures = capture;
	atomic_fetch_add_explicit(&n_captures, 1, memory_order_relaxed);
	capture->graph->n_captures++;
	return 0;
}

static int begin_with(void *handle, struct graph *graph, const void **dependencies, size_t n,
		      int32_t mode)
{
	struct ts_cupti_graph_data told = {.graph = graph};
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct stream *stream;
	struct capture *capture;
	int r = stream_get(handle, &context, &vstream);

	if (!r)
		r = object_of(handle, context, &stream);
	if (r)
		return r;
	if (mode < TS_CU_STREAM_CAPTURE_MODE_GLOBAL || mode > TS_CU_STREAM_CAPTURE_MODE_RELAXED)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!stream)
		return TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	capture = calloc(1, sizeof(*capture));
	if (!capture)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	capture->given = graph;
	capture->graph = graph ? graph : graph_new();
	capture->mode = mode;
	capture->thread = this_thread();
	told.graph = capture->graph;
	pthread_mutex_lock(&graph_lock);
	r = capture->graph ? begin_locked(stream, capture, dependencies, n)
			   : TS_CU_ERROR_OUT_OF_MEMORY;
	if (r) {
		if (!graph)
			graph_free_locked(capture->graph);
		free(capture);
	}
	pthread_mutex_unlock(&graph_lock);
	if (!r && !graph)
		report_graph(TS_CUPTI_CBID_RESOURCE_GRAPH_CREATED, &told);
	return r;
}

static int begin_capture(void *stream, int32_t mode)
{
	return begin_with(stream, NULL, NULL, 0, mode);
}

/* CUDA 10.0's form. */
static int begin_capture_v1(void *stream)
{
	return begin_with(stream, NULL, NULL, 0, TS_CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static int begin_capture_to_graph(void *stream, void *graph, const void **dependencies,
				  const void *dependency_data, size_t num_dependencies,
				  int32_t mode)
{
	struct graph *g;
	int r = graph_get(graph, &g);

	if (!r)
		r = edges_check(dependency_data, num_dependencies);
	if (r)
		return r;
	if (g->executable || g->owner)
		return TS_CU_ERROR_INVALID_VALUE;
	return begin_with(stream, g, dependencies, num_dependencies, mode);
}

/* Whether everything that other streams put in leads to where the origin has come. */
static bool is_joined_locked(struct capture *capture)
{
	struct node_list reached = {.at = NULL};
	const struct stream *stream;
	bool joined = true;

	for (struct graph_node *node = capture->graph->nodes; node; node = node->next)
		node->visit = 0;
	for (size_t i = 0; i < capture->origin->capture_deps.n; i++) {
		capture->origin->capture_deps.at[i]->visit = 1;
		joined &= !list_add(&reached, capture->origin->capture_deps.at[i]);
	}
	for (size_t i = 0; joined && i < reached.n; i++)
		for (size_t k = 0; joined && k < reached.at[i]->deps.n; k++) {
			struct graph_node *dep = reached.at[i]->deps.at[k];

			if (!dep->visit)
				joined = !list_add(&reached, dep);
			dep->visit = 1;
		}
	for (stream = capture->streams; joined && stream; stream = stream->capture_next)
		for (size_t i = 0; i < stream->capture_deps.n; i++)
			joined &= stream->capture_deps.at[i]->visit;
	list_deinit(&reached);
	return joined;
}

static int end_locked(struct stream *stream, void **graph)
{
	struct capture *capture = stream->capture;
	int r = 0;

	if (!capture)
		return TS_CU_ERROR_ILLEGAL_STATE;
	if (capture->origin != stream) {
		capture->spoiled = true;
		return TS_CU_ERROR_STREAM_CAPTURE_UNMATCHED;
	}
	if (capture->mode != TS_CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != this_thread())
		return TS_CU_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	if (capture->spoiled)
		r = TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (!is_joined_locked(capture))
		r = TS_CU_ERROR_STREAM_CAPTURE_UNJOINED;
	*graph = r ? NULL : capture->graph;
	capture_free_locked(capture, !r);
	return r;
}

static int end_capture(void *handle, void **graph)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct stream *stream;
	int r = stream_get(handle, &context, &vstream);

	if (!r)
		r = object_of(handle, context, &stream);
	if (r)
		return r;
	if (!graph)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!stream)
		return TS_CU_ERROR_ILLEGAL_STATE;
	pthread_mutex_lock(&graph_lock);
	r = end_locked(stream, graph);
	pthread_mutex_unlock(&graph_lock);
	return r;
}

static int capture_info(void *handle, int32_t *capture_status_out, uint64_t *id_out,
			void **graph_out, const void ***dependencies_out,
			const void **edge_data_out, size_t *num_dependencies_out)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct stream *stream;
	int r = stream_get(handle, &context, &vstream);

	if (!r)
		r = object_of(handle, context, &stream);
	if (r)
		return r;
	if (!capture_status_out)
		return TS_CU_ERROR_INVALID_VALUE;
	if (edge_data_out)
		*edge_data_out = NULL; /* every edge is a full dependency */
	pthread_mutex_lock(&graph_lock);
	if (!stream)
		r = check_legacy_locked(context, false);
	if (!r && stream && stream->capture && !stream->capture->spoiled) {
		*capture_status_out = TS_CU_STREAM_CAPTURE_STATUS_ACTIVE;
		if (id_out)
			*id_out = stream->capture->id;
		if (graph_out)
			*graph_out = stream->capture->graph;
		if (dependencies_out)
			*dependencies_out = (const void **)stream->capture_deps.at;
		if (num_dependencies_out)
			*num_dependencies_out = stream->capture_deps.n;
	} else if (!r) {
		*capture_status_out = stream && stream->capture
					      ? TS_CU_STREAM_CAPTURE_STATUS_INVALIDATED
					      : TS_CU_STREAM_CAPTURE_STATUS_NONE;
	}
	pthread_mutex_unlock(&graph_lock);
	return r;
}

static int capture_info_v1(void *stream, int32_t *capture_status_out, uint64_t *id_out)
{
	return capture_info(stream, capture_status_out, id_out, NULL, NULL, NULL, NULL);
}

static int capture_info_v2(void *stream, int32_t *capture_status_out, uint64_t *id_out,
			   void **graph_out, const void ***dependencies_out,
			   size_t *num_dependencies_out)
{
	return capture_info(stream, capture_status_out, id_out, graph_out, dependencies_out, NULL,
			    num_dependencies_out);
}

static int is_capturing(void *stream, int32_t *capture_status)
{
	return capture_info(stream, capture_status, NULL, NULL, NULL, NULL, NULL);
}

static int update_dependencies(void *handle, const void **dependencies, const void *dependency_data,
			       size_t num_dependencies, uint32_t flags)
{
	struct node_list before;
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct stream *stream;
	int r = stream_work(handle, &context, &vstream, &stream);

	if (!r)
		r = edges_check(dependency_data, num_dependencies);
	if (r)
		return r;
	if (!stream)
		return TS_CU_ERROR_ILLEGAL_STATE;
	/* 0 adds to what the stream has come to, 1 takes its place. */
	if (flags > 1)
		return TS_CU_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&graph_lock);
	before = stream->capture_deps;
	if (!stream->capture) {
		r = TS_CU_ERROR_ILLEGAL_STATE;
	} else {
		struct node_list now = {.at = NULL};

		r = flags ? 0 : list_copy(&before, &now);
		if (!r)
			r = deps_read_locked(stream->capture->graph, dependencies, num_dependencies,
					     &now);
		if (!r)
			stream->capture_deps = now;
		list_deinit(r ? &now : &before);
	}
	pthread_mutex_unlock(&graph_lock);
	return r;
}

static int update_dependencies_v1(void *stream, const void **dependencies, size_t num_dependencies,
				  uint32_t flags)
{
	return update_dependencies(stream, dependencies, NULL, num_dependencies, flags);
}

static int exchange_mode(int32_t *mode)
{
	int32_t before = thread_mode;

	if (!mode || *mode < TS_CU_STREAM_CAPTURE_MODE_GLOBAL ||
	    *mode > TS_CU_STREAM_CAPTURE_MODE_RELAXED)
		return TS_CU_ERROR_INVALID_VALUE;
	thread_mode = *mode;
	*mode = before;
	return 0;
}

API int cuStreamBeginCapture(void *stream)
{
	struct {
		void *stream;
	} params = {stream};

	return CALL(cuStreamBeginCapture, &params, begin_capture_v1(stream));
}

API int cuStreamBeginCapture_ptsz(void *stream)
{
	struct {
		void *stream;
	} params = {stream};

	return CALL(cuStreamBeginCapture_ptsz, &params, begin_capture_v1(per_thread(stream)));
}

API int cuStreamBeginCapture_v2(void *stream, int32_t mode)
{
	struct ts_cu_stream_begin_capture_params params = {stream, mode};

	return CALL(cuStreamBeginCapture_v2, &params, begin_capture(stream, mode));
}

API int cuStreamBeginCapture_v2_ptsz(void *stream, int32_t mode)
{
	struct ts_cu_stream_begin_capture_params params = {stream, mode};

	return CALL(cuStreamBeginCapture_v2_ptsz, &params, begin_capture(per_thread(stream), mode));
}

API int cuStreamBeginCaptureToGraph(void *stream, void *graph, const void **dependencies,
				    const void *dependency_data, size_t num_dependencies,
				    int32_t mode)
{
	struct {
		void *stream;
		void *graph;
		const void **dependencies;
		const void *dependency_data;
		size_t num_dependencies;
		int32_t mode;
	} params = {stream, graph, dependencies, dependency_data, num_dependencies, mode};

	return CALL(cuStreamBeginCaptureToGraph, &params,
		    begin_capture_to_graph(stream, graph, dependencies, dependency_data,
					   num_dependencies, mode));
}

API int cuStreamBeginCaptureToGraph_ptsz(void *stream, void *graph, const void **dependencies,
					 const void *dependency_data, size_t num_dependencies,
					 int32_t mode)
{
	struct {
		void *stream;
		void *graph;
		const void **dependencies;
		const void *dependency_data;
		size_t num_dependencies;
		int32_t mode;
	} params = {stream, graph, dependencies, dependency_data, num_dependencies, mode};

	return CALL(cuStreamBeginCaptureToGraph_ptsz, &params,
		    begin_capture_to_graph(per_thread(stream), graph, dependencies, dependency_data,
					   num_dependencies, mode));
}

API int cuStreamEndCapture(void *stream, void **graph)
{
	struct ts_cu_stream_end_capture_params params = {stream, graph};

	return CALL(cuStreamEndCapture, &params, end_capture(stream, graph));
}

API int cuStreamEndCapture_ptsz(void *stream, void **graph)
{
	struct ts_cu_stream_end_capture_params params = {stream, graph};

	return CALL(cuStreamEndCapture_ptsz, &params, end_capture(per_thread(stream), graph));
}

API int cuStreamIsCapturing(void *stream, int32_t *capture_status)
{
	struct ts_cu_stream_is_capturing_params params = {stream, capture_status};

	return CALL(cuStreamIsCapturing, &params, is_capturing(stream, capture_status));
}

API int cuStreamIsCapturing_ptsz(void *stream, int32_t *capture_status)
{
	struct ts_cu_stream_is_capturing_params params = {stream, capture_status};

	return CALL(cuStreamIsCapturing_ptsz, &params,
		    is_capturing(per_thread(stream), capture_status));
}

API int cuStreamGetCaptureInfo(void *stream, int32_t *capture_status_out, uint64_t *id_out)
{
	struct {
		void *stream;
		int32_t *capture_status_out;
		uint64_t *id_out;
	} params = {stream, capture_status_out, id_out};

	return CALL(cuStreamGetCaptureInfo, &params,
		    capture_info_v1(stream, capture_status_out, id_out));
}

API int cuStreamGetCaptureInfo_ptsz(void *stream, int32_t *capture_status_out, uint64_t *id_out)
{
	struct {
		void *stream;
		int32_t *capture_status_out;
		uint64_t *id_out;
	} params = {stream, capture_status_out, id_out};

	return CALL(cuStreamGetCaptureInfo_ptsz, &params,
		    capture_info_v1(per_thread(stream), capture_status_out, id_out));
}

API int cuStreamGetCaptureInfo_v2(void *stream, int32_t *capture_status_out, uint64_t *id_out,
				  void **graph_out, const void ***dependencies_out,
				  size_t *num_dependencies_out)
{
	struct {
		void *stream;
		int32_t *capture_status_out;
		uint64_t *id_out;
		void **graph_out;
		const void ***dependencies_out;
		size_t *num_dependencies_out;
	} params = {stream,    capture_status_out, id_out,
		    graph_out, dependencies_out,   num_dependencies_out};

	return CALL(cuStreamGetCaptureInfo_v2, &params,
		    capture_info_v2(stream, capture_status_out, id_out, graph_out, dependencies_out,
				    num_dependencies_out));
}

API int cuStreamGetCaptureInfo_v2_ptsz(void *stream, int32_t *capture_status_out, uint64_t *id_out,
				       void **graph_out, const void ***dependencies_out,
				       size_t *num_dependencies_out)
{
	struct {
		void *stream;
		int32_t *capture_status_out;
		uint64_t *id_out;
		void **graph_out;
		const void ***dependencies_out;
		size_t *num_dependencies_out;
	} params = {stream,    capture_status_out, id_out,
		    graph_out, dependencies_out,   num_dependencies_out};

	return CALL(cuStreamGetCaptureInfo_v2_ptsz, &params,
		    capture_info_v2(per_thread(stream), capture_status_out, id_out, graph_out,
				    dependencies_out, num_dependencies_out));
}

API int cuStreamGetCaptureInfo_v3(void *stream, int32_t *capture_status_out, uint64_t *id_out,
				  void **graph_out, const void ***dependencies_out,
				  const void **edge_data_out, size_t *num_dependencies_out)
{
	struct ts_cu_stream_get_capture_info_params params = {
		stream,	       capture_status_out,  id_out, graph_out, dependencies_out,
		edge_data_out, num_dependencies_out};

	return CALL(cuStreamGetCaptureInfo_v3, &params,
		    capture_info(stream, capture_status_out, id_out, graph_out, dependencies_out,
				 edge_data_out, num_dependencies_out));
}

API int cuStreamGetCaptureInfo_v3_ptsz(void *stream, int32_t *capture_status_out, uint64_t *id_out,
				       void **graph_out, const void ***dependencies_out,
				       const void **edge_data_out, size_t *num_dependencies_out)
{
	struct ts_cu_stream_get_capture_info_params params = {
		stream,	       capture_status_out,  id_out, graph_out, dependencies_out,
		edge_data_out, num_dependencies_out};

	return CALL(cuStreamGetCaptureInfo_v3_ptsz, &params,
		    capture_info(per_thread(stream), capture_status_out, id_out, graph_out,
				 dependencies_out, edge_data_out, num_dependencies_out));
}

API int cuStreamUpdateCaptureDependencies(void *stream, const void **dependencies,
					  size_t num_dependencies, uint32_t flags)
{
	struct {
		void *stream;
		const void **dependencies;
		size_t num_dependencies;
		uint32_t flags;
	} params = {stream, dependencies, num_dependencies, flags};

	return CALL(cuStreamUpdateCaptureDependencies, &params,
		    update_dependencies_v1(stream, dependencies, num_dependencies, flags));
}

API int cuStreamUpdateCaptureDependencies_ptsz(void *stream, const void **dependencies,
					       size_t num_dependencies, uint32_t flags)
{
	struct {
		void *stream;
		const void **dependencies;
		size_t num_dependencies;
		uint32_t flags;
	} params = {stream, dependencies, num_dependencies, flags};

	return CALL(cuStreamUpdateCaptureDependencies_ptsz, &params,
		    update_dependencies_v1(per_thread(stream), dependencies, num_dependencies,
					   flags));
}

API int cuStreamUpdateCaptureDependencies_v2(void *stream, const void **dependencies,
					     const void *dependency_data, size_t num_dependencies,
					     uint32_t flags)
{
	struct {
		void *stream;
		const void **dependencies;
		const void *dependency_data;
		size_t num_dependencies;
		uint32_t flags;
	} params = {stream, dependencies, dependency_data, num_dependencies, flags};

	return CALL(cuStreamUpdateCaptureDependencies_v2, &params,
		    update_dependencies(stream, dependencies, dependency_data, num_dependencies,
					flags));
}

API int cuStreamUpdateCaptureDependencies_v2_ptsz(void *stream, const void **dependencies,
						  const void *dependency_data,
						  size_t num_dependencies, uint32_t flags)
{
	struct {
		void *stream;
		const void **dependencies;
		const void *dependency_data;
		size_t num_dependencies;
		uint32_t flags;
	} params = {stream, dependencies, dependency_data, num_dependencies, flags};

	return CALL(cuStreamUpdateCaptureDependencies_v2_ptsz, &params,
		    update_dependencies(per_thread(stream), dependencies, dependency_data,
					num_dependencies, flags));
}

API int cuThreadExchangeStreamCaptureMode(int32_t *mode)
{
	struct ts_cu_thread_exchange_stream_capture_mode_params params = {mode};

	return CALL(cuThreadExchangeStreamCaptureMode, &params, exchange_mode(mode));
}
