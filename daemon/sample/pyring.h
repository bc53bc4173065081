/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Holds the Python stacks of samples until the samples themselves are handled. An eBPF program
 * reads the stacks at the instant of each sample (daemon/bpf/sample.h). The sampler may not call
 * bpf(2), so it maps the program's two maps into its memory: the settings and the ring. The kernel
 * writes the ring; the frames in it come from the process and are untrusted. Without a program the
 * sampler adds stacks that it read itself (pyframes.h). Not thread-safe.
 */
#pragma once

#include "daemon/bpf/sample.h"
#include "proto/abi/base.h"

struct ts_python_ring;

/* Creates a list without stacks. Returns 0 or -ENOMEM. */
int ts_python_ring_new(struct ts_python_ring **ret_ring);
void ts_python_ring_free(struct ts_python_ring *ring); /* NULL is fine */
/*
 * Maps the ring of the program. The caller keeps the descriptors. Returns 0 or the negative errno
 * of mmap(2); the list then stays as it is.
 */
int ts_python_ring_map(struct ts_python_ring *ring, int config_fd, int ring_fd);
/* Unmaps the ring, if it is mapped. */
void ts_python_ring_unmap(struct ts_python_ring *ring);

/* Copies a stack into the list. */
void ts_python_ring_put(struct ts_python_ring *ring, const struct ts_bpf_python_stack *stack);
/* Writes the settings and makes the program read stacks. */
void ts_python_ring_configure(struct ts_python_ring *ring, const struct ts_bpf_python *config);
/*
 * Copies new stacks out of the ring, if it is mapped. Call it before the samples are read.
 */
void ts_python_ring_drain(struct ts_python_ring *ring);
/*
 * Returns the stack of a thread's sample at that time; NULL: none was read. Valid until the
 * next call of this function.
 */
const struct ts_bpf_python_stack *ts_python_ring_find(struct ts_python_ring *ring, uint32_t tid,
						      uint64_t time_ns);
