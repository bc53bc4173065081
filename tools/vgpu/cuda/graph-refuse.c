/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph nodes that are not served: those that allocate and those that decide. Programs may ask, so the functions are
 * there and refuse by the vendor's code.
 */
#include "tools/vgpu/cuda/graph.h"

static int refuse_node(void *graph)
{
	struct graph *g;
	int r = graph_get(graph, &g);

	return r ? r : TS_CU_ERROR_NOT_SUPPORTED;
}

API int cuGraphAddMemAllocNode(void **graph_node, void *graph, const void **dependencies,
			       size_t num_dependencies, void *node_params)
{
	struct {
		void **graph_node;
		void *graph;
		const void **dependencies;
		size_t num_dependencies;
		void *node_params;
	} params = {graph_node, graph, dependencies, num_dependencies, node_params};

	return CALL(cuGraphAddMemAllocNode, &params, refuse_node(graph));
}

API int cuGraphAddMemFreeNode(void **graph_node, void *graph, const void **dependencies,
			      size_t num_dependencies, uint64_t dptr)
{
	struct {
		void **graph_node;
		void *graph;
		const void **dependencies;
		size_t num_dependencies;
		uint64_t dptr;
	} params = {graph_node, graph, dependencies, num_dependencies, dptr};

	return CALL(cuGraphAddMemFreeNode, &params, refuse_node(graph));
}

API int cuGraphConditionalHandleCreate(uint64_t *handle_out, void *graph, void *ctx,
				       uint32_t default_launch_value, uint32_t flags)
{
	struct {
		uint64_t *handle_out;
		void *graph;
		void *ctx;
		uint32_t default_launch_value;
		uint32_t flags;
	} params = {handle_out, graph, ctx, default_launch_value, flags};

	return CALL(cuGraphConditionalHandleCreate, &params, refuse_node(graph));
}
