/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of a HIP call's work, read from its arguments. Call these functions inside the call only,
 * while the arguments are valid. No state.
 */
#pragma once

#include "inject/hip/hip-work.h"

struct ts_hip_stream {
	void *handle;	 /* as the application passed it */
	bool per_thread; /* a NULL handle is the thread's own stream */
	bool is_async;	 /* the call names a stream and does not wait */
};

/* Returns the stream of a call; the null stream if it names none. */
struct ts_hip_stream ts_hip_stream_of(uint32_t call, const void *params);

/* Stores grid, block and dynamic shared bytes of a launch, in blocks and threads. */
void ts_hip_launch_of(uint32_t call, const void *params, struct ts_hip_work *work);

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
