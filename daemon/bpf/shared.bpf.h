/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * What every program has: the maps that the daemon shares between the objects, and how an event is told or counted as
 * lost.
 */
#pragma once

#include "daemon/bpf/kernel.bpf.h"

#include "daemon/bpf/event.h"

/* By process number. */
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

/* Who reads looks every few milliseconds; it is woken where that would not do. */
#define WAKE_BYTES (1 << 20)

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

/* For what is told so often that to look each time would cost: the last digits of a clock are as good as chance. */
static __always_inline __u64 wake_flags_at_times(__u64 now)
{
	return now & 63 ? BPF_RB_NO_WAKEUP : wake_flags();
}

/* What is known of a process that `program` is to watch; NULL: it is not. */
static __always_inline struct ts_bpf_traced *watched(__u32 pid, __u32 program)
{
	struct ts_bpf_traced *settings = bpf_map_lookup_elem(&traced, &pid);

	return settings && settings->programs & 1u << program ? settings : NULL;
}

char dual_license[] SEC("license") = "Dual BSD/GPL";
