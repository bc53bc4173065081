/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of libamdhip64. HIP's functions call the virtual GPU's CUDA runtime and
 * driver, which are linked into this library and not exported. The build generates HIP's functions
 * from proto/abi/vendor/hip.calls, two for each call:
 *
 *     int32_t impl_hipMalloc(void **ptr, size_t size)
 *     {
 *             return HIP(hipMalloc, 80, cudaMalloc(ptr, size));
 *     }
 *
 *     API int32_t hipMalloc(void **ptr, size_t size)
 *     {
 *             int32_t (*next)(void **, size_t) = runtime_slot(216);
 *
 *             return next(ptr, size);
 *     }
 *
 * A tool may replace the pointer in the slot (hip-tables.c). HIP reports the call to the tracer's
 * callback (hip-tracer.c), converts CUDA's error number and stores it for hipGetLastError. Each .c
 * file includes the generated functions of its sections at its end.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/abi/vendor/hip.h"
#include "tools/vgpu/cuda/driver.h"
#include "tools/vgpu/cudart/runtime.h"
#include "tools/vgpu/generated-cudart-functions.h"
#include "tools/vgpu/hip/hip-api-ids.h"
#include "tools/vgpu/refused.h"

/*
 * The release of ROCm that this library stands for: hip-version.c, compiled for each library. The
 * spec's setting hip=MAJOR.MINOR selects another release of the same major version.
 */
struct hip_release {
	uint32_t major, minor;
	/* Places of the dispatch tables, from their starts; 0: the release registers no table. */
	size_t runtime_end, compiler_end;
	/* Offset of phase_enter_timestamp in the tracer's record of a call; other fields follow. */
	size_t phases_off;
	bool asks_at_end;    /* the tracer asks again before it delivers an operation */
	bool keeps_error;    /* hipGetLastError() returns the last error, not the last result */
	bool has_old_memory; /* enumeration of memory types and 3D copies of 5.x */
	bool has_old_tracer; /* callbacks of hip-roctracer.c, and numbers of graph nodes from 1 */
};
extern struct hip_release release;
/* Selects the release that TRACESMITH_VGPU names. A bad spec is hipInit()'s to report. */
void release_select(void);
static inline int32_t release_version(void)
{
	return (int32_t)(release.major * 10000000 + release.minor * 100000);
}

/* Returns the function in a place of a dispatch table. The first call registers the table. */
void *runtime_slot(size_t place);
void *compiler_slot(size_t place);
/* Called once, at the library's load. The arrays are indexed by place, and stay. */
void tables_fill(void *const *runtime_functions, size_t n_runtime, void *const *compiler_functions,
		 size_t n_compiler);

/*
 * One call as the tracer's callback sees it. The trace data stays uninitialized, as in AMD's
 * library. The phases lie at an offset of the release.
 */
struct hip_call {
	bool reported;
	void *old_data; /* of a call that the tool of hip-roctracer.c traces */
	union {
		struct ts_hip_api_trace_data data;
		char bytes[sizeof(struct ts_hip_api_trace_data)];
	};
};
extern _Atomic(ts_hip_tracer_callback) tracer_callback;
void call_enter(struct hip_call *call, uint32_t id);
void call_leave(struct hip_call *call, uint32_t id);

/* Converts an error number of CUDA to HIP's and stores it for hipGetLastError. */
int32_t hip_result(int r);

/* number: TraceSmith's of the call. work: returns an error number of CUDA or HIP. */
#define HIP(name, number, work)                               \
	({                                                    \
		struct hip_call hip_call_;                    \
		int32_t hip_result_;                          \
		call_enter(&hip_call_, TS_HIP_API_ID_##name); \
		hip_result_ = hip_result(work);               \
		call_leave(&hip_call_, TS_HIP_API_ID_##name); \
		hip_result_;                                  \
	})

/* The result of a driver call that needs no context, after start(). */
#define START(call)                       \
	({                                \
		int start_ = start();     \
		start_ ? start_ : (call); \
	})

/* The result of a call that the virtual GPU lacks. The first call prints one line on stderr. */
#define REFUSED(name)                              \
	({                                         \
		static atomic_bool said_;          \
		ts_vgpu_say_refused(name, &said_); \
		TS_HIP_ERROR_NOT_SUPPORTED;        \
	})

/* The result of a call with an argument `stream`, for which HIP has an error of its own. */
#define ON_STREAM(call) (stream_is_known(stream) ? (call) : TS_HIP_ERROR_CONTEXT_IS_DESTROYED)

static inline bool stream_is_known(const void *stream)
{
	return (uintptr_t)stream <= (uintptr_t)TS_HIP_STREAM_PER_THREAD ||
	       handle_is(stream, HANDLE_STREAM);
}

static inline struct ts_cuda_dim3 dim3(struct ts_hip_dim3 d)
{
	return (struct ts_cuda_dim3){d.x, d.y, d.z};
}

/*
 * Makes a UUID of the virtual GPU one of HIP's. A device of CUDA and one of HIP are two, also in
 * one trace, and readers tell devices apart by their UUIDs.
 */
static inline void uuid_to_hip(char bytes[16])
{
	bytes[12] = 'h';
	bytes[13] = 'i';
	bytes[14] = 'p';
}

/* Arguments of a launch in one buffer, for the driver, whose list ends with another word. */
struct launch_extra {
	void *words[5];
};
/* Converts HIP's list; NULL stays NULL. ret_extra must outlive the result's use. */
void **extra_convert(void **extra, struct launch_extra *ret_extra);

/*
 * hip-roctracer.c. A command is reported if activity_submitted() returns true. Its record then has
 * that record_id.
 */
void activity_init(void *id_callback, void *op_callback, void *arg);
bool activity_enable(uint32_t op, bool enable);
int activity_register(uint32_t id, void *fun, void *arg);
int activity_register_api(uint32_t id, void *fun, void *arg);
void *activity_enter(uint32_t id);
void activity_leave(uint32_t id, void *data);
bool activity_submitted(uint32_t command, uint64_t *ret_record_id);
void activity_completed(struct ts_hip_activity_record *record);

/* hip-properties.c */
int get_properties(struct ts_hip_device_prop_r0600 *prop, int32_t device);
int get_properties_r0000(struct ts_hip_device_prop_r0000 *prop, int32_t device);
int get_attribute(int32_t *value, int32_t attr, int32_t device);

/*
 * hip-bundle.c: returns the image in a bundle that the virtual GPU can run, in memory that free()
 * frees. NULL: it is neither a bundle nor AMD's code. n_bytes: SIZE_MAX if unknown. timed: kernels
 * are not computed, so that an entry without PTX serves as well.
 */
int bundle_image(const void *bundle, size_t n_bytes, bool timed, void **ret_image);
