/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python functions that the calling thread is in, read from the interpreter's own memory: of CPython 3.8 to 3.13,
 * without the GIL, for a thread's own frames are changed by that thread alone.
 */
#pragma once

#include "inject/ring/definitions.h"
#include "inject/stacks/unwind.h"

#define TS_PYTHON_FRAMES_MAX 512u

/* Functions that one call of the interpreter's evaluator runs, and where that call is. */
struct ts_python_segment {
	uintptr_t at;	   /* an address in the evaluator's own frame; 0: not known (before 3.10) */
	uint32_t n_frames; /* may be 0 */
};

struct ts_python_stack {
	uint32_t n_frames, n_segments;
	bool truncated;			       /* the outermost frames are missing */
	uint64_t frames[TS_PYTHON_FRAMES_MAX]; /* TS_FRAME_PYTHON, the innermost first */
	struct ts_python_segment segments[TS_PYTHON_FRAMES_MAX];
	uint64_t merged[TS_STACK_DEPTH_MAX + TS_PYTHON_FRAMES_MAX]; /* by ts_python_merge() */
};

enum ts_python_state {
	TS_PYTHON_NOT_FOUND = 0,
	TS_PYTHON_FOUND =
		1, /* nothing was read yet: the first stack shows whether its memory is as expected */
	TS_PYTHON_VERIFIED = 2, /* it is */
	TS_PYTHON_OFF = 3,	/* it is not, or is another Python: `why` */
};

struct ts_python {
	uint32_t state;	     /* enum ts_python_state */
	uint32_t is_looking; /* a thread is in ts_python_look() */
	char why[128];
	const struct ts_python_layout *layout;
	uintptr_t evaluator, evaluator_end; /* its code; before 3.10 */
	void *(*this_thread)(void);
	int (*line)(void *code, int offset);
	const void *code_type, *text_type, *bytes_type;
};

/* A thread's memory of code objects. */
struct ts_python_codes;

/* Looks whether there is an interpreter, unless one was found. Asks the loader: not under our locks. */
void ts_python_look(struct ts_python *python);

/*
 * The calling thread's Python stack. False: it has none, or it cannot be read. What was found lies in `codes`, which is made
 * where it is NULL, until the next call.
 */
bool ts_python_read(struct ts_python *python, struct ts_definitions *definitions,
		    struct ts_python_codes **codes, struct ts_python_stack **ret_stack);

/*
 * Puts the Python functions in the place of the evaluator's frames that run them, in stack->merged. `at`: the words that
 * hold the native frames' addresses. Returns the number of frames; 0: the two do not belong together.
 */
uint32_t ts_python_merge(const struct ts_python *python, struct ts_python_stack *stack,
			 const uint64_t *frames, const uintptr_t *at, uint32_t n_frames);
