// SPDX-License-Identifier: Apache-2.0
/*
 * Our declarations of activity records, compared with NVIDIA's header. The newest layouts must
 * match, and the older ones must agree with their beginnings. Each line names one of our
 * declarations and the vendor's; check-coverage.py fails if one of ours has no line.
 */
#include <cupti.h>

#include "proto/abi/vendor/cupti_activity.h"
#include "test/unit/harness.h"
#include "test/unit/vendor/same.h"

TS_TEST(values)
{
	SAME_AS(CUPTI_ACTIVITY_KIND_INVALID);
	SAME_AS(CUPTI_ACTIVITY_KIND_MEMCPY);
	SAME_AS(CUPTI_ACTIVITY_KIND_MEMSET);
	SAME_AS(CUPTI_ACTIVITY_KIND_KERNEL);
	SAME_AS(CUPTI_ACTIVITY_KIND_DRIVER);
	SAME_AS(CUPTI_ACTIVITY_KIND_RUNTIME);
	SAME_AS(CUPTI_ACTIVITY_KIND_EVENT);
	SAME_AS(CUPTI_ACTIVITY_KIND_METRIC);
	SAME_AS(CUPTI_ACTIVITY_KIND_DEVICE);
	SAME_AS(CUPTI_ACTIVITY_KIND_CONTEXT);
	SAME_AS(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	SAME_AS(CUPTI_ACTIVITY_KIND_NAME);
	SAME_AS(CUPTI_ACTIVITY_KIND_MARKER);
	SAME_AS(CUPTI_ACTIVITY_KIND_MARKER_DATA);
	SAME_AS(CUPTI_ACTIVITY_KIND_SOURCE_LOCATOR);
	SAME_AS(CUPTI_ACTIVITY_KIND_GLOBAL_ACCESS);
	SAME_AS(CUPTI_ACTIVITY_KIND_BRANCH);
	SAME_AS(CUPTI_ACTIVITY_KIND_OVERHEAD);
	SAME_AS(CUPTI_ACTIVITY_KIND_CDP_KERNEL);
	SAME_AS(CUPTI_ACTIVITY_KIND_PREEMPTION);
	SAME_AS(CUPTI_ACTIVITY_KIND_ENVIRONMENT);
	SAME_AS(CUPTI_ACTIVITY_KIND_EVENT_INSTANCE);
	SAME_AS(CUPTI_ACTIVITY_KIND_MEMCPY2);
	SAME_AS(CUPTI_ACTIVITY_KIND_METRIC_INSTANCE);
	SAME_AS(CUPTI_ACTIVITY_KIND_INSTRUCTION_EXECUTION);
	SAME_AS(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
	SAME_AS(CUPTI_ACTIVITY_KIND_FUNCTION);
	SAME_AS(CUPTI_ACTIVITY_KIND_MODULE);
	SAME_AS(CUPTI_ACTIVITY_KIND_DEVICE_ATTRIBUTE);
	SAME_AS(CUPTI_ACTIVITY_KIND_SHARED_ACCESS);
	SAME_AS(CUPTI_ACTIVITY_KIND_PC_SAMPLING);
	SAME_AS(CUPTI_ACTIVITY_KIND_PC_SAMPLING_RECORD_INFO);
	SAME_AS(CUPTI_ACTIVITY_KIND_INSTRUCTION_CORRELATION);
	SAME_AS(CUPTI_ACTIVITY_KIND_OPENACC_DATA);
	SAME_AS(CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH);
	SAME_AS(CUPTI_ACTIVITY_KIND_OPENACC_OTHER);
	SAME_AS(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
	SAME_AS(CUPTI_ACTIVITY_KIND_STREAM);
	SAME_AS(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	SAME_AS(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
	SAME_AS(CUPTI_ACTIVITY_KIND_NVLINK);
	SAME_AS(CUPTI_ACTIVITY_KIND_INSTANTANEOUS_EVENT);
	SAME_AS(CUPTI_ACTIVITY_KIND_INSTANTANEOUS_EVENT_INSTANCE);
	SAME_AS(CUPTI_ACTIVITY_KIND_INSTANTANEOUS_METRIC);
	SAME_AS(CUPTI_ACTIVITY_KIND_INSTANTANEOUS_METRIC_INSTANCE);
	SAME_AS(CUPTI_ACTIVITY_KIND_MEMORY);
	SAME_AS(CUPTI_ACTIVITY_KIND_PCIE);
	SAME_AS(CUPTI_ACTIVITY_KIND_OPENMP);
	SAME_AS(CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API);
	SAME_AS(CUPTI_ACTIVITY_KIND_MEMORY2);
	SAME_AS(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
	SAME_AS(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	SAME_AS(CUPTI_ACTIVITY_KIND_JIT);
	SAME_AS(CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE);
	SAME_AS(CUPTI_ACTIVITY_KIND_MEM_DECOMPRESS);
	SAME_AS(CUPTI_ACTIVITY_KIND_CONFIDENTIAL_COMPUTE_ROTATION);
	SAME_AS(CUPTI_ACTIVITY_OBJECT_UNKNOWN);
	SAME_AS(CUPTI_ACTIVITY_OBJECT_PROCESS);
	SAME_AS(CUPTI_ACTIVITY_OBJECT_THREAD);
	SAME_AS(CUPTI_ACTIVITY_OBJECT_DEVICE);
	SAME_AS(CUPTI_ACTIVITY_OBJECT_CONTEXT);
	SAME_AS(CUPTI_ACTIVITY_OBJECT_STREAM);
	SAME_AS(CUPTI_ACTIVITY_OVERHEAD_UNKNOWN);
	SAME_AS(CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER);
	SAME_AS(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH);
	SAME_AS(CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION);
	SAME_AS(CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE);
	SAME_AS(CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING);
	SAME_AS(CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING);
	SAME_AS(CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL);
	SAME_AS(CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST);
	SAME_AS(CUPTI_ACTIVITY_OVERHEAD_UVM_ACTIVITY_INIT);
	SAME_AS(CUPTI_ACTIVITY_COMPUTE_API_UNKNOWN);
	SAME_AS(CUPTI_ACTIVITY_COMPUTE_API_CUDA);
	SAME_AS(CUPTI_ACTIVITY_COMPUTE_API_CUDA_MPS);
	SAME_AS(CUPTI_ACTIVITY_FLAG_NONE);
	SAME_AS(CUPTI_ACTIVITY_FLAG_DEVICE_CONCURRENT_KERNELS);
	SAME_AS(CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
	SAME_AS(CUPTI_ACTIVITY_FLAG_MARKER_COLOR_NONE);
	SAME_AS(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	SAME_AS(CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC);
	SAME_AS(CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN);
	SAME_AS(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
	SAME_AS(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
	SAME_AS(CUPTI_ACTIVITY_MEMCPY_KIND_HTOA);
	SAME_AS(CUPTI_ACTIVITY_MEMCPY_KIND_ATOH);
	SAME_AS(CUPTI_ACTIVITY_MEMCPY_KIND_ATOA);
	SAME_AS(CUPTI_ACTIVITY_MEMCPY_KIND_ATOD);
	SAME_AS(CUPTI_ACTIVITY_MEMCPY_KIND_DTOA);
	SAME_AS(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD);
	SAME_AS(CUPTI_ACTIVITY_MEMCPY_KIND_HTOH);
	SAME_AS(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
	SAME_AS(CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN);
	SAME_AS(CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
	SAME_AS(CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
	SAME_AS(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
	SAME_AS(CUPTI_ACTIVITY_MEMORY_KIND_ARRAY);
	SAME_AS(CUPTI_ACTIVITY_MEMORY_KIND_MANAGED);
	SAME_AS(CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC);
	SAME_AS(CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC);
	SAME_AS(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN);
	SAME_AS(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE);
	SAME_AS(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT);
	SAME_AS(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
	SAME_AS(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE);
	SAME_AS(CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN);
	SAME_AS(CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT);
	SAME_AS(CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING);
	SAME_AS(CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL);
	SAME_AS(CUPTI_ACTIVITY_STREAM_CREATE_MASK);
	SAME_AS(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_INVALID);
	SAME_AS(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
	SAME_AS(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
	SAME_AS(CUPTI_ACTIVITY_MEMORY_POOL_TYPE_INVALID);
	SAME_AS(CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL);
	SAME_AS(CUPTI_ACTIVITY_MEMORY_POOL_TYPE_IMPORTED);
	SAME_AS(CUPTI_CHANNEL_TYPE_INVALID);
	SAME_AS(CUPTI_CHANNEL_TYPE_COMPUTE);
	SAME_AS(CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY);
	SAME_AS(CUPTI_CHANNEL_TYPE_DECOMP);
	SAME_AS(CUPTI_ACTIVITY_LAUNCH_TYPE_REGULAR);
	SAME_AS(CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE);
	SAME_AS(CUPTI_ACTIVITY_LAUNCH_TYPE_COOPERATIVE_MULTI_DEVICE);
	SAME_AS(CUPTI_ACTIVITY_LAUNCH_TYPE_CBL_COMMANDLIST);
	SAME_AS(CUPTI_FUNC_SHMEM_LIMIT_DEFAULT);
	SAME_AS(CUPTI_FUNC_SHMEM_LIMIT_OPTIN);
	SAME_AS(CUPTI_ACTIVITY_PARTITIONED_GLOBAL_CACHE_CONFIG_UNKNOWN);
	SAME_AS(CUPTI_ACTIVITY_PARTITIONED_GLOBAL_CACHE_CONFIG_NOT_SUPPORTED);
	SAME_AS(CUPTI_ACTIVITY_PARTITIONED_GLOBAL_CACHE_CONFIG_OFF);
	SAME_AS(CUPTI_ACTIVITY_PARTITIONED_GLOBAL_CACHE_CONFIG_ON);
	SAME_AS(CUPTI_CONTEXT_CIG_MODE_NONE);
	SAME_AS(CUPTI_CONTEXT_CIG_MODE_CIG);
	SAME_AS(CUPTI_CONTEXT_CIG_MODE_CIG_FALLBACK);
	SAME_AS(CUPTI_EXTERNAL_CORRELATION_KIND_INVALID);
	SAME_AS(CUPTI_EXTERNAL_CORRELATION_KIND_UNKNOWN);
	SAME_AS(CUPTI_EXTERNAL_CORRELATION_KIND_OPENACC);
	SAME_AS(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0);
	SAME_AS(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1);
	SAME_AS(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2);
	SAME_AS(CUPTI_TIMESTAMP_UNKNOWN);
	SAME_AS(CUPTI_SYNCHRONIZATION_INVALID_VALUE);
	SAME_AS(CUPTI_CORRELATION_ID_UNKNOWN);
	SAME_AS(CUPTI_GRID_ID_UNKNOWN);
}

TS_TEST(layouts)
{
	SAME_SIZE(struct ts_cupti_activity, CUpti_Activity);
	SAME_FIELDS(struct ts_cupti_activity, CUpti_Activity, kind, kind);
	SAME_SIZE(struct ts_cupti_activity_kernel, CUpti_ActivityKernel10);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel10, kind, kind,
		    cache_config, cacheConfig.both, shared_memory_config, sharedMemoryConfig,
		    registers_per_thread, registersPerThread, partitioned_global_cache_requested,
		    partitionedGlobalCacheRequested, partitioned_global_cache_executed,
		    partitionedGlobalCacheExecuted, start, start, end, end, completed, completed,
		    device_id, deviceId, context_id, contextId, stream_id, streamId, grid_x, gridX,
		    grid_y, gridY, grid_z, gridZ, block_x, blockX);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel10, block_y, blockY,
		    block_z, blockZ, static_shared_memory, staticSharedMemory,
		    dynamic_shared_memory, dynamicSharedMemory, local_memory_per_thread,
		    localMemoryPerThread, local_memory_total, localMemoryTotal, correlation_id,
		    correlationId, grid_id, gridId, name, name, reserved0, reserved0, queued,
		    queued, submitted, submitted, launch_type, launchType,
		    is_shared_memory_carveout_requested, isSharedMemoryCarveoutRequested,
		    shared_memory_carveout_requested, sharedMemoryCarveoutRequested, padding,
		    padding);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel10, shared_memory_executed,
		    sharedMemoryExecuted, graph_node_id, graphNodeId, shmem_limit_config,
		    shmemLimitConfig, graph_id, graphId, access_policy_window, pAccessPolicyWindow,
		    channel_id, channelID, channel_type, channelType, cluster_x, clusterX,
		    cluster_y, clusterY, cluster_z, clusterZ, cluster_scheduling_policy,
		    clusterSchedulingPolicy, local_memory_total_v2, localMemoryTotal_v2,
		    max_potential_cluster_size, maxPotentialClusterSize, max_active_clusters,
		    maxActiveClusters, is_device_launched, isDeviceLaunched, padding3, padding3);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel5, kind, kind,
		    cache_config, cacheConfig.both, shared_memory_config, sharedMemoryConfig,
		    registers_per_thread, registersPerThread, partitioned_global_cache_requested,
		    partitionedGlobalCacheRequested, partitioned_global_cache_executed,
		    partitionedGlobalCacheExecuted, start, start, end, end, completed, completed,
		    device_id, deviceId, context_id, contextId, stream_id, streamId, grid_x, gridX,
		    grid_y, gridY, grid_z, gridZ, block_x, blockX);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel5, block_y, blockY,
		    block_z, blockZ, static_shared_memory, staticSharedMemory,
		    dynamic_shared_memory, dynamicSharedMemory, local_memory_per_thread,
		    localMemoryPerThread, local_memory_total, localMemoryTotal, correlation_id,
		    correlationId, grid_id, gridId, name, name, reserved0, reserved0, queued,
		    queued, submitted, submitted, launch_type, launchType,
		    is_shared_memory_carveout_requested, isSharedMemoryCarveoutRequested,
		    shared_memory_carveout_requested, sharedMemoryCarveoutRequested,
		    shared_memory_executed, sharedMemoryExecuted);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel5, graph_node_id,
		    graphNodeId, shmem_limit_config, shmemLimitConfig, graph_id, graphId);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel6, kind, kind,
		    cache_config, cacheConfig.both, shared_memory_config, sharedMemoryConfig,
		    registers_per_thread, registersPerThread, partitioned_global_cache_requested,
		    partitionedGlobalCacheRequested, partitioned_global_cache_executed,
		    partitionedGlobalCacheExecuted, start, start, end, end, completed, completed,
		    device_id, deviceId, context_id, contextId, stream_id, streamId, grid_x, gridX,
		    grid_y, gridY, grid_z, gridZ, block_x, blockX);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel6, block_y, blockY,
		    block_z, blockZ, static_shared_memory, staticSharedMemory,
		    dynamic_shared_memory, dynamicSharedMemory, local_memory_per_thread,
		    localMemoryPerThread, local_memory_total, localMemoryTotal, correlation_id,
		    correlationId, grid_id, gridId, name, name, reserved0, reserved0, queued,
		    queued, submitted, submitted, launch_type, launchType,
		    is_shared_memory_carveout_requested, isSharedMemoryCarveoutRequested,
		    shared_memory_carveout_requested, sharedMemoryCarveoutRequested,
		    shared_memory_executed, sharedMemoryExecuted);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel6, graph_node_id,
		    graphNodeId, shmem_limit_config, shmemLimitConfig, graph_id, graphId,
		    access_policy_window, pAccessPolicyWindow);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel7, kind, kind,
		    cache_config, cacheConfig.both, shared_memory_config, sharedMemoryConfig,
		    registers_per_thread, registersPerThread, partitioned_global_cache_requested,
		    partitionedGlobalCacheRequested, partitioned_global_cache_executed,
		    partitionedGlobalCacheExecuted, start, start, end, end, completed, completed,
		    device_id, deviceId, context_id, contextId, stream_id, streamId, grid_x, gridX,
		    grid_y, gridY, grid_z, gridZ, block_x, blockX);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel7, block_y, blockY,
		    block_z, blockZ, static_shared_memory, staticSharedMemory,
		    dynamic_shared_memory, dynamicSharedMemory, local_memory_per_thread,
		    localMemoryPerThread, local_memory_total, localMemoryTotal, correlation_id,
		    correlationId, grid_id, gridId, name, name, reserved0, reserved0, queued,
		    queued, submitted, submitted, launch_type, launchType,
		    is_shared_memory_carveout_requested, isSharedMemoryCarveoutRequested,
		    shared_memory_carveout_requested, sharedMemoryCarveoutRequested,
		    shared_memory_executed, sharedMemoryExecuted);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel7, graph_node_id,
		    graphNodeId, shmem_limit_config, shmemLimitConfig, graph_id, graphId,
		    access_policy_window, pAccessPolicyWindow, channel_id, channelID, channel_type,
		    channelType);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel8, kind, kind,
		    cache_config, cacheConfig.both, shared_memory_config, sharedMemoryConfig,
		    registers_per_thread, registersPerThread, partitioned_global_cache_requested,
		    partitionedGlobalCacheRequested, partitioned_global_cache_executed,
		    partitionedGlobalCacheExecuted, start, start, end, end, completed, completed,
		    device_id, deviceId, context_id, contextId, stream_id, streamId, grid_x, gridX,
		    grid_y, gridY, grid_z, gridZ, block_x, blockX);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel8, block_y, blockY,
		    block_z, blockZ, static_shared_memory, staticSharedMemory,
		    dynamic_shared_memory, dynamicSharedMemory, local_memory_per_thread,
		    localMemoryPerThread, local_memory_total, localMemoryTotal, correlation_id,
		    correlationId, grid_id, gridId, name, name, reserved0, reserved0, queued,
		    queued, submitted, submitted, launch_type, launchType,
		    is_shared_memory_carveout_requested, isSharedMemoryCarveoutRequested,
		    shared_memory_carveout_requested, sharedMemoryCarveoutRequested,
		    shared_memory_executed, sharedMemoryExecuted);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel8, graph_node_id,
		    graphNodeId, shmem_limit_config, shmemLimitConfig, graph_id, graphId,
		    access_policy_window, pAccessPolicyWindow, channel_id, channelID, channel_type,
		    channelType, cluster_x, clusterX, cluster_y, clusterY, cluster_z, clusterZ,
		    cluster_scheduling_policy, clusterSchedulingPolicy, local_memory_total_v2,
		    localMemoryTotal_v2);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel9, kind, kind,
		    cache_config, cacheConfig.both, shared_memory_config, sharedMemoryConfig,
		    registers_per_thread, registersPerThread, partitioned_global_cache_requested,
		    partitionedGlobalCacheRequested, partitioned_global_cache_executed,
		    partitionedGlobalCacheExecuted, start, start, end, end, completed, completed,
		    device_id, deviceId, context_id, contextId, stream_id, streamId, grid_x, gridX,
		    grid_y, gridY, grid_z, gridZ, block_x, blockX);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel9, block_y, blockY,
		    block_z, blockZ, static_shared_memory, staticSharedMemory,
		    dynamic_shared_memory, dynamicSharedMemory, local_memory_per_thread,
		    localMemoryPerThread, local_memory_total, localMemoryTotal, correlation_id,
		    correlationId, grid_id, gridId, name, name, reserved0, reserved0, queued,
		    queued, submitted, submitted, launch_type, launchType,
		    is_shared_memory_carveout_requested, isSharedMemoryCarveoutRequested,
		    shared_memory_carveout_requested, sharedMemoryCarveoutRequested,
		    shared_memory_executed, sharedMemoryExecuted);
	SAME_FIELDS(struct ts_cupti_activity_kernel, CUpti_ActivityKernel9, graph_node_id,
		    graphNodeId, shmem_limit_config, shmemLimitConfig, graph_id, graphId,
		    access_policy_window, pAccessPolicyWindow, channel_id, channelID, channel_type,
		    channelType, cluster_x, clusterX, cluster_y, clusterY, cluster_z, clusterZ,
		    cluster_scheduling_policy, clusterSchedulingPolicy, local_memory_total_v2,
		    localMemoryTotal_v2, max_potential_cluster_size, maxPotentialClusterSize,
		    max_active_clusters, maxActiveClusters);
	SAME_SIZE(struct ts_cupti_activity_memcpy, CUpti_ActivityMemcpy6);
	SAME_FIELDS(struct ts_cupti_activity_memcpy, CUpti_ActivityMemcpy6, kind, kind, copy_kind,
		    copyKind, src_kind, srcKind, dst_kind, dstKind, flags, flags, bytes, bytes,
		    start, start, end, end, device_id, deviceId, context_id, contextId, stream_id,
		    streamId, correlation_id, correlationId, runtime_correlation_id,
		    runtimeCorrelationId, pad, pad, reserved0, reserved0, graph_node_id,
		    graphNodeId);
	SAME_FIELDS(struct ts_cupti_activity_memcpy, CUpti_ActivityMemcpy6, graph_id, graphId,
		    channel_id, channelID, channel_type, channelType, is_device_launched,
		    isDeviceLaunched, pad2, pad2, copy_count, copyCount);
	SAME_FIELDS(struct ts_cupti_activity_memcpy, CUpti_ActivityMemcpy3, kind, kind, copy_kind,
		    copyKind, src_kind, srcKind, dst_kind, dstKind, flags, flags, bytes, bytes,
		    start, start, end, end, device_id, deviceId, context_id, contextId, stream_id,
		    streamId, correlation_id, correlationId, runtime_correlation_id,
		    runtimeCorrelationId, reserved0, reserved0, graph_node_id, graphNodeId);
	SAME_FIELDS(struct ts_cupti_activity_memcpy, CUpti_ActivityMemcpy4, kind, kind, copy_kind,
		    copyKind, src_kind, srcKind, dst_kind, dstKind, flags, flags, bytes, bytes,
		    start, start, end, end, device_id, deviceId, context_id, contextId, stream_id,
		    streamId, correlation_id, correlationId, runtime_correlation_id,
		    runtimeCorrelationId, reserved0, reserved0, graph_node_id, graphNodeId,
		    graph_id, graphId);
	SAME_FIELDS(struct ts_cupti_activity_memcpy, CUpti_ActivityMemcpy5, kind, kind, copy_kind,
		    copyKind, src_kind, srcKind, dst_kind, dstKind, flags, flags, bytes, bytes,
		    start, start, end, end, device_id, deviceId, context_id, contextId, stream_id,
		    streamId, correlation_id, correlationId, runtime_correlation_id,
		    runtimeCorrelationId, reserved0, reserved0, graph_node_id, graphNodeId,
		    graph_id, graphId);
	SAME_FIELDS(struct ts_cupti_activity_memcpy, CUpti_ActivityMemcpy5, channel_id, channelID,
		    channel_type, channelType);
	SAME_SIZE(struct ts_cupti_activity_memcpy_ptop, CUpti_ActivityMemcpyPtoP4);
	SAME_FIELDS(struct ts_cupti_activity_memcpy_ptop, CUpti_ActivityMemcpyPtoP4, kind, kind,
		    copy_kind, copyKind, src_kind, srcKind, dst_kind, dstKind, flags, flags, bytes,
		    bytes, start, start, end, end, device_id, deviceId, context_id, contextId,
		    stream_id, streamId, src_device_id, srcDeviceId, src_context_id, srcContextId,
		    dst_device_id, dstDeviceId, dst_context_id, dstContextId, correlation_id,
		    correlationId);
	SAME_FIELDS(struct ts_cupti_activity_memcpy_ptop, CUpti_ActivityMemcpyPtoP4, reserved0,
		    reserved0, graph_node_id, graphNodeId, graph_id, graphId, channel_id, channelID,
		    channel_type, channelType);
	SAME_FIELDS(struct ts_cupti_activity_memcpy_ptop, CUpti_ActivityMemcpyPtoP2, kind, kind,
		    copy_kind, copyKind, src_kind, srcKind, dst_kind, dstKind, flags, flags, bytes,
		    bytes, start, start, end, end, device_id, deviceId, context_id, contextId,
		    stream_id, streamId, src_device_id, srcDeviceId, src_context_id, srcContextId,
		    dst_device_id, dstDeviceId, dst_context_id, dstContextId, correlation_id,
		    correlationId);
	SAME_FIELDS(struct ts_cupti_activity_memcpy_ptop, CUpti_ActivityMemcpyPtoP2, reserved0,
		    reserved0, graph_node_id, graphNodeId);
	SAME_FIELDS(struct ts_cupti_activity_memcpy_ptop, CUpti_ActivityMemcpyPtoP3, kind, kind,
		    copy_kind, copyKind, src_kind, srcKind, dst_kind, dstKind, flags, flags, bytes,
		    bytes, start, start, end, end, device_id, deviceId, context_id, contextId,
		    stream_id, streamId, src_device_id, srcDeviceId, src_context_id, srcContextId,
		    dst_device_id, dstDeviceId, dst_context_id, dstContextId, correlation_id,
		    correlationId);
	SAME_FIELDS(struct ts_cupti_activity_memcpy_ptop, CUpti_ActivityMemcpyPtoP3, reserved0,
		    reserved0, graph_node_id, graphNodeId, graph_id, graphId);
	SAME_SIZE(struct ts_cupti_activity_memset, CUpti_ActivityMemset4);
	SAME_FIELDS(struct ts_cupti_activity_memset, CUpti_ActivityMemset4, kind, kind, value,
		    value, bytes, bytes, start, start, end, end, device_id, deviceId, context_id,
		    contextId, stream_id, streamId, correlation_id, correlationId, flags, flags,
		    memory_kind, memoryKind, pad, pad, reserved0, reserved0, graph_node_id,
		    graphNodeId, graph_id, graphId, channel_id, channelID);
	SAME_FIELDS(struct ts_cupti_activity_memset, CUpti_ActivityMemset4, channel_type,
		    channelType, is_device_launched, isDeviceLaunched, pad2, pad2);
	SAME_FIELDS(struct ts_cupti_activity_memset, CUpti_ActivityMemset2, kind, kind, value,
		    value, bytes, bytes, start, start, end, end, device_id, deviceId, context_id,
		    contextId, stream_id, streamId, correlation_id, correlationId, flags, flags,
		    memory_kind, memoryKind, reserved0, reserved0, graph_node_id, graphNodeId);
	SAME_FIELDS(struct ts_cupti_activity_memset, CUpti_ActivityMemset3, kind, kind, value,
		    value, bytes, bytes, start, start, end, end, device_id, deviceId, context_id,
		    contextId, stream_id, streamId, correlation_id, correlationId, flags, flags,
		    memory_kind, memoryKind, reserved0, reserved0, graph_node_id, graphNodeId,
		    graph_id, graphId);
	SAME_SIZE(struct ts_cupti_activity_synchronization, CUpti_ActivitySynchronization2);
	SAME_FIELDS(struct ts_cupti_activity_synchronization, CUpti_ActivitySynchronization2, kind,
		    kind, type, type, start, start, end, end, correlation_id, correlationId,
		    context_id, contextId, stream_id, streamId, cuda_event_id, cudaEventId,
		    cuda_event_sync_id, cudaEventSyncId, return_value, returnValue, pad, pad);
	SAME_FIELDS(struct ts_cupti_activity_synchronization, CUpti_ActivitySynchronization, kind,
		    kind, type, type, start, start, end, end, correlation_id, correlationId,
		    context_id, contextId, stream_id, streamId, cuda_event_id, cudaEventId);
	SAME_SIZE(struct ts_cupti_activity_memory, CUpti_ActivityMemory4);
	SAME_FIELDS(struct ts_cupti_activity_memory, CUpti_ActivityMemory4, kind, kind,
		    memory_operation_type, memoryOperationType, memory_kind, memoryKind,
		    correlation_id, correlationId, address, address, bytes, bytes, timestamp,
		    timestamp, pc, PC, process_id, processId, device_id, deviceId, context_id,
		    contextId, stream_id, streamId, name, name, is_async, isAsync, pad1, pad1,
		    memory_pool_config, memoryPoolConfig);
	SAME_FIELDS(struct ts_cupti_activity_memory, CUpti_ActivityMemory4, source, source,
		    memory_pool_config.memory_pool_type, memoryPoolConfig.memoryPoolType,
		    memory_pool_config.pad2, memoryPoolConfig.pad2, memory_pool_config.address,
		    memoryPoolConfig.address, memory_pool_config.release_threshold,
		    memoryPoolConfig.releaseThreshold, memory_pool_config.pool,
		    memoryPoolConfig.pool, memory_pool_config.pool.size, memoryPoolConfig.pool.size,
		    memory_pool_config.pool.process_id, memoryPoolConfig.pool.processId,
		    memory_pool_config.utilized_size, memoryPoolConfig.utilizedSize);
	SAME_FIELDS(struct ts_cupti_activity_memory, CUpti_ActivityMemory3, kind, kind,
		    memory_operation_type, memoryOperationType, memory_kind, memoryKind,
		    correlation_id, correlationId, address, address, bytes, bytes, timestamp,
		    timestamp, pc, PC, process_id, processId, device_id, deviceId, context_id,
		    contextId, stream_id, streamId, name, name, is_async, isAsync,
		    memory_pool_config, memoryPoolConfig, memory_pool_config.memory_pool_type,
		    memoryPoolConfig.memoryPoolType);
	SAME_FIELDS(struct ts_cupti_activity_memory, CUpti_ActivityMemory3, memory_pool_config.pad2,
		    memoryPoolConfig.pad2, memory_pool_config.address, memoryPoolConfig.address,
		    memory_pool_config.release_threshold, memoryPoolConfig.releaseThreshold,
		    memory_pool_config.pool, memoryPoolConfig.pool, memory_pool_config.pool.size,
		    memoryPoolConfig.pool.size, memory_pool_config.pool.process_id,
		    memoryPoolConfig.pool.processId, memory_pool_config.utilized_size,
		    memoryPoolConfig.utilizedSize);
	SAME_FIELDS(struct ts_cupti_activity_memory, CUpti_ActivityMemory2, kind, kind,
		    memory_operation_type, memoryOperationType, memory_kind, memoryKind,
		    correlation_id, correlationId, address, address, bytes, bytes, timestamp,
		    timestamp, pc, PC, process_id, processId, device_id, deviceId, context_id,
		    contextId, stream_id, streamId, name, name, is_async, isAsync,
		    memory_pool_config.memory_pool_type, memoryPoolConfig.memoryPoolType);
	SAME_FIELDS(struct ts_cupti_activity_memory, CUpti_ActivityMemory2, memory_pool_config.pad2,
		    memoryPoolConfig.pad2, memory_pool_config.address, memoryPoolConfig.address,
		    memory_pool_config.release_threshold, memoryPoolConfig.releaseThreshold,
		    memory_pool_config.pool, memoryPoolConfig.pool, memory_pool_config.pool.size,
		    memoryPoolConfig.pool.size, memory_pool_config.pool.process_id,
		    memoryPoolConfig.pool.processId);
	SAME_SIZE(struct ts_cupti_activity_api, CUpti_ActivityAPI);
	SAME_FIELDS(struct ts_cupti_activity_api, CUpti_ActivityAPI, kind, kind, cbid, cbid, start,
		    start, end, end, process_id, processId, thread_id, threadId, correlation_id,
		    correlationId, return_value, returnValue);
	SAME_SIZE(union ts_cupti_activity_object_id, CUpti_ActivityObjectKindId);
	SAME_FIELDS(union ts_cupti_activity_object_id, CUpti_ActivityObjectKindId, pt.process_id,
		    pt.processId, pt.thread_id, pt.threadId, dcs.device_id, dcs.deviceId,
		    dcs.context_id, dcs.contextId, dcs.stream_id, dcs.streamId);
	SAME_SIZE(struct ts_cupti_activity_overhead, CUpti_ActivityOverhead3);
	SAME_FIELDS(struct ts_cupti_activity_overhead, CUpti_ActivityOverhead3, kind, kind,
		    overhead_kind, overheadKind, object_kind, objectKind, object_id, objectId,
		    start, start, end, end, correlation_id, correlationId, reserved0, reserved0,
		    overhead_data, overheadData);
	SAME_FIELDS(struct ts_cupti_activity_overhead, CUpti_ActivityOverhead, kind, kind,
		    overhead_kind, overheadKind, object_kind, objectKind, object_id, objectId,
		    start, start, end, end);
	SAME_FIELDS(struct ts_cupti_activity_overhead, CUpti_ActivityOverhead2, kind, kind,
		    overhead_kind, overheadKind, object_kind, objectKind, object_id, objectId,
		    start, start, end, end, correlation_id, correlationId, reserved0, reserved0);
	SAME_SIZE(struct ts_cupti_activity_device, CUpti_ActivityDevice5);
	SAME_FIELDS(struct ts_cupti_activity_device, CUpti_ActivityDevice5, kind, kind, flags,
		    flags, global_memory_bandwidth, globalMemoryBandwidth, global_memory_size,
		    globalMemorySize, constant_memory_size, constantMemorySize, l2_cache_size,
		    l2CacheSize, num_threads_per_warp, numThreadsPerWarp, core_clock_rate,
		    coreClockRate, num_memcpy_engines, numMemcpyEngines, num_multiprocessors,
		    numMultiprocessors, max_ipc, maxIPC, max_warps_per_multiprocessor,
		    maxWarpsPerMultiprocessor, max_blocks_per_multiprocessor,
		    maxBlocksPerMultiprocessor, max_shared_memory_per_multiprocessor,
		    maxSharedMemoryPerMultiprocessor, max_registers_per_multiprocessor,
		    maxRegistersPerMultiprocessor, max_registers_per_block, maxRegistersPerBlock);
	SAME_FIELDS(struct ts_cupti_activity_device, CUpti_ActivityDevice5,
		    max_shared_memory_per_block, maxSharedMemoryPerBlock, max_threads_per_block,
		    maxThreadsPerBlock, max_block_dim_x, maxBlockDimX, max_block_dim_y,
		    maxBlockDimY, max_block_dim_z, maxBlockDimZ, max_grid_dim_x, maxGridDimX,
		    max_grid_dim_y, maxGridDimY, max_grid_dim_z, maxGridDimZ,
		    compute_capability_major, computeCapabilityMajor, compute_capability_minor,
		    computeCapabilityMinor, id, id, ecc_enabled, eccEnabled, uuid, uuid, name, name,
		    is_cuda_visible, isCudaVisible, is_mig_enabled, isMigEnabled);
	SAME_FIELDS(struct ts_cupti_activity_device, CUpti_ActivityDevice5, reserved, reserved,
		    gpu_instance_id, gpuInstanceId, compute_instance_id, computeInstanceId,
		    mig_uuid, migUuid, is_numa_node, isNumaNode, numa_id, numaId);
	SAME_FIELDS(struct ts_cupti_activity_device, CUpti_ActivityDevice3, kind, kind, flags,
		    flags, global_memory_bandwidth, globalMemoryBandwidth, global_memory_size,
		    globalMemorySize, constant_memory_size, constantMemorySize, l2_cache_size,
		    l2CacheSize, num_threads_per_warp, numThreadsPerWarp, core_clock_rate,
		    coreClockRate, num_memcpy_engines, numMemcpyEngines, num_multiprocessors,
		    numMultiprocessors, max_ipc, maxIPC, max_warps_per_multiprocessor,
		    maxWarpsPerMultiprocessor, max_blocks_per_multiprocessor,
		    maxBlocksPerMultiprocessor, max_shared_memory_per_multiprocessor,
		    maxSharedMemoryPerMultiprocessor, max_registers_per_multiprocessor,
		    maxRegistersPerMultiprocessor, max_registers_per_block, maxRegistersPerBlock);
	SAME_FIELDS(struct ts_cupti_activity_device, CUpti_ActivityDevice3,
		    max_shared_memory_per_block, maxSharedMemoryPerBlock, max_threads_per_block,
		    maxThreadsPerBlock, max_block_dim_x, maxBlockDimX, max_block_dim_y,
		    maxBlockDimY, max_block_dim_z, maxBlockDimZ, max_grid_dim_x, maxGridDimX,
		    max_grid_dim_y, maxGridDimY, max_grid_dim_z, maxGridDimZ,
		    compute_capability_major, computeCapabilityMajor, compute_capability_minor,
		    computeCapabilityMinor, id, id, ecc_enabled, eccEnabled, uuid, uuid, name, name,
		    is_cuda_visible, isCudaVisible);
	SAME_FIELDS(struct ts_cupti_activity_device, CUpti_ActivityDevice4, kind, kind, flags,
		    flags, global_memory_bandwidth, globalMemoryBandwidth, global_memory_size,
		    globalMemorySize, constant_memory_size, constantMemorySize, l2_cache_size,
		    l2CacheSize, num_threads_per_warp, numThreadsPerWarp, core_clock_rate,
		    coreClockRate, num_memcpy_engines, numMemcpyEngines, num_multiprocessors,
		    numMultiprocessors, max_ipc, maxIPC, max_warps_per_multiprocessor,
		    maxWarpsPerMultiprocessor, max_blocks_per_multiprocessor,
		    maxBlocksPerMultiprocessor, max_shared_memory_per_multiprocessor,
		    maxSharedMemoryPerMultiprocessor, max_registers_per_multiprocessor,
		    maxRegistersPerMultiprocessor, max_registers_per_block, maxRegistersPerBlock);
	SAME_FIELDS(struct ts_cupti_activity_device, CUpti_ActivityDevice4,
		    max_shared_memory_per_block, maxSharedMemoryPerBlock, max_threads_per_block,
		    maxThreadsPerBlock, max_block_dim_x, maxBlockDimX, max_block_dim_y,
		    maxBlockDimY, max_block_dim_z, maxBlockDimZ, max_grid_dim_x, maxGridDimX,
		    max_grid_dim_y, maxGridDimY, max_grid_dim_z, maxGridDimZ,
		    compute_capability_major, computeCapabilityMajor, compute_capability_minor,
		    computeCapabilityMinor, id, id, ecc_enabled, eccEnabled, uuid, uuid, name, name,
		    is_cuda_visible, isCudaVisible, is_mig_enabled, isMigEnabled);
	SAME_FIELDS(struct ts_cupti_activity_device, CUpti_ActivityDevice4, reserved, reserved,
		    gpu_instance_id, gpuInstanceId, compute_instance_id, computeInstanceId,
		    mig_uuid, migUuid);
	SAME_SIZE(struct ts_cupti_activity_context, CUpti_ActivityContext3);
	SAME_FIELDS(struct ts_cupti_activity_context, CUpti_ActivityContext3, kind, kind,
		    context_id, contextId, device_id, deviceId, compute_api_kind, computeApiKind,
		    null_stream_id, nullStreamId, parent_context_id, parentContextId,
		    is_green_context, isGreenContext, padding, padding, num_multiprocessors,
		    numMultiprocessors, cig_mode, cigMode, padding2, padding2);
	SAME_FIELDS(struct ts_cupti_activity_context, CUpti_ActivityContext, kind, kind, context_id,
		    contextId, device_id, deviceId, compute_api_kind, computeApiKind,
		    null_stream_id, nullStreamId);
	SAME_FIELDS(struct ts_cupti_activity_context, CUpti_ActivityContext2, kind, kind,
		    context_id, contextId, device_id, deviceId, compute_api_kind, computeApiKind,
		    null_stream_id, nullStreamId, parent_context_id, parentContextId,
		    is_green_context, isGreenContext, num_multiprocessors, numMultiprocessors);
	SAME_SIZE(struct ts_cupti_activity_stream, CUpti_ActivityStream);
	SAME_FIELDS(struct ts_cupti_activity_stream, CUpti_ActivityStream, kind, kind, context_id,
		    contextId, stream_id, streamId, priority, priority, flag, flag, correlation_id,
		    correlationId);
	SAME_SIZE(struct ts_cupti_activity_external_correlation, CUpti_ActivityExternalCorrelation);
	SAME_FIELDS(struct ts_cupti_activity_external_correlation,
		    CUpti_ActivityExternalCorrelation, kind, kind, external_kind, externalKind,
		    external_id, externalId, correlation_id, correlationId, reserved, reserved);
	SAME_SIZE(struct ts_cupti_activity_graph_trace, CUpti_ActivityGraphTrace2);
	SAME_FIELDS(struct ts_cupti_activity_graph_trace, CUpti_ActivityGraphTrace2, kind, kind,
		    correlation_id, correlationId, start, start, end, end, device_id, deviceId,
		    graph_id, graphId, context_id, contextId, stream_id, streamId, reserved,
		    reserved, end_device_id, endDeviceId, end_context_id, endContextId);
	SAME_FIELDS(struct ts_cupti_activity_graph_trace, CUpti_ActivityGraphTrace, kind, kind,
		    correlation_id, correlationId, start, start, end, end, device_id, deviceId,
		    graph_id, graphId, context_id, contextId, stream_id, streamId, reserved,
		    reserved);
	SAME_SIZE(struct ts_cupti_activity_cuda_event, CUpti_ActivityCudaEvent2);
	SAME_FIELDS(struct ts_cupti_activity_cuda_event, CUpti_ActivityCudaEvent2, kind, kind,
		    correlation_id, correlationId, context_id, contextId, stream_id, streamId,
		    event_id, eventId, pad, pad, device_id, deviceId, pad2, pad2, reserved0,
		    reserved0, device_timestamp, deviceTimestamp, cuda_event_sync_id,
		    cudaEventSyncId);
	SAME_FIELDS(struct ts_cupti_activity_cuda_event, CUpti_ActivityCudaEvent, kind, kind,
		    correlation_id, correlationId, context_id, contextId, stream_id, streamId,
		    event_id, eventId);
}

TS_TEST(record_bytes)
{
	uint32_t previous_since = 0;
	uint32_t previous_kind = 0;

	/*
	 * Each layout has the vendor's size, and applies to its version and later ones before the
	 * next layout.
	 */
#define CHECK(k, since, bytes, vendor)                                                         \
	SAME(bytes, sizeof(vendor));                                                           \
	ts_check_int(ts_cupti_record_bytes(TS_CUPTI_ACTIVITY_KIND_##k, since), bytes);         \
	ts_check(TS_CUPTI_ACTIVITY_KIND_##k != previous_kind || (since) > previous_since);     \
	if (TS_CUPTI_ACTIVITY_KIND_##k != previous_kind)                                       \
		ts_check_int(ts_cupti_record_bytes(TS_CUPTI_ACTIVITY_KIND_##k, (since)-1), 0); \
	previous_since = (since);                                                              \
	previous_kind = TS_CUPTI_ACTIVITY_KIND_##k;
	TS_CUPTI_RECORD_LAYOUTS(CHECK)
#undef CHECK
	ts_check_int(ts_cupti_record_bytes(TS_CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 16), 168);
	ts_check_int(ts_cupti_record_bytes(TS_CUPTI_ACTIVITY_KIND_KERNEL, 130001), 216);
	ts_check_int(ts_cupti_record_bytes(TS_CUPTI_ACTIVITY_KIND_DRIVER, 13), 40);
	ts_check_int(ts_cupti_record_bytes(TS_CUPTI_ACTIVITY_KIND_MARKER, 130001), 0);
}

TS_TEST(record_has)
{
	/* graph_id ends at 160, like Kernel5; the next field came with Kernel6. */
	ts_check(ts_cupti_record_has(ts_cupti_activity_kernel, graph_id, 160));
	ts_check(!ts_cupti_record_has(ts_cupti_activity_kernel, access_policy_window, 160));
	ts_check(ts_cupti_record_has(ts_cupti_activity_kernel, access_policy_window, 168));
}
