/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's functions that the runtime calls, under the names its library exports. */
#pragma once

#include "proto/abi/vendor/cuda_driver.h"

int cuInit(uint32_t flags);
int cuDriverGetVersion(int32_t *driver_version);
int cuDeviceGetCount(int32_t *count);
int cuDeviceGetName(char *name, int32_t len, int32_t dev);
int cuDeviceGetUuid_v2(struct ts_cu_uuid *uuid, int32_t dev);
int cuDeviceTotalMem_v2(size_t *bytes, int32_t dev);
int cuDeviceGetAttribute(int32_t *pi, int32_t attrib, int32_t dev);
int cuDeviceGetByPCIBusId(int32_t *dev, const char *pci_bus_id);
int cuDeviceGetPCIBusId(char *pci_bus_id, int32_t len, int32_t dev);
int cuDevicePrimaryCtxRetain(void **pctx, int32_t dev);
int cuDevicePrimaryCtxReset_v2(int32_t dev);
int cuDevicePrimaryCtxSetFlags_v2(int32_t dev, uint32_t flags);
int cuDevicePrimaryCtxGetState(int32_t dev, uint32_t *flags, int32_t *active);
int cuCtxSetCurrent(void *ctx);
int cuCtxGetDevice_v2(int32_t *device, void *ctx);
int cuCtxSetLimit(int32_t limit, size_t value);
int cuCtxGetLimit(size_t *pvalue, int32_t limit);
int cuCtxGetCacheConfig(int32_t *pconfig);
int cuCtxSetCacheConfig(int32_t config);
int cuCtxGetStreamPriorityRange(int32_t *least_priority, int32_t *greatest_priority);
int cuCtxSynchronize(void);
int cuProfilerStart(void);
int cuProfilerStop(void);
int cuDeviceCanAccessPeer(int32_t *can_access_peer, int32_t dev, int32_t peer_dev);
int cuDeviceGetP2PAttribute(int32_t *value, int32_t attrib, int32_t src_device, int32_t dst_device);
int cuCtxEnablePeerAccess(void *peer_context, uint32_t flags);
int cuCtxDisablePeerAccess(void *peer_context);
int cuDeviceGetDefaultMemPool(void **pool_out, int32_t dev);
int cuDeviceGetMemPool(void **pool, int32_t dev);
int cuDeviceSetMemPool(int32_t dev, void *pool);
int cuMemPoolCreate(void **pool, const struct ts_cu_mem_pool_props *pool_props);
int cuMemPoolDestroy(void *pool);
int cuMemPoolTrimTo(void *pool, size_t min_bytes_to_keep);
int cuMemPoolSetAttribute(void *pool, int32_t attr, void *value);
int cuMemPoolSetAccess(void *pool, const struct ts_cu_mem_access_desc *map, size_t count);
int cuMemPoolGetAttribute(void *pool, int32_t attr, void *value);
int cuMemPoolGetAccess(int32_t *flags, void *pool, struct ts_cu_mem_location *location);
int cuLibraryLoadData(void **library, const void *code, int32_t *jit_options,
		      void **jit_options_values, uint32_t num_jit_options, int32_t *library_options,
		      void **library_option_values, uint32_t num_library_options);
int cuLibraryLoadFromFile(void **library, const char *file_name, int32_t *jit_options,
			  void **jit_options_values, uint32_t num_jit_options,
			  int32_t *library_options, void **library_option_values,
			  uint32_t num_library_options);
int cuLibraryUnload(void *library);
int cuLibraryGetKernel(void **kernel, void *library, const char *name);
int cuLibraryGetKernelCount(uint32_t *count, void *lib);
int cuLibraryEnumerateKernels(void **kernels, uint32_t num_kernels, void *lib);
int cuLibraryGetGlobal(uint64_t *dev_ptr, size_t *bytes, void *library, const char *name);
int cuLibraryGetManaged(uint64_t *dev_ptr, size_t *bytes, void *library, const char *name);
int cuKernelSetAttribute(int32_t attrib, int32_t val, void *kernel, int32_t dev);
int cuKernelGetFunction(void **func, void *kernel);
int cuKernelGetName(const char **name, void *func);
int cuFuncGetAttribute(int32_t *pi, int32_t attrib, void *func);
int cuFuncSetAttribute(void *func, int32_t attrib, int32_t value);
int cuFuncSetCacheConfig(void *func, int32_t config);
int cuFuncGetName(const char **name, void *func);
int cuFuncGetParamInfo(void *func, size_t index, size_t *offset, size_t *bytes);
int cuLaunchKernel(void *func, uint32_t grid_dim_x, uint32_t grid_dim_y, uint32_t grid_dim_z,
		   uint32_t block_dim_x, uint32_t block_dim_y, uint32_t block_dim_z,
		   uint32_t shared_mem_bytes, void *stream, void **kernel_params, void **extra);
int cuLaunchKernel_ptsz(void *func, uint32_t grid_dim_x, uint32_t grid_dim_y, uint32_t grid_dim_z,
			uint32_t block_dim_x, uint32_t block_dim_y, uint32_t block_dim_z,
			uint32_t shared_mem_bytes, void *stream, void **kernel_params,
			void **extra);
int cuLaunchKernelEx(const struct ts_cu_launch_config *config, void *func, void **kernel_params,
		     void **extra);
int cuLaunchKernelEx_ptsz(const struct ts_cu_launch_config *config, void *func,
			  void **kernel_params, void **extra);
int cuLaunchCooperativeKernel(void *func, uint32_t grid_dim_x, uint32_t grid_dim_y,
			      uint32_t grid_dim_z, uint32_t block_dim_x, uint32_t block_dim_y,
			      uint32_t block_dim_z, uint32_t shared_mem_bytes, void *stream,
			      void **kernel_params);
int cuLaunchCooperativeKernel_ptsz(void *func, uint32_t grid_dim_x, uint32_t grid_dim_y,
				   uint32_t grid_dim_z, uint32_t block_dim_x, uint32_t block_dim_y,
				   uint32_t block_dim_z, uint32_t shared_mem_bytes, void *stream,
				   void **kernel_params);
int cuLaunchHostFunc(void *stream, void *fn, void *user_data);
int cuLaunchHostFunc_ptsz(void *stream, void *fn, void *user_data);
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int32_t *num_blocks, void *func, int32_t block_size,
						size_t dynamic_s_mem_size);
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int32_t *num_blocks, void *func,
							 int32_t block_size,
							 size_t dynamic_s_mem_size, uint32_t flags);
int cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamic_smem_size, void *func,
					    int32_t num_blocks, int32_t block_size);
int cuMemGetInfo_v2(size_t *free, size_t *total);
int cuMemAlloc_v2(uint64_t *dev_ptr, size_t byte_size);
int cuMemAllocPitch_v2(uint64_t *dev_ptr, size_t *pitch, size_t width_in_bytes, size_t height,
		       uint32_t element_size_bytes);
int cuMemFree_v2(uint64_t dev_ptr);
int cuMemAllocHost_v2(void **pp, size_t byte_size);
int cuMemFreeHost(void *p);
int cuMemHostAlloc(void **pp, size_t byte_size, uint32_t flags);
int cuMemHostGetDevicePointer_v2(uint64_t *pdptr, void *p, uint32_t flags);
int cuMemHostGetFlags(uint32_t *flags, void *p);
int cuMemAllocManaged(uint64_t *dev_ptr, size_t byte_size, uint32_t flags);
int cuMemHostRegister_v2(void *p, size_t byte_size, uint32_t flags);
int cuMemHostUnregister(void *p);
int cuMemAllocAsync(uint64_t *dev_ptr, size_t byte_size, void *stream);
int cuMemAllocAsync_ptsz(uint64_t *dev_ptr, size_t byte_size, void *stream);
int cuMemAllocFromPoolAsync(uint64_t *dev_ptr, size_t byte_size, void *pool, void *stream);
int cuMemAllocFromPoolAsync_ptsz(uint64_t *dev_ptr, size_t byte_size, void *pool, void *stream);
int cuMemFreeAsync(uint64_t dev_ptr, void *stream);
int cuMemFreeAsync_ptsz(uint64_t dev_ptr, void *stream);
int cuMemAdvise_v2(uint64_t dev_ptr, size_t count, int32_t advice,
		   struct ts_cu_mem_location location);
int cuMemPrefetchAsync_v2(uint64_t dev_ptr, size_t count, struct ts_cu_mem_location location,
			  uint32_t flags, void *stream);
int cuMemPrefetchAsync_v2_ptsz(uint64_t dev_ptr, size_t count, struct ts_cu_mem_location location,
			       uint32_t flags, void *stream);
int cuPointerGetAttributes(uint32_t num_attributes, int32_t *attributes, void **data, uint64_t ptr);
int cuMemcpy(uint64_t dst, uint64_t src, size_t byte_count);
int cuMemcpy_ptds(uint64_t dst, uint64_t src, size_t byte_count);
int cuMemcpyHtoD_v2(uint64_t dst_device, const void *src_host, size_t byte_count);
int cuMemcpyHtoD_v2_ptds(uint64_t dst_device, const void *src_host, size_t byte_count);
int cuMemcpyDtoH_v2(void *dst_host, uint64_t src_device, size_t byte_count);
int cuMemcpyDtoH_v2_ptds(void *dst_host, uint64_t src_device, size_t byte_count);
int cuMemcpyDtoD_v2(uint64_t dst_device, uint64_t src_device, size_t byte_count);
int cuMemcpyDtoD_v2_ptds(uint64_t dst_device, uint64_t src_device, size_t byte_count);
int cuMemcpyAsync(uint64_t dst, uint64_t src, size_t byte_count, void *stream);
int cuMemcpyAsync_ptsz(uint64_t dst, uint64_t src, size_t byte_count, void *stream);
int cuMemcpyHtoDAsync_v2(uint64_t dst_device, const void *src_host, size_t byte_count,
			 void *stream);
int cuMemcpyHtoDAsync_v2_ptsz(uint64_t dst_device, const void *src_host, size_t byte_count,
			      void *stream);
int cuMemcpyDtoHAsync_v2(void *dst_host, uint64_t src_device, size_t byte_count, void *stream);
int cuMemcpyDtoHAsync_v2_ptsz(void *dst_host, uint64_t src_device, size_t byte_count, void *stream);
int cuMemcpyDtoDAsync_v2(uint64_t dst_device, uint64_t src_device, size_t byte_count, void *stream);
int cuMemcpyDtoDAsync_v2_ptsz(uint64_t dst_device, uint64_t src_device, size_t byte_count,
			      void *stream);
int cuMemcpyPeer(uint64_t dst_device, void *dst_context, uint64_t src_device, void *src_context,
		 size_t byte_count);
int cuMemcpyPeerAsync(uint64_t dst_device, void *dst_context, uint64_t src_device,
		      void *src_context, size_t byte_count, void *stream);
int cuMemcpy2DUnaligned_v2(const struct ts_cu_memcpy_2d *copy);
int cuMemcpy2DUnaligned_v2_ptds(const struct ts_cu_memcpy_2d *copy);
int cuMemcpy2DAsync_v2(const struct ts_cu_memcpy_2d *copy, void *stream);
int cuMemcpy2DAsync_v2_ptsz(const struct ts_cu_memcpy_2d *copy, void *stream);
int cuMemcpy3D_v2(const struct ts_cu_memcpy_3d *copy);
int cuMemcpy3D_v2_ptds(const struct ts_cu_memcpy_3d *copy);
int cuMemcpy3DAsync_v2(const struct ts_cu_memcpy_3d *copy, void *stream);
int cuMemcpy3DAsync_v2_ptsz(const struct ts_cu_memcpy_3d *copy, void *stream);
int cuMemcpy3DPeer(const struct ts_cu_memcpy_3d_peer *copy);
int cuMemcpy3DPeer_ptds(const struct ts_cu_memcpy_3d_peer *copy);
int cuMemcpy3DPeerAsync(const struct ts_cu_memcpy_3d_peer *copy, void *stream);
int cuMemcpy3DPeerAsync_ptsz(const struct ts_cu_memcpy_3d_peer *copy, void *stream);
int cuMemsetD8_v2(uint64_t dst_device, uint8_t value, size_t n);
int cuMemsetD8_v2_ptds(uint64_t dst_device, uint8_t value, size_t n);
int cuMemsetD8Async(uint64_t dst_device, uint8_t value, size_t n, void *stream);
int cuMemsetD8Async_ptsz(uint64_t dst_device, uint8_t value, size_t n, void *stream);
int cuMemsetD2D8_v2(uint64_t dst_device, size_t dst_pitch, uint8_t value, size_t width,
		    size_t height);
int cuMemsetD2D8_v2_ptds(uint64_t dst_device, size_t dst_pitch, uint8_t value, size_t width,
			 size_t height);
int cuMemsetD2D8Async(uint64_t dst_device, size_t dst_pitch, uint8_t value, size_t width,
		      size_t height, void *stream);
int cuMemsetD2D8Async_ptsz(uint64_t dst_device, size_t dst_pitch, uint8_t value, size_t width,
			   size_t height, void *stream);
int cuStreamCreate(void **stream, uint32_t flags);
int cuStreamCreateWithPriority(void **stream, uint32_t flags, int32_t priority);
int cuStreamDestroy_v2(void *stream);
int cuStreamGetPriority(void *stream, int32_t *priority);
int cuStreamGetPriority_ptsz(void *stream, int32_t *priority);
int cuStreamGetFlags(void *stream, uint32_t *flags);
int cuStreamGetFlags_ptsz(void *stream, uint32_t *flags);
int cuStreamGetId(void *stream, uint64_t *stream_id);
int cuStreamGetId_ptsz(void *stream, uint64_t *stream_id);
int cuStreamGetDevice(void *stream, int32_t *device);
int cuStreamGetDevice_ptsz(void *stream, int32_t *device);
int cuStreamQuery(void *stream);
int cuStreamQuery_ptsz(void *stream);
int cuStreamSynchronize(void *stream);
int cuStreamSynchronize_ptsz(void *stream);
int cuStreamWaitEvent(void *stream, void *event, uint32_t flags);
int cuStreamWaitEvent_ptsz(void *stream, void *event, uint32_t flags);
int cuStreamAddCallback(void *stream, void *callback, void *user_data, uint32_t flags);
int cuStreamAddCallback_ptsz(void *stream, void *callback, void *user_data, uint32_t flags);
int cuStreamAttachMemAsync(void *stream, uint64_t dev_ptr, size_t length, uint32_t flags);
int cuStreamAttachMemAsync_ptsz(void *stream, uint64_t dev_ptr, size_t length, uint32_t flags);
int cuStreamIsCapturing(void *stream, int32_t *capture_status);
int cuStreamIsCapturing_ptsz(void *stream, int32_t *capture_status);
int cuThreadExchangeStreamCaptureMode(int32_t *mode);
int cuEventCreate(void **event, uint32_t flags);
int cuEventRecord(void *event, void *stream);
int cuEventRecord_ptsz(void *event, void *stream);
int cuEventRecordWithFlags(void *event, void *stream, uint32_t flags);
int cuEventRecordWithFlags_ptsz(void *event, void *stream, uint32_t flags);
int cuEventQuery(void *event);
int cuEventSynchronize(void *event);
int cuEventDestroy_v2(void *event);
int cuEventElapsedTime_v2(float *milliseconds, void *start, void *end);
int cuGetProcAddress_v2(const char *symbol, void **pfn, int32_t cuda_version, uint64_t flags,
			int32_t *symbol_status);
int cuGetExportTable(const void **pp_export_table, const struct ts_cu_uuid *export_table_id);
int cuGraphCreate(void **graph, uint32_t flags);
int cuGraphDestroy(void *graph);
int cuGraphClone(void **graph_clone, void *original_graph);
int cuGraphNodeFindInClone(void **node, void *original_node, void *cloned_graph);
int cuGraphNodeGetType(void *node, int32_t *type);
int cuGraphGetNodes(void *graph, void **nodes, size_t *num_nodes);
int cuGraphGetRootNodes(void *graph, void **root_nodes, size_t *num_root_nodes);
int cuGraphGetEdges_v2(void *graph, void **from, void **to, void *edge_data, size_t *num_edges);
int cuGraphNodeGetDependencies_v2(void *node, void **dependencies, void *edge_data,
				  size_t *num_dependencies);
int cuGraphNodeGetDependentNodes_v2(void *node, void **dependent_nodes, void *edge_data,
				    size_t *num_dependent_nodes);
int cuGraphAddDependencies_v2(void *graph, const void **from, const void **to,
			      const void *edge_data, size_t num_dependencies);
int cuGraphRemoveDependencies_v2(void *graph, const void **from, const void **to,
				 const void *edge_data, size_t num_dependencies);
int cuGraphDestroyNode(void *node);
int cuGraphInstantiateWithFlags(void **graph_exec, void *graph, uint64_t flags);
int cuGraphInstantiateWithParams(void **graph_exec, void *graph, void *instantiate_params);
int cuGraphInstantiateWithParams_ptsz(void **graph_exec, void *graph, void *instantiate_params);
int cuGraphExecGetFlags(void *graph_exec, uint64_t *flags);
int cuGraphUpload(void *graph_exec, void *stream);
int cuGraphUpload_ptsz(void *graph_exec, void *stream);
int cuGraphLaunch(void *graph_exec, void *stream);
int cuGraphLaunch_ptsz(void *graph_exec, void *stream);
int cuGraphExecDestroy(void *graph_exec);
int cuGraphExecUpdate_v2(void *graph_exec, void *graph, void *result_info);
int cuGraphNodeSetEnabled(void *graph_exec, void *node, uint32_t is_enabled);
int cuGraphNodeGetEnabled(void *graph_exec, void *node, uint32_t *is_enabled);
int cuStreamBeginCapture_v2(void *stream, int32_t mode);
int cuStreamBeginCapture_v2_ptsz(void *stream, int32_t mode);
int cuStreamBeginCaptureToGraph(void *stream, void *graph, const void **dependencies,
				const void *dependency_data, size_t num_dependencies, int32_t mode);
int cuStreamBeginCaptureToGraph_ptsz(void *stream, void *graph, const void **dependencies,
				     const void *dependency_data, size_t num_dependencies,
				     int32_t mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuStreamEndCapture_ptsz(void *stream, void **graph);
int cuStreamGetCaptureInfo_v3(void *stream, int32_t *capture_status_out, uint64_t *id_out,
			      void **graph_out, const void ***dependencies_out,
			      const void **edge_data_out, size_t *num_dependencies_out);
int cuStreamGetCaptureInfo_v3_ptsz(void *stream, int32_t *capture_status_out, uint64_t *id_out,
				   void **graph_out, const void ***dependencies_out,
				   const void **edge_data_out, size_t *num_dependencies_out);
int cuStreamUpdateCaptureDependencies_v2(void *stream, const void **dependencies,
					 const void *dependency_data, size_t num_dependencies,
					 uint32_t flags);
int cuStreamUpdateCaptureDependencies_v2_ptsz(void *stream, const void **dependencies,
					      const void *dependency_data, size_t num_dependencies,
					      uint32_t flags);
int cuGraphAddKernelNode_v2(void **graph_node, void *graph, const void **dependencies,
			    size_t num_dependencies,
			    const struct ts_cu_kernel_node_params *node_params);
int cuGraphKernelNodeGetParams_v2(void *node, struct ts_cu_kernel_node_params *node_params);
int cuGraphKernelNodeSetParams_v2(void *node, const struct ts_cu_kernel_node_params *node_params);
int cuGraphExecKernelNodeSetParams_v2(void *graph_exec, void *node,
				      const struct ts_cu_kernel_node_params *node_params);
int cuGraphKernelNodeCopyAttributes(void *dst, void *src);
int cuGraphKernelNodeGetAttribute(void *node, int32_t attr,
				  union ts_cu_launch_attribute_value *value_out);
int cuGraphKernelNodeSetAttribute(void *node, int32_t attr,
				  const union ts_cu_launch_attribute_value *value);
int cuGraphAddMemcpyNode(void **graph_node, void *graph, const void **dependencies,
			 size_t num_dependencies, const struct ts_cu_memcpy_3d *copy_params,
			 void *ctx);
int cuGraphMemcpyNodeGetParams(void *node, struct ts_cu_memcpy_3d *node_params);
int cuGraphMemcpyNodeSetParams(void *node, const struct ts_cu_memcpy_3d *node_params);
int cuGraphExecMemcpyNodeSetParams(void *graph_exec, void *node,
				   const struct ts_cu_memcpy_3d *copy_params, void *ctx);
int cuGraphAddMemsetNode(void **graph_node, void *graph, const void **dependencies,
			 size_t num_dependencies,
			 const struct ts_cu_memset_node_params *memset_params, void *ctx);
int cuGraphMemsetNodeGetParams(void *node, struct ts_cu_memset_node_params *node_params);
int cuGraphMemsetNodeSetParams(void *node, const struct ts_cu_memset_node_params *node_params);
int cuGraphExecMemsetNodeSetParams(void *graph_exec, void *node,
				   const struct ts_cu_memset_node_params *memset_params, void *ctx);
int cuGraphAddHostNode(void **graph_node, void *graph, const void **dependencies,
		       size_t num_dependencies, const struct ts_cu_host_node_params *node_params);
int cuGraphHostNodeGetParams(void *node, struct ts_cu_host_node_params *node_params);
int cuGraphHostNodeSetParams(void *node, const struct ts_cu_host_node_params *node_params);
int cuGraphExecHostNodeSetParams(void *graph_exec, void *node,
				 const struct ts_cu_host_node_params *node_params);
int cuGraphAddEmptyNode(void **graph_node, void *graph, const void **dependencies,
			size_t num_dependencies);
int cuGraphAddEventRecordNode(void **graph_node, void *graph, const void **dependencies,
			      size_t num_dependencies, void *event);
int cuGraphEventRecordNodeGetEvent(void *node, void **event_out);
int cuGraphEventRecordNodeSetEvent(void *node, void *event);
int cuGraphExecEventRecordNodeSetEvent(void *graph_exec, void *node, void *event);
int cuGraphAddEventWaitNode(void **graph_node, void *graph, const void **dependencies,
			    size_t num_dependencies, void *event);
int cuGraphEventWaitNodeGetEvent(void *node, void **event_out);
int cuGraphEventWaitNodeSetEvent(void *node, void *event);
int cuGraphExecEventWaitNodeSetEvent(void *graph_exec, void *node, void *event);
int cuGraphAddChildGraphNode(void **graph_node, void *graph, const void **dependencies,
			     size_t num_dependencies, void *child_graph);
int cuGraphChildGraphNodeGetGraph(void *node, void **graph);
int cuGraphExecChildGraphNodeSetParams(void *graph_exec, void *node, void *child_graph);
int cuGraphAddNode_v2(void **graph_node, void *graph, const void **dependencies,
		      const void *dependency_data, size_t num_dependencies, void *node_params);
int cuGraphNodeSetParams(void *node, void *node_params);
int cuGraphExecNodeSetParams(void *graph_exec, void *node, void *node_params);
