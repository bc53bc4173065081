/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * Kernels that this machine does not run: types of GPU drivers' modules and of the block layer before 5.11, laid out otherwise
 * than any kernel does, so that what is read from the right place was looked up. Both for a program, of whose debugging
 * information programs under test learn where fields lie, and for the test that fills them.
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

struct task_struct {
	__u64 unknown[4];
	char comm[16];
	int tgid;
	int pid;
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
