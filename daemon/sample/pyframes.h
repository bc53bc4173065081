/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies the Python frames of a thread in another process, for samplers without an eBPF program.
 * The memory is read by process_vm_readv(2) while the thread runs, so the frames may change
 * meanwhile. A stack that cannot be read is read again, and dropped after some tries. Addresses
 * become functions later (ts_remote_python_take()). Not thread-safe.
 */
#pragma once

#include <sys/types.h>

#include "daemon/bpf/sample.h"
#include "proto/abi/base.h"

struct ts_remote_frames;

/* Creates a reader for a process whose interpreter is `config`. Returns 0 or -ENOMEM. */
int ts_remote_frames_new(pid_t pid, const struct ts_bpf_python *config,
			 struct ts_remote_frames **ret_frames);
void ts_remote_frames_free(struct ts_remote_frames *frames); /* NULL is fine */

/*
 * Reads the frames in which a thread runs now. `tid` is the number in the process's own pid
 * namespace. False: the thread runs no Python, or its stack changed too fast. Sets n, is_broken and
 * the frames of *ret_stack; the rest is the caller's.
 */
bool ts_remote_frames_read(struct ts_remote_frames *frames, uint32_t tid,
			   struct ts_bpf_python_stack *ret_stack);
