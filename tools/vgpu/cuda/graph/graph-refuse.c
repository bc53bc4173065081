/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph nodes that are not served: those that allocate and those that decide. Programs may ask, so the functions are
 * there and refuse by the vendor's code.
 */
#include "tools/vgpu/cuda/graph/graph.h"

static int refuse_node(void *graph, const char *name, atomic_bool *said)
{
	struct graph *g;
	int r = graph_get(graph, &g);

	if (r)
		return r;
	ts_vgpu_say_refused(name, said);
	return TS_CU_ERROR_NOT_SUPPORTED;
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
	static atomic_bool said;

	return CALL(cuGraphAddMemAllocNode, &params,
		    refuse_node(graph, "cuGraphAddMemAllocNode", &said));
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
	static atomic_bool said;

	return CALL(cuGraphAddMemFreeNode, &params,
		    refuse_node(graph, "cuGraphAddMemFreeNode", &said));
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
	static atomic_bool said;

	return CALL(cuGraphConditionalHandleCreate, &params,
		    refuse_node(graph, "cuGraphConditionalHandleCreate", &said));
}
