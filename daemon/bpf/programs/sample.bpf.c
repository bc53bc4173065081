// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause
/*
 * Runs on a perf event of a sampler, in the sampled thread, when the event's clock expires. The
 * program reads the thread's Python frames and writes them to the sampler's ring. perf's own ring
 * still receives the event with registers and stack. The sampler opened the events; the kernel
 * allowed it because the sampler has the rights of the process's user.
 *
 * This program does not validate the data that it reads. Wrong memory gives a wrong stack of the
 * same process. The sampler checks every code object.
 */
#include "daemon/bpf/programs/kernel.bpf.h"

#include <linux/bpf_perf_event.h>

#include "daemon/bpf/sample.h"

#define OFFSET_POINTER	   2
#define OWNED_BY_C_STACK   3
#define THREADS_MAX	   256
#define SAMPLED_ALSO_BELOW 1
#define PAGE_BYTES	   4096
/*
 * Bytes of the interpreter's stack that one call reads: about 13 frames. A call costs more than the
 * copy of these bytes.
 */
#define BLOCK_BYTES 2048
/* A caller's frame that lies at most so many bytes below the called one is in the same block. */
#define NEAR_BYTES 1024
/* The verifier checks an access by these masks. */
#define PLACE_MASK 4095
#define FIELD_MASK 127

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct ts_bpf_python);
} python SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, TS_BPF_PYTHON_RING_BYTES);
} python_stacks SEC(".maps");

/* The last known Python thread state of each thread. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
} python_threads SEC(".maps");

/* The bytes that the program has read, and the stack that it makes of them; one for each CPU. */
struct scratch {
	__u64 block_start;
	__u64 block_bytes; /* 0: no block was read yet */
	__u64 last;	   /* address of the frame before */
	__u64 frame;	   /* address of the next frame */
	__u64 cframe;	   /* the C frame of the next frame's evaluator, or 0 */
	__u8 thread[TS_BPF_PYTHON_THREAD_BYTES];
	__u8 cframe_bytes[TS_BPF_PYTHON_CFRAME_BYTES];
	/* A block, and at BLOCK_BYTES a single frame. The room behind is for the masks. */
	__u8 bytes[PLACE_MASK + FIELD_MASK + 10];
	struct ts_bpf_python_stack stack;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline __u64 word_at(__u64 address)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)address);
	return word;
}

/* Returns a word of the copied thread state. */
static __always_inline __u64 word_of_thread(const struct scratch *scratch, __u32 off)
{
	const __u64 *word = (const void *)&scratch->thread[off];

	return off <= TS_BPF_PYTHON_THREAD_BYTES - 8 ? *word : 0;
}

static __always_inline __u64 word_of_cframe(const struct scratch *scratch, __u32 off)
{
	const __u64 *word = (const void *)&scratch->cframe_bytes[off];

	return off <= TS_BPF_PYTHON_CFRAME_BYTES - 8 ? *word : 0;
}

static __always_inline __u64 word_in(const struct scratch *scratch, __u32 place, __u32 off)
{
	/* The variable hides the array's alignment, because of which clang would load bytes. */
	const __u64 *word =
		(const void *)&scratch->bytes[(place & PLACE_MASK) + (off & FIELD_MASK)];

	return *word;
}

static __always_inline __u32 byte_in(const struct scratch *scratch, __u32 place, __u32 off)
{
	return scratch->bytes[(place & PLACE_MASK) + (off & FIELD_MASK)];
}

/*
 * Finds the Python thread state whose thread_id is `self`: the value of pthread_self(), which is
 * the thread's fs base.
 */
static __always_inline __u64 search(const struct ts_bpf_python *layout, __u64 self)
{
	__u64 interpreter = word_at(layout->interpreters);
	__u64 state = interpreter ? word_at(interpreter + layout->threads_off) : 0;

	for (int i = 0; i < THREADS_MAX && interpreter; i++) {
		if (!state) {
			interpreter = word_at(interpreter + layout->next_off);
			state = interpreter ? word_at(interpreter + layout->threads_off) : 0;
			continue;
		}
		if (word_at(state + layout->thread_id) == self)
			return state;
		state = word_at(state + layout->thread_next);
	}
	return 0;
}

static __always_inline bool read_state(const struct ts_bpf_python *layout, __u64 state, __u64 self,
				       struct scratch *scratch)
{
	return !bpf_probe_read_user(scratch->thread, sizeof(scratch->thread), (void *)state) &&
	       word_of_thread(scratch, layout->thread_id) == self;
}

/* Reads the thread state of this thread into the scratch. False: the thread runs no Python. */
static __always_inline bool find_state(const struct ts_bpf_python *layout, __u32 tid,
				       struct scratch *scratch)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 self = BPF_CORE_READ(task, thread.fsbase), state;
	__u64 *known = bpf_map_lookup_elem(&python_threads, &tid);

	if (known && read_state(layout, *known, self, scratch))
		return true;
	state = search(layout, self);
	if (!state || !read_state(layout, state, self, scratch))
		return false;
	bpf_map_update_elem(&python_threads, &tid, &state, BPF_ANY);
	return true;
}

/*
 * Reads the frame and the bytes below it, which hold its callers, within the frame's page: the page
 * below may not be mapped.
 */
static __always_inline bool read_block(struct scratch *scratch, __u64 frame, __u32 n_bytes)
{
	__u64 end = frame + n_bytes, start = end - BLOCK_BYTES;
	__u64 page = frame & ~(__u64)(PAGE_BYTES - 1), n;

	start = start < page ? page : start;
	n = end - start;
	if (n > BLOCK_BYTES || bpf_probe_read_user(scratch->bytes, n, (void *)start)) {
		scratch->block_bytes = 0;
		return false;
	}
	scratch->block_start = start;
	scratch->block_bytes = n;
	return true;
}

/*
 * Reads a frame unless the block has it already. *ret_place is where its bytes are in the scratch.
 */
static __always_inline bool read_frame(const struct ts_bpf_python *layout, struct scratch *scratch,
				       __u64 frame, __u32 *ret_place)
{
	__u64 off = frame - scratch->block_start, distance = scratch->last - frame;
	__u32 n = layout->frame_bytes;

	if (n > TS_BPF_PYTHON_FRAME_BYTES)
		return false;
	scratch->last = frame;
	if (off < scratch->block_bytes && off + n <= scratch->block_bytes) {
		*ret_place = off;
		return true;
	}
	if (layout->chunks && distance <= NEAR_BYTES) {
		*ret_place = 0;
		if (!read_block(scratch, frame, n))
			return false;
		*ret_place = frame - scratch->block_start;
		return true;
	}
	*ret_place = BLOCK_BYTES;
	return !bpf_probe_read_user(scratch->bytes + BLOCK_BYTES, n, (void *)frame);
}

/* Finds the innermost frame and the C frame of its evaluator. */
static __always_inline void find_frame(const struct ts_bpf_python *layout, struct scratch *scratch)
{
	scratch->cframe = word_of_thread(scratch, layout->thread_cframe);
	scratch->frame = 0;
	if (layout->thread_frame != TS_BPF_PYTHON_NONE)
		scratch->frame = word_of_thread(scratch, layout->thread_frame);
	else if (!bpf_probe_read_user(scratch->cframe_bytes, sizeof(scratch->cframe_bytes),
				      (void *)scratch->cframe))
		scratch->frame = word_of_cframe(scratch, layout->cframe_frame);
	scratch->block_start = scratch->block_bytes = 0;
	scratch->last = scratch->frame;
}

static __always_inline void end_segment(const struct ts_bpf_python *layout, struct scratch *scratch,
					__u64 frame, __u32 place, struct ts_bpf_python_frame *entry)
{
	if (layout->shims) {
		if (entry->owner == OWNED_BY_C_STACK) {
			entry->code = 0;
			entry->at = frame;
			entry->is_end = 1;
		}
	} else if (!layout->entries || byte_in(scratch, place, layout->frame_is_entry)) {
		entry->at = scratch->cframe;
		entry->is_end = 1;
		if (scratch->cframe)
			scratch->cframe = word_at(scratch->cframe + layout->cframe_previous);
	}
}

/*
 * Appends the next frame to the stack. Returns 0 after the last frame. The function is
 * global, because the verifier checks a global function once and not at each turn of the loop.
 */
__attribute__((noinline)) int take_frame(void)
{
	__u32 key = 0, place;
	const struct ts_bpf_python *layout = bpf_map_lookup_elem(&python, &key);
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &key);
	struct ts_bpf_python_frame *entry;
	__u64 frame, n;

	if (!layout || !scratch)
		return 0;
	n = scratch->stack.n;
	if (n >= TS_BPF_PYTHON_FRAMES)
		return 0;
	frame = scratch->frame;
	entry = &scratch->stack.frames[n];
	if (!read_frame(layout, scratch, frame, &place)) {
		scratch->stack.is_broken = 1;
		return 0;
	}
	entry->code = word_in(scratch, place, layout->frame_code);
	entry->instruction = word_in(scratch, place, layout->frame_instruction);
	if (layout->offset != OFFSET_POINTER)
		entry->instruction = (__u64)(__s64)(__s32)entry->instruction;
	entry->owner = layout->frame_owner == TS_BPF_PYTHON_NONE
			       ? 0
			       : byte_in(scratch, place, layout->frame_owner);
	entry->at = 0;
	entry->is_end = 0;
	end_segment(layout, scratch, frame, place, entry);
	scratch->frame = word_in(scratch, place, layout->frame_previous);
	scratch->stack.n = n + 1;
	return scratch->frame != 0;
}

SEC("perf_event")
int python_sampled(struct bpf_perf_event_data *context)
{
	__u32 key = 0, tid = (__u32)bpf_get_current_pid_tgid();
	struct ts_bpf_python *layout = bpf_map_lookup_elem(&python, &key);
	struct scratch *scratch = bpf_map_lookup_elem(&scratches, &key);
	struct ts_bpf_python_stack *stack;
	__u64 n_bytes;

	if (!layout || !layout->ready || !scratch || !find_state(layout, tid, scratch))
		return SAMPLED_ALSO_BELOW;
	stack = &scratch->stack;
	stack->time_ns = bpf_ktime_get_ns();
	stack->tid = tid;
	stack->is_broken = 0;
	stack->reserved = 0;
	stack->n = 0;
	find_frame(layout, scratch);
	for (int i = 0; i < TS_BPF_PYTHON_FRAMES && scratch->frame && take_frame(); i++)
		;
	n_bytes = __builtin_offsetof(struct ts_bpf_python_stack, frames) +
		  (__u64)stack->n * sizeof(stack->frames[0]);
	if (n_bytes > sizeof(*stack))
		return SAMPLED_ALSO_BELOW;
	/* perf's own record wakes the sampler. */
	bpf_ringbuf_output(&python_stacks, stack, n_bytes, BPF_RB_NO_WAKEUP);
	return SAMPLED_ALSO_BELOW;
}

char dual_license[] SEC("license") = "Dual BSD/GPL";
