/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs, their nodes and edges: making, copying and asking. A node knows what it depends on and what depends on it; a graph
 * knows its nodes in the order in which they came, which is the order in which everything lists them.
 */
#include <stdlib.h>
#include <string.h>

#include "tools/vgpu/cuda/graph/graph.h"

pthread_mutex_t graph_lock = PTHREAD_MUTEX_INITIALIZER;

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

int list_add(struct node_list *list, struct graph_node *node)
{
	if (list->n == list->capacity) {
		size_t capacity = list->capacity ? 2 * list->capacity : 4;
		void *grown = realloc(list->at, capacity * sizeof(struct graph_node *));

		if (!grown)
			return TS_CU_ERROR_OUT_OF_MEMORY;
		list->at = grown;
		list->capacity = capacity;
	}
	list->at[list->n++] = node;
	return 0;
}

bool list_has(const struct node_list *list, const struct graph_node *node)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i] == node)
			return true;
	return false;
}

static bool list_remove(struct node_list *list, const struct graph_node *node)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->at[i] == node) {
			memmove(list->at + i, list->at + i + 1,
				(--list->n - i) * sizeof(struct graph_node *));
			return true;
		}
	return false;
}

int list_copy(const struct node_list *from, struct node_list *to)
{
	to->n = 0;
	for (size_t i = 0; i < from->n; i++) {
		int r = list_add(to, from->at[i]);

		if (r)
			return r;
	}
	return 0;
}

void list_deinit(struct node_list *list)
{
	free(list->at);
	*list = (struct node_list){.at = NULL};
}

uint32_t graph_next_id(void)
{
	static _Atomic uint32_t last;

	return 1 + atomic_fetch_add_explicit(&last, 1, memory_order_relaxed);
}

struct graph *graph_new(void)
{
	struct graph *graph = handle_new(HANDLE_GRAPH, sizeof(*graph));

	if (!graph)
		return NULL;
	graph->id = graph_next_id();
	graph->end = &graph->nodes;
	return graph;
}

static int edge_add_locked(struct graph_node *from, struct graph_node *to)
{
	int r;

	if (from == to || list_has(&to->deps, from))
		return TS_CU_ERROR_INVALID_VALUE;
	r = list_add(&to->deps, from);
	if (r)
		return r;
	r = list_add(&from->dependents, to);
	if (r)
		to->deps.n--;
	return r;
}

static void node_free_locked(struct graph_node *node)
{
	struct graph *graph = node->graph;

	for (size_t i = 0; i < node->deps.n; i++)
		list_remove(&node->deps.at[i]->dependents, node);
	for (size_t i = 0; i < node->dependents.n; i++)
		list_remove(&node->dependents.at[i]->deps, node);
	list_deinit(&node->deps);
	list_deinit(&node->dependents);
	work_deinit_locked(&node->work);
	*node->prev = node->next;
	if (node->next)
		node->next->prev = node->prev;
	else
		graph->end = node->prev;
	graph->n_nodes--;
	handle_free(node, sizeof(*node));
}

void graph_free_locked(struct graph *graph)
{
	if (!graph)
		return;
	while (graph->nodes)
		node_free_locked(graph->nodes);
	handle_free(graph, sizeof(*graph));
}

int graph_add_locked(struct graph *graph, const struct node_list *deps, struct node_work *work,
		     struct graph_node **ret_node)
{
	struct graph_node *node = handle_new(HANDLE_GRAPH_NODE, sizeof(*node));
	int r = 0;

	if (!node) {
		work_deinit_locked(work);
		return TS_CU_ERROR_OUT_OF_MEMORY;
	}
	node->graph = graph;
	node->id = (uint64_t)graph->id << 32 | ++graph->last_node;
	node->work = *work;
	node->prev = graph->end;
	*graph->end = node;
	graph->end = &node->next;
	graph->n_nodes++;
	if (work->type == TS_CU_GRAPH_NODE_TYPE_GRAPH) {
		work->child->owner = node;
		if (graph->depth <= work->child->depth)
			graph->depth = work->child->depth + 1;
	}
	for (size_t i = 0; !r && deps && i < deps->n; i++)
		r = edge_add_locked(deps->at[i], node);
	if (r) {
		node_free_locked(node);
		return r;
	}
	*ret_node = node;
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
	struct ts_cupti_graph_data told = {.graph = graph, .node_type = work->type};
	int r;

	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CREATE_STARTING, &told);
	pthread_mutex_lock(&graph_lock);
	r = add_checked_locked(graph, dependencies, n_dependencies, work, ret_node);
	pthread_mutex_unlock(&graph_lock);
	if (!r)
		graph_tell_node(*ret_node);
	return r;
}

int graph_copy_locked(const struct graph *from, struct graph *to)
{
	struct graph_node **copies = calloc(from->n_nodes + 1, sizeof(struct graph_node *));
	uint32_t n = 0;
	int r = 0;

	if (!copies)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	to->original_id = from->id;
	for (struct graph_node *node = from->nodes; !r && node; node = node->next) {
		struct node_work work;

		node->visit = n;
		r = work_dup_locked(&node->work, &work);
		if (!r)
			r = graph_add_locked(to, NULL, &work, &copies[n]);
		if (!r) {
			copies[n]->original_id = node->id;
			copies[n++]->disabled = node->disabled;
		}
	}
	n = 0;
	for (struct graph_node *node = from->nodes; !r && node; node = node->next, n++)
		for (size_t i = 0; !r && i < node->deps.n; i++)
			r = edge_add_locked(copies[node->deps.at[i]->visit], copies[n]);
	free(copies);
	return r;
}

int graph_order_locked(struct graph *graph, struct graph_node ***ret_order)
{
	struct graph_node **order = calloc(graph->n_nodes + 1, sizeof(struct graph_node *));
	size_t n = 0;

	if (!order)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	for (struct graph_node *node = graph->nodes; node; node = node->next) {
		node->visit = (uint32_t)node->deps.n;
		if (!node->visit)
			order[n++] = node;
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < order[i]->dependents.n; k++)
			if (!--order[i]->dependents.at[k]->visit)
				order[n++] = order[i]->dependents.at[k];
	if (n != graph->n_nodes) {
		free(order);
		return TS_CU_ERROR_INVALID_VALUE;
	}
	*ret_order = order;
	return 0;
}

static struct ts_cupti_graph_data data_of(const struct graph_node *node)
{
	return (struct ts_cupti_graph_data){
		.graph = node->graph,
		.node = (void *)(uintptr_t)node,
		.node_type = node->work.type,
	};
}

void graph_tell_node(const struct graph_node *node)
{
	struct ts_cupti_graph_data data = data_of(node);

	if (!ts_vgpu_armed())
		return;
	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, &data);
	for (size_t i = 0; i < node->deps.n; i++) {
		data.dependency = node->deps.at[i];
		report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, &data);
	}
}

void graph_tell_copies(const struct graph *graph, const struct graph *original)
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
			graph_tell_copies(node->work.child, from->work.child);
	}
}

void graph_tell_set(const struct graph_node *node)
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
	struct ts_cupti_graph_data told = {.graph = NULL};
	struct graph *made;
	int r = check_ready();

	if (r)
		return r;
	if (!graph || flags)
		return TS_CU_ERROR_INVALID_VALUE;
	made = graph_new();
	if (!made)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	told.graph = made;
	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPH_CREATED, &told);
	*graph = made;
	return 0;
}

static int graph_destroy(void *graph)
{
	struct ts_cupti_graph_data told = {.graph = graph};
	struct graph *g;
	int r = graph_get(graph, &g);

	if (r)
		return r;
	/* A node's own goes with its node. */
	if (g->owner || g->executable || g->n_captures)
		return TS_CU_ERROR_INVALID_VALUE;
	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, &told);
	pthread_mutex_lock(&graph_lock);
	graph_free_locked(g);
	pthread_mutex_unlock(&graph_lock);
	return 0;
}

static int clone_graph(void **graph_clone, void *original_graph)
{
	struct ts_cupti_graph_data told = {.original_graph = original_graph};
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
	told.graph = made;
	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPH_CLONED, &told);
	graph_tell_copies(made, original);
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
	struct ts_cupti_graph_data told;
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
		told = data_of(b);
		told.dependency = a;
		if (!add)
			report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_DESTROY_STARTING,
				     &told);
		pthread_mutex_lock(&graph_lock);
		if (add)
			r = edge_add_locked(a, b);
		else if (!list_remove(&b->deps, a) || !list_remove(&a->dependents, b))
			r = TS_CU_ERROR_INVALID_VALUE;
		pthread_mutex_unlock(&graph_lock);
		if (add && !r)
			report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_DEPENDENCY_CREATED, &told);
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
	struct ts_cupti_graph_data told;
	struct graph_node *n;
	int r = node_get(node, &n);

	if (r)
		return r;
	if (n->graph->executable || n->graph->n_captures)
		return TS_CU_ERROR_INVALID_VALUE;
	told = data_of(n);
	report_graph(TS_CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, &told);
	pthread_mutex_lock(&graph_lock);
	node_free_locked(n);
	pthread_mutex_unlock(&graph_lock);
	return 0;
}

#include "tools/vgpu/generated-cuda-graph.h"
