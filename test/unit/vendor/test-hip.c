// SPDX-License-Identifier: Apache-2.0
/*
 * Our declarations of HIP, compared with AMD's headers. Each line names one of our declarations and
 * the vendor's; check-coverage.py fails if one of ours has no line. Debian 12 has the headers of
 * 5.2.3: declarations that are newer or have changed need those of 6.2. check-hip.py compares them
 * with hip-facts.txt in every build.
 */
#include <hip/hip_runtime_api.h>
#if HIP_VERSION_MAJOR >= 6
#include <hip/hip_deprecated.h>
#endif

#include "proto/abi/vendor/hip.h"
#include "test/unit/harness.h"
#include "test/unit/vendor/same.h"

#define VERSION (100 * HIP_VERSION_MAJOR + HIP_VERSION_MINOR)

TS_TEST(values)
{
#define CHECK(suffix, value, name, text) SAME(TS_HIP_##suffix, name);
	TS_HIP_ERRORS(CHECK)
#undef CHECK
	SAME(TS_HIP_STREAM_PER_THREAD, hipStreamPerThread);
	SAME(TS_HIP_STREAM_DEFAULT, hipStreamDefault);
	SAME(TS_HIP_STREAM_NON_BLOCKING, hipStreamNonBlocking);
	SAME(TS_HIP_EVENT_DEFAULT, hipEventDefault);
	SAME(TS_HIP_EVENT_BLOCKING_SYNC, hipEventBlockingSync);
	SAME(TS_HIP_EVENT_DISABLE_TIMING, hipEventDisableTiming);
	SAME(TS_HIP_EVENT_INTERPROCESS, hipEventInterprocess);
	SAME(TS_HIP_EVENT_RELEASE_TO_DEVICE, hipEventReleaseToDevice);
	SAME(TS_HIP_EVENT_RELEASE_TO_SYSTEM, hipEventReleaseToSystem);
	SAME(TS_HIP_HOST_MALLOC_DEFAULT, hipHostMallocDefault);
	SAME(TS_HIP_HOST_MALLOC_PORTABLE, hipHostMallocPortable);
	SAME(TS_HIP_HOST_MALLOC_MAPPED, hipHostMallocMapped);
	SAME(TS_HIP_HOST_MALLOC_WRITE_COMBINED, hipHostMallocWriteCombined);
	SAME(TS_HIP_HOST_MALLOC_NUMA_USER, hipHostMallocNumaUser);
	SAME(TS_HIP_HOST_MALLOC_COHERENT, hipHostMallocCoherent);
	SAME(TS_HIP_HOST_MALLOC_NON_COHERENT, hipHostMallocNonCoherent);
	SAME(TS_HIP_HOST_REGISTER_DEFAULT, hipHostRegisterDefault);
	SAME(TS_HIP_HOST_REGISTER_PORTABLE, hipHostRegisterPortable);
	SAME(TS_HIP_HOST_REGISTER_MAPPED, hipHostRegisterMapped);
	SAME(TS_HIP_HOST_REGISTER_IO_MEMORY, hipHostRegisterIoMemory);
	SAME(TS_HIP_MEM_ATTACH_GLOBAL, hipMemAttachGlobal);
	SAME(TS_HIP_MEM_ATTACH_HOST, hipMemAttachHost);
	SAME(TS_HIP_MEM_ATTACH_SINGLE, hipMemAttachSingle);
	SAME(TS_HIP_DEVICE_MALLOC_DEFAULT, hipDeviceMallocDefault);
	SAME(TS_HIP_DEVICE_MALLOC_FINEGRAINED, hipDeviceMallocFinegrained);
	SAME(TS_HIP_MALLOC_SIGNAL_MEMORY, hipMallocSignalMemory);
	SAME(TS_HIP_DEVICE_SCHEDULE_AUTO, hipDeviceScheduleAuto);
	SAME(TS_HIP_DEVICE_SCHEDULE_SPIN, hipDeviceScheduleSpin);
	SAME(TS_HIP_DEVICE_SCHEDULE_YIELD, hipDeviceScheduleYield);
	SAME(TS_HIP_DEVICE_SCHEDULE_BLOCKING_SYNC, hipDeviceScheduleBlockingSync);
	SAME(TS_HIP_DEVICE_SCHEDULE_MASK, hipDeviceScheduleMask);
	SAME(TS_HIP_DEVICE_MAP_HOST, hipDeviceMapHost);
	SAME(TS_HIP_EXT_ANY_ORDER_LAUNCH, hipExtAnyOrderLaunch);
	SAME(TS_HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_POINTER);
	SAME(TS_HIP_LAUNCH_PARAM_BUFFER_SIZE, HIP_LAUNCH_PARAM_BUFFER_SIZE);
	SAME(TS_HIP_LAUNCH_PARAM_END, HIP_LAUNCH_PARAM_END);
	SAME(TS_HIP_MEMCPY_HOST_TO_HOST, hipMemcpyHostToHost);
	SAME(TS_HIP_MEMCPY_HOST_TO_DEVICE, hipMemcpyHostToDevice);
	SAME(TS_HIP_MEMCPY_DEVICE_TO_HOST, hipMemcpyDeviceToHost);
	SAME(TS_HIP_MEMCPY_DEVICE_TO_DEVICE, hipMemcpyDeviceToDevice);
	SAME(TS_HIP_MEMCPY_DEFAULT, hipMemcpyDefault);
	SAME(TS_HIP_STREAM_CAPTURE_MODE_GLOBAL, hipStreamCaptureModeGlobal);
	SAME(TS_HIP_STREAM_CAPTURE_MODE_THREAD_LOCAL, hipStreamCaptureModeThreadLocal);
	SAME(TS_HIP_STREAM_CAPTURE_MODE_RELAXED, hipStreamCaptureModeRelaxed);
	SAME(TS_HIP_STREAM_CAPTURE_STATUS_NONE, hipStreamCaptureStatusNone);
	SAME(TS_HIP_STREAM_CAPTURE_STATUS_ACTIVE, hipStreamCaptureStatusActive);
	SAME(TS_HIP_STREAM_CAPTURE_STATUS_INVALIDATED, hipStreamCaptureStatusInvalidated);
	SAME(TS_HIP_LIMIT_PRINTF_FIFO_SIZE, hipLimitPrintfFifoSize);
	SAME(TS_HIP_LIMIT_MALLOC_HEAP_SIZE, hipLimitMallocHeapSize);
	SAME(TS_HIP_POINTER_ATTRIBUTE_CONTEXT, HIP_POINTER_ATTRIBUTE_CONTEXT);
	SAME(TS_HIP_POINTER_ATTRIBUTE_MEMORY_TYPE, HIP_POINTER_ATTRIBUTE_MEMORY_TYPE);
	SAME(TS_HIP_POINTER_ATTRIBUTE_DEVICE_POINTER, HIP_POINTER_ATTRIBUTE_DEVICE_POINTER);
	SAME(TS_HIP_POINTER_ATTRIBUTE_HOST_POINTER, HIP_POINTER_ATTRIBUTE_HOST_POINTER);
	SAME(TS_HIP_POINTER_ATTRIBUTE_BUFFER_ID, HIP_POINTER_ATTRIBUTE_BUFFER_ID);
	SAME(TS_HIP_POINTER_ATTRIBUTE_IS_MANAGED, HIP_POINTER_ATTRIBUTE_IS_MANAGED);
	SAME(TS_HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL, HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
	SAME(TS_HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR);
	SAME(TS_HIP_POINTER_ATTRIBUTE_RANGE_SIZE, HIP_POINTER_ATTRIBUTE_RANGE_SIZE);
	SAME(TS_HIP_POINTER_ATTRIBUTE_MAPPED, HIP_POINTER_ATTRIBUTE_MAPPED);
	SAME(TS_HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
	SAME(TS_HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
	SAME(TS_HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
	SAME(TS_HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
	SAME(TS_HIP_FUNC_ATTRIBUTE_NUM_REGS, HIP_FUNC_ATTRIBUTE_NUM_REGS);
	SAME(TS_HIP_FUNC_ATTRIBUTE_PTX_VERSION, HIP_FUNC_ATTRIBUTE_PTX_VERSION);
	SAME(TS_HIP_FUNC_ATTRIBUTE_BINARY_VERSION, HIP_FUNC_ATTRIBUTE_BINARY_VERSION);
	SAME(TS_HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA, HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA);
	SAME(TS_HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	     HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
	SAME(TS_HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
	     hipFuncAttributePreferredSharedMemoryCarveout);
	SAME(TS_HIP_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES,
	     hipMemPoolReuseFollowEventDependencies);
	SAME(TS_HIP_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, hipMemPoolReuseAllowOpportunistic);
	SAME(TS_HIP_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
	     hipMemPoolReuseAllowInternalDependencies);
	SAME(TS_HIP_MEM_POOL_ATTR_RELEASE_THRESHOLD, hipMemPoolAttrReleaseThreshold);
	SAME(TS_HIP_MEM_POOL_ATTR_RESERVED_MEM_CURRENT, hipMemPoolAttrReservedMemCurrent);
	SAME(TS_HIP_MEM_POOL_ATTR_RESERVED_MEM_HIGH, hipMemPoolAttrReservedMemHigh);
	SAME(TS_HIP_MEM_POOL_ATTR_USED_MEM_CURRENT, hipMemPoolAttrUsedMemCurrent);
	SAME(TS_HIP_MEM_POOL_ATTR_USED_MEM_HIGH, hipMemPoolAttrUsedMemHigh);
}

TS_TEST(layouts)
{
	SAME_SIZE(struct ts_hip_dim3, dim3);
	SAME_FIELDS(struct ts_hip_dim3, dim3, x, x, y, y, z, z);
	SAME_SIZE(struct ts_hip_extent, hipExtent);
	SAME_FIELDS(struct ts_hip_extent, hipExtent, width, width, height, height, depth, depth);
	SAME_SIZE(struct ts_hip_pos, hipPos);
	SAME_FIELDS(struct ts_hip_pos, hipPos, x, x, y, y, z, z);
	SAME_SIZE(struct ts_hip_pitched_ptr, hipPitchedPtr);
	SAME_FIELDS(struct ts_hip_pitched_ptr, hipPitchedPtr, ptr, ptr, pitch, pitch, xsize, xsize,
		    ysize, ysize);
	SAME_SIZE(struct ts_hip_uuid, hipUUID);
	SAME_FIELDS(struct ts_hip_uuid, hipUUID, bytes, bytes);
	SAME_SIZE(struct ts_hip_ipc_mem_handle, hipIpcMemHandle_t);
	SAME_FIELDS(struct ts_hip_ipc_mem_handle, hipIpcMemHandle_t, reserved, reserved);
	SAME_SIZE(struct ts_hip_ipc_event_handle, hipIpcEventHandle_t);
	SAME_FIELDS(struct ts_hip_ipc_event_handle, hipIpcEventHandle_t, reserved, reserved);
	SAME_SIZE(struct ts_hip_channel_format_desc, hipChannelFormatDesc);
	SAME_FIELDS(struct ts_hip_channel_format_desc, hipChannelFormatDesc, x, x, y, y, z, z, w, w,
		    f, f);
	SAME_SIZE(struct ts_hip_memcpy3d_parms, hipMemcpy3DParms);
	SAME_FIELDS(struct ts_hip_memcpy3d_parms, hipMemcpy3DParms, src_array, srcArray, src_pos,
		    srcPos, src_ptr, srcPtr, dst_array, dstArray, dst_pos, dstPos, dst_ptr, dstPtr,
		    extent, extent, kind, kind);
	SAME_SIZE(struct ts_hip_memcpy2d, hip_Memcpy2D);
	SAME_FIELDS(struct ts_hip_memcpy2d, hip_Memcpy2D, src_x_in_bytes, srcXInBytes, src_y, srcY,
		    src_memory_type, srcMemoryType, src_host, srcHost, src_device, srcDevice,
		    src_array, srcArray, src_pitch, srcPitch, dst_x_in_bytes, dstXInBytes, dst_y,
		    dstY, dst_memory_type, dstMemoryType, dst_host, dstHost, dst_device, dstDevice);
	SAME_FIELDS(struct ts_hip_memcpy2d, hip_Memcpy2D, dst_array, dstArray, dst_pitch, dstPitch,
		    width_in_bytes, WidthInBytes, height, Height);
	SAME_SIZE(struct ts_hip_func_attributes, hipFuncAttributes);
	SAME_FIELDS(struct ts_hip_func_attributes, hipFuncAttributes, binary_version, binaryVersion,
		    cache_mode_ca, cacheModeCA, const_size_bytes, constSizeBytes, local_size_bytes,
		    localSizeBytes, max_dynamic_shared_size_bytes, maxDynamicSharedSizeBytes,
		    max_threads_per_block, maxThreadsPerBlock, num_regs, numRegs,
		    preferred_shmem_carveout, preferredShmemCarveout, ptx_version, ptxVersion,
		    shared_size_bytes, sharedSizeBytes);
	SAME_SIZE(struct ts_hip_launch_params, hipLaunchParams);
	SAME_FIELDS(struct ts_hip_launch_params, hipLaunchParams, func, func, grid_dim, gridDim,
		    block_dim, blockDim, args, args, shared_mem, sharedMem, stream, stream);
	SAME_SIZE(struct ts_hip_mem_location, hipMemLocation);
	SAME_FIELDS(struct ts_hip_mem_location, hipMemLocation, type, type, id, id);
	SAME_SIZE(struct ts_hip_mem_access_desc, hipMemAccessDesc);
	SAME_FIELDS(struct ts_hip_mem_access_desc, hipMemAccessDesc, location, location, flags,
		    flags);
	SAME_SIZE(struct ts_hip_kernel_node_params, hipKernelNodeParams);
	SAME_FIELDS(struct ts_hip_kernel_node_params, hipKernelNodeParams, block_dim, blockDim,
		    extra, extra, func, func, grid_dim, gridDim, kernel_params, kernelParams,
		    shared_mem_bytes, sharedMemBytes);
	SAME_SIZE(struct ts_hip_memset_params, hipMemsetParams);
	SAME_FIELDS(struct ts_hip_memset_params, hipMemsetParams, dst, dst, element_size,
		    elementSize, height, height, pitch, pitch, value, value, width, width);
	SAME_SIZE(struct ts_hip_host_node_params, hipHostNodeParams);
	SAME_FIELDS(struct ts_hip_host_node_params, hipHostNodeParams, fn, fn, user_data, userData);
}

/* The properties of a program built for 5.x. */
TS_TEST(old_properties)
{
#if HIP_VERSION_MAJOR < 6
	typedef hipDeviceProp_t properties;
#else
	typedef hipDeviceProp_tR0000 properties;
#endif

	SAME_SIZE(struct ts_hip_device_prop_r0000, properties);
	SAME_FIELDS(struct ts_hip_device_prop_r0000, properties, name, name, total_global_mem,
		    totalGlobalMem, shared_mem_per_block, sharedMemPerBlock, regs_per_block,
		    regsPerBlock, warp_size, warpSize, max_threads_per_block, maxThreadsPerBlock,
		    max_threads_dim, maxThreadsDim, max_grid_size, maxGridSize, clock_rate,
		    clockRate, memory_clock_rate, memoryClockRate, memory_bus_width, memoryBusWidth,
		    total_const_mem, totalConstMem);
	SAME_FIELDS(struct ts_hip_device_prop_r0000, properties, major, major, minor, minor,
		    multi_processor_count, multiProcessorCount, l2_cache_size, l2CacheSize,
		    max_threads_per_multi_processor, maxThreadsPerMultiProcessor, compute_mode,
		    computeMode, clock_instruction_rate, clockInstructionRate, arch, arch,
		    concurrent_kernels, concurrentKernels, pci_domain_id, pciDomainID, pci_bus_id,
		    pciBusID, pci_device_id, pciDeviceID);
	SAME_FIELDS(struct ts_hip_device_prop_r0000, properties,
		    max_shared_memory_per_multi_processor, maxSharedMemoryPerMultiProcessor,
		    is_multi_gpu_board, isMultiGpuBoard, can_map_host_memory, canMapHostMemory,
		    gcn_arch, gcnArch, gcn_arch_name, gcnArchName, integrated, integrated,
		    cooperative_launch, cooperativeLaunch, cooperative_multi_device_launch,
		    cooperativeMultiDeviceLaunch, max_texture_1d_linear, maxTexture1DLinear,
		    max_texture_1d, maxTexture1D, max_texture_2d, maxTexture2D, max_texture_3d,
		    maxTexture3D);
	SAME_FIELDS(struct ts_hip_device_prop_r0000, properties, hdp_mem_flush_cntl,
		    hdpMemFlushCntl, hdp_reg_flush_cntl, hdpRegFlushCntl, mem_pitch, memPitch,
		    texture_alignment, textureAlignment, texture_pitch_alignment,
		    texturePitchAlignment, kernel_exec_timeout_enabled, kernelExecTimeoutEnabled,
		    ecc_enabled, ECCEnabled, tcc_driver, tccDriver,
		    cooperative_multi_device_unmatched_func, cooperativeMultiDeviceUnmatchedFunc,
		    cooperative_multi_device_unmatched_grid_dim,
		    cooperativeMultiDeviceUnmatchedGridDim,
		    cooperative_multi_device_unmatched_block_dim,
		    cooperativeMultiDeviceUnmatchedBlockDim,
		    cooperative_multi_device_unmatched_shared_mem,
		    cooperativeMultiDeviceUnmatchedSharedMem);
	SAME_FIELDS(struct ts_hip_device_prop_r0000, properties, is_large_bar, isLargeBar,
		    asic_revision, asicRevision, managed_memory, managedMemory,
		    direct_managed_mem_access_from_host, directManagedMemAccessFromHost,
		    concurrent_managed_access, concurrentManagedAccess, pageable_memory_access,
		    pageableMemoryAccess, pageable_memory_access_uses_host_page_tables,
		    pageableMemoryAccessUsesHostPageTables);
}

#if VERSION >= 602
TS_TEST(values_of_6)
{
#define CHECK(suffix, value, name) SAME(TS_HIP_DEVICE_ATTRIBUTE_##suffix, name);
	TS_HIP_DEVICE_ATTRIBUTES(CHECK)
#undef CHECK
	SAME(TS_HIP_STREAM_LEGACY, hipStreamLegacy);
	SAME(TS_HIP_EVENT_DISABLE_SYSTEM_FENCE, hipEventDisableSystemFence);
	SAME(TS_HIP_MEMCPY_DEVICE_TO_DEVICE_NO_CU, hipMemcpyDeviceToDeviceNoCU);
	SAME(TS_HIP_MEMORY_TYPE_UNREGISTERED, hipMemoryTypeUnregistered);
	SAME(TS_HIP_MEMORY_TYPE_HOST, hipMemoryTypeHost);
	SAME(TS_HIP_MEMORY_TYPE_DEVICE, hipMemoryTypeDevice);
	SAME(TS_HIP_MEMORY_TYPE_MANAGED, hipMemoryTypeManaged);
	SAME(TS_HIP_MEMORY_TYPE_ARRAY, hipMemoryTypeArray);
	SAME(TS_HIP_MEMORY_TYPE_UNIFIED, hipMemoryTypeUnified);
	SAME(TS_HIP_LIMIT_STACK_SIZE, hipLimitStackSize);
}

TS_TEST(layouts_of_6)
{
	SAME_SIZE(struct ts_hip_drv_memcpy3d, HIP_MEMCPY3D);
	SAME_FIELDS(struct ts_hip_drv_memcpy3d, HIP_MEMCPY3D, src_x_in_bytes, srcXInBytes, src_y,
		    srcY, src_z, srcZ, src_lod, srcLOD, src_memory_type, srcMemoryType, src_host,
		    srcHost, src_device, srcDevice, src_array, srcArray, src_pitch, srcPitch,
		    src_height, srcHeight, dst_x_in_bytes, dstXInBytes, dst_y, dstY);
	SAME_FIELDS(struct ts_hip_drv_memcpy3d, HIP_MEMCPY3D, dst_z, dstZ, dst_lod, dstLOD,
		    dst_memory_type, dstMemoryType, dst_host, dstHost, dst_device, dstDevice,
		    dst_array, dstArray, dst_pitch, dstPitch, dst_height, dstHeight, width_in_bytes,
		    WidthInBytes, height, Height, depth, Depth);
	SAME_SIZE(struct ts_hip_pointer_attributes, hipPointerAttribute_t);
	SAME_FIELDS(struct ts_hip_pointer_attributes, hipPointerAttribute_t, type, type, device,
		    device, device_pointer, devicePointer, host_pointer, hostPointer, is_managed,
		    isManaged, allocation_flags, allocationFlags);
	SAME_SIZE(struct ts_hip_function_launch_params, hipFunctionLaunchParams);
	SAME_FIELDS(struct ts_hip_function_launch_params, hipFunctionLaunchParams, function,
		    function, grid_dim_x, gridDimX, grid_dim_y, gridDimY, grid_dim_z, gridDimZ,
		    block_dim_x, blockDimX, block_dim_y, blockDimY, block_dim_z, blockDimZ,
		    shared_mem_bytes, sharedMemBytes, stream, hStream, kernel_params, kernelParams);
	SAME_SIZE(struct ts_hip_mem_pool_props, hipMemPoolProps);
	SAME_FIELDS(struct ts_hip_mem_pool_props, hipMemPoolProps, alloc_type, allocType,
		    handle_types, handleTypes, location, location, win32_security_attributes,
		    win32SecurityAttributes, max_size, maxSize, reserved, reserved);
	SAME_SIZE(struct ts_hip_mem_allocation_prop, hipMemAllocationProp);
	SAME_FIELDS(struct ts_hip_mem_allocation_prop, hipMemAllocationProp, type, type,
		    requested_handle_type, requestedHandleType, location, location,
		    win32_handle_meta_data, win32HandleMetaData, alloc_flags.compression_type,
		    allocFlags.compressionType, alloc_flags.gpu_direct_rdma_capable,
		    allocFlags.gpuDirectRDMACapable, alloc_flags.usage, allocFlags.usage);
	SAME_SIZE(struct ts_hip_mem_alloc_node_params, hipMemAllocNodeParams);
	SAME_FIELDS(struct ts_hip_mem_alloc_node_params, hipMemAllocNodeParams, pool_props,
		    poolProps, access_descs, accessDescs, access_desc_count, accessDescCount,
		    bytesize, bytesize, dptr, dptr);
	SAME_SIZE(struct ts_hip_device_prop_r0600, hipDeviceProp_tR0600);
	SAME_FIELDS(struct ts_hip_device_prop_r0600, hipDeviceProp_tR0600, name, name, uuid, uuid,
		    luid, luid, luid_device_node_mask, luidDeviceNodeMask, total_global_mem,
		    totalGlobalMem, shared_mem_per_block, sharedMemPerBlock, regs_per_block,
		    regsPerBlock, warp_size, warpSize, mem_pitch, memPitch, max_threads_per_block,
		    maxThreadsPerBlock, max_threads_dim, maxThreadsDim, max_grid_size, maxGridSize);
	SAME_FIELDS(struct ts_hip_device_prop_r0600, hipDeviceProp_tR0600, clock_rate, clockRate,
		    total_const_mem, totalConstMem, major, major, minor, minor, texture_alignment,
		    textureAlignment, texture_pitch_alignment, texturePitchAlignment,
		    device_overlap, deviceOverlap, multi_processor_count, multiProcessorCount,
		    kernel_exec_timeout_enabled, kernelExecTimeoutEnabled, integrated, integrated,
		    can_map_host_memory, canMapHostMemory, compute_mode, computeMode);
	SAME_FIELDS(struct ts_hip_device_prop_r0600, hipDeviceProp_tR0600, max_texture_1d,
		    maxTexture1D, max_texture_1d_mipmap, maxTexture1DMipmap, max_texture_1d_linear,
		    maxTexture1DLinear, max_texture_2d, maxTexture2D, max_texture_2d_mipmap,
		    maxTexture2DMipmap, max_texture_2d_linear, maxTexture2DLinear,
		    max_texture_2d_gather, maxTexture2DGather, max_texture_3d, maxTexture3D,
		    max_texture_3d_alt, maxTexture3DAlt, max_texture_cubemap, maxTextureCubemap,
		    max_texture_1d_layered, maxTexture1DLayered, max_texture_2d_layered,
		    maxTexture2DLayered);
	SAME_FIELDS(struct ts_hip_device_prop_r0600, hipDeviceProp_tR0600,
		    max_texture_cubemap_layered, maxTextureCubemapLayered, max_surface_1d,
		    maxSurface1D, max_surface_2d, maxSurface2D, max_surface_3d, maxSurface3D,
		    max_surface_1d_layered, maxSurface1DLayered, max_surface_2d_layered,
		    maxSurface2DLayered, max_surface_cubemap, maxSurfaceCubemap,
		    max_surface_cubemap_layered, maxSurfaceCubemapLayered, surface_alignment,
		    surfaceAlignment, concurrent_kernels, concurrentKernels, ecc_enabled,
		    ECCEnabled, pci_bus_id, pciBusID);
	SAME_FIELDS(struct ts_hip_device_prop_r0600, hipDeviceProp_tR0600, pci_device_id,
		    pciDeviceID, pci_domain_id, pciDomainID, tcc_driver, tccDriver,
		    async_engine_count, asyncEngineCount, unified_addressing, unifiedAddressing,
		    memory_clock_rate, memoryClockRate, memory_bus_width, memoryBusWidth,
		    l2_cache_size, l2CacheSize, persisting_l2_cache_max_size,
		    persistingL2CacheMaxSize, max_threads_per_multi_processor,
		    maxThreadsPerMultiProcessor, stream_priorities_supported,
		    streamPrioritiesSupported, global_l1_cache_supported, globalL1CacheSupported);
	SAME_FIELDS(struct ts_hip_device_prop_r0600, hipDeviceProp_tR0600, local_l1_cache_supported,
		    localL1CacheSupported, shared_mem_per_multiprocessor,
		    sharedMemPerMultiprocessor, regs_per_multiprocessor, regsPerMultiprocessor,
		    managed_memory, managedMemory, is_multi_gpu_board, isMultiGpuBoard,
		    multi_gpu_board_group_id, multiGpuBoardGroupID, host_native_atomic_supported,
		    hostNativeAtomicSupported, single_to_double_precision_perf_ratio,
		    singleToDoublePrecisionPerfRatio, pageable_memory_access, pageableMemoryAccess,
		    concurrent_managed_access, concurrentManagedAccess,
		    compute_preemption_supported, computePreemptionSupported,
		    can_use_host_pointer_for_registered_mem, canUseHostPointerForRegisteredMem);
	SAME_FIELDS(struct ts_hip_device_prop_r0600, hipDeviceProp_tR0600, cooperative_launch,
		    cooperativeLaunch, cooperative_multi_device_launch,
		    cooperativeMultiDeviceLaunch, shared_mem_per_block_optin,
		    sharedMemPerBlockOptin, pageable_memory_access_uses_host_page_tables,
		    pageableMemoryAccessUsesHostPageTables, direct_managed_mem_access_from_host,
		    directManagedMemAccessFromHost, max_blocks_per_multi_processor,
		    maxBlocksPerMultiProcessor, access_policy_max_window_size,
		    accessPolicyMaxWindowSize, reserved_shared_mem_per_block,
		    reservedSharedMemPerBlock, host_register_supported, hostRegisterSupported,
		    sparse_hip_array_supported, sparseHipArraySupported,
		    host_register_read_only_supported, hostRegisterReadOnlySupported,
		    timeline_semaphore_interop_supported, timelineSemaphoreInteropSupported);
	SAME_FIELDS(struct ts_hip_device_prop_r0600, hipDeviceProp_tR0600, memory_pools_supported,
		    memoryPoolsSupported, gpu_direct_rdma_supported, gpuDirectRDMASupported,
		    gpu_direct_rdma_flush_writes_options, gpuDirectRDMAFlushWritesOptions,
		    gpu_direct_rdma_writes_ordering, gpuDirectRDMAWritesOrdering,
		    memory_pool_supported_handle_types, memoryPoolSupportedHandleTypes,
		    deferred_mapping_hip_array_supported, deferredMappingHipArraySupported,
		    ipc_event_supported, ipcEventSupported, cluster_launch, clusterLaunch,
		    unified_function_pointers, unifiedFunctionPointers, reserved, reserved,
		    hip_reserved, hipReserved, gcn_arch_name, gcnArchName);
	SAME_FIELDS(struct ts_hip_device_prop_r0600, hipDeviceProp_tR0600,
		    max_shared_memory_per_multi_processor, maxSharedMemoryPerMultiProcessor,
		    clock_instruction_rate, clockInstructionRate, arch, arch, hdp_mem_flush_cntl,
		    hdpMemFlushCntl, hdp_reg_flush_cntl, hdpRegFlushCntl,
		    cooperative_multi_device_unmatched_func, cooperativeMultiDeviceUnmatchedFunc,
		    cooperative_multi_device_unmatched_grid_dim,
		    cooperativeMultiDeviceUnmatchedGridDim,
		    cooperative_multi_device_unmatched_block_dim,
		    cooperativeMultiDeviceUnmatchedBlockDim,
		    cooperative_multi_device_unmatched_shared_mem,
		    cooperativeMultiDeviceUnmatchedSharedMem, is_large_bar, isLargeBar,
		    asic_revision, asicRevision);
}
#endif
