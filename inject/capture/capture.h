/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture level `replay`: what a process asks of its devices, whole, so that it can be asked for again without the process.
 * The driver's calls are looked at, also those that the runtime makes; where one driver call is made by another, the outer
 * one alone. See README.md.
 */
#pragma once

#include "inject/capture/memory.h"
#include "proto/abi/vendor/cupti.h"

struct ts_shim;

/* The driver's own functions that are asked for what calls do not tell. Any may be NULL. */
struct ts_capture_driver {
	int (*func_param)(void *function, size_t index, size_t *offset, size_t *bytes);
	int (*kernel_param)(void *kernel, size_t index, size_t *offset, size_t *bytes);
	int (*is_capturing)(void *stream, int *ret_status);
};

struct ts_capture {
	struct ts_shim *shim; /* NULL: this session captures nothing */
	struct ts_lane lane;
	struct ts_memory_map memory;
	struct ts_capture_driver driver;
	pthread_mutex_t order; /* held through calls whose order matters */
	uint32_t disorder;     /* a call was not waited for: the order is as it comes */
	/* Under the lane's lock. */
	struct ts_handles function_numbers;
	struct ts_pages functions; /* struct function of each number */
	size_t n_functions;
	struct ts_pages layouts; /* where functions' arguments lie: struct argument */
	size_t n_layouts;
	struct ts_pages arguments; /* of one launch, packed */
	struct ts_handles event_numbers;
	struct ts_pages events; /* struct event of each number */
	size_t n_events;
	struct ts_pages
		pending; /* struct pending: copies to the host whose result is not known yet */
	size_t n_pending;
	uint64_t told[1024 / 64]; /* calls that were named as unsupported: a bit of each */
};

/* Begins where the session has a lane; the driver is there. Otherwise calls are not looked at. */
void ts_capture_start(struct ts_capture *capture, struct ts_shim *shim, uint64_t max_bytes);

/* Whether such a call is to be seen by ts_capture_handle(). */
bool ts_capture_wants(uint32_t domain, uint32_t cbid);

/* What CUPTI calls in place of ts_callbacks_handle(), which it calls. */
void ts_capture_handle(void *userdata, uint32_t domain, uint32_t cbid, const void *data);

/* calls.c: how a driver's call is captured. */
enum ts_capture_mode {
	TS_CAPTURE_NOT = 0, /* nothing to do again */
	TS_CAPTURE_ORDERED, /* after it returned; no other ordered call meanwhile */
	TS_CAPTURE_AFTER,   /* after it returned: it may wait for others */
	TS_CAPTURE_BEFORE,  /* before it begins: what it gives up may be had by others at once */
	TS_CAPTURE_UNSUPPORTED, /* it is named, once */
};
enum ts_capture_mode ts_capture_mode(uint32_t cbid);
/* "cuLaunchHostFunc". Never NULL. */
const char *ts_capture_name(uint32_t cbid);
/* A call, or (BEFORE) one that begins. The lane's lock is held. */
void ts_capture_call(struct ts_capture *capture, uint32_t cbid,
		     const struct ts_cupti_callback_data *data,
		     const struct ts_record_operation *model);

/* copies.c: a copy. `model` has what all of its operations have. */
struct ts_capture_copy {
	uint64_t dst, src;
	size_t width, height, depth;
	size_t dst_pitch, src_pitch, dst_slice, src_slice;
	bool dst_host, src_host; /* as the call says */
	bool unified; /* it does not say: the addresses tell, and what no allocation holds is host memory */
	bool async;
};
void ts_capture_copies(struct ts_capture *capture, const struct ts_record_operation *model,
		       const struct ts_capture_copy *copy);
/* Host memory that the device can reach, if it changed since it was captured and no kernel may be at it. */
void ts_capture_host_memory(struct ts_capture *capture, const struct ts_record_operation *model,
			    struct ts_memory_range *range);
/* An event stands behind what is in a stream now. */
void ts_capture_event(struct ts_capture *capture, const struct ts_record_operation *recorded);
/* Copies whose wait is over, as the operation says, have their results now. */
void ts_capture_results(struct ts_capture *capture, const struct ts_record_operation *waited);
/* Host memory that goes: what was to be written there is not known. */
void ts_capture_forget(struct ts_capture *capture, uint64_t start, uint64_t bytes);

/* capture.c: whether what is put into a stream now goes into a graph, and not to the device. */
bool ts_capture_is_captured(struct ts_capture *capture, uint64_t stream);

/* launches.c */
void ts_capture_launch(struct ts_capture *capture, const struct ts_record_operation *model,
		       void *function, void **params, void **extra);
/* The handle stands for another function now. */
void ts_capture_function(struct ts_capture *capture, uint64_t handle);

/* modules.c: the bytes of an image as the driver is given it; 0: nobody knows how many. */
size_t ts_capture_image_bytes(const void *image, const void **ret_start);
