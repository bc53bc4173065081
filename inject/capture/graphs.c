/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures graphs. capture-calls.c calls this file. This file asks the driver for nodes and edges,
 * and calls launches.c, copies.c and capture-operations.c.
 *
 * - Instantiation or update: take() asks the driver for all nodes, however the graph was built, and
 *   stores them in an order that the edges allow.
 * - Change of an executable graph (parameters, enabled or not): change() updates the stored node.
 * - Launch: one GRAPH_LAUNCH, then one operation for each enabled node, in the stored order.
 *   Arguments and host bytes are captured at each launch. Host bytes are captured before the call,
 *   because nodes may change them at once.
 *
 * A graph with a part that cannot be captured is named as unsupported, once.
 */
#include <dlfcn.h>
#include <sys/mman.h>

#include "inject/capture/capture.h"
#include "inject/context.h"
#include "proto/abi/vendor/cuda_driver_params.h"
#include "proto/abi/vendor/cupti_cbid.h"

#define ID(name)     TS_CUPTI_DRIVER_CBID_##name

#define MAX_DEPTH    16u
#define MAX_NODES    (1u << 20)
#define DEVICE_FLAGS 4u /* CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH */

struct node {
	uint64_t handle;
	uint32_t type; /* enum ts_cu_graph_node_type */
	bool disabled;
	uint32_t n_inside; /* child graph: the next n_inside nodes belong to it */
	union {
		struct {
			uint64_t handle;
			/*
			 * Handle of the kernel to which the function `handle` belongs, until
			 * put_function() has put the function into the lane; 0: none.
			 */
			uint64_t kernel;
			uint32_t grid[3], block[3];
			uint32_t shared_bytes;
			uint32_t context; /* 0: the context of the launch */
			uint32_t at, n;	  /* offset and size of its arguments */
			uint32_t flags;	  /* TS_OPERATION_COOPERATIVE */
			uint64_t cluster; /* TS_OPERATION_CLUSTER() */
		} kernel;
		struct ts_capture_copy copy;
		struct ts_cu_memset_node_params fill;
		uint64_t event;
	};
};

struct graph {
	struct ts_pages nodes;
	size_t n_nodes;
	struct ts_pages arguments;
	size_t n_arguments;
	/* name of the first part of the graph that cannot be captured; NULL: all can */
	const char *missing;
	bool reported;
};

static struct node *nodes_of(const struct graph *graph)
{
	return (struct node *)(void *)graph->nodes.at;
}

static void clear(struct graph *graph)
{
	ts_pages_free(&graph->nodes);
	ts_pages_free(&graph->arguments);
	*graph = (struct graph){0};
}

static struct graph *graph_of(struct ts_capture *capture, const void *exec, bool make)
{
	uint32_t *number = ts_handles_get(&capture->graph_numbers, (uint64_t)(uintptr_t)exec);
	struct graph *graphs;

	if (!number || (!*number && !make))
		return NULL;
	if (!*number) {
		if (!ts_pages_grow(&capture->graphs, (capture->n_graphs + 1) * sizeof(*graphs)))
			return NULL;
		*number = (uint32_t)++capture->n_graphs;
	}
	graphs = (struct graph *)(void *)capture->graphs.at;
	return &graphs[*number - 1];
}

void ts_capture_find_graph_driver(struct ts_capture_graph_driver *driver, void *library)
{
	*(void **)&driver->nodes = dlsym(library, "cuGraphGetNodes");
	*(void **)&driver->edges = dlsym(library, "cuGraphGetEdges_v2");
	*(void **)&driver->old_edges = dlsym(library, "cuGraphGetEdges");
	*(void **)&driver->type = dlsym(library, "cuGraphNodeGetType");
	*(void **)&driver->kernel = dlsym(library, "cuGraphKernelNodeGetParams_v2");
	if (!driver->kernel)
		*(void **)&driver->kernel = dlsym(library, "cuGraphKernelNodeGetParams");
	*(void **)&driver->attribute = dlsym(library, "cuGraphKernelNodeGetAttribute");
	*(void **)&driver->copy = dlsym(library, "cuGraphMemcpyNodeGetParams");
	*(void **)&driver->fill = dlsym(library, "cuGraphMemsetNodeGetParams");
	*(void **)&driver->child = dlsym(library, "cuGraphChildGraphNodeGetGraph");
	*(void **)&driver->record = dlsym(library, "cuGraphEventRecordNodeGetEvent");
	*(void **)&driver->wait = dlsym(library, "cuGraphEventWaitNodeGetEvent");
}

static bool set_kernel(struct ts_capture *capture, struct graph *graph, struct node *node,
		       const struct ts_cu_kernel_node_params *params)
{
	void *handle = params->func ?: params->kern;
	const void *bytes;
	size_t n;

	if (!handle || !ts_capture_arguments(capture, handle, params->kernel_params, params->extra,
					     &bytes, &n)) {
		graph->missing = "a graph with a kernel whose arguments the driver does not report";
		return false;
	}
	if (!node->kernel.n || n > node->kernel.n) {
		if (n > UINT32_MAX - graph->n_arguments ||
		    !ts_pages_grow(&graph->arguments, graph->n_arguments + n + 8))
			return false;
		node->kernel.at = (uint32_t)graph->n_arguments;
		graph->n_arguments += n;
	}
	if (n)
		memcpy(graph->arguments.at + node->kernel.at, bytes, n);
	node->kernel.n = (uint32_t)n;
	node->kernel.handle = (uint64_t)(uintptr_t)handle;
	memcpy(node->kernel.grid, &params->grid_dim_x, sizeof(node->kernel.grid));
	memcpy(node->kernel.block, &params->block_dim_x, sizeof(node->kernel.block));
	node->kernel.shared_bytes = params->shared_mem_bytes;
	node->kernel.kernel = params->func ? (uint64_t)(uintptr_t)params->kern : 0;
	node->kernel.context = 0;
	if (params->kern)
		(void)ts_capture_context(capture, params->ctx, &node->kernel.context);
	return true;
}

static bool set_copy(struct graph *graph, struct node *node, const struct ts_cu_memcpy_3d *params)
{
	if (ts_capture_copy_3d(params, &node->copy)) {
		node->copy.async = true;
		return true;
	}
	graph->missing = "a graph that copies arrays";
	return false;
}

static bool read_kernel(struct ts_capture *capture, struct graph *graph, struct node *node,
			void *handle)
{
	const struct ts_capture_graph_driver *ask = &capture->driver->graphs;
	static const int32_t attributes[] = {TS_CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
					     TS_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
	struct ts_cu_kernel_node_params params = {0};
	struct ts_record_operation launch = {0};

	if (!ask->kernel || ask->kernel(handle, &params))
		return false;
	for (size_t i = 0; ask->attribute && i < sizeof(attributes) / sizeof(attributes[0]); i++) {
		union ts_cu_launch_attribute_value value = {0};
		const char *lacks =
			ask->attribute(handle, attributes[i], &value)
				? NULL
				: ts_capture_launch_attribute(attributes[i], &value, &launch);

		if (lacks) {
			graph->missing = lacks;
			return false;
		}
	}
	node->kernel.flags = launch.operation_flags;
	node->kernel.cluster = launch.value;
	return set_kernel(capture, graph, node, &params);
}

static bool read_graph(struct ts_capture *capture, struct graph *graph, void *handle,
		       uint32_t depth);

/* Reads a node from the driver into the graph's last node. */
static bool read_node(struct ts_capture *capture, struct graph *graph, void *handle, uint32_t depth)
{
	const struct ts_capture_graph_driver *ask = &capture->driver->graphs;
	size_t at = graph->n_nodes - 1;
	struct node *node = &nodes_of(graph)[at];
	struct ts_cu_memcpy_3d copy = {0};
	void *other = NULL;

	switch (node->type) {
	case TS_CU_GRAPH_NODE_TYPE_EMPTY:
		return true;
	case TS_CU_GRAPH_NODE_TYPE_KERNEL:
		return read_kernel(capture, graph, node, handle);
	case TS_CU_GRAPH_NODE_TYPE_MEMCPY:
		return ask->copy && !ask->copy(handle, &copy) && set_copy(graph, node, &copy);
	case TS_CU_GRAPH_NODE_TYPE_MEMSET:
		return ask->fill && !ask->fill(handle, &node->fill);
	case TS_CU_GRAPH_NODE_TYPE_GRAPH:
		if (!ask->child || ask->child(handle, &other) ||
		    !read_graph(capture, graph, other, depth + 1))
			return false;
		nodes_of(graph)[at].n_inside = (uint32_t)(graph->n_nodes - at - 1);
		return true;
	case TS_CU_GRAPH_NODE_TYPE_EVENT_RECORD:
	case TS_CU_GRAPH_NODE_TYPE_WAIT_EVENT: {
		int (*of)(void *, void **) =
			node->type == TS_CU_GRAPH_NODE_TYPE_WAIT_EVENT ? ask->wait : ask->record;

		if (!of || of(handle, &other))
			return false;
		node->event = (uint64_t)(uintptr_t)other;
		return true;
	}
	case TS_CU_GRAPH_NODE_TYPE_HOST:
		graph->missing = "a graph with host functions";
		return false;
	case TS_CU_GRAPH_NODE_TYPE_MEM_ALLOC:
	case TS_CU_GRAPH_NODE_TYPE_MEM_FREE:
		graph->missing = "a graph that allocates or frees memory";
		return false;
	default:
		graph->missing = "a graph with nodes of a type that capture does not support";
		return false;
	}
}

/* Work space for sorting nodes. `places` receives the indexes into `handles` in sorted order. */
struct order {
	struct ts_pages handles, from, to;
	struct ts_pages places, n_before, first, next;
	struct ts_handles number;
	size_t n, n_edges;
};

static void free_order(struct order *order)
{
	struct ts_pages *all[] = {&order->handles,  &order->from,  &order->to,	&order->places,
				  &order->n_before, &order->first, &order->next};

	for (size_t i = 0; i < TS_ARRAY_LEN(all); i++)
		ts_pages_free(all[i]);
	ts_handles_deinit(&order->number);
}

static bool ask_edges(const struct ts_capture_graph_driver *ask, void *graph, struct order *order)
{
	size_t n = 0;
	int r;

	if (!ask->edges && !ask->old_edges)
		return false;
	r = ask->edges ? ask->edges(graph, NULL, NULL, NULL, &n)
		       : ask->old_edges(graph, NULL, NULL, &n);
	order->n_edges = n;
	if (r || n > 16 * (size_t)MAX_NODES)
		return false;
	if (!n)
		return true;
	if (!ts_pages_grow(&order->from, n * sizeof(void *)) ||
	    !ts_pages_grow(&order->to, n * sizeof(void *)))
		return false;
	if (!ask->edges)
		return !ask->old_edges(graph, (void **)(void *)order->from.at,
				       (void **)(void *)order->to.at, &order->n_edges);
	/*
	 * cuGraphGetEdges_v2() also fills a buffer of edge data, 8 bytes for each edge. `next`
	 * serves as this buffer.
	 */
	return ts_pages_grow(&order->next, n * sizeof(uint64_t)) &&
	       !ask->edges(graph, (void **)(void *)order->from.at, (void **)(void *)order->to.at,
			   order->next.at, &order->n_edges);
}

/* Returns the index of a handle plus 1; 0 if the handle is not in the graph. */
static uint32_t number_of(struct order *order, const void *handle)
{
	const uint32_t *number = ts_handles_get(&order->number, (uint64_t)(uintptr_t)handle);

	return number ? *number : 0;
}

/*
 * Topological sort: each node follows the nodes that it depends on; otherwise the driver's order
 * stays. Returns false on a cycle, an unknown handle, or no memory.
 */
static bool sort(struct order *order)
{
	void **handles = (void **)(void *)order->handles.at;
	void **from = (void **)(void *)order->from.at, **to = (void **)(void *)order->to.at;
	uint32_t *places, *n_before, *first, *next;
	size_t n_placed = 0;

	if (!ts_pages_grow(&order->places, order->n * sizeof(uint32_t)) ||
	    !ts_pages_grow(&order->n_before, order->n * sizeof(uint32_t)) ||
	    !ts_pages_grow(&order->first, order->n * sizeof(uint32_t)) ||
	    !ts_pages_grow(&order->next, order->n_edges * sizeof(uint64_t)))
		return false;
	places = (void *)order->places.at;
	n_before = (void *)order->n_before.at;
	first = (void *)order->first.at;
	next = (void *)order->next.at;
	for (size_t i = 0; i < order->n; i++) {
		uint32_t *number = ts_handles_get(&order->number, (uint64_t)(uintptr_t)handles[i]);

		if (!number)
			return false;
		*number = (uint32_t)i + 1;
	}
	for (size_t i = order->n_edges; i-- > 0;) {
		uint32_t a = number_of(order, from[i]), b = number_of(order, to[i]);

		if (!a || !b)
			return false;
		n_before[b - 1]++;
		next[i] = first[a - 1];
		first[a - 1] = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < order->n; i++)
		if (!n_before[i])
			places[n_placed++] = (uint32_t)i;
	for (size_t i = 0; i < n_placed; i++)
		for (uint32_t edge = first[places[i]]; edge; edge = next[edge - 1]) {
			uint32_t b = number_of(order, to[edge - 1]) - 1;

			if (!--n_before[b])
				places[n_placed++] = b;
		}
	return n_placed == order->n;
}

static bool read_sorted(struct ts_capture *capture, struct graph *graph, const struct order *order,
			uint32_t depth)
{
	void **handles = (void **)(void *)order->handles.at;
	const uint32_t *places = (const void *)order->places.at;

	for (size_t i = 0; i < order->n; i++) {
		struct node node = {.handle = (uint64_t)(uintptr_t)handles[places[i]]};
		int32_t type;

		if (!capture->driver->graphs.type ||
		    capture->driver->graphs.type(handles[places[i]], &type) ||
		    graph->n_nodes >= MAX_NODES ||
		    !ts_pages_grow(&graph->nodes, (graph->n_nodes + 1) * sizeof(node)))
			return false;
		node.type = (uint32_t)type;
		nodes_of(graph)[graph->n_nodes++] = node;
		if (!read_node(capture, graph, handles[places[i]], depth))
			return false;
	}
	return true;
}

static bool read_graph(struct ts_capture *capture, struct graph *graph, void *handle,
		       uint32_t depth)
{
	const struct ts_capture_graph_driver *ask = &capture->driver->graphs;
	struct order order = {0};
	bool good;

	if (depth > MAX_DEPTH || !ask->nodes || ask->nodes(handle, NULL, &order.n) ||
	    order.n > MAX_NODES)
		return false;
	good = ts_pages_grow(&order.handles, order.n * sizeof(void *)) &&
	       (!order.n || !ask->nodes(handle, (void **)(void *)order.handles.at, &order.n)) &&
	       ask_edges(ask, handle, &order) && sort(&order) &&
	       read_sorted(capture, graph, &order, depth);
	free_order(&order);
	return good;
}

/* Replaces the stored nodes of an executable graph by the nodes of a graph. */
static void take(struct ts_capture *capture, const void *exec, void *from, uint64_t flags)
{
	struct graph *graph = graph_of(capture, exec, true);
	bool any_disabled = false;

	if (!graph) {
		ts_lane_end(&capture->lane, TS_LANE_NO_MEMORY);
		return;
	}
	for (size_t i = 0; i < graph->n_nodes; i++)
		any_disabled |= nodes_of(graph)[i].disabled;
	clear(graph);
	if (any_disabled)
		graph->missing = "a graph that was updated while nodes were disabled";
	else if (!read_graph(capture, graph, from, 0) && !graph->missing)
		graph->missing = "a graph whose nodes the driver does not report";
	else if (flags & DEVICE_FLAGS && !graph->missing)
		graph->missing = "a graph that kernels can launch";
}

static void change_child(struct ts_capture *capture, struct graph *graph, size_t at, void *from)
{
	struct graph inside = {0};
	struct node *node = &nodes_of(graph)[at];

	if (!read_graph(capture, &inside, from, 1) || inside.n_nodes != node->n_inside ||
	    !ts_pages_grow(&graph->arguments, graph->n_arguments + inside.n_arguments + 8)) {
		graph->missing = inside.missing ?: "a graph whose child was changed";
		clear(&inside);
		return;
	}
	for (size_t i = 0; i < inside.n_nodes; i++) {
		struct node one = nodes_of(&inside)[i];

		if (one.type == TS_CU_GRAPH_NODE_TYPE_KERNEL)
			one.kernel.at += (uint32_t)graph->n_arguments;
		nodes_of(graph)[at + 1 + i] = one;
	}
	if (inside.n_arguments)
		memcpy(graph->arguments.at + graph->n_arguments, inside.arguments.at,
		       inside.n_arguments);
	graph->n_arguments += inside.n_arguments;
	clear(&inside);
}

/*
 * Changes one node. `to` is the parameter structure of the node's kind, or the handle of a child
 * graph or an event.
 */
static void change_node(struct ts_capture *capture, struct graph *graph, size_t at, const void *to)
{
	struct node *node = &nodes_of(graph)[at];
	struct ts_cu_kernel_node_params kernel;

	switch (node->type) {
	case TS_CU_GRAPH_NODE_TYPE_KERNEL:
		kernel = *(const struct ts_cu_kernel_node_params *)to;
		/* If there is a function, the driver ignores the application's `kern` and `ctx`. */
		if (kernel.func)
			kernel.kern = kernel.ctx = NULL;
		(void)set_kernel(capture, graph, node, &kernel);
		break;
	case TS_CU_GRAPH_NODE_TYPE_MEMCPY:
		(void)set_copy(graph, node, to);
		break;
	case TS_CU_GRAPH_NODE_TYPE_MEMSET:
		memcpy(&node->fill, to, sizeof(node->fill));
		break;
	case TS_CU_GRAPH_NODE_TYPE_GRAPH:
		change_child(capture, graph, at, (void *)(uintptr_t)to);
		break;
	case TS_CU_GRAPH_NODE_TYPE_EVENT_RECORD:
	case TS_CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		node->event = (uint64_t)(uintptr_t)to;
		break;
	default:
		graph->missing =
			"a graph with changed nodes of a type that capture does not support";
		break;
	}
}

/* Returns the part of generic node parameters that change_node() expects. */
static const void *of_kind(const struct ts_cu_graph_node_params *params)
{
	switch (params->type) {
	case TS_CU_GRAPH_NODE_TYPE_MEMCPY:
		return &((const struct ts_cu_memcpy_node_params *)(const void *)params->params)
				->copy_params;
	case TS_CU_GRAPH_NODE_TYPE_GRAPH:
	case TS_CU_GRAPH_NODE_TYPE_EVENT_RECORD:
	case TS_CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return (const void *)(uintptr_t)params->params[0];
	default:
		return params->params;
	}
}

/*
 * Handles cuGraphExec...SetParams() and cuGraphNodeSetEnabled(). All have the executable graph and
 * the node as first parameters.
 */
static void change(struct ts_capture *capture, uint32_t cbid,
		   const struct ts_cu_graph_exec_set_params_params *p)
{
	struct graph *graph = graph_of(capture, p->graph_exec, false);
	struct ts_cu_kernel_node_params kernel = {0};
	size_t i = 0;

	if (!graph || graph->missing)
		return;
	while (i < graph->n_nodes && nodes_of(graph)[i].handle != (uint64_t)(uintptr_t)p->node)
		i++;
	if (i == graph->n_nodes) {
		/* The handle belongs to the original graph, from before an update. */
		graph->missing =
			"an executable graph whose nodes were changed by handles of its original graph "
			"after cuGraphExecUpdate";
		return;
	}
	switch (cbid) {
	case ID(cuGraphNodeSetEnabled):
		nodes_of(graph)[i].disabled =
			!((const struct ts_cu_graph_node_set_enabled_params *)(const void *)p)
				 ->is_enabled;
		break;
	case ID(cuGraphExecNodeSetParams):
		change_node(capture, graph, i, of_kind(p->params));
		break;
	case ID(cuGraphExecKernelNodeSetParams):
		/* The older form ends before `kern`. */
		memcpy(&kernel, p->params, offsetof(struct ts_cu_kernel_node_params, kern));
		change_node(capture, graph, i, &kernel);
		break;
	default:
		change_node(capture, graph, i, p->params);
		break;
	}
}

/*
 * Trap: a captured launch of a library's kernel makes a node with the kernel's function. No call
 * returned this function's handle to the program, and handles are reused. So each instantiation
 * puts a FUNCTION operation that names the kernel again.
 */
static void put_function(struct ts_capture *capture, const struct ts_record_operation *launch,
			 struct node *node)
{
	struct ts_record_operation operation = *launch;

	if (!node->kernel.kernel)
		return;
	operation.kind = TS_OPERATION_FUNCTION;
	operation.operation_flags = 0;
	operation.stream = 0;
	operation.object = node->kernel.handle;
	/*
	 * A FUNCTION operation without a name: its parent is a kernel, and its object is the same
	 * function in a context.
	 */
	operation.parent = node->kernel.kernel;
	if (ts_lane_put(&capture->lane, &operation))
		node->kernel.kernel = 0;
}

static void put_node(struct ts_capture *capture, const struct ts_record_operation *launch,
		     struct graph *graph, struct node *node)
{
	struct ts_record_operation model = *launch;

	switch (node->type) {
	case TS_CU_GRAPH_NODE_TYPE_KERNEL:
		memcpy(model.grid, node->kernel.grid, sizeof(model.grid));
		memcpy(model.block, node->kernel.block, sizeof(model.block));
		model.shared_bytes = node->kernel.shared_bytes;
		model.operation_flags |= node->kernel.flags;
		model.value = node->kernel.cluster;
		if (node->kernel.context && node->kernel.context != launch->context)
			ts_capture_unsupported(capture, launch,
					       "a graph's kernels in several contexts");
		else {
			put_function(capture, launch, node);
			ts_capture_launch_packed(capture, &model, node->kernel.handle,
						 graph->arguments.at + node->kernel.at,
						 node->kernel.n);
		}
		break;
	case TS_CU_GRAPH_NODE_TYPE_MEMCPY:
		ts_capture_copies(capture, &model, &node->copy);
		node->copy.content = 0;
		break;
	case TS_CU_GRAPH_NODE_TYPE_MEMSET:
		ts_capture_fill(capture, &model, &node->fill);
		break;
	case TS_CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		ts_capture_event_record(capture, &model, node->event);
		break;
	case TS_CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		ts_capture_event_wait(capture, &model, node->event);
		break;
	default:
		break;
	}
}

static void launch(struct ts_capture *capture, const struct ts_record_operation *model,
		   const void *exec)
{
	struct ts_record_operation operation = *model;
	struct graph *graph = graph_of(capture, exec, false);

	if (ts_capture_is_captured(capture, model->stream))
		return;
	if (!graph || graph->missing) {
		if (!graph || !graph->reported)
			ts_capture_unsupported(capture, model,
					       graph ? graph->missing
						     : "a graph whose creation was not recorded");
		if (graph)
			graph->reported = true;
		return;
	}
	operation.kind = TS_OPERATION_GRAPH_LAUNCH;
	operation.object = (uint64_t)(uintptr_t)exec;
	(void)ts_lane_put(&capture->lane, &operation);
	operation = *model;
	operation.operation_flags |= TS_OPERATION_OF_GRAPH;
	for (size_t i = 0; i < graph->n_nodes; i++)
		if (!nodes_of(graph)[i].disabled)
			put_node(capture, &operation, graph, &nodes_of(graph)[i]);
}

/*
 * Captures the source of a copy, unless an earlier node writes it: `written` has the host memory
 * that the nodes before have as targets.
 */
static void begin_copy(struct ts_capture *capture, const struct ts_record_operation *model,
		       struct ts_capture_copy *copy, struct ts_memory_map *written)
{
	bool dst_host;
	const uint32_t content = ts_capture_copy_begins(capture, model, copy, &dst_host);

	copy->content = ts_memory_map_find(written, copy->src) ? 0 : content;
	if (dst_host)
		(void)ts_memory_map_add(written, copy->dst, copy->depth * copy->dst_slice, 0, 0);
}

void ts_capture_graph_begins(struct ts_capture *capture, const struct ts_record_operation *model,
			     const void *exec)
{
	const struct graph *graph = graph_of(capture, exec, false);
	struct ts_memory_map written = {0};

	if (!graph || graph->missing || ts_capture_is_captured(capture, model->stream))
		return;
	for (size_t i = 0; i < graph->n_nodes; i++) {
		struct node *node = &nodes_of(graph)[i];

		if (node->disabled)
			continue;
		if (node->type == TS_CU_GRAPH_NODE_TYPE_KERNEL && capture->memory.has_host)
			ts_capture_hand_over(capture, model, graph->arguments.at + node->kernel.at,
					     node->kernel.n);
		else if (node->type == TS_CU_GRAPH_NODE_TYPE_MEMCPY)
			begin_copy(capture, model, &node->copy, &written);
	}
	ts_pages_free(&written.pages);
}

bool ts_capture_graph_call(struct ts_capture *capture, uint32_t cbid, const void *params,
			   struct ts_record_operation *model)
{
	switch (cbid) {
	case ID(cuGraphInstantiate):
	case ID(cuGraphInstantiate_v2):
	case ID(cuGraphInstantiateWithFlags): {
		/* The first two parameters are the same in all three calls. */
		const struct ts_cu_graph_instantiate_with_flags_params *p = params;

		take(capture, *p->graph_exec, p->graph,
		     cbid == ID(cuGraphInstantiateWithFlags) ? p->flags : 0);
		return true;
	}
	case ID(cuGraphInstantiateWithParams):
	case ID(cuGraphInstantiateWithParams_ptsz): {
		const struct ts_cu_graph_instantiate_with_params_params *p = params;

		/* The structure begins with the flags. */
		take(capture, *p->graph_exec, p->graph, *(const uint64_t *)p->instantiate_params);
		return true;
	}
	case ID(cuGraphExecUpdate):
	case ID(cuGraphExecUpdate_v2): {
		const struct ts_cu_graph_exec_update_params *p = params;

		take(capture, p->graph_exec, p->graph, 0);
		return true;
	}
	case ID(cuGraphExecKernelNodeSetParams):
	case ID(cuGraphExecKernelNodeSetParams_v2):
	case ID(cuGraphExecMemcpyNodeSetParams):
	case ID(cuGraphExecMemsetNodeSetParams):
	case ID(cuGraphExecChildGraphNodeSetParams):
	case ID(cuGraphExecEventRecordNodeSetEvent):
	case ID(cuGraphExecEventWaitNodeSetEvent):
	case ID(cuGraphExecNodeSetParams):
	case ID(cuGraphNodeSetEnabled):
		change(capture, cbid, params);
		return true;
	case ID(cuGraphExecDestroy): {
		struct graph *graph = graph_of(capture, *(void *const *)params, false);

		if (graph)
			clear(graph);
		return true;
	}
	case ID(cuGraphLaunch):
	case ID(cuGraphLaunch_ptsz): {
		const struct ts_cu_graph_launch_params *p = params;

		model->stream = ts_capture_stream(cbid, p->stream);
		launch(capture, model, p->graph_exec);
		return true;
	}
	default:
		return false;
	}
}
