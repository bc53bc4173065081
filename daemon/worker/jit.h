/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that no file holds: what just-in-time compilers leave for profilers. Perf maps are lines of text
 * (linux/tools/perf/Documentation/jit-interface.txt), JIT dumps are records (jitdump-specification.txt there), which
 * may tell source lines too. Both are written by a stranger: read in pieces, up to a bound, with memory for
 * the addresses alone. Where several entries cover an address, the last one counts.
 */
#pragma once

#include "daemon/worker/found.h"

#define TS_JIT_MAX_BYTES     (UINT64_C(256) << 20)
#define TS_JIT_MAX_LINE	     8192u
#define TS_JIT_E_CUT	     1 /* larger than TS_JIT_MAX_BYTES: the rest was not read */
#define TS_JIT_E_NOT_JITDUMP 2

/*
 * Ascending addresses of the process; reads from the descriptor's start, by pread(). Adds one entry each to `found`. 0, a
 * negative errno, or TS_JIT_E_*; after TS_JIT_E_CUT `found` is as after 0.
 */
int ts_perf_map_find(int fd, const uint64_t *addresses, size_t n, struct ts_found *found);
int ts_jit_dump_find(int fd, const uint64_t *addresses, size_t n, struct ts_found *found);
