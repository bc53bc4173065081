/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graph nodes that are not served: those that allocate and those that decide. Programs may ask, so the functions are
 * there and refuse by the vendor's code.
 */
#include "tools/vgpu/cudart/runtime.h"
#include "tools/vgpu/refused.h"

static int refuse_node(const char *name, atomic_bool *said)
{
	ts_vgpu_say_refused(name, said);
	return TS_CUDA_ERROR_NOT_SUPPORTED;
}

API int cudaGraphAddMemAllocNode(void **graph_node, void *graph, const void **dependencies,
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

	return RT(cudaGraphAddMemAllocNode_v11040, "cudaGraphAddMemAllocNode", &params,
		  READY(refuse_node("cudaGraphAddMemAllocNode", &said)));
}

API int cudaGraphAddMemFreeNode(void **graph_node, void *graph, const void **dependencies,
				size_t num_dependencies, void *dptr)
{
	struct {
		void **graph_node;
		void *graph;
		const void **dependencies;
		size_t num_dependencies;
		void *dptr;
	} params = {graph_node, graph, dependencies, num_dependencies, dptr};
	static atomic_bool said;

	return RT(cudaGraphAddMemFreeNode_v11040, "cudaGraphAddMemFreeNode", &params,
		  READY(refuse_node("cudaGraphAddMemFreeNode", &said)));
}

API int cudaGraphConditionalHandleCreate(uint64_t *handle_out, void *graph,
					 uint32_t default_launch_value, uint32_t flags)
{
	struct {
		uint64_t *handle_out;
		void *graph;
		uint32_t default_launch_value;
		uint32_t flags;
	} params = {handle_out, graph, default_launch_value, flags};

	return RT(cudaGraphConditionalHandleCreate_v12030, "cudaGraphConditionalHandleCreate",
		  &params, READY(TS_CUDA_ERROR_NOT_SUPPORTED));
}
