// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause
/*
 * Memory pressure: a thread that has to reclaim memory before it gets some, and a process that the
 * kernel kills to get memory. The programs are raw tracepoints and each is attached separately,
 * because not every kernel has all of these tracepoints.
 */
#include "daemon/bpf/programs/shared.bpf.h"

/* As in sbt/schema.h. */
#define RECLAIM_DIRECT 1
#define RECLAIM_LIMIT  2
#define RECLAIM_NODE   3
#define OOM_KILL       4

/*
 * The memory reclaim of each thread that runs now. An entry stays when the reclaim ends: start_ns
 * is 0 while the thread reclaims no memory. A thread reclaims for one reason at a time.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct ts_bpf_pressure);
} reclaiming SEC(".maps");

/* Processes whose kill was delivered. The kernel may report each thread of the process. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, __u32);
} killed SEC(".maps");

static __always_inline int begin(__u32 kind)
{
	__u64 caller = bpf_get_current_pid_tgid();
	struct ts_bpf_traced *settings = find_of_peer(caller >> 32, TS_BPF_MEMORY);
	struct ts_bpf_pressure note = {};
	__u32 tid = (__u32)caller;

	if (!settings)
		return 0;
	note.event.session = settings->session;
	note.event.program = TS_BPF_MEMORY;
	note.event.tid = tid;
	note.event.pid = caller >> 32;
	note.event.start_ns = bpf_ktime_get_ns();
	bpf_get_current_comm(note.event.name, sizeof(note.event.name));
	note.kind = kind;
	if (bpf_map_update_elem(&reclaiming, &tid, &note, BPF_ANY))
		lose(note.event.session, TS_BPF_MEMORY);
	return 0;
}

static __always_inline int over(__u32 kind, __u64 pages)
{
	__u64 caller = bpf_get_current_pid_tgid(), now;
	struct ts_bpf_traced *settings = find_traced(caller >> 32, TS_BPF_MEMORY);
	__u32 tid = (__u32)caller;
	struct ts_bpf_pressure *note;

	if (!settings)
		return 0;
	note = bpf_map_lookup_elem(&reclaiming, &tid);
	/* The reclaim began before the process was watched. */
	if (!note || !is_noted(settings, &note->event) || note->kind != kind)
		return 0;
	if (!is_of_peer(BY_COPY, settings, (void *)bpf_get_current_task())) {
		note->event.start_ns = 0;
		return 0;
	}
	now = bpf_ktime_get_ns();
	if (now - note->event.start_ns >= settings->threshold_ns[TS_BPF_MEMORY]) {
		note->event.end_ns = now;
		note->pages = pages;
		if (bpf_ringbuf_output(&events, note, sizeof(*note), wake_flags()))
			lose(note->event.session, TS_BPF_MEMORY);
	}
	note->event.start_ns = 0;
	return 0;
}

SEC("raw_tp/mm_vmscan_direct_reclaim_begin")
int direct_begun(struct bpf_raw_tracepoint_args *context)
{
	return begin(RECLAIM_DIRECT);
}

SEC("raw_tp/mm_vmscan_direct_reclaim_end")
int direct_over(struct bpf_raw_tracepoint_args *context)
{
	return over(RECLAIM_DIRECT, context->args[0]);
}

SEC("raw_tp/mm_vmscan_memcg_reclaim_begin")
int limit_begun(struct bpf_raw_tracepoint_args *context)
{
	return begin(RECLAIM_LIMIT);
}

SEC("raw_tp/mm_vmscan_memcg_reclaim_end")
int limit_over(struct bpf_raw_tracepoint_args *context)
{
	return over(RECLAIM_LIMIT, context->args[0]);
}

SEC("raw_tp/mm_vmscan_node_reclaim_begin")
int node_begun(struct bpf_raw_tracepoint_args *context)
{
	return begin(RECLAIM_NODE);
}

SEC("raw_tp/mm_vmscan_node_reclaim_end")
int node_over(struct bpf_raw_tracepoint_args *context)
{
	return over(RECLAIM_NODE, context->args[0]);
}

/* Records the thread that asked for memory. */
static __always_inline void note_cause(const struct ts_bpf_traced *settings,
				       struct ts_bpf_pressure *note)
{
	struct task_struct *task = (void *)bpf_get_current_task();
	__u64 caller = bpf_get_current_pid_tgid();

	if (!is_shown(BY_COPY, settings, task)) {
		note->by_tid = TS_BPF_HIDDEN;
		return;
	}
	note->by_tid = (__u32)caller;
	note->by_pid = caller >> 32;
	bpf_get_current_comm(note->by, sizeof(note->by));
}

/*
 * Delivers the kill of a process. `name` is NULL if it is not known. No threshold applies, because
 * the event has no length.
 */
static __always_inline int kill(const struct ts_bpf_traced *settings, __u32 tid, __u32 pid,
				const char *name)
{
	struct ts_bpf_pressure kill = {};

	if (bpf_map_update_elem(&killed, &pid, &tid, BPF_NOEXIST))
		return 0;
	kill.event.session = settings->session;
	kill.event.program = TS_BPF_MEMORY;
	kill.event.tid = tid;
	kill.event.pid = pid;
	kill.event.start_ns = kill.event.end_ns = bpf_ktime_get_ns();
	if (name)
		bpf_probe_read_kernel(kill.event.name, sizeof(kill.event.name), name);
	kill.kind = OOM_KILL;
	note_cause(settings, &kill);
	if (bpf_ringbuf_output(&events, &kill, sizeof(kill), wake_flags()))
		lose(kill.event.session, TS_BPF_MEMORY);
	return 0;
}

SEC("raw_tp/mark_victim")
int victim_marked(struct bpf_raw_tracepoint_args *context)
{
	struct task_struct *task = (struct task_struct *)context->args[0];
	__u32 pid = BPF_CORE_READ(task, tgid);
	struct ts_bpf_traced *settings = find_traced(pid, TS_BPF_MEMORY);

	if (!settings || !is_of_peer(BY_COPY, settings, task))
		return 0;
	return kill(settings, BPF_CORE_READ(task, pid), pid, task->comm);
}

/*
 * Handles the tracepoint before Linux 6.9: its only argument is the number of a thread. This is the
 * process number if the thread is the first of its process. The victim's credentials are known only
 * if the victim itself asked for the memory; a session of root does not need them.
 */
SEC("raw_tp/mark_victim")
int victim_marked_before_6_9(struct bpf_raw_tracepoint_args *context)
{
	struct ts_bpf_traced *settings;
	__u32 tid = (__u32)context->args[0];

	settings = find_traced(tid, TS_BPF_MEMORY);
	if (!settings)
		return 0;
	if (settings->uid && (bpf_get_current_pid_tgid() >> 32 != tid ||
			      !is_of_peer(BY_COPY, settings, (void *)bpf_get_current_task())))
		return 0;
	return kill(settings, tid, tid, NULL);
}
