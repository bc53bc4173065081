/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the module that was mapped at an address at a time. An index over the modules of a trace
 * makes queries fast. Used by one thread at a time; the reader must outlive it. Times are
 * nanoseconds of CLOCK_MONOTONIC.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ts_modules;

/*
 * Indexes the modules that the reader has now. The caller frees *ret_modules with
 * ts_modules_free(), which accepts NULL. Returns 0 or -ENOMEM.
 */
int ts_modules_new(const struct ts_sbt_reader *reader, struct ts_modules **ret_modules);
void ts_modules_free(struct ts_modules *modules);
void ts_modules_freep(struct ts_modules **modules);

/*
 * Returns the last module that was mapped at the address before `time_ns` or at it. If there is
 * none, returns the first module that was mapped there later, because the trace has the time at
 * which a mapping was noticed. Returns NULL if no module was mapped there. The row belongs to the
 * reader.
 */
const struct ts_row_module *ts_modules_find(const struct ts_modules *modules, uint32_t session,
					    uint64_t address, uint64_t time_ns);

/*
 * Stores modules that were mapped at the address at any time, one for each different file, at most
 * `max`. Returns their number. The search is bounded, so it may miss files. The rows belong to the
 * reader.
 */
size_t ts_modules_all(const struct ts_modules *modules, uint32_t session, uint64_t address,
		      size_t max, const struct ts_row_module **ret_found);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
