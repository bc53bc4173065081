/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The observer records calls of processes that did not preload the shim (`--system`). Its thread
 * attaches probes to the vendors' libraries wherever they are mapped, reads the events of the
 * probes, and writes a session for each process. These sessions have host rows only
 * (TS_SESSION_SOURCE_PROBES).
 *
 * Only the main thread calls the functions here.
 */
#pragma once

#include "daemon/bpf/system.h"
#include "daemon/serve/recording/recording.h"
#include "daemon/serve/session/session-main.h"

struct ts_observer;

struct ts_observer_options {
	struct ts_recording *recording; /* must outlive it */
	/*
	 * The accounts to which files, sessions and definitions are charged. Must outlive the
	 * observer.
	 */
	struct ts_users *users;
	const char *worker; /* as in struct ts_worker_options */
	uint32_t seal_age_ms;
	bool paused; /* begin paused: record no events before ts_observer_switch() */
	/* eventfd: written when a switch or a seal is done. */
	int notify_fd;
	/* The last session number of the daemon. Threads increment it atomically. */
	uint32_t *last_number;
};

/*
 * Starts the observer. On return, already mapped libraries have probes (wait: at most 2 s). Returns
 * 0, or a negative errno with one line in `why` that names the missing part.
 */
int ts_observer_new(const struct ts_observer_options *options, struct ts_observer **ret_observer,
		    char why[TS_SYSTEM_WHY_BYTES]);
/* Reads the remaining events, ends all sessions and joins the thread. Idempotent. */
void ts_observer_end(struct ts_observer *observer);
/* Ends the observer if needed, and frees it. NULL is accepted. */
void ts_observer_free(struct ts_observer *observer);

/* Stops observing a process, which has its own session from now on. */
void ts_observer_exclude(struct ts_observer *observer, pid_t pid);
/* Removes all probes, or attaches them again. Returns true if the state changed. */
bool ts_observer_switch(struct ts_observer *observer, bool paused);
/* True if the observer's thread has carried out the last ts_observer_switch(). */
bool ts_observer_switched(const struct ts_observer *observer);

/* True if the file accepts no more rows, so no further call is recorded. */
bool ts_observer_failed(const struct ts_observer *observer);

/* Returns the number of processes that have a session now. */
uint32_t ts_observer_n_sessions(const struct ts_observer *observer);

/*
 * The state of a session at the last round of the observer's thread, which was at most a quarter of
 * a second ago.
 */
struct ts_observer_session {
	uint32_t number; /* the daemon's session number */
	char program[64];
	struct ts_session_status status;
};
struct ts_observer_list {
	struct ts_observer_session *sessions; /* the caller frees it */
	size_t n;
	uint64_t n_ever; /* sessions, including ended ones */
	uint64_t n_rows; /* of ended sessions */
};
/* Copies the list of sessions. Returns 0 or -ENOMEM. */
int ts_observer_list(struct ts_observer *observer, struct ts_observer_list *ret_list);
/*
 * Asks the thread to write all events so far and to update the list. Returns a ticket for
 * ts_observer_sealed().
 */
uint64_t ts_observer_seal(struct ts_observer *observer);
bool ts_observer_sealed(const struct ts_observer *observer, uint64_t ticket);

/* Totals. Valid after the end. */
struct ts_observer_sum {
	uint64_t counts[TS_ROW_EVENT_END];
	uint64_t lost[TS_LOSS_COUNT];
	uint32_t n_sessions;
	uint32_t n_stopped; /* processes that still ran when observing ended */
	uint64_t n_rows;
};
const struct ts_observer_sum *ts_observer_sum(const struct ts_observer *observer);
