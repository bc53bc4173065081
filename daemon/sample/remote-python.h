/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the Python functions in which another process's threads run. Supports CPython 3.8 to 3.13,
 * but no free-threaded build. The interpreter's memory is read by process_vm_readv() while the
 * threads run. Every code object is checked. Not thread-safe.
 */
#pragma once

#include "daemon/bpf/sample.h"
#include "daemon/sample/remote-unwind.h"
#include "proto/abi/python.h"
#include "proto/abi/record.h"

#define TS_REMOTE_PYTHON_FRAMES 256u
#define TS_REMOTE_PYTHON_TEXTS	65536u
#define TS_REMOTE_TEXT_BYTES	1024u

/*
 * Receives a new text "function\nfile", not terminated. `id` counts from 1. A value other than 0
 * ends the read.
 */
typedef int ts_remote_python_text(void *data, uint32_t id, const char *text, size_t n_text);

struct ts_remote_python;

/*
 * Creates a reader of a process's Python stacks. The functions below call `text` for a new text
 * before they return the first frame with the text's id. If `text` returns a value other than 0,
 * they return that value. `images` must outlive the object. Returns 0 or -ENOMEM.
 */
int ts_remote_python_new(pid_t pid, struct ts_images *images, ts_remote_python_text *text,
			 void *data, struct ts_remote_python **ret_python);
void ts_remote_python_free(struct ts_remote_python *python); /* NULL is fine */

/*
 * Looks for an interpreter unless one is known. Call it at a sample if mappings have changed since
 * the last call.
 */
void ts_remote_python_look(struct ts_remote_python *python);
/*
 * Returns one line with the reason why an interpreter's stacks are not read. NULL: they are read,
 * or there is no interpreter.
 */
const char *ts_remote_python_why(const struct ts_remote_python *python);

/*
 * Finds the functions of a thread's Python stack, from the frames that were read at the sample.
 * *ret_has_frames is false if there are none. ts_remote_python_merge() then replaces the
 * evaluator's frames in a native stack by these functions. Returns 0 or the value of `text`.
 */
int ts_remote_python_take(struct ts_remote_python *python, const struct ts_bpf_python_stack *stack,
			  bool *ret_has_frames);
/*
 * Fills the settings of the eBPF program (daemon/bpf/sample.h) and of pyframes.h. False: the
 * process has no readable interpreter.
 */
bool ts_remote_python_config(const struct ts_remote_python *python,
			     struct ts_bpf_python *ret_config);
/*
 * Replaces the evaluator's frames in the native stack by the Python functions that were read last.
 * *ret_frames has room for TS_UNWIND_FRAMES_MAX + TS_REMOTE_PYTHON_FRAMES. Returns the number of
 * frames.
 */
uint32_t ts_remote_python_merge(const struct ts_remote_python *python,
				const struct ts_unwound_frames *native, uint64_t *ret_frames);

/*
 * Returns the line of an instruction from a code object's table; 0: none. `minor` is the minor
 * version of Python. Reads only its arguments; the table is untrusted.
 */
uint32_t ts_remote_python_line(unsigned minor, const uint8_t *table, size_t n_bytes,
			       int32_t first_line, int32_t offset);
