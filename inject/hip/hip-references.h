/* SPDX-License-Identifier: Apache-2.0 */
/* Rewrites references of libraries to a function of this library. Thread-safe. */
#pragma once

#include "proto/abi/base.h"

/*
 * Returns the function of an index in the library's scope; NULL: it has none. *ret_keep: it stays
 * the right one.
 */
typedef void *(*ts_hip_choose_fn)(void *library, size_t index, bool *ret_keep);

struct ts_hip_rebind {
	/* Returns the index of a function of this library; SIZE_MAX: it is none of these. */
	size_t (*find)(const char *name);
	/* Returns that function, to which references of this library's are bound. */
	const void *(*own)(size_t index);
	ts_hip_choose_fn choose;
};

/*
 * Finds the references to functions of this library in the libraries that were linked with HIP's
 * runtime, and in the runtime. Calls choose() for each reference, those to the function of `index`
 * first. If the result is to be kept, stores it in the reference.
 *
 * Returns the function of `index` for the library that contains `caller`; if `caller` is in none of
 * them, that of the first one; without references, that of the first copy of the runtime. NULL:
 * none.
 */
void *ts_hip_rebind(const struct ts_hip_rebind *rebind, const void *caller, size_t index);
