/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of CUDA's runtime API (libcudart) that TraceSmith uses, in the project's own words. The
 * reading rules are cuda_driver.h's: the vendor's cudaSomeThing is TS_CUDA_SOME_THING, handles are
 * void *, layouts are those of CUDA 13.0 and are tested against the vendor's headers.
 */
#pragma once

#include "proto/abi/vendor/cuda_driver.h"

/* The runtime API's version that this header describes: 1000 * major + 10 * minor. */
#define TS_CUDART_VERSION 13000

/*
 * Errors: X(suffix of TS_CUDA_, value, the vendor's name, text). cudaGetErrorName returns the name,
 * cudaGetErrorString the text.
 */
#define TS_CUDA_ERRORS(X)                                                                          \
	X(SUCCESS, 0, cudaSuccess, "no error")                                                     \
	X(ERROR_INVALID_VALUE, 1, cudaErrorInvalidValue, "invalid argument")                       \
	X(ERROR_MEMORY_ALLOCATION, 2, cudaErrorMemoryAllocation, "out of memory")                  \
	X(ERROR_INITIALIZATION_ERROR, 3, cudaErrorInitializationError, "initialization error")     \
	X(ERROR_CUDART_UNLOADING, 4, cudaErrorCudartUnloading, "driver shutting down")             \
	X(ERROR_PROFILER_DISABLED, 5, cudaErrorProfilerDisabled,                                   \
	  "profiler disabled while using external profiling tool")                                 \
	X(ERROR_PROFILER_NOT_INITIALIZED, 6, cudaErrorProfilerNotInitialized,                      \
	  "profiler not initialized: call cudaProfilerInitialize()")                               \
	X(ERROR_PROFILER_ALREADY_STARTED, 7, cudaErrorProfilerAlreadyStarted,                      \
	  "profiler already started")                                                              \
	X(ERROR_PROFILER_ALREADY_STOPPED, 8, cudaErrorProfilerAlreadyStopped,                      \
	  "profiler already stopped")                                                              \
	X(ERROR_INVALID_CONFIGURATION, 9, cudaErrorInvalidConfiguration,                           \
	  "invalid configuration argument")                                                        \
	X(ERROR_INVALID_PITCH_VALUE, 12, cudaErrorInvalidPitchValue, "invalid pitch argument")     \
	X(ERROR_INVALID_SYMBOL, 13, cudaErrorInvalidSymbol, "invalid device symbol")               \
	X(ERROR_INVALID_HOST_POINTER, 16, cudaErrorInvalidHostPointer, "invalid host pointer")     \
	X(ERROR_INVALID_DEVICE_POINTER, 17, cudaErrorInvalidDevicePointer,                         \
	  "invalid device pointer")                                                                \
	X(ERROR_INVALID_TEXTURE, 18, cudaErrorInvalidTexture, "invalid texture reference")         \
	X(ERROR_INVALID_TEXTURE_BINDING, 19, cudaErrorInvalidTextureBinding,                       \
	  "texture is not bound to a pointer")                                                     \
	X(ERROR_INVALID_CHANNEL_DESCRIPTOR, 20, cudaErrorInvalidChannelDescriptor,                 \
	  "invalid channel descriptor")                                                            \
	X(ERROR_INVALID_MEMCPY_DIRECTION, 21, cudaErrorInvalidMemcpyDirection,                     \
	  "invalid copy direction for memcpy")                                                     \
	X(ERROR_ADDRESS_OF_CONSTANT, 22, cudaErrorAddressOfConstant,                               \
	  "invalid address of constant")                                                           \
	X(ERROR_TEXTURE_FETCH_FAILED, 23, cudaErrorTextureFetchFailed,                             \
	  "fetch from texture failed")                                                             \
	X(ERROR_TEXTURE_NOT_BOUND, 24, cudaErrorTextureNotBound,                                   \
	  "cannot fetch from a texture that is not bound")                                         \
	X(ERROR_SYNCHRONIZATION_ERROR, 25, cudaErrorSynchronizationError,                          \
	  "incorrect use of __syncthreads()")                                                      \
	X(ERROR_INVALID_FILTER_SETTING, 26, cudaErrorInvalidFilterSetting,                         \
	  "linear filtering not supported for non-float type")                                     \
	X(ERROR_INVALID_NORM_SETTING, 27, cudaErrorInvalidNormSetting,                             \
	  "read as normalized float not supported for data type")                                  \
	X(ERROR_MIXED_DEVICE_EXECUTION, 28, cudaErrorMixedDeviceExecution,                         \
	  "device emulation mode and device execution mode cannot be mixed")                       \
	X(ERROR_NOT_YET_IMPLEMENTED, 31, cudaErrorNotYetImplemented,                               \
	  "feature not yet implemented")                                                           \
	X(ERROR_MEMORY_VALUE_TOO_LARGE, 32, cudaErrorMemoryValueTooLarge,                          \
	  "memory size or pointer value too large to fit in 32 bit")                               \
	X(ERROR_STUB_LIBRARY, 34, cudaErrorStubLibrary, "CUDA driver is a stub library")           \
	X(ERROR_INSUFFICIENT_DRIVER, 35, cudaErrorInsufficientDriver,                              \
	  "CUDA driver version is insufficient for CUDA runtime version")                          \
	X(ERROR_CALL_REQUIRES_NEWER_DRIVER, 36, cudaErrorCallRequiresNewerDriver,                  \
	  "API call is not supported in the installed CUDA driver")                                \
	X(ERROR_INVALID_SURFACE, 37, cudaErrorInvalidSurface, "invalid surface reference")         \
	X(ERROR_DUPLICATE_VARIABLE_NAME, 43, cudaErrorDuplicateVariableName,                       \
	  "duplicate global variable looked up by string name")                                    \
	X(ERROR_DUPLICATE_TEXTURE_NAME, 44, cudaErrorDuplicateTextureName,                         \
	  "duplicate texture looked up by string name")                                            \
	X(ERROR_DUPLICATE_SURFACE_NAME, 45, cudaErrorDuplicateSurfaceName,                         \
	  "duplicate surface looked up by string name")                                            \
	X(ERROR_DEVICES_UNAVAILABLE, 46, cudaErrorDevicesUnavailable,                              \
	  "CUDA-capable device(s) is/are busy or unavailable")                                     \
	X(ERROR_INCOMPATIBLE_DRIVER_CONTEXT, 49, cudaErrorIncompatibleDriverContext,               \
	  "incompatible driver context")                                                           \
	X(ERROR_MISSING_CONFIGURATION, 52, cudaErrorMissingConfiguration,                          \
	  "__global__ function call is not configured")                                            \
	X(ERROR_PRIOR_LAUNCH_FAILURE, 53, cudaErrorPriorLaunchFailure,                             \
	  "unspecified launch failure in prior launch")                                            \
	X(ERROR_LAUNCH_MAX_DEPTH_EXCEEDED, 65, cudaErrorLaunchMaxDepthExceeded,                    \
	  "launch would exceed maximum depth of nested launches")                                  \
	X(ERROR_LAUNCH_FILE_SCOPED_TEX, 66, cudaErrorLaunchFileScopedTex,                          \
	  "launch failed: the kernel uses file-scoped textures, which are not supported")          \
	X(ERROR_LAUNCH_FILE_SCOPED_SURF, 67, cudaErrorLaunchFileScopedSurf,                        \
	  "launch failed: the kernel uses file-scoped surfaces, which are not supported")          \
	X(ERROR_SYNC_DEPTH_EXCEEDED, 68, cudaErrorSyncDepthExceeded,                               \
	  "synchronizing failed: the grid is nested deeper than the sync depth limit")             \
	X(ERROR_LAUNCH_PENDING_COUNT_EXCEEDED, 69, cudaErrorLaunchPendingCountExceeded,            \
	  "launch failed: too many launches pending on the device runtime")                        \
	X(ERROR_INVALID_DEVICE_FUNCTION, 98, cudaErrorInvalidDeviceFunction,                       \
	  "invalid device function")                                                               \
	X(ERROR_NO_DEVICE, 100, cudaErrorNoDevice, "no CUDA-capable device is detected")           \
	X(ERROR_INVALID_DEVICE, 101, cudaErrorInvalidDevice, "invalid device ordinal")             \
	X(ERROR_DEVICE_NOT_LICENSED, 102, cudaErrorDeviceNotLicensed,                              \
	  "device doesn't have valid Grid license")                                                \
	X(ERROR_SOFTWARE_VALIDITY_NOT_ESTABLISHED, 103, cudaErrorSoftwareValidityNotEstablished,   \
	  "integrity checks failed")                                                               \
	X(ERROR_STARTUP_FAILURE, 127, cudaErrorStartupFailure, "startup failure in cuda runtime")  \
	X(ERROR_INVALID_KERNEL_IMAGE, 200, cudaErrorInvalidKernelImage,                            \
	  "device kernel image is invalid")                                                        \
	X(ERROR_DEVICE_UNINITIALIZED, 201, cudaErrorDeviceUninitialized, "invalid device context") \
	X(ERROR_MAP_BUFFER_OBJECT_FAILED, 205, cudaErrorMapBufferObjectFailed,                     \
	  "mapping of buffer object failed")                                                       \
	X(ERROR_UNMAP_BUFFER_OBJECT_FAILED, 206, cudaErrorUnmapBufferObjectFailed,                 \
	  "unmapping of buffer object failed")                                                     \
	X(ERROR_ARRAY_IS_MAPPED, 207, cudaErrorArrayIsMapped, "array is mapped")                   \
	X(ERROR_ALREADY_MAPPED, 208, cudaErrorAlreadyMapped, "resource already mapped")            \
	X(ERROR_NO_KERNEL_IMAGE_FOR_DEVICE, 209, cudaErrorNoKernelImageForDevice,                  \
	  "no kernel image is available for execution on the device")                              \
	X(ERROR_ALREADY_ACQUIRED, 210, cudaErrorAlreadyAcquired, "resource already acquired")      \
	X(ERROR_NOT_MAPPED, 211, cudaErrorNotMapped, "resource not mapped")                        \
	X(ERROR_NOT_MAPPED_AS_ARRAY, 212, cudaErrorNotMappedAsArray,                               \
	  "resource not mapped as array")                                                          \
	X(ERROR_NOT_MAPPED_AS_POINTER, 213, cudaErrorNotMappedAsPointer,                           \
	  "resource not mapped as pointer")                                                        \
	X(ERROR_ECC_UNCORRECTABLE, 214, cudaErrorECCUncorrectable,                                 \
	  "uncorrectable ECC error encountered")                                                   \
	X(ERROR_UNSUPPORTED_LIMIT, 215, cudaErrorUnsupportedLimit,                                 \
	  "limit is not supported on this architecture")                                           \
	X(ERROR_DEVICE_ALREADY_IN_USE, 216, cudaErrorDeviceAlreadyInUse,                           \
	  "exclusive-thread device already in use by a different thread")                          \
	X(ERROR_PEER_ACCESS_UNSUPPORTED, 217, cudaErrorPeerAccessUnsupported,                      \
	  "peer access is not supported between these two devices")                                \
	X(ERROR_INVALID_PTX, 218, cudaErrorInvalidPtx, "a PTX JIT compilation failed")             \
	X(ERROR_INVALID_GRAPHICS_CONTEXT, 219, cudaErrorInvalidGraphicsContext,                    \
	  "invalid OpenGL or DirectX context")                                                     \
	X(ERROR_NVLINK_UNCORRECTABLE, 220, cudaErrorNvlinkUncorrectable,                           \
	  "uncorrectable NVLink error detected during the execution")                              \
	X(ERROR_JIT_COMPILER_NOT_FOUND, 221, cudaErrorJitCompilerNotFound,                         \
	  "PTX JIT compiler library not found")                                                    \
	X(ERROR_UNSUPPORTED_PTX_VERSION, 222, cudaErrorUnsupportedPtxVersion,                      \
	  "the provided PTX was compiled with an unsupported toolchain.")                          \
	X(ERROR_JIT_COMPILATION_DISABLED, 223, cudaErrorJitCompilationDisabled,                    \
	  "PTX JIT compilation was disabled")                                                      \
	X(ERROR_UNSUPPORTED_EXEC_AFFINITY, 224, cudaErrorUnsupportedExecAffinity,                  \
	  "the provided execution affinity is not supported")                                      \
	X(ERROR_UNSUPPORTED_DEV_SIDE_SYNC, 225, cudaErrorUnsupportedDevSideSync,                   \
	  "the PTX calls cudaDeviceSynchronize on the device, which is not supported")             \
	X(ERROR_CONTAINED, 226, cudaErrorContained,                                                \
	  "contained error: peer memory access over NVLink or hardware fault")                     \
	X(ERROR_INVALID_SOURCE, 300, cudaErrorInvalidSource, "device kernel image is invalid")     \
	X(ERROR_FILE_NOT_FOUND, 301, cudaErrorFileNotFound, "file not found")                      \
	X(ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, 302, cudaErrorSharedObjectSymbolNotFound,          \
	  "shared object symbol not found")                                                        \
	X(ERROR_SHARED_OBJECT_INIT_FAILED, 303, cudaErrorSharedObjectInitFailed,                   \
	  "shared object initialization failed")                                                   \
	X(ERROR_OPERATING_SYSTEM, 304, cudaErrorOperatingSystem,                                   \
	  "OS call failed or operation not supported on this OS")                                  \
	X(ERROR_INVALID_RESOURCE_HANDLE, 400, cudaErrorInvalidResourceHandle,                      \
	  "invalid resource handle")                                                               \
	X(ERROR_ILLEGAL_STATE, 401, cudaErrorIllegalState,                                         \
	  "the operation cannot be performed in the present state")                                \
	X(ERROR_LOSSY_QUERY, 402, cudaErrorLossyQuery,                                             \
	  "attempted introspection would be semantically lossy")                                   \
	X(ERROR_SYMBOL_NOT_FOUND, 500, cudaErrorSymbolNotFound, "named symbol not found")          \
	X(ERROR_NOT_READY, 600, cudaErrorNotReady, "device not ready")                             \
	X(ERROR_ILLEGAL_ADDRESS, 700, cudaErrorIllegalAddress,                                     \
	  "an illegal memory access was encountered")                                              \
	X(ERROR_LAUNCH_OUT_OF_RESOURCES, 701, cudaErrorLaunchOutOfResources,                       \
	  "too many resources requested for launch")                                               \
	X(ERROR_LAUNCH_TIMEOUT, 702, cudaErrorLaunchTimeout,                                       \
	  "the launch timed out and was terminated")                                               \
	X(ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, 703, cudaErrorLaunchIncompatibleTexturing,          \
	  "launch uses incompatible texturing mode")                                               \
	X(ERROR_PEER_ACCESS_ALREADY_ENABLED, 704, cudaErrorPeerAccessAlreadyEnabled,               \
	  "peer access is already enabled")                                                        \
	X(ERROR_PEER_ACCESS_NOT_ENABLED, 705, cudaErrorPeerAccessNotEnabled,                       \
	  "peer access has not been enabled")                                                      \
	X(ERROR_SET_ON_ACTIVE_PROCESS, 708, cudaErrorSetOnActiveProcess,                           \
	  "cannot set while device is active in this process")                                     \
	X(ERROR_CONTEXT_IS_DESTROYED, 709, cudaErrorContextIsDestroyed, "context is destroyed")    \
	X(ERROR_ASSERT, 710, cudaErrorAssert, "device-side assert triggered")                      \
	X(ERROR_TOO_MANY_PEERS, 711, cudaErrorTooManyPeers, "peer mapping resources exhausted")    \
	X(ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712, cudaErrorHostMemoryAlreadyRegistered,         \
	  "part or all of the requested memory range is already mapped")                           \
	X(ERROR_HOST_MEMORY_NOT_REGISTERED, 713, cudaErrorHostMemoryNotRegistered,                 \
	  "pointer does not correspond to a registered memory region")                             \
	X(ERROR_HARDWARE_STACK_ERROR, 714, cudaErrorHardwareStackError, "hardware stack error")    \
	X(ERROR_ILLEGAL_INSTRUCTION, 715, cudaErrorIllegalInstruction,                             \
	  "an illegal instruction was encountered")                                                \
	X(ERROR_MISALIGNED_ADDRESS, 716, cudaErrorMisalignedAddress, "misaligned address")         \
	X(ERROR_INVALID_ADDRESS_SPACE, 717, cudaErrorInvalidAddressSpace,                          \
	  "operation not supported on global/shared address space")                                \
	X(ERROR_INVALID_PC, 718, cudaErrorInvalidPc, "invalid program counter")                    \
	X(ERROR_LAUNCH_FAILURE, 719, cudaErrorLaunchFailure, "unspecified launch failure")         \
	X(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, cudaErrorCooperativeLaunchTooLarge,             \
	  "too many blocks in cooperative launch")                                                 \
	X(ERROR_TENSOR_MEMORY_LEAK, 721, cudaErrorTensorMemoryLeak,                                \
	  "tensor memory not completely freed")                                                    \
	X(ERROR_NOT_PERMITTED, 800, cudaErrorNotPermitted, "operation not permitted")              \
	X(ERROR_NOT_SUPPORTED, 801, cudaErrorNotSupported, "operation not supported")              \
	X(ERROR_SYSTEM_NOT_READY, 802, cudaErrorSystemNotReady, "system not yet initialized")      \
	X(ERROR_SYSTEM_DRIVER_MISMATCH, 803, cudaErrorSystemDriverMismatch,                        \
	  "system has unsupported display driver / cuda driver combination")                       \
	X(ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804, cudaErrorCompatNotSupportedOnDevice,          \
	  "forward compatibility was attempted on non supported HW")                               \
	X(ERROR_MPS_CONNECTION_FAILED, 805, cudaErrorMpsConnectionFailed,                          \
	  "MPS client failed to connect to the MPS control daemon or server")                      \
	X(ERROR_MPS_RPC_FAILURE, 806, cudaErrorMpsRpcFailure,                                      \
	  "remote procedure call between MPS server and client failed")                            \
	X(ERROR_MPS_SERVER_NOT_READY, 807, cudaErrorMpsServerNotReady,                             \
	  "MPS server is not ready for new clients")                                               \
	X(ERROR_MPS_MAX_CLIENTS_REACHED, 808, cudaErrorMpsMaxClientsReached,                       \
	  "hardware resources for MPS clients are exhausted")                                      \
	X(ERROR_MPS_MAX_CONNECTIONS_REACHED, 809, cudaErrorMpsMaxConnectionsReached,               \
	  "hardware resources for device connections are exhausted")                               \
	X(ERROR_MPS_CLIENT_TERMINATED, 810, cudaErrorMpsClientTerminated,                          \
	  "the MPS client has been terminated by the server")                                      \
	X(ERROR_CDP_NOT_SUPPORTED, 811, cudaErrorCdpNotSupported,                                  \
	  "CUDA Dynamic Parallelism is used where the configuration does not support it")          \
	X(ERROR_CDP_VERSION_MISMATCH, 812, cudaErrorCdpVersionMismatch,                            \
	  "CUDA Dynamic Parallelism versions do not work together")                                \
	X(ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, cudaErrorStreamCaptureUnsupported,                \
	  "operation not permitted when stream is capturing")                                      \
	X(ERROR_STREAM_CAPTURE_INVALIDATED, 901, cudaErrorStreamCaptureInvalidated,                \
	  "operation failed due to a previous error during capture")                               \
	X(ERROR_STREAM_CAPTURE_MERGE, 902, cudaErrorStreamCaptureMerge,                            \
	  "operation would result in a merge of separate capture sequences")                       \
	X(ERROR_STREAM_CAPTURE_UNMATCHED, 903, cudaErrorStreamCaptureUnmatched,                    \
	  "capture was not ended in the same stream as it began")                                  \
	X(ERROR_STREAM_CAPTURE_UNJOINED, 904, cudaErrorStreamCaptureUnjoined,                      \
	  "capturing stream has unjoined work")                                                    \
	X(ERROR_STREAM_CAPTURE_ISOLATION, 905, cudaErrorStreamCaptureIsolation,                    \
	  "dependency created on uncaptured work in another stream")                               \
	X(ERROR_STREAM_CAPTURE_IMPLICIT, 906, cudaErrorStreamCaptureImplicit,                      \
	  "operation would make the legacy stream depend on a capturing blocking stream")          \
	X(ERROR_CAPTURED_EVENT, 907, cudaErrorCapturedEvent,                                       \
	  "operation not permitted on an event last recorded in a capturing stream")               \
	X(ERROR_STREAM_CAPTURE_WRONG_THREAD, 908, cudaErrorStreamCaptureWrongThread,               \
	  "attempt to terminate a thread-local capture sequence from another thread")              \
	X(ERROR_TIMEOUT, 909, cudaErrorTimeout, "wait operation timed out")                        \
	X(ERROR_GRAPH_EXEC_UPDATE_FAILURE, 910, cudaErrorGraphExecUpdateFailure,                   \
	  "graph update refused: a change violates what an instantiated graph allows")             \
	X(ERROR_EXTERNAL_DEVICE, 911, cudaErrorExternalDevice, "error in an external device")      \
	X(ERROR_INVALID_CLUSTER_SIZE, 912, cudaErrorInvalidClusterSize,                            \
	  "kernel launch failed: cluster misconfigured")                                           \
	X(ERROR_FUNCTION_NOT_LOADED, 913, cudaErrorFunctionNotLoaded,                              \
	  "function handle is not loaded")                                                         \
	X(ERROR_INVALID_RESOURCE_TYPE, 914, cudaErrorInvalidResourceType,                          \
	  "resource type is not valid for the operation")                                          \
	X(ERROR_INVALID_RESOURCE_CONFIGURATION, 915, cudaErrorInvalidResourceConfiguration,        \
	  "resources are insufficient or do not apply to the operation")                           \
	X(ERROR_UNKNOWN, 999, cudaErrorUnknown, "unknown error")

enum ts_cuda_error {
#define TS_CUDA_ERROR_(suffix, value, name, text) TS_CUDA_##suffix = value,
	TS_CUDA_ERRORS(TS_CUDA_ERROR_)
#undef TS_CUDA_ERROR_
};

/* Direction of a copy; DEFAULT derives it from the addresses. */
enum ts_cuda_memcpy_kind {
	TS_CUDA_MEMCPY_HOST_TO_HOST = 0,
	TS_CUDA_MEMCPY_HOST_TO_DEVICE = 1,
	TS_CUDA_MEMCPY_DEVICE_TO_HOST = 2,
	TS_CUDA_MEMCPY_DEVICE_TO_DEVICE = 3,
	TS_CUDA_MEMCPY_DEFAULT = 4,
};

/* Special stream handles. */
#define TS_CUDA_STREAM_LEGACY	  ((void *)0x1)
#define TS_CUDA_STREAM_PER_THREAD ((void *)0x2)

/* cudaStreamCreateWithFlags. */
#define TS_CUDA_STREAM_DEFAULT	    0
#define TS_CUDA_STREAM_NON_BLOCKING 1

/* cudaEventCreateWithFlags, cudaEventRecordWithFlags, cudaStreamWaitEvent. */
#define TS_CUDA_EVENT_DEFAULT	      0
#define TS_CUDA_EVENT_BLOCKING_SYNC   1
#define TS_CUDA_EVENT_DISABLE_TIMING  2
#define TS_CUDA_EVENT_INTERPROCESS    4
#define TS_CUDA_EVENT_RECORD_DEFAULT  0
#define TS_CUDA_EVENT_RECORD_EXTERNAL 1
#define TS_CUDA_EVENT_WAIT_DEFAULT    0
#define TS_CUDA_EVENT_WAIT_EXTERNAL   1

/* cudaHostAlloc, cudaHostRegister and cudaMallocManaged. */
#define TS_CUDA_HOST_ALLOC_DEFAULT	  0
#define TS_CUDA_HOST_ALLOC_PORTABLE	  1
#define TS_CUDA_HOST_ALLOC_MAPPED	  2
#define TS_CUDA_HOST_ALLOC_WRITE_COMBINED 4
#define TS_CUDA_HOST_REGISTER_DEFAULT	  0
#define TS_CUDA_HOST_REGISTER_PORTABLE	  1
#define TS_CUDA_HOST_REGISTER_MAPPED	  2
#define TS_CUDA_HOST_REGISTER_IO_MEMORY	  4
#define TS_CUDA_HOST_REGISTER_READ_ONLY	  8
#define TS_CUDA_MEM_ATTACH_GLOBAL	  1
#define TS_CUDA_MEM_ATTACH_HOST		  2
#define TS_CUDA_MEM_ATTACH_SINGLE	  4

/* cudaSetDeviceFlags. */
#define TS_CUDA_DEVICE_SCHEDULE_AUTO	      0
#define TS_CUDA_DEVICE_SCHEDULE_SPIN	      1
#define TS_CUDA_DEVICE_SCHEDULE_YIELD	      2
#define TS_CUDA_DEVICE_SCHEDULE_BLOCKING_SYNC 4
#define TS_CUDA_DEVICE_SCHEDULE_MASK	      7
#define TS_CUDA_DEVICE_MAP_HOST		      8
#define TS_CUDA_DEVICE_LMEM_RESIZE_TO_MAX     16
#define TS_CUDA_DEVICE_SYNC_MEMOPS	      128

/* Pseudo-ordinals where a device is expected. */
#define TS_CUDA_CPU_DEVICE_ID	  -1
#define TS_CUDA_INVALID_DEVICE_ID -2

/* Occupancy queries. */
#define TS_CUDA_OCCUPANCY_DEFAULT		   0
#define TS_CUDA_OCCUPANCY_DISABLE_CACHING_OVERRIDE 1

/* Kinds of memory at an address; the numbers differ from the driver's. */
enum ts_cuda_memory_type {
	TS_CUDA_MEMORY_TYPE_UNREGISTERED = 0,
	TS_CUDA_MEMORY_TYPE_HOST = 1,
	TS_CUDA_MEMORY_TYPE_DEVICE = 2,
	TS_CUDA_MEMORY_TYPE_MANAGED = 3,
};

/* cudaFuncSetAttribute; the driver's numbers. */
enum ts_cuda_func_attribute {
	TS_CUDA_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_MEMORY_SIZE = 8,
	TS_CUDA_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
	TS_CUDA_FUNC_ATTRIBUTE_CLUSTER_DIM_MUST_BE_SET = 10,
	TS_CUDA_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
	TS_CUDA_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12,
	TS_CUDA_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,
	TS_CUDA_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
	TS_CUDA_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 15,
};

/* cudaFuncSetCacheConfig. */
enum ts_cuda_func_cache {
	TS_CUDA_FUNC_CACHE_PREFER_NONE = 0,
	TS_CUDA_FUNC_CACHE_PREFER_SHARED = 1,
	TS_CUDA_FUNC_CACHE_PREFER_L1 = 2,
	TS_CUDA_FUNC_CACHE_PREFER_EQUAL = 3,
};

/* cudaDeviceGetLimit. */
enum ts_cuda_limit {
	TS_CUDA_LIMIT_STACK_SIZE = 0,
	TS_CUDA_LIMIT_PRINTF_FIFO_SIZE = 1,
	TS_CUDA_LIMIT_MALLOC_HEAP_SIZE = 2,
	TS_CUDA_LIMIT_DEV_RUNTIME_SYNC_DEPTH = 3,
	TS_CUDA_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4,
	TS_CUDA_LIMIT_MAX_L2_FETCH_GRANULARITY = 5,
	TS_CUDA_LIMIT_PERSISTING_L2_CACHE_SIZE = 6,
};

/* Compute modes. */
enum ts_cuda_compute_mode {
	TS_CUDA_COMPUTE_MODE_DEFAULT = 0,
	TS_CUDA_COMPUTE_MODE_EXCLUSIVE = 1,
	TS_CUDA_COMPUTE_MODE_PROHIBITED = 2,
	TS_CUDA_COMPUTE_MODE_EXCLUSIVE_PROCESS = 3,
};

/* Stream capture. */
enum ts_cuda_stream_capture_mode {
	TS_CUDA_STREAM_CAPTURE_MODE_GLOBAL = 0,
	TS_CUDA_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
	TS_CUDA_STREAM_CAPTURE_MODE_RELAXED = 2,
};

enum ts_cuda_stream_capture_status {
	TS_CUDA_STREAM_CAPTURE_STATUS_NONE = 0,
	TS_CUDA_STREAM_CAPTURE_STATUS_ACTIVE = 1,
	TS_CUDA_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
};

/* cudaGetDriverEntryPoint. */
enum ts_cuda_driver_entry_point_flags {
	TS_CUDA_ENABLE_DEFAULT = 0,
	TS_CUDA_ENABLE_LEGACY_STREAM = 1,
	TS_CUDA_ENABLE_PER_THREAD_DEFAULT_STREAM = 2,
};

enum ts_cuda_driver_entry_point_query_result {
	TS_CUDA_DRIVER_ENTRY_POINT_SUCCESS = 0,
	TS_CUDA_DRIVER_ENTRY_POINT_SYMBOL_NOT_FOUND = 1,
	TS_CUDA_DRIVER_ENTRY_POINT_VERSION_NOT_SUFFICENT = 2,
};

/* Memory pools; the driver's numbers. */
enum ts_cuda_mem_pool_attr {
	TS_CUDA_MEM_POOL_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
	TS_CUDA_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC = 2,
	TS_CUDA_MEM_POOL_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
	TS_CUDA_MEM_POOL_ATTR_RELEASE_THRESHOLD = 4,
	TS_CUDA_MEM_POOL_ATTR_RESERVED_MEM_CURRENT = 5,
	TS_CUDA_MEM_POOL_ATTR_RESERVED_MEM_HIGH = 6,
	TS_CUDA_MEM_POOL_ATTR_USED_MEM_CURRENT = 7,
	TS_CUDA_MEM_POOL_ATTR_USED_MEM_HIGH = 8,
};

enum ts_cuda_mem_location_type {
	TS_CUDA_MEM_LOCATION_TYPE_INVALID = 0,
	TS_CUDA_MEM_LOCATION_TYPE_NONE = 0,
	TS_CUDA_MEM_LOCATION_TYPE_DEVICE = 1,
	TS_CUDA_MEM_LOCATION_TYPE_HOST = 2,
	TS_CUDA_MEM_LOCATION_TYPE_HOST_NUMA = 3,
	TS_CUDA_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT = 4,
};

enum ts_cuda_mem_allocation_type {
	TS_CUDA_MEM_ALLOCATION_TYPE_INVALID = 0,
	TS_CUDA_MEM_ALLOCATION_TYPE_PINNED = 1,
	TS_CUDA_MEM_ALLOCATION_TYPE_MANAGED = 2,
};

enum ts_cuda_memory_advise {
	TS_CUDA_MEM_ADVISE_SET_READ_MOSTLY = 1,
	TS_CUDA_MEM_ADVISE_UNSET_READ_MOSTLY = 2,
	TS_CUDA_MEM_ADVISE_SET_PREFERRED_LOCATION = 3,
	TS_CUDA_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 4,
	TS_CUDA_MEM_ADVISE_SET_ACCESSED_BY = 5,
	TS_CUDA_MEM_ADVISE_UNSET_ACCESSED_BY = 6,
};

/* cudaDeviceGetP2PAttribute. */
enum ts_cuda_device_p2p_attr {
	TS_CUDA_DEV_P2_P_ATTR_PERFORMANCE_RANK = 1,
	TS_CUDA_DEV_P2_P_ATTR_ACCESS_SUPPORTED = 2,
	TS_CUDA_DEV_P2_P_ATTR_NATIVE_ATOMIC_SUPPORTED = 3,
	TS_CUDA_DEV_P2_P_ATTR_CUDA_ARRAY_ACCESS_SUPPORTED = 4,
	TS_CUDA_DEV_P2_P_ATTR_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED = 5,
};

/* Channel formats of arrays. */
enum ts_cuda_channel_format_kind {
	TS_CUDA_CHANNEL_FORMAT_KIND_SIGNED = 0,
	TS_CUDA_CHANNEL_FORMAT_KIND_UNSIGNED = 1,
	TS_CUDA_CHANNEL_FORMAT_KIND_FLOAT = 2,
	TS_CUDA_CHANNEL_FORMAT_KIND_NONE = 3,
	TS_CUDA_CHANNEL_FORMAT_KIND_NV12 = 4,
};

/* Launch attributes; the driver's numbers. */
enum ts_cuda_launch_attribute_id {
	TS_CUDA_LAUNCH_ATTRIBUTE_IGNORE = 0,
	TS_CUDA_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1,
	TS_CUDA_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
	TS_CUDA_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY = 3,
	TS_CUDA_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
	TS_CUDA_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
	TS_CUDA_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
	TS_CUDA_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
	TS_CUDA_LAUNCH_ATTRIBUTE_PRIORITY = 8,
	TS_CUDA_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP = 9,
	TS_CUDA_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN = 10,
	TS_CUDA_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11,
	TS_CUDA_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12,
	TS_CUDA_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE = 13,
	TS_CUDA_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 14,
	TS_CUDA_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING = 16,
};

/* A grid or a block. Three words, so a value is passed in two registers. */
struct ts_cuda_dim3 {
	uint32_t x;
	uint32_t y;
	uint32_t z;
};

/* A box: the width counts bytes, or elements if an array takes part. */
struct ts_cuda_extent {
	size_t width;
	size_t height;
	size_t depth;
};

/* An origin in such a box. */
struct ts_cuda_pos {
	size_t x;
	size_t y;
	size_t z;
};

/* Pitched memory: rows of xsize bytes, pitch bytes apart. */
struct ts_cuda_pitched_ptr {
	void *ptr;
	size_t pitch;
	size_t xsize;
	size_t ysize;
};

/* cudaMemcpy3D. */
struct ts_cuda_memcpy_3d_parms {
	void *src_array;
	struct ts_cuda_pos src_pos;
	struct ts_cuda_pitched_ptr src_ptr;
	void *dst_array;
	struct ts_cuda_pos dst_pos;
	struct ts_cuda_pitched_ptr dst_ptr;
	struct ts_cuda_extent extent;
	int32_t kind;
};

/* cudaMemcpy3DPeer. */
struct ts_cuda_memcpy_3d_peer_parms {
	void *src_array;
	struct ts_cuda_pos src_pos;
	struct ts_cuda_pitched_ptr src_ptr;
	int32_t src_device;
	void *dst_array;
	struct ts_cuda_pos dst_pos;
	struct ts_cuda_pitched_ptr dst_ptr;
	int32_t dst_device;
	struct ts_cuda_extent extent;
};

/* Element format of an array. */
struct ts_cuda_channel_format_desc {
	int32_t x;
	int32_t y;
	int32_t z;
	int32_t w;
	int32_t f;
};

/* cudaLaunchKernelExC. The attributes are the driver's structure. */
struct ts_cuda_launch_config {
	struct ts_cuda_dim3 grid_dim;
	struct ts_cuda_dim3 block_dim;
	size_t dynamic_smem_bytes;
	void *stream;
	struct ts_cu_launch_attribute *attrs;
	uint32_t num_attrs;
};

/* cudaFuncGetAttributes. */
struct ts_cuda_func_attributes {
	size_t shared_size_bytes;
	size_t const_size_bytes;
	size_t local_size_bytes;
	int32_t max_threads_per_block;
	int32_t num_regs;
	int32_t ptx_version;
	int32_t binary_version;
	int32_t cache_mode_ca;
	int32_t max_dynamic_shared_size_bytes;
	int32_t preferred_shmem_carveout;
	int32_t cluster_dim_must_be_set;
	int32_t required_cluster_width;
	int32_t required_cluster_height;
	int32_t required_cluster_depth;
	int32_t cluster_scheduling_policy_preference;
	int32_t non_portable_cluster_size_allowed;
	int32_t reserved[16];
};

/* cudaPointerGetAttributes. */
struct ts_cuda_pointer_attributes {
	int32_t type;
	int32_t device;
	void *device_pointer;
	void *host_pointer;
	int64_t reserved[8];
};

/* cudaGetDeviceProperties (CUDA 13: 1008 bytes; cbid 440, cudaGetDeviceProperties_v12000). */
struct ts_cuda_device_prop {
	char name[256];
	struct ts_cu_uuid uuid;
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
	size_t total_const_mem;
	int32_t major;
	int32_t minor;
	size_t texture_alignment;
	size_t texture_pitch_alignment;
	int32_t multi_processor_count;
	int32_t integrated;
	int32_t can_map_host_memory;
	int32_t max_texture1d;
	int32_t max_texture1d_mipmap;
	int32_t max_texture2d[2];
	int32_t max_texture2d_mipmap[2];
	int32_t max_texture2d_linear[3];
	int32_t max_texture2d_gather[2];
	int32_t max_texture3d[3];
	int32_t max_texture3d_alt[3];
	int32_t max_texture_cubemap;
	int32_t max_texture1d_layered[2];
	int32_t max_texture2d_layered[3];
	int32_t max_texture_cubemap_layered[2];
	int32_t max_surface1d;
	int32_t max_surface2d[2];
	int32_t max_surface3d[3];
	int32_t max_surface1d_layered[2];
	int32_t max_surface2d_layered[3];
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
	int32_t pageable_memory_access;
	int32_t concurrent_managed_access;
	int32_t compute_preemption_supported;
	int32_t can_use_host_pointer_for_registered_mem;
	int32_t cooperative_launch;
	size_t shared_mem_per_block_optin;
	int32_t pageable_memory_access_uses_host_page_tables;
	int32_t direct_managed_mem_access_from_host;
	int32_t max_blocks_per_multi_processor;
	int32_t access_policy_max_window_size;
	size_t reserved_shared_mem_per_block;
	int32_t host_register_supported;
	int32_t sparse_cuda_array_supported;
	int32_t host_register_read_only_supported;
	int32_t timeline_semaphore_interop_supported;
	int32_t memory_pools_supported;
	int32_t gpu_direct_rdma_supported;
	uint32_t gpu_direct_rdma_flush_writes_options;
	int32_t gpu_direct_rdma_writes_ordering;
	uint32_t memory_pool_supported_handle_types;
	int32_t deferred_mapping_cuda_array_supported;
	int32_t ipc_event_supported;
	int32_t cluster_launch;
	int32_t unified_function_pointers;
	int32_t device_numa_config;
	int32_t device_numa_id;
	int32_t mps_enabled;
	int32_t host_numa_id;
	uint32_t gpu_pci_device_id;
	uint32_t gpu_pci_subsystem_id;
	int32_t host_numa_multinode_ipc_supported;
	int32_t reserved[56];
};
