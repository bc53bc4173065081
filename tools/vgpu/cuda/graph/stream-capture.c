/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captured streams: work that a call puts into one becomes a node of the capture's graph. The node
 * depends on the stream's previous nodes. All calls that queue work call this file;
 * stream-captures.c has the captures.
 */
#include "tools/vgpu/cuda/graph/stream-capture.h"

int stream_capture_object_of(void *handle, struct context *context, struct stream **ret_stream)
{
	*ret_stream = NULL;
	if (handle_is(handle, HANDLE_STREAM))
		*ret_stream = handle;
	else if (handle == TS_CU_STREAM_PER_THREAD)
		return stream_own(context, ret_stream);
	return 0;
}

int stream_work(void *handle, struct context **ret_context, struct ts_vgpu_stream **ret_stream,
		struct stream **ret_capturing)
{
	struct stream *stream;
	int r = stream_get(handle, ret_context, ret_stream);

	*ret_capturing = NULL;
	if (r || !stream_capture_any())
		return r;
	r = stream_capture_object_of(handle, *ret_context, &stream);
	if (r)
		return r;
	pthread_mutex_lock(&graph_lock);
	if (!stream)
		r = stream_capture_check_legacy_locked(*ret_context, true);
	else if (stream->stream_capture && stream->stream_capture->spoiled)
		r = TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (stream->stream_capture)
		*ret_capturing = stream;
	pthread_mutex_unlock(&graph_lock);
	return r;
}

int stream_uncaptured(void *handle, struct context **ret_context,
		      struct ts_vgpu_stream **ret_stream)
{
	struct stream *capturing;
	int r = stream_work(handle, ret_context, ret_stream, &capturing);

	return !r && capturing ? stream_capture_refuse(capturing) : r;
}

/* Adds a node after the stream's nodes in the graph. Consumes the work. */
static int add(struct stream *stream, struct node_work *work)
{
	struct ts_cupti_graph_data graph_data = {.node_type = work->type};
	struct graph_node *node = NULL;
	int r;

	pthread_mutex_lock(&graph_lock);
	if (!stream->stream_capture) {
		work_deinit_locked(work);
		r = TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED;
	} else {
		graph_data.graph = stream->stream_capture->graph;
		r = graph_add_locked(stream->stream_capture->graph, &stream->stream_capture_deps,
				     work, &node);
		if (!r) {
			stream->stream_capture_deps.n = 0;
			r = list_add(&stream->stream_capture_deps, node);
		}
		if (r)
			stream->stream_capture->spoiled = true;
	}
	pthread_mutex_unlock(&graph_lock);
	if (node) {
		report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, &graph_data);
		graph_report_node(node);
	}
	return r;
}

int stream_capture_launch(struct stream *stream, const struct function *f, const struct launch *l,
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

int stream_capture_copy(struct stream *stream, struct context *context,
			const struct said_copy *copy)
{
	const struct ts_vgpu_copy *c = &copy->copy;
	struct node_work work = {.type = TS_CU_GRAPH_NODE_TYPE_MEMCPY};

	/* An empty copy adds no node. */
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

int stream_capture_set(struct stream *stream, struct context *context,
		       const struct ts_vgpu_fill *fill)
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

int stream_capture_host(struct stream *stream, void *fn, void *user_data)
{
	struct node_work work = {
		.type = TS_CU_GRAPH_NODE_TYPE_HOST,
		.host = {.fn = fn, .user_data = user_data},
	};

	return add(stream, &work);
}

int stream_capture_graph(struct stream *stream, const struct graph *graph)
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

int stream_capture_record(struct stream *stream, struct event *event, bool external)
{
	int r;

	if (external)
		return add_event(stream, TS_CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
	pthread_mutex_lock(&graph_lock);
	if (!stream->stream_capture) {
		r = TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED;
	} else {
		r = list_copy(&stream->stream_capture_deps, &event->stream_capture_deps);
		event->stream_capture_id = r ? 0 : stream->stream_capture->id;
	}
	pthread_mutex_unlock(&graph_lock);
	return r;
}

int stream_capture_wait(void *handle, struct context *context, struct stream *capturing,
			struct event *event, bool external, bool *ret_captured)
{
	struct stream *stream;
	int r;

	*ret_captured = false;
	if (capturing && external) {
		*ret_captured = true;
		return add_event(capturing, TS_CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
	}
	if (!capturing && !event->stream_capture_id)
		return 0;
	r = stream_capture_object_of(handle, context, &stream);
	if (r)
		return r;
	*ret_captured = true;
	pthread_mutex_lock(&graph_lock);
	if (event->stream_capture_id) {
		r = stream_capture_wait_locked(stream, event);
	} else {
		/* The graph cannot wait for work outside it, except by an external wait. */
		if (capturing->stream_capture)
			capturing->stream_capture->spoiled = true;
		r = TS_CU_ERROR_STREAM_CAPTURE_ISOLATION;
	}
	pthread_mutex_unlock(&graph_lock);
	return r;
}
