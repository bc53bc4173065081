/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects and scheduler state that the files of this folder share. ts_vgpu.lock protects all
 * mutable state.
 */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "replay/streams/streams.h"
#include "replay/vgpu/vgpu.h"

/* Parameters up to this size are stored in the operation. */
#define TS_VGPU_INLINE_PARAMS 128

/*
 * Stream ids as in NVIDIA's tools: 7 is the default stream, 13 the first stream that a program
 * creates.
 */
#define TS_VGPU_FIRST_STREAM_ID	 7
#define TS_VGPU_SECOND_STREAM_ID 13

/*
 * One record of an event: a point in a stream's work. A wait or a query refers to a mark, not to
 * the event, because it concerns the record that is the latest at the time of its call.
 */
struct ts_vgpu_mark {
	unsigned refs;
	bool scheduled; /* time_ns is known */
	bool done;
	uint64_t time_ns;
	uint64_t seq;
	struct ts_vgpu_device *device;
	uint32_t stream_id;
	struct ts_vgpu_stream *stream; /* NULL when it is done */
	/* streams whose head waits for this mark; linked by next_waiter */
	struct ts_vgpu_stream *waiters;
};

struct ts_vgpu_event {
	struct ts_vgpu *vgpu;
	struct ts_vgpu_mark *mark;
	uint64_t version;
};

struct ts_vgpu_op {
	struct ts_vgpu_op *next;
	struct ts_vgpu_stream *stream;
	uint64_t seq; /* within its stream, from 1 */
	/*
	 * number of the operation in its context's call order, for the legacy default stream's rule
	 */
	uint64_t order;
	uint64_t ready_ns;
	int priority; /* kernels; lower is more urgent */
	bool reported_started;
	struct ts_vgpu_done done;
	union {
		struct {
			void *large; /* parameters past TS_VGPU_INLINE_PARAMS */
			size_t params_bytes;
			uint8_t params[TS_VGPU_INLINE_PARAMS];
			uint32_t n_sm; /* multiprocessors that it needs */
		} kernel;
		struct {
			uint8_t *src, *dst;
			void *staging; /* owned */
			size_t width, height, depth;
			size_t src_pitch, dst_pitch, src_slice, dst_slice;
			struct ts_vgpu_device *peer;
		} copy;
		struct {
			uint8_t *dst;
			size_t width, height, pitch;
			uint32_t element_bytes;
		} fill;
		struct {
			void (*function)(void *);
			void *userdata;
		} host;
		struct ts_vgpu_mark *mark; /* RECORD, WAIT */
		struct {
			uint64_t address;
			struct ts_vgpu_release *of_pool; /* NULL: not from a pool */
		} release;
	} u;
};

enum ts_vgpu_stream_state {
	TS_VGPU_STREAM_IDLE,	       /* all operations are dispatched */
	TS_VGPU_STREAM_READY,	       /* in the device's heap */
	TS_VGPU_STREAM_BLOCKED_MARK,   /* head waits for a record without a known time */
	TS_VGPU_STREAM_BLOCKED_LEGACY, /* head waits by the legacy default stream's rule */
	TS_VGPU_STREAM_HELD,	       /* head is a ready kernel that waits for room */
	TS_VGPU_STREAM_RUNNING,	       /* head is running */
};

#define TS_VGPU_MAX_BEHIND 8u

struct ts_vgpu_stream {
	struct ts_vgpu_context *context;
	struct ts_vgpu_device *device;
	uint32_t id;
	uint32_t flags;
	int priority;
	unsigned refs; /* owner, work, marks and waiting threads */
	struct ts_stream_kind kind;
	bool owned; /* the creator still holds it */
	enum ts_vgpu_stream_state state;

	struct ts_vgpu_op *head, *tail;		      /* queued */
	struct ts_vgpu_op *flight_head, *flight_tail; /* dispatched; their end has not passed */
	uint64_t n_queued, n_retired;
	uint64_t last_end_ns;

	unsigned n_waiters; /* threads that wait on cond */
	bool polled;	    /* a caller queried it: retire promptly */
	pthread_cond_t cond;

	/*
	 * The latest operations of other streams that precede this stream's next operation, by
	 * events.
	 */
	struct {
		uint32_t stream_id;
		uint64_t seq;
	} behind[TS_VGPU_MAX_BEHIND];
	unsigned next_behind;

	struct ts_vgpu_stream *next_waiter;
	struct ts_vgpu_stream *next, **prev; /* list of the context */
	/* links of the context's list of streams whose operations have not all retired */
	struct ts_vgpu_stream *busy_next, **busy_prev;
	/* links of the device's list of streams with operations in flight */
	struct ts_vgpu_stream *flight_next, **flight_prev;
	struct ts_vgpu_stream *host_next;	       /* queue of the host-function thread */
	struct ts_vgpu_stream *held_child, *held_next; /* links in the device's ts_vgpu_kernels */
};

struct ts_vgpu_context {
	struct ts_vgpu_device *device;
	uint32_t uid;
	_Atomic int error;
	_Atomic uint32_t peers;
	_Atomic uint64_t stack_bytes, heap_limit;
	uint64_t heap_used; /* under the lock */
	uint64_t order;
	struct ts_vgpu_stream *legacy;
	struct ts_vgpu_stream *streams; /* all streams, with the legacy one */
	struct ts_vgpu_stream *busy;	/* streams with operations that are not retired */
	/* operations queued in blocking streams, without the legacy default stream */
	uint64_t n_blocking_queued;
	uint64_t blocking_end_ns; /* latest end dispatched in blocking streams */
	/* streams in BLOCKED_LEGACY, without the legacy default stream */
	unsigned n_legacy_blocked;
	unsigned pins; /* threads that walk the contexts and hold this one */
	struct ts_vgpu_context *next, **prev;
};

/* A kernel that holds multiprocessors until end_ns. */
struct ts_vgpu_resident {
	uint64_t end_ns;
	uint32_t n_sm;
};

#define TS_VGPU_MAX_RESIDENT 128
#define TS_VGPU_MAX_ENGINES  8
/*
 * One worker per kernel inside the executor, one leader, and one deputy that takes over from the
 * leader.
 */
#define TS_VGPU_MAX_WORKERS (TS_VGPU_MAX_CONCURRENT + 2)

struct ts_vgpu_engines {
	struct ts_vgpu_resident resident[TS_VGPU_MAX_RESIDENT]; /* ascending end */
	uint32_t n_resident;
	uint32_t sm_used;
	uint32_t n_running; /* running kernels; their ends are unknown */
	uint32_t sm_running;
	uint64_t last_kernel_start_ns;
	uint64_t h2d_free_ns[TS_VGPU_MAX_ENGINES];
	uint64_t d2h_free_ns[TS_VGPU_MAX_ENGINES];
	uint64_t d2d_free_ns;
	uint64_t peer_free_ns;
};

/*
 * Ready kernels (vgpu-kernels.c): one pairing heap of streams per priority, the highest priority
 * first. If is_found is true, `next` and `next_ns` name the kernel that starts next.
 */
struct ts_vgpu_kernels {
	struct ts_vgpu_stream *first[TS_VGPU_PRIORITY_LEAST - TS_VGPU_PRIORITY_GREATEST + 1];
	struct ts_vgpu_stream *next;
	uint64_t next_ns; /* UINT64_MAX: the time depends on the end of a running kernel */
	bool is_found;
};

/* Free address space, in ascending order. */
struct ts_vgpu_hole {
	uint64_t start, bytes;
	struct ts_vgpu_hole *next;
};

struct ts_vgpu_device {
	struct ts_vgpu *vgpu;
	uint32_t index;
	const struct ts_vgpu_shape *shape; /* points to `own_shape` */
	struct ts_vgpu_shape own_shape;
	struct ts_vgpu_engines engines;
	struct ts_vgpu_context *contexts;

	uint8_t *space;	  /* device addresses: reserved, without access */
	uint8_t *backing; /* the bytes behind them */
	uint64_t space_bytes;
	uint64_t used_bytes;
	struct ts_vgpu_hole *holes;
	struct ts_vgpu_pool *pools;

	/* heap of streams with queued operations, sorted by ready_ns, then by arrival */
	struct ts_vgpu_stream **heap;
	size_t n_heap, heap_capacity;
	size_t n_streams; /* the heap has room for all of them */
	struct ts_vgpu_stream *flight;

	pthread_t workers[TS_VGPU_MAX_WORKERS], host_thread;
	unsigned n_workers, n_workers_parked;
	bool host_started;
	bool host_parked;
	pthread_cond_t worker_cond;
	/* time at which the sleeping leader wakes up by itself; 0: the leader is awake */
	uint64_t sleep_until_ns;
	bool reporting; /* the leader is in the observer */

	bool led; /* one of the workers is the leader */
	/* number of the current lead; a worker that finds another number has lost the lead */
	uint64_t lead;
	/* time since which the leader runs a kernel inside the executor; 0: it runs none */
	uint64_t kernel_since_ns;
	bool has_deputy, deputy_asleep;
	unsigned n_spare;
	pthread_cond_t deputy_cond, spare_cond;
	struct ts_vgpu_kernels kernels;
	bool has_priorities; /* a stream or launch has a priority above the least */

	pthread_cond_t host_cond;
	struct ts_vgpu_stream *host_head, **host_tail;
};

struct ts_vgpu {
	pthread_mutex_t lock;
	uint32_t n_devices;
	bool host_clock;
	bool without_workers;
	struct ts_vgpu_device devices[TS_VGPU_MAX_DEVICES];
	uint32_t next_context_uid;
	uint32_t next_stream_id;
	bool stopping;
	_Atomic bool cancel; /* true if kernels must stop */
	struct ts_vgpu_observer observer;
	struct ts_vgpu_executor executor;
	pthread_cond_t report_cond; /* signals the end of an observer call and a parked worker */

	struct ts_vgpu_op *free_ops;
	void *op_slabs;
	struct ts_vgpu_mark *free_marks;

	struct ts_vgpu_range **ranges; /* ascending start */
	size_t n_ranges, ranges_capacity;
	uint64_t next_range_id;
	struct ts_vgpu_reservation *reservations;
};

#define ts_vgpu_max(a, b)               \
	({                              \
		__typeof__(a) _a = (a); \
		__typeof__(a) _b = (b); \
		_a > _b ? _a : _b;      \
	})

static inline void ts_vgpu_lock(struct ts_vgpu *vgpu)
{
	pthread_mutex_lock(&vgpu->lock);
}

static inline void ts_vgpu_unlock(struct ts_vgpu *vgpu)
{
	pthread_mutex_unlock(&vgpu->lock);
}

/* Delivers output that the executor holds back. The caller holds no lock. */
static inline void ts_vgpu_flush(struct ts_vgpu *vgpu)
{
	if (vgpu->executor.flush)
		vgpu->executor.flush(vgpu->executor.userdata);
}

/* vgpu-clock.c */
int ts_vgpu_cond_init(pthread_cond_t *cond);

/* vgpu-context.c */
/* Returns the context's error in the form in which a call returns it. */
int ts_vgpu_context_fault(const struct ts_vgpu_context *context);

/*
 * cost.c: reserve an engine from ready_ns on and compute start and end of the operation. If the
 * machine uses the host's clock, began_ns is when execution began, and execution has ended before
 * this call.
 */
uint32_t ts_vgpu_cost_multiprocessors(const struct ts_vgpu_device *device,
				      const struct ts_vgpu_done *done);
/*
 * True if a kernel that needs n_sm multiprocessors has room at at_ns. Kernels with an unknown end
 * count as running.
 */
bool ts_vgpu_cost_has_capacity(const struct ts_vgpu_device *device, uint32_t n_sm,
			       uint32_t n_concurrent, uint64_t at_ns);
/* Returns the first known end of a kernel after after_ns; UINT64_MAX: none is known. */
uint64_t ts_vgpu_cost_next_end(const struct ts_vgpu_device *device, uint64_t after_ns);
/* Starts a kernel that has room. Each start needs one matching end. */
void ts_vgpu_cost_kernel_start(struct ts_vgpu_device *device, uint32_t n_sm, uint64_t start_ns);
void ts_vgpu_cost_kernel_end(struct ts_vgpu_device *device, const struct ts_vgpu_done *done,
			     const struct ts_vgpu_kernel_work *work, uint64_t start_ns,
			     uint64_t *ret_end_ns);
uint32_t ts_vgpu_cost_resident(const struct ts_vgpu_device *device,
			       const struct ts_vgpu_done *done);
void ts_vgpu_cost_copy(struct ts_vgpu_device *device, const struct ts_vgpu_done *done,
		       uint64_t n_rows, uint64_t began_ns, uint64_t ready_ns,
		       uint64_t *ret_start_ns, uint64_t *ret_end_ns);
void ts_vgpu_cost_fill(struct ts_vgpu_device *device, const struct ts_vgpu_done *done,
		       uint64_t began_ns, uint64_t ready_ns, uint64_t *ret_start_ns,
		       uint64_t *ret_end_ns);

/* vgpu-kernels.c; all under the lock */
/* Adds the kernel at the stream's head to the waiting kernels. */
void ts_vgpu_kernels_add(struct ts_vgpu_device *device, struct ts_vgpu_stream *stream);
/* Returns the time at which the next waiting kernel starts; UINT64_MAX: unknown. */
uint64_t ts_vgpu_kernels_next(struct ts_vgpu_device *device, uint32_t n_concurrent);
/* Removes that kernel from the waiting kernels, and returns its stream. */
struct ts_vgpu_stream *ts_vgpu_kernels_take(struct ts_vgpu_device *device);

/* Alignment of addresses from cudaMalloc. */
#define TS_VGPU_ALIGN_BYTES 512u
/* Alignment of device-side malloc() (CUDA C++ Programming Guide, malloc() in device code). */
#define TS_VGPU_HEAP_UNIT_BYTES 16u

/* vgpu-pool.c; all under the lock */
/* Returns a block to its pool at once. */
void ts_vgpu_pool_give(struct ts_vgpu_block *block);
/*
 * Queues the return of a block to its pool. Returns NULL if memory is short; the block is then
 * unchanged.
 */
struct ts_vgpu_release *ts_vgpu_pool_free_async(struct ts_vgpu_block *block, uint32_t stream_id,
						uint64_t seq);
/*
 * Returns the blocks of a release to their pool, and frees the release. The caller calls this
 * function when the stream has reached the release.
 */
void ts_vgpu_pool_released(struct ts_vgpu_release *release);
/*
 * Lets all streams use the free blocks, and trims the pools to their thresholds. The caller calls
 * this function after a thread has waited for work of the device.
 */
void ts_vgpu_pools_settle(struct ts_vgpu_device *device);
/* Returns all unused chunks of all pools to the device. */
void ts_vgpu_pools_trim(struct ts_vgpu_device *device);
void ts_vgpu_pools_deinit(struct ts_vgpu_device *device);
/* Returns the number of queued releases. */
uint64_t ts_vgpu_pools_pending(const struct ts_vgpu_device *device);
struct ts_vgpu_device *ts_vgpu_pool_device(const struct ts_vgpu_pool *pool);
/*
 * Takes device memory in whole TS_VGPU_ALIGN_BYTES without making it an allocation. If memory is
 * short, pools first return their unused chunks.
 */
int ts_vgpu_memory_take(struct ts_vgpu_device *device, uint64_t bytes, uint64_t *ret_start);

/* space.c; all under the lock */
uint64_t ts_vgpu_page_up(uint64_t n);
int ts_vgpu_memory_init(struct ts_vgpu_device *device);
void ts_vgpu_memory_deinit(struct ts_vgpu_device *device);
/* Takes the bytes from the first hole that is large enough. */
int ts_vgpu_hole_take(struct ts_vgpu_device *device, uint64_t bytes, uint64_t *ret_start);
/* Removes [start, end) from the holes: the device does not allocate there. */
int ts_vgpu_holes_trim(struct ts_vgpu_device *device, uint64_t start, uint64_t end);
void ts_vgpu_memory_give(struct ts_vgpu_device *device, uint64_t start, uint64_t bytes);

/* ranges.c; all under the lock */
/* Returns the index of the first range that starts after the address; n_ranges: there is none. */
size_t ts_vgpu_range_above(const struct ts_vgpu *vgpu, uint64_t address);
/* Returns the range that contains the address. NULL: there is none. */
struct ts_vgpu_range *ts_vgpu_range_find(struct ts_vgpu *vgpu, uint64_t address);
/* Adds a copy of `model` with a new id. Returns 0 or -ENOMEM. */
int ts_vgpu_range_insert(struct ts_vgpu *vgpu, const struct ts_vgpu_range *model);
/* Removes the range from the table. The caller frees the range. */
void ts_vgpu_range_remove(struct ts_vgpu *vgpu, const struct ts_vgpu_range *range);
/* Removes the range from the table and frees it, but not its memory. */
void ts_vgpu_range_forget(struct ts_vgpu *vgpu, struct ts_vgpu_range *range);
/* True if the address range overlaps a range of the table. */
bool ts_vgpu_is_mapped(const struct ts_vgpu *vgpu, uint64_t address, uint64_t bytes);
/*
 * Returns the number of bytes, from an address on, that one operation may access. Adjacent mappings
 * are included.
 */
uint64_t ts_vgpu_range_reach(const struct ts_vgpu *vgpu, const struct ts_vgpu_range *range,
			     uint64_t address, uint32_t access);

/* release.c; all under the lock */
/*
 * The address of this object is the `user` of a range that ts_vgpu_alloc_at() placed. The bytes of
 * such a range have their own mapping.
 */
extern const char ts_vgpu_placed;
uint64_t ts_vgpu_placed_bytes(const struct ts_vgpu_range *range);
void ts_vgpu_unplace(struct ts_vgpu_device *device, const struct ts_vgpu_range *range);
void ts_vgpu_range_drop(struct ts_vgpu *vgpu, struct ts_vgpu_range *range);
int ts_vgpu_range_release(struct ts_vgpu *vgpu, uint64_t start);
void ts_vgpu_ranges_free_context(struct ts_vgpu_context *context);
void ts_vgpu_ranges_deinit(struct ts_vgpu *vgpu);

struct ts_vgpu_physical {
	struct ts_vgpu_device *device;
	unsigned refs; /* under the lock */
	size_t bytes;
	uint8_t *memory;
};

static inline bool ts_vgpu_is_whole(uint64_t n)
{
	return n && n % TS_VGPU_GRANULE_BYTES == 0;
}

/* physical.c; all under the lock */
/*
 * Returns the backing bytes of an address range inside one reservation; NULL: no reservation
 * contains the range.
 */
uint8_t *ts_vgpu_reserved_at(const struct ts_vgpu *vgpu, uint64_t address, uint64_t bytes);
/* True if the range overlaps a reservation. */
bool ts_vgpu_is_reserved(const struct ts_vgpu *vgpu, uint64_t address, uint64_t bytes);
/* Unmaps the range and drops its reference to the memory. */
void ts_vgpu_range_unmap(struct ts_vgpu *vgpu, struct ts_vgpu_range *range);
void ts_vgpu_reservations_deinit(struct ts_vgpu *vgpu);

/* op.c; all under the lock */
struct ts_vgpu_op *ts_vgpu_op_get(struct ts_vgpu *vgpu);
void ts_vgpu_op_put(struct ts_vgpu *vgpu, struct ts_vgpu_op *op);
struct ts_vgpu_mark *ts_vgpu_mark_get(struct ts_vgpu *vgpu);
void ts_vgpu_mark_unref(struct ts_vgpu *vgpu, struct ts_vgpu_mark *mark);
void ts_vgpu_stream_unref(struct ts_vgpu_stream *stream);

/* vgpu-stream.c; all under the lock */
int ts_vgpu_stream_begin(struct ts_vgpu_stream *stream, struct ts_vgpu_op **ret_op);
void ts_vgpu_stream_push(struct ts_vgpu_stream *stream, struct ts_vgpu_op *op);
int ts_vgpu_stream_wait_seq(struct ts_vgpu_stream *stream, uint64_t seq);
void ts_vgpu_streams_drain(struct ts_vgpu_context *context);
void ts_vgpu_device_drain(struct ts_vgpu_device *device);

/* worker.c; all under the lock */
/*
 * Without workers: runs all operations that are due on each device. If none is due, sleeps briefly.
 */
void ts_vgpu_work(struct ts_vgpu_device *device);
int ts_vgpu_worker_start(struct ts_vgpu_device *device);
int ts_vgpu_host_start(struct ts_vgpu_device *device);
void ts_vgpu_worker_kick(struct ts_vgpu_device *device);
/*
 * Called when a stream has a new head. Computes when the head can run, or the event or stream for
 * which it waits.
 */
void ts_vgpu_head_update(struct ts_vgpu_stream *stream);
