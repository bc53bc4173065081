/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls for captures: begin, end with a graph or an error, and query. Programs call this file
 * through the functions of generated-cuda-stream-capture-call.h; this file calls stream-captures.c.
 */
#include <stdlib.h>

#include "tools/vgpu/cuda/graph/stream-capture.h"

/* Reads the nodes from which a capture continues. */
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

static int begin_locked(struct stream *stream, struct stream_capture *stream_capture,
			const void **dependencies, size_t n)
{
	int r;

	if (stream->stream_capture)
		return TS_CU_ERROR_ILLEGAL_STATE;
	r = deps_read_locked(stream_capture->graph, dependencies, n, &stream->stream_capture_deps);
	if (r) {
		list_deinit(&stream->stream_capture_deps);
		return r;
	}
	stream_capture_add_locked(stream_capture, stream);
	return 0;
}

static int begin_with(void *handle, struct graph *graph, const void **dependencies, size_t n,
		      int32_t mode)
{
	struct ts_cupti_graph_data graph_data = {.graph = graph};
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct stream *stream;
	struct stream_capture *stream_capture;
	int r = stream_get(handle, &context, &vstream);

	if (!r)
		r = stream_capture_object_of(handle, context, &stream);
	if (r)
		return r;
	if (mode < TS_CU_STREAM_CAPTURE_MODE_GLOBAL || mode > TS_CU_STREAM_CAPTURE_MODE_RELAXED)
		return TS_CU_ERROR_INVALID_VALUE;
	if (!stream)
		return TS_CU_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	stream_capture = calloc(1, sizeof(*stream_capture));
	if (!stream_capture)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	stream_capture->given = graph;
	stream_capture->graph = graph ? graph : graph_new();
	stream_capture->mode = mode;
	stream_capture->thread = stream_capture_this_thread();
	graph_data.graph = stream_capture->graph;
	pthread_mutex_lock(&graph_lock);
	r = stream_capture->graph ? begin_locked(stream, stream_capture, dependencies, n)
				  : TS_CU_ERROR_OUT_OF_MEMORY;
	if (r) {
		if (!graph)
			graph_free_locked(stream_capture->graph);
		free(stream_capture);
	}
	pthread_mutex_unlock(&graph_lock);
	if (!r && !graph)
		report_graph(TS_CUPTI_CBID_RESOURCE_GRAPH_CREATED, &graph_data);
	return r;
}

static int begin_stream_capture(void *stream, int32_t mode)
{
	return begin_with(stream, NULL, NULL, 0, mode);
}

/* The function of CUDA 10.0. */
static int begin_stream_capture_v1(void *stream)
{
	return begin_with(stream, NULL, NULL, 0, TS_CU_STREAM_CAPTURE_MODE_GLOBAL);
}

static int begin_stream_capture_to_graph(void *stream, void *graph, const void **dependencies,
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

/* True if all nodes of other streams lead to the origin's current nodes. */
static bool is_joined_locked(struct stream_capture *stream_capture)
{
	struct node_list reached = {.at = NULL};
	const struct stream *stream;
	bool joined = true;

	for (struct graph_node *node = stream_capture->graph->nodes; node; node = node->next)
		node->visit = 0;
	for (size_t i = 0; i < stream_capture->origin->stream_capture_deps.n; i++) {
		stream_capture->origin->stream_capture_deps.at[i]->visit = 1;
		joined &= !list_add(&reached, stream_capture->origin->stream_capture_deps.at[i]);
	}
	for (size_t i = 0; joined && i < reached.n; i++)
		for (size_t k = 0; joined && k < reached.at[i]->deps.n; k++) {
			struct graph_node *dep = reached.at[i]->deps.at[k];

			if (!dep->visit)
				joined = !list_add(&reached, dep);
			dep->visit = 1;
		}
	for (stream = stream_capture->streams; joined && stream;
	     stream = stream->stream_capture_next)
		for (size_t i = 0; i < stream->stream_capture_deps.n; i++)
			joined &= stream->stream_capture_deps.at[i]->visit;
	list_deinit(&reached);
	return joined;
}

static int end_locked(struct stream *stream, void **graph)
{
	struct stream_capture *stream_capture = stream->stream_capture;
	int r = 0;

	if (!stream_capture)
		return TS_CU_ERROR_ILLEGAL_STATE;
	if (stream_capture->origin != stream) {
		stream_capture->spoiled = true;
		return TS_CU_ERROR_STREAM_CAPTURE_UNMATCHED;
	}
	if (stream_capture->mode != TS_CU_STREAM_CAPTURE_MODE_RELAXED &&
	    stream_capture->thread != stream_capture_this_thread())
		return TS_CU_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	if (stream_capture->spoiled)
		r = TS_CU_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (!is_joined_locked(stream_capture))
		r = TS_CU_ERROR_STREAM_CAPTURE_UNJOINED;
	*graph = r ? NULL : stream_capture->graph;
	stream_capture_free_locked(stream_capture, !r);
	return r;
}

static int end_stream_capture(void *handle, void **graph)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct stream *stream;
	int r = stream_get(handle, &context, &vstream);

	if (!r)
		r = stream_capture_object_of(handle, context, &stream);
	if (r)
		return r;
	if (!graph)
		return TS_CU_ERROR_INVALID_VALUE;
	*graph = NULL;
	if (!stream)
		return TS_CU_ERROR_ILLEGAL_STATE;
	pthread_mutex_lock(&graph_lock);
	r = end_locked(stream, graph);
	pthread_mutex_unlock(&graph_lock);
	return r;
}

static int stream_capture_info(void *handle, int32_t *capture_status_out, uint64_t *id_out,
			       void **graph_out, const void ***dependencies_out,
			       const void **edge_data_out, size_t *num_dependencies_out)
{
	struct context *context;
	struct ts_vgpu_stream *vstream;
	struct stream *stream;
	int r = stream_get(handle, &context, &vstream);

	if (!r)
		r = stream_capture_object_of(handle, context, &stream);
	if (r)
		return r;
	if (!capture_status_out)
		return TS_CU_ERROR_INVALID_VALUE;
	if (edge_data_out)
		*edge_data_out = NULL; /* every edge is a full dependency */
	pthread_mutex_lock(&graph_lock);
	if (!stream)
		r = stream_capture_check_legacy_locked(context, false);
	if (!r && stream && stream->stream_capture && !stream->stream_capture->spoiled) {
		*capture_status_out = TS_CU_STREAM_CAPTURE_STATUS_ACTIVE;
		if (id_out)
			*id_out = stream->stream_capture->id;
		if (graph_out)
			*graph_out = stream->stream_capture->graph;
		if (dependencies_out)
			*dependencies_out = (const void **)stream->stream_capture_deps.at;
		if (num_dependencies_out)
			*num_dependencies_out = stream->stream_capture_deps.n;
	} else if (!r) {
		*capture_status_out = stream && stream->stream_capture
					      ? TS_CU_STREAM_CAPTURE_STATUS_INVALIDATED
					      : TS_CU_STREAM_CAPTURE_STATUS_NONE;
	}
	pthread_mutex_unlock(&graph_lock);
	return r;
}

static int stream_capture_info_v1(void *stream, int32_t *capture_status_out, uint64_t *id_out)
{
	return stream_capture_info(stream, capture_status_out, id_out, NULL, NULL, NULL, NULL);
}

static int stream_capture_info_v2(void *stream, int32_t *capture_status_out, uint64_t *id_out,
				  void **graph_out, const void ***dependencies_out,
				  size_t *num_dependencies_out)
{
	return stream_capture_info(stream, capture_status_out, id_out, graph_out, dependencies_out,
				   NULL, num_dependencies_out);
}

static int is_capturing(void *stream, int32_t *capture_status)
{
	return stream_capture_info(stream, capture_status, NULL, NULL, NULL, NULL, NULL);
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
	/* 0 adds to the stream's dependencies, 1 replaces them. */
	if (flags > 1)
		return TS_CU_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&graph_lock);
	before = stream->stream_capture_deps;
	if (!stream->stream_capture) {
		r = TS_CU_ERROR_ILLEGAL_STATE;
	} else {
		struct node_list now = {.at = NULL};

		r = flags ? 0 : list_copy(&before, &now);
		if (!r)
			r = deps_read_locked(stream->stream_capture->graph, dependencies,
					     num_dependencies, &now);
		if (!r)
			stream->stream_capture_deps = now;
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
	if (!mode || *mode < TS_CU_STREAM_CAPTURE_MODE_GLOBAL ||
	    *mode > TS_CU_STREAM_CAPTURE_MODE_RELAXED)
		return TS_CU_ERROR_INVALID_VALUE;
	*mode = stream_capture_exchange_mode(*mode);
	return 0;
}

#include "tools/vgpu/generated-cuda-stream-capture-call.h"
