// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause
/*
 * Jobs of the GPU scheduler that most open drivers share. amdgpu's own tracepoints report a job
 * before the scheduler's tracepoints. A job has three times: a traced thread submits it, the device
 * gets it, the device finishes it. If the kernel lacks this scheduler, the scheduler's types are
 * missing too. The loader then removes the code that reads them, and the attach reports the
 * tracepoints as missing.
 */
#include "daemon/bpf/programs/driver.bpf.h"

static __always_inline __u64 key_of(struct drm_sched_job *job)
{
	return (__u64)BPF_CORE_READ(job, s_fence);
}

static __always_inline void forget_fence(__u64 key)
{
	struct ts_bpf_driver *note = bpf_map_lookup_elem(&working, &key);

	if (note && note->kind == DRIVER_FENCE)
		bpf_map_delete_elem(&working, &key);
}

static __always_inline int queue(struct drm_sched_job *job)
{
	struct drm_sched_fence *fence;
	struct ts_bpf_driver note = {}, *before;
	__u64 key;

	if (!bpf_core_type_exists(struct drm_sched_job) ||
	    !bpf_core_type_exists(struct drm_sched_fence) ||
	    !bpf_core_type_exists(struct drm_gpu_scheduler))
		return 0;
	key = key_of(job);
	fence = (struct drm_sched_fence *)key;
	if (!note_thread(&note, DRIVER_JOB, key))
		return 0;
	note.context = BPF_CORE_READ(fence, finished.context);
	note.number = BPF_CORE_READ(fence, finished.seqno);
	before = bpf_map_lookup_elem(&working, &key);
	/* The driver's own tracepoint reported this job before. */
	if (before && before->kind == DRIVER_JOB && before->context == note.context &&
	    before->number == note.number)
		return 0;
	lose_job(before);
	bpf_probe_read_kernel_str(note.ring, sizeof(note.ring), BPF_CORE_READ(job, sched, name));
	/* The fences of the job are recorded already; the job replaces them. */
	forget_fence(key + bpf_core_field_offset(struct drm_sched_fence, scheduled));
	forget_fence(key + bpf_core_field_offset(struct drm_sched_fence, finished));
	if (bpf_map_update_elem(&working, &key, &note, BPF_ANY))
		lose(note.event.session, TS_BPF_DRIVER);
	return 0;
}

static __always_inline int issue(struct drm_sched_job *job)
{
	struct ts_bpf_driver *note;
	__u64 key;

	if (!bpf_core_type_exists(struct drm_sched_job))
		return 0;
	key = key_of(job);
	note = bpf_map_lookup_elem(&working, &key);
	if (note && note->kind == DRIVER_JOB && !note->issued_ns)
		note->issued_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline int done(struct drm_sched_fence *fence)
{
	if (!bpf_core_type_exists(struct drm_sched_fence))
		return 0;
	return over((__u64)fence, DRIVER_JOB, BPF_CORE_READ(fence, finished.error));
}

SEC("raw_tp/drm_sched_job_queue")
int job_queued(struct bpf_raw_tracepoint_args *context)
{
	return queue((struct drm_sched_job *)context->args[0]);
}

SEC("raw_tp/drm_sched_job")
int job_queued_before_6_16(struct bpf_raw_tracepoint_args *context)
{
	return queue((struct drm_sched_job *)context->args[0]);
}

SEC("raw_tp/drm_sched_job_run")
int job_issued(struct bpf_raw_tracepoint_args *context)
{
	return issue((struct drm_sched_job *)context->args[0]);
}

SEC("raw_tp/drm_run_job")
int job_issued_before_6_16(struct bpf_raw_tracepoint_args *context)
{
	return issue((struct drm_sched_job *)context->args[0]);
}

SEC("raw_tp/drm_sched_job_done")
int job_done(struct bpf_raw_tracepoint_args *context)
{
	return done((struct drm_sched_fence *)context->args[0]);
}

SEC("raw_tp/drm_sched_process_job")
int job_done_before_6_16(struct bpf_raw_tracepoint_args *context)
{
	return done((struct drm_sched_fence *)context->args[0]);
}

/*
 * Returns the scheduler's job in a job of amdgpu. It is the first member, but the code takes its
 * offset from the running kernel's types.
 */
static __always_inline struct drm_sched_job *base_of(__u64 job)
{
	return (struct drm_sched_job *)(job + bpf_core_field_offset(struct amdgpu_job, base));
}

SEC("raw_tp/amdgpu_cs_ioctl")
int amdgpu_job_queued(struct bpf_raw_tracepoint_args *context)
{
	if (!bpf_core_type_exists(struct amdgpu_job))
		return 0;
	return queue(base_of(context->args[0]));
}

SEC("raw_tp/amdgpu_sched_run_job")
int amdgpu_job_issued(struct bpf_raw_tracepoint_args *context)
{
	if (!bpf_core_type_exists(struct amdgpu_job))
		return 0;
	return issue(base_of(context->args[0]));
}
