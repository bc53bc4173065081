/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of processes that nobody preloaded, into a recording: a thread of its own that puts probes on the vendors' libraries
 * wherever they are mapped, takes what the probes tell, and writes a session for each process. Their rows are the host's
 * half alone (TS_SESSION_SOURCE_PROBES).
 *
 * Everything here is called by the main thread.
 */
#pragma once

#include "daemon/bpf/system.h"
#include "daemon/serve/recording/recording.h"
#include "daemon/serve/session/session-main.h"

struct ts_observer;

struct ts_observer_options {
	struct ts_recording *recording; /* outlives it */
	struct ts_users
		*users;	    /* likewise: files, sessions and definitions count for their users */
	const char *worker; /* as in struct ts_worker_options */
	uint32_t seal_age_ms;
	bool paused;	       /* nothing is told before ts_observer_switch() */
	int notify_fd;	       /* eventfd: what was asked for is done */
	uint32_t *last_number; /* of the daemon's sessions; counted up by any thread, atomically */
};

/* When it returns, what was mapped before is probed. A negative errno: `why` says in one line what is missing. */
int ts_observer_new(const struct ts_observer_options *options, struct ts_observer **ret_observer,
		    char why[TS_SYSTEM_WHY_BYTES]);
/* Takes what was told so far, ends all sessions, and waits for the thread. Idempotent. */
void ts_observer_end(struct ts_observer *observer);
/* Ended or not. NULL is fine. */
void ts_observer_free(struct ts_observer *observer);

/* The process has a session of its own from now on. */
void ts_observer_exclude(struct ts_observer *observer, pid_t pid);
/* Removes all probes, or puts them back. Returns whether it was otherwise. */
bool ts_observer_switch(struct ts_observer *observer, bool paused);
/* Whether that is done. */
bool ts_observer_switched(const struct ts_observer *observer);

/* Whether its file takes nothing more: no further call is seen. */
bool ts_observer_failed(const struct ts_observer *observer);

/* Processes that it has a session of now. */
uint32_t ts_observer_n_sessions(const struct ts_observer *observer);

/* What was known of one of them when its thread looked last, which is a quarter of a second ago at most. */
struct ts_observer_session {
	uint32_t number; /* the daemon's */
	char program[64];
	struct ts_session_status status;
};
struct ts_observer_list {
	struct ts_observer_session *sessions; /* allocated; the caller frees it */
	size_t n;
	uint64_t n_ever; /* sessions, with those that are over */
	uint64_t n_rows; /* of those that are over */
};
/* -ENOMEM. */
int ts_observer_list(struct ts_observer *observer, struct ts_observer_list *ret_list);
/* Asks that what was called so far be written, and taken into the list. */
uint64_t ts_observer_seal(struct ts_observer *observer);
bool ts_observer_sealed(const struct ts_observer *observer, uint64_t ticket);

/* Once it ended: what it wrote. */
struct ts_observer_sum {
	uint64_t counts[TS_ROW_EVENT_END];
	uint64_t lost[TS_LOSS_COUNT];
	uint32_t n_sessions;
	uint32_t n_stopped; /* whose process lived on */
	uint64_t n_rows;
};
const struct ts_observer_sum *ts_observer_sum(const struct ts_observer *observer);
