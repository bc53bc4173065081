/* SPDX-License-Identifier: Apache-2.0 */
/* What the device's own files share: its objects and the scheduler's state. Everything mutable is under ts_vgpu.lock. */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "replay/streams/streams.h"
#include "replay/vgpu/vgpu.h"

/* Parameters that fit here need no allocation of their own. */
#define TS_VGPU_INLINE_PARAMS 128

/* Ids that NVIDIA's tools show: 7 for the default stream, 13 for the first that a program makes. */
#define TS_VGPU_FIRST_STREAM_ID	 7
#define TS_VGPU_SECOND_STREAM_ID 13

/*
 * One record of an event: a point in a stream's work. Refers to the record, not to the event, because waits and
 * queries mean the latest record as of the call.
 */
struct ts_vgpu_mark {
	unsigned refs;
	bool scheduled; /* time_ns is known */
	bool done;
	uint64_t time_ns;
	uint64_t seq;
	struct ts_vgpu_device *device;
	uint32_t stream_id;
	struct ts_vgpu_stream *stream;	/* NULL once it is done */
	struct ts_vgpu_stream *waiters; /* streams whose head waits for this, by next_waiter */
};

struct ts_vgpu_event {
	struct ts_vgpu *vgpu;
	struct ts_vgpu_mark *mark;
	uint64_t version;
};

struct ts_vgpu_op {
	struct ts_vgpu_op *next;
	struct ts_vgpu_stream *stream;
	uint64_t seq;	/* within its stream, from 1 */
	uint64_t order; /* within its context: the legacy default stream's rule goes by it */
	uint64_t ready_ns;
	int priority; /* kernels; lower is more urgent */
	bool reported_started;
	struct ts_vgpu_done done;
	union {
		struct {
			void *large; /* parameters past TS_VGPU_INLINE_PARAMS */
			size_t params_bytes;
			uint8_t params[TS_VGPU_INLINE_PARAMS];
			uint32_t n_sm; /* multiprocessors that it takes */
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
			struct ts_vgpu_release *of_pool; /* NULL: of no pool */
		} release;
	} u;
};

enum ts_vgpu_stream_state {
	TS_VGPU_STREAM_IDLE,	       /* nothing undispatched */
	TS_VGPU_STREAM_READY,	       /* in the device's heap */
	TS_VGPU_STREAM_BLOCKED_MARK,   /* head waits for a record that is not scheduled */
	TS_VGPU_STREAM_BLOCKED_LEGACY, /* head waits by the legacy default stream's rule */
	TS_VGPU_STREAM_HELD,	       /* head is a kernel that is ready and waits for room */
	TS_VGPU_STREAM_RUNNING,	       /* head is being carried out */
};

#define TS_VGPU_MAX_BEHIND 8u

struct ts_vgpu_stream {
	struct ts_vgpu_context *context;
	struct ts_vgpu_device *device;
	uint32_t id;
	uint32_t flags;
	int priority;
	unsigned refs; /* owner, work, marks, waiting threads */
	struct ts_stream_kind kind;
	bool owned; /* by whoever made it */
	enum ts_vgpu_stream_state state;

	struct ts_vgpu_op *head, *tail;		      /* queued */
	struct ts_vgpu_op *flight_head, *flight_tail; /* dispatched, end not passed */
	uint64_t n_queued, n_retired;
	uint64_t last_end_ns;

	unsigned n_waiters; /* threads in cond */
	bool polled;	    /* somebody asked: retire promptly */
	pthread_cond_t cond;

	/* Operations of others that what it does next comes behind, by events: the latest of some streams. */
	struct {
		uint32_t stream_id;
		uint64_t seq;
	} behind[TS_VGPU_MAX_BEHIND];
	unsigned next_behind;

	struct ts_vgpu_stream *next_waiter;
	struct ts_vgpu_stream *next, **prev;	       /* the context's */
	struct ts_vgpu_stream *busy_next, **busy_prev; /* the context's, until all is retired */
	struct ts_vgpu_stream *flight_next,
		**flight_prev;		  /* the device's, while anything is in flight */
	struct ts_vgpu_stream *host_next; /* the host-function thread's queue */
	struct ts_vgpu_stream *held_child, *held_next; /* in one of the device's ts_vgpu_kernels */
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
	struct ts_vgpu_stream *streams; /* all, the legacy one included */
	struct ts_vgpu_stream *busy;	/* those of them that have something not retired */
	uint64_t n_blocking_queued; /* operations queued in blocking streams but the legacy one */
	uint64_t blocking_end_ns;   /* latest end dispatched in those */
	unsigned n_legacy_blocked;  /* streams in BLOCKED_LEGACY but the legacy one */
	unsigned pins; /* threads that walk the device's contexts and are at this one */
	struct ts_vgpu_context *next, **prev;
};

/* A kernel that holds multiprocessors until end_ns. */
struct ts_vgpu_resident {
	uint64_t end_ns;
	uint32_t n_sm;
};

#define TS_VGPU_MAX_RESIDENT 128
#define TS_VGPU_MAX_ENGINES  8
/* One for each kernel that may be inside the executor, one that leads meanwhile, one to take over from it. */
#define TS_VGPU_MAX_WORKERS (TS_VGPU_MAX_CONCURRENT + 2)

struct ts_vgpu_engines {
	struct ts_vgpu_resident resident[TS_VGPU_MAX_RESIDENT]; /* ascending end */
	uint32_t n_resident;
	uint32_t sm_used;
	uint32_t n_running; /* being computed: their ends are not known yet */
	uint32_t sm_running;
	uint64_t last_kernel_start_ns;
	uint64_t h2d_free_ns[TS_VGPU_MAX_ENGINES];
	uint64_t d2h_free_ns[TS_VGPU_MAX_ENGINES];
	uint64_t d2d_free_ns;
	uint64_t peer_free_ns;
};

/*
 * Kernels that are ready (vgpu-kernels.c): a pairing heap of streams for each priority, the greatest first; and, while it is_found,
 * which kernel starts next.
 */
struct ts_vgpu_kernels {
	struct ts_vgpu_stream *first[TS_VGPU_PRIORITY_LEAST - TS_VGPU_PRIORITY_GREATEST + 1];
	struct ts_vgpu_stream *next;
	uint64_t next_ns; /* UINT64_MAX: that depends on when one ends that is being computed */
	bool is_found;
};

/* Free address space, ascending. */
struct ts_vgpu_hole {
	uint64_t start, bytes;
	struct ts_vgpu_hole *next;
};

struct ts_vgpu_device {
	struct ts_vgpu *vgpu;
	uint32_t index;
	const struct ts_vgpu_shape *shape; /* `own_shape` */
	struct ts_vgpu_shape own_shape;
	struct ts_vgpu_engines engines;
	struct ts_vgpu_context *contexts;

	uint8_t *space;	  /* device addresses: reserved, never accessible */
	uint8_t *backing; /* the bytes behind them */
	uint64_t space_bytes;
	uint64_t used_bytes;
	struct ts_vgpu_hole *holes;
	struct ts_vgpu_pool *pools;

	struct ts_vgpu_stream **heap; /* by ready_ns, then order of arrival */
	size_t n_heap, heap_capacity;
	size_t n_streams; /* the heap has room for all of them */
	struct ts_vgpu_stream *flight;

	pthread_t workers[TS_VGPU_MAX_WORKERS], host_thread;
	unsigned n_workers, n_workers_parked;
	bool host_started;
	bool host_parked;
	pthread_cond_t worker_cond;
	uint64_t sleep_until_ns; /* when the leader wakes by itself; 0 while it is awake */
	bool reporting;		 /* the leader is in the observer */

	bool led;      /* one of the workers leads */
	uint64_t lead; /* which lead this is: one who finds another number has lost his */
	uint64_t kernel_since_ns; /* the leader is inside the executor; 0: it is not */
	bool has_deputy, deputy_asleep;
	unsigned n_spare;
	pthread_cond_t deputy_cond, spare_cond;
	struct ts_vgpu_kernels kernels;
	bool has_priorities; /* some stream or launch had another one than the least */

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
	_Atomic bool cancel; /* stopping, for kernels */
	struct ts_vgpu_observer observer;
	struct ts_vgpu_executor executor;
	pthread_cond_t report_cond; /* an observer's call has ended; a worker has parked */

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

/* What the executor holds back until somebody waits. No lock is held. */
static inline void ts_vgpu_flush(struct ts_vgpu *vgpu)
{
	if (vgpu->executor.flush)
		vgpu->executor.flush(vgpu->executor.userdata);
}

/* vgpu-clock.c */
int ts_vgpu_cond_init(pthread_cond_t *cond);

/* vgpu-context.c */
/* The context's error as a call answers it. */
int ts_vgpu_context_fault(const struct ts_vgpu_context *context);

/*
 * cost.c: reserve an engine from ready_ns on and answer when the operation runs. began_ns: when carrying it out began, the
 * clock being the host's, where it has ended by now.
 */
uint32_t ts_vgpu_cost_multiprocessors(const struct ts_vgpu_device *device,
				      const struct ts_vgpu_done *done);
/* Whether a kernel that takes so many has room beside those that run then, and those whose end is not known yet. */
bool ts_vgpu_cost_has_capacity(const struct ts_vgpu_device *device, uint32_t n_sm,
			       uint32_t n_concurrent, uint64_t at_ns);
/* The first end of a kernel after an instant, of those that are known; UINT64_MAX: none is. */
uint64_t ts_vgpu_cost_next_end(const struct ts_vgpu_device *device, uint64_t after_ns);
/* A kernel starts, where it has room. Every start has its end. */
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

/*
 * vgpu-kernels.c; all under the lock. The stream's head joins those that wait; when the next one starts, UINT64_MAX where that is not known;
 * that one, which waits no more.
 */
void ts_vgpu_kernels_add(struct ts_vgpu_device *device, struct ts_vgpu_stream *stream);
uint64_t ts_vgpu_kernels_next(struct ts_vgpu_device *device, uint32_t n_concurrent);
struct ts_vgpu_stream *ts_vgpu_kernels_take(struct ts_vgpu_device *device);

/* What cudaMalloc's addresses are multiples of. */
#define TS_VGPU_ALIGN_BYTES 512u
/* The alignment of what kernels allocate (CUDA C++ Programming Guide, malloc() in device code). */
#define TS_VGPU_HEAP_UNIT_BYTES 16u

/*
 * vgpu-pool.c; all under the lock. What a range is of comes back at once, is queued to come back, has come to its release; somebody has waited; all that is
 * not used goes back to the device.
 */
void ts_vgpu_pool_give(struct ts_vgpu_block *block);
/* NULL: no memory, and nothing was done. */
struct ts_vgpu_release *ts_vgpu_pool_free_async(struct ts_vgpu_block *block, uint32_t stream_id,
						uint64_t seq);
void ts_vgpu_pool_released(struct ts_vgpu_release *release);
void ts_vgpu_pools_settle(struct ts_vgpu_device *device);
void ts_vgpu_pools_trim(struct ts_vgpu_device *device);
void ts_vgpu_pools_deinit(struct ts_vgpu_device *device);
/* Releases that are queued. */
uint64_t ts_vgpu_pools_pending(const struct ts_vgpu_device *device);
struct ts_vgpu_device *ts_vgpu_pool_device(const struct ts_vgpu_pool *pool);
/* A stretch of a device's memory, by whole TS_VGPU_ALIGN_BYTES, that is no allocation itself; pools give back what they do not use for it. */
int ts_vgpu_memory_take(struct ts_vgpu_device *device, uint64_t bytes, uint64_t *ret_start);

/* space.c; all under the lock */
uint64_t ts_vgpu_page_up(uint64_t n);
int ts_vgpu_memory_init(struct ts_vgpu_device *device);
void ts_vgpu_memory_deinit(struct ts_vgpu_device *device);
/* The first hole that has so many bytes gives them. */
int ts_vgpu_hole_take(struct ts_vgpu_device *device, uint64_t bytes, uint64_t *ret_start);
/* Nothing of [start, end) is given out any more by the device itself. */
int ts_vgpu_holes_trim(struct ts_vgpu_device *device, uint64_t start, uint64_t end);
void ts_vgpu_memory_give(struct ts_vgpu_device *device, uint64_t start, uint64_t bytes);

/* ranges.c; all under the lock */
/* The range's place in the table, and adding one. */
size_t ts_vgpu_range_above(const struct ts_vgpu *vgpu, uint64_t address);
struct ts_vgpu_range *ts_vgpu_range_find(struct ts_vgpu *vgpu, uint64_t address);
int ts_vgpu_range_insert(struct ts_vgpu *vgpu, const struct ts_vgpu_range *model);
/* The range is out of the table; it is none any more, and what lay there is not given back. */
void ts_vgpu_range_remove(struct ts_vgpu *vgpu, const struct ts_vgpu_range *range);
void ts_vgpu_range_forget(struct ts_vgpu *vgpu, struct ts_vgpu_range *range);
/* Whether anything is mapped in a stretch. */
bool ts_vgpu_is_mapped(const struct ts_vgpu *vgpu, uint64_t address, uint64_t bytes);
/* How many bytes from an address on may be reached in one go, neighbouring mappings included. */
uint64_t ts_vgpu_range_reach(const struct ts_vgpu *vgpu, const struct ts_vgpu_range *range,
			     uint64_t address, uint32_t access);

/* release.c; all under the lock */
/* The user of what has an address of its caller's: its bytes are a mapping of their own. */
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
/* Where the bytes of a stretch that one reservation holds lie; NULL: none holds it. */
uint8_t *ts_vgpu_reserved_at(const struct ts_vgpu *vgpu, uint64_t address, uint64_t bytes);
/* Whether a stretch touches addresses that are reserved. */
bool ts_vgpu_is_reserved(const struct ts_vgpu *vgpu, uint64_t address, uint64_t bytes);
/* What is behind a mapping goes with it. */
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
/* Without workers: does what can be done on every device, or naps a little where that is nothing. */
void ts_vgpu_work(struct ts_vgpu_device *device);
int ts_vgpu_worker_start(struct ts_vgpu_device *device);
int ts_vgpu_host_start(struct ts_vgpu_device *device);
void ts_vgpu_worker_kick(struct ts_vgpu_device *device);
/* The stream has a new head: find out when it can run, or what it waits for. */
void ts_vgpu_head_update(struct ts_vgpu_stream *stream);
