/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of AMD's HIP (libamdhip64) that TraceSmith uses, in the project's own words. Values and
 * layouts are those of ROCm 6.2; a comment marks each declaration that changed since 5.2. The build
 * needs no ROCm. test/unit/vendor compares hip.h with hip-facts.txt, and with HIP's headers if they
 * are installed.
 *
 * Reading rules: the vendor's hipFooBar is TS_HIP_FOO_BAR here. Handles (context, stream, event,
 * module, function, array, graph, ...) and device pointers are void *, devices int32_t, hipError_t
 * and all enumerations int32_t. Fields keep the vendor's words in snake_case without the Hungarian
 * p/h. hip.calls lists the functions.
 */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* The runtime's version that hip.h describes: 10000000 * major + 100000 * minor. */
#define TS_HIP_VERSION 60200000

/* The soname of the library of this version. */
#define TS_HIP_SONAME "libamdhip64.so.6"

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

enum ts_hip_memcpy_kind {
	TS_HIP_MEMCPY_HOST_TO_HOST = 0,
	TS_HIP_MEMCPY_HOST_TO_DEVICE = 1,
	TS_HIP_MEMCPY_DEVICE_TO_HOST = 2,
	TS_HIP_MEMCPY_DEVICE_TO_DEVICE = 3,
	TS_HIP_MEMCPY_DEFAULT = 4,
	TS_HIP_MEMCPY_DEVICE_TO_DEVICE_NO_CU = 1024, /* since 6.2 */
};

/* Until 5.7. */
enum ts_hip_memory_type_5 {
	TS_HIP_MEMORY_TYPE_5_HOST = 0,
	TS_HIP_MEMORY_TYPE_5_DEVICE = 1,
	TS_HIP_MEMORY_TYPE_5_ARRAY = 2,
	TS_HIP_MEMORY_TYPE_5_UNIFIED = 3,
	TS_HIP_MEMORY_TYPE_5_MANAGED = 4,
};

/* Since 6.0. */
enum ts_hip_memory_type {
	TS_HIP_MEMORY_TYPE_UNREGISTERED = 0,
	TS_HIP_MEMORY_TYPE_HOST = 1,
	TS_HIP_MEMORY_TYPE_DEVICE = 2,
	TS_HIP_MEMORY_TYPE_MANAGED = 3,
	TS_HIP_MEMORY_TYPE_ARRAY = 10,
	TS_HIP_MEMORY_TYPE_UNIFIED = 11,
};

/* Streams that programs name without creating them. */
#define TS_HIP_STREAM_LEGACY		  ((void *)1)
#define TS_HIP_STREAM_PER_THREAD	  ((void *)2)

#define TS_HIP_STREAM_DEFAULT		  0x0u
#define TS_HIP_STREAM_NON_BLOCKING	  0x1u

#define TS_HIP_EVENT_DEFAULT		  0x0u
#define TS_HIP_EVENT_BLOCKING_SYNC	  0x1u
#define TS_HIP_EVENT_DISABLE_TIMING	  0x2u
#define TS_HIP_EVENT_INTERPROCESS	  0x4u
#define TS_HIP_EVENT_DISABLE_SYSTEM_FENCE 0x20000000u
#define TS_HIP_EVENT_RELEASE_TO_DEVICE	  0x40000000u
#define TS_HIP_EVENT_RELEASE_TO_SYSTEM	  0x80000000u

/* hipHostMalloc and hipHostAlloc have the same flags. */
#define TS_HIP_HOST_MALLOC_DEFAULT	  0x0u
#define TS_HIP_HOST_MALLOC_PORTABLE	  0x1u
#define TS_HIP_HOST_MALLOC_MAPPED	  0x2u
#define TS_HIP_HOST_MALLOC_WRITE_COMBINED 0x4u
#define TS_HIP_HOST_MALLOC_NUMA_USER	  0x20000000u
#define TS_HIP_HOST_MALLOC_COHERENT	  0x40000000u
#define TS_HIP_HOST_MALLOC_NON_COHERENT	  0x80000000u

#define TS_HIP_HOST_REGISTER_DEFAULT	  0x0u
#define TS_HIP_HOST_REGISTER_PORTABLE	  0x1u
#define TS_HIP_HOST_REGISTER_MAPPED	  0x2u
#define TS_HIP_HOST_REGISTER_IO_MEMORY	  0x4u

#define TS_HIP_MEM_ATTACH_GLOBAL	  0x1u
#define TS_HIP_MEM_ATTACH_HOST		  0x2u
#define TS_HIP_MEM_ATTACH_SINGLE	  0x4u

/* hipExtMallocWithFlags. */
#define TS_HIP_DEVICE_MALLOC_DEFAULT	     0x0u
#define TS_HIP_DEVICE_MALLOC_FINEGRAINED     0x1u
#define TS_HIP_MALLOC_SIGNAL_MEMORY	     0x2u

#define TS_HIP_DEVICE_SCHEDULE_AUTO	     0x0u
#define TS_HIP_DEVICE_SCHEDULE_SPIN	     0x1u
#define TS_HIP_DEVICE_SCHEDULE_YIELD	     0x2u
#define TS_HIP_DEVICE_SCHEDULE_BLOCKING_SYNC 0x4u
#define TS_HIP_DEVICE_SCHEDULE_MASK	     0x7u
#define TS_HIP_DEVICE_MAP_HOST		     0x8u

/* hipExtLaunchKernel and hipExtModuleLaunchKernel. */
#define TS_HIP_EXT_ANY_ORDER_LAUNCH 0x1u

enum ts_hip_stream_capture_mode {
	TS_HIP_STREAM_CAPTURE_MODE_GLOBAL = 0,
	TS_HIP_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
	TS_HIP_STREAM_CAPTURE_MODE_RELAXED = 2,
};

enum ts_hip_stream_capture_status {
	TS_HIP_STREAM_CAPTURE_STATUS_NONE = 0,
	TS_HIP_STREAM_CAPTURE_STATUS_ACTIVE = 1,
	TS_HIP_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
};

enum ts_hip_limit {
	TS_HIP_LIMIT_STACK_SIZE = 0,
	TS_HIP_LIMIT_PRINTF_FIFO_SIZE = 1,
	TS_HIP_LIMIT_MALLOC_HEAP_SIZE = 2,
};

/* hipPointerGetAttribute, hipDrvPointerGetAttributes. */
enum ts_hip_pointer_attribute {
	TS_HIP_POINTER_ATTRIBUTE_CONTEXT = 1,
	TS_HIP_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
	TS_HIP_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
	TS_HIP_POINTER_ATTRIBUTE_HOST_POINTER = 4,
	TS_HIP_POINTER_ATTRIBUTE_BUFFER_ID = 7,
	TS_HIP_POINTER_ATTRIBUTE_IS_MANAGED = 8,
	TS_HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
	TS_HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
	TS_HIP_POINTER_ATTRIBUTE_RANGE_SIZE = 12,
	TS_HIP_POINTER_ATTRIBUTE_MAPPED = 13,
};

/* hipFuncGetAttribute. */
enum ts_hip_func_attribute {
	TS_HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
	TS_HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
	TS_HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
	TS_HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
	TS_HIP_FUNC_ATTRIBUTE_NUM_REGS = 4,
	TS_HIP_FUNC_ATTRIBUTE_PTX_VERSION = 5,
	TS_HIP_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
	TS_HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
	TS_HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
	TS_HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
};

/* `extra` of hipModuleLaunchKernel: pairs of a key and a pointer. */
#define TS_HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define TS_HIP_LAUNCH_PARAM_BUFFER_SIZE	   ((void *)2)
#define TS_HIP_LAUNCH_PARAM_END		   ((void *)3)

enum ts_hip_mem_pool_attr {
	TS_HIP_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
	TS_HIP_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC = 2,
	TS_HIP_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
	TS_HIP_MEM_POOL_ATTR_RELEASE_THRESHOLD = 4,
	TS_HIP_MEM_POOL_ATTR_RESERVED_MEM_CURRENT = 5,
	TS_HIP_MEM_POOL_ATTR_RESERVED_MEM_HIGH = 6,
	TS_HIP_MEM_POOL_ATTR_USED_MEM_CURRENT = 7,
	TS_HIP_MEM_POOL_ATTR_USED_MEM_HIGH = 8,
};

struct ts_hip_dim3 {
	uint32_t x;
	uint32_t y;
	uint32_t z;
};

struct ts_hip_extent {
	size_t width;
	size_t height;
	size_t depth;
};

struct ts_hip_pos {
	size_t x;
	size_t y;
	size_t z;
};

struct ts_hip_pitched_ptr {
	void *ptr;
	size_t pitch;
	size_t xsize;
	size_t ysize;
};

struct ts_hip_uuid {
	char bytes[16];
};

struct ts_hip_ipc_mem_handle {
	char reserved[64];
};

struct ts_hip_ipc_event_handle {
	char reserved[64];
};

struct ts_hip_channel_format_desc {
	int32_t x;
	int32_t y;
	int32_t z;
	int32_t w;
	int32_t f;
};

/* hipMemcpy3D. */
struct ts_hip_memcpy3d_parms {
	void *src_array;
	struct ts_hip_pos src_pos;
	struct ts_hip_pitched_ptr src_ptr;
	void *dst_array;
	struct ts_hip_pos dst_pos;
	struct ts_hip_pitched_ptr dst_ptr;
	struct ts_hip_extent extent;
	int32_t kind;
};

/* hipMemcpyParam2D. */
struct ts_hip_memcpy2d {
	size_t src_x_in_bytes;
	size_t src_y;
	int32_t src_memory_type;
	const void *src_host;
	void *src_device;
	void *src_array;
	size_t src_pitch;
	size_t dst_x_in_bytes;
	size_t dst_y;
	int32_t dst_memory_type;
	void *dst_host;
	void *dst_device;
	void *dst_array;
	size_t dst_pitch;
	size_t width_in_bytes;
	size_t height;
};

/* hipDrvMemcpy3D. Until 5.7 all sizes were 32 bits wide. */
struct ts_hip_drv_memcpy3d {
	size_t src_x_in_bytes;
	size_t src_y;
	size_t src_z;
	size_t src_lod;
	int32_t src_memory_type;
	const void *src_host;
	void *src_device;
	void *src_array;
	size_t src_pitch;
	size_t src_height;
	size_t dst_x_in_bytes;
	size_t dst_y;
	size_t dst_z;
	size_t dst_lod;
	int32_t dst_memory_type;
	void *dst_host;
	void *dst_device;
	void *dst_array;
	size_t dst_pitch;
	size_t dst_height;
	size_t width_in_bytes;
	size_t height;
	size_t depth;
};

/* hipDrvMemcpy3D until 5.7. */
struct ts_hip_drv_memcpy3d_5 {
	uint32_t src_x_in_bytes;
	uint32_t src_y;
	uint32_t src_z;
	uint32_t src_lod;
	int32_t src_memory_type;
	const void *src_host;
	void *src_device;
	void *src_array;
	uint32_t src_pitch;
	uint32_t src_height;
	uint32_t dst_x_in_bytes;
	uint32_t dst_y;
	uint32_t dst_z;
	uint32_t dst_lod;
	int32_t dst_memory_type;
	void *dst_host;
	void *dst_device;
	void *dst_array;
	uint32_t dst_pitch;
	uint32_t dst_height;
	uint32_t width_in_bytes;
	uint32_t height;
	uint32_t depth;
};

/* hipPointerGetAttributes. The layout of 5.x is the same; its memory types are not. */
struct ts_hip_pointer_attributes {
	int32_t type;
	int32_t device;
	void *device_pointer;
	void *host_pointer;
	int32_t is_managed;
	uint32_t allocation_flags;
};

struct ts_hip_func_attributes {
	int32_t binary_version;
	int32_t cache_mode_ca;
	size_t const_size_bytes;
	size_t local_size_bytes;
	int32_t max_dynamic_shared_size_bytes;
	int32_t max_threads_per_block;
	int32_t num_regs;
	int32_t preferred_shmem_carveout;
	int32_t ptx_version;
	size_t shared_size_bytes;
};

/* hipLaunchCooperativeKernelMultiDevice, hipExtLaunchMultiKernelMultiDevice. */
struct ts_hip_launch_params {
	void *func;
	struct ts_hip_dim3 grid_dim;
	struct ts_hip_dim3 block_dim;
	void **args;
	size_t shared_mem;
	void *stream;
};

/* hipModuleLaunchCooperativeKernelMultiDevice. */
struct ts_hip_function_launch_params {
	void *function;
	uint32_t grid_dim_x;
	uint32_t grid_dim_y;
	uint32_t grid_dim_z;
	uint32_t block_dim_x;
	uint32_t block_dim_y;
	uint32_t block_dim_z;
	uint32_t shared_mem_bytes;
	void *stream;
	void **kernel_params;
};

/* hipLaunchKernelExC, since 6.5. */
struct ts_hip_launch_config {
	struct ts_hip_dim3 grid_dim;
	struct ts_hip_dim3 block_dim;
	size_t dynamic_smem_bytes;
	void *stream;
	void *attrs;
	uint32_t num_attrs;
};

/* hipDrvLaunchKernelEx, since 6.5. */
struct ts_hip_drv_launch_config {
	uint32_t grid_dim_x;
	uint32_t grid_dim_y;
	uint32_t grid_dim_z;
	uint32_t block_dim_x;
	uint32_t block_dim_y;
	uint32_t block_dim_z;
	uint32_t shared_mem_bytes;
	void *stream;
	void *attrs;
	uint32_t num_attrs;
};

struct ts_hip_mem_location {
	int32_t type; /* 0: none, 1: device */
	int32_t id;
};

struct ts_hip_mem_access_desc {
	struct ts_hip_mem_location location;
	int32_t flags; /* 0: none, 1: read, 3: read and write */
};

struct ts_hip_mem_pool_props {
	int32_t alloc_type; /* 1: pinned */
	int32_t handle_types;
	struct ts_hip_mem_location location;
	void *win32_security_attributes;
	size_t max_size;
	uint8_t reserved[56];
};

struct ts_hip_mem_allocation_prop {
	int32_t type;
	int32_t requested_handle_type;
	struct ts_hip_mem_location location;
	void *win32_handle_meta_data;
	struct {
		uint8_t compression_type;
		uint8_t gpu_direct_rdma_capable;
		uint16_t usage;
	} alloc_flags;
};

struct ts_hip_kernel_node_params {
	struct ts_hip_dim3 block_dim;
	void **extra;
	void *func;
	struct ts_hip_dim3 grid_dim;
	void **kernel_params;
	uint32_t shared_mem_bytes;
};

struct ts_hip_memset_params {
	void *dst;
	uint32_t element_size;
	size_t height;
	size_t pitch;
	uint32_t value;
	size_t width;
};

struct ts_hip_host_node_params {
	void *fn;
	void *user_data;
};

struct ts_hip_mem_alloc_node_params {
	struct ts_hip_mem_pool_props pool_props;
	const struct ts_hip_mem_access_desc *access_descs;
	size_t access_desc_count;
	size_t bytesize;
	void *dptr;
};

/* hipGetDeviceProperties of programs built for 5.x. */
struct ts_hip_device_prop_r0000 {
	char name[256];
	size_t total_global_mem;
	size_t shared_mem_per_block;
	int32_t regs_per_block;
	int32_t warp_size;
	int32_t max_threads_per_block;
	int32_t max_threads_dim[3];
	int32_t max_grid_size[3];
	int32_t clock_rate;
	int32_t memory_clock_rate;
	int32_t memory_bus_width;
	size_t total_const_mem;
	int32_t major;
	int32_t minor;
	int32_t multi_processor_count;
	int32_t l2_cache_size;
	int32_t max_threads_per_multi_processor;
	int32_t compute_mode;
	int32_t clock_instruction_rate;
	uint32_t arch;
	int32_t concurrent_kernels;
	int32_t pci_domain_id;
	int32_t pci_bus_id;
	int32_t pci_device_id;
	size_t max_shared_memory_per_multi_processor;
	int32_t is_multi_gpu_board;
	int32_t can_map_host_memory;
	int32_t gcn_arch;
	char gcn_arch_name[256];
	int32_t integrated;
	int32_t cooperative_launch;
	int32_t cooperative_multi_device_launch;
	int32_t max_texture_1d_linear;
	int32_t max_texture_1d;
	int32_t max_texture_2d[2];
	int32_t max_texture_3d[3];
	uint32_t *hdp_mem_flush_cntl;
	uint32_t *hdp_reg_flush_cntl;
	size_t mem_pitch;
	size_t texture_alignment;
	size_t texture_pitch_alignment;
	int32_t kernel_exec_timeout_enabled;
	int32_t ecc_enabled;
	int32_t tcc_driver;
	int32_t cooperative_multi_device_unmatched_func;
	int32_t cooperative_multi_device_unmatched_grid_dim;
	int32_t cooperative_multi_device_unmatched_block_dim;
	int32_t cooperative_multi_device_unmatched_shared_mem;
	int32_t is_large_bar;
	int32_t asic_revision;
	int32_t managed_memory;
	int32_t direct_managed_mem_access_from_host;
	int32_t concurrent_managed_access;
	int32_t pageable_memory_access;
	int32_t pageable_memory_access_uses_host_page_tables;
};

/* hipGetDeviceProperties of programs built since 6.0. */
struct ts_hip_device_prop_r0600 {
	char name[256];
	struct ts_hip_uuid uuid;
	char luid[8];
	uint32_t luid_device_node_mask;
	size_t total_global_mem;
	size_t shared_mem_per_block;
	int32_t regs_per_block;
	int32_t warp_size;
	size_t mem_pitch;
	int32_t max_threads_per_block;
	int32_t max_threads_dim[3];
	int32_t max_grid_size[3];
	int32_t clock_rate;
	size_t total_const_mem;
	int32_t major;
	int32_t minor;
	size_t texture_alignment;
	size_t texture_pitch_alignment;
	int32_t device_overlap;
	int32_t multi_processor_count;
	int32_t kernel_exec_timeout_enabled;
	int32_t integrated;
	int32_t can_map_host_memory;
	int32_t compute_mode;
	int32_t max_texture_1d;
	int32_t max_texture_1d_mipmap;
	int32_t max_texture_1d_linear;
	int32_t max_texture_2d[2];
	int32_t max_texture_2d_mipmap[2];
	int32_t max_texture_2d_linear[3];
	int32_t max_texture_2d_gather[2];
	int32_t max_texture_3d[3];
	int32_t max_texture_3d_alt[3];
	int32_t max_texture_cubemap;
	int32_t max_texture_1d_layered[2];
	int32_t max_texture_2d_layered[3];
	int32_t max_texture_cubemap_layered[2];
	int32_t max_surface_1d;
	int32_t max_surface_2d[2];
	int32_t max_surface_3d[3];
	int32_t max_surface_1d_layered[2];
	int32_t max_surface_2d_layered[3];
	int32_t max_surface_cubemap;
	int32_t max_surface_cubemap_layered[2];
	size_t surface_alignment;
	int32_t concurrent_kernels;
	int32_t ecc_enabled;
	int32_t pci_bus_id;
	int32_t pci_device_id;
	int32_t pci_domain_id;
	int32_t tcc_driver;
	int32_t async_engine_count;
	int32_t unified_addressing;
	int32_t memory_clock_rate;
	int32_t memory_bus_width;
	int32_t l2_cache_size;
	int32_t persisting_l2_cache_max_size;
	int32_t max_threads_per_multi_processor;
	int32_t stream_priorities_supported;
	int32_t global_l1_cache_supported;
	int32_t local_l1_cache_supported;
	size_t shared_mem_per_multiprocessor;
	int32_t regs_per_multiprocessor;
	int32_t managed_memory;
	int32_t is_multi_gpu_board;
	int32_t multi_gpu_board_group_id;
	int32_t host_native_atomic_supported;
	int32_t single_to_double_precision_perf_ratio;
	int32_t pageable_memory_access;
	int32_t concurrent_managed_access;
	int32_t compute_preemption_supported;
	int32_t can_use_host_pointer_for_registered_mem;
	int32_t cooperative_launch;
	int32_t cooperative_multi_device_launch;
	size_t shared_mem_per_block_optin;
	int32_t pageable_memory_access_uses_host_page_tables;
	int32_t direct_managed_mem_access_from_host;
	int32_t max_blocks_per_multi_processor;
	int32_t access_policy_max_window_size;
	size_t reserved_shared_mem_per_block;
	int32_t host_register_supported;
	int32_t sparse_hip_array_supported;
	int32_t host_register_read_only_supported;
	int32_t timeline_semaphore_interop_supported;
	int32_t memory_pools_supported;
	int32_t gpu_direct_rdma_supported;
	uint32_t gpu_direct_rdma_flush_writes_options;
	int32_t gpu_direct_rdma_writes_ordering;
	uint32_t memory_pool_supported_handle_types;
	int32_t deferred_mapping_hip_array_supported;
	int32_t ipc_event_supported;
	int32_t cluster_launch;
	int32_t unified_function_pointers;
	int32_t reserved[63];
	int32_t hip_reserved[32];
	char gcn_arch_name[256];
	size_t max_shared_memory_per_multi_processor;
	int32_t clock_instruction_rate;
	uint32_t arch;
	uint32_t *hdp_mem_flush_cntl;
	uint32_t *hdp_reg_flush_cntl;
	int32_t cooperative_multi_device_unmatched_func;
	int32_t cooperative_multi_device_unmatched_grid_dim;
	int32_t cooperative_multi_device_unmatched_block_dim;
	int32_t cooperative_multi_device_unmatched_shared_mem;
	int32_t is_large_bar;
	int32_t asic_revision;
};

/*
 * The dispatch tables, hip_api_trace.hpp. libamdhip64 calls each exported function by one of them,
 * and gives both to rocprofiler_register_library_api_table() of librocprofiler-register (since 6.2)
 * before the first call:
 *
 *     int rocprofiler_register_library_api_table(const char *name, int (*import)(void),
 *                     uint32_t version, void **tables, uint64_t n_tables,
 *                     struct ts_hip_register_id *ret_id)
 *
 * name is TS_HIP_TABLE_NAME or TS_HIP_COMPILER_TABLE_NAME, tables[0] the table, and the version
 * 10000 * major + 100 * minor + patch. `size` bounds the table: a newer one is longer. hip.calls
 * numbers the places from its start, so slots[0] has place 1.
 */
#define TS_HIP_TABLE_NAME	   "hip"
#define TS_HIP_COMPILER_TABLE_NAME "hip_compiler"

struct ts_hip_dispatch_table {
	size_t size; /* bytes, with this field */
	void *slots[];
};

/*
 * The tracer's callback, hipRegisterTracerCallback() (version node hip_5.3). domain API: op is
 * HIP's id of the call, data a struct ts_hip_api_trace_data to fill in; 0 asks for the call. domain
 * OPS: without data it asks for the operation, 0 is yes; with data, a struct ts_hip_activity_record
 * of a finished operation.
 */
typedef int (*ts_hip_tracer_callback)(uint32_t domain, uint32_t op, void *data);

enum ts_hip_activity_domain {
	TS_HIP_ACTIVITY_DOMAIN_OPS = 2,
	TS_HIP_ACTIVITY_DOMAIN_API = 3,
};

enum ts_hip_activity_op {
	TS_HIP_ACTIVITY_OP_DISPATCH = 0,
	TS_HIP_ACTIVITY_OP_COPY = 1,
	TS_HIP_ACTIVITY_OP_BARRIER = 2,
};

/* Types of commands, those of OpenCL's CL_COMMAND_*. A set has op COPY and a FILL type. */
enum ts_hip_command {
	TS_HIP_COMMAND_NDRANGE_KERNEL = 0x11f0,
	TS_HIP_COMMAND_TASK = 0x11f1, /* a graph: one record for each kernel */
	TS_HIP_COMMAND_READ_BUFFER = 0x11f3,
	TS_HIP_COMMAND_WRITE_BUFFER = 0x11f4,
	TS_HIP_COMMAND_COPY_BUFFER = 0x11f5,
	TS_HIP_COMMAND_READ_IMAGE = 0x11f6,
	TS_HIP_COMMAND_WRITE_IMAGE = 0x11f7,
	TS_HIP_COMMAND_COPY_IMAGE = 0x11f8,
	TS_HIP_COMMAND_COPY_IMAGE_TO_BUFFER = 0x11f9,
	TS_HIP_COMMAND_COPY_BUFFER_TO_IMAGE = 0x11fa,
	TS_HIP_COMMAND_MARKER = 0x11fe,
	TS_HIP_COMMAND_READ_BUFFER_RECT = 0x1201,
	TS_HIP_COMMAND_WRITE_BUFFER_RECT = 0x1202,
	TS_HIP_COMMAND_COPY_BUFFER_RECT = 0x1203,
	TS_HIP_COMMAND_FILL_BUFFER = 0x1207,
	TS_HIP_COMMAND_FILL_IMAGE = 0x1208,
};

struct ts_hip_activity_record {
	uint32_t domain;
	uint32_t kind; /* enum ts_hip_command */
	uint32_t op;
	uint64_t correlation_id;
	uint64_t begin_ns; /* on the host, by the runtime's clock */
	uint64_t end_ns;
	int32_t device_id;
	uint64_t queue_id;
	union {
		size_t bytes;		 /* for copies and sets of buffers; else 0 */
		const char *kernel_name; /* for a dispatch; valid only inside the callback */
	};
};

/*
 * The tracer's record of a call, hip_api_trace_data_t: the id, a copy of the call's arguments as
 * long as the longest one of the release, and the phases. The runtime leaves phase_enter and
 * phase_exit uninitialized: a callback that returns 0 writes both.
 */
struct ts_hip_api_trace_data;

struct ts_hip_api_phases {
	uint64_t phase_enter_timestamp;
	uint64_t phase_data;
	void (*phase_enter)(uint32_t op, struct ts_hip_api_trace_data *data);
	void (*phase_exit)(uint32_t op, struct ts_hip_api_trace_data *data);
};

/* Offsets of the phases in 5.3 to 5.7, and since 6.0, where the longest argument grew. */
#define TS_HIP_API_PHASES_OFF_5 840
#define TS_HIP_API_PHASES_OFF_6 1520
#define TS_HIP_API_ARGS_BYTES	1504

/* The record since 6.0. */
struct ts_hip_api_trace_data {
	uint64_t correlation_id; /* written by the callback, kept in the records of the work */
	uint32_t phase;
	char args[TS_HIP_API_ARGS_BYTES] __attribute__((aligned(8)));
	struct ts_hip_api_phases phases;
};

/*
 * Since 7, data may also be this value in domain OPS: the runtime will deliver one record of the
 * operation. The result means nothing.
 */
#define TS_HIP_ACTIVITY_COMMIT ((void *)1)

/*
 * Until 5.3.0 instead, for roctracer. hipInitActivityCallback(id_callback, op_callback, arg) and
 * hipEnableActivityCallback(op, true): the runtime calls id_callback with a number of its own for
 * each command, on the thread that makes it, and op_callback with the record of the finished
 * command. There, correlation_id is that number, the record has no name of a kernel, and its bytes
 * may be 0. op is DISPATCH for kernels, else COPY, also for markers. Commands have times while a
 * callback of hipRegisterActivityCallback(id, callback, arg) exists for any call. The runtime calls
 * that at the entry of the call: a result NULL means that the call is not traced.
 */
typedef void (*ts_hip_activity_id_callback)(uint64_t record_id);
typedef void (*ts_hip_activity_op_callback)(uint32_t op, void *record, void *arg);
typedef void *(*ts_hip_activity_sync_callback)(uint32_t id, void *record, const void *data,
					       void *arg);
typedef void (*ts_hip_api_callback)(uint32_t domain, uint32_t id, const void *data, void *arg);

/* __hipRegisterFatBinary takes this wrapper. */
#define TS_HIP_FAT_BINARY_MAGIC	  0x48495046u /* "HIPF" */
#define TS_HIP_FAT_BINARY_VERSION 1u

struct ts_hip_fat_binary_wrapper {
	uint32_t magic;
	uint32_t version;
	const void *binary;
	void *unused;
};

/*
 * Its binary is a bundle: this head, then n_entries entries one after the other. Each entry is
 * followed by its id, id_bytes long and without a zero, "hipv4-amdgcn-amd-amdhsa--gfx90a" for
 * example. Offsets count from the head.
 */
#define TS_HIP_BUNDLE_MAGIC "__CLANG_OFFLOAD_BUNDLE__"
/* A compressed bundle starts with this instead. */
#define TS_HIP_BUNDLE_COMPRESSED_MAGIC "CCOB"

struct ts_hip_bundle {
	char magic[24];
	uint64_t n_entries;
};

struct ts_hip_bundle_entry {
	uint64_t offset;
	uint64_t size;
	uint64_t id_bytes;
};

static_assert(sizeof(struct ts_hip_device_prop_r0000) == 792, "");
static_assert(sizeof(struct ts_hip_device_prop_r0600) == 1472, "");
static_assert(sizeof(struct ts_hip_memcpy3d_parms) == 160, "");
static_assert(sizeof(struct ts_hip_drv_memcpy3d) == 184, "");
static_assert(sizeof(struct ts_hip_pointer_attributes) == 32, "");
static_assert(sizeof(struct ts_hip_activity_record) == 64, "");
static_assert(offsetof(struct ts_hip_api_trace_data, phases) == TS_HIP_API_PHASES_OFF_6, "");
static_assert(sizeof(struct ts_hip_api_trace_data) == 1552, "");
