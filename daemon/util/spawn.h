/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the daemon's helper processes: workers, samplers, probers and the inspector. A helper has
 * a new session, default signal handling, and /dev/null as standard descriptors. The helper's
 * descriptor TS_SPAWN_FD is one end of a socket. The helper inherits no other descriptor.
 *
 * Thread-safe.
 */
#pragma once

#include <sys/types.h>

#define TS_SPAWN_FD 3

/*
 * Starts a helper. `type`: SOCK_STREAM or SOCK_SEQPACKET. The caller's end is non-blocking and
 * close-on-exec; the helper's end blocks. argv[0] is the program's path. The caller owns *ret_fd
 * and *ret_pid. Returns 0 or a negative errno.
 */
int ts_spawn(char *const *argv, char *const *environment, int type, int *ret_fd, pid_t *ret_pid);
