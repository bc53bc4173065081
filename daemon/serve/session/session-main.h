/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One traced process being drained: a thread of its own that sleeps until records come, takes them
 * out of the shards, turns them into rows, writes them, and only then releases their space.
 *
 * Everything here is called by the main thread; the session's thread reports through an eventfd
 * and through fields read atomically.
 */
#pragma once

#include "daemon/ingest/ingest-memory.h"
#include "daemon/serve/recording/recording.h"

struct ts_session;
struct ts_kernel_hub;
struct ts_kernel_config;

struct ts_session_options {
	uint32_t command; /* TS_COMMAND_* to begin with */
	int notify_fd;	  /* eventfd: something that was asked for is done */
	struct ts_identity peer;
	int peer_fd;	      /* the peer's socket; used within ts_session_new() only */
	bool ends_file;	      /* the recording is this session's alone: the thread ends it */
	uint32_t seal_age_ms; /* rows are written at the latest after this long */
	bool resumed;	      /* another daemon had it before: it is as stopped as that left it */
	bool decides;	      /* whether it begins stopped is the recording's matter, not its own */
	struct ts_kernel_hub *kernel; /* NULL: no kernel events */
};

#define TS_SESSION_SEAL_AGE_MS	 500u
#define TS_SESSION_FLUSH_WAIT_MS 2000u /* for a process that is told to stop */

/*
 * Begins a session in the recording, which outlives it, and starts its thread. On success `memory`
 * is taken over.
 */
int ts_session_new(struct ts_recording *recording, struct ts_memory *memory,
		   const struct ts_session_options *options, struct ts_session **ret_session);
/* Waits for the thread: only after it ended, or after ts_session_end(). NULL is fine. */
void ts_session_free(struct ts_session *session);

/*
 * Asks the thread to come to the end: what is committed is drained and written. STOPPED asks the
 * process to flush first, with a bound. The first reason stays, but DIED and BYE shorten a STOPPED
 * that still waits.
 */
void ts_session_end(struct ts_session *session, enum ts_session_end how);
/* The end's deadline: what is not drained by then is counted, and it ends as DAEMON. */
void ts_session_end_by(struct ts_session *session, uint64_t deadline_ns);
/* Whether the thread has come to its end, and how; *ret_why is a constant text. */
bool ts_session_ended(const struct ts_session *session, enum ts_session_end *ret_how,
		      const char **ret_why);

/* Stops (`paused`) or starts what is recorded, with the next flush that is asked for. Returns whether it was otherwise. */
bool ts_session_switch(struct ts_session *session, bool paused);
/*
 * Opens or closes a window of capture, with the next call that the process makes. 1: it was otherwise; 0: it was so; -ENOTSUP: the
 * process does not follow what is alive.
 */
int ts_session_window(struct ts_session *session, bool open);
/* Which kernel events it has from now on, of those that the hub has, and from what length. Nothing where it has none. */
void ts_session_kernel_config(struct ts_session *session, const struct ts_kernel_config *config);

/*
 * Asks that all committed so far be written, with `flush_ms` after the process flushed or that much
 * time.
 */
uint64_t ts_session_seal(struct ts_session *session, uint32_t flush_ms);
bool ts_session_sealed(const struct ts_session *session, uint64_t ticket);

/* What is known of it now. Strings belong to the session. */
struct ts_session_status {
	uint32_t number; /* in the file */
	uint32_t pid;
	uint32_t uid;
	const char *program;
	uint32_t state; /* enum ts_session_state */
	bool paused;
	uint32_t reason;
	char reason_text[256];
	uint64_t start_ns;
	uint64_t rows;
	uint64_t unwritten_bytes;
	uint32_t capture; /* enum ts_capture_state */
	uint32_t capture_windows;
	uint64_t captured_bytes;
	uint64_t captured_ns;
	uint64_t capture_max_bytes; /* 0: not known */
	const char *capture_ended;  /* why nothing more is captured; NULL: it goes on */
	uint32_t n_unsupported;	    /* operations that cannot be done again */
	uint64_t counts[TS_ROW_EVENT_END];
	uint64_t lost[TS_LOSS_COUNT];
	uint64_t n_kernel_counters; /* of the counter rows: the kernel's */
	uint64_t n_own_rows;	    /* of the marks and counters: of TS_OWN_DOMAIN */
};
void ts_session_status(const struct ts_session *session, struct ts_session_status *ret_status);
