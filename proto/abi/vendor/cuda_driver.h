/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of CUDA's driver API that TraceSmith uses, in the project's own words. Names differ from
 * NVIDIA's (ts_cu_, TS_CU_); values and layouts are equal. test/unit/vendor compares all of them
 * with the vendor's headers if a toolkit is installed, so the build needs no toolkit.
 *
 * Reading rules: the vendor's CU_X is TS_CU_X here, and CUDA_ERROR_X is TS_CU_ERROR_X. Handles
 * (context, stream, event, module, ...) are void *, device pointers uint64_t, devices int32_t.
 * Enumerations in structures are int32_t, as on all platforms of CUDA. Fields keep the vendor's
 * words in snake_case without the Hungarian p/h. Layouts are those of CUDA 13.0 on LP64; a comment
 * marks each structure that grew since CUDA 11.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The driver API's version that this header describes: 1000 * major + 10 * minor. */
#define TS_CU_VERSION 0x32c8

/*
 * Result codes: X(suffix of TS_CU_, value, the vendor's name, text). cuGetErrorName returns the
 * name and cuGetErrorString the text; programs print and compare both.
 */
#define TS_CU_RESULTS(X)                                                                          \
	X(SUCCESS, 0, CUDA_SUCCESS, "no error")                                                   \
	X(ERROR_INVALID_VALUE, 1, CUDA_ERROR_INVALID_VALUE, "invalid argument")                   \
	X(ERROR_OUT_OF_MEMORY, 2, CUDA_ERROR_OUT_OF_MEMORY, "out of memory")                      \
	X(ERROR_NOT_INITIALIZED, 3, CUDA_ERROR_NOT_INITIALIZED, "initialization error")           \
	X(ERROR_DEINITIALIZED, 4, CUDA_ERROR_DEINITIALIZED, "driver shutting down")               \
	X(ERROR_PROFILER_DISABLED, 5, CUDA_ERROR_PROFILER_DISABLED,                               \
	  "profiler disabled while using external profiling tool")                                \
	X(ERROR_PROFILER_NOT_INITIALIZED, 6, CUDA_ERROR_PROFILER_NOT_INITIALIZED,                 \
	  "profiler not initialized: call cudaProfilerInitialize()")                              \
	X(ERROR_PROFILER_ALREADY_STARTED, 7, CUDA_ERROR_PROFILER_ALREADY_STARTED,                 \
	  "profiler already started")                                                             \
	X(ERROR_PROFILER_ALREADY_STOPPED, 8, CUDA_ERROR_PROFILER_ALREADY_STOPPED,                 \
	  "profiler already stopped")                                                             \
	X(ERROR_STUB_LIBRARY, 34, CUDA_ERROR_STUB_LIBRARY, "CUDA driver is a stub library")       \
	X(ERROR_CALL_REQUIRES_NEWER_DRIVER, 36, CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER,            \
	  "API call is not supported in the installed CUDA driver")                               \
	X(ERROR_DEVICE_UNAVAILABLE, 46, CUDA_ERROR_DEVICE_UNAVAILABLE,                            \
	  "CUDA-capable device(s) is/are busy or unavailable")                                    \
	X(ERROR_NO_DEVICE, 100, CUDA_ERROR_NO_DEVICE, "no CUDA-capable device is detected")       \
	X(ERROR_INVALID_DEVICE, 101, CUDA_ERROR_INVALID_DEVICE, "invalid device ordinal")         \
	X(ERROR_DEVICE_NOT_LICENSED, 102, CUDA_ERROR_DEVICE_NOT_LICENSED,                         \
	  "device doesn't have valid Grid license")                                               \
	X(ERROR_INVALID_IMAGE, 200, CUDA_ERROR_INVALID_IMAGE, "device kernel image is invalid")   \
	X(ERROR_INVALID_CONTEXT, 201, CUDA_ERROR_INVALID_CONTEXT, "invalid device context")       \
	X(ERROR_CONTEXT_ALREADY_CURRENT, 202, CUDA_ERROR_CONTEXT_ALREADY_CURRENT,                 \
	  "context already current")                                                              \
	X(ERROR_MAP_FAILED, 205, CUDA_ERROR_MAP_FAILED, "mapping of buffer object failed")        \
	X(ERROR_UNMAP_FAILED, 206, CUDA_ERROR_UNMAP_FAILED, "unmapping of buffer object failed")  \
	X(ERROR_ARRAY_IS_MAPPED, 207, CUDA_ERROR_ARRAY_IS_MAPPED, "array is mapped")              \
	X(ERROR_ALREADY_MAPPED, 208, CUDA_ERROR_ALREADY_MAPPED, "resource already mapped")        \
	X(ERROR_NO_BINARY_FOR_GPU, 209, CUDA_ERROR_NO_BINARY_FOR_GPU,                             \
	  "no kernel image is available for execution on the device")                             \
	X(ERROR_ALREADY_ACQUIRED, 210, CUDA_ERROR_ALREADY_ACQUIRED, "resource already acquired")  \
	X(ERROR_NOT_MAPPED, 211, CUDA_ERROR_NOT_MAPPED, "resource not mapped")                    \
	X(ERROR_NOT_MAPPED_AS_ARRAY, 212, CUDA_ERROR_NOT_MAPPED_AS_ARRAY,                         \
	  "resource not mapped as array")                                                         \
	X(ERROR_NOT_MAPPED_AS_POINTER, 213, CUDA_ERROR_NOT_MAPPED_AS_POINTER,                     \
	  "resource not mapped as pointer")                                                       \
	X(ERROR_ECC_UNCORRECTABLE, 214, CUDA_ERROR_ECC_UNCORRECTABLE,                             \
	  "uncorrectable ECC error encountered")                                                  \
	X(ERROR_UNSUPPORTED_LIMIT, 215, CUDA_ERROR_UNSUPPORTED_LIMIT,                             \
	  "limit is not supported on this architecture")                                          \
	X(ERROR_CONTEXT_ALREADY_IN_USE, 216, CUDA_ERROR_CONTEXT_ALREADY_IN_USE,                   \
	  "exclusive-thread device already in use by a different thread")                         \
	X(ERROR_PEER_ACCESS_UNSUPPORTED, 217, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED,                 \
	  "peer access is not supported between these two devices")                               \
	X(ERROR_INVALID_PTX, 218, CUDA_ERROR_INVALID_PTX, "a PTX JIT compilation failed")         \
	X(ERROR_INVALID_GRAPHICS_CONTEXT, 219, CUDA_ERROR_INVALID_GRAPHICS_CONTEXT,               \
	  "invalid OpenGL or DirectX context")                                                    \
	X(ERROR_NVLINK_UNCORRECTABLE, 220, CUDA_ERROR_NVLINK_UNCORRECTABLE,                       \
	  "uncorrectable NVLink error detected during the execution")                             \
	X(ERROR_JIT_COMPILER_NOT_FOUND, 221, CUDA_ERROR_JIT_COMPILER_NOT_FOUND,                   \
	  "PTX JIT compiler library not found")                                                   \
	X(ERROR_UNSUPPORTED_PTX_VERSION, 222, CUDA_ERROR_UNSUPPORTED_PTX_VERSION,                 \
	  "the provided PTX was compiled with an unsupported toolchain.")                         \
	X(ERROR_JIT_COMPILATION_DISABLED, 223, CUDA_ERROR_JIT_COMPILATION_DISABLED,               \
	  "PTX JIT compilation was disabled")                                                     \
	X(ERROR_UNSUPPORTED_EXEC_AFFINITY, 224, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY,             \
	  "the provided execution affinity is not supported")                                     \
	X(ERROR_UNSUPPORTED_DEVSIDE_SYNC, 225, CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC,               \
	  "the PTX calls cudaDeviceSynchronize on the device, which is not supported")            \
	X(ERROR_CONTAINED, 226, CUDA_ERROR_CONTAINED,                                             \
	  "contained error: peer memory access over NVLink or hardware fault")                    \
	X(ERROR_INVALID_SOURCE, 300, CUDA_ERROR_INVALID_SOURCE, "device kernel image is invalid") \
	X(ERROR_FILE_NOT_FOUND, 301, CUDA_ERROR_FILE_NOT_FOUND, "file not found")                 \
	X(ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, 302, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND,   \
	  "shared object symbol not found")                                                       \
	X(ERROR_SHARED_OBJECT_INIT_FAILED, 303, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,             \
	  "shared object initialization failed")                                                  \
	X(ERROR_OPERATING_SYSTEM, 304, CUDA_ERROR_OPERATING_SYSTEM,                               \
	  "OS call failed or operation not supported on this OS")                                 \
	X(ERROR_INVALID_HANDLE, 400, CUDA_ERROR_INVALID_HANDLE, "invalid resource handle")        \
	X(ERROR_ILLEGAL_STATE, 401, CUDA_ERROR_ILLEGAL_STATE,                                     \
	  "the operation cannot be performed in the present state")                               \
	X(ERROR_LOSSY_QUERY, 402, CUDA_ERROR_LOSSY_QUERY,                                         \
	  "attempted introspection would be semantically lossy")                                  \
	X(ERROR_NOT_FOUND, 500, CUDA_ERROR_NOT_FOUND, "named symbol not found")                   \
	X(ERROR_NOT_READY, 600, CUDA_ERROR_NOT_READY, "device not ready")                         \
	X(ERROR_ILLEGAL_ADDRESS, 700, CUDA_ERROR_ILLEGAL_ADDRESS,                                 \
	  "an illegal memory access was encountered")                                             \
	X(ERROR_LAUNCH_OUT_OF_RESOURCES, 701, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,                 \
	  "too many resources requested for launch")                                              \
	X(ERROR_LAUNCH_TIMEOUT, 702, CUDA_ERROR_LAUNCH_TIMEOUT,                                   \
	  "the launch timed out and was terminated")                                              \
	X(ERROR_LAUNCH_INCOMPATIBLE_TEXTURING, 703, CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING,     \
	  "launch uses incompatible texturing mode")                                              \
	X(ERROR_PEER_ACCESS_ALREADY_ENABLED, 704, CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED,         \
	  "peer access is already enabled")                                                       \
	X(ERROR_PEER_ACCESS_NOT_ENABLED, 705, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED,                 \
	  "peer access has not been enabled")                                                     \
	X(ERROR_PRIMARY_CONTEXT_ACTIVE, 708, CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE,                   \
	  "cannot set while device is active in this process")                                    \
	X(ERROR_CONTEXT_IS_DESTROYED, 709, CUDA_ERROR_CONTEXT_IS_DESTROYED,                       \
	  "context is destroyed")                                                                 \
	X(ERROR_ASSERT, 710, CUDA_ERROR_ASSERT, "device-side assert triggered")                   \
	X(ERROR_TOO_MANY_PEERS, 711, CUDA_ERROR_TOO_MANY_PEERS,                                   \
	  "peer mapping resources exhausted")                                                     \
	X(ERROR_HOST_MEMORY_ALREADY_REGISTERED, 712, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,   \
	  "part or all of the requested memory range is already mapped")                          \
	X(ERROR_HOST_MEMORY_NOT_REGISTERED, 713, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED,           \
	  "pointer does not correspond to a registered memory region")                            \
	X(ERROR_HARDWARE_STACK_ERROR, 714, CUDA_ERROR_HARDWARE_STACK_ERROR,                       \
	  "hardware stack error")                                                                 \
	X(ERROR_ILLEGAL_INSTRUCTION, 715, CUDA_ERROR_ILLEGAL_INSTRUCTION,                         \
	  "an illegal instruction was encountered")                                               \
	X(ERROR_MISALIGNED_ADDRESS, 716, CUDA_ERROR_MISALIGNED_ADDRESS, "misaligned address")     \
	X(ERROR_INVALID_ADDRESS_SPACE, 717, CUDA_ERROR_INVALID_ADDRESS_SPACE,                     \
	  "operation not supported on global/shared address space")                               \
	X(ERROR_INVALID_PC, 718, CUDA_ERROR_INVALID_PC, "invalid program counter")                \
	X(ERROR_LAUNCH_FAILED, 719, CUDA_ERROR_LAUNCH_FAILED, "unspecified launch failure")       \
	X(ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,       \
	  "too many blocks in cooperative launch")                                                \
	X(ERROR_TENSOR_MEMORY_LEAK, 721, CUDA_ERROR_TENSOR_MEMORY_LEAK,                           \
	  "tensor memory not completely freed")                                                   \
	X(ERROR_NOT_PERMITTED, 800, CUDA_ERROR_NOT_PERMITTED, "operation not permitted")          \
	X(ERROR_NOT_SUPPORTED, 801, CUDA_ERROR_NOT_SUPPORTED, "operation not supported")          \
	X(ERROR_SYSTEM_NOT_READY, 802, CUDA_ERROR_SYSTEM_NOT_READY, "system not yet initialized") \
	X(ERROR_SYSTEM_DRIVER_MISMATCH, 803, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH,                   \
	  "system has unsupported display driver / cuda driver combination")                      \
	X(ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, 804, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE,   \
	  "forward compatibility was attempted on non supported HW")                              \
	X(ERROR_MPS_CONNECTION_FAILED, 805, CUDA_ERROR_MPS_CONNECTION_FAILED,                     \
	  "MPS client failed to connect to the MPS control daemon or server")                     \
	X(ERROR_MPS_RPC_FAILURE, 806, CUDA_ERROR_MPS_RPC_FAILURE,                                 \
	  "remote procedure call between MPS server and client failed")                           \
	X(ERROR_MPS_SERVER_NOT_READY, 807, CUDA_ERROR_MPS_SERVER_NOT_READY,                       \
	  "MPS server is not ready for new clients")                                              \
	X(ERROR_MPS_MAX_CLIENTS_REACHED, 808, CUDA_ERROR_MPS_MAX_CLIENTS_REACHED,                 \
	  "hardware resources for MPS clients are exhausted")                                     \
	X(ERROR_MPS_MAX_CONNECTIONS_REACHED, 809, CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED,         \
	  "hardware resources for device connections are exhausted")                              \
	X(ERROR_MPS_CLIENT_TERMINATED, 810, CUDA_ERROR_MPS_CLIENT_TERMINATED,                     \
	  "the MPS client has been terminated by the server")                                     \
	X(ERROR_CDP_NOT_SUPPORTED, 811, CUDA_ERROR_CDP_NOT_SUPPORTED,                             \
	  "CUDA Dynamic Parallelism is used where the configuration does not support it")         \
	X(ERROR_CDP_VERSION_MISMATCH, 812, CUDA_ERROR_CDP_VERSION_MISMATCH,                       \
	  "CUDA Dynamic Parallelism versions do not work together")                               \
	X(ERROR_STREAM_CAPTURE_UNSUPPORTED, 900, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,           \
	  "operation not permitted when stream is capturing")                                     \
	X(ERROR_STREAM_CAPTURE_INVALIDATED, 901, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,           \
	  "operation failed due to a previous error during capture")                              \
	X(ERROR_STREAM_CAPTURE_MERGE, 902, CUDA_ERROR_STREAM_CAPTURE_MERGE,                       \
	  "operation would result in a merge of separate capture sequences")                      \
	X(ERROR_STREAM_CAPTURE_UNMATCHED, 903, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,               \
	  "capture was not ended in the same stream as it began")                                 \
	X(ERROR_STREAM_CAPTURE_UNJOINED, 904, CUDA_ERROR_STREAM_CAPTURE_UNJOINED,                 \
	  "capturing stream has unjoined work")                                                   \
	X(ERROR_STREAM_CAPTURE_ISOLATION, 905, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,               \
	  "dependency created on uncaptured work in another stream")                              \
	X(ERROR_STREAM_CAPTURE_IMPLICIT, 906, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,                 \
	  "operation would make the legacy stream depend on a capturing blocking stream")         \
	X(ERROR_CAPTURED_EVENT, 907, CUDA_ERROR_CAPTURED_EVENT,                                   \
	  "operation not permitted on an event last recorded in a capturing stream")              \
	X(ERROR_STREAM_CAPTURE_WRONG_THREAD, 908, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,         \
	  "attempt to terminate a thread-local capture sequence from another thread")             \
	X(ERROR_TIMEOUT, 909, CUDA_ERROR_TIMEOUT, "wait operation timed out")                     \
	X(ERROR_GRAPH_EXEC_UPDATE_FAILURE, 910, CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,             \
	  "graph update refused: a change violates what an instantiated graph allows")            \
	X(ERROR_EXTERNAL_DEVICE, 911, CUDA_ERROR_EXTERNAL_DEVICE, "error in an external device")  \
	X(ERROR_INVALID_CLUSTER_SIZE, 912, CUDA_ERROR_INVALID_CLUSTER_SIZE,                       \
	  "kernel launch failed: cluster misconfigured")                                          \
	X(ERROR_FUNCTION_NOT_LOADED, 913, CUDA_ERROR_FUNCTION_NOT_LOADED,                         \
	  "function handle is not loaded")                                                        \
	X(ERROR_INVALID_RESOURCE_TYPE, 914, CUDA_ERROR_INVALID_RESOURCE_TYPE,                     \
	  "resource type is not valid for the operation")                                         \
	X(ERROR_INVALID_RESOURCE_CONFIGURATION, 915, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,   \
	  "resources are insufficient or do not apply to the operation")                          \
	X(ERROR_KEY_ROTATION, 916, CUDA_ERROR_KEY_ROTATION, "key rotation")                       \
	X(ERROR_UNKNOWN, 999, CUDA_ERROR_UNKNOWN, "unknown error")

enum ts_cu_result {
#define TS_CU_RESULT_(suffix, value, name, text) TS_CU_##suffix = value,
	TS_CU_RESULTS(TS_CU_RESULT_)
#undef TS_CU_RESULT_
};

/* Attributes of cuDeviceGetAttribute. cudaDeviceGetAttribute uses the same numbers. */
enum ts_cu_device_attribute {
	TS_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 1,
	TS_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X = 2,
	TS_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y = 3,
	TS_CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z = 4,
	TS_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X = 5,
	TS_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y = 6,
	TS_CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z = 7,
	TS_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK = 8,
	TS_CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY = 9,
	TS_CU_DEVICE_ATTRIBUTE_WARP_SIZE = 10,
	TS_CU_DEVICE_ATTRIBUTE_MAX_PITCH = 11,
	TS_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK = 12,
	TS_CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13,
	TS_CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT = 14,
	TS_CU_DEVICE_ATTRIBUTE_GPU_OVERLAP = 15,
	TS_CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
	TS_CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT = 17,
	TS_CU_DEVICE_ATTRIBUTE_INTEGRATED = 18,
	TS_CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY = 19,
	TS_CU_DEVICE_ATTRIBUTE_COMPUTE_MODE = 20,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH = 21,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH = 22,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT = 23,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH = 24,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT = 25,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH = 26,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH = 27,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT = 28,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS = 29,
	TS_CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT = 30,
	TS_CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS = 31,
	TS_CU_DEVICE_ATTRIBUTE_ECC_ENABLED = 32,
	TS_CU_DEVICE_ATTRIBUTE_PCI_BUS_ID = 33,
	TS_CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID = 34,
	TS_CU_DEVICE_ATTRIBUTE_TCC_DRIVER = 35,
	TS_CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE = 36,
	TS_CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH = 37,
	TS_CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE = 38,
	TS_CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR = 39,
	TS_CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT = 40,
	TS_CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING = 41,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH = 42,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS = 43,
	TS_CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER = 44,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH = 45,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT = 46,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE = 47,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE = 48,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE = 49,
	TS_CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID = 50,
	TS_CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT = 51,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH = 52,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH = 53,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS = 54,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH = 55,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH = 56,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT = 57,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH = 58,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT = 59,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH = 60,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH = 61,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS = 62,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH = 63,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT = 64,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS = 65,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH = 66,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH = 67,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS = 68,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH = 69,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH = 70,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT = 71,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH = 72,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH = 73,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT = 74,
	TS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
	TS_CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
	TS_CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH = 77,
	TS_CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED = 78,
	TS_CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED = 79,
	TS_CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED = 80,
	TS_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = 81,
	TS_CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR = 82,
	TS_CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY = 83,
	TS_CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD = 84,
	TS_CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID = 85,
	TS_CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED = 86,
	TS_CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO = 87,
	TS_CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS = 88,
	TS_CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS = 89,
	TS_CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED = 90,
	TS_CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM = 91,
	TS_CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH = 95,
	TS_CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH = 96,
	TS_CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
	TS_CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES = 98,
	TS_CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED = 99,
	TS_CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES = 100,
	TS_CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST = 101,
	TS_CU_DEVICE_ATTRIBUTE_VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED = 102,
	TS_CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 102,
	TS_CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED = 103,
	TS_CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED = 104,
	TS_CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED = 105,
	TS_CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR = 106,
	TS_CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED = 107,
	TS_CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE = 108,
	TS_CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE = 109,
	TS_CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED = 110,
	TS_CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK = 111,
	TS_CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED = 112,
	TS_CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED = 113,
	TS_CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED = 114,
	TS_CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED = 115,
	TS_CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED = 116,
	TS_CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS = 117,
	TS_CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING = 118,
	TS_CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES = 119,
	TS_CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH = 120,
	TS_CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED = 121,
	TS_CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS = 122,
	TS_CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR = 123,
	TS_CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED = 124,
	TS_CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED = 125,
	TS_CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT = 126,
	TS_CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED = 127,
	TS_CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED = 128,
	TS_CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS = 129,
	TS_CU_DEVICE_ATTRIBUTE_NUMA_CONFIG = 130,
	TS_CU_DEVICE_ATTRIBUTE_NUMA_ID = 131,
	TS_CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED = 132,
	TS_CU_DEVICE_ATTRIBUTE_MPS_ENABLED = 133,
	TS_CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID = 134,
	TS_CU_DEVICE_ATTRIBUTE_D3D12_CIG_SUPPORTED = 135,
	TS_CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK = 136,
	TS_CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH = 137,
	TS_CU_DEVICE_ATTRIBUTE_VULKAN_CIG_SUPPORTED = 138,
	TS_CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID = 139,
	TS_CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID = 140,
	TS_CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 141,
	TS_CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED = 142,
	TS_CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED = 143,
	TS_CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED = 144,
	TS_CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED = 145,
	TS_CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED = 146,
	TS_CU_DEVICE_ATTRIBUTE_ONLY_PARTIAL_HOST_NATIVE_ATOMIC_SUPPORTED = 147,
};

/* Attributes of cuFuncGetAttribute. */
enum ts_cu_function_attribute {
	TS_CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
	TS_CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
	TS_CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
	TS_CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
	TS_CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
	TS_CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
	TS_CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
	TS_CU_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
	TS_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
	TS_CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
	TS_CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET = 10,
	TS_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH = 11,
	TS_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT = 12,
	TS_CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH = 13,
	TS_CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14,
	TS_CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 15,
};

/* cuCtxCreate and cuDevicePrimaryCtxSetFlags. */
enum ts_cu_ctx_flags {
	TS_CU_CTX_SCHED_AUTO = 0,
	TS_CU_CTX_SCHED_SPIN = 1,
	TS_CU_CTX_SCHED_YIELD = 2,
	TS_CU_CTX_SCHED_BLOCKING_SYNC = 4,
	TS_CU_CTX_BLOCKING_SYNC = 4,
	TS_CU_CTX_SCHED_MASK = 7,
	TS_CU_CTX_MAP_HOST = 8,
	TS_CU_CTX_COREDUMP_ENABLE = 32,
	TS_CU_CTX_USER_COREDUMP_ENABLE = 64,
	TS_CU_CTX_SYNC_MEMOPS = 128,
	TS_CU_CTX_FLAGS_MASK = 255,
};

/* cuStreamCreate. */
enum ts_cu_stream_flags {
	TS_CU_STREAM_DEFAULT = 0,
	TS_CU_STREAM_NON_BLOCKING = 1,
};

/*
 * Special stream handles. 0 is the legacy stream; in the _ptsz and _ptds forms of a call, 0 is the
 * calling thread's own stream.
 */
#define TS_CU_STREAM_LEGACY	((void *)0x1)
#define TS_CU_STREAM_PER_THREAD ((void *)0x2)

/* cuEventCreate, cuEventRecordWithFlags and cuStreamWaitEvent. */
enum ts_cu_event_flags {
	TS_CU_EVENT_DEFAULT = 0,
	TS_CU_EVENT_BLOCKING_SYNC = 1,
	TS_CU_EVENT_DISABLE_TIMING = 2,
	TS_CU_EVENT_INTERPROCESS = 4,
};

enum ts_cu_event_record_flags {
	TS_CU_EVENT_RECORD_DEFAULT = 0,
	TS_CU_EVENT_RECORD_EXTERNAL = 1,
};

enum ts_cu_event_wait_flags {
	TS_CU_EVENT_WAIT_DEFAULT = 0,
	TS_CU_EVENT_WAIT_EXTERNAL = 1,
};

/* Kinds of memory at an address, and attributes of cuPointerGetAttribute. */
enum ts_cu_memory_type {
	TS_CU_MEMORYTYPE_HOST = 1,
	TS_CU_MEMORYTYPE_DEVICE = 2,
	TS_CU_MEMORYTYPE_ARRAY = 3,
	TS_CU_MEMORYTYPE_UNIFIED = 4,
};

enum ts_cu_pointer_attribute {
	TS_CU_POINTER_ATTRIBUTE_CONTEXT = 1,
	TS_CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
	TS_CU_POINTER_ATTRIBUTE_DEVICE_POINTER = 3,
	TS_CU_POINTER_ATTRIBUTE_HOST_POINTER = 4,
	TS_CU_POINTER_ATTRIBUTE_P2P_TOKENS = 5,
	TS_CU_POINTER_ATTRIBUTE_SYNC_MEMOPS = 6,
	TS_CU_POINTER_ATTRIBUTE_BUFFER_ID = 7,
	TS_CU_POINTER_ATTRIBUTE_IS_MANAGED = 8,
	TS_CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL = 9,
	TS_CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE = 10,
	TS_CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
	TS_CU_POINTER_ATTRIBUTE_MAPPED = 13,
	TS_CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES = 14,
	TS_CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE = 15,
	TS_CU_POINTER_ATTRIBUTE_ACCESS_FLAGS = 16,
	TS_CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE = 17,
	TS_CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR = 19,
	TS_CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID = 20,
	TS_CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE = 21,
};

/* cuMemHostAlloc, cuMemHostRegister and cuMemAllocManaged. */
#define TS_CU_MEMHOSTALLOC_PORTABLE	 1
#define TS_CU_MEMHOSTALLOC_DEVICEMAP	 2
#define TS_CU_MEMHOSTALLOC_WRITECOMBINED 4
#define TS_CU_MEMHOSTREGISTER_PORTABLE	 1
#define TS_CU_MEMHOSTREGISTER_DEVICEMAP	 2
#define TS_CU_MEMHOSTREGISTER_IOMEMORY	 4
#define TS_CU_MEMHOSTREGISTER_READ_ONLY	 8

enum ts_cu_mem_attach_flags {
	TS_CU_MEM_ATTACH_GLOBAL = 1,
	TS_CU_MEM_ATTACH_HOST = 2,
	TS_CU_MEM_ATTACH_SINGLE = 4,
};

/* Pseudo-ordinals where a device is expected. */
#define TS_CU_DEVICE_CPU     -1
#define TS_CU_DEVICE_INVALID -2

/* Limits, cache preferences and compute modes. */
enum ts_cu_limit {
	TS_CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH = 3,
	TS_CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT = 4,
	TS_CU_LIMIT_MAX_L2_FETCH_GRANULARITY = 5,
	TS_CU_LIMIT_CIG_ENABLED = 8,
	TS_CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED = 9,
};

enum ts_cu_func_cache {
	TS_CU_FUNC_CACHE_PREFER_NONE = 0,
	TS_CU_FUNC_CACHE_PREFER_SHARED = 1,
	TS_CU_FUNC_CACHE_PREFER_L1 = 2,
	TS_CU_FUNC_CACHE_PREFER_EQUAL = 3,
};

enum ts_cu_compute_mode {
	TS_CU_COMPUTEMODE_DEFAULT = 0,
	TS_CU_COMPUTEMODE_PROHIBITED = 2,
	TS_CU_COMPUTEMODE_EXCLUSIVE_PROCESS = 3,
};

enum ts_cu_shared_config {
	TS_CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE = 0,
	TS_CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE = 1,
	TS_CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE = 2,
};

/* cuModuleLoadDataEx. */
enum ts_cu_jit_option {
	TS_CU_JIT_MAX_REGISTERS = 0,
	TS_CU_JIT_THREADS_PER_BLOCK = 1,
	TS_CU_JIT_WALL_TIME = 2,
	TS_CU_JIT_INFO_LOG_BUFFER = 3,
	TS_CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
	TS_CU_JIT_ERROR_LOG_BUFFER = 5,
	TS_CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
	TS_CU_JIT_OPTIMIZATION_LEVEL = 7,
	TS_CU_JIT_TARGET_FROM_CUCONTEXT = 8,
	TS_CU_JIT_TARGET = 9,
	TS_CU_JIT_FALLBACK_STRATEGY = 10,
	TS_CU_JIT_GENERATE_DEBUG_INFO = 11,
	TS_CU_JIT_LOG_VERBOSE = 12,
	TS_CU_JIT_GENERATE_LINE_INFO = 13,
	TS_CU_JIT_CACHE_MODE = 14,
	TS_CU_JIT_NEW_SM3X_OPT = 15,
	TS_CU_JIT_FAST_COMPILE = 16,
	TS_CU_JIT_GLOBAL_SYMBOL_NAMES = 17,
	TS_CU_JIT_GLOBAL_SYMBOL_ADDRESSES = 18,
	TS_CU_JIT_GLOBAL_SYMBOL_COUNT = 19,
	TS_CU_JIT_LTO = 20,
	TS_CU_JIT_FTZ = 21,
	TS_CU_JIT_PREC_DIV = 22,
	TS_CU_JIT_PREC_SQRT = 23,
	TS_CU_JIT_FMA = 24,
	TS_CU_JIT_REFERENCED_KERNEL_NAMES = 25,
	TS_CU_JIT_REFERENCED_KERNEL_COUNT = 26,
	TS_CU_JIT_REFERENCED_VARIABLE_NAMES = 27,
	TS_CU_JIT_REFERENCED_VARIABLE_COUNT = 28,
	TS_CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES = 29,
	TS_CU_JIT_POSITION_INDEPENDENT_CODE = 30,
	TS_CU_JIT_MIN_CTA_PER_SM = 31,
	TS_CU_JIT_MAX_THREADS_PER_BLOCK = 32,
	TS_CU_JIT_OVERRIDE_DIRECTIVE_VALUES = 33,
	TS_CU_JIT_SPLIT_COMPILE = 34,
};

enum ts_cu_module_loading_mode {
	TS_CU_MODULE_EAGER_LOADING = 1,
	TS_CU_MODULE_LAZY_LOADING = 2,
};

/* cuGetProcAddress: the caller's kind of default stream, and the result of the search. */
enum ts_cu_proc_address_flags {
	TS_CU_GET_PROC_ADDRESS_DEFAULT = 0,
	TS_CU_GET_PROC_ADDRESS_LEGACY_STREAM = 1,
	TS_CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM = 2,
};

enum ts_cu_proc_address_query_result {
	TS_CU_GET_PROC_ADDRESS_SUCCESS = 0,
	TS_CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND = 1,
	TS_CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT = 2,
};

/* Array formats, for a 3D copy with an array. */
enum ts_cu_array_format {
	TS_CU_AD_FORMAT_UNSIGNED_INT8 = 1,
	TS_CU_AD_FORMAT_UNSIGNED_INT16 = 2,
	TS_CU_AD_FORMAT_UNSIGNED_INT32 = 3,
	TS_CU_AD_FORMAT_SIGNED_INT8 = 8,
	TS_CU_AD_FORMAT_SIGNED_INT16 = 9,
	TS_CU_AD_FORMAT_SIGNED_INT32 = 10,
	TS_CU_AD_FORMAT_HALF = 16,
	TS_CU_AD_FORMAT_FLOAT = 32,
};

/* Stream capture. */
enum ts_cu_stream_capture_mode {
	TS_CU_STREAM_CAPTURE_MODE_GLOBAL = 0,
	TS_CU_STREAM_CAPTURE_MODE_THREAD_LOCAL = 1,
	TS_CU_STREAM_CAPTURE_MODE_RELAXED = 2,
};

enum ts_cu_stream_capture_status {
	TS_CU_STREAM_CAPTURE_STATUS_NONE = 0,
	TS_CU_STREAM_CAPTURE_STATUS_ACTIVE = 1,
	TS_CU_STREAM_CAPTURE_STATUS_INVALIDATED = 2,
};

/* Kinds of graph node, and results of instantiation and update. */
enum ts_cu_graph_node_type {
	TS_CU_GRAPH_NODE_TYPE_KERNEL = 0,
	TS_CU_GRAPH_NODE_TYPE_MEMCPY = 1,
	TS_CU_GRAPH_NODE_TYPE_MEMSET = 2,
	TS_CU_GRAPH_NODE_TYPE_HOST = 3,
	TS_CU_GRAPH_NODE_TYPE_GRAPH = 4,
	TS_CU_GRAPH_NODE_TYPE_EMPTY = 5,
	TS_CU_GRAPH_NODE_TYPE_WAIT_EVENT = 6,
	TS_CU_GRAPH_NODE_TYPE_EVENT_RECORD = 7,
	TS_CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL = 8,
	TS_CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT = 9,
	TS_CU_GRAPH_NODE_TYPE_MEM_ALLOC = 10,
	TS_CU_GRAPH_NODE_TYPE_MEM_FREE = 11,
	TS_CU_GRAPH_NODE_TYPE_BATCH_MEM_OP = 12,
	TS_CU_GRAPH_NODE_TYPE_CONDITIONAL = 13,
};

enum ts_cu_graph_instantiate_flags {
	TS_CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH = 1,
	TS_CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD = 2,
	TS_CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH = 4,
	TS_CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY = 8,
};

enum ts_cu_graph_exec_update_result {
	TS_CU_GRAPH_EXEC_UPDATE_SUCCESS = 0,
	TS_CU_GRAPH_EXEC_UPDATE_ERROR = 1,
	TS_CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED = 2,
	TS_CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED = 3,
	TS_CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED = 4,
	TS_CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED = 5,
	TS_CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED = 6,
	TS_CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE = 7,
	TS_CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED = 8,
};

/* Memory pools and virtual memory management. */
enum ts_cu_mem_pool_attribute {
	TS_CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES = 1,
	TS_CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC = 2,
	TS_CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES = 3,
	TS_CU_MEMPOOL_ATTR_RELEASE_THRESHOLD = 4,
	TS_CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT = 5,
	TS_CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH = 6,
	TS_CU_MEMPOOL_ATTR_USED_MEM_CURRENT = 7,
	TS_CU_MEMPOOL_ATTR_USED_MEM_HIGH = 8,
};

enum ts_cu_mem_allocation_type {
	TS_CU_MEM_ALLOCATION_TYPE_INVALID = 0,
	TS_CU_MEM_ALLOCATION_TYPE_PINNED = 1,
	TS_CU_MEM_ALLOCATION_TYPE_MANAGED = 2,
};

enum ts_cu_mem_allocation_handle_type {
	TS_CU_MEM_HANDLE_TYPE_NONE = 0,
	TS_CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR = 1,
	TS_CU_MEM_HANDLE_TYPE_WIN32 = 2,
	TS_CU_MEM_HANDLE_TYPE_WIN32_KMT = 4,
	TS_CU_MEM_HANDLE_TYPE_FABRIC = 8,
};

enum ts_cu_mem_location_type {
	TS_CU_MEM_LOCATION_TYPE_INVALID = 0,
	TS_CU_MEM_LOCATION_TYPE_NONE = 0,
	TS_CU_MEM_LOCATION_TYPE_DEVICE = 1,
	TS_CU_MEM_LOCATION_TYPE_HOST = 2,
	TS_CU_MEM_LOCATION_TYPE_HOST_NUMA = 3,
	TS_CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT = 4,
};

enum ts_cu_mem_access_flags {
	TS_CU_MEM_ACCESS_FLAGS_PROT_NONE = 0,
	TS_CU_MEM_ACCESS_FLAGS_PROT_READ = 1,
	TS_CU_MEM_ACCESS_FLAGS_PROT_READWRITE = 3,
};

enum ts_cu_mem_advise {
	TS_CU_MEM_ADVISE_SET_READ_MOSTLY = 1,
	TS_CU_MEM_ADVISE_UNSET_READ_MOSTLY = 2,
	TS_CU_MEM_ADVISE_SET_PREFERRED_LOCATION = 3,
	TS_CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION = 4,
	TS_CU_MEM_ADVISE_SET_ACCESSED_BY = 5,
	TS_CU_MEM_ADVISE_UNSET_ACCESSED_BY = 6,
};

/* Peer access. */
enum ts_cu_p2p_attribute {
	TS_CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK = 1,
	TS_CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED = 2,
	TS_CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED = 3,
	TS_CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED = 4,
	TS_CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED = 5,
};

/* Launch attributes: parameters of cuLaunchKernelEx besides grid and block. */
enum ts_cu_launch_attribute_id {
	TS_CU_LAUNCH_ATTRIBUTE_IGNORE = 0,
	TS_CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW = 1,
	TS_CU_LAUNCH_ATTRIBUTE_COOPERATIVE = 2,
	TS_CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY = 3,
	TS_CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4,
	TS_CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE = 5,
	TS_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION = 6,
	TS_CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
	TS_CU_LAUNCH_ATTRIBUTE_PRIORITY = 8,
	TS_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP = 9,
	TS_CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN = 10,
	TS_CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION = 11,
	TS_CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT = 12,
	TS_CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE = 13,
	TS_CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 14,
	TS_CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING = 16,
};

/* The "extra" list of cuLaunchKernel: keys and values as pointers, terminated by END. */
#define TS_CU_LAUNCH_PARAM_END		  ((void *)0x0)
#define TS_CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)0x1)
#define TS_CU_LAUNCH_PARAM_BUFFER_SIZE	  ((void *)0x2)

/* Sixteen bytes that identify a device, or a table for cuGetExportTable. */
struct ts_cu_uuid {
	char bytes[16];
};

/* The value of a launch attribute: 64 bytes; TraceSmith uses these views. */
union ts_cu_launch_attribute_value {
	char pad[64];
	int32_t cooperative;
	struct {
		uint32_t x;
		uint32_t y;
		uint32_t z;
	} cluster_dim;
	int32_t programmatic_stream_serialization_allowed;
	struct {
		void *event;
		int32_t flags;
		int32_t trigger_at_block_start;
	} programmatic_event;
	struct {
		void *event;
		int32_t flags;
	} launch_completion_event;
	int32_t priority;
	uint32_t shared_mem_carveout;
};

/* One launch attribute. cudaLaunchAttribute is the same structure. */
struct ts_cu_launch_attribute {
	int32_t id;
	char pad[4];
	union ts_cu_launch_attribute_value value;
};

/* cuLaunchKernelEx. */
struct ts_cu_launch_config {
	uint32_t grid_dim_x;
	uint32_t grid_dim_y;
	uint32_t grid_dim_z;
	uint32_t block_dim_x;
	uint32_t block_dim_y;
	uint32_t block_dim_z;
	uint32_t shared_mem_bytes;
	void *stream;
	struct ts_cu_launch_attribute *attrs;
	uint32_t num_attrs;
};

/*
 * cuMemcpy2D: origins and pitches in bytes. The memory types select the source field and the
 * destination field that are read.
 */
struct ts_cu_memcpy_2d {
	size_t src_x_in_bytes;
	size_t src_y;
	int32_t src_memory_type;
	const void *src_host;
	uint64_t src_device;
	void *src_array;
	size_t src_pitch;
	size_t dst_x_in_bytes;
	size_t dst_y;
	int32_t dst_memory_type;
	void *dst_host;
	uint64_t dst_device;
	void *dst_array;
	size_t dst_pitch;
	size_t width_in_bytes;
	size_t height;
};

/* cuMemcpy3D. */
struct ts_cu_memcpy_3d {
	size_t src_x_in_bytes;
	size_t src_y;
	size_t src_z;
	size_t src_lod;
	int32_t src_memory_type;
	const void *src_host;
	uint64_t src_device;
	void *src_array;
	void *reserved0;
	size_t src_pitch;
	size_t src_height;
	size_t dst_x_in_bytes;
	size_t dst_y;
	size_t dst_z;
	size_t dst_lod;
	int32_t dst_memory_type;
	void *dst_host;
	uint64_t dst_device;
	void *dst_array;
	void *reserved1;
	size_t dst_pitch;
	size_t dst_height;
	size_t width_in_bytes;
	size_t height;
	size_t depth;
};

/* cuMemcpy3DPeer: as above, between contexts. */
struct ts_cu_memcpy_3d_peer {
	size_t src_x_in_bytes;
	size_t src_y;
	size_t src_z;
	size_t src_lod;
	int32_t src_memory_type;
	const void *src_host;
	uint64_t src_device;
	void *src_array;
	void *src_context;
	size_t src_pitch;
	size_t src_height;
	size_t dst_x_in_bytes;
	size_t dst_y;
	size_t dst_z;
	size_t dst_lod;
	int32_t dst_memory_type;
	void *dst_host;
	uint64_t dst_device;
	void *dst_array;
	void *dst_context;
	size_t dst_pitch;
	size_t dst_height;
	size_t width_in_bytes;
	size_t height;
	size_t depth;
};

/* Place of memory. cudaMemLocation is the same. */
struct ts_cu_mem_location {
	int32_t type;
	int32_t id;
};

/* Rights of one device, or of the host, to access memory. cudaMemAccessDesc is the same. */
struct ts_cu_mem_access_desc {
	struct ts_cu_mem_location location;
	int32_t flags;
};

/* cuMemCreate: kind and place of memory. */
struct ts_cu_mem_allocation_prop {
	int32_t type;
	int32_t handle_types;
	struct ts_cu_mem_location location;
	void *win32_handle_meta_data;
	uint8_t compression;
	uint8_t rdma;
	uint16_t usage;
	uint8_t reserved[4];
};

/* cuMemPoolCreate. cudaMemPoolProps is the same. */
struct ts_cu_mem_pool_props {
	int32_t alloc_type;
	int32_t handle_types;
	struct ts_cu_mem_location location;
	void *win32_security_attributes;
	size_t max_size;
	uint16_t usage;
	uint8_t reserved[54];
};

/* Kernel, set and host nodes of a graph. */
struct ts_cu_kernel_node_params {
	void *func;
	uint32_t grid_dim_x;
	uint32_t grid_dim_y;
	uint32_t grid_dim_z;
	uint32_t block_dim_x;
	uint32_t block_dim_y;
	uint32_t block_dim_z;
	uint32_t shared_mem_bytes;
	void **kernel_params;
	void **extra;
	void *kern;
	void *ctx;
};

struct ts_cu_memset_node_params {
	uint64_t dst;
	size_t pitch;
	uint32_t value;
	uint32_t element_size;
	size_t width;
	size_t height;
};

struct ts_cu_host_node_params {
	void *fn;
	void *user_data;
};

/* cuGraphExecNodeSetParams: for a node of any kind; the kind's structure begins at `params`. */
struct ts_cu_graph_node_params {
	int32_t type;
	int32_t reserved[3];
	uint64_t params[29];
	int64_t more;
};

struct ts_cu_memcpy_node_params {
	int32_t flags;
	int32_t reserved;
	void *ctx;
	struct ts_cu_memcpy_3d copy_params;
};

/*
 * Arguments of cuGraphExec...NodeSetParams, cuGraphExec...NodeSetEvent; some calls have a context
 * as a further argument. If the new value is a graph or an event, `params` is its handle.
 */
struct ts_cu_graph_exec_set_params_params {
	void *graph_exec;
	void *node;
	const void *params;
};
