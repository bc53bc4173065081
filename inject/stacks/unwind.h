/* SPDX-License-Identifier: Apache-2.0 */
/* A full unwind by libunwind, which handles every kind of frame. */
#pragma once

#include "proto/abi/base.h"

/* Limit of frames in a stack. */
#define TS_STACK_DEPTH_MAX 255u

/*
 * Returns a return address without its signature (pointer authentication of aarch64). The
 * instruction does nothing on processors without signatures, and keeps an unsigned address.
 */
static inline uintptr_t ts_unwind_strip(uintptr_t address)
{
#if defined(__aarch64__)
	register uintptr_t x30 __asm__("x30") = address;

	__asm__("hint #7" /* xpaclri, which older assemblers do not know */ : "+r"(x30));
	return x30;
#else
	return address;
#endif
}

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
	 * at[i]: address of the last word of the callee's frame; on x86-64 this word holds
	 * frames[i]. Set only if libunwind walked step by step; otherwise 0.
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
