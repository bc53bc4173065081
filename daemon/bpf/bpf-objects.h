/* SPDX-License-Identifier: Apache-2.0 */
/* The compiled programs, which embed.py embeds in the daemon. */
#pragma once

#include <stddef.h>

struct ts_bpf_object {
	const unsigned char *bytes;
	size_t n_bytes;
};

extern const struct ts_bpf_object ts_bpf_object_process;
extern const struct ts_bpf_object ts_bpf_object_sched;
extern const struct ts_bpf_object ts_bpf_object_faults;
extern const struct ts_bpf_object ts_bpf_object_syscalls;
extern const struct ts_bpf_object ts_bpf_object_system;
extern const struct ts_bpf_object ts_bpf_object_block;
extern const struct ts_bpf_object ts_bpf_object_memory;
extern const struct ts_bpf_object ts_bpf_object_driver;
extern const struct ts_bpf_object ts_bpf_object_jobs;
extern const struct ts_bpf_object ts_bpf_object_sample;
