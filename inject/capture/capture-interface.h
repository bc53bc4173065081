/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the shim (capture-link.c) and libtsinject-capture.so (capture-library.c).
 * Both share the shim's context (context.h), so they must come from one build: ts_capture_open()
 * refuses another one. In a process, the shim's files call the library by struct
 * ts_capture_library, and the library's files call the shim by struct ts_capture_host.
 */
#pragma once

#include "inject/calls/call-table.h"
#include "inject/capture/hip/hip-capture.h"
#include "inject/context.h"
#include "inject/cuda/callbacks.h"
#include "inject/hip/hip-arguments.h"
#include "inject/hip/hip-code.h"

/* The shim's functions that the library calls, by their own names. */
#define TS_CAPTURE_HOST_FUNCTIONS(X)    \
	X(ts_call_table_class)          \
	X(ts_call_table_stream_capture) \
	X(ts_call_table_watched)        \
	X(ts_callbacks_handle)          \
	X(ts_definitions_string)        \
	X(ts_hip_code_can_read)         \
	X(ts_hip_code_is_managed)       \
	X(ts_hip_code_next_variable)    \
	X(ts_hip_code_registered)       \
	X(ts_hip_function_of)           \
	X(ts_hip_launch_of)             \
	X(ts_hip_stream_of)             \
	X(ts_producer_claim)            \
	X(ts_producer_wake_daemon)      \
	X(ts_stream_table_find)

/* The build: the version of TraceSmith, and the sizes of the state that both use. */
struct ts_capture_build {
	char version[32];
	uint32_t shim_bytes, loaded_bytes, tls_bytes;
};
#define TS_CAPTURE_BUILD                                                              \
	{                                                                             \
		TS_VERSION, sizeof(struct ts_shim), sizeof(ts_loaded), sizeof(ts_tls) \
	}

struct ts_capture_host {
	struct ts_capture_build build;
	struct ts_shim *shim;
	__typeof__(ts_loaded) *loaded;
	__typeof__(ts_tls) *(*tls)(void); /* the calling thread's */
#define TS_CAPTURE_FIELD_(name) __typeof__(name) *name;
	TS_CAPTURE_HOST_FUNCTIONS(TS_CAPTURE_FIELD_)
#undef TS_CAPTURE_FIELD_
};

/* capture-host.c: the shim that the library's files call from now on. */
void ts_capture_use_host(const struct ts_capture_host *from);

/* The library's functions that the shim calls. Their headers describe them. */
struct ts_capture_library {
	__typeof__(ts_capture_start) *start;
	__typeof__(ts_capture_wants) *wants;
	__typeof__(ts_capture_handle) *handle;
	__typeof__(ts_hip_capture_start) *hip_start;
	__typeof__(ts_hip_capture_enter) *hip_enter;
	__typeof__(ts_hip_capture_leave) *hip_leave;
};

/*
 * The library's one exported function. `host` stays valid for the process's life. Returns NULL if
 * the shim comes from another build.
 */
#define TS_CAPTURE_OPEN "ts_capture_open"
typedef const struct ts_capture_library *(*ts_capture_open_fn)(const struct ts_capture_host *host);
