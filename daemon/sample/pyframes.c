/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the Python frames of a thread in another process. sampling.c calls this module right after
 * the record of a sample woke the sampler; the thread runs on. So this module only copies
 * addresses: pycode.c finds functions and lines later, for many samples at once.
 *
 * One process_vm_readv() reads the thread's state and the memory in which its previous stack lay,
 * because most of the frames are still there. Only other frames need calls of their own. The cost
 * of a call depends on the number of pages, not of bytes.
 */
#include "daemon/sample/pyframes.h"

#include "daemon/sample/remote.h"
#include "daemon/util/daemon-error.h"
#include "proto/abi/clock.h"
#include "proto/abi/map.h"
#include "proto/abi/python.h"

#define TRIES	     3u
#define THREADS_MAX  1024u /* number of thread states that a search reads */
#define SEARCH_NS    UINT64_C(100000000)
#define GLIBC_TID    720u /* offset in struct pthread, x86-64, of the kernel's thread number */
#define WINDOWS_MAX  256u
#define WINDOW_BYTES 4096u
#define COPY_BYTES   (32u * 1024)
/* Largest gap between two frames in one window. */
#define GAP_BYTES 1024u
/* Frames are joined to one of so many windows: the frames of C calls lie on another stack. */
#define JOINED_LAST 3u
/* Bytes above the innermost frame that are read too, for the functions that it calls. */
#define ABOVE_BYTES 512u
#define PAGE_BYTES  4096u

/* A part of the process's memory. */
struct window {
	uint64_t start;
	uint32_t n;
	uint32_t at; /* its place in the copy */
};

struct thread {
	uint64_t state; /* address of the thread's state; 0: the search at searched_ns found none */
	uint64_t pthread;
	uint64_t searched_ns;
	uint32_t n_windows;
	struct window *windows; /* the memory of its previous stack */
};

struct ts_remote_frames {
	pid_t pid;
	struct ts_bpf_python layout;
	struct ts_map thread_by_tid;
	struct thread threads[THREADS_MAX];
	uint32_t n_threads;
	/* The stack that is being read. */
	struct window known[WINDOWS_MAX]; /* valid parts of the copy */
	struct window next[WINDOWS_MAX];  /* windows for the next stack */
	uint32_t n_known, n_next;
	uint32_t hint; /* the last window that held a frame */
	uint8_t state[TS_BPF_PYTHON_THREAD_BYTES];
	uint8_t copy[COPY_BYTES];
	uint8_t single[TS_BPF_PYTHON_FRAME_BYTES];
};

/* ---- threads ---- */

static bool is_thread(const struct ts_remote_frames *frames, uint64_t state, uint32_t tid,
		      uint64_t *ret_pthread)
{
	uint64_t words[2];
	int32_t number;

	if (!ts_remote_read(frames->pid, state + frames->layout.thread_id, words, sizeof(words)))
		return false;
	*ret_pthread = words[0];
	/*
	 * In Python 3.11 and later, the kernel's thread id is the next word. In earlier versions,
	 * only the C library's thread structure has it.
	 */
	if (frames->layout.chunks)
		return words[1] == tid;
	return ts_remote_read(frames->pid, words[0] + GLIBC_TID, &number, sizeof(number)) &&
	       (uint32_t)number == tid;
}

static uint64_t search_thread(const struct ts_remote_frames *frames, uint32_t tid,
			      uint64_t *ret_pthread)
{
	const struct ts_bpf_python *layout = &frames->layout;
	uint64_t interpreter, state;
	unsigned n = 0;

	if (!ts_remote_word(frames->pid, layout->interpreters, &interpreter))
		return 0;
	for (; interpreter && n < THREADS_MAX; n++) {
		if (!ts_remote_word(frames->pid, interpreter + layout->threads_off, &state))
			return 0;
		for (; state && n < THREADS_MAX; n++) {
			if (is_thread(frames, state, tid, ret_pthread))
				return state;
			if (!ts_remote_word(frames->pid, state + layout->thread_next, &state))
				return 0;
		}
		if (!ts_remote_word(frames->pid, interpreter + layout->next_off, &interpreter))
			return 0;
	}
	return 0;
}

/*
 * Forgets all threads. Threads that ended have entries, too; those that run are found again.
 */
static void forget_threads(struct ts_remote_frames *frames)
{
	for (uint32_t i = 0; i < frames->n_threads; i++)
		free(frames->threads[i].windows);
	memset(frames->threads, 0, sizeof(frames->threads));
	frames->n_threads = 0;
	ts_map_deinit(&frames->thread_by_tid);
	frames->thread_by_tid = (struct ts_map){0};
}

/* Returns the entry of a thread, new if needed. NULL: no memory. */
static struct thread *find_thread(struct ts_remote_frames *frames, uint32_t tid)
{
	uint32_t place = (uint32_t)ts_map_get(&frames->thread_by_tid, tid);
	struct thread *thread;

	if (place)
		return &frames->threads[place - 1];
	if (frames->n_threads == THREADS_MAX)
		forget_threads(frames);
	thread = &frames->threads[frames->n_threads];
	thread->windows = malloc(WINDOWS_MAX * sizeof(*thread->windows));
	if (!thread->windows || ts_map_set(&frames->thread_by_tid, tid, frames->n_threads + 1)) {
		free(thread->windows);
		thread->windows = NULL;
		return NULL;
	}
	frames->n_threads++;
	return thread;
}

/* ---- memory ---- */

/* Reads the thread's state and the memory of its previous stack by one call. */
static bool read_together(struct ts_remote_frames *frames, const struct thread *thread)
{
	struct iovec there[1 + WINDOWS_MAX];
	struct iovec here[2] = {{frames->state, sizeof(frames->state)}, {frames->copy, 0}};
	uint32_t n = 0;
	ssize_t n_bytes;

	there[0] = (struct iovec){(void *)(uintptr_t)thread->state, sizeof(frames->state)};
	for (; n < thread->n_windows; n++) {
		struct window window = thread->windows[n];

		if (here[1].iov_len + window.n > COPY_BYTES)
			break;
		window.at = (uint32_t)here[1].iov_len;
		there[1 + n] = (struct iovec){(void *)(uintptr_t)window.start, window.n};
		here[1].iov_len += window.n;
		frames->known[n] = window;
	}
	n_bytes = process_vm_readv(frames->pid, here, 2, there, 1 + n, 0);
	n_bytes -= (ssize_t)sizeof(frames->state);
	if (n_bytes < 0)
		return false;
	/* If the process has unmapped a window, the call ends before that window. */
	while (n && frames->known[n - 1].at + frames->known[n - 1].n > (size_t)n_bytes)
		n--;
	frames->n_known = n;
	frames->n_next = 0;
	frames->hint = 0;
	return true;
}

/* Adds memory to the windows for the next stack. */
static void note(struct ts_remote_frames *frames, uint64_t start, uint32_t n)
{
	uint64_t end = start + n;

	for (uint32_t i = 0; i < JOINED_LAST && i < frames->n_next; i++) {
		struct window *window = &frames->next[frames->n_next - 1 - i];
		uint64_t window_end = window->start + window->n;
		uint64_t low = start < window->start ? start : window->start;
		uint64_t high = end > window_end ? end : window_end;

		if (end + GAP_BYTES < window->start || start > window_end + GAP_BYTES ||
		    high - low > WINDOW_BYTES)
			continue;
		*window = (struct window){low, (uint32_t)(high - low), 0};
		return;
	}
	if (frames->n_next < WINDOWS_MAX)
		frames->next[frames->n_next++] = (struct window){start, n, 0};
}

/* Returns n bytes of the process, copied before or now. NULL: they cannot be read. */
static const uint8_t *bytes_at(struct ts_remote_frames *frames, uint64_t address, uint32_t n)
{
	note(frames, address, n);
	for (uint32_t i = 0; i < frames->n_known; i++) {
		uint32_t k = (frames->hint + i) % frames->n_known;
		const struct window *window = &frames->known[k];

		if (address >= window->start && n <= window->n &&
		    address - window->start <= window->n - n) {
			frames->hint = k;
			return frames->copy + window->at + (address - window->start);
		}
	}
	return ts_remote_read(frames->pid, address, frames->single, n) ? frames->single : NULL;
}

static bool word_at(struct ts_remote_frames *frames, uint64_t address, uint64_t *ret_word)
{
	const uint8_t *bytes = address ? bytes_at(frames, address, 8) : NULL;

	if (bytes)
		*ret_word = ts_word_in(bytes, 0);
	return bytes != NULL;
}

/* Stores the windows for the next stack, whose innermost frame may lie above this one's. */
static void keep_windows(struct ts_remote_frames *frames, struct thread *thread, uint64_t frame)
{
	for (uint32_t i = 0; i < frames->n_next && frames->layout.chunks; i++) {
		struct window *window = &frames->next[i];
		uint64_t end = window->start + window->n, last = (end - 1) | (PAGE_BYTES - 1);
		uint64_t space = last + 1 - end;

		if (frame - window->start < window->n) {
			window->n += (uint32_t)(space < ABOVE_BYTES ? space : ABOVE_BYTES);
			break;
		}
	}
	thread->n_windows = frames->n_next;
	memcpy(thread->windows, frames->next, frames->n_next * sizeof(*frames->next));
}

/* ---- frames ---- */

static void take_frame(const struct ts_bpf_python *layout, const uint8_t *bytes,
		       struct ts_bpf_python_frame *ret_frame)
{
	*ret_frame = (struct ts_bpf_python_frame){
		.code = ts_word_in(bytes, layout->frame_code),
		.instruction =
			layout->offset == TS_PYTHON_OFFSET_POINTER
				? ts_word_in(bytes, layout->frame_instruction)
				: (uint64_t)(int64_t)ts_int_in(bytes, layout->frame_instruction),
		.owner = layout->frame_owner == TS_PYTHON_NONE ? 0 : bytes[layout->frame_owner],
	};
}

/*
 * Reads the chain of frames. False: the chain cannot be read. If the stack is too deep, the
 * outermost frames are left out.
 */
static bool follow(struct ts_remote_frames *frames, uint64_t frame, uint64_t cframe,
		   struct ts_bpf_python_stack *stack)
{
	const struct ts_bpf_python *layout = &frames->layout;

	while (frame && stack->n < TS_BPF_PYTHON_FRAMES) {
		struct ts_bpf_python_frame *entry = &stack->frames[stack->n];
		const uint8_t *bytes =
			frame % 8 ? NULL : bytes_at(frames, frame, layout->frame_bytes);
		bool is_entry;

		if (!bytes)
			return false;
		take_frame(layout, bytes, entry);
		is_entry = !layout->entries || bytes[layout->frame_is_entry];
		if (layout->shims && entry->owner == TS_PYTHON_OWNED_BY_C_STACK) {
			entry->code = 0;
			entry->at = frame;
			entry->is_end = 1;
		}
		frame = ts_word_in(bytes, layout->frame_previous);
		if (!layout->shims && is_entry) {
			entry->at = cframe;
			entry->is_end = 1;
			if (cframe && !word_at(frames, cframe + layout->cframe_previous, &cframe))
				return false;
		}
		stack->n++;
	}
	return true;
}

static bool read_once(struct ts_remote_frames *frames, struct thread *thread,
		      struct ts_bpf_python_stack *stack)
{
	const struct ts_bpf_python *layout = &frames->layout;
	uint64_t frame, cframe = 0;

	stack->n = 0;
	if (!read_together(frames, thread) ||
	    ts_word_in(frames->state, layout->thread_id) != thread->pthread) {
		/* The state now belongs to another thread. */
		thread->state = 0;
		thread->searched_ns = 0;
		return false;
	}
	if (layout->thread_cframe != TS_PYTHON_NONE)
		cframe = ts_word_in(frames->state, layout->thread_cframe);
	if (layout->thread_frame != TS_PYTHON_NONE)
		frame = ts_word_in(frames->state, layout->thread_frame);
	else if (!word_at(frames, cframe + layout->cframe_frame, &frame))
		return false;
	if (!follow(frames, frame, cframe, stack))
		return false;
	keep_windows(frames, thread, frame);
	return true;
}

bool ts_remote_frames_read(struct ts_remote_frames *frames, uint32_t tid,
			   struct ts_bpf_python_stack *ret_stack)
{
	struct thread *thread = find_thread(frames, tid);
	bool holds = false;

	ret_stack->n = ret_stack->is_broken = 0;
	if (!thread)
		return false;
	for (unsigned i = 0; i < TRIES && !holds; i++) {
		if (!thread->state) {
			uint64_t now = ts_clock_monotonic_ns();

			if (now - thread->searched_ns <= SEARCH_NS)
				return false;
			thread->state = search_thread(frames, tid, &thread->pthread);
			thread->searched_ns = now;
			thread->n_windows = 0;
		}
		if (!thread->state)
			return false;
		holds = read_once(frames, thread, ret_stack);
	}
	return holds && ret_stack->n;
}

/* ---- new and free ---- */

int ts_remote_frames_new(pid_t pid, const struct ts_bpf_python *config,
			 struct ts_remote_frames **ret_frames)
{
	struct ts_remote_frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return ts_error_origin(-ENOMEM);
	frames->pid = pid;
	frames->layout = *config;
	*ret_frames = frames;
	return 0;
}

void ts_remote_frames_free(struct ts_remote_frames *frames)
{
	if (!frames)
		return;
	forget_threads(frames);
	free(frames);
}
