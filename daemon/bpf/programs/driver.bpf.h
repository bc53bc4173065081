/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * Keeps each fence and job of a traced thread until the fence or job ends; driver.bpf.c and
 * jobs.bpf.c include it. Each program is attached to its raw tracepoint separately, because most
 * kernels have only some of the tracepoints, and loaded modules add others.
 */
#pragma once

#include "daemon/bpf/programs/shared.bpf.h"

/* As in sbt/schema.h. */
#define DRIVER_FENCE_WAIT 1
#define DRIVER_FENCE	  2
#define DRIVER_JOB	  3

/* Fences and jobs. The key is the address of the fence; for a job, of its scheduler fence. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, struct ts_bpf_driver);
} working SEC(".maps");

/* Fills a note for the running thread. False: the thread is not watched. */
static __always_inline bool note_thread(struct ts_bpf_driver *note, __u32 kind, __u64 key)
{
	__u64 caller = bpf_get_current_pid_tgid();
	struct ts_bpf_traced *settings = find_of_peer(caller >> 32, TS_BPF_DRIVER);

	if (!settings)
		return false;
	note->event.session = settings->session;
	note->event.program = TS_BPF_DRIVER;
	note->event.tid = (__u32)caller;
	note->event.pid = caller >> 32;
	note->event.start_ns = bpf_ktime_get_ns();
	bpf_get_current_comm(note->event.name, sizeof(note->event.name));
	note->kind = kind;
	note->key = key;
	return true;
}

static __always_inline void note_fence(struct ts_bpf_driver *note, struct dma_fence *fence)
{
	note->context = BPF_CORE_READ(fence, context);
	note->number = BPF_CORE_READ(fence, seqno);
}

/*
 * Counts a job as lost. Called when a new job has the job's address, so the end of the old job was
 * not seen.
 */
static __always_inline void lose_job(const struct ts_bpf_driver *before)
{
	if (before && before->kind == DRIVER_JOB)
		lose(before->event.session, TS_BPF_DRIVER);
}

/*
 * Delivers a fence or a job that has ended. The running thread can be any thread. Several CPUs may
 * see the end; only the CPU that deletes the note delivers it.
 */
static __always_inline int over(__u64 key, __u32 kind, __s32 error)
{
	struct ts_bpf_driver *note = bpf_map_lookup_elem(&working, &key), copy;
	struct ts_bpf_traced *settings;

	if (!note || note->kind != kind)
		return 0;
	copy = *note;
	if (bpf_map_delete_elem(&working, &key))
		return 0;
	copy.event.end_ns = bpf_ktime_get_ns();
	copy.error = error;
	settings = find_traced(copy.event.pid, TS_BPF_DRIVER);
	if (settings && settings->session == copy.event.session &&
	    copy.event.end_ns - copy.event.start_ns < settings->threshold_ns[TS_BPF_DRIVER])
		return 0;
	if (bpf_ringbuf_output(&events, &copy, sizeof(copy), wake_flags()))
		lose(copy.event.session, TS_BPF_DRIVER);
	return 0;
}
