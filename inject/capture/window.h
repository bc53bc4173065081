/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture windows. From the process's start, the lane gets the calls that create and destroy
 * objects (contexts, modules, streams, memory). It gets work (launches, copies, waits) only while a
 * window is open. When a window opens, the shim waits for the devices, with a bound, and captures
 * their memory; calls of other threads wait meanwhile. A replay creates the objects, restores the
 * memory, and continues with the window's first operation.
 */
#pragma once

#include "inject/capture/lane.h"
#include "proto/abi/capture-config.h"
#include "proto/abi/vendor/cuda_driver_types.h"

struct ts_capture;

/*
 * Functions of the CUDA driver, or of HIP, that a capture window needs. If one of them is missing,
 * except the last, no window opens.
 */
struct ts_window_driver {
	cuCtxPushCurrent_v2_fn *push;
	cuCtxPopCurrent_v2_fn *pop;
	cuThreadExchangeStreamCaptureMode_fn *exchange_mode;
	cuStreamCreate_fn *stream_new;
	cuStreamDestroy_v2_fn *stream_free;
	cuStreamQuery_fn *stream_query;
	cuEventCreate_fn *event_new;
	cuEventDestroy_v2_fn *event_free;
	cuEventRecord_fn *event_record;
	cuEventQuery_fn *event_query;
	cuMemcpyDtoHAsync_v2_fn *copy;
	/*
	 * Captures the addresses of variables that no module's handle shows, for the current
	 * context. NULL: there are none.
	 */
	void (*find_variables)(struct ts_capture *capture, uint32_t context);
};

struct ts_window {
	/* False: the whole process is captured, and the fields below are unused. */
	bool is_tracked;
	/* The window could not open. The next try needs a new request. */
	bool given_up;
	bool by_signal;
	uint32_t open;	  /* written with the order lock held, read without it */
	uint32_t opening; /* 1: a window opens or closes; other threads wait */
	/*
	 * Number of running driver calls of the application that copy or fill memory. Such a call
	 * may wait for a kernel, and so for another thread. Therefore hold_up() waits for these
	 * calls at most 1 s.
	 */
	uint32_t n_copying;
	uint32_t n_stream_captures; /* active stream captures; above 0: no window opens or closes */
	uint32_t n_ranges;	    /* open ranges that request a window */
	uint64_t n_launches;
	struct ts_capture_config config;
	struct ts_window_driver drivers[2]; /* by enum ts_capture_vendor */
	/* struct alive of each live object, oldest first; under the lane's lock. */
	struct ts_pages contexts, streams, modules;
	size_t n_contexts, n_streams, n_modules;
	uint64_t n_created;
	/* guards `names` and n_name_bytes; its holder never calls the driver */
	pthread_mutex_t names_lock;
	struct ts_pages names; /* names of variables, each once, each ends with NUL */
	size_t n_name_bytes;
	struct ts_pages buffer; /* PIECE_BYTES, for copies of device memory */
};

/*
 * Reads the settings, and installs the signal handler if they name a signal. The caller fills in
 * the driver's functions.
 */
void ts_window_start(struct ts_capture *capture, const struct ts_capture_config *config);
/* Finds the functions of the CUDA driver in `library`. */
void ts_window_find_driver(struct ts_window_driver *driver, void *library);

/* True if work calls (launches, copies, waits) are captured. */
static inline bool ts_window_is_open(const struct ts_window *window)
{
	return !window->is_tracked || __atomic_load_n(&window->open, __ATOMIC_RELAXED);
}

/*
 * Called at the entry of a call. Returns true if a window must open or close before the call.
 * Counts launches.
 */
bool ts_window_is_due(struct ts_capture *capture, bool is_launch);
/* Opens or closes the window. The caller holds the order lock, and not the lane's lock. */
void ts_window_switch(struct ts_capture *capture);
/*
 * True while the calling thread makes a driver call of the shim that gets rows. Such a call is not
 * captured.
 */
bool ts_window_calls_driver(void);
/*
 * capture.c calls ts_window_copy_begins() before a call that copies and may wait, and
 * ts_window_copy_ends() after it. While a window opens or closes, ts_window_copy_begins() waits,
 * for at most 40 s. After 40 s the copy proceeds, and the trace names it as unsupported.
 */
void ts_window_copy_begins(struct ts_capture *capture);
void ts_window_copy_ends(struct ts_window *window);
/*
 * ts_window_capture_begins() is called before a stream capture begins; it waits while a window
 * opens or closes. ts_window_capture_ends() is called after a stream capture ends or fails to
 * begin.
 */
void ts_window_capture_begins(struct ts_window *window);
void ts_window_capture_ends(struct ts_window *window);

/* Add (is_new) or remove a live object. The caller holds the lane's lock. */
void ts_window_context(struct ts_capture *capture, uint32_t vendor, uint64_t handle,
		       uint32_t context, bool is_new);
void ts_window_stream(struct ts_capture *capture, uint64_t handle, uint32_t context, bool is_new);
/* context: of a module; 0: of all contexts, as CUDA's libraries are. */
void ts_window_module(struct ts_capture *capture, uint64_t handle, uint32_t context,
		      bool is_library, bool is_new);
/*
 * Collects the names of variables from a loaded module's code: an ELF file or PTX. The caller need
 * not hold the lane's lock, and this function does not take it.
 */
void ts_window_code(struct ts_capture *capture, const void *code, size_t n_bytes);
