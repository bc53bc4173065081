/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python stacks that an eBPF program read at the instant of each sample (daemon/bpf/sample.h): the sampler's side of its two maps. The sampler
 * has no right to call bpf(2), so it maps them. The ring's contents come from the kernel; frames in them are the process's. One thread.
 */
#pragma once

#include "daemon/bpf/sample.h"
#include "proto/abi/base.h"

struct ts_python_ring;

/* The descriptors stay the caller's. A negative errno of mmap(2). */
int ts_python_ring_new(int config_fd, int ring_fd, struct ts_python_ring **ret_ring);
void ts_python_ring_free(struct ts_python_ring *ring); /* NULL is fine */

/* From now on the program reads stacks. */
void ts_python_ring_configure(struct ts_python_ring *ring, const struct ts_bpf_python *config);
/* Takes what the program put there. Before the samples are looked at. */
void ts_python_ring_drain(struct ts_python_ring *ring);
/* The stack of a thread's sample at that time; NULL: the program read none. Valid until the next drain. */
const struct ts_bpf_python_stack *ts_python_ring_find(struct ts_python_ring *ring, uint32_t tid,
						      uint64_t time_ns);
