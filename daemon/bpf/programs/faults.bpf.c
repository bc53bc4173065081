// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause
/*
 * Page faults, from the kernel's software events of perf. The first event comes when the kernel
 * begins to handle a fault, the second (minor or major) when the page is present. A fault that ends
 * in a signal has no second event and is not delivered. The program for the first event records
 * only the time. The program for the second compares the thread's credentials, which a fault does
 * not change.
 */
#include "daemon/bpf/programs/tally.bpf.h"

#include <linux/bpf_perf_event.h>

#define FAULT_MINOR	 1
#define FAULT_MAJOR	 2

#define MEMORY_ANONYMOUS 1
#define MEMORY_FILE	 2
#define MEMORY_SHARED	 3

#define VM_SHARED_FLAG	 8

/*
 * Start time of the fault, by thread. If a thread dies in a fault, the LRU map replaces its entry.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u32);
	__type(value, __u64);
} faulting SEC(".maps");

SEC("perf_event")
int fault_begun(struct bpf_perf_event_data *context)
{
	__u64 caller = bpf_get_current_pid_tgid(), now, *begun;
	__u32 tid = (__u32)caller;

	if (!find_traced(caller >> 32, TS_BPF_FAULTS))
		return 0;
	now = bpf_ktime_get_ns();
	/* A write into the existing entry costs much less than an update of the map. */
	begun = bpf_map_lookup_elem(&faulting, &tid);
	if (begun)
		*begun = now;
	else
		bpf_map_update_elem(&faulting, &tid, &now, BPF_ANY);
	return 0;
}

static long note_memory(struct task_struct *task, struct vm_area_struct *area, __u32 *memory)
{
	*memory = area->vm_flags & VM_SHARED_FLAG ? MEMORY_SHARED
		  : area->vm_file		  ? MEMORY_FILE
						  : MEMORY_ANONYMOUS;
	return 0;
}

static __always_inline int count_fault(const struct ts_bpf_traced *settings, __u64 caller,
				       __u32 kind, __u64 ns)
{
	struct ts_bpf_event event = {.session = settings->session,
				     .program = TS_BPF_FAULTS,
				     .tid = (__u32)caller,
				     .pid = caller >> 32};

	bpf_get_current_comm(event.name, sizeof(event.name));
	count(&event, kind, ns);
	return 0;
}

/*
 * Returns the address of the instruction. Addresses of the kernel's own code go to root alone;
 * other peers get 0.
 */
static __always_inline __u64 instruction_of(const struct ts_bpf_traced *settings,
					    struct bpf_perf_event_data *context)
{
	__u64 instruction = context->regs.rip;

	return (__s64)instruction < 0 && settings->uid ? 0 : instruction;
}

static __always_inline int fault_over(struct bpf_perf_event_data *context, __u32 kind)
{
	__u64 caller = bpf_get_current_pid_tgid(), now, *begun;
	__u32 tid = (__u32)caller, memory = 0;
	struct ts_bpf_traced *settings = find_traced(caller >> 32, TS_BPF_FAULTS);
	struct ts_bpf_fault *fault;

	if (!settings)
		return 0;
	now = bpf_ktime_get_ns();
	begun = bpf_map_lookup_elem(&faulting, &tid);
	if (begun && now - *begun < settings->threshold_ns[TS_BPF_FAULTS])
		return 0;
	if (!is_current_of_peer(settings))
		return 0;
	if (is_counted(settings, TS_BPF_FAULTS))
		return count_fault(settings, caller, kind, begun ? now - *begun : 0);
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_find_vma))
		bpf_find_vma(bpf_get_current_task_btf(), context->addr, note_memory, &memory, 0);
	fault = bpf_ringbuf_reserve(&events, sizeof(*fault), 0);
	if (!fault) {
		lose(settings->session, TS_BPF_FAULTS);
		return 0;
	}
	fault->event.session = settings->session;
	fault->event.program = TS_BPF_FAULTS;
	fault->event.tid = tid;
	fault->event.pid = caller >> 32;
	fault->event.start_ns = begun ? *begun : now;
	fault->event.end_ns = now;
	bpf_get_current_comm(fault->event.name, sizeof(fault->event.name));
	fault->address = context->addr;
	fault->instruction = instruction_of(settings, context);
	fault->fault = kind;
	fault->memory = memory;
	bpf_ringbuf_submit(fault, wake_flags());
	return 0;
}

SEC("perf_event")
int fault_minor(struct bpf_perf_event_data *context)
{
	return fault_over(context, FAULT_MINOR);
}

SEC("perf_event")
int fault_major(struct bpf_perf_event_data *context)
{
	return fault_over(context, FAULT_MAJOR);
}
