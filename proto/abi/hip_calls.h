/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HIP calls that TraceSmith knows, with a number and a class for each.
 *
 * X(name, id, kind of call): the classes are those of cupti_cbid.h. The numbers are TraceSmith's
 * own and never change; HIP's headers renumber their calls with each version.
 */
#pragma once

#include "proto/abi/vendor/cupti_cbid.h"

#define TS_HIP_CALLS(X)                                \
	X(hipLaunchKernel, 1, LAUNCH)                  \
	X(hipLaunchKernel_spt, 2, LAUNCH)              \
	X(hipLaunchKernelExC, 3, LAUNCH)               \
	X(hipLaunchCooperativeKernel, 4, LAUNCH)       \
	X(hipExtLaunchKernel, 5, LAUNCH)               \
	X(hipModuleLaunchKernel, 6, LAUNCH)            \
	X(hipExtModuleLaunchKernel, 7, LAUNCH)         \
	X(hipHccModuleLaunchKernel, 8, LAUNCH)         \
	X(hipModuleLaunchCooperativeKernel, 9, LAUNCH) \
	X(hipGraphLaunch, 20, GRAPH_LAUNCH)            \
	X(hipGraphLaunch_spt, 21, GRAPH_LAUNCH)        \
	X(hipMemcpy, 30, MEMCPY)                       \
	X(hipMemcpy_spt, 31, MEMCPY)                   \
	X(hipMemcpyAsync, 32, MEMCPY)                  \
	X(hipMemcpyAsync_spt, 33, MEMCPY)              \
	X(hipMemcpyWithStream, 34, MEMCPY)             \
	X(hipMemcpyHtoD, 35, MEMCPY)                   \
	X(hipMemcpyHtoDAsync, 36, MEMCPY)              \
	X(hipMemcpyDtoH, 37, MEMCPY)                   \
	X(hipMemcpyDtoHAsync, 38, MEMCPY)              \
	X(hipMemcpyDtoD, 39, MEMCPY)                   \
	X(hipMemcpyDtoDAsync, 40, MEMCPY)              \
	X(hipMemcpyPeer, 41, MEMCPY)                   \
	X(hipMemcpyPeerAsync, 42, MEMCPY)              \
	X(hipMemcpy2D, 43, MEMCPY)                     \
	X(hipMemcpy2DAsync, 44, MEMCPY)                \
	X(hipMemcpy3D, 45, MEMCPY)                     \
	X(hipMemcpy3DAsync, 46, MEMCPY)                \
	X(hipMemcpyToSymbol, 47, MEMCPY)               \
	X(hipMemcpyToSymbolAsync, 48, MEMCPY)          \
	X(hipMemcpyFromSymbol, 49, MEMCPY)             \
	X(hipMemcpyFromSymbolAsync, 50, MEMCPY)        \
	X(hipMemset, 60, MEMSET)                       \
	X(hipMemset_spt, 61, MEMSET)                   \
	X(hipMemsetAsync, 62, MEMSET)                  \
	X(hipMemsetAsync_spt, 63, MEMSET)              \
	X(hipMemset2D, 64, MEMSET)                     \
	X(hipMemset2DAsync, 65, MEMSET)                \
	X(hipMemsetD8, 66, MEMSET)                     \
	X(hipMemsetD8Async, 67, MEMSET)                \
	X(hipMemsetD16, 68, MEMSET)                    \
	X(hipMemsetD16Async, 69, MEMSET)               \
	X(hipMemsetD32, 70, MEMSET)                    \
	X(hipMemsetD32Async, 71, MEMSET)               \
	X(hipMalloc, 80, ALLOC)                        \
	X(hipExtMallocWithFlags, 81, ALLOC)            \
	X(hipMallocManaged, 82, ALLOC)                 \
	X(hipMallocPitch, 83, ALLOC)                   \
	X(hipMallocAsync, 84, ALLOC)                   \
	X(hipMallocFromPoolAsync, 85, ALLOC)           \
	X(hipHostMalloc, 86, ALLOC)                    \
	X(hipHostRegister, 87, ALLOC)                  \
	X(hipFree, 100, FREE)                          \
	X(hipFreeAsync, 101, FREE)                     \
	X(hipHostFree, 102, FREE)                      \
	X(hipHostUnregister, 103, FREE)                \
	X(hipDeviceSynchronize, 120, SYNC)             \
	X(hipStreamSynchronize, 121, SYNC)             \
	X(hipStreamSynchronize_spt, 122, SYNC)         \
	X(hipEventSynchronize, 123, SYNC)

/* One past the highest id, for tables indexed by id. */
#define TS_HIP_CALL_SIZE 124
