/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls for nodes, by kind: add a node to a graph, get its work, set its work in the graph or in an
 * executable graph. Programs call this file through the functions of generated-cuda-graph-api.h;
 * this file calls graph-node.c, graph-update.c and graph.c.
 */
#include "tools/vgpu/cuda/graph/graph.h"

/* The struct of CUDA 10 and 11 has no kernel and no context. */
struct kernel_params_v1 {
	void *func;
	uint32_t grid[3], block[3];
	uint32_t shared_mem_bytes;
	void **kernel_params;
	void **extra;
};

static void kernel_params_from_v1(const struct kernel_params_v1 *v1,
				  struct ts_cu_kernel_node_params *ret_params)
{
	*ret_params = (struct ts_cu_kernel_node_params){
		.func = v1->func,
		.grid_dim_x = v1->grid[0],
		.grid_dim_y = v1->grid[1],
		.grid_dim_z = v1->grid[2],
		.block_dim_x = v1->block[0],
		.block_dim_y = v1->block[1],
		.block_dim_z = v1->block[2],
		.shared_mem_bytes = v1->shared_mem_bytes,
		.kernel_params = v1->kernel_params,
		.extra = v1->extra,
	};
}

/* Adds a node for work. r: result of reading the work. */
static int add(int r, void **graph_node, void *graph, const void **dependencies,
	       size_t n_dependencies, struct node_work *work)
{
	struct graph_node *node;
	struct graph *g;

	if (r)
		return r;
	r = graph_node ? graph_get(graph, &g) : TS_CU_ERROR_INVALID_VALUE;
	if (r) {
		pthread_mutex_lock(&graph_lock);
		work_deinit_locked(work);
		pthread_mutex_unlock(&graph_lock);
		return r;
	}
	r = graph_add(g, dependencies, n_dependencies, work, &node);
	if (!r)
		*graph_node = node;
	return r;
}

/* Returns a node of a type; a node of another type is an error. */
static int typed(void *node, int32_t type, struct graph_node **ret_node)
{
	int r = node_get(node, ret_node);

	return r ? r : (*ret_node)->work.type == type ? 0 : TS_CU_ERROR_INVALID_VALUE;
}

static int set(int r, void *node, struct node_work *work)
{
	struct graph_node *n;

	if (r)
		return r;
	r = typed(node, work->type, &n);
	if (!r && n->graph->executable)
		r = TS_CU_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&graph_lock);
	if (r) {
		work_deinit_locked(work);
	} else {
		work_deinit_locked(&n->work);
		n->work = *work;
		if (work->type == TS_CU_GRAPH_NODE_TYPE_GRAPH)
			work->child->owner = n;
	}
	pthread_mutex_unlock(&graph_lock);
	if (!r)
		graph_report_set(n);
	return r;
}

static int set_in_exec(int r, void *graph_exec, void *node, struct node_work *work)
{
	struct graph_exec *exec;
	struct graph_node *n;

	if (r)
		return r;
	r = exec_get(graph_exec, &exec);
	if (!r)
		r = exec_node(exec, node, &n);
	if (!r)
		return exec_set(exec, n, work);
	pthread_mutex_lock(&graph_lock);
	work_deinit_locked(work);
	pthread_mutex_unlock(&graph_lock);
	return r;
}

static int add_kernel(void **graph_node, void *graph, const void **dependencies,
		      size_t num_dependencies, const struct ts_cu_kernel_node_params *node_params)
{
	struct node_work work;
	int r = work_kernel(node_params, &work);

	return add(r, graph_node, graph, dependencies, num_dependencies, &work);
}

static int add_kernel_v1(void **graph_node, void *graph, const void **dependencies,
			 size_t num_dependencies, const struct kernel_params_v1 *node_params)
{
	struct ts_cu_kernel_node_params params;

	if (!node_params)
		return TS_CU_ERROR_INVALID_VALUE;
	kernel_params_from_v1(node_params, &params);
	return add_kernel(graph_node, graph, dependencies, num_dependencies, &params);
}

static int kernel_get(void *node, struct ts_cu_kernel_node_params *node_params)
{
	struct graph_node *n;
	int r = typed(node, TS_CU_GRAPH_NODE_TYPE_KERNEL, &n);

	if (r)
		return r;
	if (!node_params)
		return TS_CU_ERROR_INVALID_VALUE;
	kernel_params_of(&n->work, node_params);
	return 0;
}

static int kernel_get_v1(void *node, struct kernel_params_v1 *node_params)
{
	struct ts_cu_kernel_node_params p;
	struct graph_node *n;
	int r = kernel_get(node, &p);

	if (!r)
		r = node_params ? node_get(node, &n) : TS_CU_ERROR_INVALID_VALUE;
	if (r)
		return r;
	*node_params = (struct kernel_params_v1){
		.func = n->work.kernel.function,
		.grid = {p.grid_dim_x, p.grid_dim_y, p.grid_dim_z},
		.block = {p.block_dim_x, p.block_dim_y, p.block_dim_z},
		.shared_mem_bytes = p.shared_mem_bytes,
		.kernel_params = p.kernel_params,
	};
	return 0;
}

/* Reads a kernel node's parameters again after a change; the node keeps its attributes. */
static int reread_kernel(const struct graph_node *was,
			 const struct ts_cu_kernel_node_params *node_params,
			 struct node_work *ret_work)
{
	int r = work_kernel(node_params, ret_work);

	if (!r && was->work.type == TS_CU_GRAPH_NODE_TYPE_KERNEL) {
		ret_work->kernel.launch.cooperative = was->work.kernel.launch.cooperative;
		ret_work->kernel.priority = was->work.kernel.priority;
	}
	return r;
}

static int kernel_set(void *node, const struct ts_cu_kernel_node_params *node_params)
{
	struct graph_node *n;
	struct node_work work;
	int r = node_get(node, &n);

	if (!r)
		r = reread_kernel(n, node_params, &work);
	return set(r, node, &work);
}

static int kernel_set_v1(void *node, const struct kernel_params_v1 *node_params)
{
	struct ts_cu_kernel_node_params params;

	if (!node_params)
		return TS_CU_ERROR_INVALID_VALUE;
	kernel_params_from_v1(node_params, &params);
	return kernel_set(node, &params);
}

static int exec_kernel_set(void *graph_exec, void *node,
			   const struct ts_cu_kernel_node_params *node_params)
{
	struct graph_exec *exec;
	struct graph_node *n;
	struct node_work work;
	int r = exec_get(graph_exec, &exec);

	if (!r)
		r = exec_node(exec, node, &n);
	if (!r)
		r = reread_kernel(n, node_params, &work);
	return set_in_exec(r, graph_exec, node, &work);
}

static int exec_kernel_set_v1(void *graph_exec, void *node,
			      const struct kernel_params_v1 *node_params)
{
	struct ts_cu_kernel_node_params params;

	if (!node_params)
		return TS_CU_ERROR_INVALID_VALUE;
	kernel_params_from_v1(node_params, &params);
	return exec_kernel_set(graph_exec, node, &params);
}

static int kernel_copy_attributes(void *dst, void *src)
{
	struct graph_node *to, *from;
	int r = typed(dst, TS_CU_GRAPH_NODE_TYPE_KERNEL, &to);

	if (!r)
		r = typed(src, TS_CU_GRAPH_NODE_TYPE_KERNEL, &from);
	if (r)
		return r;
	to->work.kernel.launch.cooperative = from->work.kernel.launch.cooperative;
	to->work.kernel.priority = from->work.kernel.priority;
	return 0;
}

static int kernel_get_attribute(void *node, int32_t attr,
				union ts_cu_launch_attribute_value *value_out)
{
	struct graph_node *n;
	int r = typed(node, TS_CU_GRAPH_NODE_TYPE_KERNEL, &n);

	if (r)
		return r;
	if (!value_out)
		return TS_CU_ERROR_INVALID_VALUE;
	switch (attr) {
	case TS_CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		value_out->cooperative = n->work.kernel.launch.cooperative;
		return 0;
	case TS_CU_LAUNCH_ATTRIBUTE_PRIORITY:
		value_out->priority = n->work.kernel.priority;
		return 0;
	case TS_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
		/* No launch has clusters, so no node has their size. */
		value_out->cluster_dim.x = value_out->cluster_dim.y = value_out->cluster_dim.z = 0;
		return 0;
	default:
		return NOT_SERVED("attributes of kernel nodes except cooperative and priority",
				  ON_A_REAL_GPU);
	}
}

static int kernel_set_attribute(void *node, int32_t attr,
				const union ts_cu_launch_attribute_value *value)
{
	struct launch launch;
	struct graph_node *n;
	int r = typed(node, TS_CU_GRAPH_NODE_TYPE_KERNEL, &n);

	if (r)
		return r;
	if (!value)
		return TS_CU_ERROR_INVALID_VALUE;
	switch (attr) {
	case TS_CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
		launch = n->work.kernel.launch;
		launch.cooperative = value->cooperative;
		r = launch_check(n->work.kernel.function, &launch);
		if (!r)
			n->work.kernel.launch = launch;
		return r;
	case TS_CU_LAUNCH_ATTRIBUTE_PRIORITY:
		n->work.kernel.priority = value->priority;
		return 0;
	default:
		return NOT_SERVED("attributes of kernel nodes except cooperative and priority",
				  ON_A_REAL_GPU);
	}
}

static int add_memcpy(void **graph_node, void *graph, const void **dependencies,
		      size_t num_dependencies, const struct ts_cu_memcpy_3d *copy_params, void *ctx)
{
	struct node_work work;
	int r = work_copy(copy_params, ctx, &work);

	return add(r, graph_node, graph, dependencies, num_dependencies, &work);
}

static int memcpy_get(void *node, struct ts_cu_memcpy_3d *node_params)
{
	struct graph_node *n;
	int r = typed(node, TS_CU_GRAPH_NODE_TYPE_MEMCPY, &n);

	if (r)
		return r;
	if (!node_params)
		return TS_CU_ERROR_INVALID_VALUE;
	*node_params = n->work.copy.copy;
	return 0;
}

static int memcpy_set(void *node, const struct ts_cu_memcpy_3d *node_params)
{
	struct graph_node *n;
	struct node_work work;
	int r = typed(node, TS_CU_GRAPH_NODE_TYPE_MEMCPY, &n);

	if (!r)
		r = work_copy(node_params, n->work.copy.context, &work);
	return set(r, node, &work);
}

static int exec_memcpy_set(void *graph_exec, void *node, const struct ts_cu_memcpy_3d *copy_params,
			   void *ctx)
{
	struct node_work work;
	int r = work_copy(copy_params, ctx, &work);

	return set_in_exec(r, graph_exec, node, &work);
}

static int add_memset(void **graph_node, void *graph, const void **dependencies,
		      size_t num_dependencies, const struct ts_cu_memset_node_params *memset_params,
		      void *ctx)
{
	struct node_work work;
	int r = work_set(memset_params, ctx, &work);

	return add(r, graph_node, graph, dependencies, num_dependencies, &work);
}

static int memset_get(void *node, struct ts_cu_memset_node_params *node_params)
{
	struct graph_node *n;
	int r = typed(node, TS_CU_GRAPH_NODE_TYPE_MEMSET, &n);

	if (r)
		return r;
	if (!node_params)
		return TS_CU_ERROR_INVALID_VALUE;
	*node_params = n->work.set.set;
	return 0;
}

static int memset_set(void *node, const struct ts_cu_memset_node_params *node_params)
{
	struct graph_node *n;
	struct node_work work;
	int r = typed(node, TS_CU_GRAPH_NODE_TYPE_MEMSET, &n);

	if (!r)
		r = work_set(node_params, n->work.set.context, &work);
	return set(r, node, &work);
}

static int exec_memset_set(void *graph_exec, void *node,
			   const struct ts_cu_memset_node_params *memset_params, void *ctx)
{
	struct node_work work;
	int r = work_set(memset_params, ctx, &work);

	return set_in_exec(r, graph_exec, node, &work);
}

static int add_host(void **graph_node, void *graph, const void **dependencies,
		    size_t num_dependencies, const struct ts_cu_host_node_params *node_params)
{
	struct node_work work;
	int r = work_host(node_params, &work);

	return add(r, graph_node, graph, dependencies, num_dependencies, &work);
}

static int host_get(void *node, struct ts_cu_host_node_params *node_params)
{
	struct graph_node *n;
	int r = typed(node, TS_CU_GRAPH_NODE_TYPE_HOST, &n);

	if (r)
		return r;
	if (!node_params)
		return TS_CU_ERROR_INVALID_VALUE;
	*node_params = n->work.host;
	return 0;
}

static int host_set(void *node, const struct ts_cu_host_node_params *node_params)
{
	struct node_work work;
	int r = work_host(node_params, &work);

	return set(r, node, &work);
}

static int exec_host_set(void *graph_exec, void *node,
			 const struct ts_cu_host_node_params *node_params)
{
	struct node_work work;
	int r = work_host(node_params, &work);

	return set_in_exec(r, graph_exec, node, &work);
}

static int add_empty(void **graph_node, void *graph, const void **dependencies,
		     size_t num_dependencies)
{
	struct node_work work = {.type = TS_CU_GRAPH_NODE_TYPE_EMPTY};

	return add(check_ready(), graph_node, graph, dependencies, num_dependencies, &work);
}

static int event_get_of(void *node, int32_t type, void **event_out)
{
	struct graph_node *n;
	int r = typed(node, type, &n);

	if (r)
		return r;
	if (!event_out)
		return TS_CU_ERROR_INVALID_VALUE;
	*event_out = n->work.event;
	return 0;
}

#define EVENTS(name, type)                                                                     \
	static int add_event_##name(void **graph_node, void *graph, const void **dependencies, \
				    size_t num_dependencies, void *event)                      \
	{                                                                                      \
		struct node_work work;                                                         \
		int r = work_event(type, event, &work);                                        \
                                                                                               \
		return add(r, graph_node, graph, dependencies, num_dependencies, &work);       \
	}                                                                                      \
	static int event_##name##_get(void *node, void **event_out)                            \
	{                                                                                      \
		return event_get_of(node, type, event_out);                                    \
	}                                                                                      \
	static int event_##name##_set(void *node, void *event)                                 \
	{                                                                                      \
		struct node_work work;                                                         \
		int r = work_event(type, event, &work);                                        \
                                                                                               \
		return set(r, node, &work);                                                    \
	}                                                                                      \
	static int exec_event_##name##_set(void *graph_exec, void *node, void *event)          \
	{                                                                                      \
		struct node_work work;                                                         \
		int r = work_event(type, event, &work);                                        \
                                                                                               \
		return set_in_exec(r, graph_exec, node, &work);                                \
	}

EVENTS(record, TS_CU_GRAPH_NODE_TYPE_EVENT_RECORD)
EVENTS(wait, TS_CU_GRAPH_NODE_TYPE_WAIT_EVENT)

static int add_any(void **graph_node, void *graph, const void **dependencies,
		   const void *dependency_data, size_t num_dependencies,
		   struct node_params *node_params)
{
	struct node_work work;
	int r = edges_check(dependency_data, num_dependencies);

	if (!r)
		r = work_any(node_params, &work);
	r = add(r, graph_node, graph, dependencies, num_dependencies, &work);
	/* Return the graph that the node owns in place of the original. */
	if (!r && node_params->type == TS_CU_GRAPH_NODE_TYPE_GRAPH)
		node_params->child.graph = ((struct graph_node *)*graph_node)->work.child;
	return r;
}

static int any_set(void *node, struct node_params *node_params)
{
	struct node_work work;
	int r = work_any(node_params, &work);

	return set(r, node, &work);
}

static int exec_any_set(void *graph_exec, void *node, struct node_params *node_params)
{
	struct node_work work;
	int r = work_any(node_params, &work);

	return set_in_exec(r, graph_exec, node, &work);
}

static int read_child(void *graph, struct node_work *ret_work)
{
	struct node_params params = {.type = TS_CU_GRAPH_NODE_TYPE_GRAPH, .child.graph = graph};

	return work_any(&params, ret_work);
}

static int add_child(void **graph_node, void *graph, const void **dependencies,
		     size_t num_dependencies, void *child_graph)
{
	struct node_work work;
	int r = read_child(child_graph, &work);

	return add(r, graph_node, graph, dependencies, num_dependencies, &work);
}

static int child_get(void *node, void **graph)
{
	struct graph_node *n;
	int r = typed(node, TS_CU_GRAPH_NODE_TYPE_GRAPH, &n);

	if (r)
		return r;
	if (!graph)
		return TS_CU_ERROR_INVALID_VALUE;
	*graph = n->work.child;
	return 0;
}

static int exec_child_set(void *graph_exec, void *node, void *child_graph)
{
	struct node_work work;
	int r = read_child(child_graph, &work);

	return set_in_exec(r, graph_exec, node, &work);
}

#include "tools/vgpu/generated-cuda-graph-api.h"
