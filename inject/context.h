/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's one context: everything it knows, in one place. All zero until the driver calls
 * InitializeInjection; a forked child that uses the GPU begins again from zero.
 */
#pragma once

#include <limits.h>

#include "inject/capture/capture.h"
#include "inject/config.h"
#include "inject/cuda/activity.h"
#include "inject/cuda/buffers.h"
#include "inject/cuda/cupti-library.h"
#include "inject/cuda/pause.h"
#include "inject/cuda/stream-table.h"
#include "inject/cuda/widen.h"
#include "inject/cuda/yield.h"
#include "inject/flush.h"
#include "inject/ring/link-thread.h"
#include "inject/ring/producer.h"
#include "inject/stacks/stack.h"

struct ts_shim {
	struct ts_gate *gate; /* NULL: nothing was started */
	pid_t pid;	      /* whose session it is */
	uint32_t epoch;	      /* of the session */
	uint32_t
		started; /* there is a session: 1 being set up, 2 set up; by CUDA or by an annotation */
	uint32_t
		cuda_started; /* InitializeInjection was called: 1 CUPTI is being set up, 2 it is, or cannot be */
	uint32_t flushed; /* ending: first, CUPTI was flushed */
	uint32_t ended;	  /* ending: then, the daemon was told */
	/* Streams being captured. While there are any, a launch may be recorded into a graph and run later. */
	int32_t n_stream_captures;
	bool has_faulted; /* a call returned an error that a kernel made */

	struct ts_control *control;
	struct ts_config config;
	struct ts_link link;
	struct ts_definitions definitions;
	struct ts_producer producer;
	struct ts_stack_walker stacks;
	struct ts_widen widen;
	uint32_t n_shared_ids; /* calls that share an id with the call before them */
	struct ts_cupti cupti;
	struct ts_stream_table streams;
	struct ts_stream_captures stream_captures;
	struct ts_id_set objects;
	struct ts_buffers buffers;
	struct ts_activity activity;
	struct ts_flush flush;

	struct ts_yield yield;
	struct ts_pause pause;
	struct ts_capture capture;
	/* How often CUPTI was taken back, or roused: calls that began before may have ended unseen. */
	uint32_t generation;
};

extern struct ts_shim ts_shim;

/* What was found when the library was loaded: the process's, not a session's. */
struct ts_loaded {
	char library[PATH_MAX]; /* the path that this library was loaded from */
	char nvtx_holder[256];	/* whose library NVTX calls in this one's place; empty: nobody's */
	bool interposes; /* it was preloaded, so that its functions stand before everybody's; not loaded by the driver alone */
	int filters;	 /* seccomp filters that were there, as ts_sandbox_count() returns them */
};

extern struct ts_loaded ts_loaded;

/* Whether a daemon takes records at all. */
static inline bool ts_shim_is_recording(const struct ts_shim *shim)
{
	return __atomic_load_n(&shim->control->command, __ATOMIC_RELAXED) & TS_COMMAND_RECORD;
}

/*
 * Whether recording was stopped: by the application's own switch, or by the daemon's, for somebody who asked it. Calls are left
 * out by their ids (cuda/pause.h), whatever else begins by this.
 */
static inline bool ts_shim_is_stopped(const struct ts_shim *shim)
{
	return (__atomic_load_n(&shim->control->command, __ATOMIC_RELAXED) & TS_COMMAND_PAUSED) ||
	       __atomic_load_n(&ts_producer_stopped, __ATOMIC_RELAXED);
}
