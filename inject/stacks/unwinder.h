/* SPDX-License-Identifier: Apache-2.0 */
/* Loads libunwind so that it leaves the application's descriptors and signals untouched. */
#pragma once

#include <stdbool.h>

/*
 * Loads libunwind. Returns its handle for dlsym(). NULL: there is none, or it is not known to be
 * harmless. Takes the loader's lock. The handle is never closed.
 */
void *ts_unwinder_load(void);

/*
 * Returns whether a word is readable, without a descriptor and without a signal. libunwind uses it.
 * The address is rounded down to a multiple of 8. errno is changed.
 */
bool ts_unwinder_can_read(const void *address);
