/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link thread makes the session's memory, hands the memory to a daemon, and receives the
 * daemon's packets. The thread has its own table of descriptors. The application never sees these
 * descriptors, and closing all descriptors in the application does not close them.
 *
 * The other threads communicate with the link thread through futex words only. The link thread
 * calls no function of the dynamic loader: a thread that waits for it may be inside dlopen() and
 * hold the loader's lock.
 */
#pragma once

#include <pthread.h>

#include "inject/config.h"
#include "inject/ring/producer.h"
#include "inject/ring/ring-session.h"

enum ts_link_request {
	TS_LINK_RUN = 0,
	TS_LINK_BYE = 1, /* all is flushed: send BYE and wait for DONE */
};

enum ts_link_farewell {
	/* the daemon's socket has BYE; the daemon can read it after this process ended */
	TS_LINK_SAID_BYE = 1,
	TS_LINK_HEARD_DONE = 2, /* the file is written, or no daemon answers */
};

struct ts_link {
	const struct ts_config *config;
	struct ts_gate *gate;
	struct ts_session_options options;

	/*
	 * Words that other threads wait on; 0: not yet. Each release pairs with the waiter's
	 * acquire.
	 */
	uint32_t session_made; /* memory exists, or `error` is set */
	uint32_t handed_over;  /* HELLO lies in the daemon's socket, or there is no daemon */
	uint32_t farewell;     /* enum ts_link_farewell, after a request for BYE */

	int error;
	struct ts_session_memory memory;

	uint32_t request; /* enum ts_link_request */
	uint32_t mode;	  /* enum ts_gate_mode that the daemon's presence allows */
	uint32_t over;	  /* 1: no daemon will take records again; detach from CUPTI */
	uint32_t flushes; /* 1: a flush thread answers the daemon's requests */
	bool is_private;
	bool waits_for_file; /* a service writes this process's file, complete at DONE */
};

/* Starts the link thread. `link` lives to the end of the process. Returns 0 or a negative errno. */
int ts_link_start(struct ts_link *link, const struct ts_config *config, struct ts_gate *gate,
		  const struct ts_session_options *options);

/* Opens the gate as far as the daemon's presence allows; the caller has subscribed to CUPTI. */
void ts_link_open_gate(struct ts_link *link);

/* Opens the gate of annotations in the same way; the caller has a session. */
void ts_link_open_annotations(struct ts_link *link);

/*
 * Starts a detached thread with all signals blocked. Its scheduling is SCHED_OTHER; under a seccomp
 * filter it inherits the caller's. All threads of the shim start this way. If stack_bytes is 0, the
 * stack has the process's default size.
 *
 * If main() ends by pthread_exit(), the shim's two threads keep the process alive. The driver's
 * threads do so too, in each process that called cuInit(). Returns 0 or a negative errno.
 */
int ts_link_start_thread(const struct ts_config *config, void *(*run)(void *), void *data,
			 size_t stack_bytes);
