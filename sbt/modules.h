/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file was mapped at an address at a time: a trace's modules, made ready for many questions. One
 * thread; needs its reader as long as it lives.
 */
#pragma once

#include "sbt/reader.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct ts_modules;

/* Takes in the modules that the reader has now. Returns 0 or -ENOMEM. */
int ts_modules_new(const struct ts_sbt_reader *reader, struct ts_modules **ret_modules);
void ts_modules_free(struct ts_modules *modules);
void ts_modules_freep(struct ts_modules **modules);

/*
 * What was mapped there last at that time; where nothing was yet, what was next, for a module is told of when it
 * is noticed. NULL: nothing.
 */
const struct ts_row_module *ts_modules_find(const struct ts_modules *modules, uint32_t session,
					    uint64_t address, uint64_t time_ns);

/*
 * All different files that ever were mapped there, as far as a bounded search tells: at most `max` of them.
 * Returns how many.
 */
size_t ts_modules_all(const struct ts_modules *modules, uint32_t session, uint64_t address,
		      size_t max, const struct ts_row_module **ret_found);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
