/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the calling thread's Python functions from the interpreter's memory: CPython 3.8 to 3.13,
 * without the GIL. The GIL is not needed, because only the thread itself changes its frames.
 */
#pragma once

#include "inject/ring/definitions.h"
#include "inject/stacks/unwind.h"

#define TS_PYTHON_FRAMES_MAX 512u

/* Functions that run in one call of the interpreter's evaluator, and the position of that call. */
struct ts_python_segment {
	/*
	 * an address in the native frame of the evaluator's call; 0: unknown (before Python 3.10)
	 */
	uintptr_t at;
	uint32_t n_frames; /* may be 0 */
};

struct ts_python_stack {
	uint32_t n_frames, n_segments;
	bool truncated;			       /* the outermost frames are missing */
	uint64_t frames[TS_PYTHON_FRAMES_MAX]; /* TS_FRAME_PYTHON, innermost first */
	struct ts_python_segment segments[TS_PYTHON_FRAMES_MAX];
	/* result of ts_python_merge() */
	uint64_t merged[TS_STACK_DEPTH_MAX + TS_PYTHON_FRAMES_MAX];
};

enum ts_python_state {
	TS_PYTHON_NOT_FOUND = 0,
	/*
	 * An interpreter was found. Nothing was read yet: the first stack shows whether its memory
	 * is as expected.
	 */
	TS_PYTHON_FOUND = 1,
	TS_PYTHON_VERIFIED = 2, /* it is as expected */
	/* the program is not Python, or an unsupported version; `why` has the reason */
	TS_PYTHON_OFF = 3,
};

struct ts_python {
	uint32_t state;	     /* enum ts_python_state */
	uint32_t is_looking; /* a thread is in ts_python_look() */
	char why[128];
	const struct ts_python_layout *layout;
	uintptr_t evaluator, evaluator_end; /* bounds of its code; before 3.10 */
	void *(*this_thread)(void);
	int (*line)(void *code, int offset);
	const void *code_type, *text_type, *bytes_type;
};

/* A thread's cache of code objects. */
struct ts_python_codes;

/*
 * Looks for an interpreter, unless one was found. Calls the loader, so the caller must hold none of
 * the shim's locks.
 */
void ts_python_look(struct ts_python *python);

/* True if the process has an interpreter whose stacks can be read. */
static inline bool ts_python_is_there(const struct ts_python *python)
{
	/* Acquire pairs with the release when the interpreter was found. */
	const uint32_t state = __atomic_load_n(&python->state, __ATOMIC_ACQUIRE);

	return state == TS_PYTHON_FOUND || state == TS_PYTHON_VERIFIED;
}

/*
 * Reads the calling thread's Python stack. False: the thread has none, or it cannot be read. The
 * result lies in `codes` until the next call. The function makes `codes` if it is NULL.
 */
bool ts_python_read(struct ts_python *python, struct ts_definitions *definitions,
		    struct ts_python_codes **codes, struct ts_python_stack **ret_stack);

/*
 * Replaces the evaluator's native frames by the Python functions that they run, into stack->merged.
 * `at`: addresses of the words that hold the native frames' addresses. Returns the count of frames;
 * 0: the two stacks do not match.
 */
uint32_t ts_python_merge(const struct ts_python *python, struct ts_python_stack *stack,
			 const uint64_t *frames, const uintptr_t *at, uint32_t n_frames);
