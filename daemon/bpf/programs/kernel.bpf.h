/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * The fields of the kernel that the programs read, declared in our own words. The loader finds each
 * field's place in the running kernel's BTF, so only names and types matter here.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct pt_regs___kernel {
	unsigned long r10;
	unsigned long r9;
	unsigned long r8;
	unsigned long ax;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long sp;
};

typedef struct {
	int counter;
} atomic_t;

struct signal_struct {
	atomic_t live;
};

typedef struct {
	unsigned int val;
} kuid_t;

typedef struct {
	unsigned int val;
} kgid_t;

struct cred {
	kuid_t uid;
	kgid_t gid;
	kuid_t suid;
	kgid_t sgid;
	kuid_t euid;
	kgid_t egid;
};

/* From Linux 6.18 on. */
typedef struct {
	unsigned long __mm_flags[1];
} mm_flags_t;

struct mm_struct {
	mm_flags_t flags;
};

struct mm_struct___before_6_18 {
	unsigned long flags;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct inode {
	unsigned short i_mode;
	unsigned int i_rdev;
};

struct file {
	struct path f_path;
	struct inode *f_inode;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct vm_area_struct {
	unsigned long vm_flags;
	struct file *vm_file;
};

struct gendisk {
	char disk_name[32];
};

struct block_device {
	struct gendisk *bd_disk;
};

struct bvec_iter {
	__u64 bi_sector;
	unsigned int bi_size;
};

struct bio {
	struct bio *bi_next;
	struct block_device *bi_bdev;
	unsigned int bi_opf;
	__u8 bi_status;
	struct bvec_iter bi_iter;
	void *bi_private;
};

struct bio___before_5_12 {
	struct gendisk *bi_disk;
};

struct request {
	struct bio *bio;
};

/* fsbase is the address of the thread's own data: pthread_self(). */
struct thread_struct {
	unsigned long fsbase;
};

struct task_struct {
	unsigned int __state;
	void *stack;
	int pid;
	int tgid;
	unsigned int in_iowait : 1;
	char comm[16];
	struct signal_struct *signal;
	struct files_struct *files;
	struct task_struct *group_leader;
	__u64 start_boottime;
	const struct cred *real_cred;
	struct mm_struct *mm;
	struct thread_struct thread;
};

/* Shared by GPU drivers. */
struct dma_fence {
	__u64 context;
	__u64 seqno;
	int error;
};

/* Types of modules; a kernel may have none of these. */
struct drm_gpu_scheduler {
	const char *name;
};

struct drm_sched_fence {
	struct dma_fence scheduled;
	struct dma_fence finished;
	struct drm_gpu_scheduler *sched;
};

struct drm_sched_job {
	struct drm_gpu_scheduler *sched;
	struct drm_sched_fence *s_fence;
};

struct amdgpu_job {
	struct drm_sched_job base;
};

/* Before Linux 5.14. */
struct task_struct___before_5_14 {
	long state;
};

/* The loader replaces the values by those of the running kernel. */
enum req_flag_bits {
	__REQ_SYNC,
	__REQ_META,
	__REQ_PREFLUSH,
	__REQ_RAHEAD,
};

#pragma clang attribute pop
