/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What function_params of a runtime callback points to, for the calls whose arguments somebody
 * reads or makes: the arguments in order, as the vendor lays them out. Each structure names the
 * callback ids (cupti_cbid.h) that hand it out; older ids of the same call have other layouts and
 * are not read. Pointers are the caller's: read what they point to inside the callback only. Names
 * and types follow cuda_driver.h's reading rules.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/abi/vendor/cuda_runtime.h"

/* cudaDeviceSetLimit_v3020. */
struct ts_cuda_device_set_limit_params {
	int32_t limit;
	size_t value;
};

/* cudaDeviceGetLimit_v3020. */
struct ts_cuda_device_get_limit_params {
	size_t *value;
	int32_t limit;
};

/* cudaDeviceGetCacheConfig_v3020. */
struct ts_cuda_device_get_cache_config_params {
	int32_t *cache_config;
};

/* cudaDeviceGetStreamPriorityRange_v5050. */
struct ts_cuda_device_get_stream_priority_range_params {
	int32_t *least_priority;
	int32_t *greatest_priority;
};

/* cudaDeviceSetCacheConfig_v3020. */
struct ts_cuda_device_set_cache_config_params {
	int32_t cache_config;
};

/* cudaDeviceGetByPCIBusId_v4010. */
struct ts_cuda_device_get_by_pci_bus_id_params {
	int32_t *device;
	const char *pci_bus_id;
};

/* cudaDeviceGetPCIBusId_v4010. */
struct ts_cuda_device_get_pci_bus_id_params {
	char *pci_bus_id;
	int32_t len;
	int32_t device;
};

/* cudaGetErrorName_v6050. */
struct ts_cuda_get_error_name_params {
	int32_t error;
};

/* cudaGetErrorString_v3020. */
struct ts_cuda_get_error_string_params {
	int32_t error;
};

/* cudaGetDeviceCount_v3020. */
struct ts_cuda_get_device_count_params {
	int32_t *count;
};

/* cudaGetDeviceProperties_v12000. */
struct ts_cuda_get_device_properties_params {
	struct ts_cuda_device_prop *prop;
	int32_t device;
};

/* cudaDeviceGetAttribute_v5000. */
struct ts_cuda_device_get_attribute_params {
	int32_t *value;
	int32_t attr;
	int32_t device;
};

/* cudaDeviceGetDefaultMemPool_v11020. */
struct ts_cuda_device_get_default_mem_pool_params {
	void **mem_pool;
	int32_t device;
};

/* cudaDeviceSetMemPool_v11020. */
struct ts_cuda_device_set_mem_pool_params {
	int32_t device;
	void *mem_pool;
};

/* cudaDeviceGetMemPool_v11020. */
struct ts_cuda_device_get_mem_pool_params {
	void **mem_pool;
	int32_t device;
};

/* cudaDeviceGetP2PAttribute_v8000. */
struct ts_cuda_device_get_p2_p_attribute_params {
	int32_t *value;
	int32_t attr;
	int32_t src_device;
	int32_t dst_device;
};

/* cudaSetDevice_v3020. */
struct ts_cuda_set_device_params {
	int32_t device;
};

/* cudaGetDevice_v3020. */
struct ts_cuda_get_device_params {
	int32_t *device;
};

/* cudaSetDeviceFlags_v3020. */
struct ts_cuda_set_device_flags_params {
	uint32_t flags;
};

/* cudaGetDeviceFlags_v7000. */
struct ts_cuda_get_device_flags_params {
	uint32_t *flags;
};

/* cudaStreamCreate_v3020. */
struct ts_cuda_stream_create_params {
	void **stream;
};

/* cudaStreamCreateWithFlags_v5000. */
struct ts_cuda_stream_create_with_flags_params {
	void **stream;
	uint32_t flags;
};

/* cudaStreamCreateWithPriority_v5050. */
struct ts_cuda_stream_create_with_priority_params {
	void **stream;
	uint32_t flags;
	int32_t priority;
};

/* cudaStreamGetPriority_ptsz_v7000, cudaStreamGetPriority_v5050. */
struct ts_cuda_stream_get_priority_params {
	void *stream;
	int32_t *priority;
};

/* cudaStreamGetFlags_ptsz_v7000, cudaStreamGetFlags_v5050. */
struct ts_cuda_stream_get_flags_params {
	void *stream;
	uint32_t *flags;
};

/* cudaStreamGetId_ptsz_v12000, cudaStreamGetId_v12000. */
struct ts_cuda_stream_get_id_params {
	void *stream;
	uint64_t *stream_id;
};

/* cudaStreamGetDevice_ptsz_v12080, cudaStreamGetDevice_v12080. */
struct ts_cuda_stream_get_device_params {
	void *stream;
	int32_t *device;
};

/* cudaStreamDestroy_v5050. */
struct ts_cuda_stream_destroy_params {
	void *stream;
};

/* cudaStreamWaitEvent_ptsz_v7000, cudaStreamWaitEvent_v3020. */
struct ts_cuda_stream_wait_event_params {
	void *stream;
	void *event;
	uint32_t flags;
};

/* cudaStreamAddCallback_ptsz_v7000, cudaStreamAddCallback_v5000. */
struct ts_cuda_stream_add_callback_params {
	void *stream;
	void *callback;
	void *user_data;
	uint32_t flags;
};

/* cudaStreamSynchronize_ptsz_v7000, cudaStreamSynchronize_v3020. */
struct ts_cuda_stream_synchronize_params {
	void *stream;
};

/* cudaStreamQuery_ptsz_v7000, cudaStreamQuery_v3020. */
struct ts_cuda_stream_query_params {
	void *stream;
};

/* cudaStreamAttachMemAsync_ptsz_v7000, cudaStreamAttachMemAsync_v6000. */
struct ts_cuda_stream_attach_mem_async_params {
	void *stream;
	void *dev_ptr;
	size_t length;
	uint32_t flags;
};

/* cudaStreamBeginCapture_ptsz_v10000, cudaStreamBeginCapture_v10000. */
struct ts_cuda_stream_begin_capture_params {
	void *stream;
	int32_t mode;
};

/* cudaThreadExchangeStreamCaptureMode_v10010. */
struct ts_cuda_thread_exchange_stream_capture_mode_params {
	int32_t *mode;
};

/* cudaStreamEndCapture_ptsz_v10000, cudaStreamEndCapture_v10000. */
struct ts_cuda_stream_end_capture_params {
	void *stream;
	void **graph;
};

/* cudaStreamIsCapturing_ptsz_v10000, cudaStreamIsCapturing_v10000. */
struct ts_cuda_stream_is_capturing_params {
	void *stream;
	int32_t *capture_status;
};

/* cudaStreamGetCaptureInfo_ptsz_v12030, cudaStreamGetCaptureInfo_v12030. */
struct ts_cuda_stream_get_capture_info_params {
	void *stream;
	int32_t *capture_status_out;
	uint64_t *id_out;
	void **graph_out;
	const void ***dependencies_out;
	const void **edge_data_out;
	size_t *num_dependencies_out;
};

/* cudaEventCreate_v3020. */
struct ts_cuda_event_create_params {
	void **event;
};

/* cudaEventCreateWithFlags_v3020. */
struct ts_cuda_event_create_with_flags_params {
	void **event;
	uint32_t flags;
};

/* cudaEventRecord_ptsz_v7000, cudaEventRecord_v3020. */
struct ts_cuda_event_record_params {
	void *event;
	void *stream;
};

/* cudaEventRecordWithFlags_ptsz_v11010, cudaEventRecordWithFlags_v11010. */
struct ts_cuda_event_record_with_flags_params {
	void *event;
	void *stream;
	uint32_t flags;
};

/* cudaEventQuery_v3020. */
struct ts_cuda_event_query_params {
	void *event;
};

/* cudaEventSynchronize_v3020. */
struct ts_cuda_event_synchronize_params {
	void *event;
};

/* cudaEventDestroy_v3020. */
struct ts_cuda_event_destroy_params {
	void *event;
};

/* cudaEventElapsedTime_v12080. */
struct ts_cuda_event_elapsed_time_params {
	float *ms;
	void *start;
	void *end;
};

/* cudaLaunchKernel_ptsz_v7000, cudaLaunchKernel_v7000. */
struct ts_cuda_launch_kernel_params {
	const void *func;
	struct ts_cuda_dim3 grid_dim;
	struct ts_cuda_dim3 block_dim;
	void **args;
	size_t shared_mem;
	void *stream;
};

/* cudaLaunchKernelExC_ptsz_v11060, cudaLaunchKernelExC_v11060. */
struct ts_cuda_launch_kernel_ex_c_params {
	const struct ts_cuda_launch_config *config;
	const void *func;
	void **args;
};

/* cudaLaunchCooperativeKernel_ptsz_v9000, cudaLaunchCooperativeKernel_v9000. */
struct ts_cuda_launch_cooperative_kernel_params {
	const void *func;
	struct ts_cuda_dim3 grid_dim;
	struct ts_cuda_dim3 block_dim;
	void **args;
	size_t shared_mem;
	void *stream;
};

/* cudaFuncSetCacheConfig_v3020. */
struct ts_cuda_func_set_cache_config_params {
	const void *func;
	int32_t cache_config;
};

/* cudaFuncGetAttributes_v3020. */
struct ts_cuda_func_get_attributes_params {
	struct ts_cuda_func_attributes *attr;
	const void *func;
};

/* cudaFuncSetAttribute_v9000. */
struct ts_cuda_func_set_attribute_params {
	const void *func;
	int32_t attr;
	int32_t value;
};

/* cudaFuncGetName_v12030. */
struct ts_cuda_func_get_name_params {
	const char **name;
	const void *func;
};

/* cudaLaunchHostFunc_ptsz_v10000, cudaLaunchHostFunc_v10000. */
struct ts_cuda_launch_host_func_params {
	void *stream;
	void *fn;
	void *user_data;
};

/* cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050. */
struct ts_cuda_occupancy_max_active_blocks_per_multiprocessor_params {
	int32_t *num_blocks;
	const void *func;
	int32_t block_size;
	size_t dynamic_s_mem_size;
};

/* cudaOccupancyAvailableDynamicSMemPerBlock_v10200. */
struct ts_cuda_occupancy_available_dynamic_s_mem_per_block_params {
	size_t *dynamic_smem_size;
	const void *func;
	int32_t num_blocks;
	int32_t block_size;
};

/* cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000. */
struct ts_cuda_occupancy_max_active_blocks_per_multiprocessor_with_flags_params {
	int32_t *num_blocks;
	const void *func;
	int32_t block_size;
	size_t dynamic_s_mem_size;
	uint32_t flags;
};

/* cudaMallocManaged_v6000. */
struct ts_cuda_malloc_managed_params {
	void **dev_ptr;
	size_t size;
	uint32_t flags;
};

/* cudaMalloc_v3020. */
struct ts_cuda_malloc_params {
	void **dev_ptr;
	size_t size;
};

/* cudaMallocHost_v3020. */
struct ts_cuda_malloc_host_params {
	void **ptr;
	size_t size;
};

/* cudaMallocPitch_v3020. */
struct ts_cuda_malloc_pitch_params {
	void **dev_ptr;
	size_t *pitch;
	size_t width;
	size_t height;
};

/* cudaFree_v3020. */
struct ts_cuda_free_params {
	void *dev_ptr;
};

/* cudaFreeHost_v3020. */
struct ts_cuda_free_host_params {
	void *ptr;
};

/* cudaHostAlloc_v3020. */
struct ts_cuda_host_alloc_params {
	void **host;
	size_t size;
	uint32_t flags;
};

/* cudaHostRegister_v4000. */
struct ts_cuda_host_register_params {
	void *ptr;
	size_t size;
	uint32_t flags;
};

/* cudaHostUnregister_v4000. */
struct ts_cuda_host_unregister_params {
	void *ptr;
};

/* cudaHostGetDevicePointer_v3020. */
struct ts_cuda_host_get_device_pointer_params {
	void **device;
	void *host;
	uint32_t flags;
};

/* cudaHostGetFlags_v3020. */
struct ts_cuda_host_get_flags_params {
	uint32_t *flags;
	void *host;
};

/* cudaMalloc3D_v3020. */
struct ts_cuda_malloc3d_params {
	struct ts_cuda_pitched_ptr *pitched_dev_ptr;
	struct ts_cuda_extent extent;
};

/* cudaMemcpy3D_ptds_v7000, cudaMemcpy3D_v3020. */
struct ts_cuda_memcpy3d_params {
	const struct ts_cuda_memcpy_3d_parms *p;
};

/* cudaMemcpy3DPeer_ptds_v7000, cudaMemcpy3DPeer_v4000. */
struct ts_cuda_memcpy3d_peer_params {
	const struct ts_cuda_memcpy_3d_peer_parms *p;
};

/* cudaMemcpy3DAsync_ptsz_v7000, cudaMemcpy3DAsync_v3020. */
struct ts_cuda_memcpy3d_async_params {
	const struct ts_cuda_memcpy_3d_parms *p;
	void *stream;
};

/* cudaMemcpy3DPeerAsync_ptsz_v7000, cudaMemcpy3DPeerAsync_v4000. */
struct ts_cuda_memcpy3d_peer_async_params {
	const struct ts_cuda_memcpy_3d_peer_parms *p;
	void *stream;
};

/* cudaMemGetInfo_v3020. */
struct ts_cuda_mem_get_info_params {
	size_t *free;
	size_t *total;
};

/* cudaMemcpy_ptds_v7000, cudaMemcpy_v3020. */
struct ts_cuda_memcpy_params {
	void *dst;
	const void *src;
	size_t count;
	int32_t kind;
};

/* cudaMemcpyPeer_v4000. */
struct ts_cuda_memcpy_peer_params {
	void *dst;
	int32_t dst_device;
	const void *src;
	int32_t src_device;
	size_t count;
};

/* cudaMemcpy2D_ptds_v7000, cudaMemcpy2D_v3020. */
struct ts_cuda_memcpy2d_params {
	void *dst;
	size_t dpitch;
	const void *src;
	size_t spitch;
	size_t width;
	size_t height;
	int32_t kind;
};

/* cudaMemcpyToSymbol_ptds_v7000, cudaMemcpyToSymbol_v3020. */
struct ts_cuda_memcpy_to_symbol_params {
	const void *symbol;
	const void *src;
	size_t count;
	size_t offset;
	int32_t kind;
};

/* cudaMemcpyFromSymbol_ptds_v7000, cudaMemcpyFromSymbol_v3020. */
struct ts_cuda_memcpy_from_symbol_params {
	void *dst;
	const void *symbol;
	size_t count;
	size_t offset;
	int32_t kind;
};

/* cudaMemcpyAsync_ptsz_v7000, cudaMemcpyAsync_v3020. */
struct ts_cuda_memcpy_async_params {
	void *dst;
	const void *src;
	size_t count;
	int32_t kind;
	void *stream;
};

/* cudaMemcpyPeerAsync_v4000. */
struct ts_cuda_memcpy_peer_async_params {
	void *dst;
	int32_t dst_device;
	const void *src;
	int32_t src_device;
	size_t count;
	void *stream;
};

/* cudaMemcpy2DAsync_ptsz_v7000, cudaMemcpy2DAsync_v3020. */
struct ts_cuda_memcpy2d_async_params {
	void *dst;
	size_t dpitch;
	const void *src;
	size_t spitch;
	size_t width;
	size_t height;
	int32_t kind;
	void *stream;
};

/* cudaMemcpyToSymbolAsync_ptsz_v7000, cudaMemcpyToSymbolAsync_v3020. */
struct ts_cuda_memcpy_to_symbol_async_params {
	const void *symbol;
	const void *src;
	size_t count;
	size_t offset;
	int32_t kind;
	void *stream;
};

/* cudaMemcpyFromSymbolAsync_ptsz_v7000, cudaMemcpyFromSymbolAsync_v3020. */
struct ts_cuda_memcpy_from_symbol_async_params {
	void *dst;
	const void *symbol;
	size_t count;
	size_t offset;
	int32_t kind;
	void *stream;
};

/* cudaMemset_ptds_v7000, cudaMemset_v3020. */
struct ts_cuda_memset_params {
	void *dev_ptr;
	int32_t value;
	size_t count;
};

/* cudaMemset2D_ptds_v7000, cudaMemset2D_v3020. */
struct ts_cuda_memset2d_params {
	void *dev_ptr;
	size_t pitch;
	int32_t value;
	size_t width;
	size_t height;
};

/* cudaMemset3D_ptds_v7000, cudaMemset3D_v3020. */
struct ts_cuda_memset3d_params {
	struct ts_cuda_pitched_ptr pitched_dev_ptr;
	int32_t value;
	struct ts_cuda_extent extent;
};

/* cudaMemsetAsync_ptsz_v7000, cudaMemsetAsync_v3020. */
struct ts_cuda_memset_async_params {
	void *dev_ptr;
	int32_t value;
	size_t count;
	void *stream;
};

/* cudaMemset2DAsync_ptsz_v7000, cudaMemset2DAsync_v3020. */
struct ts_cuda_memset2d_async_params {
	void *dev_ptr;
	size_t pitch;
	int32_t value;
	size_t width;
	size_t height;
	void *stream;
};

/* cudaMemset3DAsync_ptsz_v7000, cudaMemset3DAsync_v3020. */
struct ts_cuda_memset3d_async_params {
	struct ts_cuda_pitched_ptr pitched_dev_ptr;
	int32_t value;
	struct ts_cuda_extent extent;
	void *stream;
};

/* cudaGetSymbolAddress_v3020. */
struct ts_cuda_get_symbol_address_params {
	void **dev_ptr;
	const void *symbol;
};

/* cudaGetSymbolSize_v3020. */
struct ts_cuda_get_symbol_size_params {
	size_t *size;
	const void *symbol;
};

/* cudaMemPrefetchAsync_ptsz_v12020, cudaMemPrefetchAsync_v12020. */
struct ts_cuda_mem_prefetch_async_params {
	const void *dev_ptr;
	size_t count;
	struct ts_cu_mem_location location;
	uint32_t flags;
	void *stream;
};

/* cudaMemAdvise_v12020. */
struct ts_cuda_mem_advise_params {
	const void *dev_ptr;
	size_t count;
	int32_t advice;
	struct ts_cu_mem_location location;
};

/* cudaMallocAsync_ptsz_v11020, cudaMallocAsync_v11020. */
struct ts_cuda_malloc_async_params {
	void **dev_ptr;
	size_t size;
	void *stream;
};

/* cudaFreeAsync_ptsz_v11020, cudaFreeAsync_v11020. */
struct ts_cuda_free_async_params {
	void *dev_ptr;
	void *stream;
};

/* cudaMemPoolTrimTo_v11020. */
struct ts_cuda_mem_pool_trim_to_params {
	void *mem_pool;
	size_t min_bytes_to_keep;
};

/* cudaMemPoolSetAttribute_v11020. */
struct ts_cuda_mem_pool_set_attribute_params {
	void *mem_pool;
	int32_t attr;
	void *value;
};

/* cudaMemPoolSetAccess_v11020. */
struct ts_cuda_mem_pool_set_access_params {
	void *mem_pool;
	const struct ts_cu_mem_access_desc *desc_list;
	size_t count;
};

/* cudaMemPoolCreate_v11020. */
struct ts_cuda_mem_pool_create_params {
	void **mem_pool;
	const struct ts_cu_mem_pool_props *pool_props;
};

/* cudaMemPoolDestroy_v11020. */
struct ts_cuda_mem_pool_destroy_params {
	void *mem_pool;
};

/* cudaMallocFromPoolAsync_ptsz_v11020, cudaMallocFromPoolAsync_v11020. */
struct ts_cuda_malloc_from_pool_async_params {
	void **ptr;
	size_t size;
	void *mem_pool;
	void *stream;
};

/* cudaPointerGetAttributes_v4000. */
struct ts_cuda_pointer_get_attributes_params {
	struct ts_cuda_pointer_attributes *attributes;
	const void *ptr;
};

/* cudaDeviceCanAccessPeer_v4000. */
struct ts_cuda_device_can_access_peer_params {
	int32_t *can_access_peer;
	int32_t device;
	int32_t peer_device;
};

/* cudaDeviceEnablePeerAccess_v4000. */
struct ts_cuda_device_enable_peer_access_params {
	int32_t peer_device;
	uint32_t flags;
};

/* cudaDeviceDisablePeerAccess_v4000. */
struct ts_cuda_device_disable_peer_access_params {
	int32_t peer_device;
};

/* cudaDriverGetVersion_v3020. */
struct ts_cuda_driver_get_version_params {
	int32_t *driver_version;
};

/* cudaRuntimeGetVersion_v3020. */
struct ts_cuda_runtime_get_version_params {
	int32_t *runtime_version;
};

/* cudaGraphCreate_v10000. */
struct ts_cuda_graph_create_params {
	void **graph;
	uint32_t flags;
};

/* cudaGraphAddKernelNode_v10000. */
struct ts_cuda_graph_add_kernel_node_params {
	void **graph_node;
	void *graph;
	const void **dependencies;
	size_t num_dependencies;
	const void *node_params;
};

/* cudaGraphAddMemcpyNode_v10000. */
struct ts_cuda_graph_add_memcpy_node_params {
	void **graph_node;
	void *graph;
	const void **dependencies;
	size_t num_dependencies;
	const struct ts_cuda_memcpy_3d_parms *copy_params;
};

/* cudaGraphAddMemsetNode_v10000. */
struct ts_cuda_graph_add_memset_node_params {
	void **graph_node;
	void *graph;
	const void **dependencies;
	size_t num_dependencies;
	const void *memset_params;
};

/* cudaGraphAddHostNode_v10000. */
struct ts_cuda_graph_add_host_node_params {
	void **graph_node;
	void *graph;
	const void **dependencies;
	size_t num_dependencies;
	const void *node_params;
};

/* cudaGraphAddEmptyNode_v10000. */
struct ts_cuda_graph_add_empty_node_params {
	void **graph_node;
	void *graph;
	const void **dependencies;
	size_t num_dependencies;
};

/* cudaGraphClone_v10000. */
struct ts_cuda_graph_clone_params {
	void **graph_clone;
	void *original_graph;
};

/* cudaGraphAddDependencies_v12030. */
struct ts_cuda_graph_add_dependencies_params {
	void *graph;
	const void **from;
	const void **to;
	const void *edge_data;
	size_t num_dependencies;
};

/* cudaGraphInstantiate_v12000. */
struct ts_cuda_graph_instantiate_params {
	void **graph_exec;
	void *graph;
	uint64_t flags;
};

/* cudaGraphInstantiateWithFlags_v11040. */
struct ts_cuda_graph_instantiate_with_flags_params {
	void **graph_exec;
	void *graph;
	uint64_t flags;
};

/* cudaGraphInstantiateWithParams_ptsz_v12000, cudaGraphInstantiateWithParams_v12000. */
struct ts_cuda_graph_instantiate_with_params_params {
	void **graph_exec;
	void *graph;
	void *instantiate_params;
};

/* cudaGraphExecUpdate_v10020. */
struct ts_cuda_graph_exec_update_params {
	void *graph_exec;
	void *graph;
	void *result_info;
};

/* cudaGraphUpload_ptsz_v10000, cudaGraphUpload_v10000. */
struct ts_cuda_graph_upload_params {
	void *graph_exec;
	void *stream;
};

/* cudaGraphLaunch_ptsz_v10000, cudaGraphLaunch_v10000. */
struct ts_cuda_graph_launch_params {
	void *graph_exec;
	void *stream;
};

/* cudaGraphExecDestroy_v10000. */
struct ts_cuda_graph_exec_destroy_params {
	void *graph_exec;
};

/* cudaGraphDestroy_v10000. */
struct ts_cuda_graph_destroy_params {
	void *graph;
};

/* cudaGetDriverEntryPoint_ptsz_v11030, cudaGetDriverEntryPoint_v11030. */
struct ts_cuda_get_driver_entry_point_params {
	const char *symbol;
	void **func_ptr;
	uint64_t flags;
	int32_t *driver_status;
};

/* cudaGetDriverEntryPointByVersion_ptsz_v12050, cudaGetDriverEntryPointByVersion_v12050. */
struct ts_cuda_get_driver_entry_point_by_version_params {
	const char *symbol;
	void **func_ptr;
	uint32_t cuda_version;
	uint64_t flags;
	int32_t *driver_status;
};

/* cudaLibraryLoadData_v12060. */
struct ts_cuda_library_load_data_params {
	void **library;
	const void *code;
	int32_t *jit_options;
	void **jit_options_values;
	uint32_t num_jit_options;
	int32_t *library_options;
	void **library_option_values;
	uint32_t num_library_options;
};

/* cudaLibraryLoadFromFile_v12060. */
struct ts_cuda_library_load_from_file_params {
	void **library;
	const char *file_name;
	int32_t *jit_options;
	void **jit_options_values;
	uint32_t num_jit_options;
	int32_t *library_options;
	void **library_option_values;
	uint32_t num_library_options;
};

/* cudaLibraryUnload_v12060. */
struct ts_cuda_library_unload_params {
	void *library;
};

/* cudaLibraryGetKernel_v12060. */
struct ts_cuda_library_get_kernel_params {
	void **kernel;
	void *library;
	const char *name;
};

/* cudaLibraryGetGlobal_v12060. */
struct ts_cuda_library_get_global_params {
	void **dev_ptr;
	size_t *bytes;
	void *library;
	const char *name;
};

/* cudaLibraryGetManaged_v12060. */
struct ts_cuda_library_get_managed_params {
	void **dev_ptr;
	size_t *bytes;
	void *library;
	const char *name;
};

/* cudaLibraryGetKernelCount_v12060. */
struct ts_cuda_library_get_kernel_count_params {
	uint32_t *count;
	void *lib;
};

/* cudaLibraryEnumerateKernels_v12060. */
struct ts_cuda_library_enumerate_kernels_params {
	void **kernels;
	uint32_t num_kernels;
	void *lib;
};

/* cudaKernelSetAttributeForDevice_v12060. */
struct ts_cuda_kernel_set_attribute_for_device_params {
	void *kernel;
	int32_t attr;
	int32_t value;
	int32_t device;
};

/* cudaGetFuncBySymbol_v11000. */
struct ts_cuda_get_func_by_symbol_params {
	void **function_ptr;
	const void *symbol_ptr;
};

/* cudaGetKernel_v12000. */
struct ts_cuda_get_kernel_params {
	void **kernel_ptr;
	const void *entry_func_addr;
};
