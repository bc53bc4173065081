/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the Python stack of a thread in another process and merges it with the native stack.
 * sampling.c calls this module right after the record of a sample woke the sampler, or with a stack
 * that the kernel read (sample.bpf.c). This module calls pycode.c for the frames' functions and
 * sample-image.c for symbols.
 *
 * One process_vm_readv() reads the thread's state and all frames of its previous stack, because
 * most of them still exist. Only new frames are read one by one.
 */
#include "daemon/sample/remote-python.h"

#include <stdio.h>
#include <sys/uio.h>

#include "daemon/sample/pycode.h"
#include "daemon/sample/remote.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/clock.h"
#include "proto/abi/map.h"

#define TRIES	     3u
#define FRAME_BYTES  136u /* covers each field of a frame in all versions */
#define THREAD_BYTES 184u
#define SPANS_BYTES  (32u * 1024) /* read by one call, with the gaps between frames */
/*
 * Largest gap between two frames that are read in one span. The cost depends on the number of
 * pages, not of bytes.
 */
#define GAP_BYTES   1024u
#define THREADS_MAX 1024u /* number of thread states that a search reads */
#define SEARCH_NS   UINT64_C(100000000)
#define GLIBC_TID   720u /* offset in struct pthread, x86-64, of the kernel's thread number */
TS_STATIC_ASSERT(TS_BPF_PYTHON_FRAMES <= TS_REMOTE_PYTHON_FRAMES, "a stack of the kernel fits");
TS_STATIC_ASSERT(TS_BPF_PYTHON_NONE == TS_PYTHON_NONE, "one word for none");

struct frame_copy {
	uint64_t address;
	uint8_t bytes[FRAME_BYTES];
};

struct thread {
	uint64_t state; /* address of the thread's state; 0: the search at searched_ns found none */
	uint64_t pthread;
	uint64_t searched_ns;
	uint32_t n_last;
	struct frame_copy *last; /* frames of its previous stack, outermost last */
};

struct span {
	uint64_t start, end;
};

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
	struct ts_map thread_by_tid;
	struct thread threads[THREADS_MAX];
	uint32_t n_threads;
	/* The stack that was read last. */
	uint64_t frames[TS_REMOTE_PYTHON_FRAMES];
	struct segment segments[TS_REMOTE_PYTHON_FRAMES];
	uint32_t n_frames, n_segments;
	uint8_t spans[SPANS_BYTES];
	struct frame_copy chain[TS_REMOTE_PYTHON_FRAMES * 2];
	uint32_t n_chain;
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

/* ---- threads ---- */

static bool is_thread(const struct ts_remote_python *python, uint64_t state, uint32_t tid,
		      uint64_t *ret_pthread)
{
	const struct ts_python_layout *layout = python->layout;
	uint64_t words[2];
	int32_t number;

	if (!ts_remote_read(python->pid, state + layout->thread_id, words, sizeof(words)))
		return false;
	*ret_pthread = words[0];
	/*
	 * In Python 3.11 and later, the kernel's thread id is the next word. In earlier versions,
	 * only the C library's thread structure has it.
	 */
	if (layout->minor >= 11)
		return words[1] == tid;
	return ts_remote_read(python->pid, words[0] + GLIBC_TID, &number, sizeof(number)) &&
	       (uint32_t)number == tid;
}

static uint64_t search_thread(const struct ts_remote_python *python, uint32_t tid,
			      uint64_t *ret_pthread)
{
	uint64_t interpreter, state;
	unsigned n = 0;

	if (!ts_remote_word(python->pid, python->runtime + python->interpreters_off, &interpreter))
		return 0;
	for (; interpreter && n < THREADS_MAX; n++) {
		if (!ts_remote_word(python->pid, interpreter + python->threads_off, &state))
			return 0;
		for (; state && n < THREADS_MAX; n++) {
			if (is_thread(python, state, tid, ret_pthread))
				return state;
			if (!ts_remote_word(python->pid, state + python->layout->thread_next,
					    &state))
				return 0;
		}
		if (!ts_remote_word(python->pid, interpreter + python->next_off, &interpreter))
			return 0;
	}
	return 0;
}

/* Returns the entry of a thread, new if needed. NULL: there is no room for one more. */
static struct thread *find_thread(struct ts_remote_python *python, uint32_t tid)
{
	uint32_t place = ts_map_get(&python->thread_by_tid, tid);

	if (place)
		return &python->threads[place - 1];
	if (python->n_threads == THREADS_MAX ||
	    ts_map_set(&python->thread_by_tid, tid, python->n_threads + 1))
		return NULL;
	return &python->threads[python->n_threads++];
}

/* ---- frames ---- */

/*
 * Joins frames of the previous stack that lie close together, from last[i] on, to one span. The
 * span has at most `capacity` bytes, which is room for at least one frame. Returns the index after
 * its last frame.
 */
static uint32_t join_frames(const struct thread *thread, uint32_t i, size_t capacity,
			    struct span *ret_span)
{
	*ret_span = (struct span){thread->last[i].address, thread->last[i].address + FRAME_BYTES};
	for (i++; i < thread->n_last; i++) {
		uint64_t start = thread->last[i].address, end = start + FRAME_BYTES;

		if (end + GAP_BYTES < ret_span->start || start > ret_span->end + GAP_BYTES)
			break;
		start = start < ret_span->start ? start : ret_span->start;
		end = end > ret_span->end ? end : ret_span->end;
		if (end - start > capacity)
			break;
		*ret_span = (struct span){start, end};
	}
	return i;
}

/*
 * Reads the thread's state and the frames of its previous stack by one call. Returns the number of
 * frames that were read; UINT32_MAX: the state cannot be read.
 */
static uint32_t read_together(struct ts_remote_python *python, struct thread *thread,
			      uint8_t *ret_state)
{
	struct iovec there[1 + TS_REMOTE_PYTHON_FRAMES];
	struct iovec here[2] = {{ret_state, THREAD_BYTES}, {python->spans, 0}};
	uint32_t ends[TS_REMOTE_PYTHON_FRAMES];
	uint32_t n_spans = 0, n_known = 0;
	const uint8_t *bytes = python->spans;
	struct span span;
	ssize_t n_bytes;

	there[0] = (struct iovec){(void *)(uintptr_t)thread->state, THREAD_BYTES};
	for (uint32_t i = 0; i < thread->n_last && SPANS_BYTES - here[1].iov_len >= FRAME_BYTES;
	     n_spans++) {
		i = ends[n_spans] = join_frames(thread, i, SPANS_BYTES - here[1].iov_len, &span);
		there[1 + n_spans] =
			(struct iovec){(void *)(uintptr_t)span.start, span.end - span.start};
		here[1].iov_len += span.end - span.start;
	}
	n_bytes = process_vm_readv(python->pid, here, 2, there, 1 + n_spans, 0);
	n_bytes -= (ssize_t)THREAD_BYTES;
	if (n_bytes < 0)
		return UINT32_MAX;
	for (uint32_t k = 0; k < n_spans && n_bytes >= (ssize_t)there[1 + k].iov_len; k++) {
		uint64_t start = (uint64_t)(uintptr_t)there[1 + k].iov_base;

		for (; n_known < ends[k]; n_known++)
			memcpy(thread->last[n_known].bytes,
			       bytes + (thread->last[n_known].address - start), FRAME_BYTES);
		bytes += there[1 + k].iov_len;
		n_bytes -= (ssize_t)there[1 + k].iov_len;
	}
	return n_known;
}

/*
 * Returns the bytes of a frame: from the joint read, or by a separate call. NULL: the frame cannot
 * be read.
 */
static const uint8_t *frame_at(struct ts_remote_python *python, const struct thread *thread,
			       uint32_t n_known, uint32_t *hint, uint64_t address)
{
	struct frame_copy *copy = &python->chain[python->n_chain];

	copy->address = address;
	for (uint32_t i = *hint; i < n_known; i++)
		if (thread->last[i].address == address) {
			memcpy(copy->bytes, thread->last[i].bytes, FRAME_BYTES);
			*hint = i + 1;
			python->n_chain++;
			return copy->bytes;
		}
	if (address % 8 || !ts_remote_read(python->pid, address, copy->bytes, FRAME_BYTES))
		return NULL;
	python->n_chain++;
	return copy->bytes;
}

/* Returns the frame's instruction field: a pointer or a number. */
static uint64_t instruction_in(const struct ts_python_layout *layout, const uint8_t *frame)
{
	return layout->offset == TS_PYTHON_OFFSET_POINTER
		       ? ts_word_in(frame, layout->frame_instruction)
		       : (uint64_t)(int64_t)ts_int_in(frame, layout->frame_instruction);
}

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

static unsigned owner_in(const struct ts_python_layout *layout, const uint8_t *frame)
{
	return layout->frame_owner == TS_PYTHON_NONE ? 0 : frame[layout->frame_owner];
}

static void close_segment(struct ts_remote_python *python, uint64_t at, uint32_t *n_closed)
{
	python->segments[python->n_segments++] = (struct segment){at, python->n_frames - *n_closed};
	*n_closed = python->n_frames;
}

/* Reads the chain of frames. *ret_holds is false if the chain is inconsistent or cannot be read. */
static int follow(struct ts_remote_python *python, const struct thread *thread, uint32_t n_known,
		  uint64_t frame, uint64_t cframe, bool *ret_holds)
{
	const struct ts_python_layout *layout = python->layout;
	uint64_t now = ts_clock_monotonic_ns();
	uint32_t n_closed = 0, hint = 0;

	python->n_frames = python->n_segments = python->n_chain = 0;
	*ret_holds = false;
	while (frame) {
		const uint8_t *bytes;
		uint64_t code, previous;
		int32_t offset;
		unsigned owner;
		bool is_code;
		int r;

		/* If the stack is too deep, the outermost frames are left out. */
		if (python->n_frames == TS_REMOTE_PYTHON_FRAMES ||
		    python->n_segments == TS_REMOTE_PYTHON_FRAMES ||
		    python->n_chain == TS_ARRAY_LEN(python->chain))
			break;
		bytes = frame_at(python, thread, n_known, &hint, frame);
		if (!bytes)
			return 0;
		previous = ts_word_in(bytes, layout->frame_previous);
		code = ts_word_in(bytes, layout->frame_code);
		owner = owner_in(layout, bytes);
		if (layout->shims && owner == TS_PYTHON_OWNED_BY_C_STACK) {
			close_segment(python, frame, &n_closed);
			frame = previous;
			continue;
		}
		if (place_in_code(layout, code, instruction_in(layout, bytes), owner, &offset)) {
			r = ts_remote_codes_frame(python->codes, code, offset, now,
						  &python->frames[python->n_frames], &is_code);
			if (r || !is_code)
				return r;
			python->n_frames++;
		}
		if (!layout->shims && (!layout->entries || bytes[layout->frame_is_entry])) {
			close_segment(python, cframe, &n_closed);
			if (cframe &&
			    !ts_remote_word(python->pid, cframe + layout->cframe_previous, &cframe))
				return 0;
		}
		frame = previous;
	}
	if (n_closed < python->n_frames && python->n_segments < TS_REMOTE_PYTHON_FRAMES)
		close_segment(python, UINT64_MAX, &n_closed);
	*ret_holds = true;
	return 0;
}

static void keep_chain(const struct ts_remote_python *python, struct thread *thread)
{
	uint32_t n = python->n_chain < TS_REMOTE_PYTHON_FRAMES ? python->n_chain
							       : TS_REMOTE_PYTHON_FRAMES;

	if (!thread->last)
		thread->last = malloc(TS_REMOTE_PYTHON_FRAMES * sizeof(*thread->last));
	thread->n_last = thread->last ? n : 0;
	if (thread->last)
		memcpy(thread->last, python->chain, n * sizeof(*thread->last));
}

static int read_once(struct ts_remote_python *python, struct thread *thread, bool *ret_holds)
{
	const struct ts_python_layout *layout = python->layout;
	uint64_t frame, cframe = 0;
	uint8_t state[THREAD_BYTES];
	uint32_t n_known = read_together(python, thread, state);
	int r;

	*ret_holds = false;
	if (n_known == UINT32_MAX || ts_word_in(state, layout->thread_id) != thread->pthread) {
		/* The state now belongs to another thread. */
		thread->state = 0;
		thread->searched_ns = 0;
		return 0;
	}
	if (layout->thread_cframe != TS_PYTHON_NONE)
		cframe = ts_word_in(state, layout->thread_cframe);
	if (layout->thread_frame != TS_PYTHON_NONE)
		frame = ts_word_in(state, layout->thread_frame);
	else if (!ts_remote_word(python->pid, cframe + layout->cframe_frame, &frame))
		return 0;
	r = follow(python, thread, n_known, frame, cframe, ret_holds);
	if (!r && *ret_holds)
		keep_chain(python, thread);
	return r;
}

int ts_remote_python_read(struct ts_remote_python *python, uint32_t tid, bool *ret_has_frames)
{
	struct thread *thread;
	uint64_t now;
	bool holds = false;
	int r = 0;

	*ret_has_frames = false;
	python->n_frames = python->n_segments = 0;
	thread = python->layout ? find_thread(python, tid) : NULL;
	if (!thread)
		return 0;
	for (unsigned i = 0; i < TRIES && !holds && !r; i++) {
		now = ts_clock_monotonic_ns();
		if (!thread->state && now - thread->searched_ns > SEARCH_NS) {
			thread->state = search_thread(python, tid, &thread->pthread);
			thread->searched_ns = now;
		}
		if (!thread->state)
			return 0;
		r = read_once(python, thread, &holds);
	}
	*ret_has_frames = holds && python->n_frames;
	return r;
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
	for (uint32_t i = 0; i < python->n_threads; i++)
		free(python->threads[i].last);
	ts_map_deinit(&python->thread_by_tid);
	free(python);
}
