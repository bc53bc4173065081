/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries of a graph: its nodes, edges and roots, the type of a node, and a node's copy in a cloned
 * graph. Programs call this file through the functions of generated-cuda-graph-ask.h.
 */
#include <string.h>

#include "tools/vgpu/cuda/graph/graph.h"

static int node_find_in_clone(void **node, void *original_node, void *cloned_graph)
{
	struct graph_node *original;
	struct graph *graph;
	int r = node_get(original_node, &original);

	if (!r)
		r = graph_get(cloned_graph, &graph);
	if (r)
		return r;
	if (!node || graph->original_id != original->graph->id)
		return TS_CU_ERROR_INVALID_VALUE;
	for (struct graph_node *n = graph->nodes; n; n = n->next)
		if (n->original_id == original->id) {
			*node = n;
			return 0;
		}
	return TS_CU_ERROR_INVALID_VALUE;
}

static int node_get_type(void *node, int32_t *type)
{
	struct graph_node *n;
	int r = node_get(node, &n);

	if (r)
		return r;
	if (!type)
		return TS_CU_ERROR_INVALID_VALUE;
	*type = n->work.type;
	return 0;
}

/* A list is returned up to its capacity; the rest of the array is cleared. */
struct answer {
	void **at, **also;
	size_t capacity, n;
};

static void answer_add(struct answer *answer, void *value, void *also)
{
	if (answer->at && answer->n < answer->capacity) {
		answer->at[answer->n] = value;
		if (answer->also)
			answer->also[answer->n] = also;
	}
	answer->n++;
}

static int answer_end(struct answer *answer, void *edge_data, size_t *ret_n)
{
	if (!answer->at) {
		*ret_n = answer->n;
		return 0;
	}
	for (size_t i = answer->n; i < answer->capacity; i++) {
		answer->at[i] = NULL;
		if (answer->also)
			answer->also[i] = NULL;
	}
	if (edge_data)
		memset(edge_data, 0, 8 * answer->capacity);
	if (*ret_n > answer->n)
		*ret_n = answer->n;
	return 0;
}

static int graph_list(void *graph, void **nodes, size_t *n, bool roots)
{
	struct answer answer = {.at = nodes};
	struct graph *g;
	int r = graph_get(graph, &g);

	if (r)
		return r;
	if (!n)
		return TS_CU_ERROR_INVALID_VALUE;
	answer.capacity = *n;
	for (struct graph_node *node = g->nodes; node; node = node->next)
		if (!roots || !node->deps.n)
			answer_add(&answer, node, NULL);
	return answer_end(&answer, NULL, n);
}

static int graph_get_nodes(void *graph, void **nodes, size_t *num_nodes)
{
	return graph_list(graph, nodes, num_nodes, false);
}

static int graph_get_root_nodes(void *graph, void **root_nodes, size_t *num_root_nodes)
{
	return graph_list(graph, root_nodes, num_root_nodes, true);
}

static int graph_get_edges(void *graph, void **from, void **to, void *edge_data, size_t *num_edges)
{
	struct answer answer = {.at = from, .also = to};
	struct graph *g;
	int r = graph_get(graph, &g);

	if (r)
		return r;
	if (!num_edges || !from != !to || (edge_data && !from))
		return TS_CU_ERROR_INVALID_VALUE;
	answer.capacity = *num_edges;
	for (struct graph_node *node = g->nodes; node; node = node->next)
		for (size_t i = 0; i < node->deps.n; i++)
			answer_add(&answer, node->deps.at[i], node);
	return answer_end(&answer, edge_data, num_edges);
}

static int node_list_of(void *node, bool dependents, void **nodes, void *edge_data, size_t *n)
{
	struct answer answer = {.at = nodes};
	const struct node_list *list;
	struct graph_node *at;
	int r = node_get(node, &at);

	if (r)
		return r;
	if (!n || (edge_data && !nodes))
		return TS_CU_ERROR_INVALID_VALUE;
	answer.capacity = *n;
	list = dependents ? &at->dependents : &at->deps;
	for (size_t i = 0; i < list->n; i++)
		answer_add(&answer, list->at[i], NULL);
	return answer_end(&answer, edge_data, n);
}

static int node_get_dependencies(void *node, void **dependencies, void *edge_data,
				 size_t *num_dependencies)
{
	return node_list_of(node, false, dependencies, edge_data, num_dependencies);
}

static int node_get_dependent_nodes(void *node, void **dependent_nodes, void *edge_data,
				    size_t *num_dependent_nodes)
{
	return node_list_of(node, true, dependent_nodes, edge_data, num_dependent_nodes);
}

#include "tools/vgpu/generated-cuda-graph-ask.h"
