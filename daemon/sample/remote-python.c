/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the Python interpreter of another process, turns a thread's Python stack into functions,
 * and merges it with the native stack. sampling.c calls this module with a stack that the kernel
 * read (sample.bpf.c), or that pyframes.c read. This module calls pycode.c for the frames'
 * functions and sample-image.c for symbols.
 */
#include "daemon/sample/remote-python.h"

#include <stdio.h>

#include "daemon/sample/pycode.h"
#include "daemon/sample/remote.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/clock.h"

TS_STATIC_ASSERT(TS_BPF_PYTHON_FRAMES <= TS_REMOTE_PYTHON_FRAMES, "a stack of the kernel fits");
TS_STATIC_ASSERT(TS_BPF_PYTHON_NONE == TS_PYTHON_NONE, "one word for none");

struct segment {
	uint64_t at; /* address in the evaluator's own frame; 0: not known (before 3.10) */
	uint32_t n_frames;
};

struct ts_remote_python {
	pid_t pid;
	struct ts_images *images;
	uint64_t generation;
	const struct ts_python_layout *layout; /* NULL: no readable interpreter */
	char why[128];
	uint64_t runtime, evaluator, evaluator_bytes;
	uint64_t interpreters_off, next_off, threads_off;
	struct ts_remote_codes *codes;
	/* The stack that was read last. */
	uint64_t frames[TS_REMOTE_PYTHON_FRAMES];
	struct segment segments[TS_REMOTE_PYTHON_FRAMES];
	uint32_t n_frames, n_segments;
};

/* ---- the interpreter ---- */

static void set_why(struct ts_remote_python *python, const char *why)
{
	snprintf(python->why, sizeof(python->why), "%s", why);
}

/*
 * Reads the table of offsets of Python 3.13. The table has the offsets of the lists of threads; its
 * other offsets must be equal to those of `layout`.
 */
static bool take_table(struct ts_remote_python *python, const struct ts_python_layout *layout)
{
	uint8_t table[TS_PYTHON_TABLE_BYTES];

	if (!ts_remote_read(python->pid, python->runtime, table, sizeof(table)) ||
	    memcmp(table, TS_PYTHON_TABLE_COOKIE, 8) ||
	    ts_word_in(table, TS_PYTHON_TABLE_VERSION) >> 16 != (0x0300u | layout->minor)) {
		set_why(python, "this Python's table of offsets has another version");
		return false;
	}
	if (ts_word_in(table, TS_PYTHON_TABLE_FREE_THREADED)) {
		set_why(python, "stacks of a free-threaded Python are not read");
		return false;
	}
	for (size_t i = 0; i < TS_ARRAY_LEN(ts_python_table); i++) {
		uint16_t ours;

		memcpy(&ours, (const uint8_t *)layout + ts_python_table[i].field, sizeof(ours));
		if (ts_word_in(table, ts_python_table[i].at) != ours) {
			set_why(python, "this Python's frames have an unknown layout");
			return false;
		}
	}
	python->interpreters_off = ts_word_in(table, TS_PYTHON_TABLE_INTERPRETERS);
	python->next_off = ts_word_in(table, TS_PYTHON_TABLE_NEXT);
	python->threads_off = ts_word_in(table, TS_PYTHON_TABLE_THREADS);
	return true;
}

/*
 * Finds the version in the symbol Py_Version (from 3.11 on), or in a name like "python3.11" or
 * "libpython3.11.so.1.0".
 */
static bool find_minor(struct ts_remote_python *python, const char *path, unsigned *ret_minor)
{
	uint64_t address, n_bytes;
	const char *name = strrchr(path, '/'), *of;
	uint32_t version;

	if (ts_images_symbol(python->images, "python", "Py_Version", &address, &n_bytes, &of) &&
	    ts_remote_read(python->pid, address, &version, sizeof(version)) && version >> 24 == 3) {
		*ret_minor = version >> 16 & 0xff;
		return true;
	}
	name = name ? strstr(name, "python3.") : NULL;
	return name && sscanf(name, "python3.%u", ret_minor) == 1;
}

static void find_interpreter(struct ts_remote_python *python)
{
	uint64_t n_bytes, code_type;
	const char *path;
	unsigned minor = 0;

	if (!ts_images_symbol(python->images, "python", "_PyRuntime", &python->runtime, &n_bytes,
			      &path) ||
	    !ts_images_symbol(python->images, "python", "PyCode_Type", &code_type, &n_bytes,
			      &path) ||
	    !ts_images_symbol(python->images, "python", "_PyEval_EvalFrameDefault",
			      &python->evaluator, &python->evaluator_bytes, &path))
		return;
	if (!find_minor(python, path, &minor)) {
		set_why(python, "the version of this Python is unknown");
		return;
	}
	for (size_t i = 0; i < TS_ARRAY_LEN(ts_python_layouts); i++) {
		const struct ts_python_layout *layout = &ts_python_layouts[i];

		if (layout->minor != minor)
			continue;
		if (layout->runtime_interpreters == TS_PYTHON_NONE) {
			if (!take_table(python, layout))
				return;
		} else {
			python->interpreters_off = layout->runtime_interpreters;
			python->next_off = layout->interpreter_next;
			python->threads_off = layout->interpreter_threads;
		}
		python->layout = layout;
		ts_remote_codes_set(python->codes, layout, code_type);
		python->why[0] = '\0';
		return;
	}
	snprintf(python->why, sizeof(python->why), "stacks of Python 3.%u are not read", minor);
}

void ts_remote_python_look(struct ts_remote_python *python)
{
	uint64_t word;

	if (ts_images_generation(python->images) == python->generation)
		return;
	python->generation = ts_images_generation(python->images);
	if (!python->layout)
		find_interpreter(python);
	/*
	 * The system must allow this read. Otherwise stacks are native, and the trace records the
	 * reason.
	 */
	if (python->layout &&
	    !ts_remote_word(python->pid, python->runtime + python->interpreters_off, &word)) {
		snprintf(python->why, sizeof(python->why),
			 "this Python's memory cannot be read: %s%s", strerror(errno),
			 errno == EPERM ? " (kernel.yama.ptrace_scope)" : "");
		python->layout = NULL;
	}
}

const char *ts_remote_python_why(const struct ts_remote_python *python)
{
	return python->why[0] ? python->why : NULL;
}

/* ---- frames ---- */

/* Computes the offset in bytes of the frame's code. False: the frame has not begun to run. */
static bool place_in_code(const struct ts_python_layout *layout, uint64_t code,
			  uint64_t instruction, unsigned owner, int32_t *ret_offset)
{
	switch (layout->offset) {
	case TS_PYTHON_OFFSET_POINTER:
		*ret_offset = (int32_t)(instruction - (code + layout->code_bytes));
		return *ret_offset >= 0 || owner == TS_PYTHON_OWNED_BY_GENERATOR;
	case TS_PYTHON_OFFSET_UNITS:
		*ret_offset = 2 * (int32_t)instruction;
		return true;
	default:
		*ret_offset = (int32_t)instruction;
		return true;
	}
}

static void close_segment(struct ts_remote_python *python, uint64_t at, uint32_t *n_closed)
{
	python->segments[python->n_segments++] = (struct segment){at, python->n_frames - *n_closed};
	*n_closed = python->n_frames;
}

int ts_remote_python_take(struct ts_remote_python *python, const struct ts_bpf_python_stack *stack,
			  bool *ret_has_frames)
{
	uint64_t now = ts_clock_monotonic_ns();
	uint32_t n_closed = 0;
	int32_t offset;
	bool is_code;
	int r;

	*ret_has_frames = false;
	python->n_frames = python->n_segments = 0;
	for (uint32_t i = 0; python->layout && i < stack->n; i++) {
		const struct ts_bpf_python_frame *frame = &stack->frames[i];

		if (frame->code && place_in_code(python->layout, frame->code, frame->instruction,
						 frame->owner, &offset)) {
			r = ts_remote_codes_frame(python->codes, frame->code, offset, now,
						  &python->frames[python->n_frames], &is_code);
			if (r)
				return r;
			/*
			 * If the code object has gone since, only this frame is left out; the outer
			 * frames are still valid.
			 */
			python->n_frames += is_code;
		}
		if (frame->is_end)
			close_segment(python, frame->at, &n_closed);
	}
	if (n_closed < python->n_frames)
		close_segment(python, UINT64_MAX, &n_closed);
	*ret_has_frames = python->n_frames;
	return 0;
}

/* Returns the number of bytes up to the end of the last field that is read of a frame. */
static uint16_t frame_bytes(const struct ts_python_layout *layout)
{
	const struct {
		uint16_t off, n;
	} fields[] = {
		{layout->frame_code, 8},	{layout->frame_previous, 8},
		{layout->frame_instruction, 8}, {layout->frame_owner, 1},
		{layout->frame_is_entry, 1},
	};
	uint16_t n = 0;

	for (size_t i = 0; i < TS_ARRAY_LEN(fields); i++)
		if (fields[i].off != TS_PYTHON_NONE && fields[i].off + fields[i].n > n)
			n = (uint16_t)(fields[i].off + fields[i].n);
	return n;
}

bool ts_remote_python_config(const struct ts_remote_python *python,
			     struct ts_bpf_python *ret_config)
{
	const struct ts_python_layout *layout = python->layout;

	if (!layout)
		return false;
	*ret_config = (struct ts_bpf_python){
		.interpreters = python->runtime + python->interpreters_off,
		.next_off = (uint32_t)python->next_off,
		.threads_off = (uint32_t)python->threads_off,
		.thread_next = layout->thread_next,
		.thread_id = layout->thread_id,
		.thread_frame = layout->thread_frame,
		.thread_cframe = layout->thread_cframe,
		.cframe_frame = layout->cframe_frame,
		.cframe_previous = layout->cframe_previous,
		.frame_code = layout->frame_code,
		.frame_previous = layout->frame_previous,
		.frame_instruction = layout->frame_instruction,
		.frame_owner = layout->frame_owner,
		.frame_is_entry = layout->frame_is_entry,
		.frame_bytes = frame_bytes(layout),
		.offset = layout->offset,
		.chunks = layout->minor >= 11,
		.shims = layout->shims,
		.entries = layout->entries,
	};
	return true;
}

/* ---- native and Python ---- */

static uint32_t put_segment(const struct ts_remote_python *python, const struct segment *segment,
			    uint32_t first, uint64_t *frames, uint32_t n)
{
	for (uint32_t i = 0; i < segment->n_frames; i++)
		frames[n++] = python->frames[first + i];
	return n;
}

/*
 * Merges Python and native frames of a Python before 3.10, where each Python function is one call
 * of the evaluator. Matches the frames from the outermost inwards, because the outermost frames
 * change least.
 */
static uint32_t merge_by_code(const struct ts_remote_python *python,
			      const struct ts_unwound_frames *native, uint64_t *frames)
{
	uint32_t n_evaluators = 0, n = 0, next = 0;

	for (uint32_t i = 0; i < native->n; i++)
		n_evaluators += native->frames[i] - 1 - python->evaluator < python->evaluator_bytes;
	/*
	 * Functions that began after the sample are not in the native stack: skip them. A call of
	 * the evaluator that has ended since the sample keeps its native frame.
	 */
	next = python->n_frames > n_evaluators && native->is_complete
		       ? python->n_frames - n_evaluators
		       : 0;
	for (uint32_t i = 0; i < native->n; i++) {
		bool is_evaluator =
			native->frames[i] - 1 - python->evaluator < python->evaluator_bytes;

		if (is_evaluator && next < python->n_frames &&
		    n_evaluators <= python->n_frames - next)
			frames[n++] = python->frames[next++];
		else
			frames[n++] = native->frames[i];
		n_evaluators -= is_evaluator;
	}
	for (; !native->is_complete && next < python->n_frames; next++)
		frames[n++] = python->frames[next];
	return n;
}

/*
 * Merges Python and native frames of Python 3.10 and later, where each call of the evaluator has an
 * address on the stack. If a call has no native frame in the sample, it began or ended after the
 * sample was taken.
 */
static uint32_t merge_by_place(const struct ts_remote_python *python,
			       const struct ts_unwound_frames *native, uint64_t *frames)
{
	uint32_t n = 0, k = 0, first = 0;

	for (uint32_t i = 0; i < native->n; i++) {
		bool is_evaluator = false;

		while (k < python->n_segments && python->segments[k].at <= native->at[i]) {
			/* The segment lies below the sample's frames: it began after the sample. */
			first += python->segments[k++].n_frames;
		}
		while (k < python->n_segments && i + 1 < native->n &&
		       python->segments[k].at < native->at[i + 1]) {
			n = put_segment(python, &python->segments[k], first, frames, n);
			first += python->segments[k++].n_frames;
			is_evaluator = true;
		}
		if (!is_evaluator)
			frames[n++] = native->frames[i];
	}
	/* The copied stack ends before the outermost functions; append them. */
	for (; !native->is_complete && k < python->n_segments; k++) {
		n = put_segment(python, &python->segments[k], first, frames, n);
		first += python->segments[k].n_frames;
	}
	return n;
}

uint32_t ts_remote_python_merge(const struct ts_remote_python *python,
				const struct ts_unwound_frames *native, uint64_t *ret_frames)
{
	return python->layout->minor < 10 ? merge_by_code(python, native, ret_frames)
					  : merge_by_place(python, native, ret_frames);
}

/* ---- new and free --------------------------------------------------------------------------- */

int ts_remote_python_new(pid_t pid, struct ts_images *images, ts_remote_python_text *text,
			 void *data, struct ts_remote_python **ret_python)
{
	struct ts_remote_python *python = calloc(1, sizeof(*python));
	int r;

	if (!python)
		return ts_error_origin(-ENOMEM);
	python->pid = pid;
	python->images = images;
	r = ts_remote_codes_new(pid, text, data, &python->codes);
	if (r) {
		free(python);
		return r;
	}
	*ret_python = python;
	return 0;
}

void ts_remote_python_free(struct ts_remote_python *python)
{
	if (!python)
		return;
	ts_remote_codes_free(python->codes);
	free(python);
}
