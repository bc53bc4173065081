/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows: what is alive is captured from the process's start on, all else only while a window is open. One that opens waits for
 * the devices, with a bound, and captures what their memory holds; meanwhile other threads' calls wait for it. So a replay does
 * what made things, puts memory as it was, and goes on from there.
 */
#pragma once

#include "inject/capture/lane.h"
#include "proto/abi/capture-config.h"

struct ts_capture;
struct ts_cupti_module_data;

/* The driver's own functions that a window needs. All, or none opens. */
struct ts_window_driver {
	int (*push)(void *context);
	int (*pop)(void **context);
	int (*exchange_mode)(int32_t *mode);
	int (*stream_new)(void **stream, uint32_t flags);
	int (*stream_free)(void *stream);
	int (*stream_query)(void *stream);
	int (*event_new)(void **event, uint32_t flags);
	int (*event_free)(void *event);
	int (*event_record)(void *event, void *stream);
	int (*event_query)(void *event);
	int (*copy)(void *host, uint64_t device, size_t n_bytes, void *stream);
};

struct ts_window {
	bool is_tracked; /* false: all is captured from the start on, and nothing here applies */
	bool given_up; /* it could not be opened: not tried again until nobody wants it any more */
	bool by_signal;
	uint32_t open;		    /* written with the order held; read without */
	uint32_t opening;	    /* or closing: others wait */
	uint32_t n_copying;	    /* calls under way that copy, and wait for others */
	uint32_t n_stream_captures; /* of streams: no window opens or closes meanwhile */
	uint32_t n_ranges;	    /* that ask for it and are open */
	uint64_t n_launches;
	struct ts_capture_config config;
	struct ts_window_driver driver;
	/* What is alive, under the lane's lock. */
	struct ts_pages contexts, streams, modules;
	size_t n_contexts, n_streams, n_modules;
	uint64_t n_created;
	pthread_mutex_t names_lock; /* of the two below; the driver is asked nothing with it */
	struct ts_pages names;	    /* of modules' variables, one after the other, each once */
	size_t n_name_bytes;
	struct ts_pages buffer; /* of who opens */
};

void ts_window_start(struct ts_capture *capture, const struct ts_capture_config *config,
		     void *library);

/* Whether a call that is work, not what is alive, is captured. */
static inline bool ts_window_is_open(const struct ts_window *window)
{
	return !window->is_tracked || __atomic_load_n(&window->open, __ATOMIC_RELAXED);
}

/* A call begins: whether a window is to be opened or closed before it. */
bool ts_window_is_due(struct ts_capture *capture, bool is_launch);
/* Does so. The order is held, the lane's lock is not. */
void ts_window_switch(struct ts_capture *capture);
/* True on a thread that makes a call of ours which is to have rows: it is not captured. */
bool ts_window_calls_driver(void);
/* Around calls that copy and may wait: the former waits while a window opens, 40 s at most, after which the trace says so. */
void ts_window_copy_begins(struct ts_capture *capture);
void ts_window_copy_ends(struct ts_window *window);
/* Before a stream begins to be captured, and after it ended or did not begin: the former waits while a window opens or closes. */
void ts_window_capture_begins(struct ts_window *window);
void ts_window_capture_ends(struct ts_window *window);

/* What is alive. The lane's lock is held. */
void ts_window_context(struct ts_capture *capture, uint64_t handle, uint32_t context, bool is_new);
void ts_window_stream(struct ts_capture *capture, uint64_t handle, uint32_t context, bool is_new);
void ts_window_module(struct ts_capture *capture, uint64_t handle, uint32_t context,
		      bool is_library, bool is_new);
/* Code as the driver has it: names of variables. The lane's lock is neither held nor waited for. */
void ts_window_code(struct ts_capture *capture, const struct ts_cupti_module_data *module);

/* A range of the application's begins or is over, whichever thread's. Returns whether it is one that windows go by. */
bool ts_window_range_begins(const char *text, size_t n_bytes);
void ts_window_range_ends(void);
