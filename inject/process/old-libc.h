/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glibc before 2.34, where libdl.so.2 and libpthread.so.0 have functions that newer versions have
 * in libc.so.6. The shim names no library but libc.so.6, so it is loaded into every program, and
 * its references to these functions are weak. A program that uses a GPU has both libraries.
 */
#pragma once

#include "proto/abi/base.h"

/* True if dlsym() and its relatives can be called. Thread-safe, async-signal-safe. */
bool ts_old_libc_has_dl(void);

/* True if threads can be made too, so that a session can begin. Thread-safe, async-signal-safe. */
bool ts_old_libc_is_complete(void);

/*
 * Returns the function that the program would call if this library had none of the name, or NULL.
 * Without dlsym() it is libc's. The caller exports a function of that name. Not thread-safe with
 * dlclose().
 */
void *ts_old_libc_next(const char *name);
