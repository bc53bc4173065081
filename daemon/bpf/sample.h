/* SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only OR BSD-2-Clause */
/*
 * Python stacks of samples, read in the kernel at the instant of the sample (sample.bpf.c). The
 * daemon may load programs, and it creates one set of descriptors for each sampler. The sampler
 * (daemon/sample) has no such right; it maps the descriptors that it receives. Program and sampler
 * are of one build.
 *
 * The program includes this header and has no libc.
 */
#pragma once

#include <linux/types.h>

#define TS_BPF_PYTHON_FRAMES	 256
#define TS_BPF_PYTHON_RING_BYTES (4u << 20)
#define TS_BPF_PYTHON_NONE	 0xffff /* an offset: this version of Python has no such field */
/* Limits of the bytes that are read of a thread state, of a frame and of a C frame. */
#define TS_BPF_PYTHON_THREAD_BYTES 184
#define TS_BPF_PYTHON_FRAME_BYTES  112
#define TS_BPF_PYTHON_CFRAME_BYTES 24

/*
 * Addresses and offsets in the interpreter, as in struct ts_python_layout. The sampler writes them,
 * `ready` last.
 */
struct ts_bpf_python {
	__u64 interpreters;	     /* address of the pointer to the first interpreter */
	__u32 next_off, threads_off; /* in an interpreter */
	__u16 thread_next, thread_id, thread_frame, thread_cframe;
	__u16 cframe_frame, cframe_previous;
	__u16 frame_code, frame_previous, frame_instruction, frame_owner, frame_is_entry;
	/* Bytes from the start of a frame to the end of its last field that is read. */
	__u16 frame_bytes;
	__u8 offset; /* enum ts_python_offset; 2: a pointer */
	__u8 shims, entries;
	__u8 chunks; /* a caller's frame lies directly below the called frame (from 3.11 on) */
	__u8 ready;
};

/* One frame of the evaluator. */
struct ts_bpf_python_frame {
	__u64 code;	   /* address of the code object; 0: none, the entry only ends a segment */
	__u64 instruction; /* as in the frame: a pointer or a number */
	/* If is_end: address of the evaluator's call on the native stack; 0: not known. */
	__u64 at;
	__u32 is_end; /* outermost frame of one call of the evaluator */
	__u32 owner;
};

struct ts_bpf_python_stack {
	/* CLOCK_MONOTONIC, some microseconds before perf's time of the same sample. */
	__u64 time_ns;
	__u32 tid;
	__u32 n;
	__u32 is_broken; /* memory could not be read; the outer frames are missing */
	__u32 reserved;
	struct ts_bpf_python_frame frames[TS_BPF_PYTHON_FRAMES];
};

#ifndef __bpf__
#include <stdbool.h>
#include <stddef.h>

#define TS_BPF_SAMPLE_FDS 3
enum ts_bpf_sample_fd {
	/* program of type perf_event; the sampler sets it on its perf events */
	TS_BPF_SAMPLE_PROGRAM,
	TS_BPF_SAMPLE_CONFIG, /* array map of one struct ts_bpf_python, to be mapped */
	TS_BPF_SAMPLE_RING,   /* ring buffer map of struct ts_bpf_python_stack, to be mapped */
};

struct ts_bpf_sample;

/*
 * Loads the program with maps of its own. -EPERM: the daemon lacks CAP_BPF or CAP_PERFMON. Another
 * negative errno: the kernel refuses the program, or the daemon was built without eBPF.
 * Thread-safe.
 */
int ts_bpf_sample_new(struct ts_bpf_sample **ret_sample, int ret_fds[TS_BPF_SAMPLE_FDS]);
/*
 * Closes the descriptors. A sampler that received copies keeps program and maps alive. NULL is
 * fine.
 */
void ts_bpf_sample_free(struct ts_bpf_sample *sample);
#endif
