/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking the libraries of the process without leaving a forked child with the loader's lock held.
 */
#pragma once

#include <link.h>

/*
 * dl_iterate_phdr(), which a fork() waits for to be over. Everything of ours walks by this, and so does the unwinder.
 * Thread-safe.
 */
int ts_loader_iterate(int (*visit)(struct dl_phdr_info *info, size_t size, void *data), void *data);
