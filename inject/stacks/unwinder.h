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
 * True if the word of 8 bytes at `address`, rounded down to a multiple of 8, is readable. Opens no
 * descriptor and raises no signal. Changes errno. libunwind calls it through this module.
 */
bool ts_unwinder_can_read(const void *address);
