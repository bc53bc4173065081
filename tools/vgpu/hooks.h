/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private interface between the three facades of the virtual GPU: libcuda.so.1, which owns the
 * device, libcudart.so.13, whose calls end in libcuda, and libcupti.so.13, which observes both.
 *
 * libcuda returns a struct ts_vgpu_hooks from cuGetExportTable(ts_vgpu_hooks_uuid). NVIDIA's
 * libcuda rejects that UUID, so the virtual GPU's libcupti detects the wrong driver and reports it.
 *
 * Data flow: the facades report calls, resources, operations, allocations and waits. hooks.c, which
 * is part of libcuda, forwards them to the one sink that libcupti has attached. Without a sink each
 * report costs one relaxed load (ts_vgpu_armed()).
 *
 *     program -> libcudart --\
 *     program -> libcuda -----> hooks.c (in libcuda) -> sink (libcupti) -> client
 *     device threads --------/
 *
 * Attaching and detaching are safe while threads make calls. Every call into the sink is counted,
 * per thread and by phase. set_sink(NULL) returns when no other thread is inside the sink, and no
 * thread enters afterwards. Then libcupti may free everything or be unloaded. A thread that
 * detaches inside a sink call does not wait for itself: CUPTI documents leaving from an API
 * callback. An epoch, different for each attachment, is stored in the call frame and in the
 * operation. An exit or a completion is reported only to the sink that received its beginning. A
 * thread must not detach while it holds a lock that the sink's functions take.
 *
 * A forked child starts without a sink and cannot attach one. Neither the device's threads nor the
 * sink's threads exist after a fork. A child of a traced process must fail its CUDA calls without
 * hanging.
 *
 * Clocks: every *_ns here is the device's clock, CLOCK_MONOTONIC in nanoseconds. libcupti converts
 * it to the clock of its client.
 *
 * Ids: devices count from 0, contexts from 1. Stream ids are unique in the process, and a context's
 * null stream has one, too: 7 in the first context, as with NVIDIA's driver. 0 is not an id of a
 * context or stream. Correlation ids come from one 32-bit counter: each outermost call gets the
 * next one. Nested calls (the driver calls of a runtime call) share it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cupti.h"
#include "proto/abi/vendor/cupti_activity.h"

#define TS_VGPU_HOOKS_VERSION 3

static const struct ts_cu_uuid ts_vgpu_hooks_uuid = {"TSvgpuK\x1d\x1e\x31\x27\x44\x0b\x72\x6d\x58"};

/*
 * A public call in progress. The struct lies on the stack of the facade's function from enter to
 * exit. The facade fills the first group before enter; hooks.c fills the rest.
 */
struct ts_vgpu_api {
	uint32_t domain; /* TS_CUPTI_CB_DOMAIN_DRIVER_API or _RUNTIME_API */
	uint32_t cbid;	 /* id in that domain; 0: CUPTI has none, so nothing is reported */
	const char *function_name; /* a literal: the exported symbol's name */
	/* parameter struct for cbid from cuda_{driver,runtime}_params.h, or NULL */
	const void *params;
	void *return_value;	 /* points to the result; valid at exit only */
	const char *symbol_name; /* launches: the kernel's mangled name; NULL otherwise */

	void *context;	      /* current context of the thread, or NULL; read again at exit */
	uint32_t context_uid; /* its id, or 0 */
	uint32_t correlation_id;
	uint64_t correlation_data; /* word of the subscriber, kept from enter to exit; 0 at enter */
	uint64_t sink_word;	   /* word of the sink, kept from enter to exit; 0 at enter */
	struct ts_vgpu_api *outer; /* the enclosing call, or NULL */
	uint32_t epoch;
};

/*
 * One operation of the device. The calling thread submits it between its enter and exit; a device
 * thread reports its start and completion. If the submission fails, the calling thread reports the
 * completion. Submission, start and completion of one operation never overlap. The struct keeps its
 * address until completion.
 *
 * kind is a record kind: CONCURRENT_KERNEL, MEMCPY, MEMCPY2 (between devices), MEMSET or, in
 * libamdhip64 only, CUDA_EVENT (the record of an event).
 */
struct ts_vgpu_operation {
	uint32_t kind;
	uint32_t device_id;
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t correlation_id; /* ts_vgpu_correlation_id() of the submitting thread */
	uint32_t graph_id;	 /* 0 without a graph */
	uint64_t graph_node_id;
	uint32_t channel_id;
	uint32_t channel_type; /* TS_CUPTI_CHANNEL_TYPE_* */
	bool async;	       /* the call may return before the operation is done */

	uint64_t queued_ns;    /* set at submission: the call handed it to the driver */
	uint64_t submitted_ns; /* set at start: the driver handed it to the device */
	uint64_t start_ns;     /* set at start */
	uint64_t end_ns;       /* set at completion; 0 if it never ran */

	union {
		struct {
			const char *name; /* mangled; interned, valid until the process ends */
			uint32_t grid[3];
			uint32_t block[3];
			uint32_t cluster[3]; /* 0 without clusters */
			uint32_t static_shared_bytes;
			uint32_t dynamic_shared_bytes;
			uint32_t shared_executed_bytes; /* reserved per multiprocessor */
			uint32_t local_bytes_per_thread;
			uint32_t local_bytes;
			uint16_t registers_per_thread;
			uint8_t cache_config; /* two nibbles as in the record */
			uint8_t launch_type;  /* TS_CUPTI_ACTIVITY_LAUNCH_TYPE_* */
			uint64_t grid_id;     /* unique in the process, from 1 */
		} kernel;
		struct {
			uint64_t bytes;
			uint64_t n_copies; /* copies of this one call: 1 */
			uint8_t copy_kind; /* TS_CUPTI_ACTIVITY_MEMCPY_KIND_* */
			uint8_t src_kind;  /* TS_CUPTI_ACTIVITY_MEMORY_KIND_* */
			uint8_t dst_kind;
			uint32_t src_device_id; /* these four: MEMCPY2 only */
			uint32_t src_context_id;
			uint32_t dst_device_id;
			uint32_t dst_context_id;
		} memcpy;
		struct {
			uint64_t bytes;
			uint32_t value;
			uint32_t memory_kind; /* TS_CUPTI_ACTIVITY_MEMORY_KIND_* */
		} memset;
	};

	/*
	 * hooks.c and the sink set these at submission; no other code changes them. If sink_buffer
	 * stays NULL, start and completion of the operation are not reported.
	 */
	uint32_t epoch;
	uint32_t sink_offset;
	void *sink_buffer;
	uint64_t sink_word; /* 0 before submission */
};

/* Memory that was allocated or freed. The calling thread reports it inside the call. */
struct ts_vgpu_memory_event {
	uint32_t operation;   /* TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_* */
	uint32_t memory_kind; /* TS_CUPTI_ACTIVITY_MEMORY_KIND_* */
	uint64_t address;
	uint64_t bytes;
	uint64_t time_ns;
	uint64_t pc; /* the application's return address, or 0 */
	uint32_t device_id;
	uint32_t context_id;
	uint32_t stream_id; /* TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE: no stream */
	bool async;
	const char *name; /* name of a module's variable, or NULL; interned */
	/* Pool of a stream-ordered allocation; pool_type 0: none. */
	uint32_t pool_type; /* TS_CUPTI_ACTIVITY_MEMORY_POOL_TYPE_* */
	uint64_t pool_address;
	uint64_t pool_release_threshold;
	uint64_t pool_size;
	uint64_t pool_utilized_bytes;
};

/*
 * A wait that has ended. The thread that waited, or that made a stream wait, reports it inside the
 * call.
 */
struct ts_vgpu_wait_event {
	uint32_t type; /* TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_* */
	uint32_t context_id;
	uint32_t stream_id; /* TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE: no stream */
	uint32_t event_id;  /* TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE: no event */
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t return_value; /* the call's result */
	void *context;
	void *stream; /* handle; NULL: the null stream or none */
};

struct ts_vgpu_device_info {
	uint32_t id;
	char name[256];
	struct ts_cu_uuid uuid;
	uint64_t memory_bytes;
	uint64_t memory_bandwidth_kbps; /* kilobytes per second */
	uint32_t constant_memory_bytes;
	uint32_t l2_cache_bytes;
	uint32_t warp_threads;
	uint32_t core_clock_khz;
	uint32_t n_copy_engines;
	uint32_t n_multiprocessors;
	uint32_t max_ipc;
	uint32_t max_warps_per_multiprocessor;
	uint32_t max_blocks_per_multiprocessor;
	uint32_t max_shared_bytes_per_multiprocessor;
	uint32_t max_registers_per_multiprocessor;
	uint32_t max_registers_per_block;
	uint32_t max_shared_bytes_per_block;
	uint32_t max_threads_per_block;
	uint32_t max_block_dim[3];
	uint32_t max_grid_dim[3];
	uint32_t compute_major;
	uint32_t compute_minor;
};

struct ts_vgpu_context_info {
	void *context;
	uint32_t context_id;
	uint32_t device_id;
	uint32_t null_stream_id;
};

struct ts_vgpu_stream_info {
	void *context;
	void *stream; /* NULL: the null stream */
	uint32_t context_id;
	uint32_t stream_id;
	int32_t priority;
	uint32_t flag; /* TS_CUPTI_ACTIVITY_STREAM_CREATE_FLAG_* */
};

/*
 * A resource was created or is about to be destroyed; cbid is TS_CUPTI_CBID_RESOURCE_*.
 * CONTEXT_CREATED and STREAM_CREATED are reported after the event, *_DESTROY_STARTING and
 * MODULE_UNLOAD_STARTING before it. Only the members for this cbid are set.
 */
struct ts_vgpu_resource_event {
	uint32_t cbid;
	uint32_t correlation_id;
	struct ts_vgpu_context_info context;
	struct ts_vgpu_stream_info stream;
	struct ts_cupti_module_data module; /* the image as loaded: PTX text or a cubin */
	struct ts_cupti_graph_data graph;
};

/*
 * Implemented by libcupti. libcuda calls each function without any lock that a CUDA call takes.
 * Several threads may call at once. The device's threads call operation_started and
 * operation_completed; after a failed submission the calling thread calls operation_completed.
 */
struct ts_vgpu_sink {
	size_t size;
	uint32_t version;
	void (*api)(uint32_t site,
		    struct ts_vgpu_api *call); /* TS_CUPTI_API_ENTER, TS_CUPTI_API_EXIT */
	void (*resource)(const struct ts_vgpu_resource_event *event);
	void (*memory)(const struct ts_vgpu_memory_event *event, uint32_t correlation_id);
	void (*wait)(const struct ts_vgpu_wait_event *event, uint32_t correlation_id);
	void (*operation_submitted)(struct ts_vgpu_operation *op);
	void (*operation_started)(struct ts_vgpu_operation *op);
	void (*operation_completed)(struct ts_vgpu_operation *op);
};

/*
 * Queries of libcupti, implemented by libcuda. -ENOENT: the handle is invalid. -ENOTSUP: this
 * device lacks the feature. All members must be set.
 */
struct ts_vgpu_queries {
	uint64_t (*now_ns)(void);
	void (*current_context)(void **ret_context,
				uint32_t *ret_context_id); /* NULL and 0 if none */
	uint32_t (*n_devices)(void);
	int (*device)(uint32_t device_id, struct ts_vgpu_device_info *ret_info);
	int (*context)(void *context,
		       struct ts_vgpu_context_info *ret_info); /* NULL: the current one */
	int (*stream)(void *context, void *stream, bool per_thread,
		      struct ts_vgpu_stream_info *ret_info);
	int (*graph_id)(void *graph, uint32_t *ret_id);
	int (*graph_exec_id)(void *graph_exec, uint32_t *ret_id);
	int (*graph_node_id)(void *node, uint64_t *ret_id);
	/*
	 * Call fn for each existing object in order of id, without any lock. Stop when fn returns
	 * non-zero.
	 */
	int (*each_context)(int (*fn)(const struct ts_vgpu_context_info *info, void *arg),
			    void *arg);
	int (*each_stream)(int (*fn)(const struct ts_vgpu_stream_info *info, void *arg), void *arg);
	/* Returns when all work submitted before the call is done, on every device. */
	void (*drain)(void);
};

/* A section of code inside a sink. Detaching waits for its end. */
struct ts_vgpu_section {
	const struct ts_vgpu_sink *sink;
	uint32_t epoch;
	uint32_t phase;
};

/* The table that cuGetExportTable returns for ts_vgpu_hooks_uuid. */
struct ts_vgpu_hooks {
	size_t size;
	uint32_t version;
	const _Atomic uint32_t *armed; /* the epoch while a sink is attached, else 0 */
	const struct ts_vgpu_queries *queries;
	/*
	 * Attaches a sink (-EBUSY: one is attached). NULL detaches as described above (-ENOENT:
	 * none is attached).
	 */
	int (*set_sink)(const struct ts_vgpu_sink *sink);
	/*
	 * Returns when all sink calls of other threads that were in progress at the call have
	 * returned.
	 */
	void (*quiesce)(void);
	/* For libcudart's calls; libcuda calls the functions below. */
	bool (*api_enter)(struct ts_vgpu_api *call, struct ts_vgpu_section *ret_section);
	bool (*api_exit)(struct ts_vgpu_api *call, struct ts_vgpu_section *ret_section);
	void (*section_leave)(const struct ts_vgpu_section *section);
	uint32_t (*correlation_id)(void);
};

/*
 * The dispatcher, tools/vgpu/hooks.c, linked into libcuda. libcuda calls ts_vgpu_hooks_init() once
 * before its first report, and reports through the other functions.
 */
const struct ts_vgpu_hooks *ts_vgpu_hooks_init(const struct ts_vgpu_queries *queries);

extern _Atomic uint32_t ts_vgpu_armed_epoch __attribute__((visibility("hidden")));

static inline bool ts_vgpu_armed(void)
{
	/*
	 * Relaxed, without a pair: a call that races with attaching may go either way.
	 * section_enter() decides.
	 */
	return __builtin_expect(atomic_load_explicit(&ts_vgpu_armed_epoch, memory_order_relaxed) !=
					0,
				0);
}

/*
 * Runs a public call's work between its enter and its exit, and returns its result. The last
 * argument initializes the struct ts_vgpu_api except return_value; it is evaluated only if `armed`
 * is true. api_enter, api_exit and leave: the functions of that name below, or those of struct
 * ts_vgpu_hooks.
 *
 * The macro calls the sink itself. So the public function's frame is the innermost one outside
 * CUPTI, and call stacks begin with the function that the program called.
 */
#define TS_VGPU_CALL(type, armed, api_enter, api_exit, leave, work, ...)                          \
	({                                                                                        \
		struct ts_vgpu_section section_;                                                  \
		struct ts_vgpu_api call_;                                                         \
		type result_;                                                                     \
		bool entered_ = false;                                                            \
		if (armed) {                                                                      \
			call_ = (struct ts_vgpu_api){__VA_ARGS__, .return_value = &result_};      \
			entered_ = (api_enter)(&call_, &section_);                                \
			if (entered_)                                                             \
				TS_VGPU_REPORT_API(&section_, TS_CUPTI_API_ENTER, &call_, leave); \
		}                                                                                 \
		result_ = (work);                                                                 \
		if (entered_ && (api_exit)(&call_, &section_))                                    \
			TS_VGPU_REPORT_API(&section_, TS_CUPTI_API_EXIT, &call_, leave);          \
		result_;                                                                          \
	})

#define TS_VGPU_REPORT_API(section, site, call, leave) \
	do {                                           \
		(section)->sink->api((site), (call));  \
		(leave)(section);                      \
	} while (0)

/* True: the caller must call the sink in the section and then leave the section. */
bool ts_vgpu_api_enter(struct ts_vgpu_api *call, struct ts_vgpu_section *ret_section);
bool ts_vgpu_api_exit(struct ts_vgpu_api *call, struct ts_vgpu_section *ret_section);
void ts_vgpu_section_leave(const struct ts_vgpu_section *section);

/* Returns the id of this thread's current call; 0: no sink was attached when the call began. */
uint32_t ts_vgpu_correlation_id(void);

/* Without a sink each does nothing; callers on hot paths check ts_vgpu_armed() first. */
void ts_vgpu_report_resource(const struct ts_vgpu_resource_event *event);
void ts_vgpu_report_memory(const struct ts_vgpu_memory_event *event);
void ts_vgpu_report_wait(const struct ts_vgpu_wait_event *event);
void ts_vgpu_report_submitted(struct ts_vgpu_operation *op);
void ts_vgpu_report_started(struct ts_vgpu_operation *op);
void ts_vgpu_report_completed(struct ts_vgpu_operation *op);
