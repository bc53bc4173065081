/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flush thread: makes CUPTI deliver what it gathered, a millisecond after work was submitted, then as often as the time
 * that flushes take allows, when the daemon asks, and at the end; and tells of libraries that came and went. All of CUPTI that
 * is not done inside a callback is done here.
 */
#pragma once

#include "inject/budget.h"
#include "inject/ring/futex.h"
#include "inject/ring/producer.h"
#include "inject/stacks/stack-modules.h"

struct ts_shim;

/* What is asked of it, beyond what it does by itself. Bits. */
enum ts_flush_request {
	TS_FLUSH_AGAIN = 1, /* the process ends, and did more since TS_FLUSH_END */
	TS_FLUSH_END = 2,   /* the process ends: all that there is, and what still runs, too */
	TS_FLUSH_DETACH =
		4, /* all that there is; and CUPTI is given up to the application's own profiler */
	TS_FLUSH_LEAVE =
		8, /* all that there is: the process is about to replace itself, and may fail to */
	TS_FLUSH_FAULT =
		16, /* what is complete: a kernel lost the context, and the process dies soon */
};

struct ts_flush {
	struct ts_shim *shim;
	struct ts_modules modules;
	uint32_t requests; /* enum ts_flush_request: added to before `asked` is counted up */
	/* Counts up: that many flushes were asked for by this process, and done. */
	uint32_t asked;
	uint32_t done;
	uint32_t n_delivered;  /* buffers, since ever: whether a flush makes progress */
	uint64_t report_at_ns; /* when the next report on stacks is due */
	struct ts_budget budget;
	uint32_t sleeps; /* 1: until there is work, and ts_flush_wake() is to be called then */
	bool worked;	 /* the process submitted something, at some time */
};

/* Starts the thread. Returns 0 or a negative errno. */
int ts_flush_start(struct ts_flush *flush, struct ts_shim *shim);

/* That CUPTI was given up, to whom the shim's `yield` says, or is ours again. */
void ts_flush_record_yield(struct ts_shim *shim, bool yielded);

/* ---- flush-request.c ---- */

/*
 * There is work again: starts the time after which it is flushed. Any thread; one system call. Returns false where the flush
 * thread was not yet asleep: call again.
 */
bool ts_flush_wake(struct ts_flush *flush);

/*
 * Asks for something and waits until it is done: until nothing was delivered for idle_ns, and at most timeout_ns. Takes no
 * lock; for exit paths.
 */
void ts_flush_now(struct ts_flush *flush, enum ts_flush_request request, uint64_t idle_ns,
		  uint64_t timeout_ns);
