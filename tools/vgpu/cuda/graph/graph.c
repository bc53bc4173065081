/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that create and change graphs, nodes and edges, and their reports to a profiler. A node
 * stores its dependencies and dependents. A graph stores its nodes in order of creation, and every
 * listing uses this order. Programs call this file through the functions of generated-cuda-graph.h;
 * this file calls graph-store.c.
 */
#include <string.h>

#include "tools/vgpu/cuda/graph/graph.h"

int graph_get(void *handle, struct graph **ret_graph)
{
	int r = check_ready();

	if (r)
		return r;
	if (!handle_is(handle, HANDLE_GRAPH))
		return TS_CU_ERROR_INVALID_VALUE;
	*ret_graph = handle;
	return 0;
}

int node_get(void *handle, struct graph_node **ret_node)
{
	int r = check_ready();

	if (r)
		return r;
	if (!handle_is(handle, HANDLE_GRAPH_NODE))
		return TS_CU_ERROR_INVALID_VALUE;
	*ret_node = handle;
	return 0;
}

static int add_checked_locked(struct graph *graph, const void **dependencies, size_t n_dependencies,
			      struct node_work *work, struct graph_node **ret_node)
{
	struct node_list deps = {.at = NULL};
	int r = 0;

	if (graph->executable || (n_dependencies && !dependencies))
		r = TS_CU_ERROR_INVALID_VALUE;
	for (size_t i = 0; !r && i < n_dependencies; i++) {
		struct graph_node *dep = (struct graph_node *)(uintptr_t)dependencies[i];

		if (!handle_is(dep, HANDLE_GRAPH_NODE) || dep->graph != graph)
			r = TS_CU_ERROR_INVALID_VALUE;
		else
			r = list_add(&deps, dep);
	}
	if (r)
		work_deinit_locked(work);
	else
		r = graph_add_locked(graph, &deps, work, ret_node);
	list_deinit(&deps);
	return r;
}

int graph_add(struct graph *graph, const void **dependencies, size_t n_dependencies,
	      struct node_work *work, struct graph_node **ret_node)
{
	struct ts_cupti_graph_data graph_data = {.graph = graph, .node_type = work->type};
	int r;

	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, &graph_data);
	pthread_mutex_lock(&graph_lock);
	r = add_checked_locked(graph, dependencies, n_dependencies, work, ret_node);
	pthread_mutex_unlock(&graph_lock);
	if (!r)
		graph_report_node(*ret_node);
	return r;
}

static struct ts_cupti_graph_data data_of(const struct graph_node *node)
{
	return (struct ts_cupti_graph_data){
		.graph = node->graph,
		.node = (void *)(uintptr_t)node,
		.node_type = node->work.type,
	};
}

void graph_report_node(const struct graph_node *node)
{
	struct ts_cupti_graph_data data = data_of(node);

	if (!ts_vgpu_armed())
		return;
	/* A node's type is reported only at the beginning of its creation. */
	data.node_type = 0;
	for (size_t i = 0; i < node->deps.n; i++) {
		data.dependency = node->deps.at[i];
		report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, &data);
	}
	data.dependency = NULL;
	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &data);
}

void graph_report_copies(const struct graph *graph, const struct graph *original)
{
	const struct graph_node *from = original->nodes;

	if (!ts_vgpu_armed())
		return;
	for (const struct graph_node *node = graph->nodes; node && from;
	     node = node->next, from = from->next) {
		struct ts_cupti_graph_data data = data_of(node);

		data.original_graph = (void *)(uintptr_t)original;
		data.original_node = (void *)(uintptr_t)from;
		report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, &data);
		if (node->work.type == TS_CU_GRAPH_NODE_TYPE_GRAPH)
			graph_report_copies(node->work.child, from->work.child);
	}
}

void graph_report_set(const struct graph_node *node)
{
	struct ts_cupti_graph_data data = data_of(node);

	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPH_NODE_SET_PARAMS, &data);
}

int edges_check(const void *edge_data, size_t n)
{
	static const uint8_t none[8];

	for (size_t i = 0; edge_data && i < n; i++)
		if (memcmp((const uint8_t *)edge_data + i * sizeof(none), none, sizeof(none)))
			return NOT_SERVED("edges of graphs with data (programmatic launches)",
					  "add the edge without data");
	return 0;
}

static int graph_create(void **graph, uint32_t flags)
{
	struct ts_cupti_graph_data graph_data = {.graph = NULL};
	struct graph *made;
	int r = check_ready();

	if (r)
		return r;
	if (!graph || flags)
		return TS_CU_ERROR_INVALID_VALUE;
	made = graph_new();
	if (!made)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	graph_data.graph = made;
	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPH_CREATED, &graph_data);
	*graph = made;
	return 0;
}

static int graph_destroy(void *graph)
{
	struct ts_cupti_graph_data graph_data = {.graph = graph};
	struct graph *g;
	int r = graph_get(graph, &g);

	if (r)
		return r;
	/* The graph of a node is freed with the node. */
	if (g->owner || g->executable || g->n_stream_captures)
		return TS_CU_ERROR_INVALID_VALUE;
	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, &graph_data);
	pthread_mutex_lock(&graph_lock);
	graph_free_locked(g);
	pthread_mutex_unlock(&graph_lock);
	return 0;
}

static int clone_graph(void **graph_clone, void *original_graph)
{
	struct ts_cupti_graph_data graph_data = {.original_graph = original_graph};
	struct graph *original, *made;
	int r = graph_get(original_graph, &original);

	if (r)
		return r;
	if (!graph_clone)
		return TS_CU_ERROR_INVALID_VALUE;
	made = graph_new();
	if (!made)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&graph_lock);
	r = graph_copy_locked(original, made);
	if (r)
		graph_free_locked(made);
	pthread_mutex_unlock(&graph_lock);
	if (r)
		return r;
	graph_data.graph = made;
	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPH_CLONED, &graph_data);
	graph_report_copies(made, original);
	*graph_clone = made;
	return 0;
}

static int pair_get(const struct graph *graph, const void *from, const void *to,
		    struct graph_node **ret_from, struct graph_node **ret_to)
{
	if (!handle_is(from, HANDLE_GRAPH_NODE) || !handle_is(to, HANDLE_GRAPH_NODE))
		return TS_CU_ERROR_INVALID_VALUE;
	*ret_from = (struct graph_node *)(uintptr_t)from;
	*ret_to = (struct graph_node *)(uintptr_t)to;
	return (*ret_from)->graph == graph && (*ret_to)->graph == graph ? 0
									: TS_CU_ERROR_INVALID_VALUE;
}

static int change_edges(void *graph, const void **from, const void **to, const void *edge_data,
			size_t n, bool add)
{
	struct ts_cupti_graph_data graph_data;
	struct graph_node *a, *b;
	struct graph *g;
	int r = graph_get(graph, &g);

	if (!r)
		r = edges_check(edge_data, n);
	if (r)
		return r;
	if (n && (!from || !to))
		return TS_CU_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < n; i++) {
		r = pair_get(g, from[i], to[i], &a, &b);
		if (r)
			return r;
	}
	for (size_t i = 0; !r && i < n; i++) {
		pair_get(g, from[i], to[i], &a, &b);
		graph_data = data_of(b);
		graph_data.dependency = a;
		if (!add)
			report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING,
				     &graph_data);
		pthread_mutex_lock(&graph_lock);
		if (add)
			r = edge_add_locked(a, b);
		else if (!list_remove(&b->deps, a) || !list_remove(&a->dependents, b))
			r = TS_CU_ERROR_INVALID_VALUE;
		pthread_mutex_unlock(&graph_lock);
		if (add && !r)
			report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED,
				     &graph_data);
	}
	return r;
}

static int add_dependencies(void *graph, const void **from, const void **to, const void *edge_data,
			    size_t num_dependencies)
{
	return change_edges(graph, from, to, edge_data, num_dependencies, true);
}

static int remove_dependencies(void *graph, const void **from, const void **to,
			       const void *edge_data, size_t num_dependencies)
{
	return change_edges(graph, from, to, edge_data, num_dependencies, false);
}

static int destroy_node(void *node)
{
	struct ts_cupti_graph_data graph_data;
	struct graph_node *n;
	int r = node_get(node, &n);

	if (r)
		return r;
	if (n->graph->executable || n->graph->n_stream_captures)
		return TS_CU_ERROR_INVALID_VALUE;
	graph_data = data_of(n);
	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, &graph_data);
	pthread_mutex_lock(&graph_lock);
	node_free_locked(n);
	pthread_mutex_unlock(&graph_lock);
	return 0;
}

#include "tools/vgpu/generated-cuda-graph.h"
