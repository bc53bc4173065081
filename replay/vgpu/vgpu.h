/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The virtual GPU: devices with memory, contexts, streams, events, copy engines and a compute engine,
 * in software. It knows nothing of CUDA's or HIP's binary interface: the facades in tools/vgpu put those in
 * front of it, and replay drives it directly.
 *
 * Ownership: a machine owns its devices; a device owns its contexts; a context owns its streams and what was
 * allocated in it. Events are their creator's. Every function may be called from any thread unless it
 * says otherwise; none is async-signal-safe. After fork() the child must not use a machine: ts_vgpu_forked()
 * tells, and every facade asks it first.
 *
 * Times are nanoseconds of CLOCK_MONOTONIC: the device's clock is the host's. An operation's start and end come from
 * the cost model (cost.c, README.md) and it counts as complete once it was carried out and the clock has passed its end.
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
	TS_VGPU_E_NOT_READY = 1, /* asked about work that is not complete */
	TS_VGPU_E_ADDRESS, /* not an address the device may touch, or past the end of an allocation */
	TS_VGPU_E_OUT_OF_MEMORY, /* the device's memory is spent */
	TS_VGPU_E_NOT_OWNER,	 /* not the start of an allocation of this kind */
	TS_VGPU_E_REGISTERED,	 /* the host range is already registered */
	TS_VGPU_E_FAULTED, /* the context is lost: an executor reported an error, see context_error */
	TS_VGPU_E_NOT_RECORDED, /* the event has no record to measure */

	/* What a kernel did, and its context is lost for: answered by the call that finds it so and by all later ones. */
	TS_VGPU_E_FAULT_ADDRESS, /* an access to what is not there, or not writable */
	TS_VGPU_E_FAULT_MISALIGNED,
	TS_VGPU_E_FAULT_ASSERT,
	TS_VGPU_E_FAULT_TRAP,
	TS_VGPU_E_FAULT_ILLEGAL, /* an instruction that cannot be carried out */
	TS_VGPU_E_FAULT_PC,	 /* a call to no function */
	TS_VGPU_E_FAULT_STACK,
	TS_VGPU_E_FAULT_TIMEOUT, /* it would never have ended */
	TS_VGPU_E_FAULT_RESOURCES,
};

/* Most operations that a stream holds before the thread that adds one has to wait. */
#define TS_VGPU_MAX_PENDING 1024
#define TS_VGPU_MAX_DEVICES 16
#define TS_VGPU_MAX_SM	    1024u /* that a spec may give a device */

/* What a device looks like. Every figure enters the cost model or is what a query answers. */
struct ts_vgpu_shape {
	const char *key;  /* what TRACESMITH_VGPU names */
	const char *name; /* what a device query answers */
	const char *
		host_clock_name; /* and with clock=host: the shim and readers know the clock by it */
	uint32_t cc_major, cc_minor;
	uint32_t n_sm;
	uint32_t warp_size;
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
	uint64_t link_bytes_per_s; /* host to device, pinned, each way */
	uint64_t peer_bytes_per_s;
	uint64_t launch_ns; /* fixed part of a kernel's duration */
	uint64_t copy_ns;   /* fixed part of a copy's duration */
	uint64_t block_cycles;
	uint64_t warp_cycles;	  /* per resident warp, where nobody computes kernels */
	uint32_t issue_per_cycle; /* warp instructions that a multiprocessor issues per cycle */
	uint32_t insn_cycles;	  /* between two instructions of one warp */
	uint32_t tensor_flops_per_cycle; /* per multiprocessor */
	/* None has these unless a spec says so. */
	uint64_t latency_ns; /* from when an operation was queued to its start */
	uint64_t call_ns;    /* what a call that queues operations takes on the host */
};

struct ts_vgpu_spec {
	bool host_clock; /* operations take what carrying them out took here, and not what the model says */
	/*
	 * No workers: who waits for work does it, in his own thread. One thread at a time uses the machine then. Whoever does one thing
	 * after the other is spared two changes of threads for each.
	 */
	bool without_workers;
	uint32_t n_devices;
	struct ts_vgpu_shape shapes[TS_VGPU_MAX_DEVICES];
};

/*
 * SHAPE[:COUNT][,...][,clock=model|host][,SETTING=VALUE...]; settings are every device's, `ts_vgpu_spec_help` lists them. NULL or ""
 * means TS_VGPU_SPEC_DEFAULT. -EINVAL with one line in message.
 */
#define TS_VGPU_SPEC_DEFAULT "h200"
int ts_vgpu_spec_parse(const char *text, struct ts_vgpu_spec *ret_spec, char *message,
		       size_t message_bytes);
extern const char *const ts_vgpu_spec_help;
/* The ready-made shapes; NULL past the last. */
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
	TS_VGPU_MEMORY_PAGEABLE, /* host memory that nobody registered */
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
 * What computes kernels; executor.h has the one that does. A machine without one accepts, times and reports launches and computes
 * nothing. run() is called by a thread of the device's without any lock held, in the order that streams and events
 * impose, and for several kernels at once where those fit on the device together; addresses are translated with
 * ts_vgpu_reach(). A non-zero answer makes the context's error and stops its later work.
 */
struct ts_vgpu_kernel_run {
	struct ts_vgpu_context *context;
	const void *kernel; /* as given to ts_vgpu_launch() */
	struct ts_vgpu_dim3 grid, block;
	uint32_t shared_bytes;
	const void *params;
	size_t params_bytes;
	uint64_t stack_bytes;  /* per thread */
	uint32_t max_resident; /* blocks that the device holds at once */
	const void *cancel;    /* an _Atomic bool: the machine stops, give up */
	bool cooperative;
};
/* What a kernel did, for the cost model. */
struct ts_vgpu_kernel_work {
	bool computed; /* the counts mean something */
	uint64_t warp_insns;
	uint64_t memory_bytes;
	uint64_t tensor_flops;
	uint64_t least_ns; /* it takes this long at least */
};
struct ts_vgpu_executor {
	void *userdata;
	int (*run)(void *userdata, const struct ts_vgpu_kernel_run *run,
		   struct ts_vgpu_kernel_work *ret_work);
	/* A thread of the program has waited for work, or is about to add a kernel: output is due. Or NULL. */
	void (*flush)(void *userdata);
	uint32_t n_concurrent; /* kernels at once, at most; 0: TS_VGPU_MAX_CONCURRENT */
};
#define TS_VGPU_MAX_CONCURRENT 8

/* A finished operation. Pointers hold only during the call. */
struct ts_vgpu_done {
	enum ts_vgpu_op_kind kind;
	uint32_t device;
	uint32_t context_uid;
	uint32_t stream_id;
	uint64_t tag;	  /* the submitter's */
	const void *user; /* the submitter's: a kernel, an event */
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
 * Called by a device's worker thread, in order within a stream, no lock held. started() comes for operations that
 * are seen running, before done(); short ones go without it.
 */
struct ts_vgpu_observer {
	void *userdata;
	void (*started)(void *userdata, const struct ts_vgpu_done *op);
	void (*done)(void *userdata, const struct ts_vgpu_done *op);
};

/*
 * The machine. Workers, where it has any, start with a device's first context.
 * -ENOMEM: no address space for the devices' memory.
 */
int ts_vgpu_new(const struct ts_vgpu_spec *spec, struct ts_vgpu **ret_vgpu);
void ts_vgpu_free(struct ts_vgpu *vgpu);
/* Stops the workers where they are, waiting at most a second for what they are at; for the end of a process. */
void ts_vgpu_stop(struct ts_vgpu *vgpu);
/* Kernels that run, and all that are launched from now on, are given up: their contexts are lost, as by TS_VGPU_E_FAULT_TIMEOUT. */
void ts_vgpu_interrupt(struct ts_vgpu *vgpu);
/* Whether a thread waits for work, and kernels that run are all that goes on: nothing is copied, and nothing else can begin. */
bool ts_vgpu_waits_for_kernels(struct ts_vgpu *vgpu);
/* True in the child of a process that had a machine when it forked. */
bool ts_vgpu_forked(void);
/* NULL takes it away; returns only once no worker is inside the old one. Not from within done(). */
void ts_vgpu_set_observer(struct ts_vgpu *vgpu, const struct ts_vgpu_observer *observer);
/* Before the first launch. */
void ts_vgpu_set_executor(struct ts_vgpu *vgpu, const struct ts_vgpu_executor *executor);
uint64_t ts_vgpu_now_ns(void);

uint32_t ts_vgpu_n_devices(const struct ts_vgpu *vgpu);
struct ts_vgpu_device *ts_vgpu_device_at(struct ts_vgpu *vgpu, uint32_t i);
const struct ts_vgpu_shape *ts_vgpu_device_shape(const struct ts_vgpu_device *device);
uint32_t ts_vgpu_device_index(const struct ts_vgpu_device *device);
void ts_vgpu_device_memory(struct ts_vgpu_device *device, uint64_t *ret_free, uint64_t *ret_total);

/* A context's legacy default stream exists with it. Freeing waits for its work and frees what was allocated in it. */
int ts_vgpu_context_new(struct ts_vgpu_device *device, struct ts_vgpu_context **ret_context);
void ts_vgpu_context_free(struct ts_vgpu_context *context);
struct ts_vgpu_device *ts_vgpu_context_device(const struct ts_vgpu_context *context);
uint32_t ts_vgpu_context_uid(const struct ts_vgpu_context *context);
struct ts_vgpu_stream *ts_vgpu_context_legacy(struct ts_vgpu_context *context);
/* What the executor reported, 0 while all is well. */
int ts_vgpu_context_error(const struct ts_vgpu_context *context);
/* Devices whose memory the context's kernels may touch beside their own, a bit for each index. None at first. */
void ts_vgpu_context_set_peers(struct ts_vgpu_context *context, uint32_t peers);
/* What each thread of a kernel has for calls, and what kernels may allocate in all. */
#define TS_VGPU_STACK_BYTES 1024u
#define TS_VGPU_HEAP_BYTES  (8u << 20)
void ts_vgpu_context_set_limits(struct ts_vgpu_context *context, uint64_t stack_bytes,
				uint64_t heap_bytes);
int ts_vgpu_context_synchronize(struct ts_vgpu_context *context);
/* Waits for all work of all contexts of the device. */
int ts_vgpu_device_synchronize(struct ts_vgpu_device *device);

/* Streams. A non-blocking one takes no part in the legacy default stream's ordering. */
#define TS_VGPU_STREAM_NON_BLOCKING 1u
/* Kernels of a stream of higher priority, which is a lower number, start first where not all have room. Beyond the range means its end. */
#define TS_VGPU_PRIORITY_LEAST	  0
#define TS_VGPU_PRIORITY_GREATEST (-5)
int ts_vgpu_stream_new(struct ts_vgpu_context *context, uint32_t flags, int priority,
		       struct ts_vgpu_stream **ret_stream);
/* Returns at once; the stream's work goes on and the stream is gone when it is done. */
void ts_vgpu_stream_free(struct ts_vgpu_stream *stream);
uint32_t ts_vgpu_stream_id(const struct ts_vgpu_stream *stream);
uint32_t ts_vgpu_stream_flags(const struct ts_vgpu_stream *stream);
int ts_vgpu_stream_priority(const struct ts_vgpu_stream *stream);
struct ts_vgpu_context *ts_vgpu_stream_context(const struct ts_vgpu_stream *stream);
/* 0 or TS_VGPU_E_NOT_READY. */
int ts_vgpu_stream_query(struct ts_vgpu_stream *stream);
int ts_vgpu_stream_synchronize(struct ts_vgpu_stream *stream);
/* A program's call is over: where its shape has a `call_ns` and this thread has queued something, it takes that long. */
void ts_vgpu_call_over(void);

/* Events. Recording again forgets the earlier record; who already waits keeps waiting for what it was told. */
int ts_vgpu_event_new(struct ts_vgpu *vgpu, struct ts_vgpu_event **ret_event);
void ts_vgpu_event_free(struct ts_vgpu_event *event);
int ts_vgpu_event_record(struct ts_vgpu_event *event, struct ts_vgpu_stream *stream, uint64_t tag);
/* A never-recorded event is complete. */
int ts_vgpu_event_query(struct ts_vgpu_event *event);
int ts_vgpu_event_synchronize(struct ts_vgpu_event *event);
/* The time of the latest record. TS_VGPU_E_NOT_RECORDED, TS_VGPU_E_NOT_READY. */
int ts_vgpu_event_time(struct ts_vgpu_event *event, uint64_t *ret_ns);
/* How often it was recorded. */
uint64_t ts_vgpu_event_version(const struct ts_vgpu_event *event);
/* The stream waits for the event's latest record as of now; a never-recorded event is no wait. */
int ts_vgpu_stream_wait(struct ts_vgpu_stream *stream, struct ts_vgpu_event *event, uint64_t tag);

/* Work. What a call is given is copied before it returns, but for the memory that copies and kernels work on. */
struct ts_vgpu_launch {
	const void *kernel;
	struct ts_vgpu_dim3 grid, block;
	uint32_t dynamic_shared_bytes, static_shared_bytes;
	uint32_t regs, local_bytes;
	const void *params;
	size_t params_bytes;
	bool cooperative;
	bool has_priority; /* its own, instead of the stream's */
	int priority;
	uint64_t tag;
};
int ts_vgpu_launch(struct ts_vgpu_stream *stream, const struct ts_vgpu_launch *launch);

/* Rows of width bytes, height of them, depth slices; pitches and slices in bytes. */
struct ts_vgpu_copy {
	uint64_t src, dst;
	size_t width, height, depth;
	size_t src_pitch, dst_pitch;
	size_t src_slice, dst_slice;
	bool async;
	bool deferred; /* pageable memory is read and written in the stream's order, nobody waits */
	uint64_t tag;
};
/*
 * Unless deferred, pageable host memory is read before this returns, and written before this returns, as hardware's drivers do; a
 * copy that is not async has finished when this returns (device to device ones excepted, which have only been queued).
 * TS_VGPU_E_ADDRESS: out of an allocation's bounds.
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

/* Called on a thread of the device's own once the stream's earlier work is complete. */
int ts_vgpu_host_function(struct ts_vgpu_stream *stream, void (*function)(void *), void *userdata,
			  uint64_t tag);

/* Memory: see vgpu-memory.c for the address space. */
struct ts_vgpu_range {
	uint64_t start;
	uint64_t bytes;
	enum ts_vgpu_memory_kind kind;
	uint32_t device;		 /* index */
	struct ts_vgpu_context *context; /* where it was allocated */
	uint64_t id;			 /* unique in the process */
	uint32_t flags;			 /* the allocator's caller's */
	void *host;			 /* what the host may touch: NULL for device memory */
	uint8_t *backing; /* where the bytes of start lie, for the device's own use */
	const void *user;
	bool releasing;			   /* ts_vgpu_free_async() has been asked */
	struct ts_vgpu_physical *physical; /* what was mapped here; NULL: allocated */
	struct ts_vgpu_block *block;	   /* of the pool that gave it; NULL: none */
	uint64_t asked_bytes; /* fewer than kernels may reach until a release came; 0: as many */
	uint32_t access;      /* TS_VGPU_ACCESS_*: of any device */
	/* Of what was mapped, and of what a pool gave: the devices that may, a bit each, whatever the peers. */
	bool listed;
	uint32_t readers, writers;
};

int ts_vgpu_alloc(struct ts_vgpu_context *context, size_t bytes, uint32_t flags, const void *user,
		  uint64_t *ret_address);
/*
 * Device memory at an address that the caller chooses, below TS_VGPU_ADDRESS_END, as a recorded program had it: nothing of
 * this process lies there, the bytes are elsewhere. Freed as other device memory. TS_VGPU_E_ADDRESS: something is there already.
 */
#define TS_VGPU_ADDRESS_END (UINT64_C(1) << 48)
int ts_vgpu_alloc_at(struct ts_vgpu_context *context, uint64_t address, size_t bytes);
int ts_vgpu_alloc_managed(struct ts_vgpu_context *context, size_t bytes, uint32_t flags,
			  uint64_t *ret_address);
int ts_vgpu_alloc_pinned(struct ts_vgpu_context *context, size_t bytes, uint32_t flags,
			 void **ret_host);
/* Frees device or managed memory at its start, waiting for the device first. */
int ts_vgpu_free_memory(struct ts_vgpu_context *context, uint64_t address);
/* Frees it in stream order. */
int ts_vgpu_free_async(struct ts_vgpu_stream *stream, uint64_t address, uint64_t tag);
int ts_vgpu_free_pinned(struct ts_vgpu_context *context, void *host);
int ts_vgpu_register_host(struct ts_vgpu_context *context, void *host, size_t bytes,
			  uint32_t flags);
int ts_vgpu_unregister_host(struct ts_vgpu_context *context, void *host);
/* The allocation that holds the address. TS_VGPU_E_ADDRESS: none does. */
int ts_vgpu_range_of(struct ts_vgpu *vgpu, uint64_t address, struct ts_vgpu_range *ret_range);
/*
 * The same for a kernel of the context: TS_VGPU_E_ADDRESS also for what it may not touch. `bytes` includes the padding up to the end
 * of the last 512-byte unit (README.md, "Where memory ends").
 */
int ts_vgpu_reach(struct ts_vgpu_context *context, uint64_t address,
		  struct ts_vgpu_range *ret_range);
/* The heap that kernels allocate from: lasts as long as the context, and the host cannot free it. */
int ts_vgpu_heap_alloc(struct ts_vgpu_context *context, size_t bytes, uint64_t *ret_address);
int ts_vgpu_heap_free(struct ts_vgpu_context *context, uint64_t address);
/* Frees what ts_vgpu_alloc() gave at once, for an executor: it knows that nothing works on it. */
int ts_vgpu_release(struct ts_vgpu_context *context, uint64_t address);

/*
 * Memory pools (vgpu-pool.c): a device's memory, held by whole granules and given out in stream order. ts_vgpu_free_async() gives back.
 * `user` is that of what it gives, for ts_vgpu_share_all().
 */
struct ts_vgpu_pool;
struct ts_vgpu_pool_rules {
	uint64_t
		threshold_bytes; /* what it holds beyond goes back when somebody waits, as far as nothing of it is used */
	uint64_t max_bytes; /* it holds no more; 0: as the device has */
	bool follow_events; /* what another stream freed is given to those that wait for an event behind that */
	bool opportunistic; /* and to all, once its release was carried out; else once somebody waited */
};
struct ts_vgpu_pool_use {
	uint64_t reserved_bytes, reserved_high_bytes;
	uint64_t used_bytes, used_high_bytes; /* as was asked for */
};
/* Both policies hold at first. -ENOMEM. */
int ts_vgpu_pool_new(struct ts_vgpu_device *device, const void *user,
		     struct ts_vgpu_pool **ret_pool);
/* The pool goes when its last memory has been freed; no other pool may have its user before that. NULL is fine. */
void ts_vgpu_pool_free(struct ts_vgpu_pool *pool);
/* The stream may be another device's. TS_VGPU_E_OUT_OF_MEMORY. */
int ts_vgpu_pool_alloc(struct ts_vgpu_pool *pool, struct ts_vgpu_stream *stream, size_t bytes,
		       uint64_t *ret_address);
/* The same, waiting for what is on its way back to the device's pools. TS_VGPU_E_NOT_READY: it was for so long. */
int ts_vgpu_pool_alloc_wait(struct ts_vgpu_pool *pool, struct ts_vgpu_stream *stream, size_t bytes,
			    uint64_t max_ns, uint64_t *ret_address);
/* Gives unused chunks back, as far as it holds so much then. */
void ts_vgpu_pool_trim(struct ts_vgpu_pool *pool, uint64_t keep_bytes);
void ts_vgpu_pool_ask(struct ts_vgpu_pool *pool, struct ts_vgpu_pool_rules *ret_rules,
		      struct ts_vgpu_pool_use *ret_use);
void ts_vgpu_pool_rule(struct ts_vgpu_pool *pool, const struct ts_vgpu_pool_rules *rules);
/* The most so far is what is now: of what is reserved, or used. */
void ts_vgpu_pool_forget_high(struct ts_vgpu_pool *pool, bool reserved);

/*
 * Virtual memory management (vgpu-map.c): addresses are reserved, memory is had, and the one is mapped to the other, by whole
 * granules. Neighbouring mappings of a reservation are as one to whoever copies across them.
 */
#define TS_VGPU_GRANULE_BYTES (2u << 20)
#define TS_VGPU_ACCESS_READ   1u
#define TS_VGPU_ACCESS_WRITE  2u
/*
 * At `wanted`, where that is aligned and nothing is there; else anywhere. -EINVAL: not whole granules, or an alignment that is no
 * power of two.
 */
int ts_vgpu_reserve(struct ts_vgpu *vgpu, size_t bytes, size_t align, uint64_t wanted,
		    uint64_t *ret_address);
/* TS_VGPU_E_NOT_OWNER: not a reservation of that size, or one with something mapped in it. */
int ts_vgpu_unreserve(struct ts_vgpu *vgpu, uint64_t address, size_t bytes);
/* Memory of a device, zeros. Its first reference is the caller's; each mapping holds one of its own. */
int ts_vgpu_physical_new(struct ts_vgpu_device *device, size_t bytes,
			 struct ts_vgpu_physical **ret_physical);
void ts_vgpu_physical_unref(struct ts_vgpu_physical *physical);
size_t ts_vgpu_physical_bytes(const struct ts_vgpu_physical *physical);
struct ts_vgpu_device *ts_vgpu_physical_device(const struct ts_vgpu_physical *physical);
/* A reference to what is mapped at an address. TS_VGPU_E_ADDRESS: nothing is. */
int ts_vgpu_physical_of(struct ts_vgpu *vgpu, uint64_t address,
			struct ts_vgpu_physical **ret_physical);
/* Without access until ts_vgpu_set_access(). TS_VGPU_E_ADDRESS: not reserved, or mapped already. */
int ts_vgpu_map(struct ts_vgpu_physical *physical, size_t offset, uint64_t address, size_t bytes);
/* Whole mappings only, waiting for all devices first. TS_VGPU_E_ADDRESS otherwise. */
int ts_vgpu_unmap(struct ts_vgpu *vgpu, uint64_t address, size_t bytes);
int ts_vgpu_set_access(struct ts_vgpu *vgpu, uint64_t address, size_t bytes, uint32_t readers,
		       uint32_t writers);
/* Of one allocation; and of all that were had with this user. */
void ts_vgpu_share(struct ts_vgpu *vgpu, uint64_t address, uint32_t readers, uint32_t writers);
void ts_vgpu_share_all(struct ts_vgpu *vgpu, const void *user, uint32_t readers, uint32_t writers);
/* Where bytes of device-visible memory lie. TS_VGPU_E_ADDRESS: not inside one allocation. */
int ts_vgpu_resolve(struct ts_vgpu *vgpu, uint64_t address, size_t bytes, void **ret_backing);

/* The cost model's parts that a query answers. */
uint32_t ts_vgpu_blocks_per_sm(const struct ts_vgpu_shape *shape, uint32_t threads_per_block,
			       uint32_t shared_bytes, uint32_t regs_per_thread);

#ifdef __cplusplus
}
#endif
