/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Captures the calling thread's stack as an interned list of return addresses, merged with Python
 * functions on request.
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
	bool python; /* add Python functions, if any */
	struct ts_python interpreter;
	bool check; /* check mode: also unwind each stack, count differences */
	struct ts_loader_watch watch;
	uint64_t n_gone;		 /* unloaded libraries at the last look */
	bool marked_why;		 /* ts_stack_report() has recorded why Python is off */
	struct ts_stack_counts reported; /* by ts_stack_report() */
	/*
	 * list of the caches of all threads; a new thread reuses the cache of a thread that ended
	 */
	struct ts_stack_cache *caches;
	/* Innermost frames in these ranges are left out: the shim's own and CUPTI's. */
	struct ts_stack_range skip[2];
};

/*
 * Initialises the walker and loads libunwind. Without libunwind, each stack is TS_ID_UNKNOWN and
 * its call is counted (NO_STACK). Loads a library, so the caller must hold none of the shim's
 * locks.
 */
void ts_stack_init(struct ts_stack_walker *walker, bool python, bool check);

/* Leaves out innermost frames of the library that contains `address`, from now on. */
void ts_stack_skip(struct ts_stack_walker *walker, unsigned slot, const void *address);

static inline bool ts_stack_works(const struct ts_stack_walker *walker)
{
	return walker->unwind.backtrace;
}

/* Flags of a captured stack. */
#define TS_STACK_CUT (1u << 0) /* the stack was deeper than the limit */
/* Python functions are missing: their place among the native frames is unknown. */
#define TS_STACK_NO_PYTHON (1u << 1)
#define TS_STACK_NONE	   (1u << 2) /* there is no unwinder */

/*
 * Returns the id of the calling thread's stack; TS_ID_UNKNOWN: no unwinder or a full arena.
 * Thread-safe; takes no lock if the stack was seen before. `cache` belongs to the thread; the
 * function makes it if it is NULL.
 */
uint32_t ts_stack_capture(struct ts_stack_walker *walker, struct ts_definitions *definitions,
			  struct ts_stack_cache **cache, uint32_t *ret_flags);

/* Returns the sums over all threads. */
struct ts_stack_counts ts_stack_counts(const struct ts_stack_walker *walker);

struct ts_producer;

/*
 * stack-report.c: records the counts of all threads as counters of the trace, if they changed since
 * the last call. Only the flush thread calls it.
 */
void ts_stack_report(struct ts_stack_walker *walker, struct ts_producer *producer);
