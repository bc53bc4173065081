// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause
/*
 * Adds child processes to the map of traced processes, and removes processes that end. A child is
 * traced from its first instruction. A child gets the entry of its parent whatever credentials
 * parent and child have, because programs compare credentials at each event.
 */
#include "daemon/bpf/programs/shared.bpf.h"

SEC("tp_btf/sched_process_fork")
int BPF_PROG(process_forked, struct task_struct *parent, struct task_struct *child)
{
	__u32 from = parent->tgid, to = child->tgid;
	struct ts_bpf_traced *settings, copy;

	/* A new thread is not a new process. */
	if (from == to)
		return 0;
	settings = bpf_map_lookup_elem(&traced, &from);
	if (!settings || !is_same(BY_TYPE, settings, parent))
		return 0;
	copy = *settings;
	copy.start_ns = child->start_boottime;
	copy.start_span_ns = 1;
	if (bpf_map_update_elem(&traced, &to, &copy, BPF_ANY))
		lose(copy.session, TS_BPF_SCHED);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(process_exited, struct task_struct *task)
{
	__u32 pid = task->tgid;

	/* The last thread of the process exits. */
	if (!task->signal->live.counter)
		bpf_map_delete_elem(&traced, &pid);
	return 0;
}
