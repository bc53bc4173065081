/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernels that this machine does not run: types of GPU drivers' modules and of the block layer
 * before 5.11. No real kernel has these layouts, so a correct value proves that the program looked
 * up the offset. Two users include this file: an object whose debugging information gives the
 * programs under test the offsets, and the test that fills the types.
 */
#pragma once

#include <linux/types.h>

struct dma_fence {
	__u64 unknown[3];
	__u64 seqno;
	int error;
	__u64 context;
};

struct drm_gpu_scheduler {
	__u64 unknown[2];
	const char *name;
};

struct drm_sched_fence {
	struct dma_fence scheduled;
	__u64 unknown;
	struct dma_fence finished;
	struct drm_gpu_scheduler *sched;
};

struct drm_sched_job {
	__u64 unknown;
	struct drm_sched_fence *s_fence;
	struct drm_gpu_scheduler *sched;
};

struct amdgpu_job {
	__u64 unknown[5];
	struct drm_sched_job base;
};

typedef struct {
	unsigned int val;
} kuid_t;

typedef struct {
	unsigned int val;
} kgid_t;

struct cred {
	__u64 unknown;
	kgid_t egid;
	kuid_t euid;
	__u32 between;
	kgid_t sgid;
	kuid_t suid;
	kgid_t gid;
	kuid_t uid;
};

/*
 * The flags of an address space. FAKE_FLAGS undefined or 0: before Linux 6.18. 1: since Linux 6.18.
 * 2: as in no real kernel: the types do not name the flags.
 */
typedef struct {
	unsigned long __mm_flags[1];
} mm_flags_t;

struct mm_struct {
	struct {
		__u64 unknown[3];
#if !defined(FAKE_FLAGS) || FAKE_FLAGS == 0
		unsigned long flags;
#elif FAKE_FLAGS == 1
		mm_flags_t flags;
#else
		unsigned long bits;
#endif
	};
};

struct task_struct {
	__u64 unknown[4];
	char comm[16];
	int tgid;
	int pid;
	struct mm_struct *mm;
	__u64 start_boottime;
	const struct cred *real_cred;
	struct task_struct *group_leader;
};

struct gendisk {
	int major;
	char disk_name[32];
};

struct bvec_iter {
	__u32 unknown;
	unsigned int bi_size;
	__u64 bi_sector;
};

struct bio {
	void *bi_private;
	struct gendisk *bi_disk;
	struct bvec_iter bi_iter;
	struct bio *bi_next;
	unsigned char bi_status;
	unsigned int bi_opf;
};

struct request {
	__u64 unknown;
	struct bio *bio;
};

enum req_flag_bits {
	__REQ_SYNC = 12,
	__REQ_META = 13,
	__REQ_PREFLUSH = 20,
	__REQ_RAHEAD = 21,
};

#define FAKE_BYTES 4096
