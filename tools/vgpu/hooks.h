/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private interface between the three facades of the virtual GPU: libcuda.so.1 (which holds the
 * device), libcudart.so.13 (whose calls end in libcuda) and libcupti.so.13 (which watches both).
 *
 * libcuda answers cuGetExportTable(ts_vgpu_hooks_uuid) with a struct ts_vgpu_hooks. NVIDIA's
 * libcuda does not know that UUID, so our libcupti finds out at once that it sits over the wrong
 * driver, and says so.
 *
 * What flows where: the facades report calls, resources, operations, allocations and waits;
 * hooks.c, which is part of libcuda, hands them to the one sink that libcupti has attached. With no
 * sink attached each report costs one relaxed load (ts_vgpu_armed()).
 *
 * Attaching and detaching are safe while threads make calls. Every call into the sink is counted,
 * per thread and by phase; set_sink(NULL) returns when no other thread is inside the sink any more,
 * and none gets in afterwards, so that libcupti may then free everything or be unloaded. A thread
 * that detaches from inside a sink call (the documented way to leave CUPTI is from an API callback)
 * does not wait for itself. An epoch, different for each attachment, travels in the call frame and
 * in the operation: an exit or a completion is only reported to the sink that saw its beginning.
 * Nobody may detach while holding a lock that the sink's functions take.
 *
 * A forked child starts with no sink and gets none: neither the device's threads nor the sink's
 * cross a fork, and a child of a traced process must be able to fail its CUDA calls without hanging
 * in them.
 *
 * Clocks: every *_ns here is the device's clock, CLOCK_MONOTONIC in nanoseconds. Converting it into
 * what CUPTI's client expects is libcupti's business.
 *
 * Ids: devices count from 0, contexts from 1. Stream ids are unique in the process, and a context's
 * null stream has one too: 7 in the first context, as with NVIDIA's. 0 is no id of either.
 * Correlation ids come from one 32-bit counter: each outermost call gets the next one, and calls
 * nested in it (the driver calls that a runtime call makes) share it.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/abi/vendor/cuda_driver.h"
#include "proto/abi/vendor/cupti.h"
#include "proto/abi/vendor/cupti_activity.h"

#define TS_VGPU_HOOKS_VERSION 2

static const struct ts_cu_uuid ts_vgpu_hooks_uuid = {"TSvgpuK\x1d\x1e\x31\x27\x44\x0b\x72\x6d\x58"};

/*
 * A public call in progress: lives on the stack of the facade's function, from enter to exit. The
 * facade fills the first group before enter; hooks.c fills the rest.
 */
struct ts_vgpu_api {
	uint32_t domain; /* TS_CUPTI_CB_DOMAIN_DRIVER_API or _RUNTIME_API */
	uint32_t cbid;	 /* of that domain; 0 where CUPTI has none: then nothing is reported */
	const char *function_name; /* a literal: the exported symbol's name */
	const void *params; /* the structure of cuda_{driver,runtime}_params.h for cbid, or NULL */
	void *return_value; /* to the result; valid at exit only */
	const char *symbol_name; /* launches: the kernel's mangled name; NULL otherwise */

	void *context;	      /* current to the thread, or NULL; looked up anew at exit */
	uint32_t context_uid; /* its id, or 0 */
	uint32_t correlation_id;
	uint64_t correlation_data; /* the subscriber's word, kept from enter to exit; 0 at enter */
	uint64_t sink_word;	   /* the sink's own, from enter to exit; 0 at enter */
	struct ts_vgpu_api *outer; /* the call this one is nested in, or NULL */
	uint32_t epoch;
};

/*
 * One thing for the device to do. Submitted by the thread that makes the call, between its enter
 * and exit; started and completed by whichever thread runs the device. Submission, start and
 * completion of one operation never run at the same time. The structure stays at its address until
 * completion.
 *
 * kind is a record kind: CONCURRENT_KERNEL, MEMCPY, MEMCPY2 (between devices) or MEMSET.
 */
struct ts_vgpu_operation {
	uint32_t kind;
	uint32_t device_id;
	uint32_t context_id;
	uint32_t stream_id;
	uint32_t correlation_id; /* ts_vgpu_correlation_id() of the submitting thread */
	uint32_t graph_id;	 /* 0 unless launched by a graph */
	uint64_t graph_node_id;
	uint32_t channel_id;
	uint32_t channel_type; /* TS_CUPTI_CHANNEL_TYPE_* */
	bool async;	       /* the call may return before the operation is done */

	uint64_t queued_ns;    /* submission: the call handed it to the driver */
	uint64_t submitted_ns; /* start: the driver handed it to the device */
	uint64_t start_ns;     /* start */
	uint64_t end_ns;       /* completion; 0 if it never ran */

	union {
		struct {
			const char *name; /* mangled; interned, valid until the process ends */
			uint32_t grid[3];
			uint32_t block[3];
			uint32_t cluster[3]; /* 0 without clusters */
			uint32_t static_shared_bytes;
			uint32_t dynamic_shared_bytes;
			uint32_t shared_executed_bytes; /* set aside per multiprocessor */
			uint32_t local_bytes_per_thread;
			uint32_t local_bytes;
			uint16_t registers_per_thread;
			uint8_t cache_config; /* two nibbles as in the record */
			uint8_t launch_type;  /* TS_CUPTI_ACTIVITY_LAUNCH_TYPE_* */
			uint64_t grid_id;     /* unique in the process, from 1 */
		} kernel;
		struct {
			uint64_t bytes;
			uint64_t n_copies; /* copies behind the one call: 1 */
			uint8_t copy_kind; /* TS_CUPTI_ACTIVITY_MEMCPY_KIND_* */
			uint8_t src_kind;  /* TS_CUPTI_ACTIVITY_MEMORY_KIND_* */
			uint8_t dst_kind;
			uint32_t src_device_id; /* the rest: MEMCPY2 only */
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
	 * hooks.c and the sink's, set at submission and not to be touched after it. An operation
	 * whose sink_buffer stays NULL is of no interest: its start and completion are not
	 * reported.
	 */
	uint32_t epoch;
	uint32_t sink_offset;
	void *sink_buffer;
};

/* Memory had or given up; reported by the calling thread inside the call. */
struct ts_vgpu_memory_event {
	uint32_t operation;   /* TS_CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_* */
	uint32_t memory_kind; /* TS_CUPTI_ACTIVITY_MEMORY_KIND_* */
	uint64_t address;
	uint64_t bytes;
	uint64_t time_ns;
	uint64_t pc; /* the application's return address, or 0 */
	uint32_t device_id;
	uint32_t context_id;
	uint32_t stream_id; /* TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE where no stream takes part */
	bool async;
	const char *name; /* of a variable in a module, or NULL; interned */
	/* Stream-ordered allocations: their pool. pool_type 0 otherwise. */
	uint32_t pool_type; /* TS_CUPTI_ACTIVITY_MEMORY_POOL_TYPE_* */
	uint64_t pool_address;
	uint64_t pool_release_threshold;
	uint64_t pool_size;
	uint64_t pool_utilized_bytes;
};

/*
 * A wait that is over; reported by the thread that waited (or made a stream wait), inside the call.
 */
struct ts_vgpu_wait_event {
	uint32_t type; /* TS_CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_* */
	uint32_t context_id;
	uint32_t stream_id; /* TS_CUPTI_SYNCHRONIZATION_INVALID_VALUE where it was for no stream */
	uint32_t event_id;  /* likewise for no event */
	uint64_t start_ns;
	uint64_t end_ns;
	uint32_t return_value; /* the call's result */
	void *context;
	void *stream; /* handle; NULL for the null stream or where none takes part */
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
 * Something came to be or is about to go; cbid is TS_CUPTI_CBID_RESOURCE_*. CONTEXT_CREATED and
 * STREAM_CREATED are reported after, *_DESTROY_STARTING and MODULE_UNLOAD_STARTING before the fact.
 * Only the members that the cbid is about are set.
 */
struct ts_vgpu_resource_event {
	uint32_t cbid;
	uint32_t correlation_id;
	struct ts_vgpu_context_info context;
	struct ts_vgpu_stream_info stream;
	struct ts_cupti_module_data module; /* the image as it was loaded: PTX text or a cubin */
	struct ts_cupti_graph_data graph;
};

/*
 * What libcupti implements. Every function is called with no lock of libcuda's held that a CUDA
 * call would take, and may be called by several threads at once. operation_* other than submit, for
 * an operation, by the device's threads.
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
 * What libcuda answers for libcupti. Errors: -ENOENT for a handle that names nothing living,
 * -ENOTSUP for what this device does not have. None of them may be NULL.
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
	 * Calls fn for each one living, in order of id, no lock held; stops at fn's first non-zero
	 * answer.
	 */
	int (*each_context)(int (*fn)(const struct ts_vgpu_context_info *info, void *arg),
			    void *arg);
	int (*each_stream)(int (*fn)(const struct ts_vgpu_stream_info *info, void *arg), void *arg);
	/* Returns when all that was submitted before the call is done, on every device. */
	void (*drain)(void);
};

/* A stretch of code in which a sink stays: detaching waits for its end. */
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
	 * Attaches (-EBUSY when one is), or with NULL detaches as said above (-ENOENT when none
	 * is).
	 */
	int (*set_sink)(const struct ts_vgpu_sink *sink);
	/*
	 * Returns when every sink call in progress elsewhere at the time of the call has returned.
	 */
	void (*quiesce)(void);
	/* For libcudart's calls; libcuda uses the functions below. */
	bool (*api_enter)(struct ts_vgpu_api *call, struct ts_vgpu_section *ret_section);
	bool (*api_exit)(struct ts_vgpu_api *call, struct ts_vgpu_section *ret_section);
	void (*section_leave)(const struct ts_vgpu_section *section);
	uint32_t (*correlation_id)(void);
};

/*
 * The dispatcher, tools/vgpu/hooks.c, linked into libcuda. libcuda calls ts_vgpu_hooks_init() once,
 * before it reports anything, and reports through the rest.
 */
const struct ts_vgpu_hooks *ts_vgpu_hooks_init(const struct ts_vgpu_queries *queries);

extern _Atomic uint32_t ts_vgpu_armed_epoch __attribute__((visibility("hidden")));

static inline bool ts_vgpu_armed(void)
{
	/*
	 * Relaxed: a call that races with attaching may go either way; what counts is decided
	 * inside.
	 */
	return __builtin_expect(atomic_load_explicit(&ts_vgpu_armed_epoch, memory_order_relaxed) !=
					0,
				0);
}

/*
 * Runs a public call's work between its enter and its exit, and is its result. The last argument initializes the struct ts_vgpu_api
 * but for return_value; it is evaluated only if `armed` is true. api_enter, api_exit and leave: the functions of that name below, or
 * those of struct ts_vgpu_hooks. The macro calls the sink itself: the public function's frame is then the innermost one outside of
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

/* Both return true if the sink has to be called in the section, which has to be left after that. */
bool ts_vgpu_api_enter(struct ts_vgpu_api *call, struct ts_vgpu_section *ret_section);
bool ts_vgpu_api_exit(struct ts_vgpu_api *call, struct ts_vgpu_section *ret_section);
void ts_vgpu_section_leave(const struct ts_vgpu_section *section);

/* The id of the call this thread is in, or 0 where no sink was attached when it began. */
uint32_t ts_vgpu_correlation_id(void);

/* Each does nothing where no sink is attached; callers on hot paths ask ts_vgpu_armed() first. */
void ts_vgpu_report_resource(const struct ts_vgpu_resource_event *event);
void ts_vgpu_report_memory(const struct ts_vgpu_memory_event *event);
void ts_vgpu_report_wait(const struct ts_vgpu_wait_event *event);
void ts_vgpu_report_submitted(struct ts_vgpu_operation *op);
void ts_vgpu_report_started(struct ts_vgpu_operation *op);
void ts_vgpu_report_completed(struct ts_vgpu_operation *op);
