/* SPDX-License-Identifier: Apache-2.0 */
/* Which kernel events are wanted: what --kernel-events says. Pure; thread-safe. */
#pragma once

#include "daemon/bpf/bpf-event.h"
#include "proto/abi/base.h"

struct ts_kernel_config {
	uint32_t programs; /* bits of enum ts_bpf_program; 0: no kernel events */
	uint32_t counted;  /* of these: how many and how long they took is enough */
	uint64_t threshold_ns[TS_BPF_N_PROGRAMS];
};

/* "sched", "faults", "syscalls", "stacks", "block", "memory", "driver"; NULL for another number. */
const char *ts_kernel_program_name(unsigned program);

/*
 * "sched:count" has them counted, by thread and kind, rather than told one by one; so have "faults" and "syscalls". Otherwise
 * "all", or names with commas between, each with a threshold if need be: "sched:10us,syscalls". -EINVAL: `why` says what
 * is wrong, in a few words. Stacks bring the intervals that they are of, and are of those of a millisecond unless told.
 */
int ts_kernel_config_parse(const char *text, struct ts_kernel_config *ret_config, char *why,
			   size_t n_why);

/* The names of a set of programs, with commas between. */
void ts_kernel_config_names(uint32_t programs, char *text, size_t n_text);
