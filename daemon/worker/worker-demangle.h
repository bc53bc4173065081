/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names as their programmer wrote them: C++ (Itanium) and Rust (both of its manglings).
 */
#pragma once

#include <stddef.h>

/* A name to be free()d; NULL: it is not mangled, or not well, or too long to try. */
char *ts_worker_demangle(const char *mangled);
