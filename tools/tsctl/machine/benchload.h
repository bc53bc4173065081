/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The load of `tsctl benchmark`: a program in a process of its own that launches empty kernels from
 * stacks of several depths. It uses the driver API, which every CUDA program calls in the end.
 */
#pragma once

#include <stdint.h>

/* Name of the counted kernel in the trace. Kernels of the warm-up have another name. */
#define TS_BENCHLOAD_KERNEL "tracesmith_benchmark"

/*
 * Launches n kernels, waits for them, and prints "LAUNCHED SECONDS\n" on stdout. Returns an exit
 * status. Prints an error if there is no driver or device, or if a call fails.
 */
int ts_benchload_run(uint64_t n);
