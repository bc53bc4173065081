/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace's file that a traced process created and passed with its HELLO. The process belongs to a stranger, who keeps the file
 * open, and may write to it, cut it or remove it at any time. The daemon writes to it, and believes nothing that it reads there.
 *
 * Thread-safe: no state.
 */
#pragma once

#include <sys/types.h>

#include "proto/abi/base.h"

/*
 * Whether the daemon may write a trace there: a plain file (util/plain.h) of `uid`, empty, with one name, open without flags that
 * change what a write does. `read_fd` is the same file, open to read only. -1: the porter handed none on. 0, or -EPERM with the
 * reason in *ret_why.
 */
int ts_output_check(int fd, int read_fd, uid_t uid, const char **ret_why);

/* The file's path as the kernel has it, for people: valid UTF-8 without control characters. */
void ts_output_path(int fd, char *ret_path, size_t n_bytes);
