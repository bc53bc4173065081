/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * Shared by all kernel-event programs: the maps that the daemon shares between the objects, the
 * check of credentials, and the count of lost events.
 */
#pragma once

#include "daemon/bpf/programs/kernel.bpf.h"

#include "daemon/bpf/bpf-event.h"

/* Traced processes, by process number. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, __u32);
	__type(value, struct ts_bpf_traced);
} traced SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, TS_BPF_SLOTS);
	__type(key, __u32);
	__type(value, struct ts_bpf_lost);
} lost SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} events SEC(".maps");

/*
 * The daemon reads the ring every few milliseconds. A program wakes the daemon only if more than
 * WAKE_BYTES wait in the ring. A session reads every 11 ms, in which a thread makes up to 2 MiB of
 * events, and a wake-up is an interrupt in that thread.
 */
#define WAKE_BYTES (4 << 20)

static __always_inline __u64 wake_flags(void)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > WAKE_BYTES ? BPF_RB_FORCE_WAKEUP
									  : BPF_RB_NO_WAKEUP;
}

static __always_inline void lose(__u32 session, __u32 program)
{
	__u32 slot = session % TS_BPF_SLOTS;
	struct ts_bpf_lost *counters = bpf_map_lookup_elem(&lost, &slot);

	if (counters && program < TS_BPF_N_PROGRAMS)
		__sync_fetch_and_add(&counters->count[program], 1);
}

/*
 * Returns the wake flags for frequent events. A query of the ring at each event would be expensive,
 * so only one event in 64 queries the ring. The low bits of the clock are random enough to choose
 * that event.
 */
static __always_inline __u64 wake_flags_at_times(__u64 now)
{
	return now & 63 ? BPF_RB_NO_WAKEUP : wake_flags();
}

/*
 * Returns the entry of a process number if `program` watches it, or NULL. The entry may belong to a
 * process that has ended, and the process may have other credentials by now: is_of_peer() checks
 * both.
 */
static __always_inline struct ts_bpf_traced *find_traced(__u32 pid, __u32 program)
{
	struct ts_bpf_traced *settings = bpf_map_lookup_elem(&traced, &pid);

	return settings && settings->programs & 1u << program ? settings : NULL;
}

/*
 * ---- credentials of a thread ----
 *
 * BY_TYPE reads objects of the kernel in place, for pointers whose type the verifier knows. BY_COPY
 * reads any address.
 */
enum access {
	BY_TYPE,
	BY_COPY
};

#define FIELD(access, object, field) \
	((access) == BY_TYPE ? (object)->field : BPF_CORE_READ(object, field))

/*
 * The dumpable bits in the flags of an address space. 1: the process's own user may read its
 * memory.
 */
#define DUMPABLE_BITS	  3
#define DUMPABLE_BY_OWNER 1

/*
 * True if the thread's user may read the thread's memory. False also if the thread has no memory of
 * its own (kernel threads, exiting threads), or if the kernel's types do not name the flags.
 */
static __always_inline bool is_dumpable(enum access access, struct task_struct *task)
{
	struct mm_struct *memory = FIELD(access, task, mm);
	struct mm_struct___before_6_18 *before = (void *)memory;
	unsigned long flags;

	if (!memory)
		return false;
	if (bpf_core_field_exists(memory->flags.__mm_flags))
		flags = FIELD(access, memory, flags.__mm_flags[0]);
	else if (bpf_core_field_exists(before->flags))
		flags = FIELD(access, before, flags);
	else
		return false;
	return (flags & DUMPABLE_BITS) == DUMPABLE_BY_OWNER;
}

/*
 * True if the peer may learn of the thread. The thread's own credentials (real_cred) decide, as in
 * ptrace(2). Credentials that the kernel lends the thread for a moment (overlayfs, access(2)) do
 * not decide. Only the thread itself changes its credentials, while it runs.
 */
static __always_inline bool is_shown(enum access access, const struct ts_bpf_traced *settings,
				     struct task_struct *task)
{
	__u32 uid = settings->uid, gid = settings->gid;
	const struct cred *ids;

	if (!uid)
		return true;
	ids = FIELD(access, task, real_cred);
	return FIELD(access, ids, uid.val) == uid && FIELD(access, ids, euid.val) == uid &&
	       FIELD(access, ids, suid.val) == uid && FIELD(access, ids, gid.val) == gid &&
	       FIELD(access, ids, egid.val) == gid && FIELD(access, ids, sgid.val) == gid &&
	       is_dumpable(access, task);
}

/*
 * True if the thread's process is the process of the entry, and not a later process with the same
 * number.
 */
static __always_inline bool is_same(enum access access, const struct ts_bpf_traced *settings,
				    struct task_struct *task)
{
	struct task_struct *leader = FIELD(access, task, group_leader);

	return FIELD(access, leader, start_boottime) - settings->start_ns < settings->start_span_ns;
}

/*
 * True if a note was begun under this entry. Notes are kept by thread number. A killed thread
 * leaves its note, and another user's thread may get the number.
 */
static __always_inline bool is_noted(const struct ts_bpf_traced *settings,
				     const struct ts_bpf_event *note)
{
	return note->start_ns && note->session == settings->session;
}

/* True if an event of the thread belongs to the peer of this entry. */
static __always_inline bool is_of_peer(enum access access, const struct ts_bpf_traced *settings,
				       struct task_struct *task)
{
	return is_same(access, settings, task) && is_shown(access, settings, task);
}

/*
 * Does the same as is_of_peer() for the running thread, in programs whose context has types. Linux
 * 5.11 introduced the helper that returns the thread.
 */
static __always_inline bool is_current_of_peer(const struct ts_bpf_traced *settings)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf))
		return is_of_peer(BY_TYPE, settings, bpf_get_current_task_btf());
	return is_of_peer(BY_COPY, settings, (void *)bpf_get_current_task());
}

/*
 * Returns the entry of the running thread's process if `program` watches it and the event belongs
 * to the peer. Any program may call it.
 */
static __always_inline struct ts_bpf_traced *find_of_peer(__u32 pid, __u32 program)
{
	struct ts_bpf_traced *settings = find_traced(pid, program);

	return settings && is_of_peer(BY_COPY, settings, (void *)bpf_get_current_task()) ? settings
											 : NULL;
}

char dual_license[] SEC("license") = "Dual BSD/GPL";
