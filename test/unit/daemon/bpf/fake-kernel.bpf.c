// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause
/*
 * Kernel memory that a test fills, and the address of that memory. The test passes addresses in it
 * to the program under test as a tracepoint's arguments. The debugging information of this object
 * has the types of fake-kernel.h.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

#include "test/unit/daemon/bpf/fake-kernel.h"

struct memory {
	__u8 bytes[FAKE_BYTES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct memory);
} memory SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} address SEC(".maps");

/*
 * A variable of each type, so that the debugging information has the full type and not only a
 * forward declaration.
 */
struct drm_gpu_scheduler known_drm_gpu_scheduler;
struct gendisk known_gendisk;
struct bio known_bio;
struct drm_sched_fence known_drm_sched_fence;
struct amdgpu_job known_amdgpu_job;
struct task_struct known_task_struct;
struct cred known_cred;
struct mm_struct known_mm_struct;
struct request known_request;
enum req_flag_bits known_bits;

SEC("raw_tp/sys_enter")
int find_memory(void *context)
{
	__u32 zero = 0;
	__u64 *place = bpf_map_lookup_elem(&address, &zero);
	void *there = bpf_map_lookup_elem(&memory, &zero);

	if (place && there)
		*place = (__u64)there;
	return 0;
}

char dual_license[] SEC("license") = "Dual BSD/GPL";
