/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flush thread: makes CUPTI deliver what it gathered, every so often, when the daemon asks, and at the
 * end; and tells of libraries that came and went. All of CUPTI that is not done inside a callback is done here.
 */
#pragma once

#include "inject/futex.h"
#include "inject/modules.h"
#include "inject/producer.h"

struct ts_shim;

enum ts_flush_kind {
	TS_FLUSH_NONE = 0,
	TS_FLUSH_FORCED = 1, /* give out what still runs, too: for the end */
};

struct ts_flush {
	struct ts_shim *shim;
	struct ts_modules modules;
	/* Counts up: that many flushes were asked for by this process, and done. */
	uint32_t asked;
	uint32_t done;
	uint32_t n_delivered; /* buffers, since ever: whether a flush makes progress */
	bool worked;	      /* the process submitted something, at some time */
	bool detached;
};

/* Starts the thread. Returns 0 or a negative errno. */
int ts_flush_start(struct ts_flush *flush, struct ts_shim *shim);

/*
 * Asks for a forced flush and waits for it: until nothing was delivered for idle_ns, and at most timeout_ns. Takes no
 * lock; for exit paths.
 */
void ts_flush_now(struct ts_flush *flush, uint64_t idle_ns, uint64_t timeout_ns);
