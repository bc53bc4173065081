/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The producer's side of the rings: one shard for each thread that records, claimed at its first record
 * and given up at its end.
 *
 *	struct ts_thread *thread = ts_producer_thread(producer);
 *	struct ts_record_x *x = ts_thread_reserve(thread, TS_RECORD_X, sizeof(*x), clock, time);
 *
 *	if (x) {
 *		x->... = ...;
 *		ts_thread_commit(thread, sizeof(*x));
 *	}
 *
 * Between reserve and commit the thread makes no other record. Nothing here allocates, locks or sleeps once the
 * thread has its shard, but a full ring is waited for, with a bound, under TS_COMMAND_LOSSLESS and by a
 * thread with patience_ns (not one that launches: one that delivers what the GPU did). Every
 * function is for the calling thread only, and none is for signal handlers.
 */
#pragma once

#include <pthread.h>

#include "inject/ring/definitions.h"
#include "proto/abi/ring.h"

/* What the shim does with what it sees. */
enum ts_gate_mode {
	TS_GATE_CLOSED = 0, /* passes everything through */
	TS_GATE_OPEN = 1,   /* records */
	TS_GATE_COUNT = 2,  /* no daemon, and none came for long: counts what it does not record */
};

/*
 * Lies on a page that is wiped in a forked child: there all are 0, so that the child neither touches its
 * parent's rings (which it has not mapped) nor CUPTI.
 */
struct ts_gate {
	uint32_t alive;
	uint32_t mode;	    /* enum ts_gate_mode: what callbacks look at */
	uint32_t recording; /* CUPTI is ours: `mode` follows what the link allows */
	uint32_t rows;	    /* device rows are taken: from the first to after the last flush */
	uint32_t
		annotating; /* there is a session: `annotations` follows what the link allows, CUPTI or not */
	uint32_t annotations; /* enum ts_gate_mode: what marks, ranges and counters look at */
	uint32_t served;      /* a daemon holds the rings: waiting for room may help */
};

/* Work since the last flush. */
enum ts_dirty {
	TS_DIRTY_NOT = 0,
	TS_DIRTY_UNTOLD = 1, /* there is; the flush thread may sleep on */
	TS_DIRTY = 2,	     /* there is, and the flush thread is awake or knows */
};

struct ts_producer {
	const struct ts_gate *gate;
	struct ts_control *control;
	struct ts_definitions *definitions;
	enum ts_clock clock;  /* the session's host clock */
	uint32_t epoch;	      /* of thread-local state; a forked child's session has another */
	uint64_t lossless_ns; /* how long a full ring is waited for under TS_COMMAND_LOSSLESS */
	/* enum ts_dirty. Written only where it changes, for its line is everybody's. */
	uint32_t dirty;
	pthread_key_t key;	/* its destructor gives the shard up */
	pthread_mutex_t lock;	/* of `idle`, and of mapping a shard */
	struct ts_thread *idle; /* of dead threads, to be used again */
	struct ts_thread *all;	/* that there ever were */
	/* Shards that were claimed once, mapped; n_mapped is written with release, and read with acquire. */
	uint32_t n_mapped;
	struct ts_shard *shards[TS_SESSION_MAX_SHARDS];
};

/* A recording thread. Kept by the producer, found through ts_tls. */
struct ts_thread {
	struct ts_ring_producer ring;
	uint64_t bell_at; /* from this head on the doorbell is due */
	struct ts_producer *producer;
	struct ts_thread *next;	    /* while idle */
	struct ts_thread *next_all; /* of all that the producer has */
	struct ts_call *call;	    /* its owner's; NULL while idle. Under the producer's lock */
	uint32_t id;		    /* TS_DEF_THREAD */
	bool stalled;		    /* a wait for room was in vain at this `released` */
	uint64_t stalled_at;
	uint64_t patience_ns; /* how long this thread waits for room even where not lossless */
	struct ts_stack_cache *stacks; /* NULL until its first stack */
	struct ts_string_cache strings;
};

/* Whether a thread is inside the shim's own code: what calls the shim then is the shim's own doing. */
enum ts_busy {
	TS_BUSY_NOT = 0,
	TS_BUSY_IN_CALL = 1, /* on an application's thread, which is not to be kept waiting */
	TS_BUSY_OURS = 2,    /* the thread itself is the shim's */
	TS_BUSY_PROBING = 3, /* and makes a call, see ts_recorder_probe() */
	TS_BUSY_ASKING =
		4, /* on an application's thread, and asks the driver something (capture/) */
};

/* The outermost API call that a thread is in. */
struct ts_call {
	uint64_t enter; /* ticks; 0 where it makes no record */
	uint64_t op_id;
	uint32_t depth; /* 0: in none */
	uint32_t correlation;
	uint32_t nested; /* correlation id of the last nested call, where it differs */
	uint32_t domain;
	uint32_t cbid;
	uint32_t generation; /* of the shim, when it began */
	uint32_t recorded;   /* 1: under way, and makes a record; others look */
	bool left_out;	     /* recording was stopped when it began */
	/* What a nested or outer cuStreamCreate* was asked for, until the stream's own callback comes. */
	uint32_t stream_flags;
	int32_t stream_priority;
};

/*
 * The shim's whole thread-local state. Initial-exec: one addition to find it, and nothing is allocated
 * behind our back as the general model does; it is small, for the room for it is shared with
 * every library that is loaded late.
 */
struct ts_tls {
	struct ts_thread *thread;
	uint32_t epoch;
	uint32_t busy;		  /* enum ts_busy */
	struct ts_ranges *ranges; /* annotation.c's: those that the thread pushed; NULL: none yet */
	uint32_t unclaimed;	  /* records since a shard was last looked for in vain */
	/* Followed while nothing is recorded, too: a recording may begin within it. */
	struct ts_call call;
};
extern __thread struct ts_tls ts_tls __attribute__((tls_model("initial-exec")));

/* The application's own switch, of all its sessions. 1: it wants nothing recorded. */
extern uint32_t ts_producer_stopped;

/* `epoch` must differ from that of every session this process had before, or inherited. */
int ts_producer_init(struct ts_producer *producer, const struct ts_gate *gate,
		     struct ts_control *control, struct ts_definitions *definitions,
		     uint32_t epoch);

/* For tests: gives up what init made. No thread may be recording. */
void ts_producer_deinit(struct ts_producer *producer);

/* Claims a shard. NULL: there is none left; one thing lost was counted (NO_SHARD). */
struct ts_thread *ts_producer_claim(struct ts_producer *producer);

/* Whether a call is under way, in some thread that recorded one before, that makes a record. */
bool ts_producer_is_any_in_call(struct ts_producer *producer);

/* How long that is, unless a test has it otherwise: longer than any debugger's stop that is forgiven. */
#define TS_PRODUCER_LOSSLESS_NS UINT64_C(30000000000)

/*
 * The ring is full. Waits where lossless, as long as there is a daemon to wait for, and records the wait; returns room, or
 * counts and returns NULL.
 */
void *ts_thread_full(struct ts_thread *thread, uint32_t n_bytes);

/* Wakes the daemon, where it sleeps: there is news for it. */
void ts_producer_wake_daemon(struct ts_control *control);

/* The watermark may be passed: wakes the daemon if so, where it sleeps. */
void ts_thread_ring_doorbell(struct ts_thread *thread);

/* The calling thread, ready to record; NULL: see ts_producer_claim(). */
static inline struct ts_thread *ts_producer_thread(struct ts_producer *producer)
{
	if (ts_likely(ts_tls.thread && ts_tls.epoch == producer->epoch))
		return ts_tls.thread;
	return ts_producer_claim(producer);
}

static inline void ts_thread_count(struct ts_thread *thread, enum ts_loss_reason reason, uint64_t n)
{
	uint64_t *lost = &thread->ring.shard->lost[reason];

	/* A single writer; the daemon reads it relaxed. */
	__atomic_store_n(lost, __atomic_load_n(lost, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}

/* Room for a record of n_bytes, its header filled in; NULL: it was counted as lost. */
static inline void *ts_thread_reserve(struct ts_thread *thread, enum ts_record_type type,
				      uint32_t n_bytes, enum ts_clock clock, uint64_t time)
{
	struct ts_record *record = (struct ts_record *)ts_ring_reserve(&thread->ring, n_bytes);

	if (ts_unlikely(!record)) {
		record = (struct ts_record *)ts_thread_full(thread, n_bytes);
		if (!record)
			return NULL;
	}
	record->n_words = (uint16_t)(n_bytes / 8);
	record->n_fixed_words = (uint8_t)(n_bytes / 8);
	record->clock = (uint8_t)clock;
	record->type = (uint16_t)type;
	record->flags = 0;
	record->time = time;
	return record;
}

static inline void ts_thread_commit(struct ts_thread *thread, uint32_t n_bytes)
{
	ts_ring_commit(&thread->ring, n_bytes);
	if (ts_unlikely(thread->ring.head >= thread->bell_at))
		ts_thread_ring_doorbell(thread);
}

/* Ticks of the session's host clock. */
static inline uint64_t ts_producer_ticks(const struct ts_producer *producer)
{
	return ts_clock_ticks(producer->clock);
}
