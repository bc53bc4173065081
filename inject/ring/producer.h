/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer's side of the rings. Each recording thread has one shard. The thread claims its
 * shard at its first record and abandons it at its end.
 *
 * 	struct ts_thread *thread = ts_producer_thread(producer);
 * 	struct ts_record_x *x = ts_thread_reserve(thread, TS_RECORD_X, sizeof(*x), clock, time);
 *
 * 	if (x) {
 * 		x->... = ...;
 * 		ts_thread_commit(thread, sizeof(*x));
 * 	}
 *
 * Between reserve and commit the thread makes no other record. After the claim, nothing here
 * allocates, locks or sleeps, with one exception: a thread waits for room in a full ring, with a
 * bound, under TS_COMMAND_LOSSLESS or if it has patience_ns. A thread with patience_ns delivers
 * device rows; it never launches. Each function is for the calling thread only, and none is for
 * signal handlers.
 */
#pragma once

#include <pthread.h>

#include "inject/ring/definitions.h"
#include "proto/abi/ring.h"

/* Mode of the shim's callbacks. */
enum ts_gate_mode {
	TS_GATE_CLOSED = 0, /* pass all calls through */
	TS_GATE_OPEN = 1,   /* record */
	TS_GATE_COUNT = 2,  /* no daemon for a long time: count the records as lost */
};

/*
 * The gate lies on a page that a fork wipes in the child. All words are 0 there, so the child
 * touches neither its parent's rings (which it has not mapped) nor CUPTI.
 */
struct ts_gate {
	uint32_t alive;
	uint32_t mode;	    /* enum ts_gate_mode, read by callbacks */
	uint32_t recording; /* the shim holds CUPTI, so `mode` is the link's mode */
	uint32_t rows;	    /* device rows are recorded, until after the last flush */
	/* 1: a session exists. The link thread then sets `annotations`, with or without CUPTI. */
	uint32_t annotating;
	uint32_t annotations; /* enum ts_gate_mode, read by marks, ranges and counters */
	uint32_t served;      /* a daemon drains the rings: waiting for room may help */
};

/* Work since the last flush. */
enum ts_dirty {
	TS_DIRTY_NOT = 0,
	TS_DIRTY_UNTOLD = 1, /* there is work; the flush thread may still sleep */
	TS_DIRTY = 2,	     /* there is work; the flush thread is awake or notified */
};

struct ts_producer {
	const struct ts_gate *gate;
	struct ts_control *control;
	struct ts_definitions *definitions;
	enum ts_clock clock;  /* the session's host clock */
	uint32_t epoch;	      /* number of the session, with which thread-local state is marked */
	uint64_t lossless_ns; /* longest wait for room under TS_COMMAND_LOSSLESS */
	/* enum ts_dirty. Written only if it changes, because all threads share its cache line. */
	uint32_t dirty;
	pthread_key_t key;	/* its destructor abandons the shard */
	pthread_mutex_t lock;	/* guards `idle` and the mapping of shards */
	struct ts_thread *idle; /* structs of dead threads, for reuse */
	struct ts_thread *all;	/* structs of all threads, dead ones included */
	/*
	 * Mapped shards, each claimed at least once. n_mapped is written with release and read with
	 * acquire.
	 */
	uint32_t n_mapped;
	struct ts_shard *shards[TS_SESSION_MAX_SHARDS];
};

/* A recording thread. The producer owns it; ts_tls points to it. */
struct ts_thread {
	struct ts_ring_producer ring;
	uint64_t bell_at; /* ring the doorbell when `head` reaches this value */
	struct ts_producer *producer;
	struct ts_thread *next;	    /* in `idle` */
	struct ts_thread *next_all; /* in `all` */
	struct ts_call *call;	    /* owner's call; NULL: idle. Under the producer's lock */
	uint32_t id;		    /* TS_DEF_THREAD */
	bool stalled;		    /* a wait brought no room while `released` was stalled_at */
	uint64_t stalled_at;
	uint64_t patience_ns;	       /* wait for room even if not lossless */
	struct ts_stack_cache *stacks; /* NULL until its first stack */
	struct ts_string_cache strings;
};

/*
 * Whether a thread runs the shim's own code. If it does, a call into the shim comes from the shim
 * itself and is not the application's.
 */
enum ts_busy {
	TS_BUSY_NOT = 0,
	/* the shim runs in a call on an application thread, which must not wait */
	TS_BUSY_IN_CALL = 1,
	TS_BUSY_OURS = 2,    /* the thread belongs to the shim */
	TS_BUSY_PROBING = 3, /* a thread of the shim makes a probe call (ts_recorder_probe()) */
	TS_BUSY_ASKING = 4,  /* the shim queries the driver on an application thread (capture/) */
};

/* The outermost API call that a thread is in. */
struct ts_call {
	uint64_t enter; /* ticks at entry; 0: the call makes no record */
	uint64_t op_id;
	uint32_t depth; /* 0: in no call */
	uint32_t correlation;
	uint32_t nested; /* last nested call's correlation id, if it differs */
	uint32_t domain;
	uint32_t cbid;
	uint32_t generation; /* the shim's generation at enter */
	uint32_t recorded;   /* 1: in progress and makes a record; other threads read it */
	bool left_out;	     /* recording was stopped at enter */
	bool is_usual;	     /* the short way of callbacks.c or hip-calls.c has begun it */
	uint16_t events;     /* HIP: number of the pair of events around the call; 0: none */
	/* Arguments of a nested or outer cuStreamCreate*, kept until the stream's own callback. */
	uint32_t stream_flags;
	int32_t stream_priority;
	const void *frame; /* HIP: an address in the stack frame of the call's wrapper */
};

/*
 * All thread-local state of the shim. Initial-exec: its address costs one addition, and no hidden
 * allocation happens, unlike in the general model. It must stay small, because all libraries that
 * are loaded late share the room for it.
 */
struct ts_tls {
	struct ts_thread *thread;
	uint32_t epoch;
	uint32_t busy;		  /* enum ts_busy */
	struct ts_ranges *ranges; /* the thread's pushed ranges (annotation.c); NULL: none yet */
	uint32_t unclaimed;	  /* records since the last vain search for a shard */
	uint32_t in_roctx;	  /* not 0: an exported function of roctx has recorded the call */
	uint32_t hip_device; /* HIP's ordinal of the device in this thread's last hipSetDevice() */
	/*
	 * The thread's current call. Updated even while nothing is recorded, because a recording
	 * may begin within the call.
	 */
	struct ts_call call;
};
#ifdef TS_CAPTURE_LIBRARY
/*
 * In libtsinject-capture.so: the shim's. Defined in capture-host.c. Each thread keeps the address,
 * because a captured call uses it a dozen times.
 */
extern __thread struct ts_tls *ts_capture_own_tls __attribute__((tls_model("initial-exec")));
struct ts_tls *ts_capture_find_tls(void);
static inline struct ts_tls *ts_capture_tls(void)
{
	return ts_capture_own_tls ? ts_capture_own_tls : ts_capture_find_tls();
}
#define ts_tls (*ts_capture_tls())
#else
extern __thread struct ts_tls ts_tls __attribute__((tls_model("initial-exec")));
#endif

/* 1: the application has stopped the recording, for all its sessions. */
extern uint32_t ts_producer_stopped;

/*
 * Initialises the producer. `epoch` must differ from the epoch of each earlier session of this
 * process, inherited sessions included. Returns 0 or a negative errno.
 */
int ts_producer_init(struct ts_producer *producer, const struct ts_gate *gate,
		     struct ts_control *control, struct ts_definitions *definitions,
		     uint32_t epoch);

/* For tests: frees what ts_producer_init() made. The caller ensures that no thread is recording. */
void ts_producer_deinit(struct ts_producer *producer);

/*
 * Claims a shard for the calling thread. If no shard is free, counts one loss (NO_SHARD) and
 * returns NULL.
 */
struct ts_thread *ts_producer_claim(struct ts_producer *producer);

/* Returns whether any recording thread is inside a call that makes a record. */
bool ts_producer_is_any_in_call(struct ts_producer *producer);

/*
 * Default of lossless_ns. If the daemon stands still for a shorter time, for example in a debugger,
 * no record is lost.
 */
#define TS_PRODUCER_LOSSLESS_NS UINT64_C(30000000000)

/*
 * Handles a full ring. If the session is lossless or the thread has patience_ns, waits for room
 * while a daemon drains the ring. A wait of a lossless session becomes a record in the trace.
 * Returns room for n_bytes. NULL: one record is counted as lost (RING_FULL).
 */
void *ts_thread_full(struct ts_thread *thread, uint32_t n_bytes);

/* Wakes the daemon if it sleeps. */
void ts_producer_wake_daemon(struct ts_control *control);

/* Wakes the daemon if the ring is past the watermark and the daemon sleeps. */
void ts_thread_ring_doorbell(struct ts_thread *thread);

/*
 * Returns the calling thread's struct, which has a shard. NULL: no shard is free, and one loss is
 * counted (ts_producer_claim()).
 */
static inline struct ts_thread *ts_producer_thread(struct ts_producer *producer)
{
	if (ts_likely(ts_tls.thread && ts_tls.epoch == producer->epoch))
		return ts_tls.thread;
	return ts_producer_claim(producer);
}

static inline void ts_thread_count(struct ts_thread *thread, enum ts_loss_reason reason, uint64_t n)
{
	uint64_t *lost = &thread->ring.shard->lost[reason];

	/* Only this thread writes the count; the daemon reads it relaxed. */
	__atomic_store_n(lost, __atomic_load_n(lost, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

/* Returns the first word of a record's header, without flags. */
static inline uint64_t ts_record_word(enum ts_record_type type, uint32_t n_bytes,
				      enum ts_clock clock)
{
	const struct ts_record record = {
		.n_words = (uint16_t)(n_bytes / 8),
		.n_fixed_words = (uint8_t)(n_bytes / 8),
		.clock = (uint8_t)clock,
		.type = (uint16_t)type,
	};
	uint64_t word;

	memcpy(&word, &record, sizeof(word));
	return word;
}

/*
 * Reserves a record of n_bytes and fills its header, which begins with `word`. NULL: the record is
 * counted as lost.
 */
static inline void *ts_thread_reserve_by_word(struct ts_thread *thread, uint64_t word,
					      uint32_t n_bytes, uint64_t time)
{
	struct ts_record *record = (struct ts_record *)ts_ring_reserve(&thread->ring, n_bytes);

	if (ts_unlikely(!record)) {
		record = (struct ts_record *)ts_thread_full(thread, n_bytes);
		if (!record)
			return NULL;
	}
	memcpy(record, &word, sizeof(word));
	record->time = time;
	return record;
}

/* Reserves a record of n_bytes and fills its header. NULL: the record is counted as lost. */
static inline void *ts_thread_reserve(struct ts_thread *thread, enum ts_record_type type,
				      uint32_t n_bytes, enum ts_clock clock, uint64_t time)
{
	return ts_thread_reserve_by_word(thread, ts_record_word(type, n_bytes, clock), n_bytes,
					 time);
}

static inline void ts_thread_commit(struct ts_thread *thread, uint32_t n_bytes)
{
	if (ts_unlikely(ts_ring_commit(&thread->ring, n_bytes) >= thread->bell_at))
		ts_thread_ring_doorbell(thread);
}

/* Returns ticks of the session's host clock. */
static inline uint64_t ts_producer_ticks(const struct ts_producer *producer)
{
	return ts_clock_ticks(producer->clock);
}
