/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts events by thread and kind instead of delivering them: number and sum of their times. The
 * daemon reads the tallies from time to time.
 */
#pragma once

#include "daemon/bpf/programs/shared.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TS_BPF_TALLIES);
	__type(key, struct ts_bpf_tally_key);
	__type(value, struct ts_bpf_tally);
} tallies SEC(".maps");

static __always_inline bool is_counted(const struct ts_bpf_traced *settings, __u32 program)
{
	return settings->counted & 1u << program;
}

static __always_inline void count(const struct ts_bpf_event *event, __u32 what, __u64 ns)
{
	struct ts_bpf_tally_key key = {event->session, event->tid, event->program, what};
	struct ts_bpf_tally *tally = bpf_map_lookup_elem(&tallies, &key), fresh = {};

	if (!tally) {
		fresh.pid = event->pid;
		__builtin_memcpy(fresh.name, event->name, sizeof(fresh.name));
		bpf_map_update_elem(&tallies, &key, &fresh, BPF_NOEXIST);
		tally = bpf_map_lookup_elem(&tallies, &key);
	}
	if (!tally) {
		lose(event->session, event->program);
		return;
	}
	__sync_fetch_and_add(&tally->count, 1);
	__sync_fetch_and_add(&tally->ns, ns);
}
