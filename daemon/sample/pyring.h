/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Receives the Python stacks that an eBPF program reads at the instant of each sample
 * (daemon/bpf/sample.h). The sampler may not call bpf(2), so it maps the program's two maps into
 * its memory: the settings and the ring. The kernel writes the ring; the frames in it come from the
 * process and are untrusted. Not thread-safe.
 */
#pragma once

#include "daemon/bpf/sample.h"
#include "proto/abi/base.h"

struct ts_python_ring;

/*
 * Maps the ring. The caller keeps the descriptors. Returns 0, -ENOMEM, or the negative errno of
 * mmap(2).
 */
int ts_python_ring_new(int config_fd, int ring_fd, struct ts_python_ring **ret_ring);
void ts_python_ring_free(struct ts_python_ring *ring); /* NULL is fine */

/* Writes the settings and makes the program read stacks. */
void ts_python_ring_configure(struct ts_python_ring *ring, const struct ts_bpf_python *config);
/* Copies new stacks out of the ring. Call it before the samples are read. */
void ts_python_ring_drain(struct ts_python_ring *ring);
/*
 * Returns the stack of a thread's sample at that time; NULL: the program read none. Valid until the
 * next call of this function.
 */
const struct ts_bpf_python_stack *ts_python_ring_find(struct ts_python_ring *ring, uint32_t tid,
						      uint64_t time_ns);
