/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The native stack of the calling thread, as an interned list of raw return addresses.
 */
#pragma once

#include "inject/definitions.h"

#define TS_STACK_DEPTH_MAX 256

struct ts_stack_range {
	uintptr_t start;
	uintptr_t end;
};

struct ts_stack_walker {
	int (*backtrace)(void **frames,
			 int n_frames); /* NULL: no unwinder was found that can be used */
	void (*flush_cache)(void *space, uintptr_t from, uintptr_t to);
	void *address_space;
	struct ts_stack_range
		skip[2]; /* innermost frames in these are not told: the shim's own, CUPTI's */
};

/* Loads libunwind. Without it, stacks are TS_ID_UNKNOWN and calls are counted (NO_STACK). Loads a library: not under our locks. */
void ts_stack_init(struct ts_stack_walker *walker);

/* From now on frames of the library that holds `address` are not told where they are innermost. */
void ts_stack_skip(struct ts_stack_walker *walker, unsigned slot, const void *address);

/* A library went away: unwinding rules that are remembered for its addresses are wrong now. */
void ts_stack_forget(struct ts_stack_walker *walker);

/* Thread-safe; takes no lock where the stack was seen before. */
uint32_t ts_stack_capture(const struct ts_stack_walker *walker, struct ts_definitions *definitions,
			  bool *ret_truncated);
