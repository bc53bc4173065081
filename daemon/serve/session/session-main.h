/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session: one traced process. A thread of the session sleeps until records come. It copies
 * records out of the shards, makes rows, writes the rows, and then releases the ring space.
 *
 * Only the main thread calls the functions here. The session's thread reports through an eventfd
 * and through fields that are read atomically.
 */
#pragma once

#include "daemon/ingest/ingest-memory.h"
#include "daemon/serve/recording/recording.h"

struct ts_session;
struct ts_kernel_hub;
struct ts_kernel_config;

struct ts_session_options {
	/* Initial TS_COMMAND_* bits. */
	uint32_t command;
	/*
	 * eventfd: the session writes to it when a seal is done, a dump is wanted or the session
	 * ended.
	 */
	int notify_fd;
	struct ts_identity peer;
	/* The peer's socket. ts_session_new() uses it and does not keep it. */
	int peer_fd;
	/* The recording has only this session, so the session's thread calls ts_recording_end(). */
	bool ends_file;
	uint32_t seal_age_ms; /* maximum time between making a row and writing it */
	/*
	 * Another daemon served the process before. TS_COMMAND_PAUSED keeps the value that the
	 * other daemon set.
	 */
	bool resumed;
	/*
	 * The recording, and not the process's environment, decides if the session begins paused.
	 */
	bool decides;
	struct ts_kernel_hub *kernel; /* NULL: no kernel events */
};

#define TS_SESSION_SEAL_AGE_MS 500u
/* maximum wait for the flush of a session that ends as STOPPED */
#define TS_SESSION_FLUSH_WAIT_MS 2000u

/*
 * Begins a session in the recording and starts its thread. The recording must outlive the session.
 * On success the session owns *memory, and *memory is zeroed. Errors: a negative errno; then the
 * caller still owns *memory. -ENOMEM also means that the user's account has no room for a session.
 */
int ts_session_new(struct ts_recording *recording, struct ts_memory *memory,
		   const struct ts_session_options *options, struct ts_session **ret_session);
/*
 * Joins the thread and frees the session. Call it after the thread ended or after ts_session_end().
 * NULL is accepted.
 */
void ts_session_free(struct ts_session *session);

/*
 * Ends the session as STOPPED, but the process keeps recording into its ring: the next daemon
 * continues there. A session that already ends is not handed over.
 */
void ts_session_hand_over(struct ts_session *session);
/* Whether an ended session is for the next daemon: its process gets neither STOP nor DONE. */
bool ts_session_is_handed_over(const struct ts_session *session);
/*
 * Asks the thread to end the session: committed records are drained and written. STOPPED first asks
 * the process to flush, for at most TS_SESSION_FLUSH_WAIT_MS. Later calls do not change `how`.
 * Exception: DIED and BYE replace a STOPPED whose flush is still pending, and end the wait for this
 * flush.
 */
void ts_session_end(struct ts_session *session, enum ts_session_end how);
/*
 * Sets the deadline of the end, in ns of CLOCK_MONOTONIC. Records that are not drained at the
 * deadline are counted as lost, and the session ends as DAEMON.
 */
void ts_session_end_by(struct ts_session *session, uint64_t deadline_ns);
/* Returns true if the thread ended, with the reason of the end. *ret_why is a constant text. */
bool ts_session_ended(const struct ts_session *session, enum ts_session_end *ret_how,
		      const char **ret_why);

/*
 * Pauses or resumes recording. The change is effective at the next requested flush. Returns true if
 * the state changed.
 */
bool ts_session_switch(struct ts_session *session, bool paused);
/*
 * Opens or closes a capture window at the next call of the process. 1: the state changed; 0: no
 * change; -ENOTSUP: the process keeps no list of live objects, so it cannot open a window.
 */
int ts_session_window(struct ts_session *session, bool open);
/*
 * Selects among the hub's kernel events, and sets their minimum durations. No effect on a session
 * without kernel events.
 */
void ts_session_kernel_config(struct ts_session *session, const struct ts_kernel_config *config);

/*
 * Asks the session's thread to write all records that the process has committed so far. If flush_ms
 * is not 0, the thread first asks the process to flush, and waits for that flush at most flush_ms.
 * Returns a ticket: ts_session_sealed() is true when these records are written.
 */
uint64_t ts_session_seal(struct ts_session *session, uint32_t flush_ms);
bool ts_session_sealed(const struct ts_session *session, uint64_t ticket);

/* A snapshot of a session. Strings belong to the session. */
struct ts_session_status {
	uint32_t number; /* the session's number in the file */
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
	uint64_t capture_max_bytes; /* 0: unknown */
	/* reason for which the process has stopped capturing; NULL: it still captures */
	const char *capture_ended;
	uint32_t n_unsupported; /* operations that cannot be replayed */
	uint64_t counts[TS_ROW_EVENT_END];
	uint64_t lost[TS_LOSS_COUNT];
	uint64_t n_kernel_counters; /* counter rows of the kernel */
	uint64_t n_own_rows;	    /* marks and counters of TS_OWN_DOMAIN */
};
void ts_session_status(const struct ts_session *session, struct ts_session_status *ret_status);
