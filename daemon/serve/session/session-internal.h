/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of a session, and the functions that the files of this folder share. session-main.c has
 * the life cycle in the main thread; the other files run in the session's thread.
 */
#pragma once

#include <pthread.h>

#include "daemon/bpf/hub.h"
#include "daemon/ingest/arena.h"
#include "daemon/ingest/drain.h"
#include "daemon/merge/convert-rows.h"
#include "daemon/merge/loss.h"
#include "daemon/serve/session/session-main.h"
#include "daemon/symbol/kernel-facts.h"

struct session_shard {
	uint64_t position;    /* records before this position have rows */
	uint64_t released;    /* records before this position are written */
	uint64_t head;	      /* loaded in this round */
	uint64_t ahead;	      /* bytes before this position were prefetched */
	uint64_t map_to;      /* up to this position, copied pages are mapped for prefetches */
	uint64_t seal_target; /* a requested seal is done when `position` has reached this value */
	bool has_device_rows;
	bool bad; /* the producer of this shard wrote malformed data */
	struct ts_loss_seen lost;
};

/* The lane: capture level `replay`. */
struct session_lane {
	uint64_t position, released, head; /* as in session_shard */
	/* number of received blobs; all of them are in the trace */
	uint32_t n_blobs;
	uint64_t sequence;	/* sequence number of the last operation */
	uint32_t n_unsupported; /* unsupported operations; any thread reads */
	bool closed;		/* no more records are drained */
	bool ended;		/* the capture has ended: later records are ignored */
};

/* The types from 1 (TS_RECORD_API) to 5 (TS_RECORD_SYNC). */
#define SESSION_BATCHES	   6u
#define SESSION_BATCH_ROWS 64u

/* Rows of these types that are in no block yet. */
struct session_batches {
	uint32_t n_all;
	uint32_t n[SESSION_BATCHES]; /* by type */
	struct ts_row_api api[SESSION_BATCH_ROWS];
	struct ts_row_kernel kernel[SESSION_BATCH_ROWS];
	struct ts_row_memcpy memcpy_[SESSION_BATCH_ROWS];
	struct ts_row_memset memset_[SESSION_BATCH_ROWS];
	struct ts_row_sync sync[SESSION_BATCH_ROWS];
};

struct ts_session {
	struct ts_recording *recording;
	struct ts_memory memory;
	struct ts_session_options options;
	pthread_t thread;
	bool started;
	uint32_t number;
	uint64_t start_ns;

	/* Written by the main thread with release, read by the session's thread with acquire. */
	uint32_t end_wanted;	  /* enum ts_session_end */
	uint64_t end_deadline_ns; /* 0: none */
	bool hand_over;		  /* also cleared by the session's thread */
	uint64_t seal_wanted;
	uint32_t flush_wanted_ms;
	/* Written by the session's thread with release, read by the main thread with acquire. */
	uint64_t seals_done;
	uint32_t ended; /* enum ts_session_end; written last */
	/* Relaxed: any thread may read these for a status. */
	uint64_t counts[TS_ROW_EVENT_END];
	uint64_t lost[TS_LOSS_COUNT];
	uint64_t n_own_rows;	  /* marks and counters of TS_OWN_DOMAIN */
	uint64_t unwritten_bytes; /* unwritten bytes in all rings, at the last round */

	/* Used only by the session's thread. */
	struct ts_sbt_session_writer *writer;
	struct ts_row_session row;
	struct ts_drain drain;
	struct ts_arena_reader arena;
	struct ts_kernel_facts *kernel_facts; /* NULL: the session has no definition of code */
	bool code_reported;		      /* the file has the reason for an unread code */
	struct ts_clock_table host_clock;
	struct ts_clock_table cupti_clock;
	struct ts_halves *halves;
	struct ts_rows rows;
	struct session_shard *shards;
	struct session_batches batches;
	struct session_lane lane;
	struct ts_loss_seen lost_control;
	uint64_t *checkpoint; /* session_checkpoint, then one position per shard */
	uint32_t n_claimed;
	bool dirty;	   /* there is something to write */
	uint64_t dirty_ns; /* when dirty became true */
	uint64_t loss_ns;  /* last check of the loss counters */
	uint64_t file_ns;  /* last check of the file */
	/* operations without one half that are already in written loss rows */
	uint64_t unjoined_api;
	uint64_t unjoined_device;
	uint64_t bad_definitions;
	uint64_t definition_bytes; /* charged to the recording */
	uint64_t memory_bytes;	   /* charged to the user */
	uint64_t mapped_bytes;	   /* of rings */
	uint64_t rest_ns;	   /* time of the last ts_session_rest() */
	uint64_t drained_bytes;	   /* since rest_ns */
	/*
	 * The session's memory exceeds its limits, so the session ends. While it drains its last
	 * records, it writes each chunk at once.
	 */
	bool starved;
	uint64_t dropped_definitions;
	bool yielded; /* the application's own profiler has CUPTI */
	/* The definition arena is malformed: definitions before the malformed one stay known. */
	bool arena_bad;
	/* the last drain is in progress, which continues after errors */
	bool ending;
	struct ts_clock_pair last_pair; /* of the host clock */
	struct ts_clock_pair last_realtime;
	bool last_pair_stored;
	uint64_t stored_ns;
	/*
	 * Ticket of the seal that waits for the process's flush, at most until flush_deadline_ns.
	 */
	uint64_t seal_serving;
	bool seal_targets_set;
	uint64_t flush_deadline_ns;
	uint32_t flush_number;
	bool flush_waiting;
	struct ts_session_kernel *kernel; /* NULL: no kernel events */
	uint64_t n_kernel_counters;	  /* counter rows of the kernel */
	uint32_t own_domain;		  /* string id of TS_OWN_DOMAIN; 0: not needed so far */
	/* Error of the file, because of which this session ends; 0: none. */
	int write_error;
	/* The file has no more room for this session, except for its end. */
	bool full;
	/* the part of `lost` that is already in written loss rows */
	uint64_t lost_written[TS_LOSS_COUNT];
	const char *why; /* BAD_DATA: the rule that the peer broke */
};

/* Returns the ring of a shard. */
static inline struct ts_drain_ring ts_session_ring(const struct ts_session *s, uint32_t i)
{
	return (struct ts_drain_ring){
		.fd = s->memory.fd,
		.off = ts_memory_ring_off(&s->memory, i),
		.n_bytes = s->memory.ring_bytes,
		.mapped = (const uint8_t *)(ts_memory_shard(&s->memory, i) + 1),
	};
}

/*
 * Returns the bytes that a round reads of each ring: few, so that no other ring fills meanwhile. If
 * a ring has more, the next round follows at once.
 */
static inline uint64_t ts_session_round_bytes(const struct ts_session *s)
{
	return s->memory.ring_bytes / 8;
}

/* Runs the session's thread. The argument is the session. */
void *ts_session_thread(void *session);

/* Functions that return int return 0, a negative errno, SESSION_E_BAD_PEER or SESSION_E_FULL. */

#define MS_NS UINT64_C(1000000)

/* Pending bytes above this force a write. */
#define SESSION_PENDING_BYTES (UINT64_C(16) << 20)

/*
 * session-memory.c: memory of the session, charged to its user. ts_session_memory_begin() makes the
 * first charge, before the session allocates anything. -ENOMEM: the user's account has no room for
 * a session.
 */
int ts_session_memory_begin(struct ts_session *s);
void ts_session_memory_end(struct ts_session *s);
/*
 * Charges n_bytes that the session is about to allocate. False: the session must not allocate them.
 */
bool ts_session_grant(struct ts_session *s, uint64_t n_bytes);
/*
 * Charges the memory that the session uses now. If the account refuses the charge, the session
 * writes its rows, frees memory and tries again.
 */
int ts_session_account(struct ts_session *s);
/* Frees memory that an idle session does not need. */
void ts_session_rest(struct ts_session *s);

#define SESSION_E_FULL	   2 /* the file is at its limit, or the disk is full */
#define SESSION_E_BAD_PEER 1 /* session->why has the reason; only this session ends */

/*
 * session-write.c: writing, called by all other files. ts_session_bad() sets the reason and returns
 * SESSION_E_BAD_PEER.
 */
int ts_session_bad(struct ts_session *s, const char *why);
/*
 * Converts an error of the writer. The cause is the file, never the peer. Returns SESSION_E_FULL or
 * a negative errno.
 */
int ts_session_write_failed(struct ts_session *s, int r);
/* Notes that the session has something to write, so that a write follows within seal_age_ms. */
void ts_session_dirty(struct ts_session *s);
/* Writes the gathered rows, then releases their ring space. */
int ts_session_write(struct ts_session *s);
int ts_session_add_row(struct ts_session *s, unsigned type, const void *row);
int ts_session_lose(struct ts_session *s, enum ts_loss_reason reason, uint64_t count,
		    uint64_t from_ns);
void ts_session_count_lost(struct ts_session *s, unsigned reason, uint64_t count);
void ts_session_count_row(struct ts_session *s, unsigned type);
void ts_session_count_rows(struct ts_session *s, unsigned type, uint64_t n);
int ts_session_add_loss(struct ts_session *s, const struct ts_row_loss *row);
/* Releases all drained ring space without a write. Used if only padding was drained. */
void ts_session_release(struct ts_session *s);
/* Charges a definition of n_bytes. False: the definition stays unknown and is counted as lost. */
bool ts_session_charge(struct ts_session *s, uint64_t n_bytes);
/* Frees buffers that hold no rows. */
void ts_session_trim(struct ts_session *s);
/* Charges the memory that the file's writer uses now; most of it is the index. */
int ts_session_account_file(struct ts_session *s);

/*
 * session-round.c: drains the rings. ts_session_round() drains each shard once. *ret_n_most: the
 * largest number of bytes that waited in one shard.
 */
int ts_session_round(struct ts_session *s, uint64_t *ret_n_most);
/* Sleeps until the doorbell differs from `seen`, for at most ms. */
void ts_session_sleep(struct ts_session *s, uint32_t seen, uint64_t ms);
void ts_session_ask_flush(struct ts_session *s, uint32_t wait_ms);
/*
 * True if no flush is pending, that is, if the process has flushed, cannot flush, or the wait is
 * over.
 */
bool ts_session_flushed(struct ts_session *s);
int ts_session_look_for_losses(struct ts_session *s);

/*
 * session-records.c: makes rows of the records in n_bytes bytes of s->drain, from *off on; the
 * buffer's first byte has the position `begin` in the shard's ring. *off is then the end of the
 * last whole record. After an error the rows that are in no block are forgotten; their records are
 * still in the ring.
 */
int ts_session_take_records(struct ts_session *s, struct session_shard *shard,
			    const struct ts_drain_ring *ring, uint64_t begin, size_t n_bytes,
			    size_t *off);
/* Wakes the main thread through options.notify_fd. */
void ts_session_notify(struct ts_session *s);

/*
 * session-end.c: drains, writes and closes the session. r is the result of the last round. Returns
 * how the session ended.
 */
enum ts_session_end ts_session_finish(struct ts_session *s, int r, enum ts_session_end how);

/* session-definitions.c: reads new definitions of the arena. */
int ts_session_read_arena(struct ts_session *s);
/*
 * Fills the numbers that a kernel's row gets from its device code. A code's first kernel may wait
 * for a worker.
 */
int ts_session_fill_kernel(struct ts_session *s, uint32_t function, struct ts_row_kernel *row);

/*
 * session-lane.c: copies the lane, the ring of a capture, to the trace. _begin() runs once. In each
 * round, _load() reads the lane's head, and later _drain() copies the bytes up to this head.
 */
int ts_session_lane_begin(struct ts_session *s);
int ts_session_lane_load(struct ts_session *s);
int ts_session_lane_drain(struct ts_session *s);
/* Returns the number of bytes that wait in the lane. */
uint64_t ts_session_lane_waiting(const struct ts_session *s);
/* At the session's end: records why the capture ended, if the process did not record a reason. */
int ts_session_lane_end(struct ts_session *s);
/*
 * Returns the reason for which the process has stopped capturing; NULL if it still captures. Any
 * thread may call this function.
 */
const char *ts_session_lane_why(const struct ts_session *s);

/*
 * session-kernel.c: kernel events. The main thread calls _begin(), the session's thread calls
 * _round().
 */
int ts_session_kernel_begin(struct ts_session *s);
int ts_session_kernel_round(struct ts_session *s);
/* Returns the bytes of memory that the session uses for kernel events and samples. */
uint64_t ts_session_kernel_memory(const struct ts_session *s);
/* True if the last round had kernel events. */
bool ts_session_kernel_flows(const struct ts_session *s);
/* session-kernel-threads.c: threads of kernel events. Adds a thread that the process defined. */
void ts_session_kernel_thread(struct ts_session *s, uint32_t tid, uint32_t id);
/* Return the session's id of an event's thread, and of a name. A new thread or name is added. */
int ts_session_kernel_thread_of(struct ts_session *s, const struct ts_bpf_event *event,
				uint32_t *ret_id);
int ts_session_kernel_name(struct ts_session *s, const char *text, size_t n_text, uint32_t *ret_id);
/* session-kernel.c: the end. */
int ts_session_kernel_end(struct ts_session *s);
void ts_session_kernel_deinit(struct ts_session *s);

/*
 * session-samples.c: CPU samples of host threads, called by session-kernel.c. period_ns 0 is the
 * default period. All functions but _new accept NULL samples.
 */
struct ts_session_samples;
int ts_session_samples_new(const struct ts_kernel_process *process, uint64_t period_ns,
			   struct ts_session_samples **ret_samples);
void ts_session_samples_free(struct ts_session_samples *samples);
void ts_session_samples_enable(struct ts_session_samples *samples, bool on);
int ts_session_samples_round(struct ts_session *s, struct ts_session_samples *samples);
/* Reads the sampler's remaining messages, for a bounded time. */
int ts_session_samples_end(struct ts_session *s, struct ts_session_samples *samples);
uint64_t ts_session_samples_memory(const struct ts_session_samples *samples);
