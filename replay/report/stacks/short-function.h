/* SPDX-License-Identifier: Apache-2.0 */
/* Shortens demangled names of C++ functions for lines of text. JSON has the full names. */
#pragma once

#include <stddef.h>

#define TS_SHORT_FUNCTION_BYTES 512u /* enough for any name in a line of text */

/*
 * Copies the name without its return type, template arguments, parameters and qualifiers:
 * "void f<int>(char*) const [clone .isra.0]" becomes "f". Text that follows the function in
 * parentheses, such as " (gpt.py:16)", is no parameter list and is kept. Writes at most n_bytes,
 * with the end mark; returns `buffer`. Pure.
 */
const char *ts_short_function(const char *name, char *buffer, size_t n_bytes);
