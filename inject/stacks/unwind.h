/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A full unwind by libunwind, which knows every kind of frame.
 */
#pragma once

#include "proto/abi/base.h"

/* Frames that a stack has at most. */
#define TS_STACK_DEPTH_MAX 255u

struct ts_unwind {
	int (*backtrace)(void **frames,
			 int n_frames); /* NULL: no unwinder was found that can be used */
	int (*get_context)(void *context);
	int (*init_local)(void *cursor, void *context);
	int (*step)(void *cursor);
	int (*get_register)(void *cursor, int number, uintptr_t *ret_value);
	void (*flush_cache)(void *space, uintptr_t from, uintptr_t to);
	void *address_space;
	uint32_t stale; /* what backtrace() remembers may be of libraries that are gone */
};

/* Callers of a function, the innermost first. */
struct ts_unwound {
	uint32_t n;
	bool truncated; /* TS_STACK_DEPTH_MAX, and perhaps more */
	uint64_t frames[TS_STACK_DEPTH_MAX];
	uintptr_t at
		[TS_STACK_DEPTH_MAX]; /* the words that hold the frames' addresses; by steps alone, else 0 */
};

/* Loads libunwind: not under our locks. Where there is none, `backtrace` stays NULL. */
void ts_unwind_init(struct ts_unwind *unwind);

/* A library went away, or its addresses are another's now. */
void ts_unwind_forget(struct ts_unwind *unwind);

/*
 * The callers of the function that `caller` is the return address of, which is itself a caller of this one, with few others
 * in between. `by_steps`: without what backtrace() remembers; it takes 30 times as long, and is right whatever happened.
 */
void ts_unwind_full(const struct ts_unwind *unwind, const void *caller, bool by_steps,
		    struct ts_unwound *ret_unwound);
