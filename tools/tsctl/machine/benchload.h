/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `tsctl benchmark` measures: a program, in a process of its own, that launches empty kernels from stacks
 * of several depths, over the driver API that every CUDA program ends in.
 */
#pragma once

#include <stdint.h>

/* The kernel that counts, by its name in the trace; those that only warm up have another. */
#define TS_BENCHLOAD_KERNEL "tracesmith_benchmark"

/*
 * Launches n kernels, waits for them, and prints "LAUNCHED SECONDS\n" on stdout. Returns an exit status; complains
 * where there is no driver, no device, or a call that fails.
 */
int ts_benchload_run(uint64_t n);
