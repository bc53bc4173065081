/* SPDX-License-Identifier: Apache-2.0 */
/* Starts a program that the application does not notice: no child, no signal, no descriptor. */
#pragma once

#include <stdbool.h>

/*
 * Starts `path` in its own session. Its descriptor 3 is `fd`, and 0 to 2 are /dev/null (with
 * keep_stderr, for debugging, 2 stays). It has no other descriptors. Every signal has its default
 * action, and none is blocked. The caller must have blocked all signals. Returns 0 once the program
 * runs, or a negative errno.
 */
int ts_spawn_detached(const char *path, char *const *argv, char *const *environment, int fd,
		      bool keep_stderr);
