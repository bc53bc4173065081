/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session, as session-main.c (life cycle, main thread) and the files of the session's thread share it.
 */
#pragma once

#include <pthread.h>

#include "daemon/bpf/hub.h"
#include "daemon/ingest/arena.h"
#include "daemon/ingest/drain.h"
#include "daemon/merge/convert-rows.h"
#include "daemon/merge/loss.h"
#include "daemon/serve/session/session-main.h"

struct session_shard {
	uint64_t position;    /* rows are made up to here */
	uint64_t released;    /* and written up to here */
	uint64_t head;	      /* as loaded in this round */
	uint64_t seal_target; /* to be reached before a seal that was asked for is done */
	bool has_device_rows;
	bool bad; /* broke the rules */
	struct ts_loss_seen lost;
};

/* Capture level `replay`. */
struct session_lane {
	uint64_t position, released, head; /* as a shard's */
	uint32_t n_blobs;		   /* that came, and are in the trace */
	uint64_t sequence;		   /* of the last operation */
	uint32_t n_unsupported;		   /* of them; any thread */
	bool closed;			   /* nothing more is taken from it */
	bool ended;			   /* the trace says why there is no more */
};

struct ts_session {
	struct ts_recording *recording;
	struct ts_memory memory;
	struct ts_session_options options;
	pthread_t thread;
	bool started;
	uint32_t number;
	uint64_t start_ns;

	/* The main thread asks; release there, acquire in the thread. */
	uint32_t end_wanted;	  /* enum ts_session_end */
	uint64_t end_deadline_ns; /* 0: none */
	uint64_t seal_wanted;
	uint32_t flush_wanted_ms;
	/* The thread answers; release there, acquire in the main thread. */
	uint64_t seals_done;
	uint32_t ended; /* enum ts_session_end; after everything else */
	/* Relaxed: for a look from outside. */
	uint64_t counts[TS_ROW_EVENT_END];
	uint64_t lost[TS_LOSS_COUNT];
	uint64_t n_own_rows;	  /* marks and counters: the shim's own */
	uint64_t unwritten_bytes; /* in the rings, as of the last look */

	/* The thread's own. */
	struct ts_sbt_session_writer *writer;
	struct ts_row_session row;
	struct ts_drain drain;
	struct ts_arena_reader arena;
	struct ts_clock_table host_clock;
	struct ts_clock_table cupti_clock;
	struct ts_halves *halves;
	struct ts_rows rows;
	struct session_shard *shards;
	struct session_lane lane;
	struct ts_loss_seen lost_control;
	uint64_t *checkpoint; /* session_checkpoint, then a position for each shard */
	uint32_t n_claimed;
	bool dirty;	       /* something is to be written */
	uint64_t dirty_ns;     /* since when */
	uint64_t loss_ns;      /* last look at the counters */
	uint64_t file_ns;      /* last look at the file */
	uint64_t unjoined_api; /* already written as rows */
	uint64_t unjoined_device;
	uint64_t bad_definitions;
	uint64_t definition_bytes; /* charged to the recording */
	uint64_t memory_bytes;	   /* charged to the user */
	uint64_t rest_ns;	   /* of the last look at what could be given back */
	uint64_t drained_bytes;	   /* since then */
	bool starved; /* it has no more memory: it ends, and writes everything at once */
	uint64_t dropped_definitions;
	bool yielded;			/* CUPTI is the application's own profiler's */
	bool arena_bad;			/* broke the rules: what it held is known up to there */
	bool ending;			/* all that is to come is drained, whatever else is wrong */
	struct ts_clock_pair last_pair; /* of the host clock */
	struct ts_clock_pair last_realtime;
	bool last_pair_stored;
	uint64_t stored_ns;
	uint64_t seal_serving; /* the ticket that waits for flush_deadline_ns or the flush */
	bool seal_targets_set;
	uint64_t flush_deadline_ns;
	uint32_t flush_number;
	bool flush_waiting;
	struct ts_session_kernel *kernel; /* NULL: no kernel events */
	uint64_t n_kernel_counters;	  /* of the counter rows */
	uint32_t own_domain;		  /* the string; 0: not needed so far */
	int write_error;		  /* the file's: this session cannot go on */
	bool full; /* the file takes nothing of this session any more but its end */
	uint64_t lost_written[TS_LOSS_COUNT]; /* of `lost`: in the file */
	const char *why;		      /* BAD_DATA: what it did */
};

/* The thread's function. Its argument is the session. */
void *ts_session_thread(void *session);

/* Between the thread's files. All return 0, a negative errno, or SESSION_E_BAD_PEER. */

#define MS_NS UINT64_C(1000000)

/* Written then at the latest, whatever it is. */
#define SESSION_PENDING_BYTES (UINT64_C(16) << 20)

/*
 * Memory: session-memory.c. The session's memory is charged to its user. The first charge, before anything is allocated. 0, or
 * -ENOMEM: the user has no room for a session.
 */
int ts_session_memory_begin(struct ts_session *s);
void ts_session_memory_end(struct ts_session *s);
/* Charges n_bytes that the session is about to allocate. False: it may not. */
bool ts_session_grant(struct ts_session *s, uint64_t n_bytes);
/* Charges the present memory. Over the share the session writes its rows, gives memory back and tries again. */
int ts_session_account(struct ts_session *s);
/* Gives back what an idle session needs no more. */
void ts_session_rest(struct ts_session *s);

#define SESSION_E_FULL	   2 /* the file has come to its limit, or the disk to its end */
#define SESSION_E_BAD_PEER 1 /* why says what it did: it alone is dropped */

/* session-write.c: writes for all other files. */
int ts_session_bad(struct ts_session *s, const char *why);
/* The writer's failures are the file's: none of them is the peer's doing. SESSION_E_FULL, or a negative errno. */
int ts_session_write_failed(struct ts_session *s, int r);
/* Something came that is to be written in time. */
void ts_session_dirty(struct ts_session *s);
/* Writes what was gathered, then gives its space in the rings back. */
int ts_session_write(struct ts_session *s);
int ts_session_add_row(struct ts_session *s, unsigned type, const void *row);
int ts_session_lose(struct ts_session *s, enum ts_loss_reason reason, uint64_t count,
		    uint64_t from_ns);
void ts_session_count_lost(struct ts_session *s, unsigned reason, uint64_t count);
void ts_session_count_row(struct ts_session *s, unsigned type);
int ts_session_add_loss(struct ts_session *s, const struct ts_row_loss *row);
/* Gives back what was taken and needs no writing: padding. */
void ts_session_release(struct ts_session *s);
/* Whether a definition of so many bytes may be kept. One that may not stays unknown, and is counted. */
bool ts_session_charge(struct ts_session *s, uint64_t n_bytes);
/* Frees memory without rows. */
void ts_session_trim(struct ts_session *s);
/* Charges the present memory of the file's writer: most of it is the index. */
int ts_session_account_file(struct ts_session *s);

/* The work: session-round.c. One look at everything. *ret_n_most: the most that one shard had waiting. */
int ts_session_round(struct ts_session *s, uint64_t *ret_n_most);
/* Sleeps until the doorbell moves from `seen` or the time is over. */
void ts_session_sleep(struct ts_session *s, uint32_t seen, uint64_t ms);
void ts_session_ask_flush(struct ts_session *s, uint32_t wait_ms);
/* True when the process flushed, cannot, or was given its time. */
bool ts_session_flushed(struct ts_session *s);
int ts_session_look_for_losses(struct ts_session *s);
/* Something that the main thread waits for is done. */
void ts_session_notify(struct ts_session *s);

/* The end: session-end.c. Drains, writes and closes; r is what the last round returned. Returns how it ended. */
enum ts_session_end ts_session_finish(struct ts_session *s, int r, enum ts_session_end how);

/* Definitions: session-definitions.c. Reads what was newly published in the arena. */
int ts_session_read_arena(struct ts_session *s);

/* The lane: session-lane.c. At the beginning; then in each round: its head first, then what lies before that. */
int ts_session_lane_begin(struct ts_session *s);
int ts_session_lane_load(struct ts_session *s);
int ts_session_lane_drain(struct ts_session *s);
/* How much waits to be taken. */
uint64_t ts_session_lane_waiting(const struct ts_session *s);
/* The session's end: says why there is no more where the process did not come to. */
int ts_session_lane_end(struct ts_session *s);
/* Why the process puts nothing more into it; NULL: it goes on. Any thread. */
const char *ts_session_lane_why(const struct ts_session *s);

/* Kernel events: session-kernel.c. By the main thread, then by the session's. */
int ts_session_kernel_begin(struct ts_session *s);
int ts_session_kernel_round(struct ts_session *s);
/* Bytes of memory that they take. */
uint64_t ts_session_kernel_memory(const struct ts_session *s);
/* Whether the last round brought any. */
bool ts_session_kernel_flows(const struct ts_session *s);
/* Their threads: session-kernel-threads.c. The process told of one of its own. */
void ts_session_kernel_thread(struct ts_session *s, uint32_t tid, uint32_t id);
/* The session's id of the thread of an event; of a name. */
int ts_session_kernel_thread_of(struct ts_session *s, const struct ts_bpf_event *event,
				uint32_t *ret_id);
int ts_session_kernel_name(struct ts_session *s, const char *text, size_t n_text, uint32_t *ret_id);
/* session-kernel.c, at the session's end. */
int ts_session_kernel_end(struct ts_session *s);
void ts_session_kernel_deinit(struct ts_session *s);

/*
 * Samples of threads on the processor: session-samples.c, by session-kernel.c. period_ns 0: the default. NULL samples are fine
 * for all but _new.
 */
struct ts_session_samples;
int ts_session_samples_new(const struct ts_kernel_process *process, uint64_t period_ns,
			   struct ts_session_samples **ret_samples);
void ts_session_samples_free(struct ts_session_samples *samples);
void ts_session_samples_enable(struct ts_session_samples *samples, bool on);
int ts_session_samples_round(struct ts_session *s, struct ts_session_samples *samples);
/* Takes what the sampler has left, with a bound. */
int ts_session_samples_end(struct ts_session *s, struct ts_session_samples *samples);
uint64_t ts_session_samples_memory(const struct ts_session_samples *samples);
