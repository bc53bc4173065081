/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shim's one context: everything it knows, in one place. All zero until the driver calls
 * InitializeInjection; a forked child that uses the GPU begins again from zero.
 */
#pragma once

#include "inject/config.h"
#include "inject/cuda/activity.h"
#include "inject/cuda/buffers.h"
#include "inject/cuda/cupti.h"
#include "inject/cuda/streams.h"
#include "inject/flush.h"
#include "inject/link.h"
#include "inject/producer.h"
#include "inject/stack.h"
#include "inject/widen.h"

struct ts_shim {
	struct ts_gate *gate; /* NULL: nothing was started */
	pid_t pid;	      /* whose session it is */
	uint32_t epoch;	      /* of the session */
	uint32_t started;     /* InitializeInjection was called: 1 being set up, 2 set up */
	uint32_t flushed;     /* ending: first, CUPTI was flushed */
	uint32_t ended;	      /* ending: then, the daemon was told */
	/* Streams being captured. While there are any, a launch may be recorded into a graph and run later. */
	int32_t n_captures;

	struct ts_control *control;
	struct ts_config config;
	struct ts_link link;
	struct ts_definitions definitions;
	struct ts_producer producer;
	struct ts_stack_walker stacks;
	struct ts_widen widen;
	struct ts_cupti cupti;
	struct ts_streams streams;
	struct ts_id_set objects;
	struct ts_buffers buffers;
	struct ts_activity activity;
	struct ts_flush flush;

	/* Yielding: the first that asked, and its name. */
	uint32_t yielding;
	char yielded_to[128];
	uint32_t n_takers; /* threads inside the application's own cuptiSubscribe() */
};

extern struct ts_shim ts_shim;

/* cuda/callbacks.c: what CUPTI calls for every call and resource; userdata is the shim. Never fails, never throws. */
void ts_callbacks_handle(void *userdata, uint32_t domain, uint32_t cbid, const void *data);

/* cuda/recorder.c: subscribes and switches on what is recorded, in the order that CUPTI wants. */
enum ts_empty_reason ts_recorder_start(struct ts_shim *shim, char *ret_text, size_t n_text_bytes);

/*
 * The two halves of giving CUPTI up, on the flush thread only: first no call is recorded and CUPTI gathers nothing
 * more; then, when what it holds was flushed, nobody is subscribed and no device row is taken.
 */
void ts_recorder_disable(struct ts_shim *shim);
void ts_recorder_unsubscribe(struct ts_shim *shim);

/*
 * The application's own profiler is about to take CUPTI: everything is flushed and CUPTI is given up, for good, before
 * this returns; bounded in time. `who`: its name, as far as it is known. Does nothing where CUPTI is not ours.
 */
void ts_shim_yield(const char *who);

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
