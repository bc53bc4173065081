/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capture level `replay`: captures the driver calls of a process, so that a replay can repeat them
 * without the process. The runtime's calls are captured through the driver calls that they make. If
 * a driver call makes another one, only the outer one is captured. See README.md.
 */
#pragma once

#include "inject/capture/capture-memory.h"
#include "inject/capture/window.h"
#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cuda_driver_types.h"
#include "proto/abi/vendor/cupti.h"

struct ts_shim;
struct ts_capture_library;
struct ts_cu_launch_kernel_params;

#define TS_CAPTURE_MAX_IDS 1024u

/* The vendors whose calls a capture may have, also both in one process. */
enum ts_capture_vendor {
	TS_CAPTURE_CUDA,
	TS_CAPTURE_HIP,
	TS_CAPTURE_N_VENDORS
};

/* Driver functions that supply facts that no call's parameters hold. Each may be NULL. */
struct ts_capture_graph_driver {
	cuGraphGetNodes_fn *nodes;
	cuGraphGetEdges_v2_fn *edges;
	cuGraphGetEdges_fn *old_edges;
	cuGraphNodeGetType_fn *type;
	cuGraphKernelNodeGetParams_v2_fn *kernel;
	cuGraphKernelNodeGetAttribute_fn *attribute;
	cuGraphMemcpyNodeGetParams_fn *copy;
	cuGraphMemsetNodeGetParams_fn *fill;
	cuGraphChildGraphNodeGetGraph_fn *child;
	cuGraphEventRecordNodeGetEvent_fn *record;
	cuGraphEventWaitNodeGetEvent_fn *wait;
};

struct ts_capture_driver {
	struct ts_capture_graph_driver graphs;
	cuFuncGetParamInfo_fn *func_param;
	cuKernelGetParamInfo_fn *kernel_param;
	cuStreamIsCapturing_fn *is_capturing;
	cuModuleGetGlobal_v2_fn *module_variable;
	cuLibraryGetGlobal_fn *library_variable;
	cuLibraryGetManaged_fn *library_managed;
};

/*
 * State of HIP's capture: hip/. Guarded by the lane's lock, except the first two fields, and the
 * last two, which the order lock guards.
 */
struct ts_capture_hip {
	bool is_used;  /* the session captures HIP's calls */
	bool is_begun; /* ts_hip_capture_start() was called */
	/* The call in progress, for queries: they may have to put an operation first. */
	const struct ts_record_operation *model;
	uint64_t devices;		/* a bit for each device with a context */
	struct ts_handles code_numbers; /* of modules, by handle; of registered code, by image */
	struct ts_pages codes;		/* struct hip_code of each number */
	size_t n_codes;
	struct ts_handles function_numbers;
	struct ts_pages functions; /* struct hip_function of each number */
	size_t n_functions;
	struct ts_pages names; /* of functions, each ends with NUL */
	size_t n_name_bytes;
	struct ts_pages arguments; /* struct ts_capture_argument: of the function last asked for */
	int n_arguments;	   /* -1: not known */
	/* While a window opens or closes: the device before it, of the runtime and of the shim. */
	int32_t device_before;
	uint32_t known_before;
};

/* Facts of a CUDA driver call that ts_capture_handle() needs, gathered once. */
struct ts_capture_facts {
	uint8_t mode; /* enum ts_capture_mode */
	uint8_t work; /* enum ts_capture_work */
	bool is_watched;
	int8_t stream_capture; /* as in struct ts_captured_call */
};

struct ts_capture {
	/* capture-link.c loads it for a session that captures; NULL: it captures nothing */
	const struct ts_capture_library *library;
	struct ts_shim *shim; /* NULL: this session captures nothing */
	struct ts_lane lane;
	struct ts_memory_map memory;
	struct ts_window window;
	uint32_t prepared; /* 1: a thread prepares, 2: it has; see ts_capture_prepare() */
	bool takes_cuda;   /* the session captures CUDA's calls */
	struct ts_capture_driver drivers[TS_CAPTURE_N_VENDORS];
	struct ts_capture_facts facts[TS_CAPTURE_MAX_IDS]; /* of CUDA's driver, by id */
	uint64_t ns_per_tick; /* of the producer's clock, times 2^32: ts_capture_calibrate() */
	struct ts_lock order; /* held through calls whose order matters */
	uint64_t reported_ns; /* captured_ns of the last report */
	uint32_t disorder;    /* a wait for `order` timed out: see take_order() */
	/* The lane's lock guards all fields below. */
	const struct ts_capture_driver *driver; /* of the call that is being captured */
	struct ts_handles function_numbers;
	struct ts_pages functions; /* struct function of each number */
	size_t n_functions;
	/* The last look-up in function_numbers. A handle keeps its number. */
	uint64_t last_function;
	uint32_t last_number;	 /* 0: none */
	struct ts_pages layouts; /* struct ts_capture_argument: offsets and sizes */
	size_t n_layouts;
	struct ts_pages arguments;	 /* packed arguments of one launch */
	struct ts_handles graph_numbers; /* of executable graphs */
	struct ts_pages graphs;		 /* struct graph of each number */
	size_t n_graphs;
	struct ts_handles event_numbers;
	struct ts_handles memory_numbers; /* of cuMemCreate(): capture-allocations.c */
	struct ts_pages events;		  /* struct event of each number */
	size_t n_events;
	struct ts_pages pending; /* struct pending: copies to the host without a result yet */
	size_t n_pending;
	/* a bit for each call that was named as unsupported */
	uint64_t named[TS_CAPTURE_N_VENDORS][TS_CAPTURE_MAX_IDS / 64];
	struct ts_capture_hip hip;
};

/*
 * Starts capture if the session has a lane. libcuda.so.1 must be loaded already. Without a lane, or
 * if there is no memory, capture->shim stays NULL and no call is captured.
 */
void ts_capture_start(struct ts_capture *capture, struct ts_shim *shim,
		      const struct ts_capture_config *config);

/*
 * The part of the start that all vendors share; later calls do nothing. Returns false if nothing is
 * to be captured. Otherwise the caller fills in its vendor's part of `drivers` and window.drivers.
 */
bool ts_capture_prepare(struct ts_capture *capture, struct ts_shim *shim,
			const struct ts_capture_config *config);

/*
 * Computes ns_per_tick from the session's start until now. The processor's clock costs half of the
 * kernel's, and each call reads it four times.
 */
static inline void ts_capture_calibrate(struct ts_capture *capture,
					const struct ts_producer *producer)
{
	const struct ts_control *control = producer->control;
	uint64_t ns_per_tick = UINT64_C(1) << 32;
	struct ts_clock_pair now;

	if (producer->clock != TS_CLOCK_MONOTONIC) {
		now = ts_clock_pair_take(producer->clock);
		if (now.ticks <= control->start_ticks ||
		    now.monotonic_ns <= control->start_monotonic_ns)
			return;
		ns_per_tick = (uint64_t)(((unsigned __int128)(now.monotonic_ns -
							      control->start_monotonic_ns)
					  << 32) /
					 (now.ticks - control->start_ticks));
	}
	__atomic_store_n(&capture->ns_per_tick, ns_per_tick, __ATOMIC_RELAXED);
}

/* Stores the level at which the session captures, for the daemon. */
static inline void ts_capture_set_state(struct ts_control *control,
					const struct ts_capture_config *config)
{
	__atomic_store_n(&control->capture_state,
			 config->is_window ? TS_CAPTURE_STATE_CLOSED : TS_CAPTURE_STATE_WHOLE,
			 __ATOMIC_RELAXED);
}

/* True if CUPTI must deliver this call to ts_capture_handle(). */
bool ts_capture_wants(uint32_t domain, uint32_t cbid);

/*
 * CUPTI's callback if the process captures. Replaces ts_callbacks_handle(), and calls it.
 * `userdata` is the shim.
 */
void ts_capture_handle(void *userdata, uint32_t domain, uint32_t cbid, const void *data);

/* capture-calls.c: how a driver call is captured. */
enum ts_capture_mode {
	TS_CAPTURE_NOT = 0, /* a replay needs nothing of it */
	TS_CAPTURE_ORDERED, /* captured after it returns; no other ordered call runs meanwhile */
	/* captured after it returns; other calls may run meanwhile, because it may wait for them */
	TS_CAPTURE_AFTER,
	/* Before it begins: another thread may get the freed memory or handle at once. */
	TS_CAPTURE_BEFORE,
	TS_CAPTURE_UNSUPPORTED, /* the lane names the call, once */
	/* Begins or ends a stream capture. Windows wait for such captures. */
	TS_CAPTURE_OF_STREAM,
};
enum ts_capture_mode ts_capture_mode(uint32_t cbid);
/* unsupported.c: returns the mode of a call that capture-calls.c does not capture. */
enum ts_capture_mode ts_capture_mode_of_class(uint32_t cbid);
/* The mode that a call's class gives it, if nothing else is known about the call. */
enum ts_capture_mode ts_capture_class_mode(uint32_t api, uint32_t id);
/* Puts an UNSUPPORTED operation that names `what`, in model's stream. */
void ts_capture_unsupported(struct ts_capture *capture, const struct ts_record_operation *model,
			    const char *what);
/* capture-calls.c: kinds of work. Work is captured only while a window is open. */
enum ts_capture_work {
	TS_CAPTURE_WORK_NOT = 0, /* no work: creates, changes or destroys objects */
	TS_CAPTURE_WORK_LAUNCH,
	TS_CAPTURE_WORK_COPY, /* copies and fills */
	TS_CAPTURE_WORK_OTHER,
};
enum ts_capture_work ts_capture_work(uint32_t cbid);
/* Returns the name of a call, such as "cuLaunchHostFunc". Never NULL. */
const char *ts_capture_name(uint32_t cbid);
/* A call of the application that is being captured, of any vendor. */
struct ts_captured_call;
typedef void ts_capture_put(struct ts_capture *capture, const struct ts_captured_call *call,
			    const struct ts_record_operation *model);

struct ts_captured_call {
	enum ts_capture_vendor vendor;
	uint32_t id; /* below TS_CAPTURE_MAX_IDS, unique among the vendor's calls */
	enum ts_capture_mode mode;
	enum ts_capture_work work;
	const char *name;   /* of a call in mode UNSUPPORTED */
	const char *path;   /* of the file that it loads; NULL: none */
	int stream_capture; /* 1: begins a stream capture, -1: ends one, 0: neither */
	uint32_t context;
	uint32_t correlation; /* a nested call has that of the outer one */
	/* NULL: of the thread's recorded call, or by the correlation id */
	const uint64_t *op_id;
	const void *params;
	/* Puts the call's operations. Called with the lane's lock held. */
	ts_capture_put *put;
	/*
	 * For a launch: captures, before the call, the host memory that the kernel may change. The
	 * caller holds the lane's lock.
	 */
	ts_capture_put *put_before;
	/* For work outside of a window: puts the objects that the work uses. NULL: nothing */
	ts_capture_put *put_objects;
};
/*
 * capture.c: a call begins; it returned. The caller sets ts_tls.busy to TS_BUSY_ASKING meanwhile,
 * and describes the call alike both times.
 */
void ts_capture_enter(struct ts_capture *capture, const struct ts_captured_call *call);
void ts_capture_leave(struct ts_capture *capture, const struct ts_captured_call *call,
		      int32_t result);

/*
 * attributes.c: puts the effect of a launch's attribute into `launch`. Returns the name of a
 * feature that a replay cannot repeat, or NULL.
 */
const char *ts_capture_launch_attribute(int32_t attribute,
					const union ts_cu_launch_attribute_value *value,
					struct ts_record_operation *launch);
/*
 * capture-calls.c: captures a driver call that returned, or, in mode BEFORE, a call that begins.
 * `params`: its structure of arguments. The caller holds the lane's lock.
 */
void ts_capture_call(struct ts_capture *capture, uint32_t cbid, const void *params,
		     const struct ts_record_operation *model);
/*
 * The same for a launch that begins, of a kernel or of a graph: captures the host memory that it
 * gets.
 */
void ts_capture_before_launch(struct ts_capture *capture, uint32_t cbid, const void *params,
			      const struct ts_record_operation *model);

/*
 * capture-streams.c: returns the stream of a call. If the application passed NULL, returns the
 * legacy or the per-thread stream, by the form of the call (_ptsz, _ptds).
 */
uint64_t ts_capture_stream(uint32_t cbid, const void *stream);
/*
 * Gets CUPTI's id of a context. With a NULL handle, leaves *context as it is and returns true.
 * Returns false if CUPTI does not know the context.
 */
bool ts_capture_context(struct ts_capture *capture, void *handle, uint32_t *context);
/* True if the stream is being captured into a graph, so that its work does not go to the device. */
bool ts_capture_is_captured(struct ts_capture *capture, uint64_t stream);

/* capture-operations.c: put operations of calls and of graph nodes, in model's stream. */
void ts_capture_fill(struct ts_capture *capture, const struct ts_record_operation *model,
		     const struct ts_cu_memset_node_params *fill);
void ts_capture_event_record(struct ts_capture *capture, const struct ts_record_operation *model,
			     uint64_t event);
void ts_capture_event_wait(struct ts_capture *capture, const struct ts_record_operation *model,
			   uint64_t event);
void ts_capture_variable(struct ts_capture *capture, const struct ts_record_operation *model,
			 uint64_t address, size_t bytes, const void *module, const char *name);

/*
 * copies.c: one copy. Widths, pitches and slices are in bytes, heights in rows. `model` holds the
 * fields that all operations of the copy share.
 */
struct ts_capture_copy {
	uint64_t dst, src;
	size_t width, height, depth;
	size_t dst_pitch, src_pitch, dst_slice, src_slice;
	/*
	 * true if the copy's target (dst) or source (src) is host memory, according to the call's
	 * name or its memory types
	 */
	bool dst_host, src_host;
	/*
	 * The call gives no memory types. The address decides: memory outside all known allocations
	 * is host memory.
	 */
	bool unified;
	bool async;
	/* Number of the blob with the source's bytes, captured before; 0: capture them now. */
	uint32_t content;
};
/*
 * Puts a COPY. Does nothing in a stream capture, or if both ends are host memory. A source that
 * cannot be read is named as unsupported.
 */
void ts_capture_copies(struct ts_capture *capture, const struct ts_record_operation *model,
		       const struct ts_capture_copy *copy);
/*
 * Returns the number of the blob with the bytes of a copy's source; 0: the source is no host
 * memory, or cannot be read. The copy begins afterwards. *ret_dst_host: its target is host memory.
 */
uint32_t ts_capture_copy_begins(struct ts_capture *capture, const struct ts_record_operation *model,
				const struct ts_capture_copy *copy, bool *ret_dst_host);
/*
 * Fills *ret_copy from a call's parameters, except `async`. Returns false for copies of arrays,
 * which are not captured.
 */
bool ts_capture_copy_3d(const struct ts_cu_memcpy_3d *from, struct ts_capture_copy *ret_copy);
/*
 * Captures pinned or managed memory if it changed since its last capture. Does nothing if a kernel
 * may be using it.
 */
void ts_capture_host_memory(struct ts_capture *capture, const struct ts_record_operation *model,
			    struct ts_memory_range *range);
/* Remembers the position of an event in its stream. */
void ts_capture_event(struct ts_capture *capture, const struct ts_record_operation *recorded);
/* Puts the results of the copies that the SYNC operation `waited` covers. */
void ts_capture_results(struct ts_capture *capture, const struct ts_record_operation *waited);
/*
 * Drops pending results that overlap a range of host memory that is freed, reused or overwritten.
 */
void ts_capture_forget(struct ts_capture *capture, uint64_t start, uint64_t bytes);

/*
 * launches.c: packs a kernel's arguments. *ret_bytes stays valid until the next call. Returns false
 * if the driver does not report the arguments' sizes, or the call has no arguments.
 */
bool ts_capture_arguments(struct ts_capture *capture, void *handle, void **params, void **extra,
			  const void **ret_bytes, size_t *ret_n);
/*
 * Puts a LAUNCH with n bytes of packed arguments. Captures pinned and managed memory that the
 * arguments point to.
 */
void ts_capture_launch_packed(struct ts_capture *capture, const struct ts_record_operation *model,
			      uint64_t handle, const void *bytes, size_t n);
/*
 * Puts a LAUNCH of a call. A launch whose arguments cannot be packed is named as unsupported. Does
 * nothing in a stream capture.
 */
void ts_capture_launch(struct ts_capture *capture, const struct ts_record_operation *model,
		       void *function, void **params, void **extra);
/*
 * Returns true if the arguments of a cuLaunchKernel() point to pinned or managed memory, or cannot
 * be packed.
 */
bool ts_capture_launch_gets_host(struct ts_capture *capture,
				 const struct ts_cu_launch_kernel_params *params);
/*
 * Places the LAUNCH of a cuLaunchKernel() in the lane. The caller fills in the fields that all
 * operations share, and calls ts_lane_commit(). Returns NULL if the lane has no room: the wait is
 * for ts_capture_launch(), whose time is counted whole. Returns NULL, too, if the arguments cannot
 * be packed, or they point to pinned or managed memory.
 */
struct ts_record_launch *ts_capture_launch_place(struct ts_capture *capture,
						 const struct ts_cu_launch_kernel_params *params,
						 bool is_per_thread);

/* Captures the pinned and managed memory that n bytes of packed arguments point to. */
void ts_capture_hand_over(struct ts_capture *capture, const struct ts_record_operation *model,
			  const uint8_t *bytes, size_t n);
/*
 * Captures the pinned and managed memory that the arguments of a launch point to. The launch begins
 * afterwards: its kernel may change the memory at once. Does nothing in a stream capture, or if the
 * arguments cannot be packed.
 */
void ts_capture_launch_begins(struct ts_capture *capture, const struct ts_record_operation *model,
			      void *function, void **params, void **extra);

/*
 * capture-functions.c: notes that a call returned this function handle to the program. It may now
 * refer to another function than before.
 */
void ts_capture_function(struct ts_capture *capture, uint64_t handle);
/* Notes that a module was unloaded, so that the driver may reuse its function handles. */
void ts_capture_functions_unload(struct ts_capture *capture);
struct ts_capture_argument {
	uint32_t offset, bytes;
};
struct ts_capture_layout {
	const struct ts_capture_argument *arguments; /* valid until the next ts_capture_layout() */
	uint32_t n;
	uint32_t bytes; /* of all arguments, packed */
};
/*
 * Gets the offsets and sizes of a function's arguments. Returns false if the driver does not report
 * them.
 */
bool ts_capture_layout(struct ts_capture *capture, void *handle,
		       struct ts_capture_layout *ret_layout);
/*
 * Returns the size in bytes of a variable that the program looked up without its size. Returns 0 if
 * the driver does not report it.
 */
size_t ts_capture_variable_bytes(const struct ts_capture *capture, uint32_t cbid, void *module,
				 const char *name);

/*
 * capture-allocations.c: captures a call that allocates or frees memory. Returns false for other
 * calls.
 */
bool ts_capture_alloc_call(struct ts_capture *capture, uint32_t cbid, const void *params,
			   struct ts_record_operation *model);

/* graphs.c: finds the driver functions for graphs. */
void ts_capture_find_graph_driver(struct ts_capture_graph_driver *driver, void *library);
/*
 * Captures the host memory that the nodes of an executable graph get, before its launch. Does
 * nothing in a stream capture.
 */
void ts_capture_graph_begins(struct ts_capture *capture, const struct ts_record_operation *model,
			     const void *exec);
/* Captures a call for graphs. Returns false for other calls. */
bool ts_capture_graph_call(struct ts_capture *capture, uint32_t cbid, const void *params,
			   struct ts_record_operation *model);

/*
 * images.c: returns the size in bytes of an image in memory. *ret_start is the image behind a
 * wrapper, if there is one. Returns 0 if the size is unknown.
 */
size_t ts_capture_image_bytes(const void *image, const void **ret_start);
/*
 * Images in files. ts_capture_file_read() reads the file into memory of the calling thread before
 * the driver does; the caller holds no lock. ts_capture_file_take() returns the size of the image
 * after the driver loaded it; *ret_image stays valid until ts_capture_file_drop(). It returns 0 if
 * the path is no regular file, cannot be read, or has changed since.
 */
void ts_capture_file_read(const char *path);
size_t ts_capture_file_take(const char *path, const void **ret_image);
void ts_capture_file_drop(void);
/* Returns the path of the file that a call loads; NULL if it loads none. */
const char *ts_capture_loaded_file(uint32_t cbid, const void *params);
