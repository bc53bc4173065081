/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native stack of the calling thread, as an interned list of raw return addresses.
 */
#pragma once

#include "inject/process/loader.h"
#include "inject/ring/definitions.h"
#include "inject/stacks/stack-cache.h"
#include "inject/stacks/stack-python.h"

struct ts_stack_range {
	uintptr_t start;
	uintptr_t end;
};

struct ts_stack_walker {
	struct ts_unwind unwind;
	bool python; /* with the Python functions, where there are any */
	struct ts_python interpreter;
	bool check; /* unwind every stack fully too, and count those that differ */
	struct ts_loader_watch watch;
	uint64_t n_gone; /* libraries, when last looked */
	bool marked_why; /* why there are no Python functions: by ts_stack_report() */
	struct ts_stack_counts reported; /* by ts_stack_report() */
	struct ts_stack_cache *caches;	 /* of all threads; those of dead ones are handed on */
	struct ts_stack_range
		skip[2]; /* innermost frames in these are not told: the shim's own, CUPTI's */
};

/* Loads libunwind. Without it, stacks are TS_ID_UNKNOWN and calls are counted (NO_STACK). Loads a library: not under our locks. */
void ts_stack_init(struct ts_stack_walker *walker, bool python, bool check);

/* From now on frames of the library that holds `address` are not told where they are innermost. */
void ts_stack_skip(struct ts_stack_walker *walker, unsigned slot, const void *address);

static inline bool ts_stack_works(const struct ts_stack_walker *walker)
{
	return walker->unwind.backtrace;
}

/* What there is to say of a stack. */
#define TS_STACK_CUT (1u << 0) /* it was deeper */
#define TS_STACK_NO_PYTHON \
	(1u << 1) /* where the Python functions belong could not be told: they are missing */

/*
 * The calling thread's stack. Thread-safe; takes no lock where the stack was seen before. `cache` is the thread's own, and
 * is made where it is NULL.
 */
uint32_t ts_stack_capture(struct ts_stack_walker *walker, struct ts_definitions *definitions,
			  struct ts_stack_cache **cache, uint32_t *ret_flags);

/* The sums over all threads. */
struct ts_stack_counts ts_stack_counts(const struct ts_stack_walker *walker);

struct ts_producer;

/* stack-report.c: records the sums as counters, where they changed since the last time. For the flush thread. */
void ts_stack_report(struct ts_stack_walker *walker, struct ts_producer *producer);
