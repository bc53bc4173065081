/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture level `replay`: what a process asks of its devices, whole, so that it can be asked for again without the process.
 * The driver's calls are looked at, also those that the runtime makes; where one driver call is made by another, the outer
 * one alone. See README.md.
 */
#pragma once

#include "inject/capture/capture-memory.h"
#include "inject/capture/window.h"
#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cupti.h"

struct ts_shim;

/* The driver's own functions that are asked for what calls do not tell. Any may be NULL. */
struct ts_capture_graph_driver {
	int (*nodes)(void *graph, void **nodes, size_t *n);
	int (*edges)(void *graph, void **from, void **to, void *data, size_t *n);
	int (*old_edges)(void *graph, void **from, void **to, size_t *n);
	int (*type)(void *node, int32_t *type);
	int (*kernel)(void *node, struct ts_cu_kernel_node_params *params);
	int (*attribute)(void *node, uint32_t id, union ts_cu_launch_attribute_value *value);
	int (*copy)(void *node, struct ts_cu_memcpy_3d *params);
	int (*fill)(void *node, struct ts_cu_memset_node_params *params);
	int (*child)(void *node, void **graph);
	int (*record)(void *node, void **event);
	int (*wait)(void *node, void **event);
};

struct ts_capture_driver {
	struct ts_capture_graph_driver graphs;
	int (*func_param)(void *function, size_t index, size_t *offset, size_t *bytes);
	int (*kernel_param)(void *kernel, size_t index, size_t *offset, size_t *bytes);
	int (*is_capturing)(void *stream, int *ret_status);
	int (*module_variable)(uint64_t *ret_address, size_t *ret_bytes, void *module,
			       const char *name);
	int (*library_variable)(uint64_t *ret_address, size_t *ret_bytes, void *library,
				const char *name);
	int (*library_managed)(uint64_t *ret_address, size_t *ret_bytes, void *library,
			       const char *name);
};

struct ts_capture {
	struct ts_shim *shim; /* NULL: this session captures nothing */
	struct ts_lane lane;
	struct ts_memory_map memory;
	struct ts_window window;
	struct ts_capture_driver driver;
	pthread_mutex_t order; /* held through calls whose order matters */
	uint64_t reported_ns;  /* by ts_capture_report() */
	uint32_t disorder;     /* a call was not waited for: the order is as it comes */
	/* Under the lane's lock. */
	struct ts_handles function_numbers;
	struct ts_pages functions; /* struct function of each number */
	size_t n_functions;
	struct ts_pages layouts; /* where functions' arguments lie: struct ts_capture_argument */
	size_t n_layouts;
	struct ts_pages arguments;	 /* of one launch, packed */
	struct ts_handles graph_numbers; /* of executable graphs */
	struct ts_pages graphs;		 /* struct graph of each number */
	size_t n_graphs;
	struct ts_handles event_numbers;
	struct ts_handles memory_numbers; /* of cuMemCreate(): capture-allocations.c */
	struct ts_pages events;		  /* struct event of each number */
	size_t n_events;
	struct ts_pages
		pending; /* struct pending: copies to the host whose result is not known yet */
	size_t n_pending;
	uint64_t named[1024 / 64]; /* calls that were named as unsupported: a bit of each */
};

/* Begins where the session has a lane; the driver is there. Otherwise calls are not looked at. */
void ts_capture_start(struct ts_capture *capture, struct ts_shim *shim,
		      const struct ts_capture_config *config);

/* The flush thread's: how much it is so far and what it took, as counters in the trace. Nothing where that is told. */
void ts_capture_report(struct ts_capture *capture);

/* Whether such a call is to be seen by ts_capture_handle(). */
bool ts_capture_wants(uint32_t domain, uint32_t cbid);

/* What CUPTI calls in place of ts_callbacks_handle(), which it calls. */
void ts_capture_handle(void *userdata, uint32_t domain, uint32_t cbid, const void *data);

/* capture-calls.c: how a driver's call is captured. */
enum ts_capture_mode {
	TS_CAPTURE_NOT = 0, /* nothing to do again */
	TS_CAPTURE_ORDERED, /* after it returned; no other ordered call meanwhile */
	TS_CAPTURE_AFTER,   /* after it returned: it may wait for others */
	TS_CAPTURE_BEFORE,  /* before it begins: what it gives up may be had by others at once */
	TS_CAPTURE_UNSUPPORTED, /* it is named, once */
	TS_CAPTURE_OF_STREAM, /* begins or ends to put a stream's work into a graph: windows wait for that */
};
enum ts_capture_mode ts_capture_mode(uint32_t cbid);
/* unsupported.c: of calls that are not captured, whether a replay would lack them. */
enum ts_capture_mode ts_capture_mode_of_class(uint32_t cbid);
/* Records that a replay would lack `what`, in model's stream. */
void ts_capture_unsupported(struct ts_capture *capture, const struct ts_record_operation *model,
			    const char *what);
/* capture-calls.c: what is captured while a window is open, and not else. */
enum ts_capture_work {
	TS_CAPTURE_WORK_NOT = 0, /* of what is alive */
	TS_CAPTURE_WORK_LAUNCH,
	TS_CAPTURE_WORK_COPY, /* or fill */
	TS_CAPTURE_WORK_OTHER,
};
enum ts_capture_work ts_capture_work(uint32_t cbid);
/* "cuLaunchHostFunc". Never NULL. */
const char *ts_capture_name(uint32_t cbid);
/* attributes.c: what an attribute asks of a launch that a replay could not do again; NULL: nothing. */
const char *ts_capture_launch_lacks(int32_t attribute,
				    const union ts_cu_launch_attribute_value *value);
/* capture-calls.c: a call, or (BEFORE) one that begins. The lane's lock is held. */
void ts_capture_call(struct ts_capture *capture, uint32_t cbid,
		     const struct ts_cupti_callback_data *data,
		     const struct ts_record_operation *model);

/* capture-streams.c: the stream of a call, by its form where the application gave none. */
uint64_t ts_capture_stream(uint32_t cbid, const void *stream);
/* The id of a context by its handle, where that is not NULL. False: CUPTI does not tell. */
bool ts_capture_context(struct ts_capture *capture, void *handle, uint32_t *context);
/* Whether what is put into a stream now goes into a graph, and not to the device. */
bool ts_capture_is_captured(struct ts_capture *capture, uint64_t stream);

/* capture-operations.c: what calls, and nodes of graphs, do in model's stream. */
void ts_capture_fill(struct ts_capture *capture, const struct ts_record_operation *model,
		     const struct ts_cu_memset_node_params *fill);
void ts_capture_event_record(struct ts_capture *capture, const struct ts_record_operation *model,
			     uint64_t event);
void ts_capture_event_wait(struct ts_capture *capture, const struct ts_record_operation *model,
			   uint64_t event);
void ts_capture_variable(struct ts_capture *capture, const struct ts_record_operation *model,
			 uint64_t address, size_t bytes, const void *module, const char *name);

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
/* What a call says of a copy, but for `async`. False: of arrays, which are not captured. */
bool ts_capture_copy_3d(const struct ts_cu_memcpy_3d *from, struct ts_capture_copy *ret_copy);
/* Host memory that the device can reach, if it changed since it was captured and no kernel may be at it. */
void ts_capture_host_memory(struct ts_capture *capture, const struct ts_record_operation *model,
			    struct ts_memory_range *range);
/* An event stands behind what is in a stream now. */
void ts_capture_event(struct ts_capture *capture, const struct ts_record_operation *recorded);
/* Copies whose wait is over, as the operation says, have their results now. */
void ts_capture_results(struct ts_capture *capture, const struct ts_record_operation *waited);
/* Host memory that goes: what was to be written there is not known. */
void ts_capture_forget(struct ts_capture *capture, uint64_t start, uint64_t bytes);

/*
 * launches.c: a kernel's arguments, packed: valid until the next call. False: the driver does not tell their sizes, or none were
 * given.
 */
bool ts_capture_arguments(struct ts_capture *capture, void *handle, void **params, void **extra,
			  const void **ret_bytes, size_t *ret_n);
void ts_capture_launch_packed(struct ts_capture *capture, const struct ts_record_operation *model,
			      uint64_t handle, const void *bytes, size_t n);
void ts_capture_launch(struct ts_capture *capture, const struct ts_record_operation *model,
		       void *function, void **params, void **extra);

/* capture-functions.c: a call gave the program this handle: it stands for another function now. */
void ts_capture_function(struct ts_capture *capture, uint64_t handle);
/* Code was unloaded: handles of functions may stand for others. */
void ts_capture_functions_unload(struct ts_capture *capture);
struct ts_capture_argument {
	uint32_t offset, bytes;
};
struct ts_capture_layout {
	const struct ts_capture_argument *arguments; /* until the next function is asked for */
	uint32_t n;
	uint32_t bytes; /* of all, packed */
};
/* Where a function's arguments lie. False: the driver does not tell. */
bool ts_capture_layout(struct ts_capture *capture, void *handle,
		       struct ts_capture_layout *ret_layout);
/* How long a variable is that the program asked for without its size; 0: the driver does not tell. */
size_t ts_capture_variable_bytes(const struct ts_capture *capture, uint32_t cbid, void *module,
				 const char *name);

/* capture-allocations.c: whether it was a call that allocates or frees memory. */
bool ts_capture_alloc_call(struct ts_capture *capture, uint32_t cbid, const void *params,
			   struct ts_record_operation *model);

/* graphs.c: the driver's functions. */
void ts_capture_find_graph_driver(struct ts_capture_graph_driver *driver, void *library);
/* Whether it was a call of graphs. */
bool ts_capture_graph_call(struct ts_capture *capture, uint32_t cbid, const void *params,
			   struct ts_record_operation *model);

/* images.c: the bytes of an image as the driver is given it; 0: nobody knows how many. */
size_t ts_capture_image_bytes(const void *image, const void **ret_start);
/*
 * One that is in a file: read before the driver reads it, with no lock held; what was read is the calling thread's. Taken when the
 * driver has: its bytes, until they are dropped. 0: it is no file, cannot be read, or is another by now.
 */
void ts_capture_file_read(const char *path);
size_t ts_capture_file_take(const char *path, const void **ret_image);
void ts_capture_file_drop(void);
/* The file that a call loads; NULL: it loads none. */
const char *ts_capture_loaded_file(uint32_t cbid, const void *params);
