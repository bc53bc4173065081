/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the preloaded library does in every process, GPU or not: next to nothing.
 */
#pragma once

#include <stdbool.h>

/* exec.c: finds libc's own. Once, while there is one thread. */
void ts_exec_resolve(void);

/* The path that this library was loaded from. */
const char *ts_preload_library(void);

/* Whose library NVTX calls in this one's place; empty: nobody's. */
const char *ts_preload_nvtx_holder(void);

/* Whether it was preloaded, so that its functions stand before everybody's; not loaded by the driver alone. */
bool ts_preload_interposes(void);

/* Seccomp filters that were there when the library was loaded, as ts_sandbox_count() returns them. */
int ts_preload_filters(void);
