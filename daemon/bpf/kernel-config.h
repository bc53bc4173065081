/* SPDX-License-Identifier: Apache-2.0 */
/* The parsed LIST of --kernel-events. Pure functions; thread-safe. */
#pragma once

#include "daemon/bpf/bpf-event.h"
#include "proto/abi/base.h"

struct ts_kernel_config {
	uint32_t programs; /* bits of enum ts_bpf_program; 0: no kernel events */
	uint32_t counted;  /* subset of `programs`: these only count events and sum their times */
	uint64_t threshold_ns[TS_BPF_N_PROGRAMS];
};

/*
 * Returns "sched", "faults", "syscalls", "stacks", "block", "memory", "driver" or "samples"; NULL
 * for another number.
 */
const char *ts_kernel_program_name(unsigned program);

/*
 * Parses "all", or names separated by commas, each with an optional threshold:
 * "sched:10us,syscalls". "sched:count" counts events by thread and kind instead of delivering them;
 * "faults" and "syscalls" can be counted too. "stacks" adds "sched"; its default threshold is a
 * millisecond. -EINVAL: `why` names the error in a few words.
 */
int ts_kernel_config_parse(const char *text, struct ts_kernel_config *ret_config, char *why,
			   size_t n_why);

/* Prints the names of a set of programs, separated by commas. */
void ts_kernel_config_names(uint32_t programs, char *text, size_t n_text);
