/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of HIP's numbers with their names: errors and device attributes. hip.h includes this file;
 * its reading rules apply.
 */
#pragma once

/*
 * Errors: X(suffix of TS_HIP_, value, the vendor's name, text). hipGetErrorName returns the name,
 * hipGetErrorString the text; both return those of UNKNOWN for other values.
 */
#define TS_HIP_ERRORS(X)                                                                                                                     \
	X(SUCCESS, 0, hipSuccess, "no error")                                                                                                \
	X(ERROR_INVALID_VALUE, 1, hipErrorInvalidValue, "invalid argument")                                                                  \
	X(ERROR_OUT_OF_MEMORY, 2, hipErrorOutOfMemory, "out of memory")                                                                      \
	X(ERROR_NOT_INITIALIZED, 3, hipErrorNotInitialized, "initialization error")                                                          \
	X(ERROR_DEINITIALIZED, 4, hipErrorDeinitialized, "driver shutting down")                                                             \
	X(ERROR_PROFILER_DISABLED, 5, hipErrorProfilerDisabled,                                                                              \
	  "profiler disabled while using external profiling tool")                                                                           \
	X(ERROR_PROFILER_NOT_INITIALIZED, 6, hipErrorProfilerNotInitialized,                                                                 \
	  "profiler is not initialized")                                                                                                     \
	X(ERROR_PROFILER_ALREADY_STARTED, 7, hipErrorProfilerAlreadyStarted,                                                                 \
	  "profiler already started")                                                                                                        \
	X(ERROR_PROFILER_ALREADY_STOPPED, 8, hipErrorProfilerAlreadyStopped,                                                                 \
	  "profiler already stopped")                                                                                                        \
	X(ERROR_INVALID_CONFIGURATION, 9, hipErrorInvalidConfiguration,                                                                      \
	  "invalid configuration argument")                                                                                                  \
	X(ERROR_INVALID_PITCH_VALUE, 12, hipErrorInvalidPitchValue, "invalid pitch argument")                                                \
	X(ERROR_INVALID_SYMBOL, 13, hipErrorInvalidSymbol, "invalid device symbol")                                                          \
	X(ERROR_INVALID_DEVICE_POINTER, 17, hipErrorInvalidDevicePointer,                                                                    \
	  "invalid device pointer")                                                                                                          \
	X(ERROR_INVALID_MEMCPY_DIRECTION, 21, hipErrorInvalidMemcpyDirection,                                                                \
	  "invalid copy direction for memcpy")                                                                                               \
	X(ERROR_INSUFFICIENT_DRIVER, 35, hipErrorInsufficientDriver,                                                                         \
	  "driver version is insufficient for runtime version")                                                                              \
	X(ERROR_MISSING_CONFIGURATION, 52, hipErrorMissingConfiguration,                                                                     \
	  "__global__ function call is not configured")                                                                                      \
	X(ERROR_PRIOR_LAUNCH_FAILURE, 53, hipErrorPriorLaunchFailure,                                                                        \
	  "unspecified launch failure in prior launch")                                                                                      \
	X(ERROR_INVALID_DEVICE_FUNCTION, 98, hipErrorInvalidDeviceFunction,                                                                  \
	  "invalid device function")                                                                                                         \
	X(ERROR_NO_DEVICE, 100, hipErrorNoDevice, "no ROCm-capable device is detected")                                                      \
	X(ERROR_INVALID_DEVICE, 101, hipErrorInvalidDevice, "invalid device ordinal")                                                        \
	X(ERROR_INVALID_IMAGE, 200, hipErrorInvalidImage, "device kernel image is invalid")                                                  \
	X(ERROR_INVALID_CONTEXT, 201, hipErrorInvalidContext, "invalid device context")                                                      \
	X(ERROR_CONTEXT_ALREADY_CURRENT, 202, hipErrorContextAlreadyCurrent,                                                                 \
	  "context is already current context")                                                                                              \
	X(ERROR_MAP_FAILED, 205, hipErrorMapFailed, "mapping of buffer object failed")                                                       \
	X(ERROR_UNMAP_FAILED, 206, hipErrorUnmapFailed, "unmapping of buffer object failed")                                                 \
	X(ERROR_ARRAY_IS_MAPPED, 207, hipErrorArrayIsMapped, "array is mapped")                                                              \
	X(ERROR_ALREADY_MAPPED, 208, hipErrorAlreadyMapped, "resource already mapped")                                                       \
	X(ERROR_NO_BINARY_FOR_GPU, 209, hipErrorNoBinaryForGpu,                                                                              \
	  "no kernel image is available for execution on the device")                                                                        \
	X(ERROR_ALREADY_ACQUIRED, 210, hipErrorAlreadyAcquired, "resource already acquired")                                                 \
	X(ERROR_NOT_MAPPED, 211, hipErrorNotMapped, "resource not mapped")                                                                   \
	X(ERROR_NOT_MAPPED_AS_ARRAY, 212, hipErrorNotMappedAsArray,                                                                          \
	  "resource not mapped as array")                                                                                                    \
	X(ERROR_NOT_MAPPED_AS_POINTER, 213, hipErrorNotMappedAsPointer,                                                                      \
	  "resource not mapped as pointer")                                                                                                  \
	X(ERROR_ECC_NOT_CORRECTABLE, 214, hipErrorECCNotCorrectable,                                                                         \
	  "uncorrectable ECC error encountered")                                                                                             \
	X(ERROR_UNSUPPORTED_LIMIT, 215, hipErrorUnsupportedLimit,                                                                            \
	  "limit is not supported on this architecture")                                                                                     \
	X(ERROR_CONTEXT_ALREADY_IN_USE, 216, hipErrorContextAlreadyInUse,                                                                    \
	  "exclusive-thread device already in use by a different thread")                                                                    \
	X(ERROR_PEER_ACCESS_UNSUPPORTED, 217, hipErrorPeerAccessUnsupported,                                                                 \
	  "peer access is not supported between these two devices")                                                                          \
	X(ERROR_INVALID_KERNEL_FILE, 218, hipErrorInvalidKernelFile, "invalid kernel file")                                                  \
	X(ERROR_INVALID_GRAPHICS_CONTEXT, 219, hipErrorInvalidGraphicsContext,                                                               \
	  "invalid OpenGL or DirectX context")                                                                                               \
	X(ERROR_INVALID_SOURCE, 300, hipErrorInvalidSource, "device kernel image is invalid")                                                \
	X(ERROR_FILE_NOT_FOUND, 301, hipErrorFileNotFound, "file not found")                                                                 \
	X(ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, 302, hipErrorSharedObjectSymbolNotFound,                                                     \
	  "shared object symbol not found")                                                                                                  \
	X(ERROR_SHARED_OBJECT_INIT_FAILED, 303, hipErrorSharedObjectInitFailed,                                                              \
	  "shared object initialization failed")                                                                                             \
	X(ERROR_OPERATING_SYSTEM, 304, hipErrorOperatingSystem,                                                                              \
	  "OS call failed or operation not supported on this OS")                                                                            \
	X(ERROR_INVALID_HANDLE, 400, hipErrorInvalidHandle, "invalid resource handle")                                                       \
	X(ERROR_ILLEGAL_STATE, 401, hipErrorIllegalState,                                                                                    \
	  "the operation cannot be performed in the present state")                                                                          \
	X(ERROR_NOT_FOUND, 500, hipErrorNotFound, "named symbol not found")                                                                  \
	X(ERROR_NOT_READY, 600, hipErrorNotReady, "device not ready")                                                                        \
	X(ERROR_ILLEGAL_ADDRESS, 700, hipErrorIllegalAddress,                                                                                \
	  "an illegal memory access was encountered")                                                                                        \
	X(ERROR_LAUNCH_OUT_OF_RESOURCES, 701, hipErrorLaunchOutOfResources,                                                                  \
	  "too many resources requested for launch")                                                                                         \
	X(ERROR_LAUNCH_TIME_OUT, 702, hipErrorLaunchTimeOut,                                                                                 \
	  "the launch timed out and was terminated")                                                                                         \
	X(ERROR_PEER_ACCESS_ALREADY_ENABLED, 704, hipErrorPeerAccessAlreadyEnabled,                                                          \
	  "peer access is already enabled")                                                                                                  \
	X(ERROR_PEER_ACCESS_NOT_ENABLED, 705, hipErrorPeerAccessNotEnabled,                                                                  \
	  "peer access has not been enabled")                                                                                                \
	X(ERROR_SET_ON_ACTIVE_PROCESS, 708, hipErrorSetOnActiveProcess,                                                                      \
	  "cannot set while device is active in this process")                                                                               \
	X(ERROR_CONTEXT_IS_DESTROYED, 709, hipErrorContextIsDestroyed, "context is destroyed")                                               \
	X(ERROR_ASSERT, 710, hipErrorAssert, "device-side assert triggered")                                                                 \
	X(ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712, hipErrorHostMemoryAlreadyRegistered,                                                    \
	  "part or all of the requested memory range is already mapped")                                                                     \
	X(ERROR_HOST_MEMORY_NOT_REGISTERED, 713, hipErrorHostMemoryNotRegistered,                                                            \
	  "pointer does not correspond to a registered memory region")                                                                       \
	X(ERROR_LAUNCH_FAILURE, 719, hipErrorLaunchFailure, "unspecified launch failure")                                                    \
	X(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, hipErrorCooperativeLaunchTooLarge,                                                        \
	  "too many blocks in cooperative launch")                                                                                           \
	X(ERROR_NOT_SUPPORTED, 801, hipErrorNotSupported, "operation not supported")                                                         \
	X(ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, hipErrorStreamCaptureUnsupported,                                                           \
	  "operation not permitted when stream is capturing")                                                                                \
	X(ERROR_STREAM_CAPTURE_INVALIDATED, 901, hipErrorStreamCaptureInvalidated,                                                           \
	  "operation failed due to a previous error during capture")                                                                         \
	X(ERROR_STREAM_CAPTURE_MERGE, 902, hipErrorStreamCaptureMerge,                                                                       \
	  "operation would result in a merge of separate capture sequences")                                                                 \
	X(ERROR_STREAM_CAPTURE_UNMATCHED, 903, hipErrorStreamCaptureUnmatched,                                                               \
	  "capture was not ended in the same stream as it began")                                                                            \
	X(ERROR_STREAM_CAPTURE_UNJOINED, 904, hipErrorStreamCaptureUnjoined,                                                                 \
	  "capturing stream has unjoined work")                                                                                              \
	X(ERROR_STREAM_CAPTURE_ISOLATION, 905, hipErrorStreamCaptureIsolation,                                                               \
	  "dependency created on uncaptured work in another stream")                                                                         \
	X(ERROR_STREAM_CAPTURE_IMPLICIT, 906, hipErrorStreamCaptureImplicit,                                                                 \
	  "operation would make the legacy stream depend on a capturing blocking stream")                                                    \
	X(ERROR_CAPTURED_EVENT, 907, hipErrorCapturedEvent,                                                                                  \
	  "operation not permitted on an event last recorded in a capturing stream")                                                         \
	X(ERROR_STREAM_CAPTURE_WRONG_THREAD, 908, hipErrorStreamCaptureWrongThread,                                                          \
	  "attempt to terminate a thread-local capture sequence from another thread")                                                        \
	X(ERROR_GRAPH_EXEC_UPDATE_FAILURE, 910, hipErrorGraphExecUpdateFailure,                                                              \
	  "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update") \
	X(ERROR_UNKNOWN, 999, hipErrorUnknown, "unknown error")                                                                              \
	X(ERROR_RUNTIME_MEMORY, 1052, hipErrorRuntimeMemory, "runtime memory call returned error")                                           \
	X(ERROR_RUNTIME_OTHER, 1053, hipErrorRuntimeOther,                                                                                   \
	  "runtime call other than memory returned error")

enum ts_hip_error {
#define TS_HIP_ERROR_(suffix, value, name, text) TS_HIP_##suffix = value,
	TS_HIP_ERRORS(TS_HIP_ERROR_)
#undef TS_HIP_ERROR_
};

/* Device attributes: X(suffix of TS_HIP_DEVICE_ATTRIBUTE_, value, the vendor's name). */
#define TS_HIP_DEVICE_ATTRIBUTES(X)                                                              \
	X(ECC_ENABLED, 0, hipDeviceAttributeEccEnabled)                                          \
	X(ACCESS_POLICY_MAX_WINDOW_SIZE, 1, hipDeviceAttributeAccessPolicyMaxWindowSize)         \
	X(ASYNC_ENGINE_COUNT, 2, hipDeviceAttributeAsyncEngineCount)                             \
	X(CAN_MAP_HOST_MEMORY, 3, hipDeviceAttributeCanMapHostMemory)                            \
	X(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 4,                                            \
	  hipDeviceAttributeCanUseHostPointerForRegisteredMem)                                   \
	X(CLOCK_RATE, 5, hipDeviceAttributeClockRate)                                            \
	X(COMPUTE_MODE, 6, hipDeviceAttributeComputeMode)                                        \
	X(COMPUTE_PREEMPTION_SUPPORTED, 7, hipDeviceAttributeComputePreemptionSupported)         \
	X(CONCURRENT_KERNELS, 8, hipDeviceAttributeConcurrentKernels)                            \
	X(CONCURRENT_MANAGED_ACCESS, 9, hipDeviceAttributeConcurrentManagedAccess)               \
	X(COOPERATIVE_LAUNCH, 10, hipDeviceAttributeCooperativeLaunch)                           \
	X(COOPERATIVE_MULTI_DEVICE_LAUNCH, 11, hipDeviceAttributeCooperativeMultiDeviceLaunch)   \
	X(DEVICE_OVERLAP, 12, hipDeviceAttributeDeviceOverlap)                                   \
	X(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, 13,                                               \
	  hipDeviceAttributeDirectManagedMemAccessFromHost)                                      \
	X(GLOBAL_L1_CACHE_SUPPORTED, 14, hipDeviceAttributeGlobalL1CacheSupported)               \
	X(HOST_NATIVE_ATOMIC_SUPPORTED, 15, hipDeviceAttributeHostNativeAtomicSupported)         \
	X(INTEGRATED, 16, hipDeviceAttributeIntegrated)                                          \
	X(IS_MULTI_GPU_BOARD, 17, hipDeviceAttributeIsMultiGpuBoard)                             \
	X(KERNEL_EXEC_TIMEOUT, 18, hipDeviceAttributeKernelExecTimeout)                          \
	X(L2_CACHE_SIZE, 19, hipDeviceAttributeL2CacheSize)                                      \
	X(LOCAL_L1_CACHE_SUPPORTED, 20, hipDeviceAttributeLocalL1CacheSupported)                 \
	X(LUID, 21, hipDeviceAttributeLuid)                                                      \
	X(LUID_DEVICE_NODE_MASK, 22, hipDeviceAttributeLuidDeviceNodeMask)                       \
	X(COMPUTE_CAPABILITY_MAJOR, 23, hipDeviceAttributeComputeCapabilityMajor)                \
	X(MANAGED_MEMORY, 24, hipDeviceAttributeManagedMemory)                                   \
	X(MAX_BLOCKS_PER_MULTI_PROCESSOR, 25, hipDeviceAttributeMaxBlocksPerMultiProcessor)      \
	X(MAX_BLOCK_DIM_X, 26, hipDeviceAttributeMaxBlockDimX)                                   \
	X(MAX_BLOCK_DIM_Y, 27, hipDeviceAttributeMaxBlockDimY)                                   \
	X(MAX_BLOCK_DIM_Z, 28, hipDeviceAttributeMaxBlockDimZ)                                   \
	X(MAX_GRID_DIM_X, 29, hipDeviceAttributeMaxGridDimX)                                     \
	X(MAX_GRID_DIM_Y, 30, hipDeviceAttributeMaxGridDimY)                                     \
	X(MAX_GRID_DIM_Z, 31, hipDeviceAttributeMaxGridDimZ)                                     \
	X(MAX_SURFACE_1D, 32, hipDeviceAttributeMaxSurface1D)                                    \
	X(MAX_SURFACE_1D_LAYERED, 33, hipDeviceAttributeMaxSurface1DLayered)                     \
	X(MAX_SURFACE_2D, 34, hipDeviceAttributeMaxSurface2D)                                    \
	X(MAX_SURFACE_2D_LAYERED, 35, hipDeviceAttributeMaxSurface2DLayered)                     \
	X(MAX_SURFACE_3D, 36, hipDeviceAttributeMaxSurface3D)                                    \
	X(MAX_SURFACE_CUBEMAP, 37, hipDeviceAttributeMaxSurfaceCubemap)                          \
	X(MAX_SURFACE_CUBEMAP_LAYERED, 38, hipDeviceAttributeMaxSurfaceCubemapLayered)           \
	X(MAX_TEXTURE_1D_WIDTH, 39, hipDeviceAttributeMaxTexture1DWidth)                         \
	X(MAX_TEXTURE_1D_LAYERED, 40, hipDeviceAttributeMaxTexture1DLayered)                     \
	X(MAX_TEXTURE_1D_LINEAR, 41, hipDeviceAttributeMaxTexture1DLinear)                       \
	X(MAX_TEXTURE_1D_MIPMAP, 42, hipDeviceAttributeMaxTexture1DMipmap)                       \
	X(MAX_TEXTURE_2D_WIDTH, 43, hipDeviceAttributeMaxTexture2DWidth)                         \
	X(MAX_TEXTURE_2D_HEIGHT, 44, hipDeviceAttributeMaxTexture2DHeight)                       \
	X(MAX_TEXTURE_2D_GATHER, 45, hipDeviceAttributeMaxTexture2DGather)                       \
	X(MAX_TEXTURE_2D_LAYERED, 46, hipDeviceAttributeMaxTexture2DLayered)                     \
	X(MAX_TEXTURE_2D_LINEAR, 47, hipDeviceAttributeMaxTexture2DLinear)                       \
	X(MAX_TEXTURE_2D_MIPMAP, 48, hipDeviceAttributeMaxTexture2DMipmap)                       \
	X(MAX_TEXTURE_3D_WIDTH, 49, hipDeviceAttributeMaxTexture3DWidth)                         \
	X(MAX_TEXTURE_3D_HEIGHT, 50, hipDeviceAttributeMaxTexture3DHeight)                       \
	X(MAX_TEXTURE_3D_DEPTH, 51, hipDeviceAttributeMaxTexture3DDepth)                         \
	X(MAX_TEXTURE_3D_ALT, 52, hipDeviceAttributeMaxTexture3DAlt)                             \
	X(MAX_TEXTURE_CUBEMAP, 53, hipDeviceAttributeMaxTextureCubemap)                          \
	X(MAX_TEXTURE_CUBEMAP_LAYERED, 54, hipDeviceAttributeMaxTextureCubemapLayered)           \
	X(MAX_THREADS_DIM, 55, hipDeviceAttributeMaxThreadsDim)                                  \
	X(MAX_THREADS_PER_BLOCK, 56, hipDeviceAttributeMaxThreadsPerBlock)                       \
	X(MAX_THREADS_PER_MULTI_PROCESSOR, 57, hipDeviceAttributeMaxThreadsPerMultiProcessor)    \
	X(MAX_PITCH, 58, hipDeviceAttributeMaxPitch)                                             \
	X(MEMORY_BUS_WIDTH, 59, hipDeviceAttributeMemoryBusWidth)                                \
	X(MEMORY_CLOCK_RATE, 60, hipDeviceAttributeMemoryClockRate)                              \
	X(COMPUTE_CAPABILITY_MINOR, 61, hipDeviceAttributeComputeCapabilityMinor)                \
	X(MULTI_GPU_BOARD_GROUP_ID, 62, hipDeviceAttributeMultiGpuBoardGroupID)                  \
	X(MULTIPROCESSOR_COUNT, 63, hipDeviceAttributeMultiprocessorCount)                       \
	X(PAGEABLE_MEMORY_ACCESS, 65, hipDeviceAttributePageableMemoryAccess)                    \
	X(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 66,                                      \
	  hipDeviceAttributePageableMemoryAccessUsesHostPageTables)                              \
	X(PCI_BUS_ID, 67, hipDeviceAttributePciBusId)                                            \
	X(PCI_DEVICE_ID, 68, hipDeviceAttributePciDeviceId)                                      \
	X(PCI_DOMAIN_ID, 69, hipDeviceAttributePciDomainID)                                      \
	X(PERSISTING_L2_CACHE_MAX_SIZE, 70, hipDeviceAttributePersistingL2CacheMaxSize)          \
	X(MAX_REGISTERS_PER_BLOCK, 71, hipDeviceAttributeMaxRegistersPerBlock)                   \
	X(MAX_REGISTERS_PER_MULTIPROCESSOR, 72, hipDeviceAttributeMaxRegistersPerMultiprocessor) \
	X(RESERVED_SHARED_MEM_PER_BLOCK, 73, hipDeviceAttributeReservedSharedMemPerBlock)        \
	X(MAX_SHARED_MEMORY_PER_BLOCK, 74, hipDeviceAttributeMaxSharedMemoryPerBlock)            \
	X(SHARED_MEM_PER_BLOCK_OPTIN, 75, hipDeviceAttributeSharedMemPerBlockOptin)              \
	X(SHARED_MEM_PER_MULTIPROCESSOR, 76, hipDeviceAttributeSharedMemPerMultiprocessor)       \
	X(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 77,                                             \
	  hipDeviceAttributeSingleToDoublePrecisionPerfRatio)                                    \
	X(STREAM_PRIORITIES_SUPPORTED, 78, hipDeviceAttributeStreamPrioritiesSupported)          \
	X(SURFACE_ALIGNMENT, 79, hipDeviceAttributeSurfaceAlignment)                             \
	X(TCC_DRIVER, 80, hipDeviceAttributeTccDriver)                                           \
	X(TEXTURE_ALIGNMENT, 81, hipDeviceAttributeTextureAlignment)                             \
	X(TEXTURE_PITCH_ALIGNMENT, 82, hipDeviceAttributeTexturePitchAlignment)                  \
	X(TOTAL_CONSTANT_MEMORY, 83, hipDeviceAttributeTotalConstantMemory)                      \
	X(TOTAL_GLOBAL_MEM, 84, hipDeviceAttributeTotalGlobalMem)                                \
	X(UNIFIED_ADDRESSING, 85, hipDeviceAttributeUnifiedAddressing)                           \
	X(WARP_SIZE, 87, hipDeviceAttributeWarpSize)                                             \
	X(MEMORY_POOLS_SUPPORTED, 88, hipDeviceAttributeMemoryPoolsSupported)                    \
	X(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 89,                                               \
	  hipDeviceAttributeVirtualMemoryManagementSupported)                                    \
	X(HOST_REGISTER_SUPPORTED, 90, hipDeviceAttributeHostRegisterSupported)                  \
	X(MEMORY_POOL_SUPPORTED_HANDLE_TYPES, 91,                                                \
	  hipDeviceAttributeMemoryPoolSupportedHandleTypes)                                      \
	X(CLOCK_INSTRUCTION_RATE, 10000, hipDeviceAttributeClockInstructionRate)                 \
	X(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 10002,                                           \
	  hipDeviceAttributeMaxSharedMemoryPerMultiprocessor)                                    \
	X(HDP_MEM_FLUSH_CNTL, 10005, hipDeviceAttributeHdpMemFlushCntl)                          \
	X(HDP_REG_FLUSH_CNTL, 10006, hipDeviceAttributeHdpRegFlushCntl)                          \
	X(COOPERATIVE_MULTI_DEVICE_UNMATCHED_FUNC, 10007,                                        \
	  hipDeviceAttributeCooperativeMultiDeviceUnmatchedFunc)                                 \
	X(COOPERATIVE_MULTI_DEVICE_UNMATCHED_GRID_DIM, 10008,                                    \
	  hipDeviceAttributeCooperativeMultiDeviceUnmatchedGridDim)                              \
	X(COOPERATIVE_MULTI_DEVICE_UNMATCHED_BLOCK_DIM, 10009,                                   \
	  hipDeviceAttributeCooperativeMultiDeviceUnmatchedBlockDim)                             \
	X(COOPERATIVE_MULTI_DEVICE_UNMATCHED_SHARED_MEM, 10010,                                  \
	  hipDeviceAttributeCooperativeMultiDeviceUnmatchedSharedMem)                            \
	X(IS_LARGE_BAR, 10011, hipDeviceAttributeIsLargeBar)                                     \
	X(ASIC_REVISION, 10012, hipDeviceAttributeAsicRevision)                                  \
	X(CAN_USE_STREAM_WAIT_VALUE, 10013, hipDeviceAttributeCanUseStreamWaitValue)             \
	X(IMAGE_SUPPORT, 10014, hipDeviceAttributeImageSupport)                                  \
	X(PHYSICAL_MULTI_PROCESSOR_COUNT, 10015, hipDeviceAttributePhysicalMultiProcessorCount)  \
	X(FINE_GRAIN_SUPPORT, 10016, hipDeviceAttributeFineGrainSupport)                         \
	X(WALL_CLOCK_RATE, 10017, hipDeviceAttributeWallClockRate)

enum ts_hip_device_attribute {
#define TS_HIP_ATTRIBUTE_(suffix, value, name) TS_HIP_DEVICE_ATTRIBUTE_##suffix = value,
	TS_HIP_DEVICE_ATTRIBUTES(TS_HIP_ATTRIBUTE_)
#undef TS_HIP_ATTRIBUTE_
};
