/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the native frames of a sample from three registers and a copy of the stack, by the rules of
 * the libraries' .eh_frame (sample-image.h). For code without rules, uses the frame pointer, if
 * that leads to a return address in code. Not thread-safe, because it keeps rules for later
 * samples.
 */
#pragma once

#include "daemon/sample/sample-image.h"

#define TS_UNWIND_FRAMES_MAX 256u

struct ts_unwind_registers {
	uint64_t pc, sp, bp;
};

struct ts_unwound_frames {
	uint32_t n;
	bool is_complete; /* the outermost frame has no caller */
	/*
	 * Innermost first: return addresses. frames[0] is the address of the instruction plus 1, so
	 * readers treat all entries alike.
	 */
	uint64_t frames[TS_UNWIND_FRAMES_MAX];
	/* Frame i lies between at[i] and at[i + 1] on the stack. */
	uint64_t at[TS_UNWIND_FRAMES_MAX];
};

struct ts_unwinder;

/* Creates an unwinder. `images` must outlive it. Returns 0 or -ENOMEM. */
int ts_unwinder_new(struct ts_images *images, struct ts_unwinder **ret_unwinder);
void ts_unwinder_free(struct ts_unwinder *unwinder); /* NULL is fine */

/* Walks the stack. `stack` is a copy of the n_bytes at registers->sp. */
void ts_unwinder_walk(struct ts_unwinder *unwinder, const struct ts_unwind_registers *registers,
		      const void *stack, size_t n_bytes, struct ts_unwound_frames *ret_frames);
