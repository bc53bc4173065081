/* SPDX-License-Identifier: Apache-2.0 */
/* A full unwind by libunwind, which handles every kind of frame. */
#pragma once

#include "proto/abi/base.h"

/* Limit of frames in a stack. */
#define TS_STACK_DEPTH_MAX 255u

struct ts_unwind {
	/* NULL: no usable unwinder was found. */
	int (*backtrace)(void **frames, int n_frames);
	int (*get_context)(void *context);
	int (*init_local)(void *cursor, void *context);
	int (*step)(void *cursor);
	int (*get_register)(void *cursor, int number, uintptr_t *ret_value);
	void (*flush_cache)(void *space, uintptr_t from, uintptr_t to);
	void *address_space;
	uint32_t stale; /* backtrace()'s cache may hold unloaded libraries */
};

/* Callers of a function, innermost first. */
struct ts_unwound {
	uint32_t n;
	bool truncated; /* TS_STACK_DEPTH_MAX frames, perhaps more */
	uint64_t frames[TS_STACK_DEPTH_MAX];
	/*
	 * at[i]: address of the word on the stack that holds frames[i]. Set only if libunwind
	 * walked step by step; otherwise 0.
	 */
	uintptr_t at[TS_STACK_DEPTH_MAX];
};

/*
 * Loads libunwind; the caller must hold none of the shim's locks. If there is none, `backtrace`
 * stays NULL.
 */
void ts_unwind_init(struct ts_unwind *unwind);

/* Invalidates libunwind's caches: a library was unloaded, or another one has its addresses. */
void ts_unwind_forget(struct ts_unwind *unwind);

/*
 * Unwinds the callers of one function. `caller` is the return address of that function, which calls
 * this one through at most a few others. `by_steps`: without the cache of backtrace(). This takes
 * 30 times as long and is right after any unload.
 */
void ts_unwind_full(const struct ts_unwind *unwind, const void *caller, bool by_steps,
		    struct ts_unwound *ret_unwound);
