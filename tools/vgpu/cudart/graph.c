/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs and stream capture: each call is the driver's of the same name. Nodes are in graph-node.c. */
#include "tools/vgpu/cudart/runtime.h"

API int cudaGraphCreate(void **graph, uint32_t flags)
{
	struct ts_cuda_graph_create_params params = {graph, flags};

	return RT(cudaGraphCreate_v10000, "cudaGraphCreate", &params,
		  READY(cuGraphCreate(graph, flags)));
}

API int cudaGraphDestroy(void *graph)
{
	struct ts_cuda_graph_destroy_params params = {graph};

	return RT(cudaGraphDestroy_v10000, "cudaGraphDestroy", &params,
		  READY(cuGraphDestroy(graph)));
}

API int cudaGraphClone(void **graph_clone, void *original_graph)
{
	struct ts_cuda_graph_clone_params params = {graph_clone, original_graph};

	return RT(cudaGraphClone_v10000, "cudaGraphClone", &params,
		  READY(cuGraphClone(graph_clone, original_graph)));
}

API int cudaGraphNodeFindInClone(void **node, void *original_node, void *cloned_graph)
{
	struct {
		void **node;
		void *original_node;
		void *cloned_graph;
	} params = {node, original_node, cloned_graph};

	return RT(cudaGraphNodeFindInClone_v10000, "cudaGraphNodeFindInClone", &params,
		  READY(cuGraphNodeFindInClone(node, original_node, cloned_graph)));
}

API int cudaGraphNodeGetType(void *node, int32_t *type)
{
	struct {
		void *node;
		int32_t *type;
	} params = {node, type};

	return RT(cudaGraphNodeGetType_v10000, "cudaGraphNodeGetType", &params,
		  READY(cuGraphNodeGetType(node, type)));
}

API int cudaGraphGetNodes(void *graph, void **nodes, size_t *num_nodes)
{
	struct {
		void *graph;
		void **nodes;
		size_t *num_nodes;
	} params = {graph, nodes, num_nodes};

	return RT(cudaGraphGetNodes_v10000, "cudaGraphGetNodes", &params,
		  READY(cuGraphGetNodes(graph, nodes, num_nodes)));
}

API int cudaGraphGetRootNodes(void *graph, void **root_nodes, size_t *num_root_nodes)
{
	struct {
		void *graph;
		void **root_nodes;
		size_t *num_root_nodes;
	} params = {graph, root_nodes, num_root_nodes};

	return RT(cudaGraphGetRootNodes_v10000, "cudaGraphGetRootNodes", &params,
		  READY(cuGraphGetRootNodes(graph, root_nodes, num_root_nodes)));
}

API int cudaGraphGetEdges(void *graph, void **from, void **to, void *edge_data, size_t *num_edges)
{
	struct {
		void *graph;
		void **from;
		void **to;
		void *edge_data;
		size_t *num_edges;
	} params = {graph, from, to, edge_data, num_edges};

	return RT(cudaGraphGetEdges_v12030, "cudaGraphGetEdges", &params,
		  READY(cuGraphGetEdges_v2(graph, from, to, edge_data, num_edges)));
}

API int cudaGraphNodeGetDependencies(void *node, void **dependencies, void *edge_data,
				     size_t *num_dependencies)
{
	struct {
		void *node;
		void **dependencies;
		void *edge_data;
		size_t *num_dependencies;
	} params = {node, dependencies, edge_data, num_dependencies};

	return RT(cudaGraphNodeGetDependencies_v12030, "cudaGraphNodeGetDependencies", &params,
		  READY(cuGraphNodeGetDependencies_v2(node, dependencies, edge_data,
						      num_dependencies)));
}

API int cudaGraphNodeGetDependentNodes(void *node, void **dependent_nodes, void *edge_data,
				       size_t *num_dependent_nodes)
{
	struct {
		void *node;
		void **dependent_nodes;
		void *edge_data;
		size_t *num_dependent_nodes;
	} params = {node, dependent_nodes, edge_data, num_dependent_nodes};

	return RT(cudaGraphNodeGetDependentNodes_v12030, "cudaGraphNodeGetDependentNodes", &params,
		  READY(cuGraphNodeGetDependentNodes_v2(node, dependent_nodes, edge_data,
							num_dependent_nodes)));
}

API int cudaGraphAddDependencies(void *graph, const void **from, const void **to,
				 const void *edge_data, size_t num_dependencies)
{
	struct ts_cuda_graph_add_dependencies_params params = {graph, from, to, edge_data,
							       num_dependencies};

	return RT(cudaGraphAddDependencies_v12030, "cudaGraphAddDependencies", &params,
		  READY(cuGraphAddDependencies_v2(graph, from, to, edge_data, num_dependencies)));
}

API int cudaGraphRemoveDependencies(void *graph, const void **from, const void **to,
				    const void *edge_data, size_t num_dependencies)
{
	struct {
		void *graph;
		const void **from;
		const void **to;
		const void *edge_data;
		size_t num_dependencies;
	} params = {graph, from, to, edge_data, num_dependencies};

	return RT(cudaGraphRemoveDependencies_v12030, "cudaGraphRemoveDependencies", &params,
		  READY(cuGraphRemoveDependencies_v2(graph, from, to, edge_data,
						     num_dependencies)));
}

API int cudaGraphDestroyNode(void *node)
{
	struct {
		void *node;
	} params = {node};

	return RT(cudaGraphDestroyNode_v10000, "cudaGraphDestroyNode", &params,
		  READY(cuGraphDestroyNode(node)));
}

API int cudaGraphInstantiate(void **graph_exec, void *graph, uint64_t flags)
{
	struct ts_cuda_graph_instantiate_params params = {graph_exec, graph, flags};

	return RT(cudaGraphInstantiate_v12000, "cudaGraphInstantiate", &params,
		  READY(cuGraphInstantiateWithFlags(graph_exec, graph, flags)));
}

API int cudaGraphInstantiateWithFlags(void **graph_exec, void *graph, uint64_t flags)
{
	struct ts_cuda_graph_instantiate_with_flags_params params = {graph_exec, graph, flags};

	return RT(cudaGraphInstantiateWithFlags_v11040, "cudaGraphInstantiateWithFlags", &params,
		  READY(cuGraphInstantiateWithFlags(graph_exec, graph, flags)));
}

API int cudaGraphInstantiateWithParams(void **graph_exec, void *graph, void *instantiate_params)
{
	struct ts_cuda_graph_instantiate_with_params_params params = {graph_exec, graph,
								      instantiate_params};

	return RT(cudaGraphInstantiateWithParams_v12000, "cudaGraphInstantiateWithParams", &params,
		  READY(cuGraphInstantiateWithParams(graph_exec, graph, instantiate_params)));
}

API int cudaGraphInstantiateWithParams_ptsz(void **graph_exec, void *graph,
					    void *instantiate_params)
{
	struct ts_cuda_graph_instantiate_with_params_params params = {graph_exec, graph,
								      instantiate_params};

	return RT(cudaGraphInstantiateWithParams_ptsz_v12000, "cudaGraphInstantiateWithParams_ptsz",
		  &params,
		  READY(cuGraphInstantiateWithParams_ptsz(graph_exec, graph, instantiate_params)));
}

API int cudaGraphExecGetFlags(void *graph_exec, uint64_t *flags)
{
	struct {
		void *graph_exec;
		uint64_t *flags;
	} params = {graph_exec, flags};

	return RT(cudaGraphExecGetFlags_v12000, "cudaGraphExecGetFlags", &params,
		  READY(cuGraphExecGetFlags(graph_exec, flags)));
}

API int cudaGraphExecUpdate(void *graph_exec, void *graph, void *result_info)
{
	struct ts_cuda_graph_exec_update_params params = {graph_exec, graph, result_info};

	return RT(cudaGraphExecUpdate_v10020, "cudaGraphExecUpdate", &params,
		  READY(cuGraphExecUpdate_v2(graph_exec, graph, result_info)));
}

API int cudaGraphNodeSetEnabled(void *graph_exec, void *node, uint32_t is_enabled)
{
	struct {
		void *graph_exec;
		void *node;
		uint32_t is_enabled;
	} params = {graph_exec, node, is_enabled};

	return RT(cudaGraphNodeSetEnabled_v11060, "cudaGraphNodeSetEnabled", &params,
		  READY(cuGraphNodeSetEnabled(graph_exec, node, is_enabled)));
}

API int cudaGraphNodeGetEnabled(void *graph_exec, void *node, uint32_t *is_enabled)
{
	struct {
		void *graph_exec;
		void *node;
		uint32_t *is_enabled;
	} params = {graph_exec, node, is_enabled};

	return RT(cudaGraphNodeGetEnabled_v11060, "cudaGraphNodeGetEnabled", &params,
		  READY(cuGraphNodeGetEnabled(graph_exec, node, is_enabled)));
}

API int cudaGraphUpload(void *graph_exec, void *stream)
{
	struct ts_cuda_graph_upload_params params = {graph_exec, stream};

	return RT(cudaGraphUpload_v10000, "cudaGraphUpload", &params,
		  READY(cuGraphUpload(graph_exec, stream)));
}

API int cudaGraphUpload_ptsz(void *graph_exec, void *stream)
{
	struct ts_cuda_graph_upload_params params = {graph_exec, stream};

	return RT(cudaGraphUpload_ptsz_v10000, "cudaGraphUpload_ptsz", &params,
		  READY(cuGraphUpload_ptsz(graph_exec, stream)));
}

API int cudaGraphLaunch(void *graph_exec, void *stream)
{
	struct ts_cuda_graph_launch_params params = {graph_exec, stream};

	return RT(cudaGraphLaunch_v10000, "cudaGraphLaunch", &params,
		  READY(cuGraphLaunch(graph_exec, stream)));
}

API int cudaGraphLaunch_ptsz(void *graph_exec, void *stream)
{
	struct ts_cuda_graph_launch_params params = {graph_exec, stream};

	return RT(cudaGraphLaunch_ptsz_v10000, "cudaGraphLaunch_ptsz", &params,
		  READY(cuGraphLaunch_ptsz(graph_exec, stream)));
}

API int cudaGraphExecDestroy(void *graph_exec)
{
	struct ts_cuda_graph_exec_destroy_params params = {graph_exec};

	return RT(cudaGraphExecDestroy_v10000, "cudaGraphExecDestroy", &params,
		  READY(cuGraphExecDestroy(graph_exec)));
}

API int cudaStreamBeginCapture(void *stream, int32_t mode)
{
	struct ts_cuda_stream_begin_capture_params params = {stream, mode};

	return RT(cudaStreamBeginCapture_v10000, "cudaStreamBeginCapture", &params,
		  READY(cuStreamBeginCapture_v2(stream, mode)));
}

API int cudaStreamBeginCapture_ptsz(void *stream, int32_t mode)
{
	struct ts_cuda_stream_begin_capture_params params = {stream, mode};

	return RT(cudaStreamBeginCapture_ptsz_v10000, "cudaStreamBeginCapture_ptsz", &params,
		  READY(cuStreamBeginCapture_v2_ptsz(stream, mode)));
}

API int cudaStreamBeginCaptureToGraph(void *stream, void *graph, const void **dependencies,
				      const void *dependency_data, size_t num_dependencies,
				      int32_t mode)
{
	struct {
		void *stream;
		void *graph;
		const void **dependencies;
		const void *dependency_data;
		size_t num_dependencies;
		int32_t mode;
	} params = {stream, graph, dependencies, dependency_data, num_dependencies, mode};

	return RT(cudaStreamBeginCaptureToGraph_v12030, "cudaStreamBeginCaptureToGraph", &params,
		  READY(cuStreamBeginCaptureToGraph(stream, graph, dependencies, dependency_data,
						    num_dependencies, mode)));
}

API int cudaStreamBeginCaptureToGraph_ptsz(void *stream, void *graph, const void **dependencies,
					   const void *dependency_data, size_t num_dependencies,
					   int32_t mode)
{
	struct {
		void *stream;
		void *graph;
		const void **dependencies;
		const void *dependency_data;
		size_t num_dependencies;
		int32_t mode;
	} params = {stream, graph, dependencies, dependency_data, num_dependencies, mode};

	return RT(cudaStreamBeginCaptureToGraph_ptsz_v12030, "cudaStreamBeginCaptureToGraph_ptsz",
		  &params,
		  READY(cuStreamBeginCaptureToGraph_ptsz(stream, graph, dependencies,
							 dependency_data, num_dependencies, mode)));
}

API int cudaStreamEndCapture(void *stream, void **graph)
{
	struct ts_cuda_stream_end_capture_params params = {stream, graph};

	return RT(cudaStreamEndCapture_v10000, "cudaStreamEndCapture", &params,
		  READY(cuStreamEndCapture(stream, graph)));
}

API int cudaStreamEndCapture_ptsz(void *stream, void **graph)
{
	struct ts_cuda_stream_end_capture_params params = {stream, graph};

	return RT(cudaStreamEndCapture_ptsz_v10000, "cudaStreamEndCapture_ptsz", &params,
		  READY(cuStreamEndCapture_ptsz(stream, graph)));
}

API int cudaStreamGetCaptureInfo(void *stream, int32_t *capture_status_out, uint64_t *id_out,
				 void **graph_out, const void ***dependencies_out,
				 const void **edge_data_out, size_t *num_dependencies_out)
{
	struct ts_cuda_stream_get_capture_info_params params = {
		stream,	       capture_status_out,  id_out, graph_out, dependencies_out,
		edge_data_out, num_dependencies_out};

	return RT(cudaStreamGetCaptureInfo_v12030, "cudaStreamGetCaptureInfo", &params,
		  READY(cuStreamGetCaptureInfo_v3(stream, capture_status_out, id_out, graph_out,
						  dependencies_out, edge_data_out,
						  num_dependencies_out)));
}

API int cudaStreamGetCaptureInfo_ptsz(void *stream, int32_t *capture_status_out, uint64_t *id_out,
				      void **graph_out, const void ***dependencies_out,
				      const void **edge_data_out, size_t *num_dependencies_out)
{
	struct ts_cuda_stream_get_capture_info_params params = {
		stream,	       capture_status_out,  id_out, graph_out, dependencies_out,
		edge_data_out, num_dependencies_out};

	return RT(cudaStreamGetCaptureInfo_ptsz_v12030, "cudaStreamGetCaptureInfo_ptsz", &params,
		  READY(cuStreamGetCaptureInfo_v3_ptsz(stream, capture_status_out, id_out,
						       graph_out, dependencies_out, edge_data_out,
						       num_dependencies_out)));
}

API int cudaStreamUpdateCaptureDependencies(void *stream, const void **dependencies,
					    const void *dependency_data, size_t num_dependencies,
					    uint32_t flags)
{
	struct {
		void *stream;
		const void **dependencies;
		const void *dependency_data;
		size_t num_dependencies;
		uint32_t flags;
	} params = {stream, dependencies, dependency_data, num_dependencies, flags};

	return RT(cudaStreamUpdateCaptureDependencies_v12030, "cudaStreamUpdateCaptureDependencies",
		  &params,
		  READY(cuStreamUpdateCaptureDependencies_v2(stream, dependencies, dependency_data,
							     num_dependencies, flags)));
}

API int cudaStreamUpdateCaptureDependencies_ptsz(void *stream, const void **dependencies,
						 const void *dependency_data,
						 size_t num_dependencies, uint32_t flags)
{
	struct {
		void *stream;
		const void **dependencies;
		const void *dependency_data;
		size_t num_dependencies;
		uint32_t flags;
	} params = {stream, dependencies, dependency_data, num_dependencies, flags};

	return RT(cudaStreamUpdateCaptureDependencies_ptsz_v12030,
		  "cudaStreamUpdateCaptureDependencies_ptsz", &params,
		  READY(cuStreamUpdateCaptureDependencies_v2_ptsz(stream, dependencies,
								  dependency_data, num_dependencies,
								  flags)));
}
