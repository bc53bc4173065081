/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites references of libraries to a function of this library. Thread-safe. */
#pragma once

#include "proto/abi/base.h"

/*
 * Returns the function of an index in the library's scope; NULL: it has none. *ret_keep: it stays
 * the right one.
 */
typedef void *(*ts_hip_choose_fn)(void *library, size_t index, bool *ret_keep);

/*
 * Finds the references to `own` of the libraries that were linked with HIP's runtime, and of the
 * runtime. Calls choose() for each of these libraries. If the result is to be kept, stores it in
 * the reference.
 *
 * Returns the function for the library that contains `caller`; if `caller` is in none of them, that
 * of the first one; without references, that of the first copy of the runtime. NULL: none.
 */
void *ts_hip_rebind(const void *own, const void *caller, ts_hip_choose_fn choose, size_t index);
