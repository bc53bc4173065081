/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between gpu-like-hip.c, which has the calls that HIP and its like share, and gpu-hip.c or
 * gpu-maca.c, which have the functions below. A failed call ends the program.
 */
#pragma once

#include "test/apps/gpu.h"

#define GPU_OWN_DEVICES 16

/* The calling thread's device. */
extern __thread int gpu_own_device;

/* Ends the program if the call failed. */
void gpu_own_check(int result, const char *call);
/* Returns the name of the call that launches the program's kernels. */
const char *gpu_own_launch_name(const struct gpu_code *code);
/* Keeps the program's own kernels for gpu_own_load(); NULL: none. */
void gpu_own_begin(const struct gpu_code *code);
/* Loads the kernels on the current device, whose number is `device`. */
void gpu_own_load(int device);
/* Launches kernel number `kernel` of the truth on the thread's device, and counts it. */
void gpu_own_launch(uint32_t kernel, struct gpu_shape shape, struct gpu_stream stream,
		    void **arguments);
