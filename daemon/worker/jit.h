/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of code without a file, as just-in-time compilers write them for profilers. Perf maps are
 * lines of text (linux/tools/perf/Documentation/jit-interface.txt). JIT dumps are records
 * (jitdump-specification.txt there), which may have source lines too. Both files are untrusted.
 * This module reads them in pieces, up to a bound, with memory for the addresses alone. If several
 * entries cover an address, the last one is used.
 */
#pragma once

#include "daemon/worker/found.h"

#define TS_JIT_MAX_BYTES (UINT64_C(256) << 20)
#define TS_JIT_MAX_LINE	 8192u
/* the file is larger than TS_JIT_MAX_BYTES: the bytes beyond this limit were not read */
#define TS_JIT_E_CUT	     1
#define TS_JIT_E_NOT_JITDUMP 2

/*
 * Finds the symbols of ascending addresses of the process. Reads from the file's start by pread().
 * Adds one entry for each address to `found`. Returns 0, a negative errno, or TS_JIT_E_*; after
 * TS_JIT_E_CUT `found` is as valid as after 0.
 */
int ts_perf_map_find(int fd, const uint64_t *addresses, size_t n, struct ts_found *found);
int ts_jit_dump_find(int fd, const uint64_t *addresses, size_t n, struct ts_found *found);
