/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs as data: nodes with their work, and edges between them. A node's work may be a graph, so
 * this file creates, copies and frees both. The other graph and capture files call this file.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/abi/grow.h"
#include "tools/vgpu/cuda/graph/graph.h"

pthread_mutex_t graph_lock = PTHREAD_MUTEX_INITIALIZER;

int list_add(struct node_list *list, struct graph_node *node)
{
	if (TS_GROW(list->at, list->capacity, list->n + 1))
		return TS_CU_ERROR_OUT_OF_MEMORY;
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

bool list_remove(struct node_list *list, const struct graph_node *node)
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

int edge_add_locked(struct graph_node *from, struct graph_node *to)
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

void work_deinit_locked(struct node_work *work)
{
	if (work->type == TS_CU_GRAPH_NODE_TYPE_KERNEL) {
		free(work->kernel.params);
		free(work->kernel.pointers);
	} else if (work->type == TS_CU_GRAPH_NODE_TYPE_GRAPH) {
		graph_free_locked(work->child);
	}
	*work = (struct node_work){.type = TS_CU_GRAPH_NODE_TYPE_EMPTY};
}

void node_free_locked(struct graph_node *node)
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

int work_params_new(struct node_work *work, const struct ts_vgpu_kernel *decl)
{
	work->kernel.params = calloc(1, decl->params_bytes + 1u);
	work->kernel.pointers = calloc(decl->n_params + 1, sizeof(void *));
	if (!work->kernel.params || !work->kernel.pointers) {
		free(work->kernel.params);
		free(work->kernel.pointers);
		return TS_CU_ERROR_OUT_OF_MEMORY;
	}
	for (size_t i = 0; i < decl->n_params; i++)
		work->kernel.pointers[i] = work->kernel.params + decl->params[i].offset;
	return 0;
}

int work_launch(const struct function *f, const struct launch *l, const uint8_t *params,
		struct node_work *ret_work)
{
	struct node_work work = {.type = TS_CU_GRAPH_NODE_TYPE_KERNEL};
	int r = work_params_new(&work, f->decl);

	if (r)
		return r;
	work.kernel.function = (struct function *)(uintptr_t)f;
	work.kernel.launch = *l;
	if (f->decl->params_bytes)
		memcpy(work.kernel.params, params, f->decl->params_bytes);
	*ret_work = work;
	return 0;
}

int work_child_locked(const struct graph *child, struct node_work *ret_work)
{
	struct graph *copy;
	int r;

	if (child->depth + 1 >= GRAPH_MAX_DEPTH)
		return NOT_SERVED("graphs nested so deeply", "nest fewer child graphs");
	copy = graph_new();
	if (!copy)
		return TS_CU_ERROR_OUT_OF_MEMORY;
	r = graph_copy_locked(child, copy);
	if (r) {
		graph_free_locked(copy);
		return r;
	}
	*ret_work = (struct node_work){.type = TS_CU_GRAPH_NODE_TYPE_GRAPH, .child = copy};
	return 0;
}

int work_dup_locked(const struct node_work *from, struct node_work *ret_work)
{
	int r;

	switch (from->type) {
	case TS_CU_GRAPH_NODE_TYPE_KERNEL:
		r = work_launch(from->kernel.function, &from->kernel.launch, from->kernel.params,
				ret_work);
		if (!r)
			ret_work->kernel.priority = from->kernel.priority;
		return r;
	case TS_CU_GRAPH_NODE_TYPE_GRAPH:
		r = work_child_locked(from->child, ret_work);
		return r;
	default:
		*ret_work = *from;
		return 0;
	}
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
