/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link thread: makes the session's memory, hands it to a daemon, and hears what the daemon says. Its descriptors
 * live in a table of its own, so that the application never sees them, and an application that closes
 * all descriptors does not close these.
 *
 * The other threads talk to it through futex words only. It calls nothing of the dynamic loader: the thread
 * that waits for it may hold the loader's lock, being inside dlopen().
 */
#pragma once

#include <pthread.h>

#include "inject/config.h"
#include "inject/ring/producer.h"
#include "inject/ring/ring-session.h"

enum ts_link_request {
	TS_LINK_RUN = 0,
	TS_LINK_BYE = 1, /* everything is flushed: say so, and wait for DONE */
};

enum ts_link_farewell {
	TS_LINK_SAID_BYE = 1,	/* it lies in the daemon's socket, which outlives us */
	TS_LINK_HEARD_DONE = 2, /* the file is written; or nobody is there to say so */
};

struct ts_link {
	const struct ts_config *config;
	struct ts_gate *gate;
	struct ts_session_options options;

	/* Words that others wait on: 0 until it happened. Release, paired with the waiter's acquire. */
	uint32_t session_made; /* or could not be: `error` */
	uint32_t handed_over;  /* HELLO lies in the daemon's socket, or there is no daemon */
	uint32_t farewell;     /* enum ts_link_farewell, after a request for BYE */

	int error;
	struct ts_session_memory memory;

	uint32_t request; /* enum ts_link_request */
	uint32_t mode;	  /* enum ts_gate_mode: what the daemon's presence allows */
	uint32_t over;	  /* 1: no daemon will ever take records again; detach from CUPTI */
	uint32_t flushes; /* 1: a flush thread answers the daemon's requests */
	bool is_private;
	bool waits_for_file; /* a service writes a file of this process's: it is complete at DONE */
};

/* Starts it. `link` lives to the end of the process. Returns 0 or a negative errno. */
int ts_link_start(struct ts_link *link, const struct ts_config *config, struct ts_gate *gate,
		  const struct ts_session_options *options);

/* CUPTI is ours: from now on the gate is as open as the daemon's presence allows. */
void ts_link_open_gate(struct ts_link *link);

/* There is a session: the same for what the application says of itself. */
void ts_link_open_annotations(struct ts_link *link);

/*
 * Starts a detached thread with every signal blocked and the ordinary scheduling (under a seccomp filter, the caller's), as all of the shim's are. stack_bytes
 * 0: the process's default. Every process that called cuInit() has threads of the driver's own; these two keep it alive
 * no more than those. Returns 0 or a negative errno.
 */
int ts_link_start_thread(const struct ts_config *config, void *(*run)(void *), void *data,
			 size_t stack_bytes);
