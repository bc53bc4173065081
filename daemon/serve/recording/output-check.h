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
 * empty, owned by `uid`, and must have only one name. `fd` must have no flags that change a write
 * (such as O_APPEND). `read_fd` is the same file, open for reading only. A descriptor is -1 if the
 * porter passed none. Returns 0, or -EPERM with the reason in *ret_why.
 */
int ts_output_check(int fd, int read_fd, uid_t uid, const char **ret_why);

/*
 * Writes the file's path to ret_path, for messages. The path comes from the kernel; bytes that are
 * not UTF-8 and control characters are replaced.
 */
void ts_output_path(int fd, char *ret_path, size_t n_bytes);
