/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libunwind, loaded so that it touches nothing of the application's.
 */
#pragma once

#include <stdbool.h>

/*
 * Loads it. Returns its handle for dlsym(), or NULL: there is none, or none that is known to be harmless. Takes
 * the loader's lock. The handle is never closed.
 */
void *ts_unwinder_load(void);

/*
 * How the unwinder asks whether a word can be read: without a descriptor, without a signal. The address is rounded down to
 * a multiple of 8. errno is changed.
 */
bool ts_unwinder_can_read(const void *address);
