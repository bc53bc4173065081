/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of a process's threads on the processor: perf's software clock of each thread (perf_event_open(2)), with registers and a copy of the
 * stack. No signal, no timer and no page of memory reaches the process. One thread.
 */
#pragma once

#include <sys/types.h>

#include "daemon/sample/remote-unwind.h"

#define TS_SAMPLE_STACK_BYTES	   (16u * 1024)
#define TS_SAMPLE_FLAT_STACK_BYTES (4u * 1024) /* of a thread whose stacks are never deep */
#define TS_SAMPLED_MAX		   1024u       /* threads at once; further ones are not sampled */

struct ts_sampled_threads;

/* One sample. Pointers are valid until the callback returns. */
struct ts_thread_sample {
	uint64_t time_ns;	 /* CLOCK_MONOTONIC */
	uint32_t tid, inner_tid; /* as the daemon numbers it, as the process does */
	uint32_t cpu;
	bool in_kernel;	  /* called from the stack */
	const char *name; /* of the thread, 16 bytes, when it was seen first */
	struct ts_unwind_registers registers;
	const void *stack;
	size_t n_stack_bytes;
};
/* *ret_depth_bytes: from the stack pointer to the outermost frame; SIZE_MAX: the copy does not hold it. */
typedef int ts_thread_sampled(void *data, const struct ts_thread_sample *sample,
			      size_t *ret_depth_bytes);

/* How to sample. */
struct ts_sampled_options {
	uint64_t period_ns; /* one sample in so much of a thread's processor time */
	bool prompt;	    /* each sample makes the descriptor readable, not only one of several */
	int program_fd;	    /* an eBPF program that runs at each sample; -1: none */
};

/*
 * Begins to sample all threads of a process. -EACCES, -EPERM: the kernel does not allow it.
 * -ESRCH: the process is over.
 */
int ts_sampled_threads_new(pid_t pid, const struct ts_sampled_options *options,
			   struct ts_sampled_threads **ret_threads);
void ts_sampled_threads_free(struct ts_sampled_threads *threads); /* NULL is fine */

/* Whether this process may sample its own user's processes: 0 or a negative errno. */
int ts_sampled_threads_try(void);

/* Readable when there are samples. New threads are found by ts_sampled_threads_take(), at the latest a second after they began. */
int ts_sampled_threads_fd(const struct ts_sampled_threads *threads);
/*
 * Hands all samples out. `before` is called whenever samples are about to be read: whatever belongs to them is there by then. What the
 * callback returns other than 0 is handed on; -ESRCH: no thread is left.
 */
int ts_sampled_threads_take(struct ts_sampled_threads *threads, ts_thread_sampled *sampled,
			    void (*before)(void *data), void *data);
/* Sampling on or off. */
void ts_sampled_threads_enable(struct ts_sampled_threads *threads, bool on);

/* Whether a thread mapped code since the last call. */
bool ts_sampled_threads_mapped(struct ts_sampled_threads *threads);
/* Samples that the kernel had no room for, so far. */
uint64_t ts_sampled_threads_lost(const struct ts_sampled_threads *threads);
/* Threads that are not sampled for want of room, so far. */
uint64_t ts_sampled_threads_left_out(const struct ts_sampled_threads *threads);
/* Whether the program runs: a kernel may refuse it. */
bool ts_sampled_threads_runs_program(const struct ts_sampled_threads *threads);
/* Time that a thread spends in the kernel is not sampled: the kernel's rights forbid it. */
bool ts_sampled_threads_is_user_only(const struct ts_sampled_threads *threads);
