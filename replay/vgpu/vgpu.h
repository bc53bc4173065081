/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual GPU: devices with memory, contexts, streams, events, copy engines and a compute
 * engine, in software. The device itself does not use CUDA's or HIP's binary interface. The facades
 * in tools/vgpu implement those interfaces on it, and replay calls it directly.
 *
 * Ownership: a machine owns its devices, a device owns its contexts, and a context owns its streams
 * and allocations. The creator owns an event.
 *
 * Threads: any thread may call each function unless its comment limits that. No function is
 * async-signal-safe. After fork() the child must not use a machine: each facade checks
 * ts_vgpu_forked() first.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC: the device and the host share this clock. The cost
 * model (cost.c, README.md) computes start and end of an operation. An operation is complete when
 * it has run and the clock has passed its end.
 *
 * Errors: 0, -errno, or one of enum ts_vgpu_error.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ts_vgpu_error {
	TS_VGPU_E_NOT_READY = 1, /* the work is not complete */
	/* not an address that the device may access, or past the end of an allocation */
	TS_VGPU_E_ADDRESS,
	TS_VGPU_E_OUT_OF_MEMORY, /* the device has too little free memory */
	TS_VGPU_E_NOT_OWNER,	 /* the address is not the start of an allocation of this kind */
	TS_VGPU_E_REGISTERED,	 /* the host range is already registered */
	TS_VGPU_E_FAULTED,	 /* the executor reported another error; see context_error */
	TS_VGPU_E_NOT_RECORDED,	 /* the event has no record */

	/*
	 * Faults of kernels. The context is lost: the call that finds the fault and all later calls
	 * return it.
	 */
	TS_VGPU_E_FAULT_ADDRESS, /* access to an unmapped or read-only address */
	TS_VGPU_E_FAULT_MISALIGNED,
	TS_VGPU_E_FAULT_ASSERT,
	TS_VGPU_E_FAULT_TRAP,
	TS_VGPU_E_FAULT_ILLEGAL, /* instruction that the engine cannot execute */
	TS_VGPU_E_FAULT_PC,	 /* call to an address that is no function */
	TS_VGPU_E_FAULT_STACK,
	TS_VGPU_E_FAULT_TIMEOUT, /* the kernel would never end */
	TS_VGPU_E_FAULT_RESOURCES,
};

/* Maximum number of operations that a stream holds. If the stream is full, the next call waits. */
#define TS_VGPU_MAX_PENDING 1024
#define TS_VGPU_MAX_DEVICES 16
#define TS_VGPU_MAX_SM	    1024u /* maximum that a spec may set */

/* Properties of a device. The cost model uses them, or a device query returns them. */
struct ts_vgpu_shape {
	const char *key;	     /* name in TRACESMITH_VGPU */
	const char *name;	     /* name that a device query returns */
	const char *host_clock_name; /* name with clock=host; the shim and readers recognize it */
	const char *timed_name;	     /* name with kernels=timed; the shim recognizes it */
	uint32_t cc_major, cc_minor;
	uint32_t n_sm;
	uint32_t warp_size;
	/* The warp size with kernels=timed, which needs no lanes; 0: warp_size. */
	uint32_t timed_warp_size;
	uint32_t max_threads_per_block;
	uint32_t max_threads_per_sm;
	uint32_t max_blocks_per_sm;
	uint32_t regs_per_sm;
	uint32_t shared_bytes_per_sm;
	uint32_t shared_bytes_per_block;
	uint32_t shared_bytes_per_block_optin;
	uint32_t l2_bytes;
	uint32_t clock_khz;
	uint32_t memory_clock_khz;
	uint32_t memory_bus_bits;
	uint32_t n_h2d_engines, n_d2h_engines;
	uint32_t max_concurrent_kernels;
	uint64_t memory_bytes;
	uint64_t memory_bytes_per_s;
	uint64_t link_bytes_per_s; /* host to device, pinned memory, in each direction */
	uint64_t peer_bytes_per_s;
	uint64_t launch_ns; /* fixed part of a kernel's duration */
	uint64_t copy_ns;   /* fixed part of a copy's duration */
	uint64_t block_cycles;
	uint64_t warp_cycles;	  /* per resident warp, without an executor */
	uint32_t issue_per_cycle; /* warp instructions that a multiprocessor issues per cycle */
	uint32_t insn_cycles;	  /* cycles between two instructions of one warp */
	uint32_t tensor_flops_per_cycle; /* per multiprocessor */
	/* 0 unless a spec sets them. */
	uint64_t latency_ns; /* time from the call that queues an operation to its earliest start */
	uint64_t call_ns;    /* host time of a call that queues operations */
};

struct ts_vgpu_spec {
	bool host_clock; /* durations are measured on the host, not modelled */
	/* kernels=timed. The caller then creates no executor. Never with host_clock. */
	bool timed_kernels;
	/*
	 * No workers: the thread that waits for work runs it. Only one thread at a time may use the
	 * machine. A program with one thread saves two thread switches per operation.
	 */
	bool without_workers;
	/* Release of ROCm for libamdhip64, as 6.1; 0: not set. Each library knows its own. */
	uint32_t hip_major, hip_minor;
	uint32_t n_devices;
	struct ts_vgpu_shape shapes[TS_VGPU_MAX_DEVICES];
};

/*
 * Parses SHAPE[:COUNT][,...][,clock=model|host][,kernels=computed|timed][,hip=MAJOR.MINOR]
 * [,SETTING=VALUE...]. A setting applies to all devices; `ts_vgpu_spec_help` lists the settings.
 * NULL or "" means TS_VGPU_SPEC_DEFAULT. Returns -EINVAL with one line in message.
 */
#define TS_VGPU_SPEC_DEFAULT "h200"
int ts_vgpu_spec_parse(const char *text, struct ts_vgpu_spec *ret_spec, char *message,
		       size_t message_bytes);
extern const char *const ts_vgpu_spec_help;
/* Returns built-in shape i; NULL after the last one. */
const struct ts_vgpu_shape *ts_vgpu_shape_at(size_t i);

struct ts_vgpu;
struct ts_vgpu_device;
struct ts_vgpu_context;
struct ts_vgpu_stream;
struct ts_vgpu_event;
struct ts_vgpu_physical;

struct ts_vgpu_dim3 {
	uint32_t x, y, z;
};

enum ts_vgpu_op_kind {
	TS_VGPU_OP_KERNEL,
	TS_VGPU_OP_COPY,
	TS_VGPU_OP_FILL,
	TS_VGPU_OP_HOST,
	TS_VGPU_OP_RECORD,
	TS_VGPU_OP_WAIT,
	TS_VGPU_OP_RELEASE,
};

enum ts_vgpu_memory_kind {
	TS_VGPU_MEMORY_PAGEABLE, /* unregistered host memory */
	TS_VGPU_MEMORY_PINNED,
	TS_VGPU_MEMORY_DEVICE,
	TS_VGPU_MEMORY_MANAGED,
};

enum ts_vgpu_copy_kind {
	TS_VGPU_COPY_H2D,
	TS_VGPU_COPY_D2H,
	TS_VGPU_COPY_D2D,
	TS_VGPU_COPY_H2H,
	TS_VGPU_COPY_PEER,
};

/*
 * Computes kernels; executor.h implements it with the PTX engine. Without an executor a machine
 * accepts, times and reports launches but computes nothing.
 *
 * A thread of the device calls run() without any lock, in the order that streams and events
 * require. Several calls run at once if their kernels fit on the device together. ts_vgpu_reach()
 * translates addresses. If run() returns non-zero, the value becomes the context's error and stops
 * the later work of the context.
 */
struct ts_vgpu_kernel_run {
	struct ts_vgpu_context *context;
	const void *kernel; /* the kernel that was passed to ts_vgpu_launch() */
	struct ts_vgpu_dim3 grid, block;
	uint32_t shared_bytes;
	const void *params;
	size_t params_bytes;
	uint64_t stack_bytes;  /* per thread */
	uint32_t max_resident; /* blocks that the device holds at once */
	const void *cancel;    /* an _Atomic bool: true if run() must stop */
	bool cooperative;
};
/* Counts of a computed kernel, for the cost model. */
struct ts_vgpu_kernel_work {
	bool computed; /* the counts are valid */
	uint64_t warp_insns;
	uint64_t memory_bytes;
	uint64_t tensor_flops;
	uint64_t least_ns; /* minimum duration */
};
struct ts_vgpu_executor {
	void *userdata;
	int (*run)(void *userdata, const struct ts_vgpu_kernel_run *run,
		   struct ts_vgpu_kernel_work *ret_work);
	/*
	 * Delivers pending output. Called when a thread of the program has waited for work or is
	 * about to launch a kernel. NULL: none.
	 */
	void (*flush)(void *userdata);
	uint32_t n_concurrent; /* maximum number of kernels at once; 0: TS_VGPU_MAX_CONCURRENT */
};
#define TS_VGPU_MAX_CONCURRENT 8

/* A finished operation. Its pointers are valid only during the observer's call. */
struct ts_vgpu_done {
	enum ts_vgpu_op_kind kind;
	uint32_t device;
	uint32_t context_uid;
	uint32_t stream_id;
	uint64_t tag; /* number that the caller passed when it queued the operation */
	/* pointer to a kernel or an event, which the caller passed when it queued the operation */
	const void *user;
	uint64_t queued_ns, submitted_ns, start_ns, end_ns;
	union {
		struct {
			struct ts_vgpu_dim3 grid, block;
			uint32_t dynamic_shared_bytes;
			uint32_t static_shared_bytes;
			uint32_t regs, local_bytes;
			bool cooperative;
		} kernel;
		struct {
			enum ts_vgpu_copy_kind kind;
			enum ts_vgpu_memory_kind src_kind, dst_kind;
			uint32_t src_device, dst_device;
			uint32_t src_context_uid, dst_context_uid;
			uint64_t bytes;
			bool async;
		} copy;
		struct {
			enum ts_vgpu_memory_kind memory_kind;
			uint32_t value;
			uint64_t bytes;
			bool async;
		} fill;
	} u;
};

/*
 * A worker thread of the device calls the observer without any lock, in order within a stream.
 * started() precedes done() for operations that the worker finds running; short operations have no
 * started() call.
 */
struct ts_vgpu_observer {
	void *userdata;
	void (*started)(void *userdata, const struct ts_vgpu_done *op);
	void (*done)(void *userdata, const struct ts_vgpu_done *op);
};

/*
 * Creates the machine. The first context of a device starts the device's workers, if the machine
 * has workers. -ENOMEM: no address space for the devices' memory.
 */
int ts_vgpu_new(const struct ts_vgpu_spec *spec, struct ts_vgpu **ret_vgpu);
void ts_vgpu_free(struct ts_vgpu *vgpu);
/*
 * Stops the workers at the end of a process. Waits at most one second for their current operations.
 */
void ts_vgpu_stop(struct ts_vgpu *vgpu);
/*
 * Stops running kernels and all later ones. The contexts of these kernels are lost, with the error
 * TS_VGPU_E_FAULT_TIMEOUT.
 */
void ts_vgpu_interrupt(struct ts_vgpu *vgpu);
/*
 * True if a thread of the program waits for a stream and the devices do nothing but run kernels: no
 * copy is in progress, and no further operation can begin.
 */
bool ts_vgpu_waits_for_kernels(struct ts_vgpu *vgpu);
/* True in a child process if its parent had created a machine before fork(). */
bool ts_vgpu_forked(void);
/*
 * Sets the observer; NULL removes it. Returns when no worker is inside the old observer. Must not
 * be called from done().
 */
void ts_vgpu_set_observer(struct ts_vgpu *vgpu, const struct ts_vgpu_observer *observer);
/* Sets the executor of kernels. Must be called before the first launch. */
void ts_vgpu_set_executor(struct ts_vgpu *vgpu, const struct ts_vgpu_executor *executor);
uint64_t ts_vgpu_now_ns(void);

uint32_t ts_vgpu_n_devices(const struct ts_vgpu *vgpu);
struct ts_vgpu_device *ts_vgpu_device_at(struct ts_vgpu *vgpu, uint32_t i);
const struct ts_vgpu_shape *ts_vgpu_device_shape(const struct ts_vgpu_device *device);
uint32_t ts_vgpu_device_index(const struct ts_vgpu_device *device);
void ts_vgpu_device_memory(struct ts_vgpu_device *device, uint64_t *ret_free, uint64_t *ret_total);

/*
 * Creates a context with its legacy default stream. ts_vgpu_context_free() waits for the context's
 * work and frees its allocations.
 */
int ts_vgpu_context_new(struct ts_vgpu_device *device, struct ts_vgpu_context **ret_context);
void ts_vgpu_context_free(struct ts_vgpu_context *context);
struct ts_vgpu_device *ts_vgpu_context_device(const struct ts_vgpu_context *context);
uint32_t ts_vgpu_context_uid(const struct ts_vgpu_context *context);
struct ts_vgpu_stream *ts_vgpu_context_legacy(struct ts_vgpu_context *context);
/* Returns the error that the executor reported, or 0. */
int ts_vgpu_context_error(const struct ts_vgpu_context *context);
/*
 * Sets the peer devices whose memory the context's kernels may access, one bit per device index.
 * Initially the context has no peers.
 */
void ts_vgpu_context_set_peers(struct ts_vgpu_context *context, uint32_t peers);
/*
 * Default limits: stack bytes of each thread of a kernel, and total bytes that kernels may
 * allocate.
 */
#define TS_VGPU_STACK_BYTES 1024u
#define TS_VGPU_HEAP_BYTES  (8u << 20)
void ts_vgpu_context_set_limits(struct ts_vgpu_context *context, uint64_t stack_bytes,
				uint64_t heap_bytes);
int ts_vgpu_context_synchronize(struct ts_vgpu_context *context);
/* Waits for all work of all contexts of the device. */
int ts_vgpu_device_synchronize(struct ts_vgpu_device *device);

/* Streams. The legacy default stream does not order work of a non-blocking stream. */
#define TS_VGPU_STREAM_NON_BLOCKING 1u
/*
 * A lower number is a higher priority. If not all kernels have room, kernels of higher priority
 * start first. Values outside the range are clamped.
 */
#define TS_VGPU_PRIORITY_LEAST	  0
#define TS_VGPU_PRIORITY_GREATEST (-5)
int ts_vgpu_stream_new(struct ts_vgpu_context *context, uint32_t flags, int priority,
		       struct ts_vgpu_stream **ret_stream);
/* Returns at once. The stream's work continues, and the stream is freed when that work is done. */
void ts_vgpu_stream_free(struct ts_vgpu_stream *stream);
uint32_t ts_vgpu_stream_id(const struct ts_vgpu_stream *stream);
uint32_t ts_vgpu_stream_flags(const struct ts_vgpu_stream *stream);
int ts_vgpu_stream_priority(const struct ts_vgpu_stream *stream);
struct ts_vgpu_context *ts_vgpu_stream_context(const struct ts_vgpu_stream *stream);
/* Returns 0 or TS_VGPU_E_NOT_READY. */
int ts_vgpu_stream_query(struct ts_vgpu_stream *stream);
int ts_vgpu_stream_synchronize(struct ts_vgpu_stream *stream);
/*
 * Ends a call of the program. If the shape has a `call_ns` and this thread has queued an operation,
 * waits until that time has passed.
 */
void ts_vgpu_call_over(void);

/*
 * Events. A new record replaces the earlier one. Threads and streams that already wait still wait
 * for the earlier record.
 */
int ts_vgpu_event_new(struct ts_vgpu *vgpu, struct ts_vgpu_event **ret_event);
void ts_vgpu_event_free(struct ts_vgpu_event *event);
int ts_vgpu_event_record(struct ts_vgpu_event *event, struct ts_vgpu_stream *stream, uint64_t tag);
/* Returns 0 if the event's record is done or there is none, else TS_VGPU_E_NOT_READY. */
int ts_vgpu_event_query(struct ts_vgpu_event *event);
int ts_vgpu_event_synchronize(struct ts_vgpu_event *event);
/* Returns the time of the latest record, TS_VGPU_E_NOT_RECORDED or TS_VGPU_E_NOT_READY. */
int ts_vgpu_event_time(struct ts_vgpu_event *event, uint64_t *ret_ns);
/* Returns how often the event was recorded. */
uint64_t ts_vgpu_event_version(const struct ts_vgpu_event *event);
/*
 * Makes the stream wait for the event's latest record at the time of this call. An event without a
 * record causes no wait.
 */
int ts_vgpu_stream_wait(struct ts_vgpu_stream *stream, struct ts_vgpu_event *event, uint64_t tag);

/*
 * Work. Each call copies its arguments before it returns, except the memory that copies and kernels
 * access.
 */
struct ts_vgpu_launch {
	const void *kernel;
	struct ts_vgpu_dim3 grid, block;
	uint32_t dynamic_shared_bytes, static_shared_bytes;
	uint32_t regs, local_bytes;
	const void *params;
	size_t params_bytes;
	bool cooperative;
	bool has_priority; /* this launch's own priority replaces the stream's */
	int priority;
	uint64_t tag;
};
int ts_vgpu_launch(struct ts_vgpu_stream *stream, const struct ts_vgpu_launch *launch);

/* depth slices of height rows of width bytes. Pitches and slices are in bytes. */
struct ts_vgpu_copy {
	uint64_t src, dst;
	size_t width, height, depth;
	size_t src_pitch, dst_pitch;
	size_t src_slice, dst_slice;
	bool async;
	bool deferred; /* pageable memory is accessed in stream order, and the call does not wait */
	uint64_t tag;
};
/*
 * Queues a copy. If the copy is not deferred, pageable host memory is read and written before the
 * call returns, as in hardware drivers. A copy that is not async has finished when the call
 * returns, except device-to-device copies, which are only queued. TS_VGPU_E_ADDRESS: outside an
 * allocation.
 */
int ts_vgpu_copy(struct ts_vgpu_stream *stream, const struct ts_vgpu_copy *copy);

struct ts_vgpu_fill {
	uint64_t dst;
	uint32_t value;
	uint32_t element_bytes; /* 1, 2 or 4 */
	size_t width, height;	/* width in elements */
	size_t pitch;
	bool async;
	uint64_t tag;
};
int ts_vgpu_fill(struct ts_vgpu_stream *stream, const struct ts_vgpu_fill *fill);

/* Calls the function on the device's own host-function thread, after the stream's earlier work. */
int ts_vgpu_host_function(struct ts_vgpu_stream *stream, void (*function)(void *), void *userdata,
			  uint64_t tag);

/* Memory: vgpu-memory.c explains the address space. */
struct ts_vgpu_range {
	uint64_t start;
	uint64_t bytes;
	enum ts_vgpu_memory_kind kind;
	uint32_t device;		 /* index */
	struct ts_vgpu_context *context; /* that allocated it */
	uint64_t id;			 /* unique in the process */
	uint32_t flags;			 /* flags that the caller of the allocation passed */
	void *host;			 /* host address; NULL: device memory */
	uint8_t *backing;		 /* bytes at start, for the device's own use */
	const void *user;
	bool releasing;			   /* ts_vgpu_free_async() is queued */
	struct ts_vgpu_physical *physical; /* mapped memory; NULL: allocated */
	struct ts_vgpu_block *block;	   /* block of its pool; NULL: no pool */
	/*
	 * If not 0: the requested size. Until a queued release ends, kernels may access more:
	 * `bytes`.
	 */
	uint64_t asked_bytes;
	uint32_t access; /* TS_VGPU_ACCESS_*, over all devices */
	/*
	 * Devices with access, one bit each; peer access does not matter. For mapped and pool
	 * memory.
	 */
	bool listed;
	uint32_t readers, writers;
};

int ts_vgpu_alloc(struct ts_vgpu_context *context, size_t bytes, uint32_t flags, const void *user,
		  uint64_t *ret_address);
/*
 * Allocates device memory at an address that the caller chooses, below TS_VGPU_ADDRESS_END: replay
 * uses the addresses of the recorded program. The address range holds no memory of this process;
 * the bytes lie elsewhere. The memory is freed as other device memory. TS_VGPU_E_ADDRESS: the range
 * overlaps another one.
 */
#define TS_VGPU_ADDRESS_END (UINT64_C(1) << 48)
int ts_vgpu_alloc_at(struct ts_vgpu_context *context, uint64_t address, size_t bytes);
int ts_vgpu_alloc_managed(struct ts_vgpu_context *context, size_t bytes, uint32_t flags,
			  uint64_t *ret_address);
int ts_vgpu_alloc_pinned(struct ts_vgpu_context *context, size_t bytes, uint32_t flags,
			 void **ret_host);
/*
 * Waits for the device (for managed memory: for all devices), then frees device or managed memory.
 * The address is the start of an allocation.
 */
int ts_vgpu_free_memory(struct ts_vgpu_context *context, uint64_t address);
/* Frees device memory in stream order. */
int ts_vgpu_free_async(struct ts_vgpu_stream *stream, uint64_t address, uint64_t tag);
int ts_vgpu_free_pinned(struct ts_vgpu_context *context, void *host);
int ts_vgpu_register_host(struct ts_vgpu_context *context, void *host, size_t bytes,
			  uint32_t flags);
int ts_vgpu_unregister_host(struct ts_vgpu_context *context, void *host);
/* Returns the allocation that contains the address. TS_VGPU_E_ADDRESS: there is none. */
int ts_vgpu_range_of(struct ts_vgpu *vgpu, uint64_t address, struct ts_vgpu_range *ret_range);
/*
 * Like ts_vgpu_range_of(), for a kernel of the context. TS_VGPU_E_ADDRESS also if the kernel may
 * not access the address. `bytes` includes the padding up to the end of the last 512-byte unit
 * (README.md, "Where memory ends").
 */
int ts_vgpu_reach(struct ts_vgpu_context *context, uint64_t address,
		  struct ts_vgpu_range *ret_range);
/*
 * Allocate and free in the heap of device-side malloc(). The heap lives as long as the context, and
 * the host cannot free its memory.
 */
int ts_vgpu_heap_alloc(struct ts_vgpu_context *context, size_t bytes, uint64_t *ret_address);
int ts_vgpu_heap_free(struct ts_vgpu_context *context, uint64_t address);
/*
 * Frees memory of ts_vgpu_alloc() without waiting. An executor calls it when no work uses the
 * memory.
 */
int ts_vgpu_release(struct ts_vgpu_context *context, uint64_t address);

/*
 * Memory pools (vgpu-pool.c): a pool holds device memory in whole granules and allocates it in
 * stream order. ts_vgpu_free_async() returns memory to the pool. Each allocation of the pool gets
 * the pool's `user`, for ts_vgpu_share_all().
 */
struct ts_vgpu_pool;
struct ts_vgpu_pool_rules {
	uint64_t threshold_bytes; /* when a thread waits, unused memory beyond this is freed */
	uint64_t max_bytes;	  /* limit of held bytes; 0: the device's memory */
	/*
	 * A stream may reuse memory that another stream freed if it waits for an event that was
	 * recorded after the free.
	 */
	bool follow_events;
	/*
	 * True: all streams may reuse freed memory when its release has run. False: only when a
	 * host thread has waited after that.
	 */
	bool opportunistic;
};
struct ts_vgpu_pool_use {
	uint64_t reserved_bytes, reserved_high_bytes;
	uint64_t used_bytes, used_high_bytes; /* as requested */
};
/* Makes a pool with the policies follow_events and opportunistic enabled. Returns 0 or -ENOMEM. */
int ts_vgpu_pool_new(struct ts_vgpu_device *device, const void *user,
		     struct ts_vgpu_pool **ret_pool);
/*
 * Frees the pool when its last allocation is freed. Until then the caller gives the same user
 * to no other pool. Accepts NULL.
 */
void ts_vgpu_pool_free(struct ts_vgpu_pool *pool);
/*
 * Allocates memory of the pool in the order of the stream, which may belong to another device.
 * Returns TS_VGPU_E_OUT_OF_MEMORY if the pool has no room.
 */
int ts_vgpu_pool_alloc(struct ts_vgpu_pool *pool, struct ts_vgpu_stream *stream, size_t bytes,
		       uint64_t *ret_address);
/*
 * Like ts_vgpu_pool_alloc(), but waits up to max_ns for queued releases of the device's pools.
 * TS_VGPU_E_NOT_READY: the releases took longer.
 */
int ts_vgpu_pool_alloc_wait(struct ts_vgpu_pool *pool, struct ts_vgpu_stream *stream, size_t bytes,
			    uint64_t max_ns, uint64_t *ret_address);
/* Frees unused chunks of the pool, but keeps at least keep_bytes of its memory. */
void ts_vgpu_pool_trim(struct ts_vgpu_pool *pool, uint64_t keep_bytes);
void ts_vgpu_pool_ask(struct ts_vgpu_pool *pool, struct ts_vgpu_pool_rules *ret_rules,
		      struct ts_vgpu_pool_use *ret_use);
void ts_vgpu_pool_rule(struct ts_vgpu_pool *pool, const struct ts_vgpu_pool_rules *rules);
/* Resets the high-water mark of reserved or used bytes to the current value. */
void ts_vgpu_pool_forget_high(struct ts_vgpu_pool *pool, bool reserved);

/*
 * Virtual memory management (vgpu-map.c): the caller reserves addresses, creates physical memory,
 * and maps the memory to the addresses in whole granules. Copies may cross neighbouring mappings of
 * one reservation.
 */
#define TS_VGPU_GRANULE_BYTES (2u << 20)
#define TS_VGPU_ACCESS_READ   1u
#define TS_VGPU_ACCESS_WRITE  2u
/*
 * Reserves `wanted` if that address is aligned and free; else any address. -EINVAL: not whole
 * granules, or the alignment is not a power of two.
 */
int ts_vgpu_reserve(struct ts_vgpu *vgpu, size_t bytes, size_t align, uint64_t wanted,
		    uint64_t *ret_address);
/*
 * Releases a reservation. TS_VGPU_E_NOT_OWNER: there is no reservation of that size at the address,
 * or it still has a mapping.
 */
int ts_vgpu_unreserve(struct ts_vgpu *vgpu, uint64_t address, size_t bytes);
/*
 * Creates zeroed memory of a device. The caller owns the first reference; each mapping holds its
 * own.
 */
int ts_vgpu_physical_new(struct ts_vgpu_device *device, size_t bytes,
			 struct ts_vgpu_physical **ret_physical);
void ts_vgpu_physical_unref(struct ts_vgpu_physical *physical);
size_t ts_vgpu_physical_bytes(const struct ts_vgpu_physical *physical);
struct ts_vgpu_device *ts_vgpu_physical_device(const struct ts_vgpu_physical *physical);
/* Returns a reference to the memory mapped at an address. TS_VGPU_E_ADDRESS: there is none. */
int ts_vgpu_physical_of(struct ts_vgpu *vgpu, uint64_t address,
			struct ts_vgpu_physical **ret_physical);
/*
 * Maps memory at a reserved address. No device has access until ts_vgpu_set_access().
 * TS_VGPU_E_ADDRESS: the address is not reserved, or is already mapped.
 */
int ts_vgpu_map(struct ts_vgpu_physical *physical, size_t offset, uint64_t address, size_t bytes);
/*
 * Waits for all devices, then unmaps whole mappings. TS_VGPU_E_ADDRESS: not whole mappings. Returns
 * 0 if the range is reserved and nothing is mapped.
 */
int ts_vgpu_unmap(struct ts_vgpu *vgpu, uint64_t address, size_t bytes);
int ts_vgpu_set_access(struct ts_vgpu *vgpu, uint64_t address, size_t bytes, uint32_t readers,
		       uint32_t writers);
/*
 * Sets the devices that may access one allocation, or all allocations with this user. Bit i of
 * `readers` and `writers` is device i; writers may read, too.
 */
void ts_vgpu_share(struct ts_vgpu *vgpu, uint64_t address, uint32_t readers, uint32_t writers);
void ts_vgpu_share_all(struct ts_vgpu *vgpu, const void *user, uint32_t readers, uint32_t writers);
/*
 * Returns the host address of device-visible memory. TS_VGPU_E_ADDRESS: not inside one allocation
 * or one run of neighbouring mappings.
 */
int ts_vgpu_resolve(struct ts_vgpu *vgpu, uint64_t address, size_t bytes, void **ret_backing);

/*
 * Returns the number of blocks that fit on a multiprocessor, for occupancy queries. Part of the
 * cost model.
 */
uint32_t ts_vgpu_blocks_per_sm(const struct ts_vgpu_shape *shape, uint32_t threads_per_block,
			       uint32_t shared_bytes, uint32_t regs_per_thread);

#ifdef __cplusplus
}
#endif
