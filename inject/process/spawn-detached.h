/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting a program that the application never notices: no child of its, no signal, no descriptor.
 */
#pragma once

#include <stdbool.h>

/*
 * Starts `path` in a session of its own, with `fd` as its descriptor 3, /dev/null as 0 to 2 (for developers: but
 * for 2, where `keep_stderr`) and nothing else, every signal at its default and none blocked. The caller must have blocked every signal. Returns 0 once it
 * runs, or a negative errno of what failed.
 */
int ts_spawn_detached(const char *path, char *const *argv, char *const *environment, int fd,
		      bool keep_stderr);
