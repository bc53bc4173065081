// SPDX-License-Identifier: Apache-2.0
/*
 * Arguments of runtime calls as we declare them, against CUPTI's header. Each line names one of ours and the vendor's; check-coverage.py sees to it that none of
 * ours goes without a line.
 */
#include <cupti.h>

#include "proto/abi/vendor/cuda_runtime_params.h"
#include "test/unit/harness.h"
#include "test/unit/vendor/same.h"

TS_TEST(layouts)
{
	SAME_SIZE(struct ts_cuda_device_set_limit_params, cudaDeviceSetLimit_v3020_params);
	SAME_FIELDS(struct ts_cuda_device_set_limit_params, cudaDeviceSetLimit_v3020_params, limit,
		    limit, value, value);
	SAME_SIZE(struct ts_cuda_device_get_limit_params, cudaDeviceGetLimit_v3020_params);
	SAME_FIELDS(struct ts_cuda_device_get_limit_params, cudaDeviceGetLimit_v3020_params, value,
		    pValue, limit, limit);
	SAME_SIZE(struct ts_cuda_device_get_cache_config_params,
		  cudaDeviceGetCacheConfig_v3020_params);
	SAME_FIELDS(struct ts_cuda_device_get_cache_config_params,
		    cudaDeviceGetCacheConfig_v3020_params, cache_config, pCacheConfig);
	SAME_SIZE(struct ts_cuda_device_get_stream_priority_range_params,
		  cudaDeviceGetStreamPriorityRange_v5050_params);
	SAME_FIELDS(struct ts_cuda_device_get_stream_priority_range_params,
		    cudaDeviceGetStreamPriorityRange_v5050_params, least_priority, leastPriority,
		    greatest_priority, greatestPriority);
	SAME_SIZE(struct ts_cuda_device_set_cache_config_params,
		  cudaDeviceSetCacheConfig_v3020_params);
	SAME_FIELDS(struct ts_cuda_device_set_cache_config_params,
		    cudaDeviceSetCacheConfig_v3020_params, cache_config, cacheConfig);
	SAME_SIZE(struct ts_cuda_device_get_by_pci_bus_id_params,
		  cudaDeviceGetByPCIBusId_v4010_params);
	SAME_FIELDS(struct ts_cuda_device_get_by_pci_bus_id_params,
		    cudaDeviceGetByPCIBusId_v4010_params, device, device, pci_bus_id, pciBusId);
	SAME_SIZE(struct ts_cuda_device_get_pci_bus_id_params, cudaDeviceGetPCIBusId_v4010_params);
	SAME_FIELDS(struct ts_cuda_device_get_pci_bus_id_params, cudaDeviceGetPCIBusId_v4010_params,
		    pci_bus_id, pciBusId, len, len, device, device);
	SAME_SIZE(struct ts_cuda_get_error_name_params, cudaGetErrorName_v6050_params);
	SAME_FIELDS(struct ts_cuda_get_error_name_params, cudaGetErrorName_v6050_params, error,
		    error);
	SAME_SIZE(struct ts_cuda_get_error_string_params, cudaGetErrorString_v3020_params);
	SAME_FIELDS(struct ts_cuda_get_error_string_params, cudaGetErrorString_v3020_params, error,
		    error);
	SAME_SIZE(struct ts_cuda_get_device_count_params, cudaGetDeviceCount_v3020_params);
	SAME_FIELDS(struct ts_cuda_get_device_count_params, cudaGetDeviceCount_v3020_params, count,
		    count);
	SAME_SIZE(struct ts_cuda_get_device_properties_params,
		  cudaGetDeviceProperties_v12000_params);
	SAME_FIELDS(struct ts_cuda_get_device_properties_params,
		    cudaGetDeviceProperties_v12000_params, prop, prop, device, device);
	SAME_SIZE(struct ts_cuda_device_get_attribute_params, cudaDeviceGetAttribute_v5000_params);
	SAME_FIELDS(struct ts_cuda_device_get_attribute_params, cudaDeviceGetAttribute_v5000_params,
		    value, value, attr, attr, device, device);
	SAME_SIZE(struct ts_cuda_device_get_default_mem_pool_params,
		  cudaDeviceGetDefaultMemPool_v11020_params);
	SAME_FIELDS(struct ts_cuda_device_get_default_mem_pool_params,
		    cudaDeviceGetDefaultMemPool_v11020_params, mem_pool, memPool, device, device);
	SAME_SIZE(struct ts_cuda_device_set_mem_pool_params, cudaDeviceSetMemPool_v11020_params);
	SAME_FIELDS(struct ts_cuda_device_set_mem_pool_params, cudaDeviceSetMemPool_v11020_params,
		    device, device, mem_pool, memPool);
	SAME_SIZE(struct ts_cuda_device_get_mem_pool_params, cudaDeviceGetMemPool_v11020_params);
	SAME_FIELDS(struct ts_cuda_device_get_mem_pool_params, cudaDeviceGetMemPool_v11020_params,
		    mem_pool, memPool, device, device);
	SAME_SIZE(struct ts_cuda_device_get_p2_p_attribute_params,
		  cudaDeviceGetP2PAttribute_v8000_params);
	SAME_FIELDS(struct ts_cuda_device_get_p2_p_attribute_params,
		    cudaDeviceGetP2PAttribute_v8000_params, value, value, attr, attr, src_device,
		    srcDevice, dst_device, dstDevice);
	SAME_SIZE(struct ts_cuda_set_device_params, cudaSetDevice_v3020_params);
	SAME_FIELDS(struct ts_cuda_set_device_params, cudaSetDevice_v3020_params, device, device);
	SAME_SIZE(struct ts_cuda_get_device_params, cudaGetDevice_v3020_params);
	SAME_FIELDS(struct ts_cuda_get_device_params, cudaGetDevice_v3020_params, device, device);
	SAME_SIZE(struct ts_cuda_set_device_flags_params, cudaSetDeviceFlags_v3020_params);
	SAME_FIELDS(struct ts_cuda_set_device_flags_params, cudaSetDeviceFlags_v3020_params, flags,
		    flags);
	SAME_SIZE(struct ts_cuda_get_device_flags_params, cudaGetDeviceFlags_v7000_params);
	SAME_FIELDS(struct ts_cuda_get_device_flags_params, cudaGetDeviceFlags_v7000_params, flags,
		    flags);
	SAME_SIZE(struct ts_cuda_stream_create_params, cudaStreamCreate_v3020_params);
	SAME_FIELDS(struct ts_cuda_stream_create_params, cudaStreamCreate_v3020_params, stream,
		    pStream);
	SAME_SIZE(struct ts_cuda_stream_create_with_flags_params,
		  cudaStreamCreateWithFlags_v5000_params);
	SAME_FIELDS(struct ts_cuda_stream_create_with_flags_params,
		    cudaStreamCreateWithFlags_v5000_params, stream, pStream, flags, flags);
	SAME_SIZE(struct ts_cuda_stream_create_with_priority_params,
		  cudaStreamCreateWithPriority_v5050_params);
	SAME_FIELDS(struct ts_cuda_stream_create_with_priority_params,
		    cudaStreamCreateWithPriority_v5050_params, stream, pStream, flags, flags,
		    priority, priority);
	SAME_SIZE(struct ts_cuda_stream_get_priority_params,
		  cudaStreamGetPriority_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_stream_get_priority_params,
		    cudaStreamGetPriority_ptsz_v7000_params, stream, hStream, priority, priority);
	SAME_SIZE(struct ts_cuda_stream_get_priority_params, cudaStreamGetPriority_v5050_params);
	SAME_FIELDS(struct ts_cuda_stream_get_priority_params, cudaStreamGetPriority_v5050_params,
		    stream, hStream, priority, priority);
	SAME_SIZE(struct ts_cuda_stream_get_flags_params, cudaStreamGetFlags_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_stream_get_flags_params, cudaStreamGetFlags_ptsz_v7000_params,
		    stream, hStream, flags, flags);
	SAME_SIZE(struct ts_cuda_stream_get_flags_params, cudaStreamGetFlags_v5050_params);
	SAME_FIELDS(struct ts_cuda_stream_get_flags_params, cudaStreamGetFlags_v5050_params, stream,
		    hStream, flags, flags);
	SAME_SIZE(struct ts_cuda_stream_get_id_params, cudaStreamGetId_ptsz_v12000_params);
	SAME_FIELDS(struct ts_cuda_stream_get_id_params, cudaStreamGetId_ptsz_v12000_params, stream,
		    hStream, stream_id, streamId);
	SAME_SIZE(struct ts_cuda_stream_get_id_params, cudaStreamGetId_v12000_params);
	SAME_FIELDS(struct ts_cuda_stream_get_id_params, cudaStreamGetId_v12000_params, stream,
		    hStream, stream_id, streamId);
	SAME_SIZE(struct ts_cuda_stream_get_device_params, cudaStreamGetDevice_ptsz_v12080_params);
	SAME_FIELDS(struct ts_cuda_stream_get_device_params, cudaStreamGetDevice_ptsz_v12080_params,
		    stream, hStream, device, device);
	SAME_SIZE(struct ts_cuda_stream_get_device_params, cudaStreamGetDevice_v12080_params);
	SAME_FIELDS(struct ts_cuda_stream_get_device_params, cudaStreamGetDevice_v12080_params,
		    stream, hStream, device, device);
	SAME_SIZE(struct ts_cuda_stream_destroy_params, cudaStreamDestroy_v5050_params);
	SAME_FIELDS(struct ts_cuda_stream_destroy_params, cudaStreamDestroy_v5050_params, stream,
		    stream);
	SAME_SIZE(struct ts_cuda_stream_wait_event_params, cudaStreamWaitEvent_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_stream_wait_event_params, cudaStreamWaitEvent_ptsz_v7000_params,
		    stream, stream, event, event, flags, flags);
	SAME_SIZE(struct ts_cuda_stream_wait_event_params, cudaStreamWaitEvent_v3020_params);
	SAME_FIELDS(struct ts_cuda_stream_wait_event_params, cudaStreamWaitEvent_v3020_params,
		    stream, stream, event, event, flags, flags);
	SAME_SIZE(struct ts_cuda_stream_add_callback_params,
		  cudaStreamAddCallback_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_stream_add_callback_params,
		    cudaStreamAddCallback_ptsz_v7000_params, stream, stream, callback, callback,
		    user_data, userData, flags, flags);
	SAME_SIZE(struct ts_cuda_stream_add_callback_params, cudaStreamAddCallback_v5000_params);
	SAME_FIELDS(struct ts_cuda_stream_add_callback_params, cudaStreamAddCallback_v5000_params,
		    stream, stream, callback, callback, user_data, userData, flags, flags);
	SAME_SIZE(struct ts_cuda_stream_synchronize_params,
		  cudaStreamSynchronize_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_stream_synchronize_params,
		    cudaStreamSynchronize_ptsz_v7000_params, stream, stream);
	SAME_SIZE(struct ts_cuda_stream_synchronize_params, cudaStreamSynchronize_v3020_params);
	SAME_FIELDS(struct ts_cuda_stream_synchronize_params, cudaStreamSynchronize_v3020_params,
		    stream, stream);
	SAME_SIZE(struct ts_cuda_stream_query_params, cudaStreamQuery_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_stream_query_params, cudaStreamQuery_ptsz_v7000_params, stream,
		    stream);
	SAME_SIZE(struct ts_cuda_stream_query_params, cudaStreamQuery_v3020_params);
	SAME_FIELDS(struct ts_cuda_stream_query_params, cudaStreamQuery_v3020_params, stream,
		    stream);
	SAME_SIZE(struct ts_cuda_stream_attach_mem_async_params,
		  cudaStreamAttachMemAsync_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_stream_attach_mem_async_params,
		    cudaStreamAttachMemAsync_ptsz_v7000_params, stream, stream, dev_ptr, devPtr,
		    length, length, flags, flags);
	SAME_SIZE(struct ts_cuda_stream_attach_mem_async_params,
		  cudaStreamAttachMemAsync_v6000_params);
	SAME_FIELDS(struct ts_cuda_stream_attach_mem_async_params,
		    cudaStreamAttachMemAsync_v6000_params, stream, stream, dev_ptr, devPtr, length,
		    length, flags, flags);
	SAME_SIZE(struct ts_cuda_stream_begin_capture_params,
		  cudaStreamBeginCapture_ptsz_v10000_params);
	SAME_FIELDS(struct ts_cuda_stream_begin_capture_params,
		    cudaStreamBeginCapture_ptsz_v10000_params, stream, stream, mode, mode);
	SAME_SIZE(struct ts_cuda_stream_begin_capture_params, cudaStreamBeginCapture_v10000_params);
	SAME_FIELDS(struct ts_cuda_stream_begin_capture_params,
		    cudaStreamBeginCapture_v10000_params, stream, stream, mode, mode);
	SAME_SIZE(struct ts_cuda_thread_exchange_stream_capture_mode_params,
		  cudaThreadExchangeStreamCaptureMode_v10010_params);
	SAME_FIELDS(struct ts_cuda_thread_exchange_stream_capture_mode_params,
		    cudaThreadExchangeStreamCaptureMode_v10010_params, mode, mode);
	SAME_SIZE(struct ts_cuda_stream_end_capture_params,
		  cudaStreamEndCapture_ptsz_v10000_params);
	SAME_FIELDS(struct ts_cuda_stream_end_capture_params,
		    cudaStreamEndCapture_ptsz_v10000_params, stream, stream, graph, pGraph);
	SAME_SIZE(struct ts_cuda_stream_end_capture_params, cudaStreamEndCapture_v10000_params);
	SAME_FIELDS(struct ts_cuda_stream_end_capture_params, cudaStreamEndCapture_v10000_params,
		    stream, stream, graph, pGraph);
	SAME_SIZE(struct ts_cuda_stream_is_capturing_params,
		  cudaStreamIsCapturing_ptsz_v10000_params);
	SAME_FIELDS(struct ts_cuda_stream_is_capturing_params,
		    cudaStreamIsCapturing_ptsz_v10000_params, stream, stream, capture_status,
		    pCaptureStatus);
	SAME_SIZE(struct ts_cuda_stream_is_capturing_params, cudaStreamIsCapturing_v10000_params);
	SAME_FIELDS(struct ts_cuda_stream_is_capturing_params, cudaStreamIsCapturing_v10000_params,
		    stream, stream, capture_status, pCaptureStatus);
	SAME_SIZE(struct ts_cuda_stream_get_capture_info_params,
		  cudaStreamGetCaptureInfo_ptsz_v12030_params);
	SAME_FIELDS(struct ts_cuda_stream_get_capture_info_params,
		    cudaStreamGetCaptureInfo_ptsz_v12030_params, stream, stream, capture_status_out,
		    captureStatus_out, id_out, id_out, graph_out, graph_out, dependencies_out,
		    dependencies_out, edge_data_out, edgeData_out, num_dependencies_out,
		    numDependencies_out);
	SAME_SIZE(struct ts_cuda_stream_get_capture_info_params,
		  cudaStreamGetCaptureInfo_v12030_params);
	SAME_FIELDS(struct ts_cuda_stream_get_capture_info_params,
		    cudaStreamGetCaptureInfo_v12030_params, stream, stream, capture_status_out,
		    captureStatus_out, id_out, id_out, graph_out, graph_out, dependencies_out,
		    dependencies_out, edge_data_out, edgeData_out, num_dependencies_out,
		    numDependencies_out);
	SAME_SIZE(struct ts_cuda_event_create_params, cudaEventCreate_v3020_params);
	SAME_FIELDS(struct ts_cuda_event_create_params, cudaEventCreate_v3020_params, event, event);
	SAME_SIZE(struct ts_cuda_event_create_with_flags_params,
		  cudaEventCreateWithFlags_v3020_params);
	SAME_FIELDS(struct ts_cuda_event_create_with_flags_params,
		    cudaEventCreateWithFlags_v3020_params, event, event, flags, flags);
	SAME_SIZE(struct ts_cuda_event_record_params, cudaEventRecord_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_event_record_params, cudaEventRecord_ptsz_v7000_params, event,
		    event, stream, stream);
	SAME_SIZE(struct ts_cuda_event_record_params, cudaEventRecord_v3020_params);
	SAME_FIELDS(struct ts_cuda_event_record_params, cudaEventRecord_v3020_params, event, event,
		    stream, stream);
	SAME_SIZE(struct ts_cuda_event_record_with_flags_params,
		  cudaEventRecordWithFlags_ptsz_v11010_params);
	SAME_FIELDS(struct ts_cuda_event_record_with_flags_params,
		    cudaEventRecordWithFlags_ptsz_v11010_params, event, event, stream, stream,
		    flags, flags);
	SAME_SIZE(struct ts_cuda_event_record_with_flags_params,
		  cudaEventRecordWithFlags_v11010_params);
	SAME_FIELDS(struct ts_cuda_event_record_with_flags_params,
		    cudaEventRecordWithFlags_v11010_params, event, event, stream, stream, flags,
		    flags);
	SAME_SIZE(struct ts_cuda_event_query_params, cudaEventQuery_v3020_params);
	SAME_FIELDS(struct ts_cuda_event_query_params, cudaEventQuery_v3020_params, event, event);
	SAME_SIZE(struct ts_cuda_event_synchronize_params, cudaEventSynchronize_v3020_params);
	SAME_FIELDS(struct ts_cuda_event_synchronize_params, cudaEventSynchronize_v3020_params,
		    event, event);
	SAME_SIZE(struct ts_cuda_event_destroy_params, cudaEventDestroy_v3020_params);
	SAME_FIELDS(struct ts_cuda_event_destroy_params, cudaEventDestroy_v3020_params, event,
		    event);
	SAME_SIZE(struct ts_cuda_event_elapsed_time_params, cudaEventElapsedTime_v12080_params);
	SAME_FIELDS(struct ts_cuda_event_elapsed_time_params, cudaEventElapsedTime_v12080_params,
		    ms, ms, start, start, end, end);
	SAME_SIZE(struct ts_cuda_launch_kernel_params, cudaLaunchKernel_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_launch_kernel_params, cudaLaunchKernel_ptsz_v7000_params, func,
		    func, grid_dim, gridDim, block_dim, blockDim, args, args, shared_mem, sharedMem,
		    stream, stream);
	SAME_SIZE(struct ts_cuda_launch_kernel_params, cudaLaunchKernel_v7000_params);
	SAME_FIELDS(struct ts_cuda_launch_kernel_params, cudaLaunchKernel_v7000_params, func, func,
		    grid_dim, gridDim, block_dim, blockDim, args, args, shared_mem, sharedMem,
		    stream, stream);
	SAME_SIZE(struct ts_cuda_launch_kernel_ex_c_params, cudaLaunchKernelExC_ptsz_v11060_params);
	SAME_FIELDS(struct ts_cuda_launch_kernel_ex_c_params,
		    cudaLaunchKernelExC_ptsz_v11060_params, config, config, func, func, args, args);
	SAME_SIZE(struct ts_cuda_launch_kernel_ex_c_params, cudaLaunchKernelExC_v11060_params);
	SAME_FIELDS(struct ts_cuda_launch_kernel_ex_c_params, cudaLaunchKernelExC_v11060_params,
		    config, config, func, func, args, args);
	SAME_SIZE(struct ts_cuda_launch_cooperative_kernel_params,
		  cudaLaunchCooperativeKernel_ptsz_v9000_params);
	SAME_FIELDS(struct ts_cuda_launch_cooperative_kernel_params,
		    cudaLaunchCooperativeKernel_ptsz_v9000_params, func, func, grid_dim, gridDim,
		    block_dim, blockDim, args, args, shared_mem, sharedMem, stream, stream);
	SAME_SIZE(struct ts_cuda_launch_cooperative_kernel_params,
		  cudaLaunchCooperativeKernel_v9000_params);
	SAME_FIELDS(struct ts_cuda_launch_cooperative_kernel_params,
		    cudaLaunchCooperativeKernel_v9000_params, func, func, grid_dim, gridDim,
		    block_dim, blockDim, args, args, shared_mem, sharedMem, stream, stream);
	SAME_SIZE(struct ts_cuda_func_set_cache_config_params, cudaFuncSetCacheConfig_v3020_params);
	SAME_FIELDS(struct ts_cuda_func_set_cache_config_params,
		    cudaFuncSetCacheConfig_v3020_params, func, func, cache_config, cacheConfig);
	SAME_SIZE(struct ts_cuda_func_get_attributes_params, cudaFuncGetAttributes_v3020_params);
	SAME_FIELDS(struct ts_cuda_func_get_attributes_params, cudaFuncGetAttributes_v3020_params,
		    attr, attr, func, func);
	SAME_SIZE(struct ts_cuda_func_set_attribute_params, cudaFuncSetAttribute_v9000_params);
	SAME_FIELDS(struct ts_cuda_func_set_attribute_params, cudaFuncSetAttribute_v9000_params,
		    func, func, attr, attr, value, value);
	SAME_SIZE(struct ts_cuda_func_get_name_params, cudaFuncGetName_v12030_params);
	SAME_FIELDS(struct ts_cuda_func_get_name_params, cudaFuncGetName_v12030_params, name, name,
		    func, func);
	SAME_SIZE(struct ts_cuda_launch_host_func_params, cudaLaunchHostFunc_ptsz_v10000_params);
	SAME_FIELDS(struct ts_cuda_launch_host_func_params, cudaLaunchHostFunc_ptsz_v10000_params,
		    stream, stream, fn, fn, user_data, userData);
	SAME_SIZE(struct ts_cuda_launch_host_func_params, cudaLaunchHostFunc_v10000_params);
	SAME_FIELDS(struct ts_cuda_launch_host_func_params, cudaLaunchHostFunc_v10000_params,
		    stream, stream, fn, fn, user_data, userData);
	SAME_SIZE(struct ts_cuda_occupancy_max_active_blocks_per_multiprocessor_params,
		  cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050_params);
	SAME_FIELDS(struct ts_cuda_occupancy_max_active_blocks_per_multiprocessor_params,
		    cudaOccupancyMaxActiveBlocksPerMultiprocessor_v6050_params, num_blocks,
		    numBlocks, func, func, block_size, blockSize, dynamic_s_mem_size,
		    dynamicSMemSize);
	SAME_SIZE(struct ts_cuda_occupancy_available_dynamic_s_mem_per_block_params,
		  cudaOccupancyAvailableDynamicSMemPerBlock_v10200_params);
	SAME_FIELDS(struct ts_cuda_occupancy_available_dynamic_s_mem_per_block_params,
		    cudaOccupancyAvailableDynamicSMemPerBlock_v10200_params, dynamic_smem_size,
		    dynamicSmemSize, func, func, num_blocks, numBlocks, block_size, blockSize);
	SAME_SIZE(struct ts_cuda_occupancy_max_active_blocks_per_multiprocessor_with_flags_params,
		  cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000_params);
	SAME_FIELDS(struct ts_cuda_occupancy_max_active_blocks_per_multiprocessor_with_flags_params,
		    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags_v7000_params, num_blocks,
		    numBlocks, func, func, block_size, blockSize, dynamic_s_mem_size,
		    dynamicSMemSize, flags, flags);
	SAME_SIZE(struct ts_cuda_malloc_managed_params, cudaMallocManaged_v6000_params);
	SAME_FIELDS(struct ts_cuda_malloc_managed_params, cudaMallocManaged_v6000_params, dev_ptr,
		    devPtr, size, size, flags, flags);
	SAME_SIZE(struct ts_cuda_malloc_params, cudaMalloc_v3020_params);
	SAME_FIELDS(struct ts_cuda_malloc_params, cudaMalloc_v3020_params, dev_ptr, devPtr, size,
		    size);
	SAME_SIZE(struct ts_cuda_malloc_host_params, cudaMallocHost_v3020_params);
	SAME_FIELDS(struct ts_cuda_malloc_host_params, cudaMallocHost_v3020_params, ptr, ptr, size,
		    size);
	SAME_SIZE(struct ts_cuda_malloc_pitch_params, cudaMallocPitch_v3020_params);
	SAME_FIELDS(struct ts_cuda_malloc_pitch_params, cudaMallocPitch_v3020_params, dev_ptr,
		    devPtr, pitch, pitch, width, width, height, height);
	SAME_SIZE(struct ts_cuda_free_params, cudaFree_v3020_params);
	SAME_FIELDS(struct ts_cuda_free_params, cudaFree_v3020_params, dev_ptr, devPtr);
	SAME_SIZE(struct ts_cuda_free_host_params, cudaFreeHost_v3020_params);
	SAME_FIELDS(struct ts_cuda_free_host_params, cudaFreeHost_v3020_params, ptr, ptr);
	SAME_SIZE(struct ts_cuda_host_alloc_params, cudaHostAlloc_v3020_params);
	SAME_FIELDS(struct ts_cuda_host_alloc_params, cudaHostAlloc_v3020_params, host, pHost, size,
		    size, flags, flags);
	SAME_SIZE(struct ts_cuda_host_register_params, cudaHostRegister_v4000_params);
	SAME_FIELDS(struct ts_cuda_host_register_params, cudaHostRegister_v4000_params, ptr, ptr,
		    size, size, flags, flags);
	SAME_SIZE(struct ts_cuda_host_unregister_params, cudaHostUnregister_v4000_params);
	SAME_FIELDS(struct ts_cuda_host_unregister_params, cudaHostUnregister_v4000_params, ptr,
		    ptr);
	SAME_SIZE(struct ts_cuda_host_get_device_pointer_params,
		  cudaHostGetDevicePointer_v3020_params);
	SAME_FIELDS(struct ts_cuda_host_get_device_pointer_params,
		    cudaHostGetDevicePointer_v3020_params, device, pDevice, host, pHost, flags,
		    flags);
	SAME_SIZE(struct ts_cuda_host_get_flags_params, cudaHostGetFlags_v3020_params);
	SAME_FIELDS(struct ts_cuda_host_get_flags_params, cudaHostGetFlags_v3020_params, flags,
		    pFlags, host, pHost);
	SAME_SIZE(struct ts_cuda_malloc3d_params, cudaMalloc3D_v3020_params);
	SAME_FIELDS(struct ts_cuda_malloc3d_params, cudaMalloc3D_v3020_params, pitched_dev_ptr,
		    pitchedDevPtr, extent, extent);
	SAME_SIZE(struct ts_cuda_memcpy3d_params, cudaMemcpy3D_ptds_v7000_params);
	SAME_FIELDS(struct ts_cuda_memcpy3d_params, cudaMemcpy3D_ptds_v7000_params, p, p);
	SAME_SIZE(struct ts_cuda_memcpy3d_params, cudaMemcpy3D_v3020_params);
	SAME_FIELDS(struct ts_cuda_memcpy3d_params, cudaMemcpy3D_v3020_params, p, p);
	SAME_SIZE(struct ts_cuda_memcpy3d_peer_params, cudaMemcpy3DPeer_ptds_v7000_params);
	SAME_FIELDS(struct ts_cuda_memcpy3d_peer_params, cudaMemcpy3DPeer_ptds_v7000_params, p, p);
	SAME_SIZE(struct ts_cuda_memcpy3d_peer_params, cudaMemcpy3DPeer_v4000_params);
	SAME_FIELDS(struct ts_cuda_memcpy3d_peer_params, cudaMemcpy3DPeer_v4000_params, p, p);
	SAME_SIZE(struct ts_cuda_memcpy3d_async_params, cudaMemcpy3DAsync_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_memcpy3d_async_params, cudaMemcpy3DAsync_ptsz_v7000_params, p, p,
		    stream, stream);
	SAME_SIZE(struct ts_cuda_memcpy3d_async_params, cudaMemcpy3DAsync_v3020_params);
	SAME_FIELDS(struct ts_cuda_memcpy3d_async_params, cudaMemcpy3DAsync_v3020_params, p, p,
		    stream, stream);
	SAME_SIZE(struct ts_cuda_memcpy3d_peer_async_params,
		  cudaMemcpy3DPeerAsync_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_memcpy3d_peer_async_params,
		    cudaMemcpy3DPeerAsync_ptsz_v7000_params, p, p, stream, stream);
	SAME_SIZE(struct ts_cuda_memcpy3d_peer_async_params, cudaMemcpy3DPeerAsync_v4000_params);
	SAME_FIELDS(struct ts_cuda_memcpy3d_peer_async_params, cudaMemcpy3DPeerAsync_v4000_params,
		    p, p, stream, stream);
	SAME_SIZE(struct ts_cuda_mem_get_info_params, cudaMemGetInfo_v3020_params);
	SAME_FIELDS(struct ts_cuda_mem_get_info_params, cudaMemGetInfo_v3020_params, free, free,
		    total, total);
	SAME_SIZE(struct ts_cuda_memcpy_params, cudaMemcpy_ptds_v7000_params);
	SAME_FIELDS(struct ts_cuda_memcpy_params, cudaMemcpy_ptds_v7000_params, dst, dst, src, src,
		    count, count, kind, kind);
	SAME_SIZE(struct ts_cuda_memcpy_params, cudaMemcpy_v3020_params);
	SAME_FIELDS(struct ts_cuda_memcpy_params, cudaMemcpy_v3020_params, dst, dst, src, src,
		    count, count, kind, kind);
	SAME_SIZE(struct ts_cuda_memcpy_peer_params, cudaMemcpyPeer_v4000_params);
	SAME_FIELDS(struct ts_cuda_memcpy_peer_params, cudaMemcpyPeer_v4000_params, dst, dst,
		    dst_device, dstDevice, src, src, src_device, srcDevice, count, count);
	SAME_SIZE(struct ts_cuda_memcpy2d_params, cudaMemcpy2D_ptds_v7000_params);
	SAME_FIELDS(struct ts_cuda_memcpy2d_params, cudaMemcpy2D_ptds_v7000_params, dst, dst,
		    dpitch, dpitch, src, src, spitch, spitch, width, width, height, height, kind,
		    kind);
	SAME_SIZE(struct ts_cuda_memcpy2d_params, cudaMemcpy2D_v3020_params);
	SAME_FIELDS(struct ts_cuda_memcpy2d_params, cudaMemcpy2D_v3020_params, dst, dst, dpitch,
		    dpitch, src, src, spitch, spitch, width, width, height, height, kind, kind);
	SAME_SIZE(struct ts_cuda_memcpy_to_symbol_params, cudaMemcpyToSymbol_ptds_v7000_params);
	SAME_FIELDS(struct ts_cuda_memcpy_to_symbol_params, cudaMemcpyToSymbol_ptds_v7000_params,
		    symbol, symbol, src, src, count, count, offset, offset, kind, kind);
	SAME_SIZE(struct ts_cuda_memcpy_to_symbol_params, cudaMemcpyToSymbol_v3020_params);
	SAME_FIELDS(struct ts_cuda_memcpy_to_symbol_params, cudaMemcpyToSymbol_v3020_params, symbol,
		    symbol, src, src, count, count, offset, offset, kind, kind);
	SAME_SIZE(struct ts_cuda_memcpy_from_symbol_params, cudaMemcpyFromSymbol_ptds_v7000_params);
	SAME_FIELDS(struct ts_cuda_memcpy_from_symbol_params,
		    cudaMemcpyFromSymbol_ptds_v7000_params, dst, dst, symbol, symbol, count, count,
		    offset, offset, kind, kind);
	SAME_SIZE(struct ts_cuda_memcpy_from_symbol_params, cudaMemcpyFromSymbol_v3020_params);
	SAME_FIELDS(struct ts_cuda_memcpy_from_symbol_params, cudaMemcpyFromSymbol_v3020_params,
		    dst, dst, symbol, symbol, count, count, offset, offset, kind, kind);
	SAME_SIZE(struct ts_cuda_memcpy_async_params, cudaMemcpyAsync_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_memcpy_async_params, cudaMemcpyAsync_ptsz_v7000_params, dst, dst,
		    src, src, count, count, kind, kind, stream, stream);
	SAME_SIZE(struct ts_cuda_memcpy_async_params, cudaMemcpyAsync_v3020_params);
	SAME_FIELDS(struct ts_cuda_memcpy_async_params, cudaMemcpyAsync_v3020_params, dst, dst, src,
		    src, count, count, kind, kind, stream, stream);
	SAME_SIZE(struct ts_cuda_memcpy_peer_async_params, cudaMemcpyPeerAsync_v4000_params);
	SAME_FIELDS(struct ts_cuda_memcpy_peer_async_params, cudaMemcpyPeerAsync_v4000_params, dst,
		    dst, dst_device, dstDevice, src, src, src_device, srcDevice, count, count,
		    stream, stream);
	SAME_SIZE(struct ts_cuda_memcpy2d_async_params, cudaMemcpy2DAsync_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_memcpy2d_async_params, cudaMemcpy2DAsync_ptsz_v7000_params, dst,
		    dst, dpitch, dpitch, src, src, spitch, spitch, width, width, height, height,
		    kind, kind, stream, stream);
	SAME_SIZE(struct ts_cuda_memcpy2d_async_params, cudaMemcpy2DAsync_v3020_params);
	SAME_FIELDS(struct ts_cuda_memcpy2d_async_params, cudaMemcpy2DAsync_v3020_params, dst, dst,
		    dpitch, dpitch, src, src, spitch, spitch, width, width, height, height, kind,
		    kind, stream, stream);
	SAME_SIZE(struct ts_cuda_memcpy_to_symbol_async_params,
		  cudaMemcpyToSymbolAsync_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_memcpy_to_symbol_async_params,
		    cudaMemcpyToSymbolAsync_ptsz_v7000_params, symbol, symbol, src, src, count,
		    count, offset, offset, kind, kind, stream, stream);
	SAME_SIZE(struct ts_cuda_memcpy_to_symbol_async_params,
		  cudaMemcpyToSymbolAsync_v3020_params);
	SAME_FIELDS(struct ts_cuda_memcpy_to_symbol_async_params,
		    cudaMemcpyToSymbolAsync_v3020_params, symbol, symbol, src, src, count, count,
		    offset, offset, kind, kind, stream, stream);
	SAME_SIZE(struct ts_cuda_memcpy_from_symbol_async_params,
		  cudaMemcpyFromSymbolAsync_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_memcpy_from_symbol_async_params,
		    cudaMemcpyFromSymbolAsync_ptsz_v7000_params, dst, dst, symbol, symbol, count,
		    count, offset, offset, kind, kind, stream, stream);
	SAME_SIZE(struct ts_cuda_memcpy_from_symbol_async_params,
		  cudaMemcpyFromSymbolAsync_v3020_params);
	SAME_FIELDS(struct ts_cuda_memcpy_from_symbol_async_params,
		    cudaMemcpyFromSymbolAsync_v3020_params, dst, dst, symbol, symbol, count, count,
		    offset, offset, kind, kind, stream, stream);
	SAME_SIZE(struct ts_cuda_memset_params, cudaMemset_ptds_v7000_params);
	SAME_FIELDS(struct ts_cuda_memset_params, cudaMemset_ptds_v7000_params, dev_ptr, devPtr,
		    value, value, count, count);
	SAME_SIZE(struct ts_cuda_memset_params, cudaMemset_v3020_params);
	SAME_FIELDS(struct ts_cuda_memset_params, cudaMemset_v3020_params, dev_ptr, devPtr, value,
		    value, count, count);
	SAME_SIZE(struct ts_cuda_memset2d_params, cudaMemset2D_ptds_v7000_params);
	SAME_FIELDS(struct ts_cuda_memset2d_params, cudaMemset2D_ptds_v7000_params, dev_ptr, devPtr,
		    pitch, pitch, value, value, width, width, height, height);
	SAME_SIZE(struct ts_cuda_memset2d_params, cudaMemset2D_v3020_params);
	SAME_FIELDS(struct ts_cuda_memset2d_params, cudaMemset2D_v3020_params, dev_ptr, devPtr,
		    pitch, pitch, value, value, width, width, height, height);
	SAME_SIZE(struct ts_cuda_memset3d_params, cudaMemset3D_ptds_v7000_params);
	SAME_FIELDS(struct ts_cuda_memset3d_params, cudaMemset3D_ptds_v7000_params, pitched_dev_ptr,
		    pitchedDevPtr, value, value, extent, extent);
	SAME_SIZE(struct ts_cuda_memset3d_params, cudaMemset3D_v3020_params);
	SAME_FIELDS(struct ts_cuda_memset3d_params, cudaMemset3D_v3020_params, pitched_dev_ptr,
		    pitchedDevPtr, value, value, extent, extent);
	SAME_SIZE(struct ts_cuda_memset_async_params, cudaMemsetAsync_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_memset_async_params, cudaMemsetAsync_ptsz_v7000_params, dev_ptr,
		    devPtr, value, value, count, count, stream, stream);
	SAME_SIZE(struct ts_cuda_memset_async_params, cudaMemsetAsync_v3020_params);
	SAME_FIELDS(struct ts_cuda_memset_async_params, cudaMemsetAsync_v3020_params, dev_ptr,
		    devPtr, value, value, count, count, stream, stream);
	SAME_SIZE(struct ts_cuda_memset2d_async_params, cudaMemset2DAsync_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_memset2d_async_params, cudaMemset2DAsync_ptsz_v7000_params,
		    dev_ptr, devPtr, pitch, pitch, value, value, width, width, height, height,
		    stream, stream);
	SAME_SIZE(struct ts_cuda_memset2d_async_params, cudaMemset2DAsync_v3020_params);
	SAME_FIELDS(struct ts_cuda_memset2d_async_params, cudaMemset2DAsync_v3020_params, dev_ptr,
		    devPtr, pitch, pitch, value, value, width, width, height, height, stream,
		    stream);
	SAME_SIZE(struct ts_cuda_memset3d_async_params, cudaMemset3DAsync_ptsz_v7000_params);
	SAME_FIELDS(struct ts_cuda_memset3d_async_params, cudaMemset3DAsync_ptsz_v7000_params,
		    pitched_dev_ptr, pitchedDevPtr, value, value, extent, extent, stream, stream);
	SAME_SIZE(struct ts_cuda_memset3d_async_params, cudaMemset3DAsync_v3020_params);
	SAME_FIELDS(struct ts_cuda_memset3d_async_params, cudaMemset3DAsync_v3020_params,
		    pitched_dev_ptr, pitchedDevPtr, value, value, extent, extent, stream, stream);
	SAME_SIZE(struct ts_cuda_get_symbol_address_params, cudaGetSymbolAddress_v3020_params);
	SAME_FIELDS(struct ts_cuda_get_symbol_address_params, cudaGetSymbolAddress_v3020_params,
		    dev_ptr, devPtr, symbol, symbol);
	SAME_SIZE(struct ts_cuda_get_symbol_size_params, cudaGetSymbolSize_v3020_params);
	SAME_FIELDS(struct ts_cuda_get_symbol_size_params, cudaGetSymbolSize_v3020_params, size,
		    size, symbol, symbol);
	SAME_SIZE(struct ts_cuda_mem_prefetch_async_params,
		  cudaMemPrefetchAsync_ptsz_v12020_params);
	SAME_FIELDS(struct ts_cuda_mem_prefetch_async_params,
		    cudaMemPrefetchAsync_ptsz_v12020_params, dev_ptr, devPtr, count, count,
		    location, location, flags, flags, stream, stream);
	SAME_SIZE(struct ts_cuda_mem_prefetch_async_params, cudaMemPrefetchAsync_v12020_params);
	SAME_FIELDS(struct ts_cuda_mem_prefetch_async_params, cudaMemPrefetchAsync_v12020_params,
		    dev_ptr, devPtr, count, count, location, location, flags, flags, stream,
		    stream);
	SAME_SIZE(struct ts_cuda_mem_advise_params, cudaMemAdvise_v12020_params);
	SAME_FIELDS(struct ts_cuda_mem_advise_params, cudaMemAdvise_v12020_params, dev_ptr, devPtr,
		    count, count, advice, advice, location, location);
	SAME_SIZE(struct ts_cuda_malloc_async_params, cudaMallocAsync_ptsz_v11020_params);
	SAME_FIELDS(struct ts_cuda_malloc_async_params, cudaMallocAsync_ptsz_v11020_params, dev_ptr,
		    devPtr, size, size, stream, hStream);
	SAME_SIZE(struct ts_cuda_malloc_async_params, cudaMallocAsync_v11020_params);
	SAME_FIELDS(struct ts_cuda_malloc_async_params, cudaMallocAsync_v11020_params, dev_ptr,
		    devPtr, size, size, stream, hStream);
	SAME_SIZE(struct ts_cuda_free_async_params, cudaFreeAsync_ptsz_v11020_params);
	SAME_FIELDS(struct ts_cuda_free_async_params, cudaFreeAsync_ptsz_v11020_params, dev_ptr,
		    devPtr, stream, hStream);
	SAME_SIZE(struct ts_cuda_free_async_params, cudaFreeAsync_v11020_params);
	SAME_FIELDS(struct ts_cuda_free_async_params, cudaFreeAsync_v11020_params, dev_ptr, devPtr,
		    stream, hStream);
	SAME_SIZE(struct ts_cuda_mem_pool_trim_to_params, cudaMemPoolTrimTo_v11020_params);
	SAME_FIELDS(struct ts_cuda_mem_pool_trim_to_params, cudaMemPoolTrimTo_v11020_params,
		    mem_pool, memPool, min_bytes_to_keep, minBytesToKeep);
	SAME_SIZE(struct ts_cuda_mem_pool_set_attribute_params,
		  cudaMemPoolSetAttribute_v11020_params);
	SAME_FIELDS(struct ts_cuda_mem_pool_set_attribute_params,
		    cudaMemPoolSetAttribute_v11020_params, mem_pool, memPool, attr, attr, value,
		    value);
	SAME_SIZE(struct ts_cuda_mem_pool_set_access_params, cudaMemPoolSetAccess_v11020_params);
	SAME_FIELDS(struct ts_cuda_mem_pool_set_access_params, cudaMemPoolSetAccess_v11020_params,
		    mem_pool, memPool, desc_list, descList, count, count);
	SAME_SIZE(struct ts_cuda_mem_pool_create_params, cudaMemPoolCreate_v11020_params);
	SAME_FIELDS(struct ts_cuda_mem_pool_create_params, cudaMemPoolCreate_v11020_params,
		    mem_pool, memPool, pool_props, poolProps);
	SAME_SIZE(struct ts_cuda_mem_pool_destroy_params, cudaMemPoolDestroy_v11020_params);
	SAME_FIELDS(struct ts_cuda_mem_pool_destroy_params, cudaMemPoolDestroy_v11020_params,
		    mem_pool, memPool);
	SAME_SIZE(struct ts_cuda_malloc_from_pool_async_params,
		  cudaMallocFromPoolAsync_ptsz_v11020_params);
	SAME_FIELDS(struct ts_cuda_malloc_from_pool_async_params,
		    cudaMallocFromPoolAsync_ptsz_v11020_params, ptr, ptr, size, size, mem_pool,
		    memPool, stream, stream);
	SAME_SIZE(struct ts_cuda_malloc_from_pool_async_params,
		  cudaMallocFromPoolAsync_v11020_params);
	SAME_FIELDS(struct ts_cuda_malloc_from_pool_async_params,
		    cudaMallocFromPoolAsync_v11020_params, ptr, ptr, size, size, mem_pool, memPool,
		    stream, stream);
	SAME_SIZE(struct ts_cuda_pointer_get_attributes_params,
		  cudaPointerGetAttributes_v4000_params);
	SAME_FIELDS(struct ts_cuda_pointer_get_attributes_params,
		    cudaPointerGetAttributes_v4000_params, attributes, attributes, ptr, ptr);
	SAME_SIZE(struct ts_cuda_device_can_access_peer_params,
		  cudaDeviceCanAccessPeer_v4000_params);
	SAME_FIELDS(struct ts_cuda_device_can_access_peer_params,
		    cudaDeviceCanAccessPeer_v4000_params, can_access_peer, canAccessPeer, device,
		    device, peer_device, peerDevice);
	SAME_SIZE(struct ts_cuda_device_enable_peer_access_params,
		  cudaDeviceEnablePeerAccess_v4000_params);
	SAME_FIELDS(struct ts_cuda_device_enable_peer_access_params,
		    cudaDeviceEnablePeerAccess_v4000_params, peer_device, peerDevice, flags, flags);
	SAME_SIZE(struct ts_cuda_device_disable_peer_access_params,
		  cudaDeviceDisablePeerAccess_v4000_params);
	SAME_FIELDS(struct ts_cuda_device_disable_peer_access_params,
		    cudaDeviceDisablePeerAccess_v4000_params, peer_device, peerDevice);
	SAME_SIZE(struct ts_cuda_driver_get_version_params, cudaDriverGetVersion_v3020_params);
	SAME_FIELDS(struct ts_cuda_driver_get_version_params, cudaDriverGetVersion_v3020_params,
		    driver_version, driverVersion);
	SAME_SIZE(struct ts_cuda_runtime_get_version_params, cudaRuntimeGetVersion_v3020_params);
	SAME_FIELDS(struct ts_cuda_runtime_get_version_params, cudaRuntimeGetVersion_v3020_params,
		    runtime_version, runtimeVersion);
	SAME_SIZE(struct ts_cuda_graph_create_params, cudaGraphCreate_v10000_params);
	SAME_FIELDS(struct ts_cuda_graph_create_params, cudaGraphCreate_v10000_params, graph,
		    pGraph, flags, flags);
	SAME_SIZE(struct ts_cuda_graph_add_kernel_node_params,
		  cudaGraphAddKernelNode_v10000_params);
	SAME_FIELDS(struct ts_cuda_graph_add_kernel_node_params,
		    cudaGraphAddKernelNode_v10000_params, graph_node, pGraphNode, graph, graph,
		    dependencies, pDependencies, num_dependencies, numDependencies, node_params,
		    pNodeParams);
	SAME_SIZE(struct ts_cuda_graph_add_memcpy_node_params,
		  cudaGraphAddMemcpyNode_v10000_params);
	SAME_FIELDS(struct ts_cuda_graph_add_memcpy_node_params,
		    cudaGraphAddMemcpyNode_v10000_params, graph_node, pGraphNode, graph, graph,
		    dependencies, pDependencies, num_dependencies, numDependencies, copy_params,
		    pCopyParams);
	SAME_SIZE(struct ts_cuda_graph_add_memset_node_params,
		  cudaGraphAddMemsetNode_v10000_params);
	SAME_FIELDS(struct ts_cuda_graph_add_memset_node_params,
		    cudaGraphAddMemsetNode_v10000_params, graph_node, pGraphNode, graph, graph,
		    dependencies, pDependencies, num_dependencies, numDependencies, memset_params,
		    pMemsetParams);
	SAME_SIZE(struct ts_cuda_graph_add_host_node_params, cudaGraphAddHostNode_v10000_params);
	SAME_FIELDS(struct ts_cuda_graph_add_host_node_params, cudaGraphAddHostNode_v10000_params,
		    graph_node, pGraphNode, graph, graph, dependencies, pDependencies,
		    num_dependencies, numDependencies, node_params, pNodeParams);
	SAME_SIZE(struct ts_cuda_graph_add_empty_node_params, cudaGraphAddEmptyNode_v10000_params);
	SAME_FIELDS(struct ts_cuda_graph_add_empty_node_params, cudaGraphAddEmptyNode_v10000_params,
		    graph_node, pGraphNode, graph, graph, dependencies, pDependencies,
		    num_dependencies, numDependencies);
	SAME_SIZE(struct ts_cuda_graph_clone_params, cudaGraphClone_v10000_params);
	SAME_FIELDS(struct ts_cuda_graph_clone_params, cudaGraphClone_v10000_params, graph_clone,
		    pGraphClone, original_graph, originalGraph);
	SAME_SIZE(struct ts_cuda_graph_add_dependencies_params,
		  cudaGraphAddDependencies_v12030_params);
	SAME_FIELDS(struct ts_cuda_graph_add_dependencies_params,
		    cudaGraphAddDependencies_v12030_params, graph, graph, from, from, to, to,
		    edge_data, edgeData, num_dependencies, numDependencies);
	SAME_SIZE(struct ts_cuda_graph_instantiate_params, cudaGraphInstantiate_v12000_params);
	SAME_FIELDS(struct ts_cuda_graph_instantiate_params, cudaGraphInstantiate_v12000_params,
		    graph_exec, pGraphExec, graph, graph, flags, flags);
	SAME_SIZE(struct ts_cuda_graph_instantiate_with_flags_params,
		  cudaGraphInstantiateWithFlags_v11040_params);
	SAME_FIELDS(struct ts_cuda_graph_instantiate_with_flags_params,
		    cudaGraphInstantiateWithFlags_v11040_params, graph_exec, pGraphExec, graph,
		    graph, flags, flags);
	SAME_SIZE(struct ts_cuda_graph_instantiate_with_params_params,
		  cudaGraphInstantiateWithParams_ptsz_v12000_params);
	SAME_FIELDS(struct ts_cuda_graph_instantiate_with_params_params,
		    cudaGraphInstantiateWithParams_ptsz_v12000_params, graph_exec, pGraphExec,
		    graph, graph, instantiate_params, instantiateParams);
	SAME_SIZE(struct ts_cuda_graph_instantiate_with_params_params,
		  cudaGraphInstantiateWithParams_v12000_params);
	SAME_FIELDS(struct ts_cuda_graph_instantiate_with_params_params,
		    cudaGraphInstantiateWithParams_v12000_params, graph_exec, pGraphExec, graph,
		    graph, instantiate_params, instantiateParams);
	SAME_SIZE(struct ts_cuda_graph_exec_update_params, cudaGraphExecUpdate_v10020_params);
	SAME_FIELDS(struct ts_cuda_graph_exec_update_params, cudaGraphExecUpdate_v10020_params,
		    graph_exec, hGraphExec, graph, hGraph, result_info, resultInfo);
	SAME_SIZE(struct ts_cuda_graph_upload_params, cudaGraphUpload_ptsz_v10000_params);
	SAME_FIELDS(struct ts_cuda_graph_upload_params, cudaGraphUpload_ptsz_v10000_params,
		    graph_exec, graphExec, stream, stream);
	SAME_SIZE(struct ts_cuda_graph_upload_params, cudaGraphUpload_v10000_params);
	SAME_FIELDS(struct ts_cuda_graph_upload_params, cudaGraphUpload_v10000_params, graph_exec,
		    graphExec, stream, stream);
	SAME_SIZE(struct ts_cuda_graph_launch_params, cudaGraphLaunch_ptsz_v10000_params);
	SAME_FIELDS(struct ts_cuda_graph_launch_params, cudaGraphLaunch_ptsz_v10000_params,
		    graph_exec, graphExec, stream, stream);
	SAME_SIZE(struct ts_cuda_graph_launch_params, cudaGraphLaunch_v10000_params);
	SAME_FIELDS(struct ts_cuda_graph_launch_params, cudaGraphLaunch_v10000_params, graph_exec,
		    graphExec, stream, stream);
	SAME_SIZE(struct ts_cuda_graph_exec_destroy_params, cudaGraphExecDestroy_v10000_params);
	SAME_FIELDS(struct ts_cuda_graph_exec_destroy_params, cudaGraphExecDestroy_v10000_params,
		    graph_exec, graphExec);
	SAME_SIZE(struct ts_cuda_graph_destroy_params, cudaGraphDestroy_v10000_params);
	SAME_FIELDS(struct ts_cuda_graph_destroy_params, cudaGraphDestroy_v10000_params, graph,
		    graph);
	SAME_SIZE(struct ts_cuda_get_driver_entry_point_params,
		  cudaGetDriverEntryPoint_ptsz_v11030_params);
	SAME_FIELDS(struct ts_cuda_get_driver_entry_point_params,
		    cudaGetDriverEntryPoint_ptsz_v11030_params, symbol, symbol, func_ptr, funcPtr,
		    flags, flags, driver_status, driverStatus);
	SAME_SIZE(struct ts_cuda_get_driver_entry_point_params,
		  cudaGetDriverEntryPoint_v11030_params);
	SAME_FIELDS(struct ts_cuda_get_driver_entry_point_params,
		    cudaGetDriverEntryPoint_v11030_params, symbol, symbol, func_ptr, funcPtr, flags,
		    flags, driver_status, driverStatus);
	SAME_SIZE(struct ts_cuda_get_driver_entry_point_by_version_params,
		  cudaGetDriverEntryPointByVersion_ptsz_v12050_params);
	SAME_FIELDS(struct ts_cuda_get_driver_entry_point_by_version_params,
		    cudaGetDriverEntryPointByVersion_ptsz_v12050_params, symbol, symbol, func_ptr,
		    funcPtr, cuda_version, cudaVersion, flags, flags, driver_status, driverStatus);
	SAME_SIZE(struct ts_cuda_get_driver_entry_point_by_version_params,
		  cudaGetDriverEntryPointByVersion_v12050_params);
	SAME_FIELDS(struct ts_cuda_get_driver_entry_point_by_version_params,
		    cudaGetDriverEntryPointByVersion_v12050_params, symbol, symbol, func_ptr,
		    funcPtr, cuda_version, cudaVersion, flags, flags, driver_status, driverStatus);
	SAME_SIZE(struct ts_cuda_library_load_data_params, cudaLibraryLoadData_v12060_params);
	SAME_FIELDS(struct ts_cuda_library_load_data_params, cudaLibraryLoadData_v12060_params,
		    library, library, code, code, jit_options, jitOptions, jit_options_values,
		    jitOptionsValues, num_jit_options, numJitOptions, library_options,
		    libraryOptions, library_option_values, libraryOptionValues, num_library_options,
		    numLibraryOptions);
	SAME_SIZE(struct ts_cuda_library_load_from_file_params,
		  cudaLibraryLoadFromFile_v12060_params);
	SAME_FIELDS(struct ts_cuda_library_load_from_file_params,
		    cudaLibraryLoadFromFile_v12060_params, library, library, file_name, fileName,
		    jit_options, jitOptions, jit_options_values, jitOptionsValues, num_jit_options,
		    numJitOptions, library_options, libraryOptions, library_option_values,
		    libraryOptionValues, num_library_options, numLibraryOptions);
	SAME_SIZE(struct ts_cuda_library_unload_params, cudaLibraryUnload_v12060_params);
	SAME_FIELDS(struct ts_cuda_library_unload_params, cudaLibraryUnload_v12060_params, library,
		    library);
	SAME_SIZE(struct ts_cuda_library_get_kernel_params, cudaLibraryGetKernel_v12060_params);
	SAME_FIELDS(struct ts_cuda_library_get_kernel_params, cudaLibraryGetKernel_v12060_params,
		    kernel, pKernel, library, library, name, name);
	SAME_SIZE(struct ts_cuda_library_get_global_params, cudaLibraryGetGlobal_v12060_params);
	SAME_FIELDS(struct ts_cuda_library_get_global_params, cudaLibraryGetGlobal_v12060_params,
		    dev_ptr, dptr, bytes, bytes, library, library, name, name);
	SAME_SIZE(struct ts_cuda_library_get_managed_params, cudaLibraryGetManaged_v12060_params);
	SAME_FIELDS(struct ts_cuda_library_get_managed_params, cudaLibraryGetManaged_v12060_params,
		    dev_ptr, dptr, bytes, bytes, library, library, name, name);
	SAME_SIZE(struct ts_cuda_library_get_kernel_count_params,
		  cudaLibraryGetKernelCount_v12060_params);
	SAME_FIELDS(struct ts_cuda_library_get_kernel_count_params,
		    cudaLibraryGetKernelCount_v12060_params, count, count, lib, lib);
	SAME_SIZE(struct ts_cuda_library_enumerate_kernels_params,
		  cudaLibraryEnumerateKernels_v12060_params);
	SAME_FIELDS(struct ts_cuda_library_enumerate_kernels_params,
		    cudaLibraryEnumerateKernels_v12060_params, kernels, kernels, num_kernels,
		    numKernels, lib, lib);
	SAME_SIZE(struct ts_cuda_kernel_set_attribute_for_device_params,
		  cudaKernelSetAttributeForDevice_v12060_params);
	SAME_FIELDS(struct ts_cuda_kernel_set_attribute_for_device_params,
		    cudaKernelSetAttributeForDevice_v12060_params, kernel, kernel, attr, attr,
		    value, value, device, device);
	SAME_SIZE(struct ts_cuda_get_func_by_symbol_params, cudaGetFuncBySymbol_v11000_params);
	SAME_FIELDS(struct ts_cuda_get_func_by_symbol_params, cudaGetFuncBySymbol_v11000_params,
		    function_ptr, functionPtr, symbol_ptr, symbolPtr);
	SAME_SIZE(struct ts_cuda_get_kernel_params, cudaGetKernel_v12000_params);
	SAME_FIELDS(struct ts_cuda_get_kernel_params, cudaGetKernel_v12000_params, kernel_ptr,
		    kernelPtr, entry_func_addr, entryFuncAddr);
}
