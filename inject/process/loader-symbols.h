/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds exported symbols without the loader's lock: a library's constructor may hold that lock
 * while it waits for the calling thread. A pending dlerror() stays. Thread-safe.
 */
#pragma once

#include "proto/abi/base.h"

/*
 * Returns the address of a function or an object in the first library, in the order of their
 * loading, that exports `name`. Libraries outside the global scope count; libtsinject.so does not.
 * NULL: none. The library may be unloaded unless the caller pins it (ts_loader_pin()).
 */
void *ts_loader_find(const char *name);
