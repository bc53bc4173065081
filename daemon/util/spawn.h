/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the daemon's own helper processes: workers, samplers, probers and the inspector. A helper has a session of its own, no signal as its caller has it,
 * /dev/null for the standard descriptors, and one end of a socket as TS_SPAWN_FD. No other descriptor reaches it.
 *
 * Thread-safe.
 */
#pragma once

#include <sys/types.h>

#define TS_SPAWN_FD 3

/*
 * `type`: SOCK_STREAM or SOCK_SEQPACKET. The caller's end does not block and is close-on-exec, the helper's end waits. argv[0] is the
 * program's path. *ret_fd and *ret_pid are the caller's. 0 or a negative errno.
 */
int ts_spawn(char *const *argv, char *const *environment, int type, int *ret_fd, pid_t *ret_pid);
