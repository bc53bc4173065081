/* SPDX-License-Identifier: Apache-2.0 */
/* Converts mangled names to source names: C++ (Itanium) and Rust (both manglings). */
#pragma once

#include <stddef.h>

/*
 * Returns a name, which the caller frees. NULL: the name is not mangled, is malformed or is too
 * long.
 */
char *ts_worker_demangle(const char *mangled);
