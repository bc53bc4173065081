/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What computes the virtual GPU's kernels: the PTX engine (ptx/ptx.h) as the machine's executor. Launches name kernels by
 * struct ts_vgpu_kernel (vgpu-module.h) of modules whose variables have been placed.
 *
 * Kernels that fit on the device together run at once, each on an engine of its own; each engine runs blocks on n_threads
 * threads. With n_threads 1 kernels run one after the other, and what they compute is deterministic but for clocks.
 *
 * Threads: made before the first launch, freed after ts_vgpu_stop() or ts_vgpu_free(). The callbacks come from the device's
 * threads, output() also from whoever waits for work; never two of either at once.
 */
#pragma once

#include "replay/vgpu/ptx/debug.h"
#include "replay/vgpu/ptx/schedule.h"
#include "replay/vgpu/vgpu.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ts_vgpu_executor_options {
	uint32_t n_threads; /* 0: one for each CPU */
	void *userdata;
	/*
	 * What device printf wrote: when a thread of the program has waited for work or adds some, or when more than
	 * TS_VGPU_OUTPUT_BYTES have gathered. NULL: nobody wants it.
	 */
	void (*output)(void *userdata, const char *text, size_t n_bytes);
	/* One line, without its end, saying how and where a kernel faulted. NULL: nobody wants it. */
	void (*fault)(void *userdata, const char *line);
	/* Looks on at kernels (ptx/observe.h): n_threads is 1. NULL: nobody does. */
	const struct ts_ptx_observer *observer;
	/* Chooses who goes next (ptx/schedule.h): n_threads is 1. NULL: nobody does. */
	const struct ts_ptx_scheduler *scheduler;
	/* Is asked before every instruction (ptx/debug.h): n_threads is 1. NULL: there is none. */
	const struct ts_ptx_debugger *debugger;
	/*
	 * Nothing else goes on while a kernel runs: one that only waits for memory to change faults (TS_PTX_FAULT_WAITS). n_threads is
	 * 1. False: it faults after ts_vgpu_executor_end_waits().
	 */
	bool is_alone;
};
#define TS_VGPU_OUTPUT_BYTES (1u << 20)
#define TS_VGPU_MAX_THREADS  256
/* Parses a number of CPU threads; NULL or "": 0, as many as the options' default. -EINVAL: not a number from 1 to TS_VGPU_MAX_THREADS. */
int ts_vgpu_threads_parse(const char *text, uint32_t *ret_n_threads);

struct ts_vgpu_ptx_executor;

/* Becomes the machine's executor. -ENOMEM. */
int ts_vgpu_executor_new(struct ts_vgpu *vgpu, const struct ts_vgpu_executor_options *options,
			 struct ts_vgpu_ptx_executor **ret_executor);
/* Whether kernels run, and all of them have done nothing but watch memory for a second or so. Any thread. */
bool ts_vgpu_executor_only_watches(struct ts_vgpu_ptx_executor *executor);
/* Kernels that do so now or later fault. Any thread. */
void ts_vgpu_executor_end_waits(struct ts_vgpu_ptx_executor *executor);
/* Engines of kernels that did not stop within ts_vgpu_stop()'s time are left to the end of the process. */
void ts_vgpu_executor_free(struct ts_vgpu_ptx_executor *executor);

#ifdef __cplusplus
}
#endif
