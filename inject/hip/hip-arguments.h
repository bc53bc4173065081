/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of a HIP call's work, read from its arguments. Call these functions inside the call only,
 * while the arguments are valid. No state.
 */
#pragma once

#include "inject/hip/hip-work.h"
#include "proto/abi/vendor/hip.h"
#include "proto/abi/vendor/hip_calls.h"
#include "proto/abi/vendor/hip_params.h"

struct ts_hip_stream {
	void *handle;	 /* as the application passed it */
	bool per_thread; /* a NULL handle is the thread's own stream */
	bool is_async;	 /* the call names a stream and does not wait */
};

/* Returns the stream of a call; the null stream if it names none. */
struct ts_hip_stream ts_hip_stream_of(uint32_t call, const void *params);

/* Stores grid, block and dynamic shared bytes of a launch, in blocks and threads. */
void ts_hip_launch_of(uint32_t call, const void *params, struct ts_hip_work *work);

/* Places of arguments that the two usual launches have in common. */
#define TS_HIP_LAUNCH_SHAPE_AT 8u
TS_STATIC_ASSERT(offsetof(struct hipLaunchKernel_params, num_blocks) == TS_HIP_LAUNCH_SHAPE_AT &&
			 offsetof(struct hipLaunchKernel_params, dim_blocks) ==
				 TS_HIP_LAUNCH_SHAPE_AT + 12 &&
			 offsetof(struct hipModuleLaunchKernel_params, grid_dim_x) ==
				 TS_HIP_LAUNCH_SHAPE_AT &&
			 offsetof(struct hipModuleLaunchKernel_params, block_dim_x) ==
				 TS_HIP_LAUNCH_SHAPE_AT + 12,
		 "blocks, then threads of a block");
TS_STATIC_ASSERT(offsetof(struct hipLaunchKernel_params, func) == 0 &&
			 offsetof(struct hipModuleLaunchKernel_params, func) == 0,
		 "the function");

static inline bool ts_hip_is_usual_launch(uint32_t call)
{
	return call == TS_HIP_CALL_hipLaunchKernel || call == TS_HIP_CALL_hipModuleLaunchKernel;
}

/* Return the stream and the dynamic shared bytes of a usual launch. */
static inline void *ts_hip_usual_launch_stream(uint32_t call, const void *params)
{
	if (call == TS_HIP_CALL_hipLaunchKernel)
		return ((const struct hipLaunchKernel_params *)params)->stream;
	return ((const struct hipModuleLaunchKernel_params *)params)->stream;
}

static inline uint32_t ts_hip_usual_launch_shared(uint32_t call, const void *params)
{
	if (call == TS_HIP_CALL_hipLaunchKernel)
		return (uint32_t)((const struct hipLaunchKernel_params *)params)->shared_mem_bytes;
	return ((const struct hipModuleLaunchKernel_params *)params)->shared_mem_bytes;
}

/* Returns the function of a launch: a host function or a handle. */
const void *ts_hip_function_of(uint32_t call, const void *params);
/* True if that function is a host function. */
bool ts_hip_is_pointer(uint32_t call);

/* Returns CUPTI's kind of a copy; unknown if only the runtime knows it. */
uint8_t ts_hip_copy_kind_of(uint32_t call, const void *params);

/* Returns the value that a set writes. */
uint32_t ts_hip_set_value_of(uint32_t call, const void *params);

/* Returns CUPTI's type of a wait of the host; 0 (unknown): no wait. */
uint32_t ts_hip_sync_type_of(uint32_t call);

/* Returns the stream that a successful call created. NULL: none. */
void *ts_hip_created_stream(const void *params);
bool ts_hip_is_stream_destroy(uint32_t call);
bool ts_hip_is_module_unload(uint32_t call);
bool ts_hip_is_graph_destroy(uint32_t call);
