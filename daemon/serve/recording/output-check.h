/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace file that a traced process created and passed with its HELLO. The process is a stranger
 * and keeps the file open. It may write to the file, truncate it or remove it at any time. The
 * daemon writes to the file and trusts nothing that it reads from it.
 *
 * Thread-safe: no state.
 */
#pragma once

#include <sys/types.h>

#include "proto/abi/base.h"

/*
 * Checks that the daemon may write a trace to the file. The file must be plain (util/plain.h),
 * empty, owned by `uid`, with one name. It must be open without flags that change a write.
 * `read_fd` is the same file, open for reading only. A descriptor is -1 if the porter passed none.
 * Returns 0, or -EPERM with the reason in *ret_why.
 */
int ts_output_check(int fd, int read_fd, uid_t uid, const char **ret_why);

/* The file's path from the kernel, for messages: valid UTF-8 without control characters. */
void ts_output_path(int fd, char *ret_path, size_t n_bytes);
