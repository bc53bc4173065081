/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flush thread makes CUPTI deliver its records. It flushes a millisecond after work was
 * submitted, then as often as the budget allows, at a request of the daemon, and at the end. It
 * also records loaded and unloaded libraries. All CUPTI calls outside callbacks run on this thread.
 */
#pragma once

#include "inject/budget.h"
#include "inject/ring/futex.h"
#include "inject/ring/producer.h"
#include "inject/stacks/stack-modules.h"

struct ts_shim;

/* Requests to the flush thread, as bits. */
enum ts_flush_request {
	TS_FLUSH_AGAIN = 1, /* the process ends, and submitted more work after TS_FLUSH_END */
	TS_FLUSH_END = 2,   /* the process ends: flush all, running work too */
	/* Flush all, and give CUPTI up to the application's own profiler. */
	TS_FLUSH_DETACH = 4,
	/* Flush all: the process is about to exec, which may fail. */
	TS_FLUSH_LEAVE = 8,
	/* Flush complete records: a kernel destroyed the context, and the process dies soon. */
	TS_FLUSH_FAULT = 16,
};

struct ts_flush {
	struct ts_shim *shim;
	struct ts_modules modules;
	uint32_t requests; /* enum ts_flush_request; set before `asked` is incremented */
	/*
	 * Numbers of flushes that this process has requested (`asked`), and that have ended
	 * (`done`).
	 */
	uint32_t asked;
	uint32_t done;
	/* number of delivered buffers; it grows while a flush makes progress */
	uint32_t n_delivered;
	uint64_t report_at_ns; /* time of the next report of the shim's counters */
	struct ts_budget budget;
	uint32_t sleeps; /* 1: asleep until ts_flush_wake() reports work */
	bool worked;	 /* the process has submitted work */
};

/* Starts the flush thread of the session. Returns 0 or a negative errno. */
int ts_flush_start(struct ts_flush *flush, struct ts_shim *shim);

/*
 * Records a change of CUPTI's owner. `yielded`: the shim gave CUPTI to the library named by
 * shim->yield.to; false: the shim uses CUPTI again.
 */
void ts_flush_record_yield(struct ts_shim *shim, bool yielded);

/* ---- flush-request.c ---- */

/*
 * Reports new work, so that the flush thread flushes after a delay. Any thread may call this
 * function. It makes one system call. Returns false if the flush thread was not asleep yet. Then
 * the caller calls again.
 */
bool ts_flush_wake(struct ts_flush *flush);

/*
 * Notifies the flush thread of the first work since a flush. dirty: a word of enum ts_dirty that is
 * not TS_DIRTY; the flush thread clears it before it flushes. Any thread may call this function.
 */
void ts_flush_notify(struct ts_flush *flush, uint32_t *dirty);

/*
 * After a failed call: flushes at the first error that a kernel caused, and waits for that, with a
 * bound. The program usually aborts next, and only the vendor's library has the kernel's name.
 */
void ts_flush_after_error(struct ts_flush *flush, int32_t result);

/*
 * Sends a request and waits until it is done. The wait ends early if no buffer arrives for idle_ns,
 * and after timeout_ns. Takes no lock; for exit paths.
 */
void ts_flush_now(struct ts_flush *flush, enum ts_flush_request request, uint64_t idle_ns,
		  uint64_t timeout_ns);
