/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files of strangers that the daemon may hold: regular files of a kernel file system on a local
 * disk. The kernel alone serves such a file, so neither a write nor a close waits for a stranger.
 * Files in memory (tmpfs) do not qualify: the kernel would charge their pages to the daemon.
 *
 * Thread-safe: no state.
 */
#pragma once

#include <sys/stat.h>

#include "proto/abi/base.h"

/*
 * Returns NULL for a plain file, with type, uid, links, size and inode from the kernel's cache in
 * *ret_status. Otherwise returns the reason in a few words.
 */
const char *ts_plain_why_not(int fd, struct statx *ret_status);
