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

static __always_inline __u64 word_at(__u64 address)
{
	__u64 word = 0;

	bpf_probe_read_user(&word, sizeof(word), (void *)address);
	return word;
}

static __always_inline __u32 byte_at(__u64 address)
{
	__u8 byte = 0;

	bpf_probe_read_user(&byte, sizeof(byte), (void *)address);
	return byte;
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

static __always_inline __u64 find_state(const struct ts_bpf_python *layout, __u32 tid)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 self = BPF_CORE_READ(task, thread.fsbase), state;
	__u64 *known = bpf_map_lookup_elem(&python_threads, &tid);

	if (known && word_at(*known + layout->thread_id) == self)
		return *known;
	state = search(layout, self);
	if (state)
		bpf_map_update_elem(&python_threads, &tid, &state, BPF_ANY);
	return state;
}

static __always_inline __u64 instruction_of(const struct ts_bpf_python *layout, __u64 frame)
{
	__u64 word = word_at(frame + layout->frame_instruction);

	return layout->offset == OFFSET_POINTER ? word : (__u64)(__s64)(__s32)word;
}

static __always_inline void follow(const struct ts_bpf_python *layout, __u64 state,
				   struct ts_bpf_python_stack *stack)
{
	__u64 cframe = 0, frame;
	__u32 n = 0;

	if (layout->thread_cframe != TS_BPF_PYTHON_NONE)
		cframe = word_at(state + layout->thread_cframe);
	if (layout->thread_frame != TS_BPF_PYTHON_NONE)
		frame = word_at(state + layout->thread_frame);
	else
		frame = word_at(cframe + layout->cframe_frame);
	for (; n < TS_BPF_PYTHON_FRAMES && frame; n++) {
		struct ts_bpf_python_frame *entry = &stack->frames[n];
		__u64 previous = 0;

		if (bpf_probe_read_user(&previous, sizeof(previous),
					(void *)(frame + layout->frame_previous))) {
			stack->is_broken = 1;
			break;
		}
		entry->code = word_at(frame + layout->frame_code);
		entry->instruction = instruction_of(layout, frame);
		entry->owner = layout->frame_owner == TS_BPF_PYTHON_NONE
				       ? 0
				       : byte_at(frame + layout->frame_owner);
		entry->at = 0;
		entry->is_end = 0;
		if (layout->shims) {
			if (entry->owner == OWNED_BY_C_STACK) {
				entry->code = 0;
				entry->at = frame;
				entry->is_end = 1;
			}
		} else if (!layout->entries || byte_at(frame + layout->frame_is_entry)) {
			entry->at = cframe;
			entry->is_end = 1;
			if (cframe)
				cframe = word_at(cframe + layout->cframe_previous);
		}
		frame = previous;
	}
	stack->n = n;
}

SEC("perf_event")
int python_sampled(struct bpf_perf_event_data *context)
{
	__u32 key = 0, tid = (__u32)bpf_get_current_pid_tgid();
	struct ts_bpf_python *layout = bpf_map_lookup_elem(&python, &key);
	struct ts_bpf_python_stack *stack;
	__u64 state;

	if (!layout || !layout->ready)
		return SAMPLED_ALSO_BELOW;
	state = find_state(layout, tid);
	if (!state)
		return SAMPLED_ALSO_BELOW;
	stack = bpf_ringbuf_reserve(&python_stacks, sizeof(*stack), 0);
	if (!stack)
		return SAMPLED_ALSO_BELOW;
	stack->time_ns = bpf_ktime_get_ns();
	stack->tid = tid;
	stack->n = 0;
	stack->is_broken = 0;
	stack->reserved = 0;
	follow(layout, state, stack);
	/* perf's own record wakes the sampler. */
	bpf_ringbuf_submit(stack, BPF_RB_NO_WAKEUP);
	return SAMPLED_ALSO_BELOW;
}

char dual_license[] SEC("license") = "Dual BSD/GPL";
