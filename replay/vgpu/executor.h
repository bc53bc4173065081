/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes the virtual GPU's kernels: the PTX engine (ptx/ptx.h) as the machine's executor. A
 * launch names its kernel by a struct ts_vgpu_kernel (vgpu-module.h). The variables of the kernel's
 * module must be placed.
 *
 * Kernels that fit on the device together run at once, each on its own engine. Each engine runs
 * blocks on n_threads threads. With n_threads 1 kernels run one after the other, and their results
 * are deterministic except for clock values.
 *
 * Threads: create the executor before the first launch and free it after ts_vgpu_stop() or
 * ts_vgpu_free(). The device's threads call the callbacks. A thread that waits for work also calls
 * output(). Two calls of one callback never overlap.
 */
#pragma once

#include "replay/vgpu/ptx/debug.h"
#include "replay/vgpu/ptx/schedule.h"
#include "replay/vgpu/vgpu.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ts_vgpu_executor_options {
	uint32_t n_threads; /* 0: one per CPU */
	void *userdata;
	/*
	 * Receives the output of device printf: after a thread of the program has waited for work,
	 * before a launch, or when more than TS_VGPU_OUTPUT_BYTES are pending. NULL: output is
	 * dropped.
	 */
	void (*output)(void *userdata, const char *text, size_t n_bytes);
	/*
	 * Receives one line without a newline that reports how and where a kernel faulted. NULL:
	 * none.
	 */
	void (*fault)(void *userdata, const char *line);
	/* Observes kernels (ptx/observe.h); requires n_threads 1. NULL: none. */
	const struct ts_ptx_observer *observer;
	/* Chooses the warp that runs next (ptx/schedule.h); requires n_threads 1. NULL: none. */
	const struct ts_ptx_scheduler *scheduler;
	/* Called before every instruction (ptx/debug.h); requires n_threads 1. NULL: none. */
	const struct ts_ptx_debugger *debugger;
	/*
	 * True: nothing else runs beside a kernel, so a kernel that only waits for memory to change
	 * faults (TS_PTX_FAULT_WAITS). Requires n_threads 1. False: such a kernel faults after
	 * ts_vgpu_executor_end_waits().
	 */
	bool is_alone;
};
#define TS_VGPU_OUTPUT_BYTES (1u << 20)
#define TS_VGPU_MAX_THREADS  256
/*
 * Parses a number of CPU threads. NULL or "" gives 0, the default of the options. -EINVAL: not a
 * number from 1 to TS_VGPU_MAX_THREADS.
 */
int ts_vgpu_threads_parse(const char *text, uint32_t *ret_n_threads);

struct ts_vgpu_ptx_executor;

/* Creates the executor and installs it in the machine. -ENOMEM: out of memory. */
int ts_vgpu_executor_new(struct ts_vgpu *vgpu, const struct ts_vgpu_executor_options *options,
			 struct ts_vgpu_ptx_executor **ret_executor);
/*
 * True if kernels run and all of them have only polled memory for about a second. Any thread may
 * call this function.
 */
bool ts_vgpu_executor_only_watches(struct ts_vgpu_ptx_executor *executor);
/*
 * Makes each kernel that only polls memory fault, from this call on. Any thread may call this
 * function.
 */
void ts_vgpu_executor_end_waits(struct ts_vgpu_ptx_executor *executor);
/*
 * Frees the executor. If a kernel did not stop within ts_vgpu_stop()'s time, its engine is not
 * freed before the process ends.
 */
void ts_vgpu_executor_free(struct ts_vgpu_ptx_executor *executor);

#ifdef __cplusplus
}
#endif
