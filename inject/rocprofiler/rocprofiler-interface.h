/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the shim (rocprofiler-link.c) and libtsinject-rocprofiler.so
 * (rocprofiler-tool.c). The shim loads that library, and passes its own functions to the library's
 * only function, ts_rocprofiler_open().
 */
#pragma once

#include "inject/rocprofiler/rocprofiler-records.h"

/* Both sides are of one build; another number is refused. */
#define TS_ROCPROFILER_INTERFACE 1u

/* The shim's functions. The library's threads and the application's calls call them. */
struct ts_rocprofiler_shim {
	uint32_t interface;
	/* Returns the op_id of the thread's recorded call; 0: none. */
	uint64_t (*current_op)(void);
	/* Records finished work. kernel_name: NULL, not known. */
	void (*deliver)(const struct ts_rocprofiler_work *work, const char *kernel_name);
	/* Counts lost records. reason: enum ts_loss_reason */
	void (*count)(uint32_t reason, uint64_t n);
};

enum ts_rocprofiler_state {
	TS_ROCPROFILER_WAITING, /* the SDK has not called the tool yet */
	TS_ROCPROFILER_RUNNING, /* the SDK delivers finished work */
	TS_ROCPROFILER_FAILED,	/* a step failed, see problem() */
	TS_ROCPROFILER_ENDED,	/* the SDK ended the tool: it delivers nothing any more */
};

/* The library's functions. The flush thread and the application's calls call them. */
struct ts_rocprofiler_library {
	uint32_t interface;
	enum ts_rocprofiler_state (*state)(void);
	/* Returns the step that failed, with its error. */
	const char *(*problem)(void);
	/* Delivers the finished work that the SDK has. Waits for that. */
	void (*flush)(void);
	/* Returns the SDK's time in nanoseconds; 0: not known. */
	uint64_t (*now)(void);
};

/*
 * Prepares the tool. `sdk` is a handle of librocprofiler-sdk. Returns NULL if the SDK lacks a
 * function, and stores the function's name.
 */
typedef const struct ts_rocprofiler_library *(*ts_rocprofiler_open_fn)(
	const struct ts_rocprofiler_shim *shim, void *sdk, const char **ret_missing);

#define TS_ROCPROFILER_OPEN "ts_rocprofiler_open"
