/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of libc, without dlsym(). */
#pragma once

#include "proto/abi/base.h"

/* Returns libc's function of this name, or NULL. Thread-safe, but not beside a fork(). */
void *ts_libc_find(const char *name);
