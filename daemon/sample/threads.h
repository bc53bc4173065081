/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples the threads of a process while they run on a processor, by perf's software clock for each
 * thread (perf_event_open(2)). A sample has registers and a copy of the stack. The process gets no
 * signal, no timer and no page of memory. Not thread-safe.
 */
#pragma once

#include <sys/types.h>

#include "daemon/sample/remote-unwind.h"

#define TS_SAMPLE_STACK_BYTES (16u * 1024)
/* the shortest copy, for a thread whose stacks are never deep */
#define TS_SAMPLE_LEAST_STACK_BYTES 2048u
#define TS_SAMPLED_MAX		    1024u /* threads at a time; further ones are not sampled */

struct ts_sampled_threads;

/* One sample. Pointers are valid until the callback returns. */
struct ts_thread_sample {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	/*
	 * The thread's number in the sampler's pid namespace (tid) and in the process's own
	 * (inner_tid).
	 */
	uint32_t tid, inner_tid;
	uint32_t cpu;
	uint64_t period_ns; /* processor time of the thread that the sample stands for */
	bool in_kernel;	    /* the thread was in the kernel, called from this stack */
	const char *name;   /* name of the thread when it was found; 16 bytes */
	struct ts_unwind_registers registers;
	const void *stack;
	size_t n_stack_bytes;
};
/*
 * Called for each sample. Sets *ret_depth_bytes to the number of bytes from the stack pointer to
 * the outermost frame; SIZE_MAX: the copied stack does not reach that frame. If it returns a value
 * other than 0, ts_sampled_threads_take() ends.
 */
typedef int ts_thread_sampled(void *data, const struct ts_thread_sample *sample,
			      size_t *ret_depth_bytes);

/*
 * Called for each sample as soon as it came, before it is handled, if the options request that. The
 * numbers and the time are those of the sample.
 */
typedef void ts_thread_prompted(void *data, uint32_t tid, uint32_t inner_tid, uint64_t time_ns);

/* How to sample. */
struct ts_sampled_options {
	uint64_t period_ns; /* processor time of a thread per sample */
	bool prompt;	    /* true: each sample wakes ts_sampled_threads_wait() */
	int program_fd;	    /* eBPF program that runs at each sample; -1: none */
	uint32_t wait_ms;   /* the longest time that ts_sampled_threads_wait() waits */
	int wake_fd;	    /* also wakes ts_sampled_threads_wait() when readable; -1: none */
	/* first length of the copied stack, a multiple of 8; 0: TS_SAMPLE_STACK_BYTES */
	uint32_t stack_bytes;
};

struct ts_sampled_calls {
	ts_thread_sampled *sampled;
	ts_thread_prompted *prompted; /* NULL: not called; also for `before` */
	/*
	 * Called before samples are handled, when the last of them has come, so that the caller can
	 * first read the data that belongs to these samples.
	 */
	void (*before)(void *data);
	void *data; /* for each of the calls */
};

/*
 * Begins to sample all threads of a process. -EACCES, -EPERM: the kernel does not allow it. -ESRCH:
 * the process has ended. -ENOMEM: no memory. -EOPNOTSUPP: this machine is not x86-64. Another errno
 * comes from the system calls.
 */
int ts_sampled_threads_new(pid_t pid, const struct ts_sampled_options *options,
			   struct ts_sampled_threads **ret_threads);
void ts_sampled_threads_free(struct ts_sampled_threads *threads); /* NULL is fine */

/* Checks that this process may sample processes of its own user: 0 or a negative errno. */
int ts_sampled_threads_try(void);

/*
 * Waits until a ring is half full, until wake_fd is readable (*ret_woken), or for wait_ms since the
 * last time. Meanwhile calls `prompted` for each new sample, if the options request that. Returns 0
 * or the negative errno of epoll_wait(2).
 */
int ts_sampled_threads_wait(struct ts_sampled_threads *threads,
			    const struct ts_sampled_calls *calls, bool *ret_woken);
/*
 * Calls `sampled` for each sample. If `sampled` returns a value other than 0, that value is
 * returned. Also finds new threads, at the latest a second after they began. -ESRCH: no thread is
 * left.
 */
int ts_sampled_threads_take(struct ts_sampled_threads *threads,
			    const struct ts_sampled_calls *calls);
/*
 * Changes the period of all threads, after it has handled the samples of the present period. Each
 * thread's present period begins anew. Returns a value of `sampled` that is not 0.
 */
int ts_sampled_threads_set_period(struct ts_sampled_threads *threads, uint64_t period_ns,
				  const struct ts_sampled_calls *calls);
/* Turns sampling on or off. */
void ts_sampled_threads_enable(struct ts_sampled_threads *threads, bool on);

/* True if a thread mapped code since the last call. */
bool ts_sampled_threads_mapped(struct ts_sampled_threads *threads);
/* Returns the number of samples so far that the kernel lost for lack of room. */
uint64_t ts_sampled_threads_lost(const struct ts_sampled_threads *threads);
/* Returns the number of threads so far that are not sampled for lack of room. */
uint64_t ts_sampled_threads_left_out(const struct ts_sampled_threads *threads);
/* True if the eBPF program runs; a kernel may refuse it. */
bool ts_sampled_threads_runs_program(const struct ts_sampled_threads *threads);
/* True if time in the kernel is not sampled, because the kernel does not allow it. */
bool ts_sampled_threads_is_user_only(const struct ts_sampled_threads *threads);
