/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strangers' files that may be in the daemon's table: regular files of a file system that the kernel itself has on a disk of this
 * machine. No stranger answers for these, so neither writing to one nor closing it waits for a stranger. Files in memory (tmpfs) are
 * none of them: the kernel would charge their pages to the daemon's memory.
 *
 * Thread-safe: no state.
 */
#pragma once

#include <sys/stat.h>

#include "proto/abi/base.h"

/* NULL: it is one, and *ret_status has type, uid, links, size and inode as the kernel has them cached. Else why not, in a few words. */
const char *ts_plain_why_not(int fd, struct statx *ret_status);
