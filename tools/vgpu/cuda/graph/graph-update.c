/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of executable graphs: the work of one node, or of all nodes from another graph of the
 * same shape. The plan and the copied nodes that it refers to stay. Programs call this file through
 * the functions of generated-cuda-graph-update.h; graph-api.c calls exec_node() and exec_set().
 */
#include "tools/vgpu/cuda/graph/graph.h"

static struct graph_node *find_copy(struct graph *graph, uint64_t original_id)
{
	struct graph_node *found = NULL;

	for (struct graph_node *node = graph->nodes; !found && node; node = node->next) {
		if (node->original_id == original_id)
			found = node;
		else if (node->work.type == TS_CU_GRAPH_NODE_TYPE_GRAPH)
			found = find_copy(node->work.child, original_id);
	}
	return found;
}

int exec_node(struct graph_exec *exec, void *node, struct graph_node **ret_node)
{
	struct graph_node *original;
	int r = node_get(node, &original);

	if (r)
		return r;
	*ret_node = find_copy(exec->graph, original->id);
	return *ret_node ? 0 : TS_CU_ERROR_INVALID_VALUE;
}

/*
 * Returns the error of cuGraphExecUpdate if one node's work cannot replace another's. The context
 * must stay equal, because the plan stays.
 */
static int32_t compare_work(const struct node_work *was, const struct node_work *is)
{
	if (was->type != is->type)
		return TS_CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
	if (was->type == TS_CU_GRAPH_NODE_TYPE_KERNEL && work_context(was) != work_context(is))
		return TS_CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
	if (work_context(was) != work_context(is))
		return TS_CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
	return TS_CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static int32_t compare_locked(struct graph *was, struct graph *is, struct graph_node **ret_node,
			      struct graph_node **ret_from)
{
	struct graph_node *a = was->nodes, *b = is->nodes;
	int32_t result;

	if (was->n_nodes != is->n_nodes)
		return TS_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	for (uint32_t i = 0; a; a = a->next, b = b->next, i++) {
		a->visit = i;
		b->visit = i;
	}
	for (a = was->nodes, b = is->nodes; a; a = a->next, b = b->next) {
		*ret_node = b;
		if (a->deps.n != b->deps.n)
			return TS_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
		for (size_t i = 0; i < b->deps.n; i++) {
			size_t k = 0;

			while (k < a->deps.n && a->deps.at[k]->visit != b->deps.at[i]->visit)
				k++;
			*ret_from = b->deps.at[i];
			if (k == a->deps.n)
				return TS_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
		}
		*ret_from = NULL;
		result = compare_work(&a->work, &b->work);
		if (!result && a->work.type == TS_CU_GRAPH_NODE_TYPE_GRAPH)
			result = compare_locked(a->work.child, b->work.child, ret_node, ret_from);
		if (result)
			return result;
	}
	*ret_node = NULL;
	return 0;
}

static int adopt_locked(struct graph *was, const struct graph *is)
{
	const struct graph_node *b = is->nodes;
	int r = 0;

	for (struct graph_node *a = was->nodes; !r && a; a = a->next, b = b->next) {
		struct node_work work;

		if (a->work.type == TS_CU_GRAPH_NODE_TYPE_GRAPH) {
			r = adopt_locked(a->work.child, b->work.child);
			continue;
		}
		r = work_dup_locked(&b->work, &work);
		if (!r) {
			work_deinit_locked(&a->work);
			a->work = work;
		}
	}
	return r;
}

struct update_result {
	int32_t result;
	void *error_node, *error_from_node;
};

static int exec_update(void *graph_exec, void *graph, void *result_info)
{
	struct update_result *info = result_info;
	struct graph_node *node = NULL, *from = NULL;
	struct graph_exec *exec;
	struct graph *g;
	int32_t result;
	int r = exec_get(graph_exec, &exec);

	if (!r)
		r = graph_get(graph, &g);
	if (r)
		return r;
	pthread_mutex_lock(&exec->lock);
	pthread_mutex_lock(&graph_lock);
	result = compare_locked(exec->graph, g, &node, &from);
	if (!result)
		r = adopt_locked(exec->graph, g);
	pthread_mutex_unlock(&graph_lock);
	pthread_mutex_unlock(&exec->lock);
	if (info)
		*info = (struct update_result){r ? (int32_t)TS_CU_GRAPH_EXEC_UPDATE_ERROR : result,
					       node, from};
	return result ? TS_CU_ERROR_GRAPH_EXEC_UPDATE_FAILURE : r;
}

/* The function of CUDA 10 and 11. */
static int exec_update_v1(void *graph_exec, void *graph, void **error_node, int32_t *update_result)
{
	struct update_result info = {.result = TS_CU_GRAPH_EXEC_UPDATE_ERROR};
	int r = exec_update(graph_exec, graph, &info);

	if (error_node)
		*error_node = info.error_node;
	/* A different shape is "not supported" in this function, as an H200's driver returns. */
	if (info.result == TS_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED)
		info.result = TS_CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
	if (update_result)
		*update_result = info.result;
	return r;
}

int exec_set(struct graph_exec *exec, struct graph_node *node, struct node_work *work)
{
	struct graph_node *at = NULL, *from = NULL;
	int32_t result;

	pthread_mutex_lock(&exec->lock);
	pthread_mutex_lock(&graph_lock);
	result = compare_work(&node->work, work);
	if (!result && work->type == TS_CU_GRAPH_NODE_TYPE_GRAPH) {
		int r = 0;

		/*
		 * The plan refers to the existing nodes of the child graph, so those nodes get the
		 * new work.
		 */
		result = compare_locked(node->work.child, work->child, &at, &from);
		if (!result)
			r = adopt_locked(node->work.child, work->child);
		work_deinit_locked(work);
		pthread_mutex_unlock(&graph_lock);
		pthread_mutex_unlock(&exec->lock);
		return result ? TS_CU_ERROR_INVALID_VALUE : r;
	}
	if (result) {
		work_deinit_locked(work);
	} else {
		work_deinit_locked(&node->work);
		node->work = *work;
	}
	pthread_mutex_unlock(&graph_lock);
	pthread_mutex_unlock(&exec->lock);
	if (!result)
		graph_report_set(node);
	return result ? TS_CU_ERROR_INVALID_VALUE : 0;
}

static int node_enabled(void *graph_exec, void *node, uint32_t *get, uint32_t set)
{
	struct graph_exec *exec;
	struct graph_node *n;
	int r = exec_get(graph_exec, &exec);

	if (!r)
		r = exec_node(exec, node, &n);
	if (r)
		return r;
	if (n->work.type != TS_CU_GRAPH_NODE_TYPE_KERNEL &&
	    n->work.type != TS_CU_GRAPH_NODE_TYPE_MEMSET &&
	    n->work.type != TS_CU_GRAPH_NODE_TYPE_MEMCPY)
		return TS_CU_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&exec->lock);
	if (get)
		*get = !n->disabled;
	else
		n->disabled = !set;
	pthread_mutex_unlock(&exec->lock);
	return 0;
}

static int node_set_enabled(void *graph_exec, void *node, uint32_t is_enabled)
{
	return node_enabled(graph_exec, node, NULL, is_enabled);
}

static int node_get_enabled(void *graph_exec, void *node, uint32_t *is_enabled)
{
	return is_enabled ? node_enabled(graph_exec, node, is_enabled, 0)
			  : TS_CU_ERROR_INVALID_VALUE;
}

#include "tools/vgpu/generated-cuda-graph-update.h"
