/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Driver functions by name, and the calls for what the virtual GPU does not have, that programs make to find out.
 */
#include <string.h>

#include "tools/vgpu/cudart/runtime.h"

static int entry_point_by_version(const char *symbol, void **func_ptr, uint32_t cuda_version,
				  uint64_t flags, int32_t *driver_status, bool own)
{
	int32_t status;
	int r = start();

	if (r)
		return r;
	if (!symbol || !func_ptr)
		return TS_CUDA_ERROR_INVALID_VALUE;
	if (own && flags == TS_CUDA_ENABLE_DEFAULT)
		flags = TS_CUDA_ENABLE_PER_THREAD_DEFAULT_STREAM;
	r = cuGetProcAddress_v2(symbol, func_ptr, (int32_t)cuda_version, flags, &status);
	if (driver_status)
		*driver_status = status;
	else if (!r && status == TS_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
		r = TS_CUDA_ERROR_SYMBOL_NOT_FOUND;
	return r;
}

static int entry_point(const char *symbol, void **func_ptr, uint64_t flags, int32_t *driver_status,
		       bool own)
{
	return entry_point_by_version(symbol, func_ptr, TS_CUDART_VERSION, flags, driver_status,
				      own);
}

API int cudaGetDriverEntryPoint(const char *symbol, void **func_ptr, uint64_t flags,
				int32_t *driver_status)
{
	struct ts_cuda_get_driver_entry_point_params params = {symbol, func_ptr, flags,
							       driver_status};

	return RT(cudaGetDriverEntryPoint_v11030, "cudaGetDriverEntryPoint", &params,
		  entry_point(symbol, func_ptr, flags, driver_status, false));
}

API int cudaGetDriverEntryPoint_ptsz(const char *symbol, void **func_ptr, uint64_t flags,
				     int32_t *driver_status)
{
	struct ts_cuda_get_driver_entry_point_params params = {symbol, func_ptr, flags,
							       driver_status};

	return RT(cudaGetDriverEntryPoint_ptsz_v11030, "cudaGetDriverEntryPoint_ptsz", &params,
		  entry_point(symbol, func_ptr, flags, driver_status, true));
}

API int cudaGetDriverEntryPointByVersion(const char *symbol, void **func_ptr, uint32_t cuda_version,
					 uint64_t flags, int32_t *driver_status)
{
	struct ts_cuda_get_driver_entry_point_by_version_params params = {symbol, func_ptr,
									  cuda_version, flags,
									  driver_status};

	return RT(cudaGetDriverEntryPointByVersion_v12050, "cudaGetDriverEntryPointByVersion",
		  &params,
		  entry_point_by_version(symbol, func_ptr, cuda_version, flags, driver_status,
					 false));
}

API int cudaGetDriverEntryPointByVersion_ptsz(const char *symbol, void **func_ptr,
					      uint32_t cuda_version, uint64_t flags,
					      int32_t *driver_status)
{
	struct ts_cuda_get_driver_entry_point_by_version_params params = {symbol, func_ptr,
									  cuda_version, flags,
									  driver_status};

	return RT(cudaGetDriverEntryPointByVersion_ptsz_v12050,
		  "cudaGetDriverEntryPointByVersion_ptsz", &params,
		  entry_point_by_version(symbol, func_ptr, cuda_version, flags, driver_status,
					 true));
}

static int stream_begin_capture(void *stream, int32_t mode, bool own)
{
	return TS_CUDA_ERROR_NOT_SUPPORTED;
}

static int stream_end_capture(void *stream, void **graph, bool own)
{
	return TS_CUDA_ERROR_NOT_SUPPORTED;
}

static int stream_get_capture_info(void *stream, int32_t *capture_status_out, uint64_t *id_out,
				   void **graph_out, const void ***dependencies_out,
				   const void **edge_data_out, size_t *num_dependencies_out,
				   bool own)
{
	int r = ready();

	return r ? r
		 : (own ? cuStreamIsCapturing_ptsz : cuStreamIsCapturing)(stream,
									  capture_status_out);
}

static int graph_create(void **graph, uint32_t flags)
{
	return TS_CUDA_ERROR_NOT_SUPPORTED;
}

static int graph_instantiate(void **graph_exec, void *graph, uint64_t flags)
{
	return TS_CUDA_ERROR_NOT_SUPPORTED;
}

static int graph_launch(void *graph_exec, void *stream, bool own)
{
	return TS_CUDA_ERROR_NOT_SUPPORTED;
}

static int graph_destroy(void *graph)
{
	return TS_CUDA_ERROR_NOT_SUPPORTED;
}

API int cudaStreamBeginCapture(void *stream, int32_t mode)
{
	struct ts_cuda_stream_begin_capture_params params = {stream, mode};

	return RT(cudaStreamBeginCapture_v10000, "cudaStreamBeginCapture", &params,
		  stream_begin_capture(stream, mode, false));
}

API int cudaStreamBeginCapture_ptsz(void *stream, int32_t mode)
{
	struct ts_cuda_stream_begin_capture_params params = {stream, mode};

	return RT(cudaStreamBeginCapture_ptsz_v10000, "cudaStreamBeginCapture_ptsz", &params,
		  stream_begin_capture(stream, mode, true));
}

API int cudaStreamEndCapture(void *stream, void **graph)
{
	struct ts_cuda_stream_end_capture_params params = {stream, graph};

	return RT(cudaStreamEndCapture_v10000, "cudaStreamEndCapture", &params,
		  stream_end_capture(stream, graph, false));
}

API int cudaStreamEndCapture_ptsz(void *stream, void **graph)
{
	struct ts_cuda_stream_end_capture_params params = {stream, graph};

	return RT(cudaStreamEndCapture_ptsz_v10000, "cudaStreamEndCapture_ptsz", &params,
		  stream_end_capture(stream, graph, true));
}

API int cudaStreamGetCaptureInfo(void *stream, int32_t *capture_status_out, uint64_t *id_out,
				 void **graph_out, const void ***dependencies_out,
				 const void **edge_data_out, size_t *num_dependencies_out)
{
	struct ts_cuda_stream_get_capture_info_params params = {
		stream,	       capture_status_out,  id_out, graph_out, dependencies_out,
		edge_data_out, num_dependencies_out};

	return RT(cudaStreamGetCaptureInfo_v12030, "cudaStreamGetCaptureInfo", &params,
		  stream_get_capture_info(stream, capture_status_out, id_out, graph_out,
					  dependencies_out, edge_data_out, num_dependencies_out,
					  false));
}

API int cudaStreamGetCaptureInfo_ptsz(void *stream, int32_t *capture_status_out, uint64_t *id_out,
				      void **graph_out, const void ***dependencies_out,
				      const void **edge_data_out, size_t *num_dependencies_out)
{
	struct ts_cuda_stream_get_capture_info_params params = {
		stream,	       capture_status_out,  id_out, graph_out, dependencies_out,
		edge_data_out, num_dependencies_out};

	return RT(cudaStreamGetCaptureInfo_ptsz_v12030, "cudaStreamGetCaptureInfo_ptsz", &params,
		  stream_get_capture_info(stream, capture_status_out, id_out, graph_out,
					  dependencies_out, edge_data_out, num_dependencies_out,
					  true));
}

API int cudaGraphCreate(void **graph, uint32_t flags)
{
	struct ts_cuda_graph_create_params params = {graph, flags};

	return RT(cudaGraphCreate_v10000, "cudaGraphCreate", &params, graph_create(graph, flags));
}

API int cudaGraphInstantiate(void **graph_exec, void *graph, uint64_t flags)
{
	struct ts_cuda_graph_instantiate_params params = {graph_exec, graph, flags};

	return RT(cudaGraphInstantiate_v12000, "cudaGraphInstantiate", &params,
		  graph_instantiate(graph_exec, graph, flags));
}

API int cudaGraphLaunch(void *graph_exec, void *stream)
{
	struct ts_cuda_graph_launch_params params = {graph_exec, stream};

	return RT(cudaGraphLaunch_v10000, "cudaGraphLaunch", &params,
		  graph_launch(graph_exec, stream, false));
}

API int cudaGraphLaunch_ptsz(void *graph_exec, void *stream)
{
	struct ts_cuda_graph_launch_params params = {graph_exec, stream};

	return RT(cudaGraphLaunch_ptsz_v10000, "cudaGraphLaunch_ptsz", &params,
		  graph_launch(graph_exec, stream, true));
}

API int cudaGraphDestroy(void *graph)
{
	struct ts_cuda_graph_destroy_params params = {graph};

	return RT(cudaGraphDestroy_v10000, "cudaGraphDestroy", &params, graph_destroy(graph));
}

API int cudaGraphExecDestroy(void *graph_exec)
{
	struct ts_cuda_graph_exec_destroy_params params = {graph_exec};

	return RT(cudaGraphExecDestroy_v10000, "cudaGraphExecDestroy", &params,
		  graph_destroy(graph_exec));
}

/* Tables between NVIDIA's libraries; nothing of theirs works over this runtime. */
API int cudaGetExportTable(const void **table, const struct ts_cu_uuid *id)
{
	if (table)
		*table = NULL;
	return TS_CUDA_ERROR_NOT_SUPPORTED;
}
