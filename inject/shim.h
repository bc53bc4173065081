/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's one context: everything it knows, in one place. All zero until the driver calls
 * InitializeInjection; a forked child that uses the GPU begins again from zero.
 */
#pragma once

#include "inject/capture/capture.h"
#include "inject/config.h"
#include "inject/cuda/activity.h"
#include "inject/cuda/buffers.h"
#include "inject/cuda/cupti.h"
#include "inject/cuda/pause.h"
#include "inject/cuda/streams.h"
#include "inject/cuda/widen.h"
#include "inject/cuda/yield.h"
#include "inject/flush.h"
#include "inject/ring/link.h"
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
	int32_t n_captures;
	bool has_faulted; /* a call returned an error that a kernel made */

	struct ts_control *control;
	struct ts_config config;
	struct ts_link link;
	struct ts_definitions definitions;
	struct ts_producer producer;
	struct ts_stack_walker stacks;
	struct ts_widen widen;
	struct ts_cupti cupti;
	struct ts_streams streams;
	struct ts_captured captured;
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

/*
 * Begins this process's session where it has none: waits until there is one, with a bound. Returns whether there is. A forked
 * child gets one of its own. Calls nothing of the dynamic loader.
 */
bool ts_shim_begin(void);

/* cuda/callbacks.c: what CUPTI calls for every call and resource; userdata is the shim. Never fails, never throws. */
void ts_callbacks_handle(void *userdata, uint32_t domain, uint32_t cbid, const void *data);

/*
 * cuda/recorder.c: subscribes and switches on what is recorded, in the order that CUPTI wants. The second is for when it
 * was given up and is to be ours again.
 */
enum ts_empty_reason ts_recorder_start(struct ts_shim *shim, char *ret_text, size_t n_text_bytes);
enum ts_empty_reason ts_recorder_resume(struct ts_shim *shim, char *ret_text, size_t n_text_bytes);

/*
 * The two halves of giving CUPTI up, on the flush thread only: first no call is recorded and CUPTI gathers nothing
 * more; then, when what it holds was flushed, nobody is subscribed, no device row is taken, and CUPTI is set as it was found.
 */
void ts_recorder_disable(struct ts_shim *shim);
void ts_recorder_unsubscribe(struct ts_shim *shim);

/*
 * CUPTI's id of a call that the flush thread makes now, which nobody records: all that are made later have higher ones. 0:
 * it is not told. CUPTI is ours.
 */
uint32_t ts_recorder_probe(struct ts_shim *shim);
/* The same for several: begin returns false where none can be told. */
bool ts_recorder_begin_probes(struct ts_shim *shim);
uint32_t ts_recorder_probe_once(struct ts_shim *shim);
void ts_recorder_end_probes(struct ts_shim *shim);

/*
 * On the flush thread, while recording is stopped: CUPTI gathers nothing, and calls back for what has to be followed alone;
 * and everything again.
 */
void ts_recorder_quiet(struct ts_shim *shim);
void ts_recorder_rouse(struct ts_shim *shim);

/*
 * cuda/switch.c, on the flush thread: does what the daemon asks for by TS_COMMAND_PAUSED; says in the trace what holds from
 * that time on, which a session that begins stopped does once.
 */
void ts_switch_follow(struct ts_shim *shim);
void ts_switch_tell(struct ts_shim *shim, uint64_t ticks);

/* What CUPTI's buffer callbacks are, whoever holds it: each buffer goes to whose it is. */
void ts_recorder_requested(uint8_t **buffer, size_t *size, size_t *max_records);
void ts_recorder_completed(void *context, uint32_t stream, uint8_t *buffer, size_t size,
			   size_t valid_bytes);

/* Now, on the clock of CUPTI's records. Returns false where it is not told. */
bool ts_recorder_clock(struct ts_shim *shim, uint64_t *ret_ticks);

/*
 * The application's own profiler is about to take CUPTI: everything is flushed and CUPTI is given up before this
 * returns; bounded in time. Does nothing where CUPTI is not ours.
 */
void ts_shim_yield(void);

/*
 * The process is about to replace itself by exec: everything is flushed. Where that fails, ts_shim_stay() follows. Both
 * may be called from anywhere, and do nothing in a child of fork() or vfork(); the first is bounded in time.
 */
void ts_shim_leave(void);
void ts_shim_stay(void);

/*
 * The process is about to end. May be called from anywhere: inside a callback, in a signal handler,
 * while other threads hold our locks; twice; in a forked child, where it does nothing. Bounded in time.
 * `last`: nothing runs after this.
 */
void ts_shim_end(bool last);
