// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause
/*
 * Fences of GPU drivers, which signal that work is done: fences that traced threads make, and waits
 * of traced threads for any fence.
 */
#include "daemon/bpf/programs/driver.bpf.h"

/* Waits by thread. An entry stays for reuse: start_ns is 0 while the thread waits for no fence. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct ts_bpf_driver);
} waiting SEC(".maps");

SEC("raw_tp/dma_fence_init")
int fence_made(struct bpf_raw_tracepoint_args *context)
{
	struct dma_fence *fence = (struct dma_fence *)context->args[0];
	struct ts_bpf_driver note = {};
	__u64 key = (__u64)fence;

	if (!note_thread(&note, DRIVER_FENCE, key))
		return 0;
	note_fence(&note, fence);
	lose_job(bpf_map_lookup_elem(&working, &key));
	if (bpf_map_update_elem(&working, &key, &note, BPF_ANY))
		lose(note.event.session, TS_BPF_DRIVER);
	return 0;
}

SEC("raw_tp/dma_fence_signaled")
int fence_signaled(struct bpf_raw_tracepoint_args *context)
{
	struct dma_fence *fence = (struct dma_fence *)context->args[0];

	return over((__u64)fence, DRIVER_FENCE, BPF_CORE_READ(fence, error));
}

/* Forgets a fence that is destroyed: it will never be signaled. */
SEC("raw_tp/dma_fence_destroy")
int fence_gone(struct bpf_raw_tracepoint_args *context)
{
	__u64 key = context->args[0];
	struct ts_bpf_driver *note = bpf_map_lookup_elem(&working, &key);

	if (note && note->kind == DRIVER_FENCE)
		bpf_map_delete_elem(&working, &key);
	return 0;
}

SEC("raw_tp/dma_fence_wait_start")
int fence_wait_begun(struct bpf_raw_tracepoint_args *context)
{
	struct dma_fence *fence = (struct dma_fence *)context->args[0];
	struct ts_bpf_driver note = {};
	__u32 tid;

	if (!note_thread(&note, DRIVER_FENCE_WAIT, (__u64)fence))
		return 0;
	note_fence(&note, fence);
	tid = note.event.tid;
	if (bpf_map_update_elem(&waiting, &tid, &note, BPF_ANY))
		lose(note.event.session, TS_BPF_DRIVER);
	return 0;
}

SEC("raw_tp/dma_fence_wait_end")
int fence_wait_over(struct bpf_raw_tracepoint_args *context)
{
	__u64 caller = bpf_get_current_pid_tgid(), now;
	struct ts_bpf_traced *settings = find_traced(caller >> 32, TS_BPF_DRIVER);
	__u32 tid = (__u32)caller;
	struct ts_bpf_driver *note;

	if (!settings)
		return 0;
	note = bpf_map_lookup_elem(&waiting, &tid);
	/* The wait began before the process was watched. */
	if (!note || !is_noted(settings, &note->event) || note->key != context->args[0])
		return 0;
	if (!is_of_peer(BY_COPY, settings, (void *)bpf_get_current_task())) {
		note->event.start_ns = 0;
		return 0;
	}
	now = bpf_ktime_get_ns();
	if (now - note->event.start_ns >= settings->threshold_ns[TS_BPF_DRIVER]) {
		note->event.end_ns = now;
		if (bpf_ringbuf_output(&events, note, sizeof(*note), wake_flags()))
			lose(note->event.session, TS_BPF_DRIVER);
	}
	note->event.start_ns = 0;
	return 0;
}
