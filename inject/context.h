/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's one context: all state of the session. It is zero until the session begins. A forked
 * child that uses the GPU begins again from zero.
 */
#pragma once

#include <limits.h>

#include "inject/calls/stream-table.h"
#include "inject/capture/capture.h"
#include "inject/config.h"
#include "inject/cuda/activity.h"
#include "inject/cuda/buffers.h"
#include "inject/cuda/cupti-library.h"
#include "inject/cuda/family.h"
#include "inject/cuda/pause.h"
#include "inject/cuda/widen.h"
#include "inject/cuda/yield.h"
#include "inject/flush.h"
#include "inject/hip/hip-recorder.h"
#include "inject/ring/link-thread.h"
#include "inject/ring/producer.h"
#include "inject/rocprofiler/rocprofiler-link.h"
#include "inject/stacks/stack.h"

struct ts_shim {
	struct ts_gate *gate; /* NULL: no session was started */
	pid_t pid;	      /* process of the session */
	uint32_t epoch;	      /* of the session */
	/*
	 * The session's set-up, by CUDA or by an annotation: 0 not begun, 1 running, 2 done or
	 * failed.
	 */
	uint32_t started;
	/* CUPTI's set-up in InitializeInjection(): 0 not begun, 1 running, 2 done or failed. */
	uint32_t cuda_started;
	/*
	 * Start of the stack walker, and of the flush thread: 0 not begun, 1 running, 2 done or
	 * failed.
	 */
	uint32_t stacks_started;
	uint32_t flush_started;
	int flush_error;  /* error of the flush thread's start; 0: the thread runs */
	uint32_t flushed; /* end, first step: CUPTI was flushed */
	uint32_t ended;	  /* end, second step: the shim sent BYE to the daemon, or has no daemon */
	/* Active stream captures. If there are any, a launch may go into a graph and run later. */
	int32_t n_stream_captures;
	bool has_faulted; /* a call returned an error that a kernel caused */
	/*
	 * Vendor whose numbers in the trace begin at 0, enum ts_api_domain: the first in the
	 * process; 0: none yet. The other vendor's numbers lie above.
	 */
	uint32_t first_vendor;
	uint32_t first_cuda_device; /* number of CUDA's first device */

	struct ts_control *control;
	struct ts_config config;
	struct ts_link link;
	struct ts_definitions definitions;
	struct ts_producer producer;
	struct ts_stack_walker stacks;
	struct ts_widen widen;
	uint32_t n_shared_ids; /* calls that have no id of their own from the library */
	struct ts_cupti cupti;
	struct ts_family family; /* of the calls of a library like CUPTI */
	struct ts_stream_table streams;
	struct ts_stream_captures stream_captures;
	struct ts_id_set objects;
	struct ts_buffers buffers;
	struct ts_activity activity;
	struct ts_flush flush;

	struct ts_yield yield;
	struct ts_pause pause;
	struct ts_capture capture;
	struct ts_hip hip;
	/*
	 * Counts how often the shim took CUPTI back, or enabled its records again after a stop. A
	 * call that began in an earlier generation may have ended without a callback.
	 */
	uint32_t generation;
};

#ifdef TS_CAPTURE_LIBRARY
/* In libtsinject-capture.so: the shim's. Defined in capture-host.c. */
struct ts_shim *ts_capture_shim(void);
#else
extern struct ts_shim ts_shim;
#endif

/*
 * Facts about this library from when it was loaded. They belong to the process, not to a session.
 */
struct ts_library {
	const char *path; /* of this library; empty: unknown */
	/*
	 * Name of the other library that NVTX_INJECTION64_PATH names, so that NVTX does not call
	 * the shim; NULL: none.
	 */
	const char *nvtx_holder;
	/*
	 * True if the library was preloaded, so that the loader finds its functions first; false if
	 * the driver loaded it.
	 */
	bool interposes;
	/* glibc before 2.34, without libpthread.so.0 or libdl.so.2: no session can begin. */
	bool lacks_threads;
	/*
	 * A session was begun, in this process or in a process that forked it. While it is false,
	 * `ts_shim` is zero. Atomic and relaxed.
	 */
	bool has_begun;
	int filters; /* seccomp filters at load, from ts_sandbox_count() */
};

#ifndef TS_CAPTURE_LIBRARY
extern struct ts_library ts_library;
#endif

/* State of the process, not of a session. The constructor does not need it. */
struct ts_loaded {
	struct ts_hip_runtime hip;
	struct ts_rocprofiler rocprofiler;
};

#ifdef TS_CAPTURE_LIBRARY
struct ts_loaded *ts_capture_loaded(void);
#define ts_loaded (*ts_capture_loaded())
#else
extern struct ts_loaded ts_loaded;
#endif

/*
 * Claims the numbers from 0 on for a vendor: TS_API_CUDA_DRIVER or TS_API_HIP. Returns false if the
 * other vendor has them.
 */
static inline bool ts_shim_claim_numbers(struct ts_shim *shim, uint32_t vendor)
{
	uint32_t none = 0;

	return __atomic_compare_exchange_n(&shim->first_vendor, &none, vendor, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED) ||
	       none == vendor;
}

/* True if the daemon's command is to record. */
static inline bool ts_shim_is_recording(const struct ts_shim *shim)
{
	return __atomic_load_n(&shim->control->command, __ATOMIC_RELAXED) & TS_COMMAND_RECORD;
}

/*
 * True if recording is stopped: by a function that the application called, or by `tsctl stop`. Do
 * not decide by this function whether a call is recorded: cuda/pause.h decides that by the call's
 * id.
 */
static inline bool ts_shim_is_stopped(const struct ts_shim *shim)
{
	return (__atomic_load_n(&shim->control->command, __ATOMIC_RELAXED) & TS_COMMAND_PAUSED) ||
	       __atomic_load_n(&ts_producer_stopped, __ATOMIC_RELAXED);
}
