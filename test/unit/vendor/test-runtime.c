// SPDX-License-Identifier: Apache-2.0
/*
 * Our declarations of the runtime API, compared with NVIDIA's header. Each line names one of our
 * declarations and the vendor's; check-coverage.py fails if one of ours has no line.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "proto/abi/vendor/cuda_runtime.h"
#include "test/unit/harness.h"
#include "test/unit/vendor/same.h"

TS_TEST(values)
{
#define CHECK(suffix, value, name, text) SAME(TS_CUDA_##suffix, name);
	TS_CUDA_ERRORS(CHECK)
#undef CHECK
	SAME_AS(CUDART_VERSION);
	SAME(TS_CUDA_MEMCPY_HOST_TO_HOST, cudaMemcpyHostToHost);
	SAME(TS_CUDA_MEMCPY_HOST_TO_DEVICE, cudaMemcpyHostToDevice);
	SAME(TS_CUDA_MEMCPY_DEVICE_TO_HOST, cudaMemcpyDeviceToHost);
	SAME(TS_CUDA_MEMCPY_DEVICE_TO_DEVICE, cudaMemcpyDeviceToDevice);
	SAME(TS_CUDA_MEMCPY_DEFAULT, cudaMemcpyDefault);
	SAME(TS_CUDA_STREAM_LEGACY, cudaStreamLegacy);
	SAME(TS_CUDA_STREAM_PER_THREAD, cudaStreamPerThread);
	SAME(TS_CUDA_STREAM_DEFAULT, cudaStreamDefault);
	SAME(TS_CUDA_STREAM_NON_BLOCKING, cudaStreamNonBlocking);
	SAME(TS_CUDA_EVENT_DEFAULT, cudaEventDefault);
	SAME(TS_CUDA_EVENT_BLOCKING_SYNC, cudaEventBlockingSync);
	SAME(TS_CUDA_EVENT_DISABLE_TIMING, cudaEventDisableTiming);
	SAME(TS_CUDA_EVENT_INTERPROCESS, cudaEventInterprocess);
	SAME(TS_CUDA_EVENT_RECORD_DEFAULT, cudaEventRecordDefault);
	SAME(TS_CUDA_EVENT_RECORD_EXTERNAL, cudaEventRecordExternal);
	SAME(TS_CUDA_EVENT_WAIT_DEFAULT, cudaEventWaitDefault);
	SAME(TS_CUDA_EVENT_WAIT_EXTERNAL, cudaEventWaitExternal);
	SAME(TS_CUDA_HOST_ALLOC_DEFAULT, cudaHostAllocDefault);
	SAME(TS_CUDA_HOST_ALLOC_PORTABLE, cudaHostAllocPortable);
	SAME(TS_CUDA_HOST_ALLOC_MAPPED, cudaHostAllocMapped);
	SAME(TS_CUDA_HOST_ALLOC_WRITE_COMBINED, cudaHostAllocWriteCombined);
	SAME(TS_CUDA_HOST_REGISTER_DEFAULT, cudaHostRegisterDefault);
	SAME(TS_CUDA_HOST_REGISTER_PORTABLE, cudaHostRegisterPortable);
	SAME(TS_CUDA_HOST_REGISTER_MAPPED, cudaHostRegisterMapped);
	SAME(TS_CUDA_HOST_REGISTER_IO_MEMORY, cudaHostRegisterIoMemory);
	SAME(TS_CUDA_HOST_REGISTER_READ_ONLY, cudaHostRegisterReadOnly);
	SAME(TS_CUDA_MEM_ATTACH_GLOBAL, cudaMemAttachGlobal);
	SAME(TS_CUDA_MEM_ATTACH_HOST, cudaMemAttachHost);
	SAME(TS_CUDA_MEM_ATTACH_SINGLE, cudaMemAttachSingle);
	SAME(TS_CUDA_DEVICE_SCHEDULE_AUTO, cudaDeviceScheduleAuto);
	SAME(TS_CUDA_DEVICE_SCHEDULE_SPIN, cudaDeviceScheduleSpin);
	SAME(TS_CUDA_DEVICE_SCHEDULE_YIELD, cudaDeviceScheduleYield);
	SAME(TS_CUDA_DEVICE_SCHEDULE_BLOCKING_SYNC, cudaDeviceScheduleBlockingSync);
	SAME(TS_CUDA_DEVICE_SCHEDULE_MASK, cudaDeviceScheduleMask);
	SAME(TS_CUDA_DEVICE_MAP_HOST, cudaDeviceMapHost);
	SAME(TS_CUDA_DEVICE_LMEM_RESIZE_TO_MAX, cudaDeviceLmemResizeToMax);
	SAME(TS_CUDA_DEVICE_SYNC_MEMOPS, cudaDeviceSyncMemops);
	SAME(TS_CUDA_CPU_DEVICE_ID, cudaCpuDeviceId);
	SAME(TS_CUDA_INVALID_DEVICE_ID, cudaInvalidDeviceId);
	SAME(TS_CUDA_OCCUPANCY_DEFAULT, cudaOccupancyDefault);
	SAME(TS_CUDA_OCCUPANCY_DISABLE_CACHING_OVERRIDE, cudaOccupancyDisableCachingOverride);
	SAME(TS_CUDA_MEMORY_TYPE_UNREGISTERED, cudaMemoryTypeUnregistered);
	SAME(TS_CUDA_MEMORY_TYPE_HOST, cudaMemoryTypeHost);
	SAME(TS_CUDA_MEMORY_TYPE_DEVICE, cudaMemoryTypeDevice);
	SAME(TS_CUDA_MEMORY_TYPE_MANAGED, cudaMemoryTypeManaged);
	SAME(TS_CUDA_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_MEMORY_SIZE,
	     cudaFuncAttributeMaxDynamicSharedMemorySize);
	SAME(TS_CUDA_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
	     cudaFuncAttributePreferredSharedMemoryCarveout);
	SAME(TS_CUDA_FUNC_ATTRIBUTE_CLUSTER_DIM_MUST_BE_SET, cudaFuncAttributeClusterDimMustBeSet);
	SAME(TS_CUDA_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, cudaFuncAttributeRequiredClusterWidth);
	SAME(TS_CUDA_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
	     cudaFuncAttributeRequiredClusterHeight);
	SAME(TS_CUDA_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, cudaFuncAttributeRequiredClusterDepth);
	SAME(TS_CUDA_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
	     cudaFuncAttributeNonPortableClusterSizeAllowed);
	SAME(TS_CUDA_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
	     cudaFuncAttributeClusterSchedulingPolicyPreference);
	SAME(TS_CUDA_FUNC_CACHE_PREFER_NONE, cudaFuncCachePreferNone);
	SAME(TS_CUDA_FUNC_CACHE_PREFER_SHARED, cudaFuncCachePreferShared);
	SAME(TS_CUDA_FUNC_CACHE_PREFER_L1, cudaFuncCachePreferL1);
	SAME(TS_CUDA_FUNC_CACHE_PREFER_EQUAL, cudaFuncCachePreferEqual);
	SAME(TS_CUDA_LIMIT_STACK_SIZE, cudaLimitStackSize);
	SAME(TS_CUDA_LIMIT_PRINTF_FIFO_SIZE, cudaLimitPrintfFifoSize);
	SAME(TS_CUDA_LIMIT_MALLOC_HEAP_SIZE, cudaLimitMallocHeapSize);
	SAME(TS_CUDA_LIMIT_DEV_RUNTIME_SYNC_DEPTH, cudaLimitDevRuntimeSyncDepth);
	SAME(TS_CUDA_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, cudaLimitDevRuntimePendingLaunchCount);
	SAME(TS_CUDA_LIMIT_MAX_L2_FETCH_GRANULARITY, cudaLimitMaxL2FetchGranularity);
	SAME(TS_CUDA_LIMIT_PERSISTING_L2_CACHE_SIZE, cudaLimitPersistingL2CacheSize);
	SAME(TS_CUDA_COMPUTE_MODE_DEFAULT, cudaComputeModeDefault);
	SAME(TS_CUDA_COMPUTE_MODE_EXCLUSIVE, cudaComputeModeExclusive);
	SAME(TS_CUDA_COMPUTE_MODE_PROHIBITED, cudaComputeModeProhibited);
	SAME(TS_CUDA_COMPUTE_MODE_EXCLUSIVE_PROCESS, cudaComputeModeExclusiveProcess);
	SAME(TS_CUDA_STREAM_CAPTURE_MODE_GLOBAL, cudaStreamCaptureModeGlobal);
	SAME(TS_CUDA_STREAM_CAPTURE_MODE_THREAD_LOCAL, cudaStreamCaptureModeThreadLocal);
	SAME(TS_CUDA_STREAM_CAPTURE_MODE_RELAXED, cudaStreamCaptureModeRelaxed);
	SAME(TS_CUDA_STREAM_CAPTURE_STATUS_NONE, cudaStreamCaptureStatusNone);
	SAME(TS_CUDA_STREAM_CAPTURE_STATUS_ACTIVE, cudaStreamCaptureStatusActive);
	SAME(TS_CUDA_STREAM_CAPTURE_STATUS_INVALIDATED, cudaStreamCaptureStatusInvalidated);
	SAME(TS_CUDA_ENABLE_DEFAULT, cudaEnableDefault);
	SAME(TS_CUDA_ENABLE_LEGACY_STREAM, cudaEnableLegacyStream);
	SAME(TS_CUDA_ENABLE_PER_THREAD_DEFAULT_STREAM, cudaEnablePerThreadDefaultStream);
	SAME(TS_CUDA_DRIVER_ENTRY_POINT_SUCCESS, cudaDriverEntryPointSuccess);
	SAME(TS_CUDA_DRIVER_ENTRY_POINT_SYMBOL_NOT_FOUND, cudaDriverEntryPointSymbolNotFound);
	SAME(TS_CUDA_DRIVER_ENTRY_POINT_VERSION_NOT_SUFFICENT,
	     cudaDriverEntryPointVersionNotSufficent);
	SAME(TS_CUDA_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES,
	     cudaMemPoolReuseFollowEventDependencies);
	SAME(TS_CUDA_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, cudaMemPoolReuseAllowOpportunistic);
	SAME(TS_CUDA_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES,
	     cudaMemPoolReuseAllowInternalDependencies);
	SAME(TS_CUDA_MEM_POOL_ATTR_RELEASE_THRESHOLD, cudaMemPoolAttrReleaseThreshold);
	SAME(TS_CUDA_MEM_POOL_ATTR_RESERVED_MEM_CURRENT, cudaMemPoolAttrReservedMemCurrent);
	SAME(TS_CUDA_MEM_POOL_ATTR_RESERVED_MEM_HIGH, cudaMemPoolAttrReservedMemHigh);
	SAME(TS_CUDA_MEM_POOL_ATTR_USED_MEM_CURRENT, cudaMemPoolAttrUsedMemCurrent);
	SAME(TS_CUDA_MEM_POOL_ATTR_USED_MEM_HIGH, cudaMemPoolAttrUsedMemHigh);
	SAME(TS_CUDA_MEM_LOCATION_TYPE_INVALID, cudaMemLocationTypeInvalid);
	SAME(TS_CUDA_MEM_LOCATION_TYPE_NONE, cudaMemLocationTypeNone);
	SAME(TS_CUDA_MEM_LOCATION_TYPE_DEVICE, cudaMemLocationTypeDevice);
	SAME(TS_CUDA_MEM_LOCATION_TYPE_HOST, cudaMemLocationTypeHost);
	SAME(TS_CUDA_MEM_LOCATION_TYPE_HOST_NUMA, cudaMemLocationTypeHostNuma);
	SAME(TS_CUDA_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, cudaMemLocationTypeHostNumaCurrent);
	SAME(TS_CUDA_MEM_ALLOCATION_TYPE_INVALID, cudaMemAllocationTypeInvalid);
	SAME(TS_CUDA_MEM_ALLOCATION_TYPE_PINNED, cudaMemAllocationTypePinned);
	SAME(TS_CUDA_MEM_ALLOCATION_TYPE_MANAGED, cudaMemAllocationTypeManaged);
	SAME(TS_CUDA_MEM_ADVISE_SET_READ_MOSTLY, cudaMemAdviseSetReadMostly);
	SAME(TS_CUDA_MEM_ADVISE_UNSET_READ_MOSTLY, cudaMemAdviseUnsetReadMostly);
	SAME(TS_CUDA_MEM_ADVISE_SET_PREFERRED_LOCATION, cudaMemAdviseSetPreferredLocation);
	SAME(TS_CUDA_MEM_ADVISE_UNSET_PREFERRED_LOCATION, cudaMemAdviseUnsetPreferredLocation);
	SAME(TS_CUDA_MEM_ADVISE_SET_ACCESSED_BY, cudaMemAdviseSetAccessedBy);
	SAME(TS_CUDA_MEM_ADVISE_UNSET_ACCESSED_BY, cudaMemAdviseUnsetAccessedBy);
	SAME(TS_CUDA_DEV_P2_P_ATTR_PERFORMANCE_RANK, cudaDevP2PAttrPerformanceRank);
	SAME(TS_CUDA_DEV_P2_P_ATTR_ACCESS_SUPPORTED, cudaDevP2PAttrAccessSupported);
	SAME(TS_CUDA_DEV_P2_P_ATTR_NATIVE_ATOMIC_SUPPORTED, cudaDevP2PAttrNativeAtomicSupported);
	SAME(TS_CUDA_DEV_P2_P_ATTR_CUDA_ARRAY_ACCESS_SUPPORTED,
	     cudaDevP2PAttrCudaArrayAccessSupported);
	SAME(TS_CUDA_DEV_P2_P_ATTR_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED,
	     cudaDevP2PAttrOnlyPartialNativeAtomicSupported);
	SAME(TS_CUDA_CHANNEL_FORMAT_KIND_SIGNED, cudaChannelFormatKindSigned);
	SAME(TS_CUDA_CHANNEL_FORMAT_KIND_UNSIGNED, cudaChannelFormatKindUnsigned);
	SAME(TS_CUDA_CHANNEL_FORMAT_KIND_FLOAT, cudaChannelFormatKindFloat);
	SAME(TS_CUDA_CHANNEL_FORMAT_KIND_NONE, cudaChannelFormatKindNone);
	SAME(TS_CUDA_CHANNEL_FORMAT_KIND_NV12, cudaChannelFormatKindNV12);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_IGNORE, cudaLaunchAttributeIgnore);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, cudaLaunchAttributeAccessPolicyWindow);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_COOPERATIVE, cudaLaunchAttributeCooperative);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
	     cudaLaunchAttributeSynchronizationPolicy);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, cudaLaunchAttributeClusterDimension);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
	     cudaLaunchAttributeClusterSchedulingPolicyPreference);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
	     cudaLaunchAttributeProgrammaticStreamSerialization);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, cudaLaunchAttributeProgrammaticEvent);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_PRIORITY, cudaLaunchAttributePriority);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, cudaLaunchAttributeMemSyncDomainMap);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, cudaLaunchAttributeMemSyncDomain);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
	     cudaLaunchAttributePreferredClusterDimension);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
	     cudaLaunchAttributeLaunchCompletionEvent);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
	     cudaLaunchAttributeDeviceUpdatableKernelNode);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
	     cudaLaunchAttributePreferredSharedMemoryCarveout);
	SAME(TS_CUDA_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
	     cudaLaunchAttributeNvlinkUtilCentricScheduling);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, cudaDevAttrMaxThreadsPerBlock);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, cudaDevAttrMaxBlockDimX);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, cudaDevAttrMaxBlockDimY);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, cudaDevAttrMaxBlockDimZ);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, cudaDevAttrMaxGridDimX);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, cudaDevAttrMaxGridDimY);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, cudaDevAttrMaxGridDimZ);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK,
	     cudaDevAttrMaxSharedMemoryPerBlock);
	SAME(TS_CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, cudaDevAttrTotalConstantMemory);
	SAME(TS_CU_DEVICE_ATTRIBUTE_WARP_SIZE, cudaDevAttrWarpSize);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_PITCH, cudaDevAttrMaxPitch);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, cudaDevAttrMaxRegistersPerBlock);
	SAME(TS_CU_DEVICE_ATTRIBUTE_CLOCK_RATE, cudaDevAttrClockRate);
	SAME(TS_CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, cudaDevAttrTextureAlignment);
	SAME(TS_CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, cudaDevAttrGpuOverlap);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, cudaDevAttrMultiProcessorCount);
	SAME(TS_CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, cudaDevAttrKernelExecTimeout);
	SAME(TS_CU_DEVICE_ATTRIBUTE_INTEGRATED, cudaDevAttrIntegrated);
	SAME(TS_CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, cudaDevAttrCanMapHostMemory);
	SAME(TS_CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, cudaDevAttrComputeMode);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, cudaDevAttrMaxTexture1DWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, cudaDevAttrMaxTexture2DWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, cudaDevAttrMaxTexture2DHeight);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, cudaDevAttrMaxTexture3DWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, cudaDevAttrMaxTexture3DHeight);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, cudaDevAttrMaxTexture3DDepth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
	     cudaDevAttrMaxTexture2DLayeredWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
	     cudaDevAttrMaxTexture2DLayeredHeight);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS,
	     cudaDevAttrMaxTexture2DLayeredLayers);
	SAME(TS_CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, cudaDevAttrSurfaceAlignment);
	SAME(TS_CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, cudaDevAttrConcurrentKernels);
	SAME(TS_CU_DEVICE_ATTRIBUTE_ECC_ENABLED, cudaDevAttrEccEnabled);
	SAME(TS_CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, cudaDevAttrPciBusId);
	SAME(TS_CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, cudaDevAttrPciDeviceId);
	SAME(TS_CU_DEVICE_ATTRIBUTE_TCC_DRIVER, cudaDevAttrTccDriver);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, cudaDevAttrMemoryClockRate);
	SAME(TS_CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, cudaDevAttrGlobalMemoryBusWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, cudaDevAttrL2CacheSize);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
	     cudaDevAttrMaxThreadsPerMultiProcessor);
	SAME(TS_CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, cudaDevAttrAsyncEngineCount);
	SAME(TS_CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, cudaDevAttrUnifiedAddressing);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH,
	     cudaDevAttrMaxTexture1DLayeredWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS,
	     cudaDevAttrMaxTexture1DLayeredLayers);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
	     cudaDevAttrMaxTexture2DGatherWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT,
	     cudaDevAttrMaxTexture2DGatherHeight);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE,
	     cudaDevAttrMaxTexture3DWidthAlt);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE,
	     cudaDevAttrMaxTexture3DHeightAlt);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE,
	     cudaDevAttrMaxTexture3DDepthAlt);
	SAME(TS_CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, cudaDevAttrPciDomainId);
	SAME(TS_CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, cudaDevAttrTexturePitchAlignment);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH,
	     cudaDevAttrMaxTextureCubemapWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
	     cudaDevAttrMaxTextureCubemapLayeredWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS,
	     cudaDevAttrMaxTextureCubemapLayeredLayers);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, cudaDevAttrMaxSurface1DWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, cudaDevAttrMaxSurface2DWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT, cudaDevAttrMaxSurface2DHeight);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, cudaDevAttrMaxSurface3DWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT, cudaDevAttrMaxSurface3DHeight);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH, cudaDevAttrMaxSurface3DDepth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH,
	     cudaDevAttrMaxSurface1DLayeredWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS,
	     cudaDevAttrMaxSurface1DLayeredLayers);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH,
	     cudaDevAttrMaxSurface2DLayeredWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT,
	     cudaDevAttrMaxSurface2DLayeredHeight);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS,
	     cudaDevAttrMaxSurface2DLayeredLayers);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH,
	     cudaDevAttrMaxSurfaceCubemapWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH,
	     cudaDevAttrMaxSurfaceCubemapLayeredWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS,
	     cudaDevAttrMaxSurfaceCubemapLayeredLayers);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH,
	     cudaDevAttrMaxTexture1DLinearWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH,
	     cudaDevAttrMaxTexture2DLinearWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT,
	     cudaDevAttrMaxTexture2DLinearHeight);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH,
	     cudaDevAttrMaxTexture2DLinearPitch);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH,
	     cudaDevAttrMaxTexture2DMipmappedWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT,
	     cudaDevAttrMaxTexture2DMipmappedHeight);
	SAME(TS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, cudaDevAttrComputeCapabilityMajor);
	SAME(TS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, cudaDevAttrComputeCapabilityMinor);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH,
	     cudaDevAttrMaxTexture1DMipmappedWidth);
	SAME(TS_CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED,
	     cudaDevAttrStreamPrioritiesSupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, cudaDevAttrGlobalL1CacheSupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, cudaDevAttrLocalL1CacheSupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
	     cudaDevAttrMaxSharedMemoryPerMultiprocessor);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR,
	     cudaDevAttrMaxRegistersPerMultiprocessor);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, cudaDevAttrManagedMemory);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD, cudaDevAttrIsMultiGpuBoard);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID, cudaDevAttrMultiGpuBoardGroupID);
	SAME(TS_CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED,
	     cudaDevAttrHostNativeAtomicSupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO,
	     cudaDevAttrSingleToDoublePrecisionPerfRatio);
	SAME(TS_CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, cudaDevAttrPageableMemoryAccess);
	SAME(TS_CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, cudaDevAttrConcurrentManagedAccess);
	SAME(TS_CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED,
	     cudaDevAttrComputePreemptionSupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
	     cudaDevAttrCanUseHostPointerForRegisteredMem);
	SAME(TS_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, cudaDevAttrCooperativeLaunch);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
	     cudaDevAttrMaxSharedMemoryPerBlockOptin);
	SAME(TS_CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, cudaDevAttrCanFlushRemoteWrites);
	SAME(TS_CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, cudaDevAttrHostRegisterSupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES,
	     cudaDevAttrPageableMemoryAccessUsesHostPageTables);
	SAME(TS_CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST,
	     cudaDevAttrDirectManagedMemAccessFromHost);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR,
	     cudaDevAttrMaxBlocksPerMultiprocessor);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE,
	     cudaDevAttrMaxPersistingL2CacheSize);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE,
	     cudaDevAttrMaxAccessPolicyWindowSize);
	SAME(TS_CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED,
	     cudaDevAttrSparseCudaArraySupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED,
	     cudaDevAttrHostRegisterReadOnlySupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED,
	     cudaDevAttrTimelineSemaphoreInteropSupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, cudaDevAttrMemoryPoolsSupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED, cudaDevAttrGPUDirectRDMASupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS,
	     cudaDevAttrGPUDirectRDMAFlushWritesOptions);
	SAME(TS_CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING,
	     cudaDevAttrGPUDirectRDMAWritesOrdering);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES,
	     cudaDevAttrMemoryPoolSupportedHandleTypes);
	SAME(TS_CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, cudaDevAttrClusterLaunch);
	SAME(TS_CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED,
	     cudaDevAttrDeferredMappingCudaArraySupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, cudaDevAttrIpcEventSupport);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, cudaDevAttrMemSyncDomainCount);
	SAME(TS_CU_DEVICE_ATTRIBUTE_NUMA_CONFIG, cudaDevAttrNumaConfig);
	SAME(TS_CU_DEVICE_ATTRIBUTE_NUMA_ID, cudaDevAttrNumaId);
	SAME(TS_CU_DEVICE_ATTRIBUTE_MPS_ENABLED, cudaDevAttrMpsEnabled);
	SAME(TS_CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, cudaDevAttrHostNumaId);
	SAME(TS_CU_DEVICE_ATTRIBUTE_D3D12_CIG_SUPPORTED, cudaDevAttrD3D12CigSupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_VULKAN_CIG_SUPPORTED, cudaDevAttrVulkanCigSupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID, cudaDevAttrGpuPciDeviceId);
	SAME(TS_CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID, cudaDevAttrGpuPciSubsystemId);
	SAME(TS_CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED,
	     cudaDevAttrHostNumaMemoryPoolsSupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED,
	     cudaDevAttrHostNumaMultinodeIpcSupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED,
	     cudaDevAttrHostMemoryPoolsSupported);
	SAME(TS_CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED,
	     cudaDevAttrOnlyPartialHostNativeAtomicSupported);
}

TS_TEST(layouts)
{
	SAME_SIZE(struct ts_cuda_dim3, struct dim3);
	SAME_FIELDS(struct ts_cuda_dim3, struct dim3, x, x, y, y, z, z);
	SAME_SIZE(struct ts_cuda_extent, struct cudaExtent);
	SAME_FIELDS(struct ts_cuda_extent, struct cudaExtent, width, width, height, height, depth,
		    depth);
	SAME_SIZE(struct ts_cuda_pos, struct cudaPos);
	SAME_FIELDS(struct ts_cuda_pos, struct cudaPos, x, x, y, y, z, z);
	SAME_SIZE(struct ts_cuda_pitched_ptr, struct cudaPitchedPtr);
	SAME_FIELDS(struct ts_cuda_pitched_ptr, struct cudaPitchedPtr, ptr, ptr, pitch, pitch,
		    xsize, xsize, ysize, ysize);
	SAME_SIZE(struct ts_cuda_memcpy_3d_parms, struct cudaMemcpy3DParms);
	SAME_FIELDS(struct ts_cuda_memcpy_3d_parms, struct cudaMemcpy3DParms, src_array, srcArray,
		    src_pos, srcPos, src_ptr, srcPtr, dst_array, dstArray, dst_pos, dstPos, dst_ptr,
		    dstPtr, extent, extent, kind, kind);
	SAME_SIZE(struct ts_cuda_memcpy_3d_peer_parms, struct cudaMemcpy3DPeerParms);
	SAME_FIELDS(struct ts_cuda_memcpy_3d_peer_parms, struct cudaMemcpy3DPeerParms, src_array,
		    srcArray, src_pos, srcPos, src_ptr, srcPtr, src_device, srcDevice, dst_array,
		    dstArray, dst_pos, dstPos, dst_ptr, dstPtr, dst_device, dstDevice, extent,
		    extent);
	SAME_SIZE(struct ts_cuda_channel_format_desc, struct cudaChannelFormatDesc);
	SAME_FIELDS(struct ts_cuda_channel_format_desc, struct cudaChannelFormatDesc, x, x, y, y, z,
		    z, w, w, f, f);
	SAME_SIZE(struct ts_cuda_launch_config, cudaLaunchConfig_t);
	SAME_FIELDS(struct ts_cuda_launch_config, cudaLaunchConfig_t, grid_dim, gridDim, block_dim,
		    blockDim, dynamic_smem_bytes, dynamicSmemBytes, stream, stream, attrs, attrs,
		    num_attrs, numAttrs);
	SAME_SIZE(struct ts_cuda_func_attributes, struct cudaFuncAttributes);
	SAME_FIELDS(struct ts_cuda_func_attributes, struct cudaFuncAttributes, shared_size_bytes,
		    sharedSizeBytes, const_size_bytes, constSizeBytes, local_size_bytes,
		    localSizeBytes, max_threads_per_block, maxThreadsPerBlock, num_regs, numRegs,
		    ptx_version, ptxVersion, binary_version, binaryVersion, cache_mode_ca,
		    cacheModeCA, max_dynamic_shared_size_bytes, maxDynamicSharedSizeBytes,
		    preferred_shmem_carveout, preferredShmemCarveout, cluster_dim_must_be_set,
		    clusterDimMustBeSet, required_cluster_width, requiredClusterWidth,
		    required_cluster_height, requiredClusterHeight, required_cluster_depth,
		    requiredClusterDepth, cluster_scheduling_policy_preference,
		    clusterSchedulingPolicyPreference, non_portable_cluster_size_allowed,
		    nonPortableClusterSizeAllowed);
	SAME_FIELDS(struct ts_cuda_func_attributes, struct cudaFuncAttributes, reserved, reserved);
	SAME_SIZE(struct ts_cuda_pointer_attributes, struct cudaPointerAttributes);
	SAME_FIELDS(struct ts_cuda_pointer_attributes, struct cudaPointerAttributes, type, type,
		    device, device, device_pointer, devicePointer, host_pointer, hostPointer,
		    reserved, reserved);
	SAME_SIZE(struct ts_cuda_device_prop, struct cudaDeviceProp);
	SAME_FIELDS(struct ts_cuda_device_prop, struct cudaDeviceProp, name, name, uuid, uuid, luid,
		    luid, luid_device_node_mask, luidDeviceNodeMask, total_global_mem,
		    totalGlobalMem, shared_mem_per_block, sharedMemPerBlock, regs_per_block,
		    regsPerBlock, warp_size, warpSize, mem_pitch, memPitch, max_threads_per_block,
		    maxThreadsPerBlock, max_threads_dim, maxThreadsDim, max_grid_size, maxGridSize,
		    total_const_mem, totalConstMem, major, major, minor, minor, texture_alignment,
		    textureAlignment);
	SAME_FIELDS(struct ts_cuda_device_prop, struct cudaDeviceProp, texture_pitch_alignment,
		    texturePitchAlignment, multi_processor_count, multiProcessorCount, integrated,
		    integrated, can_map_host_memory, canMapHostMemory, max_texture1d, maxTexture1D,
		    max_texture1d_mipmap, maxTexture1DMipmap, max_texture2d, maxTexture2D,
		    max_texture2d_mipmap, maxTexture2DMipmap, max_texture2d_linear,
		    maxTexture2DLinear, max_texture2d_gather, maxTexture2DGather, max_texture3d,
		    maxTexture3D, max_texture3d_alt, maxTexture3DAlt, max_texture_cubemap,
		    maxTextureCubemap, max_texture1d_layered, maxTexture1DLayered,
		    max_texture2d_layered, maxTexture2DLayered, max_texture_cubemap_layered,
		    maxTextureCubemapLayered);
	SAME_FIELDS(struct ts_cuda_device_prop, struct cudaDeviceProp, max_surface1d, maxSurface1D,
		    max_surface2d, maxSurface2D, max_surface3d, maxSurface3D, max_surface1d_layered,
		    maxSurface1DLayered, max_surface2d_layered, maxSurface2DLayered,
		    max_surface_cubemap, maxSurfaceCubemap, max_surface_cubemap_layered,
		    maxSurfaceCubemapLayered, surface_alignment, surfaceAlignment,
		    concurrent_kernels, concurrentKernels, ecc_enabled, ECCEnabled, pci_bus_id,
		    pciBusID, pci_device_id, pciDeviceID, pci_domain_id, pciDomainID, tcc_driver,
		    tccDriver, async_engine_count, asyncEngineCount, unified_addressing,
		    unifiedAddressing);
	SAME_FIELDS(struct ts_cuda_device_prop, struct cudaDeviceProp, memory_bus_width,
		    memoryBusWidth, l2_cache_size, l2CacheSize, persisting_l2_cache_max_size,
		    persistingL2CacheMaxSize, max_threads_per_multi_processor,
		    maxThreadsPerMultiProcessor, stream_priorities_supported,
		    streamPrioritiesSupported, global_l1_cache_supported, globalL1CacheSupported,
		    local_l1_cache_supported, localL1CacheSupported, shared_mem_per_multiprocessor,
		    sharedMemPerMultiprocessor, regs_per_multiprocessor, regsPerMultiprocessor,
		    managed_memory, managedMemory, is_multi_gpu_board, isMultiGpuBoard,
		    multi_gpu_board_group_id, multiGpuBoardGroupID, host_native_atomic_supported,
		    hostNativeAtomicSupported, pageable_memory_access, pageableMemoryAccess,
		    concurrent_managed_access, concurrentManagedAccess,
		    compute_preemption_supported, computePreemptionSupported);
	SAME_FIELDS(struct ts_cuda_device_prop, struct cudaDeviceProp,
		    can_use_host_pointer_for_registered_mem, canUseHostPointerForRegisteredMem,
		    cooperative_launch, cooperativeLaunch, shared_mem_per_block_optin,
		    sharedMemPerBlockOptin, pageable_memory_access_uses_host_page_tables,
		    pageableMemoryAccessUsesHostPageTables, direct_managed_mem_access_from_host,
		    directManagedMemAccessFromHost, max_blocks_per_multi_processor,
		    maxBlocksPerMultiProcessor, access_policy_max_window_size,
		    accessPolicyMaxWindowSize, reserved_shared_mem_per_block,
		    reservedSharedMemPerBlock, host_register_supported, hostRegisterSupported,
		    sparse_cuda_array_supported, sparseCudaArraySupported,
		    host_register_read_only_supported, hostRegisterReadOnlySupported,
		    timeline_semaphore_interop_supported, timelineSemaphoreInteropSupported,
		    memory_pools_supported, memoryPoolsSupported, gpu_direct_rdma_supported,
		    gpuDirectRDMASupported, gpu_direct_rdma_flush_writes_options,
		    gpuDirectRDMAFlushWritesOptions, gpu_direct_rdma_writes_ordering,
		    gpuDirectRDMAWritesOrdering);
	SAME_FIELDS(struct ts_cuda_device_prop, struct cudaDeviceProp,
		    memory_pool_supported_handle_types, memoryPoolSupportedHandleTypes,
		    deferred_mapping_cuda_array_supported, deferredMappingCudaArraySupported,
		    ipc_event_supported, ipcEventSupported, cluster_launch, clusterLaunch,
		    unified_function_pointers, unifiedFunctionPointers, device_numa_config,
		    deviceNumaConfig, device_numa_id, deviceNumaId, mps_enabled, mpsEnabled,
		    host_numa_id, hostNumaId, gpu_pci_device_id, gpuPciDeviceID,
		    gpu_pci_subsystem_id, gpuPciSubsystemID, host_numa_multinode_ipc_supported,
		    hostNumaMultinodeIpcSupported, reserved, reserved);
}
